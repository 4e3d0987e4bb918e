"""Parametrizations both ways, and paths of members only; where none is claimed, that is said (theory §2.6)."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import kinds, layer_rows, network_at
from strategies import KINDS, networks_of, seeds, some_components

from semialg_fibers import gallery
from semialg_fibers.errors import InexactInputError, InvalidNetworkError, UnsupportedError
from semialg_fibers.fibers import paths
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.component import Parametrization
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.oracle import same_on_cells

every_kind = pytest.mark.parametrize("kind", KINDS)
few = settings(max_examples=4)
places = st.fractions(0, 1, max_denominator=9)


# the two ways


@every_kind
@few
@given(st.data())
def test_coordinates_give_the_member_back(kind, data):
    net = data.draw(networks_of(kind))
    for component in some_components(data, fiber(net), 2):
        assert component.domain == net.domain
        assert len(component.parametrizations) == len(component.set.parts)
        assert component.parametrizations[0] == component.parametrization
        for part, image in zip(component.set.parts, component.parametrizations, strict=True):
            member = network_at(part.sample(data.draw(seeds)), net)
            found = image.coordinates(member)
            assert list(found) == list(image.symbols)
            assert image.at(found, net.domain) == member
            assert image.at({s.name: v for s, v in found.items()}, net.domain) == member
        assert component.coordinates(network_at(component.set.parts[0].sample(1), net))


@every_kind
@few
@given(st.data())
def test_no_entry_brings_two_symbols_at_once(kind, data):
    """Layer by layer, weights first: λ_k, then t, then μ_l, then the parameters of other rows (theory §2.3, §3.4).

    So that a member has its coordinates by one walk through its entries.
    """
    for component in some_components(data, fiber(data.draw(networks_of(kind))), 3):
        for image in component.parametrizations:
            seen = set()
            for weight, bias in image.network:
                for entry in (*weight, *bias):
                    new = sympy.sympify(entry).free_symbols - seen
                    assert len(new) <= 1
                    seen |= new
            assert seen == set(image.symbols)


def test_the_given_network_has_the_coordinates_one():
    component = fiber(gallery.network("hidden_2_2_2_1")).components[0]
    found = component.coordinates(gallery.network("hidden_2_2_2_1"))
    assert {str(s): v for s, v in found.items()} == {"lambda_0": 1, "lambda_1": 1, "mu_0": 1, "mu_1": 1, "t": 0}


def test_values_that_are_none_are_refused():
    net = gallery.network("hidden_2_2_2_1")
    image = fiber(net).components[0].parametrization
    values = {str(s): v for s, v in image.coordinates(net).items()}
    assert image.at(values) == net
    for changed, words in (
        ({"t": "-1/2"}, "outside the range t > -1/2: t = -1/2"),
        ({"mu_0": 0}, "outside the range mu_0 > 0"),
        ({"lambda_1": -3}, "outside the range lambda_1 > 0"),
    ):
        with pytest.raises(InvalidNetworkError, match=words):
            image.at(values | changed)
    with pytest.raises(InvalidNetworkError, match="no value for t"):
        image.at({name: v for name, v in values.items() if name != "t"})
    with pytest.raises(InexactInputError):
        image.at(values | {"t": 0.5})
    dead = fiber(gallery.network("dead_2_2_2_1")).components[0].parametrization
    values = dead.coordinates(gallery.network("dead_2_2_2_1"))
    assert dead.at({**values, sympy.Symbol("beta_1", real=True): 0})  # weak: ≤ 0
    with pytest.raises(InvalidNetworkError, match="range -beta_1 >= 0: beta_1 = 1/9"):
        dead.at({str(s): v for s, v in values.items()} | {"beta_1": "1/9"})
    hidden = fiber(gallery.network("hidden_with_dead_2_2_2_1")).components[0].parametrization
    values = {str(s): v for s, v in hidden.coordinates(gallery.network("hidden_with_dead_2_2_2_1")).items()}
    with pytest.raises(InvalidNetworkError, match="B_1_0 < 0: B_1_0 = 0"):  # strict
        hidden.at(values | {"B_1_0": 0})
    linear = fiber(gallery.network("linear_2_2_2_1")).components[0].parametrization
    values = {str(s): v for s, v in linear.coordinates(gallery.network("linear_2_2_2_1")).items()}
    with pytest.raises(InvalidNetworkError, match=r"violate .* = 0"):
        linear.at(values | {"C_0_1": 5})


def test_networks_outside_the_image_are_refused():
    found = fiber(gallery.network("hidden_2_2_2_1"))
    first, second = found.components
    member = first.sample(3)
    for net in (
        second.sample(3),
        member.permuted(1, [1, 0]),
        gallery.network("line_1_1_1_1"),
        Network([*member.layers[:2], (member.layers[2].weight, [7])]),
    ):
        with pytest.raises(InvalidNetworkError, match="not in this part of the component"):
            first.coordinates(net)
        with pytest.raises(InvalidNetworkError, match="not in this part of the component"):
            first.path(member, net)


def test_an_image_with_letters_waits_for_numbers():
    net = Network.generic(2, 2, 1, 1, signs=["+--"])
    values = {"a1_0_0": 1, "a1_0_1": 0, "a1_1_0": 2, "a1_1_1": 1, "c1_0": 0, "c1_1": 1, "a2_0_0": 2, "a2_0_1": -1}
    values |= {"c2_0": -1, "a3_0_0": 3, "c3_0": "1/2"}
    for component in fiber(net).components:
        with pytest.raises(InvalidNetworkError, match="the image has the letters a1_0_0, a1_0_1") as caught:
            component.coordinates(net)
        assert set(caught.value.letters) <= set(values)
        numeric = component.subs(values)
        member = numeric.sample(2)
        found = numeric.coordinates(member)
        assert numeric.parametrization.at(found) == member
        image = component.parametrization  # the letters' numbers may also be given here
        assert image.at({str(k): v for k, v in found.items()} | values) == member
        path = numeric.path(member, numeric.sample(3))
        assert numeric.contains(path.at("2/5"))


# paths


def assert_is_a_path(path, component, net, start, end, at):
    assert path.check()
    assert (path.at(0), path.at(1)) == (start, end)
    for s in at:
        member = path.at(s)
        assert component.contains(member)
        assert component.set.contains(member.parameters)
        assert same_on_cells(net, member) is None
        for (weight, bias), layer in zip(path.network, member.layers, strict=True):
            here = {path.parameter: sympy.Rational(s.numerator, s.denominator)}
            assert weight.subs(here) == layer.weight
            assert tuple(sympy.sympify(value).subs(here) for value in bias) == layer.bias


def path_or_none(component, start, end):
    try:
        return component.path(start, end)
    except UnsupportedError:
        return None


@every_kind
@few
@given(st.data())
def test_every_point_of_a_path_is_a_member(kind, data):
    net = data.draw(networks_of(kind))
    for component in some_components(data, fiber(net), 2):
        for part in component.set.parts[:2]:
            start, end = (network_at(part.sample(data.draw(seeds)), net) for _ in range(2))
            path = path_or_none(component, start, end)
            if path is None:  # only linear rows can be in the way
                assert "linear" in kinds(start)
                continue
            assert_is_a_path(path, component, net, start, end, data.draw(st.lists(places, min_size=1, max_size=2)))


@pytest.mark.parametrize(
    ("name", "straight"),
    [
        ("visible_2_2_2_1", True),
        ("dead_2_2_2_1", True),
        ("hidden_with_dead_2_2_2_1", True),
        ("constant_2_2_2_1", True),
        ("line_1_1_1_1", True),
        ("linear_2_2_2_1", False),
        ("two_linear_2_2_3_2", False),
        ("one_layer_box_2_2_1", False),
    ],
)
def test_paths_by_hand(name, straight):
    net = gallery.network(name)
    for component in fiber(net).components:
        part = component.set.parts[0]
        start, end = network_at(part.sample(1), net), network_at(part.sample(6), net)
        path = component.path(start, end)
        assert path.reason.startswith("the ranges are convex" if straight else "linear rows on a straight line")
        assert_is_a_path(path, component, net, start, end, [Fraction(1, 3), Fraction(4, 7)])
        still = component.path(start, start)
        assert still.at("1/2") == start


def linear_rows_swapped(net):
    """The labels of the two linear rows of two_linear_2_2_3_2 exchanged: still a member, of the other orientation."""
    return net.permuted(2, [0, 2, 1])


def test_no_path_is_claimed_across_a_zero_of_the_determinant():
    net = gallery.network("two_linear_2_2_3_2")
    component = fiber(net).components[0]
    for seed in range(3):
        member = component.sample(seed)
        other = linear_rows_swapped(member)
        assert component.contains(other)
        with pytest.raises(UnsupportedError, match=r"no path is claimed: the determinant .* \(theory §2\.6\)"):
            component.path(member, other)
        path = component.path(member, component.sample(seed + 10))
        signs = set()
        for i in range(13):
            rows = layer_rows(path.at(Fraction(i, 12)).layers[1])[1:]
            determinant = rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]
            signs.add(determinant > 0)
            assert determinant != 0
        assert len(signs) == 1


def test_no_path_is_claimed_between_members_of_different_parts():
    component = fiber(gallery.network("one_layer_space_2_3_1")).components[0]
    one, other = (network_at(part.sample(2), gallery.network("one_layer_space_2_3_1")) for part in component.set.parts)
    with pytest.raises(UnsupportedError, match="different numbers of linear rows"):
        component.path(one, other)


def test_a_path_has_an_end():
    component = fiber(gallery.network("line_1_1_1_1")).components[0]
    path = component.path(component.sample(1), component.sample(2))
    for s in ("-1/9", "10/9", 2):
        with pytest.raises(InvalidNetworkError, match=r"for s in \[0, 1\]"):
            path.at(s)


def test_a_path_that_leaves_its_range_does_not_pass_its_check():
    """Each condition of the check, violated on purpose."""
    u, v, s = sympy.symbols("u v s", real=True)
    net = Network([([[1]], [1])])
    layers = ((sympy.ImmutableMatrix([[u]]), (v,)),)
    positive = (sympy.Gt(u, 0, evaluate=False),)

    def checked(values, ranges=positive, equations=()):
        image = Parametrization((u, v), ranges, equations, layers)
        return paths.Path(image, s, values, net, net, net.domain, "").check()

    one = sympy.Integer(1)
    assert checked({u: one, v: one})
    assert not checked({u: one, v: 1 + s})  # another end
    assert not checked({u: one + s * (s - 1) * 5, v: one})  # out of range in the middle: not affine
    assert not checked({u: one, v: one + s * (s - 1)}, equations=(v - 1,))
    assert not checked({u: one, v: (2 * s - 1) ** 2 / (2 * s - 1) ** 2 + s * (s - 1) / (2 * s - 1)})  # a pole
    assert not checked({u: one, v: one}, ranges=(sympy.Gt(u, 1, evaluate=False),))  # strict
    assert checked({u: one, v: one}, ranges=(sympy.Ge(u, 1, evaluate=False),))
    assert not checked({u: one, v: one}, ranges=(*positive, sympy.Gt(v, 1, evaluate=False)))  # one of two
    assert checked({u: one, v: one + s * (s - 1) / (2 * s - 3)})  # a pole beyond the end
    assert not checked({u: one, v: one + s * (s - 1) / (s - 1) ** 2})  # a pole at the end
    assert checked({u: one, v: one + s * (s - 1)}, equations=(u - 1,))
    assert not checked({u: one, v: one}, equations=(u - 1, v - 2))


@pytest.mark.parametrize(
    ("relation", "holds"),
    [
        (sympy.Gt, [False, False, True]),
        (sympy.Ge, [False, True, True]),
        (sympy.Lt, [True, False, False]),
        (sympy.Le, [True, True, False]),
    ],
)
def test_ranges_are_strict_or_not_as_they_are_written(relation, holds):
    u = sympy.Symbol("u", real=True)
    image = Parametrization((u,), (relation(2 * u, 1, evaluate=False),), (), ((sympy.ImmutableMatrix([[u]]), (u,)),))
    for value, inside in zip(("1/3", "1/2", "2/3"), holds, strict=True):
        if inside:
            assert image.at({u: value}).layers[0].weight[0, 0] == sympy.Rational(value)
        else:
            with pytest.raises(InvalidNetworkError, match=f"outside the range .*: u = {value}"):
                image.at({"u": value})
