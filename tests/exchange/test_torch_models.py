"""PyTorch in and out: our exact values within the forward error bound of its floats; nothing else is ever read."""

import io
import pickle
import warnings
from collections import OrderedDict
from contextlib import suppress

import numpy as np
import pytest
from forward_error import assert_within_bound

from semialg_fibers import ExchangeNote, Network, from_arrays, from_torch, gallery, to_torch
from semialg_fibers.errors import InexactInputError, InvalidNetworkError, SemialgError, UnsupportedError

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'semialg-fibers[torch]'")
nn = torch.nn
prune = pytest.importorskip("torch.nn.utils.prune", reason="a part of PyTorch")

FORMATS = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(7)


def quietly(reader, *arguments, **options):
    """The network, without the notes, which have tests of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExchangeNote)
        return reader(*arguments, **options)


def assert_agrees(net, model, shape=None, form="float32", count=20):
    """Compare at random points; `shape` is that of one sample."""
    points = torch.randn(count, *(shape or net.widths[:1]), dtype=FORMATS[form])
    with torch.no_grad():
        outputs = model.eval()(points)
    assert_within_bound(net, points.reshape(count, -1).to(torch.float64), outputs.to(torch.float64), form)


# modules


@pytest.mark.parametrize("form", FORMATS)
def test_a_square_sequential_agrees_in_every_float_type(form):
    """Every weight is square: a transposed one would chain all the same."""
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)).to(FORMATS[form])
    net = from_torch(model)
    assert net.widths == (4, 4, 4, 4)
    assert_agrees(net, model, form=form)
    with torch.no_grad():
        model[2].weight.copy_(model[2].weight.T.clone())
    with pytest.raises(AssertionError):
        assert_agrees(net, model, form=form)


class Custom(nn.Module):
    """A class of one's own, with functions and methods instead of modules."""

    def __init__(self):
        """Hold the layers in another order than they are used in."""
        super().__init__()
        self.second, self.first, self.last = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 2)

    def forward(self, x):
        x = x.view(x.size(0), -1) / 4 - 1
        x = nn.functional.relu(self.first(x))
        x = nn.functional.dropout(x, 0.5, training=self.training)
        x = torch.relu(self.second(x)).contiguous()
        return 2 - self.last(x)


def models():
    """Name, module, shape of a sample."""
    inner = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    yield "nested", nn.Sequential(inner, nn.Sequential(nn.Sequential(nn.Linear(3, 2)))), (3,)
    layers = [nn.Identity(), nn.Flatten(), nn.Dropout(0.9), nn.Linear(6, 5), nn.ReLU(inplace=True), nn.Dropout()]
    yield "all kinds", nn.Sequential(*layers, nn.Identity(), nn.Linear(5, 4, bias=False)), (2, 3)
    yield "single layer", nn.Linear(3, 3), (3,)
    yield "relu first and last", nn.Sequential(nn.ReLU(), nn.Linear(3, 3), nn.ReLU(), nn.ReLU()), (3,)
    yield "no relu between", nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2), nn.ReLU(), nn.Linear(2, 2)), (3,)
    yield "class", Custom(), (2, 3)
    shared = nn.Linear(3, 3)
    yield "shared layer", nn.Sequential(shared, nn.ReLU(), shared), (3,)
    named = OrderedDict(b=nn.Linear(3, 3), a=nn.ReLU(), c=nn.Linear(3, 3))
    yield "named", nn.Sequential(named), (3,)


@pytest.mark.parametrize(("model", "shape"), [pytest.param(m, s, id=name) for name, m, s in models()])
def test_every_chain_of_known_modules_agrees(model, shape):
    was = [(module, module.training) for module in model.modules()]
    net = quietly(from_torch, model)
    assert was == [(module, module.training) for module in model.modules()]
    assert_agrees(net, model, shape)


@pytest.mark.parametrize("after_relu", [False, True])
def test_a_batch_norm_is_folded_exactly_where_its_roots_are_rational(after_relu):
    norm = nn.BatchNorm1d(3, eps=0.25)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1.5, -2, 0]))
        norm.bias.copy_(torch.tensor([0.5, 1, 2]))
        norm.running_mean.copy_(torch.tensor([1.0, -1, 0.1]))
        norm.running_var.copy_(torch.tensor([0.75, 2.0, 6.0]))  # roots 1, 3/2, 5/2
    between = [nn.ReLU(), norm] if after_relu else [norm, nn.ReLU()]
    model = nn.Sequential(nn.Linear(3, 3), *between, nn.Linear(3, 2))
    net = from_torch(model)
    assert net.widths == (3, 3, 2)
    assert_agrees(net, model)


def test_an_irrational_batch_norm_is_refused_or_rounded_as_stated():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 2))
    with pytest.raises(UnsupportedError, match=r"1 \(BatchNorm1d\), channel 1: .*irrational.*root_bits=53"):
        from_torch(model)
    with pytest.warns(ExchangeNote, match="3 irrational roots were rounded to 53 significant bits"):
        net = from_torch(model, root_bits=53)
    assert_agrees(net, model)


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (nn.LeakyReLU(), r"1 \(LeakyReLU\) is no part"),
        (nn.ReLU6(), r"1 \(ReLU6\)"),
        (nn.GELU(), r"1 \(GELU\)"),
        (nn.LayerNorm(3), r"1 \(LayerNorm\)"),
        (nn.Flatten(0), r"1 \(Flatten\)"),
        (nn.Bilinear(3, 3, 3), "1"),
        (nn.Softmax(dim=1), r"1 \(Softmax\) is not piecewise linear"),
        (nn.BatchNorm1d(3, track_running_stats=False), "keeps no running statistics"),
        (nn.Linear(4, 4), r"widths do not chain: 1 \(Linear\) takes 4 inputs, it is given 3"),
        (torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)), "1"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_other_layers_are_refused_by_name(layer, words):
    with pytest.raises(SemialgError, match=words):
        from_torch(nn.Sequential(nn.Linear(3, 3), layer, nn.Linear(3, 3)))


class Residual(nn.Module):
    def __init__(self):
        """Hold two layers."""
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)) + x)


class Branches(Residual):
    def forward(self, x):
        return self.b(x) if x.sum() > 0 else self.a(x)


class AlwaysDrops(Residual):
    def forward(self, x):
        return self.a(nn.functional.dropout(x))


class TakesOne(Residual):
    def forward(self, x):
        return self.a(x[0])


class Skips(Residual):
    def forward(self, x):
        self.a(x)
        return self.b(x)


class Scales(Residual):
    def forward(self, x):
        return self.a(x * 0.1)


class OwnLinear(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


@pytest.mark.parametrize("kind", [Residual, Branches, AlwaysDrops, TakesOne, Skips, Scales])
def test_forward_passes_that_are_no_chain_are_refused(kind):
    with pytest.raises(UnsupportedError):
        from_torch(kind())


def test_a_layer_that_computes_something_else_is_refused():
    with pytest.raises(UnsupportedError):
        from_torch(nn.Sequential(OwnLinear(3, 3), nn.ReLU()))
    hooked = nn.Sequential(nn.Linear(3, 3))
    hooked[0].register_forward_hook(lambda module, given, result: 2 * result)
    with pytest.raises(UnsupportedError, match=r"0 \(Linear\) has a hook"):
        from_torch(hooked)
    changed = nn.Sequential(nn.Linear(3, 3))
    changed[0].forward = lambda x: x
    with pytest.raises(UnsupportedError, match="a forward pass of its own"):
        from_torch(changed)
    pruned = prune.l1_unstructured(nn.Linear(3, 3), "weight", amount=0.5)
    with pytest.raises(UnsupportedError, match=r"prune\.remove"):
        from_torch(pruned)
    prune.remove(pruned, "weight")
    assert_agrees(from_torch(pruned), pruned)


def test_tensors_without_exact_values_are_refused():
    model = nn.Sequential(nn.Linear(2, 2))
    with torch.no_grad():
        model[0].weight[1, 0] = float("nan")
    with pytest.raises(InexactInputError, match=r"0 \(Linear\): row 2, column 1: nan"):
        from_torch(model)
    with pytest.raises(UnsupportedError, match="meta"):
        from_torch(nn.Sequential(nn.Linear(2, 2, device="meta")))
    with pytest.raises(UnsupportedError, match="complex64"):
        from_torch({"weight": torch.zeros(1, 1, dtype=torch.complex64)})
    with pytest.raises(UnsupportedError, match="sparse"):
        from_torch({"weight": torch.zeros(1, 1).to_sparse()})
    with pytest.raises(InvalidNetworkError, match="more than the stated size"):
        from_torch({"weight": torch.zeros(1, 1).expand(10**5, 10**5)})
    with pytest.raises(UnsupportedError, match="reads a module, a state dict or a path, got list"):
        from_torch([1])


def test_a_final_softmax_is_dropped_when_asked():
    inner = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))
    with pytest.warns(ExchangeNote, match=r"1 \(LogSoftmax\) was dropped: the network gives the logits"):
        net = from_torch(nn.Sequential(inner, nn.LogSoftmax(dim=1)), logits=True)
    assert net == from_torch(inner)
    with pytest.raises(UnsupportedError, match="must stand last"):
        from_torch(nn.Sequential(inner, nn.Softmax(dim=1), nn.Linear(3, 3)), logits=True)


# state dicts and files


def test_state_dicts_and_files_give_the_same_network(tmp_path):
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))
    net = from_torch(model)
    path = tmp_path / "model.pt"
    for stored in (model.state_dict(), {"epoch": 3, "model": model.state_dict(), "loss": 0.5}):
        torch.save(stored, path)
        for given in (stored, path, str(path)):
            with pytest.warns(ExchangeNote, match="names no activations: ReLU was read between its layers"):
                assert from_torch(given) == net
    two = {"a": model.state_dict(), "b": model.state_dict()}
    with pytest.raises(UnsupportedError, match="no state dict"):
        from_torch(two)


def test_the_order_of_a_class_is_stated_since_names_do_not_tell_it():
    """Custom applies `first` before `second`, and holds them the other way round, both square."""
    model = Custom()
    state = {k: v for k, v in model.state_dict().items()}
    with pytest.raises(UnsupportedError, match="several orders"):
        from_torch(state)
    net = quietly(from_torch, state, order=["first", "second", "last"])
    traced = from_torch(model)
    assert net.layers[1] == traced.layers[1]


class Evil:
    """Unpickling this would leave a file behind."""

    def __init__(self, path):
        """Name the file."""
        self.path = path

    def __reduce__(self):
        """Open it when it is unpickled."""
        return (open, (self.path, "w"))


def test_files_with_code_are_refused_and_not_run(tmp_path):
    trace, path = tmp_path / "trace", tmp_path / "model.pt"
    path.write_bytes(pickle.dumps(Evil(str(trace))))
    with pytest.raises(SemialgError):
        from_torch(path)
    torch.save({"0.weight": torch.zeros(1, 1), "x": Evil(str(trace))}, path)
    with pytest.raises(UnsupportedError, match="save the state dict alone"):
        from_torch(path)
    torch.save(nn.Sequential(nn.Linear(2, 2)), path)
    with pytest.raises(UnsupportedError, match="save the state dict alone"):
        from_torch(path)
    assert not trace.exists()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of TorchScript's own end
        script = torch.jit.script(nn.Sequential(nn.Linear(2, 2)))
    with pytest.raises(UnsupportedError, match="a TorchScript model is not read"):
        from_torch(script)


def test_damaged_files_raise_documented_errors_only(tmp_path):
    buffer = io.BytesIO()
    torch.save({"weight": torch.zeros(2, 2)}, buffer)
    raw, path = buffer.getvalue(), tmp_path / "model.pt"
    rng = np.random.default_rng(1)
    for _ in range(40):
        damaged = bytearray(raw)
        for place in rng.integers(0, len(raw), 6):
            damaged[place] = rng.integers(0, 256)
        path.write_bytes(damaged[: rng.integers(1, len(raw))] if rng.random() < 0.3 else damaged)
        with suppress(SemialgError):
            assert isinstance(quietly(from_torch, path), Network)
    for wrong in (b"", b"nothing"):
        path.write_bytes(wrong)
        with pytest.raises(SemialgError, match=r"model\.pt"):
            from_torch(path)
    with pytest.raises(InvalidNetworkError, match="no such file"):
        from_torch(tmp_path / "other.pt")


# out


@pytest.mark.parametrize("name", ["hidden_2_2_2_1", "flips_3_3_1_1", "dead_2_2_2_1"])
def test_a_network_goes_out_and_comes_back(name):
    net = gallery.network(name)
    assert all(value.q & (value.q - 1) == 0 for value in net.parameters.values()), "dyadic, so that nothing is rounded"
    for form in FORMATS:
        model = to_torch(net, form)  # a note would be an error here
        assert from_torch(model) == net
        assert model[0].weight.dtype == FORMATS[form]
        assert_agrees(net, model, form=form)


def test_rounding_is_counted_and_to_the_nearest():
    net = Network([([["1/3", 2], [5, "1/7"]], [0, 1]), ([[1, "2/3"]], [0])])
    for form in FORMATS:
        with pytest.warns(ExchangeNote, match=f"3 of 9 parameters were rounded to the nearest {form}"):
            model = to_torch(net, form)
        third = torch.tensor(1, dtype=torch.float64) / 3
        assert model[0].weight[0, 0] == third.to(FORMATS[form])
        assert_agrees(from_torch(model), model, form=form)
    with pytest.raises(UnsupportedError, match=r"layer 1: .*beyond the range of float16"):
        to_torch(Network([([[10**6]], [0])]), "float16")
    with pytest.raises(UnsupportedError, match="dtype is one of"):
        to_torch(net, "int8")
    with pytest.raises(UnsupportedError, match="substitute values"):
        to_torch(Network.generic(1, 1, 1, 1, signs=["+-"]))


def test_importing_equals_the_arrays():
    model = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3))
    arrays = [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in (model[0], model[2])]
    assert from_torch(model) == from_arrays(arrays)


class Twice(nn.Sequential):
    """A module that does more than its forward pass says."""

    def __call__(self, value):
        return 2 * super().__call__(value)


def test_what_surrounds_the_forward_pass_is_refused():
    with pytest.raises(UnsupportedError, match="a hook or a forward pass of its own"):
        from_torch(Twice(nn.Linear(2, 2)))
    with pytest.raises(UnsupportedError, match="a hook or a forward pass of its own"):
        from_torch(nn.Sequential(nn.Linear(2, 2), Twice(nn.Linear(2, 2))))
    hook = nn.modules.module.register_module_forward_hook(lambda module, given, output: 2 * output)
    try:
        with pytest.raises(UnsupportedError, match="global forward hooks"):
            from_torch(nn.Linear(2, 2))
    finally:
        hook.remove()


def test_a_format_is_named_by_text_or_by_its_type():
    net = Network([([[1, "1/2"]], [3])])
    for dtype in (torch.float32, np.float32, np.dtype("float32"), "float32"):
        model = to_torch(net, dtype)
        assert model[0].weight.dtype == torch.float32
        assert from_torch(model) == net
    for dtype in (torch.int8, np.int64, float, None, 32, "float", []):
        with pytest.raises(SemialgError, match="dtype is one of 'float16', 'bfloat16', 'float32', 'float64', got"):
            to_torch(net, dtype)


def test_wrappers_and_arrays_are_told_what_to_give():
    model = torch.nn.Sequential(torch.nn.Linear(2, 1))
    with pytest.raises(UnsupportedError, match=r"the model wraps a module \(by DataParallel\): .* attribute module"):
        from_torch(torch.nn.DataParallel(model))
    with pytest.raises(UnsupportedError, match=r"the model wraps a module \(by OptimizedModule\): .* _orig_mod"):
        from_torch(torch.compile(model))
    with pytest.raises(UnsupportedError, match="1 wraps a module"):
        from_torch(torch.nn.Sequential(torch.nn.ReLU(), torch.compile(model)))
    with pytest.raises(UnsupportedError, match=r"holds NumPy arrays, .* torch\.from_numpy"):
        from_torch({"0.weight": np.ones((1, 2)), "0.bias": np.ones(1)})
