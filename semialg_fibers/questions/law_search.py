"""All polynomials of degree at most two that are constant along gradient flow, found modulo a prime.

Main definitions
    Candidate       a polynomial in the parameters with the place that suggests its name; found, not yet proved

Main results
    candidates      a basis of all laws of degree ≤ 2
    scaling, mixing the laws of theory §7 by their formulas

Q is a law iff ⟨∇Q, ∇φ⟩ = 0 for all coefficients φ of f_o in all cells: linear equations for the coefficients of Q. They
fall apart. Give W_l[i, j] the weight e_i − e_j and b_l[i] the weight e_i − e_1 in the free abelian group on all units,
inputs, outputs and the constant. Every path monomial from input k to output o has weight e_o − e_k, so that ∂φ/∂θ_e is
homogeneous too, and the condition splits by the difference of the weights of the two factors of a term of Q. So only
small systems are solved: one for all squares, one for each pair of units that could mix.

References: theory §7.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

from flint import nmod_mat

from semialg_fibers.questions.lie_algebra import BATCH, PRIME, GradientFields, Parameters, independent

if TYPE_CHECKING:
    from semialg_fibers.questions.lie_algebra import Residues

Monomial = tuple[int, ...]  # indices of parameters, ascending, at most two
Terms = dict[Monomial, Fraction]
Weight = tuple[tuple[tuple[int, int], int], ...]

SPARE = 6  # equations beyond the number of unknowns
LARGEST_FRACTION = 10_000


@dataclass(frozen=True)
class Candidate:
    """A polynomial Σ coefficient · monomial; `kind` is "free", "scaling", "mixing" or "other".

    `units` are the nodes (layer, unit) of a scaling or a mixing law, in ascending order.
    """

    kind: str
    terms: tuple[tuple[Monomial, Fraction], ...]
    units: tuple[tuple[int, int], ...] = ()

    def gradient(self, points: Residues) -> Residues:
        """Give ∇Q modulo the prime at points of shape (..., D)."""
        import numpy as np

        made = np.zeros_like(points)
        for monomial, value in self.terms:
            factor = value.numerator * pow(value.denominator, -1, PRIME) % PRIME
            for place, e in enumerate(monomial):
                rest = monomial[:place] + monomial[place + 1 :]
                made[..., e] += factor * (points[..., rest[0]] if rest else 1) % PRIME
        return np.asarray(made % PRIME)


def candidates(fields: GradientFields, seed: int = 1) -> list[Candidate]:
    """Give laws that span all those of degree ≤ 2: free parameters, scalings, mixings of units, others.

    Squares and products of free parameters, which say nothing new, are left out.

    Implements: theory §7.

    >>> fields = GradientFields(Parameters((2, 2, 1), (False, False)), (((1, 1),),))  # two units that never switch
    >>> [(law.kind, law.units) for law in candidates(fields)]
    [('scaling', ((1, 0),)), ('scaling', ((1, 1),)), ('mixing', ((1, 0), (1, 1)))]
    """
    import numpy as np

    source = np.random.default_rng(seed)
    parameters = fields.parameters
    count = parameters.count
    points = source.integers(0, PRIME, (count + SPARE, count))
    slopes = np.zeros_like(points)
    for start in range(0, len(fields.patterns), BATCH):
        batch = GradientFields(parameters, fields.patterns[start : start + BATCH])
        seeds = batch.random_seeds(count + SPARE, source)
        slopes = (slopes + batch.combination(seeds, points[None])[0]) % PRIME
    live = [e for e in range(count) if slopes[:, e].any()]
    found = [Candidate("free", (((e,), Fraction(1)),)) for e in range(count) if e not in set(live)]
    system = _System(points, slopes)
    found += _squares(parameters, live, system)
    for unknowns in _classes(parameters, live):
        for terms in system.kernel(unknowns):
            units = _mixed(parameters, terms)
            found.append(Candidate("mixing" if units else "other", _ordered(terms), units))
    return found


@dataclass(frozen=True)
class _Unknown:
    """A monomial with, for each of its factors e, the weight of the equation in which ∂(monomial)/∂e · ∂φ/∂e stands."""

    monomial: Monomial
    weights: tuple[Weight, ...]


@dataclass(frozen=True)
class _System:
    """Random points and random combinations of the fields there, one equation each."""

    points: Residues
    slopes: Residues

    def column(self, monomial: Monomial, places: Iterable[int], rows: int) -> Residues:
        """Give Σ ∂(monomial)/∂e · slope_e over these factors, one value for each equation."""
        import numpy as np

        total = np.zeros(rows, dtype=np.int64)
        for place in places:
            rest = monomial[:place] + monomial[place + 1 :]
            factor = self.points[:rows, rest[0]] if rest else np.int64(1)
            total += self.slopes[:rows, monomial[place]] * factor % PRIME
        return total % PRIME

    def kernel(self, unknowns: Sequence[_Unknown]) -> list[Terms]:
        """Give a basis of the polynomials in these monomials that satisfy all equations."""
        import numpy as np

        rows = len(unknowns) + SPARE
        blocks = []
        for weight in {weight for unknown in unknowns for weight in unknown.weights}:
            columns = [
                self.column(u.monomial, [k for k, own in enumerate(u.weights) if own == weight], rows) for u in unknowns
            ]
            blocks.append(np.stack(columns, axis=1))
        return [
            {unknowns[k].monomial: value for k, value in enumerate(vector) if value}
            for vector in rational_kernel(np.concatenate(blocks))
        ]


def rational_kernel(matrix: Residues) -> list[list[Fraction]]:
    """Give a reduced basis of the kernel modulo the prime, in small fractions; vectors without these are left out."""
    basis, nullity = nmod_mat(matrix.shape[0], matrix.shape[1], matrix.ravel().tolist(), PRIME).nullspace()
    if not nullity:
        return []
    columns = nmod_mat(
        nullity, matrix.shape[1], [int(basis[i, k]) for k in range(nullity) for i in range(matrix.shape[1])], PRIME
    )
    reduced, _ = columns.rref()
    vectors = [[_fraction(int(reduced[k, i])) for i in range(matrix.shape[1])] for k in range(nullity)]
    return [[value for value in vector if value is not None] for vector in vectors if None not in vector]


def _fraction(residue: int) -> Fraction | None:
    """Give the fraction p/q of least q with this residue and |p|, q small, or None."""
    before, now, above, below = PRIME, residue, 0, 1
    while now > LARGEST_FRACTION:
        quotient = before // now
        before, now, above, below = now, before - quotient * now, below, above - quotient * below
    return Fraction(now, below) if 0 < abs(below) <= LARGEST_FRACTION else None


def _squares(parameters: Parameters, live: list[int], system: _System) -> list[Candidate]:
    """Give the laws Σ c_e θ_e²: scalings of units first, then what they do not span."""
    import numpy as np

    kernel = system.kernel([_Unknown((e, e), ((), ())) for e in live])
    chosen = [law for unit in parameters.hidden_units if (law := scaling(parameters, unit, set(live))) is not None]
    others = [Candidate("other", _ordered(terms)) for terms in kernel]
    rows = np.zeros((len(chosen) + len(others), parameters.count), dtype=np.int64)
    for row, law in enumerate([*chosen, *others]):
        for monomial, value in law.terms:
            if monomial[0] in live:
                rows[row, monomial[0]] = value.numerator * pow(value.denominator, -1, PRIME) % PRIME
    keep = independent(rows)
    return [law for row, law in enumerate([*chosen, *others]) if row in keep]


def scaling(parameters: Parameters, unit: tuple[int, int], live: set[int] | None = None) -> Candidate | None:
    """Give ‖incoming weights and bias‖² − ‖outgoing weights‖² of a hidden unit; None when none of them is live.

    Implements: theory §7.
    """
    terms = [
        ((e, e), Fraction(1 if head == unit else -1))
        for e, (tail, head) in enumerate(parameters.edges)
        if unit in (tail, head)
    ]
    if live is not None and not any(e in live for (e, _), _ in terms):
        return None
    return Candidate("scaling", tuple(terms), (unit,))


def scalings(parameters: Parameters) -> list[Candidate]:
    """Give the scaling law of each hidden unit."""
    return [law for unit in parameters.hidden_units if (law := scaling(parameters, unit)) is not None]


def mixing(parameters: Parameters, a: tuple[int, int], b: tuple[int, int]) -> Candidate:
    """Give ⟨incoming of a, incoming of b⟩ − ⟨outgoing of a, outgoing of b⟩ for two hidden units of one layer.

    Implements: theory §7.
    """
    place = {edge: e for e, edge in enumerate(parameters.edges)}
    terms = []
    for tail, head in parameters.edges:
        if head == a:
            terms.append((tuple(sorted((place[tail, a], place[tail, b]))), Fraction(1)))
        elif tail == a:
            terms.append((tuple(sorted((place[a, head], place[b, head]))), Fraction(-1)))
    return Candidate("mixing", tuple(terms), (a, b))


def _ordered(terms: Terms) -> tuple[tuple[Monomial, Fraction], ...]:
    """Give the terms by monomial, with integer coefficients without a common factor, the first one positive."""
    common = lcm(*(value.denominator for value in terms.values()))
    divisor = gcd(*(int(value * common) for value in terms.values()))
    ordered = sorted(terms.items())
    sign = 1 if ordered[0][1] > 0 else -1
    return tuple((monomial, sign * value * common / divisor) for monomial, value in ordered)


def _mixed(parameters: Parameters, terms: Terms) -> tuple[tuple[int, int], ...]:
    """Give the two units of one layer that the terms mix: each term is a pair of edges into them, or out of them."""
    common: set[tuple[tuple[int, int], ...]] | None = None
    for monomial in terms:
        if len(monomial) != 2:
            return ()
        (tail, head), (other_tail, other_head) = (parameters.edges[e] for e in monomial)
        pairs = set()
        if tail == other_tail and head[0] < len(parameters.widths) - 1:
            pairs.add(tuple(sorted((head, other_head))))
        if head == other_head and tail[0] == other_tail[0] > 0:
            pairs.add(tuple(sorted((tail, other_tail))))
        common = pairs if common is None else common & pairs
    return next(iter(common)) if common else ()


def _classes(parameters: Parameters, live: list[int]) -> list[list[_Unknown]]:
    """Give the sets of at least two monomials e f (e ≠ f) and e whose equations have a weight in common."""
    vectors: list[dict[Any, int]] = [{head: 1, tail: -1} for tail, head in parameters.edges]

    def difference(f: dict[Any, int], e: dict[Any, int]) -> Weight:
        total: dict[Any, int] = defaultdict(int)
        for sign, vector in ((1, f), (-1, e)):
            for node, value in vector.items():
                total[node] += sign * value
        return tuple(sorted((node, value) for node, value in total.items() if value))

    by_weight: dict[Weight, list[_Unknown]] = defaultdict(list)
    for place, e in enumerate(live):
        alone = difference({}, vectors[e])
        by_weight[_up_to_sign(alone)].append(_Unknown((e,), (alone,)))
        for f in live[place + 1 :]:
            # the factor that is differentiated is e: θ_f ∂φ/∂θ_e has the weight of f less that of e
            weight = difference(vectors[f], vectors[e])
            turned = tuple((node, -value) for node, value in weight)
            by_weight[_up_to_sign(weight)].append(_Unknown((e, f), (weight, turned)))
    return [unknowns for unknowns in by_weight.values() if len(unknowns) > 1]


def _up_to_sign(weight: Weight) -> Weight:
    return weight if not weight or weight[0][1] > 0 else tuple((node, -value) for node, value in weight)
