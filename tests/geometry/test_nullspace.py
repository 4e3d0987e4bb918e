"""Kernels and growing spans of integer rows, against elimination on Fractions."""

from hypothesis import example, given
from hypothesis import strategies as st
from reference import rank

from semialg_fibers.geometry.nullspace import Span, exact_kernel

MERSENNE = 2**61 - 1
rows = st.lists(st.lists(st.integers(-3, 3) | st.sampled_from([MERSENNE, 2 * MERSENNE]), min_size=4, max_size=4))


@given(rows)
@example([[MERSENNE, 0, 0, 0], [0, MERSENNE, 0, 0]])  # zero modulo the first prime
@example([[1, 0, 0, 0], [1, MERSENNE, 0, 0]])
@example([])
def test_the_kernel_is_annihilated_and_has_the_right_dimension(given_rows):
    kernel = exact_kernel(map(tuple, given_rows), 4)
    assert all(sum(a * b for a, b in zip(row, vector, strict=True)) == 0 for row in given_rows for vector in kernel)
    assert rank(kernel) == len(kernel) == 4 - rank(given_rows)


@given(rows)
def test_a_span_knows_its_dimension_and_members(vectors):
    span, before = Span(), 0
    for count, vector in enumerate(vectors, 1):
        was_inside = vector in span
        added = span.add(vector)
        assert added != was_inside
        assert vector in span
        assert span.dimension == rank(vectors[:count]) == before + added
        before = span.dimension
    assert span.extend(vectors) == 0
