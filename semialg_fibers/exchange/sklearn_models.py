"""scikit-learn: multi-layer perceptrons with ReLU.

Main definitions
    from_sklearn    the network of an MLPClassifier or MLPRegressor
"""

from __future__ import annotations

import warnings
from typing import Any

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.exchange.arrays import from_arrays
from semialg_fibers.exchange.chain import ExchangeNote
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import shown
from semialg_fibers.networks.layer import Network

# What every class has of its own; scikit-learn gives set_..._request to each subclass, too.
UNTOLD = {
    *("__module__", "__doc__", "__qualname__", "__dict__", "__weakref__", "__annotations__", "__abstractmethods__"),
    *("_abc_impl", "__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__", "__parameters__"),
}


@checked
def from_sklearn(model: Any) -> Network:
    """Give the network of a fitted MLPClassifier or MLPRegressor with activation="relu".

    coefs_ are in × out and are transposed. The output activation of a classifier (softmax, or logistic for two classes)
    is no part of a ReLU network: it is dropped, a note says so, and the network gives the logits.

    Raises:
        UnsupportedError: for other models, other activations, or without scikit-learn.
        InvalidNetworkError: for a model that was not fitted.
        InexactInputError: for NaN and infinity.
    """
    import numpy as np

    try:
        from sklearn.neural_network import MLPClassifier, MLPRegressor
    except ImportError:
        raise UnsupportedError("scikit-learn is not installed: pip install 'semialg-fibers[sklearn]'") from None
    kinds = (MLPClassifier, MLPRegressor)
    if not any(_computes_as(type(model), kind) for kind in kinds):
        raise UnsupportedError(f"from_sklearn reads an MLPClassifier or an MLPRegressor, got {_told(model, kinds)}")
    weights: Any
    biases: Any
    parts = [getattr(model, name, None) for name in ("coefs_", "intercepts_", "activation", "out_activation_")]
    weights, biases, hidden, final = parts
    if any(part is None for part in parts):
        raise InvalidNetworkError(f"the {type(model).__name__} was not fitted: call its fit first")
    arrays = [*weights, *biases] if isinstance(weights, list | tuple) and isinstance(biases, list | tuple) else []
    if not arrays or not all(isinstance(array, np.ndarray) for array in arrays) or len(weights) != len(biases):
        raise InvalidNetworkError(f"coefs_ and intercepts_ of the {type(model).__name__} are no lists of arrays")
    if len(weights) > 1 and not (isinstance(hidden, str) and hidden == "relu"):
        raise UnsupportedError(f"the hidden activation is {shown(hidden)}, only relu is read", value=hidden)
    if not isinstance(final, str) or final not in ("softmax", "logistic", "identity"):
        raise UnsupportedError(f"the output activation {shown(final)} is not known", value=final)
    net = from_arrays([(weight.T, bias) for weight, bias in zip(weights, biases, strict=True)])
    if final != "identity":
        note = f"the output activation {final} was dropped: the network gives the logits"
        warnings.warn(ExchangeNote(note), stacklevel=2)
    return net


def _computes_as(own: type, kind: type) -> bool:
    """Whether it is a class, or a subclass that replaces nothing of it: another one may compute something else."""
    return issubclass(own, kind) and not _replaced(own, kind)


def _replaced(own: type, kind: type) -> list[str]:
    """List what the classes that a subclass adds have under names of the class, in any place of the order."""
    added = [each for each in own.__mro__ if each not in kind.__mro__]
    names = {name for each in added for name in vars(each) if hasattr(kind, name)}
    return sorted(name for name in names - UNTOLD if not (name.startswith("set_") and name.endswith("_request")))


def _told(model: Any, kinds: tuple[type, ...]) -> str:
    own = type(model)
    for kind in kinds:
        if issubclass(own, kind):
            return f"{own.__name__}, a subclass that replaces {', '.join(_replaced(own, kind)[:5])}"
    return own.__name__
