"""SMT-LIB: each basic set is a Boolean, their disjunction is asserted.

Main definitions
    SMTLIB    real constants for letters and variables, letters with the signs that they are assumed to have

References: C. Barrett, P. Fontaine, C. Tinelli, The SMT-LIB standard, version 2.6 (2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from semialg_fibers.exchange.languages import Conditions, Language, underscored, words
from semialg_fibers.geometry.polynomial import smt_number


def _smtlib_head(variables: Sequence[str], letters: Sequence[str], signs: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "(set-logic QF_NRA)"
    yield from (f"(declare-fun {name} () Real)" for name in (*letters, *variables))
    for letter, sign in signs:
        relation, zero = sign.split()
        yield f"(assert (not (= {letter} {zero})))" if relation == "!=" else f"(assert ({relation} {letter} {zero}))"


def _smtlib_body(part: Conditions) -> Iterator[str]:
    headings = dict(part.headings)
    items = []
    for i, equation in enumerate(part.equations):
        if i in headings:
            items.append(headings[i])
        items.append(f"(= {equation} 0)")
    items += [f"(> {e} 0)" for e in part.positive] + [f"(>= {e} 0)" for e in part.nonnegative]
    yield f"(define-fun part_{part.where} () Bool (and true"
    yield from (f"  {item}" for item in items)
    yield "))"


def _smtlib_foot(places: Sequence[str]) -> Iterator[str]:
    names = " ".join(f"part_{where}" for where in places)
    yield ""
    yield f"(assert {f'(or {names})' if len(places) > 1 else names or 'false'})"


_SMT_WORDS = (
    "and or not true false let forall exists par as assert ite xor distinct Bool Real Int abs mod div to_real is_int "
    "match pop push exit echo reset BINARY DECIMAL HEXADECIMAL NUMERAL STRING"
)

SMTLIB = Language(
    "SMT-LIB 2.6",
    ";",
    smt_number,
    underscored,
    words(_SMT_WORDS),
    _smtlib_head,
    _smtlib_body,
    _smtlib_foot,
    prefix=True,
    notes=("Append (check-sat) and (get-model) to ask for a point.",),
)
