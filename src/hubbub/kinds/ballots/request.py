"""From options to the spec of a table of ballots; and the kind itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from hubbub.errors import CheckFailed, HubbubError, WrongUse
from hubbub.kinds.ballots.spec import PublishedBallots
from hubbub.numeric.exact import Exact, integer, positive, rational
from hubbub.protocol.option import Option
from hubbub.protocol.spec import BALLOTS, Kind
from hubbub.serialization.exact_json import restored
from hubbub.voting.count.official import Official, official_of, read_official

HALF: Final = Fraction(1, 2)


def publish(
    official: Official | Mapping[str, Any] | str | os.PathLike[str],
    *,
    k: Exact = 30,
    sample: Exact | None = None,
    full_count: bool = False,
    prefix: bool = False,
    noisy: bool = False,
    epsilon: Exact | None = None,
    depth: Exact | None = None,
    at_delta: Exact = "1e-6",
    coverage: Exact = "0.95",
) -> PublishedBallots:
    """The table that these words ask for, or one sentence that says what is wrong with them.

    `official` is the official record: a value, JSON, or a file of either.
    """
    if prefix and noisy:
        raise WrongUse("`prefix` and `noisy` are two ways to cut rankings; choose one of them")
    if full_count and sample is not None:
        raise WrongUse("`full_count` counts every ballot and `sample` some of them; choose one of them")
    if noisy and (full_count or sample is not None):
        raise WrongUse("a noisy tree counts every ballot, with noise; leave out `full_count` and `sample`")
    if not noisy and (epsilon is not None or depth is not None):
        raise WrongUse("`epsilon` and `depth` are about a noisy tree; add `noisy`, or leave them out")
    rate = None if full_count or noisy else HALF if sample is None else rational(sample, "sample")
    extra: dict[str, Any] = {}
    if epsilon is not None:
        extra["epsilon"] = positive(epsilon, "epsilon")
    if depth is not None:
        extra["depth"] = integer(depth, "depth", least=2)
    return PublishedBallots(
        official=_record(official),
        method="prefix" if prefix else "noisy" if noisy else "paths",
        k=integer(k, "k", least=2),
        sample=rate,
        at_delta=positive(at_delta, "at-delta"),
        coverage=positive(coverage, "coverage"),
        **extra,
    )


def _record(given: Official | Mapping[str, Any] | str | os.PathLike[str]) -> Official:
    if isinstance(given, Official):
        return given
    return official_of(given) if isinstance(given, Mapping) else read_official(os.fspath(given))


def from_options(*, person: str | None = None, official: Any = None, **options: Any) -> PublishedBallots:
    """The table that the words of a command ask for; each ballot is a voter, whatever a column says."""
    return publish(official, **{name: value for name, value in options.items() if value is not None})


def read(given: Mapping[str, Any]) -> PublishedBallots:
    """The table that a description says, checked as if somebody had asked for it."""
    try:
        kinds: dict[str, Any] = {"method": str, "k": int, "depth": int, "sample": Fraction | None}
        kinds |= dict.fromkeys(("at_delta", "coverage", "epsilon"), Fraction)
        rest = {name: restored(kind, given[name]) for name, kind in kinds.items()}
        return PublishedBallots(official=official_of(given["official"]), **rest)
    except (KeyError, TypeError, HubbubError):
        raise CheckFailed("the description of the ballots is not one; get the original certificate") from None


KIND: Final = Kind(
    name="ballots",
    wire="ballots/1",
    help="""Publish ballots beside the official record, so that each voter stays lost in the crowd.

Each ballot counts for its way through the official rounds: the candidates it sits with until a finalist has it or it is
exhausted. A fresh secret half of the ballots is drawn, and ways with at least k of them are shown. The recount of the
ballots must give every official total, else nothing is published. Choose k, sample and method before you look, and draw
once: a table that is drawn again until it looks right promises nothing.""",
    examples=("hubbub vote publish millbrook --official hubbub-demo/council-count.json --out out/",),
    options=(
        Option(
            "official",
            "FILE",
            "The official record: rounds with their totals, and who won.",
            takes="str | PathLike[str]",
            missing="ballots are published beside the official record; add `official=FILE` (hubbub vote tally FILE "
            "--record writes one, and docs/elections.md has the form)",
        ),
        Option("k", "K", "Ways with fewer ballots are hidden.", default="30"),
        Option("sample", "P", "The share of a fresh secret sample; if not given, one half."),
        Option("full_count", None, "Exact counts of all ballots: can be subtracted from totals."),
        Option("prefix", None, "The first ranks of ballots, by a tree that first choices predict."),
        Option("noisy", None, "The first ranks of ballots, with noise on every number."),
        Option("epsilon", "E", "With `noisy`: the privacy loss, all ranks together (1)."),
        Option("depth", "D", "With `noisy`: how many ranks, 2 to 6 (3)."),
        Option("at_delta", "D", "The delta of what the sample buys.", default="1e-6"),
        Option("coverage", "C", "How often an interval is right.", default="0.95"),
    ),
    from_options=from_options,
    from_json=read,
    data=BALLOTS,
)
PublishedBallots.kind = KIND
