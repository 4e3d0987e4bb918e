"""The separable zero test against cells: every kind of row, every sign, with a witness for each no."""

from fractions import Fraction

from flint import fmpq
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from strategies import same_first_layer_pairs

from semialg_fibers.errors import UnsupportedError
from semialg_fibers.networks.normal_form import normal_form
from semialg_fibers.questions.separable import _low, _TensorSum, zero_test
from semialg_fibers.verify.oracle import same_on_cells


@given(same_first_layer_pairs())
@settings(max_examples=300)
def test_the_zero_test_agrees_with_the_cells(pair):
    a, b = pair
    difference = normal_form(a).minus(normal_form(b))

    def value(x):
        return tuple(p - q for p, q in zip(a.value(x), b.value(x), strict=True))

    try:
        point = zero_test(difference, a.widths[0], value)
    except UnsupportedError:
        event("dependent normals")
        assume(False)
    event("zero" if point is None else "not zero")
    assert (point is None) is (same_on_cells(a, b) is None)
    assert point is None or any(value(point))


masks = st.integers(1, 3)


@given(st.integers(1, 4), st.data())
def test_a_sum_of_tensors_is_zero_iff_it_vanishes_at_every_pattern(size, data):
    terms = data.draw(
        st.lists(st.tuples(st.integers(-2, 2), st.lists(masks, min_size=size, max_size=size)), max_size=6)
    )
    packed = [((fmpq(c),), sum(bits << 2 * k for k, bits in enumerate(factors))) for c, factors in terms]
    # The slow way: the value at each sign pattern.
    values = {}
    for pattern in range(2**size):
        bits = [pattern >> k & 1 for k in range(size)]
        values[tuple(-1 if bit else 1 for bit in bits)] = sum(
            Fraction(c) for c, factors in terms if all(f >> bit & 1 for f, bit in zip(factors, bits, strict=True))
        )
    total = _TensorSum.of(size, iter(packed))
    assert total.is_zero() is (not any(values.values()))
    if not total.is_zero():
        assert values[total.pattern()]


def test_the_mask_of_low_bits():
    assert [_low(size) for size in range(4)] == [0, 0b1, 0b101, 0b10101]
