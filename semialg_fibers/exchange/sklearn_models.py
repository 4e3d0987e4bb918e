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
from semialg_fibers.networks.layer import Network


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
    try:
        from sklearn.neural_network import MLPClassifier, MLPRegressor
    except ImportError:
        raise UnsupportedError("scikit-learn is not installed: pip install 'semialg-fibers[sklearn]'") from None
    # A subclass may compute something else.
    if type(model) not in (MLPClassifier, MLPRegressor):
        raise UnsupportedError(f"from_sklearn reads an MLPClassifier or an MLPRegressor, got {type(model).__name__}")
    if not hasattr(model, "coefs_"):
        raise InvalidNetworkError(f"the {type(model).__name__} was not fitted: call its fit first")
    if len(model.coefs_) > 1 and model.activation != "relu":
        raise UnsupportedError(
            f"the hidden activation is {model.activation}, only relu is read", value=model.activation
        )
    net = from_arrays([(weight.T, bias) for weight, bias in zip(model.coefs_, model.intercepts_, strict=True)])
    if model.out_activation_ not in ("softmax", "logistic", "identity"):
        raise UnsupportedError(
            f"the output activation {model.out_activation_} is not known", value=model.out_activation_
        )
    if model.out_activation_ != "identity":
        note = f"the output activation {model.out_activation_} was dropped: the network gives the logits"
        warnings.warn(ExchangeNote(note), stacklevel=2)
    return net
