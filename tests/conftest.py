"""Settings of every property test: no deadline, because a duration is never an assertion."""

import pytest
from hypothesis import HealthCheck, settings

from semialg_fibers.fibers import bottleneck, genericity
from semialg_fibers.networks import neuron_kind

settings.register_profile("exact", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("exact")


@pytest.fixture(autouse=True)
def forget():
    """Keep no verdict from one test to the next: some tests break a part on purpose."""
    yield
    for cached in (bottleneck._found, genericity._decided, neuron_kind._types):
        cached.cache_clear()
