"""What does gradient flow keep constant at all parameters of an architecture?

Main definitions
    ArchitectureLaws      the laws that hold at every parameter, their number with its proof

Main results
    architecture_laws     deep ReLU networks by their paths, deep linear ones by their product

ReLU. A law that holds at all parameters holds for each set of active units, because each set (with an active unit in
each layer) occurs on an open set of parameters: one unit for each layer singles out one path. So the fields are the
gradients of the path monomials Π θ_e, e along a path from an input or a bias to an output. Their rank at
θ = (1, ..., 1) is that of the incidence of paths and parameters. Scalings are laws; where the two numbers add up to D,
both are proved, and no bracket can add anything.

Linear. The fields are the gradients of the entries of W_L ⋯ W_1 (and of what the biases contribute), with their
brackets, and the laws are the entries of U_l U_lᵀ − W_{l+1}ᵀ W_{l+1}, U_l = [W_l | b_l].

References: theory §7; S. Marcotte, R. Gribonval, G. Peyré, arXiv:2307.00144.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from operator import index
from typing import Any

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import shown
from semialg_fibers.questions.law_search import Candidate, mixing, scalings
from semialg_fibers.questions.laws import Laws, settle
from semialg_fibers.questions.lie_algebra import (
    GradientFields,
    Parameters,
    bracket_rank,
    independent,
)
from semialg_fibers.verify.conservation import Wiring

RELU, LINEAR = "relu", "linear"
MOST_PARAMETERS = 2_000


@dataclass(frozen=True)
class ArchitectureLaws(Laws):
    """The laws that hold at every parameter of an architecture."""

    activation: str

    def explain(self) -> str:
        """Say it in words."""
        widths = "-".join(map(str, self.parameters.widths))
        lines = [
            f"{self.activation} networks {widths}, {self.parameters.count} parameters: laws that hold at all of them"
        ]
        lines += [f"  {law}: {law.title}" for law in self.found]
        if self.dependent:
            lines.append(f"and {len(self.dependent)} that depend on these near almost every parameter")
            lines += [f"  {law}: {law.title}" for law in self.dependent]
        return "\n".join([*lines, f"number of independent laws: {self.proof}"])


@checked
def architecture_laws(
    widths: Iterable[int], bias: bool | str = True, activation: str = RELU, most_parameters: int = MOST_PARAMETERS
) -> ArchitectureLaws:
    """Give the laws that hold at all parameters of networks with these widths (input first), and their exact number.

    `bias` is True, False, or "hidden": then the last layer has none. `activation` is "relu" or "linear".

    Implements: theory §7.

    Raises:
        InvalidNetworkError: for widths that are no positive integers, fewer than two, or another `bias`.
        UnsupportedError: for another activation.
        BudgetExceededError: for more than `most_parameters` parameters.

    >>> found = architecture_laws((4, 2, 5, 2, 2), bias=False, activation="linear")
    >>> found.independent, found.total, len(found.dependent)
    (20, 20, 1)
    >>> architecture_laws((5, 8, 5, 4, 2), bias="hidden").total
    17
    """
    parameters = _parameters(widths, bias)
    if activation not in (RELU, LINEAR):
        raise UnsupportedError(f'expected the activation "relu" or "linear", got {shown(activation)}', value=activation)
    if parameters.count > most_parameters:
        raise BudgetExceededError(f"there are {parameters.count} parameters, more than the budget of {most_parameters}")
    ones = (tuple((1,) * width for width in parameters.widths[1:-1]),)
    fields = GradientFields(parameters, ones)
    wiring = Wiring(parameters.widths, parameters.biased, ones)
    if activation == LINEAR:
        proposed = [*scalings(parameters), *_mixings(parameters)]
        laws = settle(parameters, proposed, lambda most: bracket_rank(fields, most), wiring)
    else:
        laws = settle(parameters, scalings(parameters), lambda most: path_rank(parameters), wiring, True)
    found, dependent = (tuple(replace(law, everywhere=True) for law in part) for part in (laws.found, laws.dependent))
    return ArchitectureLaws(
        parameters, found, dependent, laws.bound, laws.closed, wiring, laws.all_patterns, activation
    )


def _parameters(widths: Iterable[int], bias: Any) -> Parameters:
    if isinstance(widths, str | bytes) or not isinstance(widths, Iterable):
        raise InvalidNetworkError(f"expected a list of widths, got {shown(widths)}", value=widths)
    sizes: tuple[int, ...] = ()
    for size in widths:
        if isinstance(size, bool) or not hasattr(size, "__index__") or size < 1:
            raise InvalidNetworkError(
                f"width {len(sizes) + 1} is {shown(size)}, expected a positive integer", value=size
            )
        sizes += (index(size),)
    if len(sizes) < 2:
        raise InvalidNetworkError(f"expected the widths of at least the input and the output, got {sizes}", value=sizes)
    if not isinstance(bias, bool) and bias != "hidden":
        raise InvalidNetworkError(f'expected bias True, False or "hidden", got {shown(bias)}', value=bias)
    return Parameters(sizes, (bool(bias),) * (len(sizes) - 2) + (bias is True,))


def _mixings(parameters: Parameters) -> list[Candidate]:
    """Give the mixing of any two units of one layer."""
    return [mixing(parameters, a, b) for a, b in combinations(parameters.hidden_units, 2) if a[0] == b[0]]


@dataclass(frozen=True)
class PathRank:
    """Paths, as nodes (layer, unit) from an input or a bias (−1, 0), whose monomials have independent gradients."""

    parameters: Parameters
    paths: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def rank(self) -> int:
        """The rank that is proved."""
        return len(self.paths)

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        return f"at θ = (1, ..., 1) the gradients of {self.rank} path monomials are independent"

    def check(self) -> bool:
        """Find the rank of the incidence matrix over Q, and see that each path is one."""
        edges, last = set(self.parameters.edges), len(self.parameters.widths) - 1
        if any(path[0][0] > 0 or path[-1][0] != last or not edges.issuperset(pairwise(path)) for path in self.paths):
            return False
        rows = [[int(edge in set(pairwise(path))) for edge in self.parameters.edges] for path in self.paths]
        return Matrix(rows).rank() == self.rank


def path_rank(parameters: Parameters) -> PathRank:
    """Give paths with independent rows of the incidence matrix of paths and parameters.

    Each passes through the first unit of every layer, apart from the ends of one edge, or begins at a bias.

    Implements: theory §7.

    >>> path_rank(Parameters((1, 2, 1), (True, True))).paths[:2]  # by way of W1_0_0 and of W1_1_0
    (((0, 0), (1, 0), (2, 0)), ((0, 0), (1, 1), (2, 0)))
    """
    import numpy as np

    place = {edge: e for e, edge in enumerate(parameters.edges)}
    paths = []
    rows = np.zeros((parameters.count, parameters.count), dtype=np.int64)
    for row, (tail, head) in enumerate(parameters.edges):
        before = [(layer, 0) for layer in range(tail[0])]
        path = (*before, tail, head, *((layer, 0) for layer in range(head[0] + 1, len(parameters.widths))))
        paths.append(path)
        for edge in pairwise(path):
            rows[row, place[edge]] = 1
    return PathRank(parameters, tuple(paths[row] for row in independent(rows)))
