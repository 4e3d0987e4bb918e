"""Every reader under hostile input: mutated files, files from grammars, and texts that ask for too much.

`tools/fuzz.py` holds the mutations and the outcomes; it runs as long as one likes. This is its short form.
"""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import semialg_fibers as package
from semialg_fibers.exchange import expressions, formula, json_text, json_values, torch_files
from semialg_fibers.geometry import arguments, expression
from semialg_fibers.geometry.scalar import MAX_DIGITS
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions import initialisation
from semialg_fibers.verify import effort, statement_json
from semialg_fibers.verify.certificate import KINDS, DifferentCertificate, SameCertificate

SCRIPT = Path(__file__).parents[2] / "tools" / "fuzz.py"
sys.path.append(str(SCRIPT.parent))
import fuzz  # noqa: E402
import fuzz_files  # noqa: E402
import fuzz_models  # noqa: E402
import fuzz_text  # noqa: E402
import patience  # noqa: E402

VALID = fuzz_text.seeds()


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    return fuzz_text.readers(tmp_path_factory.mktemp("fuzz"))


def assert_documented(readers, kind, text):
    found = fuzz.outcome(readers[kind], text)
    assert not found.startswith("FAULT"), f"{found}\n{text[:2000]!r}"
    return found


@pytest.mark.parametrize("kind", sorted(VALID))
def test_valid_texts_are_read(readers, kind):
    assert [fuzz.outcome(readers[kind], text) for text in VALID[kind]] == ["read"] * len(VALID[kind])


@pytest.mark.parametrize("kind", sorted(VALID))
def test_mutated_texts_have_documented_outcomes(readers, kind):
    found = set()
    for seed in range(100 if kind == "proof" else 150):  # proofs take longest
        rng = random.Random(f"test {kind} {seed}")
        found.add(assert_documented(readers, kind, fuzz_text.mutated(rng, rng.choice(VALID[kind]))))
    assert {"read", "InvalidNetworkError"} <= found  # the mutations are neither all harmless nor all absurd


scalars = (
    st.sampled_from(fuzz_text.VALUES) | st.integers(-3, 3) | st.text(max_size=5) | st.sampled_from(["a", "x", "1/2"])
)
trees = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))
FILES = [kind for kind in sorted(VALID) if VALID[kind][0].startswith("{")]


@settings(max_examples=150)
@given(st.sampled_from(FILES), st.data())
def test_any_value_in_any_place_of_a_file(readers, kind, data):
    document = json.loads(data.draw(st.sampled_from(VALID[kind])))
    places = list(fuzz_text.places(document))
    for holder, key in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=2)):
        holder[key] = data.draw(trees)
    assert_documented(readers, kind, json.dumps(document))


NUMBERS = st.sampled_from(["0", "1", "2", "7", "9" * 3999, "0.5", "1e3", "1e3999", "12"])
LETTERS = st.sampled_from(["a", "b", "x", "y"])


def larger(inner):
    exponents = st.sampled_from(["0", "1", "2", "3", "-1", "(-2)", "7", "100", "1000"])
    return st.one_of(
        st.builds("{}{}{}".format, inner, st.sampled_from([" + ", " - ", "*", "/"]), inner),
        st.builds("({})".format, inner),
        st.builds("({})**{}".format, inner, exponents),
        st.builds("-{}".format, inner),
    )


@settings(max_examples=200)
@given(st.recursive(NUMBERS | LETTERS, larger, max_leaves=12), st.sampled_from([">=", "<", ">"]))
@example("(((9**1000)**1000)**1000)**1000", ">")
@example("((((2*x)**1000)**1000)**1000)**1000", ">")
@example("(a + b + 1)**100*(a - b)**100", ">")
@example("1/(1 - 1)", ">")
@example("(x - x)**-1", ">")
def test_formulas_of_the_grammar_are_read_or_refused(readers, text, sign):
    for kind, written in (("formula", text), ("expression", text), ("relation", f"{text} {sign} 0")):
        assert_documented(readers, kind, written)


SIZES = st.sampled_from([0, 1, 2, 3, 10**6, 10**14, 10**15])
ENTRIES = st.fixed_dictionaries({
    "dtype": st.sampled_from(["F32", "F16", "BF16", "F64", "I8", "BOOL", "F8"]),
    "shape": st.lists(SIZES, max_size=4),
    "data_offsets": st.lists(st.integers(0, 30), min_size=2, max_size=2),
})  # fmt: skip
NAMES = st.sampled_from(["0.weight", "0.bias", "2.weight", "2.bias", ".weight", "x", "9" * 5000 + ".weight"])


@settings(max_examples=100)
@given(st.dictionaries(NAMES, ENTRIES | trees, max_size=4), st.binary(max_size=30))
def test_headers_of_safetensors_are_read_or_refused(tmp_path_factory, header, data):
    path = tmp_path_factory.getbasetemp() / "grammar.safetensors"
    path.write_bytes(fuzz_files.safetensors_bytes(json.dumps(header), data))
    found = fuzz.outcome(fuzz_files.from_safetensors, path)
    assert not found.startswith("FAULT"), found


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(["W1", "b1", "W2", "b2", "x"]), st.lists(SIZES, max_size=3),
                       st.sampled_from(fuzz_files.TYPES), st.binary(max_size=16)), max_size=4),
    st.sampled_from([0, 8, 12, 14]),
)  # fmt: skip
def test_headers_of_npz_are_read_or_refused(tmp_path_factory, arrays, packing):
    members = []
    for name, shape, kind, data in arrays:
        header = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {tuple(shape)}}}\n".encode()
        members.append((f"{name}.npy", packing, b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + data))
    path = tmp_path_factory.getbasetemp() / "grammar.npz"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that stand there twice
        path.write_bytes(fuzz_files.zipped(members))
    found = fuzz.outcome(fuzz_files.from_npz, path)
    assert not found.startswith("FAULT"), found


@settings(max_examples=100)
@given(st.randoms(use_true_random=False))
def test_pickles_of_a_grammar_are_judged(rng):
    """Those that pass name tensors only; PyTorch itself reads them in tools/fuzz.py."""
    told = fuzz_models.pickle_drawn(rng)
    found = fuzz.outcome(torch_files.judged, fuzz_files.zipped([("a/data.pkl", 0, told)]))
    assert found in ("read", "UnsupportedError", "InvalidNetworkError")
    if found == "read":
        assert not re.search(rb"c(os|torch.hub|torch.storage|builtins\n(?!(complex|set|bytearray)\n))", told)


SHAPES = st.sampled_from([["n", "n"], ["n", "m"], [1, "n"], ["n", 1], [10**7, 1], "n", []])
LEAVES = st.one_of(
    st.builds(lambda name, shape: ["symbol", name, shape], st.sampled_from(["A", "x", "I", "relu", "'"]), SHAPES),
    st.builds(lambda head, size: [head, size], st.sampled_from(["zero", "identity"]), SHAPES | st.just("n")),
    scalars,
)
HEADS = st.sampled_from(["sum", "product", "negative", "transpose", "inverse", "x"])
TERMS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda head, parts: [head, *parts], HEADS, st.lists(inner, max_size=3))
        | st.builds(
            lambda name, shape, part: ["apply", name, shape, part], st.sampled_from(["relu", "f"]), SHAPES, inner
        )
    ),
)
RELATIONS = st.sampled_from(
    ["equal", "nonnegative", "positive", "permutation", "positive diagonal", "equivariant right", ""]
)
STATEMENTS = st.builds(lambda head, terms: [head, *terms], RELATIONS, st.lists(TERMS, max_size=2))


@settings(max_examples=100)
@given(st.lists(STATEMENTS | trees, max_size=3))
def test_statements_of_proofs_are_read_or_refused(readers, statements):
    document = json.loads(VALID["proof"][0])
    holder, key = next((here, at) for here, at in fuzz_text.places(document) if at == "hypotheses")
    holder[key] = statements
    assert_documented(readers, "proof", json.dumps(document))


def put(kind, old, new, which=0):
    text = VALID[kind][which]
    assert old in text
    return kind, text.replace(old, new, 1)


FOUND = [  # each once ended in a traceback, in minutes of computing, in two meanings, or in a page of message
    (put("set", '"b3_0"\n ],', '"b3_0"\n ], "assumed": {"b3_0": ["positive", "negative"]},', 2), "contradicts itself"),
    (put("set", '"title"', '"format": "semialg_fibers/fiber", "title"'), "a key of the document is repeated"),
    (put("set", '"headings": [', '"headings": null, "was": ['), "the field 'headings' is None"),
    (put("set", '"weight": [\n', '"weight": [[7, 7], [7, 7]], "was": [\n', 1), "an expression is text"),
    (put("certificate", '"claim": "same"', '"claim": "same", "claim": "same"'), "'claim' is repeated"),
    (put("certificate", '"version": 1', '"version": "1"'), "no certificate file of version 1"),
    (put("certificate", '"kind": "relabelling"', '"kind": "cells", "colour": 1'), "unknown key 'colour'"),
    (put("proof", '"version": 1', '"version": true'), "document of version 1"),
    (put("proof", '["n", "n"]', f'["n", "{"n" * 3000}"]'), "a shape is a pair"),
    (("formula", "a + " + "7" * 1900 + "(b)"), "is unexpected"),
    (("expression", "x " + "7" * 3999), "an unexpected"),
]


@pytest.mark.parametrize(("case", "words"), FOUND, ids=[words for _, words in FOUND])
def test_what_fuzzing_found(readers, case, words):
    kind, text = case
    with pytest.raises(fuzz.SemialgError, match=re.escape(words)) as refused:
        readers[kind](text)
    assert len(refused.value.message) < 400


def test_certificates_of_letters_prove_nothing():
    """A check of networks with letters is False, not an AttributeError."""
    net = fuzz_text.network_from_json(VALID["network"][1], "net.json")
    for kind in KINDS:
        assert not SameCertificate(kind).check(net, net)
    assert not DifferentCertificate((), ((), ())).check(net, net)


def test_what_no_file_can_hold_is_refused_when_it_is_written():
    large = "7" * 3000
    a, b = (Network([([[large]], [large]), ([[large]], [last])]) for last in (1, 2))
    answer = fuzz_text.same_function(a, b)
    assert answer.check()
    with pytest.raises(fuzz.SemialgError, match="no file can hold it"):
        fuzz_text.certificate_to_json(a, b, answer.certificate)


# In a process of its own, where memory, time and the system are watched.

WATCHED = """
import json, resource, sys, tempfile
sys.set_int_max_str_digits(0)  # as the command line has it
from pathlib import Path
sys.path[:0] = {folders!r}
import fuzz, fuzz_text
with tempfile.TemporaryDirectory() as folder:
    readers = fuzz_text.readers(Path(folder))
    for kind, texts in fuzz_text.seeds().items():
        readers[kind](texts[0])  # whatever is imported late is imported now
    seen = []

    def watch(event, arguments):
        if event in ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "socket.connect", "os.remove"):
            seen.append(event)
        elif event == "compile" and arguments[0] is not None:
            seen.append(f"compile {{arguments[0]!r:.50}}")
        elif event == "import":
            seen.append(f"import {{arguments[0]}}")
        elif event == "exec" and arguments[0].co_filename == "<string>":
            seen.append("exec")

    inputs = json.loads(sys.stdin.read())
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    sys.addaudithook(watch)
    found = [fuzz.outcome(readers[kind], text) for kind, text in inputs]
    noticed = list(seen)
print(json.dumps([found, noticed]))
"""
CODE = "__import__('os').system('touch pwned')"


MANY = "".join(f'"c{i}": "real", ' for i in range(20_000))
BOMBS = {
    "a power tower in a set": put("set", "- 1", "- (((9**1000)**1000)**1000)**1000"),
    "a hidden power tower": put("set", "- 1", "- (((2*b3_0)**1000)**1000)**1000"),
    "a product of powers": ("expression", "*".join(["7**1000"] * 3000)),
    "a sum of unlike denominators": ("expression", " + ".join(f"1/{n}**1000" for n in range(10_001, 12_000))),
    "a long expression": ("expression", "+".join(["x"] * 600_000)),
    "deep parentheses": ("expression", "(" * 100_000 + "x" + ")" * 100_000),
    "many signs": ("formula", "-" * 1999 + "a"),
    "a power of a sum": ("formula", "(a + b + 1)**100*(a - b + 1)**100*(2*a + b)**100"),
    "a power tower in a formula": ("formula", "(((9**100)**100)**100)**100"),
    "an order of a million digits": put("certificate", '"orders": [\n  [\n   1', f'"orders": [[{"7" * 1_000_000}'),
    "a size of a million digits": put("proof", '"n"', "7" * 1_000_000),
    "a dimension of a million digits": put("set", '"dimension": 5', f'"dimension": {"7" * 1_000_000}'),
    "a kind of a million letters": put("certificate", '"relabelling"', f'"{"k" * 1_000_000}"'),
    "remarks that are nested": put("certificate", '"remarks": []', f'"remarks": [["a", {"[" * 900}{"]" * 900}]]'),
    "many brackets": ("set", "[" * 1_000_000),
    "many commas": ("set", "[" + "1," * 6_000_000 + "1]"),
    "many letters": put("network", '"symbols": {', f'"symbols": {{{MANY}', 1),
    "code in a network": put("network", '"1"', f'"{CODE}"'),
    "code in a set": put("set", "- 1", f"- {CODE}"),
    "code as a name": put("set", '"b3_0"', f'"{CODE}"'),
    "code in a proof": put("proof", '"n"', f'"{CODE}"'),
    "code as a kind": put("certificate", '"relabelling"', f'"{CODE}"'),
}  # fmt: skip


def test_bombs_take_little_memory_and_time_and_nothing_is_evaluated(tmp_path):
    """2 GB of memory and two minutes of computing are far more than all of them need together."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED.format(folders=[str(SCRIPT.parent), str(Path(package.__file__).parents[1])])],
        input=json.dumps(list(BOMBS.values())), capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found, noticed = json.loads(done.stdout)
    outcomes = dict(zip(BOMBS, found, strict=True))
    assert {name: told for name, told in outcomes.items() if told.startswith("FAULT")} == {}
    read = {name for name, told in outcomes.items() if told == "read"}
    assert read <= {"many letters", "code in a proof"}
    assert outcomes["an order of a million digits"] == "InvalidNetworkError"  # and not read, which takes long
    assert noticed == []
    assert list(tmp_path.iterdir()) == []


def test_a_short_run_over_all_readers_finds_nothing(tmp_path):
    """Files, checkpoints, objects and command lines too; what is not installed is left out, and said."""
    run = [sys.executable, str(SCRIPT), "--inputs", "1500", "--seed", "4", "--record", "record"]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])}
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    told = {line.split(":")[0] for line in done.stdout.splitlines()}
    assert told >= {*VALID, "npz", "safetensors", "checkpoint", "objects", "path", "command"}
    for kind in ("torch", "keras", "onnx", "sklearn"):
        assert kind in told or f"{kind} is not installed" in done.stderr
    (block,) = [json.loads(line) for line in (tmp_path / "record").read_text().splitlines()]
    assert (block["inputs"], sum(block["counts"].values()), block["faults"]) == (1500, 1500, [])


def crash(_):
    os.kill(os.getpid(), signal.SIGKILL)


def spend(_):
    while True:
        pass


def swallow(_):
    with contextlib.suppress(Exception):  # as a reader does that calls another package
        spend(_)


def fill(_):
    assert len(b"x" * (400 << 20))


def start(_):
    os.system("true")


def look(_):
    with open("../outside/secret.bin", "rb"):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("reader", "words"),
    [
        (lambda _: 1 / 0, "ZeroDivisionError"),
        (lambda _: os.write(1, b"x"), "printed"),
        (lambda _: warnings.warn("old", DeprecationWarning, stacklevel=1), "warning DeprecationWarning: old"),
        (lambda _: int("x" * 2000), "ValueError"),
        (spend, "more than 0.2 s"),
        (swallow, "more than 0.2 s"),
        (fill, "MB of memory"),
        (crash, "the process ended with -9"),
        (start, "os.system"),
        (look, "opened"),
    ],
)
def test_the_tool_sees_what_is_not_documented(reader, words, tmp_path, monkeypatch, capfd):
    """In a fresh interpreter's fork: one fault among inputs that are read, found by its number."""
    if reader in (spend, swallow):
        monkeypatch.setattr(fuzz, "PATIENCE", 0.2)  # for the others computing 0.2 s may be the machine's pace
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.bin").touch()
    os.chdir(tmp_path / "inside")
    kind = fuzz_text.Kind("odd", 1, [0], lambda rng, _: rng.random(), lambda x: reader(x) if x > 0.9 else None)
    blocks = list(fuzz.in_processes([kind], 5, range(0, 20), tmp_path / "inside", False))
    expected = [n for n in range(20) if fuzz.drawn([kind], 5, n)[1] > 0.9]
    faults = [fault for block in blocks for fault in block["faults"]]
    assert expected
    assert [number for number, *_ in faults] == expected
    assert all(words in told for _, _, told, _ in faults)
    assert sum(block["inputs"] for block in blocks) == 20


def test_time_that_ends_while_the_answer_is_handed_back_is_over(monkeypatch):
    """It once ended the tool instead of the input."""

    def late(which, seconds):
        stop(which, seconds)
        if not seconds:
            signal.raise_signal(signal.SIGPROF)

    old, stop = signal.getsignal(signal.SIGPROF), signal.setitimer
    assert patience.within(60, int, "3") == 3
    monkeypatch.setattr(signal, "setitimer", late)
    try:
        with pytest.raises(patience.OutOfTime):
            patience.within(60, int, "3")
    finally:
        signal.signal(signal.SIGPROF, old)


def test_text_that_is_none():
    for value in (None, 5, b"{}", ["{}"]):
        for read in (
            fuzz_text.from_json,
            fuzz_text.Derivation.from_json,
            lambda text: fuzz_text.network_from_json(text, "f"),
        ):
            with pytest.raises(fuzz.SemialgError, match="text"):
                read(value)


def test_the_limits_are_those_of_the_documentation():
    """The table of docs/conventions.md, number for number."""
    text = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text(encoding="utf-8")
    table = text.split("## Limits")[1].split("Of models of other programs")[0]
    found = [int(number.replace(",", "")) for line in table.splitlines() if line.startswith("| ")
             for number in re.findall(r"\b[0-9][0-9,]*[0-9]\b", line)]  # fmt: skip
    assert found == [
        json_values.MAX_BYTES, json_values.MAX_ENTRIES, json_values.MAX_KEYS, MAX_DIGITS, json_text.MAX_ROW_DIGITS,
        json_text.MAX_MATRIX_BYTES, formula.MAX_FORMULA, formula.MAX_DEPTH, formula.MAX_EXPONENT, expression.MAX_DEGREE,
        expression.MAX_TERMS, expressions.MAX_LENGTH, expressions.MAX_DEPTH, expressions.MAX_EXPONENT,
        expressions.MAX_DEGREE, expressions.MAX_RESULT, statement_json.MAX_TEXT, statement_json.MAX_DEPTH,
        effort.BUDGET, arguments.DIGITS, initialisation.BITS,
    ]  # fmt: skip


def deep(depth):
    """A proof whose first hypothesis holds a term nested so deep."""
    term = ["symbol", "D", ["n", "n"]]
    for _ in range(depth - 1):
        term = ["negative", term]
    document = json.loads(VALID["proof"][0])
    document["hypotheses"] = [["positive diagonal", term]]
    return json.dumps(document)


LIMITS = {  # at the limit, beyond it, and what is said then
    "digits": ("relation", (f"x > {'7' * 4000}", f"x > {'7' * 4001}"), "stated size of 4000 digits"),
    "characters of a formula": ("formula", (f"a{' ' * 1999}", f"a{' ' * 2000}"), "more than the stated 2000"),
    "parentheses of a formula": ("formula", (f"{'(' * 40}a{')' * 40}", f"{'(' * 41}a{')' * 41}"), "40 parentheses"),
    "signs of a formula": ("formula", ("-" * 40 + "a", "-" * 41 + "a"), "more than 40 parentheses or signs"),
    "exponents of a formula": ("formula", ("a**100", "a**101"), "exponent is beyond the stated size of 100"),
    "degree of a formula": ("formula", ("(a**100)**4", "(a**100)**5"), "beyond the stated size"),
    "terms of a formula": ("formula", ("(a + b + 1)**100", "(a + b + 1)**100*(a + 2*b + 3)**100"), "20,000 terms"),
    "characters of an expression": ("expression", ("x" + " " * 999_999, "x" + " " * 1_000_000), "characters"),
    "parentheses of an expression": ("expression", (f"{'(' * 50}x{')' * 50}", f"{'(' * 51}x{')' * 51}"), "parentheses"),
    "exponents of an expression": ("expression", ("x**1000", "x**1001"), "an exponent above 1000"),
    "degree of an expression": ("expression", ("(x**500)**2", "(x**500)**3"), "degree"),
    "digits of an expression": ("expression", ("(7**1000)**100", "((7**1000)**100)**10"), "digits"),
    "characters of a proof": ("proof", (VALID["proof"][0], VALID["proof"][0] + " " * 4 * 2**20),
    "4,194,304 characters"),
    "terms of a proof": ("proof", (deep(99), deep(101)), "nested more than 100 deep"),
    "keys of a file": ("network", (VALID["network"][0], "[" + '{"a":1},' * 100_001 + "1]"),
    "the stated size of 100,000"),
    "entries of a file": ("network", (VALID["network"][0], "[" + "1," * 5_000_001 + "1]"),
    "the stated size of 5,000,000"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "texts", "words"), LIMITS.values(), ids=LIMITS)
def test_each_limit_is_where_it_is_stated(readers, kind, texts, words):
    """What is just inside is read; what is beyond is refused by the sentence that states the limit."""
    inside, beyond = texts
    assert fuzz.outcome(readers[kind], inside) == "read"
    with pytest.raises(fuzz.SemialgError) as refused:
        readers[kind](beyond)
    assert words in refused.value.message
