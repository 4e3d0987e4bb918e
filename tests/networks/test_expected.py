"""What is asked of a network is refused, with one sentence, for everything else."""

import pytest

import semialg_fibers
from semialg_fibers import Layer, Network
from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.networks.expected import expect_network
from semialg_fibers.questions.relabelling import squared_distance, stabiliser_order

NET = Network([([[1]], [0]), ([[1]], [0])])
ONE = [
    *(getattr(semialg_fibers, name) for name in (
        "summary", "neuron_types", "hidden_hyperplanes", "bending_hyperplanes", "sign_flip_group", "genericity",
        "fiber", "complete_fiber", "symmetries", "sound_fiber", "identifiability", "bias_free_dimension",
        "canonical_form", "distant_twin", "functional_dimension", "explain_dimension", "conservation_laws", "cells",
    )), stabiliser_order,
]  # fmt: skip
TWO = [
    *(getattr(semialg_fibers, name) for name in ("same_function", "match_units", "align")), squared_distance
]  # fmt: skip
MORE = {
    semialg_fibers.translate: (0, 1), semialg_fibers.flip: (0,), semialg_fibers.translation_range: (0,),
    semialg_fibers.averaging: ([0],), semialg_fibers.gradient_step: ([[1]], [[1]], 1),
    semialg_fibers.drift: ([], [[1]], [[1]]), semialg_fibers.distant_twin: (3,),
}  # fmt: skip
OTHERS = ["x", None, 3, [], NET.layers[0], Network]
EXPECTED = "^([a-z]+: )?expected a Network, got "


@pytest.mark.parametrize("value", OTHERS, ids=range(len(OTHERS)))
@pytest.mark.parametrize("question", ONE, ids=lambda question: question.__name__)
def test_a_question_about_a_network_refuses_other_values(question, value):
    with pytest.raises(InvalidNetworkError, match=EXPECTED):
        question(value, *MORE.get(question, ()))


@pytest.mark.parametrize("question", TWO, ids=lambda question: question.__name__)
def test_a_question_about_two_networks_refuses_other_values(question):
    for pair in (("x", NET), (NET, None), (NET, NET.layers)):
        with pytest.raises(InvalidNetworkError, match=EXPECTED):
            question(*pair)


@pytest.mark.parametrize("question", MORE, ids=lambda question: question.__name__)
def test_a_question_with_more_arguments_refuses_other_values(question):
    for value in ("x", None):
        with pytest.raises(InvalidNetworkError, match=EXPECTED):
            question(value, *MORE[question])


def test_the_sentence_says_what_came():
    expect_network(NET, NET)
    sentences = {"a.json": "the str 'a.json': read a file", None: "got None", Layer([[1]], [0]): "type Layer"}
    for value, said in sentences.items():
        with pytest.raises(InvalidNetworkError, match=said) as caught:
            expect_network(NET, value)
        assert caught.value.value is value
