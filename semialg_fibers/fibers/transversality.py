"""Genericity of networks outside the bottleneck: supertransversality and masked products, cell by cell.

Main results
    supertransversal     bent hyperplanes meet in the expected codimension at every point
    masked_products      W_j D_(j−1) W_(j−1) ⋯ D_i W_i has the largest rank that its widths and masks allow

References: theory §5, last paragraph.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.double_description import value_on
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import Vector
from semialg_fibers.networks.cells import Cell, each_cell
from semialg_fibers.networks.layer import Network

Unit = tuple[int, int]
Finding = tuple[bool | None, str, tuple[object, ...]]


def supertransversal(cells: Sequence[Cell]) -> Finding:
    """Say whether at each point the units that vanish there have independent gradients on each cell around it.

    It is enough to look at the smallest faces of each cell: a set of independent gradients has independent subsets.

    Implements: theory §5.
    """
    for cell in cells:
        if cell.vanishing:
            layer, unit = cell.vanishing[0]
            words = f"the preactivation of neuron {unit + 1} of layer {layer} vanishes on a whole cell"
            return False, words, ("cell", cell.pattern, "unit", layer, unit)
        forms = [(layer, j, form) for layer, row in enumerate(cell.scaled[:-1], 1) for j, form in enumerate(row)]
        for ray in cell.rays:
            if ray[-1]:  # a smallest face through a finite point
                meeting = [(layer, j, form) for layer, j, form in forms if value_on(form, ray) == 0]
                gradients = Matrix.from_integers([form[:-1] for *_, form in meeting], columns=len(ray) - 1)
                if gradients.rank() < len(meeting):
                    return _degenerate(ray, [(layer, j) for layer, j, _ in meeting])
    return True, "bent hyperplanes meet in the expected codimension", ()


def _degenerate(ray: Sequence[int], units: list[Unit]) -> Finding:
    point: Vector = tuple(fmpq(value, ray[-1]) for value in ray[:-1])
    names = ", ".join(f"{j + 1} of layer {layer}" for layer, j in units)
    return False, f"the neurons {names} vanish together at {point} without being independent", ("units", units, point)


def masked_products(net: Network, cells: Sequence[Cell]) -> Finding:
    """Say whether every masked product that occurs has rank min(n_j, n_(i−1), numbers of active units between).

    Implements: theory §5.
    """
    weights = [layer.matrix for layer in net.layers]
    for pattern in sorted({cell.pattern for cell in cells}):
        active = [tuple(j for j, bit in enumerate(bits) if bit) for bits in pattern]
        for first in range(len(weights)):
            product = weights[first]
            largest = min(product.shape)
            for last in range(first, len(weights)):
                if last > first:
                    mask = active[last - 1]
                    product = weights[last].select(columns=mask) @ product.select(rows=mask)
                    largest = min(largest, len(mask), weights[last].shape[0])
                if product.rank() < largest:
                    words = (
                        f"the product of layers {first + 1} to {last + 1} has rank {product.rank()} on some cell, "
                        f"expected {largest}"
                    )
                    return False, words, ("layers", first + 1, last + 1, "cell", pattern)
    return True, "every masked product that occurs has the largest possible rank", ()


def findings(net: Network, budget: int) -> list[tuple[str, Finding]]:
    """Give both conditions by name; not decided when there are more cells than the budget."""
    try:
        cells = list(each_cell(net, budget))
    except BudgetExceededError as error:
        unknown: Finding = (None, error.message, ())
        return [("supertransversal", unknown), ("masked_products", unknown)]
    return [("supertransversal", supertransversal(cells)), ("masked_products", masked_products(net, cells))]
