"""``hubbub vote audit``: sheets for a risk-limiting audit of an instant runoff."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import click

from hubbub.cli import display, echo, examples, json_option, options, print_json, print_text
from hubbub.cli.vote.files import write_reports
from hubbub.cli.vote.reading import read_ballots, reading_options
from hubbub.protocol.option import Option
from hubbub.runtime.progress import working

_AUDIT: Final = (
    Option("risk", "R", "The chance with which a wrong winner may be confirmed, at most.", default="0.05"),
    Option(
        "dice", "WORDS", "Draw papers from these public words, said aloud when the records are final.", required=True
    ),
    Option("out", "DIR", "The folder for the sheets.", required=True),
)


@click.command(
    "audit",
    short_help="Write sheets for a risk-limiting audit.",
    epilog=examples("hubbub vote audit millbrook --dice 'three white swans' --out audit/"),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@partial(options, declared=_AUDIT)
@reading_options
@json_option
def audit(files: tuple[str, ...], risk: str, dice: str, out: str, as_json: bool, **options: Any) -> None:
    """Say which papers to look at so that a wrong winner of an instant runoff would be noticed.

    Assertions are found that together prove who won, of the largest margins (RAIRE). The papers are drawn with
    replacement from all ballots, numbered as the records are, and compared with their records one by one. How many it
    takes holds if no paper tells against its record.
    """
    from hubbub.noise.source import PublicDice
    from hubbub.report.audit_sheets import sheets
    from hubbub.voting.formats.reading import settle_ties
    from hubbub.voting.risk_limiting.audit import audit_of
    from hubbub.voting.rules.rules import make
    from hubbub.voting.rules.threshold import share

    allowed = share(risk, "--risk")
    with working("Reading"):
        read = read_ballots(files, options, "instant-runoff")
        ballots = settle_ties(read.ballots, "stop")
    with working("Looking for assertions"):
        counted = make("instant-runoff").run(ballots, PublicDice(dice))
        done = audit_of(ballots, counted, allowed, dice)
    written = write_reports(out, sheets(done, read.title))
    if as_json:
        print_json(done.as_json() | {"files": written["reports"]})
        return
    for remark in read.remarks:
        print_text(f"Note: {remark}.")
    for sentence in done.sentences():
        echo(display(sentence))
    for path in written["reports"]:
        print_text(f"Sheet: {path}")
