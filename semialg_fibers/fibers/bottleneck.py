"""The fiber: all parameters of one function, for one hidden layer and for three-layer bottleneck networks.

Main definitions
    Fiber      a union of components, sound always, complete for generic members

Main results
    fiber      the fiber of a network, or the hypothesis that fails

References: theory §1, §2.3, §3.4, §3.5.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache

from semialg_fibers.errors import BudgetExceededError, NotGenericError, UnsupportedError
from semialg_fibers.fibers import line
from semialg_fibers.fibers.block import block_of
from semialg_fibers.fibers.component import Family, FiberComponent, LazySequence
from semialg_fibers.fibers.constant_component import ConstantComponent, ConstantFamily
from semialg_fibers.fibers.genericity import Genericity, genericity, is_bottleneck, why_unsupported
from semialg_fibers.fibers.hidden_component import HiddenFamily, HiddenFrame
from semialg_fibers.fibers.hiding import hidden_hyperplanes, hiding
from semialg_fibers.fibers.one_hidden_layer import OrientationFamily, scalings
from semialg_fibers.geometry.arguments import checked, checked_methods
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import DEAD, LINEAR, neuron_types


@checked_methods("locate", "contains", "sample")
@dataclass(frozen=True)
class Fiber:
    """F(θ), a union of semi-algebraic components, up to relabelling of hidden units.

    *Sound*: every member of every component is in the fiber, exactly (no genericity needed). *Complete*: every generic
    θ' in the fiber lies in one of the components. The fiber also has non-generic members that no component contains.
    """

    network: Network
    families: tuple[Family, ...]
    genericity: Genericity

    @cached_property
    def components(self) -> LazySequence:
        """The components, θ's own first, then by size of S and lexicographically; computed as far as they are read."""
        return LazySequence(self._all, lambda: self.component_count)

    def _all(self) -> Iterator[FiberComponent]:
        for family in self.families:
            yield from family.components()

    @cached_property
    def component_count(self) -> int:
        """The number of components up to relabelling of units; visible ones may have no generic member.

        Implements: theory §2.6, §3.4.

        Raises:
            BudgetExceededError: when the count is open within the budget.
        """
        return sum(family.count() for family in self.families)

    @property
    def labelled_count(self) -> int:
        """The number of labelled copies: Σ over components of n1! · n2!/(number of exchangeable units)!."""
        return sum(family.count() * family.copies for family in self.families)

    @cached_property
    def dimension(self) -> int:
        """The largest dimension of a component.

        Raises:
            BudgetExceededError: when not all components could be looked at.
        """
        return max(family.largest_dimension() for family in self.families)

    @cached_property
    def local_dimension(self) -> int | None:
        """The dimension at the given network; None where the closed form is not valid.

        Implements: theory §2.5, §3.4.
        """
        family = self.families[0]
        if not isinstance(family, OrientationFamily):
            return family.largest_dimension()
        inner, outer = self.network.layers[-2:]
        kinds = neuron_types(self.network, len(self.network.layers) - 1)
        linear = [j for j, kind in enumerate(kinds) if kind == LINEAR]
        local = family.block.problem.local_dimension(
            inner.matrix.select(rows=linear), outer.matrix.select(columns=linear)
        )
        return None if local is None else local + scalings(family.first)

    @property
    def complete(self) -> bool | None:
        """True when genericity was verified, None when some condition was not decided; complete for generic members."""
        return True if self.genericity.is_generic and not self.assumptions else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was not decided, on which completeness then rests: hypotheses, or that no further S is feasible."""
        blocks = [family.block.problem for family in self.families if isinstance(family, OrientationFamily)]
        open_sides = () if all(problem.is_countable for problem in blocks) else ("further choices of sides",)
        return self.genericity.undecided + open_sides

    def locate(self, net: Network) -> FiberComponent | None:
        """Give a component that contains the network under some labelling, or None."""
        return next((found for family in self.families if (found := family.locate(net)) is not None), None)

    def contains(self, net: Network) -> bool:
        """Say whether the network lies in one of the components, under any labelling of its hidden units."""
        return self.locate(net) is not None

    def sample(self, seed: int = 0) -> Network:
        """Give an exact member of some component with its hidden units relabelled at random; seeded.

        Only the first 64 components are drawn from, so that a fiber of any size can be sampled; with letters, those of
        them that are there for all values.
        """
        rng = random.Random(seed)
        first = [component for component in first_components(self, 64) if component.condition.always]
        net = rng.choice(first).draw(rng)
        for layer in range(1, len(net.layers)):
            order = list(range(net.layers[layer - 1].outputs))
            rng.shuffle(order)
            net = net.permuted(layer, order)
        return net

    def __repr__(self) -> str:
        """Name the network and the completeness."""
        return f"<fiber of {self.network}, complete={self.complete}>"


def first_components(found: Fiber, most: int) -> list[FiberComponent]:
    """Give the first components, at most so many; fewer where the search for more exceeds its budget."""
    listed: list[FiberComponent] = []
    with suppress(BudgetExceededError):
        for component in found.components:
            listed.append(component)
            if len(listed) == most:
                break
    return listed


@checked
def fiber(net: Network) -> Fiber:
    """Give F(θ), the explicit union of semi-algebraic components of all parameters with the same function.

    For one hidden layer on its domain, and for three layers with n1 ≤ d on R^d.

    Implements: theory §2.3, §3.4, §3.5.

    Raises:
        UnsupportedError: where no theorem applies.
        NotGenericError: where one of the conditions G1 to G5 is violated; `.report` is the `Genericity`.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> found = fiber(net)
    >>> found.dimension, found.component_count, found.complete
    (4, 2, True)
    """
    return _found(net)


@lru_cache(maxsize=8)
def _found(net: Network) -> Fiber:
    if isinstance(net.domain, Polyhedron) or (len(net.layers) != 2 and not is_bottleneck(net)):
        raise UnsupportedError(why_unsupported(net))
    report = genericity(net)
    if report.is_generic is False:
        lines = "; ".join(str(condition) for condition in report.conditions if condition.verdict is False)
        raise NotGenericError(f"the network is not generic: {lines}", report=report)
    return Fiber(net, tuple(_families(net)), report)


def _families(net: Network) -> list[Family]:
    last = len(net.layers) - 1
    kinds = neuron_types(net, last)
    if last == 1:
        return [OrientationFamily(block_of(net, kinds), net.widths)]
    if all(kind == DEAD for kind in kinds):
        return [ConstantFamily(ConstantComponent(net.widths, net.layers[-1].offset))]
    if net.widths[1] == 1:
        return line.families_of(net)
    hidden = hidden_hyperplanes(net)
    if hidden:
        return [HiddenFamily(_frame(net, hidden[0], kinds))]
    return [OrientationFamily(block_of(net.part(2, 3), kinds), net.widths, net.layers[0])]


def _frame(net: Network, column: int, kinds: tuple[str, ...]) -> HiddenFrame:
    """Take a network with a hidden hyperplane to pieces."""
    first, second, third = net.layers
    found = hiding(net)
    alive = tuple(j for j, kind in enumerate(kinds) if kind != DEAD)
    return HiddenFrame(
        net.widths,
        column,
        first.forms,
        alive,
        tuple(second.forms[j] for j in alive),
        tuple(third.matrix.column(j) for j in alive),
        tuple(j for j, kind in enumerate(kinds) if kind == DEAD),
        third.offset,
        dict(found.ratios[column]),
        {k: tuple(v for v in values) for k, values in found.conditions.items()},
    )
