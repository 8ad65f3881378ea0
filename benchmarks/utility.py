"""Error at the same promise, beside the peers: rows of people with many rows, marginals, ranges, totals, deviations.

Every number is the root mean square error over all published numbers and RUNS releases, in the unit of the row. Peers
get the same exact numbers and the same bounds, and choose their own noise for the same promise. Nobody's noise is
seeded; made-up people are the same in each run.

``python -m benchmarks.utility [--adult TRAIN.parquet TEST.parquet] [--people N] [--runs N] [--write]``. Without the
census table its part uses made-up people; ``--write`` replaces the tables of docs/utility.md. OpenDP is part of the
environment of ``make bench``; SmartNoise (MST, AIM, MWEM) and Tumult have environments of their own, and a peer whose
environment is not there is said to be missing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from benchmarks.visits import COST, MONTHS, ROWS_OF_A_PERSON, STAY, WARDS

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "utility.md"
MARK: Final = "<!-- written by benchmarks.utility -->"
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
PEOPLE: Final = 40_000
RUNS: Final = 20
TOTALS: Final = ((2_000, 0.135), (10_000, 0.045), (100_000, 0.0074))  # people, and the error that the theory has
BINS: Final = 1024
MADE_UP: Final = (
    (500_000, (10,) * 6, "6 columns of 10"),
    (1_000_000, (2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8), "12 columns of 2 to 8"),
)
PATIENCE: Final = 1500  # seconds for one run of a peer

Numbers = NDArray[np.float64]
Answer = Callable[[], Numbers]


@dataclass(frozen=True, slots=True)
class Task:
    """Something to publish, its exact numbers, and who publishes it how."""

    name: str
    promise: str
    truth: Numbers
    answers: Mapping[str, Answer]
    proved: float | None = None  # the standard deviation that the theory states for ours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adult", nargs="+", type=Path, default=[])
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--synthesizers", action="store_true", help="MST, AIM and MWEM too: minutes each")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = []
    for title, tasks in (
        (f"Visits of {given.people:,} made-up patients", events(given.people, given.runs)),
        ("Totals with heavy tails", heavy_tails()),
        ("Standard deviations", deviations()),
        (f"Ranges of {BINS:,} bins", ranges()),
        ("Regions and counties", hierarchy()),
        *((f"Marginals: {name}", marginals(codes, given)) for name, codes in tables(given.adult)),
    ):
        lines += table(title, tasks, given.runs)
    if given.write:
        text = PAGE.read_text().partition(MARK)[0]
        machine = (
            f"Written on {date.today().isoformat()} by `python -m benchmarks.utility`, {given.runs} releases each."
        )
        PAGE.write_text("\n".join([f"{text}{MARK}", "", machine, "", *lines]).rstrip() + "\n")


def table(title: str, tasks: Iterator[Task], runs: int) -> list[str]:
    """The rows of a part, printed as they are measured."""
    found = [f"## {title}", "", "| what | promise | who | error | our theory |", "|---|---|---|---|---|"]
    print(f"\n{title}", file=sys.stderr, flush=True)
    for task in tasks:
        for who, answer in task.answers.items():
            error = measured(answer, task.truth, 1 if who.startswith("SmartNoise") else runs)
            told = "not installed, or did not end" if error is None else digits(error)
            proved = digits(task.proved) if task.proved and who == "Hubbub" else ""
            found.append(f"| {task.name} | {task.promise} | {who} | {told} | {proved} |")
            print(found[-1], file=sys.stderr, flush=True)
            row = {"benchmark": "utility", "part": title, "task": task.name, "promise": task.promise, "who": who}
            print(json.dumps({**row, "error": error, "proved": task.proved}), flush=True)
    return [*found, ""]


def measured(answer: Answer, truth: Numbers, runs: int) -> float | None:
    """The root mean square error, None for somebody who is not there."""
    squares = []
    for _ in range(runs):
        try:
            said = answer()
        except (ImportError, FileNotFoundError, subprocess.SubprocessError):
            return None
        squares.append(float(np.mean((said - truth) ** 2)))
    return sqrt(float(np.mean(squares)))


def digits(value: float) -> str:
    """Three significant digits, with separators."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


# Ours


def released(kind: Any, rows: pa.Table, person: str | None = None, **options: Any) -> pa.Table:
    """What Hubbub publishes."""
    from hubbub.engines.opening import open_source
    from hubbub.noise.source import SystemSource
    from hubbub.release import run

    who: dict[str, Any] = {"person": person} if person else {}
    return run(kind.ask(**who, **options), open_source(rows), SystemSource()).to_arrow()


def estimates(found: pa.Table, column: str = "estimate") -> Numbers:
    """The published estimates; where there is none the reader has nothing, which counts as 0."""
    return np.array([float(each or 0) for each in found[column].to_pylist()])


# OpenDP, on exact numbers and their sensitivity


def opendp_laplace(exact: Numbers, sensitivity: int, epsilon: float) -> Numbers:
    """Its exact discrete Laplace noise, at the scale that it finds for epsilon."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scale = dp.binary_search_param(
        lambda s: dp.m.make_laplace(*space, scale=s), d_in=sensitivity, d_out=epsilon, T=float
    )
    return np.array(dp.m.make_laplace(*space, scale=scale)(exact.astype(int).tolist()), dtype=np.float64)


def opendp_gaussian(exact: Numbers, length: float, epsilon: float, delta: float) -> Numbers:
    """Its exact discrete Gaussian noise, by its own conversion from zero-concentrated privacy."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")

    def made(scale: float) -> Any:
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=scale)), delta)

    scale = dp.binary_search_param(made, d_in=length, d_out=(epsilon, delta), T=float)
    return np.array(dp.m.make_gaussian(*space, scale=scale)(exact.astype(int).tolist()), dtype=np.float64)


def opendp_quantile(values: NDArray[np.int64], q: float, candidates: Sequence[int], epsilon: float) -> Numbers:
    """Its exponential mechanism over candidates, for people with up to ROWS_OF_A_PERSON rows."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    scores = dp.t.make_quantile_score_candidates(*space, list(candidates), alpha=q)

    def made(scale: float) -> Any:
        return scores >> dp.m.then_noisy_max(dp.max_divergence(), scale=scale, negate=True)

    scale = dp.binary_search_param(made, d_in=ROWS_OF_A_PERSON, d_out=epsilon, T=float)
    return np.array([candidates[made(scale)(values.tolist())]], dtype=np.float64)


# People with many rows


def visits(people: int) -> pa.Table:
    """Made-up hospital visits, at most ROWS_OF_A_PERSON of a patient, so that the bound loses nobody's visit."""
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


def events(people: int, runs: int) -> Iterator[Task]:
    """The five numbers of a hospital's yearly report, each with epsilon 1 for a patient with all their visits."""
    from hubbub.kinds.statistic.request import COUNT, FRACTION, MEAN, QUANTILE
    from hubbub.kinds.sum.request import KIND as SUM

    rows = visits(people)
    column = {name: rows[name].to_numpy() for name in rows.column_names}
    most, wards, months = ROWS_OF_A_PERSON, f"ward:0..{WARDS}:1", f"month:0..{MONTHS}:1"
    bound: dict[str, Any] = {"rows_per_person": most, "epsilon": 1}
    tumult = of_tumult(rows, runs)

    cells = np.bincount(column["ward"] * MONTHS + column["month"], minlength=WARDS * MONTHS).astype(np.float64)
    yield Task(
        f"visits by ward and month, at most {most} of a patient",
        "epsilon 1",
        cells,
        {
            "Hubbub": lambda: estimates(released(COUNT, rows, "patient", by=[wards, months], count_rows=True, **bound)),
            "OpenDP, Laplace": lambda: opendp_laplace(cells, most, 1),
            "Tumult": lambda: tumult("visits"),
        },
        geometric_deviation(1 / most),
    )
    costs = np.bincount(column["ward"], weights=column["cost"], minlength=WARDS).astype(np.float64)
    yield Task(
        f"total cost by ward, each visit cut to {COST:,}",
        "epsilon 1",
        costs,
        {
            "Hubbub": lambda: estimates(
                released(SUM, rows, "patient", of=f"cost:0..{COST}:1", by=[wards], **bound), "estimate"
            ),
            "OpenDP, Laplace": lambda: opendp_laplace(costs, most * COST, 1),
            "Tumult": lambda: tumult("costs"),
        },
    )
    mean = np.array([column["cost"].mean()])
    yield Task(
        "mean cost of a visit",
        "epsilon 1",
        mean,
        {
            "Hubbub": lambda: estimates(released(MEAN, rows, "patient", of=f"cost:0..{COST}:1", by=[], **bound)),
            "OpenDP, Laplace": lambda: (
                opendp_laplace(np.array([float(column["cost"].sum())]), most * COST, 0.5)
                / opendp_laplace(np.array([float(len(column["cost"]))]), most, 0.5)
            ),
            "Tumult": lambda: tumult("mean"),
        },
    )
    share = np.array([column["readmitted"].mean()])
    yield Task(
        "share of visits that are readmissions",
        "epsilon 1",
        share,
        {
            "Hubbub": lambda: estimates(released(FRACTION, rows, "patient", where="readmitted=1", by=[], **bound)),
            "OpenDP, Laplace": lambda: (
                opendp_laplace(np.array([float(column["readmitted"].sum())]), most, 0.5)
                / opendp_laplace(np.array([float(len(column["cost"]))]), most, 0.5)
            ),
            "Tumult": lambda: tumult("share"),
        },
    )
    high = np.array([float(np.quantile(column["stay"], 0.9, method="inverted_cdf"))])
    yield Task(
        "90th percentile of stay",
        "epsilon 1",
        high,
        {
            "Hubbub": lambda: estimates(
                released(QUANTILE, rows, "patient", of=f"stay:0..{STAY}:1", q="0.9", by=[], **bound)
            ),
            "OpenDP, noisy max": lambda: opendp_quantile(column["stay"], 0.9, range(STAY + 1), 1),
            "Tumult": lambda: tumult("quantile"),
        },
    )


def geometric_deviation(rate: float) -> float:
    """The standard deviation of two-sided geometric noise."""
    ratio = float(np.exp(-rate))
    return sqrt(2 * ratio) / (1 - ratio)


def of_tumult(rows: pa.Table, runs: int) -> Callable[[str], Numbers]:
    """Tumult's answers, all of them fetched once: it runs in an environment of its own."""
    fetched: dict[str, list[list[float]]] = {}

    def answer(name: str) -> Numbers:
        if not fetched:
            with tempfile.TemporaryDirectory() as folder:
                parquet.write_table(rows, f"{folder}/rows.parquet")
                python = environment("tumult")
                command = [python, "-m", "benchmarks.utility_tumult", f"{folder}/rows.parquet", str(runs)]
                env = os.environ | {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": python}
                done = subprocess.run(
                    command, cwd=ROOT, env=env, check=True, capture_output=True, text=True, timeout=PATIENCE
                )
                fetched.update(json.loads(done.stdout.splitlines()[-1]))
        return np.array(fetched[name].pop())

    return answer


def environment(name: str) -> str:
    """The Python of a peer's environment; HUBBUB_PEERS names another folder than .venv."""
    python = Path(os.environ.get("HUBBUB_PEERS", ROOT / ".venv")) / name / "bin" / "python"
    if not python.exists():
        raise FileNotFoundError(python)
    return str(python)


# Totals and moments


def heavy_tails() -> Iterator[Task]:
    """Totals of log-normal values below a declared maximum of 100,000, relative to the total."""
    from hubbub.kinds.sum.request import KIND as SUM

    def ours(rows: pa.Table, total: float, **cap: str) -> Numbers:
        return estimates(released(SUM, rows, of="value:0..100000:1", by=[], epsilon=1, **cap)) / total

    def theirs(total: float) -> Numbers:
        return opendp_laplace(np.array([total]), 100_000, 1) / total

    for people, proved in TOTALS:
        drawn = np.exp(np.random.default_rng(people).normal(3, 1.2, people))
        values = np.minimum(drawn, 100_000).round().astype(np.int64)
        rows, total = pa.table({"value": values}), float(values.sum())
        yield Task(
            f"total of {people:,} people, as a share of it",
            "epsilon 1",
            np.ones(1),
            {
                "Hubbub": partial(ours, rows, total),
                "Hubbub, --cap auto": partial(ours, rows, total, cap="auto"),
                "OpenDP, Laplace at the maximum": partial(theirs, total),
            },
            proved,
        )


def deviations() -> Iterator[Task]:
    """The standard deviation of whole numbers from 0 to 100, as a share of the range."""
    from hubbub.kinds.moments.request import STD

    def ours(values: NDArray[np.int64]) -> Numbers:
        found = released(STD, pa.table({"value": values}), of="value:0..100:1", by=[], epsilon=1)
        return estimates(found)[:1] / 100

    def theirs(values: NDArray[np.int64]) -> Numbers:
        count, first, second = (
            float(opendp_laplace(np.array([float(each)]), bound, 1 / 3)[0])
            for each, bound in ((len(values), 1), (values.sum(), 100), ((values**2).sum(), 10_000))
        )
        return np.array([sqrt(max(0.0, second / count - (first / count) ** 2)) / 100])

    numbers = np.random.default_rng(5)
    for name, values, proved in (
        ("2,000 people, evenly spread", numbers.integers(0, 101, 2000), 0.00050),
        ("2,000 people, most of them low", np.minimum(numbers.geometric(1 / 13, 2000) - 1, 100), 0.0022),
    ):
        answers = {"Hubbub": partial(ours, values), "OpenDP, count, sum and squares": partial(theirs, values)}
        yield Task(name, "epsilon 1", np.array([float(values.std()) / 100]), answers, proved)


# Ranges and trees


def ranges() -> Iterator[Task]:
    """All ranges that start or end at one of 64 marks."""
    from hubbub.kinds.queries.request import KIND as QUERIES

    bins, people = BINS, 200_000
    values = np.minimum(np.random.default_rng(3).geometric(0.004, people) - 1, bins - 1)
    rows = pa.table({"value": values})
    counts = np.bincount(values, minlength=bins).astype(np.float64)
    marks = list(combinations(range(0, bins + 1, max(1, bins // 64)), 2))
    upto = np.concatenate([[0.0], np.cumsum(counts)])
    truth = np.array([upto[j] - upto[i] for i, j in marks])

    def ours(epsilon: str) -> Numbers:
        from hubbub.engines.opening import open_source
        from hubbub.noise.source import SystemSource
        from hubbub.release import run

        asked = {"class": "intervals", "epsilon": epsilon}
        found: Any = run(QUERIES.ask(columns=[f"value:0..{bins}:1"], **asked), open_source(rows), SystemSource()).result
        return np.array(
            [float(found.answer({"value": (f"[{i},{i + 1})", f"[{j - 1},{j})")}).estimate) for i, j in marks]
        )

    def each(epsilon: float) -> Numbers:
        noisy = np.concatenate([[0.0], np.cumsum(opendp_laplace(counts, 1, epsilon))])
        return np.array([noisy[j] - noisy[i] for i, j in marks])

    for epsilon in ("1", "0.1"):
        answers = {"Hubbub": partial(ours, epsilon), "OpenDP, Laplace on each bin": partial(each, float(epsilon))}
        yield Task(f"{len(marks):,} ranges", f"epsilon {epsilon}", truth, answers)


def hierarchy() -> Iterator[Task]:
    """Counts of 40 counties in 8 regions by 10 ages, and of the regions: all sums agree with us."""
    from hubbub.kinds.cube.request import KIND as CUBE

    numbers = np.random.default_rng(9)
    county, age = numbers.integers(0, 40, 200_000), numbers.integers(0, 10, 200_000)
    rows = pa.table({"county": county, "age": age})
    fine = np.bincount(county * 10 + age, minlength=400).astype(np.float64)
    coarse, single = fine.reshape(40, 10).sum(axis=1), fine.reshape(40, 10).sum(axis=0)
    truth = np.concatenate([fine, coarse, single])

    def ours() -> Numbers:
        from hubbub.engines.opening import open_source
        from hubbub.noise.source import SystemSource
        from hubbub.release import run

        spec = CUBE.ask(by=["county:0..40:1", "age:0..10:1"], epsilon=1)
        found = run(spec, open_source(rows), SystemSource())
        sheets = [pa.Table.from_batches(sheet.batches(), sheet.schema) for sheet in found.result.sheets()]
        return np.concatenate([estimates(each) for each in sheets])

    yield Task(
        "county by age, counties, ages",
        "epsilon 1",
        truth,
        {"Hubbub": ours, "OpenDP, Laplace on each table": lambda: opendp_laplace(truth, 3, 1)},
    )


# Marginals


def tables(adult: list[Path]) -> Iterator[tuple[str, pa.Table]]:
    """Codes of people in columns: the census table, or made-up people of its shape, and two larger ones."""
    yield ("the census table Adult", census(adult)) if adult else ("48,842 made-up people", made_up(48_842, SIZES))
    for people, sizes, words in MADE_UP:
        yield f"{people:,} made-up people, {words}", made_up(people, sizes)


def census(files: list[Path]) -> pa.Table:
    read = [parquet.read_table(each, columns=list(COLUMNS)) for each in files]
    values = [[value for each in read for value in each[name].to_pylist()] for name in COLUMNS]
    labels = [sorted(set(each)) for each in values]
    found = {name: np.searchsorted(known, each) for name, known, each in zip(COLUMNS, labels, values, strict=True)}
    return pa.table(found).replace_schema_metadata({"sizes": json.dumps([len(each) for each in labels])})


def made_up(people: int, sizes: Sequence[int]) -> pa.Table:
    """People whose columns depend on one hidden kind."""
    numbers = np.random.default_rng(7)
    kind = numbers.integers(0, 6, people)
    found = {
        f"c{i}": (np.minimum(numbers.geometric(0.3, people) - 1, size - 1) + kind) % size
        for i, size in enumerate(sizes)
    }
    return pa.table(found).replace_schema_metadata({"sizes": json.dumps(list(sizes))})


def cells(codes: pa.Table, sizes: Sequence[int], of: Sequence[tuple[int, ...]]) -> Numbers:
    """Every count of every table of the workload, one after the other."""
    columns, found = [each.to_numpy() for each in codes.columns], []
    for table in of:
        shape = [sizes[i] for i in table]
        at = np.ravel_multi_index([columns[i] for i in table], shape)
        found.append(np.bincount(at, minlength=int(np.prod(shape))))
    return np.concatenate(found).astype(np.float64)


def marginals(codes: pa.Table, given: argparse.Namespace) -> Iterator[Task]:
    sizes: list[int] = json.loads((codes.schema.metadata or {})[b"sizes"])
    peers = of_synthesizers(codes, sizes) if given.synthesizers else {}
    for width, epsilon, delta in ((2, "1", "1e-9"), (3, "1", "1e-9"), (2, "0.1", "1e-9"), (3, "0.1", "1e-9")):
        workload = list(combinations(range(len(sizes)), width))
        truth = cells(codes, sizes, workload)
        asked = {"class": f"marginals:{width}", "epsilon": epsilon}

        def sampled(
            peer: Callable[[str, str], pa.Table], epsilon: str, delta: str, workload: list[tuple[int, ...]]
        ) -> Numbers:
            return cells(peer(epsilon, delta), sizes, workload)

        number = len(workload)
        yield Task(
            f"{number} {width}-way tables, {len(truth):,} cells",
            f"epsilon {epsilon}, delta {delta}",
            truth,
            {
                "Hubbub": partial(answers, codes, sizes, {**asked, "delta": delta}),
                "Hubbub, no delta": partial(answers, codes, sizes, {**asked, "method": "split-tables"}),
                "OpenDP, Laplace on each table": partial(opendp_laplace, truth, number, float(epsilon)),
                "OpenDP, Gaussian on each table": partial(
                    opendp_gaussian, truth, sqrt(number), float(epsilon), float(delta)
                ),
                **{who: partial(sampled, peer, epsilon, delta, workload) for who, peer in peers.items()},
            },
        )


def answers(codes: pa.Table, sizes: Sequence[int], asked: dict[str, str]) -> Numbers:
    """The published cells of a workload of marginals, table by table."""
    from hubbub.engines.opening import open_source
    from hubbub.kinds.queries.request import KIND as QUERIES
    from hubbub.noise.source import SystemSource
    from hubbub.release import run

    columns = [f"{name}:0..{size}:1" for name, size in zip(codes.column_names, sizes, strict=True)]
    found = run(QUERIES.ask(columns=columns, **asked), open_source(codes), SystemSource())
    listed = [sheet for sheet in found.result.sheets() if "estimate" in sheet.schema.names]
    if not listed:
        told: Any = found
        every = map(told.spec.queries.at, range(told.spec.queries.number))
        return np.array([float(told.result.answer_to(each).estimate) for each in every])
    said = listed[-1]
    return estimates(pa.Table.from_batches(said.batches(), said.schema))


def of_synthesizers(codes: pa.Table, sizes: Sequence[int]) -> dict[str, Callable[[str, str], pa.Table]]:
    """Rows of SmartNoise's synthesizers; one set of rows answers every workload of a promise."""
    kept: dict[tuple[str, str], pa.Table] = {}

    def rows(name: str) -> Callable[[str, str], pa.Table]:
        def made(epsilon: str, delta: str) -> pa.Table:
            if (name, epsilon) not in kept:
                with tempfile.TemporaryDirectory() as folder:
                    parquet.write_table(codes, f"{folder}/codes.parquet")
                    words = [name, epsilon, delta, f"{folder}/codes.parquet", f"{folder}/rows.parquet"]
                    command = [environment("synthesizers"), "-m", "benchmarks.utility_peers", *words]
                    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=PATIENCE)
                    kept[name, epsilon] = parquet.read_table(f"{folder}/rows.parquet")
            return kept[name, epsilon]

        return made

    return {f"SmartNoise, {name.upper()}": rows(name) for name in ("mst", "aim", "mwem")}


if __name__ == "__main__":
    main()
