"""Explicit matrices for the letters of a claim: what a term is there, whether a statement holds, counterexamples.

Main definitions
    Instance          numbers for the sizes, matrices for the letters, functions for their names

Main results
    value_of, holds   a term, a statement, in an instance; entries may be symbolic where nothing is compared
    counterexample    an instance in which all hypotheses of a claim hold and a conclusion does not

The search draws small rational matrices; it may fail to find what exists, and proves nothing when it does.

References: theory §8.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq, fmpq_mat

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.verify.derivation import Claim
from semialg_fibers.verify.expressions import SCALAR, Size, Statement, Term
from semialg_fibers.verify.notation import RELU

Rows = tuple[tuple[Any, ...], ...]
Function = Callable[[Rows], Rows]

VALUES = tuple(fmpq(p, q) for p, q in ((0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2), (3, 1), (-3, 1)))


@dataclass(frozen=True)
class Instance:
    """Sizes, matrices and functions by name; relu is known.

    >>> from semialg_fibers.verify.expressions import matrix, relu
    >>> A = matrix("A", "n", "n")
    >>> print(value_of(relu(A - A @ A), Instance({"n": 1}, {"A": ((fmpq(1, 2),),)})))
    ((1/4,),)
    """

    sizes: Mapping[str, int]
    matrices: Mapping[str, Rows]
    functions: Mapping[str, Function] = field(default_factory=dict)

    def size(self, size: Size) -> int:
        """Give a size as a number."""
        return size if isinstance(size, int) else self.sizes[size]


def _relu(rows: Rows) -> Rows:
    return tuple(tuple(max(value, 0 * value) for value in row) for row in rows)


def _identity(size: int) -> Rows:
    return tuple(tuple(fmpq(int(i == j)) for j in range(size)) for i in range(size))


def _times(left: Rows, right: Rows) -> Rows:
    columns = tuple(zip(*right, strict=True))
    return tuple(tuple(sum(a * b for a, b in zip(row, column, strict=True)) for column in columns) for row in left)


def _inverse(rows: Rows) -> Rows:
    found = fmpq_mat([list(row) for row in rows])
    if found.rank() < len(rows):
        return tuple((fmpq(0),) * len(rows) for _ in rows)
    return tuple(tuple(row) for row in found.inv().tolist())


def value_of(term: Term, instance: Instance) -> Rows:
    """Give the matrix that the term is in an instance, as rows."""
    parts = [value_of(part, instance) for part in term.parts]
    rows, columns = map(instance.size, term.shape)
    match term.head:
        case "symbol":
            return instance.matrices[term.name]
        case "identity":
            return _identity(rows)
        case "zero":
            return ((fmpq(0),) * columns,) * rows
        case "sum":
            return _added(parts)
        case "product":
            result = parts[0]
            for part in parts[1:]:
                result = _times(result, part)
            return result
        case "negative":
            return tuple(tuple(-value for value in row) for row in parts[0])
        case "transpose":
            return tuple(zip(*parts[0], strict=True))
        case "inverse":
            return _inverse(parts[0])
    return _relu(parts[0]) if term.name == RELU else instance.functions[term.name](parts[0])


def holds(statement: Statement, instance: Instance) -> bool:
    """Say whether a statement holds in an instance; what is assumed of functions, its maker must see to.

    Raises:
        InvalidNetworkError: for a statement about a function.
    """
    if not statement.terms:
        raise InvalidNetworkError(f"a law for all matrices is not checked in one instance: {statement}")
    rows = value_of(statement.terms[0], instance)
    entries = [value for row in rows for value in row]
    match statement.relation:
        case "equal":
            return rows == value_of(statement.terms[1], instance)
        case "nonnegative":
            return all(value >= 0 for value in entries)
        case "positive":
            return all(value > 0 for value in entries)
        case "permutation":
            lines = [*rows, *zip(*rows, strict=True)]
            return all(sorted(line) == sorted(_identity(len(rows))[0]) for line in lines)
    return all((value > 0) if i == j else (value == 0) for i, row in enumerate(rows) for j, value in enumerate(row))


def letters_of(statements: Sequence[Statement]) -> tuple[dict[str, Term], set[str], set[str]]:
    """Give the matrices by name, the names of sizes, and the names of functions that statements speak of."""
    terms = [part for statement in statements for term in statement.terms for part in term.walk()]
    matrices = {part.name: part for part in terms if part.head == "symbol"}
    sizes = {size for part in terms for size in part.shape if isinstance(size, str)}
    functions = {part.name for part in terms if part.head == "apply" and part.name != RELU}
    return matrices, sizes, functions | {each.name for each in statements if each.name and each.name != RELU}


def counterexample(claim: Claim, seed: int = 0, tries: int = 20_000, most: int = 2) -> Instance | None:
    """Give an instance in which all hypotheses hold and a conclusion does not, or None when none was met.

    Sizes are drawn up to `most`; in half of the tries all are 1. Functions are drawn from a small stock that the
    hypotheses about them allow.

    >>> from semialg_fibers.verify.theorems import hiding_translation
    >>> claim = hiding_translation().claim
    >>> counterexample(claim, tries=50) is None
    True
    >>> found = counterexample(Claim("without b ≤ 0", claim.hypotheses[:1] + claim.hypotheses[2:], claim.conclusions))
    >>> all(holds(each, found) for each in claim.hypotheses), holds(claim.conclusions[0], found)
    (False, False)
    """
    rng = random.Random(seed)
    for number in range(tries):
        instance = drawn(claim.hypotheses, claim.conclusions, rng, most if number % 2 else 1)
        if instance is not None and not all(holds(each, instance) for each in claim.conclusions):
            return instance
    return None


def drawn(
    hypotheses: Sequence[Statement], others: Sequence[Statement], rng: random.Random, most: int = 2
) -> Instance | None:
    """Draw an instance for all letters in which the hypotheses hold, or None when this draw fails."""
    matrices, names, functions = letters_of([*hypotheses, *others])
    sizes = {name: rng.randint(1, most) for name in sorted(names)}
    found = Instance(sizes, {}, {name: _drawn_function(name, hypotheses, others, sizes, rng) for name in functions})
    filled: dict[str, Rows] = {}
    for name, term in sorted(matrices.items()):
        kind = next((each for each in hypotheses if _bare(each) == term), None)
        filled[name] = _drawn_matrix(kind, found.size(term.shape[0]), found.size(term.shape[1]), rng)
    instance = Instance(sizes, filled, found.functions)
    for each in hypotheses:
        if each.relation == "equal":
            _solve(each, instance, filled)
    return instance if all(holds(each, instance) for each in hypotheses if each.terms) else None


def _solve(equation: Statement, instance: Instance, filled: dict[str, Rows]) -> None:
    """Give a letter the value that an equation gives it, when it is a summand of a side and occurs but once."""
    count = Counter(part for term in equation.terms for part in term.walk())
    for side, other in (equation.terms, equation.terms[::-1]):
        parts = side.parts if side.head == "sum" else (side,)
        for i, part in enumerate(parts):
            if part.head == "symbol" and count[part] == 1:
                rest = [value_of(-each, instance) for each in (*parts[:i], *parts[i + 1 :])]
                filled[part.name] = _added([value_of(other, instance), *rest])
                return


def _added(values: Sequence[Rows]) -> Rows:
    return tuple(tuple(sum(column) for column in zip(*each, strict=True)) for each in zip(*values, strict=True))


def _bare(statement: Statement) -> Term | None:
    """Give the letter that a statement about one letter, or its negative, is about."""
    if len(statement.terms) != 1:
        return None
    term = statement.terms[0]
    return term.parts[0] if term.head == "negative" else term


def _drawn_matrix(kind: Statement | None, rows: int, columns: int, rng: random.Random) -> Rows:
    relation = "" if kind is None else kind.relation
    if relation == "permutation":
        order = rng.sample(range(rows), rows)
        return tuple(_identity(rows)[i] for i in order)
    size = [[rng.choice(VALUES) for _ in range(columns)] for _ in range(rows)]
    if relation == "positive diagonal":
        return tuple(tuple((abs(size[i][j]) + 1) if i == j else fmpq(0) for j in range(columns)) for i in range(rows))
    if relation in ("nonnegative", "positive") and kind is not None:
        sign = -1 if kind.terms[0].head == "negative" else 1
        return tuple(tuple(sign * (abs(value) + (relation == "positive")) for value in row) for row in size)
    return tuple(tuple(row) for row in size)


def _drawn_function(
    name: str,
    hypotheses: Sequence[Statement],
    others: Sequence[Statement],
    sizes: Mapping[str, int],
    rng: random.Random,
) -> Function:
    """Draw a function that has the properties assumed of it; without any, one that treats all entries differently."""
    laws = {each.relation for each in hypotheses if each.name == name}
    uses = [
        part for each in [*hypotheses, *others] for term in each.terms for part in term.walk()
        if (part.head, part.name) == ("apply", name)
    ]  # fmt: skip
    shape = tuple(size if isinstance(size, int) else sizes[size] for size in (uses[0].shape if uses else SCALAR))
    a, b, c = (rng.choice(VALUES) for _ in range(3))
    if not laws:
        weights = [[[rng.choice(VALUES) for _ in range(64)] for _ in range(shape[1])] for _ in range(shape[0])]

        def mixed(rows: Rows) -> Rows:
            flat = [value for row in rows for value in row]
            return tuple(
                tuple(sum((w * v for w, v in zip(each, flat, strict=False)), each[-1]) for each in line)
                for line in weights
            )

        return mixed

    def leaky(value: Any) -> Any:
        return a * value if value > 0 else b * value

    if any(law.startswith("homogeneous") for law in laws):
        return lambda rows: tuple(tuple(leaky(value) for value in row) for row in rows)

    def pooled(rows: Rows) -> Rows:  # φ(z) = z² + c Σ z, row by row: equivariant, and not elementwise
        return tuple(tuple(value * value + c * sum(row) + leaky(value) for value in row) for row in rows)

    if laws == {"equivariant left"}:
        return lambda rows: tuple(zip(*pooled(tuple(zip(*rows, strict=True))), strict=True))
    return pooled
