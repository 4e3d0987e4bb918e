"""The components: one for each feasible choice of sides.

Main definitions
    OrientationProblem     k hyperplanes with jumps, an affine remainder, r spare neurons

Main results
    is_feasible            S is feasible iff r spare neurons can realize the remainder M_S
    feasible_sets          all feasible S by size, then lexicographically, pruned where a proof allows it
    count                  by closed form where there is one
    dimension              of component S, closed form

References: theory §2.3, §2.5, §2.6, §2.7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb, lcm

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.fibers.side_search import ROW_BUDGET, OneSignedSearch, RankSearch, count_listed
from semialg_fibers.geometry.cone import Pointed, can_move_inwards, decide_pointed
from semialg_fibers.geometry.domain import Domain, Form, Orthant, Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ZERO, Vector
from semialg_fibers.geometry.subset_sum import zero_one_solutions
from semialg_fibers.geometry.symbolic_matrix import matrix_of

Sides = tuple[int, ...]

BUDGET = 2**16


@dataclass(frozen=True)
class OrientationProblem:
    """Nonlinear neurons (B_l, β_l) with outgoing C_l, remainder (M, v) for S = ∅, and r = `spare` other neurons.

    `forms` are the rows of [B | β] (k of them), `outgoing` the columns C_l, `linear` is M_∅ (m × p), `constant` v_∅.
    """

    domain: Domain
    forms: tuple[Form, ...]
    outgoing: tuple[Vector, ...]
    linear: Matrix
    constant: Vector
    spare: int
    incoming: Matrix | None = field(default=None, compare=False, repr=False)  # the rows B_l, when at hand as a matrix

    @property
    def k(self) -> int:
        """The number of nonlinear neurons."""
        return len(self.forms)

    @property
    def m(self) -> int:
        """The number of outputs."""
        return self.linear.shape[0]

    @property
    def p(self) -> int:
        """The number of inputs."""
        return self.linear.shape[1]

    def remainder(self, sides: Sides) -> tuple[Matrix, Vector]:
        """Give (M_S, v_S) = (M, v) + Σ_(l∈S) C_l (B_l, β_l).

        Implements: theory §2.3.
        """
        rows = [list(row) for row in self.linear.rows()]
        constant = list(self.constant)
        for side in sides:
            form = self.forms[side]
            for a, weight in enumerate(self.outgoing[side]):
                if weight != 0:
                    rows[a] = [x + weight * y for x, y in zip(rows[a], form[:-1], strict=True)]
                    constant[a] += weight * form[-1]
        return matrix_of(rows, self.p), tuple(constant)

    @cached_property
    def _integer_parts(self) -> tuple[list[list[int]], list[list[list[int]]]]:
        """The rows of M and of each C_l B_l, all times one positive number for each output."""
        products = [
            [[weight * value for value in form[:-1]] for weight in column]
            for form, column in zip(self.forms, self.outgoing, strict=True)
        ]
        base = self.linear.rows()
        common = [
            lcm(*(int(value.q) for row in (base[a], *(product[a] for product in products)) for value in row))
            for a in range(self.m)
        ]
        return [[int(value * common[a]) for value in row] for a, row in enumerate(base)], [
            [[int(value * common[a]) for value in row] for a, row in enumerate(product)] for product in products
        ]

    def scaled_linear(self, sides: Sides) -> Matrix:
        """Give M_S with each row times a positive number: what rank and pointedness depend on."""
        base, products = self._integer_parts
        rows = [
            [sum(column) for column in zip(row, *(products[side][a] for side in sides), strict=True)]
            for a, row in enumerate(base)
        ]
        return Matrix.from_integers(rows, columns=self.p)

    def least_linear(self, sides: Sides) -> int | None:
        """Give the least number of linear neurons that realize M_S; None when no number does.

        Implements: theory §2.4 (orthant), §2.7 (R^p, box).
        """
        linear = self.scaled_linear(sides)
        if isinstance(self.domain, Space):
            return 0 if linear.is_zero() else None
        rank = linear.rank()
        return rank if self._is_simplicial(linear, rank) else rank + 1

    def _is_simplicial(self, linear: Matrix, rank: int) -> bool:
        """Say whether rank many linear neurons suffice: on a box always, on the orthant iff the cone is pointed."""
        if not isinstance(self.domain, Orthant) or rank in (0, self.p):
            return True
        return isinstance(decide_pointed(linear), Pointed)

    def is_certain(self, sides: Sides) -> bool:
        """Say whether a feasible S is so for certain: for numbers always."""
        return self.is_feasible(sides)

    def usual_linear(self, sides: Sides) -> int:
        """Give the number of linear neurons of the part of largest dimension: the least one."""
        least = self.least_linear(sides)
        assert least is not None  # the component is feasible
        return least

    def is_feasible(self, sides: Sides) -> bool:
        """Say whether r spare neurons realize M_S.

        Implements: theory §2.3.
        """
        linear = self.scaled_linear(sides)
        if isinstance(self.domain, Space):
            return linear.is_zero()
        rank = linear.rank()
        return rank < self.spare or (rank == self.spare and self._is_simplicial(linear, rank))

    # counting and listing

    @cached_property
    def all_feasible(self) -> bool:
        """Whether every S is feasible for want of room to fail: r ≥ the largest possible rank₊col.

        Implements: theory §2.6.
        """
        if isinstance(self.domain, Space):
            return self.k == 0 and self.linear.is_zero()
        largest = min(self.p, self.m + 1) if isinstance(self.domain, Orthant) else min(self.p, self.m)
        return self.spare >= largest

    @property
    def _must_vanish(self) -> bool:
        return self.spare == 0 or isinstance(self.domain, Space)

    @cached_property
    def rank_is_monotone(self) -> bool:
        """Whether rank M_S is proved to grow with S: with M = U K, [U, C_l] or [K; B_l] has independent members."""
        basis = self.linear.select(columns=self.linear.independent_columns())
        rows = self.linear.select(rows=self.linear.independent_rows())
        incoming = rows.stacked(Matrix([form[:-1] for form in self.forms], columns=self.p))
        outgoing = basis.beside(Matrix.from_columns(self.outgoing, self.m))
        return incoming.rank() == incoming.shape[0] or outgoing.rank() == outgoing.shape[1]

    @cached_property
    def jumps_are_independent(self) -> bool:
        """Whether the rank-one matrices C_l B_l are proved linearly independent: then Σ_(l∈S) C_l B_l ≠ 0 for S ≠ ∅.

        Implements: theory §5.
        """
        incoming = self.incoming or Matrix([form[:-1] for form in self.forms], columns=self.p)
        outgoing = Matrix.from_columns(self.outgoing, self.m)
        if not all(any(row) for row in incoming.integer_rows()) or not all(any(column) for column in self.outgoing):
            return False
        if self.k > self.m * self.p:
            return False
        if incoming.rank() == self.k or outgoing.rank() == self.k:
            return True
        # A projection y·C_l only loses rank: full rank of (y·C_l) B_l for some vectors y side by side is a proof.
        sums = [
            [sum((c * (a + 2) ** power for a, c in enumerate(column)), ZERO) for column in self.outgoing]
            for power in range(1, 2 + self.k // self.p + 1)
        ]
        rows = [
            [factors[side] * value for factors in sums for value in form[:-1]] for side, form in enumerate(self.forms)
        ]
        return Matrix(rows).rank() == self.k

    def feasible_sets(self, budget: int = BUDGET) -> Iterator[Sides]:
        """Yield every feasible S, by size, then lexicographically.

        Raises:
            BudgetExceededError: after testing `budget` sets without an end.
        """
        if self.all_feasible:
            for size in range(self.k + 1):
                yield from combinations(range(self.k), size)
        elif self._must_vanish:
            if self.linear.is_zero():
                yield ()  # before the search for more, which may exceed its budget
            yield from (sides for sides in self._vanishing_sets if sides)
        else:
            yield from self._by_levels(budget)

    @cached_property
    def _vanishing_sets(self) -> tuple[Sides, ...]:
        """The sets with M_S = 0 in order: 0/1 solutions of Σ_l x_l C_l B_l = −M."""
        if self.jumps_are_independent and self.linear.is_zero():
            return ((),)
        cells = [(a, i) for a in range(self.m) for i in range(self.p)]
        products = [
            [column[a] * form[i] for a, i in cells] for form, column in zip(self.forms, self.outgoing, strict=True)
        ]
        target = tuple(-self.linear[a, i] for a, i in cells)
        found = zero_one_solutions(Matrix.from_columns(products, len(cells)), target)
        return tuple(sorted(found, key=lambda sides: (len(sides), sides)))

    @property
    def _vanishing_is_known(self) -> bool:
        try:
            self._vanishing_sets  # noqa: B018
        except BudgetExceededError:
            return False
        return True

    @property
    def is_countable(self) -> bool:
        """Whether all feasible S are known to be found: a closed form, a proof that prunes, or few enough sets."""
        if self.all_feasible:
            return True
        if self._must_vanish:
            return self._vanishing_is_known
        return self.rank_is_monotone or 2**self.k <= BUDGET

    def _by_levels(self, budget: int) -> Iterator[Sides]:
        level: list[Sides] = [()]
        tested = found = 0
        while level:
            following: list[Sides] = []
            for sides in level:
                tested += 1
                if tested > budget:
                    words = f"after {budget} of 2^{self.k} choices of sides {found} are feasible"
                    raise BudgetExceededError(words, low=found, high=found + 2**self.k - (tested - 1))
                if self.is_feasible(sides):
                    found += 1
                    yield sides
                # Supersets of a set whose rank is too large have no smaller rank, where that is proved.
                if not self.rank_is_monotone or self.scaled_linear(sides).rank() <= self.spare:
                    last = sides[-1] if sides else -1
                    following += [(*sides, side) for side in range(last + 1, self.k)]
            level = following

    def count(self, budget: int = BUDGET) -> int:
        """Give the number of feasible S, by closed form where there is one.

        Implements: theory §2.6.

        Raises:
            BudgetExceededError: as `feasible_sets`.
        """
        if self.all_feasible:
            return int(2**self.k)
        if self.needs_search:
            return self.count_below((), budget)
        # Erdős 1945: at most so many subset sums of nonzero vectors are equal.
        nonzero = self._must_vanish and all(map(any, (*self.outgoing, *(form[:-1] for form in self.forms))))
        return count_listed(self.feasible_sets(budget), self.k, comb(self.k, self.k // 2) if nonzero else None)

    @property
    def needs_search(self) -> bool:
        """Whether neither a closed form, nor subset sums, nor the growth of the rank gives the number."""
        return not (self.all_feasible or self._must_vanish or self.rank_is_monotone)

    def count_below(self, prefix: Sides, budget: int = BUDGET) -> int:
        """Give the number of feasible S that begin with these 0/1 in the order of the `search`.

        Raises:
            BudgetExceededError: with the proved interval (`.low`, `.high`).
        """
        if isinstance(self.search, OneSignedSearch):
            return self.search.count(ROW_BUDGET // BUDGET * budget, prefix)
        return self.search.count(2 * budget, prefix)  # at most as many prefixes as sets

    @cached_property
    def search(self) -> OneSignedSearch | RankSearch:
        """The search through all S, for want of a closed form."""
        linear, products = self._integer_parts
        if (self.m, self.spare) == (1, 1) and isinstance(self.domain, Orthant):
            return OneSignedSearch(tuple(linear[0]), tuple(tuple(row) for (row,) in products))
        base, *matrices = (Matrix.from_integers(rows, columns=self.p) for rows in (linear, *products))
        return RankSearch(base, tuple(matrices), self.spare, not isinstance(self.domain, Orthant), self.is_feasible)

    # dimensions

    def part_dimension(self, sides: Sides, q: int) -> int:
        """Give the dimension of the part of component S with q linear neurons: k + max_s D(s, q) + q + (r − q) N.

        Implements: theory §2.5.
        """
        linear = self.scaled_linear(sides)
        rho = linear.rank()
        return self._part(rho, isinstance(self.domain, Space) or self._is_simplicial(linear, rho), q)

    def _part(self, rho: int, simplicial: bool, q: int) -> int:
        m, p, dead = self.m, self.p, self.spare - q
        if isinstance(self.domain, Space):
            return self.k + self.spare * (1 + m)
        choices = [s for s in range(rho, min(m, q) + 1) if s < q or simplicial]
        pairs = max((s - rho) * (m - s) + s * q + p * (q - s) for s in choices)
        return self.k + pairs + q + dead * (p + 1 + m)

    def dimension(self, sides: Sides) -> int:
        """Give the dimension of component S by the closed form.

        Implements: theory §2.5, §2.7.
        """
        linear = self.scaled_linear(sides)
        rho = linear.rank()
        return self._closed_form(rho, isinstance(self.domain, Space) or self._is_simplicial(linear, rho))

    def _closed_form(self, rho: int, simplicial: bool) -> int:
        k, p, m, r = self.k, self.p, self.m, self.spare
        if isinstance(self.domain, Space):
            return k + r * (1 + m)
        n = p + 1 + m
        if simplicial:
            return k + rho**2 + rho + (r - rho) * n
        return k + rho * (rho + 1) + p + rho + 1 + (r - rho - 1) * n

    def largest_dimension(self, budget: int = BUDGET // 16) -> int:
        """Give the largest dimension of a component; it falls with the rank of M_S, so small ranks end the search.

        Raises:
            BudgetExceededError: when more than `budget` components would have to be looked at.
        """
        if isinstance(self.domain, Space) or self.spare == 0:
            return self._closed_form(0, True)
        bound = self._closed_form(self._least_rank(), True)
        best = -1
        for count, sides in enumerate(self.feasible_sets(budget)):
            best = max(best, self.dimension(sides))
            if best == bound:
                return best
            if count >= budget - 1 and 2**self.k > budget:
                raise BudgetExceededError(
                    f"the largest dimension among 2^{self.k} components was not found among the first {budget}"
                )
        return best

    def _least_rank(self) -> int:
        """Give a proved lower bound for rank M_S over all S."""
        if self.rank_is_monotone:
            return self.linear.rank()
        try:
            return 0 if self._vanishing_sets else 1
        except BudgetExceededError:
            return 0

    def local_dimension(self, incoming: Matrix, outgoing: Matrix) -> int | None:
        """Give the local dimension at a member with these linear rows B (q × p) and columns C (m × q).

        None where the closed form is not valid: rank C = s, rank B = t must satisfy s = m or t = p or s + t = q + ρ,
        and from entries of B that are zero one must be able to move inwards.

        Implements: theory §2.5.
        """
        m, p, k, q = self.m, self.p, self.k, incoming.shape[0]
        if isinstance(self.domain, Space):
            return k + self.spare * (1 + m)
        s, t, rho = outgoing.rank(), incoming.rank(), self.linear.rank()
        if not (s == m or t == p or s + t == q + rho):
            return None
        if isinstance(self.domain, Orthant) and not can_move_inwards(incoming, outgoing):
            return None
        pairs = m * q + q * p - m * p + (m - s) * (p - t)
        return k + pairs + q + (self.spare - q) * (p + 1 + m)
