"""The query behind several questions at once: everybody, counted by where each of the questions counts them.

One pass over the table: what the questions look at (bins, steps, conditions, each once) is grouped by, and from the few
groups that come out the place that each question gives them is read off. No group is left out, so that a sample drawn
over the counts is a sample of everybody.

The queries that bound what one person contributes, as :mod:`hubbub.tables.contribution` says, step by step.

Which rows and bins of a person are kept follows from secret words, one for each row, and from that person's rows; the
order in which a total is cut is that of the words too. Nobody's rows are looked at beside another's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from hubbub.engines.arrow_columns import numbers
from hubbub.engines.duckdb.count_sql import (
    KEPT,
    ROW,
    Columns,
    Query,
    Weight,
    bin_columns,
    distinct_bins,
    every_row,
    kept_rows,
    name_parts,
    one_row_each,
    order,
    parts_of,
    with_codes,
    with_kept,
)
from hubbub.engines.duckdb.expressions import holds, identifier
from hubbub.engines.duckdb.measured_sql import bad_cells, measured_query, value_of
from hubbub.engines.duckdb.step_sql import beyond, present, with_steps
from hubbub.tables.bins import Countable, declared_size
from hubbub.tables.bounded_column import Measure
from hubbub.tables.contribution import ContributionBounds
from hubbub.tables.engine import CountQuery, Joint, MultiRowPolicy
from hubbub.tables.kept_rows import KeptRows
from hubbub.tables.unlisted import Outside


def unreadable(questions: Sequence[CountQuery], columns: Columns) -> str:
    """Whether a row has a cell that a question reads and that cannot be read as declared."""
    tests = dict.fromkeys(bad_cells(question, question.axes, columns) for question in questions)
    return " OR ".join(f"({test})" for test in tests if test != "FALSE") or "FALSE"


def joint_query(
    questions: Sequence[CountQuery],
    columns: Columns,
    people: str,
    person: str | None,
    *,
    reports_unreadable: bool,
    weight: Weight = ROW,
) -> Query:
    """The columns c0, c1, ... (one for each query; -2: in no bin) and people; with `reports_unreadable`, how many cannot be
    read; last, for each measure, how many are outside of its range."""
    many = [f"CAST({weight.people} AS BIGINT) AS n"]
    if reports_unreadable:
        bad = f"{weight.people} FILTER (WHERE {unreadable(questions, columns)})"
        many.append(f"coalesce(CAST({bad} AS BIGINT), 0) AS bad")
    where = "" if person is None else f" WHERE ({person} IS NOT NULL)"
    numbers = ["n", *(["bad"] if reports_unreadable else [])]
    coded, parameters = _codes_of_questions(questions, columns, people, many, numbers, f"{where} GROUP BY ALL", weight)
    cells = ", ".join(f"c{j}" for j in range(len(questions)))
    sums = ["CAST(sum(n) AS BIGINT) AS people", *(["CAST(sum(bad) AS BIGINT) AS bad"] if reports_unreadable else [])]
    sums += [f"CAST(sum(o{i}) AS BIGINT) AS o{i}" for i in range(len(_measures(questions)))]
    return f"SELECT {cells}, {', '.join(sums)} FROM ({coded}) WHERE n > 0 GROUP BY {cells}", parameters


def each_row_query(questions: Sequence[CountQuery], columns: Columns, people: str, person: str, word: str) -> Query:
    """The number of its person and c0, c1, ... of every row; those of a person one after the other, by their words."""
    own = [f"{person} AS hubbub_who", f"{word} AS hubbub_order"]
    coded, parameters = _codes_of_questions(questions, columns, people, own, ["hubbub_who", "hubbub_order"], "")
    cells = ", ".join(f"c{j}" for j in range(len(questions)))
    number = "CAST(dense_rank() OVER (ORDER BY hubbub_who) - 1 AS BIGINT) AS who"
    return f"SELECT {number}, {cells} FROM ({coded}) ORDER BY hubbub_who, hubbub_order", parameters


def _codes_of_questions(
    questions: Sequence[CountQuery],
    columns: Columns,
    people: str,
    more: Sequence[str],
    named: Sequence[str],
    rest: str,
    weight: Weight | None = None,
) -> Query:
    """Of every group of rows, or of every row: what `more` says of it, and the place that each question gives it, -2 for
    those of its people who are in no bin; of groups of people by `weight`, how many are outside of the range of a measure.
    """
    seen: dict[str, str] = {}  # expressions of a row, and what they are called

    def name_once(expression: str) -> str:
        return seen.setdefault(expression, f"e{len(seen)}")

    axes_and_columns = []
    measures = _measures(questions)
    people, names = with_steps(measures, columns, people, kept=True)
    if weight is not None:
        for i, (each, x) in enumerate(zip(measures, names, strict=True)):
            many_beyond = f"{weight.people} FILTER (WHERE {beyond(each, columns[each.column], x)})"
            more, named = [*more, f"coalesce(CAST({many_beyond} AS BIGINT), 0) AS o{i}"], [*named, f"o{i}"]
    for question in questions:
        parts = [name_once(part) for part in parts_of(question.axes, columns)]
        tests = [] if question.where is None else [name_once(f"coalesce({holds(question.where, columns)}, FALSE)")]
        measure, number, most, x = question.measure, "code", 1, ""
        if isinstance(measure, Measure):
            x = names[measures.index(measure)]
            tests.append(name_once(f"coalesce({present(measure, columns[measure.column], x)}, FALSE)"))
            most = measure.steps
        if measure is not None:
            number = f"code * {most + 1} + {name_once(value_of(measure, columns, x))}"
        axes_and_columns.append(
            (question.axes, parts, f"CASE WHEN {' AND '.join(tests) or 'TRUE'} THEN coalesce({number}, -2) ELSE -1 END")
        )
    groups = [f"{expression} AS {name}" for expression, name in seen.items()]
    grouped = f"SELECT {', '.join([*groups, *more])} FROM {people}{rest}"
    carried, parameters = [*seen.values(), *named], []
    for j, (axes, parts, number) in enumerate(axes_and_columns):
        bins = [f"{part} AS g{i}" for i, part in enumerate(parts)]
        coded, values = with_codes(axes, f"SELECT {', '.join([*carried, *bins])} FROM ({grouped})", ", ".join(carried))
        parameters += values
        grouped = f"SELECT {', '.join(carried)}, CAST({number} AS BIGINT) AS c{j} FROM ({coded})"
        carried.append(f"c{j}")
    return grouped, parameters


def _measures(questions: Sequence[CountQuery]) -> list[Measure]:
    return list(dict.fromkeys(each.measure for each in questions if isinstance(each.measure, Measure)))


def joint_answer(
    table: pa.Table, questions: Sequence[CountQuery], *, reports_unreadable: bool = False
) -> tuple[Joint, int]:
    """What the query said; with `reports_unreadable`, also how many rows cannot be read."""
    *codes, counts = (numbers(table.column(j)) for j in range(len(questions) + 1))
    unreadable = int(numbers(table.column(len(questions) + 1)).sum()) if reports_unreadable else 0
    beyonds = {
        measure: numbers(table.column(len(questions) + 1 + reports_unreadable + i))
        for i, measure in enumerate(_measures(questions))
    }
    outside = tuple(
        Outside(
            people=int(counts[code != -1].sum()),
            unlisted=int(counts[code == -2].sum()),
            clamped=int(beyonds[each.measure][code != -1].sum()) if isinstance(each.measure, Measure) else 0,
        )
        for each, code in zip(questions, codes, strict=True)
    )
    return Joint(tuple(np.maximum(code, -1) for code in codes), counts, outside), unreadable


def rows_answer(table: pa.Table, questions: int) -> KeptRows:
    """What the query about every row said."""
    person, *codes = (numbers(table.column(j)) for j in range(questions + 1))
    return KeptRows(int(person[-1]) + 1 if person.size else 0, person, tuple(np.maximum(code, -1) for code in codes))


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


WORDS: Final = "hubbub_words"


def with_words(people: str) -> str:
    """Every row with a word of its own."""
    return f"{people} POSITIONAL JOIN {WORDS}"


def query_of_chosen(
    question: CountQuery, columns: Columns, people: str, used: Sequence[str], word: str
) -> tuple[Query, bool]:
    """The query behind a question about people with several rows, and whether it chooses among them: then each row of
    `people` has a secret `word`. Rows are chosen once, and then looked at, all of it by their words."""
    assert question.person is not None
    every, people = people, with_words(people)
    axes, person = question.axes, identifier(question.person)
    bins, most = (
        declared_size(axes) if axes else 1,
        None if question.bounds is None else question.bounds.rows_per_person,
    )
    if question.repeats is MultiRowPolicy.ONE_ROW:
        if question.plain and axes:
            return one_row_each(axes, columns, people, person, word), True
        kept = kept_rows(used, people, person, word)
    elif question.repeats is MultiRowPolicy.DISTINCT and question.plain:
        return distinct_bins(axes, columns, people, person, word, question.most_bins), True
    elif not counts_rows_only(question, bins):
        kept = bounded_rows(used, people, person, word, most, with_words=True)
        return with_kept(kept, per_person(question, axes, columns, word, bins)), True
    elif question.plain and not axes:
        assert most is not None, "rows alone are bounded by nothing else"
        return (how_many_rows(every, person, most), []), False
    else:
        kept = bounded_rows(question.columns, people, person, word, most, with_words=False)
    if question.plain:
        return with_kept(kept, every_row(axes, columns, KEPT)), True
    query = measured_query(question, axes, columns, KEPT, None, reports_unreadable=False, very_many=True)
    return with_kept(kept, query), True


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
