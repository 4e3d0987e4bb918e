"""Random pairs of networks of every kind for same_function: no wrong answer, none undecided.

    python tools/pairs.py [PAIRS_PER_KIND] [SEED]

For each kind half the pairs are equal (a sample of the fiber, relabelled at random), half differ in one parameter.
Every answer is checked: a certificate by the code that does not decide, and changed networks also by the oracle's
cells. Last, degenerate pairs (zeros, repeated rows, small integers), all judged by the oracle.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from fractions import Fraction
from itertools import pairwise

from semialg_fibers import Box, Network, Orthant, fiber, genericity, same_function
from semialg_fibers.verify.oracle import same_on_cells

# widths, rows of [A2 | b2] (n: mixed signs, l: linear, d: dead, h: hidden, r: hidden with a common ratio), domain
KINDS = {
    "visible": ((2, 2, 2, 1), "nn", None),
    "linear rows": ((2, 2, 3, 2), "nll", None),
    "dead rows": ((3, 2, 2, 1), "nd", None),
    "hidden": ((2, 2, 2, 2), "hh", None),
    "hidden, common ratio": ((3, 3, 2, 1), "rr", None),
    "hidden with dead row": ((2, 2, 2, 1), "hd", None),
    "all dead": ((2, 2, 2, 1), "dd", None),
    "n1 = 1": ((2, 1, 2, 1), "nh", None),
    "one layer on R^2": ((2, 3, 1), "", None),
    "one layer on the orthant": ((2, 3, 1), "", Orthant(2)),
    "one layer on a box": ((2, 3, 1), "", Box([0, 0], [1, 1])),
}


def number(rng: random.Random) -> Fraction:
    """Give a nonzero rational."""
    return Fraction(rng.choice([-1, 1]) * rng.randint(1, 60), rng.randint(1, 9))


def row(rng: random.Random, letter: str, size: int) -> list[Fraction]:
    """Give a row of [A2 | b2] with the signs of its kind."""
    signs = [rng.choice([-1, 1]) for _ in range(size + 1)]
    if letter in "ld":
        signs = [1 if letter == "l" else -1] * (size + 1)
    elif letter in "hr":
        signs = [1] + [-1] * size
    values = [sign * abs(number(rng)) for sign in signs]
    return [values[0], *(-values[0] for _ in values[1:-1]), values[-1]] if letter == "r" else values


def network(rng: random.Random, kind: str) -> Network:
    """Give a random generic network of the kind."""
    widths, letters, domain = KINDS[kind]
    while True:
        layers = [
            ([[number(rng) for _ in range(i)] for _ in range(o)], [number(rng) for _ in range(o)])
            for i, o in pairwise(widths)
        ]
        if letters:
            rows = [row(rng, letter, widths[1]) for letter in letters]
            layers[1] = ([r[:-1] for r in rows], [r[-1] for r in rows])
        net = Network(layers, domain)
        if genericity(net).is_generic:
            return net


def changed(rng: random.Random, net: Network) -> Network:
    """Change one parameter."""
    layers = [([list(r) for r in layer.matrix.rows()], list(layer.offset)) for layer in net.layers]
    weight, bias = rng.choice(layers)
    target = rng.choice([*weight, bias])
    target[rng.randrange(len(target))] += 1
    return Network(layers, net.domain)


def judged(a: Network, b: Network, equal: bool | None) -> str:
    """Give the verdict, after checking it."""
    answer = same_function(a, b)
    if answer.same is None:
        return "UNDECIDED"
    truth = equal if equal else same_on_cells(a, b) is None
    return f"{'same' if answer.same else 'different'}{'' if answer.check() and answer.same == truth else ' WRONG'}"


def degenerate(rng: random.Random) -> tuple[Network, Network]:
    """Give two networks with zeros and repeated rows, equal more often than chance."""
    widths = (rng.randint(1, 2), rng.randint(1, 3), rng.randint(1, 3), 1)

    def layers() -> list[tuple[list[list[int]], list[int]]]:
        made = []
        for i, o in pairwise(widths):
            rows = [[rng.choice([0, 0, 1, -1, 2]) for _ in range(i)] for _ in range(o)]
            if o > 1 and rng.random() < 0.4:
                rows[0] = rows[1]
            made.append((rows, [rng.choice([0, 0, 1, -1]) for _ in range(o)]))
        return made

    first = layers()
    second = layers() if rng.random() < 0.3 else [first[0], *layers()[1:]]
    return Network(first), changed(rng, Network(first)) if rng.random() < 0.5 else Network(second)


def main(pairs: int, seed: int) -> int:
    """Run all kinds; give the number of answers that are wrong or undecided."""
    bad = 0
    for kind in [*KINDS, "degenerate"]:
        rng, counts = random.Random(f"{seed} {kind}"), Counter()
        for turn in range(pairs):
            if kind == "degenerate":
                counts[judged(*degenerate(rng), None)] += 1
                continue
            net = network(rng, kind)
            other = fiber(net).sample(rng.randrange(2**30)) if turn % 2 else changed(rng, net)
            counts[judged(net, other, bool(turn % 2))] += 1
        bad += sum(count for verdict, count in counts.items() if verdict not in ("same", "different"))
        print(f"{kind}: {dict(sorted(counts.items()))}", flush=True)
    print(f"seed {seed}, {pairs} pairs of each kind: {bad} wrong or undecided")
    return bad


if __name__ == "__main__":
    sys.exit(bool(main(*(int(value) for value in (sys.argv[1:] + ["2000", "1"][len(sys.argv) - 1 :])))))
