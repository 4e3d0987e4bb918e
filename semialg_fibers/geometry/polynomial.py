"""Polynomials as SymPy writes them: values at rational points, factors that cannot vanish, text for SMT solvers.

Main definitions
    evaluate        the value of a polynomial (or of a fraction of polynomials) at a rational point
    Nonvanishing    which polynomials cannot be zero where some conditions hold
    cleared         a condition without its divisor
    smt_term        a polynomial as an SMT-LIB term
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.scalar import ONE, ZERO, exact

if TYPE_CHECKING:
    import sympy


def evaluate(expression: sympy.Expr, values: Mapping[str, fmpq], fractions: bool = False) -> fmpq:
    """Give the value of a polynomial with rational coefficients at a rational point, exactly.

    With `fractions`, negative integer exponents are read too.

    Raises:
        InvalidNetworkError: for a symbol without a value, an expression that is no polynomial, or a pole.
    """
    if expression.is_Symbol:
        try:
            return values[expression.name]
        except KeyError:
            raise InvalidNetworkError(f"the point gives no value for {expression}", value=str(expression)) from None
    if expression.is_Rational:
        return exact(expression)
    if expression.is_Add:
        return sum((evaluate(term, values, fractions) for term in expression.args), ZERO)
    if expression.is_Mul:
        product = ONE
        for factor in expression.args:
            product *= evaluate(factor, values, fractions)
        return product
    if expression.is_Pow and expression.exp.is_Integer and (fractions or expression.exp >= 0):
        base = evaluate(expression.base, values, fractions)
        if not base and expression.exp < 0:
            raise InvalidNetworkError(f"{expression} has a pole at this point", value=str(expression))
        return base ** int(expression.exp)
    raise InvalidNetworkError(f"{expression} is no polynomial with rational coefficients", value=str(expression))


def sign_free(expression: sympy.Expr) -> sympy.Expr:
    """Give p or −p, the same one for both, expanded, with coprime integer coefficients."""
    import sympy

    _, primitive = sympy.expand(expression).as_content_primitive()
    primitive = sympy.expand(primitive)
    return -primitive if primitive.could_extract_minus_sign() else primitive


class Nonvanishing:
    """What cannot be zero where `positive` > 0 and `equations` = 0.

    Known are the factors of every strict inequality, and of P where an equation reads P = c with c ≠ 0. Numbers, and
    letters by their assumptions, are known anyway.

    >>> from sympy.abc import x, y
    >>> known = Nonvanishing((x,), (x * y**2 - 3,), {x, y})
    >>> known.proves(2 * x * y), known.proves(x + y)
    (True, False)
    """

    def __init__(
        self, positive: Iterable[sympy.Expr], equations: Iterable[sympy.Expr], variables: Iterable[sympy.Symbol]
    ) -> None:
        """Collect the factors."""
        import sympy

        self._factors: set[Any] = set()
        names = set(variables)
        for expression in positive:
            self._note(expression)
        for equation in equations:
            constant, rest = sympy.expand(equation).as_independent(*names, as_Add=True)
            if constant.is_zero is False and rest != 0:
                self._note(rest)

    def _note(self, expression: sympy.Expr) -> None:
        import sympy

        if expression.free_symbols:
            self._factors |= {sign_free(factor) for factor, _ in sympy.factor_list(expression)[1]}

    def proves(self, expression: sympy.Expr) -> bool:
        """Say whether the polynomial cannot vanish, as far as is known."""
        import sympy

        if not expression.free_symbols:
            return bool(expression != 0)
        constant, factors = sympy.factor_list(expression)
        return bool(constant != 0) and all(
            factor.is_zero is False or sign_free(factor) in self._factors for factor, _ in factors
        )


def cleared(expression: sympy.Expr, keep_sign: bool) -> sympy.Expr:
    """Give a polynomial with the same zeros (with `keep_sign`: the same sign) as a fraction whose divisor is not zero.

    Raises:
        InvalidNetworkError: for a divisor that may be zero, as far as the assumptions on its symbols say.

    >>> import sympy
    >>> x, a = sympy.Symbol("x"), sympy.Symbol("a", nonzero=True, real=True)
    >>> cleared(x / a - 1, False), cleared(x / a - 1, True)
    (-a + x, -a**2 + a*x)
    """
    import sympy

    if not any(power.exp.is_negative for power in expression.atoms(sympy.Pow)):
        return expression
    above, below = sympy.fraction(sympy.together(expression))
    if any(factor.is_zero is not False for factor in sympy.Mul.make_args(below)):
        raise InvalidNetworkError(f"{expression} is divided by {below}, which may be zero", value=str(expression))
    if keep_sign and not below.is_positive:
        above = -above if below.is_negative else above * below
    return sympy.expand(above)


def smt_number(p: int, q: int) -> str:
    """Write p/q for an SMT solver.

    >>> smt_number(-1, 2), smt_number(3, 1)
    ('(- (/ 1 2))', '3')
    """
    text = str(abs(p)) if q == 1 else f"(/ {abs(p)} {q})"
    return f"(- {text})" if p < 0 else text


def smt_term(expression: sympy.Expr, names: Mapping[str, str] | None = None) -> str:
    """Write a polynomial for an SMT solver; `names` renames symbols.

    Raises:
        InvalidNetworkError: for what is no polynomial with rational coefficients.

    >>> from sympy.abc import x, y
    >>> print(smt_term(-x**2 * y / 2 + 1))
    (+ (* (- (/ 1 2)) x x y) 1)
    """
    if expression.is_Symbol:
        return names[expression.name] if names is not None else str(expression.name)
    if expression.is_Rational:
        return smt_number(int(expression.p), int(expression.q))
    if expression.is_Add:
        return f"(+ {' '.join(smt_term(term, names) for term in expression.as_ordered_terms())})"
    if expression.is_Mul:
        coefficient, rest = expression.as_coeff_Mul()
        factors = [] if coefficient == 1 else [smt_term(coefficient, names)]
        for factor in rest.as_ordered_factors():
            factors += _smt_factors(factor, names)
        return f"(* {' '.join(factors)})"
    if expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
        return f"(* {' '.join(_smt_factors(expression, names))})"
    raise InvalidNetworkError(f"{expression} is no polynomial with rational coefficients", value=str(expression))


def _smt_factors(factor: sympy.Expr, names: Mapping[str, str] | None) -> list[str]:
    if factor.is_Pow and factor.exp.is_Integer and factor.exp > 0:
        return [smt_term(factor.base, names)] * int(factor.exp)
    return [smt_term(factor, names)]
