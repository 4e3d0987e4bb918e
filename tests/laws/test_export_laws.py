"""What every export obeys, on every gallery component: the target reads the same set, exactly (theory §2.3, §3.4).

z3 and cvc5 run the SMT-LIB text; Singular, Macaulay2 and pdflatex run theirs where they are installed; Mathematica's
and Sage's text is parsed back. Judges at points are the sets' own `contains`, which the oracle judges elsewhere.
"""

import ast
import os
import random
import re
import shutil
import subprocess
import sys
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import KINDS, gallery_fibers, networks_of, some_components
from sympy.parsing.mathematica import parse_mathematica

from semialg_fibers import gallery
from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.exchange import latex
from semialg_fibers.exchange.exporters import (
    WRITERS,
    from_json,
    to_json,
    to_latex,
    to_macaulay2,
    to_mathematica,
    to_sage,
    to_singular,
    to_smtlib,
)
from semialg_fibers.exchange.latex import standalone, values_latex
from semialg_fibers.exchange.traversal import document_of
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.geometry.scalar import exact
from semialg_fibers.geometry.semialgebraic import BasicSet, SemialgebraicSet
from semialg_fibers.networks.layer import Network

COMPONENTS = [
    (f"{name}-{i}", component) for name, found in gallery_fibers() for i, component in enumerate(found.components)
]
every_component = pytest.mark.parametrize("component", [c for _, c in COMPONENTS], ids=[name for name, _ in COMPONENTS])
every_kind = pytest.mark.parametrize("kind", KINDS)

X, Y, A, B, N = (
    sympy.Symbol("x", real=True),
    sympy.Symbol("y_1", real=True),
    sympy.Symbol("a1_0_0", positive=True),
    sympy.Symbol("b", negative=True),
    sympy.Symbol("n", real=True, nonzero=True),
)
# Everything that a syntax could spoil: signs, fractions, powers, products of sums, letters, strictness, a constant.
HARD = BasicSet(
    (X, Y),
    (-(X**2) * Y / 2 + sympy.Rational(-7, 3), (X - Y) * (X + 2 * Y) ** 2 - A * B),
    (-X, X * Y - sympy.Rational(10**30 + 1, 7), -(X**3) + N, sympy.Integer(1)),
    (X - 1, A * X - B * Y / 3),
)
HARD_NUMBERS = HARD.subs({A: "2/3", B: -5, N: "-1/2"})


def points(described, seed):
    """Members and non-members of a set: samples, and samples with a coordinate or two moved."""
    rng = random.Random(seed)
    for part in described.parts:
        inside = {v.name: value for v, value in part.sample(seed).items()}
        yield inside
        for _ in range(4):
            moved = dict(inside)
            for name in rng.sample(list(inside), min(2, len(inside))):
                change = rng.choice([inside[name] * -1, inside[name] + sympy.Rational(1, 7), sympy.Integer(0)])
                moved[name] = change
            yield moved


def anywhere(variables, seed, count=12):
    rng = random.Random(seed)
    for _ in range(count):
        yield {v.name: sympy.Rational(rng.randint(-12, 12), rng.randint(1, 3)) for v in variables}


def without_comments(text, mark):
    return "\n".join(line for line in text.splitlines() if not line.startswith(mark))


# SMT-LIB


def z3_says(text, points, named):
    """Whether z3 finds the text satisfiable at each point; and a model's values, or None."""
    z3 = pytest.importorskip("z3")
    solver = z3.Solver(ctx=z3.Context())
    solver.from_string(text)
    verdicts = []
    for point in points:
        solver.push()
        for name, value in point.items():
            solver.add(z3.Real(named(name), solver.ctx) == z3.Q(int(value.p), int(value.q), solver.ctx))
        verdicts.append(str(solver.check()))
        solver.pop()
    solver.set("timeout", 3000)
    model = None
    if str(solver.check()) == "sat":
        found = solver.model()
        values = {d.name(): found[d] for d in found.decls() if d.arity() == 0}
        if all(z3.is_rational_value(value) for value in values.values()):
            model = {name: sympy.Rational(value.as_string()) for name, value in values.items()}
    return verdicts, model


def smt_value(value):
    text = str(abs(value.p)) if value.q == 1 else f"(/ {abs(value.p)} {value.q})"
    return f"(- {text})" if value.p < 0 else text


def cvc5_says(text, points):
    cvc5 = pytest.importorskip("cvc5")
    solver = cvc5.Solver()
    symbols = cvc5.SymbolManager(solver)

    def run(commands):
        parser, replies = cvc5.InputParser(solver, symbols), ""
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, commands, "export")
        while not (command := parser.nextCommand()).isNull():
            replies += command.invoke(solver, symbols)
        return replies.strip()

    assert run("(set-option :incremental true)\n" + text) == ""
    verdicts = []
    for point in points:
        fixed = "".join(f"(assert (= {name} {smt_value(value)}))\n" for name, value in point.items())
        verdicts.append(run(f"(push 1)\n{fixed}(check-sat)\n(pop 1)"))
    return verdicts


def assert_solvers_agree(described, seed, extra=()):
    text = to_smtlib(described)
    tried = [*points(described, seed), *extra] if not extra else list(extra)
    wanted = ["sat" if described.contains(point) else "unsat" for point in tried]
    verdicts, model = z3_says(text, tried, str)
    assert verdicts == wanted
    assert cvc5_says(text, tried) == wanted
    return model, wanted


@every_component
def test_smt_solvers_find_the_samples_in_the_set_and_the_others_outside(component):
    model, wanted = assert_solvers_agree(component.set, 5)
    assert {"sat", "unsat"} == set(wanted)
    if model is not None:
        full = {v.name: model.get(v.name, sympy.Integer(0)) for v in component.set.variables}
        assert component.set.contains(full)


def test_z3_gives_rational_members_of_most_components():
    """So that the test above says something about models."""
    pytest.importorskip("z3")
    found = [z3_says(to_smtlib(c.set), [], str)[1] for _, c in COMPONENTS[::4]]
    assert sum(model is not None for model in found) > len(found) / 2


def test_smt_solvers_read_what_is_hard_to_write():
    assert_solvers_agree(HARD_NUMBERS, 0, list(anywhere((X, Y), 3)))
    loose = BasicSet((X, Y), (), (1 - X**2 / 2, -Y), (X + Y / 3,))
    assert_solvers_agree(loose, 0, list(anywhere((X, Y), 4, 30)))


def test_divisors_are_cleared_and_signs_kept():
    pytest.importorskip("z3")
    described = BasicSet((X,), (X / A + 1 / (A * B),), (X / B - 1, X / N + 3), (X / (A * N),))
    text = to_smtlib(described)
    rng = random.Random(1)
    for _ in range(30):
        values = {A: sympy.Rational(rng.randint(1, 3)), B: -sympy.Rational(rng.randint(1, 3), 2)}
        values[N] = sympy.Integer(rng.choice([-2, -1, 1, 2]))
        x = rng.choice([-1 / values[B], sympy.Integer(rng.randint(-3, 3))])
        point = {"x": x} | {letter.name: value for letter, value in values.items()}
        loose = BasicSet((X,), (), described.positive, described.nonnegative).subs(values).contains([x])
        wanted = described.subs(values).contains([x])
        assert z3_says(text, [point], str)[0] == ["sat" if wanted else "unsat"]
        assert z3_says(to_smtlib(BasicSet((X,), (), described.positive, described.nonnegative)), [point], str)[0] == [
            "sat" if loose else "unsat"
        ]
    real = sympy.Symbol("r", real=True)
    with pytest.raises(InvalidNetworkError, match="divided by r, which may be zero"):
        to_smtlib(BasicSet((X,), (), (X / real,)))


def test_letters_are_constants_with_their_signs():
    pytest.importorskip("z3")
    described = SemialgebraicSet((BasicSet((X,), (X - A * N,), (B + X,)), BasicSet((X,), (X - 7,))))
    text = to_smtlib(described)
    for name in ("a1_0_0", "b", "n", "x"):
        assert f"(declare-fun {name} () Real)" in text
    for line in ("(assert (> a1_0_0 0))", "(assert (< b 0))", "(assert (not (= n 0)))"):
        assert line in text
    cases = [
        ({"a1_0_0": 2, "n": 3, "b": -1, "x": 6}, "sat"),
        ({"a1_0_0": -2, "n": -3, "b": -1, "x": 6}, "unsat"),
        ({"a1_0_0": 2, "n": 3, "b": -6, "x": 6}, "unsat"),  # b + x > 0 is strict
        ({"a1_0_0": 2, "n": 3, "b": -6, "x": 7}, "sat"),
        ({"n": 0}, "unsat"),
        ({"b": 0}, "unsat"),
    ]
    exactly = [{k: sympy.Integer(v) for k, v in case.items()} for case, _ in cases]
    assert z3_says(text, exactly, str)[0] == [verdict for _, verdict in cases]


@every_kind
@settings(max_examples=2)
@given(st.data())
def test_smt_solvers_agree_on_random_networks(kind, data):
    component = data.draw(st.sampled_from(some_components(data, fiber(data.draw(networks_of(kind))))))
    assert_solvers_agree(component.set, 1)


# letters of a symbolic network

GENERIC = [
    Network.generic(2, 2, 1, 1, signs=["+--"]),
    Network.generic(2, 2, 2, 1, signs=["+--", "+--"]),
    Network.generic(2, 2, 2, 1, signs=["+-+", "+++"]),
    Network.generic(2, 2, 2, 1, signs=["+-+", "---"]),
]
every_generic = pytest.mark.parametrize("net", GENERIC, ids=range(len(GENERIC)))


def numbers_for(net, seed):
    """Numbers for the letters, of the declared signs, for which the flips of a hidden network exist too."""
    rng = random.Random(seed)
    values = {}
    for letter in net.symbols:
        size = sympy.Rational(rng.randint(1, 9), rng.randint(1, 3))
        values[letter] = -size if letter.is_negative else size if letter.is_positive else rng.choice([-1, 1]) * size
    named = {letter.name: letter for letter in values}
    if "a2_1_1" in named:
        a, b, c = (values[named[f"a2_{i}_{j}"]] for i, j in ((0, 0), (0, 1), (1, 0)))
        wanted = b * c / a
        if (wanted > 0) == (values[named["a2_1_1"]] > 0):
            values[named["a2_1_1"]] = wanted
    return values


@every_generic
def test_a_symbolic_component_at_numbers_is_the_component_of_the_numbers(net):
    """The SMT-LIB text with letters, with values for all: satisfiable exactly at the members for these numbers."""
    values = numbers_for(net, 3)
    for component in fiber(net).components:
        if not component.condition.holds(values):
            continue
        numeric = component.subs(values).set
        text = to_smtlib(component)
        tried = [point for seed in range(2) for point in points(numeric, seed)]
        full = [point | {letter.name: value for letter, value in values.items()} for point in tried]
        wanted = ["sat" if numeric.contains(point) else "unsat" for point in tried]
        assert set(wanted) == {"sat", "unsat"}
        assert z3_says(text, full, str)[0] == wanted
        own = {letter: value for letter, value in values.items() if letter in component.set.letters}
        assert component.set.subs(own).contains(tried[0])
        reader = SageReader(to_sage(component))
        for point, verdict in zip(full, wanted, strict=True):
            held = [reader.holds(f"0_{i}", point) for i in range(len(component.set.parts))]
            assert any(held) == (verdict == "sat")


@every_generic
def test_symbolic_fibers_come_back_from_json_and_say_their_conditions(net):
    found = fiber(net)
    read = assert_round_trip(found)
    for section, component in zip(read.sections, found.components, strict=False):
        assert (section.condition is None) == component.condition.always
        if section.condition is not None:
            for write in (to_latex, to_smtlib, to_singular, to_macaulay2, to_sage, to_mathematica):
                assert "exists iff" in write(found, section.number)


# Singular and Macaulay2


def program(name):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


def run_singular(text):
    done = subprocess.run(
        [program("Singular"), "-q", "--no-rc"], input=f"{text}quit;\n", capture_output=True, text=True, check=True
    )
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith("//")]
    assert not any("?" in line or "error" in line for line in lines), done.stdout
    return lines


def run_macaulay2(text, tmp_path):
    path = tmp_path / "export.m2"
    path.write_text(text)
    done = subprocess.run([program("M2"), "--script", str(path)], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_singular_finds_the_dimensions_of_all_parts():
    """One run for all parts; the equations alone have the part's dimension, over the complex numbers too."""
    for _, component in COMPONENTS:
        text = to_singular(component)
        for i in range(len(component.set.parts)):
            text += f"dim(std(equations_0_{i})); size(positive_0_{i}); size(nonnegative_0_{i});\n"
        found = list(map(int, run_singular(text)))
        wanted = [[p.dimension, len(p.positive), len(p.nonnegative)] for p in component.set.parts]
        assert found == [value for triple in wanted for value in triple]


def test_macaulay2_finds_the_dimensions_of_a_dozen_parts(tmp_path):
    program("M2")
    chosen = [c for _, c in COMPONENTS[::2]]
    assert len(chosen) >= 12
    text, wanted = "", []
    for component in chosen:
        text += to_macaulay2(component)
        for i, part in enumerate(component.set.parts):
            text += f"print dim equations0p{i}\nprint(#positive0p{i}, #nonnegative0p{i})\n"
            wanted += [str(part.dimension), f"({len(part.positive)},", f"{len(part.nonnegative)})"]
    assert run_macaulay2(text, tmp_path) == wanted


def system_values(point):
    return {name: f"({value})" for name, value in point.items()}


def test_singular_computes_the_same_values():
    """Each polynomial of the hard set at points, by substitution in Singular."""
    text = to_singular(HARD_NUMBERS)
    wanted = []
    for point in anywhere((X, Y), 8, 4):
        for name, kind in (("equations", "equations"), ("positive", "positive"), ("nonnegative", "nonnegative")):
            for i, e in enumerate(getattr(HARD_NUMBERS, kind)):
                text += f"subst(subst(poly({name}_0_0[{i + 1}]),x,{point['x']}),y_1,{point['y_1']});\n"
                wanted.append(str(e.subs({X: point["x"], Y: point["y_1"]})))
    assert run_singular(text) == wanted


def test_macaulay2_computes_the_same_values(tmp_path):
    text = to_macaulay2(HARD_NUMBERS)
    wanted = []
    for point in anywhere((X, Y), 8, 4):
        for name in ("positive", "nonnegative"):
            for i, e in enumerate(getattr(HARD_NUMBERS, name)):
                text += f"print toString sub(sub({name}0p0_{i},R), {{x=>{point['x']}/1, yi1=>{point['y_1']}/1}})\n"
                wanted.append(str(e.subs({X: point["x"], Y: point["y_1"]})))
    assert run_macaulay2(text, tmp_path) == wanted


def test_letters_are_parameters_of_the_algebra_systems(tmp_path):
    curve = BasicSet((X, Y), (A * X * Y - B / 2, N * X - 1), (X,))
    text = to_singular(curve)
    assert "ring R = (0, a1_0_0, b, n), (x, y_1), dp;" in text
    assert {"// a1_0_0 > 0", "// b < 0", "// n != 0"} <= set(text.splitlines())
    assert run_singular(text + "dim(std(equations_0_0));\n") == ["0"]
    text = to_macaulay2(curve)
    assert "R = frac(QQ[a1i0j0, b, n])[x, yi1]" in text
    assert run_macaulay2(text + "print dim equations0p0\n", tmp_path) == ["0"]


# Mathematica and Sage, parsed back


def mathematica_parts(text):
    body = re.sub(r"\(\*.*?\*\)", "", text)
    statements = dict(re.findall(r"(\w+) = (.*?);", body, re.DOTALL))
    return statements


def mathematica_name(name):
    head, *indices = name.split("_")
    return head + "".join(letter + index for letter, index in zip("ijkl", indices, strict=False))


def mathematica_holds(statement, point):
    values = {sympy.Symbol(mathematica_name(name)): value for name, value in point.items()}
    return bool(parse_mathematica(statement.replace("\n", " ")).subs(values))


@every_component
def test_mathematica_reads_the_same_set(component):
    statements = mathematica_parts(to_mathematica(component))
    assert statements["set"].split(" || ") == [f"part0p{i}" for i in range(len(component.set.parts))]
    for point in list(points(component.set, 2))[:3]:
        for i, part in enumerate(component.set.parts):
            assert mathematica_holds(statements[f"part0p{i}"], point) == part.contains(point)


def test_mathematica_reads_what_is_hard_to_write():
    loose = BasicSet((X, Y), (), (1 - X**2 / 2, -Y), (X + Y / 3, (X - Y) * (X + Y - 1)))
    for described in (HARD_NUMBERS, loose):
        statement = mathematica_parts(to_mathematica(described))["part0p0"]
        for point in anywhere((X, Y), 5, 20):
            assert mathematica_holds(statement, point) == described.contains(point)
    statements = mathematica_parts(to_mathematica(HARD))
    assert statements["letters"] == "{a1i0j0, b, n}"
    assert statements["assumptions"] == "a1i0j0 > 0 && b < 0 && n != 0"


class SageReader:
    """The values of lists of polynomials in Sage's text: a walk through the syntax tree, nothing is run."""

    def __init__(self, text):
        """Keep the lists."""
        self.assigned = {}
        for statement in ast.parse(text).body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List):
                self.assigned[statement.targets[0].id] = statement.value.elts
        self.text = text

    def value(self, node, point):
        operations = {ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Pow: "__pow__"}
        if isinstance(node, ast.BinOp):
            left, right = self.value(node.left, point), self.value(node.right, point)
            return getattr(Fraction(left), operations[type(node.op)])(right)
        if isinstance(node, ast.UnaryOp):
            assert isinstance(node.op, ast.USub)
            return -self.value(node.operand, point)
        if isinstance(node, ast.Constant):
            assert type(node.value) is int
            return node.value
        if isinstance(node, ast.Name):
            return point[node.id]
        assert isinstance(node, ast.Call)
        assert node.func.id == "QQ"
        p, q = (self.value(part, point) for part in node.args[0].elts)
        return Fraction(p, q)

    def holds(self, where, point):
        values = {name: Fraction(int(value.p), int(value.q)) for name, value in point.items()}
        rows = [[self.value(e, values) for e in self.assigned[f"{kind}_{where}"]] for kind in
                ("equations", "positive", "nonnegative")]  # fmt: skip
        return all(v == 0 for v in rows[0]) and all(v > 0 for v in rows[1]) and all(v >= 0 for v in rows[2])


@every_component
def test_sage_reads_the_same_set(component):
    reader = SageReader(to_sage(component))
    for point in points(component.set, 2):
        for i, part in enumerate(component.set.parts):
            assert reader.holds(f"0_{i}", point) == part.contains(point)
    assert f"R = PolynomialRing(QQ, {[v.name for v in component.set.variables]})" in reader.text


def test_sage_reads_what_is_hard_to_write():
    loose = BasicSet((X, Y), (), (1 - X**2 / 2, -Y), (X + Y / 3, (X - Y) * (X + Y - 1)))
    for described in (HARD_NUMBERS, loose):
        reader = SageReader(to_sage(described))
        for point in anywhere((X, Y), 5, 20):
            assert reader.holds("0_0", point) == described.contains(point)
    text = to_sage(HARD)
    assert "K = FractionField(PolynomialRing(QQ, ['a1_0_0', 'b', 'n']))" in text
    assert "R = PolynomialRing(K, ['x', 'y_1'])" in text
    reader = SageReader(text)
    values = {A: sympy.Rational(2, 3), B: sympy.Integer(-5), N: sympy.Rational(-1, 2)}
    for point in anywhere((X, Y), 6):
        full = point | {letter.name: value for letter, value in values.items()}
        assert reader.holds("0_0", full) == HARD_NUMBERS.contains(point)


# LaTeX


def test_every_latex_export_compiles(tmp_path, monkeypatch):
    """All of the gallery, the hard set, letters and the large fiber in letters, in one run."""
    body = "".join(f"{to_latex(found)}\\clearpage\n" for _, found in gallery_fibers())
    body += "".join(f"{to_latex(s)}\\clearpage\n{to_latex(SemialgebraicSet((s,)) | s)}" for s in (HARD, HARD_NUMBERS))
    body += "".join(f"{to_latex(fiber(net))}\\clearpage\n" for net in GENERIC)
    body += values_latex(gallery.network("flips_3_3_1_1"))
    monkeypatch.setattr(latex, "LARGE", 0)  # now in the letters of a large network
    body += "".join(f"{to_latex(found)}\\clearpage\n" for _, found in gallery_fibers())
    assert body.count("stand in a table of their own") > 25
    (tmp_path / "export.tex").write_text(standalone(body), encoding="ascii")
    command = [program("pdflatex"), "-halt-on-error", "-interaction=nonstopmode", "export.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "export.pdf").stat().st_size > 10_000


# JSON


def assert_round_trip(described):
    text = to_json(described)
    document = document_of(described)
    read = from_json(text)
    assert read == document
    for name, writer in WRITERS.items():
        if name != "latex" or len(document.variables) < 200:
            assert writer(read) == writer(described)
    for section, original in zip(read.sections, document.sections, strict=True):
        for part, real in zip(section.parts, original.parts, strict=True):
            assert part == real
            assert (part.headings, part.known_dimension) == (real.headings, real.known_dimension)
    return read


@every_component
def test_components_come_back_from_json(component):
    read = assert_round_trip(component)
    assert read.sections[0].image == component.parametrization
    assert SemialgebraicSet(read.sections[0].parts) == component.set


def test_fibers_and_sets_come_back_from_json():
    for _, found in gallery_fibers():
        read = assert_round_trip(found)
        last = found.component_count - 1
        assert from_json(to_json(found, last)).sections == read.sections[-1:]
        assert to_json(from_json(to_json(found, last))) == to_json(found, last)
        assert to_json(read, last) == to_json(found, last)
    for described in (HARD, HARD_NUMBERS, SemialgebraicSet((HARD, HARD.subs({B: -1}))), BasicSet((X,))):
        assert SemialgebraicSet(assert_round_trip(described).sections[0].parts) == SemialgebraicSet(described.parts)


@every_kind
@settings(max_examples=3)
@given(st.data())
def test_random_components_come_back_from_json(kind, data):
    for component in some_components(data, fiber(data.draw(networks_of(kind))), 2):
        assert_round_trip(component)


# all of them


MARKS = {"smtlib": ";", "singular": "//", "macaulay2": "--", "sage": "#", "mathematica": "(*", "latex": "%"}


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_no_export_has_a_float_and_every_strict_inequality_stays_strict(name):
    for described in [HARD, *(found for _, found in gallery_fibers())]:
        text = without_comments(WRITERS[name](described), MARKS.get(name, "no comment"))
        assert not re.search(r"\d\.\d|\d[eE][-+]?\d(?!\w*_)", re.sub(r"[A-Za-z_]\w*", "v", text))
        parts = [part for section in document_of(described).sections for part in section.parts]
        strict = sum(len(part.positive) for part in parts)
        weak = sum(len(part.nonnegative) for part in parts)
        if name == "smtlib":
            declared = text.count("(assert (> ")
            assert (text.count("(> ") - declared, text.count("(>= ")) == (strict, weak)
        if name == "mathematica":
            body = re.sub(r"assumptions = .*;", "", text)
            assert (len(re.findall(r" > 0", body)), len(re.findall(r" >= 0", body))) == (strict, weak)


def test_texts_are_the_same_in_every_process():
    """SymPy's own order of factors follows the hashes of strings, which differ from process to process."""
    program_text = (
        "from semialg_fibers import gallery\n"
        "from semialg_fibers.exchange.exporters import WRITERS\n"
        "from semialg_fibers.fibers.bottleneck import fiber\n"
        "for write in WRITERS.values():\n"
        "    print(write(fiber(gallery.network('two_linear_2_2_3_2'))))\n"
    )
    own = "".join(f"{write(fiber(gallery.network('two_linear_2_2_3_2')))}\n" for write in WRITERS.values())
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        run = subprocess.run(
            [sys.executable, "-c", program_text], capture_output=True, encoding="utf-8", check=True, env=environment
        )
        assert run.stdout == own


def test_names_that_a_language_does_not_allow_are_changed_and_stay_different():
    odd = [sympy.Symbol(name, real=True) for name in ("R", "Rx", "lambda", "θ", "x_1", "xi1", "E", "part_0_0", "_z")]
    described = BasicSet(tuple(odd), (sum((k + 1) * s for k, s in enumerate(odd)),), tuple(odd))
    for name in ("smtlib", "singular", "macaulay2", "sage", "mathematica"):
        text = without_comments(WRITERS[name](described), MARKS[name])
        assert text.isascii()
    ast.parse(to_sage(described))
    values = {s.name: exact(1) for s in odd}
    assert not described.contains(values)
    verdicts = cvc5_says(to_smtlib(described), [])
    assert verdicts == []
    program("Singular")
    assert run_singular(to_singular(described) + "nvars(R); dim(std(equations_0_0));\n") == ["9", "8"]


WORDS = (
    "pi zeta Gamma ii set list sum end and mod div std dim ideal matrix Pi Sin res lambda λ λ_1 é x_λ match exists "
    "char_series push nc_algebra atan2 equations0p0 rank abs in if or t_ x"
)


def test_words_of_the_targets_are_renamed_and_the_renaming_is_stated():
    described = BasicSet((Y,), (Y - sum(k * sympy.Symbol(n, real=True) for k, n in enumerate(WORDS.split(), 1)),))
    for name in ("smtlib", "singular", "macaulay2", "sage", "mathematica"):
        text = WRITERS[name](described)
        assert text.isascii()
        assert re.search(r"and is written \w+ here" if name != "mathematica" else r"Pi is written Pi0 here", text)
        assert r"\u03bb is written lambda" in text
    ast.parse(to_sage(described))
    assert z3_says(to_smtlib(described), [], str)[0] == []
    assert cvc5_says(to_smtlib(described), [{}]) == ["sat"]


def test_singular_reads_letters_called_like_its_words():
    described = BasicSet((Y,), tuple(Y - sympy.Symbol(n, real=True) for n in WORDS.split()))
    assert run_singular(to_singular(described) + "ncols(equations_0_0); npars(R);\n") == [str(len(WORDS.split()))] * 2


def test_macaulay2_reads_letters_called_like_its_words(tmp_path):
    described = BasicSet((Y,), tuple(Y - sympy.Symbol(n, real=True) for n in WORDS.split()))
    text = to_macaulay2(described) + "print numgens equations0p0\n"
    assert run_macaulay2(text, tmp_path) == [str(len(WORDS.split()) + 1)]
