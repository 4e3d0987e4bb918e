"""Certificates of equality and difference, and proofs: files that are re-checked by independent code.

Main definitions
    certificate_to_json    an answer of `same_function` with both networks
    read_certificate       the file, as networks and certificate
    Stored, StoredProof    what was read; `check()` re-proves it, within a budget

Nothing here imports the code that decides.

References: theory §4.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from semialg_fibers.errors import BudgetExceededError, CertificateRejected, InvalidNetworkError
from semialg_fibers.exchange.files import read_text, source_of
from semialg_fibers.exchange.json_text import network_from_parsed, network_to_json
from semialg_fibers.exchange.json_values import Number, keys_of, named, parse_json, shown
from semialg_fibers.geometry.scalar import MAX_DIGITS, Vector, vector
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.certificate import KINDS, DifferentCertificate, SameCertificate
from semialg_fibers.verify.derivation import FORMAT as PROOF_FORMAT
from semialg_fibers.verify.derivation import Derivation
from semialg_fibers.verify.effort import BUDGET

FORMAT = "semialg_fibers/certificate"


@dataclass(frozen=True)
class Stored:
    """Two networks and what is claimed of them."""

    a: Network
    b: Network
    certificate: SameCertificate | DifferentCertificate

    @property
    def claim(self) -> str:
        """The claim in words."""
        return "same function" if isinstance(self.certificate, SameCertificate) else "different functions"

    def check(self, budget: int | None = BUDGET) -> None:
        """Re-prove the claim with at most `budget` multiplications; None: any number.

        Raises:
            CertificateRejected: when the proof does not hold.
            BudgetExceededError: when it was not re-proved within the budget, which is no rejection.
        """
        if not self.certificate.check(self.a, self.b, budget):
            raise CertificateRejected(f"the certificate does not prove its claim ({self.claim})")


@dataclass(frozen=True)
class StoredProof:
    """A derivation of a theorem."""

    derivation: Derivation

    @property
    def claim(self) -> str:
        """The claim itself: its title is only a name, and may say anything."""
        given = ", ".join(map(str, self.derivation.claim.hypotheses))
        shown = ", ".join(map(str, self.derivation.claim.conclusions))
        letters = self.derivation.claim.letters  # without them x y = y x, true of numbers, reads as a false theorem
        said = f"where {given}: {shown}" if given else shown
        return f"for {letters}: {said}" if letters else said

    def check(self, budget: int | None = BUDGET) -> None:
        """Check every step, with at most `budget` comparisons; None: any number.

        Raises:
            CertificateRejected: with the first step that does not follow.
            BudgetExceededError: when it was not re-proved within the budget, which is no rejection.
        """
        gap = self.derivation.gap(budget)
        if gap is not None and gap.is_open:
            raise BudgetExceededError(f"not re-proved: {gap}")
        if gap is not None:
            raise CertificateRejected(f"the proof has a gap at {gap}")


def certificate_to_json(a: Network, b: Network, certificate: SameCertificate | DifferentCertificate) -> str:
    """Give the text of a certificate file.

    Raises:
        InvalidNetworkError: for numbers beyond the sizes that can be read back.
    """
    document: dict[str, Any] = {"format": FORMAT, "version": 1}
    if isinstance(certificate, SameCertificate):
        document |= {
            "claim": "same",
            "kind": certificate.kind,
            "orders": [list(order) for order in certificate.orders],
            "factors": [_written(row) for row in certificate.factors],
            "remarks": [list(pair) for pair in certificate.remarks],
        }
    else:
        document |= {
            "claim": "different",
            "point": _written(certificate.point),
            "values": [_written(row) for row in certificate.values],
        }
    head = json.dumps(document, indent=1, ensure_ascii=False)[:-2]
    return f'{head},\n "a": {network_to_json(a).strip()},\n "b": {network_to_json(b).strip()}\n}}\n'


def _written(values: Vector) -> list[str]:
    texts = [str(value) for value in values]
    if any(len(part.lstrip("-")) > MAX_DIGITS for text in texts for part in text.split("/")):
        raise InvalidNetworkError(
            f"a number of the certificate is beyond the stated size of {MAX_DIGITS} digits, and no file can hold it; "
            "the answer itself stands, and its check() works"
        )
    return texts


def read_certificate(path: str | bytes | os.PathLike[Any]) -> Stored | StoredProof:
    """Read a certificate file, or the file of a proof.

    Raises:
        InvalidNetworkError: where the file is no certificate (place: `file`).
    """
    source = source_of(path)
    text = read_text(source)
    with named(source):
        document = parse_json(text)
        if isinstance(document, dict) and document.get("format") == PROOF_FORMAT:
            return StoredProof(Derivation.from_json(text))
        version = document.get("version") if isinstance(document, dict) and document.get("format") == FORMAT else None
        if not isinstance(version, Number) or version != "1":
            raise InvalidNetworkError("this is no certificate file of version 1")
        claim = document.get("claim")
        if claim not in ("same", "different"):
            raise InvalidNetworkError(f"the claim is {shown(claim)}; a certificate claims 'same' or 'different'")
        own, others = ("kind", "orders", "factors", "remarks"), ("point", "values")
        needed = own[:3] if claim == "same" else others
        keys_of(document, "the certificate", ["format", "version", "claim", *needed, "a", "b"], [*own, *others])
        a, b = (_network(document[name], name) for name in ("a", "b"))
        return Stored(a, b, _same(document) if claim == "same" else _different(document))


def _network(value: Any, name: str) -> Network:
    net = network_from_parsed(value)
    if not net.is_rational:
        raise InvalidNetworkError(f"network {name} has letters; a certificate is about networks of numbers")
    return net


def _different(document: dict[str, Any]) -> DifferentCertificate:
    values = _rows(document, "values")
    if len(values) != 2:
        raise InvalidNetworkError(f"values: expected those of both networks, got {len(values)}")
    return DifferentCertificate(_numbers(document["point"], "point"), (values[0], values[1]))


def _same(document: dict[str, Any]) -> SameCertificate:
    kind, remarks = document["kind"], document.get("remarks", [])
    if type(kind) is not str:
        raise InvalidNetworkError(f"the kind is {shown(kind)}; expected a text such as {KINDS[0]!r}")
    pairs = isinstance(remarks, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in remarks)
    if not pairs or not all(isinstance(word, str) for pair in remarks for word in pair):
        raise InvalidNetworkError("remarks: expected a list of pairs of texts")
    orders = tuple(tuple(map(_index, order)) for order in _lists(document, "orders"))
    return SameCertificate(kind, orders, _rows(document, "factors"), tuple((name, words) for name, words in remarks))


def _index(value: Any) -> int:
    # Neither text nor a truth value; and reading very many digits takes very long.
    if not isinstance(value, Number) or not value.isdecimal() or len(value) > 9:
        raise InvalidNetworkError(f"orders: expected the number of a unit, from 0, got {shown(value)}")
    return int(value)


def _lists(document: dict[str, Any], name: str) -> list[list[Any]]:
    value = document[name]
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise InvalidNetworkError(f"{name}: expected a list of lists")
    return value


def _rows(document: dict[str, Any], name: str) -> tuple[Vector, ...]:
    return tuple(_numbers(row, name) for row in _lists(document, name))


def _numbers(value: Any, name: str) -> Vector:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise InvalidNetworkError(f"{name}: expected a list of numbers")
    try:
        return vector(value)
    except InvalidNetworkError as error:
        raise InvalidNetworkError(f"{name}: {error.message}") from None
