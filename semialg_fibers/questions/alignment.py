"""Which units of two close networks belong together? A heuristic in floats, which proves nothing.

Main definitions
    Alignment    the relabelling that was found, and the distances before and after

Main results
    align        linear assignments of the rows [incoming | outgoing], layer by layer
    assigned     one linear assignment of least cost

The exact question, whether one network is a relabelling of the other, is `questions.matching`.

References: theory §1; R. Jonker, A. Volgenant, A shortest augmenting path algorithm for linear assignment (1987);
S. K. Ainsworth, J. Hayase, S. Srinivasa, Git Re-Basin, arXiv:2209.04836, for the sweeps over the layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import ONE, Vector, exact_from_float, sympy_rational
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import sympy

    Floats = npt.NDArray[np.float64]

Orders = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Alignment:
    """A relabelling that brings one network near another, as far as a heuristic in floats found one.

    New unit i of a hidden layer is old unit order[i], times a positive factor. `scales` are the exact scalars that
    `apply` uses; the distances are Euclidean, over all weights and biases, in floats.
    """

    orders: Orders
    scales: tuple[Vector, ...]
    distance_before: float
    distance_after: float

    @property
    def factors(self) -> tuple[tuple[sympy.Rational, ...], ...]:
        """The positive factors of each hidden layer as SymPy rationals, by new labels."""
        return tuple(tuple(sympy_rational(value) for value in layer) for layer in self.scales)

    def apply(self, net: Network) -> Network:
        """Give the network permuted and then rescaled, layer after layer: the same function exactly."""
        for layer, (order, scales) in enumerate(zip(self.orders, self.scales, strict=True), 1):
            net = net.permuted(layer, order)
            net = net if all(value == 1 for value in scales) else net.rescaled(layer, scales)
        return net


@checked
def align(a: Network, b: Network, sweeps: int = 20) -> Alignment:
    """Look for a relabelling of b that brings it near a. This is a heuristic in floats: it proves nothing.

    Neither is the relabelling the best one, nor does a large distance show that the functions differ, nor a small one
    that they are close. `match_units` answers the exact question. Only `apply` is exact: it never changes b's function.

    Both networks are rescaled so that their hidden rows [W | b] have length 1; units are paired by linear assignment on
    the incoming rows, first layer first, then, in up to `sweeps` sweeps, on incoming and outgoing weights. Factors are
    used only where they bring b nearer.

    Raises:
        InvalidNetworkError: when widths or domains differ.
        UnsupportedError: when a parameter is beyond the range of floats.

    >>> a = Network([([[1, 0], [0, 1]], [3, 4]), ([[5, 6]], [7])])
    >>> b = Network([([["0.01", 1], [1, "0.01"]], [4, 3]), ([[6, 5]], [7])])
    >>> found = align(a, b)
    >>> found.orders, found.distance_after < found.distance_before
    (((1, 0),), True)
    """
    a.refuse_letters()
    b.refuse_letters()
    if (a.widths, a.domain) != (b.widths, b.domain):
        raise InvalidNetworkError(
            f"only networks with the same widths and domain can be aligned, got {a.widths} on {a.domain} and "
            f"{b.widths} on {b.domain}"
        )
    import numpy as np

    identity = tuple(tuple(range(width)) for width in a.widths[1:-1])
    ones = tuple((ONE,) * width for width in a.widths[1:-1])
    with np.errstate(all="ignore"):  # what is not finite is refused at the end
        mine, theirs = _floats(a), _floats(b)
        normal, lengths = _normalised(mine)
        other, other_lengths = _normalised(theirs)
        orders = _paired(normal, other, sweeps)
        before = _distance(mine, theirs, identity, ones)
        kept = _distance(mine, theirs, orders, ones)
        scales = tuple(
            tuple(_factor(float(length), float(there[i])) for length, i in zip(here, order, strict=True))
            for here, there, order in zip(lengths, other_lengths, orders, strict=True)
        )
        scaled = _distance(mine, theirs, orders, scales)
    if kept <= scaled:
        scaled, scales = kept, ones
    if before <= scaled:
        return Alignment(identity, ones, before, before)
    return Alignment(orders, scales, before, scaled)


def assigned(cost: Floats) -> list[int]:
    """Give, for each row of a square matrix, its column in an assignment of least total cost.

    Shortest augmenting paths with dual prices, O(n³).

    >>> import numpy as np
    >>> assigned(np.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]]))
    [1, 0, 2]
    """
    import numpy as np

    size = len(cost)
    row_prices, column_prices = np.zeros(size), np.zeros(size)
    column_of, row_of = [-1] * size, [-1] * size
    for start in range(size):
        shortest, before = np.full(size, np.inf), np.full(size, -1)
        reached, open_columns = 0.0, np.ones(size, bool)
        row, passed = start, []
        while row >= 0:
            length = reached + cost[row] - row_prices[row] - column_prices
            better = open_columns & (length < shortest)
            shortest[better], before[better] = length[better], row
            column = int(np.argmin(np.where(open_columns, shortest, np.inf)))
            reached, open_columns[column] = float(shortest[column]), False
            passed.append(column)
            row = row_of[column]
        row_prices[start] += reached
        for at in passed:
            column_prices[at] -= reached - shortest[at]
            if row_of[at] >= 0:
                row_prices[row_of[at]] += reached - shortest[at]
        while row != start:  # exchange the pairs along the path
            row = row_of[column] = int(before[column])
            column_of[row], column = column, column_of[row]
    return column_of


def _paired(normal: list[Floats], other: list[Floats], sweeps: int) -> Orders:
    """Give orders of the units of `other`: incoming rows first, then incoming and outgoing until nothing changes."""
    orders = [list(range(matrix.shape[1] - 1)) for matrix in other] + [list(range(len(other[-1])))]
    for sweep in range(sweeps + 1):
        before = [list(order) for order in orders]
        for layer in range(1, len(normal)):
            cost = _squared_distances(normal[layer - 1], other[layer - 1][:, [*orders[layer - 1], -1]])
            if sweep or layer == len(normal) - 1:
                cost += _squared_distances(normal[layer][:, :-1].T, other[layer][orders[layer + 1], :-1].T)
            orders[layer] = assigned(cost)
        if sweep and orders == before:
            break
    return tuple(tuple(order) for order in orders[1:-1])


def _squared_distances(rows: Floats, others: Floats) -> Floats:
    return _finite((rows**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * rows @ others.T)


def _floats(net: Network) -> list[Floats]:
    """Give [W | b] of each layer in floats."""
    import numpy as np

    try:
        return [
            np.array(
                [
                    [*(value / below for value in row), int(constant.p) / int(constant.q)]
                    for row, below, constant in zip(
                        layer.matrix.integer_rows(), layer.matrix.denominators(), layer.offset, strict=True
                    )
                ]
            )
            for layer in net.layers
        ]
    except OverflowError:
        raise UnsupportedError("a parameter is beyond the range of floats, in which `align` computes") from None


def _normalised(matrices: list[Floats]) -> tuple[list[Floats], list[Floats]]:
    """Rescale units so that hidden rows have length 1, and give what each unit was divided by; the last layer whole."""
    import numpy as np

    made: list[Floats] = []
    lengths: list[Floats] = []
    for matrix in matrices:
        matrix = matrix.copy()
        if lengths:
            matrix[:, :-1] *= lengths[-1]
        last = len(made) == len(matrices) - 1
        length = np.full(len(matrix), np.linalg.norm(matrix)) if last else np.linalg.norm(matrix, axis=1)
        length[length == 0] = 1.0
        made.append(_finite(matrix / length[:, None]))
        lengths.append(_finite(length))
    return made, lengths[:-1]


def _distance(mine: list[Floats], theirs: list[Floats], orders: Orders, scales: tuple[Vector, ...]) -> float:
    """Give the Euclidean distance of all parameters after the hidden units of the second have been relabelled."""
    import numpy as np

    total = 0.0
    columns, inner = np.arange(mine[0].shape[1] - 1), np.ones(mine[0].shape[1] - 1)
    for layer, (matrix, other) in enumerate(zip(mine, theirs, strict=True)):
        hidden = layer < len(orders)
        rows = np.array(orders[layer]) if hidden else np.arange(len(matrix))
        outer = np.array([int(v.p) / int(v.q) for v in scales[layer]]) if hidden else np.ones(len(matrix))
        moved = other[rows][:, [*columns, -1]] * outer[:, None]
        moved[:, :-1] /= inner
        total = float(np.hypot(total, np.linalg.norm(matrix - moved)))
        columns, inner = rows, outer
    return float(_finite(np.array(total)))


def _factor(mine: float, theirs: float) -> fmpq:
    """Give the ratio of two lengths as the binary number that its float is."""
    return exact_from_float(mine / theirs) if mine / theirs > 0 else ONE


def _finite(values: Floats) -> Floats:
    import numpy as np

    if not np.isfinite(values).all():
        raise UnsupportedError("the parameters are beyond the range of floats, in which `align` computes")
    return values
