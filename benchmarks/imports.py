"""A trained 784-512-512-10 network comes in: processor time as multiples of making Python Fractions of its arrays.

    python benchmarks/imports.py

669,706 parameters of PyTorch's own initialisation. The peer, in the same process, is [Fraction(x) for x in array]: what
one would write by hand. Each is repeated, the two in turn, and the medians are compared; a first call of each, with
what it imports, is not counted. The network is compared with the Fractions entry by entry once.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import torch
from equality import machine

from semialg_fibers import from_onnx, from_safetensors, from_torch, to_onnx
from semialg_fibers.exchange.arrays import from_npz
from semialg_fibers.networks.layer import Network

LIBRARIES = ("semialg-fibers", "python-flint", "numpy", "torch", "onnx", "safetensors")


def fractions_of(arrays: list[np.ndarray]) -> list[list[Fraction]]:
    """Give the peer: the entries of every array as Fractions."""
    return [[Fraction(value) for value in array.ravel().tolist()] for array in arrays]


def check(net: Network, peer: list[list[Fraction]]) -> None:
    """Compare every parameter of the network with the Fraction made of the same float."""
    for number, layer in enumerate(net.layers):
        weights, biases = peer[2 * number : 2 * number + 2]
        ours = [value for row in layer.matrix.rows() for value in row]
        for value, expected in zip([*ours, *layer.offset], [*weights, *biases], strict=True):
            assert (int(value.p), int(value.q)) == (expected.numerator, expected.denominator)


def timed(call: Callable[[], Any]) -> float:
    """Give the processor time of one call."""
    start = process_time()
    call()
    return process_time() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=512, help="the width of both hidden layers")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    width = options.width
    nn = torch.nn
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
    )
    print(machine(LIBRARIES))
    for form in ("float32", "float16", "float64"):
        model = model.to(getattr(torch, form))
        arrays = [tensor.detach().numpy() for tensor in model.parameters()]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            torch.save(model.state_dict(), folder / "net.pt")
            ways: dict[str, Callable[[], Network]] = {
                "from_torch, module": lambda model=model: from_torch(model),
                "from_torch, file": lambda folder=folder: from_torch(folder / "net.pt"),
            }
            if form == "float32":
                import onnx
                from safetensors.torch import save_file

                onnx.save(to_onnx(from_torch(model), form), folder / "net.onnx")
                save_file(model.state_dict(), folder / "net.safetensors")
                named = {f"{'Wb'[i % 2]}{i // 2 + 1}": array for i, array in enumerate(arrays)}
                np.savez(folder / "net.npz", **named)
                ways |= {
                    "from_onnx": lambda folder=folder: from_onnx(folder / "net.onnx"),
                    "from_safetensors": lambda folder=folder: from_safetensors(folder / "net.safetensors"),
                    "from_npz": lambda folder=folder: from_npz(folder / "net.npz"),
                }
            report(form, arrays, ways, options.runs)


def report(form: str, arrays: list[np.ndarray], ways: dict[str, Callable[[], Network]], runs: int) -> None:
    """Print the medians of one float type."""
    import warnings

    warnings.simplefilter("ignore")  # the note that a state dict names no activations
    peer = fractions_of(arrays)
    for call in ways.values():
        check(call(), peer)
    times: dict[str, list[float]] = {name: [] for name in ("Fractions", *ways)}
    for _ in range(runs):
        times["Fractions"].append(timed(lambda: fractions_of(arrays)))
        for name, call in ways.items():
            times[name].append(timed(call))
    print(f"{form}, {sum(array.size for array in arrays):,} parameters, medians of {runs} runs, CPU time")
    whole = median(times["Fractions"])
    for name, each in times.items():
        print(f"  {name:20}{median(each):7.3f} s = {median(each) / whole:5.2f} × Fractions")


if __name__ == "__main__":
    main()
