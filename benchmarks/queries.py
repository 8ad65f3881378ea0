"""All 2-way marginals of five columns at one epsilon: the largest and the mean error, beside OpenDP and SmartNoise.

Ours is the method with the smallest proved error, and MWEM beside it. OpenDP puts its exact Laplace noise on each of
the ten tables at a tenth of epsilon; SmartNoise's own MWEM gets the columns as numbers, marginals of two columns as its
queries, and its own defaults else. Nobody's noise is seeded. Errors are in people, over RUNS runs.

``python -m benchmarks.queries [TABLE.parquet]``; without a table, people are invented. Peers that are not installed are
left out.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from numpy.typing import NDArray

COLUMNS: Final = ("workclass", "education", "marital_status", "occupation", "race")
SIZES: Final = (9, 16, 7, 15, 5)  # of the invented people
PEOPLE: Final = 32_561
RUNS: Final = 5
EPSILON: Final = 1
SMARTNOISE: Final = {
    "iterations": 10,
    "mult_weights_iterations": 5,
}  # its own choice, 50 and 20, did not end in 15 minutes

MILLION: Final = (
    ("marginals:2", (2,) * 20, "mwem"),
    ("marginals:2", (10,) * 6, "mwem"),
    ("intervals", (10**6,), "tree"),
    ("intervals", (10**6,), "histogram"),
)  # classes, domains and methods

Tables = dict[tuple[int, int], NDArray[Any]]
Codes = list[NDArray[np.int64]]


def invented() -> pa.Table:
    """As many people as the census table has, in as many bins, unevenly and with columns that depend on each other."""
    numbers = np.random.default_rng(7)
    kind = numbers.integers(0, 6, PEOPLE)
    columns = [(np.minimum(numbers.geometric(0.3, PEOPLE) - 1, size - 1) + kind) % size for size in SIZES]
    return pa.table({name: [f"v{i:02}" for i in each.tolist()] for name, each in zip(COLUMNS, columns, strict=True)})


def pairs(codes: Codes, sizes: list[int]) -> Tables:
    """Every table by two columns, exactly."""
    found = {}
    for one, two in combinations(range(len(sizes)), 2):
        table = np.zeros((sizes[one], sizes[two]), dtype=np.int64)
        np.add.at(table, (codes[one], codes[two]), 1)
        found[one, two] = table
    return found


def ours(table: pa.Table, labels: list[list[str]], method: str | None) -> Tables:
    from hubbub.engines.opening import open_source
    from hubbub.kinds.queries.request import queries
    from hubbub.kinds.queries.result import Synopsis
    from hubbub.noise.source import SystemSource
    from hubbub.query_classes.classes import Halfspaces
    from hubbub.release import run

    columns = [f"{name}={','.join(each)}" for name, each in zip(COLUMNS, labels, strict=True)]
    people = None if method is None else table.num_rows
    spec = queries(columns, "marginals:2", epsilon=EPSILON, people=people, method=method)
    found = run(spec, open_source(table), SystemSource()).result
    assert isinstance(found, Synopsis) and not isinstance(spec.queries, Halfspaces)
    sizes = [len(each) for each in labels]
    every = [found.answer_to(spec.queries.at(place)).estimate for place in range(spec.queries.number)]
    numbers, told, start = np.array(list(map(float, every))), {}, 0
    for one, two in combinations(range(len(sizes)), 2):
        told[one, two] = numbers[start : start + sizes[one] * sizes[two]].reshape(sizes[one], sizes[two])
        start += sizes[one] * sizes[two]
    return told


def of_opendp(codes: Codes, sizes: list[int]) -> Tables:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    found = {}
    for one, two in combinations(range(len(sizes)), 2):
        cells = list(range(sizes[one] * sizes[two]))
        space = dp.vector_domain(dp.atom_domain(T="i32")), dp.symmetric_distance()
        counting = dp.t.make_count_by_categories(*space, categories=cells, null_category=False)
        noisy = counting >> dp.m.then_laplace(scale=10.0 / EPSILON)
        said = noisy((codes[one] * sizes[two] + codes[two]).astype(int).tolist())
        found[one, two] = np.array(said).reshape(sizes[one], sizes[two])
    return found


def of_smartnoise(codes: Codes, sizes: list[int]) -> Tables:
    from snsynth.mwem import MWEMSynthesizer

    rows = np.stack(codes, axis=1)
    synthesizer = MWEMSynthesizer(epsilon=float(EPSILON), marginal_width=2, split_factor=len(sizes), **SMARTNOISE)
    synthesizer.fit(rows, preprocessor_eps=0.0)
    said = np.array(synthesizer.sample(len(rows))).astype(np.int64)
    return pairs([np.clip(said[:, i], 0, size - 1) for i, size in enumerate(sizes)], sizes)


def measured(name: str, make: Callable[[], Tables], truth: Tables) -> None:
    largest, mean, start = [], [], time.process_time()
    for _ in range(RUNS):
        try:
            said = make()
        except ImportError:
            print(f"{name}: not installed", file=sys.stderr)
            return
        errors = np.concatenate([np.abs(said[pair] - truth[pair]).ravel() for pair in truth])
        largest.append(float(errors.max()))
        mean.append(float(errors.mean()))
    seconds = (time.process_time() - start) / RUNS
    tell(name, largest_error=float(np.mean(largest)), mean_error=float(np.mean(mean)), cpu=seconds)


def tell(task: str, **found: float) -> None:
    """One line for people, one for programs."""
    shown = ", ".join(f"{name.replace('_', ' ')} {value:,.2f}" for name, value in found.items())
    print(f"{task:60s} {shown}", file=sys.stderr)
    print(json.dumps({"benchmark": "queries", "task": task, **found}), flush=True)


def million_cells() -> None:
    """What the methods that list a domain of a million cells take, without the counting and the files."""
    from fractions import Fraction

    from hubbub.noise.source import SystemSource
    from hubbub.query_classes.choice import MAKERS
    from hubbub.query_classes.classes import parse
    from hubbub.query_classes.setting import Cells, Setting

    for of, shape, name in MILLION:
        people, rates = 10**6, Fraction(1)
        at = Setting(queries=parse(of, shape), half_way=rates, any_row=rates, doubt=Fraction(1, 20), rows=people)
        codes = np.arange(0, int(np.prod(shape)), 7)
        counts = np.bincount(np.arange(people) % codes.size, minlength=codes.size).astype(np.int64)
        method, start = MAKERS[name](at), time.process_time()
        method.draw(at, Cells(shape, codes, counts), SystemSource())
        seconds = time.process_time() - start
        task = f"a domain of {int(np.prod(shape)):,} cells: {of} of {len(shape)} columns, {method}"
        tell(task, cpu=seconds, said_beforehand=float(method.seconds(at)))


def main() -> None:
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    table = invented() if given is None else parquet.read_table(given, columns=list(COLUMNS))
    values = [table[name].to_pylist() for name in COLUMNS]
    labels = [sorted(set(each)) for each in values]
    codes = [np.searchsorted(known, each).astype(np.int64) for known, each in zip(labels, values, strict=True)]
    sizes = [len(each) for each in labels]
    truth = pairs(codes, sizes)
    cells = sum(each.size for each in truth.values())
    print(f"{table.num_rows:,} people, {cells:,} queries, epsilon {EPSILON}", file=sys.stderr)
    measured("Hubbub, the best proved", lambda: ours(table, labels, None), truth)
    measured("Hubbub, MWEM", lambda: ours(table, labels, "mwem"), truth)
    measured("OpenDP, Laplace on each table", lambda: of_opendp(codes, sizes), truth)
    measured("SmartNoise, MWEM", lambda: of_smartnoise(codes, sizes), truth)
    million_cells()


if __name__ == "__main__":
    main()
