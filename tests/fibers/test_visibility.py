"""Where f bends, by its rows: against second differences at many points of each hyperplane."""

import random
from fractions import Fraction
from itertools import product

import pytest
from reference import layer_rows

from semialg_fibers.errors import UnsupportedError
from semialg_fibers.fibers.hiding import hidden_hyperplanes
from semialg_fibers.fibers.visibility import bending_hyperplanes
from semialg_fibers.networks.layer import Network

STEP = Fraction(1, 10**12)


def values_at(net, u):
    """The output where the first layer's preactivations are u."""
    h = [max(value, 0) for value in u]
    for layer in net.layers[1:]:
        z = [sum(a * b for a, b in zip(row[:-1], h, strict=True)) + row[-1] for row in layer_rows(layer)]
        h = [max(value, 0) for value in z]
    return z


def bends_at(net, i, others):
    """Whether the second difference across H_i is nonzero at the point of H_i with these other preactivations."""
    u = [*others[:i], Fraction(0), *others[i:]]
    up, at, down = (values_at(net, [v + s * STEP * (k == i) for k, v in enumerate(u)]) for s in (1, 0, -1))
    return any(a - 2 * b + c for a, b, c in zip(up, at, down, strict=True))


def points(n, rng):
    """Points of all sign patterns and several scales, so that all regions of a small network are met."""
    for signs in product([1, -1], repeat=n - 1):
        for scale in (Fraction(1, 50), 1, 30):
            for _ in range(6):
                yield [sign * scale * Fraction(rng.randint(1, 997), rng.randint(1, 301)) for sign in signs]


def sparse_network(rng, n1, n2, m):
    rows = [[rng.choice([0, 0, 1, -1, 2]) for _ in range(n1 + 1)] for _ in range(n2)]
    if n2 > 1 and rng.random() < 0.3:
        rows[1] = [rng.choice([1, -1]) * value for value in rows[0]]
    identity = [[int(i == j) for j in range(n1)] for i in range(n1)]
    outer = [[rng.choice([1, 1, -1, 2, 0]) for _ in range(n2)] for _ in range(m)]
    return Network([(identity, [0] * n1), ([r[:-1] for r in rows], [r[-1] for r in rows]), (outer, [0] * m)])


@pytest.mark.parametrize("seed", range(9))
def test_bending_is_what_second_differences_show(seed):
    rng, invisible, beyond_rows = random.Random(seed), 0, 0
    for _ in range(20):
        net = sparse_network(rng, rng.choice([1, 2, 2, 3]), rng.choice([1, 2, 3]), rng.choice([1, 1, 2]))
        n = net.widths[1]
        found = bending_hyperplanes(net)
        for i in range(n):
            assert (i in found) == any(bends_at(net, i, others) for others in points(n, rng)), (net, i)
            invisible += i not in found
            beyond_rows += (i in found) == (i in hidden_hyperplanes(net))
    assert invisible > 2
    assert beyond_rows


def test_hidden_by_rows_but_a_kink():
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 0]], [0]), ([[1]], [0])])
    assert (bending_hyperplanes(net), hidden_hyperplanes(net)) == ((0,), (0, 1))


def test_no_kink_by_cancellation_only():
    """Rows (1, 1 | −1) and (−1, 1 | −1) have the same trace on h1 = 0, and their jumps cancel there."""
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [-1, 1]], [-1, -1]), ([[1, 1]], [0])])
    assert (bending_hyperplanes(net), hidden_hyperplanes(net)) == ((1,), ())


def test_refused():
    with pytest.raises(UnsupportedError):
        bending_hyperplanes(Network([([[1]], [0]), ([[1]], [0])]))
