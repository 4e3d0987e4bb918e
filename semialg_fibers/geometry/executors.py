"""Where chunks of an enumeration are worked on: other processes of this machine, or a Dask cluster.

Main results
    process_pool     how to make a pool of processes that end with their parent
    dask_cluster     a running Dask cluster as an executor

Any other `concurrent.futures.Executor` serves as well.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process

from semialg_fibers.errors import InvalidNetworkError, SemialgError, UnsupportedError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import shown


@checked
def process_pool(workers: int) -> Callable[[], Executor]:
    """Give a function that makes a pool of so many processes; a pool whose process died can so be made again.

    Raises:
        InvalidNetworkError: for a number of workers that is not positive.
    """
    if workers < 1:
        raise InvalidNetworkError(f"the number of workers is at least 1, got {shown(workers)}", value=workers)
    return partial(_make_pool, workers)


def _make_pool(workers: int) -> Executor:
    # Fresh interpreters: a fork would copy the threads' locks of a progress bar, and warns where there are threads.
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin)


def _begin() -> None:
    """Leave Ctrl-C to the parent, and end when the parent has ended, however it did."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def discard(pool: Executor, at_once: bool) -> None:
    """Shut a pool down; `at_once`: stop its processes in the middle of their chunks."""
    # ProcessPoolExecutor.terminate_workers exists from Python 3.14 only.
    processes = list((getattr(pool, "_processes", None) or {}).values()) if at_once else []
    pool.shutdown(wait=not at_once, cancel_futures=True)
    for process in processes:
        process.terminate()


@checked
@contextmanager
def dask_cluster(address: str) -> Iterator[Executor]:
    """Give the workers of the Dask scheduler at `address` (such as tcp://127.0.0.1:8786) as an executor.

    Dask itself gives the chunks of a worker that died to others.

    Raises:
        UnsupportedError: where Dask is not installed.
        SemialgError: where no scheduler answers (place: `address`).
    """
    try:
        from distributed import Client
    except ImportError:
        raise UnsupportedError("a Dask cluster needs: pip install 'semialg-fibers[dask]'") from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise SemialgError(
            f"no Dask scheduler answers at {address} ({error}); check the address", address=address
        ) from None
    try:
        yield client.get_executor()
    finally:
        client.close()
