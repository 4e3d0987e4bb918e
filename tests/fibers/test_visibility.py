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


def on_orthant(rows, outer):
    """The network whose first layer is the identity, with these rows [A2 | b2]."""
    n1 = len(rows[0]) - 1
    identity = [[int(i == j) for j in range(n1)] for i in range(n1)]
    return Network([(identity, [0] * n1), ([r[:-1] for r in rows], [r[-1] for r in rows]), (outer, [0] * len(outer))])


BENDS = {  # what happens on H_1 at (0, h_2, ...): the slope from above, [·] for where a row is on
    "row 2 does not use it": ([[0, 1, 1], [1, 1, -1]], [[1, 1]], True),  # [h2 > 1]
    "off on the whole face": ([[1, -1, -1]], [[1]], False),
    "off on the face, on beside it": ([[1, -1, 0]], [[1]], True),  # at h2 = 0 only: relu(u2) = 0 on an open part
    "its trace is zero": ([[1, 0, 0]], [[1]], True),
    "its trace is zero, from the other side": ([[-1, 0, 0]], [[1]], False),
    "on on the whole face": ([[1, 1, 1], [-1, 2, 1]], [[1, 2]], True),  # 1 − 2
    "slopes of rows that are on cancel": ([[1, 1, 1], [-1, 2, 1]], [[1, 1]], False),
    "on, but for one point, where the slopes differ": ([[1, 1, 0], [-1, 1, 0]], [[1, 1]], True),
    "on on one side, the other cancels": ([[1, 1, -1], [-1, 1, 1]], [[1, 1]], True),  # [h2 > 1] − 1
    "two step functions make a constant": ([[1, 1, -1], [1, -1, 1], [-1, 0, 1]], [[1, 1, 1]], False),
    "the same with a constant left": ([[1, 1, -1], [1, -1, 1], [-2, 0, 1]], [[1, 1, 1]], True),
    "steps at one place, slopes 2 and 1": ([[1, 2, -2], [-1, 1, -1]], [[1, 1]], False),
    "steps at one place, both signs": ([[1, 2, -2], [1, -1, 1], [-1, 0, 3]], [[1, 1, 1]], False),
    "steps at two places": ([[1, 2, -1], [-1, 1, -1]], [[1, 1]], True),
    "in one output only": ([[1, 1, -1], [-1, 1, -1]], [[1, 1], [1, 2]], True),
    "steps cancel, the point h2 = h3 = 0 differs": ([[1, 1, -1, 0], [-1, 1, -1, 0]], [[1, 1]], True),
    "no point differs": ([[1, 1, -1, 0], [1, -1, 1, 0], [-1, 0, 0, 1]], [[1, 1, 1]], True),  # 2 − 1 at the point
    "the point is mended by a row without trace": (
        [[1, 1, -1, 0], [-1, 1, -1, 0], [-1, 0, 0, 0], [-1, 0, -1, -1]], [[1, 1, 1, 1]], True,
    ),
    "rows off on the face cancel at the point": ([[1, -1, 0], [1, -2, 0]], [[1, -1]], False),
    "they do so on one edge each": ([[1, -1, 0, 0], [1, 0, -1, 0]], [[1, -1]], True),
    "they do so on the same edge": ([[1, -1, 0, 0], [1, -3, 0, 0]], [[1, -1]], False),
    "at the point only, and cancelled there": ([[1, -1, -1, 0], [1, -2, -1, 0]], [[1, -1]], False),
    "off where the trace is zero, as on the whole face": ([[-1, 1, -1, 0], [-1, 2, -2, 0]], [[1, -1]], False),
    "on on the face, off at the point, mended": ([[1, -1, 0], [-1, 2, 0], [-1, 1, 1]], [[1, -1, 1]], False),
    "three edges and the point": ([[1, -1, 0, 0], [1, 0, -1, 0], [1, -1, -1, 0]], [[1, 1, -1]], True),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "outer", "expected"), BENDS.values(), ids=BENDS)
def test_the_rows_decide(rows, outer, expected):
    net = on_orthant(rows, outer)
    assert (0 in bending_hyperplanes(net)) == expected
    assert any(bends_at(net, 0, others) for others in points(net.widths[1], random.Random(1))) == expected


@pytest.mark.parametrize("seed", range(6))
def test_rows_with_few_entries_cancel_often(seed):
    """Planes of several slopes that meet a face in one line; in dimension 2 five points of it see everything."""
    rng, met = random.Random(seed), set()
    for _ in range(90):
        rows = [[rng.choice([1, -1]), rng.randint(-2, 2), rng.randint(-2, 2)] for _ in range(rng.choice([2, 2, 3]))]
        net = on_orthant(rows, [[rng.choice([1, -1]) for _ in rows]])
        bends = any(bends_at(net, 0, [Fraction(u, 8)]) for u in (-1, 3, 7, 11, 20))
        assert (0 in bending_hyperplanes(net)) == bends, rows
        met.add(bends)
    assert len(met) == 2


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


def test_a_row_that_is_on_but_at_a_point_mends_others_there():
    """On H_2: relu(h1 + h3 − u) is on but at 0, the steps of the next two cancel but at 0, and −3 is the rest."""
    net = on_orthant([[1, -1, 1, 0], [1, 1, -1, 0], [1, -3, -1, 0], [0, 1, 0, 1]], [[-3, 3, 1, -3]])
    assert 1 not in bending_hyperplanes(net)
    assert not any(bends_at(net, 1, others) for others in points(3, random.Random(1)))
    assert 1 in bending_hyperplanes(on_orthant([[1, -1, 1, 0], [0, 1, 0, 1]], [[-3, -3]]))


def test_more_inputs_than_hyperplanes():
    net = Network([([[1, 0, 2], [0, 1, 5]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    assert bending_hyperplanes(net) == (1,)


@pytest.mark.parametrize(
    "net",
    [
        Network([([[1]], [0]), ([[1]], [0])]),
        Network.generic(2, 2, 1, 1, signs=["+--"]),
        Network([([[1, 0], [2, 0]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])]),
    ],
    ids=["two layers", "letters", "rank 1"],
)
def test_refused(net):
    with pytest.raises(UnsupportedError, match=r"^where a function bends is read off its rows for three layers of num"):
        bending_hyperplanes(net)
