"""Two ways to Gordan's alternative for integer columns: a float proposal that is checked, and an exact simplex.

Main definitions
    Functional     y with yᵀM_i > 0 for every column
    Combination    λ ≥ 0, λ ≠ 0 with M λ = 0

Main results
    propose        HiGHS proposes, refined by exact residuals; only what passes an exact check is returned
    solve          exact simplex on {M λ = 0, Σλ = 1, λ ≥ 0}: one of the two, proved

The columns are nonzero primitive integer vectors of one height, the rows linearly independent.
References: findings on thin cones in docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, exact_from_float, primitive

SMALL = 400  # entries; below this the exact simplex ends before HiGHS would be imported

Columns = Sequence[tuple[int, ...]]


@dataclass(frozen=True)
class Functional:
    """y with yᵀM_i > 0 for every column."""

    values: Vector

    def holds(self, columns: Columns) -> bool:
        """Check every sign exactly."""
        y = primitive(self.values)
        return all(sum(a * b for a, b in zip(y, column, strict=True)) > 0 for column in columns)


@dataclass(frozen=True)
class Combination:
    """λ ≥ 0, λ ≠ 0 with M λ = 0."""

    values: Vector


def propose(columns: Columns, rounds: int = 12) -> Functional | Combination | None:
    """Let HiGHS maximise t with yᵀM_i ≥ t, |y| ≤ 1, and keep what passes an exact check.

    A thin cone needs more digits of y than a float has: the exact residuals, scaled up, are the next program's
    right-hand side, and its solution is added (iterative refinement).
    """
    lengths = [max(abs(value) for value in column) for column in columns]
    scaled = [tuple(fmpq(value, length) for value in column) for column, length in zip(columns, lengths, strict=True)]
    matrix = Matrix(scaled)
    y: Vector = (ZERO,) * len(columns[0])
    residuals = (ZERO,) * len(columns)
    scale = ONE
    # A residual above the height binds no step, as |δᵀM_i| ≤ height·|M_i| and t ≤ 1; more may not fit into a float.
    slack = fmpq(len(columns[0]) + 1)
    for _ in range(rounds):
        program = _Program(columns, [_nearest(min(value * scale, slack)) for value in residuals])
        if program.step is None:
            return None
        y = tuple(a + b / scale for a, b in zip(y, program.step, strict=True))
        for candidate in (Functional(y), Functional(tuple(-value for value in y))):
            if candidate.holds(columns):
                return candidate
        combined = _from_support(columns, program.support)
        if combined is not None:
            return combined
        residuals = matrix.times(y)
        worst = max(-value for value in residuals)
        if worst <= 0 or 1 / worst < 2 * scale:
            return None
        scale = fmpq(1 << (int((1 / worst).floor()).bit_length()))
    return None


def _nearest(value: fmpq) -> float:
    return int(value.p) / int(value.q)


class _Program:
    """One float program: max t with δᵀM_i/|M_i| + r_i ≥ t, |δ| ≤ 1; it proposes, and never decides."""

    def __init__(self, columns: Columns, residuals: list[float]) -> None:
        import highspy
        import numpy as np

        height = len(columns[0])
        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        solver.setOptionValue("output_flag", False)
        infinity = highspy.kHighsInf
        for _ in range(height):
            solver.addVar(-1.0, 1.0)
        solver.addVar(-infinity, 1.0)
        solver.changeColCost(height, -1.0)
        index = np.arange(height + 1, dtype=np.int32)
        for column, residual in zip(columns, residuals, strict=True):
            length = max(abs(value) for value in column)
            row = np.array([*(value / length for value in column), -1.0])
            solver.addRow(-residual, infinity, height + 1, index, row)
        solver.run()
        solution = solver.getSolution()
        self.step: Vector | None = None
        self.support: list[int] = []
        if solution.value_valid:
            self.step = tuple(
                exact_from_float(round(value * 2.0**40) / 2.0**40) for value in solution.col_value[:height]
            )
            self.support = [i for i, value in enumerate(solution.row_dual) if abs(value) > 1e-9]


def _from_support(columns: Columns, support: list[int]) -> Combination | None:
    """Solve M λ = 0 exactly on the support of the dual."""
    if not support:
        return None
    kernel = Matrix.from_integers([columns[i] for i in support]).T.kernel()
    if kernel.shape[0] != 1:
        return None
    line = kernel.row(0)
    if all(value <= 0 for value in line):
        line = tuple(-value for value in line)
    if any(value < 0 for value in line):
        return None
    values = [ZERO] * len(columns)
    for i, value in zip(support, line, strict=True):
        values[i] = value
    return Combination(tuple(values))


def solve(columns: Columns, budget: int) -> Functional | Combination:
    """Decide by the exact revised simplex method on {M λ = 0, Σλ = 1, λ ≥ 0}, phase one.

    Raises:
        BudgetExceededError: after `budget` pivots.
    """
    height = len(columns[0]) + 1
    lifted = [(*column, 1) for column in columns]
    count = len(lifted)
    basis = list(range(count, count + height))  # artificial variables first
    inverse = fmpq_mat(height, height, [int(i == j) for i in range(height) for j in range(height)])
    values = [ZERO] * (height - 1) + [ONE]
    for _ in range(budget):
        costs = fmpq_mat(1, height, [int(b >= count) for b in basis])
        duals = (costs * inverse).tolist()[0]
        entering = _entering(lifted, duals)
        if entering is None:
            break
        direction = (inverse * fmpq_mat(height, 1, list(lifted[entering]))).tolist()
        step = [row[0] for row in direction]
        leaving = _leaving(values, step, inverse)
        length = values[leaving] / step[leaving]
        inverse = _pivoted(inverse, step, leaving, height)
        values = [values[i] - length * step[i] for i in range(height)]
        values[leaving] = length
        basis[leaving] = entering
    else:
        raise BudgetExceededError(f"pointedness was not decided within {budget} pivots of the exact simplex method")
    if any(b >= count and value for b, value in zip(basis, values, strict=True)):
        return Functional(tuple(-value for value in duals[:-1]))
    combination = [ZERO] * count
    for b, value in zip(basis, values, strict=True):
        if b < count:
            combination[b] = value
    return Combination(tuple(combination))


def _entering(lifted: list[tuple[int, ...]], duals: list[fmpq]) -> int | None:
    """Give the column with the largest positive value of the duals."""
    y = primitive(duals)
    best, where = 0, None
    for j, column in enumerate(lifted):
        gain = sum(a * b for a, b in zip(y, column, strict=True))
        if gain > best:
            best, where = gain, j
    return where


def _leaving(values: list[fmpq], step: list[fmpq], inverse: fmpq_mat) -> int:
    """Give the row of the smallest ratio, ties by the rows of the inverse: lexicographic, so that it cannot cycle."""
    rows = [i for i, value in enumerate(step) if value > 0]
    least = min(values[i] / step[i] for i in rows)
    rows = [i for i in rows if values[i] / step[i] == least]
    column = 0
    while len(rows) > 1:
        least = min(inverse[i, column] / step[i] for i in rows)
        rows = [i for i in rows if inverse[i, column] / step[i] == least]
        column += 1
    return rows[0]


def _pivoted(inverse: fmpq_mat, step: list[fmpq], leaving: int, height: int) -> fmpq_mat:
    rows = inverse.tolist()
    pivot = [value / step[leaving] for value in rows[leaving]]
    for i in range(height):
        if i == leaving:
            rows[i] = pivot
        elif step[i]:
            factor = step[i]
            rows[i] = [a - factor * b for a, b in zip(rows[i], pivot, strict=True)]
    return fmpq_mat(rows)
