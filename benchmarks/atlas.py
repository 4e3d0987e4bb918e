"""The atlas of an architecture: every sign pattern up to relabelling, dimensions and components included.

    python benchmarks/atlas.py

Each atlas is compared with 2^(n2 (n1 + 1)), with Burnside's lemma and with the closed forms. Processor time in this
process, without the start of the interpreter.
"""

from __future__ import annotations

import argparse
from statistics import median
from time import process_time

from equality import machine

from semialg_fibers.questions.atlas import atlas

WIDTHS = ((3, 3, 3, 2), (4, 4, 3, 2), (4, 4, 4, 2), (5, 5, 4, 2), (4, 4, 6, 1))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print(machine(("semialg-fibers", "python-flint", "numpy")))
    atlas(1, 1, 1, 1)  # imports
    for widths in WIDTHS:
        times = []
        for _ in range(options.runs if widths[2] < 6 else 1):
            start = process_time()
            found = atlas(*widths)
            for row in found:
                _ = row.dimension, row.components, row.identifiable, row.hidden
            times.append(process_time() - start)
        assert found.check()
        print(
            f"{widths}: {found.pattern_count:,} patterns, {len(found):,} up to relabelling, {median(times):.2f} s CPU, "
            f"median of {len(times)}; identifiable {found.identifiable}; components depend on the values in "
            f"{sum(row.components is None for row in found)} rows"
        )


if __name__ == "__main__":
    main()
