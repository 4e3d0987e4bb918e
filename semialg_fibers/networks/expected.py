"""What is asked of a network is asked of a Network.

Main results
    expect_network    refuses other values with one sentence, before anything is looked at

Who gives the path of a network, or a model of another library, is told what reads it.

References: theory §1.
"""

from __future__ import annotations

import os
from typing import Any

from semialg_fibers.geometry.arguments import advise, expect
from semialg_fibers.networks.layer import Network

READERS = {"torch": "from_torch", "onnx": "from_onnx", "sklearn": "from_sklearn", "keras": "from_keras"}


def expect_network(*values: object) -> None:
    """Refuse values that are no networks, such as the path of one.

    Raises:
        InvalidNetworkError: for the first of them.

    >>> expect_network("net.json")
    Traceback (most recent call last):
      ...
    semialg_fibers.errors.InvalidNetworkError: expected a Network, got the str 'net.json': read a file by read_network
    """
    for value in values:
        expect(value, Network)


def _advice(value: Any) -> str:
    if isinstance(value, str | bytes | os.PathLike):
        return "read a file by read_network"
    for kind in type(value).__mro__:
        if reader := READERS.get(kind.__module__.split(".")[0]):
            return f"{reader} makes one of it"
    return ""


advise(Network, _advice)
