"""What do the known symmetries of a network generate? A sound part of the fiber, for every network.

Main definitions
    SoundFiber      members by composing exact moves; membership True, False, or None where it is open

Main results
    sound_fiber     for networks that `fiber` refuses: wide, deep, not generic; sound, and nothing more is claimed

References: beyond §2.2, §3, §4.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from semialg_fibers.errors import BudgetExceededError, SemialgError, UnsupportedError
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.complete import complete_fiber
from semialg_fibers.fibers.moves import with_column, with_row
from semialg_fibers.fibers.sound_symmetry import Symmetry
from semialg_fibers.fibers.symmetries import bias_shifts, symmetries
from semialg_fibers.geometry.arguments import checked, checked_methods
from semialg_fibers.geometry.scalar import ZERO, Vector
from semialg_fibers.geometry.semialgebraic import random_positive
from semialg_fibers.networks.deformation import CELLS
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.sight import sight_anywhere
from semialg_fibers.questions.equivalence import same_function
from semialg_fibers.questions.matching import match_units

MOVES = 2  # symmetries that `sample` composes, besides a relabelling
FLIPS = 32  # compositions of flips that `contains` tries


@checked_methods("contains", "sample")
@dataclass(frozen=True)
class SoundFiber:
    """All that the known symmetries generate from a network. Every member has the network's function, exactly.

    It need not be the whole fiber, and is not claimed to be.
    """

    network: Network
    budget: int

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The symmetries of the network itself; those of other members can be more or fewer."""
        return symmetries(self.network, self.budget)

    def sample(self, seed: int = 0) -> Network:
        """Give a member: some random moves, each found anew at the network reached, and a random relabelling.

        Raises:
            BudgetExceededError: when the cells of a network on the way are too many.
        """
        rng = random.Random(seed)
        net = self.network
        for step in range(MOVES):
            known = self.symmetries if step == 0 else symmetries(net, self.budget)
            proper = [found for found in known if found.kind not in ("permutation", "scaling")]
            if proper:
                with suppress(BudgetExceededError):  # a move without a small enough step is left out
                    net = rng.choice(proper).sample(rng.randrange(2**20))
        for layer in range(1, len(net.layers)):
            size = net.layers[layer - 1].outputs
            net = net.permuted(layer, rng.sample(range(size), size))
            net = net.rescaled(layer, [random_positive(rng) for _ in range(size)])
        return net

    def contains(self, net: Network) -> bool | None:
        """Say whether the network is generated: True with a way found, False when its function is another, else None.

        Ways that are looked for: the complete fiber of one hidden layer, a component of `fiber`, relabellings after
        flips and shifts of biases, up to the free weights of dead units.
        """
        own = self.network
        if net.widths != own.widths or net.domain != own.domain:
            return False
        if len(own.layers) == 2:
            return complete_fiber(own).contains(net)
        same = same_function(own, net).same
        if same is not True:
            return same
        with suppress(SemialgError):
            if fiber(own).contains(net):
                return True
        with suppress(BudgetExceededError, UnsupportedError):
            goal = settled(net, self.budget)
            return True if any(match_units(settled(each, self.budget), goal) for each in self._flipped()) else None
        return None

    def _flipped(self) -> Iterator[Network]:
        kinds = [found for found in self.symmetries if found.kind == "sign flip"]
        count = 0
        for size in range(len(kinds) + 1):
            for chosen in combinations(kinds, size):
                count += 1
                if count > FLIPS:
                    return
                net = self.network
                for found in chosen:
                    net = found._act(net, None)
                if size < 2 or same_function(self.network, net).same:
                    yield net


def settled(net: Network, budget: int = CELLS) -> Network:
    """Give the network with dead units emptied and each bias that can be shifted at an end of its interval, or at 0.

    Members that differ by one shift have the same settled network; several at once may be settled differently.

    Raises:
        BudgetExceededError: when there are more cells than the budget.
    """
    done: set[tuple[int, tuple[int, ...]]] = set()
    while True:
        found = next((each for each in bias_shifts(net, budget) if (each.layer, each.units) not in done), None)
        if found is None or found.ends is None:
            return without_dead(net, budget)
        done.add((found.layer, found.units))
        low, high = found.ends
        end = low if low is not None else high
        net = found.move(-net.layers[found.layer - 1].offset[found.units[0]] if end is None else end)


def without_dead(net: Network, budget: int = CELLS) -> Network:
    """Give the network with all weights of units that are never active replaced by zero: the same function.

    Raises:
        BudgetExceededError: when there are more cells than the budget.
    """
    seen = sight_anywhere(net, budget)
    for layer in range(1, len(net.layers)):
        for unit in range(net.layers[layer - 1].outputs):
            if not seen.is_ever_active(layer, unit):
                nothing: Vector = (ZERO,) * (net.layers[layer - 1].inputs + 1)
                net = with_row(net, layer, unit, nothing)
                net = with_column(net, layer + 1, unit, (ZERO,) * net.layers[layer].outputs)
    return net


@checked
def sound_fiber(net: Network, budget: int = CELLS) -> SoundFiber:
    """Give what the known symmetries of a network of any depth and width generate.

    Implements: beyond §2.2, §4.

    >>> net = Network([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, -1, -2]], [-1]), ([[1]], [0])])
    >>> found = sound_fiber(net)
    >>> found.contains(found.sample(1)), found.contains(Network([*net.layers[:2], ([[2]], [0])]))
    (True, False)
    """
    return SoundFiber(net, budget)
