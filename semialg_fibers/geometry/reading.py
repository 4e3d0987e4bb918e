"""How parameters come in: numbers and SymPy expressions as scalars.

Main results
    scalar             the door for parameters: a flint rational, or an `Expression` where letters occur

References: docs/conventions.md.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.expression import MAX_EXPONENT, Expression, Scalar, simplest
from semialg_fibers.geometry.scalar import exact


def scalar(value: Any) -> Scalar:
    """Give a number as a flint rational, a symbolic expression as an `Expression`; the door for parameters.

    Raises:
        InexactInputError: for a float, NaN or infinity.
        InvalidNetworkError: for anything else that is neither.
        UndecidedSignError: for a denominator that may be zero.
    """
    if isinstance(value, fmpq | int | str):
        return exact(value)
    if isinstance(value, Expression):
        return value
    if getattr(value, "free_symbols", None) and hasattr(value, "is_Symbol"):
        return simplest(read_expression(value))
    return exact(value)


def read_expression(value: Any) -> Any:
    """Give the Expression equal to a SymPy expression: sums, products, integer powers, letters, rationals.

    Raises:
        InvalidNetworkError: for anything that is no rational function of letters with rational coefficients.
        UndecidedSignError: for a denominator that may be zero.
    """
    if value.is_Symbol:
        if value.is_extended_real is False or value.is_finite is False:
            raise InvalidNetworkError(f"the letter {value} is not real", value=str(value))
        return Expression.of_symbol(value)
    if value.is_Number:
        return Expression.read(exact(value))
    if value.is_Add or value.is_Mul:
        parts = [read_expression(part) for part in value.args]
        return Expression.read(reduce(lambda a, b: a + b if value.is_Add else a * b, parts))
    if value.is_Pow and value.exp.is_Integer:
        base = simplest(read_expression(value.base))
        if abs(int(value.exp)) > MAX_EXPONENT:
            raise UnsupportedError(f"the exponent {value.exp} is beyond the stated size of {MAX_EXPONENT}")
        return Expression.read(base ** int(value.exp))
    raise InvalidNetworkError(
        f"expected a rational function of letters with rational coefficients, got {value}", value=str(value)
    )
