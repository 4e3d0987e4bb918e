"""The campaign's judges: nothing is found in what is right, and whatever is made wrong is found.

tests/test_faults.py kills a campaign and lets it go on.
"""

import importlib.util
import random
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from semialg_fibers import Box, Network

SCRIPT = Path(__file__).parents[1] / "tools" / "campaign.py"
specification = importlib.util.spec_from_file_location("campaign", SCRIPT)
campaign = importlib.util.module_from_spec(specification)
specification.loader.exec_module(campaign)
campaign_letters = sys.modules["campaign_letters"]

HIDDEN = Network([([[1, 0], [1, 2]], [1, 0]), ([[2, -1], [3, -5]], [-1, -2]), ([[1, 3]], [0])])
SPLIT = Network([([[1], [2]], [-1, -5]), ([[1, 3]], [2])], Box([0], [4]))


def faults(net, *names):
    examination = campaign.Examination(net, random.Random(1), False)
    for name in names:
        getattr(examination, name)()
    return {fault["check"] for fault in examination.faults}


@pytest.mark.parametrize(
    ("name", "wrong", "net", "questions", "found"),
    [
        ("neuron_types", lambda net: ("dead",) * 2, HIDDEN, ["types"], "types"),
        ("hidden_hyperplanes", lambda net: (1,), HIDDEN, ["types"], "hidden"),
        ("functional_dimension", lambda net: 3, HIDDEN, ["dimensions"], "functional dimension"),
        ("match_units", lambda a, b: None, HIDDEN, ["equality"], "matching"),
    ],
)
def test_a_wrong_answer_is_found(monkeypatch, name, wrong, net, questions, found):
    assert faults(net, *questions) == set()
    monkeypatch.setattr(campaign.package, name, wrong)
    assert found in faults(net, *questions)


def another(net):
    """With another constant at the end."""
    layers = [(layer.weight, layer.bias) for layer in net.layers]
    return Network([*layers[:-1], (layers[-1][0], [value + 1 for value in layers[-1][1]])], net.domain)


@pytest.mark.parametrize(
    ("name", "wrong", "found"),
    [
        ("neuron_types", lambda net, real: ("dead",) * 2, {"types"}),
        ("relabelling_count", lambda net, real: 1, {"relabellings"}),
        ("count_components", lambda net, real: 77, {"count"}),
        ("hidden_hyperplanes", lambda net, real: (), {"hidden"}),
        ("translation_range", lambda net, real: real(net.rescaled(1, [2, 2]), 0), {"range"}),
        ("translate", lambda net, real: another(net), {"translate"}),
        ("genericity", lambda net, real: SimpleNamespace(conditions=real(net).conditions[:2] + tuple(
            SimpleNamespace(name=each.name, verdict=False) for each in real(net).conditions[2:])), {"genericity"}),
        ("fiber", lambda net, real: real(another(net)), {"sample", "component's set", "component's parametrization"}),
        ("fiber", lambda net, real: SimpleNamespace(components=real(net).components[1:], sample=real(net).sample,
            dimension=99, component_count=7, labelled_count=3, local_dimension=None),
         {"components", "dimension", "component_count", "labelled_count"}),
    ],
)  # fmt: skip
def test_a_wrong_answer_about_letters_is_found(monkeypatch, name, wrong, found):
    assert faults(HIDDEN, "letters") == set()
    real = getattr(campaign.package, name)
    right = lambda net, *more: wrong(net, real) if net.symbols else real(net, *more)  # noqa: E731
    monkeypatch.setattr(campaign_letters.package, name, right)
    assert {f"letters: {each}" for each in found} <= faults(HIDDEN, "letters")


def test_wrong_membership_is_found(monkeypatch):
    assert faults(SPLIT, "complete") == set()
    kind = type(campaign.package.complete_fiber(SPLIT))
    monkeypatch.setattr(kind, "contains", lambda self, net: True)
    assert faults(SPLIT, "complete") == {"complete: membership"}


def test_wrong_equality_is_found(monkeypatch):
    real = campaign.package.same_function
    monkeypatch.setattr(campaign.package, "same_function", lambda a, b, method="auto": real(a, a, method))
    assert {"same_function auto", "certificate", "small checker"} & faults(HIDDEN, "equality")


def test_networks_are_those_of_their_seed_and_of_every_kind():
    drawn = [campaign.network(random.Random(f"1 {seed}")) for seed in range(300)]
    assert drawn == [campaign.network(random.Random(f"1 {seed}")) for seed in range(300)]
    words = " ".join(kind for kind, _ in drawn)
    for word in (
        "bottleneck", "line", "one layer", "wide", "deep", "small integers", "zero", "copied row", "parallel",
        "opposite row", "scaled row", "equal ratio", "cancelling", "rank", "scales", "thin cone", "nearly",
    ):  # fmt: skip
        assert word in words
    assert {type(net.domain).__name__ for _, net in drawn} == {"Space", "Orthant", "Box", "Polyhedron"}
