"""What a long enumeration has found so far, in an SQLite file that survives being killed.

Main definitions
    Checkpoint     the results of the chunks that are complete, by number; one transaction for each chunk

A write-ahead log keeps a half-written chunk out of sight, so after a crash a chunk is there whole or not at all. The
primary key keeps it from being there twice. The file says which enumeration it belongs to and is refused for another.

References: sqlite.org/wal.html.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType

from semialg_fibers.errors import InvalidNetworkError, SemialgError

APPLICATION = 0x53414642  # "SAFB": tells our files from other people's databases
FORMAT = 1


def _release() -> str:
    try:
        return version("semialg-fibers")
    except PackageNotFoundError:
        return "unknown"


class Checkpoint:
    """An open checkpoint file of the enumeration `name` with the given `fingerprint` and number of `chunks`.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "run.sqlite"
    >>> with Checkpoint(file, "squares", "0..9", 2) as kept:
    ...     kept.put(1, "[25, 36, 49, 64, 81]")
    >>> with Checkpoint(file, "squares", "0..9", 2) as kept:
    ...     kept.count, kept.get(0), kept.get(1)
    (1, None, '[25, 36, 49, 64, 81]')
    """

    def __init__(self, path: str | os.PathLike[str], name: str, fingerprint: str, chunks: int) -> None:
        """Open the file, or make it where there is none.

        Raises:
            InvalidNetworkError: for a file that is no checkpoint, or one of other input (place: `file`).
            SemialgError: where it cannot be read or written, or another run has it open (place: `file`).
        """
        self.path = os.fspath(path)
        about = {"name": name, "fingerprint": fingerprint, "chunks": str(chunks), "release": _release()}
        _must_be_a_database(self.path)
        with self._told():
            self._base = sqlite3.connect(self.path, timeout=1.0, isolation_level=None)
        try:
            with self._told():
                self._open(about)
        except BaseException:
            self._base.close()
            raise

    def _open(self, about: dict[str, str]) -> None:
        base = self._base
        base.execute("PRAGMA locking_mode = EXCLUSIVE")  # two runs must not share a file
        kind = base.execute("PRAGMA application_id").fetchone()[0]
        empty = not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if kind == 0 and empty:
            # All of the head in one transaction, before the log: killed here, the file is empty and begun again.
            base.execute("BEGIN EXCLUSIVE")
            base.execute(f"PRAGMA application_id = {APPLICATION}")
            base.execute(f"PRAGMA user_version = {FORMAT}")
            base.execute("CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
            base.execute("CREATE TABLE chunks (number INTEGER PRIMARY KEY, result TEXT NOT NULL)")
            base.executemany("INSERT INTO about VALUES (?, ?)", about.items())
            base.execute("COMMIT")
        elif kind != APPLICATION:
            raise InvalidNetworkError(
                f"{self.path} is a database of another program, not a checkpoint; give another file", file=self.path
            )
        self._must_belong_to(about)
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = FULL")

    def _must_belong_to(self, about: dict[str, str]) -> None:
        found = self._base.execute("PRAGMA user_version").fetchone()[0]
        kept = dict(self._base.execute("SELECT key, value FROM about"))
        advice = "give another file, or delete this one to begin again"
        if found != FORMAT:
            raise InvalidNetworkError(
                f"the checkpoint {self.path} has format {found}, expected {FORMAT}; {advice}", file=self.path
            )
        if kept["name"] != about["name"]:
            raise InvalidNetworkError(
                f"the checkpoint {self.path} belongs to {kept['name']!r}, not to {about['name']!r}; {advice}",
                file=self.path,
            )
        if kept["release"] != about["release"]:
            raise InvalidNetworkError(
                f"the checkpoint {self.path} was written by release {kept['release']}, this is {about['release']}; "
                f"{advice}",
                file=self.path,
            )
        if kept != about:
            raise InvalidNetworkError(
                f"the checkpoint {self.path} belongs to {about['name']!r} for other input or other chunks; {advice}",
                file=self.path,
            )

    @property
    def count(self) -> int:
        """The number of complete chunks."""
        with self._told():
            return int(self._base.execute("SELECT count(*) FROM chunks").fetchone()[0])

    def get(self, number: int) -> str | None:
        """Give the result of a chunk, None when it is not complete."""
        with self._told():
            row = self._base.execute("SELECT result FROM chunks WHERE number = ?", (number,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, number: int, result: str) -> None:
        """Keep the result of a chunk: one transaction, on the disk when this returns.

        Raises:
            SemialgError: where the disk is full or fails, or the chunk is there already; what was kept stays.
        """
        with self._told():
            self._base.execute("INSERT INTO chunks VALUES (?, ?)", (number, result))

    def close(self) -> None:
        """Close the file; on a full disk the log stays beside it and is read again."""
        with suppress(sqlite3.Error):
            self._base.close()

    def __enter__(self) -> Checkpoint:
        """Give itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if "locked" in str(error):
                raise SemialgError(
                    f"the checkpoint {self.path} is in use by another run; wait for it or give another file",
                    file=self.path,
                ) from None
            raise SemialgError(
                f"the checkpoint {self.path} cannot be used ({error}); what it held is kept: free some space or check "
                "the path, then run the same command again",
                file=self.path,
            ) from None


def _must_be_a_database(path: str) -> None:
    """Refuse a file that SQLite did not write, before SQLite touches it."""
    try:
        with open(path, "rb") as file:
            head = file.read(16)
    except FileNotFoundError:
        return
    except OSError as error:
        raise SemialgError(
            f"the checkpoint {path} cannot be read ({error.strerror}); check the path", file=path
        ) from None
    if head and head != b"SQLite format 3\x00":
        raise InvalidNetworkError(f"{path} is not a checkpoint; give another file", file=path)
