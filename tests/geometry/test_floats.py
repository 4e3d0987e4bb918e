"""Float arrays in and out: every bit pattern of the small formats, rows of any spread, and the nearest float back."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.floats import HIGHEST, MAX_ENTRIES, SIGNIFICAND, dyadic_matrix, dyadic_vector, nearest

BITS = {"float16": np.uint16, "float32": np.uint32, "float64": np.uint64}


def fraction(value):
    return Fraction(int(value.p), int(value.q))


def as_fractions(array):
    return [[Fraction(float(value)) for value in row] for row in array]


def test_every_finite_float16_is_taken_exactly():
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)]
    assert len(finite) == 2**16 - 2 * 2**10
    assert [fraction(value) for value in dyadic_vector(finite)] == [Fraction(float(value)) for value in finite]


@pytest.mark.parametrize("name", ["float32", "float64"])
@given(st.data())
def test_any_bit_patterns_are_taken_exactly(name, data):
    """Rows that hold subnormal and huge numbers at once do not fit 64 bits on the way."""
    size = np.dtype(name).itemsize * 8
    patterns = data.draw(st.lists(st.integers(0, 2**size - 1), min_size=6, max_size=6))
    array = np.array(patterns, dtype=BITS[name]).view(name).reshape(2, 3)
    if np.isfinite(array).all():
        rows = [[fraction(value) for value in row] for row in dyadic_matrix(array).rows()]
        assert rows == as_fractions(array)
    else:
        with pytest.raises(InexactInputError, match="not a number that a network can hold") as refused:
            dyadic_matrix(array)
        assert not np.isfinite(array[refused.value.row, refused.value.column])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=20))
@example([2.0**-149, 2.0**127])
@example([0.0, -0.0])
def test_a_row_is_kept_in_lowest_terms(values):
    matrix = dyadic_matrix(np.array([values], dtype=np.float32))
    below = matrix.denominators()[0]
    assert below == max(Fraction(value).denominator for value in values)
    assert [Fraction(value, below) for value in matrix.integer_rows()[0]] == list(map(Fraction, values))


@pytest.mark.parametrize("order", ["<", ">"])
def test_byte_order_strides_and_integers_change_nothing(order):
    array = np.arange(24, dtype=np.float32).reshape(4, 6) / 8
    for view in (array.astype(f"{order}f4"), np.asfortranarray(array), array[::-1, ::2]):
        assert [[fraction(v) for v in row] for row in dyadic_matrix(view).rows()] == as_fractions(view)
    assert dyadic_vector(np.array([2**63, 2**64 - 1], dtype=np.uint64)) == (2**63, 2**64 - 1)
    assert dyadic_matrix(np.zeros((0, 3), dtype=np.float32)).shape == (0, 3)


@pytest.mark.parametrize(
    ("array", "kind", "words"),
    [
        (np.array([[1 + 2j]]), UnsupportedError, "complex128"),
        (np.array([[True]]), UnsupportedError, "bool"),
        (np.array([["1"]]), UnsupportedError, "are not read"),
        (np.array([[1]], dtype=np.longdouble), UnsupportedError, "are not read"),
        (np.array([[1]], dtype=object), UnsupportedError, "object"),
        (np.ma.masked_array([[1.0]], mask=[[True]]), UnsupportedError, "masked"),
        (np.array([1.0]), InvalidNetworkError, r"two dimensions, got shape \(1,\)"),
        (np.broadcast_to(np.float32(1), (MAX_ENTRIES, 2)), InvalidNetworkError, "more than the stated size"),
    ],
    ids=["complex", "bool", "text", "longdouble", "object", "masked", "vector", "huge"],
)
def test_what_is_no_matrix_of_floats_is_refused(array, kind, words):
    if array.dtype == np.longdouble and np.dtype(np.longdouble) == np.float64:
        pytest.skip("long double is float64 on this platform")
    with pytest.raises(kind, match=words):
        dyadic_matrix(array)


def test_a_masked_array_where_nothing_is_masked_is_an_array():
    assert dyadic_matrix(np.ma.array([[1.5]], mask=[[0]])) == dyadic_matrix(np.array([[1.5]]))
    assert dyadic_vector(np.ma.array([1, 2])) == (1, 2)
    with pytest.raises(UnsupportedError, match="masked"):
        dyadic_vector(np.ma.array([1, 2], mask=[0, 1]))


@pytest.mark.parametrize("name", SIGNIFICAND)
@pytest.mark.parametrize("sign", [1, -1])
def test_beyond_the_range_is_what_rounds_to_the_next_power_of_2(name, sign):
    top, bits = HIGHEST[name], SIGNIFICAND[name]
    largest = 2**top - 2 ** (top - bits)
    middle = largest + 2 ** (top - bits - 1)  # ties to even: up
    assert nearest(fmpq(sign * largest), name) == (sign * largest, True)
    assert nearest(sign * (middle - fmpq(1, 2**50)), name) == (sign * largest, False)
    told = rf"absolute value at least 2\^{top - 1} is beyond the range of {name}: it rounds to 2\^{top} or more"
    with pytest.raises(UnsupportedError, match=told):
        nearest(fmpq(sign * middle), name)
    with pytest.raises(UnsupportedError, match=rf"at least 2\^{2 * top} is beyond"):
        nearest(fmpq(sign * 2 ** (2 * top)), name)


def test_a_vector_names_the_entry():
    with pytest.raises(InexactInputError, match="entry 2: nan") as refused:
        dyadic_vector(np.array([1, np.nan]))
    assert refused.value.place == {"row": 1}


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
@given(st.data())
def test_nearest_agrees_with_the_neighbours(name, data):
    """No float of the format is nearer, a tie goes to the even one, and floats come back as they are."""
    kind = np.dtype(name).type
    size = np.dtype(name).itemsize * 8
    start = np.array(data.draw(st.integers(0, 2**size - 1)), dtype=BITS[name]).view(name)[()]
    if not np.isfinite(start):
        return
    assert nearest(fmpq(*float(start).as_integer_ratio()), name) == (float(start), True)
    step = data.draw(st.fractions(0, 1)) / 1
    with np.errstate(over="ignore"):
        after = np.nextafter(start, kind(np.inf))
    if not np.isfinite(after):
        return
    low, high = Fraction(float(start)), Fraction(float(after))
    value = low + step * (high - low)
    found, is_exact = nearest(fmpq(value.numerator, value.denominator), name)
    assert is_exact == (value in (low, high))
    if step == Fraction(1, 2):
        even = start if int(start.view(BITS[name])) % 2 == 0 else after
        assert found == float(even)
    else:
        assert found == (float(start) if step < Fraction(1, 2) else float(after))


def test_nearest_at_the_ends_of_the_range():
    largest = Fraction(float(np.finfo(np.float16).max))
    assert nearest(fmpq(65519), "float16") == (float(largest), False)
    with pytest.raises(UnsupportedError, match="beyond the range of float16"):
        nearest(fmpq(65520), "float16")  # the tie that rounds to infinity
    assert nearest(fmpq(1, 2**25), "float16") == (0.0, False)
    assert nearest(fmpq(3, 2**26), "float16") == (2.0**-24, False)
    assert nearest(fmpq(257), "bfloat16") == (256.0, False)
    assert nearest(fmpq(0), "float32") == (0.0, True)
    with pytest.raises(UnsupportedError, match="float8 is not known"):
        nearest(fmpq(1), "float8")
