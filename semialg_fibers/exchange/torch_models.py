"""PyTorch: models, state dicts and their files in; networks out.

Main definitions
    from_torch    a module, a state dict, or a file of one
    to_torch      nn.Sequential of Linear and ReLU, each parameter the nearest float

A module is read by tracing its forward pass: one chain of layers, and every operation on the way is known or refused by
name. Files are judged by exchange.torch_files, then opened with weights_only=True and nothing else, by versions of
PyTorch in which that is safe.
"""

from __future__ import annotations

import io
import operator
import os
import warnings
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, SemialgError, UnsupportedError
from semialg_fibers.exchange.arrays import array_of_tensor, format_named, nearest_arrays
from semialg_fibers.exchange.chain import Chain, ExchangeNote
from semialg_fibers.exchange.files import read_bytes, source_of
from semialg_fibers.exchange.json_values import named
from semialg_fibers.exchange.state_dicts import from_tensors
from semialg_fibers.exchange.torch_files import ADVICE, judged
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.floats import dyadic_matrix, dyadic_vector, nearest
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, exact_from_float, shown
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    import torch

OLDEST = (2, 6)  # before, a file could run code even with weights_only=True (CVE-2025-32434)
HOOKS = ("_forward_hooks", "_forward_pre_hooks")
FORMATS = ("float16", "bfloat16", "float32", "float64")
OUTPUTS = {"softmax", "log_softmax", "sigmoid"}
CASTS = {"float", "double", "half", "bfloat16", "contiguous", "detach", "clone"}


@checked
def from_torch(
    model: Any, order: Sequence[str | int] | None = None, root_bits: int | None = None, logits: bool = False
) -> Network:
    """Give the ReLU network that a PyTorch model computes in evaluation mode, on its flattened input.

    `model` is a module whose forward pass is one chain of Linear, ReLU, Flatten, Dropout, Identity and BatchNorm1d, as
    an nn.Sequential, nested or not, or as a class of one's own; or a state dict; or the path of a file that
    torch.save made of a state dict. Weights are out × in. A state dict names no activations: ReLU is read between the
    layers, and a note says so; `order` states the order of its layers, where widths and numbers leave several.
    `root_bits` rounds the irrational roots of a batch norm; `logits=True` drops a final softmax or sigmoid.

    Raises:
        UnsupportedError: for any other operation, naming it; for a file that holds more than tensors; without PyTorch.
        InvalidNetworkError: for widths that do not chain, or a file that cannot be read (place: `file`).
        InexactInputError: for NaN and infinity.
    """
    torch = _torch()
    if isinstance(model, torch.nn.Module):
        return _traced(torch, model, root_bits, logits)
    if isinstance(model, str | bytes | os.PathLike):
        source = source_of(model)
        raw = read_bytes(model)
        with named(source):
            return _from_state(torch, _loaded(torch, raw), order, "the file")
    if isinstance(model, Mapping):
        return _from_state(torch, model, order, "a state dict")
    raise UnsupportedError(f"from_torch reads a module, a state dict or a path, got {type(model).__name__}")


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise UnsupportedError("PyTorch is not installed: pip install 'semialg-fibers[torch]'") from None
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < OLDEST:
        raise UnsupportedError(
            f"PyTorch {torch.__version__} is too old, its files can run code: pip install --upgrade 'torch>=2.6'"
        )
    return torch


# files and state dicts


def _loaded(torch: Any, raw: bytes) -> Any:
    import pickle

    raw = judged(raw)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(io.BytesIO(raw), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise UnsupportedError(f"PyTorch does not load all of the file with weights_only=True; {ADVICE}") from None
    except Exception as error:  # whatever a damaged file makes the reader raise
        raise InvalidNetworkError(f"this is no readable PyTorch file ({type(error).__name__})") from None


def _from_state(torch: Any, state: Any, order: Sequence[str | int] | None, source: str) -> Network:
    if not isinstance(state, Mapping):
        raise UnsupportedError(f"{source} holds a {type(state).__name__}, expected a state dict")
    if state and all(type(value).__module__ == "numpy" for value in state.values()):
        raise UnsupportedError(
            f"{source} holds NumPy arrays, and from_torch reads tensors: make them by torch.from_numpy, or give pairs "
            "of weight (out × in) and bias to from_arrays"
        )
    inner = [value for value in state.values() if _is_state(torch, value)]
    if not _is_state(torch, state):
        if len(inner) != 1:
            raise UnsupportedError(
                f"{source} is no state dict: names with tensors, or exactly one of those among other entries; "
                "take it out and give it"
            )
        state = inner[0]
    return from_tensors({name: _array(tensor, name) for name, tensor in state.items()}, order, source)


def _is_state(torch: Any, value: Any) -> bool:
    if not isinstance(value, Mapping) or not value:
        return False
    return all(isinstance(name, str) and isinstance(tensor, torch.Tensor) for name, tensor in value.items())


def _array(tensor: Any, name: str) -> Any:
    """Give a tensor as a NumPy array with the same values."""
    try:
        return array_of_tensor(tensor)
    except (UnsupportedError, InvalidNetworkError) as error:
        raise type(error)(f"{shown(name)}: {error.message}", value=name) from None


# modules


def _traced(torch: Any, model: Any, root_bits: int | None, logits: bool) -> Network:
    if isinstance(model, torch.jit.ScriptModule):
        raise UnsupportedError("a TorchScript model is not read: give the module that it was made of")
    modules = dict(model.named_modules())
    for name, module in modules.items():
        inside = _wrapped(torch, module)
        if inside is not None:
            raise UnsupportedError(
                f"{name or 'the model'} wraps a module (by {type(module).__name__}): give the module itself, the "
                f"attribute {inside}",
                value=name,
            )
    spread = torch.nn.modules.module
    if spread._global_forward_hooks or spread._global_forward_pre_hooks:
        raise UnsupportedError("global forward hooks are registered, which may change what every module computes")
    for name, module in modules.items():
        hooked = [hook for hook in HOOKS if getattr(module, hook)]
        if hooked or "forward" in vars(module) or type(module).__call__ is not torch.nn.Module.__call__:
            raise UnsupportedError(
                f"{name or 'the model'} ({type(module).__name__}) has a hook or a forward pass of its own, which may "
                "change what it computes; remove it first (as torch.nn.utils.prune.remove does)",
                value=name,
            )
    training = [(module, module.training) for module in modules.values()]
    try:
        for module, _ in training:
            module.training = False  # what is traced is the function in evaluation mode
        # A single layer is traced as a part: the trace would else look inside it.
        whole = isinstance(model, torch.nn.Sequential) or not type(model).__module__.startswith("torch.nn")
        wrapped = model if whole else torch.nn.Sequential(model)
        graph = torch.fx.symbolic_trace(wrapped).graph
    except SemialgError:
        raise
    except Exception as error:
        raise UnsupportedError(
            f"the forward pass of {type(model).__name__} is no chain of known operations ({shown(str(error))})"
        ) from None
    finally:
        for module, was in training:
            module.training = was
    return _Reader(torch, dict(wrapped.named_modules()), root_bits, logits).network(graph, type(model).__name__)


def _wrapped(torch: Any, module: Any) -> str | None:
    """Give the attribute under which a wrapper for several devices or for a compiler keeps what it wraps."""
    if isinstance(module, torch.nn.DataParallel | torch.nn.parallel.DistributedDataParallel):
        return "module"
    return "_orig_mod" if "_orig_mod" in module._modules else None


class _Reader:
    """Walks a traced graph, one operation after the other."""

    def __init__(self, torch: Any, modules: dict[str, Any], root_bits: int | None, logits: bool) -> None:
        self.torch, self.modules, self.root_bits, self.logits = torch, modules, root_bits, logits
        self.chain = Chain()
        self.dropped: str | None = None

    def network(self, graph: Any, source: str) -> Network:
        """Read the chain from the one input to the output."""
        reached, inputs = None, 0
        for node in graph.nodes:
            if node.op == "placeholder":
                inputs += 1
                if inputs > 1:
                    raise UnsupportedError(f"{source} has several inputs: {node.name} is a second one", value=node.name)
                reached = node
            elif node.op == "output":
                if node.args[0] is not reached:
                    raise UnsupportedError(f"the output of {source} is not the end of one chain of layers")
            elif node.op == "get_attr" or self._tells_size(node):
                continue  # judged where it is used
            else:
                self._read(node, reached)
                reached = node
        return self.chain.network(source)

    def _tells_size(self, node: Any) -> bool:
        """Whether this is x.size(0), x.shape or x.shape[0], which only name the number of samples."""
        if node.op == "call_method" and node.target == "size":
            return tuple(node.args[1:]) == (0,)
        if node.op == "call_function" and node.target is getattr:
            return bool(node.args[1] == "shape")
        return node.op == "call_function" and node.target is operator.getitem and node.args[1] == 0

    def _read(self, node: Any, reached: Any) -> None:
        module = self.modules.get(node.target) if node.op == "call_module" else None
        if module is not None:
            what = f"{node.target} ({type(module).__name__})"
        else:
            what = f"{node.name} ({getattr(node.target, '__name__', node.target)})"
        used = [argument for argument in node.args if argument is reached]
        if self.dropped is not None:
            raise UnsupportedError(f"{what} stands after {self.dropped}, which must stand last", value=node.name)
        if len(used) != 1 or reached in node.kwargs.values():
            raise UnsupportedError(f"{what} does not take exactly what the operation before it gave", value=node.name)
        known = self._function(node, what) if module is None else self._module(module, what)
        if not known:
            raise UnsupportedError(f"{what} is no part of a ReLU network that is read", value=node.name)

    def _module(self, module: Any, what: str) -> bool:
        nn, kind = self.torch.nn, type(module)
        if kind is nn.Linear:
            self._linear(module.weight, module.bias, what)
        elif kind is nn.ReLU:
            self.chain.relu(what)
        elif kind is nn.Flatten:
            return self._flatten(module.start_dim, module.end_dim)
        elif kind is nn.BatchNorm1d:
            self._batch_norm(module, what)
        elif kind in (nn.Softmax, nn.LogSoftmax, nn.Sigmoid):
            return self._final(what)
        else:
            return kind in (nn.Identity, nn.Dropout, nn.AlphaDropout)
        return True

    def _linear(self, weight: Any, bias: Any, what: str) -> None:
        try:
            matrix = dyadic_matrix(_array(weight, what))
            offset = None if bias is None else dyadic_vector(_array(bias, what))
        except (InexactInputError, InvalidNetworkError) as error:
            raise type(error)(f"{what}: {error.message}", **error.place) from None
        self.chain.affine(matrix, offset, what)

    def _batch_norm(self, module: Any, what: str) -> None:
        if module.running_mean is None or module.running_var is None:
            raise UnsupportedError(f"{what} keeps no running statistics, so that it is no fixed function")

        def stored(tensor: Any) -> Vector | None:
            return None if tensor is None else dyadic_vector(_array(tensor, what))

        mean, variance = stored(module.running_mean), stored(module.running_var)
        assert mean is not None
        assert variance is not None
        epsilon = exact_from_float(module.eps)
        gamma, beta = stored(module.weight), stored(module.bias)
        self.chain.batch_norm(gamma, beta, mean, variance, epsilon, self.root_bits, what)

    def _flatten(self, start: Any, end: Any) -> bool:
        return (start, end) == (1, -1)

    def _final(self, what: str) -> bool:
        if not self.logits:
            raise UnsupportedError(
                f"{what} is not piecewise linear; with logits=True the network before it is read", value=what
            )
        self.dropped = what
        self.chain.notes.append(f"{what} was dropped: the network gives the logits")
        return True

    def _function(self, node: Any, what: str) -> bool:
        torch, name = self.torch, node.target if node.op == "call_method" else None
        functional = torch.nn.functional
        target = None if name else node.target
        rest, options = list(node.args[1:]), dict(node.kwargs)
        if target in (functional.relu, torch.relu, torch.relu_) or name in ("relu", "relu_"):
            self.chain.relu(what)
        elif target is torch.flatten or name == "flatten":
            start = rest[0] if rest else options.get("start_dim", 0)
            return self._flatten(start, rest[1] if len(rest) > 1 else options.get("end_dim", -1))
        elif name in ("view", "reshape") or target is torch.reshape:
            return self._reshape(rest[0] if len(rest) == 1 and isinstance(rest[0], tuple) else rest, what)
        elif name in OUTPUTS or getattr(target, "__name__", None) in OUTPUTS:
            return self._final(what)
        elif target is functional.dropout:  # it drops by default, in evaluation mode too
            return options.get("training", rest[1] if len(rest) > 1 else True) is False
        elif target in (operator.add, operator.sub, operator.mul, operator.truediv):
            return self._arithmetic(node, target)
        else:
            return name in CASTS
        return True

    def _reshape(self, shape: Sequence[Any], what: str) -> bool:
        """Read reshape(samples, width) where one of the two may be −1."""
        if len(shape) != 2:
            return False
        samples, width = shape
        if isinstance(width, int) and width > 0 and (samples == -1 or not isinstance(samples, int)):
            self.chain.expect(width, what)
            return True
        return width == -1 and (not isinstance(samples, int) or samples == 1)

    def _arithmetic(self, node: Any, target: Any) -> bool:
        """Read x + c, c + x, x − c, c − x, c x, x / c with a number c that every float format holds alike."""
        if len(node.args) != 2:
            return False
        left = not isinstance(node.args[0], int | float)
        number = node.args[1] if left else node.args[0]
        if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):
            return False
        constant = exact_from_float(number) if isinstance(number, float) else fmpq(number)
        if not nearest(constant, "float32")[1]:
            raise UnsupportedError(
                f"{node.name} computes with {number!r}, which float32 rounds: put the constant into a layer",
                value=number,
            )
        name = f"{node.name} ({target.__name__})"
        if target is operator.truediv and (not left or constant == 0):
            return False
        if target in (operator.add, operator.sub):
            sign = ONE if target is operator.add or left else -ONE
            self.chain.scaling(sign, constant if target is operator.add or not left else -constant, name)
        else:
            self.chain.scaling(constant if target is operator.mul else 1 / constant, ZERO, name)
        return True


# out


@checked
def to_torch(net: Network, dtype: Any = "float64") -> torch.nn.Sequential:
    """Give nn.Sequential(Linear, ReLU, ..., Linear) with each parameter rounded to the nearest `dtype`, ties to even.

    `dtype` is "float32", torch.float32 or the like.

    A note counts the parameters that were rounded; there is none when every number is dyadic and fits, and then
    `from_torch` gives the same network again. The domain of the network is not part of a PyTorch model.

    Raises:
        UnsupportedError: for letters, a parameter beyond the range, another type, or without PyTorch.
    """
    dtype = format_named(dtype, FORMATS)
    framework = _torch()
    arrays, note = nearest_arrays(net, dtype)
    parts: list[Any] = []
    for weight, bias in arrays:
        parts += [framework.nn.ReLU()] if parts else []
        linear = framework.nn.Linear(weight.shape[1], weight.shape[0], dtype=getattr(framework, dtype))
        with framework.no_grad():  # from float64, which holds each of these values: the copies round nothing
            linear.weight.copy_(framework.from_numpy(weight))
            linear.bias.copy_(framework.from_numpy(bias))
        parts.append(linear)
    if note:
        warnings.warn(ExchangeNote(note), stacklevel=2)
    model: torch.nn.Sequential = framework.nn.Sequential(*parts)
    return model
