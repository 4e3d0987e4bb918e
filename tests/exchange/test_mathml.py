"""Formulas in MathML: well-formed, and read back by an own reader they are the conditions of the set."""

import re
from xml.etree import ElementTree

import pytest
import sympy

from semialg_fibers import gallery
from semialg_fibers.errors import InvalidNetworkError, SemialgError
from semialg_fibers.exchange.exporters import to_latex
from semialg_fibers.exchange.latex import values_latex
from semialg_fibers.exchange.mathml import html_of_latex, mathml
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.conservation import conservation_laws

GREEK = {"λ": "lambda", "μ": "mu", "β": "beta"}
GREEK_OF = {word: letter for letter, word in GREEK.items()}


def letters(html):
    return {mi.text for mi in ElementTree.fromstring(f"<div>{html}</div>").iter("mi")}


def read_back(element):
    """A formula as Python text: W^{(1)}_{1,2} is W1_0_1, λ_1 is lambda_0, juxtaposition is multiplication."""
    text = (element.text or "").strip()
    inner = [read_back(child) for child in element]
    match element.tag:
        case "mn":
            return text
        case "mi":
            return GREEK.get(text, text)
        case "mo":
            return {"⁢": "*", "−": "-", "=": "==", "≥": ">=", "≤": "<=", "≠": "!="}.get(text, text)
        case "mrow" | "math" | "mtd":
            return "".join(inner)
        case "mfrac":
            return f"(({inner[0]})/({inner[1]}))"
        case "msub":
            indices = "_".join(str(int(i) - 1) for i in inner[1].split(","))
            return f"{inner[0]}_{indices}"
        case "msubsup":
            indices = "_".join(str(int(i) - 1) for i in inner[1].split(","))
            return f"{inner[0]}{inner[2].strip('()')}_{indices}"
        case "msup":
            return f"({inner[0]})**{inner[1]}"
        case "mspace":
            return ""
    raise AssertionError(f"no reading of {element.tag}")


def formulas(html):
    """(left side, relation, right side) of the aligned lines without ranges of indices."""
    for math in ElementTree.fromstring(f"<div>{html}</div>").iter("math"):
        for row in math.iter("mtr"):
            cells = list(row)
            if len(cells) == 2 and not list(row.iter("mtable")):
                left, right = map(read_back, cells)
                relation = next(r for r in ("==", ">=", "<=", "!=", ">", "<") if right.startswith(r))
                yield left, relation, right[len(relation) :]


def described():
    for name in gallery.names():
        try:
            yield name, fiber(gallery.network(name))
        except SemialgError:
            continue


DESCRIBED = dict(described())


@pytest.mark.parametrize("name", DESCRIBED)
def test_equations_read_back_are_those_of_the_set(name):
    found = DESCRIBED[name]
    for number, component in enumerate(found.components):
        if number == 2:
            break
        blocks = html_of_latex(to_latex(found, number))
        assert [bool(block.title) for block in blocks] == [False, True]
        shown = "<p>As a set" + blocks[1].html.split("<p>As a set", 1)[1]
        known = {sympy.expand(e) for part in component.set.parts for e in part.equations}
        known |= {-e for e in known}
        signs = {sympy.expand(e) for part in component.set.parts for e in (*part.positive, *part.nonnegative)}
        image = component.parametrization
        stems = {re.match("[A-Za-z]+", symbol.name)[0] for symbol in image.symbols}
        seen = letters(blocks[1].html.split("<p>As a set", 1)[0]) - {"i", "j"}
        assert seen == {GREEK_OF.get(stem, stem) for stem in stems} | {"W", "b"}
        lines = list(formulas(shown))
        for left, relation, right in lines:
            names = {symbol.name: symbol for symbol in component.set.variables}
            difference = sympy.expand(sympy.sympify(left, names) - sympy.sympify(right, names))
            if relation == "==":
                assert any(sympy.expand(difference / e).is_Rational for e in known if e), (left, right)
            else:
                turned = difference if relation.startswith(">") else -difference
                assert any(sympy.expand(turned / e).is_positive for e in signs if e), (left, relation, right)


def test_every_document_of_the_gallery_is_read_and_well_formed():
    count = 0
    for name in gallery.names():
        net = gallery.network(name)
        texts = [conservation_laws(net).to_latex(), "\\begin{align*}\n" + values_latex(net).split("\n", 1)[1]]
        if name in DESCRIBED:
            texts.append(to_latex(DESCRIBED[name]))
        for text in texts:
            for block in html_of_latex(text):
                ElementTree.fromstring(f"<div>{block.html}<h3>{block.title}</h3></div>")
                assert "\\" not in block.html
                assert "$" not in block.html
                count += 1
    assert count > 100


def test_a_box_keeps_its_times_sign():
    blocks = html_of_latex(to_latex(DESCRIBED["one_layer_box_2_2_1"]))
    assert "[-1, 1] <math><mo>×</mo></math> [-1, 1]" in blocks[0].html


def test_letters_and_large_networks():
    symbolic = fiber(Network.generic(2, 2, 2, 1, signs=["+--", "+--"]))
    assert "<mo>≠</mo>" in html_of_latex(to_latex(symbolic, 0))[0].html
    width = 14
    net = Network(
        [
            ([[int(i == j) for j in range(width)] for i in range(width)], [0] * width),
            ([[1] + [-1 - i] * (width - 1) for i in range(2)], [-1, -2]),
            ([[1, 2]], [0]),
        ]
    )
    (_, block) = html_of_latex(to_latex(fiber(net), 0))
    assert "<munder><mo>∑</mo>" in block.html
    ElementTree.fromstring(f"<div>{block.html}</div>")


def test_formulas():
    assert mathml(r"\frac{1}{2} x") == "<math><mfrac><mn>1</mn><mn>2</mn></mfrac><mo>⁢</mo><mi>x</mi></math>"
    assert mathml("a < b", display=True).startswith('<math display="block"><mi>a</mi><mo>&lt;</mo>')
    assert read_back(ElementTree.fromstring(mathml(r"-2 W^{(1)}_{1,2} \left(x + 1\right)"))) == "-2*W1_0_1*(x+1)"


@pytest.mark.parametrize(
    "bad", [r"\unknown", r"\frac{1}", "a^{b", r"\left( x", r"a & b", r"x_1_2", r"\begin{array}{c} 1"]
)
def test_what_is_not_ours_is_refused(bad):
    with pytest.raises(InvalidNetworkError):
        mathml(bad)


@pytest.mark.parametrize("bad", ["open $x", r"word \emph{x}"])
def test_words_that_are_not_ours_are_refused(bad):
    with pytest.raises(InvalidNetworkError):
        html_of_latex(bad)


@pytest.mark.parametrize("name", ["Gamma", "Δ", "Pi", "Σ", "omega", "λ"])
def test_greek_letters_that_latex_has_are_read(name):
    net = Network([([[sympy.Symbol(name, positive=True)]], [1]), ([[1]], [0])])
    assert "<math" in "".join(block.html for block in html_of_latex(to_latex(fiber(net))))
