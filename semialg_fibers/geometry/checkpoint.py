"""What a long enumeration has found so far, in an SQLite file that survives being killed.

Main definitions
    Checkpoint     the results of the chunks that are complete, by number; one transaction for each chunk

A write-ahead log keeps a half-written chunk out of sight, so after a crash a chunk is there whole or not at all. The
primary key keeps it from being there twice. The file says which enumeration it belongs to and is refused for another.
Each result stands beside a hash of it, for SQLite would not notice a changed digit. A database with anything but the
two tables is refused before a view or a trigger could run. (Who can write the file can write a wrong result into it.)

References: sqlite.org/wal.html, sqlite.org/security.html.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType

from semialg_fibers.errors import InvalidNetworkError, SemialgError
from semialg_fibers.geometry.scalar import shown

APPLICATION = 0x53414642  # "SAFB": tells our files from other people's databases
FORMAT = 2
MAX_RESULT = 128 * 2**20  # bytes of the result of a chunk
TABLES = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE chunks (number INTEGER PRIMARY KEY, result TEXT NOT NULL, digest TEXT NOT NULL)",
)
ADVICE = "give another file, or delete this one to begin again"


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
        self.path, self.chunks, self.fingerprint = _path(path), chunks, fingerprint
        self.file = self.path if self.path.isprintable() else ascii(self.path)
        about = {"name": name, "fingerprint": fingerprint, "chunks": str(chunks), "release": _release()}
        _must_be_a_database(self.path, self.file)
        with self._told():
            # The absolute path, for SQLite takes ":memory:" and "" for no file at all.
            self._base = sqlite3.connect(os.path.abspath(self.path), timeout=1.0, isolation_level=None)
        try:
            with self._told():
                self._open(about)
        except BaseException:
            self._base.close()
            raise

    def _open(self, about: dict[str, str]) -> None:
        base = self._base
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_RESULT)
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("PRAGMA cell_size_check = ON")
        base.execute("PRAGMA locking_mode = EXCLUSIVE")  # two runs must not share a file
        kind = base.execute("PRAGMA application_id").fetchone()[0]
        empty = not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if kind == 0 and empty:
            # All of the head in one transaction, before the log: killed here, the file is empty and begun again.
            base.execute("BEGIN EXCLUSIVE")
            base.execute(f"PRAGMA application_id = {APPLICATION}")
            base.execute(f"PRAGMA user_version = {FORMAT}")
            for table in TABLES:
                base.execute(table)
            base.executemany("INSERT INTO about VALUES (?, ?)", about.items())
            base.execute("COMMIT")
        elif kind != APPLICATION:
            raise InvalidNetworkError(
                f"{self.file} is a database of another program, not a checkpoint; give another file", file=self.path
            )
        self._must_belong_to(about)
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = FULL")

    def _must_belong_to(self, about: dict[str, str]) -> None:
        found = self._base.execute("PRAGMA user_version").fetchone()[0]
        if found != FORMAT:
            raise self._refused(f"has format {found}, expected {FORMAT}")
        # A view or a trigger may compute for ever, so that the tables are compared before anything is asked of them.
        made = self._base.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL LIMIT 3").fetchall()
        if sorted(sql for (sql,) in made if isinstance(sql, str)) != sorted(TABLES) or len(made) != len(TABLES):
            raise self._refused("has other tables than a checkpoint")
        rows = self._base.execute("SELECT key, substr(value, 1, 2000) FROM about LIMIT 5").fetchall()
        if not all(isinstance(word, str) for row in rows for word in row) or {key for key, _ in rows} != set(about):
            raise self._refused("does not say what it belongs to")
        kept, expected = dict(rows), {key: value[:2000] for key, value in about.items()}
        if kept["name"] != expected["name"]:
            raise self._refused(f"belongs to {shown(kept['name'])}, not to {shown(about['name'])}")
        if kept["release"] != expected["release"]:
            raise self._refused(f"was written by release {_word(kept['release'])}, this is {about['release']}")
        if kept != expected:
            raise self._refused(f"belongs to {shown(about['name'])} for other input or other chunks")
        outside = "SELECT count(*) FROM chunks WHERE number < 0 OR number >= ?"
        if self._base.execute(outside, (self.chunks,)).fetchone()[0]:
            raise self._refused("is damaged: it holds chunks that there are not")

    def _refused(self, why: str) -> InvalidNetworkError:
        return InvalidNetworkError(f"the checkpoint {self.file} {why}; {ADVICE}", file=self.path)

    @property
    def count(self) -> int:
        """The number of complete chunks."""
        with self._told():
            return int(self._base.execute("SELECT count(*) FROM chunks").fetchone()[0])

    def get(self, number: int) -> str | None:
        """Give the result of a chunk, None when it is not complete.

        Raises:
            InvalidNetworkError: where what is kept is not what was put (place: `file`, `chunk`).
        """
        with self._told():
            row = self._base.execute("SELECT result, digest FROM chunks WHERE number = ?", (number,)).fetchone()
        if row is None:
            return None
        result, digest = row
        if not isinstance(result, str) or digest != self._digest(number, result):
            raise self.damaged(number)
        return result

    def damaged(self, number: int) -> InvalidNetworkError:
        """Give the error for a chunk that holds no result of this enumeration."""
        refused = self._refused(f"is damaged: chunk {number + 1} does not hold what was kept")
        return InvalidNetworkError(refused.message, file=self.path, chunk=number)

    def put(self, number: int, result: str) -> None:
        """Keep the result of a chunk: one transaction, on the disk when this returns.

        Raises:
            SemialgError: where the disk is full or fails, the chunk is there already, or its result is longer than
                `MAX_RESULT`; what was kept stays.
        """
        with self._told():
            self._base.execute("INSERT INTO chunks VALUES (?, ?, ?)", (number, result, self._digest(number, result)))

    def _digest(self, number: int, result: str) -> str:
        told = f"{self.fingerprint} {number} {result}".encode(errors="surrogatepass")
        return hashlib.sha256(told).hexdigest()

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
        except (sqlite3.Error, UnicodeError) as error:  # UnicodeError: SQLite's own message repeats damaged bytes
            if "locked" in str(error):
                raise SemialgError(
                    f"the checkpoint {self.file} is in use by another run; wait for it or give another file",
                    file=self.path,
                ) from None
            raise SemialgError(
                f"the checkpoint {self.file} cannot be used ({_word(str(error))}); what it held is kept: free some "
                "space or check the path, then run the same command again",
                file=self.path,
            ) from None


def _word(text: str) -> str:
    return text if text.isprintable() and len(text) <= 200 else shown(text)


def _path(path: object) -> str:
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        text = None
    if text == "":
        raise InvalidNetworkError("the path of the checkpoint is empty; give the path of a file", value=path)
    if not isinstance(text, str) or "\0" in text:
        raise InvalidNetworkError(f"the path of a checkpoint is a text, got {shown(path)}", value=path)
    return text


def _must_be_a_database(path: str, name: str) -> None:
    """Refuse what is no file, and a file that SQLite did not write, before SQLite touches it."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):  # to open a pipe would wait for ever
            kind = "a directory" if stat.S_ISDIR(mode) else "a pipe, socket or device"
            raise SemialgError(f"the checkpoint {name} cannot be read (it is {kind}); check the path", file=path)
        with open(path, "rb") as file:
            head = file.read(16)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:  # ValueError: characters that no path has
        reason = getattr(error, "strerror", None) or "it is no path"
        raise SemialgError(f"the checkpoint {name} cannot be read ({reason}); check the path", file=path) from None
    if head and head != b"SQLite format 3\x00":
        raise InvalidNetworkError(f"{name} is not a checkpoint; give another file", file=path)
