"""Counting choices of sides: a pruned search with exact bounds against vectorised brute force; chunks on processes.

    python benchmarks/families.py

The hard family: one output, one spare neuron, p = 8 inputs, k nonlinear neurons with C_l B_l drawn from −10^6..10^6, so
that S is feasible iff all 8 entries of M_S have one sign. The peer adds up all 2^k subsets in numpy, a neuron after the
other, a column of memory for each input (its fastest layout here), and tests them; both numbers must agree. Then the
family that encodes subset sum, whose work doubles every other neuron or so: nothing better than exponential is known,
and a polynomial method would decide an NP-complete question. Last, the same chunks in one and in two processes, and
the peak of memory for 100 and for 10,000 chunks. No figure is asserted.
"""

from __future__ import annotations

import argparse
import random
import time
import tracemalloc
from statistics import median
from time import process_time

from equality import machine

from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.side_search import OneSignedSearch
from semialg_fibers.geometry.enumeration import Family, Runner
from semialg_fibers.geometry.executors import process_pool
from semialg_fibers.questions.component_count import subset_sum_network

P = 8


def instance(k: int, seed: int, p: int = P) -> OneSignedSearch:
    """Give k products with random integer entries, and M = 0."""
    source = random.Random(seed)
    rows = tuple(tuple(source.randint(-(10**6), 10**6) for _ in range(p)) for _ in range(k))
    return OneSignedSearch((0,) * p, rows)


def brute_force(search: OneSignedSearch) -> int:
    """Count by adding up all subsets."""
    import numpy as np

    sums = np.array(search.base, dtype=np.int64)[:, None]
    for row in search.rows:
        sums = np.concatenate([sums, sums + np.array(row, dtype=np.int64)[:, None]], axis=1)
    return int(np.count_nonzero((sums >= 0).all(axis=0) | (sums <= 0).all(axis=0)))


def race(k: int, instances: int) -> None:
    """Print medians of both, and their ratio."""
    own, peer = [], []
    for seed in range(instances):
        search = instance(k, seed)
        start = process_time()
        count = search.count()
        own.append(process_time() - start)
        start = process_time()
        assert brute_force(instance(k, seed)) == count
        peer.append(process_time() - start)
    ratio = median(peer) / median(own)
    print(
        f"k = {k}, p = {P}: search {1000 * median(own):.1f} ms, numpy brute force {1000 * median(peer):.1f} ms, "
        f"{ratio:.1f} ×; medians of {instances} instances, CPU"
    )


def hard(instances: int) -> None:
    """Print how the time grows on networks that encode subset sum."""
    for k in (20, 24, 28, 32):
        times = []
        for seed in range(instances):
            source = random.Random(seed)
            values = [source.randint(2**38, 2**40) for _ in range(k)]
            net = subset_sum_network(values, sum(values) // 2)
            start = process_time()
            count = fiber(net).component_count
            times.append(process_time() - start)
            assert count >= 1
        print(f"subset sum of {k} numbers of 40 bits: median {median(times):.3f} s of {instances} instances, CPU")


def chunk(inputs: tuple[tuple[OneSignedSearch, tuple[int, ...]], ...]) -> list[int]:
    """Count below the given prefixes."""
    return [search.count(prefix=prefix) for search, prefix in inputs]


def nothing(inputs: tuple[int, ...]) -> int:
    """Give the number of inputs."""
    return len(inputs)


def scaling(k: int, runs: int) -> None:
    """Print the time of the same chunks in this process, in one process and in two."""
    search = instance(k, 2, 5)
    prefixes = [tuple(number >> place & 1 for place in range(6)) for number in range(64)]
    family = Family("benchmark", "", [(search, prefix) for prefix in prefixes], chunk)
    times: dict[int, list[float]] = {1: [], 2: []}
    counts = set()
    for _ in range(runs):
        for workers in times:
            with process_pool(workers)() as pool:
                Runner(pool).results(Family("begin", "", range(8), nothing))  # interpreters have started
                start = time.perf_counter()
                counts.add(sum(sum(found) for found in Runner(pool).run(family)))
                times[workers].append(time.perf_counter() - start)
    assert len(counts) == 1
    one, two = median(times[1]), median(times[2])
    print(f"k = {k}, p = 5, 64 chunks: one process {one:.2f} s, two {two:.2f} s wall, {one / two:.2f} ×; {runs} runs")


def memory() -> None:
    """Print the peak of Python's memory while many chunks pass."""
    for count in (100, 10_000):
        tracemalloc.start()
        for _ in Runner().run(Family("memory", "", range(count * 10), nothing, 10)):
            pass
        print(f"{count} chunks: peak {tracemalloc.get_traced_memory()[1] / 1024:.0f} KiB")
        tracemalloc.stop()


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=7)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scaling", type=int, default=32, help="neurons of the instance for two processes")
    options = parser.parse_args()
    print(machine(("semialg-fibers", "python-flint", "numpy")))
    instance(12, 0).count()  # imports
    for k in (20, 22):
        race(k, options.instances)
    hard(5)
    memory()
    scaling(options.scaling, options.runs)


if __name__ == "__main__":
    main()
