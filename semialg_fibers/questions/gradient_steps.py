"""How far does one exact gradient step leave the laws? At second order in its size, as it should.

Main definitions
    Drift            the changes of each law for several step sizes, and the polynomial in the step size through them

Main results
    gradient_step    θ − η ∇_θ ½ Σ |f_θ(x_k) − y_k|², exactly
    drift            Q(θ − η g) − Q(θ) for three or more step sizes η

Q(θ − η g) − Q(θ) = −η ⟨∇Q, g⟩ + η² (...): the first coefficient is zero exactly when the law holds for these data.

References: theory §7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, dot, quantity, vector
from semialg_fibers.networks.layer import Layer, Network, relu
from semialg_fibers.questions.laws import Law


@dataclass(frozen=True)
class Drift:
    """For each law its changes, one for each step size, and c_1, c_2, ... of the polynomial Σ c_k η^k through them."""

    laws: tuple[Law, ...]
    steps: Vector
    changes: tuple[Vector, ...]
    coefficients: tuple[Vector, ...]

    @property
    def is_second_order(self) -> bool:
        """Whether c_1 = 0 for every law, exactly."""
        return all(row[0] == 0 for row in self.coefficients)


@checked
def gradient_step(
    net: Network, points: Iterable[Iterable[Any]], targets: Iterable[Iterable[Any]], step: Any
) -> Network:
    """Give the network with the parameters θ − η ∇_θ ½ Σ_k |f_θ(x_k) − y_k|², η = `step`.

    Raises:
        UnsupportedError: when a preactivation is zero at a point, so that f need not be differentiable in θ there.
        InvalidNetworkError: for points and targets that do not fit the network.

    >>> net = Network([([[1]], [1]), ([[2]], [0])])
    >>> gradient_step(net, [[1]], [[3]], "1/10").layers[1].weight  # f(1) = 4, error 1, h(1) = 2
    Matrix([[9/5]])
    """
    eta = vector([step])[0]
    slopes = [[[ZERO] * (layer.inputs + 1) for _ in range(layer.outputs)] for layer in net.layers]
    xs, ys = [vector(point) for point in points], [vector(target) for target in targets]
    if len(xs) != len(ys):
        raise InvalidNetworkError(
            f"expected as many targets as points, got {quantity(len(xs), 'point')} and {quantity(len(ys), 'target')}"
        )
    for x, y in zip(xs, ys, strict=True):
        if len(x) != net.widths[0] or len(y) != net.widths[-1]:
            raise InvalidNetworkError(
                f"a point has {quantity(len(x), 'coordinate')} and its target {len(y)}, expected {net.widths[0]} and "
                f"{net.widths[-1]}"
            )
        _add_slopes(net, x, y, slopes)
    layers = []
    for layer, rows in zip(net.layers, slopes, strict=True):
        moved = [
            [v - eta * s for v, s in zip(form, row, strict=True)] for form, row in zip(layer.forms, rows, strict=True)
        ]
        layers.append(Layer([row[:-1] for row in moved], [row[-1] for row in moved]))
    return net.with_layers(layers)


def _add_slopes(net: Network, x: Vector, y: Vector, slopes: list[list[list[fmpq]]]) -> None:
    """Add the gradient of ½ |f(x) − y|² by the rows of each [W | b]."""
    inputs, before = [x], []
    for number, layer in enumerate(net.layers, 1):
        before.append(layer.apply(inputs[-1]))
        inputs.append(relu(before[-1]))
        if number < len(net.layers) and ZERO in before[-1]:
            raise UnsupportedError(
                f"the preactivation of unit {before[-1].index(ZERO) + 1} of layer {number} is zero at the point {x}: f "
                "need not be differentiable in the parameters there",
                layer=number,
                row=before[-1].index(ZERO),
            )
    after: Sequence[fmpq] = [value - target for value, target in zip(before[-1], y, strict=True)]
    for number in range(len(net.layers) - 1, -1, -1):
        for row, slope in zip(slopes[number], after, strict=True):
            for k, value in enumerate((*inputs[number], ONE)):
                row[k] += slope * value
        if number:
            columns = net.layers[number].matrix.columns()
            after = [
                dot(after, column) if z > 0 else ZERO for column, z in zip(columns, before[number - 1], strict=True)
            ]


@checked
def drift(
    net: Network,
    laws: Iterable[Law],
    points: Iterable[Iterable[Any]],
    targets: Iterable[Iterable[Any]],
    steps: Iterable[Any] = ("1/8", "1/16", "1/32"),
) -> Drift:
    """Give the change of each law under one gradient step of each size, and the polynomial through the changes.

    Implements: theory §7.

    Raises:
        InvalidNetworkError: for fewer than three step sizes, repeated ones or zero.

    >>> from semialg_fibers.questions.conservation import conservation_laws
    >>> net = Network([([[1]], [1]), ([[2]], [0])])
    >>> found = drift(net, conservation_laws(net).found, [[1]], [[3]])
    >>> found.coefficients, found.is_second_order  # the change of W1² + b1² − W2² is 4 η²
    (((0, 4, 0),), True)
    """
    sizes, kept = vector(steps), tuple(laws)
    if len(sizes) < 3 or len(set(sizes)) < len(sizes) or ZERO in sizes:
        raise InvalidNetworkError("expected at least three different step sizes, none of them zero", value=sizes)
    data = [vector(point) for point in points], [vector(target) for target in targets]
    start = net.parameters
    moved = [gradient_step(net, *data, size).parameters for size in sizes]
    powers = Matrix([[size ** (k + 1) for k in range(len(sizes))] for size in sizes]).inverse()
    changes = tuple(tuple(law.value(after) - law.value(start) for after in moved) for law in kept)
    return Drift(kept, sizes, changes, tuple(powers.times(row) for row in changes))
