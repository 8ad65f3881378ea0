"""``hubbub vote tally --config``: an office's own count, from RCTab's configuration and the vendors' own records."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hubbub.cli import display, echo, page, print_json, print_text
from hubbub.cli.vote.asking import Asker, counting
from hubbub.cli.vote.files import (
    check_expected,
    now,
    print_files,
    show_understood,
    write_cvr,
    write_page,
    write_reports,
    write_signed,
)
from hubbub.cli.vote.reading import typed_options
from hubbub.errors import WrongUse
from hubbub.runtime.progress import working

if TYPE_CHECKING:
    from hubbub.voting.rctab.record import OfficeFile
    from hubbub.voting.rctab.result import ConfiguredCount, ConfiguredRound

_MINE: Final = ("config", "tie", "as_json", "record", "ledger", "reports", "page", "cvr", "dry_run", "expect")


def tally_configured(path: str, files: tuple[str, ...], options: dict[str, Any], *, as_json: bool) -> None:
    """Count as the configuration says, which says everything: options that change a count do not go with it."""
    from hubbub.voting.formats.understanding import understanding_of_office
    from hubbub.voting.rctab.count import count_configured
    from hubbub.voting.rctab.record import configured_record, manual_ties, read_office

    other = [name for name in typed_options() if name not in _MINE]
    if files or other:
        what = "a file of ballots" if files else f"--{other[0].replace('_', '-')}"
        raise WrongUse(f"--config names files, candidates and rules itself, and {what} was given too; leave one out")
    with working("Reading"):
        office = read_office(path)
    check_expected(options, office.ballots.cast)
    understood = understanding_of_office(office.configuration, office.ballots)
    if options["dry_run"]:
        show_understood(understood, as_json=as_json)
        return
    asker = Asker(options["tie"])
    with counting(asker if office.configuration.rules.ties.endswith("Ask") else None):
        counted = count_configured(office.configuration, office.ballots, manual_ties(office.configuration, asker))
        asker.check_used()
    facts = counted.as_json() | {"understood": understood.as_json()}
    if options["record"] is not None:
        facts |= write_signed(options, configured_record(counted, office))
    commands = [shlex.join(["hubbub", "vote", "tally", "--config", Path(path).name])]
    if "record" in facts:
        commands.append(shlex.join(["hubbub", "verify", Path(facts["record"]).name, "--ballots", Path(path).name]))
    facts |= write_office_reports(options, office, counted, commands, facts.get("public_key"))
    if as_json:
        print_json(facts)
        return
    print_text(understood.summary())
    for text in understood.oddities:
        print_text(f"Note: {text}.")
    print_configured(counted)
    print_files(facts, [path])


def write_office_reports(
    options: dict[str, Any], office: OfficeFile, counted: ConfiguredCount, commands: Sequence[str], key: str | None
) -> dict[str, Any]:
    """The page and the folder of reports, where they were asked for, and what to tell about them."""
    written = write_cvr(options, office)
    if options["reports"] is None and options["page"] is None:
        return written
    from hubbub.voting.rctab.exports import counts_by_unit, exports

    units = counts_by_unit(office, counted)
    facts = written | {"reporting_units": {each.what: len(each.units) for each in units}}
    if options["page"] is not None:
        from hubbub.report.results import Repeating, office_page
        from hubbub.voting.rctab.record import office_digest

        repeating = Repeating(digest=office_digest(office.ballots), commands=tuple(commands), key=key)
        facts |= write_page(options["page"], office_page(office.configuration, counted, units, repeating))
    if options["reports"] is not None:
        facts |= write_reports(options["reports"], exports(office, counted, units, now()))
    return facts


def print_configured(counted: ConfiguredCount) -> None:
    """A table for each round, and who is elected."""
    title = f"{display(counted.title)}: " if counted.title else ""
    blank = f" ({counted.undervotes:,} of them mark nobody)" if counted.undervotes else ""
    echo(f"{title}{counted.cast:,} ballots{blank}, {len(counted.candidates)} candidates, {counted.mode}")
    for number, rounds in enumerate(counted.passes, 1):
        if len(counted.passes) > 1:
            echo(f"\nPass {number} of {len(counted.passes)}")
        for at, each in enumerate(rounds, 1):
            _draw(at, len(rounds), each)
    echo()
    for sentence in counted.sentences():
        echo(display(sentence))


def _draw(at: int, rounds: int, counted: ConfiguredRound) -> None:
    from hubbub.cli.terminal.table import Column, Table
    from hubbub.voting.rctab.result import votes_text

    title = f"Round {at} of {rounds}: threshold {votes_text(counted.threshold)}"
    table = Table(Column(least=24), Column("votes", right=True), "", title=title, indent=" ")
    for name, votes in sorted(counted.tally, key=lambda pair: -pair[1]):
        fate = "elected" if name in counted.elected else "out" if name in counted.eliminated else ""
        table.add(display(name), votes_text(votes), fate)
    if counted.exhausted_votes:
        table.add("(exhausted)", votes_text(counted.exhausted_votes), "")
    echo()
    page().print(table)
