"""Where units are seen: against products of masked matrices on Fractions, and against what moves the function."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import fractions, layer_rows

from semialg_fibers.errors import BudgetExceededError, UnsupportedError
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.sight import sight

small = st.sampled_from([0, 0, 1, -1, 2, -2, "1/2"])


@st.composite
def networks(draw):
    widths = draw(st.sampled_from([(2, 2, 1), (2, 2, 2, 1), (1, 2, 2, 2), (2, 2, 2, 2, 1)]))
    layers = []
    for inputs, outputs in itertools.pairwise(widths):
        row = st.lists(small, min_size=inputs, max_size=inputs)
        layers.append((draw(st.lists(row, min_size=outputs, max_size=outputs)), [draw(small) for _ in range(outputs)]))
    return Network(layers)


def values_from(net, layer, h):
    """The output when hidden layer `layer` has the activations h."""
    for k in range(layer, len(net.layers)):
        z = [sum(a * b for a, b in zip(row[:-1], h, strict=True)) + row[-1] for row in layer_rows(net.layers[k])]
        h = z if k == len(net.layers) - 1 else [max(value, 0) for value in z]
    return h


@given(networks())
@settings(max_examples=60)
def test_a_unit_is_seen_iff_a_small_change_of_its_activation_changes_the_output(net):
    try:
        found = sight(net)
    except UnsupportedError:
        return
    for view in found.views:
        h = fractions(view.cell.interior)
        for layer in range(1, len(net.layers)):
            rows = layer_rows(net.layers[layer - 1])
            z = [sum(a * b for a, b in zip(row[:-1], h, strict=True)) + row[-1] for row in rows]
            h = [max(value, Fraction(0)) for value in z]
            for unit in range(len(h)):
                moved = [value + Fraction(unit == j, 10**9) for j, value in enumerate(h)]
                changes = values_from(net, layer, moved) != values_from(net, layer, h)
                assert view.active(layer, unit) == (z[unit] > 0)
                assert view.seen[layer - 1][unit] == (changes and z[unit] > 0)
                assert (view in found.seen_on(layer, unit)) == (changes and z[unit] > 0)


def test_places_are_in_the_order_of_units():
    net = Network([([[1, 2], [3, 4]], [5, 6]), ([[7, 8]], [9])])
    found = sight(net)
    assert [found.place(1, 0, 0), found.place(1, 0, -1), found.place(1, 1, 0), found.place(2, 0, -1)] == [0, 2, 3, 8]
    assert found.width(1, 2) == net.parameter_count == 9


def test_refusals():
    with pytest.raises(UnsupportedError, match="vanishes on every cell"):
        sight(Network([([[0]], [0]), ([[1]], [0])]))
    with pytest.raises(BudgetExceededError):
        sight(Network([([[1], [1], [1]], [0, 1, 2]), ([[1, 1, 1]], [0])]), budget=2)
