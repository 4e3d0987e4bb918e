"""scikit-learn: in × out weights are transposed, the output activation is dropped and said so."""

import warnings

import numpy as np
import pytest
from forward_error import assert_within_bound

from semialg_fibers import ExchangeNote, from_sklearn
from semialg_fibers.errors import InvalidNetworkError, UnsupportedError

neural = pytest.importorskip("sklearn.neural_network", reason="pip install 'semialg-fibers[sklearn]'")


def fitted(kind, classes=3, **options):
    """A model whose weight matrices are all square but the last: 4 inputs, two hidden layers of 4."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((60, 4))
    y = rng.integers(0, classes, 60) if kind == "MLPClassifier" else rng.standard_normal((60, 4))
    options = {"hidden_layer_sizes": (4, 4), "max_iter": 20, "random_state": 0} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of training that has not converged
        return getattr(neural, kind)(**options).fit(x, y)


@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
def test_a_regressor_agrees_with_its_own_predictions(solver):
    model = fitted("MLPRegressor", solver=solver)
    net = from_sklearn(model)
    assert net.widths == (4, 4, 4, 4)
    points = np.random.default_rng(6).standard_normal((30, 4))
    assert_within_bound(net, points, model.predict(points), "float64")


def test_a_regressor_of_float32_agrees():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((60, 4)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = neural.MLPRegressor(hidden_layer_sizes=(4, 4), max_iter=20, random_state=0).fit(x, x)
    assert model.coefs_[0].dtype == np.float32
    points = rng.standard_normal((30, 4)).astype(np.float32)
    assert_within_bound(from_sklearn(model), points, model.predict(points), "float32")


@pytest.mark.parametrize(("classes", "activation"), [(3, "softmax"), (2, "logistic")])
def test_a_classifier_gives_the_logits(classes, activation):
    model = fitted("MLPClassifier", classes)
    with pytest.warns(ExchangeNote, match=f"the output activation {activation} was dropped"):
        net = from_sklearn(model)
    points = np.random.default_rng(7).standard_normal((30, 4))
    x = points
    for weight, bias in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        x = np.maximum(x @ weight + bias, 0)
    assert_within_bound(net, points, x @ model.coefs_[-1] + model.intercepts_[-1], "float64")
    # ... and the class that scikit-learn itself predicts.
    for point, label in zip(points, model.predict(points), strict=True):
        values = [float(v) for v in net([str(c) for c in point])]
        assert label == (int(np.argmax(values)) if classes > 2 else int(values[0] > 0))


def test_other_models_are_refused():
    with pytest.raises(UnsupportedError, match="the hidden activation is 'tanh'"):
        from_sklearn(fitted("MLPRegressor", activation="tanh"))
    with pytest.raises(InvalidNetworkError, match="was not fitted"):
        from_sklearn(neural.MLPRegressor())
    with pytest.raises(UnsupportedError, match="got BernoulliRBM"):
        from_sklearn(neural.BernoulliRBM())


class Plain(neural.MLPRegressor):
    """A class that only has a name of its own, and a method that the class it is made of does not know."""

    def describe(self):
        return "mine"


class Doubled(neural.MLPRegressor):
    def predict(self, X):
        return 2 * super().predict(X)


class Mixin:
    def _forward_pass_fast(self, X, check_input=True):
        return X


class Mixed(Mixin, neural.MLPRegressor):
    pass


def test_a_subclass_that_replaces_nothing_is_read():
    like = fitted("MLPRegressor")
    net = from_sklearn(like)
    for kind, replaced in ((Plain, None), (Doubled, "predict"), (Mixed, "_forward_pass_fast")):
        model = kind()
        vars(model).update(vars(like))
        if replaced is None:
            assert from_sklearn(model) == net
        else:
            with pytest.raises(UnsupportedError, match=f"{kind.__name__}, a subclass that replaces {replaced}"):
                from_sklearn(model)
