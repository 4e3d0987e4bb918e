"""Conservation laws: the tables, a slow oracle, closed forms of the theory, exact gradient steps, refusals, words."""

import json
import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lie_oracle import Polynomials, full_patterns
from reference import kinds
from strategies import BOTTLENECKS, LINES, networks_of, points, relabelled

from semialg_fibers import gallery
from semialg_fibers.errors import BudgetExceededError, UnsupportedError
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions import conservation as module
from semialg_fibers.questions import lie_algebra
from semialg_fibers.questions.conservation import conservation_laws
from semialg_fibers.questions.dimension import functional_dimension
from semialg_fibers.questions.explanation import explain_dimension
from semialg_fibers.questions.gradient_steps import drift, gradient_step
from semialg_fibers.questions.law_search import candidates
from semialg_fibers.questions.laws import Law, settle
from semialg_fibers.verify.conservation import Wiring

TABLE = json.loads((Path(__file__).parents[1] / "tables" / "conservation.json").read_text())
PLANE = ([[1, 0], [0, 1]], [0, 0])


def entry(source):
    return source.choice([-1, 1]) * source.randint(1, 60)


def row_of(letter, size, source):
    """A row of [A2 | b2]: Linear, Dead, Hiding column 0, or nonlinear and hiding nothing."""
    if letter in "LD":
        signs = [1 if letter == "L" else -1] * (size + 1)
    elif letter == "H":
        signs = [1] + [-1] * size
    else:
        signs = [1] * size + [-1] if size > 1 else [-1, 1]
    return [sign * source.randint(1, 60) for sign in signs]


def network_of_rows(widths, letters, seed):
    source = random.Random(seed)
    inputs, units, outputs = widths[-3:]
    rows = [row_of(letter, inputs, source) for letter in letters]
    outgoing = [[entry(source) for _ in range(units)] for _ in range(outputs)]
    layers = [
        ([row[:-1] for row in rows], [row[-1] for row in rows]),
        (outgoing, [entry(source) for _ in range(outputs)]),
    ]
    if len(widths) == 3:
        return Network(layers, Orthant(inputs))
    first = [[entry(source) for _ in range(widths[0])] for _ in range(inputs)]
    return Network([(first, [entry(source) for _ in range(inputs)]), *layers])


@pytest.mark.parametrize("record", TABLE["theory7"], ids=lambda r: f"{'-'.join(map(str, r['widths']))} {r['rows']}")
@pytest.mark.parametrize("seed", [1, 2])
def test_the_table_of_the_theory(record, seed):
    """tests/tables/conservation.json says in `made_by` how each entry was found."""
    net = network_of_rows(record["widths"], record["rows"], seed)
    found = conservation_laws(net)
    assert net.parameter_count == record["parameters"]
    assert found.total == found.independent == found.independent_here == record["laws"]
    assert list(found.bound.ranks) == record["bracket_ranks"]
    assert found.check()


@st.composite
def tiny_networks(draw):
    widths = draw(
        st.sampled_from(
            [(1, 1), (1, 1, 1), (1, 2, 1), (2, 1, 1), (1, 1, 2), (1, 1, 1, 1), (1, 1, 1, 1, 1), (1, 2, 1, 1)]
        )
    )
    small = st.integers(-2, 2)
    layers = []
    for inputs, outputs in pairwise(widths):
        rows = draw(
            st.lists(st.lists(small, min_size=inputs + 1, max_size=inputs + 1), min_size=outputs, max_size=outputs)
        )
        layers.append(([row[:-1] for row in rows], [row[-1] for row in rows]))
    domains = [Space(widths[0]), Orthant(widths[0]), Box([-1] * widths[0], [1] * widths[0])]
    return Network(layers, draw(st.sampled_from(domains)))


@settings(max_examples=25)
@given(tiny_networks())
def test_everything_is_what_the_slow_oracle_finds(net):
    """The cells, the ranks of all brackets, hence the number of laws, and the polynomials of degree at most two."""
    patterns = full_patterns(net)
    assume(patterns)
    oracle = Polynomials(net.widths, (True,) * len(net.layers), patterns)
    found, ranks = conservation_laws(net), oracle.lie_ranks()
    assert set(found.patterns) == set(patterns)
    assert found.total == len(oracle.names) - ranks[-1]
    assert found.independent == oracle.quadratic_laws()
    assert list(found.bound.ranks)[: len(ranks)] == ranks[: len(found.bound.ranks)]
    assert found.check()


def mixed(q, size):
    """The number of independent entries of U Uᵀ − VᵀV for q linear neurons of `size` parameters each: theory §7."""
    return q * (q + 1) // 2 if q <= size else q * size - size * (size - 1) // 2


@pytest.mark.parametrize("kind", [kind for kind in BOTTLENECKS if kind not in LINES])
@settings(max_examples=6)
@given(st.data())
def test_the_closed_forms_of_the_theory(kind, data):
    """n1, each nonlinear row, the linear block, all parameters of dead rows; nothing from a hiding translation."""
    net = data.draw(networks_of(kind))
    names = kinds(net)
    size = net.widths[1] + 1 + net.widths[-1]
    found = conservation_laws(net)
    if set(names) == {"dead"}:
        expected = net.parameter_count - net.widths[-1]
    else:
        expected = (
            net.widths[1] + names.count("nonlinear") + names.count("dead") * size + mixed(names.count("linear"), size)
        )
    assert found.total == found.independent == expected
    translations = [field for field in found.symmetries if field.kind == "hiding translation"]
    assert bool(translations) == kind.startswith("hidden")
    moved = data.draw(relabelled(net))
    assert conservation_laws(moved).total == expected


@pytest.mark.parametrize(
    "kind", ["visible", "linear rows", "hidden, common ratios", "line, visible", "linear and dead rows"]
)
@settings(max_examples=8)
@given(st.data())
def test_exact_gradient_steps_drift_at_second_order(kind, data):
    """For data in the cells of the network; c_1 = 0 and c_3 = 0 exactly, since every law has degree at most two."""
    net = data.draw(networks_of(kind))
    found = conservation_laws(net)
    xs = data.draw(st.lists(points(net.domain), min_size=2, max_size=4))
    ys = [[data.draw(st.integers(-9, 9)) for _ in range(net.widths[-1])] for _ in xs]
    try:
        drifted = drift(net, (*found.found, *found.dependent), xs, ys)
    except UnsupportedError:
        assume(False)
    assert drifted.is_second_order
    assert all(row[2] == 0 for row in drifted.coefficients)
    for law, changes in zip(drifted.laws, drifted.changes, strict=True):
        if law.kind == "free":
            assert not any(changes)
        assert changes[0] == 4 * changes[1] == 16 * changes[2]


def test_what_is_no_law_drifts_at_first_order():
    net = gallery.network("visible_2_2_2_1")
    wrong = Law("other", ((("W1_0_0", "W1_0_0"), 1), (("W2_0_0", "W2_0_0"), -1)), (), False)
    assert not drift(net, [wrong], [[3, 1], [-2, 5]], [[1], [0]]).is_second_order


def test_the_hidden_direction_moves_while_the_laws_stay():
    """Gradient flow moves b1 of the hidden unit, and its one-form db1 − Σ A2 db2 is zero: no law comes from it."""
    net = gallery.network("hidden_2_2_2_1")
    found = conservation_laws(net)
    (field,) = [field for field in found.symmetries if not field.is_closed]
    assert field.kind == "hiding translation"
    assert str(field) == "∂/∂b1_0 - W2_0_0 ∂/∂b2_0 - W2_1_0 ∂/∂b2_1"
    assert field.exterior == (("W2_0_0", "b2_0", -1), ("W2_1_0", "b2_1", -1))
    assert found.total == 4  # two units, two alive rows
    xs, ys, step = [[5, -1], [4, -3]], [[1], [2]], Fraction(1, 1000)
    before, after = net.parameters, gradient_step(net, xs, ys, step).parameters
    change = {name: after[name] - before[name] for name in before}
    assert change["b1_0"] != 0
    assert change["b1_0"] == before["W2_0_0"] * change["b2_0"] + before["W2_1_0"] * change["b2_1"]


def test_linear_neurons_on_the_orthant_and_on_the_line():
    """Theory §7: (1, 3, 1) LLL has 6 laws on the orthant, 3 on R, where the same neurons switch."""
    layers = [([[1], [2], [3]], [4, 1, 5]), ([[1, -2, 3]], [0])]
    assert conservation_laws(Network(layers, Orthant(1))).total == 6
    assert conservation_laws(Network(layers)).total == 3


def test_rotations_of_linear_neurons_are_symmetries_without_a_law():
    found = conservation_laws(gallery.network("two_linear_2_2_3_2"))
    (field,) = [field for field in found.symmetries if field.law is None]
    assert field.kind == "rotation"
    assert len(field.exterior) == 5  # two weights and a bias in, two out
    assert {value for _, _, value in field.exterior} == {-2}
    mixing = [field for field in found.symmetries if field.kind == "mixing"]
    assert [field.is_closed for field in mixing] == [True]
    assert all(field.is_closed == (field.law is not None) for field in found.symmetries)


def test_a_law_is_a_sympy_polynomial_in_the_variables():
    found = conservation_laws(gallery.network("dead_2_2_2_1"))
    letters = {str(letter): letter for letter in found.variables}
    assert list(letters) == list(found.network.parameters)
    assert all(isinstance(law, sympy.Expr) and law.free_symbols <= set(found.variables) for law in found.laws)
    rows = [[law.diff(letter) for letter in found.variables] for law in found.laws]
    at = {letters[name]: sympy.Rational(int(v.p), int(v.q)) for name, v in found.network.parameters.items()}
    assert sympy.Matrix(rows).subs(at).rank() == found.independent == len(found.laws) == 7
    for law, polynomial in zip(found.found, found.laws, strict=True):
        assert sympy.sympify(str(law), locals=letters) == polynomial


def test_dependent_laws_are_listed_apart():
    """Five linear neurons with three parameters each: 15 entries, of which 12 are independent."""
    net = network_of_rows((1, 5, 1), "LLLLL", 3)
    found = conservation_laws(net)
    assert (found.independent, len(found.dependent), found.total) == (12, 3, 12)


def test_equal_linear_neurons_have_fewer_independent_gradients_at_that_parameter():
    net = Network([([[1], [1]], [2, 2]), ([[3, 3]], [0])], Orthant(1))
    found = conservation_laws(net)
    assert (found.total, found.independent, found.independent_here) == (3, 3, 2)
    assert "at this network itself the gradients of the laws have rank 2 only" in found.explain()


def test_cells_on_which_a_preactivation_vanishes_are_left_out():
    """Theory §7: all second-layer biases zero, u ≤ 0."""
    net = Network([PLANE, ([[1, 1], [1, -2]], [0, 0]), ([[1, 2]], [3])])
    found = conservation_laws(net)
    assert (found.cells.left_out, found.cells.vanishing) == (1, ((2, 0), (2, 1)))
    assert ((0, 0), (0, 0)) not in found.patterns
    assert found.total == 4
    assert "1 cell left out" in found.explain()
    assert "need not be differentiable" in found.explain()
    with pytest.raises(UnsupportedError, match="unit 2 of layer 1") as caught:
        conservation_laws(Network([([[1, 2], [0, 0]], [3, 0]), ([[1, 1]], [0])]))
    assert (caught.value.layer, caught.value.row) == (1, 1)


def test_a_law_that_is_no_polynomial_is_counted():
    """f = b3 + W3 b2 near θ: b3 − log(W3 + b2) is conserved, and no polynomial of degree 2 takes its place."""
    net = Network([([[1]], [1]), ([[-1]], [5]), ([[2]], [0])], Box([-1], [0]))
    dead = Network([([[1]], [-1]), ([[-1]], [5]), ([[2]], [0])], Box([-1], [0]))
    assert conservation_laws(net).total == 2
    found = conservation_laws(dead)
    assert (found.independent, found.total, found.interval) == (4, 5, (5, 5))
    assert "closed under brackets" in found.proof
    w, b, c = sympy.symbols("W3_0_0 b2_0 b3_0", real=True)
    law, output = c - sympy.log(w + b), c + w * b
    assert sympy.simplify(sum(law.diff(t) * output.diff(t) for t in (w, b, c))) == 0


def test_an_unusual_law_is_found():
    """Two units fed by their biases alone, and only together: b_0 W_1 − b_1 W_0 stays; the square of it is no news."""
    net = Network([([[-4], [0]], [0, -5]), ([[0, 1], [0, 2]], [9, 2]), ([[0, 6]], [-9])], Orthant(1))
    found = conservation_laws(net)
    assert [str(law) for law in found.dependent] == ["b2_0*W3_0_1 - b2_1*W3_0_0"]
    assert found.dependent[0].kind == "other"
    assert (found.independent, found.total) == (11, 12)  # one field in thirteen parameters; see the test before


def test_too_many_cells_leave_the_laws_that_hold_everywhere():
    net = gallery.network("visible_2_2_2_1")
    found = conservation_laws(net, budget=2)
    assert not found.cells.all_seen
    assert set(found.patterns) <= set(conservation_laws(net).patterns)
    assert found.total == found.independent == 4  # the points see enough
    assert all(law.everywhere for law in found.found)
    assert "more cells than the budget" in found.explain()


def test_bounds_that_do_not_meet_are_an_interval():
    dead = conservation_laws(gallery.network("dead_2_2_2_1"), budget=2)  # nobody knows yet that the row is dead
    assert dead.interval == (4, 7)
    with pytest.raises(BudgetExceededError, match="between 4 and 7") as caught:
        _ = dead.total
    assert caught.value.interval == dead.interval
    assert "not decided" in dead.explain()
    assert dead.to_json()["total"] is None


@pytest.mark.parametrize("domain", [Space(2), Orthant(2), Box([3, 3], [4, 5])])
def test_points_lie_in_cells_of_the_domain(domain):
    net = Network([([[1, -1], [1, 2], [1, 0]], [0, -11, 0]), ([[1, 1, 1]], [0])], domain)
    assert set(module._seen(net)) == set(full_patterns(net))


def test_cells_that_were_not_seen_are_not_forgotten(monkeypatch):
    """One field in the only pattern seen, and its span is closed; the other cell has more."""
    net = Network([([[1]], [0]), ([[1]], [0])])
    monkeypatch.setattr(module, "_seen", lambda net: (((0,),),))
    assert conservation_laws(net, budget=1).interval == (1, 3)
    assert conservation_laws(net).interval == (1, 1)


def test_a_span_that_is_not_closed_is_not_called_so(monkeypatch):
    """Without brackets the rank of this network is 2, which [X, Y] would raise to 3."""
    monkeypatch.setattr(lie_algebra, "LONGEST_BRACKET", 1)
    found = conservation_laws(Network([([[1]], [1]), ([[1]], [0])], Orthant(1)))
    assert found.interval == (1, 2)
    assert not found.closed


def test_squares_beyond_the_scalings_are_found():
    """Unit v is fed by u1 where it feeds w1, by u2 where it feeds w2: the two paths through it scale separately."""
    widths, patterns = (1, 2, 1, 2, 1), [((1, 0), (1,), (1, 0)), ((0, 1), (1,), (0, 1))]
    parameters = lie_algebra.Parameters(widths, (False,) * 4)
    fields = lie_algebra.GradientFields(parameters, tuple(patterns))
    wiring = Wiring(widths, parameters.biased, tuple(patterns))
    found = settle(parameters, candidates(fields), lambda most: lie_algebra.bracket_rank(fields, most), wiring)
    assert found.total == found.independent == 6
    assert [law.kind for law in found.found] == ["scaling"] * 5 + ["other"]
    oracle = Polynomials(widths, parameters.biased, patterns)
    assert (oracle.quadratic_laws(), oracle.lie_ranks()) == (6, [2])


def test_budgets_are_kept():
    with pytest.raises(BudgetExceededError, match="15 parameters"):
        conservation_laws(gallery.network("visible_2_2_2_1"), most_parameters=14)
    nowhere = Network([([[1], [0]], [0, 0]), ([[1, 1]], [0])])  # the second unit vanishes: no point lies in a full cell
    with pytest.raises(BudgetExceededError, match="none of"):
        conservation_laws(nowhere, budget=1)


@pytest.mark.parametrize("name", gallery.names())
def test_it_says_in_words_what_it_found(name):
    found = conservation_laws(gallery.network(name))
    text = found.explain()
    assert f"number of independent laws: exactly {found.total}" in text
    for law in (*found.found, *found.dependent):
        assert str(law) in text
    for field in found.symmetries:
        if not field.is_closed:
            assert f"d = {field.differential} ≠ 0" in text
    if any(not law.everywhere for law in found.found):
        count = len(found.patterns)
        assert (f"one of the {count} activation patterns" if count > 1 else "the one activation pattern") in text
    told = json.loads(json.dumps(found.to_json()))
    assert [law["polynomial"] for law in told["laws"]] == [str(law) for law in found.found]
    assert told["total"] == told["independent"] == found.total
    assert found.to_latex().count("&=") == found.independent


def test_latex_names_count_from_one():
    assert (
        r"Q_{1} &= {W^{(1)}_{1,1}}^2 + {b^{(1)}_{1}}^2 - {W^{(2)}_{1,1}}^2"
        in conservation_laws(gallery.network("line_1_1_1_1")).to_latex()
    )


# Units that vanish on a cell, and that no output depends on: there f is differentiable all the same
PRUNED = [
    Network([([[1], [0]], [0, 0]), ([[1, 0]], [5])]),
    Network([([[0]], [0]), ([[0]], [5])]),
    Network([([[0]], [0]), ([[1]], [-1]), ([[1]], [5])]),
    Network([([[1], [0]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])]),
]


@pytest.mark.parametrize("net", PRUNED, ids=range(4))
def test_nothing_is_said_to_be_nowhere_differentiable(net):
    """At the second θ, W2 relu(W1 x + b1) is a product of two small numbers, so that f is differentiable there."""
    for question in (conservation_laws, functional_dimension, explain_dimension):
        with pytest.raises(UnsupportedError, match="need not be differentiable") as caught:
            question(net)
        assert "nowhere" not in caught.value.message


def test_one_thing_is_not_called_several():
    net = Network([([[1], [1]], [5, 5]), ([[1, 1]], [-3]), ([[1]], [0])], Box([1], [2]))
    text = conservation_laws(net).explain()
    assert "the one activation pattern that occurs at this network" in text
    assert "1 patterns" not in text
    assert "unit 1 of layer 2 is active there" in text
    single = conservation_laws(Network([([[1]], [0]), ([[1]], [-3])], Box([1], [2]))).explain()
    assert "1 independent law:\n" in single
    assert "1 laws" not in single
    assert "the 1 " not in single
