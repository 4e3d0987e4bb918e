"""Fibers against tests/tables/networks.json, whose entries were found by other means (there: `made_by`)."""

import json
from pathlib import Path

import pytest

from semialg_fibers.errors import NotGenericError
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.genericity import genericity
from semialg_fibers.fibers.hiding import hidden_hyperplanes, hiding, sign_flip_group
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import neuron_types
from semialg_fibers.questions.dimension import functional_dimension
from semialg_fibers.verify.oracle import same_on_cells

TABLE = json.loads((Path(__file__).parents[1] / "tables" / "networks.json").read_text())["networks"]
GENERIC = [record for record in TABLE if record["expected"]["generic"]]
OTHERS = [record for record in TABLE if not record["expected"]["generic"]]

every = pytest.mark.parametrize("record", TABLE, ids=lambda record: record["name"])
every_generic = pytest.mark.parametrize("record", GENERIC, ids=lambda record: record["name"])


def network(record):
    return Network([(layer["weight"], layer["bias"]) for layer in record["layers"]])


@every
def test_types_hidden_hyperplanes_and_genericity(record):
    net, expected = network(record), record["expected"]
    report = genericity(net)
    assert list(neuron_types(net)) == expected["second_layer"]
    assert report.is_generic is expected["generic"]
    assert list(report.violated) == expected["violated"]
    assert report.undecided == ()
    assert list(hidden_hyperplanes(net)) == ([] if expected["hidden"] is None else [expected["hidden"]])
    if expected["flippable"] is not None:
        assert list(hiding(net).flippable) == expected["flippable"]
        assert sign_flip_group(net).order == 2 ** len(expected["flippable"])


@every_generic
def test_dimensions_and_components(record):
    net, expected = network(record), record["expected"]
    found = fiber(net)
    assert found.complete is True
    assert found.local_dimension == expected["local_dimension"]
    assert net.parameter_count == expected["parameters"]
    assert functional_dimension(net) == expected["functional_dimension"] == net.parameter_count - found.local_dimension
    assert found.component_count == expected["components"]
    if "feasible_flip_sets" in expected:
        assert [list(component.flips) for component in found.components] == expected["feasible_flip_sets"]
    only_two_symmetries = found.component_count == 1 and found.dimension == net.widths[1] + net.widths[2]
    assert only_two_symmetries == expected["identifiable"]


@every_generic
def test_partners_of_the_same_function_are_members_and_others_are_not(record):
    found = fiber(network(record))
    assert all(found.contains(network(partner)) for partner in record["equivalent"])
    assert not any(found.contains(network(partner)) for partner in record["inequivalent"])
    for partner in record["equivalent"]:
        assert fiber(network(partner)).contains(network(record))
        assert fiber(network(partner)).component_count == found.component_count


@pytest.mark.parametrize("record", OTHERS, ids=lambda record: record["name"])
def test_networks_that_are_not_generic_are_refused_with_the_report(record):
    net = network(record)
    with pytest.raises(NotGenericError, match=rf"\({record['expected']['violated'][0]}\) violated") as caught:
        fiber(net)
    assert list(caught.value.report.violated) == record["expected"]["violated"]
    upper = net.parameter_count - functional_dimension(net)
    assert upper == record["expected"]["local_dimension"]  # the table says that this is an upper bound only


@every
def test_samples_are_equal_to_the_network_and_to_its_partners(record):
    net = network(record)
    if record["expected"]["generic"]:
        for component in fiber(net).components:
            member = component.sample(3)
            assert same_on_cells(network(record["equivalent"][0]), member) is None
            assert same_on_cells(network(record["inequivalent"][0]), member) is not None
