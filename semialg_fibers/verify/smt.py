"""Equality of two networks asked of an SMT solver: a second judge, which knows no cells.

Main results
    same_by_smt    a point where two networks differ, or None when z3 or cvc5 has proved that there is none

Both networks are written as one problem of linear real arithmetic with max(0, ·); any depths and any parameters.

References: theory §1.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.domain import Form
from semialg_fibers.geometry.scalar import ZERO, Vector
from semialg_fibers.geometry.smt import Affine, Problem, solve
from semialg_fibers.networks.layer import Network


def same_by_smt(a: Network, b: Network, solver: str = "z3", seconds: float = 60) -> Vector | None:
    """Give a point of the domain with a(x) ≠ b(x), or None when the solver has proved that there is none.

    A point has been evaluated exactly; None is the word of the solver ("z3" or "cvc5").

    Implements: theory §1.

    Raises:
        InvalidNetworkError: when domains or numbers of outputs differ, or for another solver.
        BudgetExceededError: when the solver has not decided after `seconds`.
        UnsupportedError: when the solver is not installed.
    """
    problem = difference_problem(a, b)
    point = solve(problem, solver, seconds)
    if point is not None:
        assert a.domain.contains(point)
        assert a.value(point) != b.value(point)
    return point


def difference_problem(a: Network, b: Network) -> Problem:
    """Give the problem that the points of the domain with a(x) ≠ b(x) solve.

    Raises:
        InvalidNetworkError: when domains or numbers of outputs differ.

    >>> a, b = Network([([[1]], [0]), ([[3]], [0])]), Network([([[2]], [5])])
    >>> problem = difference_problem(a, b)
    >>> print(*problem.relus, *problem.nonzero)
    v0 -2*v0 + 3*v1 - 5
    """
    if a.domain != b.domain or a.widths[-1] != b.widths[-1]:
        raise InvalidNetworkError(
            f"equality needs one domain and one number of outputs, got {a.domain}, {a.widths[-1]} and "
            f"{b.domain}, {b.widths[-1]}"
        )
    dimension = a.widths[0]
    inputs = range(dimension)
    relus: list[Affine] = []
    outputs: list[dict[int, fmpq]] = [{} for _ in range(a.widths[-1])]
    constants = [u - v for u, v in zip(a.layers[-1].offset, b.layers[-1].offset, strict=True)]
    for sign, net in ((1, a), (-1, b)):
        variables: Sequence[int] = inputs
        for layer in net.layers[:-1]:
            first = dimension + len(relus)
            relus += [_on(form, variables) for form in layer.forms]
            variables = range(first, first + layer.outputs)
        for output, row in zip(outputs, net.layers[-1].matrix.rows(), strict=True):
            for i, value in zip(variables, row, strict=True):
                output[i] = output.get(i, ZERO) + sign * value
    return Problem(
        dimension,
        tuple(relus),
        tuple(_on(form, inputs) for form in a.domain.constraints()),
        tuple(Affine(output, constant) for output, constant in zip(outputs, constants, strict=True)),
    )


def _on(form: Form, variables: Sequence[int]) -> Affine:
    return Affine(dict(zip(variables, form[:-1], strict=True)), form[-1])
