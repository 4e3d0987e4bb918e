"""The letters of statements with their shapes: what a theorem is about, on one line.

Main results
    declarations        every matrix and function with its shape, in the order in which they are met, and the sizes
    declared_text       ... as text
    declared_latex      ... as LaTeX

Without the shapes a true sentence can read as a false one: x y = y x holds for numbers x and y.

References: theory §8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from semialg_fibers.verify.expressions import SCALAR, Shape, Size, Statement
from semialg_fibers.verify.notation import RELU, latex_name

Declared = dict[str, tuple[Shape, ...]]  # a matrix has one shape, a function two or (where it is never applied) none


def declarations(statements: Iterable[Statement]) -> tuple[Declared, tuple[str, ...]]:
    """Give the shape of each matrix, argument and value of each function, and the names of sizes.

    >>> from semialg_fibers.verify.expressions import equal, matrix, relu
    >>> x, v = matrix("x", 1, 1), matrix("v", "n", 1)
    >>> declarations([equal(v @ relu(x), v @ x)])
    ({'v': (('n', 1),), 'x': ((1, 1),)}, ('n',))
    """
    found: Declared = {}
    sizes: dict[Size, None] = {}
    for statement in statements:
        if statement.name and statement.name != RELU:
            found.setdefault(statement.name, ())
        for term in statement.terms:
            for part in term.walk():
                sizes |= dict.fromkeys(part.shape)
                if part.name and part.name != RELU:
                    found[part.name] = (*(inside.shape for inside in part.parts), part.shape)
    return found, tuple(size for size in sizes if isinstance(size, str))


def declared_text(statements: Iterable[Statement], but: Iterable[Statement] = ()) -> str:
    """Give the line as text; what `but` declares already is not repeated.

    >>> from semialg_fibers.verify.expressions import equal, matrix
    >>> x, v = matrix("x", 1, 1), matrix("v", "n", 1)
    >>> declared_text([equal(v @ x, v @ x)])
    'v: n × 1, x: number; n: positive integer'
    """
    return _line(statements, but, "{}: {}".format, str, "{} × {}", " → ")


def declared_latex(statements: Iterable[Statement], but: Iterable[Statement] = ()) -> str:
    """Give the line as LaTeX, for text mode.

    >>> from semialg_fibers.verify.expressions import equal, matrix
    >>> x, v = matrix("x", 1, 1), matrix("v1", "n", 1)
    >>> print(declared_latex([equal(v @ x, v @ x)]))
    $v_{1}$: $n \\times 1$, $x$: number; $n$: positive integer
    """
    return _line(statements, but, "${}$: {}".format, latex_name, r"${} \times {}$", r" $\to$ ")


def _line(
    statements: Iterable[Statement],
    but: Iterable[Statement],
    entry: Callable[[str, str], str],
    name: Callable[[str], str],
    product: str,
    arrow: str,
) -> str:
    (letters, sizes), (known, used) = declarations(statements), declarations(but)

    def shape(each: Shape) -> str:
        rows, columns = (name(size) if isinstance(size, str) else str(size) for size in each)
        return "number" if each == SCALAR else product.format(rows, columns)

    shown = [
        entry(name(letter), arrow.join(map(shape, shapes)) or "function")
        for letter, shapes in letters.items()
        if letter not in known
    ]
    fresh = [entry(name(size), "")[:-2] for size in sizes if size not in used]
    counted = f"{', '.join(fresh)}: positive integer{'s' * (len(fresh) > 1)}" if fresh else ""
    return "; ".join(filter(None, (", ".join(shown), counted)))
