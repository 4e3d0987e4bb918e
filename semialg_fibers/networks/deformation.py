"""One bias moves: for which shifts does the function stay the same? By the cells of one network in (x, t).

Main definitions
    Shift             b_i += t in one layer, b_j −= A_ji t in the next for some users j

Main results
    Shift.applied     the network after the shift
    Shift.interval    the largest interval around 0 on which f stays the same, both ends exact
    equal_on_cells    two networks of any depth are equal, piece by piece of their common cells

With t as a further input, preactivations stay piecewise linear. On each cell of (x, t) the difference of the shifted
network and the given one is affine; the ends are the values of t nearest to 0 on cells where it is not zero. So f is
the same up to and at an end, and different just beyond it.

References: beyond §3.1 (where rows are compared, not functions, which can end earlier), §4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flint import fmpq

from semialg_fibers.geometry.domain import Domain, Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.geometry.scalar import ONE, ZERO
from semialg_fibers.networks.cells import Cell, common_cells, each_cell
from semialg_fibers.networks.layer import Layer, Network

CELLS = 20_000
Row = dict[int, fmpq]  # weights by place
End = fmpq | None


def equal_on_cells(a: Network, b: Network, budget: int = CELLS) -> bool:
    """Decide whether two networks on one domain are equal: the same affine map on each piece of their common cells.

    Raises:
        BudgetExceededError: when there are more pieces than the budget.

    >>> net = Network([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    >>> equal_on_cells(net, Network([([[1]], [0])]))
    True
    """
    return all(
        left.matrix == right.matrix and left.offset == right.offset for left, right in common_cells(a, b, budget)
    )


@dataclass(frozen=True)
class Shift:
    """b_i += t for unit i of a hidden layer (from 1), b_j −= A_ji t in the next layer for j in `compensated`."""

    network: Network
    layer: int
    unit: int
    compensated: tuple[int, ...]

    def applied(self, t: fmpq) -> Network:
        """Give the shifted network, whether or not its function is the same."""
        layers = list(self.network.layers)
        before, after = layers[self.layer - 1], layers[self.layer]
        bias = list(before.offset)
        bias[self.unit] += t
        later = list(after.offset)
        for j in self.compensated:
            later[j] -= after.matrix[j, self.unit] * t
        layers[self.layer - 1], layers[self.layer] = Layer(before.matrix, bias), Layer(after.matrix, later)
        return self.network.with_layers(layers)

    def interval(self, budget: int = CELLS) -> tuple[End, End]:
        """Give the ends of the largest interval around 0 for which the function stays the same, None for infinity.

        Implements: beyond §3.1.

        Raises:
            BudgetExceededError: when (x, t) has more cells than the budget.

        >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[2, -1]], [-3]), ([[1]], [0])])
        >>> Shift(net, 1, 0, (0,)).interval()
        (-3/2, None)
        """
        low: End = None
        high: End = None
        for cell in each_cell(self.difference(), budget):
            if any(any(form) for form in cell.scaled[-1]):
                nearest = min((abs(t) for t in _shifts(cell)), default=None)
                assert nearest is not None  # a cell has a generator that is not at infinity
                if _is_positive(cell):
                    high = nearest if high is None else min(high, nearest)
                else:
                    low = -nearest if low is None else max(low, -nearest)
        return low, high

    def difference(self) -> Network:
        """Give (x, t) ↦ f shifted by t, minus f, as a network."""
        net, size = self.network, self.network.widths[0]
        layers: list[Layer] = []
        width = size + 1
        old = {i: i for i in range(size)}
        time: Row = {size: ONE}
        new = dict(old)
        for number, layer in enumerate(net.layers, 1):
            rows: list[tuple[Row, fmpq]] = []

            def place(row: Row, constant: fmpq, rows: list[tuple[Row, fmpq]] = rows) -> int:
                if (row, constant) not in rows:
                    rows.append((row, constant))
                return rows.index((row, constant))

            pairs: list[tuple[tuple[Row, fmpq], tuple[Row, fmpq]]] = []
            for j, form in enumerate(layer.forms):
                given, moved = _through(form[:-1], old), _through(form[:-1], new)
                share = self._share_of_time(number, j)
                if share:
                    moved = _sum(moved, {at: share * value for at, value in time.items()})
                pairs.append(((given, form[-1]), (moved, form[-1])))
            if number == len(net.layers):
                changes = [_sum(moved, {at: -value for at, value in given.items()}) for (given, _), (moved, _) in pairs]
                layers.append(_layer([(row, ZERO) for row in changes], width))
                break
            old = {j: place(*given) for j, (given, _) in enumerate(pairs)}
            new = {j: place(*moved) for j, (_, moved) in enumerate(pairs)}
            up = place(time, ZERO)
            down = place({at: -value for at, value in time.items()}, ZERO)
            layers.append(_layer(rows, width))
            width, time = len(rows), {up: ONE, down: -ONE}
        return Network(layers, with_time(net.domain))

    def _share_of_time(self, number: int, unit: int) -> fmpq:
        if number == self.layer and unit == self.unit:
            return ONE
        if number == self.layer + 1 and unit in self.compensated:
            return -self.network.layers[self.layer].matrix[unit, self.unit]
        return ZERO


def _through(weights: Sequence[fmpq], places: dict[int, int]) -> Row:
    """Give the weights by the places of their units; units that are the same share a place."""
    total: Row = {}
    for unit, value in enumerate(weights):
        total[places[unit]] = total.get(places[unit], ZERO) + value
    return {at: value for at, value in total.items() if value}


def _sum(a: Row, b: Row) -> Row:
    total = dict(a)
    for at, value in b.items():
        total[at] = total.get(at, ZERO) + value
    return {at: value for at, value in total.items() if value}


def _layer(rows: list[tuple[Row, fmpq]], width: int) -> Layer:
    matrix = [[row.get(at, ZERO) for at in range(width)] for row, _ in rows]
    return Layer(Matrix(matrix, columns=width), [constant for _, constant in rows])


def with_time(domain: Domain) -> Domain:
    """Give the product of the domain with the whole line."""
    if isinstance(domain, Space):
        return Space(domain.dimension + 1)
    forms = domain.constraints()
    if not forms:
        return Space(domain.dimension + 1)
    return Polyhedron([[*(-value for value in form[:-1]), ZERO] for form in forms], [form[-1] for form in forms])


def _shifts(cell: Cell) -> Iterator[fmpq]:
    """Yield the values of t at the generators of a cell that are not at infinity."""
    for ray in cell.rays:
        if ray[-1]:
            yield fmpq(ray[-2], ray[-1])


def _is_positive(cell: Cell) -> bool:
    return cell.interior[-1] > 0
