"""What is known of a component's set once values stand for letters of the given network.

Main results
    anew    the sampler and the dimension of a part, built from the component for these values

A component may not exist for some values: then nothing is stated of its set, which is empty there.

References: theory §5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from semialg_fibers.errors import SemialgError
from semialg_fibers.geometry.semialgebraic import Anew


def anew(component: Any, known: Callable[[Any], tuple[Any, int | None]]) -> Anew:
    """Give, for values of the letters, what is `known` (sampler, dimension) of the component for these values.

    Nothing where the component does not exist or that is open; no sampler as long as letters are left.
    """

    def at(values: Mapping[Any, Any]) -> tuple[Any, int | None]:
        try:
            made = component.subs(values)
            sampler, dimension = known(made)
        except SemialgError:
            return None, None
        return None if made.letters else sampler, dimension

    return at
