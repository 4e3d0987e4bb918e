"""Is a set empty? Does it include another one? Answers with their reasons, by sampling and by an SMT solver.

Main definitions
    Holds, Fails, NotDecided    yes with its reason, no with an exact point, and neither: said aloud
    Questions                   the verbs is_empty, includes, is_subset of sets

Main results
    is_empty      a point that was found and checked, or a solver's proof that there is none
    includes      a point outside, or: each condition is one of the other's, or a solver's proof

"There is no point" rests on the solver that the reason names; nothing here re-proves it. A point never rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry import smt
from semialg_fibers.geometry.arguments import checked_methods
from semialg_fibers.geometry.polynomial import smt_term
from semialg_fibers.geometry.scalar import sympy_rational
from semialg_fibers.geometry.substitution import refuse_letters

if TYPE_CHECKING:
    import sympy

SAMPLES = 8


@dataclass(frozen=True)
class Holds:
    """Yes, and why."""

    reason: str
    answer = True

    def __bool__(self) -> bool:
        """Yes."""
        return True


@dataclass(frozen=True)
class Fails:
    """No: the exact `point`, a mapping from variables to rationals, shows it."""

    reason: str
    point: Mapping[sympy.Symbol, sympy.Rational]
    answer = False

    def __bool__(self) -> bool:
        """No."""
        return False


@dataclass(frozen=True)
class NotDecided:
    """Neither yes nor no, and what stood in the way."""

    reason: str
    answer = None

    def __bool__(self) -> bool:
        """Refuse to be read as yes or no.

        Raises:
            BudgetExceededError: always; ask for `.answer`, which is None.
        """
        raise BudgetExceededError(f"not decided: {self.reason}")


Answer = Holds | Fails | NotDecided


@checked_methods("is_empty", "includes", "is_subset")
class Questions:
    """The questions that one can ask of a set; `parts` are the basic sets of which it is the union."""

    def is_empty(self, solver: str = "z3", seconds: float = 20) -> Answer:
        """Ask whether the set has no point.

        Raises:
            InvalidNetworkError: for a set with letters.

        >>> from sympy.abc import x
        >>> from semialg_fibers.geometry.semialgebraic import BasicSet
        >>> print(BasicSet((x,), (), (x, 1 - x)).is_empty().reason)
        a point of the set
        """
        return is_empty(_parts(self), solver, seconds)

    def includes(self, other: Questions, solver: str = "z3", seconds: float = 20) -> Answer:
        """Ask whether every point of `other` lies in this set.

        Raises:
            InvalidNetworkError: for sets with letters, or in different variables.

        >>> from sympy.abc import x
        >>> from semialg_fibers.geometry.semialgebraic import BasicSet
        >>> BasicSet((x,), (), (), (x,)).includes(BasicSet((x,), (), (x, 1 - x)))
        Holds(reason='each condition is one of its own')
        >>> BasicSet((x,), (), (x,)).includes(BasicSet((x,), (), (), (x + 1,))).answer
        False
        """
        return includes(_parts(self), _parts(other), solver, seconds)

    def is_subset(self, other: Questions, solver: str = "z3", seconds: float = 20) -> Answer:
        """Ask whether every point of this set lies in `other`."""
        return includes(_parts(other), _parts(self), solver, seconds)


def _parts(union: Any) -> tuple[Any, ...]:
    return tuple(union.parts)


def is_empty(parts: Sequence[Any], solver: str = "z3", seconds: float = 20) -> Answer:
    """Decide whether the union of the parts is empty, where that can be done."""
    _check(parts)
    for part in parts:
        for point in _samples(part, 1):
            return Fails("a point of the set", point)
    return _by_solver(
        [_conjunction(part) for part in parts],
        parts[0].variables,
        lambda point: any(part.contains(point) for part in parts),
        "a point of the set",
        solver,
        seconds,
    )


def includes(outer: Sequence[Any], inner: Sequence[Any], solver: str = "z3", seconds: float = 20) -> Answer:
    """Decide whether the union of `outer` contains that of `inner`, where that can be done."""
    _check((*outer, *inner))
    left = [part for part in inner if not any(_has_all_conditions(part, of) for of in outer)]
    if not left:
        return Holds("each condition is one of its own")

    def is_outside(point: Any) -> bool:
        return any(part.contains(point) for part in left) and not any(part.contains(point) for part in outer)

    said = "a point of the one set outside the other"
    for part in left:
        for point in _samples(part, SAMPLES):
            if is_outside(point):
                return Fails(said, point)
    not_in_outer = " ".join(f"(not {_conjunction(part)})" for part in outer)
    asked = [f"(and {_conjunction(part)} {not_in_outer})" for part in left]
    return _by_solver(asked, left[0].variables, is_outside, said, solver, seconds)


def _check(parts: Sequence[Any]) -> None:
    refuse_letters(sorted({letter for part in parts for letter in part.letters}, key=str))
    if any(part.variables != parts[0].variables for part in parts):
        raise InvalidNetworkError("the sets live in different spaces: they need the same variables in the same order")


def _samples(part: Any, count: int) -> Iterator[Any]:
    for seed in range(count):
        try:
            point = part.sample(seed)
        except BudgetExceededError:
            return
        if part.contains(point):  # a sampler from outside is not believed
            yield point


def _has_all_conditions(part: Any, outer: Any) -> bool:
    """Say whether the conditions of `outer` stand among those of the part, as written."""
    equations = {*part.equations, *(-e for e in part.equations)}
    weak = {*part.nonnegative, *part.positive, *equations}
    return (
        set(outer.equations) <= equations and set(outer.positive) <= {*part.positive} and {*outer.nonnegative} <= weak
    )


def _conjunction(part: Any) -> str:
    names = {variable.name: f"v{i}" for i, variable in enumerate(part.variables)}
    atoms = [f"(= {smt_term(e, names)} 0)" for e in part.equations]
    atoms += [f"(> {smt_term(e, names)} 0)" for e in part.positive]
    atoms += [f"(>= {smt_term(e, names)} 0)" for e in part.nonnegative]
    return f"(and {' '.join(atoms)})" if len(atoms) > 1 else atoms[0] if atoms else "true"


def _by_solver(
    asked: Sequence[str],
    variables: Sequence[sympy.Symbol],
    shows: Callable[[Any], bool],
    said: str,
    solver: str,
    seconds: float,
) -> Answer:
    """Ask for a point of one of the formulas; `shows` checks it exactly."""
    lines = ["(set-logic QF_NRA)", *(f"(declare-fun v{i} () Real)" for i in range(len(variables)))]
    formula = asked[0] if len(asked) == 1 else f"(or {' '.join(asked)})"
    text = "\n".join([*lines, f"(assert {formula})"]) + "\n"
    try:
        point = smt.ask(text, len(variables), solver, seconds)
    except (BudgetExceededError, UnsupportedError) as error:
        return NotDecided(error.message)
    if point is None:
        return Holds(f"{solver} proved that there is no point that shows the contrary")
    if not shows(point):
        return NotDecided(f"the point that {solver} gave does not pass its exact check")
    return Fails(said, {v: sympy_rational(value) for v, value in zip(variables, point, strict=True)})
