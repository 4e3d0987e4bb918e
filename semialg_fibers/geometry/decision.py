"""Questions about scalars with letters that are decided for all their values, or refused.

Main results
    decide_all, decide_signs   whether the signs of several scalars are as asked
    first_sure      the first of several items for which something is sure
    essential       what of a scalar may be zero
    letters_of      which letters occur; one name, one letter
    admissible      a value for a letter, which respects its assumption

References: docs/conventions.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

from semialg_fibers.errors import UndecidedSignError
from semialg_fibers.geometry.expression import Expression, Scalar, signs_of, simplest, undecided
from semialg_fibers.geometry.scalar import ONE
from semialg_fibers.geometry.signs import Signs, union

if TYPE_CHECKING:
    import sympy

Item = TypeVar("Item")


def letters_of(values: Iterable[Any]) -> tuple[sympy.Symbol, ...]:
    """Give the letters that occur, sorted by name.

    Raises:
        InvalidNetworkError: for two letters of one name with different assumptions.
    """
    found: tuple[sympy.Symbol, ...] = ()
    for value in values:
        if isinstance(value, Expression):
            found = union(found, tuple(sorted(value.letters, key=lambda letter: letter.name)))
    return found


def essential(value: Scalar) -> Scalar:
    """Give the part of a scalar that may be zero, without the factors that cannot be.

    >>> import sympy
    >>> a, b = sympy.Symbol("a", positive=True), sympy.Symbol("b", real=True)
    >>> from semialg_fibers.geometry.reading import scalar
    >>> essential(scalar(3 * a * b - a))
    3*b - 1
    """
    return value.essential() if isinstance(value, Expression) else value


def common_divisor(values: Iterable[Scalar]) -> Scalar:
    """Give the greatest common divisor of the numerators of those values that are not zero; 1 when there is none."""
    read = [Expression.read(value) for value in values if value != 0]
    return simplest(reduce(lambda a, b: a.gcd(b), read[1:], read[0].gcd(read[0]))) if read else ONE


def without_common_factor(values: Sequence[Scalar]) -> list[Scalar]:
    """Give the values divided by the greatest common divisor of their numerators, in the field of rational functions.

    >>> import sympy
    >>> from semialg_fibers.geometry.reading import scalar
    >>> a, b, c = sympy.symbols("a b c", real=True)
    >>> without_common_factor([scalar(a * c), scalar(b * c)])
    [a, b]
    """
    common = common_divisor(values)
    return [value if value == 0 else simplest(Expression.read(value).over(common)) for value in values]


def decide_all(values: Iterable[Scalar], holds: Signs) -> bool:
    """Say whether every value has its sign in `holds`; one that never has settles it, wherever it stands.

    Raises:
        UndecidedSignError: where neither is sure.
    """
    return decide_signs((value, signs_of(value), holds) for value in values)


def decide_signs(asked: Iterable[tuple[Scalar, Signs, Signs]]) -> bool:
    """Do the same for triples of a value, the signs that it may have, and those that are asked for.

    Raises:
        UndecidedSignError: where neither is sure.
    """
    open_value = None
    for value, signs, holds in asked:
        if not signs & holds:
            return False
        if not signs <= holds and open_value is None:
            open_value = value
    if open_value is not None:
        raise undecided(open_value)
    return True


def first_sure(items: Iterable[Item], holds: Callable[[Item], bool]) -> Item | None:
    """Give the first item for which something holds for all values of the letters; None where it never does.

    Raises:
        UndecidedSignError: where it holds for none for sure, and for some it depends on the letters.
    """
    open_error: UndecidedSignError | None = None
    for item in items:
        try:
            if holds(item):
                return item
        except UndecidedSignError as error:
            open_error = open_error or error
    if open_error is not None:
        raise open_error
    return None
