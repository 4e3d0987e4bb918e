"""Fibers and components out: as text for people and as JSON for programs.

Main definitions
    to_text     a fiber or one component, every equation and inequality
    to_json     the same as a JSON document

References: docs/conventions.md for variables, indices and the wording of completeness.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from flint import fmpz

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.fibers.bottleneck import Fiber, first_components
from semialg_fibers.fibers.component import FiberComponent, Parametrization
from semialg_fibers.geometry.semialgebraic import BasicSet

MOST_COMPONENTS = 64
LAST_COMPONENT = 2**17  # they are listed one after the other

_LEGEND = (
    "Variables: Wl_i_j is the weight into unit i from unit j of layer l, bl_i its bias; layers count from 1, "
    "units from 0."
)


def chosen(found: Fiber, component: int | None) -> list[tuple[int, FiberComponent]]:
    """Give the component with this number, or the first `MOST_COMPONENTS` that are found, each with its number.

    Raises:
        InvalidNetworkError: when there is no such component.
        BudgetExceededError: when the component is not among the first `LAST_COMPONENT`, or not found in the budget.
    """
    if component is None:
        return list(enumerate(first_components(found, MOST_COMPONENTS)))
    if component < 0:
        raise InvalidNetworkError(f"components count from 0, got {decimal(component)}", value=component)
    if component >= LAST_COMPONENT:
        count = known(lambda: found.component_count)
        if count is not None and component >= count:
            raise InvalidNetworkError(
                f"component {decimal(component)} does not exist, there are {decimal(count)}", value=component
            )
        raise BudgetExceededError(
            f"components are listed one after the other, up to number {LAST_COMPONENT - 1}; got {decimal(component)}"
        )
    try:
        return [(component, found.components[component])]
    except IndexError as error:
        raise InvalidNetworkError(str(error), value=component) from None


def completeness(found: Fiber) -> str:
    """Say in the theory's words what the description is."""
    if found.complete:
        return "sound: every member is in the fiber, exactly; complete: every generic member lies in a component"
    names = ", ".join(f"({name})" for name in found.assumptions)
    return (
        f"sound: every member is in the fiber, exactly; completeness for generic members rests on {names}, not decided"
    )


def known(compute: Any) -> int | None:
    """Give a count or a dimension, None where it is beyond the budget."""
    try:
        return int(compute())
    except BudgetExceededError:
        return None


def _or_open(value: int | None) -> str:
    return "not decided" if value is None else decimal(value)


def decimal(value: int) -> str:
    """Give the digits, also of counts such as 2000!, which Python's own `str` refuses."""
    return str(fmpz(value))


def _whole(value: int | None) -> int | str | None:
    """Give a count for JSON: an integer, or the string of its digits where Python would refuse to read it again."""
    return value if value is None or len(digits := decimal(value)) <= 4000 else digits


def to_text(found: Fiber, component: int | None = None) -> str:
    """Give the fiber, or the component with this number, as text with every equation and inequality.

    >>> from semialg_fibers import gallery
    >>> from semialg_fibers.fibers.bottleneck import fiber
    >>> print(to_text(fiber(gallery.network("line_1_1_1_1")), 0).splitlines()[0])
    Fiber of the ReLU network 1-1-1-1 on R^1
    """
    return "\n".join(_lines(found, component)) + "\n"


def _lines(found: Fiber, component: int | None) -> Iterator[str]:
    count, parts = known(lambda: found.component_count), chosen(found, component)
    yield f"Fiber of the {found.network}"
    yield f"  {completeness(found)}"
    yield f"  components: {_or_open(count)} (up to relabelling of hidden units)"
    if count is not None:
        yield f"  labelled copies: {decimal(found.labelled_count)}"
    yield f"  dimension: {_or_open(known(lambda: found.dimension))}, at this network: {_or_open(found.local_dimension)}"
    yield ""
    yield _LEGEND
    for number, part in parts:
        yield ""
        yield from _component_lines(number, part)
    if component is None and count != len(parts):
        yield ""
        yield f"(the first {len(parts)} components are shown; choose any other by its number)"


def _component_lines(number: int, part: FiberComponent) -> Iterator[str]:
    side = "" if part.direction is None else f", direction {part.direction:+d}"
    yield f"Component {number}: {part.kind}{side}, {part.name}; dimension {part.dimension}"
    yield "  as an image:"
    yield from (f"    {line}" for line in _parametrization_lines(part.parametrization))
    sets = part.set.parts
    for i, basic in enumerate(sets):
        which = "" if len(sets) == 1 else f", part {i + 1} of {len(sets)} (dimension {basic.dimension})"
        yield f"  as a set{which}:"
        yield from (f"    {line}" for line in _set_lines(basic))


def _parametrization_lines(image: Parametrization) -> Iterator[str]:
    for number, (weight, bias) in enumerate(image.network, 1):
        yield f"W{number} = {_matrix(weight.tolist())}"
        yield f"b{number} = {_row(bias)}"
    yield "where " + ", ".join(str(relation) for relation in image.ranges) if image.ranges else "nothing is free"
    for expression in image.equations:
        yield f"and {expression} = 0"
    free = [symbol for symbol in image.symbols if not any(r.has(symbol) for r in image.ranges)]
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


def to_json(found: Fiber, component: int | None = None) -> str:
    """Give the fiber, or the component with this number, as a JSON document with every equation and inequality.

    Raises:
        InvalidNetworkError: when there is no such component.
    """
    count = known(lambda: found.component_count)
    document = {
        "format": "semialg_fibers/fiber",
        "version": 1,
        "widths": list(found.network.widths),
        "complete": found.complete,
        "assumptions": list(found.assumptions),
        "component_count": _whole(count),
        "labelled_count": _whole(None if count is None else found.labelled_count),
        "dimension": known(lambda: found.dimension),
        "local_dimension": found.local_dimension,
        "components": [_component_json(number, part) for number, part in chosen(found, component)],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _component_json(number: int, part: FiberComponent) -> dict[str, Any]:
    image, whole = part.parametrization, part.set
    return {
        "number": number,
        "kind": part.kind,
        "flips": list(part.flips),
        "direction": part.direction,
        "dimension": part.dimension,
        "variables": [str(variable) for variable in whole.variables],
        "parts": [
            {
                "dimension": basic.dimension,
                "equations": [str(e) for e in basic.equations],
                "positive": [str(e) for e in basic.positive],
                "nonnegative": [str(e) for e in basic.nonnegative],
            }
            for basic in whole.parts
        ],
        "parametrization": {
            "symbols": [str(symbol) for symbol in image.symbols],
            "ranges": [str(relation) for relation in image.ranges],
            "equations": [str(e) for e in image.equations],
            "layers": [
                {"weight": [[str(v) for v in row] for row in weight.tolist()], "bias": [str(v) for v in bias]}
                for weight, bias in image.network
            ],
        },
    }
