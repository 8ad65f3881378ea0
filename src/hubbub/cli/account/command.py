"""``hubbub account``: the theorems as a calculator. No data is read; numbers are certified and rounded up."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hubbub.cli import Command, Commands, examples, json_option, page, print_json, table
from hubbub.cli.account.promises import compose, convert, group
from hubbub.cli.account.sanitize import mean, sanitize
from hubbub.errors import WrongUse, in_shell

if TYPE_CHECKING:
    from hubbub.account import Tradeoff

MECHANISMS = ("any", "exact-or-suppressed", "noisy-below")


def point_options(command: Command) -> Command:
    """``--delta``, ``--at-epsilon`` and ``--curve``."""
    for name, takes, text in (
        ("--curve", "FILE", "Write delta against epsilon, ours and the paper's: .csv, .png, .svg or .html."),
        ("--at-epsilon", "EPS", "Ask for the delta at this epsilon."),
        ("--delta", "D", "Ask for the epsilon at this delta."),
    ):
        command = click.option(name, metavar=takes, help=text)(command)
    return command


@click.group(
    "account",
    cls=Commands,
    epilog=examples(
        "hubbub account crowd --k 20 --rate 0.1 --delta 1e-6",
        "hubbub account sanitize --rows 1000 --of 1000000 --epsilon-zk 0.1",
    ),
)
def account() -> None:
    """What follows from what: every theorem with numbers, ours and the papers'. No data is read."""


@account.command(
    "crowd",
    short_help="Crowd-blending privacy and a secret sample.",
    epilog=examples(
        "hubbub account crowd --k 20 --epsilon 0 --rate 0.1 --delta 1e-6",
        "hubbub account crowd --k 20 --epsilon 1 --rate 0.1 --at-epsilon 0.2 --mechanism noisy-below --json",
    ),
)
@click.option("--k", metavar="K", required=True, help="The size of a crowd.")
@click.option("--epsilon", metavar="EPS", default="0", show_default=True, help="The loss of the mechanism, below k.")
@click.option("--rate", metavar="P", required=True, help="Everybody is sampled with this probability, secretly.")
@click.option("--mechanism", metavar="NAME", default="any", show_default=True, help=f"One of {', '.join(MECHANISMS)}.")
@click.option("--tagged", is_flag=True, help="With noisy-below: it is said which counts are noisy.")
@point_options
@json_option
def crowd(k: str, epsilon: str, rate: str, mechanism: str, tagged: bool, as_json: bool, **asked: str | None) -> None:
    """Crowd-blending privacy and a secret sample: what everybody in the population is promised (Theorem A).

    With --mechanism any, the numbers hold for every (k, epsilon)-crowd-blending mechanism, and one of them reaches them
    ("sharp"). With the name of a mechanism they are its own.
    """
    from hubbub import account

    made = account.crowd(k, rate, epsilon=epsilon, mechanism=mechanism, tagged=tagged)
    _answer(made, as_json=as_json, **asked)


@account.command(
    "robust",
    short_help="Crowd-blending privacy and a sample of uneven rates.",
    epilog=examples(
        "hubbub account robust --k 100 --epsilon 0.5 --rate-high 0.2 --rate-max 1 --exempt 5 --delta 1e-6",
        "hubbub account robust --k 50 --epsilon 0.5 --rate-low 0.1 --rate-high 0.12 --at-epsilon 0.3395 --json",
    ),
)
@click.option("--k", metavar="K", required=True, help="The size of a crowd.")
@click.option("--epsilon", metavar="EPS", default="0", show_default=True, help="The loss of the mechanism.")
@click.option("--rate-high", metavar="P", required=True, help="People are sampled with at most this probability.")
@click.option("--rate-max", metavar="P", help="The highest probability of the exempt; 1 if there are any.")
@click.option("--exempt", metavar="N", default="0", show_default=True, help="How many people are exempt from that.")
@click.option("--rate-low", metavar="P", help="The paper's lower limit; ours needs none.")
@click.option("--bins", is_flag=True, help="The mechanism counts people in bins, who blend exactly.")
@point_options
@json_option
def robust(
    k: str,
    epsilon: str,
    rate_high: str,
    rate_max: str | None,
    exempt: str,
    rate_low: str | None,
    bins: bool,
    as_json: bool,
    **asked: str | None,
) -> None:
    """Crowd-blending privacy and a sample of uneven rates: Theorem 16, sharp.

    Neither the paper's lower limit on the rates nor its factor p'(1 - p)/(p (1 - p')) is needed; give --rate-low to see
    the paper's numbers.
    """
    from hubbub import account

    made = account.robust(k, rate_high, epsilon=epsilon, rate_max=rate_max, exempt=exempt, rate_low=rate_low, bins=bins)
    _answer(made, as_json=as_json, **asked)


@account.command(
    "distributional",
    short_help="Outlier privacy against those who know how people were sampled.",
    epilog=examples(
        "hubbub account distributional --k 50 --epsilon 0 --rate-high 0.1 --delta 1e-6",
        "hubbub account distributional --k 50 --rate-low 0.1 --rate-high 0.1 --at-epsilon 0.5 --json",
    ),
)
@click.option("--k", metavar="K", required=True, help="Outliers are people in crowds of at most K.")
@click.option("--epsilon", metavar="EPS", default="0", show_default=True, help="What K outliers lose together.")
@click.option("--rate-high", metavar="P", required=True, help="People are in the data with at most this probability.")
@click.option("--exempt", metavar="N", default="0", show_default=True, help="How many people are exempt from that.")
@click.option("--blend", metavar="EPS", default="0", show_default=True, help="How close equivalent people are.")
@click.option("--rate-low", metavar="P", help="The paper's lower limit; ours needs none.")
@point_options
@json_option
def distributional(
    k: str,
    epsilon: str,
    rate_high: str,
    exempt: str,
    blend: str,
    rate_low: str | None,
    as_json: bool,
    **asked: str | None,
) -> None:
    """Outlier privacy where the attacker knows how people were sampled, and that one person is in the data.

    Theorem 22, sharp: without the paper's lower limit on the rates and without its factor.
    """
    from hubbub import account

    made = account.distributional(k, rate_high, epsilon=epsilon, exempt=exempt, blend=blend, rate_low=rate_low)
    _answer(made, as_json=as_json, **asked)


@account.command(
    "lecture",
    short_help="Theorem 4 of the lecture notes, with numbers.",
    epilog=examples("hubbub account lecture --k 50 --epsilon 0.1 --delta 1e-6"),
)
@click.option("--k", metavar="K", required=True, help="The size of a crowd.")
@click.option("--epsilon", metavar="EPS", required=True, help="The loss of the mechanism, and the sampling rate.")
@point_options
@json_option
def lecture(k: str, epsilon: str, as_json: bool, **asked: str | None) -> None:
    """The lecture notes' Theorem 4: a (k, epsilon)-crowd-blending mechanism on a sample of rate epsilon.

    The notes promise (O(epsilon), e^-Omega(k)). Without --delta or --at-epsilon this is the answer at their own
    epsilon' = ln(1 + epsilon (e^(epsilon + s) - 1)) with e^s = (2 - epsilon)/(1 - epsilon).
    """
    from hubbub import account

    _answer(account.lecture(k, epsilon), as_json=as_json, **asked)


def _answer(made: Tradeoff, *, delta: str | None, at_epsilon: str | None, curve: str | None, as_json: bool) -> None:
    """Ask one way, or for the curve, or both, and print what came out."""
    if curve is not None and Path(curve).suffix.lower() != ".csv":
        from hubbub import charts

        charts.ready(curve)
    asked = curve is None or delta is not None or at_epsilon is not None
    point = made.ask(delta=delta, at_epsilon=at_epsilon) if asked else None
    result = {} if point is None else point.as_json(in_shell)
    if curve is not None:
        rows = made.curve()
        _write(rows, curve, made)
        result |= {"curve": curve, "points": len(rows)}
    if as_json:
        print_json(result)
        return
    console = page()
    console.print(made.title, style="bold")
    if point is not None:
        table(point.rows(), ["", "epsilon", "delta"])
        console.print()
        for sentence in point.sentences(in_shell):
            console.print(sentence)
    if curve is not None:
        console.print(f"The curve is in {curve}.")


def _write(rows: Sequence[Mapping[str, Any]], path: str, made: Tradeoff) -> None:
    if Path(path).suffix.lower() != ".csv":
        from hubbub.charts.amplification import amplification_chart

        amplification_chart(rows, made.title, floor=float(made.floor)).save(path)
        return
    try:
        with open(path, "w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise WrongUse(f"the curve cannot be written to {path}: {error.strerror}; choose another file") from error


for command in (sanitize, mean, group, compose, convert):
    account.add_command(command)
