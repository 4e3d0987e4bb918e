r"""Our own LaTeX as HTML with MathML, for pages that must show formulas without a network connection.

Main results
    html_of_latex      what `to_latex` writes, as blocks of HTML, one for each component
    mathml             one formula

Only what `exchange.latex` and `exchange.general_form` write is read: one way through every document serves both. A
command that is not known is refused, never dropped.

References: MathML Core (W3C); docs/conventions.md for letters and indices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.exchange.languages import GREEK

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+|\s+|.", re.S)
_GREEK = {name: sign for sign, name in GREEK.items()} | {"epsilon": "ϵ", "phi": "ϕ", "varepsilon": "ε"}
_SIGNS = {
    "le": "≤", "ge": "≥", "ne": "≠", "in": "∈", "cup": "∪", "sum": "∑", "max": "max", "dots": "…", "times": "×",
    "{": "{", "}": "}",
}  # fmt: skip
_SPACES = {"quad": "1em", " ": "0.33em", ",": "0.17em"}
_NOTHING = {"Bigl", "Bigr", "bigl", "bigr"}  # parentheses stretch by themselves
_LIMITS = {"∑", "max"}
_ESCAPED = {"_": "_", "&": "&", "%": "%", "#": "#", "{": "{", "}": "}", "$": "$", "^": "^", "~": "~"}


@dataclass(frozen=True)
class Block:
    """A piece of a page under one title; the title is empty before the first component."""

    title: str
    html: str


def html_of_latex(text: str) -> tuple[Block, ...]:
    r"""Read what `to_latex` wrote and give its blocks, split where a component starts.

    Raises:
        InvalidNetworkError: for LaTeX that this package does not write.

    >>> [block.html for block in html_of_latex(r"\noindent where $x < 1$")]
    ['<p>where <math><mi>x</mi><mo>&lt;</mo><mn>1</mn></math></p>']
    """
    blocks: list[tuple[str, list[str]]] = [("", [])]
    waiting: list[str] = []
    formula: list[str] | None = None

    def flush() -> None:
        if waiting:
            blocks[-1][1].append(f"<p>{_prose(' '.join(waiting))}</p>")
            waiting.clear()

    for line in text.splitlines():
        if formula is not None:
            if line == r"\end{align*}":
                blocks[-1][1].append(_aligned(" ".join(formula)))
                formula = None
            else:
                formula.append(line)
        elif line == r"\begin{align*}":
            flush()
            formula = []
        elif line.startswith(r"\subsection*{"):
            flush()
            blocks.append((_prose(line[len(r"\subsection*{") : -1]), []))
        elif line and not line.startswith("%"):
            if line.startswith((r"\noindent", r"\par")):
                flush()
            waiting.append(line.removeprefix(r"\par").removeprefix(r"\noindent").removesuffix(r"\par").strip())
            if line.endswith(r"\par"):
                flush()
    flush()
    return tuple(Block(title, "\n".join(parts)) for title, parts in blocks if title or parts)


def mathml(formula: str, display: bool = False) -> str:
    r"""Give one formula.

    Raises:
        InvalidNetworkError: for a command that this package does not write.

    >>> print(mathml(r"\lambda_{1} t"))
    <math><msub><mi>λ</mi><mn>1</mn></msub><mo>⁢</mo><mi>t</mi></math>
    """
    block = ' display="block"' if display else ""
    return f"<math{block}>{_Formula(formula).row()}</math>"


def _prose(text: str) -> str:
    """Words with formulas between dollar signs."""
    pieces = re.split(r"(?<!\\)\$", text)
    if len(pieces) % 2 == 0:
        raise InvalidNetworkError(f"a dollar sign is left open in {text!r}", value=text)
    return "".join(mathml(piece) if k % 2 else _words(piece) for k, piece in enumerate(pieces))


def _words(text: str) -> str:
    plain = text.replace(r"\textbackslash{}", "\0").replace(r"\^{}", "^").replace(r"\~{}", "~")
    plain = re.sub(r"\\([_&%#{}$])", lambda match: _ESCAPED[match[1]], plain)
    if "\\" in plain:
        raise InvalidNetworkError(f"an unknown command in the words {text!r}", value=text)
    return escape(plain.replace("\0", "\\"), quote=False)


def _aligned(body: str) -> str:
    return f'<math display="block">{_Formula(body).table("aligned", end=None)}</math>'


class _Formula:
    """A formula and the place up to which it was read."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = [token for token in _TOKEN.findall(text) if not token.isspace()]
        self.place = 0

    def peek(self) -> str | None:
        """Give the next token, None at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self, expected: str | None = None) -> str:
        """Read one token."""
        token = self.peek()
        if token is None or (expected is not None and token != expected):
            raise InvalidNetworkError(f"expected {expected or 'more'} in a formula, got {token}", value=token)
        self.place += 1
        return token

    def group(self) -> str:
        """Read {...}, as text without spaces."""
        self.take("{")
        text = ""
        depth = 1
        while True:
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0:
                return text
            text += token

    def row(self, stop: Sequence[str] = ()) -> str:
        """Read up to one of `stop`, which is not read; give the elements, with products made visible to readers."""
        parts: list[tuple[str, bool]] = []
        while (token := self.peek()) is not None and token not in stop:
            for part, is_operand in self.element():
                if parts and parts[-1][1] and is_operand:
                    parts.append(("<mo>⁢</mo>", False))
                parts.append((part, is_operand))
        return "".join(part for part, _ in parts)

    def argument(self) -> str:
        """Read {...} or one element, as one element."""
        if self.peek() != "{":
            return self.base()[0]
        self.take("{")
        inner = self.row(("}",))
        self.take("}")
        return inner if _is_one(inner) else f"<mrow>{inner}</mrow>"

    def element(self) -> Iterator[tuple[str, bool]]:
        """Read one element with its scripts; say whether it is an operand."""
        base, is_operand = self.base()
        scripts = {}
        while self.peek() in ("^", "_"):
            kind = self.take()
            if kind in scripts:
                raise InvalidNetworkError("two scripts of one kind", value=kind)
            scripts[kind] = self.argument()
        if not base and not scripts:
            return
        if "_" in scripts and any(f"<mo>{sign}</mo>" == base for sign in _LIMITS):
            yield f"<munder>{base}{scripts['_']}</munder>", False
        elif len(scripts) == 2:
            yield f"<msubsup>{base}{scripts['_']}{scripts['^']}</msubsup>", is_operand
        elif scripts:
            kind, script = next(iter(scripts.items()))
            name = "msub" if kind == "_" else "msup"
            yield f"<{name}>{base}{script}</{name}>", is_operand
        else:
            yield base, is_operand

    def base(self) -> tuple[str, bool]:
        """Read one element without scripts."""
        if self.peek() == "{":
            return self.argument(), True
        token = self.take()
        if token.isdigit():
            return f"<mn>{token}</mn>", True
        if not token.startswith("\\"):
            if token.isalpha():
                return f"<mi>{token}</mi>", True
            if token in "^_&{}":
                raise InvalidNetworkError(f"{token} stands where a formula cannot have it", value=token)
            return f"<mo>{escape('−' if token == '-' else token)}</mo>", False
        return self.command(token[1:])

    def command(self, name: str) -> tuple[str, bool]:
        """Read what belongs to a command."""
        if name in _GREEK:
            return f"<mi>{_GREEK[name]}</mi>", True
        if name in _SIGNS:
            return f"<mo>{_SIGNS[name]}</mo>", False
        if name in _SPACES:
            return f'<mspace width="{_SPACES[name]}"/>', False
        if name in _NOTHING:
            return "", False
        if name == "emptyset":
            return "<mi>∅</mi>", True
        if name == "frac":
            above = self.argument()
            return f"<mfrac>{above}{self.argument()}</mfrac>", True
        if name == "left":
            opening = self.take()
            inner = self.row((r"\right",))
            self.take(r"\right")
            return f"<mrow><mo>{opening}</mo>{inner}<mo>{self.take()}</mo></mrow>", True
        if name in ("mathrm", "mathbf"):
            return f'<mi class="{name}">{_words(self.group())}</mi>', True
        if name == "begin":
            self.take("{")
            kind = "".join(iter(self.take, "}"))
            if kind == "array":
                self.group()  # the columns
                return self.table("matrix", end=kind), True
        raise InvalidNetworkError(f"\\{name} is no command that this package writes", value=name)

    def table(self, kind: str, end: str | None) -> str:
        """Read rows of cells, up to the end of the environment."""
        rows: list[list[str]] = [[]]
        while True:
            rows[-1].append(self.row(("&", "\\\\", r"\end")))
            token = self.peek()
            if token is None or token == r"\end":
                break
            if self.take() == "\\\\":
                rows.append([])
        if (end is None) != (self.peek() is None):
            raise InvalidNetworkError("an environment is left open, or closed twice", value=end)
        if end is not None:
            self.take(r"\end")
            self.group()
        cells = ["".join(f"<mtd>{cell}</mtd>" for cell in row) for row in rows]
        return f'<mtable class="{kind}">{"".join(f"<mtr>{row}</mtr>" for row in cells)}</mtable>'


def _is_one(inner: str) -> bool:
    """Say whether the elements are one, so that no row is needed around them."""
    return re.fullmatch(r"<(m[ino])[^>]*>[^<]*</\1>", inner) is not None
