"""The campaign's judges: nothing is found in what is right, and whatever is made wrong is found.

tests/test_faults.py kills a campaign and lets it go on.
"""

import importlib.util
import random
from pathlib import Path

import pytest

from semialg_fibers import Box, Network

SCRIPT = Path(__file__).parents[1] / "tools" / "campaign.py"
specification = importlib.util.spec_from_file_location("campaign", SCRIPT)
campaign = importlib.util.module_from_spec(specification)
specification.loader.exec_module(campaign)

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
