"""What may be put in for the variables and letters of a set.

Main results
    read_values       numbers for variables, numbers or expressions in letters for letters, each checked
    read_point        a point as numbers by name
    plain_variables   variables that carry assumptions, and the plain real symbols that replace them
    without_trivial   conditions without those that hold anyway
    fails             whether one of the others is on numbers: then nothing is left
    combined, lowered what is known of a set for values of its letters, after earlier values, after a projection
    refuse_letters    the sentence for a question that needs numbers
    refuse_twins      the sentence for two different symbols of one name
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flint import fmpq

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, UndecidedSignError
from semialg_fibers.geometry.arguments import expect
from semialg_fibers.geometry.reading import sympy_expression
from semialg_fibers.geometry.scalar import exact, quantity, shown, sympy_rational, vector

if TYPE_CHECKING:
    import sympy

SIGNS = ("positive", "negative", "nonzero", "nonnegative", "nonpositive")


def refuse_twins(symbols: Iterable[sympy.Symbol]) -> None:
    """Refuse two different symbols of one name: a reader, and every export, would take them for one."""
    twice = [name for name, number in Counter(symbol.name for symbol in symbols).items() if number > 1]
    if twice:
        raise InvalidNetworkError(
            f"two different symbols are called {twice[0]}: they differ in their assumptions", value=twice[0]
        )


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


def read_point(
    point: Mapping[Any, Any] | Iterable[Any], variables: Sequence[sympy.Symbol], letters: Sequence[sympy.Symbol]
) -> dict[str, fmpq]:
    """Read a point: a mapping from variables (or their names) to numbers, or numbers in the order of the variables.

    Raises:
        InvalidNetworkError: when a coordinate is missing or there are too many, or letters have no number.
    """
    refuse_letters(letters)
    if isinstance(point, Mapping):
        read = {str(key): exact(value) for key, value in point.items()}
    else:
        numbers = vector(point)
        if len(numbers) != len(variables):
            raise InvalidNetworkError(f"expected {quantity(len(variables), 'coordinate')}, got {len(numbers)}")
        read = {variable.name: value for variable, value in zip(variables, numbers, strict=True)}
    missing = [variable.name for variable in variables if variable.name not in read]
    if missing:
        raise InvalidNetworkError(f"the point gives no value for {missing[0]}", value=missing[0])
    return read


def read_variables(variables: Iterable[Any]) -> tuple[sympy.Symbol, ...]:
    """Read the variables of a set.

    Raises:
        InvalidNetworkError: for what is no list of SymPy symbols.
    """
    import sympy

    read = tuple(expect(variables, Iterable[Any], "variables"))
    for variable in read:
        if not isinstance(variable, sympy.Symbol):
            raise InvalidNetworkError(f"a variable is a SymPy symbol, got {shown(variable)}", value=variable)
    return read


def name_of(variable: Any) -> str:
    """Give the name of a variable that is given as a symbol or by its name; a short text for anything else."""
    return variable if isinstance(variable, str) else getattr(variable, "name", None) or shown(variable)


def read_conditions(given: Iterable[Any], where: str) -> tuple[sympy.Expr, ...]:
    """Read the left sides of equations or inequalities; text is never evaluated.

    Raises:
        InexactInputError: for floats.
        InvalidNetworkError: for what is no list of SymPy expressions.

    >>> read_conditions(["x"], "equations")
    Traceback (most recent call last):
      ...
    semialg_fibers.errors.InvalidNetworkError: equations[0] is 'x', expected a number or a SymPy expression
    """
    return tuple(
        sympy_expression(value, f"{where}[{i}]") for i, value in enumerate(expect(given, Iterable[Any], where))
    )


def plain_variables(variables: Sequence[sympy.Symbol]) -> dict[sympy.Symbol, sympy.Symbol]:
    """Give the plain real symbol for each variable that carries assumptions.

    Raises:
        InvalidNetworkError: for a variable that is no real number.

    >>> import sympy
    >>> plain_variables(sympy.symbols("x y")), plain_variables([sympy.Symbol("p", positive=True)])
    ({}, {p: p})
    """
    import sympy

    found = {}
    for variable in variables:
        if variable.is_extended_real is False or variable.is_finite is False or not variable.is_commutative:
            raise InvalidNetworkError(f"the variable {variable} is not a real number", value=str(variable))
        real = sympy.Symbol(variable.name, real=True)
        if variable != real and variable.assumptions0 != {"commutative": True}:
            found[variable] = real
    return found


Conditions = tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]


def without_trivial(
    conditions: Conditions, headings: Sequence[tuple[int, str]]
) -> tuple[Conditions, tuple[tuple[int, str], ...]]:
    """Leave out conditions (= 0, > 0, ≥ 0) on numbers that hold; headings go to their new places."""
    equations, positive, nonnegative = conditions
    kept = [not (e.is_number and e == 0) for e in equations]
    left = (
        tuple(e for e, keeps in zip(equations, kept, strict=True) if keeps),
        tuple(e for e in positive if not (e.is_number and e > 0)),
        tuple(e for e in nonnegative if not (e.is_number and e >= 0)),
    )
    return left, tuple((sum(kept[:i]), said) for i, said in headings)


def fails(conditions: Iterable[Iterable[Any]]) -> bool:
    """Say whether some condition is on numbers; those that hold are left out, so it fails."""
    return any(e.is_number for kind in conditions for e in kind)


Known = tuple[Any, "int | None"]


def combined(anew: Callable[[Mapping[Any, Any]], Known], first: Mapping[Any, Any]) -> Callable[..., Known]:
    """Give `anew` for values that are put in after the first ones."""

    def later(more: Mapping[Any, Any]) -> Known:
        return anew({**more, **{key: value.subs(more, simultaneous=True) for key, value in first.items()}})

    return later


def lowered(anew: Callable[[Mapping[Any, Any]], Known] | None, lost: int) -> Callable[..., Known] | None:
    """Give `anew` for a projection that loses so many dimensions."""
    if anew is None:
        return None

    def later(values: Mapping[Any, Any]) -> Known:
        sampler, dimension = anew(values)
        return sampler, None if dimension is None else dimension - lost

    return later
