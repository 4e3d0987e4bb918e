"""Polyhedral domains: extreme values of affine forms against vertices, rays and sampled points; interior points."""

import pickle
from itertools import product

import numpy as np
import pytest
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import InexactInputError, InvalidNetworkError
from semialg_fibers.geometry.domain import Box, Orthant, Space, negated
from semialg_fibers.geometry.scalar import affine_value, vector

NUMBERS = st.integers(-3, 3) | st.fractions(-5, 5, max_denominator=7)


@st.composite
def domains(draw, dimension=None):
    d = dimension or draw(st.integers(1, 4))
    low = draw(st.lists(NUMBERS, min_size=d, max_size=d))
    lengths = draw(st.lists(st.fractions("1/9", 4, max_denominator=9), min_size=d, max_size=d))
    box = Box(low, [a + b for a, b in zip(low, lengths, strict=True)])
    return draw(st.sampled_from([Space(d), Orthant(d), box]))


@st.composite
def domains_with_forms(draw):
    domain = draw(domains())
    size = domain.dimension + 1
    kind = draw(st.sampled_from([NUMBERS, NUMBERS.map(abs), st.sampled_from([0, 0, 1])]))  # so that bounds are common
    form = vector(draw(st.lists(kind, min_size=size, max_size=size)))
    return domain, negated(form) if draw(st.booleans()) else form


def generators(domain):
    """The domain is the convex hull of the points plus the cone of the rays (Minkowski–Weyl), written by hand."""
    d = domain.dimension
    axes = [tuple(fmpq(i == j) for j in range(d)) for i in range(d)]
    origin = (fmpq(0),) * d
    if isinstance(domain, Space):
        return [origin], axes + [negated(axis) for axis in axes]
    if isinstance(domain, Orthant):
        return [origin], axes
    return list(product(*zip(domain.low, domain.high, strict=True))), []


def lowest(domain, form):
    """The infimum of a form: −∞ when it falls along a ray, else its least value at a point."""
    points, rays = generators(domain)
    if any(affine_value((*form[:-1], fmpq(0)), ray) < 0 for ray in rays):
        return None
    return min(affine_value(form, point) for point in points)


@settings(deadline=None)
@given(domains_with_forms())
@example((Box([0], [1]), vector([0, 0])))
@example((Orthant(2), vector([0, 0, -1])))  # a constant form has its value as both bounds
def test_bounds_are_those_at_the_generators(pair):
    domain, form = pair
    assert domain.infimum(form) == lowest(domain, form)
    above = lowest(domain, negated(form))
    assert domain.supremum(form) == (None if above is None else -above)


@settings(deadline=None)
@given(domains_with_forms(), st.data())
def test_no_point_of_the_domain_is_beyond_the_bounds(pair, data):
    domain, form = pair
    points, rays = generators(domain)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(points), max_size=len(points)).filter(any))
    along = data.draw(st.lists(st.integers(0, 3), min_size=len(rays), max_size=len(rays)))
    x = [fmpq(0)] * domain.dimension
    for weight, point in zip(weights, points, strict=True):
        x = [a + fmpq(weight, sum(weights)) * b for a, b in zip(x, point, strict=True)]
    for weight, ray in zip(along, rays, strict=True):
        x = [a + weight * b for a, b in zip(x, ray, strict=True)]
    assert domain.contains(x)
    below, above = domain.infimum(form), domain.supremum(form)
    assert below is None or below <= affine_value(form, x)
    assert above is None or affine_value(form, x) <= above


def is_interior(domain, point):
    return all(affine_value(each, point) > 0 for each in domain.constraints())


@settings(deadline=None)
@given(domains_with_forms())
@example((Orthant(2), vector([-1, 0, "1/1000"])))  # positive only near the wall x1 = 0
@example((Box([0, 0], [1, 1]), vector([1, 1, "-199/100"])))  # positive only near one corner
@example((Box([0], [1]), vector([1, -1])))  # zero at the corner, negative elsewhere
@example((Space(1), vector([0, 1])))
def test_a_positive_point_is_interior_and_there_is_none_only_where_the_supremum_forbids_it(pair):
    domain, form = pair
    found = domain.positive_point(form)
    above = lowest(domain, negated(form))
    if found is None:
        assert above is not None
        assert -above <= 0
    else:
        assert len(found) == domain.dimension
        assert is_interior(domain, found)
        assert affine_value(form, found) > 0


@settings(deadline=None)
@given(domains())
def test_the_interior_point_is_interior(domain):
    assert is_interior(domain, domain.interior_point())
    assert domain.contains(domain.interior_point())


@settings(deadline=None)
@given(domains())
def test_constraints_describe_the_domain(domain):
    """Each is nonnegative on the generators; each wall of a box or an orthant is met, and behind it one is outside."""
    points, rays = generators(domain)
    for form in domain.constraints():
        assert min(affine_value(form, point) for point in points) == 0
        assert all(affine_value((*form[:-1], fmpq(0)), ray) >= 0 for ray in rays)
    inside = domain.interior_point()
    for i in range(domain.dimension):
        for sign in (1, -1):
            far = tuple(x + sign * 10**6 * (i == j) for j, x in enumerate(inside))
            bounded = isinstance(domain, Box) or (isinstance(domain, Orthant) and sign < 0)
            assert domain.contains(far) != bounded


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (Space(2), [(0, 0), ("-1/3", 10**9)], []),
        (Orthant(2), [(0, 0), (0, 5)], [(0, "-1/1000000"), (-1, -1)]),
        (Box([-1, 0], [1, 2]), [(-1, 2), (0, 1), (1, 0)], [("-1000001/1000000", 1), (0, "2000001/1000000"), (2, 3)]),
    ],
)
def test_boundary_points_belong_to_the_domain(domain, inside, outside):
    assert all(domain.contains(point) for point in inside)
    assert not any(domain.contains(point) for point in outside)


@pytest.mark.parametrize("domain", [Space(2), Orthant(2), Box([0, 0], [1, 1])])
def test_points_that_are_none_are_refused(domain):
    for point in ([1], [1, 1, 1], []):
        with pytest.raises(InvalidNetworkError, match=f"expected a point with 2 coordinates, got {len(point)}"):
            domain.contains(point)
    with pytest.raises(InexactInputError):
        domain.contains([0.5, 0])


@pytest.mark.parametrize("kind", [Space, Orthant])
@pytest.mark.parametrize("dimension", [0, -1, 1.0, "2", True, None, np.float64(2)])
def test_a_dimension_is_a_positive_integer(kind, dimension):
    with pytest.raises(InvalidNetworkError, match=r"dimension (of at least 1|of a domain is a whole number), got"):
        kind(dimension)


@pytest.mark.parametrize(
    ("low", "high", "message", "column"),
    [
        ([0, 0], [1], "two corners of one dimension, got 2 and 1", None),
        ([], [], "two corners of one dimension, got 0 and 0", None),
        ([0, 1], [1, 1], "coordinate 2 runs from 1 to 1", 1),
        ([3, 0], [-2, 1], "coordinate 1 runs from 3 to -2", 0),
        ([0, "1/2"], [1, "2/4"], "coordinate 2 runs from 1/2 to 1/2", 1),
    ],
)
def test_a_box_has_two_corners_and_an_interior(low, high, message, column):
    with pytest.raises(InvalidNetworkError, match=message) as caught:
        Box(low, high)
    assert caught.value.place.get("column") == column


def test_a_box_refuses_floats():
    with pytest.raises(InexactInputError, match=r"0\.5"):
        Box([0], [0.5])


def test_equal_domains_are_equal_values():
    gallery = [
        Space(1),
        Space(2),
        Orthant(1),
        Orthant(2),
        Box([0], [1]),
        Box([0], [2]),
        Box([-1], [1]),
        Box([0, 0], [1, 1]),
    ]
    twins = [
        Space(1),
        Space(2),
        Orthant(1),
        Orthant(2),
        Box(["0/7"], ["2/2"]),
        Box([0], [2]),
        Box([-1], [1]),
        Box([0, 0], [1, 1]),
    ]
    for i, a in enumerate(gallery):
        assert [a == b for b in twins] == [i == j for j in range(len(twins))]
        assert hash(a) == hash(twins[i])
        assert pickle.loads(pickle.dumps(a)) == a
        with pytest.raises(AttributeError):
            a.dimension = 3


def test_domains_on_paper():
    assert [str(each) for each in (Space(3), Orthant(2), Box([-1, 0], ["1/2", 2]))] == [
        "R^3",
        "R^2_(≥0)",
        "[-1, 1/2] × [0, 2]",
    ]


def test_a_box_has_two_to_the_d_vertices():
    assert sorted(Box([0, "1/2"], [1, 3]).vertices()) == sorted(map(vector, [(0, "1/2"), (0, 3), (1, "1/2"), (1, 3)]))
