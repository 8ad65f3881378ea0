"""A function is the definition of its command: names, defaults and help stand in its signature, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import click
import pytest

import hubbub
from hubbub.cli.main import commands
from hubbub.protocol.option import Option, option_help, options_of

QUESTIONS: dict[str, Callable[..., Any]] = {
    "account crowd": hubbub.account.crowd,
    "account robust": hubbub.account.robust,
    "account distributional": hubbub.account.distributional,
    "account lecture": hubbub.account.lecture,
    "account sanitize": hubbub.account.sanitize,
    "account mean": hubbub.account.mean,
    "account group": hubbub.account.group,
    "account compose": hubbub.account.compose,
    "account convert": hubbub.account.convert,
    "vote guarantee": hubbub.vote.guarantee,
    "plan": hubbub.plan.release,
    "plan cube": hubbub.plan.refinements,
    "plan records": hubbub.plan.coarsenings,
}


def command(line: str) -> click.Command:
    found: click.Command = commands
    for name in line.split():
        assert isinstance(found, click.Group)
        below = found.get_command(click.Context(found), name)
        assert below is not None
        found = below
    return found


def test_the_parameters_of_a_function_are_its_options() -> None:
    def asked(
        first: Annotated[str, option_help("FILE", "What it is of.", first=True)],
        size: Annotated[int, option_help("N", "How many.")],
        *,
        rate: Annotated[float, option_help("P", "How often.")] = 0,
        by: Annotated[Sequence[str], option_help("SPEC", "By what.")] = (),
        loud: Annotated[bool, option_help(None, "Say so.")] = False,
        unsaid: int = 3,
    ) -> None: ...

    assert options_of(asked) == (
        Option("first", "FILE", "What it is of.", first=True, required=True),
        Option("size", "N", "How many.", required=True),
        Option("rate", "P", "How often.", default="0"),
        Option("by", "SPEC", "By what.", many=True),
        Option("loud", None, "Say so."),
    )


@pytest.mark.parametrize("line", QUESTIONS)
def test_every_parameter_of_a_question_is_an_option_of_its_command(line: str) -> None:
    names = {param.name for param in command(line).params}
    parameters = hubbub_parameters(QUESTIONS[line])
    assert parameters <= names
    assert {option.name for option in options_of(QUESTIONS[line])} == parameters


def hubbub_parameters(function: Callable[..., Any]) -> set[str]:
    import inspect

    return set(inspect.signature(function).parameters)
