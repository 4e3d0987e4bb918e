"""LaTeX: names and numbers as on paper, patterns that stand for exactly their conditions, large fibers in letters."""

import re
from itertools import product
from pathlib import Path

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers import gallery
from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.exchange.exporters import to_latex
from semialg_fibers.exchange.files import read_network
from semialg_fibers.exchange.general_form import general_form, index_set
from semialg_fibers.exchange.languages import words
from semialg_fibers.exchange.latex import collapsed, condition_latex, expression_latex, sides, standalone, values_latex
from semialg_fibers.exchange.latex_names import NameTable
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.geometry.domain import Orthant
from semialg_fibers.geometry.semialgebraic import BasicSet
from semialg_fibers.networks.layer import Network

DIGITS = Path(__file__).parents[2] / "notebooks" / "data" / "digits-64-32-16-10.json"
W, a = (lambda layer, i, j, name=name: sympy.Symbol(f"{name}{layer}_{i}_{j}", real=True) for name in "Wa")
b = lambda layer, i: sympy.Symbol(f"b{layer}_{i}", real=True)  # noqa: E731


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("W1_0_0", "W^{(1)}_{1,1}"),
        ("W12_9_10", "W^{(12)}_{10,11}"),
        ("b2_3", "b^{(2)}_{4}"),
    ],
)
def test_variables_count_from_one(name, latex):
    assert NameTable([name])(name) == latex


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("a1_0_0", "a^{(1)}_{1,1}"),  # of Network.generic
        ("c3_2", "c^{(3)}_{3}"),
        ("lambda_0", r"\lambda_{0}"),
        ("B_1_0", "B_{1,0}"),
        ("a_1", "a_{1}"),
        ("a1", "a_{1}"),
        ("alpha_12", r"\alpha_{12}"),
        ("λ", r"\lambda"),
        ("λ_3", r"\lambda_{3}"),
        ("t", "t"),
        ("x1", "x_{1}"),
        ("x01", r"\mathrm{x01}"),
        ("width", r"\mathrm{width}"),
        ("a_b", r"\mathrm{a\_b}"),
        ("é", r"\mathrm{[e9]}"),
    ],
)
def test_letters_are_written_as_typed(name, latex):
    assert NameTable(letters=[name])(name) == latex


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("lambda_0", r"\lambda_{1}"),
        ("beta_11", r"\beta_{12}"),
        ("C_0_2", "C_{1,3}"),
        ("t", "t"),
        ("t_", "t'"),
        ("mu_1__", r"\mu_{2}''"),
        ("free_1", r"\mathrm{free}_{1}"),
    ],
)
def test_symbols_of_an_image_count_from_one(name, latex):
    assert NameTable(images=[name]).image([name])(name) == latex


ODD = words(
    "a a1 a_1 a01 a1_0_0 a1_0 a_1_0 x1 x_0 x_1 xprime lambda lambda_0 lambda_1 lambda1 lambda0 λ λ1 λ_1 λ0 mu1 mu_0 t "
    "t_ t__ T beta_0 beta1 B_1_0 B_2_1 B1_0 C_0_1 c1_0 c1_1 W_1 W1 i j width e9 é ue9 μ_1 β1"
)


@settings(max_examples=150)
@given(st.sets(st.sampled_from(sorted(ODD))), st.sets(st.sampled_from(sorted(ODD))))
def test_different_symbols_never_look_alike(letters, images):
    """Letters, variables and the symbols of an image; an image's symbols are none of its letters."""
    variables = ["W1_0_0", "b1_0"]
    names = NameTable(variables, sorted(letters), sorted(images), frozenset("t"))
    inside = names.image(images)
    shown = [names(name) for name in (*variables, *letters)] + [inside(name) for name in images]
    assert len(set(shown)) == len(shown)
    assert all(text.isascii() for text in shown)
    assert "t" not in [names(name) for name in letters]
    assert not set(names.running) & set(shown)


def test_the_letters_of_a_network_and_the_scalings_of_its_fiber_look_different():
    names = ["lambda1", "mu1", "t", "x1", "x_1", "a_1"]
    p, q, t, u, v, w = (sympy.Symbol(name, positive=True) for name in names)
    net = Network([([[p, 1], [2, u]], [v, -1]), ([[1, -q], [3, -1]], [-w, -t]), ([[1, 2]], [0])])
    text = to_latex(fiber(net))
    for shown in (
        r"\mathrm{lambda1}",
        r"\mathrm{mu1}",
        r"\mathrm{x1}",
        r"\mathrm{x\_1}",
        "a_{1}",
        "t'",
        r"\lambda_{1}",
    ):
        assert shown in text
    assert not re.search("x_{|a_{2}", text)
    assert r"\mathrm{lambda1} &> 0" in text


def test_conditions_in_words_use_the_names_of_the_document():
    letters = ["x1", "x_1", "rank", "and", "λ"]
    names = NameTable(letters=letters)
    text = condition_latex("x1 - 2*x_1**2 = 0, rank + and = 0 and rank [[λ]] = 1; or λ ≠ 0", names)
    assert text == (
        r"$\mathrm{x1} - 2 {\mathrm{x\_1}}^{2} = 0, \mathrm{rank} + \mathrm{and} = 0$ and rank "
        r"$[[\lambda]] = 1$; or $\lambda \ne 0$"
    )


x, y = sympy.symbols("x y")


@pytest.mark.parametrize(
    ("expression", "latex"),
    [
        (sympy.Rational(-1, 2), r"-\frac{1}{2}"),
        (-x / 2 - 3, r"-\frac{1}{2} x - 3"),
        (2 * W(1, 0, 0) ** 2, r"2 \left(W^{(1)}_{1,1}\right)^{2}"),
        (x * (y - 1), r"x \left(y - 1\right)"),
        (x / (y + 1), r"\frac{x}{y + 1}"),
        (x * (x + 1) / (2 * y), r"\frac{x \left(x + 1\right)}{2 y}"),
        ((x + 1) / y**2, r"\frac{x + 1}{y^{2}}"),
        (x / (y - 1) ** 2, r"\frac{x}{\left(y - 1\right)^{2}}"),
        (sympy.Mul(-1, x + 1, evaluate=False), r"-\left(x + 1\right)"),
        (-2 * x / (3 * y), r"-\frac{2 x}{3 y}"),
        (1 / x**2, r"\frac{1}{x^{2}}"),
        (x**3, "x^{3}"),
        ((x + y) ** 2 / 5, r"\frac{1}{5} \left(x + y\right)^{2}"),
        (sympy.Integer(10**40 + 1), str(10**40 + 1)),
    ],
)
def test_expressions(expression, latex):
    assert expression_latex(sympy.sympify(expression)) == latex


@pytest.mark.parametrize("expression", [sympy.sqrt(x), sympy.pi, sympy.Float(0.5), x**y])
def test_what_is_no_fraction_of_polynomials_is_refused(expression):
    with pytest.raises((InvalidNetworkError, TypeError)):
        expression_latex(expression)


@settings(max_examples=80)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2), st.integers(0, 2)), max_size=4))
def test_the_sides_say_the_same_as_the_expression(terms):
    letter = sympy.Symbol("c", positive=True)
    expression = sum((n * x**p * y**q * letter for n, p, q in terms), sympy.Integer(0))
    for relation in ("=", ">", r"\ge"):
        left, shown, right = sides(expression, relation, {x, y})
        ratio = sympy.cancel((left - right) / expression) if expression != 0 else sympy.Integer(1)
        assert not ratio.free_symbols
        if relation == "=":
            assert shown == "="
            assert ratio != 0
        else:
            turned = {">": "<", r"\ge": r"\le"}[relation]
            assert shown == (relation if ratio > 0 else turned)


# patterns


def expanded(lines):
    """Every condition that the lines stand for: the letters in subscripts run through the ranges."""
    for text, ranges in lines:
        runs = []
        for found in re.finditer(r"([a-z]) = (\d+)(?:, (?:\\dots, )?(\d+))", ranges):
            letter, low, high = found.groups()
            runs.append([(letter, str(i)) for i in range(int(low), int(high) + 1)])
        for chosen in product(*runs):
            values = dict(chosen)
            yield re.sub(
                r"_\{([^}]*)\}",
                lambda match, values=values: "_{" + ",".join(values.get(i, i) for i in match[1].split(",")) + "}",
                text,
            )


def plain(conditions):
    return [f"{expression_latex(left)} &{relation} {expression_latex(right)}" for left, relation, right in conditions]


@st.composite
def condition_families(draw):
    """Conditions with holes and repetitions: some patterns are full, some not."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 4))
        shape = draw(st.integers(0, 3))
        for i, j in product(range(rows), range(columns)):
            if draw(st.integers(0, 9)) == 0:
                continue
            found.append(
                [
                    (W(2, i, j), ">", sympy.Integer(0)),
                    (W(2, i, j) * W(1, j, 0), "=", a(2, i, j) * a(1, j, 0)),
                    (W(3, 0, i) * b(2, i) * W(1, j, j), "=", sympy.Integer(2)),
                    (W(1, i, i) + W(1, i, j), r"\le", sympy.Rational(1, 2)),
                ][shape]
            )
    return draw(st.permutations(found)) if draw(st.booleans()) else found


@settings(max_examples=120)
@given(condition_families())
def test_collapsed_lines_stand_for_exactly_their_conditions(conditions):
    lines = collapsed(conditions)
    assert sorted(set(expanded(lines))) == sorted(set(plain(conditions)))
    assert len(list(expanded(lines))) == len(set(plain(conditions)))


def test_a_pattern_that_repeats_is_one_line():
    rows, columns = range(6), range(1, 6)
    conditions = [(W(2, i, j), ">", sympy.Integer(0)) for i in rows for j in columns]
    assert collapsed(conditions) == [("W^{(2)}_{i,j} &> 0", r"i = 1, \dots, 6,\ j = 2, \dots, 6")]
    assert len(collapsed(conditions[:-1])) == 5  # a hole: column by column
    diagonal = [(W(1, i, i), "=", sympy.Integer(1)) for i in rows]
    assert collapsed(diagonal) == [("W^{(1)}_{i,i} &= 1", r"i = 1, \dots, 6")]
    products = [
        (W(3, k, j) * W(2, j, i) * W(1, i, 0), "=", a(3, k, j) * a(2, j, i) * a(1, i, 0))
        for k in range(2)
        for j in range(3)
        for i in range(4)
    ]
    assert len(collapsed(products)) == 1


def test_fractions_collapse_with_their_own_indices():
    t, i = sympy.symbols("t i", real=True)
    bounds = [(t, ">", sympy.Symbol(f"c2_{j}", real=True) / a(2, j, 0)) for j in range(3)]
    assert collapsed(bounds) == [(r"t &> \frac{c^{(2)}_{i}}{a^{(2)}_{i,1}}", r"i = 1, \dots, 3")]
    mixed = [(W(1, j, 0) / W(2, 1, j) ** 2, "=", a(3, 0, j) / a(1, j, 2)) for j in range(3)]
    assert sorted(expanded(collapsed(mixed))) == sorted(plain(mixed))
    named = [(W(1, j, 0), "=", i) for j in range(2)]  # a letter called i is not a running index
    assert collapsed(named, NameTable(["W1_0_0", "W1_1_0"], ["i"])) == [("W^{(1)}_{j,1} &= i", "j = 1, 2")]


def test_letters_collapse_in_sets():
    variables = tuple(W(1, i, j) for i in range(2) for j in range(3))
    described = BasicSet(variables, tuple(v - a(1, i, j) for v, (i, j) in zip(
        variables, product(range(2), range(3)), strict=True)))  # fmt: skip
    assert r"W^{(1)}_{i,j} &= a^{(1)}_{i,j} && (i = 1, 2,\ j = 1, \dots, 3)" in to_latex(described)


# components


def test_components_count_from_one_and_words_are_escaped():
    text = to_latex(fiber(gallery.network("line_1_1_1_1")))
    assert re.findall(r"\\subsection\*\{Component (\d):", text) == ["1", "2"]
    assert r"ReLU network 1-1-1-1 on $\mathbf{R}^{1}$" in text
    assert "direction -1" in text
    assert text.isascii()
    assert standalone(text).count(r"\begin{document}") == 1


def test_strictness_by_hand():
    text = to_latex(fiber(gallery.network("hidden_with_dead_2_2_2_1")), 0)
    assert r"W^{(2)}_{2,i} &< 0 && (i = 1, 2)" in text
    assert not re.search(r"\\[lg]e\b", text)
    text = to_latex(fiber(gallery.network("constant_2_2_2_1")))
    assert r"W^{(2)}_{i,j} &\le 0 && (i = 1, 2,\ j = 1, 2)" in text
    assert not re.search("&[<>]", text)


def test_flips_with_letters_are_written_without_divisors():
    found = fiber(Network.generic(2, 2, 2, 1, signs=["+--", "+--"]))
    text = to_latex(found, 1)
    assert "frac" not in text[text.index("As a set") :]
    assert "frac" in text


# large fibers


def test_the_digits_fiber_is_short_and_its_table_is_complete():
    net = read_network(DIGITS)
    text = to_latex(fiber(net))
    assert len(text.encode()) < 20_000
    assert r"W^{(3)}_{i,j} W^{(2)}_{j,k} \lambda_k &= \varepsilon_j A^{(3)}_{i,j} A^{(2)}_{j,k}" in text
    assert "1, \\dots, 16" in text
    table = values_latex(net)
    shown = []
    for body in re.findall(r"\\begin\{array\}\{\*\{\d+\}\{c\}\} (.*?) \\end\{array\}", table):
        shown += [entry for row in body.split(r" \\ ") for entry in row.split(" & ")]
    values = [sympy.Rational(re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r"\1/\2", entry)) for entry in shown]
    assert values == [sympy.Rational(int(v.p), int(v.q)) for v in net.parameters.values()]


def test_the_general_form_is_given_where_the_network_itself_is_the_base():
    for name in gallery.names():
        net = gallery.network(name)
        try:
            found = fiber(net)
        except Exception:
            continue
        for component in found.components:
            lines = general_form(component, net)
            own = component.direction is None and name not in ("one_layer_space_2_3_1", "one_layer_box_2_2_1")
            assert (lines is not None) == own
            assert general_form(component, None) is None
            if lines is not None and component.kind == "visible":
                text = "\n".join(lines)
                assert f"$S = {index_set(component.flips)}$" in text
                for q in component.numbers_of_linear_rows:
                    assert f"(dimension {component.part_dimension(q)})" in text
            if lines is not None and component.kind == "hidden":
                assert f"$h = {component.frame.column + 1}$" in "\n".join(lines)


def test_index_sets():
    assert index_set((2, 0, 1, 5, 6)) == r"\{1, \dots, 3, 6, 7\}"
    assert index_set((0, 1)) == r"\{1, 2\}"


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("x'", r"\mathrm{x[27]}"),
        ("x y", r"\mathrm{x[20]y}"),
        ("x_1", "x_{1}"),
        ("λ", r"\lambda"),
        ("rank", r"\mathrm{rank}"),
    ],
)
def test_conditions_are_written_with_the_names_of_the_document(name, latex):
    letter = sympy.Symbol(name, positive=True)
    b, c, e = sympy.symbols("b c e", positive=True)
    found = fiber(Network([([[1, 0], [0, 1]], [0, 0]), ([[letter, -b], [c, -e]], [-1, -3]), ([[1, 2]], [0])]))
    (line,) = [line for line in to_latex(found).splitlines() if "exists iff" in line]
    assert line in [rf"\noindent It exists iff ${first} - {second} = 0$.\par" for first, second in
                    [("b c", f"e {latex}"), (f"{latex} e", "b c"), (f"e {latex}", "b c")]]  # fmt: skip


def test_what_is_no_condition_stays_inert():
    assert condition_latex("a$ \\input{x}", NameTable(letters=["a"])) == r"$a\$ \textbackslash{}\mathrm{input}\{x\}$"


def test_the_orthant_has_its_sign_below():
    net = Network([([[1, 2]], [-1]), ([[1]], [0])], Orthant(2))
    assert r"on $\mathbf{R}^{2}_{\ge 0}$." in to_latex(fiber(net))
