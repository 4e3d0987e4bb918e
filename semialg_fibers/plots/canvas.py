"""Where matplotlib is used: figures, colours that colour-blind people can tell apart, files.

Main results
    drawable     a number as a float, if it can be one
    figure       axes on one figure, without any window system
    save         PNG, SVG or PDF, written whole or not at all, the same bytes each time
    tint         light colours for regions
    COLOURS      eight colours of Okabe and Ito (2008)

References: M. Okabe, K. Ito, Color Universal Design (2008); J. R. Nuñez et al. (2018), for cividis.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.exchange.files import write_bytes
from semialg_fibers.geometry.scalar import shown

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C00")
CIVIDIS = ("#00224e", "#7c7b78", "#fde737")
FORMATS = ("png", "svg", "pdf")
STYLE: Any = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "legend.fontsize": 8.0,
    "mathtext.fontset": "dejavusans",
    "svg.hashsalt": "semialg_fibers",  # else the names in an SVG file change from run to run
    "path.simplify": False,
}


def drawable(value: Any) -> float:
    """Give the number as a float, to be drawn.

    Raises:
        UnsupportedError: for a number beyond the range of floats.
    """
    try:
        return float(value)
    except OverflowError:
        raise UnsupportedError("a number beyond the range of floats cannot be drawn") from None


def figure(columns: int = 1, size: tuple[float, float] = (5.2, 4.6), depth: bool = False) -> tuple[Any, list[Any]]:
    """Give a figure and its axes, side by side; with `depth` they are three-dimensional.

    Raises:
        UnsupportedError: where matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise UnsupportedError("pictures need matplotlib: pip install 'semialg-fibers[plots]'") from None
    with matplotlib.rc_context(STYLE):
        made = Figure(figsize=(size[0] * columns, size[1]), layout="constrained")
        settings: dict[str, Any] = {"projection": "3d"} if depth else {}
        return made, [made.add_subplot(1, columns, k + 1, **settings) for k in range(columns)]


def picture(made: Any, form: str, dpi: int = 150) -> bytes:
    """Give the bytes of a figure as PNG, SVG or PDF."""
    import matplotlib

    nameless = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    target = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        made.savefig(target, format=form, dpi=dpi, metadata=nameless[form])
    return target.getvalue()


def save(made: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file, by the ending of its name.

    Raises:
        InvalidNetworkError: for another ending than .png, .svg and .pdf.
        SemialgError: where the file cannot be written (place: `file`).
    """
    name = os.fspath(path)
    form = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    if form not in FORMATS:
        raise InvalidNetworkError(f"a picture is a .png, .svg or .pdf file, got {shown(name)}", file=name)
    write_bytes(picture(made, form), path)


def tint(k: int, count: int) -> str:
    """Give a light colour for region k of `count`: Okabe and Ito's, or a step of cividis where there are many.

    >>> tint(0, 2), tint(1, 100)
    ('#9ec9e2', '#d9d7c6')
    """
    strong = _rgb(COLOURS[k % 6]) if count <= 6 else cividis((k * 0.618034) % 1)
    return "#" + "".join(f"{round(255 - 0.38 * (255 - value)):02x}" for value in strong)


def cividis(share: float) -> tuple[float, float, float]:
    """Give the colour of the map cividis at a share from 0 to 1, nearly: three of its colours and what lies between."""
    place = min(max(share, 0.0), 1.0) * 2
    low, high = (_rgb(CIVIDIS[k]) for k in ((0, 1) if place < 1 else (1, 2)))
    part = place if place < 1 else place - 1
    red, green, blue = ((1 - part) * a + part * b for a, b in zip(low, high, strict=True))
    return red, green, blue


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def patch(corners: Sequence[Any], **style: Any) -> Any:
    """Give a polygon to add to axes."""
    from matplotlib.patches import Polygon

    return Polygon(corners, closed=True, **style)


def triangles(points: Sequence[Any], faces: Sequence[Any]) -> Any:
    """Give a triangulation for contours that are exact on every triangle."""
    from matplotlib.tri import Triangulation

    return Triangulation([p[0] for p in points], [p[1] for p in points], faces)
