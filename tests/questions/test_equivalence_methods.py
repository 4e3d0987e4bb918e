"""Which way decides a pair of networks, within which budget, and that nothing is claimed which no checker accepts."""

from fractions import Fraction
from itertools import islice

import pytest
from flint import fmpq

from semialg_fibers import Box, Network, gallery
from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UndecidedSignError
from semialg_fibers.geometry.domain import Space
from semialg_fibers.geometry.scalar import affine_value, primitive, vector
from semialg_fibers.questions import equivalence
from semialg_fibers.questions.equivalence import Different, Same, Undecided, same_function
from semialg_fibers.verify.certificate import SameCertificate

# relu(x⁺ − y⁺), whose row is seen linearly by either of two units; and the same function by relu(z) = z + relu(−z),
# in which the unit of x, moved to x + 1, is the one seen linearly, plus h · relu(1/1000 − |x − 777| − |y − 555|)
ROOF = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [0]), ([[1]], [0])])


def turned_roof(h):
    first = ([[1, 0], [0, 1], [0, 1], [1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 1, -777, 777, -555, 555])
    rows = [[-1, 0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0], [0, 0, 0, -1, -1, -1, -1]]
    return Network([first, (rows, [-1, 0, 0, "1/1000"]), ([[1, 1, -1, h]], [0])])


def test_where_one_choice_at_an_ambiguous_row_leaves_dependent_normals_the_next_is_tried():
    """Of the two differences the first has four hyperplanes in the plane, the second only the two of the bump."""
    for h in (1, -2):
        for pair in [(ROOF, turned_roof(h)), (turned_roof(h), ROOF)]:
            answer = same_function(*pair, method="canonical")
            assert isinstance(answer, Different)
            assert (answer.a, answer.b) == pair
            assert answer.check()
            x, y = answer.witness
            assert abs(x - 777) + abs(y - 555) < 1 / 1000
    same = same_function(ROOF, turned_roof(0), method="canonical")
    assert isinstance(same, Same)
    assert same.check()


@pytest.mark.parametrize(("terms", "decided"), [(0, None), (1, None), (2, None), (3, False), (4, False), (100, False)])
def test_the_zero_test_is_for_differences_of_so_many_terms(monkeypatch, terms, decided):
    """The second difference has three terms, relu(bump) and two kinks that cancel; the first has more."""
    monkeypatch.setattr(equivalence, "TERMS", terms)
    assert same_function(ROOF, turned_roof(1), method="canonical").same is decided
    assert same_function(ROOF, turned_roof(1), method="exact").same is False


def test_so_many_pairs_of_normal_forms_are_compared(monkeypatch):
    monkeypatch.setattr(equivalence, "PAIRS_OF_FORMS", 1)
    assert same_function(ROOF, turned_roof(1), method="canonical").same is None
    monkeypatch.setattr(equivalence, "PAIRS_OF_FORMS", 2)
    assert same_function(ROOF, turned_roof(1), method="canonical").same is False


# certificates


def refusing(monkeypatch, *kinds):
    """Let the checker reject certificates of these kinds."""
    check = SameCertificate.check

    def instead(self, a, b, *budget):
        return self.kind not in kinds and check(self, a, b, *budget)

    monkeypatch.setattr(SameCertificate, "check", instead)


CROSS = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, -1]], [-1, 0]), ([[1, 2]], [0])])
SPLIT = Network([CROSS.layers[0], ([[1, 1], [1, -1], [3, 3]], [-1, 0, -3]), ([["1/2", 2, "1/6"]], [0])])


def test_a_certificate_that_its_checker_rejects_is_not_given_but_the_next(monkeypatch):
    for pair in [(CROSS, SPLIT), (SPLIT, CROSS)]:
        answer = same_function(*pair, method="canonical")
        assert isinstance(answer, Same)
        assert (answer.a, answer.b, answer.certificate.kind) == (*pair, "canonical data")
    refusing(monkeypatch, "canonical data")
    for pair in [(CROSS, SPLIT), (SPLIT, CROSS)]:
        answer = same_function(*pair, method="canonical")
        assert isinstance(answer, Same)
        assert (answer.a, answer.b, answer.certificate.kind) == (*pair, "sign patterns")
        assert answer.check()
    refusing(monkeypatch, "canonical data", "sign patterns")
    assert isinstance(same_function(CROSS, SPLIT, method="canonical"), Undecided)
    exact = same_function(CROSS, SPLIT)
    assert isinstance(exact, Same)
    assert exact.certificate.kind == "cells"


def test_a_certificate_too_long_to_check_at_once_is_given(monkeypatch):
    """The equality is proved; its certificate can be checked with a larger budget."""
    monkeypatch.setattr(equivalence, "CHECK", 1)
    thrice = Network([([[1], [2], [-1]], [0, 0, 0]), ([["1/3", "1/3", 1]], [0])])
    twice = Network([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    for pair, kind in [((CROSS, SPLIT), "canonical data"), ((twice, thrice), "arrangement")]:
        answer = same_function(*pair, method="canonical")
        assert isinstance(answer, Same)
        assert (answer.a, answer.b, answer.certificate.kind) == (*pair, kind)
        with pytest.raises(BudgetExceededError):
            answer.check(1)
        assert answer.check()


# one linear form: pieces of a line, at any depth and on any domain

TENT = [([[1, 1], [1, 1], [1, 1]], [0, -1, -2]), ([[1, -2, 1]], [0])]  # of s = x + y: 0, s, 2 − s, 0


def rewritten(layers):
    """The same function, of one linear form, by two more layers."""
    return [*layers[:-1], layers[-1], ([[1], [-1]], [0, 0]), ([[1, -1]], [0])]


@pytest.mark.parametrize(
    ("domain", "kind"), [(None, "one variable"), (Box([-1, -1], [3, 3]), "cells")], ids=["plane", "square"]
)
def test_functions_of_one_form_are_decided_at_any_depth_by_polynomial_methods(domain, kind):
    tent = Network(TENT, domain)
    deeper = Network(rewritten(TENT), domain)
    wrong = Network([*deeper.layers[:-1], ([[1, -2]], [0])], domain)  # differs only where the tent is negative: nowhere
    for pair in [(tent, deeper), (deeper, tent), (tent, wrong), (wrong, tent)]:
        answer = same_function(*pair, method="canonical")
        assert isinstance(answer, Same)
        assert (answer.a, answer.b, answer.certificate.kind) == (*pair, kind)
        assert answer.check()


def needle(width, slopes=((1,), (1,), (1,)), place=777):
    """A triangle of height `width` over [place, place + 2 width], zero elsewhere."""
    return [(list(slopes), [-place, -place - width, -place - 2 * width]), ([[1, -2, 1]], [0])]


def test_pieces_of_a_line_that_no_chosen_point_meets_are_found(monkeypatch):
    zero = ([[0]], [0]), ([[0]], [0])
    for depth in (0, 2):
        thin = needle(Fraction(1, 1000))
        thin = rewritten(thin) if depth else thin
        for pair in [(Network(thin), Network(list(zero))), (Network(list(zero)), Network(thin))]:
            answer = same_function(*pair, method="canonical")
            assert isinstance(answer, Different)
            assert (answer.a, answer.b) == pair
            assert answer.check()
            assert 777 < answer.witness[0] < 777 + Fraction(2, 1000)
    monkeypatch.setattr(equivalence, "CELLS", 1)
    few = same_function(Network(thin), Network(list(zero)), method="canonical", budget=1)
    assert isinstance(few, Undecided)
    assert few.reason == "there are at least 2^1 cells, more than the budget of 1 cell"
    assert same_function(Network(thin), Network(list(zero)), budget=100).same is False


def test_the_search_along_a_line_ends_with_the_seconds_too_and_is_watched():
    """Functions of one variable, four layers and more: their pieces are the cells that are looked at."""
    bends = Network([([[1]] * 80, list(range(80))), ([[1] * 80], [0])])
    deeper = Network(rewritten([*bends.layers]))
    for method in ("auto", "canonical"):
        seen = []
        assert same_function(bends, deeper, method, watch=seen.append).same is True
        assert seen == [64]  # of 81 pieces
        answer = same_function(bends, deeper, method, seconds=0)
        assert isinstance(answer, Undecided)
        assert "0 seconds" in answer.reason


# cells


def sector(height):
    """height · relu(x − 10⁵ |31 y − 10 x|): homogeneous, zero outside a thin sector around (31, 10)."""
    first = ([[1, 0], [-1, 0], [-10, 31], [10, -31]], [0] * 4)
    return Network([first, ([[1, -1, -(10**5), -(10**5)]], [0]), ([[height]], [0])])


@pytest.mark.parametrize("heights", [(1, 0), (0, 1), (1, 2)])
def test_cells_on_which_only_the_linear_parts_differ_are_different(heights):
    a, b = map(sector, heights)
    answer = same_function(a, b, method="exact")
    assert isinstance(answer, Different)
    assert (answer.a, answer.b) == (a, b)
    assert answer.check()
    assert answer.values == (a(answer.witness), b(answer.witness))


def test_cells_name_the_networks_in_their_order_where_a_point_already_tells_them_apart():
    for pair in [(ROOF, CROSS), (CROSS, ROOF)]:
        answer = same_function(*pair, method="exact")
        assert isinstance(answer, Different)
        assert (answer.a, answer.b) == pair
        assert answer.check()


def test_nobody_need_watch_many_cells():
    lines = ([[1, k] for k in range(-5, 6)], [k**3 for k in range(11)])
    net = Network([lines, ([[1] * 11], [0])])
    seen = []
    assert same_function(net, net, "exact", watch=seen.append).same is True
    assert seen
    assert same_function(net, net, "exact").same is True


def test_the_exchange_of_roles_is_proved_in_either_order():
    pair = gallery.network("exchange_of_roles"), gallery.network("exchange_of_roles_partner")
    for a, b in (pair, pair[::-1]):
        answer = same_function(a, b, method="canonical")
        assert isinstance(answer, Same)
        assert (answer.a, answer.b, answer.certificate.kind) == (a, b, "sign patterns")
        assert answer.check()


# what is said


def test_an_undecided_answer_is_no_truth_value_and_says_why():
    answer = same_function(sector(1), sector(2), budget=1, method="exact")
    assert isinstance(answer, Undecided)
    with pytest.raises(UndecidedSignError) as refused:
        bool(answer)
    assert refused.value.message == f"it was not decided whether the functions are the same: {answer.reason}"


def test_a_refusal_names_the_numbers_of_inputs_and_of_outputs():
    wide = Network([([[1, 0], [0, 1], [1, 1], [1, 2]], [0] * 4), ([[1] * 4] * 3, [0] * 3)])  # 2 → 4 → 3
    narrow = Network([([[1] * 5] * 6, [0] * 6), ([[1] * 6] * 7, [0] * 7)])  # 5 → 6 → 7
    for a, b, shapes in [(wide, narrow, "2 → 3 and 5 → 7"), (narrow, wide, "5 → 7 and 2 → 3")]:
        with pytest.raises(InvalidNetworkError) as refused:
            same_function(a, b)
        assert refused.value.message == f"the functions have different shapes: {shapes}"


# points around a hyperplane


def test_a_hyperplane_parallel_to_the_line_through_three_points_does_not_matter():
    """The line never meets it, so that it does not bound the step."""
    plane = (1, 2, -1)
    on, first, _ = islice(equivalence._around(Space(2), plane, [plane]), 3)
    slope = [x - y for x, y in zip(first, on, strict=True)]
    parallel = primitive([-slope[1], slope[0], slope[1] * on[0] - slope[0] * on[1] + 1])
    points = list(islice(equivalence._around(Space(2), plane, [plane, parallel]), 3))
    assert points[0] == on
    at = {affine_value(vector(parallel), point) for point in points}
    assert len(at) == 1
    assert at != {0}


def test_where_two_kinks_cancel_along_one_line_another_line_is_taken():
    """The first line meets both hyperplanes in one point, with equal slopes: on it relu(u) − relu(v) = 0."""
    plane = (1, 2, -1)
    on, first, _ = islice(equivalence._around(Space(2), plane, [plane]), 3)
    slope = [x - y for x, y in zip(first, on, strict=True)]
    # v = u + c · (a form that vanishes along the line)
    along = (-slope[1], slope[0], slope[1] * on[0] - slope[0] * on[1])
    other = [x + y for x, y in zip(vector(plane), along, strict=True)]
    assert affine_value(other, on) == affine_value(vector(plane), on) == 0
    net = Network([([plane[:2], other[:2]], [plane[2], other[2]]), ([[1, -1]], [0])])
    zero = Network([([[0, 0]], [0])])
    line = [tuple(x + t * y for x, y in zip(on, slope, strict=True)) for t in (-2, -1, 0, 1, 2)]
    assert [net.value(point) for point in line] == [zero.value(point) for point in line]
    for pair in [(net, zero), (zero, net)]:
        answer = equivalence._by_arrangement(*pair)
        assert isinstance(answer, Different)
        assert answer.check()


def test_a_point_moves_along_its_direction_and_stays_strictly_on_its_side():
    one, two, none = fmpq(1), fmpq(2), fmpq(0)
    form, inside = (one, none, none), (two, none)
    assert equivalence._on_side(Space(2), form, inside, [one, two]) == (3, 2)
    for domain in (Space(2), Box([0, 0], [3, 3])):
        for step in (-2, -3, -100):
            moved = equivalence._on_side(domain, form, inside, [fmpq(step), none])
            assert 0 < moved[0] < 2
            assert moved[1] == 0


@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_affine_remainders_that_agree_at_the_centre_are_told_apart(inputs):
    """Equal weighted hyperplanes; d + 1 affinely independent points show that the rest differs."""
    for axis in range(inputs):
        unit = [int(axis == i) for i in range(inputs)]
        bent, straight = [1] * inputs, [-value for value in unit]
        a = Network([([bent, unit, straight], [-1, 0, 0]), ([[1, 1, -1]], [0])])
        b = Network([([bent], [-1]), ([[1]], [0])])
        for pair in [(a, b), (b, a)]:
            answer = equivalence._by_arrangement(*pair)
            assert isinstance(answer, Different)
            assert (answer.a, answer.b) == pair
            assert answer.check()


def test_where_the_polynomial_methods_do_not_apply_it_is_said():
    """Two inputs, four layers, copies of a unit: no matching of units, no normal form, no line."""
    wide = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, -1]], [1, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    twice = Network(
        [([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [1, -1], [1, -1]], [1, 0, 0]), ([[1, "1/2", "1/2"]], [-1]), ([[1]], [0])]
    )
    answer = same_function(wide, twice, "canonical")
    assert isinstance(answer, Undecided)
    assert answer.reason == "the polynomial methods do not apply to this pair; method exact looks at all cells"
    assert same_function(wide, twice).same is True


SQUARE = Box([0, 0], [2, 1])
TRIED = {  # what is tried, in which order: a witness that stands in a paper is found again, by whoever asks
    "a few, on R^2": (
        lambda: equivalence._few_points(Space(2)),
        "0 0, -1 0, 1 0, 2 -1, 5 1, 49 -45, 29 -65, -423 -714",
    ),
    "a few, in a box": (
        lambda: equivalence._few_points(SQUARE),
        "1 1/2, 0 1/2, 2 1/2, 2 0, 13/8 5/8, 177/128 19/128, 285/256 63/256, 1625/2048 155/1024",
    ),
    "beside hyperplanes, on R^2": (
        lambda: equivalence._beside_first_layers(
            Network([([[1, 2], [0, 3]], [1, -1]), ([[1, 1]], [0])]), Network([([[1, -1]], [2]), ([[1]], [0])])
        ),
        "-703/320 97/160, -141/64 19/32, 3469/64 -883/32, 17343/320 -4417/160, "
        "-1 65/192, -1 21/64, 13 65/192, 13 21/64, "
        "-127/128 127/128, -129/128 129/128, 1857/128 2111/128, 1855/128 2113/128",
    ),
    "beside hyperplanes, in a box": (
        lambda: equivalence._beside_first_layers(
            Network([([[1, 2]], [1]), ([[1]], [0])], SQUARE), Network([([[1, -1]], [0]), ([[1]], [0])], SQUARE)
        ),
        "449/1280 289/640, 447/1280 287/640, 37697/20480 577/10240, 7539/4096 115/2048, "
        "225/512 31/512, 223/512 33/512, 12001/8192 7967/8192, 11999/8192 7969/8192",
    ),
    "around a bend, on R^2": (
        lambda: islice(equivalence._around(Space(2), (1, 2, 1), [(1, 2, 1), (0, 3, -1)]), 6),
        "-569/1495 -463/1495, 508941/204815 53/4485, -664847/204815 -2831/4485, "
        "181/107 -144/107, 874799/778746 -325/642, 1759837/778746 -1403/642",
    ),
    "around a bend, in a box": (
        lambda: islice(equivalence._around(SQUARE, (2, -2, -1), [(2, -2, -1), (1, 1, -1)]), 6),
        "12381/14464 5149/14464, 2108223/1938176 446219/1938176, 1209885/1938176 933713/1938176, "
        "1867/1728 1003/1728, 4517/3456 515/864, 2951/3456 61/108",
    ),
}


@pytest.mark.parametrize("name", TRIED)
def test_the_points_that_are_tried_are_the_same_everywhere(name):
    points, told = TRIED[name]
    assert ", ".join(" ".join(map(str, point)) for point in points()) == told
