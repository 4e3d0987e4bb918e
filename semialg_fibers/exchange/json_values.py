"""JSON values whose numbers stay text, so that they can be read exactly; every refusal is one short line.

Main definitions
    parse_json            the value of a text, within the stated sizes
    named                 puts the name of the file before every message
    keys_of, list_of      the value if it has the shape asked for

References: the file format in docs/conventions.md.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from semialg_fibers.errors import InvalidNetworkError, SemialgError

MAX_BYTES = 128 * 2**20  # of a file
MAX_ENTRIES = 5_000_000  # numbers in a file
MAX_KEYS = 100_000  # in a file


@contextmanager
def named(source: str) -> Iterator[None]:
    """Put the name of the file before the message of every error, on one line and not too long."""
    try:
        yield
    except SemialgError as error:
        name = source if source.isprintable() else ascii(source)
        name = name if len(name) <= 120 else f"...{name[-100:]}"
        raise type(error)(f"{name}: {error.message}", **{**error.place, "file": source}) from None


class Number(str):
    """The text of a JSON number (or of NaN, Infinity), kept apart from strings."""

    __slots__ = ()


class Object(dict[str, Any]):
    """A JSON object that remembers a repeated key."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        """Keep the last of repeated keys, and the name of one."""
        super().__init__(pairs)
        self.repeated: str | None = None
        if len(self) != len(pairs):
            self.repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]


def parse_json(text: str) -> Any:
    """Give the JSON value; numbers stay text, objects remember a repeated key.

    Raises:
        InvalidNetworkError: where the text is no JSON, or beyond the stated sizes (place: `line` and `column`).
    """
    if not isinstance(text, str):
        raise InvalidNetworkError(f"JSON is read from text, got {type(text).__name__}")
    if not text or text.isspace():
        raise InvalidNetworkError("the text is empty; give the whole file", line=1)
    check_size(text)
    try:
        return json.loads(text, object_pairs_hook=Object, parse_float=Number, parse_int=Number, parse_constant=Number)
    except json.JSONDecodeError as error:
        ends = error.msg.startswith("Unterminated") or not text[error.pos : error.pos + 1000].strip()
        reason = "the text ends too early; give the whole file" if ends else f"no valid JSON: {error.msg}; correct it"
        where = {"line": error.lineno, "column": error.colno}
        raise InvalidNetworkError(f"line {error.lineno}, column {error.colno}: {reason}", **where) from None
    except RecursionError:
        raise InvalidNetworkError("brackets are nested too deeply; a network file needs six levels") from None


def check_size(text: str) -> None:
    """Refuse too much text, which takes much more memory once it is parsed; no number holds a comma or a colon."""
    found = [
        (len(text), MAX_BYTES, "bytes of text"),
        (text.count(","), MAX_ENTRIES, "entries"),
        (max(text.count(":"), text.count("{")), MAX_KEYS, "keys"),
    ]
    for count, limit, what in found:
        if count > limit:
            raise InvalidNetworkError(
                f"about {count:,} {what} are more than the stated size of {limit:,}; give a smaller network"
            )


def shown(value: Any) -> str:
    """Give a few printable characters for any JSON value, whatever its size."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        text = value[:41] if isinstance(value, Number) else repr(value[:41])
        return text if len(value) <= 40 and len(text) <= 60 else f"{text[:40]}... ({len(value):,} characters)"
    return "an object" if isinstance(value, dict) else "a list"


def keys_of(
    value: Any, where: str, needed: Sequence[str], optional: Sequence[str] = (), **place: Any
) -> dict[str, Any]:
    """Give the value if it is an object with these keys, each once."""
    if not isinstance(value, Object):
        raise InvalidNetworkError(f"{where}: expected an object, got {shown(value)}", **place)
    if value.repeated is not None:
        raise InvalidNetworkError(f"{where}: the key {shown(value.repeated)} is repeated; keep one", **place)
    allowed = [*needed, *optional]
    for key in value:
        if key not in allowed:
            names = ", ".join(allowed)
            raise InvalidNetworkError(f"{where}: unknown key {shown(key)}; remove it (allowed: {names})", **place)
    for key in needed:
        if key not in value:
            raise InvalidNetworkError(f"{where}: the key {key!r} is missing; add it", **place)
    return value


def list_of(value: Any, where: str, of: str, **place: Any) -> list[Any]:
    """Give the value if it is a list with members."""
    if not isinstance(value, list):
        raise InvalidNetworkError(f"{where}: expected a list of {of}, got {shown(value)}", **place)
    if not value:
        raise InvalidNetworkError(f"{where}: the list is empty; give at least one of its {of}", **place)
    return value
