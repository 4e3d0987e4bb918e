"""Components and families one statement at a time: widths, letters, directions, budgets, equations."""

import sys
from dataclasses import replace

import pytest
import sympy
from flint import fmpq

from semialg_fibers import Network, fiber, flip, same_function
from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UndecidedSignError, UnsupportedError
from semialg_fibers.fibers import equations, paths
from semialg_fibers.fibers.block import positive_ratio
from semialg_fibers.fibers.component import LazySequence, pivot_of
from semialg_fibers.fibers.genericity import genericity
from semialg_fibers.fibers.hiding import hiding
from semialg_fibers.fibers.one_hidden_layer import OrientationFamily
from semialg_fibers.fibers.orientation import OrientationProblem
from semialg_fibers.geometry.domain import Box, Orthant
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import vector

P, Q = sympy.symbols("p q", positive=True)
A, B = sympy.symbols("a b", real=True)
IDENTITY = [[1, 0], [0, 1]]
HIDDEN = Network([(IDENTITY, [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
VISIBLE = Network([(IDENTITY, [0, 0]), ([[1, 2]], [-1]), ([[1]], [0])])
LINE = Network([([[1]], [0]), ([[1], [1], [1]], [-1, -2, 3]), ([[1, -3, 1]], [0])])
ONE_LAYER = Network([([[1, 0], [0, 1], [1, -1]], [1, 1, -1]), ([[1, 2, 1]], [0])], Orthant(2))
CONSTANT = Network([([[1]], [0]), ([[-1], [-1]], [-1, -2]), ([[1, 1]], [3])])
NETWORKS = [HIDDEN, VISIBLE, LINE, ONE_LAYER, CONSTANT]
HIDDEN_DEAD = Network([(IDENTITY, [0, 0]), ([[1, -1], [-1, -2], [-3, -1]], [-1, -1, -2]), ([[1, 5, 7]], [0])])
IDS = ["hidden", "visible", "line", "one layer", "constant"]


# membership


@pytest.mark.parametrize("net", NETWORKS, ids=IDS)
def test_the_same_function_with_another_width_or_depth_is_no_member(net):
    """A fiber is a set of parameters of one architecture: a dead unit more, or one layer more, is another one."""
    *before, inner, outer = net.layers
    wider = net.with_layers(
        [
            *before,
            ([*inner.matrix.rows(), [-1] * inner.inputs], [*inner.offset, -1000]),
            ([[*row, 7] for row in outer.matrix.rows()], outer.offset),
        ]
    )
    first, second, *rest = net.layers
    widened_first = net.with_layers(
        [
            ([*first.matrix.rows(), [0] * first.inputs], [*first.offset, -1]),
            ([[*row, 5] for row in second.matrix.rows()], second.offset),
            *rest,
        ]
    )
    deeper = net.with_layers([*net.layers[:-1], (outer.matrix, outer.offset), ([[1]], [0])])
    found = fiber(net)
    assert found.contains(net)
    for other in (wider, widened_first, deeper):
        assert other.widths != net.widths
        assert not found.contains(other)
        assert found.locate(other) is None
        for family in found.families:
            assert family.locate(other) is None
        for component in found.components:
            assert not component.contains(other)


@pytest.mark.parametrize(
    "net",
    [
        Network([(IDENTITY, [0, 0]), ([[1, -P]], [-1]), ([[1]], [0])]),
        Network([([[1, P], [0, 1]], [0, 0]), ([[1, 2]], [-1]), ([[1]], [0])]),
        Network([(IDENTITY, [0, 0]), ([[1, P]], [-1]), ([[1]], [0])]),
        Network([([[1, P], [1, 2]], [1, -1]), ([[1, 1]], [0])], Orthant(2)),
        Network([([[1]], [0]), ([[-1], [-1]], [-1, -1]), ([[1, 1]], [P - 2])]),
    ],
    ids=["hidden", "letter in the first layer", "letter in the second layer", "one layer", "constant"],
)
def test_whether_numbers_are_a_member_among_letters_depends_on_the_letters(net):
    """At p = 2 the numbers are a member; with another last bias they are none for any p."""
    found = fiber(net)
    numbers = net.subs({P: 2})
    other = numbers.with_layers([*numbers.layers[:-1], (numbers.layers[-1].matrix, [-5])])
    own = found.components[0]
    assert own.letters == (P,)
    assert found.contains(net)
    assert own.contains(net)
    for asked in (found, own):
        with pytest.raises(UndecidedSignError):
            asked.contains(numbers)
        assert not asked.contains(other)
    for family in found.families:
        assert family.locate(other) is None
    assert fiber(numbers).contains(numbers)
    assert not fiber(numbers).contains(other)


def test_members_with_letters_of_a_fiber_of_numbers():
    """1·p and 2·(1/p) along the paths: a rescaling by a letter stays in the fiber."""
    for net in (ONE_LAYER, VISIBLE, HIDDEN):
        found = fiber(net)
        moved = net.rescaled(1, [P] + [1] * (net.widths[1] - 1))
        assert found.contains(moved)
        assert found.locate(moved).flips == ()
        *before, last = moved.layers
        assert not found.contains(moved.with_layers([*before, (last.matrix, [1])]))


def test_no_multiple_of_zero_is_a_hyperplane():
    assert positive_ratio(vector([0, 0]), vector([0, 0])) is None
    assert positive_ratio(vector([0, 0]), vector([1, 0])) is None
    assert positive_ratio(vector([2, -4]), vector([1, -2])) == 2
    assert positive_ratio(vector([-2, 4]), vector([1, -2])) is None


def test_functions_of_one_form_on_the_plane_have_the_families_of_the_line():
    rest = [([[1], [1], [1]], [-1, -2, -3]), ([[1, -3, 2]], [0])]
    line, plane = Network([([[1]], [0]), *rest]), Network([([[3, -2]], [0]), *rest])
    told = [[(each.kind, each.flips, each.direction) for each in fiber(net).components] for net in (line, plane)]
    assert told[0] == told[1]
    assert {direction for _, _, direction in told[1]} == {1, -1}
    assert fiber(plane).dimension == fiber(line).dimension


@pytest.mark.parametrize("net", [LINE, HIDDEN_DEAD, Network([([[3, -2]], [0]), *LINE.layers[1:]])], ids=str)
def test_every_component_has_members_with_the_function(net):
    for component in fiber(net).components:
        for seed in range(4):
            member = component.sample(seed)
            assert same_function(net, member).same
            assert component.contains(member)


def test_a_bend_at_the_end_of_a_line_has_members_in_both_directions():
    """Three bends, constant at both ends: what is read from the right has other places and another constant."""
    net = Network([([[1]], [0]), ([[1], [1], [1]], [-1, -2, -4]), ([[2, -3, 1]], [5])])
    components = list(fiber(net).components)
    assert {component.direction for component in components} == {1, -1}
    for component in components:
        assert same_function(net, component.sample(1)).same


def test_dead_rows_of_a_hidden_network_are_negative_and_interchangeable():
    own = fiber(HIDDEN_DEAD).components[0]
    assert fiber(HIDDEN_DEAD).families[0].copies == 2 * 6 // 2
    first, second, third = HIDDEN_DEAD.layers
    for row, bias in (([0, -2], -1), ([-1, -2], 0), ([0, 0], -1)):
        other = HIDDEN_DEAD.with_layers(
            [first, ([second.matrix.row(0), row, second.matrix.row(2)], [-1, bias, -2]), third]
        )
        assert same_function(HIDDEN_DEAD, other).same
        assert own.contains(other) is own.set.contains(other.parameters) is False  # a limit of members


def test_members_among_letters_lie_above_every_end_of_the_translation():
    """t > max(−p, −q), whichever it is."""
    net = Network([(IDENTITY, [0, 0]), ([[1, -1], [1, -2]], [-P, -Q]), ([[1, 1]], [0])])
    component = fiber(net).components[0]
    for seed in range(6):
        member = component.sample(seed)
        for values in ({P: 1, Q: 9}, {P: 9, Q: 1}, {P: "1/9", Q: 3}):
            assert fiber(net.subs(values)).contains(member.subs(values))


# equations


@pytest.mark.parametrize("net", [HIDDEN, VISIBLE, LINE, ONE_LAYER, HIDDEN_DEAD], ids=[*IDS[:4], "dead rows"])
def test_a_set_has_no_near_miss_of_a_member(net):
    """Each parameter moved alone, by a little and to the other sign: in the set only if it is the same function."""
    for component in list(fiber(net).components)[:2]:
        member = component.sample(3)
        assert component.set.contains(member.parameters)
        for place, layer in enumerate(member.layers):
            for row in range(layer.outputs):
                for column in range(layer.inputs + 1):
                    for change in (lambda value: value + fmpq(1, 7), lambda value: -value - fmpq(1, 9)):
                        forms = [list(form) for form in layer.forms]
                        forms[row][column] = change(forms[row][column])
                        layers = list(member.layers)
                        layers[place] = ([form[:-1] for form in forms], [form[-1] for form in forms])
                        other = member.with_layers(layers)
                        if component.set.contains(other.parameters):
                            assert component.contains(other)
                            assert same_function(net, other).same


@pytest.mark.parametrize(("net", "layer", "unit"), [(ONE_LAYER, 1, 2), (VISIBLE, 2, 0)], ids=["one layer", "visible"])
def test_the_same_products_from_the_other_side_are_no_member(net, layer, unit):
    """Incoming and outgoing weights of one neuron negated together: the products are those of a member."""
    own = fiber(net).components[0]
    member = own.sample(2)
    forms = [tuple(-v for v in form) if j == unit else form for j, form in enumerate(member.layers[layer - 1].forms)]
    after = member.layers[layer]
    outer = [[-value if j == unit else value for j, value in enumerate(row)] for row in after.matrix.rows()]
    layers = list(member.layers)
    layers[layer - 1 : layer + 1] = [
        ([form[:-1] for form in forms], [form[-1] for form in forms]),
        (outer, after.offset),
    ]
    other = member.with_layers(layers)
    assert not same_function(net, other).same
    for component in fiber(net).components:
        assert not component.set.contains(other.parameters)
        assert not component.contains(other)


def test_without_spare_neurons_flips_that_need_jumps_to_cancel_have_that_among_their_equations():
    """Behind a first layer, c₀ (1, −1) + c₁ (−p, p) = (1 − p)(1, −1) must vanish: both rows flipped iff p = 1."""
    net = Network([(IDENTITY, [0, 0]), ([[1, -1], [-P, P]], [-1, 2]), ([[1, 1]], [0])])
    own, flipped = fiber(net).components
    assert (own.flips, flipped.flips) == ((), (0, 1))
    assert flipped.condition.holds({P: 1})
    assert not flipped.condition.holds({P: 2})
    (part,) = flipped.set.parts
    assert part.equations[: len(own.set.parts[0].equations)] != own.set.parts[0].equations
    for value in (2, "1/2"):
        numbers = part.subs({P: value}).equations
        assert any(equation.is_number and equation != 0 for equation in numbers)
    assert not any(equation.is_number and equation != 0 for equation in part.subs({P: 1}).equations)
    assert not any(equation.is_number for part in own.set.parts for equation in part.subs({P: 2}).equations)


def test_a_coordinate_that_is_surely_negative_is_a_pivot_too():
    assert [pivot_of(vector(form)) for form in ([0, -2, 3], [5, 1, 0], [0, 0, 1], [0, 0, 0])] == [1, 0, 2, None]


def test_what_exists_for_numbers_exists_always():
    for net in NETWORKS:
        assert all(component.condition.always for component in fiber(net).components)


def test_signs_on_a_box_are_written_out_for_so_many_vertices(monkeypatch):
    net = Network([([[1, 0], [1, 1]], [0, 3]), ([[1, 1]], [0])], Box([-1, -1], [1, 1]))
    (component,) = list(fiber(net).components)[:1]
    monkeypatch.setattr(equations, "VERTEX_LIMIT", 4)
    assert component.set.contains(net.parameters)
    monkeypatch.setattr(equations, "VERTEX_LIMIT", 3)
    (component,) = list(fiber(net.rescaled(1, [2, 1])).components)[:1]
    with pytest.raises(BudgetExceededError, match="for at most 3 of them"):
        component.set  # noqa: B018


def test_on_the_space_flips_that_need_jumps_to_cancel_have_that_among_their_equations():
    """a relu(x + 1) + b relu(x − 1) + constant, with a linear row: both flipped iff a + b = 0, one alone never."""
    net = Network([([[1], [1], [0]], [1, -1, 2]), ([[A, B, 1]], [0])])
    own, flipped = fiber(net).components
    assert (own.flips, flipped.flips) == ((), (0, 1))
    assert str(flipped.condition) == "a + b = 0"
    for part in flipped.set.parts:
        assert A + B in part.equations
        assert not part.subs({A: 1, B: 1}).equations or sympy.Integer(2) in part.subs({A: 1, B: 1}).equations
        assert part.subs({A: 1, B: 1}).known_dimension is None  # there is no such component, and nothing is stated
        assert part.subs({A: 1, B: -1}).known_dimension is not None
    assert all(A + B not in part.equations for part in own.set.parts)


def test_a_dimension_that_depends_on_the_letters_is_shown_as_open():
    own, flipped = fiber(Network.generic(2, 2, 3, 2, signs=["+++", "---", "+-+"])).components
    with pytest.raises(UndecidedSignError):
        flipped.dimension  # noqa: B018
    assert repr(flipped) == "<component 'visible', flips=(2,), dimension=open>"
    assert repr(own) == f"<component 'visible', flips=(), dimension={own.dimension}>"


@pytest.mark.parametrize("net", [*NETWORKS[:2], LINE, ONE_LAYER], ids=IDS[:4])
def test_no_equation_says_nothing_and_each_image_lists_what_is_positive(net):
    for component in fiber(net).components:
        for part in component.set.parts:
            assert all(equation.free_symbols for equation in part.equations)
        for image in component.parametrizations:
            scales = [x for x in image.symbols if x.name.startswith(("lambda", "mu"))]
            assert scales
            assert all(x.is_positive for x in scales)
            assert {f"{x} > 0" for x in scales} <= {str(relation) for relation in image.ranges}


def test_the_equations_are_explained():
    told = [words for _, words in fiber(ONE_LAYER).components[0].set.parts[0].headings]
    assert told[0] == "the product of incoming and outgoing weights of each nonlinear neuron"
    told = [words for _, words in fiber(VISIBLE).components[0].set.parts[0].headings]
    assert told[:2] == [
        "the first layer's hyperplanes, each up to a positive factor",
        "the products along paths of each nonlinear neuron",
    ]


# letters


def test_a_condition_that_never_holds_is_dropped_and_one_that_may_hold_is_kept():
    """Column 2 is flippable iff p = q: never where p − q has one sign for all values, open where it may be 0."""
    c = sympy.Symbol("c", positive=True)
    net = Network([(IDENTITY, [0, 0]), ([[1, -P], [1, -Q]], [-1, -2]), ([[1, 1]], [0])])
    frame = fiber(net).components[0].frame
    assert set(frame.conditions) == set(frame.ratios) == {1}
    for p, q in ((c + 1, 1), (1, c + 1), (2 * c, c), (c, 3 * c)):
        put_in = frame.subs({P: p, Q: q})
        assert (put_in.conditions, put_in.ratios) == ({}, {})
        assert hiding(net.subs({P: p, Q: q})).flippable == ()
    for p, q in ((c, 1), (1, c), (1 + A**2, 1), (1, 1 + A**2)):
        put_in = frame.subs({P: p, Q: q})
        assert set(put_in.conditions) == set(put_in.ratios) == {1}
    put_in = frame.subs({P: c, Q: c})
    assert (put_in.conditions, set(put_in.ratios)) == ({}, {1})
    three = Network([(IDENTITY, [0, 0]), ([[1, -P], [1, -Q], [1, -(A**2)]], [-1, -2, -3]), ([[1, 1, 1]], [0])])
    three = three.subs({A: sympy.Symbol("r", positive=True)})
    frame = fiber(three).components[0].frame
    assert len(frame.conditions[1]) == 2
    put_in = frame.subs({P: c + 1, Q: 1})  # one of the two differences is never 0, and both would have to be
    assert (put_in.conditions, put_in.ratios) == ({}, {})


def test_linear_rows_that_cancel_are_not_one_linear_row():
    """p x₁ − q x₂ from two linear neurons has rank 1, and no single one gives it: B ≥ 0 has one sign."""
    net = Network([([[P, 0], [0, Q]], [1, 1]), ([[1, -1]], [0])], Orthant(2))
    for values in ({P: 1, Q: 1}, {P: 3, Q: "1/2"}):
        assert fiber(net).components[0].dimension == fiber(net).dimension == fiber(net.subs(values)).dimension
    block = fiber(net).families[0].block.problem
    assert [(case.rank, case.simplicial, case.least) for case in block.cases(())] == [(1, False, 2)]


def test_nothing_is_stated_of_a_set_where_the_letters_leave_no_component():
    """Flipped, (1 − p) x₁ + 2 x₂ is left to one linear neuron, whose row is ≥ 0: there is none for p > 1."""
    net = Network([([[-P, 1], [1, 1]], [1, 1]), ([[1, 1]], [0])], Orthant(2))
    components = list(fiber(net).components)
    assert [(each.flips, each.condition.always) for each in components] == [((), True), ((0,), False)]
    for value in ("1/2", 2):
        numbers = list(fiber(net.subs({P: value})).components)
        for component in components:
            exists = component.condition.holds({P: value})
            assert exists is any(each.flips == component.flips for each in numbers)
            for part in component.set.parts:
                there = part.subs({P: value})
                assert (there.sampler is not None) is (there.known_dimension is not None) is exists


def test_equal_ratios_are_a_violation_where_the_two_hyperplanes_meet_the_edge():
    """(G3) asks of rows with A2_jk b2_j < 0 only, whatever the other weights are."""
    for last, violated in ((1, ("G3",)), (-1, ("G3",))):
        net = Network([(IDENTITY, [0, 0]), ([[P, last], [2 * P, 3 * last]], [-1, -2]), ([[1, 1]], [0])])
        assert genericity(net).violated == violated == genericity(net.subs({P: 1})).violated
    elsewhere = Network([(IDENTITY, [0, 0]), ([[P, 1], [2 * P, 3]], [1, 2]), ([[1, 1]], [0])])
    assert "G3" not in genericity(elsewhere).violated


def test_a_condition_on_a_rank_with_many_minors_is_named_without_them():
    size = 9
    rows = [[sympy.Symbol(f"x{i}_{j}", real=True) for j in range(size)] for i in range(size)]
    net = Network([(rows, [0] * size), ([[1] * size], [-1]), ([[1]], [0])])
    (found,) = (condition for condition in genericity(net).conditions if condition.name == "G1")
    assert (found.verdict, found.reason) == (None, f"asks that rank A1 = {size}")


# families and sequences


def test_directions_on_a_line_are_the_two_of_the_line():
    """φ bends at 0 first: its own family opens as the first layer does; ending constant, it opens backwards too."""
    for net in (LINE, Network([([[1]], [0]), ([[1], [1], [1]], [-1, -2, -3]), ([[1, -3, 2]], [0])])):
        families = fiber(net).families
        assert len(families) > 1
        assert {family.direction for family in families} <= {1, -1}
        assert {component.direction for component in fiber(net).components} <= {1, -1}
        assert families[0].direction == 1
        for family in families:
            if isinstance(family, OrientationFamily):
                problem = family.block.problem
                assert problem.domain == Orthant(1)  # what relu of one hyperplane maps onto
                assert all(len(form) == 2 for form in problem.forms)


def test_a_sequence_is_as_long_as_len_can_say_and_names_what_is_missing():
    exactly = LazySequence(lambda: iter(()), lambda: sys.maxsize)
    assert len(exactly) == sys.maxsize
    with pytest.raises(BudgetExceededError) as refused:
        len(LazySequence(lambda: iter(()), lambda: sys.maxsize + 1))
    assert refused.value.message == "there are more components than len() can return; ask for component_count"
    components = fiber(HIDDEN).components
    assert len(components) == 2
    with pytest.raises(IndexError) as missing:
        components[7]
    assert str(missing.value) == "component 7 does not exist, there are 2"


def test_a_sequence_that_ended_in_a_refusal_ends_so_again():
    def refuses():
        yield "first"
        raise BudgetExceededError("more may follow", budget=1)

    sequence = LazySequence(refuses, lambda: 9)
    for _ in range(2):
        assert sequence[0] == "first"
        for place in (1, 2):
            with pytest.raises(BudgetExceededError, match="more may follow"):
                sequence[place]
        with pytest.raises(BudgetExceededError, match="more may follow"):
            list(sequence)


def test_why_a_column_cannot_be_flipped():
    with pytest.raises(InvalidNetworkError) as refused:
        flip(VISIBLE, [1])
    assert refused.value.message == "column 2 cannot be flipped: no hyperplane of the first layer is hidden"


def test_without_images_there_is_no_path():
    with pytest.raises(UnsupportedError, match="no path is claimed"):
        paths.path((), HIDDEN, HIDDEN, HIDDEN.domain)


def test_a_path_that_its_check_rejects_is_not_given(monkeypatch):
    component = fiber(ONE_LAYER).components[0]
    start, end = component.sample(1), component.sample(2)
    given = component.path(start, end)
    assert given.check()
    assert given.parameter.is_real
    monkeypatch.setattr(paths.Path, "check", lambda self: False)
    with pytest.raises(UnsupportedError, match="no path is claimed"):
        component.path(start, end)


def test_a_path_that_leaves_a_range_between_its_ends_is_rejected():
    component = fiber(ONE_LAYER).components[0]
    given = component.path(component.sample(1), component.sample(2))
    (scale,) = (x for x in given.image.symbols if x.name.startswith("mu"))
    s = given.parameter
    assert not any(equation.has(scale) for equation in given.image.equations)
    bent = replace(given, values={**given.values, scale: given.values[scale] - 1000 * s * (1 - s)})
    assert (bent.at(0), bent.at(1)) == (given.at(0), given.at(1))
    assert not bent.check()
    other = component.sample(5)
    assert other not in (given.start, given.end)
    assert not replace(given, start=other).check()
    assert not replace(given, end=other).check()
    with pytest.raises(InvalidNetworkError, match=r"^the values are outside the range mu_2 > 0: mu_2 = -"):
        bent.at("1/2")


def test_a_relation_holds_along_a_path_iff_at_both_ends_of_a_line():
    s, x = sympy.Symbol("s", real=True), sympy.Symbol("x", real=True)
    for line, holds in ((1 + s, True), (2 - s, True), (1 - 2 * s, False), (2 * s - 1, False), (s - s, False)):
        assert bool(paths._holds_throughout(sympy.Gt(x, 0, evaluate=False), {x: line}, s)) is holds
    assert not paths._holds_throughout(sympy.Gt(x, 0, evaluate=False), {x: 1 / (1 + s)}, s)  # true, but not shown
    for polynomial, none in ((2 * s - 1, False), (s - 2, True), (s, False), (1 - s, False), (s**2 + 1, True)):
        assert bool(paths._has_no_zero(sympy.Poly(polynomial, s))) is none


def test_a_member_of_an_image_needs_a_value_for_each_symbol():
    (image, *_) = fiber(ONE_LAYER).components[0].parametrizations
    with pytest.raises(InvalidNetworkError, match="there is no value for"):
        paths.member_at(image, {}, ONE_LAYER.domain)


# orientation


def problem_of(forms, outgoing, linear, spare):
    return OrientationProblem(
        Orthant(2),
        tuple(map(vector, forms)),
        tuple(map(vector, outgoing)),
        Matrix(linear),
        vector([0] * len(linear)),
        spare,
    )


def test_independent_rows_or_columns_prove_jumps_independent():
    assert problem_of([[1, 0, -1], [0, 1, -1]], [[1], [1]], [[0, 0]], 0).jumps_are_independent is True
    assert problem_of([[1, 1, -1], [2, 2, -1]], [[1, 0], [0, 1]], [[0, 0]] * 2, 0).jumps_are_independent is True
    assert problem_of([[1, 1, -1], [2, 2, -1]], [[1], [1]], [[0, 0]], 0).jumps_are_independent is False


def test_the_largest_dimension_is_found_within_a_budget_that_reaches_it():
    """The first S has a remainder of rank 1; one with M_S = 0 ends the search, be there more sets than the budget."""
    problem = problem_of([[1, 0, -1], [1, -1, -1], [0, 1, -3], [2, 1, -1]], [[1], [1], [1], [5]], [[-1, 1]], 2)
    sets = list(problem.feasible_sets())
    dimensions = [problem.dimension(sides) for sides in sets]
    place = dimensions.index(max(dimensions))
    assert place > 0
    assert max(dimensions) not in dimensions[:place]
    for budget in range(place + 1, 2**problem.k + 1):
        assert problem.largest_dimension(budget) == max(dimensions)
    with pytest.raises(BudgetExceededError):
        problem.largest_dimension(place)
