"""What every component of a fiber can do, whatever its kind.

Main definitions
    FiberComponent     a semi-algebraic set of parameters: equations, parametrisation, dimension, membership, samples
    Family             all components of one kind: counted, listed lazily, and located for a given network
    Parametrization    symbols, their ranges, side conditions, and the network in those symbols

References: theory §1, §2.3, §3.4.
"""

from __future__ import annotations

import random
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UndecidedSignError
from semialg_fibers.fibers import paths
from semialg_fibers.fibers.conditions import ALWAYS, Alternatives
from semialg_fibers.fibers.labelling import contains_symbolically
from semialg_fibers.fibers.letters import Letters
from semialg_fibers.geometry.arguments import checked_methods
from semialg_fibers.geometry.decision import first_sure
from semialg_fibers.geometry.domain import Domain
from semialg_fibers.geometry.expression import Expression, Scalar, is_zero, signs_of, to_sympy
from semialg_fibers.geometry.scalar import Vector
from semialg_fibers.geometry.semialgebraic import BasicSet, SemialgebraicSet
from semialg_fibers.geometry.symbolic_matrix import column_matrix, without_divisors
from semialg_fibers.networks.layer import Layer, Network

if TYPE_CHECKING:
    import sympy


def counted(noun: str, indices: Sequence[int]) -> str:
    """Name units in prose, counting from 1.

    >>> counted("neuron", ()), counted("neuron", (0,)), counted("neuron", (0, 2))
    ('no neuron', 'neuron 1', 'neurons 1, 3')
    """
    names = ", ".join(str(i + 1) for i in indices)
    return f"{noun}{'s' if len(indices) > 1 else ''} {names}" if names else f"no {noun}"


def equation(expression: sympy.Expr, value: fmpq) -> sympy.Expr:
    """Give the polynomial that vanishes iff expression = value, with the value's denominator cleared."""
    above, below = numerator_and_denominator(value)
    return below * expression - above


def numerator_and_denominator(value: Scalar) -> tuple[Any, Any]:
    """Give p and q of p/q in lowest terms, as integers or SymPy polynomials with integer coefficients."""
    if not isinstance(value, Expression):
        return int(value.p), int(value.q)
    above, below = value.quotient()
    return to_sympy(above), to_sympy(below)


def times(value: fmpq, expression: Any) -> sympy.Expr:
    """Give value · expression."""
    return to_sympy(value) * expression


def positivity(expression: sympy.Expr) -> sympy.Rel:
    """Give the relation expression > 0, unevaluated, so that it can be printed for a symbol that is positive."""
    import sympy

    return sympy.Gt(expression, 0, evaluate=False)


def symbolic_layer(rows: Sequence[Sequence[Any]]) -> tuple[sympy.ImmutableMatrix, tuple[sympy.Expr, ...]]:
    """Give (weight, bias) from rows of [W | b]."""
    import sympy

    return sympy.ImmutableMatrix([row[:-1] for row in rows]), tuple(row[-1] for row in rows)


def pivot_of(form: Vector) -> int | None:
    """Give the place of the first coordinate that is positive or negative for sure; None where there is none.

    For numbers the first nonzero coordinate.
    """
    signs = [signs_of(value) for value in form]
    return next((i for i, found in enumerate(signs) if found in ({1}, {-1})), None)


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

    def parallel(self, row: Sequence[sympy.Symbol], form: Vector) -> list[tuple[sympy.Symbol, fmpq]]:
        """Ask that the row be a positive multiple λ of the form; give pairs (x, a) with x = λ a that determine λ.

        Where a coordinate of the form is known not to be zero, the first such, the pivot, is the only pair: the scaling
        is eliminated by one coordinate. Else, for letters of any sign: by all 2 × 2 minors and ⟨row, form⟩ > 0.
        """
        pivot = pivot_of(form)
        self.same_side(row, form, 1)
        if pivot is not None:
            for i, value in enumerate(form):
                if i != pivot:
                    above, below = numerator_and_denominator(value / form[pivot])
                    self.equations.append(below * row[i] - above * row[pivot])
            return [(row[pivot], form[pivot])]
        places = [i for i, value in enumerate(form) if not is_zero(value)]
        self.equations += [row[i] for i in range(len(form)) if i not in places]
        whole = without_divisors(form)
        for i, j in combinations(places, 2):
            self.equations.append(times(whole[i], row[j]) - times(whole[j], row[i]))
        return [(row[i], form[i]) for i in places]

    def same_side(self, row: Sequence[sympy.Symbol], form: Vector, sign: int) -> None:
        """Ask that the row, a multiple of the form, be a positive one of sign · form: by pivot or ⟨row, form⟩."""
        pivot = pivot_of(form)
        if pivot is not None:
            self.positive.append(row[pivot] if sign * form[pivot] > 0 else -row[pivot])
        else:
            self.positive.append(sum(times(sign * value, row[i]) for i, value in enumerate(without_divisors(form))))

    def basic_set(self, letters: Letters, sampler: Any, dimension: int | None) -> BasicSet:
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

    def at(self, values: Mapping[Any, Any], domain: Domain | None = None) -> Network:
        """Give the member with these values of the symbols (or of their names), exactly; R^d unless a domain is given.

        Raises:
            InvalidNetworkError: when a value is missing, lies outside its range, or violates an equation.
        """
        return paths.member_at(self, values, domain)

    def coordinates(self, net: Network) -> dict[sympy.Symbol, sympy.Rational]:
        """Give the values of the symbols at a member, exactly; put back, they give the member again.

        Raises:
            InvalidNetworkError: when the network is not in the image, in the labelling of the given network.
        """
        return paths.coordinates(self, net)


@checked_methods("coordinates", "path", "contains", "sample")
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

    @property
    def parametrizations(self) -> tuple[Parametrization, ...]:
        """One image for each part of `set`, in the same order."""
        return (self.parametrization,)

    def coordinates(self, net: Network) -> dict[sympy.Symbol, sympy.Rational]:
        """Give the values of the parametrization's symbols at a member, exactly.

        Raises:
            InvalidNetworkError: when the network is not in that part, in the labelling of the given network.
        """
        return self.parametrization.coordinates(net)

    def path(self, start: Network, end: Network) -> paths.Path:
        """Give an explicit path of members from one to the other, exact functions of s in [0, 1].

        Raises:
            InvalidNetworkError: when one is no member in the labelling of the given network.
            UnsupportedError: where no path is claimed: for linear rows, when it is not clear that one exists.
        """
        return paths.path(self.parametrizations, start, end, self.domain)

    @property
    def condition(self) -> Alternatives:
        """For which values of the letters the component exists; `ALWAYS` for numbers."""
        return ALWAYS

    @abstractmethod
    def subs(self, values: Mapping[Any, Any]) -> FiberComponent:
        """Put numbers or expressions for letters of the given network.

        Raises:
            InvalidNetworkError: for values for which the component does not exist, or that break an assumption.
        """

    @abstractmethod
    def draw(self, rng: random.Random) -> Network:
        """Give a random member in the labelling of the given network."""

    @abstractmethod
    def contains_numbers(self, net: Network) -> bool:
        """Say whether a network of numbers is a member of a component of numbers, under any labelling."""

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The domain of the networks."""

    def contains(self, net: Network) -> bool:
        """Say whether the network is a member under any labelling of its hidden units; with letters, under (G1).

        Raises:
            UndecidedSignError: when that depends on the values of the letters.
        """
        if net.widths != self.widths or net.domain != self.domain:
            return False
        if net.is_rational and not self.letters:
            return self.contains_numbers(net)
        return contains_symbolically(self.set, net, self.hyperplanes)

    @property
    def hyperplanes(self) -> tuple[Vector, ...]:
        """The weights (and bias) of the first layer's hyperplanes, which (G1) says are not zero."""
        return ()

    @property
    @abstractmethod
    def letters(self) -> tuple[sympy.Symbol, ...]:
        """The letters of the given network that occur, sorted by name."""

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
        try:
            dimension: Any = self.dimension
        except UndecidedSignError:
            dimension = "open"
        return f"<component {self.kind!r}, flips={self.flips}{side}, dimension={dimension}>"

    def _must_exist(self, values: Mapping[Any, Any]) -> None:
        if not self.condition.always and not self.condition.holds(values):
            raise InvalidNetworkError(f"the component does not exist for these values; it does iff {self.condition}")


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

    def search(self, net: Network) -> FiberComponent | None:
        """Give the component that contains the network, trying one after the other; refuse what depends on letters."""
        return first_sure(self.components(), lambda component: component.contains(net))

    @property
    @abstractmethod
    def copies(self) -> int:
        """The number of labelled copies of each component."""

    @abstractmethod
    def largest_dimension(self) -> int:
        """Give the largest dimension of a component."""


class _NoLength(UndecidedSignError, TypeError):
    """The length depends on letters; a TypeError, so that `list`, which asks for a hint of the length, goes on."""


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
            UndecidedSignError: when the number depends on the values of the letters.
        """
        try:
            count = self._length()
        except UndecidedSignError as error:
            raise _NoLength(error.message, **error.place) from None
        if count > sys.maxsize:
            raise BudgetExceededError("there are more components than len() can return; ask for component_count")
        return count


def exact_layers(forms: Sequence[Vector], outgoing: Sequence[Vector], constant: Vector) -> tuple[Layer, Layer]:
    """Give the two layers with rows [B | β] = forms, columns C_j = outgoing, and c = constant."""
    inner = Layer([form[:-1] for form in forms], [form[-1] for form in forms])
    return inner, Layer(column_matrix(outgoing, len(constant)), constant)
