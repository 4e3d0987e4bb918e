"""Terms and statements as JSON lists, and back; nothing is ever evaluated, everything is checked.

Main definitions
    statement_to_data, statement_from_data    ["equal", left, right], ["permutation", ["symbol", "P", ["n", "n"]]], ...
    document_from_text                        a JSON text within the stated sizes, no key twice

References: theory §8.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from semialg_fibers.errors import InvalidNetworkError, SemialgError
from semialg_fibers.verify.expressions import MAX_DEPTH, RELATIONS, Shape, Statement, Term

MAX_TEXT = 4 * 2**20  # characters of a file

_MADE = {"sum", "product", "negative", "transpose", "inverse"}


def _term_to_data(term: Term) -> list[Any]:
    if term.head in _MADE:
        return [term.head, *map(_term_to_data, term.parts)]
    named = [term.name] if term.name else []
    return [term.head, *named, list(term.shape), *map(_term_to_data, term.parts)]


def statement_to_data(statement: Statement) -> list[Any]:
    """Give a statement as a list of lists, text and integers."""
    named = [statement.name] if statement.name else []
    return [statement.relation, *named, *map(_term_to_data, statement.terms)]


def statement_from_data(data: Any) -> Statement:
    """Read a statement.

    Raises:
        InvalidNetworkError: where the data are no statement, or sizes do not fit.
    """
    head, *rest = _list(data)
    if not isinstance(head, str) or head not in RELATIONS:
        raise InvalidNetworkError(f"a derivation has no relation {_shown(head)}")
    if RELATIONS[head] == 0:
        return Statement(head, (), rest[0] if len(rest) == 1 else "")
    return Statement(head, tuple(_term(each, MAX_DEPTH) for each in rest))


def _term(data: Any, depth: int) -> Term:
    head, *rest = _list(data)
    if depth == 0:
        raise InvalidNetworkError(f"a term is nested more than {MAX_DEPTH} deep")
    if head in ("symbol", "apply") and len(rest) == 2 + (head == "apply"):
        return Term(head, _shape(rest[1]), tuple(_term(each, depth - 1) for each in rest[2:]), rest[0])
    if head in ("identity", "zero") and len(rest) == 1:
        return Term(head, _shape(rest[0]))
    if not isinstance(head, str) or head not in _MADE or not rest:
        raise InvalidNetworkError(f"a derivation has no term {_shown(head)} with {len(rest)} parts")
    parts = tuple(_term(each, depth - 1) for each in rest)
    (rows, columns), last = parts[0].shape, parts[-1].shape[1]
    return Term(head, {"product": (rows, last), "transpose": (columns, rows)}.get(head, (rows, columns)), parts)


def _shape(data: Any) -> Shape:
    if not isinstance(data, list) or len(data) != 2:
        raise InvalidNetworkError(f"a shape is a list of two sizes, got {_shown(data)}")
    return data[0], data[1]  # the constructor of the term looks at them


def _list(data: Any) -> list[Any]:
    if not isinstance(data, list) or not data:
        raise InvalidNetworkError(f"expected a list that begins with a name, got {_shown(data)}")
    return data


def _shown(value: Any) -> str:
    text = ascii(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:50]}..."


def document_from_text(text: str) -> Any:
    """Give the value of a JSON text.

    Raises:
        InvalidNetworkError: where the text is no JSON, is too long or too deep, or has a key twice.
    """
    if not isinstance(text, str):
        raise InvalidNetworkError(f"a derivation is read from text, got {type(text).__name__}")
    if len(text) > MAX_TEXT:
        raise InvalidNetworkError(f"a derivation of more than {MAX_TEXT:,} characters is beyond the stated size")
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_no_number, parse_float=_no_number, parse_int=_whole
        )
    except SemialgError:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidNetworkError(f"the derivation is no valid JSON: {type(error).__name__}: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidNetworkError("a key of a derivation is repeated; keep one")
    return found


def _no_number(text: str) -> Any:
    raise InvalidNetworkError(f"a derivation holds whole numbers only, got {text[:50]}")


def _whole(text: str) -> int:
    if len(text) > 12:  # reading very many digits takes very long
        raise InvalidNetworkError(f"a size of {len(text)} digits is beyond what a derivation may have")
    return int(text)


def keys_of(value: Any, keys: Sequence[str], where: str) -> list[Any]:
    """Give the values of an object that has exactly these keys.

    Raises:
        InvalidNetworkError: where it has others.
    """
    if not isinstance(value, dict) or sorted(value) != sorted(keys):
        raise InvalidNetworkError(f"{where} of a derivation is an object with the keys {', '.join(keys)}")
    return [value[key] for key in keys]


def texts_of(value: Any, where: str) -> tuple[str, ...]:
    """Give a list of short printable texts as a tuple.

    Raises:
        InvalidNetworkError: where it is none.
    """
    if not isinstance(value, list):
        raise InvalidNetworkError(f"{where} of a derivation is a list, got {_shown(value)}")
    return tuple(text_from(each, where) for each in value)


def text_from(value: Any, where: str) -> str:
    """Give a short printable text.

    Raises:
        InvalidNetworkError: where it is none.
    """
    if not isinstance(value, str) or not value or len(value) > 200 or not value.isprintable():
        raise InvalidNetworkError(f"{where} of a derivation is a short printable text, got {_shown(value)}")
    return value


def statements_of(value: Any, where: str) -> tuple[Statement, ...]:
    """Give a list of statements as a tuple.

    Raises:
        InvalidNetworkError: where it is none.
    """
    if not isinstance(value, list):
        raise InvalidNetworkError(f"{where} of a derivation is a list, got {_shown(value)}")
    return tuple(statement_from_data(each) for each in value)
