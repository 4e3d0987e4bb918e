"""Matrices whose entries may contain letters.

Main definitions
    SymbolicMatrix    an immutable matrix of scalars, with the verbs of `Matrix` that letters allow

Main results
    matrix_of                a `Matrix` where every entry is a number, else a `SymbolicMatrix`
    without_divisors         a positive multiple of a form, free of divisors
    least_rank, generic_rank bounds of the rank over all values of the letters; `rank` is given where they meet

References: theory §2.4, §5.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, islice
from math import comb, prod
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, UndecidedSignError, UnsupportedError
from semialg_fibers.geometry.decision import essential, letters_of
from semialg_fibers.geometry.expression import (
    Expression,
    Scalar,
    is_zero,
    signs_of,
    simplest,
    terms_of,
    to_sympy,
    undecided,
)
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.reading import scalar
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, quantity

if TYPE_CHECKING:
    import sympy

MINORS = 400  # that are looked at, of each size
MINOR_TERMS = 20_000  # of one minor, bounded by the product of the numbers of terms in its rows

Line = tuple[Any, ...]  # of scalars


class SymbolicMatrix(Matrix):
    """An immutable matrix of scalars.

    >>> import sympy
    >>> x = sympy.Symbol("x", real=True)
    >>> m = SymbolicMatrix([[1, 1], [1, x]])
    >>> m.least_rank, m.generic_rank, m.determinant()
    (1, 2, x - 1)
    """

    def __init__(self, rows: Iterable[Iterable[Any]], columns: int | None = None) -> None:
        """Read rows of numbers or expressions; `columns` gives the width of a matrix without rows.

        Raises:
            InvalidNetworkError: for ragged rows or entries of another kind (place: `row`, `column`).
        """
        read: list[Line] = []
        for i, row in enumerate(rows):
            entries: Line = ()
            for j, value in enumerate(row):
                try:
                    entries += (scalar(value),)
                except (InvalidNetworkError, InexactInputError, UndecidedSignError) as error:
                    raise type(error)(error.message, **{**error.place, "row": i, "column": j}) from None
            columns = len(entries) if columns is None else columns
            if len(entries) != columns:
                raise InvalidNetworkError(
                    f"ragged rows: row {i + 1} has {quantity(len(entries), 'entry')}, expected {columns}", row=i
                )
            read.append(entries)
        self._rows = tuple(read)
        self.shape = (len(read), columns or 0)

    def _needs_numbers(self, *_: Any, **__: Any) -> Any:
        """Refuse what is known for numbers only."""
        names = ", ".join(letter.name for letter in letters_of(value for row in self._rows for value in row))
        raise UnsupportedError(f"this needs numbers: substitute values for {names}, as in net.subs({{...}})")

    integer_rows = denominators = _needs_numbers
    independent_columns = independent_rows = kernel = solve = inverse = _needs_numbers

    # values

    def __getitem__(self, index: tuple[int, int]) -> Any:
        """Give the entry at (row, column), 0-based."""
        return self._rows[index[0]][index[1]]

    def row(self, i: int) -> Line:
        """Give row i."""
        return self._rows[i]

    def column(self, j: int) -> Line:
        """Give column j."""
        return tuple(row[j] for row in self._rows)

    def rows(self) -> list[Line]:
        """Give all rows."""
        return list(self._rows)

    def columns(self) -> list[Line]:
        """Give all columns."""
        return [self.column(j) for j in range(self.shape[1])]

    def __eq__(self, other: object) -> bool:
        """Compare shape and entries, as functions of the letters."""
        if not isinstance(other, SymbolicMatrix):
            return NotImplemented
        return self.shape == other.shape and self._rows == other._rows

    def __hash__(self) -> int:
        """Hash shape and entries."""
        return hash((self.shape, self._rows))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the formulas."""
        return SymbolicMatrix, (self._rows, self.shape[1])

    def __repr__(self) -> str:
        """Show the formulas."""
        return f"SymbolicMatrix({[[str(value) for value in row] for row in self._rows]})"

    def is_zero(self) -> bool:
        """Say whether every entry is zero; refuses where that depends on the letters."""
        return not any(any(row) for row in self._rows)

    def to_sympy(self) -> sympy.ImmutableMatrix:
        """Give the equal SymPy matrix."""
        import sympy

        return sympy.ImmutableMatrix(*self.shape, [to_sympy(value) for row in self._rows for value in row])

    # arithmetic

    def times(self, x: Sequence[Scalar]) -> Line:
        """Give the vector M x."""
        return tuple(sum((a * b for a, b in zip(row, x, strict=True)), ZERO) for row in self._rows)

    def __matmul__(self, other: Matrix) -> Matrix:
        """Give the matrix product."""
        return matrix_of([[_product(row, column) for column in other.columns()] for row in self._rows], other.shape[1])

    def __rmatmul__(self, other: Matrix) -> Matrix:
        """Give the matrix product."""
        rows = [[_product(row, column) for column in self.columns()] for row in other.rows()]
        return matrix_of(rows, self.shape[1])

    def __add__(self, other: Matrix) -> Matrix:
        """Give the sum of two matrices of one shape."""
        if self.shape != other.shape:
            raise InvalidNetworkError(f"cannot add matrices of shapes {self.shape} and {other.shape}")
        pairs = zip(self._rows, other.rows(), strict=True)
        return matrix_of([[a + b for a, b in zip(r, s, strict=True)] for r, s in pairs], self.shape[1])

    __radd__ = __add__

    def __neg__(self) -> Matrix:
        """Give −M."""
        return SymbolicMatrix([[-value for value in row] for row in self._rows], self.shape[1])

    @cached_property
    def T(self) -> Matrix:
        """The transpose."""
        return SymbolicMatrix(self.columns(), columns=self.shape[0])

    def with_column(self, column: Sequence[Any]) -> Matrix:
        """Give [M | column]."""
        rows = [(*row, value) for row, value in zip(self._rows, column, strict=True)]
        return matrix_of(rows, self.shape[1] + 1)

    def stacked(self, below: Matrix) -> Matrix:
        """Give the matrix with the rows of `below` appended."""
        return matrix_of([*self._rows, *below.rows()], self.shape[1])

    def beside(self, right: Matrix) -> Matrix:
        """Give [M | right]."""
        rows = [a + b for a, b in zip(self._rows, right.rows(), strict=True)]
        return matrix_of(rows, self.shape[1] + right.shape[1])

    def _under(self, upper: Matrix) -> Matrix:
        return matrix_of([*upper.rows(), *self._rows], self.shape[1])

    def _right_of(self, left: Matrix) -> Matrix:
        rows = [a + b for a, b in zip(left.rows(), self._rows, strict=True)]
        return matrix_of(rows, left.shape[1] + self.shape[1])

    def select(self, rows: Iterable[int] | None = None, columns: Iterable[int] | None = None) -> Matrix:
        """Give the submatrix of these rows and columns, in this order (None: all)."""
        keep = list(range(self.shape[1]) if columns is None else columns)
        chosen = range(self.shape[0]) if rows is None else rows
        return matrix_of([[self._rows[i][j] for j in keep] for i in chosen], len(keep))

    # rank

    def determinant(self) -> Scalar:
        """Give the determinant of a square matrix, by fraction-free elimination."""
        rows, sign, previous = [list(row) for row in self._rows], 1, ONE
        size = len(rows)
        for k in range(size - 1):
            pivot = next((i for i in range(k, size) if not is_zero(rows[i][k])), None)
            if pivot is None:
                return ZERO
            if pivot != k:
                rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
            for i in range(k + 1, size):
                for j in range(k + 1, size):
                    rows[i][j] = _over(rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j], previous)
            previous = rows[k][k]
        return rows[-1][-1] * sign if size else ONE

    def has_short_minors(self, size: int) -> bool:
        """Say whether minors of this size can be written out: neither too many nor, by a bound, with too many terms."""
        rows = sorted((sum(terms_of(value) for value in row) for row in self._rows), reverse=True)[:size]
        return comb(self.shape[0], size) * comb(self.shape[1], size) <= MINORS and prod(rows) <= MINOR_TERMS

    def minors(self, size: int) -> Iterable[Scalar]:
        """Yield the minors of this size."""
        for rows in combinations(range(self.shape[0]), size):
            for columns in combinations(range(self.shape[1]), size):
                yield SymbolicMatrix([[self._rows[i][j] for j in columns] for i in rows], size).determinant()

    @cached_property
    def generic_rank(self) -> int:
        """The rank over the field of rational functions, the largest that occurs; by elimination if not full."""
        if self.rank_at_some_values == min(self.shape):
            return min(self.shape)
        rows, rank = [list(row) for row in self._rows], 0
        for j in range(self.shape[1]):
            pivot = next((i for i in range(rank, len(rows)) if not is_zero(rows[i][j])), None)
            if pivot is None:
                continue
            rows[rank], rows[pivot] = rows[pivot], rows[rank]
            for i in range(rank + 1, len(rows)):
                factor = _over(rows[i][j], rows[rank][j])
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
            rank += 1
        return rank

    @cached_property
    def rank_at_some_values(self) -> int:
        """A lower bound of the generic rank, and equal to it but for bad luck: the largest rank at a few values."""
        rng = random.Random(0)
        names = [letter.name for letter in letters_in(self)]
        best = 0
        for _ in range(3):
            values = {name: rng.randrange(-(10**6), 10**6) for name in names}
            rows = [[v.at(values) if isinstance(v, Expression) else v for v in row] for row in self._rows]
            if not any(value is None for row in rows for value in row):
                best = max(best, Matrix(rows, self.shape[1]).rank())
        return best

    @cached_property
    def least_rank(self) -> int:
        """A rank that is reached for all values of the letters: some minor of this size is never zero."""
        for size in range(self.rank_at_some_values, 0, -1):
            if self.has_short_minors(size) and any(
                0 not in signs_of(minor) for minor in islice(self.minors(size), MINORS)
            ):
                return size
        return 0

    def rank(self) -> int:
        """Give the rank, where it is the same for all values of the letters.

        Raises:
            UndecidedSignError: where it is not proved to be; names a minor on which it depends.
        """
        if self.least_rank < self.generic_rank:
            open_minors = (minor for minor in self.minors(self.generic_rank) if not is_zero(minor))
            raise undecided(essential(next(iter(open_minors))))
        return self.generic_rank


def matrix_of(rows: Any, columns: int | None = None) -> Matrix:
    """Give a `Matrix` where every entry is a number, else a `SymbolicMatrix`.

    Raises:
        InvalidNetworkError: for ragged rows or entries that are neither (place: `row`, `column`).
    """
    try:
        return Matrix(rows, columns)
    except InvalidNetworkError as error:
        if "symbolic" not in error.place:
            raise
    if hasattr(rows, "tolist") and hasattr(rows, "shape"):
        rows = rows.tolist()
    made = SymbolicMatrix(rows, columns)
    if letters_in(made):
        return made
    return Matrix(made.rows(), columns)  # a - a, unevaluated


def column_matrix(columns: Sequence[Sequence[Scalar]], rows: int) -> Matrix:
    """Give the matrix with these columns; `rows` is its height, needed when there is no column."""
    return matrix_of([[column[i] for column in columns] for i in range(rows)], len(columns))


def letters_in(*values: Any) -> tuple[sympy.Symbol, ...]:
    """Give the letters that occur in scalars, nested tuples and matrices of them, sorted by name."""

    def flat(value: Any) -> Iterator[Any]:
        if isinstance(value, Matrix):
            value = value.rows() if isinstance(value, SymbolicMatrix) else ()
        if isinstance(value, tuple | list):
            for each in value:
                yield from flat(each)
        else:
            yield value

    return letters_of(flat(values))


def _product(row: Line, column: Line) -> Scalar:
    return sum((a * b for a, b in zip(row, column, strict=True)), ZERO)


def _over(a: Scalar, b: Scalar) -> Scalar:
    """Divide in the field of rational functions: b is not identically zero."""
    if is_zero(a):
        return ZERO
    return simplest(Expression.read(a).over(b))


def without_divisors(form: Vector) -> Vector:
    """Give a positive multiple of the form that is free of divisors.

    >>> import sympy
    >>> from semialg_fibers.geometry.reading import scalar
    >>> a, b = sympy.Symbol("a", negative=True), sympy.Symbol("b", real=True)
    >>> without_divisors([scalar(b / a - 1), scalar(b)])
    (a - b, -a*b)
    """
    values: tuple[Any, ...] = form
    for i in range(len(values)):
        value = values[i]
        if isinstance(value, Expression):
            below = simplest(value.quotient()[1])
            factor = below if signs_of(below) == {1} else -below if signs_of(below) == {-1} else below * below
            values = tuple(each * factor for each in values)
    return values
