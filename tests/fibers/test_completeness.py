"""Every generic network with the same function lies in the fiber: searches among small integers (theory §1, §5).

Networks are evaluated at integer points by NumPy, grouped by their values, and equality within a group is proved by the
oracle. b3 is chosen such that f vanishes at one point, so that the constant does not keep equal functions apart.
"""

import random
from collections import defaultdict

import numpy as np
import pytest

from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.genericity import genericity
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.oracle import same_on_cells

ROWS = np.array([(1, 0), (0, 1), (1, 1), (1, -1), (-1, 0), (0, -1), (-1, -1), (-1, 1)])


def deep_candidates(count, n2, source):
    """Random networks of widths (2, 2, n2, 1): arrays of their parameters."""
    first = ROWS[source.integers(0, len(ROWS), (count, 2))]
    b1 = source.integers(-1, 2, (count, 2))
    nonzero = np.array([-2, -1, 1, 2])
    second = nonzero[source.integers(0, 4, (count, n2, 2))]
    b2 = np.array([-3, -2, -1, 1, 2, 3])[source.integers(0, 6, (count, n2))]
    third = nonzero[source.integers(0, 4, (count, n2))]
    return first, b1, second, b2, third


def grid(low, high):
    return np.array([(x, y) for x in range(low, high + 1) for y in range(low, high + 1)])


def groups_of(values, most):
    """Indices with equal values, in groups of several, the largest first."""
    found = defaultdict(list)
    for index, row in enumerate(values - values[:, :1]):
        found[row.tobytes()].append(index)
    groups = sorted((group for group in found.values() if len(group) > 1), key=len, reverse=True)
    return groups[:most]


def check(groups, network, least):
    """Within each group: whoever is generic contains every generic one that the oracle finds equal."""
    pairs = 0
    for group in groups:
        members = {network(index) for index in group}
        generic = sorted((net for net in members if genericity(net).is_generic), key=repr)
        for one in generic[:3]:
            found = fiber(one)
            for other in generic[:12]:
                if same_on_cells(one, other) is None:
                    assert found.contains(other), (one, other)
                    pairs += one != other
                else:
                    assert not found.contains(other), (one, other)
    assert pairs >= least, pairs


@pytest.mark.parametrize(("n2", "count", "least"), [(1, 60_000, 250), (2, 400_000, 100)])
def test_generic_bottleneck_networks_with_the_same_function_are_members(n2, count, least):
    source = np.random.default_rng(7 + n2)
    first, b1, second, b2, third = deep_candidates(count, n2, source)
    points = grid(-4, 4)
    h = np.maximum(np.einsum("nij,pj->npi", first, points) + b1[:, None, :], 0)
    z = np.maximum(np.einsum("nij,npj->npi", second, h) + b2[:, None, :], 0)
    values = np.einsum("ni,npi->np", third, z)

    def network(index):
        constant = -int(values[index, 0])
        return Network(
            [
                (first[index].tolist(), b1[index].tolist()),
                (second[index].tolist(), b2[index].tolist()),
                ([third[index].tolist()], [constant]),
            ]
        )

    # Constant functions are one component, and half of all groups would be these.
    groups = [group for group in groups_of(values, 400) if np.ptp(values[group[0]])]
    random.Random(1).shuffle(groups)
    check(groups[:150], network, least)


@pytest.mark.parametrize("domain", [Space(2), Orthant(2), Box([-1, -1], [1, 1])], ids=["R^2", "orthant", "box"])
def test_generic_networks_with_one_hidden_layer_and_the_same_function_are_members(domain):
    """All networks of widths (2, 2, 1) with rows from a small set."""
    choices = [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-2, -1, 0, 1, 2) if (a, b, c) != (0, 0, 0)]
    pairs = [(r, s, c1, c2) for r in choices for s in choices if r <= s for c1 in (-2, -1, 1) for c2 in (-1, 1, 2)]
    pairs = random.Random(3).sample(pairs, 4000)
    rows = np.array([(r, s) for r, s, _, _ in pairs])
    weights = np.array([(c1, c2) for _, _, c1, c2 in pairs])
    points = {Space: grid(-4, 4), Orthant: grid(0, 6), Box: grid(-1, 1)}[type(domain)]
    z = np.maximum(np.einsum("nij,pj->npi", rows[:, :, :2], points) + rows[:, None, :, 2], 0)
    values = np.einsum("ni,npi->np", weights, z)

    def network(index):
        inner = (rows[index, :, :2].tolist(), rows[index, :, 2].tolist())
        return Network([inner, ([weights[index].tolist()], [-int(values[index, 0])])], domain)

    check(groups_of(values, 150), network, 200)


def test_members_that_are_not_generic_may_lie_outside():
    """Theory §1: a neuron split over a spare one is in the fiber, and in no component."""
    net = Network([([[1, 2], [-1, 0]], [-1, -1]), ([[1, 1]], [0])], Orthant(2))
    split = Network([([[1, 2], [2, 4]], [-1, -2]), ([["1/2", "1/4"]], [0])], Orthant(2))
    assert genericity(net).is_generic is True
    assert same_on_cells(net, split) is None
    assert not fiber(net).contains(split)
    assert genericity(split).violated == ("G3",)
