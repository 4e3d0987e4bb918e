"""What does gradient flow keep constant?

Main definitions
    ConservationLaws      the laws near a network, their number with its proof, the symmetries behind them

Main results
    conservation_laws     for every loss and data set: quantities that θ' = −∇_θ Loss(f_θ(x_1), ..., f_θ(x_N)) conserves

The laws are local. They hold while every data point lies in the interior of a cell with one of the patterns that occur
at the network; those of scalings hold everywhere. On a cell on which a preactivation vanishes identically f need not be
differentiable in θ (it is where no output depends on the unit); it is left out, and named.

References: theory §7; S. Marcotte, R. Gribonval, G. Peyré, arXiv:2307.00144.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, UnsupportedError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import quantity
from semialg_fibers.networks.cells import check_least, each_cell
from semialg_fibers.networks.layer import Network, relu
from semialg_fibers.questions.law_search import candidates, scalings
from semialg_fibers.questions.laws import FREE, Law, Laws, settle, unit_name, written
from semialg_fibers.questions.lie_algebra import GradientFields, Parameters, Pattern, bracket_rank
from semialg_fibers.questions.symmetry_fields import ROTATION, TRANSLATION, SymmetryField, symmetry_fields
from semialg_fibers.verify.conservation import Wiring

CELL_BUDGET = 2_000
MOST_PARAMETERS = 300
POINTS = 400  # looked at when there are too many cells


@dataclass(frozen=True)
class Cells:
    """The activation patterns of the full cells; of some points when `all_seen` is False: there are too many cells.

    `left_out` cells are not among them, on which the preactivation of a unit (layer, index) in `vanishing` is zero.
    """

    patterns: tuple[Pattern, ...]
    all_seen: bool
    vanishing: tuple[tuple[int, int], ...]
    left_out: int


@dataclass(frozen=True)
class ConservationLaws(Laws):
    """The laws near a network, and the cells that they assume."""

    network: Network
    cells: Cells

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The activation patterns of the cells that the laws assume."""
        return self.cells.patterns

    @cached_property
    def symmetries(self) -> tuple[SymmetryField, ...]:
        """The symmetries that have a vector field, with or without a law."""
        return symmetry_fields(self.network, (*self.found, *self.dependent), self.wiring)

    @cached_property
    def independent_here(self) -> int:
        """The rank over Q of the gradients of the laws at the network itself."""
        return self.rank_at(self.network.parameters)

    @cached_property
    def assumptions(self) -> tuple[str, ...]:
        """Sentences that say what the laws assume; empty when all of them hold everywhere."""
        if all(law.everywhere for law in (*self.found, *self.dependent)):
            return ()
        count = len(self.patterns)
        which = (
            f"one of the {count} activation patterns that occur"
            if count > 1
            else "the one activation pattern that occurs"
        )
        there = "in all of them" if count > 1 else "there"
        said = [f"every data point stays inside a cell with {which} at this network"]
        for layer, i in self.parameters.hidden_units:
            masks = {pattern[layer - 1][i] for pattern in self.patterns}
            if len(masks) == 1:
                said.append(f"{unit_name((layer, i))} is {'active' if 1 in masks else 'inactive'} {there}")
        return tuple(said)

    def to_json(self) -> dict[str, Any]:
        """Give what `laws --json` prints; `total` is null where it is not proved."""
        least, most = self.interval
        return {
            "widths": list(self.network.widths),
            "parameters": self.parameters.count,
            "variables": list(self.parameters.names),
            "laws": [_law_to_json(law) for law in self.found],
            "dependent": [_law_to_json(law) for law in self.dependent],
            "independent": self.independent,
            "independent_here": self.independent_here,
            "total": most if least == most else None,
            "interval": [least, most],
            "proof": self.proof,
            "assumptions": list(self.assumptions),
            "patterns": ["|".join("".join(map(str, bits)) for bits in pattern) for pattern in self.patterns],
            "all_cells": self.cells.all_seen,
            "left_out": self.cells.left_out,
            "vanishing": [{"layer": layer, "unit": unit} for layer, unit in self.cells.vanishing],
            "symmetries": [
                {
                    "kind": field.kind,
                    "title": field.title,
                    "field": {name: written(terms, str, "*", "{}**2") for name, terms in field.components},
                    "closed": field.is_closed,
                    "differential": field.differential,
                    "law": None if field.law is None else str(field.law),
                }
                for field in self.symmetries
            ],
        }

    def to_latex(self) -> str:
        """Give the independent laws as an align* environment, with the number and the assumptions as comments."""
        least, most = self.interval
        number = f"exactly {most}" if least == most else f"between {least} and {most}"
        lines = [f"% number of independent laws: {number}", *(f"% assumed: {line}" for line in self.assumptions)]
        rows = [f"  Q_{{{k}}} &= {law.to_latex()}" for k, law in enumerate(self.found, 1)]
        if rows:
            lines += [r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"]
        return "\n".join(lines)

    def explain(self) -> str:
        """Say it in words: the laws, the symmetries without a law, the number and its proof."""
        return "\n".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        yield f"{self.network}: what gradient flow conserves, for every differentiable loss and every data set"
        if not self.cells.all_seen:
            yield (
                "there are more cells than the budget: only scalings are listed, which hold everywhere, and brackets "
                f"come from the {quantity(len(self.patterns), 'pattern')} seen at random points"
            )
        if self.cells.left_out:
            units = ", ".join(map(unit_name, self.cells.vanishing))
            yield (
                f"{quantity(self.cells.left_out, 'cell')} left out, {quantity(len(self.patterns), 'pattern')} kept: on "
                "a cell left out the preactivation of one of these vanishes identically, so that f need not be "
                f"differentiable in θ there: {units}"
            )
        if self.assumptions:
            yield "assumed for the laws marked (local):"
            yield from (f"  {sentence}" for sentence in self.assumptions)
        yield from self._law_lines("independent law", self.found)
        yield from self._law_lines("further law", self.dependent, " that depend on these near almost every parameter")
        without = [field for field in self.symmetries if field.law is None]
        if without:
            yield "symmetries without a law:"
            yield from (f"  {line}" for field in without for line in self._without_law(field))
        if len(self.parameters.hidden_units):
            yield "permutations of units and sign flips are discrete: they generate no field and no law"
        yield f"number of independent laws: {self.proof}"
        if self.independent_here < self.independent:
            yield f"at this network itself the gradients of the laws have rank {self.independent_here} only"

    def _law_lines(self, heading: str, laws: Any, more: str = "") -> Iterator[str]:
        if not laws:
            return
        yield f"{quantity(len(laws), heading)}{more}:"
        frozen = [law for law in laws if law.kind == FREE]
        for law in laws:
            if law.kind != FREE:
                yield f"  {law}{'' if law.everywhere else ' (local)'}: {law.title}"
        if frozen:
            names = ", ".join(map(str, frozen))
            yield f"  {names} (local): no output depends on these near this network, they do not move"

    def _without_law(self, field: SymmetryField) -> Iterator[str]:
        yield f"{field.title}: X = {field}"
        yield f"  the dual form vanishes along the flow, but is not closed: d = {field.differential} ≠ 0"
        least, most = self.interval
        if field.kind == TRANSLATION and least == most == self.independent:
            several = f"the {most} independent laws listed are all that there are"
            yield f"  it adds no law: {several if most != 1 else 'the one independent law listed is all that there is'}"
        elif field.kind == ROTATION and least == most == self.independent:
            several = f"{most} independent laws" if most != 1 else "one independent law"
            yield f"  it adds nothing to the {several} listed"


def _law_to_json(law: Law) -> dict[str, Any]:
    units = [{"layer": layer, "unit": unit} for layer, unit in law.units]
    return {"kind": law.kind, "polynomial": str(law), "units": units, "everywhere": law.everywhere}


@checked
def conservation_laws(
    net: Network, budget: int = CELL_BUDGET, most_parameters: int = MOST_PARAMETERS
) -> ConservationLaws:
    """Give independent laws near the network as polynomials in its parameters, each proved, and their exact number.

    The number `.total` is D − (rank of the Lie algebra of the fields ∇_θ f_o(x)) near almost every parameter with the
    masks of this network's cells, proved by independent laws and independent brackets. When there are more than
    `budget` cells, only the scalings, which hold in all cells of all parameters, are listed.

    Implements: theory §7.

    Raises:
        BudgetExceededError: when there are more than `most_parameters` parameters.
        InvalidNetworkError: for a value that is no network.
        UnsupportedError: when on every cell some preactivation vanishes, so that f need not be differentiable in θ.

    >>> net = Network([([[1]], [0]), ([[2]], [-3]), ([[1]], [0])])  # the first layer's breakpoint is hidden
    >>> found = conservation_laws(net)
    >>> found.laws
    (W1_0_0**2 - W2_0_0**2 + b1_0**2, W2_0_0**2 - W3_0_0**2 + b2_0**2)
    >>> found.independent, found.total
    (2, 2)
    >>> [field.differential for field in found.symmetries if not field.is_closed]
    ['-dW2_0_0 ∧ db2_0']
    """
    if net.parameter_count > most_parameters:
        raise BudgetExceededError(
            f"the network has {quantity(net.parameter_count, 'parameter')}, more than the budget of {most_parameters}"
        )
    cells = _look(net, budget)
    parameters = Parameters(net.widths, (True,) * len(net.layers))
    fields = GradientFields(parameters, cells.patterns)
    wiring = Wiring(parameters.widths, parameters.biased, fields.patterns)
    proposed = candidates(fields) if cells.all_seen else scalings(parameters)
    laws = settle(parameters, proposed, lambda most: bracket_rank(fields, most), wiring, not cells.all_seen)
    return ConservationLaws(
        laws.parameters,
        laws.found,
        laws.dependent,
        laws.bound,
        laws.closed,
        wiring,
        laws.all_patterns,
        net,
        cells,
    )


def _look(net: Network, budget: int) -> Cells:
    """Give the patterns of all full cells, or of the cells of some points when there are more than the budget."""
    patterns: dict[Pattern, None] = {}
    skipped: dict[tuple[int, int], None] = {}
    skipped_cells = 0
    try:
        check_least(net, budget)
        for cell in each_cell(net, budget):
            if cell.vanishing:
                skipped_cells += 1
                skipped |= dict.fromkeys(cell.vanishing)
            else:
                patterns[cell.pattern] = None
    except BudgetExceededError:
        return Cells(_seen(net), False, (), 0)
    if not patterns:
        layer, unit = next(iter(skipped))
        raise UnsupportedError(
            "a preactivation vanishes on every cell, so that the function need not be differentiable in its "
            f"parameters: on the first cell it is unit {unit + 1} of layer {layer}",
            layer=layer,
            row=unit,
        )
    return Cells(tuple(patterns), True, tuple(sorted(skipped)), skipped_cells)


def _seen(net: Network) -> tuple[Pattern, ...]:
    """Give the patterns at random points of the domain at which no preactivation is zero, so that they lie in cells.

    Raises:
        BudgetExceededError: when there is no such point among those looked at.
    """
    rng = random.Random(0)
    inside = net.domain.interior_point()
    found: dict[Pattern, None] = {}
    for number in range(POINTS):
        scale = fmpq(2 ** (number % 12), 8)
        point = tuple(x + scale * fmpq(rng.randint(-999, 999), 999) for x in inside)
        if not net.domain.contains(point):
            continue
        pattern: list[tuple[int, ...]] = []
        for layer in net.layers[:-1]:
            values = layer.apply(point)
            if not all(values):
                break
            pattern.append(tuple(int(value > 0) for value in values))
            point = relu(values)
        else:
            found[tuple(pattern)] = None
    if not found:
        raise BudgetExceededError(
            f"there are more cells than the budget, and none of {POINTS} points lies in a cell of the domain"
        )
    return tuple(found)
