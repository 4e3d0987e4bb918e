"""Mutated inputs for every reader: each is read, or refused by a documented error in one short line.

    python tools/fuzz.py [--inputs 100000] [--first 0] [--seed 1] [--only KIND] [--record FILE]
    python tools/fuzz.py --seed SEED --first NUMBER --inputs 1        one input again, shown with its outcome

Valid inputs of every kind are changed: texts and the trees that they write, bytes of files, their parts, headers,
tables and declared sizes. Whatever is read is then used: certificates and proofs are checked, sets written again,
enumerations finished from their checkpoint, with the right answer. A fault is any other outcome: another exception, a
long message, a warning or a line printed by a library, a process that dies, more than `PATIENCE` seconds of computing,
more than `GROWTH` bytes of memory for one input, code, processes or connections started, files touched outside.

An input is determined by the seed and its number (but for what SQLite and h5py draw themselves). Blocks of `BLOCK`
inputs run one after the other in a process of their own; with a record (JSON lines, one for each block) a run that was
stopped goes on where it was. Exit 1 when there is a fault. What is not installed of torch, onnx, keras and scikit-learn
is left out, and said. POSIX only.
"""

from __future__ import annotations

import argparse
import gc
import json
import mmap
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fuzz_checkpoints import checkpoint_kinds
from fuzz_files import file_kinds
from fuzz_models import model_kinds
from fuzz_objects import object_kinds
from fuzz_text import Kind, text_kinds
from patience import OutOfTime, within

from semialg_fibers.errors import SemialgError
from semialg_fibers.exchange.chain import ExchangeNote
from semialg_fibers.geometry.arguments import _kind

PATIENCE = 20  # seconds of computing for one input
HANGING = 120  # seconds without computing
LONGEST = 1_000  # characters of a message
GROWTH = 300 * 2**20  # bytes that one input may add to the peak of the memory in use
MOST = 3 * 2**30  # bytes of data beyond what the process has at the start
BLOCK = 5_000
WATCHED = {
    "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "subprocess.Popen", "pty.spawn",
    "socket.connect", "socket.getaddrinfo", "urllib.Request", "ctypes.dlopen", "code.__new__", "webbrowser.open",
}  # fmt: skip
CHANGING = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink", "shutil.rmtree"}


def outcome(read: Callable[[Any], Any], value: Any) -> str:
    """Give "read" or the name of a documented error; anything else begins with "FAULT"."""
    try:
        read(value)
        return "read"
    except SemialgError as error:
        one_line = error.message and "\n" not in error.message and len(error.message) <= LONGEST
        return type(error).__name__ if one_line else f"FAULT: the message is {error.message[:2000]!r}"
    except Exception:
        return f"FAULT: {''.join(traceback.format_exception(sys.exception(), limit=-4))[-1500:]}"


def all_kinds(folder: Path) -> list[Kind]:
    """Give every kind for which the packages are there."""
    makers = [text_kinds, file_kinds, checkpoint_kinds, object_kinds, model_kinds]
    return [kind for make in makers for kind in make(folder)]


def drawn(kinds: list[Kind], seed: int, number: int) -> tuple[Kind, Any]:
    """Give the kind and the input with this number."""
    rng = random.Random(f"{seed} {number}")
    kind = rng.choices(kinds, [each.share for each in kinds])[0]
    return kind, kind.changed(rng, rng.choice(kind.valid))


# what is watched beside the outcome


class Watch:
    """What one input does beside its outcome: warnings, printing, memory, and what the audit events of Python show."""

    def __init__(self, folder: Path, printed: Any) -> None:
        """Watch this process, which works in `folder` and prints to this file."""
        self.seen: list[str] = []
        self.printed, self.folder, self.on = printed, str(folder), False
        self.size, self.peak = 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        warnings.simplefilter("always")
        warnings.showwarning = self._warned  # type: ignore[assignment]
        sys.addaudithook(self._event)

    def _warned(self, message: Any, category: type[Warning], *_: Any) -> None:
        if self.on and not issubclass(category, ExchangeNote):
            self.seen.append(f"warning {category.__name__}: {message!s:.200}")

    def _event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in WATCHED:
            self.seen.append(f"{event} {arguments!r:.200}")
        elif event in CHANGING and not self._inside(arguments[0]):
            self.seen.append(f"{event} {arguments[0]!r:.200}")
        elif event == "open" and not self._inside(arguments[0]) and not isinstance(arguments[0], int):
            if "outside" in str(arguments[0]) or (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR):
                self.seen.append(f"opened {arguments[0]!r:.200}")
        elif event == "exec" and arguments[0].co_filename in ("<string>", "<unknown>"):
            if sys._getframe(1).f_code is _kind.__code__:  # the package reads its own annotations, once
                return
            self.seen.append(f"exec {arguments[0].co_names!r:.200}")

    def _inside(self, path: Any) -> bool:
        return isinstance(path, str | bytes | os.PathLike) and os.path.realpath(os.fsdecode(path)).startswith(
            self.folder
        )

    def begin(self) -> None:
        """Watch what comes."""
        self.on, self.peak = True, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def end(self) -> str:
        """Give what has been seen since the beginning, "" when that is nothing."""
        self.on = False
        size = os.fstat(self.printed.fileno()).st_size
        if size != self.size:
            self.printed.seek(self.size)
            self.seen.append(f"printed {self.printed.read(2000)!r}")
            self.size = size
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if (peak - self.peak) * 1024 > GROWTH:
            self.seen.append(f"{(peak - self.peak) >> 10} MB of memory")
            with suppress(OSError):
                Path("/proc/self/clear_refs").write_text("5")  # a peak that hides no later one
        told, self.seen = "; ".join(self.seen), []
        return told


def worked(kinds: list[Kind], seed: int, numbers: range, folder: Path, reached: Any, show: bool) -> dict[str, Any]:
    """Read the inputs with these numbers; give counts, faults, peak memory and seconds, as JSON."""
    counts: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    faults: list[list[Any]] = []
    with open(folder / "printed", "w+b", buffering=0) as printed:
        out = os.dup(1)
        for descriptor in (1, 2):
            os.dup2(printed.fileno(), descriptor)
        watch = Watch(folder, printed)
        first = watch.peak
        for number in numbers:
            reached[:8] = number.to_bytes(8, "little")
            kind, value = drawn(kinds, seed, number)
            sys.set_int_max_str_digits(0 if number % 2 else 4300)  # as the command line has it, as Python has it
            start = time.process_time()
            watch.begin()
            try:
                found = within(PATIENCE, outcome, kind.read, value)
            except OutOfTime:
                found = f"FAULT: more than {PATIENCE} s"
            beside = watch.end()
            seconds[kind.name] += time.process_time() - start
            if beside:
                found = f"FAULT: {beside}; {found}"
            counts[f"{kind.name}: {found.split(':')[0]}"] += 1
            if found.startswith("FAULT"):
                faults.append([number, kind.name, found, f"{value!r:.1500}"])
            if show:
                os.write(out, f"{number} {kind.name}: {found}\n{value!r:.20000}\n".encode(errors="replace"))
    return {
        "seed": seed, "first": numbers.start, "inputs": len(numbers), "counts": dict(sorted(counts.items())),
        "faults": faults, "seconds": {name: round(value, 2) for name, value in sorted(seconds.items())},
        "grown_mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - first) >> 10,
    }  # fmt: skip


def _bounded() -> None:
    if os.path.exists("/proc/self/status"):
        told = Path("/proc/self/status").read_text()
        now = int(told.split("VmData:")[1].split()[0]) * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (now + MOST, now + MOST))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# processes


def in_processes(kinds: list[Kind], seed: int, numbers: range, folder: Path, show: bool) -> Iterator[dict[str, Any]]:
    """Yield what the process found that worked on these numbers; where it died, on those before and after."""
    reached = mmap.mmap(-1, 8)
    answer = folder / "answer.json"
    answer.unlink(missing_ok=True)
    gc.freeze()  # what is there is shared between the processes
    child = os.fork()
    if not child:
        code, errors = 1, os.dup(2)
        try:
            told = json.dumps(worked(kinds, seed, numbers, folder, reached, show))
            answer.write_text(told, encoding="utf-8")
            code = 0
        except BaseException:  # of this tool, for readers' are outcomes
            os.write(errors, traceback.format_exc().encode(errors="replace"))
        finally:
            os._exit(code)
    status, before, since = 0, -1, time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        now = int.from_bytes(reached[:8], "little")
        if now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > HANGING:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            break
        time.sleep(0.02)
    if status == 0 and answer.exists():
        yield json.loads(answer.read_text(encoding="utf-8"))
        return
    at = int.from_bytes(reached[:8], "little")
    if os.WIFEXITED(status):
        raise SystemExit(f"this tool failed at input {at} of seed {seed}, as told above")
    yield from in_processes(kinds, seed, range(numbers.start, at), folder, show) if at > numbers.start else ()
    kind, value = drawn(kinds, seed, at)
    fault = [at, kind.name, f"FAULT: the process ended with {os.waitstatus_to_exitcode(status)}", f"{value!r:.1500}"]
    yield {"seed": seed, "first": at, "inputs": 1, "counts": {f"{kind.name}: FAULT": 1}, "faults": [fault]}
    yield from in_processes(kinds, seed, range(at + 1, numbers.stop), folder, show) if at + 1 < numbers.stop else ()


def main() -> int:
    """Read mutated inputs; show what is not documented."""
    parser = argparse.ArgumentParser(description="Mutated inputs for every reader.")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="names of kinds, with commas; all unless given")
    parser.add_argument(
        "--record", type=Path, help="JSON lines, one for each block; blocks that stand there are left out"
    )
    given = parser.parse_args()
    given.record = given.record and given.record.resolve()
    stood = [json.loads(line) for line in _lines(given.record)]
    done = {number for block in stood for number in range(block["first"], block["first"] + block["inputs"])}
    counts, seconds, faults = Counter[str](), Counter[str](), 0
    base = Path(tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)).resolve()
    try:
        folder = base / "inside"
        folder.mkdir()
        tempfile.tempdir = str(folder)
        os.chdir(folder)
        kinds = all_kinds(folder)
        _bounded()
        if given.only:
            kinds = [kind for kind in kinds if kind.name in given.only.split(",")]
        warnings.simplefilter("ignore")
        for kind in kinds:
            for value in kind.valid:
                assert (found := outcome(kind.read, value)) == "read", f"{kind.name}: {found}"
        last = given.first + given.inputs
        for start in range(given.first, last, BLOCK):
            if start in done:
                continue
            for block in in_processes(
                kinds, given.seed, range(start, min(start + BLOCK, last)), folder, given.inputs == 1
            ):
                stood.append(block)
                for number, name, found, value in block["faults"]:
                    print(f"input {number}, {name}\n{found}\n{value}\n", flush=True)
                if given.record:
                    with open(given.record, "a", encoding="utf-8") as file:
                        file.write(json.dumps(block) + "\n")
    finally:
        shutil.rmtree(base, ignore_errors=True)
    for block in stood:
        counts.update(block["counts"])
        seconds.update(block.get("seconds", {}))
        faults += len(block["faults"])
    _tell(counts, seconds, given.seed, faults, max((block.get("grown_mb", 0) for block in stood), default=0))
    return bool(faults)


def _lines(record: Path | None) -> list[str]:
    return record.read_text(encoding="utf-8").splitlines() if record and record.exists() else []


def _tell(counts: Counter[str], seconds: Counter[str], seed: int, faults: int, grown: int) -> None:
    for name in sorted({key.split(": ")[0] for key in counts}):
        told = {key.split(": ")[1]: count for key, count in sorted(counts.items()) if key.split(": ")[0] == name}
        print(f"{name}: {sum(told.values()):,} inputs, {told}, {seconds[name]:.0f} s")
    print(
        f"seed {seed}: {sum(counts.values()):,} inputs, {faults} faults; memory grew by {grown} MB at most in a block"
    )


if __name__ == "__main__":
    sys.exit(main())
