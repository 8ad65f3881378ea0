"""``hubbub vote tally --config``: an office's own count, from RCTab's configuration and the vendors' own records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hubbub.cli import display, echo, page, print_json
from hubbub.cli.vote.reading import typed
from hubbub.errors import WrongUse
from hubbub.progress import working

if TYPE_CHECKING:
    from hubbub.voting.rctab.result import ConfiguredCount, ConfiguredRound

_MINE: Final = ("config", "as_json")


def tally_configured(path: str, file: str | None, *, as_json: bool) -> None:
    """Count as the configuration says, which says everything: no other option goes with it."""
    from hubbub.voting.formats.vendors.office_records import office_ballots
    from hubbub.voting.formats.vendors.rctab_config import read_configuration
    from hubbub.voting.rctab.count import count_configured

    other = [name for name in typed() if name not in _MINE]
    if file is not None or other:
        what = "a file of ballots" if file is not None else f"--{other[0].replace('_', '-')}"
        raise WrongUse(f"--config names files, candidates and rules itself, and {what} was given too; leave one out")
    with working("Reading"):
        configuration = read_configuration(path)
        ballots = office_ballots(configuration)
    with working("Counting"):
        counted = count_configured(configuration, ballots)
    if as_json:
        print_json(counted.as_json())
        return
    _print_count(counted)


def _print_count(counted: ConfiguredCount) -> None:
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
    from rich.table import Table

    table: Any = Table(
        title=f"Round {at} of {rounds}: threshold {_votes(counted.threshold)}", title_justify="left", box=None
    )
    table.add_column("", min_width=24)
    table.add_column("votes", justify="right")
    table.add_column("")
    for name, votes in sorted(counted.tally, key=lambda pair: -pair[1]):
        fate = "elected" if name in counted.elected else "out" if name in counted.eliminated else ""
        table.add_row(display(name), _votes(votes), fate)
    if counted.exhausted:
        table.add_row("(exhausted)", _votes(counted.exhausted), "")
    echo()
    page().print(table)


def _votes(votes: Any) -> str:
    from hubbub.numeric.exact import to_text

    digits, point, decimals = to_text(votes).partition(".")
    return f"{int(digits):,}{point}{decimals}"
