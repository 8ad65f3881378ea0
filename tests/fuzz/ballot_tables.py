"""Elections as tables in the shapes that offices use, and ways to damage them: for the fuzzer and the property tests."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from random import Random

NAMES = ("Ann Lee", "Bob Ray", "Cid Orr", "Dee Fox", "Eva Moe")
PEOPLE = 24  # ballots of an election: enough that no column looks like another by chance
Table = list[list[str]]
Counts = dict[tuple[str, ...], int]


def election(random: Random) -> list[tuple[str, ...]]:
    """Ballots of which each ranks two candidates or more, and each candidate is somewhere first and elsewhere not."""
    candidates = random.sample(NAMES, random.randint(3, 5))
    ballots = [tuple(random.sample(candidates, random.randint(2, len(candidates)))) for _ in range(PEOPLE)]
    turned = [tuple(candidates[i:] + candidates[:i]) for i in range(len(candidates))]
    return [*ballots, *turned]


def ranks(ballots: list[tuple[str, ...]], random: Random) -> Table:
    """A column per rank, with an id and a precinct."""
    most = max(map(len, ballots))
    head = ["ballot_id", "precinct", *(f"Choice {i}" for i in range(1, most + 1))]
    precinct = ("Mill", "Brook", "Hill", "Dale")
    return [
        head,
        *(
            [f"b-{i:04}x", random.choice(precinct), *ballot, *[""] * (most - len(ballot))]
            for i, ballot in enumerate(ballots)
        ),
    ]


def grid(ballots: list[tuple[str, ...]], random: Random) -> Table:
    """A column per candidate, as forms have it."""
    names = sorted({name for ballot in ballots for name in ballot})
    head = ["Timestamp", *(f"Rank them [{name}]" for name in names)]
    rows = [[str(ballot.index(name) + 1) if name in ballot else "" for name in names] for ballot in ballots]
    return [head, *([f"t{i}", *row] for i, row in enumerate(rows))]


def long(ballots: list[tuple[str, ...]], random: Random) -> Table:
    """A row per ballot and rank."""
    rows = [[f"b{i}", str(r), name] for i, ballot in enumerate(ballots) for r, name in enumerate(ballot, 1)]
    return [["ballot", "rank", "candidate"], *rows]


def dominion(ballots: list[tuple[str, ...]], random: Random) -> Table:
    """A column per candidate and rank, with Dominion's heading."""
    names = sorted({name for ballot in ballots for name in ballot})
    most = max(map(len, ballots))
    columns = [(name, r) for r in range(1, most + 1) for name in names]
    contest = f"Mayor (Number of positions=1, Number of ranks={most})"
    rows = [
        [str(i + 1), "P", *("1" if r <= len(ballot) and ballot[r - 1] == name else "0" for name, r in columns)]
        for i, ballot in enumerate(ballots)
    ]
    return [
        ["2026", "5.19", *[""] * len(columns)],
        ["", "", *[contest] * len(columns)],
        ["", "", *(f"{name}({r})" for name, r in columns)],
        ["CvrNumber", "Precinct", *[""] * len(columns)],
        *rows,
    ]


def clear_ballot(ballots: list[tuple[str, ...]], random: Random) -> Table:
    """The same with Clear Ballot's heading."""
    table = dominion(ballots, random)
    marks = [name.rpartition("(") for name in table[2][2:]]
    head = [f"Choice_{i}_1:Mayor:{r[:-1]}:Vote For 1:{name}:" for i, (name, _, r) in enumerate(marks, 1)]
    return [["RowNumber", "PrecinctID", *head], *table[4:]]


SHAPES: dict[str, Callable[[list[tuple[str, ...]], Random], Table]] = {
    "ranks": ranks,
    "grid": grid,
    "long": long,
    "dominion": dominion,
    "clear ballot": clear_ballot,
}


def votes(table: Table, shape: str) -> tuple[int, list[int]]:
    """The first row of ballots, and the columns that hold votes."""
    below = 4 if shape == "dominion" else 1
    return below, [len(table[0]) - 1] if shape == "long" else list(range(2 if shape != "grid" else 1, len(table[0])))


def changed(table: Table, shape: str, cell: Callable[[int, int], str]) -> Table:
    """The table with its votes written anew."""
    below, columns = votes(table, shape)
    out = [list(row) for row in table]
    for i in range(below, len(out)):
        for j in columns:
            out[i][j] = cell(i, j)
    return out


def ratings(table: Table, shape: str, random: Random) -> Table:
    return changed(table, shape, lambda i, j: str(random.randint(0, 9)))


def rated(table: Table, shape: str, random: Random) -> Table:
    """Ratings from 1 to 9 where the ranks of rows of ballot, rank and candidate were."""
    return [table[0], *([row[0], str(random.randint(1, 9)), row[2]] for row in table[1:])]


def identifiers(table: Table, shape: str, random: Random) -> Table:
    return changed(table, shape, lambda i, j: f"id-{i}-{j}")


def codes(table: Table, shape: str, random: Random) -> Table:
    return changed(table, shape, lambda i, j: str(217_000 + random.randint(0, 4)))


def zeros_and_ones(table: Table, shape: str, random: Random) -> Table:
    return changed(table, shape, lambda i, j: str(random.randint(0, 1)))


def nothing(table: Table, shape: str, random: Random) -> Table:
    return changed(table, shape, lambda i, j: "")


def shifted(table: Table, shape: str, random: Random) -> Table:
    """The heading one column further than the cells, so that what tells ballots apart stands where votes were."""
    below = votes(table, shape)[0]
    return [*table[:below], *([*row[-1:], *row[:-1]] for row in table[below:])]


def headless(table: Table, shape: str, random: Random) -> Table:
    return table[votes(table, shape)[0] :]


def short(table: Table, shape: str, random: Random) -> Table:
    """One row that ends too early."""
    below = votes(table, shape)[0]
    at = random.randrange(below, len(table))
    return [*table[:at], table[at][: random.randint(1, len(table[at]) - 1)], *table[at + 1 :]]


def doubled(table: Table, shape: str, random: Random) -> Table:
    """A row that is there twice."""
    at = random.randrange(votes(table, shape)[0], len(table))
    return [*table[: at + 1], *table[at:]]


DESTROYS = {
    "ranks": (ratings, identifiers, codes, zeros_and_ones, nothing, shifted, headless),
    "long": (ratings, rated, identifiers, codes, zeros_and_ones, nothing, shifted, headless),
    "grid": (ratings, identifiers, codes, zeros_and_ones, nothing, shifted, headless, short),
    **dict.fromkeys(("dominion", "clear ballot"), (ratings, identifiers, codes, nothing, shifted, headless, short)),
}
"""What leaves nothing of an election. Marks of 0 and 1 are what vendors' files hold; a row of `long` may be short."""


def turned(table: Table, random: Random) -> Table:
    """All columns in another order, with their cells."""
    order = random.sample(range(len(table[0])), len(table[0]))
    return [[row[j] for j in order] for row in table]


def widened(table: Table, random: Random) -> Table:
    """More columns, of things about a ballot."""
    at = random.randrange(len(table[0]) + 1)
    what = random.choice(["Batch", "Machine ID", "Notes", "Precinct portion", "", "Ward"])
    return [[*row[:at], what if i == 0 else f"w{i % 3}", *row[at:]] for i, row in enumerate(table)]


def written(table: Table) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(table)
    return out.getvalue()


def counted(ballots: list[tuple[str, ...]]) -> Counts:
    out: Counts = {}
    for ballot in ballots:
        out[ballot] = out.get(ballot, 0) + 1
    return out
