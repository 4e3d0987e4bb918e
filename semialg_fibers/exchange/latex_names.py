r"""Names in LaTeX: one table for each document, in which different symbols never look alike.

Main definitions
    NameTable     how each symbol of a document is written

Main results
    typed         a name as it is typed: x1 as x_{1}, a_1_2 as a_{1,2}, alpha_3 as \alpha_{3}
    escaped       words as text

Only names that are ours are counted from 1: the variables W1_0_0 and b1_0, the letters a1_0_0 and c1_0 of
`Network.generic`, and the symbols of an image, which are known as such and not by their names.

References: docs/conventions.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from semialg_fibers.exchange.languages import GREEK

Parts = tuple[str, tuple[int, ...], str]  # what comes before the indices, the indices, what comes after them

_SIGNS = {sign: rf"\{name}" for sign, name in GREEK.items()}
_GREEK = {name: rf"\{name}" for name in GREEK.values()}
_TYPED = re.compile(rf"([A-Za-z]+|[{''.join(_SIGNS)}])([0-9]*)((?:_[0-9]+)*)")
_VARIABLE = re.compile(r"(?:W[0-9]+_[0-9]+|b[0-9]+)_[0-9]+")
_LETTER = re.compile(r"(?:a[0-9]+_[0-9]+|c[0-9]+)_[0-9]+")
_IMAGE = re.compile(r"((?:(?:lambda|mu|beta)_[0-9]+|[BC]_[0-9]+_[0-9]+|t))(_*)")
_RUNNING = "ijklrsuvwxyz"
# What `exchange.general_form` uses besides letters with a superscript.
GENERAL = frozenset(
    {*"AacWbhijkrtvDLMNS", r"\lambda", r"\mu", r"\varepsilon", r"\epsilon"},
)


def escaped(words: str) -> str:
    """Write words as text, in ASCII."""
    special = {
        "\\": r"\textbackslash{}",
        "^": r"\^{}",
        "~": r"\~{}",
        "≥": r"$\ge$",
        "≤": r"$\le$",
        "−": "-",
        "×": r"$\times$",
    }
    special |= {sign: f"${command}$" for sign, command in _SIGNS.items()}
    text = "".join(special.get(c, rf"\{c}" if c in "&%$#_{}" else c) for c in words)
    text = re.sub(r"\bR\\\^\{\}([0-9]+)(\\_\(\$\\ge\$0\))?", _space, text)
    return text.encode("ascii", "replace").decode()


def _space(found: re.Match[str]) -> str:
    """Write R^d, or the orthant in it, as a formula."""
    return rf"$\mathbf{{R}}^{{{found[1]}}}" + (r"_{\ge 0}$" if found[2] else "$")


def typed(name: str) -> Parts:
    r"""Give a name as it is typed, indices unchanged.

    >>> typed("x1"), typed("alpha_1_12"), typed("a_b")
    (('x', (1,), ''), ('\\alpha', (1, 12), ''), ('\\mathrm{a\\_b}', (), ''))
    """
    match = _TYPED.fullmatch(name)
    indices = [] if match is None else [i for i in (match[2], *match[3].split("_")[1:]) if i]
    if match is None or any(i != str(int(i)) for i in indices):
        return _upright(name), (), ""
    word = match[1]
    head = _SIGNS.get(word) or _GREEK.get(word) or (word if len(word) == 1 else rf"\mathrm{{{word}}}")
    return head, tuple(map(int, indices)), ""


def _upright(name: str) -> str:
    """Give the name in upright letters, different ones for different names in ASCII."""
    plain = {sign: rf"{command}{{}}" for sign, command in _SIGNS.items()} | {"_": r"\_"}
    text = "".join(plain.get(c, c if c.isascii() and c.isalnum() else f"[{ord(c):x}]") for c in name)
    return rf"\mathrm{{{text}}}"


def _layered(name: str) -> Parts:
    """Give W1_0_2 as W^{(1)} with the indices 1, 3."""
    head, *indices = name.split("_")
    return f"{head[0]}^{{({head[1:]})}}", tuple(int(i) + 1 for i in indices), ""


def joined(parts: Parts) -> str:
    """Write head, indices and what follows."""
    head, indices, after = parts
    return head + (f"_{{{','.join(map(str, indices))}}}" if indices else "") + after


@dataclass
class NameTable:
    r"""How the symbols of a document are written: `variables`, `letters`, and the symbols of its images, by name.

    A user's name is written as it is typed; where it would look like another symbol it is written upright. `reserved`
    heads are not for users' names.

    >>> names = NameTable(["W1_0_2"], ["a1_0_0", "x1", "lambda1", "beta"], ["lambda_0", "t_"])
    >>> print(names("W1_0_2"), names("a1_0_0"), names("x1"), names("lambda1"), names("beta"))
    W^{(1)}_{1,3} a^{(1)}_{1,1} x_{1} \mathrm{lambda1} \beta
    >>> print(names.image(["lambda_0", "t_"])("lambda_0"), names.image(["t_"])("t_"))
    \lambda_{1} t'
    """

    variables: Iterable[str] = ()
    letters: Iterable[str] = ()
    images: Iterable[str] = ()
    reserved: frozenset[str] = frozenset()
    _parts: dict[str, Parts] = field(default_factory=dict, repr=False)
    _in_image: dict[str, Parts] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Give each symbol its form: first what is ours, then users' names."""
        variables, letters = dict.fromkeys(self.variables), dict.fromkeys(self.letters)
        # The image of the constant component is in the variables themselves.
        images = [name for name in dict.fromkeys(self.images) if name not in variables]
        users: list[tuple[dict[str, Parts], str]] = []
        for names, pattern in ((variables, _VARIABLE), (letters, _LETTER)):
            for name in names:
                if pattern.fullmatch(name):
                    self._parts[name] = _layered(name)
                else:
                    users.append((self._parts, name))
        for name in images:
            match = _IMAGE.fullmatch(name)
            if match is None:
                users.append((self._in_image, name))
                continue
            head, indices, _ = typed(match[1])
            self._in_image[name] = head, tuple(i + 1 for i in indices), "'" * len(match[2])
        self._place(users)

    def _place(self, users: list[tuple[dict[str, Parts], str]]) -> None:
        taken = {joined(parts) for parts in (*self._parts.values(), *self._in_image.values())}
        # A Greek letter typed as such keeps its form before its name in Latin letters does.
        for plain in (False, True):
            group = [(table, name, typed(name)) for table, name in users if name.isascii() == plain]
            often = Counter(joined(parts) for _, _, parts in group)
            for table, name, parts in group:
                form = joined(parts)
                if form in taken or often[form] > 1 or parts[0] in self.reserved:
                    parts = _upright(name), (), ""
                table[name] = parts
            for table, name, _ in group:
                head, indices, after = table[name]
                while joined((head, indices, after)) in taken:
                    after += "'"
                table[name] = head, indices, after
                taken.add(joined(table[name]))
        forms = [joined(parts) for parts in (*self._parts.values(), *self._in_image.values())]
        assert len(set(forms)) == len(forms), "two symbols look alike"

    def parts(self, name: str) -> Parts:
        """Give what comes before the indices, the indices, what comes after them."""
        if name in self._parts:
            return self._parts[name]
        return _layered(name) if _VARIABLE.fullmatch(name) or _LETTER.fullmatch(name) else typed(name)

    def __call__(self, name: str) -> str:
        """Write the symbol of this name."""
        return joined(self.parts(name))

    def image(self, symbols: Iterable[str]) -> NameTable:
        """Give the table for one image, in which these names are its symbols."""
        found = NameTable()
        found._parts = self._parts | {name: self._in_image[name] for name in symbols if name in self._in_image}
        return found

    @property
    def known(self) -> tuple[str, ...]:
        """The names of the variables and letters."""
        return tuple(self._parts)

    @property
    def running(self) -> str:
        """Letters for running indices, none of which is the head of a symbol."""
        heads = {head for head, _, _ in (*self._parts.values(), *self._in_image.values())}
        return "".join(letter for letter in _RUNNING if letter not in heads)
