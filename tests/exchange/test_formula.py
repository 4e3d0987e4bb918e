"""Formulas in files against SymPy's own reading of the same text, and everything that is no formula."""

import json

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import InvalidNetworkError, SemialgError, UndecidedSignError, UnsupportedError
from semialg_fibers.exchange.files import read_network, write_network
from semialg_fibers.exchange.formula import parse_formula
from semialg_fibers.exchange.json_text import network_from_json, network_to_json
from semialg_fibers.geometry.expression import to_sympy
from semialg_fibers.geometry.scalar import exact, parse_rational
from semialg_fibers.networks.layer import Network

A, B = sympy.Symbol("a", positive=True), sympy.Symbol("b", real=True)
LETTERS = {"a": A, "b": B}


@st.composite
def formulas(draw, depth=4):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(["a", "b", "2", "1/3", "0.25", "1e-2", "7"]))
    x, y = draw(formulas(depth=depth - 1)), draw(formulas(depth=depth - 1))
    shape = draw(
        st.sampled_from(["{0} + {1}", "{0}-{1}", "({0})*({1})", "-{0}", "({0})**2", "({0}) / a", "a**-1*{0}", "- -{0}"])
    )
    return shape.format(x, y)


@settings(max_examples=300)
@given(formulas())
def test_the_grammar_reads_what_sympy_reads(text):
    expected = sympy.parse_expr(
        text,
        local_dict={"a": A, "b": B},
        transformations=(*sympy.parsing.sympy_parser.standard_transformations, sympy.parsing.sympy_parser.rationalize),
    )
    assert sympy.cancel(to_sympy(parse_formula(text, LETTERS)) - expected) == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-a**2", -(A**2)),
        ("2**-1", sympy.Rational(1, 2)),
        ("a/2*b", A * B / 2),
        ("--a", A),
        ("a-b-1", A - B - 1),
        ("6/3/2", sympy.Integer(1)),
        ("a**--2", A**2),
        ("a**(-2)", A**-2),
    ],
)
def test_precedence(text, value):
    assert sympy.expand(to_sympy(parse_formula(text, LETTERS)) - value) == 0


@pytest.mark.parametrize(
    "text",
    [
        *["", "a+", "2a", "a b", "a**b", "a**2**3", "a**101", "a**1.5", "(a", "a)", "*a", "a^2", "a//2"],
        *["sin(a)", "c", "__import__('os')", "a.b", "a[0]", "1/0", "0**-1", "1/(1-1)", "a if b else a", "lambda", "λ"],
        *["1_000", "a" * 3000, "(" * 60 + "a" + ")" * 60, "-" * 60 + "a", "9**9**9", "٣", "a**(2", "a**(b)", "a**()"],
    ],
)
def test_what_is_no_formula_is_refused_in_one_sentence(text):
    with pytest.raises(InvalidNetworkError) as caught:
        parse_formula(text, LETTERS)
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 400


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2**3**2", "a power of a power needs parentheses, as in (x**2)**3"),
        ("2**(3)**2", "a power of a power needs parentheses"),
        ("(a**3**2)", "a power of a power needs parentheses"),
        ("a)", "a parenthesis is closed that was not opened"),
        ("(a", "a parenthesis is not closed"),
        ("(a b)", "'b' is unexpected; write * between factors"),
        ("2a", "'a' is unexpected; write * between factors"),
        ("2(a)", "'(' is unexpected; write * between factors"),
    ],
)
def test_the_advice_fits_what_is_wrong(text, words):
    with pytest.raises(InvalidNetworkError) as caught:
        parse_formula(text, LETTERS)
    assert f"is no formula: {words}" in caught.value.message


def test_a_divisor_that_may_be_zero_is_refused():
    with pytest.raises(UndecidedSignError, match="the sign of b is not declared"):
        parse_formula("1/b", LETTERS)


@settings(max_examples=300)
@given(st.text(alphabet="ab01.+-*/() eE_x", max_size=25))
def test_any_text_is_read_or_refused(text):
    try:
        parse_formula(text, LETTERS)
    except SemialgError as error:
        assert error.message  # noqa: PT017  any other exception fails the test


@pytest.mark.parametrize("text", ["((a+1)**100)**100", "((a**100)**100)**100", "((9**100)**100)**100*a"])
def test_powers_of_powers_are_limited(text):
    with pytest.raises(UnsupportedError, match="beyond the stated size"):
        parse_formula(text, LETTERS)


def test_every_formula_that_is_written_is_read_again(tmp_path):
    entries = [1 / A**2, (A + B) / (A + 1) ** 3, -B / 2, (A - B) ** 2 / 3, A**-1]
    net = Network([([entries], [A**-3])])
    write_network(net, tmp_path / "net.json")
    assert read_network(tmp_path / "net.json") == net


def document(symbols, weight="a", bias="a*b - 1"):
    return json.dumps(
        {
            "format": "semialg_fibers/network",
            "version": 1,
            "symbols": symbols,
            "layers": [{"weight": [["1", weight]], "bias": [bias]}, {"weight": [["2"]], "bias": ["0.5"]}],
        }
    )


def test_a_file_with_letters_comes_back(tmp_path):
    net = network_from_json(document({"a": "positive", "b": "real"}), "file")
    assert net.symbols == (A, B)
    assert net.layers[0].bias == (A * B - 1,)
    write_network(net, tmp_path / "net.json")
    assert read_network(tmp_path / "net.json") == net


@pytest.mark.parametrize(
    ("symbols", "words"),
    [
        ({"b": "real"}, "layer 1, weight row 1, column 2: the letter 'a' is not declared"),
        ({"a": "big", "b": "real"}, "symbols: a is declared 'big'; expected one of"),
        ({"a b": "real"}, "is no name for a letter"),
        (
            {"nan": "real"},
            "is no name for a letter; use at most 100 letters from a to z, digits and _, and none of nan",
        ),
        ({"a": True}, "symbols: a is declared true"),
        (["a"], "symbols: expected an object"),
        ({"a": "positive", "b": "real", "W1_0_0": "real"}, None),
    ],
)
def test_declarations_are_checked(symbols, words):
    if words is None:
        assert network_from_json(document(symbols), "file").symbols == (A, B)  # declared and not used
        return
    with pytest.raises(InvalidNetworkError) as caught:
        network_from_json(document(symbols), "file")
    assert words in caught.value.message


def test_a_letter_declared_twice_is_refused():
    text = document({"a": "positive", "b": "real"}).replace('"b": "real"', '"b": "real", "b": "positive"')
    with pytest.raises(InvalidNetworkError, match="'b' is declared twice"):
        network_from_json(text, "file")


def test_the_name_of_a_variable_is_no_letter():
    for name in ("W1_0_0", "b2_1"):
        with pytest.raises(InvalidNetworkError, match=f"the letter {name} has the name of a fiber's variable"):
            Network([([[sympy.Symbol(name, real=True)]], [0])])


def test_an_entry_that_cannot_be_read_back_is_not_written():
    long = sympy.Add(*[sympy.Symbol(f"letter_number_{i}", real=True) for i in range(200)])
    with pytest.raises(InvalidNetworkError, match="bias entry 1: the formula has"):
        network_to_json(Network([([[1]], [long])]))
    for name in ("x y", "nan", "Inf", "infinity", "a" * 101):  # float("nan") is what a number without a value is called
        with pytest.raises(
            InvalidNetworkError, match=r"a file cannot hold a letter called .*; use at most 100 letters"
        ):
            network_to_json(Network([([[1]], [sympy.Symbol(name, real=True)])]))
    for name in ("nano", "_inf", "a" * 100):
        net = Network([([[1]], [sympy.Symbol(name, real=True)])])
        assert network_from_json(network_to_json(net), "file") == net


@pytest.mark.parametrize("text", ["2**0", "(1/2)**0", "a**0", "(a + 1)**0", "a/a", "(a - a)*b + 1", "a**-1*a"])
def test_a_formula_without_letters_is_a_number(text):
    symbols = '"symbols": {"a": "positive", "b": "real"}, ' if "a" in text else ""
    layer = f'{{"weight": [["{text}"]], "bias": ["0"]}}'
    file = f'{{"format": "semialg_fibers/network", "version": 1, {symbols}"layers": [{layer}]}}'
    net = network_from_json(file, "net.json")
    assert net.is_rational
    assert net.layers[0].matrix[0, 0] == 1


def in_a_file(text, symbols):
    """What a file with this weight holds there, or None where it is refused."""
    layer = {"weight": [[text]], "bias": ["0"]}
    file = {"format": "semialg_fibers/network", "version": 1, "symbols": symbols, "layers": [layer]}
    try:
        return network_from_json(json.dumps(file), "file").layers[0].matrix[0, 0]
    except (InvalidNetworkError, UndecidedSignError):
        return None


def read(parse, text):
    try:
        return parse(text)
    except (InvalidNetworkError, UndecidedSignError):
        return None


@settings(max_examples=1000)
@given(st.text(alphabet="ab01.+-*/() eE", min_size=1, max_size=12) | formulas())
def test_a_file_reads_every_number_and_every_formula(text):
    """Where nothing is added or multiplied " 1", "--1" and "1/2/3" are slips, and refused."""
    found = in_a_file(text, {"a": "positive", "b": "real"})
    alone = all(read(parse_rational, part.strip().lstrip("-+ ")) is not None for part in text.split("/"))
    number, formula = read(parse_rational, text), read(lambda each: parse_formula(each, LETTERS), text)
    assert found == (number if alone or number is not None else formula)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1+1", 2),
        ("1/2+1", "3/2"),
        ("1 - 1", 0),
        ("2**3", 8),
        ("1*2/3/4", "1/6"),
        ("1e-3+1", "1001/1000"),
        ("2*1e1", 20),
        ("(1)/-2", "-1/2"),
    ],
)
def test_a_formula_of_numbers_needs_no_declaration(text, value):
    assert in_a_file(text, {}) == exact(value)
