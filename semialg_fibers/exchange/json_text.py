"""The text of a network file: JSON, format `semialg_fibers/network`, version 1.

Main definitions
    network_from_json, network_to_json     a network and the text of a file
    MAX_BYTES, MAX_ENTRIES, ...            the stated sizes, the same for reading and for writing

A number is read by its decimal text, whether it stands in quotation marks or not: 0.1 is 1/10. Nothing is ever
evaluated. What does not describe a network is refused in one line that names the file and the place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import lcm
from typing import Any

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError, UndecidedSignError, UnsupportedError
from semialg_fibers.exchange.formula import MAX_FORMULA, parse_formula
from semialg_fibers.exchange.json_values import Number, Object, check_size, keys_of, list_of, named, parse_json, shown
from semialg_fibers.geometry.domain import Box, Domain, Orthant, Space
from semialg_fibers.geometry.expression import Expression
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import MAX_DIGITS, parse_rational, quantity
from semialg_fibers.geometry.signs import DECLARATIONS, declared, described
from semialg_fibers.networks.layer import Layer, Network

FORMAT = "semialg_fibers/network"
VERSION = 1

MAX_ROW_DIGITS = 30_000  # of the common denominator of a row
MAX_MATRIX_BYTES = 512 * 2**20  # of all matrices together, each row over its common denominator

_MAX_ROW_BITS = MAX_ROW_DIGITS * 3322 // 1000
# Possessive quantifiers: a row of 100,000 entries must not leave 100,000 points to backtrack to.
_ROW = re.compile(r"-?[0-9]++(?:/[0-9]++)?+(?:,-?[0-9]++(?:/[0-9]++)?+)*+")
_EXPRESSION = re.compile(  # numbers, names and operators, at least one of what no number has, and not "inf"
    r"(?=.*[a-df-z_*(]|.*(?<![0-9.])e|.*[0-9.] *[-+])(?![+-]?(?:nan|inf|infinity)\Z)"
    r"(?:[a-z_][a-z0-9_]*+|[0-9.]++(?:e[-+]?[0-9]++)?+(?![a-z_])|[-+*/() ])++",
    re.ASCII | re.IGNORECASE,
)
_NAME = re.compile(r"(?!(?i:nan|inf|infinity)\Z)[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)
_NAMES = "use at most 100 letters from a to z, digits and _, and none of nan, inf, infinity"
_WRITE_A_NUMBER = 'write a number such as "3", "-1/2" or "0.25"'


def network_from_json(text: str, source: str) -> Network:
    """Read the network that the JSON text describes; `source` is the name that messages give to its origin.

    Raises:
        InvalidNetworkError: where the text is no JSON (place: `line` and `column` of the text, from 1), or describes
            no network, or one beyond the stated sizes (place: `layer` from 1, `row` and `column` from 0).

    >>> text = '''{"format": "semialg_fibers/network", "version": 1,
    ...            "layers": [{"weight": [[1, "-1/2"]], "bias": [0.1]}]}'''
    >>> network_from_json(text, "example").layers
    (Layer([['1', '-1/2']], ['1/10']),)
    >>> network_from_json(text.replace("0.1", '"x"'), "example")
    Traceback (most recent call last):
      ...
    semialg_fibers.errors.InvalidNetworkError: example: layer 1, bias entry 1: the letter 'x' is not declared; declare \
it in symbols (declared: none); write a number such as "3", "-1/2" or "0.25"
    """
    with named(source):
        return network_from_parsed(parse_json(text.removeprefix("\ufeff") if isinstance(text, str) else text))


def network_to_json(net: Network) -> str:
    """Give the text of the file: every number as "p" or "p/q" in lowest terms, one line per row of a weight.

    Expressions are written as formulas, with their letters declared under "symbols".

    Raises:
        InvalidNetworkError: for numbers beyond the sizes that can be read back (place: `layer`, `row`, `column`).
        UnsupportedError: for a domain that the format does not know.

    >>> print(network_to_json(Network([Layer([[1, "-1/2"], [0, 3]], [0, "1/3"])])), end="")
    {
      "format": "semialg_fibers/network",
      "version": 1,
      "domain": "space",
      "layers": [
        {
          "weight": [
            ["1", "-1/2"],
            ["0", "3"]
          ],
          "bias": ["0", "1/3"]
        }
      ]
    }
    """
    bits, layers = 0, []
    for number, layer in enumerate(net.layers, 1):
        lines = []
        for i in range(layer.outputs):
            where = f"layer {number}, weight row {i + 1}"
            if layer.is_rational:
                below = layer.matrix.denominators()[i]
                bits += _row_bits(below, layer.inputs, bits, where, layer=number, row=i)
            lines.append(_written(layer.matrix.row(i), f"{where}, column", layer=number, row=i))
        bias = _written(layer.offset, f"layer {number}, bias entry", layer=number)
        rows = ",\n        ".join(lines)
        layers.append(f'    {{\n      "weight": [\n        {rows}\n      ],\n      "bias": {bias}\n    }}')
    body = ",\n".join(layers)
    text = (
        f'{{\n  "format": "{FORMAT}",\n  "version": {VERSION},\n  "domain": {_written_domain(net.domain)},\n'
        f"{_written_symbols(net)}"
        f'  "layers": [\n{body}\n  ]\n}}\n'
    )
    check_size(text)
    return text


def network_from_parsed(value: Any) -> Network:
    """Read the network that a parsed JSON value describes (for files that hold several).

    Raises:
        InvalidNetworkError: as `network_from_json`, without the name of a file.
    """
    return _Reader().network(value)


def _entry(value: Any, where: str, letters: Mapping[str, Any] | None = None, **place: Any) -> Any:
    """Read one number or formula; the slow way, which knows the place."""
    if not isinstance(value, str):
        raise InvalidNetworkError(f"{where}: expected a number, got {shown(value)}; {_WRITE_A_NUMBER}", **place)
    if len(value) > 2 * MAX_DIGITS + 8:
        raise InvalidNetworkError(
            f"{where}: the number {shown(value)} is beyond the stated size of {MAX_DIGITS} digits; shorten it", **place
        )
    try:
        return parse_rational(value)
    except InvalidNetworkError as error:
        reason = error.message
    if letters is not None and _EXPRESSION.fullmatch(value):
        try:
            return parse_formula(value, letters)
        except (InvalidNetworkError, UndecidedSignError, UnsupportedError) as error:
            reason = error.message
            if not isinstance(error, InvalidNetworkError):
                raise type(error)(f"{where}: {reason}", **{**error.place, **place}) from None
    raise InvalidNetworkError(f"{where}: {reason}; {_WRITE_A_NUMBER}", value=value[:50], **place)


def _common_denominator(values: Sequence[int]) -> int | None:
    """Give the least common multiple, or None as soon as it is beyond `MAX_ROW_DIGITS`."""
    if len(values) <= 16:
        found = lcm(*values)
    else:  # halves: the factors of a product stay of one size
        half = len(values) // 2
        left = _common_denominator(values[:half])
        right = _common_denominator(values[half:]) if left is not None else None
        if left is None or right is None:
            return None
        found = lcm(left, right)
    return found if found.bit_length() <= _MAX_ROW_BITS else None


def _row_bits(common: int | None, width: int, spent: int, where: str, **place: Any) -> int:
    """Give the bits that a row over its common denominator adds to a matrix; refuse too many."""
    if common is None or common.bit_length() > _MAX_ROW_BITS:
        raise InvalidNetworkError(
            f"{where}: the common denominator of the row is beyond the stated size of {MAX_ROW_DIGITS:,} digits; "
            "round the numbers",
            **place,
        )
    bits = width * common.bit_length()
    if spent + bits > 8 * MAX_MATRIX_BYTES:
        raise InvalidNetworkError(
            f"{where}: with this row the matrices over common denominators are beyond the stated size of "
            f"{MAX_MATRIX_BYTES:,} bytes; round the numbers",
            **place,
        )
    return bits


class _Reader:
    """One pass over the parsed values, which remembers the memory that the matrices take."""

    def __init__(self) -> None:
        self.bits = 0
        self.letters: dict[str, Any] = {}

    def network(self, value: Any) -> Network:
        if isinstance(value, Object) and "format" in value and value.repeated is None:
            if value["format"] != FORMAT:
                raise InvalidNetworkError(f'the format is {shown(value["format"])}; expected "{FORMAT}"')
            version = value.get("version", Number(VERSION))
            if not isinstance(version, Number) or version != str(VERSION):
                raise InvalidNetworkError(
                    f"the version is {shown(version)}; this program reads version {VERSION}, a number"
                )
        top = keys_of(value, "the network", ["format", "version", "layers"], ["domain", "symbols"])
        symbols = top.get("symbols", {})
        if not isinstance(symbols, dict):
            raise InvalidNetworkError(f"symbols: expected an object, got {shown(symbols)}; leave the key out")
        self.letters = {name: self.letter(name, declaration) for name, declaration in symbols.items()}
        if isinstance(symbols, Object) and symbols.repeated is not None:
            raise InvalidNetworkError(f"symbols: {shown(symbols.repeated)} is declared twice; declare it once")
        layers: list[Layer] = []
        for number, layer in enumerate(list_of(top["layers"], "layers", "layers"), 1):
            layers.append(self.layer(layer, number, layers[-1].outputs if layers else None))
        return Network(layers, self.domain(top.get("domain", "space"), layers[0].inputs))

    def letter(self, name: str, declaration: Any) -> Any:
        if not _NAME.fullmatch(name):
            raise InvalidNetworkError(f"symbols: {shown(name)} is no name for a letter; {_NAMES}")
        if type(declaration) is not str or declaration not in DECLARATIONS.values():
            known = ", ".join(f'"{word}"' for word in DECLARATIONS.values())
            raise InvalidNetworkError(f"symbols: {name} is declared {shown(declaration)}; expected one of {known}")
        return declared(name, declaration)

    def layer(self, value: Any, number: int, inputs: int | None) -> Layer:
        parts = keys_of(value, f"layer {number}", ["weight", "bias"], layer=number)
        rows = list_of(parts["weight"], f"layer {number}, weight", "rows", layer=number)
        bias = list_of(parts["bias"], f"layer {number}, bias", "numbers", layer=number)
        numerators, denominators, width = [], [], inputs
        for i, row in enumerate(rows):
            where = f"layer {number}, weight row {i + 1}"
            entries = list_of(row, where, "numbers", layer=number, row=i)
            width = len(entries) if width is None else width
            if len(entries) != width:
                count = f"{quantity(len(entries), 'entry')}, expected {width}"
                if i == 0:
                    reason = f"widths do not chain, the row has {count} as layer {number - 1} has rows"
                else:
                    reason = f"ragged rows, this one has {count} as in the rows before"
                raise InvalidNetworkError(f"{where}: {reason}; correct the row", layer=number, row=i)
            if self.letters:
                rows[i] = [
                    _entry(entry, f"{where}, column {j + 1}", self.letters, layer=number, row=i, column=j)
                    for j, entry in enumerate(entries)
                ]
                continue
            above, common = self.row(entries, where, layer=number, row=i)
            numerators.append(above)
            denominators.append(common)
        if len(bias) != len(rows):
            sizes = f"the bias has {quantity(len(bias), 'entry')}, the weight {quantity(len(rows), 'row')}"
            raise InvalidNetworkError(f"layer {number}: {sizes}; give one per row", layer=number)
        where = f"layer {number}, bias entry"
        offset = [_entry(entry, f"{where} {i + 1}", self.letters, layer=number, row=i) for i, entry in enumerate(bias)]
        if self.letters:
            return Layer(rows, offset)
        return Layer(Matrix.from_integers(numerators, denominators, width), offset)

    def row(self, entries: list[Any], where: str, **place: Any) -> tuple[list[int], int]:
        """Give numerators over a common denominator, perhaps not yet in lowest terms."""
        above, below = _fractions(entries) or ([], [0])
        if 0 in below:
            values = [
                _entry(entry, f"{where}, column {j + 1}", {}, column=j, **place) for j, entry in enumerate(entries)
            ]
            above, below = [int(value.p) for value in values], [int(value.q) for value in values]
        distinct = list(set(below))
        common = _common_denominator(distinct)
        self.bits += _row_bits(common, len(entries), self.bits, where, **place)
        assert common is not None  # _row_bits refuses None
        factors = {value: common // value for value in distinct}
        return [a * factors[b] for a, b in zip(above, below, strict=True)], common

    def domain(self, value: Any, inputs: int) -> Domain:
        if value == "space":
            return Space(inputs)
        if value == "orthant":
            return Orthant(inputs)
        if not isinstance(value, dict):
            raise InvalidNetworkError(
                f'domain: expected "space", "orthant" or {{"box": [[low, high], ...]}}, got {shown(value)}'
            )
        pairs = list_of(keys_of(value, "domain", ["box"])["box"], "domain, box", "pairs [low, high]")
        if len(pairs) != inputs:
            sizes = f"{quantity(len(pairs), 'pair')}, the network has {quantity(inputs, 'input')}"
            raise InvalidNetworkError(f"domain, box: {sizes}; give one pair [low, high] per input")
        corners = []
        for j, pair in enumerate(pairs):
            where = f"domain, box, pair {j + 1}"
            if len(list_of(pair, where, "two ends", column=j)) != 2:
                raise InvalidNetworkError(
                    f"{where}: expected [low, high], got {quantity(len(pair), 'entry')}", column=j
                )
            low, high = (_entry(end, where, column=j) for end in pair)
            if low >= high:
                raise InvalidNetworkError(f"{where}: low must be below high; widen the interval", column=j)
            corners.append((low, high))
        return Box(*zip(*corners, strict=True))


def _fractions(entries: list[Any]) -> tuple[list[int], list[int]] | None:
    """Give numerators and denominators of a row of texts "p" or "p/q", all at once; None when it is no such row."""
    try:
        if max(map(len, entries)) > MAX_DIGITS:
            return None
        joined = ",".join(entries)
    except TypeError:  # an entry that is no text
        return None
    if not _ROW.fullmatch(joined) or joined.count(",") != len(entries) - 1:
        return None
    slashes = joined.count("/")
    if not slashes:
        return list(map(int, joined.split(","))), [1] * len(entries)
    if slashes != len(entries):
        joined = ",".join([entry if "/" in entry else f"{entry}/1" for entry in entries])
    flat = list(map(int, joined.replace("/", ",").split(",")))
    return flat[::2], flat[1::2]


# values to text


def _written(values: Sequence[fmpq], where: str, **place: Any) -> str:
    texts = list(map(str, values))
    for j, (text, value) in enumerate(zip(texts, values, strict=True)):
        if isinstance(value, Expression) and len(text) > MAX_FORMULA:
            spot = {**place, "column": j} if "row" in place else {**place, "row": j}
            reason = f"the formula has {len(text)} characters, more than the stated {MAX_FORMULA}"
            raise InvalidNetworkError(f"{where} {j + 1}: {reason}; give a letter to a part of it", **spot)
    if max(map(len, texts)) > MAX_DIGITS:
        for j, text in enumerate(texts):
            if any(len(part.lstrip("-")) > MAX_DIGITS for part in text.split("/")):
                spot = {**place, "column": j} if "row" in place else {**place, "row": j}
                raise InvalidNetworkError(
                    f"{where} {j + 1}: the number is beyond the stated size of {MAX_DIGITS} digits; round it", **spot
                )
    return '["' + '", "'.join(texts) + '"]'


def _written_symbols(net: Network) -> str:
    if not net.symbols:
        return ""
    for letter in net.symbols:
        if not _NAME.fullmatch(letter.name):
            raise InvalidNetworkError(f"a file cannot hold a letter called {shown(letter.name)}; {_NAMES}")
    words = ", ".join(f'"{letter.name}": "{described(letter)}"' for letter in net.symbols)
    return f'  "symbols": {{{words}}},\n'


def _written_domain(domain: Domain) -> str:
    if isinstance(domain, Space):
        return '"space"'
    if isinstance(domain, Orthant):
        return '"orthant"'
    if isinstance(domain, Box):
        corners = zip(domain.low, domain.high, strict=True)
        pairs = [_written(pair, f"domain, box, pair {j + 1}, end", row=j) for j, pair in enumerate(corners)]
        return f'{{"box": [{", ".join(pairs)}]}}'
    raise UnsupportedError(f"the file format has no domain of kind {type(domain).__name__}: space, orthant or box only")
