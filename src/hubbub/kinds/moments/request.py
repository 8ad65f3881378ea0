"""From options to the spec of a variance or a standard deviation; and the two kinds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Unpack

from hubbub.errors import WrongUse
from hubbub.kinds.histogram.request import UNIQUE
from hubbub.kinds.moments.spec import Deviation, Moments, Variance
from hubbub.kinds.statistic.request import BY, OF, ONE_ROW, WHERE, WITHOUT_DELTA, Protecting, common_fields, protected
from hubbub.kinds.statistic.spec import read
from hubbub.numeric.exact import Exact
from hubbub.protocol.spec import Kind
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import Condition
from hubbub.tables.privacy_unit import Unit, of_options


def spread(
    made: type[Moments],
    *,
    of: str | None = None,
    by: Sequence[str] = (),
    where: str | Condition | None = None,
    coverage: Exact = "0.95",
    unit: Unit | None = None,
    **protecting: Unpack[Protecting],
) -> Moments:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if of is None:
        raise WrongUse("say of what, with its range and step: `of=salary:0..300000:1000`")
    common = common_fields(by, where, coverage, unit)
    return made(**common, protection=protected(False, 1 - common["coverage"], **protecting), of=measured(of))


def from_options(made: type[Moments], **options: Any) -> Moments:
    """Build the spec from the options of a command."""
    unit, rest = of_options(options)
    return spread(made, unit=unit, **rest)


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
        options=(OF, BY, WHERE, ONE_ROW, UNIQUE, *WITHOUT_DELTA),
        from_options=partial(from_options, made),
        from_json=partial(read, made),
    )
    made.kind = found
    return found


VARIANCE: Final = _kind("variance", Variance, "variance")
STD: Final = _kind("std", Deviation, "standard deviation")
