"""The moves behind the symmetries, each alone: relations of rows, ends, mixtures, flips; small networks by hand."""

import random
from fractions import Fraction
from itertools import product

import pytest
from flint import fmpq
from reference import fractions, layer_rows

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.fibers import moves
from semialg_fibers.fibers.sign_symmetries import symmetries_by_signs
from semialg_fibers.fibers.symmetries import symmetries
from semialg_fibers.geometry.domain import Box, Orthant
from semialg_fibers.geometry.scalar import vector
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.sight import sight, sight_anywhere
from semialg_fibers.verify.oracle import same_on_cells


def preactivations(net, x):
    """The preactivations of every layer at x."""
    found, h = [], [Fraction(value) for value in x]
    for layer in net.layers:
        z = [sum(a * b for a, b in zip(row[:-1], h, strict=True)) + row[-1] for row in layer_rows(layer)]
        found.append(z)
        h = [max(value, 0) for value in z]
    return found


def told(net, *kinds):
    return [(found.kind, found.layer, found.units) for found in symmetries(net) if found.kind in kinds]


# relations of rows

HALVES = Network(  # on x ≥ 0: h1 = x/2 + 1, h2 = x + 3; then 3/4 h1 − h2/5 + 1/7, h1/3; two outputs
    [
        ([["1/2"], [1]], [1, 3]),
        ([["3/4", "-1/5"], ["1/3", 0]], ["1/7", 0]),
        ([["2/3", "-5/7"], ["1/11", 0]], ["1/13", 1]),
    ],
    Orthant(1),
)


@pytest.mark.parametrize(("layer", "unit", "count"), [(2, 0, 1), (2, 1, 1), (3, 0, 1), (3, 1, 1)], ids=str)
def test_relations_of_a_row_vanish_wherever_it_acts(layer, unit, count):
    """Two affine functions of one variable and 1 have one relation; fractions in every layer."""
    found = moves.row_relations(HALVES, sight(HALVES), layer, unit)
    assert len(found) == count
    for change in found:
        for x in (0, Fraction(1, 3), 7, 100):
            z = preactivations(HALVES, [x])
            h = [*(max(value, 0) for value in z[layer - 2]), 1]
            assert layer == 3 or z[1][unit] > 0
            assert sum(a * b for a, b in zip(fractions(change), h, strict=True)) == 0


def test_relations_are_primitive_and_dead_weights_single_entries():
    assert moves.row_relations(HALVES, sight(HALVES), 2, 0) in ([(2, -1, 1)], [(-2, 1, -1)])
    net = Network([([[1], [-1], [2]], [0, -1, 0]), ([[1, 1, 1], [-1, -1, -1]], [1, -1]), ([[1, 1]], [0])], Orthant(1))
    seen = sight(net)  # h = (x, 0, 2x): unit 2 is dead, row 2 of layer 2 as well
    first, second = moves.row_relations(net, seen, 2, 0)
    assert first == (0, 1, 0, 0)
    assert second in ((2, 0, -1, 0), (-2, 0, 1, 0))
    assert moves.row_relations(net, seen, 2, 1) == []


def test_relations_of_the_last_layer_are_named():
    """h2 = 2 h1: an output's row has a relation, although an output is no unit that could be active."""
    net = Network([([[1], [2]], [0, 0]), ([[1, 1]], [1])])
    (found,) = [found for found in symmetries(net) if found.kind == "row relation"]
    assert (found.layer, found.units, found.ends) == (2, (0,), (None, None))
    assert same_on_cells(net, found.move(5)) is None


def test_a_relation_with_a_bias_is_no_dead_weight():
    """h1 = 3 everywhere: its weight moves with the bias; h2 acts nowhere where the row does: a dead weight alone."""
    net = Network([([[0], [-1], [1]], [3, 0, 0]), ([[1, 1, 2]], [-4]), ([[1]], [0])], Orthant(1))
    assert ("row relation", 2, (0,)) in told(net, "row relation")
    hinge = Network([([[-1], [1]], [0, 0]), ([[-9, 1]], [-1]), ([[1]], [0])])
    assert told(hinge, "row relation", "dead weight") == [("dead weight", 2, (0,))]


def test_what_no_finite_step_keeps_is_left_out_and_the_next_is_named():
    """h2 and h3 = relu(−x) vanish for x > 0: there row 1 acts with h1, so that only h3 − h2 is one of its relations."""
    net = Network([([[1], [-1], [-1]], [0, 0, 0]), ([[-1, -1, 0], [0, 1, 0]], [1, 0]), ([[1, 1]], [0])])
    seen = sight_anywhere(net)
    relations = moves.row_relations(net, seen, 2, 0)
    assert [moves.row_interval(net, 2, 0, change) for change in relations] == [(0, 0), (None, None)]
    of_row = [found for found in symmetries(net) if (found.layer, found.units) == (2, (0,)) and found.ends]
    assert [found.ends for found in of_row if "acts only where" in found.sentence] == [(None, None)]


# ends


@pytest.mark.parametrize("seed", range(4))
def test_the_ends_of_a_relation_are_those_at_the_corners(seed):
    """A unit that is off on a box may change by t g as long as z + t g ≤ 0 at its corners."""
    rng, met = random.Random(seed), set()
    for _ in range(12):
        row = [-rng.randint(0, 3), -rng.randint(0, 3), -rng.randint(1, 9)]
        change = [rng.randint(-3, 3) for _ in range(3)]
        net = Network([([row[:2]], [row[2]]), ([[1]], [0])], Box([0, 0], [1, 2]))
        corners = [(x, y, 1) for x, y in product((0, 1), (0, 2))]
        z, g = ([sum(a * b for a, b in zip(form, at, strict=True)) for at in corners] for form in (row, change))
        low = max((Fraction(-b, a) for a, b in zip(g, z, strict=True) if a < 0), default=None)
        high = min((Fraction(-b, a) for a, b in zip(g, z, strict=True) if a > 0), default=None)
        found = moves.row_interval(net, 1, 0, vector(change))
        assert [end if end is None else Fraction(int(end.p), int(end.q)) for end in found] == [low, high]
        met.add((low is None, high is None))
    assert len(met) > 1


# mixtures


def test_a_mixture_keeps_every_sum_that_its_users_see():
    """Row 1 of the next layer sees neither unit, row 2 both, row 3 the second: Σ A_ki u_i + b_k over them stays."""
    net = Network([([[1, 2], [0, 1]], [1, 1]), ([[3, 5], [1, 1], [0, 2]], [1, 2, 3]), ([[1, 1, 1]], [0])])
    frame = moves.Mixture(net, 1, (0, 1), {0: (), 1: (0, 1)})
    made = frame.applied(moves.Change((vector([1, 0, 2]), vector([1, 1, 1])), fmpq(1, 2)))
    assert made.layers[0].forms == (vector(["3/2", 2, 2]), vector(["1/2", "3/2", "3/2"]))
    assert made.layers[1].forms[0] == net.layers[1].forms[0]
    assert made.layers[1].forms[1] != net.layers[1].forms[1]

    def sums(at):
        row = at.layers[1].forms[1]
        seen = [sum((row[i] * at.layers[0].forms[i][c] for i in (0, 1)), fmpq(0)) for c in range(3)]
        return [*seen[:2], seen[2] + row[2]]

    assert sums(made) == sums(net)


# flips


def test_one_absorber_is_enough_and_a_zero_row_is_not_turned():
    """On x ≥ 0: x + 101 and x + 102 are linear and x − 3 is not; the last unit is zero."""
    net = Network([([[1], [1], [1], [0]], [101, 102, -3, 0]), ([[1, 2, 4, 1]], [0])], Orthant(1))
    assert list(moves.flips(net, sight_anywhere(net), 1)) == [
        (0, {1: fmpq(1, 2)}),
        (1, {0: 2}),
        (2, {0: 4}),
        (2, {1: 2}),
    ]
    for unit, ratios in moves.flips(net, sight_anywhere(net), 1):
        assert same_on_cells(net, moves.flipped_at(net, 1, unit, ratios)) is None


# what symmetries make of them


def test_a_scaling_scales_its_own_unit():
    net = Network([([[1, 2], [3, 4], [5, 6]], [1, 2, 3]), ([[1, 2, 3]], [0])])
    for unit, found in enumerate(found for found in symmetries(net) if found.kind == "scaling"):
        assert found.move(3) == net.rescaled(1, [3 if i == unit else 1 for i in range(3)])


SHIFTS = {  # on R or x ≥ 0; (unit, ends) of the shifts of the first layer
    "after a dead unit": ([[-1], [1]], [-1, 2], [[1, 1]], [0], Orthant(1), [(1, (-2, None))]),
    "no step to either side": ([[-1], [-1]], [-1, 0], [[-1, 0], [-1, -1]], [0, 1], None, [(0, (None, 0))]),
    "to the left only": ([[1], [1]], [1, 1], [[-1, -1], [0, 1]], [1, 0], None, [(1, (fmpq(-1, 2), 0))]),
}


@pytest.mark.parametrize(("rows", "biases", "second", "offset", "domain", "expected"), SHIFTS.values(), ids=SHIFTS)
def test_shifts(rows, biases, second, offset, domain, expected):
    outer = [] if domain else [([[-1, -1], [-1, 0]], [0, 1])] if expected[0][0] == 0 else [([[-1, -1]], [0])]
    net = Network([(rows, biases), (second, offset), *outer], *([domain] if domain else []))
    shifts = [f for f in symmetries(net) if f.kind in ("translation", "linear shift") and f.layer == 1]
    assert [(found.units[0], found.ends) for found in shifts] == expected
    for found in shifts:
        assert same_on_cells(net, found.sample(1)) is None


def test_a_unit_that_nobody_sees_can_be_shifted_both_ways():
    """Only the second layer's row 1 uses unit 1, and no output sees it; row 2 does not use unit 1."""
    net = Network([([[1], [1]], [0, 1]), ([[1, 1], [0, 1]], [0, 0]), ([[0, 1]], [0])])
    shift = next(found for found in symmetries(net) if found.kind == "translation" and found.units == (0,))
    assert shift.ends == (None, None)
    assert same_on_cells(net, shift.move(-7)) is None


# by signs

BY_SIGNS = Network(  # rows: linear, unused
    [([[1, 0], [0, 1]], [0, 0]), ([[1, 2], [1, -1], [3, -1]], [3, -1, -1]), ([[1, 0, 2]], [0])]
)


def test_what_signs_show_moves_as_it_says():
    found = {(each.kind, each.units): each for each in symmetries_by_signs(BY_SIGNS)}
    unused = found["unused", (1,)].move([5, -6, 7])
    assert unused.layers[1].forms == (vector([1, 2, 3]), vector([5, -6, 7]), vector([3, -1, -1]))
    assert unused.with_layers([unused.layers[0], BY_SIGNS.layers[1], unused.layers[2]]) == BY_SIGNS
    shift = found["linear shift", (0,)]
    assert shift.ends == (-3, None)
    for seed in range(8):
        assert shift.sample(seed).layers[1].offset[0] >= 0
        assert same_on_cells(BY_SIGNS, shift.sample(seed)) is None
    with pytest.raises(InvalidNetworkError, match=r"^the bias can be shifted by t ≥ -3 only, got -4"):
        shift.move(-4)


def test_a_translation_by_signs_without_an_end():
    """No row that acts anywhere uses the second unit."""
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[2, 0]], [-1]), ([[1]], [0])])
    assert [str(each) for each in symmetries_by_signs(net) if each.kind == "translation"] == [
        "unit 1 of layer 1 is hidden: its bias can be shifted by t from -1/2 to ∞",
        "unit 2 of layer 1 is hidden: its bias can be shifted by t from -∞ to ∞",
    ]
