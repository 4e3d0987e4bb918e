"""The weighted hyperplanes on which a function with one hidden layer bends: its canonical data.

Main definitions
    Arrangement      g = Σ_a J_a relu(a) + M h + v with distinct hyperplanes a and nonzero jumps J_a

Main results
    arrangement      two networks with one hidden layer are the same function iff their arrangements are equal

References: theory §2.2, §4; the normal form holds for all parameters (zero rows, repeated hyperplanes, cancellations).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from flint import fmpq

from semialg_fibers.errors import UnsupportedError
from semialg_fibers.geometry.domain import Form
from semialg_fibers.geometry.expression import Expression, is_zero
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, primitive
from semialg_fibers.geometry.symbolic_matrix import matrix_of
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import classify


@dataclass(frozen=True)
class Arrangement:
    """The canonical data of g: hyperplanes with their jumps, and the affine remainder.

    `hyperplanes` are sorted pairs (a, J_a): a is a primitive integer form whose first nonzero coefficient is
    positive, constant last; J_a ≠ 0 is the jump of the gradient across it, per unit of a. `linear` (m × p) and
    `constant` (m,) are M and v.
    """

    hyperplanes: tuple[tuple[tuple[int, ...], Vector], ...]
    linear: Matrix
    constant: Vector


def oriented(form: Form) -> tuple[tuple[int, ...], fmpq]:
    """Give (a, s) with form = s·a, a primitive with positive first nonzero coefficient (not the constant).

    For letters a has the first coefficient 1 that is not zero; its sign must be declared.

    >>> from semialg_fibers.geometry.scalar import vector
    >>> oriented(vector([0, -2, 4]))
    ((0, 1, -2), -2)
    """
    if any(isinstance(value, Expression) for value in form):
        pivot = next((value for value in form[:-1] if not is_zero(value)), ONE)
        return tuple(cast(int, value / pivot) for value in form), pivot
    line = unoriented(primitive(form))
    first = next(i for i, value in enumerate(line) if value)
    return line, form[first] / line[first]


def unoriented(row: tuple[int, ...]) -> tuple[int, ...]:
    """Give the row or its negative, so that the first nonzero entry is positive.

    >>> unoriented((0, -1, 2))
    (0, 1, -2)
    """
    first = next((value for value in row if value), 0)
    return tuple(-value for value in row) if first < 0 else row


def arrangement(net: Network) -> Arrangement:
    """Give the canonical data of a network with at most one hidden layer on its domain.

    Implements: theory §2.2.

    Raises:
        UnsupportedError: for more layers.

    >>> net = Network([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> arrangement(net).hyperplanes, arrangement(net).linear
    ((((1, 0), (2,)),), Matrix([['-1']]))
    """
    if len(net.layers) > 2:
        raise UnsupportedError(f"an arrangement belongs to one hidden layer, this network has {len(net.layers) - 1}")
    if len(net.layers) == 1:
        return Arrangement((), net.layers[0].matrix, net.layers[0].offset)
    inner, outer = net.layers
    jumps: dict[tuple[int, ...], list[fmpq]] = {}
    linear = [[ZERO] * inner.inputs for _ in range(outer.outputs)]
    constant = list(outer.offset)
    for j, form in enumerate(inner.forms):
        column = outer.matrix.column(j)
        kind = classify(form, net.domain)
        absorbed = kind == "linear"
        if kind == "nonlinear":
            a, s = oriented(form)
            total = jumps.setdefault(a, [ZERO] * outer.outputs)
            for o, weight in enumerate(column):
                total[o] += abs(s) * weight
            absorbed = s < 0  # relu(s a) = |s| relu(a) + s a for s < 0
        if absorbed:
            for o, weight in enumerate(column):
                constant[o] += weight * form[-1]
                linear[o] = [a + weight * b for a, b in zip(linear[o], form[:-1], strict=True)]
    kept = sorted((a, tuple(total)) for a, total in jumps.items() if any(total))
    return Arrangement(tuple(kept), matrix_of(linear, inner.inputs), tuple(constant))
