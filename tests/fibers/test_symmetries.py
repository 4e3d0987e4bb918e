"""Known symmetries of any network: every move keeps the function, directions lie in the kernel, ends are tight."""

import itertools
import random

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.fibers.hiding import translation_range
from semialg_fibers.fibers.sign_symmetries import symmetries_by_signs
from semialg_fibers.fibers.symmetries import symmetries
from semialg_fibers.geometry.domain import Orthant
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.sight import sight
from semialg_fibers.questions.explanation import explain_dimension
from semialg_fibers.questions.sound_fiber import sound_fiber
from semialg_fibers.verify.oracle import same_on_cells

SHAPES = [(2, 3, 2, 1), (2, 2, 2, 1), (2, 4, 1, 1), (2, 2, 2, 2, 1), (1, 2, 2, 1), (2, 3, 1)]


@st.composite
def sparse(draw):
    widths = draw(st.sampled_from(SHAPES))
    entry = draw(st.sampled_from([st.integers(-1, 1), st.integers(-3, 3), st.integers(-30, 30)]))
    layers = []
    for inputs, outputs in itertools.pairwise(widths):
        rows = st.lists(st.lists(entry, min_size=inputs, max_size=inputs), min_size=outputs, max_size=outputs)
        layers.append((draw(rows), draw(st.lists(entry, min_size=outputs, max_size=outputs))))
    return Network(layers)


def in_kernel(net, direction):
    """Whether the derivative of f along the direction is zero on every cell; for networks of integers."""
    names = []
    for number, layer in enumerate(net.layers, 1):
        for unit in range(layer.outputs):
            names += [*(f"W{number}_{unit}_{c}" for c in range(layer.inputs)), f"b{number}_{unit}"]
    assert set(direction) <= set(names)
    rows = sight(net).rows(1, len(net.layers))
    return all(sum(value * direction.get(name, 0) for name, value in zip(names, row, strict=True)) == 0 for row in rows)


def is_differentiable_somewhere(net):
    try:
        sight(net)
    except UnsupportedError:
        return False
    return True


@given(sparse(), st.integers(0, 1000))
@settings(max_examples=40)
def test_moves_are_exact_and_directions_are_tangent(net, seed):
    somewhere = is_differentiable_somewhere(net)
    for found in symmetries(net):
        try:
            moved = found.sample(seed)
        except BudgetExceededError:
            assert found.kind in ("free hyperplanes", "linear units")  # some directions have no finite step
            continue
        assert same_on_cells(net, moved) is None
        assert moved.widths == net.widths
        for direction in found.directions if somewhere else ():
            assert in_kernel(net, direction), found


@given(sparse())
@settings(max_examples=25)
def test_ends_of_shifts_are_tight(net):
    for found in symmetries(net):
        if found.kind not in ("translation", "linear shift"):
            continue
        for sign, end in zip((-1, 1), found.ends, strict=True):
            found.move(fmpq(sign * 1000) if end is None else end)
            if end is not None:
                with pytest.raises(InvalidNetworkError, match="too far"):
                    found.move(end + sign * (abs(end) / 1000 if end else fmpq(1, 1000)))


@st.composite
def with_zero_rows(draw):
    """A network with a unit that is zero everywhere, so that no cell has a derivative in the parameters."""
    net = draw(sparse())
    layers = [list(map(list, layer.forms)) for layer in net.layers]
    layer = draw(st.integers(0, len(layers) - 2))
    unit = draw(st.integers(0, len(layers[layer]) - 1))
    layers[layer][unit] = [fmpq(0)] * len(layers[layer][unit])
    return Network([([row[:-1] for row in rows], [row[-1] for row in rows]) for rows in layers])


@given(with_zero_rows(), st.integers(0, 1000))
@settings(max_examples=30)
def test_where_nothing_is_differentiable_the_moves_are_exact_all_the_same(net, seed):
    assert not is_differentiable_somewhere(net)
    with pytest.raises(UnsupportedError, match="vanishes on every cell"):
        explain_dimension(net)
    for found in symmetries(net):
        assert same_on_cells(net, found.sample(seed)) is None
        assert found.kind not in ("free hyperplanes", "linear units")  # proposed by tangents, which mean nothing here
        if found.ends is not None:
            for sign, end in zip((-1, 1), found.ends, strict=True):
                step = fmpq(sign * 1000) if end is None else end
                assert same_on_cells(net, found.move(step)) is None
    member = sound_fiber(net).sample(seed)
    assert same_on_cells(net, member) is None
    assert sound_fiber(net).contains(member) is not False


def test_what_is_known_where_a_unit_is_zero_everywhere():
    """Unit 2 is zero: its outgoing weight is free, its incoming ones are not."""
    net = Network([([[1], [0]], [0, 0]), ([[-1, 1]], [-1]), ([[1]], [0])])
    dead = next(found for found in symmetries(net) if found.kind == "dead" and found.layer == 1)
    assert dead.units == (1,)
    assert [set(direction) for direction in dead.directions] == [{"W2_0_1"}]
    assert {found.kind for found in symmetries(net)} >= {"permutation", "scaling", "dead"}
    shifted = Network([([[1, 1], [0, 0]], [0, 0]), ([[-1, 1]], [1]), ([[1]], [0])])
    assert not is_differentiable_somewhere(shifted)
    assert sound_fiber(shifted).contains(shifted.permuted(1, [1, 0]).rescaled(1, [2, 3])) is True
    assert sound_fiber(shifted).contains(Network([*shifted.layers[:2], ([[2]], [0])])) is False


AGREEING = {("translation", 1), ("linear shift", 2), ("dead", 2), ("sign flip", 1)}


@pytest.mark.parametrize("seed", range(6))
def test_signs_and_cells_agree_on_generic_bottleneck_networks(seed):
    rng, met = random.Random(seed), set()
    for _ in range(12):
        signs = rng.choice([[[1, -1, -1]], [[1, -1, -1], [-1, -1, -1]], [[1, 1, 1], [1, -1, 1]], [[1, -1, -1]] * 2])
        rows = [[sign * rng.randint(1, 5) for sign in row] for row in signs]
        if rng.random() < 0.5 and len(rows) == 2 and signs[0] == signs[1]:
            rows[1][:2] = [2 * value for value in rows[0][:2]]
        first = ([[2, rng.randint(-3, 1)], [rng.randint(-1, 1), 3]], [rng.randint(-3, 3), rng.randint(-3, 3)])
        second = ([row[:-1] for row in rows], [row[-1] for row in rows])
        net = Network([first, second, ([[rng.randint(1, 3) for _ in rows]], [1])])
        told = [
            {(f.kind, f.layer, f.units[:1], f.ends) for f in found if (f.kind, f.layer) in AGREEING}
            for found in (symmetries_by_signs(net), symmetries(net))
        ]
        assert told[0] == told[1]
        met |= {kind for kind, *_ in told[0]}
        for found in symmetries_by_signs(net):
            assert same_on_cells(net, found.sample(1)) is None
    assert len(met) >= 2


def kinds(net, *left_out):
    return [(f.kind, f.layer, f.units) for f in symmetries(net) if f.kind not in ("permutation", "scaling", *left_out)]


def test_two_hidden_columns_two_translations_and_a_block_flip():
    """Beyond §2.2: rows 1 and 2 hide columns 1 and 2; column 3 is flipped with r = −1 for one and −2 for the other."""
    net = Network(
        [
            ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]),
            ([[1, 0, -1], [0, 1, -2]], [-1, -1]),
            ([[1, 1]], [0]),
        ]
    )
    assert kinds(net) == [
        ("translation", 1, (0,)),
        ("translation", 1, (1,)),
        ("translations", 1, (0, 1)),
        ("sign flip", 1, (2, 0, 1)),
    ]
    both = next(f for f in symmetries(net) if f.kind == "translations")
    assert same_on_cells(net, both.move([3, 5])) is None
    flip = next(f for f in symmetries(net) if f.kind == "sign flip").move()
    assert [list(map(int, row)) for row in flip.layers[0].matrix.rows()] == [[1, 0, -1], [0, 1, -2], [0, 0, -1]]
    one = net.with_layers([([[1, 0, -1], [0, 1, 0], [0, 0, -1]], [0, 0, 0]), *net.layers[1:]])
    assert same_on_cells(net, one) is not None  # updating one absorber only fails


def test_zero_ratios_need_no_absorber():
    net = Network(
        [
            ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]),
            ([[1, 0, -1], [0, 1, 0]], [-1, -1]),
            ([[1, 1]], [0]),
        ]
    )
    assert ("sign flip", 1, (2, 0)) in kinds(net)


def test_dead_weight_when_there_are_more_hyperplanes_than_inputs():
    """Beyond §3.1, case 2: row 1 acts for x1 > 1, where u3 = −x1 − 1 is off. Until t = 5 nothing switches on."""
    net = Network([([[1, 0], [0, 1], [-1, 0]], [0, 0, -1]), ([[1, -3, -5], [1, 2, 1]], [-1, 3]), ([[1, 2]], [0])])
    found = next(f for f in symmetries(net) if f.kind == "dead weight")
    assert (found.layer, found.units, found.ends) == (2, (0,), (None, 5))
    assert found.generators == ({"W2_0_2": 1},)
    assert same_on_cells(net, found.move(5)) is None
    with pytest.raises(InvalidNetworkError):
        found.move("51/10")


def test_free_hyperplanes():
    """Beyond §3.1, case 4: one row acts only where two units with independent normals both are on."""
    net = Network([([[1, 0], [0, 1], [1, 0], [0, 1]], [1, 1, -1, -1]), ([[1, 1, -9, -9]], [-3]), ([[1]], [0])])
    found = next(f for f in symmetries(net) if f.kind == "free hyperplanes")
    assert same_on_cells(net, found.sample(5)) is None
    assert found.sample(5).layers[0].matrix != net.layers[0].matrix


def test_zero_biases_leave_a_ray_that_begins_at_0():
    """Beyond §5: the network is on the boundary of its component, and not differentiable in b2 where u ≤ 0."""
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [0]), ([[1]], [0])])
    found = next(f for f in symmetries(net) if f.kind == "translation")
    assert found.ends == (0, None)
    assert str(found.interval) == "Interval(0, oo)"
    assert sight(net).skipped == 1
    assert found.interval == translation_range(net, 0)


def test_domains_and_depth():
    net = Network([([[1, 1], [1, -1]], [1, 0]), ([[1, 1]], [0])], Orthant(2))
    assert kinds(net) == [("linear shift", 1, (0,)), ("sign flip", 1, (1, 0))]
    assert next(f for f in symmetries(net) if f.kind == "linear shift").ends == (-1, None)


def test_where_one_absorber_would_switch_off_another_one_absorbs():
    """relu(x − y) + relu(x + 1) + relu(3x + 3y) on the orthant: 2x − y + 1 turns negative there, 4x + 2y does not."""
    net = Network([([[1, -1], [1, 0], [3, 3]], [0, 1, 0]), ([[1, 1, 1]], [0])], Orthant(2))
    assert [units for kind, _, units in kinds(net) if kind == "sign flip"] == [(0, 2), (1, 2), (2, 1)]
    either = Network([([[1, -1], [2, 3], [3, 0]], [0, 1, 0]), ([[1, 1, 1]], [0])], Orthant(2))
    assert [units for kind, _, units in kinds(either) if kind == "sign flip"] == [(0, 1), (1, 2), (2, 1)]


def test_networks_with_too_many_cells():
    size = 14
    identity = [[int(i == j) for j in range(size)] for i in range(size)]
    big = Network([(identity, [0] * size), ([[1] + [-1] * (size - 1), [-1] * size], [-2, -1]), ([[1, 1]], [0])])
    found = {f.kind: f for f in symmetries(big) if f.kind not in ("permutation", "scaling")}
    assert sorted(found) == ["dead", "sign flip", "translation"]
    assert found["translation"].ends == (-2, None)
    assert found["translation"].move(7).layers[0].offset[0] == 7
    with pytest.raises(InvalidNetworkError):
        found["translation"].move(-3)
    deep = Network([*big.layers[:2], ([[1, 1], [1, 2]], [0, 0]), ([[1, 1]], [0])])
    with pytest.raises(BudgetExceededError):
        symmetries(deep)


def test_words():
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[2, -1]], [-3]), ([[1]], [0])])
    assert [str(f) for f in symmetries(net) if f.kind in ("translation", "sign flip")] == [
        "unit 1 of layer 1 is hidden: its bias can be shifted by t from -3/2 to ∞",
        "unit 2 of layer 1 can be flipped to its other side; unit 1 absorbs the difference",
    ]
    assert repr(symmetries(net)[0]) == "<symmetry 'permutation' of units 1, 2, layer 1>"
