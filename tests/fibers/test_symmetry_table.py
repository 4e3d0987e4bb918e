"""Known symmetries of small networks with fractions, by hand: kinds, ends, words, directions by dual numbers."""

import random
from fractions import Fraction

import pytest
from flint import fmpq

from semialg_fibers import Network, Orthant, gallery
from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.fibers.sign_symmetries import symmetries_by_signs
from semialg_fibers.fibers.sound_symmetry import Symmetry, halved, within
from semialg_fibers.fibers.symmetries import symmetries
from semialg_fibers.verify.oracle import same_on_cells

HALF = fmpq(1, 2)
TABLE = {
    # t ≥ b2 / A2 = −3/2
    "a translation and a flip": (
        Network([([["1/2", 0], [0, "2/3"]], ["1/5", 0]), ([[2, -1]], [-3]), ([["1/7"], [3]], [0, 1])]),
        [("translation", 1, (0,), (-3 * HALF, None)), ("sign flip", 1, (1, 0), None)],
    ),
    "two hidden columns": (
        Network(
            [
                ([[1, 0, 0], [0, 1, 0], [0, 0, "1/3"]], [0, "1/2", 0]),
                ([[1, 0, -1], [0, 1, -2]], [-1, -1]),
                ([[1, "1/2"]], [0]),
            ]
        ),
        [
            ("translation", 1, (0,), (-1, None)),
            ("translation", 1, (1,), (-1, None)),
            ("translations", 1, (0, 1), None),
            ("sign flip", 1, (2, 0, 1), None),
        ],
    ),
    "dead and unused units": (
        Network(
            [
                ([[1, "1/2"], [0, 1], [3, 1]], [0, 0, 1]),
                ([[1, 2, 0], [-1, -2, 0]], [-1, -1]),
                ([[1, 5], ["1/2", 7]], [0, 0]),
            ]
        ),
        [("unused", 1, (2,), None), ("dead", 2, (1,), None), ("free hyperplanes", 2, (1,), None)],
    ),
    # Beyond §3.1, case 2, the first unit halved; u2 = 3 + ... ≥ 3
    "a dead weight": (
        Network([([["1/2", 0], [0, 1], [-1, 0]], [0, 0, -1]), ([[2, -3, -5], [1, 2, 1]], [-1, 3]), ([[1, 2]], [0])]),
        [("dead weight", 2, (0,), (None, 5)), ("linear shift", 2, (1,), (-3, None))],
    ),
    # Where the third layer's first unit acts, u = (3x/2 + 9/4, 19x/30 + 6/5): 76 u1 − 180 u2 + 45 = 0
    "a row relation on a line": (
        Network(
            [
                ([["1/2"], ["2/3"]], [0, 1]),
                ([["1/3", 2], [1, "1/5"]], ["1/4", 1]),
                ([[1, 1], [2, -1]], [-9, 1]),
                ([[1, "1/2"]], [0]),
            ]
        ),
        [
            ("row relation", 3, (0,), (fmpq(-31, 464), None)),
            ("linear shift", 2, (0,), (-HALF / 2, None)),
            ("linear shift", 2, (1,), (-1, None)),
            ("linear units", 2, (0, 1), None),
            ("linear shift", 3, (1,), (-HALF, None)),
        ],
    ),
    # Where unit 1 is off, z is at most 2 · 3/2 − 3 = 0; where unit 2 is off, at most 2 − 3 = −1 ≤ 2t
    "free hyperplanes": (
        Network([([[1, 0], [0, "1/2"], [1, 0], [0, 1]], [1, 1, -1, -1]), ([[1, 2, -9, -9]], [-3]), ([[1]], [0])]),
        [
            ("translation", 1, (0,), (0, None)),
            ("translation", 1, (1,), (-HALF, None)),
            ("translations", 1, (0, 1), None),
            ("free hyperplanes", 1, (0, 1), None),
            ("sign flip", 1, (2, 0), None),
            # the ratio of the first unit fits, too, and it would be negative where it is seen
            ("sign flip", 1, (3, 1), None),
        ],
    ),
    # x − y is turned round: 2x + 3y + 1/3 + (x − y) ≥ 0, while x + y/2 + 1 + 2(x − y) changes its sign
    "linear units on the orthant": (
        Network([([[1, "1/2"], [1, -1], [2, 3]], [1, 0, "1/3"]), ([["1/2", 1, 1]], [0])], Orthant(2)),
        [
            ("linear shift", 1, (0,), (-1, None)),
            ("linear shift", 1, (2,), (fmpq(-1, 3), None)),
            ("linear units", 1, (0, 2), None),
            ("sign flip", 1, (0, 2), None),
            ("sign flip", 1, (1, 2), None),
            ("sign flip", 1, (2, 0), None),
        ],
    ),
    "a dead unit on the orthant": (
        Network([([[1, 1], [-1, -2]], ["1/2", -1]), ([[2, 3], [1, "1/4"]], [0, 1])], Orthant(2)),
        [
            ("dead", 1, (1,), None),
            ("linear shift", 1, (0,), (-HALF, None)),
            ("free hyperplanes", 1, (1,), None),
        ],
    ),
    "a zero bias": (
        Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [0]), ([[1]], [0])]),
        [("translation", 1, (0,), (0, None)), ("sign flip", 1, (1, 0), None)],
    ),
    "four layers": (
        gallery.network("deep_2_2_2_2_1"),
        [("linear shift", 3, (1,), (-1, None)), ("sign flip", 3, (0, 1), None)],
    ),
    "one unit": (Network([([[1, 2]], [3]), ([[1]], [0])]), []),
}


def derivative(net, direction, point):
    """The derivative of f(point) along a direction of the parameters, by dual numbers; None on a hyperplane."""
    values, dots = list(point), [Fraction(0)] * len(point)
    for number, layer in enumerate(net.layers, 1):
        new = []
        for unit, form in enumerate(layer.forms):
            form = [Fraction(int(v.p), int(v.q)) for v in form]
            names = [f"W{number}_{unit}_{c}" for c in range(layer.inputs)]
            step = [Fraction(str(direction.get(name, 0))) for name in (*names, f"b{number}_{unit}")]
            value = sum(a * h for a, h in zip(form, values, strict=False)) + form[-1]
            dot = sum(s * h + a * d for s, a, h, d in zip(step, form, values, dots, strict=False)) + step[-1]
            new.append((value, dot))
        if number < len(net.layers):
            if any(value == 0 for value, _ in new):
                return None
            new = [(value, dot) if value > 0 else (Fraction(0), Fraction(0)) for value, dot in new]
        values, dots = [value for value, _ in new], [dot for _, dot in new]
    return dots


@pytest.mark.parametrize("name", TABLE)
def test_the_symmetries_are_those_found_by_hand(name):
    net, expected = TABLE[name]
    found = symmetries(net)
    told = [(f.kind, f.layer, f.units, f.ends) for f in found if f.kind not in ("permutation", "scaling")]
    assert told == expected
    hidden = [layer.outputs for layer in net.layers[:-1]]
    assert [f.units for f in found if f.kind == "permutation"] == [tuple(range(n)) for n in hidden if n > 1]
    scaled = [(f.layer, f.units) for f in found if f.kind == "scaling"]
    assert scaled == [(number, (unit,)) for number, n in enumerate(hidden, 1) for unit in range(n)]


@pytest.mark.parametrize("name", TABLE)
def test_moves_keep_the_function_and_directions_have_derivative_zero(name):
    net, _ = TABLE[name]
    rng, d = random.Random(4), net.widths[0]
    low = 0 if isinstance(net.domain, Orthant) else -900
    points = [[Fraction(rng.randint(low, 900), 97) for _ in range(d)] for _ in range(12)]
    names = {f"W{number}_{unit}_{c}" for number, (i, o) in layers_of(net) for unit in range(o) for c in range(i)}
    names |= {f"b{number}_{unit}" for number, (_, o) in layers_of(net) for unit in range(o)}
    for found in symmetries(net):
        moved = found.sample(1)
        assert same_on_cells(net, moved) is None
        assert moved.widths == net.widths
        for direction in found.directions:
            assert set(direction) <= names
            assert any(direction.values())
            assert all(not any(derivative(net, direction, point) or []) for point in points)


def layers_of(net):
    return list(enumerate(((layer.inputs, layer.outputs) for layer in net.layers), 1))


WORDS = {
    "the units of layer 1 can be permuted",
    "unit 2 of layer 2 can be scaled: incoming weights and bias by c > 0, outgoing weights by 1/c",
    "unit 2 of layer 2 is never active: its outgoing weights are free",
    "unit 3 of layer 1 has no outgoing weights: its incoming ones are free",
    "unit 1 of layer 2 acts only where its weight from unit 3 can be changed",
    "unit 1 of layer 3 acts only where its weights from 2 units can be changed",
    "unit 2 of layer 1 is hidden: its bias can be shifted by t from -1/2 to ∞",
    "unit 2 of layer 3 is linear: its bias can be shifted by t from -1/2 to ∞",
    "the biases of 2 hidden units of layer 1 can be shifted independently, near 0",
    "units 1, 2 of layer 2, linear, can be changed together, near what they are",
    "units 1, 2 of layer 1, hidden, can be changed together, near what they are",
    "unit 2 of layer 1 can be flipped to its other side; unit 1 absorbs the difference",
    "unit 3 of layer 1 can be flipped to its other side; units 1, 2 absorb the difference",
}


def test_words_for_every_kind():
    told = {str(found) for net, _ in TABLE.values() for found in symmetries(net)}
    assert told >= WORDS
    kinds = {found.kind for net, _ in TABLE.values() for found in symmetries(net)}
    assert kinds == {
        "permutation", "scaling", "dead", "unused", "dead weight", "row relation", "translation", "linear shift",
        "translations", "linear units", "free hyperplanes", "sign flip",
    }  # fmt: skip


IDENTITY = ([[1, 0], [0, "1/2"]], [0, "1/3"])
BY_SIGNS = {
    **{name: TABLE[name][0] for name in ("a translation and a flip", "two hidden columns", "a zero bias")},
    "a dead row": Network([IDENTITY, ([[2, -1], [-1, -2]], [-3, "-1/2"]), ([[1, 1], ["1/3", 2]], [0, 0])]),
    "an unused row": Network([IDENTITY, ([[2, -1], [1, -2]], [-3, 1]), ([[1, 0]], [0])]),
    "a linear row": Network([IDENTITY, ([[2, -1], [1, 2]], [-3, 5]), ([[1, 7], [2, 0]], [0, 0])]),
    "a flip that leaves one of two absorbers alone": Network(
        [([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), ([[1, 0, -1], [0, 1, 0]], [-1, -1]), ([[1, 1]], [0])]
    ),
}


@pytest.mark.parametrize("name", BY_SIGNS)
def test_signs_tell_the_same_as_cells_where_they_apply(name):
    """Kinds, units, ends, tangents; the signs ask that an unused row, too, be inactive on a hidden hyperplane."""
    net, kinds = BY_SIGNS[name], ("dead", "unused", "linear shift", "translation", "sign flip")

    def told(found, layers):
        shown = [(f.kind, f.layer, f.units, f.ends, list(map(sorted_items, f.directions))) for f in found]
        return sorted(each for each in map(str, (s for s in shown if s[0] in kinds and (s[0], s[1]) in layers)))

    layers = {("dead", 2), ("unused", 2), ("linear shift", 2), ("translation", 1), ("sign flip", 1)}
    by_signs = list(symmetries_by_signs(net))
    by_cells = told(symmetries(net), layers)
    assert told(by_signs, layers) == [each for each in by_cells if name != "an unused row" or "unused" in each]
    for found in by_signs:
        assert found.by_theorem is True
        for seed in range(3):
            assert same_on_cells(net, found.sample(seed)) is None
    for found in by_signs:
        if found.ends and found.ends[0] is not None:
            assert same_on_cells(net, found.move(found.ends[0])) is None  # at the end itself
            with pytest.raises(InvalidNetworkError, match=f"t ≥ {found.ends[0]} only, got"):
                found.move(found.ends[0] - 1)


def sorted_items(direction):
    return sorted(direction.items())


def test_words_of_the_rules_for_signs():
    assert {str(found) for net in BY_SIGNS.values() for found in symmetries_by_signs(net)} == {
        "unit 1 of layer 1 is hidden: its bias can be shifted by t from -3/2 to ∞",
        "unit 1 of layer 1 is hidden: its bias can be shifted by t from -1 to ∞",
        "unit 2 of layer 1 is hidden: its bias can be shifted by t from -1 to ∞",
        "unit 1 of layer 1 is hidden: its bias can be shifted by t from 0 to ∞",
        "unit 2 of layer 2 is never active: its outgoing weights are free",
        "unit 2 of layer 2 has no outgoing weights: its incoming ones are free",
        "unit 2 of layer 2 is linear: its bias can be shifted by t from -5 to ∞",
        "unit 2 of layer 1 can be flipped to its other side",
        "unit 3 of layer 1 can be flipped to its other side",
    }


# random values


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (None, None),
        (fmpq(-3), None),
        (None, fmpq(2)),
        (fmpq(-1), fmpq(5)),
        (fmpq(0), None),
        (fmpq(0), fmpq(1)),
        (fmpq(-2), fmpq(0)),
    ],
)
def test_random_values_lie_in_the_interval_and_are_not_zero(low, high):
    rng = random.Random(7)
    drawn = [within(rng, low, high) for _ in range(200)]
    assert all((low is None or low <= t) and (high is None or t <= high) and t != 0 for t in drawn)
    assert {t < 0 for t in drawn} == {side for side, end in ((True, low), (False, high)) if end is None or end}
    assert all(end in drawn for end in (low, high) if end)  # the ends are possible


def test_a_move_is_halved_until_the_function_stays_and_refused_where_it_never_does():
    net = Network([([[1]], [0]), ([[1]], [0])])

    def shift(at, t):
        return at.with_layers([at.layers[0], ([[1]], [t if abs(t) > HALF else 0])])

    moves = Symmetry("k", 1, (0,), "it moves", net, _act=shift, _draw=lambda rng: fmpq(3), _smaller=halved)
    assert moves.sample(0) == net  # 3, 3/2, 3/4, 3/8
    for smaller in (None, lambda t: t):
        stuck = Symmetry("k", 1, (0,), "it moves", net, _act=shift, _draw=lambda rng: fmpq(3), _smaller=smaller)
        with pytest.raises(BudgetExceededError) as caught:
            stuck.sample(0)
        assert str(caught.value) == "no random move was small enough to keep the function: it moves"
    with pytest.raises(InvalidNetworkError) as refused:
        moves.move(fmpq(3))
    assert str(refused.value) == "3 is too far: it moves"
    assert halved(fmpq(3)) == fmpq(3, 2)


@pytest.mark.parametrize(("ends", "shown"), [
    ((None, None), "Interval(-oo, oo)"), ((fmpq(-1), None), "Interval(-1, oo)"), ((None, HALF), "Interval(-oo, 1/2)"),
])  # fmt: skip
def test_the_interval_of_a_symmetry_is_closed_where_it_ends(ends, shown):
    net = Network([([[1]], [0]), ([[1]], [0])])
    assert str(Symmetry("k", 1, (0,), "", net, ends=ends).interval) == shown
    assert Symmetry("k", 1, (0,), "", net).interval is None
