"""Pointed cones and the nonnegative column rank, against circuits, pairs of rays, and certificates on every input."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import pytest
import sympy
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import BudgetExceededError, InexactInputError, InvalidNetworkError, UndecidedSignError
from semialg_fibers.geometry import cone, simplex
from semialg_fibers.geometry.cone import (
    NonnegativeFactorization,
    NotPointed,
    Pointed,
    can_move_inwards,
    decide_pointed,
    nonnegative_column_rank,
    strictly_feasible,
)
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import dot, fraction, vector
from semialg_fibers.geometry.symbolic_matrix import matrix_of

ENTRIES = st.integers(-3, 3) | st.sampled_from([0, Fraction(1, 2), Fraction(-7, 3), 10**25, -(10**25) - 1])


@st.composite
def matrices(draw, most_rows=4, most_columns=6, entries=ENTRIES):
    """Free matrices, matrices of low rank, and matrices with a column in the negative of the cone of the others."""
    m, n = draw(st.integers(0, most_rows)), draw(st.integers(0, most_columns))
    made = Matrix(draw(st.lists(st.lists(entries, min_size=n, max_size=n), min_size=m, max_size=m)), columns=n)
    kind = draw(st.sampled_from(["free", "low", "opposite", "zero columns"]))
    if kind == "low" and m:
        inner = draw(st.integers(1, 2))
        numbers = st.lists(st.integers(-2, 2), min_size=inner, max_size=inner)
        left = Matrix(draw(st.lists(numbers, min_size=m, max_size=m)), columns=inner)
        made = left @ Matrix([made.row(i % m) for i in range(inner)], columns=n)
    elif kind == "opposite" and n:
        weights = vector(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
        made = made.with_column([-value for value in made.times(weights)])
    elif kind == "zero columns" and m:
        made = made.with_column([fmpq(0)] * m)
    return made


# the oracle: circuits, over Fractions


def kernel_line(columns):
    """The solution of Σ λ_i c_i = 0, up to a factor, when it is one line; else None. Gauss–Jordan elimination."""
    rows, pivots = [list(row) for row in zip(*columns, strict=True)], {}
    for j in range(len(columns)):
        found = next((i for i in range(len(rows)) if rows[i][j] and i not in pivots.values()), None)
        if found is None:
            continue
        rows[found] = [value / rows[found][j] for value in rows[found]]
        for i in range(len(rows)):
            if i != found:
                rows[i] = [a - rows[i][j] * b for a, b in zip(rows[i], rows[found], strict=True)]
        pivots[j] = found
    free = [j for j in range(len(columns)) if j not in pivots]
    if len(free) != 1:
        return None
    return [Fraction(1) if j == free[0] else -rows[pivots[j]][free[0]] for j in range(len(columns))]


def is_pointed_by_circuits(matrix):
    """Not pointed iff Σ λ_i c_i = 0 with λ ≥ 0, λ ≠ 0, nonzero columns; a solution of least support is alone on it."""
    columns = [[fraction(value) for value in column] for column in matrix.columns() if any(column)]
    for size in range(2, min(len(columns), matrix.shape[0] + 1) + 1):
        for chosen in combinations(columns, size):
            line = kernel_line(chosen)
            if line and (all(value > 0 for value in line) or all(value < 0 for value in line)):
                return False
    return True


def is_certificate(answer):
    """The definition, entry by entry, over Fractions."""
    columns = [[fraction(value) for value in column] for column in answer.matrix.columns()]
    if isinstance(answer, Pointed):
        y = [fraction(value) for value in answer.functional]
        return all(sum(a * b for a, b in zip(y, column, strict=True)) > 0 for column in columns if any(column))
    weights = [fraction(value) for value in answer.combination]
    sums = [
        sum(w * column[i] for w, column in zip(weights, columns, strict=True)) for i in range(answer.matrix.shape[0])
    ]
    used = any(w and any(column) for w, column in zip(weights, columns, strict=True))
    return min(weights) >= 0 and not any(sums) and used


@settings(max_examples=400, deadline=None)
@given(matrices())
@example(Matrix([]))  # no columns: the cone {0} is pointed
@example(Matrix([], columns=3))  # columns without entries are zero
@example(Matrix([[0, 0], [0, 0]]))
@example(Matrix([[1, -1]]))
@example(Matrix([[1, -1, 0, 0], [0, 0, 1, 1]]))  # a line and a ray beside it
@example(Matrix([[2, -3], [4, -6]]))  # opposite columns of different lengths, dependent rows
def test_pointedness_is_decided_as_by_circuits_and_certified(matrix):
    answer = decide_pointed(matrix)
    assert answer.matrix == matrix
    assert answer.check()
    assert is_certificate(answer)
    assert isinstance(answer, Pointed) == is_pointed_by_circuits(matrix)


@settings(max_examples=200, deadline=None)
@given(matrices(entries=st.integers(-2, 2)), st.data())
def test_check_accepts_exactly_the_certificates(matrix, data):
    m, n = matrix.shape
    y = vector(data.draw(st.lists(st.integers(-3, 3), min_size=m, max_size=m)))
    weights = vector(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    for proposed in (Pointed(matrix, y), NotPointed(matrix, weights)):
        if n:
            assert proposed.check() == is_certificate(proposed)


@settings(max_examples=200, deadline=None)
@given(matrices())
def test_a_spoilt_certificate_is_rejected(matrix):
    answer = decide_pointed(matrix)
    if matrix.is_zero():
        return  # every vector is a functional there
    if isinstance(answer, Pointed):
        assert not Pointed(matrix, tuple(-value for value in answer.functional)).check()
        assert not Pointed(matrix, (fmpq(0),) * len(answer.functional)).check()
        assert not Pointed(matrix, (*answer.functional, fmpq(1))).check()
    else:
        used = next(i for i, value in enumerate(answer.combination) if value and any(matrix.column(i)))
        for at in (fmpq(0), -answer.combination[used], 2 * answer.combination[used]):
            changed = tuple(at if i == used else value for i, value in enumerate(answer.combination))
            assert not NotPointed(matrix, changed).check()
        assert not NotPointed(matrix, answer.combination[:-1]).check()
        assert not NotPointed(matrix, (fmpq(0),) * len(answer.combination)).check()


def test_a_combination_of_zero_columns_shows_nothing():
    assert not NotPointed(Matrix([[0, 1]]), vector([1, 0])).check()


WRONG_COMBINATIONS = [
    ([[1, 2, 0], [0, 0, 1]], [2, -1, 0]),  # M λ = 0 with a negative weight
    ([[1, -1], [1, 0]], [1, 1]),  # M λ = (0, 1)
    ([[1, -1], [0, 0]], [1, 1, 0]),  # of another length
    ([[0, 1], [0, 0]], [1, 0]),  # of zero columns
    ([[1, -1]], [0, 0]),
]


@pytest.mark.parametrize(("rows", "weights"), WRONG_COMBINATIONS)
def test_wrong_combinations_are_rejected_each_for_one_reason(rows, weights):
    assert NotPointed(Matrix(rows), vector(weights)).check() is False


WRONG_FUNCTIONALS = [
    ([[1, 0], [0, 1]], [1, 0]),  # zero on a column
    ([[1, 0], [0, 1]], [1, -1]),
    ([[1, 0], [0, 0]], [1]),  # of another length
    ([[1, 0], [0, 0]], [1, 0, 0]),
]


@pytest.mark.parametrize(("rows", "functional"), WRONG_FUNCTIONALS)
def test_wrong_functionals_are_rejected_each_for_one_reason(rows, functional):
    assert Pointed(Matrix(rows), vector(functional)).check() is False


# nonnegative column rank


def assert_factors(answer, matrix):
    assert answer.matrix == answer.certificate.matrix == matrix
    assert answer.check()
    assert answer.left_factor.shape == (matrix.shape[0], answer.rank)
    assert answer.right_factor.shape == (answer.rank, matrix.shape[1])
    assert all(value >= 0 for row in answer.right_factor.rows() for value in row)
    left, right = answer.left_factor, answer.right_factor
    for j, column in enumerate(matrix.columns()):
        assert tuple(dot(row, right.column(j)) for row in left.rows()) == column
    if 0 not in (*matrix.shape, answer.rank):
        assert answer.left * answer.right == matrix.to_sympy()


@settings(max_examples=200, deadline=None)
@given(matrices())
@example(Matrix([]))
@example(Matrix([], columns=2))
@example(Matrix([[], []]))
@example(Matrix([[0], [0]]))
@example(Matrix([[1, 0], [-1, 1]]))  # t = 0 would do for its coordinates
def test_a_factorization_has_the_rank_or_one_more(matrix):
    answer = nonnegative_column_rank(matrix)
    assert_factors(answer, matrix)
    assert answer.rank == matrix.rank() + (not is_pointed_by_circuits(matrix))


@settings(max_examples=200, deadline=None)
@given(matrices(entries=st.integers(-3, 3)))
def test_rank_one_and_two_are_least_by_inspection(matrix):
    """M = C'B' with rank M columns in C' puts the columns of M into a simplicial cone of their span.

    On a line that is a ray; in a plane a cone is enclosed iff two of its own columns already generate it (or one ray).
    """
    rho = matrix.rank()
    columns = [column for column in matrix.columns() if any(column)]
    if rho == 1:
        base = columns[0]
        fits = all(dot(base, column) > 0 for column in columns)
    elif rho == 2:
        fits = any(all(in_sector(a, b, column) for column in columns) for a, b in combinations(columns, 2))
    else:
        return
    assert nonnegative_column_rank(matrix).rank == rho + (not fits)


def in_sector(a, b, c):
    """Whether c = λa + μb with λ, μ ≥ 0, for independent a, b: Cramer's rule in two coordinates that tell a from b."""
    for i, k in combinations(range(len(a)), 2):
        determinant = a[i] * b[k] - a[k] * b[i]
        if determinant:
            share_a = (c[i] * b[k] - c[k] * b[i]) / determinant
            share_b = (a[i] * c[k] - a[k] * c[i]) / determinant
            return min(share_a, share_b) >= 0 and all(
                share_a * x + share_b * y == z for x, y, z in zip(a, b, c, strict=True)
            )
    return False


KNOWN = [
    ([[0, 0], [0, 0]], 0),
    ([[5]], 1),
    ([[-5]], 1),  # C' may have any sign
    ([[1, 2, 0]], 1),
    ([[1, -1]], 2),  # a line with both signs
    ([[1, -1, 0, 3], [-2, 2, 0, -6]], 2),
    ([[1, 0], [0, 1]], 2),
    ([[1, 2], [3, 4], [5, 6]], 2),  # p independent columns
    ([[1, -1, 0], [0, 0, 1]], 3),  # a half plane is not pointed
    ([[1, 0, -1], [0, 1, -1]], 3),  # the whole plane
    ([[1, 0, -1, 0], [0, 1, 0, -1]], 3),  # the whole plane again: three generators, not four
    ([[1, 1, -1, -1], [1, -1, 1, -1], [1, 1, 1, 1]], 3),  # over a square: the nonnegative rank of such cones is 4
    ([[1, 0, 0, -1], [0, 1, 0, -1], [0, 0, 1, -1]], 4),
    ([["1/3", "-2/3"], ["1/7", "-2/7"]], 2),
    ([[1, 0, 0, 0], [0, 1, 0, -1], [0, 0, 1, 2]], 3),  # negative coordinates beside one that is zero
    # every functional is nearly (1, 1, 1), so that coordinates of −9 are far outside the cone of the basis
    ([[1, 0, 0, -9, 5, 5], [0, 1, 0, 5, -9, 5], [0, 0, 1, 5, 5, -9]], 3),
]


@pytest.mark.parametrize(("rows", "rank"), KNOWN)
def test_known_values(rows, rank):
    """By hand from theory §2.4."""
    answer = nonnegative_column_rank(rows)
    assert answer.rank == rank
    assert_factors(answer, Matrix(rows))


def test_independent_columns_need_no_cone():
    """p independent columns: the rank is p, the largest there is with p columns."""
    for p in range(1, 6):
        columns = [[(-1) ** i * (i + 2) ** k for k in range(p + 1)] for i in range(p)]  # Vandermonde
        assert nonnegative_column_rank(Matrix.from_columns(columns, p + 1)).rank == p


def test_wrong_factorizations_are_rejected():
    ray, line = Matrix([[1, 2]]), Matrix([[1, -1]])
    right = nonnegative_column_rank(ray)
    assert right.check()
    wrong = [
        replace(right, left_factor=Matrix([[2]])),  # another product
        replace(right, left_factor=Matrix([[-1]]), right_factor=Matrix([[-1, -2]])),  # a negative right factor
        # the same with entries above −1, whose row becomes (−1, −2) or (−1, 0) in integers
        replace(right, left_factor=Matrix([[-2]]), right_factor=Matrix([["-1/2", -1]])),
        replace(nonnegative_column_rank([[1, 0]]), left_factor=Matrix([[-1]]), right_factor=Matrix([[-1, 0]])),
        replace(right, left_factor=Matrix([[1, 0]]), right_factor=Matrix([[1, 2], [0, 0]])),  # not the least size
        replace(right, left_factor=Matrix([[1, 0]])),  # factors that do not fit
        replace(right, certificate=Pointed(ray, vector([-1]))),
        # a size that only another matrix's certificate would allow
        NonnegativeFactorization(ray, Matrix([[1, -1]]), Matrix([[1, 2], [0, 0]]), decide_pointed(line)),
    ]
    assert [each.check() for each in wrong] == [False] * len(wrong)


def test_input_that_is_no_matrix_is_refused():
    with pytest.raises(InexactInputError):
        nonnegative_column_rank([[0.5]])
    with pytest.raises(InvalidNetworkError, match="ragged"):
        nonnegative_column_rank([[1], [1, 2]])


# strict inequalities


@settings(max_examples=200, deadline=None)
@given(matrices(most_rows=3))
@example(Matrix([[0, 1]]))  # 0 > 0 has no solution, though the cone is pointed
@example(Matrix([[], []]))  # no inequality: every y
def test_strict_feasibility_is_pointedness_without_zero_forms(matrix):
    forms = matrix.columns()
    found = strictly_feasible(forms, matrix.shape[0])
    if found is None:
        assert not all(any(form) for form in forms) or not is_pointed_by_circuits(matrix)
    else:
        assert all(dot(form, found) > 0 for form in forms)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_zeros_can_be_raised_as_theory_says(data):
    """C δB = −δC B with δB > 0 at the zeros of B ≥ 0, where q, p, m differ so that no index is taken for another.

    δB = JB and δC = −CJ with J = (1) raise all entries of nonzero columns. A zero column needs δB_i in the kernel of
    C, and all its entries positive: for C of rank 1, iff a row of C is zero or has both signs. Where C is injective
    zero columns need not be raised.
    """
    q, p, m = (data.draw(st.integers(1, most)) for most in (3, 4, 2))
    small = st.integers(0, 2)
    b = data.draw(st.lists(st.lists(small, min_size=p, max_size=p), min_size=q, max_size=q))
    row = data.draw(st.lists(st.integers(-1, 1), min_size=q, max_size=q))
    c = [[factor * value for value in row] for factor in range(1, m + 1)]
    injective = q == 1 and any(row)
    has_zero_column = any(not any(column) for column in zip(*b, strict=True))
    expected = injective or not has_zero_column or not any(row) or min(row) < 0 < max(row)
    assert can_move_inwards(Matrix(b), Matrix(c)) is expected


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_zeros_can_be_raised_iff_the_linear_equations_say_so(data):
    """The definition: unknowns δB and δC, one equation for each entry of C δB + δC B, every zero of B raised."""
    q, p, m = (data.draw(st.integers(1, most)) for most in (3, 3, 2))
    b = Matrix(data.draw(st.lists(st.lists(st.integers(0, 1), min_size=p, max_size=p), min_size=q, max_size=q)))
    c = Matrix(data.draw(st.lists(st.lists(st.integers(-2, 2), min_size=q, max_size=q), min_size=m, max_size=m)))
    equations = []
    for a, i in product(range(m), range(p)):
        incoming = [c[a, j] if i == column else fmpq(0) for j, column in product(range(q), range(p))]
        outgoing = [b[j, i] if a == row else fmpq(0) for row, j in product(range(m), range(q))]
        equations.append([*incoming, *outgoing])
    moves = Matrix(equations).kernel()
    stay = {i for i in range(p) if c.rank() == q and not any(b.column(i))}
    zeros = [j * p + i for j, i in product(range(q), range(p)) if i not in stay and not b[j, i]]
    raised = strictly_feasible([moves.column(place) for place in zeros], moves.shape[0]) is not None
    assert can_move_inwards(b, c) is raised


def test_a_column_whose_letters_may_all_be_zero_leaves_it_open():
    x, y = sympy.symbols("x y", nonnegative=True)
    positive = sympy.Symbol("p", positive=True)
    with pytest.raises(UndecidedSignError):
        can_move_inwards(matrix_of([[x, 1], [y, 1]]), Matrix([[1, 1]]))
    assert can_move_inwards(matrix_of([[positive, 1], [0, 1]]), Matrix([[1, 1]])) is True
    assert can_move_inwards(matrix_of([[x, 1], [y, 1]]), Matrix([[1, 1], [1, 2]])) is True  # C is injective


# thin cones: 10 × 200, decided by the float program, by its refinement, or by the exact simplex


def thin(digits, pointed, seed=0, rows=10, columns=200):
    """Columns whose functional y is determined to about 10^(−digits): 0 < y·c ≤ 10^(−digits) |c| for each.

    y is random with `digits` digits, and the last entry of a column is rounded so that y·c > 0 is as small as it can
    be. Not pointed: the last column is minus a positive combination of ten others.
    """
    rng, scale = random.Random(seed), 10**digits
    y = [rng.randint(-scale, scale) for _ in range(rows - 1)]
    made = []
    for _ in range(columns):
        column = [rng.randint(-scale, scale) for _ in y]
        product = sum(a * b for a, b in zip(y, column, strict=True))
        made.append([*column, -product // scale + 1])
    if not pointed:
        some = [(rng.randint(1, 9), made[i]) for i in rng.sample(range(columns - 1), rows)]
        made[-1] = [-sum(weight * column[i] for weight, column in some) for i in range(rows)]
    return made


def wedge(digits, pointed, seed=0, rows=10, columns=200):
    """Pairs (±c, 1, 2 or 3 parts of 10^digits), for which only y near the last axis is positive; then sheared."""
    rng, scale = random.Random(seed), 10**digits
    made = []
    for _ in range(columns // 2):
        column = [rng.randint(-9, 9) * scale for _ in range(rows - 1)]
        made += [[*column, rng.randint(1, 3)], [*(-value for value in column), rng.randint(1, 3)]]
    if not pointed:
        some = [(rng.randint(1, 9), made[i]) for i in rng.sample(range(columns - 1), rows)]
        made[-1] = [-sum(weight * column[i] for weight, column in some) for i in range(rows)]
    shear = [[int(i == j) if j >= i else rng.randint(-3, 3) for j in range(rows)] for i in range(rows)]
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for row in shear] for column in made]


def counted(monkeypatch, name):
    calls = []
    before = getattr(simplex, name)

    def spy(*arguments):
        answer = before(*arguments)
        calls.append(answer)
        return answer

    monkeypatch.setattr(cone.simplex, name, spy)
    return calls


@pytest.mark.parametrize("family", [thin, wedge])
@pytest.mark.parametrize("digits", [0, 3, 8, 20, 60])
@pytest.mark.parametrize("pointed", [True, False])
@pytest.mark.parametrize("exact_only", [False, True])
def test_thin_cones(family, digits, pointed, exact_only, monkeypatch):
    matrix = Matrix.from_columns(family(digits, pointed), 10)
    if exact_only:
        monkeypatch.setattr(simplex, "SMALL", 10**9)
    proposals, solved = counted(monkeypatch, "propose"), counted(monkeypatch, "solve")
    answer = decide_pointed(matrix)
    assert isinstance(answer, Pointed if pointed else NotPointed)
    assert answer.check()
    assert is_certificate(answer)
    if exact_only:
        assert (len(proposals), len(solved)) == (0, 1)
    else:
        assert len(proposals) == 1
        assert len(solved) == (proposals[0] is None)


def test_a_functional_of_sixty_digits_is_proposed_by_refinement(monkeypatch):
    """The float program alone gives sixteen digits."""
    monkeypatch.setattr(simplex, "solve", None)
    answer = decide_pointed(Matrix.from_columns(thin(60, True), 10))
    assert answer.check()
    assert max(int(value.q) for value in answer.functional) > 2**128


@pytest.mark.parametrize("pointed", [True, False])
def test_numbers_beyond_every_float(pointed):
    """Residuals scaled by 10^400 fit into no float."""
    scale = 10**400
    columns = [[scale, -1], [-scale, 2], *([k, 1] for k in range(-100, 100))]
    if not pointed:
        columns.append([-1, -1])
    answer = decide_pointed(Matrix.from_columns(columns, 2))
    assert isinstance(answer, Pointed if pointed else NotPointed)
    assert is_certificate(answer)


def test_a_budget_that_ends_claims_nothing():
    hard = Matrix.from_columns(wedge(20, True), 10)
    with pytest.raises(BudgetExceededError, match="within 1 pivots"):
        decide_pointed(hard, budget=1)
    with pytest.raises(BudgetExceededError, match="within 1 pivots"):
        strictly_feasible(hard.columns(), 10, budget=1)
    assert decide_pointed(hard).check()
