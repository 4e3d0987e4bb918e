"""How two bottleneck networks with the same function correspond, unit by unit.

Main definitions
    Pairing     orders, factors and flips of both hidden layers, the translation, the affine remainder

Main results
    pairing     read off the parameters; it explains an equality that has been proved otherwise

References: theory §3.4, §4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flint import fmpq

from semialg_fibers.fibers.block import positive_ratio
from semialg_fibers.fibers.hiding import hidden_hyperplanes
from semialg_fibers.geometry.domain import Form, Orthant
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import Vector, primitive
from semialg_fibers.networks.arrangement import arrangement, oriented
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import DEAD, NONLINEAR, classify, maps_onto_orthant

Units = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Pairing:
    """Units of b (second) that correspond to units of a (first), 0-based.

    `first` and `second` are pairs for the two hidden layers, `first_factors` and `second_factors` the positive factors
    (b = factor · a, or −factor · a for the units in `first_flips`, `second_flips`). `translation` is t of the hidden
    hyperplane of b relative to a, None when visible. `remainder` is (M, v) of the second layer in a's coordinates, None
    when hidden.
    """

    first: Units
    first_factors: Vector
    first_flips: tuple[int, ...]
    second: Units
    second_factors: Vector
    second_flips: tuple[int, ...]
    translation: fmpq | None
    remainder: tuple[Matrix, Vector] | None

    def sentences(self) -> Iterator[str]:
        """Say how the units correspond, counting from 1."""
        for layer, pairs, factors, flips in (
            ("first", self.first, self.first_factors, self.first_flips),
            ("second", self.second, self.second_factors, self.second_flips),
        ):
            for (own, other), factor in zip(pairs, factors, strict=True):
                turned = ", turned round" if own in flips else ""
                yield f"{layer} layer: unit {other + 1} of B is {factor} times unit {own + 1} of A{turned}"
        if self.translation is not None:
            yield f"the hidden hyperplane is translated by {self.translation}"


def pairing(a: Network, b: Network) -> Pairing | None:
    """Give the correspondence of two bottleneck networks with n1 ≥ 2 and equal widths, None where there is none.

    Implements: theory §4.
    """
    if a.widths != b.widths or len(a.layers) != 3 or a.widths[1] < 2:
        return None
    if not (maps_onto_orthant(a) and maps_onto_orthant(b)):
        return None
    hidden, other = hidden_hyperplanes(a), hidden_hyperplanes(b)
    if len(hidden) != len(other) or len(hidden) > 1:
        return None
    placed = _first_layer(a, b, hidden, other)
    if placed is None:
        return None
    places, translation = placed
    order = [places[k] for k in range(a.widths[1])]
    forms = [(*(form[at] * abs(scale) for at, scale in order), form[-1]) for form in b.layers[1].forms]
    if translation is not None:
        i = hidden[0]
        forms = [(*form[:-1], form[-1] + form[i] * translation) for form in forms]
    pairs = _second_layer(a.layers[1].forms, forms, bool(hidden))
    part = None if hidden else arrangement(a.part(2, 3))
    return Pairing(
        tuple((k, order[k][0]) for k in range(len(order))),
        tuple(abs(scale) for _, scale in order),
        tuple(k for k, (_, scale) in enumerate(order) if scale < 0),
        tuple((j, at) for j, at, _ in pairs),
        tuple(abs(scale) for _, _, scale in pairs),
        tuple(j for j, _, scale in pairs if scale < 0),
        translation,
        None if part is None else (part.linear, part.constant),
    )


Places = dict[int, tuple[int, fmpq]]


def _first_layer(
    a: Network, b: Network, hidden: tuple[int, ...], other: tuple[int, ...]
) -> tuple[Places, fmpq | None] | None:
    """Match visible hyperplanes by their oriented forms, the hidden ones with each other."""
    at = {oriented(form)[0]: (place, form) for place, form in enumerate(b.layers[0].forms) if place not in other}
    places: Places = {}
    for k, form in enumerate(a.layers[0].forms):
        if k in hidden:
            continue
        plane, own = oriented(form)
        if plane not in at:
            return None
        place, found = at.pop(plane)
        places[k] = (place, oriented(found)[1] / own)
    if not hidden:
        return places, None
    return _hidden_pair(a, b, hidden[0], other[0], places)


def _hidden_pair(a: Network, b: Network, i: int, place: int, places: Places) -> tuple[Places, fmpq] | None:
    """The hidden row of b is λ (row i of a + Σ r_k row k over the flipped k), moved by t."""
    target = list(a.layers[0].forms[i])
    row = next(form for form in a.layers[1].forms if classify(form, Orthant(len(form) - 1)) != DEAD)
    for k, (_, turned) in places.items():
        if turned < 0:
            factor = row[k] / row[i]
            target = [x + factor * y for x, y in zip(target, a.layers[0].forms[k], strict=True)]
    found = b.layers[0].forms[place]
    scale = positive_ratio(found[:-1], tuple(target[:-1]))
    if scale is None:
        return None
    return {**places, i: (place, scale)}, found[-1] / scale - target[-1]


def _second_layer(own: tuple[Form, ...], other: list[Form], hidden: bool) -> list[tuple[int, int, fmpq]]:
    """Match nonlinear rows by their hyperplane (hidden: alive rows up to positive scale)."""
    found = {}
    for place, form in enumerate(other):
        if classify(form, Orthant(len(form) - 1)) == NONLINEAR:
            found[primitive(form) if hidden else oriented(form)[0]] = (place, form)
    pairs = []
    for j, form in enumerate(own):
        if classify(form, Orthant(len(form) - 1)) == NONLINEAR:
            match = found.get(primitive(form) if hidden else oriented(form)[0])
            if match is not None:
                pairs.append((j, match[0], oriented(match[1])[1] / oriented(form)[1]))
    return pairs
