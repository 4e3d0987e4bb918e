"""Do the closures of two components of a fiber meet? With a common point, with a contradiction, or not decided.

Main definitions
    Meet, Apart, Open      the three answers, each with its reason

Main results
    closures_meet          for two components, under every labelling of the hidden units within a budget
    closure_graph          the same for all pairs of a fiber's first components

A common point is found at the ends of the ranges of one component's parametrization (the image is continuous there, so
the point is a limit of members), and shown to be such an end of the other's, too. That closures do not meet is shown on
the conditions with every strict inequality made weak, which hold on the closure: two equations that differ by a
constant only, or a product that is not zero with a factor that both signs force to be.

References: theory §2.3, §3.4, §3.5.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import factorial, prod
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.fibers.bottleneck import Fiber, first_components
from semialg_fibers.fibers.component import FiberComponent, Parametrization
from semialg_fibers.fibers.letters import Letters
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.semialgebraic import BasicSet
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    import sympy

LABELLINGS = 150  # the most relabellings of hidden units that are tried
SEEDS = 2  # random members whose ends are tried


@dataclass(frozen=True)
class Meet:
    """Yes: `point` is a limit of members of both components, for some labelling of the units of each."""

    point: Network
    reason: str = "a common limit of members"
    meets = True


@dataclass(frozen=True)
class Apart:
    """No, and why."""

    reason: str
    meets = False


@dataclass(frozen=True)
class Open:
    """Neither was shown."""

    reason: str
    meets = None


Answer = Meet | Apart | Open


@checked
def closures_meet(a: FiberComponent, b: FiberComponent, budget: int = LABELLINGS) -> Answer:
    """Say whether the closures of two components meet under some labelling of their hidden units.

    Implements: theory §3.5.

    >>> from semialg_fibers import gallery
    >>> from semialg_fibers.fibers.bottleneck import fiber
    >>> own, other = fiber(gallery.network("hidden_2_2_2_1")).components
    >>> print(closures_meet(own, other).reason)
    for every labelling, conditions that hold on both closures contradict each other
    """
    if a.letters or b.letters:
        return Open("the components have letters: put numbers for them")
    count = prod(factorial(width) for width in a.widths[1:-1])
    for first, second in ((a, b), (b, a)):
        for end in _ends(first):
            for relabelled in _labellings(end, budget):
                if is_limit(second, relabelled):
                    return Meet(relabelled)
    if count > budget:
        return Open(f"there are {count} labellings of the hidden units, more than the budget of {budget}")
    fixed = [_Closed.of(part) for part in b.set.parts]
    for part in a.set.parts:
        for names in _renamings(a.widths):
            moved = _Closed.of(part, names)
            if not all(moved.contradicts(other) for other in fixed):
                return Open("no common limit was found, and no contradiction between the conditions")
    return Apart("for every labelling, conditions that hold on both closures contradict each other")


def closure_graph(found: Fiber, most: int = 16) -> dict[tuple[int, int], Answer]:
    """Give the answer for each pair i < j of the first components.

    Implements: theory §3.5.

    >>> from semialg_fibers import gallery
    >>> from semialg_fibers.fibers.bottleneck import fiber
    >>> {pair: answer.meets for pair, answer in closure_graph(fiber(gallery.network("line_hidden_1_1_2_1"))).items()}
    {(0, 1): True, (0, 2): False, (1, 2): False}
    """
    listed = first_components(found, most)
    return {(i, j): closures_meet(listed[i], listed[j]) for i, j in combinations(range(len(listed)), 2)}


# limits


def is_limit(component: FiberComponent, net: Network) -> bool:
    """Say whether the network is seen to be a limit of members, in the labelling of the given network.

    Its symbols exist in one of the images once `>` is read as `≥`, and all entries are finite there. Where equations
    tie the symbols only members themselves count: the ends of a curved range need not be limits.
    """
    for image in component.parametrizations:
        for asked in (image, _weak(image)):
            try:
                asked.coordinates(net)
            except (InvalidNetworkError, ZeroDivisionError):
                continue
            return True
    return False


def _weak(image: Parametrization) -> Parametrization:
    import sympy

    if image.equations:
        return image
    weak = {">": sympy.Ge, ">=": sympy.Ge, "<": sympy.Le, "<=": sympy.Le}
    # evaluate=False: λ ≥ 0 would be "true" for a λ that is declared positive
    ranges = tuple(weak[r.rel_op](r.lhs, r.rhs, evaluate=False) for r in image.ranges)
    return Parametrization(image.symbols, ranges, image.equations, image.network)


def _ends(component: FiberComponent) -> Iterator[Network]:
    """Yield limits of members: some of the symbols that have an end moved there, scalings and ties left alone."""
    for image in component.parametrizations:
        below = {
            symbol
            for weight, bias in image.network
            for entry in (*weight, *bias)
            for symbol in _denominator_symbols(entry)
        }
        tied = {symbol for equation in image.equations for symbol in equation.free_symbols}
        ends = {
            relation.lhs: relation.rhs
            for relation in image.ranges
            if relation.lhs.is_Symbol and relation.rhs.is_Rational and relation.lhs not in below | tied
        }
        weak = _weak(image)
        for seed in range(SEEDS):
            try:
                values: dict[Any, Any] = image.coordinates(component.draw(random.Random(seed)))
            except InvalidNetworkError:
                continue
            for chosen in product((True, False), repeat=min(len(ends), 6)):
                moved = {s: end for (s, end), take in zip(ends.items(), chosen, strict=False) if take}
                try:
                    yield weak.at(values | moved, component.domain)
                except InvalidNetworkError:
                    continue


def _denominator_symbols(entry: Any) -> set[Any]:
    import sympy

    found: set[Any] = sympy.denom(sympy.together(sympy.sympify(entry))).free_symbols
    return found


def _labellings(net: Network, budget: int) -> Iterator[Network]:
    """Yield the network under each labelling of its hidden units, as many as the budget allows."""
    orders = product(*(permutations(range(width)) for width in net.widths[1:-1]))
    for _, chosen in zip(range(budget), orders, strict=False):
        relabelled = net
        for layer, order in enumerate(chosen, 1):
            relabelled = relabelled.permuted(layer, order)
        yield relabelled


# contradictions


@dataclass(frozen=True)
class _Closed:
    """What holds on the closure: equations polynomial = constant, and the signs that variables may have."""

    equations: dict[Any, Any]
    signs: dict[Any, frozenset[int]]

    @classmethod
    def of(cls, part: BasicSet, names: dict[Any, Any] | None = None) -> _Closed:
        """Take the conditions of a set, with its variables renamed."""
        renamed = names or {}
        equations = dict(_normal(equation.xreplace(renamed)) for equation in part.equations)
        signs: dict[Any, frozenset[int]] = {}
        for condition in (*part.positive, *part.nonnegative):
            factor, rest = condition.xreplace(renamed).as_coeff_Mul()
            if rest.is_Symbol:
                allowed = frozenset((0, 1 if factor > 0 else -1))
                signs[rest] = signs.get(rest, allowed) & allowed
        return cls(equations, signs)

    def contradicts(self, other: _Closed) -> bool:
        """Say whether no point satisfies both, as far as is seen."""
        if any(other.equations.get(left, value) != value for left, value in self.equations.items()):
            return True
        everything = frozenset((-1, 0, 1))
        zero = {
            variable
            for variable in {*self.signs, *other.signs}
            if self.signs.get(variable, everything) & other.signs.get(variable, everything) == {0}
        }
        both = [*self.equations.items(), *other.equations.items()]
        zero |= {left for left, value in both if left.is_Symbol and not value}
        return any(
            value != 0 and all(term.free_symbols & zero for term in left.as_ordered_terms()) for left, value in both
        )


def _normal(equation: sympy.Expr) -> tuple[Any, Any]:
    """Write an equation as polynomial without constant term = constant, up to a factor in one way only."""
    import sympy

    expanded = sympy.expand(equation)
    constant, rest = expanded.as_coeff_Add()
    leading = rest.as_ordered_terms()[0].as_coeff_Mul()[0]
    return sympy.expand(rest / leading), -constant / leading


def _renamings(widths: Sequence[int]) -> Iterator[dict[Any, Any]]:
    """Yield the variables' new names under each labelling of the hidden units."""
    letters = Letters(widths)
    depth = len(widths) - 1
    for chosen in product(*(permutations(range(width)) for width in widths[1:-1])):
        orders = [tuple(range(widths[0])), *chosen, tuple(range(widths[-1]))]
        names = {}
        for layer in range(1, depth + 1):
            before, after = orders[layer - 1], orders[layer]
            for i in range(widths[layer]):
                names[letters.bias(layer, i)] = letters.bias(layer, after[i])
                for j in range(widths[layer - 1]):
                    names[letters.weight(layer, i, j)] = letters.weight(layer, after[i], before[j])
        yield names
