"""The functional dimension against the oracle's Jacobian rank, known values, and the invariances that it has."""

import json
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers import gallery
from semialg_fibers.errors import BudgetExceededError, UnsupportedError
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.enumeration import Runner
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.questions import dimension as module
from semialg_fibers.questions.dimension import functional_dimension
from semialg_fibers.verify.oracle import jacobian_rank

TABLE = json.loads((Path(__file__).parents[1] / "tables" / "networks.json").read_text())["networks"]


@st.composite
def networks(draw):
    dimension = draw(st.integers(1, 3))
    hidden = draw(st.lists(st.integers(1, 3), max_size=3))
    widths = [dimension, *hidden, draw(st.integers(1, 2))]
    entry = st.integers(-3, 3) | st.sampled_from(["1/2", "-2/3"])
    chain = []
    for inputs, outputs in pairwise(widths):
        row = st.lists(entry, min_size=inputs + 1, max_size=inputs + 1)
        pool = draw(st.lists(row, min_size=1, max_size=outputs))  # fewer rows than units: some units are equal
        rows = [draw(st.sampled_from([*pool, [0] * inputs + ["1/2"]])) for _ in range(outputs)]
        chain.append(Layer([each[:-1] for each in rows], [each[-1] for each in rows]))
    box = Box([-1] * dimension, [2] * dimension)
    return Network(chain, draw(st.sampled_from([Space(dimension), Orthant(dimension), box])))


def drawn(widths, seed):
    source = random.Random(seed)
    entries = [[[source.randint(-9, 9) for _ in range(i + 1)] for _ in range(o)] for i, o in pairwise(widths)]
    return Network([([row[:-1] for row in rows], [row[-1] for row in rows]) for rows in entries])


def dimension_or_zero(net):
    """The dimension, with 0 for the empty set of full cells, as the oracle counts."""
    try:
        return functional_dimension(net)
    except UnsupportedError:
        return 0


@settings(max_examples=100, deadline=None)
@given(networks())
def test_it_is_the_oracles_jacobian_rank(net):
    assert dimension_or_zero(net) == jacobian_rank(net).rank


@pytest.mark.parametrize("prime", [2, 3])
@given(networks())
@settings(max_examples=60, deadline=None)
def test_an_unlucky_prime_does_not_change_the_answer(prime, net):
    """Modulo 2 or 3 many independent rows look dependent; the exact kernel over Q must find them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "primes", lambda: iter([prime]))
        small = dimension_or_zero(net)
    assert small == dimension_or_zero(net)


@settings(max_examples=60, deadline=None)
@given(networks(), st.data())
def test_permuting_and_rescaling_hidden_units_keeps_it(net, data):
    moved = net
    for layer in range(1, len(net.layers)):
        moved = moved.permuted(layer, data.draw(st.permutations(range(net.widths[layer]))))
        factor = st.fractions(min_value="1/7", max_value=7, max_denominator=7)
        moved = moved.rescaled(layer, [data.draw(factor) for _ in range(net.widths[layer])])
    assert dimension_or_zero(moved) == dimension_or_zero(net)


@pytest.mark.parametrize(
    ("widths", "largest"), [((2, 2, 1), 7), ((2, 3, 2, 1), 15), ((3, 3, 3, 1), 22), ((3, 4, 2), 22)]
)
def test_the_largest_value_is_parameters_minus_hidden_units_and_is_attained(widths, largest):
    """Theory §9, from Grillo and Montúfar, arXiv:2605.03601."""
    nets = [drawn(widths, seed) for seed in range(12)]
    assert nets[0].parameter_count - sum(widths[1:-1]) == largest
    assert max(functional_dimension(net) for net in nets) == largest


@pytest.mark.parametrize("record", TABLE, ids=lambda record: record["name"])
def test_the_table_of_networks(record):
    """tests/tables/networks.json says in `made_by` how each entry was found."""
    for each in (record, *record["equivalent"][:2]):
        net = Network([(layer["weight"], layer["bias"]) for layer in each["layers"]])
        assert functional_dimension(net) == record["expected"]["functional_dimension"]


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        pytest.param([([[1], [1]], [-1, -1]), ([[2, 3]], [0])], 3, id="theory §9, where the bound 7 − 3 is strict"),
        pytest.param([([[2, 1]], [5])], 3, id="affine"),
        pytest.param([([[1], [0]], [0, -1]), ([[1, 1]], [0])], 3, id="a unit that is off"),
        pytest.param([([[0]], [1]), ([[0]], [1]), ([[0]], [5])], 1, id="no weight at all: the output's bias"),
        pytest.param([([[0]], [-1]), ([[1]], [-1]), ([[1]], [5])], 1, id="all off"),
    ],
)
def test_values_worked_out_by_hand(layers, expected):
    assert functional_dimension(Network(layers)) == expected


def test_a_preactivation_that_vanishes_everywhere_is_refused_with_its_place():
    net = Network([([[1, 2], [0, 0]], [3, 0]), ([[1, 1]], [0])])
    with pytest.raises(UnsupportedError, match="unit 2 of layer 1") as caught:
        functional_dimension(net)
    assert (caught.value.layer, caught.value.row) == (1, 1)


def test_a_cell_on_which_a_preactivation_vanishes_is_left_out():
    """Units relu(x) and relu(−x); the second layer has the forms 2h1 and 0·h1 + h2, zero on one side each."""
    net = Network([([[1], [-1]], [0, 0]), ([[2, 0], [1, 1]], [0, 1]), ([[1, 1]], [0])])
    assert jacobian_rank(net).skipped == 1
    assert functional_dimension(net) == jacobian_rank(net).rank


def test_the_budget_is_kept():
    dead = Network([([[1], [1], [0]], [0, 1, -1]), ([[1, 1, 1]], [0])])  # never the largest rank: every cell is needed
    assert functional_dimension(dead, budget=3) == jacobian_rank(dead).rank
    with pytest.raises(BudgetExceededError):
        functional_dimension(dead, budget=2)


def test_fractions_are_taken_exactly():
    """Every weight divided by its own prime: still widths (2, 2, 1) at their largest dimension."""
    net = Network([([["1/2", "2/3"], ["-1/5", "3/7"]], ["1/11", "1/13"]), ([["1/17", "-1/19"]], ["1/23"])])
    assert functional_dimension(net) == 7


# in chunks


@pytest.mark.parametrize("name", gallery.names())
def test_chunks_of_cells_give_the_same_dimension(name, tmp_path):
    net = gallery.network(name)
    try:
        expected = functional_dimension(net)
    except UnsupportedError as error:
        with pytest.raises(UnsupportedError, match=re.escape(error.message)):
            functional_dimension(net, runner=Runner())
        return
    assert functional_dimension(net, runner=Runner()) == expected
    for _ in range(2):
        assert functional_dimension(net, runner=Runner(checkpoint=tmp_path / "kept")) == expected


def test_an_unlucky_prime_does_not_lower_the_dimension_in_chunks(monkeypatch):
    net = Network([([[1, 2], [3, -1], [1, 1]], [0, 1, -2]), ([[1, -2, 3]], [0])])
    expected = functional_dimension(net)
    monkeypatch.setattr(module, "primes", lambda: iter([2]))
    assert functional_dimension(net, runner=Runner()) == functional_dimension(net) == expected
