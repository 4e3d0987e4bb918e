"""Components counted in chunks, and the family of networks that encodes subset sum."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers import gallery
from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, NotGenericError, UnsupportedError
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.geometry.enumeration import Runner
from semialg_fibers.geometry.executors import process_pool
from semialg_fibers.networks.layer import Network
from semialg_fibers.questions.component_count import count_components, subset_sum_network


@settings(max_examples=40)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=7), st.integers(1, 30))
def test_components_are_subsets_with_the_sum(values, target):
    net = subset_sum_network(values, target)
    found = fiber(net)
    sums = [sum(chosen) for size in range(len(values) + 1) for chosen in combinations(values, size)]
    assert found.complete
    assert found.component_count == 1 + sums.count(target) == count_components(net)
    flips = {component.flips for component in found.components}
    assert all(not chosen or chosen[0] == 0 for chosen in flips)
    assert all(sum(values[j - 1] for j in chosen[1:]) == target for chosen in flips if chosen)


@pytest.mark.parametrize(("values", "target"), [((), 3), ((1, 0), 3), ((1, 2), 0), ((1.5,), 1), ((True,), 1)])
def test_subset_sum_is_about_positive_integers(values, target):
    with pytest.raises(InvalidNetworkError, match="positive integers"):
        subset_sum_network(values, target)


@pytest.mark.parametrize("name", gallery.names())
def test_every_gallery_network_is_counted_as_its_fiber(name):
    net = gallery.network(name)
    try:
        expected = fiber(net).component_count
    except (UnsupportedError, NotGenericError) as error:
        with pytest.raises(type(error)):
            count_components(net)
    else:
        assert count_components(net) == expected


def visible(k, seed):
    """A three-layer network with k nonlinear rows, no dead one, and one linear row: m = 2, r = 1, with a search."""
    rows = [[(seed * (i + 2) + 7 * j * j + i * j) % 19 - 9 or 1 for i in range(4)] for j in range(k)]
    rows = [[value if i else (1 if j % 2 else -1) for i, value in enumerate(row)] for j, row in enumerate(rows)]
    rows = [[*row[:3], -row[0] * (j + 3)] for j, row in enumerate(rows)] + [[1, 2, 3, 4]]
    outer = [[(seed + 3 * j) % 7 + 1 for j in range(k + 1)], [(j * j + seed) % 5 - 2 or 3 for j in range(k + 1)]]
    identity = [[int(i == j) for j in range(3)] for i in range(3)]
    return Network([(identity, [0] * 3), ([row[:-1] for row in rows], [row[-1] for row in rows]), (outer, [0, 0])])


def test_chunks_on_any_executor_with_a_checkpoint_give_the_same_number(tmp_path):
    net = subset_sum_network((3, 5, 8, 2, 7, 1, 9, 4), 12)
    expected = fiber(net).component_count
    file = tmp_path / "count.sqlite"

    def stop(seen):
        if seen.done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_components(net, Runner(checkpoint=file, watch=stop))
    seen = []
    assert count_components(net, Runner(process_pool(2), file, watch=seen.append)) == expected
    assert (seen[0].before, seen[-1].done, seen[-1].total) == (20, 128, 128)
    with pytest.raises(InvalidNetworkError, match="other input"):
        count_components(subset_sum_network((3, 5, 8, 2, 7, 1, 9, 4), 13), Runner(checkpoint=file))


def test_a_budget_that_ends_gives_the_interval_over_all_chunks():
    net = visible(9, 4)
    problem = fiber(net).families[0].block.problem
    assert problem.needs_search
    expected = problem.count()
    assert count_components(net) == expected
    with pytest.raises(BudgetExceededError, match="lies between") as caught:
        count_components(net, budget=1)
    assert caught.value.low <= expected <= caught.value.high <= 2**9
