"""Is there a point? Piecewise linear questions over Q to an SMT solver, every answer "yes" checked exactly.

Main definitions
    Affine     an affine combination of numbered variables
    Problem    free variables, variables defined as max(0, affine), inequalities, and forms of which one is not zero

Main results
    to_smtlib    the problem as SMT-LIB text, the one thing that the solvers are given
    ask          the values that a solver gives for any SMT-LIB text in variables v0, v1, ...
    solve        a point that has been checked, or None when the solver has proved that there is none

"There is none" rests on the solver; nothing here re-proves it.

References: C. Barrett, P. Fontaine, C. Tinelli, The SMT-LIB standard, version 2.6 (2017).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpz

from semialg_fibers.errors import BudgetExceededError, CertificateRejected, InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector


@dataclass(frozen=True, init=False)
class Affine:
    """Σ c_i v_i + γ: the pairs (i, c_i) with c_i ≠ 0 by ascending i, and the constant γ.

    >>> print(Affine({2: fmpq(-1), 0: fmpq(3), 1: fmpq(0)}, fmpq(1, 2)))
    3*v0 - v2 + 1/2
    """

    terms: tuple[tuple[int, fmpq], ...]
    constant: fmpq

    def __init__(self, coefficients: Mapping[int, fmpq], constant: fmpq = ZERO) -> None:
        """Read {i: c_i} and γ."""
        object.__setattr__(self, "terms", tuple(sorted((i, c) for i, c in coefficients.items() if c)))
        object.__setattr__(self, "constant", constant)

    def __str__(self) -> str:
        """Give the sum on paper."""
        parts = [f"v{i}" if c == 1 else f"-v{i}" if c == -1 else f"{c}*v{i}" for i, c in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")

    def value(self, values: Sequence[fmpq]) -> fmpq:
        """Give the value where v_i = values[i]."""
        return sum((c * values[i] for i, c in self.terms), self.constant)


@dataclass(frozen=True)
class Problem:
    """Find v_0, ..., v_(dimension − 1) in Q with all of `nonnegative` ≥ 0 and one of `nonzero` ≠ 0.

    Variable dimension + k is max(0, relus[k]), where relus[k] uses earlier variables only. `nonzero` is a disjunction:
    without forms it is false; the constant 1, which is given unless stated, makes it true.

    >>> distance = Problem(1, (Affine({0: ONE}), Affine({0: -ONE})), (Affine({1: -ONE, 2: -ONE}),))  # −|x| ≥ 0
    >>> distance.holds((ZERO,)), distance.holds((ONE,))
    (True, False)
    """

    dimension: int
    relus: tuple[Affine, ...] = ()
    nonnegative: tuple[Affine, ...] = ()
    nonzero: tuple[Affine, ...] = (Affine({}, ONE),)

    def __post_init__(self) -> None:
        """Check that every form uses only the variables that it may use."""
        total = self.dimension + len(self.relus)
        known = [*range(self.dimension, total), *[total] * (len(self.nonnegative) + len(self.nonzero))]
        for size, form in zip(known, (*self.relus, *self.nonnegative, *self.nonzero), strict=True):
            if not all(0 <= i < size for i, _ in form.terms):
                raise InvalidNetworkError(f"the form {form} may use only v0 to v{size - 1}")

    def values(self, point: Sequence[fmpq]) -> Vector:
        """Give all variables where the free ones are `point`."""
        found = list(point)
        for form in self.relus:
            found.append(max(ZERO, form.value(found)))
        return tuple(found)

    def holds(self, point: Sequence[fmpq]) -> bool:
        """Say whether the point solves the problem, by exact evaluation."""
        values = self.values(point)
        return all(form.value(values) >= 0 for form in self.nonnegative) and any(
            form.value(values) for form in self.nonzero
        )


def solve(problem: Problem, solver: str = "z3", seconds: float = 60) -> Vector | None:
    """Give a point that solves the problem, or None when the solver ("z3" or "cvc5") proved that there is none.

    Raises:
        BudgetExceededError: when the solver has not decided after `seconds` (`.seconds`).
        CertificateRejected: when the solver's point does not solve the problem, which would be a fault of the solver.
        UnsupportedError: when the solver is not installed.
        InvalidNetworkError: for another solver, or a time that is not positive.
    """
    point = ask(to_smtlib(problem), problem.dimension, solver, seconds)
    if point is not None and not problem.holds(point):
        raise CertificateRejected(f"the point that {solver} gave does not solve the problem", value=point)
    return point


def ask(text: str, dimension: int, solver: str = "z3", seconds: float = 60) -> Vector | None:
    """Give values of v0, ..., v(dimension − 1) that the solver found for SMT-LIB text, or None: it proved unsat.

    The values are the solver's word; whoever asks checks them.

    Raises:
        BudgetExceededError: when the solver has not decided after `seconds` (`.seconds`), or its point is irrational.
        UnsupportedError: when the solver is not installed.
        InvalidNetworkError: for another solver, or a time that is not positive.
    """
    if solver not in _SOLVERS:
        raise InvalidNetworkError(f"unknown solver {solver!r}; the solvers are {', '.join(_SOLVERS)}", value=solver)
    if not seconds > 0:
        raise InvalidNetworkError(f"a solver needs a positive number of seconds, got {seconds}", value=seconds)
    milliseconds = max(1, int(1000 * min(seconds, 1e6)))
    try:
        answer, values = _SOLVERS[solver](text, dimension, milliseconds)
    except ImportError:
        raise UnsupportedError(f"{solver} is not installed: pip install 'semialg-fibers[smt]'") from None
    if answer == "unsat":
        return None
    if answer != "sat":
        raise BudgetExceededError(
            f"{solver} has not decided within {seconds} seconds (its answer: {answer})", seconds=seconds
        )
    if any(_IRRATIONAL.search(value) for value in values):
        raise BudgetExceededError(f"{solver} gave a point with irrational coordinates, which was not checked")
    return tuple(map(_rational, values))


# SMT-LIB


def to_smtlib(problem: Problem) -> str:
    """Give the problem as SMT-LIB 2.6 text in QF_LRA, without (check-sat).

    >>> print(to_smtlib(Problem(1, (Affine({0: fmpq(-2)}, ONE),), (Affine({1: ONE}, fmpq(-1, 3)),))), end="")
    (set-logic QF_LRA)
    (declare-fun v0 () Real)
    (declare-fun v1 () Real)
    (assert (= v1 (let ((z (+ (* (- 2.0) v0) 1.0))) (ite (> z 0.0) z 0.0))))
    (assert (>= (+ v1 (- (/ 1.0 3.0))) 0.0))
    (assert (or (not (= 1.0 0.0))))
    """
    return "\n".join(_lines(problem)) + "\n"


def _lines(problem: Problem) -> Iterator[str]:
    yield "(set-logic QF_LRA)"
    for i in range(problem.dimension + len(problem.relus)):
        yield f"(declare-fun v{i} () Real)"
    # The preactivation stands inside its one definition: as a variable of its own it makes z3 and cvc5 slower.
    for i, form in enumerate(problem.relus, problem.dimension):
        yield f"(assert (= v{i} (let ((z {_sum(form)})) (ite (> z 0.0) z 0.0))))"
    for form in problem.nonnegative:
        yield f"(assert (>= {_sum(form)} 0.0))"
    parts = " ".join(f"(not (= {_sum(form)} 0.0))" for form in problem.nonzero)
    yield f"(assert (or {parts}))" if parts else "(assert false)"


def _sum(form: Affine) -> str:
    parts = [f"v{i}" if c == 1 else f"(* {_number(c)} v{i})" for i, c in form.terms]
    if form.constant or not parts:
        parts.append(_number(form.constant))
    return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"


def _number(value: fmpq) -> str:
    text = f"{abs(value.p)}.0" if value.q == 1 else f"(/ {abs(value.p)}.0 {value.q}.0)"
    return f"(- {text})" if value < 0 else text


_IRRATIONAL = re.compile(r"[^-()/\s0-9.]|\.(?!0(?![0-9]))")  # a root object, or decimals that are not .0


def _rational(text: str) -> fmpq:
    """Read the number 3.0, (- (/ 1.0 2.0)) or (/ (- 1) 2)."""
    numbers = [fmpz(number) for number in re.findall(r"([0-9]+)(?:\.0)?", text)]
    return fmpq(*numbers) * (-1 if "-" in text else 1)


# the solvers: from the text, the number of free variables and milliseconds to the answer and the values after "sat"


def _z3(text: str, dimension: int, milliseconds: int) -> tuple[str, list[str]]:
    import z3

    context = z3.Context()  # of our own: z3 shares its main context, and options set by text, with the whole process
    solver = z3.Solver(ctx=context)
    solver.set("timeout", milliseconds)
    solver.from_string(text)
    answer = str(solver.check())
    if answer != "sat":
        return answer, []
    model, names = solver.model(), [z3.Real(f"v{i}", context) for i in range(dimension)]
    return answer, [model.eval(name, model_completion=True).sexpr() for name in names]


def _cvc5(text: str, dimension: int, milliseconds: int) -> tuple[str, list[str]]:
    import cvc5

    solver = cvc5.Solver()
    symbols = cvc5.SymbolManager(solver)

    def said(commands: str) -> str:
        parser, replies = cvc5.InputParser(solver, symbols), ""
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, commands, "problem")
        while not (command := parser.nextCommand()).isNull():
            replies += command.invoke(solver, symbols)
        return replies.strip()

    options = f"(set-option :tlimit-per {milliseconds})\n(set-option :produce-models true)\n"
    answer = said(f"{options}{text}(check-sat)")
    if answer != "sat":
        return answer, []
    replies = [said(f"(get-value (v{i}))") for i in range(dimension)]
    return answer, [reply.removeprefix("((").removesuffix("))").split(None, 1)[1] for reply in replies]


_SOLVERS: dict[str, Callable[[str, int, int], tuple[str, list[str]]]] = {"z3": _z3, "cvc5": _cvc5}
