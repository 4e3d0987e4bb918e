"""What the commands share with the terminal: networks by name, output, progress, where long enumerations run.

Main definitions
    load           the network that a file or gallery:NAME holds
    emit           text to stdout, or to a file as a whole
    runner         where an enumeration runs: here, in processes, on a cluster, kept in a checkpoint
    watched        a progress bar on a terminal, nothing in a pipe
    refuse_starvation   a sentence and exit code 2 where FLINT gets no memory, instead of its abort

References: the contract's command line in docs/conventions.md.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from semialg_fibers import gallery
from semialg_fibers.exchange.files import read_network, write_text
from semialg_fibers.networks.layer import Network

PREFIX = "gallery:"


def load(source: str) -> Network:
    """Give the network of a path or of gallery:NAME."""
    return gallery.network(source.removeprefix(PREFIX)) if source.startswith(PREFIX) else read_network(source)


def emit(text: str, output: str | None) -> None:
    """Write the text to stdout, or to the file as a whole."""
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(text, output)


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
    with bar(what) as watch:
        if dask is None:
            yield Runner(None if workers is None else process_pool(workers), checkpoint, watch=watch)
        else:
            with dask_cluster(dask) as cluster:
                yield Runner(cluster, checkpoint, watch=watch)


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
