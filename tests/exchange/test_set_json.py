"""Documents that were edited by hand: words stay one line, symbols have one meaning, numbers are possible ones."""

import json
import re
from dataclasses import replace

import pytest
import sympy

from semialg_fibers import gallery
from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.exchange.exporters import WRITERS, from_json, to_json, to_smtlib
from semialg_fibers.exchange.traversal import document_of
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.geometry.semialgebraic import BasicSet
from semialg_fibers.networks.layer import Network

COMMENTS = {"smtlib": ";", "singular": "//", "macaulay2": "--", "sage": "#", "mathematica": "(*"}
FOUND = fiber(gallery.network("hidden_2_2_2_1"))
HOSTILE = "x\n(assert false) ; *) Run[1] (* \r system()"


def edited(change, found=FOUND):
    record = json.loads(to_json(found))
    change(record)
    return from_json(json.dumps(record))


def put(*path):
    def change(record):
        for key in path[:-2]:
            record = record[key]
        record[path[-2]] = path[-1]

    return change


@pytest.mark.parametrize(
    "path",
    [
        ("title",),
        ("assumptions", 0),
        ("components", 0, "name"),
        ("components", 1, "kind"),
        ("components", 0, "condition"),
        ("components", 0, "parts", 0, "headings", 0, 1),
    ],
)
@pytest.mark.parametrize("words", [HOSTILE, "a\x1b[31m", "a\u2028b"])
def test_words_that_are_not_one_line_are_refused(path, words):
    """Exports repeat them behind one sign of a comment; a second line would be a program's."""

    def change(record):
        record["assumptions"] = ["G4"]
        put(*path, words)(record)

    with pytest.raises(InvalidNetworkError, match="line break or control character"):
        edited(change)


@pytest.mark.parametrize("form", COMMENTS)
def test_no_words_end_a_comment(form):
    """Also those of documents that were made by hand, of names, and of headings."""
    document = document_of(FOUND)
    section = document.sections[0]
    parts = tuple(replace(part, headings=((0, HOSTILE),)) for part in section.parts)
    changed = replace(section, name=HOSTILE, kind=HOSTILE, condition=HOSTILE, parts=parts)
    facts = replace(document.facts, title=HOSTILE, assumptions=(HOSTILE,), complete=None)
    text = WRITERS[form](replace(document, sections=(changed, *document.sections[1:]), facts=facts))
    lines = [line.strip() for line in text.splitlines()]
    assert len([line for line in lines if "assert false" in line]) >= 3
    assert all(line.startswith(COMMENTS[form]) for line in lines if "assert false" in line or "system()" in line)
    if form == "mathematica":
        assert all((line.count("(*"), line.count("*)"), line[-2:]) == (1, 1, "*)") for line in lines if "Run" in line)


def test_letters_with_line_breaks_stay_in_their_comment():
    x, letter = sympy.Symbol("x", real=True), sympy.Symbol("a\nimport os #", positive=True)
    ray = BasicSet((x,), (), (letter * x - 1,))
    for form, sign in COMMENTS.items():
        lines = [line.strip() for line in WRITERS[form](ray).splitlines() if "import os #" in line]
        assert all(line.startswith(sign) for line in lines)


def test_one_name_has_one_meaning_in_a_union():
    x = sympy.Symbol("x", real=True)
    rays = [BasicSet((x,), (), (sympy.Symbol("a", **{sign: True}) * x - 1,)) for sign in ("positive", "negative")]
    with pytest.raises(InvalidNetworkError, match="two different symbols are called a"):
        rays[0] | rays[1]
    assert len((rays[0] | BasicSet((x,), (), (-rays[0].positive[0],))).parts) == 2


def test_one_name_has_one_meaning_in_a_document():
    a, b, c, e = (sympy.Symbol(name, positive=True) for name in "abce")
    found = fiber(Network([([[1, 0], [0, 1]], [0, 0]), ([[a, -b], [c, -e]], [-1, -3]), ([[1, 2]], [0])]))
    assert edited(lambda record: None, found) == document_of(found)
    letter = json.loads(to_json(found))["components"][1]["letters"][0]
    with pytest.raises(InvalidNetworkError, match=f"two different symbols are called {letter}"):
        edited(put("components", 1, "assumed", {letter: ["negative", "real"]}), found)
    other = json.loads(to_json(fiber(gallery.network("line_1_1_1_1"))))["components"][0]
    with pytest.raises(InvalidNetworkError, match="same variables"):
        edited(put("components", 1, other))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("dimension",), -1),
        (("local_dimension",), -5),
        (("components", 0, "dimension"), 16),
        (("components", 0, "parts", 0, "dimension"), 99),
        (("components", 0, "parts", 0, "dimension"), -5),
    ],
)
def test_impossible_dimensions_are_refused(path, value):
    """hidden_2_2_2_1 has 15 parameters."""
    with pytest.raises(InvalidNetworkError, match=r"'(local_)?dimension' is"):
        edited(put(*path, value))


@pytest.mark.parametrize("name", ["x'", "x y", "1", "%", ""])
def test_names_that_could_not_be_read_are_not_written(name):
    x, odd = sympy.Symbol("x", real=True), sympy.Symbol(name, real=True)
    for described in (BasicSet((x, odd), (x * odd - 1,)), BasicSet((x,), (x * odd - 1,))):
        with pytest.raises(InvalidNetworkError, match="cannot hold a symbol called"):
            to_json(described)


@pytest.mark.parametrize("component", [None, 0, 1])
@pytest.mark.parametrize("form", ["singular", "macaulay2", "sage"])
def test_what_the_notes_name_is_there(form, component):
    notes, program = [], []
    for line in WRITERS[form](FOUND, component).splitlines():
        (notes if line.startswith(COMMENTS[form]) else program).append(line)
    (named,) = re.findall(r"equations[_p0-9]+", " ".join(notes))
    assert any(re.search(rf"(ideal )?{named} = ", line) for line in program)


def test_what_a_solver_says_does_not_depend_on_words():
    z3 = pytest.importorskip("z3", reason="z3-solver is missing")
    solver = z3.Solver()
    solver.from_string(to_smtlib(edited(put("components", 0, "name", "(assert false) ; x"))))
    assert solver.check() == z3.sat
