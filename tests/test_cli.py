"""The command line: exit codes, one line for every refusal, pure data on stdout, also under hostile input."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import sympy
from guard import GUARD

from semialg_fibers import cli, gallery, terminal
from semialg_fibers.exchange.atlas_tables import atlas_to_csv, atlas_to_json, atlas_to_latex, atlas_to_text
from semialg_fibers.exchange.exporters import WRITERS, to_json, to_text
from semialg_fibers.exchange.files import network_to_json, write_network
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.geometry.domain import Orthant
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.atlas import atlas
from semialg_fibers.questions.component_count import subset_sum_network
from semialg_fibers.verify.theorems import theorem

DIGITS = Path(__file__).parents[1] / "notebooks" / "data" / "digits-64-32-16-10.json"
REFUSED = {  # what fiber says of the gallery networks that it refuses
    "exchange_of_roles": "(G3) violated",
    "not_generic_g4": "(G4) violated",
    "rank_deficient_2_2_1_1": "(G1) violated: rank A1 = 1 < n1 = 2",
    "wide_2_3_2_1": "n1 = 3 > d = 2",
    **{name: "this network has 4" for name in gallery.names() if len(gallery.network(name).layers) == 4},
}
SCRIPT = Path(sys.executable).parent / "semialg-fibers"
COMMAND = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-c", "from semialg_fibers.cli import main; main()"]
LIMITED = (
    "import os, resource, sys; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
every_network = pytest.mark.parametrize("name", gallery.names())


def outcome(capfd, *arguments):
    """Exit code, stdout and stderr of a command in this process, the output of C libraries included."""
    code = cli.run([str(argument) for argument in arguments])
    return code, *capfd.readouterr()


def real(*arguments, **options):
    """The real command as a process."""
    done = subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, timeout=GUARD, check=False, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def is_one_sentence(err):
    return err.startswith("error: ") and err.endswith("\n") and err.count("\n") == 1 and err[:-1].isprintable()


def assert_refused(result, part=""):
    code, out, err = result
    assert (code, out) == (2, "")
    assert is_one_sentence(err), err
    assert part in err


# describe


def is_verdict(value):
    return value is None or isinstance(value, bool)


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_open_count(value):
    return value is None or is_count(value)


def is_list_of(kind):
    return lambda value: isinstance(value, list) and all(type(entry) is kind for entry in value)


KEYS = {
    "widths": is_list_of(int),
    "domain": lambda value: value in ("space", "orthant") or is_list_of(list)(value["box"]),
    "parameters": is_count,
    "generic": is_verdict,
    "violated": is_list_of(str),
    "second_layer": is_list_of(str),
    "hidden": is_list_of(int),
    "flippable": is_list_of(int),
    "identifiable": is_verdict,
    "reasons": is_list_of(str),
    "dimension": is_open_count,
    "local_dimension": is_open_count,
    "components": is_open_count,
    "upper_bound": is_open_count,
}


def assert_keeps_the_contract(told, net, refused):
    for key, is_right in KEYS.items():
        assert is_right(told[key]), key
    assert told["widths"] == list(net.widths)
    assert told["parameters"] == net.parameter_count
    assert set(told["second_layer"]) <= {"dead", "linear", "nonlinear"}
    assert len(told["second_layer"]) == net.widths[min(2, len(net.layers) - 1)]
    assert set(told["hidden"]) | set(told["flippable"]) <= set(range(net.widths[1]))
    assert not set(told["hidden"]) & set(told["flippable"])
    assert (told["identifiable"] is False) == bool(told["reasons"])
    assert (told["refused"] is not None) == refused
    for key in ("dimension", "local_dimension", "components"):
        assert (told[key] is None) == refused
    assert (told["upper_bound"] is not None) == refused  # the cells of these networks are few
    assert (told["generic"] is False) == bool(told["violated"])


@every_network
def test_describe_as_json_has_every_key_of_the_contract(name, capfd):
    code, out, err = outcome(capfd, "describe", f"gallery:{name}", "--json")
    assert (code, err) == (0, "")
    assert_keeps_the_contract(json.loads(out), gallery.network(name), name in REFUSED)


@every_network
def test_describe_as_text_says_the_same(name, capfd):
    code, out, err = outcome(capfd, "describe", f"gallery:{name}")
    assert (code, err) == (0, "")
    told = json.loads(outcome(capfd, "describe", f"gallery:{name}", "--json")[1])
    lines = out.splitlines()
    assert lines[0] == f"{gallery.network(name)}, {told['parameters']} parameters"
    assert f"types: {', '.join(told['second_layer'])}" in lines
    word = {True: "yes", False: "no", None: "not decided"}
    assert f"generic: {word[told['generic']]}" in lines
    assert f"identifiable: {word[told['identifiable']]}" in lines
    assert f"functional dimension: {told['functional_dimension']}" in lines
    for reason in told["reasons"]:
        assert f"  {reason}" in lines
    if len(told["widths"]) > 3:
        counted = ", ".join(str(i + 1) for i in told["hidden"]) or "none"  # prose counts from 1
        assert f"hidden hyperplanes of the first layer: {counted}" in lines
    for index in told["flippable"]:
        assert f"  hyperplane {index + 1} of the first layer can be flipped to its other side" in lines
    if name in REFUSED:
        (refusal,) = [line for line in lines if line.startswith("outside the theorem: ")]
        assert REFUSED[name] in refusal
        assert f"dimension at this network: at most {told['upper_bound']} (kernel of the Jacobian)" in lines
    else:
        assert f"components of the fiber: {told['components']}" in lines
        assert f"dimension of the fiber: {told['dimension']}" in lines
        assert f"dimension at this network: {told['local_dimension']}" in lines
        assert "at most" not in out


@pytest.mark.parametrize("asked", ["describe", "--json", "dimension"])
def test_the_digits_network(asked):
    code, out, err = real(*{"--json": ("describe", DIGITS, "--json")}.get(asked, (asked, DIGITS)))
    assert (code, err) == (0, "")
    if asked == "--json":
        told = json.loads(out)
        assert told["generic"] is True
        assert told["widths"] == [64, 32, 16, 10]
        assert told["second_layer"] == ["nonlinear"] * 16
        assert (told["identifiable"], told["components"], told["local_dimension"]) == (True, 1, 48)
        assert told["open"] == {}
    elif asked == "describe":
        assert "generic: yes\n" in out
        assert "types: 16 nonlinear\n" in out
    else:
        assert out == "local dimension: 48\nlargest dimension: 48\nfunctional dimension: 2730\n"


def test_a_network_with_one_affine_layer_is_described_and_has_no_fiber(tmp_path, capfd):
    write_network(Network([([[1, 2]], [3])]), tmp_path / "net.json")
    code, out, err = outcome(capfd, "describe", tmp_path / "net.json", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert [told[key] for key in ("second_layer", "hidden", "flippable")] == [[], [], []]
    assert (told["functional_dimension"], told["upper_bound"]) == (3, 0)
    assert "functional dimension: 3\n" in outcome(capfd, "describe", tmp_path / "net.json")[1]
    assert "functional dimension: 3\n" in outcome(capfd, "dimension", tmp_path / "net.json")[1]
    assert_refused(outcome(capfd, "fiber", tmp_path / "net.json"), "no hidden units")


def test_a_flip_that_depends_on_letters_is_told_with_its_condition(tmp_path, capfd):
    """Theory §3.3: the ratios −a and −2 of rows 1 and 2 are common at a = 2; those of the third column always are."""
    a = sympy.Symbol("a", positive=True)
    eye = [[int(i == j) for j in range(3)] for i in range(3)]
    rows = [[1, -a, -3], [1, -2, -3]]
    net = Network([(eye, [0] * 3), (rows, [-1, -2]), ([[1, 1]], [0])])
    write_network(net, tmp_path / "net.json")
    told = json.loads(outcome(capfd, "describe", tmp_path / "net.json", "--json")[1])
    assert (told["flippable"], told["open"]["flippable"]) == ([2], "hyperplane 2 where a - 2 = 0")
    shown = outcome(capfd, "describe", tmp_path / "net.json")[1]
    assert "hyperplanes that can be flipped: 3; hyperplane 2 where a - 2 = 0\n" in shown


# fiber


@every_network
@pytest.mark.parametrize("form", ["text", "json"])
def test_fiber_prints_it_or_names_the_hypothesis_that_fails(name, form, capfd):
    result = outcome(capfd, "fiber", f"gallery:{name}", "--format", form)
    if name in REFUSED:
        assert_refused(result, REFUSED[name])
        return
    found = fiber(gallery.network(name))
    assert result == (0, to_json(found) if form == "json" else to_text(found), "")
    if form == "json":
        assert len(json.loads(result[1])["components"]) == found.component_count


@pytest.mark.parametrize("form", cli.FORMATS)
def test_every_format_is_that_of_its_exporter(form, capfd, tmp_path):
    assert set(cli.FORMATS) == set(WRITERS)
    found = fiber(gallery.network("line_1_1_1_1"))
    whole, second = WRITERS[form](found), WRITERS[form](found, 1)
    assert whole != second
    assert outcome(capfd, "fiber", "gallery:line_1_1_1_1", "--format", form) == (0, whole, "")
    command = ["fiber", "gallery:line_1_1_1_1", "--format", form, "--component", 1, "-o", tmp_path / "out"]
    assert outcome(capfd, *command) == (0, "", "")
    assert (tmp_path / "out").read_text(encoding="utf-8") == second


def test_a_component_is_chosen_by_its_number_from_zero(capfd):
    whole = json.loads(outcome(capfd, "fiber", "gallery:flips_3_3_1_1", "--format", "json")[1])["components"]
    assert len(whole) == 4
    for number, expected in enumerate(whole):
        code, out, err = outcome(capfd, "fiber", "gallery:flips_3_3_1_1", "--component", number, "--format", "json")
        assert (code, err) == (0, "")
        assert json.loads(out)["components"] == [expected]
        assert expected["number"] == number
        text = outcome(capfd, "fiber", "gallery:flips_3_3_1_1", "--component", number)[1]
        assert [line.split(":")[0] for line in text.splitlines() if line.startswith("Comp")] == [f"Component {number}"]


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("number", "part"),
    [("4", "component 4 does not exist, there are 4"), ("-1", "count from 0, got -1"), ("9" * 30, "there are 4")],
)
def test_a_component_that_does_not_exist_is_refused(number, part, form, capfd):
    assert_refused(outcome(capfd, "fiber", "gallery:flips_3_3_1_1", f"--component={number}", "--format", form), part)


def test_a_component_among_very_many_is_given_or_refused_but_not_searched_for_ever(tmp_path, capfd):
    """Widths (1, 41, 1) on the orthant, one linear neuron: 2^40 choices of sides."""
    rows = [-i - 1 for i in range(40)]
    net = Network([([[1]] * 41, [*rows, 1]), ([list(range(1, 42))], [0])], Orthant(1))
    path = tmp_path / "net.json"
    write_network(net, path)
    code, out, err = outcome(capfd, "fiber", path, "--component", 99)
    assert (code, err) == (0, "")
    assert "components: 1099511627776 (" in out
    assert "\nComponent 99:" in out
    assert_refused(outcome(capfd, "fiber", path, "--component", 2**40), "does not exist, there are 1099511627776")
    assert_refused(outcome(capfd, "fiber", path, "--component", 2**40 - 1), "listed one after the other")


def test_output_to_a_file_is_what_stdout_shows(tmp_path, capfd):
    for form in ("text", "json"):
        path = tmp_path / form
        path.write_text("before")
        shown = outcome(capfd, "fiber", "gallery:hidden_2_2_2_1", "--format", form)[1]
        assert outcome(capfd, "fiber", "gallery:hidden_2_2_2_1", "--format", form, "-o", path) == (0, "", "")
        assert path.read_bytes() == shown.encode()
    assert sorted(os.listdir(tmp_path)) == ["json", "text"]


def test_a_refusal_leaves_the_output_file_alone(tmp_path, capfd):
    path = tmp_path / "out"
    path.write_text("before")
    assert_refused(outcome(capfd, "fiber", "gallery:wide_2_3_2_1", "-o", path))
    assert_refused(outcome(capfd, "fiber", "gallery:line_1_1_1_1", "--component", 7, "-o", path))
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]


def test_an_interrupted_write_leaves_the_old_file_and_no_other(tmp_path, capfd, monkeypatch):
    path = tmp_path / "out"
    path.write_text("before")

    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    assert outcome(capfd, "fiber", "gallery:line_1_1_1_1", "-o", path)[0] == 130
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]


def test_an_output_file_that_cannot_be_written(tmp_path, capfd):
    (tmp_path / "file").touch()
    for path in (tmp_path / "absent" / "out", tmp_path / "file" / "out", tmp_path, "", "/dev/null", "a\0b"):
        assert_refused(outcome(capfd, "fiber", "gallery:line_1_1_1_1", "-o", path))
    assert os.listdir(tmp_path) == ["file"]
    assert_refused(real("fiber", "gallery:line_1_1_1_1", "-o", "/dev/stdout"), "a pipe, socket or device")
    assert os.path.exists("/dev/null")
    assert not os.path.isfile("/dev/null")


def test_a_folder_without_write_permission(tmp_path, capfd, monkeypatch):
    """Root may write everywhere, so that the system's refusal is put in by hand."""

    def denied(*arguments):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", denied)
        code = cli.run(["fiber", "gallery:line_1_1_1_1", "-o", str(tmp_path / "out")])
    out, err = capfd.readouterr()
    assert (code, out) == (2, "")
    assert "Permission denied" in err
    assert os.listdir(tmp_path) == []


# dimension, gallery


@every_network
def test_dimension(name, capfd):
    told = json.loads(outcome(capfd, "describe", f"gallery:{name}", "--json")[1])
    code, out, err = outcome(capfd, "dimension", f"gallery:{name}")
    assert code == 0

    def line(word, key):
        return f"{word} dimension: {'not decided' if told[key] is None else told[key]}"

    expected = [
        line("local", "local_dimension"),
        line("largest", "dimension"),
        line("functional", "functional_dimension"),
    ]
    if name in REFUSED:
        assert REFUSED[name] in err
        assert err.count("\n") == 1
        expected.append(f"local dimension at most {told['upper_bound']} (kernel of the Jacobian)")
    else:
        assert err == ""
    assert out.splitlines() == expected


def test_the_gallery_is_listed_with_what_each_shows(capfd):
    code, out, err = outcome(capfd, "gallery")
    assert (code, err) == (0, "")
    assert [line.split("  ", 1) for line in out.splitlines()] == [
        [f"gallery:{name}", gallery.about(name)] for name in gallery.names()
    ]


# asking in the wrong way


@pytest.mark.parametrize("command", [[], *([name] for name in cli.cli.commands)])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(command, option, capfd):
    code, out, err = outcome(capfd, *command, option)
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: {' '.join(['semialg-fibers', *command])}")
    assert command or set(cli.cli.commands) | {"describe", "fiber", "dimension"} <= set(out.split())


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["describe", "gallery:absent"], "the gallery has no network 'absent'; it has visible_2_2_2_1"),
        (["fiber", "gallery:"], "no network ''"),
        (["describe", "gallery:a\nb"], "no network 'a\\nb'"),
        (["describe", "gallery:line_1_1_1_1", "--absent"], "--absent"),
        (["--absent"], "--absent"),
        (["describe"], "'NET'"),
        (["describe", "a", "b"], "unexpected extra argument"),
        (["absent"], "No such command 'absent'"),
        (["fiber", "gallery:line_1_1_1_1", "--component", "1.5"], "1.5"),
        (["fiber", "gallery:line_1_1_1_1", "--component"], "--component"),
        (["fiber", "gallery:line_1_1_1_1", "--format", "xml"], "'text', 'latex', 'json'"),
        (["describe", ""], "the path is empty"),
        (["describe", "a\0b"], "null"),
        (["describe", "a\udcff\n"], "no such file"),
    ],
)
def test_a_wrong_question_is_refused_in_one_line(arguments, part, capfd):
    assert_refused(outcome(capfd, *arguments), part)


def test_no_command_shows_the_help(capfd):
    code, out, err = outcome(capfd)
    assert code in (0, 2)  # as the installed click has it
    assert "Usage: semialg-fibers" in out + err


# hostile files, through the real command with little memory


def document(**changes):
    top = {
        "format": "semialg_fibers/network",
        "version": 1,
        "layers": [
            {"weight": [["1", "2"], ["3", "4"]], "bias": ["0", "1"]},
            {"weight": [["1", "-1"]], "bias": ["0"]},
        ],
    }
    return json.dumps(top | changes)


def entry(text):
    """A network file in which one weight is this JSON text."""
    return document().replace('"4"', text)


HOSTILE = {
    "ragged": (entry('"4", "5"'), "row 2: ragged"),
    "short row": (document().replace('"3", "4"', '"3"'), "row 2: ragged"),
    "widths that do not chain": (document().replace('"1", "-1"', '"1"'), "do not chain"),
    "bias of another length": (document().replace('["0", "1"]', '["0"]'), "bias"),
    "zero layers": (document(layers=[]), "layers"),
    "no layers key": (document().replace('"layers"', '"layer"'), "unknown key"),
    "NaN": (entry("NaN"), "layer 1, weight row 2, column 2"),
    "quoted nan": (entry('"nan"'), "layer 1, weight row 2, column 2"),
    "Infinity": (entry("-Infinity"), "layer 1, weight row 2, column 2"),
    "1/0": (entry('"1/0"'), "layer 1, weight row 2, column 2"),
    "code": (entry("\"__import__('os').system('touch pwned')\""), "layer 1, weight row 2, column 2"),
    "a huge exponent": (entry("1e999999999"), "layer 1, weight row 2, column 2"),
    "a huge negative exponent": (entry("1e-999999999"), "layer 1, weight row 2, column 2"),
    "a quoted huge exponent": (entry('"1e999999999"'), "layer 1, weight row 2, column 2"),
    "a tower of powers": (entry('"9**9**9"'), "layer 1, weight row 2, column 2"),
    "three million digits": (entry("7" * 3_000_000), "digits"),
    "three million quoted digits": (entry(f'"{"7" * 3_000_000}"'), "digits"),
    "three million decimals": (entry(f'"0.{"7" * 3_000_000}"'), "digits"),
    "100,000 nested brackets": (entry("[" * 100_000), ""),
    "100,000 closed brackets": (entry("[" * 100_000 + "]" * 100_000), "nested"),
    "100,000 nested objects": ('{"a":' * 100_000, ""),
    "100,000 parentheses": (entry(f'"{"(" * 100_000}1{")" * 100_000}"'), "layer 1, weight row 2, column 2"),
    "an unknown key": (document(colour="red"), "unknown key 'colour'"),
    "an unknown key in a layer": (document().replace('"weight"', '"w\\u001b[31m"', 1), "unknown key"),
    "a repeated key": (document().replace('"version": 1', '"version": 1, "version": 1'), "'version' is repeated"),
    "a repeated key in a layer": (document().replace('"bias"', '"bias": [], "bias"', 1), "'bias' is repeated"),
    "another format": (document(format="onnx"), "format"),
    "another version": (document(version=2), "version"),
    "a Boolean": (entry("true"), "layer 1, weight row 2, column 2"),
    "null": (entry("null"), "layer 1, weight row 2, column 2"),
    "symbols": (document(symbols={"a": "huge"}), "symbols: a is declared 'huge'"),
    "an undeclared symbol": (entry('"a"'), "layer 1, weight row 2, column 2"),
    "an empty box": (document(domain={"box": [["0", "0"], ["0", "1"]]}), "box"),
    "a list": ("[]", "expected an object"),
    "a number": ("1", "expected an object"),
    "empty": ("", "empty"),
    "white space": (" \n\n", "empty"),
    "truncated": (document()[:-20], "line 1"),
    "trailing text": (document() + "x", "line 1"),
    "not UTF-8": (document().encode() + b"\xff", "UTF-8"),
    "UTF-16": (document().encode("utf-16"), "UTF-8"),
    "null bytes": (b"\0" * 1000, "line 1"),
}


def limited(tmp_path, *arguments):
    """The real command with 2 GB of address space."""
    command = [sys.executable, "-c", LIMITED, *COMMAND, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=GUARD, check=False, cwd=tmp_path)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_file_that_the_hostile_ones_are_made_from_is_fine(tmp_path):
    (tmp_path / "net.json").write_text(document())
    code, out, err = limited(tmp_path, "describe", "net.json")
    assert (code, err) == (0, "")
    assert out.startswith("ReLU network 2-2-1 on R^2")


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_in_one_line(kind, tmp_path):
    data, part = HOSTILE[kind]
    path = tmp_path / "net.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    result = limited(tmp_path, "describe", "net.json")
    assert_refused(result, part)
    assert result[2].startswith("error: net.json: ")
    assert len(result[2]) < 400
    assert os.listdir(tmp_path) == ["net.json"]


@pytest.mark.parametrize("command", [["fiber"], ["dimension"], ["describe", "--json"]])
def test_every_command_refuses_it(command, tmp_path, capfd):
    path = tmp_path / "net.json"
    path.write_text(HOSTILE["1/0"][0])
    assert_refused(outcome(capfd, *command, path), "layer 1, weight row 2, column 2")
    assert_refused(outcome(capfd, *command, tmp_path), "directory")


@pytest.mark.parametrize("kind", ["directory", "missing", "fifo", "dangling link", "device"])
def test_what_is_no_file_is_refused_in_one_line(kind, tmp_path):
    path = tmp_path / "net.json"
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "dangling link":
        path.symlink_to(tmp_path / "absent")
    elif kind == "device":
        path = Path("/dev/zero")
    assert_refused(limited(tmp_path, "describe", path), str(path)[-40:])


def test_a_pipe_as_stdin_is_refused_without_waiting(tmp_path):
    assert_refused(real("describe", "/dev/stdin", stdin=subprocess.PIPE), "pipe")


# the other end of stdout and stderr


def shell(line, **options):
    quoted = "'" + "' '".join(COMMAND) + "'"
    done = subprocess.run(
        ["sh", "-c", line.replace("CMD", quoted)], capture_output=True, timeout=GUARD, check=False, **options
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("command", [f"fiber {DIGITS}", "describe gallery:line_1_1_1_1 --json", "gallery", "--help"])
def test_a_pipe_closed_after_one_line(command):
    """The digits fiber has 600 kB, more than a pipe holds."""
    code, out, err = shell(f"CMD {command} | head -n 1")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1


@pytest.mark.parametrize("command", ["fiber gallery:line_1_1_1_1", "gallery", "--help", "--version"])
def test_a_pipe_that_nobody_reads(command):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*COMMAND, *command.split()], stdout=write, stderr=subprocess.PIPE, timeout=GUARD, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "command", ["describe gallery:line_1_1_1_1", "fiber gallery:line_1_1_1_1", "gallery", "--help"]
)
@pytest.mark.parametrize("where", [">&-", "</dev/null >&- ", pytest.param(">/dev/full", id="full")])
def test_output_that_cannot_be_written_is_not_lost_in_silence(command, where):
    assert_refused(shell(f"CMD {command} {where}"), "the output cannot be written")


def test_a_closed_stdout_is_no_trouble_for_a_file(tmp_path):
    assert shell(f"CMD fiber gallery:line_1_1_1_1 -o '{tmp_path}/out' >&-") == (0, "", "")
    assert (tmp_path / "out").read_text() == to_text(fiber(gallery.network("line_1_1_1_1")))


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full", "2>&- >&-"])
def test_a_refusal_that_nobody_reads_is_still_told_by_the_exit_code(where):
    assert shell(f"CMD describe absent {where}") == (2, "", "")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_a_terminal_without_the_signs_of_mathematics(encoding):
    """What the encoding lacks is shown as \\u2264, which JSON reads as the sign that it stands for."""
    told = []
    for each in (encoding, "utf-8"):
        done = subprocess.run(
            [*COMMAND, "describe", "gallery:wide_2_3_2_1", "--json"],
            env=os.environ | {"PYTHONIOENCODING": each},
            capture_output=True,
            timeout=GUARD,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        told.append(json.loads(done.stdout.decode(each)))
    assert told[0] == told[1]
    assert "n1 ≤ d" in told[0]["refused"]


# signals


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", ["describe", "fiber"])
def test_a_signal_ends_a_long_command_with_its_code(number, code, command, tmp_path):
    """Reading takes for ever here; `main` must end without a traceback, without output, without a file."""
    program = (
        "import sys\n"
        "from semialg_fibers import cli, terminal\n"
        "def read(path):\n"
        "    print('begun', file=sys.stderr, flush=True)\n"
        "    while True: pass\n"
        "terminal.read_network = read\n"
        "cli.main()\n"
    )
    output = ["-o", str(tmp_path / "out")] if command == "fiber" else []
    process = subprocess.Popen(
        [sys.executable, "-c", program, command, "net.json", *output],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a background job ignores it
    )
    with process:
        assert process.stderr.readline() == b"begun\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=GUARD)
    assert process.returncode == code
    assert out == b""
    assert err.strip() == b""
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("raised", "code"), [(KeyboardInterrupt, 130), (MemoryError, 2), (RecursionError, 2)])
def test_what_stops_a_computation(raised, code, capfd, monkeypatch):
    def stopped(path):
        raise raised

    monkeypatch.setattr(terminal, "read_network", stopped)
    result = outcome(capfd, "describe", "net.json")
    assert result[:2] == (code, "")
    if code == 2:
        assert_refused(result, "too large")


def test_a_network_written_by_the_package_is_described_alike(tmp_path, capfd):
    for name in gallery.names():
        path = tmp_path / "net.json"
        path.write_text(network_to_json(gallery.network(name)))
        assert outcome(capfd, "describe", path, "--json") == outcome(capfd, "describe", f"gallery:{name}", "--json")


# same and check


def test_same_and_check_have_the_codes_of_the_contract(tmp_path, capfd):
    equal = ("same", "gallery:exchange_of_roles", "gallery:exchange_of_roles_partner")
    different = ("same", "gallery:visible_2_2_2_1", "gallery:linear_2_2_2_1")
    assert outcome(capfd, *equal)[0] == 0
    assert outcome(capfd, *different)[0] == 1
    assert outcome(capfd, "same", "gallery:visible_2_2_2_1", "gallery:line_1_1_1_1")[0] == 2
    for arguments in (equal, different):
        text = outcome(capfd, *arguments, "--json")[1]
        path = tmp_path / "certificate.json"
        path.write_text(text)
        assert outcome(capfd, "check", str(path))[0] == 0
        document = json.loads(text)
        document["b"]["layers"][-1]["bias"] = ["-77"]
        path.write_text(json.dumps(document))
        assert outcome(capfd, "check", str(path))[0] == 1
    path.write_text("{}")
    assert outcome(capfd, "check", str(path))[0] == 2


def test_a_certificate_beyond_the_budget_is_neither_verified_nor_rejected(tmp_path, capfd):
    """Also a file whose claim is true, or false, of which nobody would see the end."""
    layer = {"weight": [[str(int(i == j)) for j in range(30)] for i in range(30)], "bias": ["0"] * 30}
    last = {"weight": [["1"] * 30], "bias": ["0"]}
    net = {"format": "semialg_fibers/network", "version": 1, "layers": [layer, layer, layer, last]}
    document = {"format": "semialg_fibers/certificate", "version": 1, "claim": "same", "kind": "cells"}
    path = tmp_path / "cells.json"
    path.write_text(json.dumps(document | {"orders": [], "factors": [], "a": net, "b": net}))
    code, out, err = outcome(capfd, "check", str(path), "--budget", "1000000")
    assert (code, err) == (3, "")
    assert out.startswith("not re-proved within the budget of 1,000,000 multiplications: raise it")
    assert outcome(capfd, "check", str(path), "--budget", "-1")[0] == 2
    small = tmp_path / "small.json"
    small.write_text(outcome(capfd, "same", "gallery:deep_2_2_2_2_1", "gallery:deep_2_2_2_2_1", "--json")[1])
    assert outcome(capfd, "check", str(small))[:2] == (0, "verified: same function\n")


def test_undecided_has_a_code_of_its_own(tmp_path, capfd):
    """min(1, x⁺, y⁺) in two ways (beyond §2.3): the polynomial methods leave it open, cells decide it."""
    paths = []
    for name, first in (("a", [["1", "0"], ["0", "-1"]]), ("b", [["0", "1"], ["-1", "0"]])):
        layers = [
            {"weight": first, "bias": ["0", "1"]},
            {"weight": [["0", "-1"], ["-1", "-1"]], "bias": ["1", "1"]},
            {"weight": [["1", "-1"]], "bias": ["0"]},
        ]
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps({"format": "semialg_fibers/network", "version": 1, "layers": layers}))
    arguments = ("same", *map(str, paths))
    assert outcome(capfd, *arguments, "--method", "canonical")[0] == 3
    assert outcome(capfd, *arguments)[0] == 0


# laws


@every_network
def test_laws_are_told_in_three_ways(name, capfd):
    code, out, err = outcome(capfd, "laws", f"gallery:{name}")
    assert (code, err) == (0, "")
    code, text, err = outcome(capfd, "laws", f"gallery:{name}", "--json")
    assert (code, err) == (0, "")
    told = json.loads(text)
    assert told["total"] == told["independent"] == len(told["laws"])
    assert f"number of independent laws: exactly {told['total']}" in out
    assert all(law["polynomial"] in out for law in told["laws"])
    code, latex, err = outcome(capfd, "laws", f"gallery:{name}", "--latex")
    assert (code, err) == (0, "")
    assert latex.count("&=") == told["independent"]


def test_laws_are_refused_in_one_sentence(tmp_path, capfd):
    assert_refused(outcome(capfd, "laws", "gallery:visible_2_2_2_1", "--json", "--latex"), "exclude each other")
    assert_refused(outcome(capfd, "laws", DIGITS), "parameters, more than the budget")
    path = tmp_path / "net.json"
    write_network(Network([([[0]], [0]), ([[1]], [0])]), path)
    assert_refused(outcome(capfd, "laws", path), "vanishes on every cell")


# prove


@pytest.mark.parametrize("name", ["permutation_symmetry", "sign_flip"])
def test_prove_prints_the_proof_and_its_verdict(name, capfd):
    proof = theorem(name)
    assert outcome(capfd, "prove", name) == (
        0, f"{proof.to_text()}\nverified: all {len(proof.steps)} steps follow\n", "",
    )  # fmt: skip
    assert outcome(capfd, "prove", name, "--latex") == (0, proof.to_latex(), "")


def test_a_proof_is_a_file_that_check_proves_again(capfd, tmp_path):
    code, out, _ = outcome(capfd, "prove", "orientation_identity", "--json")
    path = tmp_path / "proof.json"
    path.write_text(out)
    assert code == 0
    assert outcome(capfd, "check", path) == (
        0,
        "verified: for Z: n × p; n, p: positive integers: relu(Z) − relu(−Z) = Z\n",
        "",
    )
    path.write_text(out.replace('"rule": "active"', '"rule": "inactive"', 1))
    code, out, err = outcome(capfd, "check", path)
    assert (code, err) == (1, "")
    assert out.startswith("rejected: the proof has a gap at step ")
    path.write_text('{"format": "semialg_fibers/derivation", "version": 1}')
    assert_refused(outcome(capfd, "check", path), "derivation")


def test_prove_names_the_theorems_when_it_knows_none(capfd):
    assert_refused(outcome(capfd, "prove", "fermat"), "hiding_translation")


# long enumerations


def test_atlas_writes_every_format_by_option_or_ending(capfd, tmp_path):
    code, out, err = outcome(capfd, "atlas", 2, 2, 2, 1)
    assert (code, err) == (0, "")
    assert out == atlas_to_text(atlas(2, 2, 2, 1))
    assert json.loads(outcome(capfd, "atlas", 2, 2, 2, 1, "--format", "json")[1])["patterns"] == 64
    for ending, write in (
        (".csv", atlas_to_csv),
        (".tex", atlas_to_latex),
        (".json", atlas_to_json),
        ("", atlas_to_text),
    ):
        file = tmp_path / f"atlas{ending}"
        assert outcome(capfd, "atlas", 2, 2, 2, 1, "-o", file) == (0, "", "")
        assert file.read_text() == write(atlas(2, 2, 2, 1))


def test_atlas_refuses_in_one_sentence(capfd, tmp_path):
    assert_refused(outcome(capfd, "atlas", 2, 3, 1, 1), "n1 ≤ d")
    assert_refused(outcome(capfd, "atlas", 2, 0, 1, 1), "at least 1")
    assert_refused(outcome(capfd, "atlas", 2, 2, 1), "4")
    assert_refused(outcome(capfd, "atlas", 2, 2, 1, 1, "--workers", 0), "a whole number, at least 1")
    assert_refused(outcome(capfd, "atlas", 2, 2, 1, 1, "--workers", 1, "--dask", "x"), "exclude each other")
    (tmp_path / "text").write_text("of somebody else, and not an enumeration")
    assert_refused(outcome(capfd, "atlas", 2, 2, 1, 1, "--checkpoint", tmp_path / "text"), "not a checkpoint")


def test_count_and_dimension_in_chunks_say_what_they_say_at_once(capfd, tmp_path):
    net = tmp_path / "net.json"
    write_network(subset_sum_network((3, 5, 8, 2), 10), net)
    for options in ((), ("--checkpoint", tmp_path / "a"), ("--checkpoint", tmp_path / "a", "--workers", 2)):
        assert outcome(capfd, "count", net, *options) == (0, "3\n", "")
    at_once = outcome(capfd, "dimension", "gallery:visible_2_2_2_1")
    in_chunks = outcome(capfd, "dimension", "gallery:visible_2_2_2_1", "--checkpoint", tmp_path / "b")
    assert at_once == in_chunks
    assert at_once[0] == 0
    assert_refused(outcome(capfd, "dimension", "gallery:wide_2_3_2_1", "--checkpoint", tmp_path / "b"), "belongs to")


def _alive_in_group(group):
    """The processes of a group that run, where /proc tells."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, member = path.read_text().rpartition(")")[2].split()[:3]
            if int(member) == group and state not in "ZX":
                found.append(path.parent.name)
    return found


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_atlas_leaves_a_checkpoint_and_no_process(number, code, tmp_path):
    file = tmp_path / "kept"
    command = [*COMMAND, "atlas", "4", "4", "6", "1", "--workers", "2", "--checkpoint", str(file)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a background job ignores it
    )
    log = Path(f"{file}-wal")
    end = time.monotonic() + GUARD
    while (not log.exists() or log.stat().st_size < 20_000) and time.monotonic() < end and process.poll() is None:
        time.sleep(0.02)
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    out, err = process.communicate(timeout=GUARD)
    assert (process.returncode, out, err.strip()) == (code, b"", b"")  # click ends the line of ^C
    while (left := _alive_in_group(process.pid)) and time.monotonic() < end + GUARD:
        time.sleep(0.05)
    assert left == []
    base = sqlite3.connect(file)
    assert 0 < base.execute("SELECT count(*) FROM chunks").fetchone()[0] < 64
    base.close()
