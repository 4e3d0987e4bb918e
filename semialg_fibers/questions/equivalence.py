"""Do two networks compute the same function? Exactly, on their whole domain, with a certificate either way.

Main definitions
    Same, Different, Undecided     the answers; each can be checked without the code that found it

Main results
    same_function                  a few points, a matching of units, canonical data, the separable zero test, cells

Polynomial for one hidden layer (all parameters), for functions of one variable, and for three layers where the
hyperplanes that remain inside have independent normals; by activation cells, within a budget, for everything else.

References: theory §4; beyond §1.1, §2.3.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, product
from typing import TYPE_CHECKING

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UndecidedSignError, UnsupportedError
from semialg_fibers.geometry.arguments import checked, checked_methods
from semialg_fibers.geometry.domain import Domain, Space
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, affine_value, sympy_rational
from semialg_fibers.networks.arrangement import arrangement
from semialg_fibers.networks.cells import Cell, common_cells
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.normal_form import normal_forms
from semialg_fibers.questions.matching import match_units
from semialg_fibers.questions.pairing import Pairing, pairing
from semialg_fibers.questions.separable import zero_test
from semialg_fibers.verify.certificate import DifferentCertificate, SameCertificate
from semialg_fibers.verify.effort import BUDGET

if TYPE_CHECKING:
    import sympy

METHODS = ("auto", "canonical", "exact")
CELLS = 20_000
TERMS = 100  # of a difference of normal forms; the zero test grows with their cube
PAIRS_OF_FORMS = 64
CHECK = 5_000_000  # multiplications for checking a certificate where it is made


@checked_methods("check")
@dataclass(frozen=True)
class Same:
    """f_a = f_b on the whole domain; `certificate` re-proves it without the deciding code, `matching` shows how."""

    a: Network
    b: Network
    certificate: SameCertificate
    same = True

    @property
    def matching(self) -> Pairing | None:
        """Which unit of b is which of a: orders, factors, flips, translation, remainder; None if not by units."""
        return pairing(self.a, self.b)

    def check(self, budget: int | None = BUDGET) -> bool:
        """Re-prove the equality by code that shares nothing with the decision.

        Raises:
            BudgetExceededError: when this takes more than `budget` multiplications; nothing is rejected then.
        """
        return self.certificate.check(self.a, self.b, budget)

    def __bool__(self) -> bool:
        """The functions are the same."""
        return True


@checked_methods("check")
@dataclass(frozen=True)
class Different:
    """f_a(witness) ≠ f_b(witness), both evaluated exactly."""

    a: Network
    b: Network
    certificate: DifferentCertificate
    same = False

    @property
    def witness(self) -> tuple[sympy.Rational, ...]:
        """The point of the domain."""
        return tuple(sympy_rational(value) for value in self.certificate.point)

    @property
    def values(self) -> tuple[tuple[sympy.Rational, ...], tuple[sympy.Rational, ...]]:
        """(f_a(witness), f_b(witness))."""
        left, right = self.certificate.values
        return tuple(map(sympy_rational, left)), tuple(map(sympy_rational, right))

    def check(self, budget: int | None = BUDGET) -> bool:
        """Evaluate both networks at the witness again.

        Raises:
            BudgetExceededError: when this takes more than `budget` multiplications; nothing is rejected then.
        """
        return self.certificate.check(self.a, self.b, budget)

    def __bool__(self) -> bool:
        """The functions are not the same."""
        return False


@checked_methods("check")
@dataclass(frozen=True)
class Undecided:
    """Neither proved within the budget; `reason` says what was tried."""

    a: Network
    b: Network
    reason: str
    same = None

    def check(self, budget: int | None = BUDGET) -> bool:
        """There is nothing to check, and nothing is claimed."""
        return False

    def __bool__(self) -> bool:
        """Refuse: undecided is neither yes nor no."""
        raise UndecidedSignError(f"it was not decided whether the functions are the same: {self.reason}")


Answer = Same | Different | Undecided


@checked
def same_function(
    a: Network,
    b: Network,
    method: str = "auto",
    budget: int = CELLS,
    watch: Callable[[int], None] | None = None,
    seconds: float | None = None,
) -> Answer:
    """Decide f_a = f_b on the whole domain, exactly; hidden widths and depths may differ.

    `method` "canonical" uses the polynomial methods, "exact" activation cells (at most `budget`), "auto" the first and
    then the second. Functions of one linear form have few cells, so that they are compared by cells anyway. `watch` is
    told now and then how many cells have been looked at; `seconds` ends the search of cells earlier, which makes an
    undecided answer depend on the machine.

    Implements: theory §4.

    Raises:
        InvalidNetworkError: for different numbers of inputs or outputs, different domains, or an unknown method.

    >>> a = Network([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    >>> same_function(a, Network([([[1]], [0])])).same
    True
    >>> same_function(a, Network([([[2]], [0])])).witness
    (-3,)
    """
    _comparable(a, b, method)
    if method == "exact":
        return _by_cells(a, b, budget, watch, seconds)
    answer = _by_canonical(a, b)
    if answer is not None:
        return answer
    if _first_rank(a, b) <= 1:  # functions of one linear form have few cells
        on_a_line = isinstance(a.domain, Space) or a.widths[0] == 1
        return _by_cells(a, b, max(budget, CELLS), watch, seconds, "one variable" if on_a_line else "cells")
    if method == "canonical":
        return Undecided(a, b, "the polynomial methods do not apply to this pair; method exact looks at all cells")
    return _by_cells(a, b, budget, watch, seconds)


def _comparable(a: Network, b: Network, method: str) -> None:
    a.refuse_letters()
    b.refuse_letters()
    if method not in METHODS:
        raise InvalidNetworkError(f"unknown method {method!r}; the methods are {', '.join(METHODS)}", value=method)
    if (a.widths[0], a.widths[-1]) != (b.widths[0], b.widths[-1]):
        raise InvalidNetworkError(
            f"the functions have different shapes: {a.widths[0]} → {a.widths[-1]} and {b.widths[0]} → {b.widths[-1]}"
        )
    if a.domain != b.domain:
        raise InvalidNetworkError(f"the functions have different domains: {a.domain} and {b.domain}")


def _different(a: Network, b: Network, points: Iterator[Vector]) -> Different | None:
    """Evaluate both at the points until they differ."""
    for point in points:
        left, right = a.value(point), b.value(point)
        if left != right:
            return Different(a, b, DifferentCertificate(point, (left, right)))
    return None


def _by_canonical(a: Network, b: Network) -> Answer | None:
    """The polynomial methods, cheap ones first; None when none of them decides."""
    points = _few_points(a.domain)
    answer: Answer | None = _different(a, b, islice(points, 2))
    if answer is None:
        answer = _by_units(a, b)
    if answer is None:
        answer = _different(a, b, chain(points, _beside_first_layers(a, b)))
    if answer is None and max(len(a.layers), len(b.layers)) <= 2:
        answer = _by_arrangement(a, b)
    if answer is None and isinstance(a.domain, Space) and max(len(a.layers), len(b.layers)) <= 3:
        answer = _by_normal_forms(a, b)
    return answer


def _by_units(a: Network, b: Network) -> Same | None:
    if a.widths != b.widths:
        return None
    try:
        found = match_units(a, b)
    except BudgetExceededError:
        return None
    return None if found is None else Same(a, b, SameCertificate("relabelling", found.orders, found.scales))


def _proved(a: Network, b: Network, *kinds: str) -> Same | None:
    """Give the answer with the first certificate that its checker accepts, or that is too long to check now."""
    for kind in kinds:
        certificate = SameCertificate(kind)
        try:
            if certificate.check(a, b, CHECK):
                return Same(a, b, certificate)
        except BudgetExceededError:
            return Same(a, b, certificate)
    return None


# points


def _few_points(domain: Domain) -> Iterator[Vector]:
    """Yield a handful of points of the domain, the same ones every time."""
    rng = random.Random(0)
    centre = domain.interior_point()
    for size in (1, 1, 3, 10, 10, 100, 100, 1000):
        direction = [fmpq(rng.randint(-size, size)) for _ in centre]
        yield _into(domain, centre, direction)


def _into(domain: Domain, inside: Vector, direction: Vector | list[fmpq]) -> Vector:
    """Go from an interior point along the direction, halving the way until the point lies in the domain."""
    factor = ONE
    while True:
        point = tuple(a + factor * b for a, b in zip(inside, direction, strict=True))
        if domain.contains(point):
            return point
        factor /= 2


def _beside_first_layers(a: Network, b: Network) -> Iterator[Vector]:
    """Yield points on both sides of each first-layer hyperplane, at two random places of it."""
    if len(a.layers[0].forms) + len(b.layers[0].forms) > 64:
        return
    rng = random.Random(1)
    centre = a.domain.interior_point()
    for form in (*a.layers[0].forms, *b.layers[0].forms):
        square = sum((value * value for value in form[:-1]), ZERO)
        if not square:
            continue
        for size in (3, 50):
            base = [value + rng.randint(-size, size) for value in centre]
            value = affine_value(form, base)
            for side in (fmpq(1, 64), fmpq(-1, 64)):
                step = (side - value) / square
                target = [x + step * w for x, w in zip(base, form[:-1], strict=True)]
                yield _into(a.domain, centre, [x - c for x, c in zip(target, centre, strict=True)])


# one hidden layer


def _by_arrangement(a: Network, b: Network) -> Answer | None:
    """Equal canonical data, or a point beside a hyperplane whose jumps differ, or a point where the rest differs."""
    left, right = arrangement(a), arrangement(b)
    if left == right:
        return _proved(a, b, "arrangement")
    jumps, others = dict(left.hyperplanes), dict(right.hyperplanes)
    planes = sorted(jumps.keys() | others.keys())
    bent = next((plane for plane in planes if jumps.get(plane) != others.get(plane)), None)
    found = _different(a, b, _around(a.domain, bent, planes) if bent else _simplex_points(a.domain))
    assert found is not None  # different canonical data are different functions, and these points show it
    return found


def _around(domain: Domain, plane: tuple[int, ...], planes: list[tuple[int, ...]]) -> Iterator[Vector]:
    """Yield triples on and beside a hyperplane, at random interior places of it, away from the others."""
    rng = random.Random(2)
    form = tuple(map(fmpq, plane))
    above, below = domain.positive_point(form), domain.positive_point(tuple(-value for value in form))
    assert above is not None  # the hyperplane meets the interior
    assert below is not None
    while True:
        p, q = (_on_side(domain, form, point, [fmpq(rng.randint(-50, 50)) for _ in point]) for point in (above, below))
        at_p, at_q = affine_value(form, p), affine_value(form, q)
        share = at_p / (at_p - at_q)
        on = [x + share * (y - x) for x, y in zip(p, q, strict=True)]
        direction = [x - y for x, y in zip(p, q, strict=True)]
        room = ONE
        for other in planes:
            line = tuple(map(fmpq, other))
            value, slope = affine_value(line, on), affine_value(line, p) - affine_value(line, q)
            if value and slope:
                room = min(room, abs(value / slope) / 2)
        for factor in (ZERO, room, -room):
            yield _into(domain, tuple(on), [factor * x for x in direction])


def _on_side(domain: Domain, form: Vector, point: Vector, direction: list[fmpq]) -> Vector:
    """Move an interior point at random, staying in the domain and on its side of the hyperplane."""
    factor, sign = ONE, affine_value(form, point)
    while True:
        moved = tuple(a + factor * b for a, b in zip(point, direction, strict=True))
        if domain.contains(moved) and affine_value(form, moved) * sign > 0:
            return moved
        factor /= 2


def _simplex_points(domain: Domain) -> Iterator[Vector]:
    """Yield d + 1 affinely independent points of the domain."""
    centre = domain.interior_point()
    yield centre
    for i in range(len(centre)):
        yield _into(domain, centre, [fmpq(int(i == j)) for j in range(len(centre))])


# three layers


def _by_normal_forms(a: Network, b: Network) -> Answer | None:
    """Equal normal forms for some treatment of ambiguous rows, else the zero test where it applies."""

    def value(x: Vector) -> Vector:
        return tuple(p - q for p, q in zip(a.value(x), b.value(x), strict=True))

    differences = []
    for left, right in islice(product(normal_forms(a), list(normal_forms(b))), PAIRS_OF_FORMS):
        difference = left.minus(right)
        if difference.is_zero:
            return _proved(a, b, "canonical data") or _proved(a, b, "sign patterns")
        differences.append(difference)
    for difference in differences:
        if len(difference.outer) + len(difference.direct) > TERMS:
            continue
        try:
            point = zero_test(difference, a.widths[0], value)
        except UnsupportedError:
            continue
        return _proved(a, b, "sign patterns") if point is None else _different(a, b, iter([point]))
    return None


# cells


def _first_rank(a: Network, b: Network) -> int:
    return a.layers[0].matrix.stacked(b.layers[0].matrix).rank()


def _by_cells(
    a: Network,
    b: Network,
    budget: int,
    watch: Callable[[int], None] | None = None,
    seconds: float | None = None,
    kind: str = "cells",
) -> Answer:
    """Compare the affine maps on every cell of the common refinement, after a few points for a quick no."""
    found = _different(a, b, _few_points(a.domain))
    if found is not None:
        return found
    try:
        for count, (left, right) in enumerate(common_cells(a, b, budget, seconds), 1):
            if watch is not None and count % 64 == 0:
                watch(count)
            if left.matrix != right.matrix or left.offset != right.offset:
                found = _different(a, b, _points_of(left))
                assert found is not None  # two affine maps that differ, differ near any point
                return found
    except BudgetExceededError as error:
        return Undecided(a, b, error.message)
    return Same(a, b, SameCertificate(kind))


def _points_of(cell: Cell) -> Iterator[Vector]:
    """Yield an interior point, and one a little further along each axis, inside the cell."""
    yield cell.interior
    for i in range(len(cell.interior)):
        step = ONE
        while True:
            point = tuple(value + step * int(i == j) for j, value in enumerate(cell.interior))
            if cell.contains(point):
                yield point
                break
            step /= 2
