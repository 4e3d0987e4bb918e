"""Exporting one component of a visible network to every language: processor time, the set's equations included.

    python benchmarks/exports.py

Widths 6-6-6-3, random fractions, then letters. The figure is the median over the runs, the peer SymPy's own printers
on the same conditions: str for text, sympy.latex for LaTeX.
"""

from __future__ import annotations

import argparse
import random
from fractions import Fraction
from itertools import pairwise
from statistics import median
from time import process_time

import sympy
from equality import machine

from semialg_fibers.exchange.exporters import WRITERS
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.component import FiberComponent
from semialg_fibers.networks.layer import Network


def random_network(widths: tuple[int, ...], seed: int) -> Network:
    """Give a network whose entries are fractions n/q, none zero."""
    rng = random.Random(seed)

    def entry() -> Fraction:
        return Fraction(2 * rng.randint(-99, 99) + 1, rng.randint(1, 50))

    pairs = pairwise(widths)
    return Network([([[entry() for _ in range(n)] for _ in range(m)], [entry() for _ in range(m)]) for n, m in pairs])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--widths", type=int, nargs=4, default=[6, 6, 6, 3])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print(machine(("semialg-fibers", "sympy")))
    widths = tuple(options.widths)
    rng = random.Random(1)
    signs = ["+-" + "".join(rng.choice("+-") for _ in range(widths[1] - 1)) for _ in range(widths[2])]
    for net in (random_network(widths, 1), Network.generic(*widths, signs=signs)):
        measure(fiber(net).components[0], options)


def measure(component: FiberComponent, options: argparse.Namespace) -> None:
    """Print the table of one component."""
    print(f"\n{component!r}, {'-'.join(map(str, options.widths))}, medians of {options.runs} runs, CPU time")
    for name, write in WRITERS.items():
        times = []
        for _ in range(options.runs):
            start = process_time()
            text = write(component)
            times.append(process_time() - start)
        print(f"{name:12} {median(times):7.3f} s {len(text):8,} characters")
    conditions = [e for part in component.set.parts for e in (*part.equations, *part.positive, *part.nonnegative)]
    for name, write in (("str", str), ("sympy.latex", sympy.latex)):
        start = process_time()
        size = sum(len(write(e)) for e in conditions)
        print(f"{name:12} {process_time() - start:7.3f} s {size:8,} characters (SymPy's printer, the set only)")


if __name__ == "__main__":
    main()
