"""One hidden layer on R^p, the orthant and a box: components by hand, and strata of members (theory §2)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import kinds, network_at
from strategies import DOMAINS, one_hidden_layers, seeds

from semialg_fibers.errors import BudgetExceededError, NotGenericError
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.genericity import genericity
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.oracle import jacobian_rank, same_on_cells


def shallow(rows, weights, domain, constant=None):
    inner = ([row[:-1] for row in rows], [row[-1] for row in rows])
    return Network([inner, (weights, constant or [0] * len(weights))], domain)


def flips(found):
    return [component.flips for component in found.components]


@pytest.mark.parametrize(
    ("net", "expected", "dimensions"),
    [
        pytest.param(
            # Two neurons in general position on R^2: C1 B1 + C2 B2 ≠ 0, only the scalings.
            shallow([[1, 2, 1], [3, -1, 1]], [[1, 1]], Space(2)),
            [()],
            [2],
            id="R^2, identifiable",
        ),
        pytest.param(
            # C1 B1 + C2 B2 = 0: both may be flipped together.
            shallow([[1, 2, 1], [-1, -2, 1]], [[3, 3]], Space(2)),
            [(), (0, 1)],
            [2, 2],
            id="R^2, products that cancel",
        ),
        pytest.param(
            # A constant neuron (0, 0 | 5): any sign of β', free C: r (1 + m) = 3.
            shallow([[1, 2, 1], [0, 0, 5]], [[3, 1], [1, 1]], Space(2)),
            [()],
            [1 + 3],
            id="R^2, a constant",
        ),
        pytest.param(
            # C B = (1, −1), not pointed: two linear neurons are needed, and there is one spare neuron.
            shallow([[1, -1, 1], [-1, -2, -1]], [[1, 1]], Orthant(2)),
            [()],
            [1 + 4],  # S = ∅: k + N, the spare neuron dead
            id="orthant, one spare, not pointed",
        ),
        pytest.param(
            # The same neuron with two spare ones: S = {1} has q = 2: k + ρ(ρ+1) + p + ρ + 1 = 1 + 2 + 2 + 2.
            shallow([[1, -1, 1], [-1, -2, -1], [-1, -1, -1]], [[1, 1, 1]], Orthant(2)),
            [(), (0,)],
            [1 + 4 + 4, 1 + 2 + 2 + 1 + 1],
            id="orthant, two spare, not pointed",
        ),
        pytest.param(
            # On a box the one spare neuron suffices: k + ρ² + ρ = 1 + 1 + 1.
            shallow([[1, -1, 0], [-1, -2, -1]], [[1, 1]], Box([0, 0], [1, 1])),
            [(), (0,)],
            [1 + 4, 1 + 1 + 1],
            id="box, pointedness plays no part",
        ),
        pytest.param(
            # m = 2, ρ = 2 needs two spare neurons on the box.
            shallow([[1, 0, "-1/2"], [0, 1, "-1/3"], [-1, -1, -1]], [[1, 0, 1], [0, 1, 1]], Box([0, 0], [1, 1])),
            [(), (0,), (1,)],
            [2 + 5, 2 + 2, 2 + 2],
            id="box, rank 2 is too much",
        ),
    ],
)
def test_components_worked_out_by_hand(net, expected, dimensions):
    assert genericity(net).is_generic is True
    found = fiber(net)
    assert flips(found) == expected
    assert [component.dimension for component in found.components] == dimensions
    assert found.dimension == max(dimensions)
    for component in found.components:
        for seed in range(6):
            assert same_on_cells(net, component.sample(seed)) is None


def test_relu_of_x_plus_one_and_a_dead_constant():
    """Theory §2.7: on R^1 the kernel is 4, the fiber has dimension 3 (one scaling, β' and C' of the constant)."""
    net = shallow([[1, 1], [0, -1]], [[1, 1]], Space(1))
    assert fiber(net).local_dimension == fiber(net).dimension == 3


def test_linear_and_dead_neurons_exchange_roles_only_through_the_sum():
    """Theory §4: rows (1, 1 | 1) and (1, 1 | 2) with c = −1 are the same linear function."""
    net = shallow([[1, 1, 1]], [[1]], Orthant(2))
    other = shallow([[1, 1, 2]], [[1]], Orthant(2), [-1])
    assert same_on_cells(net, other) is None
    assert fiber(net).contains(other)
    assert not fiber(net).contains(shallow([[1, 1, 2]], [[1]], Orthant(2)))
    split = shallow([[1, 0, 3], [0, "1/2", 0]], [[1, 2]], Orthant(2), [-2])
    whole = shallow([[1, 1, 1], [-1, -1, -1]], [[1, 7]], Orthant(2))
    assert fiber(whole).contains(split)
    assert [part.contains(split.parameters) for part in fiber(whole).components[0].set.parts] == [False, True]
    assert [part.contains(whole.parameters) for part in fiber(whole).components[0].set.parts] == [True, False]


@pytest.mark.parametrize("kind", DOMAINS[1:])
@settings(max_examples=20)
@given(st.data())
def test_each_part_has_members_with_its_number_of_linear_rows(kind, data):
    net = data.draw(one_hidden_layers(kind))
    component = fiber(net).components[0]
    for q, part in zip(component.numbers_of_linear_rows, component.set.parts, strict=True):
        member = network_at(part.sample(data.draw(seeds)), net)
        names = kinds(member)
        assert names.count("nonlinear") == kinds(net).count("nonlinear")
        assert names.count("linear") == q
        assert part.dimension == component.part_dimension(q)
    assert component.parametrization.symbols


def test_networks_that_are_not_generic_are_refused():
    twice = shallow([[1, -2, 3], [2, -4, 6]], [[1, 1]], Orthant(2))
    with pytest.raises(NotGenericError, match="rows 1 and 2 have the same hyperplane") as caught:
        fiber(twice)
    assert caught.value.report == genericity(twice)


def test_two_hundred_neurons_are_counted_at_once():
    rows = [[j + 1, -(j**2) - 1, 1] for j in range(200)] + [[-1, -1, -1]] * 2
    net = shallow(rows, [[1] * 202], Orthant(2))
    found = fiber(net)
    assert found.component_count == 2**200
    assert found.components[200].flips == (199,)
    assert found.components[201].flips == (0, 1)
    assert found.contains(net)
    assert found.labelled_count == 2**200 * _falling(202, 200)
    member = found.components[150].sample(1)
    assert found.locate(member) == found.components[150]


def _falling(n, k):
    value = 1
    for factor in range(n - k + 1, n + 1):
        value *= factor
    return value


def test_a_sign_on_a_large_box_is_not_written_out():
    size = 13
    net = shallow([[1] * size + [1]], [[1]], Box([0] * size, [1] * size))
    with pytest.raises(BudgetExceededError, match="2\\^13 vertices"):
        _ = fiber(net).components[0].set
    assert fiber(net).contains(net)
    assert fiber(net).dimension == 1 + 1


@pytest.mark.parametrize(
    ("rows", "weights", "expected"),
    [
        pytest.param([[1, 0, 1], [0, 1, 1]], [[1, 0], [0, 1]], 4 + 2, id="C' = B'⁻¹: zeros can be raised"),
        pytest.param([[1, 0, 1], [0, 1, 1]], [[1, 1]], 2 + 4 - 2 + 2, id="one row rises while the other falls"),
        pytest.param([[0, 1, 1]], [[1]], 1 + 1, id="C' B' = (0, 1) keeps the zero at zero"),
        pytest.param([[1, 0, 1], [1, 0, 2]], [[1, 1]], None, id="B'_12 + B'_22 = 0 is possible at 0 only"),
        pytest.param([[1, 0, 1], [1, 0, 2]], [[1, -2]], 2 + 4 - 2 + 2, id="B'_12 = 2 B'_22 can be raised"),
    ],
)
def test_zero_entries_lie_on_the_boundary(rows, weights, expected):
    """The formula holds where every zero weight of a linear row must stay zero or can be raised (theory §2.5)."""
    net = shallow(rows, weights, Orthant(2))
    assert genericity(net).is_generic is True
    assert fiber(net).local_dimension == expected
    kernel = net.parameter_count - jacobian_rank(net).rank
    assert kernel == (2 + 4 - 2 + 2 if expected is None else expected)
