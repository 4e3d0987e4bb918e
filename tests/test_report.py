"""The page: well-formed, with what it promises in it, nothing fetched; in a browser the slider moves the line."""

import base64
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import chromium
import pytest

from semialg_fibers import gallery
from semialg_fibers.cli import run
from semialg_fibers.errors import UnsupportedError
from semialg_fibers.exchange.certificates import read_certificate
from semialg_fibers.exchange.exporters import from_json
from semialg_fibers.exchange.files import read_network
from semialg_fibers.fibers.hiding import flip, translate
from semialg_fibers.networks.layer import Network
from semialg_fibers.report.page import report_html

DIGITS = Path(__file__).parents[1] / "notebooks" / "data" / "digits-64-32-16-10.json"
XHTML = "{http://www.w3.org/1999/xhtml}"
SAMPLE = [
    "hidden_2_2_2_1",
    "line_hidden_1_1_2_1",
    "wide_2_3_2_1",
    "exchange_of_roles",
    "flips_3_3_1_1",
    "constant_2_2_2_1",
]
needs_chromium = pytest.mark.skipif(chromium.PROGRAM is None, reason="Chromium is not installed (Debian: chromium)")


@pytest.fixture(scope="module")
def pages():
    return {name: report_html(gallery.network(name)) for name in SAMPLE}


def tree(page):
    """The page as XML, without its script and style."""
    bare = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page.removeprefix("<!DOCTYPE html>\n"), flags=re.S)
    return ElementTree.fromstring(bare.replace("xmlns:xlink", "data-xlink").replace("xlink:href", "href"))


def files(page):
    return {
        name: base64.b64decode(data).decode()
        for name, data in re.findall(r'download="([^"]+)" href="data:application/json;base64,([^"]+)"', page)
    }


@pytest.mark.parametrize("name", SAMPLE)
def test_the_page_is_well_formed_and_fetches_nothing(name, pages):
    page = pages[name]
    made = tree(page)
    identities = [element.get("id") for element in made.iter() if element.get("id")]
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", page)
    assert not re.search(r"@import|url\((?!#)", page)
    assert "default-src 'none'" in page
    assert len(identities) == len(set(identities))
    titles = [h2.text for h2 in made.iter("h2")]
    assert titles == ["What the network is", "Verdicts", "Dimensions", "Pictures", "Equations", "Files"]


def test_the_hidden_network_has_everything(pages):
    page = pages["hidden_2_2_2_1"]
    words = "".join(tree(page).itertext())
    assert "hyperplane 1 of the first layer is hidden: its bias can be translated by any t > -1/2" in words
    assert "sound: every member is in the fiber, exactly; complete: every generic member" in words
    assert page.count("<details") == 3  # weights, two components
    assert 'type="range"' in page
    assert 'data-move="flip" value="1"' in page
    titles = {title.text for title in tree(page).iter("title")}
    assert "(-1/2, 1/2): H_2, (A2 h + b2)_2 = 0" in titles  # the exact vertices


def test_without_a_description_the_page_says_why(pages):
    words = "".join(tree(pages["exchange_of_roles"]).itertext())
    assert "outside: the network is not generic: (G3)" in words
    assert "There is no description of the fiber" in words
    assert "n1 = 3 > d = 2" in "".join(tree(pages["wide_2_3_2_1"]).itertext())
    assert "data-move" not in pages["wide_2_3_2_1"].split("<script>")[0]


def test_files_to_download_are_whole_and_check(pages, tmp_path):
    given = files(pages["hidden_2_2_2_1"])
    assert {"network.json", "summary.json", "fiber.json", "same-0.json", "same-1.json", "sign_flip.json"} <= set(given)
    assert json.loads(given["summary.json"])["identifiable"] is False
    assert len(from_json(given["fiber.json"]).sections) == 2
    for name, text in given.items():
        (tmp_path / name).write_text(text)
    assert read_network(tmp_path / "network.json") == gallery.network("hidden_2_2_2_1")
    for name in ("same-0.json", "same-1.json", "hiding_translation.json", "sign_flip.json"):
        read_certificate(tmp_path / name).check()


def test_the_digits_network_fits_and_the_command_writes_it(tmp_path):
    target = tmp_path / "report.html"
    assert run(["report", str(DIGITS), "-o", str(target)]) == 0
    page = target.read_text()
    assert len(page.encode()) < 2_000_000
    tree(page)
    words = "".join(tree(page).itertext())
    assert "64-32-16-10" in words
    assert "2730" in words  # its functional dimension
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_refusals(tmp_path, capsys):
    with pytest.raises(UnsupportedError, match="needs numbers"):
        report_html(Network.generic(2, 2, 1, 1, signs=["+--"]))
    assert run(["report", "gallery:nothing", "-o", str(tmp_path / "x.html")]) == 2
    assert run(["report", "gallery:line_1_1_1_1", "-o", str(tmp_path / "no" / "x.html")]) == 2
    assert capsys.readouterr().err.count("\n") == 2
    assert not list(tmp_path.iterdir())


def test_hostile_names_do_not_reach_the_page_as_markup():
    page = report_html(gallery.network("one_layer_box_2_2_1"))
    assert "[-1, 1] × [-1, 1]" in "".join(tree(page).itertext())


def test_the_page_is_the_same_each_time(pages):
    assert report_html(gallery.network("wide_2_3_2_1")) == pages["wide_2_3_2_1"]


# in a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    page = chromium.Page(tmp_path_factory.mktemp("profile"))
    yield page
    page.close()


@pytest.fixture
def hidden(browser, pages, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(pages["hidden_2_2_2_1"])
    browser.ask("Emulation.setDeviceMetricsOverride", width=1000, height=900, deviceScaleFactor=1, mobile=False)
    browser.open(path.as_uri())
    return browser


LINE = "['x1','y1','x2','y2'].map(n => document.querySelector('[data-hyperplane=\"0\"]').getAttribute(n))"
PIXELS = "document.getElementById('function').toDataURL()"


def set_slider(page, value):
    page.run(f"(() => {{ t0.value = {value}; t0.dispatchEvent(new Event('input')); }})()")


@needs_chromium
def test_it_loads_without_errors_and_fetches_nothing(hidden):
    assert hidden.complaints == []
    assert [url for url in hidden.fetched if not url.startswith("data:")] == [hidden.run("location.href")]


@needs_chromium
def test_the_slider_moves_the_line_and_the_function_stays(hidden):
    """H_1 is x1 + 1 + t = 0 in the window [−5/2, 2] of 600 units: at t = 0 x = 200, at t = 1/2 x = 400/3."""
    before, picture = hidden.run(LINE), hidden.run(PIXELS)
    assert {float(before[0]), float(before[2])} == {200.0}
    set_slider(hidden, 0.5)
    after = hidden.run(LINE)
    assert [float(after[0]), float(after[2])] == pytest.approx([400 / 3, 400 / 3])
    assert hidden.run(PIXELS) == picture
    assert len(picture) > 500
    assert hidden.run("gap.textContent").startswith("0")
    assert hidden.run("document.getElementById('t0-value').textContent") == "0.5"
    assert "b1: 1.5" in hidden.run("moved.textContent")
    assert "b2: (−4, −4)" in hidden.run("moved.textContent")  # −3 − 2 t, −2 − 4 t
    set_slider(hidden, 100)  # held at the end of the slider: the line has left the window
    assert hidden.run("document.querySelector('[data-hyperplane=\"0\"]').getAttribute('visibility')") == "hidden"
    set_slider(hidden, -100)
    assert hidden.run("Number(t0.value)") > -0.5
    assert hidden.run(PIXELS) == picture


@needs_chromium
def test_a_flip_turns_the_line_and_the_function_stays(hidden):
    picture = hidden.run(PIXELS)
    side = "document.querySelector('[data-side=\"1\"]').getAttribute('x2')"
    start = float(hidden.run(side))
    hidden.run("document.querySelector('[data-move=flip]').click()")
    line = [float(value) for value in hidden.run(LINE)]
    assert line[0] != line[2], "H_1 is now x1 − (x1 + x2)/2 + 1 = 0, no longer upright"
    assert float(hidden.run(side)) != start
    assert hidden.run(PIXELS) == picture
    assert "A1 row 1: (0.5, −0.5)" in hidden.run("moved.textContent")
    assert "A1 row 2: (−1, −1)" in hidden.run("moved.textContent")
    assert hidden.run("gap.textContent").startswith("0")


@needs_chromium
def test_the_browser_moves_as_python_does(browser, tmp_path):
    """A network whose second row has a bias, so that a flip moves the hidden one's bias too."""
    net = Network([([[1, 0], [2, 1]], [1, 3]), ([[2, -1], [4, -2]], [-3, -1]), ([[1, -2]], [1])])
    path = tmp_path / "page.html"
    path.write_text(report_html(net))
    browser.open(path.as_uri())
    picture = browser.run(PIXELS)
    browser.run("document.querySelector('[data-move=flip]').click()")
    set_slider(browser, 0.75)
    assert browser.run(PIXELS) == picture
    assert browser.run("gap.textContent").startswith("0 ")
    expected = flip(translate(net, 0, "3/4"), [1])
    told = browser.run("moved.textContent").replace("−", "-")
    numbers = [float(number) for number in re.findall(r"-?[0-9.]+(?=[,)\n])", told)]
    first, second = expected.layers[:2]
    wanted = [float(v) for form in first.forms for v in form] + [float(v) for v in second.offset]
    assert numbers == pytest.approx(wanted, abs=1e-3)


@needs_chromium
def test_a_wrong_move_would_be_seen(hidden):
    """The picture is computed from the moved parameters: when only the line's bias moves, the picture changes."""
    text = hidden.run("document.documentElement.outerHTML")
    broken = text.replace('"users": [0, 1]', '"users": []')
    assert broken != text
    picture = hidden.run(PIXELS)
    data = base64.b64encode(broken.encode()).decode()
    hidden.open(f"data:text/html;base64,{data}")
    set_slider(hidden, 0.5)
    assert hidden.run(PIXELS) != picture
    assert not hidden.run("gap.textContent").startswith("0 ")


@needs_chromium
@pytest.mark.parametrize("name", SAMPLE)
def test_it_fits_a_phone_and_prints(name, browser, pages, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(pages[name])
    browser.ask("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
    browser.open(path.as_uri())
    assert browser.complaints == []
    assert browser.run("document.documentElement.scrollWidth") <= 360
    browser.ask("Emulation.setEmulatedMedia", media="print")
    shown = "[...document.querySelectorAll('.controls, .downloads')].map(e => getComputedStyle(e).display)"
    assert set(browser.run(shown)) == {"none"}
    browser.ask("Emulation.setEmulatedMedia", media="")
    printed = base64.b64decode(browser.ask("Page.printToPDF")["data"])
    assert printed.startswith(b"%PDF")
    assert browser.run("[...document.querySelectorAll('details')].every(part => part.open)")


HUGE = 10**400


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([[1, 0], [0, 1], [0, 0]], [[2 * HUGE, -1], [-3]]),
        ([[1, 0], [0, 1], [HUGE, 0]], [[2, -1], [-3]]),
        ([[1, 0], [0, 1], [0, 0]], [[f"1/{HUGE}", -1], [-3]]),
        ([[1], [HUGE]], None),
    ],
    ids=["slope", "bias", "tiny slope", "one input"],
)
def test_numbers_beyond_floats_cost_their_picture_only(first, second):
    *weight, bias = first
    layers = [(weight, bias)] + ([([second[0]], second[1])] if second else []) + [([[1]], [0])]
    page = report_html(Network(layers))
    assert "beyond the range of floats cannot be drawn" in page
    assert "What the network is" in page
