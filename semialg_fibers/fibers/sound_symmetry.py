"""A sound symmetry of one network: its name, its tangent directions, its exact moves.

Main definitions
    Symmetry       moves by a given value or at random; each result is proved or checked to have the same function

References: beyond §2.2, §3.1, §4.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.fibers.component import counted
from semialg_fibers.geometry.arguments import checked_methods
from semialg_fibers.geometry.scalar import sympy_rational
from semialg_fibers.geometry.semialgebraic import random_positive
from semialg_fibers.networks.deformation import End, equal_on_cells
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    import sympy

ATTEMPTS = 8  # random directions
HALVINGS = 16  # of a random step, until the function stays the same
Direction = Mapping[str, fmpq]
Act = Callable[[Network, Any], Network]


@checked_methods("sample")
@dataclass(frozen=True, repr=False)
class Symmetry:
    """A sound symmetry of `network`: what it is, which units (0-based) of which layer (from 1) cause it.

    `directions` are the tangents of its moves at the network, by parameter names; a discrete symmetry has none.
    `ends` are those of the interval of its one parameter, None for infinity. `move(value)` acts, `sample(seed)` acts
    with a random value; both return a network whose equality has been checked on all cells, or refuse. Where
    `by_theorem` is True a theorem says so for every value that is accepted, and no cell is visited.
    """

    kind: str
    layer: int
    units: tuple[int, ...]
    sentence: str
    network: Network
    directions: tuple[Direction, ...] = ()
    ends: tuple[End, End] | None = None
    by_theorem: bool = False
    _act: Act = field(default=lambda net, value: net, compare=False)
    _draw: Callable[[random.Random], Any] = field(default=lambda rng: None, compare=False)
    _smaller: Callable[[Any], Any] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """Give the sentence."""
        return self.sentence

    def __repr__(self) -> str:
        """Name kind and place."""
        return f"<symmetry {self.kind!r} of {counted('unit', self.units)}, layer {self.layer}>"

    @property
    def generators(self) -> tuple[dict[str, sympy.Rational], ...]:
        """The tangent directions in SymPy numbers, by parameter names; parameters that do not move are left out."""
        return tuple({name: sympy_rational(value) for name, value in each.items()} for each in self.directions)

    @property
    def interval(self) -> sympy.Interval | None:
        """The t, in one piece around 0, for which the move keeps the function; None without one parameter.

        For translations and shifts both ends are tight. For a dead weight and a row relation it is the interval in
        which the unit itself keeps its values on its inputs' range; beyond, the function may stay the same if nobody
        sees the unit there.
        """
        import sympy

        if self.ends is None:
            return None
        low, high = self.ends
        return sympy.Interval(
            -sympy.oo if low is None else sympy_rational(low), sympy.oo if high is None else sympy_rational(high)
        )

    def move(self, value: Any = None) -> Network:
        """Act: by t for a one-parameter symmetry, by an order for a permutation, by a factor for a scaling, ...

        Raises:
            InvalidNetworkError: when the result has another function.
            BudgetExceededError: when equality was not decided within the budget.
        """
        moved = self._act(self.network, value)
        if not self.by_theorem and not equal_on_cells(self.network, moved):
            raise InvalidNetworkError(f"{value} is too far: {self.sentence}", value=value)
        return moved

    def sample(self, seed: int = 0) -> Network:
        """Give the network moved by a random value, which is halved until the function stays the same.

        Raises:
            BudgetExceededError: when no step was small enough, or equality was not decided.
        """
        rng = random.Random(seed)
        for _ in range(ATTEMPTS):
            value = self._draw(rng)
            for _ in range(HALVINGS):
                moved = self._act(self.network, value)
                if self.by_theorem or equal_on_cells(self.network, moved):
                    return moved
                if self._smaller is None:
                    break
                value = self._smaller(value)
        raise BudgetExceededError(f"no random move was small enough to keep the function: {self.sentence}")


def halved(value: Any) -> Any:
    """Give half a step."""
    return value / 2


def within(rng: random.Random, low: End, high: End) -> fmpq:
    """Give a random number of the interval that is not 0; its ends are possible."""
    sides = [(sign, end) for sign, end in ((-1, low), (1, high)) if end is None or end]
    sign, end = rng.choice(sides)
    return sign * random_positive(rng) if end is None else end * fmpq(rng.randint(1, 8), 8)


def between(low: End, high: End) -> Callable[[random.Random], fmpq]:
    """Give what draws a number of the interval."""
    return lambda rng: within(rng, low, high)
