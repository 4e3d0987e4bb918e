"""First hidden layer of width one: the theory's example, both directions, and an exhaustive search (theory §3.5)."""

from collections import defaultdict
from itertools import product

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import bottlenecks, seeds

from semialg_fibers.errors import NotGenericError, UnsupportedError
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.genericity import genericity
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.oracle import same_on_cells


def line(w, b, rows, weights, constant=0):
    """R → R: relu(w x + b), rows (a, β), outgoing weights."""
    return Network([([[w]], [b]), ([[a] for a, _ in rows], [beta for _, beta in rows]), ([weights], [constant])])


def named(found):
    return [(component.direction, component.kind, component.flips) for component in found.components]


def test_the_theorys_example_is_constant_on_both_sides():
    net = line(1, 0, [(-1, 2)], [3], 1)
    other = line(-1, 2, [(-1, 2)], [-3], 7)  # u → 2 − u, A3 → −A3, b3 → b3 + 2 A3
    assert same_on_cells(net, other) is None
    found = fiber(net)
    # In the own direction flips are relative to the network, in the other one to neurons that open outwards.
    assert named(found) == [(1, "visible", ()), (-1, "visible", (0,))]
    assert [component.contains(net) for component in found.components] == [True, False]
    assert [component.contains(other) for component in found.components] == [False, True]
    assert found.dimension == found.local_dimension == 2
    assert found.labelled_count == 2


@pytest.mark.parametrize(
    ("net", "expected", "dimension"),
    [
        pytest.param(
            # φ = relu(u − 1): one bend. Visible with two spare rows (q = 1: 1 + 1 + 1 + 1, and N = 3 dead), or hidden.
            line(1, 0, [(1, -1), (-1, -1)], [1, 1]),
            [(1, "hidden", ()), (1, "visible", ())],
            1 + 1 + 1 + 3,
            id="one bend, a spare row",
        ),
        pytest.param(
            line(1, 0, [(1, -1)], [2]), [(1, "hidden", ()), (1, "visible", ())], 3, id="one bend, no spare row"
        ),
        pytest.param(
            # Two bends in two rows. Visible needs one nonlinear and one linear row: both sides of the nonlinear one.
            line(1, 0, [(1, -1), (1, -2)], [1, 1]),
            [(1, "hidden", ()), (1, "visible", ()), (1, "visible", (0,))],
            1 + 2 + 1,
            id="two bends",
        ),
        pytest.param(
            # The final slope 1 − 1 is zero: the same from the other side. M_{1} = 1 − 1 = 0 leaves a dead row:
            # n1 + k + N = 1 + 1 + 3.
            line(1, 0, [(1, -1), (1, -2)], [1, -1]),
            [
                (1, "hidden", ()),
                (1, "visible", ()),
                (1, "visible", (0,)),
                (-1, "visible", ()),
                (-1, "visible", (0,)),
                (-1, "hidden", ()),
            ],
            5,
            id="a step",
        ),
        pytest.param(
            # Three bends 0, 1, 2 with two rows: no hidden kind, no spare row, and S must have M_S = 0. The slopes are
            # M = 0 at first; C_l B_l = −1, 2, so that no nonempty sum vanishes.
            line(1, 0, [(-1, 1), (1, -2)], [1, 2]),
            [(1, "visible", ())],
            3,
            id="as many bends as units",
        ),
        pytest.param(
            # C_l B_l = −1, 1: S = {1, 2} has M_S = 0; the final slope is 1.
            line(1, 0, [(-1, 1), (1, -2)], [1, 1]),
            [(1, "visible", ()), (1, "visible", (0, 1))],
            3,
            id="M_S = 0",
        ),
    ],
)
def test_components_worked_out_by_hand(net, expected, dimension):
    found = fiber(net)
    assert named(found) == expected
    assert found.dimension == dimension
    for component in found.components:
        for seed in range(5):
            assert same_on_cells(net, component.sample(seed)) is None


def test_the_hidden_kind_touches_the_visible_one_at_beta_zero():
    """Theory §3.5: (b) touches (a, S = ∅) at β' = 0, which belongs to (a) alone."""
    net = line(1, 0, [(1, -1), (1, -2)], [1, 5])
    hidden, visible = fiber(net).components[:2]
    at_the_end = line(1, -1, [(1, 0), (1, -1)], [1, 5])
    assert same_on_cells(net, at_the_end) is None
    assert not hidden.contains(at_the_end)
    assert visible.contains(at_the_end)
    just_inside = line(1, "-99/100", [(1, "-1/100"), (1, "-101/100")], [1, 5])
    assert hidden.contains(just_inside)
    assert not visible.contains(just_inside)


@settings(max_examples=60)
@given(st.data())
def test_the_mirror_image_has_the_mirrored_fiber(data):
    """x → −x maps members of the fiber of f(x) to members of the fiber of f(−x), component by component."""
    net = data.draw(bottlenecks(data.draw(st.sampled_from(["line, visible", "line, constant on both sides"]))))

    def mirror(each):
        first = each.layers[0]
        return each.with_layers([(-first.matrix, first.offset), *each.layers[1:]])

    found, mirrored = fiber(net), fiber(mirror(net))
    assert named(found) == named(mirrored)
    for component, image in zip(found.components[:6], mirrored.components[:6], strict=True):
        assert image.contains(mirror(component.sample(data.draw(seeds))))


def test_one_output_that_ends_in_a_constant_is_not_enough_to_read_it_backwards():
    """φ = (relu(u − 1) − relu(u − 2), relu(u − 1)): only the first output has the final slope zero."""
    rows = ([[1], [1]], [-1, -2])
    net = Network([([[1]], [0]), rows, ([[1, -1], [1, 0]], [0, 0])])
    assert {component.direction for component in fiber(net).components} == {1}
    both = Network([([[1]], [0]), rows, ([[1, -1], [2, -2]], [0, 0])])
    assert {component.direction for component in fiber(both).components} == {1, -1}
    for each in (net, both):
        assert all(same_on_cells(each, component.sample(3)) is None for component in fiber(each).components)


def profile(net):
    """Values at all integers of [−9, 9]: for integer bends in [−7, 7] they determine the function."""
    values = []
    for x in range(-9, 10):
        h = max(net[0] * x + net[1], 0)
        values.append(sum(c * max(a * h + b, 0) for a, b, c in net[2:]))
    return tuple(value - values[9] for value in values), values[9]


def test_exhaustive_search_among_small_integers():
    """All networks of widths (1, 1, 2, 1) with weights ±1 and small biases, in classes of equal functions.

    Bends are integers in [−5, 5] here, so that integer values decide equality. The constant b3 makes f(0) = 0.
    """
    rows = [(a, b) for a in (-1, 1) for b in (-2, -1, 1, 2)]
    classes = defaultdict(list)
    for w, b, (first, second), c1, c2 in product(
        (-1, 1), (-1, 0, 2), [(r, s) for r in rows for s in rows if r < s], (-1, 1, 2), (-2, -1, 1, 2)
    ):
        key, shift = profile((w, b, (*first, c1), (*second, c2)))
        classes[key].append(line(w, b, [first, second], [c1, c2], -shift))
    checked = 0
    for members in classes.values():
        generic = [net for net in members if genericity(net).is_generic]
        for one in generic[:2]:
            found = fiber(one)
            for other in generic:
                assert found.contains(other), (one, other)
                checked += 1
    strangers = [members[0] for members in classes.values()][:25]
    for one in strangers:
        if genericity(one).is_generic:
            assert [fiber(one).contains(other) for other in strangers] == [other is one for other in strangers]
    assert checked > 2000


@pytest.mark.parametrize(
    ("rows", "biases", "outgoing", "words"),
    [
        ([1, 1], ["z", "w"], [1, -1], "all bends cancel"),
        (
            [1, 1, 1],
            ["z", "w", -1],
            [1, -1, 5],
            "the slopes of the rows that are active where the first layer switches cancel",
        ),
    ],
)
def test_where_no_family_is_sure_to_be_its_own_letters_are_refused(rows, biases, outgoing, words):
    """z, w ≥ 0: where both are positive the two rows cancel at u = 0, which (G4) forbids; where one is 0 it is open."""
    letters = {name: sympy.Symbol(name, nonnegative=True) for name in "zw"}
    net = Network([([[1]], [0]), ([[row] for row in rows], [letters.get(b, b) for b in biases]), ([outgoing], [0])])
    with pytest.raises(UnsupportedError) as refused:
        fiber(net)
    assert (
        refused.value.message
        == f"{words}, and whether the network is generic depends on its letters: substitute numbers"
    )
    with pytest.raises(NotGenericError):
        fiber(net.subs({"z": 1, "w": 2}))
