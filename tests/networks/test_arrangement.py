"""Canonical data of one hidden layer: equal iff the functions are, as the oracle finds by visiting cells."""

import random
from math import gcd

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import UnsupportedError
from semialg_fibers.geometry.domain import Box, Orthant, Space, negated
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ZERO, affine_value, vector
from semialg_fibers.networks.arrangement import Arrangement, arrangement, oriented
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.verify.oracle import same_on_cells

# A network as a list of units (form, outgoing column) and a constant.


def network(units, constant, domain):
    units = units or [((ZERO,) * (domain.dimension + 1), (ZERO,) * len(constant))]
    inner = Layer([form[:-1] for form, _ in units], [form[-1] for form, _ in units])
    return Network(
        [inner, Layer(Matrix.from_columns([column for _, column in units], len(constant)), constant)], domain
    )


def times(factor, values):
    return tuple(factor * value for value in values)


def random_domain(rng):
    d = rng.randint(1, 2)
    low = [rng.randint(-2, 1) for _ in range(d)]
    return rng.choice([Space(d), Orthant(d), Box(low, [value + 2 for value in low])])


def random_units(rng, d, m, count, size=2):
    """Units among which zero rows, repeated, opposite and cancelling hyperplanes are common."""
    units = []
    for _ in range(count):
        form = vector(rng.randint(-size, size) for _ in range(d + 1))
        column = vector(rng.randint(-size, size) for _ in range(m))
        kind = rng.choice(["free", "free", "zero row", "repeated", "cancelling"])
        if kind == "zero row":
            form = (*[ZERO] * d, form[-1])
        elif units and kind == "repeated":
            form = times(fmpq(rng.choice([1, -1, 2, -3])), rng.choice(units)[0])
        elif units and kind == "cancelling":
            before, outgoing = rng.choice(units)
            factor = fmpq(rng.choice([1, -1, 2, -3]))
            form, column = times(factor, before), times(-1 / abs(factor), outgoing)
        units.append((form, column))
    return units


def affine_units(form, column, domain):
    """Units and a constant that add column · form(x) on the domain: z = relu(z) − relu(−z) for each coordinate."""
    units = []
    constant = times(form[-1], column)
    for i, weight in enumerate(form[:-1]):
        if weight:
            axis = tuple(fmpq(int(k == i)) for k in range(len(form)))
            units += [(axis, times(weight, column)), (negated(axis), times(-weight, column))]
    below = domain.infimum((*form[:-1], ZERO))
    if below is not None and len(units) > 2:  # a linear unit instead
        units = [((*form[:-1], -below), column)]
        constant = times(form[-1] + below, column)
    return units, constant


def rewritten(rng, units, constant, domain):
    """The same function on the domain, by a few random steps, each an identity of theory §2."""
    units, m, d = list(units), len(constant), domain.dimension
    for _ in range(rng.randint(1, 3)):
        step = rng.choice(["scale", "split", "flip", "dead", "constant", "cancelling pair", "affine"])
        at = rng.randrange(len(units)) if units else None
        column = vector(rng.randint(-2, 2) for _ in range(m))
        free = vector(rng.randint(-2, 2) for _ in range(d + 1))
        added = (ZERO,) * m
        if step == "scale" and units:
            factor = fmpq(rng.randint(1, 3), rng.randint(1, 3))
            form, outgoing = units[at]
            units[at] = (times(factor, form), times(1 / factor, outgoing))
        elif step == "split" and units:
            form, outgoing = units[at]
            units[at] = (form, column)
            units.append((times(fmpq(2), form), tuple((a - b) / 2 for a, b in zip(outgoing, column, strict=True))))
        elif step == "flip" and units:  # relu(z) = relu(−z) + z
            form, outgoing = units[at]
            units[at] = (negated(form), outgoing)
            more, added = affine_units(form, outgoing, domain)
            units += more
        elif step == "dead":
            above = domain.supremum((*free[:-1], ZERO))
            form = (*[ZERO] * d, fmpq(-1)) if above is None else (*free[:-1], -above)
            units.append((form, column))
        elif step == "constant":
            units.append(((*[ZERO] * d, fmpq(3)), column))
            added = times(fmpq(-3), column)
        elif step == "cancelling pair":
            units += [(free, column), (times(fmpq(2), free), times(fmpq(-1, 2), column))]
        elif step == "affine":
            more, added = affine_units(free, column, domain)
            less, taken = affine_units(free, negated(column), domain)
            units += more + less
            added = tuple(a + b for a, b in zip(added, taken, strict=True))
        constant = tuple(a + b for a, b in zip(constant, added, strict=True))
    rng.shuffle(units)
    return units, constant


def perturbed(rng, units, constant):
    """One parameter changed; the function may stay, when the unit is dead or is not used."""
    units = list(units)
    if not units or rng.random() < 0.1:
        return units, (constant[0] + 1, *constant[1:])
    at = rng.randrange(len(units))
    form, column = units[at]
    which = rng.randrange(len(form) + len(column))
    both = [value + rng.choice([1, -1]) * (i == which) for i, value in enumerate(form + column)]
    units[at] = (tuple(both[: len(form)]), tuple(both[len(form) :]))
    return units, constant


def random_start(rng):
    domain = random_domain(rng)
    m = rng.randint(1, 2)
    units = random_units(rng, domain.dimension, m, rng.randint(0, 3))
    return units, vector(rng.randint(-2, 2) for _ in range(m)), domain


def random_pair(rng):
    """Two networks that are equal, nearly equal, or drawn from so few that they may be."""
    units, constant, domain = random_start(rng)
    first = network(units, constant, domain)
    kind = rng.choice(["rewritten", "perturbed", "small"])
    if kind == "small":
        draws = [random_units(rng, domain.dimension, 1, rng.randint(1, 2), 1) for _ in range(2)]
        return tuple(network(each, (ZERO,), domain) for each in draws)
    if kind == "perturbed":
        units, constant = perturbed(rng, units, constant)
    return first, network(*rewritten(rng, units, constant, domain), domain)


RANDOMS = st.randoms(use_true_random=False)


@settings(max_examples=60, deadline=None)
@given(RANDOMS)
def test_rewriting_keeps_the_canonical_data(rng):
    units, constant, domain = random_start(rng)
    other = network(*rewritten(rng, units, constant, domain), domain)
    first = network(units, constant, domain)
    assert same_on_cells(first, other) is None  # the rewriting is right
    assert arrangement(first) == arrangement(other)
    assert hash(arrangement(first)) == hash(arrangement(other))


@settings(max_examples=120, deadline=None)
@given(RANDOMS)
def test_canonical_data_are_equal_iff_the_functions_are(rng):
    a, b = random_pair(rng)
    assert (arrangement(a) == arrangement(b)) == (same_on_cells(a, b) is None)


def test_the_pairs_are_equal_and_different_often_enough_on_every_domain():
    seen = {}
    for seed in range(120):
        a, b = random_pair(random.Random(seed))
        equal = arrangement(a) == arrangement(b)
        assert equal == (same_on_cells(a, b) is None)
        seen.setdefault((type(a.domain), equal), []).append(seed)
    assert len(seen) == 6
    assert min(map(len, seen.values())) >= 8


@settings(max_examples=100, deadline=None)
@given(RANDOMS)
def test_canonical_data_are_a_normal_form_of_the_function(rng):
    """g = Σ J_a relu(a) + M h + v on the domain; every hyperplane crosses its interior, and none is listed twice."""
    units, constant, domain = random_start(rng)
    net = network(units, constant, domain)
    data = arrangement(net)
    lines = [line for line, _ in data.hyperplanes]
    assert lines == sorted(set(lines))
    for line, jump in data.hyperplanes:
        assert gcd(*line) == 1
        assert next(value for value in line[:-1] if value) > 0
        assert any(jump)
        assert domain.positive_point(vector(line)) is not None
        assert domain.positive_point(negated(vector(line))) is not None
    assert (data.linear.shape, len(data.constant)) == ((len(constant), domain.dimension), len(constant))
    points = [domain.interior_point()]
    for form, _ in units:
        points += [x for x in (domain.positive_point(form), domain.positive_point(negated(form))) if x]
    for x in points:
        total = [a + b for a, b in zip(data.linear.times(x), data.constant, strict=True)]
        for line, jump in data.hyperplanes:
            total = [a + max(affine_value(vector(line), x), ZERO) * b for a, b in zip(total, jump, strict=True)]
        assert tuple(total) == net.value(x)


@settings(deadline=None)
@given(st.lists(st.fractions(max_denominator=9), min_size=2, max_size=5).filter(lambda form: any(form[:-1])))
def test_an_oriented_form_is_a_multiple_of_its_line(values):
    form = vector(values)
    line, factor = oriented(form)
    assert times(factor, vector(line)) == form
    assert gcd(*line) == 1
    assert next(value for value in line[:-1] if value) > 0
    assert oriented(negated(form)) == (line, -factor)
    assert oriented(times(fmpq(7, 3), form)) == (line, fmpq(7, 3) * factor)


# by hand


def test_functions_that_agree_on_a_box_only():
    """Theory §2.7: relu(x1 + 2) − relu(x2 + 2) and relu(x1 + x2 + 4) − 2 relu(x2 + 2) on [−1, 1]² and on R²."""
    a = [([[1, 0], [0, 1]], [2, 2]), ([[1, -1]], [0])]
    b = [([[1, 1], [0, 1]], [4, 2]), ([[1, -2]], [0])]
    box = Box([-1, -1], [1, 1])
    assert (
        arrangement(Network(a, box)) == arrangement(Network(b, box)) == Arrangement((), Matrix([[1, -1]]), vector([0]))
    )
    assert arrangement(Network(a)) != arrangement(Network(b))
    assert Network(a)([-3, 0]) != Network(b)([-3, 0])


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        # 2 relu(x − y) + 3 relu(y − x) = 5 relu(x − y) − 3 (x − y); relu(−x − 1) is dead on the orthant
        (Orthant(2), Arrangement((((1, -1, 0), vector([5])),), Matrix([[-3, 3]]), vector([7]))),
        (
            Space(2),  # relu(−x − 1) = relu(x + 1) − x − 1
            Arrangement((((1, -1, 0), vector([5])), ((1, 0, 1), vector([1]))), Matrix([[-4, 3]]), vector([6])),
        ),
        (Box([0, -9], [1, -1]), Arrangement((), Matrix([[2, -2]]), vector([7]))),  # x > y there
    ],
    ids=str,
)
def test_canonical_data_by_hand(domain, expected):
    net = Network([([[1, -1], [-1, 1], [-1, 0]], [0, 0, -1]), ([[2, 3, 1]], [7])], domain)
    assert arrangement(net) == expected


def test_cancelling_jumps_leave_no_hyperplane():
    """relu(x) − relu(−x) = x."""
    net = Network([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    assert arrangement(net) == Arrangement((), Matrix([[1]]), vector([0]))
    half = Network([([[1], [-1]], [0, 0]), ([[1, -1], [1, 1]], [0, 0])])  # in one output only
    assert arrangement(half).hyperplanes == (((1, 0), vector([0, 2])),)


def test_an_affine_map_is_its_own_canonical_data():
    """x + 2y + 3, with no hidden layer and with relu(z) − relu(−z)."""
    affine = Network([([[1, 2]], [3])])
    hidden = Network([([[1, 2], [-1, -2]], [3, -3]), ([[1, -1]], [0])])
    assert arrangement(affine) == arrangement(hidden) == Arrangement((), Matrix([[1, 2]]), vector([3]))


@pytest.mark.parametrize("hidden", [2, 3])
def test_another_depth_is_refused(hidden):
    with pytest.raises(UnsupportedError, match=f"this network has {hidden}"):
        arrangement(Network([([[1]], [0])] * (hidden + 1)))
