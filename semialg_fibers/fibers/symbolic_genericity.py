"""Genericity where the parameters have letters: each hypothesis decided, or stated as a condition on the letters.

Main results
    symbolic_findings     (name, verdict, reason) of G1 to G5 for the bottleneck, of G2, G3, G5 for one hidden layer

A verdict None here means "holds under the stated condition".

References: theory §2.3, §5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.fibers import masks
from semialg_fibers.fibers.conditions import SomeDoesNotVanish, open_parts
from semialg_fibers.geometry.decision import essential
from semialg_fibers.geometry.domain import Space
from semialg_fibers.geometry.expression import Expression, Scalar, is_zero, signs_of
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import Vector
from semialg_fibers.geometry.symbolic_matrix import SymbolicMatrix
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.networks.neuron_kind import LINEAR, NONLINEAR, kinds_by_signs, neuron_types

Finding = tuple[str, bool | None, str]

SHOWN = 6  # expressions of one condition that are written out
NEVER = "no sum of masked products vanishes, whatever the values of the letters"
MOST_FREE = 8  # rows whose side on a face is open, for which all sets are looked at


def symbolic_findings(net: Network) -> Iterator[Finding]:
    """Yield the hypotheses in order.

    Implements: theory §5.
    """
    last = len(net.layers) - 1
    inner, outer = net.layers[-2:]
    kinds = kinds_by_signs(inner) if last == 2 else neuron_types(net, last)
    if last == 2:
        yield ("G1", *_full_rank(net.layers[0].matrix, net.layers[0].outputs, "A1"))
        entries = [value for form in inner.forms for value in form]
        yield ("G2", *_nonzero(entries, outer.matrix.columns(), "no zero in [A2 | b2], no zero column in A3"))
        yield ("G3", *_ratios(inner.forms))
        yield ("G4", *_masked(net))
    else:
        columns = [outer.matrix.column(j) for j, kind in enumerate(kinds) if kind == NONLINEAR]
        yield (
            "G2",
            *_nonzero([], [*inner.forms, *columns], "no zero row, no nonlinear neuron without outgoing weights"),
        )
        yield ("G3", *_different_hyperplanes([inner.forms[j] for j, kind in enumerate(kinds) if kind == NONLINEAR]))
    linear = [j for j, kind in enumerate(kinds) if kind == LINEAR]
    if not linear or (isinstance(net.domain, Space) and last == 1) or (last == 2 and net.widths[1] == 1):
        yield ("G5", True, "nothing is asked")
    else:
        product = outer.matrix.select(columns=linear) @ inner.matrix.select(rows=linear)
        yield ("G5", *_full_rank(product, min(*product.shape, len(linear)), "Σ over linear rows of C_j B_j"))


def _full_rank(matrix: Matrix, expected: int, name: str) -> tuple[bool | None, str]:
    if not isinstance(matrix, SymbolicMatrix):
        return matrix.rank() == expected, f"rank {name} = {matrix.rank()}, expected {expected}"
    if matrix.generic_rank < expected:
        return False, f"rank {name} ≤ {matrix.generic_rank} for all values of the letters, expected {expected}"
    if matrix.least_rank >= expected:
        return True, f"rank {name} = {expected} for all values of the letters"
    if not matrix.has_short_minors(expected):
        return None, f"asks that rank {name} = {expected}"
    return None, f"rank {name} = {expected} iff {_some(open_parts(matrix.minors(expected)))}"


def _some(expressions: Sequence[Scalar]) -> str:
    if len(expressions) > SHOWN:
        return f"not all of its {len(expressions)} maximal minors vanish, among them {expressions[0]}"
    return str(SomeDoesNotVanish(tuple(expressions)))


def _nonzero(entries: Sequence[Scalar], lines: Sequence[Sequence[Scalar]], holds: str) -> tuple[bool | None, str]:
    """Decide that no entry is zero, and no line wholly so."""
    asked: list[str] = []
    for value in entries:
        if signs_of(value) == {0}:
            return False, "an entry of [A2 | b2] is zero"
        if 0 in signs_of(value):
            asked.append(f"{essential(value)} ≠ 0")
    for line in lines:
        if all(is_zero(value) for value in line):
            return False, "a row or column of weights is zero"
        if all(0 in signs_of(value) for value in line):
            asked.append(str(SomeDoesNotVanish(open_parts(line))))
    return (None, f"holds iff {' and '.join(dict.fromkeys(asked))}") if asked else (True, holds)


def _ratios(forms: Sequence[Sequence[Scalar]]) -> tuple[bool | None, str]:
    """(G3): in each column the ratios b2_j / A2_jk of rows with A2_jk b2_j < 0 differ."""
    asked: list[str] = []
    for k in range(len(forms[0]) - 1):
        crossing = [j for j, form in enumerate(forms) if -1 in signs_of(form[k] * form[-1])]
        for i, j in combinations(crossing, 2):
            difference = forms[i][k] * forms[j][-1] - forms[j][k] * forms[i][-1]
            if signs_of(difference) == {0} and all(signs_of(forms[a][k] * forms[a][-1]) == {-1} for a in (i, j)):
                return False, f"in column {k + 1} rows {i + 1} and {j + 1} have the same ratio"
            if signs_of(difference) == {0}:
                asked.append(
                    f"not both rows {i + 1}, {j + 1} have a weight and a bias of other signs in column {k + 1}"
                )
            elif 0 in signs_of(difference):
                asked.append(f"{essential(difference)} ≠ 0")
    if asked:
        return None, f"holds if {' and '.join(dict.fromkeys(asked))}"
    return True, "no two second-layer hyperplanes meet on an edge of the orthant"


def _different_hyperplanes(forms: Sequence[Sequence[Scalar]]) -> tuple[bool | None, str]:
    asked: list[str] = []
    for (i, first), (j, second) in combinations(enumerate(forms), 2):
        minors = [first[a] * second[b] - first[b] * second[a] for a, b in combinations(range(len(first)), 2)]
        if all(is_zero(minor) for minor in minors):
            return False, f"nonlinear rows {i + 1} and {j + 1} have the same hyperplane"
        if all(0 in signs_of(minor) for minor in minors):
            asked.append(str(SomeDoesNotVanish(open_parts(minors))))
    return (None, f"holds iff {' and '.join(asked)}") if asked else (True, "the hyperplanes are pairwise different")


def _masked(net: Network) -> tuple[bool | None, str]:
    """(G4): Σ_(j∈J) A3_·j A2_jk ≠ 0 for every k and every nonempty realizable J."""
    second, third = net.layers[1:]
    if second.is_rational and not isinstance(third.matrix, SymbolicMatrix):
        return _masked_numbers(second, third.matrix)
    asked: list[str] = []
    for k in range(second.inputs):
        faces = [(*form[:k], *form[k + 1 :]) for form in second.forms]
        always = [j for j, face in enumerate(faces) if _side(face) == 1]
        free = [j for j, face in enumerate(faces) if _side(face) is None]
        if len(free) > MOST_FREE:
            return None, (
                f"asks that no sum of A3_·j A2_jk over rows active together on hyperplane {k + 1} vanishes: "
                f"2^{len(free)} sets"
            )
        for chosen in (chosen for size in range(len(free) + 1) for chosen in combinations(free, size)):
            mask = tuple(sorted((*always, *chosen)))
            total = third.matrix.select(columns=mask).times([second.matrix[j, k] for j in mask])
            if not mask or not all(0 in signs_of(value) for value in total):
                continue
            realizable, parts = _realizable(faces, mask), open_parts(total)
            if realizable is True and not parts:
                return False, masks.told(k, mask)
            if realizable is not False:
                rows = ", ".join(str(j + 1) for j in mask)
                unless = f"the rows {rows} are not exactly the active ones anywhere on hyperplane {k + 1}"
                asked.append(str(SomeDoesNotVanish(parts)) if parts else unless)
    if not asked:
        return True, NEVER
    asked = list(dict.fromkeys(asked))
    shown = " and ".join(asked[:SHOWN])
    more = "" if len(asked) <= SHOWN else f", and {len(asked) - SHOWN} more of this kind"
    return None, f"holds if {shown}{more}"


def _masked_numbers(second: Layer, outgoing: Matrix) -> tuple[bool | None, str]:
    """(G4) where the letters stand in other layers only."""
    try:
        found = masks.cancelling_rows(second, outgoing)
    except BudgetExceededError as error:
        return None, error.message
    return (True, NEVER) if found is None else (False, masks.told(*found[:2]))


def _side(face: Sequence[Scalar]) -> int | None:
    """Give 1 or −1 where a row's signs make it positive or negative wherever h > 0 on the face, else None."""
    signs = [signs_of(value) for value in face]
    for side in (1, -1):
        if {side} in signs and all(each <= {0, side} for each in signs):
            return side
    return None


def _realizable(faces: Sequence[Sequence[Scalar]], mask: Sequence[int]) -> bool | None:
    """Decide whether exactly the rows of the mask are positive, the others negative, at some h > 0 on the face."""
    numbers: dict[int, Vector] = {}
    for j, face in enumerate(faces):
        known = tuple(value for value in face if not isinstance(value, Expression))
        if len(known) == len(face):
            numbers[j] = known
    inside = tuple(i for i, j in enumerate(numbers) if j in mask)
    if numbers and masks.realizing_point(list(numbers.values()), inside) is None:
        return False
    others = [j for j in range(len(faces)) if j not in numbers]
    return True if all(_side(faces[j]) == (1 if j in mask else -1) for j in others) else None
