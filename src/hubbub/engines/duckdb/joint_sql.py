"""The query behind several questions at once: everybody, counted by where each of the questions counts them.

One pass over the table: what the questions look at (bins, steps, conditions, each once) is grouped by, and from the few
groups that come out the place that each question gives them is read off. No group is left out, so that a sample drawn
over the counts is a sample of everybody.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from hubbub.engines.arrow_columns import numbers as largest_remainders
from hubbub.engines.duckdb.condition_sql import holds
from hubbub.engines.duckdb.count_sql import ROW, Columns, Query, Weight, parts_of, with_codes
from hubbub.engines.duckdb.measured_sql import bad_cells, value_of
from hubbub.engines.duckdb.step_sql import beyond, present, with_steps
from hubbub.tables.bounded_column import Measure
from hubbub.tables.engine import CountQuery, Joint
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
    coded, parameters = _place_codes(questions, columns, people, many, numbers, f"{where} GROUP BY ALL", weight)
    cells = ", ".join(f"c{j}" for j in range(len(questions)))
    sums = ["CAST(sum(n) AS BIGINT) AS people", *(["CAST(sum(bad) AS BIGINT) AS bad"] if reports_unreadable else [])]
    sums += [f"CAST(sum(o{i}) AS BIGINT) AS o{i}" for i in range(len(_measures(questions)))]
    return f"SELECT {cells}, {', '.join(sums)} FROM ({coded}) WHERE n > 0 GROUP BY {cells}", parameters


def each_row_query(questions: Sequence[CountQuery], columns: Columns, people: str, person: str, word: str) -> Query:
    """The number of its person and c0, c1, ... of every row; those of a person one after the other, by their words."""
    own = [f"{person} AS hubbub_who", f"{word} AS hubbub_order"]
    coded, parameters = _place_codes(questions, columns, people, own, ["hubbub_who", "hubbub_order"], "")
    cells = ", ".join(f"c{j}" for j in range(len(questions)))
    number = "CAST(dense_rank() OVER (ORDER BY hubbub_who) - 1 AS BIGINT) AS who"
    return f"SELECT {number}, {cells} FROM ({coded}) ORDER BY hubbub_who, hubbub_order", parameters


def _place_codes(
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
    *codes, counts = (largest_remainders(table.column(j)) for j in range(len(questions) + 1))
    unreadable = int(largest_remainders(table.column(len(questions) + 1)).sum()) if reports_unreadable else 0
    beyonds = {
        measure: largest_remainders(table.column(len(questions) + 1 + reports_unreadable + i))
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
    person, *codes = (largest_remainders(table.column(j)) for j in range(questions + 1))
    return KeptRows(int(person[-1]) + 1 if person.size else 0, person, tuple(np.maximum(code, -1) for code in codes))
