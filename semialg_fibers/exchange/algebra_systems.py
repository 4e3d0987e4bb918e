"""Singular, Macaulay2, Sage and Mathematica: how each writes a set.

Main definitions
    SINGULAR, MACAULAY2    a ring, an ideal for the equations and two lists for the inequalities of each basic set
    SAGE                   the same in Python syntax, which needs no preparser
    MATHEMATICA            conditions joined by && and ||

Letters are parameters of the ring, or in its field of coefficients: what is computed holds for generic values of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from semialg_fibers.exchange.languages import Conditions, Language, alphanumeric, fraction, listed, underscored, words

# Singular: a ring with parameters


def _singular_head(variables: Sequence[str], letters: Sequence[str], signs: Sequence[tuple[str, str]]) -> Iterator[str]:
    if letters:
        yield "// The letters are parameters of the ring: what is computed holds for generic values of them."
        yield from (f"// {letter} {sign}" for letter, sign in signs)
    yield f"ring R = ({', '.join(['0', *letters])}), ({', '.join(variables)}), dp;"


def _singular_body(part: Conditions) -> Iterator[str]:
    yield from listed(part.equations or ["0"], f"ideal equations_{part.where} = ", ";")
    for name, items, sign in (("positive", part.positive, "> 0"), ("nonnegative", part.nonnegative, ">= 0")):
        yield f"// each {sign}:"
        yield from listed(items, f"list {name}_{part.where} = " if items else f"list {name}_{part.where}", ";")


# Reserved names that are no plain words.
_SINGULAR_WORDS = words("char_series nc_algebra ring_list")

SINGULAR = Language(
    "Singular",
    "//",
    fraction,
    underscored,
    words("R") | _SINGULAR_WORDS,
    _singular_head,
    _singular_body,
    notes=("dim(std(equations_{first})); gives the dimension of the complex solutions of the equations.",),
    taken="[A-Za-z]{2,}",  # its commands and the procedures of its libraries are such words
    suffix="_",
)


# Macaulay2: coefficients in a fraction field


def _macaulay2_head(
    variables: Sequence[str], letters: Sequence[str], signs: Sequence[tuple[str, str]]
) -> Iterator[str]:
    if letters:
        yield "-- The letters are in the field of coefficients: what is computed holds for generic values of them."
        yield from (f"-- {letter} {sign}" for letter, sign in signs)
    coefficients = f"frac(QQ[{', '.join(letters)}])" if letters else "QQ"
    yield f"R = {coefficients}[{', '.join(variables)}]"


def _macaulay2_body(part: Conditions) -> Iterator[str]:
    where = part.where.replace("_", "p")
    yield from listed(["0_R", *part.equations], f"equations{where} = ideal(", ")")
    for name, items, sign in (("positive", part.positive, "> 0"), ("nonnegative", part.nonnegative, ">= 0")):
        yield f"-- each {sign}:"
        yield from listed(items, f"{name}{where} = {{", "}")


MACAULAY2 = Language(
    "Macaulay2",
    "--",
    fraction,
    alphanumeric,
    words("R atan2 expm1 log1p size2 utf8 utf8check utf8substring"),
    _macaulay2_head,
    _macaulay2_body,
    taken="[A-Za-z]{2,}",  # the functions and constants of all loaded packages are such words
    suffix="0",
    notes=(
        "Indices are written W1i0j0 for W1_0_0.",
        "dim equations{plain} is the dimension of the complex solutions of the equations.",
    ),
)


# Sage: Python syntax that needs no preparser


def _sage_head(variables: Sequence[str], letters: Sequence[str], signs: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "from sage.all import FractionField, PolynomialRing, QQ"
    base = "QQ"
    if letters:
        yield "# The letters are in the field of coefficients: what is computed holds for generic values of them."
        yield from (f"# {letter} {sign}" for letter, sign in signs)
        yield f"K = FractionField(PolynomialRing(QQ, {list(letters)}))"
        yield f"({', '.join(letters)},) = K.gens()"
        base = "K"
    yield f"R = PolynomialRing({base}, {list(variables)})"
    yield f"({', '.join(variables)},) = R.gens()"


def _sage_body(part: Conditions) -> Iterator[str]:
    for name, items, sign in (
        ("equations", part.equations, "== 0"),
        ("positive", part.positive, "> 0"),
        ("nonnegative", part.nonnegative, ">= 0"),
    ):
        yield f"# each {sign}:"
        yield from listed(items, f"{name}_{part.where} = [", "]")


_PYTHON = words(
    "R K QQ FractionField PolynomialRing and as assert async await break class continue def del elif else except False "
    "finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield"
)

SAGE = Language(
    "Sage",
    "#",
    lambda p, q: str(p) if q == 1 else f"QQ(({p}, {q}))",
    underscored,
    _PYTHON,
    _sage_head,
    _sage_body,
    power="**",
    notes=("R.ideal(equations_{first}).dimension() is the dimension of the complex solutions of the equations.",),
)


# Mathematica: conditions joined by && and ||


def _mathematica_head(
    variables: Sequence[str], letters: Sequence[str], signs: Sequence[tuple[str, str]]
) -> Iterator[str]:
    yield f"variables = {{{', '.join(variables)}}};"
    if letters:
        yield f"letters = {{{', '.join(letters)}}};"
        yield f"assumptions = {' && '.join(f'{letter} {sign}' for letter, sign in signs) or 'True'};"


def _mathematica_place(where: str) -> str:
    return f"part{where.replace('_', 'p')}"


def _mathematica_body(part: Conditions) -> Iterator[str]:
    items = [f"{e} == 0" for e in part.equations]
    items += [f"{e} > 0" for e in part.positive] + [f"{e} >= 0" for e in part.nonnegative]
    joined = " &&\n  ".join(items) or "True"
    yield f"{_mathematica_place(part.where)} = {joined};"


MATHEMATICA = Language(
    "Mathematica",
    "(*",
    fraction,
    alphanumeric,
    words("C D E I K N O variables letters assumptions set Log2 Log10"),
    _mathematica_head,
    _mathematica_body,
    lambda places: iter(("", f"set = {' || '.join(map(_mathematica_place, places)) or 'False'};")),
    comment_end=" *)",
    taken="[A-Z][A-Za-z]+",  # all of its own words begin with a capital letter
    suffix="0",
    notes=("Indices are written W1i0j0 for W1_0_0.",),
)
