"""Semi-algebraic sets: membership by definition, samples that are members, dimensions proved or refused."""

import random
from collections.abc import Mapping
from fractions import Fraction

import pytest
import sympy
from flint import fmpq
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sympy.abc import x, y, z

from semialg_fibers.errors import (
    BudgetExceededError,
    InexactInputError,
    InvalidNetworkError,
    UndecidedSignError,
    UnsupportedError,
)
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import exact, fraction
from semialg_fibers.geometry.semialgebraic import (
    BasicSet,
    SemialgebraicSet,
    evaluate,
    random_positive,
    random_rational,
    symbols_for,
)

CIRCLE = BasicSet((x, y), (x**2 + y**2 - 1,))
HYPERBOLA = BasicSet((x, y), (x * y - 1,), (x,))
WEDGE = BasicSet((x, y, z), (x + y + z - 1,), (x,), (y, z))

NUMBERS = st.fractions(-3, 3, max_denominator=4)
SMALL = st.integers(-2, 2)


@st.composite
def polynomials(draw, variables=(x, y, z)):
    """A polynomial as SymPy writes it, expanded or not, and the same as a function of Fractions."""
    terms = []
    for _ in range(draw(st.integers(0, 3))):
        coefficient = draw(NUMBERS)
        powers = draw(st.lists(st.integers(0, 2), min_size=len(variables), max_size=len(variables)))
        shifts = draw(st.lists(SMALL, min_size=len(variables), max_size=len(variables)))
        terms.append((coefficient, powers, shifts))
    expression = sympy.Integer(0)
    for coefficient, powers, shifts in terms:
        product = sympy.Rational(coefficient.numerator, coefficient.denominator)
        for variable, power, shift in zip(variables, powers, shifts, strict=True):
            product *= (variable + shift) ** power
        expression += product

    def value(point):
        total = Fraction(0)
        for coefficient, powers, shifts in terms:
            product = coefficient
            for coordinate, power, shift in zip(point, powers, shifts, strict=True):
                product *= (coordinate + shift) ** power
            total += product
        return total

    return (sympy.expand(expression) if draw(st.booleans()) else expression), value


POINTS = st.tuples(NUMBERS, NUMBERS, NUMBERS)


@settings(max_examples=150, deadline=None)
@given(polynomials(), POINTS)
def test_polynomials_have_their_values(polynomial, point):
    expression, value = polynomial
    values = {name: exact(number) for name, number in zip("xyz", point, strict=True)}
    assert fraction(evaluate(expression, values)) == value(point)


@settings(max_examples=150, deadline=None)
@given(st.tuples(polynomials(), polynomials(), polynomials()), POINTS, st.booleans())
def test_membership_is_the_three_conditions(described, point, through):
    """Half of the equations are shifted to go through the point."""
    (equation, e), (positive, p), (nonnegative, n) = described
    shift = e(point) if through else Fraction(0)
    shifted = equation - sympy.Rational(shift.numerator, shift.denominator)
    basic = BasicSet((x, y, z), (shifted,), (positive,), (nonnegative,))
    expected = e(point) == shift and p(point) > 0 and n(point) >= 0
    assert basic.contains(point) == expected
    assert basic.contains(dict(zip((x, y, z), point, strict=True))) == expected
    assert basic.contains(dict(zip("zyx", point[::-1], strict=True))) == expected


@pytest.mark.parametrize(
    ("basic", "inside", "outside"),
    [
        (CIRCLE, [(1, 0), ("3/5", "-4/5")], [(0, 0), ("3/5", "4001/5000")]),
        (HYPERBOLA, [(2, "1/2")], [(-1, -1), (0, 0)]),
        (BasicSet((x,), (), (x,)), [["1"]], [["0"]]),  # strict
        (BasicSet((x,), (), (), (x,)), [["0"], ["1"]], [["-1/9"]]),  # weak
        (BasicSet((x,)), [["0"], ["-5"]], []),
        (BasicSet((x,), (sympy.Integer(1),)), [], [["0"]]),  # 1 = 0
    ],
)
def test_members_by_hand(basic, inside, outside):
    assert all(basic.contains(point) for point in inside)
    assert not any(basic.contains(point) for point in outside)


# samples


LINEAR = st.tuples(SMALL, SMALL, SMALL, st.integers(-5, 5)).map(lambda c: c[0] * x + c[1] * y + c[2] * z + c[3])


@st.composite
def solvable_sets(draw):
    """Sets that a search can enter: equations linear in some variable, inequalities that many points satisfy."""
    bilinear = st.sampled_from([x * y - z, (x + 1) * (y - 2) - 3, x * (y + z) - 1, z * (x**2 + 1) - y, y * (x + 2) + z])
    equations = draw(st.lists(LINEAR, max_size=2) | st.tuples(bilinear) | st.tuples(bilinear, LINEAR))
    assume(all(sympy.sympify(e).free_symbols for e in equations))
    return BasicSet((x, y, z), tuple(equations), tuple(draw(st.lists(st.sampled_from([x, 1 - y, z + 50]), max_size=2))))


@settings(max_examples=60, deadline=None)
@given(solvable_sets(), st.integers(0, 3))
@example(BasicSet((x, y), ((x + 1) * y - 1,)), 0)  # not expanded: SymPy's coeff sees no x in it
@example(BasicSet((x, y), (x * (x - y),)), 0)  # after x, nothing is left of y
def test_a_sample_is_a_member_and_the_same_for_the_same_seed(basic, seed):
    try:
        point = basic.sample(seed)
    except BudgetExceededError:
        assume(False)
    assert list(point) == list(basic.variables)
    assert basic.contains(point)
    assert all(value.is_Rational for value in point.values())
    again = BasicSet(basic.variables, basic.equations, basic.positive, basic.nonnegative)
    assert again.sample(seed) == point


@pytest.mark.parametrize(
    "basic",
    [
        HYPERBOLA,
        WEDGE,
        BasicSet((x, y), ((x - 1) * (y - 2),)),
        BasicSet((x, y), ((x + 1) * y - 1,)),
        BasicSet((x, y, z), (x + y, y + z, x - z)),  # the third follows from the others
        BasicSet((x, y, z), (x * y - 1, y * z - 1)),
        BasicSet((x, y, z), (x + y + z - 1, x - y), (), (z,)),
        BasicSet((x,)),
    ],
    ids=str,
)
def test_the_search_enters_sets_that_are_linear_in_some_variable(basic):
    points = [basic.sample(seed) for seed in range(8)]
    assert all(basic.contains(point) for point in points)
    assert len({tuple(point.values()) for point in points}) > 1


def test_a_search_that_fails_claims_nothing():
    with pytest.raises(BudgetExceededError, match=r"no variable occurs linearly in x\*\*2 \+ y\*\*2 - 1 = 0"):
        CIRCLE.sample()
    with pytest.raises(BudgetExceededError, match="nothing is claimed about emptiness"):
        BasicSet((x,), (), (x, -x)).sample()
    with pytest.raises(BudgetExceededError, match="no variable occurs linearly"):
        BasicSet((x, y), (x + y, x + y - 1)).sample()  # contradictory
    with pytest.raises(BudgetExceededError):
        BasicSet((x,), (), (x - 1000,)).sample()  # not empty


def test_a_sampler_is_asked_with_the_seed():
    def on_the_circle(rng):
        t = random_rational(rng)
        return {"x": (1 - t * t) / (1 + t * t), "y": 2 * t / (1 + t * t)}

    circle = BasicSet((x, y), CIRCLE.equations, sampler=on_the_circle, known_dimension=1)
    points = [circle.sample(seed) for seed in range(12)]
    assert all(circle.contains(point) for point in points)
    assert points == [circle.sample(seed) for seed in range(12)]
    assert len({point[x] for point in points}) > 3
    assert circle == CIRCLE  # descriptions are compared
    assert hash(circle) == hash(CIRCLE)


# dimension


@pytest.mark.parametrize(
    ("basic", "dimension"),
    [
        (BasicSet((x, y)), 2),
        (HYPERBOLA, 1),
        (WEDGE, 2),
        (BasicSet((x, y, z), (x + y + z, x - y)), 1),
        (BasicSet((x, y, z), (x, y, z - 1)), 0),
        (BasicSet((x, y), (), (x, y - x)), 2),
        (BasicSet((x, y), ((x - 1) * (y - 2),)), 1),  # two lines; the sample is on one of them
    ],
    ids=str,
)
def test_dimensions_by_hand(basic, dimension):
    assert basic.dimension == dimension


@pytest.mark.parametrize(
    "basic",
    [
        BasicSet((x, y), (x - y, 2 * x - 2 * y)),  # a line, described twice
        BasicSet((x, y), ((x - y) ** 2,), sampler=lambda _: {"x": fmpq(1), "y": fmpq(1)}),  # the gradient vanishes
        BasicSet((x, y, z), (x * y - 1, y * z - 1)),  # two equations that are not linear
        BasicSet((x, y), (sympy.Integer(0),)),  # 0 = 0
        BasicSet((x, y), (x,), (), (x,)),  # a weak inequality that is tight
        CIRCLE,  # no sample
        BasicSet((x, y), (), (x, -x)),  # empty, which the search does not know
    ],
    ids=str,
)
def test_a_dimension_that_is_not_proved_is_not_stated(basic):
    with pytest.raises(BudgetExceededError):
        _ = basic.dimension


@settings(max_examples=40, deadline=None)
@given(st.lists(LINEAR, min_size=1, max_size=3))
def test_the_dimension_of_an_affine_space_is_that_of_elimination(equations):
    rows = [[sympy.sympify(e).coeff(v) for v in (x, y, z)] for e in equations]
    rank = Matrix(rows).rank()
    basic = BasicSet((x, y, z), tuple(equations))
    if rank == len(equations):
        assert basic.dimension == 3 - rank
    else:
        with pytest.raises(BudgetExceededError):
            _ = basic.dimension


def test_a_stated_dimension_is_kept():
    assert BasicSet((x, y), CIRCLE.equations, known_dimension=1).dimension == 1


@settings(max_examples=60, deadline=None)
@given(st.lists(polynomials(), min_size=1, max_size=2), POINTS)
def test_the_rank_of_the_jacobian_is_that_of_difference_quotients(described, point):
    """A polynomial of degree at most 2 in a variable has the derivative (p(x + 1) − p(x − 1)) / 2 there."""
    rows = []
    for _, value in described:
        moved = [[tuple(c + s * (i == k) for i, c in enumerate(point)) for s in (1, -1)] for k in range(3)]
        rows.append([(value(above) - value(below)) / 2 for above, below in moved])
    basic = BasicSet((x, y, z), tuple(expression for expression, _ in described))
    assert basic.jacobian_rank(point) == Matrix(rows, columns=3).rank()


# what is refused


def test_points_that_are_none_are_refused():
    for point in ((1,), (1, 2, 3), ()):
        with pytest.raises(InvalidNetworkError, match=f"expected 2 coordinates, got {len(point)}"):
            HYPERBOLA.contains(point)
    with pytest.raises(InvalidNetworkError, match="the point gives no value for y") as caught:
        HYPERBOLA.contains({x: 1})
    assert caught.value.value == "y"
    with pytest.raises(InexactInputError, match=r"0\.5"):
        HYPERBOLA.contains((2, 0.5))
    assert HYPERBOLA.contains({x: 2, "y": "1/2", z: 7})  # a point of a larger space


A, B = sympy.Symbol("a", positive=True), sympy.Symbol("b", real=True)


@pytest.mark.parametrize("kind", ["equations", "positive", "nonnegative"])
def test_a_symbol_that_is_no_variable_is_a_letter_and_a_question_for_numbers_names_it(kind):
    basic = BasicSet((x, y), **{kind: (x, y * B + A)})
    assert basic.letters == (A, B)
    assert SemialgebraicSet((basic, HYPERBOLA)).letters == (A, B)
    for ask in (
        lambda: basic.contains((1, 2)),
        basic.sample,
        basic.jacobian_dimension,
        basic.is_empty,
        lambda: HYPERBOLA.includes(basic),
        lambda: basic.local_dimension((0, 0)),
        lambda: basic.contains({x: 1, y: 2, A: 1, B: 1}),
    ):
        with pytest.raises(InvalidNetworkError, match="letters a, b: give them numbers") as caught:
            ask()
        assert caught.value.letters == ("a", "b")


def test_a_symbol_of_the_same_name_with_other_assumptions_is_refused():
    (real,) = symbols_for(["x"])
    for symbols in ((real,), (A, sympy.Symbol("a"))):
        with pytest.raises(InvalidNetworkError, match="two different symbols are called"):
            BasicSet((x,), symbols)
    assert BasicSet((real,), (real - 1,)).contains(["1"])


def test_letters_become_numbers_that_they_allow():
    curve = BasicSet((x, y), (x * y - A,), (A * x + B,), known_dimension=1, headings=((0, "words"),))
    whole = curve.subs({A: "3/2", "b": -1})
    assert whole == BasicSet((x, y), (x * y - sympy.Rational(3, 2),), (sympy.Rational(3, 2) * x - 1,))
    assert (whole.dimension, whole.headings) == (1, curve.headings)
    assert whole.contains(whole.sample(3))
    assert curve.subs({B: 0}).letters == (A,)
    c = sympy.Symbol("c", positive=True)
    assert curve.subs({A: c**2, B: A}).equations == (x * y - c**2,)
    assert curve.subs({A: c**2, B: A}).positive == (c**2 * x + A,)  # all at once
    slice_ = curve.subs({y: 2})
    assert slice_ == BasicSet((x,), (2 * x - A,), (A * x + B,))
    assert slice_.known_dimension is None
    flip = BasicSet((x,), (A - B,), (B + 3,), known_dimension=1)  # it has points for a = b only
    assert flip.subs({A: 2, B: 2}).dimension == 1
    assert flip.subs({A: 2, B: 1}).known_dimension is None
    assert BasicSet((x,), (), (B,), known_dimension=1).subs({B: -1}).known_dimension is None
    union = (SemialgebraicSet((curve,)) | BasicSet((x, y), (B,))).subs({B: 0})
    assert union.parts == (curve.subs({B: 0}), BasicSet((x, y)))
    some = (BasicSet((x,), (), (B,)) | BasicSet((x,), (x - B,))).subs({B: -1})
    assert (some.parts, some.dimension) == ((BasicSet((x,), (x + 1,)),), 0)
    assert SemialgebraicSet((BasicSet((x,), (), (B,)),)).subs({B: -1}).parts[0].positive == (-1,)


def test_conditions_on_numbers_that_hold_are_left_out_and_those_that_fail_stay():
    whole = BasicSet((x, y), (A - 1, x * y - A, A * B + 2), (x, A), (B + 2, y), headings=((0, "p"), (1, "q"), (2, "r")))
    slice_ = whole.subs({A: 1, B: -2, x: "1/3"})
    assert slice_ == BasicSet((y,), (y / 3 - 1,), (), (y,))
    assert slice_.headings == ((0, "p"), (0, "q"), (1, "r"))
    assert whole.subs({A: 2, x: -1}).equations[0] == 1
    assert whole.subs({A: 2, x: -1}).positive == (sympy.Integer(-1),)
    assert not BasicSet((x,), (), (), (B,)).subs({B: -1}).contains([0])
    assert whole.subs({}) is whole


@pytest.mark.parametrize("kind", ["equations", "positive", "nonnegative"])
def test_a_stated_dimension_is_not_kept_where_numbers_may_leave_nothing(kind):
    stated = BasicSet((x,), **{kind: (B - 1,)}, known_dimension=1)
    empty = stated.subs({B: -1})
    assert empty.known_dimension is None
    assert empty.is_empty()
    with pytest.raises(BudgetExceededError):
        _ = empty.dimension
    assert stated.subs({B: 1 if kind != "positive" else 2}).dimension == 1


def test_variables_stand_for_all_real_numbers():
    p = sympy.Symbol("p", positive=True)
    k = sympy.Symbol("k", integer=True)
    described = BasicSet((p, y), (p * y - 1,))
    assert described == BasicSet((sympy.Symbol("p", real=True), y), (sympy.Symbol("p", real=True) * y - 1,))
    assert described.contains({p: -1, y: -1})
    with pytest.raises(UnsupportedError):
        described.drop([y])
    assert described.subs({p: -2}).contains([sympy.Rational(-1, 2)])
    assert BasicSet((k,), (2 * k - 1,)).contains(["1/2"])
    assert "x" in {v.name for v in BasicSet((x, y)).variables}
    assert BasicSet((x, y)).variables == (x, y)
    for symbol in (sympy.Symbol("q", imaginary=True), sympy.Symbol("q", commutative=False)):
        with pytest.raises(InvalidNetworkError, match="the variable q is not a real number"):
            BasicSet((symbol,))
    with pytest.raises(InvalidNetworkError, match="two different symbols are called p"):
        BasicSet((p,), (sympy.Symbol("p", real=True) - 1,))


def test_the_union_of_basic_sets_in_both_orders():
    left, right = BasicSet((x,), (x,)), BasicSet((x,), (), (x,))
    assert left | right == SemialgebraicSet((left, right))
    assert left | (right | left) == SemialgebraicSet((left, right))
    assert left | left == SemialgebraicSet((left,))


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({A: -1}, InvalidNetworkError, "a is positive, -1 is not"),
        ({A: 0}, InvalidNetworkError, "a is positive, 0 is not"),
        ({A: B}, UndecidedSignError, "b is not known to be"),
        ({A: 0.5}, InexactInputError, "ambiguous"),
        ({A: 0.5 * A}, InexactInputError, "float"),
        ({B: x}, InvalidNetworkError, "contains the variable x"),
        ({x: A}, InvalidNetworkError, "expected a rational number"),
        ({"w": 1}, InvalidNetworkError, "w is neither a variable nor a letter"),
    ],
)
def test_what_cannot_be_put_in_is_refused(values, error, words):
    curve = BasicSet((x, y), (x * y - A,), (B + x,))
    for described in (curve, SemialgebraicSet((curve,))):
        with pytest.raises(error, match=words):
            described.subs(values)


@pytest.mark.parametrize("expression", [1 / x, sympy.sqrt(x), sympy.exp(x), x**y, sympy.pi * x, sympy.Abs(x), x * 0.5])
def test_what_is_no_polynomial_is_refused(expression):
    with pytest.raises(InvalidNetworkError, match="no polynomial with rational coefficients"):
        evaluate(expression, {"x": fmpq(4), "y": fmpq(1)})


def test_a_value_that_is_missing_is_named():
    with pytest.raises(InvalidNetworkError, match="no value for y"):
        evaluate(x * y, {"x": fmpq(1)})


# unions


@settings(max_examples=60, deadline=None)
@given(st.lists(polynomials((x, y)), min_size=1, max_size=3), st.tuples(NUMBERS, NUMBERS))
def test_a_union_has_the_members_of_its_parts(described, point):
    parts = [BasicSet((x, y), (), (expression,)) for expression, _ in described]
    union = SemialgebraicSet(tuple(parts))
    expected = any(value(point) > 0 for _, value in described)
    assert union.contains(point) == union.contains(coordinate for coordinate in point) == expected
    assert union.contains({x: point[0], y: point[1]}) == expected
    grown = SemialgebraicSet((parts[0],))
    for part in parts[1:]:
        grown = grown | part
    assert grown.parts == tuple(dict.fromkeys(parts))
    assert grown.contains(point) == expected
    assert (union | union).parts == grown.parts  # equal parts are not repeated


def test_samples_of_a_union_come_from_every_part():
    rays = SemialgebraicSet((BasicSet((x,), (), (x - 1,)), BasicSet((x,), (), (-x - 1,))))
    points = [rays.sample(seed) for seed in range(20)]
    assert points == [rays.sample(seed) for seed in range(20)]
    assert all(isinstance(point, Mapping) and rays.contains(point) for point in points)
    assert {point[x] > 0 for point in points} == {True, False}


def test_the_dimension_of_a_union_is_the_largest():
    line, plane = BasicSet((x, y), (x - y,)), BasicSet((x, y), (), (x,))
    assert (SemialgebraicSet((line,)) | plane).dimension == 2
    assert SemialgebraicSet((line, line)).dimension == 1
    with pytest.raises(BudgetExceededError):
        _ = (SemialgebraicSet((plane,)) | CIRCLE).dimension


def test_a_union_needs_parts_in_one_space():
    for parts in ((), (BasicSet((x,)), BasicSet((y,))), (BasicSet((x, y)), BasicSet((y, x)))):
        with pytest.raises(InvalidNetworkError, match="at least one part"):
            SemialgebraicSet(parts)
    assert SemialgebraicSet((HYPERBOLA,)).variables == (x, y)


# on paper


@pytest.mark.parametrize(
    ("described", "text"),
    [
        (HYPERBOLA, "{x*y - 1 = 0, x > 0}"),
        (WEDGE, "{x + y + z - 1 = 0, x > 0, y ≥ 0, z ≥ 0}"),
        (BasicSet((x, y)), "R^2"),  # braces without a condition would read as the empty set
        (SemialgebraicSet((HYPERBOLA, BasicSet((x, y), (x,)))), "{x*y - 1 = 0, x > 0} ∪ {x = 0}"),
    ],
)
def test_sets_on_paper(described, text):
    assert str(described) == text


def test_random_numbers_keep_their_bounds_and_their_sign():

    rng = random.Random(0)
    numbers = [random_rational(rng, -2, 3) for _ in range(300)]
    assert -2 <= min(numbers) < -1
    assert 2 < max(numbers) <= 3
    assert {int(value.q) for value in numbers} == {1, 2, 3, 4}
    assert min(random_positive(rng) for _ in range(300)) > 0
