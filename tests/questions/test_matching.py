"""Relabellings: planted ones are found, None is right, canonical forms agree; the slow judge tries all permutations."""

import random
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import gcd

import numpy as np
import pytest
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import columns_of, layer_rows
from strategies import networks_of, relabelled

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.questions import matching as module
from semialg_fibers.questions.alignment import align, assigned
from semialg_fibers.questions.colouring import Colouring, word_primes
from semialg_fibers.questions.matching import UnitMatching, canonical_form, match_units
from semialg_fibers.verify.oracle import same_on_cells

ENTRIES = {
    "signs": st.sampled_from([-1, 1]),
    "zeros": st.sampled_from([0, 0, 1]),
    "small": st.integers(-2, 2),
    "fractions": st.builds(Fraction, st.integers(-9, 9), st.integers(1, 9)),
    "long": st.builds(Fraction, st.integers(-(2**70), 2**70), st.integers(1, 2**66)),
    "at the ends of a word": st.sampled_from([-(2**63), 2**63 - 1, 2**63, -(2**64), 0]),
}
FACTORS = st.builds(Fraction, st.integers(1, 99), st.integers(1, 99)) | st.sampled_from([1, 2, Fraction(1, 2), 2**80])


@st.composite
def networks(draw, largest=4, deepest=3):
    """Networks of any depth with few different rows: duplicates, multiples, zero rows, zero columns, free parts."""
    hidden = draw(st.lists(st.integers(1, largest), min_size=0, max_size=deepest))
    widths = [draw(st.integers(1, 2)), *hidden, draw(st.integers(1, 2))]
    layers = []
    for inputs, outputs in pairwise(widths):
        entry = ENTRIES[draw(st.sampled_from(sorted(ENTRIES)))]
        pool = draw(st.lists(st.lists(entry, min_size=inputs + 1, max_size=inputs + 1), min_size=1, max_size=outputs))
        pool += [[0] * (inputs + 1), [*pool[0][:-1], 0], [2 * value for value in pool[0]]]
        rows = [draw(st.sampled_from(pool)) for _ in range(outputs)]
        for j in draw(st.sets(st.integers(0, inputs - 1), max_size=1)):
            rows = [[*row[:j], 0, *row[j + 1 :]] for row in rows]
        layers.append(Layer([row[:-1] for row in rows], [row[-1] for row in rows]))
    return Network(layers, draw(st.sampled_from([Space(widths[0]), Orthant(widths[0])])))


@st.composite
def moved(draw, net):
    for layer in range(1, len(net.layers)):
        net = net.permuted(layer, draw(st.permutations(range(net.widths[layer]))))
        net = net.rescaled(layer, [draw(FACTORS) for _ in range(net.widths[layer])])
    return net


@st.composite
def changed(draw, net):
    """Another entry in one place, or two entries of one row exchanged."""
    number = draw(st.integers(0, len(net.layers) - 1))
    rows = layer_rows(net.layers[number])
    i, j = draw(st.integers(0, len(rows) - 1)), draw(st.integers(0, len(rows[0]) - 1))
    k = draw(st.integers(0, len(rows[0]) - 1))
    if draw(st.booleans()):
        rows[i][j] += draw(st.sampled_from([-1, 1]))
    else:
        rows[i][j], rows[i][k] = rows[i][k], rows[i][j]
    layers = list(net.layers)
    layers[number] = Layer([row[:-1] for row in rows], [row[-1] for row in rows])
    return net.with_layers(layers)


def rescalable(a, b):
    """Whether positive factors of the hidden units make b out of a, no unit moved: by walking along weights."""
    edges = {}
    for number, pair in enumerate(zip(a.layers, b.layers, strict=True)):
        for i, (old, new) in enumerate(zip(*map(layer_rows, pair), strict=True)):
            for j, (u, v) in enumerate(zip(old, new, strict=True)):
                if (u > 0, u < 0) != (v > 0, v < 0):
                    return False
                if u:
                    ends = ("fixed" if number == 0 or j == len(old) - 1 else (number, j)), (number + 1, i)
                    ends = (ends[0], "fixed" if number == len(a.layers) - 1 else ends[1])
                    edges.setdefault(ends[0], []).append((ends[1], v / u))
                    edges.setdefault(ends[1], []).append((ends[0], u / v))
    known = {}
    for start in ["fixed", *edges]:
        walk = [] if start in known else [(start, Fraction(1))]
        while walk:
            unit, factor = walk.pop()
            if unit not in known:
                known[unit] = factor
                walk += [(end, factor * ratio) for end, ratio in edges.get(unit, [])]
            elif known[unit] != factor:
                return False
    return True


def brute_force(a, b):
    """Whether b is a relabelling of a, by trying all permutations of all hidden layers."""
    for orders in product(*(permutations(range(width)) for width in a.widths[1:-1])):
        net = a
        for layer, order in enumerate(orders, 1):
            net = net.permuted(layer, order)
        if rescalable(net, b):
            return True
    return False


def random_network(widths, seed, low=-(2**24), high=2**24):
    source = random.Random(seed)
    entries = [
        [[Fraction(source.randint(low, high), 2 ** source.randint(0, 9)) for _ in range(i + 1)] for _ in range(o)]
        for i, o in pairwise(widths)
    ]
    return Network([([row[:-1] for row in rows], [row[-1] for row in rows]) for rows in entries])


def shuffled(net, seed, factor=lambda source: Fraction(source.randint(1, 99), source.randint(1, 99))):
    source = random.Random(seed)
    for layer in range(1, len(net.layers)):
        width = net.widths[layer]
        net = net.permuted(layer, source.sample(range(width), width))
        net = net.rescaled(layer, [factor(source) for _ in range(width)])
    return net


def cycles(*lengths, bias=1, outgoing=1, weight=1):
    """Two hidden layers whose weights form cycles through both; colours cannot tell these apart."""
    size = sum(lengths)
    middle, start = [[0] * size for _ in range(size)], 0
    for length in lengths:
        for i in range(length):
            middle[start + i][start + i] = 1
            middle[start + i][start + (i + 1) % length] = 1
        middle[start][start] = weight
        start += length
    return Network(
        [([[0]] * size, [0] * size), (middle, [bias] * size), ([[outgoing] * size], [0])],
    )


# planted relabellings


@settings(max_examples=150, deadline=None)
@given(networks(), st.data())
def test_a_planted_relabelling_is_found(a, data):
    b = data.draw(moved(a))
    found = match_units(a, b)
    assert found is not None
    assert found.apply(a) == b
    assert found.carries(a, b)
    assert all(factor > 0 for layer in found.factors for factor in layer)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_it_is_found_for_generic_networks_on_every_domain(data):
    a = data.draw(networks_of(data.draw(st.sampled_from(["visible", "dead rows", "one hidden layer on a box"]))))
    b = data.draw(relabelled(a))
    assert match_units(a, b).apply(a) == b


def test_the_planted_one_comes_back_where_it_is_unique():
    a = random_network((7, 9, 8, 6, 3), seed=1)
    orders = tuple(tuple(random.Random(2).sample(range(n), n)) for n in (9, 8, 6))
    factors = tuple(tuple(Fraction(i + 1, n) for i in range(n)) for n in (9, 8, 6))
    b = a
    for layer, (order, scales) in enumerate(zip(orders, factors, strict=True), 1):
        b = b.permuted(layer, order).rescaled(layer, scales)
    found = match_units(a, b)
    assert (found.orders, found.factors) == (orders, factors)
    assert [order for order, _ in found] == list(orders)
    assert [scales for _, scales in found] == list(factors)


@pytest.mark.parametrize("prime", [next(word_primes()), 2**61 - 1, next(word_primes()) ** 5])
def test_factors_that_vanish_modulo_a_prime_are_found(prime):
    """The colours are hashes modulo the first of these primes; scaled by it, every weight of a unit would look zero."""
    a = random_network((3, 4, 3, 2), seed=3)
    b = shuffled(a, 4, lambda source: source.choice([1, Fraction(prime), Fraction(2, prime)]))
    assert match_units(a, b).apply(a) == b
    assert match_units(b, a).apply(b) == a


@pytest.mark.parametrize("width", [1, 60])
def test_interchangeable_units_are_not_tried_out(width):
    """Duplicates, their multiples, dead units, units without weights: one comparison of colours is enough."""
    row = random.Random(5).choices
    kinds = [([1, -2], [3, 0]), ([1, -2], [6, 0]), ([2, -4], [5, 2])]
    kinds += [([0, 0], [0, 0]), ([0, 0], [3, 1]), ([-1, 0], [0, 0]), ([1, -3], [1, 1]), ([-1, 3], [1, 1])]
    units = [kind for kind in kinds for _ in range(width)] + [(row([-3, 5, 7], k=2), row([2, 4], k=2)) for _ in "ab"]
    first = Layer([unit[0] for unit in units], [unit[0][0] for unit in units])
    a = Network([first, Layer(list(zip(*(unit[1] for unit in units), strict=True)), [1, -1]), Layer([[1, 1]], [0])])
    b = shuffled(a, 6)
    assert match_units(a, b, budget=1).apply(a) == b


def test_how_many_duplicates_there_are_tells_units_apart():
    a = Network([([[1]] * 5, [0] * 5), ([[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]], [1, 1]), ([[1, 1]], [0])])
    b = shuffled(a, 18)
    assert match_units(a, b, budget=1).apply(a) == b


def test_weights_tell_units_apart_that_are_tied_to_nothing():
    """Positive weights between two layers, else zeros: once one unit is matched, all other weights have a meaning."""
    size = 6
    source = random.Random(19)
    middle = [[source.randint(1, 9) for _ in range(size)] for _ in range(size)]
    a = Network([([[0]] * size, [0] * size), (middle, [0] * size), ([[0] * size], [0])])
    b = shuffled(a, 20)
    assert match_units(a, b, budget=size + 1).apply(a) == b


def test_scales_spread_along_a_path():
    """Two paths that go up and down between two layers, each from a bias to a cycle of its own."""
    length = 7
    size = length + 2
    middle = [[0] * (2 * size) for _ in range(2 * size)]
    for copy, weight in enumerate((2, 3)):
        for i in range(length):
            middle[copy * size + i][copy * size + i] = middle[copy * size + i + 1][copy * size + i] = 1
        for i, j, value in ((-2, -2, weight), (-2, -1, 1), (-1, -2, 1), (-1, -1, 1)):
            middle[(copy + 1) * size + i][(copy + 1) * size + j] = value
    bias = ([1] + [0] * (size - 1)) * 2
    a = Network([([[0]] * (2 * size), [0] * (2 * size)), (middle, bias), ([[0] * (2 * size)], [0])])
    b = shuffled(a, 21)
    assert match_units(a, b, budget=1).apply(a) == b


@pytest.mark.parametrize("ends", [{}, {"bias": 0}, {"outgoing": 0}, {"bias": 0, "outgoing": 0}], ids=str)
@pytest.mark.parametrize("weight", [1, 3])
def test_symmetric_networks_that_colours_cannot_tell_apart(ends, weight):
    """Parts without biases and outgoing weights are tied to nothing: their scale is free, products along cycles not."""
    one, two = cycles(6, weight=weight, **ends), cycles(3, 3, weight=weight, **ends)
    for net in (one, two):
        other = shuffled(net, 7)
        assert match_units(net, other).apply(net) == other
        assert canonical_form(net) == canonical_form(other)
    assert match_units(one, two) is None
    assert canonical_form(one) != canonical_form(two)
    assert match_units(one, cycles(6, weight=2, **ends)) is None
    assert canonical_form(one) != canonical_form(cycles(6, weight=2, **ends))


def test_the_budget_is_kept():
    one, two = cycles(6), cycles(3, 3)
    with pytest.raises(BudgetExceededError, match="3 choices") as caught:
        match_units(one, two, budget=3)
    assert caught.value.value == 3
    with pytest.raises(BudgetExceededError):
        canonical_form(one, budget=3)


def test_parallel_copies_are_found_without_trying_all_permutations():
    """Ten equal chains of two units: 10! correspondences, one of which is built unit by unit."""
    size = 10
    eye = [[int(i == j) for j in range(size)] for i in range(size)]
    a = Network([([[1]] * size, [0] * size), (eye, [1] * size), ([[1] * size], [0])])
    b = shuffled(a, 8)
    assert match_units(a, b, budget=60).apply(a) == b
    assert canonical_form(a) == canonical_form(b)


# no relabelling


@settings(max_examples=100, deadline=None)
@given(networks(largest=3, deepest=2), st.data())
def test_none_is_what_all_permutations_say(a, data):
    b = data.draw(changed(data.draw(moved(a))))
    found = match_units(a, b)
    assert (found is not None) == brute_force(a, b)
    assert found is None or found.apply(a) == b


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_the_same_rows_put_together_otherwise(data):
    """Zeros and ones only: units of one layer moved, but not the weights that leave them, so that all rows stay."""
    row = st.lists(st.integers(0, 1), min_size=4, max_size=4)
    first, second = data.draw(st.lists(row, min_size=3, max_size=3)), data.draw(st.lists(row, min_size=3, max_size=3))
    third = data.draw(row)
    order = data.draw(st.permutations(range(3)))

    def net(inner):
        rows = (inner, second, [third])
        return Network([([r[:3] for r in layer], [r[3] for r in layer]) for layer in rows])

    a, b = net(first), net([first[i] for i in order])
    assert (match_units(a, b) is not None) == brute_force(a, b)


@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize("bias", [False, True])
def test_one_entry_changed_in_its_last_bit(layer, bias):
    a = random_network((6, 8, 7, 2), seed=9)
    b = shuffled(a, 10)
    matrix, offset = b.layers[layer].matrix, list(b.layers[layer].offset)
    rows = [list(row) for row in matrix.rows()]
    if bias:
        offset[1] *= fmpq(2**24 + 1, 2**24)
    else:
        rows[1][2] *= fmpq(2**24 + 1, 2**24)
    layers = list(b.layers)
    layers[layer] = Layer(rows, offset)
    assert match_units(a, b) is not None
    assert match_units(a, b.with_layers(layers)) is None


@pytest.mark.parametrize("prime", [2, 3, 5, 101])
@settings(max_examples=40, deadline=None)
@given(networks(largest=3, deepest=2), st.data())
def test_small_primes_change_no_answer(prime, a, data):
    """Modulo a small prime many different weights look equal; then the exact comparison decides, or another prime."""
    b = data.draw(moved(a))
    if data.draw(st.booleans()):
        b = data.draw(changed(b))

    def primes():
        yield prime
        yield from word_primes()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "word_primes", primes)
        found = match_units(a, b)
        equal = canonical_form(a) == canonical_form(b)
    assert (found is not None) == equal == brute_force(a, b)


def test_signs_and_opposite_weights_are_told_apart():
    a = Network([([[1], [-1]], [0, 0]), ([[1, 2]], [0])])
    assert match_units(a, Network([([[-1], [1]], [0, 0]), ([[1, 2]], [0])])) is None
    assert match_units(a, Network([([[-1], [1]], [0, 0]), ([[2, 1]], [0])])).orders == ((1, 0),)
    # w and −w from two equal units: their sum, which must not be taken for a scale, is zero
    b = Network([([[1], [1]], [0, 0]), ([[3, -3], [1, 1]], [0, 0]), ([[1, 1]], [0])])
    assert match_units(b, shuffled(b, 11)).apply(b) == shuffled(b, 11)


def test_shapes():
    a = random_network((2, 3, 1), seed=12)
    assert match_units(a, random_network((2, 4, 1), seed=12)) is None
    assert match_units(a, random_network((2, 3, 3, 1), seed=12)) is None
    affine = Network([([[1, 2]], [3])])
    assert match_units(affine, affine) == UnitMatching((), ())
    assert match_units(affine, Network([([[1, 2]], [4])])) is None
    for other in (random_network((3, 3, 1), 12), random_network((2, 3, 2), 12), Network(a.layers, Orthant(2))):
        with pytest.raises(InvalidNetworkError, match="one domain and one number of outputs"):
            match_units(a, other)


def test_a_matching_carries_only_what_it_makes():
    a = random_network((2, 3, 2, 1), seed=13)
    found = match_units(a, shuffled(a, 14))
    b = found.apply(a)
    assert found.carries(a, b)
    assert not found.carries(b, a)
    assert not found.carries(a, Network(b.layers, Orthant(2)))
    assert not UnitMatching(found.orders[:1], found.scales[:1]).carries(a, b)
    assert not UnitMatching((found.orders[0], (0, 0)), found.scales).carries(a, b)
    assert not UnitMatching(found.orders, (found.scales[0], found.scales[1][:1])).carries(a, b)
    assert not UnitMatching(found.orders, (found.scales[0], tuple(-value for value in found.scales[1]))).carries(a, b)
    zero = Network([([[0]], [0]), ([[0]], [0])])
    assert not UnitMatching(((0,),), ((fmpq(-1),),)).carries(zero, zero)
    assert not UnitMatching((), ()).carries(zero, zero)
    zeros = Network([([[0], [0]], [0, 0]), ([[0, 0]], [0])])
    assert UnitMatching(((1, 0),), ((fmpq(1), fmpq(1)),)).carries(zeros, zeros)
    assert not UnitMatching(((0, 0),), ((fmpq(1), fmpq(1)),)).carries(zeros, zeros)


# canonical form


@settings(max_examples=100, deadline=None)
@given(networks(), st.data())
def test_relabelled_networks_have_one_canonical_form(a, data):
    assert canonical_form(data.draw(moved(a))) == canonical_form(a)


@pytest.mark.parametrize("seed", range(4))
def test_a_part_that_is_tied_to_nothing_has_one_canonical_form(seed):
    """Each of its units could carry the scale 1 that the others' scales follow from."""
    net = Network([([[0], [0]], [0, 0]), ([[1, 1], [1, 2], [1, 3]], [0, 0, 0]), ([[0, 0, 0]], [1])])
    assert canonical_form(shuffled(net, seed)) == canonical_form(net)
    other = Network([([[0], [0]], [0, 0]), ([[1, 1], [1, 2], [1, 4]], [0, 0, 0]), ([[0, 0, 0]], [1])])
    assert canonical_form(other) != canonical_form(net)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ends", [{}, {"bias": 0, "outgoing": 0}], ids=str)
def test_units_that_look_alike_but_cannot_be_exchanged_have_one_canonical_form(ends, seed):
    """A cycle through six units and one through eight: no colour, and no symmetry, says which comes first."""
    net = cycles(3, 4, **ends)
    assert canonical_form(shuffled(net, seed)) == canonical_form(net)


@settings(max_examples=100, deadline=None)
@given(networks())
@example(Network([([[0]], [0]), ([["1/2"], [3]], [0, 0]), ([[2, 3]], [0])]))  # nonzero rows that read a zero unit only
@example(  # a second-layer row that gets its scale after the third layer has got its own
    Network([([[0]], [0]), ([[2], [3]], [5, 0]), ([["1/2", "1/3"]], [1]), ([[1]], [0])])
)
def test_canonical_forms_are_relabellings_with_primitive_rows(net):
    form = canonical_form(net)
    assert match_units(net, form) is not None
    assert canonical_form(form) == form
    for layer in form.layers[:-1]:
        for row in layer_rows(layer):
            assert all(value.denominator == 1 for value in row)
            assert gcd(*(value.numerator for value in row)) in (0, 1)
    for before, after in pairwise(form.layers):
        if after is form.layers[-1]:
            for row, column in zip(layer_rows(before), columns_of(after), strict=True):
                if not any(row):
                    assert all(value.denominator == 1 for value in column)
                    assert gcd(*(value.numerator for value in column)) in (0, 1)
    rows = layer_rows(form.layers[0])
    assert len(form.layers) == 1 or rows == sorted(rows)


@settings(max_examples=30, deadline=None)
@given(networks(largest=3, deepest=2))
def test_the_canonical_form_computes_the_same_function(net):
    assert same_on_cells(net, canonical_form(net)) is None


@settings(max_examples=80, deadline=None)
@given(networks(largest=3, deepest=2), st.data())
def test_canonical_forms_differ_exactly_where_there_is_no_matching(a, data):
    b = data.draw(changed(data.draw(moved(a))))
    assert (canonical_form(a) == canonical_form(b)) == (match_units(a, b) is not None)


def test_a_canonical_form_written_down_by_hand():
    net = Network([([["1/2", 0], [0, "2/3"], [0, 0], [1, 0]], ["1/3", 0, 0, "2/3"]), ([[1, 2, "3/5", 7]], [4])])
    expected = Network([([[0, 0], [0, 1], [3, 0], [3, 0]], [0, 0, 2, 2]), ([[1, "4/3", "1/6", "7/3"]], [4])])
    assert canonical_form(net) == expected
    assert canonical_form(expected.permuted(1, [3, 2, 1, 0])) == expected


def test_the_domain_stays():
    box = Box([0], [1])
    assert canonical_form(Network([([[2]], [4]), ([[1]], [0])], box)).domain == box


def test_a_wider_network():
    a = random_network((40, 60, 50, 10), seed=15)
    b = shuffled(a, 16)
    assert match_units(a, b).apply(a) == b
    assert canonical_form(a) == canonical_form(b)


# colours


def test_gauges_follow_the_scales_and_colours_do_not_see_them():
    a = random_network((3, 5, 4, 2), seed=17)
    factors = [[Fraction(i + 2, 3) for i in range(width)] for width in (5, 4)]
    b = a.rescaled(1, factors[0]).rescaled(2, factors[1])
    prime = next(word_primes())
    one, two = Colouring.of(a, prime), Colouring.of(b, prime)
    assert module.refined([one, two])
    for layer in (1, 2):
        assert one.colours[layer].tolist() == two.colours[layer].tolist()
        quotients = [
            (new * 3 - old * (i + 2)) % prime
            for i, (old, new) in enumerate(zip(one.gauges[layer].tolist(), two.gauges[layer].tolist(), strict=True))
        ]
        assert not any(quotients)


# align: a heuristic, of which only the exactness of `apply` and the distances are promised


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 6), st.data())
def test_assignments_cost_as_little_as_the_best_permutation(size, data):
    row = st.lists(st.integers(-5, 5), min_size=size, max_size=size)
    cost = np.array(data.draw(st.lists(row, min_size=size, max_size=size)), float)
    found = assigned(cost)
    assert sorted(found) == list(range(size))
    best = min(sum(cost[i, j] for i, j in enumerate(order)) for order in permutations(range(size)))
    assert sum(cost[i, j] for i, j in enumerate(found)) == best


def noisy(net, seed, size):
    source = random.Random(seed)
    layers = [
        [[value * (1 + Fraction(source.randint(-size, size), 10**4)) for value in row] for row in layer_rows(layer)]
        for layer in net.layers
    ]
    return Network([([row[:-1] for row in rows], [row[-1] for row in rows]) for rows in layers])


@pytest.mark.parametrize("widths", [(4, 8, 2), (4, 8, 8, 2), (5, 8, 8, 8, 3)], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_a_planted_relabelling_under_small_noise_comes_back(widths, seed):
    a = random_network(widths, seed, -99, 99)
    b = shuffled(noisy(a, seed, 50), seed + 100)
    found = align(a, b)
    back = match_units(b, found.apply(b))
    assert match_units(noisy(a, seed, 50), b) is not None
    for order, layer in zip(found.orders, range(1, len(a.layers)), strict=True):
        planted = match_units(noisy(a, seed, 50), b).orders[layer - 1]
        assert [planted[i] for i in order] == list(range(widths[layer]))
    assert back.orders == found.orders
    assert found.distance_after < 0.1 * found.distance_before


def test_outgoing_weights_tell_units_with_equal_rows_apart():
    first = Layer([[1, 2]] * 4 + [[3, -1]] * 4, [1] * 4 + [2] * 4)
    a = Network([first, *random_network((8, 3), 23, -99, 99).layers])
    b = shuffled(noisy(a, 24, 20), 25)
    found = align(a, b)
    assert found.orders == align(noisy(a, 24, 20), b).orders
    assert found.distance_after < 0.01 * found.distance_before


def test_a_mere_permutation_is_undone_exactly():
    a = random_network((4, 8, 8, 2), seed=20)
    b = shuffled(a, 21, lambda source: Fraction(1))
    found = align(a, b)
    assert found.apply(b) == a
    assert found.distance_after == 0
    assert all(factor == 1 for layer in found.factors for factor in layer)


@settings(max_examples=60, deadline=None)
@given(networks(largest=3, deepest=2), st.data())
def test_aligning_never_changes_the_function_and_never_goes_away(a, data):
    b = data.draw(changed(data.draw(moved(a))))
    found = align(a, b)
    made = found.apply(b)
    assert match_units(b, made).carries(b, made)
    assert found.distance_after <= found.distance_before

    def distance(net):
        pairs = zip(a.parameters.values(), net.parameters.values(), strict=True)
        return float(sum((Fraction(int((u - v).p), int((u - v).q)) ** 2 for u, v in pairs), Fraction(0))) ** 0.5

    size = max(abs(float(Fraction(int(v.p), int(v.q)))) for net in (a, b, made) for v in net.parameters.values())
    assert found.distance_before == pytest.approx(distance(b), rel=1e-6, abs=1e-9 * size)
    assert found.distance_after == pytest.approx(distance(made), rel=1e-6, abs=1e-9 * size)


def test_what_cannot_be_aligned_is_refused():
    a = random_network((2, 3, 1), seed=22)
    with pytest.raises(InvalidNetworkError, match="same widths"):
        align(a, random_network((2, 4, 1), seed=22))
    with pytest.raises(UnsupportedError, match="range of floats"):
        align(a, a.rescaled(1, [10**400, 1, 1]))
    with pytest.raises(UnsupportedError, match="range of floats"):
        align(a, a.rescaled(1, [10**300, 1, 1]))
