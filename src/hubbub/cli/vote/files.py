"""The files that ``hubbub vote tally`` writes: the signed result, and the page for everybody."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import display, echo, page, print_json, print_text
from hubbub.errors import WrongUse, writing
from hubbub.numeric.exact import integer

if TYPE_CHECKING:
    from hubbub.noise.source import PublicDice
    from hubbub.report.results import Repeating
    from hubbub.voting.count.record import CountRecord
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.formats.understanding import Understanding
    from hubbub.voting.rctab.exports import UnitCounts
    from hubbub.voting.rctab.record import ConfiguredRecord, OfficeFile
    from hubbub.voting.result import Result
    from hubbub.voting.rules.stv_result import Seats

_OURS: Final = (
    "files",
    "page",
    "chart",
    "record",
    "reports",
    "cvr",
    "ledger",
    "as_json",
)  # options that change nothing in a count
_SHEETS: Final = (".csv", ".tsv", ".xlsx")


def write_record(options: dict[str, Any], result: Any, read: BallotFile, dice: PublicDice | None) -> dict[str, Any]:
    """The signed result, if it was asked for, and what to tell about it."""
    from hubbub.voting.count.record import record_of

    return {} if options["record"] is None else write_signed(options, record_of(result, read, dice))


def write_signed(options: dict[str, Any], record: CountRecord | ConfiguredRecord) -> dict[str, Any]:
    """The signed result where --record says, and what to tell about it."""
    from hubbub.certificate.certificate import SIGNATURE, sign
    from hubbub.ledger.ledger import Ledger
    from hubbub.serialization.canonical import read as read_canonical

    path = options["record"]
    signed = sign(record.to_sign(), Ledger(options["ledger"]))
    with writing("the record"):
        Path(path).write_bytes(signed)
    return {"record": path, "public_key": read_canonical(signed, "the record")[SIGNATURE]["public_key"]}


def show_understood(understood: Understanding, *, as_json: bool) -> None:
    """What the files were understood to hold; nothing is counted."""
    if as_json:
        print_json({"dry_run": True, "understood": understood.as_json()})
        return
    for text in understood.sentences():
        echo(display(text))
    echo("Nothing was counted. Next: the same command without --dry-run.")


def print_files(facts: dict[str, Any], files: Sequence[str]) -> None:
    """Which files there are, and how to check the signed one."""
    for what in ("page", "chart"):
        if what in facts:
            print_text(f"{what.capitalize()}: {facts[what]}")
    if "cvr" in facts:
        print_text(f"Cast-vote records: {facts['cvr']}. To publish ballots, use hubbub vote publish.")
    for path in facts.get("reports", ()):
        print_text(f"Report: {path}")
    if "record" in facts:
        given = [part for file in files for part in ("--ballots", file)]
        check = shlex.join(["hubbub", "verify", facts["record"], *given])
        print_text(f"Record: {facts['record']}, signed with the key {facts['public_key']}. Count it again: {check}")
        if any(Path(file).suffix.lower() in _SHEETS for file in files):
            from hubbub.voting.formats.ballot_file import HAND_OUT

            print_text(f"Others check it with the record, the key and the ballots. {HAND_OUT}")


def repeating(files: Sequence[str], read: BallotFile, facts: dict[str, Any]) -> Repeating:
    """How somebody else makes the same count: what was typed, without the folders of this machine."""
    from hubbub.report.results import Repeating
    from hubbub.voting.count.record import ballots_digest

    names = [Path(file).name for file in files]
    commands = [count_command(files)]
    if "record" in facts:
        given = [part for name in names for part in ("--ballots", name)]
        commands.append(shlex.join(["hubbub", "verify", Path(facts["record"]).name, *given]))
    return Repeating(
        digest=ballots_digest(read.ballots),
        commands=tuple(commands),
        key=facts.get("public_key"),
        dice=facts["dice"],
    )


def count_command(files: Sequence[str]) -> str:
    """The command that was typed, without the folders of this machine."""
    return shlex.join(["hubbub", "vote", "tally", *(Path(file).name for file in files), *_typed_words()])


def _typed_words() -> list[str]:
    """The options of the command as they were typed."""
    context = click.get_current_context()
    parts: list[str] = []
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        if not given or option.name in _OURS:
            continue
        value = context.params[option.name or ""]
        flag = option.opts[0]
        for each in value if isinstance(value, tuple) else [value]:
            parts += [flag] if each is True else [flag, str(each)]
    return parts


def write_reports(folder: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Write the reports into a folder that holds none of them, and say which there are."""
    at = Path(folder)
    if there := sorted(name for name in texts if (at / name).exists()):
        raise WrongUse(f"the folder for the reports has a {there[0]} already; choose another folder")
    with writing("the reports", "folder"):
        at.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (at / name).write_text(text, encoding="utf-8")
    return {"reports": [str(at / name) for name in texts]}


def write_answer_reports(
    options: dict[str, Any], answer: Result | Seats, read: BallotFile, units: Sequence[UnitCounts]
) -> dict[str, Any]:
    """The folder of reports of a count by any rule, where it was asked for, and the precincts."""
    from hubbub.voting.rctab.answer_rounds import (
        answer_configuration,
        answer_rounds,
        precincts_json,
        vote_variation,
    )
    from hubbub.voting.rctab.exports import report_texts

    facts: dict[str, Any] = {"precincts": precincts_json(units)["precinct"]} if units else {}
    if options["reports"] is None:
        return facts
    counted = answer_rounds(answer, read.ballots)
    texts = report_texts(answer_configuration(answer, read), counted, units, now(), vote_variation(answer))
    return facts | write_reports(options["reports"], texts)


def write_cvr(options: dict[str, Any], office: OfficeFile | BallotFile) -> dict[str, Any]:
    """The ballots one by one for another tabulator, where that was asked for."""
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.rctab.exports import cast_vote_records
    from hubbub.voting.rctab.tabulation import office_file, tabulation_rules

    if options["cvr"] is None:
        return {}
    if isinstance(office, BallotFile):
        rules = tabulation_rules("majority")
        office = office_file(rules, office.ballots, title=office.title, units=office.units)
    text = cast_vote_records(options["cvr"], office.configuration, office.ballots, now())
    with writing("the cast-vote records"):
        Path(options["cvr"]).write_text(text, encoding="utf-8")
    return {"cvr": options["cvr"]}


def now() -> str:
    """The time, as the common data format wants it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def print_precincts(units: Sequence[UnitCounts]) -> None:
    """The first round of each precinct, and of all of them."""
    from hubbub.cli.terminal.table import Column, Table

    for each in units:
        rounds = {name: dict(part.passes[0][0].tally) for name, part in each.units.items()}
        names = list(next(iter(rounds.values())))
        columns = (Column(display(name), right=True) for name in names)
        table = Table(Column(least=16), *columns, title=f"By {each.what}, first round", indent=" ")
        for place, votes in rounds.items():
            table.add(display(place), *(f"{int(votes[name]):,}" for name in names))
        table.add("(all)", *(f"{int(sum(votes[name] for votes in rounds.values())):,}" for name in names))
        echo()
        page().print(table)
        several = any(len(rounds) > 1 for part in each.units.values() for rounds in part.passes)
        more = f" --reports FOLDER writes every round by {each.what}." if several else ""
        echo(f"These add up to the whole{', and so does every round' if several else ''}.{more}")


def write_page(path: str, text: str) -> dict[str, Any]:
    """Write the page, and say where it is."""
    with writing("the page"):
        Path(path).write_text(text, encoding="utf-8")
    return {"page": path}


def check_expected(options: dict[str, Any], found: int) -> None:
    """Refuse to count where another number of ballots was read than `--expect` says."""
    if options["expect"] is None:
        return
    expected = integer(options["expect"], "--expect", least=1)
    if found != expected:
        raise WrongUse(
            f"the files hold {found:,} ballots, and --expect says {expected:,}; nothing is counted until they agree"
        )
