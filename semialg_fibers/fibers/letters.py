"""The variables of a fiber and the symbols of its parametrisations.

Main definitions
    Letters         the variables W1_0_0, ..., b1_0, ... of networks of given widths
    FreshSymbols    symbols λ, μ, t, ... that are none of the letters of the given network

References: theory §1; docs/conventions.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from semialg_fibers.geometry.semialgebraic import symbols_for

if TYPE_CHECKING:
    import sympy


def parameter_names(widths: Sequence[int]) -> list[str]:
    """Give the names in the order W1 (row by row), b1, W2, b2, ...

    >>> parameter_names((1, 1, 1))
    ['W1_0_0', 'b1_0', 'W2_0_0', 'b2_0']
    """
    names = []
    for number, (inputs, outputs) in enumerate(pairwise(widths), 1):
        names += [f"W{number}_{i}_{j}" for i in range(outputs) for j in range(inputs)]
        names += [f"b{number}_{i}" for i in range(outputs)]
    return names


class Letters:
    """The variables of networks of given widths, as SymPy symbols."""

    def __init__(self, widths: Sequence[int]) -> None:
        """Make one real symbol for each parameter."""
        self.variables = symbols_for(parameter_names(widths))
        self._by_name = {symbol.name: symbol for symbol in self.variables}

    def weight(self, layer: int, i: int, j: int) -> sympy.Symbol:
        """Give the weight into unit i from unit j of layer `layer` (from 1)."""
        return self._by_name[f"W{layer}_{i}_{j}"]

    def bias(self, layer: int, i: int) -> sympy.Symbol:
        """Give the bias of unit i of layer `layer` (from 1)."""
        return self._by_name[f"b{layer}_{i}"]


class FreshSymbols:
    """Symbols whose names are none of the letters': an underscore is appended where they would be."""

    def __init__(self, letters: Sequence[sympy.Symbol]) -> None:
        """Keep the names that are taken."""
        self._taken = {letter.name for letter in letters}

    def real(self, name: str) -> sympy.Symbol:
        """Give a real symbol."""
        import sympy

        return sympy.Symbol(self._fresh(name), real=True)

    def positive(self, name: str) -> sympy.Symbol:
        """Give a positive symbol."""
        import sympy

        return sympy.Symbol(self._fresh(name), positive=True)

    def _fresh(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        return name
