"""The query behind a question with a condition, a measure, or everybody else in it.

One pass over the table, as in :mod:`hubbub.engines.count_sql`: bins (and steps) become groups, and sums stay integers.
Where nobody need be told about who is left out, a WHERE drops them, which is the fastest; else a flag keeps them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
import pyarrow as pa

from hubbub.engines.arrow_columns import numbers as whole_numbers
from hubbub.engines.bin_sql import code_where
from hubbub.engines.cell_sql import identifier, number, sound
from hubbub.engines.column import Column
from hubbub.engines.condition_sql import holds, unreadable_leaves
from hubbub.engines.count_sql import ROW, Columns, Query, Weight, bad_row, listed, named, order, parts_of, with_codes
from hubbub.exact import to_text
from hubbub.tables.bins import Countable, Dates, Edges, Steps
from hubbub.tables.condition import Condition
from hubbub.tables.engine import Counted, Question
from hubbub.tables.measure import Measure
from hubbub.tables.schema import Holds


def bad_cells(question: Question, axes: Sequence[Countable], columns: Columns) -> str:
    """Whether a row has a cell that is read and cannot be read as declared."""
    tests = [bad_row(axes, columns)]
    if isinstance(question.measure, Measure) and columns[question.measure.column].kind is Holds.TEXT:
        column = columns[question.measure.column]
        cell, value = identifier(column.name), number(column, question.measure.reads)
        tests.append(f"({cell} IS NOT NULL AND trim({cell}) <> '' AND {value} IS NULL)")
    for rule in (question.where, question.measure):
        if isinstance(rule, Condition):
            tests += unreadable_leaves(rule, columns)
    return " OR ".join(test for test in tests if test != "FALSE") or "FALSE"


def asked(
    question: Question,
    axes: Sequence[Countable],
    columns: Columns,
    people: str,
    person: str | None,
    *,
    told: bool,
    weight: Weight = ROW,
) -> Query:
    """code, labels, people, with `told` how many of them have a cell that cannot be read, with a measure the sum.

    With `told` or everybody, whoever is in no bin comes back under the code -1. Sums come as text.
    """
    measure, parts = question.measure, parts_of(axes, columns)
    tests = [] if question.where is None else [holds(question.where, columns)]
    if isinstance(measure, Measure):
        tests.append(present(measure, columns[measure.column]))
    apart = told or question.everybody
    there = [] if person is None else [f"({person} IS NOT NULL)"]
    if not apart:
        for i, axis in enumerate(axes):
            if isinstance(axis, Edges | Steps | Dates) and not axis.null and not axis.other:
                parts[i], condition = code_where(axis, columns[axis.column])
                there.append(f"({condition})")
        there += tests
    flagged = apart and bool(tests)
    groups = [f"coalesce({' AND '.join(tests)}, FALSE) AS inside"] if flagged else []
    groups += [named(parts)] if parts else []
    numbers, carried = [f"{weight.people} AS n"], ["n"]
    if measure is not None:
        if question.by_value:
            groups.append(f"{steps_of(measure, columns)} AS x")
        elif isinstance(measure, Measure) or weight is not ROW:
            numbers.append(f"{weight.total.format(x=steps_of(measure, columns))} AS s")
        else:
            numbers.append(f"count_if({holds(measure, columns)}) AS s")
        carried.append("x" if question.by_value else "s")
    if told:
        bad = f"{weight.people} FILTER (WHERE {bad_cells(question, axes, columns)})"
        numbers.append(f"coalesce(CAST({bad} AS BIGINT), 0) AS bad")
        carried.append("bad")
    where = f" WHERE {' AND '.join(there)}" if there else ""
    inner = f"SELECT {', '.join([*groups, *numbers])} FROM {people}{where} GROUP BY ALL"
    bins, parameters = with_codes(axes, inner, ", ".join([*carried, *(["inside"] if flagged else [])]))
    most = measure.steps if isinstance(measure, Measure) else 1
    number_ = "code" if measure is None or not question.by_value else f"code * {most + 1} + x"
    if apart:
        number_ = f"coalesce({number_}, -1)"
    if flagged:
        number_ = f"CASE WHEN inside THEN {number_} ELSE -1 END"
    keys = listed(axes)
    every = f"SELECT * REPLACE (CAST({number_} AS BIGINT) AS code) FROM ({bins}) WHERE n > 0"
    sums = ["CAST(sum(n) AS BIGINT) AS people"]
    sums += ["CAST(sum(bad) AS BIGINT) AS bad"] if told else []
    sums += ["CAST(coalesce(sum(s), 0) AS VARCHAR) AS total"] if measure is not None and not question.by_value else []
    shown = f"SELECT {keys}, {', '.join(sums)} FROM ({every}) WHERE code IS NOT NULL GROUP BY {keys}{order(axes)}"
    return shown, parameters


def answer(table: pa.Table, question: Question, *, told: bool) -> tuple[Counted, int, int]:
    """What the query said; with `told`, also how many rows it saw and how many of them cannot be read."""
    summed = question.measure is not None and not question.by_value
    last = table.num_columns - summed
    codes, counts = (whole_numbers(table.column(i)) for i in (0, last - 1 - told))
    unreadable = int(whole_numbers(table.column(last - 1)).sum()) if told else 0
    kept = (np.arange(codes.size) if question.everybody else np.flatnonzero(codes >= 0)).tolist()
    labels = [table.column(i).to_pylist() for i in range(1, last - 1 - told)]
    sums = table.column(last).to_pylist() if summed else None
    found = Counted(
        codes[kept],
        counts[kept],
        tuple([each[i] for i in kept] for each in labels),
        None if sums is None else tuple(int(sums[i]) for i in kept),
    )
    return found, int(counts.sum()), unreadable


def present(measure: Measure, column: Column) -> str:
    """Whether a row has a value; never NULL."""
    if column.kind is Holds.TEXT or column.kind is Holds.FLOAT:
        value = number(column, measure.reads)
        return f"({value} IS NOT NULL AND (isfinite({value}) OR isinf({value})))"
    return f"({sound(column)} IS NOT NULL)"


def steps_of(measure: Measure | Condition, columns: Columns) -> str:
    """x of a row: the steps of a column, or 1 for whoever meets a condition and 0 for the others."""
    if isinstance(measure, Measure):
        return steps(measure, columns[measure.column])
    return f"CAST(coalesce({holds(measure, columns)}, FALSE) AS INTEGER)"


def steps(measure: Measure, column: Column) -> str:
    """x of a row that has a value: into the range, then to the nearest step, halves upwards."""
    known = column.number
    value = sound(column) if column.kind is Holds.DECIMAL else number(column, measure.reads)
    assert known is not None  # resolved
    low, high, step, grid = measure.low, measure.high, measure.step, known.grid
    fine = Fraction(1, lcm(low.denominator, step.denominator, 1 if grid is None else grid.denominator))
    if grid is None:
        moved = f"(CAST({value} AS DOUBLE) - CAST('{to_text(low)}' AS DOUBLE))"
        inside = f"least(CAST(floor({moved} / CAST('{to_text(step)}' AS DOUBLE) + 0.5) AS INTEGER), {measure.steps})"
    else:
        start, width = int(low / fine), int(step / fine)
        if grid == 1:
            whole = value if not start and fine == 1 and width == 1 else f"CAST({value} AS BIGINT)"
            whole += "" if fine == 1 else f" * {int(1 / fine)}"
        else:
            whole = f"CAST(round(CAST({value} AS DOUBLE) * {int(1 / grid)}) AS BIGINT) * {int(grid / fine)}"
        moved = f"({whole} - {start})" if start else f"({whole})"
        inside = f"CAST({moved if width == 1 else _nearest(moved, width)} AS INTEGER)"
    below = known.compare(value, "<", low)
    if known.least <= low and high <= known.most and (grid is None or not (low % grid or high % grid)):
        ends = (f"CAST('{to_text(end)}' AS {known.type})" for end in (low, high))
        between = f"{value} BETWEEN {' AND '.join(ends)}"  # most people are inside, and one test tells
        return (
            f"CASE WHEN {between} THEN {inside} WHEN {known.compare(value, '<', low)} THEN 0 ELSE {measure.steps} END"
        )
    below, above = known.compare(value, "<", low), known.compare(value, ">=", high)
    cases = " ".join(f"WHEN {t} THEN {then}" for t, then in ((below, "0"), (above, measure.steps)) if t != "FALSE")
    return f"CASE {cases} ELSE {inside} END" if cases else inside


def _nearest(moved: str, width: int) -> str:
    """floor(moved/width + 1/2) of a number that is at least 0."""
    return f"({moved} + {width // 2}) // {width}" if width % 2 == 0 else f"(2 * {moved} + {width}) // {2 * width}"
