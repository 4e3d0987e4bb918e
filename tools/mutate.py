"""Mutation testing: each small change of the code, alone, against the tests that run through it.

    python tools/mutate.py RECORD MODULE... [--tests PATH...] [--sample 100] [--seed 1] [--again]
    python tools/mutate.py RECORD                        the table, and every mutant that was not killed

MODULE is a file of the package. RECORD is a file of JSON lines, one for each mutant; a run continues where it ends, and
`--again` runs those mutants once more that were not killed. A mutant whose function has changed since is run anew.

pytest collects the tests once; then each test, and each mutant, has a process of its own, forked when everything is
imported. A mutant exchanges the code object of its function, so that properties and cached functions are mutated too.
Its tests are those that ran through a line of its statement, earlier killers first, then the quickest; the first
failure ends it. A test that takes much longer than without the mutant ends it as well (`timeout`). Tests that alone
need more than `SLOW` seconds are left out, random properties draw `EXAMPLES` examples, always the same ones.

tools/mutants.py says what is changed.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import importlib
import json
import os
import pkgutil
import random
import re
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]  # this copy, whatever is installed

import pytest  # noqa: E402
from mutants import ROOT, Address, Mutant, mutants_of  # noqa: E402

JUDGED = HERE / "judged_mutants.txt"
EXAMPLES = 10  # when the tests are measured
ALIVE = ("survived", "no test", "not installed")
NOT_RUN = re.compile(r"end \d")  # an error of this tool, not of a test: killed by nothing


def lives(outcome: str) -> bool:
    """Say whether a mutant with this outcome was not killed."""
    return outcome in ALIVE or NOT_RUN.match(outcome) is not None


# tests


def run_test(item: pytest.Item, seconds: float) -> str | None:
    """Run one test here; give what failed, or None. SIGPROF ends the process after `seconds` of computing."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    failed = None
    try:
        item.ihook.pytest_runtest_setup(item=item)
        item.ihook.pytest_runtest_call(item=item)
    except pytest.skip.Exception:
        pass
    except BaseException as error:  # whatever a mutant brings about
        failed = type(error).__name__
    with contextlib.suppress(BaseException):  # of this place, which makes no reports
        item.ihook.pytest_runtest_teardown(item=item, nextitem=None)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return failed


def apart(work: Callable[[], Any], seconds: float) -> tuple[Any, int]:
    """Run the work in a forked process of its own; give its answer (JSON) and the signal or code that ended it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_REAL, seconds)  # one that waits, for a worker perhaps, computes nothing
        os.setpgid(0, 0)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        with os.fdopen(writing, "w") as pipe:
            json.dump(work(), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return (json.loads(text) if code == 0 else None), code


def digest_of(file: str) -> str:
    """Tell versions of a file apart."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


class Mutation:
    """A plugin of pytest: instead of running the tests once, run the mutants."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        """Keep what was asked for."""
        self.chosen, self.record = chosen, chosen.record.absolute()
        self.asked: dict[int, int] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measure every test, then run every mutant that the record does not hold."""
        self.items, self.files = session.items, {str(ROOT / module): module for module in self.chosen.modules}
        self.draw(EXAMPLES)
        self.measure()
        self.draw(self.chosen.examples)
        before = read(self.record)
        for module in self.chosen.modules:
            mutants, killers = mutants_of(module), defaultdict[str, Counter[int]](Counter)
            chosen = sorted(mutants)
            if self.chosen.sample < len(chosen):
                chosen = random.Random(f"{self.chosen.seed} {module}").sample(chosen, self.chosen.sample)
            living = {key for key in mutants if key in before and lives(before[key]["outcome"])} - set(judged())
            if self.chosen.again:  # whatever is drawn now
                chosen += sorted(living - set(chosen))
            for key in chosen:
                if key not in before or (self.chosen.again and key in living):
                    self.one(key, mutants[key], killers[mutants[key].name])
        return True

    def draw(self, examples: int) -> None:
        """Let each random property draw at most so many examples, always the same ones."""
        from hypothesis import Phase, settings  # only when pytest has prepared its assertions

        for item in self.items:
            test = getattr(getattr(item, "obj", None), "__func__", getattr(item, "obj", None))
            if own := getattr(test, "_hypothesis_internal_use_settings", None):
                before = self.asked.setdefault(id(test), own.max_examples)
                test._hypothesis_internal_use_settings = settings(
                    own, max_examples=min(before, examples), derandomize=True, database=None,
                    phases=(Phase.explicit, Phase.generate), deadline=None,
                )  # fmt: skip

    def measure(self) -> None:
        """Note the time of each test, and the lines that it runs through; what is known from an earlier run is kept."""
        for module in pkgutil.walk_packages([str(ROOT / "semialg_fibers")], "semialg_fibers."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
        for name in ("sympy", "highspy", "networkx", "mpmath"):  # once, here, and not in each process
            importlib.import_module(name)
        self.living = defaultdict[Address, list[FunctionType]](list)
        for f in [f for f in gc.get_objects() if isinstance(f, FunctionType) and f.__code__.co_filename in self.files]:
            self.living[f.__code__.co_filename, f.__code__.co_qualname, f.__code__.co_firstlineno].append(f)
        gc.collect()
        gc.freeze()
        store = self.record.with_suffix(".tests")
        known = json.loads(store.read_text()) if store.exists() else {}
        before, files = known.pop("files", {}), {file: digest_of(file) for file in sorted(self.files)}
        changed = {file for file, digest in files.items() if before.get(file) != digest}
        if not files.keys() <= before.keys():
            known = {}  # nothing was noted about the lines of the other files
        for name, answer in list(known.items()):
            slow = isinstance(answer, str) and (answer == "timeout" or answer.endswith(" s"))
            if not slow and (isinstance(answer, str) or changed & set(answer[1])):
                del known[name]  # one that failed has perhaps been mended
        for item in self.items:
            if item.nodeid not in known:
                known[item.nodeid] = apart(lambda item=item: self.traced(item), 60)[0] or "timeout"  # type: ignore[misc]
                if not len(known) % 50:
                    store.write_text(json.dumps({"files": files, **known}))
        store.write_text(json.dumps({"files": files, **known}))
        self.through, self.seconds = defaultdict[tuple[str, int], set[int]](set), {}
        for number, item in enumerate(self.items):
            answer = known[item.nodeid]
            if isinstance(answer, str):
                print(f"left out: {item.nodeid}: {answer}")
                continue
            self.seconds[number] = answer[0]
            for place, lines in answer[1].items():
                for line in lines:
                    self.through[place, line].add(number)
        through = set().union(*self.through.values())
        print(f"{len(through)} of {len(self.items)} tests, {sum(self.seconds[n] for n in through):.0f} s", flush=True)

    def traced(self, item: pytest.Item) -> str | tuple[float, dict[str, list[int]]]:
        """Run a test; give its time and the lines that it ran through, or why it is left out."""
        lines: dict[str, set[int]] = defaultdict(set)

        def local(frame: FrameType, event: str, _: Any) -> Any:
            lines[frame.f_code.co_filename].add(frame.f_lineno)
            return local

        def trace(frame: FrameType, *_: Any) -> Any:
            return local(frame, *_) if frame.f_code.co_filename in self.files else None

        start = time.process_time()
        sys.settrace(trace)
        failed = run_test(item, 2 * self.chosen.slow)
        sys.settrace(None)
        seconds = time.process_time() - start
        if failed or seconds > self.chosen.slow:
            return failed or f"{seconds:.1f} s"
        return seconds, {file: sorted(found) for file, found in lines.items()}

    def one(self, key: str, mutant: Mutant, killers: Counter[int]) -> None:
        """Run one mutant and write its line."""
        tests = set().union(*(self.through[mutant.path, line] for line in mutant.lines))
        queue = sorted(tests, key=lambda number: (-killers[number], self.seconds[number]))
        longer, first = max(1, self.chosen.examples // EXAMPLES), self.chosen.first
        queue.sort(key=lambda number: not any(part in self.items[number].nodeid for part in first))
        start = time.monotonic()

        def work() -> Any:
            if not mutant.install(self.living):
                return ["not installed", 0, None]
            for count, number in enumerate(queue):
                if time.process_time() > self.chosen.longest:
                    return ["survived", count, None]
                if failed := run_test(self.items[number], 2 + 10 * self.seconds[number] * longer):
                    return [failed, count + 1, number]
            return ["survived", len(queue), None]

        answer, code = apart(work, 60) if queue else (["no test", 0, None], 0)
        ended = "timeout" if -code in (signal.SIGPROF, signal.SIGALRM) else f"end {code}"
        outcome, count, killer = answer or [ended, -1, None]
        if killer is not None:
            killers[killer] += 1
        line = {
            "key": key, "line": mutant.line, "change": mutant.text, "outcome": outcome,
            "tests": f"{count} of {len(queue)}", "killer": None if killer is None else self.items[killer].nodeid,
            "seconds": round(time.monotonic() - start, 2),
        }  # fmt: skip
        with self.record.open("a", encoding="utf-8") as stream:
            print(json.dumps(line, ensure_ascii=False), file=stream)


# the record


def read(record: Path) -> dict[str, dict[str, Any]]:
    """Give the last line of each mutant whose function is still the same."""
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    known = {line["key"]: line for line in map(json.loads, lines)}
    return {key: line for key, line in known.items() if key in current(key.split()[0])}


@cache
def current(module: str) -> dict[str, Mutant]:
    """Give the mutants of a file as it is."""
    return mutants_of(module)


@cache
def judged() -> dict[str, str]:
    """Give what was found out by reading about mutants that no test kills: key → class and reason."""
    return dict(line.split(" | ", 1) for line in JUDGED.read_text(encoding="utf-8").splitlines())


def table(record: Path) -> None:
    """Print every mutant that was not killed, and the figures by module."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for key, line in read(record).items():
        module, alive = key.split()[0], lives(line["outcome"])
        why = judged().get(key, line["outcome"])
        counts[module][why.split(":")[0] if alive else "killed"] += 1
        if alive:
            print(f"{module}:{current(module)[key].line}: {why}, {line['tests']} tests: {line['change']}   [{key}]")
    every = sum(counts.values(), Counter[str]())
    for module, count in [*counts.items(), ("in all", every)]:
        of = f" of {len(current(module))}" if module in counts else ""
        rest = [f"{number} {what}" for what, number in sorted(count.items()) if what != "killed"]
        share = f"{count['killed']} killed ({count['killed'] / max(count.total(), 1):.1%})"
        print(f"{module}: {count.total()} mutants{of}: {', '.join([share, *rest])}")


def main() -> int:
    """Run the mutants, or print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("record", type=Path)
    parser.add_argument("modules", nargs="*")
    parser.add_argument(
        "--tests", nargs="*", default=["tests/fibers", "tests/geometry", "tests/questions", "tests/laws"]
    )
    parser.add_argument("--sample", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=int, default=EXAMPLES)
    parser.add_argument("--slow", type=float, default=1)
    parser.add_argument("--longest", type=float, default=4)
    parser.add_argument("--first", nargs="*", default=[], help="parts of the names of tests that run first")
    parser.add_argument("--again", action="store_true")
    chosen = parser.parse_args()
    if chosen.modules:
        os.chdir(ROOT)
        plugin = Mutation(chosen)
        options = ["-q", "-q", "-s", "-p", "no:cacheprovider"]
        code = pytest.main([*options, *chosen.tests, *chosen.modules], plugins=[plugin])
        if code:
            return int(code)
    table(chosen.record.absolute())
    return 0


if __name__ == "__main__":
    sys.exit(main())
