"""Kernels of many integer rows, and spans that grow by one vector after another; exact.

Main definitions
    Span       a subspace in echelon form, which says of each new vector whether it was new

Main results
    exact_kernel     {x : row · x = 0 for all rows}, from rows that are independent modulo a prime, shown to suffice

References: theory §9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

from flint import fmpz_mat, nmod_mat

from semialg_fibers.geometry.linear import Matrix, primes

Row = tuple[int, ...]


def reduced(row: Sequence[int]) -> Row:
    """Divide by the greatest common divisor."""
    divisor = gcd(*row)
    return tuple(value // divisor for value in row) if divisor > 1 else tuple(row)


def exact_kernel(rows: Iterable[Row], columns: int) -> list[Row]:
    """Give a basis of {x : row · x = 0 for each row}, in integers.

    The kernel of rows that are independent modulo a prime contains the kernel of all; where it is larger, because the
    prime was unlucky, a row that does not vanish on it is added.

    >>> exact_kernel([(1, 1, 0), (2, 2, 0)], 3)
    [(-1, 1, 0), (0, 0, 1)]
    """
    distinct = sorted({row for row in map(reduced, rows) if any(row)})
    basis = _independent(distinct, next(primes()))
    while True:
        kernel = Matrix.from_integers(basis, columns=columns).kernel().integer_rows()
        if not kernel or not distinct:
            return [reduced(row) for row in kernel]
        products = (fmpz_mat(distinct) * fmpz_mat([list(row) for row in kernel]).transpose()).tolist()
        outside = next((row for row, values in zip(distinct, products, strict=True) if any(values)), None)
        if outside is None:
            return [reduced(row) for row in kernel]
        basis.append(outside)


def _independent(rows: list[Row], prime: int) -> list[Row]:
    if not rows:
        return []
    echelon, rank = nmod_mat(fmpz_mat(list(zip(*rows, strict=True))), prime).rref()
    chosen, column = [], 0
    for i in range(rank):
        while not int(echelon[i, column]):
            column += 1
        chosen.append(rows[column])
    return chosen


class Span:
    """A subspace of Q^n that grows.

    >>> span = Span()
    >>> span.add((1, 2)), span.add((2, 4)), span.add((0, 1)), span.dimension
    (True, False, True, 2)
    """

    def __init__(self) -> None:
        """Begin with zero."""
        self._rows: dict[int, Row] = {}

    @property
    def dimension(self) -> int:
        """The dimension."""
        return len(self._rows)

    def add(self, vector: Sequence[int]) -> bool:
        """Enlarge the subspace by a vector; say whether it was outside."""
        left = self._without(vector)
        pivot = next((i for i, value in enumerate(left) if value), None)
        if pivot is None:
            return False
        self._rows[pivot] = reduced(left)
        return True

    def extend(self, vectors: Iterable[Sequence[int]]) -> int:
        """Add all vectors; say by how much the dimension has grown."""
        return sum(self.add(vector) for vector in vectors)

    def __contains__(self, vector: Sequence[int]) -> bool:
        """Say whether the vector lies in the subspace."""
        return not any(self._without(vector))

    def _without(self, vector: Sequence[int]) -> Row:
        left = reduced(vector)
        for pivot in sorted(self._rows):
            if left[pivot]:
                row = self._rows[pivot]
                a, b = row[pivot], left[pivot]
                left = reduced([a * x - b * y for x, y in zip(left, row, strict=True)])
        return left
