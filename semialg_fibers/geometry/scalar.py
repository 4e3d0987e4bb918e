"""Exact scalars and vectors; the only door through which numbers enter.

Main definitions
    exact               a number as a flint rational; refuses floats
    exact_from_float    the dyadic rational that a float is, for importers only
    Vector              a tuple of flint rationals
    quantity, numbered  "1 entry", "2 entries"; "layer 1", "layers 1 to 3"

A scalar is a `flint.fmpq`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import gcd, inf, isfinite, lcm
from typing import TYPE_CHECKING, Any

from flint import fmpq, fmpz

from semialg_fibers.errors import InexactInputError, InvalidNetworkError

if TYPE_CHECKING:
    import sympy

Vector = tuple[fmpq, ...]

ZERO = fmpq(0)
ONE = fmpq(1)

MAX_DIGITS = 4000  # of a numerator, denominator or exponent written as text
_RATIONAL = re.compile(r"([+-]?[0-9]+)(?:/([0-9]+))?")
_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")


def exact(value: Any) -> fmpq:
    """Give the rational number that `value` is, exactly.

    Accepts int, Fraction, Decimal, SymPy and flint rationals, NumPy integers and text such as "3", "-1/2", "0.25".

    Raises:
        InexactInputError: for a float, NaN or infinity.
        InvalidNetworkError: for anything else that is not a rational number.

    >>> exact("0.25"), exact("-1/2")
    (1/4, -1/2)
    >>> exact(0.1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
      ...
    semialg_fibers.errors.InexactInputError: the float 0.1 is ambiguous: write ...
    """
    if isinstance(value, fmpq):
        return value
    if isinstance(value, bool):
        raise InvalidNetworkError(f"expected a rational number, got the truth value {value}", value=value)
    if isinstance(value, int | fmpz):
        return fmpq(value)
    if isinstance(value, str):
        return parse_rational(value)
    if isinstance(value, float):
        _refuse_infinite(value, isfinite(value))
        text = repr(float(value))
        raise InexactInputError(
            f'the float {text} is ambiguous: write "{text}" or Fraction("{text}") for the decimal number, '
            f"Fraction({text}) for the binary one",
            value=value,
        )
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    return _exact_foreign(value)


def _exact_foreign(value: Any) -> fmpq:
    """Read a Decimal, and numbers of libraries that need not be imported: SymPy, NumPy."""
    if getattr(value, "is_Rational", False) and hasattr(value, "p") and hasattr(value, "q"):
        return fmpq(int(value.p), int(value.q))
    if isinstance(value, Decimal):
        _refuse_infinite(value, value.is_finite())
        return parse_rational(str(value))
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        if value.dtype.kind in "iu":
            return fmpq(int(value))
        if value.dtype.kind == "f":
            _refuse_infinite(value, value == value and abs(value) != inf)  # a long double may be above every float
            raise InexactInputError(
                f'a NumPy float ({value!r}) has no exact decimal meaning: write text such as "{value!s}", or use '
                "from_arrays, which takes float arrays as the binary numbers that they are",
                value=value,
            )
    if getattr(value, "is_Number", False):
        _refuse_infinite(value, value.is_finite)
    if getattr(value, "is_Float", False):
        raise InexactInputError(f"the SymPy Float {shown(value)} is not exact: write a Rational", value=value)
    if hasattr(value, "free_symbols"):
        raise InvalidNetworkError(
            f"expected a rational number, got the expression {shown(value)}", value=value, symbolic=True
        )
    raise InvalidNetworkError(f"expected a rational number, got {shown(value)}", value=value)


def _refuse_infinite(value: Any, finite: bool) -> None:
    if not finite:
        raise InexactInputError(f"{shown(value)} is not a number that a network can hold", value=value)


def shown(value: Any) -> str:
    """Give a value as a short text for a message."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no integers of more than 4300 digits
        return f"a {type(value).__name__} with a number of very many digits"
    except Exception:  # whatever the class of another program raises, and nesting without end
        return f"a {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text)} characters)"


def quantity(count: int, noun: str) -> str:
    """Give a number with its noun.

    >>> quantity(1, "law"), quantity(2, "law"), quantity(1_000, "entry")
    ('1 law', '2 laws', '1,000 entries')
    """
    if count == 1:
        return f"1 {noun}"
    ends_in_y = noun.endswith("y") and noun[-2:] not in ("ay", "ey", "oy", "uy")
    return f"{count:,} {noun[:-1]}ies" if ends_in_y else f"{count:,} {noun}s"


def numbered(noun: str, first: int, last: int) -> str:
    """Name what is numbered from one number to another.

    >>> numbered("layer", 1, 3), numbered("layer", 1, 1), numbered("layer", 1, 0)
    ('layers 1 to 3', 'layer 1', 'no layer')
    """
    if first > last:
        return f"no {noun}"
    return f"{noun} {first}" if first == last else f"{noun}s {first} to {last}"


def parse_rational(text: str) -> fmpq:
    """Read "3", "-1/2", "0.25" or "1e-3" by its decimal text; nothing is ever evaluated.

    Raises:
        InvalidNetworkError: where the text is no rational number, or beyond `MAX_DIGITS` digits.
    """
    match = _RATIONAL.fullmatch(text)
    if match:
        if len(match[1].lstrip("+-")) > MAX_DIGITS or len(match[2] or "") > MAX_DIGITS:
            raise InvalidNetworkError(
                f"a number of {len(text)} characters is beyond the stated size of {MAX_DIGITS} digits", value=text[:50]
            )
        denominator = int(match[2]) if match[2] else 1
        if denominator == 0:
            raise InvalidNetworkError(f"the denominator of {shown(text)} is zero", value=text)
        return fmpq(int(match[1]), denominator)
    match = _DECIMAL.fullmatch(text)
    if not match or not (match[2] or match[3]):
        raise InvalidNetworkError(f"{shown(text)} is not a rational number", value=text[:50])
    sign, whole, part, exponent = match[1], match[2], match[3] or "", match[4] or "0"
    if len(whole) + len(part) > MAX_DIGITS or len(exponent) > 6 or abs(int(exponent)) > MAX_DIGITS:
        raise InvalidNetworkError(f"{shown(text)} is beyond the stated size of {MAX_DIGITS} digits", value=text[:50])
    shift = int(exponent) - len(part)
    if max(len(whole) + len(part) + shift, 1 - shift) > MAX_DIGITS:
        raise InvalidNetworkError(f"{shown(text)} is beyond the stated size of {MAX_DIGITS} digits", value=text[:50])
    numerator = int(sign + whole + part) * 10 ** max(shift, 0)
    return fmpq(numerator, 10 ** max(-shift, 0))


def exact_from_float(value: float) -> fmpq:
    """Give the dyadic rational that a binary float is (for importers of trained networks).

    Raises:
        InexactInputError: for NaN and infinity.

    >>> exact_from_float(0.5)
    1/2
    """
    try:
        numerator, denominator = float(value).as_integer_ratio()
    except (OverflowError, ValueError):
        raise InexactInputError(f"{value!r} is not a number that a network can hold", value=value) from None
    return fmpq(numerator, denominator)


def vector(values: Iterable[Any]) -> Vector:
    """Give the exact vector of `values`; SymPy columns and rows are read entry by entry.

    Raises:
        InvalidNetworkError: for what is no list, text among it, and for entries that are no rationals.
        InexactInputError: for floats.
    """
    if isinstance(values, str | bytes):
        raise InvalidNetworkError(f"expected a list of numbers, got the text {shown(values)}", value=values)
    try:
        entries = iter(values)
    except TypeError:
        raise InvalidNetworkError(f"expected a list of numbers, got {shown(values)}", value=values) from None
    return tuple(exact(value) for value in entries)


def dot(a: Sequence[fmpq], b: Sequence[fmpq]) -> fmpq:
    """Give Σ a_i b_i of two exact vectors of one length."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x != 0 and y != 0), ZERO)


def affine_value(form: Sequence[fmpq], point: Sequence[fmpq]) -> fmpq:
    """Give w·point + γ for the affine form (w, γ), constant last."""
    return dot(form[:-1], point) + form[-1]


def primitive(values: Sequence[fmpq]) -> tuple[int, ...]:
    """Give the primitive integer vector that is a positive multiple of `values` (zero stays zero).

    >>> primitive(vector(["1/2", "-1/3", 0]))
    (3, -2, 0)
    """
    common = lcm(*(int(value.q) for value in values)) if values else 1
    integers = [int(value.p) * (common // int(value.q)) for value in values]
    divisor = gcd(*integers)
    return tuple(value // divisor for value in integers) if divisor else tuple(integers)


def sympy_rational(value: fmpq) -> sympy.Rational:
    """Give the SymPy number equal to an exact scalar."""
    import sympy

    return sympy.Rational(int(value.p), int(value.q))


def fraction(value: fmpq) -> Fraction:
    """Give the standard library's Fraction equal to an exact scalar."""
    return Fraction(int(value.p), int(value.q))
