"""Conservation laws judged by polynomial identities, with nothing of what found them.

Main definitions
    Wiring              widths, which layers have a bias, and where needed the 0/1 patterns of the hidden units

Main results
    is_conserved        ⟨∇Q, ∇_θ f_o(x)⟩ = 0 as a polynomial in θ and x, for every output and every pattern
    holds_everywhere    the same for all patterns at once, with letters in the place of the masks
    is_symmetry         ⟨X, ∇_θ f_o(x)⟩ = 0 for a vector field X
    has_rank_at_most    the Lie algebra of the fields has at most this rank: a closed span, shown by determinants

Outputs are multiplied out in flint's polynomials. A condition that concerns the weights and biases into
some units of one layer and the weights out of them may be shown on these units alone: by the chain rule ∇f_o is a
combination of the gradients of the preactivations after them, as functions of the activations before them.

References: theory §7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from flint import Ordering, fmpz_mpoly, fmpz_mpoly_ctx

Monomial = tuple[str, ...]  # names of parameters, with repetition
Polynomial = Mapping[Monomial, int]
Field = Mapping[str, Polynomial]
Pattern = tuple[tuple[int, ...], ...]

LARGEST_SPAN = 5
MOST_VARIABLES = 40
MOST_GENERATORS = 60


@dataclass(frozen=True)
class Wiring:
    """Widths, input first; `biased[l]` says whether affine layer l+1 has a bias; `patterns` the masks that occur."""

    widths: tuple[int, ...]
    biased: tuple[bool, ...]
    patterns: tuple[Pattern, ...]

    def names(self) -> list[str]:
        """Give the parameters in the order W1, b1, W2, b2, ..."""
        found = []
        for layer, (inputs, outputs) in enumerate(pairwise(self.widths), 1):
            found += [f"W{layer}_{i}_{j}" for i in range(outputs) for j in range(inputs)]
            found += [f"b{layer}_{i}" for i in range(outputs)] if self.biased[layer - 1] else []
        return found


class _Ring:
    """Polynomials in the parameters, the input x and, if asked for, one letter for each hidden unit's mask."""

    def __init__(self, wiring: Wiring, letters: bool) -> None:
        self.wiring, self.parameters = wiring, wiring.names()
        hidden = enumerate(wiring.widths[1:-1], 1)
        self.masks = [[f"m{layer}_{i}" for i in range(width)] if letters else [] for layer, width in hidden]
        inputs = [f"x_{k}" for k in range(wiring.widths[0])]
        names = [*self.parameters, *inputs, *(name for row in self.masks for name in row)]
        self.context = fmpz_mpoly_ctx.get(names, Ordering.lex)
        self.letter = dict(zip(names, self.context.gens(), strict=True))
        self.place = {name: k for k, name in enumerate(names)}

    def outputs(self, pattern: Pattern | None) -> list[fmpz_mpoly]:
        """Give the outputs; None: masks as letters."""
        letter = self.letter
        values = [letter[f"x_{k}"] for k in range(self.wiring.widths[0])]
        for layer, (inputs, outputs) in enumerate(pairwise(self.wiring.widths), 1):
            made = []
            for i in range(outputs):
                total = self.context.constant(0)
                for j in range(inputs):
                    total += letter[f"W{layer}_{i}_{j}"] * values[j]
                made.append(total + letter[f"b{layer}_{i}"] if self.wiring.biased[layer - 1] else total)
            if layer < len(self.wiring.biased):
                masks: Sequence[Any] = (
                    [letter[name] for name in self.masks[layer - 1]] if pattern is None else pattern[layer - 1]
                )
                made = [value * mask for value, mask in zip(made, masks, strict=True)]
            values = made
        return values

    def polynomial(self, terms: Polynomial) -> fmpz_mpoly:
        """Give Σ coefficient · monomial."""
        total = self.context.constant(0)
        for monomial, coefficient in terms.items():
            product = self.context.constant(coefficient)
            for name in monomial:
                product *= self.letter[name]
            total += product
        return total

    def slope(self, polynomial: fmpz_mpoly, name: str) -> fmpz_mpoly:
        """Give the derivative by one letter."""
        return polynomial.derivative(self.place[name])


def gradient(terms: Polynomial) -> dict[str, dict[Monomial, int]]:
    """Give ∇Q as a field.

    >>> gradient({("W1_0_0", "W1_0_0"): 1, ("b1_0",): 3})
    {'W1_0_0': {('W1_0_0',): 2}, 'b1_0': {(): 3}}
    """
    made: dict[str, dict[Monomial, int]] = {}
    for monomial, coefficient in terms.items():
        for place, name in enumerate(monomial):
            rest = monomial[:place] + monomial[place + 1 :]
            part = made.setdefault(name, {})
            part[rest] = part.get(rest, 0) + coefficient
    return made


def is_conserved(terms: Polynomial, wiring: Wiring) -> bool:
    """Say whether ⟨∇Q, ∇_θ f_o(x)⟩ = 0 for all outputs o, all θ and x and all patterns of the wiring.

    Implements: theory §7.

    >>> wiring = Wiring((1, 1, 1), (True, True), (((1,),), ((0,),)))
    >>> is_conserved({("W1_0_0",) * 2: 1, ("b1_0",) * 2: 1, ("W2_0_0",) * 2: -1}, wiring)
    True
    >>> is_conserved({("W1_0_0",) * 2: 1, ("W2_0_0",) * 2: -1}, wiring)
    False
    """
    return is_symmetry(gradient(terms), wiring)


def holds_everywhere(terms: Polynomial, wiring: Wiring) -> bool:
    """Say whether the units concerned alone show ⟨∇Q, ∇_θ f_o(x)⟩ = 0 for all patterns, wherever they occur."""
    part = _part(gradient(terms), wiring)
    return part is not None and _annihilates(part[0], _Ring(part[1], letters=True), None)


def is_symmetry(field: Field, wiring: Wiring) -> bool:
    """Say whether ⟨X, ∇_θ f_o(x)⟩ = 0 for all outputs o, all θ and x and all patterns of the wiring.

    Implements: theory §7.
    """
    part = _part(field, wiring)
    if part is not None:
        # enough, not necessary: what the layers above do not see is decided on the whole network
        ring = _Ring(part[1], letters=False)
        if all(_annihilates(part[0], ring, pattern) for pattern in part[1].patterns):
            return True
    ring = _Ring(wiring, letters=False)
    return all(_annihilates(field, ring, pattern) for pattern in wiring.patterns)


def _part(field: Field, wiring: Wiring) -> tuple[Field, Wiring] | None:
    """Give a field that concerns some units of one hidden layer only, on the network of these units alone.

    Its inputs are the activations of the layer before, its outputs what these units add to the preactivations after.
    None when the field moves, or depends on, anything else.
    """
    names = {*field, *(name for terms in field.values() for monomial in terms for name in monomial)}
    places = {name: [int(part) for part in name[1:].split("_")] for name in names}
    layer = min((place[0] for place in places.values()), default=len(wiring.biased))
    if layer == len(wiring.biased):
        return None
    touched = set()
    for name, (own, *indices) in places.items():
        if own == layer:
            touched.add(indices[0])
        elif own == layer + 1 and name[0] == "W":
            touched.add(indices[1])
        else:
            return None
    units = {unit: k for k, unit in enumerate(sorted(touched))}

    def renamed(name: str) -> str:
        own, *indices = places[name]
        if own == layer:
            return "_".join([f"{name[0]}1", str(units[indices[0]]), *map(str, indices[1:])])
        return f"W2_{indices[0]}_{units[indices[1]]}"

    small = {
        renamed(name): {tuple(map(renamed, monomial)): value for monomial, value in terms.items()}
        for name, terms in field.items()
    }
    patterns = dict.fromkeys((tuple(pattern[layer - 1][unit] for unit in units),) for pattern in wiring.patterns)
    widths = (wiring.widths[layer - 1], len(units), wiring.widths[layer + 1])
    return small, Wiring(widths, (wiring.biased[layer - 1], False), tuple(patterns))


def _annihilates(field: Field, ring: _Ring, pattern: Pattern | None) -> bool:
    components = {name: ring.polynomial(terms) for name, terms in field.items()}
    for output in ring.outputs(pattern):
        total = ring.context.constant(0)
        for name, component in components.items():
            total += component * ring.slope(output, name)
        if total:
            return False
    return True


# a span that brackets do not leave


def has_rank_at_most(rank: int, wiring: Wiring) -> bool | None:
    """Say whether the Lie algebra of all ∇_θ (coefficient of f_o) is shown to have at most this rank; None: not tried.

    Fields Y_1, ..., Y_r with a minor that is no zero polynomial are found among the generators and their brackets. If
    all generators and all [generator, Y_j] lie in their span over the rational functions (determinants that vanish
    identically), the span is closed under brackets and contains the whole Lie algebra. None also when there are no such
    Y_j, or when r, the parameters that move or the generators exceed `LARGEST_SPAN`, `MOST_VARIABLES`,
    `MOST_GENERATORS`.

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
    ring = _Ring(wiring, letters=False)
    potentials = list(_coefficients(ring))
    moving = [name for name in ring.parameters if any(ring.slope(phi, name) for phi in potentials)]
    if len(moving) > MOST_VARIABLES or len(potentials) > MOST_GENERATORS:
        return None
    generators = [[ring.slope(phi, name) for name in moving] for phi in potentials]
    chosen = _basis(generators, rank, ring, moving)
    if chosen is None:
        return None
    span, columns = chosen
    following = (_bracket(x, y, ring, moving) for x in generators for y in span)
    for candidate in (*generators, *following):
        for extra in range(len(moving)):
            places = [*columns, extra]
            if extra not in columns and _determinant([[row[k] for k in places] for row in [*span, candidate]]):
                return None
    return True


def _coefficients(ring: _Ring) -> Iterator[fmpz_mpoly]:
    """Yield the coefficients of the monomials in x of all outputs in all patterns, each once."""
    size = len(ring.place)
    inputs = [k for name, k in ring.place.items() if name.startswith("x_")]
    seen = set()
    for pattern in ring.wiring.patterns:
        for output in ring.outputs(pattern):
            parts: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
            for exponents, value in output.to_dict().items():
                rest = tuple(0 if k in inputs else exponents[k] for k in range(size))
                parts.setdefault(tuple(exponents[k] for k in inputs), {})[rest] = value
            for part in parts.values():
                key = tuple(sorted((e, int(v)) for e, v in part.items()))
                if key not in seen:
                    seen.add(key)
                    yield ring.context.from_dict(part)


def _bracket(x: list[fmpz_mpoly], y: list[fmpz_mpoly], ring: _Ring, moving: list[str]) -> list[fmpz_mpoly]:
    """Give DY·X − DX·Y."""
    made = []
    for a, b in zip(x, y, strict=True):
        total = ring.context.constant(0)
        for name, u, v in zip(moving, x, y, strict=True):
            total += ring.slope(b, name) * u - ring.slope(a, name) * v
        made.append(total)
    return made


def _basis(
    generators: list[list[fmpz_mpoly]], rank: int, ring: _Ring, moving: list[str]
) -> tuple[list[list[fmpz_mpoly]], list[int]] | None:
    """Give `rank` fields, generators and brackets with them, and columns in which their determinant is not zero."""
    span: list[list[fmpz_mpoly]] = []
    columns: list[int] = []
    waiting = list(generators)
    for candidate in waiting:
        for extra in range(len(moving)):
            places = [*columns, extra]
            if extra not in columns and _determinant([[row[k] for k in places] for row in [*span, candidate]]):
                span, columns = [*span, candidate], places
                waiting += [_bracket(x, candidate, ring, moving) for x in generators]
                break
        if len(span) == rank:
            return span, columns
    return None


def _determinant(rows: list[list[fmpz_mpoly]]) -> fmpz_mpoly:
    """Give the determinant, by expansion along the first row (at most `LARGEST_SPAN` + 1 rows)."""
    if len(rows) == 1:
        return rows[0][0]
    total = rows[0][0] * 0
    for k, entry in enumerate(rows[0]):
        if entry:
            minor = _determinant([[*row[:k], *row[k + 1 :]] for row in rows[1:]])
            total += minor * entry if k % 2 == 0 else -minor * entry
    return total
