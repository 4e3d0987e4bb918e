"""The tokens of a formula or an expression, read from the left; both grammars take theirs from here.

Main definitions
    Tokens    numbers, names and operators, each with its place in the text
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Token(NamedTuple):
    """A piece of the text: "number", "name" or "operator", or "end" behind the last one."""

    kind: str
    text: str
    position: int


class Tokens:
    """The tokens that a pattern with the groups number, name and operator finds, and the place of the next one.

    >>> pattern = re.compile(r"\\s*(?:(?P<number>[0-9]+)|(?P<name>[a-z])|(?P<operator>[+]))")
    >>> tokens = Tokens("a + 2", pattern, ValueError)
    >>> tokens.step(), tokens.take("+"), tokens.next, tokens.take("+")
    (Token(kind='name', text='a', position=0), '+', Token(kind='number', text='2', position=4), '')
    """

    def __init__(self, text: str, pattern: re.Pattern[str], refused: Callable[[int], Exception]) -> None:
        """Find all tokens; `refused(position)` makes the error for what is none."""
        self._found: list[Token] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = pattern.match(text, at)
            if match is None:
                raise refused(at)
            kind = match.lastgroup or ""
            self._found.append(Token(kind, match[kind], match.start(kind)))
            at = match.end()
        self._found.append(Token("end", "", len(text)))
        self._at = 0

    @property
    def next(self) -> Token:
        """The token that is read next."""
        return self._found[self._at]

    def step(self) -> Token:
        """Read the next token, whatever it is."""
        token = self.next
        self._at += token.kind != "end"
        return token

    def take(self, *operators: str) -> str:
        """Read the next token if it is one of these operators, else give an empty text."""
        if self.next.kind == "operator" and self.next.text in operators:
            return self.step().text
        return ""
