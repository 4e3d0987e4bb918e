"""Arrays, .npz and .safetensors: exact, well oriented and ordered; hostile files are refused in one sentence."""

import io
import json
import struct
import warnings
import zipfile
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import fmpq
from forward_error import assert_within_bound
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers import ExchangeNote, Network, from_arrays, from_npz, from_safetensors
from semialg_fibers.errors import (
    BudgetExceededError,
    InexactInputError,
    InvalidNetworkError,
    SemialgError,
    UnsupportedError,
)
from semialg_fibers.exchange import files, state_dicts
from semialg_fibers.exchange.state_dicts import from_tensors

SQUARE = (3, 3, 3, 3)


def random_arrays(widths, seed, kind=np.float32):
    rng = np.random.default_rng(seed)
    return [
        (rng.standard_normal((m, n)).astype(kind), rng.standard_normal(m).astype(kind)) for n, m in pairwise(widths)
    ]


def forward(layers, x):
    """The network in NumPy's floats, one sample per row."""
    for weight, bias in layers[:-1]:
        x = np.maximum(x @ weight.T + bias, 0)
    return x @ layers[-1][0].T + layers[-1][1]


# arrays


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_values_are_those_of_the_floats(kind):
    layers = random_arrays(SQUARE, 1, kind)
    points = np.random.default_rng(2).standard_normal((20, 3)).astype(kind)
    assert_within_bound(from_arrays(layers), points, forward(layers, points), np.dtype(kind).name)


def test_exact_numbers_and_missing_biases_are_read_too():
    net = from_arrays([([["1/3", 2]], None), (np.array([[3]]), [Fraction(1, 7)])])
    assert net == Network([([["1/3", 2]], [0]), ([[3]], ["1/7"])])
    assert from_arrays([(np.array([["1/3"]], dtype=object), np.array([fmpq(1)], dtype=object))]).layers[0].bias == (1,)


@pytest.mark.parametrize(
    ("layers", "kind", "words"),
    [
        ([([[0.5]], [0])], InexactInputError, "layer 1: .*float 0.5 is ambiguous"),
        (
            [(np.eye(2), np.zeros(2)), (np.array([[1, np.inf]]), None)],
            InexactInputError,
            "layer 2: row 1, column 2: inf",
        ),
        ([(np.eye(2), np.zeros((2, 1)))], InvalidNetworkError, "layer 1: .*one dimension"),
        ([(np.eye(2), np.zeros(3))], InvalidNetworkError, "layer 1: the bias has 3 entries"),
        ([(np.ones((3, 2)), None), (np.ones((3, 2)), None)], InvalidNetworkError, "widths do not chain"),
        ([np.eye(3)], InvalidNetworkError, "layer 1 is not a pair"),
        ([(np.eye(2, dtype=complex), None)], UnsupportedError, "layer 1: entries of type complex128"),
        ([], InvalidNetworkError, "at least one layer"),
    ],
)
def test_arrays_that_are_no_network_are_refused(layers, kind, words):
    with pytest.raises(kind, match=words):
        from_arrays(layers)


# npz


def saved(path, **named):
    np.savez(path, **named)
    return path


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_npz_files_are_read_exactly(write, tmp_path):
    layers = random_arrays(SQUARE, 3)
    named = {
        f"{letter}{i}": array for i, pair in enumerate(layers, 1) for letter, array in zip("Wb", pair, strict=True)
    }
    named["W2"] = np.asfortranarray(named["W2"])
    write(tmp_path / "net.npz", **named)
    assert from_npz(tmp_path / "net.npz") == from_arrays(layers)


def npz_of(members):
    """A zip archive of raw members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that stands there twice
        for name, raw in members:
            archive.writestr(name, raw)
    return out.getvalue()


def npy(kind, shape, data=b"", header=None):
    shown = header or f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}"
    text = shown.ljust(118).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


@pytest.mark.parametrize(
    ("raw", "kind", "words"),
    [
        (b"", InvalidNetworkError, "no readable .npz"),
        (b"PK\x03\x04 nothing", InvalidNetworkError, "no readable .npz"),
        (npz_of([("W1.npy", b"nothing")]), InvalidNetworkError, "no readable header"),
        (npz_of([("W1.npy", npy("<f4", "(10**9,)"))]), InvalidNetworkError, "header"),
        (npz_of([("W1.npy", npy("<f4", "(1000000000000, 9)"))]), InvalidNetworkError, "not the size"),
        (npz_of([("W1.npy", npy("<f4", "(-1, -1)", b"abcd"))]), InvalidNetworkError, "not the size"),
        (npz_of([("W1.npy", npy("|O", "()"))]), UnsupportedError, "unpickled"),
        (npz_of([("W1.npy", npy("", "", header="(" * 100))]), InvalidNetworkError, "header"),
        (npz_of([("x.npy", npy("<f4", "(0,)"))] * 2), InvalidNetworkError, "twice"),
    ],
    ids=["empty", "cut", "no array", "expression", "huge", "negative", "pickle", "nested", "twice"],
)
def test_hostile_npz_files_are_refused(raw, kind, words, tmp_path):
    path = tmp_path / "net.npz"
    path.write_bytes(raw)
    with pytest.raises(kind, match=words) as refused:
        from_npz(path)
    assert refused.value.file == str(path)


def test_npz_with_other_names_or_a_gap_is_refused(tmp_path):
    one = np.ones((1, 1), dtype=np.float32)
    for named, words in (
        ({"W1": one}, "there is W1 and no b1"),
        ({"W1": one, "b1": one[0], "W3": one, "b3": one[0]}, "without a gap; got 'W3'"),
        ({"weight": one}, "W1, b1, W2"),
    ):
        with pytest.raises(InvalidNetworkError, match=words):
            from_npz(saved(tmp_path / "net.npz", **named))
    with pytest.raises(UnsupportedError, match="Python objects, which are never unpickled"):
        from_npz(saved(tmp_path / "net.npz", W1=np.array([[fmpq]], dtype=object), b1=one[0]))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_MODEL_BYTES", 1000)
    np.savez_compressed(tmp_path / "net.npz", W1=np.zeros((1, 2000)), b1=np.zeros(1))
    with pytest.raises(InvalidNetworkError, match="unpacked, it has more"):
        from_npz(tmp_path / "net.npz")
    monkeypatch.setattr(files, "MAX_MODEL_BYTES", 100)
    with pytest.raises(InvalidNetworkError, match="more than the stated size of 100"):
        from_npz(tmp_path / "net.npz")


# safetensors


def safetensors_of(entries, data=b"", extra=b""):
    header = json.dumps(entries).encode() if not isinstance(entries, bytes) else entries
    return struct.pack("<Q", len(header)) + header + data + extra


def entry(dtype="F32", shape=(1, 1), offsets=(0, 4)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_safetensors_files_of_the_library_are_read_exactly(tmp_path):
    library = pytest.importorskip("safetensors.numpy", reason="pip install safetensors")
    layers = random_arrays(SQUARE, 4)
    # Named so that the order in the file (by type and name) is not the order of the layers.
    names = ["net.2", "net.10", "net.20"]
    stored = {
        f"{p}.{k}": a
        for p, pair in zip(names, layers, strict=True)
        for k, a in zip(("weight", "bias"), pair, strict=True)
    }
    library.save_file(stored, tmp_path / "net.safetensors", metadata={"format": "np"})
    with pytest.warns(ExchangeNote, match="names no activations"):
        net = from_safetensors(tmp_path / "net.safetensors")
    assert net == from_arrays(layers)
    points = np.random.default_rng(5).standard_normal((10, 3)).astype(np.float32)
    assert_within_bound(net, points, forward(layers, points), "float32")


@pytest.mark.parametrize(
    ("form", "pattern", "value"),
    [("BF16", "<H", 0x3FC1), ("F16", "<H", 0x3C01), ("F32", "<I", 0x3F800001), ("F64", "<Q", 0x3FF0000000000001)],
)
def test_every_float_of_safetensors_is_taken_exactly(form, pattern, value, tmp_path):
    """1.5 + 2^-7 in bfloat16, and 1 + one unit in the last place of the others."""
    data = struct.pack(pattern, value)
    path = tmp_path / "x.safetensors"
    path.write_bytes(safetensors_of({"weight": entry(form, (1, 1), (0, len(data)))}, data))
    expected = {"BF16": 1.5 + 2**-7, "F16": 1 + 2**-10, "F32": 1 + 2**-23, "F64": 1 + 2**-52}[form]
    assert from_safetensors(path).layers[0].matrix[0, 0] == fmpq(*expected.as_integer_ratio())


@pytest.mark.parametrize(
    ("raw", "kind", "words"),
    [
        (b"", InvalidNetworkError, "no safetensors"),
        (struct.pack("<Q", 2**60) + b"{}", InvalidNetworkError, "no safetensors"),
        (safetensors_of(b"\xff\xff\xff"), InvalidNetworkError, "not UTF-8"),
        (safetensors_of(b"[1, 2]"), InvalidNetworkError, "one JSON object"),
        (safetensors_of(b'{"a": 1, "a": 2}'), InvalidNetworkError, "repeated"),
        (safetensors_of(b'{"a": '), InvalidNetworkError, "too early"),
        (safetensors_of({}), InvalidNetworkError, "holds no weights"),
        (safetensors_of({"weight": {"dtype": "F32"}}), InvalidNetworkError, "expected dtype, shape"),
        (safetensors_of({"weight": entry(shape=(-1, -1))}, b"abcd"), InvalidNetworkError, "expected dtype, shape"),
        (safetensors_of({"weight": entry(shape=(1e3, 1))}, b"abcd"), InvalidNetworkError, "expected dtype, shape"),
        (safetensors_of({"weight": entry(shape=(10**12, 10**12))}, b"abcd"), InvalidNetworkError, "not the size"),
        (safetensors_of({"weight": entry(offsets=(0, 8))}, b"abcd"), InvalidNetworkError, "not the size"),
        (safetensors_of({"weight": entry(offsets=(4, 0))}, b"abcd"), InvalidNetworkError, "not the size"),
        (safetensors_of({"weight": entry()}, b"abcd", b"more"), InvalidNetworkError, "does not end"),
        (
            safetensors_of({"weight": entry(), "bias": entry(shape=(1,))}, b"abcd"),
            InvalidNetworkError,
            "gap or overlap",
        ),
        (safetensors_of({"weight": entry("F8_E4M3", (1, 4))}, b"abcd"), UnsupportedError, "'F8_E4M3'"),
        (safetensors_of({"weight": entry()}, struct.pack("<f", np.nan)), InexactInputError, "nan"),
    ],
)
def test_hostile_safetensors_are_refused(raw, kind, words, tmp_path):
    path = tmp_path / "net.safetensors"
    path.write_bytes(raw)
    with pytest.raises(kind, match=words) as refused:
        from_safetensors(path)
    assert refused.value.file == str(path)


@settings(max_examples=60)
@given(st.binary(max_size=60), st.integers(0, 200), st.sampled_from(["npz", "safetensors"]))
def test_damaged_files_raise_documented_errors_only(tmp_path_factory, noise, place, form):
    path = tmp_path_factory.mktemp("damaged") / f"net.{form}"
    if form == "npz":
        np.savez(path, W1=np.ones((2, 2), dtype=np.float32), b1=np.ones(2, dtype=np.float32))
    else:
        path.write_bytes(safetensors_of({"weight": entry()}, b"abcd"))
    raw = bytearray(path.read_bytes())
    raw[place : place + len(noise)] = noise
    path.write_bytes(raw)
    reader = from_npz if form == "npz" else from_safetensors
    with suppress(SemialgError):
        assert isinstance(reader(path), Network)


# orders of state dicts


def state(**shapes):
    """Zero arrays with names whose dots are written __."""
    return {name.replace("__", "."): np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}


def order_of(tensors, order=None):
    return state_dicts._ordered({p: a for p, a in tensors.items()}, order)


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ({"fc2": (3, 3), "fc1": (3, 3), "fc10": (3, 3)}, ["fc1", "fc2", "fc10"]),
        ({"1.0": (2, 2), "0.2": (2, 2), "0.0": (2, 2), "2": (2, 2)}, ["0.0", "0.2", "1.0", "2"]),
        ({"out": (2, 4), "hidden": (4, 3)}, ["hidden", "out"]),  # the widths leave one order
        ({"out": (2, 4), "fc1": (4, 4), "fc2": (4, 4)}, ["fc1", "fc2", "out"]),  # numbers and widths together
        ({"": (2, 2)}, [""]),
    ],
)
def test_the_order_of_layers_is_found_where_there_is_only_one(shapes, expected):
    assert order_of({name: np.zeros(shape) for name, shape in shapes.items()}) == expected


def test_an_order_that_is_not_determined_is_asked_for():
    square = {name: np.zeros((3, 3)) for name in ("first", "second")}
    with pytest.raises(UnsupportedError, match=r"'first', 'second' fit together in several orders; state theirs"):
        order_of(square)
    assert order_of(square, ["second", "first"]) == ["second", "first"]
    for wrong in (["first"], ["first", "first"], "first", ["first", "third"]):
        with pytest.raises(InvalidNetworkError, match="names each layer once"):
            order_of(square, wrong)
    # The numbers say 1, 2; the widths say 2, 1: nothing is guessed.
    with pytest.raises(InvalidNetworkError, match="do not chain in the order of the numbers"):
        order_of({"fc1": np.zeros((2, 3)), "fc2": np.zeros((3, 4))})
    assert order_of({"fc1": np.zeros((2, 3)), "fc2": np.zeros((3, 4))}, ["fc2", "fc1"]) == ["fc2", "fc1"]


def test_a_search_for_an_order_that_takes_too_long_says_so(monkeypatch):
    monkeypatch.setattr(state_dicts, "MAX_STEPS", 50)
    names = [f"{letter}x" for letter in "abcdefgh"]
    tensors = {name: np.zeros((2, 2)) for name in names} | {"end": np.zeros((3, 1))}
    with pytest.raises(BudgetExceededError, match="50 steps did not find the order"):
        order_of(tensors)


@pytest.mark.parametrize(
    ("tensors", "kind", "words"),
    [
        (state(fc__weight=(1, 1), fc__running_mean=(1,)), UnsupportedError, "'fc.running_mean' is neither"),
        (state(norm__weight=(3,)), UnsupportedError, r"shape \(3,\): only linear layers"),
        (state(conv__weight=(1, 1, 3, 3)), UnsupportedError, "only linear layers"),
        (state(a__weight=(1, 1), b__bias=(1,)), InvalidNetworkError, "'b' has a bias and no weight"),
        (state(a__weight=(2, 1), a__bias=(3,)), InvalidNetworkError, "the bias has 3 entries"),
    ],
)
def test_names_that_are_no_linear_layers_are_refused(tensors, kind, words):
    with pytest.raises(kind, match=words):
        from_tensors(tensors, None, "it")
