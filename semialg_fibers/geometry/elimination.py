"""Variables that an equation determines: exact projections, local dimensions, and a search for points.

Main definitions
    System             equations = 0, strict inequalities > 0, weak ones ≥ 0

Main results
    project            a system without some variables: exactly the projection, or a refusal
    local_dimension    the dimension at a point, proved by solving for variables near it
    search             a rational point, by solving for variables that occur linearly
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, UnsupportedError
from semialg_fibers.geometry.cone import Pointed, decide_pointed
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.polynomial import Nonvanishing, evaluate
from semialg_fibers.geometry.scalar import dot, exact

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True)
class System:
    """Conditions on variables: `equations` = 0, `positive` > 0, `nonnegative` ≥ 0."""

    equations: tuple[sympy.Expr, ...]
    positive: tuple[sympy.Expr, ...]
    nonnegative: tuple[sympy.Expr, ...]


# projections


def project(system: System, variables: Sequence[sympy.Symbol], dropped: Sequence[sympy.Symbol]) -> tuple[System, int]:
    """Give the projection along the `dropped` variables, exactly, and how many dimensions went with them.

    A variable is dropped when it occurs nowhere, or when an equation a·v + b = 0 determines it and the conditions
    without v say that a ≠ 0: then v = −b/a is put in everywhere, each inequality times an even power of a.

    Raises:
        UnsupportedError: for a variable that is neither (`.variable`).
    """
    todo, lost = list(dropped), 0
    while todo:
        for variable in todo:
            if not any(e.has(variable) for e in (*system.equations, *system.positive, *system.nonnegative)):
                lost += 1
            elif (found := _without(system, variables, variable)) is not None:
                system = found
            else:
                continue
            todo.remove(variable)
            break
        else:
            raise UnsupportedError(
                f"{todo[0]} cannot be dropped: it occurs, and no equation determines it with a coefficient that cannot "
                "vanish; the projection may be no set of this kind",
                variable=todo[0].name,
            )
    return system, lost


def _without(system: System, variables: Sequence[sympy.Symbol], v: sympy.Symbol) -> System | None:
    import sympy

    # A coefficient must stay away from zero on the projection: conditions with v do not speak of it.
    others = Nonvanishing(
        (e for e in system.positive if not e.has(v)), (e for e in system.equations if not e.has(v)), variables
    )
    for i, equation in enumerate(system.equations):
        split = _linear_in(sympy.expand(equation), v)
        if split is None or not others.proves(split[0]):
            continue
        a, b = split
        positive = frozenset(sympy.expand(e) for e in system.positive)

        def put_in(e: sympy.Expr, keep_sign: bool, a: Any = a, b: Any = b, known: Any = positive) -> sympy.Expr:
            polynomial = sympy.Poly(e, v)
            degree = polynomial.degree()
            if a.is_Rational:
                return sympy.expand(e.subs(v, -b / a))
            power = degree
            if keep_sign and degree % 2 and not (a.is_positive or a in known):
                power += 1
            terms = (c * (-b) ** k * a ** (power - k) for (k,), c in polynomial.terms())
            return sympy.expand(sympy.Add(*terms))

        changed = (
            [put_in(e, False) if e.has(v) else e for k, e in enumerate(system.equations) if k != i],
            [put_in(e, True) if e.has(v) else e for e in system.positive],
            [put_in(e, True) if e.has(v) else e for e in system.nonnegative],
        )
        return System(
            tuple(e for e in changed[0] if e != 0),
            tuple(e for e in changed[1] if not e.is_positive or e.free_symbols),
            tuple(e for e in changed[2] if not e.is_nonnegative or e.free_symbols),
        )
    return None


def _linear_in(expanded: sympy.Expr, v: sympy.Symbol) -> tuple[sympy.Expr, sympy.Expr] | None:
    """Give (a, b) with expression = a·v + b, a ≠ 0 and both without v."""
    import sympy

    if not expanded.has(v) or sympy.degree(expanded, v) != 1:
        return None
    return expanded.coeff(v, 1), expanded.coeff(v, 0)


# local dimension


class _Chart:
    """A system near a point: variables are solved for, one after the other, while the rest is kept as polynomials."""

    def __init__(self, equations: Sequence[Any], active: Sequence[Any], at: Mapping[str, fmpq], names: Any) -> None:
        from sympy import QQ
        from sympy.polys.rings import ring

        self.ring, *self.gens = ring(list(names), QQ)
        self.point = [QQ(int(at[v.name].p), int(at[v.name].q)) for v in names]
        self.equations = [p for e in equations if (p := self._reduced(self.ring.from_expr(e)))]
        self.active = [self.ring.from_expr(e) for e in active]
        self.solved: set[int] = set()

    def value(self, polynomial: Any) -> Any:
        total = self.ring.domain.zero
        for exponents, coefficient in polynomial.terms():
            product = coefficient
            for exponent, value in zip(exponents, self.point, strict=True):
                if exponent:
                    product *= value**exponent
            total += product
        return total

    def gradient(self, polynomial: Any) -> list[fmpq]:
        values = (self.value(polynomial.diff(g)) for g in self.gens)
        return [fmpq(int(v.numerator), int(v.denominator)) for v in values]

    def _reduced(self, polynomial: Any) -> Any:
        """Divide by the variables that divide it and are not zero at the point."""
        terms = polynomial.terms()
        common = [min(es) if self.point[i] else 0 for i, es in enumerate(zip(*(e for e, _ in terms), strict=True))]
        if not any(common):
            return polynomial
        return self.ring.from_dict({tuple(a - b for a, b in zip(e, common, strict=True)): c for e, c in terms})

    def _parts(self, polynomial: Any, i: int) -> dict[int, Any]:
        """Give the coefficients of the powers of variable i."""
        by_power: dict[int, dict[Any, Any]] = {}
        for exponents, c in polynomial.terms():
            by_power.setdefault(exponents[i], {})[(*exponents[:i], 0, *exponents[i + 1 :])] = c
        return {power: self.ring.from_dict(terms) for power, terms in by_power.items()}

    def step(self) -> bool:
        """Solve one equation for one variable whose coefficient is not zero at the point."""
        best = None
        for place, equation in enumerate(self.equations):
            for i in range(len(self.gens)):
                if equation.degree(self.gens[i]) != 1:
                    continue
                a = self._parts(equation, i)[1]
                cost = (len(a), len(equation))
                if (best is None or cost < best[0]) and self.value(a):
                    best = (cost, place, i)
        if best is None:
            return False
        _, place, i = best
        parts = self._parts(self.equations.pop(place), i)
        a, b = parts[1], parts.get(0, self.ring.zero)
        if self.value(a) < 0:  # a positive factor near the point keeps the inequalities
            a, b = -a, -b
        self.equations = [self._reduced(p) for e in self.equations if (p := self._put_in(e, i, a, b))]
        self.active = [self._put_in(e, i, a, b) for e in self.active]
        self.solved.add(i)
        return True

    def _put_in(self, polynomial: Any, i: int, a: Any, b: Any) -> Any:
        parts = self._parts(polynomial, i)
        degree = max(parts, default=0)
        if not degree:
            return polynomial
        return sum((c * _power(-b, k) * _power(a, degree - k) for k, c in parts.items()), self.ring.zero)


def _power(polynomial: Any, exponent: int) -> Any:
    return polynomial**exponent if exponent else polynomial.ring.one  # SymPy refuses 0**0


def local_dimension(system: System, variables: Sequence[sympy.Symbol], at: Mapping[str, fmpq]) -> int:
    """Give the dimension of the set at one of its points, where it can be proved.

    Near the point an equation a·v + b = 0 with a ≠ 0 there says that v is a function of the other variables. When all
    equations are used up so, or the gradients of what is left are independent, the solutions are a manifold; the weak
    inequalities that are tight cut out a set of the same dimension when some direction enters all of them.

    Raises:
        BudgetExceededError: where this does not decide.
    """
    active = [e for e in system.nonnegative if evaluate(e, at) == 0]
    chart = _Chart(system.equations, active, at, variables)
    while chart.step():
        pass
    n = len(variables)
    free = [i for i in range(n) if i not in chart.solved]
    rows = Matrix([[g[i] for i in free] for g in map(chart.gradient, chart.equations)], columns=len(free))
    if rows.rank() < len(chart.equations):
        raise BudgetExceededError("the dimension at this point was not decided: the equations that remain are singular")
    directions = rows.kernel().rows()
    entering = [
        tuple(dot([g[i] for i in free], d) for d in directions) for g in map(chart.gradient, chart.active) if any(g)
    ]
    # An inequality that has become 0 ≥ 0 holds; one whose gradient vanishes is not understood.
    singular = any(p and not any(chart.gradient(p)) for p in chart.active)
    if singular or not all(map(any, entering)) or not _has_common_side(entering):
        raise BudgetExceededError(
            "the dimension at this point was not decided: no direction enters all weak inequalities that are tight"
        )
    return len(directions)


def _has_common_side(vectors: Sequence[tuple[fmpq, ...]]) -> bool:
    """Say whether some y has y·v > 0 for every one of the nonzero vectors."""
    return not vectors or isinstance(decide_pointed(Matrix.from_columns(vectors, len(vectors[0]))), Pointed)


# points


def search(
    system: System,
    variables: Sequence[sympy.Symbol],
    contains: Callable[[Mapping[Any, Any]], bool],
    rng: random.Random,
    tries: int = 2000,
) -> dict[str, fmpq]:
    """Choose free variables at random, solve the others from equations in which they occur linearly.

    Raises:
        BudgetExceededError: when no point was found; the set may still have one.
    """
    import sympy

    solved: list[tuple[sympy.Symbol, sympy.Expr]] = []
    waiting = [sympy.expand(e) for e in system.equations]
    while waiting:
        pick = next(((e, v) for e in waiting for v in variables if _linear_in(e, v)), None)
        if pick is None:
            raise BudgetExceededError(f"no variable occurs linearly in {waiting[0]} = 0: no sampler for this set")
        equation, variable = pick
        solution = sympy.together(-equation.coeff(variable, 0) / equation.coeff(variable, 1))
        solved.append((variable, solution))
        waiting.remove(equation)
        waiting = [sympy.expand(sympy.numer(sympy.together(e.subs(variable, solution)))) for e in waiting]
        waiting = [e for e in waiting if e != 0]
    dependent = {variable for variable, _ in solved}
    for _ in range(tries):
        point: dict[Any, Any] = {v: _random_number(rng) for v in variables if v not in dependent}
        for variable, solution in reversed(solved):
            point[variable] = solution.subs(point)
        if all(getattr(value, "is_Rational", False) for value in point.values()) and contains(point):
            return {variable.name: exact(value) for variable, value in point.items()}
    raise BudgetExceededError(f"no point found in {tries} tries; nothing is claimed about emptiness")


def _random_number(rng: random.Random) -> sympy.Rational:
    import sympy

    return sympy.Rational(rng.randint(-40, 40), rng.randint(1, 8))
