"""How many parameters does the function really have? The exact functional dimension.

Main results
    functional_dimension    the rank of all parameter gradients over the activation cells, proved
    rank_by_weights         the same by the weights alone, of a network without biases

The lower bound is a set of gradient rows that are independent modulo a prime. The upper bound is either the kernel that
every network has, its scalings, or the kernel of these rows over Q, on which all other rows are shown to vanish.

References: theory §9; M. Grillo, G. Montúfar, arXiv:2605.03601.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import mul
from typing import Any

from flint import fmpz_mat, nmod_mat

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.enumeration import Family, Runner
from semialg_fibers.geometry.linear import Matrix, primes
from semialg_fibers.networks.cells import Branch, Cell, branch_cells, branches, check_least, each_cell
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.sight import with_integers

Row = tuple[int, ...]
POINTS = 10_000  # random points at most


@checked
def functional_dimension(
    net: Network, budget: int = 100_000, most_parameters: int = 1_000, runner: Runner | None = None
) -> int:
    """Give the rank over Q of the coefficients G_0, ..., G_d of all ∇_θ f_o(x) = G_0 + Σ x_i G_i, over the full cells.

    A cell on which some preactivation vanishes identically is left out: there f need not be differentiable in θ.

    The number of parameters minus this rank bounds the local dimension of the fiber from above: tangents of the fiber
    lie in the kernel, and nearby the rank can only grow. It is equal to it where the functional dimension is locally
    constant (an open dense set). Elsewhere the bound can be strict: widths (1, 2, 1), weights (1, 1), biases (−1, −1),
    outgoing (2, 3) give 7 − 3 = 4, and the fiber there is a 3-manifold.

    With a `runner` the cells are cut into chunks, worked on wherever it says, and kept in its checkpoint; the budget of
    cells is then that of each chunk.

    Implements: theory §9.

    Raises:
        BudgetExceededError: when there are more than `budget` cells, or more than `most_parameters` parameters.
        InvalidNetworkError: for a checkpoint of other input, or a damaged one.
        UnsupportedError: when on every cell some preactivation vanishes, so that f need not be differentiable in θ.

    >>> functional_dimension(Network([([[1], [1]], [-1, -1]), ([[2, 3]], [0])]))
    3
    """
    net.refuse_letters()
    if net.parameter_count > most_parameters:
        raise BudgetExceededError(
            f"the Jacobian has {net.parameter_count} columns, more than the budget of {most_parameters} parameters"
        )
    check_least(net, budget)
    integral = with_integers(net)
    # Each hidden unit's scaling gives a vector on which all rows vanish. They are independent: in a linear relation the
    # units of the lowest layer have no incoming weights and no bias, so they vanish everywhere and no cell is full.
    largest = net.parameter_count - sum(net.widths[1:-1])
    if runner is None:
        basis = _basis(lambda: _rows(each_cell(integral, budget), integral), net.parameter_count, largest)
    else:
        basis = _basis_by_chunks(integral, budget, largest, runner)
    if not basis:  # a full cell has a row in which the derivative by an output's bias is 1
        vanishing = next(each_cell(net, budget)).vanishing
        if not vanishing:
            raise InvalidNetworkError("the checkpoint lacks rows that there are: give another file, or delete it")
        layer, unit = vanishing[0]
        raise UnsupportedError(
            "a preactivation vanishes on every cell, so that the function need not be differentiable in its "
            f"parameters: on the first cell it is unit {unit + 1} of layer {layer}",
            layer=layer,
            row=unit,
        )
    return len(basis)


def rank_by_weights(net: Network, largest: int, budget: int = 100_000) -> int:
    """Give the rank over Q of all derivatives by the weights of a network whose biases are zero, at most `largest`.

    Random points come first: where they reach `largest` no cell is visited. Cells on which a preactivation vanishes
    are left out, which is right if f is zero on them whatever the weights nearby are.

    Implements: theory §9.

    Raises:
        BudgetExceededError: when the points do not settle it and there are more than `budget` cells.
    """
    integral = with_integers(net)
    weights = [layer.matrix.integer_rows() for layer in integral.layers]
    kept: list[int] = []
    column = 0
    for layer in net.layers:
        for _ in range(layer.outputs):
            kept += range(column, column + layer.inputs)
            column += layer.inputs + 1

    def rows() -> Iterator[Row]:
        yield from islice(_rows_at_points(weights), 4 * len(kept))
        check_least(net, budget)
        for row in _rows(each_cell(integral, budget), integral):
            yield tuple(row[c] for c in kept)

    return len(_basis(rows, len(kept), largest))


def _rows_at_points(weights: list[tuple[Row, ...]]) -> Iterator[Row]:
    """Yield for each output its derivatives by all weights, at random points where no preactivation is zero."""
    rng = random.Random(0)
    for _ in range(POINTS):
        inputs, pattern = [tuple(rng.randint(-999, 999) for _ in weights[0][0])], []
        for matrix in weights[:-1]:
            values = [sum(map(mul, row, inputs[-1])) for row in matrix]
            pattern.append([value > 0 for value in values])
            inputs.append(tuple(max(value, 0) for value in values))
            if not all(values):
                break
        else:
            for slopes in _slopes(pattern, weights):
                pairs = zip(slopes, inputs, strict=True)
                yield tuple(slope * entry for each, into in pairs for slope in each for entry in into)


def _basis(rows: Callable[[], Iterator[Row]], columns: int, largest: int) -> list[Row]:
    """Give a basis of the span of the rows over Q, of which at most `largest` are independent."""
    prime = next(primes())
    basis: list[Row] = []
    once = rows()
    while batch := list(islice(once, 2 * columns)):
        basis = _independent([*basis, *batch], prime)
        if len(basis) == largest:
            return basis
    # The basis is independent; show that it spans, or enlarge it, should the prime have been unlucky.
    return _spanning(basis, rows(), columns) if basis else basis


CHUNKS = 64


def _basis_by_chunks(net: Network, budget: int, largest: int, runner: Runner) -> list[Row]:
    """Do the same from bases for the single branches of the cells."""
    inputs = [(net, branch, budget, largest) for branch in branches(net, CHUNKS, budget)]
    columns = net.parameter_count
    family = Family(
        f"functional dimension of {net}",
        repr((net.layers, net.domain, budget)),
        inputs,
        _work,
        fits=lambda value: _is_basis(value, columns),
    )
    rows: list[Row] = []
    for (found,) in runner.run(family):
        rows += [tuple(int(entry, 16) for entry in row) for row in found]
        if len(rows) > largest:  # keep no more than is independent of what is known
            rows = _basis(lambda known=tuple(rows): iter(known), net.parameter_count, largest)  # type: ignore[misc]
        if len(rows) == largest and len(_independent(rows, next(primes()))) == largest:
            return rows
    return _basis(lambda: iter(rows), net.parameter_count, largest)


def _is_basis(value: Any, columns: int) -> bool:
    """Whether this is [rows] with so many hexadecimal numbers in each row."""
    if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], list):
        return False
    rows = all(isinstance(row, list) and len(row) == columns for row in value[0])
    return rows and all(isinstance(x, str) and re.fullmatch("-?0x[0-9a-f]+", x) for row in value[0] for x in row)


def _work(inputs: tuple[tuple[Network, Branch, int, int], ...]) -> list[Any]:
    """Give a basis for each branch, its entries as hexadecimal text: JSON readers limit decimal digits."""
    return [
        [
            [hex(value) for value in row]
            for row in _basis(
                lambda net=net, branch=branch, budget=budget: _rows(branch_cells(net, branch, budget), net),  # type: ignore[misc]
                net.parameter_count,
                largest,
            )
        ]
        for net, branch, budget, largest in inputs
    ]


def _rows(found: Iterator[Cell], net: Network) -> Iterator[Row]:
    """Yield the gradient rows of the full ones among these cells of an integer network."""
    weights = [layer.matrix.integer_rows() for layer in net.layers]
    for cell in found:
        if not cell.vanishing:
            yield from _gradients(cell, weights)


def _gradients(cell: Cell, weights: list[tuple[Row, ...]]) -> Iterator[Row]:
    """Yield for each output o and each coefficient of (x, 1) the derivatives by W1, b1, W2, b2, ..., unit after unit.

    The derivative by W_l[i][j] is (∂f_o/∂ preactivation i of layer l) · (input j of layer l), affine in x on the cell.
    """
    size = len(cell.rays[0])
    one = tuple(int(k == size - 1) for k in range(size))
    inputs: list[list[Row]] = [[tuple(int(k == j) for k in range(size)) for j in range(size - 1)]]
    for forms, bits in zip(cell.scaled, cell.pattern, strict=False):
        inputs.append([form if bit else (0,) * size for form, bit in zip(forms, bits, strict=True)])
    for backwards in _slopes(cell.pattern, weights):
        for k in range(size):
            row: list[int] = []
            for slopes, into in zip(backwards, inputs, strict=True):
                entries = [form[k] for form in (*into, one)]
                for slope in slopes:
                    row += [slope * entry for entry in entries]
            yield tuple(row)


def _slopes(pattern: Sequence[Sequence[Any]], weights: list[tuple[Row, ...]]) -> Iterator[list[list[int]]]:
    """Yield for each output its derivatives by the preactivations, layer after layer, units acting by the pattern."""
    for output in range(len(weights[-1])):
        backwards = [[int(i == output) for i in range(len(weights[-1]))]]
        for matrix, bits in zip(reversed(weights[1:]), reversed(pattern), strict=True):
            after = backwards[-1]
            columns = zip(bits, zip(*matrix, strict=True), strict=True)
            backwards.append([sum(map(mul, after, column)) if bit else 0 for bit, column in columns])
        backwards.reverse()
        yield backwards


def _independent(rows: list[Row], prime: int) -> list[Row]:
    """Give the rows that are independent modulo the prime of those before them; they are independent over Q too."""
    reduced, rank = nmod_mat(fmpz_mat(list(zip(*rows, strict=True))), prime).rref()
    chosen, column = [], 0
    for i in range(rank):
        while not int(reduced[i, column]):
            column += 1
        chosen.append(rows[column])
    return chosen


def _spanning(basis: list[Row], rows: Iterator[Row], columns: int) -> list[Row]:
    """Enlarge the independent rows until they span all rows over Q; each row is tested against their exact kernel."""
    kernel = _kernel(basis, columns)
    while batch := list(islice(rows, 2 * columns)):
        while kernel.ncols() and (outside := _first_outside(batch, kernel)) is not None:
            basis = [*basis, outside]
            kernel = _kernel(basis, columns)
    return basis


def _kernel(basis: Iterable[Row], columns: int) -> fmpz_mat:
    """Give integer columns that span {x : row · x = 0 for each row of the basis}."""
    kernel = Matrix.from_integers(basis, columns=columns).kernel().integer_rows()
    return fmpz_mat(columns, len(kernel), [row[j] for j in range(columns) for row in kernel])


def _first_outside(batch: list[Row], kernel: fmpz_mat) -> Row | None:
    products = (fmpz_mat(batch) * kernel).tolist()
    return next((row for row, product in zip(batch, products, strict=True) if any(product)), None)
