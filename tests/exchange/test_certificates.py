"""Certificate files: what `same --json` prints is read back and re-proved; anything changed in it is rejected."""

import json

import pytest

from semialg_fibers import gallery
from semialg_fibers.errors import CertificateRejected, InvalidNetworkError
from semialg_fibers.exchange.certificates import certificate_to_json, read_certificate
from semialg_fibers.questions.equivalence import same_function

VISIBLE = gallery.network("visible_2_2_2_1")
PAIRS = {
    "relabelling": (VISIBLE, VISIBLE.permuted(1, [1, 0]).rescaled(2, ["1/3", 5])),
    "sign patterns": (gallery.network("exchange_of_roles"), gallery.network("exchange_of_roles_partner")),
    "different": (VISIBLE, gallery.network("linear_2_2_2_1")),
}


@pytest.fixture(params=sorted(PAIRS))
def stored(request, tmp_path):
    a, b = PAIRS[request.param]
    path = tmp_path / "certificate.json"
    answer = same_function(a, b)
    path.write_text(certificate_to_json(a, b, answer.certificate))
    return request.param, path


def test_a_file_is_read_back_and_verified(stored):
    kind, path = stored
    found = read_certificate(path)
    assert (found.a, found.b) == PAIRS[kind]
    found.check()


def changed(path, edit):
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("name", ["a", "b"])
def test_another_network_in_the_file_is_rejected(stored, name):
    _, path = stored

    def edit(document):
        document[name]["layers"][2]["bias"] = ["1/7"]

    with pytest.raises(CertificateRejected):
        read_certificate(changed(path, edit)).check()


def test_a_wrong_kind_a_wrong_order_and_a_wrong_value_are_rejected(tmp_path):
    a, b = PAIRS["relabelling"]
    path = tmp_path / "c.json"
    text = certificate_to_json(a, b, same_function(a, b).certificate)
    for edit in (
        lambda d: d.update(kind="arrangement"),
        lambda d: d.update(kind="nonsense"),
        lambda d: d.update(orders=[[0, 1], [0, 1]]),
        lambda d: d.update(orders=[[0, 0], [0, 1]]),
        lambda d: d.update(factors=[["1", "1"], ["-1/3", "5"]]),
        lambda d: d.update(factors=[["1", "1"]]),
        lambda d: d.update(claim="different", point=["1", "1"], values=[["0"], ["1"]]),
    ):
        path.write_text(text)
        with pytest.raises(CertificateRejected):
            read_certificate(changed(path, edit)).check()


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d.pop("a"),
        lambda d: d.update(claim="perhaps"),
        lambda d: d.update(version=2),
        lambda d: d.update(orders=5),
        lambda d: d.update(orders=[[True, False], [False, True]]),
        lambda d: d.update(factors=[["x"]]),
        lambda d: d["b"].update(layers=[]),
    ],
)
def test_what_is_no_certificate_is_refused_with_the_file(tmp_path, edit):
    a, b = PAIRS["relabelling"]
    path = tmp_path / "c.json"
    path.write_text(certificate_to_json(a, b, same_function(a, b).certificate))
    with pytest.raises(InvalidNetworkError) as refused:
        read_certificate(changed(path, edit))
    assert str(path)[-40:] in refused.value.message
    assert "\n" not in refused.value.message
