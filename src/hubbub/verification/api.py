"""Certificates by the names of their files: checked against who is trusted, and told in plain words.

This is ``hubbub.verify`` and ``hubbub.explain``, for Python and the command line alike.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.certificate.certificate import about
from hubbub.certificate.explanation import explain_release
from hubbub.errors import CheckFailed
from hubbub.ledger import trust
from hubbub.protocol.release import Release
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.progress import working
from hubbub.verification import Checked, load
from hubbub.verification import verify as check

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Derivation


def verify(
    certificate: str | os.PathLike[str],
    *,
    release: str | os.PathLike[str] | None = None,
    official: str | os.PathLike[str] | None = None,
    key: str | None = None,
    dataset: str | None = None,
) -> Checked:
    """Check a certificate without the data: its signature, the files beside it, and every number, worked out again.

    `release` is the published file, if it is not beside the certificate, and `official` the official record of an
    election, where ballots were published beside one; `key` who must have signed, as a trusted
    name, a key or a file with it; `dataset` which dataset it must be about. Look at `passed`, `complete` and `verdict`.

    Guarantee: that of :func:`hubbub.verification.verify`.
    """
    path = Path(certificate)
    whose = None if key is None else trust.key_of(key)
    file = None if release is None else Path(release)
    record = None if official is None else Path(official)
    with working("Checking"):
        return check(
            load(path),
            folder=path.parent,
            release=file,
            official=record,
            key=whose,
            dataset=dataset,
            known=trust.signer,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A release in plain words: what was published, what is promised and to whom, and what is not."""

    about: str
    text: str
    promises: tuple[Derivation, ...]
    software: str = ""  # that made it, as its certificate says

    def __str__(self) -> str:
        return self.text

    def as_json(self) -> dict[str, Any]:
        return {
            "about": self.about,
            "text": self.text,
            "promises": [str(step.conclusion) for step in self.promises],
            "guarantees": [about(step.conclusion, step.people) for step in self.promises],
        }


def explain(what: Release | str | os.PathLike[str]) -> Explained:
    """Say in plain words what a release, or the certificate in a file, promises, to whom, and what it does not promise.

    A certificate is checked first, and not explained if it does not hold; who signed it is another question.
    """
    if isinstance(what, Release):
        reservation = what.reservation
        where = "a release" if reservation is None else f"a release of {reservation.dataset}"
        return Explained(about=where, text=explain_release(what.bound, what.reading), promises=what.promises)
    with working("Checking"):
        done = check(load(Path(what)))
    if not done.passed or done.bound is None or done.certificate is None:
        wrong = done.checks[-1]
        raise CheckFailed(f"the certificate does not hold, so it is not explained: {wrong.what}: {wrong.found}")
    return Explained(
        about=f"a release of {done.certificate['ledger']['dataset']}",
        text=explain_release(done.bound, done.certificate["reading"]),
        promises=done.promises,
        software=f"{done.certificate['software']}",
    )
