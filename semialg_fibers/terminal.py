"""What the commands share with the terminal: networks by name, output, progress, where long enumerations run.

Main definitions
    load           the network that a file or gallery:NAME holds
    emit           text to stdout, or to a file as a whole
    runner         where an enumeration runs: here, in processes, on a cluster, kept in a checkpoint
    watched        a progress bar on a terminal, nothing in a pipe
    chosen_form    what to write, as stated or by the ending of the file's name
    of_kind        a file's name with one of the endings that a command writes
    in_commands    a sentence whose advice is for Python, with what to do on the command line instead
    refuse         one line on stderr, and the exit code
    terminate      SIGTERM as an exception, `Terminated`
    steady_output  stdout so that nothing is lost in silence
    refuse_starvation   a sentence and exit code 2 where FLINT gets no memory, instead of its abort

References: the contract's command line in docs/conventions.md.
"""

from __future__ import annotations

import ctypes
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from semialg_fibers import gallery
from semialg_fibers.errors import LONGEST, InvalidNetworkError
from semialg_fibers.exchange.files import read_network, write_text
from semialg_fibers.geometry.scalar import shown
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    from semialg_fibers.geometry.enumeration import Progress

PREFIX = "gallery:"

# Advice for Python → what to do on the command line.
_ADVICE: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"substitute values for (.+?), as in net\.subs\(\{\.\.\.\}\)", r"write values for \1 in the network file"),
    (r"put numbers in with \.subs of the component first", "write numbers for them in the network file"),
    (
        r'declare (it|a letter for it), as in Symbol\("(\w+)", positive=True\), or substitute (a number|numbers)',
        r'declare \1 in the network file, as in "symbols": {"\2": "positive"}, or write \3 there',
    ),
    (
        "substitute numbers, or ask the components for their dimensions",
        "write numbers in the network file; the command fiber shows the dimension of each component",
    ),
    (r"order=\[\.\.\.\]", "--order A,B,..."),
    (
        r"order=\[('[\w.-]+'(?:, '[\w.-]+')*+)\]",
        lambda found: f"--order {','.join(found[1].split(', '))}".replace("'", ""),
    ),
    ("with logits=True", "with --logits"),
    ("root_bits=53", "--root-bits 53"),
    (r"`check\(budget=\.\.\.\)`, or by the option --budget", "the option --budget"),
    ("; plane=", "; in Python, plane="),
    (": restrict it to a plane", "; --kind arrangement restricts it to one"),
    ("span no plane: state one", "span no plane; in Python, plot_arrangement takes another one"),
)


def load(source: str) -> Network:
    """Give the network of a path or of gallery:NAME."""
    return gallery.network(source.removeprefix(PREFIX)) if source.startswith(PREFIX) else read_network(source)


def emit(text: str, output: str | None) -> None:
    """Write the text to stdout, or to the file as a whole."""
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(text, output)


def chosen_form(form: str | None, output: str | None, endings: Mapping[str, str]) -> str:
    """Give the format that is stated, else the one of the file's ending; text on stdout and for any other ending."""
    return form or endings.get(os.path.splitext(output or "")[1].lower(), "text")


def of_kind(output: str, what: str, endings: Sequence[str]) -> str:
    """Give the file's name, which has one of the endings.

    Raises:
        InvalidNetworkError: for another ending, or none.
    """
    if os.path.splitext(output)[1].lower() not in endings:
        known = ", ".join(endings[:-1]) + " or " * (len(endings) > 1) + endings[-1]
        raise InvalidNetworkError(f"the name of {what} ends in {known}, got {shown(output)}", file=output)
    return output


def in_commands(told: Any) -> Any:
    """Give a sentence, or what holds sentences, with advice for Python replaced by what the command line offers.

    >>> in_commands({"reason": "this needs numbers: substitute values for a, b, as in net.subs({...})"})
    {'reason': 'this needs numbers: write values for a, b in the network file'}
    """
    if isinstance(told, dict):
        return {key: in_commands(value) for key, value in told.items()}
    if isinstance(told, list | tuple):
        return [in_commands(value) for value in told]
    if isinstance(told, str):
        for pattern, advice in _ADVICE:
            told = re.sub(pattern, advice, told)
    return told


def refuse(sentence: str) -> int:
    """Say on stderr in one line why a command is refused; give the exit code."""
    words = " ".join(in_commands(sentence).split())
    if len(words) > LONGEST:  # click repeats an argument whole
        words = f"{words[:LONGEST]}... ({len(words):,} characters)"
    with suppress(OSError):  # nobody may be reading; the exit code still tells
        click.echo(f"error: {words}", err=True)
    return 2


def enumerating(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of long enumerations."""
    checkpoint = click.option("--checkpoint", metavar="FILE", help="Keep what is found; the same command resumes.")
    dask = click.option("--dask", metavar="ADDRESS", help="Work on the cluster of this Dask scheduler.")
    workers = click.option("--workers", type=int, metavar="N", help="Work in so many processes.")
    return workers(dask(checkpoint(command)))


@contextmanager
def runner(what: str, workers: int | None, dask: str | None, checkpoint: str | None) -> Iterator[Any]:
    """Give where an enumeration runs, with a progress bar on a terminal.

    Raises:
        click.UsageError: for processes and a cluster at once.
    """
    from semialg_fibers.geometry.enumeration import Runner
    from semialg_fibers.geometry.executors import dask_cluster, process_pool
    from semialg_fibers.geometry.progress import bar

    if workers is not None and dask is not None:
        raise click.UsageError("--workers and --dask exclude each other.")
    begun = []
    with bar(what) as draw:

        def watch(seen: Progress) -> None:
            begun.append(seen.total)
            if draw is not None:
                draw(seen)

        if dask is None:
            yield Runner(None if workers is None else process_pool(workers), checkpoint, watch=watch)
        else:
            with dask_cluster(dask) as cluster:
                yield Runner(cluster, checkpoint, watch=watch)
    if checkpoint is not None and not begun:
        click.echo("note: nothing had to be enumerated, so that the checkpoint was not used", err=True)


@contextmanager
def watched(what: str) -> Iterator[Callable[[int], None] | None]:
    """Give a function to be told how many have been looked at: a bar on a terminal, None in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.completed:,} {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda count: bar.update(task, completed=count)


class Terminated(BaseException):
    """SIGTERM arrived."""


def terminate(signum: int, frame: FrameType | None) -> None:
    """Handle SIGTERM."""
    raise Terminated


def steady_output() -> None:
    """Let writing to stdout fail where it cannot be written, instead of losing data in silence."""
    if sys.stdout is None:  # closed: let writing fail as on a full disk
        sys.stdout = open(os.devnull)  # noqa: SIM115
    elif isinstance(sys.stdout, io.TextIOWrapper):
        # PYTHONUNBUFFERED: what a full disk does not take of one write would be lost in silence.
        if isinstance(sys.stdout.buffer, io.RawIOBase):
            sys.stdout = open(sys.stdout.fileno(), "w", encoding=sys.stdout.encoding, closefd=False)  # noqa: SIM115
        # An encoding without ≥ shows it as \u2265, which JSON can read.
        sys.stdout.reconfigure(errors="backslashreplace")


def forget_output() -> None:
    """Lead stdout nowhere: Python's own flush at exit must not fail again, which would be a traceback and exit 120."""
    with suppress(OSError, ValueError):  # a stdout without a descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# FLINT's own handler prints and aborts (exit 134); it cannot raise in Python. This one may not return either.
_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


def _end(kind: int, message: bytes, values: int) -> None:
    reason = "MemoryError" if b"memory" in message else "a computation failed in FLINT"
    os.write(2, f"error: the input is too large for this machine ({reason})\n".encode())
    os._exit(2)


_END = _HANDLER(_end)  # kept: FLINT holds only its address


def refuse_starvation() -> None:
    """End the process with one sentence and exit code 2 where FLINT is refused memory.

    Nothing is half-written: files appear by renaming. Where FLINT takes no handler, it aborts the process as before.
    """
    from flint.types import fmpz  # its library is linked with FLINT's

    with suppress(OSError, AttributeError):
        ctypes.CDLL(fmpz.__file__).flint_set_throw(_END)
