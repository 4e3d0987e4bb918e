"""Does a named symmetry explain every direction of the Jacobian's kernel? For random three-layer networks.

    python tools/explained.py [COUNT] [LARGEST ENTRY] [SEED]

d = 2, n1 = 3..5, n2 = 1..4, m = 1, 2, integer entries up to LARGEST ENTRY (default: 1,000 networks, 1,999).
Prints how many are explained, by which symmetries, and every network with something left, with the reason if it is the
cancellation that beyond §3.2 (G4) excludes. Exit 1 when a network without such a cancellation is left unexplained.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from itertools import pairwise, product

from semialg_fibers import Network, UnsupportedError, explain_dimension
from semialg_fibers.networks.cells import each_cell


def random_network(rng: random.Random, largest: int) -> Network:
    """Draw a network."""
    widths = (2, rng.choice([3, 4, 5]), rng.choice([1, 2, 3, 4]), rng.choice([1, 2]))
    layers = []
    for inputs, outputs in pairwise(widths):
        weight = [[rng.randint(-largest, largest) for _ in range(inputs)] for _ in range(outputs)]
        layers.append((weight, [rng.randint(-largest, largest) for _ in range(outputs)]))
    return Network(layers)


def violations(net: Network) -> list[str]:
    """Say which hypotheses of beyond §3.2 fail, as far as a short look at the cells shows."""
    first, second, third = net.layers
    found = []
    rows = first.integer_forms
    if any(a[0] * b[1] == a[1] * b[0] for i, a in enumerate(rows) for b in rows[:i]):
        found.append("two hyperplanes of the first layer are parallel, or one is none")
    if any(not any(third.matrix.column(j)) for j in range(second.outputs)):
        found.append("a column of A3 is zero")
    patterns = {cell.pattern[1] for cell in each_cell(net)}
    for i, bits in product(range(first.outputs), patterns):
        active = [j for j, bit in enumerate(bits) if bit]
        used = [j for j in active if second.matrix[j, i]]
        sums = [sum(third.matrix[o, j] * second.matrix[j, i] for j in active) for o in range(third.outputs)]
        if len(used) > 1 and not any(sums):
            found.append(f"(G4) column {i + 1}: the products of rows {', '.join(str(j + 1) for j in used)} cancel")
    return list(dict.fromkeys(found))


def main() -> int:
    """Run the search."""
    given = [int(value) for value in sys.argv[1:]]
    count, largest, seed = [*given, *[1000, 1999, 0][len(given) :]]
    rng = random.Random(seed)
    names: Counter[str] = Counter()
    explained, puzzles, nowhere = 0, 0, 0
    for _ in range(count):
        net = random_network(rng, largest)
        try:
            found = explain_dimension(net)
        except UnsupportedError:
            nowhere += 1
            continue
        names.update(found.by_symmetry.keys())
        if not found.unexplained:
            explained += 1
            continue
        reasons = violations(net)
        if found.skipped:
            reasons.append(f"f is not differentiable in its parameters on {found.skipped} cells")
        puzzles += not reasons
        print(f"{net}: {found.explained} of {found.kernel}: {'; '.join(reasons) or 'no violated hypothesis was found'}")
        print(f"  {net!r}")
    print(f"{explained} of {count} networks are explained completely")
    if nowhere:
        print(f"  {nowhere} more are nowhere differentiable in their parameters")
    for name, number in names.most_common():
        print(f"  {name}: in {number}")
    return 1 if puzzles else 0


if __name__ == "__main__":
    sys.exit(main())
