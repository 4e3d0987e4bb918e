"""The atlas: against listing all patterns, Burnside, closed forms, and fibers of random networks with these signs."""

import csv
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import pytest
from guard import GUARD
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.exchange.atlas_tables import WRITERS, atlas_to_csv, atlas_to_json, atlas_to_latex, atlas_to_text
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.hiding import hidden_hyperplanes
from semialg_fibers.geometry.enumeration import Runner
from semialg_fibers.geometry.executors import process_pool
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import neuron_types
from semialg_fibers.questions import atlas as atlas_module
from semialg_fibers.questions.atlas import Atlas, AtlasRow, atlas, component_bounds
from semialg_fibers.questions.dimension import functional_dimension
from semialg_fibers.questions.identifiability import identifiability
from semialg_fibers.questions.initialisation import Initialisation
from semialg_fibers.questions.sign_patterns import orbit_count

TESTS = Path(__file__).resolve().parents[1]
WIDTHS = [
    (1, 1, 1, 1),
    (1, 1, 2, 3),
    (2, 1, 3, 2),
    (2, 2, 1, 2),
    (2, 2, 2, 1),
    (2, 2, 3, 1),
    (3, 2, 3, 2),
    (3, 3, 2, 1),
    (3, 3, 3, 2),
]


@pytest.fixture(scope="module")
def atlases():
    return {widths: atlas(*widths) for widths in WIDTHS}


def orbits_by_hand(n1, n2):
    """The least pattern of each orbit under all n1! n2! relabellings, with the size of the orbit."""
    rows = ["".join(row) for row in product("+-", repeat=n1 + 1)]
    found = Counter()
    for pattern in product(rows, repeat=n2):
        images = (
            tuple(sorted("".join(row[i] for i in order) + row[-1] for row in pattern))
            for order in permutations(range(n1))
        )
        found[min(images)] += 1
    return dict(sorted(found.items()))


@pytest.mark.parametrize("widths", [w for w in WIDTHS if w[2] * (w[1] + 1) <= 9], ids=str)
def test_the_rows_are_the_orbits_of_all_patterns(widths, atlases):
    found = {row.signs: row.multiplicity for row in atlases[widths]}
    assert list(found.items()) == list(orbits_by_hand(*widths[1:3]).items())


def test_burnside_counts_what_is_known():
    assert [orbit_count(*pair) for pair in ((3, 3), (4, 3), (3, 4), (4, 4))] == [220, 562, 905, 3684]
    for n1, n2 in ((1, 4), (2, 3), (3, 2)):
        assert orbit_count(n1, n2) == len(orbits_by_hand(n1, n2))


@pytest.mark.parametrize("widths", [*WIDTHS, (4, 4, 3, 2), (5, 5, 1, 1)], ids=str)
def test_sums_burnside_and_closed_forms_agree(widths, atlases):
    found = atlases.get(widths) or atlas(*widths)
    assert found.check()
    assert len(found) == orbit_count(*widths[1:3]) == len({row.signs for row in found})
    assert found.count(lambda row: True) == 2 ** (widths[2] * (widths[1] + 1))
    if widths[1] > 1:
        known = Initialisation(*widths[1:3])
        for name in ("identifiable", "some_dead", "some_linear", "hidden", "all_dead"):
            assert getattr(found, name) == getattr(known, name)


def test_a_check_that_is_wrong_fails(atlases):
    right = atlases[2, 2, 2, 1]
    first, *rest = right.rows
    for rows in (rest, [first, *right.rows], [_times(first, 2), *rest]):
        assert not Atlas(right.widths, tuple(rows)).check()


def _times(row, factor):
    return AtlasRow(row.widths, row.signs, row.multiplicity * factor, row.least, row.open)


def drawn(widths, signs, seed):
    """A network with these signs; entries with many digits, so that no coincidence is met."""
    rng = random.Random(seed)
    d, n1, n2, m = widths

    def entry():
        return rng.choice((-1, 1)) * Fraction(rng.randint(1, 10**6), 10 ** rng.randint(2, 6))

    inner = [[abs(entry()) * (1 if sign == "+" else -1) for sign in row] for row in signs]
    return Network(
        [
            ([[entry() for _ in range(d)] for _ in range(n1)], [entry() for _ in range(n1)]),
            ([row[:-1] for row in inner], [row[-1] for row in inner]),
            ([[entry() for _ in range(n2)] for _ in range(m)], [entry() for _ in range(m)]),
        ]
    )


@settings(max_examples=150)
@given(st.sampled_from(WIDTHS), st.data())
def test_fibers_of_random_networks_are_what_the_atlas_says(atlases, widths, data):
    row = data.draw(st.sampled_from(atlases[widths].rows))
    net = drawn(widths, row.signs, data.draw(st.integers(0, 2**32)))
    found = fiber(net)
    low, high = row.interval
    assert low <= found.component_count <= high
    assert (row.components is None) == (low < high)
    assert found.dimension == found.local_dimension == row.dimension
    assert neuron_types(net) == row.types
    assert hidden_hyperplanes(net) == row.hidden
    assert identifiability(net).is_identifiable == row.identifiable


@pytest.mark.parametrize("widths", [(1, 1, 2, 3), (2, 1, 3, 2), (2, 2, 2, 1), (3, 3, 2, 1)], ids=str)
def test_the_dimension_is_the_kernel_of_the_jacobian(widths, atlases):
    for row in atlases[widths].rows[:: 1 if widths[1] == 1 else 3]:
        net = drawn(widths, row.signs, 5)
        assert net.parameter_count - functional_dimension(net) == row.dimension


@pytest.mark.parametrize(
    ("signs", "m", "bounds"),
    [
        pytest.param(("+--",), 1, (2, 0), id="hidden, one alive row: every other column can be flipped"),
        pytest.param(("+----", "+----"), 1, (1, 0), id="hidden, two alive rows: no common ratio"),
        pytest.param(("---", "---"), 1, (1, 0), id="constant"),
        pytest.param(("+-+", "-++", "+++"), 2, (1, 0), id="one spare neuron of two: rank M_S = 2 for |S| ≥ 1"),
        pytest.param(("+-+", "-++", "+++"), 1, (1, 3), id="m = r = 1 with a linear row: one sign or not"),
        pytest.param(("+-+", "---"), 1, (1, 0), id="one spare neuron, a mixed row: rank 1, both signs"),
        pytest.param(("++-", "---"), 1, (2, 0), id="one spare neuron, a row of one sign"),
        pytest.param(("+-+", "---", "---"), 1, (2, 0), id="two spare neurons are enough for m = 1"),
        pytest.param(("+--+", "-++-", "----", "----"), 2, (3, 1), id="two columns: half-plane or not"),
        pytest.param(("++--+", "+-+--", "-----", "-----"), 2, (3, 0), id="all four quadrants: never pointed"),
        pytest.param(("+-", "+-"), 1, (3, 0), id="a line, hidden"),
        pytest.param(("-+", "-+"), 1, (2, 0), id="a line, constant on both sides"),
    ],
)
def test_numbers_of_components_that_the_signs_decide(signs, m, bounds):
    assert component_bounds(signs, m) == bounds


def test_where_the_signs_do_not_decide_both_happen():
    """Every open row of widths (2, 2, 2, 1) has networks with and without the further component."""
    rows = [row for row in atlas(2, 2, 2, 1) if row.components is None]
    assert len(rows) == 4
    for row in rows:
        counts = {fiber(drawn((2, 2, 2, 1), row.signs, seed)).component_count for seed in range(60)}
        assert counts == set(range(row.interval[0], row.interval[1] + 1))
        assert "pointed" in row.condition


def test_a_coincidence_is_announced_by_the_condition():
    """Two alive rows with a common ratio: the column can be flipped; the condition says 2^F."""
    (row,) = [row for row in atlas(2, 2, 2, 1) if row.signs == ("+--", "+--")]
    assert row.components == 1
    assert row.condition.startswith("2^F")
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [2, -2]], [-1, -3]), ([[1, 1]], [0])])
    assert fiber(net).component_count == 2
    (pair,) = [row for row in atlas(2, 2, 2, 1) if row.signs == ("+-+", "-+-")]
    opposite = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [-1, 1]], [1, -2]), ([[1, 1]], [0])])
    assert pair.identifiable
    assert fiber(opposite).component_count == 2
    assert "Σ C_l B_l = 0" in pair.condition


@pytest.mark.parametrize("widths", [(0, 1, 1, 1), (2, 2, -1, 1), (2, 2, 2, True), (2, "2", 2, 1)])
def test_widths_are_positive_integers(widths):
    with pytest.raises(InvalidNetworkError, match=r"whole number|number of units"):
        atlas(*widths)


def test_what_is_refused_says_why():
    with pytest.raises(UnsupportedError, match="n1 ≤ d"):
        atlas(2, 3, 1, 1)
    for widths in ((8, 8, 1, 1), (2, 2, 40, 1), (6, 6, 6, 1)):
        with pytest.raises(BudgetExceededError, match="Initialisation"):
            atlas(*widths)


def test_any_executor_and_a_checkpoint_give_the_same_rows(tmp_path, monkeypatch, atlases):
    whole = atlases[3, 3, 3, 2]
    file = tmp_path / "atlas.sqlite"

    def stop(seen):
        if seen.done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        atlas(3, 3, 3, 2, Runner(checkpoint=file, watch=stop))
    seen = []
    assert atlas(3, 3, 3, 2, Runner(process_pool(2), file, watch=seen.append)) == whole
    assert seen[0].before == 5
    with pytest.raises(InvalidNetworkError, match="belongs to 'atlas 3 3 3 2'"):
        atlas(3, 3, 3, 1, Runner(checkpoint=file))


CLUSTER = """
import os, signal, sys, threading, time
from distributed import Client, LocalCluster
from semialg_fibers.geometry import enumeration
from semialg_fibers.geometry.enumeration import Runner
from semialg_fibers.geometry.executors import dask_cluster
from semialg_fibers.questions import atlas as module

def slow(inputs):  # pickled by value: defined in the main program
    import time
    from semialg_fibers.questions.atlas import _work
    time.sleep(0.05)
    return _work(inputs)

if __name__ == "__main__":
    whole = module.atlas(3, 3, 3, 2)
    module._work = slow
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster.scheduler_address) as client:
            pids = list(client.run(os.getpid).values())
            assert len(pids) == 2
            seen = []

            def watch(progress):
                seen.append(progress.done)
                if progress.done == 6:
                    os.kill(pids[0], signal.SIGKILL)

            with dask_cluster(cluster.scheduler_address) as executor:
                found = module.atlas(3, 3, 3, 2, Runner(executor, watch=watch))
            now = set(client.run(os.getpid).values())
    print("RESULT", found == whole, len(found), pids[0] not in now, seen == list(range(len(seen))))
"""


@pytest.mark.skipif(os.name != "posix", reason="the worker is killed by a signal")
def test_a_dask_cluster_that_loses_a_worker_gives_the_whole_answer(tmp_path):
    pytest.importorskip("distributed", reason="needs the extra dask")
    program = tmp_path / "program.py"
    program.write_text(CLUSTER)
    path = os.pathsep.join([str(TESTS.parent), str(TESTS)])
    run = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        timeout=GUARD,
    )
    lines = [line for line in run.stdout.splitlines() if line.startswith("RESULT")]
    assert lines == ["RESULT True 220 True True"], run.stderr


# output


def test_text_and_csv_have_a_line_for_each_row(atlases):
    found = atlases[2, 2, 2, 1]
    text = atlas_to_text(found)
    assert text.count("\n+") + text.count("\n-") == len(found)
    assert "identifiable: 17/32 of all patterns" in text
    assert "almost all values" in text
    rows = list(csv.DictReader(io.StringIO(atlas_to_csv(found))))
    assert [tuple(row["signs"].split()) for row in rows] == [row.signs for row in found]
    assert [int(row["patterns"]) for row in rows] == [row.multiplicity for row in found]
    assert [(int(row["components_low"]), int(row["components_high"])) for row in rows] == [r.interval for r in found]
    assert [row["condition"] for row in rows] == [row.condition for row in found]


def test_json_holds_everything(atlases):
    for found in atlases.values():
        told = json.loads(atlas_to_json(found))
        assert told["format"] == "semialg_fibers/atlas"
        assert Fraction(told["fractions"]["identifiable"]) == Fraction(str(found.identifiable))
        assert [(tuple(r["signs"]), r["multiplicity"], r["dimension"], r["components"]) for r in told["rows"]] == [
            (row.signs, row.multiplicity, row.dimension, row.components) for row in found
        ]
        assert [(tuple(r["types"]), tuple(r["hidden"]), r["identifiable"]) for r in told["rows"]] == [
            (row.types, row.hidden, row.identifiable) for row in found
        ]


def test_latex_compiles_where_latex_is(atlases, tmp_path):
    text = atlas_to_latex(atlases[2, 2, 2, 1])
    assert text.count(r"\\") == 1 + 24
    assert not set("_^±≥Σ") & set(re.sub(r"\$[^$]*\$", "", text))
    if shutil.which("pdflatex"):
        file = tmp_path / "atlas.tex"
        file.write_text(
            r"\documentclass{article}\usepackage{amsmath,booktabs,longtable}\begin{document}" + text + r"\end{document}"
        )
        subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", file.name], cwd=tmp_path, check=True, capture_output=True
        )


def test_every_format_has_a_writer(atlases):
    assert set(WRITERS) == {"text", "csv", "latex", "json"}
    assert atlas_module.BUDGET >= 3684
