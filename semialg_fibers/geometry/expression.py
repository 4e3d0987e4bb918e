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

from semialg_fibers.errors import InvalidNetworkError, UndecidedSignError, UnsupportedError
from semialg_fibers.geometry.scalar import ZERO, exact, sympy_rational

if TYPE_CHECKING:
    import sympy

Signs = frozenset[int]
MAX_EXPONENT = 100  # of a power written down; what it expands to is limited by MAX_TERMS
MAX_TERMS = 20_000  # of a numerator or denominator

_ANY: Signs = frozenset({-1, 0, 1})
_POSITIVE: Signs = frozenset({1})
_NEGATIVE: Signs = frozenset({-1})


class Expression:
    """A rational function p/q of letters, over Q, in lowest terms.

    >>> import sympy
    >>> a, b = sympy.Symbol("a", positive=True), sympy.Symbol("b", negative=True)
    >>> x = Expression.read(a - b)
    >>> x > 0, x * x == Expression.read(a**2 - 2 * a * b + b**2), str(x / 2)
    (True, True, 'a/2 - b/2')
    >>> Expression.read(a + b) > 0
    Traceback (most recent call last):
      ...
    semialg_fibers.errors.UndecidedSignError: the sign of a + b depends on the values of its letters: declare a letter \
for it, as in Symbol("s", positive=True), or substitute numbers
    """

    __slots__ = ("__dict__", "_below", "_letters", "_top")

    def __init__(self, top: Any, below: Any, letters: tuple[sympy.Symbol, ...]) -> None:
        """Take polynomials in the context of these letters (sorted by name); `below` is not zero."""
        common = top.gcd(below)
        if not common.is_constant():
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
        """Give the Expression equal to a SymPy expression or a rational number.

        Raises:
            InvalidNetworkError: for anything that is no rational function of letters with rational coefficients.
            UndecidedSignError: for a denominator that may be zero.
        """
        if isinstance(value, Expression):
            return value
        if not hasattr(value, "free_symbols") or not value.free_symbols:
            context = _context(())
            return cls(context.constant(exact(value)), context.constant(1), ())
        return _read(value)

    @classmethod
    def of_symbol(cls, symbol: sympy.Symbol) -> Expression:
        """Give the Expression that is one letter."""
        context = _context((symbol.name,))
        return cls(context.gens()[0], context.constant(1), (symbol,))

    def to_sympy(self) -> sympy.Expr:
        """Give the equal SymPy expression, expanded above and below the line."""
        top, below = self._polynomial(self._top), self._polynomial(self._below)
        return top / below

    def _polynomial(self, polynomial: Any) -> sympy.Expr:
        import sympy

        terms = []
        for exponents, coefficient in polynomial.to_dict().items():
            factors = [s**int(e) for s, e in zip(self._letters, exponents, strict=True) if e]
            terms.append(sympy.Mul(sympy_rational(coefficient), *factors))
        return sympy.Add(*terms)

    def __str__(self) -> str:
        """Give the formula."""
        return str(self.to_sympy())

    def __repr__(self) -> str:
        """Give the formula."""
        return str(self)

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

    def numerator(self) -> Expression:
        """Give the polynomial p of p/q, where q has leading coefficient 1."""
        return Expression(self._top, self._below * 0 + 1, self._letters)

    def denominator(self) -> Expression:
        """Give the polynomial q of p/q."""
        return Expression(self._below, self._below * 0 + 1, self._letters)

    def content_denominator(self) -> int:
        """Give the least common multiple of the denominators of the coefficients of p and q."""
        common = fmpz(1)
        for polynomial in (self._top, self._below):
            for coefficient in polynomial.coeffs():
                common = common.lcm(coefficient.q)
        return int(common)

    # equality as functions

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return tuple(
            frozenset(
                (
                    tuple((s.name, e) for s, e in zip(self._letters, exponents, strict=True) if e),
                    (int(coefficient.p), int(coefficient.q)),
                )
                for exponents, coefficient in polynomial.to_dict().items()
            )
            for polynomial in (self._top, self._below)
        )

    def __eq__(self, other: object) -> bool:
        """Say whether the two are the same rational function."""
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
        return Expression.read, (self.to_sympy(),)

    # arithmetic

    def _with(self, other: Any) -> tuple[Any, Any, Any, Any, tuple[sympy.Symbol, ...]] | None:
        """Give both in one context."""
        if not isinstance(other, Expression):
            if not isinstance(other, int | fmpq | fmpz):
                return None
            return self._top, self._below, self._below * 0 + fmpq(other), self._below * 0 + 1, self._letters
        if self._letters == other._letters:
            return self._top, self._below, other._top, other._below, self._letters
        letters = _union(self._letters, other._letters)
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

    def __pow__(self, exponent: int) -> Any:
        """Give an integer power."""
        if not isinstance(exponent, int):
            return NotImplemented
        if abs(exponent) > MAX_EXPONENT:
            raise UnsupportedError(f"the exponent {exponent} is beyond the stated size of {MAX_EXPONENT}")
        power: Any = reduce(lambda a, _: a * self, range(abs(exponent)), Expression.read(1))
        return power if exponent >= 0 else 1 / power

    def __abs__(self) -> Any:
        """Give |x| where the sign is known."""
        return self if self >= 0 else -self

    # signs

    @cached_property
    def signs(self) -> Signs:
        """The signs that the assumptions allow; a superset of those that occur."""
        return _times(self._signs_of(self._top), self._signs_of(self._below))

    def _signs_of(self, polynomial: Any) -> Signs:
        if polynomial.is_zero():
            return frozenset({0})
        by_letter = [letter_signs(letter) for letter in self._letters]
        whole = _sum_signs(polynomial, by_letter)
        if len(whole) == 1:
            return whole
        constant, factors = polynomial.factor()
        found: Signs = _POSITIVE if constant > 0 else _NEGATIVE
        for factor, power in factors:
            found = _times(found, _power(_sum_signs(factor, by_letter), int(power)))
        return found & whole

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
        return self._decide(other, _POSITIVE)

    def __lt__(self, other: Any) -> bool:
        """Decide <."""
        return self._decide(other, _NEGATIVE)

    def __ge__(self, other: Any) -> bool:
        """Decide ≥."""
        return self._decide(other, frozenset({0, 1}))

    def __le__(self, other: Any) -> bool:
        """Decide ≤."""
        return self._decide(other, frozenset({0, -1}))

    def __bool__(self) -> bool:
        """Decide whether it is not zero."""
        return self._decide(0, frozenset({-1, 1}))

    # values

    def subs(self, values: Mapping[Any, Any]) -> Scalar:
        """Put numbers or expressions for letters (keys: symbols or names).

        Raises:
            InvalidNetworkError: for a value that breaks the letter's assumption, or a denominator that becomes zero.
        """
        given = {str(key): value for key, value in values.items()}
        put = {letter.name: admissible(letter, given[letter.name]) for letter in self.letters if letter.name in given}
        if not put:
            return self
        top, below = (self._value(polynomial, put) for polynomial in (self._top, self._below))
        if below == 0:
            raise InvalidNetworkError(f"the denominator of {self} becomes zero", value=str(self))
        return simplest(top.over(below)) if isinstance(top, Expression) else simplest(Expression.read(top).over(below))

    def _value(self, polynomial: Any, put: Mapping[str, Any]) -> Any:
        total: Any = ZERO
        for exponents, coefficient in polynomial.to_dict().items():
            term: Any = coefficient
            for letter, exponent in zip(self._letters, exponents, strict=True):
                if exponent:
                    base = put[letter.name] if letter.name in put else Expression.of_symbol(letter)
                    term = term * base ** int(exponent)
            total = total + term
        return total


Scalar = fmpq | Expression


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
        return simplest(Expression.read(value))
    return exact(value)


def simplest(value: Any) -> Scalar:
    """Give a flint rational for an Expression without letters."""
    if not isinstance(value, Expression):
        return value  # type: ignore[no-any-return]
    number = value.rational
    return value if number is None else number


def to_sympy(value: Any) -> sympy.Expr:
    """Give the SymPy expression equal to a scalar."""
    return value.to_sympy() if isinstance(value, Expression) else sympy_rational(value)


def letters_of(values: Iterable[Any]) -> tuple[sympy.Symbol, ...]:
    """Give the letters that occur, sorted by name.

    Raises:
        InvalidNetworkError: for two letters of one name with different assumptions.
    """
    found: tuple[sympy.Symbol, ...] = ()
    for value in values:
        if isinstance(value, Expression):
            found = _union(found, tuple(sorted(value.letters, key=lambda letter: letter.name)))
    return found


def signs_of(value: Scalar) -> Signs:
    """Give the signs that a scalar may have."""
    return value.signs if isinstance(value, Expression) else sign_of_number(value)


def sign_of_number(value: fmpq) -> Signs:
    """Give the sign of a number as a set with one element."""
    return frozenset({(value > 0) - (value < 0)})


def is_zero(value: Scalar) -> bool:
    """Say whether the scalar is zero for all values of its letters."""
    return bool(value == 0)


def decide_all(values: Iterable[Scalar], holds: Signs) -> bool:
    """Say whether every value has its sign in `holds`; one that never has settles it, wherever it stands.

    Raises:
        UndecidedSignError: where neither is sure.
    """
    open_value = None
    for value in values:
        signs = signs_of(value)
        if not signs & holds:
            return False
        if not signs <= holds and open_value is None:
            open_value = value
    if open_value is not None:
        raise undecided(open_value)
    return True


NONPOSITIVE: Signs = frozenset({-1, 0})
NONNEGATIVE: Signs = frozenset({0, 1})


def undecided(value: Any) -> UndecidedSignError:
    """Give the error that names an expression whose sign is open, and suggests what to declare."""
    if isinstance(value, Expression) and len(value.letters) == 1 and value._top.total_degree() == 1:
        (letter,) = value.letters
        if value == Expression.of_symbol(letter):
            advice = f'declare it, as in Symbol("{letter.name}", positive=True), or substitute a number'
            return UndecidedSignError(f"the sign of {letter.name} is not declared: {advice}", expression=letter)
    advice = 'declare a letter for it, as in Symbol("s", positive=True), or substitute numbers'
    words = f"the sign of {value} depends on the values of its letters: {advice}"
    return UndecidedSignError(words, expression=to_sympy(value))


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


def described(letter: sympy.Symbol) -> str:
    """Give the letter's assumption in a word, as the file format names it.

    >>> import sympy
    >>> described(sympy.Symbol("a", positive=True)), described(sympy.Symbol("a", real=True))
    ('positive', 'real')
    """
    return DECLARATIONS.get(letter_signs(letter), "real")


DECLARATIONS: dict[Signs, str] = {
    _POSITIVE: "positive",
    _NEGATIVE: "negative",
    frozenset({-1, 1}): "nonzero",
    frozenset({0, 1}): "nonnegative",
    frozenset({-1, 0}): "nonpositive",
    _ANY: "real",
}


def declared(name: str, declaration: str) -> sympy.Symbol:
    """Give the real SymPy symbol with this name and declaration ("positive", "real", ...)."""
    import sympy

    return sympy.Symbol(name, real=True, **({} if declaration == "real" else {declaration: True}))


# polynomials


@lru_cache(maxsize=512)
def _context(names: tuple[str, ...]) -> Any:
    return fmpq_mpoly_ctx.get(names, Ordering.lex)


def _constant(polynomial: Any) -> fmpq:
    return polynomial.leading_coefficient() if not polynomial.is_zero() else ZERO  # type: ignore[no-any-return]


def _union(a: tuple[sympy.Symbol, ...], b: tuple[sympy.Symbol, ...]) -> tuple[sympy.Symbol, ...]:
    if not a or not b:
        return a or b
    both = {letter.name: letter for letter in a}
    for letter in b:
        if both.setdefault(letter.name, letter) != letter:
            raise InvalidNetworkError(
                f"two letters are called {letter.name} and differ in their assumptions "
                f"({described(both[letter.name])} and {described(letter)}): give them different names",
                value=letter.name,
            )
    return tuple(both[name] for name in sorted(both))


def _read(value: Any) -> Any:
    """Read a SymPy expression: sums, products, integer powers, letters, rationals."""
    if value.is_Symbol:
        if value.is_extended_real is False or value.is_finite is False:
            raise InvalidNetworkError(f"the letter {value} is not real", value=str(value))
        return Expression.of_symbol(value)
    if value.is_Number:
        return Expression.read(value)
    if value.is_Add or value.is_Mul:
        parts = [_read(part) for part in value.args]
        return Expression.read(reduce(lambda a, b: a + b if value.is_Add else a * b, parts))
    if value.is_Pow and value.exp.is_Integer:
        base = simplest(_read(value.base))
        if abs(int(value.exp)) > MAX_EXPONENT:
            raise UnsupportedError(f"the exponent {value.exp} is beyond the stated size of {MAX_EXPONENT}")
        return Expression.read(base ** int(value.exp))
    raise InvalidNetworkError(
        f"expected a rational function of letters with rational coefficients, got {value}", value=str(value)
    )


# signs


def _times(a: Signs, b: Signs) -> Signs:
    return frozenset(x * y for x in a for y in b)


def _power(signs: Signs, exponent: int) -> Signs:
    return signs if exponent % 2 else frozenset(x * x for x in signs)


def _sum_signs(polynomial: Any, by_letter: list[Signs]) -> Signs:
    """Give the signs of a sum of terms, each the product of a coefficient and powers of letters."""
    total: Signs = frozenset({0})
    for exponents, coefficient in polynomial.to_dict().items():
        term = sign_of_number(coefficient)
        for signs, exponent in zip(by_letter, exponents, strict=True):
            if exponent:
                term = _times(term, _power(signs, int(exponent)))
        total = _plus(total, term)
        if total == _ANY:
            break
    return total


def _plus(a: Signs, b: Signs) -> Signs:
    found: set[int] = set()
    for x in a:
        for y in b:
            found |= {x or y} if x * y >= 0 else {-1, 0, 1}
    return frozenset(found)


