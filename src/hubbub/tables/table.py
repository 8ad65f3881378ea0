"""A table of people that has been opened but not read, and what can be asked of it from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hubbub.exact import Exact
from hubbub.kind import Release, Spec
from hubbub.tables.asking import histogram
from hubbub.tables.engine import Engine
from hubbub.tables.statistic_asking import statistic
from hubbub.tables.unit import Unit


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of people. `publish` carries a spec out and enters it in the ledger."""

    engine: Engine
    person: str | None
    publish: Callable[[Spec], Release]

    def __repr__(self) -> str:
        who = "each row is a person" if self.person is None else f"people by {self.person}"
        return f"<a table with the columns {', '.join(self.engine.columns())}; {who}>"

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
    ) -> Release:
        """Count people by some columns, and publish the counts so that each person stays lost in the crowd.

        `by` lists columns with their bins, like ``department=Police,Fire,other`` or ``age:0..100:10``. People are
        protected by `crowd` (exact counts of at least so many, the others hidden), `crowd` and `epsilon` (noise below),
        `epsilon` (plain noise), `epsilon` and `delta` (bins found in the data: noise, shown above the smallest
        threshold that delta allows), `outlier` (a loss for each crowd size) or a `channel` with its `options`. `sample`
        draws a fresh secret sample first; `collected` declares that the table is one.

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
            )
        )

    def count(
        self,
        by: Sequence[str] = (),
        *,
        where: str | None = None,
        zero_knowledge: Exact | None = None,
        rows: Exact | None = None,
        people: Exact | None = None,
        crowd: Exact | None = None,
        epsilon: Exact | None = None,
        sample: Exact | None = None,
        at_delta: Exact = "1e-9",
        coverage: Exact = "0.95",
    ) -> Release:
        """Count the people who meet a condition, in all or by bins.

        People are protected in one of three ways: `zero_knowledge` with `rows` and `people` (whatever is learnt about
        somebody, so many random people of all would have told as well); `crowd` with `epsilon` (people of a bin could
        stand in each other's place; smaller bins are hidden), on a fresh secret sample with `sample`; or `epsilon`
        (differential privacy). `where` is a condition like ``age >= 65 and sex = F``.

        Guarantee: as :meth:`histogram`.
        """
        return self.publish(
            statistic(
                "count",
                by=by,
                where=where,
                zero_knowledge=zero_knowledge,
                rows=rows,
                people=people,
                crowd=crowd,
                epsilon=epsilon,
                sample=sample,
                at_delta=at_delta,
                coverage=coverage,
                unit=Unit(person=self.person),
            )
        )

    def fraction(
        self,
        by: Sequence[str] = (),
        *,
        where: str | None = None,
        zero_knowledge: Exact | None = None,
        rows: Exact | None = None,
        people: Exact | None = None,
        crowd: Exact | None = None,
        epsilon: Exact | None = None,
        sample: Exact | None = None,
        at_delta: Exact = "1e-9",
        coverage: Exact = "0.95",
    ) -> Release:
        """Publish the share of people, of all or of each bin, who meet the condition `where`.

        People are protected in one of three ways: `zero_knowledge` with `rows` and `people` (whatever is learnt about
        somebody, so many random people of all would have told as well); `crowd` with `epsilon` (people of a bin could
        stand in each other's place; smaller bins are hidden), on a fresh secret sample with `sample`; or `epsilon`
        (differential privacy). `where` is a condition like ``age >= 65 and sex = F``.

        Guarantee: as :meth:`histogram`.
        """
        return self.publish(
            statistic(
                "fraction",
                by=by,
                where=where,
                zero_knowledge=zero_knowledge,
                rows=rows,
                people=people,
                crowd=crowd,
                epsilon=epsilon,
                sample=sample,
                at_delta=at_delta,
                coverage=coverage,
                unit=Unit(person=self.person),
            )
        )

    def mean(
        self,
        of: str,
        by: Sequence[str] = (),
        *,
        where: str | None = None,
        zero_knowledge: Exact | None = None,
        rows: Exact | None = None,
        people: Exact | None = None,
        crowd: Exact | None = None,
        epsilon: Exact | None = None,
        sample: Exact | None = None,
        at_delta: Exact = "1e-9",
        coverage: Exact = "0.95",
    ) -> Release:
        """Publish the mean of a column, of all or by bins; `of` is its range and step, like ``salary:0..300000:100``.

        People are protected in one of three ways: `zero_knowledge` with `rows` and `people` (whatever is learnt about
        somebody, so many random people of all would have told as well); `crowd` with `epsilon` (people of a bin could
        stand in each other's place; smaller bins are hidden), on a fresh secret sample with `sample`; or `epsilon`
        (differential privacy). `where` is a condition like ``age >= 65 and sex = F``.

        Guarantee: as :meth:`histogram`.
        """
        return self.publish(
            statistic(
                "mean",
                of=of,
                by=by,
                where=where,
                zero_knowledge=zero_knowledge,
                rows=rows,
                people=people,
                crowd=crowd,
                epsilon=epsilon,
                sample=sample,
                at_delta=at_delta,
                coverage=coverage,
                unit=Unit(person=self.person),
            )
        )

    def quantile(
        self,
        of: str,
        by: Sequence[str] = (),
        *,
        q: Exact = "0.5",
        where: str | None = None,
        zero_knowledge: Exact | None = None,
        rows: Exact | None = None,
        people: Exact | None = None,
        crowd: Exact | None = None,
        epsilon: Exact | None = None,
        sample: Exact | None = None,
        at_delta: Exact = "1e-9",
        coverage: Exact = "0.95",
    ) -> Release:
        """Publish a quantile of a column (its range and step declared), of all or by bins; 0.5 is the median.

        People are protected in one of three ways: `zero_knowledge` with `rows` and `people` (whatever is learnt about
        somebody, so many random people of all would have told as well); `crowd` with `epsilon` (people of a bin could
        stand in each other's place; smaller bins are hidden), on a fresh secret sample with `sample`; or `epsilon`
        (differential privacy). `where` is a condition like ``age >= 65 and sex = F``.

        Guarantee: as :meth:`histogram`.
        """
        return self.publish(
            statistic(
                "quantile",
                of=of,
                q=q,
                by=by,
                where=where,
                zero_knowledge=zero_knowledge,
                rows=rows,
                people=people,
                crowd=crowd,
                epsilon=epsilon,
                sample=sample,
                at_delta=at_delta,
                coverage=coverage,
                unit=Unit(person=self.person),
            )
        )
