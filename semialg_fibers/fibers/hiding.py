"""Hidden hyperplanes, the translations and flips they leave free.

Main definitions
    hidden_hyperplanes     first-layer hyperplanes on which no user is active
    Hiding                 hidden columns with their users, flippable columns, ratios
    SignFlipGroup          the group (Z/2)^F of sign flips

Main results
    translate, flip        the moves, refused where they are no symmetry
    translation_range      all t for which the translation stays in the component

References: theory §3.1, §3.2, §3.3; several hidden columns: rows with zeros split into blocks (each alive row has at
most one hidden column).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.decision import decide_all, essential
from semialg_fibers.geometry.expression import Scalar, is_zero, signs_of, to_sympy, undecided
from semialg_fibers.geometry.reading import scalar
from semialg_fibers.geometry.scalar import Vector
from semialg_fibers.geometry.signs import NONNEGATIVE, NONPOSITIVE
from semialg_fibers.networks.cells import each_cell, signs_on_facet
from semialg_fibers.networks.expected import expect_network
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import CELL_BUDGET, DEAD, maps_onto_orthant, neuron_types
from semialg_fibers.networks.symmetry import flipped, translated

if TYPE_CHECKING:
    import sympy


def alive_rows(net: Network) -> tuple[int, ...]:
    """Give the second-layer rows that are not dead."""
    return tuple(j for j, kind in enumerate(neuron_types(net, 2)) if kind != DEAD)


@checked
def hidden_hyperplanes(net: Network, budget: int = CELL_BUDGET) -> tuple[int, ...]:
    """Give the first-layer indices i such that no second-layer neuron with A2_ji ≠ 0 is active on H_i.

    By the row rule (b2_j ≤ 0 and A2_jk ≤ 0 for k ≠ i) where the first layer maps onto the orthant, by the facets of
    the activation cells elsewhere. All indices when every row is dead, else none of units with zero weights, which have
    no hyperplane; none for one hidden layer. With letters in A1 the answer is that for values with rank A1 = n1, which
    `genericity` states as (G1).

    Implements: theory §3.1.

    Raises:
        BudgetExceededError: when there are more cells than the budget.
        UndecidedSignError: when it depends on the values of the letters.
        UnsupportedError: for letters where cells would be needed.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> hidden_hyperplanes(net)
    (0,)
    """
    if len(net.layers) < 3:
        return ()
    alive = alive_rows(net)
    columns = range(net.layers[0].outputs)
    if not alive:
        return tuple(columns)
    if maps_onto_orthant(net):
        rows = [net.layers[1].forms[j] for j in alive]
        return tuple(i for i in columns if all(_sees_linearly(row, i) for row in rows if row[i]))
    return _hidden_by_cells(net, alive, budget)


def _sees_linearly(row: Vector, i: int) -> bool:
    """Say whether the form is ≤ 0 on the face h_i = 0 of the orthant."""
    return decide_all((value for k, value in enumerate(row) if k != i), NONPOSITIVE)


def _hidden_by_cells(net: Network, alive: tuple[int, ...], budget: int) -> tuple[int, ...]:
    first, second = net.layers[:2]
    candidates = {i for i in range(first.outputs) if any(first.matrix.row(i))}
    for cell in each_cell(net.part(1, 2), budget):
        for i in sorted(candidates):
            for j in alive:
                if second.matrix[j, i]:
                    signs = signs_on_facet(cell, first.forms[i], (*cell.matrix.row(j), cell.offset[j]))
                    if signs is not None and signs[0]:
                        candidates.discard(i)
    return tuple(sorted(candidates))


@dataclass(frozen=True)
class Hiding:
    """What hidden columns leave free in a network whose first layer maps onto the orthant.

    `users[i]` are the alive rows that use the hidden column i; `ratios[i][k]` is the common A2_jk / A2_ji of these
    rows for each flippable column k. Where the parameters have letters, `conditions[k]` are expressions
    A2_jk A2_j'i − A2_j'k A2_ji that must vanish for column k to be flippable too; its `ratios` are then those of the
    first such row.
    """

    hidden: tuple[int, ...]
    users: dict[int, tuple[int, ...]]
    flippable: tuple[int, ...]
    ratios: dict[int, dict[int, fmpq]]
    conditions: dict[int, tuple[Scalar, ...]] = field(default_factory=dict)


def hiding(net: Network) -> Hiding:
    """Give hidden columns, their users, the flippable columns and the ratios.

    Implements: theory §3.3.

    Raises:
        UnsupportedError: when the first layer does not map onto the orthant, or there is no second hidden layer.
    """
    expect_network(net)
    if len(net.layers) < 3 or not maps_onto_orthant(net):
        raise UnsupportedError(
            "translations and flips are known where the first layer maps onto the orthant (R^d, rank A1 = n1 ≤ d) and "
            "a second hidden layer follows"
        )
    hidden = hidden_hyperplanes(net)
    alive = alive_rows(net)
    weights = net.layers[1].matrix
    users = {i: tuple(j for j in alive if weights[j, i]) for i in hidden}
    hiding_columns = [i for i in hidden if users[i]]
    outside = [j for j in alive if not any(weights[j, i] for i in hiding_columns)]
    flippable = []
    conditions: dict[int, tuple[Scalar, ...]] = {}
    ratios: dict[int, dict[int, fmpq]] = {i: {} for i in hiding_columns}
    for k in range(weights.shape[1]):
        if k in hidden or not hiding_columns or any(weights[j, k] for j in outside):
            continue
        differences = [
            weights[j, k] * weights[users[i][0], i] - weights[users[i][0], k] * weights[j, i]
            for i in hiding_columns
            for j in users[i][1:]
        ]
        if any(0 not in signs_of(value) for value in differences):
            continue
        if all(is_zero(value) for value in differences):
            flippable.append(k)
        else:
            conditions[k] = tuple(dict.fromkeys(essential(value) for value in differences if not is_zero(value)))
        for i in hiding_columns:
            ratios[i][k] = weights[users[i][0], k] / weights[users[i][0], i]
    return Hiding(hidden, users, tuple(flippable), ratios, conditions)


def ends_of_translation(net: Network, i: int, users: Iterable[int]) -> tuple[fmpq, ...]:
    """Give the numbers b2_j / A2_ji over the users of column i: t lies above all of them."""
    second = net.layers[1]
    return tuple(second.offset[j] / second.matrix[j, i] for j in users)


def largest(values: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """Give those whose maximum is the maximum of all: what another one is sure to reach or exceed is left out.

    >>> largest([fmpq(-2), fmpq(-1), fmpq(-1)])
    (-1,)
    """
    kept: list[Scalar] = []
    for value in values:
        if not any(signs_of(other - value) <= {0, 1} for other in kept):
            kept = [other for other in kept if not signs_of(value - other) <= {0, 1}] + [value]
    return tuple(kept)


def lowest_translation(net: Network, i: int, users: Iterable[int]) -> fmpq | None:
    """Give max_j b2_j / A2_ji over the users of column i; None when it has none.

    Raises:
        UndecidedSignError: where which of them is the largest depends on the values of the letters.
    """
    return max(ends_of_translation(net, i, users), default=None)


@checked
def translation_range(net: Network, i: int) -> sympy.Interval:
    """Give the interval of all t for which b1_i → b1_i + t, b2_j → b2_j − A2_ji t stays in the component.

    This is t > max_j b2_j / A2_ji; at the end itself, which leaves the component, the function is still the same.
    The end is closed, t ≥ 0, where some b2_j is zero already.

    Implements: theory §3.2.

    Raises:
        InvalidNetworkError: when H_i is not hidden.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[2, -1]], [-3]), ([[1]], [0])])
    >>> translation_range(net, 0)
    Interval.open(-3/2, oo)
    """
    import sympy

    ends = ends_of_translation(net, i, _users(net, i))
    if not ends:
        return sympy.S.Reals
    lowest = sympy.Max(*map(to_sympy, ends))
    return sympy.Interval(lowest, sympy.oo, left_open=all(end < 0 for end in ends), right_open=True)


def _users(net: Network, i: int) -> tuple[int, ...]:
    found = hiding(net)
    if i not in range(net.layers[0].outputs):
        raise InvalidNetworkError(f"the first layer has no unit with index {i}", column=i)
    if i not in found.users:
        raise InvalidNetworkError(
            f"hyperplane {i + 1} of the first layer is not hidden: some second-layer neuron that uses it is active on "
            "it, so that a translation changes the function",
            column=i,
        )
    return found.users[i]


@checked
def translate(net: Network, i: int, t: Any) -> Network:
    """Move the hidden hyperplane i (0-based): b1_i → b1_i + t, b2_j → b2_j − A2_ji t for every alive row j.

    Implements: theory §3.2.

    Raises:
        InvalidNetworkError: when H_i is not hidden, or t lies below max_j b2_j / A2_ji.
        UndecidedSignError: where that depends on the values of the letters.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[2, -1]], [-3]), ([[1]], [0])])
    >>> translate(net, 0, 1).layers[1].bias
    (-5,)
    """
    step = cast(fmpq, scalar(t))
    users = _users(net, i)
    if not decide_all((step - end for end in ends_of_translation(net, i, users)), NONNEGATIVE):
        lowest = lowest_translation(net, i, users)
        raise InvalidNetworkError(
            f"hyperplane {i + 1} can be translated by t ≥ {lowest} only, got {step}: a second-layer bias would become "
            "positive",
            value=t,
        )
    return translated(net, i, step, users)


@checked
def flip(net: Network, columns: Iterable[int]) -> Network:
    """Flip first-layer hyperplanes k (0-based): (A1,b1)_k → −(A1,b1)_k, (A1,b1)_i += r_k (A1,b1)_k.

    Implements: theory §3.3.

    Raises:
        InvalidNetworkError: when no hyperplane is hidden, or a column is not flippable.
        UndecidedSignError: where that depends on the values of the letters.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> flip(net, [1]).layers[0].weight.tolist()
    [[1, -1], [0, -1]]
    """
    found = hiding(net)
    if not isinstance(columns, Iterable):
        raise InvalidNetworkError(f"expected a list of columns, got {columns!r}", value=columns)
    chosen = list(columns)
    for k in chosen:
        if k not in range(net.layers[0].outputs) or chosen.count(k) > 1:
            raise InvalidNetworkError(f"{chosen} is no set of first-layer columns", column=k)
        if k in found.conditions:
            raise undecided(found.conditions[k][0])
        if k not in found.flippable:
            raise InvalidNetworkError(f"column {k + 1} cannot be flipped: {_why_not(found, k)}", column=k)
    return flipped(net, chosen, found.ratios)


def _why_not(found: Hiding, k: int) -> str:
    if not found.ratios:
        return "no hyperplane of the first layer is hidden"
    if k in found.hidden:
        return "it is itself hidden"
    return "the ratios A2_jk / A2_ji differ between the alive rows j"


@dataclass(frozen=True)
class SignFlip:
    """The action that flips the given first-layer columns; an involution."""

    columns: tuple[int, ...]

    def __call__(self, net: Network) -> Network:
        """Act on a network."""
        return flip(net, self.columns)


@dataclass(frozen=True)
class SignFlipGroup:
    """The commuting involutions of theory §3.3: (Z/2)^F, F the number of flippable columns.

    `conditions[k]` are expressions that must vanish for column k to be flippable too, where that depends on letters.
    """

    flippable: tuple[int, ...]
    conditions: dict[int, tuple[Scalar, ...]] = field(default_factory=dict)

    @property
    def order(self) -> int:
        """2^F.

        Raises:
            UndecidedSignError: where a further column is flippable for some values of the letters only.
        """
        for expressions in self.conditions.values():
            raise undecided(expressions[0])
        return int(2 ** len(self.flippable))

    @property
    def generators(self) -> tuple[SignFlip, ...]:
        """One flip for each flippable column."""
        return tuple(SignFlip((k,)) for k in self.flippable)

    @property
    def elements(self) -> Iterator[SignFlip]:
        """All elements as actions, by number of columns, then lexicographically."""
        for size in range(len(self.flippable) + 1):
            for columns in combinations(self.flippable, size):
                yield SignFlip(columns)


@checked
def sign_flip_group(net: Network) -> SignFlipGroup:
    """Give the group of sign flips of a network; trivial when no hyperplane is hidden.

    With letters in A1 it is that for values with rank A1 = n1, as for `hidden_hyperplanes`.

    Implements: theory §3.3.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> sign_flip_group(net).order
    2
    """
    found = hiding(net)
    return SignFlipGroup(found.flippable, found.conditions)
