"""What the gallery says of its networks, certified by the oracle, by hand and by the theory's own formulas."""

import re
from fractions import Fraction
from itertools import combinations

import pytest
from reference import columns_of, fractions, hidden_columns, kind, kinds, layer_rows, rank

from semialg_fibers import gallery
from semialg_fibers.errors import InvalidNetworkError, NotGenericError, UnsupportedError
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.genericity import genericity, is_bottleneck
from semialg_fibers.fibers.hiding import hidden_hyperplanes, hiding
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import neuron_types
from semialg_fibers.questions.dimension import functional_dimension
from semialg_fibers.questions.identifiability import identifiability
from semialg_fibers.verify.oracle import jacobian_rank, oracle_cells, same_on_cells

OUTSIDE = {"rank_deficient_2_2_1_1", "wide_2_3_2_1", "deep_2_2_2_2_1", "non_local_2_2_2_2_1"}
NOT_GENERIC = {"exchange_of_roles": ("G3",), "not_generic_g4": ("G4",), "rank_deficient_2_2_1_1": ("G1",)}
WITH_FIBER = [name for name in gallery.names() if name not in OUTSIDE | set(NOT_GENERIC)]
every_network = pytest.mark.parametrize("name", gallery.names())
every_fiber = pytest.mark.parametrize("name", WITH_FIBER)


def signs_seen(net, layer):
    """For each unit of a hidden layer the signs that its preactivation takes on the oracle's cells, 0 left out."""
    seen = [set() for _ in range(net.widths[layer])]
    part = net.part(1, layer)
    for cell in oracle_cells(net):
        for unit, value in enumerate(part.value(cell.point)):
            if value:
                seen[unit].add(1 if value > 0 else -1)
    return seen


def kernel(net):
    found = jacobian_rank(net)
    assert found.skipped == 0
    return net.parameter_count - found.rank


@every_network
def test_the_name_ends_with_the_widths(name):
    net = gallery.network(name)
    widths = re.search(r"(?:_\d+)+$", name)
    assert widths is None or tuple(map(int, re.findall(r"\d+", widths[0]))) == net.widths
    assert gallery.network(name) == net
    domain = {"one_layer_orthant_2_3_1": Orthant, "one_layer_box_2_2_1": Box}.get(name, Space)
    assert isinstance(net.domain, domain)


@every_network
def test_types_are_the_signs_that_the_oracle_sees(name):
    net = gallery.network(name)
    for layer in range(1, len(net.layers)):
        word = {frozenset(): "dead", frozenset({-1}): "dead", frozenset({1}): "linear", frozenset({1, -1}): "nonlinear"}
        assert list(neuron_types(net, layer)) == [word[frozenset(seen)] for seen in signs_seen(net, layer)]


@every_fiber
def test_the_dimension_is_parameters_minus_the_oracles_rank(name):
    net = gallery.network(name)
    assert fiber(net).local_dimension == kernel(net)
    assert functional_dimension(net) == jacobian_rank(net).rank


@every_fiber
def test_every_component_has_members_with_the_same_function(name):
    net = gallery.network(name)
    found = fiber(net)
    assert found.complete is True
    assert found.components[0].contains(net)
    for component in found.components:
        for seed in range(3):
            member = component.sample(seed)
            assert same_on_cells(net, member) is None
            assert [other.contains(member) for other in found.components] == [
                other is component for other in found.components
            ]


@every_network
def test_outside_the_theorem_fiber_says_which_hypothesis_fails(name):
    net = gallery.network(name)
    if name in NOT_GENERIC:
        with pytest.raises(NotGenericError) as caught:
            fiber(net)
        assert caught.value.report.violated == NOT_GENERIC[name]
        assert f"({NOT_GENERIC[name][0]})" in gallery.about(name)
    elif name in OUTSIDE:
        with pytest.raises(UnsupportedError):
            fiber(net)
        assert gallery.about(name).startswith(
            ("outside the theorem: ", "its pieces are identifiable, the whole is not")
        )
    else:
        assert genericity(net).is_generic is True
        assert "outside" not in gallery.about(name)


@every_network
def test_the_words_dead_linear_hidden_identifiable_are_true(name):
    net, about = gallery.network(name), gallery.about(name)
    verdict = identifiability(net)
    if about.startswith("identifiable: "):
        assert verdict.is_identifiable is True
        assert kernel(net) == sum(net.widths[1:-1])
        assert fiber(net).component_count == 1
    else:
        assert verdict.is_identifiable is not True
    if len(net.layers) != 3 or not is_bottleneck(net) or name in OUTSIDE:
        return
    names = kinds(net)
    for word, number in (("one linear row", 1), ("two linear rows", 2)):
        assert (word in about) == (names.count("linear") == number and name != "not_generic_g4")
    if "dead" in about and "every second-layer row dead" not in about and "no dead" not in about:
        assert names.count("dead") == 1
    assert (set(names) == {"dead"}) == ("every second-layer row dead" in about)
    assert list(hidden_hyperplanes(net)) == hidden_columns(net)
    if "hyperplane 1 is hidden" in about:
        assert hidden_columns(net) == [0]
        assert names.count("nonlinear") == {"two": 2, "one": 1}.get(re.search(r"hidden, (\w+)", about)[1], 2)
        assert ("a flip" in about) <= (hiding(net).flippable == (1,))
        assert ("no flip" in about) <= (hiding(net).flippable == ())


@every_network
def test_every_section_named_exists(name):
    sections = re.findall(r"§([0-9.]+)", gallery.about(name))
    assert set(sections) <= {"2.3", "2.5", "2.7", "3.2", "3.3", "3.4", "3.5", "5", "6"}
    assert sections or name in OUTSIDE


def test_an_unknown_name_is_refused_with_the_known_ones():
    for ask in (gallery.network, gallery.about):
        with pytest.raises(InvalidNetworkError, match="no network 'absent'; it has visible_2_2_2_1") as caught:
            ask("absent")
        assert caught.value.value == "absent"


# the claims of single networks


def bottleneck(a1, b1, a2, b2, a3, b3):
    return Network([(a1, b1), (a2, b2), (a3, b3)])


IDENTITY = [[1, 0], [0, 1]]


def products(net, sides):
    """Σ_(l∈S) C_l B_l over rows of the second layer."""
    forms, outgoing = layer_rows(net.layers[-2]), columns_of(net.layers[-1])
    size = net.layers[-2].inputs
    return [
        [sum((outgoing[j][a] * forms[j][i] for j in sides), Fraction(0)) for i in range(size)]
        for a in range(net.widths[-1])
    ]


def test_visible_no_choice_of_sides_cancels():
    net = gallery.network("visible_2_2_2_1")
    for sides in ((0,), (1,), (0, 1)):
        assert rank(products(net, sides)) == 1


@pytest.mark.parametrize(("name", "count"), [("linear_2_2_2_1", 2), ("one_layer_orthant_2_3_1", 2)])
def test_the_number_of_choices_of_sides(name, count):
    """One spare neuron, m = 1: S is feasible iff the row M_S has no two entries of opposite signs (theory §2.4)."""
    net = gallery.network(name)
    names = neuron_types(net)
    linear = tuple(j for j, kind in enumerate(names) if kind == "linear")
    assert len(linear) == 1
    bent = [j for j, kind in enumerate(names) if kind == "nonlinear"]
    feasible = []
    for size in range(len(bent) + 1):
        for sides in combinations(bent, size):
            (row,) = products(net, (*sides, *linear))
            if all(value >= 0 for value in row) or all(value <= 0 for value in row):
                feasible.append(sides)
    found = fiber(net)
    assert [component.flips for component in found.components] == feasible
    assert found.component_count == len(feasible) == count
    words = {1: "two choices of sides, both feasible", 2: "two of the four choices of sides are feasible"}
    assert words[len(bent)] in gallery.about(name)


def test_two_linear_rows_mix_while_their_product_stays():
    """C' = C G⁻¹, B' = G B ≥ 0 for an invertible G."""
    net = gallery.network("two_linear_2_2_3_2")
    (a1, a2, a3) = net.layers
    rows, columns = layer_rows(a2), columns_of(a3)
    mixed = [rows[0], rows[1], [x + y for x, y in zip(rows[1], rows[2], strict=True)]]  # row 3 gains row 2
    outgoing = [columns[0], [x - y for x, y in zip(columns[1], columns[2], strict=True)], columns[2]]
    other = Network(
        [
            a1,
            ([r[:-1] for r in mixed], [r[-1] for r in mixed]),
            (list(zip(*outgoing, strict=True)), fractions(a3.offset)),
        ]
    )
    assert other != net
    assert same_on_cells(net, other) is None
    assert fiber(net).components[0].contains(other)


def test_dead_row_is_free():
    net = gallery.network("dead_2_2_2_1")
    a1, a2, a3 = net.layers
    rows, (out,) = layer_rows(a2), a3.matrix.rows()
    other = Network([a1, ([rows[0][:-1], [-7, "-1/3"]], [rows[0][-1], 0]), ([[out[0], 11]], a3.offset)])
    assert same_on_cells(net, other) is None
    assert fiber(net).components[0].contains(other)


def test_hidden_translation_and_flip_by_hand():
    """u1 = x1 + 1, u2 = x1 + x2; flip: u2 → −u2, u1 → u1 − u2 / 2; translation by t = 3."""
    net = gallery.network("hidden_2_2_2_1")
    flip = bottleneck([["1/2", "-1/2"], [-1, -1]], [1, 0], [[2, -1], [4, -2]], [-3, -2], [[1, -2]], [1])
    moved = bottleneck([[1, 0], [1, 1]], [4, 0], [[2, -1], [4, -2]], [-9, -14], [[1, -2]], [1])
    found = fiber(net)
    assert found.component_count == 2
    for other, index in ((flip, 1), (moved, 0)):
        assert same_on_cells(net, other) is None
        assert found.locate(other) == found.components[index]
    beyond = bottleneck([[1, 0], [1, 1]], ["1/4", 0], [[2, -1], [4, -2]], ["-3/2", 1], [[1, -2]], [1])  # t = −3/4
    assert same_on_cells(net, beyond) is not None


def test_hidden_without_flip_the_flip_by_either_ratio_changes_the_function():
    net = gallery.network("hidden_without_flip_2_2_2_1")
    assert fiber(net).component_count == 1
    for ratio in ("-1/2", "-2/3"):
        shift = Fraction(ratio)
        first = [[1 + shift, shift], [-1, -1]]
        other = bottleneck(first, [1, 0], [[2, -1], [3, -2]], [-3, -2], [[1, -2]], [1])
        assert same_on_cells(net, other) is not None


def test_flips_of_both_other_columns_give_four_components():
    net = gallery.network("flips_3_3_1_1")
    found = fiber(net)
    assert [component.flips for component in found.components] == [(), (1,), (2,), (1, 2)]
    for flips in found.components:
        rows = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        for k, ratio in ((1, -1), (2, -2)):
            if k in flips.flips:
                rows[0][k], rows[k][k] = ratio, -1
        other = Network([(rows, [0, 0, 0]), ([[1, -1, -2]], [-1]), ([[1]], [0])])
        assert same_on_cells(net, other) is None
        assert flips.contains(other)


def test_constant():
    net = gallery.network("constant_2_2_2_1")
    assert {tuple(net.value(cell.point)) for cell in oracle_cells(net)} == {(5,)}
    assert kernel(net) == net.parameter_count - 1 == fiber(net).dimension


def test_side_without_generic_member_contains_the_member_of_the_theory():
    """Theory §3.4: the flip of row 1."""
    net = gallery.network("side_without_generic_member")
    member = bottleneck(IDENTITY, [0, 0], [[-1, -1], [1, 1]], [1, 2], [[1, 1]], [-3])
    assert same_on_cells(net, member) is None
    found = fiber(net)
    assert [component.flips for component in found.components] == [(), (0,)]
    assert found.components[1].contains(member)
    assert not found.components[0].contains(member)
    for seed in range(20):
        sample = found.components[1].sample(seed)
        assert genericity(sample).is_generic is False  # "all of whose members are not generic"
    assert genericity(member).is_generic is False


def test_cancelling_sides_contains_the_second_parameter_of_the_theory():
    net = gallery.network("cancelling_sides")
    second = bottleneck(IDENTITY, [0, 0], [[-1, -1], [1, 1]], [2, -1], [[1, 1]], [-1])
    assert not any(map(any, products(net, (0, 1))))
    assert same_on_cells(net, second) is None
    found = fiber(net)
    assert [component.flips for component in found.components] == [(), (0, 1)]
    assert [component.contains(second) for component in found.components] == [False, True]


def test_line_the_reflection_is_the_second_component():
    """u → 2 − u with A3 → −A3, b3 → b3 + 2 A3."""
    net = gallery.network("line_1_1_1_1")
    other = Network([([[-1]], [2]), ([[-1]], [2]), ([[-1]], [2])])
    assert same_on_cells(net, other) is None
    found = fiber(net)
    assert found.component_count == 2
    assert [component.contains(other) for component in found.components] == [False, True]
    values = {str(cell.matrix) for cell in oracle_cells(net)}
    assert len(values) == 2  # slope 0 on both outer sides, −1 between
    ends = [net([x]) for x in (-100, -50, 50, 100)]
    assert ends == [(2,), (2,), (0,), (0,)]


def test_line_hidden_the_own_breakpoint_lies_before_those_of_the_second_layer():
    net = gallery.network("line_hidden_1_1_2_1")
    for move in ("-1/2", 3):
        t = Fraction(move)
        other = Network([([[1]], [t]), ([[1], [2]], [-1 - t, -4 - 2 * t]), ([[1, -2]], [0])])
        assert same_on_cells(net, other) is None
        assert fiber(net).components[0].contains(other)
    slopes = [cell.matrix for cell in oracle_cells(net) if cell.point[0] < 1]
    assert {str(slope) for slope in slopes} == {str(slopes[0])}  # no bend at 0, where the first layer's is


def test_exchange_of_roles_and_its_partner_are_one_function():
    one, two = gallery.network("exchange_of_roles"), gallery.network("exchange_of_roles_partner")
    assert same_on_cells(one, two) is None
    assert genericity(two).is_generic is True
    assert not fiber(two).contains(one)  # not generic, and its first layer is another one
    assert layer_rows(one.layers[0]) != layer_rows(two.layers[0])
    for x in range(-4, 5):
        for y in range(-4, 5):
            assert one([x, y]) == (max(min(x - y - 1, y), 0),)


def test_not_generic_g4_the_rows_cancel_on_both_hyperplanes():
    net = gallery.network("not_generic_g4")
    assert products(net, (0, 1)) == [[0, 0]]
    report = genericity(net)
    assert report.violated == ("G4",)
    (condition,) = [each for each in report.conditions if each.name == "G4"]
    column, rows, at = condition.witness[1], condition.witness[3], condition.witness[5]
    assert at[column] == 0
    assert all(value >= 0 for value in at)
    active = [
        j for j, form in enumerate(net.layers[1].forms) if sum(w * h for w, h in zip(form, (*at, 1), strict=True)) > 0
    ]
    assert tuple(active) == tuple(rows) == (0, 1)


@pytest.mark.parametrize(
    ("name", "dimensions", "hidden_units"),
    [("non_local_2_2_1_1", (2, 1, 4), 3), ("non_local_2_2_2_1", (2, 2, 5), 4)],
)
def test_non_local_the_pieces_are_identifiable_and_the_whole_is_not(name, dimensions, hidden_units):
    net = gallery.network(name)
    pieces = net.part(1, 2), net.part(2, 3)
    assert (fiber(pieces[0]).dimension, fiber(pieces[1]).dimension, fiber(net).dimension) == dimensions
    assert (kernel(pieces[0]), kernel(pieces[1]), kernel(net)) == dimensions
    assert str(dimensions[2]) + f" > {hidden_units}" in gallery.about(name)
    assert f"{dimensions[0]}, {dimensions[1]} and {dimensions[2]}" in gallery.about(name)
    assert sum(net.widths[1:-1]) == hidden_units
    for piece, dimension in zip(pieces, dimensions, strict=False):
        assert identifiability(piece).is_identifiable is True
        assert sum(piece.widths[1:-1]) == dimension
        assert fiber(piece).component_count == 1
    assert identifiability(net).is_identifiable is False
    assert isinstance(pieces[1].domain, Orthant)
    assert fiber(net).component_count == {"non_local_2_2_1_1": 2, "non_local_2_2_2_1": 1}[name]


def test_non_local_deep_a_neuron_is_linear_on_the_range_but_not_on_the_orthant():
    """Theory §6, the second mechanism."""
    net = gallery.network("non_local_2_2_2_2_1")
    for first in (1, 2, 3):
        assert identifiability(net.part(first, first + 1)).is_identifiable is True
    linear = [(reason.layer, reason.units[0]) for reason in identifiability(net).reasons if reason.symmetry == "linear"]
    assert linear
    for layer, unit in linear:
        assert signs_seen(net, layer)[unit] == {1}
        assert kind(layer_rows(net.layers[layer - 1])[unit], net.part(layer, layer).domain) == "nonlinear"
        raised = layer_rows(net.layers[layer - 1])
        raised[unit][-1] += 5
        after = layer_rows(net.layers[layer])
        for row in after:
            row[-1] -= 5 * row[unit]
        layers = list(net.layers)
        layers[layer - 1 : layer + 1] = [([r[:-1] for r in rows], [r[-1] for r in rows]) for rows in (raised, after)]
        assert same_on_cells(net, Network(layers)) is None


def test_wide_and_rank_deficient_are_what_they_say():
    wide = gallery.network("wide_2_3_2_1")
    assert wide.widths[1] == 3 > wide.widths[0] == 2
    deficient = gallery.network("rank_deficient_2_2_1_1")
    assert rank([row[:-1] for row in layer_rows(deficient.layers[0])]) == 1
    assert len(gallery.network("deep_2_2_2_2_1").layers) == 4


def test_one_layer_on_the_plane_has_a_constant_neuron():
    net = gallery.network("one_layer_space_2_3_1")
    assert layer_rows(net.layers[0])[2] == [0, 0, 2]
    assert "on R^2 with a constant neuron" in gallery.about("one_layer_space_2_3_1")
    without = Network([([[1, 1], [1, -1]], [0, 1]), ([[1, 2]], [-2])])
    assert same_on_cells(net, without) is None


def test_one_layer_on_the_box_is_not_the_same_on_the_plane():
    """Theory §2.7: on [−1, 1]² it is relu(x1 + x2 + 4) − 2 relu(x2 + 2); at (−3, 0) it is not."""
    net = gallery.network("one_layer_box_2_2_1")
    other = Network([([[1, 1], [0, 1]], [4, 2]), ([[1, -2]], [0])], Box([-1, -1], [1, 1]))
    assert same_on_cells(net, other) is None
    assert fiber(net).contains(other)
    plane = [Network(each.layers) for each in (net, other)]
    assert [each([-3, 0]) for each in plane] == [(-2,), (-3,)]
    assert same_on_cells(*plane) is not None
    assert neuron_types(net) == ("linear", "linear")
