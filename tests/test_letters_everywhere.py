"""Every question is asked of networks with letters on every kind of domain: an answer, or a documented error.

The answers are then read whole: properties, samples, exports, parts. What they say is judged in tests/laws.
"""

from collections.abc import Iterable
from itertools import cycle, islice, pairwise, product

import pytest
import sympy

import semialg_fibers
from semialg_fibers import Box, Network, Orthant, Polyhedron, Space
from semialg_fibers.errors import SemialgError

P, Q = sympy.Symbol("p", positive=True), sympy.Symbol("q", negative=True)
R, N = sympy.Symbol("r", real=True), sympy.Symbol("n", real=True, nonzero=True)
ENTRIES = {
    "positive": [P, 1, P, 2, P + 1],
    "signs": [P, Q, 0, -P, Q - 1],
    "real": [R, 1, N, 0, R - 1],
    "spare": [P, 0, 0, -1, P, 1, 0],  # 1-2-1: relu(p x) beside a neuron that is dead
    "mixed": [P, Q, R, 1, 0, N, P * Q, R / P],
}
DOMAINS = {
    "space": Space,
    "orthant": Orthant,
    "box": lambda d: Box([-1] * d, ["1/2"] * d),
    "polyhedron": lambda d: Polyhedron([[1] * d], [1]),
}
WIDTHS = [(2, 1), (1, 2, 1), (2, 2, 2), (2, 1, 1, 1), (2, 2, 2, 1), (2, 2, 1, 2, 1)]
QUESTIONS = [
    *["summary", "neuron_types", "hidden_hyperplanes", "bending_hyperplanes", "sign_flip_group", "genericity"],
    *["fiber", "complete_fiber", "symmetries", "sound_fiber", "identifiability", "bias_free_dimension"],
    *["canonical_form", "relabelling_count", "count_components", "cell_count", "cell_patterns", "cells"],
    *["functional_dimension", "explain_dimension", "conservation_laws", "report_html"],
]


def network(entries, domain, widths):
    told = cycle(ENTRIES[entries])
    layers = [
        ([[next(told) for _ in range(a)] for _ in range(b)], [next(told) for _ in range(b)])
        for a, b in pairwise(widths)
    ]
    return Network(layers, DOMAINS[domain](widths[0]))


def answered(ask):
    """The answer, or None where it is refused; other exceptions fail the test."""
    try:
        return ask()
    except SemialgError as refusal:
        message = refusal.message
    assert message
    assert "\n" not in message
    return None


def read(found):
    """Ask for all that an answer of the package holds."""
    kind = type(found)
    if not kind.__module__.startswith("semialg_fibers"):
        return
    answered(lambda: (str(found), repr(found)))
    for name in [name for name in dir(kind) if isinstance(getattr(kind, name), property) and name[0] != "_"]:
        answered(lambda name=name: getattr(found, name))
    for seed in range(8 if hasattr(found, "sample") else 0):
        answered(lambda seed=seed: found.sample(seed))
    if hasattr(found, "to_json"):
        answered(found.to_json)


def parts_of(found, name):
    several = answered(lambda: getattr(found, name, None))
    return answered(lambda: list(islice(several, 3))) or () if isinstance(several, Iterable) else ()


@pytest.mark.parametrize(("entries", "domain"), list(product(ENTRIES, DOMAINS)))
def test_every_question_about_letters_is_answered_or_refused(entries, domain):
    for widths in WIDTHS:
        net = network(entries, domain, widths)
        for name in QUESTIONS:
            found = answered(lambda name=name, net=net: getattr(semialg_fibers, name)(net))
            read(found)
            for part in ("components", "strata", "laws"):
                for each in parts_of(found, part):
                    read(each)
            if name == "fiber" and found is not None:
                answered(lambda found=found: semialg_fibers.to_latex(found))
        if len(widths) > 2:
            order = list(range(widths[1]))[::-1]
            other = net.permuted(1, order)
            answered(lambda net=net, order=order: semialg_fibers.averaging(net, order))
            answered(lambda net=net: semialg_fibers.distant_twin(net, 10))
            answered(lambda net=net, other=other: semialg_fibers.match_units(net, other))
            answered(lambda net=net, other=other: semialg_fibers.same_function(net, other))
            points = [[0] * widths[0], [1] * widths[0]]
            answered(lambda net=net, other=other, points=points: semialg_fibers.unit_correlations(net, other, points))
            answered(lambda net=net: semialg_fibers.translate(net, 0, 1))
            answered(lambda net=net: semialg_fibers.dimension_table([net]))
