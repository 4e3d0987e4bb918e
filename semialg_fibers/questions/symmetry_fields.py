"""Which symmetries give conservation laws? Their vector fields, and whether the dual one-forms are closed.

Main definitions
    SymmetryField       X with ⟨X, ∇_θ f_o(x)⟩ = 0, the dual form α = Σ X_e dθ_e, and dα

Main results
    symmetry_fields     scalings, free parameters, mixings and rotations of linear units, hiding translations

Along gradient flow α vanishes for every symmetry. Only where dα = 0 this says that a quantity is constant. Permutations
and sign flips are discrete and have no field.

References: theory §7, §3.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.fibers.hiding import alive_rows, hidden_hyperplanes
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.laws import FREE, MIXING, SCALING, Law, unit_name, written
from semialg_fibers.verify.conservation import Wiring, gradient, is_symmetry

Monomial = tuple[str, ...]
TRANSLATION, ROTATION = "hiding translation", "rotation"


@dataclass(frozen=True)
class SymmetryField:
    """The field Σ X_e ∂/∂θ_e of a symmetry; X_e is given by (monomial of degree ≤ 1, coefficient) pairs.

    `law` is the conserved quantity Q when the dual form is closed: dQ = 2α for scalings, dQ = α otherwise.
    """

    kind: str
    title: str
    components: tuple[tuple[str, tuple[tuple[Monomial, int], ...]], ...]
    law: Law | None

    @cached_property
    def exterior(self) -> tuple[tuple[str, str, int], ...]:
        """The form dα as (e, f, c) for the terms c dθ_e ∧ dθ_f, e before f in the order of names, c ≠ 0."""
        total: dict[tuple[str, str], int] = {}
        for name, terms in self.components:
            for monomial, coefficient in terms:
                if monomial and monomial[0] != name:  # c θ_e dθ_f has the differential c dθ_e ∧ dθ_f
                    first, second = sorted((monomial[0], name))
                    sign = 1 if first == monomial[0] else -1
                    total[first, second] = total.get((first, second), 0) + sign * coefficient
        return tuple((first, second, value) for (first, second), value in sorted(total.items()) if value)

    @property
    def is_closed(self) -> bool:
        """Whether dα = 0."""
        return not self.exterior

    def __str__(self) -> str:
        """Give the field on paper."""
        parts = []
        for name, terms in self.components:
            if terms == (((), 1),):
                parts.append(f"∂/∂{name}")
                continue
            text = written([term for term in terms if term[0]], str, "*", "{}**2")
            parts.append(f"{'- ' if text[0] == '-' else ''}{text.lstrip('-')} ∂/∂{name}")
        return " + ".join(parts).replace("+ - ", "- ")

    @property
    def differential(self) -> str:
        """Give dα on paper."""
        text = ""
        for first, second, value in self.exterior:
            size = "" if abs(value) == 1 else f"{abs(value)} "
            text += (" - " if value < 0 else " + ") + f"{size}d{first} ∧ d{second}"
        return (
            text.removeprefix(" + ").replace(" - ", "-", 1)
            if text.startswith(" - ")
            else text.removeprefix(" + ") or "0"
        )


def symmetry_fields(net: Network, laws: Iterable[Law], wiring: Wiring) -> tuple[SymmetryField, ...]:
    """Give the field of each law's symmetry, the rotations that come with mixings, and the hiding translations.

    Each is shown to be a symmetry to first order on all patterns of the wiring before it is reported.

    Implements: theory §7.
    """
    proposed = [field for law in laws for field in _of_law(law)]
    return tuple(
        field
        for field in (*proposed, *_translations(net))
        if is_symmetry({name: dict(terms) for name, terms in field.components}, wiring)
    )


def _of_law(law: Law) -> Iterator[SymmetryField]:
    """Yield half of ∇Q, and for two units that are linear together the rotation between them."""
    slopes = gradient(dict(law.terms))
    halves = all(value % 2 == 0 for terms in slopes.values() for value in terms.values())
    components = tuple(
        (name, tuple((monomial, value // 2 if halves else value) for monomial, value in terms.items()))
        for name, terms in slopes.items()
    )
    if law.kind == FREE:
        yield SymmetryField(FREE, f"{law} can be anything", components, law)
    elif law.kind == SCALING:
        yield SymmetryField(SCALING, f"scaling of {unit_name(law.units[0])}", components, law)
    elif law.kind == MIXING:
        first, second = law.units
        both = f"{unit_name(first)} and {unit_name(second)}"
        yield SymmetryField(MIXING, f"symmetric mixing of {both}", components, law)
        turned = tuple(
            (name, tuple((m, -value if _turns(name, first, second) else value) for m, value in terms))
            for name, terms in components
        )
        yield SymmetryField(ROTATION, f"rotation between {both}", turned, None)
    else:
        yield SymmetryField(law.kind, "a symmetry of these cells", components, law)


def _turns(name: str, first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Say whether a component of E_ab + E_ba, acting on the units a and b, belongs to E_ba.

    E_ab adds the incoming row of b to that of a, and takes the outgoing column of a from that of b.
    """
    layer, *indices = map(int, name[1:].split("_"))
    return indices[0] == second[1] if layer == second[0] else indices[1] == first[1]


def _translations(net: Network) -> Iterator[SymmetryField]:
    if len(net.layers) < 3:
        return
    try:
        hidden, alive = hidden_hyperplanes(net), alive_rows(net)
    except BudgetExceededError:
        return
    weights = net.layers[1].matrix
    for i in hidden:
        users = [j for j in alive if weights[j, i]]
        if users:
            components = [(f"b1_{i}", (((), 1),)), *((f"b2_{j}", (((f"W2_{j}_{i}",), -1),)) for j in users)]
            yield SymmetryField(TRANSLATION, f"translation of the hidden hyperplane {i + 1}", tuple(components), None)
