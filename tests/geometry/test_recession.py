"""Forms that are bounded below on a domain, inside a subspace: certificates, and double description as judge."""

from dataclasses import replace

import pytest
from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.geometry.recession import bounded_span, recession
from semialg_fibers.geometry.scalar import ZERO, vector

DOMAINS = [
    Space(3),
    Orthant(3),
    Box([0, 0, 0], [1, 1, 1]),
    Polyhedron([[-1, 0, 0]], [0]),
    Polyhedron([[-1, 0, 0], [1, -1, 0]], [0, 1]),
    Polyhedron([[1, 1, 0], [-1, -1, 0]], [1, 1]),
    Polyhedron([[-1, 0, 0], [0, -1, 0], [1, 1, -1], [1, -2, 1]], [0, 0, 1, 4]),
]
entries = st.integers(-2, 2)


def spanned_by_rays(space, cone):
    """The dimension of V ∩ K by its extreme rays, each cut out by tight normals; equalities are two inequalities."""
    basis = space.select(rows=space.independent_rows())
    size = basis.shape[0]
    products = [basis.times(ray) for ray in cone.rays.rows()]
    lines = [basis.times(line) for line in cone.lines.rows()]
    normals = [*products, *lines, *([-value for value in line] for line in lines)]
    # V ∩ K is the set of y with normals ≥ 0: all extreme rays are cut out by rank-many tight normals.
    vectors = []
    subsets = [[]]
    for normal in normals:
        subsets += [[*chosen, normal] for chosen in subsets if len(chosen) < size]
    for chosen in subsets:
        kernel = Matrix(chosen, columns=size).kernel() if chosen else Matrix.identity(size)
        if kernel.shape[0] == 1:
            for sign in (1, -1):
                y = [sign * value for value in kernel.row(0)]
                if all(sum((a * b for a, b in zip(normal, y, strict=True)), ZERO) >= 0 for normal in normals):
                    vectors.append(y)
    free = Matrix(normals, columns=size).kernel() if normals else Matrix.identity(size)
    return Matrix([*vectors, *free.rows()], columns=size).rank()


@given(st.sampled_from(DOMAINS), st.lists(st.lists(entries, min_size=3, max_size=3), max_size=3))
@example(Orthant(3), [[1, -1, 0], [0, 0, 1]])
@example(Orthant(3), [])
def test_the_span_of_bounded_forms(domain, rows):
    space, cone = Matrix(rows, columns=3), recession(domain)
    found = bounded_span(space, cone)
    assert found.check()
    assert cone.bounds(found.inner)
    assert found.dimension == spanned_by_rays(space, cone)
    for row in found.basis.rows():  # the inner vector stays bounded when moved a little inside the span
        assert cone.bounds([fmpq(1000) * a + b for a, b in zip(found.inner, row, strict=True)])


@given(st.sampled_from(DOMAINS), st.lists(entries, min_size=3, max_size=3))
def test_bounded_weights_are_those_with_an_infimum(domain, weights):
    assert recession(domain).bounds(vector(weights)) == (domain.infimum(vector([*weights, 0])) is not None)


def test_wrong_certificates_are_rejected():
    found = bounded_span(Matrix([[1, -1, 0], [0, 0, 1]]), recession(Orthant(3)))
    assert found.check()
    assert found.forced
    assert not replace(found, forced=()).check()
    assert not replace(found, inner=vector([1, -1, 0])).check()
    assert not replace(found, inner=vector([0, 0, 0])).check()
    assert not replace(found, inner=vector([1, 1, 1])).check()
    assert not replace(found, basis=Matrix([[0, 1, 1]])).check()
    assert not replace(found, forced=(vector([1, 0, 0]),)).check()
    assert not replace(found, forced=(vector([-1, -1, 0]),)).check()


@pytest.mark.parametrize(
    ("domain", "dimension"), list(zip(DOMAINS, [0, 3, 3, 1, 2, 1, 3], strict=True)), ids=lambda value: str(value)
)
def test_dimension_of_all_bounded_forms(domain, dimension):
    assert recession(domain).dimension == dimension


def test_a_polyhedron_in_disguise_recedes_like_the_orthant():
    cone = recession(Polyhedron([[-1, 0], [0, -1]], [0, 0]))
    assert sorted(cone.rays.integer_rows()) == [(0, 1), (1, 0)]
