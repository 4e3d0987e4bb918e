"""Which linear forms are bounded below on a domain? The dual K of its recession cone, inside any subspace.

Main definitions
    Recession        the directions in which a domain is unbounded: rays and lines, integer vectors
    BoundedSpan      span(V ∩ K) for a subspace V, with a relative interior vector and a proof that it is no larger

Main results
    recession        the recession cone of a domain
    bounded_span     by Gordan's alternative, once for every face that V ∩ K turns out to lie in

References: beyond §1.3; theory §2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq

from semialg_fibers.geometry.cone import Pointed, decide_pointed
from semialg_fibers.geometry.domain import Box, Domain, Orthant, Space
from semialg_fibers.geometry.double_description import cone_of
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ZERO, Vector, dot


@dataclass(frozen=True)
class Recession:
    """The recession cone {Σ λ_k r_k + Σ μ_k l_k : λ ≥ 0}, rows r_k of `rays` and l_k of `lines`.

    K = {w : w·r_k ≥ 0, w·l_k = 0} are the weights of the forms that are bounded below on the domain.
    """

    rays: Matrix
    lines: Matrix

    def bounds(self, weights: Sequence[fmpq]) -> bool:
        """Say whether the weights lie in K."""
        return not any(self.lines.times(weights)) and all(value >= 0 for value in self.rays.times(weights))

    @cached_property
    def bounded(self) -> BoundedSpan:
        """The span of K itself, which is all that vanishes on the lines, with a vector of its interior."""
        return bounded_span(Matrix.identity(self.lines.shape[1]), self)

    @property
    def dimension(self) -> int:
        """The dimension of K."""
        return self.bounded.basis.shape[0]


def recession(domain: Domain) -> Recession:
    """Give the recession cone of a domain.

    >>> recession(Orthant(2)).bounds((fmpq(1), fmpq(0))), recession(Space(1)).bounds((fmpq(1),))
    (True, False)
    """
    size = domain.dimension
    nothing = Matrix([], columns=size)
    if isinstance(domain, Box):
        return Recession(nothing, nothing)
    if isinstance(domain, Orthant):
        return Recession(Matrix.identity(size), nothing)
    if isinstance(domain, Space):
        return Recession(nothing, Matrix.identity(size))
    cone = cone_of(domain)
    rays = [ray[:-1] for ray in cone.rays if not ray[-1]]
    lines = [line[:-1] for line in cone.lineality]
    return Recession(Matrix.from_integers(rays, columns=size), Matrix.from_integers(lines, columns=size))


@dataclass(frozen=True)
class BoundedSpan:
    """The subspace V' = span(V ∩ K), V the row space of `space`.

    `inner` is a vector of V ∩ K on which every ray is positive that is positive anywhere on V ∩ K. `forced` proves that
    there is nothing more: each λ ≥ 0 has Σ λ_k r_k = 0 on what the ones before it have left of V, so that the rays with
    λ_k > 0 vanish on V ∩ K. `basis` (rows) spans what is left.
    """

    space: Matrix
    recession: Recession
    basis: Matrix
    inner: Vector
    forced: tuple[Vector, ...]

    @property
    def dimension(self) -> int:
        """The dimension of V ∩ K."""
        return self.basis.shape[0]

    def check(self) -> bool:
        """Verify the vector and the proof, exactly."""
        rays = self.recession.rays
        left, vanishing = _without(self.space, self.recession.lines), set()
        for combination in self.forced:
            total = rays.T.times(combination)
            if min(combination) < 0 or any(left.times(total)):
                return False
            vanishing |= {k for k, value in enumerate(combination) if value}
            left = _without(left, rays.select(rows=sorted(vanishing)))
        positive = all(
            dot(ray, self.inner) > 0 or not any(left.times(ray)) for k, ray in enumerate(rays.rows())
        ) and self.recession.bounds(self.inner)
        same = left.shape == self.basis.shape and left.stacked(self.basis).rank() == left.shape[0]
        return positive and same and left.stacked(Matrix([self.inner])).rank() == left.shape[0]


def _without(space: Matrix, normals: Matrix) -> Matrix:
    """Give a basis of the vectors in the row space of `space` on which all normals vanish."""
    basis = space.select(rows=space.independent_rows())
    if 0 in basis.shape or 0 in normals.shape:
        return basis
    return (normals @ basis.T).kernel() @ basis


def bounded_span(space: Matrix, cone: Recession) -> BoundedSpan:
    """Give span(V ∩ K) for the row space V of `space`.

    The rays of the recession cone are forms on V. Either some vector is positive under all that do not vanish on V, and
    then V ∩ K spans V; or a nonnegative combination of some of them is zero on V, and these vanish on V ∩ K.

    Implements: beyond §1.3.

    >>> bounded_span(Matrix([[1, -1, 0], [0, 0, 1]]), recession(Orthant(3))).basis
    Matrix([['0', '0', '1']])
    """
    left = _without(space, cone.lines)
    forced: list[Vector] = []
    while left.shape[0]:
        answer = decide_pointed(left @ cone.rays.T)
        if isinstance(answer, Pointed):
            return BoundedSpan(space, cone, left, left.T.times(answer.functional), tuple(forced))
        forced.append(answer.combination)
        vanishing = [k for k, value in enumerate(answer.combination) if value]
        left = _without(left, cone.rays.select(rows=vanishing))
    return BoundedSpan(space, cone, left, (ZERO,) * space.shape[1], tuple(forced))
