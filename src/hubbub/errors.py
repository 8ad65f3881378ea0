"""Every error that Hubbub raises on purpose.

::

    HubbubError
    ├── WrongUse        exit 2   a parameter or a call that cannot be right
    │   └── FloatRefused         a binary float where an exact number is needed
    ├── Refused         exit 3   understood, and not done: a law of the house forbids it
    └── CheckFailed     exit 4   a claim was checked and does not hold

One sentence each: what, the rule, what was given, the next step. A message names parameters
and columns; it never repeats a value that came from the data.
"""

from __future__ import annotations

from typing import ClassVar


class HubbubError(Exception):
    """The root: catch this to catch everything Hubbub raises on purpose."""

    exit_code: ClassVar[int] = 1


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
