"""Semi-algebraic sets: equations, inequalities, membership, sampling, dimension.

Main definitions
    BasicSet             {x : p_i = 0, q_j > 0, r_k ≥ 0} for polynomials in named variables
    SemialgebraicSet     a finite union of basic sets in the same variables

Main results
    contains             exact membership of a rational point
    sample               an exact rational point of the set, the same for the same seed
    dimension            stated by who built the set, or proved from a sample where a smooth-point argument suffices

References: theory §1, §2.3.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, ZERO, exact, sympy_rational

if TYPE_CHECKING:
    import sympy

Point = Mapping[Any, Any] | Iterable[Any]
Sampler = Callable[[random.Random], "dict[str, fmpq]"]


def evaluate(expression: sympy.Expr, values: Mapping[str, fmpq]) -> fmpq:
    """Give the value of a polynomial with rational coefficients at a rational point, exactly.

    Raises:
        InvalidNetworkError: for a symbol without a value, or an expression that is no polynomial.
    """
    if expression.is_Symbol:
        try:
            return values[expression.name]
        except KeyError:
            raise InvalidNetworkError(f"the point gives no value for {expression}", value=str(expression)) from None
    if expression.is_Rational:
        return exact(expression)
    if expression.is_Add:
        return sum((evaluate(term, values) for term in expression.args), ZERO)
    if expression.is_Mul:
        product = ONE
        for factor in expression.args:
            product *= evaluate(factor, values)
        return product
    if expression.is_Pow and expression.exp.is_Integer and expression.exp >= 0:
        return evaluate(expression.base, values) ** int(expression.exp)
    raise InvalidNetworkError(f"{expression} is no polynomial with rational coefficients", value=str(expression))


@dataclass(frozen=True)
class BasicSet:
    """The set {x : equations = 0, positive > 0, nonnegative ≥ 0} in the space of `variables`.

    Two sets are equal when their descriptions are. `sampler` and `known_dimension` come from who built the set and
    knows a parametrisation; without them `sample` solves for variables that occur linearly. `headings` are pairs
    (i, words) that say what the equations from index i on mean.

    >>> from sympy.abc import x, y
    >>> hyperbola = BasicSet((x, y), (x * y - 1,), (x,))
    >>> print(hyperbola)
    {x*y - 1 = 0, x > 0}
    >>> hyperbola.contains((2, "1/2")), hyperbola.contains((-1, -1)), hyperbola.dimension
    (True, False, 1)
    """

    variables: tuple[sympy.Symbol, ...]
    equations: tuple[sympy.Expr, ...] = ()
    positive: tuple[sympy.Expr, ...] = ()
    nonnegative: tuple[sympy.Expr, ...] = ()
    sampler: Sampler | None = field(default=None, compare=False, repr=False)
    known_dimension: int | None = field(default=None, compare=False, repr=False)
    headings: tuple[tuple[int, str], ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check that only the named variables occur."""
        import sympy

        names = set(self.variables)
        for kind in ("equations", "positive", "nonnegative"):
            expressions = tuple(sympy.sympify(e) for e in getattr(self, kind))
            object.__setattr__(self, kind, expressions)
            for expression in expressions:
                if not expression.free_symbols <= names:
                    unknown = ", ".join(sorted(str(s) for s in expression.free_symbols - names))
                    raise InvalidNetworkError(f"{expression} contains {unknown}, which is no variable of the set")

    def __str__(self) -> str:
        """Give the set on paper."""
        lines = [f"{e} = 0" for e in self.equations]
        lines += [f"{e} > 0" for e in self.positive] + [f"{e} ≥ 0" for e in self.nonnegative]
        return "{" + ", ".join(lines) + "}" if lines else f"R^{len(self.variables)}"

    def values(self, point: Point) -> dict[str, fmpq]:
        """Read a point: a mapping from variables (or their names) to numbers, or numbers in the order of variables.

        Raises:
            InvalidNetworkError: when a coordinate is missing or there are too many.
        """
        if isinstance(point, Mapping):
            read = {str(key): exact(value) for key, value in point.items()}
        else:
            numbers = [exact(value) for value in point]
            if len(numbers) != len(self.variables):
                raise InvalidNetworkError(f"expected {len(self.variables)} coordinates, got {len(numbers)}")
            read = {variable.name: value for variable, value in zip(self.variables, numbers, strict=True)}
        missing = [variable.name for variable in self.variables if variable.name not in read]
        if missing:
            raise InvalidNetworkError(f"the point gives no value for {missing[0]}", value=missing[0])
        return read

    def contains(self, point: Point) -> bool:
        """Say whether the rational point satisfies every equation and inequality, exactly."""
        values = self.values(point)
        return (
            all(evaluate(e, values) > 0 for e in self.positive)
            and all(evaluate(e, values) >= 0 for e in self.nonnegative)
            and all(evaluate(e, values) == 0 for e in self.equations)
        )

    def sample(self, seed: int = 0) -> dict[sympy.Symbol, sympy.Rational]:
        """Give a rational point of the set; the same seed gives the same point.

        Raises:
            BudgetExceededError: when no point was found; the set may still have one.
        """
        rng = random.Random(seed)
        found = self.sampler(rng) if self.sampler else self._search(rng)
        return {variable: sympy_rational(found[variable.name]) for variable in self.variables}

    def _search(self, rng: random.Random, tries: int = 2000) -> dict[str, fmpq]:
        """Choose free variables at random, solve the others from equations in which they occur linearly."""
        import sympy

        solved: list[tuple[sympy.Symbol, sympy.Expr]] = []
        waiting = [sympy.expand(e) for e in self.equations]
        while waiting:
            pick = next(((e, v) for e in waiting for v in self.variables if _is_linear(e, v)), None)
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
            point: dict[Any, Any] = {v: _random_number(rng) for v in self.variables if v not in dependent}
            for variable, solution in reversed(solved):
                point[variable] = solution.subs(point)
            if all(getattr(value, "is_Rational", False) for value in point.values()) and self.contains(point):
                return self.values(point)
        raise BudgetExceededError(f"no point found in {tries} tries; nothing is claimed about emptiness")

    def jacobian_rank(self, point: Point) -> int:
        """Give the rank of the Jacobian of the equations at a rational point, exactly."""
        values = self.values(point)
        rows = [[evaluate(e.diff(v), values) for v in self.variables] for e in self.equations]
        return Matrix(rows, columns=len(self.variables)).rank()

    @property
    def dimension(self) -> int:
        """The dimension: as stated by who built the set, else proved from a sample.

        At a sample where the strict inequalities hold and the Jacobian of the equations has a row rank equal to their
        number, the set is locally a manifold of that codimension; for linear equations this is the whole dimension.

        Raises:
            BudgetExceededError: when neither suffices.
        """
        if self.known_dimension is not None:
            return self.known_dimension
        point = self.sample(0)
        values = self.values(point)
        rank = self.jacobian_rank(point)
        interior = all(evaluate(e, values) > 0 for e in self.nonnegative)
        # Complete intersection: codimension at most the number of equations everywhere, and attained here.
        if interior and (rank == len(self.equations) and self._is_equidimensional()):
            return len(self.variables) - rank
        raise BudgetExceededError("the dimension of this set was not decided: no closed form and no smooth sample")

    def _is_equidimensional(self) -> bool:
        """Say whether dimension n − #equations everywhere is clear: linear equations, or one equation."""
        import sympy

        return len(self.equations) <= 1 or all(
            sympy.Poly(e, *self.variables).total_degree() <= 1 for e in self.equations
        )


def _is_linear(expression: sympy.Expr, variable: sympy.Symbol) -> bool:
    import sympy

    return expression.has(variable) and bool(sympy.degree(expression, variable) == 1)


def _random_number(rng: random.Random) -> sympy.Rational:
    import sympy

    return sympy.Rational(rng.randint(-40, 40), rng.randint(1, 8))


@dataclass(frozen=True)
class SemialgebraicSet:
    """A finite union of basic sets in the same variables.

    >>> from sympy.abc import x
    >>> rays = SemialgebraicSet((BasicSet((x,), (), (x - 1,)),)) | BasicSet((x,), (), (-x - 1,))
    >>> rays.contains([2]), rays.contains([0]), rays.dimension
    (True, False, 1)
    """

    parts: tuple[BasicSet, ...]

    def __post_init__(self) -> None:
        """Check that the parts live in one space."""
        if not self.parts or any(part.variables != self.parts[0].variables for part in self.parts):
            raise InvalidNetworkError("a union needs at least one part, and all parts need the same variables")

    @property
    def variables(self) -> tuple[sympy.Symbol, ...]:
        """The variables of the ambient space."""
        return self.parts[0].variables

    def __str__(self) -> str:
        """Give the union on paper."""
        return " ∪ ".join(str(part) for part in self.parts)

    def __or__(self, other: SemialgebraicSet | BasicSet) -> SemialgebraicSet:
        """Give the union."""
        return SemialgebraicSet(self.parts + (other.parts if isinstance(other, SemialgebraicSet) else (other,)))

    def contains(self, point: Point) -> bool:
        """Say whether some part contains the rational point, exactly."""
        frozen = point if isinstance(point, Mapping) else tuple(point)
        return any(part.contains(frozen) for part in self.parts)

    def sample(self, seed: int = 0) -> dict[sympy.Symbol, sympy.Rational]:
        """Give a rational point of one of the parts; the same seed gives the same point."""
        return self.parts[random.Random(seed).randrange(len(self.parts))].sample(seed)

    @property
    def dimension(self) -> int:
        """The largest dimension of a part."""
        return max(part.dimension for part in self.parts)


def random_rational(rng: random.Random, low: int = -6, high: int = 6) -> fmpq:
    """Give a random rational of small height between the bounds."""
    denominator = rng.randint(1, 4)
    return fmpq(rng.randint(low * denominator, high * denominator), denominator)


def random_positive(rng: random.Random) -> fmpq:
    """Give a random positive rational of small height."""
    return fmpq(rng.randint(1, 8), rng.randint(1, 6))


def symbols_for(names: Sequence[str]) -> tuple[sympy.Symbol, ...]:
    """Give real SymPy symbols with these names."""
    import sympy

    return tuple(sympy.Symbol(name, real=True) for name in names)
