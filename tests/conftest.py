"""Settings of every property test: no deadline, because a duration is never an assertion.

The health checks that depend on the machine's pace or on the seed are off for the same reason: they may stop a right
test. That a strategy keeps most of its draws is asserted with a fixed seed (tests/test_strategies.py).

`make test` draws anew each time. `pytest --hypothesis-profile=repeatable` draws the same examples each time, so that
what continuous integration says of a commit does not change from run to run.
"""

import pytest
from hypothesis import HealthCheck, settings

from semialg_fibers.fibers import bottleneck, genericity
from semialg_fibers.networks import neuron_kind

BY_CHANCE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]

settings.register_profile("exact", deadline=None, suppress_health_check=BY_CHANCE)
settings.register_profile("repeatable", settings.get_profile("exact"), derandomize=True, database=None)
settings.load_profile("exact")


@pytest.fixture(autouse=True)
def forget():
    """Keep no verdict from one test to the next: some tests break a part on purpose."""
    yield
    for cached in (bottleneck._found, genericity._decided, neuron_kind._types):
        cached.cache_clear()
