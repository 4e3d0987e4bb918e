"""Exact polygons: vertices against an enumeration of all patterns, areas, affine maps, slices against the network."""

from fractions import Fraction
from itertools import combinations, pairwise, product

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import layer_rows

from semialg_fibers import gallery
from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.domain import Box, Orthant
from semialg_fibers.geometry.scalar import affine_value, vector
from semialg_fibers.networks.bent_hyperplanes import Plane, bent_arrangement, on_plane
from semialg_fibers.networks.layer import Network

PLANAR = [name for name in gallery.names() if gallery.network(name).widths[0] == 2]
GENERIC = [name for name in PLANAR if "box" not in name and "rank" not in name]


def forms_of_pattern(net, pattern):
    """The affine forms of all hidden units in the input, as Fractions, when the units of `pattern` are active."""
    d = net.widths[0]
    inputs = [[Fraction(int(i == k)) for i in range(d + 1)] for k in range(d)]
    found = []
    for layer, bits in zip(net.layers[:-1], pattern, strict=True):
        forms = []
        for row in layer_rows(layer):
            total = [Fraction(0)] * d + [row[-1]]
            for weight, form in zip(row[:-1], inputs, strict=True):
                total = [a + weight * b for a, b in zip(total, form, strict=True)]
            forms.append(total)
        found += forms
        inputs = [form if bit else [Fraction(0)] * (d + 1) for form, bit in zip(forms, bits, strict=True)]
    return found


def candidates(net):
    """All points where two independent preactivations vanish under a pattern that agrees with the signs there.

    With each point the number of units that vanish there. Every pattern is tried; no cell is computed.
    """
    widths = net.widths[1:-1]
    points = {}
    for bits in product((0, 1), repeat=sum(widths)):
        rest = iter(bits)
        pattern = [[next(rest) for _ in range(width)] for width in widths]
        forms = forms_of_pattern(net, pattern)
        for (a, b, e), (c, d, g) in combinations(forms, 2):
            determinant = a * d - b * c
            if determinant == 0:
                continue
            x = ((b * g - d * e) / determinant, (c * e - a * g) / determinant)
            values = [form[0] * x[0] + form[1] * x[1] + form[2] for form in forms]
            if all(value >= 0 if bit else value <= 0 for value, bit in zip(values, bits, strict=True)):
                points[x] = sum(value == 0 for value in values)
    return points


def as_fractions(point):
    return tuple(Fraction(int(value.p), int(value.q)) for value in point)


@pytest.mark.parametrize("name", GENERIC)
def test_vertices_of_the_gallery_are_those_of_all_patterns(name):
    net = gallery.network(name)
    expected = set(candidates(net))
    if isinstance(net.domain, Orthant):
        expected = {x for x in expected if min(x) > 0}
    assert {as_fractions(v) for v in bent_arrangement(net).vertices} == expected


entries = st.integers(-4, 4)


nonzero = st.integers(-40, 40).filter(bool)


@st.composite
def planar(draw, entries=entries):
    widths = (2, draw(st.integers(1, 3)), draw(st.integers(1, 2)), 1)
    layers = []
    for a, b in pairwise(widths):
        rows = draw(st.lists(st.lists(entries, min_size=a, max_size=a), min_size=b, max_size=b))
        layers.append((rows, draw(st.lists(entries, min_size=b, max_size=b))))
    return Network(layers)


@given(planar(nonzero))
@settings(max_examples=40)
def test_vertices_of_random_networks_are_those_of_all_patterns(net):
    points = candidates(net)
    assume(all(zeros == 2 for zeros in points.values()))  # three units at one point need not cross there
    inside = {x for x in points if abs(x[0]) < 400 and abs(x[1]) < 401}
    found = bent_arrangement(net, ((-400, 400), (-401, 401)))
    assert {as_fractions(v) for v in found.vertices} == inside
    assert all(len(units) == 2 for units in found.vertices.values())


@given(planar(), st.integers(-3, 3), st.integers(1, 5))
@settings(max_examples=40)
def test_regions_fill_the_window_and_carry_the_function(net, low, side):
    found = bent_arrangement(net, ((low, low + side), (low, low + 2 * side)))
    assert sum((region.area for region in found.regions), fmpq(0)) == 2 * side * side
    for region in found.regions:
        assert region.area > 0
        for corner in region.corners:
            affine = tuple(affine_value((*row, v), corner) for row, v in zip(region.slope, region.offset, strict=True))
            assert affine == net.value(corner)


@given(planar())
@settings(max_examples=40)
def test_on_a_piece_its_unit_is_zero_and_switches(net):
    found = bent_arrangement(net, ((-9, 9), (-9, 9)))
    for piece in found.pieces:
        middle = tuple((p + q) / 2 for p, q in zip(*piece.ends, strict=True))
        x = middle
        for layer in net.layers[: piece.layer - 1]:
            x = tuple(max(value, fmpq(0)) for value in layer.apply(x))
        assert net.layers[piece.layer - 1].apply(x)[piece.unit] == 0
    for piece in found.pieces:
        (p, q), turned = piece.ends, (piece.ends[0][1] - piece.ends[1][1], piece.ends[1][0] - piece.ends[0][0])
        middle = tuple((a + b) / 2 for a, b in zip(p, q, strict=True))
        step = fmpq(1, 10**9)
        left, right = (tuple(m + s * step * t for m, t in zip(middle, turned, strict=True)) for s in (1, -1))
        # f is affine along left–middle–right iff it does not bend there
        kink = any(a + b != 2 * c for a, b, c in zip(*map(net.value, (left, right, middle)), strict=True))
        assert kink == piece.bends


def test_a_unit_that_vanishes_on_one_side_ends_its_piece_there():
    """relu(x) − relu(y) is zero on the whole quadrant x, y ≤ 0, which therefore has no piece of it inside."""
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [0, 1]], [0, -1]), ([[1, 1]], [0])])
    found = bent_arrangement(net, ((-2, 2), (-2, 2)))
    assert sum((region.area for region in found.regions), fmpq(0)) == 16
    assert all(piece.ends[0] < piece.ends[1] for piece in found.pieces)
    assert vector([1, 1]) in found.vertices


@given(st.data())
@settings(max_examples=25)
def test_a_slice_is_the_network_on_the_plane(data):
    rows = st.lists(st.lists(entries, min_size=3, max_size=3), min_size=2, max_size=2)
    net = Network(
        [
            (data.draw(rows), [1, -1]),
            (data.draw(st.lists(st.lists(entries, min_size=2, max_size=2), min_size=2, max_size=2)), [0, 1]),
            ([[1, -2]], [0]),
        ],
        data.draw(st.sampled_from([None, Orthant(3), Box([-5, -5, -5], [5, 5, 5])])),
    )
    plane = Plane([1, 1, 1], [1, 0, data.draw(entries)], [0, 1, "1/2"])
    point = data.draw(st.tuples(st.fractions(-9, 9), st.fractions(-9, 9)))
    cut = on_plane(net, plane)
    assert cut.value(vector(point)) == net.value(plane.point(point))
    assert cut.domain.contains(vector(point)) == net.domain.contains(plane.point(point))


def test_refusals():
    net = gallery.network("hidden_2_2_2_1")
    with pytest.raises(UnsupportedError, match="two inputs"):
        bent_arrangement(gallery.network("flips_3_3_1_1"))
    with pytest.raises(InvalidNetworkError, match="no interior"):
        bent_arrangement(net, ((1, 1), (0, 1)))
    with pytest.raises(InvalidNetworkError, match="window is"):
        bent_arrangement(net, 5)
    with pytest.raises(BudgetExceededError, match="budget"):
        bent_arrangement(net, None, 3)
    with pytest.raises(InvalidNetworkError, match="dependent"):
        Plane([0, 0], [1, 2], [2, 4])
    with pytest.raises(InvalidNetworkError, match="inputs"):
        on_plane(net, Plane([0, 0, 0], [1, 0, 0], [0, 1, 0]))
