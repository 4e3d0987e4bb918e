"""The tree of errors: its drawing is the classes, the place is told by attributes, and all of it travels."""

import copy
import inspect
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import semialg_fibers
from semialg_fibers import errors, gallery
from semialg_fibers.errors import SemialgError
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.networks.layer import Network

CLASSES = [each for _, each in inspect.getmembers(errors, inspect.isclass) if each.__module__ == errors.__name__]
every_class = pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)


def drawn_tree():
    """(name, name of the parent) for each line of the drawing, read off its indentation."""
    found, above = [], {}
    for line in errors.__doc__.splitlines():
        match = re.fullmatch(r"    ([│ ]*(?:[├└]── )?)(\w+)", line)
        if match:
            depth = len(match[1]) // 4
            above[depth] = match[2]
            found.append((match[2], above.get(depth - 1)))
    return found


def test_the_drawing_is_the_tree_of_classes():
    real = {(kind.__name__, None if kind is SemialgError else kind.__base__.__name__) for kind in CLASSES}
    assert set(drawn_tree()) == real
    assert len(drawn_tree()) == len(CLASSES)
    assert drawn_tree()[0] == ("SemialgError", None)
    assert SemialgError.__base__ is Exception


def test_the_last_branch_is_drawn_as_the_last():
    branches = [line.strip()[0] for line in errors.__doc__.splitlines() if "── " in line]
    assert branches == ["├"] * (len(branches) - 1) + ["└"]


def test_the_classes_are_those_of_the_contract_and_public():
    assert {kind.__name__ for kind in CLASSES} == {
        "SemialgError",
        "InvalidNetworkError",
        "InexactInputError",
        "NotGenericError",
        "UndecidedSignError",
        "UnsupportedError",
        "BudgetExceededError",
        "CertificateRejected",
    }
    for kind in CLASSES:
        assert getattr(semialg_fibers, kind.__name__) is kind
        assert kind.__name__ in semialg_fibers.__all__


@every_class
def test_the_sentence_and_the_place(kind):
    error = kind("row 2 is ragged", layer=1, row=1, column=None, file="net.json", line=7)
    assert str(error) == error.message == "row 2 is ragged"
    assert (error.layer, error.row, error.column, error.file, error.line) == (1, 1, None, "net.json", 7)
    assert error.place == {"layer": 1, "row": 1, "column": None, "file": "net.json", "line": 7}
    for missing in ("value", "budget", "_hidden", "__wrapped__"):
        assert not hasattr(error, missing)
        with pytest.raises(AttributeError, match=missing):
            getattr(error, missing)
    assert isinstance(error, SemialgError)
    assert error.__doc__


@every_class
@pytest.mark.parametrize("travel", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_it_travels_with_its_place(kind, travel):
    error = kind("no", layer=3, value="x")
    again = travel(error)
    assert type(again) is kind
    assert (again.message, again.args, again.place) == (error.message, error.args, error.place)
    assert (again.layer, again.value) == (3, "x")
    assert again is not error


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_report_travels_too(protocol):
    with pytest.raises(errors.NotGenericError) as caught:
        fiber(gallery.network("not_generic_g4"))
    again = pickle.loads(pickle.dumps(caught.value, protocol))
    assert again.report == caught.value.report
    assert again.report.violated == ("G4",)
    assert again.message == caught.value.message


def test_it_comes_back_from_a_worker_process():
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(errors.InvalidNetworkError) as caught,
    ):
        pool.submit(gallery.network, "absent").result()
    assert caught.value.value == "absent"
    assert "the gallery has no network 'absent'" in str(caught.value)


@pytest.mark.parametrize(
    ("layers", "kind", "place"),
    [
        ([([[1, 2], [3]], [0, 0])], errors.InvalidNetworkError, {"layer": 1, "row": 1}),
        ([([[1]], [0]), ([["1/0"]], [0])], errors.InvalidNetworkError, {"layer": 2, "row": 0, "column": 0}),
        ([([[1]], [0]), ([[0.5]], [0])], errors.InexactInputError, {"layer": 2, "row": 0, "column": 0}),
        ([([[1]], [0]), ([[1, 2]], [0])], errors.InvalidNetworkError, {"layer": 2}),
    ],
)
def test_a_network_that_is_none_names_its_place(layers, kind, place):
    with pytest.raises(kind) as caught:
        Network(layers)
    assert {key: caught.value.place.get(key) for key in place} == place


def test_a_place_that_is_being_built_asks_for_nothing_else():
    """Half-made objects, as copy and pickle see them, have no place yet: an AttributeError, never a recursion."""
    bare = SemialgError.__new__(SemialgError)
    with pytest.raises(AttributeError):
        bare.layer  # noqa: B018
