"""Every exception of the package, in one tree.

    SemialgError
    ├── InvalidNetworkError
    ├── InexactInputError
    ├── NotGenericError
    ├── UndecidedSignError
    ├── UnsupportedError
    ├── BudgetExceededError
    └── CertificateRejected

Each carries the offending place as attributes, so that a caller need not parse the sentence.
"""

from __future__ import annotations

from typing import Any

LONGEST = 900  # characters of a message


def one_line(message: str) -> str:
    r"""Give the sentence as one line of bounded length, whatever it quotes.

    >>> one_line("no layer is called\n'a\x1b[31m'")
    "no layer is called 'a [31m'"
    """
    if not message.isprintable():
        message = " ".join("".join(char if char.isprintable() else " " for char in message).split())
    return message if len(message) <= LONGEST else f"{message[: LONGEST - 200]} ... {message[-150:]}"


class SemialgError(Exception):
    """The root: anything that this package refuses, with the sentence that says why."""

    def __init__(self, message: str, **place: Any) -> None:
        """Keep the sentence and the place (`layer`, `row`, `column`, `file`, `line`, `value`, ...).

        A sentence is one line of bounded length, whatever it quotes.
        """
        message = one_line(message)
        super().__init__(message)
        self.message = message
        self.place = place

    def __getattr__(self, name: str) -> Any:
        """Give the parts of the place as attributes; a part that was not named is an AttributeError."""
        place = self.__dict__.get("place", {})
        if name in place:
            return place[name]
        raise AttributeError(name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the place, so that an error survives the way back from a worker process."""
        return _rebuild, (type(self), self.message, self.place)


def _rebuild(kind: type[SemialgError], message: str, place: dict[str, Any]) -> SemialgError:
    return kind(message, **place)


class InvalidNetworkError(SemialgError):
    """The data do not describe a network, a domain, or a parameter of one."""


class InexactInputError(SemialgError):
    """A number came without an exact value: a float, NaN or infinity."""


class NotGenericError(SemialgError):
    """A hypothesis of the theorem is violated; `.report` is the `Genericity` that names it."""


class UndecidedSignError(SemialgError):
    """The assumptions on the symbols do not decide the sign of `.expression`."""


class UnsupportedError(SemialgError):
    """No theorem applies to this kind of input."""


class BudgetExceededError(SemialgError):
    """The stated budget ended before the answer was found; nothing is claimed."""


class CertificateRejected(SemialgError):
    """A certificate did not survive its check."""
