"""``hubbub account``: the theorems as a calculator. No data is read; numbers are certified and rounded up.

Every command is a function of :mod:`hubbub.account`: its parameters are the options, its docstring is the help.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from hubbub.account import (
    Composed,
    Converse,
    Converted,
    Grouped,
    NoisyFunction,
    NoisyMean,
    SampleAndSanitize,
    SampledHistogram,
    Tradeoff,
    compose,
    converse,
    convert,
    crowd,
    distributional,
    group,
    histogram,
    lecture,
    mean,
    noise,
    robust,
    sanitize,
)
from hubbub.cli import Commands, examples, page, print_json, question, table
from hubbub.errors import in_shell, writing
from hubbub.protocol.option import Option, options_of

PROMISES: Final = """

\b
PROMISE is a kind and its numbers:
  differential:epsilon=1,delta=1e-9             add or remove one person
  differential:epsilon=1,neighbours=replace     replace one person
  zero-knowledge:epsilon=0.1,k=100,n=10000      whoever knows 100 of 10000 rows
  zero-knowledge:epsilon=0.1,rate=0.1           whoever knows a sample of rate 0.1
  concentrated:rho=0.005                        zCDP: adds up without a delta
  gaussian:variance=100,numbers=5               Gaussian noise on numbers of which a person moves 5 by 1
  crowd-blending:k=20,epsilon=0.5
  simple-outlier:k=100,epsilon=1
  outlier:curve=1:0.01,101:1,delta=1e-6
"""


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


def _point(made: Tradeoff, *, delta: str | None, at_epsilon: str | None, curve: str | None, as_json: bool) -> None:
    """Ask one way, or for the curve, or both, and print what came out."""
    if curve is not None and Path(curve).suffix.lower() != ".csv":
        from hubbub import charts

        charts.ready(curve)
    wants_point = curve is None or delta is not None or at_epsilon is not None
    point = made.ask(delta=delta, at_epsilon=at_epsilon) if wants_point else None
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
    with writing(f"the curve {path}"), open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _table(
    found: SampleAndSanitize | NoisyMean | NoisyFunction | Converse | SampledHistogram,
    headings: Sequence[str],
    *,
    as_json: bool,
) -> None:
    if as_json:
        print_json(found.as_json())
        return
    table(found.table(), headings)
    for sentence in found.sentences():
        page().print(f"\n{sentence}")


def _promise(found: Composed | Grouped | Converted, *, as_json: bool, bold: bool = True) -> None:
    """A promise is bold, and what it rests on stands below it."""
    if as_json:
        print_json(found.as_json())
        return
    console, first = page(), bold
    for line in found.sentences():
        console.print(line, style="bold" if first else None)
        first = bold and not line


_POINT: Final = (
    *options_of(Tradeoff.ask),
    Option("curve", "FILE", "Write delta against epsilon, ours and the paper's: .csv, .png, .svg or .html."),
)
_OUTSIDE: Final = partial(_table, headings=["outside the sample", "epsilon", "delta"])
_SCALES: Final = partial(_table, headings=["scale of the Laplace noise", ""])
_NUMBERS: Final = partial(_table, headings=["", ""])


def _add(function: Callable[..., Any], answer: Callable[..., None], *lines: str, **more: Any) -> None:
    account.add_command(question(function, answer, *(f"account {function.__name__} {line}" for line in lines), **more))


_add(
    crowd,
    _point,
    "--k 20 --epsilon 0 --rate 0.1 --delta 1e-6",
    "--k 20 --epsilon 1 --rate 0.1 --at-epsilon 0.2 --mechanism noisy-below --json",
    also=_POINT,
)
_add(
    robust,
    _point,
    "--k 100 --epsilon 0.5 --rate-high 0.2 --rate-max 1 --exempt 5 --delta 1e-6",
    "--k 50 --epsilon 0.5 --rate-low 0.1 --rate-high 0.12 --at-epsilon 0.3395 --json",
    also=_POINT,
)
_add(
    distributional,
    _point,
    "--k 50 --epsilon 0 --rate-high 0.1 --delta 1e-6",
    "--k 50 --rate-low 0.1 --rate-high 0.1 --at-epsilon 0.5 --json",
    also=_POINT,
)
_add(lecture, _point, "--k 50 --epsilon 0.1 --delta 1e-6", also=_POINT)
_add(
    sanitize,
    _OUTSIDE,
    "--rows 1000 --of 1000000 --epsilon-zk 0.1",
    "--rows 1000 --of 10000 --epsilon-dp 1 --delta-dp 1e-9 --json",
)
_add(mean, _SCALES, "--rows 1000 --of 10000 --epsilon-zk 0.1", "--rows 100 --of 1000000 --scale 0.05 --json")
_add(
    noise,
    _NUMBERS,
    "--within 0.05 --fails 1e-6 --spread 1 --sensitivity 0.0001 --epsilon-zk 0.5",
    "--within 0.05 --fails 1e-6 --spread 1 --rows 2000 --of 10000 --scale 0.4 --json",
)
_add(histogram, _NUMBERS, "--rows 10000 --of 1000000 --bins 10 --epsilon-zk 0.04")
_add(converse, _NUMBERS, "--fails 0.05 --epsilon-zk 0.1", "--fails 0.05 --sampler-fails 0.5 --json")
_add(
    group,
    partial(_promise, bold=False),
    "zero-knowledge:epsilon=0.1,k=100,n=10000 --people 3",
    "outlier:curve=1:0.01,101:1 --people 10 --k 100 --json",
    text=PROMISES,
)
_add(
    compose,
    _promise,
    "differential:epsilon=1 differential:epsilon=0.5,delta=1e-9",
    "zero-knowledge:epsilon=0.1,rate=0.1 zero-knowledge:epsilon=0.2,rate=0.05 --json",
    "differential:epsilon=0.1 --times 50 --delta 1e-9",
    "differential:epsilon=0.1 gaussian:variance=100 --times 5 --delta 1e-6",
    text=PROMISES,
)
_add(
    convert,
    _promise,
    "zero-knowledge:epsilon=0.1,delta=1e-9,rate=0.1 --to differential",
    "differential:epsilon=0.5 --to crowd-blending --k 20 --json",
    "concentrated:rho=0.005 --to differential --delta 1e-9",
    text=PROMISES,
)
