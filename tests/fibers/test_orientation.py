"""Choices of sides against brute force over all S, with ranks and pointedness decided by elimination (theory §2)."""

import random
from itertools import islice
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import fractions, is_pointed, nonnegative_column_rank, part_dimensions, plus_products, rank, subsets

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.fibers.orientation import OrientationProblem
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import vector


def problem_of(domain, forms, outgoing, linear, spare, constant=None):
    matrix = Matrix(linear, columns=domain.dimension)
    return OrientationProblem(
        domain,
        tuple(map(vector, forms)),
        tuple(map(vector, outgoing)),
        matrix,
        vector(constant or [0] * matrix.shape[0]),
        spare,
    )


@st.composite
def problems(draw, most=5):
    """Small integers, so that remainders vanish, lose rank, and have cones that are not pointed."""
    p, m, k = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(0, most))
    domain = draw(st.sampled_from([Space(p), Orthant(p), Orthant(p), Box([0] * p, [1] * p)]))
    small = st.integers(-2, 2)
    forms = draw(st.lists(st.lists(small, min_size=p + 1, max_size=p + 1), min_size=k, max_size=k))
    outgoing = draw(st.lists(st.lists(small, min_size=m, max_size=m), min_size=k, max_size=k))
    if draw(st.booleans()):
        linear = [[0] * p for _ in range(m)]
    else:
        linear = draw(st.lists(st.lists(small, min_size=p, max_size=p), min_size=m, max_size=m))
    return problem_of(domain, forms, outgoing, linear, draw(st.integers(0, 3)), [1] * m)


def remainder_by_hand(problem, sides):
    matrix = [fractions(row) for row in problem.linear.rows()]
    forms, outgoing = ([fractions(row) for row in rows] for rows in (problem.forms, problem.outgoing))
    return plus_products(matrix, forms, outgoing, sides)


def least_by_hand(problem, sides):
    matrix = remainder_by_hand(problem, sides)
    if isinstance(problem.domain, Space):
        return None if rank(matrix) else 0
    return rank(matrix) if isinstance(problem.domain, Box) else nonnegative_column_rank(matrix)


def feasible_by_hand(problem):
    least = {sides: least_by_hand(problem, sides) for sides in subsets(problem.k)}
    return [sides for sides, number in least.items() if number is not None and number <= problem.spare]


@settings(max_examples=300)
@given(problems())
def test_the_feasible_sets_are_those_of_brute_force_in_their_order(problem):
    expected = feasible_by_hand(problem)
    assert list(problem.feasible_sets()) == expected
    assert problem.count() == len(expected)
    for sides in subsets(problem.k):
        assert problem.is_feasible(sides) == (sides in expected)
        assert problem.least_linear(sides) == least_by_hand(problem, sides)


@settings(max_examples=200)
@given(problems(4))
def test_dimensions_are_the_maxima_of_the_formula(problem):
    dimensions = []
    for sides in feasible_by_hand(problem):
        parts = part_dimensions(remainder_by_hand(problem, sides), problem.k, problem.spare, problem.domain)
        assert {q: problem.part_dimension(sides, q) for q in parts} == parts
        assert problem.dimension(sides) == max(parts.values())
        assert min(parts) == problem.least_linear(sides)
        dimensions.append(max(parts.values()))
    if dimensions:
        assert problem.largest_dimension() == max(dimensions)


def test_a_cone_that_is_not_pointed_needs_dependent_columns():
    """M = (1, −1) in the first of three outputs, q = 2: s = 2 would give D = 5, but only s = 1 with D = 4 exists."""
    problem = problem_of(Orthant(2), [], [], [[1, -1], [0, 0], [0, 0]], 2)
    assert problem.part_dimension((), 2) == 4 + 2
    assert problem.dimension(()) == 6
    for dead in range(4):  # each one more adds its p + 1 + m
        wider = problem_of(Orthant(2), [], [], [[1, -1], [0, 0], [0, 0]], 2 + dead)
        assert wider.dimension(()) == wider.largest_dimension() == 6 + dead * (2 + 1 + 3)
    boxed = problem_of(Box([0, 0], [1, 1]), [], [], [[1, -1], [0, 0], [0, 0]], 2)
    assert boxed.part_dimension((), 2) == 5 + 2  # a box does not ask for pointedness
    assert boxed.dimension(()) == 1 + 1 + 6


@settings(max_examples=150)
@given(problems(6))
def test_where_the_rank_is_said_to_grow_it_grows(problem):
    if problem.rank_is_monotone:
        ranks = {sides: rank(remainder_by_hand(problem, sides)) for sides in subsets(problem.k)}
        for sides, value in ranks.items():
            assert all(value <= ranks[tuple(sorted({*sides, more}))] for more in range(problem.k))


@settings(max_examples=150)
@given(problems())
def test_where_the_jumps_are_said_to_be_independent_no_sum_vanishes(problem):
    if problem.jumps_are_independent:
        without = problem_of(problem.domain, problem.forms, problem.outgoing, [[0] * problem.p] * problem.m, 0)
        assert [sides for sides in subsets(problem.k) if rank(remainder_by_hand(without, sides)) == 0] == [()]


def test_the_jumps_of_a_basis_of_all_matrices_are_seen_to_be_independent():
    """C_l B_l = E_ai: as many as there is room for, no family of rows or columns alone is independent."""
    cells = [(a, i) for a in range(3) for i in range(2)]
    forms = [[int(i == column) for column in range(2)] + [-1] for _, i in cells]
    outgoing = [[int(a == row) for row in range(3)] for a, _ in cells]
    assert problem_of(Orthant(2), forms, outgoing, [[0] * 2] * 3, 0).jumps_are_independent is True
    one_more = problem_of(Orthant(2), [*forms, [1, 1, -1]], [*outgoing, [1, 1, 1]], [[0] * 2] * 3, 0)
    assert one_more.jumps_are_independent is False


def test_jumps_with_independent_rows_or_columns_are_seen_to_be_independent_whatever_else_they_have():
    """Σ x_l C_l B_l = 0 with B_l independent gives x_l C_l = 0, and likewise for C_l."""
    unseen = [-10, 20, -15, 4]  # Σ c_a (a + 2)^k = 0 for k = 1, 2, 3
    assert [sum(c * (a + 2) ** k for a, c in enumerate(unseen)) for k in (1, 2, 3)] == [0, 0, 0]
    rows = problem_of(Orthant(2), [[1, 2, -1], [1, -1, 1]], [unseen, unseen], [[0, 0]] * 4, 0)
    assert rows.jumps_are_independent is True
    basis = [[int(a == j) for a in range(5)] for j in range(5)]
    columns = problem_of(Orthant(2), [[1, 2, j + 1] for j in range(5)], basis, [[0, 0]] * 5, 0)
    assert columns.jumps_are_independent is True
    assert rows.count() == columns.count() == 1


@pytest.mark.parametrize(
    ("form", "column"), [([0, 0, 1], [1, 1]), ([1, 2, 1], [0, 0])], ids=["no slope", "no outgoing weights"]
)
def test_a_jump_that_is_zero_makes_the_jumps_dependent(form, column):
    problem = problem_of(Orthant(2), [[1, 0, -1], form], [[1, 0], column], [[0, 0], [0, 0]], 0)
    assert problem.jumps_are_independent is False
    assert list(problem.feasible_sets()) == [(), (1,)]
    assert problem.count() == 2


@settings(max_examples=100)
@given(problems(3), st.integers(0, 4))
def test_the_remainder_is_the_sum_that_it_names(problem, bits):
    sides = tuple(side for side in range(problem.k) if bits >> side & 1)
    matrix, constant = problem.remainder(sides)
    assert [fractions(row) for row in matrix.rows()] == remainder_by_hand(problem, sides)
    shifts = [1 + sum(problem.outgoing[side][a] * problem.forms[side][-1] for side in sides) for a in range(problem.m)]
    assert list(constant) == shifts


@settings(max_examples=60)
@given(problems(4))
def test_without_linear_neurons_every_set_smaller_than_the_spare_number_is_feasible(problem):
    """Theory §2.6: |S| < e needs no genericity (not on R^p)."""
    if problem.linear.is_zero() and not isinstance(problem.domain, Space):
        assert all(problem.is_feasible(sides) for sides in subsets(problem.k) if len(sides) < problem.spare)


# many neurons


def spread(size, p, m):
    """Forms and columns in general position: moment curves."""
    forms = [[(j + 2) ** i * (-1) ** (i + j) for i in range(p + 1)] for j in range(size)]
    outgoing = [[(j + 3) ** a * (-1) ** (a * j) for a in range(m)] for j in range(size)]
    return forms, outgoing


@pytest.mark.parametrize(
    ("domain", "m", "least"),
    [
        pytest.param(Orthant(3), 5, 3, id="orthant, p < m + 1"),
        pytest.param(Orthant(5), 2, 3, id="orthant, m + 1 < p"),
        pytest.param(Box([0] * 4, [1] * 4), 2, 2, id="box, m < p"),
        pytest.param(Box([0] * 2, [1] * 2), 3, 2, id="box, p < m"),
    ],
)
def test_with_enough_spare_neurons_all_sets_are_feasible_and_counted_at_once(domain, m, least):
    p = domain.dimension
    forms, outgoing = spread(200, p, m)
    zero = [[0] * p for _ in range(m)]
    many = problem_of(domain, forms, outgoing, zero, least)
    assert many.all_feasible
    assert not many.needs_search
    assert many.count() == 2**200
    assert list(islice(many.feasible_sets(), 203)) == [(), *((j,) for j in range(200)), (0, 1), (0, 2)]
    few = problem_of(domain, forms[:6], outgoing[:6], zero, least)
    assert feasible_by_hand(few) == subsets(6)
    fewer = problem_of(domain, forms[:6], outgoing[:6], zero, least - 1)
    assert not fewer.all_feasible
    assert fewer.count() == len(feasible_by_hand(fewer)) < 2**6


@pytest.mark.parametrize("spare", [0, 1, 2])
def test_independent_products_leave_only_small_sets(spare):
    """C_l B_l = ±e_l e_lᵀ: rank M_S = |S| ≤ r, all cones are pointed; most of the 2^16 sets are never visited."""
    size = 16
    forms = [[1 if i == j else 0 for i in range(size)] + [-1] for j in range(size)]
    outgoing = [[(-1) ** j if a == j else 0 for a in range(size)] for j in range(size)]
    problem = problem_of(Orthant(size), forms, outgoing, [[0] * size for _ in range(size)], spare)
    levels = [sides for sides in subsets(size) if len(sides) <= spare + 1]
    assert problem.rank_is_monotone
    expected = [sides for sides in subsets(3) if len(sides) <= spare]
    assert [sides for sides in problem.feasible_sets() if max(sides, default=0) < 3] == expected
    assert problem.count(budget=len(levels)) == sum(len(sides) <= spare for sides in levels)
    n = 2 * size + 1
    assert problem.largest_dimension() == size + spare * n  # at S = ∅, where every spare neuron is dead


def test_pruning_keeps_sets_whose_cone_is_not_pointed_out():
    """m = 1, p = 2, one spare neuron: M_S must be a row without two signs."""
    forms, outgoing = [[1, -2, 1], [-3, 1, 1], [1, 2, -1], [-1, -1, 1]], [[1], [1], [1], [5]]
    problem = problem_of(Orthant(2), forms, outgoing, [[0, 0]], 1)
    expected = []
    for sides in subsets(4):
        rows = [[outgoing[j][0] * forms[j][i] for i in (0, 1)] for j in sides]
        total = [sum(row[i] for row in rows) for i in (0, 1)]
        if total[0] * total[1] >= 0:
            expected.append(sides)
        assert is_pointed([[value] for value in total]) == (total[0] * total[1] >= 0)
    assert list(problem.feasible_sets()) == expected
    assert 1 < len(expected) < 16


def test_without_spare_neurons_the_remainder_must_vanish():
    """Relations among 30 products with a planted one: {3, 11, 27}, found without 2^30 trials."""
    forms, outgoing = spread(30, 4, 5)
    forms[27] = [-1, 1, -1, 1, 7]
    forms[3], forms[11] = [1, 0, -1, 2, 5], [0, -1, 2, -3, 9]
    outgoing[3] = outgoing[11] = outgoing[27] = [1, 2, 3, 4, 5]
    problem = problem_of(Orthant(4), forms, outgoing, [[0] * 4 for _ in range(5)], 0)
    assert [sum(values) for values in zip(forms[3], forms[11], forms[27], strict=True)] == [0, 0, 0, 0, 21]
    found = list(problem.feasible_sets())
    assert found[0] == ()
    assert (3, 11, 27) in found
    assert all(problem.remainder(sides)[0].is_zero() for sides in found)
    assert problem.largest_dimension() == 30


def test_the_largest_dimension_is_found_where_it_is_open_which_sums_vanish():
    """M = −2 B, and 60 jumps B: one linear neuron for ∅ and the singletons, none for pairs, of which there are many."""
    problem = problem_of(Orthant(2), [[1, 2, -j] for j in range(60)], [[1]] * 60, [[-2, -4]], 1)
    assert problem.dimension(()) == problem.dimension((7,)) == 60 + 2
    assert problem.dimension((3, 5)) == problem.largest_dimension() == 60 + 4


def test_on_the_space_nothing_but_a_remainder_that_vanishes_is_feasible():
    for linear, count in (([[0, 0]], 1), ([[0, 3]], 0)):
        problem = problem_of(Space(2), [], [], linear, 2)
        assert len(list(problem.feasible_sets())) == problem.count() == count
        assert problem.all_feasible is (count == 1)


def test_which_problems_are_countable():
    """By subset sums, by a rank that grows, or because 2^16 sets can be looked at."""
    zero = [[0] * 4 for _ in range(4)]
    for k, countable in ((16, True), (17, False)):
        assert problem_of(Orthant(4), *spread(k, 4, 4), zero, 3).is_countable is countable
    size = 17
    forms = [[int(i == j) for i in range(size)] + [-1] for j in range(size)]
    independent = problem_of(Orthant(size), forms, [row[:-1] for row in forms], [[0] * size] * size, 2)
    assert independent.rank_is_monotone
    assert independent.is_countable is True
    sums = problem_of(Orthant(4), *spread(30, 4, 5), [[0] * 4] * 5, 0)
    assert not sums.rank_is_monotone
    assert sums.is_countable is True


@pytest.mark.parametrize(
    ("form", "high"), [([1, -1], comb(61, 30)), ([0, -1], 2**61)], ids=["all jumps", "one jump is zero"]
)
@pytest.mark.parametrize("p", [1, 2])
def test_the_bound_for_equal_sums_is_that_of_jumps_that_are_not_zero(p, form, high):
    """Erdős 1945: C(k, k / 2) sums of nonzero vectors may be equal; a zero vector doubles the number."""
    forms = [[0] * (p - 1) + row for row in [*([1, -j - 1] for j in range(60)), form]]
    problem = problem_of(Orthant(p), forms, [[1]] * 61, [[0] * p], 0)
    with pytest.raises(BudgetExceededError) as caught:
        problem.count()
    assert (caught.value.low, caught.value.high) == (1, high)


def test_a_search_beyond_the_budget_is_not_called_an_answer():
    forms, outgoing = spread(60, 4, 4)
    problem = problem_of(Orthant(4), forms, outgoing, [[0] * 4 for _ in range(4)], 3)
    assert problem.is_countable is False
    assert not problem.all_feasible
    assert not problem.rank_is_monotone
    with pytest.raises(BudgetExceededError, match="choices of sides"):
        list(problem.feasible_sets(budget=500))
    with pytest.raises(BudgetExceededError):
        problem.count(budget=500)
    first = list(islice(problem.feasible_sets(budget=500), 61))
    assert first[:61] == [(), *((j,) for j in range(60))]  # |S| < e is always feasible


def test_the_budget_is_the_number_of_sets_that_are_tested():
    forms, outgoing = spread(5, 4, 4)
    problem = problem_of(Orthant(4), forms, outgoing, [[0] * 4 for _ in range(4)], 3)
    count = len(feasible_by_hand(problem))
    assert problem.count(budget=32) == count
    assert len(list(problem.feasible_sets(budget=32))) == count
    for budget in (0, 10, 31):
        with pytest.raises(BudgetExceededError) as caught:
            list(problem.feasible_sets(budget=budget))
        assert caught.value.low <= count <= caught.value.high < 2**5 + 1
    for budget in (0, 5):
        with pytest.raises(BudgetExceededError) as caught:
            problem.count(budget=budget)
        assert caught.value.low <= count <= caught.value.high < 2**5 + 1


def test_one_output_and_one_spare_neuron_are_counted_beyond_what_can_be_listed():
    """k = 24: more sets than the budget of a list, and a count all the same; the fiber says so too."""
    rng = random.Random(1)
    forms = [[rng.randint(-99, 99) for _ in range(4)] + [rng.randint(-99, 99)] for _ in range(24)]
    problem = problem_of(Orthant(4), forms, [[1]] * 24, [[0] * 4], 1)
    with pytest.raises(BudgetExceededError):
        list(problem.feasible_sets(budget=1000))
    count = problem.count()
    halves = [problem_of(Orthant(4), forms[1:], [[1]] * 23, [first], 1) for first in ([0] * 4, forms[0][:4])]
    assert count == sum(half.count() for half in halves) > 1000


def test_supersets_of_the_same_rank_are_not_pruned():
    """C_1 = C_2, B_1 and B_2 independent: rank M_S = 1 for all S ≠ ∅, and one linear neuron realizes each."""
    problem = problem_of(Box([0] * 3, [1] * 3), [[1, 0, 0, -1], [0, 1, 0, -1]], [[1, 1], [1, 1]], [[0] * 3] * 2, 1)
    assert problem.rank_is_monotone
    assert not problem.all_feasible
    assert list(problem.feasible_sets()) == [(), (0,), (1,), (0, 1)] == feasible_by_hand(problem)
    assert problem.count() == 4


@pytest.mark.parametrize("budget", range(1, 7))
def test_a_listing_that_ends_early_proves_an_interval(budget):
    """C_l B_l = ±e_l e_lᵀ on the orthant, r = 1: ∅ and the three singletons, of 2³ sets; then the pairs are tested."""
    forms = [[int(i == j) for i in range(3)] + [-1] for j in range(3)]
    problem = problem_of(Orthant(3), forms, [row[:3] for row in forms], [[0] * 3] * 3, 1)
    assert len(list(problem.feasible_sets(7))) == len(feasible_by_hand(problem)) == 4
    with pytest.raises(BudgetExceededError) as caught:
        list(problem.feasible_sets(budget))
    low = min(budget, 4)
    assert (caught.value.low, caught.value.high) == (low, low + 8 - budget)
    assert str(caught.value) == f"after {budget} of 2^3 choices of sides {low} are feasible"


def test_a_factorization_has_no_more_rank_than_rows_or_columns():
    """C B = M with p = 1: C and B have q (m + 1) entries, which M ≠ 0 ties by m equations; and q biases."""
    for m, q in ((3, 1), (1, 3), (2, 2), (1, 1)):
        problem = problem_of(Orthant(1), [], [], [[a + 1] for a in range(m)], q)
        assert problem.part_dimension((), q) == q * (m + 1) - m + q


def test_the_rank_is_seen_to_grow_by_columns_alone():
    """B_1 = B_2 and C_1, C_2 independent; at M = 0 nothing else is asked."""
    problem = problem_of(Orthant(2), [[1, -2, 1], [1, -2, 3]], [[1, 0, 0], [0, 1, 0]], [[0, 0]] * 3, 1)
    assert problem.rank_is_monotone
    assert not problem.needs_search


@pytest.mark.parametrize(("k", "budget", "enough"), [(2, 4, True), (2, 3, False), (6, 12, False), (6, 64, True)])
def test_the_largest_dimension_is_claimed_when_all_sets_were_looked_at(k, budget, enough):
    """M_S = (c, −c) with c > 0 is never pointed, so that the bound of pointed cones is not reached."""
    problem = problem_of(
        Orthant(2), [[j + 1, -j - 1, j] for j in range(k)], [[1, 0, 0]] * k, [[1, -1], [0, 0], [0, 0]], 2
    )
    if enough:
        assert problem.largest_dimension(budget) == problem.dimension(())
    else:
        words = rf"^the largest dimension among 2\^{k} components was not found among the first {budget}$"
        with pytest.raises(BudgetExceededError, match=words):
            problem.largest_dimension(budget)


def test_a_box_asks_no_row_to_be_positive():
    """B = (0, 1; 0, 1), C = (1, 1): on the orthant the zero column cannot be raised, on a box it may have any sign."""
    for domain, local in ((Orthant(2), None), (Box([0, 0], [1, 1]), 2 + 4 - 2 + 2)):
        problem = problem_of(domain, [], [], [[0, 2]], 2)
        assert problem.local_dimension(Matrix([[0, 1], [0, 1]]), Matrix([[1, 1]])) == local


def test_on_the_space_the_part_does_not_depend_on_linear_neurons():
    """Constants: k + r (1 + m)."""
    problem = problem_of(Space(2), [[1, 2, 1]], [[1, 1, 1]], [[0, 0]] * 3, 2)
    assert [problem.part_dimension((), q) for q in range(3)] == [1 + 2 * 4] * 3
    assert problem.dimension(()) == problem.largest_dimension() == 9


def test_the_local_dimension_where_the_rows_have_full_column_rank():
    """p = 1, C = (1 2; 2 4), B = (1, 1)ᵀ: C B = M is two equations on 4 + 2 numbers; and two biases."""
    problem = problem_of(Orthant(1), [], [], [[3], [6]], 2)
    assert problem.local_dimension(Matrix([[1], [1]]), Matrix([[1, 2], [2, 4]])) == 4 + 2 - 2 + 2
    # p = m = 2, s = t = 1, q + ρ = 3: neither full nor s + t = q + ρ
    open_ = problem_of(Orthant(2), [], [], [[3, 3], [6, 6]], 2)
    assert open_.local_dimension(Matrix([[1, 1], [1, 1]]), Matrix([[1, 2], [2, 4]])) is None
    assert open_.local_dimension(Matrix([[1, 1], [2, 2]]), Matrix([[1, 1], [2, 3]])) is not None  # s = m
