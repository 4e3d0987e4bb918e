"""What a person is told: numbers with nouns, advice that works where it is given; nothing is ignored in silence."""

import json

import numpy as np
import pytest
import sympy

from semialg_fibers import cli, gallery, plot_arrangement, plot_fiber, plot_laws, plot_symmetry
from semialg_fibers.errors import InvalidNetworkError, SemialgError, UnsupportedError
from semialg_fibers.exchange.exporters import BY_SUFFIX, WRITERS
from semialg_fibers.exchange.files import network_to_json, read_network, write_network
from semialg_fibers.exchange.state_dicts import from_tensors
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.geometry.domain import Box
from semialg_fibers.geometry.expression import undecided
from semialg_fibers.geometry.reading import scalar
from semialg_fibers.networks.layer import Network
from semialg_fibers.plots.pictures import TAKES, picture_of
from semialg_fibers.questions.equivalence import same_function
from semialg_fibers.questions.gradient_steps import gradient_step
from semialg_fibers.questions.identifiability import identifiability
from semialg_fibers.terminal import in_commands

HIDDEN = "gallery:hidden_2_2_2_1"
ONE = Network([([[1]], [0]), ([[1]], [0])])
TWO = gallery.network("hidden_2_2_2_1")
a, r = sympy.Symbol("a", positive=True), sympy.Symbol("r", real=True)
b = sympy.Symbol("b", negative=True)
LETTERS = Network([([[a, 1], [1, r]], [0, -1]), ([[2, -1]], [-3]), ([[1]], [0])])


def ran(capfd, *arguments):
    code = cli.run([str(argument) for argument in arguments])
    return code, *capfd.readouterr()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Network([([[1]], [0])], Box([0, 0], [1, 1])), "the first layer takes 1 input$"),
        (lambda: Network([([[1], [1]], [0, 0]), ([[1]], [0])]), "layer 2 takes 1 input, layer 1 gives 2$"),
        (lambda: Network.generic(1, 1, 1, 1, []), "expected 1 string of signs"),
        (lambda: Network.generic(1, 0, 1, 1, ["++"]), "expected 1 character "),
        (lambda: ONE.rescaled(1, [1, 2]), "layer 1 has 1 unit, got 2 factors"),
        (lambda: ONE.permuted(1, [1]), "of the 1 unit of layer 1"),
        (lambda: ONE.rescaled(2, [1]), "layer 2 is not hidden: the network has hidden layer 1$"),
        (lambda: Network([([[1]], [0])]).rescaled(1, [1]), "layer 1 is not hidden: the network has no hidden layer$"),
        (lambda: ONE.part(2, 3), "the network has layers 1 to 2$"),
        (lambda: ONE.domain.contains([1, 2]), "1 coordinate, got 2"),
        (lambda: plot_fiber(fiber(gallery.network("visible_2_2_2_1")), components=[7]), "^component 0 can be drawn"),
        (lambda: plot_symmetry(TWO, TWO, output=1), "both networks have output 0, got 1"),
        (lambda: gradient_step(ONE, [[1]], [[1, 2]], 1), "a point has 1 coordinate and its target 2"),
        (lambda: plot_arrangement(TWO, ((0, 0), (0, "1/2"))), r"the window \[0, 0\] × \[0, 1/2\] has no interior"),
        (lambda: read_network(""), "^the path is empty; give the path of a file$"),
        (lambda: write_network(ONE, b""), "^the path is empty"),
    ],
)
def test_numbers_stand_with_their_nouns_and_names_in_prose(call, words):
    with pytest.raises(InvalidNetworkError, match=words):
        call()


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_number_of_seconds_is_finite(value, capfd):
    with pytest.raises(InvalidNetworkError, match="seconds: expected a finite number, at least 0, got the float"):
        same_function(ONE, ONE, seconds=value)
    assert "a finite number" in ran(capfd, "same", HIDDEN, HIDDEN, "--seconds", value)[2]
    with pytest.raises(InvalidNetworkError, match="of at most 300 digits, got the float 1e\\+305"):
        same_function(ONE, ONE, seconds=1e305)
    with pytest.raises(InvalidNetworkError, match="budget: expected a whole number, at least 0, of at most 300 digits"):
        same_function(ONE, ONE, budget=10**400)


# letters


def hidden(*ends):
    """A network whose first hyperplane is hidden, with these ends of its translation."""
    rows = [[1, -1] for _ in ends]
    return Network([([[1, 0], [0, 1]], [0, r]), (rows, list(ends)), ([[1] * len(ends)], [0])])


@pytest.mark.parametrize(
    ("ends", "told", "ranges"),
    [
        ((-1, -2), "any t > -1", {-1}),
        ((-2, b, -1), "any t > max(b, -1)", {b, -1}),
        ((b - 1, b - 2), "any t > b - 1", {b - 1}),
        ((b - 1, b, -3, -5), "any t > max(b, -3)", {b, -3}),
    ],
)
def test_of_the_ends_of_a_translation_those_are_named_that_matter(ends, told, ranges):
    net = hidden(*ends)
    assert identifiability(net).reasons[0].sentence.endswith(f"can be translated by {told}")
    found = next(c for c in fiber(net).components if c.kind == "hidden").parametrization.ranges
    assert {each.rhs for each in found if str(each.lhs) == "t"} == ranges


@pytest.mark.parametrize(
    "command",
    [
        ["describe"],
        ["describe", "--json"],
        ["dimension"],
        ["dimension", "--workers", "1"],
        ["laws"],
        ["report", "-o", "x.html"],
        ["same", HIDDEN],
        *(["plot", "-o", "x.svg", "--kind", kind] for kind in TAKES if kind != "components"),
    ],
    ids=" ".join,
)
def test_on_the_command_line_numbers_are_written_in_the_file(command, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.json").write_text(network_to_json(LETTERS))
    code, out, err = ran(capfd, *command, "net.json")
    assert "in the network file" in out + err
    assert "subs(" not in out + err
    assert code == (0 if command[0] == "describe" or command == ["dimension"] else 2)


def test_advice_for_python_and_for_the_command_line():
    with pytest.raises(UnsupportedError) as numbers:
        plot_laws(LETTERS)
    assert numbers.value.message == "this needs numbers: substitute values for a, r, as in net.subs({...})"
    assert in_commands(numbers.value.message) == "this needs numbers: write values for a, r in the network file"
    assert in_commands([undecided(scalar(r)).message]) == [
        'the sign of r is not declared: declare it in the network file, as in "symbols": {"r": "positive"}, or write '
        "a number there"
    ]
    assert in_commands(undecided(scalar(r + a)).message).endswith(
        'declare a letter for it in the network file, as in "symbols": {"s": "positive"}, or write numbers there'
    )
    weights = {f"{name}.weight": np.eye(2) for name in ("a", "z")}
    with pytest.raises(SemialgError, match=r"order=\['[az]', '[az]'\]") as order:
        from_tensors(weights, None, "the file")
    assert in_commands(order.value.message).endswith(("as in --order a,z", "as in --order z,a"))
    odd = """as in order=['fc', "a'] b"]"""  # names come from files: this one is left as it is
    assert in_commands(odd) == odd


def test_pictures_of_too_many_inputs_say_which_kind_there_is(tmp_path, capfd):
    code, _, err = ran(capfd, "plot", "gallery:flips_3_3_1_1", "--kind", "symmetry", "-o", tmp_path / "x.svg")
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert err.endswith("this network has 3; --kind arrangement restricts it to one\n")


OPEN = {
    "format": "semialg_fibers/network", "version": 1, "symbols": {"a": "real"},
    "layers": [{"weight": [[1, 0], [0, 1]], "bias": [0, 0]}, {"weight": [[1, "a"]], "bias": [-1]},
               {"weight": [[1]], "bias": [0]}],
}  # fmt: skip


def test_what_letters_leave_open_is_not_outside_the_theorem(tmp_path, capfd):
    (tmp_path / "net.json").write_text(json.dumps(OPEN))
    code, out, _ = ran(capfd, "describe", tmp_path / "net.json")
    assert code == 0
    assert out.splitlines()[1].startswith("the fiber is not decided: the sign of a is not declared")
    assert "outside" not in out


def test_a_document_of_another_format_is_told_by_its_format(tmp_path, capfd):
    assert ran(capfd, "fiber", HIDDEN, "-o", tmp_path / "fiber.json")[0] == 0
    code, _, err = ran(capfd, "describe", tmp_path / "fiber.json")
    assert (code, "the format is 'semialg_fibers/fiber'; expected \"semialg_fibers/network\"" in err) == (2, True)
    (tmp_path / "empty").touch()
    assert ran(capfd, "check", tmp_path / "empty")[2].endswith("the text is empty; give the whole file\n")


def test_a_limit_is_named_as_it_was_given(capfd):
    code, _, err = ran(capfd, "same", HIDDEN, HIDDEN, "--cells", "-1")
    assert (code, "'--cells'" in err) == (2, True)


# nothing is ignored in silence


def test_a_checkpoint_that_nothing_was_kept_in_is_told(tmp_path, capfd):
    code, out, err = ran(capfd, "count", HIDDEN, "--checkpoint", tmp_path / "kept")
    assert (code, out) == (0, "2\n")
    assert err == "note: nothing had to be enumerated, so that the checkpoint was not used\n"
    assert not (tmp_path / "kept").exists()
    assert ran(capfd, "dimension", HIDDEN, "--checkpoint", tmp_path / "kept")[2] == ""
    assert ran(capfd, "dimension", HIDDEN, "--checkpoint", tmp_path / "kept")[2] == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["prove", "sign_flip", "--latex", "--json"], "--json and --latex exclude each other"),
        (["laws", HIDDEN, "--latex", "--json"], "--json and --latex exclude each other"),
        (["plot", HIDDEN, "-o", "x.svg", "--component", "0"], "component means nothing for the kind arrangement"),
        (
            ["plot", HIDDEN, "-o", "x.svg", "--kind", "fiber", "--window", "0,1,0,1"],
            "only for arrangement and symmetry",
        ),
        (["plot", HIDDEN, "-o", "x.svg", "--kind", "laws", "--free", "t"], "only for fiber; leave it out"),
        (
            ["plot", "gallery:line_1_1_1_1", "-o", "x.svg", "--window", "0,1,0,1"],
            "the graph of a function of one input has none",
        ),
        (["plot", HIDDEN, "-o", "x.svg", "--kind", "fiber", "--coordinates", "b1_0,,b2_0"], "got 'b1_0', '', 'b2_0'"),
        (["plot", HIDDEN, "-o", "x.gif"], "the name of a picture ends in .png, .svg or .pdf, got 'x.gif'"),
        (["report", HIDDEN, "-o", "x.txt"], "the name of a page ends in .html or .htm, got 'x.txt'"),
        (["report", HIDDEN, "-o", "html"], "the name of a page ends in .html or .htm, got 'html'"),
        (["convert", "x.npz", "-o", "x.txt"], "the name of a network file ends in .json, got 'x.txt'"),
    ],
)
def test_what_would_be_ignored_is_refused(arguments, words, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = ran(capfd, *arguments)
    assert (code, out, err.count("\n"), list(tmp_path.iterdir())) == (2, "", 1, [])
    assert words in err


def test_every_option_of_a_picture_belongs_to_a_kind():
    assert set(TAKES) == set(cli.KINDS)
    options = {each.name for each in cli.plot.params} - {"net", "output", "kind"}
    assert options == set().union(*TAKES.values())
    with pytest.raises(InvalidNetworkError, match="no picture of the kind 'other'"):
        picture_of(TWO, "other")


@pytest.mark.parametrize("ending", BY_SUFFIX)
def test_the_ending_of_a_file_chooses_the_format_unless_one_is_stated(ending, tmp_path, capfd):
    net = gallery.network("line_1_1_1_1")
    for name, options, form in (
        (f"x{ending}", [], BY_SUFFIX[ending]),
        (f"y{ending.upper()}", ["--format", "latex"], "latex"),
        ("z.foo", ["--format", "json"], "json"),
        ("z", [], "text"),
        ("z.foo", [], "text"),
    ):
        assert ran(capfd, "fiber", "gallery:line_1_1_1_1", "-o", tmp_path / name, *options) == (0, "", "")
        assert (tmp_path / name).read_text() == WRITERS[form](fiber(net))
    assert set(BY_SUFFIX.values()) == set(WRITERS)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"free": ["zz"]}, "free: 'zz' cannot run: b1_0, b2_0 do not depend on it; they depend on"),
        ({"free": ["t", "zz"]}, "'zz' cannot run"),
        ({"free": ["lambda_1"]}, "'lambda_1' cannot run"),
        ({"free": ["t", "t"]}, "free: t stands there twice; name each once"),
        ({"coordinates": ["b1_0", "b1_0"]}, "coordinates: b1_0 stands there twice"),
        ({"components": [1, 1]}, "components: 1 stands there twice"),
    ],
)
def test_what_cannot_run_or_stands_there_twice_is_not_drawn(given, words):
    given = {"coordinates": ["b1_0", "b2_0"], **given}
    with pytest.raises(InvalidNetworkError, match=words):
        plot_fiber(fiber(TWO), **given)


def test_where_no_symbol_can_run_the_sentence_says_why():
    doubled = TWO.with_layers([*TWO.layers[:-1], ([[1, 2], [3, 4]], [0, 0])])
    with pytest.raises(InvalidNetworkError, match="b3_0, b3_1 do not depend on any symbol; choose other coordinates"):
        plot_fiber(fiber(doubled), ["b3_0", "b3_1"], free=["t"])
    bound = fiber(gallery.network("linear_2_2_2_1"))
    with pytest.raises(
        InvalidNetworkError, match="equations bind the symbols to each other, so that members are drawn"
    ):
        plot_fiber(bound, ["b1_0", "b2_0"], free=["t"])


def test_a_symbol_that_runs_is_drawn():
    drawn = plot_fiber(fiber(TWO), ["b1_0", "b2_0"], free=["lambda_0"]).axes[0].lines
    assert len(drawn[0].get_xdata()) > 50
