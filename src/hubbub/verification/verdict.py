"""The verdict on a signed file: what was checked, one thing after the other until something is wrong, who signed it, and
what is still lacking.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from hubbub.protocol.check import Check
from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that was checked, in order; the last check is the first that failed, if one did.

    `signer` is who signed it, as far as that is known: a name, "you", or None.
    """

    thing: ClassVar[str]  # what was signed
    checks: tuple[Check, ...]
    signer: str | None = None
    public_key: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing that was looked at is wrong."""
        return all(check.passed for check in self.checks)

    @property
    def failure(self) -> str:
        """What is wrong, in one sentence."""
        return f"The {self.thing} does not hold: {self.checks[-1].what}: {self.checks[-1].found}"

    @property
    def by(self) -> str:
        """Who signed it, in words."""
        if self.signer is None:
            return f"signed with an unknown key ({self.public_key})"
        return f"signed by {printable(self.signer)}"

    @property
    def trust(self) -> tuple[str, ...]:
        """What it would take for somebody known to have signed it; with marks."""
        if self.signer is not None:
            return ()
        return (
            "the key is unknown, and anybody can sign with a key of their own; get the publisher's key from the "
            "publisher, then give it with `key` or hubbub trust add",
        )

    def with_facts(
        self,
        verdict: str,
        *,
        complete: bool,
        files: Sequence[str],
        missing: Sequence[str],
        not_checked: Sequence[str],
        free: Sequence[str],
    ) -> dict[str, Any]:
        """As JSON: with what was compared, what was not there, and what nobody can check."""
        return {
            "passed": self.passed,
            "whole": complete,
            "verdict": verdict,
            "signer": self.signer,
            "public_key": self.public_key,
            "files": list(files),
            "files_missing": list(missing),
            "checks": [{"what": each.what, "passed": each.passed, "found": each.found} for each in self.checks],
            "not_checked": list(not_checked) if self.passed else [],
            "free_text": list(free) if self.passed else [],
        }


# --- one check after the other ------------------------------------------------------------------------------------


class Failed(Exception):
    """A check failed and is in the list; later checks are skipped."""


class Notes:
    """The list of checks made so far. A check that fails ends the verification."""

    def __init__(self) -> None:
        self.done: list[Check] = []

    def note(self, what: str, passed: bool, found: str = "", *, wrong: str = "") -> None:
        """Record one check: what was found, or what is wrong."""
        self.add(Check(what, passed, found if passed else wrong or found))

    def add(self, check: Check) -> None:
        """Record a check that another function made."""
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
