"""Polyhedral cones by their rays, cut by one form after another: the double description method.

Main definitions
    Cone      a full-dimensional cone in R^(d+1) with x0 ≥ 0 (last coordinate): primitive integer rays, lineality space

Main results
    axis_cone, cone_of   the cones over R^d and over a domain
    split                the two parts of a cone on either side of a form

Each ray carries a bit mask of the constraints tight on it. Integers throughout: no linear program, no float.

References: K. Fukuda, A. Prodon, Double description method revisited (1996).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from math import gcd
from typing import NamedTuple

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.domain import Domain
from semialg_fibers.geometry.scalar import primitive, vector

IntegerForm = tuple[int, ...]
AnyForm = Sequence[fmpq] | Sequence[int]

MAX_RAYS = 20_000  # of one cone: a box in dimension d has 2^d


class Effort:
    """A budget for splitting: elementary comparisons, which is the same on every machine, and seconds if wished."""

    def __init__(self, comparisons: int, seconds: float | None = None) -> None:
        """Start counting."""
        self._left = comparisons
        self._total = comparisons
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    def spend(self, comparisons: int) -> None:
        """Count comparisons.

        Raises:
            BudgetExceededError: when comparisons or seconds are used up.
        """
        self._left -= comparisons
        if self._left < 0:
            raise BudgetExceededError(f"the cells take more than the budget of {self._total:,} comparisons")
        if self._end is not None and time.monotonic() > self._end:
            raise BudgetExceededError(f"the cells take more than the budget of {self._seconds} seconds")


class Cone(NamedTuple):
    """A full-dimensional cone; bit k of a ray's mask says that constraints[k] ≥ 0 is tight on it."""

    constraints: tuple[IntegerForm, ...]  # the first is x0 ≥ 0
    rays: tuple[IntegerForm, ...]
    masks: tuple[int, ...]
    lineality: tuple[IntegerForm, ...]


def value_on(form: Sequence[int], ray: Sequence[int]) -> int:
    """Give the value of a homogeneous integer form on an integer ray."""
    return sum(a * b for a, b in zip(form, ray, strict=True))


def integral(form: AnyForm) -> IntegerForm:
    """Give a positive integer multiple of the form; a form of integers stays as it is."""
    integers = tuple(value for value in form if isinstance(value, int))
    return integers if len(integers) == len(form) else primitive(vector(form))


def signs(form: AnyForm, rays: Iterable[IntegerForm], lines: Iterable[IntegerForm]) -> tuple[bool, bool]:
    """Say whether the form is positive, and whether it is negative, on some generator."""
    integers = integral(form)
    if any(value_on(integers, line) for line in lines):
        return True, True
    values = [value_on(integers, ray) for ray in rays]
    return any(value > 0 for value in values), any(value < 0 for value in values)


def _eliminated(ray: IntegerForm, value: int, along: IntegerForm, positive: int) -> IntegerForm:
    """Give the primitive positive multiple of positive·ray − value·along, on which the form is zero."""
    combined = [positive * a - value * b for a, b in zip(ray, along, strict=True)]
    divisor = gcd(*combined)
    return tuple(entry // divisor for entry in combined)


def axis_cone(dimension: int) -> Cone:
    """Give the cone over all of R^d: x0 ≥ 0."""
    size = dimension + 1
    axes = [tuple(int(i == j) for j in range(size)) for i in range(size)]
    return Cone((axes[-1],), (axes[-1],), (0,), tuple(axes[:-1]))


def cone_of(domain: Domain) -> Cone:
    """Give the cone over a domain: x0 ≥ 0 and the domain's constraints."""
    cone = axis_cone(domain.dimension)
    for form in domain.constraints():
        _, above = split(cone, primitive(form))
        assert above is not None  # a domain has an interior
        cone = above
    return cone


def split(cone: Cone, form: IntegerForm, effort: Effort | None = None) -> tuple[Cone | None, Cone | None]:
    """Give the parts {form ≤ 0} and {form ≥ 0} of the cone, None for a part without interior; two None if form = 0."""
    for place, line in enumerate(cone.lineality):
        if value := value_on(form, line):
            return _split_line(cone, form, place, value)
    values = [value_on(form, ray) for ray in cone.rays]
    above = [i for i, value in enumerate(values) if value > 0]
    below = [i for i, value in enumerate(values) if value < 0]
    if not above or not below:
        return cone if below else None, cone if above else None
    bit = 1 << len(cone.constraints)
    rays, masks = cone.rays, cone.masks
    between = [(rays[i], masks[i] | bit) for i, value in enumerate(values) if value == 0]
    for i, j, common in _adjacent(cone, above, below, effort):
        between.append((_eliminated(rays[j], values[j], rays[i], values[i]), common | bit))
    if len(above) + len(below) + len(between) > MAX_RAYS:
        raise BudgetExceededError(f"a cell has more than {MAX_RAYS} rays", budget=MAX_RAYS)
    parts = []
    for kept, sign in ((below, -1), (above, 1)):
        both = [(rays[i], masks[i]) for i in kept] + between
        oriented = tuple(sign * value for value in form)
        constraints = (*cone.constraints, oriented)
        parts.append(Cone(constraints, tuple(r for r, _ in both), tuple(m for _, m in both), cone.lineality))
    return parts[0], parts[1]


def _split_line(cone: Cone, form: IntegerForm, place: int, value: int) -> tuple[Cone, Cone]:
    """Split along a line on which the form is not constant: push all else into {form = 0}, halve the line."""
    known = len(cone.constraints)
    up = tuple(entry if value > 0 else -entry for entry in cone.lineality[place])
    pushed = [_eliminated(ray, value_on(form, ray), up, abs(value)) for ray in cone.rays]
    rest = cone.lineality[:place] + cone.lineality[place + 1 :]
    lines = tuple(_eliminated(line, value_on(form, line), up, abs(value)) for line in rest)
    masks = (*(mask | 1 << known for mask in cone.masks), (1 << known) - 1)
    down, opposite = tuple(-entry for entry in up), tuple(-entry for entry in form)
    return (
        Cone((*cone.constraints, opposite), (*pushed, down), masks, lines),
        Cone((*cone.constraints, form), (*pushed, up), masks, lines),
    )


def _adjacent(cone: Cone, above: list[int], below: list[int], effort: Effort | None) -> Iterator[tuple[int, int, int]]:
    """Yield the pairs that span a two-dimensional face: no third ray is tight wherever both are.

    The test is exact for degenerate cones and with redundant constraints. A two-dimensional face needs dim − 2
    independent tight constraints, which discards most pairs by a count.
    """
    least = len(cone.constraints[0]) - len(cone.lineality) - 2
    for i in above:
        close = 0
        for j in below:
            common = cone.masks[i] & cone.masks[j]
            if common.bit_count() >= least:
                close += 1
                if sum(mask & common == common for mask in cone.masks) == 2:
                    yield i, j, common
        if effort is not None:
            effort.spend(len(below) + close * len(cone.masks))
