"""What gradient descent does to the conserved quantities of gradient flow.

Main definitions
    Run          the laws and the loss along a run of gradient descent

Main results
    descend      exact gradient steps, after each of which the parameters are rounded
    plot_laws    the laws along a run, for two step sizes, and the loss

References: theory §7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.scalar import Vector, vector
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.plots.canvas import COLOURS, drawable, figure
from semialg_fibers.questions.conservation import conservation_laws
from semialg_fibers.questions.gradient_steps import gradient_step
from semialg_fibers.questions.laws import Law

DIGITS = 2**40  # parameters are rounded to multiples of 1/DIGITS, or their length would triple with each step


@dataclass(frozen=True)
class Run:
    """`values[k][s]` is law k after s steps of size `step`, exactly, and `losses[s]` the loss ½ Σ |f(x) − y|²."""

    laws: tuple[Law, ...]
    step: fmpq
    values: tuple[Vector, ...]
    losses: Vector


def descend(net: Network, points: Any, targets: Any, step: Any, steps: int) -> Run:
    """Give the independent laws and the loss along a run of gradient descent on ½ Σ |f(x) − y|².

    Implements: theory §7.

    Raises:
        InvalidNetworkError: for fewer than one step, or data that do not fit.
        UnsupportedError: when a preactivation is zero at a point.

    >>> run = descend(Network([([[1]], [1]), ([[2]], [0])]), [[1]], [[3]], "1/100", 2)
    >>> [round(float(loss), 3) for loss in run.losses], [round(float(q), 3) for q in run.values[0]]
    ([0.5, 0.379, 0.29], [-2.0, -2.0, -1.999])
    """
    if steps < 1:
        raise InvalidNetworkError(f"a run needs at least one step, got {steps}", value=steps)
    laws = conservation_laws(net).found
    xs, ys = [vector(point) for point in points], [vector(target) for target in targets]
    (size,) = vector([step])
    values: list[list[fmpq]] = [[law.value(net.parameters)] for law in laws]
    losses = [_loss(net, xs, ys)]
    for _ in range(steps):
        net = _rounded(gradient_step(net, xs, ys, size))
        for row, law in zip(values, laws, strict=True):
            row.append(law.value(net.parameters))
        losses.append(_loss(net, xs, ys))
    return Run(laws, size, tuple(map(tuple, values)), tuple(losses))


def _loss(net: Network, xs: Sequence[Vector], ys: Sequence[Vector]) -> fmpq:
    errors = [(a - b) ** 2 for x, y in zip(xs, ys, strict=True) for a, b in zip(net.value(x), y, strict=True)]
    return sum(errors, fmpq(0)) / 2


def _rounded(net: Network) -> Network:
    def short(value: fmpq) -> fmpq:
        return fmpq((value * DIGITS).floor(), DIGITS)

    return net.with_layers(
        Layer([[short(v) for v in row] for row in layer.matrix.rows()], [short(v) for v in layer.offset])
        for layer in net.layers
    )


@checked
def plot_laws(
    net: Network,
    points: Iterable[Iterable[Any]] | None = None,
    targets: Iterable[Iterable[Any]] | None = None,
    step: Any = "1/1000",
    steps: int = 100,
) -> Any:
    """Draw the change of each independent law along gradient descent, with step η and η/2, and the loss.

    Gradient flow keeps the laws; descent leaves them at first order in η over a fixed time. Unless given, the data
    are eight points, and targets that the network does not meet.

    Implements: theory §7.

    Raises:
        UnsupportedError: when a preactivation is zero at a point, or without matplotlib.
    """
    net.refuse_letters()
    xs = _points(net.widths[0]) if points is None else [vector(point) for point in points]
    if targets is None:
        ys: Any = [tuple(v + fmpq((-1) ** k * (k + 1), 4) for v in net.value(x)) for k, x in enumerate(xs)]
    else:
        ys = [vector(target) for target in targets]
    gradient_step(net, xs, ys, 0)  # refuses data that do not fit
    (size,) = vector([step])
    whole = descend(net, xs, ys, size, steps)
    half = descend(net, xs, ys, size / 2, 2 * steps)
    made, (left, right) = figure(columns=2, size=(4.4, 4.0))
    for run, style in ((whole, "-"), (half, ":")):
        time = [drawable(run.step) * s for s in range(len(run.losses))]
        for k, (law, row) in enumerate(zip(run.laws, run.values, strict=True)):
            label = f"$Q_{{{k + 1}}} = {_short(law)}$" if run is whole else None
            change = [drawable(value - row[0]) for value in row]
            left.plot(time, change, style, color=COLOURS[k % len(COLOURS)], label=label)
        right.plot(time, [drawable(loss) for loss in run.losses], style, color="black")
    left.set_xlabel("time = steps · η")
    left.set_title(f"change of each law; solid η = {size}, dotted η = {size / 2}")
    right.set_xlabel("time = steps · η")
    right.set_title("loss ½ Σ |f(x) − y|²")
    if 0 < len(whole.laws) <= 8:
        made.legend(loc="outside lower center", ncols=1, frameon=False)
    return made


def _short(law: Law) -> str:
    return law.to_latex() if len(law.terms) <= 8 else f"\\mathrm{{a\\ law\\ of\\ {len(law.terms)}\\ terms}}"


def _points(inputs: int) -> list[Vector]:
    """Give eight points with no zero in them, the same each time."""
    return [tuple(fmpq((7 * k + 11 * i) % 13 - 6, 3) + fmpq(1, 7) for i in range(inputs)) for k in range(8)]
