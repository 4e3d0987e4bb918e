"""Shifts of one bias: both ends are tight, by an independent judge; rows compared one by one end no later."""

import itertools
import random

import pytest
from flint import fmpq

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.networks.deformation import Shift, equal_on_cells, with_time
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.oracle import same_on_cells

SMALL = fmpq(1, 1000)


def random_network(rng, widths, largest, domain=None):
    layers = []
    for inputs, outputs in itertools.pairwise(widths):
        weight = [[rng.randint(-largest, largest) for _ in range(inputs)] for _ in range(outputs)]
        layers.append((weight, [rng.randint(-largest, largest) for _ in range(outputs)]))
    return Network(layers, domain)


def is_tight(shift):
    """Equal at the ends and inside, different just beyond; equal far out where there is no end."""
    net = shift.network
    for sign, end in zip((-1, 1), shift.interval(), strict=True):
        inside = fmpq(sign * 10**6) if end is None else end
        assert same_on_cells(net, shift.applied(inside)) is None
        if end is not None:
            assert same_on_cells(net, shift.applied(end * fmpq(1, 2))) is None
            beyond = end + sign * (abs(end) * SMALL if end else SMALL)
            assert same_on_cells(net, shift.applied(beyond)) is not None
    return True


@pytest.mark.parametrize("widths", [(2, 3, 2, 1), (2, 4, 1, 2), (2, 2, 2, 1), (1, 2, 2, 2, 1), (2, 3, 1)])
def test_both_ends_are_tight(widths):
    rng, finite = random.Random(str(widths)), 0
    for _ in range(20):
        domain = rng.choice([None, Orthant(widths[0]), Box([-2] * widths[0], [1] * widths[0])])
        net = random_network(rng, widths, rng.choice([2, 20]), domain)
        layer = rng.randint(1, len(widths) - 2)
        unit = rng.randrange(widths[layer])
        users = [k for k in range(widths[layer + 1]) if rng.random() < 0.7]
        shift = Shift(net, layer, unit, tuple(users))
        assert is_tight(shift)
        finite += any(shift.interval())
    assert finite


def test_hidden_hyperplane_of_a_bottleneck_network():
    """Theory §3.2: t ≥ max b2_j / A2_ji, here of −3/2 and −1."""
    net = Network([([[1, 0], [0, 1]], [0, 5]), ([[2, -1], [1, -3]], [-3, -1]), ([[1, 1]], [0])])
    shift = Shift(net, 1, 0, (0, 1))
    assert shift.interval() == (-1, None)
    assert is_tight(shift)


def test_a_dead_row_can_end_the_interval():
    """Beyond §3.1: row 2 is off for now, but a shifted unit 3 switches it on when it is not compensated there."""
    weights = [[1, -2, 0], [0, -1, 1]]
    net = Network(
        [([[1, 0], [0, 1], [1, -1]], [0, 0, 0]), (weights, [-1, -50]), ([[1, 1]], [0])], Box([-1, -1], [9, 9])
    )
    low, high = Shift(net, 1, 2, ()).interval()
    assert (low, high) == (None, 50 - 10)  # u3 ≤ 10 on the box, where x2 = −1 and relu(x2) = 0
    assert is_tight(Shift(net, 1, 2, ()))


def test_zero_biases_leave_one_side_only():
    """Beyond §5: with b2 = 0 the translation has t ≥ 0."""
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [0]), ([[1]], [0])])
    assert Shift(net, 1, 0, (0,)).interval() == (0, None)


def test_a_visible_hyperplane_cannot_move():
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, 2]], [1, -1]), ([[1, 3]], [0])])
    assert Shift(net, 1, 0, (0, 1)).interval() == (0, 0)


def test_the_function_decides_and_not_the_rows():
    """Unit 1 has no outgoing weight, so that its rows may change: no end, while comparing rows would give one."""
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [0, 1]], [-1, 1]), ([[0, 1]], [0])])
    assert Shift(net, 1, 0, ()).interval() == (None, None)


def test_equality_on_cells_is_the_oracles():
    rng, equal = random.Random(4), 0
    for _ in range(40):
        a = random_network(rng, (2, 2, 1), 1)
        b = random_network(rng, (2, 2, 1), 1) if rng.random() < 0.7 else a.permuted(1, [1, 0])
        assert equal_on_cells(a, b) == (same_on_cells(a, b) is None)
        equal += equal_on_cells(a, b)
    assert 0 < equal < 40


def test_domains_with_time():
    assert with_time(Space(2)) == Space(3)
    assert with_time(Orthant(1)) == Polyhedron([[-1, 0]], [0])
    assert with_time(Box([0], [1])).infimum((fmpq(1), fmpq(0), fmpq(3))) == 3
    assert with_time(Polyhedron([[0]], [1])) == Space(2)


def test_budget():
    net = random_network(random.Random(1), (2, 5, 4, 1), 9)
    with pytest.raises(BudgetExceededError):
        Shift(net, 1, 0, ()).interval(budget=10)
