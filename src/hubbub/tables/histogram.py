"""A histogram release, as a value: everything about it that is public, before any data is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from hubbub.channels.catalogue import Made, make
from hubbub.channels.channel import Channel
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.thin import Thinned
from hubbub.errors import Refused, WrongUse
from hubbub.exact import Exact, ball, positive, rational, whole
from hubbub.tables.bins import Axis, Discovered, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Who counts as a person, and what happens to somebody with several rows."""

    person: str | None = None
    one_row_per_person: bool = False
    distinct: int | None = None

    def __post_init__(self) -> None:
        if (self.one_row_per_person or self.distinct is not None) and self.person is None:
            raise WrongUse("choosing among a person's rows needs the person column; add --person COLUMN")
        if self.one_row_per_person and self.distinct is not None:
            raise WrongUse("one-row-per-person and distinct exclude each other; choose one of them")
        if self.distinct is not None:
            object.__setattr__(self, "distinct", whole(self.distinct, "distinct", least=1))

    @property
    def words(self) -> str:
        """For the certificate."""
        if self.person is None:
            return "each row is taken to be one person"
        if self.one_row_per_person:
            return f"one row for each value of {self.person}, chosen secretly and uniformly; rows without are left out"
        if self.distinct is not None:
            return (
                f"each value of {self.person} counts once in at most {self.distinct} bins, chosen secretly; "
                "rows without are left out"
            )
        return f"{self.person} identifies people, and each has one row"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """How the people in the table were sampled from the population by somebody else, as declared."""

    low: Fraction
    high: Fraction
    exempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Counts by some columns, through a channel, for some unit, perhaps on a fresh secret sample."""

    axes: tuple[Axis, ...]
    channel: Channel
    unit: Unit = Unit()
    sample: Fraction | None = None
    collected: Collected | None = None
    at_delta: Fraction = Fraction(1, 10**9)
    coverage: Fraction = Fraction(19, 20)
    scale_up: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def discovered(self) -> bool:
        return any(isinstance(axis, Discovered) for axis in self.axes)

    @property
    def whole_channel(self) -> Channel:
        """The channel from the count of everybody to what is published: the secret sample is part of it."""
        return self.channel if self.sample is None else Thinned(self.sample, self.channel)


def histogram(
    by: Sequence[str],
    *,
    crowd: Exact | None = None,
    epsilon: Exact | None = None,
    outlier: str | None = None,
    show_above: Exact | None = None,
    channel: str | None = None,
    options: Mapping[str, Any] | None = None,
    unit: Unit | None = None,
    sample: Exact | None = None,
    collected: Exact | None = None,
    collected_between: tuple[Exact, Exact] | None = None,
    exempt: Exact = 0,
    at_delta: Exact = "1e-9",
    coverage: Exact = "0.95",
    scale_up: bool = False,
) -> Histogram:
    """The release that these words ask for, or one sentence that says what is wrong with them."""
    if isinstance(by, str):
        raise WrongUse("by is a list of columns, even for one column; put it in brackets, like by=['department']")
    if not by:
        raise WrongUse("a histogram needs at least one column; add --by COLUMN")
    axes = tuple(parse(spec) for spec in by)
    columns = [axis.column for axis in axes]
    if len(set(columns)) != len(columns):
        raise WrongUse("each column can be used once; combine its bins into one --by")
    made = _by_intent(crowd, epsilon, outlier, show_above, channel, options or {})
    rate = None if sample is None else _rate(sample, "sample")
    given = _collected(collected, collected_between, exempt)
    if rate is not None and given is not None:
        raise WrongUse(
            "sample and collected exclude each other: either Hubbub draws the sample or somebody already did"
        )
    level = rational(coverage, "coverage")
    if not 0 < level < 1:
        raise WrongUse(f"coverage must lie between 0 and 1, not {level}; choose one like 0.95")
    target = positive(at_delta, "at-delta")
    if target >= 1:
        raise WrongUse(f"at-delta must be below 1, not {target}; choose one like 1e-9")
    if scale_up and rate is None:
        raise WrongUse("scale-up needs the rate at which people are sampled; add --sample RATE")
    who = unit or Unit()
    if who.distinct is not None and rate is not None:
        raise WrongUse(
            "a person in several bins cannot be sampled by thinning the counts; drop --sample or use one-row-per-person"
        )
    return Histogram(
        axes=axes,
        channel=made.channel,
        unit=who,
        sample=rate,
        collected=given,
        at_delta=target,
        coverage=level,
        scale_up=scale_up,
        remarks=made.remarks,
    )


def _by_intent(
    crowd: Exact | None,
    epsilon: Exact | None,
    outlier: str | None,
    show_above: Exact | None,
    channel: str | None,
    options: Mapping[str, Any],
) -> Made:
    """The channel that the words mean."""
    if channel is not None:
        extra = {"epsilon": epsilon, "show_above": show_above} | dict(options)
        if crowd is not None or outlier is not None:
            raise WrongUse("channel names the mechanism itself; drop --crowd and --outlier, or drop --channel")
        return make(channel, **extra)
    if any(value is not None and value is not False for value in options.values()):
        named = next(name for name, value in options.items() if value is not None and value is not False)
        raise WrongUse(f"--{named.replace('_', '-')} belongs to a channel; add --channel NAME")
    if outlier is not None:
        if crowd is not None or epsilon is not None:
            raise WrongUse("an outlier curve says everything; drop --crowd and --epsilon")
        return make("warped", curve=outlier, show_above=show_above)
    if show_above is not None:
        raise WrongUse("show-above goes with an outlier curve; add --outlier CURVE, like --outlier 1:0.01,101:1")
    if crowd is not None:
        return (
            make("exact-or-suppressed", k=crowd) if epsilon is None else make("noisy-below", k=crowd, epsilon=epsilon)
        )
    if epsilon is not None:
        return make("geometric", epsilon=epsilon)
    raise WrongUse("say how people are protected: --crowd 20, --epsilon 1, --outlier 1:0.01,101:1 or --channel NAME")


def _rate(value: Exact, what: str) -> Fraction:
    rate = rational(value, what)
    if not 0 < rate < 1:
        raise WrongUse(f"{what} must lie between 0 and 1, not {rate}; leave it out to use everybody")
    return rate


def _collected(rate: Exact | None, between: tuple[Exact, Exact] | None, exempt: Exact) -> Collected | None:
    spared = whole(exempt, "exempt")
    if rate is not None and between is not None:
        raise WrongUse("collected and collected-between exclude each other; use the one you can vouch for")
    if rate is not None:
        p = _rate(rate, "collected")
        return Collected(low=p, high=p, exempt=spared)
    if between is not None:
        low, high = _rate(between[0], "collected-between"), _rate(between[1], "collected-between")
        if low > high:
            raise WrongUse(f"collected-between needs the lower rate first, not {low} and {high}; swap them")
        return Collected(low=low, high=high, exempt=spared)
    if spared:
        raise WrongUse(
            "exempt people are those outside a declared sampling rate; add --collected or --collected-between"
        )
    return None


def discovery_cost(channel: Channel) -> arb:
    """What it costs to publish only bins that occur: the probability that one person alone makes a bin appear.

    Guarantee: if an absent bin looks like a hidden one, then leaving out empty bins makes the pair of counts 1 and 0
    (0, cost)-close, at every epsilon, and changes no other pair.
    """
    law = channel.law(1)
    hidden = [tag for tag in law.tags if tag.startswith(SUPPRESSED)]
    if hidden != [SUPPRESSED]:
        raise Refused(
            "bins may be found in the data only where an absent bin looks like a hidden one, and this channel "
            "publishes a number for every bin; declare the values, like --by department=Police,Fire,other"
        )
    shown = ball(law.missing) + sum((block.total() for block in law.blocks if block.tag != SUPPRESSED), arb(0))
    shown += sum((sum(table.masses, arb(0)) for table in law.dense if table.tag != SUPPRESSED), arb(0))
    return shown
