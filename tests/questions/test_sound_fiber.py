"""What known symmetries generate: members are equal, membership never says what it does not know."""

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import bottlenecks, relabelled

from semialg_fibers.fibers.symmetries import symmetries
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.sound_fiber import sound_fiber, without_dead
from semialg_fibers.verify.oracle import same_on_cells

WIDE = Network([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, -1, -2], [-1, -1, -1]], [-1, -1]), ([[1, 1]], [0])])


def random_network(rng, widths, largest):
    layers = []
    for inputs, outputs in itertools.pairwise(widths):
        weight = [[rng.randint(-largest, largest) for _ in range(inputs)] for _ in range(outputs)]
        layers.append((weight, [rng.choice([-1, 1]) * rng.randint(1, largest) for _ in range(outputs)]))
    return Network(layers)


def test_members_of_wide_and_deep_networks_are_equal_and_never_denied():
    rng, found_again = random.Random(2), 0
    for seed in range(15):
        net = random_network(rng, rng.choice([(2, 3, 2, 1), (2, 2, 2, 2, 1), (2, 4, 2, 1)]), rng.choice([3, 30]))
        found = sound_fiber(net)
        member = found.sample(seed)
        assert same_on_cells(net, member) is None
        assert found.contains(member) is not False
        assert found.contains(net.permuted(1, list(range(net.widths[1]))[::-1])) is True
        found_again += found.contains(member) is True
    assert found_again > 5


@given(st.sampled_from(["hidden, one alive row", "hidden, common ratios", "dead rows"]).flatmap(bottlenecks), st.data())
@settings(max_examples=8)
def test_members_by_flips_and_translations_are_recognised(net, data):
    found = sound_fiber(net)
    for symmetry in found.symmetries:
        if symmetry.kind in ("translation", "sign flip", "dead", "scaling", "permutation"):
            assert found.contains(data.draw(relabelled(symmetry.sample(3)))) is True


def test_flips_and_translations_of_a_wide_network():
    kinds = {f.kind: f for f in symmetries(WIDE)}
    found = sound_fiber(WIDE)
    for kind in ("translation", "dead"):
        assert found.contains(kinds[kind].sample(1).rescaled(1, [2, 3, 5])) is True


def test_other_functions_and_shapes_are_no_members():
    found = sound_fiber(WIDE)
    assert found.contains(Network([*WIDE.layers[:2], ([[2, 1]], [0])])) is False
    assert found.contains(Network([([[1, 0]], [0]), ([[1]], [0])])) is False


def test_one_hidden_layer_is_decided():
    net = Network([([[1], [1]], [-1, -1]), ([[2, 3]], [0])])
    assert sound_fiber(net).contains(Network([([[1], [1]], [-1, -1]), ([[1, 4]], [0])])) is True
    assert sound_fiber(net).contains(Network([([[1], [1]], [-1, -1]), ([[1, 5]], [0])])) is False


def test_equal_by_an_unknown_way_is_left_open():
    """min(1, x⁺, y⁺) of beyond §2.3 in two ways that no known symmetry connects."""
    a = Network([([[1, 0], [0, -1]], [0, 1]), ([[0, -1], [-1, -1]], [1, 1]), ([[1, -1]], [0])])
    b = Network([([[1, 0], [1, -1]], [0, 0]), ([[1, -1], [1, -1]], [0, -1]), ([[1, -1]], [0])])
    assert same_on_cells(a, b) is None
    assert sound_fiber(a).contains(b) is None


def test_dead_units_are_emptied():
    emptied = without_dead(WIDE)
    assert not any(emptied.layers[1].forms[1])
    assert not any(emptied.layers[2].matrix.column(1))
    assert same_on_cells(WIDE, emptied) is None
