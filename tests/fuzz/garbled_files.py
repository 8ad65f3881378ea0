"""Files as people garble them: exports put together, totals, notes, other weights, several names in a cell.

Each case writes an election as a table, garbles it in one way, and reads it. The outcome is a refusal, the very ballots, or
ballots with a word about what is odd that the whole file does not get; other ballots without a word are a fault.

    python -m tests.fuzz.garbled_files 300
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from hubbub.errors import HubbubError
from hubbub.voting.formats.formats import for_rule, read
from hubbub.voting.formats.understanding import understanding_of
from tests.fuzz.ballot_tables import Counts, Table, counted, election, grid, long, ranks, votes, written

REFUSED, SAME, TOLD = "refused", "same", "told"
Garble = Callable[[Table, str, Random], str]


def _row(table: Table, shape: str, random: Random) -> int:
    return random.randrange(votes(table, shape)[0] + 1, len(table))


def _cell(change: Callable[[str, Random], str]) -> Garble:
    """One cell that holds a vote, changed."""

    def garble(table: Table, shape: str, random: Random) -> str:
        below, columns = votes(table, shape)
        full = [(i, j) for i in range(below, len(table)) for j in columns if table[i][j]]
        i, j = random.choice(full)
        table[i][j] = change(table[i][j], random)
        return written(table)

    return garble


def _line(make: Callable[[Table, Random], list[str]], *, end: bool = False) -> Garble:
    """One more row, in the middle or at the end."""

    def garble(table: Table, shape: str, random: Random) -> str:
        at = len(table) if end else _row(table, shape, random)
        return written([*table[:at], make(table, random), *table[at:]])

    return garble


def _column(name: str, cell: Callable[[Random], str]) -> Garble:
    """One more column, behind the others."""

    def garble(table: Table, shape: str, random: Random) -> str:
        return written([[*row, name if i == 0 else cell(random)] for i, row in enumerate(table)])

    return garble


def stack_reordered(table: Table, shape: str, random: Random) -> str:
    """Two exports in one file, the second with its columns in another order."""
    at, order = _row(table, shape, random), random.sample(range(len(table[0])), len(table[0]))
    return written(table[:at]) + written([[row[j] for j in order] for row in [table[0], *table[at:]]])


def mix_separators(table: Table, shape: str, random: Random) -> str:
    at = _row(table, shape, random)
    return written(table[:at]) + written(table[at:]).replace(",", ";")


def double_heading(table: Table, shape: str, random: Random) -> str:
    """Two vote columns of one name."""
    columns = votes(table, shape)[1]
    if len(columns) > 1:
        table[0][columns[1]] = table[0][columns[0]]
    return written(table)


def lose_quote(table: Table, shape: str, random: Random) -> str:
    lines = written(table).split("\n")
    at = _row(table, shape, random)
    lines[at] = lines[at].replace(",", ',"', 1)
    return "\n".join(lines)


def join_rows(table: Table, shape: str, random: Random) -> str:
    """A line break that was lost."""
    lines = written(table).split("\n")
    at = _row(table, shape, random)
    return "\n".join([*lines[:at], lines[at] + (lines[at + 1] if at + 1 < len(lines) else ""), *lines[at + 2 :]])


def _lines(change: Callable[[list[str], Random], list[str]]) -> Garble:
    """The lines of the file, changed."""

    def garble(table: Table, shape: str, random: Random) -> str:
        return "\n".join(change(written(table).rstrip("\n").split("\n"), random)) + "\n"

    return garble


def shift_row(table: Table, shape: str, random: Random) -> str:
    """One row that begins a cell too late, as when somebody inserted a cell."""
    at = _row(table, shape, random)
    return written([*table[:at], ["", *table[at][:-1]], *table[at + 1 :]])


def swap_cells(table: Table, shape: str, random: Random) -> str:
    """The heading of one vote column on another, the cells where they were."""
    columns = votes(table, shape)[1]
    if len(columns) > 1:
        i, j = random.sample(columns, 2)
        order = list(range(len(table[0])))
        order[i], order[j] = j, i
        return written([[row[at] for at in order] for row in table])
    return written(table)


def break_page(table: Table, shape: str, random: Random) -> str:
    """A page number and the heading again."""
    at = _row(table, shape, random)
    return written([*table[:at], ["Page 2 of 3", *[""] * (len(table[0]) - 1)], list(table[0]), *table[at:]])


def repeat_row(table: Table, shape: str, random: Random) -> str:
    at = _row(table, shape, random)
    return written([*table[:at], list(table[at]), *table[at:]])


def transpose(table: Table, shape: str, random: Random) -> str:
    return written([list(column) for column in zip(*table, strict=True)])


def wrap_cells(table: Table, shape: str, random: Random) -> str:
    """Every name with a number or a party beside it in some rows alone."""
    below, columns = votes(table, shape)
    for row in table[below:]:
        if random.random() < 0.4:
            for j in columns:
                row[j] = f"{row[j]} (IND)" if row[j] else ""
    return written(table)


GARBLES: dict[str, Garble] = {
    "a shifted row": shift_row,
    "two columns changed": swap_cells,
    "a page break": break_page,
    "a row twice": repeat_row,
    "transposed": transpose,
    "names with parties": wrap_cells,
    "subtotal": _line(lambda table, random: ["Subtotal Mill", *[str(random.randint(2, 9))] * (len(table[0]) - 1)]),
    "grand total above": lambda table, shape, random: written(
        [table[0], ["TOTAL VOTES", *["31"] * (len(table[0]) - 1)], *table[1:]]
    ),
    "comment": _lines(lambda lines, random: ["# exported", *lines]),
    "comment inside": _lines(lambda lines, random: [*lines[:5], "// counted twice, see memo", *lines[5:]]),
    "cut in a line": _lines(lambda lines, random: [*lines[:-1], lines[-1][: len(lines[-1]) // 2]]),
    "tabs in some lines": _lines(lambda lines, random: [*lines[:9], *(line.replace(",", "\t") for line in lines[9:])]),
    "old line ends": lambda table, shape, random: written(table).replace("\n", "\r"),
    "a null": _cell(lambda text, random: f"{text}\0"),
    "ditto": _cell(lambda text, random: random.choice(['"', "ditto", "same as above", "see above"])),
    "entity": _cell(lambda text, random: f"{text} &amp; Bob Ray"),
    "and": _cell(lambda text, random: f"{text} and Cid Orr"),
    "slash": _cell(lambda text, random: f"{text}/Cid Orr"),
    "tie mark": _cell(lambda text, random: f"={text}"),
    "footnote": _cell(lambda text, random: f"{text}*"),
    "numbered": _cell(lambda text, random: f"1. {text}"),
    "capitals": _cell(lambda text, random: text.upper()),
    "turned name": _cell(lambda text, random: ", ".join(reversed(text.split(" ")))),
    "spaces within": _cell(lambda text, random: text.replace(" ", "  ")),
    "letters of another script": _cell(lambda text, random: text.replace("e", "\u0435").replace("o", "\u043e")),
    "void": _cell(
        lambda text, random: random.choice(["VOID", "spoiled", "rejected", "TEST", "cancelled", "withdrawn"])
    ),
    "times": _column("", lambda random: f"x{random.randint(1, 5)}"),
    "copies": _column("Copies", lambda random: str(random.randint(1, 5))),
    "ballots": _column("# of ballots", lambda random: str(random.randint(1, 5))),
    "n": _column("n", lambda random: str(random.randint(1, 5))),
    "share": _column("Weight %", lambda random: str(random.randint(1, 50))),
    "accepted": _column("Accepted", lambda random: random.choice(["Y", "Y", "Y", "N"])),
    "duplicate mark": _column("Duplicate of", lambda random: random.choice(["", "", "b1"])),
    "contest column": _column("Contest", lambda random: random.choice(["Mayor", "Council"])),
    "stacked": _line(lambda table, random: list(table[0])),
    "stacked in another order": stack_reordered,
    "total": _line(lambda table, random: ["Total", *[str(len(table) - 1)] * (len(table[0]) - 1)], end=True),
    "note": _line(lambda table, random: ["End of report", *[""] * (len(table[0]) - 1)], end=True),
    "rule": _line(lambda table, random: ["---"] * len(table[0])),
    "title": lambda table, shape, random: "Exported by the county on 2026-11-03\n" + written(table),
    "weights": _column("Qty", lambda random: str(random.randint(1, 9))),
    "freq": _column("freq", lambda random: str(random.randint(1, 9))),
    "multiplicity": _column("Multiplicity", lambda random: str(random.randint(1, 9))),
    "papers": _column("Number of papers", lambda random: str(random.randint(1, 9))),
    "status": _column("Status", lambda random: random.choice(["valid", "valid", "VOID", "spoiled", "test"])),
    "error": _cell(lambda text, random: random.choice(["#REF!", "#N/A", "#NAME?", "Err:502"])),
    "several in a cell": _cell(lambda text, random: f"{text}; Bob Ray"),
    "newline in a cell": _cell(lambda text, random: f"{text}\nBob Ray"),
    "comma in a cell": _cell(lambda text, random: f"{text}, Cid Orr"),
    "negative": _cell(lambda text, random: f"-{text}"),
    "decimal": _cell(lambda text, random: f"{text}.5"),
    "question": _cell(lambda text, random: f"{text}?"),
    "struck": _cell(lambda text, random: f"~~{text}~~"),
    "zero width": _cell(lambda text, random: f"{text}\u200b"),
    "mixed separators": mix_separators,
    "one heading twice": double_heading,
    "an open quote": lose_quote,
    "joined rows": join_rows,
}
SHAPES = {"ranks": ranks, "grid": grid, "long": long}


def read_case(text: str, folder: Path) -> tuple[Counts, tuple[str, ...]]:
    path = folder / "b.csv"
    path.write_text(text, encoding="utf-8")
    file = for_rule(read(path), "instant-runoff")
    return file.ballots.counts(), understanding_of(file).oddities


def run(seed: int, cases: int) -> Counter[str]:
    """How many cases ended in which way; AssertionError for ballots that are wrong without a word."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case in range(cases):
            random = Random(f"garbled {seed} {case}")
            ballots, shape = election(random), random.choice(list(SHAPES))
            what = random.choice(list(GARBLES))
            table = SHAPES[shape](ballots, random)
            _, usual = read_case(written(table), folder)
            try:
                counts, remarks = read_case(GARBLES[what](table, shape, random), folder)
            except HubbubError:
                found[REFUSED] += 1
                continue
            told = set(remarks) - set(usual)
            assert counts == counted(ballots) or told, f"seed {seed}, case {case}: {what} in {shape} without a word"
            found[SAME if counts == counted(ballots) else TOLD] += 1
    return found


if __name__ == "__main__":
    print(dict(run(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[1]) if len(sys.argv) > 1 else 300)))
