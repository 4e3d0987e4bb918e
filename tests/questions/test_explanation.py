"""Every direction of the Jacobian's kernel by name: random networks, the exceptions of the theory, small cases."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import rank
from strategies import BOTTLENECKS, bottlenecks

from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.geometry.domain import Orthant
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.explanation import explain_dimension
from semialg_fibers.verify.oracle import jacobian_rank


def random_network(rng, widths, largest=1999):
    layers = []
    for inputs, outputs in itertools.pairwise(widths):
        weight = [[rng.randint(-largest, largest) for _ in range(inputs)] for _ in range(outputs)]
        layers.append((weight, [rng.choice([-1, 1]) * rng.randint(1, largest) for _ in range(outputs)]))
    return Network(layers)


@pytest.mark.parametrize("seed", range(8))
def test_wide_three_layer_networks_are_explained(seed):
    """Theorem 3 of beyond §3.2; tools/explained.py runs a thousand of them."""
    rng = random.Random(seed)
    for count in range(8):
        net = random_network(rng, (2, rng.choice([3, 4, 5]), rng.choice([1, 2, 3, 4]), rng.choice([1, 2])))
        found = explain_dimension(net)
        assert found.unexplained == 0
        assert found.longest <= 2
        assert sum(found.by_symmetry.values()) == found.kernel
        if count == 0:
            assert found.kernel == net.parameter_count - jacobian_rank(net).rank


def by_formula(net):
    """dim W1 + dim W2 − Σ dim R_j of Theorem 3, from the three linear systems."""
    from semialg_fibers.geometry.nullspace import exact_kernel
    from semialg_fibers.networks.sight import sight

    seen = sight(net)
    sizes = [seen.width(first, last) for first, last in [(1, 2), (2, 3), (2, 2)]]
    kernels = [
        len(exact_kernel(seen.rows(first, last), size))
        for (first, last), size in zip([(1, 2), (2, 3), (2, 2)], sizes, strict=True)
    ]
    return kernels[0] + kernels[1] - kernels[2]


def test_the_formula_of_theorem_3_is_the_dimension_of_the_sum():
    rng = random.Random(3)
    for _ in range(12):
        net = random_network(rng, (2, 3, rng.choice([1, 2, 3]), 1), 9)
        found = explain_dimension(net)
        if not found.unexplained:
            assert by_formula(net) == found.kernel


@given(st.sampled_from(BOTTLENECKS[:8]).flatmap(bottlenecks))
@settings(max_examples=20)
def test_generic_bottleneck_networks_are_explained_and_agree_with_the_fiber(net):
    found = explain_dimension(net)
    assert found.unexplained == 0
    local = fiber(net).local_dimension
    if local is not None and net.widths[-1] > 1:
        assert found.kernel >= local


@pytest.mark.parametrize("widths", [(2, 2, 2, 2, 1), (2, 3, 2, 2, 1), (2, 2, 2, 2, 2, 1)])
def test_deeper_networks_are_explained_by_longer_runs(widths):
    rng = random.Random(11)
    longest = 0
    for _ in range(40):
        found = explain_dimension(random_network(rng, widths, 99))
        assert found.unexplained == 0
        longest = max(longest, found.longest)
    assert longest >= 2


def test_runs_of_four_are_needed():
    """Beyond §4: K = 11, runs of two and of three explain 10."""
    net = Network(
        [
            ([[-39, -2], [33, -63]], [-82, 33]),
            ([[-19, -26], [-96, 12]], [90, -67]),
            ([[-95, -32], [59, -16]], [63, 30]),
            ([[-56, 14], [-88, 51]], [37, -72]),
            ([[-6, 69]], [-16]),
        ]
    )
    found = explain_dimension(net)
    assert (found.kernel, found.explained, found.longest) == (11, 11, 4)
    assert str(found.parts[-1]) == "run of 4 layers, layers 2 to 5: 1"


def test_cancelling_products_leave_a_direction_without_a_name():
    """(G4) fails in column 1: A3_1 A2_11 + A3_4 A2_41 = 3·2 + 3·(−2) = 0, rows 1 and 4 active together on H_1."""
    net = Network(
        [
            ([[1, -1], [-2, 0], [1, -2]], [-1, 1, 2]),
            ([[2, 3, 3], [-1, 0, 0], [-2, -2, -2], [-2, 0, 0]], [2, -1, -2, 1]),
            ([[3, -2, -1, 3]], [1]),
        ]
    )
    found = explain_dimension(net)
    assert (found.kernel, found.explained, found.unexplained) == (17, 16, 1)
    assert list(found.by_symmetry)[-1] == "unexplained"


def zero_bias_formula(rows, outer, p):
    """Beyond §5: the generic closed form with q, e, a read off the signs of A2; None if all rows are dead."""
    m, n = len(outer), len(rows)
    alive = [row for row in rows if max(row) > 0]
    dead, linear = n - len(alive), [j for j, row in enumerate(rows) if min(row) > 0]
    if not alive:
        return None
    if any(all(row[i] > 0 and sum(v > 0 for v in row) == 1 for row in alive) for i in range(p)):
        return p + len(alive) + 1 + dead * (p + 1 + m)
    q = len(linear)
    s, t = rank([[row[j] for j in linear] for row in outer]), rank([rows[j] for j in linear])
    return p + (n - q - dead) + (m * q + q * p - m * p + (m - s) * (p - t)) + q + dead * (p + 1 + m)


def test_zero_biases_have_the_generic_dimension_on_the_cells_where_f_is_differentiable():
    rng, met = random.Random(3), 0
    while met < 25:
        p, n, m = rng.choice([2, 3]), rng.choice([1, 2, 3]), rng.choice([1, 2])
        shapes = [(p, p), (p, n), (n, m)]
        weights = [[[rng.choice([-1, 1]) * rng.randint(1, 97) for _ in range(a)] for _ in range(b)] for a, b in shapes]
        expected = zero_bias_formula(weights[1], weights[2], p)
        if expected is None or rank(weights[0]) < p:
            continue
        found = explain_dimension(Network([(weight, [0] * len(weight)) for weight in weights]))
        assert (found.kernel, found.unexplained) == (expected, 0)
        assert found.skipped > 0
        met += 1


def test_one_hidden_layer_is_not_explained_by_itself():
    """Theory §9: two neurons on one hyperplane, m = 1: the kernel's fourth direction is no tangent of the fiber."""
    found = explain_dimension(Network([([[1], [1]], [-1, -1]), ([[2, 3]], [0])]))
    assert found.by_symmetry == {"scaling": 2, "row relation": 1, "unexplained": 1}


def test_one_dimensional_inputs_can_leave_something_unexplained():
    """Beyond §3.2 needs d ≥ 2."""
    rng = random.Random(1)
    assert any(explain_dimension(random_network(rng, (1, 3, 3, 1), 99)).unexplained for _ in range(500))


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        # the hidden hyperplane of the tour: two scalings below, one above, one translation
        ([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])], {"scaling": 3, "translation": 1}),
        # a dead second unit: its three incoming and one outgoing weights, one of them counted by its scaling
        (
            [([[1, 0], [0, 1]], [0, 0]), ([[1, -2], [-1, -1]], [3, -1]), ([[1, 1]], [0])],
            {"scaling": 4, "dead": 3},
        ),
        # a linear unit: β and b3 together, besides its scaling
        (
            [([[1, 0], [0, 1]], [0, 0]), ([[1, -2], [1, 1]], [3, 1]), ([[1, 1]], [0])],
            {"scaling": 4, "linear": 1},
        ),
        # copies of one unit: outgoing weights can be moved from one to the other
        ([([[1], [1]], [-1, -1]), ([[2, 3], [1, 1]], [0, 0])], {"scaling": 2, "row relation": 2}),
    ],
)
def test_names(layers, expected):
    assert explain_dimension(Network(layers)).by_symmetry == expected


def test_dead_weight_of_a_unit_that_only_acts_where_its_input_is_off():
    """Beyond §3.1, case 2: row 1 is active for x1 > 1 only, where u3 = −x1 − 1 is off."""
    net = Network([([[1, 0], [0, 1], [-1, 0]], [0, 0, -1]), ([[1, -3, -5], [1, 2, 1]], [-1, 3]), ([[1, 2]], [0])])
    found = explain_dimension(net)
    assert found.unexplained == 0
    weights = [part for part in found.parts if part.symmetry == "dead weight"]
    assert [(part.layer, part.units, part.dimension) for part in weights] == [(2, (0,), 1)]


def test_the_domain_matters():
    """On the orthant (1, 1 | 1) is linear, on the whole plane it is not."""
    layers = [([[1, 1], [1, -1]], [1, 0]), ([[1, 1]], [0])]
    assert explain_dimension(Network(layers)).by_symmetry == {"scaling": 2}
    assert explain_dimension(Network(layers, Orthant(2))).by_symmetry == {"scaling": 2, "linear": 1}


def test_words():
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    assert str(explain_dimension(net)).splitlines() == [
        "kernel of the Jacobian: 4, explained: 4",
        "scaling, unit 1 of the first layer: 1",
        "scaling, unit 2 of the first layer: 1",
        "scaling, unit 1 of the second layer: 1",
        "translation, unit 1 of the first layer: 1",
    ]
    flat = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0]), ([[1]], [0])])
    assert "need not be differentiable" in str(explain_dimension(flat))
