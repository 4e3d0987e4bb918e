"""Mutated files for every reader of text: each is read, or refused by a documented error in one short line.

    python tools/fuzz.py [--inputs 100000] [--seed 1]

Valid files are changed in their text (parts cut or doubled, tokens put in) and in their tree (values replaced, keys
dropped or renamed). Whatever is read is then used: certificates and proofs are checked, sets written again. An outcome
that is not documented, or a reader that computes for more than `PATIENCE` seconds, is shown with the text; exit 1.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sympy

from semialg_fibers import fiber, from_json, gallery, same_function, to_json, to_text
from semialg_fibers.errors import SemialgError
from semialg_fibers.exchange.certificates import certificate_to_json, read_certificate
from semialg_fibers.exchange.expressions import parse_expression, parse_relation
from semialg_fibers.exchange.formula import parse_formula
from semialg_fibers.exchange.json_text import network_from_json, network_to_json
from semialg_fibers.verify.derivation import Derivation
from semialg_fibers.verify.theorems import theorem

PATIENCE = 20  # seconds of computing for one input
LONGEST = 1_000  # characters of a message

TOKENS = [
    '"', "[", "]", "{", "}", ",", ":", "null", "true", "false", "NaN", "-Infinity", "1e999999999", "-0", "0.1", "1/0",
    "1/3", "9" * 5000, "[" * 2000, "(" * 300, "**", "**100", "**1000", "**-1", "*", "/", "+", "-", "(", ")", "a", "x",
    "lambda_0", "W1_0_0", ">=", "<", "\\ud800", "\\u0000", "\x00", "\n", "é", "٣", "²", "ｘ", "__import__('os')",
    '"a":', '"symbols": {"a": "positive"},', '"format":', '"version": 1,', '"box"', '"orthant"', '"cells"', '"same"',
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 10**30, "", "0", "1", "-1/2", "1/0", "0.5", "1e5", "nan", "x", "a", "a**2 + 1",
    "(" * 60 + "a" + ")" * 60, "9**1000", "((9**100)**100)**100", "1/(a - a)", "same", "different", "cells", "ring",
    "relabelling", "orthant", [], {}, [[]], [[], []], ["1"], [["1", "2"], ["3", "4"]], {"box": [["0", "1"]]},
    ["positive", "negative"], ["real"], {"x": ["positive"]}, [0, "words"], "9" * 5000, [1] * 50, ["n", "n"], [2, 2],
]  # fmt: skip


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
        "proof": [theorem(name).to_json() for name in ("positive_scaling", "sign_flip")],
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


def mutated(rng: random.Random, text: str) -> str:
    """Change the text, or the tree that it writes."""
    if text.startswith("{") and rng.random() < 0.6:
        text = _tree_changed(rng, text)
        if rng.random() < 0.7:
            return text
    for _ in range(rng.choice([1, 1, 2, 4])):
        i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        j = min(j, i + rng.choice([1, 2, 10, 100]))
        part = rng.choice(["", rng.choice(TOKENS), rng.choice(TOKENS), text[i:j] * 2, chr(rng.randrange(1, 0x250))])
        text = text[:i] + part + text[i if rng.random() < 0.5 else j :]
    return text


def _tree_changed(rng: random.Random, text: str) -> str:
    try:
        tree = json.loads(text)
    except ValueError:
        return text
    places = list(_places(tree))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        holder, key = rng.choice(places)
        what = rng.choice(["value", "value", "value", "other", "drop", "wrap", "grow", "key"])
        if what == "value":
            holder[key] = rng.choice(VALUES)
        elif what == "other":
            there, at = rng.choice(places)
            holder[key] = json.loads(json.dumps(there[at]))
        elif what == "drop":
            del holder[key]
        elif what == "wrap":
            holder[key] = [holder[key]]
        elif what == "grow" and isinstance(holder, list):
            holder.insert(key, rng.choice(VALUES))
        elif isinstance(holder, dict):
            holder[rng.choice(["", "a", "format", "domain", "layers", "kind", "zz"])] = holder[key]
        places = list(_places(tree)) or [({"a": 0}, "a")]
    return json.dumps(tree)


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    stack = [tree]
    while stack:
        here = stack.pop()
        for key in here if isinstance(here, dict) else range(len(here)):
            yield here, key
            if isinstance(here[key], dict | list):
                stack.append(here[key])


def outcome(read: Callable[[str], Any], text: str) -> str:
    """Give "read" or the name of a documented error; anything else begins with "FAULT"."""
    try:
        read(text)
        return "read"
    except SemialgError as error:
        one_line = error.message and "\n" not in error.message and len(error.message) <= LONGEST
        return type(error).__name__ if one_line else f"FAULT: the message is {error.message[:2000]!r}"
    except TimeoutError:
        return f"FAULT: more than {PATIENCE} s"
    except Exception:
        return f"FAULT: {traceback.format_exc()[-1500:]}"


def main() -> int:
    """Read mutated texts; show what is not documented."""
    parser = argparse.ArgumentParser(description="Mutated files for every reader of text.")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    signal.signal(signal.SIGPROF, _out_of_time)
    counts: Counter[str] = Counter()
    faults = 0
    valid = seeds()
    with tempfile.TemporaryDirectory() as folder:
        using = readers(Path(folder))
        for number in range(given.inputs):
            rng = random.Random(f"{given.seed} {number}")
            kind = rng.choice(sorted(valid))
            text = mutated(rng, rng.choice(valid[kind]))
            signal.setitimer(signal.ITIMER_PROF, PATIENCE)
            found = outcome(using[kind], text)
            signal.setitimer(signal.ITIMER_PROF, 0)
            counts[f"{kind}: {found.split(':')[0]}"] += 1
            if found.startswith("FAULT"):
                faults += 1
                print(f"input {number}, {kind}\n{found}\n{text[:3000]!r}\n", flush=True)
    print(f"seed {given.seed}, {given.inputs} inputs, {faults} faults: {dict(sorted(counts.items()))}")
    return bool(faults)


def _out_of_time(*_: Any) -> None:
    raise TimeoutError


if __name__ == "__main__":
    sys.exit(main())
