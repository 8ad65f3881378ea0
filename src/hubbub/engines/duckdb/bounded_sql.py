"""The queries that bound what one person contributes, as :mod:`hubbub.tables.contribution` says, step by step.

Which rows and bins of a person are kept follows from secret words, one for each row, and from that person's rows; the
order in which a total is cut is that of the words too. Nobody's rows are looked at beside another's.
"""

from __future__ import annotations

from collections.abc import Sequence

from hubbub.engines.duckdb.cell_sql import identifier
from hubbub.engines.duckdb.condition_sql import holds
from hubbub.engines.duckdb.count_sql import KEPT, Columns, Query, bin_columns, name_parts, order, parts_of, with_codes
from hubbub.engines.duckdb.measured_sql import value_of
from hubbub.engines.duckdb.step_sql import present, with_steps
from hubbub.tables.bins import Countable
from hubbub.tables.bounded_column import Measure
from hubbub.tables.contribution import ContributionBounds
from hubbub.tables.engine import CountQuery, MultiRowPolicy


def bounded_rows(
    columns: Sequence[str], people: str, person: str, word: str, most: int | None, *, with_words: bool
) -> str:
    """The rows with the smallest words of each person, at most so many, perhaps with the word; all rows if `most` is
    None.

    Guarantee: each set of `most` rows of a person is as likely as any other, whatever is in them, up to ties of 64 bits.
    """
    cells = [*map(identifier, columns), *([word] if with_words else [])]
    rows = f"SELECT {', '.join(cells)} FROM {people} WHERE {person} IS NOT NULL"
    if most is None:
        return rows
    return f"{rows} QUALIFY row_number() OVER (PARTITION BY {person} ORDER BY {word}) <= {most}"


def how_many_rows(people: str, person: str, most: int) -> str:
    """How many rows are kept, at most so many of each person, whichever they are."""
    each = f"SELECT count(*) AS n FROM {people} WHERE {person} IS NOT NULL GROUP BY {person}"
    kept = f"SELECT CAST(sum(least(n, {most})) AS BIGINT) AS n FROM ({each})"
    return f"SELECT 0 AS code, n FROM ({kept}) WHERE n > 0"


def counts_rows_only(question: CountQuery, bins: int | None) -> bool:
    """Whether nothing is left to do for each person, once so many rows are kept."""
    if question.bounds is None or question.sums:
        return False
    left = _binding_bounds(question.bounds, bins)
    return left.distinct is None and left.rows_per_bin is None


def _binding_bounds(bounds: ContributionBounds, bins: int | None) -> ContributionBounds:
    """The bounds on bins and rows in them that leave something out."""
    cut, most = bounds.within(bins), bounds.rows_per_person
    few = cut.distinct is not None and (bins is None or cut.distinct < bins) and (most is None or cut.distinct < most)
    each = cut.rows_per_bin is not None and (most is None or cut.rows_per_bin < most)
    return ContributionBounds(distinct=cut.distinct if few else None, rows_per_bin=cut.rows_per_bin if each else None)


def _values(question: CountQuery) -> int:
    return question.measure.steps + 1 if isinstance(question.measure, Measure) else 2


def per_person(question: CountQuery, axes: Sequence[Countable], columns: Columns, word: str, bins: int | None) -> Query:
    """code, labels, how many of the kept rows (or, with caps, bands or DISTINCT, people) and perhaps their sum."""
    assert question.person is not None
    coded, parameters = _rows_with_codes(question, axes, columns, KEPT, word)
    where = bin_columns(axes)
    rows = f"SELECT who, word, x, {where} FROM ({coded}) WHERE inside AND code IS NOT NULL"
    if question.repeats is MultiRowPolicy.DISTINCT:
        each = f"SELECT who, {where}, min(word) AS word, max(x) AS x FROM ({rows}) GROUP BY who, {where}"
        rows = (
            f"SELECT * FROM ({each}) QUALIFY row_number() OVER (PARTITION BY who ORDER BY word) <= {question.most_bins}"
        )
    else:
        assert question.bounds is not None
        rows = _few(rows, where, _binding_bounds(question.bounds, bins))
        if question.sums:
            rows = _capped_sums(rows, where, question, question.bounds, bins)
    code = "code"
    if question.by_value:
        assert question.measure is not None
        code = f"code * {_values(question)} + x"
    elif question.bands:
        above = " + ".join(f"CAST(x > {band} AS BIGINT)" for band in question.bands)
        code = f"code * {len(question.bands) + 1} + {above}"
    numbers = ["CAST(count(*) AS BIGINT) AS people"]
    if question.measure is not None and not question.by_value:
        numbers.append("CAST(CAST(sum(x) AS HUGEINT) AS VARCHAR) AS total")
    placed = f"SELECT * REPLACE (CAST({code} AS BIGINT) AS code) FROM ({rows})"
    return f"SELECT {where}, {', '.join(numbers)} FROM ({placed}) GROUP BY {where}{order(axes)}", parameters


def _rows_with_codes(
    question: CountQuery, axes: Sequence[Countable], columns: Columns, people: str, word: str
) -> Query:
    """Every row: who, word, whether it counts, what it counts, and its bin."""
    assert question.person is not None
    tests = [] if question.where is None else [holds(question.where, columns)]
    x = "0"
    if isinstance(question.measure, Measure):
        people, (name,) = with_steps([question.measure], columns, people, kept=True)
        tests.append(present(question.measure, columns[question.measure.column], name))
        x = value_of(question.measure, columns, name)
    elif question.measure is not None:
        x = value_of(question.measure, columns, "")
    inside = f"coalesce({' AND '.join(tests)}, FALSE)" if tests else "TRUE"
    parts = [f"{identifier(question.person)} AS who", f"{word} AS word", f"{inside} AS inside", f"{x} AS x"]
    groups = [name_parts(parts_of(axes, columns))] if axes else []
    return with_codes(axes, f"SELECT {', '.join([*parts, *groups])} FROM {people}", "who, word, inside, x")


def _few(rows: str, where: str, left: ContributionBounds) -> str:
    """At most so many rows of a person in each bin, and at most so many bins, those with the smallest words."""
    if left.rows_per_bin is not None:
        rank = f"row_number() OVER (PARTITION BY who, {where} ORDER BY word)"
        rows = f"SELECT * FROM ({rows}) QUALIFY {rank} <= {left.rows_per_bin}"
    if left.distinct is not None:
        first = f"SELECT *, min(word) OVER (PARTITION BY who, {where}) AS least FROM ({rows})"
        rank = f"dense_rank() OVER (PARTITION BY who ORDER BY least) <= {left.distinct}"
        rows = f"SELECT * EXCLUDE (least) FROM ({first}) QUALIFY {rank}"
    return rows


def _capped_sums(rows: str, where: str, question: CountQuery, bounds: ContributionBounds, bins: int | None) -> str:
    """What the rows of a person sum up to in each bin, after the caps.

    Guarantee: within a' in each bin, and over all bins within A, in absolute values, whatever the rows hold.
    """
    total = f"CAST(sum(x) + ({question.first_step}) * CAST(count(*) AS HUGEINT) AS HUGEINT)"
    if bounds.cap_per_bin is not None:
        total = f"greatest(least({total}, {bounds.cap_per_bin}), -{bounds.cap_per_bin})"
    each = f"SELECT who, {where}, min(word) AS word, {total} AS x FROM ({rows}) GROUP BY who, {where}"
    if bounds.cap is None:
        return each
    if bins == 1:  # nothing was counted before it
        return f"SELECT * REPLACE (greatest(least(x, {bounds.cap}), -{bounds.cap}) AS x) FROM ({each})"
    so_far = "sum(abs(x)) OVER (PARTITION BY who ORDER BY word ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    room = f"SELECT *, greatest({bounds.cap} - coalesce({so_far}, 0), 0) AS room FROM ({each})"
    return f"SELECT * REPLACE (greatest(least(x, room), -room) AS x) FROM ({room})"
