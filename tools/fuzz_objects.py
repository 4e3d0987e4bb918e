"""What tools/fuzz.py gives to readers in the place of arrays, of fitted models, and of paths.

Main definitions
    objects         values that may be taken for arrays or for numbers
    object_kinds    objects for from_arrays, attributes of scikit-learn's models, names of what is no file
"""

from __future__ import annotations

import decimal
import importlib.util
import io
import math
import os
import random
import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import sympy
from fuzz_checkpoints import NUMBERS
from fuzz_text import Kind, mutated

from semialg_fibers import from_arrays, from_npz, from_safetensors, from_sklearn, read_network
from semialg_fibers.exchange.certificates import read_certificate
from semialg_fibers.geometry.enumeration import Runner


class Odd:
    """An object that is nothing."""


def objects() -> list[Any]:
    """Give values that may be taken for arrays or for numbers."""
    x, cyclic = sympy.Symbol("x"), []  # type: ignore[var-annotated]
    cyclic.append(cyclic)
    numbers = [
        0, 1, -3, True, 0.1, math.nan, math.inf, 1j, "1/2", "x", "", "1" * 5000, None, Fraction(1, 3), 10**5000,
        decimal.Decimal("NaN"), decimal.Decimal("sNaN"), decimal.Decimal("1e5"), decimal.Decimal("1e999999"), sympy.oo,
        sympy.zoo, sympy.nan, sympy.pi, x, 1 / x, sympy.Float(0.5), sympy.Rational(1, 3), sympy.sin(x), sympy.I, x > 0,
        np.float64(1), np.float16(0.1), np.int8(3), np.bool_(True), np.datetime64("2020"), np.str_("1"), b"1", Odd(),
        Odd, len,
        sympy.Integer(2) ** 100_000, sympy.Symbol("W1_0_0"), sympy.Symbol("p", positive=True), sympy.S.true, {},
        set(), ...,
    ]  # fmt: skip
    arrays = [
        np.zeros((2, 2)), np.ones((1, 2), "f4"), np.zeros(2), np.zeros(()), np.zeros((0, 2)), np.zeros((2, 0)),
        np.full((2, 2), np.nan), np.array([[1, None]], object), np.array([["1", "x"]]), np.zeros((2, 2), bool),
        np.zeros(2, "f4,i4"), np.zeros((2, 2), "M8[s]"), np.zeros((2, 2), "V3"), np.ma.masked_array([[1.0, 2.0]], [[0,
        1]]),
        np.matrix([[1.0, 2.0]]), np.broadcast_to(np.float32(1), (10**9, 10**9)), np.zeros((2, 2), complex),
        np.array([[2**63]], "u8"), np.array([["1"]], "S1"), np.zeros((1,) * 40), np.zeros((2, 2))[::-1, ::-1],
        np.zeros((2, 2), ">f4"), np.array([[10**400, 1]], object), np.zeros((2, 2), np.longdouble), memoryview(b"12"),
        [[1, 2], [3, 4]], [[1, 2], [3]], [], [[]], [[[1]]], [1, 2], "12", ["12"], {1: 2}, {1, 2}, range(2),
        (i for i in "12"),
        cyclic, iter([[1, 2]]), sympy.Matrix([[1, x]]), sympy.eye(2), sympy.MatrixSymbol("M", 2, 2), map(int, "12"),
        [None],
        sympy.SparseMatrix(2, 2, {}), sympy.Array([[1, 2]]), bytearray(b"12"), [[Fraction(1, 2), "0.1"], [1, 2]],
    ]  # fmt: skip
    return [*numbers, *arrays]


def layers_drawn(rng: random.Random, _: Any) -> Any:
    """Give what may be taken for the layers of a network."""
    made: list[Any] = [(np.ones((2, 2)), np.zeros(2)), (np.ones((1, 2), "f4"), None)]
    pool = objects()
    for _ in range(rng.choice([1, 1, 2, 3])):
        at, value = rng.randrange(2), rng.choice(pool)
        what = rng.choice(["weight", "bias", "pair", "entry", "entry", "whole", "domain"])
        if what == "weight":
            made[at] = (value, made[at][1] if isinstance(made[at], tuple) and len(made[at]) > 1 else None)
        elif what == "bias" and isinstance(made[at], tuple) and made[at]:
            made[at] = (made[at][0], value)
        elif what == "entry":
            made[at] = ([[1, value], [value, 2]][at:], [value, 1][at:])
        elif what == "whole" and rng.random() < 0.3:
            return value, None
        elif what == "domain":
            return made, value
        else:
            made[at] = value
    return made, None


def paths() -> list[Any]:
    """Give names of what is no file, or of no readable one."""
    names = ["", ".", "..", "/", "pipe", "loop", "/dev/zero", "/dev/null", "/dev/full", "/proc/self/mem",
    "/proc/self/maps",
             "/proc/self/fd/0", "absent", "absent/x", "net.json/x", "a\0b", "\ud800", "\udcff", "x" * 300,
             "y/" * 3000, "a\nb",
             ":memory:", "file:x?mode=memory", "~", "*", "-", "é", "\x1b[31m", "/sys/kernel/notes", "sparse",
             "folder.sqlite"]  # fmt: skip
    return [
        *names,
        b"pipe",
        b"\xff",
        b"a\0",
        Path("pipe"),
        Path("\ud800"),
        0,
        5,
        -1,
        None,
        1.5,
        True,
        [],
        ("x",),
        io.BytesIO(b"x"),
    ]


READ: list[Callable[[Any], Any]] = [
    from_npz, from_safetensors, read_network, read_certificate, lambda path: Runner(checkpoint=path).results(NUMBERS),
]  # fmt: skip


def path_changed(rng: random.Random, _: Any) -> tuple[int, Any]:
    """Give a reader and a path."""
    path = rng.choice(paths())
    return rng.randrange(len(READ)), mutated(rng, path) if isinstance(path, str) and rng.random() < 0.2 else path


def sklearn_kind() -> Kind:
    """Give the kind of scikit-learn's models, whose fitted attributes hold anything."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    points, values = np.array([[0.0, 1], [1, 0], [1, 1], [0, 0]]), np.array([0, 1, 1, 0])
    pool = [
        *objects(),
        "relu",
        "tanh",
        "softmax",
        "logistic",
        [],
        [np.ones((2, 2))],
        [np.ones((2, 2)), np.ones((2, 1))],
        (1, 2),
        [None, None],
    ]

    def fitted(kind: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kind(hidden_layer_sizes=(2,), max_iter=2, random_state=0).fit(points, values)

    made = [vars(fitted(kind)) for kind in (MLPRegressor, MLPClassifier)]

    def changed(rng: random.Random, kept: dict[str, Any]) -> Any:
        kept = dict(kept)
        for _ in range(rng.choice([1, 1, 2])):
            name = rng.choice(["coefs_", "intercepts_", "activation", "out_activation_"])
            if rng.random() < 0.2:
                kept.pop(name, None)
            elif name.endswith("s_") and rng.random() < 0.7 and isinstance(kept.get(name), list):
                kept[name] = [rng.choice(pool) if rng.random() < 0.5 else part for part in kept[name]][
                    : rng.choice([1, 2, 2, 2])
                ]
            else:
                kept[name] = rng.choice(pool)
        return kept

    def read(kept: dict[str, Any]) -> Any:
        model = MLPClassifier() if "_label_binarizer" in kept else MLPRegressor()
        vars(model).update(kept)
        for name in ("coefs_", "intercepts_", "out_activation_", "activation"):
            if name not in kept and name in vars(model):
                delattr(model, name)
        return from_sklearn(model)

    return Kind("sklearn", 20, made, changed, read)


def object_kinds(folder: Path) -> list[Kind]:
    """Give the kinds of this file, which work in `folder`."""
    with open(folder / "sparse", "wb") as file:
        file.truncate(2**40)
    os.mkdir(folder / "folder.sqlite")
    kinds = [
        Kind("objects", 50, [([([[1]], [0])], None)], layers_drawn, lambda given: from_arrays(*given)),
        Kind("path", 10, [(2, str(folder / "net.json"))], path_changed, lambda given: READ[given[0]](given[1])),
    ]
    if importlib.util.find_spec("sklearn"):
        return [*kinds, sklearn_kind()]
    print("sklearn is not installed: its reader is left out", file=sys.stderr)
    return kinds
