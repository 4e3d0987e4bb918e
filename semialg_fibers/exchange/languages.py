"""Solvers and algebra systems: one record per language, one way through every document.

Main definitions
    Language    how a language writes numbers, powers, names, comments and the conditions of a set
    Conditions  the conditions of one basic set, written

Main results
    write        a polynomial in a language, terms in a fixed order
    exported     a whole document in a language

The records are in `exchange.algebra_systems` and `exchange.smtlib`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.exchange.traversal import Document, summary_lines
from semialg_fibers.geometry.polynomial import cleared
from semialg_fibers.geometry.substitution import SIGNS

if TYPE_CHECKING:
    import sympy

_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
GREEK = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", _GREEK_NAMES.split(), strict=True))
_OWN = re.compile(r"(part|equations|positive|nonnegative)[0-9_p]*$")  # what the exports themselves define
ATOM, PRODUCT, SUM = 3, 2, 1  # how tightly a text holds together


@dataclass(frozen=True)
class Conditions:
    """The conditions of one basic set, written: `where` names its place, `headings` are pairs (index, comment)."""

    where: str
    equations: tuple[str, ...]
    positive: tuple[str, ...]
    nonnegative: tuple[str, ...]
    headings: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Language:
    """One language. `name_of` makes a legal name; `number` writes p/q; `head` declares variables and letters.

    Names that are `reserved`, and those of the form `taken`, which the language's own words have, get the `suffix`.
    In `notes` stands {first} for the place of the first basic set, 0_0 for one, and {plain} for 0p0.

    `head` is given the written variables, the written letters, and what is known of the letters' signs as pairs
    (written letter, relation); `body` writes one basic set, `foot` what follows the last one.
    """

    title: str
    comment: str
    number: Callable[[int, int], str]
    name_of: Callable[[str], str]
    reserved: frozenset[str]
    head: Callable[[Sequence[str], Sequence[str], Sequence[tuple[str, str]]], Iterator[str]]
    body: Callable[[Conditions], Iterator[str]]
    foot: Callable[[Sequence[str]], Iterator[str]] = field(default=lambda places: iter(()))
    comment_end: str = ""
    power: str = "^"
    prefix: bool = False
    notes: tuple[str, ...] = ()
    taken: str = r"(?!)"  # a regular expression; this one matches nothing
    suffix: str = "x"

    def remark(self, words: str) -> str:
        """Write a comment line, in ASCII; nothing in the words ends it."""
        signs = {"≥": ">=", "≤": "<=", "−": "-", "≠": "!=", **GREEK}
        plain = "".join(signs.get(c, c if c.isprintable() else " ") for c in words)
        if self.comment_end:  # comments in parentheses, which may stand in each other
            plain = plain.replace("(*", "( *").replace("*)", "* )")
        return f"{self.comment} {plain.encode('ascii', 'replace').decode()}{self.comment_end}"


# polynomials


def write(expression: sympy.Expr, language: Language, names: Mapping[str, str]) -> str:
    """Write a polynomial with rational coefficients; `names` maps symbols' names to written ones.

    Raises:
        InvalidNetworkError: for what is no such polynomial.
    """
    return _written(expression, language, names)[0]


def _written(expression: sympy.Expr, language: Language, names: Mapping[str, str]) -> tuple[str, int]:
    if expression.is_Symbol:
        return names[expression.name], ATOM
    if expression.is_Rational:
        p, q = int(expression.p), int(expression.q)
        return language.number(p, q), ATOM if language.prefix or (p >= 0 and q == 1) else PRODUCT
    if expression.is_Add:
        # SymPy keeps terms in an order that changes from run to run
        terms = [_written(term, language, names)[0] for term in ordered_terms(expression)]
        return (f"(+ {' '.join(terms)})", ATOM) if language.prefix else (_infix_sum(terms), SUM)
    if expression.is_Mul:
        return _product(expression, language, names)
    if expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
        base, level = _written(expression.base, language, names)
        if language.prefix:
            return f"(* {' '.join([base] * int(expression.exp))})", ATOM
        return f"{base if level == ATOM else f'({base})'}{language.power}{int(expression.exp)}", PRODUCT
    raise InvalidNetworkError(f"{expression} is no polynomial with rational coefficients", value=str(expression))


def ordered_terms(expression: sympy.Expr) -> list[sympy.Expr]:
    """Give the terms of a sum in one order for all runs, a constant last."""
    return sorted(expression.args, key=lambda term: (term.is_Rational, str(term.as_coeff_Mul()[1])))


def ordered_factors(expression: sympy.Expr) -> tuple[sympy.Rational, list[sympy.Expr]]:
    """Give the coefficient and the other factors of a product, in one order for all runs."""
    coefficient, rest = expression.as_coeff_Mul()
    return coefficient, sorted(rest.args if rest.is_Mul else [rest], key=str)


def _product(expression: sympy.Expr, language: Language, names: Mapping[str, str]) -> tuple[str, int]:
    coefficient, factors = ordered_factors(expression)
    if language.prefix:
        written = [] if coefficient == 1 else [language.number(int(coefficient.p), int(coefficient.q))]
        for factor in factors:
            times = int(factor.exp) if factor.is_Pow and factor.exp.is_Integer and factor.exp > 0 else 1
            written += [_written(factor.base if times > 1 else factor, language, names)[0]] * times
        return f"(* {' '.join(written)})", ATOM
    sign, written = "", []
    if coefficient.p < 0:
        sign, coefficient = "-", -coefficient
    if coefficient != 1:
        written.append(language.number(int(coefficient.p), int(coefficient.q)))
    for factor in factors:
        text, level = _written(factor, language, names)
        written.append(f"({text})" if level == SUM else text)
    return sign + "*".join(written), PRODUCT


def _infix_sum(terms: Sequence[str]) -> str:
    return terms[0] + "".join(f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in terms[1:])


# documents


def exported(document: Document, language: Language) -> str:
    """Write a document in a language.

    Raises:
        InvalidNetworkError: for conditions that are no polynomials with rational coefficients.
    """
    return "\n".join(_lines(document, language)) + "\n"


def _lines(document: Document, language: Language) -> Iterator[str]:
    yield language.remark(f"{language.title}, exact; every condition is a polynomial with rational coefficients.")
    if document.facts is not None:
        yield from map(language.remark, summary_lines(document.facts))
    if document.leaves_out:
        yield language.remark(f"The first {len(document.sections)} components are here.")
    names = written_names((*document.variables, *document.letters), language)
    places = list(_places(document))
    first = places[0] if places else "0_0"
    yield from (language.remark(note.format(first=first, plain=first.replace("_", "p"))) for note in language.notes)
    for symbol in (*document.variables, *document.letters):
        if names[symbol.name] != language.name_of(symbol.name) or not symbol.name.isascii():
            shown = symbol.name.encode("ascii", "backslashreplace").decode()
            yield language.remark(f"{shown} is written {names[symbol.name]} here.")
    letters = [names[letter.name] for letter in document.letters]
    signs = [(names[letter.name], sign) for letter in document.letters for sign in signs_of(letter)]
    yield from language.head([names[variable.name] for variable in document.variables], letters, signs)
    left = iter(places)
    for section in document.sections:
        yield ""
        yield language.remark(section.title)
        if section.condition is not None:
            yield language.remark(f"exists iff {section.condition}")
        for index, part in enumerate(section.parts):
            if len(section.parts) > 1:
                yield language.remark(section.part_title(index).removeprefix(", "))
            equations, positive, nonnegative = (
                tuple(write(cleared(e, keep_sign), language, names) for e in kind)
                for kind, keep_sign in ((part.equations, False), (part.positive, True), (part.nonnegative, True))
            )
            headings = tuple((start, language.remark(words)) for start, words in part.headings)
            yield from language.body(Conditions(next(left), equations, positive, nonnegative, headings))
    yield from language.foot(places)


def _places(document: Document) -> Iterator[str]:
    """Yield what tells the basic sets apart: the component's number and that of the part."""
    for count, section in enumerate(document.sections):
        number = count if section.number is None else section.number
        yield from (f"{number}_{index}" for index in range(len(section.parts)))


def signs_of(letter: sympy.Symbol) -> list[str]:
    """Give what the assumptions say of the letter's sign, the strongest statement only."""
    relations = {"positive": "> 0", "negative": "< 0", "nonzero": "!= 0", "nonnegative": ">= 0", "nonpositive": "<= 0"}
    return next(([relations[sign]] for sign in SIGNS if getattr(letter, f"is_{sign}")), [])


def written_names(symbols: Sequence[sympy.Symbol], language: Language) -> dict[str, str]:
    """Give a legal name for each symbol, different ones for different symbols."""
    names: dict[str, str] = {}
    used = set(language.reserved)
    for symbol in symbols:
        name = language.name_of(symbol.name)
        while name in used or _OWN.match(name) or re.fullmatch(language.taken, name):
            # A digit or an underscore would leave an own name an own name.
            name += "x" if _OWN.match(name) else language.suffix
        used.add(name)
        names[symbol.name] = name
    return names


def underscored(name: str) -> str:
    """Keep letters, digits and underscores, spell Greek letters; the name begins with a letter.

    >>> underscored("W1_0_0"), underscored("θ'")
    ('W1_0_0', 'thetau27')
    """
    plain = "".join(c if re.match(r"[A-Za-z0-9_]", c) else GREEK.get(c, f"u{ord(c):x}") for c in name)
    return plain if plain[:1].isalpha() else f"x{plain}"


def alphanumeric(name: str) -> str:
    """Keep letters and digits: the underscores before indices become i, j, k, l.

    >>> alphanumeric("W1_0_12"), alphanumeric("b1_0")
    ('W1i0j12', 'b1i0')
    """
    head, *indices = underscored(name).split("_")
    return head + "".join(f"{'ijkl'[min(n, 3)]}{index}" for n, index in enumerate(indices))


def fraction(p: int, q: int) -> str:
    """Write p/q."""
    return str(p) if q == 1 else f"{p}/{q}"


def listed(items: Sequence[str], opening: str, closing: str) -> Iterator[str]:
    """One item on each line between brackets."""
    if not items:
        yield f"{opening}{closing}"
        return
    for i, item in enumerate(items):
        start = opening if i == 0 else "  "
        yield f"{start}{item}{closing if i == len(items) - 1 else ','}"


def words(text: str) -> frozenset[str]:
    """Give the words of a text."""
    return frozenset(text.split())
