"""How ``hubbub vote`` is told to read a file of ballots: the options, and the file they give."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import Command
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.formats.reading import Reading

PLACES: Final = ("minneapolis", "maine", "oakland", "scotland", "albany")

READING: Final[tuple[tuple[str, tuple[str, ...], str], ...]] = (
    (
        "overvotes",
        ("stop", "skip", "several", "refuse"),
        "A rank of several ends the ballot, is ignored, ends it while several of them are in, or is refused.",
    ),
    ("skips", ("skip", "stop", "stop-at-two"), "An empty rank is closed up, ends the ballot, or two in a row do."),
    ("repeats", ("first", "stop", "refuse"), "A candidate again: ignored, the end, or refused (default by format)."),
    ("truncation", ("keep", "refuse"), "Short ballots count while they rank somebody who is in, or are refused."),
    ("write-ins", ("together", "apart", "drop"), "Write-ins are one candidate, stand as written, or are empty ranks."),
)
"""The rules by which marks become rankings: name, choices (the first is the default), help."""

LABELS: Final = ("undervote", "skip", "overvote", "write-in")


def reading_options(command: Command) -> Command:
    """How a file of ballots is read."""
    for label in reversed(LABELS):
        text = f"A cell that means {label}; may be repeated. Left out: the usual words."
        command = click.option(f"--{label}-label", multiple=True, metavar="TEXT", help=text)(command)
    for name, choices, text in reversed(READING):
        default = None if name == "repeats" else choices[0]
        command = click.option(
            f"--{name}", type=click.Choice(choices), default=default, show_default=default is not None, help=text
        )(command)
    for flag, takes, text in (
        ("--candidates", "FILE", "A text file with a candidate on each line; without it, everybody marked."),
        (
            "--columns",
            "SPEC",
            "Columns of a CSV file: ballot=ID,rank=Rank,candidate=Name,count=N or ranks=a/b/c or grid=a/b, or "
            'scores=a/b or approvals=a/b; "quoted, names" and #3 for the third.',
        ),
        ("--contest", "NAME", "Which contest of a file with several; a part of its name will do."),
        ("--encoding", "NAME", "Of the file, like cp1252; without it UTF-8, UTF-16 by its mark, or Windows-1252."),
        (
            "--format",
            "NAME",
            "soc, soi, toc, toi, cat, blt, abif, csv, xlsx, dominion, hart or cdf; if not given, as the ending says.",
        ),
    ):
        command = click.option(flag, metavar=takes, help=text)(command)
    command = click.option(
        "--alias",
        multiple=True,
        metavar="OLD=NEW",
        help="Cells that say OLD mean NEW, for CSV files; may be repeated. @FILE holds one such line each.",
    )(command)
    return click.option(
        "--as",
        "place",
        type=click.Choice(PLACES),
        help="Read marks and count as this place does; other options change parts of it.",
    )(command)


def given(name: str) -> bool:
    """Whether an option was typed, and is no default."""
    context = click.get_current_context(silent=True)
    source = None if context is None else context.get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def typed() -> list[str]:
    """The options that were typed."""
    context = click.get_current_context()
    names = [option.name or "" for option in context.command.params if isinstance(option, click.Option)]
    return [name for name in names if given(name)]


def read_ballots(file: str, options: dict[str, Any], rule: str = "publishing ballots") -> BallotFile:
    """The file as a rule counts it: every ballot strict (but those that overvotes=several leaves to the count), or
    approvals or scores as they stand."""
    from hubbub.demo import council
    from hubbub.voting.formats import formats
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.formats.ballot_text import text_of
    from hubbub.voting.formats.csv_columns import parse_columns

    reading = _reading(options)
    if file == council.NAME:
        return BallotFile(ballots=council.ballots(), format="invented", title=council.TITLE, reading=reading)
    listed = None
    if options["candidates"]:
        listed = [line.strip() for line in text_of(options["candidates"]).splitlines() if line.strip()]
    opened = formats.read(
        file,
        reading,
        format=options["format"],
        columns=parse_columns(options["columns"]) if options["columns"] else None,
        candidates=listed,
        contest=options["contest"],
        encoding=options["encoding"],
    )
    return formats.for_rule(opened, rule)


def _reading(options: dict[str, Any]) -> Reading:
    from hubbub.voting.formats.reading import Reading
    from hubbub.voting.rules.jurisdictions import rule_set

    reading_options: dict[str, Any] = {
        name.replace("-", "_"): options[name.replace("-", "_")] for name, _, _ in READING
    }
    for label in LABELS:
        name = f"{label.replace('-', '_')}_label"
        if options[name]:
            reading_options[f"{name}s"] = tuple(options[name])
    reading = Reading(**reading_options, aliases=_aliases(options["alias"]))
    if options["place"] is None:
        return reading
    return rule_set(options["place"]).reading(reading, frozenset(name for name in reading_options if given(name)))


def _aliases(given: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    from hubbub.voting.formats.ballot_text import text_of

    pairs: dict[str, str] = {}
    for text in given:
        from_file = text.startswith("@") and Path(text[1:]).is_file()
        for line in text_of(text[1:]).split("\n") if from_file else [text]:
            old, equals, new = line.partition("=")
            if not line.strip():
                continue
            if not equals or not old.strip():
                raise WrongUse('--alias says whom a spelling means, like "ANN LEE=Ann Lee", or @FILE with such lines')
            pairs[old.strip()] = new.strip()
    return tuple(pairs.items())
