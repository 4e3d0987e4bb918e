"""The separable zero test: equality of two networks over all 2^K sign patterns of K hyperplanes at once.

Main results
    same_by_sign_patterns    proves a = b, or refutes it, when the hyperplanes inside a relu have independent normals
    tensor_sum_vanishes      Σ_t w_t ⊗ e_t1 ⊗ ... ⊗ e_tK = 0, by elimination from left to right

Let f = Σ_j C_j relu(z_j) + z_0 with z_j = b_j + ℓ_j·y + Σ_k (α_jk u_k⁺ − β_jk (−u_k)⁺), (u, y) coordinates of R^d.
In the cell D ∈ {+, −}^K every z_j is affine, and two of them have one hyperplane there iff finitely many equations
hold, each about one D_k: the indicator of this is a product over k, and the sum of the jumps of f on a hyperplane, as a
function of D, is a short sum of products. When all these vanish f is affine on every cell: 1 + K + d values decide.

References: beyond §2.3, Theorem 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from flint import fmpq

from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, dot, primitive
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.canonical_data import Axis, NormalForm, difference, value_at
from semialg_fibers.verify.effort import Effort

CHOICE = 100  # multiplications that one choice of bases counts at least

Pair = tuple[fmpq, fmpq]  # the coefficient of u_k where u_k > 0, and where u_k < 0
Flags = tuple[int, int]  # whether a condition holds for D_k = +, and for D_k = −
Tensor = tuple[Sequence[int], list[Flags]]


class _Row(NamedTuple):
    """C relu(z), z = constant + rest·y + Σ pairs · u."""

    weight: Vector
    constant: fmpq
    rest: Vector
    pairs: tuple[Pair, ...]

    def normalised(self, scale: fmpq) -> _Row:
        """Give |scale| C relu(z / |scale|) with z divided by scale itself: the same hyperplane, the same jump."""
        return _Row(
            tuple(abs(scale) * value for value in self.weight),
            self.constant / scale,
            tuple(value / scale for value in self.rest),
            tuple((above / scale, below / scale) for above, below in self.pairs),
        )


def same_by_sign_patterns(a: Network, b: Network, effort: Effort | None = None) -> bool:
    """Say whether a = b on R^d is proved; False also when the normals are dependent, so that the test does not apply.

    Both networks have at most three affine layers.

    Implements: beyond §2.3.

    Raises:
        BudgetExceededError: when the choice of bases or the comparisons take more than the given effort.

    >>> a = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, -2]], [-1, -1]), ([[1, -1]], [0])])
    >>> b = Network([([[1, -1], [1, -2]], [1, -1]), ([[1, -1], [-1, -1]], [-2, -1]), ([[1, 5]], [0])])
    >>> same_by_sign_patterns(a, b)
    True
    """
    effort = effort or Effort(None)
    form = difference(a, b, effort)
    bases = _bases(form, effort)
    if bases is None:
        return False
    inside, base_of = bases
    terms = [term for axis in list(base_of) for term in form.released(axis, base_of[axis])]
    assert not form.pencils  # the two jumps that a release leaves cannot cancel each other, hence are zero
    for (indices, numbers), weight in form.bent.items():
        values = [fmpq(value) for value in numbers]
        terms.append((weight, tuple(values[len(indices) :]), dict(zip(indices, values, strict=False))))
    terms += [(weight, form.forms[index], {}) for index, weight in form.lines.items() if index not in inside]
    coordinates = _Coordinates(form, inside)
    rows = [coordinates.row(*term) for term in terms]
    return all(_vanishes(group, effort) for group in _groups(rows, len(inside))) and all(
        value_at(a, point, effort) == value_at(b, point, effort) for point in coordinates.deciding_points()
    )


def _bases(form: NormalForm, effort: Effort) -> tuple[list[int], dict[Axis, int]] | None:
    """Give the hyperplanes inside a relu, normals independent, and a base for each pencil among them.

    Any hyperplane of a pencil may be its base; those that the rows themselves have are tried. None when none fits.
    """
    forced = sorted({index for indices, _ in form.bent for index in indices})

    def choose(inside: list[int], axes: list[Axis]) -> list[int] | None:
        effort.spend(CHOICE + (len(inside) + 1) * form.inputs + len(axes))
        if not _independent(form, inside):
            return None
        left = [axis for axis in axes if not form.met[axis].keys() & set(inside)]
        if not left:
            return inside
        for index in form.met[left[0]]:
            found = choose([*inside, index], left[1:])
            if found is not None:
                return found
        return None

    inside = choose(forced, list(form.pencils))
    if inside is None:
        return None
    return inside, {axis: next(i for i in inside if i in form.met[axis]) for axis in form.pencils}


def _independent(form: NormalForm, indices: list[int]) -> bool:
    if len(indices) > form.inputs:
        return False
    return Matrix([form.forms[i][:-1] for i in indices], columns=form.inputs).rank() == len(indices)


class _Coordinates:
    """The coordinates (u, y) of R^d: the forms inside a relu, and inputs that complete them."""

    def __init__(self, form: NormalForm, inside: list[int]) -> None:
        self.places = {index: k for k, index in enumerate(inside)}
        self.offsets = [form.forms[index][-1] for index in inside]
        size = form.inputs
        normals = Matrix([form.forms[index][:-1] for index in inside], columns=size)
        pivots = set(normals.independent_columns())
        free = [j for j in range(size) if j not in pivots]
        axes = Matrix([[int(i == j) for i in range(size)] for j in free], columns=size)
        self.back = normals.stacked(axes).inverse()

    def row(self, weight: Vector, inner: Vector, bends: dict[int, fmpq]) -> _Row:
        """Write weight · relu(inner + Σ bends · relu(u)) in the coordinates."""
        values = [dot(inner[:-1], column) for column in self.back.columns()]
        count = len(self.offsets)
        extra = [ZERO] * count
        for index, value in bends.items():
            extra[self.places[index]] = value
        pairs = tuple((value + more, value) for value, more in zip(values[:count], extra, strict=True))
        return _Row(weight, inner[-1] - dot(values[:count], self.offsets), tuple(values[count:]), pairs)

    def deciding_points(self) -> Iterator[Vector]:
        """Yield u = y = 0, each u_k = ±1 and each y_l = 1, the others zero: a simplex in each closed cell."""
        count, size = len(self.offsets), self.back.shape[0]
        steps = [(0, ZERO)] + [(k, sign * ONE) for k in range(size) for sign in ((1, -1) if k < count else (1,))]
        for place, step in steps:
            target = [-value for value in self.offsets] + [ZERO] * (size - count)
            if size:
                target[place] += step
            yield self.back.times(target)


# which hyperplanes coincide in which cells


class _Group(NamedTuple):
    """Rows that have one hyperplane in the cells where their pairs agree, and what restricts the cells.

    `half` = (κ, side): only cells with this sign at κ. `guard` = ±1: cells where guard · D_k · entry ≥ 0 for all k are
    left out, because the hyperplane misses them; 0: it misses none.
    """

    rows: list[_Row]
    half: tuple[int, int] | None
    guard: int


def _groups(rows: list[_Row], count: int) -> Iterator[_Group]:
    """Yield the groups whose jumps must cancel, scaled by the constant, else the rest, else each entry."""
    affine: dict[tuple[fmpq, Vector], list[_Row]] = {}
    linear = []
    for row in rows:
        scale = row.constant or next((value for value in row.rest if value), ZERO)
        if scale:
            made = row.normalised(scale)
            affine.setdefault((made.constant, made.rest), []).append(made)
        else:
            linear.append(row)
    for (_, rest), members in affine.items():
        yield _Group(members, None, 0 if any(rest) else 1)
    for place, side in product(range(count), (0, 1)):
        members = [row.normalised(row.pairs[place][side]) for row in linear if row.pairs[place][side]]
        yield _Group(members, (place, side), -1 if side else 1)


def _vanishes(group: _Group, effort: Effort) -> bool:
    """Say whether the jumps on the hyperplane of each row add up to zero in every cell that it meets."""
    for pairs in {row.pairs for row in group.rows}:
        terms: list[Tensor] = []
        effort.spend(len(group.rows) * (len(pairs) + 1))
        weights = _integers([row.weight for row in group.rows])
        signs = [(1, 1)] * len(pairs)
        if group.half is not None:
            signs[group.half[0]] = (int(group.half[1] == 0), int(group.half[1] == 1))
        guard = [(int(group.guard * above >= 0), int(group.guard * below <= 0)) for above, below in pairs]
        for weight, row in zip(weights, group.rows, strict=True):
            flags = []
            for mine, other, (above, below) in zip(pairs, row.pairs, signs, strict=True):
                flags.append((int(above and mine[0] == other[0]), int(below and mine[1] == other[1])))
                if not any(flags[-1]):
                    break
            else:
                terms.append((weight, flags))
                if group.guard:
                    missed = [(u & s, v & t) for (u, v), (s, t) in zip(flags, guard, strict=True)]
                    terms.append(([-value for value in weight], missed))
        if not tensor_sum_vanishes(terms, effort):
            return False
    return True


def _integers(vectors: list[Vector]) -> list[tuple[int, ...]]:
    """Give one positive multiple of all vectors with integer entries."""
    size = len(vectors[0]) if vectors else 0
    numbers = primitive([value for each in vectors for value in each])
    return [numbers[i * size : (i + 1) * size] for i in range(len(vectors))]


def tensor_sum_vanishes(terms: Sequence[Tensor], effort: Effort | None = None) -> bool:
    """Say whether Σ_t w_t ⊗ e_t1 ⊗ ... ⊗ e_tK = 0 for integer vectors w_t and pairs e_tk.

    The left parts w_t ⊗ e_t1 ⊗ ... ⊗ e_tk span a space of dimension at most the number of terms: after each factor only
    entries are kept that are coordinates on that space, and terms with one right part are added.

    >>> one, plus, minus = (1, 1), (1, 0), (0, 1)
    >>> tensor_sum_vanishes([([1], [one, plus]), ([-1], [plus, plus]), ([-1], [minus, plus])])
    True
    >>> tensor_sum_vanishes([([1], [one, plus]), ([-1], [plus, plus]), ([-1], [minus, one])])
    False
    """
    effort = effort or Effort(None)
    sums = _summed((tuple(factors), weight) for weight, factors in terms)
    for _ in range(len(terms[0][1]) if terms else 0):
        rights, doubled = [], []
        for ((above, below), *rest), left in sums.items():
            rights.append(tuple(rest))
            doubled.append((*(value * above for value in left), *(value * below for value in left)))
        kept = _pivot_columns(doubled, effort)
        sums = _summed((right, [left[j] for j in kept]) for right, left in zip(rights, doubled, strict=True))
    return not sums


def _summed(terms: Iterable[tuple[tuple[Flags, ...], Sequence[int]]]) -> dict[tuple[Flags, ...], tuple[int, ...]]:
    """Add up the left parts of equal right parts, and drop those that are zero."""
    sums: dict[tuple[Flags, ...], tuple[int, ...]] = {}
    for right, left in terms:
        sums[right] = tuple(map(sum, zip(sums[right], left, strict=True))) if right in sums else tuple(left)
    return {right: left for right, left in sums.items() if any(left)}


def _pivot_columns(rows: Sequence[tuple[int, ...]], effort: Effort) -> list[int]:
    """Give columns on which no nonzero combination of the rows is zero: Gaussian elimination without fractions."""
    pivots: dict[int, list[int]] = {}
    for row in dict.fromkeys(rows):
        rest = list(row)
        for column, pivot in pivots.items():
            if rest[column]:
                up, down = pivot[column], rest[column]
                effort.spend(2 * len(rest), max(up.bit_length(), down.bit_length()))
                rest = [up * u - down * v for u, v in zip(rest, pivot, strict=True)]
        if any(rest):
            pivots[next(j for j, value in enumerate(rest) if value)] = list(primitive([fmpq(value) for value in rest]))
    return list(pivots)
