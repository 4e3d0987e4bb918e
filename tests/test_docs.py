"""The documentation is true: commands print what the pages show, pictures come from commands, the site builds."""

import doctest
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import semialg_fibers
from semialg_fibers.cli import run

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md"])
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.M | re.S)
IMAGE = re.compile(r"!\[[^\]]+\]\(([^)]+)\)")
# Not run as they stand: drawings and listings, BibTeX, and set-up commands, whose targets must exist.
LISTINGS = {"", "text", "bibtex"}


def blocks(page):
    return [(language, body) for _, language, body in FENCE.findall(page.read_text(encoding="utf-8"))]


CONSOLE = [
    pytest.param(body, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, (language, body) in enumerate(blocks(page))
    if language == "console"
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_code_block_is_run_or_a_listing(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    for language, body in blocks(page):
        if language == "python":
            assert body.startswith(">>> "), "a doctest, so that it is run"
        elif language == "json":
            json.loads(body)
        elif language == "sh":
            for line in body.strip().splitlines():
                command, target = line.split("#")[0].split()
                assert command == "make"
                assert target in targets
        else:
            assert language in LISTINGS | {"console"}, f"nothing runs {language}"


@pytest.mark.parametrize("body", CONSOLE)
def test_commands_print_what_the_page_shows(body, capsys, tmp_path, monkeypatch):
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    checker = doctest.OutputChecker()
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.M):
        program, *arguments = shlex.split(command)
        assert program == "semialg-fibers"
        if "/pictures/" in command:
            continue  # the next test
        code = run([a.replace("notebooks/", f"{ROOT}/notebooks/") for a in arguments])
        assert code in (0, 1) if arguments[0] == "same" else code == 0
        printed = capsys.readouterr().out
        assert checker.check_output(expected, printed, doctest.ELLIPSIS), printed


def identities(path):
    """What a picture is made of: matplotlib numbers its lines, patches and texts."""
    found = {element.get("id") for element in ElementTree.parse(path).iter() if element.get("id")}
    return {
        name
        for name in found
        if re.fullmatch(r"(line2d|patch|text|axes|legend|PathCollection|FillPoly)[A-Za-z]*_[0-9]+", name)
    }


def test_every_picture_comes_from_a_command_on_the_page_of_pictures(tmp_path):
    finished = subprocess.run(
        [sys.executable, ROOT / "tools" / "pictures.py", tmp_path], capture_output=True, text=True
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    made = {path.name: path for path in (tmp_path / "docs" / "pictures").iterdir()}
    assert set(made) == {path.name for path in (DOCS / "pictures").iterdir()}
    for name, path in made.items():
        assert identities(path) == identities(DOCS / "pictures" / name), f"make pictures: {name} has changed"
        assert len(identities(path)) > 10
    for page in PAGES:
        for target in IMAGE.findall(page.read_text(encoding="utf-8")):
            assert (page.parent / target).resolve().parent == DOCS / "pictures"
            assert Path(target).name in made


def test_every_page_is_in_the_navigation():
    """What is not listed there makes `make docs` fail, which runs only where the builder is installed."""
    listed = set(re.findall(r": ([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M))
    assert listed == {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}


def test_the_reference_lists_every_public_name():
    listed = re.findall(r"^::: semialg_fibers\.([\w.]+)$", (DOCS / "api.md").read_text(), re.M)
    names = [name.rsplit(".", 1)[-1] for name in listed]
    errors = {name for name in semialg_fibers.__all__ if issubclass_of_error(getattr(semialg_fibers, name))}
    assert set(names) >= set(semialg_fibers.__all__) - errors
    assert "errors" in names
    assert len(names) == len(set(names))


def issubclass_of_error(value):
    return isinstance(value, type) and issubclass(value, semialg_fibers.SemialgError)


def test_the_hook_leaves_code_alone():
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "tools" / "site_hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    assert hooks.spaced("a:\n* b\n  c\n* d") == "a:\n\n* b\n  c\n* d"
    assert hooks.spaced("```\na\n* b\n```") == "```\na\n* b\n```"
    assert hooks.spaced("a\n\n* b") == "a\n\n* b"
    assert hooks.on_page_markdown("x\n1. y", page=None) == "x\n\n1. y"
    rows = "| §2.4 | `geometry/cone.py` | `decide_pointed`, `nonnegative_column_rank` | `tests/geometry/test_cone.py` |"
    told = hooks.with_places("### 2.4 Rank\ntext", rows, "::: semialg_fibers.geometry.cone.nonnegative_column_rank")
    assert (
        "[`geometry/cone.py`: `nonnegative_column_rank`][semialg_fibers.geometry.cone.nonnegative_column_rank]" in told
    )
    assert "    * `geometry/cone.py`: `decide_pointed`\n" in told
    assert "    * tests: `tests/geometry/test_cone.py`" in told


@pytest.mark.skipif(importlib.util.find_spec("mkdocstrings") is None, reason="mkdocs is not installed (extra docs)")
def test_the_site_builds_without_a_warning(tmp_path):
    program = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    finished = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert finished.returncode == 0, finished.stderr
    site = tmp_path / "site"
    api = (site / "api.html").read_text()
    for name in semialg_fibers.__all__:
        assert name in api
    assert "<blockquote>" not in api  # examples of docstrings are code
    theory = (site / "theory.html").read_text()
    assert 'href="api.html#semialg_fibers.fibers.bottleneck.fiber"' in theory
    assert "tests/fibers/test_line.py" in theory
    for page in site.rglob("*.html"):  # nothing is fetched from elsewhere
        text = page.read_text()
        assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=\"?https?://", text), page.name
