"""How many directions does a network without biases leave free?

Main results
    bias_free_dimension    the dimension of the kernel of the Jacobian by the weights alone, proved from both sides

A bias-free architecture has weights only; its networks are given here as networks whose biases are all zero.

References: beyond §5.
"""

from __future__ import annotations

from semialg_fibers.errors import BudgetExceededError, NotGenericError, UnsupportedError
from semialg_fibers.fibers.genericity import is_bottleneck
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import DEAD, LINEAR, NONLINEAR, kinds_by_signs
from semialg_fibers.questions.dimension import rank_by_weights


@checked
def bias_free_dimension(net: Network, budget: int = 100_000, most_parameters: int = 3_000) -> int:
    """Give dim{δ weights : δf = 0}; generically n1 + k + [mq + qp − mp + (m − s)(p − t)] + e(n1 + m).

    There are k nonlinear, q linear and e dead rows of A2; s and t are the ranks of the linear rows' outgoing and
    incoming weights, and the bracket is absent for q = 0. So many directions are always there: scalings, what the
    linear rows share, and dead rows; where every row is dead, all weights. There is no translation, and a single linear
    row costs no more than its scaling. That there are no more is proved by the rank of the Jacobian at points, or over
    the cells, which also counts those of special weights, such as rows of A2 that are proportional. The dimension
    bounds the local dimension of the fiber among bias-free networks from above.

    Implements: beyond §5.

    Raises:
        UnsupportedError: for a network that is no three-layer bottleneck with n1 ≥ 2, or has a bias that is not zero.
        NotGenericError: where rank A1 < n1, A2 has a zero, or A3 a zero column.
        BudgetExceededError: where the weights look special and there are more than `budget` cells, or more than
            `most_parameters` weights.

    >>> identity = ([[1, 0], [0, 1]], [0, 0])
    >>> bias_free_dimension(Network([identity, ([[1, -1]], [0]), ([[1]], [0])]))
    3
    >>> bias_free_dimension(Network([identity, ([[1, -1], [1, -1]], [0, 0]), ([[1, 1]], [0])]))  # 4 for other rows
    6
    """
    net.refuse_letters()
    if not is_bottleneck(net) or net.widths[1] < 2:
        raise UnsupportedError("bias-free dimensions are known for three layers with 2 ≤ n1 ≤ d on R^d")
    if any(any(layer.offset) for layer in net.layers):
        raise UnsupportedError("the network has a bias that is not zero: it is not bias-free")
    first, second, third = net.layers
    if (
        first.matrix.rank() < first.outputs
        or not all(all(row) for row in second.matrix.integer_rows())
        or not all(map(any, third.matrix.columns()))
    ):
        raise NotGenericError("expected rank A1 = n1, no zero in A2, and no zero column in A3")
    weights = sum(layer.inputs * layer.outputs for layer in net.layers)
    least = _known_directions(net)
    if least == weights:
        return weights
    if weights > most_parameters:
        raise BudgetExceededError(
            f"the Jacobian has {weights} columns, more than the budget of {most_parameters} weights: the dimension is "
            f"{least} for generic weights, and at least that"
        )
    return weights - rank_by_weights(net, weights - least, budget)


def _known_directions(net: Network) -> int:
    """Count the directions that are there for all weights: independent, as they move different units or only A1."""
    _, second, third = net.layers
    kinds = kinds_by_signs(second)
    p, m = second.inputs, third.outputs
    if set(kinds) == {DEAD}:  # f = 0: every weight is free
        return sum(layer.inputs * layer.outputs for layer in net.layers)
    linear = [j for j, kind in enumerate(kinds) if kind == LINEAR]
    q, pairs = len(linear), 0
    if linear:
        s, t = third.matrix.select(columns=linear).rank(), second.matrix.select(rows=linear).rank()
        pairs = m * q + q * p - m * p + (m - s) * (p - t)
    return p + kinds.count(NONLINEAR) + pairs + kinds.count(DEAD) * (p + m)
