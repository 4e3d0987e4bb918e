"""Problems for SMT solvers against elimination over all sign patterns; exact answers, refusals, a solver that lies.

A test that asks a solver is skipped where that solver is not installed; nothing else is.
"""

import re
import sys
from fractions import Fraction
from importlib.util import find_spec
from itertools import product

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import BudgetExceededError, CertificateRejected, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry import smt
from semialg_fibers.geometry.scalar import ONE, ZERO, exact
from semialg_fibers.geometry.smt import Affine, Problem, solve, to_smtlib

INSTALL = "pip install 'semialg-fibers[smt]'"
with_each_solver = pytest.mark.parametrize(
    "solver",
    [
        pytest.param(name, marks=pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is missing: {INSTALL}"))
        for name in ("z3", "cvc5")
    ],
)


@st.composite
def forms(draw, size):
    """A sparse affine form of the first `size` variables."""
    entry = st.sampled_from([-3, -2, -1, 0, 0, 1, 2, "1/3", "-5/2"]).map(exact)
    return Affine({i: draw(entry) for i in range(size)}, draw(entry))


@st.composite
def problems(draw):
    dimension, count = draw(st.integers(1, 2)), draw(st.integers(0, 3))
    total = dimension + count
    return Problem(
        dimension,
        tuple(draw(forms(dimension + k)) for k in range(count)),
        tuple(draw(st.lists(forms(total), max_size=3))),
        tuple(draw(st.lists(forms(total), max_size=2))),
    )


def by_definition(problem, point):
    """Whether the point solves the problem, in Fractions."""

    def value(form):
        return sum((Fraction(str(c)) * values[i] for i, c in form.terms), Fraction(str(form.constant)))

    values = [Fraction(str(x)) for x in point]
    for form in problem.relus:
        values.append(max(Fraction(0), value(form)))
    return all(value(form) >= 0 for form in problem.nonnegative) and any(value(form) != 0 for form in problem.nonzero)


def has_solution(problem):
    """Elimination for each pattern of active relus, each nonzero form and each of its two signs."""
    for active in product((0, 1), repeat=len(problem.relus)):
        rows = [[Fraction(int(i == j)) for j in range(problem.dimension + 1)] for i in range(problem.dimension)]

        def on_inputs(form, rows=rows):
            total = [Fraction(0)] * problem.dimension + [Fraction(str(form.constant))]
            for i, c in form.terms:
                total = [t + Fraction(str(c)) * x for t, x in zip(total, rows[i], strict=True)]
            return total

        known = []
        for bit, form in zip(active, problem.relus, strict=True):
            row = on_inputs(form)
            known.append(([x if bit else -x for x in row], False))
            rows.append(row if bit else [Fraction(0)] * len(row))
        known += [(on_inputs(form), False) for form in problem.nonnegative]
        for form in problem.nonzero:
            row = on_inputs(form)
            if any(is_feasible([*known, ([sign * x for x in row], True)], problem.dimension) for sign in (1, -1)):
                return True
    return False


def is_feasible(rows, dimension):
    """Fourier–Motzkin for rows (w, γ) with w·x + γ ≥ 0, or > 0 where the flag says strict."""
    if dimension == 0:
        return all(row[-1] > 0 or (row[-1] == 0 and not strict) for row, strict in rows)
    last = dimension - 1
    left = [(row, strict) for row, strict in rows if row[last] == 0]
    for up, strictly in rows:
        for down, strict in rows:
            if up[last] > 0 > down[last]:
                row = [a * up[last] - b * down[last] for a, b in zip(down, up, strict=True)]
                left.append((row, strictly or strict))
    return is_feasible([([*row[:last], row[-1]], strict) for row, strict in left], last)


@with_each_solver
@settings(max_examples=100)
@given(problem=problems())
def test_a_point_is_found_exactly_when_elimination_says_that_there_is_one(solver, problem):
    point = solve(problem, solver)
    assert (point is not None) == has_solution(problem)
    assert point is None or by_definition(problem, point)


@given(st.data())
def test_holds_is_the_definition(data):
    problem = data.draw(problems())
    coordinate = st.fractions(min_value=-3, max_value=3, max_denominator=3)
    point = [exact(data.draw(coordinate)) for _ in range(problem.dimension)]
    assert problem.holds(point) == by_definition(problem, point)


@with_each_solver
@pytest.mark.parametrize(
    "value",
    [fmpq(0), fmpq(7), fmpq(-7), fmpq(1, 3), fmpq(-22, 7), fmpq(10) ** 5000 + fmpq(1, 3) ** 3000],
    ids=lambda value: f"{len(str(value))} characters",
)
def test_a_number_comes_back_as_it_is(solver, value):
    """Also one of more digits than Python turns into text."""
    pinned = Problem(1, (), (Affine({0: ONE}, -value), Affine({0: -ONE}, value)))
    assert solve(pinned, solver) == (value,)


@with_each_solver
def test_a_variable_that_nothing_mentions_gets_a_value(solver):
    point = solve(Problem(3, (), (Affine({1: ONE}, fmpq(-5)),)), solver)
    assert len(point) == 3
    assert point[1] >= 5


@with_each_solver
def test_without_a_nonzero_form_there_is_no_point(solver):
    assert solve(Problem(1, nonzero=()), solver) is None
    assert solve(Problem(1), solver) is not None


def hard():
    """Numbers x_i in [0, 1] with max(x_i, 1 − x_i) = 1, so 0 or 1, that sum even weights to an odd total."""
    size = 40
    relus = tuple(Affine({i: fmpq(2)}, -ONE) for i in range(size))  # max(x, 1 − x) = max(0, 2x − 1) + 1 − x
    weights = [2 * (2**18 + i * i * 7919 % 2**18) for i in range(size)]
    total, right = {i: fmpq(weight) for i, weight in enumerate(weights)}, fmpq(sum(weights) // 2 | 1)
    bounds = [Affine({i: ONE}) for i in range(size)] + [Affine({i: -ONE}, ONE) for i in range(size)]
    corners = [Affine({size + i: ONE, i: -ONE}) for i in range(size)]
    balance = [Affine(total, -right), Affine({i: -c for i, c in total.items()}, right)]
    return Problem(size, relus, tuple(bounds + corners + balance))


@with_each_solver
def test_what_is_not_decided_in_time_is_no_answer(solver):
    with pytest.raises(BudgetExceededError, match=rf"{solver} has not decided within 0.2 seconds") as caught:
        solve(hard(), solver, 0.2)
    assert caught.value.seconds == 0.2
    assert solve(Problem(1), solver, 1e12) is not None


@pytest.mark.skipif(find_spec("z3") is None, reason=f"z3 is missing: {INSTALL}")
def test_the_limit_of_one_question_is_not_left_behind_in_the_process():
    import z3

    before = z3.get_param("timeout")
    with pytest.raises(BudgetExceededError):
        solve(hard(), "z3", 0.01)
    assert z3.get_param("timeout") == before


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_solver_that_is_not_installed_is_named_with_its_command(solver, monkeypatch):
    monkeypatch.setitem(sys.modules, solver, None)
    with pytest.raises(UnsupportedError, match=rf"{solver} is not installed: {re.escape(INSTALL)}"):
        solve(Problem(1), solver)


@pytest.mark.parametrize(("solver", "seconds"), [("yices", 60), ("", 60), ("z3", 0), ("z3", -1), ("z3", float("nan"))])
def test_other_solvers_and_times_that_are_not_positive_are_refused(solver, seconds):
    with pytest.raises(InvalidNetworkError, match=r"unknown solver|a positive number of seconds"):
        solve(Problem(1), solver, seconds)


def test_a_point_of_the_solver_is_not_believed(monkeypatch):
    monkeypatch.setitem(smt._SOLVERS, "z3", lambda text, dimension, milliseconds: ("sat", ["(- (/ 1.0 2.0))"]))
    assert solve(Problem(1, (), (Affine({0: ONE}, ONE),))) == (fmpq(-1, 2),)
    with pytest.raises(CertificateRejected, match="the point that z3 gave does not solve the problem"):
        solve(Problem(1, (), (Affine({0: ONE}),)))


@pytest.mark.parametrize("answer", ["unknown", "", "unknown (TIMEOUT)", "(error ...)", "SAT", "unsat or so"])
def test_only_sat_and_unsat_are_answers(answer, monkeypatch):
    monkeypatch.setitem(smt._SOLVERS, "z3", lambda text, dimension, milliseconds: (answer, []))
    with pytest.raises(BudgetExceededError):
        solve(Problem(1))


@pytest.mark.parametrize(
    "parts",
    [
        (1, (Affine({1: ONE}),)),
        (2, (), (Affine({2: ONE}),)),
        (1, (Affine({0: ONE}),), (), (Affine({2: ONE}),)),
        (1, (), (Affine({-1: ONE}),)),
    ],
)
def test_a_form_may_not_use_variables_that_are_not_there_yet(parts):
    with pytest.raises(InvalidNetworkError, match="may use only"):
        Problem(*parts)


def test_equal_forms_are_equal_values():
    assert Affine({1: ONE, 0: fmpq(2), 5: ZERO}) == Affine({0: fmpq(2), 1: ONE})
    assert str(Affine({})) == "0"


def test_the_text_names_every_variable_and_declares_them_first():
    text = to_smtlib(
        Problem(2, (Affine({0: ONE}), Affine({2: ONE, 1: -ONE})), (Affine({}, -ONE),), (Affine({3: ONE}),))
    )
    assert [line for line in text.splitlines() if "declare" in line] == [
        f"(declare-fun v{i} () Real)" for i in range(4)
    ]
    assert text.splitlines()[-2:] == ["(assert (>= (- 1.0) 0.0))", "(assert (or (not (= v3 0.0))))"]
