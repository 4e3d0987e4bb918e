"""Translations and sign flips: laws by the oracle, refusals with their reasons, hiding by exact cells (theory §3)."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import fractions, hidden_columns, layer_rows, with_opposite_unit
from strategies import bottlenecks, factors

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.hiding import (
    SignFlip,
    flip,
    hidden_hyperplanes,
    hiding,
    largest,
    sign_flip_group,
    translate,
    translation_range,
)
from semialg_fibers.geometry.domain import Box
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.reading import scalar
from semialg_fibers.geometry.scalar import exact
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.symmetry import translated
from semialg_fibers.verify.oracle import oracle_cells, same_on_cells

IDENTITY = ([[1, 0], [0, 1]], [0, 0])
CUBE = ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, -1, 2])
HIDING = [
    kind for kind in ("hidden, one alive row", "hidden, several alive rows", "hidden, common ratios", "line, hidden")
]

hiding_networks = st.sampled_from(HIDING).flatmap(bottlenecks)


# translations


@settings(max_examples=60)
@given(hiding_networks, factors)
def test_a_translation_inside_the_range_keeps_the_function_and_the_component(net, step):
    (i,) = hidden_hyperplanes(net)
    rows = [row for row in layer_rows(net.layers[1]) if max(row) > 0]
    lowest = max(row[-1] / row[i] for row in rows)
    interval = translation_range(net, i)
    assert interval == sympy.Interval.open(sympy.Rational(lowest), sympy.oo)
    moved = translate(net, i, lowest + step)
    assert same_on_cells(net, moved) is None
    assert fiber(net).components[0].contains(moved)
    assert translate(moved, i, -(lowest + step)) == net
    assert translate(translate(net, i, step), i, 2 * step) == translate(net, i, 3 * step)


@settings(max_examples=40)
@given(hiding_networks, factors)
def test_the_range_ends_where_it_says(net, step):
    """At the end itself f is the same and the component is left; beyond it f differs."""
    (i,) = hidden_hyperplanes(net)
    lowest = max(row[-1] / row[i] for row in layer_rows(net.layers[1]) if max(row) > 0)
    at_the_end = translate(net, i, lowest)
    assert same_on_cells(net, at_the_end) is None
    assert not fiber(net).components[0].contains(at_the_end)
    with pytest.raises(InvalidNetworkError, match="can be translated by t ≥"):
        translate(net, i, lowest - step)
    own, users = fiber(net).components[0].set, hiding(net).users[i]
    beyond = translated(net, i, exact(lowest - step), users)
    assert same_on_cells(net, beyond) is not None
    assert not own.contains(at_the_end.parameters)
    assert not own.contains(beyond.parameters)
    # Beyond the ends of all rows the biases are positive; negating each row and its column keeps the equations.
    smallest = min(row[-1] / row[i] for row in layer_rows(net.layers[1]) if max(row) > 0)
    opposite = translated(net, i, exact(smallest - step), users)
    for j in users:
        opposite = with_opposite_unit(opposite, 2, j)
    assert same_on_cells(net, opposite) is not None
    assert not own.contains(opposite.parameters)


@pytest.mark.parametrize("kind", ["visible", "linear rows", "dead rows"])
@settings(max_examples=10)
@given(st.data())
def test_where_nothing_is_hidden_a_translation_changes_the_function_and_is_refused(kind, data):
    net = data.draw(bottlenecks(kind))
    assert hidden_hyperplanes(net) == ()
    i = data.draw(st.integers(0, net.widths[1] - 1))
    for question in (lambda: translation_range(net, i), lambda: translate(net, i, 1)):
        with pytest.raises(InvalidNetworkError, match=f"hyperplane {i + 1} of the first layer is not hidden"):
            question()
    assert same_on_cells(net, translated(net, i, exact("1/100"), range(net.widths[2]))) is not None
    assert sign_flip_group(net).order == 1
    with pytest.raises(InvalidNetworkError, match="no hyperplane of the first layer is hidden"):
        flip(net, [i])


def test_zero_biases_make_the_translation_one_sided():
    """relu(u1 − relu(u2)): b2 = 0, so that t ≥ 0 only, end included."""
    net = Network([IDENTITY, ([[1, -1]], [0]), ([[1]], [0])])
    assert hidden_hyperplanes(net) == (0,)
    assert translation_range(net, 0) == sympy.Interval(0, sympy.oo)
    for t in (0, "1/3", 7):
        assert same_on_cells(net, translate(net, 0, t)) is None
    with pytest.raises(InvalidNetworkError, match="t ≥ 0 only, got -1/5"):
        translate(net, 0, "-1/5")
    assert same_on_cells(net, translated(net, 0, exact("-1/5"), (0,))) is not None


def test_one_zero_bias_among_several_rows_decides_the_range():
    net = Network([IDENTITY, ([[1, -1], [2, -3]], [0, -5]), ([[1, 1]], [0])])
    assert translation_range(net, 0) == sympy.Interval(0, sympy.oo)
    strict = Network([IDENTITY, ([[1, -1], [2, -3]], [-1, -5]), ([[1, 1]], [0])])
    assert translation_range(strict, 0) == sympy.Interval.open(-1, sympy.oo)  # max(−1, −5/2)
    assert same_on_cells(net, translate(net, 0, 4)) is None


def test_a_column_that_no_alive_row_uses_moves_freely():
    """A2 = (0, 1): the first unit is not used at all."""
    net = Network([IDENTITY, ([[0, 1]], [1]), ([[1]], [0])])
    assert hidden_hyperplanes(net) == (0,)
    assert translation_range(net, 0) == sympy.S.Reals
    assert same_on_cells(net, translate(net, 0, -100)) is None


def test_where_all_rows_are_dead_every_hyperplane_is_hidden_and_moves_freely():
    net = Network([IDENTITY, ([[-1, -2]], [-1]), ([[1]], [3])])
    assert hidden_hyperplanes(net) == (0, 1)
    assert translation_range(net, 1) == sympy.S.Reals
    assert same_on_cells(net, translate(net, 1, 50)) is None
    assert hiding(net).flippable == ()


@pytest.mark.parametrize("index", [-1, 2])
def test_units_that_do_not_exist_are_refused(index):
    net = Network([IDENTITY, ([[1, -1]], [-1]), ([[1]], [0])])
    with pytest.raises(InvalidNetworkError, match=f"no unit with index {index}"):
        translate(net, index, 1)
    with pytest.raises(InvalidNetworkError, match="no set of first-layer columns"):
        flip(net, [index])
    with pytest.raises(InvalidNetworkError, match="no set of first-layer columns"):
        flip(net, [1, 1])


# flips


@settings(max_examples=50)
@given(st.sampled_from(HIDING[:3]).flatmap(bottlenecks))
def test_flips_are_commuting_involutions_that_keep_the_function(net):
    (i,) = hidden_hyperplanes(net)
    rows = [row for row in layer_rows(net.layers[1]) if max(row) > 0]
    common = [k for k in range(net.widths[1]) if k != i and len({row[k] / row[i] for row in rows}) == 1]
    group = sign_flip_group(net)
    assert list(group.flippable) == common
    assert group.order == 2 ** len(common) == len(list(group.elements))
    assert group.generators == tuple(SignFlip((k,)) for k in common)
    components = fiber(net).components
    images = [action(net) for action in group.elements]
    assert len(set(images)) == group.order
    for action, image in zip(group.elements, images, strict=True):
        assert same_on_cells(net, image) is None
        assert action(image) == net
        assert [component.flips for component in components if component.contains(image)] == [action.columns]
    for a in group.generators:
        for b in group.generators:
            assert a(b(net)) == b(a(net)) == SignFlip(tuple(sorted({*a.columns} ^ {*b.columns})))(net)
    for k in set(range(net.widths[1])) - set(common):
        with pytest.raises(InvalidNetworkError, match="itself hidden" if k == i else "the ratios .* differ"):
            flip(net, [k])


def test_a_column_with_two_ratios_cannot_be_flipped():
    """The forced flip, with the first row's ratio, is another function."""
    net = Network([IDENTITY, ([[1, -1], [1, -2]], [-1, -3]), ([[1, 1]], [0])])
    forced = Network([([[1, -1], [0, -1]], [0, 0]), *net.layers[1:]])
    assert same_on_cells(net, forced) is not None
    assert sign_flip_group(net).flippable == ()


def test_several_hidden_columns_flip_and_translate_block_by_block():
    """A2 = [1 0 −1; 0 2 −2]: columns 1 and 2 are hidden, each with its user; column 3 has one ratio in each block."""
    net = Network([CUBE, ([[1, 0, -1], [0, 2, -2]], [-1, -3]), ([[1, 5]], [0])])
    found = hiding(net)
    assert found.hidden == (0, 1) == hidden_hyperplanes(net)
    assert found.users == {0: (0,), 1: (1,)}
    assert found.flippable == (2,)
    assert same_on_cells(net, flip(net, [2])) is None
    assert flip(flip(net, [2]), [2]) == net
    assert translation_range(net, 0) == sympy.Interval.open(-1, sympy.oo)
    assert translation_range(net, 1) == sympy.Interval.open(sympy.Rational(-3, 2), sympy.oo)
    both = translate(translate(net, 0, "-1/2"), 1, 4)
    assert same_on_cells(net, both) is None


def test_a_row_outside_the_blocks_keeps_its_columns_from_being_flipped():
    """The third row uses column 3 without a hidden column."""
    net = Network([CUBE, ([[1, 0, -1], [0, 2, -2], [0, 0, 1]], [-1, -3, 1]), ([[1, 5, 1]], [0])])
    assert hidden_hyperplanes(net) == (0, 1)
    assert hiding(net).flippable == ()
    with pytest.raises(InvalidNetworkError, match="column 3 cannot be flipped"):
        flip(net, [2])


@settings(max_examples=80)
@given(st.data())
def test_every_move_that_is_allowed_keeps_the_function_for_rows_with_zeros(data):
    """Zeros in [A2 | b2] make blocks and one-sided translations; what `hiding` offers must be a symmetry."""
    entry = st.sampled_from([-2, -1, 0, 0, 1, 2])
    n2 = data.draw(st.integers(1, 3))
    rows = data.draw(st.lists(st.lists(entry, min_size=4, max_size=4), min_size=n2, max_size=n2))
    weights = [data.draw(st.lists(entry, min_size=n2, max_size=n2)) for _ in range(2)]
    net = Network([CUBE, ([row[:-1] for row in rows], [row[-1] for row in rows]), (weights, [0, 0])])
    assert list(hidden_hyperplanes(net)) == hidden_columns(net)
    for action in sign_flip_group(net).elements:
        assert same_on_cells(net, action(net)) is None
    for i in hidden_hyperplanes(net):
        interval = translation_range(net, i)
        ends = [interval.inf, interval.inf + 3] if interval.inf.is_finite else [-7, 7]
        for t in ends:
            assert same_on_cells(net, translate(net, i, t)) is None


# outside the bottleneck


def hidden_on_cells(net):
    """Restrict the network to each H_i and visit its cells: is a user of column i positive on one of them?"""
    first, *rest = net.layers
    hidden = []
    for i in range(first.outputs):
        *weights, constant = fractions(first.forms[i])
        if not any(weights):
            continue
        pivot = next(c for c, value in enumerate(weights) if value)
        base = [Fraction(0)] * len(weights)
        base[pivot] = -constant / weights[pivot]
        axes = []
        for c in range(len(weights)):
            if c != pivot:
                axis = [Fraction(0)] * len(weights)
                axis[c], axis[pivot] = Fraction(1), -weights[c] / weights[pivot]
                axes.append(axis)
        inner = first.matrix @ Matrix(axes).T
        restricted = Network([(inner, first.apply([exact(value) for value in base])), *rest])
        users = [j for j in range(rest[0].outputs) if rest[0].matrix[j, i]]
        if not any(cell.pattern[1][j] for cell in oracle_cells(restricted) for j in users):
            hidden.append(i)
    return hidden


@settings(max_examples=80)
@given(st.data())
def test_hidden_hyperplanes_by_cells_where_the_first_layer_is_wide_or_lacks_rank(data):
    n1, n2 = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 3))
    entry = st.integers(-2, 2)
    draw = lambda rows, columns: data.draw(  # noqa: E731
        st.lists(st.lists(entry, min_size=columns, max_size=columns), min_size=rows, max_size=rows)
    )
    first, second, third = draw(n1, 3), draw(n2, n1 + 1), draw(1, n2)
    parts = [([row[:-1] for row in rows], [row[-1] for row in rows]) for rows in (first, second)]
    net = Network([*parts, (third, [0])])
    assume(any(cell.pattern[1][j] for cell in oracle_cells(net) for j in range(n2)))  # some row is alive
    zero = [i for i, row in enumerate(first) if not any(row[:-1])]
    assume(not zero)
    assert list(hidden_hyperplanes(net)) == hidden_on_cells(net)


def test_moves_are_refused_where_the_first_layer_does_not_map_onto_the_orthant():
    wide = Network([([[1], [2]], [0, 1]), ([[1, -1]], [-1]), ([[1]], [0])])
    boxed = Network([IDENTITY, ([[1, -1]], [-1]), ([[1]], [0])], Box([0, 0], [1, 1]))
    flat = Network([IDENTITY, ([[1, -1]], [-1])])
    for net in (wide, boxed, flat):
        for move in (hiding, sign_flip_group, lambda net: flip(net, [0]), lambda net: translate(net, 0, 1)):
            with pytest.raises(UnsupportedError) as caught:
                move(net)
            assert str(caught.value) == (
                "translations and flips are known where the first layer maps onto the orthant (R^d, rank A1 = n1 ≤ d) "
                "and a second hidden layer follows"
            )
    assert hidden_hyperplanes(flat) == ()


# refusals, word by word


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (lambda net: flip(net, [0]), "column 1 cannot be flipped: it is itself hidden"),
        (lambda net: flip(net, [2]), "column 3 cannot be flipped: the ratios A2_jk / A2_ji differ between the alive "
            "rows j"),
        (lambda net: flip(net, [1, 1]), "[1, 1] is no set of first-layer columns"),
        (lambda net: flip(net, [3]), "[3] is no set of first-layer columns"),
        (lambda net: flip(net, 1), "columns: expected a list, got the int 1"),
        (lambda net: translate(net, 3, 1), "the first layer has no unit with index 3"),
        (
            lambda net: translate(net, 1, 1),
            "hyperplane 2 of the first layer is not hidden: some second-layer neuron that uses it is active on it, so "
            "that a translation changes the function",
        ),
        (
            lambda net: translate(net, 0, -2),
            "hyperplane 1 can be translated by t ≥ -1 only, got -2: a second-layer bias would become positive",
        ),
    ],
)  # fmt: skip
def test_refusals_name_the_column_and_the_reason(question, words):
    """A2 = [1 −1 −1; 2 −2 −3]: the first column is hidden, the second flippable, the third has two ratios."""
    net = Network([CUBE, ([[1, -1, -1], [2, -2, -3]], [-1, -3]), ([[1, 5]], [0])])
    assert (hiding(net).hidden, hiding(net).flippable) == ((0,), (1,))
    with pytest.raises(InvalidNetworkError) as caught:
        question(net)
    assert str(caught.value) == words


def test_refusals_count_hyperplanes_from_one():
    net = Network([IDENTITY, ([[-1, 1]], [-1]), ([[1]], [0])])
    with pytest.raises(InvalidNetworkError, match=r"^hyperplane 2 can be translated by t ≥ -1 only, got -3/2"):
        translate(net, 1, "-3/2")


@pytest.mark.parametrize(
    "question",
    [hiding, hidden_hyperplanes, sign_flip_group, lambda net: translate(net, 0, 1), lambda net: flip(net, [])],
)
def test_what_is_no_network_is_refused(question):
    with pytest.raises(InvalidNetworkError, match="expected a Network, got the int 5"):
        question(5)


def test_the_elements_of_the_group_are_all_sets_of_columns_in_order():
    net = Network([CUBE, ([[1, -1, -2], [2, -2, -4]], [-1, -3]), ([[1, 5]], [0])])
    assert [element.columns for element in sign_flip_group(net).elements] == [(), (1,), (2,), (1, 2)]


POS, FROM_0, ANY = (sympy.Symbol(name, real=True, **kind) for name, kind in
                    (("p", {"positive": True}), ("z", {"nonnegative": True}), ("r", {})))  # fmt: skip


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([], []),
        ([2, 2], [2]),
        ([1, 3, 2], [3]),
        ([POS, 0], [POS]),
        ([0, POS], [POS]),
        ([POS, -1], [POS]),
        ([FROM_0, 0], [FROM_0]),  # equal at z = 0, where either will do
        ([0, FROM_0], [FROM_0]),
        ([ANY, 0], [ANY, 0]),
        ([1, ANY, 2], [ANY, 2]),
        ([ANY, 1, ANY + 1, 0], [1, ANY + 1]),
        ([POS, FROM_0, POS + FROM_0], [POS + FROM_0]),
    ],
)
def test_only_ends_that_can_be_the_largest_are_named(values, kept):
    """Theory §3.2: t > max_j b2_j / A2_ji; what another end reaches or exceeds for all letters is left out."""
    assert largest(map(scalar, values)) == tuple(map(scalar, kept))


@pytest.mark.parametrize(
    ("layers", "hidden"),
    [
        ([([[0], [0]], [1, 1]), ([[0, 0], [1, -2]], [2, -1]), ([[0, -1]], [0])], ()),
        ([([[0], [1], [-1]], [2, 0, 0]), ([[1, 1, 2]], [-1]), ([[1]], [0])], ()),
        ([([[0], [1], [-1]], [2, 0, 0]), ([[-1, -1, -2]], [-1]), ([[1]], [0])], (0, 1, 2)),
    ],
)
def test_a_unit_with_zero_weights_has_no_hyperplane_that_could_be_hidden(layers, hidden):
    """Theory §3.1 speaks of H_i; all indices where every row is dead, as for every other network."""
    assert hidden_hyperplanes(Network(layers)) == hidden
