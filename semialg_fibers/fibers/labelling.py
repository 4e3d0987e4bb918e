"""Membership where letters occur: a labelling of the hidden units under which every condition holds for all values.

Main results
    contains_symbolically    whether a network lies in a component, for networks or components with letters

References: theory §1, §2.3.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from math import factorial, prod
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.decision import decide_signs, first_sure
from semialg_fibers.geometry.expression import Expression, Scalar, signs_of
from semialg_fibers.geometry.insertion import put
from semialg_fibers.geometry.reading import scalar
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector
from semialg_fibers.geometry.semialgebraic import BasicSet, SemialgebraicSet, random_positive
from semialg_fibers.geometry.signs import Signs, letter_signs
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    import sympy

LABELLINGS = 5_040

_SIGNS: dict[str, Signs] = {
    "equations": frozenset({0}),
    "positive": frozenset({1}),
    "nonnegative": frozenset({0, 1}),
}


def contains_symbolically(whole: SemialgebraicSet, net: Network, forms: Sequence[Vector], seed: int = 0) -> bool:
    """Say whether the network, under some labelling of its hidden units, lies in the set for all values of the letters.

    The `forms` are taken not to be zero, which for rows of A1 is a part of (G1).

    Raises:
        UndecidedSignError: when that depends on the values of the letters.
        BudgetExceededError: when there are more labellings than are tried.
    """
    count = prod(factorial(width) for width in net.widths[1:-1])
    if count > LABELLINGS:
        raise BudgetExceededError(f"{count} labellings of the hidden units, more than the {LABELLINGS} that are tried")
    rng = random.Random(seed)
    letters = {letter for part in whole.parts for letter in part.letters} | set(net.symbols)
    at = {letter.name: _random_value(letter, rng) for letter in letters}
    squares = [sum((value * value for value in form), ZERO) for form in forms]
    alike: list[tuple[BasicSet, Any]] = []
    others: list[tuple[BasicSet, Any]] = []
    for labelled in _labellings(net):
        values = labelled.parameters
        numbers = {name: put(value, at) for name, value in values.items()}
        for part in whole.parts:
            met = not _refutes(part, numbers | at)
            (alike if met else others).append((part, values))
    return first_sure([*alike, *others], lambda each: _holds(*each, squares)) is not None


def _labellings(net: Network) -> Iterator[Network]:
    for orders in product(*(permutations(range(width)) for width in net.widths[1:-1])):
        labelled = net
        for layer, order in enumerate(orders, 1):
            labelled = labelled.permuted(layer, order)
        yield labelled


def _refutes(part: BasicSet, numbers: Mapping[str, Scalar]) -> bool:
    return any(
        not signs_of(value_at(expression, numbers)) <= signs
        for kind, signs in _SIGNS.items()
        for expression in getattr(part, kind)
    )


def _holds(part: BasicSet, values: Mapping[str, Scalar], squares: Sequence[Scalar]) -> bool:
    """Decide every condition; one that never holds settles it, else one that is open is refused."""

    def asked() -> Iterator[tuple[Scalar, Signs, Signs]]:
        for kind, allowed in _SIGNS.items():
            for expression in getattr(part, kind):
                value = value_at(expression, values)
                signs = signs_of(value)
                if not signs <= allowed:
                    for square in squares:  # positive, so that the quotient has the value's sign
                        signs &= signs_of(Expression.read(value).over(square))
                yield value, signs, allowed

    return decide_signs(asked())


def value_at(expression: sympy.Expr, values: Mapping[str, Scalar]) -> Scalar:
    """Give the value of a SymPy polynomial where variables have scalars for values; letters without one stay."""
    if expression.is_Symbol:
        return values[expression.name] if expression.name in values else Expression.of_symbol(expression)
    if expression.is_Add:
        return sum((value_at(term, values) for term in expression.args), ZERO)
    if expression.is_Mul:
        return prod((value_at(factor, values) for factor in expression.args), start=ONE)
    if expression.is_Pow:
        return value_at(expression.base, values) ** int(expression.exp)
    return scalar(expression)


def _random_value(letter: sympy.Symbol, rng: random.Random) -> Any:
    signs = sorted(letter_signs(letter) - {0})
    return rng.choice(signs) * (random_positive(rng) + 1 / random_positive(rng))
