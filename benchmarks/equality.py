"""Are two networks the same function? The package's methods against z3 and cvc5, on the same pairs, in one run.

    python benchmarks/equality.py

Weights and biases are float32 standard normal values, taken exactly. The partner b of a is a with its hidden units
permuted and rescaled by general rationals p/q, p, q ≤ 999 ("equal"), or the same made of a after one weight of an
alive unit was changed in its last bit ("almost"). Every call runs in a process of its own, which is killed when the
call has used its limit of processor time. Importing the solver or the package and making the networks is not counted.
A fast call is repeated on fresh networks and its median is taken; "first" is the first call of the process, with all
that it imports.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import process_time, thread_time
from typing import Any

import numpy as np

from semialg_fibers.exchange.arrays import from_arrays
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.equivalence import same_function
from semialg_fibers.verify.smt import same_by_smt

SHAPES = ("4-4-4-1", "6-6-6-2", "8-8-8-2")
METHODS = ("auto", "canonical", "cells", "z3", "cvc5")
KINDS = ("equal", "almost")
LIBRARIES = ("semialg-fibers", "python-flint", "numpy", "z3-solver", "cvc5")
ENOUGH = 1.0  # seconds of repetitions of a fast call

Arrays = list[tuple[np.ndarray, np.ndarray]]


# networks


def float32_arrays(widths: tuple[int, ...], seed: int) -> Arrays:
    """Give weights and biases of standard normal float32 values."""
    rng = np.random.default_rng(seed)
    return [
        (rng.standard_normal((m, n), dtype=np.float32), rng.standard_normal(m, dtype=np.float32))
        for n, m in pairwise(widths)
    ]


def last_bit_changed(arrays: Arrays) -> Arrays:
    """Give the arrays with the first positive weight of the first alive unit of the second layer one bit larger."""
    changed = [(weight.copy(), bias.copy()) for weight, bias in arrays]
    weight = changed[1][0]
    row, column = np.argwhere(weight > 0)[0]  # a positive weight makes the unit alive, and its input is seen through it
    weight[row, column] = np.nextafter(weight[row, column], np.float32(np.inf))
    return changed


def network_of(arrays: Arrays) -> Network:
    """Give the network with exactly these values."""
    return from_arrays(arrays)


def relabelled(net: Network, seed: int, largest: int = 999) -> Network:
    """Give the network with hidden units permuted and rescaled by rationals, by powers of 2 where `largest` is 0."""
    rng = random.Random(seed)
    for layer in range(1, len(net.layers)):
        units = list(range(net.widths[layer]))
        rng.shuffle(units)
        if largest:
            factors = [Fraction(rng.randint(1, largest), rng.randint(1, largest)) for _ in units]
        else:
            factors = [Fraction(2) ** rng.randint(-4, 4) for _ in units]
        net = net.permuted(layer, units).rescaled(layer, factors)
    return net


def pair(shape: str, kind: str, seed: int) -> tuple[Network, Network]:
    """Give the pair a, b of this kind."""
    arrays = float32_arrays(tuple(map(int, shape.split("-"))), seed)
    other = arrays if kind == "equal" else last_bit_changed(arrays)
    return network_of(arrays), relabelled(network_of(other), seed)


# one call, in a process of its own


def machine(libraries: tuple[str, ...] = LIBRARIES) -> str:
    """Name the processor, its cores, the memory, the system and the versions."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = []
    for name in libraries:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} missing")
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {system}, {', '.join(versions)}"


def peak_memory() -> float:
    """Give the largest memory of this process so far, in MiB."""
    status = Path("/proc/self/status")  # ru_maxrss would start with the memory of the process that started this one
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if "VmHWM" in line) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def in_own_process(script: str, arguments: list[str], wall: float) -> dict[str, Any] | None:
    """Run `script --one ...` and give the JSON that it prints; None when it was killed at its limit."""
    environment = os.environ | {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, script, "--one", *arguments]
    with tempfile.TemporaryFile("w+") as out:
        try:
            code = subprocess.run(command, stdout=out, timeout=wall, env=environment).returncode
        except subprocess.TimeoutExpired:
            return None
        if code < 0:
            return None
        if code:
            sys.exit(f"{' '.join(command)} ended with {code}")
        out.seek(0)
        return dict(json.loads(out.read()))


def question(method: str, seconds: float) -> Callable[[Network, Network], bool | None]:
    """Give the call that is timed: are a and b the same function?"""
    if method in ("z3", "cvc5"):
        __import__(method)
        return lambda a, b: same_by_smt(a, b, method, 100 * seconds) is None
    name = "exact" if method == "cells" else method
    return lambda a, b: same_function(a, b, method=name, budget=10**9).same


def one(method: str, shape: str, kind: str, seed: int, seconds: float) -> dict[str, Any]:
    """Time one method on one pair; the process dies when a call uses more than `seconds`."""
    ask = question(method, seconds)
    times, before = [], peak_memory()
    while not times or (sum(times) < ENOUGH and len(times) < 200):
        a, b = pair(shape, kind, seed)
        resource.setrlimit(resource.RLIMIT_CPU, (int(process_time() + seconds) + 1, resource.RLIM_INFINITY))
        start = thread_time()  # all of them run in the calling thread; under a limit the process clock only ticks
        answer = ask(a, b)
        times.append(thread_time() - start)
        if answer is not None and answer != (kind == "equal"):
            sys.exit(f"{method} says {answer} for a pair that is {kind}")
    return {
        "cpu": median(times),
        "first": times[0],
        "decided": answer is not None,
        "memory": peak_memory(),
        "grown": peak_memory() - before,
    }


# the table


def shown(value: float | None, limit: float) -> str:
    """Give seconds as text; None is beyond the limit."""
    if value is None:
        return f"> {limit:.0f} s"
    return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"


def middle(values: list[float | None]) -> float | None:
    """Give the median, where None is larger than every number."""
    ordered = sorted(values, key=lambda value: float("inf") if value is None else value)
    return ordered[len(ordered) // 2]  # the upper one of two: never smaller than the truth


def over(value: float | None, unit: float | None, limit: float) -> str:
    """Give value / unit as text, as a bound where the value is beyond the limit."""
    if unit is None:
        return "-"
    if value is None:
        return f"> {limit / unit:,.0f}"
    return f"{value / unit:,.1f}" if value < 10 * unit else f"{value / unit:,.0f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES))
    parser.add_argument("--pairs", type=int, default=5, help="pairs of each kind and shape")
    parser.add_argument("--seconds", type=float, default=60, help="the limit of one call, in processor time")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        method, shape, kind, seed, seconds = options.one
        print(json.dumps(one(method, shape, kind, int(seed), float(seconds))))
        return
    print(machine())
    print(f"medians of {options.pairs} pairs, CPU time, limit {options.seconds:.0f} s of CPU for a call", flush=True)
    for shape in options.shapes:
        for kind in KINDS:
            report(shape, kind, options)


def report(shape: str, kind: str, options: argparse.Namespace) -> None:
    """Measure and print one shape and one kind."""
    print(f"\n{shape}, {kind} pairs")
    limit, medians = options.seconds, {}
    for method in options.methods:
        found = [
            in_own_process(__file__, [method, shape, kind, str(seed), str(limit)], 20 * limit)
            for seed in range(options.pairs)
        ]
        decided = [None if each is None or not each["decided"] else each for each in found]
        undecided = sum(each is not None and not each["decided"] for each in found)
        times = [each and each["cpu"] for each in decided]
        medians[method] = middle(times)
        first = [each and each["first"] for each in decided]
        memory = max((each["memory"] for each in decided if each), default=float("nan"))
        each_one = ", ".join(shown(value, limit) for value in times)
        print(
            f"  {method:10}{shown(medians[method], limit):>10}   first {shown(middle(first), limit):>9}   "
            f"peak {memory:5.0f} MiB   {f'{undecided} undecided   ' if undecided else ''}({each_one})",
            flush=True,
        )
    peers = [medians[name] for name in ("z3", "cvc5") if name in medians]
    if peers:
        fastest = min(peers, key=lambda value: float("inf") if value is None else value)
        ours = [name for name in options.methods if name not in ("z3", "cvc5")]
        ratios = ", ".join(f"{name} {over(fastest, medians[name], limit)}" for name in ours)
        print(f"  the faster solver takes so many times the time of: {ratios}", flush=True)


if __name__ == "__main__":
    main()
