"""Sign patterns of [A2 | b2] up to relabelling of units: one of each orbit, with the size of the orbit.

Main results
    orbit_count           their number, by Burnside's lemma
    first_rows, extended  the patterns that come first in their orbits, cut into parts that can be worked on apart

A row is an integer of n1 + 1 bits, 1 for −, the first column highest: in the order of the integers "+" comes before
"-". A pattern is a sorted tuple of rows; it stands for its orbit when no permutation of the columns but the last, the
bias, gives a smaller one. The first rows of such a pattern are such a pattern again, which is what makes the search
short: were the image of some first rows smaller, more rows in it would only make it smaller still.

References: R. C. Read, Every one a winner (1978), for orderly generation; W. Burnside, Theory of Groups (1897), §118.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations
from math import factorial, gcd
from typing import Any

Rows = tuple[int, ...]


def row_text(row: int, n1: int) -> str:
    """Give the signs of a row, bias last.

    >>> row_text(0b011, 2)
    '+--'
    """
    return "".join("-" if row >> place & 1 else "+" for place in range(n1, -1, -1))


def _partitions(size: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield the cycle types of the permutations of `size` things."""
    if size == 0:
        yield ()
    for part in range(min(size, largest or size), 0, -1):
        for rest in _partitions(size - part, part):
            yield (part, *rest)


def _class_size(cycles: tuple[int, ...]) -> int:
    """Give the number of permutations with these cycle lengths."""
    size = factorial(sum(cycles))
    for length, count in Counter(cycles).items():
        size //= length**count * factorial(count)
    return size


def orbit_count(n1: int, n2: int) -> int:
    """Give the number of sign patterns up to relabelling: the mean number of patterns that a relabelling fixes.

    A pair of permutations with cycles of lengths a (units of the first layer) and b (of the second) fixes
    2^(Σ gcd(a, b) + number of b) patterns; the last term is the bias column.

    >>> orbit_count(3, 3), orbit_count(4, 3), orbit_count(3, 4), orbit_count(4, 4)
    (220, 562, 905, 3684)
    """
    total = 0
    for columns in _partitions(n1):
        for rows in _partitions(n2):
            cycles = sum(gcd(a, b) for a in (*columns, 1) for b in rows)
            total += _class_size(columns) * _class_size(rows) * 2**cycles
    return total // (factorial(n1) * factorial(n2))


@lru_cache(maxsize=4)
def _images(n1: int) -> Any:
    """Give the image of every row under every permutation of the n1 columns: an array, a line for each permutation."""
    import numpy as np

    rows = np.arange(2 ** (n1 + 1), dtype=np.int64)
    lines = []
    for order in permutations(range(n1)):
        image = rows & 1
        for place, source in enumerate(order):
            image = image | (rows >> (n1 - source) & 1) << (n1 - place)
        lines.append(image)
    return np.array(lines)


def _least_of_orbits(rows: Rows, n1: int) -> list[tuple[Rows, int]]:
    """Give (rows, row) for each row ≥ the last that keeps the pattern the first of its orbit, with its stabiliser.

    The stabiliser is the number of permutations of the columns that map the set of rows to itself.
    """
    import numpy as np

    images = _images(n1)
    more = np.arange(rows[-1] if rows else 0, 2 ** (n1 + 1), dtype=np.int64)
    shape = (len(images), len(more), len(rows))
    old = np.broadcast_to(images[:, list(rows)][:, None, :], shape)
    found = np.sort(np.concatenate([old, images[:, more][:, :, None]], axis=2), axis=2)
    keys = np.zeros(shape[:2], dtype=np.int64)
    for place in range(len(rows) + 1):
        keys = keys << (n1 + 1) | found[:, :, place]
    own = keys[0]  # the first permutation is the identity
    first = (keys >= own).all(axis=0)
    stable = (keys == own).sum(axis=0)
    return [
        ((*rows, row), count)
        for row, count, keep in zip(more.tolist(), stable.tolist(), first.tolist(), strict=True)
        if keep
    ]


def first_rows(n1: int, length: int) -> list[Rows]:
    """Give the patterns of `length` rows that come first in their orbits, in lexicographic order.

    >>> [[row_text(row, 2) for row in rows] for rows in first_rows(2, 1)]
    [['+++'], ['++-'], ['+-+'], ['+--'], ['--+'], ['---']]
    """
    found: list[Rows] = [()]
    for _ in range(length):
        found = [rows for shorter in found for rows, _ in _least_of_orbits(shorter, n1)]
    return found


def extended(rows: Rows, n1: int, n2: int) -> Iterator[tuple[Rows, int]]:
    """Yield the patterns of n2 rows that begin with these and come first in their orbits, each with its orbit's size.

    >>> sum(size for rows in first_rows(3, 1) for _, size in extended(rows, 3, 2)) == 2**8
    True
    """
    if len(rows) < n2 - 1:
        for longer, _ in _least_of_orbits(rows, n1):
            yield from extended(longer, n1, n2)
        return
    for whole, stable in _least_of_orbits(rows, n1):
        orders = factorial(n2)
        for count in Counter(whole).values():
            orders //= factorial(count)
        yield whole, factorial(n1) // stable * orders
