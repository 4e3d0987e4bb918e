"""Which hypotheses of the theorem a network meets, with a witness for each violated one.

Main definitions
    Condition      one hypothesis: name, verdict (True, False, None = not decided), witness
    Genericity     the report; `is_generic` is True, False or None

Main results
    genericity     G1 to G5 for the bottleneck; G2, G3, G5 for one hidden layer; cell by cell elsewhere

References: theory §2.3, §3.5, §5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, UnsupportedError
from semialg_fibers.fibers import masks, transversality
from semialg_fibers.fibers.symbolic_genericity import symbolic_findings
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.domain import Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.geometry.scalar import Vector
from semialg_fibers.networks.arrangement import oriented
from semialg_fibers.networks.expected import expect_network
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.networks.neuron_kind import LINEAR, NONLINEAR, kinds_by_signs, neuron_types


@dataclass(frozen=True)
class Condition:
    """One hypothesis: `verdict` True, False or None (not decided); `witness` says in words and indices why."""

    name: str
    verdict: bool | None
    reason: str
    witness: tuple[object, ...] = field(default=())

    def __str__(self) -> str:
        """Give name, verdict and reason in one line."""
        word = {True: "holds", False: "violated", None: "not decided"}[self.verdict]
        return f"({self.name}) {word}: {self.reason}"


@dataclass(frozen=True)
class Genericity:
    """The hypotheses of the theorem, each with its verdict.

    `is_generic` is False when one is violated, None when none is violated but one was not decided.
    """

    conditions: tuple[Condition, ...]

    @property
    def is_generic(self) -> bool | None:
        """Whether every hypothesis holds."""
        verdicts = [condition.verdict for condition in self.conditions]
        if False in verdicts:
            return False
        return None if None in verdicts else True

    @property
    def violated(self) -> tuple[str, ...]:
        """Names of the violated hypotheses."""
        return tuple(c.name for c in self.conditions if c.verdict is False)

    @property
    def undecided(self) -> tuple[str, ...]:
        """Names of the hypotheses that were not decided."""
        return tuple(c.name for c in self.conditions if c.verdict is None)

    def __str__(self) -> str:
        """Give one line for each hypothesis."""
        return "\n".join(map(str, self.conditions))


def is_bottleneck(net: Network) -> bool:
    """Say whether the network has three layers on R^d with n1 ≤ d (rank A1 = n1 is hypothesis G1)."""
    expect_network(net)
    return len(net.layers) == 3 and isinstance(net.domain, Space) and net.layers[0].outputs <= net.layers[0].inputs


@checked
def genericity(net: Network, budget: int = 5_000) -> Genericity:
    """Decide each hypothesis of the theorem for a three-layer bottleneck network or one hidden layer.

    For other networks the two conditions that take their place, by activation cells, at most `budget` of them.

    Implements: theory §5.

    Raises:
        UnsupportedError: for a network with one affine layer, of which nothing is asked.

    >>> net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, -2]], [-1, -1]), ([[1, -1]], [0])])
    >>> genericity(net).violated
    ('G3',)
    """
    return _decided(net, budget)


@lru_cache(maxsize=8)
def _decided(net: Network, budget: int) -> Genericity:
    if isinstance(net.domain, Polyhedron) and len(net.layers) == 2:
        raise UnsupportedError(why_unsupported(net))
    if not net.is_rational and (len(net.layers) == 2 or is_bottleneck(net)):
        return Genericity(tuple(Condition(*finding) for finding in symbolic_findings(net)))
    if len(net.layers) == 2:
        return Genericity(tuple(_one_hidden_layer(net)))
    if is_bottleneck(net):
        return Genericity(tuple(_bottleneck(net)))
    if len(net.layers) == 1:
        raise UnsupportedError(why_unsupported(net))
    found = transversality.findings(net, budget)
    return Genericity(tuple(Condition(name, verdict, words, where) for name, (verdict, words, where) in found))


def why_unsupported(net: Network) -> str:
    """Say which hypothesis about the shape of the network fails."""
    if len(net.layers) == 1:
        return "a network with one affine layer has no hidden units: its parameters are its function"
    if isinstance(net.domain, Polyhedron):
        return "the theorem covers R^d, the orthant and boxes, not polyhedra; same_function does, for one hidden layer"
    if len(net.layers) > 3:
        return f"the theorem covers two and three affine layers, this network has {len(net.layers)}"
    if not isinstance(net.domain, Space):
        return f"the three-layer theorem is about all of R^d, this network's domain is {net.domain}"
    n1, d = net.layers[0].outputs, net.layers[0].inputs
    return f"the theorem needs a bottleneck n1 ≤ d, this network has n1 = {n1} > d = {d}"


def _one_hidden_layer(net: Network) -> Iterator[Condition]:
    forms, outer = net.layers[0].forms, net.layers[1].matrix
    kinds = neuron_types(net, 1)
    zero_rows = [j for j, form in enumerate(forms) if not any(form)]
    mute = [j for j, kind in enumerate(kinds) if kind == NONLINEAR and not any(outer.column(j))]
    if zero_rows:
        yield Condition("G2", False, f"row {zero_rows[0] + 1} of [B | β] is zero", ("zero row", zero_rows[0]))
    elif mute:
        reason = f"column {mute[0] + 1} of the outgoing weights is zero, and that neuron is nonlinear"
        yield Condition("G2", False, reason, ("zero column", mute[0]))
    else:
        yield Condition("G2", True, "no zero row, no nonlinear neuron with outgoing weights zero")
    yield _distinct_hyperplanes(forms, kinds)
    if isinstance(net.domain, Space):
        yield Condition("G5", True, "on R^p linear neurons are constants, nothing is asked")
    else:
        yield _linear_rank(net.layers[0].matrix, outer, kinds)


def _distinct_hyperplanes(forms: Sequence[Vector], kinds: Sequence[str]) -> Condition:
    seen: dict[tuple[int, ...], int] = {}
    for j, (form, kind) in enumerate(zip(forms, kinds, strict=True)):
        if kind == NONLINEAR:
            hyperplane = oriented(form)[0]
            if hyperplane in seen:
                pair = (seen[hyperplane], j)
                reason = f"rows {pair[0] + 1} and {j + 1} have the same hyperplane"
                return Condition("G3", False, reason, ("same hyperplane", *pair))
            seen[hyperplane] = j
    return Condition("G3", True, "the hyperplanes of nonlinear neurons are pairwise different")


def _linear_rank(incoming: Matrix, outgoing: Matrix, kinds: Sequence[str]) -> Condition:
    """(G5): Σ over linear rows of C_j B_j has rank min(m, p, q)."""
    linear = [j for j, kind in enumerate(kinds) if kind == LINEAR]
    if not linear:
        return Condition("G5", True, "there is no linear row")
    total = outgoing.select(columns=linear) @ incoming.select(rows=linear)
    rank, expected = total.rank(), min(*total.shape, len(linear))
    if rank == expected:
        return Condition("G5", True, f"the linear rows' product has rank {rank}")
    reason = f"the linear rows' product has rank {rank}, expected min(m, p, q) = {expected}"
    return Condition("G5", False, reason, ("rank", rank, expected))


def _bottleneck(net: Network) -> Iterator[Condition]:
    first, second, third = net.layers
    n1 = first.outputs
    rank = first.matrix.rank()
    if rank == n1:
        yield Condition("G1", True, f"rank A1 = n1 = {n1}")
    else:
        yield Condition("G1", False, f"rank A1 = {rank} < n1 = {n1}", ("rank", rank, n1))
    no_zeros = _no_zeros(second, third.matrix)
    yield no_zeros
    yield _ratios(second)
    if rank < n1:
        yield Condition("G4", None, "not asked: the first layer does not map onto the orthant")
    else:
        yield _masked_sums(net, bool(no_zeros.verdict))
    if n1 > 1:
        yield _linear_rank(second.matrix, third.matrix, kinds_by_signs(second))
    else:
        yield Condition("G5", True, "nothing is asked for n1 = 1")


def _no_zeros(second: Layer, outgoing: Matrix) -> Condition:
    """(G2): no zero in [A2 | b2], no zero column in A3."""
    for j, form in enumerate(second.integer_forms):
        if not all(form):
            k = form.index(0)
            name = f"A2 entry ({j + 1}, {k + 1})" if k < len(form) - 1 else f"b2 entry {j + 1}"
            return Condition("G2", False, f"{name} is zero", ("zero", j, k))
    for j in range(outgoing.shape[1]):
        if not any(row[j] for row in outgoing.integer_rows()):
            return Condition("G2", False, f"column {j + 1} of A3 is zero", ("zero column", j))
    return Condition("G2", True, "no zero in [A2 | b2], no zero column in A3")


def _ratios(second: Layer) -> Condition:
    """(G3): in each column the ratios b2_j / A2_jk of rows with A2_jk b2_j < 0 differ."""
    for k, column in enumerate(list(zip(*second.integer_forms, strict=True))[:-1]):
        seen: dict[fmpq, int] = {}
        for j, value in enumerate(column):
            constant = second.integer_forms[j][-1]
            if (value < 0 < constant) or (constant < 0 < value):
                ratio = fmpq(constant, value)
                i = seen.setdefault(ratio, j)
                if i != j:
                    reason = f"in column {k + 1} rows {i + 1} and {j + 1} have the same ratio {ratio}"
                    return Condition("G3", False, reason, ("column", k, "rows", i, j))
    return Condition("G3", True, "no two second-layer hyperplanes meet on an edge of the orthant")


def _masked_sums(net: Network, no_zeros: bool) -> Condition:
    """(G4): Σ_(j∈J) A3_·j A2_jk ≠ 0 for every k and every nonempty realizable J."""
    second, third = net.layers[1:]
    if no_zeros and third.matrix.rank() == third.inputs:
        return Condition("G4", True, "A3 has full column rank")
    try:
        found = masks.cancelling_rows(second, third.matrix)
    except BudgetExceededError as error:
        return Condition("G4", None, error.message, ("column", error.place["column"]))
    if found is not None:
        k, mask, point = found
        return Condition("G4", False, masks.told(k, mask), ("column", k, "rows", mask, "at h", point))
    return Condition("G4", True, "no sum of masked products of rows active together on a hyperplane vanishes")
