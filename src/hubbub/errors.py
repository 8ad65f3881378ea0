"""Every error that Hubbub raises on purpose.

::

    HubbubError
    ├── WrongUse        exit 2   a parameter or a call that cannot be right
    │   └── FloatRefused         a binary float where an exact number is needed
    ├── Refused         exit 3   understood, and not done: a law of the house forbids it
    └── CheckFailed     exit 4   a claim was checked and does not hold

One sentence each: what, the rule, what was given, the next step. A message names parameters
and columns; it never repeats a value that came from the data.

A parameter stands between backquotes, alone or with a value, as Python has it: `` `crowd` ``, `` `crowd=20` ``,
`` `scale_up=True` ``. Whoever shows the message spells it: ``str(error)`` as Python, the command line as flags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar, Final

_MARK: Final = re.compile(r"`([A-Za-z]\w*)(?:=([^`]*))?`")

Spelling = Callable[[str], str]
"""From a text with marks to a text that somebody can act on."""


def in_python(text: str) -> str:
    """Parameters as keywords.

    >>> in_python("`rate` is left out without `scale_up=True`")
    'rate is left out without scale_up=True'
    """
    return _MARK.sub(lambda mark: mark[0][1:-1], text)


def in_shell(text: str) -> str:
    """Parameters as flags.

    >>> in_shell("`at_delta` goes with `crowd=20`, `scale_up=True` or `header=False`")
    '--at-delta goes with --crowd 20, --scale-up or --no-header'
    """

    def flag(mark: re.Match[str]) -> str:
        name, value = mark[1].replace("_", "-"), mark[2]
        return f"--no-{name}" if value == "False" else f"--{name}" if value in (None, "True") else f"--{name} {value}"

    return _MARK.sub(flag, text)


def install(extra: str) -> str:
    """How to get what an extra brings; by name the package index would give somebody else's package, or none."""
    return f"run pip install '.[{extra}]' in your clone of Hubbub"


class HubbubError(Exception):
    """The root: catch this to catch everything Hubbub raises on purpose."""

    exit_code: ClassVar[int] = 1

    @property
    def marked(self) -> str:
        """The message with its marks, to be spelt by whoever shows it."""
        return Exception.__str__(self)

    def __str__(self) -> str:
        return in_python(self.marked)


class WrongUse(HubbubError):
    """The call cannot be right, whatever the data say."""

    exit_code: ClassVar[int] = 2


class FloatRefused(WrongUse):
    """A binary float was given where an exact number is needed."""


class Refused(HubbubError):
    """The call is understood and is not carried out, because a law of the house forbids it."""

    exit_code: ClassVar[int] = 3


class CheckFailed(HubbubError):
    """A claim was checked and does not hold."""

    exit_code: ClassVar[int] = 4


@contextmanager
def writing(what: str, another: str = "file") -> Iterator[None]:
    """Whatever the disk refuses in the block, in one sentence."""
    try:
        yield
    except OSError as error:
        raise WrongUse(f"{what} cannot be written: {error.strerror or error}; choose another {another}") from error
