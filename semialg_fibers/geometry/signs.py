"""Signs of sums and products of letters, from the signs that are declared.

Main definitions
    Signs              a set of the signs −1, 0, 1 that are possible
    letter_signs       what a SymPy symbol's assumptions allow
    sum_signs          what follows for a polynomial, term by term

References: docs/conventions.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError

if TYPE_CHECKING:
    import sympy

Signs = frozenset[int]

ANY: Signs = frozenset({-1, 0, 1})
POSITIVE: Signs = frozenset({1})
NEGATIVE: Signs = frozenset({-1})
NONPOSITIVE: Signs = frozenset({-1, 0})
NONNEGATIVE: Signs = frozenset({0, 1})


def sign_of_number(value: fmpq) -> Signs:
    """Give the sign of a number as a set with one element."""
    return frozenset({(value > 0) - (value < 0)})


def letter_signs(letter: sympy.Symbol) -> Signs:
    """Give the signs that a symbol's assumptions allow."""
    allowed = set()
    if letter.is_positive is not False and letter.is_nonpositive is not True:
        allowed.add(1)
    if letter.is_negative is not False and letter.is_nonnegative is not True:
        allowed.add(-1)
    if letter.is_zero is not False and letter.is_nonzero is not True:
        allowed.add(0)
    return frozenset(allowed)


def described(letter: sympy.Symbol) -> str:
    """Give the letter's assumption in a word, as the file format names it.

    >>> import sympy
    >>> described(sympy.Symbol("a", positive=True)), described(sympy.Symbol("a", real=True))
    ('positive', 'real')
    """
    return DECLARATIONS.get(letter_signs(letter), "real")


DECLARATIONS: dict[Signs, str] = {
    POSITIVE: "positive",
    NEGATIVE: "negative",
    frozenset({-1, 1}): "nonzero",
    frozenset({0, 1}): "nonnegative",
    frozenset({-1, 0}): "nonpositive",
    ANY: "real",
}


def declared(name: str, declaration: str) -> sympy.Symbol:
    """Give the real SymPy symbol with this name and declaration ("positive", "real", ...)."""
    import sympy

    return sympy.Symbol(name, real=True, **({} if declaration == "real" else {declaration: True}))


def union(a: tuple[sympy.Symbol, ...], b: tuple[sympy.Symbol, ...]) -> tuple[sympy.Symbol, ...]:
    """Give the letters of both, sorted by name; two of one name must be the same."""
    if not a or not b:
        return a or b
    both = {letter.name: letter for letter in a}
    for letter in b:
        if both.setdefault(letter.name, letter) != letter:
            words = described(both[letter.name]), described(letter)
            shown = f" ({words[0]} and {words[1]})" if words[0] != words[1] else ""
            raise InvalidNetworkError(
                f"two letters are called {letter.name} and differ in their assumptions{shown}: rename one of them",
                value=letter.name,
            )
    return tuple(both[name] for name in sorted(both))


def times(a: Signs, b: Signs) -> Signs:
    """Give the signs of a product."""
    return frozenset(x * y for x in a for y in b)


def power(signs: Signs, exponent: int) -> Signs:
    """Give the signs of a power."""
    return signs if exponent % 2 else frozenset(x * x for x in signs)


def sum_signs(polynomial: Any, by_letter: Sequence[Signs]) -> Signs:
    """Give the signs of a sum of terms, each the product of a coefficient and powers of letters."""
    total: Signs = frozenset({0})
    for exponents, coefficient in polynomial.to_dict().items():
        term = sign_of_number(coefficient)
        for signs, exponent in zip(by_letter, exponents, strict=True):
            if exponent:
                term = times(term, power(signs, int(exponent)))
        total = plus(total, term)
        if total == ANY:
            break
    return total


def plus(a: Signs, b: Signs) -> Signs:
    """Give the signs of a sum."""
    found: set[int] = set()
    for x in a:
        for y in b:
            found |= {x or y} if x * y >= 0 else {-1, 0, 1}
    return frozenset(found)
