"""(G4): which sets of rows are positive together on a face, and whether their masked products cancel."""

import pytest
from flint import fmpq

from semialg_fibers.fibers.genericity import genericity
from semialg_fibers.fibers.masks import vanishing_mask
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import vector
from semialg_fibers.networks.layer import Network


def test_a_set_of_rows_is_asked_at_points_where_no_row_vanishes():
    """The second and the third row are positive together on h_1 = 0 and cancel; the first is negative there, or 0."""
    for bias, expected in ((-1, (1, 2)), (0, None)):
        forms = [vector([5, 0, bias]), vector([1, 2, 0]), vector([-1, 1, 0])]
        found = vanishing_mask(Matrix([[1, 1, -1]]), forms, 0)
        assert (found and found[0]) == expected
        assert found is None or found[1][0] == 0 < found[1][1]
        assert vanishing_mask(Matrix([[1, 1, 1]]), forms, 0) is None


def test_rows_that_are_never_positive_are_in_no_mask():
    forms = [vector([1, -2, 0]), vector([1, 1, fmpq(-1, 2)]), vector([0, -1, 1])]
    for products, expected in (([[1, -1, 3]], None), ([[7, 2, -2]], (1, 2)), ([[0, 1, 1]], None)):
        found = vanishing_mask(Matrix(products), forms, 0)
        assert (found and found[0]) == expected


@pytest.mark.parametrize(("entry", "verdict"), [(0, False), (1, True)])
def test_full_column_rank_says_nothing_where_a_weight_is_zero(entry, verdict):
    """On H_2 the first row alone is positive somewhere; with A2_12 = 0 its product is 0, whatever A3 is (theory §5)."""
    identity = [[1, 0], [0, 1]]
    net = Network([(identity, [0, 0]), ([[1, entry], [-1, 1]], [1, -1]), (identity, [0, 0])])
    (found,) = (condition for condition in genericity(net).conditions if condition.name == "G4")
    assert found.verdict is verdict
