"""Symbolic scalars: rational functions of letters whose signs are declared.

Main definitions
    Expression     a quotient of polynomials over Q in lowest terms; its letters are SymPy symbols with assumptions
    Scalar         a flint rational or an Expression

Main results
    Expression.signs    which of the signs −1, 0, 1 the declared signs of the letters allow
    comparisons         decided for all values of the letters that respect their assumptions, or UndecidedSignError

`==` asks whether two rational functions are identical; whether a value is zero is asked by `bool`, which refuses where
that depends on the letters. Arithmetic is that of flint's multivariate polynomials.

References: theory §2.1, §3; docs/conventions.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache, reduce
from typing import TYPE_CHECKING, Any

from flint import Ordering, fmpq, fmpq_mpoly_ctx, fmpz

from semialg_fibers.errors import UndecidedSignError, UnsupportedError
from semialg_fibers.geometry.scalar import ONE, ZERO, shown, sympy_rational
from semialg_fibers.geometry.signs import (
    NEGATIVE,
    POSITIVE,
    Signs,
    letter_signs,
    power,
    sign_of_number,
    sum_signs,
    times,
    union,
)

if TYPE_CHECKING:
    import sympy

MAX_DEGREE = 400  # of a power
MAX_COEFFICIENT = 13_000  # bits of a coefficient of a power, which are some 4,000 digits
FACTORED_TERMS = 40  # longer polynomials are not factored: their sign may then be left open
MAX_TERMS = 20_000  # of a numerator or denominator


class Expression:
    """A rational function p/q of letters, over Q, in lowest terms.

    >>> import sympy
    >>> a, b = sympy.Symbol("a", positive=True), sympy.Symbol("b", negative=True)
    >>> a, b = Expression.of_symbol(a), Expression.of_symbol(b)
    >>> a - b > 0, (a - b) ** 2 == a**2 - 2 * a * b + b**2, str((a - b) / 2)
    (True, True, 'a/2 - b/2')
    >>> a + b > 0
    Traceback (most recent call last):
      ...
    semialg_fibers.errors.UndecidedSignError: the sign of a + b depends on the values of its letters: declare a letter \
for it, as in Symbol("s", positive=True), or substitute numbers
    """

    __slots__ = ("__dict__", "_below", "_letters", "_top")

    def __init__(self, top: Any, below: Any, letters: tuple[sympy.Symbol, ...]) -> None:
        """Take polynomials in the context of these letters (sorted by name); `below` is not zero."""
        if not below.is_constant():
            common = top.gcd(below)
            top, below = top / common, below / common
        leading = below.leading_coefficient()
        if leading != 1:
            top, below = top / leading, below / leading
        if max(len(top), len(below)) > MAX_TERMS:
            raise UnsupportedError(f"an expression has more than the stated size of {MAX_TERMS:,} terms")
        self._top, self._below, self._letters = top, below, letters

    # in and out

    @classmethod
    def read(cls, value: Any) -> Expression:
        """Give the Expression equal to a scalar."""
        if isinstance(value, Expression):
            return value
        context = _context(())
        return cls(context.constant(fmpq(value)), context.constant(1), ())

    @classmethod
    def of_symbol(cls, symbol: sympy.Symbol) -> Expression:
        """Give the Expression that is one letter."""
        context = _context((symbol.name,))
        return cls(context.gens()[0], context.constant(1), (symbol,))

    def to_sympy(self) -> sympy.Expr:
        """Give the equal SymPy expression, expanded above and below the line."""
        import sympy

        top, below = (
            sympy.Add(*(sympy.Mul(sympy_rational(c), *(letter**e for letter, e in powers)) for powers, c in terms))
            for terms in self.terms()
        )
        return top / below

    def __str__(self) -> str:
        """Give the formula."""
        return str(self.to_sympy())

    __repr__ = __str__

    @property
    def free_symbols(self) -> frozenset[sympy.Symbol]:
        """The letters that occur; SymPy's name for them."""
        return self.letters

    @cached_property
    def letters(self) -> frozenset[sympy.Symbol]:
        """The letters that occur."""
        used: set[sympy.Symbol] = set()
        for polynomial in (self._top, self._below):
            for degree, letter in zip(polynomial.degrees(), self._letters, strict=True):
                if degree > 0:
                    used.add(letter)
        return frozenset(used)

    @property
    def rational(self) -> fmpq | None:
        """The number, when no letter occurs."""
        if self._top.is_constant() and self._below.is_constant():
            return _constant(self._top) / _constant(self._below)
        return None

    def quotient(self) -> tuple[Expression, Expression]:
        """Give polynomials p and q with integer coefficients and p/q = the function, in lowest terms."""
        common = fmpz(1)
        for coefficient in (*self._top.coeffs(), *self._below.coeffs()):
            common = common.lcm(coefficient.q)
        one = self._below * 0 + 1
        return Expression(self._top * common, one, self._letters), Expression(self._below * common, one, self._letters)

    def at(self, values: Mapping[str, int]) -> fmpq | None:
        """Give the value at integers for the letters that occur, None at a pole; assumptions are not asked for."""
        point = [values[letter.name] if letter in self.letters else 0 for letter in self._letters]
        below = self._below(*point)
        return self._top(*point) / below if below else None

    def terms(self) -> tuple[list[Any], list[Any]]:
        """Give the terms of p and of q: pairs (((letter, exponent), ...), coefficient)."""
        return tuple(  # type: ignore[return-value]
            [
                (tuple((s, int(e)) for s, e in zip(self._letters, exponents, strict=True) if e), coefficient)
                for exponents, coefficient in polynomial.to_dict().items()
            ]
            for polynomial in (self._top, self._below)
        )

    # equality as functions

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return tuple(frozenset((powers, (int(c.p), int(c.q))) for powers, c in terms) for terms in self.terms())

    def __eq__(self, other: object) -> bool:
        """Say whether the two are the same rational function of the same letters with the same assumptions."""
        if isinstance(other, Expression):
            return self._key == other._key
        if isinstance(other, int | fmpq | fmpz):
            return bool(self.rational == other) if self.rational is not None else False
        return NotImplemented

    def __hash__(self) -> int:
        """Hash the function."""
        number = self.rational
        return hash(self._key) if number is None else hash(number)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the formula; flint objects stay behind."""
        sides = [[(powers, int(c.p), int(c.q)) for powers, c in terms] for terms in self.terms()]
        return _from_terms, (*sides,)

    # arithmetic

    def _with(self, other: Any) -> tuple[Any, Any, Any, Any, tuple[sympy.Symbol, ...]] | None:
        """Give both in one context."""
        if not isinstance(other, Expression):
            if not isinstance(other, int | fmpq | fmpz):
                return None
            return self._top, self._below, self._below * 0 + fmpq(other), self._below * 0 + 1, self._letters
        if self._letters == other._letters:
            return self._top, self._below, other._top, other._below, self._letters
        letters = union(self._letters, other._letters)
        context = _context(tuple(letter.name for letter in letters))
        polynomials = [p.project_to_context(context) for p in (self._top, self._below, other._top, other._below)]
        return polynomials[0], polynomials[1], polynomials[2], polynomials[3], letters

    def __add__(self, other: Any) -> Any:
        """Give the sum."""
        pair = self._with(other)
        if pair is None:
            return NotImplemented
        a, b, c, d, letters = pair
        return simplest(Expression(a * d + c * b, b * d, letters))

    __radd__ = __add__

    def __neg__(self) -> Expression:
        """Give the negative."""
        return Expression(-self._top, self._below, self._letters)

    def __sub__(self, other: Any) -> Any:
        """Give the difference."""
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        """Give the difference."""
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        """Give the product."""
        pair = self._with(other)
        if pair is None:
            return NotImplemented
        a, b, c, d, letters = pair
        return simplest(Expression(a * c, b * d, letters))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        """Give the quotient; refuses a divisor that may be zero."""
        if not isinstance(other, Expression | int | fmpq | fmpz):
            return NotImplemented
        if not other:
            raise ZeroDivisionError("division by zero")
        return self.over(other)

    def __rtruediv__(self, other: Any) -> Any:
        """Give the quotient; refuses a divisor that may be zero."""
        if not self:
            raise ZeroDivisionError("division by zero")
        return Expression.read(other).over(self)

    def over(self, other: Any) -> Any:
        """Give the quotient as a rational function, whatever values the divisor takes; it is not identically zero."""
        pair = self._with(other)
        assert pair is not None
        a, b, c, d, letters = pair
        return simplest(Expression(a * d, b * c, letters))

    def gcd(self, other: Expression) -> Expression:
        """Give the greatest common divisor of the numerators."""
        pair = self._with(other)
        assert pair is not None  # an Expression fits
        return Expression(pair[0].gcd(pair[2]), pair[1] * 0 + 1, pair[4])

    def __pow__(self, exponent: int) -> Any:
        """Give an integer power."""
        if not isinstance(exponent, int):
            return NotImplemented
        degree = max(self._top.total_degree(), self._below.total_degree(), 1)
        bits = max(
            (max(c.p.bit_length(), c.q.bit_length()) for c in (*self._top.coeffs(), *self._below.coeffs())), default=1
        )
        if abs(exponent) * degree > MAX_DEGREE or abs(exponent) * (bits - 1) > MAX_COEFFICIENT:
            raise UnsupportedError(f"a power {exponent} is beyond the stated size: degree {MAX_DEGREE}, 4,000 digits")
        power: Any = reduce(lambda a, _: a * self, range(abs(exponent)), fmpq(1))
        return power if exponent >= 0 else 1 / power

    def __abs__(self) -> Any:
        """Give |x| where the sign is known."""
        return self if self >= 0 else -self

    # signs

    @cached_property
    def signs(self) -> Signs:
        """The signs that the assumptions allow; a superset of those that occur."""
        return times(self._signs_of(self._top), self._signs_of(self._below))

    def _signs_of(self, polynomial: Any) -> Signs:
        if polynomial.is_zero():
            return frozenset({0})
        by_letter = [letter_signs(letter) for letter in self._letters]
        whole = sum_signs(polynomial, by_letter)
        if len(whole) == 1 or len(polynomial) > FACTORED_TERMS:
            return whole
        constant, factors = polynomial.factor()
        found: Signs = POSITIVE if constant > 0 else NEGATIVE
        for factor, exponent in factors:
            found = times(found, power(sum_signs(factor, by_letter), int(exponent)))
        return found & whole

    def essential(self) -> Scalar:
        """Give what of the numerator may be zero: its factors whose sign is not sure, each once; 1 if there is none."""
        found: Any = ONE
        by_letter = [letter_signs(letter) for letter in self._letters]
        if len(self._top) > FACTORED_TERMS:
            return self
        for factor, _ in self._top.factor()[1] if not self._top.is_zero() else ():
            if 0 in sum_signs(factor, by_letter):
                found = found * Expression(factor, self._below * 0 + 1, self._letters)
        return ZERO if self._top.is_zero() else simplest(found)

    def _decide(self, other: Any, holds: Signs) -> bool:
        """Say whether the sign of self − other lies in `holds`, for all values or for none."""
        difference = self - other
        signs = difference.signs if isinstance(difference, Expression) else sign_of_number(difference)
        if signs <= holds:
            return True
        if not signs & holds:
            return False
        raise undecided(difference)

    def __gt__(self, other: Any) -> bool:
        """Decide >."""
        return self._decide(other, POSITIVE)

    def __lt__(self, other: Any) -> bool:
        """Decide <."""
        return self._decide(other, NEGATIVE)

    def __ge__(self, other: Any) -> bool:
        """Decide ≥."""
        return self._decide(other, frozenset({0, 1}))

    def __le__(self, other: Any) -> bool:
        """Decide ≤."""
        return self._decide(other, frozenset({0, -1}))

    def __bool__(self) -> bool:
        """Decide whether it is not zero."""
        return self._decide(0, frozenset({-1, 1}))


Scalar = fmpq | Expression


def _from_terms(above: Iterable[Any], below: Iterable[Any]) -> Expression:
    """Give back what was pickled: the sums of c Π letter^exponent above and below the line."""
    sums = []
    for terms in (above, below):
        total = Expression.read(0)
        for powers, p, q in terms:
            factors = (Expression.read(Expression.of_symbol(letter) ** exponent) for letter, exponent in powers)
            total = Expression.read(
                total + reduce(lambda a, b: Expression.read(a * b), factors, Expression.read(fmpq(p, q)))
            )
        sums.append(total)
    return Expression.read(sums[0].over(sums[1]))


def simplest(value: Any) -> Scalar:
    """Give a flint rational for an Expression without letters."""
    if not isinstance(value, Expression):
        return value  # type: ignore[no-any-return]
    number = value.rational
    return value if number is None else number


def to_sympy(value: Any) -> sympy.Expr:
    """Give the SymPy expression equal to a scalar."""
    return value.to_sympy() if isinstance(value, Expression) else sympy_rational(value)


# polynomials


@lru_cache(maxsize=512)
def _context(names: tuple[str, ...]) -> Any:
    # flint takes ASCII names only.
    return fmpq_mpoly_ctx.get(tuple("x" + name.encode().hex() for name in names), Ordering.lex)


def _constant(polynomial: Any) -> fmpq:
    return polynomial.leading_coefficient() if not polynomial.is_zero() else ZERO


def signs_of(value: Scalar) -> Signs:
    """Give the signs that a scalar may have."""
    return value.signs if isinstance(value, Expression) else sign_of_number(value)


def terms_of(value: Scalar) -> int:
    """Give the number of terms of the numerator; 0 for zero."""
    return len(value.terms()[0]) if isinstance(value, Expression) else int(value != 0)


def is_zero(value: Scalar) -> bool:
    """Say whether the scalar is zero for all values of its letters."""
    return bool(value == 0)


def undecided(value: Any) -> UndecidedSignError:
    """Give the error that names an expression whose sign is open, and suggests what to declare."""
    if isinstance(value, Expression) and len(value.letters) == 1 and value._top.total_degree() == 1:
        (letter,) = value.letters
        if value == Expression.of_symbol(letter):
            advice = f'declare it, as in Symbol("{letter.name}", positive=True), or substitute a number'
            return UndecidedSignError(f"the sign of {letter.name} is not declared: {advice}", expression=letter)
    advice = 'declare a letter for it, as in Symbol("s", positive=True), or substitute numbers'
    words = f"the sign of {shown(value)} depends on the values of its letters: {advice}"
    return UndecidedSignError(words, expression=to_sympy(value))
