"""A table of people that has been opened but not read, and what can be asked of it from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hubbub.kinds.cube.request import cube
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.points.request import points
from hubbub.kinds.queries.request import queries
from hubbub.kinds.records.request import records
from hubbub.kinds.table_statistics import Statistics
from hubbub.numeric.exact import Exact
from hubbub.protocol.release import Release
from hubbub.tables.inspection import Look
from hubbub.tables.privacy_unit import Unit


@dataclass(frozen=True, slots=True, eq=False)
class Table(Statistics):
    """A table of people. `publish` carries a spec out and enters it in the ledger."""

    def __repr__(self) -> str:
        who = "each row is a person" if self.person is None else f"people by {self.person}"
        return f"<a table with the columns {', '.join(self.engine.columns())}; {who}>"

    def check(self, by: Sequence[str] = (), *, where: str | None = None, of: str | None = None) -> Look:
        """A private look before anything is published, as ``hubbub check`` prints it: how many rows there are and how
        many of each person, what cannot be read as declared, how much would be shown, and where bins, a condition
        `where` or the range `of` a measure and the data do not meet; without `by`, how each column could be read. It is
        made from the data as they are: publish none of it, and make no bins from it. Nothing is
        entered in the ledger.

        Guarantee: none.
        """
        return self.look(by, where=where, of=of)

    def histogram(
        self,
        by: Sequence[str],
        *,
        crowd: Exact | None = None,
        epsilon: Exact | None = None,
        delta: Exact | None = None,
        outlier: str | None = None,
        show_above: Exact | None = None,
        channel: str | None = None,
        options: Mapping[str, Any] | None = None,
        one_row_per_person: bool = False,
        distinct: int | None = None,
        expected_rows: bool = False,
        sample: Exact | None = None,
        scale_up: bool = False,
        collected: Exact | None = None,
        collected_between: tuple[Exact, Exact] | None = None,
        exempt: Exact = 0,
        at_delta: Exact = "1e-9",
        coverage: Exact = "0.95",
        unlisted: Exact | None = None,
        parts: int | None = None,
        accept_weak: bool = False,
    ) -> Release:
        """Count people by some columns, and publish the counts so that each person stays lost in the crowd.

        `by` lists columns with their bins, like ``department=Police,Fire,other`` or ``age:0..100:10``. People are
        protected by `crowd` (exact counts of at least so many, the others hidden), `crowd` and `epsilon` (noise below),
        `epsilon` (plain noise), `epsilon` and `delta` (bins found in the data: noise, shown above the smallest
        threshold that delta allows), `outlier` (a loss for each crowd size) or a `channel` with its `options`. `sample`
        draws a fresh secret sample first; `collected` declares that the table is one. If `unlisted` is given, a table
        of which a larger share of the people is in no bin is refused before anything is drawn. With `parts`, for a
        table in Spark, its executors draw the noise and write so many Parquet files when the release is saved, into a
        folder that they share with this machine; counts and rows never come together here. A promise so weak that
        somebody has to confirm it (:mod:`hubbub.protocol.weakness`) is refused without `accept_weak`, before anything
        is spent.

        Guarantee: the promises of the release, derived before the table is read and entered in the ledger, durably,
        before any noise is drawn; noise and samples come from the operating system, fresh for this call. With the
        earlier releases of the dataset there is still a theorem that covers all of them, or the call is refused.
        """
        return self.publish(
            histogram(
                by,
                crowd=crowd,
                epsilon=epsilon,
                delta=delta,
                outlier=outlier,
                show_above=show_above,
                channel=channel,
                options=options,
                unit=Unit(
                    person=self.person,
                    one_row_per_person=one_row_per_person,
                    distinct=distinct,
                    expected_rows=expected_rows,
                ),
                sample=sample,
                scale_up=scale_up,
                collected=collected,
                collected_between=collected_between,
                exempt=exempt,
                at_delta=at_delta,
                coverage=coverage,
                unlisted=unlisted,
                parts=parts,
            ),
            accept_weak=accept_weak,
        )

    def records(
        self,
        columns: Sequence[str],
        *,
        crowd: Exact,
        one_row_per_person: bool = False,
        sample: Exact | None = None,
        collected: Exact | None = None,
        collected_between: tuple[Exact, Exact] | None = None,
        exempt: Exact = 0,
        at_delta: Exact = "1e-9",
        accept_weak: bool = False,
    ) -> Release:
        """Publish the records that at least `crowd` people share, made coarser by public functions.

        `columns` lists them with their functions, like ``age:10`` (ranges), ``zip/3`` (first signs), ``born:year`` or
        ``diagnosis@icd.csv/1`` (a level of a hierarchy), none of them chosen by looking at these people.

        Guarantee: (crowd, 0)-crowd-blending and what sampling adds to it, as :meth:`histogram` has it.
        """
        return self.publish(
            records(
                columns,
                crowd=crowd,
                unit=Unit(person=self.person, one_row_per_person=one_row_per_person),
                sample=sample,
                collected=collected,
                collected_between=collected_between,
                exempt=exempt,
                at_delta=at_delta,
            ),
            accept_weak=accept_weak,
        )

    def cube(
        self,
        by: Sequence[str],
        *,
        margins: str | Sequence[str | Sequence[str]] | None = None,
        crowd: Exact | None = None,
        epsilon: Exact | None = None,
        consistent: bool = False,
        one_row_per_person: bool = False,
        sample: Exact | None = None,
        collected: Exact | None = None,
        collected_between: tuple[Exact, Exact] | None = None,
        exempt: Exact = 0,
        at_delta: Exact = "1e-9",
        coverage: Exact = "0.95",
        unlisted: Exact | None = None,
        accept_weak: bool = False,
    ) -> Release:
        """Count people by several columns at once, and by fewer of them, under one promise.

        `margins` lists sums by fewer columns, like ``"A,B; A"`` or ``[["A", "B"], ["A"]]``; a number is every margin of
        so many columns. With `crowd` the cells are published once and margins are sums of what was published; with
        `epsilon` alone every table has noise of its own, epsilon being split for the least worst error.

        Guarantee: as :meth:`histogram` has it, for all files together.
        """
        return self.publish(
            cube(
                by,
                margins=margins,
                crowd=crowd,
                epsilon=epsilon,
                consistent=consistent,
                unit=Unit(person=self.person, one_row_per_person=one_row_per_person),
                sample=sample,
                collected=collected,
                collected_between=collected_between,
                exempt=exempt,
                at_delta=at_delta,
                coverage=coverage,
                unlisted=unlisted,
            ),
            accept_weak=accept_weak,
        )

    def points(
        self,
        columns: Sequence[str],
        *,
        grid: Sequence[Exact] | None = None,
        box: Sequence[tuple[Exact, Exact]],
        crowd: Exact,
        epsilon: Exact,
        lattice: Sequence[Exact] | None = None,
        regions: str | os.PathLike[str] | None = None,
        quadtree: Sequence[str] | None = None,
        one_row_per_person: bool = False,
        within: Exact | None = None,
        clamp: bool = True,
        accept_weak: bool = False,
    ) -> Release:
        """Publish a point for each person whose cell has at least `crowd` people, moved by noise as wide as the cell.

        `columns` are the coordinates, `box` their declared ends, `grid` the sides of a cell and `lattice` the steps
        that points move by (a hundredth of a cell if not given); each is public. In place of a grid, cells may be the
        polygons of a GeoJSON file, `regions`, or those of a `quadtree`. With `within`, it is said how often no point is
        further than that from its own; with `clamp`, as usual, points that leave the box are put back on its edge.

        Guarantee: (crowd, epsilon)-crowd-blending, as :meth:`histogram` has it.
        """
        return self.publish(
            points(
                columns,
                grid=grid,
                box=box,
                crowd=crowd,
                epsilon=epsilon,
                lattice=lattice,
                regions=regions,
                quadtree=quadtree,
                unit=Unit(person=self.person, one_row_per_person=one_row_per_person),
                within=within,
                clamp=clamp,
            ),
            accept_weak=accept_weak,
        )

    def queries(
        self,
        columns: Sequence[str],
        of: str,
        *,
        epsilon: Exact | None = None,
        zero_knowledge: Exact | None = None,
        rows: Exact | None = None,
        people: Exact | None = None,
        method: str | None = None,
        coverage: Exact = "0.95",
        accept_weak: bool = False,
    ) -> Release:
        """Answer a whole class of questions at once, like ``marginals:2`` or ``intervals``, each within a proved bound.

        `columns` lists columns with their declared bins. With `epsilon` everybody is counted; with `zero_knowledge`,
        `rows` (K) and `people` (N) a secret sample of K of the N people is. The method is the one with the smallest
        proved error, unless one is named. Ask the result: ``release.result.answer({"sex": "F", "town": "Bath"})``.

        Guarantee: that of :meth:`histogram`; and with a chance of `coverage`, all answers are within their bounds.
        """
        return self.publish(
            queries(
                columns,
                of,
                epsilon=epsilon,
                zero_knowledge=zero_knowledge,
                rows=rows,
                people=people,
                method=method,
                coverage=coverage,
                unit=Unit(person=self.person),
            ),
            accept_weak=accept_weak,
        )
