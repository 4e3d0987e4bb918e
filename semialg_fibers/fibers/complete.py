"""The complete fiber of one hidden layer: every parameter with the same function, generic or not.

Main definitions
    CompleteFiber     a disjoint union of strata, up to relabelling

Main results
    complete_fiber    for every network with one hidden layer, on R^p, the orthant, a box, a polyhedron

References: beyond §1. Shallow networks on all of R^d are classified in P. Ramakrishnan, arXiv:2604.14037 too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from math import comb, factorial
from typing import Any, cast

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.fibers.balance import Balance, Feasibility
from semialg_fibers.fibers.component import LazySequence
from semialg_fibers.fibers.strata import Frame, Sides, Stratum, StratumIndex, checked_index
from semialg_fibers.geometry.arguments import checked, checked_methods
from semialg_fibers.geometry.scalar import numbered
from semialg_fibers.networks.arrangement import arrangement
from semialg_fibers.networks.layer import Network

BALANCES = 8_000  # choices of flipped and split hyperplanes that a search may look at
FIRST = 64  # strata from which `CompleteFiber.sample` draws


@checked_methods("locate", "contains", "sample", "feasibility", "stratum")
@dataclass(frozen=True)
class CompleteFiber:
    """All networks of the same widths, on the same domain, with the same function.

    A network is a member iff its arrangement is the given one's, and it then lies in exactly one stratum. Hyperplanes
    are numbered as in `frame.planes`, where the first nonzero weight is positive.
    """

    network: Network
    frame: Frame

    @cached_property
    def strata(self) -> Sequence[Stratum]:
        """The feasible strata, the given network's first, then by the number of flipped and split hyperplanes.

        Raises:
            BudgetExceededError: when read beyond what `BALANCES` choices of sides give.
        """
        lazy: Any = LazySequence  # its annotations speak of components; it holds anything
        return cast("Sequence[Stratum]", lazy(self._all, lambda: self.stratum_count))

    def _all(self) -> Iterator[Stratum]:
        own = self.locate(self.network)
        assert own is not None  # the network has its own function
        yield own
        for looked_at, (flipped, split) in enumerate(self._sides()):
            if looked_at == BALANCES:
                raise BudgetExceededError(
                    f"more strata may follow, beyond the budget of {BALANCES} choices of flipped and split hyperplanes",
                    budget=BALANCES,
                )
            for index in _indices(self.frame, flipped, split):
                if index != own.index:
                    yield Stratum(self.frame, index)

    def _sides(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield the disjoint pairs (flipped, split) for which there are enough neurons, by their number."""
        count = len(self.frame.planes)
        for size in range(count + 1):
            for splits in range(min(size, self.frame.width - count) + 1):
                for split in combinations(range(count), splits):
                    rest = [i for i in range(count) if i not in split]
                    for flipped in combinations(rest, size - splits):
                        yield flipped, split

    def _balances(self) -> Iterator[tuple[Balance, int, int]]:
        """Yield each balance equation with the numbers of splits and of spare neurons.

        Raises:
            BudgetExceededError: when there are more than `BALANCES`.
        """
        count = len(self.frame.planes)
        most = min(count, self.frame.width - count)
        total = sum(comb(count, splits) * 2 ** (count - splits) for splits in range(most + 1))
        if total > BALANCES:
            raise BudgetExceededError(
                f"{count} hyperplanes can be flipped or split in {total} ways, more than the budget of {BALANCES}",
                budget=BALANCES,
            )
        for flipped, split in self._sides():
            yield self.frame.balance(flipped, split), len(split), self.frame.width - count - len(split)

    @cached_property
    def stratum_count(self) -> int:
        """The number of feasible strata, counted without listing them.

        Raises:
            BudgetExceededError: when there are too many choices of sides to look at.
        """
        count = len(self.frame.planes)
        total = 0
        for balance, splits, spare in self._balances():
            for ghosts in range(spare // 2 + 1):
                others = [0] * (spare + 1)
                for used in range(2 * ghosts, spare + 1):
                    ways = _ghost_ways(used, ghosts)
                    for extra in range(spare - used + 1):
                        others[used + extra] += ways * _essential_ways(extra, count, splits)
                for used, ways in enumerate(others):
                    if ways:
                        total += ways * sum(len(balance.ranks(q, ghosts)) for q in range(spare - used + 1))
        return total

    @cached_property
    def dimension(self) -> int:
        """The largest dimension of a stratum, found without listing the strata.

        Implements: beyond §1.4.

        Raises:
            BudgetExceededError: when there are too many choices of sides to look at.
        """
        frame, m, p = self.frame, self.frame.m, self.frame.p
        # What a spare neuron adds at most: a dead one, or a ghost of its own; copies add 1 + m, which is never more.
        alone = 1 + max(m + frame.cone.dimension, p)
        best = 0
        for balance, splits, spare in self._balances():
            base = len(frame.planes) + splits  # scales; X and J determine the outgoing columns
            for ghosts in range(spare // 2 + 1):
                for q in range(spare - 2 * ghosts + 1):
                    for s in range(min(q, m) + 1):
                        piece = balance.largest(q, s, ghosts)
                        if piece is not None:
                            rest = spare - 2 * ghosts - q
                            best = max(best, base + piece.dimension + q + 2 * ghosts + rest * alone)
        return best

    @property
    def top(self) -> Iterator[Stratum]:
        """The strata of the largest dimension."""
        return (stratum for stratum in self.strata if stratum.dimension == self.dimension)

    def feasibility(self, flipped: Sequence[int] = (), split: Sequence[int] = (), split_ghosts: int = 0) -> Feasibility:
        """Give the least number of linear neurons for these sides of the essential hyperplanes, with its certificate.

        Implements: beyond §1.3.

        Raises:
            InvalidNetworkError: for the index of an essential hyperplane that does not exist.
        """
        count = len(self.frame.planes)
        wrong = next((i for i in (*flipped, *split) if not 0 <= i < count), None)
        if wrong is not None:
            raise InvalidNetworkError(
                f"{numbered('essential hyperplane', 0, count - 1)} have sides, got {wrong}", value=wrong
            )
        return self.frame.balance(tuple(flipped), tuple(split)).feasibility(split_ghosts)

    def stratum(self, index: StratumIndex) -> Stratum | None:
        """Give the stratum with this index, None when it is empty.

        Raises:
            InvalidNetworkError: for an index of another number of hyperplanes or neurons.
        """
        found = Stratum(self.frame, checked_index(self.frame, index))
        return found if found.is_feasible else None

    def locate(self, net: Network) -> Stratum | None:
        """Give the stratum that contains the network, None when it is no member."""
        index = self.frame.index_of(net)
        return None if index is None else Stratum(self.frame, index)

    def contains(self, net: Network) -> bool:
        """Say whether the network has the same widths, domain and function; exactly, whatever its parameters.

        Implements: beyond §1.2.
        """
        return self.frame.index_of(net) is not None

    def sample(self, seed: int = 0) -> Network:
        """Give an exact member of one of the first strata; seeded."""
        rng = random.Random(seed)
        first: list[Stratum] = []
        with suppress(BudgetExceededError):
            for stratum in self.strata:
                first.append(stratum)
                if len(first) == FIRST:
                    break
        return rng.choice(first).draw(rng)

    def __repr__(self) -> str:
        """Name the network and its hyperplanes."""
        return f"<complete fiber of {self.network}, {len(self.frame.planes)} essential hyperplanes>"


@checked
def complete_fiber(net: Network) -> CompleteFiber:
    """Give all parameters of the function of a network with one hidden layer, on any domain, as disjoint strata.

    No genericity is needed, of the network or of the members.

    Implements: beyond §1.2.

    Raises:
        UnsupportedError: for more or fewer layers, and for letters in the parameters.

    >>> found = complete_fiber(Network([([[1]], [0]), ([[1]], [0])]))
    >>> found.dimension, [str(stratum.index) for stratum in found.strata]
    (1, ['hyperplane 1 kept'])
    >>> twice = complete_fiber(Network([([[1], [-2]], [0, -1]), ([[1, 0]], [0])]))
    >>> [(str(stratum.index), stratum.dimension) for stratum in twice.strata][:3]
    [('hyperplane 1 kept, ghost of 1', 3), ('hyperplane 1 kept, 1 dead', 3), ('hyperplane 1 kept, 1 linear of rank 0', \
2)]
    """
    if len(net.layers) != 2:
        raise UnsupportedError(
            f"the complete fiber is known for one hidden layer, this network has {len(net.layers) - 1}; "
            "`fiber` has the generic members for three layers, `sound_fiber` what known symmetries generate"
        )
    if not net.is_rational:
        raise UnsupportedError("the complete fiber needs numbers: put values in for the letters of this network")
    return _complete(net)


@lru_cache(maxsize=32)
def _complete(net: Network) -> CompleteFiber:
    return CompleteFiber(net, Frame(net.domain, net.widths[1], arrangement(net)))


def _indices(frame: Frame, flipped: tuple[int, ...], split: tuple[int, ...]) -> Iterator[StratumIndex]:
    """Yield the feasible indices with these sides: fewer ghosts and copies first."""
    balance = frame.balance(flipped, split)
    spare = frame.width - len(frame.planes) - len(split)
    for used in range(spare + 1):
        for ghosts in _ghost_groups(used, used):
            halves = sum(1 for _, minus in ghosts if minus)
            for extra in range(spare - used + 1):
                for essential in _essential(extra, len(frame.planes), flipped, split):
                    for q in range(spare - used - extra + 1):
                        for s in balance.ranks(q, halves):
                            yield StratumIndex(essential, ghosts, q, s, spare - used - extra - q)


def _ghost_groups(total: int, largest: int) -> Iterator[tuple[Sides, ...]]:
    """Yield the multisets of pairs (a, b), a ≥ b ≥ 0, a ≥ 1, with so many neurons, as descending tuples of pairs."""

    def descending(left: int, below: Sides) -> Iterator[tuple[Sides, ...]]:
        if not left:
            yield ()
        for plus in range(min(left, below[0]), 0, -1):
            most = min(plus, left - plus, below[1] if plus == below[0] else plus)
            for minus in range(most, -1, -1):
                for rest in descending(left - plus - minus, (plus, minus)):
                    yield ((plus, minus), *rest)

    yield from descending(total, (largest, largest))


@lru_cache(maxsize=4096)
def _ghost_ways(total: int, halves: int) -> int:
    """Count the multisets of `_ghost_groups` with so many groups on two sides."""
    return Counter(sum(1 for _, minus in ghosts if minus) for ghosts in _ghost_groups(total, total))[halves]


def _essential(extra: int, count: int, flipped: tuple[int, ...], split: tuple[int, ...]) -> Iterator[tuple[Sides, ...]]:
    """Yield the ways to put so many further neurons on the essential hyperplanes."""

    def on(i: int, left: int) -> Iterator[tuple[Sides, ...]]:
        if i == count:
            if not left:
                yield ()
            return
        for more in range(left + 1):
            for rest in on(i + 1, left - more):
                if i in split:
                    for plus in range(more + 1):
                        yield ((1 + plus, 1 + more - plus), *rest)
                else:
                    yield ((0, 1 + more), *rest) if i in flipped else ((1 + more, 0), *rest)

    yield from on(0, extra)


def _essential_ways(extra: int, count: int, splits: int) -> int:
    """Count the ways of `_essential`: each hyperplane has one side to choose from, a split one has two.

    This is the number of ways to put so many balls into count + splits boxes.
    """
    boxes = count + splits
    return factorial(extra + boxes - 1) // factorial(extra) // factorial(boxes - 1) if boxes else int(not extra)
