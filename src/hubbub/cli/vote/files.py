"""The files that ``hubbub vote tally`` writes: the signed result, and the page for everybody."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import print_text
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.noise.source import PublicDice
    from hubbub.report.results import Repeating
    from hubbub.voting.formats.ballot_file import BallotFile

_OURS: Final = ("file", "page", "chart", "record", "ledger", "as_json")  # options that change nothing in a count


def write_record(options: dict[str, Any], result: Any, read: BallotFile, dice: PublicDice | None) -> dict[str, Any]:
    """The signed result, if it was asked for, and what to tell about it."""
    from hubbub.certificate.certificate import SIGNATURE, sign
    from hubbub.ledger.ledger import Ledger
    from hubbub.serialization.canonical import read as read_canonical
    from hubbub.voting.count.record import record_of

    path = options["record"]
    if path is None:
        return {}
    signed = sign(record_of(result, read, dice).to_sign(), Ledger(options["ledger"]))
    try:
        Path(path).write_bytes(signed)
    except OSError as error:
        raise WrongUse(f"the record cannot be written: {error.strerror or error}; choose another file") from error
    return {"record": path, "public_key": read_canonical(signed, "the record")[SIGNATURE]["public_key"]}


def print_written(facts: dict[str, Any], file: str) -> None:
    """Which files there are, and how to check the signed one."""
    for what in ("page", "chart"):
        if what in facts:
            print_text(f"{what.capitalize()}: {facts[what]}")
    if "record" in facts:
        check = shlex.join(["hubbub", "verify", facts["record"], "--ballots", file])
        print_text(f"Record: {facts['record']}, signed with the key {facts['public_key']}. Count it again: {check}")


def repeating(file: str, read: BallotFile, facts: dict[str, Any]) -> Repeating:
    """How somebody else makes the same count: what was typed, without the folders of this machine."""
    from hubbub.report.results import Repeating
    from hubbub.voting.count.record import ballots_digest

    name = Path(file).name
    commands = [shlex.join(["hubbub", "vote", "tally", name, *_typed()])]
    if "record" in facts:
        commands.append(shlex.join(["hubbub", "verify", Path(facts["record"]).name, "--ballots", name]))
    return Repeating(
        digest=ballots_digest(read.ballots),
        commands=tuple(commands),
        key=facts.get("public_key"),
        dice=facts["dice"],
    )


def _typed() -> list[str]:
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


def write_page(path: str, text: str) -> dict[str, Any]:
    """Write the page, and say where it is."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise WrongUse(f"the page cannot be written: {error.strerror or error}; choose another file") from error
    return {"page": path}
