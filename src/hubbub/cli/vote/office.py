"""An office's own count: ``hubbub vote tally --config`` reads RCTab's configuration, ``--elect`` has its rules as options."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hubbub.cli import display, echo, page, print_json, print_text
from hubbub.cli.vote.asking import Asker, counting
from hubbub.cli.vote.files import (
    check_expected,
    count_command,
    now,
    print_files,
    print_precincts,
    show_understood,
    write_cvr,
    write_page,
    write_reports,
    write_signed,
)
from hubbub.cli.vote.reading import typed_options, was_typed
from hubbub.errors import WrongUse
from hubbub.numeric.exact import integer
from hubbub.protocol.option import Option
from hubbub.runtime.progress import working

if TYPE_CHECKING:
    from hubbub.voting.rctab.record import OfficeFile
    from hubbub.voting.rctab.result import ConfiguredCount, ConfiguredRound
if TYPE_CHECKING:
    from hubbub.cli.vote.asking import Asker
    from hubbub.noise.source import Source
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.rctab.tie_breaks import TieBreaks


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


HEADING: Final = "Rounds as an office counts them"
OFFICE: Final = (
    Option(
        "elect",
        "HOW",
        "Count rounds as RCTab does: one by majority, seats with surpluses (all who have enough, or one a round), from "
        "the bottom up to --seats or to --percent, or one pass after the other.",
        choices=("majority", "seats", "one-a-round", "bottoms-up", "percentage", "passes"),
        group=HEADING,
    ),
    Option("exclude", "NAME", "Somebody who cannot be elected; may be repeated.", many=True, group=HEADING),
    Option("until", "WHEN", "When it ends.", default="majority", choices=("majority", "two"), group=HEADING),
    Option("batch", None, "Several of the last go together who cannot overtake the next.", group=HEADING),
    Option("least_votes", "N", "Who has fewer votes goes at once.", group=HEADING),
    Option("stop_after", "N", "End after this round, whoever is elected by then.", group=HEADING),
    Option("quota", "NAME", "What a seat takes.", default="droop", choices=("droop", "hare"), group=HEADING),
    Option("fractional", None, "The quota keeps --decimals, in the place of a whole number.", group=HEADING),
    Option(
        "threshold",
        "WHEN",
        "Found anew each round (dynamic), or by the first (static). Several seats are always static.",
        default="dynamic",
        choices=("dynamic", "static"),
        group=HEADING,
    ),
    Option("percent", "P", "Everybody with so many percent is elected (percentage).", group=HEADING),
    Option("decimals", "N", "Decimal places of votes that surpluses move.", default="4", group=HEADING),
    Option("most_ranks", "N", "Later ranks of a ballot do not count.", group=HEADING),
    Option(
        "break_ties",
        "HOW",
        "By a draw, by earlier rounds and then a draw, by --order, or as somebody says who is asked.",
        default="draw",
        choices=("draw", "earlier", "order", "ask"),
        group=HEADING,
    ),
    Option("order", "A,B,..", "All candidates in an order: the first wins a tie, the last goes.", group=HEADING),
)
_OTHERS: Final = (
    *(
        "rule",
        "eta",
        "margin",
        "ties",
        "points",
        "then",
        "mix",
        "compare",
        "transfers",
        "record",
        "chart",
    ),
)


def check_elect(options: dict[str, Any]) -> bool:
    """Whether rounds are counted as an office does; what does not go together is refused."""
    mine = [option.name for option in OFFICE if option.name != "elect" and was_typed(option.name)]
    if options["elect"] is None:
        if mine:
            raise WrongUse(f"--{mine[0].replace('_', '-')} goes with --elect, which says how an office elects; add it")
        return False
    other = next((name for name in _OTHERS if was_typed(name)), None)
    if other is not None:
        raise WrongUse(f"--elect counts by an office's rules, and --{other} is about others; leave one of them out")
    return True


def tally_office(
    options: dict[str, Any],
    read: BallotFile,
    files: Sequence[str],
    source: Source,
    asker: Asker | None,
    *,
    as_json: bool,
) -> None:
    """Count the ballots of a file by the rules that options say."""
    from hubbub.voting.rctab.answer_rounds import precincts_json
    from hubbub.voting.rctab.exports import counts_by_unit
    from hubbub.voting.rctab.tabulation import tabulate, tabulation_rules

    elect = options["elect"]
    several = elect not in ("majority", "percentage")
    rules = tabulation_rules(
        elect,
        seats=_number(options, "seats") or (read.seats if several else 1),
        percent=_number(options, "percent"),
        decimals=_number(options, "decimals", least=0) or 0,
        least_votes=_number(options, "least_votes", least=0) or 0,
        most_ranks=_number(options, "most_ranks"),
        stop_after=_number(options, "stop_after"),
        hare=options["quota"] == "hare",
        fractional=options["fractional"],
        static=options["threshold"] == "static",
        batch=options["batch"],
        until_two=options["until"] == "two",
    )
    with counting(asker):
        office, counted = tabulate(
            rules,
            read.ballots,
            _ties(options, read, source, asker),
            exclude=options["exclude"],
            title=read.title,
            units=read.units,
        )
        if asker is not None:
            asker.check_used()
        units = counts_by_unit(office, counted)
    facts = counted.as_json() | ({"precincts": precincts_json(units)["precinct"]} if units else {})
    facts |= write_office_reports(options, office, counted, [count_command(files)], None)
    if as_json:
        print_json(facts)
        return
    print_configured(counted)
    print_precincts(units)
    print_files(facts, files)


def _number(options: dict[str, Any], name: str, *, least: int = 1) -> int | None:
    text = options[name]
    return None if text is None else integer(text, f"--{name.replace('_', '-')}", least=least)


def _ties(options: dict[str, Any], read: BallotFile, source: Source, asker: Asker | None) -> TieBreaks:
    from hubbub.voting.chance import Chance
    from hubbub.voting.formats.labels import WRITE_IN
    from hubbub.voting.formats.vendors.rctab_config import UNDECLARED
    from hubbub.voting.rctab.tie_breaks import DrawnTies, ManualTies, OrderedTies

    how = options["break_ties"]
    if (options["order"] is not None) != (how == "order"):
        raise WrongUse("--order goes with --break-ties order, which needs it; give both or neither")
    if how == "order":
        order = [name.strip() for name in options["order"].split(",")]
        if sorted(order) != sorted(read.ballots.candidates):
            raise WrongUse(f"--order names each of {', '.join(read.ballots.candidates)[:200]} once")
        return OrderedTies([UNDECLARED if name == WRITE_IN else name for name in order])
    if asker is not None:
        return ManualTies(asker)
    return DrawnTies(Chance(source), looks_back=how == "earlier")
