"""The judge of conservation laws: it accepts what is one, and nothing that differs in a coefficient."""

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lie_oracle import Polynomials
from strategies import wirings

from semialg_fibers.verify.conservation import (
    Wiring,
    gradient,
    holds_everywhere,
    is_conserved,
    is_symmetry,
)

DEEP = Wiring((2, 2, 2, 1), (True, True, True), tuple(product([(1, 0), (1, 1)], [(0, 1), (1, 1)])))


def square(name, value=1):
    return {(name, name): value}


SCALING = square("W1_0_0") | square("W1_0_1") | square("b1_0") | square("W2_0_0", -1) | square("W2_1_0", -1)
TOP = square("W2_1_0") | square("W2_1_1") | square("b2_1") | square("W3_0_1", -1)


@pytest.mark.parametrize("law", [SCALING, TOP], ids=["first layer", "second layer"])
def test_scalings_are_laws_everywhere_and_every_coefficient_counts(law):
    assert is_conserved(law, DEEP)
    assert holds_everywhere(law, DEEP)
    for monomial, value in law.items():
        for wrong in (0, 2 * value, -value):
            assert not is_conserved(law | {monomial: wrong}, DEEP)
            assert not holds_everywhere(law | {monomial: wrong}, DEEP)


def test_mixing_needs_units_that_are_linear_together():
    both = {("W1_0_0", "W1_1_0"): 1, ("b1_0", "b1_1"): 1, ("W2_0_0", "W2_0_1"): -1}
    linear = Wiring((1, 2, 1), (True, True), (((1, 1),),))
    switching = Wiring((1, 2, 1), (True, True), (((1, 1),), ((1, 0),)))
    assert is_conserved(both, linear)
    assert not is_conserved(both, switching)
    assert not holds_everywhere(both, linear)


def test_a_parameter_is_free_where_nothing_above_sees_it():
    """The unit of the first layer is on, the one above it off: two layers alone do not show it."""
    off = Wiring((1, 1, 1, 1), (True,) * 3, (((1,), (0,)),))
    on = Wiring((1, 1, 1, 1), (True,) * 3, (((1,), (1,)),))
    for name in ("W1_0_0", "b1_0", "W2_0_0", "b2_0", "W3_0_0"):
        assert is_conserved({(name,): 1}, off)
        assert not is_conserved({(name,): 1}, on)
        assert not holds_everywhere({(name,): 1}, off)
    assert not is_conserved({("b3_0",): 1}, off)


def test_every_pattern_is_looked_at():
    """The law of the last pattern that is wrong is refused, wherever it stands."""
    free = {("W2_0_1",): 1}
    patterns = [((1, 0),), ((0, 0),), ((1, 1),)]
    for order in (patterns, patterns[::-1]):
        assert not is_conserved(free, Wiring((1, 2, 1), (True, True), tuple(order)))
    assert is_conserved(free, Wiring((1, 2, 1), (True, True), tuple(patterns[:2])))


def test_every_output_is_looked_at():
    """The second unit's weight to output 1 does not move output 2."""
    wiring = Wiring((1, 1, 2), (True, True), (((1,),),))
    assert not is_conserved(square("W1_0_0") | square("b1_0") | square("W2_0_0", -1), wiring)
    assert is_conserved(square("W1_0_0") | square("b1_0") | square("W2_0_0", -1) | square("W2_1_0", -1), wiring)


def test_a_hiding_translation_is_a_symmetry_where_its_users_are_linear():
    """Theory §3.2: rows (+, −) with a negative bias are active only where u_1 > 0."""
    translation = {"b1_0": {(): 1}, "b2_0": {("W2_0_0",): -1}}
    hidden = Wiring((2, 2, 1, 1), (True,) * 3, (((1, 0), (1,)), ((1, 1), (1,)), ((0, 1), (0,)), ((1, 0), (0,))))
    visible = Wiring(hidden.widths, hidden.biased, (*hidden.patterns, ((0, 1), (1,))))
    assert is_symmetry(translation, hidden)
    assert not is_symmetry(translation, visible)
    assert not is_symmetry({"b1_0": {(): 1}, "b2_0": {("W2_0_0",): 1}}, hidden)


def test_gradients():
    law = {("a", "a"): 3, ("a", "b"): -1, ("c",): 5}
    assert gradient(law) == {"a": {("a",): 6, ("b",): -1}, "b": {("a",): -1}, "c": {(): 5}}


@settings(max_examples=25)
@given(wirings(), st.integers(0, 2**20))
def test_the_judge_agrees_with_sympy(wiring, seed):
    """On random polynomials of degree ≤ 2 and on true laws, multiplied out by other code."""
    source = random.Random(seed)
    oracle = Polynomials(wiring.widths, wiring.biased, wiring.patterns)
    letters = dict(zip(oracle.names, oracle.letters, strict=True))
    chosen = source.sample(oracle.names, source.randint(1, 2))
    law = {tuple(sorted((name, source.choice(chosen)))): source.choice([-1, 1, 2]) for name in chosen}
    polynomial = sum((c * letters[a] * letters[b] for (a, b), c in law.items()), oracle.ring(0))
    slopes = [polynomial.diff(letter) for letter in oracle.letters]
    zero = [sum((a * b for a, b in zip(slopes, field, strict=True)), oracle.ring(0)) == 0 for field in oracle.fields]
    assert is_conserved(law, wiring) == all(zero)
