"""What is asked of a network is asked of a Network.

Main results
    expect_network    refuses other values with one sentence, before anything is looked at

References: theory §1.
"""

from __future__ import annotations

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.networks.layer import Network


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
        if not isinstance(value, Network):
            shown = ascii(value) if isinstance(value, str | bytes | int | float) else ""
            shown = f"the {type(value).__name__} {shown[:50]}" if shown else f"a value of type {type(value).__name__}"
            advice = ": read a file by read_network" if isinstance(value, str | bytes) else ""
            raise InvalidNetworkError(f"expected a Network, got {shown}{advice}", value=value)
