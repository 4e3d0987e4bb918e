"""Colours of hidden units that no permutation and no positive rescaling changes.

Main definitions
    Colouring    one network modulo a prime, with a colour and a gauge for every unit

Main results
    refined      hash into each unit's colour what ties it to the others, until nothing new is told apart
    searched     go through the ways in which units of equal colours can correspond

A gauge g is a sum of |weights| that is rescaled exactly as its unit is, so that the weight w from u to v has one value
w·g(u)/g(v) in every labelling and scaling. Networks that are relabellings of each other get equal colours, as long as
the prime divides no numerator and no denominator. The converse can fail: different colours prove, equal ones propose.

References: B. D. McKay, A. Piperno, Practical graph isomorphism II (2014).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from flint import fmpz

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.networks.layer import Layer, Network

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Words = npt.NDArray[np.uint64]

Found = TypeVar("Found")
Groups = list[list[list[int]]]  # per hidden layer: units that are treated as one

_ODD = 0x9E3779B97F4A7C15
_BIAS = 0xB1A5


def word_primes() -> Iterator[int]:
    """Yield primes downwards from 2^30: products of two residues, and sums of many, fit into 64 bits."""
    candidate = 2**30 - 1
    while True:
        if fmpz(candidate).is_prime():
            yield candidate
        candidate -= 2


def _mix(words: Words) -> Words:
    """Scramble 64-bit words, one to one (the finaliser of splitmix64)."""
    import numpy as np

    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words


@dataclass
class Colouring:
    """One network modulo a prime: per layer |[W | b]| and its signs (1 positive, 2 negative), per unit what is known.

    `colours`, `gauges` and `inverses` (of the gauges) hold one array per layer, inputs first and outputs last. A gauge
    is 0 as long as nothing ties its unit to inputs, biases and outputs.
    """

    prime: int
    sizes: list[Words]
    signs: list[Words]
    colours: list[Words]
    gauges: list[Words]
    inverses: list[Words]

    @classmethod
    def of(cls, net: Network, prime: int) -> Colouring:
        """Start with the inputs and outputs told apart, and all units of a hidden layer alike.

        Raises:
            ZeroDivisionError: when the prime divides a numerator or a denominator.
        """
        import numpy as np

        reduced = [_reduced(layer, prime) for layer in net.layers]
        first, *hidden, last = (np.arange(width, dtype=np.uint64) for width in net.widths)
        colours = [_mix(first), *(np.zeros_like(words) for words in hidden), _mix(last)]
        gauges = [np.ones_like(first), *(np.zeros_like(words) for words in hidden), np.ones_like(last)]
        sizes, signs = [size for size, _ in reduced], [sign for _, sign in reduced]
        return cls(prime, sizes, signs, colours, gauges, [gauge.copy() for gauge in gauges])

    def copy(self) -> Colouring:
        """Give a colouring that can change without this one; the weights are shared."""
        known = [[part.copy() for part in parts] for parts in (self.colours, self.gauges, self.inverses)]
        return Colouring(self.prime, self.sizes, self.signs, *known)

    def singled(self, layer: int, i: int) -> Colouring:
        """Give a copy in which unit i of a layer has a colour of its own, and a gauge if it had none."""
        made = self.copy()
        made.colours[layer][i : i + 1] = _mix(made.colours[layer][i : i + 1] * _ODD + 1)
        if not made.gauges[layer][i]:
            made.gauges[layer][i] = made.inverses[layer][i] = 1
        return made

    def merged(self, groups: Groups) -> Colouring:
        """Give a copy that keeps the first unit of each group only."""
        made = self.copy()
        made.sizes, made.signs = list(self.sizes), list(self.signs)
        for layer, found in enumerate(groups, 1):
            kept = [group[0] for group in found]
            for units in (made.colours, made.gauges, made.inverses):
                units[layer] = units[layer][kept]
            for parts in (made.sizes, made.signs):
                parts[layer - 1] = parts[layer - 1][kept]
                parts[layer] = parts[layer][:, [*kept, -1]]
        return made

    def crowd(self) -> tuple[int, list[int]] | None:
        """Give the layer and the units of a smallest set of units of one colour; None when all colours differ."""
        import numpy as np

        crowds = []
        for layer, colours in enumerate(self.colours[1:-1], 1):
            values, counts = np.unique(colours, return_counts=True)
            shared = counts > 1
            crowds += [(n, layer, c) for n, c in zip(counts[shared].tolist(), values[shared].tolist(), strict=True)]
        if not crowds:
            return None
        _, layer, colour = min(crowds)
        return layer, self.units(layer, colour)

    def units(self, layer: int, colour: int) -> list[int]:
        """Give the units of a layer that have this colour."""
        return [i for i, value in enumerate(self.colours[layer].tolist()) if value == colour]

    def absorb(self, layer: int, upward: bool) -> None:
        """Hash into the colours of a hidden layer the weights that tie it to the layer below, or above.

        Units without a gauge get one when these weights tie them to units that have one.

        Raises:
            ZeroDivisionError: when the sum that is to be a gauge vanishes modulo the prime, by accident.
        """
        import numpy as np

        if upward:
            size, sign = self.sizes[layer][:, :-1].T, self.signs[layer][:, :-1].T
            far, factor = self.colours[layer + 1], self.inverses[layer + 1]
            own, other = self.gauges[layer], self.inverses[layer]
        else:
            size, sign = self.sizes[layer - 1], self.signs[layer - 1]
            far = np.append(self.colours[layer - 1], np.uint64(_BIAS))
            factor = np.append(self.gauges[layer - 1], np.uint64(1))
            own, other = self.inverses[layer], self.gauges[layer]
        tied = size * factor % self.prime
        fresh = (own == 0) & tied.any(axis=1)
        if fresh.any():
            # Of absolute values: only an accident modulo the prime can make their sum vanish.
            total = tied[fresh].sum(axis=1) % self.prime
            other[fresh], own[fresh] = total, _inverse(total, self.prime)
        terms = _mix(far + (4 * (tied * own[:, None] % self.prime) + sign) * _ODD)
        self.colours[layer] = _mix(self.colours[layer] * _ODD + terms.sum(axis=1) + int(upward))


def _inverse(residues: Words, prime: int) -> Words:
    import numpy as np

    if not residues.all():
        raise ZeroDivisionError(f"a residue is zero modulo {prime}")
    return np.array([pow(value, -1, prime) for value in residues.tolist()], np.uint64)


def _reduced(layer: Layer, prime: int) -> tuple[Words, Words]:
    """Give |[W | b]| modulo the prime, and the signs as 0, 1 (positive), 2 (negative)."""
    import numpy as np

    numerators = [_row_reduced(row, prime) for row in layer.matrix.integer_rows()]
    constants, signs = _row_reduced([int(value.p) for value in layer.offset], prime)
    below = np.array([value % prime for value in layer.matrix.denominators()], np.uint64)
    beside = np.array([int(value.q) % prime for value in layer.offset], np.uint64)
    sizes = np.stack([size for size, _ in numerators]) * _inverse(below, prime)[:, None] % prime
    size = np.column_stack([sizes, constants * _inverse(beside, prime) % prime])
    sign = np.column_stack([np.stack([sign for _, sign in numerators]), signs])
    if ((size == 0) != (sign == 0)).any():
        raise ZeroDivisionError(f"{prime} divides a numerator")
    return size, sign


def _row_reduced(row: Sequence[int], prime: int) -> tuple[Words, Words]:
    import numpy as np

    try:
        values = np.array(row, np.int64)
    except OverflowError:
        sizes = np.array([abs(value) % prime for value in row], np.uint64)
        return sizes, np.array([0 if not value else 1 if value > 0 else 2 for value in row], np.uint64)
    signs = (values > 0) + 2 * (values < 0)
    return abs(values).astype(np.uint64) % prime, signs.astype(np.uint64)


def refined(colourings: Sequence[Colouring]) -> bool:
    """Refine all colours in step until no more units are told apart; False as soon as their multisets differ.

    >>> a = Network([([[1], [2]], [0, 1]), ([[1, 1]], [0])])
    >>> b = a.permuted(1, [1, 0]).rescaled(1, [3, "1/7"])
    >>> c = Network([([[1], [2]], [0, 2]), ([[1, 1]], [0])])
    >>> [refined([Colouring.of(net, 1073741789) for net in pair]) for pair in ((a, b), (a, c))]
    [True, False]
    """
    import numpy as np

    hidden = range(1, len(colourings[0].colours) - 1)
    units = sum(len(colourings[0].colours[layer]) for layer in hidden)
    before = -1
    while True:
        for upward in (False, True):
            for layer in reversed(hidden) if upward else hidden:
                for colouring in colourings:
                    colouring.absorb(layer, upward)
                first, *others = (np.sort(colouring.colours[layer]) for colouring in colourings)
                if not all(np.array_equal(first, other) for other in others):
                    return False
            classes = sum(len(np.unique(colourings[0].colours[layer])) for layer in hidden)
            if classes == units:
                return True
        known = classes + sum(int(np.count_nonzero(gauges)) for gauges in colourings[0].gauges)
        if known == before:
            return True
        before = known


class Choices:
    """How many more pairs of colourings may be compared."""

    def __init__(self, budget: int) -> None:
        """Start with the whole budget."""
        self.left = self.budget = budget

    def spend(self) -> None:
        """Count one.

        Raises:
            BudgetExceededError: when none is left.
        """
        if not self.left:
            raise BudgetExceededError(
                f"too many hidden units look alike: {self.budget} choices were tried out, which decides nothing",
                value=self.budget,
            )
        self.left -= 1


def searched(
    one: Colouring, other: Colouring, accept: Callable[[Colouring, Colouring], Found | None], choices: Choices
) -> Found | None:
    """Give what `accept` makes of the first pair of colourings without crowds that it takes; None when it takes none.

    One unit of a smallest crowd is matched with each unit of its colour on the other side, depth first.
    """
    waiting = [(one, other)]
    while waiting:
        one, other = (colouring.copy() for colouring in waiting.pop())
        choices.spend()
        if not refined([one, other]):
            continue
        crowd = one.crowd()
        if crowd is None:
            found = accept(one, other)
            if found is not None:
                return found
            continue
        layer, members = crowd
        chosen = one.singled(layer, members[0])
        rivals = other.units(layer, int(one.colours[layer][members[0]]))
        waiting += [(chosen, other.singled(layer, i)) for i in reversed(rivals)]
    return None
