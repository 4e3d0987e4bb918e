"""The choice of sides where the parameters have letters: each answer under its condition.

Main definitions
    SymbolicOrientationProblem    an `OrientationProblem` whose M_S may have letters

Main results
    cases                 the ranks of M_S and the kinds of its cone that the letters allow, with what follows from each
    feasible_sets, count  all S that are feasible for some values; counted where that is the same for all values

References: theory §2.3, §2.4, §2.5, §5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import Any

from semialg_fibers.errors import UndecidedSignError, UnsupportedError
from semialg_fibers.fibers.conditions import Case, Condition, PointedIs, RankIs, open_parts, vanishing
from semialg_fibers.fibers.orientation import BUDGET, OrientationProblem, Sides
from semialg_fibers.geometry.decision import common_divisor, without_common_factor
from semialg_fibers.geometry.domain import Orthant, Space
from semialg_fibers.geometry.expression import is_zero, signs_of
from semialg_fibers.geometry.insertion import put
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector
from semialg_fibers.geometry.signs import NONNEGATIVE, NONPOSITIVE
from semialg_fibers.geometry.symbolic_matrix import SymbolicMatrix, column_matrix, letters_in, matrix_of


@dataclass(frozen=True)
class SymbolicOrientationProblem(OrientationProblem):
    """As `OrientationProblem`; `own` are the weights B_j and columns C_j of the q linear neurons: M_∅ = Σ C_j B_j.

    For S = ∅ the hypothesis (G5) is taken for granted, as the fiber does: rank M_∅ = min(m, p, q); so is (G2), that no
    column C_l of a nonlinear neuron is zero.
    """

    own: tuple[tuple[Vector, Vector], ...] = ()

    @classmethod
    def of(cls, problem: OrientationProblem, own: tuple[tuple[Vector, Vector], ...]) -> SymbolicOrientationProblem:
        """Give the same problem, to be answered for all values of the letters."""
        data: dict[str, Any] = {part.name: getattr(problem, part.name) for part in fields(OrientationProblem)}
        return cls(**data, own=own)

    def subs(self, values: Mapping[Any, Any]) -> OrientationProblem:
        """Put numbers or expressions for letters; without letters it is an ordinary problem."""
        data = [put(getattr(self, part.name), values) for part in fields(OrientationProblem)]
        made = OrientationProblem(*data)
        return SymbolicOrientationProblem.of(made, put(self.own, values)) if letters_in(*data) else made

    def scaled_linear(self, sides: Sides) -> Matrix:
        """Give M_S itself."""
        return self.remainder(sides)[0]

    @cached_property
    def _known_cases(self) -> dict[Sides, tuple[Case, ...]]:
        return {}

    def cases(self, sides: Sides) -> tuple[Case, ...]:
        """Give the cases that the letters allow and in which r spare neurons realize M_S; none where none does.

        Implements: theory §2.4, §2.5.
        """
        if sides not in self._known_cases:
            self._known_cases[sides] = self._find_cases(sides)
        return self._known_cases[sides]

    def _find_cases(self, sides: Sides) -> tuple[Case, ...]:
        linear = self.scaled_linear(sides)
        entries = [value for row in linear.rows() for value in row]
        if self._must_vanish:
            if any(0 not in signs_of(value) for value in entries) or self._contradicts(linear):
                return ()
            certain = all(is_zero(value) for value in entries)
            conditions: tuple[Condition, ...] = () if certain else (vanishing(linear),)
            return (Case(conditions, 0, True, 0, self._closed_form(0, True)),)
        found = []
        for rank in self._ranks(sides, linear):
            if not rank and self._contradicts(linear):
                continue
            shapes = self._shapes(sides, linear, rank)
            for simplicial in shapes:
                least = rank if simplicial else rank + 1
                if least <= self.spare:
                    conditions = self._conditions(sides, linear, rank, simplicial, len(shapes) > 1)
                    found.append(Case(conditions, rank, simplicial, least, self._closed_form(rank, simplicial)))
        return tuple(found)

    def _contradicts(self, linear: Matrix) -> bool:
        """Say whether M_S = 0 makes some column C_l zero, against (G2)."""
        vanish = set(open_parts(value for row in linear.rows() for value in row))
        return bool(vanish) and any(set(open_parts(column)) <= vanish for column in self.outgoing)

    def _ranks(self, sides: Sides, linear: Matrix) -> range:
        """Give the ranks that M_S may have; for S = ∅ the one of (G5)."""
        if not isinstance(linear, SymbolicMatrix):
            return range(linear.rank(), linear.rank() + 1)
        largest = linear.rank_at_some_values
        if largest < min(
            *linear.shape, len(self.own) + len(sides)
        ):  # else a sum of so many rank-one matrices proves it
            largest = linear.generic_rank
        return range(largest if not sides else linear.least_rank, largest + 1)

    def _shapes(self, sides: Sides, linear: Matrix, rank: int) -> tuple[bool, ...]:
        """Say whether rank many linear neurons suffice: (True,), (False,), or both where the letters leave it open."""
        if not isinstance(self.domain, Orthant) or rank in (0, self.p):
            return (True,)
        if not isinstance(linear, SymbolicMatrix):
            return (self._is_simplicial(linear, rank),)
        if not sides and rank == len(self.own):
            return (True,)  # M = C B with B ≥ 0 and independent columns C
        return _pointed(linear, rank)

    def _conditions(
        self, sides: Sides, linear: Matrix, rank: int, simplicial: bool, open_shape: bool
    ) -> tuple[Condition, ...]:
        found: list[Condition] = []
        if len(self._ranks(sides, linear)) > 1:
            found.append(RankIs(linear, rank) if rank else vanishing(linear))
        if open_shape:
            found.append(PointedIs(linear, simplicial))
        return tuple(found)

    def is_certain(self, sides: Sides) -> bool:
        """Say whether S is feasible for all values of the letters: no case is left out."""
        if self._must_vanish:
            return self.cases(sides)[0].conditions == ()
        linear = self.scaled_linear(sides)
        ranks = [rank for rank in self._ranks(sides, linear) if rank or not self._contradicts(linear)]
        allowed = sum(len(self._shapes(sides, linear, rank)) for rank in ranks)
        return len(self.cases(sides)) == allowed

    def least_linear(self, sides: Sides) -> int | None:
        """Give the least number of linear neurons that realize M_S in some case; None when no number does."""
        return min((case.least for case in self.cases(sides)), default=None)

    def usual_linear(self, sides: Sides) -> int:
        """Give the least number of linear neurons in the last case, that of the largest rank."""
        return self.cases(sides)[-1].least

    def is_feasible(self, sides: Sides) -> bool:
        """Say whether r spare neurons realize M_S for some values of the letters."""
        return bool(self.cases(sides))

    def factorization(self, sides: Sides, q: int) -> tuple[Matrix, Matrix]:
        """Give some C' (m × q) and B' ≥ 0 (q × p) with C'B' = M_S, which random positive scalings then vary.

        Raises:
            UnsupportedError: where none is at hand for all values of the letters.
        """
        linear = self.scaled_linear(sides)
        if not sides and q >= len(self.own):
            pairs: list[tuple[Vector, Vector]] = list(self.own)
        elif isinstance(self.domain, Space) or (not isinstance(linear, SymbolicMatrix) and linear.is_zero()):
            pairs = []  # M_S = 0, on R^d wherever S is feasible
        elif q >= self.p:
            axes = Matrix.identity(self.p).rows()
            pairs = list(zip(axes, linear.columns(), strict=True))
        else:
            raise UnsupportedError(
                f"no member with {q} linear neurons is known for all values of the letters: substitute numbers"
            )
        spare = ((ZERO if isinstance(self.domain, Space) else ONE,) * self.p, (ZERO,) * self.m)  # theory §2.7: B' = 0
        pairs += [spare] * (q - len(pairs))
        left = column_matrix([column for _, column in pairs], self.m)
        return left, matrix_of([row for row, _ in pairs], self.p)

    # counting and listing

    @property
    def is_countable(self) -> bool:
        """Every choice of sides that may be feasible is listed, with its condition."""
        return True

    def feasible_sets(self, budget: int = BUDGET) -> Iterator[Sides]:
        """Yield every S that is feasible for some values of the letters, by size, then lexicographically."""
        for size in range(self.k + 1):
            for sides in combinations(range(self.k), size):
                if self.cases(sides):
                    yield sides

    @cached_property
    def _open_sides(self) -> Sides | None:
        return next((sides for sides in self.feasible_sets() if sides and not self.is_certain(sides)), None)

    def count(self, budget: int = BUDGET) -> int:
        """Give the number of feasible S.

        Raises:
            UndecidedSignError: where it depends on the values of the letters; names the first open S and its condition.
        """
        if self._open_sides is not None:
            raise UndecidedSignError(self._says(self._open_sides, "the number of components depends on the letters"))
        return sum(1 for _ in self.feasible_sets(budget))

    def _says(self, sides: Sides, what: str) -> str:
        rows = ", ".join(str(side + 1) for side in sides)
        when = "; or ".join(map(str, self.cases(sides)))
        return f"{what}: the nonlinear neurons {rows} can be flipped together iff {when}"

    # dimensions

    def part_dimension(self, sides: Sides, q: int) -> int:
        """Give the dimension of the part of component S with q linear neurons.

        Raises:
            UndecidedSignError: where it depends on the values of the letters.
        """
        found = {self._part(case.rank, case.simplicial, q) for case in self.cases(sides) if case.least <= q}
        return self._only(sides, found)

    def dimension(self, sides: Sides) -> int:
        """Give the dimension of component S.

        Raises:
            UndecidedSignError: where it depends on the values of the letters; names the cases.
        """
        return self._only(sides, {case.dimension for case in self.cases(sides)})

    def _only(self, sides: Sides, found: set[int]) -> int:
        if len(found) == 1:
            return found.pop()
        cases = "; ".join(f"{case.dimension} if {case}" for case in self.cases(sides))
        raise UndecidedSignError(f"the dimension depends on the values of the letters: {cases}")

    def largest_dimension(self, budget: int = BUDGET // 16) -> int:
        """Give the largest dimension of a component.

        Raises:
            UndecidedSignError: where it depends on the values of the letters.
        """
        sure, highest = -1, -1
        for sides in self.feasible_sets():
            dimensions = {case.dimension for case in self.cases(sides)}
            highest = max(highest, *dimensions)
            if not sides or self.is_certain(sides):
                sure = max(sure, min(dimensions))
        if sure == highest:
            return sure
        raise UndecidedSignError(
            "the largest dimension of a component depends on the values of the letters: "
            "substitute numbers, or ask the components for their dimensions"
        )

    def local_dimension(self, incoming: Matrix, outgoing: Matrix) -> int | None:
        """Give the local dimension at the given member; None where the closed form is not known to be valid."""
        try:
            return super().local_dimension(incoming, outgoing)
        except (UndecidedSignError, UnsupportedError):
            return None


def _pointed(linear: Matrix, rank: int) -> tuple[bool, ...]:
    """Say whether the cone of the columns is pointed where signs show it, else both.

    A row may be divided by what is not zero: by a common factor of its entries where that has a sure sign, or where the
    matrix has full row rank, so that no row is zero.
    """
    rows = []
    for row in linear.rows():
        reduced = without_common_factor(row)
        sure = rank == linear.shape[0] or 0 not in signs_of(common_divisor(row))
        rows.append([signs_of(value) for value in (reduced if sure else row)])
    if rank == 1 and any({1} in row and {-1} in row for row in rows):
        return (False,)  # the columns are multiples of one vector, of both signs
    definite = [row for row in rows if all(s <= NONNEGATIVE for s in row) or all(s <= NONPOSITIVE for s in row)]
    strict = [any(0 not in row[j] for row in definite) for j in range(linear.shape[1])]
    zero = [all(is_zero(value) for value in column) for column in linear.columns()]
    if all(a or b for a, b in zip(strict, zero, strict=True)):
        return (True,)  # y = ± those rows' unit vectors, added
    return (True, False)
