"""Projections are exactly the shadows of sets; local dimensions are proved or refused; closures contain their set."""

from fractions import Fraction
from itertools import product

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sympy.abc import w, x, y, z

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.polynomial import Nonvanishing, evaluate, sign_free
from semialg_fibers.geometry.scalar import exact
from semialg_fibers.geometry.semialgebraic import BasicSet, SemialgebraicSet

A, N = sympy.Symbol("a", positive=True), sympy.Symbol("n", nonzero=True, real=True)


# projections


@pytest.mark.parametrize(
    ("basic", "dropped", "shadow"),
    [
        (BasicSet((x, y), (), (x,)), [y], BasicSet((x,), (), (x,))),  # occurs nowhere
        (BasicSet((x, y), (2 * y - x,), (y - 1,)), ["y"], BasicSet((x,), (), (x / 2 - 1,))),
        (BasicSet((x, y), (x * y - 1,), (x,)), [y], BasicSet((x,), (), (x,))),
        (BasicSet((x, y), (x * y - 1,), (-x, y + 3)), [y], BasicSet((x,), (), (-x, 3 * x**2 + x))),  # times x², not x
        (BasicSet((x, y), (x * y - 1,), (x, y**2 - 4)), [y], BasicSet((x,), (), (x, 1 - 4 * x**2))),
        (BasicSet((x, y, z), (x * y - 1, x + z), (x,)), [y, z], BasicSet((x,), (), (x,))),
        (BasicSet((x, y, z), (x * y * z - 2, x * y - 3)), [z], BasicSet((x, y), (x * y - 3,))),  # x·y = 3 ≠ 0
        (BasicSet((x, y), (A * y - x,), (y - 1,)), [y], BasicSet((x,), (), (x - A,))),
        (BasicSet((x, y), (N * y - x,), (y - 1,)), [y], BasicSet((x,), (), (N * x - N**2,))),
        (BasicSet((x, y), (y - x**2, y - 4)), [y], BasicSet((x,), (x**2 - 4,))),
        (BasicSet((x, y), (y - 1,), (y,), (y,)), [y], BasicSet((x,))),  # 1 > 0 says nothing
        (BasicSet((x, y), (y + 1,), (y,)), [y], BasicSet((x,), (), (sympy.Integer(-1),))),  # empty, and stays so
    ],
    ids=str,
)
def test_projections_by_hand(basic, dropped, shadow):
    found = basic.drop(dropped)
    assert found.variables == shadow.variables
    for kind in ("equations", "positive", "nonnegative"):
        got, wanted = getattr(found, kind), getattr(shadow, kind)
        assert [sympy.expand(e) for e in got] in (
            [sympy.expand(e) for e in wanted],
            [-sympy.expand(e) for e in wanted] if kind == "equations" else None,
        )
    assert SemialgebraicSet((basic,)).drop(dropped).parts == (found,)


@pytest.mark.parametrize(
    ("basic", "dropped"),
    [
        (BasicSet((x, y), (x * y - 1,)), [y]),  # x ≠ 0 is no condition of this kind
        (BasicSet((x, y), (y**2 - x,)), [y]),
        (BasicSet((x, y), (), (y - x,)), [y]),
        (BasicSet((x, y), (x * y - 1, x * y - 2)), [y]),
        (BasicSet((x, y), (x * y - 1,), (), (x,)), [y]),  # x ≥ 0 does not keep x from 0
        (BasicSet((x, y), (x * y - 1,), (x * y,)), [y]),  # x ≠ 0 follows, but from conditions with y
        (BasicSet((x, y), ((x**2 - 2) * y - 1,), (x,)), [y]),
    ],
    ids=str,
)
def test_what_may_be_no_basic_set_is_refused(basic, dropped):
    with pytest.raises(UnsupportedError, match="y cannot be dropped") as caught:
        basic.drop(dropped)
    assert caught.value.variable == "y"


def test_an_unknown_variable_is_named():
    with pytest.raises(InvalidNetworkError, match="w is no variable"):
        BasicSet((x,)).drop([w])


COEFFICIENTS = [x, -x, sympy.Integer(-2), x**2, 2 * x * z, z]


@settings(max_examples=40)
@given(st.data())
def test_a_projection_has_exactly_the_points_with_a_preimage(data):
    """The slow judge: y is determined by its equation at each point of a grid."""
    a = data.draw(st.sampled_from(COEFFICIENTS))
    b = data.draw(st.sampled_from([x - z, z**2 - 1, x * z + 1, sympy.Integer(2), -z]))
    others = [y, 1 - y, y**2 - x, x * y + z, -(y**3) + 1, y * z - 1]
    positive = data.draw(st.lists(st.sampled_from(others), max_size=2))
    nonnegative = data.draw(st.lists(st.sampled_from(others), max_size=1))
    equations = data.draw(st.lists(st.sampled_from([y**2 - 1, y - x * z]), max_size=1))
    signs = [data.draw(st.sampled_from([-1, 1])) * v for v in (x, z)]
    basic = BasicSet((x, y, z), (a * y + b, *equations), (*signs, *positive), tuple(nonnegative))
    shadow = basic.drop([y])
    grid = [Fraction(n, 2) for n in (-3, -2, -1, 0, 1, 2, 4)]
    for s, t in product(grid, grid):
        values = {"x": exact(s), "z": exact(t)}
        slope = evaluate(a, values)
        if not slope:
            assert not shadow.contains((s, t))  # x, z ≠ 0 there
            continue
        above = -evaluate(b, values) / slope
        assert shadow.contains((s, t)) == basic.contains({"x": s, "y": above, "z": t})


def test_dimensions_and_samples_go_with_the_projection():
    basic = BasicSet((x, y, z), (x * y - 1,), (x,), known_dimension=2, sampler=None)
    assert basic.drop([y]).dimension == 2  # x and z are free
    assert basic.drop([z]).dimension == 1
    assert basic.drop([y, z]).dimension == 1
    both = BasicSet((x, y, z, w), (y - x * z, y * w - x * z * w), (), (), known_dimension=3)
    assert both.drop([y, w]).dimension == 2  # once y is put in, w occurs nowhere
    drawn = BasicSet((x, y), (x * y - 1,), (x,), sampler=lambda rng: {"x": exact(2), "y": exact("1/2")})
    assert drawn.drop([y]).sample() == {x: 2}


def test_what_is_known_not_to_vanish():
    known = Nonvanishing((x**2 * (y + 1), -z), (x * w - 3, y * z), {x, y, z, w})
    for yes in (x, 2 * x * w**3, -z * (2 * y + 2), sympy.Integer(-1), A * N * x):
        assert known.proves(yes)
    for no in (y, x + z, sympy.Integer(0), sympy.Symbol("r", real=True), y - 1, A * y):
        assert not known.proves(no)
    assert sign_free(2 * x - 4 * y) == sign_free(2 * y - x)


# dimensions at points


@pytest.mark.parametrize(
    ("basic", "point", "dimension"),
    [
        (BasicSet((x, y), (x**2 + y**2 - 1,)), (1, 0), 1),
        (BasicSet((x, y), (x * y,)), (0, 1), 1),
        (BasicSet((x, y), (x - y, 2 * x - 2 * y)), (1, 1), 1),  # described twice
        (BasicSet((x, y, z), (x * y - 1, x * z - 1, y - z)), (1, 1, 1), 1),  # the third follows
        (BasicSet((x, y), (), (), (x, y)), (0, 0), 2),  # a corner
        (BasicSet((x, y), (), (), (x, y - x, 5 * x - y)), (0, 0), 2),
        (BasicSet((x, y, z), (x * y - z,), (), (z, x)), (0, 2, 0), 2),  # z ≥ 0 is x ≥ 0 there
        (BasicSet((x, y), (x**3 - y,), (), (y,)), (2, 8), 1),
        (BasicSet((x,)), (7,), 1),
        (BasicSet((x, y), (x, x**2 + y - 1)), (0, 1), 0),
        (BasicSet((x, y, z), (x**2 - y**2 - z,), (), (z, x - y)), (1, 1, 0), 2),  # z ≥ 0 and x ≥ y, on one side
        (BasicSet((x, y), (x,), (), (x,)), (0, 3), 1),  # x ≥ 0 on x = 0 says 0 ≥ 0
    ],
    ids=str,
)
def test_local_dimensions_by_hand(basic, point, dimension):
    assert basic.local_dimension(point) == dimension
    assert len(basic.tangent_space(point)) >= dimension


@pytest.mark.parametrize(
    ("basic", "point"),
    [
        (BasicSet((x, y), (x**2 + y**2,)), (0, 0)),
        (BasicSet((x, y), (x * y,)), (0, 0)),  # a crossing
        (BasicSet((x, y), ((x - y) ** 2,)), (1, 1)),
        (BasicSet((x, y), (), (), (x, -x)), (0, 0)),  # a line, by two inequalities
        (BasicSet((x, y), (), (), (-(x**2),)), (0, 0)),
        (BasicSet((x, y, z), (z - x * y,), (), (z, -z)), (0, 0, 0)),
    ],
    ids=str,
)
def test_a_local_dimension_is_proved_or_not_stated(basic, point):
    with pytest.raises(BudgetExceededError, match="was not decided"):
        basic.local_dimension(point)


def test_points_outside_have_no_dimension():
    for described in (BasicSet((x,), (), (x,)), SemialgebraicSet((BasicSet((x,), (), (x,)),))):
        with pytest.raises(InvalidNetworkError, match="not in the set"):
            described.local_dimension((0,))
    with pytest.raises(InvalidNetworkError, match="not in the set"):
        BasicSet((x,), (), (x,)).tangent_space((-1,))


def test_the_local_dimension_of_a_union():
    ray, point = BasicSet((x,), (), (x,)), BasicSet((x,), (x,))
    assert (SemialgebraicSet((point,)) | ray).local_dimension((3,)) == 1
    assert (SemialgebraicSet((point,)) | BasicSet((x,), (), (x - 1,))).local_dimension((0,)) == 0
    with pytest.raises(BudgetExceededError, match="another part may come close"):
        (SemialgebraicSet((point,)) | ray).local_dimension((0,))


@settings(max_examples=30)
@given(st.data())
def test_the_local_dimension_of_a_graph_is_the_number_of_its_free_variables(data):
    """Equations in any order, one of them repeated with a factor, at a point where no coordinate is zero."""
    u, v = sympy.symbols("u v")
    f, g = data.draw(st.permutations([x * y + 1, x - y**2, x * y**2, (x + y) * 3]))[:2]
    equations = data.draw(st.permutations([u - f, u * v - g * u, (u - f) * (1 + y**2)]))
    s, t = (data.draw(st.integers(1, 5)) for _ in range(2))
    at = {"x": exact(s), "y": exact(t)}
    here = {"x": s, "y": t, "u": evaluate(sympy.expand(f), at), "v": evaluate(sympy.expand(g), at)}
    assume(all(here.values()))
    basic = BasicSet((x, y, u, v), tuple(equations))
    assert basic.local_dimension(here) == 2
    assert len(basic.tangent_space(here)) == 2
    for row in basic.tangent_space(here):
        at_point = {k: sympy.Rational(str(here[k.name])) for k in (x, y, u, v)}
        for e in equations:
            assert sum(e.diff(k).subs(at_point) * d for k, d in zip((x, y, u, v), row, strict=True)) == 0


# closures


def test_a_closure_is_weak_and_contains_the_set():
    basic = BasicSet((x, y), (x * y,), (x, y + 1), (x,))
    assert basic.closure() == BasicSet((x, y), (x * y,), (), (x, y + 1))
    assert basic.closure().contains((0, 5))  # larger than the topological closure
    assert basic.closure().known_dimension is None
    assert SemialgebraicSet((basic, basic.closure())).closure().parts == (basic.closure(),)
    hyperbola = BasicSet((x, y), (x * y - 1,), (x, y - 1), (x,), sampler=lambda rng: {"x": exact("1/2"), "y": exact(2)})
    assert hyperbola.closure().contains(hyperbola.sample())
    assert hyperbola.closure().contains((1, 1))
    assert hyperbola.closure().sample() == hyperbola.sample()
