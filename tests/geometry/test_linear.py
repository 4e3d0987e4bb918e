"""Exact matrices against Gaussian elimination over Fractions; ranks that every prime sees too small."""

import pickle
from fractions import Fraction
from itertools import combinations, islice
from math import gcd

import numpy as np
import pytest
import sympy
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import InexactInputError, InvalidNetworkError
from semialg_fibers.geometry.linear import Matrix, primes
from semialg_fibers.geometry.scalar import fraction, vector

PRIME = 2**61 - 1  # the first that rank tries


# the oracle: rows of Fractions, of a given width


def echelon(rows, width):
    """Gauss–Jordan elimination: the reduced rows that are not zero, and their pivot columns."""
    left, done, pivots = [[Fraction(value) for value in row] for row in rows], [], []
    for j in range(width):
        found = next((row for row in left if row[j]), None)
        if found is None:
            continue
        left = [row for row in left if row is not found]
        found = [value / found[j] for value in found]
        left, done = (
            [[a - row[j] * b for a, b in zip(row, found, strict=True)] for row in each] for each in (left, done)
        )
        done.append(found)
        pivots.append(j)
    return done, pivots


def slow_rank(rows, width):
    return len(echelon(rows, width)[1])


def slow_product(a, b, width):
    return [[sum((row[k] * b[k][j] for k in range(len(b))), Fraction(0)) for j in range(width)] for row in a]


def plain(matrix):
    return [[fraction(value) for value in row] for row in matrix.rows()]


# matrices that hypothesis invents

SMALL = st.integers(-3, 3) | st.sampled_from([Fraction(1, 2), Fraction(-2, 3), Fraction(5, 6)])
BIG = st.sampled_from(
    [0, 1, -1, 10**40, -(10**40) + 1, PRIME, -2 * PRIME, 7 * PRIME**3, Fraction(PRIME, 3), Fraction(1, PRIME)]
)


@st.composite
def lists(draw, rows=None, columns=None, entries=None):
    """Rows of Fractions and the width; half of the matrices are products through a small inner dimension."""
    m = draw(st.integers(0, 5)) if rows is None else rows
    n = draw(st.integers(0, 5)) if columns is None else columns
    numbers = draw(st.sampled_from([SMALL, SMALL, BIG])) if entries is None else entries

    def block(height, width):
        line = st.lists(numbers.map(Fraction), min_size=width, max_size=width)
        return draw(st.lists(line, min_size=height, max_size=height))

    if draw(st.booleans()):
        inner = draw(st.integers(0, 2))
        return slow_product(block(m, inner), block(inner, n), n), n
    return block(m, n), n


@settings(deadline=None)
@given(lists())
@example(([], 0))
@example(([], 3))
@example(([[], []], 0))
def test_a_matrix_has_the_entries_and_the_shape_that_it_was_given(given_rows):
    rows, n = given_rows
    made = Matrix(rows, columns=n)
    assert made.shape == (len(rows), n)
    assert plain(made) == rows
    assert all(fraction(made[i, j]) == rows[i][j] for i in range(len(rows)) for j in range(n))
    assert made.columns() == [vector(row[j] for row in rows) for j in range(n)]
    assert made.is_zero() == (not any(any(row) for row in rows))
    for row, integers, below in zip(rows, made.integer_rows(), made.denominators(), strict=True):
        assert below > 0
        assert [Fraction(value, below) for value in integers] == row
        assert gcd(below, *integers) == 1
    assert made == Matrix.from_columns(made.columns(), len(rows)) == made.T.T
    assert made == Matrix(made.to_sympy())
    assert made.T.shape == (n, len(rows))
    assert made.T.rows() == made.columns()


@settings(deadline=None)
@given(lists(), st.data())
def test_equal_matrices_are_equal_values(given_rows, data):
    rows, n = given_rows
    made = Matrix(rows, columns=n)
    factors = data.draw(st.lists(st.integers(1, 12), min_size=len(rows), max_size=len(rows)))
    scaled = [[value * factor for value in row] for row, factor in zip(made.integer_rows(), factors, strict=True)]
    below = [value * factor for value, factor in zip(made.denominators(), factors, strict=True)]
    twin = Matrix.from_integers(scaled, below, columns=n)
    copy = pickle.loads(pickle.dumps(made))
    assert made == twin == copy
    assert hash(made) == hash(twin) == hash(copy)
    if rows and n:
        read = eval(repr(made), {"Matrix": Matrix})
        assert read == made
        rows[0][0] += 1
        assert Matrix(rows) != made


def test_shapes_tell_empty_matrices_apart():
    empty = [Matrix([]), Matrix([], columns=2), Matrix([[], []]), Matrix.zeros(3, 0), Matrix.zeros(0, 3)]
    assert [matrix.shape for matrix in empty] == [(0, 0), (0, 2), (2, 0), (3, 0), (0, 3)]
    assert all(a != b for a, b in combinations(empty, 2))
    assert all(matrix.rank() == 0 and matrix.is_zero() for matrix in empty)
    assert Matrix([]) == Matrix.identity(0) == Matrix.identity(0).inverse()
    assert Matrix([[1]]) != [[1]]


def test_matrices_are_read_from_arrays_of_integers_and_from_sympy():
    expected = Matrix([[1, 2], [3, 4]])
    assert Matrix(np.array([[1, 2], [3, 4]])) == Matrix(sympy.Matrix([[1, 2], [3, 4]])) == expected
    assert Matrix(np.zeros((0, 3), dtype=int)).shape == Matrix(sympy.zeros(0, 3)).shape == (0, 3)
    assert Matrix(np.zeros((2, 0), dtype=int)).shape == Matrix(sympy.zeros(2, 0)).shape == (2, 0)


@pytest.mark.parametrize(
    ("rows", "columns", "error", "message", "place"),
    [
        ([[1, 2], [3]], None, InvalidNetworkError, "ragged rows: row 2 has 1 entry, expected 2", {"row": 1}),
        ([[1], [2, 3]], None, InvalidNetworkError, "ragged rows: row 2 has 2 entries, expected 1", {"row": 1}),
        ([[], [2]], None, InvalidNetworkError, "ragged rows: row 2 has 1 entry, expected 0", {"row": 1}),
        ([[1, 2]], 3, InvalidNetworkError, "ragged rows: row 1 has 2 entries, expected 3", {"row": 0}),
        ([[1, 2], [0.5, "x"]], None, InexactInputError, "the float 0.5", {"row": 1, "column": 0, "value": 0.5}),
        ([[1, 2], [3, "x"]], None, InvalidNetworkError, "'x' is not a rational", {"row": 1, "column": 1, "value": "x"}),
        ([[1, None]], None, InvalidNetworkError, "expected a rational number, got None", {"row": 0, "column": 1}),
        (np.array([[0.5]]), None, InexactInputError, "the float 0.5", {"row": 0, "column": 0}),
        (np.ones((1, 1, 1), int), None, InvalidNetworkError, "expected a rational number", {"row": 0, "column": 0}),
        ([1, 2], None, InvalidNetworkError, "row 1 is not a list of numbers; got 1", {"value": 1}),
        ([[1], "2"], None, InvalidNetworkError, "row 2 is not a list of numbers; got '2'", {"value": "2"}),
        ("12", None, InvalidNetworkError, "a matrix is a list of rows; got '12'", {"value": "12"}),
        ({0: [1]}, None, InvalidNetworkError, "a matrix is a list of rows", {}),
        (5, None, InvalidNetworkError, "a matrix is a list of rows; got 5", {"value": 5}),
    ],
)  # fmt: skip
def test_rows_that_are_no_matrix_are_refused_with_their_place(rows, columns, error, message, place):
    with pytest.raises(error) as caught:
        Matrix(rows, columns)
    assert message in str(caught.value)
    assert {key: caught.value.place.get(key) for key in place} == place


# arithmetic


@settings(deadline=None)
@given(st.data())
def test_products_and_sums(data):
    m, n, p = (data.draw(st.integers(0, 4)) for _ in range(3))
    (a, _), (b, _), (c, _) = (data.draw(lists(*shape)) for shape in ((m, n), (n, p), (m, n)))
    x, y, z = Matrix(a, columns=n), Matrix(b, columns=p), Matrix(c, columns=n)
    assert plain(x @ y) == slow_product(a, b, p)
    assert (x @ y).shape == (m, p)
    assert (x @ y).T == y.T @ x.T
    assert (x + z) @ y == x @ y + z @ y
    assert plain(x + z) == [[u + v for u, v in zip(r, s, strict=True)] for r, s in zip(a, c, strict=True)]
    assert plain(x - z) == [[u - v for u, v in zip(r, s, strict=True)] for r, s in zip(a, c, strict=True)]
    assert plain(-x) == [[-u for u in r] for r in a]
    assert Matrix.identity(m) @ x == x == x @ Matrix.identity(n)
    assert x - x == Matrix.zeros(m, n)
    right = [Fraction(k, 3) for k in range(n)]
    assert [[fraction(value)] for value in x.times(vector(right))] == slow_product(a, [[value] for value in right], 1)


@settings(deadline=None)
@given(lists(), st.data())
def test_parts_and_joins(given_rows, data):
    rows, n = given_rows
    m, made = len(rows), Matrix(rows, columns=n)
    keep_rows = data.draw(st.lists(st.integers(0, m - 1), max_size=4)) if m else []
    keep = data.draw(st.lists(st.integers(0, n - 1), max_size=4)) if n else []
    assert plain(made.select(keep_rows, keep)) == [[rows[i][j] for j in keep] for i in keep_rows]
    assert made.select(keep_rows, keep).shape == (len(keep_rows), len(keep))
    assert made.select(rows=keep_rows) == Matrix([rows[i] for i in keep_rows], columns=n)
    assert made.select(columns=keep) == Matrix([[row[j] for j in keep] for row in rows], columns=len(keep))
    assert made.select() == made
    cut, down = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    assert made.select(columns=range(cut)).beside(made.select(columns=range(cut, n))) == made
    assert made.select(rows=range(down)).stacked(made.select(rows=range(down, m))) == made
    if n:
        assert made.select(columns=range(n - 1)).with_column(made.column(n - 1)) == made


def test_shapes_that_do_not_fit_are_refused():
    wide, tall = Matrix([[1, 2, 3]]), Matrix([[1], [2]])
    for wrong in (
        lambda: wide @ tall,
        lambda: wide + tall,
        lambda: wide - tall,
        lambda: wide.stacked(tall),
        lambda: wide.times(vector([1, 2])),
        lambda: wide.solve(vector([1, 2])),
        lambda: tall.solve(vector([1])),
    ):
        with pytest.raises(InvalidNetworkError, match=r"shapes? \("):
            wrong()


# rank, kernel, solutions


@settings(max_examples=300, deadline=None)
@given(lists())
@example(([[PRIME, 1]], 2))  # modulo the prime the first column is zero
def test_rank_kernel_and_bases_are_those_of_elimination(given_rows):
    rows, n = given_rows
    made = Matrix(rows, columns=n)
    rank = slow_rank(rows, n)
    assert made.rank() == made.T.rank() == rank
    columns, independent = made.independent_columns(), made.independent_rows()
    assert len(columns) == len(independent) == rank
    assert columns == sorted(set(columns))
    assert slow_rank([[row[j] for j in columns] for row in rows], rank) == rank
    assert slow_rank([rows[i] for i in independent], n) == rank
    kernel = made.kernel()
    assert kernel.shape == (n - rank, n)
    assert (made @ kernel.T).is_zero()
    assert slow_rank(plain(kernel), n) == n - rank


@settings(max_examples=300, deadline=None)
@given(lists(), st.data())
def test_a_solution_solves_and_none_is_right(given_rows, data):
    rows, n = given_rows
    made = Matrix(rows, columns=n)
    if data.draw(st.booleans()):
        right = [fraction(value) for value in made.times(vector(data.draw(st.lists(SMALL, min_size=n, max_size=n))))]
    else:
        right = [Fraction(value) for value in data.draw(st.lists(SMALL, min_size=len(rows), max_size=len(rows)))]
    found = made.solve(vector(right))
    solvable = slow_rank([[*row, b] for row, b in zip(rows, right, strict=True)], n + 1) == slow_rank(rows, n)
    assert (found is not None) == solvable
    if found is not None:
        assert len(found) == n
        assert [sum(u * fraction(v) for u, v in zip(row, found, strict=True)) for row in rows] == right


@settings(deadline=None)
@given(st.integers(0, 4).flatmap(lambda size: lists(size, size)))
def test_the_inverse_exists_for_full_rank_only(given_rows):
    rows, n = given_rows
    made = Matrix(rows, columns=n)
    if slow_rank(rows, n) == n:
        assert made @ made.inverse() == made.inverse() @ made == Matrix.identity(n)
    else:
        with pytest.raises(InvalidNetworkError, match=f"rank {slow_rank(rows, n)} has no inverse"):
            made.inverse()


def test_a_matrix_that_is_not_square_has_no_inverse():
    with pytest.raises(InvalidNetworkError, match=r"shape \(1, 2\) and rank 1 has no inverse"):
        Matrix([[1, 2]]).inverse()


FIRST = list(islice(primes(), 4))


def test_the_primes_are_those_below_2_to_the_61():
    expected = [PRIME]
    while len(expected) < len(FIRST):
        expected.append(sympy.prevprime(expected[-1]))
    assert expected == FIRST


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_rank_is_right_where_the_first_primes_see_less(count, size):
    """det = (p_1 ... p_count)^size vanishes modulo each of the first primes; so do all entries of the block."""
    product = 1
    for prime in FIRST[:count]:
        product *= prime
    block = Matrix([[product * (i == j) for j in range(size)] for i in range(size)])
    assert block.rank() == size
    mixed = Matrix([[1, 2], [3, 6 + product]])  # determinant product
    assert mixed.rank() == 2
    assert len(mixed.independent_columns()) == 2
    assert mixed.kernel().shape == (0, 2)
    assert mixed @ mixed.inverse() == Matrix.identity(2)
    deficient = Matrix([[1, 2, 3], [3, 6 + product, 9], [4, 8 + product, 12]])
    assert deficient.rank() == 2
    assert deficient.kernel().shape == (1, 3)
    assert deficient.solve(vector([1, 3, 4])) is not None
    assert deficient.solve(vector([1, 3, 5])) is None  # the rows add up


@pytest.mark.parametrize("shape", [(4, 30), (30, 4), (12, 12)])
def test_the_rank_of_wide_tall_and_square_matrices_with_big_entries(shape):
    """A product through dimension 3 with entries of about 80 digits: no prime can show more than 3."""
    m, n = shape
    left = Matrix([[(i + 2) ** (40 + k) for k in range(3)] for i in range(m)])  # generalised Vandermonde: rank 3
    right = Matrix([[fmpq((j + 3) ** (30 + k), 7**k) for j in range(n)] for k in range(3)])
    made = left @ right
    assert slow_rank(plain(made), n) == 3
    assert made.rank() == 3
    assert made.kernel().shape == (n - 3, n)
    assert (made @ made.kernel().T).is_zero()
    changed = [list(row) for row in made.rows()]
    changed[-1][-1] += 1
    assert Matrix(changed).rank() == 4
