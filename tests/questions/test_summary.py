"""The summary against the oracle and the reference, on every kind of network, inside and outside the theorem."""

import json
from dataclasses import fields
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import hidden_columns, kinds
from strategies import KINDS, networks_of

from semialg_fibers import cli, gallery
from semialg_fibers.errors import BudgetExceededError, NotGenericError, UnsupportedError
from semialg_fibers.exchange.files import write_network
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.orientation import OrientationProblem
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.summary import Summary, summary
from semialg_fibers.verify.oracle import jacobian_rank, oracle_cells, same_on_cells

few = settings(max_examples=5, deadline=None)
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
@few
@given(st.data())
def test_a_generic_network_of_every_kind(kind, data):
    net = data.draw(networks_of(kind))
    rank = jacobian_rank(net)
    assume(rank.skipped == 0)
    told, found = summary(net), fiber(net)
    assert list(told.types) == kinds(net)
    assert list(told.hidden) == (hidden_columns(net) if len(net.layers) == 3 else [])
    assert (told.generic, told.violated, told.refusal) == (True, (), None)
    assert all(condition.verdict is True for condition in told.conditions)
    assert told.identifiability.is_identifiable is not None
    assert (told.dimension, told.components) == (found.dimension, found.component_count)
    assert told.local_dimension == found.local_dimension
    assert told.functional == rank.rank
    kernel = net.parameter_count - rank.rank
    if told.local_dimension is None:
        assert told.upper_bound == kernel
        assert set(told.open) == {"local_dimension"}
    else:
        assert told.upper_bound is None
        assert told.local_dimension <= kernel
        assert told.open == {}
    assert json.loads(json.dumps(told.to_json())) == told.to_json()


@st.composite
def any_networks(draw):
    dimension = draw(st.integers(1, 2))
    hidden = draw(st.lists(st.integers(1, 3), max_size=3))
    chain = []
    for inputs, outputs in pairwise([dimension, *hidden, draw(st.integers(1, 2))]):
        entry = st.integers(-3, 3)
        rows = draw(
            st.lists(st.lists(entry, min_size=inputs + 1, max_size=inputs + 1), min_size=outputs, max_size=outputs)
        )
        chain.append(([each[:-1] for each in rows], [each[-1] for each in rows]))
    box = Box([-1] * dimension, [2] * dimension)
    return Network(chain, draw(st.sampled_from([Space(dimension), Space(dimension), Orthant(dimension), box])))


def fiber_or_refusal(net):
    try:
        return fiber(net), None
    except (UnsupportedError, NotGenericError) as error:
        return None, error.message


@settings(max_examples=80, deadline=None)
@given(any_networks())
def test_any_network(net):
    """Nothing raises; what is said is what the oracle sees; what fiber refuses is refused with its sentence."""
    told = summary(net)
    hidden_layers = len(net.layers) - 1
    if hidden_layers:
        layer = min(2, hidden_layers)
        values = [net.part(1, layer).value(cell.point) for cell in oracle_cells(net)]
        for unit, name in enumerate(told.types):
            above, below = any(value[unit] > 0 for value in values), any(value[unit] < 0 for value in values)
            assert name == ("nonlinear" if above and below else "linear" if above else "dead")
        rank = jacobian_rank(net)
        if rank.rank:
            assert told.functional == rank.rank
        else:
            assert "vanishes on every cell" in told.open["functional_dimension"]
    found, refusal = fiber_or_refusal(net)
    assert told.refusal == refusal
    if refusal is not None:
        assert (told.dimension, told.local_dimension, told.components) == (None, None, None)
        if told.functional is not None:
            assert told.upper_bound == net.parameter_count - told.functional
    else:
        assert told.components == found.component_count
    assert (told.generic is False) == bool(told.violated)
    document = told.to_json()
    for key in ("violated", "second_layer", "hidden", "flippable", "reasons", "widths"):
        assert isinstance(document[key], list), key
    assert json.loads(json.dumps(document)) == document


def test_the_fields_of_a_fresh_summary_claim_nothing():
    fresh = Summary(gallery.network("visible_2_2_2_1"))
    claims = {field.name: getattr(fresh, field.name) for field in fields(Summary)} | {"network": None}
    assert claims.pop("identifiability").is_identifiable is None
    assert not any(claims.values())


def test_domains_as_json():
    layers = [([[1, 1]], [0]), ([[1]], [0])]
    assert summary(Network(layers)).to_json()["domain"] == "space"
    assert summary(Network(layers, Orthant(2))).to_json()["domain"] == "orthant"
    box = summary(Network(layers, Box([-1, 0], ["1/2", 3]))).to_json()["domain"]
    assert box == {"box": [["-1", "1/2"], ["0", "3"]]}


# outside the theorem: what is true is still said


def described(net, tmp_path, capsys):
    path = tmp_path / "net.json"
    write_network(net, path)
    assert cli.run(["describe", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


CASES = {
    "n1 > d": (
        Network([([[1, 0], [0, 1], [-1, -1]], [0, 0, 1]), ([[1, -1, 2], [-1, 2, -3]], [-1, 1]), ([[1, 1]], [0])]),
        "the theorem needs a bottleneck n1 ≤ d, this network has n1 = 3 > d = 2",
        ("nonlinear", "nonlinear"),
        (),
    ),
    "n1 > d, hidden": (  # relu(x − 1), relu(x − 2), and the row h1 + h2 − 5: alive on neither hyperplane
        Network([([[1], [1]], [-1, -2]), ([[1, 1]], [-5]), ([[1]], [0])]),
        "the theorem needs a bottleneck n1 ≤ d, this network has n1 = 2 > d = 1",
        ("nonlinear",),
        (0, 1),
    ),
    "rank deficient": (
        Network([([[1, 1], [2, 2]], [0, 3]), ([[1, -1]], [5]), ([[2]], [0])]),
        "the network is not generic: (G1) violated: rank A1 = 1 < n1 = 2",
        ("nonlinear",),
        (),
    ),
    "four layers": (
        Network([([[1]], [1]), ([[1], [-1]], [-2, 5]), ([[1, -1], [-1, 2]], [-1, 3]), ([[1, 2]], [0])]),
        "the theorem covers two and three affine layers, this network has 4",
        ("nonlinear", "nonlinear"),
        (),
    ),
    "three layers on a box": (
        Network([([[1, 0], [0, 1]], [3, 3]), ([[1, 2], [-1, -1]], [-9, -9]), ([[1, 2]], [0])], Box([-1, -1], [1, 1])),
        "the three-layer theorem is about all of R^d, this network's domain is [-1, 1] × [-1, 1]",
        ("nonlinear", "dead"),
        (0, 1),
    ),
    "three layers on the orthant": (
        Network([([[1]], [1]), ([[1]], [-2]), ([[1]], [0])], Orthant(1)),
        "the three-layer theorem is about all of R^d, this network's domain is R^1_(≥0)",
        ("nonlinear",),
        (0,),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_outside_the_theorem_the_truth_is_told_and_the_hypothesis_named(case, tmp_path, capsys):
    net, sentence, types, hidden = CASES[case]
    rank = jacobian_rank(net)
    assert rank.skipped == 0
    told = summary(net)
    assert (told.refusal, told.types, told.hidden) == (sentence, types, hidden)
    assert (told.functional, told.upper_bound) == (rank.rank, net.parameter_count - rank.rank)
    assert (told.dimension, told.local_dimension, told.components) == (None, None, None)
    assert told.identifiability.is_identifiable is not True
    lines = described(net, tmp_path, capsys)
    assert f"outside the theorem: {sentence}" in lines
    assert f"types: {', '.join(types)}" in lines
    assert f"hidden hyperplanes of the first layer: {', '.join(str(i + 1) for i in hidden) or 'none'}" in lines
    assert f"dimension at this network: at most {told.upper_bound} (kernel of the Jacobian)" in lines
    assert f"functional dimension: {rank.rank}" in lines
    assert not any(line.startswith("components") for line in lines)
    for command in (["fiber"], ["fiber", "--format", "json"]):
        assert cli.run([*command, str(tmp_path / "net.json")]) == 2
        out, err = capsys.readouterr()
        assert (out, err) == ("", f"error: {sentence}\n")


def test_one_affine_layer(tmp_path, capsys):
    net = Network([([[1, 2]], [3])])
    sentence = "a network with one affine layer has no hidden units: its parameters are its function"
    lines = described(net, tmp_path, capsys)
    assert lines[:2] == ["ReLU network 2-1 on R^2, 3 parameters", f"outside the theorem: {sentence}"]
    assert "identifiable: not decided" in lines
    told = summary(net).to_json()
    assert [told[key] for key in ("second_layer", "hidden", "flippable", "reasons")] == [[], [], [], []]
    assert (told["refused"], told["functional_dimension"], told["upper_bound"]) == (sentence, 3, 0)
    assert lines[-2:] == ["dimension at this network: at most 0 (kernel of the Jacobian)", "functional dimension: 3"]


# budgets


def test_cells_beyond_the_budget_are_named_not_guessed():
    net = CASES["n1 > d"][0]
    assert summary(net).open.keys() <= {"flippable", "generic"}
    told = summary(net, budget=2)
    for key in ("second_layer", "hidden", "functional_dimension"):
        assert "budget of 2 cells" in told.open[key], key
    assert (told.types, told.hidden, told.functional, told.upper_bound) == (None, None, None, None)


def test_text_says_not_decided_with_the_reason(monkeypatch, capsys):
    monkeypatch.setattr(summary.__wrapped__, "__defaults__", (2,))
    assert cli.run(["describe", "gallery:wide_2_3_2_1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for start in ("types", "hidden hyperplanes of the first layer", "functional dimension"):
        assert f"{start}: not decided: there are at least 2^2 cells, more than the budget of 2 cells" in lines
    assert not any("at most" in line for line in lines)
    assert cli.run(["dimension", "gallery:wide_2_3_2_1"]) == 0
    out, err = capsys.readouterr()
    assert out == "local dimension: not decided\nlargest dimension: not decided\nfunctional dimension: not decided\n"
    assert "n1 = 3 > d = 2" in err
    assert "budget of 2 cells" in err


def test_where_genericity_is_open_the_functional_dimension_comes_from_cells(monkeypatch):
    """Parameters − local dimension is a theorem about generic networks only."""

    def open_masks(*arguments):
        raise BudgetExceededError("too many")

    monkeypatch.setattr("semialg_fibers.fibers.masks.vanishing_mask", open_masks)
    net = gallery.network("visible_2_2_2_1")
    told = summary(net)
    assert (told.generic, told.local_dimension, told.upper_bound) == (None, 4, None)
    assert told.functional == jacobian_rank(net).rank == 11
    assert told.identifiability.is_identifiable is None


def test_constant_units_on_the_whole_space_make_the_kernel_larger_than_the_fiber():
    """relu(x + 1) and a dead constant: the fiber has dimension 3, the kernel 4, so the functional dimension is 3."""
    net = Network([([[1], [0]], [1, -1]), ([[2, 3]], [0])])
    told = summary(net)
    assert (told.local_dimension, told.dimension, told.components) == (3, 3, 1)
    assert told.functional == jacobian_rank(net).rank == 3
    assert told.upper_bound is None


def test_the_closed_form_is_not_used_where_it_is_not_valid():
    """m = p = q = 2, B = C = [[1, 1], [1, 1]]: not generic; the bound is the kernel's 7 (theory §2.5)."""
    net = Network([([[1, 1], [1, 1]], [1, 1]), ([[1, 1], [1, 1]], [0, 0])], Orthant(2))
    told = summary(net)
    assert told.violated == ("G5",)
    assert told.upper_bound == net.parameter_count - jacobian_rank(net).rank


def test_a_count_beyond_the_budget_is_null_with_the_reason(monkeypatch):
    monkeypatch.setattr(OrientationProblem.count, "__defaults__", (3,))
    monkeypatch.setattr(OrientationProblem.feasible_sets, "__defaults__", (3,))
    rows = [[1, -2], [-3, 1], [2, -5], [1, 3]]
    net = Network([(rows, [1, 2, 3, 1]), ([[1, -2, 1, 1], [2, 1, -1, 3]], [3, 0])], Orthant(2))
    told = summary(net)
    assert told.components is None
    assert "components" in told.open
    assert told.identifiability.is_identifiable is False
    assert told.local_dimension is not None
    document = told.to_json()
    assert (document["components"], document["refused"]) == (None, None)


def test_the_summary_of_equal_functions_may_differ_but_their_fibers_agree():
    """exchange_of_roles is refused, its partner is not: genericity belongs to the parameter, not to the function."""
    one, two = gallery.network("exchange_of_roles"), gallery.network("exchange_of_roles_partner")
    assert same_on_cells(one, two) is None
    assert summary(one).refusal.startswith("the network is not generic: (G3) violated")
    assert summary(two).refusal is None
