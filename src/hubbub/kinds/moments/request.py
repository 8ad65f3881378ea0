"""From the words that ask for a variance or a standard deviation to its spec, or one sentence; and the two kinds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.kinds.moments.spec import Deviation, Moments, Variance
from hubbub.kinds.statistic.request import BY, OF, ONE_ROW, PROTECTED, WHERE, protected
from hubbub.kinds.statistic.spec import read
from hubbub.numeric.exact import Exact, positive, rational
from hubbub.protocol.spec import Kind
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import Condition
from hubbub.tables.condition import parse as parse_condition
from hubbub.tables.privacy_unit import Unit, of_numbers
from hubbub.tables.unlisted import declared as of_bins


def spread(
    made: type[Moments],
    *,
    of: str | None = None,
    by: Sequence[str] = (),
    where: str | Condition | None = None,
    zero_knowledge: Exact | None = None,
    rows: Exact | None = None,
    people: Exact | None = None,
    crowd: Exact | None = None,
    epsilon: Exact | None = None,
    sample: Exact | None = None,
    at_delta: Exact = "1e-9",
    coverage: Exact = "0.95",
    unlisted: Exact | None = None,
    unit: Unit | None = None,
) -> Moments:
    """The release that these words ask for, or one sentence that says what is wrong with them."""
    if isinstance(by, str):
        raise WrongUse("by is a list of columns, even for one column; put it in brackets, like by=['department']")
    if of is None:
        raise WrongUse("say of what, with its range and step: `of=salary:0..300000:1000`")
    axes = tuple(map(parse, by))
    level = rational(coverage, "coverage")
    if not 0 < level < 1:
        raise WrongUse(f"coverage must lie between 0 and 1, not {level}; choose one like 0.95")
    return made(
        axes=axes,
        where=where if where is None or isinstance(where, Condition) else parse_condition(where),
        protection=protected(
            False, 1 - level, zero_knowledge, rows, people, crowd, epsilon, sample, positive(at_delta, "at-delta")
        ),
        unit=unit or Unit(),
        coverage=level,
        unlisted=of_bins(unlisted, axes),
        of=measured(of),
    )


def from_options(
    made: type[Moments], *, person: str | None = None, one_row_per_person: bool = False, **options: Any
) -> Moments:
    """The release that the words of a command ask for."""
    return spread(made, unit=of_numbers(person, one_row_per_person=one_row_per_person), **options)


_TOWN: Final = "hubbub-demo/millbrook.parquet --person resident"


def _kind(name: str, made: type[Moments], what: str) -> Kind:
    found = Kind(
        name=name,
        wire=f"{name}/1",
        help=f"""Publish the {what} of a column and its mean, over all people or over those of each bin.

RANGE is declared: values below LOW count as LOW, those above HIGH as HIGH, all to the nearest STEP; people without a
value are left out. Three sums of squares get noise, which one person moves together by the same whatever the value, so
that the mean comes with it for nearly nothing. Both intervals hold at once. A coarser step costs little and a range that
is too wide costs much.

Say how people are protected, in one way, as for a mean: `epsilon=E`; `crowd=K` `epsilon=E` (and `sample=P`); or
`zero_knowledge=EPS` `rows=K` `people=N`. SPEC declares bins, as for a histogram. A person with several rows counts by one
of them (`one_row_per_person=True`).""",
        examples=(f"hubbub release {name} {_TOWN} --of salary:0..300000:1000 --epsilon 1 --out {name}/",),
        options=(OF, BY, WHERE, ONE_ROW, *PROTECTED),
        from_options=partial(from_options, made),
        from_json=partial(read, made),
    )
    made.kind = found
    return found


VARIANCE: Final = _kind("variance", Variance, "variance")
STD: Final = _kind("std", Deviation, "standard deviation")
