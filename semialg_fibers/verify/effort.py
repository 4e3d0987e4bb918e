"""How much work a check may take: a certificate is a file, and a small file must not compute for ever.

Main definitions
    Effort    counts multiplications of machine words, and refuses beyond its limit; `BUDGET` is the default

References: docs/conventions.md, Limits.
"""

from __future__ import annotations

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.arguments import expect

BUDGET = 500_000_000  # some minutes in Python
WORD = 64  # bits


class Effort:
    """Work that may still be done: `spend` counts it, in multiplications of numbers of up to 64 bits.

    Larger numbers count as many times as they are longer. What is counted is what grows faster than the file; nothing
    depends on the machine, so that a check ends in the same way everywhere.

    >>> Effort(10).spend(11)
    Traceback (most recent call last):
      ...
    semialg_fibers.errors.BudgetExceededError: not re-proved within the budget of 10 multiplications: raise it by \
`check(budget=...)`, or by the option --budget; nothing is claimed
    """

    def __init__(self, limit: int | None = BUDGET) -> None:
        """Allow so many multiplications; None: any number.

        Raises:
            InvalidNetworkError: for a limit that is no whole number ≥ 0.
        """
        self.limit: int | None = expect(limit, int | None, "budget")
        self.spent = 0

    def spend(self, count: int, bits: int = 0) -> None:
        """Count multiplications of numbers of so many bits.

        Raises:
            BudgetExceededError: beyond the limit.
        """
        self.spent += count * (1 + bits // WORD)
        if self.limit is not None and self.spent > self.limit:
            raise BudgetExceededError(
                f"not re-proved within the budget of {self.limit:,} multiplications: raise it by "
                "`check(budget=...)`, or by the option --budget; nothing is claimed",
                budget=self.limit,
            )
