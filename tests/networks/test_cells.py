"""Cells by double description against the oracle's cells by linear programs, on networks that hypothesis invents."""

from itertools import pairwise
from math import comb

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers import gallery
from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.geometry import double_description as module
from semialg_fibers.geometry.domain import Box, Orthant, Space, negated
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ZERO, affine_value, primitive, vector
from semialg_fibers.networks.cells import (
    branch_cells,
    branches,
    cells,
    common_cells,
    each_cell,
    facet_rays,
    facets,
    signs_on,
    signs_on_facet,
)
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.verify.oracle import oracle_cells, same_on_cells, strict_point

ENTRIES = st.integers(-3, 3) | st.sampled_from(["1/2", "-2/3"])


@st.composite
def layers(draw, inputs, outputs):
    """A layer in which zero, repeated, opposite and parallel rows are common."""
    rows = []
    for _ in range(outputs):
        kind = draw(st.sampled_from(["free", "free", "free", "zero", "multiple", "parallel"]))
        row = vector(draw(st.lists(ENTRIES, min_size=inputs + 1, max_size=inputs + 1)))
        if kind == "zero":
            row = (*[ZERO] * inputs, draw(st.sampled_from([ZERO, row[-1]])))
        elif rows and kind != "free":
            factor = draw(st.sampled_from([1, -1, 2]))
            before = draw(st.sampled_from(rows))
            row = (*(factor * value for value in before[:-1]), factor * before[-1] if kind == "multiple" else row[-1])
        rows.append(row)
    return Layer([row[:-1] for row in rows], [row[-1] for row in rows])


@st.composite
def domains(draw, dimension):
    low = draw(st.lists(st.integers(-2, 1), min_size=dimension, max_size=dimension))
    return draw(st.sampled_from([Space(dimension), Orthant(dimension), Box(low, [value + 2 for value in low])]))


@st.composite
def networks(draw, domain=None):
    inputs = domain.dimension if domain else draw(st.integers(1, 3))
    hidden = draw(st.lists(st.integers(1, 3), max_size=3))
    widths = [inputs, *hidden, draw(st.integers(1, 2)) if domain is None else 1]
    chain = [draw(layers(i, o)) for i, o in pairwise(widths)]
    return Network(chain, domain or draw(domains(inputs)))


def strictly(cell):
    return [vector(form) for form in cell.inequalities]


@settings(max_examples=150, deadline=None)
@given(networks())
def test_the_patterns_are_those_of_the_oracle_in_lexicographic_order(net):
    patterns = [cell.pattern for cell in cells(net)]
    assert patterns == sorted({cell.pattern for cell in oracle_cells(net)})


@settings(max_examples=200, deadline=None)
@given(networks())
def test_the_network_has_the_cells_signs_and_affine_map_at_its_interior_point(net):
    for cell in cells(net):
        assert all(affine_value(form, cell.interior) > 0 for form in strictly(cell))
        assert all(affine_value(form, cell.interior) > 0 for form in net.domain.constraints())
        assert cell.contains(cell.interior)
        x = cell.interior
        for number, layer in enumerate(net.layers[:-1]):
            values = layer.apply(x)
            assert values == tuple(affine_value(form, cell.interior) for form in cell.preactivations[number])
            for unit, (bit, value) in enumerate(zip(cell.pattern[number], values, strict=True)):
                assert bit == (value > 0)
                assert (value == 0) == ((number + 1, unit) in cell.vanishing)
                assert any(cell.preactivations[number][unit]) == (value != 0)
            x = tuple(max(value, ZERO) for value in values)
        affine = zip(cell.matrix.times(cell.interior), cell.offset, strict=True)
        assert net.value(cell.interior) == tuple(a + b for a, b in affine)


def assert_that_rays_are_extreme(net):
    """A ray is extreme when the constraints tight on it leave one dimension beside the lineality space."""
    for cell in cells(net):
        constraints = [*cell.inequalities, (0,) * net.domain.dimension + (1,)]
        assert len(set(cell.rays)) == len(cell.rays)
        for ray in cell.rays:
            assert ray[-1] >= 0
            assert primitive(vector(ray)) == ray
            values = [sum(a * b for a, b in zip(form, ray, strict=True)) for form in constraints]
            assert min(values) >= 0
            tight = [form for form, value in zip(constraints, values, strict=True) if value == 0]
            assert Matrix(tight, columns=len(ray)).rank() == len(ray) - len(cell.lineality) - 1
        for line in cell.lineality:
            assert not any(sum(a * b for a, b in zip(form, line, strict=True)) for form in cell.inequalities)


@settings(max_examples=150, deadline=None)
@given(networks())
def test_rays_are_distinct_and_primitive_and_extreme(net):
    assert_that_rays_are_extreme(net)


@settings(max_examples=100, deadline=None)
@given(networks(), st.data())
def test_signs_on_a_cell_are_those_that_a_linear_program_finds(net, data):
    size = net.domain.dimension + 1
    form = vector(data.draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size)))
    for cell in cells(net):
        found = [strict_point([*strictly(cell), each], cell.interior) is not None for each in (form, negated(form))]
        assert signs_on(cell, form) == tuple(found)


def on_hyperplane(form, hyperplane):
    """The form as one of the other coordinates, where x_k = −(γ + Σ_(i≠k) w_i x_i) / w_k."""
    k = next(i for i, value in enumerate(hyperplane[:-1]) if value)
    reduced = [value - form[k] * other / hyperplane[k] for value, other in zip(form, hyperplane, strict=True)]
    return tuple(reduced[:k] + reduced[k + 1 :])


def signs_on_facet_by_programs(cell, facet, form):
    known = strictly(cell)
    if not any(facet[:-1]) or all(strict_point([*known, each], cell.interior) for each in (facet, negated(facet))):
        return None  # constant, or cut through
    sides = {primitive(facet), primitive(negated(facet))}
    others = [on_hyperplane(each, facet) for each in known if primitive(each) not in sides]
    origin = (ZERO,) * (len(facet) - 2)
    if strict_point(others, origin) is None:
        return None
    reduced = on_hyperplane(form, facet)
    return tuple(strict_point([*others, each], origin) is not None for each in (reduced, negated(reduced)))


@settings(max_examples=75, deadline=None)
@given(networks(), st.data())
def test_facets_and_signs_on_them_are_those_that_linear_programs_find(net, data):
    size = net.domain.dimension + 1
    form = vector(data.draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size)))
    for cell in cells(net):
        preactivations = [each for layer in cell.preactivations for each in layer]
        for facet in [*strictly(cell), *preactivations, form]:
            expected = signs_on_facet_by_programs(cell, facet, form)
            assert signs_on_facet(cell, facet, form) == expected
            assert (facet_rays(cell, facet) is None) == (expected is None)
        programs = [each for each in cell.inequalities if signs_on_facet_by_programs(cell, vector(each), form)]
        assert list(facets(cell)) == programs


@st.composite
def pairs(draw):
    domain = draw(domains(draw(st.integers(1, 2))))
    return draw(networks(domain)), draw(networks(domain))


@settings(max_examples=150, deadline=None)
@given(pairs())
def test_on_a_common_piece_both_networks_are_affine_as_stated(pair):
    a, b = pair
    pieces = list(common_cells(a, b))
    assert len({(left.pattern, right.pattern) for left, right in pieces}) == len(pieces)
    assert {left.pattern for left, _ in pieces} == {cell.pattern for cell in cells(a)}
    assert {right.pattern for _, right in pieces} == {cell.pattern for cell in cells(b)}
    for left, right in pieces:
        assert (left.inequalities, left.rays, left.interior) == (right.inequalities, right.rays, right.interior)
        for net, cell in ((a, left), (b, right)):
            affine = zip(cell.matrix.times(cell.interior), cell.offset, strict=True)
            assert net.value(cell.interior) == tuple(u + v for u, v in affine)
    equal = all((left.matrix, left.offset) == (right.matrix, right.offset) for left, right in pieces)
    assert equal == (same_on_cells(a, b) is None)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_common_cells_are_the_cells_of_the_networks_side_by_side(data):
    domain = data.draw(domains(data.draw(st.integers(1, 3))))
    a, b = ([data.draw(layers(domain.dimension, 3)), data.draw(layers(3, 1))] for _ in range(2))
    both = Layer(a[0].matrix.stacked(b[0].matrix), a[0].offset + b[0].offset)
    side_by_side = Network([both, Layer([[0] * 6], [0])], domain)
    pieces = common_cells(Network(a, domain), Network(b, domain))
    assert [((*left.pattern[0], *right.pattern[0]),) for left, right in pieces] == [
        cell.pattern for cell in cells(side_by_side)
    ]


@pytest.mark.parametrize(("units", "dimension"), [(1, 1), (5, 1), (3, 2), (6, 2), (5, 3), (6, 3), (3, 4), (7, 4)])
def test_a_generic_hidden_layer_has_the_number_of_cells_of_a_simple_arrangement(units, dimension):
    rows = [[(t + 2) ** k for k in range(dimension)] for t in range(units)]  # points of the moment curve
    net = Network([Layer(rows, [(t + 2) ** dimension for t in range(units)]), Layer([[1] * units], [0])])
    assert sum(1 for _ in cells(net)) == sum(comb(units, i) for i in range(dimension + 1))


@pytest.mark.parametrize(
    ("domain", "count", "rays"), [(Space(2), 1, 1), (Orthant(3), 1, 4), (Box([0] * 4, [1] * 4), 1, 16)]
)
def test_zero_rows_do_not_cut_the_domain(domain, count, rays):
    zero = Network([Layer([[0] * domain.dimension] * 2, [0, 1]), Layer([[1, 1]], [0])], domain)
    found = list(cells(zero))
    assert [(cell.pattern, cell.vanishing, len(cell.rays)) for cell in found] == [(((0, 1),), ((1, 0),), rays)] * count


def test_only_adjacent_rays_give_new_ones():
    """Two vertices of the square x1 = x2 = 0 are no edge though x1 + x2 ≥ 0, redundant by then, is tight on both."""
    rows = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]
    box = Box([-1, -1, 0, 0], [1, 1, 1, 1])
    net = Network([Layer(rows, [0, 0, 0, -1]), Layer([[1, 1, 1, 1]], [0])], box)
    assert_that_rays_are_extreme(net)
    assert [len(cell.rays) for cell in cells(net)][-2:] == [12, 12]  # square times triangle


def test_a_diagonal_is_no_facet_though_it_holds_enough_rays():
    square = next(each_cell(Network([Layer([[1, 1]], [0])], Box([0, 0], [1, 1]))))
    assert facet_rays(square, (1, -1, 0)) is None
    assert facet_rays(square, (1, 0, -1)) == ((1, 0, 1), (1, 1, 1))


def test_space_is_divided_by_the_lines_that_no_unit_sees():
    net = Network([Layer([[1, 1, 0], [2, 2, 0]], [0, 1]), Layer([[1, 1]], [0])])
    assert [(cell.pattern, len(cell.lineality)) for cell in cells(net)] == [
        (((0, 0),), 2),
        (((0, 1),), 2),
        (((1, 1),), 2),
    ]


def test_a_second_layer_with_zero_biases_vanishes_where_the_first_is_off():
    net = Network([Layer([[1], [2]], [0, 0]), Layer([[1, -1], [1, 1]], [0, 0]), Layer([[1, 1]], [0])])
    assert [(cell.pattern, cell.vanishing) for cell in cells(net)] == [
        (((0, 0), (0, 0)), ((2, 0), (2, 1))),
        (((1, 1), (0, 1)), ()),
    ]


def test_a_network_without_hidden_units_is_one_cell():
    (cell,) = cells(Network([Layer([["1/2", 3]], ["1/3"])]))
    assert (cell.pattern, cell.inequalities, cell.preactivations) == ((), (), ())
    assert (cell.matrix.row(0), cell.offset) == ((fmpq(1, 2), fmpq(3)), (fmpq(1, 3),))


def test_a_cell_contains_its_boundary_and_no_more():
    first = next(each_cell(Network([Layer([[2]], [-1]), Layer([[1]], [0])])))
    assert [first.contains([x]) for x in (0, "1/2", "51/100")] == [True, True, False]
    with pytest.raises(InvalidNetworkError):
        first.contains([0, 0])


def test_the_budget_is_the_number_of_cells_that_may_be_seen():
    net = Network([Layer([[1], [1]], [0, 1]), Layer([[1, 1]], [0])])
    assert len(list(cells(net, budget=3))) == len(list(common_cells(net, net, budget=3))) == 3
    for found in (each_cell(net, budget=2), common_cells(net, net, budget=2)):
        with pytest.raises(BudgetExceededError, match="budget of 2 cells") as caught:
            list(found)
        assert caught.value.budget == 2


def test_a_cell_with_too_many_rays_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MAX_RAYS", 7)
    box = Box([0, 0, 0], [1, 1, 1])
    with pytest.raises(BudgetExceededError, match="7 rays"):
        next(each_cell(Network([Layer([[1, 1, 1]], [0])], box)))


def test_networks_on_different_domains_have_no_common_cells():
    layers_ = [Layer([[1]], [0])]
    with pytest.raises(InvalidNetworkError, match="different domains"):
        next(common_cells(Network(layers_), Network(layers_, Orthant(1))))


@pytest.mark.parametrize("least", [1, 2, 5, 64])
@pytest.mark.parametrize("name", ["visible_2_2_2_1", "wide_2_3_2_1"])
def test_branches_are_the_cells_in_their_order(name, least):
    net = gallery.network(name)
    whole = cells(net)
    parts = branches(net, least)
    assert len(parts) >= min(least, len(whole))
    assert tuple(cell for branch in parts for cell in branch_cells(net, branch)) == whole
    with pytest.raises(BudgetExceededError):
        [cell for branch in branches(net, 1) for cell in branch_cells(net, branch, budget=1)]
