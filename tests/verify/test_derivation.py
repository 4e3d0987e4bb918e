"""The checker against those who would deceive it: forged steps, forged sizes, forged data, hostile files."""

import json
import random
import subprocess
from shutil import which

import pytest
from guard import GUARD
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, SemialgError
from semialg_fibers.exchange.certificates import StoredProof
from semialg_fibers.verify.declarations import declared_text
from semialg_fibers.verify.derivation import Claim, Derivation, Gap, Line, first_gap
from semialg_fibers.verify.expressions import (
    Statement,
    Term,
    apply,
    equal,
    identity,
    matrix,
    nonnegative,
    nonpositive,
    positive,
    product,
    relu,
    zero,
)
from semialg_fibers.verify.free_ring import normal_form
from semialg_fibers.verify.notation import latex_name, latex_sentence_of
from semialg_fibers.verify.rules import RULES
from semialg_fibers.verify.theorems import THEOREMS, theorem

A, B = matrix("A", "n", "n"), matrix("B", "n", "n")
P, D = matrix("P", "n", "n"), matrix("D", "n", "n")
Z, W = matrix("Z", 1, "n"), matrix("W", "d", "n")
x, y = matrix("x", 1, 1), matrix("y", 1, 1)
permutation, diagonal = Statement("permutation", (P,)), Statement("positive diagonal", (D,))
law = Statement("equivariant right", (), "φ")


def gap_of(conclusion, *lines, given=()):
    """The gap of a derivation from lines (statement, rule, premises, assumptions), numbered from 1."""
    made = tuple(Line(str(i), *line) for i, line in enumerate(lines, 1))
    return first_gap(Claim("a claim", tuple(given), (conclusion,)), made)


def one_step(statement, rule, *premises, given=()):
    """The gap where the premises are hypotheses and the statement is to follow in one step by the rule."""
    known = [(each, "hypothesis") for each in premises]
    labels = tuple(str(i) for i in range(1, len(premises) + 1))
    return gap_of(statement, *known, (statement, rule, labels), given=(*premises, *given))


def test_an_honest_step_passes():
    assert one_step(equal(A @ B, A @ B), "ring") is None
    assert one_step(equal(product(P, P.transposed), identity("n")), "orthogonality", permutation) is None


FORGED = {
    "factors exchanged": (equal(A @ B, B @ A), "ring"),
    "factors exchanged under a function": (equal(relu(A @ B), relu(B @ A)), "ring"),
    "relu taken for linear": (equal(relu(A + B), relu(A) + relu(B)), "ring"),
    "a transpose lost": (equal(product(P, P), identity("n")), "orthogonality", permutation),
    "no permutation": (equal(product(A, A.transposed), identity("n")), "orthogonality", permutation),
    "no hypothesis for P": (equal(product(P, P.transposed), identity("n")), "orthogonality"),
    "another kind of matrix": (equal(product(D, D.transposed), identity("n")), "orthogonality", diagonal),
    "an inverse of anything": (equal(product(A, A.inverse), identity("n")), "inverse", diagonal),
    "the wrong side": (
        equal(product(P, apply("φ", A)), apply("φ", product(P, A))), "equivariance", law, permutation,
    ),
    "another function": (
        equal(product(apply("ψ", Z), P), apply("ψ", product(Z, P))), "equivariance", law, permutation,
    ),
    "another matrix inside": (
        equal(product(apply("φ", Z), P), apply("φ", product(Z, A))), "equivariance", law, permutation,
    ),
    "equivariance taken for homogeneity": (
        equal(product(apply("φ", Z), D), apply("φ", product(Z, D))), "homogeneity", law, diagonal,
    ),
    "equivariance with a diagonal matrix": (
        equal(product(apply("φ", Z), D), apply("φ", product(Z, D))), "equivariance", law, diagonal,
    ),
    "any function taken for relu": (law, "elementwise"),
    "a diagonal of other entries": (Statement("positive diagonal", (A,)), "diagonals", diagonal),
    "a sum of permutations": (Statement("permutation", (P + P,)), "permutations", permutation, permutation),
    "a sum of diagonals by products": (Statement("positive diagonal", (D + D,)), "diagonals", diagonal, diagonal),
    "conjugation by anything": (
        Statement("positive diagonal", (Term("product", A.shape, (A.transposed, D, A)),)),
        "conjugation", nonnegative(A), diagonal,
    ),
    "relu off where z ≥ 0": (equal(relu(A), zero("n", "n")), "inactive", nonnegative(A)),
    "relu on where z ≤ 0": (equal(relu(A), A), "active", nonpositive(A)),
    "relu on, another argument": (equal(relu(A), B), "active", nonnegative(A)),
    "relu on everywhere": (equal(relu(A), A), "active"),
    "a strict sum of weak terms": (positive(A + B), "sums of signs", nonnegative(A), nonnegative(B)),
    "a sum with a term too many": (nonnegative(A + B), "sums of signs", nonnegative(A)),
    "a difference": (nonnegative(A - B), "sums of signs", nonnegative(A), nonnegative(B)),
    "a strict product": (positive(product(A, B)), "products of signs", positive(A), positive(B)),
    "a product with a negative": (nonnegative(product(A, -B)), "products of signs", nonnegative(A), nonnegative(B)),
    "cancelling a weak factor": (
        nonnegative(x), "cancelling", nonnegative(product(x, y)), nonnegative(y),
    ),
    "cancelling a negative factor": (
        nonnegative(x), "cancelling", nonnegative(product(x, y)), positive(-y),
    ),
    "cancelling a matrix": (nonnegative(A), "cancelling", nonnegative(product(A, B)), positive(B)),
    "a strict conclusion of cancelling": (positive(x), "cancelling", nonnegative(product(x, y)), positive(y)),
    "a premise that is no equality": (equal(A, B), "substitution", permutation),
    "substitution of another term": (equal(A @ P, B @ P), "substitution", equal(A, A.transposed)),
    "a broken chain": (equal(A, B), "chain", equal(A, P), equal(D, B)),
    "a chain of nothing": (equal(A, B), "chain"),
    "transport along nothing": (nonnegative(B), "transport", nonnegative(A)),
    "transport of another relation": (positive(B), "transport", nonnegative(A), equal(A, B)),
    "transport backwards": (nonnegative(B), "transport", nonnegative(A), equal(B, A)),
    "symmetry of another": (equal(B, A), "symmetry", equal(A, D)),
    "an undeclared hypothesis": (nonnegative(A), "hypothesis"),
    "an unknown rule": (nonnegative(A), "obviously"),
    "a rule by another name": (equal(A @ B, A @ B), "Ring"),
    "entry by entry of something assumed": (nonnegative(relu(A)), "entry by entry", nonnegative(relu(x))),
    "entry by entry from an assumption on x": (
        equal(relu(A), A), "entry by entry", equal(relu(x), x),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_step_is_the_gap(name):
    statement, rule, *premises = FORGED[name]
    gap = one_step(statement, rule, *premises)
    assert isinstance(gap, Gap)
    assert gap.label == str(len(premises) + 1)  # the step itself, not one of the hypotheses


def test_a_hypothesis_must_be_declared_as_it_is_used():
    strict, weak = positive(x), nonnegative(x)
    assert gap_of(strict, (strict, "hypothesis"), given=[strict]) is None
    assert gap_of(strict, (strict, "hypothesis"), given=[weak]).label == "1"


def test_an_assumption_of_a_case_does_not_leak():
    case = nonnegative(x)
    assert gap_of(case, (case, "hypothesis", (), (case,))).label == "end"
    assert gap_of(case, (case, "hypothesis", (), (case,)), (case, "chain", ("1",))).label == "2"
    doubled = nonnegative(x + x)
    lines = [(case, "hypothesis", (), (case,)), (doubled, "sums of signs", ("1", "1"), ())]
    assert gap_of(doubled, *lines).label == "2"


def test_cases_need_both_sides_of_one_number():
    goal, other = equal(y, y), positive(-x)
    case = nonnegative(x)

    def by(first, second, shown=goal):
        lines = [(goal, "ring", (), (first,)), (goal, "ring", (), (second,)), (shown, "cases", ("1", "2"))]
        return gap_of(shown, *lines)

    assert by(case, other) is None
    assert by(case, case).label == "3"
    assert by(case, nonnegative(-x)).label == "3"  # true too, but not the rule
    assert by(case, positive(-y)).label == "3"
    assert by(nonnegative(A), positive(-A)).label == "3"  # a matrix may be neither
    size_one = matrix("t", "k", "k")  # k may be 1, but need not
    assert by(nonnegative(size_one), positive(-size_one)).label == "3"
    assert by(other, case).label == "3"


def test_entry_by_entry_needs_a_number_of_which_nothing_is_assumed():
    one, many = equal(relu(x), x), equal(relu(A), A)
    lines = [(nonnegative(x), "hypothesis"), (one, "active", ("1",)), (many, "entry by entry", ("2",))]
    assert gap_of(many, *lines, given=[nonnegative(x)]).label == "3"
    assumed = (nonnegative(x),)
    lines = [(each[0], each[1], each[2] if len(each) > 2 else (), assumed) for each in lines]
    assert gap_of(many, *lines).label == "3"
    constant = equal(x + identity(1), x + identity(1))  # I is 1 for numbers, but not a matrix of ones
    lifted = equal(A + identity("n"), A + identity("n"))
    assert gap_of(lifted, (constant, "ring"), (lifted, "entry by entry", ("1",))).label == "2"
    mixed = equal(x + y, y + x)  # y is another number
    assert gap_of(equal(A + B, B + A), (mixed, "ring"), (equal(A + B, B + A), "entry by entry", ("1",))).label == "2"
    square = equal(product(x, x), product(x, x))  # products are not taken entry by entry
    wide = equal(product(A, A), product(A, A))
    assert gap_of(wide, (square, "ring"), (wide, "entry by entry", ("1",))).label == "2"
    inconsistent = equal(A + B, A + B + zero("n", "n"))  # x stands for A here and for B there
    premise = equal(x + x, x + x + zero(1, 1))
    assert gap_of(inconsistent, (premise, "ring"), (inconsistent, "entry by entry", ("1",))).label == "2"


def test_labels_are_used_once_and_premises_come_before():
    goal = equal(A, A)
    claim = Claim("a claim", (), (goal,))
    line = Line("1", goal, "ring")
    assert first_gap(claim, (line,)) is None
    assert first_gap(claim, (line, line)).label == "1"
    assert first_gap(claim, (Line("1", goal, "chain", ("1",)),)).label == "1"
    forward = Line("1", goal, "chain", ("2",)), Line("2", goal, "chain", ("1",))
    assert first_gap(claim, forward).label == "1"


def test_the_conclusion_must_be_proved_and_there_must_be_one():
    goal = equal(A, B)
    assert gap_of(goal, (equal(A, A), "ring")).label == "end"
    assert first_gap(Claim("nothing", (), ()), ()).label == "claim"
    assert not Derivation(Claim("nothing", (), ()), ()).verify()


def test_one_name_has_one_use():
    other = matrix("A", "m", "m")
    assert gap_of(equal(A, A), (equal(other, other), "ring"), (equal(A, A), "ring")).label == "claim"
    assert gap_of(equal(A, A), (equal(apply("A", B), apply("A", B)), "ring"), (equal(A, A), "ring")) is not None
    phi, wide = apply("φ", Z), apply("φ", A)
    assert gap_of(equal(phi, phi), (equal(wide, wide), "ring"), (equal(phi, phi), "ring")).label == "claim"


@pytest.mark.parametrize(
    "make",
    [
        lambda: A @ matrix("C", "m", "n"),
        lambda: A + matrix("C", "n", "m"),
        lambda: equal(A, Z),
        lambda: Statement("permutation", (Z,)),
        lambda: Term("identity", ("n", "m")),
        lambda: Term("product", ("n", "m"), (A, B)),
        lambda: Term("sum", ("n", "n"), (A,)),
        lambda: Z.inverse,
        lambda: matrix("A", "n", 0),
        lambda: matrix("A", "n", True),
        lambda: matrix("A", "n", 1.0),
        lambda: matrix("A", "1", "n"),
        lambda: matrix("relu", "n", "n"),
        lambda: matrix("__import__('os')", "n", "n"),
        lambda: matrix("", "n", "n"),
        lambda: apply("relu", A, "m", "n"),
        lambda: Term("power", ("n", "n"), (A, A)),
        lambda: Statement("equal", (A, A), "φ"),
        lambda: Statement("equivariant right", (A,), "φ"),
        lambda: Statement("implies", (A, A)),
        lambda: A @ "B",
    ],
)
def test_what_is_no_matrix_expression_cannot_be_made(make):
    with pytest.raises((InvalidNetworkError, AttributeError)):
        make()


class Liar(Term):
    """Equal to everything."""

    def __eq__(self, other):
        """Lie."""
        return True

    __hash__ = Term.__hash__


class Whatever(str):
    """Equal to every label."""

    __slots__ = ()

    def __eq__(self, other):
        """Lie."""
        return True

    __hash__ = str.__hash__


def test_forged_objects_are_refused():
    """Constructors have checked everything once, but the checker trusts none of it."""
    with pytest.raises(InvalidNetworkError):
        equal(A, Liar("symbol", ("n", "n"), (), "B"))
    with pytest.raises(InvalidNetworkError):
        Term("sum", ("n", "n"), (A, Liar("symbol", ("n", "n"), (), "B")))
    claim = Claim("a claim", (), (equal(A, B),))
    statement = equal(A, B)
    object.__setattr__(statement, "terms", (A, Liar("symbol", ("n", "n"), (), "B")))
    assert first_gap(claim, (Line("1", statement, "ring"),)).label == "1"
    bent = matrix("A", "n", "n")
    object.__setattr__(bent, "shape", (1, 1))
    assert first_gap(claim, (Line("1", equal(A @ B, A @ B), "ring"), Line("2", equal(bent, bent), "ring"))) is not None
    broken = A @ B
    object.__setattr__(broken, "shape", ("n", "m"))
    forged = equal(A, A)
    object.__setattr__(forged, "terms", (broken, broken))
    assert first_gap(claim, (Line("1", forged, "ring"),)).label == "1"
    assert first_gap(claim, (Line("1", claim.conclusions[0], Whatever("ring")),)) is not None
    assert first_gap(claim, (Line(Whatever("1"), claim.conclusions[0], "ring"),)) is not None
    assert first_gap(claim, [Line("1", equal(A, A), "ring")]).label == "claim"
    assert first_gap(Claim(None, (), (equal(A, A),)), (Line("1", equal(A, A), "ring"),)).label == "claim"
    assert first_gap(Claim("a", [], (equal(A, A),)), (Line("1", equal(A, A), "ring"),)).label == "claim"


def test_what_is_too_large_to_multiply_out_is_not_accepted():
    total = A + B
    for _ in range(30):
        total = product(total, A + B)
    with pytest.raises(BudgetExceededError):
        normal_form(total)
    gap = gap_of(equal(total, total), (equal(total, total), "ring"))
    assert gap.is_open
    assert not gap_of(equal(A, B), (equal(A, B), "ring")).is_open
    assert gap.label == "1"
    assert "could not be applied" in gap.reason


# Steps, text, LaTeX, JSON


@pytest.mark.parametrize("name", THEOREMS)
def test_steps_check_themselves_and_print(name):
    proof = theorem(name)
    assert all(step.check() for step in proof.steps)
    text, latex = proof.to_text(), proof.to_latex()
    assert all(f"({step.label}) {step.statement}" in text for step in proof.steps)
    assert all(RULES[step.rule].words in text for step in proof.steps)
    assert latex.count(r"\tag*{") == len(proof.steps)
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\begin{align*}") == latex.count(r"\end{align*}")


@pytest.mark.skipif(which("pdflatex") is None, reason="pdflatex is missing: install TeX Live with amsmath")
def test_latex_is_accepted_by_latex(tmp_path):
    bodies = "\n".join(theorem(name).to_latex() for name in THEOREMS)
    forged = Derivation(Claim("50% of {a_b} \\ & ~^#$", (), (equal(A, A),)), (Line("1_%", equal(A, A), "r{ing"),))
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
    (tmp_path / "proofs.tex").write_text(f"{head}{bodies}\n{forged.to_latex()}\n\\end{{document}}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "proofs.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=GUARD, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_a_step_that_does_not_follow_says_so():
    proof = theorem("permutation_symmetry")
    bad = Line("3", equal(A @ B, B @ A), "ring")
    steps = Derivation(proof.claim, (*proof.lines[:2], bad)).steps
    assert [step.check() for step in steps] == [True, True, False]
    assert not Derivation(proof.claim, proof.lines[3:]).steps[2].check()  # its premise is missing


@pytest.mark.parametrize("name", THEOREMS)
def test_json_gives_the_derivation_back(name):
    proof = theorem(name)
    again = Derivation.from_json(proof.to_json())
    assert again == proof
    assert again.verify()


DOCUMENT = json.loads(theorem("permutation_symmetry").to_json())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "nonsense",
        "[" * 100_000,
        '{"format": "semialg_fibers/derivation"}',
        json.dumps({**DOCUMENT, "version": 2}),
        json.dumps({**DOCUMENT, "version": 1.0}),
        json.dumps({**DOCUMENT, "format": "semialg_fibers/network"}),
        json.dumps({**DOCUMENT, "more": 1}),
        json.dumps({**DOCUMENT, "title": "a\nb"}),
        json.dumps({**DOCUMENT, "title": "\u202e"}),
        json.dumps({**DOCUMENT, "title": "t" * 1000}),
        json.dumps({**DOCUMENT, "steps": {}}),
        json.dumps({**DOCUMENT, "steps": [{}]}),
        json.dumps({**DOCUMENT, "conclusions": [["equal", ["symbol", "A", ["n", "n"]]]]}),
        json.dumps({**DOCUMENT, "conclusions": [["equal", ["symbol", "A", ["n", 1e400]]] * 2]}),
        json.dumps({**DOCUMENT, "conclusions": [["permutation", ["symbol", "os.system('ls')", ["n", "n"]]]]}),
        json.dumps({**DOCUMENT, "conclusions": [["permutation", ["symbol", "A", ["n", True]]]]}),
        json.dumps({**DOCUMENT, "conclusions": [[["equal"]]]}),
        json.dumps({**DOCUMENT, "conclusions": [["equivariant right", 3]]}),
        json.dumps(DOCUMENT)[:-2] + ', "title": "again"}',
        json.dumps(DOCUMENT).replace('"n"', "1" + "0" * 5000, 1),
    ],
    ids=range(24),
)
def test_a_hostile_file_is_refused(text):
    with pytest.raises(InvalidNetworkError) as caught:
        Derivation.from_json(text)
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("wrong", [None, b"{}", 3, {}])
def test_what_is_no_text_is_refused(wrong):
    with pytest.raises(InvalidNetworkError, match="text"):
        Derivation.from_json(wrong)


def test_a_deep_term_is_refused():
    deep = '["negative", ' * 200 + '["symbol", "A", ["n", "n"]]' + "]" * 200
    with pytest.raises(InvalidNetworkError, match="deep"):
        Derivation.from_json(
            json.dumps({**DOCUMENT, "conclusions": []})[:-1].replace(
                '"conclusions": []', f'"conclusions": [["permutation", {deep}]]'
            )
            + "}"
        )


def scrambled(value, rng):
    """JSON data with one place replaced by something else that is found in the data, or by junk."""
    places = []

    def walk(node):
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    value = json.loads(json.dumps(value))
    walk(value)
    node, key = rng.choice(places)
    other, name = rng.choice(places)
    junk = [None, True, -1, 0, 2, "", "n", "relu", [], {}, ["zero", ["n", "n"]], ["negative"], "sum", 10**30]
    node[key] = rng.choice([other[name], *junk])
    return value


@settings(max_examples=80)
@given(seed=st.integers(0, 2**30), name=st.sampled_from(sorted(THEOREMS)))
def test_a_scrambled_file_is_refused_or_judged(seed, name):
    """Never a traceback: an error of the package, or a verdict; a good verdict is about what an honest proof shows."""
    rng = random.Random(seed)
    data = scrambled(json.loads(theorem(name).to_json()), rng)
    try:
        text = json.dumps(data)
    except (ValueError, RecursionError):  # a list put inside itself
        return
    try:
        found = Derivation.from_json(text)
    except SemialgError:
        return
    if found.verify():
        honest = theorem(name)
        assert set(found.claim.conclusions) <= {line.statement for line in honest.lines}


# Letters with their shapes


def test_a_theorem_about_numbers_says_so_wherever_it_is_printed():
    """Without shapes, "x y = y x" reads as a theorem about matrices, which is false."""
    goal = equal(product(x, y), product(y, x))
    proof = Derivation(Claim("Numbers commute", (), (goal,)), (Line("1", goal, "ring"),))
    assert proof.verify()
    assert str(proof.claim).splitlines()[1:3] == ["Letters", "  x: number, y: number"]
    assert "  x: number, y: number\n" in proof.to_text()
    assert "Letters: $x$: number, $y$: number.\n" in proof.to_latex()
    assert StoredProof(proof).claim == "for x: number, y: number: x y = y x"


def test_every_letter_is_declared():
    line = theorem("hiding_translation").claim.letters
    for said in ("w: 1 × d, ", "x: d × 1, ", "β: number, ", "t: number, ", "; n, p, r, m, d: positive integers"):
        assert said in line
    assert "φ: 1 × n → 1 × n, " in theorem("permutation_symmetry").claim.letters
    text, latex = (getattr(theorem("orientation_identity"), name)() for name in ("to_text", "to_latex"))
    assert "Proof.\n  further letters: ξ: number\n" in text
    assert r"\emph{Proof.} Further letters: $\xi$: number." in latex
    assert r"$W_{1}$: $d \times n$" in theorem("permutation_symmetry").to_latex()
    unused = Statement("homogeneous right", (), "ψ")
    assert declared_text([unused]) == "ψ: function"
    assert declared_text([equal(zero(2, "k"), zero(2, "k"))]) == "k: positive integer"


@pytest.mark.parametrize("name", THEOREMS)
def test_no_letter_of_a_theorem_is_left_undeclared(name):
    claim = theorem(name).claim
    terms = [part for each in (*claim.hypotheses, *claim.conclusions) for t in each.terms for part in t.walk()]
    names = {part.name for part in terms if part.name not in ("", "relu")}
    sizes = {size for part in terms for size in part.shape if isinstance(size, str)}
    letters, counts = claim.letters.split("; ")
    assert {each.split(": ")[0] for each in letters.split(", ")} == names
    assert set(counts.split(": ")[0].split(", ")) == sizes


def test_distinct_names_are_typeset_distinctly():
    names = ["W1", "W_1", "W1_1", "W11", "W_11", "W_n", "Wn", "W'", "W_1'", "W1'", "W1n", "W1_n", "W_1n"]
    assert len({latex_name(name) for name in names}) == len(names)
    assert (latex_name("W1"), latex_name("W_1"), latex_name("b_D'")) == ("W_{1}", r"W_{\_1}", "b_{D}'")


def test_a_bound_letter_is_none_of_the_theorem():
    printed = str(theorem("permutation_symmetry").claim.hypotheses[1])
    assert printed == "φ(Z Π) = φ(Z) Π for every Z and every permutation matrix Π"
    assert "P" not in latex_sentence_of(theorem("permutation_symmetry").claim.hypotheses[1]).replace(r"\Pi", "")


def test_a_letter_is_neither_the_identity_nor_a_size():
    for make in (lambda: matrix("I", "n", "n"), lambda: apply("I", A)):
        with pytest.raises(InvalidNetworkError):
            make()
    n = matrix("n", "n", "n")
    gap = gap_of(equal(n @ n, n @ n), (equal(n @ n, n @ n), "ring"))
    assert "the name n is used for a size" in gap.reason


# Terms that are large by nesting


def powers(term, count):
    return product(*[term] * count)


def test_letters_inside_functions_count():
    """Each level squares the letters: two levels are beyond any machine, and one is refused by counting."""
    one = powers(A + B, 8)
    normal_form(one)
    two = powers(relu(one) + B, 8)
    for deep in (two, powers(relu(two) + B, 8), powers(relu(one), 5)):
        with pytest.raises(BudgetExceededError):
            normal_form(deep)
        gap = gap_of(equal(deep + A, A + deep), (equal(deep + A, A + deep), "ring"))
        assert "letters when it is multiplied out" in gap.reason
    with pytest.raises(BudgetExceededError):  # a sum has a budget too
        normal_form(Term("sum", A.shape, (one,) * 10))
    same = relu(A + B)
    assert normal_form(same @ same + A) == normal_form(A + relu(B + A) @ same)


def test_deep_terms_are_refused_where_they_are_made():
    def nested(count, wrapped):
        term = A
        for _ in range(count):
            term = wrapped(term)
        return term

    with pytest.raises(InvalidNetworkError, match="nested more than 100 deep"):
        nested(3000, relu)
    with pytest.raises(InvalidNetworkError, match="more than 200,000 parts"):
        nested(60, lambda term: product(term, term))
    deep = nested(99, relu)
    goal = equal(deep, deep)
    proof = Derivation(Claim("deep", (), (goal,)), (Line("1", goal, "ring"),))
    assert proof.verify()
    assert Derivation.from_json(proof.to_json()) == proof
    assert proof.to_text().count("relu(") >= 99
    round_trip = relu(A)
    object.__setattr__(round_trip, "parts", (round_trip,))
    forged = equal(A, A)
    object.__setattr__(forged, "terms", (round_trip, round_trip))
    assert first_gap(Claim("a circle", (), (equal(A, A),)), (Line("1", forged, "ring"),)).label == "1"


def test_versions_are_whole_numbers():
    with pytest.raises(InvalidNetworkError, match="version 1"):
        Derivation.from_json(json.dumps({**DOCUMENT, "version": True}))


def test_many_premises_with_many_assumptions_have_a_budget():
    """A step of n premises under n assumptions asks for n³ comparisons, from a file that grows like n²."""
    size = 60
    under = tuple(nonnegative(matrix(f"X{k}", "n", "n")) for k in range(size))
    lines = (
        Line("1", equal(A, A), "ring", (), under),
        Line("2", equal(A, A), "chain", ("1",) * size, under),
        Line("3", equal(A, A), "ring"),
    )
    claim = Claim("many", (), (equal(A, A),))
    assert first_gap(claim, lines) is None
    gap = first_gap(claim, lines, budget=size**3)
    assert gap.label == "2"
    assert gap.is_open
    assert "not re-proved within the budget" in gap.reason
    assert first_gap(claim, lines, budget=None) is None
    with pytest.raises(BudgetExceededError):
        StoredProof(Derivation(claim, lines)).check(budget=size**3)
    conclusions = tuple(equal(matrix(f"X{k}", "n", "n"), matrix(f"X{k}", "n", "n")) for k in range(size))
    lines = tuple(Line(str(k), each, "ring") for k, each in enumerate(conclusions))
    assert first_gap(Claim("many", (), conclusions), lines) is None
    assert first_gap(Claim("many", (), conclusions), lines, budget=size**2).label == "end"
