"""Certificates of equality and difference, and proofs: files that are re-checked by independent code.

Main definitions
    certificate_to_json    an answer of `same_function` with both networks
    read_certificate       the file, as networks and certificate
    Stored, StoredProof    what was read; `check()` re-proves it

Nothing here imports the code that decides.

References: theory §4.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from semialg_fibers.errors import CertificateRejected, InexactInputError, InvalidNetworkError
from semialg_fibers.exchange.files import read_text
from semialg_fibers.exchange.json_text import network_from_parsed, network_to_json
from semialg_fibers.exchange.json_values import Number, named, parse_json
from semialg_fibers.geometry.scalar import Vector, vector
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.certificate import DifferentCertificate, SameCertificate
from semialg_fibers.verify.derivation import FORMAT as PROOF_FORMAT
from semialg_fibers.verify.derivation import Derivation

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

    def check(self) -> None:
        """Re-prove the claim.

        Raises:
            CertificateRejected: when the proof does not hold.
            BudgetExceededError: when it could not be re-checked within the budget.
        """
        if not self.certificate.check(self.a, self.b):
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

    def check(self) -> None:
        """Check every step.

        Raises:
            CertificateRejected: with the first step that does not follow.
        """
        gap = self.derivation.gap()
        if gap is not None:
            raise CertificateRejected(f"the proof has a gap at {gap}")


def certificate_to_json(a: Network, b: Network, certificate: SameCertificate | DifferentCertificate) -> str:
    """Give the text of a certificate file."""
    document: dict[str, Any] = {"format": FORMAT, "version": 1}
    if isinstance(certificate, SameCertificate):
        document |= {
            "claim": "same",
            "kind": certificate.kind,
            "orders": [list(order) for order in certificate.orders],
            "factors": [[str(value) for value in row] for row in certificate.factors],
            "remarks": [list(pair) for pair in certificate.remarks],
        }
    else:
        document |= {
            "claim": "different",
            "point": [str(value) for value in certificate.point],
            "values": [[str(value) for value in row] for row in certificate.values],
        }
    head = json.dumps(document, indent=1, ensure_ascii=False)[:-2]
    return f'{head},\n "a": {network_to_json(a).strip()},\n "b": {network_to_json(b).strip()}\n}}\n'


def read_certificate(path: str | bytes | os.PathLike[Any]) -> Stored | StoredProof:
    """Read a certificate file, or the file of a proof.

    Raises:
        InvalidNetworkError: where the file is no certificate (place: `file`).
    """
    source = os.fsdecode(path)
    text = read_text(source)
    with named(source):
        document = parse_json(text)
        if isinstance(document, dict) and document.get("format") == PROOF_FORMAT:
            return StoredProof(Derivation.from_json(text))
        if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("version") != "1":
            raise InvalidNetworkError("this is no certificate file of version 1")
        try:
            a, b = (network_from_parsed(document[name]) for name in ("a", "b"))
            return Stored(a, b, _certificate(document))
        except (KeyError, TypeError, ValueError, InexactInputError) as error:
            raise InvalidNetworkError(f"the certificate is incomplete or malformed: {error!r}") from None


def _certificate(document: dict[str, Any]) -> SameCertificate | DifferentCertificate:
    if document["claim"] == "different":
        left, right = _rows(document["values"])
        return DifferentCertificate(vector(document["point"]), (vector(left), vector(right)))
    if document["claim"] != "same":
        raise ValueError(f"unknown claim {document['claim']!r}")
    orders = tuple(tuple(_index(i) for i in order) for order in _rows(document["orders"]))
    factors: tuple[Vector, ...] = tuple(vector(row) for row in _rows(document["factors"]))
    remarks = tuple((str(name), str(value)) for name, value in _rows(document.get("remarks", [])))
    return SameCertificate(str(document["kind"]), orders, factors, remarks)


def _index(value: Any) -> int:
    if not isinstance(value, Number):  # neither text nor a truth value
        raise TypeError("expected a whole number")
    return int(value)


def _rows(value: Any) -> list[list[Any]]:
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise TypeError("expected a list of lists")
    return value
