"""The symmetries of a three-layer bottleneck network that the signs of [A2 | b2] show: no cells, any size.

Main results
    symmetries_by_signs    dead, unused and linear units, translations of hidden hyperplanes, flips

The first layer maps onto the orthant, so that every statement is one of theory §2.1, §3.1–3.3; zeros are allowed.

References: theory §2.1, §3.2, §3.3; beyond §2.2.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.fibers import moves
from semialg_fibers.fibers.hiding import flip, hiding, lowest_translation, translate
from semialg_fibers.fibers.sound_symmetry import Act, Symmetry, between
from semialg_fibers.geometry.scalar import exact, vector
from semialg_fibers.geometry.semialgebraic import random_rational
from semialg_fibers.networks.deformation import Shift
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import DEAD, LINEAR, neuron_types


def symmetries_by_signs(net: Network) -> Iterator[Symmetry]:
    """Yield the symmetries of a three-layer network whose first layer maps onto the orthant, by the rules for signs.

    The ends of a translation are those for which every row stays negative off its hidden column.

    Implements: beyond §2.2.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[2, -1], [-1, -1]], [-3, -1]), ([[1, 1]], [0])])
    >>> [found.kind for found in symmetries_by_signs(net)]
    ['dead', 'translation', 'sign flip']
    """
    second, third = net.layers[1:]
    for j, kind in enumerate(neuron_types(net, 2)):
        incoming = tuple({name: fmpq(1)} for name in (*(f"W2_{j}_{i}" for i in range(second.inputs)), f"b2_{j}"))
        if kind == DEAD:
            yield Symmetry(
                "dead",
                2,
                (j,),
                f"unit {j + 1} of layer 2 is never active: its outgoing weights are free",
                net,
                (*({f"W3_{k}_{j}": fmpq(1)} for k in range(third.outputs)), *incoming),
                by_theorem=True,
                _act=_column(j),
                _draw=_rationals(third.outputs),
            )
        elif not any(third.matrix.column(j)):
            yield Symmetry(
                "unused",
                2,
                (j,),
                f"unit {j + 1} of layer 2 has no outgoing weights: its incoming ones are free",
                net,
                incoming,
                by_theorem=True,
                _act=_row(j),
                _draw=_rationals(second.inputs + 1),
            )
        elif kind == LINEAR:
            low = -second.offset[j]
            direction = {f"b2_{j}": fmpq(1)} | {f"b3_{k}": -v for k, v in enumerate(third.matrix.column(j)) if v}
            yield Symmetry(
                "linear shift",
                2,
                (j,),
                f"unit {j + 1} of layer 2 is linear: its bias can be shifted by t from {low} to ∞",
                net,
                (direction,),
                (low, None),
                by_theorem=True,
                _act=_linear_shift(j, tuple(range(third.outputs)), low),
                _draw=between(low, None),
            )
    found = hiding(net)
    for i in found.hidden:
        users = found.users[i]
        lowest = lowest_translation(net, i, users)
        direction = {f"b1_{i}": fmpq(1)} | {f"b2_{j}": -second.matrix[j, i] for j in users}
        yield Symmetry(
            "translation",
            1,
            (i,),
            f"unit {i + 1} of layer 1 is hidden: its bias can be shifted by t from "
            f"{'-∞' if lowest is None else lowest} to ∞",
            net,
            (direction,),
            (lowest, None),
            by_theorem=True,
            _act=_translated(i),
            _draw=between(lowest, None),
        )
    for k in found.flippable:
        absorbing = tuple(i for i, ratios in found.ratios.items() if ratios[k])
        yield Symmetry(
            "sign flip",
            1,
            (k, *absorbing),
            f"unit {k + 1} of layer 1 can be flipped to its other side",
            net,
            by_theorem=True,
            _act=_flipped(k),
        )


def _rationals(count: int) -> Callable[[random.Random], list[fmpq]]:
    return lambda rng: [random_rational(rng) for _ in range(count)]


def _column(unit: int) -> Act:
    return lambda at, column: moves.with_column(at, 3, unit, vector(column))


def _row(unit: int) -> Act:
    return lambda at, row: moves.with_row(at, 2, unit, vector(row))


def _translated(unit: int) -> Act:
    return lambda at, t: translate(at, unit, t)


def _flipped(unit: int) -> Act:
    return lambda at, _: flip(at, [unit])


def _linear_shift(unit: int, users: tuple[int, ...], low: fmpq) -> Act:
    def act(at: Network, t: Any) -> Network:
        step = exact(t)
        if step < low:
            raise InvalidNetworkError(f"the bias can be shifted by t ≥ {low} only, got {step}", value=t)
        return Shift(at, 2, unit, users).applied(step)

    return act
