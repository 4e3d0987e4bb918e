"""Layers and networks: values over Fractions, the two symmetries of every network, and errors with their place."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import InexactInputError, InvalidNetworkError
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import exact, fraction, vector
from semialg_fibers.networks.layer import Layer, Network, relu

NUMBERS = st.integers(-3, 3) | st.fractions(-2, 2, max_denominator=5)
POSITIVE = st.fractions("1/5", 5, max_denominator=6)


@st.composite
def described(draw):
    """Widths from 1 to 3, one to four layers, as pairs (rows, bias) of Fractions."""
    widths = draw(st.lists(st.integers(1, 3), min_size=2, max_size=5))
    pairs = []
    for inputs, outputs in pairwise(widths):
        row = st.lists(NUMBERS.map(Fraction), min_size=inputs, max_size=inputs)
        rows = draw(st.lists(row, min_size=outputs, max_size=outputs))
        pairs.append((rows, draw(st.lists(NUMBERS.map(Fraction), min_size=outputs, max_size=outputs))))
    return pairs


def slow_value(pairs, point):
    """The definition: T_L ∘ relu ∘ ... ∘ relu ∘ T_1."""
    values = list(point)
    for number, (rows, bias) in enumerate(pairs):
        if number:
            values = [max(value, Fraction(0)) for value in values]
        values = [sum((a * v for a, v in zip(row, values, strict=True)), b) for row, b in zip(rows, bias, strict=True)]
    return values


def points(dimension):
    return st.lists(NUMBERS, min_size=dimension, max_size=dimension)


@settings(max_examples=150, deadline=None)
@given(described(), st.data())
def test_a_network_has_its_values(pairs, data):
    net = Network(pairs)
    point = data.draw(points(net.widths[0]))
    expected = slow_value(pairs, point)
    assert [fraction(value) for value in net.value(vector(point))] == expected
    assert [Fraction(int(value.p), int(value.q)) for value in net(point)] == expected
    assert net.widths == (len(pairs[0][0][0]), *(len(bias) for _, bias in pairs))
    assert net.parameter_count == len(net.parameters) == sum(len(b) * (len(w[0]) + 1) for w, b in pairs)
    assert net.is_rational


@settings(max_examples=50, deadline=None)
@given(st.lists(NUMBERS, max_size=4))
def test_relu(values):
    assert [fraction(value) for value in relu(vector(values))] == [max(Fraction(value), 0) for value in values]


@settings(max_examples=50, deadline=None)
@given(described())
def test_the_views_of_a_layer_agree(pairs):
    for layer, (rows, bias) in zip(Network(pairs).layers, pairs, strict=True):
        assert (layer.outputs, layer.inputs) == layer.matrix.shape == (len(rows), len(rows[0]))
        assert layer.weight == sympy.Matrix(rows)
        assert list(layer.bias) == bias
        assert [[fraction(value) for value in form] for form in layer.forms] == [
            [*w, b] for w, b in zip(rows, bias, strict=True)
        ]
        assert Layer(layer.weight, layer.bias) == Layer(layer.matrix, layer.offset) == layer
        assert eval(repr(layer), {"Layer": Layer}) == layer


def test_parameters_are_named_in_the_order_of_the_conventions():
    net = Network([([[1, 2]], [3]), ([[4], [5]], [6, 7])])
    names = ["W1_0_0", "W1_0_1", "b1_0", "W2_0_0", "W2_1_0", "b2_0", "b2_1"]
    assert list(net.parameters.items()) == list(zip(names, vector(range(1, 8)), strict=True))


# the two symmetries


@st.composite
def hidden(draw):
    """A network with a hidden layer, the number of one, and an input."""
    pairs = draw(described().filter(lambda pairs: len(pairs) > 1))
    net = Network(pairs)
    return net, draw(st.integers(1, len(pairs) - 1)), vector(draw(points(net.widths[0])))


@settings(max_examples=50, deadline=None)
@given(hidden(), st.data())
def test_permuting_units_is_an_action_that_keeps_the_function(case, data):
    net, layer, point = case
    size = net.widths[layer]
    first, then = (data.draw(st.permutations(range(size))) for _ in range(2))
    moved = net.permuted(layer, first)
    assert moved.value(point) == net.value(point)
    assert moved.domain == net.domain
    assert moved.layers[layer - 1].forms == tuple(net.layers[layer - 1].forms[old] for old in first)
    assert moved.layers[layer].matrix.columns() == [net.layers[layer].matrix.column(old) for old in first]
    assert moved.layers[: layer - 1] + moved.layers[layer + 1 :] == net.layers[: layer - 1] + net.layers[layer + 1 :]
    assert moved.permuted(layer, then) == net.permuted(layer, [first[i] for i in then])
    assert moved.permuted(layer, [first.index(i) for i in range(size)]) == net
    assert net.permuted(layer, range(size)) == net


@settings(max_examples=50, deadline=None)
@given(hidden(), st.data())
def test_rescaling_units_is_an_action_that_keeps_the_function(case, data):
    net, layer, point = case
    size = net.widths[layer]
    first, then = (data.draw(st.lists(POSITIVE, min_size=size, max_size=size)) for _ in range(2))
    moved = net.rescaled(layer, first)
    assert moved.value(point) == net.value(point)
    assert moved.domain == net.domain
    for unit, factor in enumerate(map(exact, first)):
        assert moved.layers[layer - 1].forms[unit] == tuple(
            factor * value for value in net.layers[layer - 1].forms[unit]
        )
        assert tuple(factor * value for value in moved.layers[layer].matrix.column(unit)) == net.layers[
            layer
        ].matrix.column(unit)
    assert moved.layers[layer].offset == net.layers[layer].offset
    assert moved.layers[: layer - 1] + moved.layers[layer + 1 :] == net.layers[: layer - 1] + net.layers[layer + 1 :]
    assert moved.rescaled(layer, then) == net.rescaled(layer, [a * b for a, b in zip(first, then, strict=True)])
    assert moved.rescaled(layer, [1 / factor for factor in first]) == net


@settings(max_examples=50, deadline=None)
@given(hidden(), st.data())
def test_permuting_and_rescaling_commute_up_to_relabelled_factors(case, data):
    net, layer, _ = case
    size = net.widths[layer]
    order, factors = (
        data.draw(st.permutations(range(size))),
        data.draw(st.lists(POSITIVE, min_size=size, max_size=size)),
    )
    assert net.rescaled(layer, factors).permuted(layer, order) == net.permuted(layer, order).rescaled(
        layer, [factors[old] for old in order]
    )


# parts


@settings(max_examples=50, deadline=None)
@given(described(), st.data())
@example([([[Fraction(1)]], [Fraction(-1)])], None)
def test_parts_compose_to_the_network(pairs, data):
    net = Network(pairs, Orthant(len(pairs[0][0][0])))
    count = len(pairs)
    assert net.part(1, count) == net
    for cut in range(1, count):
        lower, upper = net.part(1, cut), net.part(cut + 1, count)
        assert (lower.layers, upper.layers) == (net.layers[:cut], net.layers[cut:])
        assert lower.domain == net.domain
        assert upper.domain == Orthant(net.widths[cut])
        point = vector(data.draw(st.lists(NUMBERS.map(abs), min_size=net.widths[0], max_size=net.widths[0])))
        assert upper.value(relu(lower.value(point))) == net.value(point)


@pytest.mark.parametrize(("first", "last"), [(0, 1), (2, 1), (1, 4), (3, 4), (-1, 1)])
def test_there_is_no_such_part(first, last):
    net = Network([([[1]], [0])] * 3)
    with pytest.raises(
        InvalidNetworkError, match=rf"layers {first}\.\.{last} do not exist: the network has layers 1 to 3"
    ):
        net.part(first, last)


# what is refused, and where


GOOD = ([[1, 0], [0, 1]], [0, 0])


@pytest.mark.parametrize(
    ("pairs", "error", "message", "place"),
    [
        ([], InvalidNetworkError, "at least one layer", {}),
        ([GOOD, ([[1, 2, 3]], [0])], InvalidNetworkError, "layer 2 takes 3 inputs, layer 1 gives 2", {"layer": 2}),
        ([GOOD, GOOD, ([[1]], [0])], InvalidNetworkError, "layer 3 takes 1 input, layer 2 gives 2", {"layer": 3}),
        ([GOOD, ([[1, 2], [3]], [0, 0])], InvalidNetworkError, "layer 2: ragged rows: row 2", {"layer": 2, "row": 1}),
        ([GOOD, ([[1, 0.5]], [0])], InexactInputError, "layer 2: the float 0.5", {"layer": 2, "row": 0, "column": 1}),
        ([([[1, "a"]], [0])], InvalidNetworkError, "layer 1: 'a' is not", {"layer": 1, "row": 0, "column": 1}),
        ([([[1]] * 2, [0, 0.5])], InexactInputError, "bias: the float 0.5", {"layer": 1, "row": 1, "value": 0.5}),
        ([([[1, 2]], ["b"])], InvalidNetworkError, "layer 1: bias: 'b' is not", {"layer": 1, "row": 0, "value": "b"}),
        ([([[1]], [0, 1])], InvalidNetworkError, "the bias has 2 entries, the weight has 1 row", {"layer": 1}),
        ([GOOD, ([[1, 2]], [])], InvalidNetworkError, "layer 2: the bias has 0 entries", {"layer": 2}),
        ([([[1, 2]], 0)], InvalidNetworkError, "layer 1: a bias is a list of numbers, got int", {"layer": 1}),
        ([([[1, 2]], "0")], InvalidNetworkError, "layer 1: a bias is a list of numbers, got str", {"layer": 1}),
        ([([], [])], InvalidNetworkError, "layer 1: a layer needs at least one input and one output", {"layer": 1}),
        ([([[]], [0])], InvalidNetworkError, "at least one input and one output, got shape (1, 0)", {"layer": 1}),
        ([GOOD, ([[1, 2]],)], InvalidNetworkError, "layer 2 is not a pair (weight, bias)", {"layer": 2}),
        ([GOOD, 7], InvalidNetworkError, "layer 2 is not a pair (weight, bias)", {"layer": 2}),
        ([(*GOOD, "relu")], InvalidNetworkError, "layer 1 is not a pair (weight, bias)", {"layer": 1}),
        ([(np.eye(2), [0, 0])], InexactInputError, "layer 1: the float 1.0", {"layer": 1, "row": 0, "column": 0}),
    ],
)  # fmt: skip
def test_layers_that_are_no_network_are_refused_with_their_place(pairs, error, message, place):
    with pytest.raises(error) as caught:
        Network(pairs)
    assert type(caught.value) is error
    assert message in str(caught.value)
    assert {key: caught.value.place.get(key) for key in place} == place
    assert all(getattr(caught.value, key) == value for key, value in place.items())
    back = pickle.loads(pickle.dumps(caught.value))
    assert (type(back), str(back), back.place) == (error, str(caught.value), caught.value.place)


def test_a_domain_of_another_dimension_is_refused():
    with pytest.raises(InvalidNetworkError, match="the domain has dimension 3, the first layer takes 2 inputs"):
        Network([GOOD], Space(3))


def test_points_outside_are_refused():
    net = Network([GOOD], Box([0, 0], [1, 1]))
    assert net(["1/2", 1]) == (sympy.S.Half, 1)
    with pytest.raises(InvalidNetworkError, match="outside the domain"):
        net([2, 0])
    with pytest.raises(InvalidNetworkError, match="expected a point with 2 coordinates, got 1"):
        net([1])
    with pytest.raises(InexactInputError):
        net([0.5, 0])
    with pytest.raises(InvalidNetworkError, match="a vector of length 3"):
        net.value(vector([1, 1, 1]))


@pytest.mark.parametrize("layer", [0, 2, -1])
def test_only_hidden_layers_have_the_symmetries(layer):
    net = Network([GOOD, ([[1, 1]], [0])])
    for wrong in (lambda: net.permuted(layer, [0, 1]), lambda: net.rescaled(layer, [1, 1])):
        with pytest.raises(
            InvalidNetworkError, match=rf"layer {layer} is not hidden: the network has hidden layer 1"
        ) as caught:
            wrong()
        assert caught.value.layer == layer


@pytest.mark.parametrize("order", [[0], [0, 0], [0, 2], [0, 1, 2], [], [1, 2]])
def test_what_is_no_permutation_is_refused(order):
    with pytest.raises(InvalidNetworkError, match="is no permutation of the 2 units of layer 1"):
        Network([GOOD, ([[1, 1]], [0])]).permuted(1, order)


@pytest.mark.parametrize(
    ("factors", "error", "message"),
    [
        ([1, 0], InvalidNetworkError, "factor of unit 2 is 0, expected a positive one"),
        (["-1/2", 1], InvalidNetworkError, "factor of unit 1 is -1/2"),
        ([1], InvalidNetworkError, "layer 1 has 2 units, got 1 factor"),
        ([1, 1, 1], InvalidNetworkError, "got 3 factors"),
        ([1, 0.5], InexactInputError, "float 0.5"),
    ],
)
def test_factors_are_positive_and_one_for_each_unit(factors, error, message):
    with pytest.raises(error, match=message):
        Network([GOOD, ([[1, 1]], [0])]).rescaled(1, factors)


# values


@settings(max_examples=50, deadline=None)
@given(described())
def test_networks_are_values(pairs):
    net = Network(pairs)
    _ = net.parameters, net.layers[0].weight, net.layers[0].forms  # what is cached does not enter the comparison
    twin = Network([(sympy.Matrix(rows), [str(value) for value in bias]) for rows, bias in pairs])
    names = {"Network": Network, "Layer": Layer, "Space": Space}
    for other in (twin, pickle.loads(pickle.dumps(net)), copy.deepcopy(net), eval(repr(net), names)):
        assert other == net
        assert hash(other) == hash(net)
    last = [*pairs[:-1], (pairs[-1][0], [value + 1 for value in pairs[-1][1]])]
    assert Network(last) != net
    assert Network(pairs, Orthant(net.widths[0])) != net
    assert net.with_layers(net.layers) == net


def test_networks_do_not_change():
    rows, bias = [[1, 2], [3, 4]], [5, 6]
    net = Network([(rows, bias)])
    rows[0][0] = bias[0] = 99
    assert net == Network([([[1, 2], [3, 4]], [5, 6])])
    for change in (
        lambda: setattr(net, "layers", ()),
        lambda: setattr(net, "domain", Orthant(2)),
        lambda: setattr(net.layers[0], "offset", ()),
        lambda: delattr(net.layers[0], "matrix"),
    ):
        with pytest.raises(FrozenInstanceError):
            change()
    for change in (
        lambda: net.layers[0].matrix.__setitem__((0, 0), 1),
        lambda: net.layers[0].weight.__setitem__((0, 0), 1),
        lambda: net.layers[0].bias.__setitem__(0, 1),
    ):
        with pytest.raises((AttributeError, TypeError)):
            change()


def test_networks_on_paper():
    assert str(Network([GOOD, ([[1, 1]], [0])], Orthant(2))) == "ReLU network 2-2-1 on R^2_(≥0)"
    assert str(Network([([[1]], [0])], Box([0], ["1/2"]))) == "ReLU network 1-1 on [0, 1/2]"


def test_a_layer_takes_arrays_of_integers():
    assert Layer(np.array([[1, 2]]), np.array([3])) == Layer(Matrix([[1, 2]]), (3,))


def test_a_deep_narrow_chain_is_evaluated_layer_by_layer():
    """relu(x − k) iterated: x − 1 − 2 − ... − 9 for large x, the last step without relu."""
    net = Network([([[1]], [-k]) for k in range(1, 10)])
    assert net([50]) == (50 - list(accumulate(range(1, 10)))[-1],)
    assert net([3]) == (-9,)
