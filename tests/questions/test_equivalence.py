"""same_function against the oracle's cells, the table, planted symmetries, and the pairs on which others fail."""

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from semialg_fibers import Box, Network, Orthant, Polyhedron, flip, gallery, hidden_hyperplanes, translate
from semialg_fibers.errors import InvalidNetworkError, UndecidedSignError
from semialg_fibers.networks.normal_form import normal_forms
from semialg_fibers.questions.equivalence import Different, Same, Undecided, same_function
from semialg_fibers.verify.oracle import same_on_cells

TABLE = json.loads((Path(__file__).parent.parent / "tables" / "networks.json").read_text())["networks"]
ENTRIES = st.sampled_from([0, 0, 0, 1, 1, -1, -1, 2, -2])


def network(data):
    return Network([(layer["weight"], layer["bias"]) for layer in data["layers"]])


@st.composite
def layers(draw, widths):
    made = []
    for inputs, outputs in pairwise(widths):
        weight = draw(st.lists(st.lists(ENTRIES, min_size=inputs, max_size=inputs), min_size=outputs, max_size=outputs))
        if outputs > 1 and draw(st.booleans()):  # repeated rows are the hard case
            weight[-1] = weight[0]
        made.append((weight, draw(st.lists(ENTRIES, min_size=outputs, max_size=outputs))))
    return made


@st.composite
def pairs(draw):
    """Two networks that are equal surprisingly often: one is the other with one thing changed."""
    widths = (draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2)))
    first = draw(layers(widths))
    second = [([list(row) for row in weight], list(bias)) for weight, bias in first]
    change = draw(st.sampled_from(["nothing", "bias", "weight", "turn", "new layers"]))
    layer = draw(st.integers(0, 2))
    if change == "bias":
        second[layer][1][0] += 1
    elif change == "weight":
        second[layer][0][0][0] += 1
    elif change == "turn":
        second[0][0][0] = [-value for value in second[0][0][0]]
        second[0][1][0] *= -1
    elif change == "new layers":
        second = [second[0], *draw(layers(widths))[1:]]
    return Network(first), Network(second)


@given(pairs())
@settings(max_examples=250)
def test_all_methods_agree_with_the_oracle(pair):
    truth = same_on_cells(*pair) is None
    auto, exact, canonical = (same_function(*pair, method=name) for name in ("auto", "exact", "canonical"))
    assert auto.same is truth
    assert exact.same is truth
    assert canonical.same in (truth, None)
    assert all(answer.check() for answer in (auto, exact, canonical) if answer.same is not None)


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case["name"])
def test_every_partner_of_the_table(case):
    net = network(case)
    for data in case["equivalent"]:
        answer = same_function(net, network(data), method="canonical")
        assert isinstance(answer, Same)
        assert answer.check()
    for data in case["inequivalent"]:
        partner = network(data)
        answer = same_function(net, partner, method="canonical")
        assert isinstance(answer, Different)
        assert answer.check()
        assert answer.values == (net(answer.witness), partner(answer.witness))


@given(st.integers(0, 30), st.fractions(Fraction(1, 5), 5))
def test_planted_symmetries_come_with_their_matching(t, factor):
    net = gallery.network("hidden_2_2_2_1")
    other = flip(translate(net, 0, t), [1]).permuted(1, [1, 0]).permuted(2, [1, 0]).rescaled(1, [factor, 1])
    answer = same_function(net, other)
    assert isinstance(answer, Same)
    assert answer.check()
    matching = answer.matching
    assert matching is not None
    assert (matching.first, matching.first_flips) == (((0, 1), (1, 0)), (1,))
    assert matching.second == ((0, 1), (1, 0))
    assert matching.translation == t
    assert any("translated" in line for line in matching.sentences())


def minimum():
    """min(1, x⁺, y⁺) three times (beyond §2.3): the normals that remain are dependent."""
    return [
        Network([([[1, 0], [0, -1]], [0, 1]), ([[0, -1], [-1, -1]], [1, 1]), ([[1, -1]], [0])]),
        Network([([[0, 1], [-1, 0]], [0, 1]), ([[0, -1], [-1, -1]], [1, 1]), ([[1, -1]], [0])]),
        Network([([[1, 0], [1, -1]], [0, 0]), ([[1, -1], [1, -1]], [0, -1]), ([[1, -1]], [0])]),
    ]


def test_dependent_normals_are_undecided_by_polynomial_methods_and_decided_by_cells():
    a, b, c = minimum()
    for left, right in [(a, b), (a, c), (b, c)]:
        answer = same_function(left, right, method="canonical")
        assert isinstance(answer, Undecided)
        assert "cells" in answer.reason
        assert not answer.check()
        with pytest.raises(UndecidedSignError):
            bool(answer)
        found = same_function(left, right)
        assert isinstance(found, Same)
        assert found.certificate.kind == "cells"
        assert found.check()


def test_the_exchange_of_roles_is_decided_without_cells():
    """Theory §5: one function, second-layer hyperplanes of one are first-layer ones of the other (not generic)."""
    a, b = gallery.network("exchange_of_roles"), gallery.network("exchange_of_roles_partner")
    answer = same_function(a, b, method="canonical")
    assert isinstance(answer, Same)
    assert answer.certificate.kind == "sign patterns"
    assert answer.check()


def test_equal_on_the_box_and_different_on_the_plane():
    """Theory §2.7: relu(x1+2) − relu(x2+2) and relu(x1+x2+4) − 2 relu(x2+2)."""
    first, second = (
        [([[1, 0], [0, 1]], [2, 2]), ([[1, -1]], [0])],
        [([[1, 1], [0, 1]], [4, 2]), ([[1, -2]], [0])],
    )
    box = Box([-1, -1], [1, 1])
    on_box = same_function(Network(first, box), Network(second, box), method="canonical")
    assert isinstance(on_box, Same)
    assert on_box.check()
    assert Network(first)([-3, 0]) != Network(second)([-3, 0])
    assert same_function(Network(first), Network(second)).same is False


TRIANGLE = Polyhedron([[-1, 0], [0, -1], [1, 1]], [1, 1, 1])
STRIP = Polyhedron([[1, 1], [-1, -1]], [1, 1])  # no vertex
WEDGE = Polyhedron([[-1, 1], [-1, -1]], [0, 1])  # unbounded, one vertex


def test_equal_on_a_triangle_and_different_beside_it():
    """The pair of theory §2.7 on the half of its box where it is equal too, and on a triangle that reaches beyond."""
    first, second = (
        [([[1, 0], [0, 1]], [2, 2]), ([[1, -1]], [0])],
        [([[1, 1], [0, 1]], [4, 2]), ([[1, -2]], [0])],
    )
    inside = Polyhedron([[-1, 0], [0, -1], [1, 1]], [1, 1, 0])
    answer = same_function(Network(first, inside), Network(second, inside), method="canonical")
    assert isinstance(answer, Same)
    assert answer.certificate.kind == "arrangement"
    assert answer.check()
    beyond = Polyhedron([[-1, 0], [0, -1], [1, 1]], [4, 1, 0])
    other = same_function(Network(first, beyond), Network(second, beyond), method="canonical")
    assert isinstance(other, Different)
    assert other.check()
    assert beyond.contains(other.witness)


@pytest.mark.parametrize("domain", [None, Orthant(2), Box([0, 0], [1, 2]), TRIANGLE, STRIP, WEDGE])
@given(data=st.data())
@settings(max_examples=40)
def test_one_hidden_layer_is_decided_for_all_parameters(domain, data):
    first = data.draw(layers((2, data.draw(st.integers(1, 3)), 1)))
    second = data.draw(layers((2, data.draw(st.integers(1, 3)), 1)))
    # z = relu(z) − relu(−z): an affine map spread over two neurons, so that equal pairs occur
    split = [
        (first[0][0] + [[1, 1], [-1, -1]], first[0][1] + [1, -1]),
        ([[*first[1][0][0], 2, -2]], [first[1][1][0]]),
    ]
    plain = [
        (first[0][0] + [[1, 1], [-1, -1]], first[0][1] + [1, -1]),
        ([[*first[1][0][0], 1, -3]], [first[1][1][0]]),
    ]
    for other in (second, split, plain):
        a, b = Network(first, domain), Network(other, domain)
        answer = same_function(a, b, method="canonical")
        assert answer.same is (same_on_cells(a, b) is None)
        assert answer.check()
    assert same_function(Network(split, domain), Network(plain, domain)).same is (
        same_on_cells(Network(split, domain), Network(plain, domain)) is None
    )


@given(layers((1, 3, 2, 2, 1)), layers((1, 2, 2, 1)))
@settings(max_examples=40)
@example(
    [([[0]] * 3, [0] * 3), ([[0] * 3] * 2, [0] * 2), ([[0] * 2] * 2, [0] * 2), ([[0] * 2], [3])],
    [([[0]] * 2, [0] * 2), ([[0] * 2] * 2, [0] * 2), ([[0] * 2], [3])],
)  # one constant, different depths
def test_functions_of_one_variable_of_any_depth_are_decided_by_polynomial_methods(first, second):
    a, b = Network(first), Network(second)
    answer = same_function(a, b, method="canonical")
    assert answer.same is (same_on_cells(a, b) is None)
    assert answer.check()


@given(layers((2, 2, 2, 2, 1)), st.integers(1, 3))
@settings(max_examples=30)
def test_deep_networks_are_decided_by_cells(first, factor):
    net = Network(first)
    moved = net.permuted(2, [1, 0]).rescaled(3, [factor, 1])
    assert same_function(net, moved, method="exact").same is True
    assert same_function(net, moved).same is True
    deeper = Network([*net.layers, ([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    # the identity as two neurons: the last layer becomes hidden, its positive and negative parts are put together again
    spread = Network(
        [
            *net.layers[:-1],
            (
                net.layers[-1].matrix.stacked(-net.layers[-1].matrix),
                [*net.layers[-1].offset, *(-value for value in net.layers[-1].offset)],
            ),
            ([[1, -1]], [0]),
        ]
    )
    assert same_function(net, spread).same is True
    assert same_function(net, deeper).same is (same_on_cells(net, deeper) is None)


def test_a_dead_unit_may_be_anything():
    net = gallery.network("dead_2_2_2_1")
    first, second, third = net.layers
    other = Network([first, ([second.matrix.row(0), [-7, -1]], [second.offset[0], "-1/3"]), ([[1, 9]], third.offset)])
    answer = same_function(net, other, method="canonical")
    assert isinstance(answer, Same)
    assert answer.check()


def test_hidden_in_one_and_not_in_the_other_is_different():
    a, b = gallery.network("hidden_2_2_2_1"), gallery.network("visible_2_2_2_1")
    assert hidden_hyperplanes(a) != hidden_hyperplanes(b)
    assert same_function(a, b).same is False


@pytest.mark.parametrize(
    ("a", "b", "method", "words"),
    [
        (Network([([[1]], [0])]), Network([([[1, 1]], [0])]), "auto", "different shapes"),
        (Network([([[1]], [0])]), Network([([[1], [1]], [0, 0])]), "auto", "different shapes"),
        (Network([([[1]], [0])]), Network([([[1]], [0])], Orthant(1)), "auto", "different domains"),
        (Network([([[1]], [0])]), Network([([[1]], [0])]), "guess", "unknown method"),
        (Network([([[1]], [0])]), 5, "auto", "expected a Network, got the int 5"),
        ("net.json", Network([([[1]], [0])]), "auto", "expected a Network, got the str"),
    ],
)
def test_what_cannot_be_compared_is_refused(a, b, method, words):
    with pytest.raises(InvalidNetworkError, match=words):
        same_function(a, b, method)


def test_the_budget_of_cells_is_kept_and_said():
    a, b, _ = minimum()
    answer = same_function(a, b, budget=3)
    assert isinstance(answer, Undecided)
    assert "3 cells" in answer.reason


def test_the_budget_of_seconds_is_kept_and_said():
    a, b, _ = minimum()
    answer = same_function(a, b, seconds=0)
    assert isinstance(answer, Undecided)
    assert "0 seconds" in answer.reason


@given(pairs())
@settings(max_examples=150)
def test_equal_normal_forms_are_equal_functions(pair):
    a, b = pair
    agree = any((left.minus(right)).is_zero for left in normal_forms(a) for right in normal_forms(b))
    assume(agree)
    assert same_on_cells(a, b) is None
