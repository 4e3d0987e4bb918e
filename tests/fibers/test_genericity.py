"""Each hypothesis of theory §5 violated, its witness verified here from the definition, and brute force over masks."""

import random
from fractions import Fraction
from itertools import combinations

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import columns_of, is_strictly_feasible, kinds, layer_rows, linear_product, rank, subsets

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, NotGenericError, UnsupportedError
from semialg_fibers.fibers import genericity as genericity_module
from semialg_fibers.fibers import masks
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.genericity import genericity, is_bottleneck
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.geometry.scalar import vector
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.oracle import same_on_cells

IDENTITY = ([[1, 0], [0, 1]], [0, 0])


def verdicts(net):
    return {condition.name: condition.verdict for condition in genericity(net).conditions}


def witness(net, name):
    (found,) = [condition for condition in genericity(net).conditions if condition.name == name]
    assert found.verdict is False
    assert str(found) == f"({name}) violated: {found.reason}"
    return found.witness


def is_cancelling(net, k, rows):
    weights, outgoing = layer_rows(net.layers[1]), columns_of(net.layers[2])
    return not any(sum(outgoing[j][a] * weights[j][k] for j in rows) for a in range(net.widths[-1]))


def realizable(net, k):
    """The nonempty sets of rows that are the positive ones at a point of h_k = 0, h > 0 elsewhere, with no zero."""
    faces = [[*row[:k], *row[k + 1 :]] for row in layer_rows(net.layers[1])]
    size = net.widths[1] - 1
    axes = [[Fraction(int(i == j)) for j in range(size)] + [Fraction(0)] for i in range(size)]
    for rows in subsets(len(faces))[1:]:
        forms = [face if j in rows else [-value for value in face] for j, face in enumerate(faces)]
        if is_strictly_feasible([*forms, *axes], size):
            yield rows


def masked_sums_hold(net):
    return not any(is_cancelling(net, k, rows) for k in range(net.widths[1]) for rows in realizable(net, k))


# one network for each violated condition


def test_g1_rank_of_the_first_layer():
    net = Network([([[1, 2], [2, 4]], [0, 1]), ([[1, -2]], [1]), ([[1]], [0])])
    assert witness(net, "G1") == ("rank", rank(layer_rows(net.layers[0])) - 1, 2)  # the rows of [A1 | b1] have rank 2
    assert genericity(net).is_generic is False
    assert genericity(net).violated == ("G1",)
    assert genericity(net).undecided == ("G4",)  # not asked, and so never called true


@pytest.mark.parametrize(
    ("rows", "weights", "expected"),
    [
        pytest.param([[1, -2, 1], [1, 0, -3]], [[1, 1]], ("zero", 1, 1), id="weight"),
        pytest.param([[1, -2, 0], [1, 1, -3]], [[1, 1]], ("zero", 0, 2), id="bias"),
        pytest.param([[1, -2, 1], [1, 1, -3]], [[1, 0], [2, 0]], ("zero column", 1), id="column of A3"),
    ],
)
def test_g2_zeros(rows, weights, expected):
    net = Network([IDENTITY, ([row[:-1] for row in rows], [row[-1] for row in rows]), (weights, [0] * len(weights))])
    assert witness(net, "G2") == expected
    if expected[0] == "zero":
        assert rows[expected[1]][expected[2]] == 0
    else:
        assert all(row[expected[1]] == 0 for row in weights)


def test_g3_equal_ratios_in_a_column():
    """In column 2, −3/1 and 6/−2 are both −3; in column 1 the equal ratios 1 have the wrong sign and do no harm."""
    net = Network([IDENTITY, ([[-3, 1], [6, -2]], [-3, 6]), ([[1, 1]], [0])])
    name, k, _, i, j = witness(net, "G3")
    rows = layer_rows(net.layers[1])
    assert (name, k) == ("column", 1)
    assert rows[i][k] * rows[i][-1] < 0
    assert rows[j][k] * rows[j][-1] < 0
    assert rows[i][-1] / rows[i][k] == rows[j][-1] / rows[j][k]


@pytest.mark.parametrize("common", [7, 2**61 - 1, 2**31 - 1, 3**80])
def test_g3_equal_ratios_whatever_their_common_factor(common):
    """No residue of a number that a prime divides tells a ratio from another; row 2 has the same ratio −1."""
    for rows in ([[-common, 1, common], [-2, 3, 2]], [[-2, 3, 2], [-common, 1, common]]):
        assert witness(bottleneck_of(rows, [[1, 1]]), "G3") == ("column", 0, "rows", 0, 1)
    for rows in ([[-common, 1, 2 * common], [-2, 3, 2]], [[-1, 1, common], [-1, 3, 2 * common]]):
        assert verdicts(bottleneck_of(rows, [[1, 1]]))["G3"] is True
    assert witness(bottleneck_of([[-1, 1, common], [-2, 3, 2 * common]], [[1, 1]]), "G3")[1] == 0


def test_g4_masked_products():
    """On H_1 (h1 = 0) rows 1 and 2 are both active at h2 = 1, and 3·2 − 2·3 = 0."""
    net = Network([IDENTITY, ([[2, 1], [3, 2]], [1, 1]), ([[3, -2]], [0])])
    name, k, _, rows, _, point = witness(net, "G4")
    assert witness(net, "G4")[::2] == ("column", "rows", "at h")
    assert name == "column"
    assert is_cancelling(net, k, rows)
    values = net.layers[1].apply(point)
    assert point[k] == 0
    assert all(value > 0 for i, value in enumerate(point) if i != k)
    assert tuple(j for j, value in enumerate(values) if value > 0) == rows
    assert all(values)


def test_g5_rank_of_the_linear_rows():
    """Two linear rows with C1 B1 + C2 B2 = (1,1;1,1): rank 1, expected 2."""
    net = Network([IDENTITY, ([[1, 1], [1, 1]], [1, 2]), ([[1, 2], [1, 3]], [0, 0])])
    assert rank(linear_product(net)) == 1
    assert witness(net, "G5") == ("rank", 1, 2)
    assert genericity(net).violated == ("G5",)


def test_several_violations_are_all_named():
    net = Network([([[1, 1], [2, 2]], [0, 0]), ([[1, -1], [2, -2]], [-1, -2]), ([[0, 1]], [0])])
    assert genericity(net).violated == ("G1", "G2", "G3")
    with pytest.raises(NotGenericError) as caught:
        fiber(net)
    lines = [str(condition) for condition in genericity(net).conditions if condition.verdict is False]
    assert str(caught.value) == f"the network is not generic: {lines[0]}; {lines[1]}; {lines[2]}"


# the theory's examples


def test_three_equal_networks_with_three_first_layers():
    """Theory §5: relu(min(a, b)), a = x1 − x2 − 1, b = x2, which violates G3 as the first network.

    As relu(a − relu(a − b)) and as relu(b − relu(b − a)) it is generic, with a hidden hyperplane (the added 2 is a
    translation) and a dead row; these two are flips of each other, and the first lies in no component.
    """
    first = Network([IDENTITY, ([[1, -1], [1, -2]], [-1, -1]), ([[1, -1]], [0])])
    second = Network([([[1, -1], [1, -2]], [1, -1]), ([[1, -1], [-1, -1]], [-2, -1]), ([[1, 5]], [0])])
    third = Network([([[0, 1], [-1, 2]], [2, 1]), ([[1, -1], [-1, -1]], [-2, -1]), ([[1, 7]], [0])])
    assert same_on_cells(first, second) is None
    assert same_on_cells(first, third) is None
    assert genericity(first).violated == ("G3",)
    assert genericity(second).is_generic is True
    assert genericity(third).is_generic is True
    for one, other in ((second, third), (third, second)):
        found = fiber(one)
        assert [component.flips for component in found.components] == [(), (1,)]
        assert [component.contains(other) for component in found.components] == [False, True]
        assert not found.contains(first)


def test_a_flip_of_a_spare_neuron_is_not_generic():
    """Theory §3.4: the members of component S of the example without a generic member violate G4."""
    net = Network([IDENTITY, ([[1, 1], [-1, -1]], [-1, -1]), ([[1, 3]], [0])])
    flipped = Network([IDENTITY, ([[-1, -1], [1, 1]], [1, 2]), ([[1, 1]], [-3])])
    assert same_on_cells(net, flipped) is None
    assert genericity(net).is_generic is True
    assert genericity(flipped).violated == ("G4",)
    assert fiber(net).contains(flipped)
    assert fiber(net).component_count == 2
    members = [fiber(net).components[1].sample(seed) for seed in range(20)]
    assert all("G4" in genericity(member).violated for member in members)


# brute force


@settings(max_examples=150)
@given(st.data())
def test_masked_sums_by_brute_force(data):
    """Entries ±1, ±2 make sums vanish often; every set of rows is tried, its realizability by elimination."""
    n1, n2, m = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4)), data.draw(st.integers(1, 2))
    entry = st.sampled_from([-2, -1, 1, 2])
    rows = data.draw(st.lists(st.lists(entry, min_size=n1 + 1, max_size=n1 + 1), min_size=n2, max_size=n2))
    weights = data.draw(st.lists(st.lists(entry, min_size=n2, max_size=n2), min_size=m, max_size=m))
    square = [[int(i == j) for j in range(n1)] for i in range(n1)]
    net = Network([(square, [0] * n1), ([row[:-1] for row in rows], [row[-1] for row in rows]), (weights, [0] * m)])
    found = verdicts(net)
    assert found["G1"] is True
    assert found["G2"] is True
    assert found["G4"] is masked_sums_hold(net)
    if found["G4"] is False:
        _, k, _, mask, _, point = witness(net, "G4")
        assert mask in set(realizable(net, k))
        assert is_cancelling(net, k, mask)
        values = net.layers[1].apply(point)
        assert tuple(j for j, value in enumerate(values) if value > 0) == mask
        assert all(values)
        assert [value > 0 for value in point] == [i != k for i in range(n1)]
    pairs = [
        (k, i, j)
        for k in range(n1)
        for i, j in combinations(range(n2), 2)
        if rows[i][k] * rows[i][-1] < 0 > rows[j][k] * rows[j][-1]
        and rows[i][-1] * rows[j][k] == rows[j][-1] * rows[i][k]
    ]
    assert found["G3"] is (not pairs)
    linear = [j for j, name in enumerate(kinds(net)) if name == "linear"]
    assert found["G5"] is (n1 == 1 or rank(linear_product(net)) == min(m, n1, len(linear)))


def test_masks_that_no_point_realizes_do_not_count():
    """On h1 = 0 the rows are h2 − 2 and 1 − h2, never both positive, so that 1 − 1 = 0 is harmless."""
    net = Network([IDENTITY, ([[1, 1], [1, -1]], [-2, 1]), ([[1, -1]], [0])])
    assert is_cancelling(net, 0, (0, 1))
    assert set(realizable(net, 0)) == {(0,), (1,)}
    assert verdicts(net)["G4"] is True


@pytest.mark.parametrize(("limit", "decided"), [(6, True), (5, False)])
def test_so_many_candidates_are_looked_at_and_no_more(limit, decided, monkeypatch):
    """On h1 = 0: h2 > 2, h2 < 1, h2 > 3, h2 < 1/2, products 1, −1, 1, −1: six sets cancel, ∅ alone at a point."""
    monkeypatch.setattr(masks, "CANDIDATE_LIMIT", limit)
    forms = [vector(row) for row in ([1, 1, -2], [1, -1, 1], [1, 1, -3], [1, -2, 1])]
    products = Matrix([[1, -1, 1, -1]])
    if decided:
        assert masks.vanishing_mask(products, forms, 0) is None
    else:
        with pytest.raises(BudgetExceededError) as caught:
            masks.vanishing_mask(products, forms, 0)
        assert str(caught.value) == "more than 5 sets of rows cancel; not all were looked at"


def test_a_search_beyond_the_budget_is_not_decided():
    """128 rows, two outputs: a kernel of dimension 126 in each column."""
    source = random.Random(5)
    square = [[int(i == j) for j in range(4)] for i in range(4)]
    rows = [[source.randint(-(10**9), 10**9) for _ in range(5)] for _ in range(128)]
    weights = [[source.randint(-99, 99) for _ in range(128)] for _ in range(2)]
    net = Network([(square, [0] * 4), ([row[:-1] for row in rows], [row[-1] for row in rows]), (weights, [0, 0])])
    report = genericity(net)
    assert report.violated == ()
    assert report.undecided == ("G4",)
    assert report.is_generic is None
    assert "(G4) not decided: column 1: " in str(report)
    assert report.conditions[3].witness == ("column", 0)
    found = fiber(net)
    assert found.complete is None
    assert found.assumptions == ("G4",)
    assert found.components[0].contains(net)


def test_full_column_rank_decides_g4_at_any_size():
    source = random.Random(6)
    square = [[int(i == j) for j in range(3)] for i in range(3)]
    weights = [[source.randint(-99, 99) or 1 for _ in range(60)] for _ in range(64)]
    rows = [[source.randint(-9999, 9999) or 1 for _ in range(4)] for _ in range(60)]
    net = Network([(square, [0] * 3), ([row[:-1] for row in rows], [row[-1] for row in rows]), (weights, [0] * 64)])
    assert verdicts(net) == dict.fromkeys(["G1", "G2", "G3", "G4", "G5"], True)


# one hidden layer


@pytest.mark.parametrize(
    ("domain", "rows", "weights", "expected"),
    [
        pytest.param(Space(2), [[1, 2, 3], [-2, -4, -6]], [[1, 1]], {"G3": ("same hyperplane", 0, 1)}, id="one plane"),
        pytest.param(Orthant(2), [[1, -2, 3], [0, 0, 0]], [[1, 1]], {"G2": ("zero row", 1)}, id="zero row"),
        pytest.param(
            Orthant(2), [[0, 0, 0], [1, -2, 3], [0, 0, 0]], [[1, 1, 1]], {"G2": ("zero row", 0)}, id="two zero rows"
        ),
        pytest.param(Orthant(2), [[1, -2, 3], [1, -1, 0]], [[1, 0]], {"G2": ("zero column", 1)}, id="mute, nonlinear"),
        pytest.param(
            Orthant(2), [[1, -2, 3], [1, -1, 0], [1, -3, 0]], [[1, 0, 0]], {"G2": ("zero column", 1)}, id="two mute"
        ),
        pytest.param(Orthant(2), [[1, -2, 3], [1, 1, 0]], [[1, 0]], {"G5": ("rank", 0, 1)}, id="mute, linear"),
        pytest.param(
            Orthant(2), [[1, 1, 1], [2, 2, 5]], [[1, 1], [1, 2]], {"G5": ("rank", 1, 2)}, id="parallel, linear"
        ),
        pytest.param(Orthant(2), [[1, 1, 1], [2, 2, 5]], [[1, 1]], {}, id="linear rows have no hyperplane"),
        pytest.param(Space(2), [[1, 1, 1], [0, 0, 5]], [[1, 0]], {}, id="on R^p nothing is asked of constants"),
        pytest.param(Box([0], [1]), [[1, -2], [2, -4]], [[1, 1]], {}, id="planes outside the box"),
        pytest.param(
            Box([0], [3]), [[1, -2], [2, -4]], [[1, 1]], {"G3": ("same hyperplane", 0, 1)}, id="inside the box"
        ),
    ],
)
def test_one_hidden_layer(domain, rows, weights, expected):
    layers = [([row[:-1] for row in rows], [row[-1] for row in rows]), (weights, [0] * len(weights))]
    net = Network(layers, domain)
    report = genericity(net)
    assert [condition.name for condition in report.conditions] == ["G2", "G3", "G5"]
    assert report.violated == tuple(expected)
    assert {name: witness(net, name) for name in expected} == expected
    assert report.is_generic is (not expected)


@pytest.mark.parametrize(
    ("net", "message"),
    [
        (Network([([[1]], [0])]), "one affine layer"),
        (Network([([[1]], [0])] * 4), "this network has 4"),
        (Network([([[1]], [0])] * 3, Orthant(1)), "domain"),
        (Network([([[1], [2]], [0, 0]), ([[1, 1]], [0]), ([[1]], [0])]), "n1 = 2 > d = 1"),
    ],
)
def test_networks_outside_the_theorem_are_refused_with_the_reason(net, message):
    with pytest.raises(UnsupportedError, match=message):
        fiber(net)


def test_n1_of_one_asks_nothing_of_linear_rows():
    """Theory §3.5: G1 (A1 ≠ 0), G2, G3 and G4 at u = 0."""
    net = Network([([[2]], [1]), ([[1], [2]], [1, 1]), ([[1, 1]], [0])])
    assert genericity(net).is_generic is True
    cancelling = Network([([[2]], [1]), ([[1], [2]], [1, 1]), ([[2, -1]], [0])])
    assert witness(cancelling, "G4")[:4] == ("column", 0, "rows", (0, 1))
    assert list(realizable(cancelling, 0)) == [(0, 1)]  # at u = 0 the biases decide, and both are positive


# the lines of the report


def bottleneck_of(rows, weights, first=IDENTITY):
    return Network([first, ([row[:-1] for row in rows], [row[-1] for row in rows]), (weights, [0] * len(weights))])


def shallow(rows, weights, domain):
    return Network([([row[:-1] for row in rows], [row[-1] for row in rows]), (weights, [0] * len(weights))], domain)


LINES = [
    (
        bottleneck_of([[1, -2, 1], [1, 1, 3]], [[1, 0], [0, 1]]),
        [
            "(G1) holds: rank A1 = n1 = 2",
            "(G2) holds: no zero in [A2 | b2], no zero column in A3",
            "(G3) holds: no two second-layer hyperplanes meet on an edge of the orthant",
            "(G4) holds: A3 has full column rank",
            "(G5) holds: the linear rows' product has rank 1",
        ],
    ),
    (
        bottleneck_of([[-3, 1, -3], [6, -2, 6]], [[1, 1]]),
        [
            "(G1) holds: rank A1 = n1 = 2",
            "(G2) holds: no zero in [A2 | b2], no zero column in A3",
            "(G3) violated: in column 2 rows 1 and 2 have the same ratio -3",
            "(G4) holds: no sum of masked products of rows active together on a hyperplane vanishes",
            "(G5) holds: there is no linear row",
        ],
    ),
    (
        bottleneck_of([[1, 2, 1], [2, 3, 1]], [[-3, 2]]),
        [
            "(G1) holds: rank A1 = n1 = 2",
            "(G2) holds: no zero in [A2 | b2], no zero column in A3",
            "(G3) holds: no two second-layer hyperplanes meet on an edge of the orthant",
            "(G4) violated: column 2: the sum over the rows 1, 2, active together on the hyperplane, vanishes",
            "(G5) holds: the linear rows' product has rank 1",
        ],
    ),
    (
        bottleneck_of([[1, 1, 1], [1, 1, 2]], [[1, 2], [1, 3]], ([[1, 2], [2, 4]], [0, 0])),
        [
            "(G1) violated: rank A1 = 1 < n1 = 2",
            "(G2) holds: no zero in [A2 | b2], no zero column in A3",
            "(G3) holds: no two second-layer hyperplanes meet on an edge of the orthant",
            "(G4) not decided: not asked: the first layer does not map onto the orthant",
            "(G5) violated: the linear rows' product has rank 1, expected min(m, p, q) = 2",
        ],
    ),
    (
        Network([([[2]], [1]), ([[1], [2]], [1, 1]), ([[2, -1]], [0])]),  # n1 = 1, and C B = 0 harms no one
        [
            "(G1) holds: rank A1 = n1 = 1",
            "(G2) holds: no zero in [A2 | b2], no zero column in A3",
            "(G3) holds: no two second-layer hyperplanes meet on an edge of the orthant",
            "(G4) violated: column 1: the sum over the rows 1, 2, active together on the hyperplane, vanishes",
            "(G5) holds: nothing is asked for n1 = 1",
        ],
    ),
    (
        shallow([[1, -2, 1], [2, -4, 2], [1, 1, 0]], [[1, 1, 1]], Orthant(2)),
        [
            "(G2) holds: no zero row, no nonlinear neuron with outgoing weights zero",
            "(G3) violated: rows 1 and 2 have the same hyperplane",
            "(G5) holds: the linear rows' product has rank 1",
        ],
    ),
    (
        shallow([[1, -2, 1], [0, 0, 0], [0, 0, 0]], [[1, 1, 1]], Space(2)),
        [
            "(G2) violated: row 2 of [B | β] is zero",
            "(G3) holds: the hyperplanes of nonlinear neurons are pairwise different",
            "(G5) holds: on R^p linear neurons are constants, nothing is asked",
        ],
    ),
    (
        shallow([[1, -2, 1], [1, -1, 1], [1, -3, 1]], [[1, 0, 0]], Box([0, 0], [3, 3])),
        [
            "(G2) violated: column 2 of the outgoing weights is zero, and that neuron is nonlinear",
            "(G3) holds: the hyperplanes of nonlinear neurons are pairwise different",
            "(G5) holds: there is no linear row",
        ],
    ),
]


@pytest.mark.parametrize(("net", "lines"), LINES)
def test_the_report_says_in_one_line_what_each_condition_found(net, lines):
    assert str(genericity(net)).splitlines() == lines
    assert [str(condition) for condition in genericity(net).conditions] == lines


@pytest.mark.parametrize(
    ("rows", "weights", "reason"),
    [
        ([[1, -2, 1], [1, 0, -3]], [[1, 2]], "A2 entry (2, 2) is zero"),
        ([[0, -2, 1], [1, 1, -3]], [[1, 2]], "A2 entry (1, 1) is zero"),
        ([[1, -2, 1], [1, 1, 0]], [[1, 2]], "b2 entry 2 is zero"),
        ([[1, -2, 1], [1, 1, -3]], [[1, 0]], "column 2 of A3 is zero"),
        # Zeros in the same column, or in b2, are no equal ratios: A2_jk b2_j < 0 is asked.
        ([[0, -2, -1], [0, 1, -3]], [[1, 2]], "A2 entry (1, 1) is zero"),
        ([[0, -2, 1], [0, 1, 3]], [[1, 2]], "A2 entry (1, 1) is zero"),
        ([[1, 2, 0], [3, 1, 0]], [[1, 2]], "b2 entry 1 is zero"),
        ([[-1, -2, 0], [-3, -1, 0]], [[1, 2]], "b2 entry 1 is zero"),
    ],
)
def test_zeros_are_named_and_are_no_equal_ratios(rows, weights, reason):
    report = genericity(bottleneck_of(rows, weights))
    assert report.conditions[1].reason == reason
    assert "G2" in report.violated
    assert "G3" not in report.violated


def test_refusals_name_the_hypothesis_with_the_numbers_of_the_network():
    """d = 2, n1 = 3, n2 = 1."""
    wide = Network([([[1, 0], [0, 1], [1, 1]], [0] * 3), ([[1, 2, 3]], [0]), ([[1]], [0])])
    deep = Network([([[1]], [0])] * 4)
    boxed = Network([([[1]], [0])] * 3, Box([0], [1]))
    triangle = Network([([[1]], [0])] * 2, Polyhedron([[1], [-1]], [1, 1]))
    affine = Network([([[1]], [0])])
    assert [refusal(fiber, net) for net in (wide, deep, boxed, triangle, affine)] == [
        "the theorem needs a bottleneck n1 ≤ d, this network has n1 = 3 > d = 2",
        "the theorem covers two and three affine layers, this network has 4",
        f"the three-layer theorem is about all of R^d, this network's domain is {boxed.domain}",
        "the theorem covers R^d, the orthant and boxes, not polyhedra; same_function does, for one hidden layer",
        "a network with one affine layer has no hidden units: its parameters are its function",
    ]
    assert [refusal(genericity, net) for net in (triangle, affine)] == [
        refusal(fiber, net) for net in (triangle, affine)
    ]
    prism = Network([([[1]], [0])] * 3, Polyhedron([[1], [-1]], [1, 1]))
    for net in (boxed, prism):
        assert {condition.name for condition in genericity(net).conditions} == {"supertransversal", "masked_products"}


def test_what_is_no_network_and_letters_in_deep_networks_are_refused():
    with pytest.raises(InvalidNetworkError, match="expected a Network, got the int 3"):
        is_bottleneck(3)
    p = sympy.Symbol("p", positive=True)
    wide = Network([([[p], [1]], [0, 1]), ([[1, -1]], [1]), ([[1]], [0])])  # n1 = 2 > d = 1: not the theorem's
    for net in (Network([([[p]], [0])] * 4), Network([([[p]], [0])] * 3, Box([0], [1])), wide):
        assert refusal(genericity, net).startswith("this needs numbers")


@pytest.mark.parametrize(("n1", "more"), [(5, ""), (6, ""), (7, ", and 1 more of this kind")])
def test_six_conditions_are_written_out(n1, more):
    """Both rows are on everywhere; for each column k, (k + 1) x + y may vanish."""
    square = [[int(i == j) for j in range(n1)] for i in range(n1)]
    net = bottleneck_of([[*range(1, n1 + 1), 1], [1] * (n1 + 1)], [[x, y]], (square, [0] * n1))
    conditions = ["x + y ≠ 0", *(f"{k}*x + y ≠ 0" for k in range(2, n1 + 1))]
    assert genericity(net).conditions[3].reason == f"holds if {' and '.join(conditions[:6])}{more}"


def refusal(question, net):
    with pytest.raises(UnsupportedError) as caught:
        question(net)
    return str(caught.value)


# with letters


p, q = sympy.symbols("p q", positive=True)
x, y = sympy.symbols("x y", real=True)
z = sympy.Symbol("z", nonnegative=True)
G1, G2 = "(G1) holds: rank A1 = 2, expected 2", "(G2) holds: no zero in [A2 | b2], no zero column in A3"
G3 = "(G3) holds: no two second-layer hyperplanes meet on an edge of the orthant"
G4 = "(G4) holds: no sum of masked products vanishes, whatever the values of the letters"
G5, RANK = "(G5) holds: nothing is asked", "rank Σ over linear rows of C_j B_j"
LINES_ = "(G2) holds: no zero row, no nonlinear neuron without outgoing weights"
SYMBOLIC = [
    (  # on hyperplane 1 row 1 is off and row 2 on, so that p - 3 is no masked product
        bottleneck_of([[p, -1, -1], [-1, 1, q]], [[1, 3]]),
        [G1, G2, "(G3) not decided: holds if p*q - 1 ≠ 0", G4, G5],
    ),
    (
        bottleneck_of([[p, -1, -1]], [[1]], ([[p, 1], [x, 1]], [0, 0])),
        ["(G1) not decided: rank A1 = 2 iff p - x ≠ 0", G2, G3, G4, G5],
    ),
    (  # det A1 = pq + 1 > 0
        bottleneck_of([[p, -1, -1]], [[x], [y]], ([[p, 1], [-1, q]], [0, 0])),
        [
            "(G1) holds: rank A1 = 2 for all values of the letters",
            "(G2) not decided: holds iff not all of x, y are zero",
            G3,
            "(G4) not decided: holds if not all of x, y are zero",
            G5,
        ],
    ),
    (
        bottleneck_of([[0, -1, -p]], [[1]], ([[p, 1], [2 * p, 2]], [0, 0])),
        [
            "(G1) violated: rank A1 ≤ 1 for all values of the letters, expected 2",
            "(G2) violated: an entry of [A2 | b2] is zero",
            *(G3, G4, G5),
        ],
    ),
    (
        bottleneck_of([[p, q, 1], [1, 2, 1]], [[1, 0], [0, 1]]),
        [G1, G2, G3, G4, f"(G5) not decided: {RANK} = 2 iff 2*p - q ≠ 0"],
    ),
    (
        bottleneck_of([[p, q, 1], [1, 2, 1]], [[1, 0], [2, 0]]),
        [
            G1,
            "(G2) violated: a row or column of weights is zero",
            *(G3, G4),
            f"(G5) violated: {RANK} ≤ 1 for all values of the letters, expected 2",
        ],
    ),
    (
        bottleneck_of([[p, -1, -p], [2 * p, -3, -2 * p]], [[1, 1]]),
        [G1, G2, "(G3) violated: in column 1 rows 1 and 2 have the same ratio", G4, G5],
    ),
    *(
        (  # A2 = −p − 1 or −1 over b2 = 1: the ratios differ, in whatever order the rows stand
            bottleneck_of([[a, -1, 1], [b, -3, 1]], [[1, 1]]),
            [G1, G2, G3, G4, G5],
        )
        for a, b in ((-p - 1, -1), (-1, -p - 1))
    ),
    (  # z ≥ 0: where z = 0 the first column has no ratios, else the same one twice
        bottleneck_of([[z, 1, -1], [2 * z, 3, -2]], [[1, 1]]),
        [
            G1,
            "(G2) not decided: holds iff z ≠ 0",
            "(G3) not decided: holds if not both rows 1, 2 have a weight and a bias of other signs in column 1",
            "(G4) not decided: holds if z ≠ 0",
            G5,
        ],
    ),
    (  # the ratio 1/p of row 1 is that of row 2 unless z = 0, where row 2 has none
        bottleneck_of(
            [[p, 1, -1, -1], [p * z, 1, -1, -z]],
            [[1, 2]],
            ([[int(i == j) for j in range(3)] for i in range(3)], [0] * 3),
        ),
        [
            G1.replace("2", "3"),
            "(G2) not decided: holds iff z ≠ 0",
            "(G3) not decided: holds if not both rows 1, 2 have a weight and a bias of other signs in column 1 "
            "and z - 1 ≠ 0",
            "(G4) not decided: holds if z ≠ 0",
            G5,
        ],
    ),
    (  # six maximal minors are written out, of ten one
        bottleneck_of([[1, -1, 1]], [[1]], ([[1, p, q, x], [y, 2, x, q]], [0, 0])),
        [
            "(G1) not decided: rank A1 = 2 iff not all of "
            "p*y - 2, q*y - x, q - x*y, p*x - 2*q, p*q - 2*x, q**2 - x**2 are zero",
            *(G2, G3, G4, G5),
        ],
    ),
    (
        bottleneck_of([[1, -1, 1]], [[1]], ([[1, p, q, x, y], [y, 2, x, q, p]], [0, 0])),
        [
            "(G1) not decided: rank A1 = 2 iff not all of its 10 maximal minors vanish, among them p*y - 2",
            *(G2, G3, G4, G5),
        ],
    ),
    (  # on hyperplane 1, h2 < 1/2 has both rows on, h2 < 1 row 2 alone, and nothing has row 1 alone
        bottleneck_of([[1, -2, 1], [1, -1, 1]], [[x, y], [x, 2 * y]], IDENTITY),
        [
            G1,
            "(G2) not decided: holds iff x ≠ 0 and y ≠ 0",
            G3,
            "(G4) not decided: holds if y ≠ 0 and not all of x + y, x + 2*y are zero and "
            "not all of 2*x + y, x + y are zero",
            G5,
        ],
    ),
    (
        Network([([[p, 1]], [1]), ([[1], [2]], [1, 1]), ([[2, -1]], [0])]),  # n1 = 1 < d
        [
            "(G1) holds: rank A1 = 1 for all values of the letters",
            G2,
            G3,
            "(G4) violated: column 1: the sum over the rows 1, 2, active together on the hyperplane, vanishes",
            G5,
        ],
    ),
    (
        bottleneck_of([[p, q, 1], *([1, k, 1] for k in range(2, 9))], [[1] * 8]),
        [G1, G2, G3, G4, f"(G5) holds: {RANK} = 1 for all values of the letters"],
    ),
    (
        shallow([[p, 1, 1]], [[x]], Orthant(2)),
        [LINES_, "(G3) holds: the hyperplanes are pairwise different", f"(G5) not decided: {RANK} = 1 iff x ≠ 0"],
    ),
    (  # one minor, 1·(−1) − 2·1, is never zero
        shallow([[1, -p, 1], [2, -1, -1]], [[1, 1]], Orthant(2)),
        [LINES_, "(G3) holds: the hyperplanes are pairwise different", G5],
    ),
    (
        Network([([[p]], [1]), ([[1], [2]], [1, 1]), ([[2, -1]], [0])]),
        [
            "(G1) holds: rank A1 = 1 for all values of the letters",
            G2,
            G3,
            "(G4) violated: column 1: the sum over the rows 1, 2, active together on the hyperplane, vanishes",
            G5,
        ],
    ),
    (
        bottleneck_of([[p, q, 1], *([1, k, 1] for k in range(2, 9)), [1, -1, 1]], [[1] * 9]),
        [*(G1, G2, G3, G4), f"(G5) holds: {RANK} = 1 for all values of the letters"],
    ),
    (
        bottleneck_of([[p, -k, 1] for k in range(1, 9)], [[1] * 8]),
        [G1, G2, G3, G4, G5],
    ),
    (  # (−A3_11, 0) is not zero
        bottleneck_of([[p, -1, -1]], [[1], [0]]),
        [G1, G2, G3, G4, G5],
    ),
    (  # rows 1 and 2 cancel on hyperplane 1, where row 3 may be on or off
        bottleneck_of([[p, 1, 1], [p, 2, 1], [1, -q, 1]], [[1, -1, 1]]),
        [
            *(G1, G2, G3),
            "(G4) not decided: holds if the rows 1, 2 are not exactly the active ones anywhere on hyperplane 1",
            f"(G5) holds: {RANK} = 1, expected 1",
        ],
    ),
    (  # on hyperplane 1 the first row is z h2 + 1 > 0
        bottleneck_of([[p, z, 1], [p, 1, 1]], [[1, -1]]),
        [
            G1,
            "(G2) not decided: holds iff z ≠ 0",
            G3,
            "(G4) violated: column 1: the sum over the rows 1, 2, active together on the hyperplane, vanishes",
            f"(G5) not decided: {RANK} = 1 iff z - 1 ≠ 0",
        ],
    ),
    (  # and here it is 0 at z = 0
        bottleneck_of([[p, z, z], [p, 1, 1]], [[1, -1]]),
        [
            G1,
            "(G2) not decided: holds iff z ≠ 0",
            G3,
            "(G4) not decided: holds if the rows 1, 2 are not exactly the active ones anywhere on hyperplane 1 and "
            "z - 1 ≠ 0",
            f"(G5) not decided: {RANK} = 1 iff z - 1 ≠ 0",
        ],
    ),
    (
        bottleneck_of([[p, -k, 1] for k in range(1, 10)], [[1] * 9]),
        [
            *(G1, G2, G3),
            "(G4) not decided: asks that no sum of A3_·j A2_jk over rows active together on hyperplane 1 vanishes: "
            "2^9 sets",
            G5,
        ],
    ),
    (
        bottleneck_of([[p, q, 1], [p, -q, -1], [-p, q, -1], [-1, -1, 1]], [[1, -1, 1, -1]]),
        [
            G1,
            G2,
            "(G3) not decided: holds if p - 1 ≠ 0 and q - 1 ≠ 0",
            "(G4) not decided: holds if the rows 1, 3 are not exactly the active ones anywhere on hyperplane 1",
            f"(G5) holds: {RANK} = 1 for all values of the letters",
        ],
    ),
    (
        shallow([[1, -p, 1], [q, -1, 1]], [[1, 1]], Orthant(2)),
        [LINES_, "(G3) not decided: holds iff not all of p*q - 1, q - 1, p - 1 are zero", G5],
    ),
    (
        shallow([[1, -p, 1], [q, -1, 1]], [[x, y]], Orthant(2)),
        [
            "(G2) not decided: holds iff x ≠ 0 and y ≠ 0",
            "(G3) not decided: holds iff not all of p*q - 1, q - 1, p - 1 are zero",
            G5,
        ],
    ),
    (
        shallow([[1, -p, 1], [q, -1, 1], [1, -1, 1]], [[1, 1, 1]], Orthant(2)),
        [
            LINES_,
            "(G3) not decided: holds iff not all of p*q - 1, q - 1, p - 1 are zero and p - 1 ≠ 0 and q - 1 ≠ 0",
            G5,
        ],
    ),
    (
        shallow([[1, -p, 1], [2, -2 * p, 2]], [[1, 1]], Orthant(2)),
        [LINES_, "(G3) violated: nonlinear rows 1 and 2 have the same hyperplane", G5],
    ),
    (
        shallow([[1, -p, 1], [q, -1, 1], [1, q, 1]], [[x, 1, p], [y, 1, 1]], Orthant(2)),
        [
            "(G2) not decided: holds iff not all of x, y are zero",
            "(G3) not decided: holds iff not all of p*q - 1, q - 1, p - 1 are zero",
            f"(G5) holds: {RANK} = 1 for all values of the letters",
        ],
    ),
    (
        shallow([[p, 1, 1], [0, 0, 2]], [[1, 1]], Space(2)),
        [LINES_, "(G3) holds: the hyperplanes are pairwise different", G5],
    ),
    (
        shallow([[p, 1, 1], [0, 0, 0]], [[1, 1]], Space(2)),
        [
            "(G2) violated: a row or column of weights is zero",
            "(G3) holds: the hyperplanes are pairwise different",
            G5,
        ],
    ),
]


@pytest.mark.parametrize(("net", "lines"), SYMBOLIC)
def test_with_letters_the_report_states_the_conditions(net, lines):
    assert str(genericity(net)).splitlines() == lines


def test_a_search_for_cancelling_rows_that_ends_early_is_no_answer(monkeypatch):
    """The letter is in b3 only, so that rows are searched as those of numbers are."""
    net = Network([IDENTITY, ([[1, -2], [1, -1]], [1, 1]), ([[1, -1]], [x])])
    assert genericity(net).conditions[3].verdict is False
    genericity_module._decided.cache_clear()
    monkeypatch.setattr(masks, "CANDIDATE_LIMIT", 0)
    condition = genericity(net).conditions[3]
    assert condition.verdict is None
    assert condition.reason == "column 1: more than 0 sets of rows cancel; not all were looked at"


def test_of_many_sums_the_first_six_are_shown_and_the_others_counted():
    """Each row may be on or off on both hyperplanes; Σ ±p_j and Σ ±q_j may vanish where both signs occur."""
    positive, other = sympy.symbols("p1:5", positive=True), sympy.symbols("q1:5", positive=True)
    net = bottleneck_of([[a, b, -1] for a, b in zip(positive, other, strict=True)], [[1, 1, -1, -1]])
    reason = genericity(net).conditions[3].reason
    chosen = [rows for size in range(1, 5) for rows in combinations((1, 1, -1, -1), size)]
    count = 2 * sum(len(set(rows)) == 2 for rows in chosen)
    assert reason.count("≠ 0") == 6
    assert reason.startswith("holds if p1 - p3 ≠ 0 and p1 - p4 ≠ 0 and ")
    assert reason.endswith(f", and {count - 6} more of this kind")
