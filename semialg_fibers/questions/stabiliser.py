"""Which relabellings of hidden units leave every parameter as it is?

Main results
    stabiliser_order    their number, by copies, colour refinement, orbits and stabilisers

References: theory §8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import factorial, prod
from typing import Any

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.expression import Expression, Scalar, signs_of, undecided
from semialg_fibers.networks.expected import expect_network
from semialg_fibers.networks.layer import Network

BUDGET = 20_000_000  # weights that may be looked at in the search for symmetric relabellings


def stabiliser_order(net: Network, budget: int = BUDGET) -> int:
    """Give the number of relabellings of hidden units that leave every parameter as it is.

    Copies of one unit are counted by factorials and merged; the rest by orbits and stabilisers, where colour refinement
    decides which units can be exchanged.

    Raises:
        BudgetExceededError: when more than `budget` weights would have to be looked at.
        UndecidedSignError: where two parameters are equal for some values of the letters, and it may matter.
    """
    expect_network(net)
    if not net.is_rational and _told_apart(net):
        return 1
    merged = _Merged.of(net)
    copies = prod(factorial(count) for counts in merged.copies for count in counts)
    if all(len(set(row)) == len(row) for row in merged.biases):  # each unit keeps its own bias: nothing can move
        return copies
    return copies * _Search(merged, budget).order(())


def _told_apart(net: Network) -> bool:
    """Whether any two units of a layer differ, for all values of the letters, in what no relabelling moves.

    These are their biases, their weights from inputs, and their weights to outputs.
    """
    last = len(net.layers) - 1
    for layer in range(last):
        fixed: list[Sequence[Scalar]] = [net.layers[layer].offset]
        fixed += net.layers[layer].matrix.columns() if layer == 0 else []
        fixed += net.layers[last].matrix.rows() if layer + 1 == last else []
        for i, j in combinations(range(net.widths[layer + 1]), 2):
            if all(0 in signs_of(values[i] - values[j]) for values in fixed):
                return False
    return True


@dataclass(frozen=True)
class _Merged:
    """A network with the copies of each hidden unit merged; parameters as small integers that name their values."""

    copies: tuple[tuple[int, ...], ...]  # of each hidden unit, layer by layer
    biases: tuple[tuple[int, ...], ...]
    weights: tuple[tuple[tuple[int, ...], ...], ...]  # of each layer, rows × columns

    @classmethod
    def of(cls, net: Network) -> _Merged:
        rows = [_named(layer.matrix.rows()) for layer in net.layers]
        biases = [_named([layer.offset])[0] for layer in net.layers]
        kept: list[list[int]] = [list(range(net.widths[0]))]
        copies = []
        for layer in range(len(net.layers) - 1):
            columns = list(zip(*rows[layer + 1], strict=True))
            units: dict[Any, list[int]] = {}
            for i, key in enumerate(zip(rows[layer], biases[layer], columns, strict=True)):
                units.setdefault(key, []).append(i)
            kept.append([same[0] for same in units.values()])
            copies.append(tuple(map(len, units.values())))
        kept.append(list(range(net.widths[-1])))
        weights = tuple(
            tuple(tuple(rows[layer][i][j] for j in below) for i in above)
            for layer, (below, above) in enumerate(pairwise(kept))
        )
        offsets = tuple(tuple(biases[layer][i] for i in kept[layer + 1]) for layer in range(len(net.layers) - 1))
        return cls(tuple(copies), offsets, weights)


def _named(rows: Sequence[Sequence[Scalar]]) -> list[tuple[int, ...]]:
    """Give equal values equal numbers; values that are equal for some values of their letters only are refused."""
    names: dict[Scalar, int] = {}
    for value in (value for row in rows for value in row):
        names.setdefault(value, len(names))
    if any(isinstance(value, Expression) for value in names):
        for one, other in combinations(names, 2):
            if 0 in signs_of(one - other):
                raise undecided(one - other)
    return [tuple(names[value] for value in row) for row in rows]


Unit = tuple[int, int]  # hidden layer from 1, index
Colours = list[list[int]]  # of inputs, hidden units and outputs


@dataclass
class _Search:
    """The automorphisms of a merged network, by colour refinement; two labellings are refined side by side."""

    net: _Merged
    left: int

    def order(self, fixed: tuple[Unit, ...]) -> int:
        """Give the number of automorphisms that fix these units: an orbit times a stabiliser."""
        (colours,) = self._refined([fixed])
        cell = _crowd(colours)
        if cell is None:
            return 1
        layer, first, others = cell
        fix = (*fixed, (layer, first))
        orbit = 1 + sum(self._carries(fix, (*fixed, (layer, other))) for other in others)
        return orbit * self.order(fix)

    def _carries(self, one: tuple[Unit, ...], other: tuple[Unit, ...]) -> bool:
        """Say whether an automorphism carries these units to those, in this order."""
        left, right = self._refined([one, other])
        if any(Counter(a) != Counter(b) for a, b in zip(left, right, strict=True)):
            return False
        cell = _crowd(left)
        if cell is None:  # all units have a colour of their own, so the colours are the automorphism
            return True
        layer, first, _ = cell
        colour = left[layer][first]
        targets = (i for i, each in enumerate(right[layer]) if each == colour)
        return any(self._carries((*one, (layer, first)), (*other, (layer, i))) for i in targets)

    def _refined(self, fixed: Sequence[tuple[Unit, ...]]) -> list[Colours]:
        """Colour the units of one or two copies of the network until nothing more can be told apart."""
        coloured = [self._first(units) for units in fixed]
        kinds = 0
        while True:
            self.left -= len(fixed) * 2 * sum(len(rows) * len(rows[0]) for rows in self.net.weights)
            if self.left < 0:
                raise BudgetExceededError("the search for symmetric relabellings is beyond its budget")
            signatures = [self._signatures(colours) for colours in coloured]
            names = {
                key: i for i, key in enumerate(sorted({key for each in signatures for row in each for key in row}))
            }
            coloured = [
                [colours[0], *([names[key] for key in row] for row in each), colours[-1]]
                for colours, each in zip(coloured, signatures, strict=True)
            ]
            found = len(names)
            if found == kinds:
                return coloured
            kinds = found

    def _first(self, units: tuple[Unit, ...]) -> Colours:
        hidden = [[0] * len(row) for row in self.net.biases]
        for number, (layer, i) in enumerate(units, 1):
            hidden[layer - 1][i] = number
        return [list(range(len(self.net.weights[0][0]))), *hidden, list(range(len(self.net.weights[-1])))]

    def _signatures(self, colours: Colours) -> list[list[tuple[Any, ...]]]:
        result = []
        for layer, (biases, copies) in enumerate(zip(self.net.biases, self.net.copies, strict=True), 1):
            below, above = self.net.weights[layer - 1], list(zip(*self.net.weights[layer], strict=True))
            result.append(
                [
                    (layer, colours[layer][i], biases[i], copies[i], *_seen(below[i], colours[layer - 1]),
                     *_seen(above[i], colours[layer + 1]))
                    for i in range(len(biases))
                ]
            )  # fmt: skip
        return result


def _seen(weights: Sequence[int], colours: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs (weight, colour at the other end), sorted."""
    return iter(sorted(zip(weights, colours, strict=True)))


def _crowd(colours: Colours) -> tuple[int, int, list[int]] | None:
    """Give the first hidden units that share a colour: layer, one unit, the others; None when there are none."""
    for layer, row in enumerate(colours[1:-1], 1):
        count = Counter(row)
        for i, colour in enumerate(row):
            if count[colour] > 1:
                return layer, i, [j for j in range(i + 1, len(row)) if row[j] == colour]
    return None
