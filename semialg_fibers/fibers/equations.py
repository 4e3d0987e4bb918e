"""Component S in symbols: its equations and inequalities, and its parametrisation.

Main definitions
    OrientationPart    component S with q linear rows, of one hidden layer or behind a first layer

The scaling λ_k of a first-layer hyperplane is W1_k,c / A1_k,c at the first nonzero coordinate c of [A1 | b1]_k, its
pivot; the products W3_a,l · W2_l,k · W1_k,c along paths are then the invariants.

References: theory §2.3, §3.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.fibers.block import Block
from semialg_fibers.fibers.component import (
    Conditions,
    Parametrization,
    equation,
    positivity,
    symbolic_layer,
    times,
)
from semialg_fibers.fibers.conditions import open_parts
from semialg_fibers.fibers.letters import FreshSymbols, Letters
from semialg_fibers.fibers.orientation import Sides
from semialg_fibers.geometry.domain import Box, Space
from semialg_fibers.geometry.expression import to_sympy
from semialg_fibers.geometry.scalar import ONE
from semialg_fibers.geometry.semialgebraic import BasicSet, Sampler
from semialg_fibers.geometry.symbolic_matrix import letters_in
from semialg_fibers.networks.layer import Layer

if TYPE_CHECKING:
    import sympy

VERTEX_LIMIT = 2**12

Factors = list[tuple[Any, fmpq]]  # pairs (x, a) with x = λ a, which determine a scaling λ


@dataclass(frozen=True)
class OrientationPart:
    """Component S with exactly q linear rows, the first q spare labels; `first` as in `OrientationComponent`."""

    block: Block
    sides: Sides
    q: int
    widths: tuple[int, ...]
    first: Layer | None

    @property
    def _layer(self) -> int:
        return 1 if self.first is None else 2

    @property
    def _linear(self) -> tuple[int, ...]:
        return self.block.spare[: self.q]

    @property
    def _dead(self) -> tuple[int, ...]:
        return self.block.spare[self.q :]

    def _sign(self, side: int) -> int:
        return -1 if side in self.sides else 1

    # equations and inequalities

    def basic_set(self, sampler: Sampler | None, dimension: int | None) -> BasicSet:
        """Give the part as a set in the parameters.

        Implements: theory §2.3.

        Raises:
            BudgetExceededError: on a box with more vertices than are written out.
        """
        conditions = Conditions.none()
        factors = self._first_layer(conditions)
        self._nonlinear_rows(conditions, factors)
        self._linear_rows(conditions, factors)
        for label in self._linear:
            self._sign_on_domain(conditions, self._row(label), 1)
        for label in self._dead:
            self._sign_on_domain(conditions, self._row(label), -1)
        return conditions.basic_set(self._letters, sampler, dimension)

    @cached_property
    def _letters(self) -> Letters:
        return Letters(self.widths)

    def _row(self, label: int) -> list[sympy.Symbol]:
        letters, layer = self._letters, self._layer
        return [*(letters.weight(layer, label, k) for k in range(self.block.problem.p)), letters.bias(layer, label)]

    def _first_layer(self, conditions: Conditions) -> list[Factors]:
        """Fix the first layer up to positive scaling; give pairs (variable, base value) for each input."""
        if self.first is None:
            return [[(to_sympy(ONE), ONE)]] * self.block.problem.p
        factors = []
        conditions.explain("the first layer's hyperplanes, each up to a positive factor")
        for k, form in enumerate(self.first.forms):
            inputs = range(len(form) - 1)
            row = [*(self._letters.weight(1, k, c) for c in inputs), self._letters.bias(1, k)]
            factors.append(conditions.parallel(row, form))
        return factors

    def _nonlinear_rows(self, conditions: Conditions, factors: Sequence[Factors]) -> None:
        """C'_l (B', β')_l = ε_l C_l (B_l, β_l), and one coordinate of (B', β')_l has the sign of ε_l (B_l, β_l)."""
        problem, letters, layer = self.block.problem, self._letters, self._layer
        if self.block.nonlinear:
            what = "product of incoming and outgoing weights" if self.first is None else "products along paths"
            conditions.explain(f"the {what} of each nonlinear neuron")
        for side, label in enumerate(self.block.nonlinear):
            form, sign, row = problem.forms[side], self._sign(side), self._row(label)
            for a, weight in enumerate(problem.outgoing[side]):
                out = letters.weight(layer + 1, a, label)
                for k, pairs in enumerate(factors):
                    for variable, value in pairs:
                        wanted = sign * weight * form[k] * value
                        conditions.equations.append(equation(out * row[k] * variable, wanted))
                conditions.equations.append(equation(out * row[-1], sign * weight * form[-1]))
            conditions.same_side(row, form, sign)

    def _linear_rows(self, conditions: Conditions, factors: Sequence[Factors]) -> None:
        """Σ C'_j B'_j = M_S and c' + Σ C'_j β'_j = v_S."""
        problem, letters, layer = self.block.problem, self._letters, self._layer
        linear, constant = problem.remainder(self.sides)
        rows = {label: self._row(label) for label in self._linear}
        if not self._linear or isinstance(problem.domain, Space):  # for numbers M_S is zero then
            conditions.equations += map(to_sympy, open_parts(v for row in linear.rows() for v in row))
        conditions.explain("the affine remainder, realized by linear neurons and the last bias")
        for a in range(problem.m):
            outs = {label: letters.weight(layer + 1, a, label) for label in self._linear}
            if self._linear and not isinstance(problem.domain, Space):
                for k, pairs in enumerate(factors):
                    for variable, value in pairs:
                        total = sum(outs[label] * rows[label][k] * variable for label in self._linear)
                        conditions.equations.append(equation(total, linear[a, k] * value))
            shift = sum(outs[label] * rows[label][-1] for label in self._linear)
            conditions.equations.append(equation(letters.bias(layer + 1, a) + shift, constant[a]))

    def _sign_on_domain(self, conditions: Conditions, row: Sequence[sympy.Symbol], sign: int) -> None:
        """The row's form is ≥ 0 (sign 1) or ≤ 0 (sign −1) on the domain."""
        domain = self.block.problem.domain
        if isinstance(domain, Space):
            conditions.equations.extend(row[:-1])
            conditions.nonnegative.append(sign * row[-1])
        elif isinstance(domain, Box):
            if 2**domain.dimension > VERTEX_LIMIT:
                raise BudgetExceededError(
                    f"the sign of a form on a box with 2^{domain.dimension} vertices is written out for at most "
                    f"{VERTEX_LIMIT} of them"
                )
            for vertex in domain.vertices():
                at = sum(times(value, weight) for value, weight in zip(vertex, row[:-1], strict=True)) + row[-1]
                conditions.nonnegative.append(sign * at)
        else:
            conditions.nonnegative.extend(sign * variable for variable in row)

    # parametrisation

    def parametrization(self) -> Parametrization:
        """Give the part as an image: λ_k, μ_l > 0; B, β, C of the linear and dead rows, with C B = M_S.

        Implements: theory §2.3.
        """
        import sympy

        problem = self.block.problem
        first = () if self.first is None else self.first.forms
        fresh = FreshSymbols(letters_in(first, problem.forms, problem.outgoing, problem.linear, problem.constant))
        lambdas = [fresh.positive(f"lambda_{k}") for k in range(len(first))]
        scale: list[Any] = lambdas or [sympy.Integer(1)] * problem.p
        symbols: list[Any] = list(lambdas)
        ranges: list[Any] = [positivity(value) for value in lambdas]
        rows: list[list[Any]] = [[] for _ in range(self.block.size)]
        columns: list[list[Any]] = [[] for _ in range(self.block.size)]
        for side, label in enumerate(self.block.nonlinear):
            mu = fresh.positive(f"mu_{label}")
            symbols.append(mu)
            ranges.append(positivity(mu))
            rows[label] = [times(self._sign(side) * value, mu) for value in problem.forms[side]]
            columns[label] = [times(value, 1 / mu) for value in problem.outgoing[side]]
        linear, constant = problem.remainder(self.sides)
        equations: list[Any] = []
        for label in self.block.spare:
            weights = [fresh.real(f"B_{label}_{k}") for k in range(problem.p)]
            shift = fresh.real(f"beta_{label}")
            columns[label] = [fresh.real(f"C_{a}_{label}") for a in range(problem.m)]
            rows[label] = [*weights, shift]
            conditions = Conditions.none()
            self._sign_on_domain(conditions, rows[label], 1 if label in self._linear else -1)
            symbols += [*weights, shift, *columns[label]]
            equations += conditions.equations
            ranges += [sympy.Ge(value, 0) for value in conditions.nonnegative]
        if not isinstance(problem.domain, Space) and self._linear:
            for a in range(problem.m):
                for k in range(problem.p):
                    total = sum(columns[label][a] * rows[label][k] for label in self._linear)
                    equations.append(equation(total, linear[a, k]))
        shifts = [
            to_sympy(constant[a]) - sum(columns[label][a] * rows[label][-1] for label in self._linear)
            for a in range(problem.m)
        ]
        scaled = [[*(value / s for value, s in zip(row[:-1], scale, strict=True)), row[-1]] for row in rows]
        layers = [symbolic_layer(scaled), (sympy.ImmutableMatrix(list(zip(*columns, strict=True))), tuple(shifts))]
        if self.first is not None:
            base = [[times(value, s) for value in form] for form, s in zip(first, lambdas, strict=True)]
            layers.insert(0, symbolic_layer(base))
        return Parametrization(tuple(symbols), tuple(ranges), tuple(equations), tuple(layers))
