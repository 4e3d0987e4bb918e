"""Expressions as text: a grammar, read without evaluating anything.

Main results
    parse_expression    + − * / ** with whole exponents, parentheses, integers and known names
    parse_relation      two expressions with one of > >= < <= between them

    sum = ["-"] product {("+" | "-") product}    product = power {("*" | "/") power}
    power = atom ["**" (exponent | "(" exponent ")")]    exponent = ["-"] integer
    atom = integer | name | "(" sum ")"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.exchange.tokens import Tokens
from semialg_fibers.geometry.scalar import MAX_DIGITS, shown

if TYPE_CHECKING:
    import sympy

MAX_EXPONENT = 1000
MAX_DEPTH = 50
MAX_LENGTH = 1_000_000  # characters
MAX_DEGREE = 1000  # of an expression, powers of powers multiplied
MAX_RESULT = 100_000  # digits of a number that is multiplied out
_TOKEN = re.compile(r"\s*(?:(?P<number>[0-9]+)|(?P<name>[^\W\d]\w*)|(?P<operator>\*\*|[-+*/()]))")


def parse_expression(text: str, symbols: Mapping[str, sympy.Symbol]) -> sympy.Expr:
    """Read an expression in these symbols.

    Raises:
        InvalidNetworkError: for anything else, naming the place (`.position`).

    >>> import sympy
    >>> parse_expression("-x**2/2 + 3*(x - 1)", {"x": sympy.Symbol("x")})
    -x**2/2 + 3*x - 3
    """
    return _Reader(text, symbols).whole()


def parse_relation(text: str, symbols: Mapping[str, sympy.Symbol]) -> sympy.Rel:
    """Read a relation between two expressions, unevaluated.

    Raises:
        InvalidNetworkError: for anything else.

    >>> import sympy
    >>> parse_relation("t >= -1/2", {"t": sympy.Symbol("t")})
    t >= -1/2
    """
    import sympy

    match = re.fullmatch(r"([^<>=]+)(>=|<=|>|<)([^<>=]+)", text)
    if match is None:
        raise InvalidNetworkError(f"{shown(text)} is no relation: write one of > >= < <= between two expressions")
    kind = {">": sympy.Gt, ">=": sympy.Ge, "<": sympy.Lt, "<=": sympy.Le}[match[2]]
    left, right = (parse_expression(side, symbols) for side in (match[1], match[3]))
    return kind(left, right, evaluate=False)


class _Sized(NamedTuple):
    """An expression with bounds of its degree and of the digits of its numbers, which SymPy multiplies out at once."""

    value: sympy.Expr
    degree: int
    digits: int


class _Reader:
    """Recursive descent; recursion only goes into parentheses, and not deep."""

    def __init__(self, text: str, symbols: Mapping[str, sympy.Symbol]) -> None:
        self.text, self.symbols, self.depth = text, symbols, 0
        if not isinstance(text, str):
            raise InvalidNetworkError(f"an expression is text, got {shown(text)}")
        if len(text) > MAX_LENGTH:
            raise InvalidNetworkError(f"an expression has more than the stated {MAX_LENGTH:,} characters")
        self.tokens = Tokens(text, _TOKEN, lambda at: self.wrong("an unexpected character", at))
        self.take = self.tokens.take

    def wrong(self, what: str, position: int) -> InvalidNetworkError:
        return InvalidNetworkError(f"{what} at character {position + 1} of {shown(self.text)}", position=position)

    @property
    def position(self) -> int:
        return self.tokens.next.position

    def within(self, degree: int, digits: int, place: int) -> tuple[int, int]:
        """Give the bounds of a result that is about to be made; refuse it before it is."""
        if degree > MAX_DEGREE:
            raise self.wrong(f"a degree above {MAX_DEGREE}", place)
        if digits > MAX_RESULT:
            raise self.wrong(f"a number of more than {MAX_RESULT:,} digits", place)
        return degree, digits

    def whole(self) -> sympy.Expr:
        found = self.sum()
        if self.tokens.next.kind != "end":
            raise self.wrong(f"an unexpected {shown(self.tokens.next.text)}", self.position)
        return found.value

    def sum(self) -> _Sized:
        import sympy

        sign, place = self.take("-", "+"), self.position
        terms, degree, digits, spent = [], 0, 0, 0
        while True:
            term = self.product()
            terms.append(-term.value if sign == "-" else term.value)
            degree, digits, spent = max(degree, term.degree), max(digits, term.digits), spent + term.digits
            if spent > MAX_LENGTH:
                raise self.wrong(f"numbers of more than {MAX_LENGTH:,} digits in a sum", place)
            sign = self.take("+", "-")
            if not sign:
                break
        value = sympy.Add(*terms)
        for part in sympy.Add.make_args(value) if len(terms) > 1 else ():  # equal terms have become one
            number = part.as_coeff_Mul()[0]
            digits = max(digits, _digits(number.p), _digits(number.q))
        return _Sized(value, *self.within(degree, digits, place))

    def product(self) -> _Sized:
        import sympy

        first, sign = self.power(), self.take("*", "/")
        factors, degree, digits = [first.value], first.degree, first.digits
        while sign:
            place = self.position
            factor = self.power()
            degree, digits = self.within(degree + factor.degree, digits + factor.digits, place)
            if sign == "/" and factor.value.is_zero:
                raise self.wrong("a division by zero", place)
            factors.append(1 / factor.value if sign == "/" else factor.value)
            sign = self.take("*", "/")
        return _Sized(sympy.Mul(*factors), degree, digits)

    def power(self) -> _Sized:
        base, place = self.atom(), self.position
        if not self.take("**"):
            return base
        inside = self.take("(")  # SymPy writes x**(-2)
        sign = -1 if self.take("-") else 1
        kind, digits, position = self.tokens.step()
        if kind != "number":
            raise self.wrong("an exponent that is no whole number", position)
        if inside and not self.take(")"):
            raise self.wrong("an exponent that is no whole number", self.position)
        if len(digits) > 6 or int(digits) > MAX_EXPONENT:
            raise self.wrong(f"an exponent above {MAX_EXPONENT}", place)
        if sign < 0 and base.value.is_zero:
            raise self.wrong("a division by zero", place)
        bounds = self.within(base.degree * int(digits), base.digits * int(digits), place)
        return _Sized(base.value ** (sign * int(digits)), *bounds)

    def atom(self) -> _Sized:
        import sympy

        kind, token, place = self.tokens.step()
        if kind == "end":
            raise self.wrong("an unexpected end", place)
        if kind == "number":
            if len(token) > MAX_DIGITS:
                raise self.wrong(f"a number beyond the stated size of {MAX_DIGITS} digits", place)
            return _Sized(sympy.Integer(token), 0, len(token))
        if kind == "name":
            if token not in self.symbols:
                raise self.wrong(f"the unknown name {shown(token)}", place)
            return _Sized(self.symbols[token], 1, 0)
        if token == "(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise self.wrong(f"more than {MAX_DEPTH} parentheses inside each other", place)
            inner = self.sum()
            if not self.take(")"):
                raise self.wrong("a missing ')'", self.position)
            self.depth -= 1
            return inner
        raise self.wrong(f"an unexpected {shown(token)}", place)


def _digits(number: int) -> int:
    return number.bit_length() * 302 // 1000 + 1
