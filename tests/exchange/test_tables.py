"""Dimension tables: every cell is what the questions answer, in three languages; what is open is not guessed."""

import re
import shutil
import subprocess

import pytest

from semialg_fibers import gallery
from semialg_fibers.errors import InvalidNetworkError, NotGenericError, UnsupportedError
from semialg_fibers.exchange.latex import standalone
from semialg_fibers.exchange.tables import HEADER, NONE, OPEN, dimension_table
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.identifiability import identifiability

NETWORKS = [gallery.network(name) for name in gallery.names()]
PATTERNS = [
    ((2, 2, 1, 1), ["+--"]),
    ((2, 2, 2, 1), ["+--", "+--"]),
    ((2, 2, 2, 1), ["+-+", "-++"]),
    ((2, 2, 2, 1), ["+-+", "+++"]),
    ((2, 2, 2, 1), ["---", "---"]),
]


@pytest.fixture(scope="module")
def table():
    return dimension_table([*NETWORKS, *PATTERNS])


def test_every_cell_of_the_gallery(table):
    for net, row in zip(NETWORKS, table.rows, strict=False):
        cells = dict(zip(HEADER, row, strict=True))
        assert cells["network"] == "-".join(map(str, net.widths))
        assert cells["parameters"] == str(net.parameter_count)
        assert cells["scalings"] == str(sum(net.widths[1:-1]))
        answer = {True: "yes", False: "no", None: OPEN}[identifiability(net).is_identifiable]
        assert cells["identifiable"] == answer
        try:
            found = fiber(net)
        except (UnsupportedError, NotGenericError):
            assert cells["dimension"] == cells["components"] == NONE
            continue
        assert (cells["dimension"], cells["components"]) == (str(found.dimension), str(found.component_count))
        rows = cells["signs"].split()
        assert len(rows) == net.layers[-2].outputs
        for form, signs in zip(net.layers[-2].forms, rows, strict=True):
            assert ["+" if v > 0 else "-" if v < 0 else "0" for v in form] == list(signs)


def test_rows_by_hand(table):
    cells = dict(zip(gallery.names(), table.rows, strict=False))
    assert cells["hidden_with_dead_2_2_2_1"][1:] == (
        "+-- ---", "1 nonlinear 1 dead", "1", "15", "4", "8", "2", "no",
    )  # fmt: skip
    assert cells["visible_2_2_2_1"][-3:] == ("4", "1", "yes")
    assert cells["wide_2_3_2_1"][-3:-1] == (NONE, NONE)


def test_letters_are_not_guessed(table):
    """Two alive rows flip only where their ratios agree, so the number of components is open, the dimension is not."""
    rows = table.rows[len(NETWORKS) :]
    assert [row[1] for row in rows] == [" ".join(signs) for _, signs in PATTERNS]
    assert rows[0][-3:] == ("4", "2", "no")
    assert rows[1][-3:-1] == ("5", OPEN)
    assert rows[3][-2] == OPEN
    assert rows[4][-3:-1] == ("14", "1")
    assert dimension_table([Network.generic(2, 2, 1, 1, signs=["+--"])]).rows == rows[:1]


def test_text_markdown_and_latex_show_the_same_cells(table):
    text = table.to_text().splitlines()
    assert str(table) == table.to_text()
    assert [re.split(r" {2,}", line) for line in text[: len(table.rows) + 1]] == [
        [cell for cell in row if cell] for row in (table.header, *table.rows)
    ]
    assert text[len(table.rows) + 1 :] == list(table.legend)
    assert len(table.legend) == 2
    markdown = table.to_markdown().splitlines()
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in markdown[: len(table.rows) + 2]] == [
        list(table.header), ["---"] * len(HEADER), *map(list, table.rows),
    ]  # fmt: skip
    latex = table.to_latex()
    body = latex.split("\\midrule\n")[1].split("\\bottomrule")[0].strip().splitlines()
    plain = [re.sub(r"[${}]", "", line.removesuffix(r" \\")).split(" & ") for line in body]
    assert plain == [[cell.replace(NONE, "--") for cell in row] for row in table.rows]
    assert latex.isascii()
    assert dimension_table(NETWORKS[:1]).legend == ()


def test_the_latex_table_compiles(table, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    (tmp_path / "table.tex").write_text(standalone(table.to_latex()))
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-1500:]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("2-2-2-1", "expected a network or a pair"),
        (((2, 2, 1), ["+--"]), "expected a network or a pair"),
        (((2, 2, 1, 1), ["+-"]), "entry 2: row 1: expected 3 characters"),
        (7, "expected a network or a pair"),
    ],
)
def test_rows_that_are_none_are_named(entry, words):
    with pytest.raises(InvalidNetworkError, match=words) as caught:
        dimension_table([NETWORKS[0], entry])
    assert caught.value.row == 1


def test_large_networks_have_a_row_too():
    rng = range(1, 50)
    net = Network(
        [
            ([[int(i == j) for j in range(6)] for i in range(6)], [0] * 6),
            ([[(-1) ** (i + j) * (rng[i] + j * j) for j in range(6)] for i in range(7)], [rng[i] for i in range(7)]),
            ([[rng[j] ** (i + 1) for j in range(7)] for i in range(7)], [0] * 7),
        ]
    )
    (row,) = dimension_table([net]).rows
    assert row[1] == "many"
    assert row[0] == "6-6-7-7"
