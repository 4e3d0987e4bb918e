"""Fibers in letters: the formulas of theory §2.3, §3.2, §3.3 up to renaming, and answers under their conditions."""

from itertools import pairwise

import pytest
import sympy

from semialg_fibers import Network, fiber, flip, genericity, hidden_hyperplanes, identifiability, neuron_types, to_latex
from semialg_fibers.errors import InvalidNetworkError, NotGenericError, UndecidedSignError, UnsupportedError
from semialg_fibers.fibers.hiding import hiding, sign_flip_group, translate, translation_range
from semialg_fibers.geometry.domain import Orthant
from semialg_fibers.geometry.symbolic_matrix import SymbolicMatrix
from semialg_fibers.questions.equivalence import same_function
from semialg_fibers.questions.matching import match_units
from semialg_fibers.verify.oracle import same_on_cells


def letters(text):
    return sympy.symbols(text, real=True)


HIDDEN = Network.generic(2, 2, 2, 1, signs=["+--", "+--"])
FLIP = Network.generic(2, 2, 1, 1, signs=["+--"])
CANCELLING = Network.generic(2, 2, 2, 1, signs=["+-+", "-+-"])
A = {letter.name: letter for net in (HIDDEN, FLIP) for letter in net.symbols}


def vanishing(expressions):
    """Equations up to sign and number factors."""
    return {
        sympy.factor_list(e)[1][0][0] if len(sympy.factor_list(e)[1]) == 1 else sympy.expand(e) for e in expressions
    }


def test_the_hidden_example_gives_the_translation_of_theory_3_2():
    t = sympy.Symbol("t", positive=True)
    moved = translate(HIDDEN, 0, t)
    assert moved.layers[0].bias == (A["c1_0"] + t, A["c1_1"])
    assert [sympy.expand(b) for b in moved.layers[1].bias] == [A["c2_0"] - A["a2_0_0"] * t, A["c2_1"] - A["a2_1_0"] * t]
    ends = translation_range(HIDDEN, 0)
    assert ends.start == sympy.Max(A["c2_0"] / A["a2_0_0"], A["c2_1"] / A["a2_1_0"])
    assert ends.left_open
    with pytest.raises(UndecidedSignError):  # t < 0 may be too far
        translate(HIDDEN, 0, sympy.Symbol("t", negative=True))
    with pytest.raises(InvalidNetworkError, match="not hidden"):
        translate(HIDDEN, 1, t)


def test_the_flip_example_gives_the_map_of_theory_3_3():
    flipped = flip(FLIP, [1])
    r = A["a2_0_1"] / A["a2_0_0"]
    for c in range(2):
        assert sympy.simplify(flipped.layers[0].weight[0, c] - (A[f"a1_0_{c}"] + r * A[f"a1_1_{c}"])) == 0
        assert flipped.layers[0].weight[1, c] == -A[f"a1_1_{c}"]
    assert sympy.simplify(flipped.layers[0].bias[0] - (A["c1_0"] + r * A["c1_1"])) == 0
    assert flipped.layers[0].bias[1] == -A["c1_1"]
    assert flipped.layers[1:] == FLIP.layers[1:]
    assert flip(flipped, [1]) == FLIP
    assert sign_flip_group(FLIP).order == 2


def test_the_component_of_the_flip_example_in_letters():
    """Theory §3.4: the products along paths, the bias that a translation leaves alone, b3, and the signs."""
    component = fiber(FLIP).components[0]
    (part,) = component.set.parts
    names = [f"W1_{i}_{c}" for i in range(2) for c in range(2)] + [
        "W2_0_0",
        "W2_0_1",
        "W3_0_0",
        "b1_0",
        "b1_1",
        "b2_0",
        "b3_0",
    ]
    w = {name: next(v for v in part.variables if v.name == name) for name in names}
    expected = {
        w[f"W1_{k}_{c}"] * w[f"W2_0_{k}"] * w["W3_0_0"] - A[f"a1_{k}_{c}"] * A[f"a2_0_{k}"] * A["a3_0_0"]
        for k in range(2)
        for c in range(2)
    }
    expected.add(w["b1_1"] * w["W2_0_1"] * w["W3_0_0"] - A["c1_1"] * A["a2_0_1"] * A["a3_0_0"])
    base = A["a3_0_0"] * (A["a2_0_0"] * A["c1_0"] + A["c2_0"])
    expected.add(w["W3_0_0"] * (w["W2_0_0"] * w["b1_0"] + w["b2_0"]) - base)
    expected.add(w["b3_0"] - A["c3_0"])
    found = {sympy.expand(e) for e in part.equations}
    assert {sympy.expand(e) for e in expected} <= found
    minors = found - {sympy.expand(e) for e in expected}
    at = {w[f"W1_{k}_{c}"]: 3 * A[f"a1_{k}_{c}"] for k in range(2) for c in range(2)} | {w["b1_1"]: 3 * A["c1_1"]}
    assert minors
    assert all(sympy.expand(e.subs(at)) == 0 for e in minors)
    inner = w["W1_0_0"] * A["a1_0_0"] + w["W1_0_1"] * A["a1_0_1"]
    assert {inner, w["W2_0_0"], -w["W2_0_1"], -w["b2_0"]} <= {sympy.expand(e) for e in part.positive}
    image = component.parametrization
    ranges = {str(r) for r in image.ranges}
    assert ranges == {"lambda_0 > 0", "lambda_1 > 0", "mu_0 > 0", "t > c2_0/a2_0_0"}
    assert component.dimension == 4


def test_a_visible_network_with_one_linear_row_gives_the_factorization_with_m_in_letters():
    net = Network.generic(2, 2, 2, 2, signs=["+++", "+-+"])
    a = {letter.name: letter for letter in net.symbols}
    image = fiber(net).components[0].parametrization
    b0, b1, c0, c1 = letters("B_0_0 B_0_1 C_0_0 C_1_0")
    expected = {c * b - a[f"a3_{i}_0"] * a[f"a2_0_{k}"] for i, c in enumerate((c0, c1)) for k, b in enumerate((b0, b1))}
    assert {sympy.expand(e) for e in image.equations} == expected
    assert {"B_0_0 >= 0", "B_0_1 >= 0", "beta_0 >= 0"} <= {str(r) for r in image.ranges}


def test_columns_are_flippable_under_the_condition_of_theory_3_3():
    found = hiding(HIDDEN)
    assert found.hidden == (0,)
    assert found.flippable == ()
    difference = A["a2_0_0"] * A["a2_1_1"] - A["a2_0_1"] * A["a2_1_0"]
    ((k, (value,)),) = found.conditions.items()
    assert k == 1
    assert sympy.expand(sympy.sympify(str(value), locals=A)) in (difference, -difference)
    with pytest.raises(UndecidedSignError, match=r"a2_0_0\*a2_1_1 - a2_0_1\*a2_1_0"):
        flip(HIDDEN, [1])
    with pytest.raises(UndecidedSignError):
        sign_flip_group(HIDDEN).order  # noqa: B018
    components = list(fiber(HIDDEN).components)
    assert [component.flips for component in components] == [(), (1,)]
    assert components[0].condition.always
    condition = components[1].condition
    same = {"a2_0_0": 1, "a2_0_1": -2, "a2_1_0": 3, "a2_1_1": -6}
    assert condition.holds(same)
    assert not condition.holds(same | {"a2_1_1": -5})
    with pytest.raises(UndecidedSignError):
        fiber(HIDDEN).component_count  # noqa: B018
    with pytest.raises(InvalidNetworkError) as refused:
        components[1].subs(same | {"a2_1_1": -5})
    assert str(refused.value) == f"the component does not exist for these values; it does iff {condition}"
    # once the condition is decided, the column is flippable, or it is not
    flippable, fixed = (components[0].subs(values).frame for values in (same, same | {"a2_1_1": -5}))
    assert (flippable.conditions, flippable.ratios) == ({}, {1: -2})
    assert (fixed.conditions, fixed.ratios) == ({}, {})
    assert components[1].subs(same).frame == flippable


def test_the_translation_lies_above_the_ends_of_all_rows_where_letters_leave_open_which_is_largest():
    component = fiber(HIDDEN).components[0]
    shown = [str(relation) for relation in component.parametrization.ranges if "t >" in str(relation)]
    assert shown == ["t > c2_0/a2_0_0", "t > c2_1/a2_1_0"]


def test_on_a_line_the_components_with_letters_are_those_at_numbers():
    """φ = p relu(u − 1) − q relu(u − 2): visible with one row flipped iff ..., from both sides iff p = q."""
    p, q = sympy.symbols("p q", positive=True)
    net = Network([([[1]], [0]), ([[1], [1]], [-1, -2]), ([[p, q]], [0])])
    found = list(fiber(net).components)
    for values in ({p: 1, q: 1}, {p: 2, q: 5}):
        numeric = fiber(net.subs(values)).components
        holding = [each for each in found if each.condition.holds(values)]
        assert [(each.direction, each.kind, each.flips, each.dimension) for each in numeric] == [
            (each.direction, each.kind, each.flips, each.subs(values).dimension) for each in holding
        ]
        for each in holding:
            assert fiber(net.subs(values)).contains(each.subs(values).sample(1))


def test_sides_exist_under_the_condition_that_their_jumps_cancel():
    assert neuron_types(CANCELLING) == ("nonlinear", "nonlinear")
    assert hidden_hyperplanes(CANCELLING) == ()
    components = list(fiber(CANCELLING).components)
    assert [component.flips for component in components] == [(), (0, 1)]  # one row alone never cancels
    condition = components[1].condition
    assert not condition.always
    numbers = {"a2_0_0": 1, "a2_0_1": -1, "a2_1_0": -1, "a2_1_1": 1, "a3_0_0": 1, "a3_0_1": 1}
    assert condition.holds(numbers)
    assert not condition.holds(numbers | {"a3_0_1": 2})
    assert fiber(CANCELLING).dimension == 4  # the same for both
    assert identifiability(CANCELLING).is_identifiable is None
    assert "can be flipped together iff" in identifiability(CANCELLING).undecided


def test_pointedness_is_stated_as_a_condition_and_decides_the_dimension():
    """Two spare rows, m = 2, p = 2: M_S of rank 1 needs one linear row where its cone is pointed, else two."""
    net = Network.generic(2, 2, 3, 2, signs=["+++", "---", "+-+"])
    component = fiber(net).components[1]
    assert component.flips == (2,)
    with pytest.raises(UndecidedSignError, match=r"the cone generated by the columns of .* is pointed"):
        component.dimension  # noqa: B018
    cases = {(case.rank, case.simplicial) for case in component.cases}
    assert cases == {(0, True), (1, True), (1, False), (2, True)}
    numbers = {"a2_0_0": 1, "a2_0_1": 1, "a2_2_0": 2, "a2_2_1": -1, "a3_0_0": 1, "a3_1_0": 2}
    parallel = component.subs(numbers | {"a3_0_2": 1, "a3_1_2": 2})  # columns (1,2)·3 and (1,2)·0: pointed
    opposite = component.subs(numbers | {"a3_0_2": 2, "a3_1_2": 4})  # (1,2)·5 and (1,2)·(−1)
    assert parallel.dimension != opposite.dimension
    from semialg_fibers.fibers.orientation import OrientationProblem

    assert type(parallel.block.problem) in (OrientationProblem, type(component.block.problem))


def test_a_common_factor_does_not_hide_that_the_cone_is_not_pointed():
    """m = 1, one spare row: M_S = (a2_0_0, a2_0_1) a3_0_0 has columns of both signs, whatever the sign of a3_0_0."""
    net = Network.generic(2, 2, 2, 1, signs=["+-+", "---"])
    assert [component.flips for component in fiber(net).components] == [()]
    assert fiber(net).component_count == 1


def test_genericity_states_its_conditions():
    conditions = {c.name: c for c in genericity(HIDDEN).conditions}
    assert [c.verdict for c in genericity(HIDDEN).conditions] == [None, True, None, None, True]
    assert "a1_0_0*a1_1_1 - a1_0_1*a1_1_0 ≠ 0" in conditions["G1"].reason
    assert "a2_0_0*c2_1 - a2_1_0*c2_0 ≠ 0" in conditions["G3"].reason
    assert conditions["G4"].reason == "holds if a2_0_1*a3_0_0 + a2_1_1*a3_0_1 ≠ 0"  # on H_1 both rows are off
    assert fiber(HIDDEN).complete is None
    assert fiber(HIDDEN).assumptions == ("G1", "G3", "G4")


def test_a_hypothesis_that_never_holds_is_a_violation():
    p = sympy.Symbol("p", positive=True)
    twice = Network([([[p, 1], [2 * p, 2]], [0, 1]), ([[1, -1]], [-1]), ([[1]], [0])])
    with pytest.raises(NotGenericError, match="G1"):
        fiber(twice)
    same = Network([([[1, 0], [0, 1]], [0, 0]), ([[p, -1], [2 * p, -3]], [-p, -2 * p]), ([[1, 1]], [0])])
    with pytest.raises(NotGenericError, match="in column 1 rows 1 and 2 have the same ratio"):
        fiber(same)


def test_letters_without_a_sign_are_named():
    a, b = letters("a b")
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[a, b]], [-1]), ([[1]], [0])])
    for ask in (neuron_types, hidden_hyperplanes, fiber):
        with pytest.raises(UndecidedSignError, match=r"the sign of [ab] is not declared") as caught:
            ask(net)
        assert caught.value.expression in (a, b)
    assert identifiability(net).is_identifiable is None


def test_letters_may_have_the_names_of_the_parameters_of_an_image():
    t = sympy.Symbol("t", positive=True)
    moved = translate(FLIP, 0, t)
    symbols = fiber(moved).components[0].parametrization.symbols
    assert t not in symbols
    assert "t_" in map(str, symbols)
    assert fiber(FLIP).contains(moved)
    assert fiber(moved).contains(FLIP)
    assert fiber(FLIP).contains(moved.permuted(1, [1, 0]).rescaled(1, [2, sympy.Symbol("s", positive=True)]))


def test_membership_depends_on_the_letters_and_says_so():
    other = FLIP.subs({"a2_0_1": sympy.Symbol("z", negative=True)})
    with pytest.raises(UndecidedSignError):
        fiber(FLIP).contains(other)
    assert not fiber(FLIP).contains(Network.generic(2, 2, 1, 1, signs=["-+-"]).subs({"c3_0": 5, "a2_0_0": -1}).subs(
        {"a2_0_1": 1, "c2_0": -1, "a3_0_0": 1, "a1_0_0": 0, "a1_0_1": 0, "a1_1_0": 0, "a1_1_1": 0}
    ))  # fmt: skip


def test_a_multiple_of_a_square_is_not_zero():
    """The rows of A1 are not zero under (G1); that makes ⟨row, form⟩ positive, and b3 + x² another function."""
    x = sympy.Symbol("x", real=True)
    first, second = ([[x, 0], [0, 1]], [0, 0]), ([[1, -1], [2, 1]], [1, -3])
    net, other = (Network([first, second, ([[1, 2]], [last])]) for last in (0, x**2))
    assert fiber(net).contains(net.rescaled(1, [2, 3]))
    assert not fiber(net).contains(other)
    hidden = Network([first, ([[1, -1]], [-1]), ([[1]], [0])])
    turned = Network([([[x, x**2], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    assert not fiber(hidden).contains(turned)  # equal at x = 0 only, where (G1) fails


def test_a_component_under_a_condition_has_it_among_its_equations():
    p, q = sympy.symbols("p q", positive=True)
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -p], [1, -q]], [-1, -2]), ([[1, 1]], [0])])
    component = fiber(net).components[1]
    assert str(component.condition) in ("p - q = 0", "-p + q = 0")
    (part,) = component.set.parts
    assert any(sympy.expand(e - (p - q)) == 0 or sympy.expand(e + p - q) == 0 for e in part.equations)
    assert any(
        sympy.expand(e - (p - q)) == 0 or sympy.expand(e + p - q) == 0 for e in component.parametrization.equations
    )
    member = component.sample(0)
    values = {letter: 1 if letter == p else 2 for letter in member.symbols}
    assert not component.set.subs({p: 1, q: 2}).contains(member.subs(values).parameters)
    assert component.set.subs({p: 2, q: 2}).contains(member.subs({letter: 2 for letter in member.symbols}).parameters)


def test_types_are_not_taken_on_the_orthant_where_the_first_layer_never_maps_onto_it():
    a, x = sympy.Symbol("a", positive=True), sympy.Symbol("x", real=True)
    rest = [([[2 * a, -a]], [0]), ([[1]], [0])]
    for first in ([[1, 0], [1, 0]], [[x, 0], [x, 0]]):
        with pytest.raises(UnsupportedError, match="this needs numbers"):
            neuron_types(Network([(first, [0, 0]), *rest]))


def test_rows_that_may_coincide_are_no_reason():
    c, d = letters("c d")
    a, b = sympy.symbols("a b", positive=True)
    from semialg_fibers import Orthant

    net = Network([([[a, -b], [-a, b]], [c, d]), ([[1, 1]], [0])], domain=Orthant(2))
    assert identifiability(net).is_identifiable is None
    assert identifiability(net.subs({c: 1, d: 1})).is_identifiable is False


def test_one_sure_weight_makes_a_neuron_nonlinear_on_the_space_wherever_it_stands():
    p, x = sympy.Symbol("p", positive=True), sympy.Symbol("x", real=True)
    for row in ([p, x], [x, p]):
        assert neuron_types(Network([([row], [0]), ([[1]], [0])])) == ("nonlinear",)
    with pytest.raises(UndecidedSignError):
        neuron_types(Network([([[x, x]], [0]), ([[1]], [0])]))


def test_large_first_layers_state_their_rank_without_writing_minors():
    for widths in ((7, 7, 2, 1), (12, 6, 2, 1)):
        found = genericity(Network.generic(*widths, signs=["+" * widths[1] + "-"] * 2))
        assert found.conditions[0].verdict is None
        assert f"rank A1 = {widths[1]}" in found.conditions[0].reason


def test_what_is_known_for_numbers_only_says_so():
    for ask in (lambda: same_function(FLIP, FLIP), lambda: match_units(FLIP, FLIP)):
        with pytest.raises(UnsupportedError, match="this needs numbers: substitute values for a1_0_0"):
            ask()


def test_values_of_a_network_with_letters():
    p = sympy.Symbol("p", positive=True)
    net = Network([([[p], [-p]], [0, 0]), ([[1, 2]], [p])])
    assert net([1]) == (2 * p,)
    assert net([-1]) == (3 * p,)
    with pytest.raises(UndecidedSignError):
        Network([([[sympy.Symbol("x", real=True)]], [0]), ([[1]], [0])])([1])


@pytest.mark.parametrize(
    ("signs", "words"),
    [
        (["+-"], "row 1: expected 3 characters"),
        ("+--", "expected 1 string"),
        (["+0-"], "row 1"),
        (["+--", "+--"], "expected 1"),
    ],
)
def test_signs_of_another_shape_are_refused(signs, words):
    with pytest.raises(InvalidNetworkError, match=words):
        Network.generic(2, 2, 1, 1, signs=signs)


def test_substitution_names_what_it_does_not_know():
    with pytest.raises(InvalidNetworkError, match="q is no letter of the network; its letters: a1_0_0"):
        FLIP.subs({"q": 1})
    with pytest.raises(InvalidNetworkError, match="a2_0_0 is declared positive, got -1"):
        FLIP.subs({"a2_0_0": -1})
    assert isinstance(FLIP.layers[0].matrix, SymbolicMatrix)
    assert FLIP.subs({letter: 1 for letter in FLIP.symbols if letter.is_negative is not True} | {
        letter: -1 for letter in FLIP.symbols if letter.is_negative}).is_rational  # fmt: skip


# sets at numbers


def test_nothing_is_stated_of_a_set_at_numbers_for_which_the_component_does_not_exist():
    """One spare row, m = 1: M_S = (2, −2) has columns of both signs, so that its cone is a line."""
    net = Network.generic(2, 2, 2, 1, signs=["+++", "+-+"])
    component = fiber(net).components[1]
    assert component.flips == (1,)
    values = {letter: -1 if letter.is_negative else 1 for letter in net.symbols}
    values |= {letter: -3 for letter in net.symbols if letter.name == "a2_1_1"}
    assert not component.condition.holds(values)
    for part in component.set.parts:
        own = {letter: value for letter, value in values.items() if letter in part.letters}
        there = part.subs(own)
        assert (there.known_dimension, there.sampler) == (None, None)
        assert there.is_empty()
        first = {letter: value for letter, value in own.items() if letter.name.startswith("a2")}
        left = {letter: value for letter, value in own.items() if letter not in first}
        assert part.subs(first).subs(left).known_dimension is None


@pytest.mark.parametrize("signs", [["+-+", "+++"], ["+--", "+--"], ["+-+", "---"], ["---", "---"]])
def test_a_set_at_numbers_knows_what_the_component_at_numbers_knows(signs):
    """At once, in two steps, and after renaming; at least one component of each network exists."""
    net = Network.generic(2, 2, 2, 1, signs=signs)
    values = {
        letter: (-1 if letter.is_negative else 1) * sympy.Rational(k + 2, 1 + k % 3)
        for k, letter in enumerate(net.symbols)
    }
    for component in fiber(net).components:
        if not component.condition.holds(values):
            continue
        numeric = component.subs(values)
        known = {part.known_dimension for part in numeric.set.parts}
        for part in component.set.parts:
            own = {letter: value for letter, value in values.items() if letter in part.letters}
            some = dict(list(own.items())[::2])
            other = sympy.Symbol("z", **net.symbols[0].assumptions0)
            at_once = part.subs(own)
            for made in (at_once, part.subs(some).subs({k: v for k, v in own.items() if k not in some})):
                if made.sampler is None:
                    fails = any(e.is_number for e in (*made.equations, *made.positive, *made.nonnegative))
                    assert fails or made.letters or component.letters != tuple(own)
                    continue
                assert made.known_dimension in known
                assert made.contains(made.sample(3))
                assert numeric.contains_numbers(net_at(made.sample(3), numeric))
            if net.symbols[0] in own:
                renamed = part.subs({net.symbols[0]: other})
                again = renamed.subs({other if k == net.symbols[0] else k: v for k, v in own.items()})
                assert (again == at_once, again.known_dimension) == (True, at_once.known_dimension)
        assert component.set.subs({k: v for k, v in values.items() if k in component.set.letters}).dimension == max(
            known
        )


def net_at(point, component):
    numbers = iter(point.values())
    layers = []
    for inputs, outputs in pairwise(component.widths):
        weight = [[next(numbers) for _ in range(inputs)] for _ in range(outputs)]
        layers.append((weight, [next(numbers) for _ in range(outputs)]))
    return Network(layers)


@pytest.mark.parametrize(
    "rows",
    [
        [[["s", 0], [-1, 1]], [[2, 1, 0]]],
        [[["s", 0, 0], [-1, 2, 1]], [[2, 1, 0], [1, 1, 0]]],
        [[["s", 0, 0], [1, "-s", 0], [2, 1, -1]], [[2, 1, 3, 0]]],
    ],
    ids=str,
)
def test_a_nonlinear_row_without_a_coordinate_of_known_sign(rows):
    """On R^d a row is nonlinear where it is not zero; its side is that of the inner product, whatever the sign."""
    s = sympy.Symbol("s", nonzero=True, real=True)
    net = Network([([[sympy.sympify(v, {"s": s}) for v in row[:-1]] for row in layer], [row[-1] for row in layer])
                   for layer in rows])  # fmt: skip
    found = fiber(net)
    component = found.components[0]
    assert found.contains(net)
    assert component.contains(component.sample(1))
    assert "s" in to_latex(component)
    for value in (2, "-1/3"):
        numbers = {s: sympy.Rational(value)}
        there = fiber(net.subs(numbers)).components[0]
        for seed in range(4):
            member = there.sample(seed)
            assert component.set.subs(numbers).contains(member.parameters)
            turned = member.rescaled(1, [1] * member.widths[1]).parameters
            turned = {
                name: -v if str(name).startswith(("W1_0", "W2_0_0", "W2_1_0", "b1_0")) else v
                for name, v in turned.items()
            }
            assert not component.set.subs(numbers).contains(turned)


# what components say of letters and of numbers

P, Q = sympy.symbols("p q", positive=True)
X = sympy.Symbol("x", real=True)
FIRST = ([[Q, 0], [0, 1]], [0, 1])  # maps onto the orthant
OPEN = ([[-P, 1], [1, 1]], [1, 1])  # M_{1} = (1 − p, 2): pointed iff p ≤ 1
SPARE = ([[-P, 1], [1, 1], [-1, -1]], [1, 1, -1])


@pytest.mark.parametrize(
    ("net", "named"),
    [
        (Network([OPEN, ([[1, 1]], [X])], Orthant(2)), ("p", "x")),
        (Network([FIRST, OPEN, ([[1, 1]], [0])]), ("p", "q")),
        (Network([([[Q]], [0]), ([[1], [1]], [-1, -2]), ([[P, P]], [0])]), ("p", "q")),
        (Network([([[1]], [0]), ([[-1], [-1]], [-P, -1]), ([[Q, 1]], [X])]), ("x",)),
    ],
    ids=["one layer", "behind a first layer", "on a line", "constant"],
)
def test_components_name_their_letters(net, named):
    for component in fiber(net).components:
        assert tuple(letter.name for letter in component.letters) == named
    for component in fiber(net.subs({letter: 3 for letter in net.symbols})).components:
        assert component.letters == ()


def test_a_component_exists_where_its_condition_holds():
    for net in (Network([OPEN, ([[1, 1]], [X])], Orthant(2)), Network([FIRST, OPEN, ([[1, 1]], [X])])):
        own, flipped = fiber(net).components
        assert own.condition.always
        assert str(flipped.condition) == "the cone generated by the columns of [[1 - p, 2]] is pointed"
        assert flipped.subs({P: "1/2", **dict.fromkeys({Q, X} & set(net.symbols), 1)}).letters == ()
        with pytest.raises(InvalidNetworkError, match="does not exist for these values"):
            flipped.subs({P: 2})
    own, flipped = fiber(Network([FIRST, SPARE, ([[1, 1, 1]], [0])])).components
    assert own.condition.always
    assert flipped.condition.always  # two linear neurons do in any case
    assert len(flipped.cases) == 2


def test_parts_for_numbers_are_empty_where_too_few_linear_rows_are_there():
    letters_ = fiber(Network([FIRST, SPARE, ([[1, 1, 1]], [0])])).components[1]
    assert letters_.numbers_of_linear_rows == range(1, 3)
    numbers = letters_.subs({P: 2, Q: 1})
    assert numbers.numbers_of_linear_rows == range(2, 3)
    assert numbers._known(1) == (None, None)
    assert letters_.set.parts[0].subs({P: 2, Q: 1}).known_dimension is None
    for component in (numbers, letters_.subs({P: "1/2", Q: 1})):
        assert max(map(component.part_dimension, component.numbers_of_linear_rows)) == component.dimension


def test_the_line_with_letters_has_the_families_of_numbers():
    """φ = q (relu(u − 1) − relu(u − 2)): a step, from both sides; the outermost bend is the linear row of S = ∅."""
    net = Network([([[1]], [0]), ([[1], [1]], [-1, -2]), ([[Q, -Q]], [X])])
    found = list(fiber(net).components)
    told = [(component.direction, component.kind, component.flips) for component in found]
    numbers = fiber(net.subs({Q: 3, X: 1})).components
    assert told == [(component.direction, component.kind, component.flips) for component in numbers]
    assert {direction for direction, *_ in told} == {1, -1}
    for component in found:
        if component.kind == "visible":
            problem = component.block.problem
            assert [[sum(c[0] * b[0] for b, c in problem.own)]] == list(map(list, problem.linear.rows()))


def test_the_constant_component_in_letters():
    net = Network([([[1]], [0]), ([[-1], [-1]], [-P, -1]), ([[Q, 1]], [X])])
    (component,) = fiber(net).components
    assert [str(r) for r in component.parametrization.ranges] == [
        "W2_0_0 <= 0",
        "b2_0 <= 0",
        "W2_1_0 <= 0",
        "b2_1 <= 0",
    ]
    assert component.set.parts[0].headings == ((0, "the value of the constant function"),)


def test_a_spare_neuron_on_all_of_space_has_no_weights():
    """Theory §2.7: what is linear on R^d is constant there, so a dead neuron that becomes linear keeps B' = 0."""
    net = Network([([[1, 2], [0, 0]], [0, -1]), ([[P, 1]], [X])])
    (component,) = fiber(net).components
    for seed in range(12):
        for member in (component.sample(seed), fiber(net).sample(seed)):
            numbers = {letter: {P: 2, X: -1}[letter] for letter in member.symbols}
            assert same_on_cells(net.subs({P: 2, X: -1}), member.subs(numbers)) is None


def test_only_components_that_are_there_for_all_values_are_drawn_from():
    """The flip of the second hyperplane asks for equal ratios of rows 1 and 2; most values of the letters have none."""
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -P], [1, -2]], [-1, -2]), ([[1, 1]], [0])])
    found = fiber(net)
    assert [component.condition.always for component in found.components] == [True, False]
    for seed in range(12):
        assert same_on_cells(net.subs({P: 3}), found.sample(seed).subs({P: 3})) is None
