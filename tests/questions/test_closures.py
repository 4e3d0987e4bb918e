"""Closures that meet are shown by a limit of members of both; those that do not, by conditions that hold on both."""

from fractions import Fraction

import pytest

from semialg_fibers import gallery
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.geometry.scalar import exact
from semialg_fibers.geometry.semialgebraic import BasicSet, symbols_for
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.closures import Apart, Meet, Open, _Closed, closure_graph, closures_meet
from semialg_fibers.verify.oracle import same_on_cells


def test_theory_3_5_the_hidden_family_touches_the_visible_one_at_beta_zero():
    found = fiber(gallery.network("line_hidden_1_1_2_1"))
    hidden, visible, other = found.components
    answer = closures_meet(hidden, visible)
    assert isinstance(answer, Meet)
    assert 0 in answer.point.layers[1].offset  # a linear row with β' = 0: the first layer's breakpoint is the neuron's
    assert not found.contains(answer.point) or visible.contains(answer.point)
    assert same_on_cells(found.network, answer.point) is None  # no point where they differ
    assert isinstance(closures_meet(visible, other), Apart)
    assert isinstance(closures_meet(other, hidden), Apart)


def test_the_common_point_is_a_limit_of_members_of_both():
    """Members of the hidden family whose t approaches its end approach the point, up to scaling and labelling."""
    net = gallery.network("line_hidden_1_1_2_1")
    hidden = fiber(net).components[0]
    point = closures_meet(*fiber(net).components[:2]).point
    image = hidden.parametrization
    scale = point.layers[0].matrix[0, 0] / net.layers[0].matrix[0, 0]
    order = [0, 1] if point.layers[2].matrix[0, 0] * net.layers[2].matrix[0, 0] > 0 else [1, 0]
    point = point.permuted(2, order)
    mu = [net.layers[2].matrix[0, j] / point.layers[2].matrix[0, j] for j in range(2)]
    end = point.layers[0].offset[0] / scale - net.layers[0].offset[0]
    for exponent in (1, 5, 9):
        step = exact(Fraction(1, 10**exponent))
        member = image.at({"lambda_0": scale, "mu_0": mu[0], "mu_1": mu[1], "t": end + step})
        assert hidden.contains(member)
        gaps = [abs(member.parameters[name] - value) for name, value in point.parameters.items()]
        assert 0 < max(gaps) <= 100 * step


@pytest.mark.parametrize("name", ["linear_2_2_2_1", "hidden_2_2_2_1", "flips_3_3_1_1", "cancelling_sides"])
def test_for_two_and_more_first_layer_units_the_components_are_closed_and_apart(name):
    answers = closure_graph(fiber(gallery.network(name)), 3)
    assert answers
    assert all(isinstance(answer, Apart) for answer in answers.values())


def test_a_component_meets_itself():
    component = fiber(gallery.network("hidden_2_2_2_1")).components[0]
    assert closures_meet(component, component).meets


def test_what_is_not_shown_is_said_to_be_open():
    first, second = fiber(gallery.network("side_without_generic_member")).components
    assert isinstance(closures_meet(first, second), Open)
    own, other = fiber(gallery.network("hidden_2_2_2_1")).components
    assert closures_meet(own, other, budget=1).meets is None
    symbolic = fiber(Network.generic(2, 2, 1, 1, signs=["+--"])).components[0]
    assert "letters" in closures_meet(symbolic, symbolic).reason


def test_a_contradiction_needs_different_constants_or_opposite_signs():
    x, y = symbols_for(["x", "y"])
    one, two, twice = (_Closed.of(BasicSet((x, y), (e,))) for e in (x * y - 1, x * y - 2, 2 - 2 * x * y))
    assert one.contradicts(two)
    assert not one.contradicts(twice)  # the same equation
    up, down = (_Closed.of(BasicSet((x, y), (), (e,))) for e in (x, -x))
    assert not up.contradicts(down)  # x = 0 is in both closures
    product = _Closed.of(BasicSet((x, y), (x * y - 1,), (x,)))
    assert product.contradicts(down)
    assert not product.contradicts(up)
    sum_of_two = _Closed.of(BasicSet((x, y), (x * y + y - 1,), (x,)))
    assert not sum_of_two.contradicts(down)
