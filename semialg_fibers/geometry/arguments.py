"""What a public function is given is what its annotations say, or refused by one sentence before anything is looked at.

Main results
    checked            a function whose arguments are compared with its annotations
    checked_methods    ... and some methods of a class
    expect             one value and one kind
    advise             what to say to somebody who gave something else instead of a kind
    whole_number       a whole number of any type: Python's, NumPy's, SymPy's
    entries            the entries of a SymPy column or row

`LEAST` and `MOST` bound arguments by their names: a budget is not negative, and there is at least one worker.

References: docs/conventions.md.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import operator
import os
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import Any, TypeVar, Union, get_args, get_origin

from semialg_fibers.errors import InvalidNetworkError

LEAST = dict.fromkeys(("budget", "most_parameters", "sweeps", "retries", "seconds"), 0) | dict.fromkeys(
    ("workers", "window", "most", "root_bits"), 1
)
MOST = {"steps": 100_000}
DIGITS = 300  # of a whole number, which is then a float, too
ELEMENTS = 100_000  # of a list that are looked at
WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    bytes: "bytes",
    tuple: "a tuple",
    type(None): "None",
    os.PathLike: "a path",
    Callable: "a function",
    Iterable: "a list",
    Sequence: "a list",
    Mapping: "a mapping",
}
PATH = {str, bytes, os.PathLike}
NUMBERS = (int, float)

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)
_ADVICE: dict[Any, Callable[[Any], str]] = {}


def advise(kind: type, advice: Callable[[Any], str]) -> None:
    """State what to say, after a colon, to somebody who gave a value where `kind` is expected; "" for nothing."""
    _ADVICE[kind] = advice


def checked(function: _Function) -> _Function:
    """Give the function, its arguments compared with its annotations at each call.

    Annotations whose names exist for type checkers only say nothing, as `Any` does.

    Raises:
        InvalidNetworkError: by the function, for an argument of another type, or below `LEAST` (place: its name).

    >>> @checked
    ... def searched(words: Sequence[str], budget: int = 10) -> int:
    ...     return budget
    >>> searched(["a"], budget=-1)
    Traceback (most recent call last):
      ...
    semialg_fibers.errors.InvalidNetworkError: budget: expected a whole number, at least 0, got the int -1
    """
    parameters = inspect.signature(function).parameters
    names = inspect.unwrap(function).__globals__
    kinds: dict[str, tuple[_Alternative, ...]] = {}  # filled at the first call, when all modules are there

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        if not kinds:
            read = {name: _alternatives(_kind(each.annotation, names)) for name, each in parameters.items()}
            kinds.update(read)
        given = [_expected(value, kinds[name], name) for name, value in zip(kinds, args, strict=False)]
        for name, value in named.items():
            if name in kinds:
                named[name] = _expected(value, kinds[name], name)
        return function(*given, *args[len(given) :], **named)  # too many, too few: Python's own words are right

    return call  # type: ignore[return-value]


def checked_methods(*names: str) -> Callable[[_Class], _Class]:
    """Give what does the same to the named methods of a class; of a dataclass also to `__init__`, its fields."""

    def change(kind: _Class) -> _Class:
        for name in names:
            setattr(kind, name, checked(vars(kind)[name]))
        return kind

    return change


def _kind(annotation: Any, names: dict[str, Any]) -> Any:
    if annotation is inspect.Parameter.empty:
        return Any
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names)
    except NameError:
        return Any


def expect(value: Any, kind: Any, name: str = "") -> Any:
    """Give a value of a kind, whole numbers as `int`.

    Raises:
        InvalidNetworkError: for a value of another kind (place: `argument`, `value`).

    >>> expect("net.json", int, "budget")
    Traceback (most recent call last):
      ...
    semialg_fibers.errors.InvalidNetworkError: budget: expected a whole number, at least 0, got the str 'net.json'
    """
    return _expected(value, _alternatives(kind), name)


def whole_number(value: Any) -> int | None:
    """Give a whole number as `int`, whoever's type it has; None for anything else, truth values included.

    >>> import sympy
    >>> whole_number(sympy.Integer(2)), whole_number(2.0), whole_number(True)
    (2, None, None)
    """
    return operator.index(value) if _is_whole(value) else None


def entries(value: Any) -> Any:
    """Give the entries of a SymPy column or row as a tuple, any other value as it is.

    >>> import sympy
    >>> entries(sympy.Matrix([1, 2])), entries([3])
    ((1, 2), [3])
    """
    return tuple(value) if _is_sympy_vector(value) else value


def _expected(value: Any, alternatives: tuple[_Alternative, ...], name: str) -> Any:
    own = type(value)
    if any(each.kind is Any or (each.kind is own and own not in NUMBERS and not each.members) for each in alternatives):
        return value
    kinds = [each.kind for each in alternatives]
    numeric = int in kinds or float in kinds
    least, most = (LEAST.get(name), MOST.get(name)) if numeric else (None, None)
    if isinstance(value, Iterator) and any(each.kind is Iterable and each.members for each in alternatives):
        value = tuple(value)  # to be looked at, and then worked through
    elif isinstance(value, Iterator) and Sequence in kinds:
        value = _of_iterator(value)
    elif Sequence in kinds or Iterable in kinds:
        value = entries(value)
    if bool in kinds and _is_numpy_bool(value):
        value = bool(value)
    if float in kinds and not isinstance(value, int | float):
        value = _as_float(value)
    if any(_is_of(value, each) for each in alternatives):
        if not numeric:
            return value
        if int in kinds and _is_whole(value):
            value = operator.index(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        if abs(value) < 10**DIGITS and (least is None or value >= least) and (most is None or value <= most):
            return value
    for each in alternatives:  # a list with a wrong member: name the first of these
        if each.members and _is_list(value, each.kind) and isinstance(value, Collection):
            for i, member in enumerate(islice(value, ELEMENTS)):
                _expected(member, each.members, f"{name}[{i}]")
    words = " or ".join(_words(kinds)) + (f", at least {least}" if least is not None else "")
    words += f" and at most {most:,}" if most is not None else ""
    if float in kinds and isinstance(value, float) and not isfinite(value):
        words = words.replace(WORDS[float], "a finite number", 1)
    elif numeric and isinstance(value, int | float) and abs(value) >= 10**DIGITS:
        words += f", of at most {DIGITS} digits"
    raise InvalidNetworkError(
        f"{name}{': ' if name else ''}expected {words}, got {told(value)}{_advice(value, kinds)}",
        argument=name,
        value=value,
    )


def told(value: Any) -> str:
    """Give a value in a few words.

    >>> told("net.json"), told(None), told([1, 2])
    ("the str 'net.json'", 'None', 'a value of type list')
    """
    if value is None:
        return "None"
    if isinstance(value, int) and abs(value) >= 10**DIGITS:
        return f"an {type(value).__name__} of more than {DIGITS:,} digits"
    if isinstance(value, str | bytes | int | float):
        return f"the {type(value).__name__} {ascii(value)[:50]}"
    return f"a value of type {type(value).__name__}"


def _advice(value: Any, kinds: Sequence[Any]) -> str:
    for kind, advice in _ADVICE.items():
        if kind in kinds and (words := advice(value)):
            return f": {words}"
    return ""


@dataclass(frozen=True)
class _Alternative:
    """A class, or `Any`; of a list also what its members are, () for anything."""

    kind: Any
    members: tuple[_Alternative, ...] = ()


@functools.cache
def _alternatives(kind: Any) -> tuple[_Alternative, ...]:
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if origin is tuple and parts and parts[1:] != (...,):
        return (_Alternative(Any),)  # a pair may come as a list, too
    if origin in (Union, types.UnionType):
        return tuple(each for part in parts for each in _alternatives(part))
    if origin in (Iterable, Sequence) or (origin is tuple and parts[1:] == (...,)):
        members = _alternatives(parts[0]) if parts else ()
        return (_Alternative(origin, () if any(each.kind is Any for each in members) else members),)
    return (_Alternative(type(None) if origin is None else origin),)


def _words(kinds: Sequence[Any]) -> Iterable[str]:
    is_path = set(kinds) >= PATH or os.PathLike in kinds
    if is_path:
        yield "a path"
    for kind in dict.fromkeys(kinds):
        if kind is type(None) or (is_path and kind in PATH):
            continue  # what may be left out need not be mentioned
        name = getattr(kind, "__name__", str(kind))
        yield WORDS.get(kind, f"{'an' if name[0] in 'AEIO' else 'a'} {name}")


def _is_whole(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


def _is_numpy_bool(value: Any) -> bool:
    """Whether it is NumPy's True or False; NumPy itself need not be there."""
    return type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")


def _is_sympy_vector(value: Any) -> bool:
    """Whether it is a matrix of SymPy with one row or one column and its entries at hand; SymPy need not be there."""
    return getattr(type(value), "is_Matrix", False) is True and hasattr(type(value), "flat") and 1 in value.shape


def _of_iterator(values: Iterator[Any]) -> Any:
    """Give what an iterator yields, the iterator itself where that is too much for a list that is looked at."""
    found = tuple(islice(values, ELEMENTS + 1))
    return found if len(found) <= ELEMENTS else values


def _as_float(value: Any) -> Any:
    """Give a real number of another type (Fraction, NumPy's, SymPy's) as a float, anything else as it is.

    What takes a float is a time, never a number of a network.
    """
    if isinstance(value, numbers.Real) and not _is_numpy_bool(value):
        try:
            return float(value)
        except (OverflowError, TypeError, ValueError):
            return value
    return value


def _is_of(value: Any, alternative: _Alternative) -> bool:
    kind = alternative.kind
    if kind is Any:
        return True
    if kind is int:
        return _is_whole(value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and value == value  # no nan
    if kind is Iterable or kind is Sequence:
        return _is_list(value, kind) and _are_of(value, alternative.members)
    if kind is tuple:
        return isinstance(value, tuple) and _are_of(value, alternative.members)
    return isinstance(value, kind) if isinstance(kind, type) else True


def _is_list(value: Any, kind: Any) -> bool:
    """Whether it can be worked through: text is no list, arrays are."""
    if isinstance(value, list | tuple) or _is_sympy_vector(value):
        return True
    if isinstance(value, str | bytes | Mapping) or not hasattr(type(value), "__iter__"):
        return False
    return kind is Iterable or (hasattr(value, "__len__") and hasattr(value, "__getitem__"))


def _are_of(values: Any, members: tuple[_Alternative, ...]) -> bool:
    if not members or not isinstance(values, list | tuple | Collection):
        return True
    return all(any(_is_of(each, member) for member in members) for each in islice(values, ELEMENTS))
