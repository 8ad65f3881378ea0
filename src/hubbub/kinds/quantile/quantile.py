"""The value below which a share q of people lies, and an interval around it, by bins.

A quantile is no sum, so it is not declared as one (:mod:`hubbub.kinds.sums.sums`): points are drawn by their rank
(:mod:`hubbub.kinds.quantile.ranks`). Bins, people, protections, files and sentences are those of any other statistic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from math import isfinite
from typing import Final, Unpack

from flint import arb

from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.derivation import HERE, Theorem, texts
from hubbub.kinds.histogram.request import ROWS, UNIQUE
from hubbub.kinds.quantile.ranks import (
    Table,
    Target,
    Window,
    around,
    draw,
    law,
    margin,
    offsets,
    shares,
    weights,
    window_weights,
)
from hubbub.kinds.sums import text
from hubbub.kinds.sums.columns import NO_NUMBERS, Row
from hubbub.kinds.sums.intervals import Ends, drawn_from
from hubbub.kinds.sums.mechanism import Cells
from hubbub.kinds.sums.request import BY, DISTINCT, OF, ONE_ROW, WHERE, Common, common_words, kind_of
from hubbub.kinds.sums.spec import Statistic, needs_epsilon
from hubbub.kinds.sums.sums import ENDS, Estimate, Number, Phrases, known
from hubbub.noise.source import Source
from hubbub.numeric.exact import Exact, ball, log, precision, rational, rounded, to_text, upper
from hubbub.numeric.format import short
from hubbub.protocol.check import Check
from hubbub.protocol.drawing import Mark
from hubbub.protocol.option import HOW, Option
from hubbub.protocol.spec import Kind
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bounded_column import Measure, measured
from hubbub.tables.condition import Condition
from hubbub.tables.protection import Crowd, Knowledge

RANKS: Final = Theorem("statistic.ranks", "permute-and-flip on ranks", f"McKenna, Sheldon, NeurIPS 2020; {HERE}")
MOST_RANKED: Final = 100_000  # steps of a quantile
VALUE_STEPS: Final = "value_steps"
INTERVAL_SHARE: Final = Fraction(1, 10)
"""Of epsilon, for the interval of a quantile. The value is what people read: its chance to be a wrong step falls
exponentially with its part, the width of the interval only inversely with the rest."""
_DIGITS: Final = 12
_HALF: Final = Fraction(1, 2)  # a step


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile(Statistic):
    """The value below which a share q of the people lies, of each bin or of all who have a value; a share of epsilon is for
    the interval around it."""

    of: Measure
    q: Fraction
    interval: Fraction = INTERVAL_SHARE

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        needs_epsilon(self.protection)
        if not 0 < self.q < 1:
            raise WrongUse("a quantile lies between 0 and 1, like 0.5 for the median; choose `q` so")
        if not 0 <= self.interval < 1:
            raise WrongUse(
                "`interval_share` is the share of epsilon for the interval of a quantile, at least 0 and below 1; choose "
                "one like 0.1, or 0 for the value alone"
            )
        if self.of.steps > MOST_RANKED:
            raise WrongUse(f"a quantile is found among at most {MOST_RANKED:,} steps; declare a coarser step")

    @property
    def measured(self) -> Measure | Condition | None:
        return self.of

    @property
    def ranked(self) -> bool:
        return True

    @property
    def by_value(self) -> bool:
        return True

    @property
    def theorem(self) -> Theorem:
        return RANKS

    @property
    def stated(self) -> tuple[tuple[str, str], ...]:
        middle, rest = shares(self.noise_loss, self.interval)
        return texts(q=self.q, steps=self.of.steps, value=middle, interval=rest)

    @property
    def published(self) -> tuple[str, ...]:
        if not isinstance(self.protection, Crowd):
            return (VALUE_STEPS,)
        rows = self.profiled or self.unit.one_row_per_person
        return ("sampled" if self.sampled else self.unit.rows_column if rows else "people", VALUE_STEPS)

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that are published, and both ends of the interval, in steps of the declared range as the value."""
        return (*self.published, *ENDS[1:])

    @property
    def outputs(self) -> tuple[Number, ...]:
        return (Number(heading(self), mark=Mark.RANGE),)

    @property
    def possible(self) -> tuple[Fraction, Fraction] | None:
        return (self.of.low, self.of.high) if self.interval else None

    @property
    def phrases(self) -> Phrases:
        return phrases(self)

    def draw_rows(self, cells: Cells, source: Source) -> list[Row]:
        """The exact size of a crowd; then the quantile and both ends of its interval, as points.

        Guarantee: drawn by permute-and-flip at what the value and its interval may lose each.
        """
        crowd = self.protection if isinstance(self.protection, Crowd) else None
        rows: list[Row] = []
        for table in cells.by_step():
            people = sum(count for _, count in table)
            if crowd is not None and people < crowd.k:
                rows.append((None,) * len(self.columns))
                continue
            size = () if crowd is None else (people,)
            wanted = aims(self, None if crowd is None else people)
            rows.append((*size, *_draw_points(table, self.of.steps, wanted, source)))
        return rows

    def estimate(self, rows: list[Row]) -> list[tuple[Estimate, ...]]:
        return [(_estimate(self, row),) for row in rows]

    def mechanism_checks(self) -> Iterator[Check]:
        yield _ranks_hold(aims(self, 2), self.noise_loss)

    def ends_in_file(self, row: Row, low: float | None, high: float | None) -> Row:
        hidden = None in row
        points = ((low, _HALF), (high, -_HALF))
        return (*row, *(None if hidden else _point(self.of, end, back) for end, back in points))


def _draw_points(table: Table, steps: int, wanted: Aims, source: Source) -> tuple[int, int, int]:
    """The value and both ends of its interval; without one, of the whole range."""
    value = draw(weights(table, steps, wanted.value, wanted.value_loss), source)
    if wanted.window is None:
        return value, 0, steps
    at = draw(window_weights(table, steps, wanted.window, value, wanted.window_loss), source)
    return value, *around(value, wanted.window.offsets[at], steps)


def _estimate(spec: Quantile, row: Row) -> Estimate:
    """A value and the two ends of its interval around it, as points 0..W."""
    measure = spec.of
    if row[-1] is None:
        return Estimate(None, None, measure.low, measure.high)
    value, *ends = map(known, row[-3:])
    reaches = offsets(measure.steps) if spec.interval else (measure.steps,)
    if not 0 <= value <= measure.steps or tuple(ends) not in [around(value, k, measure.steps) for k in reaches]:
        raise ValueError("a point is beyond the range, or its interval is none that is drawn")
    low, high = (measure.value(end) for end in ends)
    return Estimate(measure.value(value), measure.value(value), *measure.unrounded(low, high))


def _point(measure: Measure, end: float | None, back: Fraction) -> int | None:
    """The step that was drawn: the file has an end half a step further out, where that is in the range."""
    if end is None:
        return None
    if not isfinite(end):
        raise CheckFailed(NO_NUMBERS)
    at = (Fraction(end) - measure.low) / measure.step
    on_a_step = abs(at - round(at)) < _HALF / 2  # else it is half way between two steps
    step = round(at if on_a_step else at + back)
    if not 0 <= step <= measure.steps:
        raise CheckFailed(NO_NUMBERS)
    return step


# --- what is aimed at ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Aims:
    """What is drawn for a quantile: the value, and the offset of its interval if there is one; each with what it may lose."""

    value: Target
    value_loss: Fraction
    window: Window | None
    window_loss: Fraction


def aims(spec: Quantile, people: int | None = None) -> Aims:
    """What is drawn for a quantile of a bin.

    Guarantee: of a bin of c people an interval holds every q-quantile if fewer than q c lie below its low end, and more
    at its high one or below; it does but for 1 - coverage, by :func:`hubbub.kinds.quantile.ranks.margin`. Of a sample
    that has half of it, and instead of q c stand q c less and more sqrt(c ln(1/b)/2), or a line above that where c is
    not public: by Hoeffding's inequality whoever lies below the q-quantile of all is then not too many, or too few, in
    the sample, but for a quarter each. Where several rows of a person count, c is how many rows those have who were
    drawn, and the sample is of people.
    """
    loss, measure, q = spec.noise_loss, spec.of, spec.q
    replacing, miss = isinstance(spec.protection, Crowd), 1 - spec.coverage
    middle, rest = shares(loss, spec.interval)
    value = Target(slope=q, offset=Fraction(0), replacing=replacing)
    if not rest:
        return Aims(value=value, value_loss=middle, window=None, window_loss=rest)
    slope, away = _line(spec, miss / 4, people) if spec.sampled else (Fraction(0), Fraction(0))
    low, high = (Target(slope=q + sign * slope, offset=sign * away, replacing=replacing) for sign in (-1, 1))
    choices = offsets(measure.steps)
    moved = Window(low=low, high=high, aim=Fraction(0), offsets=choices).moved
    aim = margin(moved, rest, len(choices), miss / 2 if spec.sampled else miss)
    window = Window(low=low, high=high, aim=aim, offsets=choices)
    return Aims(value=value, value_loss=middle, window=window, window_loss=rest)


def _line(spec: Quantile, miss: Fraction, people: int | None) -> Ends:
    """(slope, offset) of a line that is nowhere below sqrt(c ln(1/miss)/2): at the c that is public, or touching it at
    the number of people that a bin has on average. Of K people with several rows it is what Serfling's inequality says:
    how many rows of somebody lie up to the quantile of all, less q of their rows, is of an interval as long as a person
    has rows in a bin, and everybody's add up to no less than 0."""
    with precision():
        double = rounded(log(1 / miss) / 2, up=True, digits=_DIGITS)
        if isinstance(spec.protection, Crowd):
            assert people is not None
            return Fraction(0), rounded((ball(double) * people).sqrt(), up=True, digits=_DIGITS)
        assert isinstance(spec.protection, Knowledge)
        if spec.unit.counts_rows:
            k, n = spec.protection.rows, spec.protection.people
            return Fraction(0), k * spec.most_in_a_bin * drawn_from(k, n, miss)
        about = max(Fraction(spec.protection.rows, spec.bins), Fraction(1))
        slope = rounded((ball(double / (4 * about))).sqrt(), up=True, digits=_DIGITS)
    return slope, double / (4 * slope)  # sqrt(c d) <= slope c + d/(4 slope)


# --- worked out again ---------------------------------------------------------------------------------------------


def _ranks_hold(wanted: Aims, loss: Fraction) -> Check:
    """Value and interval, drawn from all tables of up to three people over the points 0, 1, 2."""
    replacing, worst = wanted.value.replacing, arb(0)
    with precision():
        for size in range(3):
            for table in combinations_with_replacement(range(3), size):
                more = [(*table, step) for step in range(3)]
                pairs = [(one, other) for one in more for other in (more if replacing else [table])]
                for one, other in pairs:
                    worst = worst.max(_largest_loss(one, other, wanted))
        right = bool(worst <= ball(loss) + ball(Fraction(1, 10**30)))
    found = f"lose {short(upper(worst), 9)} at most on every table of at most three people over three points"
    return Check("the ranks", right, found)


def _largest_loss(one: tuple[int, ...], other: tuple[int, ...], wanted: Aims) -> arb:
    """The largest |ln| of a ratio between the laws of a value and an offset."""
    laws, worst = [_joint(table, wanted) for table in (one, other)], arb(0)
    for outcome, mass in laws[0].items():
        worst = worst.max(abs((mass / laws[1][outcome]).log()))
    return worst


def _joint(people: tuple[int, ...], wanted: Aims) -> dict[tuple[int, int], arb]:
    """The law of a value of 0, 1, 2 and of the offset of its interval."""
    table = [(step, people.count(step)) for step in range(3) if step in people]
    found: dict[tuple[int, int], arb] = {}
    for value, chance in law(weights(table, 2, wanted.value, wanted.value_loss)).items():
        around = {0: arb(1)}
        if wanted.window is not None:
            window = replace(wanted.window, offsets=(0, 1, 2))
            around = law(window_weights(table, 2, window, value, wanted.window_loss))
        found |= {(value, offset): chance * mass for offset, mass in around.items()}
    return found


# --- words and options --------------------------------------------------------------------------------------------


def heading(spec: Quantile) -> str:
    """What each number is."""
    return f"{'median' if spec.q == Fraction(1, 2) else f'{to_text(spec.q)}-quantile'} of {spec.of.column}"


def phrases(spec: Quantile) -> Phrases:
    """Its nouns."""
    of, values, what = spec.of, f"values {spec.of.cut}", heading(spec).partition(" ")[0]
    crowds = isinstance(spec.protection, Crowd)
    low, high, step = to_text(of.low), to_text(of.high), to_text(of.step)
    loss, rest = shares(spec.noise_loss, spec.interval)
    split = f"of epsilon = {{loss}}, {short(loss, 6)} is spent on the value and {short(rest, 6)} on its interval"
    if not rest:
        split = "all of epsilon = {loss} is spent on the value, and nothing on an interval around it"
    noise = not crowds and not isinstance(spec.protection, Knowledge)
    return Phrases(
        heading=heading(spec),
        each=f"the {heading(spec)} of {text.whom(spec)}",
        values=values,
        unit=f"{of.column}, from {low} to {high} in steps of {step}",
        method="a point drawn near the true rank" if noise else text.method(spec),
        headline=", with noise" if crowds else ", drawn at random near the true one",
        route=text.route(spec),
        split=text.split(spec, split),
        interval=text.interval_sentence(
            spec, f"a value that is the {heading(spec)}, of {values}, of {text.people_in(spec)}"
        ),
        interval_headline=text.interval_headline(spec, f"a {what} of these values"),
        caution=f"{text.beyond_range(of, what)}. Half a step on either side of an interval is for rounding",
        columns=((VALUE_STEPS, f"the value that was drawn, in steps of {step} above {low}, usable or not"),),
    )


def quantile(
    *, of: str | None = None, q: Exact = "0.5", interval_share: Exact = "0.1", **common: Unpack[Common]
) -> Quantile:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if of is None:
        raise WrongUse("say what the quantile is of, with its range and step: `of=salary:0..300000:100`")
    part = rational(interval_share, "interval-share")
    return Quantile(**common_words(**common), of=measured(of), q=rational(q, "q"), interval=part)


QUANTILE: Final[Kind] = kind_of(
    Quantile,
    quantile,
    """Publish a quantile of a column, such as the median, over all people or over those of each bin.

RANGE is declared: the value comes out as one of its steps; what lies outside counts as the nearer end, and people
without a value are left out.
""",
    (
        OF,
        Option("q", "Q", "Which quantile: 0.5 is the median.", default="0.5"),
        Option(
            "interval_share",
            "S",
            "The share of epsilon for the interval of the quantile; 0: all for the value, and no interval.",
            default="0.1",
            group=HOW,
            advanced=True,
        ),
        *(BY, WHERE, ONE_ROW, UNIQUE, DISTINCT, *ROWS),
    ),
    "--of salary:0..300000:1000 --q 0.5 --epsilon 1 --out quantile/",
    name="quantile",
)
