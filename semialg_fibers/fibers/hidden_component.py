"""The components of a network with a hidden hyperplane: scalings, one translation, a set of flips.

Main definitions
    HiddenFrame        the data that all these components share
    HiddenComponent    the component of one flip set
    HiddenFamily       all flip sets

References: theory §3.4, §3.5.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import factorial
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.fibers.block import positive_ratio
from semialg_fibers.fibers.component import (
    Conditions,
    Family,
    FiberComponent,
    Parametrization,
    counted,
    equation,
    exact_layers,
    positivity,
    symbolic_layer,
    times,
)
from semialg_fibers.fibers.conditions import ALWAYS, AllVanish, Alternatives
from semialg_fibers.fibers.hiding import largest
from semialg_fibers.fibers.letters import FreshSymbols, Letters
from semialg_fibers.fibers.specialisation import anew
from semialg_fibers.geometry.arguments import checked_methods
from semialg_fibers.geometry.domain import Domain, Form, Space
from semialg_fibers.geometry.expression import Scalar, signs_of, to_sympy, undecided
from semialg_fibers.geometry.insertion import put
from semialg_fibers.geometry.scalar import Vector, primitive
from semialg_fibers.geometry.semialgebraic import Sampler, SemialgebraicSet, random_positive, random_rational
from semialg_fibers.geometry.symbolic_matrix import letters_in
from semialg_fibers.networks.arrangement import oriented
from semialg_fibers.networks.layer import Layer, Network

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True)
class HiddenFrame:
    """A network with hidden hyperplane `column`, in pieces.

    `first` are the rows of [A1 | b1]; `alive` the labels of the alive rows, `rows` their [A2 | b2], `outgoing` their
    columns of A3; `dead` the other labels; `constant` is b3; `ratios` maps each flippable column to r_k.
    """

    widths: tuple[int, ...]
    column: int
    first: tuple[Form, ...]
    alive: tuple[int, ...]
    rows: tuple[Form, ...]
    outgoing: tuple[Vector, ...]
    dead: tuple[int, ...]
    constant: Vector
    ratios: dict[int, fmpq]
    conditions: dict[int, tuple[Scalar, ...]] = field(default_factory=dict)  # must vanish to flip

    @property
    def letters(self) -> tuple[sympy.Symbol, ...]:
        """The letters that occur, sorted by name."""
        return letters_in(self.first, self.rows, self.outgoing, self.constant)

    def subs(self, values: Mapping[Any, Any]) -> HiddenFrame:
        """Put numbers or expressions for letters."""
        asked = {k: tuple(v for v in put(found, values) if v != 0) for k, found in self.conditions.items()}
        left = {k: found for k, found in asked.items() if found}
        never = {k for k, found in left.items() if any(0 not in signs_of(value) for value in found)}
        return replace(
            self,
            **{name: put(getattr(self, name), values) for name in ("first", "rows", "outgoing", "constant")},
            ratios={k: put(ratio, values) for k, ratio in self.ratios.items() if k not in never},
            conditions={k: found for k, found in left.items() if k not in never},
        )

    @property
    def dimension(self) -> int:
        """n1 + a + 1 + (n2 − a)(n1 + 1 + m).

        Implements: theory §3.4.
        """
        n1, m = len(self.first), len(self.constant)
        return n1 + len(self.alive) + 1 + len(self.dead) * (n1 + 1 + m)

    @property
    def ends(self) -> tuple[Scalar, ...]:
        """The largest of the numbers b2_j / A2_ji, or those of which letters leave open which it is; t lies above.

        Implements: theory §3.2.
        """
        return largest(row[-1] / row[self.column] for row in self.rows)

    def flipped_first(self, flips: Sequence[int]) -> list[Form]:
        """Give the rows of [A1 | b1] after the flips, not scaled, not translated."""
        rows = [tuple(-value for value in form) if k in flips else form for k, form in enumerate(self.first)]
        target = list(self.first[self.column])
        for k in flips:
            target = [a + self.ratios[k] * b for a, b in zip(target, self.first[k], strict=True)]
        rows[self.column] = tuple(target)
        return rows

    def locate(self, net: Network) -> tuple[int, ...] | None:
        """Give the flip set whose component contains the network under some labelling, or None."""
        if net.widths != self.widths or not isinstance(net.domain, Space):
            return None
        first, second, third = net.layers
        placed = self._visible_places(first.forms)
        if placed is None or third.offset != self.constant:
            return None
        places, flips = placed
        (hidden,) = set(range(len(self.first))) - {place for place, _ in places.values()}
        target = self.flipped_first(flips)[self.column]
        scale = positive_ratio(first.forms[hidden][:-1], target[:-1])
        if scale is None:
            return None
        places[self.column] = (hidden, scale)
        t = first.forms[hidden][-1] / scale - target[-1]
        order = [places[k] for k in range(len(self.first))]
        scaled = [(*(form[at] * factor for at, factor in order), form[-1]) for form in second.forms]
        return flips if self._same_rows(scaled, third.matrix.columns(), t) else None

    def _visible_places(self, forms: Sequence[Form]) -> tuple[dict[int, tuple[int, fmpq]], tuple[int, ...]] | None:
        """Find each visible hyperplane k among the forms: (place, λ_k > 0), and which of them are turned round."""
        at = {oriented(form)[0]: (place, oriented(form)[1]) for place, form in enumerate(forms) if any(form[:-1])}
        places, flips = {}, []
        for k, form in enumerate(self.first):
            if k == self.column:
                continue
            hyperplane, own = oriented(form)
            if hyperplane not in at:
                return None
            place, scale = at.pop(hyperplane)
            places[k] = (place, abs(scale / own))
            if scale * own < 0:
                flips.append(k)
        return (places, tuple(flips)) if all(k in self.ratios for k in flips) else None

    def _same_rows(self, forms: Sequence[Form], columns: Sequence[Vector], t: fmpq) -> bool:
        """Compare alive rows up to positive scale, b2 moved by t; the others must be dead (negative)."""
        wanted = {}
        for row, column in zip(self.rows, self.outgoing, strict=True):
            moved = (*row[:-1], row[-1] - row[self.column] * t)
            if moved[-1] >= 0:
                return False
            wanted[primitive(moved)] = (moved, column)
        for form, column in zip(forms, columns, strict=True):
            if all(value < 0 for value in form):
                continue
            found = wanted.pop(primitive(form), None)
            if found is None:
                return False
            scale = form[self.column] / found[0][self.column]
            if tuple(value * scale for value in column) != found[1]:
                return False
        return not wanted


@checked_methods("subs")
@dataclass(frozen=True, repr=False)
class HiddenComponent(FiberComponent):
    """The members with the given set of flipped first-layer columns.

    Implements: theory §3.4.
    """

    frame: HiddenFrame
    flips: tuple[int, ...]
    direction: int | None = None
    kind = "hidden"

    @property
    def widths(self) -> tuple[int, ...]:  # type: ignore[override]
        """The widths of the network."""
        return self.frame.widths

    @property
    def name(self) -> str:
        """The flips in words."""
        return f"hyperplane {self.frame.column + 1} hidden, {counted('hyperplane', self.flips)} flipped"

    @property
    def dimension(self) -> int:
        """The same for every flip set."""
        return self.frame.dimension

    @property
    def set(self) -> SemialgebraicSet:
        """One basic set: the products along paths are the invariants, λ, μ, t eliminated."""
        frame, i = self.frame, self.frame.column
        letters, conditions = Letters(self.widths), Conditions.none()
        conditions.equations += map(to_sympy, self._asked)
        wanted = frame.flipped_first(self.flips)
        factors: list[Any] = []
        conditions.explain(
            "the first layer's hyperplanes, each up to a positive factor; the hidden one up to translation"
        )
        for k, form in enumerate(wanted):
            row = [letters.weight(1, k, c) for c in range(len(form) - 1)]
            full, target = (row, form[:-1]) if k == i else ([*row, letters.bias(1, k)], form)
            factors.append(conditions.parallel(full, target))
        conditions.explain("the products along paths, and the bias that the translation leaves alone")
        for j, form, column in zip(frame.alive, frame.rows, frame.outgoing, strict=True):
            weights = [letters.weight(2, j, k) for k in range(len(factors))]
            shift = weights[i] * letters.bias(1, i) + letters.bias(2, j)
            for a, value in enumerate(column):
                out = letters.weight(3, a, j)
                for k, pairs in enumerate(factors):
                    for variable, base in pairs:
                        conditions.equations.append(equation(out * weights[k] * variable, value * form[k] * base))
                base_shift = form[i] * wanted[i][-1] + form[-1]
                conditions.equations.append(equation(out * shift, value * base_shift))
            conditions.positive += [w if k == i else -w for k, w in enumerate(weights)]
            conditions.positive.append(-letters.bias(2, j))
        for j in frame.dead:
            conditions.positive += [-letters.weight(2, j, k) for k in range(len(factors))]
            conditions.positive.append(-letters.bias(2, j))
        conditions.explain("the last bias")
        for a, value in enumerate(frame.constant):
            conditions.equations.append(equation(letters.bias(3, a), value))
        part = conditions.basic_set(letters, *self._known)
        return SemialgebraicSet((replace(part, anew=anew(self, lambda made: made._known)) if self.letters else part,))

    @property
    def _known(self) -> tuple[Sampler, int]:
        """The set's sampler and dimension."""
        return (lambda rng: self.draw(rng).parameters), self.dimension

    @property
    def parametrization(self) -> Parametrization:
        """λ_k > 0, μ_j > 0, t above its end; dead rows negative, their A3 columns free.

        Implements: theory §3.4.
        """
        import sympy

        frame, i = self.frame, self.frame.column
        fresh = FreshSymbols(self.letters)
        lambdas = [fresh.positive(f"lambda_{k}") for k in range(len(frame.first))]
        mus = {j: fresh.positive(f"mu_{j}") for j in frame.alive}
        t = fresh.real("t")
        symbols: list[Any] = [*lambdas, *mus.values(), t]
        ranges: list[Any] = [positivity(value) for value in [*lambdas, *mus.values()]]
        ranges += [sympy.Gt(t, to_sympy(end)) for end in frame.ends]
        base = [[to_sympy(value) for value in form] for form in frame.flipped_first(self.flips)]
        base[i][-1] += t
        first = [[value * s for value in form] for form, s in zip(base, lambdas, strict=True)]
        rows: list[list[Any]] = [[] for _ in range(self.widths[2])]
        columns: list[list[Any]] = [[] for _ in range(self.widths[2])]
        for j, form, column in zip(frame.alive, frame.rows, frame.outgoing, strict=True):
            moved = to_sympy(form[-1]) - times(form[i], t)
            rows[j] = [*(times(v, mus[j] / s) for v, s in zip(form[:-1], lambdas, strict=True)), mus[j] * moved]
            columns[j] = [times(value, 1 / mus[j]) for value in column]
        for j in frame.dead:
            rows[j] = [fresh.real(f"B_{j}_{k}") for k in range(len(lambdas))]
            rows[j].append(fresh.real(f"beta_{j}"))
            columns[j] = [fresh.real(f"C_{a}_{j}") for a in range(len(frame.constant))]
            symbols += [*rows[j], *columns[j]]
            ranges += [sympy.Lt(value, 0) for value in rows[j]]
        last = sympy.ImmutableMatrix(list(zip(*columns, strict=True)))
        constant = tuple(to_sympy(value) for value in frame.constant)
        layers = (symbolic_layer(first), symbolic_layer(rows), (last, constant))
        return Parametrization(tuple(symbols), tuple(ranges), tuple(map(to_sympy, self._asked)), layers)

    @property
    def condition(self) -> Alternatives:
        """That the ratios of each flipped column are common to the alive rows.

        Implements: theory §3.3.
        """
        return Alternatives(((AllVanish(self._asked),),)) if self._asked else ALWAYS

    @property
    def _asked(self) -> tuple[Scalar, ...]:
        """What must vanish for the flipped columns to be flippable."""
        return tuple(v for k in self.flips for v in self.frame.conditions.get(k, ()))

    def subs(self, values: Mapping[Any, Any]) -> HiddenComponent:
        """Put numbers or expressions for letters."""
        self._must_exist(values)
        return replace(self, frame=self.frame.subs(values))

    def draw(self, rng: random.Random) -> Network:
        """Give a random member."""
        frame, i = self.frame, self.frame.column
        scales = [random_positive(rng) for _ in frame.first]
        t = frame.ends[0] + random_positive(rng) if len(frame.ends) == 1 else random_positive(rng)  # all are negative
        rows = [list(form) for form in frame.flipped_first(self.flips)]
        rows[i][-1] += t
        rows = [[value * s for value in row] for row, s in zip(rows, scales, strict=True)]
        forms: list[Form] = [()] * self.widths[2]
        outgoing: list[Vector] = [()] * self.widths[2]
        for j, form, column in zip(frame.alive, frame.rows, frame.outgoing, strict=True):
            mu = random_positive(rng)
            weights = (mu * value / s for value, s in zip(form[:-1], scales, strict=True))
            forms[j] = (*weights, mu * (form[-1] - form[i] * t))
            outgoing[j] = tuple(value / mu for value in column)
        for j in frame.dead:
            forms[j] = tuple(-random_positive(rng) for _ in range(len(scales) + 1))
            outgoing[j] = tuple(random_rational(rng) for _ in frame.constant)
        first = Layer([row[:-1] for row in rows], [row[-1] for row in rows])
        return Network([first, *exact_layers(forms, outgoing, frame.constant)])

    @property
    def hyperplanes(self) -> tuple[Vector, ...]:
        """The rows of [A1 | b1] after the flips; of the hidden one the weights alone."""
        forms = self.frame.flipped_first(self.flips)
        return tuple(form[:-1] if k == self.frame.column else form for k, form in enumerate(forms))

    @property
    def domain(self) -> Domain:
        """All of R^d."""
        return Space(self.widths[0])

    @property
    def letters(self) -> tuple[sympy.Symbol, ...]:
        """The letters of the frame."""
        return self.frame.letters

    def contains_numbers(self, net: Network) -> bool:
        """Read the flips off the network's first layer."""
        return self.frame.locate(net) == self.flips


@dataclass(frozen=True)
class HiddenFamily(Family):
    """The 2^F components of a hidden network, one for each set of flippable columns."""

    frame: HiddenFrame
    direction: int | None = None

    def components(self) -> Iterator[FiberComponent]:
        """Yield the flip sets by size, then lexicographically."""
        columns = sorted(self.frame.ratios)
        for size in range(len(columns) + 1):
            for flips in combinations(columns, size):
                yield HiddenComponent(self.frame, flips, self.direction)

    def count(self) -> int:
        """2^F.

        Raises:
            UndecidedSignError: where a further column is flippable for some values of the letters only.
        """
        for found in self.frame.conditions.values():
            raise undecided(found[0])
        return int(2 ** len(self.frame.ratios))

    def locate(self, net: Network) -> FiberComponent | None:
        """Read the flips off the network's first layer; with letters, try one component after the other."""
        if not net.is_rational or self.frame.letters:
            return self.search(net)
        flips = self.frame.locate(net)
        return None if flips is None else HiddenComponent(self.frame, flips, self.direction)

    @property
    def copies(self) -> int:
        """n1! · n2!/(n2 − a)!."""
        frame = self.frame
        return factorial(len(frame.first)) * factorial(frame.widths[2]) // factorial(len(frame.dead))

    def largest_dimension(self) -> int:
        """All components have the same."""
        return self.frame.dimension
