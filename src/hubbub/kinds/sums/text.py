"""Any statistic by bins in plain words: titles, sentences and notes, made of its phrases."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from hubbub.channels.noise_choice import geometric_variance
from hubbub.kinds.histogram.estimands import Estimand
from hubbub.kinds.histogram.text import everybody, public_bins, range_note, shorter
from hubbub.kinds.sums.weights import weight_sentence
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import join_words, readable, short
from hubbub.protocol.spec import Description
from hubbub.tables.bounded_column import Measure
from hubbub.tables.protection import Crowd, Knowledge, Noise, Route

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Statistic

LONGEST_CONDITION: Final = 60  # signs in a heading


def describe(spec: Statistic) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    from hubbub.kinds.sums.promises import who  # late: what that rests on draws, and a drawing needs these words

    words, by = spec.phrases, by_columns(spec)
    title = capital(words.title or words.heading)
    values = f", of {words.values}," if words.values else ""
    column = f" of {spec.measures[0].column}" if spec.measures else ""
    return Description(
        title=f"{title}{of_whom(spec)}{by}",
        published=f"{title}{values} of {people_in(spec)}{by}: {words.method}",
        entry=f"{words.entry or f'{spec.kind.name}{column}'}{by}{protected(spec)}",
        person=str(who(spec)),
        sampling=sampling(spec),
        counts=whom(spec),
        intervals=words.interval,
        headline=_headline(spec, f"{title}{of_whom(spec)}{by}"),
        interval_headline=words.interval_headline,
        public=public_rules(spec, *spec.measures),
        remarks=remarks(spec),
        each=words.each,
        columns=words.columns,
    )


def _headline(spec: Statistic, title: str) -> str:
    """What is published, in everyday words."""
    words, unit = spec.phrases, spec.unit
    sentences = [f"{title}{words.headline}{hidden_below(spec)}"]
    if unit.expected_rows or unit.counts_rows or unit.one_row_per_person or spec.profiled or spec.any_row:
        sentences.append(f"This is about {people_in(spec).removesuffix(', of each bin')}")
    several = len(spec.measures) > 1
    for each in spec.measures:
        sentence = range_sentence(each)
        sentences.append(f"Of {each.column}, {sentence[:1].lower()}{sentence[1:]}" if several else sentence)
    if spec.weighted_by is not None:
        sentences.append(weight_sentence(spec.weighted_by))
    return ". ".join(sentences)


def hidden_below(spec: Statistic) -> str:
    """Which crowds are hidden, for the end of a headline; a count says it by itself."""
    crowd = spec.protection
    if not isinstance(crowd, Crowd) or spec.channel is not None:
        return ""
    return f", and hidden for fewer than {crowd.k:,} {many(spec)}"


def notes(spec: Statistic) -> tuple[str, ...]:
    """The notes below the table of numbers."""
    words = spec.phrases
    sentences = [
        f"Each number is {words.each}." if words.each else f"The numbers are about {whom(spec)}.",
        f"{words.interval}.",
    ]
    sentences += [f"The column {name} of the file: {says}." for name, says in words.columns]
    if isinstance(spec.protection, Knowledge):
        sentences.append(
            f"K = {spec.protection.rows:,} random people is what may be known; epsilon = "
            f"{to_text(spec.protection.epsilon)} is how much more is told than they tell."
        )
    sentences += [f"{words.caution}."] if words.caution else []
    sentences += chosen(spec)
    sentences.append(f"{capital(words.split)}.")
    return (*sentences, *range_note(spec.axes))


# --- intervals ----------------------------------------------------------------------------------------------------


def interval_sentence(spec: Statistic, holds: str, only: str | None = None) -> str:
    """What an interval means: what it holds, how surely, and where."""
    where = where_it_holds(spec) if only is None else only
    rounded = ", and as well that of values that are cut and not rounded" if spec.measures else ""
    return f"An interval holds {holds}, with a chance of at least {percent(spec)}{rounded}{where}"


def interval_headline(spec: Statistic, holds: str, only: str | None = None) -> str:
    """The same in everyday words."""
    where = where_it_holds(spec) if only is None else only
    return f"An interval holds {holds} with a chance of at least {percent(spec)}{where}{shorter(spec.unit)}"


def where_it_holds(spec: Statistic) -> str:
    """Where the interval of a number that is about people's values holds."""
    if isinstance(spec.protection, Crowd):
        return ", where a number is shown"
    return ", if there is anybody" if spec.axes else ""


def percent(spec: Statistic) -> str:
    """The coverage of the intervals."""
    return f"{to_text(100 * spec.coverage)} %"


def beyond_range(measured: Measure, what: str) -> str:
    """What happens to values beyond the declared range."""
    low, high = to_text(measured.low), to_text(measured.high)
    return (
        f"Values beyond {low}..{high} count as the nearer end: where there are such, this is not the {what} of the values "
        "as they are"
    )


# --- whom it is about ---------------------------------------------------------------------------------------------


def people_in(spec: Statistic) -> str:
    """Who they are, sampled or not."""
    people = "the people in the table"
    if spec.unit.expected_rows:
        people = "the rows kept on average (each row of a person counts for one over how many rows the person has)"
    elif spec.profiled:
        people = f"{profiles(spec)},"
    elif spec.unit.counts_rows:
        people = f"the {spec.unit.describe_kept_rows(spec.bins, which=' that this release kept')},"
    elif spec.any_row and spec.axes and spec.moved < spec.bins:
        people = f"the people in the table, each in the bins that this release kept, at most {spec.moved:,},"
    elif spec.unit.one_row_per_person:
        people = "the rows that this release kept, one of each person,"
    if spec.counted_where is not None:
        people += f" with {'any row with ' if spec.any_row else ''}{spec.where}"
    if spec.measures:
        joined = "with" if spec.counted_where is None else "and"
        people += f" {joined} a value of {' and of '.join(each.column for each in spec.measures)}"
    people = people.removesuffix(",")
    return f"{people}, of each bin" if spec.axes else people


def profiles(spec: Statistic) -> str:
    """Whose rows count, where crowds are of people with equally many rows in each bin."""
    assert isinstance(spec.protection, Crowd)
    which = f" of people who have as many in each bin as at least {spec.protection.k:,} people have"
    return f"the {spec.unit.describe_kept_rows(spec.bins, which=which)}"


def whom(spec: Statistic) -> str:
    """Whom a number and its interval are about."""
    people = people_in(spec)
    return f"{people}, told from a secret sample of them" if spec.sampled else people


def counted(spec: Statistic) -> dict[str, str]:
    """The same for JSON: what was counted, whom the estimate and its interval are about."""
    chosen = spec.unit.one_row_per_person or spec.unit.counts_rows or (spec.any_row and spec.moved < spec.bins)
    kept = Estimand.KEPT_ROWS if chosen else Estimand.TABLE
    estimand = Estimand.EVERYBODY if spec.sampled and kept is Estimand.TABLE else kept
    everybody = (Estimand.EXPECTED_ROWS if spec.unit.expected_rows else estimand).value
    return {
        "number": (Estimand.SAMPLE if spec.sampled else kept).value,
        "estimate": everybody,
        "interval": everybody,
        "whom": whom(spec),
    }


def many(spec: Statistic) -> str:
    """What is counted, in two words at most."""
    if spec.unit.counts_rows:
        return f"kept {spec.unit.rows}"
    return "kept rows" if spec.unit.one_row_per_person else "people"


def of_whom(spec: Statistic) -> str:
    """The condition that people meet, for headings; a long one is told elsewhere."""
    if spec.counted_where is None or len(str(spec.where)) > LONGEST_CONDITION:
        return ""
    any_row = "any row with " if spec.any_row else ""
    return f" {'where' if spec.measures else 'with'} {any_row}{spec.where}"


def by_columns(spec: Statistic) -> str:
    """The columns of the bins, for headings."""
    return f", by {join_words([axis.column for axis in spec.axes])}" if spec.axes else ""


def chosen(spec: Statistic) -> list[str]:
    """What has to be said where a row of each person was chosen, or several."""
    if spec.unit.counts_rows:
        return _chosen_rows(spec)
    if not spec.unit.one_row_per_person:
        return []
    first = "A row was chosen among all rows of a person, and then it was looked at whether it meets the condition."
    rules = [first] if spec.where is not None else []
    if spec.measures:
        what = spec.outputs[0].heading.partition(" of ")[0]
        return [*rules, f"Whoever has many rows counts as much as whoever has one: this is not the {what} of all rows."]
    return [*rules, "How many people have at least one such row is not told, and no number here estimates it."]


def _chosen_rows(spec: Statistic) -> list[str]:
    rows = spec.unit.rows
    if spec.profiled:
        return [
            f"Whoever has more {rows}, or has them in the bins as hardly anybody has, is left out with all of them: this "
            f"is not of all {rows}, and how many are missing is not told."
        ]
    sentences = [
        f"Whoever has more {rows} counts by some of them, chosen secretly: this is not of all {rows}, and how far it is "
        "from that is not told."
    ]
    if spec.where is not None:
        sentences.insert(
            0, f"The {rows} were chosen among all of a person, and then it was looked at which meet the condition."
        )
    return sentences


def capital(text: str) -> str:
    """With a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def public_rules(spec: Statistic, *measured: Measure) -> tuple[tuple[str, str], ...]:
    """What is declared, and public: the bins, the ranges of what is measured, and the condition."""
    ranges = [(each.column, str(each.rule).removeprefix(f"{each.column}: ")) for each in measured]
    if spec.where is not None:
        ranges.append(("the condition", f"{spec.where}; a comparison with a missing cell is false"))
    return (*public_bins(spec.axes), *ranges)


def range_sentence(measured: Measure) -> str:
    """What happens to values beyond their range, in everyday words."""
    low, high, step = readable(measured.low), readable(measured.high), readable(measured.step)
    return f"Values below {low} count as {low}, and values above {high} as {high}, each rounded to {step}"


# --- how it came about -----------------------------------------------------------------------------------------


def remarks(spec: Statistic) -> tuple[str, ...]:
    """Which noise it is and why, where that was chosen for it alone."""
    return () if spec.gaussian is None or not isinstance(spec.protection, Noise) else (capital(why_gaussian(spec)),)


def why_gaussian(spec: Statistic) -> str:
    """Why the noise is Gaussian, from public numbers alone, in a clause."""
    sensitivity, noise = spec.sensitivity, spec.gaussian
    assert isinstance(spec.protection, Noise)
    assert sensitivity is not None
    assert noise is not None
    ours = math.sqrt(noise.s2)
    other = math.sqrt(geometric_variance(spec.protection.epsilon / sensitivity.l1))
    less = "less than" if ours < other else "although that is not less than"
    return (
        f"the noise is Gaussian: one person moves the numbers by {sensitivity.l1:,} in all and by a length of "
        f"{about(math.sqrt(sensitivity.l2_squared))}, so that its standard deviation is {about(ours)}, {less} the "
        f"{about(other)} of geometric noise for the same epsilon, which would need no delta"
    )


def about(number: float) -> str:
    """A number of three digits or, above a thousand, a whole one."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def method(spec: Statistic) -> str:
    """What was done to the numbers."""
    match spec.protection:
        case Noise() if spec.gaussian is not None:
            return f"with Gaussian whole-number noise of a standard deviation of {about(math.sqrt(spec.gaussian.s2))}"
        case Noise():
            return "with whole-number noise"
        case Crowd(k=k):
            return f"of bins of at least {k} {many(spec)}, with noise on what they have together; the others hidden"
        case Knowledge(rows=rows, people=people):
            return f"as private as {rows:,} random people out of {people:,} would leave it, with whole-number noise"


def protected(spec: Statistic) -> str:
    match spec.protection:
        case Knowledge(rows=rows, people=people):
            return f", what {rows:,} of {people:,} random people tell"
        case Crowd(sample=sample) if sample is not None:
            return f", on a fresh secret sample at rate {to_text(sample)}"
        case _:
            return ""


def sampling(spec: Statistic) -> str:
    """Who sampled whom, and how."""
    if spec.survey is not None:
        return (
            "those who made the survey declare that each person of the population was taken in secret and independently "
            f"of the others, with a chance of 1 over {spec.survey.weight}; nobody was sampled for this release"
        )
    match spec.protection:
        case Knowledge(route=Route.SAMPLE, rows=rows, people=people):
            return (
                f"a fresh secret sample was drawn for this release: {rows:,} of the {people:,} people in the table, "
                "without replacement, every such set equally likely, and who was drawn is not kept"
            )
        case Knowledge(rows=rows):
            return (
                f"nobody: {everybody(spec.axes)} is counted; the {rows:,} random people of the promise are those "
                "somebody else might ask instead"
            )
        case Crowd(sample=sample) if sample is not None:
            return (
                "a fresh secret sample was drawn for this release: each person in the table with probability "
                f"{to_text(sample)}, independently, and who was drawn is not kept"
            )
        case _:
            return f"nobody: {everybody(spec.axes)} is counted"


def route(spec: Statistic) -> str:
    """By which way the promise is kept, and why by this one: from public numbers alone."""
    match spec.protection:
        case Noise() if spec.gaussian is not None:
            return f"Noise on everything that is counted; {why_gaussian(spec)}"
        case Noise():
            return "Every number has noise"
        case Crowd(k=k):
            return f"Crowds of at least {k} {many(spec)} show what they have together, smaller ones nothing"
        case Knowledge() as knowledge:
            return _knowledge_route(spec, knowledge)


def _knowledge_route(spec: Statistic, knowledge: Knowledge) -> str:
    k, n = knowledge.rows, knowledge.people
    if knowledge.route is Route.SAMPLE:
        sentence = f"{k:,} of {n:,} people were drawn in secret and what they tell got noise"
    else:
        sentence = f"Everybody was counted, and the noise hides what {k:,} of {n:,} random people would not tell"
    if not spec.has_single_unknown:
        return f"{sentence}; for more than one share of all people no better way is known"
    mine, other = errors(spec, knowledge)
    if other is None:
        return f"{sentence}; the noise that the other way needs is too wide to be drawn"
    whose = " (for the rows that were kept)" if spec.unit.one_row_per_person else ""
    return (
        f"{sentence}: at {to_text(100 * spec.coverage)} % it errs by about {_percent(mine / n)} of all people at worst, "
        f"and the other way by {_percent(other / n)}{whose}"
    )


def errors(spec: Statistic, knowledge: Knowledge) -> tuple[Fraction, Fraction | None]:
    """How far this way, and the other one, may err at the coverage, in people; None if the other cannot be drawn."""
    from hubbub.kinds.sums.routes import by_exact_count, by_sample, error_of_exact

    k, n, miss = knowledge.rows, knowledge.people, 1 - spec.coverage
    sample = by_sample(k, n, knowledge.epsilon, miss)
    if knowledge.route is Route.EXACT:  # at the rate that was drawn with, which may be an earlier, larger one
        return error_of_exact(knowledge.rate, n, miss), sample.error
    exact = by_exact_count(k, n, knowledge.epsilon, miss)
    return sample.error, None if exact is None else exact.error


def _percent(share: Fraction) -> str:
    return f"{short(100 * share, 3)} %"


def split(spec: Statistic, one_row: str) -> str:
    """How epsilon is split between the published numbers; `one_row` says it where a person counts by one row."""
    loss = spec.unit_loss
    if isinstance(spec.protection, Noise) and spec.gaussian is not None:
        return f"all of epsilon = {short(spec.protection.epsilon, 6)} is spent on all numbers of a person together"
    if spec.gaussian is not None:
        deviation = about(math.sqrt(spec.gaussian.s2))
        return f"the noise is Gaussian, with a standard deviation of {deviation}, and all such questions lose together"
    if loss is None:
        return "nothing is spent: counts of crowds are exact"
    if spec.moved > 1:
        return split_of_rows(spec)
    return one_row.format(loss=short(loss, 6))


def split_of_rows(spec: Statistic) -> str:
    """Where epsilon goes, where several rows or bins of a person count."""
    loss = spec.noise_loss
    if isinstance(spec.protection, Knowledge):
        return (
            f"inside the sample epsilon = {short(spec.protection.rate, 6)} is for one person replaced with all "
            f"{spec.unit.rows}, at most {spec.moved:,}, and {short(loss, 6)} for each that comes or goes"
        )
    if isinstance(spec.protection, Crowd):
        assert spec.protection.epsilon is not None
        return (
            f"epsilon = {short(spec.protection.epsilon, 6)} is for all {spec.unit.rows} of a person, at most "
            f"{spec.moved:,}, and {short(loss, 6)} for each of them; how many they are is exact"
        )
    assert isinstance(spec.protection, Noise)
    if spec.weighted_by is not None:
        high = to_text(spec.weighted_by.high)
        return f"epsilon = {short(spec.protection.epsilon, 6)} is for somebody with the largest weight, {high}"
    what = f"{spec.unit.rows} of a person" if spec.unit.counts_rows else "bins of a person"
    return (
        f"epsilon = {short(spec.protection.epsilon, 6)} is for all {what} together, at most {spec.moved:,}, and "
        f"{short(loss, 6)} for each of them"
    )
