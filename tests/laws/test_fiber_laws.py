"""Laws of membership and counting, on random generic networks of every kind that the theory tells apart (theory §1–§3).

The judge of equality is `verify.oracle`, which shares no code with the fibers.
"""

from fractions import Fraction
from math import factorial

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import (
    columns_of,
    fractions,
    hidden_columns,
    kinds,
    layer_rows,
    linear_product,
    network_at,
    nonnegative_column_rank,
    with_opposite_unit,
)
from strategies import DOMAINS, KINDS, networks_of, one_hidden_layers, points, relabelled, seeds, some_components

from semialg_fibers.fibers.block import block_of
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.genericity import genericity
from semialg_fibers.fibers.hiding import hidden_hyperplanes
from semialg_fibers.fibers.one_hidden_layer import OrientationFamily
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.scalar import exact, vector
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import neuron_types
from semialg_fibers.verify.oracle import same_on_cells


def count_linear(net):
    return kinds(net).count("linear")


every_kind = pytest.mark.parametrize("kind", KINDS)
few = settings(max_examples=8)


# membership


@every_kind
@few
@given(st.data())
def test_every_sample_of_every_component_is_the_same_function_and_is_recognised(kind, data):
    net = data.draw(networks_of(kind))
    found = fiber(net)
    assert found.complete is True
    assert found.assumptions == ()
    for component in some_components(data, found):
        member = component.sample(data.draw(seeds))
        assert member.widths == net.widths
        assert same_on_cells(net, member) is None
        for point in data.draw(st.lists(points(net.domain), min_size=3, max_size=3)):
            assert net(point) == member(point)
        assert component.contains(member)
        assert found.contains(member)
        assert component.set.contains(member.parameters)
        moved = data.draw(relabelled(member))
        assert component.contains(moved)
        assert found.contains(moved)
        assert found.locate(moved) == component
    assert found.components[0].contains(net)
    assert found.components[0].set.contains(net.parameters)
    anywhere = found.sample(data.draw(seeds))
    assert same_on_cells(net, anywhere) is None
    assert found.contains(anywhere)


@every_kind
@few
@given(st.data())
def test_a_perturbed_member_is_rejected(kind, data):
    net = data.draw(networks_of(kind))
    found = fiber(net)
    component = data.draw(st.sampled_from(some_components(data, found)))
    member = component.sample(data.draw(seeds))
    name = data.draw(st.sampled_from(sorted(member.parameters)))
    step = exact(data.draw(st.sampled_from(["1/1000", "-1/1000", 5, -5])))
    other = network_at({**member.parameters, name: member.parameters[name] + step}, member)
    if same_on_cells(net, other) is None:
        assert found.contains(other) or genericity(other).is_generic is not True
    else:
        assert not found.contains(other)
        assert not component.contains(other)
        assert not component.set.contains(other.parameters)


@every_kind
@few
@given(st.data())
def test_inequalities_exclude_what_the_equations_allow(kind, data):
    net = data.draw(networks_of(kind))
    found = fiber(net)
    component = data.draw(st.sampled_from(some_components(data, found)))
    member = component.sample(data.draw(seeds))
    for layer in range(1, len(net.layers)):
        for unit in range(net.widths[layer]):
            other = with_opposite_unit(member, layer, unit)
            if same_on_cells(net, other) is not None:
                assert not component.set.contains(other.parameters)
                assert not found.contains(other)


@every_kind
@few
@given(st.data())
def test_components_are_disjoint(kind, data):
    found = fiber(data.draw(networks_of(kind)))
    chosen = some_components(data, found, 4)
    assert [component.sample(1) == component.sample(1) for component in chosen] == [True] * len(chosen)
    for component in chosen:
        member = component.sample(data.draw(seeds))
        assert [other.contains(member) for other in chosen] == [other is component for other in chosen]
        for other in chosen:
            assert other.set.contains(member.parameters) == (other is component)


@every_kind
@few
@given(st.data())
def test_a_generic_member_has_the_same_fiber(kind, data):
    net = data.draw(networks_of(kind))
    found = fiber(net)
    start = data.draw(seeds)
    members = [found.sample(seed) for seed in range(start, start + 4)]
    member = next((each for each in members if genericity(each).is_generic), net)
    again = fiber(member)
    assert again.contains(net)
    assert again.component_count == found.component_count
    assert again.labelled_count == found.labelled_count
    assert again.dimension == found.dimension


@every_kind
@few
@given(st.data())
def test_another_labelling_and_scaling_of_units_changes_no_answer(kind, data):
    net = data.draw(networks_of(kind))
    moved = data.draw(relabelled(net))
    first, second = fiber(net), fiber(moved)
    for question in ("component_count", "labelled_count", "dimension", "local_dimension", "complete", "assumptions"):
        assert getattr(first, question) == getattr(second, question), question
    assert sorted(neuron_types(net)) == sorted(neuron_types(moved))
    assert len(hidden_hyperplanes(net)) == len(hidden_hyperplanes(moved))
    verdicts = [[(c.name, c.verdict) for c in genericity(each).conditions] for each in (net, moved)]
    assert verdicts[0] == verdicts[1]
    shape = [sorted((c.kind, len(c.flips), c.dimension) for c in found.components[:16]) for found in (first, second)]
    if first.component_count <= 16:
        assert shape[0] == shape[1]


@every_kind
@few
@given(st.data())
def test_other_widths_and_domains_are_not_contained(kind, data):
    net = data.draw(networks_of(kind))
    found = fiber(net)
    *before, last = net.layers
    wider = Network([*before, (last.matrix.stacked(last.matrix), [*last.offset, *last.offset])], net.domain)
    assert not found.contains(wider)
    elsewhere = [Space(net.widths[0]), Orthant(net.widths[0]), Box([-1] * net.widths[0], [5] * net.widths[0])]
    for domain in elsewhere:
        assert found.contains(Network(net.layers, domain)) == (domain == net.domain)


# counting


@every_kind
@few
@given(st.data())
def test_components_are_counted_listed_and_labelled(kind, data):
    net = data.draw(networks_of(kind))
    found = fiber(net)
    count = found.component_count
    assume(count <= 64)
    listed = list(found.components)
    assert len(listed) == len(found.components) == count
    assert list(found.components) == listed  # can be read again
    assert found.components[-1] == listed[-1]
    assert found.components[1:3] == listed[1:3]
    with pytest.raises(IndexError):
        found.components[count]
    copies = 0
    n1 = factorial(net.widths[1]) if len(net.layers) == 3 else 1
    for component in listed:
        names = kinds(component.sample(0))
        fixed = len(names) - names.count("dead") if component.kind == "hidden" else names.count("nonlinear")
        whole = component.kind == "constant"
        copies += 1 if whole else n1 * factorial(len(names)) // factorial(len(names) - fixed)
    assert found.labelled_count == copies
    by_family = {}
    for component in listed:
        by_family.setdefault((component.kind, component.direction), []).append(component.flips)
    for flips in by_family.values():
        assert flips == sorted(set(flips), key=lambda chosen: (len(chosen), chosen))
    assert listed[0].flips == ()
    assert [c.direction is None for c in listed] == [kind not in KINDS[8:11] or kind == "all dead"] * count
    if not kind.startswith("line"):
        assert len(by_family) == 1


@every_kind
@few
@given(st.data())
def test_the_kind_of_the_own_component_is_what_the_signs_say(kind, data):
    net = data.draw(networks_of(kind))
    first = fiber(net).components[0]
    if kind in DOMAINS:
        expected = "one hidden layer"
    elif set(kinds(net)) == {"dead"}:
        expected = "constant"
    else:
        expected = "hidden" if hidden_columns(net) else "visible"
    assert first.kind == expected
    assert list(neuron_types(net)) == kinds(net)
    assert (list(hidden_hyperplanes(net)) == hidden_columns(net)) or kind in DOMAINS


# soundness needs no genericity


@pytest.mark.parametrize("kind", DOMAINS)
@settings(max_examples=25)
@given(st.data())
def test_components_of_networks_that_are_not_generic_are_sound(kind, data):
    """Theory §2.3: for any rows and columns, feasible components hold only members of the fiber."""
    domain = data.draw(one_hidden_layers(kind, generic=False).map(lambda net: net.domain))
    p, n, m = domain.dimension, data.draw(st.integers(2, 3)), data.draw(st.integers(1, 2))
    small = st.integers(-1, 1)
    rows = data.draw(st.lists(st.lists(small, min_size=p + 1, max_size=p + 1), min_size=n, max_size=n))
    weights = data.draw(st.lists(st.lists(small, min_size=n, max_size=n), min_size=m, max_size=m))
    net = Network([([row[:-1] for row in rows], [row[-1] for row in rows]), (weights, [0] * m)], domain)
    family = OrientationFamily(block_of(net, neuron_types(net)), net.widths)
    for component in family.components():
        assert same_on_cells(net, component.sample(data.draw(seeds))) is None
        assert same_on_cells(net, network_at(component.set.sample(data.draw(seeds)), net)) is None


@settings(max_examples=25)
@given(st.data())
def test_components_behind_a_first_layer_are_sound_without_genericity(data):
    """G3, G4, G5 and zeros in [A2 | b2]: only the rank of A1 is needed."""
    n2, m = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2))
    small = st.integers(-1, 1)
    rows = data.draw(st.lists(st.lists(small, min_size=3, max_size=3), min_size=n2, max_size=n2))
    weights = data.draw(st.lists(st.lists(small, min_size=n2, max_size=n2), min_size=m, max_size=m))
    net = Network(
        [([[1, 2], [1, -1]], [0, 1]), ([row[:-1] for row in rows], [row[-1] for row in rows]), (weights, [1] * m)]
    )
    family = OrientationFamily(block_of(net.part(2, 3), neuron_types(net)), net.widths, net.layers[0])
    for component in family.components():
        member = component.sample(data.draw(seeds))
        assert same_on_cells(net, member) is None
        assert same_on_cells(net, network_at(component.set.sample(data.draw(seeds)), net)) is None


@pytest.mark.parametrize("kind", ["visible", "linear rows", "dead rows", "linear and dead rows"])
@few
@given(st.data())
def test_the_remainder_of_each_component_can_be_realized_by_the_spare_neurons(kind, data):
    """The members' own linear rows realize M_S: rank₊col(M_S) ≤ q, and the component's least q is that rank."""
    net = data.draw(networks_of(kind))
    for component in some_components(data, fiber(net)):
        member = component.sample(data.draw(seeds))
        least = nonnegative_column_rank(linear_product(member))
        assert component.numbers_of_linear_rows[0] == least <= count_linear(member)


@settings(max_examples=10)
@given(st.data())
def test_flips_name_the_rows_whose_preactivation_changed_its_sign(data):
    net = data.draw(networks_of("linear rows"))
    for component in some_components(data, fiber(net)):
        member = component.sample(data.draw(seeds))
        own, other = layer_rows(net.layers[1]), layer_rows(member.layers[1])
        nonlinear = [j for j, name in enumerate(kinds(net)) if name == "nonlinear"]
        assert component.flips == tuple(j for j in nonlinear if own[j][0] * other[j][0] < 0)
        outgoing = zip(columns_of(net.layers[2]), columns_of(member.layers[2]), strict=True)
        assert all(
            [a * b >= 0 for a, b in zip(*pair, strict=True)] for j, pair in enumerate(outgoing) if j in nonlinear
        )


def test_the_lists_of_kinds_are_what_this_file_takes_them_for():
    assert [name for name in KINDS if name.startswith("line,")] == KINDS[8:11]
    assert fractions(vector(["1/2"])) == [Fraction(1, 2)]
