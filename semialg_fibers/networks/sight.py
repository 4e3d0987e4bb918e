"""Where each unit of a network is active, and where the output sees it.

Main definitions
    View      one full-dimensional cell with the slopes of the output along each unit's activation
    Sight     the views of a network, and what they say about single units

Main results
    sight           the cells without a vanishing preactivation, where f is differentiable in θ
    sight_anywhere  ... or all cells, where there is none of these
    Sight.rows      the derivatives of one preactivation by the parameters of a run of layers, where it is seen

A unit (l, j) is *seen* on a cell when it is active there and its downstream slope A_L D_(L−1) ⋯ A_(l+1) e_j is not 0.

References: beyond §3.1, §4; theory §9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import lcm

from semialg_fibers.errors import BudgetExceededError, UnsupportedError
from semialg_fibers.geometry.double_description import IntegerForm
from semialg_fibers.networks.cells import Cell, each_cell
from semialg_fibers.networks.layer import Layer, Network

Row = tuple[int, ...]
CELLS = 5_000


@dataclass(frozen=True)
class View:
    """A cell, and for each hidden layer (from 1) and unit whether it is seen on it."""

    cell: Cell
    seen: tuple[tuple[bool, ...], ...]

    def active(self, layer: int, unit: int) -> bool:
        """Whether the unit is active on the cell."""
        return bool(self.cell.pattern[layer - 1][unit])


@dataclass(frozen=True)
class Sight:
    """The views of an integer network that has the given one's cells, one for each cell without a vanishing unit.

    `skipped` counts the other cells: there f need not be differentiable in θ. `active`, `inactive` and `vanishing` are
    the units (layer, unit) that are active, or not, or zero on some cell, the skipped ones included.
    """

    network: Network
    views: tuple[View, ...]
    skipped: int
    active: frozenset[tuple[int, int]]
    inactive: frozenset[tuple[int, int]]
    vanishing: frozenset[tuple[int, int]] = frozenset()

    @property
    def depth(self) -> int:
        """The number of affine layers."""
        return len(self.network.layers)

    @cached_property
    def weights(self) -> list[tuple[Row, ...]]:
        """The weights of each layer as integers."""
        return [layer.matrix.integer_rows() for layer in self.network.layers]

    def seen_on(self, layer: int, unit: int) -> list[View]:
        """Give the views on which a unit is seen; an output unit is seen everywhere.

        Implements: beyond §4.
        """
        if layer == self.depth:
            return list(self.views)
        return [view for view in self.views if view.seen[layer - 1][unit]]

    def is_ever_active(self, layer: int, unit: int) -> bool:
        """Say whether the unit is active on some cell."""
        return (layer, unit) in self.active

    def users(self, layer: int, unit: int) -> list[int]:
        """Give the units of the next layer that use this one with a nonzero weight and are seen somewhere."""
        rows = self.weights[layer]
        return [k for k, row in enumerate(rows) if row[unit] and self.seen_on(layer + 1, k)]

    def is_linear(self, layer: int, unit: int) -> bool:
        """Say whether the unit is active on every cell."""
        return (layer, unit) not in self.inactive

    def sides(self, layer: int, unit: int, user: int) -> tuple[bool, bool]:
        """Say whether the user is seen where the unit is active, and whether it is seen where the unit is not."""
        states = {view.active(layer, unit) for view in self.seen_on(layer + 1, user)}
        return True in states, False in states

    def width(self, first: int, last: int) -> int:
        """Give the number of parameters of the layers first..last."""
        return sum(layer.outputs * (layer.inputs + 1) for layer in self.network.layers[first - 1 : last])

    def place(self, layer: int, unit: int, column: int) -> int:
        """Give the place of a parameter in the order layer by layer, unit by unit, bias last; column −1 is the bias."""
        inputs = self.network.layers[layer - 1].inputs
        return self.width(1, layer - 1) + unit * (inputs + 1) + (inputs if column < 0 else column)

    def rows(self, first: int, last: int) -> frozenset[Row]:
        """Give the derivatives of the preactivations of layer `last`, where seen, by the parameters of first..last.

        Each affine form in x gives its coefficients: δz = 0 on the cell iff all of them vanish.

        Implements: beyond §4.
        """
        skip = self.width(1, first - 1)
        return frozenset(row[skip:] for row in self._whole(last))

    @cached_property
    def _whole(self) -> Callable[[int], frozenset[Row]]:
        @cache
        def rows_of(last: int) -> frozenset[Row]:
            found = set()
            for unit in range(self.network.layers[last - 1].outputs):
                for view in self.seen_on(last, unit):
                    found |= set(self._derivatives(view.cell, last, unit))
            return frozenset(found)

        return rows_of

    def _derivatives(self, cell: Cell, last: int, unit: int) -> Iterator[Row]:
        """Yield, for each coefficient of (x, 1), the derivatives of preactivation `unit` of layer `last`."""
        size = len(cell.rays[0])
        one = tuple(int(k == size - 1) for k in range(size))
        inputs: list[list[IntegerForm]] = [[tuple(int(k == j) for k in range(size)) for j in range(size - 1)]]
        for forms, bits in zip(cell.scaled[: last - 1], cell.pattern, strict=False):
            inputs.append([form if bit else (0,) * size for form, bit in zip(forms, bits, strict=True)])
        slopes = [[int(i == unit) for i in range(self.network.layers[last - 1].outputs)]]
        for layer in range(last - 1, 0, -1):
            slopes.append(backwards(slopes[-1], self.weights[layer], cell.pattern[layer - 1]))
        slopes.reverse()
        for k in range(size):
            row: list[int] = []
            for along, into in zip(slopes, inputs, strict=True):
                entries = [form[k] for form in (*into, one)]
                for slope in along:
                    row += [slope * entry for entry in entries]
            yield tuple(row)


def backwards(slopes: list[int], matrix: tuple[Row, ...], bits: tuple[int, ...]) -> list[int]:
    """Give the slopes by the units before, 0 where they are off."""
    columns = zip(bits, zip(*matrix, strict=True), strict=True)
    return [sum(a * b for a, b in zip(slopes, column, strict=True)) if bit else 0 for bit, column in columns]


def sight(net: Network, budget: int = CELLS) -> Sight:
    """Give the views of a network.

    Implements: beyond §3.1, §4.

    Raises:
        BudgetExceededError: when there are more cells than the budget.
        UnsupportedError: when a preactivation vanishes on every cell, and for letters in the parameters.
    """
    found = sight_anywhere(net, budget)
    if found.skipped and all(view.cell.vanishing for view in found.views):
        raise UnsupportedError("a preactivation vanishes on every cell, so that f need not be differentiable in θ")
    return found


def sight_anywhere(net: Network, budget: int = CELLS) -> Sight:
    """Give the views of a network; where on every cell a preactivation vanishes, those of all cells.

    A unit whose preactivation vanishes on a cell is off there, relu(0) = 0. Finite moves that are shown to keep the
    values on all cells need no derivative; derivatives by the parameters mean nothing on such cells.

    Implements: beyond §3.1, §4.

    Raises:
        BudgetExceededError: when there are more cells than the budget.
        UnsupportedError: for letters in the parameters.
    """
    if not net.is_rational:
        raise UnsupportedError("cells need numbers: put values in for the letters of this network")
    found = _sight(net, budget)
    if isinstance(found, BudgetExceededError):
        raise found
    return found


@lru_cache(maxsize=8)
def _sight(net: Network, budget: int) -> Sight | BudgetExceededError:
    whole = with_integers(net)
    views: list[View] = []
    others: list[View] = []
    met: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
    vanishing: set[tuple[int, int]] = set()
    skipped = 0
    try:
        for cell in each_cell(whole, budget):
            for layer, bits in enumerate(cell.pattern, 1):
                for unit, bit in enumerate(bits):
                    met[bit].add((layer, unit))
            vanishing |= set(cell.vanishing)
            if not cell.vanishing or not views:
                (others if cell.vanishing else views).append(View(cell, _seen(whole, cell)))
            skipped += bool(cell.vanishing)
    except BudgetExceededError as error:
        return error
    return Sight(whole, tuple(views or others), skipped, frozenset(met[1]), frozenset(met[0]), frozenset(vanishing))


def _seen(net: Network, cell: Cell) -> tuple[tuple[bool, ...], ...]:
    outputs = net.layers[-1].outputs
    slopes = [[int(i == o) for i in range(outputs)] for o in range(outputs)]
    seen: list[tuple[bool, ...]] = []
    for layer in range(len(net.layers) - 1, 0, -1):
        matrix, bits = net.layers[layer].matrix.integer_rows(), cell.pattern[layer - 1]
        slopes = [backwards(row, matrix, bits) for row in slopes]
        seen.append(tuple(any(column) for column in zip(*slopes, strict=True)))
    return tuple(reversed(seen))


def with_integers(net: Network) -> Network:
    """Give an integer network with the same cells and slopes up to constants: units and outputs rescaled.

    Its Jacobian is the given one's with rows and columns multiplied by nonzero constants.
    """
    layers = []
    factors = [1] * net.widths[0]
    for layer in net.layers:
        rows = [
            (*(value / factor for value, factor in zip(form[:-1], factors, strict=True)), form[-1])
            for form in layer.forms
        ]
        factors = [lcm(*(int(value.q) for value in row)) for row in rows]
        scaled = [[value * factor for value in row] for row, factor in zip(rows, factors, strict=True)]
        layers.append(Layer([row[:-1] for row in scaled], [row[-1] for row in scaled]))
    return net.with_layers(layers)
