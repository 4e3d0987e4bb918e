"""Identifiability: every reason is carried out as a move and leaves the orbit, every True meets an exhaustive search.

The judges: equality by the oracle, an orbit test by brute force on Fractions, kinds of units by the oracle's cells.
"""

import ast
import inspect
import random
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations, product
from math import gcd

import numpy as np
import pytest
import sympy
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from reference import columns_of, fractions, hidden_columns, kinds, layer_rows
from strategies import KINDS, networks_of, one_hidden_layers, relabelled

from semialg_fibers import gallery
from semialg_fibers.errors import BudgetExceededError, NotGenericError
from semialg_fibers.fibers.block import block_of
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.component import exact_layers
from semialg_fibers.fibers.genericity import genericity, is_bottleneck
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.networks import neuron_kind
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import neuron_types
from semialg_fibers.questions import identifiability as module
from semialg_fibers.questions.identifiability import Identifiability, identifiability, ordinal
from semialg_fibers.questions.summary import summary
from semialg_fibers.verify.oracle import jacobian_rank, oracle_cells, same_on_cells

few = settings(max_examples=12, deadline=None)
every_kind = pytest.mark.parametrize("kind", KINDS)


# the orbit under permutations and positive scalings, by brute force


def unscaled(net):
    """Rows [W | b] of each layer after scaling each hidden unit so that the entries of its row have absolute sum 1.

    A unit whose row is zero is left alone: its scaling moves outgoing weights only, see `same_up_to_scale`.
    """
    layers = [layer_rows(layer) for layer in net.layers]
    for rows, following in pairwise(layers):
        for unit, row in enumerate(rows):
            size = sum(map(abs, row))
            if size:
                rows[unit] = [value / size for value in row]
                for after in following:
                    after[unit] *= size
    return layers


def is_in_orbit(a, b):
    """Whether b is a with hidden units permuted and scaled by positive factors; not for units with a zero row."""
    assert a.widths == b.widths
    one, other = unscaled(a), unscaled(b)
    assert all(any(row) for rows in one[:-1] for row in rows)

    def search(layer, order):
        """`order[j]` is the unit of a that plays unit j of b in the layer before."""
        rows = [[*(row[k] for k in order), row[-1]] for row in one[layer]]
        if layer == len(one) - 1:
            return rows == other[layer]
        choices = permutations(range(len(rows)))
        return any(
            search(layer + 1, choice)
            for choice in choices
            if all(rows[k] == other[layer][j] for j, k in enumerate(choice))
        )

    return search(0, range(a.widths[0]))


@given(st.data())
@few
def test_the_orbit_test_knows_the_orbit(data):
    net = data.draw(networks_of(data.draw(st.sampled_from(KINDS))))
    assume(all(any(row) for layer in net.layers[:-1] for row in layer_rows(layer)))
    moved = data.draw(relabelled(net))
    assert is_in_orbit(net, moved)
    layers = [[layer_rows(layer), None] for layer in net.layers]
    rows = data.draw(st.sampled_from(layers))[0]
    rows[data.draw(st.integers(0, len(rows) - 1))][-1] += 1
    assert not is_in_orbit(net, rebuilt(net, [rows for rows, _ in layers]))


# carrying a reason out


def rebuilt(net, layers):
    """The network with these rows of [W | b]."""
    return Network([([row[:-1] for row in rows], [row[-1] for row in rows]) for rows in layers], net.domain)


def anything(old, rng):
    """Numbers in place of the old ones, with another number of positive ones, which no relabelling can repair."""
    sign = -1 if all(value > 0 for value in old) else 1
    return [Fraction(sign * rng.randint(10**6, 10**7), 10**6 + 3) for _ in old]


def outgoing_changed(net, layer, unit, rng):
    layers = [layer_rows(each) for each in net.layers]
    column = anything([row[unit] for row in layers[layer]], rng)
    for row, value in zip(layers[layer], column, strict=True):
        row[unit] = value
    return rebuilt(net, layers)


def move_dead(net, reason, rng):
    (unit,) = reason.units
    assert reason.sentence.endswith("is dead: its outgoing weights are free")
    return outgoing_changed(net, reason.layer, unit, rng)


def move_unused(net, reason, rng):
    (unit,) = reason.units
    assert reason.sentence.endswith("is not used (outgoing weights zero): its incoming weights are free")
    layers = [layer_rows(each) for each in net.layers]
    row = layers[reason.layer - 1][unit]
    row[:] = anything(row, rng)
    return rebuilt(net, layers)


def move_linear(net, reason, rng):
    (unit,) = reason.units
    assert "is linear: its bias can be raised by any amount, compensated by the biases of the next layer" in str(reason)
    t = Fraction(rng.randint(10**6, 10**7), 10**6 + 3)
    layers = [layer_rows(each) for each in net.layers]
    layers[reason.layer - 1][unit][-1] += t
    for row in layers[reason.layer]:
        row[-1] -= row[unit] * t
    return rebuilt(net, layers)


def move_duplicate(net, reason, rng):
    first, second = reason.units
    assert f"neurons {first + 1} and {second + 1} " in reason.sentence
    layers = [layer_rows(each) for each in net.layers]
    one, other = (layers[reason.layer - 1][unit] for unit in reason.units)
    ratio = next(a / b for a, b in zip(one, other, strict=True) if b)
    assert ratio > 0
    assert one == [ratio * value for value in other]
    for row in layers[reason.layer]:
        step = Fraction(rng.randint(10**6, 10**7), 10**6 + 3)
        row[first], row[second] = row[first] + step, row[second] - ratio * step
    return rebuilt(net, layers)


def alive_rows(net):
    return [j for j, row in enumerate(layer_rows(net.layers[1])) if any(value > 0 for value in row)]


def translated(net, unit, t):
    layers = [layer_rows(each) for each in net.layers]
    layers[0][unit][-1] += t
    for j in alive_rows(net):
        layers[1][j][-1] -= layers[1][j][unit] * t
    return rebuilt(net, layers)


def move_translation(net, reason, rng):
    (unit,) = reason.units
    start = f"hyperplane {unit + 1} of the first layer is hidden: "
    assert reason.sentence.startswith(start)
    if reason.sentence == start + "no alive neuron of the second layer uses it, and its weights are free":
        layers = [layer_rows(each) for each in net.layers]
        layers[0][unit] = anything(layers[0][unit], rng)
        return rebuilt(net, layers)
    words, relation, bound = reason.sentence.removeprefix(start).rsplit(" ", 2)
    assert words == "its bias can be translated by any t"
    least = Fraction(bound)
    assert (relation, least <= 0) == (">" if least < 0 else "≥", True)
    for t in (least, least + Fraction(1, 9), Fraction(1000)):  # the end itself still gives the function
        assert same_on_cells(net, translated(net, unit, t)) is None
    return translated(net, unit, least + Fraction(rng.randint(10**6, 10**7), 10**6 + 3))


def move_sign_flip(net, reason, rng):
    (k,) = reason.units
    assert reason.sentence == f"hyperplane {k + 1} of the first layer can be flipped to its other side"
    layers = [layer_rows(each) for each in net.layers]
    old = list(layers[0][k])
    second = [layers[1][j] for j in alive_rows(net)]
    for i in hidden_columns(net):
        ratios = {row[k] / row[i] for row in second if row[i]}
        if ratios:
            (ratio,) = ratios
            layers[0][i] = [a + ratio * b for a, b in zip(layers[0][i], old, strict=True)]
    layers[0][k] = [-value for value in old]
    return rebuilt(net, layers)


def move_orientation(net, reason, rng):
    """A member of the component in which these neurons look the other way."""
    part = net if len(net.layers) == 2 else net.part(2, 3)
    block = block_of(part, neuron_types(part, 1))
    sides = tuple(block.nonlinear.index(unit) for unit in reason.units)
    inner, outer = exact_layers(*block.draw(sides, rng))
    for unit, row in enumerate(layer_rows(part.layers[0])):
        if unit in block.nonlinear:
            drawn = layer_rows(inner)[unit]
            factor = next(a / b for a, b in zip(drawn, row, strict=True) if b)
            assert (factor < 0) == (unit in reason.units)
            assert drawn == [factor * value for value in row]
    names = ", ".join(str(unit + 1) for unit in reason.units)
    many = len(reason.units) > 1
    assert reason.sentence.startswith(
        f"neuron{'s' if many else ''} {names} of the {ordinal(reason.layer)} layer can be flipped"
        f"{' together' if many else ''}: "
    )
    cancel = block.problem.spare == 0 or isinstance(part.domain, Space)
    assert reason.sentence.endswith("parts cancel" if cancel else "spare neurons realize the affine part")
    return Network([*net.layers[: len(net.layers) - 2], inner, outer], net.domain)


def move_exchange(net, reason, rng):
    found = fiber(net)
    others = found.component_count - 1
    ways = f"{others} other way{'s' if others > 1 else ''}"
    assert reason.sentence.endswith(f"can be shared out among the layers in {ways}")
    return found.components[rng.randint(1, others)].sample(rng.randint(0, 99))


MOVES = {
    "dead": move_dead,
    "unused": move_unused,
    "linear": move_linear,
    "duplicate": move_duplicate,
    "translation": move_translation,
    "sign flip": move_sign_flip,
    "orientation": move_orientation,
    "exchange of roles": move_exchange,
}


def assert_demonstrated(net, verdict, seed=0):
    """Each reason gives another network with the same function, outside the orbit.

    In widths (1, 1, 1, 1), weights zero, biases (·, 1, −1): raising b2 and lowering b3, whose preactivation is zero
    everywhere, is a scaling as well. Beside such a unit one reason that leaves the orbit will do.
    """
    assert (verdict.is_identifiable is False) == bool(verdict.reasons)
    rng, left = random.Random(seed), []
    for reason in verdict.reasons:
        other = MOVES[reason.symmetry](net, reason, rng)
        assert same_on_cells(net, other) is None, reason
        if has_zero_rows(net):
            left.append(net != other)
        else:
            left.append(not is_in_orbit(net, other))
    assert all(left) or (any(left) and has_vanishing_units(net)), (verdict, left)


def has_zero_rows(net):
    return not all(any(row) for layer in net.layers[:-1] for row in layer_rows(layer))


def has_vanishing_units(net):
    points = [cell.point for cell in oracle_cells(net)]
    values = [[net.part(1, layer).value(point) for point in points] for layer in range(1, len(net.layers))]
    return any(not any(unit) for layer in values for unit in zip(*layer, strict=True))


def expected_single_units(net):
    """(symmetry, layer, units) of dead, linear, unused and duplicate units, by the oracle's cells."""
    points = [cell.point for cell in oracle_cells(net)]
    found = set()
    for layer in range(1, len(net.layers)):
        values = [net.part(1, layer).value(point) for point in points]
        rows = layer_rows(net.layers[layer - 1])
        for unit, row in enumerate(rows):
            signs = {(value[unit] > 0) - (value[unit] < 0) for value in values}
            if 1 not in signs:
                found.add(("dead", layer, (unit,)))
            elif not any(columns_of(net.layers[layer])[unit]):
                found.add(("unused", layer, (unit,)))
            elif -1 not in signs:
                found.add(("linear", layer, (unit,)))
            earlier = [k for k in range(unit) if is_positive_multiple(rows[k], row)]
            if earlier:
                found.add(("duplicate", layer, (earlier[0], unit)))
    return found


def is_positive_multiple(one, other):
    if not any(one) or not any(other):
        return False
    factor = sum(map(abs, one)) / sum(map(abs, other))
    return one == [factor * value for value in other]


# random networks


@every_kind
@few
@given(st.data(), st.integers(0, 999))
def test_every_reason_of_a_generic_network_is_a_symmetry_and_every_true_is_that_of_the_theorem(kind, data, seed):
    """Identifiable iff the local dimension is the number of hidden units and there is one component."""
    net = data.draw(networks_of(kind))
    verdict = identifiability(net)
    assert verdict.is_identifiable is not None
    assert_demonstrated(net, verdict, seed)
    found, units = fiber(net), sum(net.widths[1:-1])
    if verdict.is_identifiable:
        assert verdict == Identifiability(True, ())
        assert net.parameter_count - jacobian_rank(net).rank == found.dimension == units
        assert found.component_count == 1
    else:
        assert found.component_count > 1 or found.dimension > units
    listed = {(r.symmetry, r.layer, r.units) for r in verdict.reasons}
    assert {each for each in listed if each[0] in ("dead", "linear", "unused", "duplicate")} == (
        expected_single_units(net)
    )
    for reason in verdict.reasons:
        assert (reason.symmetry == "translation") == ("hidden" in reason.sentence)
    if len(net.layers) == 3 and (net.widths[1] > 1 or "hidden" in kind):
        assert [r.units[0] for r in verdict.reasons if r.symmetry == "translation"] == hidden_columns(net)


@given(st.data())
@few
def test_beyond_the_end_of_a_translation_the_function_changes(data):
    kind = data.draw(st.sampled_from(["hidden, one alive row", "hidden, several alive rows", "line, hidden"]))
    net = data.draw(networks_of(kind))
    (reason,) = [r for r in identifiability(net).reasons if r.symmetry == "translation"]
    least = Fraction(reason.sentence.split()[-1])
    assert same_on_cells(net, translated(net, reason.units[0], least - Fraction(1, 1000))) is not None


@st.composite
def plain_networks(draw):
    """Any widths and depths with small integers, many zeros and equal rows, on each kind of domain."""
    dimension = draw(st.integers(1, 3))
    hidden = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    entry = st.integers(-2, 2) | st.sampled_from([0, "1/2", -1, 1])
    chain = []
    for inputs, outputs in pairwise([dimension, *hidden, draw(st.integers(1, 2))]):
        row = st.lists(entry, min_size=inputs + 1, max_size=inputs + 1)
        pool = draw(st.lists(row, min_size=1, max_size=outputs))
        rows = [draw(st.sampled_from(pool)) for _ in range(outputs)]
        chain.append(([each[:-1] for each in rows], [each[-1] for each in rows]))
    box = Box([-1] * dimension, [2] * dimension)
    return Network(chain, draw(st.sampled_from([Space(dimension), Space(dimension), Orthant(dimension), box])))


@settings(max_examples=120, deadline=None)
@given(plain_networks(), st.integers(0, 999))
@example(gallery.network("exchange_of_roles"), 0)
@example(gallery.network("not_generic_g4"), 0)
@example(gallery.network("rank_deficient_2_2_1_1"), 0)
@example(gallery.network("deep_2_2_2_2_1"), 0)
def test_any_network_generic_or_not_has_only_true_reasons_and_hides_none(net, seed):
    verdict = identifiability(net)
    assert_demonstrated(net, verdict, seed)
    listed = {(r.symmetry, r.layer, r.units) for r in verdict.reasons}
    assert expected_single_units(net) <= listed
    if verdict.is_identifiable is None:
        assert listed == set()
        assert verdict.undecided
    if (len(net.layers) == 2 or is_bottleneck(net)) and genericity(net).is_generic:
        assert verdict.is_identifiable is not None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_relabelling_keeps_the_verdict(data):
    net = data.draw(plain_networks())
    moved = data.draw(relabelled(net))
    one, other = identifiability(net), identifiability(moved)
    assert one.is_identifiable == other.is_identifiable
    counts = [sorted(r.symmetry for r in verdict.reasons) for verdict in (one, other)]
    assert counts[0] == counts[1]


# exhaustive search: all small integer networks of an architecture, grouped by their function


def primitive_rows(size, largest):
    """Integer rows up to positive scale, not zero."""
    values = range(-largest, largest + 1)
    return [row for row in product(values, repeat=size) if gcd(*row) == 1]


def grid(low, high, steps, dimension):
    axis = np.arange(low * steps, high * steps + 1)
    return np.stack(np.meshgrid(*[axis] * dimension), -1).reshape(-1, dimension), steps


def signatures(first, second, outgoing, points, steps):
    """A 64-bit hash of the values at all points (times `steps`) for each network; one hidden layer if `second` is None.

    first: N × n1 × (d + 1), second: N × n2 × (n1 + 1), outgoing: N × (n + 1), one output.
    """
    rng = np.random.default_rng(0)
    total = np.zeros(len(first), dtype=np.int64)
    with np.errstate(over="ignore"):
        for x in points:
            value = np.maximum(first[..., :-1] @ x + steps * first[..., -1], 0)
            if second is not None:
                value = np.maximum((second[..., :-1] @ value[..., None])[..., 0] + steps * second[..., -1], 0)
            result = (outgoing[:, :-1] * value).sum(1) + steps * outgoing[:, -1]
            total += rng.integers(-(2**62), 2**62) * result
    return total


def small_networks(case):
    """One array per layer; hidden units up to scale and order as far as that is cheap."""
    if case == "1-1-2-1":
        rows = primitive_rows(2, 2)
        first = [[row] for row in ((1, -1), (1, 0), (1, 1), (-1, -1), (-1, 0), (-1, 1))]
        second, outgoing = (
            list(combinations_with_replacement(rows, 2)),
            list(product((-2, -1, 1, 2), (-1, 1), (-1, 0, 1))),
        )
        return product(first, second, outgoing)
    if case == "2-2-1-1":
        rows = [row for row in primitive_rows(3, 1) if any(row[:2])]
        first = [
            pair
            for pair in combinations_with_replacement(rows, 2)
            if pair[0][0] * pair[1][1] != pair[0][1] * pair[1][0]
        ]
        second = [[row] for row in primitive_rows(3, 2) if all(row)]
        return product(first, second, [(-1, 0), (1, 0), (1, 1), (2, 0)])
    rows = [row for row in primitive_rows(2, 2) if any(row)]
    outgoing = product((-2, -1, 1, 2), (-2, -1, 1, 2), (-2, -1, 0, 1))
    return product(list(combinations_with_replacement(rows, 2)), [None], list(outgoing))


CASES = {
    "1-2-1": (Space(1), grid(-3, 3, 2, 1)),
    "1-2-1 orthant": (Orthant(1), grid(0, 3, 4, 1)),
    "1-2-1 box": (Box([-1], [1]), grid(-1, 1, 8, 1)),
    "1-1-2-1": (Space(1), grid(-4, 4, 4, 1)),
    "2-2-1-1": (Space(2), grid(-4, 4, 1, 2)),
}


def groups_of_equal_functions(case):
    """Lists of networks with equal values on the grid."""
    _, (points, steps) = CASES[case]
    listed = list(small_networks(case.split()[0]))
    first = np.array([each[0] for each in listed], dtype=np.int64)
    second = None if listed[0][1] is None else np.array([each[1] for each in listed], dtype=np.int64)
    outgoing = np.array([each[2] for each in listed], dtype=np.int64)
    keys = signatures(first, second, outgoing, points, steps)
    order = np.argsort(keys, kind="stable")
    cuts = np.nonzero(np.diff(keys[order]))[0] + 1
    return [[listed[i] for i in group] for group in np.split(order, cuts)]


def as_network(entry, domain):
    layers = [([row[:-1] for row in rows], [row[-1] for row in rows]) for rows in entry[:2] if rows is not None]
    return Network([*layers, ([entry[2][:-1]], [entry[2][-1]])], domain)


@pytest.mark.parametrize("case", CASES)
def test_exhaustive_search_among_small_integers(case):
    """Equal generic networks outside one orbit are never called identifiable, and lie in each other's fiber."""
    domain = CASES[case][0]
    groups = groups_of_equal_functions(case)
    rng = random.Random(1)
    crowded = [group for group in groups if 1 < len(group) <= 300]
    pairs, certain = 0, 0
    for group in rng.sample(crowded, min(80, len(crowded))) + rng.sample(groups, min(60, len(groups))):
        nets = [as_network(entry, domain) for entry in rng.sample(group, min(6, len(group)))]
        nets = [net for net in nets if genericity(net).is_generic]
        for net in nets:
            for other in nets:
                if is_in_orbit(net, other) or same_on_cells(net, other) is not None:
                    continue  # a coarse grid can take two functions for one
                pairs += 1
                assert identifiability(net).is_identifiable is False
                assert fiber(net).contains(other)
        for net in nets[:1]:
            if identifiability(net).is_identifiable:
                certain += 1
                for entry in group:  # the whole group, not only the generic ones
                    other = as_network(entry, domain)
                    if not is_in_orbit(net, other) and same_on_cells(net, other) is None:
                        assert genericity(other).is_generic is False
    assert pairs >= 10
    assert certain >= 3


# what is not decided


def planted(count, seed=1):
    """Widths (1, count, 1) on the orthant, all nonlinear, with a planted set of neurons whose linear parts cancel."""
    rng = random.Random(seed)
    values = [rng.randint(10**12, 10**13) * rng.choice([-1, 1]) for _ in range(count)]
    chosen = rng.sample(range(count), count // 2)
    values[chosen[-1]] = -sum(values[i] for i in chosen[:-1])
    net = Network([([[1]] * count, [-i - 1 for i in range(count)]), ([values], [0])], Orthant(1))
    return net, tuple(sorted(chosen))


@pytest.mark.parametrize("count", [10, 24, 40, 60])
def test_other_sides_beyond_the_budget_are_never_denied(count):
    """A subset sum with a solution: found, or not decided, but not "identifiable"."""
    net, chosen = planted(count)
    verdict = identifiability(net)
    if count <= 24:
        (reason,) = verdict.reasons
        assert (reason.symmetry, reason.units) == ("orientation", chosen)
        assert_demonstrated_by_hand(net, chosen)
    else:
        assert (verdict.is_identifiable, verdict.reasons) == (None, ())
        assert "beyond what is searched" in verdict.undecided


def assert_demonstrated_by_hand(net, chosen):
    """Flip the chosen rows, keep the outgoing weights, and correct the last bias; compared at points."""
    (rows, (outgoing,)) = layer_rows(net.layers[0]), [layer_rows(net.layers[1])[0][:-1]]
    flipped = [[-value for value in row] if j in chosen else row for j, row in enumerate(rows)]
    last = sum(outgoing[j] * rows[j][-1] for j in chosen)
    other = Network([([r[:-1] for r in flipped], [r[-1] for r in flipped]), ([outgoing], [last])], net.domain)
    assert all(net([Fraction(x, 2)]) == other([Fraction(x, 2)]) for x in range(60))


def test_an_undecided_condition_is_named(monkeypatch):
    """Were (G4) open in a network without symmetries, the verdict would be open, with the condition's name."""
    net = gallery.network("visible_2_2_2_1")
    assert identifiability(net).is_identifiable is True

    def open_masks(*arguments):
        raise BudgetExceededError("too many")

    monkeypatch.setattr("semialg_fibers.fibers.masks.vanishing_mask", open_masks)
    verdict = identifiability(net.permuted(1, [1, 0]))  # what is known of the network above is kept
    assert (verdict.is_identifiable, verdict.reasons) == (None, ())
    assert verdict.undecided == "no symmetry was found, but (G4) was not decided"
    assert identifiability(gallery.network("linear_2_2_2_1")).is_identifiable is False  # a reason needs no theorem


def test_types_beyond_the_budget_are_read_off_the_signs(monkeypatch):
    """Dead and linear by signs are sound on any range."""
    net = Network(
        [
            ([[1, 0], [0, 1], [1, 1]], [0, 0, -1]),
            ([[-1, -1, -2], [1, 2, 1], [1, -1, 1]], [-1, 0, 1]),
            ([[1, 2, 3]], [0]),
        ]
    )
    full = identifiability(net)

    def none(*arguments):
        raise BudgetExceededError("too many cells")

    monkeypatch.setattr(neuron_kind, "_on_cells", none)
    by_signs = identifiability(net)
    assert {r.symmetry for r in by_signs.reasons} == {"dead", "linear"}
    assert set(by_signs.reasons) <= set(full.reasons)
    assert_demonstrated(net, by_signs)


OUTSIDE = {
    "n1 > d": ([([[1, 0], [0, 1], [-1, -1]], [0, 0, 1]), ([[1, -1, 2], [-1, 2, -3]], [-1, 1]), ([[1, 1]], [0])], None),
    "one layer": ([([[1, 2]], [3])], None),
    "four layers": (
        [([[1]], [1]), ([[1], [-1]], [-2, 5]), ([[1, -1], [-1, 2]], [-1, 3]), ([[1, 2]], [0])],
        None,
    ),
    "three layers on a box": (
        [([[1, 0], [0, 1]], [0, 0]), ([[1, -2], [-3, 1]], ["1/4", "1/2"]), ([[1, -2]], [3])],
        Box([-1, -1], [1, 1]),
    ),
}
WORDS = {
    "n1 > d": "the theorem needs a bottleneck n1 ≤ d, this network has n1 = 3 > d = 2",
    "one layer": "a network with one affine layer has no hidden units: its parameters are its function",
    "four layers": "the theorem covers two and three affine layers, this network has 4",
    "three layers on a box": "the three-layer theorem is about all of R^d, this network's domain is [-1, 1] × [-1, 1]",
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_outside_the_theorem_without_a_symmetry_nothing_is_claimed(case):
    layers, domain = OUTSIDE[case]
    verdict = identifiability(Network(layers, domain))
    assert verdict == Identifiability(None, (), WORDS[case])


def test_not_generic_without_a_symmetry_names_the_condition():
    """(G3): two rows with the ratio −1 in column 1, nothing else to see."""
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, 2]], [-1, -1]), ([[1, 2]], [0])])
    verdict = identifiability(net)
    assert (verdict.is_identifiable, verdict.reasons) == (None, ())
    assert "(G3) violated: in column 1 rows 1 and 2 have the same ratio -1" in verdict.undecided
    with pytest.raises(NotGenericError):
        fiber(net)


# wording


@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        ("visible_2_2_2_1", []),
        (
            "hidden_2_2_2_1",
            [
                "hyperplane 1 of the first layer is hidden: its bias can be translated by any t > -1/2",
                "hyperplane 2 of the first layer can be flipped to its other side",
            ],
        ),
        ("cancelling_sides", ["neurons 1, 2 of the second layer can be flipped together: their affine parts cancel"]),
        (
            "side_without_generic_member",
            [
                "neuron 2 of the second layer is dead: its outgoing weights are free",
                "neuron 1 of the second layer can be flipped: the spare neurons realize the affine part",
            ],
        ),
        (
            "line_1_1_1_1",
            [
                "the function depends on one variable, and its breakpoints can be shared out among the layers in "
                "1 other way"
            ],
        ),
        (
            "deep_2_2_2_2_1",
            [
                "neuron 2 of the third layer is linear: its bias can be raised by any amount, compensated by the "
                "biases of the next layer"
            ],
        ),
    ],
)
def test_sentences_count_from_one(name, sentences):
    verdict = identifiability(gallery.network(name))
    assert list(map(str, verdict.reasons)) == [reason.sentence for reason in verdict.reasons] == sentences


def test_ordinals():
    assert [ordinal(layer) for layer in (1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 101, 111)] == [
        "first", "second", "third", "tenth", "11th", "12th", "13th", "20th", "21st", "22nd", "23rd", "101st", "111th",
    ]  # fmt: skip


def test_on_the_whole_space_cancelling_neurons_need_no_spare_one():
    """C_1 B_1 + C_2 B_2 = 0, beside a constant neuron, which cannot realize a linear part."""
    net = Network([([[1], [-1], [0]], [0, 2, -1]), ([[1, 1, 5]], [0])])
    (_, reason) = identifiability(net).reasons
    assert reason.sentence == "neurons 1, 2 of the first layer can be flipped together: their affine parts cancel"
    assert_demonstrated(net, identifiability(net))


def test_a_reason_without_a_move_is_noticed():
    """This file knows a move for every symmetry that the module can name."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Call)]
    named = {node.args[0].value for node in calls if isinstance(node.func, ast.Name) and node.func.id == "Reason"}
    assert named == set(MOVES)


@given(st.data())
@few
def test_one_hidden_layer_that_is_not_generic_keeps_true_reasons(data):
    kind = data.draw(st.sampled_from(KINDS[-3:]))
    net = data.draw(one_hidden_layers(kind, generic=False))
    assert_demonstrated(net, identifiability(net))


def test_the_kinds_of_the_reasons_are_those_of_the_reference():
    net = gallery.network("two_linear_2_2_3_2")
    names = kinds(net)
    told = {r.units[0]: r.symmetry for r in identifiability(net).reasons if r.symmetry in ("dead", "linear")}
    assert told == {j: name for j, name in enumerate(names) if name != "nonlinear"}
    assert fractions(net.layers[0].offset) == [0, 1]


POS = sympy.Symbol("p", positive=True)


@pytest.mark.parametrize(
    ("layers", "domain", "identifiable", "words"),
    [
        ([([[1, POS], [1, POS]], [0, 1]), ([[1, -1]], [-1]), ([[1]], [0])], None, None, "(G1) violated: rank A1 ≤ 1"),
        ([([[1], [POS]], [0, 1]), ([[1, -1]], [-1]), ([[1]], [0])], None, None, "n1 = 2 > d = 1"),
        ([([[POS]], [0]), ([[-1]], [1]), ([[1]], [0])], Box([0], [1]), False, "neuron 1 of the first layer is linear"),
        ([([[POS]], [0]), ([[-1]], [1]), ([[-1]], [2]), ([[1]], [0])], None, None, "this network has 4"),
        ([([[POS], [1]], [1, 1]), ([[1, -1]], [0])], Polyhedron([[1]], [1]), None, "not polyhedra"),
    ],
)
def test_letters_where_cells_would_be_needed_leave_it_open(layers, domain, identifiable, words):
    net = Network(layers, domain)
    found = identifiability(net)
    assert found.is_identifiable is identifiable
    assert words in (found.undecided or found.reasons[0].sentence)
    told = summary(net)
    assert told.identifiability == found
    assert (told.types is None) == ("second_layer" in told.open)
