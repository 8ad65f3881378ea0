"""Ballots that a page counts or publishes: a file in the folder, or the invented election of Millbrook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hubbub.demo import council
from hubbub.voting.formats.ballot_file import BallotFile

EXAMPLE: Final = council.NAME


def opened(file: str, rules: str | None = None, rule: str = "publishing ballots") -> tuple[BallotFile, str | None]:
    """The ballots of a file, read by the rules of a place if one is named; and the path, None if they are invented."""
    from hubbub.voting.formats import formats
    from hubbub.voting.formats.reading import Reading
    from hubbub.voting.rules.jurisdictions import rule_set

    reading = Reading() if rules is None else rule_set(rules).reading(Reading())
    if file == EXAMPLE:
        return BallotFile(ballots=council.ballots(), format="invented", title=council.TITLE, reading=reading), None
    return formats.for_rule(formats.read(file, reading), rule), file


def read_again(path: str, record: Mapping[str, Any]) -> BallotFile:
    """The ballots of a file, or the invented ones, read as a record of a count says."""
    from hubbub.voting.count import record as records
    from hubbub.voting.formats.reading import Reading

    if path != EXAMPLE:
        return records.read_again(record, path)
    reading = Reading.from_json(record.get("reading") or {})
    return BallotFile(ballots=council.ballots(), format="invented", title=council.TITLE, reading=reading)
