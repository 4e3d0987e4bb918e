"""What may be put in for the variables and letters of a set.

Main results
    read_values       numbers for variables, numbers or expressions in letters for letters, each checked
    refuse_letters    the sentence for a question that needs numbers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, UndecidedSignError
from semialg_fibers.geometry.scalar import exact, sympy_rational

if TYPE_CHECKING:
    import sympy

SIGNS = ("positive", "negative", "nonzero", "nonnegative", "nonpositive")


def refuse_letters(letters: Sequence[sympy.Symbol]) -> None:
    """Raise when there are letters.

    Raises:
        InvalidNetworkError: naming them (`.letters`).
    """
    if letters:
        names = tuple(letter.name for letter in letters)
        raise InvalidNetworkError(
            f"the set has the letters {', '.join(names)}: give them numbers with .subs({{letter: number}}) first",
            letters=names,
        )


def read_values(
    values: Mapping[Any, Any], variables: Sequence[sympy.Symbol], letters: Sequence[sympy.Symbol]
) -> dict[sympy.Symbol, sympy.Expr]:
    """Read {symbol or name: value}: exact numbers, and for letters also expressions in other letters.

    Raises:
        InvalidNetworkError: for a symbol that is neither, or a number that a letter's assumptions exclude.
        InexactInputError: for floats.
        UndecidedSignError: for an expression that is not known to meet the assumptions (`.expression`).
    """
    own = {symbol.name: symbol for symbol in (*variables, *letters)}
    read: dict[sympy.Symbol, sympy.Expr] = {}
    for key, value in values.items():
        if str(key) not in own:
            raise InvalidNetworkError(f"{key} is neither a variable nor a letter of this set", value=str(key))
        symbol = own[str(key)]
        if symbol in variables or not getattr(value, "free_symbols", None):
            read[symbol] = sympy_rational(exact(value))
        else:
            read[symbol] = _in_letters(value, variables)
        if symbol not in variables:
            _check_signs(symbol, read[symbol])
    return read


def _in_letters(value: sympy.Expr, variables: Sequence[sympy.Symbol]) -> sympy.Expr:
    import sympy

    if value.atoms(sympy.Float):
        raise InexactInputError(f"{value} contains a float: write fractions", value=value)
    names = {symbol.name for symbol in value.free_symbols} & {variable.name for variable in variables}
    if names:
        raise InvalidNetworkError(
            f"{value} contains the variable {min(names)}; a letter becomes a number or an expression in letters"
        )
    return value


def _check_signs(letter: sympy.Symbol, value: sympy.Expr) -> None:
    for sign in SIGNS:
        known = getattr(value, f"is_{sign}")
        if not getattr(letter, f"is_{sign}") or known:
            continue
        if known is None:
            raise UndecidedSignError(
                f"{letter} is {sign}, and {value} is not known to be: assume it of its letters", expression=value
            )
        raise InvalidNetworkError(f"{letter} is {sign}, {value} is not", value=str(value))
