"""Polyhedra against boxes and orthants, which are polyhedra too, and against SciPy's hulls of hand-made vertices."""

import random
from fractions import Fraction
from itertools import combinations

import pytest
import sympy
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import rank

from semialg_fibers import Network, identifiability, neuron_types, summary
from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.geometry.scalar import affine_value, vector

SMALL = st.integers(-3, 3)


@st.composite
def polyhedra(draw):
    """Random constraints that hold with slack at a random point: an interior, bounded or not."""
    d = draw(st.integers(1, 3))
    point = draw(st.lists(SMALL, min_size=d, max_size=d))
    rows = draw(st.lists(st.lists(SMALL, min_size=d, max_size=d), min_size=1, max_size=6))
    slack = draw(st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows)))
    bounds = [sum(a * x for a, x in zip(row, point, strict=True)) + s for row, s in zip(rows, slack, strict=True)]
    return Polyhedron(rows, bounds), rows, bounds, point


def vertices(rows, bounds):
    """Every point where d independent constraints are tight and all hold, by Cramer's rule on Fractions."""
    import sympy

    d = len(rows[0])
    found = set()
    for chosen in combinations(range(len(rows)), d):
        if rank([[Fraction(x) for x in rows[i]] for i in chosen]) < d:
            continue
        solved = sympy.Matrix([rows[i] for i in chosen]).LUsolve(sympy.Matrix([bounds[i] for i in chosen]))
        x = [Fraction(int(v.p), int(v.q)) for v in solved]
        if all(
            sum(a * b for a, b in zip(row, x, strict=True)) <= bound for row, bound in zip(rows, bounds, strict=True)
        ):
            found.add(tuple(x))
    return found


@settings(deadline=None)
@given(polyhedra(), st.lists(SMALL, min_size=4, max_size=4), st.integers(0, 2**20))
def test_extreme_values_bound_every_point_and_are_approached(made, weights, seed):
    domain, rows, bounds, inside = made
    form = vector([*weights[: domain.dimension], weights[3]])
    least, largest = domain.infimum(form), domain.supremum(form)
    assert domain.contains(inside)
    rng = random.Random(seed)
    for _ in range(20):
        x = [Fraction(a) + Fraction(rng.randint(-40, 40), 4) for a in inside]
        holds = all(
            sum(a * b for a, b in zip(row, x, strict=True)) <= bound for row, bound in zip(rows, bounds, strict=True)
        )
        assert domain.contains(x) == holds
        if holds:
            value = affine_value(form, vector(x))
            assert least is None or least <= value
            assert largest is None or value <= largest
    corners = vertices(rows, bounds)
    if corners and least is not None:  # a pointed polyhedron attains a finite infimum at a vertex
        assert least == min(affine_value(form, vector(x)) for x in corners)
    for bound, sign in ((least, -1), (largest, 1)):
        if bound is None:  # unbounded: it goes beyond any number
            tilted = tuple(sign * value for value in form)
            assert domain.positive_point((*tilted[:-1], fmpq(-1000))) is not None


@settings(deadline=None)
@given(polyhedra(), st.lists(SMALL, min_size=4, max_size=4))
def test_a_positive_point_is_found_exactly_when_the_supremum_is_positive(made, weights):
    domain = made[0]
    form = vector([*weights[: domain.dimension], weights[3]])
    point, highest = domain.positive_point(form), domain.supremum(form)
    assert (point is not None) == (highest is None or highest > 0)
    if point is not None:
        assert affine_value(form, point) > 0
        assert all(affine_value(facet, point) > 0 for facet in domain.constraints())


@settings(deadline=None)
@given(polyhedra(), st.randoms(use_true_random=False), st.lists(st.integers(1, 4), min_size=7, max_size=7))
def test_equal_sets_are_equal_values(made, rng, scales):
    domain, rows, bounds, _ = made
    order = list(range(len(rows)))
    rng.shuffle(order)
    weaker = [(rows[0], bounds[0] + 1)]  # redundant
    other = [([s * x for x in rows[i]], s * bounds[i]) for i, s in zip(order, scales, strict=False)] + weaker
    again = Polyhedron([row for row, _ in other], [bound for _, bound in other])
    assert again == domain
    assert hash(again) == hash(domain)
    assert eval(repr(domain)) == domain
    assert all(len(form) == domain.dimension + 1 for form in domain.facets)


def test_the_whole_space_written_with_constraints():
    everything = Polyhedron([[0, 0, 0]], [1])
    assert (str(everything), everything.facets) == ("R^3", ())
    assert eval(repr(everything)) == everything


@pytest.mark.parametrize(
    ("domain", "rows", "bounds"),
    [
        (Box([-1, 0], [1, "5/2"]), [[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, "5/2", 0]),
        (Orthant(2), [[-1, 0], [0, -1], [-1, -1]], [0, 0, 0]),
        (Space(2), [[0, 0]], [0]),
    ],
    ids=["box", "orthant", "space"],
)
@settings(deadline=None, max_examples=40)
@given(weights=st.lists(SMALL, min_size=3, max_size=3))
def test_a_box_an_orthant_and_the_space_as_polyhedra(domain, rows, bounds, weights):
    form, other = vector(weights), Polyhedron(rows, bounds)
    assert other.infimum(form) == domain.infimum(form)
    assert other.supremum(form) == domain.supremum(form)
    assert len(other.facets) == len(domain.constraints())


@example(seed=0)
@given(seed=st.integers(0, 100))
def test_a_strip_without_a_vertex(seed):
    strip = Polyhedron([[1, 1], [-1, -1]], [1, 1])
    rng = random.Random(seed)
    a, b, c = rng.randint(-3, 3), rng.randint(-3, 3), rng.randint(-3, 3)
    assert strip.infimum(vector([a, b, c])) == (c - abs(a) if a == b else None)


@pytest.mark.parametrize(
    ("rows", "bounds", "words"),
    [
        ([[1], [-1]], [0, 0], "needs an interior: the first 2 constraints"),
        ([[1], [-1]], [0, -1], "needs an interior"),
        ([[0, 0]], [-1], "needs an interior"),
        ([[1]], [0, 1], "A has 1 row, b has 2 entries"),
        ([], [], "Space"),
        ([[1, 2], [1]], [0, 0], "ragged"),
    ],
)
def test_what_is_no_polyhedron_with_interior_is_refused(rows, bounds, words):
    with pytest.raises(InvalidNetworkError, match=words):
        Polyhedron(rows, bounds)


def test_str_is_the_definition_on_paper():
    assert str(Polyhedron([[2, -1], [-1, 0]], [3, 0])) == "{x ∈ R^2: 2 x1 - x2 ≤ 3, -x1 ≤ 0}"


def test_kinds_on_a_polyhedron_need_numbers():
    a = sympy.Symbol("a", positive=True)
    net = Network([([[a], [1]], [0, 1]), ([[1, 2]], [0])], Polyhedron([[1]], [1]))
    sentence = "kinds of neurons on a polyhedron need numbers: substitute values for the letters"
    with pytest.raises(UnsupportedError, match=sentence):
        neuron_types(net)
    assert identifiability(net).is_identifiable is None
    assert summary(net).open["second_layer"] == sentence
    assert neuron_types(net.subs({a: 2})) == ("nonlinear", "nonlinear")
