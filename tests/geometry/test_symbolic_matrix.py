"""Matrices with letters against SymPy's determinants and against ranks at values of the letters."""

import pickle
from itertools import product

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import InvalidNetworkError, UndecidedSignError, UnsupportedError
from semialg_fibers.geometry.expression import to_sympy
from semialg_fibers.geometry.insertion import put
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.symbolic_matrix import SymbolicMatrix, matrix_of

X, P, Q = sympy.Symbol("x", real=True), sympy.Symbol("p", positive=True), sympy.Symbol("q", positive=True)
ENTRIES = st.sampled_from([0, 0, 1, -1, 2, X, -X, P, Q, P + Q, X * P, X - 1])


@st.composite
def matrices(draw):
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return draw(st.lists(st.lists(ENTRIES, min_size=columns, max_size=columns), min_size=rows, max_size=rows))


def test_the_rank_of_the_generic_value_is_never_given_in_silence():
    special = matrix_of([[1, 1], [1, X]])  # rank 2 only for x ≠ 1
    assert (special.least_rank, special.generic_rank) == (1, 2)
    with pytest.raises(UndecidedSignError, match="x - 1"):
        special.rank()
    k = sympy.Symbol("k", real=True)
    other = matrix_of([[2, -1, 7], [1, 2, 2], [0, 5, -3], [5, 0, 5 + k]])  # rank 2 at k = 11
    with pytest.raises(UndecidedSignError, match="k - 11"):
        other.rank()
    assert put(other, {k: 11}).rank() == 2
    assert put(other, {k: 10}).rank() == 3


@settings(max_examples=100)
@given(matrices())
def test_ranks_at_values_lie_between_the_bounds_and_the_upper_one_is_met(rows):
    made = SymbolicMatrix(rows)
    ranks = [
        sympy.Matrix(rows).subs({X: x, P: p, Q: q}).rank()
        for x, p, q in product([0, 1, 2, -3, sympy.Rational(7, 5)], [1, 2, sympy.Rational(3, 7)], [1, 5])
    ]
    assert made.least_rank <= min(ranks)
    assert made.generic_rank == max(ranks)
    if made.least_rank == made.generic_rank:
        assert made.rank() == made.generic_rank


@settings(max_examples=60)
@given(matrices(), matrices())
def test_the_verbs_of_matrices(rows, others):
    made, theirs = matrix_of(rows), sympy.Matrix(rows)
    assert sympy.simplify(made.to_sympy() - theirs) == sympy.zeros(*theirs.shape)
    assert made == made.T.T
    assert made + (-made) == matrix_of([[0] * made.shape[1]] * made.shape[0])
    assert (made + made).to_sympy().expand() == (2 * theirs).expand()
    other = matrix_of(others)
    if made.shape[1] == other.shape[0]:
        assert (made @ other).to_sympy().expand() == (theirs * sympy.Matrix(others)).expand()
    if made.shape[1] == other.shape[1]:
        assert made.stacked(other).shape[0] == made.shape[0] + other.shape[0]
    if made.shape[0] == other.shape[0]:
        assert made.beside(other).select(columns=range(made.shape[1])) == made
    if made.shape[0] == made.shape[1]:
        determinant = SymbolicMatrix(rows).determinant()
        assert sympy.expand(to_sympy(determinant) - theirs.det()) == 0


def test_numbers_make_an_ordinary_matrix():
    assert type(matrix_of([[1, "1/2"]])) is Matrix
    assert isinstance(matrix_of([[1, P]]), SymbolicMatrix)
    assert isinstance(matrix_of(sympy.Matrix([[1, P]])), SymbolicMatrix)
    assert type(matrix_of([[1, P]]).select(columns=[0])) is Matrix


def test_what_needs_numbers_says_so():
    made = matrix_of([[P, X]])
    for ask in (made.integer_rows, made.kernel, made.inverse, made.denominators):
        with pytest.raises(UnsupportedError, match="substitute values for p, x"):
            ask()


def test_bad_entries_are_named_by_their_place():
    with pytest.raises(InvalidNetworkError, match=r"sqrt") as caught:
        matrix_of([[P, 1], [1, sympy.sqrt(P)]])
    assert (caught.value.row, caught.value.column) == (1, 1)
    with pytest.raises(InvalidNetworkError, match="ragged rows: row 2 has 1 entry, expected 2"):
        matrix_of([[P, 1], [1]])
    with pytest.raises(UndecidedSignError, match="the sign of x"):
        matrix_of([[P, 1 / X]])


def test_matrices_travel():
    made = matrix_of([[P, X], [1, 0]])
    assert pickle.loads(pickle.dumps(made)) == made
    assert hash(pickle.loads(pickle.dumps(made))) == hash(made)


def test_entries_whose_letters_cancel_are_numbers():
    a = sympy.Symbol("a", positive=True)
    entries = [[sympy.Add(a, -a, evaluate=False), sympy.Pow(a, 0, evaluate=False)]]
    made = matrix_of(entries)
    assert type(made) is Matrix
    assert made == Matrix([[0, 1]])
