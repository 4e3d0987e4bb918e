"""How parameters come in: numbers and SymPy expressions as scalars.

Main results
    scalar             the door for parameters: a flint rational, or an `Expression` where letters occur
    sympy_expression   ... for formulas that stay SymPy's: text is never evaluated

References: docs/conventions.md.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from flint import fmpq

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.expression import Expression, Scalar, simplest
from semialg_fibers.geometry.scalar import exact, shown
from semialg_fibers.geometry.signs import letter_signs

MAX_DEPTH = 200


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
    try:
        if getattr(value, "free_symbols", None) and hasattr(value, "is_Symbol"):
            return simplest(read_expression(value))
    except RecursionError:  # SymPy descends too
        raise UnsupportedError(f"the expression is nested more than {MAX_DEPTH} deep") from None
    return exact(value)


def read_expression(value: Any, depth: int = 0) -> Expression:
    """Give the Expression equal to a SymPy expression: sums, products, integer powers, letters, rationals.

    A letter that is declared to be zero is read as the number 0.

    Raises:
        InvalidNetworkError: for anything that is no rational function of letters with rational coefficients.
        UndecidedSignError: for a denominator that may be zero.
        UnsupportedError: for an expression beyond the stated sizes.
    """
    if depth > MAX_DEPTH:
        raise UnsupportedError(f"the expression is nested more than {MAX_DEPTH} deep")
    if value.is_Symbol:
        return _read_letter(value)
    if value.is_Number:
        return Expression.read(exact(value))
    if value.is_Add or value.is_Mul:
        parts = [read_expression(part, depth + 1) for part in value.args]
        while len(parts) > 1:  # by halves, so that long sums do not grow term by term
            pairs = zip(parts[::2], parts[1::2], strict=False)
            joined = [Expression.read(a + b if value.is_Add else a * b) for a, b in pairs]
            parts = joined + parts[len(joined) * 2 :]
        return parts[0]
    if value.is_Pow and value.exp.is_Integer:
        base = read_expression(value.base, depth + 1)
        if base == 0 and value.exp < 0:
            raise InvalidNetworkError(f"{shown(value)} divides by zero", value=value)
        return Expression.read(base ** int(value.exp))
    raise InvalidNetworkError(
        f"expected a rational function of letters with rational coefficients, got {shown(value)}", value=value
    )


def _read_letter(value: Any) -> Expression:
    import sympy

    if type(value) is not sympy.Symbol:
        kind = type(value).__name__
        raise InvalidNetworkError(f"a letter is a sympy.Symbol, which its name tells apart; {shown(value)} is a {kind}")
    if value.is_extended_real is False or value.is_finite is False or not value.is_commutative:
        raise InvalidNetworkError(f"the letter {shown(value)} is not a real number", value=value)
    return Expression.read(0) if letter_signs(value) == {0} else Expression.of_symbol(value)


def sympy_expression(value: Any, where: str) -> Any:
    """Give a SymPy expression, of exact numbers only; text is never evaluated.

    Raises:
        InexactInputError: for a float, also inside an expression.
        InvalidNetworkError: for text, truth values, and what is no expression.
    """
    import sympy

    found = None
    if not isinstance(value, str | bytes | bool):
        try:
            found = sympy.sympify(value, strict=True)
        except Exception:  # sympify asks foreign objects, which may raise anything
            found = None
    if not isinstance(found, sympy.Expr):
        what = ascii(value)[:50] if isinstance(value, str | bytes | bool) else f"a {type(value).__name__}"
        raise InvalidNetworkError(f"{where} is {what}, expected a number or a SymPy expression", value=value)
    inexact = sorted(found.atoms(sympy.Float), key=str)
    if inexact:
        number = float(inexact[0])
        text = str(number) if isfinite(number) else f"{inexact[0].evalf(15):.15e}"
        rational = sympy.Rational(text)
        written = f"{rational.p}, {rational.q}" if "e" not in text else f'"{text}"'
        raise InexactInputError(f"{where} contains the float {text}: write Rational({written})", value=inexact[0])
    return found
