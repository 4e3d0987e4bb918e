"""Laws at all parameters of an architecture: the published tables, a slow oracle, refusals."""

import json
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lie_oracle import Polynomials

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.questions.architecture_laws import architecture_laws, path_rank
from semialg_fibers.questions.conservation import conservation_laws
from semialg_fibers.questions.lie_algebra import Parameters
from semialg_fibers.verify.conservation import Wiring, is_conserved

TABLE = json.loads((Path(__file__).parents[1] / "tables" / "conservation.json").read_text())


def asked(record, activation):
    """The table lists widths output first."""
    bias = "hidden" if record["hidden_bias"] else False
    return architecture_laws(reversed(record["widths_output_first"]), bias, activation)


def name(record):
    return "-".join(map(str, record["widths_output_first"]))


@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_the_published_tables(activation):
    """tests/tables/conservation.json says in `made_by` where each comes from: Marcotte, Gribonval, Peyré 2023."""
    records = TABLE[f"published_{activation}"]
    assert len(records) == 25
    for record in records:
        found = asked(record, activation)
        assert found.parameters.count == record["parameters"], name(record)
        assert found.total == found.independent == record["laws"], name(record)
        assert found.interval == (record["laws"], record["laws"])
        assert all(law.everywhere for law in found.found)


def test_five_layers_with_bottlenecks_on_both_sides():
    """The entries are 3 + 15 + 3, of which 20 are independent."""
    found = architecture_laws((4, 2, 5, 2, 2), bias=False, activation="linear")
    assert (found.total, found.independent, len(found.dependent)) == (20, 20, 1)
    assert "exactly 20" in found.explain()
    assert found.explain().count("⟨incoming, incoming⟩") == 12  # 1 + 10 + 1 pairs


TINY = [(1, 1), (2, 1), (1, 1, 1), (1, 2, 1), (2, 1, 2), (1, 1, 1, 1), (1, 1, 1, 1, 1)]


@pytest.mark.parametrize("bias", [True, False, "hidden"])
@pytest.mark.parametrize("activation", ["relu", "linear"])
@pytest.mark.parametrize("widths", TINY)
def test_the_slow_oracle_finds_the_same(widths, activation, bias):
    """ReLU: all sets of active units with one in each layer at least, each of which occurs for some parameters."""
    biased = (bool(bias),) * (len(widths) - 2) + (bias is True,)
    masks = [[bits for bits in product((0, 1), repeat=width) if any(bits)] for width in widths[1:-1]]
    patterns = list(product(*masks)) if activation == "relu" else [tuple((1,) * width for width in widths[1:-1])]
    oracle = Polynomials(widths, biased, patterns)
    found = architecture_laws(widths, bias, activation)
    assert found.parameters.names == tuple(oracle.names)
    assert found.total == len(oracle.names) - oracle.lie_ranks()[-1]
    # The oracle sees these cells alone; on one path all is linear, and a linear chain may have quadratic laws beyond.
    assert found.independent <= oracle.quadratic_laws()


@settings(max_examples=25)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=5), st.sampled_from([True, False, "hidden"]))
def test_paths_and_scalings_meet(widths, bias):
    """A ReLU architecture has one law for each hidden unit, and no other."""
    found = architecture_laws(widths, bias)
    assert found.total == found.independent == sum(widths[1:-1])
    assert found.bound.rank == found.parameters.count - found.total
    for path in found.bound.paths:
        assert path[0][0] in (-1, 0)
        assert path[-1][0] == len(widths) - 1
        assert all(edge in found.parameters.edges for edge in pairwise(path))


@settings(max_examples=15)
@given(st.lists(st.integers(1, 4), min_size=3, max_size=5), st.sampled_from([True, False, "hidden"]))
def test_linear_bounds_meet_and_every_law_is_one(widths, bias):
    found = architecture_laws(widths, bias, "linear")
    assert found.total == found.independent or found.closed
    assert found.total >= sum(widths[1:-1])
    ones = (tuple((1,) * width for width in widths[1:-1]),)
    wiring = Wiring(tuple(widths), found.parameters.biased, ones)
    assert all(is_conserved(dict(law.terms), wiring) for law in (*found.found, *found.dependent))


def test_one_input_and_one_output_leave_one_field():
    """W3 W2 W1 is one number: its gradient is the only field, and the quadratic laws are not all laws."""
    found = architecture_laws((1, 2, 2, 1), False, "linear")
    assert (found.independent, found.total) == (6, 7)
    assert "closed under brackets" in found.explain()
    one = (((1, 1), (1, 1)),)
    oracle = Polynomials((1, 2, 2, 1), (False,) * 3, one)
    assert (oracle.quadratic_laws(), oracle.lie_ranks()) == (6, [1])


def test_a_relu_architecture_is_what_its_networks_have_in_common():
    """A network with nonlinear units only has no law beyond those of its architecture."""
    from semialg_fibers import gallery

    net = gallery.network("visible_2_2_2_1")
    assert architecture_laws(net.widths).laws == conservation_laws(net).laws


def test_variables_are_those_of_the_biases_that_there_are():
    assert [str(v) for v in architecture_laws((1, 1, 1), "hidden").variables] == ["W1_0_0", "b1_0", "W2_0_0"]
    assert path_rank(Parameters((1, 1), (True,))).paths == (((0, 0), (1, 0)), ((-1, 0), (1, 0)))


@pytest.mark.parametrize(
    ("arguments", "error", "part"),
    [
        (((2,),), InvalidNetworkError, "at least the input and the output"),
        (((2, 0, 1),), InvalidNetworkError, "width 2 is 0"),
        (((2, True),), InvalidNetworkError, "expected a whole number, got the bool True"),
        (((2, 1.0),), InvalidNetworkError, "expected a whole number, got the float 1.0"),
        (("221",), InvalidNetworkError, "widths: expected a list"),
        ((5,), InvalidNetworkError, "widths: expected a list"),
        (((2, 1), "all"), InvalidNetworkError, "'all'"),
        (((2, 1), None), InvalidNetworkError, "None"),
        (((2, 1), True, "tanh"), UnsupportedError, "'tanh'"),
        (((100, 100, 1),), BudgetExceededError, "10201 parameters"),
    ],
)
def test_refusals(arguments, error, part):
    with pytest.raises(error, match=part):
        architecture_laws(*arguments)
