"""The neurons of one hidden layer, sorted into nonlinear and spare ones, and what they can be exchanged for.

Main definitions
    Block                 labels of nonlinear and of spare neurons, and the choice-of-sides problem they pose

Main results
    block_of              a network with one hidden layer as a block
    Block.match           the only S whose component can contain given neurons, under any labelling
    Block.draw            random neurons of component S
    scaled_permutation    rows matched up to order and positive scale

References: theory §2.3, §2.6.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Any

from flint import fmpq

from semialg_fibers.fibers.orientation import OrientationProblem, Sides
from semialg_fibers.fibers.symbolic_orientation import SymbolicOrientationProblem
from semialg_fibers.geometry.cone import nonnegative_column_rank
from semialg_fibers.geometry.domain import Box, Form, Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, primitive
from semialg_fibers.geometry.semialgebraic import random_positive, random_rational
from semialg_fibers.networks.arrangement import oriented
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import DEAD, LINEAR, NONLINEAR, classify

Neurons = tuple[list[Form], list[Vector], Vector]


@dataclass(frozen=True)
class Block:
    """The neurons of one hidden layer, by label: nonlinear ones, and spare ones with the linear ones first."""

    problem: OrientationProblem
    nonlinear: tuple[int, ...]
    spare: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of neurons."""
        return len(self.nonlinear) + len(self.spare)

    @property
    def copies(self) -> int:
        """The ways n!/(n − k)! to place the nonlinear neurons on the labels.

        Implements: theory §2.6.
        """
        return factorial(self.size) // factorial(len(self.spare))

    def subs(self, values: Mapping[Any, Any]) -> Block:
        """Put numbers or expressions for the letters of the neurons."""
        problem = self.problem
        return replace(self, problem=problem.subs(values)) if isinstance(problem, SymbolicOrientationProblem) else self

    def flips(self, sides: Sides) -> tuple[int, ...]:
        """Give the labels of the flipped neurons."""
        return tuple(self.nonlinear[side] for side in sides)

    def match(self, forms: Sequence[Form], outgoing: Sequence[Vector], constant: Vector) -> Sides | None:
        """Give S when these neurons form a member of component S under some labelling, else None (no component).

        Implements: theory §2.3.
        """
        problem = self.problem
        known = {}
        for side, form in enumerate(problem.forms):
            hyperplane, scale = oriented(form)
            known[hyperplane] = (side, scale)
        flipped: list[int] = []
        met: set[int] = set()
        rest = [ZERO] * problem.m
        linear = [[ZERO] * problem.p for _ in range(problem.m)]
        for form, column in zip(forms, outgoing, strict=True):
            kind = classify(form, problem.domain)
            if kind == NONLINEAR:
                hyperplane, scale = oriented(form)
                side, own = known.get(hyperplane, (-1, ONE))
                factor = abs(own / scale)
                if side < 0 or side in met or column != tuple(factor * c for c in problem.outgoing[side]):
                    return None
                met.add(side)
                if scale * own < 0:
                    flipped.append(side)
            elif kind == LINEAR:
                for a, weight in enumerate(column):
                    rest[a] += weight * form[-1]
                    linear[a] = [x + weight * y for x, y in zip(linear[a], form[:-1], strict=True)]
        sides = tuple(sorted(flipped))
        wanted_linear, wanted_constant = problem.remainder(sides)
        total = tuple(a + b for a, b in zip(constant, rest, strict=True))
        same = len(met) == problem.k and Matrix(linear, columns=problem.p) == wanted_linear and total == wanted_constant
        return sides if same else None

    def draw(self, sides: Sides, rng: random.Random, q: int | None = None) -> Neurons:
        """Give random neurons of component S with q linear ones (random when None), in the labels of the block."""
        problem = self.problem
        forms: list[Form] = [()] * self.size
        outgoing: list[Vector] = [()] * self.size
        for side, label in enumerate(self.nonlinear):
            scale = random_positive(rng)
            sign = -scale if side in sides else scale
            forms[label] = tuple(sign * value for value in problem.forms[side])
            outgoing[label] = tuple(value / scale for value in problem.outgoing[side])
        linear, constant = problem.remainder(sides)
        least = problem.least_linear(sides)
        assert least is not None  # the component is feasible
        count = rng.randint(least, problem.spare) if q is None else q
        if isinstance(problem, SymbolicOrientationProblem):
            left, right = problem.factorization(sides, count)
        else:
            left, right = _random_factorization(linear, count, rng, problem)
        total = list(constant)
        for j, label in enumerate(self.spare):
            if j < count:
                scale = random_positive(rng)
                form = _random_linear(tuple(scale * value for value in right.row(j)), problem, rng)
                column = tuple(value / scale for value in left.column(j))
                total = [a - weight * form[-1] for a, weight in zip(total, column, strict=True)]
            else:
                form = _random_dead(problem, rng)
                column = tuple(random_rational(rng) for _ in range(problem.m))
            forms[label], outgoing[label] = form, column
        return forms, outgoing, tuple(total)


def block_of(net: Network, kinds: Sequence[str]) -> Block:
    """Give the block of a network with one hidden layer, given the kinds of its neurons.

    Implements: theory §2.3.
    """
    inner, outer = net.layers
    by_kind = {name: tuple(j for j, kind in enumerate(kinds) if kind == name) for name in (NONLINEAR, LINEAR, DEAD)}
    nonlinear, linear = by_kind[NONLINEAR], by_kind[LINEAR]
    product = outer.matrix.select(columns=linear) @ inner.matrix.select(rows=linear)
    shift = outer.matrix.select(columns=linear).times([inner.offset[j] for j in linear])
    problem = OrientationProblem(
        net.domain,
        tuple(inner.forms[j] for j in nonlinear),
        tuple(outer.matrix.column(j) for j in nonlinear),
        product,
        tuple(a + b for a, b in zip(outer.offset, shift, strict=True)),
        len(kinds) - len(nonlinear),
        inner.matrix.select(rows=nonlinear),
    )
    if not net.is_rational:
        own = tuple((inner.matrix.row(j), outer.matrix.column(j)) for j in linear)
        problem = SymbolicOrientationProblem.of(problem, own)
    return Block(problem, nonlinear, linear + by_kind[DEAD])


def _random_factorization(
    linear: Matrix, q: int, rng: random.Random, problem: OrientationProblem
) -> tuple[Matrix, Matrix]:
    """Give a random pair (C', B') with C'B' = M, q columns, and B' ≥ 0 on the orthant."""
    m, p = problem.m, problem.p
    if isinstance(problem.domain, Space):
        return _random_matrix(m, q, rng), Matrix.zeros(q, p)
    if isinstance(problem.domain, Box):
        basis = linear.select(columns=linear.independent_columns())
        rows = basis.independent_rows()
        left, right = basis, basis.select(rows).inverse() @ linear.select(rows)
        mix = _random_matrix(left.shape[1], left.shape[1], rng)
        extra = _random_matrix(q - left.shape[1], p, rng)
    else:
        answer = nonnegative_column_rank(linear)
        left, right = answer.left_factor, answer.right_factor
        mix = _random_matrix(left.shape[1], left.shape[1], rng, nonnegative=True)
        extra = _random_matrix(q - left.shape[1], p, rng, nonnegative=True)
    if rng.random() < 0.5:  # proportional rows leave room for more columns C'
        extra = _random_matrix(extra.shape[0], 1, rng, nonnegative=True) @ _random_matrix(1, p, rng, nonnegative=True)
    mix = mix + Matrix.identity(mix.shape[0])
    if mix.rank() == mix.shape[0]:
        left, right = left @ mix.inverse(), mix @ right
    # More neurons: B' gains rows Y ≥ 0, the old rows gain |Z| Y, and the new columns −C|Z| take it away again.
    share = _random_matrix(left.shape[1], extra.shape[0], rng, nonnegative=True)
    right = (right + share @ extra).stacked(extra)
    left = left.beside(-(left @ share))
    # Any columns that annihilate B' may be added to C'.
    free = right.T.kernel()
    return left + _random_matrix(m, free.shape[0], rng) @ free, right


def _random_matrix(rows: int, columns: int, rng: random.Random, nonnegative: bool = False) -> Matrix:
    draw = random_positive if nonnegative else random_rational
    return Matrix([[draw(rng) for _ in range(columns)] for _ in range(rows)], columns=columns)


def _random_linear(row: Vector, problem: OrientationProblem, rng: random.Random) -> Form:
    """Give a form with these weights that is ≥ 0 on the domain."""
    lowest = problem.domain.infimum((*row, ZERO))
    assert lowest is not None  # the weights are bounded below on the domain
    return (*row, random_positive(rng) - lowest)


def _random_dead(problem: OrientationProblem, rng: random.Random) -> Form:
    """Give a form that is ≤ 0 on the domain."""
    if isinstance(problem.domain, Space):
        return (*(ZERO,) * problem.p, -random_positive(rng))
    if isinstance(problem.domain, Box):
        row = tuple(random_rational(rng) for _ in range(problem.p))
        highest = problem.domain.supremum((*row, ZERO))
        assert highest is not None
        return (*row, -highest - random_positive(rng))
    return tuple(-random_positive(rng) for _ in range(problem.p + 1))


def positive_ratio(row: Vector, base: Vector) -> fmpq | None:
    """Give λ > 0 with row = λ · base ≠ 0, or None."""
    if not any(base) or primitive(row) != primitive(base):
        return None
    pivot = next(i for i, value in enumerate(base) if value)
    return row[pivot] / base[pivot]


def scaled_permutation(own: Sequence[Form], other: Sequence[Form]) -> list[tuple[int, fmpq]] | None:
    """Give for each own row k the (place, λ > 0) with other[place] = λ · own[k], every place once; or None.

    The own rows are nonzero and pairwise not parallel.
    """
    places = {primitive(form): place for place, form in enumerate(other)}
    found = []
    for form in own:
        place = places.get(primitive(form))
        if place is None:
            return None
        scale = positive_ratio(other[place], form)
        assert scale is not None  # equal primitive vectors
        found.append((place, scale))
    return found
