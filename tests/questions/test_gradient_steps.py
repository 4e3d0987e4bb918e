"""Exact gradient steps: against derivatives taken from the definition, and their refusals."""

import random
from fractions import Fraction

import pytest

from semialg_fibers import gallery
from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.conservation import conservation_laws
from semialg_fibers.questions.gradient_steps import drift, gradient_step


def loss(net, xs, ys):
    """½ Σ |f(x) − y|², exactly."""
    errors = [value - target for x, y in zip(xs, ys, strict=True) for value, target in zip(net(x), y, strict=True)]
    return sum(Fraction(int(e.p), int(e.q)) ** 2 for e in errors) / 2


def changed(net, name, amount):
    """The network with one parameter changed."""
    layer, *place = map(int, name[1:].split("_"))
    layers = [([list(row) for row in each.matrix.rows()], list(each.offset)) for each in net.layers]
    entries = layers[layer - 1][0][place[0]] if name[0] == "W" else layers[layer - 1][1]
    entries[place[-1]] = Fraction(str(entries[place[-1]])) + amount
    return Network(layers, net.domain)


@pytest.mark.parametrize("name", ["visible_2_2_2_1", "two_linear_2_2_3_2", "deep_2_2_2_2_1"])
def test_a_step_is_the_derivative(name):
    """The loss is quadratic in a single parameter near θ, so that the central difference is its derivative exactly."""
    net, source = gallery.network(name), random.Random(1)
    xs = [[Fraction(source.randint(-99, 99), 7) for _ in range(2)] for _ in range(3)]
    ys = [[Fraction(source.randint(-9, 9)) for _ in range(net.widths[-1])] for _ in xs]
    tiny = Fraction(1, 10**6)
    after = gradient_step(net, xs, ys, "1/3").parameters
    for parameter, value in net.parameters.items():
        slope = loss(changed(net, parameter, tiny), xs, ys) - loss(changed(net, parameter, -tiny), xs, ys)
        assert Fraction(str(value - after[parameter])) * 3 == slope / (2 * tiny), parameter


def test_the_third_power_is_fitted_too():
    """Four step sizes give four coefficients; a law of degree 2 has only the second."""
    net = gallery.network("visible_2_2_2_1")
    found = drift(net, conservation_laws(net).found, [[3, 1], [-2, 5]], [[1], [0]], ["1/2", "1/3", "1/5", "1/7"])
    assert found.is_second_order
    assert any(row[1] for row in found.coefficients)
    assert all(len(row) == 4 and not row[0] and not row[2] and not row[3] for row in found.coefficients)


def test_refusals():
    net = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1])])
    with pytest.raises(UnsupportedError, match="unit 2 of layer 1 is zero") as caught:
        gradient_step(net, [[1, 0]], [[3]], 1)
    assert (caught.value.layer, caught.value.row) == (1, 1)
    with pytest.raises(InvalidNetworkError, match="expected 2 and 1"):
        gradient_step(net, [[1]], [[3]], 1)
    with pytest.raises(InvalidNetworkError, match="expected 2 and 1"):
        gradient_step(net, [[1, 2]], [[3, 4]], 1)
    with pytest.raises(InvalidNetworkError, match="2 points and 1 target"):
        gradient_step(net, [[1, 2], [3, 4]], [[3]], 1)
    for steps in (["1/2", "1/4"], ["1/2", "1/2", "1/4"], ["1/2", "1/4", 0]):
        with pytest.raises(InvalidNetworkError, match="three different step sizes"):
            drift(net, (), [[1, 2]], [[3]], steps)
