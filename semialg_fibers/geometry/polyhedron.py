"""The polyhedron {x : A x ≤ b} as a domain, for equality of functions and for complete fibers.

Main definitions
    Polyhedron    facets in normal form: equal sets with interior are equal values

Extreme values are read off the rays of the cone over it. It need not be bounded nor have a vertex.

References: theory §2.7; beyond §1; K. Fukuda, A. Prodon, Double description method revisited (1996).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.domain import Domain, Form
from semialg_fibers.geometry.double_description import Cone, IntegerForm, axis_cone, split, value_on
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, Vector, affine_value, dot, primitive, quantity, vector


@dataclass(frozen=True, init=False, repr=False)
class Polyhedron(Domain):
    """The polyhedron {x ∈ R^d : A x ≤ b} with interior.

    `facets` are primitive integer forms (−a, β), nonnegative exactly on the set; redundant rows are dropped and the
    rest sorted, so that two descriptions of one set are equal.

    >>> triangle = Polyhedron([[-1, 0], [0, -1], [1, 1]], [0, 0, 1])
    >>> triangle.supremum(vector([1, 2, 0])), triangle == Polyhedron([[-2, 0], [0, -1], [1, 1], [1, 0]], [0, 0, 1, 5])
    (2, True)
    """

    facets: tuple[IntegerForm, ...]
    dimension: int
    _cone: Cone = field(compare=False, repr=False)

    def __init__(self, A: Any, b: Iterable[Any]) -> None:
        """Read A (constraints × d) and b (constraints,).

        Raises:
            InvalidNetworkError: when they do not fit, or the set is empty or has no interior (place: `row`).
        """
        matrix, bounds = Matrix(A), vector(b)
        rows, dimension = matrix.shape
        if rows != len(bounds):
            raise InvalidNetworkError(f"A has {quantity(rows, 'row')}, b has {quantity(len(bounds), 'entry')}")
        if dimension < 1:
            raise InvalidNetworkError("a polyhedron needs at least one constraint; all of R^d is Space(d)")
        cone = axis_cone(dimension)
        for i, (row, bound) in enumerate(zip(matrix.rows(), bounds, strict=True)):
            form = primitive((*(-value for value in row), bound))
            if not any(form):
                continue  # 0 ≤ 0
            _, above = split(cone, form)
            if above is None:
                raise InvalidNetworkError(
                    f"a polyhedron needs an interior: the first {i + 1} constraints leave none", row=i
                )
            cone = above
        for name, value in (("facets", _facets(cone)), ("dimension", dimension), ("_cone", cone)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Show data that `Polyhedron` reads."""
        facets = self.facets or ((0,) * (self.dimension + 1),)  # 0 ≤ 0, which says how many coordinates there are
        return f"Polyhedron({[[-value for value in form[:-1]] for form in facets]}, {[form[-1] for form in facets]})"

    def __str__(self) -> str:
        """Give the set on paper."""
        lines = [f"{_sum([-value for value in form[:-1]])} ≤ {form[-1]}" for form in self.facets]
        return f"{{x ∈ R^{self.dimension}: {', '.join(lines)}}}" if lines else f"R^{self.dimension}"

    def constraints(self) -> list[Form]:
        """Give β − a·x for each facet."""
        return [vector(form) for form in self.facets]

    def infimum(self, form: Form) -> fmpq | None:
        """Give the least value at the ends of the rays of the cone, −∞ when the form falls along a direction."""
        if not all(isinstance(value, fmpq | int) for value in form):
            raise UnsupportedError("kinds of neurons on a polyhedron need numbers: substitute values for the letters")
        whole = primitive(tuple(map(fmpq, form)))  # integers come, too
        linear = (*whole[:-1], 0)
        if any(value_on(linear, line) for line in self._cone.lineality):
            return None
        least = None
        for ray in self._cone.rays:
            if ray[-1]:
                value = fmpq(value_on(whole, ray), ray[-1])
                least = value if least is None else min(least, value)
            elif value_on(linear, ray) < 0:
                return None
        assert least is not None  # a cone over a set with a point has a ray that is not at infinity
        scale = next((fmpq(a) / b for a, b in zip(form, whole, strict=True) if b), ONE)
        return least * scale

    def positive_point(self, form: Form) -> Vector | None:
        """Go from a middle point along a direction in which the form grows, or towards the best vertex."""
        total = [sum(entries) for entries in zip(*self._cone.rays, strict=True)]
        centre = tuple(fmpq(value, total[-1]) for value in total[:-1])
        at_centre = affine_value(form, centre)
        if at_centre > 0:
            return centre
        directions = list(self._cone.lineality)
        directions += [tuple(-value for value in line) for line in self._cone.lineality]
        directions += [ray for ray in self._cone.rays if not ray[-1]]
        for direction in directions:
            along = vector(direction[:-1])
            slope = dot(form[:-1], along)
            if slope > 0:
                step = (ONE - at_centre) / slope
                return tuple(c + step * a for c, a in zip(centre, along, strict=True))
        vertices = [tuple(fmpq(x, ray[-1]) for x in ray[:-1]) for ray in self._cone.rays if ray[-1]]
        best = max(vertices, key=lambda vertex: affine_value(form, vertex))
        at_best = affine_value(form, best)
        if at_best <= 0:
            return None
        share = (1 + at_centre / (at_centre - at_best)) / 2
        return tuple(c + share * (v - c) for c, v in zip(centre, best, strict=True))


def _facets(cone: Cone) -> tuple[IntegerForm, ...]:
    """Give the constraints, except x0 ≥ 0, that are tight on a face of full dimension, sorted."""
    size = len(cone.constraints[0])
    found = []
    for k, form in enumerate(cone.constraints[1:], 1):
        tight = [ray for ray, mask in zip(cone.rays, cone.masks, strict=True) if mask >> k & 1]
        tight += cone.lineality
        if tight and Matrix.from_integers(tight, columns=size).rank() == size - 1 and any(form[:-1]):
            found.append(form)
    return tuple(sorted(found))


def _sum(weights: list[int]) -> str:
    """Give Σ a_i x_i on paper."""
    text = ""
    for i, weight in enumerate(weights, 1):
        if weight:
            sign = " - " if weight < 0 else " + "
            size = "" if abs(weight) == 1 else f"{abs(weight)} "
            text += f"{sign}{size}x{i}"
    return text[3:] if text.startswith(" + ") else f"-{text[3:]}"
