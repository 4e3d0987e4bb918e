"""Probabilities at initialisation: against all sign patterns, with types and hidden columns by their definitions."""

from fractions import Fraction
from itertools import product

import pytest
from reference import hidden_columns, kinds

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.identifiability import identifiability
from semialg_fibers.questions.initialisation import Initialisation, identifiability_probability


def patterns(n1, n2, bias):
    """One network for each pattern of signs; magnitudes that are generic."""
    free = n1 + (bias == "symmetric")
    identity = [[int(i == j) for j in range(n1)] for i in range(n1)]
    sizes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]
    for signs in product([1, -1], repeat=free * n2):
        rows = []
        for j in range(n2):
            row = [sign * size for sign, size in zip(signs[j * free : (j + 1) * free], sizes[j * free :], strict=False)]
            rows.append(row if bias == "symmetric" else [*row, {"zero": 0, "positive": 1}[bias]])
        second = ([row[:-1] for row in rows], [row[-1] for row in rows])
        yield Network([(identity, [0] * n1), second, ([[1 + j for j in range(n2)]], [0])])


def fractions_of(n1, n2, bias):
    counts = dict.fromkeys(["some_dead", "some_linear", "all_dead", "hidden", "identifiable"], 0)
    sums = {"expected_dead": 0, "expected_linear": 0}
    total = 0
    for net in patterns(n1, n2, bias):
        names, total = kinds(net), total + 1
        alive = set(names) != {"dead"}
        hidden = alive and bool(hidden_columns(net))
        counts["some_dead"] += "dead" in names
        counts["some_linear"] += "linear" in names
        counts["all_dead"] += not alive
        counts["hidden"] += hidden
        counts["identifiable"] += not hidden and set(names) == {"nonlinear"}
        sums["expected_dead"] += names.count("dead")
        sums["expected_linear"] += names.count("linear")
    return {name: Fraction(value, total) for name, value in (counts | sums).items()}


@pytest.mark.parametrize("bias", ["symmetric", "zero", "positive"])
@pytest.mark.parametrize(("n1", "n2"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)])
def test_all_sign_patterns(n1, n2, bias):
    told = Initialisation(n1, n2, bias)
    for name, value in fractions_of(n1, n2, bias).items():
        shown = getattr(told, name)
        assert Fraction(int(shown.p), int(shown.q)) == value, name


@pytest.mark.parametrize(("n1", "n2", "bias"), [(2, 2, "symmetric"), (3, 1, "symmetric"), (2, 2, "positive")])
def test_it_is_the_probability_of_being_identifiable(n1, n2, bias):
    verdicts = [identifiability(net).is_identifiable for net in patterns(n1, n2, bias)]
    assert None not in verdicts
    assert identifiability_probability(n1, n2, bias) == sum(verdicts) / Fraction(len(verdicts))


@pytest.mark.parametrize(
    ("n1", "row"),
    [
        (2, [".500", ".531", ".316", ".100", ".010"]),
        (3, [".688", ".754", ".586", ".344", ".118"]),
        (5, [".891", ".937", ".881", ".776", ".602"]),
        (8, [".980", ".992", ".984", ".969", ".939"]),
    ],
)
def test_the_table_of_the_theory(n1, row):
    found = [identifiability_probability(n1, n2) for n2 in (1, 2, 4, 8, 16)]
    assert [f"{float(value):.3f}"[1:] for value in found] == row


def test_zero_biases_of_the_theory():
    found = [identifiability_probability(2, n2, bias="zero") for n2 in (1, 2, 3, 4)]
    assert [f"{float(value):.3f}" for value in found] == ["0.000", "0.125", "0.094", "0.055"]


def test_large_widths_are_exact():
    assert identifiability_probability(512, 512).q % 2 == 0
    assert 0 < 1 - identifiability_probability(512, 512) < Fraction(1, 2**400)


@pytest.mark.parametrize("widths", [(0, 1), (2, 0), (2, True), (2.0, 1), ("2", 1)])
def test_widths_are_checked(widths):
    with pytest.raises(InvalidNetworkError, match=r"number of units|n[12]: expected a whole number"):
        identifiability_probability(*widths)


def test_what_is_refused():
    with pytest.raises(InvalidNetworkError, match="symmetric, positive, zero"):
        identifiability_probability(2, 2, bias="none")
    with pytest.raises(UnsupportedError, match="n1 = 1"):
        identifiability_probability(1, 2)
