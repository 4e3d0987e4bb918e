"""The numbers that docs/theory.md states about fibers, one by one."""

import pytest
from reference import stratum_dimension

from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.genericity import genericity
from semialg_fibers.fibers.hiding import hidden_hyperplanes, hiding
from semialg_fibers.fibers.orientation import OrientationProblem
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.scalar import vector
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import neuron_types
from semialg_fibers.verify.oracle import jacobian_rank, same_on_cells

IDENTITY = ([[1, 0], [0, 1]], [0, 0])


def test_section_2_3_and_3_4_a_component_without_a_generic_member():
    net = Network([IDENTITY, ([[1, 1], [-1, -1]], [-1, -1]), ([[1, 3]], [0])])
    flipped = Network([IDENTITY, ([[-1, -1], [1, 1]], [1, 2]), ([[1, 1]], [-3])])
    assert neuron_types(net) == ("nonlinear", "dead")
    found = fiber(net)
    assert [component.flips for component in found.components] == [(), (0,)]
    assert [component.contains(flipped) for component in found.components] == [False, True]
    assert [component.contains(net) for component in found.components] == [True, False]
    assert found.components[1].set.contains(flipped.parameters)
    assert same_on_cells(net, flipped) is None
    assert not any(genericity(found.components[1].sample(seed)).is_generic for seed in range(30))
    # n1 + k + N = 2 + 1 + 4 with a dead row; n1 + k + ρ² + ρ = 2 + 1 + 2 with a linear one
    assert [component.dimension for component in found.components] == [7, 5]
    assert found.local_dimension == 7


def test_section_3_4_no_symmetry_by_types_but_two_components():
    net = Network([IDENTITY, ([[1, 1], [-1, -1]], [-2, 1]), ([[1, 1]], [0])])
    second = Network([IDENTITY, ([[-1, -1], [1, 1]], [2, -1]), ([[1, 1]], [-1])])
    assert neuron_types(net) == ("nonlinear", "nonlinear")
    assert hidden_hyperplanes(net) == ()
    found = fiber(net)
    assert found.component_count == 2
    assert [component.flips for component in found.components] == [(), (0, 1)]
    assert found.components[1].contains(second)
    assert found.dimension == found.local_dimension == 4
    assert found.labelled_count == 2 * 2 * 2


def test_section_3_4_a_constant_function_leaves_all_free_but_its_value():
    """All rows dead: dim = #parameters − m, one component, that no relabelling moves."""
    net = Network([IDENTITY, ([[-1, -2], [-3, -1]], [-1, -1]), ([[1, 2]], [5])])
    found = fiber(net)
    assert [component.kind for component in found.components] == ["constant"]
    assert found.dimension == found.local_dimension == net.parameter_count - 1
    assert found.labelled_count == 1
    other = [([[7, 0], [3, 9]], [1, 2]), ([[0, -2], [-3, 0]], [0, -1]), ([[-4, 0]], [5])]
    assert found.contains(Network(other))
    for changed in ([6], ["9/2"]):
        assert not found.contains(Network([*other[:2], (other[2][0], changed)]))
    assert not found.contains(Network([other[0], ([[0, -2], [-3, 1]], [0, -1]), other[2]]))


@pytest.mark.parametrize(
    ("layers", "pieces", "whole", "units"),
    [
        pytest.param([IDENTITY, ([[1, -1]], [-1]), ([[1]], [0])], (2, 1), 4, 3, id="2-2-1-1"),
        pytest.param([IDENTITY, ([[1, -1], [1, -2]], [-1, -3]), ([[1, 1]], [0])], (2, 2), 5, 4, id="2-2-2-1"),
    ],
)
def test_section_6_identifiable_pieces_of_a_whole_that_is_not(layers, pieces, whole, units):
    net = Network(layers)
    assert sum(net.widths[1:-1]) == units
    for part, dimension in zip((net.part(1, 2), net.part(2, 3)), pieces, strict=True):
        found = fiber(part)
        assert found.dimension == found.local_dimension == part.widths[1] == dimension
        assert found.component_count == 1
    found = fiber(net)
    assert found.dimension == found.local_dimension == whole > units
    assert net.parameter_count - jacobian_rank(net).rank == whole
    assert found.component_count == 2 ** len(hiding(net).flippable) == (2 if units == 3 else 1)


@pytest.mark.parametrize(("domain", "equal"), [(Box([-1, -1], [1, 1]), True), (Space(2), False)], ids=["box", "plane"])
def test_section_2_7_equal_on_a_box_and_not_on_the_plane(domain, equal):
    first = Network([([[1, 0], [0, 1]], [2, 2]), ([[1, -1]], [0])], domain)
    second = Network([([[1, 1], [0, 1]], [4, 2]), ([[1, -2]], [0])], domain)
    assert first.value(vector([-3, 0])) != second.value(vector([-3, 0]))
    assert genericity(first).is_generic is True
    found = fiber(first)
    assert found.contains(second) == equal
    assert (same_on_cells(first, second) is None) == equal
    assert neuron_types(first) == (("linear",) * 2 if equal else ("nonlinear",) * 2)
    # Box: M = (1, −1), ρ = 1, r = 2: ρ² + ρ + (r − ρ) N = 1 + 1 + 4; here q = 2: mq + qp − mp + q = 2 + 4 − 2 + 2.
    assert (found.dimension, found.local_dimension) == ((6, 6) if equal else (2, 2))


def test_section_2_5_the_formula_is_refused_where_it_is_only_a_bound():
    """m = p = q = 2, B = C = [[1, 1], [1, 1]]: the kernel has dimension 7, the fiber 6; G5 is violated."""
    net = Network([([[1, 1], [1, 1]], [1, 1]), ([[1, 1], [1, 1]], [0, 0])], Orthant(2))
    assert genericity(net).violated == ("G5",)
    assert net.parameter_count - jacobian_rank(net).rank == 7
    assert stratum_dimension(net, net.domain) == 6
    ones = net.layers[0].matrix
    problem = OrientationProblem(net.domain, (), (), ones @ ones, vector([2, 2]), 2)
    assert problem.local_dimension(ones, ones) is None
    assert problem.part_dimension((), 2) == 6


def test_section_5_a_hidden_network_with_one_alive_row_has_all_flips():
    """n2 = 1: all n1 − 1 columns are flippable; dimension n1 + a + 1."""
    size = 5
    square = [[int(i == j) for j in range(size)] for i in range(size)]
    net = Network([(square, [0] * size), ([[1, -1, -2, -3, -4]], [-1]), ([[1]], [0])])
    found = fiber(net)
    assert hiding(net).flippable == (1, 2, 3, 4)
    assert found.component_count == 16
    assert found.dimension == size + 1 + 1
    assert found.labelled_count == 16 * 120
    assert len({component.sample(0) for component in found.components}) == 16
