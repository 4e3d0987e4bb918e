"""The equation that the neurons off the essential hyperplanes must solve, given the sides: C_L B_L = M + X W + Y G.

Main definitions
    Balance     M_F (flips included), W (the hyperplanes that are split), and the domain's bounded forms
    Piece       the solutions with given ranks of Y, and of Y modulo the columns of C_L

Main results
    Balance.pieces          all pieces that are not empty, with their dimensions
    Balance.least_linear    the least number of linear neurons, with the numbers that prove it

For any polyhedral domain: K, the weights of forms that are bounded below, spans the subspace L of all forms that vanish
on the lines of the domain. (L = 0 on R^p, everything on the orthant and the box.) For domains between these, and for
split ghosts, the page has no formula; those here are derived by the same fibration, which the docstrings sketch, and
are checked by exhaustive searches and against Jacobians.

References: beyond §1.2–1.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.recession import BoundedSpan, Recession, bounded_span


@dataclass(frozen=True, order=True)
class Piece:
    """The solutions with rank Y = `rank`, and rank `outer` of Y modulo the columns of C_L: a manifold.

    `confined` says that all rows of B_L lie in the span of what is bounded in V, the space of all rows that occur.
    """

    dimension: int
    rank: int
    outer: int
    confined: bool


@dataclass(frozen=True)
class Feasibility:
    """Why q_min linear neurons are needed beside g split ghosts: ρ0 = dim V − w, and how far K reaches in V / W.

    `least_linear` is None when no number suffices. `span` proves what V ∩ K spans.
    """

    balance: Balance
    ghosts: int
    least_linear: int | None
    rank: int
    reach: int
    span: BoundedSpan

    def check(self) -> bool:
        """Verify the span of the bounded forms by its certificate, the ranks, and what follows from them."""
        split = self.balance.split
        known = (split.rank(), self.balance.matrix.stacked(split).rank())
        missing = max(self.rank - self.ghosts, 0)
        enough = missing if not missing or self.reach >= missing else missing + 1
        return (
            self.span.check()
            and self.span.recession == self.balance.cone
            and self.span.space.shape[0] == known[1] == self.balance.rows.stacked(self.span.space).rank()
            and self.rank == known[1] - known[0]
            and self.reach == self.span.basis.stacked(split).rank() - known[0]
            and self.least_linear == (enough if self.balance.line_image.rank() <= self.ghosts else None)
        )


@dataclass(frozen=True)
class Balance:
    """C_L B_L = M + X W + Y G: C_L, X, Y free, rows of B_L in K, rows of G not zero.

    M (m × p) contains the flipped hyperplanes' terms, the rows of W (splits × p) are the split hyperplanes' weights.
    """

    matrix: Matrix
    split: Matrix
    cone: Recession

    @property
    def m(self) -> int:
        """The number of outputs."""
        return self.matrix.shape[0]

    @property
    def p(self) -> int:
        """The number of inputs."""
        return self.matrix.shape[1]

    @cached_property
    def rows(self) -> Matrix:
        """A basis of V, the sum of the row spaces of M and W."""
        both = self.matrix.stacked(self.split)
        return both.select(rows=both.independent_rows())

    @cached_property
    def rank(self) -> int:
        """ρ0 = min over X of rank(M + X W) = dim V − rank W.

        Implements: beyond §1.3.
        """
        return self.rows.shape[0] - self.split.rank()

    @cached_property
    def span(self) -> BoundedSpan:
        """V' = span(V ∩ K)."""
        return bounded_span(self.rows, self.cone)

    @cached_property
    def reach(self) -> int:
        """Give dim(V' + W) − dim W."""
        return self.span.basis.stacked(self.split).rank() - self.split.rank()

    @cached_property
    def image(self) -> Matrix:
        """M on the vectors on which W vanishes, as columns: C_L and Y together must contain it."""
        return _image(self.matrix, self.split.kernel())

    @cached_property
    def line_image(self) -> Matrix:
        """The same on the lines of the domain, where B_L vanishes: Y alone must contain it."""
        lines = self.cone.lines
        along = (self.split @ lines.T).kernel() @ lines if lines.shape[0] else lines
        return _image(self.matrix, along)

    @cached_property
    def _confined(self) -> int:
        """The codimension of V' in the part of V that vanishes on the lines."""
        return self.rows.shape[0] - (self.rows @ self.cone.lines.T).rank() - self.span.dimension

    def pieces(self, q: int, s: int, ghosts: int) -> Iterator[Piece]:
        """Yield the pieces with q linear neurons, rank C_L = s, and so many split ghosts.

        Choose T = im C_L + im Y, in it im Y and im C_L, then Y, C_L, then X and G by linear equations, last B_L: each
        choice is from a family whose dimension is that of a Grassmannian, of bases, or of a linear system.

        Implements: beyond §1.4.
        """
        m, p, lines = self.m, self.p, self.cone.lines.shape[0]
        w, splits, bounded = self.split.rank(), self.split.shape[0], p - lines
        along = (self.split @ self.cone.lines.T).rank()
        least = self.line_image.shape[1]
        if not 0 <= s <= min(q, m):
            return
        for outer in range(min(m - s, ghosts) + 1):
            t = s + outer
            if t < self.rank:
                continue
            for rank in range(max(least, outer), min(ghosts, t) + 1):
                fixed = (rank == ghosts or not lines) and (outer == ghosts or not bounded)
                if ghosts and fixed and not w and not self.rank:
                    continue  # G = 0 would be forced
                dimension = (t - self.rank) * (m - t) + (rank - least) * (t - rank) + s * outer
                dimension += rank * ghosts + s * q  # bases: Y, C_L
                dimension += rank * along + t * (w - along) + m * (splits - w)  # X
                dimension += lines * (ghosts - rank) + bounded * (ghosts - outer)  # G
                dimension += bounded * (q - s)  # B_L
                # With q = s the rows of B_L are determined, and when Y does not meet the columns of C_L they lie in V.
                confined = q == s > 0 and rank == outer
                if confined:
                    if min(s, self.reach) + outer < self.rank:
                        continue
                    dimension -= s * self._confined
                yield Piece(dimension, rank, outer, confined)

    def largest(self, q: int, s: int, ghosts: int) -> Piece | None:
        """Give a piece of the largest dimension, None when there is no solution."""
        return max(self.pieces(q, s, ghosts), default=None)

    def ranks(self, q: int, ghosts: int) -> list[int]:
        """Give the possible ranks of C_L."""
        return [s for s in range(min(q, self.m) + 1) if self.largest(q, s, ghosts) is not None]

    def feasibility(self, ghosts: int = 0) -> Feasibility:
        """Give the least number of linear neurons beside so many split ghosts, with what proves it.

        Every solution has row space V ⊂ row spaces of B_L, W and G together, so that q ≥ ρ = ρ0 − g. With q = ρ the
        rows of B_L lie in V, so that V' must reach ρ dimensions of V / W. One row more, a large interior vector of K,
        makes any rows that vanish on the lines bounded. What does not vanish on the lines only G can contribute.

        Implements: beyond §1.3.

        >>> from semialg_fibers.geometry.domain import Orthant
        >>> from semialg_fibers.geometry.recession import recession
        >>> Balance(Matrix([[1, -1]]), Matrix([], columns=2), recession(Orthant(2))).feasibility().least_linear
        2
        """
        least: int | None = max(self.rank - ghosts, 0)
        if self.line_image.shape[1] > ghosts:
            least = None
        elif least and self.reach < least:
            least += 1
        return Feasibility(self, ghosts, least, self.rank, self.reach, self.span)


def _image(matrix: Matrix, vectors: Matrix) -> Matrix:
    """Give independent columns that span the image of the row vectors `vectors` under the matrix."""
    image = matrix @ vectors.T
    return image.select(columns=image.independent_columns())
