"""First hidden layer of width one: f is a piecewise linear function of one variable, and roles can be exchanged.

Main definitions
    Bends            f = φ(w·x + b): the breakpoints of φ as forms in x, and the jumps of its slope
Main results
    families_of      the families (direction, visible or hidden) of a generic network with n1 = 1

References: theory §3.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flint import fmpq

from semialg_fibers.errors import UnsupportedError
from semialg_fibers.fibers.block import Block, block_of
from semialg_fibers.fibers.component import Family
from semialg_fibers.fibers.hidden_component import HiddenFamily, HiddenFrame
from semialg_fibers.fibers.one_hidden_layer import OrientationFamily
from semialg_fibers.fibers.orientation import OrientationProblem
from semialg_fibers.fibers.symbolic_orientation import SymbolicOrientationProblem
from semialg_fibers.geometry.domain import Form, Orthant, negated
from semialg_fibers.geometry.expression import signs_of
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector
from semialg_fibers.geometry.symbolic_matrix import column_matrix
from semialg_fibers.networks.arrangement import arrangement
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.networks.neuron_kind import neuron_types


@dataclass(frozen=True)
class Bends:
    """φ in the direction of u = w·x + b: constant `start` before the first breakpoint.

    `places` are the breakpoints τ in ascending order, `jumps` the jumps of the slope there (m-vectors per unit of u);
    `base` is the form (w, b) of u itself.
    """

    base: Form
    places: tuple[fmpq, ...]
    jumps: tuple[Vector, ...]
    start: Vector

    def form(self, place: fmpq) -> Form:
        """Give the form u − place."""
        return (*self.base[:-1], self.base[-1] - place)

    @property
    def final_slope(self) -> Vector:
        """The slope of φ after the last breakpoint."""
        return tuple(sum(values, ZERO) for values in zip(*self.jumps, strict=True))

    def reversed(self) -> Bends:
        """Give φ read in the other direction; its final slope must be zero.

        A jump of the slope is the same in both directions.
        """
        end = list(self.start)
        for place, jump in zip(self.places, self.jumps, strict=True):
            end = [value + (self.places[-1] - place) * step for value, step in zip(end, jump, strict=True)]
        places = tuple(-place for place in reversed(self.places))
        return Bends(negated(self.base), places, tuple(reversed(self.jumps)), tuple(end))


def bends_of(net: Network) -> Bends:
    """Give φ of a network with n1 = 1, in the direction of its own first layer.

    Implements: theory §3.5.
    """
    data = arrangement(net.part(2, 3))
    bends = [(-ONE * a[1] / a[0], tuple(value * a[0] for value in jump)) for a, jump in data.hyperplanes]
    slope = data.linear.column(0)
    if any(slope):
        bends.append((ZERO, slope))
    bends.sort(key=lambda bend: bend[0])
    places, jumps = tuple(place for place, _ in bends), tuple(jump for _, jump in bends)
    return Bends(net.layers[0].forms[0], places, jumps, data.constant)


def families_of(net: Network) -> list[Family]:
    """Give the families of a generic network with n1 = 1 whose function is not constant; its own comes first.

    Implements: theory §3.5.

    Raises:
        UnsupportedError: where letters may make it a network that is not generic, so that no family is its own.
    """
    kinds = neuron_types(net, 2)
    bends = bends_of(net)
    families: list[Family] = []
    if not bends.places:
        raise _open("all bends cancel")
    if bends.places[0] == 0:
        block = block_of(net.part(2, 3), kinds)
        families.append(OrientationFamily(block, net.widths, net.layers[0], 1))
        families += _hidden(bends, net, 1)
    else:
        own = tuple(j for j, kind in enumerate(kinds) if kind != "dead")
        if not all(signs_of(net.layers[1].forms[j][-1]) == {-1} for j in own):
            raise _open("the slopes of the rows that are active where the first layer switches cancel")
        families += _hidden(bends, net, 1, own)
        families += _visible(bends, net, 1)
    if not any(bends.final_slope):
        other = bends.reversed()
        families += [*_visible(other, net, -1), *_hidden(other, net, -1)]
    return families


def _open(what: str) -> UnsupportedError:
    """Give the refusal of a network with letters that need not be generic, where the signs do not tell."""
    return UnsupportedError(f"{what}, and whether the network is generic depends on its letters: substitute numbers")


def _visible(bends: Bends, net: Network, direction: int) -> Iterator[Family]:
    """The first-layer breakpoint is the outermost one; the others are nonlinear neurons, opening outwards for S = ∅."""
    k, n2 = len(bends.places) - 1, net.widths[2]
    if k > n2:
        return
    origin = bends.places[0]
    problem = OrientationProblem(
        Orthant(1),
        tuple((ONE, origin - place) for place in bends.places[1:]),
        bends.jumps[1:],
        column_matrix([bends.jumps[0]], net.widths[-1]),
        bends.start,
        n2 - k,
    )
    if not net.is_rational:
        problem = SymbolicOrientationProblem.of(problem, (((ONE,), bends.jumps[0]),))
    block = Block(problem, tuple(range(k)), tuple(range(k, n2)))
    first = bends.form(origin)
    yield OrientationFamily(block, net.widths, Layer([first[:-1]], first[-1:]), direction)


def _hidden(bends: Bends, net: Network, direction: int, labels: tuple[int, ...] | None = None) -> Iterator[Family]:
    """Every breakpoint is an alive neuron; the first layer's own lies anywhere strictly before them.

    `labels` names the alive rows when these are the given network's own neurons: then its parameters are kept.
    """
    a, n2 = len(bends.places), net.widths[2]
    if a > n2:
        return
    if labels is None:
        labels = tuple(range(a))
        origin = bends.places[0] - 1
        first = bends.form(origin)
        rows: tuple[Form, ...] = tuple((ONE, origin - place) for place in bends.places)
        outgoing = bends.jumps
    else:
        first, rows = bends.base, tuple(net.layers[1].forms[j] for j in labels)
        outgoing = tuple(net.layers[2].matrix.column(j) for j in labels)
    dead = tuple(j for j in range(n2) if j not in labels)
    yield HiddenFamily(HiddenFrame(net.widths, 0, (first,), labels, rows, outgoing, dead, bends.start, {}), direction)
