"""Documents as text for people: every equation and inequality.

Main results
    document_text    a document as lines

References: docs/conventions.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from semialg_fibers.exchange.traversal import Document, Section, summary_lines
from semialg_fibers.fibers.component import Parametrization
from semialg_fibers.geometry.semialgebraic import BasicSet

_LEGEND = (
    "Variables: Wl_i_j is the weight into unit i from unit j of layer l, bl_i its bias; layers count from 1, "
    "units from 0."
)


def document_text(document: Document) -> str:
    """Give the document as text with every equation and inequality."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Document) -> Iterator[str]:
    if document.facts is not None:
        first, *more = summary_lines(document.facts)
        yield first
        yield from (f"  {line}" for line in more)
        yield ""
    if document.sort != "set":
        yield _LEGEND
    if document.letters:
        yield "Letters: " + ", ".join(map(_letter, document.letters))
    for count, section in enumerate(document.sections):
        if count or document.sort != "set":
            yield ""
        yield from _section_lines(section)
    if document.leaves_out:
        yield ""
        yield f"(the first {len(document.sections)} components are shown; choose any other by its number)"


def _letter(symbol: Any) -> str:
    from semialg_fibers.exchange.languages import signs_of

    signs = signs_of(symbol)
    return f"{symbol} {signs[0].replace('!=', '≠').replace('>=', '≥').replace('<=', '≤')}" if signs else str(symbol)


def _section_lines(section: Section) -> Iterator[str]:
    yield section.title
    if section.condition is not None:
        yield f"  exists iff {section.condition}"
    if section.image is not None:
        yield "  as an image:"
        yield from (f"    {line}" for line in _image_lines(section.image))
    for i, basic in enumerate(section.parts):
        yield f"  as a set{section.part_title(i)}:"
        yield from (f"    {line}" for line in _set_lines(basic))


def _image_lines(image: Parametrization) -> Iterator[str]:
    for number, (weight, bias) in enumerate(image.network, 1):
        yield f"W{number} = {_matrix(weight.tolist())}"
        yield f"b{number} = {_row(bias)}"
    yield "where " + ", ".join(str(relation) for relation in image.ranges) if image.ranges else "nothing is free"
    for expression in image.equations:
        yield f"and {expression} = 0"
    free = [symbol for symbol in image.symbols if not any(r.has(symbol) for r in (*image.ranges, *image.equations))]
    if free:
        yield f"free: {', '.join(map(str, free))}"


def _row(values: Sequence[Any]) -> str:
    return "[" + ", ".join(map(str, values)) + "]"


def _matrix(rows: Sequence[Sequence[Any]]) -> str:
    return "[" + ", ".join(map(_row, rows)) + "]"


def _set_lines(basic: BasicSet) -> Iterator[str]:
    headings = dict(basic.headings)
    for i, expression in enumerate(basic.equations):
        if i in headings:
            yield f"{headings[i]}:"
        yield f"  {expression} = 0"
    yield "signs:"
    for expression in basic.positive:
        yield f"  {_relation(expression, '>', '<')}"
    for expression in basic.nonnegative:
        yield f"  {_relation(expression, '≥', '≤')}"


def _relation(expression: Any, above: str, below: str) -> str:
    """Write −x > 0 as x < 0."""
    return f"{-expression} {below} 0" if (-expression).is_Symbol else f"{expression} {above} 0"
