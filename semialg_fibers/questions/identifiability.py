"""Is the fiber one orbit of permutations and scalings?

Main definitions
    Reason             one sound symmetry beyond permutations and scalings, in words and with its place
    Identifiability    the verdict with its reasons

Main results
    identifiability    False with an exhibited symmetry, True by the theorem, None when neither is at hand

References: theory §1, §2.3, §3.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, starmap
from typing import Any

from semialg_fibers.errors import BudgetExceededError, NotGenericError, UndecidedSignError, UnsupportedError
from semialg_fibers.fibers.block import block_of
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.hiding import ends_of_translation, hiding, largest
from semialg_fibers.fibers.orientation import OrientationProblem
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.domain import Domain, Form, Orthant, Space
from semialg_fibers.geometry.expression import is_zero, signs_of
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.geometry.scalar import ONE, Vector
from semialg_fibers.networks.arrangement import unoriented
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.networks.neuron_kind import (
    DEAD,
    LINEAR,
    NONLINEAR,
    classify,
    kinds_by_signs,
    maps_onto_orthant,
    neuron_types,
)

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def ordinal(layer: int) -> str:
    """Give "first", "second", ... for a layer counted from 1."""
    if layer <= len(_ORDINALS):
        return _ORDINALS[layer - 1]
    return f"{layer}{'th' if layer // 10 % 10 == 1 else {1: 'st', 2: 'nd', 3: 'rd'}.get(layer % 10, 'th')}"


@dataclass(frozen=True)
class Reason:
    """A sound symmetry: its name, the layer (from 1) and units (0-based) that cause it, and the sentence."""

    symmetry: str
    layer: int
    units: tuple[int, ...]
    sentence: str

    def __str__(self) -> str:
        """Give the sentence."""
        return self.sentence


@dataclass(frozen=True)
class Identifiability:
    """`is_identifiable` is False when a reason is given, True by the theorem, None with the obstacle in `undecided`."""

    is_identifiable: bool | None
    reasons: tuple[Reason, ...]
    undecided: str | None = None


@checked
def identifiability(net: Network) -> Identifiability:
    """Decide whether the (generic) fiber is exactly the orbit under permutations and positive scalings.

    Implements: theory §3.4.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[2, -1]], [-3]), ([[1]], [0])])
    >>> print(*identifiability(net).reasons, sep="; ")
    hyperplane 1 of the first layer is hidden: its bias can be translated by any t > -3/2; hyperplane 2 of the first \
layer can be flipped to its other side
    """
    reasons: tuple[Reason, ...] = ()
    try:
        for reason in sound_symmetries(net):
            reasons += (reason,)
    except (UndecidedSignError, UnsupportedError) as error:  # what letters leave open
        if not reasons:
            return Identifiability(None, (), error.message)
    if reasons:
        return Identifiability(False, reasons)
    try:
        found = fiber(net)
        count = found.component_count  # refuses where it is open whether other sides are feasible
        if len(net.layers) == 3 and net.widths[1] == 1:
            reasons = tuple(_one_variable(count))
            if reasons:
                return Identifiability(False, reasons)
    except (UnsupportedError, NotGenericError, BudgetExceededError, UndecidedSignError) as error:
        return Identifiability(None, (), error.message)
    if found.complete:
        return Identifiability(True, ())
    conditions = ", ".join(f"({name})" for name in found.assumptions)
    if net.is_rational:
        return Identifiability(None, (), f"no symmetry was found, but {conditions} was not decided")
    asked = "; ".join(str(condition) for condition in found.genericity.conditions if condition.verdict is None)
    return Identifiability(None, (), f"identifiable if {conditions} hold, which depends on the letters: {asked}")


def sound_symmetries(net: Network) -> Iterator[Reason]:
    """Yield the symmetries beyond permutations and scalings that are seen, generic or not; each keeps f exactly."""
    for layer in range(1, len(net.layers)):
        yield from _single_units(net, layer)
        yield from _duplicates(net, layer)
    if len(net.layers) >= 3 and maps_onto_orthant(net):
        yield from _hidden(net)
    if len(net.layers) == 2 or (len(net.layers) == 3 and net.widths[1] > 1 and maps_onto_orthant(net)):
        yield from _other_sides(net)


def _kinds(net: Network, layer: int) -> tuple[str, ...]:
    """Give the kinds on the exact range where cells are within reach, else by signs: sound for dead and linear."""
    try:
        return neuron_types(net, layer)
    except BudgetExceededError:
        return kinds_by_signs(net.layers[layer - 1])
    except (UndecidedSignError, UnsupportedError):  # letters: some kinds may be told by signs all the same
        domain = net.domain if layer == 1 else Orthant(net.widths[layer - 1])
        return tuple(_kind_or_open(form, domain) for form in net.layers[layer - 1].forms)


def _kind_or_open(form: Form, domain: Domain) -> str:
    try:
        return classify(form, domain)
    except (UndecidedSignError, UnsupportedError):
        return "open"


def _single_units(net: Network, layer: int) -> Iterator[Reason]:
    for j, kind in enumerate(_kinds(net, layer)):
        where = f"neuron {j + 1} of the {ordinal(layer)} layer"
        if kind == DEAD:
            yield Reason("dead", layer, (j,), f"{where} is dead: its outgoing weights are free")
        elif _is_unused(net.layers[layer], j):
            yield Reason(
                "unused", layer, (j,), f"{where} is not used (outgoing weights zero): its incoming weights are free"
            )
        elif kind == LINEAR:
            yield Reason(
                "linear",
                layer,
                (j,),
                f"{where} is linear: its bias can be raised by any amount, compensated by the biases of the next layer",
            )


def _is_unused(after: Layer, j: int) -> bool:
    """Say whether all outgoing weights of unit j are zero."""
    if after.is_rational:
        return not any(row[j] for row in after.matrix.integer_rows())
    return all(is_zero(value) for value in after.matrix.column(j))


def _duplicates(net: Network, layer: int) -> Iterator[Reason]:
    seen: dict[tuple[Any, ...], int] = {}
    inner = net.layers[layer - 1]
    for j, form in enumerate(inner.integer_forms if inner.is_rational else map(_ray, inner.forms)):
        if not all(value == 0 for value in form):
            first = seen.setdefault(form, j)
            if first != j:
                yield Reason(
                    "duplicate",
                    layer,
                    (first, j),
                    f"neurons {first + 1} and {j + 1} of the {ordinal(layer)} layer are positive multiples of each "
                    "other: outgoing weights can be moved from one to the other",
                )


def _ray(form: Vector) -> Vector:
    """Give the form divided by the size of its first coordinate whose sign is sure, where there is one."""
    pivot = next((value for value in form if signs_of(value) in ({1}, {-1})), ONE)
    return tuple(value / abs(pivot) for value in form)


def _hidden(net: Network) -> Iterator[Reason]:
    found = hiding(net)
    for i in found.hidden:
        where = f"hyperplane {i + 1} of the first layer"
        ends = ends_of_translation(net, i, found.users[i])
        if not ends:
            sentence = f"{where} is hidden: no alive neuron of the second layer uses it, and its weights are free"
        else:
            sign = ">" if all(end < 0 for end in ends) else "≥"
            named = largest(ends)
            lowest = f"max({', '.join(map(str, named))})" if len(named) > 1 else f"{named[0]}"
            sentence = f"{where} is hidden: its bias can be translated by any t {sign} {lowest}"
        yield Reason("translation", 1, (i,), sentence)
    for k in found.flippable:
        yield Reason("sign flip", 1, (k,), f"hyperplane {k + 1} of the first layer can be flipped to its other side")


def _other_sides(net: Network) -> Iterator[Reason]:
    """Yield one nonempty feasible S of the block, if no two of its hyperplanes coincide and one is found."""
    if isinstance(net.domain, Polyhedron):
        return
    inner, outer = net.layers[-2:]
    kinds = neuron_types(net, 1) if len(net.layers) == 2 else kinds_by_signs(inner)
    nonlinear = [j for j, kind in enumerate(kinds) if kind == NONLINEAR]
    if any(_is_unused(outer, j) for j in nonlinear):
        return
    if inner.is_rational:
        if len({unoriented(inner.integer_forms[j]) for j in nonlinear}) < len(nonlinear):
            return
    elif not all(starmap(_never_coincide, combinations([inner.forms[j] for j in nonlinear], 2))):
        return
    block = block_of(net if len(net.layers) == 2 else net.part(2, 3), kinds)
    problem = block.problem
    sides = _first_other_sides(problem)
    if sides:
        labels = block.flips(sides)
        layer = len(net.layers) - 1
        many = len(labels) > 1
        names = f"neuron{'s' if many else ''} {', '.join(str(j + 1) for j in labels)}"
        together = "be flipped together" if many else "be flipped"
        alone = problem.spare == 0 or isinstance(problem.domain, Space)  # on R^p spare neurons are constants
        how = "their affine parts cancel" if alone else "the spare neurons realize the affine part"
        yield Reason("orientation", layer, labels, f"{names} of the {ordinal(layer)} layer can {together}: {how}")


def _never_coincide(first: Vector, second: Vector) -> bool:
    """Say whether the two hyperplanes differ for all values of the letters: some 2 × 2 minor is never zero."""
    places = combinations(range(len(first)), 2)
    return any(0 not in signs_of(first[a] * second[b] - first[b] * second[a]) for a, b in places)


def _first_other_sides(problem: OrientationProblem) -> tuple[int, ...]:
    try:
        for sides in problem.feasible_sets():
            if sides and problem.is_certain(sides):
                return sides
    except BudgetExceededError:
        pass
    return ()


def _one_variable(count: int) -> Iterator[Reason]:
    if count > 1:
        yield Reason(
            "exchange of roles",
            1,
            (0,),
            "the function depends on one variable, and its breakpoints can be shared out among the layers in "
            f"{count - 1} other way{'s' if count > 2 else ''}",
        )
