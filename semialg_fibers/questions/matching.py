"""Which relabelling carries one network to the other? Exact, at any depth.

Main definitions
    UnitMatching      orders and factors of the hidden units, layer by layer

Main results
    match_units       the relabelling that makes b out of a, or None, which is a proof that there is none
    canonical_form    one network for all relabellings of a network: primitive integer rows, sorted

A relabelling is proposed by the colours of `questions.colouring`, which no relabelling changes, and is then checked
exactly. Where several units share a colour, exactly interchangeable ones are merged and the rest is tried out.

References: theory §1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from math import gcd, lcm
from operator import itemgetter, mul
from typing import TYPE_CHECKING, NamedTuple

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import ONE, Vector, primitive, sympy_rational
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.questions.colouring import Choices, Colouring, Groups, refined, searched, word_primes

if TYPE_CHECKING:
    import sympy

Scales = tuple[Vector, ...]
Rule = Callable[[int, int, "Iterator[_Edge]", bool], fmpq | None]

BUDGET = 2_000  # pairs of colourings that may be compared where units look alike


@dataclass(frozen=True)
class UnitMatching:
    """A relabelling of hidden units: new unit i of a layer is old unit order[i], times a positive factor.

    `orders` and `scales` (exact scalars) have one entry per hidden layer, the first layer first; iterating gives the
    pairs (order, factors) with SymPy factors.

    >>> a = Network([([[1], [-2]], [0, 1]), ([[5, 6]], [7])])
    >>> found = match_units(a, a.permuted(1, [1, 0]).rescaled(1, [3, "1/2"]))
    >>> list(found)
    [((1, 0), (3, 1/2))]
    """

    orders: tuple[tuple[int, ...], ...]
    scales: Scales

    @property
    def factors(self) -> tuple[tuple[sympy.Rational, ...], ...]:
        """The positive factors of each hidden layer as SymPy rationals, by new labels."""
        return tuple(tuple(sympy_rational(value) for value in layer) for layer in self.scales)

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], tuple[sympy.Rational, ...]]]:
        """Yield (order, factors) of each hidden layer."""
        return iter(zip(self.orders, self.factors, strict=True))

    def apply(self, net: Network) -> Network:
        """Give the network permuted and then rescaled, layer after layer."""
        for layer, (order, scales) in enumerate(zip(self.orders, self.scales, strict=True), 1):
            net = net.permuted(layer, order).rescaled(layer, scales)
        return net

    def carries(self, a: Network, b: Network) -> bool:
        """Say whether b == apply(a), comparing all entries by multiplying integers crosswise.

        >>> net = Network([([[2]], [4]), ([[3]], [0])])
        >>> double = UnitMatching(((0,),), ((fmpq(2),),))
        >>> double.carries(net, double.apply(net)), double.carries(net, net)
        (True, False)
        """
        hidden = a.widths[1:-1]
        if (a.widths, a.domain) != (b.widths, b.domain) or len(self.orders) != len(hidden):
            return False
        ones = ((ONE,) * a.widths[0], (ONE,) * a.widths[-1])
        scales = [ones[0], *self.scales, ones[1]]
        orders = [tuple(range(a.widths[0])), *self.orders, tuple(range(a.widths[-1]))]
        for order, factors, width in zip(orders, scales, a.widths, strict=True):
            if sorted(order) != list(range(width)) or len(factors) != width or min(factors) <= 0:
                return False
        ends = zip(orders, scales, orders[1:], scales[1:], a.layers, b.layers, strict=False)
        return all(_layer_carried(*each) for each in ends)


@checked
def match_units(a: Network, b: Network, budget: int = BUDGET) -> UnitMatching | None:
    """Give orders and factors with b = (a permuted and then rescaled, layer by layer), or None: there are none.

    None also when the hidden widths or depths differ. Units that are duplicates of each other, dead, or without
    incoming or outgoing weights are no obstacle; a factor that nothing determines is 1. `budget` bounds the choices
    that are tried out among units that look alike without being interchangeable.

    Implements: theory §1.

    Raises:
        InvalidNetworkError: when the domains or the numbers of outputs differ.
        BudgetExceededError: when too many units look alike.

    >>> a = Network([([[1, 0], [1, 1]], [0, 1]), ([[5, 6]], [7])])
    >>> b = a.rescaled(1, ["2/3", 5]).permuted(1, [1, 0])
    >>> match_units(a, b).factors, match_units(a, b).apply(a) == b
    (((5, 2/3),), True)
    >>> match_units(a, Network([([[1, 0], [1, 1]], [0, 1]), ([[5, 7]], [7])])) is None
    True
    """
    a.refuse_letters()
    b.refuse_letters()
    if (a.widths[-1], a.domain) != (b.widths[-1], b.domain):
        raise InvalidNetworkError(
            f"only networks with one domain and one number of outputs can match, got {a.domain}, {a.widths[-1]} and "
            f"{b.domain}, {b.widths[-1]}"
        )
    if a.widths != b.widths:
        return None
    choices = Choices(budget)
    for prime in word_primes():
        with suppress(ZeroDivisionError):  # the prime divides an entry: take another one
            return _matched(a, b, prime, choices)
    raise AssertionError("there are more primes than prime factors of the entries")


def _matched(a: Network, b: Network, prime: int, choices: Choices) -> UnitMatching | None:
    one, other = Colouring.of(a, prime), Colouring.of(b, prime)
    if not refined([one, other]):
        return None
    if one.crowd() is None:
        return _proposed(a, b, one, other, _alone(a), _alone(b))
    merged, others = _interchangeable(a, one), _interchangeable(b, other)
    start = one.merged(merged), other.merged(others)
    return searched(*start, lambda x, y: _proposed(a, b, x, y, merged, others), choices)


def _alone(net: Network) -> Groups:
    return [[[i] for i in range(width)] for width in net.widths[1:-1]]


# exact: scales, comparison, interchangeable units


def _proposed(
    a: Network, b: Network, one: Colouring, other: Colouring, groups: Groups, others: Groups
) -> UnitMatching | None:
    """Give the relabelling that equal colours propose, when it is one."""
    orders = []
    for layer, (mine, theirs) in enumerate(zip(groups, others, strict=True), 1):
        order = [0] * a.widths[layer]
        pairs = zip(one.colours[layer].argsort().tolist(), other.colours[layer].argsort().tolist(), strict=True)
        for i, j in pairs:
            if len(mine[i]) != len(theirs[j]):
                return None
            for old, new in zip(mine[i], theirs[j], strict=True):
                order[new] = old
        orders.append(tuple(order))
    matching = UnitMatching(tuple(orders), _spread(b, _ratio(a, [range(a.widths[0]), *orders, range(a.widths[-1])])))
    return matching if matching.carries(a, b) else None


def _ratio(a: Network, orders: list[Sequence[int]]) -> Rule:
    """Give the rule by which one weight of b and the one of a that is in its place determine a factor.

    Where none fits it gives a factor of 1, which the comparison of all entries then refuses.
    """

    def rule(layer: int, unit: int, edges: Iterator[_Edge], upward: bool) -> fmpq | None:
        edge = next(edges, None)
        if edge is None:
            return None
        old = orders[layer][unit]
        if edge.far is None:
            before = a.layers[layer - 1].offset[old]
        elif upward:
            before = a.layers[layer].matrix[orders[layer + 1][edge.far], old]
        else:
            before = a.layers[layer - 1].matrix[old, orders[layer - 1][edge.far]]
        ratio = before / edge.weight if upward or not before else edge.weight / before
        return ratio * edge.scale if ratio > 0 else ONE

    return rule


class _Edge(NamedTuple):
    far: int | None  # the unit at the other end, None for the bias
    weight: fmpq
    scale: fmpq  # of the other end


def _spread(net: Network, rule: Rule) -> Scales:
    """Give every hidden unit a scale, each from the nonzero weights that tie it to units that have one already.

    First by incoming weights, else by outgoing ones; a part of the network that nothing ties to inputs, biases and
    outputs starts with scale 1 at its first unit.
    """
    known: list[list[fmpq | None]] = [[None] * width for width in net.widths]
    known[0], known[-1] = [ONE] * net.widths[0], [ONE] * net.widths[-1]
    waiting = [(layer, i) for layer in range(1, len(net.layers)) for i in range(net.widths[layer])]
    while waiting:
        left = []
        for layer, i in waiting:
            value = rule(layer, i, _edges(net, known, layer, i, False), False)
            if value is None:
                value = rule(layer, i, _edges(net, known, layer, i, True), True)
                value = ONE if value is None and _is_untied(net, layer, i) else value
            known[layer][i] = value
            if value is None:
                left.append((layer, i))
        if left and len(left) == len(waiting):
            layer, i = left.pop(0)
            known[layer][i] = ONE
        waiting = left
    return tuple(tuple(value for value in layer if value is not None) for layer in known[1:-1])


def _is_untied(net: Network, layer: int, i: int) -> bool:
    """Say whether unit i of a layer has neither incoming nor outgoing weights, nor a bias."""
    below, above = net.layers[layer - 1], net.layers[layer]
    column = (row[i] for row in above.matrix.integer_rows())
    return not (any(below.matrix.integer_rows()[i]) or below.offset[i] or any(column))


def _edges(net: Network, known: list[list[fmpq | None]], layer: int, i: int, upward: bool) -> Iterator[_Edge]:
    """Yield the nonzero weights between unit i of a layer and the units above or below whose scale is known."""
    if upward:
        matrix = net.layers[layer].matrix
        entries: Sequence[int] = [row[i] for row in matrix.integer_rows()]
        below: Sequence[int] = matrix.denominators()
    else:
        matrix = net.layers[layer - 1].matrix
        entries = matrix.integer_rows()[i]
        below = (matrix.denominators()[i],) * len(entries)
    ends = known[layer + 1 if upward else layer - 1]
    for far, value in enumerate(entries):
        scale = ends[far]
        if value and scale is not None:
            yield _Edge(far, fmpq(value, below[far]), scale)
    if not upward and net.layers[layer - 1].offset[i]:
        yield _Edge(None, net.layers[layer - 1].offset[i], ONE)


def _layer_carried(
    columns: tuple[int, ...], inner: Vector, rows: tuple[int, ...], outer: Vector, old: Layer, new: Layer
) -> bool:
    """Say whether new_ij · inner_j = outer_i · old_(rows i, columns j), and so the biases."""
    if any(new.offset[i] != outer[i] * old.offset[at] for i, at in enumerate(rows)):
        return False
    plain = all(value == 1 for value in inner)
    above, below = [int(value.p) for value in inner], [int(value.q) for value in inner]
    pick = None if columns == tuple(range(len(columns))) else itemgetter(*columns)
    for i, at in enumerate(rows):
        ratio = outer[i] * fmpq(new.matrix.denominators()[i], old.matrix.denominators()[at])
        left: Sequence[int] = new.matrix.integer_rows()[i]
        right: Sequence[int] = old.matrix.integer_rows()[at]
        right = right if pick is None else pick(right)
        if not plain:
            left, right = tuple(map(mul, left, above)), tuple(map(mul, right, below))
        p, q = int(ratio.p), int(ratio.q)
        if (left if q == 1 else tuple(map(q.__mul__, left))) != (right if p == 1 else tuple(map(p.__mul__, right))):
            return False
    return True


def _interchangeable(net: Network, colouring: Colouring) -> Groups:
    """Group the units of each hidden layer whose rows are multiples t of one row, their columns of one column by 1/t.

    Exchanging two such units is a symmetry of all parameters, so that it does not matter which is which.
    """
    groups = []
    for layer in range(1, len(net.layers)):
        before, after = net.layers[layer - 1], net.layers[layer]
        colours = colouring.colours[layer].tolist()
        crowded = Counter(colours)
        found: dict[object, list[int]] = {}
        for i, colour in enumerate(colours):
            key: object = i
            if crowded[colour] > 1:
                row, column = (*before.matrix.row(i), before.offset[i]), after.matrix.column(i)
                whole = primitive(row)
                scale = next((value / number for value, number in zip(row, whole, strict=True) if number), None)
                key = (whole, primitive(column) if scale is None else tuple(scale * value for value in column))
            found.setdefault(key, []).append(i)
        groups.append(list(found.values()))
    return groups


# canonical form


@checked
def canonical_form(net: Network, budget: int = BUDGET) -> Network:
    """Give the same network with primitive integer rows [W | b] in all hidden layers, and their units sorted.

    Two networks that are relabellings of each other (permutations and positive factors) have one canonical form. Its
    function is the network's own. Units without incoming weights get a primitive integer outgoing column instead, as
    far as the next layer's rows leave that free. Rows sort as tuples, equal rows by their outgoing weights.

    Implements: theory §1.

    Raises:
        BudgetExceededError: when units look alike and too many ways to sort them would have to be compared.

    >>> net = Network([([["1/2", 1], [0, -3]], [0, 6]), ([[1, 1]], [0])])
    >>> canonical_form(net)
    Network([Layer([['0', '-1'], ['1', '2']], ['2', '0']), Layer([['3', '1/2']], ['0'])], domain=Space(dimension=2))
    """
    net.refuse_letters()
    scaled = _primitive_rows(net)
    if not _ties(scaled):
        return _sorted(scaled)
    choices = Choices(budget)
    for prime in word_primes():
        with suppress(ZeroDivisionError):
            colouring = Colouring.of(scaled, prime)
            refined([colouring])
            groups = _interchangeable(scaled, colouring)
            return _least(scaled, colouring.merged(groups), groups, choices)
    raise AssertionError("there are more primes than prime factors of the entries")


def _least(net: Network, colouring: Colouring, groups: Groups, choices: Choices) -> Network:
    """Give the least of the networks that the ways of telling apart units of one colour lead to."""
    choices.spend()
    refined([colouring])
    crowd = colouring.crowd()
    if crowd is None:
        for layer, found in enumerate(groups, 1):
            net = net.permuted(layer, [i for at in colouring.colours[layer].argsort() for i in found[at]])
        return _sorted(_primitive_rows(net))
    layer, members = crowd
    kept: list[Colouring] = []
    for i in members:
        single = colouring.singled(layer, i)
        # A symmetry of the network that carries one unit to another makes the second choice superfluous.
        if not any(
            searched(each, single, lambda x, y: _proposed(net, net, x, y, groups, groups), choices) for each in kept
        ):
            kept.append(single)
    return min((_least(net, each, groups, choices) for each in kept), key=_entries)


def _entries(net: Network) -> list[object]:
    return [(layer.matrix.integer_rows(), layer.matrix.denominators(), layer.offset) for layer in net.layers]


def _ties(net: Network) -> bool:
    """Say whether units with equal rows have different columns, in a hidden layer before the last."""
    for before, after in pairwise(net.layers[:-1]):
        rows = [(*row, value) for row, value in zip(before.matrix.integer_rows(), before.offset, strict=True)]
        if len(set(rows)) < len(rows):
            both = set(zip(rows, after.matrix.columns(), strict=True))
            if len(both) > len(set(rows)):
                return True
    return False


def _sorted(net: Network) -> Network:
    """Sort the hidden units of each layer by their rows, in the last hidden layer also by their columns."""
    for layer in range(1, len(net.layers)):
        before, after = net.layers[layer - 1], net.layers[layer]
        keys = [(*row, value) for row, value in zip(before.matrix.integer_rows(), before.offset, strict=True)]
        if layer == len(net.layers) - 1:
            keys = [key + column for key, column in zip(keys, after.matrix.columns(), strict=True)]
        net = net.permuted(layer, sorted(range(len(keys)), key=keys.__getitem__))
    return net


def _primitive_rows(net: Network) -> Network:
    """Scale the hidden rows to primitive integer vectors."""
    for layer, factors in enumerate(_spread(net, _content_rule), 1):
        net = net.rescaled(layer, factors)
    for layer in range(1, len(net.layers)):  # a scale that came late, or from above, took no account of the whole row
        below = net.layers[layer - 1]
        rows = zip(below.matrix.integer_rows(), below.matrix.denominators(), below.offset, strict=True)
        contents = [_content((fmpq(gcd(*row), under), constant)) or ONE for row, under, constant in rows]
        if any(value != 1 for value in contents):
            net = net.rescaled(layer, [1 / value for value in contents])
    return net


def _content_rule(layer: int, unit: int, edges: Iterator[_Edge], upward: bool) -> fmpq | None:
    """Make the weights to units that have a scale a primitive integer vector."""
    content = _content([edge.weight * edge.scale if upward else edge.weight / edge.scale for edge in edges])
    return None if not content else content if upward else 1 / content


def _content(values: Sequence[fmpq]) -> fmpq:
    """Give the positive c for which values / c is primitive, 0 for zeros."""
    return fmpq(gcd(*(int(value.p) for value in values)), lcm(*(int(value.q) for value in values)))
