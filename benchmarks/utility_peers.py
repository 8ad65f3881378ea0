"""Synthetic rows by SmartNoise: MST, AIM and MWEM, in an environment of their own (utility-peers.txt).

``python -m benchmarks.utility_peers NAME EPSILON DELTA CODES.parquet ROWS.parquet``: the table holds a column of whole
numbers for each column of the workload, its metadata how many values each has; what is sampled is written in the same
form. Settings are those of the authors, as their package has them; only the workload is named, pairs of columns.

One thing is repaired. mbi 1.1.0, which invents the rows of MST and AIM, gives people of one group their next value in
the order of the rows. Two columns that hang on a third then rise together, whatever the model says: on Adult at epsilon
1 the error of MST was 294 per cell of two columns. Here the order within a group is random, as its rounding intends.
"""

from __future__ import annotations

import contextlib
import json
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet


def synthesizer(name: str, epsilon: float, delta: float, columns: int) -> Any:
    """The synthesizer of that name."""
    if name == "mst":
        from snsynth.mst import MSTSynthesizer

        return MSTSynthesizer(epsilon=epsilon, delta=delta)
    if name == "aim":
        from snsynth.aim import AIMSynthesizer

        return AIMSynthesizer(epsilon=epsilon, delta=delta, degree=2)
    from snsynth.mwem import MWEMSynthesizer

    rounds = {"iterations": 10, "mult_weights_iterations": 5}  # its own, 50 and 20, did not end in 15 minutes
    return MWEMSynthesizer(epsilon=epsilon, marginal_width=2, split_factor=columns, **rounds)


class ShuffledGroups:
    """NumPy for mbi, where rows of one group are sorted in random order."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def argsort(self, groups: Any, kind: str) -> Any:
        assert kind == "stable"
        return np.lexsort((np.random.default_rng().random(len(groups)), groups))


def main() -> None:
    name, epsilon, delta, source, target = sys.argv[1:]
    table = parquet.read_table(source)
    sizes = json.loads((table.schema.metadata or {})[b"sizes"])
    rows = table.to_pandas()
    # A row of each value is no part of the table: the values are public, and the synthesizers take them from the rows.
    made = synthesizer(name, float(epsilon), float(delta), len(sizes))
    with contextlib.redirect_stdout(sys.stderr):
        if name == "mwem":
            made.fit(rows.to_numpy(), preprocessor_eps=0.0)
        else:
            from snsynth.transform import LabelTransformer, TableTransformer

            vars(import_module("mbi.markov_random_field"))["np"] = ShuffledGroups()
            labels = TableTransformer([LabelTransformer(nullable=False) for _ in sizes])
            most = max(sizes)
            labels.fit(pd.DataFrame({c: np.arange(most) % n for c, n in zip(rows.columns, sizes, strict=True)}))
            made.fit(rows, transformer=labels, preprocessor_eps=0.0)
        sampled = np.array(pd.DataFrame(made.sample(len(rows)))).astype(np.int64)
    found = {c: np.clip(sampled[:, i], 0, n - 1) for i, (c, n) in enumerate(zip(rows.columns, sizes, strict=True))}
    parquet.write_table(pa.table(found), target)


if __name__ == "__main__":
    main()
