"""From options to the spec of a count, fraction, mean or quantile; and the four kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Final, TypedDict, TypeVar, Unpack

from hubbub.channels.noise_choice import chosen_variance
from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import in_bins
from hubbub.kinds.histogram.request import EXPECTED, KEPT, ROWS, UNIQUE
from hubbub.kinds.statistic.calibration import CALIBRATE, totals_of
from hubbub.kinds.statistic.routes import better, by_bins
from hubbub.kinds.statistic.spec import Count, Mean, Quantile, Share, Statistic, read
from hubbub.kinds.statistic.weights import CALIBRATED_OPTION, SURVEY, WEIGHT, declared_weight
from hubbub.numeric.exact import Exact, integer, positive, rational
from hubbub.numeric.limits import a_coverage, a_share
from hubbub.options.mechanism import NOISE
from hubbub.protocol.option import HOW, WHOSE, Option
from hubbub.protocol.spec import Kind
from hubbub.sampling.ranks import LARGEST
from hubbub.tables.bins import Declared, Discovered, parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import Condition
from hubbub.tables.condition import parse as parse_condition
from hubbub.tables.privacy_unit import Unit, of_options, on_average, within_bins
from hubbub.tables.protection import Crowd, Knowledge, Noise, Protection

_S = TypeVar("_S", bound=Statistic)
MOST_PEOPLE: Final = 10**12
WAYS: Final = (
    "say how people are protected, in one way: `zero_knowledge=EPS` with `rows=K` and `people=N`, `crowd=K` with "
    "`epsilon=E` (and `sample=P`), or `epsilon=E`"
)


def statistic(
    name: str,
    *,
    by: Sequence[str] = (),
    of: str | None = None,
    where: str | Condition | None = None,
    q: Exact = "0.5",
    delta: Exact | None = None,
    noise: str | None = None,
    coverage: Exact = "0.95",
    weight: str | None = None,
    poisson_survey: bool = False,
    calibrated: bool = False,
    totals: bool = False,
    calibrate: object = None,
    interval_share: Exact = "0.1",
    unit: Unit | None = None,
    **protecting: Unpack[Protecting],
) -> Statistic:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    common = common_fields(by, where, coverage, unit)
    axes, level = common["axes"], common["coverage"]
    if of is None and name in ("mean", "quantile"):
        raise WrongUse(f"say what the {name} is of, with its range and step: `of=salary:0..300000:100`")
    if of is not None and name in ("count", "fraction"):
        raise WrongUse(f"a {name} is of people and measures nothing; drop `of`, or ask for a mean")
    one = not axes and name in ("count", "fraction") and not (unit or Unit()).counts_rows
    common |= {"protection": protected(one, 1 - level, **protecting), "subtotals": totals}
    weights: dict[str, Any] = {"weight": declared_weight(weight, calibrated), "poisson_survey": poisson_survey}
    match name:
        case "count":
            return with_noise(Count(**common, **weights), noise, delta)
        case "fraction":
            return with_noise(Share(calibrate=totals_of(calibrate, axes), **common, **weights), noise, delta)
        case "mean":
            mean = Mean(of=measured(of), calibrate=totals_of(calibrate, axes), **common, **weights)
            return with_noise(mean, noise, delta)
        case _:
            part = rational(interval_share, "interval-share")
            return Quantile(of=measured(of), q=rational(q, "q"), interval=part, **common)


def common_fields(
    by: Sequence[str], where: str | Condition | None, coverage: Exact, unit: Unit | None
) -> dict[str, Any]:
    """What every statistic has: its bins, the condition, the coverage of intervals, whose rows."""
    if isinstance(by, str):
        raise WrongUse("by is a list of columns, even for one column; put it in brackets, like by=['department']")
    axes, level = tuple(map(parse, by)), a_coverage(coverage)
    return {
        "axes": axes,
        "where": where if where is None or isinstance(where, Condition) else parse_condition(where),
        "coverage": level,
        "unit": within_bins(unit or Unit(), axes),
    }


def with_noise(spec: _S, noise: str | None, delta: Exact | None) -> _S:
    """The spec with the requested noise; with a delta and no `mechanism`, the one with less error.

    Guarantee: which it is depends on the public description alone, and either keeps the epsilon; the delta of Gaussian
    noise is at most the one that is allowed.
    """
    if noise is None and delta is None:
        return spec
    if not isinstance(spec.protection, Noise):
        raise WrongUse("`delta` and `mechanism` go with `epsilon` alone: noise on every number; leave them out")
    allowed = None if delta is None else positive(delta, "delta")
    if spec.sensitivity is None:
        chosen_variance(noise or "auto", spec.protection.epsilon, allowed, in_bins(1))  # refuses words that are none
        if noise != "gaussian":
            return spec
        raise WrongUse(
            "Gaussian noise is for counts, shares, means, and sums in layers or with a cap that is said, in declared bins of a table "
            "that is no secret survey; use `mechanism=geometric`, which needs no delta"
        )
    variance = chosen_variance(noise or "auto", spec.protection.epsilon, allowed, spec.sensitivity)
    return spec if variance is None else replace(spec, protection=replace(spec.protection, variance=variance))


def declared(spec: str) -> Declared:
    """Bins that are declared, or one sentence if they would be found in the data: of a question on a sample."""
    axis = parse(spec)
    if isinstance(axis, Discovered):
        raise WrongUse(
            f"the bins of {axis.column} must be declared, like {axis.column}=a,b,other or {axis.column}:0..100:10, "
            "because which of them occur is data; list them"
        )
    return axis


class Protecting(TypedDict, total=False):
    """The options that say how people are protected."""

    zero_knowledge: Exact | None
    rows: Exact | None
    people: Exact | None
    crowd: Exact | None
    epsilon: Exact | None
    sample: Exact | None
    at_delta: Exact


def protected(one: bool, miss: Fraction, **given: Unpack[Protecting]) -> Protection:
    """How people are protected; `one`: by the better of two routes, where a single number may `miss` so often."""
    rows, people, sample = given.get("rows"), given.get("people"), given.get("sample")
    zero_knowledge, crowd, epsilon = given.get("zero_knowledge"), given.get("crowd"), given.get("epsilon")
    at_delta = positive(given.get("at_delta", "1e-9"), "at-delta")
    if zero_knowledge is not None:
        if crowd is not None or epsilon is not None or sample is not None:
            raise WrongUse(f"zero-knowledge says everything; {WAYS}")
        return _knowledge(one, miss, zero_knowledge, rows, people)
    if rows is not None or people is not None:
        raise WrongUse("`rows` and `people` go with zero-knowledge; add `zero_knowledge=EPS`, or drop them")
    if crowd is not None:
        return Crowd(
            k=integer(crowd, "crowd", least=2),
            epsilon=None if epsilon is None else positive(epsilon, "epsilon"),
            sample=None if sample is None else a_share(sample, "sample", "leave it out to use everybody"),
            at_delta=at_delta,
        )
    if sample is not None:
        raise WrongUse("`sample` goes with a crowd; add `crowd=K`, or use `zero_knowledge=EPS` with `rows=K`")
    if epsilon is None:
        raise WrongUse(WAYS)
    return Noise(epsilon=positive(epsilon, "epsilon"))


def _knowledge(one: bool, miss: Fraction, epsilon: Exact, rows: Exact | None, people: Exact | None) -> Knowledge:
    if rows is None or people is None:
        raise WrongUse(
            "zero-knowledge is with respect to `rows=K` random people out of `people=N`, who are public; say both"
        )
    loss, k, n = positive(epsilon, "zero-knowledge"), integer(rows, "rows", least=1), integer(people, "people", least=1)
    if k > n:
        raise WrongUse(f"`rows` is how many of all people may be known, at most {n}, not {k}; lower it")
    if n > MOST_PEOPLE or min(k, n - k) > LARGEST:
        raise WrongUse(f"of at most {MOST_PEOPLE:,} people at most {LARGEST:,} are drawn, or left out; choose others")
    return better(k, n, loss, miss) if one else by_bins(k, n, loss)


# --- the kinds ----------------------------------------------------------------------------------------------------

BY: Final = Option("by", "SPEC", "A column and its bins; repeat it for several columns.", many=True)
OF: Final = Option("of", "RANGE", "What is measured, COLUMN:LOW..HIGH: pay:0..9000.", takes="str")
WHERE: Final = Option("where", "CONDITION", 'Of whom, like "age >= 65 and sex = F".', takes="str")
_Q: Final = Option("q", "Q", "Which quantile: 0.5 is the median.", default="0.5")
_INTERVAL: Final = Option(
    "interval_share",
    "S",
    "The share of epsilon for the interval of the quantile; 0: all for the value, and no interval.",
    default="0.1",
    group=HOW,
    advanced=True,
)
ONE_ROW: Final = Option(
    "one_row_per_person",
    None,
    "Of people with several rows keep one, chosen secretly among all of theirs.",
    group=WHOSE,
)
_ANY_ROW: Final = Option(
    "any_row", None, "A person of several rows counts if any of them meets the condition.", group=WHOSE, advanced=True
)
_COUNT_ROWS: Final = Option(
    "count_rows", None, "Count rows and not people, at most M of each person (`rows_per_person`)."
)
TOTALS: Final = Option(
    "totals", None, "Beside bins also what they come to together, and by fewer columns; costs nothing.", advanced=True
)
DISTINCT: Final = Option(
    "distinct",
    "B",
    "Each person, or their rows, in at most B bins, chosen secretly.",
    group=WHOSE,
    advanced=True,
)
PROTECTED: Final = (
    Option("zero_knowledge", "EPS", "Tell no more than K random people do, up to EPS.", group=HOW, advanced=True),
    Option("rows", "K", "With zero-knowledge: how many random people may be known.", group=HOW, advanced=True),
    Option("people", "N", "With zero-knowledge: how many people the table is of; public.", group=HOW, advanced=True),
    Option("crowd", "K", "Show bins of at least K people, the others hidden.", group=HOW),
    Option("epsilon", "E", "The privacy loss: of the noise in crowds, or of everything.", group=HOW),
    Option("delta", "D", "With `epsilon` alone: allows Gaussian noise where that is better.", group=HOW),
    NOISE,
    Option(
        "sample", "P", "With `crowd`: a fresh secret sample, each person with probability P.", group=HOW, advanced=True
    ),
    Option("at_delta", "D", "The delta of what that sample buys.", default="1e-9", group=HOW, advanced=True),
    Option("coverage", "C", "How often an interval is right.", default="0.95", advanced=True),
)


WITHOUT_DELTA: Final = tuple(each for each in PROTECTED if each.name not in ("delta", "mechanism"))
"""Of kinds whose noise is not chosen."""


def from_options(name: str, *, kept_rows: bool = False, count_rows: bool = False, **options: Any) -> Statistic:
    """Build the spec from the options of a command.

    Intervals of one row per person are for what is kept on average, where such intervals are known, unless `kept_rows`
    asks for the others.
    """
    unit, rest = of_options(options, by_bins=bool(options.get("by")), of_condition=name in ("count", "fraction"))
    if count_rows and not unit.counts_rows:
        raise WrongUse(
            "rows are counted where it is said how many of a person count at most; add `rows_per_person=M`, or drop "
            "`count_rows`"
        )
    found, average = statistic(name, unit=unit, **rest), on_average(unit, kept_rows=kept_rows)
    try:
        return found if average == unit else replace(found, unit=replace(found.unit, expected_rows=True))
    except WrongUse:  # no such interval is known for it
        return found


_REST: Final = """
CONDITION compares columns: =, !=, <, <=, >, >=, in (a, b), is missing, joined by and, or, not and parentheses; a
comparison with a missing cell is false, and a != b is not a = b, which then holds. SPEC declares bins, as for a
histogram: column=a,b,other, column:0..100:10, column:[0,20,50,inf) or column:month:2024-01..2024-12; a column alone has
its values found in the data, which goes with `crowd=K` (a bin that is hidden is absent).

Say how people are protected, in one way. `zero_knowledge=EPS` `rows=K` `people=N`: whatever is learnt about you, K
random people out of N would have told as well, up to EPS. `crowd=K` `epsilon=E`: people of a bin could stand in each
other's place, up to E; smaller bins are hidden; `sample=P` draws a secret sample first. `epsilon=E`: differential
privacy for one person more or less{noise}.

N is declared and public. A table of another number of people is refused with exit code 3 and one sentence before
anything is spent; that it was refused is information, and for you alone. What is released about the same people under
one name adds up in the ledger (hubbub ledger show).

A person with several rows counts by one of them (`one_row_per_person=True`): whoever has many counts as much as whoever
has one, and crowds are then crowds of kept rows. Or by at most M rows (`rows_per_person=M`, perhaps with `distinct=B`
bins and `rows_per_bin=C`), with `epsilon=E`: the numbers are then of rows, and the promise is to people.{any_row}
Without such a word a table where somebody has several rows is refused, and that is for you alone."""

_ANY: Final = """ Or by
whether any of their rows meets the condition (`any_row=True`): how many people ever did; by bins, in each of at most B
(`distinct=B`)."""

_NOISE: Final = """; with `delta=D` the noise is geometric or
Gaussian, whichever has less error for people with so many rows or bins (`mechanism` says which instead)"""

_TOWN: Final = "hubbub-demo/millbrook.parquet --person resident"


def _kind(name: str, made: type[Statistic], about: str, options: Sequence[Option], *examples: str) -> Kind:
    found = Kind(
        name=name,
        wire=f"{name}/1",
        help=f"{about}\n{_REST.format(any_row=_ANY if _ANY_ROW in options else '', noise='' if made is Quantile else _NOISE)}",
        examples=tuple(f"hubbub release {name} {each}" for each in examples),
        options=(*options, *(PROTECTED if made is not Quantile else WITHOUT_DELTA)),
        from_options=partial(from_options, name),
        from_json=partial(read, made),
    )
    made.kind = found
    return found


COUNT: Final = _kind(
    "count",
    Count,
    "Count people who meet a condition, in all or by bins.",
    (
        BY,
        TOTALS,
        WHERE,
        ONE_ROW,
        UNIQUE,
        EXPECTED,
        KEPT,
        _ANY_ROW,
        _COUNT_ROWS,
        DISTINCT,
        *ROWS,
        WEIGHT,
        SURVEY,
        CALIBRATED_OPTION,
    ),
    f'{_TOWN} --where "age >= 65" --zero-knowledge 0.5 --rows 1000 --people 40000 --out count/',
    f'{_TOWN} --where "salary >= 200000" --any-row --epsilon 1 --out ever/',
)
FRACTION: Final = _kind(
    "fraction",
    Share,
    "Publish the share of people who meet a condition, of all or of each bin.",
    (
        BY,
        TOTALS,
        WHERE,
        ONE_ROW,
        UNIQUE,
        EXPECTED,
        KEPT,
        _ANY_ROW,
        DISTINCT,
        *ROWS,
        WEIGHT,
        SURVEY,
        CALIBRATED_OPTION,
        CALIBRATE,
    ),
    f'{_TOWN} --where "age >= 65" --by department --crowd 20 --epsilon 1 --out fraction/',
)
MEAN: Final = _kind(
    "mean",
    Mean,
    """Publish the mean of a column, over all people or over those of each bin.

RANGE is declared, because nothing about it may be found in the data: values below LOW count as LOW, those above HIGH
as HIGH, all to the nearest STEP; people without a value are left out.
""",
    (
        OF,
        BY,
        TOTALS,
        WHERE,
        ONE_ROW,
        UNIQUE,
        EXPECTED,
        KEPT,
        DISTINCT,
        *ROWS,
        WEIGHT,
        SURVEY,
        CALIBRATED_OPTION,
        CALIBRATE,
    ),
    f"{_TOWN} --of salary:0..300000:1000 --epsilon 1 --out mean/",
    f"{_TOWN} --of salary:0..300000:1000 --by department=Police,Fire,null,other --one-row-per-person --epsilon 1 --out kept/",
)
QUANTILE: Final = _kind(
    "quantile",
    Quantile,
    """Publish a quantile of a column, such as the median, over all people or over those of each bin.

RANGE is declared: the value comes out as one of its steps; what lies outside counts as the nearer end, and people
without a value are left out.
""",
    (OF, _Q, _INTERVAL, BY, WHERE, ONE_ROW, UNIQUE, DISTINCT, *ROWS),
    f"{_TOWN} --of salary:0..300000:1000 --q 0.5 --epsilon 1 --out quantile/",
)
