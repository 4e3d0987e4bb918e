"""Faults from outside: a disk that is full, signals while a file is written, too little memory, two writers, a kill.

Beside tests/test_cli.py, which has closed pipes, a full stdout, signals while reading, and folders without permission.
"""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from guard import GUARD

import semialg_fibers
from semialg_fibers import cli
from semialg_fibers.exchange.files import write_text

ROOT = Path(semialg_fibers.__file__).parents[1]
CAMPAIGN = Path(__file__).parents[1] / "tools" / "campaign.py"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


def started(program, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **options,
    )


def ended(process):
    out, err = process.communicate(timeout=GUARD)
    return process.returncode, out, err


# A file that cannot grow: the first bytes are written, the rest is not.

LIMITED = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
from semialg_fibers import cli
cli.main()
"""


@pytest.mark.parametrize("before", [None, "before"])
def test_a_disk_that_is_full_after_some_bytes(tmp_path, before):
    path = tmp_path / "out"
    if before is not None:
        path.write_text(before)
    code, out, err = ended(started(LIMITED, "fiber", "gallery:line_1_1_1_1", "-o", path))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "/out: the file cannot be written (File too large)" in err
    assert err.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["out"] * (before is not None)
    assert before is None or path.read_text() == before


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_stdout_to_a_file_that_cannot_grow(tmp_path, unbuffered):
    """The first bytes are there, as with every program; the exit code says that the rest is not."""
    with (tmp_path / "out").open("w") as file:
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, "fiber", "gallery:line_1_1_1_1"],
            stdout=file, stderr=subprocess.PIPE, text=True, check=False, timeout=GUARD,
            env=ENVIRONMENT | {"PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "error: the output cannot be written (File too large)\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_stdout_is_said_once(unbuffered):
    """Python flushes again at exit: that must neither say it a second time nor change the exit code."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from semialg_fibers import cli; cli.main()", "gallery"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=GUARD,
            env=ENVIRONMENT | {"PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "error: the output cannot be written (No space left on device)\n"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_every_step_of_writing_may_fail(tmp_path, monkeypatch, capfd, number, call):
    path = tmp_path / "out"
    path.write_text("before")

    def failing(*arguments, **options):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, failing)
        code = cli.run(["fiber", "gallery:line_1_1_1_1", "-o", str(path)])
    out, err = capfd.readouterr()
    assert (code, out) == (2, "")
    assert os.strerror(number) in err
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]


# Signals, while the new file is there and not yet in its place.

SLOW = """
import os, sys, time
from semialg_fibers import cli
real = os.fsync
def slow(descriptor):
    real(descriptor)
    print("writing", file=sys.stderr, flush=True)
    time.sleep(60)
os.fsync = slow
cli.main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_signal_while_a_file_is_written(tmp_path, number, code):
    path = tmp_path / "out"
    path.write_text("before")
    process = started(SLOW, "fiber", "gallery:line_1_1_1_1", "-o", path)
    assert process.stderr.readline() == "writing\n"
    process.send_signal(number)
    found, out, err = ended(process)
    assert (found, out, err.strip()) == (code, "", "")  # click ends the line of ^C
    assert path.read_text() == "before"
    left = sorted(each.name for each in tmp_path.iterdir() if each != path)
    assert len(left) == (number == signal.SIGKILL)  # who is killed cannot clean up; the name says whose it is
    assert all(name.startswith(".semialg_fibers-") and name.endswith(".tmp") for name in left)


def test_several_writers_of_one_file_leave_one_whole_text(tmp_path):
    path = tmp_path / "out"
    texts = [str(digit) * 200_000 for digit in range(4)]
    seen, done = [], threading.Event()

    def write(text):
        for _ in range(5):
            write_text(text, path)

    def read():
        while not done.is_set():
            if path.exists():
                seen.append(path.read_text())

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    reader = threading.Thread(target=read)
    for thread in (*threads, reader):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    reader.join()
    assert {*seen, path.read_text()} <= set(texts)
    assert os.listdir(tmp_path) == ["out"]


# Memory.

STARVED = """
import resource
from semialg_fibers import cli
import sympy, numpy  # what is imported late is there; the limit is on what is computed
def limit():
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (32 << 20), size + (32 << 20)))
limit()
cli.main()
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the limit is set from /proc")
def test_a_file_for_which_the_memory_is_too_small(tmp_path):
    path = tmp_path / "net.json"
    row = f"[{', '.join(['1'] * 1_000)}]"
    layer = f'{{"weight": [{", ".join([row] * 2_000)}], "bias": [{", ".join(["0"] * 2_000)}]}}'
    path.write_text(f'{{"format": "semialg_fibers/network", "version": 1, "layers": [{layer}]}}')
    code, out, err = ended(started(STARVED, "describe", path))
    assert (code, out) == (2, "")
    assert "MemoryError" in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the limit is set from /proc")
def test_flint_without_memory_is_a_sentence_and_not_an_abort(tmp_path):
    program = STARVED.replace(
        "limit()\ncli", "import flint; cli.load = lambda name: flint.fmpz_mat(10**5, 10**5)\nlimit()\ncli"
    )
    code, out, err = ended(started(program, "describe", "gallery:visible_2_2_2_1"))
    assert (code, out, err) == (2, "", "error: the input is too large for this machine (MemoryError)\n")


# The campaign, killed and continued.


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()[1:] if line.endswith("}")]


def campaign(path, networks):
    command = [sys.executable, str(CAMPAIGN), str(path), "--networks", str(networks), "--smt", "0"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)


def test_a_campaign_that_is_killed_goes_on_where_it_was_and_finds_nothing(tmp_path):
    path = tmp_path / "record.jsonl"
    process = campaign(path, 10**9)
    start = time.monotonic()
    while (not path.exists() or len(records(path)) < 3) and process.poll() is None and time.monotonic() < start + GUARD:
        time.sleep(0.05)
    process.kill()
    ended(process)
    first = records(path)
    assert len(first) >= 3
    with path.open("a") as file:
        file.write('{"seed": 999, "ki')  # a line that was cut short
    code, out, err = ended(campaign(path, len(first) + 3))
    assert (code, err) == (0, ""), out
    assert records(path)[: len(first)] == first
    assert [record["seed"] for record in records(path)] == list(range(len(first) + 3))
    assert out.splitlines()[-1] == "0 networks with faults: []"
