"""What is there to say about a network, whatever its kind?

Main definitions
    Summary     types, hidden hyperplanes, genericity, identifiability, dimensions, number of components

Main results
    summary     all that holds, and for each thing that is open the reason

References: theory §2, §3, §5, §9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from semialg_fibers.errors import BudgetExceededError, NotGenericError, UndecidedSignError, UnsupportedError
from semialg_fibers.fibers.bottleneck import Fiber, fiber
from semialg_fibers.fibers.conditions import AllVanish
from semialg_fibers.fibers.genericity import Condition, genericity
from semialg_fibers.fibers.hiding import hidden_hyperplanes, hiding
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.domain import Box, Space
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import CELL_BUDGET, NONLINEAR, default_layer, neuron_types
from semialg_fibers.questions.dimension import functional_dimension
from semialg_fibers.questions.identifiability import Identifiability, identifiability

T = TypeVar("T")


@dataclass
class Summary:
    """All that is known; None stands for "not decided" or "does not apply", and `open` says which and why."""

    network: Network
    types: tuple[str, ...] | None = None
    hidden: tuple[int, ...] | None = None
    flippable: tuple[int, ...] | None = None
    conditions: tuple[Condition, ...] = ()
    generic: bool | None = None
    identifiability: Identifiability = field(default_factory=lambda: Identifiability(None, ()))
    refusal: str | None = None
    undecided: bool = False  # whether the refusal depends on letters
    dimension: int | None = None
    local_dimension: int | None = None
    components: int | None = None
    upper_bound: int | None = None
    functional: int | None = None
    open: dict[str, str] = field(default_factory=dict)

    @property
    def violated(self) -> tuple[str, ...]:
        """Names of the violated hypotheses."""
        return tuple(condition.name for condition in self.conditions if condition.verdict is False)

    def attempt(self, name: str, compute: Callable[[], T]) -> T | None:
        """Compute one answer; note why when it is out of reach."""
        try:
            return compute()
        except (UnsupportedError, NotGenericError, BudgetExceededError, UndecidedSignError) as error:
            self.open[name] = error.message
            return None

    def to_json(self) -> dict[str, Any]:
        """Give the keys of `describe --json`."""
        net = self.network
        domain: Any = type(net.domain).__name__.lower()
        if isinstance(net.domain, Box):
            domain = {"box": [[str(a), str(b)] for a, b in zip(net.domain.low, net.domain.high, strict=True)]}
        return {
            "widths": list(net.widths),
            "domain": domain,
            "parameters": net.parameter_count,
            "generic": self.generic,
            "violated": list(self.violated),
            "second_layer": [] if len(net.layers) < 2 else None if self.types is None else list(self.types),
            "hidden": None if self.hidden is None else list(self.hidden),
            "flippable": list(self.flippable or ()),
            "identifiable": self.identifiability.is_identifiable,
            "reasons": [reason.sentence for reason in self.identifiability.reasons],
            "dimension": self.dimension,
            "local_dimension": self.local_dimension,
            "components": self.components,
            "upper_bound": self.upper_bound,
            "functional_dimension": self.functional,
            "refused": self.refusal,
            "open": self.open,
        }


@checked
def summary(net: Network, budget: int = CELL_BUDGET) -> Summary:
    """Give all that holds for a network of any shape; where `fiber` refuses, what is true all the same.

    Implements: theory §9 (the upper bound).

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> found = summary(net)
    >>> found.types, found.hidden, found.local_dimension, found.components
    (('nonlinear',), (0,), 4, 2)
    """
    told = Summary(net)
    told.types = told.attempt("second_layer", lambda: neuron_types(net, default_layer(net), budget))
    told.hidden = told.attempt("hidden", lambda: hidden_hyperplanes(net, budget))
    told.flippable = () if len(net.layers) < 3 else told.attempt("flippable", lambda: _flips(told))
    report = told.attempt("generic", lambda: genericity(net))
    if report is not None:
        told.conditions, told.generic = report.conditions, report.is_generic
    told.identifiability = identifiability(net)
    found: Fiber | None = None
    try:
        found = fiber(net)
    except (UnsupportedError, NotGenericError, UndecidedSignError) as error:
        told.refusal = error.message
        told.undecided = isinstance(error, UndecidedSignError)
    if found is not None:
        _tell_fiber(told, found)
    if told.functional is None:
        told.functional = told.attempt("functional_dimension", lambda: functional_dimension(net, budget))
        if told.functional is not None and told.local_dimension is None:
            told.upper_bound = net.parameter_count - told.functional
    return told


def _flips(told: Summary) -> tuple[int, ...]:
    """Give the columns that are flippable for all values of the letters; note on what it depends for others."""
    found = hiding(told.network)
    if found.conditions:
        told.open["flippable"] = "; ".join(
            f"hyperplane {k + 1} where {AllVanish(asked)}" for k, asked in found.conditions.items()
        )
    return found.flippable


def _tell_fiber(told: Summary, found: Fiber) -> None:
    told.dimension = told.attempt("dimension", lambda: found.dimension)
    told.components = told.attempt("components", lambda: found.component_count)
    told.local_dimension = found.local_dimension
    if told.local_dimension is None:
        told.open["local_dimension"] = "the closed form is not valid at this member; see the upper bound"
    elif found.complete and not _has_constant_units(told):
        told.functional = told.network.parameter_count - told.local_dimension


def _has_constant_units(told: Summary) -> bool:
    """Say whether units are constant on R^p: there the kernel of the Jacobian is larger than the fiber (theory §9)."""
    net = told.network
    return len(net.layers) == 2 and isinstance(net.domain, Space) and set(told.types or ()) != {NONLINEAR}
