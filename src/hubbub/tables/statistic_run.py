"""A statistic, carried out: count exactly, draw the secret sample over the counts, add noise, work out intervals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import Refused
from hubbub.noise.binomial import binomial
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.sampling.ranks import choose
from hubbub.tables.condition import Condition
from hubbub.tables.engine import OTHER_NUMBER, Counted, Question, Repeats
from hubbub.tables.measure import Measure
from hubbub.tables.protection import Crowd, Knowledge, Route
from hubbub.tables.quantile_draw import draw, weights
from hubbub.tables.statistic import Quantile, Share, Statistic
from hubbub.tables.statistic_answers import HIDDEN, SHOWN, Answer, Answers, Key, key_of
from hubbub.tables.statistic_intervals import targets
from hubbub.tables.statistic_told import Row, told

if TYPE_CHECKING:
    from hubbub.tables.engine import Engine

Integers = NDArray[np.int64]


def run(spec: Statistic, engine: Engine, source: Source) -> Answers:
    """Count, sample, publish.

    Guarantee: the promises of :func:`hubbub.tables.statistic_promises.promises`, if the words of the source are uniform
    and independent: what comes out depends on the table through counts and sums that one person moves as stated there,
    plus exact noise. A table of another number of people than was declared is refused before a word is drawn.
    """
    by_value = isinstance(spec.measured, Measure) and (spec.sampled or spec.ranked is not None)
    counted = engine.count(question(spec, by_value=by_value), source)
    if isinstance(spec.measured, Condition) and spec.sampled:
        counted, by_value = _by_answer(counted), True
    return published(spec, _sampled(spec, counted, source), source, by_value=by_value)


def question(spec: Statistic, *, by_value: bool) -> Question:
    """What it asks of the table."""
    return Question(
        axes=spec.axes,
        person=spec.unit.person,
        repeats=_repeats(spec),
        where=None if isinstance(spec, Share) else spec.where,
        measure=spec.measured,
        by_value=by_value,
        everybody=isinstance(spec.protection, Knowledge),
        people=spec.protection.people if isinstance(spec.protection, Knowledge) else None,
    )


def _repeats(spec: Statistic) -> Repeats:
    if spec.any_row:
        return Repeats.ANY_ROW
    return Repeats.ONE_ROW if spec.unit.one_row_per_person else Repeats.REFUSE


def published(spec: Statistic, found: Counted, source: Source, *, by_value: bool) -> Answers:
    """The answers from exact counts of everybody, or of those who were drawn.

    Guarantee: what comes out depends on the counts through numbers that one person moves as the promises say, plus
    exact noise of the rate that they say.
    """
    cells = _cells(spec, found, by_value)
    answers = _answers(spec, cells, source)
    if cells.found is None:
        return Answers(spec, answers)
    # An absent bin looks like a hidden one, so hidden ones are absent too.
    shown = [i for i, answer in enumerate(answers) if answer.status != HIDDEN]
    return Answers(spec, [answers[i] for i in shown], [cells.found[i] for i in shown])


def _answers(spec: Statistic, cells: _Cells, source: Source) -> list[Answer]:
    if isinstance(spec, Quantile):
        return _quantiles(spec, _tables(cells), source)
    people, sums = _added(spec, cells)
    return told(spec, _integers(spec, people, sums, source))


def _integers(spec: Statistic, people: list[int], sums: list[int] | None, source: Source) -> list[Row]:
    """What is published of every bin; all else follows from it."""
    if spec.channel is not None:
        return _through_channel(spec, people, source)
    if sums is None or (spec.alone_known and isinstance(spec.protection, Knowledge)):
        return _counts(spec, people if sums is None else sums, source)
    if isinstance(spec.protection, Crowd):
        return _of_crowds(spec, spec.protection, people, sums, source)
    return _of_sums(spec, people, sums, source)


@dataclass(frozen=True, slots=True)
class _Cells:
    """What was counted, each with the number of its bin: (bin, people, sum of steps or, by value, the step)."""

    bins: int
    rows: list[tuple[int, int, int]]
    by_value: bool
    found: list[Key] | None = None  # the labels of the bins, where they are found in the data


def _cells(spec: Statistic, counted: Counted, by_value: bool) -> _Cells:
    """Who is in no bin is left out; bins that are found come in the order of their labels, the missing last."""
    steps = 1 if isinstance(spec.measured, Condition) else spec.measured.steps if spec.measured is not None else 0
    width = steps + 1 if by_value else 1
    codes, counts = counted.codes.tolist(), counted.counts.tolist()
    told = [code % width for code in codes] if by_value else counted.sums or (0,) * len(codes)
    inside = [i for i, code in enumerate(codes) if code >= 0]
    if not spec.discovered:
        return _Cells(spec.bins, [(codes[i] // width, counts[i], told[i]) for i in inside], by_value)
    keys = [(codes[i] // width, *(labels[i] for labels in counted.found)) for i in range(len(codes))]
    ordered = sorted({keys[i] for i in inside if counts[i]}, key=lambda key: (key[0], *map(_last, key[1:])))
    place = {key: at for at, key in enumerate(ordered)}
    rows = [(place[keys[i]], counts[i], told[i]) for i in inside if counts[i]]
    return _Cells(len(ordered), rows, by_value, [key_of(spec.axes, key[0], key[1:]) for key in ordered])


def _last(label: str | None) -> tuple[bool, str]:
    """Where a label stands among others: by its signs, the missing last."""
    return label is None, label or ""


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
            # The draw does not follow the order in which an engine found the cells.
            order = np.argsort(counted.codes, kind="stable").tolist()
            if counted.found:
                codes, labels = counted.codes.tolist(), counted.found
                order = sorted(order, key=lambda i: (codes[i], *(_last(each[i]) for each in labels)))
            found = tuple([each[i] for i in order] for each in counted.found)
            return Counted(counted.codes[order], binomial(counted.counts[order], rate, source), found)
        case _:
            return counted


def _by_answer(counted: Counted) -> Counted:
    """Those of each bin who do not meet a condition, and those who do, as two cells."""
    codes, met = counted.codes, np.array(counted.sums, dtype=np.int64)
    inside = np.flatnonzero(codes >= 0)
    apart = np.flatnonzero(codes < 0)
    every = (*apart.tolist(), *inside.tolist(), *inside.tolist())
    return Counted(
        np.concatenate([codes[apart], 2 * codes[inside], 2 * codes[inside] + 1]),
        np.concatenate([counted.counts[apart], (counted.counts - met)[inside], met[inside]]),
        tuple([labels[i] for i in every] for labels in counted.found),
    )


def _added(spec: Statistic, cells: _Cells) -> tuple[list[int], list[int] | None]:
    """People, and the sum of their steps, of every bin; empty bins are bins."""
    people = [0] * cells.bins
    sums = None if spec.measured is None else [0] * cells.bins
    for place, count, steps in cells.rows:
        people[place] += count
        if sums is not None:
            sums[place] += count * steps if cells.by_value else steps
    return people, sums


def _tables(cells: _Cells) -> list[list[tuple[int, int]]]:
    """(step, people) of every bin, in rising order."""
    tables: list[list[tuple[int, int]]] = [[] for _ in range(cells.bins)]
    for place, count, step in sorted(cells.rows, key=lambda row: (row[0], row[2])):
        if count:
            tables[place].append((step, count))
    return tables


def _noise(rate: Fraction, size: int, source: Source) -> list[int]:
    noise: list[int] = two_sided_geometric(rate, size, source).tolist()
    return noise


# --- counts -------------------------------------------------------------------------------------------------------


def _through_channel(spec: Statistic, people: list[int], source: Source) -> list[Row]:
    assert spec.channel is not None
    published = spec.channel.release(np.array(people, dtype=np.int64), source)
    return [(published.outcome(i)[0],) for i in range(len(people))]


def _counts(spec: Statistic, people: list[int], source: Source) -> list[Row]:
    """Of K people, by bins or in all; or of all people."""
    rate = spec.unit_loss
    assert rate is not None
    return [(count + noise,) for count, noise in zip(people, _noise(rate, len(people), source), strict=True)]


# --- sums ---------------------------------------------------------------------------------------------------------


def _of_sums(spec: Statistic, people: list[int], sums: list[int], source: Source) -> list[Row]:
    """A and B with noise each, told as A and A + B."""
    rate, size = spec.sum_rate, len(people)
    assert rate is not None
    noise = _noise(rate, 2 * size, source)
    return [(sums[i] + noise[i], spec.steps * people[i] + noise[i] + noise[size + i]) for i in range(size)]


def _of_crowds(spec: Statistic, crowd: Crowd, people: list[int], sums: list[int], source: Source) -> list[Row]:
    """How many they are, exactly, and their sum with noise; small ones hidden."""
    rate = spec.sum_rate
    assert rate is not None
    both = zip(people, sums, _noise(rate, len(people), source), strict=True)
    return [(None, None) if count < crowd.k else (count, total + noise) for count, total, noise in both]


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
        answers.append(Answer(published, told, min(max(told, low), high), *spec.of.unrounded(low, high), SHOWN))
    return answers
