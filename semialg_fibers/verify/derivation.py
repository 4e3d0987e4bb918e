"""Proofs as data: a claim, steps, and a checker of a dozen lines that trusts no producer.

Main definitions
    Claim         hypotheses and conclusions
    Line          what one step says: label, statement, rule, premises, assumptions
    Step          a line in its derivation, which can be checked by itself
    Derivation    a claim with lines; `verify()`, `gap()`, text, LaTeX, JSON

Main results
    first_gap     the first step that does not follow, with the reason, or None: the claim is proved

A derivation proves its conclusions for all sizes, matrices and functions that satisfy its hypotheses. The rules are
those of `verify.rules`, and no others.

References: theory §8.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, SemialgError
from semialg_fibers.verify.declarations import declared_latex, declared_text
from semialg_fibers.verify.effort import BUDGET, Effort
from semialg_fibers.verify.expressions import Statement, examined
from semialg_fibers.verify.notation import latex_of, latex_sentence_of
from semialg_fibers.verify.rules import RULES, Judgement
from semialg_fibers.verify.statement_json import (
    document_from_text,
    keys_of,
    statement_from_data,
    statement_to_data,
    statements_of,
    text_from,
    texts_of,
)

FORMAT = "semialg_fibers/derivation"


@dataclass(frozen=True)
class Claim:
    """Where all hypotheses hold, all conclusions hold."""

    title: str
    hypotheses: tuple[Statement, ...]
    conclusions: tuple[Statement, ...]

    def __str__(self) -> str:
        """Give the theorem in words."""
        given = "".join(f"  ({i}) {each}\n" for i, each in enumerate(self.hypotheses, 1))
        shown = "".join(f"  {each}\n" for each in self.conclusions)
        letters = f"Letters\n  {self.letters}\n" if self.letters else ""
        return f"{self.title}\n{letters}" + (f"Let\n{given}" if given else "") + f"Then\n{shown}"

    @property
    def letters(self) -> str:
        """All matrices and functions with their shapes, and the sizes, on one line."""
        return declared_text((*self.hypotheses, *self.conclusions))


@dataclass(frozen=True)
class Line:
    """One step: `statement` by `rule` from the steps labelled `premises`, under assumptions of a case."""

    label: str
    statement: Statement
    rule: str
    premises: tuple[str, ...] = ()
    under: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Gap:
    """Where a derivation fails: the label of the step, and why; `is_open` when a budget ended there."""

    label: str
    reason: str
    is_open: bool = False

    def __str__(self) -> str:
        """Name the step and the reason."""
        return f"step {self.label}: {self.reason}"


def first_gap(claim: Claim, lines: tuple[Line, ...], budget: int | None = BUDGET) -> Gap | None:
    """Give the first step that does not follow from those before it by its rule, or None when the claim is proved.

    A step at which `budget` comparisons of parts of terms have ended is a gap that `is_open`.

    Implements: theory §8.
    """
    proved: dict[str, Judgement] = {}
    effort = Effort(budget)
    if gap := _malformed(claim, lines):
        return gap
    for line in lines:
        if line.label in proved:
            return Gap(line.label, "there is an earlier step with this label")
        if unknown := [label for label in line.premises if label not in proved]:
            return Gap(line.label, f"it uses step {unknown[0]}, which is not proved before it")
        if line.rule not in RULES:
            return Gap(line.label, f"there is no rule called {line.rule!r}")
        goal, premises = Judgement(line.statement, line.under), tuple(proved[label] for label in line.premises)
        if gap := _gap_at(line, goal, premises, claim.hypotheses, effort):
            return gap
        proved[line.label] = goal
    try:
        effort.spend(len(claim.conclusions) * len(proved) * _largest(Judgement(each) for each in claim.conclusions))
    except BudgetExceededError as error:
        return Gap("end", error.message, is_open=True)
    missing = [each for each in claim.conclusions if Judgement(each) not in proved.values()]
    return Gap("end", f"no step proves, without assumptions, that {missing[0]}") if missing else None


def _gap_at(
    line: Line, goal: Judgement, premises: tuple[Judgement, ...], given: tuple[Statement, ...], effort: Effort
) -> Gap | None:
    try:
        # what the premises assume is looked for in what the goal assumes, and each comparison may read a whole term
        looked_for = 1 + sum(1 + len(premise.under) for premise in premises)
        effort.spend(looked_for * (1 + len(goal.under) + len(given)) * _largest((goal, *premises)))
        follows = RULES[line.rule].matches(goal, premises, given)
    except SemialgError as error:  # sizes that do not fit, or a normal form beyond its budget: not shown to follow
        is_open = isinstance(error, BudgetExceededError)
        return Gap(line.label, f"the rule {line.rule!r} could not be applied: {error.message}", is_open)
    return None if follows is True else Gap(line.label, f"{line.statement} does not follow by the rule {line.rule!r}")


def _largest(judgements: Iterable[Judgement]) -> int:
    """Give the number of parts of the largest term."""
    statements = (each for judgement in judgements for each in (judgement.statement, *judgement.under))
    return max((term.count for each in statements for term in each.terms), default=1)


def _malformed(claim: Claim, lines: tuple[Line, ...]) -> Gap | None:
    """Refuse what is not plain data, sizes that do not fit, one name used in two ways, and an empty claim."""
    if type(claim) is not Claim or type(claim.title) is not str or type(lines) is not tuple:
        return Gap("claim", "it is no claim with a tuple of lines")
    if not all(type(each) is tuple for each in (claim.hypotheses, claim.conclusions)) or not claim.conclusions:
        return Gap("claim", "hypotheses and conclusions are tuples, and there is a conclusion")
    seen = (*claim.hypotheses, *claim.conclusions)
    try:
        examined(seen)
    except SemialgError as error:
        return Gap("claim", error.message)
    for number, line in enumerate(lines, 1):
        if type(line) is not Line or type(line.label) is not str or type(line.rule) is not str:
            return Gap(str(number), "it is no line with a label and a rule")
        if type(line.premises) is not tuple or not all(type(label) is str for label in line.premises):
            return Gap(line.label, "its premises are no tuple of labels")
        if type(line.under) is not tuple:
            return Gap(line.label, "its assumptions are no tuple")
        seen = (*seen, line.statement, *line.under)
        try:
            examined((line.statement, *line.under))
        except SemialgError as error:
            return Gap(line.label, error.message)
    try:
        examined(seen)
    except SemialgError as error:
        return Gap("claim", error.message)
    return None


@dataclass(frozen=True)
class Step:
    """A line of a derivation: `statement`, `rule`, and whether it follows."""

    derivation: Derivation
    index: int

    @property
    def line(self) -> Line:
        """What the step says."""
        return self.derivation.lines[self.index]

    @property
    def label(self) -> str:
        """The name by which later steps use it."""
        return self.line.label

    @property
    def statement(self) -> Statement:
        """What is shown."""
        return self.line.statement

    @property
    def rule(self) -> str:
        """The name of the rule."""
        return self.line.rule

    def check(self) -> bool:
        """Say whether the step follows by its rule, provided that the steps before it hold."""
        before = {line.label: Judgement(line.statement, line.under) for line in self.derivation.lines[: self.index]}
        line = self.line
        if _malformed(self.derivation.claim, (line,)) or line.rule not in RULES or line.label in before:
            return False
        if any(label not in before for label in line.premises):
            return False
        premises = tuple(before[label] for label in line.premises)
        goal, given = Judgement(line.statement, line.under), self.derivation.claim.hypotheses
        return _gap_at(line, goal, premises, given, Effort()) is None

    @property
    def reason(self) -> str:
        """The rule and the steps it is applied to, in words."""
        return self.line.rule + (
            f" of {', '.join(f'({label})' for label in self.line.premises)}" * bool(self.line.premises)
        )

    def __str__(self) -> str:
        """Give the step on one line."""
        under = f"   [where {', '.join(map(str, self.line.under))}]" if self.line.under else ""
        return f"({self.label}) {self.statement}{under}   by {self.reason}"


@dataclass(frozen=True)
class Derivation:
    """A claim and the lines that are to prove it.

    >>> from semialg_fibers.verify.theorems import permutation_symmetry
    >>> proof = permutation_symmetry()
    >>> proof.verify(), len(proof.steps)
    (True, 13)
    >>> print(Derivation(proof.claim, proof.lines[:2] + proof.lines[3:]).gap())
    step 6: it uses step 3, which is not proved before it
    """

    claim: Claim
    lines: tuple[Line, ...]

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps, each with its check."""
        return tuple(Step(self, i) for i in range(len(self.lines)))

    def gap(self, budget: int | None = BUDGET) -> Gap | None:
        """Give the first step that does not follow, or is not shown to within the budget, or None."""
        return first_gap(self.claim, self.lines, budget)

    def verify(self) -> bool:
        """Say whether the lines prove the claim."""
        return self.gap() is None

    def to_text(self) -> str:
        """Give the theorem and its proof, one step on a line; what the rules say stands below."""
        used = dict.fromkeys(line.rule for line in self.lines)
        rules = "".join(f"  {name}: {RULES[name].words if name in RULES else 'no such rule'}\n" for name in used)
        lines = "".join(f"  {step}\n" for step in self.steps)
        more = declared_text(*self._declaring())
        letters = f"  further letters: {more}\n" if more else ""
        return f"Theorem. {self.claim}\nProof.\n{letters}{lines}\nRules used\n{rules}"

    def _declaring(self) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
        """Give the statements of the proof and those of the claim."""
        inside = tuple(each for line in self.lines for each in (line.statement, *line.under))
        return inside, (*self.claim.hypotheses, *self.claim.conclusions)

    def to_latex(self) -> str:
        """Give the theorem and its proof as LaTeX (amsmath): an align environment with the reasons at the margin."""
        given = " \\\\\n".join(f"& {latex_sentence_of(each)}" for each in self.claim.hypotheses)
        shown = " \\\\\n".join(f"& {latex_sentence_of(each)}" for each in self.claim.conclusions)
        lines = " \\\\\n".join(_latex_lines(self.steps))
        let = f"Let\n\\begin{{align*}}\n{given}\n\\end{{align*}}\n" if given else ""
        inside, outside = self._declaring()
        letters, more = declared_latex(outside), declared_latex(inside, outside)
        declared, further = f"Letters: {letters}.\n" * bool(letters), f" Further letters: {more}." * bool(more)
        return (
            f"\\paragraph{{Theorem ({_escaped(self.claim.title)}).}}\n{declared}{let}Then\n"
            f"\\begin{{align*}}\n{shown}\n\\end{{align*}}\n"
            f"\\emph{{Proof.}}{further}\n\\begin{{align*}}\n{lines}\n\\end{{align*}}\n"
        )

    def to_json(self) -> str:
        """Give the text that `Derivation.from_json` reads."""

        def statements(given: tuple[Statement, ...]) -> list[Any]:
            return [statement_to_data(each) for each in given]

        lines = [
            {
                "label": line.label,
                "statement": statement_to_data(line.statement),
                "rule": line.rule,
                "premises": list(line.premises),
                "under": statements(line.under),
            }
            for line in self.lines
        ]
        document = {
            "format": FORMAT,
            "version": 1,
            "title": self.claim.title,
            "hypotheses": statements(self.claim.hypotheses),
            "conclusions": statements(self.claim.conclusions),
            "steps": lines,
        }
        return json.dumps(document, ensure_ascii=False) + "\n"

    @staticmethod
    def from_json(text: str) -> Derivation:
        """Read a derivation; whether it proves its claim is for `verify` to say.

        Raises:
            InvalidNetworkError: where the text is no derivation.
        """
        keys = ("format", "version", "title", "hypotheses", "conclusions", "steps")
        name, version, title, given, shown, steps = keys_of(document_from_text(text), keys, "the document")
        if name != FORMAT or type(version) is not int or version != 1 or not isinstance(steps, list):
            raise InvalidNetworkError(f"this is no {FORMAT} document of version 1 with a list of steps")
        hypotheses, conclusions = statements_of(given, "the list of hypotheses"), statements_of(shown, "the claim")
        claim = Claim(text_from(title, "the title"), hypotheses, conclusions)
        return Derivation(claim, tuple(_line(each) for each in steps))


def _line(data: Any) -> Line:
    label, statement, rule, premises, under = keys_of(
        data, ("label", "statement", "rule", "premises", "under"), "a step"
    )
    return Line(
        text_from(label, "a label"),
        statement_from_data(statement),
        text_from(rule, "a rule"),
        texts_of(premises, "the list of premises"),
        statements_of(under, "the list of assumptions"),
    )


def _latex_lines(steps: tuple[Step, ...]) -> Iterator[str]:
    """Give the lines of the align environment; an equality that goes on does not repeat its left side."""
    before: Step | None = None
    for step in steps:
        under = ", ".join(latex_sentence_of(each) for each in step.line.under)
        where = rf"\quad\text{{where }} {under}" if under else ""
        tag = rf"\tag*{{({_escaped(step.label)}) {_escaped(step.reason)}}}"
        if step.statement.relation == "equal":
            left, right = (latex_of(term) for term in step.statement.terms)
            yield rf"{'' if _continues(before, step) else left} &= {right}{where} {tag}"
        else:
            yield rf"& {latex_sentence_of(step.statement)}{where} {tag}"
        before = step


def _continues(before: Step | None, step: Step) -> bool:
    if before is None or before.line.under != step.line.under:
        return False
    both = before.statement, step.statement
    return all(each.relation == "equal" for each in both) and both[0].terms[1] == both[1].terms[0]


def _escaped(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(letter, f"\\{letter}" if letter in "#$%&_{}" else letter) for letter in text)
