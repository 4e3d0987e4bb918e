"""What the set of every gallery component obeys as a set: dimensions three ways, projections, closures, inclusions."""

import random

import pytest
import sympy
from reference import network_at
from strategies import gallery_fibers

from semialg_fibers import gallery
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.geometry.set_questions import Fails, Holds
from semialg_fibers.verify.oracle import same_on_cells

PARTS = [
    (f"{name}-{i}-{j}", name, component, part)
    for name, found in gallery_fibers()
    for i, component in enumerate(found.components)
    for j, part in enumerate(component.set.parts)
]
every_part = pytest.mark.parametrize(("name", "component", "part"), [p[1:] for p in PARTS], ids=[p[0] for p in PARTS])


@every_part
def test_the_dimension_is_the_same_by_closed_form_by_the_jacobian_and_locally(name, component, part):
    """The closed form, the Jacobian's rank at samples, and the proof by solving for variables share no code."""
    for seed in range(3):
        assert part.jacobian_dimension(seed) == part.dimension
        point = part.sample(seed)
        assert part.local_dimension(point) == part.dimension
        basis = part.tangent_space(point)
        assert len(basis) == part.dimension
        for row in basis:
            moves = dict(zip(part.variables, row, strict=True))
            for e in part.equations:
                assert sum(e.diff(v).subs(point) * d for v, d in moves.items() if e.has(v)) == 0
    assert component.set.jacobian_dimension() == component.dimension


@every_part
def test_the_closure_contains_the_part(name, component, part):
    closure = part.closure()
    assert not closure.positive
    assert closure.includes(part) == Holds("each condition is one of its own")
    point = part.sample(4)
    assert closure.contains(point)
    assert same_on_cells(gallery.network(name), network_at(point, gallery.network(name))) is None


@every_part
def test_what_the_equations_determine_can_be_dropped(name, component, part):
    """The last biases are determined by the others: the projection forgets them and keeps dimension and samples."""
    last = len(component.widths) - 1
    names = [f"b{last}_{a}" for a in range(component.widths[-1])]
    shadow = part.drop(names)
    assert len(shadow.variables) == len(part.variables) - len(names)
    assert shadow.dimension == part.dimension
    for seed in range(2):
        point = part.sample(seed)
        assert shadow.sample(seed) == {v: point[v] for v in shadow.variables}
        assert shadow.contains(point)
        moved = {**point, sympy.Symbol(names[0], real=True): point[part.variables[-1]] + 1}
        assert shadow.contains(moved)
        assert not part.contains(moved)


@every_part
def test_slices_through_a_point_contain_the_rest_of_it(name, component, part):
    rng = random.Random(5)
    point = part.sample(2)
    chosen = {v: point[v] for v in rng.sample(part.variables, 3)}
    slice_ = part.subs(chosen)
    rest = {v: value for v, value in point.items() if v not in chosen}
    assert slice_.variables == tuple(rest)
    assert slice_.contains(rest)
    assert not part.letters


@pytest.mark.parametrize("name", [name for name, _ in gallery_fibers()])
def test_components_include_themselves_and_not_each_other(name):
    """No solver is needed: conditions that stand there, or a sample of the one outside the other."""
    components = list(fiber(gallery.network(name)).components)
    for i, first in enumerate(components):
        assert isinstance(first.set.is_empty(), Fails)
        for j, second in enumerate(components):
            found = first.set.includes(second.set)
            assert found.answer is (i == j)
            if i != j:
                assert second.set.contains(found.point)
                assert not first.set.contains(found.point)
        union = first.set | components[0].set
        assert len(union.parts) == len(set(first.set.parts + components[0].set.parts))
