"""SVG for the page: the arrangement with exact vertices, hidden hyperplanes with the ray of their translation.

Main results
    arrangement_svg    regions coloured by linear piece, bent hyperplanes, vertices that say their coordinates
    legend_html        which colour is which unit

References: theory §3.1, §3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from flint import fmpq

from semialg_fibers.fibers.hiding import translation_range
from semialg_fibers.geometry.scalar import affine_value
from semialg_fibers.networks.bent_hyperplanes import BentArrangement, Piece
from semialg_fibers.networks.layer import Network
from semialg_fibers.plots.canvas import COLOURS, tint
from semialg_fibers.plots.planar import hidden_with_users

SIDE = 600  # of the picture, in its own units
EXACT_VERTICES = 80  # up to so many are marked, with their coordinates

Colours = dict[tuple[int, int], str]


class Screen:
    """From the window to the picture."""

    def __init__(self, found: BentArrangement) -> None:
        """Take the window."""
        (self.left, right), (_, self.high) = found.window
        (low, _) = found.window[1]
        self.across, self.down = right - self.left, self.high - low

    def place(self, point: Sequence[Any]) -> str:
        """Give "x,y" with one digit after the point."""
        x, y = SIDE * (point[0] - self.left) / self.across, SIDE * (self.high - point[1]) / self.down
        return f"{_short(x)},{_short(y)}"


def _short(value: Any) -> str:
    text = f"{float(value):.1f}"
    return text.removesuffix(".0")


def unit_name(layer: int, unit: int) -> str:
    """Name the bent hyperplane of a unit in words, counting from 1."""
    return f"H_{unit + 1}" if layer == 1 else f"(A{layer} h + b{layer})_{unit + 1} = 0"


def colours_of(found: BentArrangement) -> Colours:
    """Give each unit its colour, or each layer where there are many."""
    units = list(dict.fromkeys((piece.layer, piece.unit) for piece in found.pieces))
    if len(units) > len(COLOURS):
        return {unit: COLOURS[unit[0] - 1] for unit in units}
    return dict(zip(units, COLOURS, strict=False))


def arrangement_svg(net: Network, found: BentArrangement) -> str:
    """Give the picture; a vertex says its exact coordinates when it is pointed at.

    Implements: theory §3.1, §3.2.
    """
    screen, maps = Screen(found), {piece: k for k, piece in enumerate(found.maps)}
    parts = [
        f'<svg class="picture" viewBox="0 0 {SIDE} {SIDE}" role="img" aria-label="arrangement of bent hyperplanes">'
    ]
    for region in found.regions:
        corners = " ".join(screen.place(corner) for corner in region.corners)
        parts.append(f'<polygon points="{corners}" fill="{tint(maps[region.slope, region.offset], len(maps))}"/>')
    hidden = hidden_with_users(net)
    parts += paths_of(found.pieces, colours_of(found), screen, hidden)
    for i in hidden:
        parts += _ray(net, found, screen, i)
    if len(found.vertices) <= EXACT_VERTICES:
        for vertex, units in found.vertices.items():
            names = ", ".join(unit_name(*unit) for unit in units)
            x, y = screen.place(vertex).split(",")
            title = escape(f"({vertex[0]}, {vertex[1]}): {names}")
            parts.append(f'<circle class="vertex" cx="{x}" cy="{y}" r="4"><title>{title}</title></circle>')
    parts += _frame(found)
    return "".join([*parts, "</svg>"])


def paths_of(pieces: Iterable[Piece], colours: Colours, screen: Screen, hidden: Iterable[int]) -> list[str]:
    """Draw pieces, one path for each unit and for what bends or does not."""
    paths: dict[tuple[int, int, bool], list[str]] = {}
    for piece in pieces:
        start, end = map(screen.place, piece.ends)
        paths.setdefault((piece.layer, piece.unit, piece.bends), []).append(f"M{start}L{end}")
    many = len(paths) > 40
    made = []
    for (layer, unit, bends), path in paths.items():
        is_hidden = layer == 1 and unit in hidden
        dash = ' stroke-dasharray="10 6"' if is_hidden else ""
        width = (1.2 if many else 3) if bends or is_hidden else (0.6 if many else 1.2)
        made.append(
            f'<path class="piece" data-unit="{layer}-{unit}" d="{"".join(path)}" fill="none" '
            + f'stroke="{colours[layer, unit]}" stroke-width="{width}"{dash}/>'
        )
    return made


def _ray(net: Network, found: BentArrangement, screen: Screen, i: int) -> list[str]:
    """Draw the ray of the translation where the picture is of the network itself."""
    form = found.network.layers[0].forms[i]
    segments = [piece for piece in found.pieces if (piece.layer, piece.unit) == (1, i)]
    interval = translation_range(net, i)
    if not segments or not interval.start.is_Rational:
        return []
    longest = max(segments, key=lambda piece: sum(((a - b) ** 2 for a, b in zip(*piece.ends, strict=True)), fmpq(0)))
    middle = tuple((a + b) / 2 for a, b in zip(*longest.ends, strict=True))
    lowest = fmpq(int(interval.start.p), int(interval.start.q))
    size = form[0] ** 2 + form[1] ** 2
    reach = fmpq(2, 9) * screen.across * max(abs(form[0]), abs(form[1]))
    start, end = (
        tuple(m - a * (affine_value(form, middle) + t) / size for m, a in zip(middle, form[:-1], strict=True))
        for t in (lowest, reach)
    )
    colour = colours_of(found)[1, i]
    (x1, y1), (x2, y2) = (screen.place(point).split(",") for point in (start, end))
    fill, sign = ("#fff", "&gt;") if interval.left_open else (colour, "≥")
    return [
        f'<defs><marker id="tip-{i}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        f'orient="auto"><path d="M0,0L10,5L0,10z" fill="{colour}"/></marker></defs>',
        f'<line class="ray" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="2" '
        f'marker-end="url(#tip-{i})"/><circle cx="{x1}" cy="{y1}" r="6" fill="{fill}" stroke="{colour}"/>'
        f'<text x="{x2}" y="{_short(float(y2) - 10)}" fill="{colour}" font-size="20" paint-order="stroke" '
        f'stroke="#fff" stroke-width="4">t {sign} {interval.start}</text>',
    ]


def _frame(found: BentArrangement) -> list[str]:
    (left, right), (low, high) = found.window
    words = [
        (8, SIDE - 8, "start", f"{left}"),
        (SIDE - 8, SIDE - 8, "end", f"x₁ = {right}"),
        (8, 22, "start", f"x₂ = {high}"),
        (8, SIDE - 30, "start", f"{low}"),
    ]
    return [
        f'<rect x="0.5" y="0.5" width="{SIDE - 1}" height="{SIDE - 1}" fill="none" stroke="#000"/>',
        *(
            f'<text x="{x}" y="{y}" text-anchor="{side}" font-size="16" paint-order="stroke" stroke="#fff" '
            f'stroke-width="3">{word}</text>'
            for x, y, side, word in words
        ),
    ]


def legend_html(net: Network, found: BentArrangement) -> str:
    """Name the units by their colours, or the layers where there are many."""
    colours, hidden = colours_of(found), hidden_with_users(net)
    if len(colours) > len(COLOURS):
        layers = dict.fromkeys(layer for layer, _ in colours)
        rows = [(COLOURS[layer - 1], False, f"units of layer {layer}") for layer in layers]
    else:
        rows = []
        for (layer, unit), colour in colours.items():
            dashed = layer == 1 and unit in hidden
            rows.append((colour, dashed, unit_name(layer, unit) + (" (hidden)" if dashed else "")))
    spans = [
        f'<span><i class="{"hidden" if dashed else "seen"}" style="border-color:{colour}"></i>{escape(name)}</span>'
        for colour, dashed, name in rows
    ]
    return f'<p class="legend">{"".join(spans)}</p>'
