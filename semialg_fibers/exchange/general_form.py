r"""Components in letters: the theory's formulas for a network whose numbers would fill pages.

Main results
    general_form    LaTeX lines for a component, in the entries A^{(l)}_{i,j}, a^{(l)}_i of the given network

References: theory §2.3, §3.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from semialg_fibers.fibers.constant_component import ConstantComponent
from semialg_fibers.fibers.hidden_component import HiddenComponent
from semialg_fibers.fibers.one_hidden_layer import OrientationComponent
from semialg_fibers.geometry.domain import Orthant
from semialg_fibers.networks.neuron_kind import DEAD, LINEAR, neuron_types

if TYPE_CHECKING:
    from semialg_fibers.networks.layer import Network

_BASE = (
    r"\par\noindent Here $A^{(l)}_{i,j}$, $a^{(l)}_{i}$ are the weights and biases of the given network, whose values "
    r"stand in a table of their own."
)


def general_form(component: Any, net: Network | None) -> list[str] | None:
    """Give LaTeX lines for a component of the fiber of `net`; None for kinds whose base is not that network.

    Implements: theory §2.3, §3.4.
    """
    if net is None or component is None or component.direction is not None:
        return None
    if isinstance(component, ConstantComponent):
        return [_BASE, *display(_constant(component))]
    if isinstance(component, HiddenComponent):
        return [_BASE, *_hidden(component)]
    if isinstance(component, OrientationComponent):
        domain = component.block.problem.domain
        return [_BASE, *_orientation(component, net)] if isinstance(domain, Orthant) else None
    return None


def display(lines: Sequence[str]) -> Iterator[str]:
    """Yield an align* environment."""
    yield r"\begin{align*}"
    yield from (rf"{line} \\" for line in lines[:-1])
    yield lines[-1]
    yield r"\end{align*}"


def index_set(indices: Sequence[int]) -> str:
    r"""Write a set of indices from 0 as LaTeX that counts from 1, runs of three and more with dots.

    >>> print(index_set([0, 1, 2, 3, 6]), index_set([]))
    \{1, \dots, 4, 7\} \emptyset
    """
    if not indices:
        return r"\emptyset"
    runs: list[list[int]] = []
    for i in sorted(indices):
        if runs and runs[-1][-1] == i - 1:
            runs[-1].append(i)
        else:
            runs.append([i])
    parts = []
    for run in runs:
        shown = [str(i + 1) for i in run]
        parts += shown if len(run) < 3 else [shown[0], r"\dots", shown[-1]]
    return rf"\{{{', '.join(parts)}\}}"


def _constant(component: ConstantComponent) -> list[str]:
    _, n1, n2, m = component.widths
    return [
        rf"W^{{(2)}}_{{j,k}} &\le 0, \quad b^{{(2)}}_{{j}} \le 0 && (j = 1, \dots, {n2},\ k = 1, \dots, {n1})",
        rf"b^{{(3)}}_{{i}} &= a^{{(3)}}_{{i}} && (i = 1, \dots, {m})",
    ]


def _hidden(component: HiddenComponent) -> Iterator[str]:
    frame = component.frame
    d, n1, _, m = component.widths
    h = frame.column + 1
    yield rf"\par\noindent $h = {h}$ is the hidden hyperplane, $S = {index_set(component.flips)}$ the flipped ones,"
    yield rf"$L = {index_set(frame.alive)}$ the alive rows, $D = {index_set(frame.dead)}$ the dead ones;"
    yield r"$\varepsilon_k = -1$ for $k \in S$, else $1$; $r_k = A^{(2)}_{j,k}/A^{(2)}_{j,h}$ for every $j \in L$."
    yield from display(
        [
            r"W^{(1)}_{k,c} &= \lambda_k \varepsilon_k A^{(1)}_{k,c}, \quad "
            rf"b^{{(1)}}_{{k}} = \lambda_k \varepsilon_k a^{{(1)}}_{{k}} && (k \ne h,\ c = 1, \dots, {d})",
            r"W^{(1)}_{h,c} &= \lambda_h \Bigl(A^{(1)}_{h,c} + \sum_{k \in S} r_k A^{(1)}_{k,c}\Bigr) "
            rf"&& (c = 1, \dots, {d})",
            r"b^{(1)}_{h} &= \lambda_h \Bigl(a^{(1)}_{h} + \sum_{k \in S} r_k a^{(1)}_{k} + t\Bigr)",
            rf"W^{{(2)}}_{{j,k}} &= \mu_j A^{{(2)}}_{{j,k}} / \lambda_k && (j \in L,\ k = 1, \dots, {n1})",
            r"b^{(2)}_{j} &= \mu_j \bigl(a^{(2)}_{j} - A^{(2)}_{j,h} t\bigr) < 0 && (j \in L)",
            rf"W^{{(3)}}_{{i,j}} &= A^{{(3)}}_{{i,j}} / \mu_j && (i = 1, \dots, {m},\ j \in L)",
            rf"W^{{(2)}}_{{j,k}} &< 0, \quad b^{{(2)}}_{{j}} < 0 && (j \in D,\ k = 1, \dots, {n1})",
            rf"b^{{(3)}}_{{i}} &= a^{{(3)}}_{{i}} && (i = 1, \dots, {m})",
            r"\lambda_k &> 0, \quad \mu_j > 0, \quad t > \max_{j \in L} a^{(2)}_{j} / A^{(2)}_{j,h}",
        ]
    )


def _orientation(component: OrientationComponent, net: Network) -> Iterator[str]:
    block, layer = component.block, 1 if component.first is None else 2
    p, m = block.problem.p, block.problem.m
    kinds = neuron_types(net, layer)
    own = [j for j, kind in enumerate(kinds) if kind == LINEAR]
    w, b, out, shift = f"W^{{({layer})}}", f"b^{{({layer})}}", f"W^{{({layer + 1})}}", f"b^{{({layer + 1})}}"
    aw, ab, aout, ashift = (text.replace("W", "A").replace("b", "a") for text in (w, b, out, shift))
    scale = "" if component.first is None else r" \lambda_k"
    yield rf"\par\noindent $N = {index_set(block.nonlinear)}$ are the nonlinear rows,"
    yield rf"$S = {index_set(component.flips)}$ the flipped ones,"
    yield rf"$L_0 = {index_set(own)}$ the linear rows of the given network, which has"
    yield rf"{sum(kind == DEAD for kind in kinds)} dead ones; $\varepsilon_j = -1$ for $j \in S$ and $1$ otherwise."
    yield r"The remainder is"
    total = r"\sum_{j \in L_0 \cup S}"
    yield from display(
        [
            rf"M_{{i,k}} &= {total} {aout}_{{i,j}} {aw}_{{j,k}}, \quad "
            rf"v_{{i}} = {ashift}_{{i}} + {total} {aout}_{{i,j}} {ab}_{{j}}"
        ]
    )
    rows = []
    if component.first is not None:
        d, n1 = component.widths[:2]
        rows.append(
            r"W^{(1)}_{k,c} &= \lambda_k A^{(1)}_{k,c}, \quad b^{(1)}_{k} = \lambda_k a^{(1)}_{k}, \quad \lambda_k > 0"
            rf" && (k = 1, \dots, {n1},\ c = 1, \dots, {d})"
        )
    columns = rf"k = 1, \dots, {p}"
    rows += [
        rf"{out}_{{i,j}} {w}_{{j,k}}{scale} &= \varepsilon_j {aout}_{{i,j}} {aw}_{{j,k}} && (j \in N,\ {columns})",
        rf"{out}_{{i,j}} {b}_{{j}} &= \varepsilon_j {aout}_{{i,j}} {ab}_{{j}} && (j \in N)",
        rf"\varepsilon_j \Bigl(\sum_k {aw}_{{j,k}} {w}_{{j,k}} + {ab}_{{j}} {b}_{{j}}\Bigr) &> 0 && (j \in N)",
    ]
    for q in component.numbers_of_linear_rows:
        linear, dead = block.spare[:q], block.spare[q:]
        yield rf"\par\noindent As a set, $L = {index_set(linear)}$ linear and $D = {index_set(dead)}$ dead"
        yield rf"(dimension {component.part_dimension(q)}), where $i = 1, \dots, {m}$:"
        more = []
        if linear:
            more += [
                rf"\sum_{{j \in L}} {out}_{{i,j}} {w}_{{j,k}}{scale} &= M_{{i,k}} && ({columns})",
                rf"{w}_{{j,k}} &\ge 0, \quad {b}_{{j}} \ge 0 && (j \in L,\ {columns})",
            ]
        more.append(rf"{shift}_{{i}} + \sum_{{j \in L}} {out}_{{i,j}} {b}_{{j}} &= v_{{i}}")
        if dead:
            more.append(rf"{w}_{{j,k}} &\le 0, \quad {b}_{{j}} \le 0 && (j \in D,\ {columns})")
        yield from display(rows + more)
