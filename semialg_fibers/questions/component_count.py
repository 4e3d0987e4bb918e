"""How many components has the fiber? Counted in chunks, on any executor, resumable; and where the hardness lies.

Main results
    count_components      as `Fiber.component_count`, the search for choices of sides cut into chunks
    subset_sum_network    a network whose components are the subsets of given numbers with a given sum

References: theory §2.6; R. M. Karp, Reducibility among combinatorial problems (1972), for subset sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.component import Family as ComponentFamily
from semialg_fibers.fibers.one_hidden_layer import OrientationFamily
from semialg_fibers.fibers.orientation import OrientationProblem
from semialg_fibers.fibers.side_search import over_budget
from semialg_fibers.fibers.symbolic_orientation import SymbolicOrientationProblem
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.domain import Orthant
from semialg_fibers.geometry.enumeration import Family, Runner
from semialg_fibers.networks.layer import Network

CHUNK_BITS = 7  # 2^7 chunks, by the sides of the first neurons in the order of the search
BUDGET = 2**18  # of each chunk, in the units of `OrientationProblem.count`


@checked
def count_components(net: Network, runner: Runner | None = None, budget: int = BUDGET) -> int:
    """Give the number of components up to relabelling, searching chunk by chunk where there is no closed form.

    `budget` bounds each of the chunks, so that more can be decided than by `Fiber.component_count`.

    Implements: theory §2.6.

    Raises:
        UnsupportedError, NotGenericError: as `fiber`.
        BudgetExceededError: when the count is open within the budget (`.low`, `.high` is the proved interval).
        UndecidedSignError: where it depends on the values of letters.

    >>> count_components(subset_sum_network((3, 5, 8, 2), 10))
    3
    """
    return sum(_count(net, number, family, runner or Runner(), budget) for number, family in enumerate(_families(net)))


def _families(net: Network) -> tuple[ComponentFamily, ...]:
    return fiber(net).families


def _count(net: Network, number: int, family: ComponentFamily, runner: Runner, budget: int) -> int:
    if not isinstance(family, OrientationFamily) or isinstance(family.block.problem, SymbolicOrientationProblem):
        return family.count()
    problem = family.block.problem
    if not problem.needs_search:
        return problem.count()
    bits = min(CHUNK_BITS, problem.k)
    inputs = [(problem, prefix, budget) for prefix in product((0, 1), repeat=bits)]
    name = f"components of {net}" + (f", family {number + 1}" if number else "")
    chunks = Family(name, repr((net.layers, net.domain, number, budget)), inputs, _work, fits=_is_interval)
    low = high = 0
    for (found,) in runner.run(chunks):
        low, high = low + found[0], high + found[1]
    if low < high:
        raise over_budget(low, high, f"{budget} sets in each of {len(inputs)} chunks")
    return low


def _is_interval(value: Any) -> bool:
    """Whether this is [[low, high]]."""
    pairs = isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) and len(value[0]) == 2
    return pairs and all(type(end) is int for end in value[0]) and 0 <= value[0][0] <= value[0][1]


def _work(inputs: tuple[tuple[OrientationProblem, tuple[int, ...], int], ...]) -> list[Any]:
    """Give the proved interval for the number of choices of sides that begin with each prefix."""
    found = []
    for problem, prefix, budget in inputs:
        try:
            count = problem.count_below(prefix, budget)
            found.append([count, count])
        except BudgetExceededError as error:
            found.append([error.low, error.high])
    return found


def subset_sum_network(values: Sequence[int], target: int) -> Network:
    """Give a network on the orthant with 1 + #{subsets of the values with sum `target`} components.

    Neurons C_l = 1, B_l = s_l (1, −1) for the values s_1, ..., s_k and s_0 = −target, and one dead one, so m = 1,
    r = 1, p = 2: M_S = (Σ_(l∈S) s_l) (1, −1) has one sign iff the sum is zero. A nonempty S with sum zero holds s_0
    and values that sum to the target. So it is NP-complete whether a nonempty S is feasible, and counting is #P-hard.

    Implements: theory §2.6.

    Raises:
        InvalidNetworkError: for values or a target that are no positive integers.

    >>> subset_sum_network((3, 5), 8).widths
    (2, 4, 1)
    """
    numbers = [*values, target]
    if not values or any(type(value) is not int or value < 1 for value in numbers):
        raise InvalidNetworkError("the values and the target are positive integers", value=numbers)
    slopes = [-target, *values]
    # Biases j s: hyperplanes h2 − h1 = j, all different, so that the neurons are generic.
    rows = [([slope, -slope], (place + 1) * slope) for place, slope in enumerate(slopes)]
    weights, biases = [row for row, _ in rows], [bias for _, bias in rows]
    inner = ([*weights, [-1, -1]], [*biases, -1])
    return Network([inner, ([[1] * (len(slopes) + 1)], [0])], Orthant(2))
