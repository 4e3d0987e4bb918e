"""The moves behind the symmetries: rows and columns replaced, row relations, mixtures of units, flips at any depth.

Main definitions
    Mixture          units of a layer that change together, while the next layer's rows are solved anew

Main results
    row_relations    changes of one row that vanish wherever its unit acts
    row_interval     how far such a change keeps relu of the preactivation everywhere
    flips            which units can be turned round, and who absorbs the difference

References: beyond §2.2, §3.1, §4; theory §3.3.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice

from flint import fmpq

from semialg_fibers.geometry.double_description import value_on
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.nullspace import exact_kernel
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, primitive
from semialg_fibers.geometry.semialgebraic import random_rational
from semialg_fibers.networks.cells import each_cell
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.networks.sight import Sight

ABSORBERS = 64  # sets of absorbing units that are tried for one flip
End = fmpq | None


def with_rows(net: Network, layer: int, rows: Mapping[int, Sequence[fmpq]]) -> Network:
    """Give the network with other rows [W | b] for some units of a layer."""
    forms = [tuple(rows.get(unit, form)) for unit, form in enumerate(net.layers[layer - 1].forms)]
    layers = list(net.layers)
    layers[layer - 1] = Layer(Matrix([form[:-1] for form in forms]), [form[-1] for form in forms])
    return net.with_layers(layers)


def with_row(net: Network, layer: int, unit: int, row: Sequence[fmpq]) -> Network:
    """Give the network with another row [W | b] for one unit."""
    return with_rows(net, layer, {unit: row})


def with_column(net: Network, layer: int, unit: int, column: Sequence[fmpq]) -> Network:
    """Give the network with other weights of a layer from one unit before it."""
    before = net.layers[layer - 1]
    rows = [
        [value if j == unit else old for j, old in enumerate(row)]
        for row, value in zip(before.matrix.rows(), column, strict=True)
    ]
    layers = list(net.layers)
    layers[layer - 1] = Layer(rows, before.offset)
    return net.with_layers(layers)


# rows


def row_relations(net: Network, seen: Sight, layer: int, unit: int) -> list[Vector]:
    """Give a basis of {(δA_k, δb_k) : δA_k h + δb_k = 0 where unit k acts}, layer > 1; dead weights as single entries.

    Implements: beyond §3.1.
    """
    inputs = net.layers[layer - 1].inputs
    views = seen.views if layer == seen.depth else [view for view in seen.views if view.active(layer, unit)]
    scales = _scales(net, seen, layer - 1)
    rows = set()
    for view in views:
        forms, bits = view.cell.scaled[layer - 2], view.cell.pattern[layer - 2]
        size = len(view.cell.rays[0])
        for k in range(size):
            rows.add((*(form[k] if bit else 0 for form, bit in zip(forms, bits, strict=True)), int(k == size - 1)))
    if not views:
        return []
    single = [i for i in range(inputs) if not any(row[i] for row in rows)]
    rest = [i for i in range(inputs + 1) if i not in single]
    found: list[Vector] = [tuple(fmpq(int(i == j)) for j in range(inputs + 1)) for i in single]
    for short in exact_kernel({tuple(row[i] for i in rest) for row in rows}, len(rest)):
        whole = [ZERO] * (inputs + 1)
        for i, value in zip(rest, short, strict=True):
            whole[i] = fmpq(value) * (scales[i] if i < inputs else ONE)
        found.append(tuple(map(fmpq, primitive(whole))))
    return found


def _scales(net: Network, seen: Sight, layer: int) -> list[fmpq]:
    """Give for each unit of a layer the factor by which the integer network's activations are larger."""
    before = _scales(net, seen, layer - 1) if layer > 1 else [ONE] * net.widths[0]
    factors = []
    for own, whole in zip(net.layers[layer - 1].forms, seen.network.layers[layer - 1].forms, strict=True):
        place = next((i for i, value in enumerate(own) if value), None)
        ratio = ONE if place is None else whole[place] / own[place]
        factors.append(ratio * before[place] if place is not None and place < len(before) else ratio)
    return factors


def row_interval(net: Network, layer: int, unit: int, change: Sequence[fmpq]) -> tuple[End, End]:
    """Give the largest interval of t around 0 for which relu(z + t g) = relu(z) everywhere, g the change of z.

    On a cell where z ≥ 0 this asks for g = 0; where z ≤ 0, for z + t g ≤ 0, which the generators of the cell decide.
    For the last layer it asks for g = 0 everywhere, and then holds for all t.
    """
    last = layer == len(net.layers)
    low: End = None
    high: End = None
    # unit and change as two outputs of one more layer, on the cells on which the unit does not switch
    row, delta = net.layers[layer - 1].forms[unit], tuple(change)
    top = Layer([row[:-1], delta[:-1]], [row[-1], delta[-1]])
    closing = Layer([[1, 0]], [0])
    for cell in each_cell(Network([*net.layers[: layer - 1], top, closing], net.domain)):
        z, g = cell.scaled[layer - 1]
        if not any(g):
            continue
        if last or cell.pattern[layer - 1][0]:
            return ZERO, ZERO
        for ray in (*cell.rays, *cell.lineality, *(tuple(-x for x in line) for line in cell.lineality)):
            slope, room = value_on(g, ray), -value_on(z, ray)
            if slope > 0:
                high = fmpq(room, slope) if high is None else min(high, fmpq(room, slope))
            elif slope < 0:
                low = fmpq(room, slope) if low is None else max(low, fmpq(room, slope))
    return low, high


# mixtures


@dataclass(frozen=True)
class Change:
    """New rows = old rows + step · rows, for the units of a mixture."""

    rows: tuple[Vector, ...]
    step: fmpq

    def halved(self) -> Change:
        """Give the change with half the step."""
        return Change(self.rows, self.step / 2)


@dataclass(frozen=True)
class Mixture:
    """Units of a hidden layer whose users see each of them linearly or not at all.

    `acting[k]` are the units that act wherever row k of the next layer does: only Σ_i A_ki u_i + b_k over them matters
    to it. New rows u_i may be chosen as long as these sums can be made of them again.
    """

    network: Network
    layer: int
    units: tuple[int, ...]
    acting: Mapping[int, tuple[int, ...]]

    @cached_property
    def is_free(self) -> bool:
        """Whether every row can be solved anew for all small changes: its units' weights span what layer l can vary.

        Implements: beyond §3.1.
        """
        first = self.network.layers[self.layer - 1].matrix
        return all(not units or first.select(rows=units).rank() == first.shape[1] for units in self.acting.values())

    def draw(self, rng: random.Random) -> Change:
        """Give random directions for all rows of the units."""
        inputs = self.network.layers[self.layer - 1].inputs
        rows = tuple(tuple(random_rational(rng) for _ in range(inputs + 1)) for _ in self.units)
        return Change(rows, fmpq(1, 8))

    def directions(self) -> tuple[dict[str, fmpq], ...]:
        """Give the tangents: one parameter of one unit moves, the users' rows follow to first order."""
        net, after = self.network, self.network.layers[self.layer]
        inputs = net.layers[self.layer - 1].inputs
        first = net.layers[self.layer - 1].matrix
        found = []
        for unit in self.units:
            for column in range(inputs + 1):
                name = f"W{self.layer}_{unit}_{column}" if column < inputs else f"b{self.layer}_{unit}"
                direction = {name: ONE}
                for k, units in self.acting.items():
                    weight = after.matrix[k, unit] if unit in units else ZERO
                    if not weight:
                        continue
                    if column == inputs:
                        direction[f"b{self.layer + 1}_{k}"] = -weight
                        continue
                    solved = first.select(rows=units).T.solve([-weight * int(c == column) for c in range(inputs)])
                    assert solved is not None  # the mixture is free
                    bias = ZERO
                    for i, value in zip(units, solved, strict=True):
                        if value:
                            direction[f"W{self.layer + 1}_{k}_{i}"] = value
                            bias -= value * net.layers[self.layer - 1].offset[i]
                    if bias:
                        direction[f"b{self.layer + 1}_{k}"] = bias
                found.append(direction)
        return tuple(found)

    def applied(self, change: Change) -> Network:
        """Give the network with changed units, the next layer's rows near the old ones; unchanged if not solvable."""
        net = self.network
        forms = net.layers[self.layer - 1].forms
        new = {
            unit: tuple(a + change.step * b for a, b in zip(forms[unit], row, strict=True))
            for unit, row in zip(self.units, change.rows, strict=True)
        }
        rows: dict[int, Vector] = {}
        for k, units in self.acting.items():
            old = net.layers[self.layer].forms[k]
            if not units:
                continue
            # corrections x to the weights: Σ x_i u'_i = −Σ A_ki (u'_i − u_i), up to a constant, which goes to the bias
            missing = [-sum((old[i] * (new[i][c] - forms[i][c]) for i in units), ZERO) for c in range(len(forms[0]))]
            solved = Matrix.from_columns([new[i][:-1] for i in units], len(missing) - 1).solve(missing[:-1])
            if solved is None:
                return net
            row = list(old)
            row[-1] += missing[-1]
            for i, value in zip(units, solved, strict=True):
                row[i] += value
                row[-1] -= value * new[i][-1]
            rows[k] = tuple(row)
        return with_rows(with_rows(net, self.layer, new), self.layer + 1, rows)


def acting(seen: Sight, layer: int, units: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """Give for each unit of the next layer that uses some of these units those that act wherever it is seen."""
    found = {}
    for k, row in enumerate(seen.weights[layer]):
        if any(row[unit] for unit in units) and seen.seen_on(layer + 1, k):
            found[k] = tuple(unit for unit in units if not seen.sides(layer, unit, k)[1])
    return found


# flips


def flips(net: Network, seen: Sight, layer: int) -> Iterator[tuple[int, dict[int, fmpq]]]:
    """Yield (k, ratios): candidates (A,b)_k → −(A,b)_k, (A,b)_i += r_i (A,b)_k for the absorbing units i.

    Every user j of k is a user of exactly one absorber i, sees it linearly, and A_jk / A_ji = r_i for all users of i.
    Whether the absorbers still act there afterwards is not asked; a unit comes with each of the first 64 sets that fit.

    Implements: beyond §2.2, §4.
    """
    weights = net.layers[layer].matrix
    size = net.layers[layer - 1].outputs
    users = {unit: seen.users(layer, unit) for unit in range(size)}
    linear = [
        unit for unit in range(size) if users[unit] and not any(seen.sides(layer, unit, k)[1] for k in users[unit])
    ]
    for unit in range(size):
        others = [i for i in linear if i != unit]
        if not users[unit] or not any(net.layers[layer - 1].matrix.row(unit)):
            continue
        sets = (chosen for count in range(1, len(others) + 1) for chosen in combinations(others, count))
        for chosen in islice(sets, ABSORBERS):
            ratios = _ratios(weights, unit, chosen, users)
            if ratios is not None:
                yield unit, ratios


def _ratios(
    weights: Matrix, unit: int, chosen: tuple[int, ...], users: Mapping[int, list[int]]
) -> dict[int, fmpq] | None:
    covered = [j for i in chosen for j in users[i]]
    if len(set(covered)) < len(covered) or not set(users[unit]) <= set(covered):
        return None
    ratios = {}
    for i in chosen:
        values = {weights[j, unit] / weights[j, i] for j in users[i]}
        if len(values) > 1:
            return None
        ratio = values.pop()
        if not ratio:
            return None  # an absorber that has nothing to absorb
        ratios[i] = ratio
    return ratios


def flipped_at(net: Network, layer: int, unit: int, ratios: Mapping[int, fmpq]) -> Network:
    """Turn unit k round, and give what it loses to the absorbing units.

    Implements: beyond §4.
    """
    forms = net.layers[layer - 1].forms
    rows = {i: tuple(a + ratio * b for a, b in zip(forms[i], forms[unit], strict=True)) for i, ratio in ratios.items()}
    return with_rows(net, layer, {**rows, unit: tuple(-value for value in forms[unit])})
