"""Does what we would publish work where nothing else is installed?

    python tools/try_wheel.py                 # wheel and sdist, made here
    python tools/try_wheel.py --lowest        # every dependency in the lowest version that pyproject.toml allows
    python tools/try_wheel.py --tests tests/exchange    # and run these tests there, with the extra "test"

Builds both, installs the wheel in an empty environment outside this folder, and runs the command line on networks of
the gallery and a conversion; with --tests also a type check of a caller against the installed package's own types.
Needs `pip install build` and a registry. Exit 0 when everything holds; nothing is left behind.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CALLER = """
from semialg_fibers import Network, fiber, from_arrays
net: Network = from_arrays([([[1]], [0])])
wrong: int = fiber(net)
"""


def run(*command: str | Path, cwd: Path, code: int = 0) -> str:
    """Run a command in a folder that does not see this project; give what it prints."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    return done.stdout


def built(folder: Path) -> tuple[Path, Path]:
    """Make wheel and sdist, and look into both."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    inside = zipfile.ZipFile(wheel).namelist()
    assert "semialg_fibers/py.typed" in inside, "the wheel has no types"
    strays = [name for name in inside if not re.match(r"semialg_fibers(-[0-9.]+\.dist-info)?/", name)]
    assert not strays, f"the wheel holds {strays}"
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    for needed in ("LICENSE", "README.md", "CITATION.cff", "tests/conftest.py", "docs/theory.md", "tools/try_wheel.py"):
        assert needed in names, f"the sdist has no {needed}"
    return wheel, sdist


def lowest() -> list[str]:
    """Give each dependency in the lowest version that is allowed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = [re.match(r"([A-Za-z0-9-]+)>=([0-9.]+)", line) for line in project["dependencies"]]
    assert all(pins), "a dependency has no lower bound"
    return [f"{pin[1]}=={pin[2]}" for pin in pins if pin]


def main() -> None:
    """Build, install, run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowest", action="store_true", help="the lowest versions of all dependencies")
    parser.add_argument("--tests", nargs="*", default=[], help="tests of this folder to run in the environment")
    parser.add_argument("--python", default=sys.executable, help="the Python of the empty environment")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = built(folder)
        print(f"built {wheel.name} and {sdist.name}")
        run(options.python, "-m", "venv", folder / "empty", cwd=folder)
        python = folder / "empty" / "bin" / "python"
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(*pip, f"{wheel}[test]" if options.tests else wheel, *(lowest() if options.lowest else []), cwd=folder)
        command = folder / "empty" / "bin" / "semialg-fibers"
        where = run(python, "-c", "import semialg_fibers; print(semialg_fibers.__file__)", cwd=folder)
        assert str(ROOT) not in where, f"the package was imported from {where}"
        told = json.loads(run(command, "describe", "gallery:hidden_2_2_2_1", "--json", cwd=folder))
        assert told["identifiable"] is False, told
        assert "Component 0" in run(command, "fiber", "gallery:flips_3_3_1_1", cwd=folder)
        run(command, "same", "gallery:exchange_of_roles", "gallery:exchange_of_roles_partner", cwd=folder)
        save = "import numpy as np; np.savez('net.npz', W1=np.eye(2), b1=np.zeros(2))"
        run(python, "-c", save, cwd=folder)
        run(command, "convert", "net.npz", "-o", "net.json", cwd=folder)
        run(command, "convert", "net.onnx", "-o", "net.json", cwd=folder, code=2)
        print("the command line works in an empty environment")
        if options.tests:
            (folder / "caller.py").write_text(CALLER)
            typed = run(python, "-m", "mypy", "--strict", "caller.py", cwd=folder, code=1)
            assert "Found 1 error" in typed, typed
            print("a caller sees the types")
            tests = [ROOT / path for path in options.tests]
            pytest = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml")
            print(run(*pytest, *tests, cwd=folder).strip().splitlines()[-1])


if __name__ == "__main__":
    main()
