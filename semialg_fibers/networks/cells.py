"""The full-dimensional activation cells of a ReLU network of any depth, by double description.

Main definitions
    Cell              a convex piece of the domain on which no hidden unit switches, with its rays and affine maps
    cells             all of them, ordered by pattern
    common_cells      the pieces on which neither of two networks switches
    Branch            a part of the descent through the units, which can be enumerated apart

Main results
    signs_on          the signs that an affine form takes inside a cell, read off the rays
    facets, facet_rays, signs_on_facet    the same on the facets

A cell is kept as a cone in R^(d+1), the last coordinate x0 ≥ 0 standing for the constant 1. R^d is one ray and d
lines; the domain and then the units of one layer after the other cut it.

References: theory §1, §9.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.domain import Space
from semialg_fibers.geometry.double_description import (
    AnyForm,
    Cone,
    Effort,
    IntegerForm,
    cone_of,
    integral,
    signs,
    split,
    value_on,
)
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import Vector, affine_value, quantity, sympy_rational, vector
from semialg_fibers.networks.expected import expect_network
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    import sympy


COMPARISONS = 2_000  # allowed for each cell of a budget


@dataclass(frozen=True)
class Cell:
    """A full-dimensional convex piece {x : a·x + γ ≥ 0 for each inequality} on which no hidden unit switches.

    `pattern` has a tuple for each hidden layer, 1 where the preactivation is positive inside the cell. A preactivation
    that is zero on the whole cell counts 0 and stands in `vanishing` as (layer counted from 1, unit from 0).
    `inequalities` (not all of them facets), `rays` and `lineality` are integer vectors, constant last: the cell is the
    part at constant 1 of the cone that rays and ± lineality generate. `scaled[l]` / `scales[l]` are the affine forms,
    in the input, of affine layer l + 1, the last one being the output.

    >>> net = Network([([[1], [2]], [0, -2]), ([[1, -1]], [0])])
    >>> [(cell.pattern, cell.interior, cell.matrix, cell.offset) for cell in cells(net)][1:]
    [(((1, 0),), (1/2,), Matrix([['1']]), (0,)), (((1, 1),), (2,), Matrix([['-1']]), (2,))]
    """

    pattern: tuple[tuple[int, ...], ...]
    vanishing: tuple[tuple[int, int], ...]
    inequalities: tuple[IntegerForm, ...]
    rays: tuple[IntegerForm, ...]
    lineality: tuple[IntegerForm, ...]
    scaled: tuple[tuple[IntegerForm, ...], ...]
    scales: tuple[int, ...]

    @cached_property
    def interior(self) -> Vector:
        """The interior point that is the sum of all rays, brought to constant 1."""
        total = [sum(column) for column in zip(*self.rays, strict=True)]
        return tuple(fmpq(value, total[-1]) for value in total[:-1])

    @cached_property
    def matrix(self) -> Matrix:
        """M of the network's affine map x ↦ M x + v on the cell (m × d)."""
        rows = [form[:-1] for form in self.scaled[-1]]
        return Matrix.from_integers(rows, [self.scales[-1]] * len(rows))

    @cached_property
    def offset(self) -> Vector:
        """The vector v of the network's affine map x ↦ M x + v on the cell (m,)."""
        return tuple(fmpq(form[-1], self.scales[-1]) for form in self.scaled[-1])

    @property
    def point(self) -> tuple[sympy.Rational, ...]:
        """The interior point in SymPy rationals."""
        return tuple(sympy_rational(value) for value in self.interior)

    @property
    def weight(self) -> sympy.ImmutableMatrix:
        """M as a SymPy matrix (m × d)."""
        return self.matrix.to_sympy()

    @property
    def bias(self) -> tuple[sympy.Rational, ...]:
        """The vector v in SymPy rationals (m,)."""
        return tuple(sympy_rational(value) for value in self.offset)

    @cached_property
    def preactivations(self) -> tuple[tuple[Vector, ...], ...]:
        """For each hidden layer the affine forms, in the input, of its units on the cell, constant last."""
        hidden = zip(self.scaled[:-1], self.scales[:-1], strict=True)
        return tuple(tuple(tuple(fmpq(value, scale) for value in form) for form in forms) for forms, scale in hidden)

    def contains(self, point: Iterable[Any]) -> bool:
        """Say whether every inequality a·x + γ ≥ 0 holds at the point, so boundary points belong to the cell.

        Raises:
            InvalidNetworkError: for a point of another dimension.
        """
        x = vector(point)
        if len(x) != len(self.rays[0]) - 1:
            raise InvalidNetworkError(
                f"expected a point with {quantity(len(self.rays[0]) - 1, 'coordinate')}, got {len(x)}"
            )
        return all(affine_value(vector(form), x) >= 0 for form in self.inequalities)


def each_cell(net: Network, budget: int = 100_000, seconds: float | None = None) -> Iterator[Cell]:
    """Yield every full-dimensional cell {x in the domain : the signs of all preactivations are those of one pattern}.

    They come in the lexicographic order of their patterns, one hidden layer after the other, and fill the domain. One
    generic hidden layer of n units on R^d has Σ_(i≤d) C(n, i).

    Implements: theory §9.

    Raises:
        BudgetExceededError: when there are more than `budget` cells, one has more than `MAX_RAYS` rays (`.budget`), or
            they take more comparisons than so many cells are allowed, or more `seconds`.

    >>> net = Network([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> len(list(each_cell(net)))
    7
    """
    expect_network(net)
    check_least(net, budget)
    integral = _integral_layers(net)
    for count, state in enumerate(_descend(cone_of(net.domain), integral, Effort(COMPARISONS * budget, seconds))):
        _check_budget(count, budget)
        yield _cell(state, state.cone, integral)


@checked
def cells(net: Network, budget: int = 100_000, seconds: float | None = None) -> tuple[Cell, ...]:
    """Give every full-dimensional activation cell of a network of any depth, as `each_cell` yields them.

    Implements: theory §9.

    Raises:
        BudgetExceededError: when there are more than `budget` cells, one has more than `MAX_RAYS` rays (`.budget`), or
            they take more comparisons than so many cells are allowed, or more `seconds`.

    >>> net = Network([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> [(cell.pattern, cell.point, cell.weight, cell.bias) for cell in cells(net)]
    [(((0, 1),), (-1,), Matrix([[-1]]), (0,)), (((1, 0),), (1,), Matrix([[1]]), (0,))]
    """
    return tuple(each_cell(net, budget, seconds))


def common_cells(
    a: Network, b: Network, budget: int = 100_000, seconds: float | None = None
) -> Iterator[tuple[Cell, Cell]]:
    """Yield the full-dimensional pieces {cell of a} ∩ {cell of b}, each as seen by a and as seen by b.

    Both cells of a pair have the same inequalities, rays and point; pattern and affine maps are those of a and of b.

    Raises:
        InvalidNetworkError: when the domains differ.
        BudgetExceededError: when there are more than `budget` pieces, or one has more than `MAX_RAYS` rays (`.budget`).

    >>> a = Network([([[1]], [0]), ([[1]], [0])])
    >>> b = Network([([[-1]], [1]), ([[1]], [0])])
    >>> [(left.pattern, right.pattern, right.interior) for left, right in common_cells(a, b)]
    [(((0,),), ((1,),), (-1,)), (((1,),), ((0,),), (2,)), (((1,),), ((1,),), (1/2,))]
    """
    expect_network(a, b)
    b.refuse_letters()
    if a.domain != b.domain:
        raise InvalidNetworkError(f"the networks live on different domains: {a.domain} and {b.domain}")
    check_least(a, budget)
    check_least(b, budget)
    count, left, right = 0, _integral_layers(a), _integral_layers(b)
    effort = Effort(COMPARISONS * budget, seconds)
    for outer in _descend(cone_of(a.domain), left, effort):
        for inner in _descend(outer.cone, right, effort):
            _check_budget(count, budget)
            count += 1
            yield _cell(outer, inner.cone, left), _cell(inner, inner.cone, right)


def branches(net: Network, least: int = 64, budget: int = 100_000) -> list[Branch]:
    """Cut the cells into parts that can be enumerated apart: at least so many, in order, where there are so many cells.

    Raises:
        BudgetExceededError: as `each_cell`.

    >>> net = Network([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> [len(list(branch_cells(net, branch))) for branch in branches(net, 3)]
    [1, 2, 2, 2]
    """
    check_least(net, budget)
    integral, effort = _integral_layers(net), Effort(COMPARISONS * budget)
    found = [_root(cone_of(net.domain), integral)]
    # All states have decided the same units, so they are complete together.
    while len(found) < least and len(found[0].pattern) < len(net.layers) - 1:
        found = [child for state in found for child in _children(state, integral, effort)]
    return found


def branch_cells(net: Network, branch: Branch, budget: int = 100_000) -> Iterator[Cell]:
    """Yield the cells of one of the `branches`, as `each_cell` yields all.

    Raises:
        BudgetExceededError: as `each_cell`, for this branch.
    """
    integral = _integral_layers(net)
    for count, state in enumerate(_below(branch, integral, Effort(COMPARISONS * budget))):
        _check_budget(count, budget)
        yield _cell(state, state.cone, integral)


def signs_on(cell: Cell, form: AnyForm) -> tuple[bool, bool]:
    """Say whether the form takes a positive and whether it takes a negative value inside the cell.

    Inside the cell every ray has a positive share, so the form w·x + γ is positive somewhere iff it is on a generator.

    >>> cell = next(each_cell(Network([([[1]], [0]), ([[1]], [0])])))  # x ≤ 0
    >>> signs_on(cell, (1, 1)), signs_on(cell, (1, 0))
    ((True, True), (False, True))
    """
    return signs(form, cell.rays, cell.lineality)


def facets(cell: Cell) -> tuple[IntegerForm, ...]:
    """Give the inequalities a·x + γ ≥ 0 of the cell that hold with equality on a face of dimension d − 1.

    >>> from semialg_fibers.geometry.domain import Box
    >>> square = Network([([[1, 1]], [5]), ([[1]], [0])], Box([0, 0], [1, 1]))
    >>> facets(next(each_cell(square)))
    ((1, 0, 0), (-1, 0, 1), (0, 1, 0), (0, -1, 1))
    """
    return tuple(form for form in cell.inequalities if facet_rays(cell, form) is not None)


def facet_rays(cell: Cell, facet_form: AnyForm) -> tuple[IntegerForm, ...] | None:
    """Give the rays of cell ∩ {facet_form = 0} when that is a facet (of dimension d − 1), else None.

    >>> first = next(each_cell(Network([([[1, 0]], [0]), ([[1]], [0])])))  # x1 ≤ 0
    >>> facet_rays(first, (5, 0, 0)), facet_rays(first, (1, 0, 1))
    (((0, 0, 1),), None)
    """
    form = integral(facet_form)
    if any(value_on(form, line) for line in cell.lineality):
        return None
    values = [value_on(form, ray) for ray in cell.rays]
    tight = tuple(ray for ray, value in zip(cell.rays, values, strict=True) if value == 0)
    if min(values) < 0 < max(values) or not any(ray[-1] for ray in tight):  # cut through, or touched at infinity only
        return None
    dimension = Matrix.from_integers(tight + cell.lineality).rank() - 1
    return tight if dimension == len(form) - 2 else None


def signs_on_facet(cell: Cell, facet_form: AnyForm, form: AnyForm) -> tuple[bool, bool] | None:
    """Give the signs of `form` on the relative interior of cell ∩ {facet_form = 0}, as `signs_on`; None if no facet.

    >>> first = next(each_cell(Network([([[1, 0]], [0]), ([[1]], [0])])))  # x1 ≤ 0
    >>> signs_on_facet(first, (1, 0, 0), (1, 0, 1)), signs_on_facet(first, (1, 0, 1), (1, 0, 1))
    ((True, False), None)
    """
    rays = facet_rays(cell, facet_form)
    return None if rays is None else signs(form, rays, cell.lineality)


# the descent through the layers


class Branch(NamedTuple):
    """A cone on which the units of the complete layers in `pattern`, and those in `bits` of the next, do not switch."""

    cone: Cone
    pattern: tuple[tuple[int, ...], ...]
    bits: tuple[int, ...]
    vanishing: tuple[tuple[int, int], ...]
    scaled: tuple[tuple[IntegerForm, ...], ...]


class _IntegralLayers(NamedTuple):
    """The rows of [W | b] of each layer times its least common denominator, and the products of these so far."""

    rows: list[list[IntegerForm]]
    scales: tuple[int, ...]


def _integral_layers(net: Network) -> _IntegralLayers:
    rows, scales = [], [1]
    for layer in net.layers:
        scale = lcm(*layer.matrix.denominators(), *(int(value.q) for value in layer.offset))
        rows.append([tuple(int(value * scale) for value in form) for form in layer.forms])
        scales.append(scales[-1] * scale)
    return _IntegralLayers(rows, tuple(scales[1:]))


def _descend(start: Cone, net: _IntegralLayers, effort: Effort) -> Iterator[Branch]:
    """Yield the pieces of the cone on which no hidden unit of the network switches, depth first."""
    return _below(_root(start, net), net, effort)


def _below(start: Branch, net: _IntegralLayers, effort: Effort) -> Iterator[Branch]:
    """Yield the complete states below one, by an own stack."""
    stack = [start]
    while stack:
        state = stack.pop()
        if len(state.pattern) == len(net.rows) - 1:
            yield state
        else:
            stack.extend(reversed(_children(state, net, effort)))


def _root(start: Cone, net: _IntegralLayers) -> Branch:
    return Branch(start, (), (), (), (tuple(net.rows[0]),))


def _children(state: Branch, net: _IntegralLayers, effort: Effort) -> list[Branch]:
    """Give the one or two states after the next unit, or after the layer whose units are all decided."""
    depth, unit = len(state.pattern), len(state.bits)
    if unit == len(state.scaled[-1]):
        following = _next_forms(net.rows[depth + 1], state.scaled[-1], state.bits, net.scales[depth])
        pattern, scaled = (*state.pattern, state.bits), (*state.scaled, following)
        return [state._replace(pattern=pattern, bits=(), scaled=scaled)]
    form = state.scaled[-1][unit]
    divisor = gcd(*form)
    if divisor == 0:
        return [state._replace(bits=(*state.bits, 0), vanishing=(*state.vanishing, (depth + 1, unit)))]
    effort.spend(len(state.cone.rays))
    parts = split(state.cone, tuple(value // divisor for value in form), effort)
    return [state._replace(cone=part, bits=(*state.bits, bit)) for bit, part in enumerate(parts) if part is not None]


def _next_forms(
    rows: list[IntegerForm], forms: tuple[IntegerForm, ...], bits: tuple[int, ...], scale: int
) -> tuple[IntegerForm, ...]:
    """Give the scaled forms of the next layer: its rows on the active ones of `forms`, which carry `scale`."""
    active = [j for j, bit in enumerate(bits) if bit]
    made = []
    for row in rows:
        total = [0] * (len(forms[0]) - 1) + [row[-1] * scale]
        for j in active:
            if weight := row[j]:
                total = [a + weight * b for a, b in zip(total, forms[j], strict=True)]
        made.append(tuple(total))
    return tuple(made)


def _cell(state: Branch, cone: Cone, net: _IntegralLayers) -> Cell:
    inequalities = cone.constraints[1:]
    return Cell(state.pattern, state.vanishing, inequalities, cone.rays, cone.lineality, state.scaled, net.scales)


def check_least(net: Network, budget: int) -> None:
    """Refuse at once what has too many cells: ρ independent hyperplanes cut R^d into 2^ρ cells at least."""
    expect_network(net)
    net.refuse_letters()
    rank = net.layers[0].matrix.rank() if len(net.layers) > 1 and isinstance(net.domain, Space) else 0
    if 2**rank > budget:
        raise BudgetExceededError(
            f"there are at least 2^{rank} cells, more than the budget of {quantity(budget, 'cell')}", budget=budget
        )


def _check_budget(count: int, budget: int) -> None:
    if count >= budget:
        raise BudgetExceededError(f"there are more than the budget of {quantity(budget, 'cell')}", budget=budget)
