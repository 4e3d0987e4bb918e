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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
from semialg_fibers.questions.stabiliser import BUDGET, stabiliser_order

if TYPE_CHECKING:
    import sympy

MOST_UNITS = 100_000  # of a layer, for an exact factorial


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
        UndecidedSignError: where units are alike for some values of the letters and not for others.

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

    Raises:
        UnsupportedError: for a network with letters.

    >>> net = Network([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])  # relu(x) − relu(−x) = x
    >>> found = averaging(net, [1, 0])
    >>> found.answer.same, found.average([5]), found.distance([[0], [5]])
    (False, (0,), 5)
    """
    net.refuse_letters()
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
        UnsupportedError: for a network with letters.

    >>> net = Network([([[1], [-1]], [0, 1]), ([[1, -1]], [0])])
    >>> found = unit_correlations(net, net.permuted(1, [1, 0]).rescaled(1, [3, 1]), [[-1], [0], [1]])
    >>> found.by_label, found.matched
    ((-sqrt(3)/2, -sqrt(3)/2), (1, 1))
    """
    a.refuse_letters()
    b.refuse_letters()
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
        UnsupportedError: when no hidden unit has a parameter that is not zero, so that rescaling moves nothing, and
            for a network with letters.

    >>> net = Network([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    >>> squared_distance(net, distant_twin(net, 1000)) > 1000**2
    True
    """
    net.refuse_letters()
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
