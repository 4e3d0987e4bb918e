"""How likely is a randomly initialised three-layer network to be identifiable? Closed forms, exact rationals.

Main definitions
    Initialisation      the probabilities and expectations for n1 ≤ d, n1 ≥ 2, and n2, with one of three kinds of bias

Main results
    identifiability_probability     that no neuron is dead or linear and no hyperplane hidden

All entries are independent, with continuous distributions that are symmetric about 0 (weights uniform as in PyTorch's
`Linear`, or normal): the signs of [A2 | b2] are then uniform, and genericity has probability one. `bias` says what the
second layer's bias is: "symmetric" like the weights, "positive" a positive constant, "zero".

References: beyond §5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.arguments import checked, whole_number
from semialg_fibers.geometry.scalar import shown

if TYPE_CHECKING:
    import sympy

BIASES = ("symmetric", "positive", "zero")
BITS = 1_000_000  # of the exact probability


def _rational(compute: Callable[[Initialisation], Fraction]) -> property:
    """Show the exact fraction as a SymPy rational."""

    def shown(self: Initialisation) -> sympy.Rational:
        import sympy

        value = compute(self)
        return sympy.Rational(value.numerator, value.denominator)

    shown.__doc__ = compute.__doc__
    return property(shown)


@dataclass(frozen=True)
class Initialisation:
    """Probabilities over the random signs of [A2 | b2], rows j = 1..n2, for a first layer that maps onto the orthant.

    >>> Initialisation(2, 2).some_dead, Initialisation(2, 2).identifiable
    (15/64, 17/32)
    """

    n1: int
    n2: int
    bias: str = "symmetric"

    def __post_init__(self) -> None:
        """Check the widths and the kind of bias.

        Raises:
            InvalidNetworkError: for widths that are no positive integers or an unknown kind of bias.
            UnsupportedError: for n1 = 1, where these formulas do not hold.
        """
        for name in ("n1", "n2"):
            value = getattr(self, name)
            width = whole_number(value)
            if width is None or width < 1:
                raise InvalidNetworkError(f"{name} is a number of units, at least 1, got {shown(value)}", value=value)
            object.__setattr__(self, name, width)
        if not isinstance(self.bias, str) or self.bias not in BIASES:
            raise InvalidNetworkError(f"bias is one of {', '.join(BIASES)}, got {shown(self.bias)}", value=self.bias)
        if self.n1 * self.n2 > BITS:
            raise BudgetExceededError(f"the exact probability has more than {BITS:,} binary digits: n1 · n2 is larger")
        if self.n1 == 1:
            raise UnsupportedError(
                "n1 = 1 is different: all hyperplanes are parallel and can exchange roles; ask `identifiability` about "
                "a network"
            )

    @property
    def _one_sign(self) -> Fraction:
        """x: that a row has one given pattern of signs; with a constant bias only the weights are random."""
        return Fraction(1, 2 ** (self.n1 + (self.bias == "symmetric")))

    @property
    def _dead(self) -> Fraction:
        return Fraction(0) if self.bias == "positive" else self._one_sign

    @property
    def _hiding(self) -> Fraction:
        """That a row is positive at one given column and negative everywhere else, the bias not positive."""
        return Fraction(0) if self.bias == "positive" else self._one_sign

    @_rational
    def some_dead(self) -> Fraction:
        """P(some row is dead) = 1 − (1 − x)^n2."""
        return 1 - (1 - self._dead) ** self.n2

    @_rational
    def some_linear(self) -> Fraction:
        """P(some row is linear) = 1 − (1 − x)^n2."""
        return 1 - (1 - self._one_sign) ** self.n2

    @_rational
    def all_dead(self) -> Fraction:
        """P(all rows are dead, so that f is constant) = x^n2."""
        return self._dead**self.n2

    @_rational
    def hidden(self) -> Fraction:
        """P(a hyperplane is hidden and some row alive) = n1 ((2x)^n2 − x^n2)."""
        return self.n1 * ((self._dead + self._hiding) ** self.n2 - self._dead**self.n2)

    @_rational
    def expected_dead(self) -> Fraction:
        """E(number of dead rows) = n2 x."""
        return self.n2 * self._dead

    @_rational
    def expected_linear(self) -> Fraction:
        """E(number of linear rows) = n2 x."""
        return self.n2 * self._one_sign

    @_rational
    def identifiable(self) -> Fraction:
        """P(no row dead, none linear, none hidden) = (1 − 2x)^n2 − n1 x^n2; with a positive bias (1 − x)^n2.

        With a zero bias this is an upper bound for the probability of identifiability: whether the fiber is complete
        there is open.
        """
        return (1 - self._dead - self._one_sign) ** self.n2 - self.n1 * self._hiding**self.n2


@checked
def identifiability_probability(n1: int, n2: int, bias: str = "symmetric") -> sympy.Rational:
    """Give the probability that a random three-layer network with n1 ≤ d has no symmetry but relabellings, exactly.

    With `bias="zero"` it is the probability that no row is dead or linear and no hyperplane hidden, which is necessary;
    whether it suffices is open.

    Implements: beyond §5.

    Raises:
        InvalidNetworkError: for widths that are no positive integers or an unknown kind of bias.
        UnsupportedError: for n1 = 1, where the formulas do not hold.
        BudgetExceededError: where n1 · n2 is larger than `BITS`.

    >>> identifiability_probability(3, 4), identifiability_probability(3, 4, bias="positive")
    (38413/65536, 2401/4096)
    """
    return Initialisation(n1, n2, bias).identifiable
