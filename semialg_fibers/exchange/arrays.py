"""Arrays and tensor files: NumPy arrays, .npz, .safetensors, each read without running anything.

Main definitions
    from_arrays         weights (out × in) and biases, as arrays of floats or as exact numbers
    from_npz            arrays W1, b1, W2, b2, ... of a .npz file
    from_safetensors    the linear layers of a .safetensors file
    nearest_arrays      a network as arrays of floats again

Floats are taken as the dyadic rationals that they are. Both file formats are read here, in a few lines that check every
size before they believe it; no pickle is ever opened, and no package beside NumPy is needed.
"""

from __future__ import annotations

import io
import json
import math
import re
import sys
import warnings
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, UnsupportedError
from semialg_fibers.exchange.chain import within_total
from semialg_fibers.exchange.files import Path, opened_archive, read_bytes, source_of
from semialg_fibers.exchange.json_values import Number, Object, named, parse_json
from semialg_fibers.exchange.state_dicts import from_tensors
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.domain import Domain
from semialg_fibers.geometry.floats import MAX_ENTRIES, dyadic_matrix, dyadic_vector, nearest
from semialg_fibers.geometry.scalar import ZERO, shown
from semialg_fibers.geometry.symbolic_matrix import matrix_of
from semialg_fibers.networks.layer import Layer, Network

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SAFETENSORS_TYPES = {"F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8"} | {
    f"{sign}{8 * size}": f"<{sign.lower()}{size}" for sign in "IU" for size in (1, 2, 4, 8)
}


@checked
def from_arrays(layers: Iterable[tuple[Any, Any]], domain: Domain | None = None) -> Network:
    """Give the network with these weights (out × in) and biases (out,); None is a bias of zeros.

    NumPy arrays and PyTorch tensors of float16, bfloat16, float32, float64 or integers are taken exactly; anything else
    is read as `Layer` reads it, so that exact numbers and text pass and Python floats are refused.

    Raises:
        InexactInputError: for NaN, infinity and Python floats (place: `layer`, `row`, `column`).
        InvalidNetworkError: for shapes that do not chain.
        UnsupportedError: for other types of entries.

    >>> import numpy as np
    >>> net = from_arrays([(np.array([[1.0, 0.1]]), np.array([0.5]))])
    >>> net.layers[0].weight[0, 1]
    3602879701896397/36028797018963968
    """
    made: list[Layer] = []
    entries = 0
    for number, pair in enumerate(_iterated(layers), 1):
        try:
            weight, bias = pair
        except (TypeError, ValueError):
            raise InvalidNetworkError(f"layer {number} is not a pair (weight, bias)", layer=number) from None
        try:
            weight, bias = array_of_tensor(weight), array_of_tensor(bias)
            matrix = dyadic_matrix(weight) if _is_numeric(weight) else matrix_of(weight)
            entries = within_total(entries, matrix.shape[0] * matrix.shape[1], f"layer {number}")
            if bias is None:
                bias = (ZERO,) * matrix.shape[0]
            made.append(Layer(matrix, dyadic_vector(bias) if _is_numeric(bias) else bias))
        except (InexactInputError, InvalidNetworkError, UnsupportedError) as error:
            raise type(error)(f"layer {number}: {error.message}", **{**error.place, "layer": number}) from None
    return Network(made, domain)


def _iterated(layers: Any) -> Any:
    try:
        return iter(layers)
    except TypeError:
        raise InvalidNetworkError(f"expected a list of pairs (weight, bias), got {shown(layers)}") from None


def array_of_tensor(value: Any) -> Any:
    """Give a tensor of PyTorch as a NumPy array with the same values, anything else as it is.

    Raises:
        UnsupportedError: for a tensor that is not dense, or of other numbers.
        InvalidNetworkError: for more entries than the stated size.
    """
    torch: Any = sys.modules.get("torch")  # who has a tensor has imported it
    return value if not isinstance(value, getattr(torch, "Tensor", ())) else _array_of(torch, value)


def _array_of(torch: Any, value: Any) -> Any:
    floats = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
    kinds = [*floats, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]
    if value.layout != torch.strided or value.dtype not in kinds or value.device.type == "meta":
        raise UnsupportedError(
            f"a {value.layout} tensor of {value.dtype} on {value.device} is not read; it should be dense, of float16, "
            "bfloat16, float32 or float64"
        )
    if value.numel() > MAX_ENTRIES:  # a view with stride 0, which a copy would write out
        raise InvalidNetworkError(f"{value.numel():,} entries are more than the stated size of {MAX_ENTRIES:,}")
    plain = value.detach().cpu().resolve_neg()
    if plain.dtype == torch.bfloat16:
        plain = plain.to(torch.float32)  # NumPy has no bfloat16; every one is a float32
    return plain.numpy()


def format_named(dtype: Any, formats: Collection[str]) -> str:
    """Give the name of a floating-point format: text, or the type of PyTorch or NumPy that has this name.

    Raises:
        UnsupportedError: for any that is not one of `formats`.

    >>> import numpy as np
    >>> format_named(np.float32, ["float32", "float64"])
    'float32'
    """
    import numpy as np

    torch: Any = sys.modules.get("torch")
    name = dtype
    if isinstance(dtype, np.dtype) or (isinstance(dtype, type) and issubclass(dtype, np.generic)):
        name = np.dtype(dtype).name
    elif isinstance(dtype, getattr(torch, "dtype", ())):
        name = str(dtype).removeprefix("torch.")
    if not isinstance(name, str) or name not in formats:
        raise UnsupportedError(f"dtype is one of {', '.join(map(repr, formats))}, got {shown(dtype)}", value=dtype)
    return name


def _is_numeric(array: Any) -> bool:
    """Whether this is a NumPy array of its own numbers, not of Python objects."""
    import numpy as np

    return isinstance(array, np.ndarray) and array.dtype != object


@checked
def from_npz(path: Path) -> Network:
    """Give the network whose arrays W1 (out × in), b1 (out,), W2, b2, ... the file holds, without opening pickles.

    Raises:
        InvalidNetworkError: for a file that is no .npz, or other names (place: `file`).
        UnsupportedError: for arrays of Python objects, or of types that are not read.
        InexactInputError: for NaN and infinity.
    """
    source = source_of(path)
    raw = read_bytes(path)
    with named(source):
        arrays = _npz_arrays(raw)
        layers: list[tuple[Any, Any]] = []
        while f"W{len(layers) + 1}" in arrays:
            number = len(layers) + 1
            bias = arrays.pop(f"b{number}", None)
            if bias is None:
                raise InvalidNetworkError(f"there is W{number} and no b{number}; write zeros for a layer without bias")
            layers.append((arrays.pop(f"W{number}"), bias))
        if arrays:
            name = next(iter(arrays))
            raise InvalidNetworkError(
                f"the arrays are W1, b1, W2, b2, ..., without a gap; got {shown(name)}", value=name
            )
        return from_arrays(layers)


def _npz_arrays(raw: bytes) -> dict[str, npt.NDArray[np.generic]]:
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    with opened_archive(raw, ".npz") as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if name in arrays:
                raise InvalidNetworkError(f"the array {shown(name)} stands there twice", value=name)
            with archive.open(member) as stream:
                arrays[name] = _npy(stream.read(member.file_size + 1), name)
    return arrays


def _npy(raw: bytes, name: str) -> npt.NDArray[np.generic]:
    import numpy as np

    stream = io.BytesIO(raw)
    try:
        version = np.lib.format.read_magic(stream)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python about the text of the header
            shape, by_columns, kind = readers[version](stream)
    except Exception as error:  # whatever a damaged header makes NumPy's reader raise, TokenError for one
        raise InvalidNetworkError(f"the array {shown(name)} has no readable header ({_brief(error)})") from None
    if kind.hasobject:
        raise UnsupportedError(f"the array {shown(name)} holds Python objects, which are never unpickled", value=name)
    data = raw[stream.tell() :]
    if any(length < 0 for length in shape) or math.prod(shape) * kind.itemsize != len(data):
        raise InvalidNetworkError(f"the array {shown(name)} has not the size that its header states", value=name)
    shaped: npt.NDArray[np.generic] = _shaped(np.frombuffer(data, kind), shape, name, "F" if by_columns else "C")
    return shaped


def _shaped(flat: npt.NDArray[np.generic], shape: tuple[int, ...], name: str, order: Literal["C", "F"] = "C") -> Any:
    """Give the array with this shape, which may be beyond what NumPy can express where it has no entries."""
    try:
        return flat.reshape(shape, order=order)
    except (ValueError, OverflowError):
        raise InvalidNetworkError(f"the array {shown(name)} has a shape that is not read", value=name) from None


@checked
def from_safetensors(path: Path, order: Sequence[str | int] | None = None) -> Network:
    """Give the network of the linear layers in the file: arrays "P.weight" (out × in) and "P.bias" for layers P.

    The file names no activations: ReLU is read between the layers, none after the last, and a note says so. `order`
    states the order of the layers; it may be left out where widths and numbers in the names leave only one.

    Raises:
        InvalidNetworkError: for a file that is no safetensors, or layers that do not chain (place: `file`).
        UnsupportedError: for arrays that belong to no linear layer, or an order that is not determined.
        InexactInputError: for NaN and infinity.
    """
    source = source_of(path)
    raw = read_bytes(path)
    with named(source):
        return from_tensors(_safetensors(raw), order, "the file")


def _safetensors(raw: bytes) -> dict[str, npt.NDArray[np.generic]]:
    import numpy as np

    length = int.from_bytes(raw[:8], "little")
    if len(raw) < 10 or length > len(raw) - 8:
        raise InvalidNetworkError("this is no safetensors file: its header has not the size that it states")
    try:
        header = parse_json(raw[8 : 8 + length].decode())
    except UnicodeDecodeError:
        raise InvalidNetworkError("this is no safetensors file: its header is not UTF-8") from None
    if not isinstance(header, Object) or header.repeated is not None:
        raise InvalidNetworkError("the header of a safetensors file is one JSON object without repeated names")
    header.pop("__metadata__", None)
    data = memoryview(raw)[8 + length :]
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    spans = []
    for name, entry in header.items():
        form, shape, (start, end) = _entry(entry, name)
        if form not in SAFETENSORS_TYPES:
            raise UnsupportedError(f"{shown(name)} has entries of type {shown(form)}, which are not read", value=name)
        kind = np.dtype(SAFETENSORS_TYPES[form])
        if not 0 <= start <= end <= len(data) or math.prod(shape) * kind.itemsize != end - start:
            raise InvalidNetworkError(f"{shown(name)} has not the size that the header states", value=name)
        spans.append((start, end))
        flat: npt.NDArray[np.generic] = np.frombuffer(data[start:end], kind)
        if form == "BF16":  # a bfloat16 is the upper half of a float32
            flat = (flat.astype(np.uint32) << np.uint32(16)).view(np.float32)
        arrays[name] = _shaped(flat, shape, name)
    reached = 0
    for start, end in sorted(spans):
        if start != reached:
            raise InvalidNetworkError("the arrays of a safetensors file follow one another without gap or overlap")
        reached = end
    if reached != len(data):
        raise InvalidNetworkError("the file does not end where its last array ends")
    return arrays


def _entry(entry: Any, name: str) -> tuple[str, tuple[int, ...], tuple[int, int]]:
    if isinstance(entry, Object) and entry.repeated is None and set(entry) == {"dtype", "shape", "data_offsets"}:
        form, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        lists = isinstance(shape, list) and isinstance(offsets, list) and len(offsets) == 2 and len(shape) <= 8
        if isinstance(form, str) and lists and all(_is_count(value) for value in [*shape, *offsets]):
            return form, tuple(map(int, shape)), (int(offsets[0]), int(offsets[1]))
    raise InvalidNetworkError(
        f"{shown(name)}: expected dtype, shape and data_offsets, got {shown(json.dumps(entry))}", value=name
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, Number) and re.fullmatch("[0-9]{1,15}", value) is not None


def _brief(error: BaseException) -> str:
    return shown(str(error) or type(error).__name__)


def nearest_arrays(net: Network, form: str) -> tuple[list[tuple[Any, Any]], str]:
    """Give weights and biases rounded to the nearest float16, ..., ties to even, and a note where numbers were rounded.

    The arrays are of float64, which holds each number of the other formats; the note is empty when nothing was rounded.

    Raises:
        UnsupportedError: for letters, or a parameter beyond the range of the format.
    """
    import numpy as np

    net.refuse_letters()
    arrays: list[tuple[Any, Any]] = []
    rounded = 0
    for number, layer in enumerate(net.layers, 1):
        try:
            rows = [[nearest(value, form) for value in values] for values in layer.forms]
        except UnsupportedError as error:
            raise UnsupportedError(f"layer {number}: {error.message}", **{**error.place, "layer": number}) from None
        rounded += sum(not is_exact for row in rows for _, is_exact in row)
        values = np.array([[value for value, _ in row] for row in rows], dtype=np.float64)
        arrays.append((values[:, :-1].copy(), values[:, -1].copy()))
    share = f"{rounded} of {net.parameter_count} parameters {'was' if rounded == 1 else 'were'}"
    return arrays, f"{share} rounded to the nearest {form}" if rounded else ""
