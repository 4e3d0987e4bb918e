"""Bias-free networks against the exact rank of their Jacobian by the weights, over the cells."""

import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import BudgetExceededError, NotGenericError, UnsupportedError
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.bias_free import bias_free_dimension
from semialg_fibers.verify.oracle import oracle_cells

NONZERO = st.integers(-4, 4).filter(bool)


def kernel_by_the_weights(net):
    """Parameters − rank of all ∂f_o/∂w at points of the cells, by difference quotients of the masked products."""
    rows = []
    for cell in oracle_cells(net):
        weights = [layer.matrix.rows() for layer in net.layers]
        for axis in range(net.widths[0]):  # f is linear on a cell: its slopes are enough
            for o in range(net.widths[-1]):
                rows.append(
                    [
                        slope(weights, cell.pattern, axis, o, (layer, i, j)) - slope(weights, cell.pattern, axis, o)
                        for layer, rows_ in enumerate(weights)
                        for i in range(len(rows_))
                        for j in range(len(rows_[0]))
                    ]
                )
    count = sum(layer.inputs * layer.outputs for layer in net.layers)
    return count - Matrix(rows, columns=count).rank()


def slope(weights, pattern, axis, output, raised=None):
    """The slope of f_output along an axis where units are on by the pattern, one weight raised by one."""
    values = None
    for layer, rows in enumerate(weights):
        changed = [[w + (raised == (layer, i, j)) for j, w in enumerate(row)] for i, row in enumerate(rows)]
        if values is None:
            values = [row[axis] for row in changed]
        else:
            values = [sum(w * v for w, v in zip(row, values, strict=True)) for row in changed]
        if layer < len(pattern):
            values = [v if on else 0 for v, on in zip(values, pattern[layer], strict=True)]
    return values[output]


@st.composite
def bias_free_networks(draw):
    n1, n2, m = draw(st.integers(2, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 3))

    def matrix(rows, columns):
        row = st.lists(NONZERO, min_size=columns, max_size=columns)
        return draw(st.lists(row, min_size=rows, max_size=rows))

    first, second, third = matrix(n1, n1), matrix(n2, n1), matrix(m, n2)
    for row in second:
        kind = draw(st.sampled_from(["any", "linear", "dead"]))
        if kind != "any":
            row[:] = [abs(w) if kind == "linear" else -abs(w) for w in row]
    assume(Matrix(first).rank() == n1)
    return Network([(first, [0] * n1), (second, [0] * n2), (third, [0] * m)])


@settings(max_examples=120)
@given(bias_free_networks())
def test_it_is_the_kernel_of_the_jacobian_by_the_weights(net):
    assert bias_free_dimension(net) == kernel_by_the_weights(net)


IDENTITY = ([[1, 0], [0, 1]], [0, 0])


@pytest.mark.parametrize(
    ("second", "third", "dimension"),
    [
        ([[1, -1], [1, -1]], [[1, 1]], 6),  # equal rows share what they do: 5 by members, 6 to first order
        ([[2, -2], [1, -2]], [[1, -1], [-2, 2]], 5),  # a masked product vanishes
        ([[1, 2], [1, 1], [-1, -1]], [[-1, 2, -1]], 10),
        ([[1, -1], [1, -2]], [[1, 1]], 4),  # generic: two scalings in each hidden layer
    ],
)
def test_special_weights_have_more_directions(second, third, dimension):
    net = Network([IDENTITY, (second, [0] * len(second)), (third, [0] * len(third))])
    assert bias_free_dimension(net) == kernel_by_the_weights(net) == dimension


def test_many_weights_are_settled_at_points_without_cells():
    """24 hyperplanes of the first layer cut R^24 into 2^24 cells."""
    rng = random.Random(3)
    first, second, third = (
        [[rng.choice([-1, 1]) * rng.randint(1, 99) for _ in range(columns)] for _ in range(rows)]
        for rows, columns in ((24, 24), (6, 24), (2, 6))
    )
    assert bias_free_dimension(Network([(first, [0] * 24), (second, [0] * 6), (third, [0] * 2)])) == 24 + 6
    with pytest.raises(BudgetExceededError, match="is 30 for generic weights, and at least that"):
        bias_free_dimension(Network([(first, [0] * 24), (second, [0] * 6), (third, [0] * 2)]), most_parameters=700)
    second[1] = second[0]
    with pytest.raises(BudgetExceededError, match="cells"):
        bias_free_dimension(Network([(first, [0] * 24), (second, [0] * 6), (third, [0] * 2)]))


def test_a_single_linear_row_costs_no_more_than_its_scaling():
    with_linear = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 2], [1, -3]], [0, 0]), ([[1, 1]], [0])])
    assert bias_free_dimension(with_linear) == 2 + 1 + 1
    hidden = Network([([[1, 0], [0, 1]], [0, 0]), ([[1, -2], [-1, -3]], [0, 0]), ([[1, 1]], [0])])
    assert bias_free_dimension(hidden) == 2 + 1 + (2 + 1)


@pytest.mark.parametrize(
    ("layers", "error", "words"),
    [
        ([([[1, 0], [0, 1]], [0, 0]), ([[1, -2]], [1]), ([[1]], [0])], UnsupportedError, "bias that is not zero"),
        ([([[1, 0], [0, 1]], [0, 0]), ([[1, 0]], [0]), ([[1]], [0])], NotGenericError, "no zero in A2"),
        ([([[1, 1], [1, 1]], [0, 0]), ([[1, -1]], [0]), ([[1]], [0])], NotGenericError, "rank A1"),
        ([([[1]], [0]), ([[1]], [0]), ([[1]], [0])], UnsupportedError, "2 ≤ n1 ≤ d"),
    ],
)
def test_what_is_not_covered_is_refused(layers, error, words):
    with pytest.raises(error, match=words):
        bias_free_dimension(Network(layers))
