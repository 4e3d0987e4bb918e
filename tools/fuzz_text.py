"""What tools/fuzz.py does to text: valid texts for each reader of text, and how they are changed.

Main definitions
    Kind                what one reader is fed: valid inputs, how they are changed, what reads them
    mutated             a text with parts cut, doubled, put in, or with its JSON tree changed
    text_kinds          networks, certificates, proofs, set documents, formulas, expressions, relations, command lines
"""

from __future__ import annotations

import io
import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import sympy

from semialg_fibers import cli, fiber, from_json, gallery, same_function, to_json, to_text
from semialg_fibers.exchange.certificates import certificate_to_json, read_certificate
from semialg_fibers.exchange.expressions import parse_expression, parse_relation
from semialg_fibers.exchange.formula import parse_formula
from semialg_fibers.exchange.json_text import network_from_json, network_to_json
from semialg_fibers.verify.derivation import Derivation
from semialg_fibers.verify.theorems import theorem

TOKENS = [
    '"', "[", "]", "{", "}", ",", ":", "null", "true", "false", "NaN", "-Infinity", "1e999999999", "-0", "0.1", "1/0",
    "1/3", "9" * 5000, "[" * 2000, "(" * 300, "**", "**0", "**100", "**1000", "**-1", "*", "/", "+", "-", "(", ")", "a",
    "x", "lambda_0", "W1_0_0", ">=", "<", "\\ud800", "\\u0000", "\x00", "\n", "é", "٣", "²", "ｘ", "__import__('os')",
    '"a":', '"symbols": {"a": "positive"},', '"format":', '"version": 1,', '"box"', '"orthant"', '"cells"', '"same"',
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 10**30, "", "0", "1", "-1/2", "1/0", "0.5", "1e5", "nan", "x", "a", "a**2 + 1",
    "(" * 60 + "a" + ")" * 60, "9**1000", "((9**100)**100)**100", "1/(a - a)", "same", "different", "cells", "ring",
    "relabelling", "orthant", [], {}, [[]], [[], []], ["1"], [["1", "2"], ["3", "4"]], {"box": [["0", "1"]]},
    ["positive", "negative"], ["real"], {"x": ["positive"]}, [0, "words"], "9" * 5000, [1] * 50, ["n", "n"], [2, 2],
]  # fmt: skip
PARTS = (1, 1, 2, 4)  # how many changes of a text


@dataclass(frozen=True)
class Kind:
    """What one reader is fed: `share` of a thousand inputs, each one of the `valid` ones `changed`, then `read`."""

    name: str
    share: int
    valid: Sequence[Any]
    changed: Callable[[random.Random, Any], Any]
    read: Callable[[Any], Any]


class Misbehaved(Exception):
    """A command that printed a traceback, or gave an exit code that is not documented."""


def seeds() -> dict[str, list[str]]:
    """Give valid texts for each reader."""
    pairs = [("visible_2_2_2_1", "linear_2_2_2_1"), ("exchange_of_roles", "exchange_of_roles_partner")]
    nets = [gallery.network(name) for pair in pairs for name in pair]
    moved = nets[0].permuted(1, [1, 0]).rescaled(2, [2, 3])
    answers = [same_function(*pair) for pair in [(nets[0], moved), (nets[0], nets[1]), (nets[2], nets[3])]]
    found = fiber(gallery.network("linear_2_2_2_1"))
    plain = network_to_json(nets[0])
    letters = plain.replace('"layers"', '"symbols": {"a": "positive", "b": "real"}, "layers"')
    letters = letters.replace('"1"', '"a**2*b - (b + 1)/a"', 1)
    return {
        "network": [plain, letters, plain.replace('"space"', '{"box": [[0, 1], [0, 1]]}')],
        "certificate": [certificate_to_json(answer.a, answer.b, answer.certificate) for answer in answers],
        "proof": [theorem(name).to_json() for name in ("positive_scaling", "orientation_identity")],
        "set": [to_json(found), to_json(found.components[0]), to_json(found.components[0].set)],
        "formula": ["a**2*b - (b + 1)/a", "-0.5*a/(2*a + 1)**2", "1e3 - -b"],
        "expression": ["-a**2/2 + 3*(a - 1)*x**(-2)", "x*(a + (x - 1)**3)/7"],
        "relation": ["x >= -1/2", "a*x - 1 < 0"],
    }  # fmt: skip


def readers(folder: Path) -> dict[str, Callable[[str], Any]]:
    """Give what reads each kind of text, and then uses what was read."""
    a, x = sympy.Symbol("a", positive=True), sympy.Symbol("x", real=True)
    letters, names = {"a": a, "b": sympy.Symbol("b", real=True)}, {"a": a, "x": x}

    def certificate(text: str) -> Any:
        path = folder / "certificate.json"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        stored = read_certificate(path)
        stored.check()
        return stored.claim

    def proof(text: str) -> Any:
        found = Derivation.from_json(text)
        return found.gap(), found.to_json(), found.to_text()

    def described(text: str) -> Any:
        found = from_json(text)
        return to_json(found), to_text(found)

    return {
        "network": lambda text: str(network_from_json(text, "net.json")),
        "certificate": certificate,
        "proof": proof,
        "set": described,
        "formula": lambda text: parse_formula(text, letters),
        "expression": lambda text: parse_expression(text, names),
        "relation": lambda text: parse_relation(text, names),
    }


# changes


def mutated(rng: random.Random, text: str) -> str:
    """Change the text, or the tree that it writes."""
    if text.startswith("{") and rng.random() < 0.6:
        text = tree_changed(rng, text)
        if rng.random() < 0.7:
            return text
    for _ in range(rng.choice(PARTS)):
        i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        j = min(j, i + rng.choice([1, 2, 10, 100]))
        part = rng.choice(["", rng.choice(TOKENS), rng.choice(TOKENS), text[i:j] * 2, chr(rng.randrange(1, 0x250))])
        text = text[:i] + part + text[i if rng.random() < 0.5 else j :]
    return text


def tree_changed(rng: random.Random, text: str, values: Sequence[Any] = tuple(VALUES), keys: Sequence[str] = ()) -> str:
    """Replace, drop, wrap, copy or rename a few of the values that a JSON text holds."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return text
    found = list(places(tree)) or [({"a": 0}, "a")]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        holder, key = rng.choice(found)
        what = rng.choice(["value", "value", "value", "other", "drop", "wrap", "grow", "key"])
        if what == "value":
            holder[key] = copied(rng.choice(values))
        elif what == "other":
            there, at = rng.choice(found)
            holder[key] = copied(there[at])
        elif what == "drop":
            del holder[key]
        elif what == "wrap":
            holder[key] = [holder[key]]
        elif what == "grow" and isinstance(holder, list):
            holder.insert(key, copied(rng.choice(values)))
        elif isinstance(holder, dict):
            holder[rng.choice([*keys, "", "a", "format", "domain", "layers", "kind", "zz"])] = copied(holder[key])
        found = list(places(tree)) or [({"a": 0}, "a")]
    return json.dumps(tree)


def copied(value: Any) -> Any:
    """Copy a JSON value: one that stood in two places would be changed in both, and might come to hold itself."""
    return json.loads(json.dumps(value)) if isinstance(value, dict | list) else value


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every holder and key of a JSON value."""
    stack = [tree]
    while stack:
        here = stack.pop()
        for key in here if isinstance(here, dict) else range(len(here)):
            yield here, key
            if isinstance(here[key], dict | list):
                stack.append(here[key])


# command lines

SMALL = ["gallery:visible_2_2_2_1", "gallery:linear_2_2_2_1", "gallery:exchange_of_roles"]
COMMANDS = [
    ["describe", SMALL[0]], ["describe", SMALL[1], "--json"], ["fiber", SMALL[1], "--format", "latex"],
    ["fiber", SMALL[1], "--component", "0"], ["dimension", SMALL[0]], ["count", SMALL[0]],
    ["atlas", "2", "2", "1", "1", "--format", "csv"], ["laws", SMALL[0], "--json"], ["same", SMALL[0], SMALL[1]],
    ["same", SMALL[0], SMALL[0], "--cells", "100", "--seconds", "5", "--method", "exact"], ["check", "stored.json"],
    ["prove", "positive_scaling"], ["convert", "net.npz", "-o", "out.json"],
    ["convert", "net.safetensors", "-o", "out.json", "--order", "0,2"], ["gallery"], ["--help"], ["--version"],
]  # fmt: skip
WORDS = [
    "", "-1", "0", "1", "7", "99999999999999999999", "9" * 5000, "1e5", "nan", "inf", "-inf", "0.1", "a,b", ",", "0,1",
    "W1_0_0", "gallery:", "gallery:zz", "gallery:../net", "net.npz", "net.pkl", "net.json", "stored.json", "absent.npz",
    ".", "/dev/null", "/dev/zero", "pipe", "loop", "x" * 300, "a\nb", "\ud800", "é", "--", "--json", "--help", "-o",
    "--component", "--format", "text", "json", "smtlib", "--method", "canonical", "--cells", "--seconds", "--order",
    "--root-bits", "--logits", "--latex", "__import__('os')", "$(touch pwned)", "%s%n", "{0}", "positive_scaling",
]  # fmt: skip


def words_changed(rng: random.Random, line: list[str]) -> list[str]:
    """Replace, drop, add or change words of a command line."""
    line = list(line)
    for _ in range(rng.choice(PARTS)):
        at = rng.randrange(len(line) + 1)
        what = rng.choice(["add", "put", "put", "drop", "text"])
        if what == "add":
            line.insert(at, rng.choice(WORDS))
        elif line and at < len(line):
            if what == "put":
                line[at] = rng.choice(WORDS)
            elif what == "drop":
                del line[at]
            elif not line[at].startswith("gallery:"):  # a network of another size may compute for long
                line[at] = mutated(rng, line[at])
    return line


def ran(line: list[str]) -> str:
    """Run a command line here; give its exit code when all is as documented."""
    told, said = io.StringIO(), io.StringIO()
    with redirect_stdout(told), redirect_stderr(said):
        code = cli.run([str(word).replace("\0", "") for word in line])  # no system passes NUL in an argument
    lines = said.getvalue().splitlines()
    short = all(len(each) <= 1500 for each in lines) and not any(each.startswith("Traceback") for each in lines)
    if code not in (0, 1, 2, 3) or not short or (code == 2 and line and (len(lines) != 1 or told.getvalue())):
        raise Misbehaved(f"exit {code}, stdout {told.getvalue()[:300]!r}, stderr {said.getvalue()[:3000]!r}")
    return f"exit {code}"


SHARES = {
    "network": 150,
    "certificate": 140,
    "proof": 20,
    "set": 120,
    "formula": 120,
    "expression": 100,
    "relation": 60,
}


@lru_cache(maxsize=1)
def text_seeds() -> dict[str, list[str]]:
    """Give the valid texts once."""
    return seeds()


def text_kinds(folder: Path) -> list[Kind]:
    """Give the readers of text, and the command line, which runs in `folder`."""
    using = readers(folder)
    kinds = [Kind(name, SHARES[name], texts, mutated, using[name]) for name, texts in text_seeds().items()]
    (folder / "stored.json").write_text(text_seeds()["certificate"][0], encoding="utf-8")
    (folder / "net.json").write_text(text_seeds()["network"][0], encoding="utf-8")
    (folder / "net.pkl").write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    return [*kinds, Kind("command", 10, COMMANDS, words_changed, ran)]
