"""A page about a network: self-contained HTML that works without a network connection.

Main results
    report_html     what the network is, verdicts with reasons, dimensions, pictures, equations, files to download

References: theory §1–§5; docs/conventions.md for the wording of completeness.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from importlib import metadata, resources
from typing import Any

from semialg_fibers.errors import BudgetExceededError, SemialgError, UnsupportedError
from semialg_fibers.exchange.certificates import certificate_to_json
from semialg_fibers.exchange.exporters import to_json, to_latex
from semialg_fibers.exchange.json_text import network_to_json
from semialg_fibers.exchange.latex import LARGE, values_latex
from semialg_fibers.exchange.mathml import html_of_latex
from semialg_fibers.exchange.tables import dimension_table
from semialg_fibers.exchange.traversal import completeness, decimal, known, or_open
from semialg_fibers.fibers.bottleneck import Fiber, fiber, first_components
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.networks.bent_hyperplanes import bent_arrangement, on_plane
from semialg_fibers.networks.layer import Network
from semialg_fibers.plots.canvas import picture
from semialg_fibers.plots.components import plot_components, plot_fiber
from semialg_fibers.plots.planar import plane_through, plot_arrangement
from semialg_fibers.questions.conservation import conservation_laws
from semialg_fibers.questions.equivalence import Same, same_function
from semialg_fibers.questions.summary import Summary, summary
from semialg_fibers.report.drawing import arrangement_svg, legend_html
from semialg_fibers.report.stage import stage_html
from semialg_fibers.verify.theorems import theorem

COMPONENTS = 6  # with their equations on the page
CERTIFICATES = 3  # members whose equality is certified
REGIONS = 2_500  # of a picture on the page
LARGEST_FILE = 400_000  # characters of a file to download
WORDS = {True: "yes", False: "no", None: "not decided"}
CLASSES = {True: "yes", False: "no", None: "open"}
# Nothing may be fetched, whatever the page contains: the browser is told so.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


@checked
def report_html(net: Network) -> str:
    """Give the page about a network of numbers.

    Raises:
        UnsupportedError: for a network with letters.

    >>> from semialg_fibers import gallery
    >>> page = report_html(gallery.network("line_1_1_1_1"))
    >>> page.count("<h2>"), "http" in page.replace("http-equiv", "").replace("http://www.w3.org/", "")
    (6, False)
    """
    net.refuse_letters()
    told = summary(net)
    try:
        found: Fiber | None = fiber(net)
    except SemialgError:  # the reason stands in the summary
        found = None
    sections = [
        ("What the network is", _network(net)),
        ("Verdicts", _verdicts(told, found)),
        ("Dimensions", _dimensions(net, told, found)),
        ("Pictures", _pictures(net, found)),
        ("Equations", _equations(net, found)),
        ("Files", _files(net, told, found)),
    ]
    body = "\n".join(f"<section><h2>{title}</h2>\n{content}</section>" for title, content in sections)
    title = escape(str(net))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f'<link rel="icon" href="data:,"/><title>{title}</title>\n<style>{_asset("page.css")}</style></head>\n'
        f"<body><h1>{title}</h1>\n{body}\n"
        f"<footer>Made by semialg-fibers {escape(metadata.version('semialg-fibers'))}. Everything stated is exact; "
        "pictures are drawn in floats and decide nothing.</footer>\n"
        f"<script>{_asset('page.js')}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return resources.files("semialg_fibers.report").joinpath(name).read_text(encoding="utf-8")


def _formulas(latex: str) -> Iterator[tuple[str, str]]:
    for block in html_of_latex(latex):
        yield block.title, block.html


def _network(net: Network) -> str:
    rows = [
        ("widths", "-".join(map(str, net.widths))),
        ("domain", escape(str(net.domain))),
        ("parameters", str(net.parameter_count)),
    ]
    text = _list(rows)
    if net.parameter_count < LARGE:
        values = "".join(html for _, html in _formulas(values_latex(net)))
        text += f'<details><summary>its weights and biases</summary><div class="wide">{values}</div></details>'
    return text


def _list(rows: list[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{name}</dt><dd>{value}</dd>' for name, value in rows)}</dl>"


def _lines(sentences: Any) -> str:
    items = "".join(f"<li>{escape(str(sentence))}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def _verdict(value: bool | None) -> str:
    return f'<span class="{CLASSES[value]}">{WORDS[value]}</span>'


def _verdicts(told: Summary, found: Fiber | None) -> str:
    net = told.network

    def shown(value: Any, name: str) -> str:
        if value is not None:
            return escape(str(value))
        return f'<span class="open">not decided</span>: {escape(told.open.get(name, "no theorem applies"))}'

    rows = []
    if told.refusal is not None:
        rows.append(("theorem", f"outside: {escape(told.refusal)}"))
    kinds = None
    if told.types is not None:
        kinds = ", ".join(
            f"{told.types.count(kind)} {kind}" for kind in ("nonlinear", "linear", "dead") if kind in told.types
        )
    rows.append(("neurons", shown(kinds, "second_layer")))
    if len(net.layers) > 2:
        hidden = None if told.hidden is None else ", ".join(f"H_{i + 1}" for i in told.hidden) or "none"
        rows.append(("hidden hyperplanes", shown(hidden, "hidden")))
        if told.flippable:
            rows.append(("can be turned round", ", ".join(f"H_{k + 1}" for k in told.flippable)))
    rows.append(("generic", _verdict(told.generic) + _lines(told.conditions)))
    answer = told.identifiability
    reasons = [*answer.reasons, *([answer.undecided] if answer.undecided else [])]
    rows.append(("identifiable", _verdict(answer.is_identifiable) + _lines(reasons)))
    if found is not None:
        rows.append(("the description", escape(completeness(found))))
    if net.parameter_count < LARGE:
        rows.append(("gradient flow", _laws(net)))
    return _list(rows)


def _laws(net: Network) -> str:
    try:
        kept = conservation_laws(net)
        lines = "".join(html for _, html in _formulas(kept.to_latex()))
        return f'{escape(kept.proof)}<div class="wide">{lines}</div>'
    except (BudgetExceededError, UnsupportedError) as error:
        return f'<span class="open">not decided</span>: {escape(error.message)}'


def _dimensions(net: Network, told: Summary, found: Fiber | None) -> str:
    table = dimension_table([net])
    text = _table(table.header, table.rows) + "".join(f"<p>{escape(line)}</p>" for line in table.legend)
    rows = [
        ("at this network", or_open(told.local_dimension)),
        ("functional dimension", or_open(told.functional)),
    ]
    if told.upper_bound is not None:
        rows.append(("at most", f"{told.upper_bound} (kernel of the Jacobian)"))
    if found is not None:
        count = known(lambda: found.component_count)
        rows.insert(0, ("components", f"{or_open(count)} up to relabelling of hidden units"))
        if count is not None:
            rows.insert(1, ("labelled copies", decimal(found.labelled_count)))
    text += _list(rows)
    if found is not None:
        listed = first_components(found, COMPONENTS)
        cells = [
            (str(k + 1), c.kind, c.name, or_open(known(partial(getattr, c, "dimension")))) for k, c in enumerate(listed)
        ]
        text += _table(("component", "kind", "sides", "dimension"), cells)
        text += _more(found, "components")
    return text


def _more(found: Fiber, what: str) -> str:
    count = known(lambda: found.component_count)
    if count is not None and count <= COMPONENTS:
        return ""
    return f"<p>Only the first {COMPONENTS} {what} are shown; <code>semialg-fibers fiber</code> lists more.</p>"


def _table(header: Any, rows: Any) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _pictures(net: Network, found: Fiber | None) -> str:
    parts = []
    try:
        parts.append(_arrangement(net))
    except SemialgError as error:
        parts.append(f"<p>No picture of the arrangement: {escape(error.message)}</p>")
    if found is not None and net.parameter_count < LARGE:
        parts.append(_matplotlib(partial(plot_fiber, found), "The fiber in the coordinates that move most."))
        if (known(lambda: found.component_count) or 0) > 1:
            parts.append(_matplotlib(partial(plot_components, found), "Which components have closures that meet."))
    return "\n".join(parts)


def _arrangement(net: Network) -> str:
    if net.widths[0] == 1:
        return _matplotlib(lambda: plot_arrangement(net), "The graph of the function.")
    plane = None if net.widths[0] == 2 else plane_through(net)
    shown = bent_arrangement(net if plane is None else on_plane(net, plane), budget=REGIONS)
    where = "" if plane is None else " on the plane through 0 along the first two independent rows of A1"
    caption = (
        f"{len(shown.maps)} linear pieces on {len(shown.regions)} regions{where}; thin where the function does not "
        "bend, dashed where hidden, with the ray of the translation."
    )
    text = f"<figure>{arrangement_svg(net, shown)}{legend_html(net, shown)}<figcaption>{caption}</figcaption></figure>"
    try:
        stage = stage_html(net, shown)
    except UnsupportedError as error:
        return f"{text}<p>No slider: {escape(error.message)}.</p>"
    if stage:
        text += (
            '<h3>Move the hidden hyperplane: the function stays</h3><noscript><p class="open">The slider needs '
            f"JavaScript.</p></noscript><figure>{stage}<figcaption>Colours: the function of the moved parameters, "
            "computed anew each time. Arrows: the positive side of each hyperplane. That the function is the same is "
            "proved (theory §3.2, §3.3); here it is seen, in floats.</figcaption></figure>"
        )
    return text


def _matplotlib(draw: Callable[[], Any], caption: str) -> str:
    """Put a figure into the page; its names must differ from those of other figures."""
    try:
        svg = picture(draw(), "svg").decode()
    except UnsupportedError as error:
        return f"<p>{caption} {escape(error.message)}</p>"
    body = svg[svg.index("<svg") :]
    start, end = body.index("<metadata>"), body.index("</metadata>") + len("</metadata>")
    body = body[:start] + body[end:]
    prefix = "".join(word[0] for word in caption.lower().split())
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{prefix}-", body)
    return f'<figure class="matplotlib">{body}<figcaption>{caption}</figcaption></figure>'


def _equations(net: Network, found: Fiber | None) -> str:
    if found is None:
        return "<p>There is no description of the fiber: see the verdicts.</p>"
    parts = []
    for number, _ in enumerate(first_components(found, COMPONENTS)):
        for title, html in _formulas(to_latex(found, number)):
            if title:
                is_open = ' open=""' if number == 0 else ""
                parts.append(f"<details{is_open}><summary>{title}</summary><div>{html}</div></details>")
    return "\n".join(parts) + _more(found, "components")


def _files(net: Network, told: Summary, found: Fiber | None) -> str:
    files = []
    lacking = ""
    try:
        files.append(("network.json", "the network", network_to_json(net)))
    except SemialgError as error:  # a polyhedron: the page can be made all the same
        lacking = f"<p>There is no file of the network: {escape(error.message)}</p>"
    files.append(("summary.json", "the verdicts", json.dumps(told.to_json(), indent=1, ensure_ascii=False)))
    if found is not None:
        if net.parameter_count < LARGE:
            files.append(("fiber.json", "the fiber", to_json(found)))
        for number, component in enumerate(first_components(found, CERTIFICATES)):
            answer = same_function(net, component.sample(1))
            if isinstance(answer, Same) and not lacking:
                text = certificate_to_json(answer.a, answer.b, answer.certificate)
                files.append((f"same-{number}.json", f"a member of component {number + 1} is the same function", text))
    for name in _theorems(told):
        files.append((f"{name}.json", f"the theorem {name.replace('_', ' ')}, proved", theorem(name).to_json()))
    links = [_link(*file) for file in files]
    return (
        f'{lacking}<ul class="plain downloads">{"".join(links)}</ul><p>Certificates and proofs are checked again by '
        "<code>semialg-fibers check FILE</code>, by code that shares nothing with what made them.</p>"
    )


def _theorems(told: Summary) -> Iterator[str]:
    yield from ("permutation_symmetry", "positive_scaling")
    if told.types and "nonlinear" in told.types:
        yield "orientation_flip"
    if told.hidden and told.types and set(told.types) != {"dead"}:
        yield "hiding_translation"
    if told.flippable:
        yield "sign_flip"


def _link(name: str, about: str, text: str) -> str:
    if len(text) > LARGEST_FILE:
        return f"<li>{name}: {about} ({len(text):,} characters, too large for this page)</li>"
    data = base64.b64encode(text.encode()).decode()
    return f'<li><a download="{name}" href="data:application/json;base64,{data}">{name}</a>: {escape(about)}</li>'
