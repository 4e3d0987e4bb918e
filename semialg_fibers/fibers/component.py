"""What every component of a fiber can do, whatever its kind.

Main definitions
    FiberComponent     a semi-algebraic set of parameters: equations, parametrisation, dimension, membership, samples
    Family             all components of one kind: counted, listed lazily, and located for a given network
    Parametrization    symbols, their ranges, side conditions, and the network in those symbols
    Letters            the variables W1_0_0, ..., b1_0, ... of networks of given widths

References: theory §1, §2.3, §3.4.
"""

from __future__ import annotations

import random
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import Vector, sympy_rational
from semialg_fibers.geometry.semialgebraic import BasicSet, SemialgebraicSet, symbols_for
from semialg_fibers.networks.layer import Layer, Network

if TYPE_CHECKING:
    import sympy


def parameter_names(widths: Sequence[int]) -> list[str]:
    """Give the names in the order W1 (row by row), b1, W2, b2, ...

    >>> parameter_names((1, 1, 1))
    ['W1_0_0', 'b1_0', 'W2_0_0', 'b2_0']
    """
    names = []
    for number, (inputs, outputs) in enumerate(pairwise(widths), 1):
        names += [f"W{number}_{i}_{j}" for i in range(outputs) for j in range(inputs)]
        names += [f"b{number}_{i}" for i in range(outputs)]
    return names


def counted(noun: str, indices: Sequence[int]) -> str:
    """Name units in prose, counting from 1.

    >>> counted("neuron", ()), counted("neuron", (0,)), counted("neuron", (0, 2))
    ('no neuron', 'neuron 1', 'neurons 1, 3')
    """
    names = ", ".join(str(i + 1) for i in indices)
    return f"{noun}{'s' if len(indices) > 1 else ''} {names}" if names else f"no {noun}"


class Letters:
    """The variables of networks of given widths, as SymPy symbols."""

    def __init__(self, widths: Sequence[int]) -> None:
        """Make one real symbol for each parameter."""
        self.variables = symbols_for(parameter_names(widths))
        self._by_name = {symbol.name: symbol for symbol in self.variables}

    def weight(self, layer: int, i: int, j: int) -> sympy.Symbol:
        """Give the weight into unit i from unit j of layer `layer` (from 1)."""
        return self._by_name[f"W{layer}_{i}_{j}"]

    def bias(self, layer: int, i: int) -> sympy.Symbol:
        """Give the bias of unit i of layer `layer` (from 1)."""
        return self._by_name[f"b{layer}_{i}"]


def equation(expression: sympy.Expr, value: fmpq) -> sympy.Expr:
    """Give the polynomial that vanishes iff expression = value, with the value's denominator cleared."""
    return int(value.q) * expression - int(value.p)


def times(value: fmpq, expression: Any) -> sympy.Expr:
    """Give value · expression."""
    return sympy_rational(value) * expression


def positivity(expression: sympy.Expr) -> sympy.Rel:
    """Give the relation expression > 0, unevaluated, so that it can be printed for a symbol that is positive."""
    import sympy

    return sympy.Gt(expression, 0, evaluate=False)


def symbolic_layer(rows: Sequence[Sequence[Any]]) -> tuple[sympy.ImmutableMatrix, tuple[sympy.Expr, ...]]:
    """Give (weight, bias) from rows of [W | b]."""
    import sympy

    return sympy.ImmutableMatrix([row[:-1] for row in rows]), tuple(row[-1] for row in rows)


@dataclass
class Conditions:
    """Equations = 0, strict inequalities > 0 and weak ones ≥ 0, being collected."""

    equations: list[sympy.Expr]
    positive: list[sympy.Expr]
    nonnegative: list[sympy.Expr]
    headings: list[tuple[int, str]]

    @classmethod
    def none(cls) -> Conditions:
        """Begin with no condition."""
        return cls([], [], [], [])

    def explain(self, words: str) -> None:
        """Say what the equations that follow mean."""
        self.headings.append((len(self.equations), words))

    def parallel(self, row: Sequence[sympy.Symbol], form: Vector) -> tuple[int, fmpq]:
        """Ask that the row be a positive multiple of the form; give the pivot's place and the form's value there.

        The factor itself is row[pivot] / form[pivot]: the scaling λ is eliminated by one coordinate.
        """
        pivot = next(i for i, value in enumerate(form) if value)
        for i, value in enumerate(form):
            if i != pivot:
                ratio = value / form[pivot]
                self.equations.append(int(ratio.q) * row[i] - int(ratio.p) * row[pivot])
        self.positive.append(row[pivot] if form[pivot] > 0 else -row[pivot])
        return pivot, form[pivot]

    def basic_set(self, letters: Letters, sampler: Any, dimension: int) -> BasicSet:
        """Give the set in the variables of the letters."""
        return BasicSet(
            letters.variables,
            tuple(self.equations),
            tuple(self.positive),
            tuple(self.nonnegative),
            sampler=sampler,
            known_dimension=dimension,
            headings=tuple(self.headings),
        )


@dataclass(frozen=True)
class Parametrization:
    """A component as an image: `symbols`, their `ranges` (relations), `equations` (= 0) between them, the `network`.

    `network` is a tuple of layers (weight, bias) in SymPy, weight an ImmutableMatrix (out × in), bias a tuple.
    """

    symbols: tuple[sympy.Symbol, ...]
    ranges: tuple[Any, ...]
    equations: tuple[sympy.Expr, ...]
    network: tuple[tuple[sympy.ImmutableMatrix, tuple[sympy.Expr, ...]], ...]


class FiberComponent(ABC):
    """One component of a fiber, up to relabelling of hidden units.

    `flips` are second-layer rows (visible, one hidden layer) or first-layer columns (hidden), 0-based, relative to the
    given network. `direction` is +1 or −1 when n1 = 1: whether the first layer counts u as the given network does, or
    −u; else None. For n1 = 1, families that the given network does not belong to have their own reference: rows 0,
    1, ... are the inner breakpoints in order, each opening away from the outermost one.
    """

    kind: str
    flips: tuple[int, ...]
    direction: int | None
    widths: tuple[int, ...]

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The dimension, by the closed form."""

    @property
    @abstractmethod
    def set(self) -> SemialgebraicSet:
        """The component in the parameters, for the labelling of the given network: one basic set per kind of member."""

    @property
    @abstractmethod
    def parametrization(self) -> Parametrization:
        """The part of largest dimension as an image."""

    @abstractmethod
    def draw(self, rng: random.Random) -> Network:
        """Give a random member in the labelling of the given network."""

    @abstractmethod
    def contains(self, net: Network) -> bool:
        """Say whether the network is a member under any labelling of its hidden units."""

    def sample(self, seed: int = 0) -> Network:
        """Give an exact member, in the labelling of the given network; the same seed gives the same member."""
        return self.draw(random.Random(seed))

    @property
    @abstractmethod
    def name(self) -> str:
        """The component's name in words, counting units from 1."""

    def __repr__(self) -> str:
        """Name kind, flips and dimension."""
        side = "" if self.direction is None else f", direction={self.direction:+d}"
        return f"<component {self.kind!r}, flips={self.flips}{side}, dimension={self.dimension}>"


class Family(ABC):
    """All components of one kind and direction."""

    @abstractmethod
    def components(self) -> Iterator[FiberComponent]:
        """Yield the components by size of the flip set, then lexicographically."""

    @abstractmethod
    def count(self) -> int:
        """Give their number, by closed form where there is one."""

    @abstractmethod
    def locate(self, net: Network) -> FiberComponent | None:
        """Give the component that contains the network under some labelling, or None."""

    @property
    @abstractmethod
    def copies(self) -> int:
        """The number of labelled copies of each component."""

    @abstractmethod
    def largest_dimension(self) -> int:
        """Give the largest dimension of a component."""


class LazySequence(Sequence[FiberComponent]):
    """A sequence that is computed as far as it is read, and can be read again."""

    def __init__(self, make: Callable[[], Iterator[FiberComponent]], length: Callable[[], int]) -> None:
        """Keep how to make the elements and how to count them."""
        self._make = make
        self._length = length
        self._known: list[FiberComponent] = []
        self._failure: BudgetExceededError | None = None

    @cached_property
    def _source(self) -> Iterator[FiberComponent]:
        return self._make()

    def __iter__(self) -> Iterator[FiberComponent]:
        """Yield the elements from the first one."""
        i = 0
        while True:
            try:
                yield self[i]
            except IndexError:
                return
            i += 1

    def __getitem__(self, index: Any) -> Any:
        """Give an element (or a slice as a list), computing up to it."""
        if isinstance(index, slice):
            return list(self)[index]
        if index < 0:
            index += len(self)
        while len(self._known) <= index:
            if self._failure is not None:  # a generator that has failed would seem to have ended
                raise self._failure
            try:
                self._known.append(next(self._source))
            except BudgetExceededError as error:
                self._failure = error
                raise
            except StopIteration:
                raise IndexError(f"component {index} does not exist, there are {len(self._known)}") from None
        return self._known[index]

    def __len__(self) -> int:
        """Count, by closed form where there is one.

        Raises:
            BudgetExceededError: when the number is open, or beyond what `len` can return (`component_count` gives it).
        """
        count = self._length()
        if count > sys.maxsize:
            raise BudgetExceededError("there are more components than len() can return; ask for component_count")
        return count


def exact_layers(forms: Sequence[Vector], outgoing: Sequence[Vector], constant: Vector) -> tuple[Layer, Layer]:
    """Give the two layers with rows [B | β] = forms, columns C_j = outgoing, and c = constant."""
    inner = Layer(Matrix([form[:-1] for form in forms]), [form[-1] for form in forms])
    return inner, Layer(Matrix.from_columns(outgoing, len(constant)), constant)
