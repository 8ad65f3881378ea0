"""The ``hubbub`` command."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

import hubbub
from hubbub.cli import Commands, examples, spell_unprintable_signs

SECTIONS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "Publish": {
        "demo": ("demo", "See everything once, on the invented town of Millbrook."),
        "check": ("check", "Look at your table before you publish, for you alone."),
        "describe": ("describe", "Write a first data dictionary of your table."),
        "release": ("release", "Publish statistics about the people of a table."),
        "sql": ("sql", "Publish what a private SQL query asks for."),
        "run": ("run", "Publish all that a file wants, planned together."),
        "graph": ("graph", "Publish statistics of a social network."),
        "series": ("series", "Publish the same numbers every month, under one promise."),
        "ledger": ("ledger", "Show what was published about whom, and what it adds up to."),
        "studio": ("studio", "Do all of this on a page of your own browser."),
    },
    "Check": {
        "verify": ("verify", "Check a certificate, and the files that it is about."),
        "explain": ("verify", "Say in plain words what a certificate promises."),
        "ask": ("ask", "Put a question to a published table of answers."),
        "trust": ("trust", "Say whose keys you trust."),
    },
    "Plan": {"plan": ("plan", "Find the crowd, sample and noise that a promise needs.")},
    "Vote": {"vote": ("vote.command", "Count an election so that a lie hardly pays.")},
    "Research": {
        "account": ("account", "Work out what follows from what: the theorems, with numbers."),
        "channel": ("channel.command", "Show the exact law of a channel, and what it gives away."),
        "audit": ("audit", "Attack a mechanism, a function or a certificate."),
    },
}
"""What there is to do, in the order in which somebody needs it: the module of each command, and one line about it."""

_PLACES: Final = {name: module for section in SECTIONS.values() for name, (module, _) in section.items()}


class Hubbub(Commands):
    """The commands by what they are for; each is loaded when it is called, so that help comes at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _PLACES:
            return None
        found: click.Command = getattr(import_module(f"hubbub.cli.{_PLACES[cmd_name]}"), cmd_name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:  # click looks for what was meant among loaded commands alone
            raise click.exceptions.NoSuchCommand(error.command_name, possibilities=_PLACES, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, section in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(8), line) for name, (_, line) in section.items()])


@click.group(
    "hubbub",
    cls=Hubbub,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "hubbub release histogram hubbub-demo/millbrook.parquet --person resident --by age:0..90:10 --epsilon 1 --out o"
    ),
)
@click.version_option(hubbub.__version__, prog_name="hubbub")
def commands() -> None:
    """Publish statistics about people so that each person stays lost in the crowd, and say how lost.

    Numbers are given as exact text, like 0.1, 1/3 or 1e-6. Every command takes --json. Exit codes: 0 done, 2 wrong
    use, 3 refused, 4 a check failed or could not be made, 130 stopped.
    """


def main() -> None:
    """What the installed script runs."""
    spell_unprintable_signs()
    commands(prog_name="hubbub")
