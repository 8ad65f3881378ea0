"""CSV files against Python's csv module: wherever it lies in the buffers, each record is counted for itself.

The buffers are made small, by the one constant that sets them, so that a file of some kilobytes crosses many; the code
that runs is the same. At the end come files of up to 100 MB with the buffers as they are.
"""

from __future__ import annotations

import csv
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hubbub.engines.files import csv_file, csv_records, files
from hubbub.engines.files.files import open_file
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bins import parse
from hubbub.tables.engine import CountQuery

LINE = 256  # bytes of the longest record, in the small: buffers are then of 4,096
TOWNS = (
    "Bath",
    "York",
    "Wells",
    "Ely",
    "St. Ives, Cornwall",
    'The "Wells"',
    "Wells\nnext the Sea",
    "Caf\u00e9",
    "x" * 40,
)
HEADER = ("id", "town", "note")
LEFT_OUT = "left out"


@contextmanager
def lines_of(longest: int) -> Iterator[None]:
    """The engine with records of at most so many bytes, and buffers for sixteen of them; a cell may run over any number
    of lines, so that the longest ones can be told by their bytes alone."""
    modules = (csv_file, csv_records, files)
    for module in modules:
        module.LONGEST = longest  # type: ignore[attr-defined, misc]
    most, csv_records.MOST_LINES = csv_records.MOST_LINES, 1 << 40  # type: ignore[misc]
    try:
        yield
    finally:
        csv_records.MOST_LINES = most  # type: ignore[misc]
        for module in modules:
            module.LONGEST = 1 << 21  # type: ignore[attr-defined, misc]


@dataclass(frozen=True)
class Form:
    """How a program writes its CSV."""

    newline: str
    quoting: int
    bom: bool
    last_newline: bool


LINES = Form("\n", csv.QUOTE_MINIMAL, bom=False, last_newline=True)


def form(chance: random.Random) -> Form:
    newline = chance.choice(("\n", "\r\n", "\r"))
    sparing = csv.QUOTE_ALL if newline == "\r" else csv.QUOTE_MINIMAL  # Python's writer leaves a bare \n unquoted there
    return Form(
        newline,
        chance.choice((sparing, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC)),
        chance.random() < 0.3,
        chance.random() < 0.8,
    )


def note(chance: random.Random, longest: int) -> str:
    """A cell that nobody asks for, with everything that could mislead a reader."""
    pieces = ("a", "b c", ",", '"', '""', "\n", "\r\n", "\r", '",', '\n"', " ", "\u00e9", "\0", "0,Bath,\n", "y" * 30)
    text = "".join(chance.choice(pieces) for _ in range(chance.choice((0, 1, 3, 10, 40))))
    return text[: longest // 4]


def records(chance: random.Random, count: int, longest: int) -> list[list[str]]:
    """Records as lists of cells: most as they should be, some too short, too wide, blank, or far too long."""
    made = []
    for i in range(count):
        row = [str(i), chance.choice(TOWNS), note(chance, longest)]
        kind = chance.random()
        if kind < 0.03:
            row = row[:2] if chance.random() < 0.5 else [chance.choice(TOWNS)]
        elif kind < 0.06:
            row += ["more"] * chance.randrange(1, 5)
        elif kind < 0.08:
            row = []
        elif kind < 0.085:  # longer than a record may be, and sometimes than buffers
            row = [
                str(i),
                LEFT_OUT,
                chance.choice(("z", "z\n", 'z"', '\n0,York,"')) * (longest * chance.choice((1, 3, 20, 40))),
            ]
        made.append(row)
    return made


def lines(chance: random.Random, count: int, longest: int) -> list[list[str]]:
    """Records each of which is a line, and no cell of which is quoted: several threads read them."""
    made = []
    for i in range(count):
        row = [str(i), chance.choice(TOWNS[:4]), "y" * chance.choice((0, 1, 3, 10, 40, longest // 4))]
        kind = chance.random()
        made.append(row[: chance.randrange(1, 3)] if kind < 0.05 else row * 2 if kind < 0.1 else row)
    return made


def as_read(rows: list[list[str]], how: Form) -> list[list[str]]:
    """The rows without bare carriage returns, where Python writes them unquoted and then ends a line by them."""
    if how.newline != "\n" or how.quoting != csv.QUOTE_MINIMAL:
        return rows
    return [[cell.replace("\r", "\n") for cell in row] for row in rows]


def written(path: Path, rows: list[list[str]], how: Form) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("\ufeff" if how.bom else "")
        writer = csv.writer(file, lineterminator=how.newline, quoting=how.quoting)  # type: ignore[arg-type]
        writer.writerow(HEADER)
        writer.writerows(rows)
    if not how.last_newline:
        with path.open("rb+") as raw:
            raw.truncate(path.stat().st_size - len(how.newline))
    return path


def by_python(path: Path) -> Counter[str]:
    """How many have each town, by the rules: too short and too long are left out, too wide is not."""
    before = csv.field_size_limit(1 << 30)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            next(reader)
            return Counter(row[1] for row in reader if len(row) >= len(HEADER) and row[1] != LEFT_OUT)
    finally:
        csv.field_size_limit(before)  # it is one for the whole process, and readers of ballots go by it


def by_engine(path: Path) -> Counter[str]:
    counted = open_file(path).count(CountQuery(axes=(parse("town"),)), ScriptedSource())
    return Counter(dict(zip((town or "" for town in counted.found[0]), counted.counts.tolist(), strict=True)))


def moved(one: Counter[str], other: Counter[str]) -> int:
    """By how many people two countings differ."""
    return sum((one - other).values()) + sum((other - one).values())


def check_file(seed: int, folder: Path, longest: int, count: int) -> str | None:
    """Compare one generated file, and its neighbour with one record more; what is wrong, if anything."""
    chance = random.Random(seed)
    by_lines = seed % 4 == 0
    how = replace(LINES, bom=chance.random() < 0.3) if by_lines else form(chance)
    rows = (lines if by_lines else records)(chance, count, longest)
    path = written(folder / "people.csv", as_read(rows, how), how)
    right, found = by_python(path), by_engine(path)
    if right != found:
        return f"seed {seed}: {moved(right, found)} people are counted wrongly ({path.stat().st_size} bytes, {how})"
    one_more = [str(count), "Bath", "y"] if by_lines else [str(count), chance.choice(TOWNS), note(chance, longest)]
    rows.insert(chance.randrange(len(rows) + 1), one_more)
    more = by_engine(written(path, as_read(rows, how), how))
    if moved(found, more) != 1:
        return f"seed {seed}: one record more moved {moved(found, more)} counts ({path.stat().st_size} bytes, {how})"
    return None


def small_files(seeds: range, folder: Path) -> list[str]:
    with lines_of(LINE):
        wrong = (check_file(seed, folder, LINE, random.Random(seed).randrange(1, 300)) for seed in seeds)
        return [words for words in wrong if words]


def large_file(seed: int, folder: Path, megabytes: int, *, by_lines: bool = False) -> str | None:
    """A file with the buffers as they are."""
    chance = random.Random(seed)
    rows = [row for row in (lines if by_lines else records)(chance, 2_000, 1 << 12) if LEFT_OUT not in row]
    size = sum(len(",".join(row)) for row in rows)
    rows = rows * (megabytes * 1_000_000 // size + 1)
    chance.shuffle(rows)
    how = LINES if by_lines else form(chance)
    path = written(folder / "people.csv", as_read(rows, how), how)
    right, found = by_python(path), by_engine(path)
    return None if right == found else f"{megabytes} MB, seed {seed}: {moved(right, found)} people are counted wrongly"


def main() -> None:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        wrong = small_files(range(2_000), Path(folder))
        print(f"2,000 files of some kilobytes in {time.monotonic() - begun:.0f} s", file=sys.stderr)
        for seed, megabytes in enumerate((9, 17, 34, 40, 68, 100)):
            wrong += filter(None, [large_file(seed, Path(folder), megabytes)])
            wrong += filter(None, [large_file(seed, Path(folder), megabytes, by_lines=True)])
        print(f"12 files of 9 to 100 MB, {time.monotonic() - begun:.0f} s in all", file=sys.stderr)
    sys.exit("\n".join(wrong[:20]) or None)


if __name__ == "__main__":
    main()
