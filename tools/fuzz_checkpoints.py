"""What tools/fuzz.py does to the checkpoints of enumerations, which are SQLite databases.

Main definitions
    checkpoint_kinds    databases changed by hostile statements and in their bytes; results of the wrong shape

Whatever the file holds: an enumeration that goes on from it is refused, or gives the right answer.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import random
import sqlite3
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from fuzz_files import HUGE, bytes_changed
from fuzz_text import Kind, mutated

from semialg_fibers import atlas, gallery
from semialg_fibers.geometry.checkpoint import Checkpoint
from semialg_fibers.geometry.enumeration import Family, Runner
from semialg_fibers.questions.cell_count import cell_count
from semialg_fibers.questions.component_count import count_components, subset_sum_network
from semialg_fibers.questions.dimension import functional_dimension


def squares(inputs: tuple[int, ...]) -> list[int]:
    """Do the work of a chunk."""
    return [value * value for value in inputs]


NUMBERS = Family("squares", "fuzz", range(12), squares, 3)
SQUARES = [[0, 1, 4], [9, 16, 25], [36, 49, 64], [81, 100, 121]]
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
HOSTILE = [
    "DROP TABLE about", "DROP TABLE chunks", "DELETE FROM about", "DELETE FROM about WHERE key = 'name'",
    "DELETE FROM about WHERE key = 'release'", "UPDATE about SET value = x'00ff'", "UPDATE about SET value = 7",
    "UPDATE about SET value = CAST(zeroblob(3000000) AS TEXT) WHERE key = 'name'", "UPDATE about SET value = ''",
    "UPDATE about SET value = CAST(zeroblob(3000000) AS TEXT) WHERE key = 'release'",
    "UPDATE about SET value = char(10) || value", "UPDATE chunks SET result = '[1'", "UPDATE chunks SET result = x'ff'",
    "UPDATE chunks SET result = ''", "UPDATE chunks SET result = CAST(x'ff31' AS TEXT)", "DELETE FROM chunks",
    "UPDATE chunks SET result = '[1, 2, 3]'", "UPDATE chunks SET result = zeroblob(2000000)",
    "UPDATE chunks SET number = number + 1000", "UPDATE chunks SET number = -number", "PRAGMA user_version = 7",
    "PRAGMA user_version = 1", "PRAGMA application_id = 0", "PRAGMA application_id = 7", "CREATE TABLE more (value)",
    "CREATE INDEX extra ON chunks (result)", "CREATE TABLE sqlite (x)", "ALTER TABLE chunks ADD COLUMN more TEXT",
    "ALTER TABLE chunks RENAME COLUMN result TO was", "ALTER TABLE about RENAME TO was",
    "ALTER TABLE chunks RENAME TO was; CREATE VIEW chunks AS SELECT * FROM was",
    "ALTER TABLE chunks RENAME TO was; "
    f"CREATE VIEW chunks AS {ENDLESS} i AS number, '[]' AS result, '' AS digest FROM n",
    f"ALTER TABLE about RENAME TO was; CREATE VIEW about AS {ENDLESS} i AS key, i AS value FROM n",
    "CREATE TRIGGER t AFTER INSERT ON chunks BEGIN DELETE FROM chunks; END",
    f"CREATE TRIGGER t AFTER INSERT ON chunks BEGIN INSERT INTO about {ENDLESS} i, i FROM n; END",
    "CREATE TRIGGER t BEFORE INSERT ON chunks BEGIN SELECT load_extension('x'); END",
    "CREATE TRIGGER t BEFORE INSERT ON chunks BEGIN SELECT writefile('pwned', 'x'); END",
    "DROP TABLE chunks; CREATE VIRTUAL TABLE chunks USING fts5(number, result, digest)",
    "DROP TABLE chunks; CREATE TABLE chunks (number INTEGER PRIMARY KEY, result AS (randomblob(100)), digest)",
    "DROP TABLE chunks; CREATE TABLE chunks (number, result, digest)", "PRAGMA journal_mode = DELETE",
    "PRAGMA encoding = 'UTF-16'; VACUUM", "PRAGMA page_size = 512; PRAGMA journal_mode = DELETE; VACUUM",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE about (key)' WHERE name = 'about'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 2", "INSERT INTO about VALUES ('more', 'x')",
    "PRAGMA writable_schema = ON; DELETE FROM sqlite_master",
]  # fmt: skip


Kept = tuple[bytes, bytes]  # the database, and the log beside it, empty where there is none


def checkpoint_seeds(folder: Path) -> list[Kept]:
    """Give checkpoints of the squares that hold no chunk, two, or all four, and one as a kill leaves it."""
    made = []
    run = Runner(checkpoint=folder / "killed.sqlite").run(NUMBERS)
    next(run)
    made.append(((folder / "killed.sqlite").read_bytes(), (folder / "killed.sqlite-wal").read_bytes()))
    run.close()  # type: ignore[attr-defined]
    for count in (0, 2, 4):
        path = folder / f"kept{count}.sqlite"
        for _ in itertools.islice(Runner(checkpoint=path).run(NUMBERS), count):
            pass
        Checkpoint(path, NUMBERS.name, NUMBERS.fingerprint, NUMBERS.chunk_count).close()
        made.append((path.read_bytes(), b""))
    return made


def checkpoint_changed(rng: random.Random, kept: Kept) -> Kept:
    """Run a hostile statement on the database, change its bytes or those of the log, or both."""
    raw, log = kept
    if rng.random() < 0.4:
        raw = _stated(raw, rng.choice(HOSTILE))
    if log and rng.random() < 0.7:
        log = bytes_changed(rng, log)
    return bytes_changed(rng, raw) if rng.random() < (0.3 if log else 0.7) else raw, log


@lru_cache(maxsize=256)
def _stated(raw: bytes, statements: str) -> bytes:
    path = Path(f"stated-{hashlib.sha256(raw + statements.encode()).hexdigest()}")
    path.write_bytes(raw)
    base = sqlite3.connect(path)
    with contextlib.suppress(sqlite3.Error):
        base.executescript(statements)
    base.close()
    changed = path.read_bytes()
    path.unlink()
    return changed


class Wrong(Exception):
    """A wrong answer."""


def resumed(path: Path, kept: Kept) -> None:
    """Finish the enumeration from the checkpoint; its answer must be right."""
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    path.write_bytes(kept[0])
    if kept[1]:
        path.with_name(f"{path.name}-wal").write_bytes(kept[1])
    if (found := Runner(checkpoint=path).results(NUMBERS)) != SQUARES:
        raise Wrong(f"the answer is {found!r:.500}")


ASKED: list[Callable[[Runner], Any]] = [
    lambda runner: count_components(subset_sum_network((3, 5, 8, 2), 10), runner),
    lambda runner: atlas(2, 2, 1, 1, runner=runner).check(),
    lambda runner: cell_count(gallery.network("linear_2_2_2_1"), runner),
    lambda runner: functional_dimension(gallery.network("linear_2_2_2_1"), runner=runner),
]
RESULTS: list[Any] = [
    *HUGE, None, True, "", "x", [], {}, [[]], [[1, 2]], [[1]], [["x", "y"]], [[[1, 2]]], [[["1"]]], [[["zz"]]], [[3,
    1]], 0.5,
    [[[[1, 1, 1]], 1, 1, True]], [[[[9, 9]], 1, 2, 3]], "9" * 5000, -1, [-1], {"a": 1}, "0" * 100, [[["-1"] * 9]],
]  # fmt: skip


def results_changed(rng: random.Random, which: int) -> tuple[int, str]:
    """Give a question and the text that its checkpoint holds for every chunk."""
    text = json.dumps(rng.choice(RESULTS))
    return which, mutated(rng, text) if rng.random() < 0.4 else text


def asked(path: Path, given: tuple[int, str]) -> None:
    """Ask a question whose checkpoint holds this text for every chunk, with what else belongs to it."""
    which, text = given
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    with_head = _Head(path, text)
    ASKED[which](with_head)  # type: ignore[arg-type]


class _Head(Runner):
    """A runner whose checkpoint is filled with a text before it is read."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(checkpoint=path)
        object.__setattr__(self, "text", text)

    def run(self, family: Family) -> Any:
        assert self.checkpoint is not None
        with Checkpoint(self.checkpoint, family.name, family.fingerprint, family.chunk_count) as kept:
            for number in range(family.chunk_count if self.text != "valid" else 0):  # type: ignore[attr-defined]
                kept.put(number, self.text)  # type: ignore[attr-defined]
        return super().run(family)


def checkpoint_kinds(folder: Path) -> list[Kind]:
    """Give the kinds of this file, which work in `folder`."""
    run, asking = folder / "run.sqlite", folder / "asked.sqlite"
    questions = [(number, "valid") for number in range(len(ASKED))]
    return [
        Kind("checkpoint", 55, checkpoint_seeds(folder), checkpoint_changed, lambda kept: resumed(run, kept)),
        Kind(
            "results of a checkpoint",
            5,
            questions,
            lambda rng, given: results_changed(rng, given[0]),
            lambda given: asked(asking, given),
        ),
    ]
