"""What a series promises for all its periods together, and what can be worked out again."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from hubbub.guarantees.aggregates import BernoulliSample
from hubbub.guarantees.definitions import ConcentratedPrivacy, CrowdBlending, DifferentialPrivacy, ZeroKnowledge
from hubbub.guarantees.derivation import DMNS, GLP, HERE, Assumption, Derivation, Theorem, state_promise, texts
from hubbub.kinds.histogram.promises import PARTITION
from hubbub.numeric.exact import ball, precision, rounded, to_text
from hubbub.numeric.format import short
from hubbub.protocol.check import Check
from hubbub.query_classes.series import Blocks, Crowds
from hubbub.tables.bins import rule

if TYPE_CHECKING:
    from hubbub.kinds.series.spec import Series

INCREMENTS: Final = Theorem("series.increments", "geometric noise on increments and blocks of them", f"{DMNS}; {HERE}")
FACTOR: Final = Theorem("series.factor", "Gaussian noise on a factor of the running sums, in whole numbers", HERE)
CONCENTRATED: Final = Theorem("series.factor-zcdp", "the zCDP of Gaussian noise on a factor of the running sums", HERE)
SAMPLES: Final = Theorem("series.samples", "geometric noise on the increments of secret samples", f"{GLP}; {HERE}")
CROWDS: Final = Theorem("series.crowds", "exact crowds of bins by periods of a public calendar", HERE)
_FIRST: Final = "each person counts in the first period in which they have a row, and in no other"
_RECUR: Final = "each person counts in the first {recur} periods in which they have a row, and in no other"
_ROWS: Final = "each row is another person, in one period"
_EVERY: Final = "each person has at most one row in a period, and may be in all of them"
_EVERY_SEVERAL: Final = "each person may be in all periods"
_CALENDAR: Final = (
    "the calendar is public: {periods} periods by {every} from {first} on, each a table of its own, with one row for each "
    "person; rows that come late count in the period in which they come"
)
_ONE_ROW_KEPT: Final = (
    "{person} identifies people, and each has one row in a period; of those with several one was kept in {periods}, chosen "
    "secretly and uniformly"
)
_CALENDAR_SEVERAL: Final = (
    "the calendar is public: {periods} periods by {every} from {first} on, each a table of its own; rows that come late count "
    "in the period in which they come"
)
_DATED: Final = (
    "the calendar is public: {periods} periods by {every} from {first} on, to which {date} dates each row, in UTC where it has a "
    "time zone; of each person the earliest row counts that is of a published period for which they did not count yet, so "
    "that rows that come late count in the period in which they come"
)
_DATED_SEVERAL: Final = (
    "the calendar is public: {periods} periods by {every} from {first} on, to which {date} dates each row, in UTC where it has a "
    "time zone; of each person those rows are taken that are of the earliest published period for which they did not count "
    "yet, so that rows that come late count in the period in which they come"
)
_DATED_ROWS: Final = (
    "the calendar is public: {periods} periods by {every} from {first} on, to which {date} dates each row, in UTC where it has a "
    "time zone; rows that come late never count"
)
_FRESH: Final = "every period counts a secret sample, drawn anew, which takes each person with probability {rate}"
_PANEL: Final = (
    "all periods count one secret sample, drawn before the first, which takes each person with probability {rate} and is kept "
    "in secret"
)
_ONCE: Final = "each period was drawn once, and what it counted is frozen and was not read again"
_DIGITS: Final = 12


def _assumptions(series: Series, one_row_kept: tuple[str, ...]) -> tuple[Assumption, ...]:
    calendar, several = series.calendar, series.unit.chooses or bool(one_row_kept)
    who = series.unit.assumption
    if one_row_kept:
        named = (("person", series.unit.person or ""), ("periods", ", ".join(one_row_kept)))
        who = Assumption("series.one-row-kept", _ONE_ROW_KEPT, named)
    if series.unit.person is None:
        recur = Assumption("series.rows", _ROWS)
    elif series.limits_people and series.recur == 1:
        recur = Assumption("series.first", _FIRST)
    elif series.limits_people:
        recur = Assumption("series.recur", _RECUR, texts(recur=series.recur))
    elif several:
        recur = Assumption("series.every-period-several", _EVERY_SEVERAL)
    else:
        recur = Assumption("series.every-period", _EVERY)
    way, sample = series.way, tuple[Assumption, ...]()
    if isinstance(way, Blocks) and way.sample is not None:
        name, said = ("series.panel", _PANEL) if way.panel else ("series.fresh-samples", _FRESH)
        sample = (Assumption(name, said, texts(rate=way.sample)),)
    given = (*texts(periods=calendar.periods), ("every", calendar.every), ("first", calendar.first))
    name, said = ("series.calendar-several", _CALENDAR_SEVERAL) if several else ("series.calendar", _CALENDAR)
    calendar_rule = Assumption(name, said, given)
    if series.date is not None:
        chooses = series.unit.chooses
        name, said = ("series.dated-several", _DATED_SEVERAL) if chooses else ("series.dated", _DATED)
        if series.unit.person is None:
            name, said = "series.dated-rows", _DATED_ROWS
        calendar_rule = Assumption(name, said, (*given, ("date", series.date)))
    return (
        PARTITION,
        *map(rule, series.axes),
        who,
        recur,
        *sample,
        calendar_rule,
        Assumption("series.once", _ONCE),
    )


@lru_cache(maxsize=64)
def promises(series: Series, one_row_kept: tuple[str, ...] = ()) -> tuple[Derivation, ...]:
    """Guarantee: each is a theorem about all periods together: those of :class:`Blocks`, :class:`Factor` or
    :class:`Crowds`, for what the spec says that one person moves. One row that was kept of several moves no more."""
    way, people, assumptions = series.way, series.unit.people, _assumptions(series, one_row_kept)
    if isinstance(way, Crowds):
        crowds = CrowdBlending(k=way.k, epsilon=Fraction(0))
        kept = series.unit.crowds  # people, or the rows that were kept of them
        return (state_promise(crowds, theorem=CROWDS, numbers=texts(k=way.k), assumptions=assumptions, people=kept),)
    if isinstance(way, Blocks) and way.sample is not None:
        numbers = texts(
            epsilon=way.epsilon,
            recur=way.recur,
            moved=way.l1,
            rate=way.sample,
            inner_out=way.inner,
            known_out=way.known_rate,
        )
        known = ZeroKnowledge(epsilon=way.epsilon, aggregate=BernoulliSample(p=way.known_rate))
        return tuple(
            state_promise(each, theorem=SAMPLES, numbers=numbers, assumptions=assumptions, people=people)
            for each in (known, DifferentialPrivacy(epsilon=way.epsilon))
        )
    if isinstance(way, Blocks):
        claim = DifferentialPrivacy(epsilon=way.epsilon)
        numbers = texts(epsilon=way.epsilon, recur=way.recur, moved=way.l1, block=way.block, share=way.share)
        return (state_promise(claim, theorem=INCREMENTS, numbers=numbers, assumptions=assumptions, people=people),)
    noise, delta = way.gaussian_noise, way.delta
    numbers = texts(
        epsilon=way.epsilon, variance=way.s2, theta=way.theta, bits=way.bits, recur=way.recur, delta_out=delta
    )
    private = DifferentialPrivacy(epsilon=way.epsilon, delta=delta)
    concentrated = ConcentratedPrivacy(rho=rounded(noise.rho, up=True, digits=_DIGITS))
    return (
        state_promise(private, theorem=FACTOR, numbers=numbers, assumptions=assumptions, people=people),
        state_promise(
            concentrated,
            theorem=CONCENTRATED,
            numbers=texts(squared=noise.squared, variance=way.s2, rho_out=concentrated.rho),
            assumptions=assumptions,
            people=people,
        ),
    )


def checks(series: Series) -> Iterator[Check]:
    """What one person moves in all periods together, worked out again, against the noise."""
    way = series.way
    if isinstance(way, Crowds):
        yield Check("the crowds of the series", way.recur == 1, f"increments below {way.k} are hidden for good")
    elif isinstance(way, Blocks) and way.sample is not None:
        lost, share = way.single_rate * series.sensitivity.l1, way.epsilon / way.recur
        if way.panel:
            lost, share = lost * way.recur, way.epsilon
        with precision():
            held = bool((ball(way.sample) * ball(lost).expm1()).log1p() <= ball(share))
        found = (
            f"a loss of {short(lost, 9)} in a sample at rate {to_text(way.sample)} is one of at most {short(share, 9)}"
        )
        yield Check("the noise of the series", held, found)
    elif isinstance(way, Blocks):
        block = way.block_rate or 0
        loss = way.recur * series.sensitivity.l1 * (way.single_rate + block)
        yield Check("the noise of the series", loss <= way.epsilon, f"one person loses {to_text(loss)} in all periods")
    else:
        found = f"delta {float(way.delta):.3g} at epsilon {to_text(way.epsilon)}"
        enough = way.squared >= series.sensitivity.l2_squared and way.moved >= series.numbers_moved
        yield Check("the noise of the series", enough and way.delta < 1, found)
