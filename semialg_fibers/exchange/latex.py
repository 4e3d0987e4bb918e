r"""Documents as LaTeX: aligned conditions, one line for each pattern of indices, matrices for images.

Main definitions
    Pattern            a condition whose indices are slots, and the indices of each of its occurrences

Main results
    document_latex     a document, to be put into a paper that loads amsmath
    standalone         a whole LaTeX file around it
    values_latex       the table of a network's parameters, under the letters A^{(1)}_{1,1}, a^{(1)}_1, ...
    collapsed          many conditions as few lines, where a pattern repeats over ranges of indices

LaTeX counts from 1: units, rows, columns, components. Names are written by the document's `NameTable`.

References: docs/conventions.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.exchange.general_form import display, general_form
from semialg_fibers.exchange.languages import ordered_factors, ordered_terms, signs_of
from semialg_fibers.exchange.latex_names import GENERAL, NameTable, escaped
from semialg_fibers.exchange.traversal import Document, Section, summary_lines
from semialg_fibers.fibers.component import Parametrization
from semialg_fibers.geometry.semialgebraic import BasicSet
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    import sympy

LARGE = 200  # parameters, from which on the base values are written as letters
Namer = Callable[[str], str]
_PLAIN = NameTable()
SLOT = "\0"  # stands for an index in a pattern
_RELATION = {"== 0": "=", "> 0": ">", "< 0": "<", ">= 0": r"\ge", "<= 0": r"\le", "!= 0": r"\ne"}
_TURNED = {">": "<", "<": ">", r"\ge": r"\le", r"\le": r"\ge", "=": "="}


# expressions


def expression_latex(expression: sympy.Expr, name: Namer = _PLAIN) -> str:
    r"""Write a rational expression.

    Raises:
        InvalidNetworkError: for what is none.

    >>> from sympy.abc import x, y
    >>> print(expression_latex(-x**2 * y / 2 + 1 / y))
    \frac{1}{y} - \frac{1}{2} x^{2} y
    """
    if expression.is_Symbol:
        return name(expression.name)
    if expression.is_Rational:
        sign, p, q = "-" if expression.p < 0 else "", abs(int(expression.p)), int(expression.q)
        return f"{sign}{p}" if q == 1 else rf"{sign}\frac{{{p}}}{{{q}}}"
    if expression.is_Add:
        return _sum_latex([expression_latex(term, name) for term in ordered_terms(expression)])
    if expression.is_Mul or expression.is_Pow:
        return _product_latex(expression, name)
    raise InvalidNetworkError(f"{expression} is no fraction of polynomials", value=str(expression))


def _sum_latex(terms: Sequence[str]) -> str:
    return terms[0] + "".join(f" - {t[1:]}" if t.startswith("-") else f" + {t}" for t in terms[1:])


def _product_latex(expression: sympy.Expr, name: Namer) -> str:
    coefficient, factors = ordered_factors(expression)
    above: list[tuple[str, bool]] = []
    below: list[tuple[str, bool]] = []
    for factor in factors:
        base, exponent = (factor.base, factor.exp) if factor.is_Pow else (factor, 1)
        if not (exponent == int(exponent)):
            raise InvalidNetworkError(f"{factor} has no whole exponent", value=str(factor))
        text, is_sum = expression_latex(base, name), bool(base.is_Add)
        if abs(exponent) != 1:
            if is_sum or "^" in text or "'" in text or not base.is_Symbol:
                text = rf"\left({text}\right)"
            text, is_sum = text + f"^{{{abs(int(exponent))}}}", False
        (above if exponent > 0 else below).append((text, is_sum))
    sign = "-" if coefficient.p < 0 else ""
    p, q = abs(int(coefficient.p)), int(coefficient.q)
    if below:
        top = _factors_latex(([(str(p), False)] if p != 1 or not above else []) + above)
        return rf"{sign}\frac{{{top}}}{{{_factors_latex(([(str(q), False)] if q != 1 else []) + below)}}}"
    number = [] if p == q == 1 else [(str(p) if q == 1 else rf"\frac{{{p}}}{{{q}}}", False)]
    return sign + _factors_latex(number + above, bool(sign))


def _factors_latex(factors: Sequence[tuple[str, bool]], signed: bool = False) -> str:
    """Write factors, each with whether it is a sum: parentheses around sums, unless there is nothing else."""
    alone = len(factors) == 1 and not signed
    return " ".join(rf"\left({text}\right)" if is_sum and not alone else text for text, is_sum in factors)


# conditions


def sides(expression: sympy.Expr, relation: str, variables: Iterable[sympy.Symbol]) -> tuple[Any, str, Any]:
    """Give left side, relation, right side: what has no variable, or else what is negative, goes to the right.

    >>> from sympy.abc import x, y
    >>> sides(2 * x * y - 3, "=", {x, y}), sides(-x, ">", {x, y}), sides(3 * x - y, "=", {x, y})
    ((x*y, '=', 3/2), (x, '<', 0), (3*x, '=', y))
    """
    import sympy

    names = set(variables)
    terms = sympy.Add.make_args(expression)
    constant = sympy.Add(*(t for t in terms if not t.free_symbols & names))
    moving = [t for t in terms if t.free_symbols & names]
    if not moving:
        return constant, relation, sympy.Integer(0)
    if constant == 0 and len(moving) > 1 and relation == "=":
        left = [t for t in moving if t.as_coeff_Mul()[0] > 0]
        if 0 < len(left) < len(moving):
            return sympy.Add(*left), relation, sympy.Add(*(-t for t in moving if t not in left))
    factor = moving[0].as_coeff_Mul()[0] if len(moving) == 1 else sympy.Integer(1)
    if len(moving) > 1 and all(t.as_coeff_Mul()[0] < 0 for t in moving):
        factor = sympy.Integer(-1)
    return (
        sympy.Add(*(t / factor for t in moving)),
        relation if factor > 0 else _TURNED[relation],
        sympy.Add(*(-t / factor for t in sympy.Add.make_args(constant))),
    )


@dataclass(frozen=True)
class Pattern:
    """Text with slots, and the tuples of indices that fill them, one for each condition."""

    text: str
    indices: tuple[tuple[int, ...], ...]
    letters: str

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield (text, ranges): one line for all, where the indices run through ranges, else as few as are seen."""
        classes = self._classes()
        line = self._line(classes)
        if line is not None:
            yield line
            return
        # Fix the slot that leaves the fewest lines.
        best: list[tuple[str, str]] | None = None
        for slots in classes:
            groups: dict[int, list[tuple[int, ...]]] = {}
            for indices in self.indices:
                groups.setdefault(indices[slots[0]], []).append(indices)
            if 1 < len(groups) < len(self.indices):
                parts = [Pattern(self.text, tuple(group), self.letters) for group in groups.values()]
                lines = [part._line(part._classes()) for part in parts]
                if all(found is not None for found in lines) and (best is None or len(lines) < len(best)):
                    best = [found for found in lines if found is not None]
        if best is None:
            best = [(self._filled([str(i) for i in indices]), "") for indices in self.indices]
        yield from best

    def _classes(self) -> list[tuple[int, ...]]:
        """Slots that always hold the same index belong together; slots with one value for all are left out."""
        columns = list(zip(*self.indices, strict=True))
        classes: dict[tuple[int, ...], list[int]] = {}
        for slot, column in enumerate(columns):
            if len(set(column)) > 1:
                classes.setdefault(column, []).append(slot)
        return [tuple(slots) for slots in classes.values()]

    def _line(self, classes: Sequence[tuple[int, ...]]) -> tuple[str, str] | None:
        if len(classes) > len(self.letters):
            return None
        values = [sorted({indices[slots[0]] for indices in self.indices}) for slots in classes]
        if any(v != list(range(v[0], v[-1] + 1)) for v in values):
            return None
        distinct = {tuple(indices[slots[0]] for slots in classes) for indices in self.indices}
        if not (len(distinct) == len(self.indices) == prod(map(len, values))):
            return None
        filled = [str(i) for i in self.indices[0]]
        ranges = []
        for letter, slots, v in zip(self.letters, classes, values, strict=False):
            for slot in slots:
                filled[slot] = letter
            ranges.append(f"{letter} = {v[0]}, {v[-1]}" if len(v) == 2 else rf"{letter} = {v[0]}, \dots, {v[-1]}")
        return self._filled(filled), r",\ ".join(ranges)

    def _filled(self, indices: Sequence[str]) -> str:
        first, *rest = self.text.split(SLOT)
        return first + "".join(index + text for index, text in zip(indices, rest, strict=True))


def collapsed(conditions: Iterable[tuple[Any, str, Any]], names: NameTable = _PLAIN) -> list[tuple[str, str]]:
    """Give lines (condition with &, ranges of its indices), in the order in which the patterns first occur."""

    def slotted(name: str) -> str:
        head, own, after = names.parts(name)
        return head + (f"_{{{','.join(f'{SLOT}{i}{SLOT}' for i in own)}}}" if own else "") + after

    found: dict[str, list[tuple[int, ...]]] = {}
    for left, relation, right in conditions:
        # The indices are read off the finished text: a fraction is not written in the order in which it is visited.
        marked = f"{expression_latex(left, slotted)} &{relation} {expression_latex(right, slotted)}"
        pieces = marked.split(SLOT)
        text, indices = SLOT.join(pieces[::2]), [int(index) for index in pieces[1::2]]
        occurrences = found.setdefault(text, [])
        if tuple(indices) not in occurrences or not indices:
            occurrences.append(tuple(indices))
    patterns = [Pattern(text, tuple(dict.fromkeys(every)), names.running) for text, every in found.items()]
    return [line for pattern in patterns for line in pattern.lines()]


def aligned(lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield an align* environment."""
    if not lines:
        return
    yield from display([f"{text}{rf' && ({ranges})' if ranges else ''}" for text, ranges in lines])


# documents


def standalone(body: str) -> str:
    """Give a LaTeX file with this body."""
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\usepackage{booktabs}\n\\allowdisplaybreaks\n"
    return f"{head}\\begin{{document}}\n{body}\\end{{document}}\n"


def document_latex(document: Document) -> str:
    """Give the document as LaTeX that needs amsmath."""
    return "\n".join(_lines(document)) + "\n"


def name_table(document: Document) -> NameTable:
    """Give the names of all symbols of the document."""
    images = [symbol.name for section in document.sections if section.image for symbol in section.image.symbols]
    variables, letters = ([symbol.name for symbol in symbols] for symbols in (document.variables, document.letters))
    own = {symbol.name for section in document.sections for symbol in _image_letters(section)}
    own |= {name for section in document.sections for name in _letters_of_condition(section.condition)}
    large = bool(images) and len(variables) >= LARGE
    return NameTable(variables, sorted({*letters, *own}), images, GENERAL if large else frozenset())


def _image_letters(section: Section) -> set[sympy.Symbol]:
    """Give the letters of the image, which need not occur in the set."""
    if section.image is None:
        return set()
    entries = [value for weight, bias in section.image.network for value in (*weight, *bias)]
    every = (*entries, *section.image.ranges, *section.image.equations)
    return set().union(*(_sympified(value).free_symbols for value in every)) - set(section.image.symbols)


def _lines(document: Document) -> Iterator[str]:
    names = name_table(document)
    yield r"% needs \usepackage{amsmath}"
    if document.facts is not None:
        yield from (rf"\noindent {escaped(line)}.\par" for line in summary_lines(document.facts))
    if document.letters:
        said = [(symbol, signs_of(symbol)) for symbol in document.letters]
        signed = [(symbol, _RELATION[signs[0]], document.letters[0] * 0) for symbol, signs in said if signs]
        yield r"\noindent The letters satisfy" if signed else r"\noindent There are letters."
        yield from aligned(collapsed(signed, names))
    for section in document.sections:
        yield from _section_lines(section, names)
    if document.leaves_out:
        yield rf"\par\noindent The first {len(document.sections)} components are shown."


def _section_lines(section: Section, names: NameTable) -> Iterator[str]:
    if section.kind is not None:
        number = "" if section.number is None else f" {section.number + 1}"
        title = section.title.split(": ", 1)[1]
        yield rf"\subsection*{{Component{number}: {escaped(title)}}}"
    if section.condition is not None:
        yield rf"\noindent It exists iff {condition_latex(section.condition, names)}.\par"
    if section.image is not None and len(section.variables) >= LARGE:
        general = general_form(section.component, section.network)
        if general is not None:
            yield from general
            return
    if section.image is not None:
        yield r"\noindent As an image:"
        yield from _image_lines(section.image, names.image(symbol.name for symbol in section.image.symbols))
    for i, part in enumerate(section.parts):
        yield rf"\par\noindent As a set{escaped(section.part_title(i))}:"
        yield from _part_lines(part, names)


_NAME = re.compile(r"[^\W\d]\w*")
_WORDS = re.compile(
    r"((?:\bnot all of\b|\bare zero\b|\brank(?= \[)|\bthe cone generated by the columns of\b|\bis not pointed\b"
    r"|\bis pointed\b|(?:(?<=\d )|(?<=zero )|(?<=pointed )|(?<=equations ))and\b(?: \d+ more equations)?|; or)\s*)"
)


def condition_latex(condition: str, names: NameTable) -> str:
    r"""Write a condition on letters: its words as text, its expressions as mathematics.

    >>> names = NameTable(letters=["a2_0_0", "a2_1_1", "a2_0_1", "x"])
    >>> print(condition_latex("a2_0_0*a2_1_1 - a2_0_1**2 = 0 and rank [[x]] = 1", names))
    $a^{(2)}_{1,1} a^{(2)}_{2,2} - {a^{(2)}_{1,2}}^{2} = 0$ and rank $[[x]] = 1$
    """
    odd = [name for name in names.known if not (_NAME.fullmatch(name) or name.isdecimal())]
    whole = "".join(rf"{re.escape(name)}(?!\w)|" for name in sorted(odd, key=len, reverse=True))
    token = re.compile(rf"({whole}{_NAME.pattern})(?:\*\*([0-9]+))?|\*\*([0-9]+)|(.)", re.S)
    pieces: list[str] = []
    for i, piece in enumerate(_WORDS.split(condition)):
        if i % 2:
            pieces.append(piece.strip())
        elif piece.strip(" ,"):
            text = "".join(_token_latex(names, *match.groups()) for match in token.finditer(piece.strip()))
            pieces.append(f"${text}$")
    return " ".join(pieces).replace(" ; or", "; or")


def _token_latex(names: NameTable, name: str | None, exponent: str | None, power: str | None, sign: str) -> str:
    if name is not None:
        return names(name) if exponent is None else f"{{{names(name)}}}^{{{exponent}}}"
    if power is not None:
        return f"^{{{power}}}"
    return {"*": " ", "≠": r"\ne"}.get(sign, escaped(sign))


def _letters_of_condition(condition: str | None) -> set[str]:
    pieces = _WORDS.split(condition or "")[::2]
    return {name for piece in pieces for name in _NAME.findall(piece)}


def _part_lines(part: BasicSet, names: NameTable) -> Iterator[str]:
    starts = sorted({0, *(i for i, _ in part.headings if i < len(part.equations)), len(part.equations)})
    headings = dict(part.headings)
    for start, end in pairwise(starts):
        if start in headings:
            yield rf"\par\noindent {escaped(headings[start])}:"
        yield from aligned(collapsed((sides(e, "=", part.variables) for e in part.equations[start:end]), names))
    signs = [sides(e, ">", part.variables) for e in part.positive]
    signs += [sides(e, r"\ge", part.variables) for e in part.nonnegative]
    if signs:
        if part.equations:
            yield r"\par\noindent signs:"
        yield from aligned(collapsed(signs, names))
    if not part.equations and not signs:
        yield r"\par\noindent no condition."


def _image_lines(image: Parametrization, names: NameTable) -> Iterator[str]:
    yield from display(_layer_lines("W", "b", image.network, names))
    conditions = [_relation_sides(relation, image.symbols) for relation in image.ranges]
    conditions += [sides(e, "=", image.symbols) for e in image.equations]
    if conditions:
        yield r"\noindent where"
        yield from aligned(collapsed(conditions, names))
    elif not image.symbols:
        yield r"\noindent where nothing is free."
    tied = set().union(*(condition.free_symbols for condition in (*image.ranges, *image.equations)))
    free = [symbol for symbol in image.symbols if symbol not in tied]
    if free:
        yield rf"\noindent free: ${', '.join(names(symbol.name) for symbol in free)}$."


def _relation_sides(relation: Any, symbols: Sequence[sympy.Symbol]) -> tuple[Any, str, Any]:
    return sides(relation.lhs - relation.rhs, _RELATION[f"{relation.rel_op} 0"], symbols)


def _matrix(rows: Sequence[Sequence[Any]], names: NameTable) -> str:
    columns = f"*{{{len(rows[0])}}}{{c}}" if rows else "c"
    body = r" \\ ".join(" & ".join(expression_latex(_sympified(v), names) for v in row) for row in rows)
    return rf"\left(\begin{{array}}{{{columns}}} {body} \end{{array}}\right)"


def _sympified(value: Any) -> Any:
    import sympy

    return sympy.sympify(value)


def values_latex(net: Network) -> str:
    r"""Give the parameters of a network as matrices, under the letters that large fibers are written in.

    >>> from semialg_fibers import gallery
    >>> print(values_latex(gallery.network("line_1_1_1_1")).splitlines()[1].split(", & ")[0])
    A^{(1)} &= \left(\begin{array}{*{1}{c}} 1 \end{array}\right)
    """
    names = NameTable(letters=[symbol.name for symbol in net.symbols], reserved=GENERAL)
    layers = [(layer.weight, layer.bias) for layer in net.layers]
    return "\n".join(display(_layer_lines("A", "a", layers, names))) + "\n"


def _layer_lines(weight_name: str, bias_name: str, layers: Iterable[tuple[Any, Any]], names: NameTable) -> list[str]:
    return [
        rf"{weight_name}^{{({number})}} &= {_matrix(weight.tolist(), names)}, & "
        rf"{bias_name}^{{({number})}} &= {_matrix([[value] for value in bias], names)}"
        for number, (weight, bias) in enumerate(layers, 1)
    ]
