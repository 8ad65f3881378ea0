"""A statistic, carried out: count exactly, draw the secret sample over the counts, add noise, work out intervals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.estimate import intervals
from hubbub.channels.law import SUPPRESSED
from hubbub.errors import Refused
from hubbub.noise.binomial import binomial
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.sampling import sampled_share
from hubbub.sampling.ranks import choose
from hubbub.tables.condition import Condition
from hubbub.tables.engine import Counted, Question
from hubbub.tables.measure import Measure
from hubbub.tables.protection import Crowd, Knowledge, Route
from hubbub.tables.quantile_draw import draw, weights
from hubbub.tables.scaling import population_estimate, population_intervals
from hubbub.tables.statistic import Quantile, Share, Statistic
from hubbub.tables.statistic_answers import HIDDEN, SHOWN, UNTOLD, Answer, Answers
from hubbub.tables.statistic_intervals import drawn, of_sums, reach, targets, widened

if TYPE_CHECKING:
    from hubbub.tables.engine import Engine

OTHER_NUMBER: Final = (
    "the table is not of as many people as were declared; declare how many it is of (that it was refused is itself "
    "information, and for you alone); nothing was drawn"
)
"""Reads the same for every such table. For the steward alone: it tells something about the data."""

Integers = NDArray[np.int64]


def run(spec: Statistic, engine: Engine, source: Source) -> Answers:
    """Count, sample, publish.

    Guarantee: the promises of :func:`hubbub.tables.statistic_promises.promises`, if the words of the source are uniform
    and independent: what comes out depends on the table through counts and sums that one person moves as stated there,
    plus exact noise. A table of another number of people than was declared is refused before a word is drawn.
    """
    by_value = isinstance(spec.measured, Measure) and (spec.sampled or isinstance(spec, Quantile))
    counted = engine.count(question(spec, by_value=by_value), source)
    if isinstance(spec.measured, Condition) and spec.sampled:
        counted, by_value = _by_answer(counted), True
    return published(spec, _sampled(spec, counted, source), source, by_value=by_value)


def question(spec: Statistic, *, by_value: bool) -> Question:
    """What it asks of the table."""
    return Question(
        axes=spec.axes,
        person=spec.unit.person,
        where=None if isinstance(spec, Share) else spec.where,
        measure=spec.measured,
        by_value=by_value,
        everybody=isinstance(spec.protection, Knowledge),
    )


def published(spec: Statistic, found: Counted, source: Source, *, by_value: bool) -> Answers:
    """The answers from exact counts of everybody, or of those who were drawn.

    Guarantee: what comes out depends on the counts through numbers that one person moves as the promises say, plus
    exact noise of the rate that they say.
    """
    if isinstance(spec, Quantile):
        return Answers(spec, _quantiles(spec, _tables(spec, found), source))
    people, sums = _added(spec, found, by_value)
    if spec.channel is not None:
        return Answers(spec, _through_channel(spec, people, source))
    if spec.alone_known and isinstance(spec.protection, Knowledge):
        return Answers(spec, _of_all(spec, spec.protection, people if sums is None else sums, source))
    if sums is None:
        return Answers(spec, _counts_of_sample(spec, people, source))
    if isinstance(spec.protection, Crowd):
        return Answers(spec, _of_crowds(spec, spec.protection, people, sums, source))
    return Answers(spec, _of_sums(spec, people, sums, source))


def _sampled(spec: Statistic, counted: Counted, source: Source) -> Counted:
    """Those who are drawn, if there is to be a sample; whoever is in no bin takes part in the draw."""
    match spec.protection:
        case Knowledge() as knowledge:
            if int(counted.counts.sum()) != knowledge.people:
                raise Refused(OTHER_NUMBER)
            if knowledge.route is Route.EXACT:
                return counted
            return Counted(counted.codes, choose(knowledge.rows, knowledge.people, source).among(counted.counts))
        case Crowd(sample=rate) if rate is not None:
            order = np.argsort(counted.codes)  # the draw does not follow the order in which an engine found the cells
            return Counted(counted.codes[order], binomial(counted.counts[order], rate, source))
        case _:
            return counted


def _by_answer(counted: Counted) -> Counted:
    """Those of each bin who do not meet a condition, and those who do, as two cells."""
    codes, met = counted.codes, np.array(counted.sums, dtype=np.int64)
    inside = np.flatnonzero(codes >= 0)
    apart = np.flatnonzero(codes < 0)
    return Counted(
        np.concatenate([codes[apart], 2 * codes[inside], 2 * codes[inside] + 1]),
        np.concatenate([counted.counts[apart], (counted.counts - met)[inside], met[inside]]),
    )


def _added(spec: Statistic, found: Counted, by_value: bool) -> tuple[list[int], list[int] | None]:
    """People, and the sum of their steps, of every bin; empty bins are bins."""
    people = [0] * spec.bins
    sums = None if spec.measured is None else [0] * spec.bins
    width = spec.steps + 1 if by_value else 1
    steps: Sequence[int] = (found.codes % width).tolist() if by_value else found.sums or ()
    for i, (code, count) in enumerate(zip(found.codes.tolist(), found.counts.tolist(), strict=True)):
        if code >= 0:
            people[code // width] += count
            if sums is not None:
                sums[code // width] += count * steps[i] if by_value else steps[i]
    return people, sums


def _tables(spec: Quantile, found: Counted) -> list[list[tuple[int, int]]]:
    """(step, people) of every bin, in rising order."""
    tables: list[list[tuple[int, int]]] = [[] for _ in range(spec.bins)]
    width = spec.of.steps + 1
    for at in np.argsort(found.codes, kind="stable").tolist():
        code, count = int(found.codes[at]), int(found.counts[at])
        if code >= 0 and count:
            tables[code // width].append((code % width, count))
    return tables


def _noise(rate: Fraction, size: int, source: Source) -> list[int]:
    noise: list[int] = two_sided_geometric(rate, size, source).tolist()
    return noise


# --- counts -------------------------------------------------------------------------------------------------------


def _through_channel(spec: Statistic, people: list[int], source: Source) -> list[Answer]:
    assert spec.channel is not None
    published = spec.channel.release(np.array(people, dtype=np.int64), source)
    rate = spec.protection.sample if isinstance(spec.protection, Crowd) else None
    if rate is None:
        low, high = intervals(spec.channel, published, spec.coverage)
    else:
        low, high = population_intervals(spec.channel, published, rate, spec.coverage)
    told = []
    for i in range(spec.bins):
        value, tag = published.outcome(i)
        about = None if value is None else max(value, 0) if rate is None else population_estimate(value, rate)
        ends = Fraction(int(low[i])), None if high[i] < 0 else Fraction(int(high[i]))
        status = HIDDEN if tag.startswith(SUPPRESSED) else SHOWN
        told.append(
            Answer(
                (value,),
                None if value is None else Fraction(value),
                None if about is None else Fraction(about),
                *ends,
                status,
            )
        )
    return told


def _of_all(spec: Statistic, knowledge: Knowledge, have: list[int], source: Source) -> list[Answer]:
    """One count of all people, in a sample or exact, and the share that it is."""
    (noise,) = _noise(knowledge.rate, 1, source)
    told, n, miss = have[0] + noise, knowledge.people, 1 - spec.coverage
    if knowledge.route is Route.EXACT:
        off, scale = reach(knowledge.rate, miss), Fraction(1)
        low, high = max(told - off, 0), min(told + off, n)
        low, high = (low, high) if low <= high else (0, n)
    else:
        scale = 1 / knowledge.share
        low, high = sampled_share.interval(n, knowledge.rows, knowledge.rate, told, miss)
    unit = Fraction(1, n) if isinstance(spec, Share) else Fraction(1)
    about = min(max(told * scale, Fraction(low)), Fraction(high)) * unit
    return [Answer((told,), told * scale * unit, about, low * unit, high * unit, SHOWN)]


def _counts_of_sample(spec: Statistic, people: list[int], source: Source) -> list[Answer]:
    """Counts of K people by bins."""
    knowledge, rate = spec.protection, spec.unit_loss
    assert isinstance(knowledge, Knowledge)
    assert rate is not None
    answers = []
    for count, noise in zip(people, _noise(rate, len(people), source), strict=True):
        told = count + noise
        low, high = sampled_share.interval(knowledge.people, knowledge.rows, rate, told, 1 - spec.coverage)
        value = told / knowledge.share
        about = min(max(value, Fraction(low)), Fraction(high))
        answers.append(Answer((told,), value, about, Fraction(low), Fraction(high), SHOWN))
    return answers


# --- sums ---------------------------------------------------------------------------------------------------------


def _of_sums(spec: Statistic, people: list[int], sums: list[int], source: Source) -> list[Answer]:
    """A and B with noise each; means are between them."""
    rate, size, miss = spec.sum_rate, spec.bins, 1 - spec.coverage
    assert rate is not None
    noise = _noise(rate, 2 * size, source)
    off = reach(rate, miss / (4 if spec.sampled else 2))
    answers = []
    for i in range(size):
        part = sums[i] + noise[i]
        whole = spec.steps * people[i] + noise[i] + noise[size + i]
        ends = of_sums(part, whole, off)
        if spec.sampled:
            ends = widened(ends, drawn((whole - 2 * off) // spec.steps, miss / 2))
        answers.append(_mean(spec, (part, whole), part, whole, ends))
    return answers


def _of_crowds(spec: Statistic, crowd: Crowd, people: list[int], sums: list[int], source: Source) -> list[Answer]:
    """How many they are, exactly, and their sum with noise; small ones hidden."""
    rate, miss = spec.sum_rate, 1 - spec.coverage
    assert rate is not None
    off = reach(rate, miss / 2 if crowd.sample is not None else miss)
    answers = []
    for count, total, noise in zip(people, sums, _noise(rate, spec.bins, source), strict=True):
        if count < crowd.k:
            answers.append(Answer((None, None), None, None, spec.value(Fraction(0)), spec.value(Fraction(1)), HIDDEN))
            continue
        part, whole = total + noise, spec.steps * count
        ends = of_sums(part, whole, off)
        if crowd.sample is not None:
            ends = widened(ends, drawn(count, miss / 2))
        answers.append(_mean(spec, (count, part), part, whole, ends))
    return answers


def _mean(
    spec: Statistic, published: tuple[int, ...], part: int, whole: int, ends: tuple[Fraction, Fraction]
) -> Answer:
    low, high = map(spec.value, ends)
    if whole <= 0:
        return Answer(published, None, None, low, high, UNTOLD)
    told = spec.value(Fraction(part, whole))
    return Answer(published, told, min(max(told, low), high), low, high, SHOWN)


# --- quantiles ----------------------------------------------------------------------------------------------------


def _quantiles(spec: Quantile, tables: list[list[tuple[int, int]]], source: Source) -> list[Answer]:
    answers = []
    for table in tables:
        people = sum(count for _, count in table)
        published: tuple[int | None, ...] = ()
        if isinstance(spec.protection, Crowd):
            published = (people,)
            if people < spec.protection.k:
                ends = spec.of.low, spec.of.high
                answers.append(Answer((None,), None, None, *ends, HIDDEN))
                continue
        aims = targets(spec, people if isinstance(spec.protection, Crowd) else None)
        points = [draw(weights(table, spec.of.steps, aim, loss), source) for aim, loss in aims]
        value, *ends_at = (min(max(point, 0), spec.of.steps) for point in points)
        low, high = (spec.of.value(end) for end in sorted(ends_at))
        told = spec.of.value(value)
        answers.append(Answer(published, told, min(max(told, low), high), low, high, SHOWN))
    return answers
