"""Certificates that two networks are, or are not, the same function; checked without the code that found them.

Main definitions
    SameCertificate         a method by which equality can be proved again, with the data that it needs
    DifferentCertificate    a point of the domain with both values

Main results
    SameCertificate.check, DifferentCertificate.check    True only for what was proved again, exactly

References: theory §1, §3.5, §4; beyond §1.1, §2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from flint import fmpq

from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, primitive
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.verify.canonical_data import difference, value_at
from semialg_fibers.verify.effort import BUDGET, Effort
from semialg_fibers.verify.oracle import same_on_cells
from semialg_fibers.verify.sign_patterns import same_by_sign_patterns

Orders = tuple[tuple[int, ...], ...]
Factors = tuple[tuple[fmpq, ...], ...]
Slope = tuple[fmpq, fmpq]  # (s, c) is the form t ↦ s t + c


@dataclass(frozen=True)
class SameCertificate:
    """A proof of equality by one of `KINDS`.

    "relabelling"       b is a with hidden layer l permuted by orders[l−1] (new unit i is old unit order[i]) and then
                        rescaled by factors[l−1] (incoming weights and bias multiplied, outgoing weights divided).
    "arrangement"       at most one hidden layer each: equal weighted hyperplanes and remainder.
    "canonical data"    at most two hidden layers each: equal normal forms, on all of R^d.
    "one variable"      functions of one linear form, or constant: equal pieces.
    "sign patterns"     at most two hidden layers each: the separable zero test, on all of R^d.
    "cells"             equal affine maps on the common refinement of the cells.

    Only a relabelling has `orders` and `factors`; `remarks` are for people, no check reads them.
    """

    kind: str
    orders: Orders = ()
    factors: Factors = ()
    remarks: tuple[tuple[str, str], ...] = ()

    def check(self, a: Network, b: Network, budget: int | None = BUDGET) -> bool:
        """Prove a = b on their common domain again; False when that fails or the data do not fit.

        `budget` bounds the work in multiplications (`verify.effort`); None: none. "cells" takes as much as the pieces
        of the common refinement are many.

        Raises:
            BudgetExceededError: when the proof needs more, which is no rejection.

        >>> a = Network([([[1], [2]], [3, 4]), ([[5, 6]], [7])])
        >>> b = a.permuted(1, [1, 0]).rescaled(1, [2, 3])
        >>> SameCertificate("relabelling", ((1, 0),), ((fmpq(2), fmpq(3)),)).check(a, b)
        True
        """
        effort = Effort(budget)
        if not _comparable(a, b):
            return False
        if self.kind == "relabelling":
            return _is_relabelling(a, b, self.orders, self.factors)
        judge = _JUDGES.get(self.kind)
        return judge is not None and not self.orders and not self.factors and judge(a, b, effort)


@dataclass(frozen=True)
class DifferentCertificate:
    """A point of the common domain at which two networks have the different values (f_a, f_b)."""

    point: Vector
    values: tuple[Vector, Vector]

    def check(self, a: Network, b: Network, budget: int | None = BUDGET) -> bool:
        """Evaluate both networks at the point again: the stated values, and not equal.

        Raises:
            BudgetExceededError: when this takes more than `budget` multiplications, which is no rejection.

        >>> a, b = Network([([[1]], [0]), ([[1]], [0])]), Network([([[1]], [0])])
        >>> DifferentCertificate((fmpq(-1),), ((fmpq(0),), (fmpq(-1),))).check(a, b)
        True
        """
        effort = Effort(budget)
        if not _comparable(a, b):
            return False
        exact_point = all(isinstance(value, fmpq) for value in self.point)
        if not exact_point or len(self.point) != a.domain.dimension or not a.domain.contains(self.point):
            return False
        found = (value_at(a, self.point, effort), value_at(b, self.point, effort))
        return found[0] != found[1] and self.values == found


def _comparable(a: Network, b: Network) -> bool:
    """Say whether both are networks of numbers with one domain and one number of outputs."""
    return a.is_rational and b.is_rational and a.domain == b.domain and a.widths[-1] == b.widths[-1]


# relabelling


def _is_relabelling(a: Network, b: Network, orders: Orders, factors: Factors) -> bool:
    hidden = a.widths[1:-1]
    if a.widths != b.widths or not len(orders) == len(factors) == len(hidden):
        return False
    for width, order, scales in zip(hidden, orders, factors, strict=True):
        if not all(type(i) is int for i in order) or sorted(order) != list(range(width)):
            return False
        if len(scales) != width or not all(isinstance(scale, fmpq) and scale > 0 for scale in scales):
            return False
    outputs = a.widths[-1]
    orders, factors = (*orders, tuple(range(outputs))), (*factors, (ONE,) * outputs)
    return all(
        _is_relabelled_layer(
            old, new, orders[number], factors[number], (orders[number - 1], factors[number - 1]) if number else None
        )
        for number, (old, new) in enumerate(zip(a.layers, b.layers, strict=True))
    )


def _is_relabelled_layer(
    old: Layer,
    new: Layer,
    order: tuple[int, ...],
    scales: tuple[fmpq, ...],
    inputs: tuple[tuple[int, ...], tuple[fmpq, ...]] | None,
) -> bool:
    """Compare new[i][j] · t_j = s_i · old[order_i][p_j] and the biases, all by integer cross multiplication."""
    if any(value != s * old.offset[i] for value, s, i in zip(new.offset, scales, order, strict=True)):
        return False
    old_rows, new_rows = old.matrix.integer_rows(), new.matrix.integer_rows()
    old_below, new_below = old.matrix.denominators(), new.matrix.denominators()
    places, divisors = inputs or (None, ())
    above, below = [int(t.p) for t in divisors], [int(t.q) for t in divisors]
    plain = all(value == 1 for value in (*above, *below))
    for i, (row, scale) in enumerate(zip(new_rows, scales, strict=True)):
        other: Sequence[int] = old_rows[order[i]]
        left, right = int(scale.q) * old_below[order[i]], int(scale.p) * new_below[i]
        common = gcd(left, right)
        left, right = left // common, right // common
        if places is not None:
            other = [other[j] for j in places]
        if plain:
            same = all(x * left == y * right for x, y in zip(row, other, strict=True))
        else:
            terms = zip(row, above, other, below, strict=True)
            same = all(x * t * left == y * u * right for x, t, y, u in terms)
        if not same:
            return False
    return True


# one hidden layer


def _same_arrangement(a: Network, b: Network, effort: Effort) -> bool:
    return max(len(a.layers), len(b.layers)) <= 2 and _arrangement(a, effort) == _arrangement(b, effort)


def _arrangement(net: Network, effort: Effort) -> tuple[dict[Vector, Vector], list[list[fmpq]]]:
    """Give {a: J_a ≠ 0}, a with first nonzero coefficient 1, and the rows of (M, v)."""
    inputs, outputs = net.widths[0], net.widths[-1]
    if len(net.layers) == 1:
        return {}, [list(form) for form in net.layers[0].forms]
    jumps: dict[Vector, list[fmpq]] = {}
    remainder = [[ZERO] * inputs + [constant] for constant in net.layers[1].offset]
    for form, weight in zip(net.layers[0].forms, net.layers[1].matrix.columns(), strict=True):
        effort.spend((inputs + 1) * (outputs + 1))
        least, largest = net.domain.infimum(form), net.domain.supremum(form)
        if largest is not None and largest <= 0:
            continue
        nonlinear = least is None or least < 0
        scale = next((value for value in form[:-1] if value), ZERO)
        if nonlinear:
            total = jumps.setdefault(tuple(value / scale for value in form), [ZERO] * outputs)
            for o, value in enumerate(weight):
                total[o] += abs(scale) * value
        if not nonlinear or scale < 0:
            for row, value in zip(remainder, weight, strict=True):
                if value:
                    row[:] = [u + value * v for u, v in zip(row, form, strict=True)]
    return {key: tuple(total) for key, total in jumps.items() if any(total)}, remainder


# functions of one variable


def _same_on_line(a: Network, b: Network, effort: Effort) -> bool:
    profiles = [_profile(net, effort) for net in (a, b)]
    return profiles[0] is not None and profiles[0] == profiles[1]


Profile = tuple[tuple[int, ...] | None, list[tuple[fmpq | None, tuple[Slope, ...]]]]


def _profile(net: Network, effort: Effort) -> Profile | None:
    """Give w and the pieces of φ in f(x) = φ(w·x), each with its left end; w is None for a constant function.

    None when the weights that matter in the first layer are not multiples of one w.
    """
    size = net.widths[0]
    forms = list(net.layers[0].forms)
    if len(net.layers) > 1:
        columns = net.layers[1].matrix.columns()
        forms = [form if any(column) else (ZERO,) * (size + 1) for form, column in zip(forms, columns, strict=True)]
    axis = next((form[:-1] for form in forms if any(form[:-1])), (ONE,) + (ZERO,) * (size - 1))
    place = next(i for i, value in enumerate(axis) if value)
    w = primitive([value if axis[place] > 0 else -value for value in axis])
    slopes = [(form[place] / w[place], form[-1]) for form in forms]
    for form, (slope, _) in zip(forms, slopes, strict=True):
        if any(slope * v != u for u, v in zip(form[:-1], w, strict=True)):
            return None
    direction = (*map(fmpq, w), ZERO)
    line = _Line(net, effort)
    pieces: list[tuple[fmpq | None, tuple[Slope, ...]]] = []
    for low, values in line.pieces(1, slopes, net.domain.infimum(direction), net.domain.supremum(direction)):
        if not pieces or pieces[-1][1] != values:
            pieces.append((low, values))
    if len(pieces) == 1 and not any(slope for slope, _ in pieces[0][1]):
        return None, [(None, pieces[0][1])]
    return w, pieces


class _Line:
    """The propagation of affine forms of t through the layers after the first, from left to right.

    Each layer remembers its last inputs, since from one piece to the next few of them change.
    """

    def __init__(self, net: Network, effort: Effort) -> None:
        rest = net.layers[1:]
        self.effort = effort
        self.columns = [layer.matrix.columns() for layer in rest]
        self.inputs: list[list[Slope]] = [[(ZERO, ZERO)] * layer.inputs for layer in rest]
        self.outputs: list[list[Slope]] = [[(ZERO, constant) for constant in layer.offset] for layer in rest]

    def pieces(
        self, number: int, forms: list[Slope], low: fmpq | None, high: fmpq | None
    ) -> Iterator[tuple[fmpq | None, tuple[Slope, ...]]]:
        """Yield (left end, forms of the last layer) on the pieces of (low, high), where layer `number` has `forms`."""
        if number > len(self.columns):
            yield low, tuple(forms)
            return
        self._spend(forms)
        cuts = {-constant / slope for slope, constant in forms if slope}
        inside = sorted(cut for cut in cuts if (low is None or low < cut) and (high is None or cut < high))
        for left, right in pairwise([low, *inside, high]):
            t = _between(left, right)
            self._spend(forms)
            active = [form if form[0] * t + form[1] > 0 else (ZERO, ZERO) for form in forms]
            yield from self.pieces(number + 1, self._composed(number - 1, active), left, right)

    def _composed(self, layer: int, inputs: list[Slope]) -> list[Slope]:
        outputs = self.outputs[layer]
        for j, (old, new) in enumerate(zip(self.inputs[layer], inputs, strict=True)):
            if old != new:
                self._spend(outputs)
                slope, constant = new[0] - old[0], new[1] - old[1]
                column = self.columns[layer][j]
                outputs = [(s + w * slope, c + w * constant) for (s, c), w in zip(outputs, column, strict=True)]
        self.inputs[layer], self.outputs[layer] = inputs, outputs
        return outputs

    def _spend(self, forms: list[Slope]) -> None:
        self.effort.spend(len(forms), forms[0][0].height_bits() + forms[0][1].height_bits() if forms else 0)


def _between(left: fmpq | None, right: fmpq | None) -> fmpq:
    if left is None:
        return ZERO if right is None else right - 1
    return left + 1 if right is None else (left + right) / 2


# normal forms, sign patterns, cells


def _at_most_three_layers(a: Network, b: Network) -> bool:
    return max(len(a.layers), len(b.layers)) <= 3


def _same_normal_form(a: Network, b: Network, effort: Effort) -> bool:
    return _at_most_three_layers(a, b) and any(difference(a, b, effort, mirrors).is_zero() for mirrors in (False, True))


_JUDGES: dict[str, Callable[[Network, Network, Effort], bool]] = {
    "arrangement": _same_arrangement,
    "canonical data": _same_normal_form,
    "one variable": _same_on_line,
    "sign patterns": lambda a, b, effort: _at_most_three_layers(a, b) and same_by_sign_patterns(a, b, effort),
    "cells": lambda a, b, effort: same_on_cells(a, b, effort) is None,
}

KINDS = ("relabelling", *_JUDGES)
