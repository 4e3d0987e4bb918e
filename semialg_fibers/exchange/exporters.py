"""Sets, components and fibers out: as text, LaTeX, JSON, and for solvers and algebra systems.

Main results
    to_text, to_latex, to_json                            for people, papers, programs
    to_smtlib, to_singular, to_macaulay2, to_sage, to_mathematica    for solvers and algebra systems
    from_json                                             what `to_json` wrote, as a document that exports again
    WRITERS, BY_SUFFIX                                    the same by the name of the format; that by a file's ending

Each takes a `BasicSet`, a `SemialgebraicSet`, a `FiberComponent`, a `Fiber` (with `component`: only the one with this
number) or a `Document`. Every number is exact, every inequality keeps its strictness.

References: docs/conventions.md for variables, indices and the wording of completeness.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semialg_fibers.exchange import algebra_systems
from semialg_fibers.exchange.languages import exported
from semialg_fibers.exchange.latex import document_latex
from semialg_fibers.exchange.set_json import document_json, document_of_json
from semialg_fibers.exchange.smtlib import SMTLIB
from semialg_fibers.exchange.text import document_text
from semialg_fibers.exchange.traversal import Document, document_of
from semialg_fibers.geometry.arguments import checked


@checked
def to_text(described: Any, component: int | None = None) -> str:
    """Give every equation and inequality as text.

    >>> from semialg_fibers import gallery
    >>> from semialg_fibers.fibers.bottleneck import fiber
    >>> print(to_text(fiber(gallery.network("line_1_1_1_1")), 0).splitlines()[0])
    Fiber of the ReLU network 1-1-1-1 on R^1
    """
    return document_text(document_of(described, component))


@checked
def to_latex(described: Any, component: int | None = None) -> str:
    r"""Give LaTeX to put into a paper; it needs the package amsmath.

    Index ranges are collapsed where a pattern repeats. A fiber with many parameters is written in the entries of the
    given network as letters; `exchange.latex.values_latex` writes their table.

    >>> from sympy.abc import x, y
    >>> from semialg_fibers.geometry.semialgebraic import BasicSet
    >>> print([line for line in to_latex(BasicSet((x, y), (2 * x * y - 1,), (-x,))).splitlines() if "&" in line])
    ['x y &= \\frac{1}{2}', 'x &< 0']
    """
    return document_latex(document_of(described, component))


@checked
def to_json(described: Any, component: int | None = None) -> str:
    """Give a JSON document, which `from_json` reads again.

    Raises:
        InvalidNetworkError: when there is no such component, and for symbols whose names a document cannot hold.
    """
    return document_json(document_of(described, component))


@checked
def from_json(text: str) -> Document:
    """Read what `to_json` wrote: a document, with sections and their parts, that every exporter takes.

    Equations and inequalities are what they are; dimensions, counts, titles and completeness are repeated as the text
    states them, and nothing is proved again.

    Raises:
        InvalidNetworkError: where the text is no such document.

    >>> from sympy import Symbol
    >>> from semialg_fibers.geometry.semialgebraic import BasicSet
    >>> x, a = Symbol("x", real=True), Symbol("a", positive=True)
    >>> ray = BasicSet((x,), (), (a * x - 1,))
    >>> from_json(to_json(ray)).sections[0].parts == (ray,)
    True
    """
    return document_of_json(text)


@checked
def to_smtlib(described: Any, component: int | None = None) -> str:
    """Give SMT-LIB 2.6 text in QF_NRA that asserts the set, letters as constants with their signs; no (check-sat).

    >>> from sympy.abc import x
    >>> from semialg_fibers.geometry.semialgebraic import BasicSet
    >>> print(*to_smtlib(BasicSet((x,), (), (1 - x**2 / 2,))).splitlines()[-6:], sep=chr(10))
    ; A semi-algebraic set
    (define-fun part_0_0 () Bool (and true
      (> (+ (* (- (/ 1 2)) x x) 1) 0)
    ))
    <BLANKLINE>
    (assert part_0_0)
    """
    return exported(document_of(described, component), SMTLIB)


@checked
def to_singular(described: Any, component: int | None = None) -> str:
    """Give a Singular program: a ring (letters are its parameters), an ideal and two lists for each basic set."""
    return exported(document_of(described, component), algebra_systems.SINGULAR)


@checked
def to_macaulay2(described: Any, component: int | None = None) -> str:
    """Give a Macaulay2 program: a ring (letters in its coefficients), an ideal and two lists for each basic set."""
    return exported(document_of(described, component), algebra_systems.MACAULAY2)


@checked
def to_sage(described: Any, component: int | None = None) -> str:
    """Give a Sage program in Python syntax: a ring (letters in its coefficients), three lists for each basic set."""
    return exported(document_of(described, component), algebra_systems.SAGE)


@checked
def to_mathematica(described: Any, component: int | None = None) -> str:
    """Give a Mathematica program: each basic set as a conjunction, `set` as their disjunction."""
    return exported(document_of(described, component), algebra_systems.MATHEMATICA)


WRITERS: dict[str, Callable[..., str]] = {
    "text": to_text,
    "latex": to_latex,
    "json": to_json,
    "smtlib": to_smtlib,
    "singular": to_singular,
    "macaulay2": to_macaulay2,
    "sage": to_sage,
    "mathematica": to_mathematica,
}
BY_SUFFIX = {
    ".txt": "text",
    ".tex": "latex",
    ".json": "json",
    ".smt2": "smtlib",
    ".sing": "singular",
    ".m2": "macaulay2",
    ".sage": "sage",
    ".m": "mathematica",
    ".wl": "mathematica",
}
