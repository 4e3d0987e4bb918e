"""Dead, linear, nonlinear: by signs, by generators of the domain, and for deeper units by the oracle's cells."""

from dataclasses import replace
from itertools import pairwise, product

import pytest
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.domain import Box, Orthant, Space, negated
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.geometry.scalar import ZERO, affine_value, vector
from semialg_fibers.networks.layer import Layer, Network, relu
from semialg_fibers.networks.neuron_kind import (
    classify,
    default_layer,
    kind_with_points,
    maps_onto_orthant,
    neuron_types,
)
from semialg_fibers.verify.oracle import oracle_cells

NAMES = {(True, True): "nonlinear", (True, False): "linear", (False, True): "dead", (False, False): "dead"}


@st.composite
def domains(draw, dimension):
    low = draw(st.lists(st.integers(-2, 1), min_size=dimension, max_size=dimension))
    return draw(st.sampled_from([Space(dimension), Orthant(dimension), Box(low, [value + 2 for value in low])]))


@st.composite
def forms_on_domains(draw):
    d = draw(st.integers(1, 3))
    entries = draw(
        st.sampled_from([st.integers(-3, 3), st.integers(0, 2), st.integers(-2, 0), st.sampled_from([0, 0, -1, 1])])
    )
    return vector(draw(st.lists(entries, min_size=d + 1, max_size=d + 1))), draw(domains(d))


def signs(form, domain):
    """Whether the form is positive and whether it is negative somewhere: at a vertex, or far along a ray."""
    if isinstance(domain, Box):
        points, rays = list(product(*zip(domain.low, domain.high, strict=True))), []
    else:
        points = [(ZERO,) * domain.dimension]
        rays = [tuple(fmpq(i == j) for j in range(domain.dimension)) for i in range(domain.dimension)]
        rays += [negated(ray) for ray in rays] if isinstance(domain, Space) else []
    values = [affine_value(form, point) for point in points]
    values += [affine_value((*form[:-1], ZERO), ray) for ray in rays]
    return any(value > 0 for value in values), any(value < 0 for value in values)


@settings(max_examples=300, deadline=None)
@given(forms_on_domains())
@example((vector([0, 0]), Space(1)))  # zero everywhere: dead
@example((vector([0, 1]), Space(1)))  # a positive constant: linear
@example((vector([1, -1]), Box([0], [1])))  # zero at a vertex, negative inside: dead
@example((vector([1, 0]), Box([0], [1])))  # zero at a vertex, positive inside: linear
@example((vector([1, 0]), Orthant(1)))
def test_the_kind_is_told_by_the_signs_and_shown_by_points(pair):
    form, domain = pair
    positive, negative = signs(form, domain)
    kind = kind_with_points(form, domain)
    assert classify(form, domain) == kind.name == NAMES[positive, negative]
    assert kind.check()
    assert (kind.positive is not None, kind.negative is not None) == (positive, negative)
    for point, sign in ((kind.positive, 1), (kind.negative, -1)):
        if point is not None:
            assert sign * affine_value(form, point) > 0
            assert all(affine_value(wall, point) > 0 for wall in domain.constraints())


@settings(max_examples=200, deadline=None)
@given(forms_on_domains(), st.data())
def test_check_rejects_every_other_name_and_every_other_point(pair, data):
    form, domain = pair
    kind = kind_with_points(form, domain)
    for name in {"dead", "linear", "nonlinear", "alive"} - {kind.name}:
        assert not replace(kind, name=name).check()
    for side, sign in (("positive", 1), ("negative", -1)):
        if getattr(kind, side) is not None:
            assert not replace(kind, **{side: None}).check()
        point = vector(data.draw(st.lists(st.integers(-3, 3), min_size=domain.dimension, max_size=domain.dimension)))
        shows = sign * affine_value(form, point) > 0 and domain.contains(point)
        assert replace(kind, **{side: point}).check() == shows


# the table of theory §2.1, on the orthant


@pytest.mark.parametrize(
    ("form", "on_orthant", "on_space"),
    [
        ([0, 0, 0], "dead", "dead"),
        ([0, 0, 1], "linear", "linear"),
        ([0, 0, -1], "dead", "dead"),
        ([1, 0, 0], "linear", "nonlinear"),
        ([-1, 0, 0], "dead", "nonlinear"),
        ([1, 2, 3], "linear", "nonlinear"),
        ([-1, -2, 0], "dead", "nonlinear"),
        ([1, 0, -1], "nonlinear", "nonlinear"),
        ([-1, -1, 1], "nonlinear", "nonlinear"),
        ([1, -1, 0], "nonlinear", "nonlinear"),
    ],
)
def test_signs_decide_on_the_orthant(form, on_orthant, on_space):
    assert classify(vector(form), Orthant(2)) == on_orthant
    assert classify(vector(form), Space(2)) == on_space


# units of deeper layers


def types_by_oracle(net, number):
    """Unit j is positive somewhere iff on some open cell; the oracle's point has the sign of the whole cell."""
    last = Layer([[1] * net.widths[number]], [0])
    seen = [[False, False] for _ in range(net.widths[number])]
    for cell in oracle_cells(Network([*net.layers[:number], last], net.domain)):
        x = cell.point
        for count, layer in enumerate(net.layers[:number]):
            x = layer.apply(relu(x) if count else x)
        for j, value in enumerate(x):
            seen[j][0] |= value > 0
            seen[j][1] |= value < 0
    return tuple(NAMES[tuple(each)] for each in seen)


@st.composite
def networks(draw, least_hidden=1):
    """d from 1 to 2, widths around it, so that n1 > d, n1 ≤ d and rank-deficient first layers all occur."""
    d = draw(st.integers(1, 2))
    hidden = draw(st.lists(st.integers(1, 3), min_size=least_hidden, max_size=3))
    chain = []
    for inputs, outputs in pairwise([d, *hidden, 1]):
        entries = draw(st.sampled_from([st.integers(-2, 2), st.integers(0, 2), st.integers(-2, 0), st.integers(-1, 1)]))
        rows = draw(st.lists(st.lists(entries, min_size=inputs, max_size=inputs), min_size=outputs, max_size=outputs))
        if draw(st.booleans()):
            rows[-1] = [-2 * value for value in rows[0]]  # rank-deficient, or a negative multiple of itself
        bias = draw(st.lists(st.integers(-2, 2) | st.just(0), min_size=outputs, max_size=outputs))
        chain.append(Layer(rows, bias))
    return Network(chain, draw(domains(d)))


@settings(max_examples=200, deadline=None)
@given(networks())
# each has one unit that the signs of [A2 | b2] alone would tell wrongly
@example(Network([([[0]], [-1]), ([[1]], [0]), ([[1]], [0])]))  # linear by signs, dead as its input is
@example(Network([([[1], [1]], [0, -1]), ([[1, -1]], [0]), ([[1]], [0])]))  # h1 ≥ h2: linear
@example(Network([([[1]], [0]), ([[1]], [-1]), ([[1]], [0])], Box([0], [1])))  # h ≤ 1: dead
@example(Network([([[1], [-1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])]))  # nonlinear on a one-dimensional range
@example(Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 0], [1, 0]], [0, -1]), ([[1, -1]], [0]), ([[1]], [0])]))  # third
def test_the_types_of_all_hidden_layers_are_those_of_the_oracle(net):
    for number in range(1, len(net.layers)):
        assert neuron_types(net, number) == types_by_oracle(net, number)


@settings(max_examples=100, deadline=None)
@given(networks(2))
def test_a_unit_has_its_type_whatever_stands_beside_it(net):
    together = neuron_types(net, 2)
    second = net.layers[1]
    for j, kind in enumerate(together):
        alone = Layer(second.matrix.select(rows=[j]), [second.offset[j]])
        assert neuron_types(Network([net.layers[0], alone, ([[1]], [0])], net.domain), 2) == (kind,)


@settings(max_examples=100, deadline=None)
@given(networks(2), st.data())
def test_rescaling_keeps_the_types_and_permuting_permutes_them(net, data):
    size = net.widths[2]
    order = data.draw(st.permutations(range(size)))
    kinds = neuron_types(net, 2)
    assert neuron_types(net.permuted(2, order), 2) == tuple(kinds[old] for old in order)
    for layer in (1, 2):
        factors = data.draw(st.lists(st.integers(1, 5), min_size=net.widths[layer], max_size=net.widths[layer]))
        assert neuron_types(net.rescaled(layer, factors), 2) == kinds
    assert neuron_types(net.permuted(1, range(net.widths[1])[::-1]), 2) == kinds


def test_the_default_layer_is_the_second_hidden_one_or_the_only_one():
    layers = [([[1]], [0]), ([[1]], [-1]), ([[-1]], [-1]), ([[1]], [0])]
    assert [default_layer(Network(layers[-count:])) for count in (2, 3, 4)] == [1, 2, 2]
    assert neuron_types(Network(layers)) == neuron_types(Network(layers), 2) == ("nonlinear",)
    assert neuron_types(Network(layers), 3) == ("dead",)
    assert neuron_types(Network(layers[:2])) == ("nonlinear",)
    with pytest.raises(UnsupportedError, match="no neurons to classify"):
        neuron_types(Network(layers[:1]))


@pytest.mark.parametrize(
    ("rows", "domain", "onto"),
    [
        ([[1, 0], [0, 1]], None, True),
        ([[1, 1]], None, True),  # n1 < d
        ([[1, 2], [2, 4]], None, False),  # rank 1
        ([[1, 0], [0, 1], [1, 1]], None, False),  # n1 > d
        ([[0, 0]], None, False),
        ([[1, 0], [0, 1]], Orthant(2), False),
        ([[1, 0], [0, 1]], Box([-9, -9], [9, 9]), False),
    ],
)
def test_the_range_of_the_first_layer(rows, domain, onto):
    net = Network([Layer(rows, [1] * len(rows)), Layer([[1] * len(rows)], [0])], domain)
    assert maps_onto_orthant(net) == onto
    if onto:
        target = vector(range(len(rows)))
        x = net.layers[0].matrix.solve([a - b for a, b in zip(target, net.layers[0].offset, strict=True)])
        assert relu(net.layers[0].apply(x)) == target


def test_where_the_range_is_the_orthant_no_cell_is_visited():
    identity = [[int(i == j) for j in range(12)] for i in range(12)]
    wide = Network([(identity, [0] * 12), ([[(-1) ** j for j in range(12)]], [0]), ([[1]], [0])])  # 4096 cells
    assert neuron_types(wide, budget=0) == ("nonlinear",)
    assert neuron_types(wide, 1, budget=0) == ("nonlinear",) * 12
    deeper = Network([*wide.layers[:2], ([[1]], [-1]), ([[1]], [0])])
    with pytest.raises(BudgetExceededError, match="budget of 100 cells"):
        neuron_types(deeper, 3, budget=100)
    assert neuron_types(Network([*wide.layers[:2], ([[1], [-1]], [1, 0]), ([[1, 1]], [0])]), 3, budget=0) == (
        "linear",
        "dead",
    )


@pytest.mark.parametrize("layer", [0, 3, -1])
def test_a_layer_that_is_not_hidden_is_refused(layer):
    net = Network([([[1]], [0])] * 3)
    with pytest.raises(
        InvalidNetworkError, match=rf"layer {layer} is not hidden: the network has hidden layers 1 to 2"
    ):
        neuron_types(net, layer)


def test_one_hidden_layer_on_a_polyhedron():
    """The triangle x + y ≤ 2, x ≥ −1, y ≥ −1; three of the rows vanish at a corner of it."""
    triangle = Polyhedron([[1, 1], [0, -1], [-1, 0]], [2, 1, 1])
    rows = [([2, 4], -10), ([1, 1], 2), ([1, -1], 1), ([0, 0], "1/2"), ([0, 0], 0), (["1/2", 0], "-3/2")]
    net = Network([([row for row, _ in rows], [bias for _, bias in rows]), ([[1] * 6], [0])], triangle)
    assert neuron_types(net) == ("dead", "linear", "nonlinear", "linear", "dead", "dead")
