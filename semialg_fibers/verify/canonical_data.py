"""A normal form of networks with at most two hidden layers, reached by exact rewriting only.

Main definitions
    NormalForm    f = Σ_z C_z relu(z) + Σ_P G_P + Σ_h D_h relu(h) + affine map, equal terms merged, zero terms dropped

Main results
    difference    the normal form of a − b; when it is zero, a = b on all of R^d, for any parameters
    value_at      the value of a network at a point, by a loop of its own

Every step is an identity between functions, so that no genericity is used. Hyperplanes h are primitive integer forms;
z = ℓ + Σ p_h relu(h) bends on two or more of them. What has one relu inside, relu(ℓ + p relu(u)), bends only on
half-hyperplanes that end in one axis {ℓ = u = 0}: the *pencil* P of all forms that vanish there. With
m(a, b) = min(a, b)⁺ and the forms a = ℓ, b = ℓ + p u of the pencil

    relu(ℓ + p relu(u)) = m(a, b) for p < 0,    a⁺ + b⁺ − m(a, b) for p > 0.

Each h of a pencil has a positive half. G_P is the function that jumps by K_h across that half, not at all across the
other half, and is zero beside one fixed direction; K determines it.

References: theory §4; beyond §1.1, §2.2, §2.3.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from math import lcm
from typing import TypeVar

from flint import fmpq

from semialg_fibers.geometry.domain import Form, negated
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, primitive
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.effort import Effort

Axis = tuple[Form, Form]
BentKey = tuple[tuple[int, ...], tuple[int, ...]]  # indices of the hyperplanes; their coefficients, then ℓ
Row = dict[tuple[int, int], fmpq]  # (hyperplane, side): the coefficient of relu(side · hyperplane)

_Key = TypeVar("_Key", bound=Hashable)


def value_at(net: Network, point: Sequence[fmpq], effort: Effort | None = None) -> Vector:
    """Give f(point): integer sums over one common denominator, layer after layer.

    >>> value_at(Network([([[1], [-1]], [0, 0]), ([[1, 1]], ["1/2"])]), (fmpq(-3),))
    (7/2,)
    """
    effort = effort or Effort(None)
    values = list(point)
    for number, layer in enumerate(net.layers):
        if number:
            values = [max(value, ZERO) for value in values]
        common = lcm(*(int(value.q) for value in values))
        integers = [int(value.p) * (common // int(value.q)) for value in values]
        used = [(j, value) for j, value in enumerate(integers) if value]
        # numbers grow from layer to layer: a deep network makes them as long as its file
        effort.spend(layer.outputs * (1 + len(used)), max(map(int.bit_length, (common, *integers))))
        rows = zip(layer.matrix.integer_rows(), layer.matrix.denominators(), layer.offset, strict=True)
        values = [fmpq(sum(row[j] * v for j, v in used), below * common) + constant for row, below, constant in rows]
    return tuple(values)


class NormalForm:
    """A sum under construction; `bent`, `pencils`, `lines` and `affine` hold its merged terms.

    `forms` lists the hyperplanes, each on the side on which it was met first; the other tables name them by index.
    """

    def __init__(self, inputs: int, outputs: int, effort: Effort | None = None, mirrors: bool = False) -> None:
        """Start with the zero function from R^inputs to R^outputs; what is added counts as effort.

        `mirrors`: keep the mirror image of a unit that is seen linearly, which changes nothing where it is off.
        """
        self.effort = effort or Effort(None)
        self.mirrors = mirrors
        self.inputs = inputs
        self.outputs = outputs
        self.forms: list[Form] = []
        self._indices: dict[tuple[int, ...], int] = {}
        self.bent: dict[BentKey, Vector] = {}
        self.pencils: dict[Axis, dict[int, Vector]] = {}
        self.met: dict[Axis, dict[int, None]] = {}  # every hyperplane that a pencil ever had, in order
        self.lines: dict[int, Vector] = {}
        self.affine = [[ZERO] * (inputs + 1) for _ in range(outputs)]

    def is_zero(self) -> bool:
        """Say whether no term is left, which proves that the function is zero."""
        return not (self.bent or self.pencils or self.lines or any(map(any, self.affine)))

    def hyperplane(self, form: Sequence[fmpq]) -> tuple[int, fmpq]:
        """Give (i, s) with form = s · forms[i], for a form that is not constant."""
        key = primitive(form)
        index = self._indices.get(key, self._indices.get(tuple(-value for value in key)))
        if index is None:
            index = self._indices[key] = len(self.forms)
            self.forms.append(tuple(map(fmpq, key)))
        known = self.forms[index]
        place = next(i for i, value in enumerate(known) if value)
        return index, form[place] / known[place]

    def add_network(self, net: Network, sign: int) -> None:
        """Add sign · f for a network with at most two hidden layers."""
        last = net.layers[-1]
        for weight, constant in zip(_units(self.outputs), last.offset, strict=True):
            self.add_affine(_times(sign * constant, weight), _constant(self.inputs, ONE))
        columns = [_times(fmpq(sign), column) for column in last.matrix.columns()]
        if len(net.layers) == 1:
            for weight, axis in zip(columns, _units(self.inputs), strict=True):
                self.add_affine(weight, (*axis, ZERO))
        elif len(net.layers) == 2:
            for weight, form in zip(columns, net.layers[0].forms, strict=True):
                self.add_relu(weight, form, {})
        else:
            units = [self._unit(form) for form in net.layers[0].forms]
            for weight, form in zip(columns, net.layers[1].forms, strict=True):
                self._add_row(weight, *_merged(form, units))

    def _unit(self, form: Form) -> tuple[tuple[int, int] | None, fmpq]:
        """Give relu(form) as (place, factor): factor · relu(side · hyperplane), or the constant factor."""
        if not any(form[:-1]):
            return None, max(form[-1], ZERO)
        index, scale = self.hyperplane(form)
        return (index, 1 if scale > 0 else -1), abs(scale)

    def _add_row(self, weight: Vector, beta: fmpq, row: Row) -> None:
        """Add weight · relu(β + Σ row · relu(±u)), by the signs of its coefficients."""
        self.effort.spend((len(row) + 1) * (self.inputs + self.outputs + 1))
        positive = [place for place, value in row.items() if value > 0]
        if beta <= 0 and not positive:
            return
        if beta >= 0 and len(positive) == len(row):
            self._add_sum(weight, beta, row)
            return
        if beta >= 0 and len(row) - len(positive) == 1 and (beta > 0 or len(positive) > 1):
            # relu(z) = z + relu(−z); a row that qualifies in both orientations has two entries, a pencil settles it
            self._add_sum(weight, beta, row)
            beta, row = -beta, {place: -value for place, value in row.items()}
            positive = [place for place, value in row.items() if value > 0]
        inner = list(_constant(self.inputs, beta))
        bends: dict[int, fmpq] = {}
        if beta <= 0 and len(positive) == 1:
            # The row is active only where its one positive unit is: that unit is seen linearly, its mirror image not.
            (index, side), value = positive[0], row[positive[0]]
            _add_to(inner, side * value, self.forms[index])
            gone = positive if self.mirrors else [(index, side), (index, -side)]
            row = {place: value for place, value in row.items() if place not in gone}
        for (index, side), value in row.items():
            bends[index] = bends.get(index, ZERO) + value
            if side < 0:  # relu(−u) = relu(u) − u
                _add_to(inner, -value, self.forms[index])
        self.add_relu(weight, inner, bends)

    def _add_sum(self, weight: Vector, beta: fmpq, row: Row) -> None:
        self.add_affine(_times(beta, weight), _constant(self.inputs, ONE))
        for (index, side), value in row.items():
            self.add_relu(_times(value, weight), _times(fmpq(side), self.forms[index]), {})

    def add_affine(self, weight: Vector, form: Sequence[fmpq]) -> None:
        """Add weight · form."""
        for output, value in zip(self.affine, weight, strict=True):
            _add_to(output, value, form)

    def add_relu(self, weight: Vector, inner: Sequence[fmpq], bends: dict[int, fmpq]) -> None:
        """Add weight · relu(inner + Σ bends[i] · relu(forms[i]))."""
        bends = {index: value for index, value in bends.items() if value}
        if not any(weight):
            return
        self.effort.spend((len(bends) + 1) * (self.inputs + self.outputs + 1))
        if not bends:
            self._add_line(weight, inner)
            return
        hyperplanes = [self.forms[index] for index in bends]
        if all(_parallel(hyperplanes[0], other) for other in (*hyperplanes[1:], inner)):
            self._add_function_of_one_form(weight, inner, bends)
        elif len(bends) == 1:
            self._add_pencil(weight, tuple(inner), *next(iter(bends.items())))
        else:
            self._add_bent(weight, inner, bends)

    def _add_line(self, weight: Vector, form: Sequence[fmpq]) -> None:
        if not any(form[:-1]):
            self.add_affine(_times(max(form[-1], ZERO), weight), _constant(self.inputs, ONE))
            return
        index, scale = self.hyperplane(form)
        _merge(self.lines, index, _times(abs(scale), weight))
        if scale < 0:  # relu(−s h) = s relu(h) − s h
            self.add_affine(weight, form)

    def _add_bent(self, weight: Vector, inner: Sequence[fmpq], bends: dict[int, fmpq]) -> None:
        indices = tuple(sorted(bends))
        numbers = primitive([*(bends[index] for index in indices), *inner])
        scale = bends[indices[0]] / numbers[0]
        mirrored = tuple(-value for value in numbers)
        if (indices, mirrored) in self.bent:  # relu(z) = z + relu(−z), so that z and −z become one term
            self.add_affine(weight, inner)
            for index in indices:
                _merge(self.lines, index, _times(bends[index], weight))
            numbers = mirrored
        _merge(self.bent, (indices, numbers), _times(scale, weight))

    def _add_function_of_one_form(self, weight: Vector, inner: Sequence[fmpq], bends: dict[int, fmpq]) -> None:
        """Add weight · φ(t), t = n·x, where everything inside φ is parallel to n: the sum of its jumps and left end."""
        self.effort.spend(2 * len(bends) * (2 * len(bends) + 3))  # φ at every knot
        first = self.forms[next(iter(bends))]
        place = next(i for i, value in enumerate(first) if value)
        parts = [(bends[i], self.forms[i][place] / first[place], self.forms[i][-1]) for i in bends]
        slope = inner[place] / first[place]

        def inside(t: fmpq) -> fmpq:
            return slope * t + inner[-1] + sum((p * max(c * t + g, ZERO) for p, c, g in parts), ZERO)

        knots = sorted({-constant / factor for _, factor, constant in parts})
        ends = [knots[0] - 1, *knots, knots[-1] + 1]
        for number, (low, high) in enumerate(pairwise(ends)):
            rise = (inside(high) - inside(low)) / (high - low)
            zero = low - inside(low) / rise if rise else low
            if (number == 0 or zero > low) and (number == len(ends) - 2 or zero < high):
                knots.append(zero)
        knots = sorted(set(knots))
        ends = [knots[0] - 1, *knots, knots[-1] + 1]
        values = [max(inside(t), ZERO) for t in ends]
        rises = [(v - u) / (t - s) for (s, t), (u, v) in zip(pairwise(ends), pairwise(values), strict=True)]
        self.add_affine(weight, (*_times(rises[0], first[:-1]), values[0] - rises[0] * ends[0]))
        for knot, (before, after) in zip(knots, pairwise(rises), strict=True):
            if after != before:
                self._add_line(_times(after - before, weight), (*first[:-1], -knot))

    def _add_pencil(self, weight: Vector, inner: Form, bend: int, factor: fmpq) -> None:
        """Add weight · relu(inner + factor · relu(u)), u = forms[bend] not parallel to inner."""
        a, b = inner, tuple(v + factor * w for v, w in zip(inner, self.forms[bend], strict=True))
        if factor > 0:
            self._add_line(weight, a)
            self._add_line(weight, b)
            weight = negated(weight)
        difference = tuple(v - w for v, w in zip(a, b, strict=True))
        axis, places = _echelon(a, b)
        halves = self.pencils.setdefault(axis, {})
        met = self.met.setdefault(axis, {})
        # In the plane of the two basis forms G is zero beside (1, 0): what m is there goes to the affine part.
        if _sign_beside(a, places) > 0 and _sign_beside(b, places) > 0:
            self.add_affine(weight, b if _sign_beside(difference, places) > 0 else a)
        # m(a, b) bends on {a = 0 < b}, on {b = 0 < a} by their own slopes, and on {a = b > 0} by −(a − b)⁺.
        for form, beyond, sign in ((difference, a, -1), (a, b, 1), (b, a, 1)):
            index, scale = self.hyperplane(form)
            met[index] = None
            jump = _times(sign * abs(scale), weight)
            if _side(self.forms[index], beyond, places) > 0:
                _merge(halves, index, jump)
            else:  # a jump on the negative half is one on the whole hyperplane less one on the positive half
                _merge(halves, index, negated(jump))
                _merge(self.lines, index, jump)
                if _sign_beside(self.forms[index], places) > 0:
                    self.add_affine(negated(jump), self.forms[index])
        if not halves:
            del self.pencils[axis]

    def released(self, axis: Axis, base: int) -> list[tuple[Vector, Form, dict[int, fmpq]]]:
        """Take the terms of a pencil out of the sum, as weights and (ℓ, p) of relu(ℓ + p relu(u)), u = forms[base].

        The base may be any hyperplane through the axis. What the taken terms hold beyond G_P stays in the sum.
        """
        places = _echelon(*axis)[1]
        u = self.forms[base]
        others = [index for index in self.pencils[axis] if index != base]
        reference = self.forms[others[0]]
        taken: list[tuple[Vector, Form, dict[int, fmpq]]] = []
        for index, jump in [(index, self.pencils[axis][index]) for index in others[1:]]:
            h = self.forms[index]
            # h = x · reference + y · u; the term is h / x where u > 0, and the reference beyond
            x = _determinant(h, u, places) / _determinant(reference, u, places)
            y = _determinant(reference, h, places) / _determinant(reference, u, places)
            weight = _times(abs(x) * _side(h, u, places), jump)
            taken.append((weight, reference, {base: y / x}))
        for weight, inner, bends in taken:
            self.add_relu(negated(weight), inner, bends)
        return taken


def difference(a: Network, b: Network, effort: Effort | None = None, mirrors: bool = False) -> NormalForm:
    """Give the normal form of a − b on R^d, for networks of at most three affine layers.

    Both treatments of `mirrors` are identities; two networks can need either for their difference to vanish.

    Implements: beyond §2.3 (i)-(iii).

    >>> a = Network([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    >>> b = Network([([[1]], [0])])
    >>> difference(a, b).is_zero()
    True
    """
    form = NormalForm(a.layers[0].inputs, a.layers[-1].outputs, effort, mirrors)
    form.add_network(a, 1)
    form.add_network(b, -1)
    return form


# small steps


def _merged(form: Form, units: Iterable[tuple[tuple[int, int] | None, fmpq]]) -> tuple[fmpq, Row]:
    """Give β and the coefficients of a second-layer row, units on one side of one hyperplane added up."""
    beta = form[-1]
    row: Row = {}
    for value, (place, factor) in zip(form[:-1], units, strict=True):
        if value and place is None:
            beta += value * factor
        elif value and place is not None:
            row[place] = row.get(place, ZERO) + value * factor
    return beta, {place: value for place, value in row.items() if value}


def _merge(table: dict[_Key, Vector], key: _Key, weight: Vector) -> None:
    total = tuple(u + v for u, v in zip(table[key], weight, strict=True)) if key in table else weight
    if any(total):
        table[key] = total
    else:
        table.pop(key, None)


def _times(factor: fmpq, values: Sequence[fmpq]) -> Vector:
    return tuple(factor * value for value in values)


def _add_to(total: list[fmpq], factor: fmpq, values: Sequence[fmpq]) -> None:
    if factor:
        for i, value in enumerate(values):
            if value:
                total[i] += factor * value


def _constant(inputs: int, value: fmpq) -> Form:
    return (*([ZERO] * inputs), value)


def _units(size: int) -> list[Vector]:
    return [tuple(fmpq(int(i == j)) for j in range(size)) for i in range(size)]


def _parallel(form: Form, other: Sequence[fmpq]) -> bool:
    """Say whether the linear part of `other` is a multiple of that of `form`, which is not constant."""
    place = next(i for i, value in enumerate(form) if value)
    ratio = other[place] / form[place]
    return all(w == ratio * v for v, w in zip(form[:-1], other[:-1], strict=True))


# the plane of a pencil: coordinates of its forms are their entries at the two pivots of its reduced basis


def _echelon(a: Form, b: Form) -> tuple[Axis, tuple[int, int]]:
    """Give the reduced row echelon form of two forms that are not parallel, and its pivots."""
    first = next(i for i, pair in enumerate(zip(a, b, strict=True)) if any(pair))
    if not a[first]:
        a, b = b, a
    a = _times(1 / a[first], a)
    b = tuple(v - b[first] * w for v, w in zip(b, a, strict=True))
    second = next(i for i, value in enumerate(b) if value)
    b = _times(1 / b[second], b)
    a = tuple(v - a[second] * w for v, w in zip(a, b, strict=True))
    return (a, b), (first, second)


def _determinant(form: Form, other: Form, places: tuple[int, int]) -> fmpq:
    i, j = places
    return form[i] * other[j] - form[j] * other[i]


def _sign_beside(form: Form, places: tuple[int, int]) -> int:
    """Give the sign of a form of the pencil at (1, −ε) for all small ε > 0."""
    value = form[places[0]] or -form[places[1]]
    return 1 if value > 0 else -1


def _side(form: Form, other: Form, places: tuple[int, int]) -> int:
    """Give the sign of `other` on the positive half of {form = 0}."""
    # the half points to (−β, α) for the form (α, β)
    return 1 if _determinant(form, other, places) > 0 else -1
