"""ONNX in and out: each variant of a layer within the forward error bound of ONNX's own evaluator; others by name."""

import os
import warnings
from contextlib import suppress
from itertools import product

import numpy as np
import pytest
from flint import fmpq
from forward_error import assert_within_bound
from sympy import Rational

from semialg_fibers import ExchangeNote, Network, from_onnx, gallery, to_onnx
from semialg_fibers.errors import InexactInputError, InvalidNetworkError, SemialgError, UnsupportedError

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install 'semialg-fibers[onnx]'")
reference = pytest.importorskip("onnx.reference", reason="a part of onnx")
helper, numpy_helper = onnx.helper, onnx.numpy_helper
TYPES = {"float16": 10, "float32": 1, "float64": 11}
RNG = np.random.default_rng(11)


def array(*shape, form="float32"):
    return RNG.standard_normal(shape).astype(form)


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs, [output], name=f"{kind}_{output}", **attributes)


def model(nodes, constants, shape, form="float32", output="y", opset=17):
    """A model with the input x and constants by name."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TYPES[form], shape)],
        [helper.make_tensor_value_info(output, TYPES[form], None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExchangeNote)
        return from_onnx(*arguments, **options)


def assert_agrees(made, shape, form="float32", columns=False, count=12, **options):
    """`shape` is that of a sample. Samples go in as rows or as columns, one after the other."""
    net = quietly(made, **options)
    evaluator = reference.ReferenceEvaluator(made)
    points = array(count, *shape, form=form)
    outputs = []
    for point in points:
        given = point[:, None] if columns else point[None]
        found = evaluator.run(None, {"x": given})[0]
        outputs.append(found[:, 0] if columns else found[0])
    assert_within_bound(net, points.reshape(count, -1), outputs, form)
    return net


# layers, all of them square, so that a transposed weight would chain


@pytest.mark.parametrize("form", TYPES)
@pytest.mark.parametrize(
    ("turn_a", "turn_b", "alpha", "beta", "offset"),
    [
        (a, b, *rest)
        for a, b in product((0, 1), (0, 1))
        for rest in [(1.0, 1.0, "row"), (0.3, -1.7, "row"), (2.5, 0.4, None)]
    ]
    + [(0, 1, 0.3, 0.7, "number"), (1, 0, 0.3, 0.7, "one by one"), (0, 0, 1.0, 0.0, "row"), (0, 1, 1.0, 1.0, "matrix")],
)
def test_gemm_with_every_option(turn_a, turn_b, alpha, beta, offset, form):
    """x is A. With transA the samples are the columns of the input."""
    shapes = {"row": (3,), "number": (1,), "one by one": (1, 1), "matrix": (1, 3)}
    c = array(*shapes[offset]).squeeze(0) if offset == "number" else array(*shapes[offset]) if offset else None
    constants = {"B": array(3, 3, form=form), "W": array(3, 3, form=form)}
    if c is not None:
        constants["C"] = c.astype(form)
    names = ["x", "B", *(["C"] if c is not None else [])]
    first = node("Gemm", names, "z", transA=turn_a, transB=turn_b, alpha=alpha, beta=beta)
    nodes = [first, node("Relu", ["z"], "a"), node("Gemm", ["a", "W"], "y", transB=1)]
    made = model(nodes, constants, [3, None] if turn_a else [None, 3], form)
    net = quietly(made)
    evaluator = reference.ReferenceEvaluator(made)
    points = array(12, 3, form=form)
    outputs = [evaluator.run(None, {"x": p[:, None] if turn_a else p[None]})[0][0] for p in points]
    assert_within_bound(net, points, outputs, form)


@pytest.mark.parametrize(("turn_a", "turn_b"), list(product((0, 1), (0, 1))))
def test_gemm_whose_second_factor_is_the_input(turn_a, turn_b):
    """x is B: samples are columns, or rows with transB; the result has them as columns."""
    constants = {"A": array(3, 3), "V": array(3, 3), "C": array(3, 1)}
    nodes = [
        node("Gemm", ["A", "x", "C"], "z", transA=turn_a, transB=turn_b, alpha=0.3, beta=0.5),
        node("Relu", ["z"], "a"),
        node("Gemm", ["V", "a"], "w", alpha=0.5),
        node("MatMul", ["A", "w"], "v"),
        node("Gemm", ["v", "V"], "y", transA=1, transB=1),  # back to rows
    ]
    made = model(nodes, constants, [None, 3] if turn_b else [3, None])
    net = quietly(made)
    evaluator = reference.ReferenceEvaluator(made)
    points = array(12, 3)
    outputs = [evaluator.run(None, {"x": p[None] if turn_b else p[:, None]})[0][0] for p in points]
    assert_within_bound(net, points, outputs, "float32")


@pytest.mark.parametrize(("add", "flip"), list(product(("after", "turned", "none"), (False, True))))
def test_matmul_and_add_in_either_order(add, flip):
    constants = {"W": array(3, 3), "b": array(3), "V": array(3, 3)}
    names = {"after": ["z", "b"], "turned": ["b", "z"]}.get(add)
    nodes = [node("MatMul", ["x", "W"], "z")]
    nodes += [node("Add", names, "p")] if names else [node("Identity", ["z"], "p")]
    nodes += [node("Relu", ["p"], "a"), node("MatMul", ["a", "V"], "y")]
    made = model(nodes, constants, ["N", 3])
    if flip:  # W x + b of one sample
        made.graph.node[0].input[:] = ["W", "x"]
        made.graph.node[-1].input[:] = ["V", "a"]
        made.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", 1, [3]))
        net, evaluator, points = quietly(made), reference.ReferenceEvaluator(made), array(12, 3)
        assert_within_bound(net, points, [evaluator.run(None, {"x": p})[0] for p in points], "float32")
    else:
        assert_agrees(made, (3,))


def standardised(shape, mean, deviation, flatten):
    nodes = [
        node("Sub", ["x", "mean"], "c"),
        node("Div", ["c", "deviation"], "s"),
        *flatten,
        node("Gemm", ["f", "W", "b"], "z", transB=1),
        node("Relu", ["z"], "y"),
    ]
    constants = {"mean": mean, "deviation": deviation, "W": array(4, 4), "b": array(4), "shape": np.array([-1, 4])}
    constants["zero_shape"] = np.array([0, -1])
    return model(nodes, constants, shape)


FLATTENINGS = {
    "Flatten": [node("Flatten", ["s"], "f", axis=1)],
    "Reshape -1, 4": [node("Reshape", ["s", "shape"], "f")],
    "Reshape 0, -1": [node("Reshape", ["s", "zero_shape"], "f")],
}


@pytest.mark.parametrize("flatten", FLATTENINGS.values(), ids=FLATTENINGS)
@pytest.mark.parametrize("constant", [(), (1, 1, 1), (2, 1, 1), (1, 2), (2, 1, 2), (1, 2, 1, 2)], ids=str)
def test_standardising_in_front_is_folded_exactly(constant, flatten):
    """(x − mean) / deviation broadcasts over a sample of shape 2 × 1 × 2, before it is flattened row by row."""
    mean, deviation = array(*constant), np.abs(array(*constant)) + np.float32(0.5)
    made = standardised(["N", 2, 1, 2], np.asarray(mean), np.asarray(deviation), flatten)
    net = assert_agrees(made, (2, 1, 2))
    assert net.widths == (4, 4, 4)  # the last ReLU stands before an identity layer


def test_constants_first_and_products_are_read():
    nodes = [
        node("Sub", ["c", "x"], "p"),
        node("Mul", ["d", "p"], "q"),
        node("Relu", ["q"], "r"),
        node("MatMul", ["r", "W"], "s"),
        node("Add", ["c", "s"], "y"),
    ]
    assert_agrees(model(nodes, {"c": array(3), "d": array(1), "W": array(3, 3)}, [None, 3]), (3,))


def test_constants_may_be_nodes_and_are_turned_and_cast():
    weight, half = array(3, 3), array(3, 3, form="float16")
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(weight)),
        helper.make_node("Transpose", ["c"], ["t"], perm=[1, 0]),
        node("Gemm", ["x", "t"], "z", transB=1),
        node("Cast", ["half"], "h", to=1),
        node("Identity", ["h"], "i"),
        node("Dropout", ["z"], "d"),
        node("Cast", ["d"], "e", to=1),
        node("Identity", ["e"], "f"),
        node("Relu", ["f"], "a"),
        node("MatMul", ["a", "i"], "m"),
        helper.make_node("Constant", [], ["k"], value_float=0.1),
        node("Add", ["m", "k"], "y"),
    ]
    assert_agrees(model(nodes, {"half": half}, [None, 3]), (3,))


@pytest.mark.parametrize(("number", "value"), [(10, 1365 / 4096), (16, 171 / 512)])
def test_a_constant_that_is_cast_down_is_rounded_as_the_model_does(number, value):
    """1/3 with 11 bits, and with 8."""
    nodes = [node("Cast", ["W"], "h", to=number), node("Cast", ["h"], "w", to=1), node("MatMul", ["x", "w"], "y")]
    net = from_onnx(model(nodes, {"W": np.full((1, 1), 1 / 3, dtype=np.float32)}, [None, 1]))
    assert net.layers[0].matrix[0, 0] == fmpq(*value.as_integer_ratio())


def test_bfloat16_initialisers_are_taken_exactly():
    tensor = helper.make_tensor("W", 16, (1, 2), np.array([0x3FC1, 0xC000], dtype=np.uint16).tobytes(), raw=True)
    made = model([node("Cast", ["W"], "w", to=1), node("Gemm", ["x", "w"], "y", transB=1)], {}, [None, 2])
    made.graph.initializer.append(tensor)
    assert from_onnx(made).layers[0].weight.tolist() == [[Rational(193, 128), -2]]


@pytest.mark.parametrize("epsilon", [0.25, None])
def test_batch_norms_are_folded(epsilon):
    options = {} if epsilon is None else {"epsilon": epsilon}
    constants = {"W": array(3, 3), "g": array(3), "b": array(3), "m": array(3), "V": array(3, 3)}
    constants["v"] = np.array([0.75, 2, 6], dtype=np.float32)
    nodes = [
        node("MatMul", ["x", "W"], "z"),
        node("BatchNormalization", ["z", "g", "b", "m", "v"], "n", **options),
        node("Relu", ["n"], "a"),
        node("MatMul", ["a", "V"], "y"),
    ]
    made = model(nodes, constants, [None, 3])
    if epsilon is None:
        with pytest.raises(UnsupportedError, match="BatchNormalization 'BatchNormalization_n', channel 1"):
            from_onnx(made)
        assert_agrees(made, (3,), root_bits=60)
    else:
        assert_agrees(made, (3,))


# what is not read


def refused(nodes, words, constants=None, shape=(None, 3), kind=UnsupportedError, **options):
    constants = {"W": array(3, 3), "b": array(3), "one": array(1), "many": array(5, 3)} | (constants or {})
    with pytest.raises(kind, match=words):
        from_onnx(model(nodes, constants, list(shape), **options))


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([node("Sigmoid", ["x"], "z"), node("MatMul", ["z", "W"], "y")], "Sigmoid 'Sigmoid_z': it is not"),
        ([node("LeakyRelu", ["x"], "y")], "LeakyRelu 'LeakyRelu_y' is no part"),
        ([node("Conv", ["x", "W"], "y")], "Conv 'Conv_y' is no part"),
        ([node("Relu", ["x"], "z"), node("Add", ["z", "x"], "y")], "does not take exactly"),
        ([node("MatMul", ["x", "x"], "y")], "does not take exactly"),
        ([node("MatMul", ["x", "W"], "z"), node("MatMul", ["W", "z"], "y")], "mixes samples"),
        ([node("Gemm", ["x", "W"], "z"), node("Gemm", ["z", "W"], "y", transA=1)], "mixes samples"),
        ([node("Gemm", ["x", "W"], "z"), node("Gemm", ["W", "z"], "y")], "mixes samples"),
        ([node("Gemm", ["W", "W", "x"], "y")], "as C"),
        ([node("Div", ["one", "x"], "y")], "divides by its input"),
        ([node("Add", ["x", "many"], "y")], r"shape \(5, 3\) does not fit"),
        ([node("MatMul", ["x", "b"], "y")], "expected two dimensions"),
        ([node("Transpose", ["x"], "y")], "Transpose 'Transpose_y' is no part"),
        ([node("Cast", ["x"], "y", to=7)], "no float"),
        ([node("Flatten", ["x"], "y", axis=0)], "mixes samples"),
        ([node("Neg", ["W"], "w"), node("MatMul", ["x", "w"], "y")], "computes a constant in a way"),
        ([node("MatMul", ["x", "nothing"], "y")], "does not take|lacks|not there"),
        ([helper.make_node("Relu", ["x"], ["y"], domain="com.microsoft")], "operation of 'com.microsoft'"),
        ([node("Relu", ["x"], "z"), node("Relu", ["z"], "w")], "not the end of one chain"),
    ],
)
def test_other_graphs_are_refused_by_name(nodes, words):
    refused(nodes, words, kind=SemialgError)


def test_reshapes_that_mix_samples_are_refused():
    for target in ([-1, 3], [3, -1], [2, -1], [-1, 2], [-1], [1, 1, 6]):
        nodes = [node("Reshape", ["x", "s"], "z"), node("Relu", ["z"], "y")]
        refused(nodes, "does not only flatten", {"s": np.array(target)}, ("N", 6))
    refused([node("MatMul", ["x", "W"], "y")], "a Flatten should stand in front", shape=("N", 2, 3))


def test_widths_names_and_versions_are_checked():
    refused([node("MatMul", ["x", "W"], "y")], "widths do not chain", shape=(None, 4), kind=InvalidNetworkError)
    refused([node("Relu", ["x"], "W")], "given to two values", kind=InvalidNetworkError)
    refused([node("Relu", ["x"], "y")], "expected one, at least 7", opset=6)
    refused([node("Div", ["x", "zero"], "y")], "divides by zero", {"zero": np.zeros(3, "f4")}, kind=InvalidNetworkError)
    bad = {"nan": np.full((3, 3), np.nan, dtype=np.float32)}
    refused([node("MatMul", ["x", "nan"], "y")], "'MatMul_y': row 1, column 1: nan", bad, kind=InexactInputError)
    made = model([node("Relu", ["x"], "y")], {}, [None, 3])
    made.graph.input.append(helper.make_tensor_value_info("x2", 1, [3]))
    with pytest.raises(UnsupportedError, match="2 inputs and 1 output,"):
        from_onnx(made)
    with pytest.raises(UnsupportedError, match=r"a path or an onnx\.ModelProto, got int"):
        from_onnx(1)


def test_a_final_softmax_is_dropped_when_asked():
    made = model([node("MatMul", ["x", "W"], "z"), node("Softmax", ["z"], "y")], {"W": array(3, 3)}, [None, 3])
    with pytest.raises(UnsupportedError, match="logits=True"):
        from_onnx(made)
    with pytest.warns(ExchangeNote, match="was dropped: the network gives the logits"):
        assert from_onnx(made, logits=True).widths == (3, 3)


# files


def external(location, offset=None, length=None):
    """A model whose weight lies in another file."""
    made = model([node("Gemm", ["x", "W"], "y", transB=1)], {"W": np.eye(2, dtype=np.float32)}, [None, 2])
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    return made.SerializeToString()


def test_external_data_come_from_the_folder_of_the_model_only(tmp_path):
    weight = array(2, 2)
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "data.bin").write_bytes(b"skip" + weight.tobytes())
    (tmp_path / "secret.bin").write_bytes(weight.tobytes())
    os.symlink(tmp_path / "secret.bin", folder / "link.bin")
    path = folder / "net.onnx"
    path.write_bytes(external("data.bin", 4, 16))
    net = from_onnx(path)
    assert [[float(v) for v in row] for row in net.layers[0].weight.tolist()] == weight.tolist()
    for location in ("../secret.bin", str(tmp_path / "secret.bin"), "link.bin", "", "a\0b", "x/../../secret.bin"):
        path.write_bytes(external(location))
        with pytest.raises(UnsupportedError, match="outside the folder of the model"):
            from_onnx(path)
    for raw, words in (
        (external("data.bin", 8, 16), "should end at byte 24 of a file of 20"),
        (external("data.bin", -4, 16), "should end"),
        (external("data.bin", "x"), "no number"),
        (external("data.bin", 4, 12), "cannot be read"),
        (external("none.bin"), "no such file"),
    ):
        path.write_bytes(raw)
        with pytest.raises(InvalidNetworkError, match=words):
            from_onnx(path)
    with pytest.raises(UnsupportedError, match="has no folder"):
        from_onnx(onnx.ModelProto.FromString(external("data.bin", 4, 16)))


def test_damaged_files_raise_documented_errors_only(tmp_path):
    raw, path = to_onnx(gallery.network("hidden_2_2_2_1")).SerializeToString(), tmp_path / "net.onnx"
    for _ in range(150):
        damaged = bytearray(raw)
        for place in RNG.integers(0, len(raw), 3):
            damaged[place] = RNG.integers(0, 256)
        path.write_bytes(damaged)
        with suppress(SemialgError):
            assert isinstance(quietly(path), Network)
    tensor = model([node("MatMul", ["x", "W"], "y")], {"W": array(2, 2)}, [None, 2])
    for sizes in ([-1, 4], [10**9, 10**9]):
        tensor.graph.initializer[0].dims[:] = sizes
        with pytest.raises(InvalidNetworkError, match="the tensor 'W' cannot be read"):
            from_onnx(tensor)
    path.write_bytes(b"nothing")
    with pytest.raises(InvalidNetworkError, match="no readable ONNX file"):
        from_onnx(path)


# out


@pytest.mark.parametrize("form", TYPES)
def test_a_network_goes_out_and_comes_back(form, tmp_path):
    for name in ("hidden_2_2_2_1", "flips_3_3_1_1"):
        net = gallery.network(name)
        made = to_onnx(net, form)
        onnx.checker.check_model(made, full_check=True)
        onnx.save(made, tmp_path / "net.onnx")
        assert from_onnx(tmp_path / "net.onnx") == net
        assert_agrees(made, net.widths[:1], form)


def test_rounding_is_counted():
    net = Network([([["1/3", 2]], [0]), ([["1/5"]], [1])])
    with pytest.warns(ExchangeNote, match="2 of 5 parameters were rounded to the nearest float32"):
        made = to_onnx(net, "float32")
    assert from_onnx(made).layers[0].matrix[0, 0] * 2**25 == round(2**25 / 3)
    with pytest.raises(UnsupportedError, match="dtype is one of"):
        to_onnx(net, "bfloat16")


def test_a_bias_that_is_sparse_or_not_there_is_never_dropped():
    absent = model([node("Gemm", ["x", "W", "nowhere"], "y")], {"W": array(3, 3)}, ["N", 3])
    with pytest.raises(UnsupportedError, match="uses values that are not there: 'nowhere'"):
        from_onnx(absent)
    values, places = (numpy_helper.from_array(np.array(v), n) for v, n in (([5.0, 7.0], "b"), ([0, 2], "places")))
    sparse = model([node("Gemm", ["x", "W", "b"], "y")], {"W": array(3, 3)}, ["N", 3])
    sparse.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [3]))
    with pytest.raises(UnsupportedError, match="sparse initializers"):
        from_onnx(sparse)
    left_out = model([node("Gemm", ["x", "W", ""], "y")], {"W": array(3, 3)}, ["N", 3])
    assert from_onnx(left_out).layers[0].bias == (0, 0, 0)


def test_a_format_is_named_by_text_or_by_its_type():
    net = Network([([[1, "1/2"]], [3])])
    for dtype in (np.float32, np.dtype("float32"), "float32"):
        model = to_onnx(net, dtype)
        assert model == to_onnx(net, "float32")
        assert from_onnx(model) == net
    for dtype in (np.int64, float, None, 32, []):
        with pytest.raises(UnsupportedError, match="dtype is one of 'float"):
            to_onnx(net, dtype)
