"""Every theorem has one address: docs/theory_map.md and the docstrings agree, in both directions."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "semialg_fibers"
MAP = ROOT / "docs" / "theory_map.md"
ROW = re.compile(r"^\| §(?P<section>[0-9.]+) \| `(?P<file>[^`]+)` \| (?P<places>[^|]+) \| (?P<tests>[^|]+) \|$", re.M)


def citations() -> set[tuple[str, str, str]]:
    """(section, file, place) for each `Implements: theory §...` in a docstring."""
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            inner = node.body if isinstance(node, ast.ClassDef) else []
            for child in [node, *inner]:
                if not isinstance(child, ast.FunctionDef | ast.ClassDef):
                    continue
                text = ast.get_docstring(child) or ""
                owner = f"{node.name}." if child is not node and isinstance(node, ast.ClassDef) else ""
                for line in re.findall(r"Implements: theory (.*)", text):
                    for section in re.findall(r"§([0-9]+(?:\.[0-9]+)?)", line):
                        found.add((section, file, owner + child.name))
    methods = {(s, f, p.split(".")[-1]) for s, f, p in found if "." in p}
    return {c for c in found if "." in c[2] or c not in methods}


def rows() -> list[tuple[str, str, list[str], list[str]]]:
    return [
        (m["section"], m["file"], re.findall(r"`([^`]+)`", m["places"]), re.findall(r"`([^`]+)`", m["tests"]))
        for m in ROW.finditer(MAP.read_text())
    ]


def test_the_map_lists_exactly_what_the_docstrings_say():
    listed = {(section, file, place) for section, file, places, _ in rows() for place in places}
    assert listed == citations()


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}-{row[1]}")
def test_every_row_names_tests_that_exist(row):
    assert row[3]
    for test in row[3]:
        assert (ROOT / test).is_file()


def test_every_cited_section_is_a_section_of_the_page():
    page = (ROOT / "docs" / "theory.md").read_text()
    headings = set(re.findall(r"^#+ ([0-9]+(?:\.[0-9]+)?)[. ]", page, re.M))
    assert {section for section, _, _ in citations()} <= headings


def test_every_cited_section_of_beyond_is_a_section_of_that_page():
    page = (ROOT / "docs" / "beyond.md").read_text()
    headings = set(re.findall(r"^#+ ([0-9]+(?:\.[0-9]+)?)[. ]", page, re.M))
    cited = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        for line in re.findall(r"Implements: beyond (.*)", path.read_text()):
            cited |= set(re.findall(r"§([0-9]+(?:\.[0-9]+)?)", line))
    assert {"1.2", "1.3", "1.4"} <= cited <= headings
