r"""An atlas as text, CSV, LaTeX (longtable, booktabs), JSON.

Main results
    atlas_to_text, atlas_to_csv, atlas_to_latex, atlas_to_json

References: theory §2.5, §2.6, §3.4.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

from semialg_fibers.exchange.tables import DimensionTable
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.networks.neuron_kind import DEAD, LINEAR, NONLINEAR
from semialg_fibers.questions.atlas import Atlas, AtlasRow

HEADER = ("signs", "patterns", "rows", "hidden", "identifiable", "dimension", "components")
FRACTIONS = {
    "identifiable": "identifiable",
    "some_dead": "with a dead row",
    "some_linear": "with a linear row",
    "hidden": "with a hidden column and a row alive",
    "all_dead": "with dead rows only",
}
ABOUT = (
    "For almost all values with these signs; dimension: of the fiber at the network; components: of the generic fiber, "
    "up to relabelling."
)


def _kinds(row: AtlasRow) -> str:
    return " ".join(f"{row.types.count(kind)} {kind}" for kind in (NONLINEAR, LINEAR, DEAD) if kind in row.types)


def _components(row: AtlasRow) -> str:
    low, high = row.interval
    return str(low) if low == high else f"{low}..{high}"


def _cells(row: AtlasRow) -> tuple[str, ...]:
    return (
        " ".join(row.signs),
        str(row.multiplicity),
        _kinds(row),
        " ".join(str(i + 1) for i in row.hidden),
        "yes" if row.identifiable else "no",
        str(row.dimension),
        _components(row),
    )


def _conditions(atlas: Atlas) -> Iterator[str]:
    """Yield what the numbers of components depend on, each sentence once, with the number of rows it is about."""
    about: dict[str, int] = {}
    for row in atlas:
        sentence = row.condition
        if row.open:
            sentence = "between the bounds: a choice S of sides counts iff the cone of the columns of M_S is pointed"
        if sentence:
            about[sentence] = about.get(sentence, 0) + 1
    for sentence, rows in about.items():
        yield f"components, {rows} row{'s' if rows > 1 else ''}: {sentence}"


def _fractions(atlas: Atlas) -> Iterator[tuple[str, Any]]:
    for name, words in FRACTIONS.items():
        yield words, getattr(atlas, name)


def _title(atlas: Atlas) -> str:
    return (
        f"atlas of {'-'.join(map(str, atlas.widths))}: {atlas.pattern_count} sign patterns of [A2 | b2], "
        f"{len(atlas)} up to relabelling"
    )


@checked
def atlas_to_text(atlas: Atlas) -> str:
    """Give a table for people: the rows, the fractions of all patterns, the conditions.

    >>> from semialg_fibers.questions.atlas import atlas
    >>> print(atlas_to_text(atlas(2, 2, 1, 1)).splitlines()[3])
    +++    1         1 linear             no            4          1
    """
    table = DimensionTable(tuple(map(_cells, atlas)), HEADER).to_text()
    lines = [_title(atlas), ABOUT, table.rstrip("\n")]
    lines += [f"{words}: {value} of all patterns" for words, value in _fractions(atlas)]
    lines += _conditions(atlas)
    return "\n".join(lines) + "\n"


@checked
def atlas_to_csv(atlas: Atlas) -> str:
    """Give comma-separated values: one line for each row, with the bounds of the number of components."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*HEADER[:-1], "components_low", "components_high", "condition"])
    for row in atlas:
        writer.writerow([*_cells(row)[:-1], *row.interval, row.condition])
    return out.getvalue()


@checked
def atlas_to_latex(atlas: Atlas) -> str:
    r"""Give a longtable that needs the packages booktabs and longtable, and the fractions below it."""
    columns = "lrlrlrr"
    lines = [
        r"% needs \usepackage{booktabs,longtable}",
        rf"\begin{{longtable}}{{{columns}}}",
        r"\toprule",
        " & ".join(HEADER) + r" \\",
        r"\midrule\endhead",
        r"\bottomrule\endfoot",
    ]
    for row in atlas:
        signs, *rest = _cells(row)
        shown = " ".join(f"${word}$" for word in signs.split()).replace("-", "{-}").replace("+", "{+}")
        lines.append(" & ".join([shown, *rest]).replace("..", "--") + r" \\")
    lines.append(r"\end{longtable}")
    lines.append(rf"\noindent {_mathematics(_title(atlas))}. {ABOUT}")
    for words, value in _fractions(atlas):
        lines.append(rf"\par\noindent {words}: ${value.p}/{value.q}$ of all patterns.")
    lines += [rf"\par\noindent {_mathematics(sentence)}." for sentence in _conditions(atlas)]
    return "\n".join(lines) + "\n"


def _mathematics(sentence: str) -> str:
    for plain, tex in (
        ("[A2 | b2]", r"$[A_2 \mid b_2]$"),
        ("A2_jk / A2_ji", r"$A_{2,jk}/A_{2,ji}$"),
        ("M_S = 0", r"$M_S = 0$"),
        (" M_S", r" $M_S$"),
        ("2^F, F", r"$2^F$, $F$"),
        ("Σ C_l B_l", r"$\sum C_l B_l$"),
    ):
        sentence = sentence.replace(plain, tex)
    return sentence


@checked
def atlas_to_json(atlas: Atlas) -> str:
    """Give the format `semialg_fibers/atlas`, version 1; indices from 0, fractions as text."""
    rows = [
        {
            "signs": list(row.signs),
            "multiplicity": row.multiplicity,
            "types": list(row.types),
            "hidden": list(row.hidden),
            "identifiable": row.identifiable,
            "dimension": row.dimension,
            "components": row.components,
            "interval": list(row.interval),
            "condition": row.condition,
        }
        for row in atlas
    ]
    document = {
        "format": "semialg_fibers/atlas",
        "version": 1,
        "widths": list(atlas.widths),
        "patterns": atlas.pattern_count,
        "fractions": {name: str(getattr(atlas, name)) for name in FRACTIONS},
        "rows": rows,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


WRITERS: dict[str, Callable[[Atlas], str]] = {
    "text": atlas_to_text,
    "csv": atlas_to_csv,
    "latex": atlas_to_latex,
    "json": atlas_to_json,
}
BY_SUFFIX = {".txt": "text", ".csv": "csv", ".tex": "latex", ".json": "json"}
