"""The full-dimensional activation cells of a ReLU network of any depth, by double description.

Main definitions
    Cell              a convex piece of the domain on which no hidden unit switches, with its rays and affine maps
    cells             all of them, ordered by pattern
    common_cells      the pieces on which neither of two networks switches

Main results
    signs_on          the signs that an affine form takes inside a cell, read off the rays
    facets, facet_rays, signs_on_facet    the same on the facets

A cell is kept as a cone in R^(d+1), the last coordinate x0 ≥ 0 standing for the constant 1: primitive integer rays,
each with a bit mask of the constraints tight on it, and a basis of the lineality space. R^d is one ray and d lines; the
domain and then the units of one layer after the other cut it. Integers throughout: no linear program, no float.

References: theory §1, §9; K. Fukuda, A. Prodon, Double description method revisited (1996).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lcm
from typing import Any, NamedTuple

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.geometry.domain import Domain
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import Vector, affine_value, primitive, vector
from semialg_fibers.networks.layer import Network

IntegerForm = tuple[int, ...]
AnyForm = Sequence[fmpq] | Sequence[int]

MAX_RAYS = 20_000  # of one cell: a box in dimension d has 2^d


@dataclass(frozen=True)
class Cell:
    """A full-dimensional convex piece {x : a·x + γ ≥ 0 for each inequality} on which no hidden unit switches.

    `pattern` has a tuple for each hidden layer, 1 where the preactivation is positive inside the cell. A preactivation
    that is zero on the whole cell counts 0 and stands in `vanishing` as (layer counted from 1, unit from 0).
    `inequalities` (not all of them facets), `rays` and `lineality` are integer vectors, constant last: the cell is the
    part at constant 1 of the cone that rays and ± lineality generate. `scaled[l]` / `scales[l]` are the affine forms,
    in the input, of affine layer l + 1, the last one being the output.

    >>> net = Network([([[1], [2]], [0, -2]), ([[1, -1]], [0])])
    >>> [(cell.pattern, cell.point, cell.matrix, cell.offset) for cell in cells(net)][1:]
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
    def point(self) -> Vector:
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
            raise InvalidNetworkError(f"expected a point with {len(self.rays[0]) - 1} coordinates, got {len(x)}")
        return all(affine_value(vector(form), x) >= 0 for form in self.inequalities)


def cells(net: Network, budget: int = 100_000) -> Iterator[Cell]:
    """Yield every full-dimensional cell {x in the domain : the signs of all preactivations are those of one pattern}.

    They come in the lexicographic order of their patterns, one hidden layer after the other, and fill the domain. One
    generic hidden layer of n units on R^d has Σ_(i≤d) C(n, i).

    Implements: theory §9.

    Raises:
        BudgetExceededError: when there are more than `budget` cells, or one has more than `MAX_RAYS` rays (`.budget`).

    >>> net = Network([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> len(list(cells(net)))
    7
    """
    integral = _integral_layers(net)
    for count, state in enumerate(_descend(_cone_of(net.domain), integral)):
        _check_budget(count, budget)
        yield _cell(state, state.cone, integral)


def common_cells(a: Network, b: Network, budget: int = 100_000) -> Iterator[tuple[Cell, Cell]]:
    """Yield the full-dimensional pieces {cell of a} ∩ {cell of b}, each as seen by a and as seen by b.

    Both cells of a pair have the same inequalities, rays and point; pattern and affine maps are those of a and of b.

    Raises:
        InvalidNetworkError: when the domains differ.
        BudgetExceededError: when there are more than `budget` pieces, or one has more than `MAX_RAYS` rays (`.budget`).

    >>> a = Network([([[1]], [0]), ([[1]], [0])])
    >>> b = Network([([[-1]], [1]), ([[1]], [0])])
    >>> [(left.pattern, right.pattern, right.point) for left, right in common_cells(a, b)]
    [(((0,),), ((1,),), (-1,)), (((1,),), ((0,),), (2,)), (((1,),), ((1,),), (1/2,))]
    """
    if a.domain != b.domain:
        raise InvalidNetworkError(f"the networks live on different domains: {a.domain} and {b.domain}")
    count, left, right = 0, _integral_layers(a), _integral_layers(b)
    for outer in _descend(_cone_of(a.domain), left):
        for inner in _descend(outer.cone, right):
            _check_budget(count, budget)
            count += 1
            yield _cell(outer, inner.cone, left), _cell(inner, inner.cone, right)


def signs_on(cell: Cell, form: AnyForm) -> tuple[bool, bool]:
    """Say whether the form takes a positive and whether it takes a negative value inside the cell.

    Inside the cell every ray has a positive share, so the form w·x + γ is positive somewhere iff it is on a generator.

    >>> cell = next(cells(Network([([[1]], [0]), ([[1]], [0])])))  # x ≤ 0
    >>> signs_on(cell, (1, 1)), signs_on(cell, (1, 0))
    ((True, True), (False, True))
    """
    return _signs(form, cell.rays, cell.lineality)


def facets(cell: Cell) -> tuple[IntegerForm, ...]:
    """Give the inequalities a·x + γ ≥ 0 of the cell that hold with equality on a face of dimension d − 1.

    >>> from semialg_fibers.geometry.domain import Box
    >>> square = Network([([[1, 1]], [5]), ([[1]], [0])], Box([0, 0], [1, 1]))
    >>> facets(next(cells(square)))
    ((1, 0, 0), (-1, 0, 1), (0, 1, 0), (0, -1, 1))
    """
    return tuple(form for form in cell.inequalities if facet_rays(cell, form) is not None)


def facet_rays(cell: Cell, facet_form: AnyForm) -> tuple[IntegerForm, ...] | None:
    """Give the rays of cell ∩ {facet_form = 0} when that is a facet (of dimension d − 1), else None.

    >>> first = next(cells(Network([([[1, 0]], [0]), ([[1]], [0])])))  # x1 ≤ 0
    >>> facet_rays(first, (5, 0, 0)), facet_rays(first, (1, 0, 1))
    (((0, 0, 1),), None)
    """
    form = _integral(facet_form)
    if any(_value(form, line) for line in cell.lineality):
        return None
    values = [_value(form, ray) for ray in cell.rays]
    tight = tuple(ray for ray, value in zip(cell.rays, values, strict=True) if value == 0)
    if min(values) < 0 < max(values) or not any(ray[-1] for ray in tight):  # cut through, or touched at infinity only
        return None
    dimension = Matrix.from_integers(tight + cell.lineality).rank() - 1
    return tight if dimension == len(form) - 2 else None


def signs_on_facet(cell: Cell, facet_form: AnyForm, form: AnyForm) -> tuple[bool, bool] | None:
    """Give the signs of `form` on the relative interior of cell ∩ {facet_form = 0}, as `signs_on`; None if no facet.

    >>> first = next(cells(Network([([[1, 0]], [0]), ([[1]], [0])])))  # x1 ≤ 0
    >>> signs_on_facet(first, (1, 0, 0), (1, 0, 1)), signs_on_facet(first, (1, 0, 1), (1, 0, 1))
    ((True, False), None)
    """
    rays = facet_rays(cell, facet_form)
    return None if rays is None else _signs(form, rays, cell.lineality)


# the cones


class _Cone(NamedTuple):
    """A full-dimensional cone; bit k of a ray's mask says that constraints[k] ≥ 0 is tight on it."""

    constraints: tuple[IntegerForm, ...]  # the first is x0 ≥ 0
    rays: tuple[IntegerForm, ...]
    masks: tuple[int, ...]
    lineality: tuple[IntegerForm, ...]


def _value(form: Sequence[int], ray: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(form, ray, strict=True))


def _integral(form: AnyForm) -> IntegerForm:
    integers = tuple(value for value in form if isinstance(value, int))
    return integers if len(integers) == len(form) else primitive(vector(form))


def _signs(form: AnyForm, rays: Iterable[IntegerForm], lines: Iterable[IntegerForm]) -> tuple[bool, bool]:
    integral = _integral(form)
    if any(_value(integral, line) for line in lines):
        return True, True
    values = [_value(integral, ray) for ray in rays]
    return any(value > 0 for value in values), any(value < 0 for value in values)


def _eliminated(ray: IntegerForm, value: int, along: IntegerForm, positive: int) -> IntegerForm:
    """Give the primitive positive multiple of positive·ray − value·along, on which the form is zero."""
    combined = [positive * a - value * b for a, b in zip(ray, along, strict=True)]
    divisor = gcd(*combined)
    return tuple(entry // divisor for entry in combined)


def _cone_of(domain: Domain) -> _Cone:
    size = domain.dimension + 1
    axes = [tuple(int(i == j) for j in range(size)) for i in range(size)]
    cone = _Cone((axes[-1],), (axes[-1],), (0,), tuple(axes[:-1]))
    for form in domain.constraints():
        _, above = _split(cone, primitive(form))
        assert above is not None  # a domain has an interior
        cone = above
    return cone


def _split(cone: _Cone, form: IntegerForm) -> tuple[_Cone | None, _Cone | None]:
    """Give the parts {form ≤ 0} and {form ≥ 0} of the cone, None for a part without interior; two None if form = 0."""
    for place, line in enumerate(cone.lineality):
        if value := _value(form, line):
            return _split_line(cone, form, place, value)
    values = [_value(form, ray) for ray in cone.rays]
    above = [i for i, value in enumerate(values) if value > 0]
    below = [i for i, value in enumerate(values) if value < 0]
    if not above or not below:
        return cone if below else None, cone if above else None
    bit = 1 << len(cone.constraints)
    rays, masks = cone.rays, cone.masks
    between = [(rays[i], masks[i] | bit) for i, value in enumerate(values) if value == 0]
    for i, j, common in _adjacent(cone, above, below):
        between.append((_eliminated(rays[j], values[j], rays[i], values[i]), common | bit))
    if len(above) + len(below) + len(between) > MAX_RAYS:
        raise BudgetExceededError(f"a cell has more than {MAX_RAYS} rays", budget=MAX_RAYS)
    parts = []
    for kept, sign in ((below, -1), (above, 1)):
        both = [(rays[i], masks[i]) for i in kept] + between
        oriented = tuple(sign * value for value in form)
        constraints = (*cone.constraints, oriented)
        parts.append(_Cone(constraints, tuple(r for r, _ in both), tuple(m for _, m in both), cone.lineality))
    return parts[0], parts[1]


def _split_line(cone: _Cone, form: IntegerForm, place: int, value: int) -> tuple[_Cone, _Cone]:
    """Split along a line on which the form is not constant: push all else into {form = 0}, halve the line."""
    known = len(cone.constraints)
    up = tuple(entry if value > 0 else -entry for entry in cone.lineality[place])
    pushed = [_eliminated(ray, _value(form, ray), up, abs(value)) for ray in cone.rays]
    rest = cone.lineality[:place] + cone.lineality[place + 1 :]
    lines = tuple(_eliminated(line, _value(form, line), up, abs(value)) for line in rest)
    masks = (*(mask | 1 << known for mask in cone.masks), (1 << known) - 1)
    down, opposite = tuple(-entry for entry in up), tuple(-entry for entry in form)
    return (
        _Cone((*cone.constraints, opposite), (*pushed, down), masks, lines),
        _Cone((*cone.constraints, form), (*pushed, up), masks, lines),
    )


def _adjacent(cone: _Cone, above: list[int], below: list[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the pairs that span a two-dimensional face: no third ray is tight wherever both are.

    The test is exact for degenerate cones and with redundant constraints. A two-dimensional face needs dim − 2
    independent tight constraints, which discards most pairs by a count.
    """
    least = len(cone.constraints[0]) - len(cone.lineality) - 2
    for i in above:
        for j in below:
            common = cone.masks[i] & cone.masks[j]
            if common.bit_count() >= least and sum(mask & common == common for mask in cone.masks) == 2:
                yield i, j, common


# the descent through the layers


class _State(NamedTuple):
    """A cone on which the units of the complete layers in `pattern`, and those in `bits` of the next, do not switch."""

    cone: _Cone
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


def _descend(start: _Cone, net: _IntegralLayers) -> Iterator[_State]:
    """Yield the pieces of the cone on which no hidden unit of the network switches, depth first, by an own stack."""
    stack = [_State(start, (), (), (), (tuple(net.rows[0]),))]
    while stack:
        state = stack.pop()
        depth, unit = len(state.pattern), len(state.bits)
        if depth == len(net.rows) - 1:
            yield state
        elif unit == len(state.scaled[-1]):
            following = _next_forms(net.rows[depth + 1], state.scaled[-1], state.bits, net.scales[depth])
            pattern, scaled = (*state.pattern, state.bits), (*state.scaled, following)
            stack.append(state._replace(pattern=pattern, bits=(), scaled=scaled))
        else:
            form = state.scaled[-1][unit]
            divisor = gcd(*form)
            if divisor == 0:
                vanishing = (*state.vanishing, (depth + 1, unit))
                stack.append(state._replace(bits=(*state.bits, 0), vanishing=vanishing))
                continue
            below, above = _split(state.cone, tuple(value // divisor for value in form))
            for bit, part in ((1, above), (0, below)):
                if part is not None:
                    stack.append(state._replace(cone=part, bits=(*state.bits, bit)))


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


def _cell(state: _State, cone: _Cone, net: _IntegralLayers) -> Cell:
    inequalities = cone.constraints[1:]
    return Cell(state.pattern, state.vanishing, inequalities, cone.rays, cone.lineality, state.scaled, net.scales)


def _check_budget(count: int, budget: int) -> None:
    if count >= budget:
        raise BudgetExceededError(f"there are more than the budget of {budget} cells", budget=budget)
