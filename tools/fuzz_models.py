"""What tools/fuzz.py does to the models of other programs: ONNX, PyTorch, Keras.

Main definitions
    message_changed     a protobuf message with fields changed, copied, dropped
    pickle_drawn        a pickle put together from instructions, many of which ask for code or memory
    model_kinds         the kinds whose packages are installed
"""

from __future__ import annotations

import importlib.util
import io
import os
import pickle
import random
import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_files import HUGE, bytes_changed, members_of, zip_changed, zipped
from fuzz_text import Kind, tree_changed

from semialg_fibers import from_keras, from_onnx, from_torch, to_onnx
from semialg_fibers.networks.layer import Network

OPERATORS = ["Gemm", "MatMul", "Add", "Sub", "Mul", "Div", "Relu", "Flatten", "Reshape", "Identity", "Cast", "Dropout",
             "BatchNormalization", "Constant", "Transpose", "Softmax", "Sigmoid", "If", "Loop", "ConstantOfShape",
             "Expand",
             "Tile", "LeakyRelu", "Squeeze", "Gather", ""]  # fmt: skip
WORDS = ["", "x", "y", "W1", "b1", "z1", "c", "shape", "ai.onnx", "custom", "value", "perm", "to", "axis", "transB",
"alpha",
         "epsilon", "location", "offset", "length", "../secret.bin", "../outside/secret.bin", "/etc/passwd",
         "/dev/zero",
         "weights.bin", "link.bin", "pipe", "weights.bin/../../outside/secret.bin", "-1", "9" * 5000, "a\0b", "\n",
         "é", "."]  # fmt: skip
FLOATS = [0.0, 1.0, -1.0, 0.5, float("nan"), float("inf"), -float("inf"), 1e-45, 3e38, 1e308]


# messages


def message_changed(rng: random.Random, message: Any) -> None:
    """Change a few fields somewhere inside a protobuf message, in place."""
    for _ in range(rng.choice([1, 1, 2, 3, 5])):
        here = message
        while True:
            fields = here.ListFields()
            if not fields:
                break
            field, value = rng.choice(fields)
            many = not isinstance(value, str | bytes | int | float) and hasattr(value, "__len__")
            inside = (list(value) if many else [value]) if field.type == field.TYPE_MESSAGE else []
            if inside and rng.random() < 0.8:
                here = rng.choice(inside)
                continue
            _field_changed(rng, here, field, value, many)
            break


def _field_changed(rng: random.Random, here: Any, field: Any, value: Any, many: bool) -> None:
    what = rng.choice(["put", "put", "put", "drop", "copy", "swap"])
    try:
        if what == "drop" and not (many and len(value) > 1):
            here.ClearField(field.name)
        elif many:
            at = rng.randrange(len(value)) if len(value) else 0
            if what == "drop":
                del value[at]
            elif what == "copy" and len(value):
                value.append(value[at])
            elif what == "swap" and len(value) > 1:
                held = [value[i] for i in range(len(value))]
                rng.shuffle(held)
                del value[:]
                value.extend(held)
            elif field.type != field.TYPE_MESSAGE:
                new = _scalar(rng, field, value[at] if len(value) else None)
                if len(value) and rng.random() < 0.7:
                    value[at] = new
                else:
                    value.append(new)
        elif field.type != field.TYPE_MESSAGE:
            setattr(here, field.name, _scalar(rng, field, value))
    except (ValueError, TypeError, OverflowError):  # out of the range of the field
        pass


def _scalar(rng: random.Random, field: Any, value: Any) -> Any:
    if field.type == field.TYPE_STRING:
        return rng.choice(OPERATORS if field.name == "op_type" else WORDS)
    if field.type == field.TYPE_BYTES:
        return bytes_changed(rng, value or b"")
    if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
        return rng.choice(FLOATS)
    return rng.choice([*HUGE[:10], *range(-2, 22)])


def onnx_kind(folder: Path) -> Kind:
    """Give the kind of ONNX files, some of them with tensors in another file."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    def model(nodes: list[Any], tensors: dict[str, Any], shape: list[Any]) -> Any:
        ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", shape), ("y", ["n", 1]))]
        made = [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()]
        return helper.make_model(
            helper.make_graph(nodes, "g", ends[:1], ends[1:], made), opset_imports=[helper.make_opsetid("", 17)]
        )

    plain = to_onnx(Network([([[1, -2], [3, 4]], [0, 1]), ([[1, 1]], ["1/2"])]), "float32")
    ones, column = np.ones((2, 2), "f4"), np.ones((2, 1), "f4")
    norm = {"g": np.ones(2, "f4"), "b": np.zeros(2, "f4"), "m": np.zeros(2, "f4"), "v": np.full(2, 0.75, "f4")}
    node = helper.make_node
    chain = model(
        [node("Sub", ["x", "c"], ["p"]), node("Flatten", ["p"], ["q"]), node("MatMul", ["q", "W"], ["r"]),
        node("Relu", ["r"], ["s"]),
         node("BatchNormalization", ["s", "g", "b", "m", "v"], ["t"], epsilon=0.25), node("Reshape", ["t", "shape"],
         ["u"]),
         node("Constant", [], ["k"], value=numpy_helper.from_array(column)), node("Cast", ["k"], ["l"], to=1),
         node("MatMul", ["u", "l"], ["y"])],
        {"c": np.float32(0.5), "W": ones, "shape": np.array([-1, 2]), **norm}, ["n", 2],
    )  # fmt: skip
    small = model([node("Relu", ["x"], ["p"]), node("Mul", ["p", "c"], ["q"]), node("MatMul", ["q", "W"], ["y"])],
                  {"c": np.ones((1, 2), "f4"), "W": column}, ["n", 2])  # fmt: skip
    apart = type(plain)()
    apart.CopyFrom(small)
    tensor = apart.graph.initializer[1]
    (folder / "weights.bin").write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "weights.bin"), ("offset", "0"), ("length", "8")):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.bin").write_bytes(b"secret" * 10)
    (folder / "link.bin").symlink_to(outside / "secret.bin")
    path = str(folder / "model.onnx")

    def changed(rng: random.Random, raw: bytes) -> bytes:
        if rng.random() < 0.2:
            return bytes_changed(rng, raw)
        message = onnx.ModelProto.FromString(raw)
        message_changed(rng, message)
        made: bytes = message.SerializeToString()
        return bytes_changed(rng, made) if rng.random() < 0.05 else made

    def read(raw: bytes) -> Any:
        with open(path, "wb") as file:
            file.write(raw)
        return from_onnx(path, root_bits=53, logits=True)

    return Kind("onnx", 70, [made.SerializeToString() for made in (plain, chain, small, apart)], changed, read)


# pickles

GLOBALS = ["os system", "builtins eval", "builtins exec", "builtins getattr", "builtins bytearray", "builtins set",
"collections OrderedDict",
           "collections Counter", "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_parameter",
           "torch FloatStorage",
           "torch DoubleStorage", "torch BFloat16Storage", "torch.storage UntypedStorage", "torch Size",
           "torch FloatTensor", "torch Tensor",
           "torch device", "_codecs encode", "torch.serialization _get_layout", "torch._utils _rebuild_sparse_tensor",
           "torch float32",
           "torch._utils _rebuild_meta_tensor_no_storage", "torch._utils _rebuild_qtensor",
           "torch._utils _rebuild_nested_tensor",
           "torch._utils _rebuild_wrapper_subclass", "torch._tensor _rebuild_from_type_v2", "torch.hub load",
           "torch load", "builtins complex"]  # fmt: skip


def pickle_drawn(rng: random.Random) -> bytes:
    """Give a pickle of a few values and calls."""

    def value(depth: int) -> bytes:
        what = rng.choice(
            ["int", "text", "tuple", "call", "dict", "list", "stored", "none"] if depth < 4 else ["int", "text", "none"]
        )
        if what == "int":
            return pickle.dumps(rng.choice([*HUGE, 10**8, 10**9]), 2)[2:-1]
        if what == "text":
            text = rng.choice(
                ["storage", "0", "cpu", "cuda:99", "meta", "fc.weight", "x", "zip", "touch pwned"]
            ).encode()
            return b"X" + len(text).to_bytes(4, "little") + text
        if what in ("tuple", "list"):
            inner = b"".join(value(depth + 1) for _ in range(rng.choice([0, 1, 2, 5])))
            return b"(" + inner + b"t" if what == "tuple" else b"](" + inner + b"e"
        if what == "dict":
            return b"}(" + b"".join(value(depth + 1) + value(depth + 1) for _ in range(2)) + b"u"
        if what == "call":
            called = b"c" + rng.choice(GLOBALS).replace(" ", "\n").encode() + b"\n"
            return called + b"(" + b"".join(value(depth + 1) for _ in range(rng.choice([0, 1, 1, 2, 6]))) + b"tR"
        if what == "stored":
            kind = rng.choice(["FloatStorage", "DoubleStorage", "BFloat16Storage", "ComplexDoubleStorage"])
            count = pickle.dumps(rng.choice([4, 4, *HUGE]), 2)[2:-1]
            told = (
                b"(X\7\0\0\0storagectorch\n" + kind.encode() + b"\nX\1\0\0\0" + b"0" + b"X\3\0\0\0cpu" + count + b"tQ"
            )
            numbers = [
                b"(" + b"".join(pickle.dumps(rng.choice([0, 1, 2, *HUGE]), 2)[2:-1] for _ in range(2)) + b"t"
                for _ in range(2)
            ]
            tail = b"K\0" + b"".join(numbers) + b"\x89ccollections\nOrderedDict\n)R"
            return b"ctorch._utils\n_rebuild_tensor_v2\n(" + told + tail + b"tR"
        return b"N"

    return b"\x80\x02" + value(0) + b"."


def torch_kinds(folder: Path) -> list[Kind]:
    """Give the kinds of PyTorch's files and of state dicts."""
    import torch

    torch.set_num_threads(1)

    def state(kind: Any) -> Any:
        return OrderedDict([("0.weight", torch.tensor([[1, -2], [3, 4]], dtype=kind)), ("0.bias", torch.zeros(2,
        dtype=kind)),
                            ("2.weight", torch.ones(1, 2, dtype=kind)), ("2.bias", torch.ones(1,
                            dtype=kind))])  # fmt: skip

    files = []
    for kind, zips in [(torch.float32, True), (torch.bfloat16, True), (torch.float64, True), (torch.float32, False)]:
        file = io.BytesIO()
        torch.save(state(kind), file, _use_new_zipfile_serialization=zips)
        files.append(file.getvalue())
    path = str(folder / "model.pt")

    def member(rng: random.Random, name: str, data: bytes) -> bytes:
        return pickle_drawn(rng) if name.endswith(".pkl") and rng.random() < 0.4 else bytes_changed(rng, data)

    def changed(rng: random.Random, raw: bytes) -> bytes:
        if not raw.startswith(b"PK"):
            return raw[: raw.rindex(b"\x80\x02")] + pickle_drawn(rng) if rng.random() < 0.2 else bytes_changed(rng, raw)
        if rng.random() < 0.1:
            parts = [
                ("archive/data.pkl", 0, pickle_drawn(rng)),
                ("archive/data/0", 0, bytes(32)),
                ("archive/version", 0, b"3\n"),
            ]
            return zipped([*parts, ("archive/byteorder", 0, b"little")])
        return zip_changed(rng, raw, member)

    def read(raw: bytes) -> Any:
        with open(path, "wb") as file:
            file.write(raw)
        return from_torch(path)

    ones = torch.ones(2, 2)
    warnings.filterwarnings("ignore", message=".*quantize")
    tensors: list[Any] = [
        ones, torch.zeros(2), torch.ones(1, 2), torch.ones(3, 2), torch.tensor(1.0), torch.empty(0, 2),
        ones.to_sparse(), ones * float("nan"),
        ones.to(torch.bfloat16), ones.to(torch.complex64), ones.to(torch.bool), torch.empty(2, 2, device="meta"),
        ones.to(torch.int8),
        torch.tensor(1.0).expand(10**6, 10**6), torch.tensor(1.0, dtype=torch.bfloat16).expand(10**5, 10**5),
        torch.tensor(1j).conj().imag,
        torch.quantize_per_tensor(ones, 0.1, 0, torch.quint8), torch.nn.Parameter(ones), None, 1, [1.0], np.ones((2,
        2)), "x", ones.t(),
        ones.as_strided((2, 2), (0, 0)), ones.to(torch.uint16), torch.tensor([[2**62]]), torch.ones((1,) * 30),
        torch.nn.Linear(2, 2),
        ones.to(torch.float8_e4m3fn), torch.tensor(3, dtype=torch.int8).expand(10**5, 10**5), {"0.weight": ones},
        state(torch.float32),
    ]  # fmt: skip
    names: list[Any] = ["0.weight", "0.bias", "2.weight", "2.bias", "weight", "bias", "", ".", "a.weight", "1.weight",
    "9" * 5000 + ".weight",
                        "10.weight", "00.weight", "0.0.weight", "x", 1, None, b"0.weight", "x\ny.weight",
                        "z" * 3000 + ".bias", ("a",)]  # fmt: skip

    def stated(rng: random.Random, _: Any) -> Any:
        made = dict(state(torch.float32))
        for _ in range(rng.choice([1, 2, 3, 4])):
            if rng.random() < 0.3 and made:
                del made[rng.choice(list(made))]
            else:
                made[rng.choice(names)] = rng.choice(tensors)
        order = rng.choice(
            [
                None,
                None,
                None,
                ["0", "2"],
                ["2", "0"],
                "02",
                [],
                [None],
                [0, 2],
                5,
                ["9" * 5000],
                [["0"], "2"],
                {"0": 1},
            ]
        )
        return rng.choice(
            [made, made, made, {"model": made}, {"a": made, "b": 1}, {"a": made, "b": made}, [made]]
        ), order

    return [
        Kind("torch", 40, files, changed, read),
        Kind("state dict", 30, [(state(torch.float64), None)], stated, lambda given: from_torch(*given)),
    ]


def keras_kind(folder: Path) -> Kind:
    """Give the kind of Keras' files."""
    import keras

    made = []
    layers = keras.layers
    keras.utils.set_random_seed(1)
    first = [layers.Input((2,)), layers.Dense(2, activation="relu"), layers.Dense(1)]
    second = [
        layers.Input((2, 1)),
        layers.Flatten(),
        layers.Dense(2),
        layers.BatchNormalization(epsilon=0.25),
        layers.ReLU(),
        layers.Dense(1),
    ]
    for parts in (first, second):
        keras.Sequential(parts).save(folder / "made.keras")
        members = members_of((folder / "made.keras").read_bytes())
        made.append(zipped([(n, how, b"{}" if n == "metadata.json" else data) for n, how, data in members]))  # no date
    path = str(folder / "model.keras")
    values = [*HUGE, "relu", "softmax", "tanh", "Dense", "Lambda", "os", "system", "keras.layers", "builtins",
    "keras", None, True, [], {},
              [None, 10**9], [None, 2], {"module": "builtins", "class_name": "exec", "config": "1"}, "float16",
              "../x", 0.5, -1.5, "NaN",
              {"class_name": "__lambda__", "config": {"value": "x"}}, "Sequential", "Functional", "channels_first",
              [[0]] * 3, "9" * 5000]  # fmt: skip
    keys = [
        "units",
        "activation",
        "batch_shape",
        "class_name",
        "module",
        "registered_name",
        "build_config",
        "input_shape",
        "config",
        "axis",
    ]

    def member(rng: random.Random, name: str, data: bytes) -> bytes:
        if name == "config.json" and rng.random() < 0.9:
            return tree_changed(rng, data.decode(), values, keys).encode()
        return bytes_changed(rng, data)

    def read(raw: bytes) -> Any:
        with open(path, "wb") as file:
            file.write(raw)
        return from_keras(path, root_bits=53, logits=True)

    return Kind("keras", 12, made, lambda rng, raw: zip_changed(rng, raw, member), read)


def model_kinds(folder: Path) -> list[Kind]:
    """Give the kinds whose packages are installed; say which are not."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    makers: dict[str, Callable[[], list[Kind]]] = {
        "onnx": lambda: [onnx_kind(folder)], "torch": lambda: torch_kinds(folder),
        "keras": lambda: [keras_kind(folder)],
    }  # fmt: skip
    kinds = []
    for name, make in makers.items():
        needed = [name, "h5py", "torch"] if name == "keras" else [name]
        if all(importlib.util.find_spec(package) for package in needed):
            kinds += make()
        else:
            print(f"{name} is not installed: its reader is left out", file=sys.stderr)
    return kinds
