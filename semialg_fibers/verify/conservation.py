"""Conservation laws judged by polynomial identities, with nothing of what found them.

Main definitions
    Wiring              widths, which layers have a bias, and where needed the 0/1 patterns of the hidden units
    Ring                outputs multiplied out, as polynomials in the parameters and the input

Main results
    is_conserved        ⟨∇Q, ∇_θ f_o(x)⟩ = 0 as a polynomial in θ and x, for every output and every pattern
    holds_everywhere    the same for all patterns at once, with letters in the place of the masks
    is_symmetry         ⟨X, ∇_θ f_o(x)⟩ = 0 for a vector field X

Outputs are multiplied out in flint's polynomials. A condition that concerns the weights and biases into
some units of one layer and the weights out of them may be shown on these units alone: by the chain rule ∇f_o is a
combination of the gradients of the preactivations after them, as functions of the activations before them.

References: theory §7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from flint import fmpz_mpoly_ctx, nmod_mpoly_ctx

Monomial = tuple[str, ...]  # names of parameters, with repetition
Polynomial = Mapping[Monomial, int]
Field = Mapping[str, Polynomial]
Pattern = tuple[tuple[int, ...], ...]
Polynom = Any  # flint's polynomials over Z or over residues


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


class Ring:
    """Polynomials in the parameters, the input x and, if asked for, one letter for each hidden unit's mask."""

    def __init__(self, wiring: Wiring, letters: bool = False, prime: int | None = None) -> None:
        """Make the letters; coefficients are integers, or residues when there is a prime."""
        self.wiring, self.parameters = wiring, wiring.names()
        hidden = enumerate(wiring.widths[1:-1], 1)
        self.masks = [[f"m{layer}_{i}" for i in range(width)] if letters else [] for layer, width in hidden]
        inputs = [f"x_{k}" for k in range(wiring.widths[0])]
        names = [*self.parameters, *inputs, *(name for row in self.masks for name in row)]
        kind = fmpz_mpoly_ctx.get(names) if prime is None else nmod_mpoly_ctx.get(names, modulus=prime)
        self.context: Any = kind
        self.letter = dict(zip(names, self.context.gens(), strict=True))
        self.place = {name: k for k, name in enumerate(names)}

    def outputs(self, pattern: Pattern | None) -> list[Polynom]:
        """Give the outputs; None: masks as letters."""
        letter = self.letter
        values: list[Polynom] = [letter[f"x_{k}"] for k in range(self.wiring.widths[0])]
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

    def polynomial(self, terms: Polynomial) -> Polynom:
        """Give Σ coefficient · monomial."""
        total = self.context.constant(0)
        for monomial, coefficient in terms.items():
            product = self.context.constant(coefficient)
            for name in monomial:
                product *= self.letter[name]
            total += product
        return total

    def slope(self, polynomial: Polynom, name: str) -> Polynom:
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
    return part is not None and _annihilates(part[0], Ring(part[1], letters=True), None)


def is_symmetry(field: Field, wiring: Wiring) -> bool:
    """Say whether ⟨X, ∇_θ f_o(x)⟩ = 0 for all outputs o, all θ and x and all patterns of the wiring.

    Implements: theory §7.
    """
    part = _part(field, wiring)
    if part is not None:
        # enough, not necessary: what the layers above do not see is decided on the whole network
        ring = Ring(part[1])
        if all(_annihilates(part[0], ring, pattern) for pattern in part[1].patterns):
            return True
    ring = Ring(wiring)
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


def _annihilates(field: Field, ring: Ring, pattern: Pattern | None) -> bool:
    components = {name: ring.polynomial(terms) for name, terms in field.items()}
    for output in ring.outputs(pattern):
        total = ring.context.constant(0)
        for name, component in components.items():
            total += component * ring.slope(output, name)
        if total:
            return False
    return True
