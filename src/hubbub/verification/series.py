"""Check the folder of all periods of a series: each certificate, and that together they are one series under one promise."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.protocol.capabilities import PartOfSeries
from hubbub.protocol.check import Check
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.published_files import CERTIFICATE
from hubbub.verification import Checked, load, verify

MOST: Final = 10_000
"""Folders that are looked into."""


@dataclass(frozen=True, slots=True)
class SeriesChecked:
    """The periods of a series, each checked, and what holds of all of them."""

    periods: tuple[tuple[str, Checked], ...]  # by the name of their folder
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every certificate holds, and all of them are one series."""
        return all(done.passed for _, done in self.periods) and all(check.passed for check in self.checks)

    @property
    def complete(self) -> bool:
        """Whether somebody known signed each of them, and every file was there."""
        return self.passed and all(done.complete for _, done in self.periods)

    @property
    def verdict(self) -> str:
        """All of it in one sentence."""
        wrong = next((f"{where}: {done.verdict}" for where, done in self.periods if not done.passed), None)
        if wrong is not None:
            return wrong
        failed = next((check for check in self.checks if not check.passed), None)
        if failed is not None:
            return f"The periods are not one series: {failed.found}."
        many = len(self.periods)
        return f"{many:,} periods are one series under one promise, and every number follows."

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "passed": self.passed,
            "complete": self.complete,
            "checks": [{"what": each.what, "passed": each.passed, "found": each.found} for each in self.checks],
            "periods": {where: done.as_json() for where, done in self.periods},
        }


def is_series(folder: str | os.PathLike[str]) -> bool:
    """Whether it is a folder of folders with certificates."""
    path = Path(folder)
    return path.is_dir() and not (path / CERTIFICATE).exists() and bool(certificates_in(path))


def certificates_in(folder: Path) -> list[Path]:
    """The certificates in the folders of a folder."""
    try:
        found = [each.path for each in os.scandir(folder) if each.is_dir(follow_symlinks=False)][:MOST]
    except OSError:
        return []
    return sorted(Path(each) / CERTIFICATE for each in found if os.path.isfile(Path(each) / CERTIFICATE))


def verify_series(
    folder: str | os.PathLike[str], *, key: str | None = None, known: Callable[[str], str | None] = lambda key: None
) -> SeriesChecked:
    """Check every certificate in the folders of a folder, and that they are the periods of one series.

    Guarantee: if it passes, each certificate holds; one key signed them all, or every key is known; all of them have one place in one ledger and one description of the
    series, so one promise covers them; every period up to the last is there once or is said to be missed; and what each
    file says was drawn in a period is the same in all of them, so that every total follows from the same numbers.
    """
    paths = certificates_in(Path(folder))
    if not paths:
        raise WrongUse(f"there are no periods of a series in {str(folder)[:200]!r}; give the folder that holds theirs")
    found = [(path, verify(load(path), folder=path.parent, key=key, known=known)) for path in paths]
    verdicts = tuple((path.parent.name, done) for path, done in found)
    if not all(done.passed for _, done in found):
        return SeriesChecked(verdicts, ())
    return SeriesChecked(verdicts, tuple(_check_series(found)))


def _check_series(found: list[tuple[Path, Checked]]) -> list[Check]:
    parts: list[tuple[Path, Checked, PartOfSeries]] = []
    for path, done in found:
        spec: object = done.spec
        if not isinstance(spec, PartOfSeries):
            return [Check("periods of a series", False, f"{path.parent.name} is none")]
        parts.append((path, done, spec))
    entries = {tuple(sorted(done.certificate["ledger"].items())) for _, done, _ in parts if done.certificate}
    first = parts[0][2].part
    alike = len(entries) == 1 and all(spec.part.series == first.series for _, _, spec in parts)
    keys = {done.public_key for _, done, _ in parts}
    known = len(keys) == 1 or all(done.signer is not None for _, done, _ in parts)
    several = f"they are signed with {len(keys):,} keys, and not all of them are known"
    checks = [
        Check("who signed them", known, "one key, or several that are known" if known else several),
        Check("one promise", alike, "they have one place in one ledger" if alike else "they have several promises"),
    ]
    parts.sort(key=lambda each: each[2].part.index)
    labels = [spec.part.period for _, _, spec in parts]
    twice = len(set(labels)) < len(labels)
    checks.append(Check("each period once", not twice, "a period is there twice" if twice else "none is there twice"))
    last = parts[-1][2].part
    lacking = [label for label in last.earlier if label not in labels and label not in last.missed]
    odd = [label for label in last.missed if label in labels]
    complete = not lacking and not odd
    words = f"not there: {', '.join(lacking)}" if lacking else f"published and said to be missed: {', '.join(odd)}"
    checks.append(Check("no period is lacking", complete, "all are there or said to be missed" if complete else words))
    if all(check.passed for check in checks):
        checks.append(_same_numbers(parts))
    return checks


def _same_numbers(parts: list[tuple[Path, Checked, PartOfSeries]]) -> Check:
    what = "what was drawn is the same in every file"
    try:
        drawn = [spec.drawn_digests(done.published(path.parent)) for path, done, spec in parts]
    except Exception as error:
        return Check(what, False, f"{error}")
    newest = drawn[-1]
    wrong = next(
        (spec.part.period for (_, _, spec), own in zip(parts, drawn, strict=True) if own != newest[: len(own)]), ""
    )
    return Check(what, not wrong, f"{wrong} has other numbers than a later period says" if wrong else "it is")
