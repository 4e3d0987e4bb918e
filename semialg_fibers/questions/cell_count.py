"""On how many pieces is a network affine? Its activation cells, in chunks, on any executor, resumable.

Main results
    cell_count       their number
    cell_patterns    on which units are active on each

References: theory §9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.enumeration import Family, Runner
from semialg_fibers.networks.cells import Branch, branch_cells, branches
from semialg_fibers.networks.layer import Network

CHUNKS = 64


@checked
def cell_count(net: Network, runner: Runner | None = None, budget: int = 100_000) -> int:
    """Give the number of full-dimensional activation cells; `budget` bounds the cells of each chunk.

    Implements: theory §9.

    Raises:
        BudgetExceededError: as `each_cell`, for one chunk.

    >>> cell_count(Network([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])]))
    7
    """
    return sum((runner or Runner()).run(_family(net, budget, _number, _is_number)))


@checked
def cell_patterns(net: Network, runner: Runner | None = None, budget: int = 100_000) -> Iterator[tuple[str, ...]]:
    """Yield the pattern of every cell in lexicographic order: a text of 0 and 1 for each hidden layer.

    >>> list(cell_patterns(Network([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])))
    [('01',), ('10',)]
    """
    for found in (runner or Runner()).run(_family(net, budget, _patterns, _are_patterns)):
        yield from map(tuple, found)


def _family(net: Network, budget: int, work: Callable[..., Any], fits: Callable[[Any], bool]) -> Family:
    inputs = [(net, branch, budget) for branch in branches(net, CHUNKS, budget)]
    return Family(f"cells of {net}", repr((net.layers, net.domain, budget)), inputs, work, fits=fits)


def _is_number(value: Any) -> bool:
    return type(value) is int and value >= 0


def _are_patterns(value: Any) -> bool:
    lists = isinstance(value, list) and all(isinstance(pattern, list) for pattern in value)
    return lists and all(isinstance(bits, str) and set(bits) <= {"0", "1"} for pattern in value for bits in pattern)


def _number(inputs: tuple[tuple[Network, Branch, int], ...]) -> int:
    return sum(1 for net, branch, budget in inputs for _ in branch_cells(net, branch, budget))


def _patterns(inputs: tuple[tuple[Network, Branch, int], ...]) -> list[list[str]]:
    return [
        ["".join(map(str, bits)) for bits in cell.pattern]
        for net, branch, budget in inputs
        for cell in branch_cells(net, branch, budget)
    ]
