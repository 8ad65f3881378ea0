"""From options to the spec of records; and the kind itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.histogram.request import SAMPLING, histogram
from hubbub.kinds.records.spec import Records, check_records, read
from hubbub.numeric.exact import Exact, rational, to_text
from hubbub.numeric.format import short
from hubbub.protocol.option import COLLECTED, HOW, Option
from hubbub.protocol.result import Comparison, DisplayTable
from hubbub.protocol.spec import Kind
from hubbub.sampling.safepub import needed
from hubbub.tables.bins import Discovered, axis
from hubbub.tables.generalization import split_list
from hubbub.tables.privacy_unit import Unit

_HOW_MANY: Final = "records are published if a crowd shares them; say how many people that is, like `crowd=20`"
_WHICH: Final = "say which columns the records have; add `columns=age:10,zip/3,diagnosis`"


def records(
    columns: str | Sequence[str] | None = None,
    *,
    crowd: Exact | None = None,
    keep: str | Sequence[str] | None = None,
    unit: Unit | None = None,
    **options: Any,
) -> Records:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    parts = split_list(columns) if isinstance(columns, str) else list(columns or ())
    if parts and crowd is None:
        raise WrongUse(_HOW_MANY)
    axes = tuple(map(axis, parts))
    if not axes:
        raise WrongUse(_WHICH)
    if len({each.column for each in axes}) < len(axes):
        raise WrongUse("each column of a record is named once, with one function; drop the others from `columns`")
    untouched = tuple(_column(each) for each in (split_list(keep) if isinstance(keep, str) else keep or ()))
    if len({*untouched, *(each.column for each in axes)}) < len(untouched) + len(axes):
        raise WrongUse("a column is either a key or kept untouched, and named once; drop it from `columns` or `keep`")
    if untouched and (options.get("collected") is not None or (unit is not None and unit.one_row_per_person)):
        raise WrongUse(
            "columns are kept untouched of a table with one row for each person, and no theorem covers them beside a "
            "declared sample; leave out `keep`, or make such a table"
        )
    cells = histogram(axes, crowd=crowd, unit=unit, **options)
    return check_records(
        cells,
        WrongUse(
            "a column of records shows values that occur: as it is, as age:10, zip/3, born:year or "
            "diagnosis@icd.csv/1; declared bins are for histograms and cubes"
        ),
        untouched,
    )


def _column(name: object) -> str:
    """A column that is kept untouched, by its bare name."""
    known = axis(name) if isinstance(name, str) else None
    if not isinstance(known, Discovered) or known != Discovered(known.column):
        raise WrongUse("a column that is kept untouched is named and no more, like `keep=diagnosis`; write it so")
    return known.column


def from_options(
    *, person: str | None = None, one_row_per_person: bool = False, unique_person: bool = False, **options: Any
) -> Records:
    """The release that the options of a command from_options for."""
    unit = Unit(person=person, one_row_per_person=one_row_per_person, unique_person=unique_person)
    return records(unit=unit, **options)


_NUMBERS: Final = ("crowd", "rate", "epsilon", "delta")


def compare(spec: Records) -> Comparison:
    """This release, k-anonymity alone, and the crowd that SafePub needs for what is promised here."""
    rate = spec.cells.sample
    promised = next(
        (each.conclusion for each in spec.promises() if isinstance(each.conclusion, DifferentialPrivacy)), None
    )
    rows: list[Mapping[str, Any]] = [
        {"way": "this release", "crowd": spec.k, "rate": None if rate is None else to_text(rate)},
        {"way": "k-anonymity by a function tuned on the data", "crowd": spec.k, "rate": None},
    ]
    notes = ["k-anonymity is a property of the rows and promises nothing about whoever made them coarser."]
    if promised is None:
        notes.append("Without a secret sample there is no epsilon to compare at; add `sample=0.1`.")
    else:
        own = {"epsilon": to_text(promised.epsilon), "delta": to_text(promised.delta)}
        rows[0] = {**rows[0], **own}
        try:
            found = needed(to_text(promised.epsilon), promised.delta)
        except Refused as why:
            notes.append(f"{why}.")
        else:
            rate_text = to_text(found.rate)
            rows += [
                {"way": "SafePub (ARX)", "crowd": found.safepub, "rate": rate_text, **own},
                {"way": "this release, at the rate of SafePub", "crowd": found.exact, "rate": rate_text, **own},
            ]
            notes.append("SafePub's own formula, as ARX works it out; it takes the largest rate that it can.")
    lines = tuple(((row["way"],), tuple(_cell_text(row.get(name)) for name in _NUMBERS), False) for row in rows)
    return Comparison(DisplayTable(("to the same end",), _NUMBERS, lines, tuple(notes)), tuple(rows))


def _cell_text(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else short(rational(str(value)))


KIND: Final = Kind(
    name="records",
    wire="records/1",
    help="""Publish the records that a crowd shares: k-anonymity with a proof.

Each record is made coarser by a public function, column by column; then every record that fewer than K people have is
left out, and the others are published as they are, a row for each person. LIST names the columns, separated by commas:
age (as it is), age:10 (ranges of 10), zip/3 (the first 3 signs), born:year (also quarter, month, day) or
diagnosis@icd.csv/1 (its label at level 1 of a hierarchy: a line for each value, value;label;label..., as ARX writes
them). Columns that are not named are dropped.

With `keep=`, sensitive columns stand in each published row as they are. No promise covers them: whoever finds a
person's crowd reads what its people have there. hubbub check says how alike they are (l-diversity, t-closeness).

The function must not be chosen by looking at these people: choose it by what is public, or on a public table. What
is released about the same people under one name adds up in the ledger (hubbub ledger show).""",
    examples=(
        "hubbub release records hubbub-demo/millbrook.parquet --person resident --columns age:10,department --crowd 20 "
        "--out r/",
    ),
    options=(
        Option(
            "columns",
            "LIST",
            "The columns of a record, each with its function.",
            takes="str | Sequence[str]",
            missing=_WHICH,
        ),
        Option(
            "crowd", "K", "Records that at least K people share; the others are left out.", missing=_HOW_MANY, group=HOW
        ),
        Option(
            "keep",
            "LIST",
            "Sensitive columns to publish untouched, like diagnosis. No promise covers them.",
            takes="str | Sequence[str]",
        ),
        *SAMPLING,
    ),
    from_options=from_options,
    from_json=read,
    declared=COLLECTED,
    compare=compare,
)
Records.kind = KIND
