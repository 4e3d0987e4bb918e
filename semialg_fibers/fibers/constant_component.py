"""The fiber of a constant function: every second-layer neuron is dead.

Main definitions
    ConstantComponent    A2 ≤ 0, b2 ≤ 0, b3 fixed, all else free
    ConstantFamily       that single component

References: theory §3.4.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from semialg_fibers.fibers.component import (
    Conditions,
    Family,
    FiberComponent,
    Parametrization,
    equation,
    exact_layers,
    symbolic_layer,
)
from semialg_fibers.fibers.letters import Letters
from semialg_fibers.fibers.specialisation import anew
from semialg_fibers.geometry.arguments import checked_methods
from semialg_fibers.geometry.domain import Domain, Space
from semialg_fibers.geometry.expression import to_sympy
from semialg_fibers.geometry.insertion import put
from semialg_fibers.geometry.scalar import Vector
from semialg_fibers.geometry.semialgebraic import Sampler, SemialgebraicSet, random_positive, random_rational
from semialg_fibers.geometry.symbolic_matrix import letters_in
from semialg_fibers.networks.layer import Layer, Network

if TYPE_CHECKING:
    import sympy


@checked_methods("subs")
@dataclass(frozen=True, repr=False)
class ConstantComponent(FiberComponent):
    """All second-layer rows dead: A2 ≤ 0, b2 ≤ 0, b3 fixed, all else free.

    Implements: theory §3.4.
    """

    widths: tuple[int, ...]
    constant: Vector
    kind = "constant"
    flips = ()
    direction = None

    @property
    def name(self) -> str:
        """The function is constant."""
        return "every second-layer neuron dead"

    @property
    def dimension(self) -> int:
        """The number of parameters without b3."""
        sizes = zip(self.widths[:-1], self.widths[1:], strict=True)
        return sum(outputs * (inputs + 1) for inputs, outputs in sizes) - self.widths[-1]

    def _second(self, letters: Letters) -> list[Any]:
        _, n1, n2, _ = self.widths
        return [x for j in range(n2) for x in [*(letters.weight(2, j, k) for k in range(n1)), letters.bias(2, j)]]

    @property
    def set(self) -> SemialgebraicSet:
        """One basic set."""
        letters, conditions = Letters(self.widths), Conditions.none()
        conditions.nonnegative.extend(-variable for variable in self._second(letters))
        conditions.explain("the value of the constant function")
        for a, value in enumerate(self.constant):
            conditions.equations.append(equation(letters.bias(3, a), value))
        part = conditions.basic_set(letters, *self._known)
        return SemialgebraicSet((replace(part, anew=anew(self, lambda made: made._known)) if self.letters else part,))

    @property
    def _known(self) -> tuple[Sampler, int]:
        """The set's sampler and dimension."""
        return (lambda rng: self.draw(rng).parameters), self.dimension

    @property
    def parametrization(self) -> Parametrization:
        """The parameters themselves, with b3 put in."""
        import sympy

        letters = Letters(self.widths)
        d, n1, n2, m = self.widths
        sizes = [(1, n1, d), (2, n2, n1)]
        layers = [
            symbolic_layer(
                [[*(letters.weight(number, i, j) for j in range(wide)), letters.bias(number, i)] for i in range(high)]
            )
            for number, high, wide in sizes
        ]
        last = sympy.ImmutableMatrix([[letters.weight(3, a, j) for j in range(n2)] for a in range(m)])
        constant = tuple(to_sympy(value) for value in self.constant)
        ranges = tuple(sympy.Le(variable, 0) for variable in self._second(letters))
        symbols = tuple(v for v in letters.variables if not v.name.startswith("b3_"))
        return Parametrization(symbols, ranges, (), (*layers, (last, constant)))

    def subs(self, values: Mapping[Any, Any]) -> ConstantComponent:
        """Put numbers or expressions for letters."""
        return ConstantComponent(self.widths, put(self.constant, values))

    def draw(self, rng: random.Random) -> Network:
        """Give a random member."""
        d, n1, n2, m = self.widths
        first = Layer(
            [[random_rational(rng) for _ in range(d)] for _ in range(n1)], [random_rational(rng) for _ in range(n1)]
        )
        forms = [tuple(-random_positive(rng) for _ in range(n1 + 1)) for _ in range(n2)]
        outgoing = [tuple(random_rational(rng) for _ in range(m)) for _ in range(n2)]
        return Network([first, *exact_layers(forms, outgoing, self.constant)])

    @property
    def domain(self) -> Domain:
        """All of R^d."""
        return Space(self.widths[0])

    @property
    def letters(self) -> tuple[sympy.Symbol, ...]:
        """The letters of b3."""
        return letters_in(self.constant)

    def contains_numbers(self, net: Network) -> bool:
        """Say whether all second-layer rows are ≤ 0 and b3 agrees."""
        return net.layers[2].offset == self.constant and all(v <= 0 for form in net.layers[1].forms for v in form)


@dataclass(frozen=True)
class ConstantFamily(Family):
    """The single component of a constant function."""

    component: ConstantComponent

    def components(self) -> Iterator[FiberComponent]:
        """Yield it."""
        return iter((self.component,))

    def count(self) -> int:
        """1."""
        return 1

    def locate(self, net: Network) -> FiberComponent | None:
        """Give it when it contains the network."""
        return self.component if self.component.contains(net) else None

    @property
    def copies(self) -> int:
        """1: every relabelling maps it to itself."""
        return 1

    def largest_dimension(self) -> int:
        """Its dimension."""
        return self.component.dimension
