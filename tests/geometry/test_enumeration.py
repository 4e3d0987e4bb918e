"""One family, one answer in one order: in this process, in threads, in others, after failures and interruptions."""

import json
import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chunks
import pytest
from flint import fmpq, fmpq_mat, fmpz_mat, nmod_mat
from guard import GUARD
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, SemialgError, UnsupportedError
from semialg_fibers.geometry import checkpoint as checkpoint_module
from semialg_fibers.geometry import executors, progress
from semialg_fibers.geometry.checkpoint import Checkpoint
from semialg_fibers.geometry.enumeration import Family, Progress, Runner
from semialg_fibers.geometry.executors import process_pool
from semialg_fibers.geometry.linear import Matrix

TESTS = Path(__file__).resolve().parents[1]
PROJECT = TESTS.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), str(TESTS)])}


@pytest.fixture(autouse=True)
def _workers_find_the_tests(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])


def family(work=chunks.squares, inputs=range(20), size=3, name="squares", source="0..19"):
    return Family(name, source, inputs, work, size)


SQUARES = [[value * value for value in range(start, min(start + 3, 20))] for start in range(0, 20, 3)]


class Uneven(ThreadPoolExecutor):
    """Threads that take their time at random; it counts what is on its way."""

    rng = random.Random(0)
    most = now = 0
    lock = threading.Lock()

    def submit(self, function, /, *arguments, **named):
        delay = self.rng.random() * 0.004
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)

        def later():
            time.sleep(delay)
            try:
                return function(*arguments)
            finally:
                with self.lock:
                    self.now -= 1

        return super().submit(later)


# the same answer in the same order


@settings(max_examples=60)
@given(st.integers(0, 30), st.integers(1, 7))
def test_chunks_cut_the_family_without_gap_or_overlap(count, size):
    found = family(inputs=range(count), size=size)
    joined = [value for number in range(found.chunk_count) for value in found.chunk(number)]
    assert joined == list(range(count))
    assert [value for part in Runner().run(found) for value in part] == [value**2 for value in joined]


@pytest.mark.parametrize("window", [1, 2, 5, 16])
def test_the_order_does_not_depend_on_which_chunk_ends_first(window):
    with Uneven(4) as executor:
        assert list(Runner(executor, window=window).run(family())) == SQUARES
        long = family(inputs=range(100))
        assert Runner(executor, window=window).results(long) == Runner().results(long)
        assert 1 <= executor.most <= window


def test_inputs_are_computed_when_they_are_needed():
    """A family of 10^12 inputs: the first chunks are there at once, and memory holds a window of them."""
    run = Runner(ThreadPoolExecutor(1), window=2).run(family(inputs=range(10**12)))
    assert [next(run), next(run)] == [[0, 1, 4], [9, 16, 25]]
    run.close()


def test_threads_and_processes_give_what_this_process_gives():
    with ThreadPoolExecutor(3) as threads:
        assert Runner(threads).results(family()) == SQUARES
    matrices = [(Matrix([[1, 2], [2, value]]), fmpz_mat([[value, 1], [1, 1]])) for value in range(6)]
    exact = family(chunks.ranks, matrices, 2)
    assert (
        Runner(process_pool(2)).results(exact)
        == Runner().results(exact)
        == [
            [[2, "-1"], [2, "0"]],
            [[2, "1"], [2, "2"]],
            [[1, "3"], [2, "4"]],
        ]
    )


@pytest.mark.parametrize(
    "matrix",
    [fmpz_mat([[1, -(10**30)]]), fmpq_mat([[fmpq(1, 3)], [fmpq(-2)]]), nmod_mat(2, 2, [1, 2, 3, 4], 5), fmpz_mat(0, 3)],
    ids=lambda matrix: type(matrix).__name__,
)
def test_exact_matrices_travel(matrix):
    back = pickle.loads(pickle.dumps(matrix))
    assert (type(back), back.nrows(), back.ncols(), back.entries()) == (
        type(matrix),
        matrix.nrows(),
        matrix.ncols(),
        matrix.entries(),
    )


# failures


def test_a_failing_chunk_is_tried_again(tmp_path):
    with ThreadPoolExecutor(2) as threads:
        for place, executor in (("here", None), ("threads", threads)):
            folder = tmp_path / place
            folder.mkdir()
            inputs = [(value, str(folder)) for value in range(3)]
            assert Runner(executor, retries=2).results(family(chunks.fails_twice, inputs, 1)) == [[0], [1], [2]]


@pytest.mark.parametrize("threads", [False, True])
def test_a_chunk_that_goes_on_failing_is_reported_with_its_input(threads):
    executor = ThreadPoolExecutor(2) if threads else None
    with pytest.raises(SemialgError, match=r"chunk 3 of 7 of squares failed 3 times.*ValueError: seven") as caught:
        Runner(executor).results(family(chunks.fails_on_seven))
    assert (caught.value.chunk, caught.value.inputs) == (2, (6, 7, 8))
    assert "(6, 7, 8)" in caught.value.message


@pytest.mark.parametrize("threads", [False, True])
def test_a_refusal_is_an_answer_and_not_tried_again(threads):
    executor = ThreadPoolExecutor(2) if threads else None
    with pytest.raises(BudgetExceededError, match="seven is too much") as caught:
        Runner(executor).results(family(chunks.beyond_the_budget))
    assert (caught.value.low, caught.value.high) == (1, 7)


def test_a_process_that_dies_is_replaced_and_its_chunk_done_again(tmp_path):
    inputs = [(value, str(tmp_path)) for value in range(12)]
    assert Runner(process_pool(2)).results(family(chunks.kills_once, inputs)) == [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7, 8],
        [9, 10, 11],
    ]
    assert (tmp_path / "killed").exists()


def test_the_chunk_that_kills_its_process_is_the_one_reported():
    with pytest.raises(SemialgError, match=r"chunk 3 of 7 of squares failed 2 times.*BrokenProcessPool") as caught:
        Runner(process_pool(2), retries=1).results(family(chunks.kills_on_seven))
    assert caught.value.inputs == (6, 7, 8)


def test_an_executor_that_cannot_be_made_again_says_so():
    with process_pool(1)() as pool, pytest.raises(SemialgError, match="executor is broken"):
        Runner(pool).results(family(chunks.kills_on_seven))


def test_what_json_cannot_hold_is_no_result():
    with pytest.raises(SemialgError, match="TypeError"):
        Runner().results(family(chunks.not_json))


@pytest.mark.parametrize("workers", [0, -1, True, "two"])
def test_a_number_of_workers_is_positive(workers):
    with pytest.raises(InvalidNetworkError, match="at least 1"):
        process_pool(workers)


def test_a_chunk_is_not_empty():
    with pytest.raises(InvalidNetworkError, match="at least 1 input"):
        family(size=0)


# checkpoints


def test_a_run_that_is_interrupted_goes_on_where_it_was(tmp_path):
    file, log = tmp_path / "kept.sqlite", tmp_path / "log"
    inputs = [(value, str(log)) for value in range(20)]
    kept = Runner(checkpoint=file)
    run = kept.run(family(chunks.counted, inputs))
    first = [next(run) for _ in range(3)]
    run.close()  # as Ctrl-C does
    assert first == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    seen = []
    whole = Runner(ThreadPoolExecutor(2), checkpoint=file, watch=seen.append).results(family(chunks.counted, inputs))
    assert whole == Runner().results(family(inputs=range(20), work=_same))
    assert sorted(map(int, log.read_text().split())) == list(range(20))  # nothing done twice, nothing left out
    assert (seen[0].done, seen[0].before, seen[-1].done, seen[-1].total) == (3, 3, 7, 7)
    assert Runner(checkpoint=file).results(family(chunks.counted, inputs)) == whole
    assert len(log.read_text().split()) == 20


def _same(inputs):
    return list(inputs)


def test_an_interrupt_inside_a_chunk_leaves_the_others(tmp_path):
    file = tmp_path / "kept.sqlite"

    def interrupted(seen):
        if seen.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Runner(ThreadPoolExecutor(2), checkpoint=file, watch=interrupted).results(family())
    with Checkpoint(file, "squares", family().fingerprint, 7) as kept:
        assert kept.count == 4
    assert Runner(checkpoint=file).results(family()) == SQUARES


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "cubes"}, "belongs to 'squares', not to 'cubes'"),
        ({"source": "20..39"}, "other input"),
        ({"size": 4}, "other input or other chunks"),
        ({"inputs": range(21)}, "other input"),
        ({"work": chunks.slow_squares}, "other input"),
    ],
)
def test_a_checkpoint_of_other_input_is_refused(change, words, tmp_path):
    file = tmp_path / "kept.sqlite"
    next(Runner(checkpoint=file).run(family()))
    before = file.read_bytes()
    with pytest.raises(InvalidNetworkError, match=words) as caught:
        Runner(checkpoint=file).results(family(**change))
    assert caught.value.file == str(file)
    assert file.read_bytes() == before
    assert Runner(checkpoint=file).results(family()) == SQUARES


def test_a_checkpoint_of_another_release_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "kept.sqlite"
    next(Runner(checkpoint=file).run(family()))
    monkeypatch.setattr(checkpoint_module, "_release", lambda: "99.0")
    with pytest.raises(InvalidNetworkError, match=r"release .* this is 99\.0"):
        Runner(checkpoint=file).results(family())


def test_other_files_are_not_touched(tmp_path):
    text = tmp_path / "text"
    text.write_text("not a database, but a text of some length")
    with pytest.raises(InvalidNetworkError, match="not a checkpoint"):
        Runner(checkpoint=text).results(family())
    assert text.read_text().startswith("not a database")
    foreign = tmp_path / "foreign.sqlite"
    base = sqlite3.connect(foreign)
    base.execute("CREATE TABLE mine (value)")
    base.commit()
    base.close()
    before = foreign.read_bytes()
    with pytest.raises(InvalidNetworkError, match="another program"):
        Runner(checkpoint=foreign).results(family())
    assert foreign.read_bytes() == before
    with pytest.raises(SemialgError, match="cannot be read"):
        Runner(checkpoint=tmp_path).results(family())
    with pytest.raises(SemialgError, match="cannot be used"):
        Runner(checkpoint=tmp_path / "no" / "folder").results(family())


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ("UPDATE chunks SET result = '[0, 1, 5]'", "chunk 1 does not hold what was kept"),  # one digit changed
        ("UPDATE chunks SET result = '[1'", "chunk 1 does not hold what was kept"),
        ("UPDATE chunks SET result = x'ff'", "chunk 1 does not hold what was kept"),
        ("UPDATE chunks SET result = CAST(x'ff' AS TEXT)", "cannot be used"),
        ("UPDATE chunks SET number = 3", "chunk 4 does not hold what was kept"),
        ("UPDATE chunks SET number = 1000", "chunks that there are not"),
        ("DELETE FROM about WHERE key = 'name'", "does not say what it belongs to"),
        ("UPDATE about SET value = x'00'", "does not say what it belongs to"),
        ("UPDATE about SET value = CAST(zeroblob(10000000) AS TEXT) WHERE key = 'name'", "belongs to"),
        ("PRAGMA user_version = 1", "has format 1"),
        (f"DROP TABLE about; CREATE VIEW about AS {ENDLESS} i AS key, i AS value FROM n", "other tables"),
        (f"DROP TABLE chunks; CREATE VIEW chunks AS {ENDLESS} i AS number, '' AS result FROM n", "other tables"),
        (f"CREATE TRIGGER t AFTER INSERT ON chunks BEGIN INSERT INTO about {ENDLESS} i, i FROM n; END", "other tables"),
        ("PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = CAST(x'ff' AS TEXT)", "cannot be used"),
    ],
)
def test_a_damaged_or_hostile_checkpoint_is_refused(statements, words, tmp_path):
    file = tmp_path / "kept.sqlite"
    run = Runner(checkpoint=file).run(family())
    next(run)
    run.close()
    base = sqlite3.connect(file)
    base.executescript(statements)
    base.close()
    with pytest.raises(SemialgError, match=words) as caught:
        Runner(checkpoint=file).results(family())
    assert caught.value.file == str(file)
    assert len(caught.value.message) < 400 + len(str(file))


def test_results_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_module, "MAX_RESULT", 10_000)
    with Checkpoint(tmp_path / "kept.sqlite", "squares", "f", 3) as kept:
        kept.put(0, "1" * 9_000)
        with pytest.raises(SemialgError, match="too big"):
            kept.put(1, "1" * 11_000)
        assert (kept.get(0), kept.get(1)) == ("1" * 9_000, None)


@pytest.mark.parametrize("text", ["", "[", "NaN", "7", "[[7]]", "[" * 100_000, "7" * 5_000, '{"a": 1}'])
def test_a_result_of_another_shape_is_refused_though_its_hash_is_right(text, tmp_path):
    made = Family("squares", "0..19", range(20), chunks.squares, 3, fits=lambda value: value == [0, 1, 4])
    with Checkpoint(tmp_path / "kept.sqlite", made.name, made.fingerprint, made.chunk_count) as kept:
        kept.put(0, text)
    with pytest.raises(InvalidNetworkError, match="chunk 1 does not hold") as caught:
        Runner(checkpoint=tmp_path / "kept.sqlite").results(made)
    assert caught.value.chunk == 0


def test_paths_that_are_no_file(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    for path, words in ((tmp_path / "pipe", "a pipe, socket or device"), ("/dev/zero", "a pipe, socket or device")):
        with pytest.raises(SemialgError, match=words):
            Runner(checkpoint=path).results(family())
    for path in ("", "a\0b", 5, b"kept", ["x"]):
        with pytest.raises(
            InvalidNetworkError, match=r"path of a checkpoint is a text|is empty; give the path|expected a path"
        ):
            Runner(checkpoint=path).results(family())
    with pytest.raises(SemialgError, match="it is no path"):
        Runner(checkpoint="\ud800").results(family())
    monkeypatch.chdir(tmp_path)
    assert Runner(checkpoint=":memory:").results(family()) == SQUARES
    assert (tmp_path / ":memory:").exists()  # not in memory, where it would be lost


def test_two_runs_do_not_share_a_checkpoint(tmp_path):
    file = tmp_path / "kept.sqlite"
    run = Runner(checkpoint=file).run(family())
    next(run)
    with pytest.raises(SemialgError, match="in use by another run"):
        Runner(checkpoint=file).results(family())
    assert list(run) == SQUARES[1:]


def test_a_chunk_is_not_kept_twice(tmp_path):
    with Checkpoint(tmp_path / "kept.sqlite", "squares", "f", 3) as kept:
        kept.put(1, "[1]")
        with pytest.raises(SemialgError, match="UNIQUE"):
            kept.put(1, "[2]")
        assert (kept.get(1), kept.count) == ("[1]", 1)


PROGRAM = """
import sys
import chunks
from semialg_fibers.geometry.enumeration import Family, Runner
from semialg_fibers.geometry.executors import process_pool

def main():
    kind, file = sys.argv[1:]
    executor = process_pool(2) if kind == "processes" else None
    runner = Runner(executor, file, watch=lambda seen: print(seen.done, flush=True))
    for number, found in enumerate(runner.run(Family("squares", "0..19", range(20), chunks.slow_squares, 1))):
        assert found == [number * number]
    print("whole", flush=True)

if __name__ == "__main__":
    main()
"""


def _until(process, done):
    """Wait for as many chunks; on a busy machine the run before may have kept more than that, or all."""
    for line in process.stdout:
        if line.strip() == "whole" or int(line) >= done:
            return
    raise AssertionError("the run ended before it was whole")


def _alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _children(pid):
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("kind", ["here", "processes"])
def test_kill_9_at_any_moment_loses_no_chunk_and_counts_none_twice(kind, tmp_path):
    file, program = tmp_path / "kept.sqlite", tmp_path / "program.py"
    program.write_text(PROGRAM)
    call = [sys.executable, str(program), kind, str(file)]
    delays = random.Random(kind)
    for done in (3, 11):
        process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        _until(process, done)
        time.sleep(delays.random() * 0.1)
        workers = _children(process.pid) if os.path.isdir("/proc/self") else []
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        deadline = time.monotonic() + GUARD
        while any(map(_alive, workers)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(_alive, workers)), "workers outlive their parent"
    last = subprocess.run(call, capture_output=True, text=True, env=ENVIRONMENT, check=True)
    lines = last.stdout.split()
    assert int(lines[0]) >= 11  # begun with what was kept
    assert lines[-1] == "whole"
    with Checkpoint(file, "squares", Family("", "0..19", range(20), chunks.slow_squares, 1).fingerprint, 20) as kept:
        assert [json.loads(kept.get(number)) for number in range(20)] == [[n * n] for n in range(20)]


def test_a_full_disk_stops_the_run_and_keeps_what_was_done(tmp_path, monkeypatch):
    """SQLite's own limit on the size of the file gives the error of a full disk."""
    file = tmp_path / "kept.sqlite"
    long = family(_long, range(40), 1)
    opened = Checkpoint._open

    def small(self, about):
        opened(self, about)
        self._base.execute("PRAGMA max_page_count = 20")

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "_open", small)
        with pytest.raises(SemialgError, match=r"full.*free some space") as caught:
            Runner(checkpoint=file).results(long)
    assert caught.value.file == str(file)
    seen = []
    assert Runner(checkpoint=file, watch=seen.append).results(long) == Runner().results(long)
    assert 0 < seen[0].before < 40


def _long(inputs):
    return [str(value) * 5000 for value in inputs]


LIMITED = """
import resource, sys
from semialg_fibers.errors import SemialgError
from semialg_fibers.geometry.enumeration import Family, Runner

def work(inputs):
    return [str(value) * 5000 for value in inputs]

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
before = []
runner = Runner(checkpoint=sys.argv[1], watch=lambda seen: before.append(seen.done))
try:
    found = runner.results(Family("long", "", range(40), work, 1))
except SemialgError as error:
    print("refused", before[-1], error.message)
else:
    print("whole", before[0], found == [[str(value) * 5000] for value in range(40)])
"""


def test_a_disk_that_takes_no_more_bytes_loses_nothing(tmp_path):
    """The system's limit on the size of files fails the writes themselves, in the middle of the log."""
    pytest.importorskip("resource")
    program, file = tmp_path / "program.py", tmp_path / "kept.sqlite"
    program.write_text(LIMITED)
    tell = []
    for limit in (100_000, 10**9):
        call = [sys.executable, str(program), str(file), str(limit)]
        tell.append(subprocess.run(call, capture_output=True, text=True, env=ENVIRONMENT, check=True).stdout.split())
    assert tell[0][0] == "refused"
    assert 0 < int(tell[0][1]) < 40
    assert tell[1] == ["whole", tell[0][1], "True"]


# progress


def test_the_estimate_counts_only_what_this_run_has_done():
    assert Progress(done=10, total=40, before=10, seconds=3.0).remaining is None
    assert Progress(done=16, total=40, before=10, seconds=3.0).remaining == 12.0
    assert Progress(done=40, total=40, before=10, seconds=3.0).remaining == 0


def test_progress_is_silent_in_a_pipe_and_a_bar_on_a_terminal(monkeypatch, capsys):
    with progress.bar("chunks") as watch:
        assert watch is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.bar("chunks") as watch:
        Runner(watch=watch).results(family())
        watch(Progress(10, 40, 4, 3.0))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "chunks" in shown.err


def test_without_dask_one_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(UnsupportedError, match=r"pip install 'semialg-fibers\[dask\]'"),
        executors.dask_cluster("tcp://x"),
    ):
        pass
