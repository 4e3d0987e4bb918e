"""Small networks by name, one for each kind; the tests certify what is said of each.

Main definitions
    names      the names
    network    the network of a name
    about      what it shows, with its place in the theory

References: theory §2.7, §3.3–§3.5, §5, §6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.domain import Box, Domain, Orthant
from semialg_fibers.networks.layer import Network


@dataclass(frozen=True)
class Entry:
    """Layers as (weight, bias), the domain (None: R^d), and what the network shows."""

    layers: tuple[tuple[Any, Any], ...]
    about: str
    domain: Domain | None = None


_IDENTITY = ([[1, 0], [0, 1]], [0, 0])

_ENTRIES: dict[str, Entry] = {
    "visible_2_2_2_1": Entry(
        (([[1, 2], [-1, 1]], [1, 0]), ([[1, -2], [-3, 1]], [1, 2]), ([[1, -2]], [3])),
        "identifiable: no dead, no linear row, nothing hidden, M_S ≠ 0 for S ≠ ∅ (§3.4)",
    ),
    "linear_2_2_2_1": Entry(
        (([[1, 2], [-1, 1]], [1, 0]), ([[1, -2], [3, 1]], [1, 2]), ([[1, -2]], [3])),
        "one linear row: two choices of sides, both feasible (§2.3)",
    ),
    "two_linear_2_2_3_2": Entry(
        (
            ([[1, 1], [1, -1]], [0, 1]),
            ([[1, -1], [2, 1], [1, 3]], [-1, 1, 2]),
            ([[1, 2, -1], [-1, 1, 1]], [0, 5]),
        ),
        "two linear rows mix freely as long as C'B' stays M_S (§2.5)",
    ),
    "dead_2_2_2_1": Entry(
        (([[1, 2], [-1, 1]], [1, 0]), ([[1, -2], [-3, -1]], [1, -2]), ([[1, -2]], [3])),
        "one dead row, whose parameters are free (§2.3)",
    ),
    "hidden_2_2_2_1": Entry(
        (([[1, 0], [1, 1]], [1, 0]), ([[2, -1], [4, -2]], [-3, -2]), ([[1, -2]], [1])),
        "hyperplane 1 is hidden, two alive rows with one common ratio: a translation and a flip (§3.2, §3.3)",
    ),
    "hidden_with_dead_2_2_2_1": Entry(
        (([[1, 0], [1, 1]], [1, 0]), ([[2, -1], [-1, -2]], [-3, -2]), ([[1, -2]], [1])),
        "hyperplane 1 is hidden, one alive and one dead row (§3.4)",
    ),
    "hidden_without_flip_2_2_2_1": Entry(
        (([[1, 0], [1, 1]], [1, 0]), ([[2, -1], [3, -2]], [-3, -2]), ([[1, -2]], [1])),
        "hyperplane 1 is hidden, but the ratios of the alive rows differ: no flip (§3.3)",
    ),
    "flips_3_3_1_1": Entry(
        (([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), ([[1, -1, -2]], [-1]), ([[1]], [0])),
        "n2 = 1: every other column can be flipped, four components (§3.3)",
    ),
    "constant_2_2_2_1": Entry(
        (_IDENTITY, ([[-1, -2], [-3, -1]], [-1, -2]), ([[1, 2]], [5])),
        "every second-layer row dead: the function is the constant 5 (§3.4)",
    ),
    "side_without_generic_member": Entry(
        (_IDENTITY, ([[1, 1], [-1, -1]], [-1, -1]), ([[1, 3]], [0])),
        "a component all of whose members are not generic: the flip of row 1 (§3.4)",
    ),
    "cancelling_sides": Entry(
        (_IDENTITY, ([[1, 1], [-1, -1]], [-2, 1]), ([[1, 1]], [0])),
        "both rows flipped together: M_{1,2} = 0 gives a second component (§3.4)",
    ),
    "line_1_1_1_1": Entry(
        (([[1]], [0]), ([[-1]], [2]), ([[1]], [0])),
        "n1 = 1: relu(2 − relu(u)) is constant on both sides, u → 2 − u is a second component (§3.5)",
    ),
    "line_hidden_1_1_2_1": Entry(
        (([[1]], [0]), ([[1], [2]], [-1, -4]), ([[1, -2]], [0])),
        "n1 = 1: the breakpoints are second-layer neurons, the first layer's own lies before them (§3.5)",
    ),
    "exchange_of_roles": Entry(
        (_IDENTITY, ([[1, -1], [1, -2]], [-1, -1]), ([[1, -1]], [0])),
        "not generic (G3): relu(min(x1 − x2 − 1, x2)), second-layer hyperplanes can become first-layer ones (§5)",
    ),
    "exchange_of_roles_partner": Entry(
        (([[1, -1], [1, -2]], [1, -1]), ([[1, -1], [-1, -1]], [-2, -1]), ([[1, 5]], [0])),
        "the same function as exchange_of_roles with another first layer (§5)",
    ),
    "not_generic_g4": Entry(
        (_IDENTITY, ([[-1, -1], [1, 1]], [1, 2]), ([[1, 1]], [-3])),
        "not generic (G4): the two rows cancel on both first-layer hyperplanes (§5)",
    ),
    "non_local_2_2_1_1": Entry(
        (_IDENTITY, ([[1, -1]], [-1]), ([[1]], [0])),
        "its pieces are identifiable, the whole is not: fiber dimensions 2, 1 and 4 > 3 (§6)",
    ),
    "non_local_2_2_2_1": Entry(
        (_IDENTITY, ([[1, -1], [1, -2]], [-1, -3]), ([[1, 1]], [0])),
        "its pieces are identifiable, the whole is not: fiber dimensions 2, 2 and 5 > 4 (§6)",
    ),
    "non_local_2_2_2_2_1": Entry(
        (
            ([[-1, -3], [2, -3]], [-1, -1]),
            ([[-3, -3], [2, 1]], [1, -2]),
            ([[-1, 1], [-2, 1]], [1, -3]),
            ([[-3, -3]], [2]),
        ),
        "its pieces are identifiable, the whole is not: a neuron that is nonlinear on the orthant is linear here (§6)",
    ),
    "rank_deficient_2_2_1_1": Entry(
        (([[1, 1], [2, 2]], [0, -1]), ([[1, -1]], [-1]), ([[1]], [0])),
        "outside the theorem (G1): rank A1 = 1 < 2",
    ),
    "wide_2_3_2_1": Entry(
        (
            ([[1, 0], [0, 1], [-1, -1]], [0, 0, 1]),
            ([[1, -1, 2], [-1, 2, -3]], [-1, 1]),
            ([[1, 1]], [0]),
        ),
        "outside the theorem: n1 = 3 > d = 2",
    ),
    "deep_2_2_2_2_1": Entry(
        (
            ([[1, 2], [-1, 1]], [1, 0]),
            ([[1, -2], [-3, 1]], [1, 2]),
            ([[1, -1], [2, 1]], [-1, 1]),
            ([[1, -2]], [3]),
        ),
        "outside the theorem: four affine layers",
    ),
    "one_layer_space_2_3_1": Entry(
        (([[1, 1], [1, -1], [0, 0]], [0, 1, 2]), ([[1, 2, -1]], [0])),
        "one hidden layer on R^2 with a constant neuron (§2.7)",
    ),
    "one_layer_orthant_2_3_1": Entry(
        (([[1, -1], [-1, 2], [1, 1]], [0, 1, 2]), ([[1, 2, -1]], [0])),
        "one hidden layer on the orthant, one linear neuron: two of the four choices of sides are feasible (§2.3)",
        Orthant(2),
    ),
    "one_layer_box_2_2_1": Entry(
        (([[1, 0], [0, 1]], [2, 2]), ([[1, -1]], [0])),
        "relu(x1 + 2) − relu(x2 + 2) on [−1, 1]²: both neurons linear there (§2.7)",
        Box([-1, -1], [1, 1]),
    ),
}


def names() -> tuple[str, ...]:
    """Give the names of the networks.

    >>> "line_1_1_1_1" in names()
    True
    """
    return tuple(_ENTRIES)


def _entry(name: str) -> Entry:
    try:
        return _ENTRIES[name]
    except KeyError:
        raise InvalidNetworkError(
            f"the gallery has no network {name!r}; it has {', '.join(_ENTRIES)}", value=name
        ) from None


def network(name: str) -> Network:
    """Give the network of this name.

    Raises:
        InvalidNetworkError: for an unknown name; the message lists the known ones.

    >>> network("line_1_1_1_1").widths
    (1, 1, 1, 1)
    """
    entry = _entry(name)
    return Network(entry.layers, entry.domain)


def about(name: str) -> str:
    """Say what the network of this name shows.

    Raises:
        InvalidNetworkError: for an unknown name.
    """
    return _entry(name).about
