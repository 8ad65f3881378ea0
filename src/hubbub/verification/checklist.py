"""What was checked, one thing after the other, until something is wrong."""

from __future__ import annotations

from hubbub.protocol.check import Check


class Failed(Exception):
    """Something is wrong, and is noted; nothing after it is looked at."""


class Notes:
    """The checks so far. One that does not pass ends the looking."""

    def __init__(self) -> None:
        self.done: list[Check] = []

    def note(self, what: str, passed: bool, found: str = "", *, wrong: str = "") -> None:
        """Note one thing: what was found, or what is wrong with it."""
        self.add(Check(what, passed, found if passed else wrong or found))

    def add(self, check: Check) -> None:
        """Note what somebody else looked at."""
        printed = Check(printable(check.what), check.passed, printable(check.found))
        if printed not in self.done:  # several promises may rest on one step
            self.done.append(printed)
        if not check.passed:
            raise Failed


def printable(text: str) -> str:
    """A certificate's own words on one line, so that they cannot pass for ours."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)
