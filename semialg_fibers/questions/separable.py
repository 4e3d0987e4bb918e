"""Is Σ_j C_j relu(z_j) + Σ_u D_u relu(u) + affine zero on R^d? Polynomial where the hyperplanes inside are independent.

Main definitions
    Separable      a difference of normal forms in coordinates (u_1, ..., u_K, y)
    Kink           a sign pattern of the u_k and a term whose hyperplane is a kink of the function there

Main results
    zero_test      None (zero everywhere), or a rational point at which the function is not zero

On each sign pattern the z_j are affine, and which of them share a hyperplane is a product of conditions on the single
signs. So the jump across one hyperplane, as a function of the pattern, is a sum of rank-one tensors on {+, −}^K. Such
a sum vanishes iff its squared norm does, and that is Σ_{s,t} ⟨C_s, C_t⟩ ∏_k ⟨e_sk, e_tk⟩. A pattern where it does not
vanish is found by fixing one sign after another.

References: theory §4; beyond §2.3 (the separable zero test, and its self-reduction to a point).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from flint import fmpq

from semialg_fibers.errors import UnsupportedError
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, dot
from semialg_fibers.networks.normal_form import NormalForm

Value = Callable[[Vector], Vector]


@dataclass(frozen=True)
class _Term:
    """C relu(z): z has coefficient plus[k] at u_k where u_k > 0, minus[k] where u_k < 0; `rest` at y; `constant`."""

    column: Vector
    plus: Vector
    minus: Vector
    rest: Vector
    constant: fmpq

    def at(self, pattern: Sequence[int]) -> Vector:
        """Give the coefficients at v_k = |u_k| on a sign pattern (entries 1, −1)."""
        return tuple(a if sign > 0 else -b for sign, a, b in zip(pattern, self.plus, self.minus, strict=True))


# sums of rank-one tensors: (C, mask), bits 2k and 2k + 1 of the mask say whether the factor k is 1 at + and at −


@dataclass
class _TensorSum:
    """Σ C ⊗ indicator(mask) on {+, −}^K."""

    size: int
    terms: dict[int, list[fmpq]]

    @classmethod
    def of(cls, size: int, terms: Iterator[tuple[Vector, int]]) -> _TensorSum:
        merged: dict[int, list[fmpq]] = {}
        low = _low(size)
        for column, mask in terms:
            if (mask | mask >> 1) & low == low:  # a factor that vanishes at both signs is zero
                old = merged.get(mask)
                merged[mask] = list(column) if old is None else [a + b for a, b in zip(old, column, strict=True)]
        return cls(size, {mask: column for mask, column in merged.items() if any(column)})

    def is_zero(self) -> bool:
        """Decide by the squared norm, which is positive definite over the rationals."""
        low, total = _low(self.size), ZERO
        items = list(self.terms.items())
        for i, (mask, column) in enumerate(items):
            for other, right in items[: i + 1]:
                both = mask & other
                if (both | both >> 1) & low == low:
                    product = dot(column, right) * 2 ** (both & both >> 1 & low).bit_count()
                    total += product if mask == other else 2 * product
        return total == 0

    def restricted(self, place: int, sign: int) -> _TensorSum:
        """Fix the sign at one place."""
        keep, drop = (0, 1) if sign > 0 else (1, 0)
        inside = ((column, mask) for mask, column in self.terms.items() if mask >> (2 * place + keep) & 1)
        return _TensorSum.of(self.size, ((tuple(c), mask & ~(1 << (2 * place + drop))) for c, mask in inside))

    def pattern(self) -> tuple[int, ...]:
        """Give a pattern at which the sum, which is not zero, does not vanish."""
        current, signs = self, []
        for place in range(self.size):
            above = current.restricted(place, 1)
            sign = -1 if above.is_zero() else 1
            current = above if sign > 0 else current.restricted(place, -1)
            signs.append(sign)
        return tuple(signs)


def _low(size: int) -> int:
    return int(4**size - 1) // 3


def _mask(pairs: Iterator[tuple[bool, bool]]) -> int:
    mask = 0
    for place, (plus, minus) in enumerate(pairs):
        mask |= (int(plus) | int(minus) << 1) << (2 * place)
    return mask


@dataclass(frozen=True)
class Separable:
    """A difference of normal forms in coordinates u_1, ..., u_K, y: x = `origin` + `back` (u, y)."""

    terms: tuple[_Term, ...]
    size: int
    back: Matrix
    origin: Vector

    @classmethod
    def of(cls, form: NormalForm, inputs: int) -> Separable:
        """Choose coordinates.

        Raises:
            UnsupportedError: when the hyperplanes inside have dependent normals.
        """
        planes = form.planes
        normals = Matrix.from_integers([u[:-1] for u in planes], columns=inputs)
        if normals.rank() < len(planes):
            raise UnsupportedError(
                f"{len(planes)} first-layer hyperplanes remain whose normals are linearly dependent: the separable "
                "zero test does not apply"
            )
        pivots = set(normals.independent_columns())
        axes = [tuple(int(i == j) for j in range(inputs)) for i in range(inputs) if i not in pivots]
        basis = normals.stacked(Matrix.from_integers(axes, columns=inputs))
        back = basis.inverse()
        shift = tuple(fmpq(u[-1]) for u in planes) + (ZERO,) * len(axes)
        origin = tuple(-value for value in back.times(shift))  # where u = 0 and y = 0
        found = cls((), len(planes), back, origin)
        place = {u: k for k, u in enumerate(planes)}
        terms = []
        for z, column in form.outer.items():
            bends = [ZERO] * len(planes)
            for u, c in z.bends:
                bends[place[u]] = fmpq(c)
            terms.append(found._term(column, bends, [fmpq(value) for value in z.affine]))
        for u, column in form.direct.items():
            if u not in place:  # a kink along u_k itself lies between the cells, not inside one
                terms.append(found._term(column, [ZERO] * len(planes), [fmpq(value) for value in u]))
        return cls(tuple(terms), len(planes), back, origin)

    def _term(self, column: Vector, bends: Sequence[fmpq], form: Sequence[fmpq]) -> _Term:
        coordinates = self.back.T.times(form[:-1])
        constant = form[-1] + dot(form[:-1], self.origin)
        straight, rest = coordinates[: self.size], coordinates[self.size :]
        return _Term(column, tuple(a + b for a, b in zip(straight, bends, strict=True)), straight, rest, constant)

    def point(self, coordinates: Sequence[fmpq]) -> Vector:
        """Give x at the coordinates (u, y)."""
        return tuple(a + b for a, b in zip(self.origin, self.back.times(coordinates), strict=True))

    # kinks inside a cell

    def kink(self) -> tuple[int, tuple[int, ...]] | None:
        """Give (term, sign pattern): that term's hyperplane is a kink in the pattern's interior; None if none is.

        Implements: theory §4.
        """
        for index, term in enumerate(self.terms):
            for jumps in self._jumps(term):
                if not jumps.is_zero():
                    return index, jumps.pattern()
        return None

    def _jumps(self, own: _Term) -> Iterator[_TensorSum]:
        """Yield the jump across the term's hyperplane as tensor sums, zero where the hyperplane misses the cell."""
        if any(own.rest):
            pivot = next(i for i, value in enumerate(own.rest) if value)
            yield self._scaled_jumps(own, lambda term: term.rest[pivot], None)
        elif own.constant:
            yield self._scaled_jumps(
                own, lambda term: term.constant, self._one_sided(own, own.constant, range(self.size))
            )
        else:
            yield from self._homogeneous_jumps(own)

    def _scaled_jumps(self, own: _Term, scale: Callable[[_Term], fmpq], missed: int | None) -> _TensorSum:
        """Terms with z' = s z on the pattern, s = scale(z') / scale(z), minus the patterns in the mask `missed`."""

        def terms() -> Iterator[tuple[Vector, int]]:
            for term in self.terms:
                s = scale(term) / scale(own)
                if s and term.constant == s * own.constant and _multiple(term.rest, own.rest, s):
                    mask = self._same(term, own, s, range(self.size))
                    column = tuple(abs(s) * c for c in term.column)
                    yield column, mask
                    if missed is not None:
                        yield tuple(-c for c in column), mask & missed

        return _TensorSum.of(self.size, terms())

    def _same(self, term: _Term, own: _Term, s: fmpq, places: Sequence[int]) -> int:
        return _mask(
            (term.plus[k] == s * own.plus[k], term.minus[k] == s * own.minus[k]) if k in places else (True, True)
            for k in range(self.size)
        )

    def _one_sided(self, own: _Term, sign: fmpq, places: Sequence[int]) -> int:
        """The patterns on which all coefficients at |u_k| have the sign given: the hyperplane misses these cells."""
        return _mask(
            (own.plus[k] * sign >= 0, own.minus[k] * sign <= 0) if k in places else (True, True)
            for k in range(self.size)
        )

    def _homogeneous_jumps(self, own: _Term) -> Iterator[_TensorSum]:
        """No constant, nothing at y: normalise by the first coordinate k that does not vanish, and its sign."""
        zeros = _mask((a == 0, b == 0) for a, b in zip(own.plus, own.minus, strict=True))
        for k in range(self.size):
            for bit, pick in ((1, "plus"), (2, "minus")):
                base = getattr(own, pick)[k]
                if not base:
                    continue
                later = range(k + 1, self.size)
                first = _mask(
                    (bool(zeros >> 2 * i & 1), bool(zeros >> 2 * i & 2))
                    if i < k
                    else ((bit == 1, bit == 2) if i == k else (True, True))
                    for i in range(self.size)
                )
                sign = base if bit == 1 else -base  # of the coefficient at v_k
                missed = first & self._one_sided(own, sign, later)
                yield _TensorSum.of(self.size, self._homogeneous_terms(own, k, pick, first, missed))

    def _homogeneous_terms(
        self, own: _Term, k: int, pick: str, first: int, missed: int
    ) -> Iterator[tuple[Vector, int]]:
        for term in self.terms:
            s = getattr(term, pick)[k] / getattr(own, pick)[k]
            if s and not term.constant and not any(term.rest):
                mask = first & self._same(term, own, s, [i for i in range(self.size) if i != k])
                column = tuple(abs(s) * c for c in term.column)
                yield column, mask
                yield tuple(-c for c in column), mask & missed

    # points

    def corner_points(self) -> Iterator[Vector]:
        """Yield 1 + 2K + (d − K) points that determine a function which is affine on each sign pattern."""
        zero = [ZERO] * self.back.shape[0]
        yield self.point(zero)
        for k in range(len(zero)):
            for sign in (ONE, -ONE) if k < self.size else (ONE,):
                yield self.point([sign if i == k else ZERO for i in range(len(zero))])

    def witness(self, index: int, pattern: tuple[int, ...], differs: Callable[[Vector], bool]) -> Vector:
        """Give a point at which the function is not zero, beside the kink of the term in the pattern."""
        rng = random.Random(index)
        while True:  # ends with probability one: generic points of the hyperplane are free of the others
            on = self._on_hyperplane(self.terms[index], pattern, rng)
            direction = [fmpq(rng.randint(-9, 9)) for _ in on]
            step = self._room(on, direction, pattern)
            for factor in (ZERO, step, -step):
                x = self._back_from(pattern, [a + factor * b for a, b in zip(on, direction, strict=True)])
                if differs(x):
                    return x

    def _back_from(self, pattern: Sequence[int], v: Sequence[fmpq]) -> Vector:
        signs = (*pattern, *(1,) * (len(v) - self.size))
        return self.point([value * sign for value, sign in zip(v, signs, strict=True)])

    def _on_hyperplane(self, term: _Term, pattern: tuple[int, ...], rng: random.Random) -> list[fmpq]:
        """Give (|u|, y), |u| > 0, at random on the term's hyperplane."""
        slopes = [*term.at(pattern), *term.rest]
        v = [fmpq(rng.randint(1, 60), rng.randint(1, 9)) for _ in range(self.size)]
        v += [fmpq(rng.randint(-60, 60), rng.randint(1, 9)) for _ in term.rest]
        movable = [k for k in range(self.size, len(v)) if slopes[k]]
        while True:
            value = dot(slopes, v) + term.constant
            if value == 0:
                return v
            if not movable:
                movable = [k for k in range(self.size) if slopes[k] * value < 0]
            if movable:
                k = movable[rng.randrange(len(movable))]
                v[k] -= value / slopes[k]
                return v
            v = [value / 2 for value in v]  # towards the origin, until the constant decides the sign

    def _room(self, on: Sequence[fmpq], direction: Sequence[fmpq], pattern: tuple[int, ...]) -> fmpq:
        """Give a step within the pattern that crosses no other hyperplane."""
        step = ONE
        values = [(on[k], direction[k]) for k in range(self.size)]
        for term in self.terms:
            slopes = [*term.at(pattern), *term.rest]
            values.append((dot(slopes, on) + term.constant, dot(slopes, direction)))
        for value, slope in values:
            if value and slope:
                step = min(step, abs(value / slope) / 2)
        return step


def _multiple(other: Vector, own: Vector, s: fmpq) -> bool:
    return all(a == s * b for a, b in zip(other, own, strict=True))


def zero_test(form: NormalForm, inputs: int, value: Value) -> Vector | None:
    """Give a point where the function with this normal form is not zero, or None when it is zero on R^d (proved).

    `value` evaluates the function exactly.

    Implements: theory §4 (beyond §2.3).

    Raises:
        UnsupportedError: when the hyperplanes inside outer relus have dependent normals.
    """
    separable = Separable.of(form, inputs)
    found = separable.kink()
    if found is not None:
        return separable.witness(*found, lambda x: any(value(x)))
    return next((x for x in separable.corner_points() if any(value(x))), None)
