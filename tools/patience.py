"""A limit of computing time that nothing swallows. POSIX, main thread."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any


class OutOfTime(BaseException):
    """The time is over. No Exception, so that `except Exception` and `except OSError` let it pass."""


def within(seconds: float, work: Callable[..., Any], *arguments: Any) -> Any:
    """Give work(*arguments), or raise `OutOfTime`, also where the time ends while the answer is handed back."""
    signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return work(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _out_of_time(*_: Any) -> None:
    raise OutOfTime
