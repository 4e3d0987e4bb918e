"""Pictures: what is drawn is what is exact, the images stay as they were up to a tolerance, files are whole."""

import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from flint import fmpq

from semialg_fibers import gallery
from semialg_fibers.cli import run
from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.networks.bent_hyperplanes import bent_arrangement
from semialg_fibers.plots import components, planar
from semialg_fibers.plots import run as runs
from semialg_fibers.plots.canvas import COLOURS, picture, save
from semialg_fibers.plots.pictures import picture_of

BASELINES = Path(__file__).parent / "tables" / "pictures"
TOLERANCE = 0.06  # root mean square of the difference, of 1: fonts and edges differ between versions of matplotlib

PICTURES = {
    "arrangement": ("hidden_2_2_2_1", "arrangement", {}),
    "slice": ("flips_3_3_1_1", "arrangement", {}),
    "line": ("line_1_1_1_1", "arrangement", {}),
    "symmetry": ("hidden_2_2_2_1", "symmetry", {}),
    "fiber": ("hidden_2_2_2_1", "fiber", {"coordinates": "W1_0_1,b1_0", "free": "t,lambda_0"}),
    "components": ("line_hidden_1_1_2_1", "components", {}),
    "laws": ("visible_2_2_2_1", "laws", {}),
}


def drawn(name):
    network, kind, options = PICTURES[name]
    return picture_of(gallery.network(network), kind, **options)


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_looks_as_before(name):
    """Delete a baseline to have it made anew, and look at it."""
    import numpy as np
    from matplotlib.image import imread

    data = picture(drawn(name), "png", dpi=40)
    baseline = BASELINES / f"{name}.png"
    if not baseline.exists():
        baseline.write_bytes(data)
        pytest.fail(f"{baseline.name} did not exist and was written: look at it, then run again")
    made, before = imread(io.BytesIO(data)), imread(baseline)
    assert made.shape == before.shape
    assert np.sqrt(((made - before) ** 2).mean()) < TOLERANCE
    assert before[..., :3].std() > 0.05, "the baseline is not an empty page"


def test_the_lines_drawn_are_the_exact_pieces():
    net = gallery.network("hidden_2_2_2_1")
    found = bent_arrangement(net)
    (axes,) = planar.plot_arrangement(net).axes
    segments = set()
    for line in axes.lines:
        x, y = line.get_data()
        if len(x) >= 3 and line.get_marker() == "None":
            segments |= {(x[k], y[k], x[k + 1], y[k + 1]) for k in range(0, len(x), 3)}
    assert segments == {tuple(float(v) for end in piece.ends for v in end) for piece in found.pieces}
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert [set(line.get_xdata()[:2]) for line in dashed] == [{-1.0}]  # H_1 is x1 = −1, and hidden
    markers = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata()) == len(found.vertices)]
    assert {tuple(map(float, v)) for v in found.vertices} in [set(zip(*m.get_data(), strict=True)) for m in markers]


def test_the_ray_starts_where_the_translation_ends():
    """t > −1/2 for x1 + 1 + t = 0: the open end lies on x1 = −1/2."""
    (axes,) = planar.plot_arrangement(gallery.network("hidden_2_2_2_1")).axes
    ends = [line.get_data() for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [list(x) for x, _ in ends] == [[-0.5]]
    assert any("-1/2" in text.get_text() for text in axes.texts)


def test_regions_of_one_linear_piece_have_one_colour():
    net = gallery.network("hidden_2_2_2_1")
    found = bent_arrangement(net)
    (axes,) = planar.plot_arrangement(net).axes
    colours = {}
    for region, polygon in zip(found.regions, axes.patches, strict=True):
        colours.setdefault((region.slope, region.offset), set()).add(polygon.get_facecolor())
    assert all(len(values) == 1 for values in colours.values())
    assert len({next(iter(values)) for values in colours.values()}) == len(colours) == 5


def test_the_symmetry_says_what_was_proved():
    net = gallery.network("hidden_2_2_2_1")
    assert "proved" in planar.plot_symmetry(net, net)._suptitle.get_text()
    other = gallery.network("visible_2_2_2_1")
    assert planar.plot_symmetry(net, other)._suptitle.get_text() == "different functions"


def test_contours_are_exact_on_the_regions():
    """Values of the triangulation are those of f at the corners, and the triangles fill the window."""
    net = gallery.network("wide_2_3_2_1")
    found = bent_arrangement(net)

    class Axes:
        def tricontourf(self, mesh, values, **style):
            self.mesh, self.values = mesh, values

    axes = Axes()
    planar.draw_function(axes, found, 0, [0.0, 1.0])
    x, y = axes.mesh.x, axes.mesh.y
    area = sum(
        abs((x[b] - x[a]) * (y[c] - y[a]) - (x[c] - x[a]) * (y[b] - y[a])) / 2 for a, b, c in axes.mesh.triangles
    )
    assert area == float(sum((region.area for region in found.regions), fmpq(0)))
    assert [axes.values[k] for k in (0, -1)] == [
        float(net.value([fmpq(int(2 * x[k]), 2), fmpq(int(2 * y[k]), 2)])[0])
        if 2 * x[k] % 1 == 0 == 2 * y[k] % 1
        else v
        for k, v in ((0, axes.values[0]), (-1, axes.values[-1]))
    ]


def test_fibers_in_two_and_three_coordinates():
    found = fiber(gallery.network("hidden_2_2_2_1"))
    made = components.plot_fiber(found, ("W1_0_0", "b1_0", "b2_0"), free=("t", "lambda_0"))
    assert made.axes[0].name == "3d"
    cloud = components.plot_fiber(fiber(gallery.network("two_linear_2_2_3_2")), ("b2_1", "b2_2"), (0,))
    x, y = cloud.axes[0].lines[0].get_data()
    assert min(x) >= 0 <= min(y)  # biases of linear rows
    assert len(x) > 50
    curve = components.plot_fiber(found, ("b1_0", "b2_0"), (0,)).axes[0].lines[0]
    for b1, b2 in zip(*curve.get_data(), strict=True):
        assert b2 == pytest.approx(-3 - 2 * (b1 - 1))  # (b1, b2) = (1 + t, −3 − 2 t)
    assert min(curve.get_xdata()) == pytest.approx(0.5)
    with pytest.raises(InvalidNetworkError, match="parameters W1_0_0"):
        components.plot_fiber(found, ("b1_0", "b9_9"))
    with pytest.raises(InvalidNetworkError, match="components 0 to 1"):
        components.plot_fiber(found, components=[5])


def test_the_component_graph():
    found = fiber(gallery.network("line_hidden_1_1_2_1"))
    graph = components.component_graph(3, components.closure_graph(found))
    assert sorted(graph.edges) == [(0, 1)]
    assert graph.edges[0, 1]["point"].widths == (1, 1, 2, 1)


def test_laws_leave_at_first_order_and_the_loss_falls():
    net = gallery.network("visible_2_2_2_1")
    xs = runs._points(2)
    ys = [tuple(v + 1 for v in net.value(x)) for x in xs]
    coarse = runs.descend(net, xs, ys, "1/2000", 4)
    fine = runs.descend(net, xs, ys, "1/4000", 8)
    assert coarse.losses[-1] < coarse.losses[0]
    for a, b in zip(coarse.values, fine.values, strict=True):
        drift, half = a[-1] - a[0], b[-1] - b[0]
        assert abs(half) < abs(drift) or abs(drift) < fmpq(1, 10**6)  # what rounding does
        assert abs(drift) < fmpq(1, 50)
    with pytest.raises(InvalidNetworkError, match="at least one step"):
        runs.descend(net, xs, ys, "1/8", 0)


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_files_are_the_same_each_time(form, tmp_path):
    first, second = tmp_path / f"a.{form}", tmp_path / f"b.{form}"
    for path in (first, second):
        assert run(["plot", "gallery:hidden_2_2_2_1", "-o", str(path)]) == 0
    assert first.read_bytes() == second.read_bytes()
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[form]
    assert first.read_bytes().startswith(start)
    if form == "svg":
        ElementTree.fromstring(first.read_text())
        assert not re.search(r"(?:href|src)=\"http", first.read_text())


def test_colours_are_those_of_okabe_and_ito_and_differ_in_lightness():
    def lightness(colour):
        red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
        return 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2

    values = sorted(lightness(colour) for colour in COLOURS[:4])
    assert len(set(COLOURS)) == len(COLOURS)
    assert values[0] < 0.2 < values[-1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["gallery:hidden_2_2_2_1", "-o", "x.gif"], ".png, .svg or .pdf"),
        (["gallery:hidden_2_2_2_1", "-o", "x.png", "--window", "1,2"], "a window is A,B,C,D"),
        (["gallery:hidden_2_2_2_1", "-o", "x.png", "--window", "2,1,0,1"], "no interior"),
        (["gallery:hidden_2_2_2_1", "-o", "x.png", "--kind", "symmetry", "--component", "7"], "components 0 to 1"),
        (["gallery:flips_3_3_1_1", "-o", "x.png", "--kind", "symmetry"], "two inputs"),
        (["gallery:wide_2_3_2_1", "-o", "x.png", "--kind", "fiber"], "bottleneck"),
        (["gallery:hidden_2_2_2_1", "-o", "/nowhere/x.png"], "cannot be written"),
    ],
)
def test_refusals_are_one_sentence(arguments, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["plot", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(UnsupportedError, match=r"semialg-fibers\[plots\]"):
        planar.plot_arrangement(gallery.network("hidden_2_2_2_1"))


def test_a_plane_needs_two_independent_rows():
    with pytest.raises(UnsupportedError, match="span no plane"):
        planar.plane_through(gallery.network("line_1_1_1_1"))
    with pytest.raises(InvalidNetworkError, match="picture is a"):
        save(None, "noending")
