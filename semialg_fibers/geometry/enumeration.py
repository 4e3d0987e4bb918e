"""Finite families in a fixed order: worked on in chunks, anywhere, resumable; the same answer in the same order.

Main definitions
    Family       inputs in a fixed order, cut into numbered chunks, and the work to be done on a chunk
    Runner       where the chunks are worked on, what is kept of them, how often a failure is tried again
    Progress     how far a run is, and an estimate of the rest

Main results
    Runner.run   the results of all chunks, in order, whatever the executor

Results are JSON values, so that a checkpoint can hold them; inputs are pickled, exact matrices among them. Only
`window` chunks are on their way at a time: memory does not grow with the number of chunks.
"""

from __future__ import annotations

import copyreg
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from flint import fmpq_mat, fmpz_mat, nmod_mat

from semialg_fibers.errors import InvalidNetworkError, SemialgError
from semialg_fibers.geometry.arguments import checked_methods
from semialg_fibers.geometry.checkpoint import Checkpoint
from semialg_fibers.geometry.executors import discard
from semialg_fibers.geometry.scalar import shown


def _reduce(matrix: Any) -> tuple[Any, ...]:
    """Give kind and entries of a flint matrix; flint pickles its numbers, but not its matrices."""
    shape = matrix.nrows(), matrix.ncols()
    if isinstance(matrix, nmod_mat):
        return nmod_mat, (*shape, [int(value) for value in matrix.entries()], int(matrix.modulus()))
    return type(matrix), (*shape, matrix.entries())


for _kind in (fmpz_mat, fmpq_mat, nmod_mat):
    copyreg.pickle(_kind, _reduce)


@dataclass(frozen=True)
class Family:
    """The chunks work(inputs[0:size]), work(inputs[size:2 size]), ...: chunk i is the same in every run.

    `name` says what is enumerated; `source` is a text that determines the inputs, such as a network's JSON. `work` is a
    function of a module, from a tuple of inputs to a JSON value. `inputs` may be any sequence that computes its members
    when asked, such as a range. `fits` tells whether a value from a checkpoint has the shape of a result.

    >>> Family("squares", "0..9", range(10), _sum_of_squares, size=4).chunk(2)
    (8, 9)
    """

    name: str
    source: str
    inputs: Sequence[Any]
    work: Callable[[tuple[Any, ...]], Any]
    size: int = 1
    fits: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        """Check the size of a chunk.

        Raises:
            InvalidNetworkError: for a size that is not positive.
        """
        if self.size < 1:
            raise InvalidNetworkError(f"a chunk has at least 1 input, got size {self.size}", value=self.size)

    @property
    def chunk_count(self) -> int:
        """The number of chunks."""
        return -(-len(self.inputs) // self.size)

    def chunk(self, number: int) -> tuple[Any, ...]:
        """Give the inputs of a chunk."""
        return tuple(self.inputs[number * self.size : (number + 1) * self.size])

    @property
    def fingerprint(self) -> str:
        """A hash of what determines the result of every chunk."""
        told = [self.source, len(self.inputs), self.size, self.work.__module__, self.work.__qualname__]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()


@dataclass(frozen=True)
class Progress:
    """`done` of `total` chunks are complete, `before` of them since an earlier run; this one has taken `seconds`."""

    done: int
    total: int
    before: int
    seconds: float

    @property
    def remaining(self) -> float | None:
        """The seconds that the rest takes at the pace of this run; None while this run has finished no chunk.

        >>> Progress(done=30, total=40, before=20, seconds=5.0).remaining
        5.0
        """
        if self.done == self.before:
            return None
        return self.seconds / (self.done - self.before) * (self.total - self.done)


@checked_methods("__init__")
@dataclass(frozen=True)
class Runner:
    """How a family is worked through.

    `executor`: None for this process; any `concurrent.futures.Executor`; or a function that makes one, as
    `process_pool` gives, which is then shut down at the end and made again when one of its processes died.
    `checkpoint`: the path of a file that keeps complete chunks. `retries`: how often a failing chunk is tried again.
    `window`: how many chunks are on their way at a time. `watch` is told the progress.

    >>> Runner().results(Family("squares", "0..9", range(10), _sum_of_squares, size=4))
    [14, 126, 145]
    """

    executor: Executor | Callable[[], Executor] | None = None
    checkpoint: str | os.PathLike[str] | None = None
    retries: int = 2
    window: int = 16
    watch: Callable[[Progress], None] | None = None

    def results(self, family: Family) -> list[Any]:
        """Give the results of all chunks as a list."""
        return list(self.run(family))

    def run(self, family: Family) -> Iterator[Any]:
        """Yield the result of every chunk, in order.

        Interrupted in any way, a run with a checkpoint can be repeated and does only what is missing.

        Raises:
            SemialgError: where the work itself refuses; where a chunk fails `retries` + 1 times (`.chunk`, `.inputs`);
                where the checkpoint cannot be written.
            InvalidNetworkError: where the checkpoint belongs to other input, or is damaged.
        """
        with ExitStack() as stack:
            store = None
            if self.checkpoint is not None:
                opened = Checkpoint(self.checkpoint, family.name, family.fingerprint, family.chunk_count)
                store = stack.enter_context(opened)
            run = _Run(self, family, store)
            yield from run.here() if self.executor is None else run.elsewhere(self.executor)


class _Run:
    """One passage through a family."""

    def __init__(self, runner: Runner, family: Family, store: Checkpoint | None) -> None:
        self.runner, self.family, self.store = runner, family, store
        self.total = family.chunk_count
        self.before = self.done = 0 if store is None else store.count
        self.start = time.monotonic()
        self.attempts: dict[int, int] = {}  # of chunks that have failed and are not complete
        self._tell()

    def _tell(self) -> None:
        if self.runner.watch is not None:
            self.runner.watch(Progress(self.done, self.total, self.before, time.monotonic() - self.start))

    def _kept(self, number: int) -> str | None:
        text = None if self.store is None else self.store.get(number)
        if text is None or self.store is None:
            return None
        try:
            value = json.loads(text)
            fits = self.family.fits is None or self.family.fits(value)
        except (ValueError, RecursionError):  # no JSON, numbers of too many digits, or nested too deeply
            fits = False
        if not fits:
            raise self.store.damaged(number)
        return text

    def _complete(self, number: int, text: str) -> str:
        if self.store is not None:
            self.store.put(number, text)
        self.attempts.pop(number, None)
        self.done += 1
        self._tell()
        return text

    def _failed(self, number: int, error: Exception) -> None:
        """Count a failure; raise when it is an answer, or one too many."""
        if isinstance(error, SemialgError):
            raise error
        tried = self.attempts[number] = self.attempts.get(number, 0) + 1
        if tried > self.runner.retries:
            inputs = self.family.chunk(number)
            raise SemialgError(
                f"chunk {number + 1} of {self.total} of {self.family.name} failed {tried} times, the last time with "
                f"{type(error).__name__}: {error}; its input is {shown(inputs)}",
                chunk=number,
                inputs=inputs,
            ) from error

    def here(self) -> Iterator[Any]:
        """Work in this process."""
        for number in range(self.total):
            text = self._kept(number)
            while text is None:
                try:
                    text = _perform(self.family.work, self.family.chunk(number))
                except Exception as error:
                    self._failed(number, error)
                else:
                    self._complete(number, text)
            yield json.loads(text)

    def elsewhere(self, executor: Executor | Callable[[], Executor]) -> Iterator[Any]:
        """Work on an executor."""
        self.make = None if isinstance(executor, Executor) else executor
        self.pool = executor if isinstance(executor, Executor) else executor()
        self.pending: dict[Future[str], int] = {}
        finished = False
        try:
            yield from self._in_order()
            finished = True
        finally:
            for future in self.pending:
                future.cancel()
            if self.make is not None:
                discard(self.pool, at_once=not finished)

    def _in_order(self) -> Iterator[Any]:
        ready: dict[int, str] = {}
        coming = 0  # the next chunk to be handed out
        for number in range(self.total):
            while number not in ready:
                while coming < self.total and len(self.pending) + len(ready) < max(1, self.runner.window):
                    text = self._kept(coming)
                    if text is None:
                        self._submit(coming)
                    else:
                        ready[coming] = text
                    coming += 1
                if number not in ready:
                    self._collect(ready)
            yield json.loads(ready.pop(number))

    def _submit(self, number: int) -> None:
        try:
            future = self.pool.submit(_perform, self.family.work, self.family.chunk(number))
        except BrokenExecutor as error:  # noticed before a result has told
            future = Future()
            future.set_exception(error)
        self.pending[future] = number

    def _collect(self, ready: dict[int, str]) -> None:
        finished, _ = wait(self.pending, return_when=FIRST_COMPLETED)
        broken: BrokenExecutor | None = None
        again = []
        for future in sorted(finished, key=lambda future: self.pending[future]):
            number = self.pending.pop(future)
            error = future.exception()
            if error is None:
                ready[number] = self._complete(number, future.result())
            elif isinstance(error, BrokenExecutor):
                broken = error
                again.append(number)
            elif isinstance(error, Exception):
                self._failed(number, error)
                self._submit(number)
            else:
                raise error
        if broken is not None:
            self._one_by_one(sorted([*again, *self.pending.values()]), broken, ready)

    def _one_by_one(self, numbers: list[int], error: BrokenExecutor, ready: dict[int, str]) -> None:
        """A process died and its pool with it: try the chunks that were on their way alone, to see which kills."""
        wait(self.pending)  # a broken pool ends them all, some perhaps with a result
        for future, number in list(self.pending.items()):
            if future.exception() is None:
                ready[number] = self._complete(number, future.result())
                numbers.remove(number)
        self.pending.clear()
        if self.make is None:
            raise SemialgError(
                f"the executor is broken ({error}); it worked on chunks {', '.join(str(n + 1) for n in numbers)} of "
                f"{self.family.name}; give a function that makes executors to have it made again",
                chunk=numbers[0],
                inputs=self.family.chunk(numbers[0]),
            ) from error
        self._renew()
        for number in numbers:
            while number not in ready:
                try:
                    text = self.pool.submit(_perform, self.family.work, self.family.chunk(number)).result()
                except BrokenExecutor as failure:
                    self._renew()
                    self._failed(number, failure)
                except Exception as failure:
                    self._failed(number, failure)
                else:
                    ready[number] = self._complete(number, text)

    def _renew(self) -> None:
        assert self.make is not None
        discard(self.pool, at_once=True)
        self.pool = self.make()


def _perform(work: Callable[[tuple[Any, ...]], Any], inputs: tuple[Any, ...]) -> str:
    """Work on a chunk, wherever it has travelled; give the result as JSON."""
    return json.dumps(work(inputs))


def _sum_of_squares(inputs: tuple[int, ...]) -> int:
    """Serve the examples above."""
    return sum(value * value for value in inputs)
