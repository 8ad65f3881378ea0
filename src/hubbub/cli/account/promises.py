"""``hubbub account group``, ``compose`` and ``convert``: from promises to promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from hubbub.cli import examples, json_option, page, print_json

if TYPE_CHECKING:
    from hubbub.account import Composed, Converted, Grouped

PROMISES = """

    \b
    PROMISE is a kind and its numbers:
      differential:epsilon=1,delta=1e-9             add or remove one person
      differential:epsilon=1,neighbours=replace     replace one person
      zero-knowledge:epsilon=0.1,k=100,n=10000      whoever knows 100 of 10000 rows
      zero-knowledge:epsilon=0.1,rate=0.1           whoever knows a sample of rate 0.1
      crowd-blending:k=20,epsilon=0.5
      simple-outlier:k=100,epsilon=1
      outlier:curve=1:0.01,101:1,delta=1e-6
"""


def _with_promises(function: Callable[..., Any]) -> Callable[..., Any]:
    function.__doc__ = f"{(function.__doc__ or '').rstrip()}{PROMISES}"
    return function


def _print(answer: Composed | Grouped | Converted, *, as_json: bool, bold: bool = True) -> None:
    """The answer; a promise is bold, and what it rests on stands below it."""
    if as_json:
        print_json(answer.as_json())
        return
    console, first = page(), bold
    for line in answer.sentences():
        console.print(line, style="bold" if first else None)
        first = bold and not line


@click.command(
    "compose",
    epilog=examples(
        "hubbub account compose differential:epsilon=1 differential:epsilon=0.5,delta=1e-9",
        "hubbub account compose zero-knowledge:epsilon=0.1,rate=0.1 zero-knowledge:epsilon=0.2,rate=0.05 --json",
        "hubbub account compose differential:epsilon=0.1 --times 50 --delta 1e-9",
    ),
)
@click.argument("promises", nargs=-1, metavar="PROMISE PROMISE...")
@click.option("--same-partition", is_flag=True, help="All publish each bin of one public partition by itself.")
@click.option("--same-sample", metavar="K N", nargs=2, help="All run on one secret sample of K of N rows.")
@click.option("--times", metavar="N", default="1", show_default=True, help="All of them N times.")
@click.option("--delta", metavar="D", help="Differential privacy at this delta: less than the sum of the epsilons.")
@json_option
@_with_promises
def compose(
    promises: tuple[str, ...],
    same_partition: bool,
    same_sample: tuple[str, str] | None,
    times: str,
    delta: str | None,
    as_json: bool,
) -> None:
    """Several releases about the same people, taken as one. What does not compose is refused, with the way out.

    With --delta, differentially private releases are composed at that delta: by the exact law of their losses, if every
    epsilon was fixed beforehand, and beside it what holds if each was chosen after seeing earlier results.
    """
    from hubbub import account

    found = account.compose(
        *promises, times=times, delta=delta, same_partition=same_partition, same_sample=same_sample or None
    )
    _print(found, as_json=as_json)


@click.command(
    "group",
    short_help="What is promised to several people together.",
    epilog=examples(
        "hubbub account group zero-knowledge:epsilon=0.1,k=100,n=10000 --people 3",
        "hubbub account group outlier:curve=1:0.01,101:1 --people 10 --k 100 --json",
    ),
)
@click.argument("promise")
@click.option("--people", metavar="C", required=True, help="How many people stand or fall together.")
@click.option("--k", metavar="K", help="For outlier privacy: each of them is a K-outlier.")
@json_option
@_with_promises
def group(promise: str, people: str, k: str | None, as_json: bool) -> None:
    """What a promise to one person says about several who stand or fall together, in every way that is known."""
    from hubbub import account

    _print(account.group(promise, people, k=k), as_json=as_json, bold=False)


TARGETS = ("differential", "replace", "zero-knowledge", "crowd-blending", "simple-outlier", "outlier", "distributional")


@click.command(
    "convert",
    epilog=examples(
        "hubbub account convert zero-knowledge:epsilon=0.1,delta=1e-9,rate=0.1 --to differential",
        "hubbub account convert differential:epsilon=0.5 --to crowd-blending --k 20 --json",
    ),
)
@click.argument("promise")
@click.option("--to", "target", metavar="KIND", required=True, help=f"One of {', '.join(TARGETS)}.")
@click.option("--k", metavar="K", help="The crowd size, where the target has one.")
@click.option("--n", metavar="N", help="The number of rows, for differential to zero-knowledge.")
@click.option("--rate", metavar="P", help="The rate at which people came into the data, for distributional.")
@json_option
@_with_promises
def convert(promise: str, target: str, k: str | None, n: str | None, rate: str | None, as_json: bool) -> None:
    """From one notion of privacy to another. What does not follow is refused, with the reason.

    Differential privacy gives crowd-blending only where adding or removing a person is meant: publishing the number of
    people is 0-differentially private under replacement and hides nobody in a small table.
    """
    from hubbub import account

    _print(account.convert(promise, target, k=k, n=n, rate=rate), as_json=as_json)
