"""Symmetries one condition at a time: which units are looked at, what signs tell, what is proposed and claimed."""

import random

import pytest
from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.fibers import moves, sound_symmetry
from semialg_fibers.fibers.symmetries import bias_shifts, relabellings, symmetries
from semialg_fibers.geometry.domain import Box, Orthant
from semialg_fibers.geometry.scalar import vector
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.sight import sight
from semialg_fibers.verify.oracle import same_on_cells


def kinds(net, *wanted):
    return [(found.kind, found.layer, found.units) for found in symmetries(net) if found.kind in wanted]


IDENTITY = [[1, 0], [0, 1]]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_dead_unit_hides_no_symmetry_of_the_others(place):
    """relu(2x − y − 3) hides x; a unit that is never active stands before, between or after the two."""
    rows, weights = [*map(list, IDENTITY)], [2, -1]
    biases = [0, 0]
    rows.insert(place, [0, 0])
    biases.insert(place, -1)
    weights.insert(place, 7)
    net = Network([(rows, biases), ([weights], [-3]), ([[1]], [0])])
    x, y = (unit for unit in range(3) if unit != place)
    assert sorted(kinds(net, "dead", "translation")) == [("dead", 1, (place,)), ("translation", 1, (x,))]
    assert ("sign flip", 1, (y, x)) in kinds(net, "sign flip")


def test_a_bias_that_can_move_neither_way_is_no_shift():
    """relu(x) where x ≥ 0: the next bias follows b until x + b touches 0, to one side only; |x| lets nothing move."""
    half = Network([([[1]], [0]), ([[1]], [0])], Orthant(1))
    (found,) = bias_shifts(half)
    assert (found.kind, found.ends) == ("linear shift", (0, None))
    assert bias_shifts(Network([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])) == ()
    touched = Network([([[1], [1]], [0, 0]), ([[1, -1]], [0]), ([[1]], [1])])  # relu(x) − relu(x): dead, nobody looks
    assert all(found.ends != (0, 0) for found in symmetries(touched) if found.ends)


# where the cells are too many


BOTTLENECK = Network([(IDENTITY, [0, 0]), ([[2, -1]], [-3]), ([[1]], [0])])


def test_by_signs_the_same_shifts_and_relabellings_are_named():
    """One cell is too few for any network that bends."""
    few, all_of_them = symmetries(BOTTLENECK, budget=1), symmetries(BOTTLENECK)
    for wanted in (("permutation", "scaling"), ("translation", "linear shift")):
        told = [
            [(found.kind, found.layer, found.units, found.ends, found.directions) for found in given]
            for given in ([f for f in few if f.kind in wanted], [f for f in all_of_them if f.kind in wanted])
        ]
        assert told[0] == told[1] != []
    shifts = bias_shifts(BOTTLENECK, budget=1)
    assert isinstance(shifts, tuple)
    assert [(f.kind, f.units, f.ends) for f in shifts] == [(f.kind, f.units, f.ends) for f in bias_shifts(BOTTLENECK)]
    deeper = Network([*BOTTLENECK.layers[:-1], ([[1]], [0]), ([[1]], [0])])
    with pytest.raises(BudgetExceededError):
        bias_shifts(deeper, budget=1)


def test_relabellings_hold_by_theorem_and_visit_no_cell(monkeypatch):
    monkeypatch.setattr(sound_symmetry, "equal_on_cells", None)  # whoever calls it fails
    net = Network([([[1, 2], [3, -1]], [1, 0]), ([[2, -1], [1, 5]], [-3, 1]), ([[1, 1]], [0])])
    given = [found for layer in (1, 2) for found in relabellings(net, layer)]
    assert [(found.kind, found.layer, found.units) for found in given] == [
        (kind, layer, units)
        for layer in (1, 2)
        for kind, units in (("permutation", (0, 1)), ("scaling", (0,)), ("scaling", (1,)))
    ]
    for found in given:
        assert found.by_theorem
        value = [1, 0] if found.kind == "permutation" else 3
        for moved in (found.move(value), found.sample(3)):
            assert same_on_cells(net, moved) is None
            changed = [i for i, (a, b) in enumerate(zip(net.layers, moved.layers, strict=True), 1) if a != b]
            assert set(changed) <= {found.layer, found.layer + 1}
        if found.kind == "scaling":
            (unit,) = found.units
            old, new = (each.layers[found.layer - 1].forms for each in (net, found.move(3)))
            assert new == tuple(tuple(3 * v for v in form) if j == unit else form for j, form in enumerate(old))


def test_where_the_first_layer_misses_a_part_of_the_orthant_signs_say_nothing():
    """Three units of two inputs: the budget of cells is refused, not guessed round."""
    net = Network([([*IDENTITY, [1, 1]], [0, 0, 0]), ([[2, -1, -1]], [-3]), ([[1]], [0])])
    assert symmetries(net)
    for ask in (symmetries, bias_shifts):
        with pytest.raises(BudgetExceededError):
            ask(net, budget=1)


@pytest.mark.parametrize("place", [0, 1])
def test_a_dead_row_hides_no_relation_of_another(place):
    """Beyond §3.1, case 2: a weight that meets nothing; before or after it a row that is never active."""
    rows, biases, outer = [[1, -3, -5], [1, 2, 1]], [-1, 3], [1, 2]
    rows.insert(place, [-1, -1, -1])
    biases.insert(place, -1)
    outer.insert(place, 4)
    net = Network([([[1, 0], [0, 1], [-1, 0]], [0, 0, -1]), (rows, biases), ([outer], [0])])
    (row,) = {0, 1} - {place}
    assert kinds(net, "dead weight") == [("dead weight", 2, (row,))]
    assert ("dead", 2, (place,)) in kinds(net, "dead")


def test_all_kinds_in_words():
    hidden = Network([([[1, 0], [0, 1], [1, 0], [0, 1]], [1, 1, -1, -1]), ([[1, 1, -9, -9]], [-3]), ([[1]], [0])])
    cube = Network([(IDENTITY, [1, 2]), ([[1, 2]], [0])], Box([0, 0], [1, 1]))
    said = {str(found) for net in (hidden, cube) for found in symmetries(net)}
    assert said >= {
        "the units of layer 1 can be permuted",
        "unit 1 of layer 1 can be scaled: incoming weights and bias by c > 0, outgoing weights by 1/c",
        "unit 2 of layer 1 can be scaled: incoming weights and bias by c > 0, outgoing weights by 1/c",
        "units 1, 2 of layer 1, hidden, can be changed together, near what they are",
        "units 1, 2 of layer 1, linear, can be changed together, near what they are",
        "the biases of 2 hidden units of layer 1 can be shifted independently, near 0",
        "unit 2 of layer 1 is linear: its bias can be shifted by t from -2 to ∞",
    }


# joint changes


def test_joint_changes_are_claimed_only_where_a_finite_step_keeps_the_function():
    """Σ a_i relu(x_i + b) on a cube [0, 1]^d: all units are linear. For b = 0 they touch their hyperplanes, and a step
    in any random direction makes one of them negative on a part of the cube."""
    size = 4
    identity = [[int(i == j) for j in range(size)] for i in range(size)]
    for bias, claimed in ((1, [("linear units", 1, (0, 1, 2, 3))]), (0, [])):
        net = Network([(identity, [bias] * size), ([[1, 2, 3, 4]], [0])], Box([0] * size, [1] * size))
        assert kinds(net, "linear units") == claimed


def test_a_unit_that_one_user_sees_on_both_sides_does_not_change_with_the_others():
    """relu(x⁺ + y⁺ − 9 …) acts only where both x and y are on; the fifth unit has such a user too, and a free one."""
    first = ([[1, 0], [0, 1], [1, 0], [0, 1], [1, 1]], [1, 1, -1, -1, 0])
    free = Network([(first[0][:4], first[1][:4]), ([[1, 1, -9, -9]], [-3]), ([[1]], [0])])
    mixed = Network([first, ([[1, 1, -9, -9, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, -1]], [-3, -9, 2]), ([[1, 5, 7]], [0])])
    assert kinds(free, "free hyperplanes") == kinds(mixed, "free hyperplanes") == [("free hyperplanes", 1, (0, 1))]


def test_a_joint_translation_that_is_too_far_is_halved():
    """Each of the two biases moves in its own interval, both together less far."""
    net = Network(
        [([[-2, 0], [0, 0], [-2, -2]], [1, -2, 2]), ([[1, -3, -3]], [-3]), ([[-2]], [-2])], Box([-1, -1], [1, 1])
    )
    (found,) = (found for found in symmetries(net) if found.kind == "translations")
    for seed in range(12):
        assert same_on_cells(net, found.sample(seed)) is None
    with pytest.raises(InvalidNetworkError):
        found.move(["7/4", -1])


def test_each_unit_is_turned_once_whoever_absorbs_it():
    """Two linear units can absorb x − y, each alone."""
    net = Network([([[1, -1], [3, 3], [4, 4]], [0, 1, 1]), ([[1, 1, 1]], [0])], Orthant(2))
    assert {(unit, *ratios) for unit, ratios in moves.flips(net, sight(net), 1)} >= {(0, 1), (0, 2)}
    turned = [units[0] for _, _, units in kinds(net, "sign flip")]
    assert 0 in turned
    assert len(set(turned)) == len(turned)


def test_a_linear_unit_that_nobody_uses_absorbs_nothing():
    net = Network([([[1, -1], [3, 3], [4, 4]], [0, 1, 1]), ([[1, 1, 0]], [0])], Orthant(2))
    assert kinds(net, "sign flip", "unused") == [("unused", 1, (2,)), ("sign flip", 1, (0, 1))]


def test_an_interval_without_a_lower_end_and_several_absorbers_in_words():
    blind = Network([([[1]], [0]), ([[-1]], [-1]), ([[1]], [1])])  # the second layer is off, whatever x is
    (found,) = (found for found in symmetries(blind) if found.kind == "translation")
    assert str(found) == "unit 1 of layer 1 is hidden: its bias can be shifted by t from -∞ to ∞"
    constant = Network([([[1], [0]], [0, 5]), ([[1, 0]], [2]), ([[1]], [1])])
    (found,) = (found for found in symmetries(constant) if found.kind == "row relation")
    assert str(found) == "unit 1 of layer 2 acts only where its weight from unit 2 and its bias can be changed"
    net = Network(
        [([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), ([[1, 0, -1], [0, 1, -2]], [-1, -1]), ([[1, 1]], [0])]
    )
    (flip,) = (found for found in symmetries(net) if found.kind == "sign flip")
    assert str(flip) == "unit 3 of layer 1 can be flipped to its other side; units 1, 2 absorb the difference"


def test_no_flip_is_proposed_whose_users_see_two_absorbers():
    """x and y are linear and one row uses both: each alone can absorb what the turned unit loses, not both."""
    net = Network([([[1, 0], [0, 1], [1, -1]], [1, 1, 0]), ([[1, 1, 1]], [0])], Orthant(2))
    proposed = list(moves.flips(net, sight(net), 1))
    assert proposed
    for unit, ratios in proposed:
        assert len(ratios) == 1  # one user, so one absorber
        assert unit not in ratios
    assert {(unit, *ratios) for unit, ratios in proposed} >= {(2, 0), (2, 1)}


def test_every_proposed_flip_is_one_by_the_weights():
    """Every user of the turned unit uses one absorber and sees it linearly; A_jk = r_i A_ji for all users j of i."""
    rng, proposed = random.Random(3), 0
    for _ in range(120):
        rows = [[rng.choice([1, 1, 2, -1]) for _ in range(2)] for _ in range(4)]
        weights = [[rng.choice([0, 1, 1, -1, 2]) for _ in range(4)] for _ in range(rng.choice([1, 2, 3]))]
        layers = [(rows, [rng.choice([0, 1, 9]) for _ in range(4)]), (weights, [0] * len(weights))]
        if rng.random() < 0.5:  # rows that do not act everywhere
            layers[1] = (weights, [rng.choice([-20, -2, 1]) for _ in weights])
            layers.append(([[1] * len(weights)], [0]))
        net = Network(layers, Orthant(2))
        seen = sight(net)
        for unit, ratios in moves.flips(net, seen, 1):
            proposed += 1
            users = {i: seen.users(1, i) for i in (unit, *ratios)}
            for j in (j for j in range(len(weights)) if seen.seen_on(2, j)):
                absorbing = [i for i in ratios if j in users[i]]
                assert len(absorbing) <= 1
                assert weights[j][unit] == sum(ratios[i] * weights[j][i] for i in absorbing)
            for i in ratios:
                assert ratios[i] != 0
                assert not any(seen.sides(1, i, j)[1] for j in users[i])
    assert proposed > 20


def test_a_mixture_has_a_tangent_for_each_number_of_its_units():
    net = Network([(IDENTITY, [1, 2]), ([[1, 2]], [0])], Box([0, 0], [1, 1]))
    (found,) = (found for found in symmetries(net) if found.kind == "linear units")
    own = [f"{name}" for unit in (0, 1) for name in (f"W1_{unit}_0", f"W1_{unit}_1", f"b1_{unit}")]
    assert [next(iter(direction)) for direction in found.directions] == own
    assert all(direction[name] == 1 for direction, name in zip(found.directions, own, strict=True))


def test_those_act_in_a_mixture_whose_users_are_seen():
    """Of the second layer's rows one uses both units, one a single one, one none, and one is never active."""
    second = ([[1, 1], [1, 0], [0, 0], [1, 1]], [0, 1, 1, -100])
    net = Network([(IDENTITY, [1, 2]), second, ([[1, 2, 3, 4]], [0]), ([[1]], [0])], Box([0, 0], [1, 1]))
    assert moves.acting(sight(net), 1, (0, 1)) == {0: (0, 1), 1: (0, 1)}
    assert moves.Mixture(net, 1, (0, 1), {0: (0, 1), 1: (0, 1)}).is_free
    for acting in ({0: (0, 1), 1: (0,)}, {0: (0,), 1: (0, 1)}, {0: (0,), 1: (1,)}):
        assert not moves.Mixture(net, 1, (0, 1), acting).is_free  # one row alone cannot make up for all changes


def test_tangents_of_a_mixture_keep_every_output():
    """Outputs y and x + y of x + 1 and y = x + 2 on [0, 1]: affine, so that two points are enough."""
    net = Network([([[1], [1]], [1, 2]), ([[0, 1], [1, 1]], [0, 0])], Box([0], [1]))
    (found,) = (found for found in symmetries(net) if found.kind == "linear units")
    assert len(found.directions) == 4
    (first, second), forms = net.layers, net.layers[0].forms
    assert first.outputs == second.outputs == 2
    for direction in found.directions:
        assert all(direction.values())
        at = {**dict.fromkeys([f"W{n}_{i}_{j}" for n in (1, 2) for i in (0, 1) for j in (0, 1)], 0), **direction}
        for k in (0, 1):
            for x in (0, 1):
                moved = at.get(f"b2_{k}", 0)
                for i, (weight, bias) in enumerate(forms):
                    moved += at[f"W2_{k}_{i}"] * (weight * x + bias)
                    moved += second.matrix[k, i] * (at[f"W1_{i}_0"] * x + at.get(f"b1_{i}", 0))
                assert moved == 0


def test_one_linear_unit_alone_is_a_mixture():
    net = Network([([[2]], [1]), ([[3]], [0])], Box([0], [1]))
    (found,) = (found for found in symmetries(net) if found.kind == "linear units")
    assert same_on_cells(net, found.sample(1)) is None
    assert found.sample(1) != net


def test_changes_are_halved_and_where_no_weights_fit_nothing_changes():
    net = Network([(IDENTITY, [1, 2]), ([[1, 2]], [0])], Box([0, 0], [1, 1]))
    frame = moves.Mixture(net, 1, (0, 1), {0: (0, 1)})
    rows = tuple(tuple(-value for value in form) for form in net.layers[0].forms)
    change = moves.Change(rows, fmpq(1))
    assert change.halved() == moves.Change(rows, fmpq(1, 2))
    assert frame.applied(change) == net  # both rows would be zero, and no weights give x + 2y again
    assert frame.applied(change.halved()) != net
    assert same_on_cells(net, frame.applied(change.halved())) is None


def test_an_output_is_seen_where_it_is_negative_too():
    """relu would hide a change of a row that stays negative; the last layer has no relu."""
    net = Network([([[1]], [0]), ([[-1], [-1]], [-1, -1]), ([[1, 1]], [0])], Orthant(1))
    assert moves.row_interval(net, 2, 0, vector([-1, 0])) == (-1, None)
    short = Network(net.layers[:2], Orthant(1))
    assert moves.row_interval(short, 2, 0, vector([-1, 0])) == (0, 0)


def test_random_members_differ():
    net = Network([(IDENTITY, [1, 1]), ([[1, 2]], [0])], Orthant(2))
    (found,) = (found for found in symmetries(net) if found.kind == "linear units")
    members = {found.sample(random.Random(seed).randint(0, 10**6)) for seed in range(4)}
    assert len(members) == 4
    assert all(same_on_cells(net, member) is None for member in members)
