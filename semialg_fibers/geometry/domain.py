"""Polyhedral domains: all of R^d, the nonnegative orthant, a box.

Main definitions
    Space, Orthant, Box    the domains
    Form                   an affine form x ↦ w·x + γ as the vector (w, γ), constant last

Main results
    infimum, supremum      of an affine form on the domain, exactly; None stands for −∞ or ∞
    positive_point         an interior point at which a form is positive, when there is one

References: theory §2.1, §2.7.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.arguments import whole_number
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, affine_value, dot, quantity, shown, vector

Form = Vector


def negated(form: Sequence[fmpq]) -> Form:
    """Give the form with the opposite sign."""
    return tuple(-value for value in form)


class Domain(ABC):
    """A convex polyhedral set with interior in R^d."""

    dimension: int

    @abstractmethod
    def infimum(self, form: Form) -> fmpq | None:
        """Give the infimum of the form on the domain; None when it is −∞."""

    def supremum(self, form: Form) -> fmpq | None:
        """Give the supremum of the form on the domain; None when it is ∞."""
        below = self.infimum(negated(form))
        return None if below is None else -below

    @abstractmethod
    def constraints(self) -> list[Form]:
        """Give affine forms that are all nonnegative exactly on the domain."""

    @abstractmethod
    def positive_point(self, form: Form) -> Vector | None:
        """Give an interior point at which the form is positive; None when there is none."""

    def interior_point(self) -> Vector:
        """Give a point of the interior."""
        found = self.positive_point((ZERO,) * self.dimension + (ONE,))
        assert found is not None  # the form 1 is positive everywhere
        return found

    def contains(self, point: Iterable[Any]) -> bool:
        """Say whether the point lies in the domain, boundary included."""
        x = vector(point)
        if len(x) != self.dimension:
            raise InvalidNetworkError(f"expected a point with {quantity(self.dimension, 'coordinate')}, got {len(x)}")
        return all(affine_value(form, x) >= 0 for form in self.constraints())


def _checked_dimension(dimension: Any) -> int:
    size = whole_number(dimension)
    if size is None:
        raise InvalidNetworkError(f"the dimension of a domain is a whole number, got {shown(dimension)}")
    if size < 1:
        raise InvalidNetworkError(f"a domain needs a dimension of at least 1, got {shown(dimension)}")
    return size


@dataclass(frozen=True)
class Space(Domain):
    """All of R^d.

    >>> Space(2).infimum(vector([0, 0, 3])), Space(2).infimum(vector([1, 0, 3]))
    (3, None)
    """

    dimension: int

    def __post_init__(self) -> None:
        """Check the dimension."""
        object.__setattr__(self, "dimension", _checked_dimension(self.dimension))

    def __str__(self) -> str:
        """Give the set on paper."""
        return f"R^{self.dimension}"

    def infimum(self, form: Form) -> fmpq | None:
        """Give γ for a constant form, −∞ otherwise."""
        return None if any(form[:-1]) else form[-1]

    def constraints(self) -> list[Form]:
        """There are none."""
        return []

    def positive_point(self, form: Form) -> Vector | None:
        """Go along w until the form is 1."""
        w = form[:-1]
        square = dot(w, w)
        if square == 0:
            return (ZERO,) * self.dimension if form[-1] > 0 else None
        step = max((ONE - form[-1]) / square, ZERO)
        return tuple(step * value for value in w)


@dataclass(frozen=True)
class Orthant(Domain):
    """The nonnegative orthant {h ∈ R^d : h ≥ 0}.

    >>> Orthant(2).infimum(vector([1, 0, -3])), Orthant(2).supremum(vector([1, 0, -3]))
    (-3, None)
    """

    dimension: int

    def __post_init__(self) -> None:
        """Check the dimension."""
        object.__setattr__(self, "dimension", _checked_dimension(self.dimension))

    def __str__(self) -> str:
        """Give the set on paper."""
        return f"R^{self.dimension}_(≥0)"

    def infimum(self, form: Form) -> fmpq | None:
        """Give γ when no coefficient is negative, −∞ otherwise."""
        return None if any(value < 0 for value in form[:-1]) else form[-1]

    def constraints(self) -> list[Form]:
        """Give the coordinates."""
        return [(*(fmpq(int(i == j)) for j in range(self.dimension)), ZERO) for i in range(self.dimension)]

    def positive_point(self, form: Form) -> Vector | None:
        """Go far along a coordinate with a positive coefficient, or stay near the origin."""
        w, constant = form[:-1], form[-1]
        total = sum(w, ZERO)
        for i, value in enumerate(w):
            if value > 0:
                step = max((ONE - constant - total) / value, ZERO)
                return tuple(ONE + step if i == j else ONE for j in range(self.dimension))
        if constant <= 0:
            return None
        scale = ONE if total == 0 else min(ONE, -constant / (2 * total))
        return (scale,) * self.dimension


@dataclass(frozen=True)
class Box(Domain):
    """The box {x : low ≤ x ≤ high}, low < high in each coordinate.

    >>> Box([-1, 0], [1, 2]).infimum(vector([1, -1, 0]))
    -3
    """

    low: Vector
    high: Vector

    def __init__(self, low: Iterable[Any], high: Iterable[Any]) -> None:
        """Read the two corners.

        Raises:
            InvalidNetworkError: when the corners do not fit or the box has no interior.
        """
        object.__setattr__(self, "low", vector(low))
        object.__setattr__(self, "high", vector(high))
        if len(self.low) != len(self.high) or not self.low:
            raise InvalidNetworkError(
                "a box needs two corners of one dimension, got "
                f"{len(self.low)} and {quantity(len(self.high), 'coordinate')}"
            )
        for i, (a, b) in enumerate(zip(self.low, self.high, strict=True)):
            if a >= b:
                raise InvalidNetworkError(f"a box needs an interior: coordinate {i + 1} runs from {a} to {b}", column=i)

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """The number of coordinates."""
        return len(self.low)

    def __str__(self) -> str:
        """Give the set on paper."""
        return " × ".join(f"[{a}, {b}]" for a, b in zip(self.low, self.high, strict=True))

    def infimum(self, form: Form) -> fmpq | None:
        """Give the sum over coordinates of the smaller end."""
        return dot(form[:-1], self._corner(form, -1)) + form[-1]

    def _corner(self, form: Form, sign: int) -> Vector:
        ends = zip(form[:-1], self.low, self.high, strict=True)
        return tuple(b if value * sign > 0 else a for value, a, b in ends)

    def constraints(self) -> list[Form]:
        """Give x_i − low_i and high_i − x_i."""
        forms = []
        for i, (a, b) in enumerate(zip(self.low, self.high, strict=True)):
            axis = [fmpq(int(i == j)) for j in range(self.dimension)]
            forms += [(*axis, -a), (*(-value for value in axis), b)]
        return forms

    def vertices(self) -> list[Vector]:
        """Give the 2^d corners."""
        return list(product(*zip(self.low, self.high, strict=True)))

    def positive_point(self, form: Form) -> Vector | None:
        """Go from the centre towards the corner where the form is largest, not all the way."""
        centre = tuple((a + b) / 2 for a, b in zip(self.low, self.high, strict=True))
        corner = self._corner(form, 1)
        at_centre, at_corner = affine_value(form, centre), affine_value(form, corner)
        if at_centre > 0:
            return centre
        if at_corner <= 0:
            return None
        share = (1 + at_centre / (at_centre - at_corner)) / 2
        return tuple(c + share * (v - c) for c, v in zip(centre, corner, strict=True))
