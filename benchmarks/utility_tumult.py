"""Tumult Analytics on the visits of benchmarks.utility, in an environment of its own (spark-peers.txt).

``python -m benchmarks.utility_tumult PEOPLE RUNS`` prints a line of JSON for each task as it ends: its name, and its
answers, run by run. All runs of a task are one query, since Spark takes seconds to begin each: the table holds RUNS
copies of the visits, with patients of their own, and the query groups by copy. A patient is in one copy, and the bound
on rows holds for all groups together, so each copy gets the noise that a release of its own would have.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from benchmarks.utility_tasks import visits
from benchmarks.visits import COST, MONTHS, ROWS_OF_A_PERSON, STAY, WARDS


def copies(people: int, runs: int) -> pa.Table:
    """The visits as often as there are runs, each time of other patients."""
    once = visits(people)
    found = {name: np.tile(once[name].to_numpy(), runs) for name in once.column_names}
    copy = np.repeat(np.arange(runs), once.num_rows)
    return pa.table({**found, "patient": found["patient"] + people * copy, "copy": copy})


def main() -> None:
    people, runs = int(sys.argv[1]), int(sys.argv[2])
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session

    made = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = made.config("spark.sql.shuffle.partitions", "1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        parquet.write_table(copies(people, runs), f"{folder}/rows.parquet")
        rows = spark.read.parquet(f"{folder}/rows.parquet")
        whole = Session.from_dataframe(PureDPBudget(float("inf")), "visits", rows, AddRowsWithID("patient"))
        bounded = QueryBuilder("visits").enforce(MaxRowsPerID(ROWS_OF_A_PERSON))
        each = {"copy": list(range(runs))}
        alone = KeySet.from_dict(each)
        wards = KeySet.from_dict({**each, "ward": list(range(WARDS))})
        cells = KeySet.from_dict({**each, "ward": list(range(WARDS)), "month": list(range(MONTHS))})
        queries: dict[str, Any] = {
            "visits": bounded.groupby(cells).count("n"),
            "costs": bounded.groupby(wards).sum("cost", low=0, high=COST, name="n"),
            "mean": bounded.groupby(alone).average("cost", low=0, high=COST, name="n"),
            "share": bounded.groupby(alone).average("readmitted", low=0, high=1, name="n"),
            "quantile": bounded.groupby(alone).quantile("stay", 0.9, low=0, high=STAY, name="n"),
        }
        for name, query in queries.items():
            said = whole.evaluate(query, PureDPBudget(1)).toPandas()
            said = said.sort_values([key for key in ("copy", "ward", "month") if key in said.columns])
            found = np.array(said["n"], dtype=np.float64).reshape(runs, -1)
            print(json.dumps({"task": name, "answers": found.tolist()}), flush=True)
    spark.stop()
    os._exit(0)  # Java's threads would keep the process


if __name__ == "__main__":
    main()
