"""How many choices of sides are feasible, without listing them: pruned search with exact bounds.

Main definitions
    OneSignedSearch     one output, one spare neuron: all entries of M_S have one sign
    RankSearch          any other problem: bounds for the rank of M_S over a whole subtree

Main results
    OneSignedSearch.count, RankSearch.count     the exact number, or the interval that is proved within the budget

Both decide the neurons one after the other and ask at each prefix whether every completion is feasible (then the
subtree is counted, not visited) or none is (then it is dropped).

References: theory §2.3, §2.4, §2.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Any

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.linear import Matrix

ROW_BUDGET = 2**26  # prefixes whose sums are looked at
BLOCK = 2**12  # prefixes in one array: it stays in a processor's cache, and memory stays flat
TAIL = 9  # neurons that are not branched on: 2^9 sums, 64 bytes for a set of them
WORD = 62  # bits of a sum that an int64 holds with room for two more


def count_listed(sets: Iterable[Any], size: int, most: int | None = None) -> int:
    """Count the sets of an iterator; where it ends in an error of budget, give that with the proved interval.

    `most` is a proved upper bound, 2^size when None.
    """
    found = 0
    try:
        for _ in sets:
            found += 1
    except BudgetExceededError as error:
        low, high = error.place.get("low", found), error.place.get("high", 2**size if most is None else most)
        words = f"the number of components lies between {low} and {high}"
        raise BudgetExceededError(f"{error.message}; {words}", low=low, high=high) from None
    return found


def over_budget(low: int, high: int, spent: str) -> BudgetExceededError:
    """Give the error that states the proved interval."""
    words = f"the number of components lies between {low} and {high}"
    return BudgetExceededError(f"after {spent} the search is not complete; {words}", low=low, high=high)


@dataclass(frozen=True)
class OneSignedSearch:
    """The sets S with b + Σ_(l∈S) a_l ≥ 0 in every entry, or ≤ 0 in every entry (a vector 0 counts once).

    `base` is b, `rows` are the a_l, integers. This is feasibility of S for m = 1, r = 1 on the orthant.

    >>> OneSignedSearch((0, 0), ((1, -2), (-3, 1), (2, 1))).count()
    4
    """

    base: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]

    @cached_property
    def _scaled(self) -> tuple[Any, Any, int]:
        """The base and the rows in int64, and the error bound: 0 when they are the integers themselves.

        A column is divided by its greatest common divisor, which keeps all signs. Where its sums do not fit into a
        word the column is divided by a power of 2 and rounded down: each entry is then too small by less than 1, a sum
        over S by less than |S| + 1.
        """
        import numpy as np

        columns, slack = [], 0
        for column in zip(self.base, *self.rows, strict=True):
            divisor = gcd(*column) or 1
            entries = [value // divisor for value in column]
            excess = sum(map(abs, entries)).bit_length() - WORD
            if excess > 0:
                entries = [value >> excess for value in entries]
                slack = len(self.rows) + 1
            columns.append(entries)
        table = np.array(columns, dtype=np.int64).T.reshape(len(self.rows) + 1, len(self.base))
        return table[0], table[1:], slack

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """The neurons with the largest entries first: what is left to come then moves the sums least."""
        _, rows, _ = self._scaled
        width = [max([1, *(abs(int(row[i])) for row in rows)]) for i in range(len(self.base))]
        weight = [sum(abs(int(value)) / most for value, most in zip(row, width, strict=True)) for row in rows]
        return tuple(sorted(range(len(self.rows)), key=lambda side: -weight[side]))

    def count(self, budget: int = ROW_BUDGET, prefix: Sequence[int] = ()) -> int:
        """Give the number of sets; with a `prefix` of 0/1, of those that begin so in the order of the search.

        Implements: theory §2.6.

        Raises:
            BudgetExceededError: after looking at `budget` prefixes (`.low`, `.high` is the proved interval).
        """
        low, left = 0, budget
        free = len(self.rows) - len(prefix)
        for sign in (1, -1):
            search = _Pass(self, sign, prefix)
            for found, looked in search.run():
                low += found
                left -= looked
                if left < 0:
                    rest = search.open + (2**free if sign == 1 else 0)
                    raise over_budget(low, min(2**free, low + rest), f"{budget} prefixes")
        return low

    def exact_sum(self, mask: int) -> list[int]:
        """Give b + Σ a_l over the set bits of the mask."""
        chosen = [row for side, row in enumerate(self.rows) if mask >> side & 1]
        return [sum(column) for column in zip(self.base, *chosen, strict=True)]


class _Pass:
    """One sign: the sets whose entries are all ≥ 0; for sign −1 all ≤ 0 and not all 0.

    Arrays have a column for each prefix. The true sums differ from those in the array by less than the slack, if any.
    The last neurons are not branched on: `_Tail` knows their sums by rank.
    """

    def __init__(self, search: OneSignedSearch, sign: int, prefix: Sequence[int]) -> None:
        import numpy as np

        base, rows, self.slack = search._scaled
        self.np, self.search, self.sign, self.order = np, search, sign, search._order
        self.size = len(self.order)
        self.rows = (sign * rows[list(self.order)])[:, :, None]
        zero = np.zeros((1, len(search.base), 1), dtype=np.int64)
        below, above = np.minimum(self.rows, 0)[::-1], np.maximum(self.rows, 0)[::-1]
        # lowest[i], highest[i]: how far the neurons i, i + 1, ... can move a sum down and up
        self.lowest = np.concatenate([np.cumsum(below, axis=0)[::-1], zero]) - self.slack
        self.highest = np.concatenate([np.cumsum(above, axis=0)[::-1], zero]) + self.slack
        sums, mask = (sign * base)[:, None], 0
        for depth, bit in enumerate(prefix):
            if bit:
                sums, mask = sums + self.rows[depth], mask | 1 << self.order[depth]
        masks = np.array([mask], dtype=np.int64 if self.size <= WORD else object) if self.slack else None
        self.stack: list[tuple[int, Any, Any]] = [(len(prefix), sums, masks)]
        self.branching = max(len(prefix), self.size - TAIL)
        self.tail = _Tail(self)

    @property
    def open(self) -> int:
        """The number of sets below the prefixes that have not been looked at."""
        return sum(sums.shape[1] << (self.size - depth) for depth, sums, _ in self.stack)

    def run(self) -> Iterator[tuple[int, int]]:
        """Yield (sets found, prefixes looked at) after each block of prefixes."""
        np = self.np
        while self.stack:
            depth, sums, masks = self.stack.pop()
            sure, keep = (sums >= -self.lowest[depth]).all(axis=0), (sums >= -self.highest[depth]).all(axis=0)
            if self.sign < 0:
                sure &= (sums > -self.lowest[depth]).any(axis=0)
                keep &= (sums > -self.highest[depth]).any(axis=0)
            found = int(np.count_nonzero(sure)) << (self.size - depth)
            looked = sums.shape[1]
            left = np.flatnonzero(keep & ~sure)
            if len(left):
                sums, masks = sums[:, left], None if masks is None else masks[left]
                if depth < self.branching:
                    self._extend(depth, sums, masks)
                else:
                    more, decided = self.tail.count(sums, masks)
                    found, looked = found + more, looked + decided
            yield found, looked

    def _extend(self, depth: int, sums: Any, masks: Any) -> None:
        """Put the prefixes without and with the next neuron on the stack."""
        np = self.np
        sums = np.concatenate([sums, sums + self.rows[depth]], axis=1)
        if masks is not None:
            masks = np.concatenate([masks, masks | 1 << self.order[depth]])
        for start in range(0, sums.shape[1], BLOCK):
            part = slice(start, start + BLOCK)
            self.stack.append((depth + 1, sums[:, part], None if masks is None else masks[part]))

    def is_wanted(self, mask: int) -> bool:
        """Decide one set in exact integers."""
        total = [self.sign * value for value in self.search.exact_sum(mask)]
        return min(total) >= 0 and (self.sign > 0 or any(total))


class _Tail:
    """The sums of all subsets of the last neurons: in each entry sorted, with the set of those from each rank on.

    A set of subsets is a row of 64-bit words. A prefix with sums P wants the subsets T with T_i ≥ −P_i for all i: one
    rank and one row for each entry, and the intersection of these rows.
    """

    def __init__(self, parent: _Pass) -> None:
        import numpy as np

        self.np, self.parent = np, parent
        sums, masks = np.zeros((parent.rows.shape[1], 1), dtype=np.int64), [0]
        for depth in range(parent.branching, parent.size):
            sums = np.concatenate([sums, sums + parent.rows[depth]], axis=1)
            masks += [mask | 1 << parent.order[depth] for mask in masks]
        self.masks = masks
        count = sums.shape[1]
        order = np.argsort(sums, axis=1, kind="stable")
        self.sorted = np.take_along_axis(sums, order, axis=1)
        self.tables = []
        for ranks in order:
            bits = np.zeros((count + 1, max(64, count)), dtype=np.uint8)
            position = np.empty(count, dtype=np.int64)
            position[ranks] = np.arange(count)
            bits[:, :count] = position[None, :] >= np.arange(count + 1)[:, None]
            self.tables.append(np.packbits(bits, axis=1, bitorder="little").view(np.uint64))

    def count(self, sums: Any, masks: Any) -> tuple[int, int]:
        """Count the wanted sets below prefixes with these sums, and those that took exact integers to decide."""
        np, slack = self.np, self.parent.slack
        low = [np.searchsorted(values, -row - slack) for values, row in zip(self.sorted, sums, strict=True)]
        found = int(self._ones(self._common(low)))
        if not slack and self.parent.sign > 0:
            return found, 0
        # Sums between these ranks are undecided (rounded) or zero; zero in all entries at once is not wanted.
        high = [
            np.searchsorted(values, slack - row, side="left" if slack else "right")
            for values, row in zip(self.sorted, sums, strict=True)
        ]
        differ = [a != b for a, b in zip(low, high, strict=True)]
        close = np.flatnonzero(np.any(differ, axis=0) if slack else np.all(differ, axis=0))
        if not len(close):
            return found, 0
        low, high = [ranks[close] for ranks in low], [ranks[close] for ranks in high]
        if not slack:
            zero = [table[a] & ~table[b] for table, a, b in zip(self.tables, low, high, strict=True)]
            return found - int(self._ones(np.bitwise_and.reduce(zero))), 0
        undecided = self._common(low) & ~self._common(high)
        open_sets = int(self._ones(undecided))
        found -= open_sets
        for row, mask in zip(undecided, masks[close].tolist(), strict=True):
            chosen = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()
            found += sum(self.parent.is_wanted(mask | self.masks[subset]) for subset in chosen)
        return found, open_sets

    def _common(self, ranks: list[Any]) -> Any:
        common = self.tables[0][ranks[0]]
        for table, rank in zip(self.tables[1:], ranks[1:], strict=True):
            common &= table[rank]
        return common

    def _ones(self, words: Any) -> Any:
        np = self.np
        if hasattr(np, "bitwise_count"):  # numpy 2
            return np.bitwise_count(words).sum(dtype=np.int64)
        return np.unpackbits(words.view(np.uint8)).sum(dtype=np.int64)


@dataclass(frozen=True)
class RankSearch:
    """The sets S with rank₊col(M_S) ≤ r, M_S = M + Σ_(l∈S) C_l B_l; `base` is M, `products` are the C_l B_l, integers.

    `is_feasible` decides one S. `always_pointed`: rank many neurons suffice whatever the cone (on a box).
    """

    base: Matrix
    products: tuple[Matrix, ...]
    spare: int
    always_pointed: bool
    is_feasible: Callable[[tuple[int, ...]], bool]

    @cached_property
    def _levels(self) -> list[tuple[Matrix, Matrix, Matrix, Matrix]]:
        """For each depth, what the neurons to come can change: the spaces of their C_l and B_l, and what these leave.

        Columns that span the C_l, rows that span the B_l; rows y with y C_l = 0, columns z with B_l z = 0.
        """
        m, p = self.base.shape
        columns, rows = Matrix([], columns=m), Matrix([], columns=p)
        levels = [(columns.T, rows, Matrix.identity(m), Matrix.identity(p))]
        for product in reversed(self.products):
            columns = _basis(columns.stacked(product.T))
            rows = _basis(rows.stacked(product))
            levels.append((columns.T, rows, columns.kernel(), rows.kernel().T))
        return levels[::-1]

    def count(self, budget: int, prefix: Sequence[int] = ()) -> int:
        """Give the number of feasible sets; with a `prefix` of 0/1, of those that begin so.

        Implements: theory §2.6.

        Raises:
            BudgetExceededError: after testing `budget` prefixes and sets (`.low`, `.high` is the proved interval).
        """
        size, found, tested = len(self.products), 0, 0
        chosen = tuple(side for side, bit in enumerate(prefix) if bit)
        start = sum((self.products[side] for side in chosen), self.base)
        stack: list[tuple[tuple[int, ...], int, Matrix]] = [(chosen, len(prefix), start)]
        while stack:
            if tested >= budget:
                high = found + sum(2 ** (size - depth) for _, depth, _ in stack)
                raise over_budget(found, high, f"{budget} prefixes")
            sides, depth, total = stack.pop()
            if depth == size:
                tested += 1
                found += self.is_feasible(sides)
                continue
            whole = self._whole_subtree(depth, total)
            if whole is None:
                stack.append(((*sides, depth), depth + 1, total + self.products[depth]))
                stack.append((sides, depth + 1, total))
            else:
                found += whole * 2 ** (size - depth)
            tested += 1
        return found

    def _whole_subtree(self, depth: int, total: Matrix) -> bool | None:
        """Say whether all completions of a prefix are feasible (True), none (False), or it is open (None)."""
        columns, rows, left, right = self._levels[depth]
        if (left @ total).rank() > self.spare or (total @ right).rank() > self.spare:
            return False  # these products are the same for all completions, and M_S has at least their rank
        most = min(total.beside(columns).rank(), total.stacked(rows).rank())
        return True if most < self.spare + self.always_pointed else None


def _basis(rows: Matrix) -> Matrix:
    return rows.select(rows=rows.independent_rows())
