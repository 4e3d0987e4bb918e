"""Network files: read whole or refused in one line, written whole or not at all.

Main definitions
    read_network, write_network            a network and a file
    read_bytes                             a model file of another program, whole
    source_of, opened_archive              a path as text; a model's archive, its size and packing bounded
    write_text, write_bytes                anything else, written whole or not at all
    network_from_json, network_to_json     a network and the text of a file
"""

from __future__ import annotations

import io
import os
import secrets
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from semialg_fibers.errors import InvalidNetworkError, SemialgError, UnsupportedError
from semialg_fibers.exchange.json_text import network_from_json, network_to_json
from semialg_fibers.exchange.json_values import MAX_BYTES, named
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import shown
from semialg_fibers.networks.layer import Network

Path = str | bytes | os.PathLike[Any]
MAX_MODEL_BYTES = 2**30  # of a model file of another program, whose numbers are short; of an archive, also unpacked


def source_of(path: Any) -> str:
    """Give a path as text.

    Raises:
        InvalidNetworkError: for what is no path, or an empty one.
    """
    try:
        source = os.fsdecode(path)
    except TypeError:
        raise InvalidNetworkError(f"a path is a text or a pathlib.Path, got {shown(path)}", value=path) from None
    if not source:
        raise InvalidNetworkError("the path is empty; give the path of a file", value=path, file=source)
    return source


@checked
def read_network(path: Path) -> Network:
    """Read the network in the file at `path`, exactly.

    A byte order mark at the start of the file is skipped.

    Raises:
        InvalidNetworkError: where there is no regular file of at most `MAX_BYTES` bytes that can be read, or its text
            is refused by `network_from_json` (place: `file`, and the place there).
    """
    source = source_of(path)
    return network_from_json(read_text(source), source)


def read_text(path: Path) -> str:
    """Give the text of a regular file of at most `MAX_BYTES` bytes.

    Raises:
        InvalidNetworkError: where there is no such file, or it is not UTF-8 (place: `file`, `line`).
    """
    source = source_of(path)
    with named(source):
        raw = _read_bytes(source, MAX_BYTES)
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise InvalidNetworkError(
                f"line {line}: byte {error.start + 1} of the file is not UTF-8; save the file as UTF-8", line=line
            ) from None


def read_bytes(path: Path) -> bytes:
    """Give the bytes of a regular file of at most `MAX_MODEL_BYTES` bytes: a trained model.

    Raises:
        InvalidNetworkError: where there is no such file (place: `file`).
    """
    source = source_of(path)
    with named(source):
        return _read_bytes(source, MAX_MODEL_BYTES)


@contextmanager
def opened_archive(raw: bytes, form: str) -> Iterator[zipfile.ZipFile]:
    """Open a model's archive, of bounded size when unpacked, whose members are stored or deflated.

    Of BZIP2 and LZMA Python unpacks whole blocks, whatever size the archive declares: megabytes of each byte.

    Raises:
        InvalidNetworkError: for a damaged archive, also while it is read, or one of more than `MAX_MODEL_BYTES` bytes.
        UnsupportedError: for members that are packed otherwise, which the libraries do not write.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > MAX_MODEL_BYTES:
                raise InvalidNetworkError(f"unpacked, it has more than the stated size of {MAX_MODEL_BYTES:,} bytes")
            for member in members:
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    name = shown(member.filename)
                    raise UnsupportedError(f"{name} is packed neither stored nor deflated, which is not read")
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        reason = shown(str(error) or type(error).__name__)
        raise InvalidNetworkError(f"this is no readable {form} file ({reason})") from None


@checked
def write_network(net: Network, path: Path) -> None:
    """Write the network to the file at `path`, which is replaced as a whole or left untouched.

    Raises:
        InvalidNetworkError: for numbers beyond the sizes that can be read back (place: `layer`, `row`, `column`).
        UnsupportedError: for a domain that the format does not know.
        SemialgError: where the file cannot be written (place: `file`).
    """
    with named(source_of(path)):
        text = network_to_json(net)
    write_text(text, path)


def write_text(text: str, path: Path) -> None:
    """Write the text to the file at `path`, which is replaced as a whole or left untouched.

    Raises:
        SemialgError: where the file cannot be written (place: `file`).
    """
    _write(text, path)


def write_bytes(data: bytes, path: Path) -> None:
    """Write the bytes to the file at `path`, which is replaced as a whole or left untouched.

    Raises:
        SemialgError: where the file cannot be written (place: `file`).
    """
    _write(data, path)


def _write(data: str | bytes, path: Path) -> None:
    source = source_of(path)
    with named(source):
        try:
            with suppress(FileNotFoundError):
                _regular(os.stat(source).st_mode)  # os.replace would put a file in the place of /dev/null
            _replace(os.path.realpath(source), data.encode() if isinstance(data, str) else data)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SemialgError(f"the file cannot be written ({reason}); check the path and the disk") from None


def _read_bytes(source: str, most: int) -> bytes:
    try:
        _regular(os.stat(source).st_mode)
        # Without O_NONBLOCK a pipe that took the file's place in the meantime would make us wait for ever.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(source, flags), "rb") as file:
            status = os.fstat(file.fileno())
            _regular(status.st_mode)
            raw = file.read(status.st_size + 1) if status.st_size <= most else b""
            if len(raw) > status.st_size:  # it grows, or is one of /proc, which say 0
                raw += file.read(most + 1 - len(raw))
    except FileNotFoundError:
        raise InvalidNetworkError("there is no such file; check the path") from None
    except PermissionError:
        raise InvalidNetworkError("the file may not be read; check its permissions") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidNetworkError(f"the file cannot be read ({reason}); check the path") from None
    if status.st_size > most or len(raw) > most:
        raise InvalidNetworkError(
            f"the file has {max(status.st_size, len(raw)):,} bytes, more than the stated size of {most:,}; "
            "give a smaller network"
        )
    return raw


def _regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = "a directory" if stat.S_ISDIR(mode) else "a pipe, socket or device"
        raise InvalidNetworkError(f"this is {kind}; give the path of a file")


def _replace(target: str, data: bytes) -> None:
    """Write a new file beside the target, bring it to the disk, then let it take the target's place."""
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".semialg_fibers-{secrets.token_hex(8)}.tmp")
    # Not tempfile, whose files are for the owner only: mode 0o666 lets the umask decide.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    if os.name == "posix":  # the new name, too, should survive a power cut; some file systems cannot promise it
        with suppress(OSError):
            opened = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)
