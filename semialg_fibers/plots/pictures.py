"""Pictures by their kind, as the command line asks for them.

Main results
    picture_of    arrangement, symmetry, fiber, components or laws of a network

References: theory §2, §3, §7.
"""

from __future__ import annotations

from typing import Any

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.fibers.bottleneck import fiber, first_components
from semialg_fibers.fibers.component import FiberComponent
from semialg_fibers.fibers.hiding import translate, translation_range
from semialg_fibers.geometry.scalar import numbered
from semialg_fibers.networks.layer import Network
from semialg_fibers.plots.components import plot_components, plot_fiber
from semialg_fibers.plots.planar import hidden_with_users, plane_through, plot_arrangement, plot_symmetry
from semialg_fibers.plots.run import plot_laws

# Kind → the arguments that it takes.
TAKES: dict[str, frozenset[str]] = {
    "arrangement": frozenset({"window"}),
    "symmetry": frozenset({"window", "component"}),
    "fiber": frozenset({"component", "coordinates", "free"}),
    "components": frozenset(),
    "laws": frozenset(),
}


def picture_of(
    net: Network,
    kind: str,
    window: str | None = None,
    component: int | None = None,
    coordinates: str | None = None,
    free: str | None = None,
) -> Any:
    """Give the matplotlib figure; the other arguments are texts with commas, as on the command line.

    Raises:
        InvalidNetworkError: for an unknown kind, an argument that means nothing for it, a window that is none, or a
            component that does not exist.
    """
    if kind not in TAKES:
        raise InvalidNetworkError(f"there is no picture of the kind {kind!r}", value=kind)
    given = {"window": window, "component": component, "coordinates": coordinates, "free": free}
    for name, value in given.items():
        if value is not None and name not in TAKES[kind]:
            kinds = " and ".join(each for each, taken in TAKES.items() if name in taken)
            raise InvalidNetworkError(f"{name} means nothing for the kind {kind}, only for {kinds}; leave it out")
    box = None if window is None else _box(window)
    if kind == "arrangement":
        return plot_arrangement(net, box, None if net.widths[0] <= 2 else plane_through(net))
    if kind == "symmetry":
        return plot_symmetry(net, _image(net, component), box)
    if kind == "fiber":
        numbers = () if component is None else (component,)
        return plot_fiber(fiber(net), _names(coordinates), numbers, _names(free))
    if kind == "components":
        return plot_components(fiber(net))
    return plot_laws(net)


def _image(net: Network, component: int | None) -> Network:
    """Give a member of the component with this number, or of the last one shown, moved along its translation."""
    listed: list[FiberComponent] = first_components(fiber(net), 64)
    if component is not None and not 0 <= component < len(listed):
        raise InvalidNetworkError(
            f"{numbered('component', 0, len(listed) - 1)} can be drawn, got {component}", value=component
        )
    chosen = listed[-1 if component is None else component]
    member = chosen.sample(1)
    for i in hidden_with_users(member):
        start = translation_range(member, i).start
        if start.is_Rational and start < 0:
            member = translate(member, i, start / 2)
    return member


def _names(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(part.strip() for part in text.split(","))


def _box(text: str) -> tuple[tuple[str, str], tuple[str, str]]:
    parts = _names(text)
    if len(parts) != 4:
        raise InvalidNetworkError(f"a window is A,B,C,D for [A, B] × [C, D], got {text!r}", value=text)
    return (parts[0], parts[1]), (parts[2], parts[3])
