"""Columns that sum to a target: each of the three methods against all subsets, and the lattice proof against them."""

import random
from fractions import Fraction
from itertools import islice, product

import pytest
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry import subset_sum
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import fraction, vector
from semialg_fibers.geometry.subset_sum import zero_one_solutions

LIMITS = ("FREE_LIMIT", "MIDDLE_LIMIT", "LATTICE_LIMIT")
METHODS = {"free coordinates": (99, 99, 99), "meeting": (-1, 99, 99), "lattice": (-1, -1, 99)}


def all_subsets(matrix, target):
    """Every subset, summed over Fractions."""
    columns = [[fraction(value) for value in column] for column in matrix.columns()]
    goal = [fraction(value) for value in target]
    found = []
    for bits in product((0, 1), repeat=len(columns)):
        chosen = [j for j, bit in enumerate(bits) if bit]
        if [sum(columns[j][i] for j in chosen) for i in range(len(goal))] == goal:
            found.append(tuple(chosen))
    return sorted(found)


def solutions(method, matrix, target):
    with pytest.MonkeyPatch.context() as patch:
        for name, limit in zip(LIMITS, METHODS[method], strict=True):
            patch.setattr(subset_sum, name, limit)
        return list(zero_one_solutions(matrix, target))


ENTRIES = st.sampled_from(
    [st.integers(-2, 2), st.integers(-9, 9), st.sampled_from([0, Fraction(1, 2), Fraction(-2, 3), 1])]
)


@st.composite
def systems(draw):
    """A matrix and a target, which often is a sum of columns, zero, or off by little."""
    m, n = draw(st.integers(0, 3)), draw(st.integers(0, 9))
    entries = draw(ENTRIES)
    matrix = Matrix(draw(st.lists(st.lists(entries, min_size=n, max_size=n), min_size=m, max_size=m)), columns=n)
    kind = draw(st.sampled_from(["sum", "zero", "any"]))
    if kind == "zero":
        return matrix, (fmpq(0),) * m
    if kind == "sum":
        return matrix, matrix.times(vector(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))))
    return matrix, vector(draw(st.lists(entries, min_size=m, max_size=m)))


@pytest.mark.parametrize("method", ["free coordinates", "meeting"])
@settings(max_examples=150, deadline=None)
@given(systems())
@example((Matrix([]), ()))  # the empty sum
@example((Matrix([[], []]), vector([0, 0])))
@example((Matrix([[], []]), vector([0, 1])))  # no columns, a target
@example((Matrix([], columns=3), ()))  # no row: every subset
@example((Matrix([[0, 0, 0]]), vector([0])))  # no pivot: every subset
@example((Matrix([[0, 0, 0]]), vector([1])))
@example((Matrix([[1, 1, 1], [2, 2, 2]]), vector([1, 3])))  # contradictory
@example((Matrix([[2**61 - 1, 1], [0, 1]]), vector([0, 0])))  # a column that vanishes modulo the prime of the meeting
@example((Matrix([[2**61, -1, 3]]), vector([1])))  # 2^61 ≡ 1: a match that is none
def test_each_search_finds_exactly_the_subsets(method, system):
    matrix, target = system
    found = solutions(method, matrix, target)
    assert len(set(found)) == len(found)
    assert sorted(found) == all_subsets(matrix, target)


def attempt(matrix, target):
    """What the lattice method yields, and whether it then proved that there is no more."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for name, limit in zip(LIMITS, METHODS["lattice"], strict=True):
            patch.setattr(subset_sum, name, limit)
        try:
            for chosen in zero_one_solutions(matrix, target):
                found.append(chosen)
        except BudgetExceededError:
            return found, False
    return found, True


@settings(max_examples=300, deadline=None)
@given(systems())
@example((Matrix([[1, 2, 4]]), vector([8])))
@example((Matrix([[1, 1]]), vector([0])))  # the kernel is spanned by (1, −1), no longer than (1, 1): no proof
@example((Matrix([[1, 10, 100]]), vector([0])))
@example((Matrix([[1, -1]]), vector([0])))  # a subset of all columns is as long as a subset can be
@example((Matrix([[1]]), vector([1])))
@example((Matrix([[3, 0], [0, 3]]), vector([0, 0])))  # no kernel at all
def test_the_lattice_proves_only_what_is_true(system):
    """The empty sum is the only subset that the lattice method may know; a proof says that there is no other."""
    matrix, target = system
    found, proved = attempt(matrix, target)
    assert found == ([] if any(target) else [()])
    if proved:
        assert all_subsets(matrix, target) == found


def huge(count, bits, rows=2, seed=0):
    rng = random.Random(seed)
    return Matrix([[rng.randint(-(2**bits), 2**bits) for _ in range(count)] for _ in range(rows)])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rows", [1, 2])
def test_the_lattice_decides_eight_columns_of_large_numbers(seed, rows):
    """The kernel is a lattice of determinant about 2^100, so that by its size it has no vector of length 3."""
    matrix = huge(8, 100 // rows, rows, seed)
    zero, one, planted = (vector([0] * rows), vector([1] * rows), matrix.times(vector([1, 0, 0, 1, 1, 0, 1, 0])))
    for target, known in ((zero, [()]), (one, [])):
        assert attempt(matrix, target) == (known, True)
        assert all_subsets(matrix, target) == known
    assert all_subsets(matrix, planted) == [(0, 3, 4, 6)]
    assert attempt(matrix, planted) == ([], False)


@pytest.mark.parametrize("target", [[0, 0], [1, 0]])
def test_forty_columns_of_large_numbers_have_only_the_empty_sum(target):
    """2^40 subsets, 2^600 possible sums; beyond the searches, so that this is the lattice's proof."""
    assert list(zero_one_solutions(huge(40, 300), vector(target))) == ([] if any(target) else [()])


def test_a_planted_sum_among_forty_columns_is_not_denied():
    matrix = huge(40, 300)
    planted = matrix.times(vector([1] * 7 + [0] * 33))
    with pytest.raises(BudgetExceededError):
        list(zero_one_solutions(matrix, planted))
    closed = matrix.with_column([-value for value in planted])
    with pytest.raises(BudgetExceededError):
        list(zero_one_solutions(closed, vector([0, 0])))


def test_beyond_the_limits_nothing_is_claimed():
    small, long = Matrix([[1, -2] * 20]), huge(101, 10)
    for matrix, nullity in ((small, 39), (long, 99)):
        found = zero_one_solutions(matrix, (fmpq(0),) * matrix.shape[0])
        assert next(found) == ()
        with pytest.raises(BudgetExceededError, match=f"{matrix.shape[1]} rows with a kernel of dimension {nullity} "):
            next(found)


@pytest.mark.parametrize("count", [20, 36])
def test_the_meeting_finds_a_planted_sum_among_many_columns(count):
    """Up to 2^36 subsets; the numbers have thirty digits, so that no other sum is expected."""
    matrix = huge(count, 100, seed=count)
    chosen = tuple(range(1, count, 3))
    target = matrix.times(vector([int(j in chosen) for j in range(count)]))
    assert list(zero_one_solutions(matrix, target)) == [chosen]


def test_many_solutions_come_one_by_one():
    """Opposite columns: of 2^18 solutions only a few are made."""
    matrix = Matrix([[1, -1] * 15])
    some = list(islice(zero_one_solutions(matrix, vector([0])), 50))
    assert len(set(some)) == 50
    assert all(not any(matrix.times(vector([int(j in chosen) for j in range(30)]))) for chosen in some)
