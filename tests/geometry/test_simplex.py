"""Gordan's alternative by the exact simplex and by the float proposal: both right, agreeing, and silent."""

import random
from math import gcd

import pytest
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry import simplex
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import vector
from semialg_fibers.geometry.simplex import Combination, Functional, propose, solve


@st.composite
def columns(draw, least=1):
    """Nonzero primitive columns of one height with independent rows; small entries, so that ties are common."""
    height = draw(st.integers(1, 4))
    entries = draw(st.sampled_from([st.integers(-1, 1), st.integers(-3, 3), st.integers(-(10**12), 10**12)]))
    lines = draw(st.lists(st.lists(entries, min_size=height, max_size=height).filter(any), min_size=least, max_size=9))
    kind = draw(st.sampled_from(["free", "turned", "repeated"]))
    if kind == "turned":  # into a half space, so that pointed cones are common
        lines = [[(1 if line[0] > 0 else -1) * value for value in line] for line in lines]
    elif kind == "repeated":
        lines += lines
    rows = Matrix.from_columns(lines, height).independent_rows()
    lines = [tuple(line[i] for i in rows) for line in lines]
    return [tuple(value // gcd(*line) for value in line) for line in lines]


def holds(answer, given_columns):
    """The alternative that was answered, by its definition."""
    if isinstance(answer, Functional):
        return all(sum(a * b for a, b in zip(answer.values, line, strict=True)) > 0 for line in given_columns)
    sums = [
        sum(a * line[i] for a, line in zip(answer.values, given_columns, strict=True))
        for i in range(len(given_columns[0]))
    ]
    return min(answer.values) >= 0 and max(answer.values) > 0 and not any(sums)


DEGENERATE = [
    [(1,)],
    [(1,), (-1,)],
    [(1,), (1,), (1,)],
    [(1, 0), (-1, 0), (0, 1)],  # λ is not positive everywhere
    [(1, 0), (0, 1), (-1, -1)] * 3,  # every vertex many times
    [(1, 1), (1, -1), (1, 0)] * 2,
    # all columns on one hyperplane that the functional must tilt: every ratio of the first pivots is zero
    [(1, 0, 0), (-1, 0, 1), (0, 1, 0), (0, -1, 1)],
    [tuple(int(i == j) - int(i == k) for i in range(4)) for j in range(5) for k in range(5) if j != k],  # roots of A4
]


@settings(max_examples=300, deadline=None)
@given(columns())
def test_the_exact_simplex_answers_with_a_true_alternative(given_columns):
    assert holds(solve(given_columns, 10_000), given_columns)


@settings(max_examples=100, deadline=None)
@given(columns())
def test_a_proposal_is_true_and_agrees_with_the_exact_simplex(given_columns):
    proposed = propose(given_columns)
    if proposed is not None:
        assert holds(proposed, given_columns)
        assert type(proposed) is type(solve(given_columns, 10_000))  # exactly one alternative is true


@pytest.mark.parametrize("given_columns", DEGENERATE, ids=str)
def test_degenerate_columns(given_columns):
    answer = solve(given_columns, 100)
    assert holds(answer, given_columns)
    proposed = propose(given_columns)
    assert proposed is None or (holds(proposed, given_columns) and type(proposed) is type(answer))


def random_columns(seed, pointed, height=12, count=60):
    rng = random.Random(seed)
    made = [tuple(rng.randint(-50, 50) for _ in range(height)) for _ in range(count)]
    if pointed:
        y = [rng.randint(-9, 9) for _ in range(height)]
        products = [sum(a * b for a, b in zip(y, line, strict=True)) for line in made]
        made = [
            line if product > 0 else tuple(-value for value in line)
            for line, product in zip(made, products, strict=True)
            if product
        ]
    return [tuple(value // gcd(*line) for value in line) for line in made]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("pointed", [True, False])
def test_the_float_program_decides_cones_that_are_not_thin(seed, pointed):
    """Sixty random columns in dimension 12 positively span the space except with probability 10^-9 (Wendel 1962)."""
    given_columns = random_columns(seed, pointed)
    proposed = propose(given_columns)
    assert isinstance(proposed, Functional if pointed else Combination)
    assert holds(proposed, given_columns)
    assert isinstance(solve(given_columns, 1000), type(proposed))


@pytest.mark.parametrize("pointed", [True, False])
def test_nothing_is_printed(pointed, capfd):
    assert propose(random_columns(0, pointed)) is not None
    assert capfd.readouterr() == ("", "")


def test_a_functional_that_is_zero_somewhere_does_not_hold():
    lines = [(1, 0), (1, 1)]
    assert Functional(vector([1, 0])).holds(lines)
    assert Functional(vector(["1/3", "-1/4"])).holds(lines)
    assert not Functional(vector([0, 1])).holds(lines)
    assert not Functional(vector([1, -2])).holds(lines)


def test_a_wrong_float_program_is_not_believed(monkeypatch):
    """Whatever the program says, nothing that fails its exact check comes out."""

    class Lying:
        def __init__(self, given_columns, residuals):
            self.step, self.support = (fmpq(-1), fmpq(-1)), [0, 1, 2]

    monkeypatch.setattr(simplex, "_Program", Lying)
    assert propose([(1, 0), (0, 1), (-1, 1)]) is None  # λ = (1, −1, 1), and ±y fail too
    monkeypatch.setattr(Lying, "__init__", lambda self, *_: self.__dict__.update(step=None, support=[]))
    assert propose([(1, 0), (0, 1)]) is None


def within(given_columns, budget):
    try:
        return solve(given_columns, budget)
    except BudgetExceededError:
        return None


@settings(max_examples=50, deadline=None)
@given(columns(least=3))
@example([(1, 0), (0, 1), (-1, -1)])
def test_some_number_of_pivots_suffices_and_more_change_nothing(given_columns):
    answers = [within(given_columns, budget) for budget in range(30)]
    enough = next(budget for budget, answer in enumerate(answers) if answer is not None)
    assert enough >= 1
    assert answers[enough:] == [solve(given_columns, 10_000)] * (30 - enough)


def test_a_budget_that_ends_says_so():
    with pytest.raises(BudgetExceededError, match="not decided within 2 pivots"):
        solve([(1, 0), (0, 1), (-1, -1)], 2)
