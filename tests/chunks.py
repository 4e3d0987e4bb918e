"""Work for tests of enumerations: functions of a module, so that other processes find them."""

import os
import time
from pathlib import Path

from flint import fmpz_mat

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.geometry.linear import Matrix


def squares(inputs):
    return [value * value for value in inputs]


def slow_squares(inputs):
    time.sleep(0.05)
    return squares(inputs)


def ranks(inputs):
    """Exact matrices have travelled: their ranks, and a determinant by flint."""
    assert all(isinstance(matrix, Matrix) and isinstance(other, fmpz_mat) for matrix, other in inputs)
    return [[matrix.rank(), str(other.det())] for matrix, other in inputs]


def fails_on_seven(inputs):
    if 7 in inputs:
        raise ValueError("seven is not accepted")
    return squares(inputs)


def fails_twice(inputs):
    """Inputs are (value, folder): each chunk fails until it has left two marks."""
    for value, folder in inputs:
        marks = [Path(folder) / f"{value}-{number}" for number in range(2)]
        for mark in marks:
            if not mark.exists():
                mark.touch()
                raise OSError("try again")
    return [value for value, _ in inputs]


def kills_once(inputs):
    """Inputs are (value, folder): the process dies, without a word, on the first meeting with 5."""
    for value, folder in inputs:
        mark = Path(folder) / "killed"
        if value == 5 and not mark.exists():
            mark.touch()
            os._exit(9)
    return [value for value, _ in inputs]


def kills_on_seven(inputs):
    if 7 in inputs:
        os._exit(9)
    return squares(inputs)


def beyond_the_budget(inputs):
    if 7 in inputs:
        raise BudgetExceededError("seven is too much", low=1, high=7)
    return squares(inputs)


def counted(inputs):
    """Inputs are (value, file): a line in the file for each chunk that was worked on."""
    for value, file in inputs:
        with open(file, "a") as log:
            log.write(f"{value}\n")
    return [value for value, _ in inputs]


def not_json(inputs):
    return {1j for _ in inputs}
