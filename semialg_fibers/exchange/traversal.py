"""What is exported, once for all languages: a set, a component or a fiber as one document.

Main definitions
    Facts       what is said of a fiber as a whole
    Section     one set: a component with its image, or a set alone; its basic sets
    Document    sections, and the facts when it is a fiber

Main results
    document_of    the document of a set, a component or a fiber; of a document itself
    chosen         the components that are shown, each with its number
    completeness   the theory's words for what the description is

References: docs/conventions.md for variables, indices and the wording of completeness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flint import fmpz

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UndecidedSignError
from semialg_fibers.fibers.bottleneck import Fiber, first_components
from semialg_fibers.fibers.component import FiberComponent, Parametrization
from semialg_fibers.geometry.semialgebraic import BasicSet, SemialgebraicSet
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    import sympy

MOST_COMPONENTS = 64
LAST_COMPONENT = 2**17  # they are listed one after the other


@dataclass(frozen=True)
class Facts:
    """A fiber as a whole; None where something was not decided."""

    title: str
    widths: tuple[int, ...]
    complete: bool | None
    assumptions: tuple[str, ...]
    component_count: int | None
    labelled_count: int | None
    dimension: int | None
    local_dimension: int | None


@dataclass(frozen=True)
class Section:
    """A set: `parts` are its basic sets. A component has kind, name, flips, direction and an image, a set has none.

    `number` is that of a fiber's component; `condition` says for which values of the letters the component exists, None
    for all. `component` and `network` are what the section was made of, if known.
    """

    parts: tuple[BasicSet, ...]
    dimension: int | None
    number: int | None = None
    kind: str | None = None
    name: str | None = None
    flips: tuple[int, ...] = ()
    direction: int | None = None
    image: Parametrization | None = None
    condition: str | None = None
    component: FiberComponent | None = field(default=None, compare=False, repr=False)
    network: Network | None = field(default=None, compare=False, repr=False)

    @property
    def variables(self) -> tuple[sympy.Symbol, ...]:
        """The variables of the set."""
        return self.parts[0].variables

    @property
    def title(self) -> str:
        """The first line on the section, for people; components count from 0."""
        if self.kind is None:
            return "A semi-algebraic set"
        number = "Component" if self.number is None else f"Component {self.number}"
        side = "" if self.direction is None else f", direction {self.direction:+d}"
        return f"{number}: {self.kind}{side}, {self.name}; dimension {or_open(self.dimension)}"

    def part_title(self, index: int) -> str:
        """The words for one of its basic sets: nothing when it is the only one."""
        if len(self.parts) == 1:
            return ""
        dimension = self.parts[index].known_dimension
        said = "" if dimension is None else f" (dimension {dimension})"
        return f", part {index + 1} of {len(self.parts)}{said}"


@dataclass(frozen=True)
class Document:
    """What an exporter writes: `sort` is "set", "component" or "fiber"; only a fiber has facts.

    `alone` says that one component of a fiber was chosen.
    """

    sort: str
    sections: tuple[Section, ...]
    facts: Facts | None = None
    alone: bool = field(default=False, compare=False)

    @property
    def variables(self) -> tuple[sympy.Symbol, ...]:
        """The variables, the same in all sections; none when there is no section."""
        return self.sections[0].variables if self.sections else ()

    @property
    def letters(self) -> tuple[sympy.Symbol, ...]:
        """The letters of all sections, by name."""
        found = {letter for section in self.sections for part in section.parts for letter in part.letters}
        return tuple(sorted(found, key=lambda symbol: str(symbol.name)))

    @property
    def leaves_out(self) -> bool:
        """Whether a fiber has components that are not shown though none was chosen."""
        return self.facts is not None and not self.alone and self.facts.component_count != len(self.sections)


def document_of(described: Any, component: int | None = None) -> Document:
    """Give the document of a set, a component, a fiber (all that is shown, or the component with this number).

    Raises:
        InvalidNetworkError: for anything else, or when there is no such component.
        BudgetExceededError: as `chosen`.
    """
    if isinstance(described, Fiber):
        sections = tuple(_section(part, number, described.network) for number, part in chosen(described, component))
        return Document("fiber", sections, _facts(described), component is not None)
    if isinstance(described, Document) and component is not None and described.sort == "fiber":
        found = tuple(section for section in described.sections if section.number == component)
        if not found:
            raise InvalidNetworkError(f"the document has no component {component}", value=component)
        return Document("fiber", found, described.facts, True)
    if component is not None:
        raise InvalidNetworkError("only a fiber has numbered components", value=component)
    if isinstance(described, Document):
        return described
    if isinstance(described, FiberComponent):
        return Document("component", (_section(described, None, None),))
    if isinstance(described, BasicSet | SemialgebraicSet):
        return Document("set", (Section(tuple(described.parts), _stated_dimension(described.parts)),))
    raise InvalidNetworkError(f"expected a fiber, a component or a set, got a {type(described).__name__}")


def _stated_dimension(parts: Sequence[BasicSet]) -> int | None:
    """Give the dimension if it was stated; to prove one may take long, and is no part of writing."""
    stated = [part.known_dimension for part in parts if part.known_dimension is not None]
    return max(stated) if len(stated) == len(parts) else None


def _section(part: FiberComponent, number: int | None, network: Network | None) -> Section:
    return Section(
        part.set.parts,
        known(lambda: part.dimension),
        number,
        part.kind,
        part.name,
        tuple(part.flips),
        part.direction,
        part.parametrization,
        None if part.condition.always else str(part.condition),
        part,
        network,
    )


def _facts(found: Fiber) -> Facts:
    count = known(lambda: found.component_count)
    return Facts(
        str(found.network),
        found.network.widths,
        found.complete,
        tuple(found.assumptions),
        count,
        None if count is None else found.labelled_count,
        known(lambda: found.dimension),
        known(lambda: found.local_dimension),
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


def completeness(found: Fiber | Facts) -> str:
    """Say in the theory's words what the description is."""
    if found.complete:
        return "sound: every member is in the fiber, exactly; complete: every generic member lies in a component"
    names = ", ".join(f"({name})" for name in found.assumptions)
    return (
        f"sound: every member is in the fiber, exactly; completeness for generic members rests on {names}, not decided"
    )


def summary_lines(facts: Facts) -> list[str]:
    """Give the lines on a fiber as a whole."""
    lines = [f"Fiber of the {facts.title}", completeness(facts)]
    lines.append(f"components: {or_open(facts.component_count)} (up to relabelling of hidden units)")
    if facts.labelled_count is not None:
        lines.append(f"labelled copies: {decimal(facts.labelled_count)}")
    lines.append(f"dimension: {or_open(facts.dimension)}, at this network: {or_open(facts.local_dimension)}")
    return lines


def known(compute: Callable[[], Any]) -> int | None:
    """Give a count or a dimension, None where it is open, beyond the budget, or depends on the letters."""
    try:
        found = compute()
    except (BudgetExceededError, UndecidedSignError):
        return None
    return None if found is None else int(found)


def or_open(value: int | None) -> str:
    """Give the number, or say that it was not decided."""
    return "not decided" if value is None else decimal(value)


def decimal(value: int) -> str:
    """Give the digits, also of counts such as 2000!, which Python's own `str` refuses."""
    return str(fmpz(value))
