"""Keras 3, on a backend that is installed: kernels are in × out; files are judged first."""

import importlib.util
import io
import json
import os
import warnings
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from forward_error import assert_within_bound

from semialg_fibers import ExchangeNote, Network, from_keras
from semialg_fibers.errors import InvalidNetworkError, SemialgError, UnsupportedError

BACKEND = next((name for name in ("torch", "jax", "tensorflow") if importlib.util.find_spec(name)), None)
if BACKEND is None:
    pytest.skip("Keras needs PyTorch, JAX or TensorFlow, and none is installed", allow_module_level=True)
os.environ.setdefault("KERAS_BACKEND", BACKEND)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what Keras and its backends warn themselves
    keras = pytest.importorskip("keras", reason="Keras is not installed: pip install 'semialg-fibers[keras]'")
layers = keras.layers
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras itself


@pytest.fixture(autouse=True)
def seed():
    keras.utils.set_random_seed(3)


def sequential(*parts, shape=(4,)):
    model = keras.Sequential([keras.Input(shape), *parts])
    for weight in model.weights:  # biases start at 0, which hides much
        if "variance" not in weight.path:
            weight.assign(np.random.default_rng(len(weight.path)).standard_normal(weight.shape))
    return model


def assert_agrees(net, model, shape=(4,)):
    points = np.random.default_rng(8).standard_normal((20, *shape)).astype(np.float32)
    outputs = keras.ops.convert_to_numpy(model(points, training=False))
    assert_within_bound(net, points.reshape(20, -1), outputs, "float32")


def quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExchangeNote)
        return from_keras(*arguments, **options)


def functional():
    start = keras.Input((4,))
    inner = keras.Sequential([keras.Input((4,)), layers.Dense(4, activation="relu")])
    middle = inner(layers.Dense(4)(start))
    return keras.Model(start, layers.Dense(4)(layers.Dropout(0.5)(middle)))


def dense(units=4, **options):
    return layers.Dense(units, **options)


MODELS = {
    "square": (lambda: sequential(dense(activation="relu"), dense(activation="relu"), dense()), (4,)),
    "layers": (lambda: sequential(dense(), layers.ReLU(), dense(use_bias=False), layers.Activation("relu")), (4,)),
    "flatten": (lambda: sequential(layers.Flatten(), dense(), layers.Activation("linear"), shape=(2, 2)), (2, 2)),
    "functional": (functional, (4,)),
    "nested": (lambda: sequential(keras.Sequential([dense(activation="relu")]), dense()), (4,)),
}


@pytest.mark.parametrize(("make", "shape"), MODELS.values(), ids=MODELS)
def test_a_model_and_its_file_agree_with_keras(make, shape, tmp_path):
    model = make()
    net = quietly(model)
    assert_agrees(net, model, shape)
    model.save(tmp_path / "model.keras")
    assert quietly(tmp_path / "model.keras") == net


@pytest.mark.parametrize(
    ("optimizer", "loss", "nested"),
    [
        ("adam", "mse", False),
        (keras.optimizers.SGD(momentum=0.9), keras.losses.MeanSquaredError(), True),
        (keras.optimizers.AdamW(), keras.losses.Huber(), False),
    ],
    ids=["by name", "nested", "by object"],
)
def test_how_a_model_was_trained_plays_no_part(optimizer, loss, nested, tmp_path):
    model = functional() if nested else sequential(layers.Dense(3, activation="relu"), layers.Dense(2))
    if nested:
        model.layers[2].compile("rmsprop", "mae")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.compile(optimizer, loss, metrics=["mae", keras.metrics.RootMeanSquaredError()])
        points = np.random.default_rng(1).standard_normal((8, 4))
        model.fit(points, np.zeros((8, 4 if nested else 2)), epochs=1, verbose=0)
    model.save(tmp_path / "model.keras")
    with zipfile.ZipFile(tmp_path / "model.keras") as archive:
        assert "compile_config" in json.loads(archive.read("config.json"))
    net = quietly(tmp_path / "model.keras")
    assert net == quietly(model)
    assert_agrees(net, model)


def test_a_transposed_kernel_is_noticed():
    model = sequential(layers.Dense(4, activation="relu"), layers.Dense(4))
    net = from_keras(model)
    model.layers[0].kernel.assign(keras.ops.convert_to_numpy(model.layers[0].kernel).T)
    with pytest.raises(AssertionError):
        assert_agrees(net, model)


def test_a_batch_norm_is_folded():
    model = sequential(layers.Dense(3), layers.BatchNormalization(epsilon=0.25), layers.ReLU(), layers.Dense(2))
    norm = model.layers[1]
    norm.moving_variance.assign([0.75, 2, 6])
    assert_agrees(from_keras(model), model)
    norm.moving_variance.assign([1, 2, 3])
    with pytest.raises(UnsupportedError, match="irrational"):
        from_keras(model)
    with pytest.warns(ExchangeNote, match="rounded to 53 significant bits"):
        net = from_keras(model, root_bits=53)
    assert_agrees(net, model)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (lambda: layers.Dense(3, activation="tanh"), "activation tanh"),
        (lambda: layers.ReLU(max_value=6), "no plain ReLU"),
        (lambda: layers.LeakyReLU(), r"\(LeakyReLU\) is no layer that is read"),
        (lambda: layers.LayerNormalization(), r"\(LayerNormalization\)"),
        (lambda: layers.Flatten(data_format="channels_first"), "puts the channels last"),
        (lambda: layers.Dense(3, activation="softmax"), "logits=True"),
    ],
    ids=["tanh", "relu6", "leaky", "norm", "channels", "softmax"],
)
def test_other_layers_are_refused(part, words):
    with pytest.raises(UnsupportedError, match=words):
        from_keras(sequential(layers.Dense(3), part()))


def test_other_graphs_are_refused():
    start = keras.Input((4,))
    with pytest.raises(UnsupportedError, match="takes several inputs"):
        from_keras(keras.Model(start, layers.Add()([start, layers.Dense(4)(start)])))
    with pytest.raises(UnsupportedError, match="several inputs or outputs"):
        from_keras(keras.Model(start, [layers.Dense(4)(start), layers.Dense(4)(start)]))
    with pytest.raises(UnsupportedError, match="got int"):
        from_keras(1)
    with pytest.raises(InvalidNetworkError, match="no weights yet"):
        from_keras(keras.Sequential([layers.Dense(3)]))

    class Own(layers.Dense):
        pass

    with pytest.raises(UnsupportedError, match=r"\(Own\) is no layer that is read"):
        from_keras(sequential(Own(3)))


def test_a_final_softmax_is_dropped_when_asked():
    model = sequential(layers.Dense(4, activation="relu"), layers.Dense(3, activation="softmax"))
    with pytest.warns(ExchangeNote, match="softmax of .* was dropped"):
        net = from_keras(model, logits=True)
    model.layers[-1].activation = keras.activations.linear
    assert_agrees(net, model)


# files


def stored(tmp_path):
    path = tmp_path / "model.keras"
    sequential(layers.Dense(4, activation="relu"), layers.Dense(3)).save(path)
    with zipfile.ZipFile(path) as archive:
        return path, {name: archive.read(name) for name in archive.namelist()}


def write(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)


def test_descriptions_that_name_code_are_refused_before_keras_sees_them(tmp_path, monkeypatch):
    path, members = stored(tmp_path)
    monkeypatch.setattr(keras.saving, "deserialize_keras_object", lambda *a, **k: pytest.fail("Keras was asked"))
    config = json.loads(members["config.json"])
    first = config["config"]["layers"][1]
    for change, words in (
        ({"module": "os", "class_name": "system"}, "'os'.'system'"),
        ({"module": "keras.layers", "class_name": "Lambda"}, "'Lambda'"),
        ({"module": "keras.layers", "class_name": "TorchModuleWrapper"}, "TorchModuleWrapper"),
        ({"module": "keras.initializers", "class_name": "get"}, "'get'"),
        ({"registered_name": "Custom>Dense"}, "Custom>Dense"),
        ({"module": "keras.src.saving", "class_name": None}, "keras.src.saving"),
    ):
        config["config"]["layers"][1] = first | change
        write(path, members | {"config.json": json.dumps(config).encode()})
        with pytest.raises(UnsupportedError, match=words):
            from_keras(path)
    first["config"]["units"] = 10**9
    config["config"]["layers"][1] = first
    write(path, members | {"config.json": json.dumps(config).encode()})
    with pytest.raises(InvalidNetworkError, match="beyond the stated size"):
        from_keras(path)


def test_weights_in_other_places_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py", reason="a part of Keras")
    path, members = stored(tmp_path)
    secret = tmp_path / "secret.bin"
    secret.write_bytes(bytes(1000))
    for kind in ("external link", "external storage", "soft link"):
        raw = io.BytesIO(members["model.weights.h5"])
        with h5py.File(raw, "a") as file:
            place = next(name for name in ("layers/dense/vars/0", "layers/dense_1/vars/0") if name in file)
            shape = file[place].shape
            del file[place]
            if kind == "external link":
                file[place] = h5py.ExternalLink(str(secret), "/x")
            elif kind == "soft link":
                file[place] = h5py.SoftLink("/layers")
            else:
                external = [(str(secret), 0, 4 * shape[0] * shape[1])]
                file.create_dataset(place, shape, dtype="f4", external=external)
        write(path, members | {"model.weights.h5": raw.getvalue()})
        with pytest.raises(UnsupportedError, match="point to other places"):
            from_keras(path)


def test_damaged_files_raise_documented_errors_only(tmp_path):
    path, members = stored(tmp_path)
    rng = np.random.default_rng(4)
    for name in ("config.json", "model.weights.h5"):
        for _ in range(8):
            damaged = bytearray(members[name])
            for place in rng.integers(0, len(damaged), 4):
                damaged[place] = rng.integers(0, 256)
            write(path, members | {name: bytes(damaged)})
            with suppress(SemialgError):
                assert isinstance(quietly(path), Network)
    write(path, members | {"assets/run.py": b""})
    with pytest.raises(InvalidNetworkError, match="and nothing else"):
        from_keras(path)
    for raw in (b"", b"nothing"):
        path.write_bytes(raw)
        with pytest.raises(InvalidNetworkError, match=r"no readable \.keras file"):
            from_keras(path)


@pytest.mark.parametrize(
    "parts",
    [
        [layers.Dense(3, activation="relu"), layers.Dense(1)],
        [layers.Dense(2), layers.Flatten(), layers.Dense(1)],
        [layers.BatchNormalization(axis=1), layers.Flatten(), layers.Dense(1)],
    ],
    ids=["dense", "dense then flatten", "batch norm"],
)
def test_a_layer_along_one_axis_of_several_is_no_affine_map_of_a_row(parts):
    with pytest.raises(UnsupportedError, match="a Flatten should stand in front"):
        from_keras(sequential(*parts, shape=(4, 3)))
    assert from_keras(sequential(layers.Flatten(), layers.Dense(2), shape=(4, 3))).widths == (12, 2)
