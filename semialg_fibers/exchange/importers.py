"""A trained network of any framework, by the type of its file.

Main definitions
    read_model    the network in a file of PyTorch, ONNX, safetensors, Keras or NumPy
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from semialg_fibers.errors import UnsupportedError
from semialg_fibers.exchange.arrays import from_npz, from_safetensors
from semialg_fibers.exchange.files import read_network
from semialg_fibers.exchange.keras_models import from_keras
from semialg_fibers.exchange.onnx_models import from_onnx
from semialg_fibers.exchange.torch_models import from_torch
from semialg_fibers.networks.layer import Network

Reader = Callable[..., Network]

# File type → who reads it, and which of the options it knows.
READERS: dict[str, tuple[Reader, frozenset[str]]] = {
    ".pt": (from_torch, frozenset({"order"})),
    ".pth": (from_torch, frozenset({"order"})),
    ".safetensors": (from_safetensors, frozenset({"order"})),
    ".onnx": (from_onnx, frozenset({"root_bits", "logits"})),
    ".keras": (from_keras, frozenset({"root_bits", "logits"})),
    ".npz": (from_npz, frozenset()),
    ".json": (read_network, frozenset()),
}
PICKLES = (".pkl", ".pickle", ".joblib")


def read_model(
    path: str | os.PathLike[str],
    order: Sequence[str | int] | None = None,
    root_bits: int | None = None,
    logits: bool = False,
) -> Network:
    """Give the network in a file, read by its type; the options are those of `from_torch` and `from_onnx`.

    Raises:
        UnsupportedError: for another type, an option that this type does not know, or what its importer refuses.
        InvalidNetworkError, InexactInputError: as its importer.
    """
    kind = os.path.splitext(os.fspath(path))[1].lower()
    if kind in PICKLES:
        raise UnsupportedError(
            f"a {kind} file runs code when it is loaded, so it is not opened here: load it in Python if you trust it, "
            "then from_sklearn(model) and write_network"
        )
    if kind not in READERS:
        raise UnsupportedError(f"files of type {kind or 'none'!a} are not read; those that are: {', '.join(READERS)}")
    reader, known = READERS[kind]
    options: dict[str, Any] = {"order": order, "root_bits": root_bits, "logits": logits}
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise UnsupportedError(f"the option {unknown} means nothing for {kind} files; leave it out")
    return reader(path, **given)
