"""The oracle against hand proofs, elimination, sampling, and the table of networks with known partners."""

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.scalar import ONE, ZERO, affine_value, vector
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.verify.oracle import JacobianRank, jacobian_rank, oracle_cells, same_on_cells, strict_point

TABLE = json.loads((Path(__file__).parents[1] / "tables" / "networks.json").read_text())["networks"]


def network(record):
    return Network([(layer["weight"], layer["bias"]) for layer in record["layers"]])


@st.composite
def networks(draw, domain=None):
    dimension = domain.dimension if domain else draw(st.integers(1, 3))
    hidden = draw(st.lists(st.integers(1, 3), max_size=3))
    widths = [dimension, *hidden, 1]
    entry = st.integers(-2, 2) | st.just("1/3")
    chain = []
    for inputs, outputs in pairwise(widths):
        row = st.lists(entry, min_size=inputs + 1, max_size=inputs + 1)
        rows = draw(st.lists(row, min_size=outputs, max_size=outputs))
        chain.append(Layer([each[:-1] for each in rows], [each[-1] for each in rows]))
    box = Box([-1] * dimension, [2] * dimension)
    return Network(chain, domain or draw(st.sampled_from([Space(dimension), Orthant(dimension), box])))


def pattern_at(net, point):
    """The pattern at a point; None where a preactivation is zero."""
    x, pattern = point, []
    for layer in net.layers[:-1]:
        values = layer.apply(x)
        if not all(values):
            return None
        pattern.append(tuple(int(value > 0) for value in values))
        x = tuple(max(value, ZERO) for value in values)
    return tuple(pattern)


def feasible_by_elimination(forms, dimension):
    """Fourier–Motzkin: {w·x + γ > 0} is not empty iff what is left without the last variable is not."""
    if dimension == 0:
        return all(form[-1] > 0 for form in forms)
    last = dimension - 1
    free = [form for form in forms if form[last] == 0]
    ups = [form for form in forms if form[last] > 0]
    downs = [form for form in forms if form[last] < 0]
    for up in ups:
        free += [[a * up[last] - b * down[last] for a, b in zip(down, up, strict=True)] for down in downs]
    return feasible_by_elimination([[*form[:last], form[-1]] for form in free], last)


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 3), st.data())
def test_strict_systems_are_solved_exactly_when_elimination_says_so(dimension, data):
    row = st.lists(st.integers(-3, 3), min_size=dimension + 1, max_size=dimension + 1)
    forms = data.draw(st.lists(row, max_size=6))
    start = vector(data.draw(st.lists(st.integers(-5, 5), min_size=dimension, max_size=dimension)))
    found = strict_point([vector(form) for form in forms], start)
    assert (found is not None) == feasible_by_elimination([[Fraction(v) for v in form] for form in forms], dimension)
    assert found is None or all(affine_value(vector(form), found) > 0 for form in forms)


@settings(max_examples=100, deadline=None)
@given(networks())
def test_a_cell_has_its_pattern_and_its_affine_map_at_its_point(net):
    seen = set()
    for pattern, point, matrix, offset in oracle_cells(net):
        assert pattern not in seen
        seen.add(pattern)
        assert net.domain.contains(point)
        assert pattern_at(net, point) in (pattern, None)
        assert net.value(point) == tuple(a + b for a, b in zip(matrix.times(point), offset, strict=True))


@settings(max_examples=150, deadline=None)
@given(networks(), st.data())
def test_no_cell_is_missing_where_a_random_point_falls(net, data):
    coordinate = st.fractions(min_value=-1, max_value=2, max_denominator=50)
    point = vector(data.draw(st.lists(coordinate, min_size=net.widths[0], max_size=net.widths[0])))
    assume(net.domain.contains(point))
    pattern = pattern_at(net, point)
    assume(pattern is not None)
    assert pattern in {cell.pattern for cell in oracle_cells(net)}


@settings(max_examples=80, deadline=None)
@given(networks(), st.data())
def test_symmetries_and_added_layers_keep_the_function_and_a_new_bias_does_not(net, data):
    moved = net
    for layer in range(1, len(net.layers)):
        moved = moved.permuted(layer, data.draw(st.permutations(range(net.widths[layer]))))
        factor = st.fractions(min_value="1/5", max_value=5, max_denominator=5)
        moved = moved.rescaled(layer, [data.draw(factor) for _ in range(net.widths[layer])])
    last = moved.layers[-1]
    doubled = Layer(last.matrix.stacked(-last.matrix), [*last.offset, *(-value for value in last.offset)])
    deeper = moved.with_layers([*moved.layers[:-1], doubled, Layer([[1, -1]], [0])])  # z = relu(z) − relu(−z)
    assert same_on_cells(net, moved) is None
    assert same_on_cells(net, deeper) is None
    shifted = deeper.with_layers([*deeper.layers[:-1], Layer([[1, -1]], ["1/7"])])
    witness = same_on_cells(net, shifted)
    assert net.value(witness) != shifted.value(witness)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_point_where_two_networks_differ_is_never_denied(data):
    domain = data.draw(st.sampled_from([Space(1), Space(2), Orthant(2), Box([0, -1], [1, 1])]))
    a, b = data.draw(networks(domain)), data.draw(networks(domain))
    coordinate = st.fractions(min_value=-3, max_value=3, max_denominator=20)
    point = vector(data.draw(st.lists(coordinate, min_size=domain.dimension, max_size=domain.dimension)))
    assume(domain.contains(point))
    witness = same_on_cells(a, b)
    assert a.value(point) == b.value(point) or witness is not None
    assert witness is None or (domain.contains(witness) and a.value(witness) != b.value(witness))


@pytest.mark.parametrize(
    ("domain", "same"),
    [(Box([-1, -1], [1, 1]), True), (Orthant(2), True), (Space(2), False), (Box([-3, -1], [1, 1]), False)],
)
def test_functions_equal_on_a_box_may_differ_outside(domain, same):
    """Theory §2.7: relu(x1+2) − relu(x2+2) and relu(x1+x2+4) − 2 relu(x2+2), which differ at (−3, 0)."""
    a = Network([([[1, 0], [0, 1]], [2, 2]), ([[1, -1]], [0])], domain)
    b = Network([([[1, 1], [0, 1]], [4, 2]), ([[1, -2]], [0])], domain)
    assert (same_on_cells(a, b) is None) == same


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(
            [([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, -2]], [-1, -1]), ([[1, -1]], [0])],
            [([[1, -1], [1, -2]], [1, -1]), ([[1, -1], [-1, -1]], [-2, -1]), ([[1, 5]], [0])],
            id="theory §5 (G3)",
        ),
        pytest.param(
            [([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [-1, -1]], [-2, 1]), ([[1, 1]], [0])],
            [([[1, 0], [0, 1]], [0, 0]), ([[-1, -1], [1, 1]], [2, -1]), ([[1, 1]], [-1])],
            id="theory §3.4, M_S = 0",
        ),
        pytest.param(
            [([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [-1, -1]], [-1, -1]), ([[1, 3]], [0])],
            [([[1, 0], [0, 1]], [0, 0]), ([[-1, -1], [1, 1]], [1, 2]), ([[1, 1]], [-3])],
            id="theory §3.4, without a generic member",
        ),
        pytest.param(
            [([[1]], [0]), ([[-1]], [2]), ([[1]], [0])],
            [([[-1]], [2]), ([[-1]], [2]), ([[-1]], [2])],
            id="theory §3.5, constant on both sides",
        ),
    ],
)
def test_the_pairs_that_the_theory_calls_equal_are_equal(first, second):
    a, b = Network(first), Network(second)
    assert same_on_cells(a, b) is None
    *before, (weight, bias) = second
    assert same_on_cells(a, Network([*before, (weight, [bias[0] + ONE])])) is not None


@pytest.mark.parametrize("record", TABLE, ids=lambda record: record["name"])
def test_the_table_of_partners(record):
    """tests/tables/networks.json says in `made_by` how each entry was found."""
    net = network(record)
    assert jacobian_rank(net) == JacobianRank(record["expected"]["functional_dimension"], 0)
    for partner in record["equivalent"]:
        assert same_on_cells(net, network(partner)) is None
    for partner in record["inequivalent"]:
        other = network(partner)
        assert same_on_cells(net, other) is not None
        witness = vector(partner["witness"])
        assert net.value(witness) == vector(partner["value"])
        assert other.value(witness) == vector(partner["value_partner"])


def test_networks_that_cannot_be_compared_are_refused():
    net = Network([([[1]], [0])])
    for other in (Network([([[1]], [0])], Orthant(1)), Network([([[1], [1]], [0, 0])])):
        with pytest.raises(InvalidNetworkError, match="equality needs"):
            same_on_cells(net, other)


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        pytest.param([([[1], [1]], [-1, -1]), ([[2, 3]], [0])], JacobianRank(3, 0), id="theory §9: 7 − 3 = 4"),
        pytest.param([([[2, 1]], [5])], JacobianRank(3, 0), id="affine"),
        pytest.param([([[1]], [0]), ([[0]], [3])], JacobianRank(2, 0), id="outgoing weight zero: relu(x) and 1"),
        pytest.param([([[1]], [0]), ([[1]], [0]), ([[1]], [0])], JacobianRank(2, 1), id="one side vanishes"),
        pytest.param([([[0]], [0]), ([[1]], [0])], JacobianRank(0, 1), id="vanishes everywhere"),
        pytest.param([([[0]], [0]), ([[1]], [1]), ([[1]], [0])], JacobianRank(0, 1), id="vanishes before a layer"),
    ],
)
def test_jacobian_ranks_worked_out_by_hand(layers, expected):
    assert jacobian_rank(Network(layers)) == expected
