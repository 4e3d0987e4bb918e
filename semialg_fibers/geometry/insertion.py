"""Numbers or expressions put for letters.

Main results
    put           the scalar, tuple or matrix with values for letters; each must respect its letter's assumption

References: docs/conventions.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.expression import Expression, Scalar, signs_of, simplest, undecided
from semialg_fibers.geometry.reading import scalar
from semialg_fibers.geometry.scalar import ZERO
from semialg_fibers.geometry.signs import described, letter_signs
from semialg_fibers.geometry.symbolic_matrix import SymbolicMatrix, matrix_of

if TYPE_CHECKING:
    import sympy


def put(value: Any, values: Mapping[Any, Any]) -> Any:
    """Put numbers or expressions for the letters of a scalar, a tuple of such, or a matrix (keys: symbols or names).

    Raises:
        InvalidNetworkError: for a value that breaks the letter's assumption, or a denominator that becomes zero.

    >>> import sympy
    >>> a, b = sympy.symbols("a b", positive=True)
    >>> put(scalar(a * b - 1), {"a": 2, b: 3})
    5
    """
    if isinstance(value, Expression):
        return _inserted(value, {str(key): each for key, each in values.items()})
    if isinstance(value, SymbolicMatrix):
        return matrix_of([[put(entry, values) for entry in row] for row in value.rows()], value.shape[1])
    if isinstance(value, tuple):
        return tuple(put(entry, values) for entry in value)
    return value


def _inserted(value: Expression, given: Mapping[str, Any]) -> Scalar:
    at = {letter.name: admissible(letter, given[letter.name]) for letter in value.letters if letter.name in given}
    if not at:
        return value
    top, below = (_value(terms, at) for terms in value.terms())
    if below == 0:
        raise InvalidNetworkError(f"the denominator of {value} becomes zero", value=str(value))
    return simplest(Expression.read(top).over(below))


def _value(terms: Any, at: Mapping[str, Any]) -> Any:
    total: Any = ZERO
    for powers, coefficient in terms:
        term: Any = coefficient
        for letter, exponent in powers:
            base = at[letter.name] if letter.name in at else Expression.of_symbol(letter)
            term = term * base**exponent
        total = total + term
    return total


def admissible(letter: sympy.Symbol, value: Any) -> Scalar:
    """Give the value as a scalar.

    Raises:
        InvalidNetworkError: when its sign breaks the letter's assumption.
    """
    read = scalar(value)
    signs = signs_of(read)
    if not signs & letter_signs(letter):
        raise InvalidNetworkError(
            f"{letter.name} is declared {described(letter)}, got {read}", value=str(read), letter=letter.name
        )
    if not signs <= letter_signs(letter):
        raise undecided(read)
    return read
