"""Any declared statistic in plain words: sentences, titles and notes, made of its phrases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.kinds.histogram.text import range_note
from hubbub.kinds.statistic.promises import who
from hubbub.kinds.statistic.text import (
    by_columns,
    capital,
    chosen,
    hidden_below,
    of_whom,
    protected,
    public_rules,
    range_sentence,
    sampling,
    whom,
)
from hubbub.numeric.exact import to_text
from hubbub.protocol.spec import Description

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Declared


def describe(spec: Declared) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    phrases, by = spec.sums.phrases(), by_columns(spec)
    title = capital(phrases.title or phrases.heading)
    return Description(
        title=f"{title}{of_whom(spec)}{by}",
        published=f"{title}, of {phrases.values}, of {whom(spec)}{by}: {phrases.method}",
        entry=f"{phrases.entry or phrases.heading}{by}{protected(spec)}",
        person=str(who(spec)),
        sampling=sampling(spec),
        counts=whom(spec),
        intervals=phrases.interval,
        headline=_headline(spec, f"{title}{of_whom(spec)}{by}{phrases.explained}"),
        interval_headline=phrases.interval_headline,
        public=public_rules(spec, *spec.measures),
        each=f"the {' or the '.join(number.heading for number in spec.sums.numbers)} of {whom(spec)}",
    )


def _headline(spec: Declared, published: str) -> str:
    """What is published, in everyday words."""
    sentences = [f"{published}, with noise{hidden_below(spec)}"]
    if spec.unit.counts_rows or spec.unit.one_row_per_person:
        sentences.append(f"This is about {whom(spec).removesuffix(', of each bin')}")
    several = len(spec.measures) > 1
    for each in spec.measures:
        sentence = range_sentence(each)
        sentences.append(f"Of {each.column}, {sentence[:1].lower()}{sentence[1:]}" if several else sentence)
    return ". ".join(sentences)


def notes(spec: Declared) -> tuple[str, ...]:
    """The notes below the table of numbers."""
    phrases = spec.sums.phrases()
    lines = [
        f"The numbers are about {whom(spec)}.",
        f"{phrases.interval}.",
        phrases.caution,
        *(chosen(spec)[-1:] if spec.unit.counts_rows else ()),
        f"{capital(phrases.split)}.",
    ]
    return (*lines, *range_note(spec.axes))


def percent(spec: Declared) -> str:
    """The coverage of the intervals."""
    return f"{to_text(100 * spec.coverage)} %"
