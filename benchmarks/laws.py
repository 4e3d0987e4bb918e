"""Conservation laws: processor time for the published architectures and for random three-layer networks.

    python benchmarks/laws.py

The 25 + 25 architectures in tests/tables/conservation.json are those at hand of the 50 + 50 in arXiv:2307.00144, each
number proved (bracket fields from one side, laws from the other) and compared with the table. For all 50 of each the
authors report 1 h 53 min on 64 cores (ReLU) and 34 min (linear): other machines and other means, so this is no race.
Then random networks of up to 40 parameters and beyond, with entries in −99..99: laws found, each proved by a polynomial
identity in every cell, and their number.
"""

from __future__ import annotations

import argparse
import json
import random
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import process_time

from equality import machine

from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.architecture_laws import architecture_laws
from semialg_fibers.questions.conservation import conservation_laws

TABLE = Path(__file__).resolve().parents[1] / "tests" / "tables" / "conservation.json"
WIDTHS = ((2, 2, 2, 1), (2, 3, 3, 1), (3, 3, 3, 2), (2, 4, 4, 1), (2, 8, 8, 1), (3, 8, 8, 2))


def table(activation: str) -> float:
    """Prove the numbers of all architectures of the table; give the processor time."""
    records = json.loads(TABLE.read_text())[f"published_{activation}"]
    start = process_time()
    for record in records:
        bias = "hidden" if record["hidden_bias"] else False
        found = architecture_laws(reversed(record["widths_output_first"]), bias, activation)
        assert found.total == record["laws"], record
    return process_time() - start


def drawn(widths: tuple[int, ...], seed: int) -> Network:
    """Give a network with random entries in −99..99."""
    source = random.Random(seed)
    layers = []
    for inputs, outputs in pairwise(widths):
        rows = [[source.randint(-99, 99) for _ in range(inputs + 1)] for _ in range(outputs)]
        layers.append(([row[:-1] for row in rows], [row[-1] for row in rows]))
    return Network(layers)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--networks", type=int, default=10, help="networks of each width")
    options = parser.parse_args()
    print(machine(("semialg-fibers", "python-flint", "numpy")))
    architecture_laws((2, 2, 1))  # imports
    for activation in ("relu", "linear"):
        times = [table(activation) for _ in range(options.runs)]
        print(f"25 {activation} architectures, all numbers proved: median {median(times):.2f} s of {options.runs} runs")
    for widths in WIDTHS:
        times, cells, proved = [], [], 0
        for seed in range(options.networks):
            net = drawn(widths, seed)
            start = process_time()
            found = conservation_laws(net)
            times.append(process_time() - start)
            cells.append(len(found.patterns))
            least, most = found.interval
            proved += least == most
        print(
            f"{'-'.join(map(str, widths))}, {net.parameter_count} parameters, {min(cells)}–{max(cells)} cells: "
            f"median {median(times):.3f} s, largest {max(times):.2f} s, {proved} of {options.networks} numbers proved"
        )


if __name__ == "__main__":
    main()
