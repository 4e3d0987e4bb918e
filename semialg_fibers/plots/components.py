"""Components of a fiber in two or three coordinates, and which of them touch.

Main results
    plot_fiber          the first components of a fiber as curves, surfaces or clouds of exact members
    plot_components     components as nodes, edges where closures meet

References: theory §2.3, §3.4, §3.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.exchange.latex_names import NameTable
from semialg_fibers.fibers.bottleneck import Fiber, first_components
from semialg_fibers.fibers.component import FiberComponent, Parametrization
from semialg_fibers.fibers.letters import parameter_names
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import numbered, shown
from semialg_fibers.plots.canvas import COLOURS, drawable, figure
from semialg_fibers.questions.closures import Apart, Meet, closure_graph

if TYPE_CHECKING:
    import sympy

SHOWN = 6  # components, each with its colour
MEMBERS = 240  # of a cloud
STEPS = 60  # along one free symbol


def default_coordinates(component: FiberComponent, count: int = 2) -> tuple[str, ...]:
    """Choose parameters that move most: those whose entries have the most symbols, and differ.

    >>> from semialg_fibers import gallery
    >>> from semialg_fibers.fibers.bottleneck import fiber
    >>> default_coordinates(fiber(gallery.network("hidden_2_2_2_1")).components[0])
    ('b1_0', 'b2_0')
    """
    entries = _entries(component.parametrization, component.widths)
    moving = [name for name, entry in entries.items() if entry.free_symbols]
    own = [name for name in moving if any(not _is_scaling(symbol) for symbol in entries[name].free_symbols)]
    ranked = sorted(own, key=lambda name: not name.startswith("b")) + [name for name in moving if name not in own]
    chosen: list[str] = []
    for name in ranked:
        if all(entries[name].free_symbols != entries[other].free_symbols for other in chosen):
            chosen.append(name)
    return tuple([*chosen, *(name for name in (*ranked, *entries) if name not in chosen)][:count])


@checked
def plot_fiber(
    found: Fiber, coordinates: Iterable[str] = (), components: Iterable[int] = (), free: Iterable[str] = ()
) -> Any:
    """Draw components of a fiber in two or three coordinates (W1_0_0, b1_0, ...); give the matplotlib figure.

    `free` are the symbols of the parametrization that run, the others stay at 1 for scalings, else at a random member;
    unless given, those that are no scalings. One or two of them give a curve or a surface, more a cloud of members.

    Implements: theory §2.3, §3.4.

    Raises:
        InvalidNetworkError: for names that are no parameters, or a number of them other than two and three; for
            something named twice, and for `free` symbols on which the coordinates do not depend.
        UnsupportedError: without matplotlib.
    """
    listed = first_components(found, SHOWN)
    numbers = list(components) or list(range(len(listed)))
    if not all(0 <= k < len(listed) for k in numbers):
        raise InvalidNetworkError(
            f"{numbered('component', 0, len(listed) - 1)} can be drawn, got {numbers}", value=numbers
        )
    names = tuple(coordinates) or default_coordinates(listed[numbers[0]])
    known = parameter_names(found.network.widths)
    if len(names) not in (2, 3) or not set(names) <= set(known):
        raise InvalidNetworkError(
            f"expected two or three of the parameters {known[0]}, ..., {known[-1]}, got {', '.join(map(shown, names))}",
            value=names,
        )
    stated = tuple(free)
    for what, given in (("coordinates", names), ("components", tuple(numbers)), ("free", stated)):
        twice = next((each for each in given if given.count(each) > 1), None)
        if twice is not None:
            raise InvalidNetworkError(f"{what}: {twice} stands there twice; name each once", value=given)
    _refuse_idle([listed[k] for k in numbers], names, stated)
    made, (axes,) = figure(depth=len(names) == 3)
    for place, k in enumerate(numbers):  # one that covers another is drawn thinner
        style = {"color": COLOURS[k % len(COLOURS)], "label": f"component {k + 1}: {listed[k].name}"}
        _draw(axes, listed[k], names, stated, style, 4.5 * 0.6**place)
    own = [drawable(found.network.parameters[name]) for name in names]
    axes.plot(*([value] for value in own), "k*", markersize=9, label="θ", zorder=6)
    written = NameTable(names)
    for name, put in zip(names, (axes.set_xlabel, axes.set_ylabel, getattr(axes, "set_zlabel", None)), strict=False):
        put(f"${written(name)}$")
    made.legend(loc="outside lower center", ncols=1, frameon=False)
    axes.set_title(f"{'-'.join(map(str, found.network.widths))}: dimension {found.dimension}")
    return made


def _entries(image: Parametrization, widths: Sequence[int]) -> dict[str, Any]:
    import sympy

    flat: list[Any] = []
    for weight, bias in image.network:
        flat += [*weight, *bias]
    return {name: sympy.sympify(entry) for name, entry in zip(parameter_names(widths), flat, strict=True)}


def _is_scaling(symbol: sympy.Symbol) -> bool:
    return str(symbol.name).startswith(("lambda", "mu"))


def _refuse_idle(drawn: Sequence[FiberComponent], names: Sequence[str], free: Sequence[str]) -> None:
    """Refuse a free symbol with which none of the curves and surfaces would change."""
    if not free:
        return
    alone = [component for component in drawn if not component.parametrization.equations]
    there = {symbol.name for component in alone for symbol in _occurring(component, names)}
    idle = next((name for name in free if name not in there), None)
    if idle is None:
        return
    if not alone:
        reason = "equations bind the symbols to each other, so that members are drawn; leave free out"
    elif not there:
        reason = f"{', '.join(names)} do not depend on any symbol; choose other coordinates"
    else:
        reason = f"{', '.join(names)} do not depend on it; they depend on {', '.join(sorted(there))}"
    raise InvalidNetworkError(f"free: {shown(idle)} cannot run: {reason}", value=idle)


def _occurring(component: FiberComponent, names: Sequence[str]) -> list[sympy.Symbol]:
    """Give the symbols of the parametrization on which these coordinates depend."""
    entries = _entries(component.parametrization, component.widths)
    return [s for s in component.parametrization.symbols if any(s in entries[name].free_symbols for name in names)]


def _draw(
    axes: Any, component: FiberComponent, names: Sequence[str], free: tuple[str, ...], style: Any, size: float
) -> None:
    image = component.parametrization
    entries = _entries(image, component.widths)
    occurring = _occurring(component, names)
    running = [s for s in occurring if s.name in free] if free else [s for s in occurring if not _is_scaling(s)]
    running = running or occurring
    if image.equations or not 0 < len(running) <= 2:
        _draw_cloud(axes, component, names, style, size)
        return
    import numpy as np
    import sympy

    member = image.coordinates(component.sample(1))
    rest = {s: sympy.Integer(1) if _is_scaling(s) else member[s] for s in image.symbols if s not in running}
    count = STEPS if len(running) == 1 else STEPS // 4
    grid = np.meshgrid(*(_steps(image, s, drawable(member[s]), count) for s in running))
    values = []
    for name in names:
        entry = entries[name].xreplace(rest)
        values.append(np.broadcast_to(_on_grid(sympy.lambdify(running, entry, "numpy"), grid), grid[0].shape))
    if len(running) == 1:
        axes.plot(*values, linewidth=size, **style)
    elif len(names) == 3:
        axes.plot_surface(*values, alpha=0.5, linewidth=0, **style)
    else:
        for turned in (values, [value.T for value in values]):  # a net of curves
            x, y = (np.column_stack([value, np.full(len(value), np.nan)]).ravel() for value in turned)
            axes.plot(x, y, linewidth=size / 4, **style)
            style = {"color": style["color"]}


def _steps(image: Parametrization, symbol: sympy.Symbol, near: float, count: int) -> Any:
    """Give values of a symbol in its range: from the end where it has one, geometric for a positive scaling."""
    import numpy as np

    ends = [drawable(r.rhs) for r in image.ranges if r.lhs == symbol and r.rhs.is_Rational and r.rel_op in (">", ">=")]
    if not ends:
        return np.linspace(near - 3, near + 3, count)
    if _is_scaling(symbol):
        return ends[0] + np.geomspace(0.25, 4, count)
    return ends[0] + np.linspace(0, 4, count)


def _draw_cloud(axes: Any, component: FiberComponent, names: Sequence[str], style: Any, size: float) -> None:
    """Draw exact members; a few of them lie far away, so that the middle nine tenths are shown."""
    members = [component.sample(seed).parameters for seed in range(MEMBERS)]
    points = [[drawable(member[name]) for name in names] for member in members]
    kept = points
    for k in range(len(names)):
        values = sorted(point[k] for point in points)
        low, high = values[len(values) // 20], values[-1 - len(values) // 20]
        kept = [point for point in kept if low <= point[k] <= high]
    axes.plot(*zip(*(kept or points), strict=True), ".", markersize=size + 1, **style)


@checked
def plot_components(found: Fiber, most: int = 12) -> Any:
    """Draw the component graph: an edge where closures meet, a dotted one where that was not decided.

    Implements: theory §3.5.

    Raises:
        UnsupportedError: without matplotlib.
    """
    made, (axes,) = figure()
    listed = first_components(found, most)
    answers = closure_graph(found, most)
    graph = component_graph(len(listed), answers)
    import networkx

    places = networkx.circular_layout(graph)
    for (i, j), answer in answers.items():
        if not isinstance(answer, Apart):
            (a, b), (c, d) = places[i], places[j]
            style = "-" if isinstance(answer, Meet) else ":"
            axes.plot([a, c], [b, d], style, color=COLOURS[0], linewidth=1.8, zorder=1)
    for k, component in enumerate(listed):
        x, y = places[k]
        axes.plot([x], [y], "o", color=COLOURS[1] if k == 0 else COLOURS[5], markersize=22, zorder=2)
        axes.text(x, y, str(k + 1), ha="center", va="center", zorder=3)
        side = "" if component.direction is None else f", direction {component.direction:+d}"
        axes.annotate(
            f"{component.kind}{side}\n{component.name}\ndimension {component.dimension}",
            (x, y), (0, -16), textcoords="offset points", ha="center", va="top", fontsize=7,
        )  # fmt: skip
    axes.set_xlim(-1.9, 1.9)
    axes.set_ylim(-1.7, 1.4)
    axes.set_axis_off()
    apart = sum(isinstance(answer, Apart) for answer in answers.values())
    meeting = sum(isinstance(answer, Meet) for answer in answers.values())
    rest = len(answers) - meeting - apart
    axes.set_title(f"pairs whose closures meet: {meeting}; apart: {apart}; not decided: {rest}")
    return made


def component_graph(count: int, answers: Any) -> Any:
    """Give the networkx graph: nodes 0, 1, ..., an edge for each pair whose closures meet, `point` a common limit."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(count))
    for (i, j), answer in answers.items():
        if isinstance(answer, Meet):
            graph.add_edge(i, j, point=answer.point)
    return graph


def _on_grid(function: Callable[..., Any], grid: Sequence[Any]) -> Any:
    """Give the values on the grid; refuse those beyond the range of floats."""
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            values = np.asarray(function(*grid), dtype=float)
    except OverflowError:
        values = np.asarray(np.inf)
    if not np.isfinite(values).all():
        raise UnsupportedError("a number beyond the range of floats cannot be drawn")
    return values
