"""The stage of the page, on which hidden hyperplanes are moved and others turned round while the function stays.

Main results
    stage_html    lines over a canvas, a slider for each hidden hyperplane, a toggle for each flip

The browser computes with floats and draws; nothing is decided there.

References: theory §3.2, §3.3.
"""

from __future__ import annotations

import json

from semialg_fibers.errors import UnsupportedError
from semialg_fibers.fibers.hiding import hiding, translation_range
from semialg_fibers.geometry.scalar import Vector, affine_value
from semialg_fibers.networks.bent_hyperplanes import BentArrangement
from semialg_fibers.networks.layer import Network
from semialg_fibers.plots.canvas import cividis, drawable
from semialg_fibers.plots.planar import hidden_with_users
from semialg_fibers.report.drawing import SIDE, Screen, colours_of, paths_of

PIXELS = 150  # of the canvas along each side
BANDS = 14  # of the function's values


def stage_html(net: Network, found: BentArrangement) -> str:
    """Give the stage for two inputs and a hidden hyperplane with a translation; nothing for other networks.

    Implements: theory §3.2, §3.3.
    """
    columns = hidden_with_users(net)
    if net.widths[0] != 2 or not columns:
        return ""
    free = hiding(net)
    colours = colours_of(found)
    controls, moves = [], []
    for index, i in enumerate(columns):
        interval = translation_range(net, i)
        if not interval.start.is_Rational:
            raise UnsupportedError("the stage needs a translation with an end")
        lowest = drawable(interval.start)
        most = max(1.0, -lowest, _to_leave(net.layers[0].forms[i], found))
        open_end = 0.004 * (most - lowest) if interval.left_open else 0.0
        controls.append(
            f'<label for="t{index}">translation of H_{i + 1}: t = <output id="t{index}-value">0</output> '
            f"({'t &gt;' if interval.left_open else 't ≥'} {interval.start})"
            f'<input type="range" id="t{index}" data-move="translation" data-index="{index}" step="any" value="0" '
            f'min="{lowest + open_end:.6g}" max="{most:.6g}"/></label>'
        )
        moves.append(
            {
                "column": i,
                "users": list(free.users[i]),
                "ratios": {str(k): drawable(value) for k, value in free.ratios[i].items()},
            }
        )
    controls += [
        f'<label><input type="checkbox" data-move="flip" value="{k}"/> turn H_{k + 1} round</label>'
        for k in free.flippable
    ]
    palette = []
    for band in range(BANDS):
        colour = cividis(band / (BANDS - 1))
        palette.append("#" + "".join(f"{round(255 - 0.65 * (255 - value)):02x}" for value in colour))
    data = {
        "window": [[drawable(value) for value in side] for side in found.window],
        "layers": [
            [[[drawable(v) for v in row] for row in layer.matrix.rows()], [drawable(v) for v in layer.offset]]
            for layer in net.layers
        ],
        "hidden": moves,
        "palette": palette,
    }
    lines = "".join(
        f'<line data-hyperplane="{i}" stroke="{colours.get((1, i), "#000")}" stroke-width="3"'
        + (' stroke-dasharray="10 6"' if i in columns else "")
        + f'/><line data-side="{i}" stroke="{colours.get((1, i), "#000")}" stroke-width="2.5" marker-end="url(#side)"/>'
        for i in range(net.widths[1])
    )
    later = (piece for piece in found.pieces if piece.layer > 1)
    second = paths_of(later, colours, Screen(found), ())
    return (
        '<div class="stage"><canvas id="function" width="{p}" height="{p}" role="img" '
        'aria-label="the function of the moved parameters"></canvas>'
        '<svg id="lines" viewBox="0 0 {s} {s}"><defs><marker id="side" viewBox="0 0 10 10" refX="9" refY="5" '
        'markerWidth="5" markerHeight="5" orient="auto"><path d="M0,0L10,5L0,10z"/></marker></defs>'
        "{second}{lines}</svg></div>"
        '<div class="controls">{controls}</div>'
        '<p>Largest difference to the given function on this grid: <output id="gap">0</output></p>'
        '<pre id="moved" class="wide"></pre>'
        '<script type="application/json" id="network">{data}</script>'
    ).format(
        p=PIXELS,
        s=SIDE,
        second="".join(second),
        lines=lines,
        controls="".join(controls),
        data=json.dumps(data).replace("<", "\\u003c"),
    )


def _to_leave(form: Vector, found: BentArrangement) -> float:
    """Give a t for which the hyperplane {u + t = 0} has left the window."""
    (left, right), (low, high) = found.window
    return 1.05 * max(drawable(-affine_value(form, (x, y))) for x in (left, right) for y in (low, high))
