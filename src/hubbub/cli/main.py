"""The ``hubbub`` command."""

from __future__ import annotations

import click

import hubbub
from hubbub.cli import Commands, examples, speak_plainly
from hubbub.cli.account.command import account
from hubbub.cli.ask import ask_command
from hubbub.cli.audit import audit
from hubbub.cli.channel.command import channel
from hubbub.cli.check import check
from hubbub.cli.demo import demo
from hubbub.cli.graph import graph
from hubbub.cli.ledger import ledger
from hubbub.cli.plan import plan
from hubbub.cli.release import release
from hubbub.cli.studio import studio
from hubbub.cli.trust import trust
from hubbub.cli.verify import explain, verify
from hubbub.cli.vote.command import vote


@click.group(
    "hubbub",
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "hubbub channel list", "hubbub channel profile --channel warped --curve 1:0.01,101:1 --counts 1..130"
    ),
)
@click.version_option(hubbub.__version__, prog_name="hubbub")
def commands() -> None:
    """Publish statistics about people so that each person stays lost in the crowd, and say how lost.

    Numbers are given as exact text, like 0.1, 1/3 or 1e-6. Every command takes --json. Exit codes: 0 done, 2 wrong
    use, 3 refused, 4 a check failed.
    """


commands.add_command(account)
commands.add_command(ask_command)
commands.add_command(audit)
commands.add_command(channel)
commands.add_command(check)
commands.add_command(demo)
commands.add_command(graph)
commands.add_command(plan)
commands.add_command(release)
commands.add_command(vote)
commands.add_command(verify)
commands.add_command(explain)
commands.add_command(ledger)
commands.add_command(trust)
commands.add_command(studio)


def main() -> None:
    """What the installed script runs."""
    speak_plainly()
    commands(prog_name="hubbub")
