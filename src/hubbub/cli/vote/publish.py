"""``hubbub vote publish``: ballots beside the official record, so that each voter stays lost in the crowd."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from hubbub.cli import confirm_weak, examples, json_option, say, waiting, yes_option
from hubbub.cli.vote.reading import read_ballots, reading_options
from hubbub.errors import WrongUse

_ASKED: Final[tuple[tuple[str, str | None, str, dict[str, Any]], ...]] = (
    ("--official", "FILE", "The official record: rounds with their totals, and who won.", {}),
    ("--k", "K", "Ways with fewer ballots are hidden.", {"default": "30", "show_default": True}),
    ("--sample", "P", "The share of a fresh secret sample; if not given, one half.", {}),
    ("--full-count", None, "Exact counts of all ballots, which can be subtracted from official totals.", {}),
    ("--prefix", None, "The first ranks of ballots instead, by a tree that first choices predict.", {}),
    ("--noisy", None, "The first ranks of ballots instead, with noise on every number.", {}),
    ("--epsilon", "E", "With --noisy: the privacy loss, all ranks together; if not given, 1.", {}),
    ("--depth", "D", "With --noisy: how many ranks, 2 to 6; if not given, 3.", {}),
    ("--at-delta", "D", "The delta of what the sample buys.", {"default": "1e-6", "show_default": True}),
    ("--coverage", "C", "How often an interval is right.", {"default": "0.95", "show_default": True}),
    ("--dataset", "NAME", "The voters' name in the ledger; if not given, that of the file.", {}),
    ("--ledger", "FILE", "Another ledger than your own.", {}),
    ("--out", "DIR", "The folder for the table, certificate and report.", {"required": True}),
)
_NAMES: Final = ("official", "k", "sample", "full_count", "prefix", "noisy", "epsilon", "depth", "at_delta", "coverage")


def _options(command: Any) -> Any:
    for flag, takes, text, more in reversed(_ASKED):
        extra: dict[str, Any] = {"is_flag": True} if takes is None else {"metavar": takes}
        command = click.option(flag, help=text, **extra, **more)(command)
    return command


@click.command(
    "publish",
    short_help="Publish ballots, each voter lost in the crowd.",
    epilog=examples(
        "hubbub vote tally millbrook --as oakland --record council-count.json",
        "hubbub vote publish millbrook --official council-count.json --out council/",
    ),
)
@click.argument("file")
@_options
@click.option("--file-format", "form", metavar="csv|parquet", default="csv", show_default=True, help="Of the table.")
@reading_options
@yes_option
@json_option
def publish(file: str, out: str, form: str, yes: bool, as_json: bool, **words: Any) -> None:
    """Publish the ballots of FILE beside the official record of a count for one winner.

    Each ballot counts for its way through the official rounds: the candidates it sits with until a finalist has it or
    it is exhausted. A fresh secret half of the ballots is drawn, and ways with at least k of them are shown. The
    ballots, counted again, must give every official total, else nothing is published (exit code 3, for you alone).

    Choose k, sample and method before you look, and draw once: a table that is drawn again until it looks right
    promises nothing.
    """
    from hubbub.cli.release import answer
    from hubbub.demo import council
    from hubbub.kinds.ballots.request import KIND
    from hubbub.opening import publish_ballots
    from hubbub.publication.files import check_format
    from hubbub.publication.staging import prepared
    from hubbub.release import save

    check_format(form)
    spec = KIND.ask(**{name: words[name] for name in _NAMES})
    confirm_weak(spec, yes)
    with waiting("Reading"):
        read = read_ballots(file, words)
    if len(read.ballots.levels):
        raise WrongUse(
            "some ballots rank candidates equal, and a way leads to one of them; settle them by the rule of the "
            "official count, like --overvotes stop or skip"
        )
    for remark in read.remarks:
        say(f"Note: {remark}.")
    path = None if file == council.NAME else file
    dataset = words["dataset"] or (council.NAME if path is None else None)
    with prepared(Path(out), spec.size_hint()), waiting("Counting"):
        done = publish_ballots(spec, read, path, dataset=dataset, ledger=words["ledger"], accept_weak=True)
        written = save(done, out, form=form)
    answer(done, written, as_json=as_json)
