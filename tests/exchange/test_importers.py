"""Files by their type, absent frameworks, and what the command line says of both."""

import builtins

import numpy as np
import pytest

from semialg_fibers import (
    Network,
    cli,
    from_keras,
    from_onnx,
    from_sklearn,
    from_torch,
    gallery,
    read_network,
    to_onnx,
    to_torch,
    write_network,
)
from semialg_fibers.errors import UnsupportedError
from semialg_fibers.exchange.importers import read_model

NET = Network([([[1, "1/2"], [-1, 3]], [0, "1/4"]), ([[1, 1], [2, -1]], [0, 0])])


def ran(capfd, *arguments):
    code = cli.run([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    return code, out, err


def saved(path):
    arrays = {}
    for i, layer in enumerate(NET.layers, 1):
        arrays[f"W{i}"] = np.array([[float(v) for v in row] for row in layer.weight.tolist()])
        arrays[f"b{i}"] = np.array([float(v) for v in layer.bias])
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    elif path.suffix == ".safetensors":
        library = pytest.importorskip("safetensors.numpy", reason="pip install safetensors")
        names = {"W1": "0.weight", "b1": "0.bias", "W2": "2.weight", "b2": "2.bias"}
        library.save_file({names[name]: array for name, array in arrays.items()}, path)
    elif path.suffix == ".onnx":
        onnx = pytest.importorskip("onnx", reason="pip install 'semialg-fibers[onnx]'")
        onnx.save(to_onnx(NET), path)
    elif path.suffix == ".json":
        write_network(NET, path)
    else:
        torch = pytest.importorskip("torch", reason="pip install 'semialg-fibers[torch]'")
        torch.save(to_torch(NET).state_dict(), path)
    return path


@pytest.mark.parametrize("kind", [".npz", ".safetensors", ".onnx", ".pt", ".PTH", ".json"])
def test_convert_writes_the_exact_network(kind, tmp_path, capfd):
    source = saved(tmp_path / f"model{kind}")
    code, out, err = ran(capfd, "convert", source, "-o", tmp_path / "net.json")
    assert (code, out) == (0, "")
    assert read_network(tmp_path / "net.json") == NET
    assert err.endswith("ReLU network 2-2-2 on R^2, 12 parameters\n")
    assert ("note: the file names no activations" in err) == (kind.lower() in (".pt", ".pth", ".safetensors"))


def test_convert_takes_a_stated_order(tmp_path, capfd):
    library = pytest.importorskip("safetensors.numpy", reason="pip install safetensors")
    first, second = (np.array(rows, dtype=np.float32) for rows in ([[1, 2], [3, 4]], [[5, 6], [7, 8]]))
    path, target = tmp_path / "net.safetensors", tmp_path / "net.json"
    library.save_file({"a.weight": second, "z.weight": first}, path)
    code, out, err = ran(capfd, "convert", path, "-o", target)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.endswith(("state theirs, as in --order a,z\n", "state theirs, as in --order z,a\n"))
    assert not target.exists()
    assert ran(capfd, "convert", path, "-o", target, "--order", "z,a")[0] == 0
    assert read_network(target) == Network([(first.astype(int), [0, 0]), (second.astype(int), [0, 0])])


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("model.pkl", [], "a .pkl file runs code when it is loaded"),
        ("model.joblib", [], "runs code"),
        ("model.h5", [], "files of type '.h5' are not read; those that are: .pt"),
        ("model", [], "files of type 'none' are not read"),
        ("model.npz", [], "no such file"),
        ("model.npz", ["--logits"], "the option logits means nothing for .npz files"),
        ("model.onnx", ["--order", "a,b"], "the option order means nothing for .onnx files"),
        ("model.pt", ["--root-bits", "53"], "the option root_bits means nothing for .pt files"),
    ],
)
def test_convert_refuses_in_one_line(name, options, words, tmp_path, capfd):
    code, out, err = ran(capfd, "convert", tmp_path / name, "-o", tmp_path / "net.json", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err
    assert not (tmp_path / "net.json").exists()


@pytest.mark.parametrize(
    ("package", "call", "words"),
    [
        ("torch", lambda: from_torch("model.pt"), r"PyTorch is not installed: pip install 'semialg-fibers\[torch\]'"),
        ("torch", lambda: to_torch(NET), r"pip install 'semialg-fibers\[torch\]'"),
        ("onnx", lambda: from_onnx("model.onnx"), r"onnx is not installed: pip install 'semialg-fibers\[onnx\]'"),
        ("onnx", lambda: to_onnx(NET), r"pip install 'semialg-fibers\[onnx\]'"),
        ("sklearn", lambda: from_sklearn(1), r"scikit-learn is not installed: pip install 'semialg-fibers\[sklearn\]'"),
        ("keras", lambda: from_keras(1), r"Keras is not installed: pip install 'semialg-fibers\[keras\]'"),
    ],
)
def test_an_absent_framework_is_one_sentence_with_the_command(package, call, words, monkeypatch):
    there = builtins.__import__

    def absent(name, *arguments, **options):
        if name.split(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        return there(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(UnsupportedError, match=words):
        call()


def test_json_networks_pass_through(tmp_path):
    write_network(gallery.network("hidden_2_2_2_1"), tmp_path / "net.json")
    assert read_model(tmp_path / "net.json") == gallery.network("hidden_2_2_2_1")
