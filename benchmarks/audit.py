"""The auditor on everything: planted faults, right mechanisms, every kind of release, false alarms, sizes, peers.

Writes its tables into docs/audit.md, between the marks there, and ends with an error if a fault was missed or a right
mechanism was accused more often than chance allows. ``make audit`` runs it.
"""

from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.yardstick import YARDSTICK
from hubbub import registry
from hubbub.audit import exact, replay
from hubbub.audit.blackbox import Experiment, compare
from hubbub.audit.faults import FAULTS, draw_often
from hubbub.audit.finding import Finding, time_audit
from hubbub.audit.published.inference import of_tables
from hubbub.audit.published.links import Cell, Published
from hubbub.channels.catalogue import channel

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "audit.md"
ADULT: Final = ROOT.parent / "shared" / "data" / "tables" / "adult_train.parquet"
AUDITEES: Final = ROOT / ".venv" / "auditees" / "bin" / "python"

REPEATS: Final = 200
CONFIDENCE: Final = Fraction(99, 100)
RUNS: Final = 5_000
ALARMS: Final = 7  # P(Bin(200, 0.01) > 7) is 0.001

Cells = Sequence[Sequence[object]]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def word(found: Finding) -> str:
    return {"proved": "proved", "refuted": "refuted", "undecided": "not refuted"}[found.word]


def table(headings: Sequence[str], rows: Cells) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "/") for cell in line) + " |" for line in lines)


def written(name: str, text: str) -> None:
    """Put a table between its marks."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    assert found, f"docs/audit.md has no place for {name}"
    PAGE.write_text(f"{before}{begin}{text}\n{end}{after}", encoding="utf-8")


# --- faults and twins -------------------------------------------------------------------------------------------------


def faults() -> list[str]:
    """Every planted fault beside its twin; what the auditor got wrong."""
    wrong, rows = [], []
    for fault in FAULTS:
        bad, good = time_audit(fault.wrong), time_audit(fault.right)
        size = bad.numbers.get("runs")
        seen = f"{bad.depth.value}, {size:,} runs" if size else bad.depth.value
        rows.append(
            [fault.name, fault.what, seen, word(bad), f"{bad.seconds:.2f} s", word(good), f"{good.seconds:.2f} s"]
        )
        wrong += [f"missed: {fault.name}"] * (not bad.is_refuted) + [f"accused: {fault.name}"] * good.is_refuted
        say(f"{fault.name}: {word(bad)}; without it: {word(good)}")
    headings = ["planted fault", "", "depth", "the auditor", "in", "its right twin", "in"]
    written("faults", table(headings, rows))
    return wrong


def right_ones() -> list[str]:
    """Every kind of release with its cases, exact laws and replay."""
    cases = importlib.import_module("tests.conformance.test_kinds").CASES
    registry._WHERE["toy"] = "tests.conformance.toy"
    wrong, rows = [], []
    for name, case in cases.items():
        fewer, more = case.opened(case.fewer), case.opened(case.more)
        spec = case.spec(fewer.columns())
        begun = time.monotonic()
        laws = exact.of_spec(spec)
        frozen = replay.of_spec(spec, fewer, more, declared=case.declared, distance=case.distance)
        told = ", ".join(dict.fromkeys(word(each) for each in laws))
        rows.append([name, told, word(frozen), frozen.numbers["draws"], f"{time.monotonic() - begun:.2f} s"])
        wrong += [f"accused: {name}"] * any(each.is_refuted for each in (*laws, frozen))
        say(f"{name}: {told}; replayed: {word(frozen)}")
    written("kinds", table(["release", "exact laws", "replay, one person more", "draws of noise", "in"], rows))
    return wrong


# --- false alarms -----------------------------------------------------------------------------------------------------


def false_alarms() -> list[str]:
    """Mechanisms that are exactly as private as they claim, over and over."""
    rows, wrong = [], []

    def pair(name: str, counts: tuple[int, int], **options: str) -> tuple[Experiment, Experiment]:
        made = channel(name, **options)
        return draw_often(made, counts[0]), draw_often(made, counts[1])

    asked: list[tuple[str, Callable[[], tuple[Experiment, Experiment]], str]] = [
        ("geometric, epsilon 1", lambda: pair("geometric", (7, 8), epsilon="1"), "1"),
        ("geometric, epsilon 0.1", lambda: pair("geometric", (7, 8), epsilon="0.1"), "0.1"),
        ("warped at a crowd of 101, epsilon 1", lambda: pair("warped", (100, 101), curve="1:0.01,101:1"), "1"),
    ]
    for name, make, epsilon in asked:
        begun, alarms = time.monotonic(), 0
        for _ in range(REPEATS):
            one, two = make()
            alarms += compare(one, two, epsilon=epsilon, runs=RUNS, confidence=CONFIDENCE).is_refuted
        rows.append([name, REPEATS, f"{RUNS:,}", alarms, f"{ALARMS} or fewer", f"{time.monotonic() - begun:.0f} s"])
        wrong += [f"{alarms} alarms: {name}"] * (alarms > ALARMS)
        say(f"{name}: {alarms} alarms in {REPEATS}")
    headings = ["mechanism, claimed as it is", "repetitions", "runs each", "alarms", "expected at 1 %", "in"]
    written("alarms", table(headings, rows))
    return wrong


# --- published files --------------------------------------------------------------------------------------------------


def _margin(name: str, counts: np.ndarray[Any, Any], axes: tuple[int, ...], k: int) -> Published:
    others = tuple(i for i in range(counts.ndim) if i not in axes)
    sums = counts.sum(axis=others) if others else counts
    cells = {}
    for at, count in np.ndenumerate(sums):
        shown = int(count)
        key = tuple(f"{'abc'[axis]}{i}" for axis, i in zip(axes, at, strict=True))
        cells[key] = Cell(shown, shown, False) if shown >= k else Cell(0, k - 1, True)
    return Published(name, tuple("abc"[axis] for axis in axes), cells)


def _adult(columns: tuple[str, ...], k: int) -> Published:
    import pyarrow.parquet as parquet

    people = parquet.read_table(ADULT, columns=list(columns))
    values = [sorted(set(people[name].to_pylist())) for name in columns]
    groups = people.group_by(list(columns)).aggregate([([], "count_all")]).to_pylist()
    counts = {tuple(group[name] for name in columns): int(group["count_all"]) for group in groups}
    cells = {}
    for key in product(*values):
        count = counts.get(key, 0)
        cells[key] = Cell(count, count, False) if count >= k else Cell(0, k - 1, True)
    return Published(" x ".join(columns), columns, cells)


def published() -> list[str]:
    """The census margins, and tables of a hundred thousand cells."""
    rng = np.random.default_rng(3)
    many, wide = rng.negative_binomial(1, 0.05, (100, 50, 20)), rng.negative_binomial(1, 0.05, (400, 250))
    asked: list[tuple[str, list[Published]]] = [
        ("invented: a x b x c and a x b", [_margin("abc", many, (0, 1, 2), 10), _margin("ab", many, (0, 1), 10)]),
        (
            "invented: a x b x c, a x b and b x c, which go round",
            [_margin(name, many, axes, 10) for name, axes in (("abc", (0, 1, 2)), ("ab", (0, 1)), ("bc", (1, 2)))],
        ),
        (
            "invented: a x b with both margins",
            [_margin(n, wide, x, 10) for n, x in (("ab", (0, 1)), ("a", (0,)), ("b", (1,)))],
        ),
    ]
    fine = ("education", "occupation", "sex", "race")
    if ADULT.exists():
        asked.insert(
            0, (f"Adult: {' x '.join(fine)}, and without sex", [_adult(fine, 10), _adult((*fine[:2], "race"), 10)])
        )
    rows, wrong = [], []
    for name, tables in asked:
        begun = time.process_time()
        found = of_tables(tables, 10)
        seconds = time.process_time() - begun
        numbers = found.numbers
        told = [name, f"{numbers['cells']:,}", f"{numbers['hidden']:,}", len(found.determined), word(found)]
        rows.append([*told, f"{seconds:.1f} s"])
        wrong += ["fewer than 104 cells of Adult"] * (name.startswith("Adult") and len(found.determined) < 104)
        say(f"{name}: {len(found.determined)} determined, {seconds:.1f} s of CPU")
    headings = ["tables, k = 10", "cells", "hidden", "determined", "that none is", "CPU"]
    written("published", table(headings, rows))
    return wrong


# --- others -----------------------------------------------------------------------------------------------------------


def yardstick() -> list[str]:
    """What other auditors published."""
    rows = []
    for each in YARDSTICK:
        found = time_audit(each.audit)
        size = found.numbers.get("runs")
        depth = f"{found.depth.value}, {size:,} runs" if size else found.depth.value
        rows.append([each.whose, each.what, depth, word(found), f"{found.seconds:.2f} s"])
        say(f"{each.whose}: {word(found)}")
    written("yardstick", table(["published by", "violation", "depth", "the auditor", "in"], rows))
    return []


def peers() -> list[str]:
    """Other people's software, in its own environment; the table stays as it is where that is not there."""
    if not AUDITEES.exists():
        say("the peers are not installed; their table was left as it is")
        return []
    done = subprocess.run(
        [str(AUDITEES), "-m", "benchmarks.audit_peers"],
        cwd=ROOT,
        env={"PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        check=True,
    )
    rows = []
    for line in (line for line in done.stdout.splitlines() if line.startswith("{")):  # some of them print, too
        row = json.loads(line)
        found = {"refuted": "refuted", "undecided": "not refuted"}[row["verdict"]]
        event = row["event"].split(" is ", 1)[-1][:60] if row["verdict"] == "refuted" and row["event"] else ""
        rows.append([row["whose"], row["what"], row["claimed"], found, row["lower_bound"], event, f"{row['runs']:,}"])
    headings = ["software", "mechanism", "claimed", "found", "at least", "by the event: it is", "runs"]
    written("peers", table(headings, rows))
    return []


def main() -> None:
    begun = time.monotonic()
    wrong: list[str] = []
    for part in (faults, right_ones, published, yardstick, peers, false_alarms):
        wrong += part()
    say(f"{math.ceil(time.monotonic() - begun)} s; wrong: {wrong or 'nothing'}")
    sys.exit("; ".join(wrong) or None)


if __name__ == "__main__":
    main()
