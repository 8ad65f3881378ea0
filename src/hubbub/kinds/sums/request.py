"""The options that statistics by bins share, as the fields of their spec."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Final, TypedDict, TypeVar, Unpack

from hubbub.channels.noise_choice import chosen_variance
from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import in_bins
from hubbub.kinds.sums.routes import better, by_bins
from hubbub.kinds.sums.spec import Statistic, read
from hubbub.kinds.sums.weights import declared_weight
from hubbub.numeric.exact import Exact, integer, positive
from hubbub.numeric.limits import a_coverage, a_share
from hubbub.options.mechanism import NOISE
from hubbub.protocol.option import HOW, WHOSE, Option
from hubbub.protocol.spec import Kind
from hubbub.sampling.ranks import LARGEST
from hubbub.tables.bins import Declared, Discovered, parse
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


class WeightWords(TypedDict, total=False):
    """The options of design weights, of which noise it is, and of totals beside bins."""

    weight: str | None
    poisson_survey: bool
    calibrated: bool
    totals: bool
    noise: str | None
    delta: Exact | None


class Protecting(TypedDict, total=False):
    """The options that say how people are protected."""

    zero_knowledge: Exact | None
    rows: Exact | None
    people: Exact | None
    crowd: Exact | None
    epsilon: Exact | None
    sample: Exact | None
    at_delta: Exact


class Common(Protecting, total=False):
    """What is asked of any of them: which bins, whose rows, who is protected how, how sure an interval is."""

    by: Sequence[str]
    where: str | Condition | None
    coverage: Exact
    unit: Unit | None


class Weighable(Common, WeightWords, total=False):
    """What is asked of a count, a share or a mean."""


def common_words(
    *,
    by: Sequence[str] = (),
    where: str | Condition | None = None,
    coverage: Exact = "0.95",
    unit: Unit | None = None,
    one: bool = False,
    **protecting: Unpack[Protecting],
) -> dict[str, Any]:
    """The fields of a spec that these options say; `one`: of a count or share, which is one number without `by`."""
    common = common_fields(by, where, coverage, unit)
    single = one and not common["axes"] and not (unit or Unit()).counts_rows
    return {**common, "protection": protected(single, 1 - common["coverage"], **protecting)}


def weighable(make: Callable[..., _S], *, one: bool, **given: Unpack[Weighable]) -> _S:
    """The spec of a count, a share or a mean, with the noise that has less error."""
    weights: dict[str, Any] = {name: given.pop(name) for name in WeightWords.__annotations__ if name in given}  # type: ignore[misc]
    spec = make(
        **common_words(one=one, **given),  # type: ignore[misc]
        weight=declared_weight(weights.get("weight"), weights.get("calibrated", False)),
        poisson_survey=weights.get("poisson_survey", False),
        subtotals=weights.get("totals", False),
    )
    return with_noise(spec, weights.get("noise"), weights.get("delta"))


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


# --- the options --------------------------------------------------------------------------------------------------

BY: Final = Option("by", "SPEC", "A column and its bins; repeat it for several columns.", many=True)
OF: Final = Option("of", "RANGE", "What is measured, COLUMN:LOW..HIGH: pay:0..9000.", takes="str")
WHERE: Final = Option("where", "CONDITION", 'Of whom, like "age >= 65 and sex = F".', takes="str")
ONE_ROW: Final = Option(
    "one_row_per_person",
    None,
    "Of people with several rows keep one, chosen secretly among all of theirs.",
    group=WHOSE,
)
ANY_ROW: Final = Option(
    "any_row", None, "A person of several rows counts if any of them meets the condition.", group=WHOSE, advanced=True
)
COUNT_ROWS: Final = Option(
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


def from_options(
    make: Callable[..., _S],
    *,
    of_condition: bool = False,
    kept_rows: bool = False,
    count_rows: bool = False,
    **options: Any,
) -> _S:
    """Build the spec from the options of a command.

    Intervals of one row per person are for what is kept on average, where such intervals are known, unless `kept_rows`
    asks for the others.
    """
    unit, rest = of_options(options, by_bins=bool(options.get("by")), of_condition=of_condition)
    if count_rows and not unit.counts_rows:
        raise WrongUse(
            "rows are counted where it is said how many of a person count at most; add `rows_per_person=M`, or drop "
            "`count_rows`"
        )
    found, average = make(unit=unit, **rest), on_average(unit, kept_rows=kept_rows)
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


def kind_of(
    made: type[Statistic],
    make: Callable[..., Statistic],
    about: str,
    options: Sequence[Option],
    *examples: str,
    name: str,
    of_condition: bool = False,
) -> Kind:
    """The kind of a statistic: its name, what it is about, its options."""
    names = {each.name for each in options}
    found = Kind(
        name=name,
        wire=f"{name}/1",
        help=f"{about}\n{_REST.format(any_row=_ANY if 'any_row' in names else '', noise=_NOISE if 'weight' in names else '')}",
        examples=tuple(f"hubbub release {name} {_TOWN} {each}" for each in examples),
        options=(*options, *(PROTECTED if "weight" in names else WITHOUT_DELTA)),
        from_options=partial(from_options, make, of_condition=of_condition),
        from_json=partial(read, made),
    )
    made.kind = found
    return found
