"""Cells in chunks are the cells: their number and their patterns, on any executor, after an interruption."""

import pytest

from semialg_fibers import gallery
from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.enumeration import Runner
from semialg_fibers.geometry.executors import process_pool
from semialg_fibers.networks.cells import cells
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.cell_count import cell_count, cell_patterns


@pytest.mark.parametrize("name", gallery.names())
def test_patterns_and_number_are_those_of_the_cells(name):
    net = gallery.network(name)
    expected = [tuple("".join(map(str, bits)) for bits in cell.pattern) for cell in cells(net)]
    assert list(cell_patterns(net)) == expected
    assert cell_count(net) == len(expected)


def test_processes_and_checkpoints_do_not_change_the_number(tmp_path):
    rows = [[(3 * i * i + 5 * j + i * j) % 11 - 5 for j in range(3)] for i in range(8)]
    net = Network([(rows, [i % 5 - 2 for i in range(8)]), ([[1] * 8], [0])])
    file = tmp_path / "cells.sqlite"
    with pytest.raises(RuntimeError, match="enough"):
        cell_count(net, Runner(checkpoint=file, watch=_stop))
    assert cell_count(net, Runner(process_pool(2), file)) == len(cells(net)) > 64
    with pytest.raises(BudgetExceededError):
        cell_count(Network([(rows, [0] * 8), ([[1] * 8], [0])]), budget=1)


def _stop(seen):
    if seen.done == 7:
        raise RuntimeError("enough")
