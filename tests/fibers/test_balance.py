"""The balance equation C_L B_L = M + X W + Y G piece by piece: cases with the reason for each number."""

import random
from dataclasses import replace

import pytest
import sympy

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.fibers import balance_solution, complete, strata
from semialg_fibers.fibers.balance import Balance
from semialg_fibers.fibers.balance_solution import draw
from semialg_fibers.fibers.complete import complete_fiber
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.polyhedron import Polyhedron
from semialg_fibers.geometry.recession import recession
from semialg_fibers.geometry.scalar import affine_value
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.oracle import same_on_cells


def balance(matrix, domain, split=()):
    return Balance(Matrix(matrix), Matrix(split, columns=domain.dimension), recession(domain))


@pytest.mark.parametrize(
    "domain",
    [Space(2), Orthant(2), Box([0, 0], [1, 1]), Polyhedron([[-1, 1]], [1]), Polyhedron([[1, 0], [-1, 0]], [1, 1])],
)
def test_ghosts_whose_rows_would_have_to_vanish_do_not_occur(domain):
    """M = 0 without splits: where Y is injective, modulo C_L where B_L need not vanish, Y G = C_L B_L forces G = 0."""
    found = balance([[0, 0]] * 3, domain)
    lines = found.cone.lines.shape[0]
    for ghosts in (1, 2):
        for q in range(3):
            for s in range(q + 1):
                for piece in found.pieces(q, s, ghosts):
                    assert piece.rank < ghosts if lines == 2 else piece.outer < ghosts


def test_dimensions_on_all_of_the_plane_for_one_ghost():
    """B_L = 0 there, so that Y G = 0 for one row G ≠ 0, and Y = 0: C_L is a matrix of rank s, G is free."""
    found = balance([[0, 0]] * 3, Space(2))
    for q in range(3):
        for s in range(q + 1):
            largest = found.largest(q, s, 1)
            assert (largest.rank, largest.dimension) == (0, s * (3 + q - s) + 2)


def test_a_linear_neuron_beside_a_split_ghost_that_takes_what_is_not_bounded():
    """(1, −1) on the quadrant: one linear neuron alone has a row ≥ 0, no multiple of it. With a ghost of weights G and
    y ≠ 0, C B = M + y G has solutions for every row B ≥ 0 and C ≠ 0."""
    found = balance([[1, -1]], Orthant(2))
    assert found.ranks(1, 0) == []
    assert found.ranks(1, 1) == [0, 1]
    (piece,) = found.pieces(1, 1, 1)
    assert (piece.rank, piece.outer, piece.confined) == (1, 0, False)
    assert piece.dimension == 1 + 1 + 2  # C, y, B; they determine G
    for seed in range(5):
        solution = draw(found, 1, 1, 1, random.Random(seed))
        assert solution.holds(found)
        assert all(value >= 0 for value in solution.linear_rows.row(0))
        assert any(solution.ghost_rows.row(0))


def test_rows_confined_to_a_smaller_span_have_fewer_dimensions():
    """M = ((1, 0, 0), (0, 1, −1)) on the orthant, one linear neuron, one split ghost: (C, −y) is invertible, and its
    inverse times M has the rows B and G. B is ≥ 0 only as a multiple of (1, 0, 0): the rows of the inverse are (b, 0)
    with b > 0 and any (g, h) with h ≠ 0, which are three numbers."""
    found = balance([[1, 0, 0], [0, 1, -1]], Orthant(3))
    (piece,) = found.pieces(1, 1, 1)
    assert (piece.rank, piece.outer, piece.confined, piece.dimension) == (1, 1, True, 3)
    solution = draw(found, 1, 1, 1, random.Random(1))
    assert solution.holds(found)
    b, *others = solution.linear_rows.row(0)
    assert b > 0 == others[0] == others[1]


def test_a_column_has_no_rank_two_and_dependent_splits_leave_room():
    """Rank C_L ≤ q. With W = ((1, 0), (2, 0)) and M = 0, X W = 0 leaves one of the two columns of X free."""
    found = balance([[0, 0]] * 3, Space(2))
    assert found.largest(1, 2, 0) is None
    assert found.largest(2, 3, 1) is None
    for domain in (Space(2), Box([0, 0], [1, 1])):
        for m in (1, 2, 3):
            assert balance([[0, 0]] * m, domain, [[1, 0], [2, 0]]).largest(0, 0, 0).dimension == m
            assert balance([[0, 0]] * m, domain, [[1, 0], [0, 1]]).largest(0, 0, 0).dimension == 0


def test_a_confined_row_beside_a_split_is_drawn():
    """M = (1, 0, 0), W = (0, 1, −1) on the orthant: C B = M + X W has B ≥ 0 in their span, so X = 0, B = (b, 0, 0)."""
    found = balance([[1, 0, 0]], Orthant(3), [[0, 1, -1]])
    piece = found.largest(1, 1, 0)
    assert (piece.confined, piece.dimension) == (True, 1)
    for seed in range(5):
        solution = draw(found, 1, 1, 0, random.Random(seed))
        assert solution.holds(found)
        assert solution.split.is_zero()
        b, *others = solution.linear_rows.row(0)
        assert b > 0 == others[0] == others[1]


def test_a_confined_row_beside_a_split_and_a_ghost_is_drawn():
    """The same with a second output, whose row only the split and the ghost together can be."""
    found = balance([[1, 0, 0, 0], [0, 1, -1, 0]], Orthant(4), [[0, 0, 1, -1]])
    (piece,) = found.pieces(1, 1, 1)
    assert (piece.confined, piece.outer) == (True, 1)
    for seed in range(5):
        solution = draw(found, 1, 1, 1, random.Random(seed))
        assert solution.holds(found)
        assert [bool(value) for value in solution.linear_rows.row(0)] == [True, False, False, False]


def test_a_confined_row_beside_two_ghosts_of_which_one_combination_counts():
    """M = ((1, 0, 0), (0, 1, −1)) where x ≥ 0, on three lines more: rank (C, Y) = 2 leaves Y modulo C the rank 1.

    With rank Y = 1 one combination of the two rows of G is (g, h), and on the lines it vanishes; the other combination
    is any row, lines included. With rank Y = 2 both vanish on the lines, which are three numbers less.
    """
    domain = Polyhedron([[-int(i == j) for j in range(6)] for i in range(3)], [0, 0, 0])
    found = balance([[1, 0, 0, 0, 0, 0], [0, 1, -1, 0, 0, 0]], domain)
    piece = found.largest(1, 1, 2)
    assert (piece.rank, piece.outer, piece.confined) == (1, 1, True)
    for seed in range(3):
        solution = draw(found, 1, 1, 2, random.Random(seed))
        assert solution.holds(found)
        assert (solution.ghost.rank(), solution.outgoing.beside(solution.ghost).rank()) == (1, 2)
        b, *others = solution.linear_rows.row(0)
        assert b > 0
        assert not any(others)
        counted = (solution.ghost @ solution.ghost_rows).rows()
        assert any(map(any, counted))
        assert not any(any(row[3:]) for row in counted)
        assert any(any(row[3:]) for row in solution.ghost_rows.rows())


def test_draws_that_are_not_allowed_a_try_are_refused(monkeypatch):
    found = balance([[1, 0]], Box([0, 0], [1, 1]))
    monkeypatch.setattr(balance_solution, "TRIES", 0)
    with pytest.raises(
        BudgetExceededError, match=r"^no solution of the balance equation was found in 0 random choices"
    ):
        draw(found, 1, 1, 0, random.Random(1))
    with pytest.raises(BudgetExceededError, match=r"^no 2 × 3 matrix of rank 2 was drawn in 0 tries"):
        balance_solution._of_rank(2, 3, 2, random.Random(1))
    one = Matrix([[1]])
    with pytest.raises(BudgetExceededError, match=r"^no invertible matrix was found in 0 random choices"):
        balance_solution._square(one, one, found, (), random.Random(1))


def test_without_missing_rows_no_neuron_is_needed():
    """M = 0: q_min = 0 on every domain, whatever is bounded there; and with as many ghosts as rows are missing."""
    for domain in (Space(2), Orthant(2), Box([0, 0], [1, 1])):
        answer = balance([[0, 0]], domain).feasibility()
        assert (answer.least_linear, answer.check()) == (0, True)
    answer = balance([[1, -1]], Orthant(2)).feasibility(1)
    assert (answer.least_linear, answer.reach, answer.check()) == (0, 0, True)


def test_ghosts_that_are_drawn_have_weights():
    """A row of G that happens to be zero is no hyperplane: another one is drawn."""
    for matrix, domain in (([[0]], Orthant(1)), ([[0]], Box([0], [1])), ([[0]], Space(1))):
        found = balance(matrix, domain)
        for q in (0, 1):
            for s in found.ranks(q, 1):
                for seed in range(60):
                    solution = draw(found, q, s, 1, random.Random(seed))
                    assert solution.holds(found)
                    assert any(solution.ghost_rows.row(0))


# the complete fiber


def test_sides_are_asked_of_essential_hyperplanes_only():
    found = complete_fiber(Network([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 2]], [0])]))
    assert len(found.frame.planes) == 3
    assert found.feasibility([2]).check()
    for wrong in (-1, 3, 4):
        for sides in (([wrong], []), ([], [wrong]), ([0], [wrong])):
            with pytest.raises(InvalidNetworkError) as refused:
                found.feasibility(*sides)
            assert refused.value.message == f"essential hyperplanes 0 to 2 have sides, got {wrong}"
            assert refused.value.value == wrong


TWO_LINEAR = Network([([[1, 0], [0, 1]], [1, 1]), ([[1, -1]], [0])], Orthant(2))  # x − y: one alone cannot do it
SMALL = [
    TWO_LINEAR,
    Network([([[1, 0], [0, 1], [1, 1]], [1, 1, -1]), ([[1, -1, 2]], [0])], Orthant(2)),
    Network([([[1], [-1], [0]], [0, 0, 1]), ([[1, 1, 2]], [0])], Box([-1], [1])),
    Network([([[1, 0], [1, 0], [1, 0]], [0, 0, 0]), ([[1, -1, 0]], [0])]),
    Network([([[1, 0], [-1, 0]], [0, 0]), ([[1, -1]], [0])]),  # x on the plane, which only a split ghost can be
    Network([([[1, 0], [-1, 0], [0, 0]], [0, 0, 1]), ([[1, -1, 0]], [0])]),
    Network([([[1], [-1], [1], [-1]], [0, 0, 1, -1]), ([[1, -1, 0, 0], [0, 0, 1, -1]], [0, 0])]),
    Network([([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1]], [0] * 5), ([[1, -1, 0, 0, 0], [0, 0, 1, -1, 0]], [0, 0])]),
    Network([([[0, -1], [-1, 1], [1, -1], [-1, 1]], [1, 0, 0, 0]), ([[-1, 0, -1, 1]], [0])]),
    Network([([[1, -1], [-1, 1]], [1, -1]), ([[-1, -1]], [0])], Orthant(2)),  # a split bend, and no neuron to spare
]


@pytest.mark.parametrize("net", SMALL, ids=str)
def test_the_dimension_and_the_number_are_those_of_all_strata(net):
    found = complete_fiber(net)
    strata = list(found.strata)
    assert found.dimension == max(stratum.dimension for stratum in strata)
    assert found.stratum_count == len(strata) == len({stratum.index for stratum in strata})
    assert list(found.top)


def test_two_linear_neurons_are_drawn_and_counted():
    """(C, B): C of rank 1, B ≥ 0 with c₁ B₁ + c₂ B₂ = (1, −1), c₁ > 0 > c₂: 6 numbers, 2 equations; and two biases."""
    assert complete_fiber(TWO_LINEAR).dimension == 6


def test_what_is_linear_on_the_plane_is_two_neurons_back_to_back():
    """f(x, y) = x: weights (a, 0) and bias b of one neuron, a factor of the other; all else follows."""
    found = complete_fiber(SMALL[4])
    assert found.dimension == 3
    assert {stratum.index.ghosts for stratum in found.strata} == {((1, 1),)}
    assert found.feasibility().least_linear is None
    assert found.feasibility(split_ghosts=1).least_linear == 0


def test_hyperplanes_of_ghosts_meet_the_inside_of_the_domain():
    """A neuron whose hyperplane does not is linear or dead, and the network in another stratum."""
    for domain in (Orthant(1), Box([0], [1]), Polyhedron([[-1]], [5])):
        found = complete_fiber(Network([([[1], [1]], [1, 2]), ([[1, 0]], [0])], domain))
        ghosts = [stratum for stratum in found.strata if stratum.index.ghosts]
        assert ghosts
        for stratum in ghosts:
            assert repr(stratum) == f"<stratum: {stratum.index}>"
            for seed in range(40):
                assert found.locate(stratum.sample(seed)) == stratum


@pytest.mark.parametrize("domain", [Orthant(1), Orthant(2), Polyhedron([[-1, 1], [-1, -1]], [0, 1])], ids=str)
def test_random_interior_points_are_inside(domain):
    for seed in range(300):
        point = strata._interior_point(domain, random.Random(seed))
        assert domain.contains(point)
        assert all(affine_value(form, point) > 0 for form in domain.constraints())


def test_an_index_has_the_hyperplanes_and_neurons_of_its_fiber():
    found = complete_fiber(SMALL[1])
    index = found.strata[0].index
    for wrong in (
        replace(index, dead=index.dead + 1),
        replace(index, essential=(*index.essential, (1, 0))),
        replace(index, essential=(*index.essential, (1, 0)), linear=index.linear - 1),
    ):
        with pytest.raises(InvalidNetworkError) as refused:
            found.stratum(wrong)
        assert refused.value.message == (
            f"an index of this fiber has 1 essential hyperplane and 3 neurons, got {len(wrong.essential)} and "
            f"{wrong.width}"
        )


def test_members_are_drawn_from_the_first_strata(monkeypatch):
    monkeypatch.setattr(complete, "FIRST", 1)
    found = complete_fiber(SMALL[3])
    assert found.stratum_count > 3
    assert {found.locate(found.sample(seed)).index for seed in range(20)} == {found.strata[0].index}


def test_refusals_say_what_is_missing(monkeypatch):
    letter = sympy.Symbol("p", positive=True)
    with pytest.raises(UnsupportedError) as letters:
        complete_fiber(Network([([[letter]], [0]), ([[1]], [0])]))
    assert letters.value.message.startswith("the complete fiber needs numbers")
    monkeypatch.setattr(complete, "BALANCES", 1)
    listed = iter(complete_fiber(Network([([[1, 2], [3, 4]], [0, 1]), ([[1, 1]], [0])])).strata)
    with pytest.raises(BudgetExceededError) as budget:
        for _ in listed:
            pass
    assert budget.value.message == (
        "more strata may follow, beyond the budget of 1 choices of flipped and split hyperplanes"
    )


def test_the_same_weights_on_another_domain_are_no_member():
    """The half-planes meet the square and the plane alike; the function on the plane is another object."""
    layers = [([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])]
    domains = [Space(2), Box([-1, -1], [1, 1]), Box([-1, -1], [1, 2])]
    for domain in domains:
        found = complete_fiber(Network(layers, domain))
        for other in domains:
            net = Network(layers, other)
            assert found.contains(net) is (found.locate(net) is not None) is (other == domain)


def test_members_on_a_line_are_drawn_whatever_numbers_come_up():
    """Weights 0 are drawn often on a line; then another hyperplane is taken for the ghost."""
    found = complete_fiber(Network([([[1], [1], [2]], [0, 0, 0]), ([[1, 1, 0]], [0])]))
    ghosts = [stratum for stratum in found.strata if stratum.index.ghosts]
    assert ghosts
    for stratum in ghosts[:3]:
        for seed in range(60):
            assert same_on_cells(found.network, stratum.sample(seed)) is None
