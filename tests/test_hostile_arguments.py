"""Every public name is called with what it does not expect: the outcome is an answer, or a documented error.

`FUNCTIONS`, `CLASSES` and `METHODS` hold one good call for each public name. Each argument of it in turn is replaced by
each of `HOSTILE`, and by networks with letters or on other domains. A new public name without a row fails the test.
"""

import inspect
import math
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy

import semialg_fibers
from semialg_fibers import Box, Layer, Network, Orthant, Polyhedron, Space, gallery
from semialg_fibers.cli import cli, run
from semialg_fibers.errors import SemialgError
from semialg_fibers.exchange.files import write_network
from semialg_fibers.plots.planar import plane_through

ROOT = Path(semialg_fibers.__file__).parents[1]

LINE = gallery.network("line_1_1_1_1")
SHALLOW = Network([([[1], [-2]], [0, 1]), ([[1, 3]], [0])])
BENT = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
LETTERS = Network.generic(1, 1, 1, 1, ["+-"])
NESTED = []
NESTED.append(NESTED)
DEEP = [1]
for _ in range(3000):
    DEEP = [DEEP]

HOSTILE = {
    "None": None,
    "a word": "x",
    "no word": "",
    "many words": "x" * 5000,
    "NUL": "\0",
    "bytes": b"\xff",
    "0": 0,
    "1": 1,
    "-1": -1,
    "huge": 10**30,
    "longer than Python prints": 10**5000,
    "a half": Fraction(1, 2),
    "a float": 0.5,
    "nan": math.nan,
    "inf": math.inf,
    "True": True,
    "complex": 1j,
    "[]": [],
    "()": (),
    "{}": {},
    "[1]": [1],
    "[-1, 10**9]": [-1, 10**9],
    "[None]": [None],
    "['x']": ["x"],
    "[[]]": [[]],
    "[(3, None)]": [(3, None)],
    "[[1], [1, 2]]": [[1], [1, 2]],
    "[[nan]]": [[math.nan]],
    "a list in itself": NESTED,
    "a deep list": DEEP,
    "a set": {1},
    "a dict": {"a": 1},
    "an object": object(),
    "a class": int,
    "a function": lambda *arguments: None,
    "an iterator": "iter",
    "a letter": sympy.Symbol("z"),
    "infinity": sympy.oo,
    "an array": np.array([[1.0, np.nan]]),
    "objects": np.array([None, 1], dtype=object),
    "no array": np.zeros((0, 3)),
    "a cube": np.zeros((2, 2, 2)),
    "a network": SHALLOW,
    "letters": LETTERS,
    "an orthant": Network([([[1]], [0]), ([[1]], [0])], Orthant(1)),
    "a polyhedron": Network([([[1]], [0]), ([[1]], [0])], Polyhedron([[1]], [1])),
    "one layer": Network([([[1, 2]], [3])]),
    "zeros": Network([([[0, 0], [0, 0]], [0, 0]), ([[0, 0]], [0]), ([[0]], [0])]),
    "a domain": Box([0], [1]),
    "a fiber": semialg_fibers.fiber(SHALLOW),
    "an answer": semialg_fibers.same_function(SHALLOW, SHALLOW),
}

a, b = sympy.symbols("a b", real=True)
SET = semialg_fibers.BasicSet((a, b), (a * b - 1,), (a,))
FIBER = semialg_fibers.fiber(SHALLOW)
ATLAS = semialg_fibers.atlas(1, 1, 1, 1)
LAWS = semialg_fibers.conservation_laws(SHALLOW)
LINEAR_LAWS = semialg_fibers.architecture_laws((1, 1, 1), activation="linear")
ARRAYS = [(np.array([[1.0], [2.0]]), np.array([0.0, 1.0])), (np.array([[1.0, 1.0]]), None)]

# A call: its arguments in order. "FILE" stands for a file with a network, "NEW" for a path where there is none.
FUNCTIONS = {
    "read_network": ("FILE",),
    "write_network": (SHALLOW, "NEW"),
    "from_arrays": (ARRAYS, None),
    "from_npz": ("FILE",),
    "from_safetensors": ("FILE", None),
    "from_torch": ("FILE", None, None, False),
    "from_onnx": ("FILE", None, False),
    "from_sklearn": (None,),
    "from_keras": ("FILE", None, False),
    "to_torch": (SHALLOW, "float64"),
    "to_onnx": (SHALLOW, "float64"),
    "summary": (SHALLOW, 100),
    "neuron_types": (BENT, 2, 100),
    "hidden_hyperplanes": (BENT, 100),
    "bending_hyperplanes": (BENT,),
    "translate": (BENT, 0, 1),
    "flip": (BENT, [0]),
    "sign_flip_group": (BENT,),
    "translation_range": (BENT, 0),
    "genericity": (BENT, 100),
    "fiber": (BENT,),
    "complete_fiber": (SHALLOW,),
    "closures_meet": (FIBER.components[0], FIBER.components[0], 10),
    "symmetries": (BENT, 100),
    "sound_fiber": (BENT, 100),
    "identifiability": (BENT,),
    "identifiability_probability": (2, 2, "zero"),
    "bias_free_dimension": (SHALLOW,),
    "same_function": (SHALLOW, SHALLOW, "auto", 100, None, None),
    "canonical_form": (BENT, 100),
    "match_units": (SHALLOW, SHALLOW, 100),
    "align": (SHALLOW, SHALLOW, 2),
    "relabelling_count": (3, 100),
    "is_permutation_equivariant": ("relu", 2),
    "averaging": (SHALLOW, [1, 0], 1),
    "unit_correlations": (SHALLOW, SHALLOW, [[0], [1], [2]], 1),
    "distant_twin": (SHALLOW, 10),
    "atlas": (1, 1, 1, 1, None),
    "atlas_to_text": (ATLAS,),
    "atlas_to_csv": (ATLAS,),
    "atlas_to_latex": (ATLAS,),
    "atlas_to_json": (ATLAS,),
    "count_components": (SHALLOW, None, 100),
    "cell_count": (SHALLOW, None, 100),
    "cell_patterns": (SHALLOW, None, 100),
    "process_pool": (1,),
    "dask_cluster": ("tcp://127.0.0.1:1",),
    "functional_dimension": (SHALLOW, 100, 100, None),
    "explain_dimension": (SHALLOW, 100),
    "conservation_laws": (SHALLOW, 100, 100),
    "architecture_laws": ((1, 1, 1), True, "relu", 100),
    "gradient_step": (SHALLOW, [[1]], [[0]], "1/2"),
    "drift": (SHALLOW, LAWS.laws[:0], [[1]], [[0]], ["1/8", "1/16"]),
    "cells": (SHALLOW, 100, None),
    "nonnegative_column_rank": ([[1, 2], [-1, 0]],),
    "to_text": (FIBER, 0),
    "to_latex": (FIBER, 0),
    "to_json": (FIBER, 0),
    "from_json": (semialg_fibers.to_json(SET),),
    "to_smtlib": (FIBER, 0),
    "to_singular": (FIBER, 0),
    "to_macaulay2": (FIBER, 0),
    "to_sage": (FIBER, 0),
    "to_mathematica": (FIBER, 0),
    "dimension_table": ([SHALLOW],),
    "plot_arrangement": (LINE, None, None),
    "plot_symmetry": (BENT, BENT, None, 0),
    "plot_fiber": (FIBER, (), (), ()),
    "plot_components": (FIBER, 3),
    "plot_laws": (SHALLOW, [[1]], [[0]], "1/1000", 2),
    "report_html": (LINE,),
}
# What a user makes; the others are answers, made by the package.
CLASSES = {
    "Layer": ([[1]], [0]),
    "Network": ([([[1]], [0])], None),
    "Space": (1,),
    "Orthant": (1,),
    "Box": ([0], [1]),
    "Polyhedron": ([[1]], [1]),
    "BasicSet": ((a,), (a,), (a,), (a,)),
    "SemialgebraicSet": ((SET,),),
    "Pointwise": (sympy.Symbol("x"), ()),
    "Runner": (None, None, 1, 1, None),
    "Initialisation": (1, 1, "zero"),
}
POINT = {a: 1, b: 1}
SET_QUESTIONS = {"is_empty": ("z3", 0), "includes": (SET, "z3", 0), "is_subset": (SET, "z3", 0)}
MEMBER = FIBER.components[0].sample(1)
METHODS = {
    "Layer": (Layer([[1]], [0]), {}),
    "Network": (
        SHALLOW,
        {"subs": ({"z": 1},), "part": (1, 1), "permuted": (1, [1, 0]), "rescaled": (1, [1, 2]), "__call__": ([1],)},
    ),
    "Space": (Space(1), {"contains": ([1],)}),
    "Orthant": (Orthant(1), {"contains": ([1],)}),
    "Box": (Box([0], [1]), {"contains": ([1],)}),
    "Polyhedron": (Polyhedron([[1]], [1]), {"contains": ([1],)}),
    "Fiber": (FIBER, {"locate": (MEMBER,), "contains": (MEMBER,), "sample": (0,)}),
    "FiberComponent": (
        FIBER.components[0],
        {
            "coordinates": (MEMBER,),
            "path": (MEMBER, SHALLOW),
            "subs": ({"z": 1},),
            "contains": (MEMBER,),
            "sample": (0,),
        },
    ),
    "CompleteFiber": (
        semialg_fibers.complete_fiber(SHALLOW),
        {
            "feasibility": ((), (), 0),
            "stratum": (semialg_fibers.complete_fiber(SHALLOW).strata[0].index,),
            "locate": (MEMBER,),
            "contains": (MEMBER,),
            "sample": (0,),
        },
    ),
    "BasicSet": (
        SET,
        {
            "values": (POINT,),
            "contains": (POINT,),
            "sample": (0,),
            "subs": ({a: 1},),
            "drop": ([a],),
            "jacobian": (POINT,),
            "jacobian_rank": (POINT,),
            "tangent_space": (POINT,),
            "local_dimension": (POINT,),
            "jacobian_dimension": (0,),
            **SET_QUESTIONS,
        },
    ),
    "SemialgebraicSet": (
        semialg_fibers.SemialgebraicSet((SET,)),
        {
            "contains": (POINT,),
            "sample": (0,),
            "subs": ({a: 1},),
            "drop": ([a],),
            "local_dimension": (POINT,),
            "jacobian_dimension": (0,),
            **SET_QUESTIONS,
        },
    ),
    "Symmetry": (semialg_fibers.symmetries(BENT)[0], {"move": ([1, 0],), "sample": (0,)}),
    "SoundFiber": (semialg_fibers.sound_fiber(BENT), {"contains": (BENT,), "sample": (0,)}),
    "Same": (semialg_fibers.same_function(SHALLOW, SHALLOW), {"check": (100,)}),
    "Different": (semialg_fibers.same_function(SHALLOW, Network([([[1]], [0])])), {"check": (100,)}),
    "Undecided": (semialg_fibers.Undecided(SHALLOW, SHALLOW, "no reason"), {"check": (100,)}),
    "Atlas": (ATLAS, {}),
    "ConservationLaws": (LAWS, {"rank_at": (dict.fromkeys(LAWS.parameters.names, 1),)}),
    "ArchitectureLaws": (LINEAR_LAWS, {"rank_at": (dict.fromkeys(LINEAR_LAWS.parameters.names, 1),)}),
}
# Functions that are given functions, and helpers of the package on exact forms: errors there are those of the caller.
NOT_CALLED = {
    "count",
    "fraction",
    "results",
    "run",
    "infimum",
    "supremum",
    "positive_point",
    "apply",
    "value",
    "draw",
} | {
    "contains_numbers",
    "with_layers",
}
ANSWERS = {"Genericity", "Identifiability", "Explanation", "AtlasRow"}


def public(kind):
    return {
        name: getattr(semialg_fibers, name) for name in semialg_fibers.__all__ if kind(getattr(semialg_fibers, name))
    }


def is_kind(value):
    return inspect.isclass(value) and not issubclass(value, BaseException | Warning)


def test_every_public_name_has_a_row():
    assert set(FUNCTIONS) == set(public(inspect.isfunction))
    kinds = set(public(is_kind))
    assert set(CLASSES) | set(METHODS) | ANSWERS == kinds
    for name, kind in public(is_kind).items():
        methods = {
            method
            for method, function in inspect.getmembers(kind, inspect.isfunction)
            if not method.startswith("_") and len(inspect.signature(function).parameters) > 1
        }
        rows = set(METHODS[name][1]) if name in METHODS else set()
        assert methods - NOT_CALLED <= rows, name


def outcome(function, arguments):
    """Call, and read what is computed when it is asked for; None, or what is wrong with the outcome."""
    given = [iter([1]) if isinstance(each, str) and each == "iter" else each for each in arguments]
    try:
        found = function(*given)
        if inspect.isgenerator(found):
            list(zip(range(50), found, strict=False))
    except SemialgError as error:
        message = error.message
        return None if message and "\n" not in message and len(message) < 2000 else f"says {message!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def faults(function, good, tmp_path):
    path, new = tmp_path / "net.json", str(tmp_path / "new.json")
    write_network(SHALLOW, path)
    good = tuple({"FILE": str(path), "NEW": new}.get(each, each) if isinstance(each, str) else each for each in good)
    if fault := outcome(function, good):
        yield "the good call", fault
    names = list(inspect.signature(function).parameters)
    for place in range(len(good)):
        for name, value in HOSTILE.items():
            fault = outcome(function, (*good[:place], value, *good[place + 1 :]))
            if fault:
                yield f"{names[place] if place < len(names) else place} = {name}", fault


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Files with strange names are written there."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions(name, tmp_path):
    found = list(faults(getattr(semialg_fibers, name), FUNCTIONS[name], tmp_path))
    assert not found, "\n".join(f"{name}({place}): {fault}" for place, fault in found)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_classes(name, tmp_path):
    found = list(faults(getattr(semialg_fibers, name), CLASSES[name], tmp_path))
    assert not found, "\n".join(f"{name}({place}): {fault}" for place, fault in found)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods(name, tmp_path):
    made, rows = METHODS[name]
    found = [(m, *each) for m, good in rows.items() for each in faults(getattr(made, m), good, tmp_path)]
    assert not found, "\n".join(f"{name}.{method}({place}): {fault}" for method, place, fault in found)


# The command line

NET = "gallery:line_1_1_1_1"
COMMANDS = {
    "describe": (NET,),
    "fiber": (NET, "--format", "text", "--component", "0"),
    "dimension": (NET, "--workers", "1"),
    "count": (NET, "--workers", "1"),
    "atlas": ("1", "1", "1", "1", "--format", "text"),
    "laws": (NET,),
    "plot": (NET, "-o", "p.svg", "--kind", "arrangement", "--window", "0,1,0,1", "--component", "0"),
    "report": (NET, "-o", "r.html"),
    "same": (NET, NET, "--method", "auto", "--cells", "100", "--seconds", "1"),
    "check": ("FILE", "--budget", "100"),
    "prove": ("sign_flip",),
    "convert": ("FILE", "-o", "n.json", "--order", "a,b", "--root-bits", "53"),
    "gallery": (),
}
WORDS = ["", "x", "-1", "0.5", "nan", "1e400", "9" * 400, "\udcff", "a,b,,", "gallery:", "/", ".", "--", "-o", "é"]


def test_every_command_has_a_row():
    assert set(COMMANDS) == set(cli.commands)


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"report", "plot"}))
def test_commands(command, tmp_path, capfd, monkeypatch):
    """Workers are not started here: what is refused is refused before."""
    monkeypatch.setattr("semialg_fibers.geometry.executors.process_pool", lambda workers: None)
    write_network(SHALLOW, tmp_path / "net.json")
    good = [str(tmp_path / "net.json") if word == "FILE" else word for word in COMMANDS[command]]
    for place in range(len(good)):
        for word in WORDS:
            arguments = [command, *good[:place], word, *good[place + 1 :]]
            assert run(arguments) in (0, 1, 2, 3), arguments
            told = capfd.readouterr().err
            assert "Traceback" not in told
            assert len(told) < 2500, arguments


@pytest.mark.parametrize("module", ["semialg_fibers", "semialg_fibers.cli"])
def test_modules_are_the_command(module):
    """Without an argument both show the help, as the command does; `python -m semialg_fibers.cli` was silent."""
    ended = subprocess.run([sys.executable, "-m", module, "gallery"], capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode == 0
    assert "gallery:line_1_1_1_1" in ended.stdout


# Single faults that were found, each with its sentence


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: semialg_fibers.from_arrays(5), "layers: expected a list, got the int 5"),
        (lambda: semialg_fibers.from_arrays([(3, None)]), "layer 1"),
        (lambda: semialg_fibers.from_npz(None), "path: expected a path, got None"),
        (lambda: semialg_fibers.read_network(None), "path: expected a path, got None"),
        (lambda: semialg_fibers.fiber("x"), "net: expected a Network, got the str 'x': read a file by read_network"),
        (lambda: semialg_fibers.from_json(5), "text: expected a text, got the int 5"),
        (lambda: semialg_fibers.same_function(1, 2), "a: expected a Network, got the int 1"),
        (lambda: semialg_fibers.neuron_types(None), "net: expected a Network, got None"),
        (
            lambda: semialg_fibers.count_components(SHALLOW, budget=None),
            "budget: expected a whole number, at least 0, got None",
        ),
        (lambda: semialg_fibers.count_components(SHALLOW, budget="x"), "budget: expected a whole number, at least 0"),
        (
            lambda: semialg_fibers.count_components(SHALLOW, budget=-1),
            "budget: expected a whole number, at least 0, got the int",
        ),
        (lambda: semialg_fibers.process_pool(0), "workers: expected a whole number, at least 1, got the int 0"),
        (lambda: semialg_fibers.Runner(window=0), "window: expected a whole number, at least 1"),
        (lambda: semialg_fibers.Runner(retries=-1), "retries: expected a whole number, at least 0"),
        (lambda: FIBER.sample("x"), "seed: expected a whole number, got the str 'x'"),
        (
            lambda: semialg_fibers.cells(SHALLOW, seconds=math.nan),
            "seconds: expected a finite number, at least 0",
        ),
        (lambda: semialg_fibers.BasicSet((a,), ("a - 1",)), "equations[0] is 'a - 1', expected a number or a SymPy"),
        (lambda: semialg_fibers.plot_symmetry(BENT, BENT, output=1), "output: both networks have output 0, got 1"),
        (lambda: semialg_fibers.identifiability_probability(10**30, 2), "more than 1,000,000 binary digits"),
    ],
)
def test_a_sentence_names_the_place(call, part):
    with pytest.raises(SemialgError) as refusal:
        call()
    assert part in refusal.value.message


def test_text_is_not_evaluated_by_sets(tmp_path):
    """SymPy evaluates text as Python."""
    mark = tmp_path / "evaluated"
    with pytest.raises(SemialgError):
        semialg_fibers.BasicSet((a,), (f"__import__('pathlib').Path({str(mark)!r}).touch()",))
    assert not mark.exists()


def test_whole_numbers_of_other_libraries_are_whole_numbers():
    assert semialg_fibers.neuron_types(BENT, np.int64(2), budget=sympy.Integer(100)) == ("nonlinear",)
    assert BENT.permuted(np.int64(1), np.array([1, 0])) == BENT.permuted(1, [1, 0])


def test_points_may_come_from_an_iterator():
    one = semialg_fibers.gradient_step(SHALLOW, iter([[1]]), iter([[0]]), "1/2")
    assert one == semialg_fibers.gradient_step(SHALLOW, [[1]], [[0]], "1/2")


def test_a_page_about_a_network_on_a_polyhedron_has_no_file_and_says_so():
    page = semialg_fibers.report_html(
        Network([([[1], [-1]], [0, 1]), ([[1, 2]], [0])], Polyhedron([[1], [-1]], [1, 1]))
    )
    assert "There is no file of the network" in page
    assert "network.json" not in page
    assert "summary.json" in page


def test_a_plane_that_misses_the_domain_names_it_and_another_plane():
    net = Network([([[1, 0, 0], [0, 1, 0]], [0, 0]), ([[1, 1]], [0])], Box([1, 1, 1], [2, 2, 2]))
    with pytest.raises(SemialgError) as refusal:
        semialg_fibers.plot_arrangement(net, plane=plane_through(net))
    told = (
        "meets the domain [1, 2] × [1, 2] × [1, 2] in no open part; plane=Plane(['3/2', '3/2', '3/2'], ['1', '0', '0'],"
    )
    assert told in refusal.value.message
    semialg_fibers.plot_arrangement(net, plane=refusal.value.plane)


def test_tensors_are_arrays():
    torch = pytest.importorskip("torch")
    layers = [(torch.tensor([[0.1], [2.0]]), torch.tensor([1.0, 0.5])), (torch.tensor([[1.0, 1.0]]), None)]
    arrays = [(weight.numpy(), None if bias is None else bias.numpy()) for weight, bias in layers]
    assert semialg_fibers.from_arrays(layers) == semialg_fibers.from_arrays(arrays)
    half = semialg_fibers.from_arrays([(torch.tensor([[0.5]], dtype=torch.bfloat16, requires_grad=True), None)])
    assert half == Network([([["1/2"]], [0])])
    with pytest.raises(SemialgError, match=r"layer 1: a torch\.sparse_coo tensor"):
        semialg_fibers.from_arrays([(torch.eye(2).to_sparse(), None)])


def test_a_module_is_told_its_importer():
    torch = pytest.importorskip("torch")
    with pytest.raises(SemialgError, match=r"expected a Network, .*: from_torch makes one of it"):
        semialg_fibers.fiber(torch.nn.Linear(1, 1))


def test_an_embedding_in_a_state_dict():
    """Its shape is that of a linear layer: refused where it does not chain, and else a note says what was read."""
    torch = pytest.importorskip("torch")
    state = {"embed.weight": torch.ones(10, 4), "fc.weight": torch.ones(2, 4), "fc.bias": torch.ones(2)}
    with pytest.raises(SemialgError, match="do not chain"):
        semialg_fibers.from_torch(state)
    state["embed.weight"] = torch.ones(4, 10)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        semialg_fibers.from_torch(state)
    assert any("'embed' has no bias, and was read as linear" in str(each.message) for each in told)


PAIR = Network([([[1], [2]], [3, 4]), ([[5, 6]], [7])])


@pytest.mark.parametrize("whole", [np.int64, np.uint8, sympy.Integer])
def test_whole_numbers_of_numpy_and_sympy_are_whole_numbers(whole):
    for kind in (Space, Orthant):
        assert kind(whole(2)) == kind(2)
        assert type(kind(whole(2)).dimension) is int
    count = semialg_fibers.relabelling_count(whole(5))
    assert count == 120
    assert count.log10(whole(5)) == count.log10(5)
    assert semialg_fibers.architecture_laws([whole(2), whole(2), whole(1)]).parameters.widths == (2, 2, 1)
    assert PAIR.permuted(whole(1), [whole(1), whole(0)]) == PAIR.permuted(1, [1, 0])


@pytest.mark.parametrize("value", [True, np.True_, 2.0, sympy.Float(2), "2", None, [2]])
def test_a_dimension_that_is_no_whole_number_is_called_so(value):
    with pytest.raises(SemialgError, match="whole number"):
        Orthant(value)


def test_truth_values_and_times_of_other_types():
    with_bias = semialg_fibers.architecture_laws([2, 2, 1], bias=np.True_)
    assert with_bias.parameters == semialg_fibers.architecture_laws([2, 2, 1], bias=True).parameters
    without = semialg_fibers.architecture_laws([2, 2, 1], bias=np.False_).parameters
    assert without == semialg_fibers.architecture_laws([2, 2, 1], bias=False).parameters
    for seconds in (Fraction(50), np.float32(50), np.int64(50), sympy.Rational(99, 2), sympy.Integer(50)):
        assert semialg_fibers.same_function(PAIR, PAIR, method="exact", seconds=seconds)
    for seconds in (np.True_, Fraction(-1, 2), np.float32("nan"), sympy.Symbol("t"), Fraction(10**400)):
        with pytest.raises(SemialgError, match=r"seconds: expected a (finite )?number"):
            semialg_fibers.same_function(PAIR, PAIR, seconds=seconds)


@pytest.mark.parametrize("kind", [sympy.Matrix, sympy.ImmutableMatrix, sympy.SparseMatrix])
def test_sympy_columns_and_rows_go_back_in(kind):
    weight = kind([[1], [2]])
    for bias in (kind([3, 4]), kind([[3, 4]])):
        assert Network([(weight, bias), (kind([[5, 6]]), kind([7]))]) == PAIR
    for factors in (kind([2, 3]), kind([[2, 3]])):
        assert PAIR.rescaled(1, factors) == PAIR.rescaled(1, [2, 3])
    assert PAIR.permuted(1, kind([1, 0])) == PAIR.permuted(1, [1, 0])
    assert PAIR.permuted(1, reversed(range(2))) == PAIR.permuted(1, [1, 0])
    with pytest.raises(SemialgError, match="a bias is a list of numbers"):
        Layer(weight, kind([[1, 2], [3, 4]]))
    with pytest.raises(SemialgError, match="no permutation"):
        PAIR.permuted(1, iter([0, 0]))
