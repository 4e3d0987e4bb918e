"""The bent hyperplanes of a network with two inputs, or of its restriction to a plane: exact polygons and vertices.

Main definitions
    Plane              {origin + s first + t second}, a plane in the input space
    Region             an activation cell as a polygon, with its affine map
    Piece              a segment on which one unit switches, and whether the function bends there
    BentArrangement    all regions, pieces and vertices in a window

Main results
    bent_arrangement   all of them, exactly
    on_plane           the network restricted to a plane

References: theory §1, §9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, cmp_to_key
from itertools import pairwise
from typing import Any

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.double_description import IntegerForm, value_on
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.geometry.scalar import Vector, affine_value, dot, quantity, shown, vector
from semialg_fibers.networks.cells import Cell, each_cell
from semialg_fibers.networks.layer import Layer, Network

REGIONS = 5_000  # the most that a picture is made of
MARGIN = fmpq(2, 5)  # of a window beyond the vertices, on each side
ALL_VERTICES = 60  # of more, the outer fifth on each side is left out of the window: a few may lie far away
LEAST_SIDE = fmpq(4)

Window = tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]


@dataclass(frozen=True, init=False)
class Plane:
    """The plane {origin + s first + t second} in R^d, with exact entries.

    >>> plane = Plane([0, 0, 1], [1, 0, 0], [0, "1/2", 0])
    >>> plane.point((2, 4))
    (2, 2, 1)
    """

    origin: Vector
    first: Vector
    second: Vector

    def __init__(self, origin: Iterable[Any], first: Iterable[Any], second: Iterable[Any]) -> None:
        """Read a point and two directions.

        Raises:
            InvalidNetworkError: when their lengths differ or the directions are dependent.
        """
        parts = tuple(vector(part) for part in (origin, first, second))
        if len({len(part) for part in parts}) > 1:
            raise InvalidNetworkError(f"a plane needs three vectors of one length, got {[len(part) for part in parts]}")
        if Matrix([parts[1], parts[2]]).rank() < 2:
            raise InvalidNetworkError("the two directions of a plane are dependent: give others")
        for name, part in zip(("origin", "first", "second"), parts, strict=True):
            object.__setattr__(self, name, part)

    def __str__(self) -> str:
        """Show data that `Plane` reads."""
        parts = ([str(value) for value in part] for part in (self.origin, self.first, self.second))
        return f"Plane({', '.join(map(str, parts))})"

    def point(self, at: Iterable[Any]) -> Vector:
        """Give origin + s first + t second for (s, t)."""
        s, t = vector(at)
        return tuple(o + s * a + t * b for o, a, b in zip(self.origin, self.first, self.second, strict=True))


def on_plane(net: Network, plane: Plane) -> Network:
    """Give the network (s, t) ↦ f(origin + s first + t second), on the part of the plane in the domain.

    Implements: theory §1.

    Raises:
        InvalidNetworkError: for a plane in another space, or one that meets the domain in no open part.

    >>> net = Network([([[1, 2, 3]], [4]), ([[1]], [0])])
    >>> on_plane(net, Plane([0, 0, 1], [1, 0, 0], [0, 1, 0])).layers[0]
    Layer([['1', '2']], ['7'])
    """
    if len(plane.origin) != net.widths[0]:
        raise InvalidNetworkError(
            f"the plane lies in R^{len(plane.origin)}, the network has {quantity(net.widths[0], 'input')}"
        )

    def pulled(form: Sequence[fmpq]) -> Vector:
        return (dot(form[:-1], plane.first), dot(form[:-1], plane.second), affine_value(form, plane.origin))

    forms = [pulled(form) for form in net.layers[0].forms]
    first = Layer([form[:-1] for form in forms], [form[-1] for form in forms])
    limits = [pulled(form) for form in net.domain.constraints()]
    try:
        sides = [[-a for a in form[:-1]] for form in limits]
        domain = Polyhedron(sides, [form[-1] for form in limits]) if limits else None
    except InvalidNetworkError:
        through = Plane(net.domain.interior_point(), plane.first, plane.second)
        raise InvalidNetworkError(
            f"the {plane} meets the domain {net.domain} in no open part; plane={through} goes through its interior",
            plane=through,
        ) from None
    return Network([first, *net.layers[1:]], domain)


@dataclass(frozen=True)
class Region:
    """A convex polygon on which no unit switches: its corners, counterclockwise, and x ↦ slope x + offset on it."""

    corners: tuple[Vector, ...]
    pattern: tuple[tuple[int, ...], ...]
    slope: tuple[Vector, ...]
    offset: Vector

    @property
    def area(self) -> fmpq:
        """The area, by the shoelace formula."""
        turned = (*self.corners[1:], self.corners[0])
        return sum((p[0] * q[1] - p[1] * q[0] for p, q in zip(self.corners, turned, strict=True)), fmpq(0)) / 2


@dataclass(frozen=True)
class Piece:
    """A segment on which the preactivation of one unit (layer from 1, unit from 0) is zero and changes its sign.

    `bends` says whether the function itself has different gradients on its two sides.
    """

    layer: int
    unit: int
    ends: tuple[Vector, Vector]
    bends: bool


@dataclass(frozen=True)
class BentArrangement:
    """The bent hyperplanes of a network with two inputs in a window: `regions` fill it, `pieces` bound them."""

    network: Network
    window: Window
    regions: tuple[Region, ...]
    pieces: tuple[Piece, ...]

    @cached_property
    def vertices(self) -> dict[Vector, tuple[tuple[int, int], ...]]:
        """The corners of regions inside the window, sorted, each with the units (layer, unit) that are zero there.

        >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[2, -1]], [-3]), ([[1]], [0])])
        >>> bent_arrangement(net).vertices
        {(0, 0): ((1, 0), (1, 1)), (3/2, 0): ((1, 1), (2, 0))}
        """
        limits = [vector(form) for form in self.network.domain.constraints()]
        inside = {
            corner
            for region in self.regions
            for corner in region.corners
            if all(affine_value(form, corner) > 0 for form in limits) and _inside(corner, self.window)
        }
        return {corner: _zeros(self.network, corner) for corner in sorted(inside)}

    @property
    def maps(self) -> tuple[tuple[tuple[Vector, ...], Vector], ...]:
        """The different affine maps of the function, in the order of the regions."""
        return tuple(dict.fromkeys((region.slope, region.offset) for region in self.regions))


def bent_arrangement(net: Network, window: Any = None, budget: int = REGIONS) -> BentArrangement:
    """Give the regions, the pieces of bent hyperplanes and their vertices in a window, exactly.

    `window` is ((low, high), (low, high)); unless given, a square that holds every vertex with a margin, or most of
    them where there are more than `ALL_VERTICES`.

    Implements: theory §9.

    Raises:
        UnsupportedError: for another number of inputs than two.
        InvalidNetworkError: for a window without interior, or outside the domain.
        BudgetExceededError: when there are more regions than the budget.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[2, -1]], [-3]), ([[1]], [0])])
    >>> found = bent_arrangement(net, ((-2, 2), (-2, 2)))
    >>> len(found.regions), [(p.layer, p.unit, p.ends) for p in found.pieces if p.bends]
    (6, [(1, 1, ((3/2, 0), (2, 0))), (2, 0, ((3/2, -2), (3/2, 0))), (2, 0, ((3/2, 0), (2, 1)))])
    """
    if net.widths[0] != 2:
        raise UnsupportedError(
            f"a picture in the plane needs two inputs, this network has {net.widths[0]}: restrict it to a plane"
        )
    chosen = _default_window(net, budget) if window is None else _read_window(window)
    (left, right), (low, high) = chosen
    limits = [vector(form) for form in net.domain.constraints()]
    rows = [[-1, 0], [1, 0], [0, -1], [0, 1], *([-a for a in form[:-1]] for form in limits)]
    inner = Network(net.layers, Polyhedron(rows, [-left, right, -low, high, *(form[-1] for form in limits)]))
    regions: list[Region] = []
    edges: dict[tuple[Vector, Vector], list[int]] = {}
    switching: dict[tuple[Vector, Vector], set[tuple[int, int]]] = {}
    for number, cell in enumerate(each_cell(inner, budget)):
        corners = _counterclockwise(cell)
        points = [tuple(fmpq(x, ray[-1]) for x in ray[:-1]) for ray in corners]
        slope = tuple(cell.matrix.row(a) for a in range(net.widths[-1]))
        regions.append(Region(tuple(points), cell.pattern, slope, cell.offset))
        for k, ray in enumerate(corners):
            following = (k + 1) % len(corners)
            key = (min(points[k], points[following]), max(points[k], points[following]))
            edges.setdefault(key, []).append(number)
            switching.setdefault(key, set()).update(_units_on(cell, ray, corners[following]))
    pieces = _pieces(_joined(edges, switching), regions)
    return BentArrangement(net, chosen, tuple(regions), pieces)


def _inside(point: Vector, window: Window) -> bool:
    return all(low < value < high for value, (low, high) in zip(point, window, strict=True))


def _zeros(net: Network, point: Vector) -> tuple[tuple[int, int], ...]:
    """Give the units whose preactivation is zero at the point."""
    found, x = [], point
    for number, layer in enumerate(net.layers[:-1], 1):
        z = layer.apply(x)
        found += [(number, j) for j, value in enumerate(z) if value == 0]
        x = tuple(value if value > 0 else fmpq(0) for value in z)
    return tuple(found)


def _counterclockwise(cell: Cell) -> list[IntegerForm]:
    """Sort the rays of a bounded cell by the angle under which the interior point sees them, exactly."""
    centre = cell.interior

    def seen(ray: IntegerForm) -> tuple[fmpq, fmpq]:
        return fmpq(ray[0], ray[-1]) - centre[0], fmpq(ray[1], ray[-1]) - centre[1]

    def upper(v: tuple[fmpq, fmpq]) -> bool:
        return bool(v[1] > 0 or (v[1] == 0 and v[0] > 0))

    def before(p: Any, q: Any) -> int:
        if upper(p[0]) != upper(q[0]):
            return -1 if upper(p[0]) else 1
        turn = p[0][0] * q[0][1] - p[0][1] * q[0][0]
        return -1 if turn > 0 else 1 if turn < 0 else 0

    return [ray for _, ray in sorted(((seen(ray), ray) for ray in cell.rays), key=cmp_to_key(before))]


def _units_on(cell: Cell, p: IntegerForm, q: IntegerForm) -> Iterable[tuple[int, int]]:
    """Yield the units whose preactivation, not zero on the whole cell, is zero at both points."""
    for layer, forms in enumerate(cell.scaled[:-1], 1):
        for unit, form in enumerate(forms):
            if any(form) and value_on(form, p) == 0 and value_on(form, q) == 0:
                yield layer, unit


Edges = dict[tuple[Vector, Vector], tuple[list[int], set[tuple[int, int]]]]


def _joined(edges: dict[Any, list[int]], switching: dict[Any, set[tuple[int, int]]]) -> Edges:
    """Cut an edge of one region where corners of its neighbours lie on it, so that each edge has both its regions."""
    lonely = [key for key, owners in edges.items() if len(owners) == 1 and switching[key]]
    corners = sorted({point for key in lonely for point in key})
    made: Edges = {key: (owners, switching[key]) for key, owners in edges.items() if key not in set(lonely)}
    for p, q in lonely:
        stops = [p, *(c for c in corners if p < c < q and _on_line(p, q, c)), q]
        for ends in pairwise(stops):
            owners, units = made.setdefault(ends, ([], set()))
            owners += edges[p, q]
            units |= switching[p, q]
    return made


def _on_line(p: Vector, q: Vector, c: Vector) -> bool:
    return bool((q[0] - p[0]) * (c[1] - p[1]) == (q[1] - p[1]) * (c[0] - p[0]))


def _pieces(edges: Edges, regions: Sequence[Region]) -> tuple[Piece, ...]:
    found = []
    for ends, (owners, units) in edges.items():
        maps = {(regions[k].slope, regions[k].offset) for k in owners}
        patterns = [regions[k].pattern for k in owners]
        for layer, unit in units:
            if len({pattern[layer - 1][unit] for pattern in patterns}) > 1:
                found.append(Piece(layer, unit, ends, len(maps) > 1))
    return tuple(sorted(found, key=lambda piece: (piece.layer, piece.unit, piece.ends)))


def _read_window(window: Any) -> Window:
    try:
        (left, right), (low, high) = (vector(side) for side in window)
    except (TypeError, ValueError):
        raise InvalidNetworkError(
            f"a window is ((low, high), (low, high)), got {shown(window)}", value=window
        ) from None
    if not (left < right and low < high):
        raise InvalidNetworkError(
            f"the window [{left}, {right}] × [{low}, {high}] has no interior: each low end is below its high end",
            value=window,
        )
    return (left, right), (low, high)


def _default_window(net: Network, budget: int) -> Window:
    """Hold the vertices of cells, or else the points of the first layer's lines next to the origin."""
    points = {
        tuple(fmpq(x, ray[-1]) for x in ray[:-1])
        for cell in each_cell(net, budget)
        for ray in cell.rays
        if ray[-1] and not cell.lineality
    }
    if not points:
        for *normal, bias in net.layers[0].forms:
            if any(normal):
                points.add(tuple(-bias * a / dot(normal, normal) for a in normal))
    points = points or {(fmpq(0), fmpq(0))}
    ends = []
    for k in range(2):
        values = sorted(point[k] for point in points)
        skipped = len(values) // 5 if len(values) > ALL_VERTICES else 0
        ends.append((values[skipped], values[-1 - skipped]))
    side = max(LEAST_SIDE, *((high - low) * (1 + 2 * MARGIN) for low, high in ends))
    (a, b), (c, d) = ends
    return _around((a + b) / 2, side), _around((c + d) / 2, side)


def _around(middle: fmpq, side: fmpq) -> tuple[fmpq, fmpq]:
    return _rounded(middle - side / 2, -1), _rounded(middle + side / 2, 1)


def _rounded(value: fmpq, direction: int) -> fmpq:
    """Round outwards to a half, so that windows have short numbers."""
    doubled = 2 * value
    down = fmpq(doubled.floor())
    return (down if direction < 0 or down == doubled else down + 1) / 2
