"""Sets of columns of a matrix that sum to a target: 0/1 solutions of a linear system.

Main results
    zero_one_solutions    every set, each checked exactly; or a proof that there is none; or BudgetExceededError

Free coordinates are tried one by one when the kernel is small; two halves meet in the middle up to 36 columns; beyond
that lattice reduction may prove that the kernel has no vector so short. (The question is subset sum: in general no
polynomial method is known.)

References: theory §2.6, §5 (G4).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from flint import fmpq, fmpz_mat

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import Vector, primitive

FREE_LIMIT = 14  # 2^14 assignments of free coordinates
MIDDLE_LIMIT = 36  # 2^18 sums on each side
LATTICE_LIMIT = 100
PRIME = 2**61 - 1

Columns = tuple[int, ...]


def zero_one_solutions(matrix: Matrix, target: Vector) -> Iterator[Columns]:
    """Yield every set of columns that sums to the target, in no particular order.

    Raises:
        BudgetExceededError: when neither a search nor a proof is within the stated limits.

    >>> from semialg_fibers.geometry.scalar import vector
    >>> sorted(zero_one_solutions(Matrix([[1, 2, 3]]), vector([3])))
    [(0, 1), (2,)]
    """
    count = matrix.shape[1]
    nullity = count - matrix.rank()
    if nullity <= FREE_LIMIT:
        yield from _by_free_coordinates(matrix, target)
        return
    system = [primitive((*row, value)) for row, value in zip(matrix.rows(), target, strict=True)]
    system = system or [(0,) * (count + 1)]  # no row: 0 = 0
    if count <= MIDDLE_LIMIT:
        yield from _by_meeting(system)
        return
    if not any(target):
        yield ()
    if count > LATTICE_LIMIT or not _no_short_vector(system, bool(any(target))):
        raise BudgetExceededError(
            f"{count} rows with a kernel of dimension {nullity} are beyond what is searched (2^{FREE_LIMIT} "
            f"assignments, or {MIDDLE_LIMIT} rows), and lattice reduction does not exclude a sum of zero"
        )


def _by_free_coordinates(matrix: Matrix, target: Vector) -> Iterator[Columns]:
    """Solve for the pivot coordinates for each 0/1 assignment of the free ones."""
    pivots = matrix.independent_columns()
    others = [j for j in range(matrix.shape[1]) if j not in set(pivots)]
    basis = matrix.select(columns=pivots)
    base = basis.solve(target)
    if base is None:
        return  # the pivots span the column space, and the target lies outside
    directions = [basis.solve(matrix.column(j)) or () for j in others]
    for bits in product((0, 1), repeat=len(others)):
        values = list(base)
        for bit, direction in zip(bits, directions, strict=True):
            if bit:
                values = [a - b for a, b in zip(values, direction, strict=True)]
        if all(value in (0, 1) for value in values):
            chosen = [j for j, value in zip(pivots, values, strict=True) if value == 1]
            yield tuple(sorted([*chosen, *(j for j, bit in zip(others, bits, strict=True) if bit)]))


def _by_meeting(system: list[tuple[int, ...]]) -> Iterator[Columns]:
    """Meet in the middle on one combination of the rows (columns, target last) modulo a prime; hits checked exactly."""
    import numpy as np

    *values, goal = _combined(system)
    half = len(values) // 2
    left, right = _subset_sums(values[:half], np), _subset_sums(values[half:], np)
    wanted = (np.uint64(goal + PRIME) - left) % np.uint64(PRIME)
    order = np.argsort(right, kind="stable")
    ranked = right[order]
    low = np.searchsorted(ranked, wanted, side="left")
    high = np.searchsorted(ranked, wanted, side="right")
    for i in np.nonzero(high > low)[0]:
        for at in range(int(low[i]), int(high[i])):
            chosen = _members(int(i), 0) + _members(int(order[at]), half)
            if all(sum(row[j] for j in chosen) == row[-1] for row in system):
                yield chosen


def _combined(system: list[tuple[int, ...]]) -> list[int]:
    """Combine the rows with fixed weights modulo the prime; any are correct, pseudo-random ones rarely collide."""
    state, total = 0x9E3779B97F4A7C15, [0] * len(system[0])
    for row in system:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        total = [(a + state * b) % PRIME for a, b in zip(total, row, strict=True)]
    return total


def _subset_sums(values: list[int], np: Any) -> Any:
    sums = np.zeros(1, dtype=np.uint64)
    for value in values:
        sums = np.concatenate([sums, (sums + np.uint64(value)) % np.uint64(PRIME)])
    return sums


def _members(bits: int, shift: int) -> Columns:
    return tuple(i + shift for i in range(bits.bit_length()) if bits >> i & 1)


def _no_short_vector(system: list[tuple[int, ...]], with_target: bool) -> bool:
    """Prove by LLL that the kernel lattice has no nonzero vector as short as a 0/1 solution would be.

    The last coordinate, −1, stands for the target; without target it is left out. A nonzero lattice vector is at least
    as long as the shortest Gram–Schmidt vector of any basis.
    """
    rows = [row if with_target else row[:-1] for row in system]
    size = len(rows[0])
    # Rows of the Hermite form of [Aᵀ | I] that begin with zeros are a basis of all integer vectors in the kernel.
    tall = [[row[j] for row in rows] + [int(i == j) for i in range(size)] for j in range(size)]
    hermite = fmpz_mat(tall).hnf().tolist()
    basis = [line[len(rows) :] for line in hermite if not any(line[: len(rows)])]
    if not basis:
        return True
    return all(length > size for length in _gram_schmidt(fmpz_mat(basis).lll()))


def _gram_schmidt(basis: fmpz_mat) -> Iterator[fmpq]:
    """Yield the squared lengths of the Gram–Schmidt vectors, exactly, as quotients of Gram determinants."""
    gram = basis * basis.transpose()
    previous = fmpq(1)
    for size in range(1, basis.nrows() + 1):
        block = fmpz_mat(size, size, [gram[i, j] for i in range(size) for j in range(size)])
        determinant = fmpq(block.det())
        yield determinant / previous
        previous = determinant
