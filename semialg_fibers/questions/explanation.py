"""Which symmetries explain the dimension of a network's fiber? Every direction of the Jacobian's kernel by its name.

Main definitions
    Part            directions that one named symmetry of named units adds to those before it
    Explanation     the kernel's dimension, the explained part, and its named parts

Main results
    explain_dimension     scalings, dead units and weights, row relations, translations, linear units, gauges, runs

What a *run* of layers explains is E = {δ of these layers : δz of the last one vanishes wherever its unit is seen}; each
E lies in the kernel. For three layers under the hypotheses of beyond §3.2 the runs of two explain everything; in
general runs are lengthened until the kernel is met. The run of all layers is the kernel itself: it explains nothing,
and what only it contains is left unexplained.

References: beyond §3.2, §3.3, §4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from semialg_fibers.fibers.component import counted
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.nullspace import Row, Span, exact_kernel
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.sight import CELLS, Sight, sight
from semialg_fibers.questions.identifiability import ordinal

PAIR = 2


@dataclass(frozen=True)
class Part:
    """`dimension` directions beyond those of the parts before, by the symmetry of units (0-based) of a layer (from 1).

    For a run of layers `layer` is its first one and `last` its last one; elsewhere `last` is None.
    """

    symmetry: str
    layer: int
    units: tuple[int, ...]
    dimension: int
    last: int | None = None

    def __str__(self) -> str:
        """Say it in words, counting from 1."""
        where = f"{counted('unit', self.units)} of the {ordinal(self.layer)} layer"
        if self.last is not None:
            where = f"layers {self.layer} to {self.last}"
        return f"{self.symmetry}, {where}: {self.dimension}"


@dataclass(frozen=True)
class Explanation:
    """`kernel` = #parameters − functional dimension, `explained` of it, `parts` in the order in which they were added.

    The kernel bounds the fiber's dimension at the network from above. `longest` is the length of the longest run of
    consecutive layers that was needed. `skipped` cells were left out, on which f need not be differentiable in θ.
    """

    network: Network
    kernel: int
    parts: tuple[Part, ...]
    longest: int
    skipped: int

    @property
    def explained(self) -> int:
        """The number of independent directions that have a name."""
        return sum(part.dimension for part in self.parts)

    @property
    def unexplained(self) -> int:
        """What is left."""
        return self.kernel - self.explained

    @property
    def by_symmetry(self) -> dict[str, int]:
        """The number of directions for each name, "unexplained" last if there are any."""
        found: dict[str, int] = {}
        for part in self.parts:
            found[part.symmetry] = found.get(part.symmetry, 0) + part.dimension
        if self.unexplained:
            found["unexplained"] = self.unexplained
        return found

    def __str__(self) -> str:
        """Give one line for each part."""
        lines = [f"kernel of the Jacobian: {self.kernel}, explained: {self.explained}"]
        if self.skipped:
            lines.append(f"cells left out, where f need not be differentiable in its parameters: {self.skipped}")
        return "\n".join([*lines, *map(str, self.parts)])


@checked
def explain_dimension(net: Network, budget: int = CELLS) -> Explanation:
    """Attribute the kernel of the Jacobian to the network's symmetries.

    Implements: beyond §3.2, §4.

    Raises:
        BudgetExceededError: when there are more than `budget` cells.
        UnsupportedError: when on every cell some preactivation vanishes, so that f need not be differentiable in θ.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> found = explain_dimension(net)
    >>> found.kernel, found.by_symmetry
    (4, {'scaling': 3, 'translation': 1})
    """
    seen = sight(net, budget)
    depth = seen.depth
    kernel = len(exact_kernel(seen.rows(1, depth), net.parameter_count))
    span = Span()
    parts: list[Part] = []
    longest = 1

    def gather(found: Iterable[tuple[str, int, tuple[int, ...], int | None, list[Row]]]) -> None:
        for name, layer, units, last, vectors in found:
            if span.dimension == kernel:
                return
            gained = span.extend(vectors)
            if gained:
                parts.append(Part(name, layer, units, gained, last))

    gather(_scalings(seen))
    gather(_single_layers(seen))
    for length in range(PAIR, max(depth, PAIR + 1)):
        if span.dimension == kernel:
            break
        before = span.dimension
        if length == PAIR:
            gather(_pairs(seen))
        name = "joint change" if length == PAIR else f"run of {length} layers"
        if length < depth:  # the run of all layers is the kernel itself, and explains nothing
            starts = range(1, depth - length + 2)
            gather((name, first, (), first + length - 1, run(seen, first, first + length - 1)) for first in starts)
        if span.dimension > before:
            longest = length
    return Explanation(net, kernel, tuple(parts), longest, seen.skipped)


def run(seen: Sight, first: int, last: int, places: Iterable[int] | None = None) -> list[Row]:
    """Give a basis of E for the run first..last, of its changes at the given places only if any are given.

    Implements: beyond §3.2, §4.
    """
    start, total = seen.width(1, first - 1), seen.width(1, seen.depth)
    rows = seen.rows(first, last)
    chosen = list(range(start, start + seen.width(first, last))) if places is None else sorted(set(places))
    restricted = {tuple(row[place - start] for place in chosen) for row in rows}
    vectors = []
    for short in exact_kernel(restricted, len(chosen)):
        whole = [0] * total
        for place, value in zip(chosen, short, strict=True):
            whole[place] = value
        vectors.append(tuple(whole))
    return vectors


def _places_of_row(seen: Sight, layer: int, unit: int) -> list[int]:
    inputs = seen.network.layers[layer - 1].inputs
    return [seen.place(layer, unit, column) for column in (*range(inputs), -1)]


def _unit_vector(seen: Sight, place: int) -> Row:
    return tuple(int(i == place) for i in range(seen.width(1, seen.depth)))


Found = Iterator[tuple[str, int, tuple[int, ...], int | None, list[Row]]]


def _scalings(seen: Sight) -> Found:
    """Yield the scaling of each hidden unit: incoming weights and bias up, outgoing weights down."""
    total = seen.width(1, seen.depth)
    for layer in range(1, seen.depth):
        forms, outer = seen.network.layers[layer - 1].forms, seen.weights[layer]
        for unit, form in enumerate(forms):
            vector = [0] * total
            for place, value in zip(_places_of_row(seen, layer, unit), form, strict=True):
                vector[place] = int(value)
            for k, row in enumerate(outer):
                vector[seen.place(layer + 1, k, unit)] = -row[unit]
            yield "scaling", layer, (unit,), None, [tuple(vector)]


def _single_layers(seen: Sight) -> Found:
    """Yield what one layer alone explains, unit by unit: dead units, dead weights, row relations."""
    for layer in range(1, seen.depth):
        for unit in range(seen.network.layers[layer - 1].outputs):
            if not seen.seen_on(layer, unit):
                vectors = [_unit_vector(seen, place) for place in _places_of_row(seen, layer, unit)]
                if not any(view.active(layer, unit) for view in seen.views):
                    for k in range(seen.network.layers[layer].outputs):
                        vectors.append(_unit_vector(seen, seen.place(layer + 1, k, unit)))
                yield "dead", layer, (unit,), None, vectors
    for layer in range(2, seen.depth + 1):
        for unit in range(seen.network.layers[layer - 1].outputs):
            views = seen.seen_on(layer, unit)
            for before in range(seen.network.layers[layer - 1].inputs):
                if not any(view.active(layer - 1, before) for view in views):
                    weight = [_unit_vector(seen, seen.place(layer, unit, before))]
                    yield "dead weight", layer, (unit,), None, weight
            vectors = run(seen, layer, layer, _places_of_row(seen, layer, unit))
            yield "row relation", layer, (unit,), None, vectors


def _pairs(seen: Sight) -> Found:
    """Yield the named symmetries of two consecutive layers: translations, linear units, gauges of one-sided units."""
    for layer in range(1, seen.depth):
        before, after = seen.network.layers[layer - 1 : layer + 1]
        biases = [seen.place(layer + 1, k, -1) for k in range(after.outputs)]
        linear = [unit for unit in range(before.outputs) if seen.is_linear(layer, unit)]
        for unit in range(before.outputs):
            if unit not in linear:
                places = [seen.place(layer, unit, -1), *biases]
                yield "translation", layer, (unit,), None, run(seen, layer, layer + 1, places)
        for name, units in (("linear", linear), ("gauge", _one_sided(seen, layer))):
            if units:
                places = [place for unit in units for place in _places_of_row(seen, layer, unit)]
                places += [seen.place(layer + 1, k, unit) for unit in units for k in range(after.outputs)]
                yield name, layer, tuple(units), None, run(seen, layer, layer + 1, [*places, *biases])


def _one_sided(seen: Sight, layer: int) -> list[int]:
    """Give Λ: the units that are active wherever a user is seen, or nowhere where it is."""
    units = []
    for unit in range(seen.network.layers[layer - 1].outputs):
        users = seen.users(layer, unit)
        if users and all(not all(seen.sides(layer, unit, user)) for user in users):
            units.append(unit)
    return units
