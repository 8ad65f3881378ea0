"""Millbrook, a town that does not exist, and the salary table that it publishes.

Its 40,000 residents are invented, the same every time. Who works there works in one of eight departments, the smallest
of which is a ferry with seven people; 100 managers, some in every other department, all earn between 210,000 and
220,000, where nobody else does. So there are people to protect, and we may tell here how they fared.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from hubbub.certificate.certificate import about
from hubbub.errors import HubbubError, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.opening import open as open_table
from hubbub.protocol.release import Release
from hubbub.publication.signed_files import published, remove
from hubbub.release import save
from hubbub.runtime.frozen import dataclass

KEY: Final = "publisher.key"
DATASETS: Final = ("millbrook", "friends")
"""What the ledger of a demo is about."""

RESIDENTS: Final = 40_000
DEPARTMENTS: Final = {  # name: people, of whom managers, and the middle salary
    "Schools": (11_000, 19, 47_000),
    "Hospital": (10_000, 19, 58_000),
    "Mill": (8_200, 19, 41_000),
    "Town Hall": (4_000, 17, 52_000),
    "Police": (2_700, 14, 61_000),
    "Roads": (2_200, 9, 44_000),
    "Library": (593, 3, 39_000),
    "Ferry": (7, 0, 36_000),
}
MANAGERS: Final = sum(managers for _, managers, _ in DEPARTMENTS.values())
MANAGERS_EARN: Final = (210_000, 220_000)
OTHERS_EARN: Final = (14_000, 199_900)
FERRY: Final = DEPARTMENTS["Ferry"][0]

BY: Final = (f"department={','.join(DEPARTMENTS)},null", "salary:0..300000:10000,null")
CROWD: Final = 20
SAMPLE: Final = "0.2"

_SEED: Final = 1746  # invented people, the same every time
_TODAY: Final = np.datetime64("2025-12-31")
_NO_ANSWER: Final = 0.005  # the share of missing salaries and ages

Ints = NDArray[np.int64]


def people() -> pa.Table:
    """Every resident, one row each: resident, department, salary, age, hired. Who has no job has no department."""
    rng = np.random.default_rng(_SEED)
    names, managers, salaries = _jobs(rng)
    working = np.array([name is not None for name in names])
    ages = np.where(working, rng.integers(19, 68, RESIDENTS), _idle_ages(rng))
    years = np.clip(rng.geometric(0.12, RESIDENTS) - 1, 0, np.maximum(ages - 19, 0))  # since they were hired
    days = (years * 365 + rng.integers(0, 365, RESIDENTS)).astype("timedelta64[D]")
    unknown = rng.random(RESIDENTS) < _NO_ANSWER
    order = rng.permutation(RESIDENTS)
    table = pa.table(
        {
            "department": pa.array(names, pa.string()),
            "salary": pa.array(salaries, mask=~working | (unknown & ~managers)),
            "age": pa.array(ages, mask=rng.random(RESIDENTS) < _NO_ANSWER),
            "hired": pa.array(_TODAY - days, pa.date32(), mask=~working),
        }
    ).take(order)
    return table.add_column(0, "resident", pa.array(1 + np.arange(RESIDENTS)))


def _jobs(rng: np.random.Generator) -> tuple[list[str | None], NDArray[np.bool_], Ints]:
    """Departments, who is a manager, and salaries; those without a job come last."""
    names: list[str | None] = []
    managers, salaries = np.zeros(RESIDENTS, dtype=bool), np.zeros(RESIDENTS, dtype=np.int64)
    for name, (size, heads, middle) in DEPARTMENTS.items():
        start = len(names)
        names += [name] * size
        managers[start : start + heads] = True
        drawn = middle * np.exp(rng.normal(0, 0.32, size))
        salaries[start : start + size] = np.clip(drawn, *OTHERS_EARN).round(-2)
    low, high = MANAGERS_EARN
    salaries[managers] = rng.integers(low, high, MANAGERS)
    return names + [None] * (RESIDENTS - len(names)), managers, salaries


def _idle_ages(rng: np.random.Generator) -> Ints:
    """Children and the retired."""
    return np.where(rng.random(RESIDENTS) < 0.6, rng.integers(0, 20, RESIDENTS), rng.integers(64, 98, RESIDENTS))


@dataclass(frozen=True, slots=True)
class Story:
    """What Millbrook published, and where it is."""

    release: Release
    files: dict[str, str]  # table, release, certificate, report

    @property
    def counts(self) -> Any:
        """What was published: the counts of a histogram."""
        return self.release.result

    @property
    def visible_bins(self) -> int:
        return int(self.counts.visible.sum())

    def largest(self, most: int) -> list[tuple[tuple[str, ...], int, int, int]]:
        """(labels, published number, interval) of the largest published numbers."""
        counts = self.counts
        visible = np.flatnonzero(counts.visible)
        first = visible[np.argsort(-counts.published.values[visible], kind="stable")[:most]]
        names = [tuple("(missing)" if text is None else text for text in texts) for texts in counts.labels(first)]
        values, low, high = (array[first].tolist() for array in (counts.published.values, counts.low, counts.high))
        return list(zip(names, values, low, high, strict=True))

    def as_json(self) -> dict[str, Any]:
        """Where the files are, and the numbers that may be told."""
        return {
            **self.files,
            **self.release.result.facts(),
            "guarantees": [about(step.conclusion, step.people) for step in self.release.promises],
        }


QUESTIONS: Final = """\
zero_knowledge = 0.5
rows = 1000
people = 40000

[[question]]
name = "pensioners"
kind = "fraction"
where = "age >= 65"

[[question]]
name = "salaries"
kind = "mean"
of = "salary:0..300000:1000"
by = ["department=Police,Fire,Schools,other"]
share = 4

[[question]]
name = "median-age"
kind = "quantile"
of = "age:0..110:1"
"""
"""Three questions to one secret sample, for ``hubbub release questions``."""

PUBLICATION: Final = """\
ledger = "ledger/ledger.db"
out = "published"

[datasets.millbrook]
file = "millbrook.parquet"
person = "resident"
epsilon = 1                      # shared by the releases below

[[release]]
name = "ages"
kind = "histogram"
by = ["age:0..100:10,null"]
title = "Residents by age"

[[release]]
name = "salaries"
kind = "mean"
of = "salary:0..300000:1000"
by = ["department=Schools,Hospital,Mill,Police,null,other"]
title = "Average salary"
"""
"""Two releases that share an epsilon, for ``hubbub run``."""


def check_folder(folder: Path) -> None:
    """Refuse a folder with anything in it but an earlier demo: its files are written over, and its ledger begins anew.

    Guarantee: returns only for an empty folder, or one whose `publisher.key` is a key of the ledger in it, where that
    ledger knows no people but the invented ones and nothing else lies beside it.
    """
    if any(folder.iterdir()) and not _is_a_demo(folder):
        raise WrongUse(
            f"`out` must be a new or an empty folder, or one that hubbub demo made and nobody used for other data, not "
            f"{str(folder)!r}; choose another"
        )


def _is_a_demo(folder: Path) -> bool:
    books = folder / "ledger"
    try:
        if books.is_symlink() or not all(each.name.startswith("ledger.db") for each in books.iterdir()):
            return False
        if not (books / "ledger.db").is_file():
            return False
        ledger = Ledger(books / "ledger.db")
        own = (folder / KEY).read_text(encoding="ascii").strip() in ledger.public_keys()
        return own and {entry.dataset for entry in ledger.entries()} <= {"", *DATASETS}
    except (OSError, ValueError, HubbubError):
        return False


def publish(folder: Path) -> Story:
    """Write the table of residents into a folder that exists, and release it as anybody would.

    Its ledger is a new one each time, in that folder: nobody lives in Millbrook, and the reader's own ledger is not for
    that.
    """
    check_folder(folder)
    table, books = folder / "millbrook.parquet", folder / "ledger"
    for place in (folder, folder / "network"):  # of an earlier run
        remove(place, published(place, Ledger(books / "ledger.db")))
    shutil.rmtree(books, ignore_errors=True)
    ledger = Ledger(books / "ledger.db")
    ledger.new()
    parquet.write_table(people(), table)
    (folder / "questions.toml").write_text(QUESTIONS, encoding="utf-8")
    (folder / "hubbub.toml").write_text(PUBLICATION, encoding="utf-8")
    (folder / KEY).write_text(f"{ledger.public_key()}\n", encoding="ascii")  # for those who check
    town = open_table(table, person="resident", ledger=books / "ledger.db")
    made = town.histogram(list(BY), crowd=CROWD, sample=SAMPLE, scale_up=True)
    return Story(made, {"table": str(table), **save(made, folder)})


def try_next(folder: Path) -> list[str]:
    """Two more releases, which may follow the first: one draws a fresh secret sample, one adds noise to every count."""
    start = f"hubbub release histogram {shlex.quote(str(folder / 'millbrook.parquet'))} --person resident"
    options = {
        "departments": f"--by department --crowd {CROWD} --sample {SAMPLE}",
        "ages": "--by age:0..100:10,null --epsilon 1",
    }
    books = shlex.quote(str(folder / "ledger" / "ledger.db"))
    return [
        f"{start} {arguments} --ledger {books} --out {shlex.quote(str(folder / name))}"
        for name, arguments in options.items()
    ]
