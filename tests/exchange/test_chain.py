"""Chains of affine maps, scalings and ReLU are networks with the same values; roots are exact, or rounded as stated."""

import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.exchange.chain import Chain, ExchangeNote, inverse_root
from semialg_fibers.exchange.state_dicts import from_tensors
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import vector

small = st.integers(-3, 3)


def columns(count):
    return st.lists(small, min_size=count, max_size=count)


@st.composite
def steps(draw):
    """Operations as data, with widths that chain."""
    width = draw(st.integers(1, 3))
    found, start = [], width
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["affine", "relu", "scaling", "number"]))
        if kind == "affine":
            outputs = draw(st.integers(1, 3))
            rows = draw(st.lists(columns(width), min_size=outputs, max_size=outputs))
            found.append((kind, rows, draw(columns(outputs))))
            width = outputs
        elif kind == "scaling":
            found.append((kind, draw(columns(width)), draw(columns(width))))
        elif kind == "number":
            found.append((kind, draw(small), draw(small)))
        else:
            found.append((kind,))
    return start, found


def applied(operations, x):
    for kind, *data in operations:
        if kind == "affine":
            x = [sum(a * b for a, b in zip(row, x, strict=True)) + c for row, c in zip(*data, strict=True)]
        elif kind == "scaling":
            x = [s * v + t for s, v, t in zip(data[0], x, data[1], strict=True)]
        elif kind == "number":
            x = [data[0] * v + data[1] for v in x]
        else:
            x = [max(0, v) for v in x]
    return x


@pytest.mark.parametrize("told", [True, False], ids=["width told", "width not told"])
@given(steps())
def test_a_chain_is_a_network_with_the_same_values(told, drawn):
    width, operations = drawn
    chain = Chain(width if told else None)
    try:
        for number, (kind, *data) in enumerate(operations):
            if kind == "affine":
                chain.affine(Matrix(data[0]), vector(data[1]), f"node {number}")
            elif kind == "scaling":
                chain.scaling(vector(data[0]), vector(data[1]), f"node {number}")
            elif kind == "number":
                chain.scaling(fmpq(data[0]), fmpq(data[1]), f"node {number}")
            else:
                chain.relu(f"node {number}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExchangeNote)
            net = chain.network("the chain")
    except (UnsupportedError, InvalidNetworkError):
        # What needs the width of its input before anything has told it.
        first = next((i for i, step in enumerate(operations) if step[0] in ("affine", "scaling")), len(operations))
        assert not told
        assert first > 0
        return
    for x in product(range(-2, 3), repeat=width):
        assert net(x) == tuple(applied(operations, list(x)))


def test_notes_say_what_was_not_copied():
    chain = Chain(1)
    chain.affine(Matrix([[2]]), None, "first")
    chain.affine(Matrix([[3]]), None, "second")
    chain.relu("relu")
    chain.relu("relu again")
    with pytest.warns(ExchangeNote) as told:
        net = chain.network("it")
    assert [str(note.message) for note in told] == [
        "no ReLU stands between first and second: their exact product is one layer",
        "no affine layer follows the last ReLU: an identity layer was put there",
    ]
    assert net.widths == (1, 1, 1)
    assert net.layers[0].weight[0, 0] == 6


def test_widths_are_checked_by_name():
    chain = Chain(2)
    with pytest.raises(InvalidNetworkError, match="third takes 3 inputs, it is given 2"):
        chain.affine(Matrix([[1, 2, 3]]), None, "third")
    with pytest.raises(InvalidNetworkError, match="third: the bias has 2 entries, the weight gives 1"):
        Chain().affine(Matrix([[1]]), vector([1, 2]), "third")
    with pytest.raises(InvalidNetworkError, match="norm takes 3 inputs"):
        chain.scaling(vector([1, 2, 3]), fmpq(0), "norm")
    with pytest.raises(InvalidNetworkError, match="it has no affine layer"):
        Chain().network("it")


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9), st.integers(2, 60))
def test_a_root_is_exact_or_the_nearest_with_so_many_bits(value, bits):
    square = fmpq(value.numerator, value.denominator) ** 2
    assert inverse_root(square, None) == (fmpq(value.denominator, value.numerator), True)
    inverse, is_exact = inverse_root(2 * square, bits)  # irrational
    root = 1 / inverse
    assert not is_exact
    count = Fraction(int(root.p), int(root.q))
    exponent = 0
    while count >= 2**bits:
        count, exponent = count / 2, exponent + 1
    while count < 2 ** (bits - 1):
        count, exponent = count * 2, exponent - 1
    assert count.denominator == 1  # so many bits
    half = Fraction(2) ** exponent / 2
    r = Fraction(int(root.p), int(root.q))
    exact = Fraction(int(square.p), int(square.q)) * 2
    assert (r - half) ** 2 < exact < (r + half) ** 2


def test_roots_that_are_none_are_refused():
    with pytest.raises(UnsupportedError, match=r"irrational.*root_bits=53"):
        inverse_root(fmpq(2), None)
    for bits in (1, 5000):
        with pytest.raises(InvalidNetworkError, match=r"root_bits is 2\.\.4096"):
            inverse_root(fmpq(2), bits)
    for value in (0, -1):
        with pytest.raises(InvalidNetworkError, match="expected a positive number"):
            inverse_root(fmpq(value), 53)


def test_a_batch_norm_is_folded():
    """γ (x − μ) / √(σ² + ε) + β with σ² + ε = 4, 9/4."""
    chain = Chain(2)
    chain.affine(Matrix([[1, 0], [0, 1]]), None, "layer")
    parts = [vector(values) for values in ((2, 3), (1, -1), (5, 7), (3, "5/4"))]
    chain.batch_norm(*parts, fmpq(1), None, "norm")
    net = chain.network("it")
    assert net([0, 0]) == (-5 + 1, -14 - 1)
    with pytest.raises(UnsupportedError, match=r"norm, channel 2: .*irrational"):
        Chain(2).batch_norm(None, None, vector([0, 0]), vector([4, 2]), fmpq(0), None, "norm")
    with pytest.raises(InvalidNetworkError, match="norm: its vectors have different lengths"):
        Chain(2).batch_norm(None, None, vector([0]), vector([4, 2]), fmpq(0), None, "norm")


def test_widths_beyond_the_stated_sizes_are_refused():
    with pytest.raises(InvalidNetworkError, match="wide takes 1,000,000,000,000 inputs, expected"):
        Chain().expect(10**12, "wide")
    with pytest.raises(UnsupportedError, match="relu would need a layer of 100000 × 100000"):
        Chain(10**5).relu("relu")


def test_a_note_is_one_line_whatever_names_it_quotes():
    nasty = "a\x1b[31m\nnote: all is well\u2028"
    with pytest.warns(ExchangeNote) as told:
        from_tensors({f"{nasty}.weight": np.eye(2), f"{nasty}.1.weight": np.eye(2), f"{nasty}.1.bias": np.zeros(2)},
                     [nasty, f"{nasty}.1"], "a\nfile")  # fmt: skip
    assert told
    assert all(str(note.message).isprintable() for note in told)
    assert "note: all is well" in str(told[0].message)
