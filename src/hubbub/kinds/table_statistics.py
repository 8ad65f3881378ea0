"""What can be asked of a table from Python that is one number, or one number for each bin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from hubbub.errors import WrongUse
from hubbub.kinds.questions.one_sample import SampledPeople
from hubbub.kinds.statistic.request import statistic
from hubbub.numeric.exact import Exact
from hubbub.protocol.release import Publish, Release
from hubbub.tables.engine import Engine
from hubbub.tables.inspection import Inspection
from hubbub.tables.privacy_unit import of_numbers


def _elsewhere(by: Sequence[str], **how: str | None) -> Inspection:
    raise WrongUse("a look needs a table that was opened by hubbub.open; open it so")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Statistics:
    """Counts, shares, means and quantiles of a table of people. `publish` carries a spec out and enters it; `look` is
    the steward's own."""

    engine: Engine
    person: str | None
    publish: Publish
    inspect: Callable[..., Inspection] = _elsewhere

    def count(
        self,
        by: Sequence[str] = (),
        *,
        where: str | None = None,
        one_row_per_person: bool = False,
        any_row: bool = False,
        expected_rows: bool = False,
        zero_knowledge: Exact | None = None,
        rows: Exact | None = None,
        people: Exact | None = None,
        crowd: Exact | None = None,
        epsilon: Exact | None = None,
        sample: Exact | None = None,
        at_delta: Exact = "1e-9",
        coverage: Exact = "0.95",
        unlisted: Exact | None = None,
        accept_weak: bool = False,
    ) -> Release:
        """Count the people who meet a condition, in all or by bins.

        People are protected in one of three ways: `zero_knowledge` with `rows` and `people` (whatever is learnt about
        somebody, so many random people of all would have told as well); `crowd` with `epsilon` (people of a bin could
        stand in each other's place; smaller bins are hidden), on a fresh secret sample with `sample`; or `epsilon`
        (differential privacy). `where` is a condition like ``age >= 65 and sex = F``.

        `one_row_per_person` keeps one row of a person with several, chosen secretly, and `expected_rows` gives
        intervals for what is kept on average; `any_row` counts a person of whom any row meets the condition.

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
                unlisted=unlisted,
                unit=of_numbers(
                    self.person, one_row_per_person=one_row_per_person, any_row=any_row, expected_rows=expected_rows
                ),
            ),
            accept_weak=accept_weak,
        )

    def fraction(
        self,
        by: Sequence[str] = (),
        *,
        where: str | None = None,
        one_row_per_person: bool = False,
        any_row: bool = False,
        expected_rows: bool = False,
        zero_knowledge: Exact | None = None,
        rows: Exact | None = None,
        people: Exact | None = None,
        crowd: Exact | None = None,
        epsilon: Exact | None = None,
        sample: Exact | None = None,
        at_delta: Exact = "1e-9",
        coverage: Exact = "0.95",
        unlisted: Exact | None = None,
        accept_weak: bool = False,
    ) -> Release:
        """Publish the share of people, of all or of each bin, who meet the condition `where`.

        People are protected in one of three ways: `zero_knowledge` with `rows` and `people` (whatever is learnt about
        somebody, so many random people of all would have told as well); `crowd` with `epsilon` (people of a bin could
        stand in each other's place; smaller bins are hidden), on a fresh secret sample with `sample`; or `epsilon`
        (differential privacy). `where` is a condition like ``age >= 65 and sex = F``.

        `one_row_per_person` keeps one row of a person with several, chosen secretly, and `expected_rows` gives
        intervals for what is kept on average; `any_row` counts a person of whom any row meets the condition.

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
                unlisted=unlisted,
                unit=of_numbers(
                    self.person, one_row_per_person=one_row_per_person, any_row=any_row, expected_rows=expected_rows
                ),
            ),
            accept_weak=accept_weak,
        )

    def mean(
        self,
        of: str,
        by: Sequence[str] = (),
        *,
        where: str | None = None,
        one_row_per_person: bool = False,
        expected_rows: bool = False,
        zero_knowledge: Exact | None = None,
        rows: Exact | None = None,
        people: Exact | None = None,
        crowd: Exact | None = None,
        epsilon: Exact | None = None,
        sample: Exact | None = None,
        at_delta: Exact = "1e-9",
        coverage: Exact = "0.95",
        unlisted: Exact | None = None,
        accept_weak: bool = False,
    ) -> Release:
        """Publish the mean of a column, of all or by bins; `of` is its range and step, like ``salary:0..300000:100``.

        People are protected in one of three ways: `zero_knowledge` with `rows` and `people` (whatever is learnt about
        somebody, so many random people of all would have told as well); `crowd` with `epsilon` (people of a bin could
        stand in each other's place; smaller bins are hidden), on a fresh secret sample with `sample`; or `epsilon`
        (differential privacy). `where` is a condition like ``age >= 65 and sex = F``.

        `one_row_per_person` keeps one row of a person with several, chosen secretly, and `expected_rows` gives
        intervals for what is kept on average.

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
                unlisted=unlisted,
                unit=of_numbers(self.person, one_row_per_person=one_row_per_person, expected_rows=expected_rows),
            ),
            accept_weak=accept_weak,
        )

    def quantile(
        self,
        of: str,
        by: Sequence[str] = (),
        *,
        q: Exact = "0.5",
        where: str | None = None,
        one_row_per_person: bool = False,
        zero_knowledge: Exact | None = None,
        rows: Exact | None = None,
        people: Exact | None = None,
        crowd: Exact | None = None,
        epsilon: Exact | None = None,
        sample: Exact | None = None,
        at_delta: Exact = "1e-9",
        coverage: Exact = "0.95",
        unlisted: Exact | None = None,
        accept_weak: bool = False,
    ) -> Release:
        """Publish a quantile of a column (its range and step declared), of all or by bins; 0.5 is the median.

        People are protected in one of three ways: `zero_knowledge` with `rows` and `people` (whatever is learnt about
        somebody, so many random people of all would have told as well); `crowd` with `epsilon` (people of a bin could
        stand in each other's place; smaller bins are hidden), on a fresh secret sample with `sample`; or `epsilon`
        (differential privacy). `where` is a condition like ``age >= 65 and sex = F``.

        `one_row_per_person` keeps one row of a person with several, chosen secretly.

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
                unlisted=unlisted,
                unit=of_numbers(self.person, one_row_per_person=one_row_per_person),
            ),
            accept_weak=accept_weak,
        )

    def sample(
        self,
        *,
        rows: Exact,
        people: Exact,
        zero_knowledge: Exact | None = None,
        coverage: Exact = "0.95",
        one_row_per_person: bool = False,
        expected_rows: bool = False,
        accept_weak: bool = False,
    ) -> SampledPeople:
        """A secret sample of `rows` of the `people` in the table, to be asked several questions in a block.

        ``with table.sample(rows=1000, people=40_000, zero_knowledge="0.5") as people: people.count("old", where=...)``
        releases all questions of the block together, as one release with one entry in the ledger, when the block ends:
        ``people.release``. `zero_knowledge` is shared among the questions (`share`, equally if not said); without it
        each question says its `epsilon` inside the sample. `one_row_per_person` keeps one row of a person with several,
        the same one for all questions.

        Guarantee: with E the sum of what the questions lose inside, ln(1 + (rows/people)(e^E - 1))-zero-knowledge
        private with respect to `rows` random people; else as :meth:`histogram`.
        """
        unit = of_numbers(self.person, one_row_per_person=one_row_per_person, expected_rows=expected_rows)
        return SampledPeople(
            partial(self.publish, accept_weak=accept_weak),
            unit,
            rows=rows,
            people=people,
            zero_knowledge=zero_knowledge,
            coverage=coverage,
        )
