"""Which activations commute with permutations: each yes against brute force, each no with a counterexample."""

from itertools import permutations

import pytest
import sympy
from flint import arb

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, UndecidedSignError, UnsupportedError
from semialg_fibers.questions.activations import ACTIVATIONS, Pointwise, activations
from semialg_fibers.questions.equivariance import (
    Equivariant,
    GeneratorProof,
    NotEquivariant,
    _ball,
    _differ,
    is_permutation_equivariant,
)

YES = [
    "relu",
    "sigmoid",
    "tanh",
    "gelu",
    "prelu_shared",
    "softmax",
    "log_softmax",
    "layer_norm",
    "rms_norm",
    "relu_minus_mean",
]
NO = ["layer_norm_affine", "prelu_per_channel", "sort", "cumsum", "reverse"]
NEITHER = ["maxout", "glu"]
z = sympy.Symbol("z")


def test_the_lists_are_complete():
    assert sorted(YES + NO + NEITHER) == sorted(ACTIVATIONS)


@pytest.mark.parametrize("n", [1, 3, 512])
@pytest.mark.parametrize("name", YES)
def test_yes_with_a_proof(name, n):
    found = is_permutation_equivariant(name, n)
    assert isinstance(found, Equivariant)
    assert found.equivariant is True
    assert found
    assert found.check()


@pytest.mark.parametrize("name", YES)
def test_yes_by_brute_force(name):
    """All permutations of three symbols, compared as formulas, without the declared structure."""
    function = activations()[name]
    letters = sympy.symbols("z:3", real=True)
    outputs = function(list(letters))
    for order in permutations(range(3)):
        moved = function([letters[i] for i in order])
        assert all(sympy.expand(moved[i] - outputs[order[i]]) == 0 for i in range(3))


@pytest.mark.parametrize("n", [3, 4, 7])
@pytest.mark.parametrize("name", NO)
def test_no_with_a_counterexample(name, n):
    found = is_permutation_equivariant(name, n)
    assert isinstance(found, NotEquivariant)
    assert found.equivariant is False
    assert not found
    assert found.check()
    left, right = found.values
    assert sympy.N(left - right, 30) != 0
    assert str(found).count("φ(P z)") == 1


def test_a_counterexample_by_hand():
    found = is_permutation_equivariant("prelu_per_channel", 2)  # slopes 1/2 and 1/3 below zero
    assert (found.point, found.order, found.coordinate, found.values) == (
        (0, -1), (1, 0), 0, (sympy.Rational(-1, 2), sympy.Rational(-1, 3))
    )  # fmt: skip


@pytest.mark.parametrize("name", NO)
def test_with_one_coordinate_there_is_nothing_to_permute(name):
    assert is_permutation_equivariant(name, 1)


def test_reversing_two_coordinates_is_equivariant():
    assert is_permutation_equivariant("reverse", 2)  # it commutes with the only swap there is
    assert not is_permutation_equivariant("reverse", 3)


@pytest.mark.parametrize("n", [1, 4, 5])
@pytest.mark.parametrize("name", NEITHER)
def test_where_the_claim_does_not_apply(name, n):
    found = is_permutation_equivariant(name, n)
    assert found.equivariant is None
    assert not found.check()
    assert found.reason
    with pytest.raises(UnsupportedError):
        bool(found)


# Callables


def test_callables_with_formulas():
    assert is_permutation_equivariant(lambda v: [sympy.Max(x, 0) - sum(v) / 4 for x in v], 4)
    assert is_permutation_equivariant(lambda v: v.applyfunc(sympy.exp) / sum(v.applyfunc(sympy.exp)), 3)
    assert is_permutation_equivariant(lambda v: [(x + 1) ** 2 - x**2 for x in v], 3)
    assert not is_permutation_equivariant(lambda v: [sympy.tanh(v[0]), v[1]], 2)
    assert not is_permutation_equivariant(lambda v: [sympy.exp(v[0]), *v[1:]], 4)


def test_a_callable_that_looks_at_numbers():
    def largest_first(v):
        return sorted(v, reverse=True)

    found = is_permutation_equivariant(largest_first, 3)
    assert found.equivariant is False
    assert found.check()


def test_a_callable_of_another_size():
    assert is_permutation_equivariant(lambda v: [sum(v)], 3).equivariant is None


def test_undecided_is_said_aloud():
    hidden = is_permutation_equivariant(lambda v: [sympy.Function("f")(v[0]), sympy.Function("g")(v[1])], 2)
    assert hidden.equivariant is None
    assert not hidden.check()
    with pytest.raises(UndecidedSignError):
        bool(hidden)

    def broken(v):
        raise RuntimeError("no")

    assert "RuntimeError" in is_permutation_equivariant(broken, 2).reason


def test_no_float_decides():
    for function in (lambda v: [0.1 * x for x in v], lambda v: [0.1 * v[0], 0.2 * v[1]]):
        with pytest.raises(InexactInputError):
            is_permutation_equivariant(function, 2)


def test_an_almost_equivariant_function_is_told_apart():
    """The coordinates differ by 10^-60: only an enclosure can say so."""
    tiny = sympy.Rational(1, 10**60)
    found = is_permutation_equivariant(lambda v: [sympy.exp(v[0]), sympy.exp(v[1]) + tiny], 2)
    assert found.equivariant is False
    assert found.check()


def test_equal_numbers_are_never_called_different():
    a, b = sympy.sqrt(2) + sympy.sqrt(3), sympy.sqrt(5 + 2 * sympy.sqrt(6))
    assert _differ(a, b) is None  # they are equal, which no enclosure can prove
    assert _differ(sympy.log(-2), sympy.Integer(1)) is None
    assert _differ(sympy.erf(1), sympy.tanh(1)) is True


@pytest.mark.parametrize(
    "expression",
    [sympy.exp(2), sympy.log(3), sympy.tanh(1), sympy.erf(sympy.Rational(1, 3)), sympy.sqrt(2) ** 3, sympy.pi / 7,
     sympy.sin(1) * sympy.cos(2), sympy.Max(sympy.exp(1), 3), sympy.Min(sympy.log(2), sympy.sqrt(3)),
     sympy.Abs(sympy.sin(4)), 2 ** sympy.Rational(-1, 3), sympy.E - 3],
)  # fmt: skip
def test_balls_enclose(expression):
    value = str(sympy.N(expression, 14))
    assert abs(_ball(expression) - arb(value)) < arb("1e-12")


def test_declared_structure_is_checked():
    a, s, index = sympy.symbols("a s i")
    assert Pointwise(z / s, (("s", "sum", z**2),)).check()
    for wrong in (
        Pointwise(a * z),
        Pointwise(z + index),
        Pointwise(z / s),
        Pointwise(z, (("s", "product", z),)),
        Pointwise(z, (("s", "sum", z * a),)),
        Pointwise(z, (("z", "sum", z),)),
    ):
        assert not wrong.check()
        with pytest.raises(InvalidNetworkError):
            is_permutation_equivariant(wrong, 3)
    assert is_permutation_equivariant(Pointwise(z - s, (("s", "max", z),)), 3)


def test_a_forged_proof_is_refused():
    letters = sympy.symbols("z:3", real=True)
    assert not GeneratorProof(letters, (letters[0], letters[1], letters[2] + 1)).check()
    assert not GeneratorProof(letters, letters[::-1]).check()
    assert GeneratorProof(letters, letters).check()


@pytest.mark.parametrize("n", [0, -1, True, 2.0])
def test_the_number_of_coordinates_is_positive(n):
    with pytest.raises(InvalidNetworkError):
        is_permutation_equivariant("relu", n)


def test_unknown_names_are_refused_with_the_list():
    with pytest.raises(InvalidNetworkError):
        is_permutation_equivariant(3, 2)
    with pytest.raises(InvalidNetworkError, match="softmax"):
        is_permutation_equivariant("swish", 2)


# Callables that are not what they seem


def at_one(v):
    return [each if each != 1 else 7 * (i + 1) for i, each in enumerate(v)]


def by_kind(v):
    return [each * (i + 1) if each.is_number else each for i, each in enumerate(v)]


def ordered(v):
    return list(sympy.ordered(v))


@pytest.mark.parametrize("function", [ordered, by_kind, at_one])
def test_a_callable_that_treats_symbols_and_numbers_differently_gets_no_yes(function):
    found = is_permutation_equivariant(function, 3)
    assert found.equivariant is False
    assert found.check()


def test_a_difference_that_no_point_of_permutations_shows_is_undecided():
    """Equivariant on the numbers too, but by other formulas than those on symbols, which prove nothing about it."""
    found = is_permutation_equivariant(lambda v: [x + 1 if x.is_number else x for x in v], 3)
    assert found.equivariant is None
    assert "on symbols" in found.reason
    broken = is_permutation_equivariant(lambda v: [x if x.is_Symbol else next(iter(())) for x in v], 2)
    assert broken.equivariant is None
    assert "fails at (1, 2) (" in broken.reason


def test_a_yes_for_a_callable_says_what_was_read():
    found = is_permutation_equivariant(lambda v: [sympy.Max(x, 0) for x in v], 3)
    assert found
    assert "gives on symbols and also at 12 points" in str(found)
    assert "symbols" not in str(is_permutation_equivariant("relu", 3))


@pytest.mark.parametrize(
    "function",
    [
        lambda v: [0.5 * x for x in v],
        lambda v: [x + sympy.Float("0.5") ** x for x in v],
        lambda v: [float(x) / 4 for x in v],  # no symbol is a float: seen at the first point, where it is 1/4
        lambda v: [0.5, *v[1:]],
    ],
    ids=range(4),
)
def test_floats_are_refused_with_what_to_write(function):
    with pytest.raises(InexactInputError, match=r"contains the float 0\.2?5: write Rational\(1, [24]\)"):
        is_permutation_equivariant(function, 3)


def test_floats_in_formulas_are_refused_where_they_are_written():
    s = sympy.Symbol("s")
    with pytest.raises(InexactInputError, match=r"the formula contains the float 0\.5: write Rational\(1, 2\)"):
        Pointwise(0.5 * z)
    with pytest.raises(InexactInputError, match=r"summand of s contains the float 0\.1: write Rational\(1, 10\)"):
        Pointwise(z / s, (("s", "sum", 0.1 * z),))
    with pytest.raises(InexactInputError, match=r'Rational\("1e-07"\)'):
        Pointwise(z + 1e-7)
    with pytest.raises(InexactInputError, match=r'Rational\("1.0*e\+400"\)'):
        Pointwise(z + sympy.Float("1e400"))


def test_what_is_no_real_function_has_no_answer():
    for function in (lambda v: [1 / x for x in v], lambda v: [sympy.nan for x in v],
                     lambda v: [sympy.log(x) for x in v], lambda v: [sympy.sqrt(x) for x in v],
                     lambda v: [sympy.oo for x in v], Pointwise(1 / z), Pointwise(sympy.log(z))):  # fmt: skip
        found = is_permutation_equivariant(function, 3)
        assert found.equivariant is None
        assert "does not map R^3 to R^3" in found.reason
    for wrong in (lambda v: ["z"] * 3, lambda v: [None] * 3, lambda v: [True] * 3, lambda v: [x > 0 for x in v],
                  lambda v: [b"1"] * 3):  # fmt: skip
        with pytest.raises(InvalidNetworkError, match="an output of the activation is "):
            is_permutation_equivariant(wrong, 3)


def test_formulas_are_expressions():
    assert is_permutation_equivariant(Pointwise(3), 2)
    for wrong in ("z", None, True, sympy.nan, sympy.Matrix([z]), z > 0):
        with pytest.raises(InvalidNetworkError, match="the formula is "):
            Pointwise(wrong)
    for wrong in ((("s", "sum"),), ("s",), 3, ((1, "sum", z),)):
        with pytest.raises(InvalidNetworkError, match="a statistic is"):
            Pointwise(z, wrong)
