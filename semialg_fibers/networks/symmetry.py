"""Translations of a hidden hyperplane and sign flips, acting on parameters.

Main definitions
    translated     theory §3.2 as an action on three-layer parameters
    flipped        theory §3.3 as an action, for one or several hidden columns at once

These functions act; whether the action is a symmetry is decided in `fibers.hiding`. (Permutations and rescalings,
which are symmetries of every network, are methods of `Network`.)

References: theory §3.2, §3.3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from flint import fmpq

from semialg_fibers.networks.layer import Layer, Network


def translated(net: Network, column: int, t: fmpq, users: Collection[int]) -> Network:
    """Give b1_i → b1_i + t, b2_j → b2_j − A2_ji t for j in `users`.

    Implements: theory §3.2.
    """
    first, second = net.layers[:2]
    b1 = list(first.offset)
    b1[column] += t
    b2 = [value - second.matrix[j, column] * t if j in users else value for j, value in enumerate(second.offset)]
    return net.with_layers([Layer(first.matrix, b1), Layer(second.matrix, b2), *net.layers[2:]])


def flipped(net: Network, columns: Collection[int], ratios: Mapping[int, Mapping[int, fmpq]]) -> Network:
    """Give (A1,b1)_k → −(A1,b1)_k for k in `columns`, and (A1,b1)_i += Σ_k r_(k,i) (A1,b1)_k for each hidden i.

    `ratios[i][k]` is r_(k,i) = A2_jk / A2_ji; the sums use the old rows k.

    Implements: theory §3.3.
    """
    first = net.layers[0]
    rows = [list(form) for form in first.forms]
    for i, by_column in ratios.items():
        for k in columns:
            rows[i] = [a + by_column[k] * b for a, b in zip(rows[i], first.forms[k], strict=True)]
    for k in columns:
        rows[k] = [-value for value in rows[k]]
    layer = Layer([row[:-1] for row in rows], [row[-1] for row in rows])
    return net.with_layers([layer, *net.layers[1:]])
