"""Keras 3: chains of Dense layers.

Main definitions
    from_keras    the network of a model, or of a .keras file

A .keras file is an archive whose description may name any code. It is opened by Keras only after each class that it
names was found on a closed list, and after its weights were seen to lie in the archive. How the model was trained
(optimizer, loss, metrics) plays no part in its function: it is dropped before anything is looked at.
"""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from math import prod
from typing import Any

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, SemialgError, UnsupportedError
from semialg_fibers.exchange.chain import Chain
from semialg_fibers.exchange.files import MAX_MODEL_BYTES, opened_archive, read_bytes, source_of
from semialg_fibers.exchange.json_values import Number, Object, named, parse_json
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.floats import MAX_ENTRIES, dyadic_matrix, dyadic_vector
from semialg_fibers.geometry.scalar import Vector, exact_from_float, shown
from semialg_fibers.networks.layer import Network

LAYERS = {
    "InputLayer",
    "Dense",
    "ReLU",
    "Activation",
    "Flatten",
    "Dropout",
    "Identity",
    "BatchNormalization",
    "Softmax",
}
MODELS = {"Sequential", "Functional"}
PLAIN = {"DTypePolicy", "__keras_tensor__"}
FOLDERS = ("keras.initializers", "keras.regularizers", "keras.constraints")  # recipes of numbers, not used here
MEMBERS = {"metadata.json", "config.json", "model.weights.h5"}


@checked
def from_keras(model: Any, root_bits: int | None = None, logits: bool = False) -> Network:
    """Give the network of a Sequential or a functional chain of Dense, ReLU, Flatten, Dropout, BatchNormalization.

    `model` is a Keras 3 model or the path of a .keras file. Kernels are in × out and are transposed. `root_bits` rounds
    the irrational roots of a batch norm; `logits=True` drops a final softmax or sigmoid.

    Raises:
        UnsupportedError: for any other layer or activation, naming it, or without Keras.
        InvalidNetworkError: for widths that do not chain, or a file that cannot be read (place: `file`).
        InexactInputError: for NaN and infinity.
    """
    try:
        import keras
    except ImportError as error:
        if getattr(error, "name", None) == "keras":
            raise UnsupportedError("Keras is not installed: pip install 'semialg-fibers[keras]'") from None
        raise UnsupportedError(
            f"Keras does not find its backend ({error}): install PyTorch, say, and set KERAS_BACKEND=torch"
        ) from None
    if isinstance(model, str | bytes | os.PathLike):
        source = source_of(model)
        raw = read_bytes(model)
        with named(source):
            return _network(keras, _loaded(keras, raw), root_bits, logits)
    return _network(keras, model, root_bits, logits)


def _network(keras: Any, model: Any, root_bits: int | None, logits: bool) -> Network:
    kinds = {getattr(keras.layers, name): name for name in LAYERS if hasattr(keras.layers, name)}
    chain = Chain()
    final: str | None = None
    for layer in _layers(keras, model):
        # A subclass may compute something else.
        kind, what = kinds.get(type(layer)), f"{layer.name} ({type(layer).__name__})"
        if kind is None:
            raise UnsupportedError(f"{what} is no layer that is read", value=layer.name)
        if final is not None:
            raise UnsupportedError(f"{what} stands after {final}, which must stand last", value=layer.name)
        activation = None
        if kind in ("Dense", "BatchNormalization"):
            _refuse_unflattened(layer, what)
        if kind == "Dense":
            _dense(keras, chain, layer, what)
            activation = layer.activation
        elif kind == "Activation":
            activation = layer.activation
        elif kind == "ReLU":
            if layer.max_value is not None or layer.negative_slope or layer.threshold:
                raise UnsupportedError(f"{what} is no plain ReLU", value=layer.name)
            chain.relu(what)
        elif kind == "BatchNormalization":
            _batch_norm(keras, chain, layer, root_bits, what)
        elif kind == "Flatten" and layer.data_format != "channels_last":
            raise UnsupportedError(f"{what} puts the channels last before it flattens", value=layer.name)
        elif kind == "Softmax":
            activation = keras.activations.softmax
        final = _activation(keras, chain, activation, logits, what)
    return chain.network("the model")


def _layers(keras: Any, model: Any) -> list[Any]:
    """Give the layers of a chain, in order."""
    if type(model) is keras.Sequential:
        if not model.built:
            raise InvalidNetworkError("the model has no weights yet: build it, or call it once")
        flat: list[Any] = []
        for layer in model.layers:
            flat += _layers(keras, layer) if isinstance(layer, keras.Model) else [layer]
        return flat
    if type(model) is not keras.Model and type(model).__name__ != "Functional":
        raise UnsupportedError(f"from_keras reads Sequential and functional models, got {type(model).__name__}")
    order = []
    if len(model.inputs) != 1 or len(model.outputs) != 1:
        raise UnsupportedError("the model has several inputs or outputs")
    tensor = model.outputs[0]
    while True:  # from the output back to the input: each layer is used where its one input comes from
        layer, index, _ = tensor._keras_history
        order.append(layer)
        taken = layer._inbound_nodes[index].input_tensors
        if not taken:
            break
        if len(taken) != 1:
            raise UnsupportedError(f"{layer.name} ({type(layer).__name__}) takes several inputs", value=layer.name)
        tensor = taken[0]
    flat = []
    for layer in reversed(order):
        flat += _layers(keras, layer) if isinstance(layer, keras.Model) else [layer]
    return flat


def _refuse_unflattened(layer: Any, what: str) -> None:
    """Refuse a layer that acts along one axis of several: it is not the affine map of one row."""
    shape = (layer.get_build_config() or {}).get("input_shape")
    if shape is None or len(shape) != 2:
        raise UnsupportedError(
            f"{what} acts on an input of shape {shape}, expected (samples, features): a Flatten should stand in front",
            value=layer.name,
        )


def _numbers(keras: Any, value: Any) -> Any:
    """Give a variable as a NumPy array; that some backends do it in a way that NumPy will drop is not our caller's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return keras.ops.convert_to_numpy(value)


def _dense(keras: Any, chain: Chain, layer: Any, what: str) -> None:
    if getattr(layer, "lora_enabled", False) or getattr(layer, "quantization_mode", None):
        raise UnsupportedError(f"{what} is quantised or has LoRA factors, which are not read", value=layer.name)
    try:
        matrix = dyadic_matrix(_numbers(keras, layer.kernel).T)
        offset = dyadic_vector(_numbers(keras, layer.bias)) if layer.use_bias else None
    except (InexactInputError, InvalidNetworkError, UnsupportedError) as error:
        raise type(error)(f"{what}: {error.message}", **error.place) from None
    chain.affine(matrix, offset, what)


def _batch_norm(keras: Any, chain: Chain, layer: Any, root_bits: int | None, what: str) -> None:
    def stored(value: Any) -> Vector | None:
        return None if value is None else dyadic_vector(_numbers(keras, value))

    mean, variance = stored(layer.moving_mean), stored(layer.moving_variance)
    axis = layer.axis if isinstance(layer.axis, int) else None
    if mean is None or variance is None or axis not in (-1, 1):
        raise UnsupportedError(f"{what} does not normalise the last axis by stored numbers", value=layer.name)
    epsilon = exact_from_float(layer.epsilon)
    chain.batch_norm(stored(layer.gamma), stored(layer.beta), mean, variance, epsilon, root_bits, what)


def _activation(keras: Any, chain: Chain, activation: Any, logits: bool, what: str) -> str | None:
    """Append an activation; give its name when it was dropped."""
    known = keras.activations
    if activation is None or activation is known.linear:
        return None
    if activation is known.relu:
        chain.relu(what)
        return None
    name = getattr(activation, "__name__", shown(activation))
    if activation not in (known.softmax, known.log_softmax, known.sigmoid):
        raise UnsupportedError(f"{what} has the activation {name}, only relu is read", value=name)
    if not logits:
        raise UnsupportedError(
            f"{what} ends in {name}, which is not piecewise linear; with logits=True the network before it is read",
            value=name,
        )
    chain.notes.append(f"the activation {name} of {what} was dropped: the network gives the logits")
    return f"{name} of {what}"


# files


def _loaded(keras: Any, raw: bytes) -> Any:
    with opened_archive(raw, ".keras") as archive:
        if sorted(archive.namelist()) != sorted(MEMBERS):
            raise InvalidNetworkError(f"a .keras file holds {', '.join(sorted(MEMBERS))} and nothing else")
        config = archive.read("config.json").decode()
        weights = archive.read("model.weights.h5")
    described = _untrained(parse_json(config))
    for module, name in _classes(described):
        if not _is_known(module, name):
            raise UnsupportedError(f"the file names {shown(module)}.{shown(name)}, which is not read", value=name)
    _check_sizes(described)
    _check_weights(weights)
    try:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Keras about itself
            model = keras.saving.deserialize_keras_object(_untrained(json.loads(config)), safe_mode=True)
            path = os.path.join(folder, "model.weights.h5")
            with open(path, "wb") as file:
                file.write(weights)
            model.load_weights(path)
    except Exception as error:  # whatever a damaged file makes the reader raise
        raise InvalidNetworkError(f"Keras cannot read the file ({type(error).__name__})") from None
    return model


def _untrained(described: Any) -> Any:
    """Give the description without how its models are trained, nested ones included; the value given is changed.

    Only what Keras itself writes is dropped: the entry `compile_config` beside the class of an object.
    """
    stack = [described]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if "class_name" in value:
                value.pop("compile_config", None)
            stack += value.values()
        elif isinstance(value, list):
            stack += value
    return described


def _classes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (module, class_name) of every object that the description would make."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, Object):
            if value.repeated is not None:
                raise InvalidNetworkError(f"the key {shown(value.repeated)} stands twice in config.json")
            if "class_name" in value:
                if value.get("registered_name") not in (None, value["class_name"]):
                    yield "a registered name", value["registered_name"]
                yield value.get("module"), value["class_name"]
            elif "module" in value:
                yield value["module"], None
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def _is_known(module: Any, name: Any) -> bool:
    if not isinstance(name, str):
        return False
    if module in FOLDERS:
        return name.isidentifier() and name[0].isupper()
    return (
        (module in ("keras", "keras.models", "keras.src.models.functional") and name in MODELS | PLAIN)
        or (module == "keras.layers" and name in LAYERS)
        or (module is None and name in PLAIN)
    )


def _check_sizes(described: Any) -> None:
    """Refuse a description whose layers would be made larger than the stated size before any weight is read."""
    units: list[int] = []
    widths = [1]
    stack = [described]
    while stack:
        value = stack.pop()
        if isinstance(value, Object):
            for key, inner in value.items():
                if key == "units":
                    units.append(_size(inner))
                elif key in ("batch_shape", "input_shape", "build_input_shape") and isinstance(inner, list):
                    widths.append(prod(_size(length) for length in inner if length is not None))
            stack += value.values()
        elif isinstance(value, list):
            stack += value
    largest = max(widths + units)
    if sum(units) * largest > MAX_ENTRIES:
        raise InvalidNetworkError(f"layers of {largest:,} units are beyond the stated size of {MAX_ENTRIES:,} weights")


def _size(value: Any) -> int:
    if not isinstance(value, Number) or not re.fullmatch("[0-9]{1,12}", value):
        raise InvalidNetworkError(f"config.json states a size of {shown(value)}")
    return int(value)


def _check_weights(raw: bytes) -> None:
    """Refuse weights that HDF5 would fetch from elsewhere."""
    import h5py

    try:
        with h5py.File(io.BytesIO(raw), "r") as stored:
            names: list[str] = []
            stored.visit(names.append)
            groups = [stored, *(stored[name] for name in names)]
            for item in groups:
                if isinstance(item, h5py.Dataset):
                    inside = item.external is None and not item.is_virtual and item.dtype.kind in "fiuV"
                    small = item.size * item.dtype.itemsize <= MAX_MODEL_BYTES
                else:
                    links = [item.get(name, getlink=True) for name in item]
                    inside, small = all(isinstance(link, h5py.HardLink) for link in links), True
                if not inside:
                    raise UnsupportedError("the weights of the file point to other places, which are not followed")
                if not small:
                    raise InvalidNetworkError("an array of the file is larger than the file may be")
    except SemialgError:
        raise
    except Exception as error:  # whatever damaged bytes make HDF5's reader raise, OverflowError for one
        raise InvalidNetworkError(f"the weights of the file cannot be read ({shown(str(error))})") from None
