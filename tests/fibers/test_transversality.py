"""Genericity outside the bottleneck: violated conditions with witnesses checked again; random networks hold."""

from itertools import pairwise

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers import Network, cells, genericity
from semialg_fibers.geometry.linear import Matrix


def condition(net, name, budget=5_000):
    return next(c for c in genericity(net, budget).conditions if c.name == name)


def test_three_lines_through_one_point_are_not_supertransversal():
    net = Network([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, -2, 3]], [1]), ([[1]], [0])])
    found = condition(net, "supertransversal")
    assert found.verdict is False
    _, units, point = found.witness
    assert point == (0, 0)
    assert {(1, 0), (1, 1), (1, 2)} <= set(units)
    assert genericity(net).is_generic is False


def test_a_second_layer_line_through_a_corner_is_not_supertransversal():
    net = Network([([[1, 0], [0, 1], [1, 2]], [0, 0, 1]), ([[1, 1, 1]], [-1]), ([[1]], [0])])
    # at (0, 0): u1 = u2 = 0 and z = relu(1) − 1 = 0, on a cell with only two independent directions
    found = condition(net, "supertransversal")
    assert found.verdict is False
    assert (2, 0) in found.witness[1]


def test_a_preactivation_that_vanishes_on_a_cell_is_named():
    net = Network([([[1, 0], [0, 1], [1, 1]], [1, 2, 5]), ([[1, -2, 3]], [0]), ([[1]], [0])])
    found = condition(net, "supertransversal")
    assert found.verdict is False
    assert found.witness[2:] == ("unit", 2, 0)


def test_a_masked_product_that_loses_rank_is_found_where_it_occurs():
    # the two second-layer rows are proportional on units 1, 2, which are active together
    net = Network([([[1, 0], [0, 1], [1, 1]], [1, 2, -7]), ([[1, 2, 3], [2, 4, -5]], [1, -3]), ([[1, 1]], [0])])
    found = condition(net, "masked_products")
    assert found.verdict is False
    _, first, last, _, pattern = found.witness
    weights = [layer.matrix for layer in net.layers]
    product = weights[first - 1]
    for layer in range(first, last):
        mask = [j for j, bit in enumerate(pattern[layer - 1]) if bit]
        product = weights[layer].select(columns=mask) @ product.select(rows=mask)
    assert pattern in {cell.pattern for cell in cells(net)}
    assert product.rank() < 2


@given(st.data())
@settings(max_examples=25)
def test_networks_in_general_position_are_generic(data):
    numbers = st.integers(-(10**6), 10**6).filter(bool)
    widths = data.draw(st.sampled_from([(2, 3, 2, 1), (2, 2, 2, 2, 1), (1, 2, 2, 1, 1)]))
    layers = [
        ([[data.draw(numbers) for _ in range(i)] for _ in range(o)], [data.draw(numbers) for _ in range(o)])
        for i, o in pairwise(widths)
    ]
    # hypothesis likes to repeat numbers: a generic perturbation, different at each place
    count = iter(range(1, 10_000))
    shaken = [
        (
            [[fmpq(v) + fmpq(1, 7919 + next(count) ** 2) for v in row] for row in weight],
            [fmpq(v) + fmpq(1, 7907 + next(count) ** 2) for v in bias],
        )
        for weight, bias in layers
    ]
    report = genericity(Network(shaken))
    assert [c.name for c in report.conditions] == ["supertransversal", "masked_products"]
    assert report.is_generic is True


def test_beyond_the_budget_nothing_is_claimed():
    report = genericity(Network([([[1, 0], [0, 1], [1, 2]], [0, 0, 1]), ([[1, 1, 1]], [-1]), ([[1]], [0])]), budget=3)
    assert report.is_generic is None
    assert report.undecided == ("supertransversal", "masked_products")


def test_witnesses_are_dependent_gradients():
    net = Network([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, -2, 3]], [1]), ([[1]], [0])])
    _, units, point = condition(net, "supertransversal").witness
    touching = [cell for cell in cells(net) if cell.contains(point)]
    assert any(
        Matrix([cell.preactivations[layer - 1][j][:-1] for layer, j in units]).rank() < len(units) for cell in touching
    )


CROSS = ([[1, 0], [0, 1], [1, 1]], [1, 2, 5])
GENERIC = "(supertransversal) holds: bent hyperplanes meet in the expected codimension"
FULL = "(masked_products) holds: every masked product that occurs has the largest possible rank"


@pytest.mark.parametrize(
    ("layers", "lines", "witness"),
    [
        (
            [([[1, 0], [0, 1], [1, 2]], [0, 0, 1]), ([[1, 1, 1]], [-1]), ([[1]], [0])],
            [
                "(supertransversal) violated: the neurons 1 of layer 1, 2 of layer 1, 1 of layer 2 vanish together at "
                "(0, 0) without being independent",
                FULL,
            ],
            ("units", [(1, 0), (1, 1), (2, 0)], (0, 0)),
        ),
        (  # two of them on one cell: the first is named
            [CROSS, ([[1, -2, 3], [1, 2, 1], [1, 1, 1]], [1, 0, 0]), ([[1, 1, 1]], [0])],
            ["(supertransversal) violated: the preactivation of neuron 2 of layer 2 vanishes on a whole cell", FULL],
            ("cell", ((0, 0, 0), (1, 0, 0)), "unit", 2, 1),
        ),
        (  # A2 restricted to units 1, 2 has proportional rows
            [([[1, 0], [0, 1], [1, 1]], [1, 2, -7]), ([[1, 2, 3], [2, 4, -5]], [1, -3]), ([[1, 1]], [0])],
            [
                GENERIC,
                "(masked_products) violated: the product of layers 1 to 2 has rank 1 on some cell, expected 2",
            ],
            ("layers", 1, 2, "cell", ((1, 1, 0), (1, 0))),
        ),
        (  # (7, −5) · (5, 7) = 0
            [([[1], [2]], [1, 3]), ([[1, 2]], [1]), ([[5], [7]], [0, 0]), ([[7, -5]], [0])],
            [
                GENERIC,
                "(masked_products) violated: the product of layers 2 to 4 has rank 0 on some cell, expected 1",
            ],
            ("layers", 2, 4, "cell", ((0, 0), (1,), (1, 1))),
        ),
    ],
)
def test_the_report_counts_layers_and_neurons_from_one(layers, lines, witness):
    report = genericity(Network(layers))
    assert str(report).splitlines() == lines
    assert [condition.witness for condition in report.conditions if condition.verdict is False] == [witness]
