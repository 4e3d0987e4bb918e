"""ONNX: models in, networks out.

Main definitions
    from_onnx    the network of a model or of a file
    to_onnx      a model of Gemm and Relu, each parameter the nearest float

Tensors that a model keeps in other files are read from its own folder only, whatever the model says.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import InvalidNetworkError, SemialgError, UnsupportedError
from semialg_fibers.exchange.arrays import format_named, nearest_arrays
from semialg_fibers.exchange.chain import ExchangeNote
from semialg_fibers.exchange.files import read_bytes, source_of
from semialg_fibers.exchange.json_values import named
from semialg_fibers.exchange.onnx_graph import FLOATS, read_graph
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import shown
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import onnx

OLDEST_OPSET = 7  # before, Add had an axis of its own
WRITTEN_OPSET, WRITTEN_IR = 17, 8  # old enough for every runtime in use
FORMATS = {name: number for number, name in FLOATS.items() if name != "bfloat16"}
TYPES = (*FLOATS, 2, 3, 4, 5, 6, 7, 12, 13)  # floats and integers


@checked
def from_onnx(model: Any, root_bits: int | None = None, logits: bool = False) -> Network:
    """Give the ReLU network of an ONNX model whose graph is one chain, on its flattened input.

    `model` is a path or an onnx.ModelProto. Read are Gemm (every transA, transB, alpha, beta, with C or without),
    MatMul, Add, Sub, Mul and Div with constants, Relu, Flatten, Reshape that only flattens, Identity, Cast between
    floats, Dropout, BatchNormalization, and constants as initialisers or nodes. A Cast of the value in between is read
    as the identity: rounding is no part of the network. `root_bits` rounds the irrational roots of a batch norm;
    `logits=True` drops a final softmax or sigmoid.

    Raises:
        UnsupportedError: for any other node, naming it, for external data outside the model's folder; without onnx.
        InvalidNetworkError: for widths that do not chain, or a file that cannot be read (place: `file`).
        InexactInputError: for NaN and infinity.
    """
    framework = _onnx()
    if isinstance(model, str | bytes | os.PathLike):
        source = source_of(model)
        raw = read_bytes(model)
        with named(source):
            try:
                parsed = framework.ModelProto.FromString(raw)
            except Exception as error:  # whatever a damaged file makes the reader raise
                raise InvalidNetworkError(f"this is no readable ONNX file ({type(error).__name__})") from None
            return _network(framework, parsed, os.path.dirname(os.path.realpath(source)), root_bits, logits)
    if not isinstance(model, framework.ModelProto):
        raise UnsupportedError(f"from_onnx reads a path or an onnx.ModelProto, got {type(model).__name__}")
    return _network(framework, model, None, root_bits, logits)


def _onnx() -> Any:
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise UnsupportedError("onnx is not installed: pip install 'semialg-fibers[onnx]'") from None
    return onnx


def _network(framework: Any, model: Any, folder: str | None, root_bits: int | None, logits: bool) -> Network:
    versions = [opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")]
    if len(versions) != 1 or versions[0] < OLDEST_OPSET:
        raise UnsupportedError(
            f"the model uses versions {versions} of the operators, expected one, at least {OLDEST_OPSET}: convert it "
            "with onnx.version_converter"
        )
    if model.functions:
        raise UnsupportedError("the model defines operators of its own, which are not read: inline them first")

    def to_array(tensor: Any) -> npt.NDArray[np.generic]:
        return _array(framework, tensor, folder)

    try:
        return read_graph(model.graph, to_array, framework.helper.tensor_dtype_to_np_dtype, root_bits, logits)
    except (KeyError, IndexError):  # an attribute or an input that an operator must have
        raise InvalidNetworkError("a node lacks what its operator needs: see onnx.checker.check_model") from None


def _array(framework: Any, tensor: Any, folder: str | None) -> npt.NDArray[np.generic]:
    name = shown(tensor.name)
    if tensor.data_type not in TYPES:
        raise UnsupportedError(f"the tensor {name} holds neither floats nor integers", value=tensor.name)
    if tensor.data_location == framework.TensorProto.EXTERNAL:
        inside = framework.TensorProto()
        inside.CopyFrom(tensor)
        del inside.external_data[:]
        inside.data_location = framework.TensorProto.DEFAULT
        try:
            inside.raw_data = _external({entry.key: entry.value for entry in tensor.external_data}, folder)
        except SemialgError as error:
            raise type(error)(f"the tensor {name}: {error.message}", value=tensor.name) from None
        tensor = inside
    try:
        if any(size < 0 for size in tensor.dims):
            raise ValueError("a negative size")
        array: npt.NDArray[np.generic] = framework.numpy_helper.to_array(tensor)
    except Exception as error:  # whatever a damaged tensor makes the reader raise
        raise InvalidNetworkError(
            f"the tensor {name} cannot be read ({shown(str(error))})", value=tensor.name
        ) from None
    return array


def _external(entries: dict[str, str], folder: str | None) -> bytes:
    """Give the stated bytes of a file that lies in the folder of the model, links followed."""
    location = entries.get("location", "")
    if folder is None:
        raise UnsupportedError("its data lie in a file, and a model in memory has no folder: give its path")
    try:
        path = os.path.realpath(os.path.join(folder, location))
        inside = bool(location) and not os.path.isabs(location) and os.path.commonpath([path, folder]) == folder
    except (TypeError, ValueError):  # bytes that are no UTF-8, a null byte, or another drive
        inside = False
    if not inside:
        raise UnsupportedError(f"its data lie in {shown(location)}, outside the folder of the model, and are not read")
    data = read_bytes(path)
    try:
        start = int(entries.get("offset", "0"))
        length = int(entries.get("length", str(len(data) - start)))
    except ValueError:
        raise InvalidNetworkError("its offset or its length is no number") from None
    if not 0 <= start <= start + length <= len(data):
        raise InvalidNetworkError(f"its data should end at byte {start + length} of a file of {len(data)} bytes")
    return data[start : start + length]


@checked
def to_onnx(net: Network, dtype: Any = "float64") -> onnx.ModelProto:
    """Give the model x ↦ Gemm, Relu, ..., Gemm with each parameter rounded to the nearest `dtype`, ties to even.

    `dtype` is "float32", numpy.float32 or the like.

    The input "x" and the output "y" have one sample per row; weights are out × in (transB = 1). A note counts the
    parameters that were rounded; there is none when every number is dyadic and fits, and then `from_onnx` gives the
    same network again. `onnx.save` writes the model. The domain of the network is not part of it.

    Raises:
        UnsupportedError: for letters, a parameter beyond the range, another type, or without onnx.
    """
    dtype = format_named(dtype, FORMATS)
    framework = _onnx()
    helper = framework.helper
    arrays, note = nearest_arrays(net, dtype)
    nodes, tensors, reached = [], [], "x"
    for number, (weight, bias) in enumerate(arrays, 1):
        last = number == len(arrays)
        names = [f"W{number}", f"b{number}"]
        tensors += [
            framework.numpy_helper.from_array(array.astype(dtype), name)
            for array, name in zip((weight, bias), names, strict=True)
        ]
        result = "y" if last else f"z{number}"
        nodes.append(helper.make_node("Gemm", [reached, *names], [result], name=f"layer{number}", transB=1))
        if not last:
            reached = f"a{number}"
            nodes.append(helper.make_node("Relu", [result], [reached], name=f"relu{number}"))
    ends = [
        helper.make_tensor_value_info(name, FORMATS[dtype], ["samples", width])
        for name, width in (("x", net.widths[0]), ("y", net.widths[-1]))
    ]
    graph = helper.make_graph(nodes, "relu_network", ends[:1], ends[1:], tensors)
    if note:
        warnings.warn(ExchangeNote(note), stacklevel=2)
    model: onnx.ModelProto = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", WRITTEN_OPSET)],
        ir_version=WRITTEN_IR,
        producer_name="semialg-fibers",
    )
    return model
