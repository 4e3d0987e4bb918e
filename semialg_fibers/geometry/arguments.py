"""What a public function is given is what its annotations say, or refused by one sentence before anything is looked at.

Main results
    checked            a function whose arguments are compared with its annotations
    checked_methods    ... and some methods of a class
    expect             one value and one kind
    advise             what to say to somebody who gave something else instead of a kind

`LEAST` and `MOST` bound arguments by their names: a budget is not negative, and there is at least one worker.

References: docs/conventions.md.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar, Union, get_args, get_origin

from semialg_fibers.errors import InvalidNetworkError

LEAST = dict.fromkeys(("budget", "most_parameters", "sweeps", "retries", "seconds"), 0) | dict.fromkeys(
    ("workers", "window", "most", "steps", "root_bits"), 1
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
    semialg_fibers.errors.InvalidNetworkError: budget: expected a whole number ≥ 0, got the int -1
    """
    signature = inspect.signature(function)
    names = inspect.unwrap(function).__globals__
    kinds: dict[str, Any] = {}  # filled at the first call, when all modules are there

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        if not kinds:
            kinds.update({name: _kind(each.annotation, names) for name, each in signature.parameters.items()})
        try:
            bound = signature.bind(*args, **named)
        except TypeError:  # too many arguments, or too few: Python's own words are the right ones
            return function(*args, **named)
        for name, value in bound.arguments.items():
            bound.arguments[name] = expect(value, kinds[name], name)
        return function(*bound.args, **bound.kwargs)

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
    semialg_fibers.errors.InvalidNetworkError: budget: expected a whole number ≥ 0, got the str 'net.json'
    """
    kinds = _alternatives(kind)
    numeric = bool({int, float} & set(kinds))
    least, most = (LEAST.get(name), MOST.get(name)) if numeric else (None, None)
    if isinstance(value, Iterator) and any(get_args(each) and get_origin(each) is Iterable for each in kinds):
        value = tuple(value)  # to be looked at, and then worked through
    if any(_is_of(value, each) for each in kinds):
        if int in kinds and _is_whole(value):
            value = operator.index(value)
        if not numeric or isinstance(value, bool) or not isinstance(value, int | float):
            return value
        if abs(value) < 10**DIGITS and (least is None or value >= least) and (most is None or value <= most):
            return value
    words = " or ".join(_words(kinds)) + (f" ≥ {least}" if least is not None else "")
    words += f" and ≤ {most}" if most is not None else ""
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


def _alternatives(kind: Any) -> list[Any]:
    if get_origin(kind) in (Union, types.UnionType):
        return [each for part in get_args(kind) for each in _alternatives(part)]
    return [type(None) if kind is None else kind]


def _words(kinds: Sequence[Any]) -> Iterable[str]:
    plain = [get_origin(kind) or kind for kind in kinds]
    is_path = set(plain) >= PATH or os.PathLike in plain
    if is_path:
        yield "a path"
    for kind in dict.fromkeys(plain):
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


def _is_of(value: Any, kind: Any) -> bool:
    origin = get_origin(kind) or kind
    if origin is Any:
        return True
    if origin is int:
        return _is_whole(value)
    if origin is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and value == value  # no nan
    if origin in (Iterable, Sequence):
        return _is_list(value, origin, get_args(kind))
    if origin is tuple and get_args(kind)[1:] == (...,):
        return isinstance(value, tuple) and _is_list(value, Sequence, get_args(kind))
    return isinstance(value, origin) if isinstance(origin, type) else True


def _is_list(value: Any, origin: Any, parts: Sequence[Any]) -> bool:
    """Whether it is a list of such things: text is none, arrays are, an iterator is not looked into."""
    if isinstance(value, str | bytes | Mapping) or not hasattr(type(value), "__iter__"):
        return False
    if origin is Sequence and not (hasattr(value, "__len__") and hasattr(value, "__getitem__")):
        return False
    if not parts or not isinstance(value, Collection):
        return True
    kinds = _alternatives(parts[0])
    return Any in kinds or all(any(_is_of(each, kind) for kind in kinds) for each in islice(value, ELEMENTS))
