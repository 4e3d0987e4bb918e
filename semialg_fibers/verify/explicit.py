"""The permutation theorem on explicit matrices with symbolic entries: every permutation, no induction, no rules.

Main results
    holds_for_all_permutations    f(x) with (W1 P, b1 P, Pᵀ W2) against f(x) with (W1, b1, W2), for all n! matrices P
    by_hand_swap                  n = 2, written out

References: theory §8.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.geometry.arguments import whole_number
from semialg_fibers.verify.instances import Instance, Rows, value_of
from semialg_fibers.verify.unit_theorems import permutation_symmetry

MOST = 7  # hidden units, for n! comparisons


def _instance(n: int, order: tuple[int, ...], inputs: int, outputs: int) -> Instance:
    """Give symbolic weights and the permutation matrix that puts old unit order[i] in place i."""
    import sympy

    def letters(name: str, rows: int, columns: int) -> Rows:
        return tuple(tuple(sympy.Symbol(f"{name}{i + 1}{j + 1}") for j in range(columns)) for i in range(rows))

    def phi(rows: Rows) -> Rows:
        return tuple(tuple(sympy.Function("φ")(value) for value in row) for row in rows)

    P = tuple(tuple(sympy.Integer(int(order[j] == i)) for j in range(n)) for i in range(n))
    sizes = {"d": inputs, "n": n, "m": outputs}
    shapes = {"x": (1, inputs), "W1": (inputs, n), "b1": (1, n), "W2": (n, outputs), "b2": (1, outputs)}
    names = {"x": "x", "W1": "w", "b1": "b", "W2": "v", "b2": "c"}
    matrices: dict[str, Any] = {key: letters(names[key], *shape) for key, shape in shapes.items()}
    return Instance(sizes, matrices | {"P": P}, {"φ": phi})


def _sides(n: int, order: tuple[int, ...], inputs: int, outputs: int) -> tuple[Rows, Rows]:
    relabelled, original = permutation_symmetry().claim.conclusions[0].terms
    instance = _instance(n, order, inputs, outputs)
    return value_of(relabelled, instance), value_of(original, instance)


def holds_for_all_permutations(n: int, inputs: int = 2, outputs: int = 1) -> bool:
    """Say whether the two sides are the same formula for each of the n! permutation matrices; φ is a bare letter.

    Implements: theory §8.

    Raises:
        InvalidNetworkError: for a number of units, inputs or outputs that is no positive integer.
        BudgetExceededError: for more than `MOST` units.

    >>> holds_for_all_permutations(3)
    True
    """
    for count in (n, inputs, outputs):
        size = whole_number(count)
        if size is None or size < 1:
            raise InvalidNetworkError(f"the numbers of units are positive integers, got {count!r}", value=count)
    if n > MOST:
        raise BudgetExceededError(f"{n}! permutations are more than this check tries (n ≤ {MOST})")
    return all(left == right for left, right in (_sides(n, order, inputs, outputs) for order in permutations(range(n))))


def by_hand_swap() -> str:
    """Write out n = 2 with one input and one output: the two summands change places.

    Implements: theory §8.

    >>> print(by_hand_swap())
    f(x)  = φ(x w1 + b1) v1 + φ(x w2 + b2) v2 + c
    P     = [0 1; 1 0] swaps the two hidden units: W1 P = (w2, w1), b1 P = (b2, b1), Pᵀ W2 = (v2, v1)ᵀ
    f'(x) = φ(x w2 + b2) v2 + φ(x w1 + b1) v1 + c
          = f(x), because a sum does not depend on the order of its two terms
    """
    units = [f"φ(x w{i} + b{i}) v{i}" for i in (1, 2)]
    return "\n".join(
        [
            f"f(x)  = {units[0]} + {units[1]} + c",
            "P     = [0 1; 1 0] swaps the two hidden units: W1 P = (w2, w1), b1 P = (b2, b1), Pᵀ W2 = (v2, v1)ᵀ",
            f"f'(x) = {units[1]} + {units[0]} + c",
            "      = f(x), because a sum does not depend on the order of its two terms",
        ]
    )
