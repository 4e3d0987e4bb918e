"""Make every picture of the documentation again, by the commands that stand on docs/pictures.md.

python tools/pictures.py [FOLDER]     written below FOLDER (default: the project)
"""

import os
import re
import shlex
import sys
from pathlib import Path

from semialg_fibers.cli import run

ROOT = Path(__file__).resolve().parents[1]


def commands() -> list[list[str]]:
    """The arguments of each `$ semialg-fibers plot ...` on the page."""
    page = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")
    return [shlex.split(line)[1:] for line in re.findall(r"^\$ (semialg-fibers plot .*)$", page, re.M)]


def main() -> int:
    """Run them all, one after the other."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    (folder / "docs" / "pictures").mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    return max(run(arguments) for arguments in commands())


if __name__ == "__main__":
    sys.exit(main())
