"""``hubbub vote publish``: ballots beside the official record, so that each voter stays lost in the crowd."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from hubbub import registry
from hubbub.cli import (
    ELSE,
    GroupedOption,
    InGroups,
    confirm_weak,
    examples,
    json_option,
    options,
    print_text,
    yes_option,
)
from hubbub.cli.vote.reading import read_ballots, reading_options
from hubbub.errors import WrongUse
from hubbub.protocol.option import WHAT, Option
from hubbub.runtime.progress import working

KIND: Final = registry.kind("ballots")
_OWN: Final = (
    Option("dataset", "NAME", "The voters' name in the ledger; if not given, that of the file."),
    Option("ledger", "FILE", "Another ledger than your own."),
    Option("out", "DIR", "The folder for the table, certificate and report.", required=True),
    Option("replace", None, "Replace a release that is in the folder already."),
    Option("file_format", "csv|parquet|xlsx", "Of the table.", default="csv"),
)


_FEW: Final = 5  # ways, of which it is told beforehand that there cannot be more
_READ: Final = "How the file is read"
_RARE: Final = ("full_count", "prefix", "depth", "at_delta", "coverage", "ledger", "replace", "file_format")
_USUAL: Final = ("contest", "columns", "candidates")
"""Of the options about reading, those that help shows at once."""


class _ByHeading(InGroups):
    """What is published, and what few need to say about reading the file."""

    headings = (WHAT, _READ, ELSE)

    def heading(self, param: click.Parameter) -> str:
        if param.name in {option.name for option in (*KIND.options, *_OWN)}:
            return WHAT
        return _READ if isinstance(param, GroupedOption) or param.name == "place" else ELSE

    def advanced(self, param: click.Parameter) -> bool:
        return param.name in _RARE or (self.heading(param) == _READ and param.name not in _USUAL)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        click.Command.format_epilog(self, ctx, formatter)  # the record comes first, and then the table


@click.command(
    "publish",
    cls=_ByHeading,
    short_help="Publish ballots, each voter lost in the crowd.",
    epilog=examples(
        "hubbub vote tally millbrook --as oakland --record council-count.json",
        "hubbub vote publish millbrook --official council-count.json --out council/",
    ),
)
@click.argument("file")
@partial(options, declared=(*KIND.options, *_OWN))
@reading_options
@yes_option
@json_option
def publish(file: str, out: str, file_format: str, yes: bool, as_json: bool, **options: Any) -> None:
    """Publish the ballots of FILE beside the official record of a count for one winner.

    Each ballot counts for its way through the official rounds: the candidates it sits with until a finalist has it or
    it is exhausted. A fresh secret half of the ballots is drawn, and ways with at least k of them are shown. The
    ballots, counted again, must give every official total, else nothing is published (exit code 3, for you alone).

    Choose k, sample and method before you look, and draw once: a table that is drawn again until it looks right
    promises nothing.
    """
    from hubbub.cli.release import answer
    from hubbub.demo import council
    from hubbub.ledger.ledger import Ledger
    from hubbub.opening import publish_ballots
    from hubbub.protocol.bound import Bound
    from hubbub.protocol.weakness import weaknesses
    from hubbub.publication.files import check_format
    from hubbub.publication.staging import prepared
    from hubbub.release import save

    check_format(file_format)
    spec: Any = KIND.ask(**{option.name: options[option.name] for option in KIND.options})
    confirm_weak(weaknesses(Bound(spec)), yes)
    if spec.visible_at_most is not None and 0 < spec.visible_at_most < _FEW:
        ways = f"about {spec.visible_at_most} way{'' if spec.visible_at_most == 1 else 's'}"
        print_text(
            f"Note: by the official first choices, at most {ways} can have k = {spec.k} ballots and be shown; a smaller k "
            "shows more."
        )
    with working("Reading"):
        read = read_ballots(file, options)
    if len(read.ballots.levels):
        raise WrongUse(
            "some ballots rank candidates equal, and a way leads to one of them; settle them by the rule of the "
            "official count, like --overvotes stop or skip"
        )
    for remark in read.remarks:
        print_text(f"Note: {remark}.")
    path = None if file == council.NAME else file
    dataset = options["dataset"] or (council.NAME if path is None else None)
    replace, ledger = options["replace"], Ledger(options["ledger"])
    with prepared(Path(out), spec.size_hint(), replace=replace, ledger=ledger), working("Counting"):
        done = publish_ballots(spec, read, path, dataset=dataset, ledger=options["ledger"], accept_weak=True)
        written = save(done, out, form=file_format, replace=replace)
    answer(done, written, as_json=as_json)
