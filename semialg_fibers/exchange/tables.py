r"""Dimension tables as a paper prints them: text, Markdown, LaTeX (booktabs).

Main definitions
    DimensionTable     rows of cells under a header

Main results
    dimension_table    one row for each network, or for each architecture with its signs of [A2 | b2]

References: theory §2.5, §3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from semialg_fibers.errors import (
    BudgetExceededError,
    InvalidNetworkError,
    NotGenericError,
    UndecidedSignError,
    UnsupportedError,
)
from semialg_fibers.exchange.traversal import decimal
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.hiding import hidden_hyperplanes
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import shown
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import default_layer, neuron_types
from semialg_fibers.questions.identifiability import identifiability

HEADER = ("network", "signs", "rows", "hidden", "parameters", "scalings", "dimension", "components", "identifiable")
OPEN = "?"  # not decided, or it depends on the letters
NONE = "–"  # no theorem applies, or a hypothesis is violated


@dataclass(frozen=True)
class DimensionTable:
    """A table: `rows` under the `header`; str prints it as text.

    "scalings" is the number of hidden units, the dimension that every fiber has at least; "dimension" is the largest
    dimension of a component. `legend` explains the marks that occur.
    """

    rows: tuple[tuple[str, ...], ...]
    header: tuple[str, ...] = HEADER

    @property
    def legend(self) -> tuple[str, ...]:
        """One sentence for each mark that occurs in the table."""
        cells = {cell for row in self.rows for cell in row}
        said = []
        if OPEN in cells:
            said.append(f"{OPEN}: not decided, or it depends on the values of the letters")
        if NONE in cells:
            said.append(f"{NONE}: outside the theorem, or a hypothesis is violated")
        return tuple(said)

    def __str__(self) -> str:
        """Give the table as text."""
        return self.to_text()

    def to_text(self) -> str:
        """Give aligned columns; the legend below."""
        table = [self.header, *self.rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(self.header))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
        ]
        return "\n".join([*lines, *self.legend]) + "\n"

    def to_markdown(self) -> str:
        """Give a Markdown table."""
        table = [self.header, ("---",) * len(self.header), *self.rows]
        lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in table]
        return "\n".join([*lines, *(f"\n{line}" for line in self.legend)]) + "\n"

    def to_latex(self) -> str:
        r"""Give a tabular that needs the package booktabs.

        >>> print(dimension_table([((2, 2, 1, 1), ["+--"])]).to_latex().splitlines()[1])
        \begin{tabular}{lllrrrrrl}
        """
        numbers = {"hidden", "parameters", "scalings", "dimension", "components"}
        columns = "".join("r" if name in numbers else "l" for name in self.header)
        lines = [r"% needs \usepackage{booktabs}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
        lines += [" & ".join(self.header) + r" \\", r"\midrule"]
        lines += [" & ".join(map(_cell_latex, row)) + r" \\" for row in self.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
        return "\n".join([*lines, *(rf"\par\noindent {_cell_latex(line)}." for line in self.legend)]) + "\n"


def _cell_latex(cell: str) -> str:
    if cell and not set(cell) - set("+-0 "):  # signs stand in mathematics, rows apart
        return " ".join(f"${row}$" for row in cell.split()).replace("-", "{-}").replace("+", "{+}")
    return cell.replace(NONE, "--").replace("_", r"\_").replace("&", r"\&").replace("%", r"\%").replace("#", r"\#")


@checked
def dimension_table(rows: Iterable[Any]) -> DimensionTable:
    """Give the table of networks, or of pairs ((d, n1, n2, m), signs of [A2 | b2]) as `Network.generic` takes them.

    A pair stands for the network with a letter for each parameter: what depends on the letters' values is "?".

    Implements: theory §2.5, §3.4.

    Raises:
        InvalidNetworkError: for an entry that is neither (`.row`, from 0).

    >>> from semialg_fibers import gallery
    >>> print(dimension_table([gallery.network("linear_2_2_2_1"), ((2, 2, 1, 1), ["+--"])]), end="")
    network  signs    rows                  hidden  parameters  scalings  dimension  components  identifiable
    2-2-2-1  +-+ +++  1 nonlinear 1 linear  0       15          4         5          2           no
    2-2-1-1  +--      1 nonlinear           1       11          3         4          2           no
    """
    return DimensionTable(tuple(_row(_network(entry, place)) for place, entry in enumerate(rows)))


def _network(entry: Any, place: int) -> Network:
    if isinstance(entry, Network):
        return entry
    if isinstance(entry, Sequence) and not isinstance(entry, str) and len(entry) == 2:
        widths, signs = entry
        if isinstance(widths, Sequence) and len(widths) == 4 and all(type(width) is int for width in widths):
            d, n1, n2, m = widths
            try:
                return Network.generic(d, n1, n2, m, signs=signs)
            except InvalidNetworkError as error:
                raise InvalidNetworkError(
                    f"entry {place + 1}: {error.message}", **{**error.place, "row": place}
                ) from None
    raise InvalidNetworkError(
        f"entry {place + 1} is {shown(entry)}, expected a network or a pair ((d, n1, n2, m), signs)", row=place
    )


def _row(net: Network) -> tuple[str, ...]:
    def told(compute: Callable[[], Any]) -> Any:
        try:
            found = compute()
        except (BudgetExceededError, UndecidedSignError):
            return OPEN
        except (UnsupportedError, NotGenericError):
            return NONE
        return OPEN if found is None else found

    def number(compute: Callable[[], Any]) -> str:
        found = told(compute)
        return found if isinstance(found, str) else decimal(found)

    kinds = told(lambda: neuron_types(net, default_layer(net)))
    hidden = told(lambda: len(hidden_hyperplanes(net)) if len(net.layers) > 2 else 0)
    verdict = told(lambda: identifiability(net).is_identifiable)
    words = {True: "yes", False: "no"}
    return (
        "-".join(map(str, net.widths)),
        _signs(net),
        kinds if isinstance(kinds, str) else _counted(kinds),
        str(hidden),
        str(net.parameter_count),
        str(sum(net.widths[1:-1])),
        number(lambda: fiber(net).dimension),
        number(lambda: fiber(net).component_count),
        words.get(verdict, verdict),
    )


def _counted(kinds: Sequence[str]) -> str:
    return " ".join(f"{kinds.count(kind)} {kind}" for kind in ("nonlinear", "linear", "dead") if kind in kinds)


def _signs(net: Network) -> str:
    """Give the signs of the last hidden layer's rows [W | b], in words when there are many or they are open."""
    layer = net.layers[-2] if len(net.layers) > 1 else net.layers[-1]
    if layer.outputs * (layer.inputs + 1) > 40:
        return "many"
    rows = [
        "".join(_sign(value) for value in (*row, b)) for row, b in zip(layer.weight.tolist(), layer.bias, strict=True)
    ]
    return " ".join(rows)


def _sign(value: Any) -> str:
    return "+" if value.is_positive else "-" if value.is_negative else "0" if value.is_zero else OPEN
