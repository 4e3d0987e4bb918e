"""Laws, their number, and what is proved of it.

Main definitions
    Law         a polynomial Q with ⟨∇Q, ∇_θ f_o(x)⟩ = 0, and where this holds
    Laws        independent laws, the dependent ones among those listed, and bounds for the number of all laws

The number of all independent laws near almost every θ is D − (rank of the Lie algebra). Independent gradients of laws
are one bound, independent brackets of fields the other; where they meet, both are proved. Where the laws that are
polynomials of degree ≤ 2 do not suffice, a span of fields closed under brackets can take their place.

References: theory §7.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Protocol

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.geometry.arguments import expect
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import exact, quantity
from semialg_fibers.geometry.semialgebraic import symbols_for
from semialg_fibers.questions.law_search import Candidate
from semialg_fibers.questions.lie_algebra import PRIME, Parameters, independent
from semialg_fibers.verify.conservation import Wiring, gradient, holds_everywhere, is_conserved
from semialg_fibers.verify.lie_rank import has_rank_at_most

if TYPE_CHECKING:
    import sympy

FREE, SCALING, MIXING = "free", "scaling", "mixing"


@dataclass(frozen=True)
class Law:
    """A conserved polynomial Σ coefficient · monomial in the parameters, with integer coefficients.

    `kind` is "free" (a parameter that does not move), "scaling" (of a hidden unit), "mixing" (of two units that are
    linear together) or "other"; `units` are (layer from 1, index from 0). `everywhere`: in all cells of all parameters.
    """

    kind: str
    terms: tuple[tuple[tuple[str, ...], int], ...]
    units: tuple[tuple[int, int], ...]
    everywhere: bool

    @cached_property
    def polynomial(self) -> sympy.Expr:
        """Q as a SymPy polynomial."""
        import sympy

        names = list(dict.fromkeys(name for monomial, _ in self.terms for name in monomial))
        letter = dict(zip(names, symbols_for(names), strict=True))
        return sympy.Add(*(c * sympy.Mul(*(letter[name] for name in monomial)) for monomial, c in self.terms))

    def __str__(self) -> str:
        """Give Q as text, in the order of the parameters."""
        return written(self.terms, str, "*", "{}**2")

    def to_latex(self) -> str:
        """Give Q in LaTeX, with W^{(1)}_{1,1} for W1_0_0."""
        return written(self.terms, latex_name, " ", "{{{}}}^2")  # braces: a second superscript is an error

    def value(self, parameters: Mapping[str, fmpq]) -> fmpq:
        """Give Q at these values of the parameters."""
        total = fmpq(0)
        for monomial, coefficient in self.terms:
            product = fmpq(coefficient)
            for name in monomial:
                product *= parameters[name]
            total += product
        return total

    @property
    def title(self) -> str:
        """Say which law it is; units count from 1."""
        if self.kind == FREE:
            return f"{self} does not move: no output depends on it near this network"
        if self.kind == SCALING:
            return f"scaling of {unit_name(self.units[0])}: ‖incoming weights and bias‖² − ‖outgoing weights‖²"
        if self.kind == MIXING:
            first, second = map(unit_name, self.units)
            return f"{first} and {second}, linear together: ⟨incoming, incoming⟩ − ⟨outgoing, outgoing⟩"
        return "a law of these cells, found by solving for all polynomials of degree at most two"


def written(terms: Iterable[tuple[tuple[str, ...], int]], name: Callable[[str], str], times: str, square: str) -> str:
    """Write a polynomial of degree at most two; `square` is a format with one place."""
    text = ""
    for monomial, coefficient in terms:
        sign = "-" if coefficient < 0 else "+"
        twice = len(set(monomial)) < len(monomial)
        body = square.format(name(monomial[0])) if twice else times.join(map(name, monomial))
        size = abs(coefficient)
        if not body:
            body = str(size)
        elif size != 1:
            body = f"{size}{times}{body}"
        text += f" {sign} {body}" if text else f"-{body}" if sign == "-" else body
    return text or "0"


def latex_name(name: str) -> str:
    """Give the LaTeX of a parameter.

    >>> latex_name("W1_0_2"), latex_name("b2_0")
    ('W^{(1)}_{1,3}', 'b^{(2)}_{1}')
    """
    layer, *indices = name[1:].split("_")
    return f"{name[0]}^{{({layer})}}_{{{','.join(str(int(i) + 1) for i in indices)}}}"


def unit_name(unit: tuple[int, int]) -> str:
    """Name a unit in prose, counting from 1."""
    return f"unit {unit[1] + 1} of layer {unit[0]}"


class Bound(Protocol):
    """What proves that the Lie algebra has at least a rank."""

    @property
    def rank(self) -> int:
        """The rank."""

    @property
    def sentence(self) -> str:
        """What was found, in words."""

    def check(self) -> bool:
        """Find the rank again, by other code."""


@dataclass(frozen=True)
class Laws:
    """Independent laws near almost every parameter, and how many there are in all.

    `found` are independent laws, `dependent` further ones whose gradients they span; `bound` proves a lower bound for
    the rank of the Lie algebra, hence an upper bound for the number of laws; `closed` says that it is the rank, proved.
    """

    parameters: Parameters
    found: tuple[Law, ...]
    dependent: tuple[Law, ...]
    bound: Bound
    closed: bool
    wiring: Wiring
    all_patterns: bool  # every law must hold for all patterns, also those that the wiring does not list

    @property
    def laws(self) -> tuple[sympy.Expr, ...]:
        """The independent laws as SymPy polynomials in the parameters."""
        return tuple(law.polynomial for law in self.found)

    @property
    def independent(self) -> int:
        """How many of the laws found are independent at almost every parameter."""
        return len(self.found)

    @property
    def interval(self) -> tuple[int, int]:
        """Proved bounds for the number of all independent laws; equal when the number is proved."""
        most = self.parameters.count - self.bound.rank
        return (most if self.closed else self.independent, most)

    @property
    def total(self) -> int:
        """D − rank of the Lie algebra generated by the fields: the number of all independent laws, proved.

        Raises:
            BudgetExceededError: when the bounds do not meet (`.interval`).
        """
        least, most = self.interval
        if least < most:
            raise BudgetExceededError(
                f"the number of independent laws is between {least} and {most}: {least} polynomials of degree at most "
                f"two were found, and brackets of rank {self.bound.rank} in {self.parameters.count} parameters",
                interval=(least, most),
            )
        return most

    def rank_at(self, values: Mapping[str, fmpq]) -> int:
        """Give the rank over Q of the gradients of the independent laws at a parameter given by names.

        Raises:
            InvalidNetworkError: for what is no mapping, a parameter without a value, or values that are no rationals.
        """
        given = expect(values, Mapping, "values")
        missing = next((name for name in self.parameters.names if name not in given), None)
        if missing is not None:
            raise InvalidNetworkError(f"values: there is none for {missing}", value=missing)
        values = {name: exact(given[name]) for name in self.parameters.names}
        rows = []
        for law in self.found:
            row = dict.fromkeys(self.parameters.names, fmpq(0))
            for name, terms in gradient(dict(law.terms)).items():
                row[name] = sum((prod((values[n] for n in each), start=fmpq(c)) for each, c in terms.items()), fmpq(0))
            rows.append(row.values())
        return Matrix(rows, columns=self.parameters.count).rank()

    def check(self) -> bool:
        """Prove the laws and both bounds again, over Q and by polynomials, with code that did not find them.

        This may take long. The gradients are looked at in one point, which suffices when they are independent there.
        """
        laws = (dict(law.terms) for law in (*self.found, *self.dependent))
        source = random.Random(0)
        point = {name: fmpq(source.randint(1, 10_000)) for name in self.parameters.names}
        return (
            all(_holds(terms, self.wiring, self.all_patterns) for terms in laws)
            and self.rank_at(point) == self.independent
            and self.bound.check()
            and (not self.closed or has_rank_at_most(self.bound.rank, self.wiring) is True)
        )

    @cached_property
    def variables(self) -> tuple[sympy.Symbol, ...]:
        """The parameters W1_0_0, ..., b1_0, ... as SymPy symbols."""
        return symbols_for(self.parameters.names)

    @property
    def proof(self) -> str:
        """Say what proves the number."""
        least, most = self.interval
        count, rank = self.parameters.count, self.bound.rank
        below = (
            f"{self.bound.sentence}, so the Lie algebra has rank ≥ {rank} and there are at most "
            f"{count} − {rank} = {quantity(most, 'law')}"
        )
        if least < most:
            found = quantity(self.independent, "independent law")
            return f"not decided between {least} and {most}: {below}; {found} found"
        if self.independent == most:
            return f"exactly {most}: {below}; {'one is' if most == 1 else f'{most} independent ones are'} listed"
        are = "is a polynomial" if self.independent == 1 else "are polynomials"
        return (
            f"exactly {most}: {below}; the span of these fields is closed under brackets, so its rank is {rank}; "
            f"{quantity(self.independent, 'law')} {are} of degree at most two, no further such polynomial was found"
        )


def settle(
    parameters: Parameters,
    proposed: Iterable[Candidate],
    bound_of: Callable[[int], Bound],
    wiring: Wiring,
    all_patterns: bool = False,
) -> Laws:
    """Prove the proposed laws one by one, choose independent ones, and bound their number.

    `bound_of(most)` gives a bound for the rank of the Lie algebra and need not look beyond `most`. With `all_patterns`
    a law must hold for all patterns, not only for those of the wiring. A proposal that is not confirmed is dropped,
    which can only widen the interval.
    """
    judged = ((candidate, _proved(parameters, candidate, wiring, all_patterns)) for candidate in proposed)
    confirmed = [(candidate, law) for candidate, law in judged if law is not None]
    import numpy as np

    point = np.random.default_rng(2).integers(0, PRIME, parameters.count)
    rows = np.array([candidate.gradient(point) for candidate, _ in confirmed]).reshape(-1, parameters.count)
    kept = set(independent(rows))
    found = tuple(law for k, (_, law) in enumerate(confirmed) if k in kept)
    rest = tuple(law for k, (_, law) in enumerate(confirmed) if k not in kept)
    most = parameters.count - len(found)
    bound = bound_of(most)
    closed = not all_patterns and bound.rank < most and has_rank_at_most(bound.rank, wiring) is True
    return Laws(parameters, found, rest, bound, closed, wiring, all_patterns)


def _proved(parameters: Parameters, candidate: Candidate, wiring: Wiring, all_patterns: bool) -> Law | None:
    terms = tuple((tuple(parameters.names[e] for e in monomial), _whole(value)) for monomial, value in candidate.terms)
    if not _holds(dict(terms), wiring, all_patterns):
        return None
    return Law(candidate.kind, terms, candidate.units, holds_everywhere(dict(terms), wiring))


def _holds(terms: dict[tuple[str, ...], int], wiring: Wiring, all_patterns: bool) -> bool:
    return holds_everywhere(terms, wiring) or (not all_patterns and is_conserved(terms, wiring))


def _whole(value: Fraction) -> int:
    assert value.denominator == 1  # candidates have integer coefficients
    return value.numerator
