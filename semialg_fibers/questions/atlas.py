"""What happens for every sign pattern of an architecture?

Main definitions
    AtlasRow     one pattern of signs of [A2 | b2] up to relabelling: types, hidden columns, dimension, components
    Atlas        all of them, with exact fractions

Main results
    atlas        the rows of a three-layer bottleneck architecture (d, n1, n2, m)

An answer about a pattern holds for almost all values with these signs: all but those on a proper algebraic subset,
which have probability zero at any initialisation with a continuous distribution. `condition` says where other values
differ, and what decides where the signs do not.

References: theory §2.5, §2.6, §3.4, §3.5; beyond §5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.enumeration import Family, Runner
from semialg_fibers.geometry.scalar import shown
from semialg_fibers.networks.neuron_kind import DEAD, LINEAR, NONLINEAR
from semialg_fibers.questions.sign_patterns import Rows, extended, first_rows, orbit_count, row_text

if TYPE_CHECKING:
    import sympy

LARGEST_N1 = 7
LONGEST = 62  # bits of a pattern
BUDGET = 1_000_000  # patterns


@dataclass(frozen=True)
class AtlasRow:
    """The sign pattern `signs` (n2 strings of n1 + 1 characters + or −, bias last) and its orbit's size.

    `widths` is (d, n1, n2, m). Up to relabelling, `least` components exist for almost all values with these signs, and
    `open` more choices of sides exist for some of them, on sets with interior, and not for others.
    """

    widths: tuple[int, int, int, int]
    signs: tuple[str, ...]
    multiplicity: int
    least: int
    open: int

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of the rows: "dead", "linear" or "nonlinear".

        Implements: theory §2.1.
        """
        return tuple(_type_of(row) for row in self.signs)

    @cached_property
    def hidden(self) -> tuple[int, ...]:
        """The hidden columns, from 0: at most one, or all where all rows are dead.

        Implements: theory §3.1.
        """
        alive = [row for row, kind in zip(self.signs, self.types, strict=True) if kind != DEAD]
        return tuple(i for i in range(self.widths[1]) if all(_hides(row, i) for row in alive))

    @cached_property
    def identifiable(self) -> bool:
        """Whether the fiber is one orbit of permutations and scalings, for almost all values.

        Implements: theory §3.4, §3.5.
        """
        if set(self.types) != {NONLINEAR} or self.hidden:
            return False
        return self.widths[1] > 1 or self.components == 1

    @property
    def dimension(self) -> int:
        """The dimension of the fiber at a network with these signs, for all values that meet (G1) to (G5).

        For almost all values it is also the largest dimension of a component.

        Implements: theory §2.5, §3.4, §3.5.
        """
        d, n1, n2, m = self.widths
        size = n1 + 1 + m
        k, q, e = (self.types.count(kind) for kind in (NONLINEAR, LINEAR, DEAD))
        if e == n2:
            return n1 * (d + 1) + n2 * size
        if self.hidden:
            return n1 + (n2 - e) + 1 + e * size
        # (G5): rank M_∅ = min(m, n1, q). Where that is less than q it is m or n1, and if m, pointed or not is one.
        rho = min(m, n1, q)
        return n1 + k + rho**2 + rho + (q + e - rho) * size

    @property
    def components(self) -> int | None:
        """The number of components for almost all values; None where it depends on the values (`condition`)."""
        return None if self.open else self.least

    @property
    def interval(self) -> tuple[int, int]:
        """Bounds for the number of components, for almost all values."""
        return self.least, self.least + self.open

    @property
    def condition(self) -> str:
        """What the number of components depends on; "" where it is the same for all values that meet (G1) to (G5)."""
        _, n1, n2, m = self.widths
        alive = n2 - self.types.count(DEAD)
        spare = n2 - self.types.count(NONLINEAR)
        if not alive:
            return ""
        if n1 == 1:
            return "more where f is constant on both sides, or where some M_S = 0, by a coincidence of values"
        if self.hidden:
            return "" if alive == 1 else "2^F, F the number of columns k with one ratio A2_jk / A2_ji for all alive j"
        if spare == n2 or spare >= min(n1, m + 1):
            return ""
        if self.open:
            return (
                f"{self.least} to {self.least + self.open}: a choice S of {'at least ' if spare == m else ''}"
                f"{spare - self.types.count(LINEAR)} sides counts iff the cone of the columns of M_S is pointed"
            )
        if not spare:
            return (
                "" if n2 == 1 else "more where Σ C_l B_l = 0 over some nonempty set of rows, by a coincidence of values"
            )
        return "more where some M_S has a smaller rank than usual, by a coincidence of values"


def _type_of(row: str) -> str:
    return LINEAR if "-" not in row else DEAD if "+" not in row else NONLINEAR


def _hides(row: str, i: int) -> bool:
    return row[i] == "+" and "+" not in row[:i] + row[i + 1 :]


def component_bounds(signs: tuple[str, ...], m: int) -> tuple[int, int]:
    """Give (number of components that exist, number of further ones that exist or not), for almost all values.

    Visible, n1 ≥ 2: rank M_S = min(m, n1, q + |S|) for almost all values. Up to |S| < e all exist. Of |S| = e those
    whose cone is pointed: M_S = C B with independent columns C, so the cone of the columns of B decides. A row of B of
    one sign makes it pointed (a linear one always is). If every sign vector occurs as a column, no y has yᵀB > 0. Else
    there are open sets of values of both kinds. More sides have a larger rank, unless r = m < n1: then M_S = C B with
    more columns C than rows, and it is again never pointed or, on open sets, both.

    Implements: theory §2.6, §3.4, §3.5.

    >>> component_bounds(("+--", "---"), 1), component_bounds(("+-+", "-++"), 1), component_bounds(("+-+", "---"), 1)
    ((2, 0), (1, 0), (1, 0))
    """
    n1, n2 = len(signs[0]) - 1, len(signs)
    types = [_type_of(row) for row in signs]
    k, q, e = (types.count(kind) for kind in (NONLINEAR, LINEAR, DEAD))
    if e == n2:
        return 1, 0
    if n1 == 1:
        return _on_a_line(signs, k, q, e), 0
    alive = [row for row, kind in zip(signs, types, strict=True) if kind != DEAD]
    if any(all(_hides(row, i) for row in alive) for i in range(n1)):
        return (2 ** (n1 - 1) if len(alive) == 1 else 1), 0
    spare = q + e
    if spare >= min(n1, m + 1):
        return 2**k, 0
    least, undecided = sum(comb(k, size) for size in range(e)), 0
    rows = [row[:-1] for row, kind in zip(signs, types, strict=True) if kind == NONLINEAR]
    for size in range(e, k + 1 if spare == m else e + 1):
        if q and size > e:
            undecided += comb(k, size)
        elif q or not size:
            least += comb(k, size)
        else:
            for chosen in combinations(rows, size):
                if size == e and any(len(set(row)) == 1 for row in chosen):
                    least += 1
                elif len(set(zip(*chosen, strict=True))) < 2**size:
                    undecided += 1
    return least, undecided


def _on_a_line(signs: tuple[str, ...], k: int, q: int, e: int) -> int:
    """Count for n1 = 1: 2^k visible ones if a neuron is spare, else one; one hidden one where that neuron suffices.

    A function whose rows are all negative at +∞ is constant there too, and can be read from either side.
    """
    if signs.count("+-") + e == len(signs):  # hidden: one of its k breakpoints can be the first layer's
        return int(2 ** (k - 1)) + 1
    each = int(2**k) + 1 if q + e else 1
    return each if any(row[0] == "+" for row in signs) else 2 * each


def _work(inputs: tuple[tuple[int, int, int, Rows], ...]) -> list[list[Any]]:
    """Give [rows, multiplicity, least, open] for each pattern that begins with the given rows."""
    found: list[list[Any]] = []
    for n1, n2, m, rows in inputs:
        for whole, multiplicity in extended(rows, n1, n2):
            signs = tuple(row_text(row, n1) for row in whole)
            found.append([list(whole), multiplicity, *component_bounds(signs, m)])
    return found


def _are_rows(value: Any, n1: int, n2: int) -> bool:
    """Whether this is a list of what `_work` gives for a pattern."""
    if not isinstance(value, list) or not all(isinstance(row, list) and len(row) == 4 for row in value):
        return False
    whole = all(isinstance(rows, list) and len(rows) == n2 for rows, *_ in value)
    counts = all(type(count) is int and count >= 0 for _, *told in value for count in told)
    return whole and counts and all(type(row) is int and 0 <= row < 2 ** (n1 + 1) for rows, *_ in value for row in rows)


@dataclass(frozen=True)
class Atlas:
    """All sign patterns of an architecture up to relabelling, in lexicographic order ("+" before "-")."""

    widths: tuple[int, int, int, int]
    rows: tuple[AtlasRow, ...]

    def __iter__(self) -> Iterator[AtlasRow]:
        """Give the rows."""
        return iter(self.rows)

    def __len__(self) -> int:
        """Give the number of patterns up to relabelling."""
        return len(self.rows)

    @property
    def pattern_count(self) -> int:
        """The number 2^(n2 (n1 + 1)) of all patterns."""
        return int(2 ** (self.widths[2] * (self.widths[1] + 1)))

    def count(self, holds: Callable[[AtlasRow], bool]) -> int:
        """Give the number of patterns for which something holds, relabelled ones counted."""
        return sum(row.multiplicity for row in self.rows if holds(row))

    def fraction(self, holds: Callable[[AtlasRow], bool]) -> sympy.Rational:
        """Give the fraction of all patterns for which something holds, exactly.

        That is its probability where all entries of [A2 | b2] have independent symmetric continuous distributions.
        """
        import sympy

        return sympy.Rational(self.count(holds), self.pattern_count)

    @property
    def identifiable(self) -> sympy.Rational:
        """The fraction of patterns that are identifiable, for almost all values."""
        return self.fraction(lambda row: row.identifiable)

    @property
    def some_dead(self) -> sympy.Rational:
        """The fraction of patterns with a dead row."""
        return self.fraction(lambda row: DEAD in row.types)

    @property
    def some_linear(self) -> sympy.Rational:
        """The fraction of patterns with a linear row."""
        return self.fraction(lambda row: LINEAR in row.types)

    @property
    def all_dead(self) -> sympy.Rational:
        """The fraction of patterns with dead rows only: a constant function."""
        return self.fraction(lambda row: set(row.types) == {DEAD})

    @property
    def hidden(self) -> sympy.Rational:
        """The fraction of patterns with a hidden column and some row alive."""
        return self.fraction(lambda row: bool(row.hidden) and set(row.types) != {DEAD})

    def check(self) -> bool:
        """Compare with what is known without enumeration: 2^(n2 (n1 + 1)), Burnside's lemma, the closed forms.

        Implements: beyond §5.
        """
        _, n1, n2, _ = self.widths
        dead = 2 ** (n1 + 1) - 1  # rows that are not dead, or not linear
        total = self.pattern_count
        identifiable = (2 ** (n1 + 1) - 2) ** n2 - n1 if n1 > 1 else 2**n2 - 2
        return (
            len(self.rows) == orbit_count(n1, n2)
            and self.count(lambda row: True) == total
            and self.count(lambda row: DEAD in row.types) == total - dead**n2
            and self.count(lambda row: LINEAR in row.types) == total - dead**n2
            and self.count(lambda row: set(row.types) == {DEAD}) == 1
            and self.count(lambda row: bool(row.hidden)) == n1 * (2**n2 - 1) + 1
            and self.count(lambda row: row.identifiable) == identifiable
        )


@checked
def atlas(d: int, n1: int, n2: int, m: int, runner: Runner | None = None) -> Atlas:
    """Give every sign pattern of [A2 | b2] up to relabelling, with what it implies for almost all values.

    `runner` says where the patterns are enumerated and whether a checkpoint is kept; in this process when None.

    Implements: theory §2.5, §2.6, §3.4, §3.5.

    Raises:
        InvalidNetworkError: for widths that are no positive integers.
        UnsupportedError: for n1 > d, where the range of the first layer decides, not the signs.
        BudgetExceededError: for more than `BUDGET` patterns up to relabelling, or n1 > 7.

    >>> found = atlas(2, 2, 2, 1)
    >>> len(found), found.identifiable
    (24, 17/32)
    >>> [(row.signs, row.multiplicity, row.dimension, row.components) for row in found][:2]
    [(('+++', '+++'), 1, 8, 1), (('+++', '++-'), 2, 5, None)]
    """
    for name, width in (("d", d), ("n1", n1), ("n2", n2), ("m", m)):
        if not isinstance(width, int) or isinstance(width, bool) or width < 1:
            raise InvalidNetworkError(f"{name} is a number of units, at least 1, got {shown(width)}", value=width)
    if n1 > d:
        raise UnsupportedError(
            f"the atlas is about bottlenecks, n1 ≤ d; for n1 = {n1} > d = {d} types and hidden hyperplanes depend on "
            "the values: ask `summary` about a network"
        )
    if n1 > LARGEST_N1 or n2 * (n1 + 1) > LONGEST or orbit_count(n1, n2) > BUDGET:
        raise BudgetExceededError(
            f"widths n1 = {n1}, n2 = {n2} are beyond the budget of {BUDGET:,} patterns up to relabelling, "
            f"n1 ≤ {LARGEST_N1} and {LONGEST} signs; probabilities have closed forms: see `Initialisation`"
        )
    inputs = [(n1, n2, m, rows) for rows in first_rows(n1, min(2, n2 - 1))]
    size = -(-len(inputs) // 64)
    family = Family(f"atlas {d} {n1} {n2} {m}", "", inputs, _work, size, lambda value: _are_rows(value, n1, n2))
    found = [row for rows in (runner or Runner()).run(family) for row in rows]
    widths = (d, n1, n2, m)
    return Atlas(
        widths,
        tuple(
            AtlasRow(widths, tuple(row_text(row, n1) for row in whole), multiplicity, least, more)
            for whole, multiplicity, least, more in found
        ),
    )
