"""The rank of the Lie algebra of gradient fields, judged by polynomials: bounds from both sides.

Main results
    rank_of_brackets    the rank of given brackets at a given point modulo a prime: a lower bound at almost every θ
    has_rank_at_most    an upper bound: a span of fields that brackets do not leave, shown by determinants

Brackets are formed letter by letter from the multiplied-out outputs, without the dual numbers that found them.

References: theory §7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flint import nmod_mat

from semialg_fibers.verify.conservation import Polynom, Ring, Wiring

LARGEST_SPAN = 10
MOST_VARIABLES = 40
MOST_GENERATORS = 60
MOST_TERMS = 20_000  # of a polynomial on the way

Field = list[Polynom]
Coefficients = Sequence[Sequence[Sequence[int]]]  # for each pattern, output, and coefficient of x_1, ..., x_d, 1


def rank_of_brackets(
    wiring: Wiring, prime: int, point: Sequence[int], brackets: Sequence[Sequence[Coefficients]]
) -> int:
    """Give the rank modulo the prime, at the point, of the fields [X_1, [X_2, ... X_k]], one for each of `brackets`.

    X_i = ∇_θ Σ c · (coefficient of x_k, or of 1, in f_o with the masks of a pattern), c the i-th coefficients. The Lie
    algebra has at least this rank at almost every θ.

    Implements: theory §7.

    >>> linear = Wiring((1, 1, 1), (False, False), (((1,),),))  # one field (W2, W1)
    >>> rank_of_brackets(linear, 101, [2, 3], [[[[[1]]]], [[[[1]]], [[[1]]]]])
    1
    """
    ring = Ring(wiring, prime=prime)
    slots = [[_by_input(ring, output) for output in ring.outputs(pattern)] for pattern in wiring.patterns]
    at = [*point, *(0 for _ in range(len(ring.place) - len(point)))]
    rows = []
    for each in brackets:
        fields = []
        for coefficients in each:
            potential = ring.context.constant(0)
            for row, forms in zip(coefficients, slots, strict=True):
                for entries, form in zip(row, forms, strict=True):
                    for k, value in enumerate(entries):
                        if value and k in form:
                            potential += form[k] * value
            fields.append([ring.slope(potential, name) for name in ring.parameters])
        nested = fields[-1]
        for field in reversed(fields[1:-1]):
            nested = _bracket(field, nested, ring, ring.parameters)
        rows.append(_bracket_at(at, fields[0], nested, ring) if len(fields) > 1 else [int(v(*at)) for v in nested])
    return int(nmod_mat(rows, prime).rank()) if rows else 0


def _bracket_at(at: Sequence[int], x: Field, y: Field, ring: Ring) -> list[int]:
    """Give the values of DY·X − DX·Y at a point, as integers that are right modulo the prime."""
    xs, ys = ([int(entry(*at)) for entry in field] for field in (x, y))
    made = []
    for a, b in zip(x, y, strict=True):
        slopes = zip(ring.parameters, xs, ys, strict=True)
        made.append(sum(int(ring.slope(b, n)(*at)) * u - int(ring.slope(a, n)(*at)) * v for n, u, v in slopes))
    return made


def _by_input(ring: Ring, output: Polynom) -> dict[int, Polynom]:
    """Give the coefficient of each x_k of a polynomial that is affine in x, and under d that of 1."""
    inputs = [ring.place[f"x_{k}"] for k in range(ring.wiring.widths[0])]
    parts: dict[int, dict[tuple[int, ...], Any]] = {}
    for exponents, value in output.to_dict().items():
        own = next((k for k, place in enumerate(inputs) if exponents[place]), len(inputs))
        rest = tuple(0 if place in inputs else exponent for place, exponent in enumerate(exponents))
        parts.setdefault(own, {})[rest] = value
    return {k: ring.context.from_dict(part) for k, part in parts.items()}


# a span that brackets do not leave


def has_rank_at_most(rank: int, wiring: Wiring) -> bool | None:
    """Say whether the Lie algebra of all ∇_θ (coefficient of f_o) is shown to have at most this rank; None: not shown.

    Fields Y_1, ..., Y_r with a minor that is no zero polynomial are found among the generators and their brackets. If
    all generators and all [generator, Y_j] lie in their span over the rational functions (polynomials that vanish
    identically), the span is closed under brackets and contains the whole Lie algebra. None also when there are no such
    Y_j, or when r, the parameters that move, the generators, or a polynomial's terms exceed the module's limits.

    Implements: theory §7.

    >>> linear = Wiring((1, 1, 1), (False, False), (((1,),),))  # one field
    >>> has_rank_at_most(1, linear)
    True
    >>> two_outputs = Wiring((1, 1, 2), (False, False), (((1,),),))
    >>> has_rank_at_most(1, two_outputs), has_rank_at_most(2, two_outputs)
    (None, True)
    """
    if not 0 < rank <= LARGEST_SPAN:
        return None
    ring = Ring(wiring)
    potentials = list(_potentials(ring))
    moving = [name for name in ring.parameters if any(ring.slope(phi, name) for phi in potentials)]
    if len(moving) > MOST_VARIABLES or len(potentials) > MOST_GENERATORS:
        return None
    generators = [[ring.slope(phi, name) for name in moving] for phi in potentials]
    try:
        span = _Span(ring, [], [])
        waiting = list(generators)
        for field in waiting:
            if len(span.fields) < rank and (larger := span.with_field(field)) is not None:
                span = larger
                waiting += [_bracket(x, field, ring, moving) for x in generators]
            elif len(span.fields) == rank and span.with_field(field) is not None:
                return None
        return True if len(span.fields) == rank else None
    except _TooLargeError:
        return None


class _TooLargeError(Exception):
    """A polynomial has more terms than the limit."""


class _Span:
    """Fields with columns in which their determinant is not zero, and the adjugate of that minor."""

    def __init__(self, ring: Ring, fields: list[Field], columns: list[int]) -> None:
        self.ring, self.fields, self.columns = ring, fields, columns
        minor = [[field[k] for k in columns] for field in fields]
        self.determinant = _determinant(minor, ring)
        self.adjugate = [
            [
                _determinant([row[:j] + row[j + 1 :] for place, row in enumerate(minor) if place != i], ring)
                * (-1) ** (i + j)
                for i in range(len(minor))
            ]
            for j in range(len(minor))
        ]

    def with_field(self, field: Field) -> _Span | None:
        """Give the larger span, or None when the field lies in this one over the rational functions.

        With the minor M, det(M) · field − (field on the columns) · adj(M) · fields vanishes iff it does.
        """
        zero = self.ring.context.constant(0)
        shares = []
        for j in range(len(self.fields)):
            total = zero
            for place, k in enumerate(self.columns):
                total += field[k] * self.adjugate[place][j]
            shares.append(total)
        for extra in range(len(field)):
            if extra in self.columns:
                continue
            total = self.determinant * field[extra]
            for share, own in zip(shares, self.fields, strict=True):
                total -= share * own[extra]
            if total:
                return _Span(self.ring, [*self.fields, field], [*self.columns, extra])
        return None


def _determinant(rows: list[Field], ring: Ring) -> Polynom:
    """Give the determinant, by expansion along the rows, each minor of the first rows once."""
    minors = {0: ring.context.constant(1)}
    for row in rows:
        following: dict[int, Polynom] = {}
        for used, minor in minors.items():
            for k, entry in enumerate(row):
                if entry and not used >> k & 1:
                    sign = -1 if (used >> k + 1).bit_count() % 2 else 1
                    term = minor * entry * sign
                    following[used | 1 << k] = following[used | 1 << k] + term if used | 1 << k in following else term
        if any(len(minor) > MOST_TERMS for minor in following.values()):
            raise _TooLargeError
        minors = following
    return minors.get((1 << len(rows)) - 1, ring.context.constant(0))


def _potentials(ring: Ring) -> Iterator[Polynom]:
    """Yield the coefficients of x_1, ..., x_d and 1 of all outputs in all patterns, each once."""
    seen = set()
    for pattern in ring.wiring.patterns:
        for output in ring.outputs(pattern):
            for part in _by_input(ring, output).values():
                key = tuple(sorted((exponents, int(value)) for exponents, value in part.to_dict().items()))
                if key not in seen:
                    seen.add(key)
                    yield part


def _bracket(x: Field, y: Field, ring: Ring, moving: Sequence[str]) -> Field:
    """Give DY·X − DX·Y."""
    made = []
    for a, b in zip(x, y, strict=True):
        total = ring.context.constant(0)
        for name, u, v in zip(moving, x, y, strict=True):
            if u:
                total += ring.slope(b, name) * u
            if v:
                total -= ring.slope(a, name) * v
        made.append(total)
    return made
