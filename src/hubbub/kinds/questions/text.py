"""Several questions on one secret sample, in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hubbub.kinds.questions.gaussian import log_of_errors
from hubbub.kinds.sums import text as statistic_text
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import join_words, short
from hubbub.protocol.spec import Description
from hubbub.tables.bounded_column import Measure
from hubbub.tables.labels import is_ranges

if TYPE_CHECKING:
    from hubbub.kinds.questions.spec import Asked, Questions


def describe(spec: Questions) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    names = [each.name for each in spec.asked]
    public: dict[str, str] = {}
    for question, statistic in zip(spec.asked, spec.statistics, strict=True):
        own = statistic_text.describe(statistic)
        values = statistic.phrases.values
        title = f"{own.title}, of {values}" if values else own.title
        public[question.name] = f"{title} ({_loses(question)})"
        for column, rule in own.public:
            label = column if column not in public or public[column] == rule else f"{column} ({question.name})"
            public[label] = rule
    many = f"{len(names):,} questions" if len(names) > 1 else "One question"
    sample = f"one secret sample of {spec.rows:,} of {spec.of_people:,} people"
    return Description(
        title=f"{many} on {sample}: {join_words(names)}",
        published=f"{many} ({join_words(names)}), answered from {sample}, with whole-number noise",
        entry=f"{many.lower()} on {sample}: {join_words(names)}",
        person=spec.unit.describe,
        sampling=statistic_text.sampling(spec.statistics[0]),
        counts=whom(spec),
        each=f"the answer to a question, about {whom(spec)}",
        intervals=_interval_sentence(spec),
        public=tuple(public.items()),
        remarks=(statistic_text.capital(why_gaussian(spec)),) if spec.gaussian else (),
    )


def _loses(question: Asked) -> str:
    if question.variance is None:
        return f"loses {short(question.loss, 6)} inside the sample"
    return f"Gaussian noise of a standard deviation of {statistic_text.about(math.sqrt(question.variance))}"


def why_gaussian(spec: Questions) -> str:
    """Which questions have Gaussian noise and why, from public numbers alone, in a clause."""
    several = [each.name for each in spec.asked if each.variance is not None]
    names = join_words(several) if len(several) < 5 else f"{len(several)} questions"
    ratio = log_of_errors([each.s2 for each in spec.noises], spec.geometric_rates)
    times = f"{statistic_text.about(math.exp(abs(ratio)))} times {'smaller' if ratio < 0 else 'larger'}"
    return (
        f"the noise of {names} is Gaussian: its standard deviations are {times} on average than those of geometric noise "
        "that loses as much inside the sample, which would need no delta"
    )


def _interval_sentence(spec: Questions) -> str:
    sentence = (
        f"An interval holds the true number with a chance of at least {to_text(100 * spec.coverage)} %, each by "
        "itself, if there is anybody to tell it of"
    )
    cut = dict.fromkeys(
        f"of {each.measured.column} that of values {each.measured.cut}, or cut alone"
        for each in spec.statistics
        if isinstance(each.measured, Measure)
    )
    return "; ".join((sentence, *cut))


def whom(spec: Questions) -> str:
    """Whom the numbers are about."""
    if spec.unit.expected_rows:
        described = (
            "as they are kept on average (each row of a person counts for one over how many rows the person has)"
        )
    elif spec.unit.one_row_per_person:
        described = "of those that this release kept, one of each person and the same one for all questions"
    elif spec.unit.counts_rows:
        kept = spec.unit.describe_kept_rows(None, which=" that each question is about and this release kept")
        return f"the {kept}, the same ones for all questions, told from one secret sample of the people"
    else:
        return "the people in the table whom each question is about, told from one secret sample of them"
    return f"the rows that each question is about, {described}, told from one secret sample of the people"


def route(spec: Questions) -> str:
    """How the promise is kept."""
    return (
        f"{spec.rows:,} of {spec.of_people:,} people were drawn in secret, once, and every question was answered from "
        "these same people, with noise of its own"
    )


def compared(spec: Questions) -> str:
    """What it costs, beside what fresh samples would have cost."""
    if spec.gaussian:
        return (
            f"Together they tell no more than {spec.rows:,} random people do, up to epsilon = {short(spec.epsilon, 6)} and "
            f"delta = {short(spec.reached_delta, 3)}; {why_gaussian(spec)}"
        )
    epsilon, rows = spec.fresh
    return (
        f"Together they tell no more than {spec.rows:,} random people do, up to epsilon = {short(spec.epsilon, 6)}; "
        f"with a fresh sample for each question and the same noise it would be {rows:,} random people, up to epsilon = "
        f"{short(epsilon, 6)}"
    )


def notes(spec: Questions) -> tuple[str, ...]:
    """The notes below the table of numbers."""
    sentences = [f"The numbers are about {whom(spec)}.", f"{describe(spec).intervals}."]
    sentences += dict.fromkeys(text for each in spec.statistics for text in statistic_text.chosen(each))
    if any(is_ranges(axis) for each in spec.asked for axis in each.axes):
        sentences.append("[a,b) is from a up to, and not including, b.")
    return tuple(sentences)
