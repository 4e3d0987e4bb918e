"""Translations and flips as actions on parameters: group laws, and the networks of theory §3.2, §3.3 and §6."""

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.geometry.scalar import vector
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.networks.symmetry import flipped, translated
from semialg_fibers.verify.oracle import same_on_cells

NUMBERS = st.fractions(-3, 3, max_denominator=4)


@st.composite
def actions(draw):
    """A three-layer network, a column i, and r_k for the other columns: any numbers, the group laws need no more."""
    n1, n2 = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    layers = []
    for inputs, outputs in ((2, n1), (n1, n2), (n2, 1)):
        rows = draw(st.lists(st.lists(NUMBERS, min_size=inputs, max_size=inputs), min_size=outputs, max_size=outputs))
        layers.append(Layer(rows, draw(st.lists(NUMBERS, min_size=outputs, max_size=outputs))))
    i = draw(st.integers(0, n1 - 1))
    ratios = {k: fmpq(draw(st.integers(-5, -1)), draw(st.integers(1, 3))) for k in range(n1) if k != i}
    return Network(layers), i, ratios


@settings(max_examples=50, deadline=None)
@given(actions(), NUMBERS, NUMBERS, st.data())
def test_translations_are_an_action_of_the_real_line(case, s, t, data):
    net, i, _ = case
    users = data.draw(st.sets(st.sampled_from(range(net.widths[2]))))
    s, t = vector([s, t])
    assert translated(translated(net, i, s, users), i, t, users) == translated(net, i, s + t, users)
    assert translated(net, i, fmpq(0), users) == net
    moved = translated(net, i, t, users)
    assert (moved.layers[0].matrix, moved.layers[1].matrix, moved.layers[2]) == (
        net.layers[0].matrix,
        net.layers[1].matrix,
        net.layers[2],
    )
    for k, (a, b) in enumerate(zip(moved.layers[0].offset, net.layers[0].offset, strict=True)):
        assert a - b == (t if k == i else 0)
    for j, (a, b) in enumerate(zip(moved.layers[1].offset, net.layers[1].offset, strict=True)):
        assert b - a == (net.layers[1].matrix[j, i] * t if j in users else 0)


@settings(max_examples=50, deadline=None)
@given(actions(), st.data())
def test_flips_are_commuting_involutions(case, data):
    net, i, ratios = case
    first, then = (data.draw(st.sets(st.sampled_from(sorted(ratios)))) for _ in range(2))
    assert flipped(net, [], {i: ratios}) == net
    assert flipped(flipped(net, first, {i: ratios}), then, {i: ratios}) == flipped(net, first ^ then, {i: ratios})
    moved = flipped(net, first, {i: ratios})
    assert moved.layers[1:] == net.layers[1:]
    for k, (new, old) in enumerate(zip(moved.layers[0].forms, net.layers[0].forms, strict=True)):
        if k != i:
            assert new == (tuple(-value for value in old) if k in first else old)
        else:
            shift = [sum((ratios[c] * net.layers[0].forms[c][at] for c in first), fmpq(0)) for at in range(3)]
            assert new == tuple(a + b for a, b in zip(old, shift, strict=True))


# The hidden networks of theory §6: column 1 is positive, every other entry of [A2 | b2] negative.

ONE_ROW = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
TWO_ROWS = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, -2]], [-1, -3]), ([[1, 1]], [0])])
EQUAL_RATIOS = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [2, -2]], [-1, -3]), ([[1, -1]], [0])])


@pytest.mark.parametrize("net", [ONE_ROW, TWO_ROWS, EQUAL_RATIOS])
@pytest.mark.parametrize("t", ["-3/4", "1/2", 10])
def test_translating_a_hidden_hyperplane_keeps_the_function(net, t):
    """t > max b2_j / A2_j1, which is −1 or −3/2."""
    (step,) = vector([t])
    assert same_on_cells(net, translated(net, 0, step, range(net.widths[2]))) is None


def test_translating_too_far_or_for_some_rows_only_changes_the_function():
    assert same_on_cells(ONE_ROW, translated(ONE_ROW, 0, fmpq(-1), [0])) is None  # the boundary, by continuity
    assert same_on_cells(ONE_ROW, translated(ONE_ROW, 0, fmpq(-3, 2), [0])) is not None
    assert same_on_cells(TWO_ROWS, translated(TWO_ROWS, 0, fmpq(1), [0])) is not None
    assert same_on_cells(ONE_ROW, translated(ONE_ROW, 1, fmpq(1), [0])) is not None  # column 2 is not hidden


@pytest.mark.parametrize(
    ("net", "ratio", "equal"), [(ONE_ROW, -1, True), (EQUAL_RATIOS, -1, True), (TWO_ROWS, -1, False)]
)
def test_a_flip_keeps_the_function_iff_the_ratio_is_that_of_every_row(net, ratio, equal):
    moved = flipped(net, [1], {0: {1: fmpq(ratio)}})
    assert moved.layers[0].forms == (vector([1, ratio, 0]), vector([0, -1, 0]))
    assert (same_on_cells(net, moved) is None) == equal
