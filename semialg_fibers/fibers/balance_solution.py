"""Random exact solutions of the balance equation C_L B_L = M + X W + Y G, in the piece of the largest dimension.

Main definitions
    Solution     X, Y, G, C_L, B_L

Main results
    draw         a random solution with given q, rank of C_L and number of split ghosts

The choices are those by which `fibers.balance` counts dimensions: subspaces first, then linear equations, then B_L.

References: beyond §1.3, §1.4.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.fibers.balance import Balance, Piece
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.recession import BoundedSpan
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector
from semialg_fibers.geometry.semialgebraic import random_positive, random_rational

TRIES = 200  # of random choices that are right outside a set of measure zero


@dataclass(frozen=True)
class Solution:
    """X (m × splits), Y (m × ghosts), G (ghosts × p), C_L (m × q) and B_L (q × p)."""

    split: Matrix
    ghost: Matrix
    ghost_rows: Matrix
    outgoing: Matrix
    linear_rows: Matrix

    def holds(self, balance: Balance) -> bool:
        """Verify the equation, exactly."""
        right = balance.matrix + self.split @ balance.split + self.ghost @ self.ghost_rows
        return self.outgoing @ self.linear_rows == right


def draw(balance: Balance, q: int, s: int, ghosts: int, rng: random.Random) -> Solution:
    """Give a random solution with q linear neurons, rank C_L = s and so many split ghosts.

    Raises:
        BudgetExceededError: when `TRIES` random choices all were special.
    """
    piece = balance.largest(q, s, ghosts)
    assert piece is not None  # the index is feasible
    confined = piece.confined and balance.cone.rays.shape[0]
    make = _from_rows if confined else _from_columns
    for _ in range(TRIES):
        found = make(balance, q, s, ghosts, piece, rng)
        if found is not None and all(any(row) for row in found.ghost_rows.rows()):
            assert found.holds(balance)
            return found
    raise BudgetExceededError(f"no solution of the balance equation was found in {TRIES} random choices")


def _random(rows: int, columns: int, rng: random.Random) -> Matrix:
    return Matrix([[random_rational(rng) for _ in range(columns)] for _ in range(rows)], columns=columns)


def _of_rank(rows: int, columns: int, rank: int, rng: random.Random) -> Matrix:
    """Give a random matrix of the full rank `rank`."""
    for _ in range(TRIES):
        made = _random(rows, columns, rng)
        if made.rank() == rank:
            return made
    raise BudgetExceededError(f"no {rows} × {columns} matrix of rank {rank} was drawn in {TRIES} tries")


def _solved(equations: Matrix, right: Vector, rng: random.Random) -> Vector | None:
    """Give a random solution of a linear system, None when there is none."""
    special = equations.solve(right)
    if special is None:
        return None
    kernel = equations.kernel()
    shift = kernel.T.times([random_rational(rng) for _ in range(kernel.shape[0])])
    return tuple(a + b for a, b in zip(special, shift, strict=True))


def _reshaped(values: Vector, rows: int, columns: int) -> Matrix:
    return Matrix([values[i * columns : (i + 1) * columns] for i in range(rows)], columns=columns)


def into_cone(rows: Matrix, push: Matrix, accepts: Callable[[Vector], bool]) -> Matrix:
    """Give rows + τ·push with τ ≥ 0 so large that every row is accepted; push's rows point inside."""
    step = ZERO
    for _ in range(TRIES):
        moved = rows if step == 0 else rows + _scaled(push, step)
        if all(accepts(row) for row in moved.rows()):
            return moved
        step = step * 2 + 1
    raise BudgetExceededError("the rows did not become bounded on the domain")  # pragma: no cover


def _scaled(matrix: Matrix, factor: fmpq) -> Matrix:
    return Matrix([[factor * value for value in row] for row in matrix.rows()], columns=matrix.shape[1])


def random_bounded(span: BoundedSpan, count: int, rng: random.Random) -> Matrix:
    """Give random rows in the relative interior of V ∩ K."""
    mixed = _random(count, span.dimension, rng) @ span.basis
    push = Matrix([span.inner] * count, columns=span.basis.shape[1])
    return into_cone(mixed, push, span.recession.bounds)


def _from_columns(balance: Balance, q: int, s: int, ghosts: int, piece: Piece, rng: random.Random) -> Solution | None:
    """Choose the column spaces, then X and G, then C_L and B_L."""
    m = balance.m
    t = s + piece.outer
    total = balance.image.beside(_random(m, t - balance.rank, rng))
    least = balance.line_image.shape[1]
    inner = balance.line_image.beside(total @ _random(t, piece.rank - least, rng))
    basis = total @ _random(t, s, rng)
    if (total.rank(), inner.rank(), basis.rank(), basis.beside(inner).rank()) != (t, piece.rank, s, t):
        return None
    ghost = inner @ _of_rank(piece.rank, ghosts, piece.rank, rng)
    solved = _split_and_ghost_rows(balance, basis, ghost, rng)
    if solved is None:
        return None
    split, rows = solved
    coordinates = _in_basis(basis, balance.matrix + split @ balance.split + ghost @ rows)
    functional: Vector = ()
    if q == s > 0 and balance.cone.rays.shape[0]:
        found = _free_direction(basis, ghost, rng)
        if found is None:
            return None
        free, moved = found
        pivot = next(i for i, value in enumerate(moved) if value)
        functional = tuple(ONE / moved[pivot] if i == pivot else ZERO for i in range(s))
        inner = Matrix([balance.cone.bounded.inner], columns=balance.p)
        row = Matrix([coordinates.T.times(functional)], columns=balance.p)
        pushed = into_cone(row, inner, balance.cone.bounds) + inner  # now inside, not on the boundary
        more = Matrix([[a - b for a, b in zip(pushed.row(0), row.row(0), strict=True)]], columns=balance.p)
        rows = rows + Matrix.from_columns([free], ghosts) @ more
        coordinates = coordinates + Matrix.from_columns([moved], s) @ more
    if q > s:
        outgoing, linear = _wide(basis, coordinates, q, balance, rng)
    else:
        outgoing, linear = _square(basis, coordinates, balance, functional, rng)
    return Solution(split, ghost, rows, outgoing, linear)


def _split_and_ghost_rows(
    balance: Balance, basis: Matrix, ghost: Matrix, rng: random.Random
) -> tuple[Matrix, Matrix] | None:
    """Solve for X and G: M + X W + Y G is zero on the lines, and zero modulo the basis of im C_L everywhere."""
    m, p, splits, ghosts = balance.m, balance.p, balance.split.shape[0], ghost.shape[1]
    if not splits + ghosts:
        return Matrix([[]] * m, columns=0), Matrix([], columns=p)
    lines = balance.cone.lines
    rows: list[list[fmpq]] = []
    right: list[fmpq] = []
    quotient = basis.T.kernel()  # the functionals that vanish on the columns of the basis
    for functionals, points in ((Matrix.identity(m), lines), (quotient, Matrix.identity(p))):
        for functional in functionals.rows():
            on_ghost = ghost.T.times(functional)
            on_matrix = balance.matrix.T.times(functional)
            for point in points.rows():
                across = balance.split.times(point)
                row = [f * a for f in functional for a in across] + [y * x for y in on_ghost for x in point]
                rows.append(row)
                right.append(-sum((a * b for a, b in zip(on_matrix, point, strict=True)), ZERO))
    found = _solved(Matrix(rows, columns=m * splits + ghosts * p), tuple(right), rng)
    if found is None:
        return None
    return _reshaped(found[: m * splits], m, splits), _reshaped(found[m * splits :], ghosts, p)


def _free_direction(basis: Matrix, ghost: Matrix, rng: random.Random) -> tuple[Vector, Vector] | None:
    """Give k with Y k ≠ 0 in im C_L, and Y k in the basis: adding k vᵀ to G moves M + X W + Y G inside im C_L."""
    kernel = (basis.T.kernel() @ ghost).kernel()
    free = kernel.T.times([random_rational(rng) for _ in range(kernel.shape[0])])
    moved = ghost.times(free)
    if not any(moved):
        return None
    return free, basis.solve(moved) or ()


def _in_basis(basis: Matrix, image: Matrix) -> Matrix:
    """Give K with basis · K = image."""
    if not basis.shape[1]:
        assert image.is_zero()
        return Matrix([], columns=image.shape[1])
    columns = [basis.solve(column) for column in image.columns()]
    return Matrix.from_columns([column for column in columns if column is not None], basis.shape[1])


def _wide(basis: Matrix, coordinates: Matrix, q: int, balance: Balance, rng: random.Random) -> tuple[Matrix, Matrix]:
    """Give C_L = basis · R and B_L with R B_L = coordinates, where a positive vector in ker R pushes B_L inside."""
    s = basis.shape[1]
    first = _of_rank(s, q - 1, s, rng)
    weights = [random_positive(rng) for _ in range(q)]
    last = [-value / weights[-1] for value in first.times(weights[:-1])]
    mix = first.with_column(last)
    spread = mix.kernel().T
    bounded = balance.cone.bounded
    columns = [mix.solve(column) or () for column in coordinates.columns()] if s else [(ZERO,) * q] * balance.p
    rows = Matrix.from_columns(columns, q) + spread @ _random(spread.shape[1], bounded.dimension, rng) @ bounded.basis
    push = Matrix([[weight * value for value in bounded.inner] for weight in weights], columns=balance.p)
    return basis @ mix, into_cone(rows, push, balance.cone.bounds)


def _square(
    basis: Matrix, coordinates: Matrix, balance: Balance, functional: Vector, rng: random.Random
) -> tuple[Matrix, Matrix]:
    """Give C_L = basis · H⁻¹ and B_L = H · coordinates; the functional picks a row inside K out of the coordinates."""
    s = basis.shape[1]
    for _ in range(TRIES):
        mix = _of_rank(s, s, s, rng)
        if functional:
            push = Matrix([functional] * s)
            mix = into_cone(mix, push, lambda row: balance.cone.bounds(coordinates.T.times(row)))
        if mix.rank() == s:
            return basis @ mix.inverse(), mix @ coordinates
    raise BudgetExceededError(f"no invertible matrix was found in {TRIES} random choices")


def _from_rows(balance: Balance, q: int, s: int, ghosts: int, piece: Piece, rng: random.Random) -> Solution | None:
    """Choose B_L in V ∩ K and independent rows of G in V, then solve for C_L, X and Y."""
    m, p, splits, outer = balance.m, balance.p, balance.split.shape[0], piece.outer
    linear = random_bounded(balance.span, s, rng)
    base = _random(outer, balance.rows.shape[0], rng) @ balance.rows
    known = linear.stacked(balance.split).stacked(base)
    solved = [_solved(known.T, row, rng) for row in balance.matrix.rows()]
    columns = [row for row in solved if row is not None]
    if len(columns) < m:
        return None
    coefficients = Matrix(columns, columns=s + splits + outer)
    outgoing = coefficients.select(columns=range(s))
    split = -coefficients.select(columns=range(s, s + splits))
    independent = -coefficients.select(columns=range(s + splits, s + splits + outer))
    if outgoing.beside(independent).rank() != s + outer:
        return None
    mix = _of_rank(outer, ghosts, outer, rng)
    if outer:
        rows = Matrix.from_columns([_solved(mix, column, rng) or () for column in base.columns()], ghosts)
    else:
        rows = _random(ghosts, p, rng)
    return Solution(split, independent @ mix, rows, outgoing, linear)
