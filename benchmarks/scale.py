"""A network of the size of a real classifier: processor time as multiples of reading it.

    python benchmarks/scale.py

784-512-512-10, 669,706 parameters, float32 standard normal values taken exactly. b is a with its hidden units permuted
and rescaled, by powers of 2 or by general rationals p/q, p, q ≤ 999; in the last pair one weight of an alive unit was
changed in its last bit before that. Every step runs in a process of its own. Then the same for widths from 32 on, with
the exponent e of c · (number of parameters)^e that fits best.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from equality import float32_arrays, in_own_process, last_bit_changed, machine, network_of, peak_memory, relabelled

from semialg_fibers.exchange.arrays import from_arrays
from semialg_fibers.exchange.files import read_network, write_network
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.equivalence import same_function
from semialg_fibers.questions.summary import summary

STEPS = ("read JSON", "read npz", "describe", "same, 2-adic", "same, rational", "different, last bit")
PARTNERS = {"same, 2-adic": "dyadic", "same, rational": "rational", "different, last bit": "changed"}
LIBRARIES = ("semialg-fibers", "python-flint", "numpy")


# files


def write_files(folder: Path, widths: tuple[int, ...], seed: int = 0) -> None:
    """Write a as JSON and as npz, and its three partners as JSON."""
    arrays = float32_arrays(widths, seed)
    a = network_of(arrays)
    write_network(a, folder / "a.json")
    np.savez(folder / "a.npz", *[part for layer in arrays for part in layer])
    write_network(relabelled(a, seed, 0), folder / "dyadic.json")
    write_network(relabelled(a, seed), folder / "rational.json")
    write_network(relabelled(network_of(last_bit_changed(arrays)), seed, 0), folder / "changed.json")


def read_npz(path: Path) -> Network:
    """Give the network whose weights and biases are the arrays of the file."""
    with np.load(path) as stored:
        parts = [stored[name] for name in stored.files]
    return from_arrays([(w, b) for w, b in pairwise(parts) if w.ndim == 2])


# one step, in a process of its own


def one(step: str, folder: Path) -> dict[str, Any]:
    """Give the processor times of reading, of the step, and of the check of its answer."""
    start = process_time()
    a = read_npz(folder / "a.npz") if step == "read npz" else read_network(folder / "a.json")
    b = read_network(folder / f"{PARTNERS[step]}.json") if step in PARTNERS else None
    read = process_time() - start
    start = process_time()
    if step == "describe":
        told = summary(a)
        cpu, said = process_time() - start, f"generic: {told.generic}"
        check = 0.0
    elif b is not None:
        answer = same_function(a, b)
        cpu = process_time() - start
        if answer.same is not (step != "different, last bit"):
            sys.exit(f"{step}: the answer is {answer}")
        start = process_time()
        if not answer.check():
            sys.exit(f"{step}: the certificate was rejected")
        check, said = process_time() - start, getattr(answer.certificate, "kind", "a point")
    else:
        if step == "read npz" and a != read_network(folder / "a.json"):
            sys.exit("the arrays were not read exactly")
        cpu, check, said = read, 0.0, ""
    return {"read": read, "cpu": cpu, "check": check, "said": said, "memory": peak_memory()}


# the tables


def measured(folder: Path, runs: int) -> dict[str, dict[str, Any]]:
    """Give the medians of all steps."""
    found = {}
    for step in STEPS:
        several = [in_own_process(__file__, [step, str(folder)], 3600) for _ in range(runs)]
        each = [result for result in several if result is not None]
        if len(each) < runs:
            sys.exit(f"{step} was killed")
        keys = ("read", "cpu", "check", "memory")
        found[step] = {key: median(result[key] for result in each) for key in keys} | {"said": each[0]["said"]}
    return found


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=512, help="the width of both hidden layers")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--growth", type=int, nargs="*", default=[32, 64, 128, 256], help="smaller widths for the fit")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one[0], Path(options.one[1]))))
        return
    print(machine(LIBRARIES))
    print(f"medians of {options.runs} runs, CPU time")
    times: dict[str, list[tuple[int, float]]] = {}
    for width in sorted({*options.growth, options.width}, reverse=True):
        with TemporaryDirectory() as folder:
            write_files(Path(folder), (784, width, width, 10))
            count = (784 + 1) * width + (width + 1) * width + (width + 1) * 10
            found = measured(Path(folder), options.runs)
        print(f"\n784-{width}-{width}-10, {count:,} parameters")
        for step, result in found.items():
            report(step, result, found)
            # what is decided at small widths and not at large ones, (G4), would spoil the fit: a line of its own
            name = f"{step}, {result['said']}" if step == "describe" else step
            times.setdefault(name, []).append((count, result["cpu"]))
            if step in PARTNERS:
                times.setdefault(f"{step}, check", []).append((count, result["check"]))
    print("\nexponents in the number of parameters")
    for name, pairs in times.items():
        if len(pairs) > 2:
            counts, values = np.log(np.array(pairs, dtype=float)).T
            print(f"  {name:28}{np.polyfit(counts, values, 1)[0]:.2f}   (of {len(pairs)} widths)")


def report(step: str, result: dict[str, Any], found: dict[str, dict[str, Any]]) -> None:
    """Print one step: its time, and as multiples of reading."""
    line = f"  {step:22}{result['cpu']:7.3f} s"
    if step not in ("read JSON", "read npz"):
        line += f" = {result['cpu'] / result['read']:5.2f} × reading its network{'s' * (step in PARTNERS)} from JSON"
        line += f" ({result['read']:.2f} s), {result['cpu'] / found['read JSON']['cpu']:5.2f} × reading a from JSON"
        line += f", {result['cpu'] / found['read npz']['cpu']:5.2f} × from npz"
    if result["check"]:
        line += f"; check {result['check']:.3f} s"
    print(f"{line}; peak {result['memory']:.0f} MiB{'; ' * bool(result['said'])}{result['said']}", flush=True)


if __name__ == "__main__":
    main()
