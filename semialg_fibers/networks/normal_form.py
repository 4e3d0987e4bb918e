"""A function with at most two hidden layers on R^d, written as Σ_z C_z relu(z) + Σ_u D_u relu(u) + affine.

Main definitions
    Inner         z = Σ_u c_u relu(u) + an affine form: what a second-layer neuron is the relu of
    NormalForm    the three sums; equal normal forms are equal functions, with no genericity

Main results
    normal_form   by exact rewriting: dead neurons dropped, linear ones absorbed, a hidden hyperplane seen linearly,
                  relu(−z) = relu(z) − z, equal terms merged, cancelling ones dropped

The u are unoriented hyperplanes: primitive integer forms whose first nonzero coefficient is positive, constant last.

References: theory §4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, lcm
from typing import TypeVar

from flint import fmpq

from semialg_fibers.errors import UnsupportedError
from semialg_fibers.geometry.domain import Form, Space
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector
from semialg_fibers.networks.arrangement import oriented
from semialg_fibers.networks.layer import Layer, Network

Plane = tuple[int, ...]
T = TypeVar("T")
AMBIGUOUS_LIMIT = 6


@dataclass(frozen=True)
class Inner:
    """z = Σ c_u relu(u) + affine, scaled to primitive integers, its first coefficient positive.

    `bends` are the pairs (u, c_u), sorted, c_u ≠ 0, at least one; `affine` is an integer form, constant last.
    """

    bends: tuple[tuple[Plane, int], ...]
    affine: Plane


@dataclass(frozen=True)
class NormalForm:
    """f = Σ outer[z] relu(z) + Σ direct[u] relu(u) + affine, no zero coefficient; affine[a] is the form of output a."""

    outer: Mapping[Inner, Vector]
    direct: Mapping[Plane, Vector]
    affine: tuple[Form, ...]

    def minus(self, other: NormalForm) -> NormalForm:
        """Give the normal form of the difference."""
        affine = tuple(
            tuple(x - y for x, y in zip(f, g, strict=True)) for f, g in zip(self.affine, other.affine, strict=True)
        )
        return NormalForm(_difference(self.outer, other.outer), _difference(self.direct, other.direct), affine)

    @property
    def is_zero(self) -> bool:
        """Whether nothing is left; then the function is zero. (The converse needs genericity.)"""
        return not self.outer and not self.direct and not any(any(form) for form in self.affine)

    @property
    def planes(self) -> tuple[Plane, ...]:
        """The hyperplanes u that occur inside an outer relu, sorted."""
        return tuple(sorted({u for z in self.outer for u, _ in z.bends}))


def _difference(left: Mapping[T, Vector], right: Mapping[T, Vector]) -> dict[T, Vector]:
    result = dict(left)
    for key, value in right.items():
        old = result.pop(key, (ZERO,) * len(value))
        new = tuple(x - y for x, y in zip(old, value, strict=True))
        if any(new):
            result[key] = new
    return result


class _Builder:
    """Terms being collected; only coefficients that are not zero are kept at the end."""

    def __init__(self, inputs: int, outputs: int) -> None:
        self.outputs = outputs
        self.outer: dict[Inner, list[fmpq]] = {}
        self.direct: dict[Plane, list[fmpq]] = {}
        self.affine = [[ZERO] * (inputs + 1) for _ in range(outputs)]

    def add_affine(self, column: Sequence[fmpq], form: Sequence[fmpq]) -> None:
        for a, weight in enumerate(column):
            if weight:
                self.affine[a] = [x + weight * y for x, y in zip(self.affine[a], form, strict=True)]

    def add_direct(self, column: Sequence[fmpq], form: Sequence[fmpq]) -> None:
        """Add C relu(form): |s| C relu(u), and s C u when s < 0; a constant form has no hyperplane."""
        if not any(form[:-1]):
            if form[-1] > 0:
                self.add_affine(column, form)
            return
        u, s = oriented(tuple(form))
        self._add(self.direct, u, abs(s), column)
        if s < 0:
            self.add_affine(column, form)

    def add_outer(self, column: Sequence[fmpq], bends: Mapping[Plane, fmpq], form: Sequence[fmpq]) -> None:
        """Add C relu(Σ c_u relu(u) + form)."""
        kept = sorted((u, c) for u, c in bends.items() if c)
        if not kept:
            self.add_direct(column, form)
            return
        z, s = _primitive_inner(kept, form)
        self._add(self.outer, z, abs(s), column)
        if s < 0:  # relu(s z) = |s| relu(z) + s z
            self.add_affine(column, form)
            for u, c in kept:
                self._add(self.direct, u, c, column)

    def _add(self, terms: dict[T, list[fmpq]], key: T, scale: fmpq, column: Sequence[fmpq]) -> None:
        total = terms.setdefault(key, [ZERO] * self.outputs)
        for a, weight in enumerate(column):
            if weight:
                total[a] += scale * weight

    def done(self) -> NormalForm:
        return NormalForm(
            {z: tuple(c) for z, c in self.outer.items() if any(c)},
            {u: tuple(c) for u, c in self.direct.items() if any(c)},
            tuple(tuple(form) for form in self.affine),
        )


def _primitive_inner(bends: Sequence[tuple[Plane, fmpq]], form: Sequence[fmpq]) -> tuple[Inner, fmpq]:
    """Give (z, s) with Σ c_u relu(u) + form = s z."""
    values = [c for _, c in bends] + list(form)
    common = lcm(*(int(value.q) for value in values))
    integers = [int(value.p) * (common // int(value.q)) for value in values]
    divisor = gcd(*integers) * (1 if integers[0] > 0 else -1)
    integers = [value // divisor for value in integers]
    planes = [u for u, _ in bends]
    pairs = tuple(zip(planes, integers[: len(planes)], strict=True))
    return Inner(pairs, tuple(integers[len(planes) :])), fmpq(divisor, common)


def normal_form(net: Network) -> NormalForm:
    """Give the normal form of a network with at most three affine layers on R^d.

    Implements: theory §4.

    Raises:
        UnsupportedError: for deeper networks and other domains.

    >>> net = Network([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])  # relu(x) − relu(−x) = x
    >>> normal_form(net)
    NormalForm(outer={}, direct={}, affine=((1, 0),))
    """
    return next(normal_forms(net))


def normal_forms(net: Network) -> Iterator[NormalForm]:
    """Yield normal forms for every choice at ambiguous rows (w, −w' | 0), which see either of two units linearly.

    All choices up to `AMBIGUOUS_LIMIT` such rows; beyond, the two that treat all rows alike.

    Raises:
        UnsupportedError: as `normal_form`.
    """
    if len(net.layers) > 3 or not isinstance(net.domain, Space):
        raise UnsupportedError("a normal form is known for at most three affine layers on R^d")
    count = _ambiguous_rows(net) if len(net.layers) == 3 else 0
    if count <= AMBIGUOUS_LIMIT:
        choices: Iterator[tuple[int, ...]] = product((0, 1), repeat=count)
    else:
        choices = iter([(0,) * count, (1,) * count])
    for choice in choices:
        yield _build(net, choice)


def _build(net: Network, choice: Sequence[int]) -> NormalForm:
    builder = _Builder(net.layers[0].inputs, net.layers[-1].outputs)
    last = net.layers[-1]
    if len(net.layers) == 1:
        for a, form in enumerate(last.forms):
            builder.add_affine([ONE if a == b else ZERO for b in range(last.outputs)], form)
        return builder.done()
    zero = (ZERO,) * net.layers[0].inputs
    for a, value in enumerate(last.offset):
        builder.add_affine([ONE if a == b else ZERO for b in range(last.outputs)], (*zero, value))
    if len(net.layers) == 2:
        for column, form in zip(last.matrix.columns(), net.layers[0].forms, strict=True):
            builder.add_direct(column, form)
        return builder.done()
    choices = iter(choice)
    for column, row in zip(last.matrix.columns(), _second_rows(net.layers[0], net.layers[1]), strict=True):
        pick = next(choices) if row.is_ambiguous else 0
        if any(column):
            _add_row(builder, column, row, pick)
    return builder.done()


Half = tuple[Plane, int]


@dataclass(frozen=True)
class _Row:
    """A second-layer preactivation Σ c · relu(σ u) + constant over half-spaces (u, σ), each relu(σ u) ≥ 0."""

    halves: dict[Half, fmpq]
    constant: fmpq

    def sees_linearly(self) -> Half | None:
        """Give the half-space whose relu is the only positive term: where the row is positive, that relu is linear."""
        positive = [half for half, c in self.halves.items() if c > 0]
        return positive[0] if len(positive) == 1 and self.constant <= 0 else None

    @property
    def negated(self) -> _Row:
        return _Row({half: -c for half, c in self.halves.items()}, -self.constant)

    @property
    def is_ambiguous(self) -> bool:
        return self.sees_linearly() is not None and self.negated.sees_linearly() is not None


def _second_rows(first: Layer, second: Layer) -> list[_Row]:
    """Write each second-layer row over the half-spaces of the first layer; units with weight zero are constants."""
    places: list[tuple[Half, fmpq] | None] = []
    for form in first.forms:
        if any(form[:-1]):
            u, s = oriented(form)
            places.append(((u, 1 if s > 0 else -1), abs(s)))
        else:
            places.append(None)
    rows = []
    for j, weights in enumerate(second.matrix.rows()):
        halves: dict[Half, fmpq] = {}
        constant = second.offset[j]
        for k, weight in enumerate(weights):
            place = places[k]
            if place is None:
                constant += weight * max(first.forms[k][-1], ZERO)
            elif weight:
                half, scale = place
                halves[half] = halves.get(half, ZERO) + weight * scale
        rows.append(_Row({half: c for half, c in halves.items() if c}, constant))
    return rows


def _ambiguous_rows(net: Network) -> int:
    return sum(row.is_ambiguous for row in _second_rows(net.layers[0], net.layers[1]))


def _add_row(builder: _Builder, column: Sequence[fmpq], row: _Row, pick: int) -> None:
    """Add C relu(row)."""
    values = [*row.halves.values(), row.constant]
    if all(value <= 0 for value in values):
        return
    if all(value >= 0 for value in values):
        _add_linear(builder, column, row)
        return
    if pick == 0 and row.sees_linearly() is not None:
        _add_hiding(builder, column, row)
    elif row.negated.sees_linearly() is not None:
        _add_linear(builder, column, row)  # relu(z) = z + relu(−z)
        _add_hiding(builder, column, row.negated)
    else:
        bends, form = _expanded(row, None, len(builder.affine[0]))
        builder.add_outer(column, bends, form)


def _add_linear(builder: _Builder, column: Sequence[fmpq], row: _Row) -> None:
    bends, form = _expanded(row, None, len(builder.affine[0]))
    builder.add_affine(column, form)
    for u, c in bends.items():
        builder.add_direct([c * weight for weight in column], [fmpq(value) for value in u])


def _add_hiding(builder: _Builder, column: Sequence[fmpq], row: _Row) -> None:
    bends, form = _expanded(row, row.sees_linearly(), len(builder.affine[0]))
    builder.add_outer(column, bends, form)


def _expanded(row: _Row, linear: Half | None, size: int) -> tuple[dict[Plane, fmpq], list[fmpq]]:
    """Write the row over relu(u) and affine forms: relu(−u) = relu(u) − u, and σu for relu(σu) at `linear`."""
    bends: dict[Plane, fmpq] = {}
    form = [ZERO] * (size - 1) + [row.constant]
    for half, c in row.halves.items():
        u, sign = half
        straight = sign * c if half == linear else (-c if sign < 0 else ZERO)
        if straight:
            form = [x + straight * y for x, y in zip(form, u, strict=True)]
        if half != linear:
            bends[u] = bends.get(u, ZERO) + c
    return bends, form
