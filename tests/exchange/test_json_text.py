"""The text of a network file: exact both ways, and every hostile text refused in one short line with its place."""

import json
import sys
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import fmpq
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import InvalidNetworkError, SemialgError, UnsupportedError
from semialg_fibers.exchange import json_text, json_values
from semialg_fibers.exchange.json_text import network_from_json, network_to_json
from semialg_fibers.geometry.domain import Box, Domain, Orthant, Space
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import MAX_DIGITS
from semialg_fibers.networks.layer import Layer, Network

LARGEST = 10**MAX_DIGITS - 1
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine proves nothing


def text_of(weight='[["1"]]', bias='["0"]', top=""):
    """Give a file with one layer; the arguments are put in as they are."""
    layer = f'{{"weight": {weight}, "bias": {bias}}}'
    return f'{{"format": "semialg_fibers/network", "version": 1, {top}"layers": [{layer}]}}'


def entry(text):
    """Give the number that the one weight `text` is read as."""
    return network_from_json(text_of(f"[[{text}]]"), "net.json").layers[0].matrix[0, 0]


small = st.fractions(-1000, 1000, max_denominator=99)
dyadic = st.floats(width=32, allow_nan=False, allow_infinity=False).map(Fraction)
big = st.builds(Fraction, st.integers(-LARGEST, LARGEST), st.integers(1, LARGEST))
numbers = st.one_of(st.integers(-9, 9).map(Fraction), small, dyadic, big)


@st.composite
def networks(draw):
    """Draw a network on any domain of the format, with small, binary and very large numbers."""
    widths = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    kind = draw(st.sampled_from([numbers, small, dyadic]))
    layers = [
        Layer([[draw(kind) for _ in range(d)] for _ in range(n)], [draw(kind) for _ in range(n)])
        for d, n in pairwise(widths)
    ]
    low = [draw(small) for _ in range(widths[0])]
    high = [value + abs(draw(small)) + 1 for value in low]
    return Network(layers, draw(st.sampled_from([Space(widths[0]), Orthant(widths[0]), Box(low, high)])))


@untimed
@given(networks())
@example(Network([Layer([[Fraction(-LARGEST, LARGEST - 1)]], [-LARGEST])]))  # the longest numbers that are written
def test_writing_then_reading_gives_the_equal_network(net):
    text = network_to_json(net)
    assert network_from_json(text, "net.json") == net
    assert network_to_json(network_from_json(text, "net.json")) == text


@untimed
@given(networks())
def test_the_text_says_the_numbers_to_a_reader_who_shares_no_code(net):
    data = json.loads(network_to_json(net))
    for layer, shown in zip(net.layers, data["layers"], strict=True):
        read = [[fmpq(*map(int, text.split("/"))) for text in row] for row in [*shown["weight"], shown["bias"]]]
        assert read == [*map(list, layer.matrix.rows()), list(layer.offset)]


@untimed
@given(st.lists(st.fractions(0, 10**9, max_denominator=10**9), min_size=1, max_size=40), st.data())
def test_a_row_is_the_same_read_at_once_or_entry_by_entry(values, data):
    scales = data.draw(st.lists(st.integers(1, 50), min_size=len(values), max_size=len(values)))
    at_once = [f"{v.numerator * k}/{v.denominator * k}" for v, k in zip(values, scales, strict=True)]
    one_by_one = [f"+{at_once[0]}", *at_once[1:]]  # a plus sign is legal, but not in the fast expression
    assert json_text._fractions(at_once) is not None
    assert json_text._fractions(one_by_one) is None
    read = [network_from_json(text_of(json.dumps([row])), "net.json") for row in (at_once, one_by_one)]
    assert read[0] == read[1] == Network([Layer([values], [0])])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", "1/10"),  # the decimal number, not the float
        ("1e-3", "1/1000"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1E2", "100"),
        ("1e+2", "100"),
        ("0.1000000000000000055511151231257827021181583404541015625", "3602879701896397/36028797018963968"),
        ("9007199254740993", "9007199254740993"),  # no float is this number
        ('"0.25"', "1/4"),
        ('"+6/4"', "3/2"),
        ('".5"', "1/2"),
        ('"007"', "7"),
    ],
)
def test_a_number_is_read_by_its_decimal_text(text, value):
    assert entry(text) == fmpq(*map(int, value.split("/")))


def test_rows_with_a_large_common_denominator_are_still_exact():
    primes = [n for n in range(2, 6000) if all(n % k for k in range(2, int(n**0.5) + 1))]
    row = [Fraction(1, p) for p in primes]
    net = network_from_json(text_of(json.dumps([[str(value) for value in row]])), "net.json")
    assert net.layers[0].matrix.denominators()[0].bit_length() > 8000
    assert net.layers[0].matrix.row(0) == tuple(fmpq(1, p) for p in primes)


def test_domains_symbols_and_a_byte_order_mark():
    assert network_from_json(text_of(top='"domain": "orthant", '), "x").domain == Orthant(1)
    assert network_from_json(text_of(top='"domain": {"box": [[-0.5, "1/3"]]}, '), "x").domain == Box(["-1/2"], ["1/3"])
    assert network_from_json("\ufeff" + text_of(top='"symbols": {}, '), "x").domain == Space(1)


LONG = "7" * 1_000_000
MORE_DIGITS = "1" * (MAX_DIGITS + 1)
TWO = '{"weight": [["1"], ["2"]], "bias": ["0", "0"]}, '  # a layer 1 -> 2


def layers(text):
    """Give a file with these layers."""
    return f'{{"format": "semialg_fibers/network", "version": 1, "layers": [{text}]}}'


HOSTILE = {
    # no JSON
    "empty": ("", "the text is empty", {"line": 1}),
    "blank": (" \n\n", "the text is empty", {"line": 1}),
    "truncated": (text_of()[:-1], "the text ends too early", {"line": 1}),
    "truncated in a string": (text_of()[:5], "the text ends too early", {"line": 1, "column": 2}),
    "not JSON": ("{\n  format: 1}", "line 2, column 3: no valid JSON", {"line": 2, "column": 3}),
    "two values": (text_of() + "{}", "no valid JSON", {"line": 1}),
    "line break in a string": (text_of('[["1\n"]]'), "no valid JSON", {"line": 1}),
    "open brackets": ("[" * 100_000, "nested too deeply", {}),
    "nested brackets": (text_of("[" * 100_000 + "]" * 100_000), "nested too deeply", {}),
    "nested objects": ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply", {}),
    # the object
    "a number": ("3", "expected an object, got 3", {}),
    "a list": ("[]", "expected an object, got a list", {}),
    "no keys": ("{}", "the key 'format' is missing", {}),
    "no layers": ('{"format": "semialg_fibers/network", "version": 1}', "the key 'layers' is missing", {}),
    "no version": (text_of().replace('"version": 1, ', ""), "the key 'version' is missing", {}),
    "other format": (text_of().replace("semialg_fibers/network", "x"), "the format is 'x'", {}),
    "format list": (text_of().replace('"semialg_fibers/network"', "[]"), "the format is a list", {}),
    "other version": (text_of().replace('"version": 1', '"version": 2, "more": 3'), "the version is 2", {}),
    "version text": (text_of().replace('"version": 1', '"version": "1"'), "the version is '1'", {}),
    "version 1.0": (text_of().replace('"version": 1', '"version": 1.0'), "the version is 1.0", {}),
    "version true": (text_of().replace('"version": 1', '"version": true'), "the version is true", {}),
    "unknown key": (text_of(top='"activation": "relu", '), "unknown key 'activation'", {}),
    "long key": (text_of(top=f'"{LONG}": 1, '), "1,000,000 characters", {}),
    "repeated key": (text_of(top='"version": 1, '), "the key 'version' is repeated", {}),
    "surrogate key": (text_of(top='"\\ud800": 1, '), "unknown key '\\ud800'", {}),
    "symbols": (text_of(top='"symbols": {"a": "huge"}, '), "symbols: a is declared 'huge'; expected one of", {}),
    "symbols list": (text_of(top='"symbols": ["a"], '), "symbols: expected an object", {}),
    # layers
    "layers object": (layers("").replace("[]", "{}"), "layers: expected a list", {}),
    "zero layers": (layers(""), "layers: the list is empty", {}),
    "layer null": (layers("null"), "layer 1: expected an object, got null", {"layer": 1}),
    "layer without bias": (layers('{"weight": [["1"]]}'), "layer 1: the key 'bias' is missing", {"layer": 1}),
    "layer unknown key": (layers('{"weight": [[1]], "b": [0]}'), "layer 1: unknown key 'b'", {"layer": 1}),
    "layer repeated key": (
        layers(TWO + '{"weight": [[1]], "bias": [0], "bias": [0]}'),
        "layer 2: the key 'bias' is repeated",
        {"layer": 2},
    ),
    "weight number": (text_of("1"), "layer 1, weight: expected a list of rows, got 1", {"layer": 1}),
    "weight empty": (text_of("[]"), "layer 1, weight: the list is empty", {"layer": 1}),
    "row number": (text_of("[1]"), "layer 1, weight row 1: expected a list of numbers", {"layer": 1, "row": 0}),
    "row text": (text_of('[["1"], "12"]'), "layer 1, weight row 2: expected a list", {"layer": 1, "row": 1}),
    "row empty": (text_of('[["1"], []]'), "layer 1, weight row 2: the list is empty", {"layer": 1, "row": 1}),
    "ragged": (text_of("[[1, 2], [3]]", "[0, 0]"), "layer 1, weight row 2: ragged", {"layer": 1, "row": 1}),
    "ragged later": (
        layers(TWO + '{"weight": [[1, 2], [3]], "bias": [0, 0]}'),
        "layer 2, weight row 2: ragged",
        {"row": 1},
    ),
    "widths": (layers(TWO + '{"weight": [[1]], "bias": [0]}'), "layer 2, weight row 1: widths do not", {"layer": 2}),
    "bias short": (layers(TWO.replace('["0", "0"]', '["0"]')[:-2]), "layer 1: the bias has 1 entry", {"layer": 1}),
    "bias empty": (text_of(bias="[]"), "layer 1, bias: the list is empty", {"layer": 1}),
    "bias text": (text_of(bias='"0"'), "layer 1, bias: expected a list", {"layer": 1}),
    "bias entry": (text_of("[[1], [2]]", '["0", "x y"]'), "layer 1, bias entry 2: ", {"layer": 1, "row": 1}),
    # domains
    "domain name": (text_of(top='"domain": "ball", '), "domain: expected", {}),
    "domain null": (text_of(top='"domain": null, '), "domain: expected", {}),
    "domain key": (text_of(top='"domain": {"boxes": []}, '), "domain: unknown key 'boxes'", {}),
    "domain repeated": (text_of(top='"domain": {"box": [[0,1]], "box": [[0,1]]}, '), "domain: the key 'box' is", {}),
    "box text": (text_of(top='"domain": {"box": "01"}, '), "domain, box: expected a list", {}),
    "box size": (text_of(top='"domain": {"box": [[0,1],[0,1]]}, '), "domain, box: 2 pairs", {}),
    "box pair": (text_of(top='"domain": {"box": [[0,1,2]]}, '), "domain, box, pair 1: expected [low,", {"column": 0}),
    "box entry": (text_of(top='"domain": {"box": [[0,"1/0"]]}, '), "domain, box, pair 1: ", {"column": 0}),
    "box flat": (text_of(top='"domain": {"box": [["1/2", 0.5]]}, '), "domain, box, pair 1: low must be", {"column": 0}),
}

ENTRIES = {
    '"1/0"': "denominator",
    '"1/00"': "denominator",
    '"1/"': "not a rational number",
    '"/2"': "not a rational number",
    '"1/-2"': "not a rational number",
    '"1/2/3"': "not a rational number",
    '"1,2"': "not a rational number",
    '"1_000"': "not a rational number",
    '" 1"': "not a rational number",
    '"1\\n"': "not a rational number",
    '""': "not a rational number",
    '"-"': "not a rational number",
    '"."': "not a rational number",
    '"0x10"': "not a rational number",
    '"٣"': "not a rational number",  # a digit to int(), not to us
    '"½"': "not a rational number",
    '"\\ud800"': "not a rational number",
    '"nan"': "not a rational number",
    '"-Infinity"': "not a rational number",
    "NaN": "not a rational number",
    "-Infinity": "not a rational number",
    "\"__import__('os')\"": "not a rational number",
    '"a*b - 1"': "the letter 'a' is not declared",
    '"9**9**9"': "is no formula",
    '"1/(1-1)"': "it divides by zero",
    '"sqrt(2)"': "the letter 'sqrt' is not declared",
    "true": "expected a number, got true",
    "null": "expected a number, got null",
    "[1]": "expected a number, got a list",
    "{}": "expected a number, got an object",
    "1e999999999": "digits",
    '"1e999999999"': "digits",
    "1e-999999999": "digits",
    "1e4000": "digits",  # 4,001 digits
    MORE_DIGITS: "digits",
    f'"1/{MORE_DIGITS}"': "digits",
    f'"-{MORE_DIGITS}"': "digits",
    f'"0.{MORE_DIGITS}"': "digits",
    LONG: "1,000,000 characters",
    "7" * 3_000_000: "3,000,000 characters",
    f'"{LONG}/{LONG}"': "2,000,001 characters",
    f'"{"x" * 1_000_000}"': "1,000,000 characters",
    '"' + "\\udb40" * 8000 + '"': "not a rational number",
    '"' + "(" * 8000 + '"': "the formula has 8000 characters",
}


def refused(text):
    """Give the error of reading the text, after the checks that hold for every error."""
    with pytest.raises(InvalidNetworkError) as caught:
        network_from_json(text, "net.json")
    message = str(caught.value)
    assert message.startswith("net.json: ")
    assert caught.value.file == "net.json"
    assert message.isprintable()  # so it is one line
    assert len(message) < 300
    return caught.value


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_refused_with_its_place(name):
    text, sentence, place = HOSTILE[name]
    error = refused(text)
    assert sentence in str(error)
    assert place.items() <= error.place.items()


@pytest.mark.parametrize("number", ENTRIES, ids=range(len(ENTRIES)))
def test_a_hostile_entry_is_refused_with_its_place(number):
    error = refused(text_of(f'[["1", "-1/2", "3"], ["1", "2", {number}]]', '["0", "0"]'))
    assert str(error).startswith("net.json: layer 1, weight row 2, column 3: ")
    assert ENTRIES[number] in str(error)
    assert (error.layer, error.row, error.column) == (1, 1, 2)


@untimed
@given(st.text(max_size=30))
@example("1\u2028")
@example("\ud800")
def test_any_text_as_an_entry_is_a_number_or_refused_in_one_line(text):
    try:
        network_from_json(text_of(json.dumps([[text]])), "net.json")
    except InvalidNetworkError:
        refused(text_of(json.dumps([[text]])))


def test_nothing_is_evaluated():
    events = []
    watching = True
    sys.addaudithook(lambda event, _: events.append(event) if watching else None)  # a hook cannot be removed
    for text in ("__import__('os').mkdir('x')", "exec('1')", "9**9**9", "open('x')", "().__class__", "lambda: 1"):
        with pytest.raises(InvalidNetworkError):
            network_from_json(text_of(json.dumps([[text]])), "net.json")
    watching = False
    assert not {"compile", "exec", "import", "open", "os.mkdir", "os.system"} & set(events)
    compile("1", "", "eval")  # the hook is off again
    assert "compile" not in events


def test_denominators_whose_common_multiple_explodes_are_refused_before_they_do():
    row = [f"1/{10**3000 + 2 * k + 1}" for k in range(3000)]
    error = refused(text_of(json.dumps([row])))
    assert "layer 1, weight row 1: the common denominator of the row" in str(error)
    assert (error.layer, error.row) == (1, 0)


def test_matrices_beyond_the_stated_memory_are_refused(monkeypatch):
    monkeypatch.setattr(json_text, "MAX_MATRIX_BYTES", 2)
    entry('"1/8191"')  # 13 bits
    assert "layer 1, weight row 2" in str(refused(text_of('[["1/8191"], ["1/8191"]]', "[0, 0]")))


def test_more_entries_keys_or_characters_than_stated_are_refused(monkeypatch):
    monkeypatch.setattr(json_values, "MAX_ENTRIES", 5)
    assert "entries" in str(refused(text_of("[[1, 2, 3, 4, 5, 6]]")))
    with pytest.raises(InvalidNetworkError, match="entries"):
        network_to_json(Network([Layer([range(9)], [0])]))
    monkeypatch.setattr(json_values, "MAX_KEYS", 3)
    assert "keys" in str(refused(text_of()))
    monkeypatch.setattr(json_values, "MAX_BYTES", 50)
    assert "bytes" in str(refused(text_of()))


@pytest.mark.parametrize(
    ("net", "place"),
    [
        (Network([Layer([[1, 10**MAX_DIGITS]], [0])]), {"layer": 1, "row": 0, "column": 1}),
        (Network([Layer([[1]], [Fraction(1, 10**MAX_DIGITS)])]), {"layer": 1, "row": 0}),
        (Network([Layer([[1]], [0])], Box([0], [10**MAX_DIGITS])), {"row": 0}),
        (Network([Layer(Matrix.from_integers([[1, 3]], [10**30_001]), [0])]), {"layer": 1, "row": 0}),
    ],
    ids=["weight", "bias", "box", "common denominator"],
)
def test_what_could_not_be_read_back_is_not_written(net, place):
    with pytest.raises(InvalidNetworkError) as caught:
        network_to_json(net)
    assert place.items() <= caught.value.place.items()
    assert len(str(caught.value)) < 300


def test_a_domain_that_the_format_does_not_know_is_not_written():
    class Ball(Domain):
        """A domain of another kind."""

        dimension = 1
        infimum = constraints = positive_point = None

    net = Network([Layer([[1]], [0])], Ball())
    with pytest.raises(UnsupportedError, match="Ball"):
        network_to_json(net)


@pytest.mark.parametrize("source", ["a\nb.json", "x" * 5000, "\udcff.json"])
def test_any_name_of_a_source_gives_one_short_line(source):
    with pytest.raises(SemialgError) as caught:
        network_from_json("", source)
    assert caught.value.file == source
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
