"""Terms and statements as text and as LaTeX: one traversal, one record for each language.

Main definitions
    latex_name                        the name of a letter
    text_of, sentence_of              a term, a statement, as text
    latex_of, latex_sentence_of       ... as LaTeX

References: theory §8.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

RELU = "relu"


class Formula(Protocol):
    """What is read of a term: its head, its parts and its name."""

    @property
    def head(self) -> str:
        """How it is made of its parts."""

    @property
    def parts(self) -> Sequence[Formula]:
        """What it is made of."""

    @property
    def name(self) -> str:
        """The name of the matrix or the function."""


class Sentence(Protocol):
    """What is read of a statement: its relation, and of what."""

    @property
    def relation(self) -> str:
        """One of the relations."""

    @property
    def terms(self) -> Sequence[Formula]:
        """Of which terms."""

    @property
    def name(self) -> str:
        """Of which function."""


class Language(NamedTuple):
    """How one language writes names, signs and sentences."""

    name: Callable[[str], str]
    brackets: tuple[str, str]
    minus: str
    transpose: str
    inverse: str
    identity: str
    sentences: dict[str, str]


_CAPITALS = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
_GREEK = {
    chr(code): name
    for first, names in (
        ("α", "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi"),
        ("π", "pi rho varsigma sigma tau upsilon varphi chi psi omega"),
    )
    for code, name in enumerate(names.split(), ord(first))
} | {letter: name for letter, name in zip("ΓΔΘΛΞΠΣΥΦΨΩ", _CAPITALS.split(), strict=True)}
_NAME = re.compile(r"(?P<stem>[^\d_']+)(?P<number>\w*?)(?:_(?P<below>\w+))?(?P<primes>'*)")


def latex_name(name: str) -> str:
    r"""Write W1 as W_{1}, φ as \varphi, b_D' as b_{D}'; two names are never written alike, so that W_1 is W_{\_1}."""
    if name == RELU:
        return r"\operatorname{relu}"
    match = _NAME.fullmatch(name)
    if match is None:
        return rf"\mathit{{{name}}}"
    stem = "".join(rf"\{_GREEK[letter]} " if letter in _GREEK else letter for letter in match["stem"]).strip()
    if len(match["stem"]) > 1:
        stem = rf"\mathit{{{stem}}}"
    below = ",".join(filter(None, [match["number"], match["below"]]))
    if not match["number"] and below[:1].isdigit():
        below = rf"\_{below}"
    return stem + (f"_{{{below}}}" if below else "") + match["primes"]


TEXT = Language(
    lambda name: name, ("(", ")"), "−", "ᵀ", "⁻¹", "I",
    {
        "equal": "{} = {}",
        "nonnegative": "{} ≥ 0",
        "nonpositive": "{} ≤ 0",
        "positive": "{} > 0",
        "negative": "{} < 0",
        "permutation": "{} is a permutation matrix",
        "positive diagonal": "{} is diagonal with positive entries",
        "equivariant right": "{0}(Z Π) = {0}(Z) Π for every Z and every permutation matrix Π",
        "equivariant left": "{0}(Π Z) = Π {0}(Z) for every Z and every permutation matrix Π",
        "homogeneous right": "{0}(Z Δ) = {0}(Z) Δ for every Z and every diagonal Δ with positive entries",
        "homogeneous left": "{0}(Δ Z) = Δ {0}(Z) for every Z and every diagonal Δ with positive entries",
    },
)  # fmt: skip
_FOR_ALL = r" \text{{ for every }} Z \text{{ and every {} }} "
LATEX = Language(
    latex_name, (r"\left(", r"\right)"), "-", r"^{\mathsf T}", "^{-1}", "I",
    {
        "equal": "{} = {}",
        "nonnegative": r"{} \ge 0",
        "nonpositive": r"{} \le 0",
        "positive": "{} > 0",
        "negative": "{} < 0",
        "permutation": r"{} \text{{ is a permutation matrix}}",
        "positive diagonal": r"{} \text{{ is diagonal with positive entries}}",
        "equivariant right": r"{0}(Z \Pi) = {0}(Z) \Pi" + _FOR_ALL.replace("{}", "permutation matrix") + r"\Pi",
        "equivariant left": r"{0}(\Pi Z) = \Pi {0}(Z)" + _FOR_ALL.replace("{}", "permutation matrix") + r"\Pi",
        "homogeneous right": r"{0}(Z \Delta) = {0}(Z) \Delta" + _FOR_ALL.replace("{}", "positive diagonal") + r"\Delta",
        "homogeneous left": r"{0}(\Delta Z) = \Delta {0}(Z)" + _FOR_ALL.replace("{}", "positive diagonal") + r"\Delta",
    },
)  # fmt: skip


def _written(term: Formula, language: Language) -> str:
    def inside(part: Formula, brackets: bool) -> str:
        opening, closing = language.brackets if brackets else ("", "")
        return opening + _written(part, language) + closing

    parts = term.parts
    match term.head:
        case "symbol":
            return language.name(term.name)
        case "identity":
            return language.identity
        case "zero":
            return "0"
        case "sum":
            pieces = [inside(parts[0], False)]
            for part in parts[1:]:
                if part.head == "negative":
                    pieces.append(
                        f"{language.minus} {inside(part.parts[0], part.parts[0].head in ('sum', 'negative'))}"
                    )
                else:
                    pieces.append(f"+ {inside(part, part.head == 'sum')}")
            return " ".join(pieces)
        case "product":
            return " ".join(inside(part, part.head in ("sum", "negative", "product")) for part in parts)
        case "negative":
            return language.minus + inside(parts[0], parts[0].head in ("sum", "negative"))
        case "apply":
            return language.name(term.name) + inside(parts[0], True)
    power = language.transpose if term.head == "transpose" else language.inverse
    return inside(parts[0], parts[0].head != "symbol") + power


def _said(statement: Sentence, language: Language) -> str:
    relation, terms = statement.relation, statement.terms
    if relation in ("nonnegative", "positive") and terms[0].head == "negative":  # −X ≥ 0 reads X ≤ 0
        relation, terms = {"nonnegative": "nonpositive", "positive": "negative"}[relation], terms[0].parts
    words = [_written(term, language) for term in terms] or [language.name(statement.name)]
    return language.sentences[relation].format(*words)


def text_of(term: Formula) -> str:
    """Give a term as text."""
    return _written(term, TEXT)


def sentence_of(statement: Sentence) -> str:
    """Give a statement as text."""
    return _said(statement, TEXT)


def latex_of(term: Formula) -> str:
    r"""Give a term as LaTeX, for math mode.

    >>> from semialg_fibers.verify.expressions import apply, matrix
    >>> print(latex_of(apply("φ", matrix("W1", "d", "n").transposed)))
    \varphi\left(W_{1}^{\mathsf T}\right)
    """
    return _written(term, LATEX)


def latex_sentence_of(statement: Sentence) -> str:
    """Give a statement as LaTeX, for math mode."""
    return _said(statement, LATEX)
