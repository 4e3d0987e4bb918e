"""Semi-algebraic sets: equations, inequalities, membership, sampling, projection, dimension, inclusion.

Main definitions
    BasicSet             {x : p_i = 0, q_j > 0, r_k ≥ 0} for polynomials in named variables, perhaps with letters
    SemialgebraicSet     a finite union of basic sets in the same variables

Main results
    contains             exact membership of a rational point
    sample               an exact rational point of the set, the same for the same seed
    dimension            stated by who built the set, or proved from a sample where a smooth-point argument suffices
    local_dimension, drop, includes    where they can be proved: dimension at a point, projection, inclusion

References: theory §1, §2.3.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.geometry import elimination, substitution
from semialg_fibers.geometry.arguments import checked_methods
from semialg_fibers.geometry.elimination import System
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.polynomial import evaluate
from semialg_fibers.geometry.scalar import sympy_rational, vector
from semialg_fibers.geometry.set_questions import Questions
from semialg_fibers.geometry.substitution import read_point, read_values, refuse_letters

if TYPE_CHECKING:
    import sympy

Point = Mapping[Any, Any] | Iterable[Any]
Sampler = Callable[[random.Random], "dict[str, fmpq]"]
Anew = Callable[[Mapping[Any, Any]], "tuple[Sampler | None, int | None]"]


@checked_methods("subs", "drop", "sample", "jacobian_dimension")
@dataclass(frozen=True)
class BasicSet(Questions):
    """The set {x : equations = 0, positive > 0, nonnegative ≥ 0} in the space of `variables`.

    Variables stand for all real numbers: one that carries assumptions (positive, integer) is replaced by the plain real
    symbol of its name; a sign of a variable is a condition. Other symbols are *letters*: unknown numbers that their
    assumptions describe, one set for each choice. Two sets are equal when their descriptions are. `sampler` and
    `known_dimension` (for all letters for which the set has points) come from who built the set and knows a
    parametrisation; without them `sample` solves for variables that occur linearly. `anew` gives both for values of the
    letters. `headings` are pairs (i, words) that say what the equations from index i on mean.

    >>> from sympy.abc import x, y
    >>> hyperbola = BasicSet((x, y), (x * y - 1,), (x,))
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
    anew: Anew | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Make variables plain; check that no letter has the name of a variable or of another letter."""
        object.__setattr__(self, "variables", substitution.read_variables(self.variables))
        for kind in ("equations", "positive", "nonnegative"):
            object.__setattr__(self, kind, substitution.read_conditions(getattr(self, kind), kind))
        substitution.refuse_twins((*self.variables, *self.letters))
        if plain := substitution.plain_variables(self.variables):
            object.__setattr__(self, "variables", tuple(plain.get(variable, variable) for variable in self.variables))
            for kind in ("equations", "positive", "nonnegative"):
                object.__setattr__(self, kind, tuple(e.xreplace(plain) for e in getattr(self, kind)))

    @property
    def letters(self) -> tuple[sympy.Symbol, ...]:
        """The symbols in the conditions that are no variables, by name."""
        found = set().union(*(e.free_symbols for e in (*self.equations, *self.positive, *self.nonnegative)))
        return tuple(sorted(found - set(self.variables), key=lambda symbol: str(symbol.name)))

    def __str__(self) -> str:
        """Give the set on paper."""
        lines = [f"{e} = 0" for e in self.equations]
        lines += [f"{e} > 0" for e in self.positive] + [f"{e} ≥ 0" for e in self.nonnegative]
        return "{" + ", ".join(lines) + "}" if lines else f"R^{len(self.variables)}"

    # points

    def values(self, point: Point) -> dict[str, fmpq]:
        """Read a point as `substitution.read_point` does."""
        return read_point(point, self.variables, self.letters)

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
            InvalidNetworkError: for a set with letters.
        """
        refuse_letters(self.letters)
        rng = random.Random(seed)
        if self.sampler:
            found = self.sampler(rng)
        else:
            found = elimination.search(self._system, self.variables, self.contains, rng)
        return {variable: sympy_rational(found[variable.name]) for variable in self.variables}

    @property
    def _system(self) -> System:
        return System(self.equations, self.positive, self.nonnegative)

    # other sets

    def __or__(self, other: SemialgebraicSet | BasicSet) -> SemialgebraicSet:
        """Give the union."""
        return SemialgebraicSet(self.parts) | other

    def subs(self, values: Mapping[Any, Any]) -> BasicSet:
        """Put numbers (or expressions in letters) in for letters, and numbers for variables: then it is a slice.

        Keys are symbols or their names. A letter's number must meet the letter's assumptions. Conditions on numbers
        that hold are left out, those that fail stay. A slice keeps neither sampler nor stated dimension; nor does
        another set, unless `anew` gives them: for some letters it may be empty.

        Raises:
            InvalidNetworkError: for a symbol that the set does not have, or a number that its assumptions exclude.
            InexactInputError: for floats.
            UndecidedSignError: for an expression that is not known to meet the assumptions (`.expression`).

        >>> from sympy import Symbol
        >>> from sympy.abc import x, y
        >>> a = Symbol("a", positive=True)
        >>> print(BasicSet((x, y), (x * y - a,), (x,)).subs({a: "1/2", y: 3}))
        {3*x - 1/2 = 0, x > 0}
        """
        put_in = read_values(values, self.variables, self.letters)
        if not put_in:
            return self
        equations, positive, nonnegative = (
            tuple(e.subs(put_in, simultaneous=True) for e in kind)
            for kind in (self.equations, self.positive, self.nonnegative)
        )
        left = tuple(variable for variable in self.variables if variable not in put_in)
        kept, headings = substitution.without_trivial((equations, positive, nonnegative), self.headings)
        if self.anew is None or substitution.fails(kept) or len(left) < len(self.variables):
            return BasicSet(left, *kept, headings=headings)
        return BasicSet(left, *kept, *self.anew(put_in), headings, substitution.combined(self.anew, put_in))

    def drop(self, variables: Iterable[Any]) -> BasicSet:
        """Give the projection along these variables (symbols or names), where it is exactly a set of this kind.

        A variable can be dropped when it occurs nowhere, or when an equation determines it with a coefficient that
        cannot vanish, as far as the conditions without it say.

        Raises:
            UnsupportedError: for another variable; the projection may then be no basic set.

        >>> from sympy.abc import x, y
        >>> print(BasicSet((x, y), (x * y - 1,), (x, 2 - y)).drop([y]))
        {x > 0, 2*x - 1 > 0}
        """
        own = {variable.name: variable for variable in self.variables}
        names = list(dict.fromkeys(map(substitution.name_of, variables)))
        for name in names:
            if name not in own:
                raise InvalidNetworkError(f"{name} is no variable of this set", value=name)
        system, lost = elimination.project(self._system, self.variables, [own[name] for name in names])
        left = tuple(variable for variable in self.variables if variable.name not in names)
        dimension = None if self.known_dimension is None else self.known_dimension - lost
        conditions = (system.equations, system.positive, system.nonnegative)
        return BasicSet(left, *conditions, self.sampler, dimension, anew=substitution.lowered(self.anew, lost))

    def closure(self) -> BasicSet:
        """Give the set with every strict inequality made weak.

        It contains the topological closure and may be larger: {x·y = 0, x > 0} is a half-line, its closure too, but
        {x·y = 0, x ≥ 0} contains a whole line. So no dimension is stated for it.

        >>> from sympy.abc import x
        >>> print(BasicSet((x,), (), (x,)).closure())
        {x ≥ 0}
        """
        weak = tuple(dict.fromkeys(self.positive + self.nonnegative))
        return BasicSet(self.variables, self.equations, (), weak, sampler=self.sampler, headings=self.headings)

    @property
    def parts(self) -> tuple[BasicSet]:
        """The set as a union."""
        return (self,)

    # tangents and dimensions

    def jacobian(self, point: Point) -> Matrix:
        """Give the Jacobian of the equations at a rational point, one row for each equation."""
        values = self.values(point)
        rows = [[evaluate(e.diff(v), values) for v in self.variables] for e in self.equations]
        return Matrix(rows, columns=len(self.variables))

    def jacobian_rank(self, point: Point) -> int:
        """Give the rank of the Jacobian of the equations at a rational point, exactly."""
        return self.jacobian(point).rank()

    def tangent_space(self, point: Point) -> tuple[tuple[sympy.Rational, ...], ...]:
        """Give a basis of the kernel of the equations' Jacobian at a point of the set, exactly.

        Raises:
            InvalidNetworkError: when the point is not in the set.

        >>> from sympy.abc import x, y
        >>> BasicSet((x, y), (x * y - 1,)).tangent_space((2, "1/2"))
        ((-4, 1),)
        """
        values = self._member(point)
        return tuple(tuple(map(sympy_rational, row)) for row in self.jacobian(values).kernel().rows())

    def _member(self, point: Point) -> dict[str, fmpq]:
        values = self.values(point)
        if not self.contains(values):
            raise InvalidNetworkError("the point is not in the set")
        return values

    def local_dimension(self, point: Point) -> int:
        """Give the dimension at a point of the set, where it can be proved.

        Raises:
            InvalidNetworkError: when the point is not in the set.
            BudgetExceededError: where solving for variables near the point does not decide.

        >>> from sympy.abc import x, y
        >>> BasicSet((x, y), (x * y,), (), (x,)).local_dimension((0, 3))
        1
        """
        return elimination.local_dimension(self._system, self.variables, self._member(point))

    def jacobian_dimension(self, seed: int = 0) -> int:
        """Give #variables − rank of the equations' Jacobian at the sample of this seed.

        No closed form enters. It bounds the dimension at the sample from above; the two agree where the equations
        are regular.
        """
        return len(self.variables) - self.jacobian_rank(self.sample(seed))

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


@checked_methods("__init__", "subs", "drop", "sample", "jacobian_dimension")
@dataclass(frozen=True)
class SemialgebraicSet(Questions):
    """A finite union of basic sets in the same variables.

    >>> from sympy.abc import x
    >>> rays = SemialgebraicSet((BasicSet((x,), (), (x - 1,)),)) | BasicSet((x,), (), (-x - 1,))
    >>> rays.contains([2]), rays.contains([0]), rays.dimension
    (True, False, 1)
    """

    parts: tuple[BasicSet, ...]

    def __post_init__(self) -> None:
        """Check that the parts live in one space, and that no two letters have one name."""
        if not self.parts or any(part.variables != self.parts[0].variables for part in self.parts):
            raise InvalidNetworkError("a union needs at least one part, and all parts need the same variables")
        substitution.refuse_twins((*self.variables, *self.letters))

    @property
    def variables(self) -> tuple[sympy.Symbol, ...]:
        """The variables of the ambient space."""
        return self.parts[0].variables

    @property
    def letters(self) -> tuple[sympy.Symbol, ...]:
        """The symbols in the conditions that are no variables, by name."""
        return tuple(sorted({x for part in self.parts for x in part.letters}, key=lambda symbol: str(symbol.name)))

    def __str__(self) -> str:
        """Give the union on paper."""
        return " ∪ ".join(str(part) for part in self.parts)

    def __or__(self, other: SemialgebraicSet | BasicSet) -> SemialgebraicSet:
        """Give the union; a part that stands there already is not repeated."""
        return SemialgebraicSet(tuple(dict.fromkeys((*self.parts, *other.parts))))

    def contains(self, point: Point) -> bool:
        """Say whether some part contains the rational point, exactly."""
        frozen = point if isinstance(point, Mapping) else vector(point)
        return any(part.contains(frozen) for part in self.parts)

    def sample(self, seed: int = 0) -> dict[sympy.Symbol, sympy.Rational]:
        """Give a rational point of one of the parts; the same seed gives the same point."""
        return self.parts[random.Random(seed).randrange(len(self.parts))].sample(seed)

    def subs(self, values: Mapping[Any, Any]) -> SemialgebraicSet:
        """Put numbers in for letters or variables, as `BasicSet.subs` does; parts that become empty are left out."""
        put_in = read_values(values, self.variables, self.letters)
        parts = tuple(
            part.subs({x: value for x, value in put_in.items() if x in part.variables + part.letters})
            for part in self.parts
        )
        left = [p for p in parts if not substitution.fails((p.equations, p.positive, p.nonnegative))]
        return SemialgebraicSet(tuple(dict.fromkeys(left or parts)))

    def drop(self, variables: Iterable[Any]) -> SemialgebraicSet:
        """Give the projection along these variables, part by part: see `BasicSet.drop`."""
        names = list(map(substitution.name_of, variables))
        return SemialgebraicSet(tuple(dict.fromkeys(part.drop(names) for part in self.parts)))

    def closure(self) -> SemialgebraicSet:
        """Give the union with weak inequalities, as `BasicSet.closure` does."""
        return SemialgebraicSet(tuple(dict.fromkeys(part.closure() for part in self.parts)))

    @property
    def dimension(self) -> int:
        """The largest dimension of a part."""
        return max(part.dimension for part in self.parts)

    def jacobian_dimension(self, seed: int = 0) -> int:
        """Give the largest `BasicSet.jacobian_dimension` of a part."""
        return max(part.jacobian_dimension(seed) for part in self.parts)

    def local_dimension(self, point: Point) -> int:
        """Give the dimension of the union at one of its points, where it can be proved.

        Raises:
            InvalidNetworkError: when the point is not in the set.
            BudgetExceededError: where it was not decided, also because a part without the point may come close to it.
        """
        frozen = point if isinstance(point, Mapping) else vector(point)
        around = [part for part in self.parts if part.contains(frozen)]
        if not around:
            raise InvalidNetworkError("the point is not in the set")
        if any(part not in around and part.closure().contains(frozen) for part in self.parts):
            raise BudgetExceededError("the dimension at this point was not decided: another part may come close to it")
        return max(part.local_dimension(frozen) for part in around)


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
