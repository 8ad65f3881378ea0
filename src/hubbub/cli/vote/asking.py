"""Who is asked when candidates are equal: the answers that were typed with --tie, then somebody at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import click

from hubbub.cli import display
from hubbub.errors import WrongUse
from hubbub.protocol.option import Option
from hubbub.runtime.progress import working

TIE = Option(
    "tie",
    "NAME",
    "Who is chosen in a tie that is broken by hand; repeated, in the order in which ties come.",
    many=True,
)


def on_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty()


def counting(asker: Asker | None) -> AbstractContextManager[None]:
    """A sign that the count goes on, unless somebody may be asked, whose line it would write over."""
    return working("Counting") if asker is None else nullcontext()


class Asker:
    """Answers for ties: those given, in their order, and then whoever sits at the terminal."""

    def __init__(self, given: Sequence[str]) -> None:
        self._left = list(given)

    def __call__(self, why: str, names: Sequence[str]) -> str:
        among = display(", ".join(names))
        if self._left:
            answer = self._left.pop(0)
            if answer not in names:
                raise WrongUse(f"--tie {answer[:40]!r} is none of those who are equal here ({why}): {among}")
            return answer
        if not on_terminal():
            raise WrongUse(
                f"{among} are equal ({why}), and nobody can be asked here; add --tie with the name of one of them, after "
                "those that are there"
            )
        click.echo(f"Equal: {among}.", err=True)
        answer = click.prompt(f"Who is chosen ({why})?", type=click.Choice(list(names)), err=True)
        return str(answer)

    def check_used(self) -> None:
        """Refuse answers for ties that the count did not have."""
        if self._left:
            raise WrongUse(f"--tie {self._left[0][:40]!r} is for a tie that the count does not have; leave it out")
