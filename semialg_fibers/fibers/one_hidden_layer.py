"""The fiber of one hidden layer on a domain, and the same text for the second layer of a bottleneck network.

Main definitions
    OrientationComponent    component S, of one hidden layer or behind a first layer that is fixed up to scaling
    OrientationFamily       all feasible S

References: theory §2, §3.4.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import UndecidedSignError
from semialg_fibers.fibers.block import Block, scaled_permutation
from semialg_fibers.fibers.component import Family, FiberComponent, Parametrization, counted, exact_layers
from semialg_fibers.fibers.conditions import ALWAYS, Alternatives, Case
from semialg_fibers.fibers.equations import OrientationPart
from semialg_fibers.fibers.orientation import Sides
from semialg_fibers.fibers.specialisation import anew
from semialg_fibers.fibers.symbolic_orientation import SymbolicOrientationProblem
from semialg_fibers.geometry.arguments import checked_methods
from semialg_fibers.geometry.domain import Domain, Form, Space
from semialg_fibers.geometry.insertion import put
from semialg_fibers.geometry.scalar import Vector
from semialg_fibers.geometry.semialgebraic import BasicSet, Sampler, SemialgebraicSet, random_positive
from semialg_fibers.geometry.symbolic_matrix import letters_in
from semialg_fibers.networks.layer import Layer, Network

if TYPE_CHECKING:
    import sympy


@checked_methods("subs")
@dataclass(frozen=True, repr=False)
class OrientationComponent(FiberComponent):
    """Component S: of one hidden layer, or (with `first`) of a bottleneck network whose first layer is visible.

    `first` is (A1, b1); the block's inputs are then the first layer's outputs.
    """

    block: Block
    sides: Sides
    widths: tuple[int, ...]
    first: Layer | None = None
    direction: int | None = None

    @property
    def kind(self) -> str:  # type: ignore[override]
        """Either "visible" or "one hidden layer"."""
        return "one hidden layer" if self.first is None else "visible"

    @property
    def flips(self) -> tuple[int, ...]:  # type: ignore[override]
        """The rows that are flipped relative to the given network."""
        return self.block.flips(self.sides)

    @property
    def name(self) -> str:
        """The sides in words."""
        return counted("neuron", self.flips) + " flipped"

    @property
    def dimension(self) -> int:
        """The closed form, plus n1 scalings of a first layer.

        Implements: theory §2.5, §3.4.
        """
        return self.block.problem.dimension(self.sides) + scalings(self.first)

    @property
    def numbers_of_linear_rows(self) -> range:
        """The possible numbers q of linear neurons: rank₊col(M_S) ≤ q ≤ r, for some values of the letters."""
        least = self.block.problem.least_linear(self.sides)
        assert least is not None  # the component is feasible
        return range(least, self.block.problem.spare + 1)

    def part_dimension(self, q: int) -> int:
        """Give the dimension of the part with q linear neurons."""
        return self.block.problem.part_dimension(self.sides, q) + scalings(self.first)

    @property
    def condition(self) -> Alternatives:
        """That r spare neurons realize M_S: rank₊col(M_S) ≤ r."""
        problem = self.block.problem
        if not self.sides or not isinstance(problem, SymbolicOrientationProblem) or problem.is_certain(self.sides):
            return ALWAYS
        return Alternatives(tuple(case.conditions for case in problem.cases(self.sides)))

    @property
    def cases(self) -> tuple[Case, ...]:
        """What the letters leave open: rank and shape of M_S, each with the block's dimension; for numbers nothing."""
        problem = self.block.problem
        return problem.cases(self.sides) if isinstance(problem, SymbolicOrientationProblem) else ()

    def subs(self, values: Mapping[Any, Any]) -> OrientationComponent:
        """Put numbers or expressions for letters."""
        self._must_exist(values)
        first = None if self.first is None else Layer(*put((self.first.matrix, self.first.offset), values))
        return replace(self, block=self.block.subs(values), first=first)

    @property
    def set(self) -> SemialgebraicSet:
        """One basic set per number of linear rows; those are the first ones among the spare labels."""
        return SemialgebraicSet(tuple(self._basic_set(q) for q in self.numbers_of_linear_rows))

    def _basic_set(self, q: int) -> BasicSet:
        part = self._part(q).basic_set(*self._known(q))
        return replace(part, anew=anew(self, lambda made: made._known(q))) if self.letters else part

    def _known(self, q: int) -> tuple[Sampler | None, int | None]:
        """Give sampler and dimension of the part with q linear rows; nothing for numbers for which it is empty."""
        if q not in self.numbers_of_linear_rows:
            return None, None
        try:
            dimension = self.part_dimension(q)
        except UndecidedSignError:
            dimension = None
        return (lambda rng: self.draw(rng, q).parameters), dimension

    def _part(self, q: int) -> OrientationPart:
        return OrientationPart(self.block, self.sides, q, self.widths, self.first)

    @property
    def parametrization(self) -> Parametrization:
        """The part with the least number of linear rows, which has the largest dimension.

        For letters, the least number that does where M_S has its usual, largest rank.
        """
        return self._part(self.block.problem.usual_linear(self.sides)).parametrization()

    @property
    def parametrizations(self) -> tuple[Parametrization, ...]:
        """One image for each number of linear rows."""
        return tuple(self._part(q).parametrization() for q in self.numbers_of_linear_rows)

    def draw(self, rng: random.Random, q: int | None = None) -> Network:
        """Give a random member, with q linear neurons when q is given."""
        forms, outgoing, constant = self.block.draw(self.sides, rng, q)
        if self.first is None:
            return Network(exact_layers(forms, outgoing, constant), self.block.problem.domain)
        base = self.first.forms
        scales = [random_positive(rng) for _ in base]
        rows = [tuple(scale * value for value in form) for scale, form in zip(scales, base, strict=True)]
        forms = [(*(value / scale for value, scale in zip(form[:-1], scales, strict=True)), form[-1]) for form in forms]
        first = Layer([row[:-1] for row in rows], [row[-1] for row in rows])
        return Network([first, *exact_layers(forms, outgoing, constant)])

    @property
    def hyperplanes(self) -> tuple[Vector, ...]:
        """The rows of [A1 | b1]."""
        return () if self.first is None else self.first.forms

    @property
    def domain(self) -> Domain:
        """The block's domain, or all of R^d behind a first layer."""
        return self.block.problem.domain if self.first is None else Space(self.widths[0])

    @property
    def letters(self) -> tuple[sympy.Symbol, ...]:
        """The letters of the neurons and of the first layer."""
        return letters_of_block(self.block, self.first)

    def contains_numbers(self, net: Network) -> bool:
        """Read S off the network's neurons."""
        return matching_sides(self.block, self.first, self.widths, net) == self.sides


def letters_of_block(block: Block, first: Layer | None) -> tuple[sympy.Symbol, ...]:
    """Give the letters of the neurons and of the first layer; none for numbers."""
    problem = block.problem
    if not isinstance(problem, SymbolicOrientationProblem) and (first is None or first.is_rational):
        return ()
    before = () if first is None else first.forms
    return letters_in(problem.forms, problem.outgoing, problem.linear, problem.constant, before)


def scalings(first: Layer | None) -> int:
    """Give n1, the number of scalings of a first layer; 0 when there is none."""
    return 0 if first is None else first.outputs


def matching_sides(block: Block, first: Layer | None, widths: tuple[int, ...], net: Network) -> Sides | None:
    """Give the S whose component contains the network under some labelling, or None."""
    domain = block.problem.domain if first is None else Space(widths[0])
    if net.widths != widths or net.domain != domain:
        return None
    *before, inner, outer = net.layers
    forms: Sequence[Form] = inner.forms
    if first is not None:
        found = scaled_permutation(first.forms, before[0].forms)
        if found is None:
            return None
        forms = [(*(form[place] * scale for place, scale in found), form[-1]) for form in forms]
    return block.match(forms, outer.matrix.columns(), outer.offset)


@dataclass(frozen=True)
class OrientationFamily(Family):
    """All components of one block, behind a first layer or alone."""

    block: Block
    widths: tuple[int, ...]
    first: Layer | None = None
    direction: int | None = None

    def _component(self, sides: Sides) -> OrientationComponent:
        return OrientationComponent(self.block, sides, self.widths, self.first, self.direction)

    def components(self) -> Iterator[FiberComponent]:
        """Yield the feasible S by size, then lexicographically."""
        return (self._component(sides) for sides in self.block.problem.feasible_sets())

    def count(self) -> int:
        """Count the feasible S."""
        return self.block.problem.count()

    def locate(self, net: Network) -> FiberComponent | None:
        """Read S off the network's neurons; with letters, try one component after the other."""
        if not net.is_rational or letters_of_block(self.block, self.first):
            return self.search(net)
        sides = matching_sides(self.block, self.first, self.widths, net)
        return None if sides is None else self._component(sides)

    @property
    def copies(self) -> int:
        """n1! · n2!/(n2 − k)! behind a first layer, n!/(n − k)! alone."""
        return self.block.copies * factorial(scalings(self.first))

    def largest_dimension(self) -> int:
        """Give the largest dimension over the feasible S."""
        return self.block.problem.largest_dimension() + scalings(self.first)
