"""Made-up hospital visits: their bounds, which Hubbub and its peers publish in benchmarks.utility, and what it costs to keep
at most M visits of a patient, in CPU time beside DuckDB's own query for the same work.

The query beside it is ``QUALIFY row_number() OVER (PARTITION BY patient ORDER BY word) <= M``, where the word of a row is
``random()``, and then the aggregate. The order inside the window is random: without one the first M rows by their place in the file are kept, which is no work
to choose, and no valid choice either, since the place of a row depends on who else is in the file. Hubbub's words are
secret ones from a stream cipher; ``random()`` is not, and costs less.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

ROWS_OF_A_PERSON: Final = 20
WARDS: Final = 8
MONTHS: Final = 12
COST: Final = 50_000
STAY: Final = 60

ROWS: Final = 5_000_000
PEOPLE: Final = 400_000
KEPT: Final = 10
LIMIT: Final = 1.3


def make_table(place: Path) -> None:
    """Five million visits of 400,000 patients, 12 or 13 each on average."""
    import duckdb

    duckdb.execute(
        f"COPY (SELECT (hash(i) % {PEOPLE})::BIGINT AS patient, (hash(i + 1) % {WARDS})::INTEGER AS ward, "
        f"(hash(i + 2) % {MONTHS})::INTEGER AS month, least(exp(6 + (hash(i + 3) % 1000) / 250)::INTEGER, {COST}) AS cost, "
        f"(hash(i + 4) % 9 = 0)::INTEGER AS readmitted, (hash(i + 5) % {STAY})::INTEGER AS stay "
        f"FROM range({ROWS}) t(i)) TO '{place}' (FORMAT parquet)"
    )


WARD, MONTH = f"ward:0..{WARDS}:1", f"month:0..{MONTHS}:1"
TASKS: Final[tuple[tuple[str, str, dict[str, Any], str], ...]] = (
    ("visits by ward and month", "histogram", {"by": [WARD, MONTH]}, "ward, month, count(*)"),
    ("total cost by ward", "sum", {"of": f"cost:0..{COST}:1", "by": [WARD], "cap": 100_000}, "ward, sum(cost)"),
    ("mean cost", "mean", {"of": f"cost:0..{COST}:1"}, "avg(cost)"),
    ("share of readmissions", "fraction", {"where": "readmitted = 1"}, "avg(readmitted)"),
    ("90th percentile of stay", "quantile", {"of": f"stay:0..{STAY}:1", "q": "0.9"}, "quantile_disc(stay, 0.9)"),
)


def main() -> None:
    import duckdb

    from benchmarks.release import best, row
    from hubbub.engines.opening import open_source
    from hubbub.noise.source import SystemSource
    from hubbub.registry import kind

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "visits.parquet"
        make_table(place)
        engine = open_source(place)
        for task, name, options, wanted in TASKS:
            asked = kind(name).from_options(person="patient", rows_per_person=KEPT, epsilon="1", **options)
            spec = asked.with_schema(engine.columns())
            window = "row_number() OVER (PARTITION BY patient ORDER BY word)"
            words = f"SELECT *, random() AS word FROM '{place}' WHERE patient IS NOT NULL"
            kept = f"SELECT * FROM ({words}) QUALIFY {window} <= {KEPT}"
            raw, ours = best(
                lambda: duckdb.execute(f"SELECT {wanted} FROM ({kept}) GROUP BY ALL").fetchall(),  # noqa: B023
                lambda: spec.present(spec.measure(engine, SystemSource())),  # noqa: B023
            )
            row(f"{task}, at most {KEPT} visits of a patient", raw, ours, LIMIT)


if __name__ == "__main__":
    main()
