"""Counts of relabellings against brute force, and the three consequences, exactly."""

from itertools import pairwise, permutations, product
from math import factorial, prod

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers import gallery
from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UndecidedSignError, UnsupportedError
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.equivalence import same_function
from semialg_fibers.questions.relabelling import (
    averaging,
    distant_relabelling,
    distant_twin,
    relabelling_count,
    squared_distance,
    unit_correlations,
)
from semialg_fibers.questions.stabiliser import stabiliser_order

SYMMETRIC = Network([([[1], [1]], [0, 0]), ([[1, 2], [2, 1]], [0, 0]), ([[1, 1]], [0])])


def labelled(net):
    """All relabelled networks, by brute force."""
    found = {net}
    for layer, width in enumerate(net.widths[1:-1], 1):
        found = {each.permuted(layer, order) for each in found for order in permutations(range(width))}
    return found


@st.composite
def few_values(draw):
    """Networks with many equal entries: copies of units and symmetric relabellings are common."""
    widths = [draw(st.integers(1, 2)), *draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)), 1]
    if prod(map(factorial, widths[1:-1])) > 600:
        widths = [widths[0], 3, 3, 1]
    entries = st.sampled_from([0, 1, 1, 2])
    layers = []
    for inputs, outputs in pairwise(widths):
        row = st.lists(entries, min_size=inputs, max_size=inputs)
        weight = draw(st.lists(row, min_size=outputs, max_size=outputs))
        layers.append((weight, draw(st.lists(st.sampled_from([0, 0, 1]), min_size=outputs, max_size=outputs))))
    return Network(layers)


@settings(max_examples=60)
@given(net=few_values())
def test_the_count_is_that_of_brute_force(net):
    assert relabelling_count(net) == len(labelled(net))
    assert relabelling_count(net) * stabiliser_order(net) == prod(map(factorial, net.widths[1:-1]))


A, B = sympy.symbols("a b", positive=True)
N = sympy.Symbol("n", negative=True)


@pytest.mark.parametrize(
    ("layers", "count"),
    [
        ([([[A], [1]], [0, 0]), ([[1, 1]], [0])], None),  # 1 at a = 1, else 2
        ([([[A], [1]], [0, 0]), ([[1, N]], [0])], 2),  # their outgoing weights tell them apart
        ([([[A], [-B]], [0, 0]), ([[1, 1]], [0])], 2),
        ([([[A], [A], [N]], [B, B, B]), ([[N, N, N]], [0])], 3),  # two copies, whatever the letters are
        ([([[1], [1]], [0, 0]), ([[A, N], [N, A]], [0, 0]), ([[1, 1]], [0])], 2),  # swapped together
        ([([[1], [1]], [0, 0]), ([[A, B], [B, A]], [0, 0]), ([[1, 1]], [0])], None),  # copies at a = b
        ([([[1], [1]], [A, A + 1]), ([[A, B], [B, A]], [N, 1]), ([[1, 1]], [0])], 4),  # different biases
    ],
)
def test_with_letters_the_count_holds_for_all_values_or_is_refused(layers, count):
    net = Network(layers)
    if count is None:
        with pytest.raises(UndecidedSignError, match=r"the sign of .* depends on the values of its letters"):
            relabelling_count(net)
        return
    assert relabelling_count(net) == count
    values = {letter: {"a": 2, "b": 2, "n": -2}[letter.name] for letter in net.symbols}
    assert len(labelled(net.subs(values))) == count


def test_what_needs_numbers_says_so():
    net = Network([([[A], [1]], [0, 0]), ([[1, 2]], [0])])
    for ask in (
        lambda: averaging(net, [1, 0]),
        lambda: unit_correlations(net, net, [[1]]),
        lambda: distant_twin(net, 1),
    ):
        with pytest.raises(UnsupportedError, match="this needs numbers: substitute values for a"):
            ask()


def cycle(n):
    """Two hidden layers of n units, tied like the sides of a polygon: n rotations and n reflections are symmetric."""
    ring = [[int(j in (i, (i + 1) % n)) for j in range(n)] for i in range(n)]
    return Network([([[1]] * n, [0] * n), (ring, [0] * n), ([[1] * n], [0])])


def test_counts_by_hand():
    assert relabelling_count(SYMMETRIC) == 2
    assert relabelling_count(8) == factorial(8)
    assert relabelling_count(0) == relabelling_count(1) == 1
    assert (
        relabelling_count(Network([([[1], [1], [2], [2], [2]], [0] * 5), ([[3, 3, 4, 4, 4]], [0])])) == 10
    )  # 5!/(2! 3!)
    assert stabiliser_order(cycle(6)) == 12
    assert relabelling_count(cycle(6)) == factorial(6) ** 2 // 12
    # Two copies of one unit and a third: without the copies the third could take their place, with them it cannot.
    uneven = Network([([[1]] * 3, [0] * 3), ([[1, 1, 2], [2, 2, 1]], [0, 0]), ([[1, 1]], [0])])
    assert stabiliser_order(uneven) == 2
    full = Network([([[1]] * 30, [0] * 30), ([[1] * 30], [0])])  # thirty copies of one unit
    assert relabelling_count(full) == 1
    assert relabelling_count(Network([([[1, 2]], [3])])) == 1


def test_symmetries_that_colours_do_not_see():
    """Two triangles against a hexagon: refinement alone sees no difference, the search does."""

    def ring(sizes):
        n, start = sum(sizes), 0
        rows = [[0] * n for _ in range(n)]
        for size in sizes:
            for i in range(size):
                for j in (i, (i + 1) % size):
                    rows[start + i][start + j] = 1
            start += size
        return Network([([[1]] * n, [0] * n), (rows, [0] * n), ([[1] * n], [0])])

    assert stabiliser_order(ring([6])) == 12
    assert stabiliser_order(ring([3, 3])) == 6 * 6 * 2


@pytest.mark.parametrize(
    ("n", "digits", "start"),
    [
        (512, 50, "1166.5412408857692271245202328980587482588061931915"),
        (8, 10, "4.605520523"),
        (2, 5, "0.3010"),
        (1, 5, "0"),
    ],
)
def test_logarithms(n, digits, start):
    assert str(relabelling_count(n).log10(digits)).startswith(start)


def test_refusals():
    for wrong in (-1, True, "8", 2.0):
        with pytest.raises(InvalidNetworkError):
            relabelling_count(wrong)
    with pytest.raises(BudgetExceededError):
        relabelling_count(10**9)
    with pytest.raises(BudgetExceededError):
        relabelling_count(cycle(6), budget=3)
    with pytest.raises(InvalidNetworkError):
        relabelling_count(3).log10(0)
    for digits in ("a", 2.5, True, None):
        with pytest.raises(InvalidNetworkError, match=r"1\.\.10,000 digits"):
            relabelling_count(8).log10(digits)
    net = Network([([[1], [2]], [0, 0]), ([[1, 1]], [0])])
    for order in (3, None, "ab", [0, "b"], [None, 1], [0, 0], [[0], [1]]):
        with pytest.raises(InvalidNetworkError, match=r"no permutation|order(\[\d\])?: expected"):
            averaging(net, order)
    for layer in ("a", None, 1.5, 2):
        with pytest.raises(InvalidNetworkError, match=r"hidden|layer: expected"):
            averaging(net, [1, 0], layer)
        with pytest.raises(InvalidNetworkError, match=r"hidden layer|layer: expected"):
            unit_correlations(net, net, [[0], [1]], layer)


# The three consequences


def test_averaging_is_another_function():
    net = gallery.network("visible_2_2_2_1")
    found = averaging(net, [1, 0])
    assert same_function(net, found.relabelled).same
    assert found.answer.same is False
    assert found.answer.check()
    point = found.answer.witness
    assert found.distance([point]) == abs(net(point)[0] - found.average(point)[0]) > 0
    assert found.distance([]) == 0
    same = averaging(net, [0, 1])
    assert (same.average, same.answer.same, same.distance([point])) == (net, True, 0)


def test_averaging_equal_units_changes_nothing():
    net = Network([([[1], [1]], [2, 2]), ([[3, 3]], [0])])
    assert averaging(net, [1, 0]).answer.same is True


def test_correlations_depend_on_labels_and_are_repaired():
    net = Network([([[1, 0], [0, 1], [1, 1]], [0, 1, -1]), ([[1, 2, 3]], [0])])
    points = list(product(range(-2, 3), repeat=2))
    assert unit_correlations(net, net, points).by_label == (1, 1, 1)
    other = net.permuted(1, [2, 0, 1]).rescaled(1, [5, "1/2", 3])
    found = unit_correlations(net, other, points)
    assert found.matched == (1, 1, 1)
    assert all(value < 1 for value in found.by_label)
    stranger = Network([([[1, 0], [0, 1], [1, 2]], [0, 1, -1]), ([[1, 2, 3]], [0])])
    assert unit_correlations(net, stranger, points).matched is None


def test_a_constant_unit_has_no_correlation():
    net = Network([([[1], [0]], [0, 1]), ([[1, 2]], [0])])
    assert unit_correlations(net, net, [[0], [1], [2]]).by_label == (1, None)
    with pytest.raises(InvalidNetworkError):
        unit_correlations(net, net, [[0]], layer=2)


def test_a_correlation_by_hand():
    net = Network([([[1], [2]], [0, -1]), ([[1, 1]], [0])])
    other = net.permuted(1, [1, 0])
    assert unit_correlations(net, other, [[0], [1], [2]]).by_label[0] == 3 / sympy.sqrt(2 * sympy.Rational(14, 3))


@pytest.mark.parametrize("bound", [0, 1, "1/3", 10**9])
def test_the_same_function_far_away(bound):
    for name in ("visible_2_2_2_1", "hidden_2_2_2_1"):
        net = gallery.network(name)
        twin = distant_twin(net, bound)
        assert squared_distance(net, twin) > sympy.Rational(bound) ** 2
        assert same_function(net, twin).same
    a, b = distant_relabelling(bound)
    assert squared_distance(a, b) > sympy.Rational(bound) ** 2
    assert same_function(a, b).same


def test_outgoing_weights_move_where_there_are_no_incoming_ones():
    net = Network([([[0]], [0]), ([[5]], [1])])
    assert squared_distance(net, distant_twin(net, 100)) > 100**2
    with pytest.raises(UnsupportedError):
        distant_twin(Network([([[0]], [0]), ([[0]], [1])]), 1)
    with pytest.raises(InvalidNetworkError):
        squared_distance(net, Network([([[0]], [0])]))
