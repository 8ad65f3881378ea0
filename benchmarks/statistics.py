"""What means, shares and quantiles by group cost beside DuckDB's own GROUP BY, in CPU time, in one run.

The release is the Python call, as in :mod:`benchmarks.release`: ledger, counting, sample, noise, intervals. DuckDB's
own query has the same groups and the same condition, with `avg`, or with `avg` of a condition. The table is made here,
in a folder that goes away.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final

import duckdb

from benchmarks.release import best, row
from hubbub.kinds.table import Table
from hubbub.ledger.ledger import Ledger
from hubbub.opening import open as open_table
from hubbub.protocol.bound import Bound
from hubbub.protocol.release import Release
from hubbub.protocol.spec import Spec
from hubbub.release import execute
from hubbub.tables.engine import Engine
from hubbub.tables.identity import Identity

ROWS: Final = 20_000_000
SAMPLE: Final = 10_000  # people, of a zero-knowledge share
MEANS, DECIMALS, SHARES, MEDIANS = 1.3, 1.4, 1.1, 1.5  # times DuckDB's own query, at most
_NUMBERS: Final = count(1)


def make_table(place: Path) -> None:
    """A thousand and fifty groups, whole pay up to 300,000 with some beyond, and decimal fees."""
    duckdb.execute(
        f"COPY (SELECT (hash(i) % 50)::INTEGER AS small, (hash(i + 1) % 1000)::INTEGER AS large, "
        f"(hash(i + 2) % 310000)::INTEGER AS pay, (hash(i + 3) % 90)::INTEGER AS age, "
        f"((hash(i + 4) % 50000) / 100.0)::DECIMAL(9, 2) AS fee, (hash(i + 5) % 100000) / 1000.0 AS bmi "
        f"FROM range({ROWS}) t(i)) TO '{place}' (FORMAT parquet)"
    )


class Nameless:
    """A table that is known by nothing but the name it is given: each release may be about people of its own."""

    def __init__(self, engine: Engine) -> None:
        self.columns, self.count, self.observing_ids = engine.columns, engine.count, engine.observing_ids

    def identity(self) -> Identity:
        return Identity()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "people.parquet"
        make_table(place)
        engine = open_table(place, rows_are_people=True).engine
        people, ledger = Nameless(engine), Ledger(Path(folder) / "ledger.db")
        raw_connection = duckdb.connect()

        def raw(sql: str) -> Callable[[], object]:
            return lambda: raw_connection.sql(sql.format(f"read_parquet('{place}')")).to_arrow_table()

        def publish(spec: Spec | Bound, *, accept_weak: bool = False) -> Release:
            return execute(spec.bind(people.columns()), people, ledger, f"people-{next(_NUMBERS)}")

        def ours(name: str, *given: Any, **words: Any) -> Callable[[], Release]:
            def once() -> Release:
                found: Release = getattr(Table(engine, None, publish), name)(*given, **words)
                return found

            return once

        known = {"zero_knowledge": "0.1", "rows": SAMPLE, "people": ROWS}
        crowd, noise = {"crowd": 100, "epsilon": 1}, {"epsilon": 1}
        for column, groups in (("small", 50), ("large", 1000)):
            by = [f"{column}:0..{groups}:1"]
            for what, of, average in (
                ("whole pay", "pay:0..300000:1", "avg(pay)"),
                ("pay in hundreds", "pay:0..300000:100", "avg(pay)"),
                ("decimals", "fee:0..500:0.5", "avg(fee)"),
                ("floats", "bmi:0..100:0.1", "avg(bmi)"),
            ):
                query = raw(f"SELECT {column}, {average} FROM {{}} GROUP BY {column}")
                base, took = best(query, ours("mean", of, by, **noise))
                row(
                    f"mean, {groups:,} groups, {what}, epsilon=1", base, took, DECIMALS if what == "decimals" else MEANS
                )
            query = raw(f"SELECT {column}, avg(pay) FROM {{}} WHERE age >= 18 GROUP BY {column}")
            base, took = best(query, ours("mean", "pay:0..300000:100", by, where="age >= 18", **crowd))
            row(f"mean, {groups:,} groups, pay in hundreds, where, crowd=100", base, took, MEANS)
            query = raw(f"SELECT {column}, avg((age >= 65)::INTEGER) FROM {{}} GROUP BY {column}")
            for words in (noise, crowd, known):
                base, took = best(query, ours("fraction", by, where="age >= 65", **words))
                row(f"share, {groups:,} groups, {next(iter(words))}", base, took, SHARES)
        base, took = best(raw("SELECT avg((age >= 65)::INTEGER) FROM {}"), ours("fraction", where="age >= 65", **known))
        row("share of all, zero-knowledge", base, took, SHARES)
        query = raw("SELECT small, quantile_disc(pay, 0.5) FROM {} GROUP BY small")
        base, took = best(query, ours("quantile", "pay:0..300000:1000", ["small:0..50:1"], **noise))
        row("median, 50 groups, 300 steps, epsilon=1", base, took, MEDIANS)


if __name__ == "__main__":
    main()
