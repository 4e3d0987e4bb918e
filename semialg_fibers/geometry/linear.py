"""Exact matrices.

Main definitions
    Matrix         an immutable, hashable, picklable matrix over Q

Main results
    Matrix.rank    proved: one prime when the rank is full, primes beyond Hadamard's bound otherwise

A matrix keeps integer rows in lowest terms, one positive denominator per row, so that equal matrices are equal values;
flint's matrices, which are mutable, never leave this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import gcd, isqrt, lcm
from typing import TYPE_CHECKING, Any

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat, nmod_mat

from semialg_fibers.errors import BudgetExceededError, InexactInputError, InvalidNetworkError
from semialg_fibers.geometry.expression import Expression
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, dot, exact, quantity, shown, sympy_rational

if TYPE_CHECKING:
    import sympy


def primes() -> Iterator[int]:
    """Yield 61-bit primes downwards from the Mersenne prime 2^61 - 1, endlessly for our purposes."""
    candidate = 2**61 - 1
    while True:
        if fmpz(candidate).is_prime():
            yield candidate
        candidate -= 2


class Matrix:
    """An immutable matrix over Q: integer rows in lowest terms, one positive denominator per row.

    >>> m = Matrix([["1/2", 1], [0, 3]])
    >>> m[0, 0], m.shape, m.rank()
    (1/2, (2, 2), 2)
    """

    __slots__ = ("__dict__", "_denominators", "_hash", "_numerators", "shape")

    shape: tuple[int, int]

    def __init__(self, rows: Iterable[Iterable[Any]] | Any, columns: int | None = None) -> None:
        """Read rows of exact entries (or a SymPy matrix); `columns` gives the width of a matrix without rows.

        Raises:
            InvalidNetworkError: for ragged rows or entries that are no rationals (place: `row`, `column`).
        """
        if hasattr(rows, "tolist") and hasattr(rows, "shape"):
            columns = rows.shape[1] if len(rows.shape) == 2 else columns
            rows = rows.tolist()
        numerators, denominators = [], []
        for i, row in enumerate(_iterate(rows, "a matrix is a list of rows")):
            entries = []
            for j, value in enumerate(_iterate(row, f"row {i + 1} is not a list of numbers")):
                try:
                    entries.append(exact(value))
                except (InvalidNetworkError, InexactInputError) as error:
                    raise type(error)(error.message, **{**error.place, "row": i, "column": j}) from None
            columns = len(entries) if columns is None else columns
            if len(entries) != columns:
                raise InvalidNetworkError(
                    f"ragged rows: row {i + 1} has {quantity(len(entries), 'entry')}, expected {columns}", row=i
                )
            common = lcm(*(int(value.q) for value in entries)) if entries else 1
            numerators.append(tuple(int(value.p) * (common // int(value.q)) for value in entries))
            denominators.append(common)
        self._fill(tuple(numerators), tuple(denominators), columns or 0)

    def _fill(self, numerators: tuple[tuple[int, ...], ...], denominators: tuple[int, ...], columns: int) -> None:
        self._numerators = numerators
        self._denominators = denominators
        self.shape = (len(numerators), columns)
        self._hash: int | None = None

    @classmethod
    def from_integers(
        cls, rows: Iterable[Sequence[int]], denominators: Iterable[int] | None = None, columns: int | None = None
    ) -> Matrix:
        """Give the matrix with integer `rows` divided by their positive `denominators` (default 1), in lowest terms."""
        numerators = [tuple(row) for row in rows]
        below = list(denominators) if denominators is not None else [1] * len(numerators)
        for i, row in enumerate(numerators):
            divisor = gcd(below[i], *row) if below[i] != 1 else 1
            if divisor != 1:
                numerators[i] = tuple(value // divisor for value in row)
                below[i] //= divisor
        made = cls.__new__(cls)
        made._fill(tuple(numerators), tuple(below), columns if columns is not None else len(numerators[0]))
        return made

    @classmethod
    def zeros(cls, rows: int, columns: int) -> Matrix:
        """Give the zero matrix."""
        return cls.from_integers([(0,) * columns] * rows, columns=columns)

    @classmethod
    def identity(cls, size: int) -> Matrix:
        """Give the identity matrix."""
        return cls.from_integers([tuple(int(i == j) for j in range(size)) for i in range(size)], columns=size)

    @classmethod
    def from_columns(cls, columns: Sequence[Sequence[Any]], rows: int) -> Matrix:
        """Give the matrix with these columns; `rows` is its height, needed when there is no column."""
        return cls([[column[i] for column in columns] for i in range(rows)], columns=len(columns))

    # values

    def __getitem__(self, index: tuple[int, int]) -> fmpq:
        """Give the entry at (row, column), 0-based."""
        return fmpq(self._numerators[index[0]][index[1]], self._denominators[index[0]])

    def row(self, i: int) -> Vector:
        """Give row i as a vector."""
        below = self._denominators[i]
        return tuple(fmpq(value, below) for value in self._numerators[i])

    def column(self, j: int) -> Vector:
        """Give column j as a vector."""
        return tuple(fmpq(row[j], below) for row, below in zip(self._numerators, self._denominators, strict=True))

    def rows(self) -> list[Vector]:
        """Give all rows."""
        return [self.row(i) for i in range(self.shape[0])]

    def columns(self) -> list[Vector]:
        """Give all columns."""
        return [self.column(j) for j in range(self.shape[1])]

    def integer_rows(self) -> tuple[tuple[int, ...], ...]:
        """Give the numerators: row i of the matrix times its denominator."""
        return self._numerators

    def denominators(self) -> tuple[int, ...]:
        """Give the positive denominator of each row."""
        return self._denominators

    def __eq__(self, other: object) -> bool:
        """Compare shape and entries."""
        if not isinstance(other, Matrix):
            return NotImplemented
        return (self.shape, self._denominators, self._numerators) == (
            other.shape,
            other._denominators,
            other._numerators,
        )

    def __hash__(self) -> int:
        """Hash shape and entries."""
        if self._hash is None:
            self._hash = hash((self.shape, self._denominators, self._numerators))
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the integers; flint objects stay behind."""
        return Matrix.from_integers, (self._numerators, self._denominators, self.shape[1])

    def __repr__(self) -> str:
        """Show the rows as text that `Matrix` reads."""
        return f"Matrix({[[str(value) for value in row] for row in self.rows()]})"

    def is_zero(self) -> bool:
        """Say whether every entry is zero."""
        return not any(any(row) for row in self._numerators)

    def to_sympy(self) -> sympy.ImmutableMatrix:
        """Give the equal SymPy matrix."""
        import sympy

        entries = [sympy_rational(value) for row in self.rows() for value in row]
        return sympy.ImmutableMatrix(*self.shape, entries)

    # arithmetic

    @cached_property
    def _rational(self) -> fmpq_mat:
        return fmpq_mat(*self.shape, [value for row in self.rows() for value in row])

    @classmethod
    def _from_flint(cls, matrix: fmpq_mat) -> Matrix:
        return cls(matrix.tolist() if matrix.nrows() else [], columns=matrix.ncols())

    def __matmul__(self, other: Matrix) -> Matrix:
        """Give the matrix product."""
        if self.shape[1] != other.shape[0]:
            raise InvalidNetworkError(f"cannot multiply matrices of shapes {self.shape} and {other.shape}")
        if 0 in self.shape or 0 in other.shape:
            return Matrix.zeros(self.shape[0], other.shape[1])
        return Matrix._from_flint(self._rational * other._rational)

    def times(self, x: Sequence[fmpq]) -> Vector:
        """Give the vector M x, by one common denominator of x."""
        if len(x) != self.shape[1]:
            raise InvalidNetworkError(f"a vector of length {len(x)} does not fit a matrix of shape {self.shape}")
        if any(isinstance(value, Expression) for value in x):
            return tuple(dot(row, x) for row in self.rows())
        common = lcm(*(int(value.q) for value in x)) if x else 1
        integers = [int(value.p) * (common // int(value.q)) for value in x]
        return tuple(
            fmpq(sum(a * b for a, b in zip(row, integers, strict=True)), below * common)
            for row, below in zip(self._numerators, self._denominators, strict=True)
        )

    def __add__(self, other: Matrix) -> Matrix:
        """Give the sum of two matrices of one shape."""
        if self.shape != other.shape:
            raise InvalidNetworkError(f"cannot add matrices of shapes {self.shape} and {other.shape}")
        pairs = zip(self.rows(), other.rows(), strict=True)
        return Matrix([[a + b for a, b in zip(r, s, strict=True)] for r, s in pairs], columns=self.shape[1])

    def __neg__(self) -> Matrix:
        """Give −M."""
        negative = [tuple(-value for value in row) for row in self._numerators]
        return Matrix.from_integers(negative, self._denominators, self.shape[1])

    def __sub__(self, other: Matrix) -> Matrix:
        """Give the difference of two matrices of one shape."""
        return self + (-other)

    @cached_property
    def T(self) -> Matrix:
        """The transpose."""
        if all(below == 1 for below in self._denominators) and self._numerators:
            return Matrix.from_integers(zip(*self._numerators, strict=True), columns=self.shape[0])
        return Matrix(self.columns(), columns=self.shape[0])

    def select(self, rows: Iterable[int] | None = None, columns: Iterable[int] | None = None) -> Matrix:
        """Give the submatrix of these rows and columns, in this order (None: all)."""
        keep_rows = range(self.shape[0]) if rows is None else list(rows)
        keep = None if columns is None else list(columns)
        numerators = [
            self._numerators[i] if keep is None else tuple(self._numerators[i][j] for j in keep) for i in keep_rows
        ]
        below = [self._denominators[i] for i in keep_rows]
        return Matrix.from_integers(numerators, below, self.shape[1] if keep is None else len(keep))

    def with_column(self, column: Sequence[fmpq]) -> Matrix:
        """Give [M | column]."""
        rows = [(*row, value) for row, value in zip(self.rows(), column, strict=True)]
        return Matrix(rows, columns=self.shape[1] + 1)

    def stacked(self, below: Matrix) -> Matrix:
        """Give the matrix with the rows of `below` appended."""
        if self.shape[1] != below.shape[1]:
            raise InvalidNetworkError(f"cannot stack matrices of shapes {self.shape} and {below.shape}")
        return below._under(self)

    def _under(self, upper: Matrix) -> Matrix:
        return Matrix.from_integers(
            upper._numerators + self._numerators, upper._denominators + self._denominators, self.shape[1]
        )

    def beside(self, right: Matrix) -> Matrix:
        """Give [M | right]."""
        return right._right_of(self)

    def _right_of(self, left: Matrix) -> Matrix:
        rows = [a + b for a, b in zip(left.rows(), self.rows(), strict=True)]
        return Matrix(rows, columns=left.shape[1] + self.shape[1])

    # rank, kernel, solutions

    @cached_property
    def _integer(self) -> fmpz_mat:
        return fmpz_mat(*self.shape, [value for row in self._numerators for value in row])

    def _pivots(self, prime: int) -> tuple[list[int], int]:
        """Give the pivot columns of the reduced echelon form modulo a prime, and their number."""
        if 0 in self.shape:
            return [], 0
        reduced, rank = nmod_mat(self._integer, prime).rref()
        pivots, j = [], 0
        for i in range(rank):
            while not int(reduced[i, j]):
                j += 1
            pivots.append(j)
        return pivots, rank

    @cached_property
    def _rank(self) -> tuple[int, int]:
        """The rank and a prime that shows it."""
        if 0 in self.shape:
            return 0, 0
        full = min(self.shape)
        best, shows, proved = -1, 0, 1
        for count, prime in enumerate(primes()):
            rank = nmod_mat(self._integer, prime).rank()
            proved *= prime
            if rank > best:
                best, shows = rank, prime
            # A minor of size best + 1 that vanishes modulo primes beyond its Hadamard bound vanishes.
            if best == full or proved > self._minor_bound(best + 1):
                return best, shows
            if count > 20000:
                break
        raise BudgetExceededError("the rank was not proved within 20,000 primes: the entries are too large")

    def _minor_bound(self, size: int) -> int:
        """Hadamard: an integer above every minor of this size, from the longest rows and the longest columns."""
        bounds = []
        for lines in (self._numerators, list(zip(*self._numerators, strict=True))):
            squares = sorted((sum(value * value for value in line) for line in lines), reverse=True)[:size]
            product = 1
            for square in squares:
                product *= isqrt(square) + 1
            bounds.append(product)
        return min(bounds)

    def rank(self) -> int:
        """Give the rank over Q, proved.

        >>> Matrix([[1, 2], [2, 4]]).rank()
        1
        """
        return self._rank[0]

    def independent_columns(self) -> list[int]:
        """Give indices, ascending, of columns that form a basis of the column space."""
        rank, prime = self._rank
        return self._pivots(prime)[0] if rank else []

    def independent_rows(self) -> list[int]:
        """Give indices of rows that form a basis of the row space."""
        return self.T.independent_columns()

    def kernel(self) -> Matrix:
        """Give a matrix whose rows are a basis of {x : M x = 0}.

        >>> Matrix([[1, 1, 0]]).kernel()
        Matrix([['-1', '1', '0'], ['0', '0', '1']])
        """
        n = self.shape[1]
        pivots = self.independent_columns()
        free = [j for j in range(n) if j not in set(pivots)]
        if not pivots:
            return Matrix.identity(n)
        if not free:
            return Matrix([], columns=n)
        rows = self.select(columns=pivots).independent_rows()
        block = self.select(rows, pivots)._rational
        solved = block.solve(self.select(rows, free)._rational)
        basis = []
        for count, j in enumerate(free):
            line = [ZERO] * n
            line[j] = ONE
            for i, pivot in enumerate(pivots):
                line[pivot] = -solved[i, count]
            basis.append(line)
        return Matrix(basis, columns=n)

    def solve(self, b: Sequence[fmpq]) -> Vector | None:
        """Give one x with M x = b, or None when there is none (proved).

        >>> from semialg_fibers.geometry.scalar import vector
        >>> Matrix([[2, 0], [0, 3]]).solve(vector([1, 1]))
        (1/2, 1/3)
        """
        if len(b) != self.shape[0]:
            raise InvalidNetworkError(f"a right side of length {len(b)} does not fit a matrix of shape {self.shape}")
        n = self.shape[1]
        pivots = self.independent_columns()
        x = [ZERO] * n
        if pivots:
            rows = self.select(columns=pivots).independent_rows()
            right = fmpq_mat(len(rows), 1, [b[i] for i in rows])
            solved = self.select(rows, pivots)._rational.solve(right)
            for i, pivot in enumerate(pivots):
                x[pivot] = solved[i, 0]
        return tuple(x) if self.times(x) == tuple(b) else None

    def inverse(self) -> Matrix:
        """Give the inverse of an invertible matrix.

        Raises:
            InvalidNetworkError: when the matrix is not square or is singular.
        """
        if self.shape[0] != self.shape[1] or self.rank() < self.shape[0]:
            raise InvalidNetworkError(f"a matrix of shape {self.shape} and rank {self.rank()} has no inverse")
        return Matrix._from_flint(self._rational.inv()) if self.shape[0] else self


def _iterate(values: Any, otherwise: str) -> Iterator[Any]:
    if isinstance(values, str | bytes | dict) or not hasattr(values, "__iter__"):
        raise InvalidNetworkError(f"{otherwise}; got {shown(values)}", value=values)
    return iter(values)
