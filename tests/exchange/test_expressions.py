"""The grammar of expressions: what SymPy prints is read back, nothing else, and nothing is evaluated."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.exchange.expressions import MAX_DEPTH, MAX_LENGTH, parse_expression, parse_relation

NAMES = ("x", "W1_0_0", "lambda_0", "beta")
SYMBOLS = {name: sympy.Symbol(name, real=True) for name in NAMES}
x, w, *_ = SYMBOLS.values()

NUMBERS = st.fractions(-9, 9, max_denominator=7).map(lambda f: sympy.Rational(f.numerator, f.denominator))
EXPRESSIONS = st.recursive(
    NUMBERS | st.sampled_from(list(SYMBOLS.values())),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda a, n: a**n, inner, st.integers(0, 3)),
        st.builds(lambda a: 1 / a if a.is_Symbol else a, inner),
    ),
    max_leaves=8,
)


@settings(max_examples=120)
@given(EXPRESSIONS)
def test_what_sympy_prints_is_read_back(expression):
    assert parse_expression(str(expression), SYMBOLS) == expression


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-x**2", -(x**2)),
        ("2*x + 1", 2 * x + 1),
        ("-1/2*x", -x / 2),
        ("x/W1_0_0**2", x / w**2),
        ("x**-2 + x**(-3) + x**(2)", x**-2 + x**-3 + x**2),
        ("1 - (x - (2 - x))*3", 1 - (x - (2 - x)) * 3),
        ("+x", x),
        (" ( x ) ", x),
        ("7" * 3000, sympy.Integer("7" * 3000)),
        (" + ".join(["x"] * 5000), 5000 * x),  # long sums go no deeper
    ],
)
def test_precedence_by_hand(text, value):
    assert parse_expression(text, SYMBOLS) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "unexpected end"),
        ("x +", "unexpected end"),
        ("x y", "unexpected 'y'"),
        ("y", "unknown name 'y'"),
        ("0.5*x", "unexpected character at character 2"),
        ("1e3", "unexpected 'e3'"),
        ("x**y", "no whole number"),
        ("x**(1/2)", "no whole number"),
        ("x**1001", "exponent above 1000"),
        ("x**99999999999", "exponent above 1000"),
        ("1/0", "division by zero"),
        ("x/(1 - 1)", "division by zero"),
        ("0**-1", "division by zero"),
        ("(x", r"missing '\)'"),
        ("x)", r"unexpected '\)'"),
        ("__import__('os')", "unexpected character"),
        ("x.free_symbols", "unexpected character"),
        ("lambda: 1", "unexpected character"),
        ("(" * (MAX_DEPTH + 1) + "x", "parentheses inside each other"),
        ("7" * 5000, "beyond the stated size"),
        ("x ** ** 2", "no whole number"),
        ("(x**999)*x*x", "degree above 1000"),
        ("((x + 1)**40)**40", "degree above 1000"),
        ("((9**1000)**1000)**1000", "more than 100,000 digits"),
        ("((3*x)**500*7**1000)**2*" + "*".join(["7**999"] * 120), "more than 100,000 digits"),
        ("(1/3**1000 + 1/7**1000)**100", "more than 100,000 digits"),
        ("*x", r"unexpected '\*'"),
    ],
)
def test_anything_else_is_refused_with_its_place(text, words):
    with pytest.raises(InvalidNetworkError, match=words) as caught:
        parse_expression(text, SYMBOLS)
    assert isinstance(caught.value.position, int)


def test_the_largest_numbers_and_degrees_are_read():
    assert parse_expression("(x**10)**100", SYMBOLS) == x**1000
    assert parse_expression("*".join(["7**1000"] * 100), SYMBOLS) == 7**100_000  # 84,510 digits
    assert parse_expression("x" + " + x" * 1000, SYMBOLS) == 1001 * x
    with pytest.raises(InvalidNetworkError, match="1,000,000 characters"):
        parse_expression("x" * (MAX_LENGTH + 1), SYMBOLS)


def test_relations_keep_their_kind_and_are_not_evaluated():
    positive = sympy.Symbol("lambda_0", positive=True)
    for text, kind in (("lambda_0 > 0", sympy.Gt), ("lambda_0 >= 0", sympy.Ge), ("lambda_0 < -1/2", sympy.Lt)):
        found = parse_relation(text, {"lambda_0": positive})
        assert isinstance(found, kind)
        assert str(found) == text
    for text in ("x", "x > 0 > 1", "x == 0", "x => 0", "> 0"):
        with pytest.raises(InvalidNetworkError):
            parse_relation(text, SYMBOLS)
