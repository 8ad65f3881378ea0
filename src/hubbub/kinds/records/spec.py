"""Records that a crowd shares, as a release: the k-anonymity that can be proved.

Each record is made coarser by a public function, column by column, and those that fewer than k people have are left
out. This is the histogram over found bins that shows exact counts of at least k and hides the others, written in
another way: a record as often as its count says. So its promises, its secret sample and its place among other releases
are those of that histogram, which this file holds as `cells`; nothing is promised twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final, Self

from hubbub.errors import CheckFailed, HubbubError
from hubbub.guarantees.definitions import CrowdBlending
from hubbub.guarantees.derivation import HERE, Assumption, Derivation, Theorem
from hubbub.guarantees.people import People, Whose
from hubbub.kinds.histogram import text as histogram_text
from hubbub.kinds.histogram import wire as histogram_wire
from hubbub.kinds.histogram.spec import Histogram
from hubbub.kinds.records import diversity, mechanism
from hubbub.numeric.format import join_words
from hubbub.protocol.check import Check
from hubbub.protocol.spec import CompositionInfo, Description, Kind, Spec
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import Plain
from hubbub.serialization.exact_json import restored
from hubbub.tables.bins import Axis, Discovered, rule
from hubbub.tables.generalization import Unchanged
from hubbub.tables.schema import ColumnType, Schema, check, column

KEY_COLUMNS: Final = Theorem(
    "records.keys", "the file without its untouched columns is a function of the records of key columns", HERE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Records(Spec):
    """The records that at least k people share once a public function has made them coarser.

    Guarantee: (k, 0)-crowd-blending, and what a secret sample adds to that, since the rows are a function of the
    histogram `cells` (how often each row occurs) and say nothing by their order. With `keep`, that is so of the file
    without these columns, and no promise covers them.
    """

    kind: ClassVar[Kind]  # set where the kind is made, in hubbub.kinds.records.request
    cells: Histogram
    keep: tuple[str, ...] = ()  # columns that are published untouched, beside the promises

    @property
    def k(self) -> int:
        """The size of a crowd."""
        k = self.cells.channel.exact_from
        assert k is not None
        return k

    @property
    def people(self) -> People:
        """With untouched columns, the people in the file without them: nothing else adds up with that."""
        return replace(self.cells.people, whose=Whose.KEYS) if self.keep else self.cells.people

    @property
    def untouched_axes(self) -> tuple[Discovered, ...]:
        """The columns that are published as they are."""
        return tuple(Discovered(name, coarser=Unchanged()) for name in self.keep)

    @property
    def joint(self) -> Histogram:
        """The histogram of all published columns: how often each row of the file is there."""
        return replace(self.cells, axes=(*self.cells.axes, *self.untouched_axes))

    def with_schema(self, schema: Schema) -> Self:
        if self.cells.unit.person is not None:
            column(schema, self.cells.unit.person)
        axes = tuple(_find_booleans(axis, column(schema, axis.column)) for axis in self.cells.axes)
        for axis in axes:
            check(axis, schema[axis.column])
        for untouched in self.untouched_axes:
            check(untouched, column(schema, untouched.column))
        return replace(self, cells=replace(self.cells, axes=axes))

    def promises(self) -> tuple[Derivation, ...]:
        """Guarantee: those of the histogram of which the rows are a function; with untouched columns, of which the rows
        without these columns are one, and for that part alone."""
        return self._of_keys(self.cells.promises())

    def table_promises(self) -> tuple[Derivation, ...]:
        return self._of_keys(self.cells.table_promises())

    def _of_keys(self, steps: tuple[Derivation, ...]) -> tuple[Derivation, ...]:
        if not self.keep:
            return steps
        about = Assumption(
            "keys.untouched",
            "no promise covers {untouched}: published as in the table, and all promises are about the file without it",
            (("untouched", ", ".join(self.keep)),),
        )
        return tuple(
            step.then(KEY_COLUMNS, step.conclusion, assumptions=(about,), people=self.people) for step in steps
        )

    def composition(self) -> CompositionInfo:
        return CompositionInfo() if self.keep else self.cells.composition()

    def checks(self) -> Iterator[Check]:
        return self.cells.checks()

    def unverified_fields(self) -> tuple[str, ...]:
        return tuple(text for text in self.cells.unverified_fields() if " interval" not in text)

    def describe(self) -> Description:
        cells = histogram_text.describe(self.cells)
        columns = join_words([axis.column for axis in self.cells.axes])
        untouched = join_words(list(self.keep)) if self.keep else ""
        beside = f"; {untouched} stands in each row as it is, and no promise covers it" if self.keep else ""
        whose = "in a secret sample of the table" if self.cells.sample is not None else "in the table"
        return replace(
            cells,
            title=f"Records of people: {columns}{f', with {untouched} untouched' if self.keep else ''}",
            published=(
                f"The records of the people {whose}, with {columns}, made coarser by public rules; records that fewer "
                f"than {self.k} of them share are left out{beside}"
            ),
            entry=cells.entry.replace("histogram by", "records with", 1)
            + (f", {untouched} untouched" if self.keep else ""),
            counts=f"{cells.counts}, a row for each",
            intervals="",
            interval_headline="",
            public=(
                *((axis.column, str(rule(axis)).removeprefix(f"{axis.column}: ")) for axis in self.cells.axes),
                *((name, "published as it is; no promise covers it") for name in self.keep),
            ),
            remarks=(
                *cells.remarks,
                *(
                    (
                        f"no promise covers {untouched}: whoever finds somebody's crowd reads what its people have there "
                        "(hubbub check says how alike they are)",
                    )
                    if self.keep
                    else ()
                ),
            ),
        )

    def to_json(self) -> dict[str, Plain]:
        fields = histogram_wire.to_json(self.cells)
        return {**fields, "keep": [*self.keep]} if self.keep else fields

    inspect_crowds = diversity.inspect_crowds
    measure = mechanism.measure
    present = mechanism.present
    load = mechanism.load


def _find_booleans(axis: Axis, column_type: ColumnType) -> Axis:
    """A boolean that nobody has is no record, so its values are found like others and not declared by its type."""
    if column_type is ColumnType.BOOLEAN and isinstance(axis, Discovered) and axis.coarser is None:
        return replace(axis, coarser=Unchanged())
    return axis


def read(given: Mapping[str, Any]) -> Records:
    """The release that a description says, checked as if somebody had asked for it."""
    wrong = CheckFailed("the description is not one of records; get the original certificate")
    keep = restored(tuple[str, ...], given.get("keep", []))
    if "keep" in given and not keep:
        raise wrong
    return check_records(histogram_wire.read(given), wrong, keep)


def check_records(cells: Histogram, wrong: HubbubError, keep: tuple[str, ...] = ()) -> Records:
    """Records of found bins, exact or not there at all; `wrong` for anything else."""
    found = all(isinstance(axis, Discovered) for axis in cells.axes)
    crowds = cells.channel.exact_from is not None and isinstance(cells.channel.claim, CrowdBlending)
    if not found or not crowds or cells.scale_up or cells.unit.distinct:
        raise wrong
    named = [axis.column for axis in cells.axes]
    if len({*named, *keep}) < len(named) + len(keep) or (
        keep and (cells.unit.one_row_per_person or cells.collected is not None)
    ):
        raise wrong
    return Records(cells=cells, keep=keep)
