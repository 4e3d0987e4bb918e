"""Does the function bend on a first-layer hyperplane at all? Exactly, for all parameters of a bottleneck network.

Main results
    bending_hyperplanes     the indices i such that f has a kink somewhere on H_i, in polynomial time

This is not the same as "not hidden" when zeros are present: the row (1, 0 | 0) hides H_1 by the rule for rows, and
relu(relu(u_1)) has its kink there; and kinks of several rows can cancel although none of them hides anything.

References: beyond §2.1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from flint import fmpq

from semialg_fibers.errors import UnsupportedError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import ZERO, Vector, primitive, vector
from semialg_fibers.networks.arrangement import Arrangement, arrangement, unoriented
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import maps_onto_orthant


@checked
def bending_hyperplanes(net: Network) -> tuple[int, ...]:
    """Give the first-layer indices i such that f is not differentiable across H_i at some point of it.

    Only the second layer's hyperplanes with their jumps matter (canonical data on the orthant), so that no genericity
    is needed.

    Implements: beyond §2.1.

    Raises:
        UnsupportedError: when there are not three layers, or the first does not map onto the orthant.

    >>> row = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 0]], [0]), ([[1]], [0])])
    >>> bending_hyperplanes(row)
    (0,)
    """
    if len(net.layers) != 3 or not net.is_rational or not maps_onto_orthant(net):
        raise UnsupportedError(
            "where a function bends is read off its rows for three layers of numbers on R^d with rank A1 = n1 only"
        )
    data = arrangement(net.part(2, 3))
    return tuple(i for i in range(net.widths[1]) if _bends(data, i))


def _bends(data: Arrangement, i: int) -> bool:
    """Say whether ∂g/∂h_i from above is nonzero somewhere on the face h_i = 0.

    There it is M_i + Σ_l J_l w_li [τ_l > 0, or τ_l = 0 and w_li > 0], τ_l the trace of row l on the face. On the whole
    face: step functions of distinct hyperplanes are independent, so they must cancel on each, and then the constants.
    On the smaller faces, onto which relu maps open parts of H_i, τ_l vanishes identically for the rows without bias
    whose trace uses none of the face's coordinates; what these differ by must cancel too, for each set of coordinates.
    """
    size = len(data.constant)
    steps: dict[tuple[int, ...], Vector] = defaultdict(lambda: (ZERO,) * size)
    vanishing: dict[frozenset[int], Vector] = defaultdict(lambda: (ZERO,) * size)
    constant = data.linear.column(i)
    for plane, jump in data.hyperplanes:
        weight = plane[i]
        if not weight:
            continue
        trace = plane[:i] + plane[i + 1 :]
        share = tuple(weight * value for value in jump)
        generic = 0  # the constant by which the row's step function is replaced
        if min(trace) >= 0 and any(trace):
            generic = 1
        elif max(trace) > 0:  # of both signs
            direction = primitive(vector(trace))  # planes of different slopes may meet the face in one line
            line = unoriented(direction)
            positive = line == direction
            generic = int(not positive)
            steps[line] = _sum(steps[line], share, 1 if positive else -1)
        constant = _sum(constant, share, generic)
        if not trace[-1]:
            support = frozenset(k for k, value in enumerate(trace) if value)
            vanishing[support] = _sum(vanishing[support], share, int(weight > 0) - generic)
    return any(any(total) for total in (*steps.values(), constant, *vanishing.values()))


def _sum(total: Iterable[fmpq], share: Iterable[fmpq], factor: int) -> Vector:
    return tuple(a + factor * b for a, b in zip(total, share, strict=True))
