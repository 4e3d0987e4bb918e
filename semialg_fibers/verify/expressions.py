"""Matrix expressions with symbolic sizes, and statements about them: what a proof talks about.

Main definitions
    Term         a matrix expression; its constructor refuses sizes that do not fit
    Statement    a relation between terms, or a property of a function

Main results
    examined    refuses anything that is not plain, well-sized data

Sizes are names or positive integers; two sizes fit when they are the same. A term stands for one real matrix for every
choice of sizes, matrices and functions.

References: theory §8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.scalar import shown
from semialg_fibers.verify.notation import RELU, sentence_of, text_of

Size = str | int
Shape = tuple[Size, Size]

SCALAR: Shape = (1, 1)
MAX_PARTS = 200_000  # of any term, repetitions included
MAX_DEPTH = 100  # of any term
MAX_SIZE = 10**6  # of a size that is a number
_LETTER = "A-Za-zα-νξπ-ωΓΔΘΛΞΠΣΥΦΨΩ"
_NAME = re.compile(rf"[{_LETTER}][{_LETTER}0-9]{{0,15}}(_[{_LETTER}0-9]{{1,8}})?'{{0,2}}")
RESERVED = (RELU, "I")  # the function, and how an identity matrix is written
_PARTS = {"symbol": 0, "identity": 0, "zero": 0, "negative": 1, "transpose": 1, "inverse": 1, "apply": 1}


def is_name(value: object) -> bool:
    """Say whether a value can name a matrix, a function or a size."""
    return type(value) is str and _NAME.fullmatch(value) is not None


def _is_size(value: object) -> bool:
    return is_name(value) or (type(value) is int and 1 <= value <= MAX_SIZE)


@dataclass(frozen=True)
class Term:
    """A matrix expression of one shape: `head` says how it is made of its `parts`.

    Heads: "symbol", "identity", "zero"; "sum", "product", "negative", "transpose"; "inverse" (of a singular matrix: 0,
    so that it always means something); "apply" (the function `name`; relu acts on every entry, any other function
    takes the whole matrix).

    >>> print(matrix("x", 1, "d") @ matrix("W", "d", "n") + matrix("b", 1, "n"))
    x W + b
    """

    head: str
    shape: Shape
    parts: tuple[Term, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        """Refuse what is no matrix expression.

        Raises:
            InvalidNetworkError: for sizes that do not fit, parts that are no plain terms, and terms that are too deep.
        """
        if type(self.shape) is not tuple or len(self.shape) != 2 or not all(map(_is_size, self.shape)):
            raise InvalidNetworkError(f"a shape is a pair of names or positive integers, got {shown(self.shape)}")
        if type(self.head) is not str or type(self.name) is not str or type(self.parts) is not tuple:
            raise InvalidNetworkError("a term is made of plain text and tuples")
        if not all(type(part) is Term for part in self.parts):
            raise InvalidNetworkError(f"the parts of a term are terms, got {shown(self.parts)}")
        if not self._fits():
            given = ", ".join(f"{part} ({part.shape[0]}×{part.shape[1]})" for part in self.parts)
            words = f"no {self.shape[0]}×{self.shape[1]} matrix is the {self.head} {self.name!r} of [{given}]"
            raise InvalidNetworkError(words if len(words) <= 300 else f"{words[:300]}... ({len(words):,} characters)")
        if self.depth > MAX_DEPTH:  # recursion is safe everywhere
            raise InvalidNetworkError(
                f"a term is nested more than {MAX_DEPTH} deep; name a part, and say what it equals"
            )
        if self.count > MAX_PARTS:
            raise InvalidNetworkError(f"a term has more than {MAX_PARTS:,} parts; name a part, and say what it equals")

    def _fits(self) -> bool:
        (rows, columns), parts = self.shape, self.parts
        if (self.head in {"symbol", "apply"}) != bool(self.name) or len(parts) != _PARTS.get(self.head, len(parts)):
            return False
        match self.head:
            case "symbol":
                return is_name(self.name) and self.name not in RESERVED
            case "zero":
                return True
            case "identity":
                return rows == columns
            case "sum":
                return len(parts) > 1 and all(part.shape == self.shape for part in parts)
            case "product":
                chain = all(a.shape[1] == b.shape[0] for a, b in pairwise(parts))
                return len(parts) > 1 and chain and self.shape == (parts[0].shape[0], parts[-1].shape[1])
            case "negative":
                return parts[0].shape == self.shape
            case "transpose":
                return parts[0].shape == (columns, rows)
            case "inverse":
                return rows == columns and parts[0].shape == self.shape
            case "apply":
                return is_name(self.name) and (self.name not in RESERVED or self._is_relu())
        return False

    def _is_relu(self) -> bool:
        return self.name == RELU and self.parts[0].shape == self.shape

    @cached_property
    def depth(self) -> int:
        """How deep the term is nested; a letter has depth 1."""
        return 1 + max((part.depth for part in self.parts), default=0)

    @cached_property
    def count(self) -> int:
        """The number of all its parts at every depth, itself included."""
        return 1 + sum(part.count for part in self.parts)

    def __add__(self, other: Term) -> Term:
        """Give the sum; a + b + c is one sum of three."""
        left = self.parts if self.head == "sum" else (self,)
        return Term("sum", self.shape, (*left, other))

    def __matmul__(self, other: Term) -> Term:
        """Give the product; a @ b @ c is one product of three."""
        return product(*(self.parts if self.head == "product" else (self,)), other)

    def __neg__(self) -> Term:
        """Give the negative."""
        return Term("negative", self.shape, (self,))

    def __sub__(self, other: Term) -> Term:
        """Give a + (−b)."""
        return self + (-other)

    @property
    def transposed(self) -> Term:
        """The transpose, as it stands."""
        return Term("transpose", (self.shape[1], self.shape[0]), (self,))

    @property
    def inverse(self) -> Term:
        """The inverse, as it stands."""
        return Term("inverse", self.shape, (self,))

    def walk(self) -> Iterator[Term]:
        """Yield the term and all its parts, at every depth."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def __str__(self) -> str:
        """Give the formula on paper."""
        return text_of(self)


def matrix(name: str, rows: Size, columns: Size) -> Term:
    """Give the matrix called `name`."""
    return Term("symbol", (rows, columns), (), name)


def identity(size: Size) -> Term:
    """Give the identity matrix."""
    return Term("identity", (size, size))


def zero(rows: Size, columns: Size) -> Term:
    """Give the zero matrix."""
    return Term("zero", (rows, columns))


def product(*factors: Term) -> Term:
    """Give the product of these factors, each kept as it is: product(A @ B, C) is (A B) C."""
    return Term("product", (factors[0].shape[0], factors[-1].shape[1]), factors)


def relu(term: Term) -> Term:
    """Give max(0, ·) of every entry."""
    return Term("apply", term.shape, (term,), RELU)


def apply(name: str, term: Term, rows: Size | None = None, columns: Size | None = None) -> Term:
    """Give the value of the function `name`; the shape is that of the argument unless given."""
    return Term("apply", (rows or term.shape[0], columns or term.shape[1]), (term,), name)


# Relations, and how many terms each has; those with none speak of the function `name`.
RELATIONS = {
    "equal": 2,
    "nonnegative": 1,  # every entry
    "positive": 1,  # every entry
    "permutation": 1,
    "positive diagonal": 1,
    "equivariant right": 0,  # f(Z P) = f(Z) P for all Z and all permutation matrices P
    "equivariant left": 0,
    "homogeneous right": 0,  # f(Z D) = f(Z) D for all Z and all diagonal D with positive entries
    "homogeneous left": 0,
}


@dataclass(frozen=True)
class Statement:
    """A relation between terms, or a property of the function `name`.

    >>> P = matrix("P", "n", "n")
    >>> print(equal(P @ P.transposed, identity("n")))
    P Pᵀ = I
    """

    relation: str
    terms: tuple[Term, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        """Refuse what is no statement.

        Raises:
            InvalidNetworkError: for an unknown relation, and for terms that it cannot speak of.
        """
        if type(self.relation) is not str or self.relation not in RELATIONS:
            raise InvalidNetworkError(f"no relation is called {shown(self.relation)}; there are {', '.join(RELATIONS)}")
        if type(self.terms) is not tuple or not all(type(term) is Term for term in self.terms):
            raise InvalidNetworkError(f"a statement speaks of terms, got {shown(self.terms)}")
        count = RELATIONS[self.relation]
        if len(self.terms) != count or (self.name != "" if count else not is_name(self.name)):
            raise InvalidNetworkError(f"the relation {self.relation!r} needs {count or 'no'} terms and else a function")
        shapes = [term.shape for term in self.terms]
        if self.relation == "equal" and shapes[0] != shapes[1]:
            raise InvalidNetworkError(f"matrices of shapes {shapes[0]} and {shapes[1]} are never equal")
        if self.relation in {"permutation", "positive diagonal"} and shapes[0][0] != shapes[0][1]:
            raise InvalidNetworkError(f"a {self.relation} matrix is square, got {shapes[0]}")

    def __str__(self) -> str:
        """Give the sentence on paper."""
        return sentence_of(self)


def equal(left: Term, right: Term) -> Statement:
    """Give left = right."""
    return Statement("equal", (left, right))


def nonnegative(term: Term) -> Statement:
    """Give term ≥ 0 in every entry."""
    return Statement("nonnegative", (term,))


def nonpositive(term: Term) -> Statement:
    """Give −term ≥ 0 in every entry."""
    return nonnegative(-term)


def positive(term: Term) -> Statement:
    """Give term > 0 in every entry."""
    return Statement("positive", (term,))


def examined(statements: tuple[Statement, ...]) -> None:
    """Refuse statements that are not plain data, or that use one name in two ways.

    Constructors have checked all of it once; this trusts none of them.

    Raises:
        InvalidNetworkError: with what is wrong.
    """
    try:
        _examined(statements)
    except RecursionError:
        raise InvalidNetworkError("a term is nested too deep, or is a part of itself") from None


def _examined(statements: tuple[Statement, ...]) -> None:
    used: dict[str, tuple[object, ...]] = {}
    sizes: set[Size] = set()
    for statement in statements:
        if type(statement) is not Statement:
            raise InvalidNetworkError(f"expected a statement, got a {type(statement).__name__}")
        statement.__post_init__()
        if statement.name and used.setdefault(statement.name, ("function",))[0] != "function":
            raise InvalidNetworkError(f"the name {statement.name} is used for a matrix and for a function")
        for term in statement.terms:
            for part in term.walk():
                part.__post_init__()
                sizes.update(part.shape)
                if not part.name or part.name == RELU:
                    continue
                use: tuple[object, ...] = ("matrix", part.shape)
                if part.head == "apply":
                    use = ("function", part.shape, part.parts[0].shape)
                known = used.setdefault(part.name, use)
                if known == ("function",) and use[0] == "function":
                    used[part.name] = use
                elif known != use:
                    raise InvalidNetworkError(f"the name {part.name} is used in two ways: {known} and {use}")
    if both := sorted(str(size) for size in sizes if size in used):
        raise InvalidNetworkError(f"the name {both[0]} is used for a size and for a matrix or a function")
