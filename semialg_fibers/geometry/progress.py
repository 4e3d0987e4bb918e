"""A progress bar on a terminal, nothing in a pipe.

Main results
    bar      what a `Runner` may tell its progress to
    clock    a duration for people
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from semialg_fibers.geometry.enumeration import Progress


def clock(seconds: float | None) -> str:
    """Give hours, minutes and seconds.

    >>> clock(3725.2), clock(9.6), clock(None)
    ('1:02:05', '0:10', 'unknown')
    """
    if seconds is None:
        return "unknown"
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


@contextmanager
def bar(what: str) -> Iterator[Callable[[Progress], None] | None]:
    """Give a function that draws the progress on stderr: chunks, and the rest at the pace of this run; None in a pipe.

    Chunks of an earlier run, read from a checkpoint, fill the bar but do not count for the pace.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("about {task.fields[left]} left"))
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=None, left=clock(None))
        yield lambda seen: bars.update(task, completed=seen.done, total=seen.total, left=clock(seen.remaining))
