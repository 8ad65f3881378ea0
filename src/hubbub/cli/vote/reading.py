"""How ``hubbub vote`` is told to read a file of ballots: the options, and the file they give."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import Command, options
from hubbub.errors import WrongUse
from hubbub.protocol.option import Option, options_of
from hubbub.voting.formats.reading import Reading
from hubbub.voting.rules.jurisdictions import RULE_SETS, rule_set

if TYPE_CHECKING:
    from hubbub.voting.formats.ballot_file import BallotFile

LABELS: Final = ("undervote", "skip", "overvote", "write-in")
READING: Final = tuple(option for option in options_of(Reading) if option.choices)
"""The rules by which marks become rankings."""

_FILE: Final = (
    Option(
        "alias",
        "OLD=NEW",
        "Cells that say OLD mean NEW, for CSV files; may be repeated. @FILE holds one such line each.",
        many=True,
    ),
    Option(
        "format",
        "NAME",
        "soc, soi, toc, toi, cat, blt, abif, csv, xlsx, dominion, hart or cdf; if not given, as the ending says.",
    ),
    Option("encoding", "NAME", "Of the file, like cp1252; without it UTF-8, UTF-16 by its mark, or Windows-1252."),
    Option("contest", "NAME", "Which contest of a file with several; a part of its name will do."),
    Option(
        "columns",
        "SPEC",
        "Columns of a CSV file: ballot=ID,rank=Rank,candidate=Name,count=N or ranks=a/b/c or grid=a/b, or "
        'scores=a/b or approvals=a/b; "quoted, names" and #3 for the third.',
    ),
    Option("candidates", "FILE", "A text file with a candidate on each line; without it, everybody marked."),
)
_LABELLED: Final = tuple(
    Option(
        f"{label.replace('-', '_')}_label",
        "TEXT",
        f"A cell that means {label}; may be repeated. Left out: the usual words.",
        many=True,
    )
    for label in LABELS
)


def reading_options(command: Command) -> Command:
    """How a file of ballots is read."""
    return click.option(
        "--as",
        "place",
        type=click.Choice(list(RULE_SETS)),
        help="Read marks and count as this place does; other options change parts of it.",
    )(options(command, (*_FILE, *READING, *_LABELLED)))


def was_typed(name: str) -> bool:
    """Whether an option was typed, and is no default."""
    context = click.get_current_context(silent=True)
    source = None if context is None else context.get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def typed_options() -> list[str]:
    """The options that were typed."""
    context = click.get_current_context()
    names = [option.name or "" for option in context.command.params if isinstance(option, click.Option)]
    return [name for name in names if was_typed(name)]


def read_ballots(file: str | tuple[str, ...], options: dict[str, Any], rule: str = "publishing ballots") -> BallotFile:
    """The file, or files, as a rule counts them: every ballot strict (but those that overvotes=several leaves to the count), or
    approvals or scores as they stand."""
    from hubbub.demo import council
    from hubbub.voting.formats import formats
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.formats.ballot_text import text_of
    from hubbub.voting.formats.csv_columns import parse_columns
    from hubbub.voting.formats.several import read_all

    reading = _reading(options)
    if file in (council.NAME, (council.NAME,)):
        if options.get("precinct") is not None:
            raise WrongUse(f"{council.NAME} is invented and has no precincts; leave out --precinct")
        return BallotFile(ballots=council.ballots(), format="invented", title=council.TITLE, reading=reading)
    listed = None
    if options["candidates"]:
        listed = [line.strip() for line in text_of(options["candidates"]).splitlines() if line.strip()]
    opened = read_all(
        file,
        reading,
        format=options["format"],
        columns=parse_columns(options["columns"]) if options["columns"] else None,
        candidates=listed,
        contest=options["contest"],
        encoding=options["encoding"],
        precinct=options.get("precinct"),
        numbers=options.get("numbers", ()),
    )
    return formats.for_rule(opened, rule)


def _reading(given_options: dict[str, Any]) -> Reading:
    reading_options: dict[str, Any] = {option.name: given_options[option.name] for option in READING}
    labels = {option.name: tuple(given_options[option.name]) for option in _LABELLED}
    reading_options |= {f"{name}s": texts for name, texts in labels.items() if texts}
    reading = Reading(**reading_options, aliases=_aliases(given_options["alias"]))
    if given_options["place"] is None:
        return reading
    return rule_set(given_options["place"]).reading(
        reading, frozenset(name for name in reading_options if was_typed(name))
    )


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
