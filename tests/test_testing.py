"""The assertions for other people's suites: they pass, and they fail with the witness."""

import pytest

from semialg_fibers import Network, fiber, gallery
from semialg_fibers.testing import assert_in_fiber, assert_proved, assert_same_function
from semialg_fibers.verify.derivation import Derivation
from semialg_fibers.verify.theorems import theorem


def test_equal_functions_pass():
    net = gallery.network("hidden_2_2_2_1")
    assert_same_function(net, net.permuted(1, [1, 0]).rescaled(2, [3, "1/7"]))


def test_different_functions_fail_with_a_point_and_both_values():
    net = gallery.network("visible_2_2_2_1")
    other = Network([*net.layers[:2], (net.layers[2].matrix, [4])])
    with pytest.raises(AssertionError, match=r"differ at \(.*\): \(.*\) and \(.*\)"):
        assert_same_function(net, other)


def test_members_pass_and_others_fail_with_the_reason():
    net = gallery.network("dead_2_2_2_1")
    found = fiber(net)
    assert_in_fiber(found.components[0].sample(seed=3), found)
    with pytest.raises(AssertionError, match="differ at"):
        assert_in_fiber(Network([*net.layers[:2], (net.layers[2].matrix, [4])]), found)
    with pytest.raises(AssertionError, match="other widths"):
        assert_in_fiber(gallery.network("line_1_1_1_1"), found)


def test_a_member_that_is_not_generic_is_told_apart():
    """Theory §1: a neuron split over a spare one has the function, and lies in no component."""
    net = gallery.network("dead_2_2_2_1")
    first, second, third = net.layers
    row, weight = second.matrix.row(0), third.matrix[0, 0]
    split = Network([first, ([row, row], [second.offset[0]] * 2), ([[weight / 2, weight / 2]], third.offset)])
    with pytest.raises(AssertionError, match="generic"):
        assert_in_fiber(split, fiber(net))


def test_proofs_pass_and_gaps_are_named():
    proof = theorem("positive_scaling")
    assert_proved(proof)
    with pytest.raises(AssertionError, match="Rescaling hidden units: step 4: "):
        assert_proved(Derivation(proof.claim, proof.lines[1:]))
