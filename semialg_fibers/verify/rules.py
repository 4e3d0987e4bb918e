"""The closed list of rules: what may follow from what, in one step.

Main definitions
    Judgement    a statement that holds under assumptions (beside the hypotheses of the claim)
    Rule         a name, the rule in words, and the matcher that says whether a step is an instance of it
    RULES        all of them

A matcher reads its conclusion and its premises and nothing else; it never searches for a proof. What it accepts is
true in every instance in which the premises are true: for all sizes, matrices and functions.

References: theory §2.3, §3.2, §3.3, §8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from semialg_fibers.verify.expressions import (
    SCALAR,
    Statement,
    Term,
    equal,
    identity,
    nonnegative,
    positive,
    zero,
)
from semialg_fibers.verify.free_ring import normal_form
from semialg_fibers.verify.notation import RELU


@dataclass(frozen=True)
class Judgement:
    """Where all statements of `under` hold, `statement` holds."""

    statement: Statement
    under: tuple[Statement, ...] = ()


Matcher = Callable[[Judgement, tuple[Judgement, ...], tuple[Statement, ...]], bool]  # conclusion, premises, hypotheses


@dataclass(frozen=True)
class Rule:
    """One way to go on: `words` says it, `matches(conclusion, premises, hypotheses)` recognises it."""

    name: str
    words: str
    matches: Matcher


RULES: dict[str, Rule] = {}


def _rule(name: str, words: str) -> Callable[[Matcher], Matcher]:
    def enter(matcher: Matcher) -> Matcher:
        RULES[name] = Rule(name, words, matcher)
        return matcher

    return enter


def _plain(name: str, words: str) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Enter a rule on statements: what the premises assume, the conclusion must assume too."""

    def enter(matcher: Callable[..., bool]) -> Callable[..., bool]:
        def matches(goal: Judgement, premises: tuple[Judgement, ...], hypotheses: tuple[Statement, ...]) -> bool:
            assumed = all(each in goal.under for premise in premises for each in premise.under)
            return assumed and matcher(goal.statement, *(premise.statement for premise in premises))

        RULES[name] = Rule(name, words, matches)
        return matcher

    return enter


def _all(statements: Iterable[Statement], *relations: str) -> bool:
    return all(statement.relation in relations for statement in statements)


# logic and equality


@_rule("hypothesis", "a hypothesis of the claim, or an assumption of the case, holds")
def _hypothesis(goal: Judgement, premises: tuple[Judgement, ...], hypotheses: tuple[Statement, ...]) -> bool:
    return not premises and (goal.statement in hypotheses or goal.statement in goal.under)


@_rule("cases", "a number is ≥ 0 or < 0; what holds in both cases holds")
def _cases(goal: Judgement, premises: tuple[Judgement, ...], hypotheses: tuple[Statement, ...]) -> bool:
    if len(premises) != 2 or any(premise.statement != goal.statement for premise in premises):
        return False
    first, second = (premise.under for premise in premises)
    for case in first:
        if case.relation == "nonnegative" and case.terms[0].shape == SCALAR:
            other = positive(-case.terms[0])
            left = [each for each in first if each != case] + [each for each in second if each != other]
            if all(each in goal.under for each in left):
                return True
    return False


@_plain("chain", "equalities in a row: a = b and b = c give a = c")
def _chain(goal: Statement, *links: Statement) -> bool:
    if not links or not _all((goal, *links), "equal"):
        return False
    joined = all(one.terms[1] == two.terms[0] for one, two in pairwise(links))
    return joined and goal.terms == (links[0].terms[0], links[-1].terms[1])


@_plain("symmetry", "an equality read from right to left")
def _symmetry(goal: Statement, *premises: Statement) -> bool:
    return len(premises) == 1 and _all((goal, *premises), "equal") and goal.terms == premises[0].terms[::-1]


@_plain(
    "ring", "sums and products are regrouped, products distributed, transposes taken; nothing is exchanged but numbers"
)
def _ring(goal: Statement, *premises: Statement) -> bool:
    return not premises and goal.relation == "equal" and normal_form(goal.terms[0]) == normal_form(goal.terms[1])


@_plain("substitution", "equals are put in the place of equals")
def _substitution(goal: Statement, *premises: Statement) -> bool:
    if len(premises) != 1 or not _all((goal, *premises), "equal"):
        return False
    return _replaced(*goal.terms, *premises[0].terms)


def _replaced(before: Term, after: Term, old: Term, new: Term) -> bool:
    """Say whether `after` is `before` with some occurrences of `old` replaced by `new`."""
    if before == after or (before == old and after == new):
        return True
    same = (before.head, before.shape, before.name) == (after.head, after.shape, after.name)
    if not same or not before.parts or len(before.parts) != len(after.parts):
        return False
    return all(_replaced(a, b, old, new) for a, b in zip(before.parts, after.parts, strict=True))


@_plain("transport", "what holds of a matrix holds of an equal one")
def _transport(goal: Statement, *premises: Statement) -> bool:
    if len(premises) != 2 or len(goal.terms) != 1 or premises[0].relation != goal.relation:
        return False
    return premises[1] == equal(premises[0].terms[0], goal.terms[0])


# permutation matrices and positive diagonal matrices


@_plain("orthogonality", "a permutation matrix times its transpose is the identity")
def _orthogonality(goal: Statement, *premises: Statement) -> bool:
    if len(premises) != 1 or premises[0].relation != "permutation":
        return False
    P = premises[0].terms[0]
    pairs = (Term("product", P.shape, pair) for pair in ((P, P.transposed), (P.transposed, P)))
    return any(goal == equal(each, identity(P.shape[0])) for each in pairs)


@_plain("permutations", "I, transposes and products of permutation matrices are permutation matrices")
def _permutations(goal: Statement, *premises: Statement) -> bool:
    if not _all((goal, *premises), "permutation"):
        return False
    given = tuple(premise.terms[0] for premise in premises)
    return _is_identity(goal, given) or _is_transpose(goal, given) or _is_product(goal, given)


def _is_identity(goal: Statement, given: tuple[Term, ...]) -> bool:
    return not given and goal.terms[0].head == "identity"


def _is_transpose(goal: Statement, given: tuple[Term, ...]) -> bool:
    return len(given) == 1 and goal.terms[0] == given[0].transposed


def _is_product(goal: Statement, given: tuple[Term, ...]) -> bool:
    return goal.terms[0].head == "product" and goal.terms[0].parts == given


@_plain("diagonals", "I, inverses and products of positive diagonal matrices are positive diagonal matrices")
def _diagonals(goal: Statement, *premises: Statement) -> bool:
    if not _all((goal, *premises), "positive diagonal"):
        return False
    given = tuple(premise.terms[0] for premise in premises)
    inverted = len(given) == 1 and goal.terms[0] == given[0].inverse
    return inverted or _is_identity(goal, given) or _is_product(goal, given)


@_plain("conjugation", "Pᵀ D P is a positive diagonal matrix when D is one and P is a permutation matrix")
def _conjugation(goal: Statement, *premises: Statement) -> bool:
    if [each.relation for each in (goal, *premises)] != ["positive diagonal", "permutation", "positive diagonal"]:
        return False
    P, D = (premise.terms[0] for premise in premises)
    return goal.terms[0] == Term("product", P.shape, (P.transposed, D, P))


@_plain("inverse", "a positive diagonal matrix times its inverse is the identity")
def _inverse(goal: Statement, *premises: Statement) -> bool:
    if len(premises) != 1 or premises[0].relation != "positive diagonal":
        return False
    D = premises[0].terms[0]
    pairs = (Term("product", D.shape, pair) for pair in ((D, D.inverse), (D.inverse, D)))
    return any(goal == equal(each, identity(D.shape[0])) for each in pairs)


# functions


@_plain("equivariance", "a permutation equivariant function commutes with a permutation matrix")
def _equivariance(goal: Statement, *premises: Statement) -> bool:
    return _commutes(goal, premises, "equivariant", "permutation")


@_plain("homogeneity", "a positively homogeneous function commutes with a positive diagonal matrix")
def _homogeneity(goal: Statement, *premises: Statement) -> bool:
    return _commutes(goal, premises, "homogeneous", "positive diagonal")


def _commutes(goal: Statement, premises: tuple[Statement, ...], law: str, kind: str) -> bool:
    """Say whether the goal is f(Z) M = f(Z M), or M f(Z) = f(M Z), as the law says of f and the matrix M."""
    if len(premises) != 2 or goal.relation != "equal" or premises[1].relation != kind:
        return False
    left, right = goal.terms
    name, M = premises[0].name, premises[1].terms[0]
    if left.head != "product" or len(left.parts) != 2 or right.head != "apply":
        return False
    on_right = premises[0].relation == f"{law} right"
    if not on_right and premises[0].relation != f"{law} left":
        return False
    value, factor = left.parts if on_right else left.parts[::-1]
    if factor != M or (value.head, value.name, right.name) != ("apply", name, name):
        return False
    argument = value.parts[0]
    if argument.shape != value.shape:  # the law is about functions that keep the shape
        return False
    return right.parts[0] == Term("product", value.shape, (argument, M) if on_right else (M, argument))


@_plain("elementwise", "relu acts on every entry alike, and relu(c z) = c relu(z) for c > 0")
def _elementwise(goal: Statement, *premises: Statement) -> bool:
    return not premises and not goal.terms and goal.name == RELU


# order: entry by entry


@_plain("relu is nonnegative", "relu(z) ≥ 0")
def _relu_nonnegative(goal: Statement, *premises: Statement) -> bool:
    return not premises and goal.relation == "nonnegative" and _is_relu(goal.terms[0])


def _is_relu(term: Term) -> bool:
    return (term.head, term.name) == ("apply", RELU)


@_plain("active", "relu(z) = z where z ≥ 0")
def _active(goal: Statement, *premises: Statement) -> bool:
    if len(premises) != 1 or goal.relation != "equal" or not _is_relu(goal.terms[0]):
        return False
    z = goal.terms[0].parts[0]
    return goal.terms[1] == z and premises[0] in (nonnegative(z), positive(z))


@_plain("inactive", "relu(z) = 0 where z ≤ 0")
def _inactive(goal: Statement, *premises: Statement) -> bool:
    if len(premises) != 1 or goal.relation != "equal" or not _is_relu(goal.terms[0]):
        return False
    z = goal.terms[0].parts[0]
    return goal.terms[1] == zero(*z.shape) and premises[0] in (nonnegative(-z), positive(-z))


@_plain("sums of signs", "a sum of terms ≥ 0 is ≥ 0, and > 0 when one of them is")
def _sum_of_signs(goal: Statement, *premises: Statement) -> bool:
    if not _all((goal, *premises), "nonnegative", "positive") or goal.terms[0].head != "sum":
        return False
    strict = any(premise.relation == "positive" for premise in premises)
    enough = goal.relation == "nonnegative" or strict
    return enough and goal.terms[0].parts == tuple(premise.terms[0] for premise in premises)


@_plain("products of signs", "a product of terms ≥ 0 is ≥ 0")
def _product_of_signs(goal: Statement, *premises: Statement) -> bool:
    if goal.relation != "nonnegative" or not _all(premises, "nonnegative", "positive"):
        return False
    return _is_product(goal, tuple(premise.terms[0] for premise in premises))


@_plain("cancelling", "if z c ≥ 0 for a number c > 0 then z ≥ 0")
def _cancelling(goal: Statement, *premises: Statement) -> bool:
    if len(premises) != 2 or goal.relation != "nonnegative":
        return False
    multiple, factor = premises
    if multiple.relation not in ("nonnegative", "positive") or factor.relation != "positive":
        return False
    z, c = goal.terms[0], factor.terms[0]
    if c.shape != SCALAR or z.shape[1] != 1:
        return False
    return multiple.terms[0] == Term("product", z.shape, (z, c))


# from a number to a matrix


@_rule("entry by entry", "what sums and relu do to every number they do to every entry of a matrix")
def _lifting(goal: Judgement, premises: tuple[Judgement, ...], hypotheses: tuple[Statement, ...]) -> bool:
    """Accept E(Z) = F(Z) from E(x) = F(x), x a number of which nothing was assumed, E and F made of sums and relu."""
    if len(premises) != 1 or not _all((goal.statement, premises[0].statement), "equal"):
        return False
    if any(each not in goal.under for each in premises[0].under):
        return False
    numbers = {part for term in premises[0].statement.terms for part in term.walk() if part.head == "symbol"}
    if len(numbers) != 1:
        return False
    x = numbers.pop()
    assumed = (*hypotheses, *premises[0].under)
    if x.shape != SCALAR or any(part == x for each in assumed for term in each.terms for part in term.walk()):
        return False
    values: set[Term] = set()
    pairs = zip(premises[0].statement.terms, goal.statement.terms, strict=True)
    shape = goal.statement.terms[0].shape
    return all(_lifted(one, many, x, shape, values) for one, many in pairs) and len(values) == 1


def _lifted(one: Term, many: Term, x: Term, shape: tuple[object, object], values: set[Term]) -> bool:
    """Say whether `many` is `one` with matrices for numbers; collect what stands for x."""
    if many.shape != shape:
        return False
    if one == x:
        values.add(many)
        return True
    plain = one.head in ("sum", "negative", "zero") or _is_relu(one)
    if not plain or (one.head, one.name, len(one.parts)) != (many.head, many.name, len(many.parts)):
        return False
    return all(_lifted(a, b, x, shape, values) for a, b in zip(one.parts, many.parts, strict=True))
