"""All theorems that come with a proof, by name.

Main results
    THEOREMS     name → function that writes the derivation
    theorem      the derivation of one of them

References: theory §2.3, §3.2, §3.3, §8.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from semialg_fibers.errors import UnsupportedError
from semialg_fibers.verify.derivation import Derivation
from semialg_fibers.verify.relu_theorems import hiding_translation, orientation_flip, orientation_identity, sign_flip
from semialg_fibers.verify.unit_theorems import (
    layer_in_any_network,
    monomial_composition,
    monomial_inverse,
    monomial_symmetry,
    permutation_symmetry,
    positive_scaling,
)

THEOREMS: dict[str, Callable[[], Derivation]] = {
    "permutation_symmetry": permutation_symmetry,
    "permutation_symmetry_columns": partial(permutation_symmetry, "column"),
    "permutation_symmetry_batch": partial(permutation_symmetry, batch=True),
    "permutation_symmetry_three_layers": partial(permutation_symmetry, hidden=3),
    "layer_in_any_network": layer_in_any_network,
    "positive_scaling": positive_scaling,
    "monomial_symmetry": monomial_symmetry,
    "monomial_inverse": monomial_inverse,
    "monomial_composition": monomial_composition,
    "orientation_identity": orientation_identity,
    "orientation_flip": orientation_flip,
    "hiding_translation": hiding_translation,
    "sign_flip": sign_flip,
}


def theorem(name: str) -> Derivation:
    """Give the derivation of the theorem called `name`.

    Raises:
        UnsupportedError: when there is none; the message lists the names.

    >>> theorem("sign_flip").verify()
    True
    """
    if not isinstance(name, str) or name not in THEOREMS:
        raise UnsupportedError(f"there is no theorem called {ascii(name)[:50]}; there are {', '.join(THEOREMS)}")
    return THEOREMS[name]()
