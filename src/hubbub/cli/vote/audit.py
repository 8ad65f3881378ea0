"""``hubbub vote audit``: sheets for a risk-limiting audit, and what the papers show."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import display, echo, examples, json_option, options, print_json, print_text
from hubbub.cli.vote.files import write_reports
from hubbub.cli.vote.reading import read_ballots, reading_options
from hubbub.errors import WrongUse
from hubbub.protocol.option import Option
from hubbub.runtime.progress import working

if TYPE_CHECKING:
    from hubbub.voting.ballots import Ballots
    from hubbub.voting.formats.ballot_file import BallotFile

_AUDIT: Final = (
    Option(
        "method",
        "HOW",
        "Papers beside their records, papers alone, or whole batches.",
        default="comparison",
        choices=("comparison", "polling", "batches"),
    ),
    Option(
        "rule", "RULE", "How the winner was found.", default="instant-runoff", choices=("instant-runoff", "plurality")
    ),
    Option("risk", "R", "The chance with which a wrong winner may be confirmed, at most.", default="0.05"),
    Option(
        "dice", "WORDS", "Draw papers from these public words, said aloud when the records are final.", required=True
    ),
    Option("precinct", "COLUMN", "Where ballots lie, for batches; precinct or batch for the records of a vendor."),
    Option("read", "FILE", "A sheet papers.csv that was filled in; repeated for those of later rounds.", many=True),
    Option("out", "DIR", "The folder for the sheets.", required=True),
)


@click.command(
    "audit",
    short_help="Write sheets for a risk-limiting audit.",
    epilog=examples(
        "hubbub vote audit millbrook --dice 'three white swans' --out audit/",
        "hubbub vote audit millbrook --dice 'three white swans' --method polling --out polling/",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@partial(options, declared=_AUDIT)
@reading_options
@json_option
def audit(files: tuple[str, ...], risk: str, dice: str, out: str, as_json: bool, **options: Any) -> None:
    """Say which papers to look at so that a wrong winner of an instant runoff, or of plurality, would be noticed.

    Assertions are found that together prove who won, of the largest margins (RAIRE). Papers, or batches, are drawn with
    replacement by public words. With --read it says from the filled-in sheets how large the risk is, and which papers
    come next if some differ.
    """
    from hubbub.noise.source import PublicDice
    from hubbub.report.audit_sheets import next_sheets, sheets
    from hubbub.voting.formats.reading import settle_ties
    from hubbub.voting.risk_limiting.audit import audit_of
    from hubbub.voting.risk_limiting.papers import finding_of
    from hubbub.voting.rules.rules import make
    from hubbub.voting.rules.threshold import share

    allowed = share(risk, "--risk")
    if (options["method"] == "batches") != (options["precinct"] is not None):
        raise WrongUse("--method batches, and no other, needs --precinct, which says where each ballot lies")
    with working("Reading"):
        read = read_ballots(files, options, options["rule"])
        ballots = settle_ties(read.ballots, "stop")
        units = {name: settle_ties(part, "stop") for name, part in read.units.items()}
    with working("Looking for assertions"):
        counted = make(options["rule"]).run(ballots, PublicDice(dice))
        done = audit_of(ballots, counted, allowed, dice, method=options["method"], units=units)
    written = sheets(done, read.title)
    facts, sentences = done.as_json(), done.sentences()
    if options["read"]:
        records = partial(_records, files, options, read)
        finding, papers = finding_of(done, options["read"], records)
        facts |= finding.as_json()
        sentences = finding.sentences()
        written = next_sheets(finding, papers, read.title)
    paths = write_reports(out, written)["reports"]
    if as_json:
        print_json(facts | {"files": paths})
        return
    for remark in read.remarks:
        print_text(f"Note: {remark}.")
    for sentence in sentences:
        echo(display(sentence))
    for path in paths:
        print_text(f"Sheet: {path}")


def _records(
    files: tuple[str, ...], options: dict[str, Any], read: BallotFile, numbers: Collection[int]
) -> dict[int, Ballots]:
    """The records with these numbers."""
    from hubbub.voting.ballots import Ballots
    from hubbub.voting.formats.reading import settle_ties

    if read.format == "invented":  # its ballots lie as they are listed
        weights = read.ballots.weights.cumsum()
        at = {number: int((weights < number).sum()) for number in numbers}
        rows = read.ballots.rankings
        return {n: Ballots.from_rows(read.ballots.candidates, rows[[row]], trusted=True) for n, row in at.items()}
    drawn = read_ballots(files, options | {"numbers": numbers}, options["rule"])
    return {int(name): settle_ties(part, "stop") for name, part in drawn.units.items()}
