"""The door through which numbers enter: what it accepts, what it refuses, and what it then says to write instead."""

import itertools
import re
from decimal import Decimal
from fractions import Fraction
from math import gcd, inf, nan

import numpy as np
import pytest
import sympy
from flint import fmpq, fmpz
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import InexactInputError, InvalidNetworkError
from semialg_fibers.geometry.scalar import (
    MAX_DIGITS,
    affine_value,
    dot,
    exact,
    exact_from_float,
    fraction,
    parse_rational,
    primitive,
    shown,
    sympy_rational,
    vector,
)

# Each value was written down by hand from the text of the input.
ACCEPTED = [
    (0, 0, 1),
    (-7, -7, 1),
    (10**5000, 10**5000, 1),  # only text is bounded: an integer has been made already
    (Fraction(-6, 4), -3, 2),
    (fmpq(2, 3), 2, 3),
    (fmpz(-5), -5, 1),
    (Decimal("0.1"), 1, 10),
    (Decimal("-1E+2"), -100, 1),
    (Decimal("25E-3"), 1, 40),
    (Decimal("-0"), 0, 1),
    (Decimal("0E-30"), 0, 1),
    (sympy.Rational(3, -9), -1, 3),
    (sympy.Integer(4), 4, 1),
    (sympy.S.Half, 1, 2),
    (sympy.S.Zero, 0, 1),
    (np.int8(-128), -128, 1),
    (np.uint64(2**64 - 1), 2**64 - 1, 1),
    (np.array(3), 3, 1),
    (np.str_("1/2"), 1, 2),
    ("3", 3, 1),
    ("+3", 3, 1),
    ("-1/2", -1, 2),
    ("+4/6", 2, 3),
    ("-0", 0, 1),
    ("007", 7, 1),
    ("0.25", 1, 4),
    ("-.5", -1, 2),
    ("5.", 5, 1),
    ("1e-3", 1, 1000),
    ("1.5E2", 150, 1),
    ("-2.50e+1", -25, 1),
    ("1" * MAX_DIGITS, int("1" * MAX_DIGITS), 1),
    ("1/" + "3" * MAX_DIGITS, 1, int("3" * MAX_DIGITS)),
    (f"1e{MAX_DIGITS - 1}", 10 ** (MAX_DIGITS - 1), 1),
    (f"-1e-{MAX_DIGITS - 1}", -1, 10 ** (MAX_DIGITS - 1)),
    (f"0.{'0' * (MAX_DIGITS - 2)}1", 1, 10 ** (MAX_DIGITS - 1)),
]


@pytest.mark.parametrize(("value", "numerator", "denominator"), ACCEPTED, ids=lambda value: shown(value)[:20])
def test_accepted(value, numerator, denominator):
    found = exact(value)
    assert type(found) is fmpq
    assert (found.p, found.q) == (numerator, denominator)


NO_TEXT = [
    "", " ", "+", "-", ".", "e5", ".e5", "-.", "1e", "1e+", "1/", "/2", "1//2", "1/2/3", "1/-2", "1/+2", "1.5/2",
    "1/2.5", "1/2e1", " 1", "1 ", "1\n", "1 000", "1_000", "1,5", "0x10", "1j", "--1", "+-1", "nan", "inf", "-Infinity",
    "pi", "2*3", "1/(2)",
    "−1",  # U+2212, the minus of a text processor
    "٣",  # ARABIC-INDIC DIGIT THREE, which int() takes
    "１",  # FULLWIDTH DIGIT ONE
    "1/２", "1.²", "½",
    "__import__('os')",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_TEXT)
def test_text_that_is_no_number(text):
    with pytest.raises(InvalidNetworkError, match=r"is not a rational number\Z") as caught:
        exact(text)
    assert caught.value.value == text


@pytest.mark.parametrize(
    "text",
    [
        "1" * (MAX_DIGITS + 1),
        "-" + "0" * (MAX_DIGITS + 1),
        "1/" + "3" * (MAX_DIGITS + 1),
        "0." + "1" * MAX_DIGITS,
        f"0.{'0' * (MAX_DIGITS - 1)}1",
        f"1e{MAX_DIGITS}",
        f"1e-{MAX_DIGITS}",
        f"10e{MAX_DIGITS - 1}",
        "1e9999999999",  # would fill the memory
        "0e-9999999999",
        "1" * 200_000,
        Decimal("1E+5000"),
    ],
    ids=lambda text: str(text)[:20],
)
def test_numbers_beyond_the_stated_size(text):
    with pytest.raises(InvalidNetworkError, match=f"stated size of {MAX_DIGITS} digits") as caught:
        exact(text)
    assert len(str(caught.value)) < 150  # the message does not carry the number


@pytest.mark.parametrize("text", ["1/0", "0/0", "-3/000"])
def test_a_zero_denominator_is_named(text):
    with pytest.raises(InvalidNetworkError, match=f"the denominator of '{text}' is zero"):
        exact(text)


@pytest.mark.parametrize(
    "value", [0.1, -2.5, 0.0, 1e300, 5e-324, 1e16, np.float64(0.1), np.float64(-3)], ids=lambda value: repr(value)
)
def test_a_float_is_refused_and_both_readings_are_named(value):
    with pytest.raises(InexactInputError) as caught:
        exact(value)
    assert caught.value.value is value
    text, decimal, binary = re.search(
        r'write ("[^"]+") or (Fraction\("[^"]+"\)) .*, (Fraction\([^"]+\)) ', str(caught.value)
    ).groups()
    proposed = [exact(eval(each, {"Fraction": Fraction})) for each in (text, decimal, binary)]
    assert proposed[0] == proposed[1]
    assert proposed[2] == exact_from_float(value)
    assert float(fraction(proposed[0])) == float(value)  # the decimal text is the shortest that gives this float


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.1), "0.1"),
        (np.float16(-0.5), "-0.5"),
        (np.array(0.25), "0.25"),
        (np.longdouble("1e400"), "1e+400"),  # above every binary64
    ],
)
def test_a_numpy_float_is_refused_and_a_text_is_proposed(value, text):
    with pytest.raises(InexactInputError, match="from_arrays") as caught:
        exact(value)
    assert f'write text such as "{text}"' in str(caught.value)
    assert exact(text) != 0


def test_a_sympy_float_is_refused():
    with pytest.raises(InexactInputError, match="write a Rational"):
        exact(sympy.Float("0.5"))


@pytest.mark.parametrize(
    "value",
    [
        *(nan, inf, -inf, np.float64(nan), np.float32(inf), np.array(nan), np.longdouble(-inf)),
        *(Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), sympy.nan, sympy.oo, -sympy.oo),
    ],
    ids=repr,
)
def test_nan_and_infinity_are_refused_without_advice_that_would_be_refused_too(value):
    with pytest.raises(InexactInputError, match="is not a number that a network can hold"):
        exact(value)


@pytest.mark.parametrize("value", [True, False])
def test_a_truth_value_is_no_number(value):
    """It is an int to Python."""
    with pytest.raises(InvalidNetworkError, match=f"truth value {value}"):
        exact(value)


@pytest.mark.parametrize(
    "value",
    [
        *(None, 1j, 1 + 0j, b"1", [1], (1,), {"value": 1}, object),
        *(np.True_, np.array([1]), np.complex64(1), np.timedelta64(3, "s"), np.array("1")),
        [10**5000],  # it has no repr
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_things_are_no_numbers(value):
    with pytest.raises(InvalidNetworkError, match=r"expected a rational number, got \S+"):
        exact(value)


@pytest.mark.parametrize("value", [sympy.Symbol("x"), sympy.sqrt(2), sympy.pi, sympy.I, sympy.zoo, sympy.true])
def test_an_expression_is_shown(value):
    with pytest.raises(InvalidNetworkError, match=re.escape(f"got the expression {value}")):
        exact(value)


NUMBERS = st.fractions()


@settings(deadline=None)
@given(NUMBERS)
def test_every_way_to_write_a_rational_gives_the_same_scalar(value):
    expected = fmpq(value.numerator, value.denominator)
    assert exact(value) == exact(str(value)) == exact(sympy.Rational(value.numerator, value.denominator)) == expected
    assert fraction(expected) == value
    assert exact(sympy_rational(expected)) == expected
    assert exact(expected) is expected


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False))
@example(Decimal("1E-7"))  # str changes to an exponent
def test_a_decimal_is_its_text(value):
    assert fraction(exact(value)) == fraction(parse_rational(str(value))) == Fraction(value)


@settings(deadline=None)
@given(st.text(alphabet="0123456789+-./eE", max_size=7))
@example("1/00")
@example("00.e-00")
def test_the_grammar_of_text_is_that_of_fraction(text):
    """On this alphabet, which has no blank and no underscore, `Fraction` reads the same language."""
    try:
        expected = Fraction(text)
    except (ValueError, ZeroDivisionError):
        expected = None
    try:
        found = fraction(exact(text))
    except InvalidNetworkError as error:
        found = None
        if "stated size" in str(error):  # an exponent
            return
    assert found == expected


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
@example(5e-324)
@example(-0.0)
def test_importers_take_a_float_as_the_dyadic_number_that_it_is(value):
    found = exact_from_float(value)
    assert fraction(found) == Fraction(value)
    assert int(found.q).bit_count() == 1


def test_importers_take_smaller_floats_too():
    assert exact_from_float(np.float32(0.1)) == fmpq(13421773, 2**27)  # IEEE 754: 0x3DCCCCCD


@pytest.mark.parametrize("value", [nan, inf, -inf, np.float32(nan), 10**400], ids=lambda value: repr(value)[:10])
def test_importers_refuse_what_is_no_float(value):
    with pytest.raises(InexactInputError, match="is not a number that a network can hold"):
        exact_from_float(value)


VECTORS = st.lists(NUMBERS, max_size=5)


@settings(deadline=None)
@given(VECTORS, st.data())
def test_products(a, data):
    b = data.draw(st.lists(NUMBERS, min_size=len(a), max_size=len(a)))
    c = data.draw(NUMBERS)
    assert fraction(dot(vector(a), vector(b))) == sum(x * y for x, y in zip(a, b, strict=True))
    assert fraction(affine_value(vector([*a, c]), vector(b))) == sum(x * y for x, y in zip(a, b, strict=True)) + c


def test_products_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        dot(vector([1, 2]), vector([1]))
    with pytest.raises(ValueError, match="argument 2 is longer"):
        affine_value(vector([1, 2]), vector([1, 2]))


@settings(deadline=None)
@given(VECTORS)
@example([])  # the gcd of nothing is 0
@example([Fraction(0), Fraction(0)])
@example([Fraction(-4, 3)])  # one entry, which becomes its sign
def test_a_primitive_vector_is_the_shortest_integer_one_on_the_ray(values):
    found = primitive(vector(values))
    assert len(found) == len(values)
    if not any(values):
        assert not any(found)
        return
    assert gcd(*found) == 1
    pairs = list(zip(found, values, strict=True))
    assert all(p * v == q * u for (p, u), (q, v) in itertools.combinations(pairs, 2))
    assert all((p > 0) == (u > 0) and (p < 0) == (u < 0) for p, u in pairs)


def test_vectors_are_read_entry_by_entry():
    assert vector(sympy.Matrix([1, "1/2"])) == vector(["1", Decimal("0.5")]) == (fmpq(1), fmpq(1, 2))
    assert vector(np.array([2, 1])) == vector(value for value in (2, 1)) == (fmpq(2), fmpq(1))


def test_long_values_are_cut_in_messages():
    assert shown("a" * 100) == f"'{'a' * 49}... (102 characters)"
    assert shown("a" * 58) == repr("a" * 58)
