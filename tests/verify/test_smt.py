"""SMT solvers, the oracle's cells and the package's exact method answer alike, on equal and on unequal pairs.

A test that asks a solver is skipped where that solver is not installed; nothing else is.
"""

from fractions import Fraction
from importlib.util import find_spec
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import bottlenecks, relabelled

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.fibers.hiding import flip, hiding, translate
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.scalar import ZERO, exact
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.questions.equivalence import same_function
from semialg_fibers.verify.oracle import same_on_cells
from semialg_fibers.verify.smt import difference_problem, same_by_smt

with_each_solver = pytest.mark.parametrize(
    "solver",
    [
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                find_spec(name) is None, reason=f"{name} is missing: pip install 'semialg-fibers[smt]'"
            ),
        )
        for name in ("z3", "cvc5")
    ],
)
entries = st.sampled_from([-2, -1, 0, 1, 2, "1/3", "-7/4"])
domains = st.sampled_from(
    [Space(1), Space(2), Orthant(1), Orthant(2), Box([-1], [2]), Box([-1, "1/2"], [1, 3]), Space(3), Orthant(3)]
)


@st.composite
def networks(draw, domain, outputs):
    """Up to three hidden layers, dead units, equal units and zeros included."""
    hidden = draw(st.lists(st.integers(1, 3), max_size=3))
    chain = []
    for inputs, units in pairwise([domain.dimension, *hidden, outputs]):
        row = st.lists(entries, min_size=inputs + 1, max_size=inputs + 1)
        rows = draw(st.lists(row, min_size=units, max_size=units))
        chain.append(Layer([each[:-1] for each in rows], [each[-1] for each in rows]))
    return Network(chain, domain)


@st.composite
def moved(draw, net):
    """The same function: relabelled; a unit split in two; one layer more, by z = relu(z) − relu(−z)."""
    same = draw(relabelled(net))
    if len(same.layers) > 1 and draw(st.booleans()):
        same = split(same, draw(st.integers(1, len(same.layers) - 1)), draw(st.sampled_from(["1/3", 2, -1, 0])))
    if draw(st.booleans()):
        same = deeper(same)
    return same


def split(net, layer, share):
    """Give the layer's first unit a double, and the two of them shares of its outgoing weights that sum to 1."""
    before, after = net.layers[layer - 1], net.layers[layer]
    part = exact(share)
    rows = [[*row, (1 - part) * row[0]] for row in after.matrix.rows()]
    layers = list(net.layers)
    layers[layer - 1] = Layer(before.matrix.select([*range(before.outputs), 0]), [*before.offset, before.offset[0]])
    layers[layer] = Layer([[part * row[0], *row[1:]] for row in rows], after.offset)
    return net.with_layers(layers)


def deeper(net):
    last, size = net.layers[-1], net.widths[-1]
    doubled = Layer(last.matrix.stacked(-last.matrix), [*last.offset, *(-value for value in last.offset)])
    unit = [[int(i == j) for j in range(size)] for i in range(size)]
    return net.with_layers([*net.layers[:-1], doubled, Layer([[*row, *(-x for x in row)] for row in unit], [0] * size)])


@st.composite
def perturbed(draw, net):
    """One parameter changed; the function may stay all the same."""
    number = draw(st.integers(0, len(net.layers) - 1))
    rows = [list(form) for form in net.layers[number].forms]
    row = draw(st.sampled_from(rows))
    row[draw(st.integers(0, len(row) - 1))] += exact(draw(st.sampled_from(["1/1024", -1, 1])))
    layers = list(net.layers)
    layers[number] = Layer([each[:-1] for each in rows], [each[-1] for each in rows])
    return net.with_layers(layers)


def values(net, point):
    """By definition, in Fractions."""
    x = [Fraction(str(value)) for value in point]
    for number, layer in enumerate(net.layers, 1):
        forms = [[Fraction(str(value)) for value in form] for form in layer.forms]
        x = [sum((w * v for w, v in zip(form[:-1], x, strict=True)), form[-1]) for form in forms]
        x = x if number == len(net.layers) else [max(value, Fraction(0)) for value in x]
    return x


def all_agree(a, b, solver):
    """The common answer: True for equal; every witness is looked at."""
    witnesses = [same_by_smt(a, b, solver), same_on_cells(a, b)]
    answer = same_function(a, b, method="exact")
    if not answer.same:
        witnesses.append(answer.certificate.point)
    assert [point is None for point in witnesses[:2]] == [answer.same] * 2
    for point in witnesses:
        assert point is None or (a.domain.contains(point) and values(a, point) != values(b, point))
    return answer.same


@with_each_solver
@settings(max_examples=50)
@given(st.data())
def test_equal_by_construction(solver, data):
    a = data.draw(networks(data.draw(domains), data.draw(st.integers(1, 2))))
    assert all_agree(a, data.draw(moved(a)), solver)


@with_each_solver
@settings(max_examples=60)
@given(st.data())
def test_one_parameter_changed(solver, data):
    a = data.draw(networks(data.draw(domains), data.draw(st.integers(1, 2))))
    all_agree(a, data.draw(perturbed(data.draw(moved(a)))), solver)


@with_each_solver
@settings(max_examples=60)
@given(st.data())
def test_two_networks_that_have_nothing_to_do_with_each_other(solver, data):
    domain, outputs = data.draw(domains), data.draw(st.integers(1, 2))
    all_agree(data.draw(networks(domain, outputs)), data.draw(networks(domain, outputs)), solver)


@with_each_solver
@settings(max_examples=20)
@given(st.data())
def test_translations_and_flips_of_hidden_hyperplanes(solver, data):
    net = data.draw(bottlenecks(data.draw(st.sampled_from(["hidden, one alive row", "hidden, common ratios"]))))
    flippable = hiding(net).flippable
    image = flip(net, data.draw(st.sets(st.sampled_from(flippable)))) if flippable else net
    image = translate(image, data.draw(st.sampled_from(hiding(image).hidden)), data.draw(st.integers(0, 3)))
    assert all_agree(net, data.draw(moved(image)), solver)
    all_agree(net, data.draw(perturbed(image)), solver)


@with_each_solver
@pytest.mark.parametrize(
    ("domain", "same"),
    [(Box([-1, -1], [1, 1]), True), (Orthant(2), True), (Space(2), False), (Box([-3, -1], [1, 1]), False)],
)
def test_functions_equal_on_a_box_may_differ_outside(solver, domain, same):
    """Theory §2.7: relu(x1+2) − relu(x2+2) and relu(x1+x2+4) − 2 relu(x2+2), which differ at (−3, 0)."""
    a = Network([([[1, 0], [0, 1]], [2, 2]), ([[1, -1]], [0])], domain)
    b = Network([([[1, 1], [0, 1]], [4, 2]), ([[1, -2]], [0])], domain)
    assert all_agree(a, b, solver) == same


@with_each_solver
def test_a_difference_in_the_last_output_only(solver):
    a = Network([([[1]], [0]), ([[1], [1], [1]], [0, 0, 0])])
    b = Network([([[1]], [0]), ([[1], [1], [1]], [0, 0, "1/1000000"])])
    assert not all_agree(a, b, solver)


@with_each_solver
def test_a_hard_pair_is_not_decided_in_a_moment(solver):
    size = 10
    rows = [[(7 * i * i + 11 * i * j + 5 * j * j + i) % 23 - 11 for j in range(size + 1)] for i in range(3 * size)]
    layers = [Layer([row[:-1] for row in part], [row[-1] for row in part]) for part in (rows[:10], rows[10:20])]
    net = Network([*layers, Layer([[(3 * j) % 7 - 3 for j in range(size)]], [0])])
    with pytest.raises(BudgetExceededError, match="has not decided"):
        same_by_smt(net, net.rescaled(1, range(1, size + 1)).permuted(2, range(size - 1, -1, -1)), solver, 0.1)


def test_the_problem_has_one_relu_for_each_hidden_unit_and_one_form_for_each_output():
    a = Network([([[1, 2], [3, 4]], [5, 6]), ([[7, 8], [9, 1]], [2, 3])], Orthant(2))
    b = Network([([[1, 0]], [0]), ([[1]], [1]), ([[2], [3]], [0, 0])], Orthant(2))
    problem = difference_problem(a, b)
    assert [str(form) for form in problem.relus] == ["v0 + 2*v1 + 5", "3*v0 + 4*v1 + 6", "v0", "v4 + 1"]
    assert [str(form) for form in problem.nonnegative] == ["v0", "v1"]
    assert [str(form) for form in problem.nonzero] == ["7*v2 + 8*v3 - 2*v5 + 2", "9*v2 + v3 - 3*v5 + 3"]


def test_two_affine_maps_are_subtracted():
    a, b = Network([([[1, 2]], [3])]), Network([([[1, 5]], [3])])
    assert str(difference_problem(a, b).nonzero[0]) == "-3*v1"
    assert difference_problem(a, a).nonzero[0].value((ZERO, ZERO)) == 0


def test_networks_that_cannot_be_compared_are_refused():
    net = Network([([[1]], [0])])
    for other in (Network([([[1]], [0])], Orthant(1)), Network([([[1], [1]], [0, 0])])):
        with pytest.raises(InvalidNetworkError, match="equality needs"):
            same_by_smt(net, other)
