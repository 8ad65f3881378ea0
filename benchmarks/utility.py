"""Error at the same promise, beside the peers: rows of people with many rows, marginals, ranges, totals, deviations.

Every number is the root mean square error over all published numbers and all releases, in the unit of the row. Peers
get the same exact numbers and the same bounds, and choose their own noise for the same promise. Nobody's noise is
seeded; made-up people are the same in each run.

``python -m benchmarks.utility [--tables FOLDER] [--keep FOLDER] [--only WORDS] [--peers] [--large] [--write]``.
FOLDER of tables has Adult and the Uber rides; without it their parts use made-up people. What is measured is kept in
out/utility, line by line, and a later run measures only what is missing there; ``--write`` writes docs/utility.md from
it, with ``--only`` that section alone. OpenDP is part of the environment of ``make bench``; SmartNoise (MST, AIM, MWEM) and Tumult have environments of
their own, and a peer that is not there, or did not end in PATIENCE seconds of CPU time, is said to be missing.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from math import sqrt
from os import cpu_count, getloadavg
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks import utility_tasks as of
from benchmarks.utility_tasks import Answer, MissingPeerError, Published, Task
from benchmarks.visits import COST, ROWS_OF_A_PERSON, STAY

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "utility.md"
MARK: Final = "<!-- written by benchmarks.utility -->"
PEOPLE: Final = 4_000
LARGE: Final = 400_000
RUNS: Final = 200


@dataclass(frozen=True, slots=True)
class Part:
    """A section of the page: what was measured, in words, and its tasks."""

    title: str
    words: str
    tasks: Callable[[], Iterable[Task]]


@dataclass(slots=True)
class Kept:
    """What was measured so far, in a file of lines; in memory alone without a folder."""

    folder: Path | None
    rows: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.folder is not None and self.file.exists():
            for line in self.file.read_text().splitlines():
                self._put(json.loads(line))

    @property
    def file(self) -> Path:
        assert self.folder is not None
        return self.folder / "results.jsonl"

    def _put(self, row: dict[str, Any]) -> None:
        self.rows[row["part"], row["task"], row["promise"], row["who"]] = row

    def add(self, row: dict[str, Any]) -> None:
        self._put(row)
        print(json.dumps(row), flush=True)
        if self.folder is not None:
            with self.file.open("a") as file:
                file.write(json.dumps(row) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=Path, help="a folder with adult_*.parquet and uber_nyc_apr2014.parquet")
    parser.add_argument("--keep", type=Path, help="where results are kept; out/utility with --write")
    parser.add_argument("--only", default="", help="a word of the titles of the parts to measure")
    parser.add_argument("--peers", action="store_true", help="Tumult, MST, AIM and MWEM too: minutes each")
    parser.add_argument("--large", action="store_true", help=f"the visits of {LARGE:,} patients too, once")
    parser.add_argument("--write", action="store_true", help="write docs/utility.md")
    given = parser.parse_args()
    folder = given.keep or (ROOT / "out" / "utility" if given.write or given.peers else None)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    kept = Kept(folder)
    every = list(parts(given, folder))
    for part in every:
        if given.only.lower() in part.title.lower():
            measure(part, kept)
    if given.write and given.only:
        for part in every:
            if given.only.lower() in part.title.lower():
                PAGE.write_text(with_section(PAGE.read_text(), part, kept))
    elif given.write:
        text = PAGE.read_text().partition(MARK)[0]
        PAGE.write_text("\n".join([f"{text}{MARK}", "", *page(every, kept)]).rstrip() + "\n")


def measure(part: Part, kept: Kept) -> None:
    """Every number of a part that is not there yet."""
    print(f"\n{part.title}", file=sys.stderr, flush=True)
    for task in part.tasks():
        for who, answer in task.answers.items():
            if "error" in kept.rows.get((part.title, task.name, task.promise, who), {}):
                continue
            row = {"benchmark": "utility", "part": part.title, "task": task.name, "promise": task.promise, "who": who}
            runs = 1 if who == "Tumult" or who.startswith("SmartNoise") else max(1, round(RUNS * task.share))
            try:
                found = measured(answer, task, runs)
            except (MissingPeerError, ImportError) as why:
                found = {"missing": str(why) if isinstance(why, MissingPeerError) else "not installed"}
            proved = task.proved if who == "Hubbub" else None
            when = {"date": date.today().isoformat(), "load": round(getloadavg()[0], 1)}
            kept.add({**row, "proved": proved, **found, **when})


def measured(answer: Answer, task: Task, runs: int) -> dict[str, Any]:
    """The root mean square error, how many intervals hold, and the CPU time of a release."""
    squares, held, began, truth = [], [], used(), task.truth
    for _ in range(runs):
        said = answer()
        if isinstance(said, float):
            return {"error": said, "runs": 0}
        said = said if isinstance(said, Published) else Published(said)
        off = np.atleast_2d(said.estimates - truth)  # by releases and numbers
        squares.append(float(np.average((off**2).mean(axis=0), weights=task.weights)))
        if said.low is not None and said.high is not None:
            held.append(float(np.mean((said.low <= truth) & (truth <= said.high))))
    right = float(np.mean(held)) if held else None
    error = sqrt(float(np.mean(squares)))
    return {"error": error, "runs": runs, "held": right, "cpu": round((used() - began) / runs, 3)}


def used() -> float:
    """Seconds of CPU time of this process and of those that ended in it."""
    return sum(
        found.ru_utime + found.ru_stime
        for found in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


# The page


def page(every: Sequence[Part], kept: Kept) -> Iterator[str]:
    """The tables, from what was kept."""
    dates = sorted({row["date"] for row in kept.rows.values()})
    if not dates:
        return
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    yield f"Measured on {when} by `python -m benchmarks.utility`. Peers: {', '.join(versions())}."
    yield ""
    for part in every:
        rows = [row for row in kept.rows.values() if row["part"] == part.title]
        if rows:
            yield from section(part, rows)


def with_section(text: str, part: Part, kept: Kept) -> str:
    """The page with one section written anew, or at its end, and the others as they were."""
    before, title, rest = text.partition(f"## {part.title}\n")
    _, following, after = rest.partition("\n## ")
    rows = [row for row in kept.rows.values() if row["part"] == part.title]
    before = before if title else f"{before.rstrip()}\n\n"
    return before + "\n".join(section(part, rows)).rstrip() + "\n" + (f"\n## {after}" if following else "")


def versions() -> Iterator[str]:
    """The versions that were run, from the lists that install them."""
    names = (
        ("constraints.txt", "opendp", "OpenDP"),
        ("benchmarks/spark-peers.txt", "tmlt.analytics", "Tumult Analytics"),
        ("benchmarks/utility-peers.txt", "smartnoise-synth", "SmartNoise synthesizers"),
    )
    for file, package, name in names:
        found = re.search(rf"^{re.escape(package)}==(\S+)", (ROOT / file).read_text(), re.MULTILINE)
        assert found is not None, package
        yield f"{name} {found[1]}"


def section(part: Part, rows: list[dict[str, Any]]) -> Iterator[str]:
    """A row for each task, a column for each who published anything of it; the least error is bold."""
    people = list(dict.fromkeys(row["who"] for row in rows if "error" in row))
    proved, held = any(row["proved"] for row in rows), any(row.get("held") is not None for row in rows)
    names = [who.removeprefix("SmartNoise ") for who in people]
    head = ["what", "promise", *names, *(["our theory"] if proved else []), *(["our intervals hold"] if held else [])]
    yield from (f"## {part.title}", "", part.words, "", f"| {' | '.join(head)} |", "|---" * len(head) + "|")
    for name, promise in dict.fromkeys((row["task"], row["promise"]) for row in rows):
        here = {row["who"]: row for row in rows if (row["task"], row["promise"]) == (name, promise)}
        least = min((row["error"] for row in here.values() if "error" in row), default=0.0)
        ours = [row for row in here.values() if row["proved"]]
        right = [row["held"] for row in here.values() if row.get("held") is not None]
        line = [name, promise, *(told(here.get(who), least) for who in people)]
        line += [digits(ours[0]["proved"]) if ours else ""] if proved else []
        line += [f"{min(right) * 100:.1f} %" if right else ""] if held else []
        yield f"| {' | '.join(line)} |"
    yield ""
    loads = [row["load"] for row in rows if "load" in row]
    if loads:
        busy = f"at a load of {min(loads):g} to {max(loads):g} on {cpu_count()} cores"
        yield from (f"Measured on {max(row['date'] for row in rows)}, {busy}.", "")
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if "missing" in row:
            where = reasons.setdefault((row["who"], row["missing"]), [])
            where += [row["promise"]] if row["promise"] not in where else []
    for (who, why), where in reasons.items():
        yield from (f"Missing: {who} at {' and at '.join(where)}: {why}.", "")


def told(row: dict[str, Any] | None, least: float) -> str:
    if row is None:
        return ""
    if "missing" in row:
        return "missing"
    return f"**{digits(row['error'])}**" if row["error"] <= 1.05 * least else digits(row["error"])


def digits(value: float) -> str:
    """Three significant digits, with separators."""
    return f"{value:,.0f}" if value >= 1000 else np.format_float_positional(value, 3, fractional=False, trim="-")


def parts(given: argparse.Namespace, folder: Path | None) -> Iterator[Part]:
    bounds = f"At most {ROWS_OF_A_PERSON} visits of a patient count, and no patient has more"
    yield Part(
        f"Visits of {PEOPLE:,} patients",
        f"A made-up hospital with {PEOPLE:,} patients of 5 to {ROWS_OF_A_PERSON} visits each. {bounds}. A visit costs "
        f"0 to {COST:,} and lasts 0 to {STAY} days; both are declared. The promise is to a patient with all visits. "
        f"{RUNS} releases each, {5 * RUNS:,} of totals, mean and share. OpenDP and Tumult get the same bounds. Tumult's "
        f"{of.TUMULT_RUNS} releases are one query on as many copies of the table, each with patients of its own; its "
        "percentile may be a fraction of a day. OpenDP's mean and share are two sums at half of epsilon each; the sum "
        "of its mean is centred in the range. `Own cap` is our default for a sum: a share of epsilon chooses the most "
        "that a patient counts with. Errors of capped totals include what is cut.",
        partial(of.events, PEOPLE, folder if given.peers else None),
    )
    if given.large:
        yield Part(
            f"Visits of {LARGE:,} patients, once",
            f"The same hospital with {LARGE:,} patients, about 5 million visits. One release each, so the error of a "
            "single number is one draw. The theory is for the same bounds.",
            partial(of.large, LARGE),
        )
    yield Part(
        "Totals with heavy tails",
        f"One amount per person: log-normal, with a mean of 3 and a deviation of 1.2 of its logarithm. The declared "
        f"maximum is {of.HIGHEST:,}. The error is a share of the total; {RUNS} releases each, of as many made-up tables, and "
        f"{RUNS // 5} for 100,000 people. "
        "Ours chooses a cap in private; in layers is what `--cap layers` does, and our theory, like our intervals, is of that. OpenDP adds noise "
        "for the maximum, or first chooses a cap with a fifth of epsilon.",
        of.heavy_tails,
    )
    yield Part(
        "Sums and standard deviations",
        f"One row per person, add or remove one. Made-up people have whole numbers from 0 to 100; people of the census "
        f"table Adult have hours of work in a week, 0 to {of.HOURS}. OpenDP's deviation is a count, a sum and a sum of "
        "squares at a third of epsilon each, from 0 or from the middle of the range.",
        partial(of.amounts, given.tables),
    )
    yield Part(
        f"Ranges of {of.BINS:,} bins",
        f"The number of people in {of.RANGES:,} random ranges of one column with {of.BINS:,} bins; 200,000 made-up people. "
        "OpenDP's tree has the branches that it advises for that many people.",
        of.ranges,
    )
    yield Part(
        "The same number every period",
        "The error of the last running total, which is the largest. Ours follows from the formula in `hubbub series plan`. "
        "The way that it advises stands in the first column. An even split has noise on each total, and splits the promise "
        "evenly among them; the better one of geometric and Gaussian noise stands here. OpenDP adds noise to the number of "
        f"each period, and the noisy numbers are added up; 2,000 draws. Its tree has the branches that it advises; {of.SERIES} "
        "draws, the total with the largest error. It needs all periods at once, so it cannot publish month by month. "
        "Increments and blocks of ours, Laplace noise and the tree need no delta. Where there is none, the tree has less error "
        "at 365 periods than our blocks, whose error is 16.7 for people in one period.",
        of.series,
    )
    yield Part(
        "Regions, counties and ages",
        "Made-up people in 8 regions with 5 counties each, by 10 ages. Published are the 400 cells, the 40 counties "
        "and the 8 regions. Our tables add up exactly.",
        of.hierarchy,
    )
    for name, words, codes in of.tables(given.tables):
        yield Part(
            f"Marginals of {name}",
            f"{words} Error per cell, in people; one row per person. In a row with tables of several widths every table "
            "counts alike. Ours without a delta is `--method split-tables`; OpenDP's Laplace noise needs none either. `As "
            "counts` is our second file, with no cell below 0; its cells are biased. OpenDP adds noise to each table, at "
            "an equal share of the promise.",
            partial(of.marginals, codes, name, folder if given.peers else None),
        )


if __name__ == "__main__":
    main()
