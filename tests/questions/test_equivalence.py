"""same_function against the oracle's cells, the table, planted symmetries, and the pairs on which others fail."""

import json
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path

import pytest
import sympy
from flint import fmpq
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from semialg_fibers import Box, Network, Orthant, Polyhedron, flip, gallery, hidden_hyperplanes, translate
from semialg_fibers.errors import InvalidNetworkError, UndecidedSignError, UnsupportedError
from semialg_fibers.geometry.domain import Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import affine_value, vector
from semialg_fibers.networks.arrangement import arrangement
from semialg_fibers.networks.cells import common_cells
from semialg_fibers.networks.normal_form import normal_forms
from semialg_fibers.questions import equivalence
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


# what an answer says, and by which way it came


def absolute(slope, domain=None):
    """|slope · x|, on the line or a domain of one dimension."""
    return Network([([[slope], [-slope]], [0, 0]), ([[1, 1]], [0])], domain)


def kept(net):
    return net.permuted(1, [1, 0]).rescaled(1, [2, 3])


CROSS = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, -1]], [-1, 0]), ([[1, 2]], [0])])
DEEP = Network([([[1, 0], [0, 1]], [0, 1]), ([[1, 1], [1, 0]], [0, 0]), ([[1, 1]], [0]), ([[1]], [0])])
DEEPER = Network([*DEEP.layers[:-1], ([[2]], [0]), ([["1/2"]], [0])])  # a positive factor goes through relu
SPLIT = Network([CROSS.layers[0], ([[1, 1], [1, -1], [3, 3]], [-1, 0, -3]), ([["1/2", 2, "1/6"]], [0])])
UNIT = Box([0, 0], [1, 1])
RIDGE = Network([([[1, 1]], [1]), ([[1], [2]], [0, 0]), ([[1, 1]], [0])], UNIT)  # of one linear form, but on a square
WAYS = [
    (CROSS, kept(CROSS), "relabelling"),
    (absolute(2), Network([([[1], [-1]], [0, 0]), ([[4, 0]], [0])]), None),
    (absolute(1), Network([([[1], [1]], [0, 0]), ([[1, 1]], [0])]), None),
    (absolute(1), Network([([[1], [2], [-1]], [0, 0, 0]), ([["1/3", "1/3", 1]], [0])]), "arrangement"),
    (CROSS, SPLIT, "canonical data"),
    (RIDGE, Network([([[1, 1]], [1]), ([[3]], [0])], UNIT), "cells"),
    (DEEP, DEEPER, "cells"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "kind"), WAYS)
def test_an_answer_names_its_networks_and_its_way_and_is_true_or_false(a, b, kind):
    for left, right in [(a, b), (b, a)]:
        answer = same_function(left, right)
        assert (answer.a, answer.b) == (left, right)
        assert answer.check() is True
        assert bool(answer) is answer.same is (kind is not None)
        assert not isinstance(answer, Same) or answer.certificate.kind == kind


def test_functions_of_one_variable_are_named_so_on_the_line_and_on_an_interval():
    interval = Box([-1], [2])
    for domain in (None, interval):
        deep = Network([([[1], [-1]], [0, 0]), ([[1, 1]], [0]), ([[2]], [0]), ([["1/2"]], [0])], domain)
        answer = same_function(absolute(1, domain), deep, method="canonical")
        assert isinstance(answer, Same)
        assert answer.certificate.kind == "one variable"
        assert answer.check()


def test_an_undecided_answer_names_its_networks_and_claims_nothing():
    a, b, _ = minimum()
    for answer in (same_function(a, b, method="canonical"), same_function(a, b, method="exact", budget=3)):
        assert (answer.a, answer.b, answer.same, answer.check()) == (a, b, None, False)


def test_refusals_say_what_differs():
    line, plane = absolute(1), Network([([[1, 1]], [0])])
    with pytest.raises(InvalidNetworkError) as shapes:
        same_function(line, plane)
    assert str(shapes.value) == "the functions have different shapes: 1 → 1 and 2 → 1"
    with pytest.raises(InvalidNetworkError) as domains:
        same_function(line, absolute(1, Box([0], [1])))
    assert str(domains.value) == f"the functions have different domains: {line.domain} and {Box([0], [1])}"
    with pytest.raises(InvalidNetworkError) as methods:
        same_function(line, line, "guess")
    assert str(methods.value) == "unknown method 'guess'; the methods are auto, canonical, exact"
    assert methods.value.value == "guess"


def test_letters_are_refused_on_either_side():
    a = sympy.Symbol("a", positive=True)
    letters, numbers = Network([([[a]], [0])]), Network([([[1]], [0])])
    for pair in [(letters, numbers), (numbers, letters)]:
        with pytest.raises(UnsupportedError):
            same_function(*pair)


def test_who_watches_is_told_every_64_cells():
    lines = [[1, k] for k in range(-5, 6)]
    net = Network([(lines, [k**3 for k in range(11)]), ([[1] * 11], [0])])
    seen = []
    assert same_function(net, net, "exact", watch=seen.append).same is True
    count = sum(1 for _ in common_cells(net, net, 1000))
    assert seen == list(range(64, count + 1, 64)) != []


# the points at which functions are compared


DOMAINS = [Space(2), Orthant(2), Box([0, 0], [1, 2]), TRIANGLE, STRIP, WEDGE]


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_few_points_lie_in_the_domain_and_the_simplex_is_one(domain):
    few = list(equivalence._few_points(domain))
    assert len(set(few)) > 4
    assert all(domain.contains(point) for point in few)
    centre, *others = equivalence._simplex_points(domain)
    assert all(domain.contains(point) for point in (centre, *others))
    assert Matrix([[x - c for x, c in zip(point, centre, strict=True)] for point in others]).rank() == 2 == len(others)


def test_points_beside_first_layers_lie_close_on_both_sides_at_two_places():
    a = Network([([[0, 0], [1, -2], [3, 0]], [1, 1, -100]), ([[1, 1, 1]], [0])])  # a zero row has no hyperplane
    b = Network([([[0, 5], [7, 7]], [9, "1/3"]), ([[1, 1]], [0])])
    points = list(equivalence._beside_first_layers(a, b))
    assert len(set(points)) == len(points) == 16
    for i, form in enumerate([*a.layers[0].forms[1:], *b.layers[0].forms]):
        values = [affine_value(form, point) for point in points[4 * i : 4 * i + 4]]
        assert values == [fmpq(1, 64), fmpq(-1, 64)] * 2
    inside = [Network(net.layers, UNIT) for net in (a, b)]
    assert all(UNIT.contains(point) for point in equivalence._beside_first_layers(*inside))


@pytest.mark.parametrize(("rows", "count"), [(32, 256), (33, 0)])
def test_points_beside_first_layers_are_for_at_most_64_units(rows, count):
    a, b = (Network([([[1]] * n, list(range(n))), ([[1] * n], [0])]) for n in (32, rows))
    assert len(list(equivalence._beside_first_layers(a, b))) == count


@pytest.mark.parametrize("domain", DOMAINS)
def test_three_points_around_a_hyperplane_meet_no_other_between_them(domain):
    """On the hyperplane, then two beside it at equal distances: their second difference is the jump there."""
    planes = [(1, 2, -1), (0, 3, -1), (5, 1, -1), (2, -2, -1)]
    for plane in planes:
        points = equivalence._around(domain, plane, planes)
        for _ in range(3):
            on, first, second = islice(points, 3)
            assert all(domain.contains(point) for point in (on, first, second))
            at = [[affine_value(vector(other), point) for point in (on, first, second)] for other in planes]
            values = at[planes.index(plane)]
            assert values[0] == 0 < values[1]
            assert values[2] < 0
            for other in at:
                assert other[0] == 0 or min(value * other[0] for value in other[1:]) > 0 or other is values


def test_points_of_a_cell_tell_affine_maps_apart():
    net = Network([([[1, 0], [0, 3], [1, 1]], [0, -1, -2]), ([[1, 1, 1]], [0])])
    for cell, _ in common_cells(net, net, 100):
        centre, *others = equivalence._points_of(cell)
        assert centre == cell.interior
        assert all(cell.contains(point) for point in others)
        moved = [[x - c for x, c in zip(point, centre, strict=True)] for point in others]
        assert [[bool(x) for x in row] for row in moved] == [[True, False], [False, True]]
        assert all(x >= 0 for row in moved for x in row)


@given(layers((2, 3, 1)), layers((2, 3, 1)))
@settings(max_examples=60)
def test_arrangements_alone_decide_one_hidden_layer(first, second):
    """Where the few points have not yet shown the difference."""
    for domain in (None, UNIT):
        a, b = Network(first, domain), Network(second, domain)
        answer = equivalence._by_arrangement(a, b)
        assert answer.check()
        assert (answer.same, answer.a, answer.b) == (same_on_cells(a, b) is None, a, b)
        assert answer.same is (arrangement(a) == arrangement(b))
