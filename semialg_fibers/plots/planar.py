"""Functions of two inputs, or on a plane: bent hyperplanes, linear pieces, the function before and after a symmetry.

Main results
    plot_arrangement    regions coloured by linear piece, bent hyperplanes, hidden ones dashed with their translation
    plot_symmetry       two parameters, one function: contours and bent hyperplanes side by side

Corners and vertices are exact (`networks.bent_hyperplanes`) and become floats when they are drawn.

References: theory §2.2, §3.1, §3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, SemialgError, UnsupportedError
from semialg_fibers.fibers.hiding import hidden_hyperplanes, hiding, translation_range
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import numbered
from semialg_fibers.networks.bent_hyperplanes import BentArrangement, Plane, bent_arrangement, on_plane
from semialg_fibers.networks.cells import each_cell
from semialg_fibers.networks.layer import Network
from semialg_fibers.plots.canvas import COLOURS, drawable, figure, patch, tint, triangles
from semialg_fibers.questions.equivalence import same_function

NAMED_UNITS = 8  # up to so many hidden units each has its colour and its name
LEVELS = 14


@checked
def plot_arrangement(net: Network, window: Any = None, plane: Plane | None = None) -> Any:
    """Draw the arrangement of bent hyperplanes, regions coloured by the linear piece; give the matplotlib figure.

    `window` is ((low, high), (low, high)), chosen around all vertices unless given; `plane` cuts out a plane where
    there are more than two inputs. For one input the graph of the function is drawn.

    Implements: theory §3.1, §3.2.

    Raises:
        UnsupportedError: for more than two inputs and no plane, or without matplotlib.
        InvalidNetworkError: for a window around a function of one input.
    """
    if net.widths[0] == 1 and plane is None:
        if window is not None:
            raise InvalidNetworkError(
                "window: the graph of a function of one input has none; leave it out", value=window
            )
        return _graph(net)
    made, (axes,) = figure()
    shown = net if plane is None else on_plane(net, plane)
    found = bent_arrangement(shown, window)
    maps = {piece: k for k, piece in enumerate(found.maps)}
    for region in found.regions:
        colour = tint(maps[region.slope, region.offset], len(maps))
        axes.add_patch(patch(_floats(region.corners), facecolor=colour, edgecolor="none", zorder=0))
    hidden = hidden_with_users(net)
    draw_pieces(axes, found, hidden)
    for i in hidden:
        _draw_translation(axes, net, shown, found, i)
    if len(found.vertices) <= 60:
        x, y = zip(*_floats(found.vertices), strict=True) if found.vertices else ((), ())
        axes.plot(x, y, "o", color="black", markersize=2.6, zorder=5)
    _frame(axes, found, plane)
    axes.set_title(f"{_widths(net)}: {len(maps)} linear pieces on {len(found.regions)} regions")
    if axes.get_legend_handles_labels()[0]:
        made.legend(loc="outside lower center", ncols=3, frameon=False)
    return made


@checked
def plot_symmetry(net: Network, other: Network, window: Any = None, output: int = 0) -> Any:
    """Draw one output of two networks with their bent hyperplanes; the title says what was proved about them.

    Implements: theory §3.2.

    Raises:
        UnsupportedError: for another number of inputs than two, or without matplotlib.
        InvalidNetworkError: for an output that one of the networks does not have.
    """
    fewest = min(net.widths[-1], other.widths[-1])
    if not 0 <= output < fewest:
        shared = numbered("output", 0, fewest - 1)
        raise InvalidNetworkError(f"output: both networks have {shared}, got {output}", value=output)
    made, panels = figure(columns=2, size=(4.2, 4.4))
    first = bent_arrangement(net, window)
    second = bent_arrangement(other, first.window)
    values = [drawable(net.value(corner)[output]) for region in first.regions for corner in region.corners]
    low, high = min(values), max(values)
    levels = [low + (high - low) * k / LEVELS for k in range(LEVELS + 1)] if high > low else None
    for axes, found, name in zip(panels, (first, second), ("θ", "θ′"), strict=True):
        draw_function(axes, found, output, levels)
        draw_pieces(axes, found, hidden_with_users(found.network))
        _frame(axes, found, None)
        axes.set_title(f"f at {name}")
    handles, labels = panels[0].get_legend_handles_labels()
    if handles:
        made.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    made.suptitle(_verdict(net, other))
    return made


def _widths(net: Network) -> str:
    return "-".join(map(str, net.widths))


def _verdict(net: Network, other: Network) -> str:
    answer = same_function(net, other)
    words = {True: "the same function, proved", False: "different functions", None: "not decided whether the same"}
    return words[answer.same]


def draw_function(axes: Any, found: BentArrangement, output: int, levels: Sequence[float] | None) -> None:
    """Draw one output as contours, exact on each region: it is affine there."""
    numbers: dict[Any, int] = {}
    faces = []
    for region in found.regions:
        corners = [numbers.setdefault(corner, len(numbers)) for corner in region.corners]
        faces += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
    values = [drawable(found.network.value(point)[output]) for point in numbers]
    mesh = triangles(_floats(numbers), faces)
    if levels is None:
        axes.add_patch(patch(_floats(_rectangle(found)), facecolor=tint(0, 1), edgecolor="none"))
    else:
        axes.tricontourf(mesh, values, levels=levels, cmap="cividis", alpha=0.6, extend="both")


def draw_pieces(axes: Any, found: BentArrangement, hidden: Sequence[int]) -> None:
    """Draw each bent hyperplane: solid where the function bends, thin where it does not, dashed where hidden."""
    units = list(dict.fromkeys((piece.layer, piece.unit) for piece in found.pieces))
    depth = len(found.network.layers)
    named = len(units) <= NAMED_UNITS
    for k, (layer, unit) in enumerate(units):
        colour = COLOURS[k % len(COLOURS)] if named else COLOURS[layer - 1]
        is_hidden = layer == 1 and unit in hidden
        label = unit_label(layer, unit, depth) + (" (hidden)" if is_hidden else "") if named else None
        for bends in (True, False):
            pieces = [p for p in found.pieces if (p.layer, p.unit) == (layer, unit) and p.bends == bends]
            if not pieces:
                continue
            x: list[float] = []
            y: list[float] = []
            for piece in pieces:
                (a, b), (c, d) = _floats(piece.ends)
                x += [a, c, float("nan")]
                y += [b, d, float("nan")]
            style = (0, (5, 2.5)) if is_hidden else "-"
            width = (1.8 if named else 0.8) if bends or is_hidden else 0.7
            axes.plot(x, y, color=colour, linestyle=style, linewidth=width, label=label, zorder=3)
            label = None


def unit_label(layer: int, unit: int, depth: int) -> str:
    """Name the bent hyperplane of a unit in the letters of the theory, counting from 1."""
    if layer == 1:
        return f"$H_{{{unit + 1}}}$"
    inner = "h" if depth == 3 else f"h^{{({layer - 1})}}"
    return f"$(A_{layer} {inner} + b_{layer})_{{{unit + 1}}} = 0$"


def hidden_with_users(net: Network) -> tuple[int, ...]:
    """Give the hidden hyperplanes; none is marked where that is open, or where all are, for a constant function."""
    try:
        found = hidden_hyperplanes(net)
        return tuple(i for i in found if i in hiding(net).users)
    except (UnsupportedError, BudgetExceededError):
        return ()


def _draw_translation(axes: Any, net: Network, shown: Network, found: BentArrangement, i: int) -> None:
    """Draw where the hidden hyperplane may go: the ray t > lowest, with its open end."""
    segments = [piece for piece in found.pieces if (piece.layer, piece.unit) == (1, i)]
    interval = translation_range(net, i)
    a, b, bias = (drawable(value) for value in shown.layers[0].forms[i])
    size = a * a + b * b
    if not segments or not interval.start.is_Rational or not size:
        return
    longest = max(segments, key=lambda p: sum((s - t) ** 2 for s, t in zip(*p.ends, strict=True)))
    (p, q), (r, s) = _floats(longest.ends)
    lowest = drawable(interval.start)

    def at(t: float) -> tuple[float, float]:
        """The foot of the hyperplane u_i + t = 0 on the normal through the middle of the segment."""
        x, y = (p + r) / 2, (q + s) / 2
        step = (a * x + b * y + bias + t) / size
        return x - a * step, y - b * step

    corners = _floats(_rectangle(found))
    side = min(corners[2][0] - corners[0][0], corners[2][1] - corners[0][1])
    start, end = at(lowest), at(0.22 * side * size**0.5)
    colour = COLOURS[list(dict.fromkeys((piece.layer, piece.unit) for piece in found.pieces)).index((1, i)) % 8]
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.2}, zorder=4)
    fill, sign = ("white", ">") if interval.left_open else (colour, r"\geq")
    axes.plot(*start, "o", markerfacecolor=fill, markeredgecolor=colour, markersize=4.5, zorder=5)
    axes.annotate(f"$t {sign} {interval.start}$", end, (3, 3), color=colour, textcoords="offset points")


def _rectangle(found: BentArrangement) -> list[tuple[Any, Any]]:
    (left, right), (low, high) = found.window
    return [(left, low), (right, low), (right, high), (left, high)]


def _floats(points: Any) -> list[tuple[float, float]]:
    return [(drawable(p[0]), drawable(p[1])) for p in points]


def _frame(axes: Any, found: BentArrangement, plane: Plane | None) -> None:
    corners = _floats(_rectangle(found))
    axes.set_xlim(corners[0][0], corners[2][0])
    axes.set_ylim(corners[0][1], corners[2][1])
    axes.set_aspect("equal")
    names = ("$x_1$", "$x_2$") if plane is None else ("$s_1$", "$s_2$")
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])


def _graph(net: Network) -> Any:
    """Draw a function of one input, with its breakpoints."""
    made, (axes,) = figure(size=(5.2, 3.6))
    ends = sorted({drawable(fmpq(ray[0], ray[-1])) for cell in each_cell(net) for ray in cell.rays if ray[-1]}) or [0.0]
    pad = max(2.0, 0.4 * (ends[-1] - ends[0]))
    limits = [ends[0] - pad, ends[-1] + pad]
    drawn = 0
    for cell in each_cell(net):
        inside = [drawable(fmpq(ray[0], ray[-1])) for ray in cell.rays if ray[-1]]
        right = any(ray[0] > 0 for ray in cell.rays if not ray[-1]) or bool(cell.lineality)
        left = any(ray[0] < 0 for ray in cell.rays if not ray[-1]) or bool(cell.lineality)
        x = [limits[0] if left else min(inside), limits[1] if right else max(inside)]
        for output in range(net.widths[-1]):
            slope, offset = drawable(cell.matrix[output, 0]), drawable(cell.offset[output])
            axes.plot(x, [slope * v + offset for v in x], color=COLOURS[output % 8], zorder=3)
        drawn += 1
    for value in ends:
        axes.axvline(value, color="#888888", linewidth=0.7, linestyle=":", zorder=1)
    axes.set_xlabel("$x_1$")
    axes.set_ylabel("$f$")
    axes.set_title(f"{_widths(net)}: {drawn} activation cells")
    return made


def plane_through(net: Network) -> Plane:
    """Choose a plane for a network with many inputs: through 0, along the first two independent rows of A1.

    Raises:
        UnsupportedError: where all rows of A1 are multiples of one.
    """
    rows = net.layers[0].matrix.rows()
    for k in range(1, len(rows)):
        for j in range(k):
            try:
                return Plane([0] * net.widths[0], rows[j], rows[k])
            except SemialgError:
                continue
    raise UnsupportedError("the rows of A1 span no plane: state one")
