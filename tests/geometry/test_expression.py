"""Symbolic scalars against SymPy's arithmetic and against values at random admissible points."""

import pickle
import random
from fractions import Fraction

import pytest
import sympy
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import InvalidNetworkError, UndecidedSignError, UnsupportedError
from semialg_fibers.geometry.decision import decide_all, essential, letters_of
from semialg_fibers.geometry.expression import Expression, signs_of, to_sympy
from semialg_fibers.geometry.insertion import put
from semialg_fibers.geometry.reading import scalar
from semialg_fibers.geometry.signs import DECLARATIONS, NONNEGATIVE, declared, described, letter_signs

LETTERS = [declared(word[:3] + str(i), word) for i, word in enumerate(DECLARATIONS.values())]
P, N, X = (sympy.Symbol("p", positive=True), sympy.Symbol("n", negative=True), sympy.Symbol("x", real=True))


@st.composite
def polynomials(draw, depth=3):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(LETTERS) | st.fractions(-3, 3, max_denominator=4).map(sympy.Rational))
    a, b = draw(polynomials(depth=depth - 1)), draw(polynomials(depth=depth - 1))
    return draw(st.sampled_from([a + b, a - b, a * b, a**2]))


def random_values(rng):
    choices = {1: [Fraction(1, 3), Fraction(2), Fraction(7, 2)], -1: [Fraction(-1, 3), Fraction(-5)], 0: [Fraction(0)]}
    return {letter: rng.choice(choices[rng.choice(sorted(letter_signs(letter)))]) for letter in LETTERS}


@settings(max_examples=200)
@given(polynomials(), polynomials(), st.integers(0, 2**20))
def test_arithmetic_is_that_of_sympy_and_signs_hold_at_every_admissible_point(f, g, seed):
    a, b = scalar(f), scalar(g)
    for ours, theirs in ((a + b, f + g), (a - b, f - g), (a * b, f * g), (-a, -f)):
        assert sympy.expand(to_sympy(ours) - theirs) == 0
    assert (a == b) is (sympy.expand(f - g) == 0)
    if a == b:
        assert hash(a) == hash(b)
    values = random_values(random.Random(seed))
    number = sympy.sympify(f).subs({k: sympy.Rational(v.numerator, v.denominator) for k, v in values.items()})
    assert to_sympy(put(a, values)) == number
    assert int(sympy.sign(number)) in signs_of(a)


@settings(max_examples=100)
@given(polynomials(), st.integers(0, 2**20))
def test_comparisons_say_what_holds_everywhere_or_refuse(f, seed):
    a = scalar(f)
    value = put(a, random_values(random.Random(seed)))
    for ask in (lambda v: v > 0, lambda v: v < 0, lambda v: v >= 0, lambda v: v <= 0, bool):
        try:
            everywhere = ask(a)
        except UndecidedSignError:
            continue
        assert ask(value) is everywhere


@settings(max_examples=100)
@given(polynomials(), polynomials(), st.integers(0, 2**20))
def test_quotients_are_in_lowest_terms_and_need_a_divisor_that_is_never_zero(f, g, seed):
    a, b = scalar(f), scalar(g)
    if 0 in signs_of(b):
        with pytest.raises((UndecidedSignError, ZeroDivisionError)):
            a / b
        return
    quotient = a / b
    assert sympy.cancel(to_sympy(quotient) - sympy.sympify(f) / g) == 0
    values = random_values(random.Random(seed))
    assert put(quotient, values) == put(a, values) / put(b, values)


def test_a_square_that_does_not_show_is_found_by_factoring():
    assert scalar(X**2 - 2 * X * P + P**2) >= 0
    assert signs_of(scalar(X**2 - 2 * X * P + P**2)) == NONNEGATIVE
    assert scalar(P * N - 1) < 0
    assert scalar((P - N) * X**2 + P) > 0


def test_the_error_names_the_expression_and_suggests_an_assumption():
    with pytest.raises(
        UndecidedSignError, match=r'the sign of x is not declared.*Symbol\("x", positive=True\)'
    ) as caught:
        bool(scalar(X))
    assert caught.value.expression == X
    with pytest.raises(UndecidedSignError, match=r"the sign of n \+ p depends") as caught:
        assert scalar(P + N) > 0
    assert caught.value.expression == P + N


def test_equality_is_identity_of_functions_and_never_a_guess():
    assert scalar(X) != 0
    assert scalar((X + 1) ** 2) == scalar(X**2 + 2 * X + 1)
    assert scalar(X) - scalar(X) == 0
    assert isinstance(scalar(X) - scalar(X), fmpq)
    assert scalar(sympy.Symbol("x", positive=True)) != scalar(X)  # another letter, whatever its name


def test_two_letters_of_one_name_are_refused():
    with pytest.raises(InvalidNetworkError, match="two letters are called x"):
        scalar(X) + scalar(sympy.Symbol("x", positive=True))
    with pytest.raises(InvalidNetworkError, match="two letters are called x"):
        letters_of([scalar(X), scalar(sympy.Symbol("x", positive=True))])


@pytest.mark.parametrize(
    "value",
    [
        sympy.sqrt(X),
        sympy.sin(P),
        sympy.sqrt(2) * P,
        2**P,
        sympy.Symbol("z", imaginary=True),
        sympy.Dummy("d", real=True),
        sympy.Wild("w"),
    ],
)
def test_what_is_no_rational_function_of_real_letters_is_refused(value):
    with pytest.raises(InvalidNetworkError):
        scalar(value)


def test_sizes_are_limited():
    with pytest.raises(UnsupportedError, match="a power 401 is beyond the stated size"):
        scalar(P**401)
    with pytest.raises(UnsupportedError, match="a power 90 is beyond"):
        scalar(((X**2 + 1) ** 90 + 1) ** 90)
    nested = P
    for _ in range(250):
        nested = sympy.Mul(sympy.Add(nested, 1, evaluate=False), P, evaluate=False)
    with pytest.raises(UnsupportedError, match="nested more than 200 deep"):
        scalar(nested)
    many = sum(sympy.Symbol(f"s{i}", positive=True) for i in range(1000))
    assert scalar(many) > 0
    with pytest.raises(UnsupportedError, match="more than the stated size of 20,000 terms"):
        scalar(sympy.Mul(*[sum(LETTERS[:4]) + i + P for i in range(1, 25)], evaluate=False))


def test_values_must_respect_the_assumptions():
    with pytest.raises(InvalidNetworkError, match="p is declared positive, got -1"):
        put(scalar(P), {P: -1})
    with pytest.raises(UndecidedSignError, match="the sign of x"):
        put(scalar(P), {P: X})
    assert put(scalar(P), {P: sympy.Symbol("q", positive=True) + 1}) > 0
    assert put(scalar(P + X), {"x": "-1/2", "unused": 3}) == scalar(P - sympy.Rational(1, 2))


def test_decisions_about_several_values_do_not_depend_on_their_order():
    open_value, no = scalar(X), scalar(N)
    assert decide_all([open_value, no], NONNEGATIVE) is False
    assert decide_all([no, open_value], NONNEGATIVE) is False
    assert decide_all([scalar(P), scalar(P * P)], NONNEGATIVE) is True
    with pytest.raises(UndecidedSignError):
        decide_all([scalar(P), open_value], NONNEGATIVE)


def test_the_essential_part_has_the_same_zeros():
    assert essential(scalar(P * N * X)) == scalar(X)
    assert essential(scalar(P * (X - P) ** 3)) in (scalar(X - P), scalar(P - X))
    assert essential(scalar(P / (P - N))) == 1
    assert essential(scalar(X - X)) == 0


def test_a_letter_that_is_zero_is_the_number():
    z = sympy.Symbol("z", zero=True)
    assert scalar(z * P) == 0
    assert isinstance(scalar(z), fmpq)
    with pytest.raises(InvalidNetworkError, match="divides by zero"):
        scalar(sympy.Pow(sympy.Add(X, -X, evaluate=False), -1, evaluate=False))


def test_letters_may_be_greek_and_are_told_apart_by_all_their_assumptions():
    greek = sympy.Symbol("λ", positive=True)
    assert str(scalar(greek + 1) * 2) == "2*λ + 2"
    whole = sympy.Symbol("p", positive=True, integer=True)
    assert scalar(whole) != scalar(P)
    with pytest.raises(
        InvalidNetworkError, match="two letters are called p and differ in their assumptions: rename one"
    ):
        scalar(whole) + scalar(P)
    value = scalar((P + X) ** 150)
    assert pickle.loads(pickle.dumps(value)) == value


@pytest.mark.parametrize("word", DECLARATIONS.values())
def test_declarations_come_back(word):
    assert described(declared("a", word)) == word


def test_expressions_travel():
    value = scalar(P / (P - N) + X)
    assert pickle.loads(pickle.dumps(value)) == value
    assert isinstance(value, Expression)
