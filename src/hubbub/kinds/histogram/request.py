"""From options to the spec of a histogram; what is wrong with them is one sentence.

Here is also the kind itself: what it is called, what it can be asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from hubbub.channels.catalogue import Made, make
from hubbub.errors import WrongUse
from hubbub.kinds.histogram.spec import Histogram
from hubbub.kinds.histogram.wire import read
from hubbub.numeric.exact import Exact, integer, positive, rational
from hubbub.numeric.limits import a_coverage, a_share
from hubbub.options.mechanism import MECHANISM
from hubbub.protocol.option import COLLECTED, HOW, WHERE, WHOSE, Option
from hubbub.protocol.spec import Kind
from hubbub.serialization.manifest import MOST_PARTS
from hubbub.tables.bins import Axis, Discovered, declared_size, parse
from hubbub.tables.privacy_unit import Unit, declared_collected, on_average, within_bins

if TYPE_CHECKING:
    from hubbub.channels.protocol import Channel


def histogram(
    by: Sequence[str | Axis],
    *,
    crowd: Exact | None = None,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
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
    noise: str | None = None,
    parts: int | str | None = None,
) -> Histogram:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if isinstance(by, str):
        raise WrongUse("by is a list of columns, even for one column; put it in brackets, like by=['department']")
    if not by:
        raise WrongUse("a histogram needs at least one column; add `by=COLUMN`")
    axes = tuple(spec if isinstance(spec, Axis) else parse(spec) for spec in by)
    columns = [axis.column for axis in axes]
    if len(set(columns)) != len(columns):
        raise WrongUse("each column can be used once; combine its bins into one `by`")
    who = within_bins(unit or Unit(), axes)
    if channel is None:  # a channel names its own parameters
        crowd = None if crowd is None else integer(crowd, "`crowd`", least=2)
        epsilon = None if epsilon is None else rational(epsilon, "`epsilon`")
    if who.counts_rows:
        check_rows(axes, sampled=sample is not None or scale_up, in_parts=parts is not None)
    found = any(isinstance(axis, Discovered) for axis in axes)
    whole_epsilon, whole_delta = epsilon, delta
    if (who.distinct is not None or who.counts_rows) and epsilon is not None:
        moved = who.moved(declared_size(axes))
        epsilon = rational(epsilon, "epsilon") / moved  # what is said is the total, over all rows or bins of a person
        delta = None if delta is None else rational(delta, "delta") / moved
    if noise is not None or (delta is not None and channel is None and not found):
        _check_noise(noise, crowd, epsilon, outlier, show_above, found)
        if who.counts_rows:
            raise WrongUse(
                "`mechanism` and `delta` are for people who count once in a bin; leave them out, or count people"
            )
        made = Made(_with_noise(noise or "auto", whole_epsilon, whole_delta, who.distinct or 1))
    elif delta is not None and channel is None:
        made = _threshold_for_found_bins(crowd, epsilon, delta, outlier, show_above)
    else:
        own = dict(options or {}) | ({} if delta is None else {"delta": delta})
        made = _by_intent(crowd, epsilon, outlier, show_above, channel, own)
    several = who.distinct is not None or who.counts_rows
    if channel is not None and several and made.channel.several_bins(1) is not None:
        raise WrongUse(
            "people in several bins are covered by noise on every count, and not by this mechanism; use noise, like `mechanism=gaussian`"
        )
    rate = None if sample is None else _rate(sample, "sample")
    given = declared_collected(collected, collected_between, exempt)
    if rate is not None and given is not None:
        raise WrongUse(
            "sample and collected exclude each other: either Hubbub draws the sample or somebody already did"
        )
    level = a_coverage(coverage)
    target = positive(at_delta, "at-delta")
    if target >= 1:
        raise WrongUse(f"`at_delta` must be below 1, not {target}; choose one like 1e-9")
    if scale_up and rate is None:
        raise WrongUse("`scale_up` needs the rate at which people are sampled; add `sample=RATE`")
    if who.counts_rows and given is not None:
        raise WrongUse("what a sample drawn by somebody else buys is known for people with one row; drop `collected`")
    if who.expected_rows:
        from hubbub.tables.estimation import check_expected_rows

        check_expected_rows(made.channel)
        if rate is not None and not scale_up:
            raise WrongUse("expected rows are those of everybody in the table; add `scale_up=True`, or drop `sample`")
    if who.distinct is not None and rate is not None:
        raise WrongUse(
            "a person in several bins cannot be sampled by thinning the counts; drop `sample` or use "
            "`one_row_per_person=True`"
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
        lowered=bool(made.remarks),
        parts=None if parts is None else _parts(parts),
    )


def check_rows(axes: Sequence[Axis], *, sampled: bool, in_parts: bool) -> None:
    """Refuse what is not known to be private, or not built, where several rows of a person count."""
    if any(isinstance(axis, Discovered) for axis in axes):
        raise WrongUse(
            "where several rows of a person count, one person could make a bin appear; declare the bins, like "
            "ward=A,B,other, or keep one row of each person (`one_row_per_person=True`)"
        )
    if sampled:
        raise WrongUse(
            "a person with several rows cannot be sampled by thinning the counts; drop `sample`, or use "
            "`one_row_per_person=True`"
        )
    if in_parts:
        raise WrongUse("a release in parts counts people; leave out `parts`, or the bounds on rows")


def _parts(given: int | str) -> int:
    parts = integer(given, "parts")
    if not 1 <= parts <= MOST_PARTS:
        raise WrongUse(f"`parts` is a number of files, from 1 to {MOST_PARTS:,}, not {parts:,}; choose one like 64")
    return parts


def _threshold_for_found_bins(
    crowd: Exact | None,
    epsilon: Exact | None,
    delta: Exact,
    outlier: str | None,
    show_above: Exact | None,
) -> Made:
    """Noise that is shown above the smallest threshold for which bins may be found in the data."""
    from hubbub.kinds.histogram.discovery import smallest_threshold

    if epsilon is None or crowd is not None or outlier is not None or show_above is not None:
        raise WrongUse("`delta` goes with `epsilon` alone: noise that is shown above a threshold; add `epsilon=E`")
    return make("warped", curve=rational(epsilon, "epsilon"), show_above=smallest_threshold(epsilon, delta))


def _check_noise(
    noise: str | None,
    crowd: Exact | None,
    epsilon: Exact | None,
    outlier: str | None,
    show_above: Exact | None,
    found: bool,
) -> None:
    """Refuse a kind of noise where something else is asked for."""
    if epsilon is None or crowd is not None or outlier is not None or show_above is not None:
        raise WrongUse("`delta` and `mechanism` go with `epsilon` alone: noise on every count; add `epsilon=E`")
    if found and noise is not None:
        raise WrongUse(
            "`mechanism` is for declared bins; declare them, like `by=age:0..100:10`, or leave `mechanism` out"
        )


def _with_noise(noise: str, epsilon: Exact | None, delta: Exact | None, bins: int) -> Channel:
    from hubbub.channels.noise_choice import choose_channel

    assert epsilon is not None
    return choose_channel(
        noise, rational(epsilon, "epsilon"), None if delta is None else positive(delta, "delta"), bins
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
        extra = {"epsilon": epsilon, "show_above": show_above, "mechanism": True} | dict(options)
        if crowd is not None or outlier is not None:
            raise WrongUse("`mechanism` says how all counts are drawn; drop `crowd` and `outlier`, or drop `mechanism`")
        return make(channel, **extra)
    if any(value is not None and value is not False for value in options.values()):
        named = next(name for name, value in options.items() if value is not None and value is not False)
        raise WrongUse(f"{named} belongs to a mechanism; write it there, like `mechanism=NAME:{named}=1`")
    if outlier is not None:
        if crowd is not None or epsilon is not None:
            raise WrongUse("an outlier curve says everything; drop `crowd` and `epsilon`")
        return make("warped", curve=outlier, show_above=show_above)
    if show_above is not None:
        raise WrongUse("`show_above` goes with an outlier curve; add `outlier=CURVE`, like `outlier=1:0.01,101:1`")
    if crowd is not None:
        return (
            make("exact-or-suppressed", k=crowd) if epsilon is None else make("noisy-below", k=crowd, epsilon=epsilon)
        )
    if epsilon is not None:
        return make("geometric", epsilon=epsilon)
    raise WrongUse("say how people are protected: `crowd=20`, `epsilon=1`, `outlier=1:0.01,101:1` or `mechanism=NAME`")


_rate: Final = partial(a_share, advice="leave it out to use everybody")


_ONE_ROW: Final = Option("one_row_per_person", None, "Keep one row of each person, secretly at random.", group=WHOSE)
UNIQUE: Final = Option(
    "unique_person",
    None,
    "Declare that each person has one row: it is not checked, and the certificate says so.",
    group=WHOSE,
    advanced=True,
)
"""Asked of whatever takes a column of people."""
DISTINCT: Final = Option(
    "distinct", "B", "Count each person in at most B bins, chosen secretly.", group=WHOSE, advanced=True
)
EXPECTED: Final = Option(
    "expected_rows",
    None,
    "Intervals for what is kept on average, not for what was kept now; refused where none is known.",
    group=WHOSE,
    advanced=True,
)
KEPT: Final = Option(
    "kept_rows",
    None,
    "With `one_row_per_person`: shorter intervals, for the rows that were kept now, not on average.",
    group=WHOSE,
    advanced=True,
)
ROWS: Final = (
    Option("rows_per_person", "M", "Count rows, at most M of each person, chosen secretly.", group=WHOSE),
    Option("rows_per_bin", "C", "Count rows: at most C of each person in each bin.", group=WHOSE, advanced=True),
    Option(
        "rows_called",
        "NOUN",
        "What a row is, in the plural, like visits: it names the column.",
        takes="str",
        group=WHOSE,
        advanced=True,
    ),
)
"""Asked of whatever counts several rows of a person."""

_SAMPLE: Final = Option("sample", "P", "Use a fresh secret sample: each person with probability P.", group=HOW)
_AT_DELTA: Final = Option("at_delta", "D", "The delta of what sampling buys.", default="1e-9", group=HOW, advanced=True)
SAMPLING: Final = (_ONE_ROW, UNIQUE, _SAMPLE, _AT_DELTA)
"""Whom a release counts: asked of everything that is counted once, by bins."""

_OWN: Final = (
    Option("by", "SPEC", "A column and its bins: town, town=Bath,other or age:0..90:10. Repeat it.", many=True),
    Option("crowd", "K", "Show exact counts of K people or more, and hide the others.", group=HOW),
    Option("epsilon", "EPS", "The privacy loss: noise on every count (with `crowd`: on those below K).", group=HOW),
    Option("delta", "D", "With `epsilon`: what finding the bins in the data may cost, or Gaussian noise.", group=HOW),
    Option(
        "outlier",
        "CURVE",
        "A loss for each crowd size, like 1:0.01,101:1 (warped noise).",
        takes="str",
        group=HOW,
        advanced=True,
    ),
    MECHANISM,
    _ONE_ROW,
    UNIQUE,
    DISTINCT,
    EXPECTED,
    KEPT,
    *ROWS,
    _SAMPLE,
    Option("scale_up", None, "With `sample`: estimates and intervals for everybody.", advanced=True),
    _AT_DELTA,
    Option("coverage", "C", "How often an interval is right.", default="0.95", advanced=True),
    Option(
        "weight",
        "RANGE",
        "Refused, with a hint: a table with design weights is a weighted count by bins.",
        takes="str",
        advanced=True,
    ),
    Option(
        "parts",
        "N",
        "With Spark: its executors draw the noise and write N Parquet files, for bins by the billion.",
        for_cluster=True,
        group=WHERE,
        advanced=True,
    ),
)


def from_options(
    *,
    person: str | None = None,
    one_row_per_person: bool = False,
    distinct: Exact | None = None,
    expected_rows: bool = False,
    kept_rows: bool = False,
    rows_per_person: Exact | None = None,
    rows_per_bin: Exact | None = None,
    rows_called: str | None = None,
    unique_person: bool = False,
    weight: str | None = None,
    **options: Any,
) -> Histogram:
    """The release that the words of a command ask for; what belongs to a channel goes into its options.

    Intervals of one row per person are for what is kept on average, where such intervals are known, unless `kept_rows`
    asks for the others.
    """
    if weight is not None:
        raise WrongUse(
            "a histogram counts people as they are, and how many they stand for is a weighted count by the same bins; ask "
            "for a count with `weight` and `by`"
        )
    unit = Unit(
        person=person,
        one_row_per_person=one_row_per_person,
        distinct=distinct,  # type: ignore[arg-type]
        expected_rows=expected_rows,
        rows_per_person=rows_per_person,  # type: ignore[arg-type]
        rows_per_bin=rows_per_bin,  # type: ignore[arg-type]
        rows_called=rows_called,
        unique_person=unique_person,
    )
    own = {option.name for option in (*_OWN, *COLLECTED)} | {"show_above", "channel", "noise"}
    rest = {name: options.pop(name) for name in list(options) if name not in own}
    average = on_average(unit, kept_rows=kept_rows)
    try:
        return histogram(unit=average, options=rest, **options)
    except WrongUse:
        if average == unit:
            raise
    return histogram(unit=unit, options=rest, **options)  # no such interval is known, or it says what else is wrong


KIND: Final = Kind(
    name="histogram",
    wire="histogram/1",
    help="""Count people by some columns, and publish the counts so that each person stays lost in the crowd.

SPEC is a column alone (its values are found in the data, where hidden bins may be absent), column=a,b,null,other
(these values), column:0..100:10 (a range in steps), column:[0,20000,50000,inf) (edges) or
column:month:2024-01..2024-12 (dates). Say how people are protected: `crowd=K`; `crowd=K` `epsilon=E`; `epsilon=E`;
`epsilon=E` `delta=D` (declared bins: geometric or Gaussian noise, whichever has less error for people in `distinct`
bins; bins found in the data: noise, shown above the smallest threshold that D allows, about ln(1/D)/E people, so that
smaller groups are not listed: a dry run says from what size on, hubbub check how many that leaves out);
`outlier=CURVE`; or `mechanism=NAME:key=value,...`, like `mechanism=warped:curve=1:0.01,101:1,show-above=110`.

Of people with several rows one is kept (`one_row_per_person=True`), each person counts once in at most B bins
(`distinct=B`), or rows count, at most M of each person (`rows_per_person=M`, perhaps with `distinct=B` and
`rows_per_bin=C`): the promise is to people, and more of what one person adds is more noise.

Of more than 100,000,000 declared bins only those that show a number are listed, and not listed means hidden.
With `parts=N`, for a table in Spark, neither counts nor rows come together in this process: the executors write N
files into the folder release/ of the output, which must be on storage that they share with this machine, and
release.json lists them. Promises, ledger and certificate are the same.

Exit code 3 and the sentence about several rows for one person tell something about the data: they are for you
alone. What is released about the same people under one name adds up in the ledger (hubbub ledger show).""",
    examples=(
        "hubbub release histogram hubbub-demo/millbrook.parquet --person resident --by age:0..90:10 --epsilon 1 --out o",
        "hubbub release histogram hubbub-demo/millbrook.parquet --person resident --by department --epsilon 1 "
        "--delta 1e-9 --out p",
        "hubbub release histogram spark://master:7077 --table people --rows-are-people --dataset town "
        "--by cell:0..10000000:1 --by age:0..100:1 --epsilon 1 --parts 256 --out /shared/release",
    ),
    options=_OWN,
    from_options=from_options,
    from_json=read,
    declared=COLLECTED,
)
Histogram.kind = KIND


_PLANNED: Final = ("crowd", "delta", "outlier", "show_above", "channel", "sample", "collected", "scale_up", "at_delta")


def plan_histogram(by: Sequence[str], options: Mapping[str, Any]) -> Histogram:
    """The release of a plan, which has flat words: those that no release takes belong to the channel."""
    named = {name: value for name, value in options.items() if name in _PLANNED}
    rest = {name: value for name, value in options.items() if name not in _PLANNED}
    if "channel" not in named:
        return histogram(by, **named, **rest)
    if "delta" in named:
        rest["delta"] = named.pop("delta")
    epsilon = {"epsilon": rest.pop("epsilon")} if "epsilon" in rest else {}
    return histogram(by, **named, **epsilon, options=rest)
