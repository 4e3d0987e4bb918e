"""Named weights and biases without a graph: in which order do the layers stand?

Main definitions
    Tensors               names with arrays, such as "fc1.weight"
    from_tensors          the network of named weights (out × in) and biases

A state dict names neither activations nor the order in which layers are applied. ReLU is read between the layers, and a
note says so. The order is the one that is stated; or else the only one that fits the widths and the numbers in the
names: layers whose names first differ in a number ("0" and "2", "fc1" and "fc2") stand in the order of these numbers.
Where several orders remain, which happens with square layers, nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from semialg_fibers.errors import BudgetExceededError, InexactInputError, InvalidNetworkError, UnsupportedError
from semialg_fibers.exchange.chain import Chain
from semialg_fibers.geometry.floats import dyadic_matrix, dyadic_vector
from semialg_fibers.geometry.scalar import shown
from semialg_fibers.networks.layer import Network

Tensors = Mapping[str, Any]
MAX_LAYERS = 1_000  # whose order is searched for
MAX_STEPS = 100_000  # of the search for an order


def from_tensors(tensors: Tensors, order: Sequence[str | int] | None, source: str) -> Network:
    """Give the network of the linear layers P with arrays "P.weight" (out × in) and perhaps "P.bias".

    Raises:
        UnsupportedError: for any other array, and where the order is not determined.
        InvalidNetworkError: for layers that do not chain, or an `order` that does not name each layer once.
        InexactInputError: for NaN and infinity.
    """
    weights, biases = _layers(tensors, source)
    chain = Chain()
    for number, prefix in enumerate(_ordered(weights, order), 1):
        if number > 1:
            chain.relu(prefix)
        name = prefix or "the layer"
        try:
            matrix = dyadic_matrix(weights[prefix])
            offset = dyadic_vector(biases[prefix]) if prefix in biases else None
        except (InexactInputError, InvalidNetworkError, UnsupportedError) as error:
            raise type(error)(f"{name}: {error.message}", **{**error.place, "layer": number}) from None
        chain.affine(matrix, offset, name)
    bare = [prefix for prefix in weights if prefix not in biases]
    if bare and biases:
        chain.notes.append(
            f"{_listed(dict.fromkeys(bare))} {'has no bias, and was' if len(bare) == 1 else 'have no bias, and were'} "
            "read as linear: an embedding looks the same in a state dict, and is not what was read"
        )
    if len(weights) > 1:
        chain.notes.append(f"{source} names no activations: ReLU was read between its layers, and none after the last")
    return chain.network(source)


def _layers(tensors: Tensors, source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    weights: dict[str, Any] = {}
    biases: dict[str, Any] = {}
    for name, array in tensors.items():
        prefix, _, kind = name.rpartition(".")
        if kind not in ("weight", "bias"):
            raise UnsupportedError(
                f"{shown(name)} is neither a weight nor a bias of a linear layer, and names do not say what it does; "
                "give the model itself",
                value=name,
            )
        wanted = 2 if kind == "weight" else 1
        if len(array.shape) != wanted:
            raise UnsupportedError(
                f"{shown(name)} has shape {tuple(array.shape)}: only linear layers are read, whose weights have two "
                "dimensions and biases one; give the model itself",
                value=name,
            )
        (weights if kind == "weight" else biases)[prefix] = array
    lonely = next((prefix for prefix in biases if prefix not in weights), None)
    if lonely is not None:
        raise InvalidNetworkError(f"{shown(lonely)} has a bias and no weight", value=lonely)
    if not weights:
        raise InvalidNetworkError(f"{source} holds no weights")
    return weights, biases


def _ordered(weights: Tensors, order: Sequence[str | int] | None) -> list[str]:
    if order is not None:
        stated = [str(name) for name in order] if isinstance(order, Sequence) and not isinstance(order, str) else []
        if sorted(stated) != sorted(weights):
            raise InvalidNetworkError(
                f"order names each layer once; the layers are {_listed(weights)}, got {shown(order)}", value=order
            )
        return stated
    found: list[list[str]] = []
    for fitting in _fitting(weights):
        found.append(fitting)
        if len(found) == 2:
            raise UnsupportedError(
                f"the layers {_listed(weights)} fit together in several orders; state theirs, as in "
                f"order={found[0] if len(found[0]) < 9 else '[...]'}"
            )
    if not found:
        raise InvalidNetworkError(
            f"the widths of the layers {_listed(weights)} do not chain in the order of the numbers in their names; "
            "state their order with order=[...] if it is another one"
        )
    return found[0]


def _fitting(weights: Tensors) -> Iterator[list[str]]:
    """Yield the orders in which widths chain and numbered names ascend."""
    if len(weights) > MAX_LAYERS:
        raise BudgetExceededError(
            f"there are {len(weights):,} layers, and the order is searched for at most {MAX_LAYERS:,}: state it with "
            "order=[...]"
        )
    tokens = {prefix: re.split(r"([0-9]+)", prefix) for prefix in weights}
    before = {p: {q for q in weights if q != p and _precedes(tokens[q], tokens[p])} for p in weights}
    steps = 0
    stack: list[tuple[str, ...]] = [()]
    while stack:
        chosen = stack.pop()
        steps += 1
        if steps > MAX_STEPS:
            raise BudgetExceededError(
                f"{MAX_STEPS:,} steps did not find the order of the layers: state it with order=[...]"
            )
        if len(chosen) == len(weights):
            yield list(chosen)
            continue
        width = weights[chosen[-1]].shape[0] if chosen else None
        used = set(chosen)
        for prefix in weights:
            fits = width is None or weights[prefix].shape[1] == width
            if prefix not in used and fits and before[prefix] <= used:
                stack.append((*chosen, prefix))


def _precedes(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether the first difference of two names, split at their numbers, is a number, smaller in a."""
    for i, (s, t) in enumerate(zip(a, b, strict=False)):
        if s != t:
            # The length last: a leading zero would make two texts of one number.
            (m, n) = (s.lstrip("0"), t.lstrip("0"))  # compared as texts: a name may hold a number of any length
            return i % 2 == 1 and (len(m), m, len(s)) < (len(n), n, len(t))
    return False


def _listed(names: Tensors) -> str:
    text = ", ".join(map(ascii, names))
    return text if len(text) < 200 else f"{text[:180]}... ({len(names)} of them)"
