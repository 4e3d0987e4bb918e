"""The known symmetries of any ReLU network, each with its tangent directions and exact finite moves.

Main definitions
    Symmetry       a name, the units that cause it, directions, and moves that are checked on all cells

Main results
    bias_shifts    those that move one bias
    symmetries     permutations, scalings, dead and unused units, dead weights, row relations, shifts of biases with
                   both ends, several at once, free hyperplanes, linear units, flips

They are found on the exact range of the layers before (cells), with no genericity, at any depth; in bottleneck networks
with too many cells, by signs. Where on every cell some preactivation vanishes, f need not be differentiable in θ: there
all but the joint changes are given, whose finite moves are shown to keep f without any derivative. Which further ones
exist is open; `questions.explanation` says whether the directions of such symmetries explain the whole kernel of the
Jacobian.

References: beyond §2.2, §3.1, §4; theory §1, §3.2, §3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.fibers import moves
from semialg_fibers.fibers.component import counted
from semialg_fibers.fibers.sign_symmetries import symmetries_by_signs
from semialg_fibers.fibers.sound_symmetry import Act, Direction, Symmetry, between, halved, within
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import exact, vector
from semialg_fibers.geometry.semialgebraic import random_positive, random_rational
from semialg_fibers.networks.deformation import CELLS, Shift, equal_on_cells
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import maps_onto_orthant
from semialg_fibers.networks.sight import Sight, sight_anywhere

TRIALS = 3  # random directions in which a joint change must have a finite step
VIEWS = 5_000  # cells of the network itself
SHIFTS = ("translation", "linear shift")


@checked
def symmetries(net: Network, budget: int = CELLS) -> tuple[Symmetry, ...]:
    """Give the known symmetries of a network of any depth on its domain; each keeps the function exactly.

    Implements: beyond §2.2, §3.1, §4.

    Raises:
        BudgetExceededError: when the network, or a shift of it, has more cells than the budget.
        UnsupportedError: for letters in the parameters.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[2, -1]], [-3]), ([[1]], [0])])
    >>> [found.kind for found in symmetries(net) if found.kind not in ("permutation", "scaling")]
    ['translation', 'sign flip']
    >>> shift = next(found for found in symmetries(net) if found.kind == "translation")
    >>> shift.interval, shift.move(1).layers[1].bias
    (Interval(-3/2, oo), (-5,))
    """
    return tuple(_all(net, budget))


def bias_shifts(net: Network, budget: int = CELLS) -> tuple[Symmetry, ...]:
    """Give those of the symmetries that move one bias: translations and linear shifts.

    Raises:
        BudgetExceededError, UnsupportedError: as `symmetries`.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[2, -1]], [-3]), ([[1]], [0])])
    >>> [found.sentence for found in bias_shifts(net)]
    ['unit 1 of layer 1 is hidden: its bias can be shifted by t from -3/2 to ∞']
    """
    seen = _seen_or_none(net, budget)
    if seen is None:
        return tuple(found for found in symmetries_by_signs(net) if found.kind in SHIFTS)
    return tuple(found for layer in range(1, len(net.layers)) for found in _shifts(net, seen, layer, budget))


def _seen_or_none(net: Network, budget: int) -> Sight | None:
    """Give the views of the network, None where it has too many and signs alone say something."""
    try:
        return sight_anywhere(net, min(budget, VIEWS))
    except BudgetExceededError:
        if len(net.layers) != 3 or not maps_onto_orthant(net):
            raise
        return None


def _all(net: Network, budget: int) -> Iterator[Symmetry]:
    seen = _seen_or_none(net, budget)
    if seen is None:
        for layer in (1, 2):
            yield from relabellings(net, layer)
        yield from symmetries_by_signs(net)
        return
    for layer in range(1, len(net.layers)):
        yield from relabellings(net, layer)
        yield from _single_units(net, seen, layer)
        yield from _rows(net, seen, layer + 1)
        shifts = list(_shifts(net, seen, layer, budget))
        yield from shifts
        yield from _several(net, [found for found in shifts if found.kind == "translation"])
        if not all(view.cell.vanishing for view in seen.views):  # joint changes are proposed by their tangents
            yield from _mixtures(net, seen, layer)
        yield from _flips(net, seen, layer, budget)


def _names(layer: int, unit: int, inputs: int) -> list[str]:
    return [*(f"W{layer}_{unit}_{column}" for column in range(inputs)), f"b{layer}_{unit}"]


def _unit(layer: int, unit: int) -> str:
    return f"unit {unit + 1} of layer {layer}"


def relabellings(net: Network, layer: int) -> Iterator[Symmetry]:
    """Yield the permutations and the scalings of a hidden layer."""
    size = net.layers[layer - 1].outputs
    if size > 1:
        yield Symmetry(
            "permutation",
            layer,
            tuple(range(size)),
            f"the units of layer {layer} can be permuted",
            net,
            by_theorem=True,
            _act=lambda at, order: at.permuted(layer, order),
            _draw=lambda rng: rng.sample(range(size), size),
        )
    for unit, form in enumerate(net.layers[layer - 1].forms):
        names = _names(layer, unit, net.layers[layer - 1].inputs)
        outgoing = net.layers[layer].matrix.column(unit)
        direction = dict(zip(names, form, strict=True))
        direction |= {f"W{layer + 1}_{k}_{unit}": -value for k, value in enumerate(outgoing)}

        def scaled(at: Network, factor: Any, unit: int = unit) -> Network:
            return at.rescaled(layer, [exact(factor) if j == unit else 1 for j in range(size)])

        if any(direction.values()):
            yield Symmetry(
                "scaling",
                layer,
                (unit,),
                f"{_unit(layer, unit)} can be scaled: incoming weights and bias by c > 0, outgoing weights by 1/c",
                net,
                (_without_zeros(direction),),
                by_theorem=True,
                _act=scaled,
                _draw=random_positive,
            )


def _without_zeros(direction: Direction) -> Direction:
    return {name: value for name, value in direction.items() if value}


def _single_units(net: Network, seen: Sight, layer: int) -> Iterator[Symmetry]:
    """Yield dead units (never active) and unused ones (no outgoing weight)."""
    inputs, outer = net.layers[layer - 1].inputs, net.layers[layer]
    for unit in range(net.layers[layer - 1].outputs):
        incoming = [{name: fmpq(1)} for name in _names(layer, unit, inputs)]
        if not seen.is_ever_active(layer, unit):
            outgoing = [{f"W{layer + 1}_{k}_{unit}": fmpq(1)} for k in range(outer.outputs)]

            def changed(at: Network, column: Any, unit: int = unit) -> Network:
                return moves.with_column(at, layer + 1, unit, vector(column))

            yield Symmetry(
                "dead",
                layer,
                (unit,),
                f"{_unit(layer, unit)} is never active: its outgoing weights are free",
                net,
                (*outgoing, *(incoming if (layer, unit) not in seen.vanishing else ())),
                _act=changed,
                _draw=lambda rng: [random_rational(rng) for _ in range(outer.outputs)],
            )
        elif not any(outer.matrix.column(unit)):

            def replaced(at: Network, row: Any, unit: int = unit) -> Network:
                return moves.with_row(at, layer, unit, vector(row))

            yield Symmetry(
                "unused",
                layer,
                (unit,),
                f"{_unit(layer, unit)} has no outgoing weights: its incoming ones are free",
                net,
                tuple(incoming),
                _act=replaced,
                _draw=lambda rng: [random_rational(rng) for _ in range(inputs + 1)],
            )


def _rows(net: Network, seen: Sight, layer: int) -> Iterator[Symmetry]:
    """Yield the relations of each row of a layer, dead weights first: δA_k h + δb_k = 0 wherever the unit acts."""
    inputs = net.layers[layer - 1].inputs
    for unit in range(net.layers[layer - 1].outputs):
        if layer < len(net.layers) and not seen.is_ever_active(layer, unit):
            continue
        for change in moves.row_relations(net, seen, layer, unit):
            support = tuple(i for i, value in enumerate(change[:-1]) if value)
            alone = len(support) == 1 and not change[-1]
            ends = moves.row_interval(net, layer, unit, change)
            if ends == (fmpq(0), fmpq(0)):
                continue
            if layer > 1 and alone and not seen.is_ever_active(layer - 1, support[0]):
                continue  # an outgoing weight of a dead unit, named there

            def moved(at: Network, t: Any, unit: int = unit, change: tuple[fmpq, ...] = change) -> Network:
                row = at.layers[layer - 1].forms[unit]
                step = exact(t)
                return moves.with_row(at, layer, unit, tuple(a + step * b for a, b in zip(row, change, strict=True)))

            weights = f"its weights from {len(support)} units"
            if len(support) == 1:
                weights = f"its weight from unit {support[0] + 1}" + ("" if alone else " and its bias")
            yield Symmetry(
                "dead weight" if alone else "row relation",
                layer,
                (unit,),
                f"{_unit(layer, unit)} acts only where {weights} can be changed",
                net,
                (_without_zeros(dict(zip(_names(layer, unit, inputs), change, strict=True))),),
                ends,
                _act=moved,
                _draw=between(*ends),
                _smaller=halved,
            )


def _shifted(shift: Shift) -> Act:
    return lambda at, t: Shift(at, shift.layer, shift.unit, shift.compensated).applied(exact(t))


def _mixed(frame: moves.Mixture) -> Act:
    return lambda at, change: frame.applied(change)


def _turned(layer: int, unit: int, ratios: Mapping[int, fmpq]) -> Act:
    return lambda at, _: moves.flipped_at(at, layer, unit, ratios)


def _shifts(net: Network, seen: Sight, layer: int, budget: int) -> Iterator[Symmetry]:
    """Yield the biases that can be shifted: users that act on one side of the unit's hyperplane only.

    Those that act where the unit is active compensate in their bias, those that act where it is off need not.
    """
    for unit in range(net.layers[layer - 1].outputs):
        if not seen.is_ever_active(layer, unit):
            continue  # dead, named there
        users = seen.users(layer, unit)
        sides = {user: seen.sides(layer, unit, user) for user in users}
        if any(all(both) for both in sides.values()) or (not users and not any(net.layers[layer].matrix.column(unit))):
            continue
        compensated = tuple(user for user in users if sides[user][0])
        shift = Shift(net, layer, unit, compensated)
        low, high = shift.interval(budget)
        if low == high == 0:
            continue
        direction = {f"b{layer}_{unit}": fmpq(1)}
        direction |= {f"b{layer + 1}_{k}": -net.layers[layer].matrix[k, unit] for k in compensated}
        linear = seen.is_linear(layer, unit)
        shown = f"from {'-∞' if low is None else low} to {'∞' if high is None else high}"
        yield Symmetry(
            "linear shift" if linear else "translation",
            layer,
            (unit,),
            f"{_unit(layer, unit)} is {'linear' if linear else 'hidden'}: its bias can be shifted by t {shown}",
            net,
            (direction,),
            (low, high),
            _act=_shifted(shift),
            _draw=between(low, high),
        )


def _several(net: Network, shifts: list[Symmetry]) -> Iterator[Symmetry]:
    """Yield the translations of one layer together: t_i independent."""
    if len(shifts) < 2:
        return

    def act(at: Network, steps: Any) -> Network:
        for found, t in zip(shifts, vector(steps), strict=True):
            at = found._act(at, t)
        return at

    yield Symmetry(
        "translations",
        shifts[0].layer,
        tuple(found.units[0] for found in shifts),
        f"the biases of {len(shifts)} hidden units of layer {shifts[0].layer} can be shifted independently, near 0",
        net,
        tuple(found.directions[0] for found in shifts),
        _act=act,
        _draw=lambda rng: [within(rng, *found.ends) for found in shifts if found.ends],
        _smaller=lambda steps: [t / 2 for t in steps],
    )


def _mixtures(net: Network, seen: Sight, layer: int) -> Iterator[Symmetry]:
    """Yield the joint changes of linear units, and of hyperplanes that are free: their users' rows are solved anew."""
    size = net.layers[layer - 1].outputs
    linear = [unit for unit in range(size) if seen.is_linear(layer, unit)]
    one_sided = [
        unit
        for unit in range(size)
        if unit not in linear
        and seen.users(layer, unit)
        and all(not all(seen.sides(layer, unit, user)) for user in seen.users(layer, unit))
    ]
    for kind, units in (("linear units", linear), ("free hyperplanes", one_sided)):
        if not units:
            continue
        frame = moves.Mixture(net, layer, tuple(units), moves.acting(seen, layer, units))
        if not frame.is_free:
            continue
        found = Symmetry(
            kind,
            layer,
            tuple(units),
            f"{counted('unit', units)} of layer {layer}, {'hidden' if units is one_sided else 'linear'}, can be "
            "changed together, near what they are",
            net,
            frame.directions(),
            _act=_mixed(frame),
            _draw=frame.draw,
            _smaller=lambda change: change.halved(),
        )
        with suppress(BudgetExceededError):  # no finite step where a unit touches its hyperplane from one side
            for seed in range(TRIALS):
                found.sample(seed)
            yield found


def _flips(net: Network, seen: Sight, layer: int, budget: int) -> Iterator[Symmetry]:
    """Yield the units whose hyperplane can be turned round, as units that are seen linearly absorb the difference."""
    turned = set()
    for unit, ratios in moves.flips(net, seen, layer):
        if unit not in turned and equal_on_cells(net, moves.flipped_at(net, layer, unit, ratios), budget):
            turned.add(unit)
            yield Symmetry(
                "sign flip",
                layer,
                (unit, *ratios),
                f"{_unit(layer, unit)} can be flipped to its other side; {counted('unit', tuple(ratios))} absorb"
                f"{'s' if len(ratios) == 1 else ''} the difference",
                net,
                _act=_turned(layer, unit, ratios),
            )
