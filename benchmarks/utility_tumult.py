"""Tumult Analytics on the visits of benchmarks.utility, in an environment of its own (spark-peers.txt).

``python -m benchmarks.utility_tumult ROWS.parquet RUNS`` prints one JSON object: for each task its answers, run by run.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from benchmarks.visits import COST, MONTHS, ROWS_OF_A_PERSON, STAY, WARDS


def main() -> None:
    place, runs = sys.argv[1], int(sys.argv[2])
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session

    made = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = made.config("spark.sql.shuffle.partitions", "2").config("spark.driver.host", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.read.parquet(place)
    whole = Session.from_dataframe(PureDPBudget(float("inf")), "visits", rows, AddRowsWithID("patient"))
    bounded = QueryBuilder("visits").enforce(MaxRowsPerID(ROWS_OF_A_PERSON))
    wards = KeySet.from_dict({"ward": list(range(WARDS))})
    cells = KeySet.from_dict({"ward": list(range(WARDS)), "month": list(range(MONTHS))})
    queries: dict[str, Any] = {
        "visits": bounded.groupby(cells).count("n"),
        "costs": bounded.groupby(wards).sum("cost", low=0, high=COST, name="n"),
        "mean": bounded.average("cost", low=0, high=COST, name="n"),
        "share": bounded.average("readmitted", low=0, high=1, name="n"),
        "quantile": bounded.quantile("stay", 0.9, low=0, high=STAY, name="n"),
    }
    found: dict[str, list[list[float]]] = {name: [] for name in queries}
    for name, query in queries.items():
        for _ in range(runs):
            said = whole.evaluate(query, PureDPBudget(1)).toPandas()
            keys = [each for each in ("ward", "month") if each in said.columns]
            said = said.sort_values(keys) if keys else said
            found[name].append([float(each) for each in said["n"]])
    print(json.dumps(found), flush=True)
    spark.stop()
    os._exit(0)  # Java's threads would keep the process


if __name__ == "__main__":
    main()
