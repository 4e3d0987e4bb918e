"""Fibers as text and as JSON: what is written is read back, vanishes at samples, and says the same in both."""

import json
import re
from itertools import islice

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import network_at
from strategies import KINDS, networks_of, seeds

from semialg_fibers import gallery
from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError
from semialg_fibers.exchange import traversal
from semialg_fibers.exchange.exporters import to_json, to_text
from semialg_fibers.exchange.traversal import chosen, completeness
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.letters import parameter_names
from semialg_fibers.fibers.orientation import OrientationProblem
from semialg_fibers.geometry.domain import Orthant
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.oracle import same_on_cells

NOT_GENERIC = {"exchange_of_roles", "not_generic_g4", "rank_deficient_2_2_1_1"}
WITH_FIBER = [
    name
    for name in gallery.names()
    if len(widths := gallery.network(name).widths) == 3 or (len(widths) == 4 and widths[1] <= widths[0])
]
every_fiber = pytest.mark.parametrize("name", [name for name in WITH_FIBER if name not in NOT_GENERIC])
every_kind = pytest.mark.parametrize("kind", KINDS)
few = settings(max_examples=3, deadline=None)


def parsed(text, names):
    """A SymPy expression; `names` hides everything that SymPy itself knows by such a name (beta, lambda, ...)."""
    return sympy.parse_expr(text, local_dict={name: sympy.Symbol(name, real=True) for name in names})


def at(expression, values):
    return expression.subs({symbol: values[symbol.name] for symbol in expression.free_symbols})


def rational(net):
    """Its parameters as SymPy numbers, by name."""
    return {name: sympy.Rational(int(value.p), int(value.q)) for name, value in net.parameters.items()}


def document_of(found, component=None):
    text = to_json(found, component)
    assert text.endswith("}\n")
    document = json.loads(text, parse_constant=pytest.fail, parse_float=pytest.fail)  # no float, no NaN
    assert (document["format"], document["version"]) == ("semialg_fibers/fiber", 1)
    return document


def holds(part, names, values):
    return (
        all(at(parsed(text, names), values) == 0 for text in part["equations"])
        and all(at(parsed(text, names), values) > 0 for text in part["positive"])
        and all(at(parsed(text, names), values) >= 0 for text in part["nonnegative"])
    )


def assert_the_document_describes(net, found, document, seed):
    assert document["widths"] == list(net.widths)
    assert document["complete"] is found.complete
    assert document["assumptions"] == list(found.assumptions)
    assert document["component_count"] == found.component_count
    assert document["labelled_count"] == found.labelled_count
    assert (document["dimension"], document["local_dimension"]) == (found.dimension, found.local_dimension)
    names = parameter_names(net.widths)
    for record in document["components"][:4]:
        component = found.components[record["number"]]
        assert record["variables"] == names
        assert (record["kind"], record["dimension"]) == (component.kind, component.dimension)
        assert (record["flips"], record["direction"]) == (list(component.flips), component.direction)
        member = component.sample(seed)
        values = rational(member)
        assert same_on_cells(net, member) is None
        assert any(holds(part, names, values) for part in record["parts"])
        changed = values | {names[-1]: values[names[-1]] + 1}  # another last bias is another function
        assert not any(holds(part, names, changed) for part in record["parts"])
        for part, real in zip(record["parts"], component.set.parts, strict=True):
            assert part["dimension"] == real.dimension
            assert holds(part, names, rational(network_at(real.sample(seed), net)))
            for key in ("equations", "positive", "nonnegative"):
                assert [parsed(text, names) for text in part[key]] == list(getattr(real, key))
        assert_the_image_describes(record["parametrization"], component.parametrization, net)
    assert document["components"][0]["number"] == 0
    assert any(holds(part, names, rational(net)) for part in document["components"][0]["parts"])


def assert_the_image_describes(image, real, net):
    symbols = image["symbols"]
    assert len(set(symbols)) == len(symbols)
    hidden = {name: sympy.Symbol(name, real=True) for name in symbols}
    plain = {symbol: hidden[symbol.name] for symbol in real.symbols}
    widths = []
    for layer, (weight, bias) in zip(image["layers"], real.network, strict=True):
        assert [[parsed(text, symbols) for text in row] for row in layer["weight"]] == weight.subs(plain).tolist()
        assert [parsed(text, symbols) for text in layer["bias"]] == [sympy.sympify(b).subs(plain) for b in bias]
        widths.append((len(layer["weight"][0]), len(layer["bias"])))
    assert widths == [(layer.inputs, layer.outputs) for layer in net.layers]
    for text in image["ranges"]:
        left, relation, right = re.fullmatch(r"(.+?) (>=|<=|>|<) (.+)", text).groups()
        assert {symbol.name for side in (left, right) for symbol in parsed(side, symbols).free_symbols} <= set(symbols)
        assert relation in (">", ">=", "<", "<=")
    assert len(image["ranges"]) == len(real.ranges)
    assert [parsed(text, symbols) for text in image["equations"]] == [e.subs(plain) for e in real.equations]


@every_fiber
def test_the_document_of_a_gallery_network(name):
    net = gallery.network(name)
    found = fiber(net)
    document = document_of(found)
    assert [record["number"] for record in document["components"]] == list(range(found.component_count))
    assert_the_document_describes(net, found, document, 3)


@every_kind
@few
@given(st.data())
def test_the_document_of_a_random_network(kind, data):
    net = data.draw(networks_of(kind))
    found = fiber(net)
    number = data.draw(st.integers(0, min(found.component_count, 8) - 1))
    document = document_of(found, number)
    (record,) = document["components"]
    assert record["number"] == number
    assert document["component_count"] == found.component_count  # of the whole, not of what is shown
    member = found.components[number].sample(data.draw(seeds))
    names = parameter_names(net.widths)
    assert any(holds(part, names, rational(member)) for part in record["parts"])
    assert_the_document_describes(net, found, document_of(found, 0), data.draw(seeds))


# text


def shown_conditions(part):
    """The lines that stand for the part's equations and inequalities."""
    for expression in part.equations:
        yield f"{expression} = 0"
    for expressions, above, below in ((part.positive, ">", "<"), (part.nonnegative, "≥", "≤")):
        for expression in expressions:
            turned = (-expression).is_Symbol
            yield f"{-expression} {below} 0" if turned else f"{expression} {above} 0"


@every_fiber
def test_the_text_has_every_equation_and_inequality_of_the_document(name):
    net = gallery.network(name)
    found = fiber(net)
    text = to_text(found)
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == f"Fiber of the {net}"
    assert (
        lines[1] == "sound: every member is in the fiber, exactly; complete: every generic member lies in a component"
    )
    assert lines[2] == f"components: {found.component_count} (up to relabelling of hidden units)"
    assert lines[3] == f"labelled copies: {found.labelled_count}"
    assert lines[4] == f"dimension: {found.dimension}, at this network: {found.local_dimension}"
    blocks = re.split(r"\n(?=Component \d+: )", text)[1:]
    assert len(blocks) == found.component_count
    for number, (block, component) in enumerate(zip(blocks, found.components, strict=True)):
        assert block.startswith(f"Component {number}: {component.kind}")
        assert f"; dimension {component.dimension}\n" in block
        sets = re.split(r"\n  as a set", block)[1:]
        for shown, part in zip(sets, component.set.parts, strict=True):
            rows = [line.strip() for line in shown.splitlines()]
            wanted = list(shown_conditions(part))
            assert [row for row in rows if re.search(r" (=|>|<|≥|≤) 0$", row)] == wanted
            for index, words in dict(part.headings).items():  # of two in one place the first has no equations
                assert (f"{words}:" in rows) == (index < len(part.equations))
        for layer in range(1, len(net.layers) + 1):
            assert re.search(rf"\n    W{layer} = \[\[.*\]\]\n    b{layer} = \[.*\]\n", block)
        for relation in component.parametrization.ranges:
            assert str(relation) in block


def test_no_number_is_rounded():
    """A denominator with forty digits is printed in full."""
    small = "1/" + "7" * 40
    net = Network([([[1, 0], [0, 1]], [small, 0]), ([[1, -2], [-3, 1]], [1, 2]), ([[1, -2]], [3])])
    for text in (to_text(fiber(net)), to_json(fiber(net))):
        assert "7" * 40 in text
        assert not re.search(r"\d\.\d|\de[-+]?\d", text)


def test_a_component_alone():
    found = fiber(gallery.network("flips_3_3_1_1"))
    whole = to_text(found)
    head = whole[: whole.index("\nComponent 0:")]
    for number in range(4):
        alone = to_text(found, number)
        assert alone.startswith(head)
        assert alone[len(head) :].strip() in whole
        assert re.findall(r"^Component (\d+):", alone, re.MULTILINE) == [str(number)]
        assert "components are shown" not in alone


@pytest.mark.parametrize("write", [to_text, to_json])
@pytest.mark.parametrize("number", [-1, 4, 10**30])
def test_no_such_component(write, number):
    with pytest.raises(InvalidNetworkError, match=str(number)) as caught:
        write(fiber(gallery.network("flips_3_3_1_1")), number)
    assert caught.value.value == number


# many components


def many(k):
    """Widths (1, k + 1, 1) on the orthant with one linear neuron: 2^k choices of sides."""
    rows = [-i - 1 for i in range(k)]
    return Network([([[1]] * (k + 1), [*rows, 1]), ([list(range(1, k + 2))], [0])], Orthant(1))


def test_the_first_components_are_shown_and_the_text_says_so(monkeypatch):
    monkeypatch.setattr(traversal, "MOST_COMPONENTS", 5)
    found = fiber(many(4))
    text = to_text(found)
    assert re.findall(r"^Component (\d+):", text, re.MULTILINE) == list("01234")
    assert text.endswith("\n(the first 5 components are shown; choose any other by its number)\n")
    assert "\n  components: 16 (" in text
    document = document_of(found)
    assert (len(document["components"]), document["component_count"]) == (5, 16)
    monkeypatch.setattr(traversal, "MOST_COMPONENTS", 16)
    text = to_text(found)
    assert re.findall(r"^Component (\d+):", text, re.MULTILINE) == list(map(str, range(16)))
    assert "are shown" not in text


def test_the_limit_is_64_of_2_to_the_30():
    found = fiber(many(30))
    assert [number for number, _ in chosen(found, None)] == list(range(64)) == list(range(traversal.MOST_COMPONENTS))
    assert chosen(found, 700)[0][1] == next(islice(found.components, 700, None))
    with pytest.raises(InvalidNetworkError, match="does not exist, there are 1073741824"):
        chosen(found, 2**30)
    with pytest.raises(BudgetExceededError, match="up to number 131071; got 1073741823"):
        chosen(found, 2**30 - 1)


def test_what_was_found_before_the_budget_ended_is_still_shown(monkeypatch):
    """One spare neuron, p = m = 2: the ranks are not proved to grow, so every S is tested, here only seven."""
    rows = [[1, -2], [-3, 1], [2, -5], [1, 3]]
    net = Network([(rows, [1, 2, 3, 1]), ([[1, -2, 1, 1], [2, 1, -1, 3]], [3, 0])], Orthant(2))
    full = fiber(net)
    assert full.component_count < 8
    shown = list(full.components)
    monkeypatch.setattr(OrientationProblem.feasible_sets, "__defaults__", (2,))
    monkeypatch.setattr(OrientationProblem.count, "__defaults__", (2,))
    monkeypatch.setattr(OrientationProblem.largest_dimension, "__defaults__", (2,))
    net = net.permuted(1, [1, 0, 2, 3])  # what is known of the network above is kept
    found = fiber(net)
    with pytest.raises(BudgetExceededError):
        list(found.components)
    text = to_text(fiber(net))
    assert "\n  components: not decided (" in text
    assert "labelled copies" not in text
    numbers = re.findall(r"^Component (\d+):", text, re.MULTILINE)
    assert numbers == [str(i) for i in range(len(numbers))]
    assert 1 <= len(numbers) <= len(shown)
    assert f"(the first {len(numbers)} components are shown; choose any other by its number)" in text
    document = document_of(fiber(net))
    assert (document["component_count"], document["labelled_count"]) == (None, None)
    assert len(document["components"]) == len(numbers)


# completeness


def test_completeness_names_what_was_not_decided(monkeypatch):
    def open_masks(*arguments):
        raise BudgetExceededError("too many")

    monkeypatch.setattr("semialg_fibers.fibers.masks.vanishing_mask", open_masks)
    found = fiber(gallery.network("visible_2_2_2_1"))
    sentence = (
        "sound: every member is in the fiber, exactly; completeness for generic members rests on (G4), not decided"
    )
    assert completeness(found) == sentence
    assert to_text(found).splitlines()[1].strip() == sentence
    document = document_of(found)
    assert (document["complete"], document["assumptions"]) == (None, ["G4"])
    assert "complete fiber" not in to_text(found)


def test_counts_of_any_size_are_written_in_full(monkeypatch):
    """1701 neurons have more than 10^4300 labelled copies, which Python's own str refuses to print."""
    found = fiber(gallery.network("visible_2_2_2_1"))
    monkeypatch.setattr(type(found), "labelled_count", 10**5000)
    assert f"  labelled copies: 1{'0' * 5000}\n" in to_text(found)
    assert document_of(found)["labelled_count"] == "1" + "0" * 5000
    monkeypatch.setattr(type(found), "labelled_count", 10**3000)
    assert document_of(found)["labelled_count"] == 10**3000
