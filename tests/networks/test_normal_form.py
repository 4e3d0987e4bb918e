"""Normal forms are exact rewritings: the three sums give the function, and known identities give known forms."""

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import same_first_layer_pairs

from semialg_fibers import Network, Orthant, flip, gallery, translate
from semialg_fibers.errors import UnsupportedError
from semialg_fibers.networks.normal_form import normal_form, normal_forms


def value_of(form, x):
    """Σ C relu(z) + Σ D relu(u) + affine at x, from the definition."""

    def at(line):
        return sum((a * b for a, b in zip(line[:-1], x, strict=True)), fmpq(0)) + line[-1]

    total = [at(line) for line in form.affine]
    for u, column in form.direct.items():
        total = [t + c * max(at(u), 0) for t, c in zip(total, column, strict=True)]
    for z, column in form.outer.items():
        inside = at(z.affine) + sum(c * max(at(u), 0) for u, c in z.bends)
        total = [t + c * max(inside, 0) for t, c in zip(total, column, strict=True)]
    return tuple(total)


@given(same_first_layer_pairs(), st.data())
@settings(max_examples=200)
def test_every_treatment_of_ambiguous_rows_gives_the_function(pair, data):
    for net in pair:
        x = tuple(map(fmpq, data.draw(st.lists(st.integers(-9, 9), min_size=net.widths[0], max_size=net.widths[0]))))
        for form in normal_forms(net):
            assert value_of(form, x) == net.value(x)


@given(st.data())
def test_permutations_and_scalings_leave_the_form_as_it_is(data):
    net = data.draw(same_first_layer_pairs())[0]
    n1, n2 = net.widths[1:3]
    factors = st.fractions(min_value=1, max_value=5, max_denominator=4)
    moved = net.permuted(1, data.draw(st.permutations(range(n1)))).permuted(2, data.draw(st.permutations(range(n2))))
    moved = moved.rescaled(1, data.draw(st.lists(factors, min_size=n1, max_size=n1)))
    moved = moved.rescaled(2, data.draw(st.lists(factors, min_size=n2, max_size=n2)))
    assert normal_form(moved).minus(normal_form(net)).is_zero


def test_a_translation_and_a_flip_leave_the_form_as_it_is():
    net = gallery.network("hidden_2_2_2_1")
    assert normal_form(flip(translate(net, 0, 7), [1])) == normal_form(net)


def test_no_form_for_deep_networks_and_domains():
    for net in (gallery.network("deep_2_2_2_2_1"), Network([([[1]], [0])], Orthant(1))):
        with pytest.raises(UnsupportedError):
            normal_form(net)
