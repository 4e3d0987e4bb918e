"""Small files that ask for much: each is refused before anything of the claimed size is made.

What tools/fuzz.py found, or would find only by luck: declared sizes, shared tensors, numbers that grow from node to
node, archives that unpack without bound, pickles that reserve memory. The reading is done in a process of its own with
little memory and time; frameworks that are not installed are left out.
"""

import bz2
import importlib.util
import io
import json
import os
import resource
import signal
import sys
import time
import warnings
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import semialg_fibers
from semialg_fibers import from_arrays, from_npz, from_onnx, from_safetensors, from_sklearn, from_torch, read_network
from semialg_fibers.cli import run
from semialg_fibers.errors import LONGEST, BudgetExceededError, InvalidNetworkError, SemialgError, UnsupportedError
from semialg_fibers.exchange import chain, files, state_dicts, torch_files
from semialg_fibers.geometry import floats

sys.path.append(str(Path(__file__).parents[2] / "tools"))
from fuzz_files import safetensors_bytes, zipped

MEMORY, SECONDS = 1536 << 20, 60  # beyond what the process has; of computing. Far more than all of them need.
onnx = importlib.util.find_spec("onnx") and importlib.import_module("onnx")


def npy(shape, data=b"", kind="<f4"):
    header = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def npz(**arrays):
    return zipped([(f"{name}.npy", zipfile.ZIP_DEFLATED, data) for name, data in arrays.items()])


def tensors(shapes, data=b""):
    """A .safetensors file of float32 with these shapes; what has no entries has no bytes."""
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 0 if 0 in shape else 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    return safetensors_bytes(json.dumps(header), data or bytes(at))


def in_little_memory(read, raw, path):
    """Give the message with which a fresh process refuses the file."""
    path.write_bytes(raw)
    out, into = os.pipe()
    child = os.fork()
    if not child:
        try:
            told = (
                Path("/proc/self/status").read_text() if os.path.exists("/proc/self/status") else "VmData: 4194304 kB"
            )
            now = int(told.split("VmData:")[1].split()[0]) * 1024
            resource.setrlimit(resource.RLIMIT_DATA, (now + MEMORY, now + MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + SECONDS,) * 2)
            try:
                said = f"read {read(str(path))}"
            except SemialgError as error:
                said = f"{type(error).__name__}: {error.message}"
            except BaseException as error:
                said = f"FAULT: {error!r}"
            os.write(into, said.encode(errors="replace")[:4000])
        finally:
            os._exit(0)
    os.close(into)
    _, status = os.waitpid(child, 0)
    with open(out, "rb") as pipe:
        said = pipe.read().decode()
    assert status == 0, signal.Signals(status).name
    assert not said.startswith(("FAULT", "read")), said
    assert len(said) < LONGEST + 200
    return said


FILES = {
    "rows of nothing": (from_npz, npz(W1=npy((10**15, 0)), b1=npy((1,), bytes(4))), "at least one entry"),
    "columns without rows": (from_npz, npz(W1=npy((0, 10**15)), b1=npy((0,))), "at least one input"),
    "a shape beyond NumPy": (from_npz, npz(W1=npy((0, 10**30)), b1=npy((0,))), "a shape that is not read"),
    "many arrays of zeros": (
        from_npz,
        npz(**{f"W{i}": npy((5500, 5500), bytes(5500**2), "|i1") for i in (1, 2)},
            **{f"b{i}": npy((5500,), bytes(5500), "|i1") for i in (1, 2)}),
        "50,000,000 entries in all",
    ),
    "tensors of nothing": (from_safetensors, tensors({"0.weight": [10**14, 0]}), "at least one entry"),
    "a tensor beyond NumPy": (from_safetensors, tensors({"0.weight": [10**14, 0, 10**14]}), "a shape that is not read"),
    "a header of a declared length": (from_safetensors, (2**63).to_bytes(8, "little") + b"{}",
    "the size that it states"),
    "many layers": (from_safetensors, tensors({f"{i}.weight": [1, 1] for i in range(20_000)}), "at most 1,000"),
    "many layers alike": (from_safetensors, tensors({"x" * i + ".weight": [1, 1] for i in range(300)}),
    "in several orders"),
}  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("read", "raw", "words"), FILES.values(), ids=FILES)
def test_small_files_of_arrays_that_ask_for_much(read, raw, words, tmp_path):
    assert len(raw) < 3_000_000
    assert words in in_little_memory(read, raw, tmp_path / "model")


def model(nodes, constants, shape):
    """An ONNX model of these (operator, inputs, output) or nodes."""
    helper = onnx.helper
    made = [helper.make_node(operator, inputs, [output]) for operator, inputs, output in nodes]
    ends = [helper.make_tensor_value_info(name, 1, size) for name, size in (("x", shape), ("y", None))]
    held = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(made, "g", ends[:1], ends[1:], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def repeated(operator, constant, count, between=None):
    """`count` times the same node, and perhaps another one after each."""
    nodes, at = [], "x"
    for i in range(count):
        nodes.append((operator, [at, constant], f"a{i}"))
        at = f"a{i}"
        if between:
            nodes.append((between, [at], f"r{i}"))
            at = f"r{i}"
    return [*nodes, ("Identity", [at], "y")]


SQUARE = np.ones((200, 200), np.float16)
GRAPHS = {
    "a constant for each of many claimed inputs": (
        [("Add", ["x", "c"], "y")], {"c": np.float32(1)}, ["n", 49_000_000], "more than any weight takes"),
    "a constant spread over claimed inputs": (
        [("Mul", ["x", "c"], "y")], {"c": np.ones((7000, 1), "f4")}, ["n", 7000, 7000], "more than any weight takes"),
    "a ReLU of many claimed inputs": ([("Relu", ["x"], "y")], {}, ["n", 7000], "of width beyond 2,048"),
    "a column times a row": (
        [("MatMul", ["x", "a"], "p"), ("MatMul", ["p", "b"], "y")],
        {"a": np.ones((50_000, 1), "f4"), "b": np.ones((1, 50_000), "f4")}, ["n", 50_000], "2,500,000,000 entries"),
    "a number that grows": (repeated("Mul", "c", 5000), {"c": np.float32(1.1e-38)}, ["n", 5], "4,000 digits"),
    "many scalings of many coordinates": (
        repeated("Mul", "c", 3000), {"c": np.ones(1000, "f4")}, ["n", 1000], "1,000,000 steps"),
    "many products": (repeated("MatMul", "W", 500), {"W": SQUARE}, ["n", 200], "1,000,000 steps"),
    "one tensor in many layers": (repeated("MatMul", "W", 500, "Relu"), {"W": SQUARE}, ["n", 200],
    "100,000 entries in all"),
    "denominators that differ": (
        [("Div", ["x", "c"], "p"), ("MatMul", ["p", "W"], "y")],
        {"c": np.linspace(1, 2, 1000).astype("f4"), "W": np.ones((1000, 1000), "f2")}, ["n", 1000],
        "beyond the stated sizes"),
}  # fmt: skip


@pytest.mark.skipif(not onnx, reason="onnx is not installed")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("nodes", "constants", "shape", "words"), GRAPHS.values(), ids=GRAPHS)
def test_small_graphs_that_ask_for_much(nodes, constants, shape, words, tmp_path, monkeypatch):
    if words.startswith("1"):  # with smaller limits, for the true ones take seconds to reach
        monkeypatch.setattr(chain, "MAX_WORK", 10**6)
        monkeypatch.setattr(chain, "MAX_ENTRIES", 10**5 if "in all" in words else 10**7)
    raw = model(nodes, constants, shape).SerializeToString()
    assert len(raw) < 3_000_000
    assert words in in_little_memory(from_onnx, raw, tmp_path / "model.onnx")


@pytest.mark.skipif(not onnx, reason="onnx is not installed")
def test_all_constants_of_a_graph_are_counted(tmp_path, monkeypatch):
    """A Cast makes new ones of 80 bytes of file; tensors may share one file beside the model."""
    net = model([("MatMul", ["x", "W"], "y")], {"W": np.ones((10, 10), "f4")}, ["n", 10])
    casts = [onnx.helper.make_node("Cast", ["W"], [f"c{i}"], to=11) for i in range(5)]
    net.graph.node.extend(casts)
    assert from_onnx(net).widths == (10, 10)
    monkeypatch.setattr("semialg_fibers.exchange.onnx_graph.MAX_MODEL_BYTES", 400 + 4 * 800)
    with pytest.raises(UnsupportedError, match="constants take more than the stated size of 3,600 bytes"):
        from_onnx(net)


@pytest.mark.skipif(not onnx, reason="onnx is not installed")
def test_a_location_that_is_no_text(tmp_path):
    """protobuf gives a text that is no UTF-8 as bytes."""
    net = model([("MatMul", ["x", "W"], "y")], {"W": np.ones((1, 1), "f4")}, ["n", 1])
    tensor = net.graph.initializer[0]
    tensor.data_location = 1
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "weights.bin"
    path = tmp_path / "model.onnx"
    path.write_bytes(net.SerializeToString().replace(b"weights.bin", b"weigh\xff\xff.bin"))
    with pytest.raises(UnsupportedError, match="outside the folder"):
        from_onnx(path)


def test_python_does_not_warn_about_the_text_of_a_header(tmp_path):
    """As of "1else", which it reads and finds odd; the tests turn a warning into an error."""
    path = tmp_path / "net.npz"
    header = b"{'descr': '<f4', 'fortran_order': 1or False, 'shape': (1, 1)}\n"
    path.write_bytes(zipped([("W1.npy", 0, b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + bytes(4))]))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(InvalidNetworkError, match="no readable header"):
            from_npz(path)
    assert told == []


@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_that_python_unpacks_without_bound_are_refused(how, tmp_path):
    """Python gives whole blocks of BZIP2 and LZMA, whatever size the archive declares."""
    path = tmp_path / "net.npz"
    path.write_bytes(zipped([("W1.npy", how, npy((1, 1), bytes(4))), ("b1.npy", 0, npy((1,), bytes(4)))]))
    with pytest.raises(UnsupportedError, match="packed neither stored nor deflated"):
        from_npz(path)
    assert len(bz2.decompress(bz2.compress(bytes(10**6)))) == 10**6  # what would be made of 45 bytes


def test_the_limits_of_importers_are_those_of_the_documentation():
    """The second table of docs/conventions.md, number for number."""
    text = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text(encoding="utf-8")
    table = text.split("Of models of other programs")[1].split("\n\n")[1]
    found = [int("".join(filter(str.isdigit, line.split("|")[2]))) for line in table.splitlines()[2:]]
    assert found == [
        files.MAX_MODEL_BYTES, floats.MAX_ENTRIES, chain.MAX_IDENTITY, json_row_digits(), chain.MAX_WORK,
        state_dicts.MAX_LAYERS, state_dicts.MAX_STEPS, chain.MAX_ROOT_BITS, checkpoint_result(),
    ]  # fmt: skip


def json_row_digits():
    from semialg_fibers.exchange.json_text import MAX_ROW_DIGITS
    from semialg_fibers.geometry.scalar import MAX_DIGITS

    assert (chain.MAX_BITS, chain.MAX_NUMBER_BITS) == (MAX_ROW_DIGITS * 3322 // 1000, MAX_DIGITS * 3322 // 1000)
    return MAX_ROW_DIGITS


def checkpoint_result():
    from semialg_fibers.geometry.checkpoint import MAX_RESULT

    return MAX_RESULT


# names, objects, attributes


def test_numbers_of_any_length_in_names_put_layers_in_order(tmp_path):
    """Python reads no integer of more than 4,300 digits."""
    path = tmp_path / "net.safetensors"
    names = ["9" * 5000, "1" + "0" * 5000, "00002", "1"]
    path.write_bytes(tensors({f"{name}.weight": [1, 1] for name in names}, np.float32([4, 5, 2, 1]).tobytes()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [layer.weight[0, 0] for layer in from_safetensors(path).layers] == [1, 2, 4, 5]


def test_an_order_may_name_layers_by_numbers_and_nothing_else(tmp_path):
    path = tmp_path / "net.safetensors"
    path.write_bytes(tensors({"0.weight": [1, 1], "2.weight": [1, 1]}, np.float32([2, 3]).tobytes()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [layer.weight[0, 0] for layer in from_safetensors(path, [2, 0]).layers] == [3, 2]
    for order in ("02", 5, [["0"], "2"], {"0", "2"}, [None, None]):
        with pytest.raises(InvalidNetworkError, match="order"):
            from_safetensors(path, order)


@pytest.mark.parametrize("layers", [5, None, [5], [(5, None)], [(None, None)], [([[1]], 5)], [((), ())]])
def test_what_is_no_list_of_pairs(layers):
    with pytest.raises(SemialgError):
        from_arrays(layers)


def test_messages_about_values_of_any_size():
    for value in (10**5000, "x" * 10**6, [1] * 10**5):
        for make in (
            lambda value=value: from_arrays([([[1]], [0])], value),
            lambda value=value: from_arrays([([[value]], 5)]),
        ):
            with pytest.raises(SemialgError) as refused:
                make()
            assert len(refused.value.message) <= LONGEST + 3
    assert SemialgError("a\nb\x00" + "x" * 2000).message == f"a b {'x' * (LONGEST - 204)} ... {'x' * 150}"


@pytest.mark.parametrize("path", [5, None, 1.5, [], ("x",), io.BytesIO(b"x")])
def test_what_is_no_path(path):
    for read in (from_npz, from_safetensors, read_network):
        with pytest.raises(InvalidNetworkError, match="expected a path"):
            read(path)


def test_arguments_that_are_no_text_or_too_long(capfd):
    for word, words in (("\ud800", "no text"), ("9" * 5000, "unexpected extra argument")):
        assert run(["check", word] if word == "\ud800" else ["gallery", word]) == 2
        said = capfd.readouterr().err
        assert words in said
        assert said.count("\n") == 1
        assert len(said) < 1000


def test_models_of_sklearn_with_other_attributes():
    network = pytest.importorskip("sklearn.neural_network", reason="scikit-learn is not installed")
    good = {"coefs_": [np.ones((1, 2)), np.ones((2, 1))], "intercepts_": [np.ones(2), np.ones(1)]}
    good |= {"activation": "relu", "out_activation_": "identity"}

    def made(**changes):
        found = network.MLPRegressor()
        vars(found).update(good | changes)
        return found

    assert from_sklearn(made()).widths == (1, 2, 1)
    for name in good:
        for value in (None, 5, "x", [], [None, None], np.ones(3), [np.ones((1, 2))]):
            with pytest.raises(SemialgError):
                from_sklearn(made(**{name: value}))


# PyTorch


def pickled(told):
    """A PyTorch file whose pickle is this."""
    return zipped([("a/data.pkl", 0, told), ("a/byteorder", 0, b"little"), ("a/version", 0, b"3\n")])


@pytest.mark.parametrize(
    "name", ["builtins\nbytearray", "torch\nFloatTensor", "torch.storage\nUntypedStorage", "os\nsystem"]
)
def test_pickles_that_reserve_memory_are_refused_before_pytorch_sees_them(name, tmp_path):
    told = b"\x80\x02c" + name.encode() + b"\n(J\xff\xff\xff\x7ftR."
    for raw in (pickled(told), b"\x80\x02." * 3 + told, zipped([("a/data.pkl", 8, told)])):
        with pytest.raises(UnsupportedError, match=r"only tensors and plain values|any amount of memory") as refused:
            torch_files.judged(raw)
        assert name.split("\n")[1] in str(refused.value)


BYTES = b"c__builtin__\nbytearray\n"
SET = b"c__builtin__\nset\n"


@pytest.mark.parametrize(
    "told",
    [
        BYTES + b"K\x05\x85R",  # of a length
        BYTES + b"q\x000K\x01h\x00K\x05\x85R",  # remembered first
        BYTES + b"q\x00)Rh\x00K\x05\x85R",  # used well, then not
        b"K\x01q\x00" + BYTES + b"q\x00)Rh\x00K\x05\x85R",  # under a number that stood for something else
        BYTES + b"c_codecs\nencode\nX\x01\x00\x00\x00aX\x06\x00\x00\x00latin1\x86RK\x05\x85R",
        SET + b"K\x05\x85R",
        SET + b"]ccollections\nOrderedDict\n)Ra\x85R",
        SET + b"](K\x01ccollections\nOrderedDict\n)Re\x85R",
        SET + b"]K\x05aR",  # the list as the arguments
        SET + b"q\x00]\x85Rh\x00K\x05\x85R",  # used well, then not
    ],
)
def test_sets_and_bytearrays_of_anything_but_plain_values_are_refused(told):
    with pytest.raises(UnsupportedError, match="any amount of memory"):
        torch_files.judged(pickled(b"\x80\x02" + told + b"."))


@pytest.mark.parametrize("zipped_file", [True, False])
def test_harmless_values_beside_a_state_dict_are_read(zipped_file, tmp_path):
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    others = [torch.float32, torch.strided, set(), {7}, {1, "a", None}, 1 + 2j, bytearray(), bytearray(b"ab\xff")]
    for other in [others, {f"{i}": other for i, other in enumerate(others)}]:
        kept = {"state": model.state_dict(), "other": other}
        torch.save(kept, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped_file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert semialg_fibers.from_torch(tmp_path / "a.pt") == semialg_fibers.from_torch(model)


@pytest.mark.parametrize(
    ("other", "protocol", "words"),
    [(Fraction(1, 2), 2, "fractions.Fraction"), (1, 4, "default pickle_protocol"), (1, 5, "default pickle_protocol")],
)
def test_what_a_file_holds_besides_is_named(other, protocol, words, tmp_path):
    torch = pytest.importorskip("torch")
    kept = {"state": torch.nn.Linear(2, 3).state_dict(), "other": other}
    torch.save(kept, tmp_path / "a.pt", pickle_protocol=protocol)
    with pytest.raises(UnsupportedError, match=words):
        semialg_fibers.from_torch(tmp_path / "a.pt")


def test_archives_are_packed_again_for_pytorch(monkeypatch):
    raw = zipped([("a/data.pkl", 8, b"\x80\x02N."), ("a/data/0", 8, bytes(10**5))])
    again = torch_files.judged(raw + b"rest")
    with zipfile.ZipFile(io.BytesIO(again)) as archive:
        assert archive.read("a/data/0") == bytes(10**5)
        assert {member.compress_type for member in archive.infolist()} == {zipfile.ZIP_STORED}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        double = zipped([("a/data.pkl", 8, b"\x80\x02N.")] * 2)
    with pytest.raises(InvalidNetworkError, match="stands there twice"):
        torch_files.judged(double)
    monkeypatch.setattr(files, "MAX_MODEL_BYTES", 10**5)
    with pytest.raises(InvalidNetworkError, match="unpacked, it has more"):
        torch_files.judged(raw)
    with pytest.raises(UnsupportedError, match="packed neither"):
        torch_files.judged(zipped([("a/data.pkl", zipfile.ZIP_BZIP2, b"\x80\x02N.")]))
    with pytest.raises(InvalidNetworkError, match="a damaged pickle"):
        torch_files.judged(b"\x80\x02\xff")


def test_views_that_claim_entries_are_not_written_out():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for kind in (torch.bfloat16, torch.float32, torch.int8):
        with pytest.raises(InvalidNetworkError, match="10,000,000,000 entries"):
            from_torch({"0.weight": torch.zeros((), dtype=kind).expand(10**5, 10**5)})


def test_a_search_that_is_not_begun():
    with pytest.raises(BudgetExceededError, match="1,001 layers"):
        state_dicts.from_tensors({f"{i}.weight": np.ones((1, 1)) for i in range(1001)}, None, "it")
