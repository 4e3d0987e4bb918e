"""The random networks of the property tests: a strategy that throws most of its draws away tests little, and slowly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import KINDS, networks_of


@pytest.mark.parametrize("kind", KINDS)
def test_most_draws_of_every_kind_are_kept(kind):
    begun, kept = [], []

    @settings(max_examples=40, derandomize=True, database=None)
    @given(st.data())
    def count(data):
        begun.append(kind)
        kept.append(data.draw(networks_of(kind)))

    count()
    assert len(kept) >= 40
    assert 2 * len(kept) > len(begun)
