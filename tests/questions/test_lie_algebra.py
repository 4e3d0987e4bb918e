"""Fields and brackets modulo the prime against SymPy, letter by letter; dual numbers against plain polynomials."""

import random
from itertools import pairwise, product

import numpy as np
import pytest
from flint import fmpz
from hypothesis import given, settings
from hypothesis import strategies as st
from lie_oracle import Polynomials

from semialg_fibers.questions import lie_algebra as module
from semialg_fibers.questions.lie_algebra import (
    PRIME,
    GradientFields,
    Parameters,
    bracket,
    bracket_rank,
    dual_product,
    independent,
)

CASES = [
    ((1, 2, 1), (True, True), [((1, 0),), ((1, 1),)]),
    ((2, 1, 2), (True, False), [((1,),), ((0,),)]),
    ((1, 2, 1, 1), (False, False, False), [((1, 1), (1,)), ((0, 1), (1,))]),
    ((2, 3), (True,), [()]),
]


def residue(value):
    """A rational number modulo the prime."""
    return int(value.numerator) * pow(int(value.denominator), -1, PRIME) % PRIME


@pytest.mark.parametrize(("widths", "biased", "patterns"), CASES)
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_brackets_are_those_of_sympy(widths, biased, patterns, length):
    """A combination of few generators with small coefficients, multiplied out in letters and evaluated."""
    source = random.Random(length)
    exact = Polynomials(widths, biased, patterns)
    assert tuple(exact.names) == Parameters(widths, biased).names
    fields = GradientFields(Parameters(widths, biased), tuple(patterns))
    size, outputs = fields.coefficients, widths[-1]
    seeds, combined = [], []
    for _ in range(length):
        chosen = np.zeros((1, len(patterns), outputs, size), dtype=np.int64)
        potential = exact.ring(0)
        for place in product(range(len(patterns)), range(outputs), range(size)):
            if (value := source.randint(0, 2)) and (phi := exact.forms[place[0]][place[1]][place[2]]):
                chosen[(0, *place)] = value
                potential += value * phi
        seeds.append(chosen)
        combined.append([potential.diff(letter) for letter in exact.letters])
    nested = combined[-1]
    for field in reversed(combined[:-1]):
        nested = exact.bracket(field, nested)
    point = [source.randint(-50, 50) for _ in exact.letters]
    expected = [residue(value) for value in exact.at(nested, [exact.ring.domain(v) for v in point])]
    found = bracket(fields, seeds, np.array(point, dtype=np.int64).reshape(1, 1, -1) % PRIME)
    assert found[0, 0].tolist() == expected


@settings(max_examples=30)
@given(st.integers(0, 3), st.integers(1, 3), st.integers(0, 2**20))
def test_dual_numbers_multiply_as_polynomials_without_squares(degree, size, seed):
    source = np.random.default_rng(seed)
    a, b = (source.integers(0, PRIME, (2**degree, size, size)) for _ in range(2))
    expected = np.zeros((2**degree, size, size), dtype=object)
    for i, j in product(range(2**degree), repeat=2):
        if i & j == 0:
            expected[i | j] = (expected[i | j] + a[i].astype(object) @ b[j].astype(object)) % PRIME
    assert dual_product(a, b).tolist() == expected.tolist()
    assert dual_product(a, b, True).tolist() == dual_product(a, np.swapaxes(b, -1, -2)).tolist()
    assert dual_product(a, b, False, True).tolist() == dual_product(np.swapaxes(a, -1, -2), b).tolist()


@pytest.mark.parametrize("inner", [63, 64, 65, 130])
def test_long_rows_do_not_overflow(inner):
    """The largest residues, and more of them than fit into one sum."""
    a, b = np.full((1, inner), PRIME - 1), np.full((inner, 1), PRIME - 1)
    assert module._product(a, b).tolist() == [[inner % PRIME]]  # (−1)² each


def test_the_prime_leaves_room():
    assert fmpz(PRIME).is_prime()
    assert module.CHUNK * (PRIME - 1) ** 2 < 2**63


def test_many_patterns_are_added_up(monkeypatch):
    """In batches or at once."""
    patterns = tuple((bits,) for bits in product((0, 1), repeat=3))
    fields = GradientFields(Parameters((2, 3, 1), (True, True)), patterns)
    source = np.random.default_rng(1)
    seeds, point = fields.random_seeds(2, source), source.integers(0, PRIME, (1, 2, 13))
    whole = fields.combination(seeds, point)
    monkeypatch.setattr(module, "BATCH", 3)
    assert fields.combination(seeds, point).tolist() == whole.tolist()
    assert whole.any()


def test_all_patterns_are_tried_where_a_few_do_not_suffice(monkeypatch):
    """Only the last pattern sees the third unit."""
    patterns = (((1, 0, 0),), ((0, 1, 0),), ((1, 1, 0),), ((0, 0, 1),))
    fields = GradientFields(Parameters((2, 3, 1), (True, True)), patterns)
    monkeypatch.setattr(module, "FEW", 2)
    assert module._bracket_rank(fields.thinned(2), 10, 0).rank < 10
    assert bracket_rank(fields, 10).rank == 10  # 13 parameters, three scalings


@pytest.mark.parametrize("widths", [(2, 2, 2), (3, 2, 2, 3), (2, 4, 5, 2, 3)])
def test_brackets_of_one_length_are_all_found(widths, monkeypatch):
    """However few are evaluated at a time."""
    ones = (tuple((1,) * width for width in widths[1:-1]),)
    fields = GradientFields(Parameters(widths, (False,) * (len(widths) - 1)), ones)
    expected = bracket_rank(fields, 100).ranks
    monkeypatch.setattr(module, "SAMPLES", 3)
    assert bracket_rank(fields, 100).ranks == expected
    assert expected[-1] == expected[-2]  # it ended because nothing was added


def test_independent_rows_are_the_first_ones():
    assert independent(np.array([[0, 0], [1, 2], [2, 4], [0, 3]])) == [1, 3]
    assert independent(np.array([[PRIME, 0], [0, PRIME + 1]]) % PRIME) == [1]
    assert independent(np.zeros((0, 3), dtype=np.int64)) == []


def test_names_and_edges_go_together():
    parameters = Parameters((2, 3, 1), (True, False))
    assert len(parameters.names) == len(parameters.edges) == parameters.count == 12
    for name, (tail, head) in zip(parameters.names, parameters.edges, strict=True):
        layer, *indices = map(int, name[1:].split("_"))
        assert head == (layer, indices[0])
        assert tail == ((layer - 1, indices[1]) if name[0] == "W" else (-1, 0))
    assert all(a != b for a, b in pairwise(parameters.names))
