"""Emptiness and inclusion: every "no" shows an exact point, every "yes" its reason, "not decided" is no answer."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.abc import x, y

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.geometry import smt
from semialg_fibers.geometry.semialgebraic import BasicSet, SemialgebraicSet
from semialg_fibers.geometry.set_questions import Fails, Holds, NotDecided

DISK = BasicSet((x, y), (), (1 - x**2 - y**2,))
CLOSED_DISK = BasicSet((x, y), (), (), (1 - x**2 - y**2,))
SQUARE = BasicSet((x, y), (), (1 - x, 1 + x, 1 - y, 1 + y))
POINTS = st.tuples(st.fractions(-2, 2, max_denominator=4), st.fractions(-2, 2, max_denominator=4))

solvers = pytest.mark.parametrize("solver", ["z3", "cvc5"])


@pytest.fixture(autouse=True)
def _solvers():
    pytest.importorskip("z3")
    pytest.importorskip("cvc5")


@solvers
@pytest.mark.parametrize(
    ("basic", "empty"),
    [
        (DISK, False),
        (BasicSet((x, y), (), (x**2 + y**2 - 1, 1 - x**2 - y**2)), True),
        (BasicSet((x,), (), (x, -x)), True),
        (BasicSet((x,), (), (), (x, -x)), False),
        (BasicSet((x,), (sympy.Integer(1),)), True),
        (BasicSet((x,)), False),
        (BasicSet((x, y), (x**2 - y**3 / 2 - sympy.Rational(1, 3),), (x - 1, -y - 7)), True),
    ],
    ids=str,
)
def test_emptiness_by_hand(basic, empty, solver):
    found = basic.is_empty(solver)
    assert found.answer is empty
    assert bool(found) is empty
    if empty:
        assert found == Holds(f"{solver} proved that there is no point that shows the contrary")
    else:
        assert basic.contains(found.point)
    union = SemialgebraicSet((basic, BasicSet(basic.variables, (), (-sympy.Integer(1),))))
    assert union.is_empty(solver).answer is empty


def test_an_irrational_point_is_no_answer():
    """x² = 2 has points, but none that could be shown exactly; whether it is empty is left open, aloud."""
    found = BasicSet((x,), (x**2 - 2,)).is_empty()
    assert isinstance(found, NotDecided)
    assert "irrational" in found.reason
    assert found.answer is None
    with pytest.raises(BudgetExceededError, match="irrational"):
        bool(found)


@solvers
@pytest.mark.parametrize(
    ("inner", "outer", "verdict"),
    [
        (DISK, SQUARE, True),
        (SQUARE, DISK, False),
        (DISK, CLOSED_DISK, True),
        (CLOSED_DISK, DISK, False),  # only the circle is missing
        (DISK, DISK, True),
        (DISK, BasicSet((x, y)), True),
        (BasicSet((x, y), (x - y,), (x,)), BasicSet((x, y), (y - x,)), True),
        (BasicSet((x, y), (x - y,)), BasicSet((x, y), (x - y,), (), (x,)), False),
        (BasicSet((x, y), (), (), (x,)), SemialgebraicSet((BasicSet((x, y), (), (x,)), BasicSet((x, y), (x,)))), True),
        (BasicSet((x, y)), SemialgebraicSet((BasicSet((x, y), (), (x,)), BasicSet((x, y), (), (-x,)))), False),
    ],
    ids=str,
)
def test_inclusion_by_hand(inner, outer, verdict, solver):
    found = outer.includes(inner, solver)
    assert found.answer is verdict, found.reason
    assert inner.is_subset(outer, solver) == found
    if not verdict:
        assert inner.contains(found.point)
        assert not outer.contains(found.point)


def test_conditions_that_stand_there_need_no_solver(monkeypatch):
    def never(*arguments):
        raise AssertionError("asked")

    monkeypatch.setattr(smt, "ask", never)
    assert CLOSED_DISK.includes(DISK) == Holds("each condition is one of its own")
    both = SemialgebraicSet((DISK,)) | SQUARE
    assert both.includes(SQUARE).reason == "each condition is one of its own"
    assert BasicSet((x,), (-x,), (), (x,)).is_subset(BasicSet((x,), (x,))).answer is True
    assert isinstance(DISK.is_empty(), Fails)


def test_what_the_solver_does_not_know_is_not_decided(monkeypatch):
    def too_long(*arguments):
        raise BudgetExceededError("z3 has not decided within 20 seconds")

    monkeypatch.setattr(smt, "ask", too_long)
    found = SQUARE.includes(DISK)
    assert found == NotDecided("z3 has not decided within 20 seconds")


def test_a_wrong_point_of_a_solver_is_not_believed(monkeypatch):
    monkeypatch.setattr(smt, "ask", lambda *arguments: (smt.ZERO, smt.ZERO))
    found = SQUARE.includes(DISK)
    assert isinstance(found, NotDecided)
    assert "exact check" in found.reason


def test_a_sampler_is_not_believed_either():
    liar = BasicSet((x,), (), (x, -x), sampler=lambda rng: {"x": smt.ONE})
    assert liar.is_empty().answer is True


def test_sets_in_different_spaces_are_not_compared():
    with pytest.raises(InvalidNetworkError, match="different spaces"):
        DISK.includes(BasicSet((x,)))


@settings(max_examples=15)
@given(st.data())
def test_inclusion_agrees_with_points(data):
    """A grid of points is the judge of "yes"; "no" is checked by its point."""
    conditions = [x, y, x - y, 1 - x, x**2 + y - 1, -x * y + 1]

    def some():
        strict = data.draw(st.lists(st.sampled_from(conditions), max_size=2))
        weak = data.draw(st.lists(st.sampled_from(conditions), max_size=1))
        return BasicSet((x, y), (), tuple(strict), tuple(weak))

    inner, outer = some(), SemialgebraicSet((some(), some()))
    found = inner.is_subset(outer)
    for point in data.draw(st.lists(POINTS, min_size=10, max_size=30)):
        if inner.contains(point) and not outer.contains(point):
            assert found.answer is False
    if found.answer is False:
        assert inner.contains(found.point)
        assert not outer.contains(found.point)
