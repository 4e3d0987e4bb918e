"""Activation cells: how many, how fast, and equality by cells against z3 on the same pairs in one run.

    python benchmarks/cells.py

Networks and pairs as in equality.py. Each count of cells is compared with the count of the independent oracle.
"""

from __future__ import annotations

import argparse
import json
from argparse import Namespace
from statistics import median
from time import process_time
from typing import Any

from equality import float32_arrays, in_own_process, machine, network_of, peak_memory, report

from semialg_fibers.networks.cells import cells
from semialg_fibers.verify.oracle import oracle_cells

SHAPE = (2, 8, 8, 1)


def one(seed: int, by_oracle: bool) -> dict[str, Any]:
    """Count and time the cells of one 2-8-8-1 network."""
    net = network_of(float32_arrays(SHAPE, seed))
    start = process_time()
    count = len(list(oracle_cells(net))) if by_oracle else len(cells(net))
    return {"count": count, "cpu": process_time() - start, "memory": peak_memory()}


def main() -> None:
    """Print the counts and the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=5, help="pairs of each kind and shape")
    parser.add_argument("--seconds", type=float, default=60, help="the limit of one call, in processor time")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(int(options.one[0]), options.one[1] == "oracle")))
        return
    print(machine())
    found: dict[str, list[dict[str, Any]]] = {"cells": [], "oracle": []}
    for seed in range(options.networks):
        for method, results in found.items():
            result = in_own_process(__file__, [str(seed), method], 3600)
            assert result is not None  # it has no limit of processor time
            results.append(result)
    counts = [result["count"] for result in found["cells"]]
    assert counts == [result["count"] for result in found["oracle"]], "the oracle counts other cells"
    print(
        f"\ncells of {options.networks} networks 2-8-8-1: {min(counts)} to {max(counts)}, counted alike by the oracle"
    )
    for method, results in found.items():
        times = [result["cpu"] for result in results]
        memory = max(result["memory"] for result in results)
        print(f"  {method:10}median {median(times):.3f} s, largest {max(times):.3f} s, peak {memory:.0f} MiB")
    settings = Namespace(methods=["cells", "z3"], pairs=options.pairs, seconds=options.seconds)
    for shape in ("4-4-4-1", "6-6-6-2"):
        for kind in ("equal", "almost"):
            report(shape, kind, settings)


if __name__ == "__main__":
    main()
