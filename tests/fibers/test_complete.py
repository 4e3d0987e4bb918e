"""The complete fiber of one hidden layer: exhaustive searches, members built and judged, dimensions against kernels."""

import random
from collections import defaultdict
from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import is_pointed, rank
from strategies import DOMAINS, one_hidden_layers, relabelled, seeds

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.fibers import complete
from semialg_fibers.fibers.balance import Balance
from semialg_fibers.fibers.balance_solution import draw
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.complete import complete_fiber
from semialg_fibers.fibers.strata import StratumIndex
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.geometry.recession import recession
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.oracle import jacobian_rank, same_on_cells

SPACES = {
    1: [Space(1), Orthant(1), Box([-1], [2]), Polyhedron([[1]], [2])],
    2: [
        Space(2),
        Orthant(2),
        Box([-1, 0], [1, 2]),
        Polyhedron([[-1, 1]], [1]),  # a half-plane
        Polyhedron([[1, 1], [-1, -1]], [1, 1]),  # a strip
        Polyhedron([[-1, 0], [0, -1], [1, -1]], [0, 0, 1]),
    ],
    3: [Space(3), Orthant(3), Polyhedron([[-1, 0, 0], [0, -1, 0]], [0, 0]), Polyhedron([[-1, 1, 0]], [1])],
}
small = st.sampled_from([0, 0, 1, -1, 2, -2])


@st.composite
def degenerate(draw):
    """One hidden layer with zeros, repeated and opposite hyperplanes, on any domain."""
    domain = draw(st.sampled_from([domain for domains in SPACES.values() for domain in domains]))
    n, m = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    rows = [draw(st.lists(small, min_size=domain.dimension + 1, max_size=domain.dimension + 1)) for _ in range(n)]
    if n > 1 and draw(st.booleans()):
        rows[1] = [draw(st.sampled_from([1, -1, 2, -2])) * value for value in rows[0]]
    outer = [draw(st.lists(small, min_size=n, max_size=n)) for _ in range(m)]
    inner = ([row[:-1] for row in rows], [row[-1] for row in rows])
    return Network([inner, (outer, draw(st.lists(small, min_size=m, max_size=m)))], domain)


any_network = degenerate() | st.sampled_from(DOMAINS).flatmap(lambda kind: one_hidden_layers(kind, generic=False))


def some_strata(found, seed, most=4):
    strata = list(found.strata) if found.stratum_count < 5_000 else found.strata[:50]
    return random.Random(seed).sample(strata, min(most, len(strata)))


# every equal network is in a stratum


def classes_of(p, n, domain):
    """All networks p-n-1 with entries in {−1, 0, 1}, up to the order of neurons, by their values at many points."""
    # dyadic: float arithmetic on these numbers is exact
    size = 4 if isinstance(domain, Box) else 1
    steps = [(-6 + k / 2 + k * k / 128) / size for k in range(25)]
    points = np.array([x for x in product(steps, repeat=p) if domain.contains([str(value) for value in x])])
    rows = list(product([-1, 0, 1], repeat=p + 1))
    active = [np.maximum(points @ np.array(row[:-1]) + row[-1], 0) for row in rows]
    classes = defaultdict(list)
    for chosen in combinations_with_replacement(range(len(rows)), n):
        for weights in product([-1, 0, 1], repeat=n):
            values = sum(w * active[r] for w, r in zip(weights, chosen, strict=True))
            for constant in [-1, 0, 1]:
                key = (values + constant + 0.0).tobytes()
                classes[key].append(([rows[r] for r in chosen], weights, constant))
    return classes


def made(rows, weights, constant, domain):
    return Network([([row[:-1] for row in rows], [row[-1] for row in rows]), ([weights], [constant])], domain)


EXHAUSTIVE = [
    *((1, 2, domain, 1) for domain in SPACES[1]),
    *((1, 3, domain, 7) for domain in SPACES[1]),
    *((2, 2, domain, 5) for domain in SPACES[2][:4]),
]


@pytest.mark.parametrize(("p", "n", "domain", "every"), EXHAUSTIVE, ids=lambda value: str(value))
def test_every_small_network_with_equal_values_lies_in_a_feasible_stratum(p, n, domain, every):
    """Equal values at the points are necessary for equality: no equal network can be missed.

    Of the larger families every seventh or fifth class is looked at.
    """
    seen = 0
    for members in list(classes_of(p, n, domain).values())[::every]:
        fiber_of_first = complete_fiber(made(*members[0], domain))
        indices = set()
        for member in members:
            index = fiber_of_first.frame.index_of(made(*member, domain))
            assert index is not None, member
            indices.add(index)
        for index in indices:
            assert fiber_of_first.stratum(index) is not None, index
        seen += len(members)
    assert seen > 500


@given(any_network, st.data())
@settings(max_examples=40)
def test_a_network_lies_in_its_own_stratum_and_so_do_its_relabellings(net, data):
    found = complete_fiber(net)
    own = found.locate(net)
    assert own is not None
    assert own.is_feasible
    assert own.contains(net)
    assert found.strata[0].index == own.index
    assert own.contains(data.draw(relabelled(net)))
    changed = net.with_layers([net.layers[0], (net.layers[1].matrix, [v + 1 for v in net.layers[1].offset])])
    assert not found.contains(changed)
    assert not own.contains(changed)


# every member that is built is equal; dimensions


@given(any_network, seeds)
@settings(max_examples=80)
def test_members_are_equal_and_no_stratum_is_larger_than_the_kernel(net, seed):
    found = complete_fiber(net)
    for stratum in some_strata(found, seed):
        member = stratum.sample(seed)
        assert same_on_cells(net, member) is None
        assert found.locate(member) == stratum
        assert member == stratum.sample(seed)
        judged = jacobian_rank(member)
        if judged.rank:
            assert net.parameter_count - judged.rank >= stratum.dimension


@given(any_network)
@settings(max_examples=30)
def test_strata_are_counted_and_the_largest_found_without_listing(net):
    found = complete_fiber(net)
    assume(found.stratum_count < 3_000)
    strata = list(found.strata)
    assert len(strata) == found.stratum_count == len({stratum.index for stratum in strata})
    assert found.dimension == max(stratum.dimension for stratum in strata)
    assert found.dimension == next(found.top).dimension
    assert found.contains(found.sample(1))


def test_dimension_is_the_kernels_where_that_is_an_equality():
    """m ≥ 2 on the orthant and the box, C_L of full rank, at most m neurons on a hyperplane, no split, no ghost."""
    rng, met = random.Random(5), 0
    while met < 60:
        p, n, m = rng.choice([2, 3]), rng.choice([2, 3, 4]), 2
        rows = [[rng.randint(-4, 4) for _ in range(p)] for _ in range(n)]
        inner = (rows, [rng.randint(-2, 2) for _ in range(n)])
        outer = ([[rng.randint(-3, 3) for _ in range(n)] for _ in range(m)], [0] * m)
        net = Network([inner, outer], rng.choice([Orthant(p), Box([-1] * p, [1] * p)]))
        found = complete_fiber(net)
        for stratum in some_strata(found, met, 6):
            index = stratum.index
            plain = not index.ghosts and not index.split and all(sum(sides) <= m for sides in index.essential)
            judged = jacobian_rank(stratum.sample(met))
            if plain and index.rank == min(m, index.linear) and not judged.skipped:
                assert net.parameter_count - judged.rank == stratum.dimension, (net, index)
                met += 1


def closed_form(balance, q, s):
    """D(s, q) of beyond §1.4 for domains without lines."""
    m, p = balance.m, balance.p
    w, splits, rho = balance.split.rank(), balance.split.shape[0], balance.rank
    bounded = balance.span.basis
    meet = w + bounded.shape[0] - balance.split.stacked(bounded).rank()
    return (s - rho) * (m - s) + s * q + s * (w if q > s else meet) + m * (splits - w) + p * (q - s)


@given(st.sampled_from([Orthant(3), Box([0, 0, 0], [1, 1, 1])]), st.data())
def test_the_count_by_ranks_is_the_closed_form_where_there_is_no_ghost(domain, data):
    rows = st.lists(st.lists(small, min_size=3, max_size=3), min_size=2, max_size=2)
    splits = data.draw(st.lists(st.lists(small, min_size=3, max_size=3).filter(any), max_size=2))
    balance = Balance(Matrix(data.draw(rows)), Matrix(splits, columns=3), recession(domain))
    enough = balance.feasibility()
    assert enough.check()
    for q in range(5):
        for s in range(min(q, 2) + 1):
            possible = s >= balance.rank and (s < q or balance.reach == balance.rank)
            found = list(balance.pieces(q, s, 0))
            assert bool(found) == possible
            if found:
                assert found[0].dimension == closed_form(balance, q, s)
        assert bool(balance.ranks(q, 0)) == (q >= enough.least_linear)


@given(st.sampled_from(SPACES[2] + SPACES[3]), st.integers(0, 3), st.data())
@settings(max_examples=60)
def test_a_certificate_of_feasibility_with_another_number_is_rejected(domain, ghosts, data):
    p = domain.dimension
    row = st.lists(small, min_size=p, max_size=p)
    matrix, splits = (data.draw(st.lists(row, min_size=least, max_size=2)) for least in (1, 0))
    found = Balance(Matrix(matrix), Matrix(splits, columns=p), recession(domain)).feasibility(ghosts)
    assert found.check() is True
    least = found.least_linear
    wrong = [
        replace(found, rank=found.rank + 1),
        replace(found, rank=found.rank - 1),
        replace(found, reach=found.reach + 1),
        replace(found, reach=found.reach - 1),
        *(replace(found, least_linear=other) for other in (None, 0, 1, 2, 3) if other != least),
    ]
    assert [each.check() for each in wrong] == [False] * len(wrong)


def test_a_certificate_of_feasibility_for_another_cone_or_space_is_rejected():
    """(1, −1) spans no bounded form of the orthant, but one of the box; (1, 1) spans another space."""
    none = Matrix([], columns=2)
    orthant, box = recession(Orthant(2)), recession(Box([0, 0], [1, 1]))
    on_orthant, on_box = (Balance(Matrix([[1, -1]]), none, cone).feasibility() for cone in (orthant, box))
    assert (on_orthant.least_linear, on_box.least_linear) == (2, 1)
    assert on_orthant.check()
    assert on_box.check()
    assert not replace(on_box, balance=on_orthant.balance).check()
    assert not replace(on_orthant, balance=on_box.balance).check()
    other = Balance(Matrix([[1, 1]]), none, orthant).feasibility()
    assert (other.rank, other.reach, other.least_linear) == (1, 1, 1)
    assert not replace(other, balance=Balance(Matrix([[1, 2]]), none, orthant)).check()
    larger = Balance(Matrix([[1, 0], [0, 1]]), none, orthant).feasibility()
    assert not replace(larger, balance=Balance(Matrix([[1, 0], [1, 0]]), none, orthant)).check()
    # all numbers true for the box, and claimed for the orthant
    assert not replace(on_orthant, span=on_box.span, reach=1, least_linear=1).check()
    spoilt = replace(other.span, inner=tuple(-value for value in other.span.inner))
    assert not replace(other, span=spoilt).check()


def test_ghosts_and_copies_are_listed_once_each_and_counted():
    for total in range(7):
        listed = list(complete._ghost_groups(total, total))
        pairs = [(a, b) for a in range(1, total + 1) for b in range(min(a, total - a) + 1)]
        expected = {
            tuple(sorted(chosen, reverse=True))
            for size in range(total + 1)
            for chosen in combinations_with_replacement(pairs, size)
            if sum(map(sum, chosen)) == total
        }
        assert len(set(listed)) == len(listed)
        assert set(listed) == expected
        for halves in range(total // 2 + 2):
            count = sum(1 for chosen in expected if sum(1 for _, minus in chosen if minus) == halves)
            assert complete._ghost_ways(total, halves) == count
    for extra, count, split in product(range(4), range(4), [(), (0,), (1, 2)]):
        if max(split, default=-1) < count:
            ways = list(complete._essential(extra, count, tuple(set(range(count)) - {*split, 0}), split))
            assert len(set(ways)) == len(ways) == complete._essential_ways(extra, count, len(split))
            assert all(sum(map(sum, way)) == count + len(split) + extra for way in ways)


@given(st.lists(st.lists(small, min_size=3, max_size=3), min_size=2, max_size=2))
def test_without_splits_the_least_number_is_the_nonnegative_column_rank(rows):
    balance = Balance(Matrix(rows), Matrix([], columns=3), recession(Orthant(3)))
    expected = rank(rows) + (0 if is_pointed(list(zip(*rows, strict=True))) else 1)
    assert balance.feasibility().least_linear == expected


def kernel_dimension(balance, found):
    """The dimension of all (δC, δB, δX, δY, δG) with δC B + C δB = δX W + δY G + Y δG, to first order.

    δC is tangent to the matrices of the rank of C: y δC z = 0 for y C = 0 and C z = 0. δB vanishes on the lines.
    """
    (m, p), q, g, splits = balance.matrix.shape, found.outgoing.shape[1], found.ghost.shape[1], balance.split.shape[0]
    c, b, y, ghosts, w = found.outgoing, found.linear_rows, found.ghost, found.ghost_rows, balance.split
    at_b, at_x = m * q, m * q + q * p
    at_y, at_g = at_x + m * splits, at_x + m * splits + m * g
    size = at_g + g * p
    equations = []
    for a, i in product(range(m), range(p)):
        row = [0] * size
        for j in range(q):
            row[a * q + j], row[at_b + j * p + i] = b[j, i], c[a, j]
        for j in range(splits):
            row[at_x + a * splits + j] = -w[j, i]
        for j in range(g):
            row[at_y + a * g + j], row[at_g + j * p + i] = -ghosts[j, i], -y[a, j]
        equations.append(row)
    for left, right in product(c.T.kernel().rows(), c.kernel().rows()):
        equations.append([left[a] * right[j] for a in range(m) for j in range(q)] + [0] * (size - at_b))
    for line, j in product(balance.cone.lines.rows(), range(q)):
        equations.append([0] * (at_b + j * p) + list(line) + [0] * (size - at_b - (j + 1) * p))
    return size - Matrix(equations, columns=size).rank()


@given(st.sampled_from([domain for domains in SPACES.values() for domain in domains]), st.data())
@settings(max_examples=100)
def test_solutions_of_the_balance_equation(domain, data):
    p, m = domain.dimension, data.draw(st.integers(1, 3))
    row = st.lists(small, min_size=p, max_size=p)
    splits = data.draw(st.lists(row.filter(any), max_size=2))
    matrix = data.draw(st.lists(row, min_size=m, max_size=m))
    balance = Balance(Matrix(matrix), Matrix(splits, columns=p), recession(domain))
    ghosts, q = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 3))
    least = balance.feasibility(ghosts).least_linear
    assert bool(balance.ranks(q, ghosts)) == (least is not None and q >= least)
    for s in balance.ranks(q, ghosts):
        found = draw(balance, q, s, ghosts, random.Random(1))
        assert found.holds(balance)
        assert found.outgoing.rank() == s
        assert all(balance.cone.bounds(row) for row in found.linear_rows.rows())
        assert all(any(row) for row in found.ghost_rows.rows())
        piece = balance.largest(q, s, ghosts)
        assert found.ghost.rank() == piece.rank
        assert found.outgoing.beside(found.ghost).rank() == s + piece.outer
        if piece.confined:  # the rows of B_L may lie on the cone's boundary, which the kernel does not see
            assert kernel_dimension(balance, found) >= piece.dimension
        else:
            assert kernel_dimension(balance, found) == piece.dimension


# cases


def test_only_a_split_stratum_where_both_components_are_infeasible():
    """Beyond §1.3: p = m = 2, one hyperplane with weights of both signs, M = −x w with x not parallel to J."""
    net = Network([([[1, -1], [-1, 1]], [1, -1]), ([[1, 3], [1, 5]], [0, 0])], Orthant(2))
    found = complete_fiber(net)
    assert [(stratum.index.split, stratum.dimension) for stratum in found.strata] == [((0,), 2)]
    assert found.dimension == 2
    assert found.feasibility().least_linear == 2  # and there is one spare neuron
    assert found.feasibility([0]).least_linear == 2
    assert found.feasibility([], [0]).least_linear == 0
    assert found.feasibility().check()


def test_the_half_plane_which_is_between_the_orthant_and_the_plane():
    """On {x1 ≥ 0} only multiples of x1 are bounded below; M = (0, 1) can be realized by ghosts only."""
    domain = Polyhedron([[-1, 0]], [0])
    net = Network([([[0, 1], [0, -1], [1, 0]], [0, 0, 1]), ([[1, -1, 0]], [0])], domain)
    found = complete_fiber(net)
    assert found.frame.data.linear == Matrix([[0, 1]])
    assert not found.frame.planes
    assert found.feasibility().least_linear is None
    assert found.feasibility(split_ghosts=1).least_linear == 0
    assert all(stratum.index.split_ghosts for stratum in found.strata)
    # (1, 1) is one step further: a ghost for one direction, or a linear neuron and a ghost
    assert Balance(Matrix([[1, 0]]), Matrix([], columns=2), recession(domain)).feasibility().least_linear == 1
    assert Balance(Matrix([[-1, 0]]), Matrix([], columns=2), recession(domain)).feasibility().least_linear == 1
    both = Balance(Matrix([[1, 0], [-1, 0]]), Matrix([], columns=2), recession(domain))
    assert both.feasibility().least_linear == 1


def test_a_ghost_that_would_have_weights_zero_is_none():
    """R^2, M = 0, one split ghost, no linear neuron: Y G = 0 with G ≠ 0 leaves Y = 0 and G free, not Y free."""
    balance = Balance(Matrix([[0, 0]] * 3), Matrix([], columns=2), recession(Space(2)))
    assert [(piece.dimension, piece.rank) for piece in balance.pieces(0, 0, 1)] == [(2, 0)]
    assert balance.largest(0, 0, 1).dimension == 2


def test_kernel_larger_than_the_stratum_for_one_output():
    """Theory §9: (1, 2, 1), two neurons on one hyperplane: the kernel has dimension 4, the fiber 3."""
    net = Network([([[1], [1]], [-1, -1]), ([[2, 3]], [0])], Space(1))
    found = complete_fiber(net)
    assert found.locate(net).dimension == 3
    assert net.parameter_count - jacobian_rank(net).rank == 4


@pytest.mark.parametrize("domain", [Space(2), *SPACES[2][3:5]], ids=str)
def test_split_ghosts_where_the_domain_has_lines(domain):
    """m = 3, M = (1, 2, 1)ᵀ(0, 1): one split ghost takes it; there the kernel has the stratum's dimension."""
    rows = ([[0, 1], [0, -1], [1, 2]], [0, 0, 1])
    net = Network([rows, ([[1, -1, 1], [2, -2, 1], [1, -1, 3]], [0, 0, 0])], domain)
    strata = [stratum for stratum in complete_fiber(net).strata if stratum.index.split_ghosts]
    assert [(str(stratum.index), stratum.dimension) for stratum in strata] == [
        ("hyperplane 1 kept, split ghost of 2", 4)
    ]
    assert net.parameter_count - jacobian_rank(strata[0].sample(2)).rank == 4


def test_generic_components_are_strata_without_ghosts_and_copies():
    net = Network([([[1, -1], [-1, -2], [-1, -1]], [1, -1, -1]), ([[1, 1, 1]], [0])], Orthant(2))
    generic, found = fiber(net), complete_fiber(net)
    for component in generic.components:
        stratum = found.locate(component.sample(3))
        assert not stratum.index.ghosts
        assert not stratum.index.split
        assert all(sum(sides) == 1 for sides in stratum.index.essential)
    assert found.dimension == generic.dimension  # top strata here are components


def test_on_the_whole_space_with_more_inputs_than_outputs_the_top_strata_are_ghosts():
    net = Network([([[1, 1, 0], [0, 0, 0]], [0, -1]), ([[1, 1]], [0])], Space(3))
    found = complete_fiber(net)
    assert {str(stratum.index) for stratum in found.top} == {"hyperplane 1 kept, ghost of 1"}
    assert found.dimension == 1 + 1 + 3


def test_words():
    index = StratumIndex(((1, 0), (0, 2), (1, 1)), ((1, 1), (1, 0)), 2, 1, 1)
    assert str(index) == (
        "hyperplane 1 kept, hyperplane 2 flipped (2 neurons), hyperplane 3 split, split ghost of 2, ghost of 1, "
        "2 linear of rank 1, 1 dead"
    )
    assert str(StratumIndex((), (), 0, 0, 0)) == "no neuron"
    assert (index.width, index.flipped, index.split, index.split_ghosts) == (11, (1,), (2,), 1)


def test_what_is_refused(monkeypatch):
    with pytest.raises(UnsupportedError) as deep:
        complete_fiber(Network([([[1]], [0]), ([[1]], [0]), ([[1]], [0])]))
    assert str(deep.value) == (
        "the complete fiber is known for one hidden layer, this network has 2; `fiber` has the generic members for "
        "three layers, `sound_fiber` what known symmetries generate"
    )
    with pytest.raises(InvalidNetworkError, match="expected a Network, got the int 5"):
        complete_fiber(5)
    with pytest.raises(UnsupportedError, match="put values in for the letters of this network"):
        complete_fiber(Network([([[sympy.Symbol("a", positive=True)]], [0]), ([[1]], [0])]))
    net = Network([([[1]], [0]), ([[1]], [0])])
    found = complete_fiber(net)
    assert not found.contains(net.with_layers([([[1], [1]], [0, 0]), ([[1, 0]], [0])]))
    with pytest.raises(InvalidNetworkError, match="1 essential hyperplane and 1 neuron,"):
        found.stratum(StratumIndex((), (), 1, 0, 0))
    assert found.stratum(StratumIndex(((0, 1),), (), 0, 0, 0)) is None
    many = Network([([[1, k] for k in range(12)], list(range(1, 13))), ([[1] * 12], [0])], Space(2))
    many = complete_fiber(
        Network([(many.layers[0].matrix.stacked(Matrix([[1, 50]] * 4)), [1] * 16), ([[1] * 16], [0])])
    )
    # 13 hyperplanes, 3 spare neurons: Σ_(s ≤ 3) C(13, s) 2^(13 − s)
    with pytest.raises(BudgetExceededError, match="13 hyperplanes can be flipped or split in 514048 ways, more than"):
        len(many.strata)
    assert many.strata[0].contains(many.network)
    monkeypatch.setattr(complete, "BALANCES", 10)
    with pytest.raises(BudgetExceededError, match="more strata may follow"):
        many.strata[10**6]
    assert many.contains(many.sample(1))


def test_the_budget_of_choices_is_the_number_of_choices(monkeypatch):
    """Two hyperplanes, one spare neuron: 2² choices of sides, and 2 · 2 with one of them split."""
    net = Network([([[1], [1], [0]], [0, -1, -1]), ([[1, 1, 1]], [0])])
    for budget, fits in [(8, True), (7, False)]:
        monkeypatch.setattr(complete, "BALANCES", budget)
        found = complete.CompleteFiber(net, complete_fiber(net).frame)
        if fits:
            assert found.stratum_count == len(list(found.strata)) > 0
            assert found.dimension == max(stratum.dimension for stratum in found.strata)
        else:
            for name in ("stratum_count", "dimension"):
                with pytest.raises(BudgetExceededError, match="2 hyperplanes can be flipped or split in 8 ways"):
                    getattr(found, name)


def test_the_complete_fiber_names_its_network():
    net = Network([([[1]], [0]), ([[1]], [0])])
    assert repr(complete_fiber(net)) == f"<complete fiber of {net}, 1 essential hyperplanes>"
