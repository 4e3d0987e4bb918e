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
from typing import TYPE_CHECKING

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.scalar import MAX_DIGITS, shown

if TYPE_CHECKING:
    import sympy

MAX_EXPONENT = 1000
MAX_DEPTH = 50
_TOKEN = re.compile(r"\s*(?:([0-9]+)|([^\W\d]\w*)|(\*\*|[-+*/()]))")


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


class _Reader:
    """Recursive descent; recursion only goes into parentheses, and not deep."""

    def __init__(self, text: str, symbols: Mapping[str, sympy.Symbol]) -> None:
        self.text, self.symbols, self.depth = text, symbols, 0
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        end = len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise self.wrong("an unexpected character", position)
            kind = "number" if match[1] else "name" if match[2] else "sign"
            self.tokens.append((kind, match[match.lastindex or 0], match.start(match.lastindex or 0)))
            position = match.end()
        self.at = 0

    def wrong(self, what: str, position: int) -> InvalidNetworkError:
        return InvalidNetworkError(f"{what} at character {position + 1} of {shown(self.text)}", position=position)

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, *signs: str) -> str | None:
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "sign" and self.peek() in signs:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    @property
    def position(self) -> int:
        return self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)

    def whole(self) -> sympy.Expr:
        found = self.sum()
        if self.at < len(self.tokens):
            raise self.wrong(f"an unexpected {self.peek()!r}", self.position)
        return found

    def sum(self) -> sympy.Expr:
        import sympy

        sign = self.take("-", "+")
        terms = []
        while True:
            product = self.product()
            terms.append(-product if sign == "-" else product)
            sign = self.take("+", "-")
            if sign is None:
                return sympy.Add(*terms)

    def product(self) -> sympy.Expr:
        import sympy

        factors, sign = [self.power()], self.take("*", "/")
        while sign is not None:
            place = self.position
            factor = self.power()
            if sign == "/":
                if factor.is_zero:
                    raise self.wrong("a division by zero", place)
                factor = 1 / factor
            factors.append(factor)
            sign = self.take("*", "/")
        return sympy.Mul(*factors)

    def power(self) -> sympy.Expr:
        base, place = self.atom(), self.position
        if self.take("**") is None:
            return base
        inside = self.take("(")  # SymPy writes x**(-2)
        sign = -1 if self.take("-") else 1
        if self.at == len(self.tokens) or self.tokens[self.at][0] != "number":
            raise self.wrong("an exponent that is no whole number", self.position)
        digits = self.tokens[self.at][1]
        self.at += 1
        if inside and self.take(")") is None:
            raise self.wrong("an exponent that is no whole number", self.position)
        if len(digits) > 6 or int(digits) > MAX_EXPONENT:
            raise self.wrong(f"an exponent above {MAX_EXPONENT}", place)
        if sign < 0 and base.is_zero:
            raise self.wrong("a division by zero", place)
        return base ** (sign * int(digits))

    def atom(self) -> sympy.Expr:
        import sympy

        if self.at == len(self.tokens):
            raise self.wrong("an unexpected end", len(self.text))
        kind, token, place = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            if len(token) > MAX_DIGITS:
                raise self.wrong(f"a number beyond the stated size of {MAX_DIGITS} digits", place)
            return sympy.Integer(token)
        if kind == "name":
            if token not in self.symbols:
                raise self.wrong(f"the unknown name {token!r}", place)
            return self.symbols[token]
        if token == "(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise self.wrong(f"more than {MAX_DEPTH} parentheses inside each other", place)
            inner = self.sum()
            if self.take(")") is None:
                raise self.wrong("a missing ')'", self.position)
            self.depth -= 1
            return inner
        raise self.wrong(f"an unexpected {token!r}", place)
