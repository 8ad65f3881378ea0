"""Ballots that a page counts or publishes: a file in the folder, or the invented election of Millbrook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hubbub.demo import council
from hubbub.errors import WrongUse
from hubbub.voting.formats.ballot_file import BallotFile

if TYPE_CHECKING:
    from hubbub.voting.rctab.record import OfficeFile

EXAMPLE: Final = council.NAME


def opened(
    file: str,
    rules: str | None = None,
    rule: str = "publishing ballots",
    contest: str | None = None,
    columns: str | None = None,
) -> tuple[BallotFile, str | None]:
    """The ballots of a file or folder, read by the rules of a place if one is named; and the path, None if they are
    invented."""
    from hubbub.voting.formats import formats
    from hubbub.voting.formats.csv_columns import parse_columns
    from hubbub.voting.formats.reading import Reading
    from hubbub.voting.formats.several import read_all
    from hubbub.voting.rules.jurisdictions import rule_set

    reading = Reading() if rules is None else rule_set(rules).reading(Reading())
    if file == EXAMPLE:
        return BallotFile(ballots=council.ballots(), format="invented", title=council.TITLE, reading=reading), None
    named = parse_columns(columns) if columns else None
    return formats.for_rule(read_all(file, reading, contest=contest, columns=named), rule), file


def opened_office(path: str, root: Path) -> OfficeFile | None:
    """What a configuration of RCTab says, with the ballots of its files, all of them inside `root`; None for another
    kind of file. In a folder the configuration is looked for."""
    from hubbub.voting.formats.vendors.rctab_config import is_configuration, read_configuration
    from hubbub.voting.rctab.record import read_office

    at = Path(path)
    if at.is_dir():
        found = [each for each in sorted(at.glob("*.json")) if is_configuration(each)]
        if len(found) != 1:
            return None
        at = found[0]
    if path == EXAMPLE or not is_configuration(at):
        return None
    for source in read_configuration(at).sources:
        if not source.path.resolve().is_relative_to(root.resolve()):
            raise WrongUse("the configuration names a file outside of this folder; put its files beside it")
    return read_office(at)


def read_again(paths: Sequence[str], record: Mapping[str, Any]) -> BallotFile | OfficeFile:
    """The ballots of files, or the invented ones, read as a record of a count says."""
    from hubbub.voting.formats.reading import Reading
    from hubbub.voting.rctab.record import ballots_again

    if list(paths) != [EXAMPLE]:
        return ballots_again(record, paths)
    reading = Reading.from_json(record.get("reading") or {})
    return BallotFile(ballots=council.ballots(), format="invented", title=council.TITLE, reading=reading)
