"""Formulas in files: + − * / **, parentheses, numbers and declared letters, read by a grammar and never evaluated.

Main results
    parse_formula    the scalar that a text writes

    formula = term (("+" | "-") term)*
    term    = factor (("*" | "/") factor)*
    factor  = ("+" | "-") factor | power
    power   = atom ("**" exponent)?
    exponent = ("+" | "-")* digits | "(" ("+" | "-")* digits ")"
    atom    = number | letter | "(" formula ")"

References: the file format in docs/conventions.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.exchange.tokens import Tokens
from semialg_fibers.geometry.expression import Expression, Scalar, is_zero
from semialg_fibers.geometry.scalar import parse_rational, shown

if TYPE_CHECKING:
    import sympy

MAX_FORMULA = 2_000  # characters
MAX_DEPTH = 40  # of parentheses and signs
MAX_EXPONENT = 100

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<operator>\*\*|[-+*/()]))",
    re.ASCII,
)


def parse_formula(text: str, letters: Mapping[str, sympy.Symbol]) -> Scalar:
    """Give the scalar that the text writes in these letters.

    Raises:
        InvalidNetworkError: for text that is no formula, an undeclared letter, or one beyond the stated sizes.
        UndecidedSignError: for a divisor that may be zero.

    >>> import sympy
    >>> a = sympy.Symbol("a", positive=True)
    >>> parse_formula("-(a + 1)**2/a - 0.5", {"a": a})
    (-a**2 - 5*a/2 - 1)/a
    """
    return _Parser(text, letters).whole()


class _Parser:
    def __init__(self, text: str, letters: Mapping[str, sympy.Symbol]) -> None:
        if len(text) > MAX_FORMULA:
            raise InvalidNetworkError(f"the formula has {len(text)} characters, more than the stated {MAX_FORMULA}")
        self.text, self.letters, self.depth = text, letters, 0
        self.tokens = Tokens(text, _TOKEN, lambda at: self.fail(f"{text[at:].strip()[:1]!r} has no place in one"))
        self.take = self.tokens.take

    def fail(self, why: str) -> InvalidNetworkError:
        return InvalidNetworkError(f"{shown(self.text)} is no formula: {why}")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"more than {MAX_DEPTH} parentheses or signs inside each other")

    def whole(self) -> Scalar:
        value = self.formula()
        if self.tokens.next.kind != "end":
            raise self.unexpected()
        return value

    def unexpected(self) -> InvalidNetworkError:
        word = self.tokens.next.text
        if word == "**":
            return self.fail("a power of a power needs parentheses, as in (x**2)**3; an exponent is one whole number")
        if word == ")":
            return self.fail("a parenthesis is closed that was not opened")
        return self.fail(f"{shown(word)} is unexpected; write * between factors")

    def formula(self) -> Scalar:
        value = self.term()
        while sign := self.take("+", "-"):
            other = self.term()
            value = value + other if sign == "+" else value - other
        return value

    def term(self) -> Scalar:
        value = self.factor()
        while sign := self.take("*", "/"):
            other = self.factor()
            if sign == "/" and is_zero(other):
                raise self.fail("it divides by zero")
            value = value * other if sign == "*" else value / other
        return value

    def factor(self) -> Scalar:
        if sign := self.take("+", "-"):
            self.deeper()
            value = self.factor()
            self.depth -= 1
            return -value if sign == "-" else value
        return self.power()

    def power(self) -> Scalar:
        base = self.atom()
        if not self.take("**"):
            return base
        sign, inside = 1, bool(self.take("("))
        while found := self.take("+", "-"):
            sign = -sign if found == "-" else sign
        kind, digits, _ = self.tokens.step()
        if kind != "number" or not digits.isdigit():
            raise self.fail("an exponent is a whole number, such as x**2 or x**-1")
        if len(digits) > 4 or int(digits) > MAX_EXPONENT:
            raise self.fail(f"the exponent is beyond the stated size of {MAX_EXPONENT}")
        if inside and not self.take(")"):
            raise self.fail("an exponent is a whole number, such as x**2 or x**(-1)")
        if sign < 0 and is_zero(base):
            raise self.fail("it divides by zero")
        value = Expression.read(base) ** (sign * int(digits))
        return value  # type: ignore[no-any-return]

    def atom(self) -> Scalar:
        if self.take("("):
            self.deeper()
            value = self.formula()
            if not self.take(")"):
                ended = self.tokens.next.kind == "end"
                raise self.fail("a parenthesis is not closed") if ended else self.unexpected()
            self.depth -= 1
            return value
        kind, word, _ = self.tokens.step()
        if kind == "end":
            raise self.fail("it ends where a number or a letter is expected")
        if kind == "operator":
            raise self.fail(f"{shown(word)} stands where a number or a letter is expected")
        if kind == "number":
            return parse_rational(word)
        if word not in self.letters:
            known = sorted(self.letters)
            declared = ", ".join(known[:10]) + f" and {len(known) - 10} more" * (len(known) > 10) or "none"
            raise InvalidNetworkError(
                f"the letter {shown(word)} is not declared; declare it in symbols (declared: {declared})", value=word
            )
        return Expression.of_symbol(self.letters[word])
