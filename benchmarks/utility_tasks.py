"""What benchmarks.utility publishes: each task with its exact numbers, and the ways of Hubbub and its peers to publish it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import erfc, exp, prod, sqrt
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from benchmarks import utility_opendp as opendp
from benchmarks.visits import COST, MONTHS, ROWS_OF_A_PERSON, STAY, WARDS

ROOT: Final = Path(__file__).resolve().parents[1]
COLUMNS: Final = (
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
)
SIZES: Final = (9, 16, 7, 15, 6, 5, 2, 42)
TOTALS: Final = ((2_000, 0.135), (10_000, 0.045), (100_000, 0.0074))  # people, and the error that the theory has
BINS: Final = 1024
RANGES: Final = 2000
RIDES: Final = (24, 7, 5, 20, 20)  # hour, weekday, base, north, east
MADE_UP: Final = ((1_000_000, (2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8)),)
PERIODS: Final = tuple((periods, recur) for periods in (12, 52, 365) for recur in (1, 3, 12))
SERIES: Final = 500  # drawn at a time
WORKLOADS: Final = (
    ("marginals:1", (1,), "1"),
    ("marginals:2", (2,), "1"),
    ("marginals:3", (3,), "1"),
    ("conjunctions:2", (1, 2), "1"),
    ("conjunctions:3", (1, 2, 3), "1"),
    ("marginals:2", (2,), "0.1"),
    ("marginals:3", (3,), "0.1"),
)
PATIENCE: Final = 900  # seconds of CPU time for one release of a peer
HIGHEST: Final = 100_000  # declared for totals with heavy tails
HOURS: Final = 99
TUMULT_RUNS: Final = 20
ORDERS: Final = 64  # of wards, for the average of what a cap cuts there
LATE: Final = f"did not finish in {PATIENCE // 60} minutes of CPU time"
ONE_CORE: Final = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
RIDES_WORDS: Final = (
    "Uber's rides in New York, April 2014: hour, weekday, base, and the place of pickup in a grid of 20 by 20. Each ride "
    "counts as a person here."
)

Numbers = NDArray[np.float64]


class MissingPeerError(Exception):
    """Why a peer has no number."""


@dataclass(frozen=True, slots=True)
class Published:
    """The numbers of a release, and the ends of their own intervals."""

    estimates: Numbers
    low: Numbers | None = None
    high: Numbers | None = None


Answer = Callable[[], Published | Numbers | float]  # a float is an error by its formula


@dataclass(frozen=True, slots=True)
class Task:
    """Something to publish, its exact numbers, and who publishes it how."""

    name: str
    promise: str
    truth: Numbers
    answers: Mapping[str, Answer]
    proved: float | None = None  # the standard deviation that the theory states for ours
    share: float = 1  # of the usual number of releases: less for many numbers or slow ones, more for one number
    weights: Numbers | None = None  # of the numbers in the mean square


# Ours


def released(kind: Any, rows: pa.Table, person: str | None = None, **options: Any) -> Published:
    """What Hubbub publishes; where there is no estimate the reader has nothing, which counts as 0."""
    from hubbub.engines.opening import open_source
    from hubbub.noise.source import SystemSource
    from hubbub.release import run

    who: dict[str, Any] = {"person": person} if person else {}
    return read(run(kind.ask(**who, **options), open_source(rows), SystemSource()).to_arrow())


def read(found: pa.Table, of: str = "estimate") -> Published:
    """Estimates (of a cube before they are rounded), and each one's own interval."""
    of = "fitted" if of == "estimate" and "fitted" in found.column_names else of
    own = "own_" if "own_low" in found.column_names else ""
    ends = [floats(found[f"{own}{end}"]) if f"{own}{end}" in found.column_names else None for end in ("low", "high")]
    return Published(floats(found[of]), *ends)


def floats(column: Any) -> Numbers:
    return np.array([float(each or 0) for each in column.to_pylist()])


def geometric_deviation(rate: float) -> float:
    """The standard deviation of two-sided geometric noise."""
    ratio = exp(-rate)
    return sqrt(2 * ratio) / (1 - ratio)


def gaussian_deviation(epsilon: float, delta: float) -> float:
    """The least standard deviation of Gaussian noise, per unit of Euclidean sensitivity."""

    def lost(mu: float) -> float:
        return 0.5 * erfc((epsilon / mu - mu / 2) / sqrt(2)) - exp(epsilon) * 0.5 * erfc(
            (epsilon / mu + mu / 2) / sqrt(2)
        )

    low, high = 1e-6, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if lost(middle) < delta else (low, middle)
    return 1 / low


def planned_variances(
    sizes: Sequence[int], weights: Mapping[tuple[int, ...], float], epsilon: float, delta: float
) -> dict[tuple[int, ...], float]:
    """The variance of a cell of each table, by the linear Gaussian plan with the least weighted sum of these."""

    def below(table: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [part for width in range(len(table) + 1) for part in combinations(table, width)]

    def spread(table: tuple[int, ...], part: tuple[int, ...]) -> float:
        return float(prod(sizes[i] for i in table if i not in part) ** -2.0)

    closure = {part for table in weights for part in below(table)}
    wanted = dict.fromkeys(closure, 0.0)
    for table, weight in weights.items():
        for part in below(table):
            wanted[part] += weight * spread(table, part)
    kept = {part: prod(1 - 1 / sizes[i] for i in part) for part in closure}
    whole = sum(kept[part] * sqrt(wanted[part]) for part in closure)
    unit = gaussian_deviation(epsilon, delta) ** 2 * whole
    return {
        table: unit * sum(kept[part] / sqrt(wanted[part]) * spread(table, part) for part in below(table))
        for table in weights
    }


# People with many rows


def visits(people: int) -> pa.Table:
    """Made-up hospital visits, at least 5 and at most ROWS_OF_A_PERSON visits of a patient, so that the bound loses nobody's visit."""
    numbers = np.random.default_rng(11)
    ids = np.repeat(np.arange(people), numbers.integers(5, ROWS_OF_A_PERSON + 1, people))
    count = len(ids)
    return pa.table(
        {
            "patient": ids,
            "ward": numbers.integers(0, WARDS, count),
            "month": numbers.integers(0, MONTHS, count),
            "cost": np.minimum(np.exp(numbers.normal(6, 1.2, count)), COST).astype(np.int64),
            "readmitted": (numbers.random(count) < 0.112).astype(np.int64),
            "stay": np.minimum(numbers.geometric(0.18, count), STAY),
        }
    )


def events(people: int, folder: Path | None) -> Iterator[Task]:
    """The numbers of a hospital's yearly report, each with epsilon 1 for a patient with all their visits."""
    from hubbub.kinds.quantile.quantile import QUANTILE
    from hubbub.kinds.sum.request import KIND as SUM
    from hubbub.kinds.sums.count import COUNT
    from hubbub.kinds.sums.fraction import FRACTION
    from hubbub.kinds.sums.mean import MEAN

    rows = visits(people)
    column = {name: rows[name].to_numpy() for name in rows.column_names}
    most, wards, months, promise = ROWS_OF_A_PERSON, f"ward:0..{WARDS}:1", f"month:0..{MONTHS}:1", "epsilon 1"

    def tumult(name: str) -> dict[str, Answer]:
        return {"Tumult": partial(by_tumult, name, people, folder)} if folder else {}

    def ours(kind: Any, **options: Any) -> Answer:
        return partial(released, kind, rows, "patient", rows_per_person=most, epsilon=1, **options)

    cells = np.bincount(column["ward"] * MONTHS + column["month"], minlength=WARDS * MONTHS).astype(np.float64)
    yield Task(
        "visits by ward and month",
        promise,
        cells,
        {
            "Hubbub": ours(COUNT, by=[wards, months], count_rows=True),
            "OpenDP": partial(opendp.laplace, cells, most, 1),
            **tumult("visits"),
        },
        geometric_deviation(1 / most),
    )
    costs = np.bincount(column["ward"], weights=column["cost"], minlength=WARDS).astype(np.float64)
    totals = partial(ours, SUM, of=f"cost:0..{COST}:1", by=[wards])
    yield Task(
        "total cost by ward, every visit counts",
        promise,
        costs,
        {
            "Hubbub": totals(cap=most * COST),
            "OpenDP": partial(opendp.laplace, costs, most * COST, 1),
            **tumult("costs"),
            "Hubbub, own cap": lambda: without_intervals(totals()()),
        },
        geometric_deviation(1 / (most * COST)),
        5,
    )
    cut = capped(column, COST)
    yield Task(
        f"total cost by ward, at most {COST:,} of a patient",
        promise,
        costs,
        {
            "Hubbub": lambda: without_intervals(totals(cap=COST)()),
            "OpenDP": partial(opendp.laplace, cut, COST, 1),
        },
        sqrt(geometric_deviation(1 / COST) ** 2 + float(np.mean((costs - in_secret_order(column, COST)) ** 2))),
        5,
    )
    mean, count = float(column["cost"].mean()), rows.num_rows
    yield Task(
        "mean cost of a visit",
        promise,
        np.array([mean]),
        {
            "Hubbub": ours(MEAN, of=f"cost:0..{COST}:1", by=[]),
            "OpenDP": partial(one, opendp.mean, column["cost"], COST, most),
            **tumult("mean"),
        },
        geometric_deviation(1 / (most * COST)) * sqrt((COST - mean) ** 2 + mean**2) / (count * COST),
        5,
    )
    share = float(column["readmitted"].mean())
    yield Task(
        "share of visits that are readmissions",
        promise,
        np.array([share]),
        {
            "Hubbub": ours(FRACTION, where="readmitted=1", by=[]),
            "OpenDP": partial(one, share_by_opendp, column["readmitted"], most),
            **tumult("share"),
        },
        geometric_deviation(1 / most) * sqrt((1 - share) ** 2 + share**2) / count,
        5,
    )
    yield Task(
        "90th percentile of stay, in days",
        promise,
        np.array([float(np.quantile(column["stay"], 0.9, method="inverted_cdf"))]),
        {
            "Hubbub": ours(QUANTILE, of=f"stay:0..{STAY}:1", q="0.9", by=[]),
            "OpenDP": partial(one, opendp.quantile, column["stay"], 0.9, range(STAY + 1), most, 1),
            **tumult("quantile"),
        },
    )


def large(people: int) -> Iterator[Task]:
    """The same numbers of a large hospital by Hubbub alone, once."""
    for task in events(people, None):
        ours = {who: answer for who, answer in task.answers.items() if who.startswith("Hubbub")}
        yield replace(task, answers=ours, share=0)


def without_intervals(said: Published | Numbers | float) -> Published:
    """For numbers that are cut: their intervals are about what is left, and not about the truth."""
    assert isinstance(said, Published)
    return Published(said.estimates)


def capped(column: Mapping[str, NDArray[Any]], cap: int, order: Sequence[int] = range(WARDS)) -> Numbers:
    """Costs by ward if no patient counts with more than the cap, wards in this order."""
    by_ward = np.zeros((int(column["patient"].max()) + 1, WARDS))
    np.add.at(by_ward, (column["patient"], column["ward"]), column["cost"])
    upto = np.minimum(np.cumsum(by_ward[:, list(order)], axis=1), cap)
    found = np.empty(WARDS)
    found[list(order)] = np.diff(upto, axis=1, prepend=0).sum(axis=0)
    return found


def in_secret_order(column: Mapping[str, NDArray[Any]], cap: int) -> Numbers:
    """The same on average over orders, of which ours draws one for each patient."""
    numbers = np.random.default_rng(5)
    every = [capped(column, cap, numbers.permutation(WARDS).tolist()) for _ in range(ORDERS)]
    return np.asarray(np.mean(every, axis=0))


def one(number: Callable[..., float], *words: Any, **options: Any) -> Numbers:
    return np.array([number(*words, **options)])


def share_by_opendp(marked: NDArray[np.int64], rows: int) -> float:
    return opendp.laplace_of_one(float(marked.sum()), rows, 0.5) / opendp.laplace_of_one(len(marked), rows, 0.5)


def by_tumult(name: str, people: int, folder: Path) -> Numbers:
    """Tumult's answers, a row for each release; it runs once for all tasks, in an environment of its own."""
    file = folder / "tumult.jsonl"
    if not file.exists():
        python = environment("tumult")
        words = ["-m", "benchmarks.utility_tumult", str(people), str(TUMULT_RUNS)]
        file.write_text(patiently([python, *words], {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": python}))
    found = {each["task"]: each["answers"] for each in map(json.loads, file.read_text().splitlines())}
    if name not in found:
        raise MissingPeerError(LATE)
    return np.array(found[name])


def environment(name: str) -> str:
    """The Python of a peer's environment; HUBBUB_PEERS names another folder than .venv."""
    python = Path(os.environ.get("HUBBUB_PEERS", ROOT / ".venv")) / name / "bin" / "python"
    if not python.exists():
        raise MissingPeerError("not installed")
    return str(python)


def patiently(command: Sequence[str], env: Mapping[str, str]) -> str:
    """What a peer prints, for PATIENCE seconds of CPU time in each of its processes."""
    words = ["sh", "-c", f'ulimit -t {PATIENCE}; exec "$@"', "sh", *command]
    found = subprocess.run(words, cwd=ROOT, env=os.environ | dict(env), check=False, capture_output=True, text=True)
    if found.returncode and not found.stdout:
        raise MissingPeerError(LATE if found.returncode < 0 else f"stopped with exit code {found.returncode}")
    return found.stdout


# Totals and moments


def heavy_tails() -> Iterator[Task]:
    """Totals of log-normal values below a declared maximum, relative to the total; a table of its own each time."""
    from hubbub.kinds.sum.request import KIND as SUM

    grid = sorted({min(HIGHEST, round(2 ** (step / 2))) for step in range(2, 36)})

    def drawn(numbers: np.random.Generator, people: int) -> tuple[NDArray[np.int64], float]:
        values = np.minimum(np.exp(numbers.normal(3, 1.2, people)), HIGHEST).round().astype(np.int64)
        return values, float(values.sum())

    def ours(numbers: np.random.Generator, people: int, **words: str) -> Published:
        values, total = drawn(numbers, people)
        said = released(SUM, pa.table({"value": values}), of=f"value:0..{HIGHEST}:1", by=[], epsilon=1, **words)
        if "delta" in words or not words or said.low is None or said.high is None:
            return Published(said.estimates / total)
        return Published(said.estimates / total, said.low / total, said.high / total)

    def theirs(numbers: np.random.Generator, people: int) -> Numbers:
        _, total = drawn(numbers, people)
        return opendp.laplace(np.array([total]), HIGHEST, 1) / total

    def chosen(numbers: np.random.Generator, people: int) -> Numbers:
        values, total = drawn(numbers, people)
        above = min(people / 2, 10 * np.log(len(grid) / 0.02))  # people above the cap that a choice at 0.2 can aim at
        cap = int(opendp.quantile(values, 1 - above / people, grid, 1, 0.2))
        return opendp.laplace(np.array([float(np.minimum(values, cap).sum())]), cap, 0.8) / total

    for people, proved in TOTALS:
        yield Task(
            f"total of {people:,} people, as a share of it",
            "epsilon 1",
            np.ones(1),
            {
                "Hubbub, layers": partial(ours, np.random.default_rng(people), people, cap="layers"),
                "Hubbub, layers, delta 1e-6": partial(
                    ours, np.random.default_rng(people), people, cap="layers", delta="1e-6"
                ),
                "Hubbub": partial(ours, np.random.default_rng(people), people),
                "OpenDP, for the maximum": partial(theirs, np.random.default_rng(people), people),
                "OpenDP, chosen cap": partial(chosen, np.random.default_rng(people), people),
            },
            proved,
            min(1.0, 20_000 / people),
        )


def amounts(folder: Path | None) -> Iterator[Task]:
    """Sums by group and standard deviations of whole numbers."""
    from hubbub.kinds.sum.request import KIND as SUM
    from hubbub.kinds.sums.variance import STD

    def deviation(values: NDArray[np.int64], high: int) -> Numbers:
        said = released(STD, pa.table({"value": values}), of=f"value:0..{high}:1", by=[], epsilon=1)
        return said.estimates[:1]

    numbers = np.random.default_rng(5)
    cases: list[tuple[str, NDArray[np.int64], int, float | None]] = [
        ("deviation, 2,000 people evenly spread", numbers.integers(0, 101, 2000), 100, 0.050),
        ("deviation, 2,000 people, most of them low", np.minimum(numbers.geometric(1 / 13, 2000) - 1, 100), 100, 0.22),
    ]
    if folder:
        people = census(folder, ("hours_per_week", "education_num"))
        hours, group = people["hours_per_week"].to_numpy(), people["education_num"].to_numpy()
        cases.append(("deviation of hours, Adult", hours, HOURS, None))
    for name, values, high, proved in cases:
        answers: dict[str, Answer] = {
            "Hubbub": partial(deviation, values, high),
            "OpenDP, from 0": partial(one, opendp.deviation, values, high, centred=False),
            "OpenDP, centred": partial(one, opendp.deviation, values, high, centred=True),
        }
        yield Task(name, "epsilon 1", np.array([float(values.std())]), answers, proved)
    if folder:
        truth = np.bincount(group, weights=hours, minlength=17)[1:].astype(np.float64)
        asked: dict[str, Any] = {"of": f"hours_per_week:0..{HOURS}:1", "by": ["education_num:1..17:1"], "epsilon": 1}
        yield Task(
            "hours by education, 16 sums, Adult",
            "epsilon 1",
            truth,
            {
                "Hubbub": partial(released, SUM, people, cap=HOURS, **asked),
                "Hubbub, layers": partial(released, SUM, people, cap="layers", **asked),
                "OpenDP, from 0": partial(opendp.laplace, truth, HOURS, 1),
            },
            geometric_deviation(1 / HOURS),
        )


# Series


def series() -> Iterator[Task]:
    """The last running total of T periods, where a person counts in at most r of them."""
    from hubbub import plan

    delta = "1e-6"

    def last(noise: Callable[..., Numbers], periods: int, *promise: float) -> Numbers:
        return np.asarray(noise(np.zeros(SERIES * periods), *promise).reshape(SERIES, periods).sum(axis=1))

    def tree(periods: int, recur: int) -> float:
        drawn = [np.cumsum(opendp.tree(np.zeros(periods), periods, 1, recur)) for _ in range(SERIES)]
        return float(np.sqrt((np.array(drawn) ** 2).mean(axis=0).max()))

    for periods, recur in PERIODS:
        ways = {way.name: way for way in plan.series(periods, "1", recur=recur, delta=delta).ways}

        def error(name: str, ways: Mapping[str, Any] = ways) -> float:
            return float(ways[name].as_json()["sd_total"])

        best = next(iter(ways))
        yield Task(
            f"{periods} periods, a person in {recur} at most: {best}",
            f"epsilon 1, delta at most {delta}",
            np.zeros(SERIES),
            {
                "Hubbub, best way": partial(error, best),
                "an even split over the totals": partial(error, "own noise per table"),
                "OpenDP, Laplace on each period": partial(last, opendp.laplace, periods, recur, 1),
                "OpenDP, Gaussian on each period": partial(
                    last, opendp.gaussian, periods, sqrt(recur), 1, float(delta)
                ),
                "OpenDP, tree": partial(tree, periods, recur),
            },
            share=0.02,
        )


# Ranges and trees


def ranges() -> Iterator[Task]:
    """Random ranges of one column."""
    from hubbub.kinds.queries.request import KIND as QUERIES

    bins, people, numbers = BINS, 200_000, np.random.default_rng(3)
    values = np.minimum(numbers.geometric(0.004, people) - 1, bins - 1)
    ends = np.array([sorted(numbers.choice(bins + 1, 2, replace=False)) for _ in range(RANGES)])
    rows = pa.table({"value": values})
    counts = np.bincount(values, minlength=bins).astype(np.float64)

    def between(each: Numbers) -> Numbers:
        upto = np.concatenate([[0.0], np.cumsum(each)])
        return np.asarray(upto[ends[:, 1]] - upto[ends[:, 0]])

    def summed(noisy: Callable[[Numbers, int, float], Numbers], bound: int, epsilon: float) -> Numbers:
        return between(noisy(counts, bound, epsilon))

    def ours(**asked: str) -> Published:
        from hubbub.engines.opening import open_source
        from hubbub.noise.source import SystemSource
        from hubbub.release import run

        spec = QUERIES.ask(columns=[f"value:0..{bins}:1"], **{"class": "intervals", **asked})
        found: Any = run(spec, open_source(rows), SystemSource()).result
        method, setting = found.spec.method, found.spec.setting
        said = [method.answer(setting, found.drawn, ((i, j),)) for i, j in ends.tolist()]
        return Published(np.array([float(each) for each in said]))

    def stated(epsilon: str) -> float:
        spec: Any = QUERIES.ask(columns=[f"value:0..{bins}:1"], **{"class": "intervals", "epsilon": epsilon})
        return sqrt(spec.method.interval_mean_square(spec.setting))

    for epsilon in ("1", "0.1"):
        answers: dict[str, Answer] = {
            "Hubbub": partial(ours, epsilon=epsilon),
            "OpenDP, tree": partial(summed, opendp.tree, people, float(epsilon)),
            "OpenDP, each bin": partial(summed, opendp.laplace, 1, float(epsilon)),
        }
        yield Task(f"{RANGES:,} ranges", f"epsilon {epsilon}", between(counts), answers, stated(epsilon), 0.15)


def hierarchy() -> Iterator[Task]:
    """Cells, counties and regions: nested tables."""
    from hubbub.kinds.cube.request import KIND as CUBE

    numbers, people = np.random.default_rng(9), 200_000
    sizes = {"region": 8, "county": 5, "age": 10}
    columns = {name: numbers.integers(0, size, people) for name, size in sizes.items()}
    rows = pa.table(columns)
    fine = np.bincount(np.ravel_multi_index(list(columns.values()), list(sizes.values())), minlength=400)
    fine = fine.reshape(8, 5, 10).astype(np.float64)
    truth = np.concatenate([fine.ravel(), fine.sum(axis=2).ravel(), fine.sum(axis=(1, 2))])

    def ours(**asked: str) -> Published:
        from hubbub.engines.opening import open_source
        from hubbub.noise.source import SystemSource
        from hubbub.release import run

        by = [f"{name}:0..{size}:1" for name, size in sizes.items()]
        spec = CUBE.ask(by=by, margins="region,county; region", **asked)
        found = run(spec, open_source(rows), SystemSource()).result.sheets()
        said = {each.num_rows: read(each) for each in (pa.Table.from_batches(s.batches(), s.schema) for s in found)}
        return Published(np.concatenate([said[number].estimates for number in (400, 40, 8)]))

    for promise, asked, theirs, proved in (
        ("epsilon 1", {"epsilon": "1"}, partial(opendp.laplace, truth, 3, 1), None),
        (
            "epsilon 1, delta 1e-9",
            {"epsilon": "1", "delta": "1e-9"},
            partial(opendp.gaussian, truth, sqrt(3), 1, 1e-9),
            None,
        ),
    ):
        answers: dict[str, Answer] = {"Hubbub": partial(ours, **asked), "OpenDP, noise on each table": theirs}
        yield Task("448 nested counts", promise, truth, answers, proved, 0.5)


# Marginals


def tables(folder: Path | None) -> Iterator[tuple[str, str, pa.Table]]:
    """Names, words and codes of people in columns: real tables, or made-up people of their shape, and a larger one."""
    if folder:
        yield "the census table Adult", "48,842 people by eight columns.", census(folder, COLUMNS)
        yield "564,516 taxi rides", RIDES_WORDS, rides(folder)
    else:
        yield "48,842 made-up people", "By eight columns.", made_up(48_842, SIZES)
    for people, sizes in MADE_UP:
        words = f"By {len(sizes)} columns of {min(sizes)} to {max(sizes)} values; the columns depend on a hidden one."
        yield f"{people:,} made-up people", words, made_up(people, sizes)


def census(folder: Path, columns: Sequence[str]) -> pa.Table:
    """Columns of Adult, texts as codes."""
    files = [folder / f"adult_{part}.parquet" for part in ("train", "test")]
    read = pa.concat_tables([parquet.read_table(each, columns=list(columns)) for each in files])
    values = {name: read[name].to_pylist() for name in columns}
    if not isinstance(values[columns[0]][0], str):
        return read
    labels = {name: sorted(set(each)) for name, each in values.items()}
    return coded(
        {name: np.searchsorted(labels[name], each) for name, each in values.items()}, list(map(len, labels.values()))
    )


def rides(folder: Path) -> pa.Table:
    """Uber's rides: hour, day of the week, base, and the place of pickup in a grid of 20 by 20."""
    read = parquet.read_table(folder / "uber_nyc_apr2014.parquet")
    bases = read["base"].to_numpy()

    def steps(name: str, low: float, high: float, number: int) -> NDArray[np.int64]:
        at = (read[name].to_numpy() - low) / (high - low) * number
        return np.asarray(np.clip(at.astype(np.int64), 0, number - 1))

    found = {
        "hour": compute.hour(read["pickup_time"]).to_numpy(),
        "weekday": compute.day_of_week(read["pickup_time"]).to_numpy(),
        "base": np.searchsorted(sorted(set(bases)), bases),
        "north": steps("lat", 40.6, 40.9, 20),
        "east": steps("lon", -74.1, -73.7, 20),
    }
    return coded(found, RIDES)


def made_up(people: int, sizes: Sequence[int]) -> pa.Table:
    """People whose columns depend on one hidden kind."""
    numbers = np.random.default_rng(7)
    kind = numbers.integers(0, 6, people)
    found = {
        f"c{i}": (np.minimum(numbers.geometric(0.3, people) - 1, size - 1) + kind) % size
        for i, size in enumerate(sizes)
    }
    return coded(found, sizes)


def coded(found: Mapping[str, NDArray[Any]], sizes: Sequence[int]) -> pa.Table:
    return pa.table(dict(found)).replace_schema_metadata({"sizes": json.dumps(list(sizes))})


def cells(codes: pa.Table, sizes: Sequence[int], of: Sequence[tuple[int, ...]]) -> Numbers:
    """Every count of every table of the workload, one after the other."""
    columns, found = [each.to_numpy() for each in codes.columns], []
    for table in of:
        shape = [sizes[i] for i in table]
        at = np.ravel_multi_index([columns[i] for i in table], shape)
        found.append(np.bincount(at, minlength=int(np.prod(shape))))
    return np.concatenate(found).astype(np.float64)


def marginals(codes: pa.Table, name: str, folder: Path | None) -> Iterator[Task]:
    sizes: list[int] = json.loads((codes.schema.metadata or {})[b"sizes"])
    delta, every = "1e-9", range(len(sizes))
    for kind, widths, epsilon in WORKLOADS:
        workload = [table for width in widths for table in combinations(every, width)]
        truth, number = cells(codes, sizes, workload), len(workload)
        number_of = [prod(sizes[i] for i in table) for table in workload]
        alike = len(widths) > 1  # tables count alike, as in the plan; else cells do
        weights = {table: 1.0 if alike else float(cells) for table, cells in zip(workload, number_of, strict=True)}
        planned = planned_variances(sizes, {**weights, **({(): 1.0} if alike else {})}, float(epsilon), float(delta))
        square = sum(weights[table] * planned[table] for table in workload) / sum(weights.values())
        proved = sqrt(square) if number > 15 else None  # for fewer tables geometric noise has less error
        asked = {"class": kind, "epsilon": epsilon}
        models: dict[str, Answer] = {}
        for peer in ("mst", "aim", "mwem") if folder else ():
            models[f"SmartNoise {peer.upper()}"] = partial(
                modelled, codes, f"{name}-{peer}-{epsilon}", (peer, epsilon, delta), workload, folder or Path()
            )
        yield Task(
            f"{number} {'-, '.join(map(str, widths))}-way tables, {len(truth):,} cells",
            f"epsilon {epsilon}, delta {delta}",
            truth,
            {
                "Hubbub": partial(answers, codes, sizes, {**asked, "delta": delta}),
                "Hubbub, no delta": partial(answers, codes, sizes, {**asked, "method": "split-tables"}),
                "Hubbub, as counts": partial(
                    answers, codes, sizes, {**asked, "delta": delta, "method": "residual", "consistent": True}
                ),
                "OpenDP, Laplace": partial(opendp.laplace, truth, number, float(epsilon)),
                "OpenDP, Gaussian": partial(opendp.gaussian, truth, sqrt(number), float(epsilon), float(delta)),
                **models,
            },
            proved,
            0.015 if len(truth) > 10_000 else 0.05,
            1 / np.repeat(number_of, number_of) if alike else None,
        )


def answers(codes: pa.Table, sizes: Sequence[int], asked: dict[str, Any]) -> Published:
    """The published cells of a workload of marginals, table by table."""
    from hubbub.engines.opening import open_source
    from hubbub.kinds.queries.request import KIND as QUERIES
    from hubbub.noise.source import SystemSource
    from hubbub.release import run

    columns = [f"{name}:0..{size}:1" for name, size in zip(codes.column_names, sizes, strict=True)]
    found = run(QUERIES.ask(columns=columns, **asked), open_source(codes), SystemSource())
    of = "consistent" if asked.get("consistent") else "estimate"
    listed = [sheet for sheet in found.result.sheets() if of in sheet.schema.names]
    if not listed:
        told: Any = found
        every = map(told.spec.queries.at, range(told.spec.queries.number))
        return Published(np.array([float(told.result.answer_to(each).estimate) for each in every]))
    said = listed[-1]
    return read(pa.Table.from_batches(said.batches(), said.schema), of)


def modelled(
    codes: pa.Table, name: str, asked: tuple[str, ...], workload: Sequence[tuple[int, ...]], folder: Path
) -> Numbers:
    """The cells of a synthesizer's rows; one set of rows answers every workload of a promise, and is kept."""
    sizes = json.loads((codes.schema.metadata or {})[b"sizes"])
    rows = folder / f"rows-{name.replace(' ', '-')}.parquet"
    late = Path(f"{rows}.missing")
    if late.exists():
        raise MissingPeerError(late.read_text())
    if not rows.exists():
        with tempfile.TemporaryDirectory() as place:
            parquet.write_table(codes, f"{place}/codes.parquet")
            words = [*asked, f"{place}/codes.parquet", str(rows.resolve())]
            try:
                patiently([environment("synthesizers"), "-m", "benchmarks.utility_peers", *words], ONE_CORE)
            except MissingPeerError as why:
                late.write_text(str(why))
                raise
    if not rows.exists():
        raise MissingPeerError(LATE)
    return cells(parquet.read_table(rows), sizes, workload)
