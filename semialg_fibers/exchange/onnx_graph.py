"""The graph of an ONNX model as one chain of affine maps and ReLU, node after node.

Main definitions
    read_graph    the network of a graph

Only what is known is read: every node is on a list, takes the result of the node before it and constants, and its
shapes are followed, since a Reshape or a broadcast that looks harmless may mix samples. A value holds one sample per
row ("rows"), one per column ("columns"), or is one sample ("vector").
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, UnsupportedError
from semialg_fibers.exchange.chain import MAX_IDENTITY, Chain, scaled_rows
from semialg_fibers.exchange.files import MAX_MODEL_BYTES
from semialg_fibers.geometry.floats import dyadic_matrix, dyadic_vector
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, exact_from_float, quantity, shown
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

FLOATS = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16"}  # TensorProto.DataType
ARITHMETIC = ("Add", "Sub", "Mul", "Div")
OUTPUTS = ("Softmax", "LogSoftmax", "Sigmoid")


def read_graph(
    graph: Any,
    to_array: Callable[[Any], Array],
    to_kind: Callable[[int], Any],
    root_bits: int | None,
    logits: bool,
) -> Network:
    """Give the network of a graph; `to_array` reads a tensor of the model, `to_kind` names NumPy's type of a number.

    Raises:
        UnsupportedError: naming the first node that is not read.
        InvalidNetworkError: for widths that do not chain, or names that are used twice.
        InexactInputError: for NaN and infinity.
    """
    return _Reader(graph, to_array, to_kind, root_bits, logits).network()


def _named(node: Any) -> str:
    return f"{node.op_type} {node.name or (node.output[0] if node.output else '')!a}"


class _Reader:
    def __init__(
        self, graph: Any, to_array: Callable[[Any], Array], to_kind: Callable[[int], Any], root_bits: Any, logits: bool
    ) -> None:
        self.graph, self.to_array, self.to_kind = graph, to_array, to_kind
        self.root_bits, self.logits = root_bits, logits
        self.chain = Chain()
        self.dropped: str | None = None
        self.constants: dict[str, Array] = {}
        if len(graph.sparse_initializer):
            raise UnsupportedError("the graph has sparse initializers, which are not read; make them dense first")
        self.bytes = 0
        for tensor in graph.initializer:
            self._new(tensor.name)
            self.constants[tensor.name] = self._kept(to_array(tensor))
        # No layer can take more coordinates than this: the shape of an input may claim any number for free.
        self.most = max([MAX_IDENTITY, *(constant.size for constant in self.constants.values())])
        inputs = [value for value in graph.input if value.name not in self.constants]
        if len(inputs) != 1 or len(graph.output) != 1:
            sizes = f"{quantity(len(inputs), 'input')} and {quantity(len(graph.output), 'output')}"
            raise UnsupportedError(f"the graph has {sizes}, expected one each")
        self.input = inputs[0]
        self.moving = self._changing()
        self._start()

    def network(self) -> Network:
        """Read the nodes from the input to the output."""
        reached = self.input.name
        for node in self.graph.node:
            what = _named(node)
            moving = [name for name in node.input if name in self.moving]
            if not moving:
                continue  # a constant, judged where it is used
            if self.dropped is not None:
                raise UnsupportedError(f"{what} stands after {self.dropped}, which must stand last", value=node.name)
            if moving != [reached]:
                raise UnsupportedError(f"{what} does not take exactly what the node before it gave", value=node.name)
            try:
                self._read(node, list(node.input).index(reached), what)
            except (InexactInputError, InvalidNetworkError, UnsupportedError) as error:
                if what in error.message:
                    raise
                raise type(error)(f"{what}: {error.message}", **error.place) from None
            reached = node.output[0]
        if self.graph.output[0].name != reached:
            raise UnsupportedError("the output of the graph is not the end of one chain of nodes")
        return self.chain.network("the graph")

    # constants, names and shapes

    def _kept(self, constant: Array) -> Array:
        """Count the bytes of all constants: tensors may share one file, and a Cast may double them again and again."""
        self.bytes += int(constant.nbytes)
        if self.bytes > MAX_MODEL_BYTES:
            raise UnsupportedError(f"its constants take more than the stated size of {MAX_MODEL_BYTES:,} bytes")
        return constant

    def _new(self, name: str, moving: Container[str] = ()) -> None:
        if not name or name in moving or name in self.constants:
            raise InvalidNetworkError(f"the name {shown(name)} is given to two values of the graph", value=name)

    def _changing(self) -> set[str]:
        """The values that depend on the input; the others are computed here."""
        moving = {self.input.name}
        for node in self.graph.node:
            outputs = [name for name in node.output if name]
            if node.domain not in ("", "ai.onnx"):
                raise UnsupportedError(f"{_named(node)} is an operation of {shown(node.domain)}", value=node.name)
            for name in outputs:
                self._new(name, moving)
            if any(name in moving for name in node.input):
                absent = [name for name in node.input if name and name not in moving and name not in self.constants]
                if absent:  # an empty name leaves an optional input out; any other must stand for something
                    raise UnsupportedError(f"{_named(node)} uses values that are not there: {shown(absent[0])}")
                moving.update(outputs)
            elif len(outputs) == 1 and all(name in self.constants for name in node.input):
                self.constants[outputs[0]] = self._constant(node)
            else:
                raise UnsupportedError(f"{_named(node)} uses values that are not there", value=node.name)
        return moving

    def _constant(self, node: Any) -> Array:
        import numpy as np

        kind, attributes = node.op_type, {a.name: a for a in node.attribute}
        given = [self.constants[name] for name in node.input]
        if kind == "Constant" and len(attributes) == 1 and not given:
            name, attribute = next(iter(attributes.items()))
            if name == "value":
                return self._kept(self.to_array(attribute.t))
            if name in ("value_float", "value_floats"):
                return np.array(attribute.f if name == "value_float" else list(attribute.floats), dtype=np.float32)
            if name in ("value_int", "value_ints"):
                return np.array(attribute.i if name == "value_int" else list(attribute.ints), dtype=np.int64)
        elif kind == "Identity" and len(given) == 1:
            return given[0]
        elif kind == "Transpose" and len(given) == 1:
            order = list(attributes["perm"].ints) if "perm" in attributes else None
            if order is None or sorted(order) == list(range(given[0].ndim)):
                return np.transpose(given[0], order)
        elif kind == "Cast" and len(given) == 1 and attributes["to"].i in FLOATS:
            form = np.dtype(self.to_kind(attributes["to"].i))
            if form.name != FLOATS[attributes["to"].i]:  # older versions of onnx put float32 in the place of bfloat16
                raise UnsupportedError(f"{_named(node)} casts to a type that this version of onnx does not have")
            with np.errstate(over="ignore", invalid="ignore"):  # infinity and NaN are refused where they are used
                return self._kept(given[0].astype(form))  # rounds where the model does
        raise UnsupportedError(f"{_named(node)} computes a constant in a way that is not read", value=node.name)

    def _start(self) -> None:
        """How the samples lie in the input, and the shape of one of them (None where it is not stated)."""
        kind = self.input.type.tensor_type
        if kind.elem_type not in FLOATS:
            raise UnsupportedError(f"the input {self.input.name!a} holds no floats")
        self.batch: int | None = None
        self.flat = True
        self.shape: tuple[int | None, ...] | None = None
        self.lie = "columns" if self._takes_columns() else "rows"
        if not kind.HasField("shape"):
            return
        sizes = [size.dim_value if size.HasField("dim_value") else None for size in kind.shape.dim]
        if not sizes or any(size is not None and size < 1 for size in sizes):
            raise UnsupportedError(f"the input {self.input.name!a} has no dimension, or one of size 0")
        if len(sizes) == 1:
            self.lie, self.shape = "vector", tuple(sizes)
        elif self.lie == "columns":
            if len(sizes) != 2:
                raise UnsupportedError(
                    f"the input {self.input.name!a} has {len(sizes)} dimensions and is not flattened"
                )
            self.shape, self.batch = (sizes[0],), sizes[1]
        else:
            self.shape, self.batch, self.flat = tuple(sizes[1:]), sizes[0], len(sizes) == 2
        self._tell_width()

    def _takes_columns(self) -> bool:
        """Whether the first product takes the samples as columns."""
        for node in self.graph.node:
            place = next((i for i, name in enumerate(node.input) if name in self.moving), None)
            if place is not None and node.op_type in ("Gemm", "MatMul"):
                attributes = {a.name: a.i for a in node.attribute}
                if node.op_type == "MatMul":
                    return place == 1
                return bool(attributes.get("transA", 0)) if place == 0 else not attributes.get("transB", 0)
        return False

    def _count(self) -> int | None:
        """The number of coordinates of a sample."""
        if self.shape is None or None in self.shape:
            return self.chain.width
        return prod(size for size in self.shape if size is not None)

    def _tell_width(self) -> None:
        count = self._count()
        if count is not None and self.chain.width is None:
            self.chain.expect(count, "the input")

    # nodes

    def _read(self, node: Any, place: int, what: str) -> None:
        attributes = {attribute.name: attribute for attribute in node.attribute}
        others = [self.constants.get(name) for name in node.input]
        kind = node.op_type
        if kind == "Gemm":
            self._gemm(attributes, others, place, what)
        elif kind == "MatMul":
            self._matmul(_given(others, 1 - place), place, what)
        elif kind in ARITHMETIC:
            self._arithmetic(kind, _given(others, 1 - place), place, what)
        elif kind == "Relu":
            self.chain.relu(what)
        elif kind == "Flatten":
            self._flatten(attributes["axis"].i if "axis" in attributes else 1)
        elif kind == "Reshape" and place == 0 and len(others) == 2:
            self._reshape(_given(others, 1), bool(attributes["allowzero"].i) if "allowzero" in attributes else False)
        elif kind == "BatchNormalization" and place == 0 and not any(node.output[1:]):
            self._batch_norm(attributes, [_given(others, i) for i in (1, 2, 3, 4)], what)
        elif kind == "Dropout" and place == 0:
            if len(others) > 2 and _given(others, 2).any():
                raise UnsupportedError("it drops units when it is run, so that this is no function")
        elif kind == "Cast":
            if attributes["to"].i not in FLOATS:
                raise UnsupportedError("it casts to a type that is no float")
        elif kind in OUTPUTS:
            if not self.logits:
                raise UnsupportedError("it is not piecewise linear; with logits=True the network before it is read")
            self.dropped = what
            self.chain.notes.append(f"{what} was dropped: the network gives the logits")
        elif kind != "Identity":
            raise UnsupportedError(f"{what} is no part of a ReLU network that is read", value=node.name)

    def _affine(self, weight: Array, transposed: bool, factor: fmpq, bias: Vector | None, what: str) -> None:
        """Append x ↦ factor · W x + bias; `weight` is out × in, or in × out where it is `transposed`."""
        if not self.flat:
            raise UnsupportedError("its input has more than two dimensions: a Flatten should stand in front")
        if weight.ndim != 2:
            raise UnsupportedError(f"its weight has shape {weight.shape}, expected two dimensions")
        matrix = dyadic_matrix(weight.T if transposed else weight)
        if factor != 1:
            matrix = scaled_rows(matrix, (factor,) * matrix.shape[0])
        self.chain.affine(matrix, bias, what)
        self.shape = (matrix.shape[0],)

    def _gemm(self, attributes: Any, others: Sequence[Array | None], place: int, what: str) -> None:
        """Read α A' B' + β C, where A' and B' may be transposed, and one of A and B is the value reached."""
        alpha, beta = (exact_from_float(attributes[n].f) if n in attributes else ONE for n in ("alpha", "beta"))
        turned = [bool(attributes[name].i) if name in attributes else False for name in ("transA", "transB")]
        if place > 1 or self.lie == "vector":
            raise UnsupportedError("it takes the value before it as C, or as a vector")
        weight = _given(others, 1 - place)
        # A' has samples as rows, B' has them as columns.
        if (self.lie == "rows") == (turned[0] if place == 0 else not turned[1]):
            raise UnsupportedError("it mixes samples: the value before it is transposed in the wrong direction")
        self.lie = "rows" if place == 0 else "columns"
        # x B' has the weight B'ᵀ, A' x has the weight A'.
        transposed = not turned[1] if place == 0 else turned[0]
        outputs = weight.shape[-1 if transposed else 0] if weight.ndim == 2 else 0
        bias = None
        if len(others) > 2 and others[2] is not None:
            bias = tuple(beta * value for value in self._broadcast(others[2], (outputs,)))
        self._affine(weight, transposed, alpha, bias, what)

    def _matmul(self, weight: Array, place: int, what: str) -> None:
        if self.lie == ("columns" if place == 0 else "rows"):
            raise UnsupportedError("it mixes samples: the value before it should stand on the other side")
        self._affine(weight, place == 0, ONE, None, what)

    def _broadcast(self, constant: Array, shape: tuple[int, ...]) -> Vector:
        """Give a constant for each coordinate of a sample of this shape; it may not differ between samples."""
        import numpy as np

        full = {"rows": (1, *shape), "columns": (*shape, 1), "vector": shape}[self.lie]
        if prod(shape) > max(self.most, constant.size):
            raise UnsupportedError(f"it has {prod(shape):,} coordinates, more than any weight takes")
        try:
            spread = np.broadcast_to(constant, full)
            return (
                dyadic_vector(constant.ravel()) * prod(shape) if constant.size == 1 else dyadic_vector(spread.ravel())
            )
        except ValueError:
            raise UnsupportedError(
                f"a constant of shape {constant.shape} does not fit samples of shape {shape}"
            ) from None

    def _arithmetic(self, kind: str, constant: Array, place: int, what: str) -> None:
        """Read x + c, c + x, x − c, c − x, x c, c x, x / c with c for each coordinate or for all."""
        values: Vector | fmpq
        if self.shape is not None and None not in self.shape:
            values = self._broadcast(constant, tuple(size for size in self.shape if size is not None))
        elif constant.size == 1 and constant.ndim <= 2:
            values = dyadic_vector(constant.ravel())[0]
        elif self.flat and self.lie != "columns" and constant.ndim and constant.size == constant.shape[-1]:
            values = self._broadcast(constant, (constant.size,))
            self.shape = (constant.size,)
        else:
            raise UnsupportedError("the shape of its input is not stated, so that its constant cannot be placed")
        if kind == "Add":
            self.chain.scaling(ONE, values, what)
        elif kind == "Sub" and place == 0:
            self.chain.scaling(ONE, _each(lambda value: -value, values), what)
        elif kind == "Sub":
            self.chain.scaling(-ONE, values, what)
        elif kind == "Mul":
            self.chain.scaling(values, ZERO, what)
        elif place == 0:
            if any(value == 0 for value in (values if isinstance(values, tuple) else (values,))):
                raise InvalidNetworkError("it divides by zero")
            self.chain.scaling(_each(lambda value: 1 / value, values), ZERO, what)
        else:
            raise UnsupportedError("it divides by its input, which is not piecewise linear")

    def _flatten(self, axis: int) -> None:
        if self.flat and self.lie != "vector" and axis in (1, -1):
            return
        if axis != 1 or self.lie != "rows":
            raise UnsupportedError(f"it flattens from axis {axis}, which mixes samples")
        self._flattened()

    def _flattened(self) -> None:
        count = self._count()
        self.flat, self.shape = True, None if count is None else (count,)

    def _reshape(self, target: Array, zero_is_zero: bool) -> None:
        """Read Reshape to (samples, coordinates)."""
        sizes = [int(size) for size in target.ravel()] if target.ndim == 1 and target.dtype.kind == "i" else []
        if len(sizes) != 2 or self.lie == "columns" or (zero_is_zero and 0 in sizes):
            raise UnsupportedError(f"it reshapes to {shown(sizes)}, which does not only flatten")
        samples, width = sizes
        count = self._count()
        if width == 0 and self.flat and self.lie == "rows":
            width = -1
        if self.lie == "vector":
            fits = samples == 1 and width in (-1, count)
        elif width == -1:
            fits = samples == 0 or samples == self.batch
        elif count is not None:
            fits = width == count
        else:
            fits = width > 0 and samples in (0, -1)
        if not fits:
            raise UnsupportedError(f"it reshapes to {sizes}, which does not only flatten")
        self.lie = "rows"
        if width > 0:
            self.chain.expect(width, "Reshape")
        self._flattened()

    def _batch_norm(self, attributes: Any, others: Sequence[Array], what: str) -> None:
        if "training_mode" in attributes and attributes["training_mode"].i:
            raise UnsupportedError("it is in training mode, so that it is no fixed function")
        if not self.flat or self.lie != "rows":
            raise UnsupportedError("its input is not one sample per row")
        # Attributes are float32, and so is the default.
        epsilon = exact_from_float(attributes["epsilon"].f) if "epsilon" in attributes else fmpq(2748779, 2**38)
        gamma, beta, mean, variance = (dyadic_vector(value) for value in others)
        self.chain.batch_norm(gamma, beta, mean, variance, epsilon, self.root_bits, what)
        self.shape = (len(variance),)


def _given(values: Sequence[Array | None], place: int) -> Array:
    """Give the constant that stands there."""
    value = values[place] if place < len(values) else None
    if value is None:
        raise InvalidNetworkError(f"it lacks its input {place + 1}")
    return value


def _each(function: Callable[[fmpq], fmpq], values: Vector | fmpq) -> Vector | fmpq:
    return tuple(map(function, values)) if isinstance(values, tuple) else function(values)
