"""The share of people who meet a condition: a mean of ones and zeros, v(x) = (x, 1 - x).

Of all people, each of whom has it or not, a secret sample of K tells one number, v(x) = x; and so does the exact count
with the noise that hides what K random people could not tell, where that errs less (:mod:`hubbub.kinds.sums.routes`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Final, Unpack

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import texts
from hubbub.kinds.histogram.request import EXPECTED, KEPT, ROWS, UNIQUE
from hubbub.kinds.sums import text
from hubbub.kinds.sums.calibration import CALIBRATE, totals_of
from hubbub.kinds.sums.count import estimate_people
from hubbub.kinds.sums.mean import split, sums_of_mean, times, weighted
from hubbub.kinds.sums.request import ANY_ROW, BY, DISTINCT, ONE_ROW, TOTALS, WHERE, Weighable, kind_of, weighable
from hubbub.kinds.sums.spec import Calibrated
from hubbub.kinds.sums.sums import SHIFT, Number, Phrases, Sums, each_bin
from hubbub.kinds.sums.weights import CALIBRATED_OPTION, SURVEY, WEIGHT
from hubbub.protocol.spec import Kind
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bounded_column import Measure
from hubbub.tables.condition import Condition
from hubbub.tables.protection import Crowd, Knowledge


@dataclass(frozen=True, slots=True, kw_only=True)
class Share(Calibrated):
    """The share of people, of each bin or of all, who meet a condition."""

    def __post_init__(self) -> None:
        if self.where is None:
            raise WrongUse("a fraction is of those who meet a condition; say it, like `where='age >= 65'`")
        Calibrated.__post_init__(self)

    @property
    def measured(self) -> Measure | Condition | None:
        return self.where

    @property
    def counted_where(self) -> Condition | None:
        """None: all of them, whether they meet the condition or not."""
        return None

    @property
    def has_single_unknown(self) -> bool:
        return not self.axes and not self.unit.counts_rows

    @property
    def possible(self) -> tuple[Fraction, Fraction] | None:
        return Fraction(0), Fraction(1)

    def declare(self) -> Sums:
        number = Number(heading(self), percent=True)
        if not self.has_single_unknown or not isinstance(self.protection, Knowledge):
            return sums_of_mean(self, number, partial(phrases, self))
        rate = self.sum_rate
        return Sums(
            columns=("sampled" if self.sampled else "having",),
            measures=(),
            contribution=lambda one, x: (x,),
            peaks=((1,),),
            linear=True,
            rates=() if rate is None else (rate,),
            numbers=(number,),
            estimate=each_bin(partial(estimate_people, self)),
            phrases=partial(phrases, self),
            theorem=SHIFT,
            stated=() if rate is None else texts(rate=rate),
        )


def heading(spec: Share) -> str:
    """What each number is."""
    who = spec.unit.rows if spec.unit.counts_rows else "people with any row" if spec.any_row else "people"
    return f"share of {who} with {spec.where}{weighted(spec)}"


def phrases(spec: Share) -> Phrases:
    """Its nouns."""
    own = split(spec)
    if spec.has_single_unknown and isinstance(spec.protection, Knowledge):
        own = text.split(spec, "all of epsilon = {loss} is spent on the one count")
    columns = () if isinstance(spec.protection, Crowd | Knowledge) else (
        ("part", f"how many of them meet the condition{times(spec)}, with noise; the share is part divided by whole"),
        ("whole", f"how many they are{times(spec)}, with noise"),
    )  # fmt: skip
    return Phrases(
        heading=heading(spec),
        each=f"the {heading(spec)} among {text.whom(spec)}",
        unit=f"share of {text.many(spec)}, from 0 to 1",
        method=text.method(spec),
        route=text.route(spec),
        split=own,
        interval=text.interval_sentence(spec, f"the true {heading(spec)} of {text.people_in(spec)}"),
        interval_headline=text.interval_headline(spec, "the true share"),
        columns=columns,
    )


def fraction(*, calibrate: object = None, **words: Unpack[Weighable]) -> Share:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    return weighable(
        lambda **fields: Share(calibrate=totals_of(calibrate, fields["axes"]), **fields), one=True, **words
    )


FRACTION: Final[Kind] = kind_of(
    Share,
    fraction,
    "Publish the share of people who meet a condition, of all or of each bin.",
    (
        *(BY, TOTALS, WHERE, ONE_ROW, UNIQUE, EXPECTED, KEPT, ANY_ROW, DISTINCT, *ROWS),
        *(WEIGHT, SURVEY, CALIBRATED_OPTION, CALIBRATE),
    ),
    '--where "age >= 65" --by department --crowd 20 --epsilon 1 --out fraction/',
    name="fraction",
    of_condition=True,
)
