"""Documents as JSON, and back: expressions are text, read by a grammar; nothing is evaluated.

Main results
    document_json      a set, a component or a fiber as one JSON document
    document_of_json   the document that was written, or the place where the text is none

References: docs/conventions.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.exchange.expressions import parse_expression, parse_relation
from semialg_fibers.exchange.json_values import check_size
from semialg_fibers.exchange.traversal import Document, Facts, Section, decimal
from semialg_fibers.fibers.component import Parametrization
from semialg_fibers.geometry.scalar import MAX_DIGITS, shown
from semialg_fibers.geometry.semialgebraic import BasicSet
from semialg_fibers.geometry.substitution import SIGNS, refuse_twins

if TYPE_CHECKING:
    import sympy

FORMATS = {f"semialg_fibers/{sort}": sort for sort in ("set", "component", "fiber")}
DEFAULT = ["real"]  # what a symbol is assumed to be unless the document says something else


# writing


def document_json(document: Document) -> str:
    """Give the document as JSON text."""
    record: dict[str, Any] = {"format": f"semialg_fibers/{document.sort}", "version": 1}
    if document.facts is not None:
        facts = document.facts
        record |= {
            "title": facts.title,
            "widths": list(facts.widths),
            "complete": facts.complete,
            "assumptions": list(facts.assumptions),
            "component_count": _whole(facts.component_count),
            "labelled_count": _whole(facts.labelled_count),
            "dimension": facts.dimension,
            "local_dimension": facts.local_dimension,
            "components": [_component_json(section) for section in document.sections],
        }
        if document.alone:
            record["chosen"] = True
    elif document.sort == "component":
        record |= _component_json(document.sections[0])
    else:
        record |= _set_json(document.sections[0])
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def _component_json(section: Section) -> dict[str, Any]:
    record: dict[str, Any] = {} if section.number is None else {"number": section.number}
    record |= {
        "kind": section.kind,
        "name": section.name,
        "flips": list(section.flips),
        "direction": section.direction,
    }
    if section.condition is not None:
        record["condition"] = section.condition
    record |= _set_json(section)
    if section.image is not None:
        record["parametrization"] = _image_json(section.image)
    return record


def _set_json(section: Section) -> dict[str, Any]:
    letters = sorted({letter for part in section.parts for letter in part.letters}, key=lambda s: str(s.name))
    record: dict[str, Any] = {
        "dimension": section.dimension,
        "variables": [variable.name for variable in section.variables],
    }
    if letters:
        record["letters"] = [letter.name for letter in letters]
    record |= _assumed((*section.variables, *letters))
    record["parts"] = [
        {
            "dimension": part.known_dimension,
            "equations": [str(e) for e in part.equations],
            "positive": [str(e) for e in part.positive],
            "nonnegative": [str(e) for e in part.nonnegative],
        }
        | ({"headings": [list(pair) for pair in part.headings]} if part.headings else {})
        for part in section.parts
    ]
    return record


def _image_json(image: Parametrization) -> dict[str, Any]:
    return {
        "symbols": [symbol.name for symbol in image.symbols],
        **_assumed(image.symbols),
        "ranges": [str(relation) for relation in image.ranges],
        "equations": [str(e) for e in image.equations],
        "layers": [
            {"weight": [[str(v) for v in row] for row in weight.tolist()], "bias": [str(v) for v in bias]}
            for weight, bias in image.network
        ],
    }


def _assumed(symbols: Sequence[sympy.Symbol]) -> dict[str, Any]:
    """Give what is assumed of the symbols that are not just real, if there are any."""
    import sympy

    found = {}
    for symbol in symbols:
        if not symbol.name.isidentifier():
            raise InvalidNetworkError(
                f"a document cannot hold a symbol called {shown(symbol.name)}; rename it, with letters, digits and _",
                value=symbol.name,
            )
        choices = [DEFAULT, [], *([sign] for sign in SIGNS), *([sign, "real"] for sign in SIGNS)]
        same = (c for c in choices if sympy.Symbol(symbol.name, **dict.fromkeys(c, True)) == symbol)
        said = next(same, None)
        if said is None:
            raise InvalidNetworkError(f"the assumptions on {symbol} are not among those that the format can say")
        if said != DEFAULT:
            found[symbol.name] = said
    return {"assumed": found} if found else {}


def _whole(value: int | None) -> int | str | None:
    """Give a count for JSON: an integer, or the string of its digits where Python would refuse to read it again."""
    return value if value is None or len(digits := decimal(value)) <= 4000 else digits


# reading


def document_of_json(text: str) -> Document:
    """Read what `document_json` wrote.

    Raises:
        InvalidNetworkError: where the text is no such document, naming the place.
    """
    if not isinstance(text, str):
        raise InvalidNetworkError(f"a document is read from text, got {type(text).__name__}")
    check_size(text)
    try:
        record = json.loads(
            text, parse_float=_no_float, parse_constant=_no_float, parse_int=_whole_number, object_pairs_hook=_object
        )
    except InvalidNetworkError:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidNetworkError(f"this is no JSON document: {error}") from None
    read = _Reading()
    sort = FORMATS.get(read.field(record, "format", str))
    if sort is None or read.field(record, "version", int) != 1:
        raise InvalidNetworkError(f"expected the format {', '.join(FORMATS)}, version 1", value=record.get("format"))
    if sort != "fiber":
        return Document(sort, (read.section(record, sort == "component"),))
    components = read.field(record, "components", list)
    facts = Facts(
        read.words(record, "title"),
        tuple(read.numbers(record, "widths")),
        read.field(record, "complete", bool, optional=True),
        tuple(map(_printable, read.texts(record, "assumptions"))),
        read.count(record, "component_count"),
        read.count(record, "labelled_count"),
        read.dimension(record, "dimension"),
        read.dimension(record, "local_dimension"),
    )
    sections = tuple(read.section(item, True) for item in components)
    document = Document("fiber", sections, facts, bool(record.get("chosen", False)))
    if any(section.variables != document.variables for section in sections):
        raise InvalidNetworkError("all components need the same variables", field="components")
    refuse_twins((*document.variables, *document.letters))
    return document


def _printable(words: str) -> str:
    """Refuse what would be several lines, or would steer a terminal: exports repeat these words."""
    if not words.isprintable():
        raise InvalidNetworkError(f"{shown(words)} has a line break or control character; write one line", value=words)
    return words


def _no_float(text: str) -> Any:
    raise InvalidNetworkError(f"{text} is a float; every number of this format is exact", value=text)


def _whole_number(text: str) -> int:
    if len(text) > MAX_DIGITS + 1:  # reading very many digits takes very long
        raise InvalidNetworkError(f"a number of {len(text)} digits is beyond the stated size of {MAX_DIGITS}")
    return int(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidNetworkError("a key of the document is repeated; keep one")
    return found


class _Reading:
    """The fields of a document, each checked for its kind."""

    def field(self, record: Any, name: str, kind: type, optional: bool = False) -> Any:
        if not isinstance(record, Mapping) or name not in record:
            raise InvalidNetworkError(f"the field {name!r} is missing", field=name)
        value = record[name]
        if value is None and optional:
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise InvalidNetworkError(f"the field {name!r} is {shown(value)}, expected a {kind.__name__}", field=name)
        return value

    def _all(self, record: Any, name: str, kind: type) -> list[Any]:
        values: list[Any] = self.field(record, name, list)
        for value in values:
            if not isinstance(value, kind) or isinstance(value, bool):
                raise InvalidNetworkError(f"in {name!r} stands {shown(value)}, expected a {kind.__name__}", field=name)
        return values

    def words(self, record: Any, name: str) -> str:
        return _printable(self.field(record, name, str))

    def dimension(self, record: Any, name: str, most: int | None = None) -> int | None:
        value: int | None = self.field(record, name, int, optional=True)
        if value is not None and (value < 0 or (most is not None and value > most)):
            beyond = "" if most is None else f" and at most {most}, the number of variables"
            raise InvalidNetworkError(f"the field {name!r} is {shown(value)}; it is at least 0{beyond}", field=name)
        return value

    def texts(self, record: Any, name: str) -> list[str]:
        return self._all(record, name, str)

    def numbers(self, record: Any, name: str) -> list[int]:
        return self._all(record, name, int)

    def count(self, record: Any, name: str) -> int | None:
        value = record.get(name)
        if isinstance(value, str) and value.isdecimal() and value.isascii():
            from flint import fmpz

            return int(fmpz(value))
        found: int | None = self.field(record, name, int, optional=True)
        return found

    def symbols(self, names: Sequence[str], record: Mapping[str, Any]) -> dict[str, sympy.Symbol]:
        import sympy

        assumed = record.get("assumed", {})
        made: dict[str, sympy.Symbol] = {}
        for name in names:
            words = assumed.get(name, DEFAULT) if isinstance(assumed, Mapping) else None
            if not isinstance(words, list) or not all(word in (*SIGNS, *DEFAULT) for word in words):
                raise InvalidNetworkError(f"of {name} is assumed {shown(words)}, expected words such as 'positive'")
            if not name.isidentifier() or name in made:
                raise InvalidNetworkError(f"{shown(name)} is no name, or stands twice", value=name)
            try:
                made[name] = sympy.Symbol(name, **dict.fromkeys(words, True))
            except ValueError:
                raise InvalidNetworkError(f"what is assumed of {name} contradicts itself: {shown(words)}") from None
        return made

    def section(self, record: Any, is_component: bool) -> Section:
        names = self.texts(record, "variables")
        letters = self.texts(record, "letters") if "letters" in record else []
        symbols = self.symbols([*names, *letters], record)
        variables = tuple(symbols[name] for name in names)
        parts = tuple(self._part(item, variables, symbols) for item in self.field(record, "parts", list))
        if not parts:
            raise InvalidNetworkError("a set needs at least one part", field="parts")
        dimension = self.dimension(record, "dimension", len(variables))
        if not is_component:
            return Section(parts, dimension)
        image = None
        if "parametrization" in record:
            image = self._image(record["parametrization"], {name: symbols[name] for name in letters})
        return Section(
            parts,
            dimension,
            self.field(record, "number", int) if "number" in record else None,
            self.words(record, "kind"),
            self.words(record, "name"),
            tuple(self.numbers(record, "flips")),
            self.field(record, "direction", int, optional=True),
            image,
            self.words(record, "condition") if "condition" in record else None,
        )

    def _expressions(
        self, record: Any, name: str, read: Callable[[str, Mapping[str, sympy.Symbol]], Any], symbols: Any
    ) -> tuple[Any, ...]:
        return tuple(read(text, symbols) for text in self.texts(record, name))

    def _part(self, record: Any, variables: Any, symbols: Mapping[str, sympy.Symbol]) -> BasicSet:
        kinds = ("equations", "positive", "nonnegative")
        equations, positive, nonnegative = (self._expressions(record, k, parse_expression, symbols) for k in kinds)
        headings = []
        for pair in self.field(record, "headings", list) if "headings" in record else []:
            if not (isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int and isinstance(pair[1], str)):
                raise InvalidNetworkError(f"in 'headings' stands {shown(pair)}, expected [index, words]")
            headings.append((pair[0], _printable(pair[1])))
        dimension = self.dimension(record, "dimension", len(variables))
        return BasicSet(variables, equations, positive, nonnegative, None, dimension, tuple(headings))

    def _image(self, record: Any, letters: Mapping[str, sympy.Symbol]) -> Parametrization:
        import sympy

        own = self.symbols(self.texts(record, "symbols"), record)
        symbols = {**letters, **own}
        layers = []
        for layer in self.field(record, "layers", list):
            rows = [[parse_expression(v, symbols) for v in row] for row in self._all(layer, "weight", list)]
            bias = self._expressions(layer, "bias", parse_expression, symbols)
            if len(rows) != len(bias) or len({len(row) for row in rows}) > 1:
                raise InvalidNetworkError("a layer needs a rectangular weight with one row for each bias")
            layers.append((sympy.ImmutableMatrix(rows), bias))
        return Parametrization(
            tuple(own.values()),
            self._expressions(record, "ranges", parse_relation, symbols),
            self._expressions(record, "equations", parse_expression, symbols),
            tuple(layers),
        )
