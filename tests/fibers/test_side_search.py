"""Counting choices of sides without listing them, against brute force over all subsets (theory §2.3, §2.6)."""

import random
from itertools import pairwise, product
from math import comb

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import nonnegative_column_rank, plus_products, rank, subsets

from semialg_fibers.errors import BudgetExceededError
from semialg_fibers.fibers import side_search
from semialg_fibers.fibers.orientation import OrientationProblem
from semialg_fibers.fibers.side_search import OneSignedSearch, RankSearch
from semialg_fibers.geometry.domain import Box, Orthant
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import vector


def one_signed_by_hand(base, rows):
    found = 0
    for bits in product((0, 1), repeat=len(rows)):
        total = [
            sum(column) for column in zip(base, *(r for r, bit in zip(rows, bits, strict=True) if bit), strict=True)
        ]
        found += min(total) >= 0 or max(total) <= 0
    return found


def interval(count):
    """The number as an interval, or the one that the error of budget proves."""
    try:
        low = high = count()
    except BudgetExceededError as error:
        low, high = error.low, error.high
    return low, high


@st.composite
def one_signed(draw):
    """Small entries (many ties), large ones (no ties), and large ones with ties: rounded sums that do not decide."""
    p, k = draw(st.integers(1, 4)), draw(st.integers(0, 10))
    entry = draw(
        st.sampled_from(
            [
                st.integers(-1, 1),
                st.integers(-9, 9),
                st.integers(-(2**70), 2**70),
                st.sampled_from([0, 1, -1, 2**80, -(2**80), 2**80 + 1, -(2**80) - 1]),
            ]
        )
    )
    row = st.tuples(*[entry] * p)
    base = draw(st.just((0,) * p) | row)
    return base, tuple(draw(st.lists(row, min_size=k, max_size=k)))


@settings(max_examples=150)
@given(one_signed(), st.integers(0, 3), st.integers(0, 3))
@example(((0,), ()), 0, 0)  # no neuron: S = ∅
@example(((0, 0), ((0, 0),) * 5), 2, 0)  # all sums are zero, and count once
@example(((2**80, -(2**80)), ((-(2**80), 2**80), (1, 0))), 1, 1)  # zero only in exact integers
def test_one_sign_is_counted_as_by_brute_force(case, bits, tail):
    base, rows = case
    expected = one_signed_by_hand(base, rows)
    search = OneSignedSearch(base, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(side_search, "TAIL", tail)
        patch.setattr(side_search, "BLOCK", 3)
        assert search.count() == expected
        bits = min(bits, len(rows))
        assert sum(search.count(prefix=prefix) for prefix in product((0, 1), repeat=bits)) == expected


@pytest.mark.parametrize("seed", range(12))
def test_rounded_sums_that_do_not_decide_are_decided_exactly(seed, monkeypatch):
    """Sums that cancel to 0 or ±1 beside multiples of 2^80, whose rounded values are all alike."""
    rng = random.Random(seed)
    entries = [0, 0, 1, -1, 2**80, -(2**80), 2**80 + 1, -(2**80) - 1, 3 * 2**79]
    monkeypatch.setattr(side_search, "TAIL", seed % 3 * 2)
    for _ in range(6):
        base, *rows = (tuple(rng.choice(entries) for _ in range(1 + seed % 2)) for _ in range(7))
        base = rng.choice([base, tuple(-sum(column) for column in zip(*rows, strict=True))])
        assert OneSignedSearch(base, tuple(rows)).count() == one_signed_by_hand(base, rows)


def test_what_is_lost_by_rounding_down_adds_up():
    """Two thirds of a unit are lost three times, of a sum that is zero: rounded it is −2."""
    unit = 2**41
    rows = ((2**101 + 2 * unit // 3,), (2**100 + 2 * unit // 3 + 1,))
    base = (-rows[0][0] - rows[1][0],)
    scaled, others, slack = OneSignedSearch(base, rows)._scaled
    assert int(scaled[0]) + sum(int(row[0]) for row in others) == -2
    assert slack >= 2
    assert OneSignedSearch(base, rows).count() == 4  # one sum is zero, and the others are negative


@settings(max_examples=60)
@given(one_signed(), st.integers(0, 40))
def test_the_interval_of_a_search_that_ends_early_is_true(case, budget):
    base, rows = case
    expected = one_signed_by_hand(base, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(side_search, "TAIL", 1)
        patch.setattr(side_search, "BLOCK", 3)
        low, high = interval(lambda: OneSignedSearch(base, rows).count(budget))
        assert low <= expected <= high <= 2 ** len(rows)


def test_the_longer_the_search_the_narrower_the_interval():
    """What has been looked at is decided: the ends close in on the number of sets."""
    base, rows = (0, 1), ((-3, 3), (-2, 2), (-2, 1), (1, -2), (3, -3))
    expected = one_signed_by_hand(base, rows)
    ends = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(side_search, "TAIL", 1)
        patch.setattr(side_search, "BLOCK", 3)
        for budget in range(100):
            ends.append(interval(lambda budget=budget: OneSignedSearch(base, rows).count(budget)))
    assert all(old[0] <= low <= expected <= high <= old[1] <= 2**5 for old, (low, high) in pairwise(ends))
    assert ends[-1] == (expected, expected)
    assert any(expected < high < 2**4 for _, high in ends)


def test_a_popcount_without_numpy_2_gives_the_same(monkeypatch):
    import numpy as np

    rng = random.Random(5)
    rows = tuple(tuple(rng.randint(-9, 9) for _ in range(3)) for _ in range(12))
    expected = one_signed_by_hand((0, 0, 0), rows)
    assert OneSignedSearch((0, 0, 0), rows).count() == expected
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert OneSignedSearch((0, 0, 0), rows).count() == expected


def test_wholly_feasible_subtrees_are_counted_not_visited():
    """200 rows of one sign: every set counts, one prefix is looked at for each sign."""
    rows = ((1, 2),) * 200
    assert OneSignedSearch((0, 0), rows).count(budget=4) == 2**200


@st.composite
def rank_problems(draw):
    p, m, k = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(0, 6))
    small = st.integers(-2, 2)
    forms = draw(st.lists(st.lists(small, min_size=p + 1, max_size=p + 1), min_size=k, max_size=k))
    outgoing = draw(st.lists(st.lists(small, min_size=m, max_size=m), min_size=k, max_size=k))
    linear = draw(st.lists(st.lists(small, min_size=p, max_size=p), min_size=m, max_size=m))
    domain = draw(st.sampled_from([Orthant(p), Box([0] * p, [1] * p)]))
    spare = draw(st.integers(1, 3))
    return OrientationProblem(
        domain, tuple(map(vector, forms)), tuple(map(vector, outgoing)), Matrix(linear), vector([0] * m), spare
    )


def feasible_by_hand(problem):
    least = rank if isinstance(problem.domain, Box) else nonnegative_column_rank
    rows = [
        [list(map(int, row)) for row in matrix] for matrix in (problem.linear.rows(), problem.forms, problem.outgoing)
    ]
    return [s for s in subsets(problem.k) if least(plus_products(*rows, s)) <= problem.spare]


def rank_search(problem):
    linear, products = problem._integer_parts
    base, *rest = (Matrix.from_integers(rows, columns=problem.p) for rows in (linear, *products))
    return RankSearch(base, tuple(rest), problem.spare, isinstance(problem.domain, Box), problem.is_feasible)


@settings(max_examples=120)
@given(rank_problems(), st.integers(0, 70))
def test_ranks_are_counted_as_by_brute_force(problem, budget):
    expected = feasible_by_hand(problem)
    search = rank_search(problem)
    assert search.count(2**20) == len(expected) == problem.count()
    bits = min(2, problem.k)
    for prefix in product((0, 1), repeat=bits):
        begin = {side for side, bit in enumerate(prefix) if bit}
        assert search.count(2**20, prefix) == sum({s for s in sides if s < bits} == begin for sides in expected)
    low, high = interval(lambda: search.count(budget))
    assert low <= len(expected) <= high <= 2**problem.k


@pytest.mark.parametrize("seed", range(20))
def test_a_subtree_is_decided_only_where_all_its_sets_are_alike(seed):
    """For every prefix: True where all completions are feasible, False where none is; else it may be open."""
    rng = random.Random(seed)
    p, m, k = rng.randint(2, 3), rng.randint(2, 3), 4
    forms = [[rng.randint(-1, 1) for _ in range(p)] + [1] for _ in range(k)]
    outgoing = [[rng.randint(-1, 1) for _ in range(m)] for _ in range(k)]
    linear = [[rng.randint(-1, 1) for _ in range(p)] for _ in range(m)]
    domain = Orthant(p) if seed % 2 else Box([0] * p, [1] * p)
    lines = tuple(map(vector, forms)), tuple(map(vector, outgoing)), Matrix(linear), vector([0] * m)
    for spare in (1, 2):
        problem = OrientationProblem(domain, *lines, spare)
        feasible, search = set(feasible_by_hand(problem)), rank_search(problem)
        assert search.count(2**20) == len(feasible)
        for depth in range(k + 1):
            for bits in product((0, 1), repeat=depth):
                chosen = {side for side, bit in enumerate(bits) if bit}
                below = [sides for sides in subsets(k) if {side for side in sides if side < depth} == chosen]
                total = sum((search.products[side] for side in chosen), search.base)
                whole = search._whole_subtree(depth, total)
                assert whole is None or {sides in feasible for sides in below} == {whole}


@pytest.mark.parametrize("turned", [False, True], ids=["equal rows", "equal columns"])
def test_one_prefix_decides_where_what_is_to_come_spans_little(turned):
    """Jumps C_l B with one row B leave rank M − 1 = 2 at least; with r = 3 on the box all sets are feasible."""
    jumps = [[[c * b for b in (1, -1, 2)] for c in (j + 1, (-1) ** j, j * j)] for j in range(40)]
    if turned:
        jumps = [[list(row) for row in zip(*jump, strict=True)] for jump in jumps]
    products = tuple(map(Matrix, jumps))

    def never(sides):
        raise AssertionError(sides)

    assert RankSearch(Matrix.identity(3), products, 1, True, never).count(1) == 0
    assert RankSearch(Matrix.identity(3), products, 3, True, never).count(1) == 2**40
    with pytest.raises(
        BudgetExceededError, match=r"^after 1 prefixes the search is not complete; .* 0 and 1099511627776"
    ):
        RankSearch(Matrix.identity(3), products, 2, True, never).count(1)


def test_bounds_of_the_rank_end_the_search_early():
    """C_l = e_l + a common vector, B_l on a moment curve, M of rank 4: the last neurons cannot bring the rank down."""
    rng = random.Random(3)
    forms = [[rng.randint(-9, 9) for _ in range(5)] for _ in range(7)]
    outgoing = [[rng.randint(-9, 9) for _ in range(3)] for _ in range(7)]
    linear = [[rng.randint(-9, 9) for _ in range(4)] for _ in range(3)]
    problem = OrientationProblem(
        Orthant(4), tuple(map(vector, forms)), tuple(map(vector, outgoing)), Matrix(linear), vector([0] * 3), 1
    )
    assert problem.needs_search
    tested = []
    search = rank_search(problem)
    counted = RankSearch(search.base, search.products, 1, False, lambda sides: bool(tested.append(sides)))
    assert counted.count(2**12) == len(feasible_by_hand(problem)) == 0
    assert len(tested) < 2**2  # of 2^7


def test_where_the_remainder_must_vanish_the_interval_is_that_of_sperner():
    """110 neurons with equal products: lattice reduction does not help, the number is C(110, 0) = 1, and open."""
    problem = OrientationProblem(
        Orthant(1), tuple(vector([1, -j - 1]) for j in range(110)), (vector([1]),) * 110, Matrix([[0]]), vector([0]), 0
    )
    with pytest.raises(BudgetExceededError, match="between 1 and") as caught:
        problem.count()
    assert (caught.value.low, caught.value.high) == (1, comb(110, 55))
    assert problem.is_countable is False


@pytest.mark.parametrize(
    ("place", "most", "interval_"), [({}, None, (3, 32)), ({}, 10, (3, 10)), ({"low": 4, "high": 9}, 10, (4, 9))]
)
def test_a_listing_that_breaks_off_says_what_it_proves(place, most, interval_):
    def three_sets():
        yield from range(3)
        raise BudgetExceededError("enough", **place)

    assert side_search.count_listed(range(7), 5) == 7
    with pytest.raises(BudgetExceededError) as caught:
        side_search.count_listed(three_sets(), 5, most)
    assert (caught.value.low, caught.value.high) == interval_
    assert str(caught.value) == "enough; the number of components lies between {} and {}".format(*interval_)


@pytest.mark.parametrize("prefix", [(), (1,), (0, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_intervals_are_true_for_every_budget_and_narrow(prefix, seed, monkeypatch):
    monkeypatch.setattr(side_search, "TAIL", 1)
    monkeypatch.setattr(side_search, "BLOCK", 3)
    rng = random.Random(seed)
    rows = tuple((rng.randint(-3, 3), rng.randint(-3, 3)) for _ in range(7))
    search, free = OneSignedSearch((0, 0), rows), 7 - len(prefix)
    exact = search.count(prefix=prefix)
    widths = []
    for budget in [*range(60), 10**4]:
        low, high = interval(lambda b=budget: search.count(b, prefix))
        assert low <= exact <= high <= 2**free
        widths.append(high - low)
    assert widths[0] > 0 == widths[-1]
    with pytest.raises(BudgetExceededError) as caught:
        search.count(2, prefix)
    words = f"the number of components lies between {caught.value.low} and {caught.value.high}"
    assert str(caught.value) == f"after 2 prefixes the search is not complete; {words}"
