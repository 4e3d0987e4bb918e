"""tools/check_certificate.py, which shares no line with the package: it verifies what is true and proved, nothing else.

What it says is compared with the package's own check, and with the oracle where a file was forged.
"""

import ast
import importlib.util
import json
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from guard import GUARD
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semialg_fibers import Box, Network, Orthant, gallery, same_function
from semialg_fibers.errors import SemialgError
from semialg_fibers.exchange.certificates import certificate_to_json, read_certificate
from semialg_fibers.geometry.scalar import vector
from semialg_fibers.verify.certificate import KINDS, SameCertificate
from semialg_fibers.verify.oracle import same_on_cells, strict_point

SCRIPT = Path(__file__).parents[1] / "tools" / "check_certificate.py"
VERIFIED, REJECTED, NO_CERTIFICATE, NOT_REPROVED = range(4)
specification = importlib.util.spec_from_file_location("check_certificate", SCRIPT)
checker = importlib.util.module_from_spec(specification)
specification.loader.exec_module(checker)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("certificates") / "certificate.json"


def code_of(path, text, **options):
    path.write_text(text)
    code, sentence = checker.main(path, **options)
    assert sentence.startswith(("verified", "rejected", "error", "not re-proved")[code])
    return code


def test_it_is_short_and_imports_nothing_of_the_package():
    source = SCRIPT.read_text()
    assert len(source.splitlines()) < 100
    imported = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {ast.unparse(node) for node in imported} == {
        "import json", "import re", "import sys", "from fractions import Fraction as Q",
    }  # fmt: skip


def partners():
    """Every network of the gallery with a relabelling of itself, and with the next one of the same shape."""
    nets = [gallery.network(name) for name in gallery.names()]
    for i, net in enumerate(nets):
        moved = net
        for layer in range(1, len(net.layers)):
            moved = moved.permuted(layer, range(net.widths[layer])[::-1])
            moved = moved.rescaled(layer, range(1, net.widths[layer] + 1))
        yield net, moved
        shape = (net.widths[0], net.widths[-1], net.domain)
        yield from ((net, b) for b in nets[i + 1 :][:3] if (b.widths[0], b.widths[-1], b.domain) == shape)


def test_the_gallery(path):
    kinds = set()
    for a, b in partners():
        answer = same_function(a, b)
        kinds.add(getattr(answer.certificate, "kind", "different"))
        assert code_of(path, certificate_to_json(a, b, answer.certificate)) == VERIFIED
        if answer.same:
            cells = certificate_to_json(a, b, SameCertificate("cells"))
            assert code_of(path, cells) == VERIFIED
            assert code_of(path, cells, work=3) == NOT_REPROVED
    assert kinds >= {"relabelling", "different"}


ENTRY = st.sampled_from(["0", "0", "1", "1", "-1", "2", "-1/2", "1/3"])


@st.composite
def pairs(draw):
    """Two networks with up to two hidden layers, equal surprisingly often, on any domain of the format."""
    d, m = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    domain = draw(st.sampled_from([None, Orthant(d), Box([-1] * d, [2] * d)]))

    def layers(*widths):
        def rows(i, o):
            return draw(st.lists(st.lists(ENTRY, min_size=i + 1, max_size=i + 1), min_size=o, max_size=o))

        made = [rows(i, o) for i, o in pairwise(widths)]
        return [([row[:-1] for row in each], [row[-1] for row in each]) for each in made]

    first = layers(d, *(draw(st.integers(1, 2)) for _ in range(draw(st.integers(0, 2)))), m)
    a, how = Network(first, domain), draw(st.sampled_from(["relabelled", "copied unit", "changed", "another"]))
    if how == "relabelled":
        b = a
        for layer in range(1, len(first)):
            b = b.permuted(layer, draw(st.permutations(range(a.widths[layer])))).rescaled(layer, [2] * a.widths[layer])
    elif how == "copied unit" and len(first) > 1:
        (rows, bias), (outer, last) = first[-2:]
        outer = [[Fraction(row[0]) / 2, *row[1:], Fraction(row[0]) / 2] for row in outer]
        b = Network([*first[:-2], ([*rows, rows[0]], [*bias, bias[0]]), (outer, last)], domain)
    elif how == "changed":
        first[-1][1][0] = "7"
        b = Network(first, domain)
    else:
        b = Network(layers(d, draw(st.integers(1, 2)), m), domain)
    return a, b


@settings(max_examples=60)
@given(pairs(), st.sampled_from(KINDS))
def test_pairs_with_their_own_certificate_and_with_another_kind(path, pair, kind):
    answer, truth = same_function(*pair), same_on_cells(*pair) is None
    assert answer.same is truth
    assert code_of(path, certificate_to_json(*pair, answer.certificate)) == VERIFIED
    other = certificate_to_json(*pair, SameCertificate(kind))
    code = code_of(path, other)
    assert code != NO_CERTIFICATE or kind == "relabelling"  # which has no orders here
    assert code != VERIFIED or truth
    assert code == VERIFIED or not SameCertificate(kind).check(*pair)


NUMBERS = st.sampled_from(["0", "1", "-1", "5/3", "1e2", "0.5"])


@settings(max_examples=80)
@given(pairs(), st.data())
def test_a_forged_file_is_never_verified_unless_it_is_true(path, pair, data):
    document = json.loads(certificate_to_json(*pair, same_function(*pair).certificate))
    places = []

    def walk(value, where):
        if isinstance(value, dict | list):
            for key in value if isinstance(value, dict) else range(len(value)):
                places.append((value, key))
                walk(value[key], (*where, key))

    walk(document, ())
    for _ in range(data.draw(st.integers(1, 2))):
        place, key = data.draw(st.sampled_from(places))
        new = data.draw(NUMBERS | st.sampled_from([[], {}, "same", "different", "cells", "orthant", None, 0, 1, [0]]))
        place[key] = new
    code = code_of(path, json.dumps(document))
    try:
        stored = read_certificate(path)
        stored.check()
    except SemialgError:
        stored = None
    if stored is not None:
        assert code == VERIFIED  # these are small
    if code == VERIFIED:
        a, b = (Network([(x["weight"], x["bias"]) for x in document[name]["layers"]], domain_of(document[name]))
                for name in ("a", "b"))  # fmt: skip
        assert (same_on_cells(a, b) is None) == (document["claim"] == "same")


def domain_of(data):
    d, domain = len(data["layers"][0]["weight"][0]), data.get("domain", "space")
    if isinstance(domain, str):
        return Orthant(d) if domain == "orthant" else None
    return Box(*zip(*domain["box"], strict=True))


def test_what_is_no_certificate(path):
    a = gallery.network("visible_2_2_2_1")
    text = certificate_to_json(a, a, same_function(a, a).certificate)
    nonsense = ["", "[]", "null", "[" * 100_000, text.replace('"version": 1', '"version": 2', 1), text[:-9], "{}"]
    nonsense += [text.replace('"1"', value, 1) for value in ('"1/0"', '"nan"', "Infinity", '"1e99999"', "[]", '"٣"')]
    nonsense.append(text.replace('"1"', f'"{"7" * 10_000}"', 1))
    nonsense.append(text.replace('"claim"', '"claim": "different", "claim"', 1))  # a key with two meanings
    nonsense.append(text.replace('"space"', '{"box": []}', 1))
    nonsense.append(text.replace('"space"', '{"box": [["0", null], ["0", null]]}', 1))
    for each in nonsense:
        assert code_of(path, each) == NO_CERTIFICATE, each[:80]
    assert checker.main(path.with_name("absent"))[0] == NO_CERTIFICATE


def test_it_runs_alone(path):
    a, b = gallery.network("exchange_of_roles"), gallery.network("exchange_of_roles_partner")
    text = certificate_to_json(a, b, same_function(a, b).certificate)
    for changed, code in ((text, VERIFIED), (text.replace('"1"', '"3"', 1), REJECTED), ("{", NO_CERTIFICATE)):
        path.write_text(changed)
        # -I -S: without the folder, the user's packages and the site's packages
        done = subprocess.run(
            [sys.executable, "-I", "-S", SCRIPT, path], capture_output=True, check=False, timeout=GUARD
        )
        assert (done.returncode, done.stderr) == (code, b"")
        assert done.stdout.count(b"\n") == 1


@example([[0, 0, 0]])  # 0 > 0
@example([[1, 0, 0], [-1, 0, 0]])  # a line, which is no open set
@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=1, max_size=6))
@settings(max_examples=150)
def test_strict_inequalities_by_elimination_and_by_the_simplex_method(forms):
    checker._left[0] = 10**6
    found = strict_point([vector(form) for form in forms], vector([0, 0]))
    assert checker._feasible([[Fraction(v) for v in form] for form in forms]) == (found is not None)


def test_many_units_are_evaluated_one_by_one(tmp_path):
    """Each unit once, and not against all the units before it: 4,000 of them took a minute and a half."""
    nets = [Network([([[1]] * n, [1] * n), ([[1] * n], [0])]) for n in (4_000, 4_001)]
    path = tmp_path / "different.json"
    path.write_text(certificate_to_json(*nets, same_function(*nets).certificate))
    forms = []
    feasible = checker._feasible
    checker._feasible = lambda known: forms.append(len(known)) or feasible(known)
    try:
        assert checker.main(str(path)) == (0, "verified: different")
    finally:
        checker._feasible = feasible
    assert sum(forms) < 10
