"""The house of docs/architecture.md, enforced from the syntax trees: who may import whom, and what a folder may hold.

Imports inside functions count, and so do relative ones and ``importlib.import_module("...")``. When a wall is moved,
this table, the picture in docs/architecture.md and the code change in the same commit.
"""

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = "semialg_fibers"
PROJECT = Path(__file__).resolve().parents[1]
ROOT = PROJECT / PACKAGE

TO_GEOMETRY = {"errors", "geometry"}
TO_FIBERS = TO_GEOMETRY | {"networks", "fibers"}
TO_QUESTIONS = TO_FIBERS | {"verify", "questions"}
TO_EXCHANGE = TO_QUESTIONS | {"exchange"}
TO_GALLERY = TO_EXCHANGE | {"gallery"}

# Floor → what it may import beside itself: whole floors, or single modules. "" is the package's own __init__.py, which
# gathers the public names: importing a name from there would go round every wall.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "geometry": {"errors"},
    "networks": TO_GEOMETRY,
    "fibers": TO_GEOMETRY | {"networks"},
    "verify": TO_GEOMETRY | {"networks.layer"},  # an oracle that shares code with what it judges judges nothing
    "questions": TO_FIBERS
    | {"verify.derivation", "verify.certificate", "verify.conservation", "verify.effort", "verify.lie_rank"},
    "exchange": TO_QUESTIONS,
    "gallery": TO_EXCHANGE,
    "plots": TO_GALLERY,
    "testing": TO_GALLERY,
    "report": TO_GALLERY | {"plots"},
    "terminal": TO_GALLERY,
    "cli": TO_GALLERY | {"plots", "testing", "report", "terminal", ""},
    "__main__": {"cli"},
    "": TO_GALLERY | {"plots", "testing", "report", "terminal", "cli"},
}

REQUIRED = {"click", "flint", "highspy", "mpmath", "networkx", "numpy", "rich", "sympy"}
LAZY = {"highspy", "matplotlib", "networkx", "numpy", "rich", "sympy"}
LONGEST_FILE = 400


@dataclass(frozen=True)
class Import:
    """One import of ``target`` (dotted; None when it cannot be read off the source) in the module ``source``."""

    source: str
    target: str | None
    line: int
    at_import_time: bool

    @property
    def own(self) -> bool:
        return self.target is not None and f"{self.target}.".startswith(f"{PACKAGE}.")

    @property
    def inner(self) -> str:
        """The target inside the package, "" for the package itself."""
        return (self.target or "").removeprefix(PACKAGE).removeprefix(".")

    def __str__(self) -> str:
        """The place, as a failing test shows it."""
        return f"{self.source or '__init__'}, line {self.line}: imports {self.target}"


def module_names(root: Path) -> dict[str, Path]:
    """All modules and folders of a package, named from inside the package ("" is its own ``__init__.py``)."""
    names = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def floor_of(module: str) -> str:
    return module.split(".")[0]


def imports_of(module: str, path: Path, modules: dict[str, Path]) -> Iterator[Import]:
    """Yield every import of one file, wherever it stands."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    home = f"{PACKAGE}.{module}".rstrip(".").split(".")
    if path.name != "__init__.py":
        home = home[:-1]
    importers = {"import_module", "__import__"} | {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "importlib"
        for alias in node.names
        if alias.name == "import_module" and alias.asname
    }

    def relative(level: int, name: str | None, package: list[str]) -> str | None:
        if level > len(package):
            return None
        start = package[: len(package) - level + 1] if level else []
        return ".".join([*start, *(name.split(".") if name else [])])

    def targets(node: ast.AST) -> Iterator[str | None]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = relative(node.level, node.module, home)
            for alias in node.names:
                submodule = f"{base}.{alias.name}"
                yield submodule if submodule.removeprefix(f"{PACKAGE}.") in modules else base
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if called in importers:
                yield called_target(node)

    def called_target(call: ast.Call) -> str | None:
        given = dict(enumerate(call.args)) | {keyword.arg: keyword.value for keyword in call.keywords}
        name, package = (given.get(i, given.get(word)) for i, word in enumerate(("name", "package")))
        if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            return None
        start = home
        if isinstance(package, ast.Constant) and isinstance(package.value, str):
            start = package.value.split(".")
        stripped = name.value.lstrip(".")
        return relative(len(name.value) - len(stripped), stripped, start)

    def walk(node: ast.AST, at_import_time: bool) -> Iterator[Import]:
        for target in targets(node):
            yield Import(module, target, node.lineno, at_import_time)  # type: ignore[attr-defined]
        if isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            for child in node.body:
                yield from walk(child, False)
            for child in node.orelse:
                yield from walk(child, at_import_time)
            return
        inside = at_import_time and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    yield from walk(tree, True)


def all_imports(root: Path) -> list[Import]:
    modules = module_names(root)
    return [found for module, path in modules.items() for found in imports_of(module, path, modules)]


def walls_crossed(root: Path) -> list[str]:
    """Imports that the table forbids, and those that nobody can read off the source."""
    crossed = []
    for found in all_imports(root):
        floor = floor_of(found.source)
        if found.target is None:
            if floor not in {"", "cli"}:  # these two may import everything
                crossed.append(f"{found} (something that the source does not spell out)")
        elif found.own and floor_of(found.inner) != floor:
            allowed = MAY_IMPORT.get(floor, set())
            if not any(found.inner == name or (name and found.inner.startswith(f"{name}.")) for name in allowed):
                crossed.append(str(found))
    return crossed


def homeless(root: Path) -> list[str]:
    """Top-level files and folders that stand on no floor, and folders without an ``__init__.py``."""
    strays = []
    for entry in sorted(root.iterdir()):
        if entry.name in {"__pycache__", "__init__.py", "py.typed"}:
            continue
        if entry.is_dir() and all("__pycache__" in path.parts for path in entry.rglob("*") if path.is_file()):
            continue  # what git leaves of a folder that another branch has
        name = entry.stem if entry.suffix == ".py" else entry.name
        if name not in MAY_IMPORT:
            strays.append(f"{entry.name}: has no floor")
        elif entry.is_dir() and not (entry / "__init__.py").exists():
            strays.append(f"{entry.name}: has no __init__.py")
    return strays


def crowded_folders(root: Path) -> list[str]:
    """Folder ``__init__.py`` files that hold anything but one docstring line."""
    crowded = []
    for path in sorted(root.rglob("*/__init__.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstring = ast.get_docstring(tree)
        if docstring is None or "\n" in docstring or len(tree.body) != 1:
            crowded.append(str(path.relative_to(root)))
    return crowded


def long_files(root: Path) -> list[str]:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sorted(root.rglob("*.py"))}
    return [f"{path.relative_to(root)}: {length} lines" for path, length in lengths.items() if length > LONGEST_FILE]


def misplaced_optional(root: Path) -> list[str]:
    """Optional packages imported outside a function, or in more than one file."""
    misplaced, users = [], {}
    for found in all_imports(root):
        package = (found.target or "").split(".")[0]
        if not package or package in REQUIRED | {PACKAGE} | set(sys.stdlib_module_names):
            continue
        users.setdefault(package, set()).add(found.source)
        if found.at_import_time:
            misplaced.append(f"{found} (optional) outside a function")
    shared = [f"{package}: imported in {sorted(files)}" for package, files in users.items() if len(files) > 1]
    return misplaced + shared


def import_cycle(root: Path) -> list[str]:
    """One cycle of modules that import each other, or nothing."""
    graph = {module: set() for module in module_names(root)}
    for found in all_imports(root):
        if found.own and found.inner in graph and found.source and found.inner:
            graph[found.source].add(found.inner)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


CHECKS = [walls_crossed, homeless, crowded_folders, long_files, misplaced_optional, import_cycle]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_house_stands(check):
    assert module_names(ROOT), f"no package at {ROOT}"
    assert check(ROOT) == []


def test_the_picture_shows_what_is_there():
    """docs/architecture.md draws every module, and marks as "(to come)" exactly those that do not exist."""
    drawn, coming, folder = set(), set(), ""
    picture = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8").split("```")[1]
    for line in picture.splitlines():
        entry = re.match(r"(│ +)?[├└]── (\w+)(\.py|/)(.*)", line)
        if entry is None:
            continue
        indent, name, kind, text = entry.groups()
        if kind == "/":
            folder = f"{name}."
        elif name != "__init__":
            (coming if "(to come)" in text else drawn).add((folder if indent else "") + name)
    there = {name for name, path in module_names(ROOT).items() if path.name != "__init__.py"}
    assert there - drawn == set(), "not drawn, or still marked (to come)"
    assert drawn - there == set(), "drawn, but not there: mark it (to come)"
    assert len(drawn | coming) > 30, "the picture was not read"


def test_import_is_light():
    """SymPy, HiGHS, rich, numpy and networkx are imported when they are first needed, not before."""
    program = f"import sys, {PACKAGE}; print(*sorted({LAZY!r} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=PROJECT)
    assert run.stdout.split() == []


# The checker is itself checked: a small clean house, and one planted fault at a time.

CLEAN = {
    "__init__.py": '"""P."""\nimport importlib\n\ndef __getattr__(n):\n    return importlib.import_module(n)\n',
    "py.typed": "",
    "errors.py": "import re\n",
    "cli.py": "import click\nfrom semialg_fibers import __version__, report, gallery\nfrom .verify import oracle\n",
    "report.py": "from . import plots\nfrom .questions.atlas import rows\n",
    "plots.py": "from .gallery import example\n\ndef plot():\n    import matplotlib.pyplot\n",
    "gallery.py": "from .exchange.files import read\n",
    "exchange/__init__.py": '"""E."""\n',
    "exchange/files.py": "from ..questions import atlas\nfrom semialg_fibers.networks import layer\n",
    "questions/__init__.py": '"""Q."""\n',
    "questions/atlas.py": "from ..verify.derivation import Step\nfrom ..fibers import hiding\nfrom . import matching\n",
    "questions/matching.py": "import semialg_fibers.networks.cells\n",
    "fibers/__init__.py": '"""F."""\n',
    "fibers/hiding.py": "from ..networks.layer import Layer\nfrom ..errors import Bad\n",
    "verify/__init__.py": '"""V."""\n',
    "verify/oracle.py": "from ..networks.layer import Net\nfrom ..networks import layer\nfrom .derivation import A\n",
    "verify/derivation.py": "from semialg_fibers.geometry.linear import exact\n",
    "networks/__init__.py": '"""N."""\n',
    "networks/layer.py": "from ..geometry import linear\n",
    "networks/cells.py": "from .layer import Layer\n",
    "geometry/__init__.py": '"""G."""\n',
    "geometry/linear.py": "from fractions import Fraction\nimport flint\n",
}


def build(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root / PACKAGE


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_clean_house_passes(check, tmp_path):
    assert check(build(tmp_path, CLEAN)) == []


@pytest.mark.parametrize(
    ("file", "text", "check", "complaint"),
    [
        ("geometry/linear.py", "from ..networks.layer import Layer", walls_crossed, "semialg_fibers.networks.layer"),
        ("geometry/linear.py", "import semialg_fibers.networks.layer", walls_crossed, "semialg_fibers.networks.layer"),
        ("geometry/linear.py", "from semialg_fibers import networks", walls_crossed, "semialg_fibers.networks"),
        ("geometry/linear.py", "def f():\n    from ..fibers import hiding", walls_crossed, "line 2"),
        ("geometry/linear.py", "from semialg_fibers import Network", walls_crossed, "imports semialg_fibers"),
        ("geometry/linear.py", "from .. import *", walls_crossed, "imports semialg_fibers"),
        ("geometry/linear.py", "from ... import outside", walls_crossed, "does not spell out"),
        ("errors.py", "from .geometry.linear import exact", walls_crossed, "semialg_fibers.geometry.linear"),
        ("networks/cells.py", "from ..verify.oracle import same", walls_crossed, "semialg_fibers.verify.oracle"),
        ("fibers/hiding.py", "from ..questions import atlas", walls_crossed, "semialg_fibers.questions.atlas"),
        ("verify/oracle.py", "from ..networks.cells import cells", walls_crossed, "semialg_fibers.networks.cells"),
        ("verify/oracle.py", "from ..networks import layer, cells", walls_crossed, "semialg_fibers.networks.cells"),
        ("verify/oracle.py", "from ..networks import layers", walls_crossed, "imports semialg_fibers.networks"),
        ("questions/atlas.py", "from ..verify import oracle", walls_crossed, "semialg_fibers.verify.oracle"),
        ("questions/atlas.py", "from ..exchange.files import read", walls_crossed, "semialg_fibers.exchange.files"),
        ("exchange/files.py", "from ..gallery import example", walls_crossed, "semialg_fibers.gallery"),
        ("plots.py", "from .report import page", walls_crossed, "semialg_fibers.report"),
        ("report.py", "from .cli import main", walls_crossed, "semialg_fibers.cli"),
        ("testing.py", "from . import plots", walls_crossed, "semialg_fibers.plots"),
        (
            "geometry/linear.py",
            "import importlib\nimportlib.import_module('semialg_fibers.fibers')",
            walls_crossed,
            "semialg_fibers.fibers",
        ),
        (
            "geometry/linear.py",
            "from importlib import import_module as load\nload('..fibers.hiding', __package__)",
            walls_crossed,
            "semialg_fibers.fibers.hiding",
        ),
        (
            "geometry/linear.py",
            "import importlib\nimportlib.import_module(package='semialg_fibers', name='.cli')",
            walls_crossed,
            "semialg_fibers.cli",
        ),
        ("geometry/linear.py", "__import__(name)", walls_crossed, "does not spell out"),
        ("helpers.py", "x = 1", homeless, "helpers.py"),
        ("utils/__init__.py", '"""U."""', homeless, "utils"),
        ("table.json", "{}", homeless, "table.json"),
        ("networks/__init__.py", '"""N."""\nfrom .layer import Layer', crowded_folders, "networks/__init__.py"),
        ("networks/__init__.py", '"""N.\n\nMore.\n"""', crowded_folders, "networks/__init__.py"),
        ("networks/__init__.py", "", crowded_folders, "networks/__init__.py"),
        ("geometry/linear.py", "x = 1\n" * (LONGEST_FILE + 1), long_files, "geometry/linear.py: 401 lines"),
        ("exchange/files.py", "import torch", misplaced_optional, "torch"),
        ("exchange/files.py", "class A:\n    from sklearn import base", misplaced_optional, "sklearn"),
        ("exchange/files.py", "def f():\n    import matplotlib", misplaced_optional, "['exchange.files', 'plots']"),
        ("networks/layer.py", "def f():\n    from .cells import cells", import_cycle, "networks.cells"),
    ],
)
def test_a_planted_fault_is_found(file, text, check, complaint, tmp_path):
    found = check(build(tmp_path, CLEAN | {file: text}))
    assert complaint in " ".join(found)


def test_imports_for_the_type_checker_are_bound_by_the_walls_but_may_name_optional_packages(tmp_path):
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n    from .. import cli\n"
    root = build(tmp_path, CLEAN | {"exchange/files.py": source})
    assert misplaced_optional(root) == []
    assert walls_crossed(root) == ["exchange.files, line 4: imports semialg_fibers.cli"]
