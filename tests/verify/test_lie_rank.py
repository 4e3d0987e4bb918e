"""Bounds for the rank of the Lie algebra: against the slow oracle, and what makes them fail."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lie_oracle import Polynomials
from strategies import wirings

from semialg_fibers import Network, Orthant, gallery
from semialg_fibers.questions.architecture_laws import architecture_laws
from semialg_fibers.questions.conservation import conservation_laws
from semialg_fibers.questions.lie_algebra import PRIME, GradientFields, Parameters, bracket_rank
from semialg_fibers.verify import lie_rank as module
from semialg_fibers.verify.conservation import Ring, Wiring
from semialg_fibers.verify.lie_rank import has_rank_at_most, rank_of_brackets


@settings(max_examples=60)
@given(wirings(), st.integers(0, 6))
def test_a_bound_for_the_rank_is_never_below_it_and_tight_where_it_is_asked(wiring, rank):
    """Never true below the rank of the slow oracle; true at the rank, within the limits."""
    oracle = Polynomials(wiring.widths, wiring.biased, wiring.patterns)
    exact = oracle.lie_ranks()[-1] if oracle.fields else 0
    if has_rank_at_most(rank, wiring):
        assert exact <= rank
    if 0 < exact <= module.LARGEST_SPAN:
        assert has_rank_at_most(exact, wiring)


def test_what_is_too_large_is_not_tried(monkeypatch):
    small = Wiring((1, 1, 1), (True, True), (((1,),),))
    assert has_rank_at_most(3, small) is True
    for limit in ("LARGEST_SPAN", "MOST_VARIABLES", "MOST_GENERATORS", "MOST_TERMS"):
        with monkeypatch.context() as patch:
            patch.setattr(module, limit, 0)
            assert has_rank_at_most(3, small) is None


@settings(max_examples=20)
@given(wirings(), st.integers(0, 2**20))
def test_brackets_that_are_found_are_confirmed_and_no_others(wiring, seed):
    """The rank of the brackets found is found again, and it is lower where one of them is taken away or repeated."""
    fields = GradientFields(Parameters(wiring.widths, wiring.biased), wiring.patterns)
    found = bracket_rank(fields, fields.parameters.count, seed)
    brackets = [[seeds.tolist() for seeds in each] for each in found.brackets]
    assert found.check()
    assert rank_of_brackets(wiring, PRIME, found.point, brackets) == found.rank == len(brackets)
    assert rank_of_brackets(wiring, PRIME, found.point, brackets[1:]) == found.rank - 1 if brackets else True
    if brackets:
        assert not replace(found, brackets=(found.brackets[0],) * found.rank).check() or found.rank == 1
        assert not replace(found, point=(0,) * len(found.point), ranks=(99,)).check()


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_determinants_are_those_of_sympy(size):
    import sympy

    ring = Ring(Wiring((1, 2, 1), (True, True), (((1, 1),),)))
    source = random.Random(size)
    letters = [ring.letter[name] for name in ring.parameters]
    rows = [
        [source.randint(-2, 2) * source.choice(letters) + source.randint(0, 1) for _ in range(size)]
        for _ in range(size)
    ]
    expected = sympy.Matrix([[sympy.sympify(str(entry).replace("^", "**")) for entry in row] for row in rows]).det()
    found = sympy.sympify(str(module._determinant(rows, ring)).replace("^", "**"))
    assert sympy.expand(found - expected) == 0


def test_brackets_of_three_fields_are_formed_again():
    """Three linear neurons on the half-line, theory §7: the ranks grow 2, 3, 4."""
    net = Network([([[1], [2], [3]], [4, 1, 5]), ([[1, -2, 3]], [0])], Orthant(1))
    found = conservation_laws(net)
    assert found.bound.ranks == (2, 3, 4)
    assert found.check()


def test_laws_are_checked_with_their_number():
    """A law that is none, paths that are none, a bound that is too high: each is noticed."""
    found = conservation_laws(gallery.network("hidden_2_2_2_1"))
    assert found.check()
    wrong = replace(found.found[0], terms=found.found[0].terms[:-1])
    assert not replace(found, found=(wrong, *found.found[1:])).check()
    assert not replace(found, bound=replace(found.bound, ranks=(10, 12))).check()
    assert not replace(found, found=(*found.found, found.found[0])).check()
    assert not replace(found, bound=replace(found.bound, ranks=(3,)), closed=True).check()
    paths = architecture_laws((2, 3, 1))
    assert paths.check()
    assert not replace(paths.bound, paths=(*paths.bound.paths, paths.bound.paths[0])).check()
    assert not replace(paths.bound, paths=(*paths.bound.paths[:-1], ((0, 0), (2, 0)))).check()
    assert not replace(paths.bound, paths=(*paths.bound.paths[:-1], ((1, 0), (2, 0)))).check()
    assert not replace(paths.bound, paths=(*paths.bound.paths[:-1], ((0, 0), (1, 0)))).check()
    linear = architecture_laws((2, 2, 2), False, "linear")
    assert linear.check()
    assert not replace(linear, all_patterns=True).check()  # mixings are no laws of ReLU networks
