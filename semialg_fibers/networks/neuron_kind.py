"""Dead, linear or nonlinear: what a neuron does on the range of the layers before it.

Main definitions
    classify          the kind of an affine form on a domain
    Kind              that kind with interior points that show it
    neuron_types      the kinds of all units of a layer

References: theory §2.1, §2.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.decision import decide_all
from semialg_fibers.geometry.domain import Domain, Form, Orthant, Space, negated
from semialg_fibers.geometry.expression import Expression, signs_of
from semialg_fibers.geometry.scalar import Vector, affine_value, numbered
from semialg_fibers.geometry.signs import NONNEGATIVE, NONPOSITIVE
from semialg_fibers.geometry.symbolic_matrix import SymbolicMatrix
from semialg_fibers.networks.cells import each_cell, signs_on
from semialg_fibers.networks.layer import Layer, Network

DEAD, LINEAR, NONLINEAR = "dead", "linear", "nonlinear"
CELL_BUDGET = 5_000


def classify(form: Form, domain: Domain) -> str:
    """Give "dead" (form ≤ 0 on the domain), "linear" (≥ 0, not dead) or "nonlinear".

    Implements: theory §2.1, §2.7.

    >>> from semialg_fibers.geometry.domain import Orthant
    >>> from semialg_fibers.geometry.scalar import vector
    >>> [classify(vector(f), Orthant(2)) for f in ([-1, 0, -2], [1, 0, 2], [1, -1, 0])]
    ['dead', 'linear', 'nonlinear']
    """
    if any(isinstance(value, Expression) for value in form):
        if isinstance(domain, Orthant):
            return kind_by_signs(form)
        if isinstance(domain, Space) and any(0 not in signs_of(value) for value in form[:-1]):
            return NONLINEAR
    above = domain.supremum(form)
    if above is not None and above <= 0:
        return DEAD
    below = domain.infimum(form)
    return LINEAR if below is not None and below >= 0 else NONLINEAR


@dataclass(frozen=True)
class Kind:
    """The kind of a form on a domain, with interior points at which it is positive and negative (None: nowhere)."""

    name: str
    form: Form
    domain: Domain
    positive: Vector | None
    negative: Vector | None

    def check(self) -> bool:
        """Verify the points, and that a missing one is impossible by the form's range on the domain."""
        above, below = self.domain.supremum(self.form), self.domain.infimum(self.form)
        if self.positive is None:
            if above is None or above > 0:
                return False
        elif affine_value(self.form, self.positive) <= 0 or not self.domain.contains(self.positive):
            return False
        if self.negative is None:
            if below is None or below < 0:
                return False
        elif affine_value(self.form, self.negative) >= 0 or not self.domain.contains(self.negative):
            return False
        return self.name == classify(self.form, self.domain)


def kind_with_points(form: Form, domain: Domain) -> Kind:
    """Give the kind of a form together with the points that show it."""
    return Kind(
        classify(form, domain),
        form,
        domain,
        domain.positive_point(form),
        domain.positive_point(negated(form)),
    )


def maps_onto_orthant(net: Network) -> bool:
    """Say whether x ↦ relu(A1 x + b1) maps R^d onto the orthant: the domain is R^d and rank A1 = n1.

    Where A1 has letters the rank is that for almost all values: (G1), an assumption that `genericity` states.
    """
    first = net.layers[0]
    if not isinstance(net.domain, Space) or first.outputs > first.inputs:
        return False
    matrix = first.matrix
    return (matrix.generic_rank if isinstance(matrix, SymbolicMatrix) else matrix.rank()) == first.outputs


def default_layer(net: Network) -> int:
    """Give the layer whose types are asked for when none is named: the second hidden one, or the only one."""
    if len(net.layers) < 2:
        raise UnsupportedError("a network with one affine layer has no neurons to classify")
    return min(2, len(net.layers) - 1)


@checked
def neuron_types(net: Network, layer: int | None = None, budget: int = CELL_BUDGET) -> tuple[str, ...]:
    """Give "dead", "linear" or "nonlinear" for each unit of a hidden layer, on the range of the layers before it.

    `layer` counts from 1 and defaults to the second hidden layer, or the only one. Where the layer before maps onto
    the orthant the signs of [A2 | b2] decide; elsewhere the activation cells do, up to `budget` of them. For letters
    in A1 the range is the orthant under (G1), rank A1 = n1; "dead" and "linear" hold without it.

    Implements: theory §2.1.

    Raises:
        BudgetExceededError: when there are more cells than the budget.
        InvalidNetworkError: when the layer is not hidden.
        UndecidedSignError: when a type depends on the values of the letters.
        UnsupportedError: for letters where cells would be needed.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [-1, -2]], [-1, -1]), ([[1, 1]], [0])])
    >>> neuron_types(net)
    ('nonlinear', 'dead')
    """
    number = default_layer(net) if layer is None else layer
    if not 1 <= number < len(net.layers):
        there = numbered("hidden layer", 1, len(net.layers) - 1)
        raise InvalidNetworkError(f"layer {number} is not hidden: the network has {there}")
    found = _types(net, number, budget)
    if isinstance(found, BudgetExceededError):
        raise found
    return found


@lru_cache(maxsize=32)
def _types(net: Network, number: int, budget: int) -> tuple[str, ...] | BudgetExceededError:
    layer = net.layers[number - 1]
    if number == 1:
        rows = layer.integer_forms if layer.is_rational else layer.forms  # integers do as well
        return tuple(classify(cast(Form, row), net.domain) for row in rows)
    by_signs = kinds_by_signs(layer)
    # Signs settle dead rows on any range, and linear ones that are positive at the origin; without a bias such a row
    # may vanish on the whole range.
    settled = all(
        kind == DEAD or (kind == LINEAR and signs_of(bias) == {1})
        for kind, bias in zip(by_signs, layer.offset, strict=True)
    )
    if settled or (number == 2 and maps_onto_orthant(net)):
        return by_signs
    try:
        return _on_cells(net, number, by_signs, budget)
    except BudgetExceededError as error:
        return error  # kept, so that nobody tries again


def kinds_by_signs(layer: Layer) -> tuple[str, ...]:
    """Give the kinds of a layer's units on the nonnegative orthant, by the signs of [W | b].

    Implements: theory §2.1.
    """

    def kind(row: tuple[int, ...]) -> str:
        if max(row) <= 0:
            return DEAD
        return LINEAR if min(row) >= 0 else NONLINEAR

    if not layer.is_rational:
        return tuple(map(kind_by_signs, layer.forms))
    return tuple(kind(row) for row in layer.integer_forms)


def kind_by_signs(row: Form) -> str:
    """Give the kind of one unit on the nonnegative orthant, by the declared signs of its weights and bias.

    Implements: theory §2.1.

    Raises:
        UndecidedSignError: when the kind depends on the values of the letters.
    """
    signs = [signs_of(value) for value in row]
    if {1} in signs and {-1} in signs:
        return NONLINEAR
    if decide_all(row, NONPOSITIVE):
        return DEAD
    return LINEAR if decide_all(row, NONNEGATIVE) else NONLINEAR


def _on_cells(net: Network, number: int, by_signs: tuple[str, ...], budget: int) -> tuple[str, ...]:
    """Look at each unit on every cell of the layers before; dead by signs stays dead on a smaller range."""
    positive = [False] * len(by_signs)
    negative = [False] * len(by_signs)
    for cell in each_cell(net.part(1, number), budget):
        for j in range(len(by_signs)):
            above, below = signs_on(cell, (*cell.matrix.row(j), cell.offset[j]))
            positive[j] |= above
            negative[j] |= below
    kinds = []
    for j, name in enumerate(by_signs):
        seen = NONLINEAR if positive[j] and negative[j] else LINEAR if positive[j] else DEAD
        kinds.append(name if name == DEAD else seen)
    return tuple(kinds)
