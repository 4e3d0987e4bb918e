"""How many relabellings does a network have, and what do they forbid?

Main results
    relabelling_count       how many different parameters the relabellings of hidden units give: an exact integer
    averaging               the mean of a network and a relabelled copy is another function: a witness
    unit_correlations       correlations unit by unit depend on the labelling; `match_units` repairs them
    distant_twin            the same function, as far away in the parameters as you like, by rescaling
    distant_relabelling     ... and by relabelling, for a network that depends on the distance

References: theory §8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import factorial, floor, prod
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.arguments import checked, whole_number
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, exact, shown, sympy_rational, vector
from semialg_fibers.networks.expected import expect_network
from semialg_fibers.networks.layer import Layer, Network, relu
from semialg_fibers.questions.equivalence import Answer, same_function
from semialg_fibers.questions.matching import UnitMatching, match_units

if TYPE_CHECKING:
    import sympy

MOST_UNITS = 100_000  # of a layer, for an exact factorial
BUDGET = 20_000_000  # weights that may be looked at in the search for symmetric relabellings


class RelabellingCount(int):
    """An exact integer that also knows its logarithm."""

    def log10(self, digits: int = 15) -> sympy.Float:
        """Give log10 to so many digits.

        Raises:
            InvalidNetworkError: for fewer than one digit or more than 10,000, and another type.

        >>> print(relabelling_count(512).log10(50))
        1166.5412408857692271245202328980587482588061931915
        """
        import mpmath
        import sympy

        places = whole_number(digits)
        if places is None or not 1 <= places <= 10_000:
            raise InvalidNetworkError(f"log10 is given to 1..10,000 digits, got {shown(digits)}", value=digits)
        with mpmath.workdps(places + 15):
            return sympy.Float(mpmath.log10(mpmath.mpf(int(self))), places)


@checked
def relabelling_count(subject: int | Network, budget: int = BUDGET) -> RelabellingCount:
    """Count the parameters that relabelling hidden units gives: n! for n different units, ∏ n_l! / |stabiliser| else.

    For one hidden layer that is n!/∏ m_c!, m_c the number of copies of each unit. `budget` bounds the search for
    symmetric relabellings of deeper networks, in weights looked at.

    Implements: theory §8.

    Raises:
        InvalidNetworkError: for a negative number or another type.
        BudgetExceededError: for more than `MOST_UNITS` units in a layer, or when the search is too long.

    >>> relabelling_count(8), relabelling_count(Network([([[1], [1], [2]], [0, 0, 0]), ([[1, 1, 1]], [0])]))
    (40320, 3)
    >>> net = Network([([[1], [1]], [0, 0]), ([[1, 2], [2, 1]], [0, 0]), ([[1, 1]], [0])])
    >>> relabelling_count(net)  # 2! 2! labellings, but the same swap in both layers changes nothing
    2
    """
    if isinstance(subject, int) and subject < 0:
        raise InvalidNetworkError(f"expected a number of units or a network, got {subject!r}", value=subject)
    widths = (subject,) if isinstance(subject, int) else subject.widths[1:-1]
    if max(widths, default=0) > MOST_UNITS:
        raise BudgetExceededError(f"a layer of {max(widths):,} units has more than {MOST_UNITS:,}")
    labellings = prod(map(factorial, widths))
    return RelabellingCount(labellings if isinstance(subject, int) else labellings // stabiliser_order(subject, budget))


def stabiliser_order(net: Network, budget: int = BUDGET) -> int:
    """Give the number of relabellings of hidden units that leave every parameter as it is.

    Copies of one unit are counted by factorials and merged; the rest by orbits and stabilisers, where colour refinement
    decides which units can be exchanged.

    Raises:
        BudgetExceededError: when more than `budget` weights would have to be looked at.
    """
    expect_network(net)
    merged = _Merged.of(net)
    copies = prod(factorial(count) for counts in merged.copies for count in counts)
    if all(len(set(row)) == len(row) for row in merged.biases):  # each unit keeps its own bias: nothing can move
        return copies
    return copies * _Search(merged, budget).order(())


@dataclass(frozen=True)
class _Merged:
    """A network with the copies of each hidden unit merged; parameters as small integers that name their values."""

    copies: tuple[tuple[int, ...], ...]  # of each hidden unit, layer by layer
    biases: tuple[tuple[int, ...], ...]
    weights: tuple[tuple[tuple[int, ...], ...], ...]  # of each layer, rows × columns

    @classmethod
    def of(cls, net: Network) -> _Merged:
        names: dict[fmpq, int] = {}

        def named(value: fmpq) -> int:
            return names.setdefault(value, len(names))

        rows = [[tuple(map(named, row)) for row in layer.matrix.rows()] for layer in net.layers]
        biases = [tuple(map(named, layer.offset)) for layer in net.layers]
        kept: list[list[int]] = [list(range(net.widths[0]))]
        copies = []
        for layer in range(len(net.layers) - 1):
            columns = list(zip(*rows[layer + 1], strict=True))
            units: dict[Any, list[int]] = {}
            for i, key in enumerate(zip(rows[layer], biases[layer], columns, strict=True)):
                units.setdefault(key, []).append(i)
            kept.append([same[0] for same in units.values()])
            copies.append(tuple(map(len, units.values())))
        kept.append(list(range(net.widths[-1])))
        weights = tuple(
            tuple(tuple(rows[layer][i][j] for j in below) for i in above)
            for layer, (below, above) in enumerate(pairwise(kept))
        )
        offsets = tuple(tuple(biases[layer][i] for i in kept[layer + 1]) for layer in range(len(net.layers) - 1))
        return cls(tuple(copies), offsets, weights)


Unit = tuple[int, int]  # hidden layer from 1, index
Colours = list[list[int]]  # of inputs, hidden units and outputs


@dataclass
class _Search:
    """The automorphisms of a merged network, by colour refinement; two labellings are refined side by side."""

    net: _Merged
    left: int

    def order(self, fixed: tuple[Unit, ...]) -> int:
        """Give the number of automorphisms that fix these units: an orbit times a stabiliser."""
        (colours,) = self._refined([fixed])
        cell = _crowd(colours)
        if cell is None:
            return 1
        layer, first, others = cell
        fix = (*fixed, (layer, first))
        orbit = 1 + sum(self._carries(fix, (*fixed, (layer, other))) for other in others)
        return orbit * self.order(fix)

    def _carries(self, one: tuple[Unit, ...], other: tuple[Unit, ...]) -> bool:
        """Say whether an automorphism carries these units to those, in this order."""
        left, right = self._refined([one, other])
        if any(Counter(a) != Counter(b) for a, b in zip(left, right, strict=True)):
            return False
        cell = _crowd(left)
        if cell is None:  # all units have a colour of their own, so the colours are the automorphism
            return True
        layer, first, _ = cell
        colour = left[layer][first]
        targets = (i for i, each in enumerate(right[layer]) if each == colour)
        return any(self._carries((*one, (layer, first)), (*other, (layer, i))) for i in targets)

    def _refined(self, fixed: Sequence[tuple[Unit, ...]]) -> list[Colours]:
        """Colour the units of one or two copies of the network until nothing more can be told apart."""
        coloured = [self._first(units) for units in fixed]
        kinds = 0
        while True:
            self.left -= len(fixed) * 2 * sum(len(rows) * len(rows[0]) for rows in self.net.weights)
            if self.left < 0:
                raise BudgetExceededError("the search for symmetric relabellings is beyond its budget")
            signatures = [self._signatures(colours) for colours in coloured]
            names = {
                key: i for i, key in enumerate(sorted({key for each in signatures for row in each for key in row}))
            }
            coloured = [
                [colours[0], *([names[key] for key in row] for row in each), colours[-1]]
                for colours, each in zip(coloured, signatures, strict=True)
            ]
            found = len(names)
            if found == kinds:
                return coloured
            kinds = found

    def _first(self, units: tuple[Unit, ...]) -> Colours:
        hidden = [[0] * len(row) for row in self.net.biases]
        for number, (layer, i) in enumerate(units, 1):
            hidden[layer - 1][i] = number
        return [list(range(len(self.net.weights[0][0]))), *hidden, list(range(len(self.net.weights[-1])))]

    def _signatures(self, colours: Colours) -> list[list[tuple[Any, ...]]]:
        result = []
        for layer, (biases, copies) in enumerate(zip(self.net.biases, self.net.copies, strict=True), 1):
            below, above = self.net.weights[layer - 1], list(zip(*self.net.weights[layer], strict=True))
            result.append(
                [
                    (layer, colours[layer][i], biases[i], copies[i], *_seen(below[i], colours[layer - 1]),
                     *_seen(above[i], colours[layer + 1]))
                    for i in range(len(biases))
                ]
            )  # fmt: skip
        return result


def _seen(weights: Sequence[int], colours: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs (weight, colour at the other end), sorted."""
    return iter(sorted(zip(weights, colours, strict=True)))


def _crowd(colours: Colours) -> tuple[int, int, list[int]] | None:
    """Give the first hidden units that share a colour: layer, one unit, the others; None when there are none."""
    for layer, row in enumerate(colours[1:-1], 1):
        count = Counter(row)
        for i, colour in enumerate(row):
            if count[colour] > 1:
                return layer, i, [j for j in range(i + 1, len(row)) if row[j] == colour]
    return None


# Three consequences


@dataclass(frozen=True)
class Averaging:
    """A network, a relabelled copy, and the network of their mean parameters, with what that one computes instead."""

    network: Network
    relabelled: Network
    average: Network
    answer: Answer

    def distance(self, points: Iterable[Iterable[Any]]) -> sympy.Rational:
        """Give the largest difference |f_i(x) − average_i(x)| over the points, exactly."""
        values = ((self.network.value(x), self.average.value(x)) for x in map(vector, points))
        largest = max((abs(a - b) for left, right in values for a, b in zip(left, right, strict=True)), default=ZERO)
        return sympy_rational(largest)


@checked
def averaging(net: Network, order: Sequence[int], layer: int = 1) -> Averaging:
    """Average a network and its copy with the units of a hidden layer relabelled: in general another function.

    The answer carries the witness (`Different.witness`), or the proof that here it is the same function.

    Implements: theory §8.

    >>> net = Network([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])  # relu(x) − relu(−x) = x
    >>> found = averaging(net, [1, 0])
    >>> found.answer.same, found.average([5]), found.distance([[0], [5]])
    (False, (0,), 5)
    """
    other = net.permuted(layer, order)
    half = fmpq(1, 2)

    def mean(a: Sequence[fmpq], b: Sequence[fmpq]) -> list[fmpq]:
        return [half * (p + q) for p, q in zip(a, b, strict=True)]

    layers = [
        Layer(Matrix(list(map(mean, a.matrix.rows(), b.matrix.rows()))), mean(a.offset, b.offset))
        for a, b in zip(net.layers, other.layers, strict=True)
    ]
    average = net.with_layers(layers)
    return Averaging(net, other, average, same_function(net, average))


@dataclass(frozen=True)
class Correlations:
    """Correlation of each unit of a hidden layer of one network with the unit of the same number of another.

    `by_label` takes the labels as they are, `matched` after `match_units` (None when the networks do not match). A
    unit that is constant on the points has no correlation: None.
    """

    by_label: tuple[sympy.Expr | None, ...]
    matched: tuple[sympy.Expr | None, ...] | None
    matching: UnitMatching | None


@checked
def unit_correlations(a: Network, b: Network, points: Iterable[Iterable[Any]], layer: int = 1) -> Correlations:
    """Correlate the units of a hidden layer of two networks over the points, before and after matching their labels.

    Implements: theory §8.

    Raises:
        InvalidNetworkError: when there is no such hidden layer, or the layers have different widths.

    >>> net = Network([([[1], [-1]], [0, 1]), ([[1, -1]], [0])])
    >>> found = unit_correlations(net, net.permuted(1, [1, 0]).rescaled(1, [3, 1]), [[-1], [0], [1]])
    >>> found.by_label, found.matched
    ((-sqrt(3)/2, -sqrt(3)/2), (1, 1))
    """
    if not 1 <= layer < min(len(a.layers), len(b.layers)) or a.widths[layer] != b.widths[layer]:
        raise InvalidNetworkError(f"both networks need a hidden layer {layer}, of the same width", layer=layer)
    inputs = [vector(x) for x in points]
    before, after = (_activations(net, inputs, layer) for net in (a, b))
    matching = match_units(a, b)
    matched = None
    if matching is not None:
        order = matching.orders[layer - 1]  # unit i of b is unit order[i] of a
        place = {old: new for new, old in enumerate(order)}
        matched = tuple(_correlation(row, after[place[i]]) for i, row in enumerate(before))
    return Correlations(tuple(map(_correlation, before, after)), matched, matching)


def _activations(net: Network, points: Sequence[Vector], layer: int) -> list[Vector]:
    values = []
    for x in points:
        for each in net.layers[:layer]:
            x = relu(each.apply(x))
        values.append(x)
    return [tuple(column) for column in zip(*values, strict=True)]


def _correlation(a: Vector, b: Vector) -> sympy.Expr | None:
    import sympy

    count = fmpq(len(a))
    (p, q) = ([value - sum(each, ZERO) / count for value in each] for each in (a, b))
    pp, pq, qq = (sum((x * y for x, y in zip(*pair, strict=True)), ZERO) for pair in ((p, p), (p, q), (q, q)))
    if not pp or not qq:
        return None
    return sympy_rational(pq) / sympy.sqrt(sympy_rational(pp * qq))


def squared_distance(a: Network, b: Network) -> sympy.Rational:
    """Give the squared Euclidean distance of two parameter vectors.

    Raises:
        InvalidNetworkError: when the widths differ.
    """
    expect_network(a, b)
    if a.widths != b.widths:
        raise InvalidNetworkError(f"parameters of widths {a.widths} and {b.widths} have no distance")
    pairs = zip(a.parameters.values(), b.parameters.values(), strict=True)
    return sympy_rational(sum(((p - q) * (p - q) for p, q in pairs), ZERO))


@checked
def distant_twin(net: Network, bound: Any) -> Network:
    """Give a network of the same function at parameter distance greater than `bound`: one hidden unit rescaled.

    Implements: theory §8.

    Raises:
        UnsupportedError: when no hidden unit has a parameter that is not zero, so that rescaling moves nothing.

    >>> net = Network([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    >>> squared_distance(net, distant_twin(net, 1000)) > 1000**2
    True
    """
    least = max(exact(bound), ZERO)
    for layer in range(1, len(net.layers)):
        below, above = net.layers[layer - 1], net.layers[layer]
        for i, form in enumerate(below.forms):
            largest = max(map(abs, form))
            outgoing = max(abs(row[i]) for row in above.matrix.rows())
            if not largest and not outgoing:
                continue
            factor = fmpq(2 + floor(least / (largest or outgoing)))
            factors = [ONE] * below.outputs
            factors[i] = factor if largest else 1 / factor
            return net.rescaled(layer, factors)
    raise UnsupportedError("no hidden unit has a parameter other than zero: rescaling moves nothing")


def distant_relabelling(bound: Any) -> tuple[Network, Network]:
    """Give a network and its relabelling at parameter distance greater than `bound`.

    One network has finitely many relabellings, so the network depends on the bound.

    Implements: theory §8.

    >>> a, b = distant_relabelling(10**6)
    >>> a.permuted(1, [1, 0]) == b, squared_distance(a, b) > 10**12
    (True, True)
    """
    net = Network([([[max(exact(bound), ZERO) + 1], [0]], [0, 1]), ([[1, 2]], [0])])
    return net, net.permuted(1, [1, 0])
