"""What a table of ballots published: paths that are shown with their counts, and the official totals beside them.

It holds no total of the sample and no share of what is shown. A path ends with a finalist or exhausted; ballots
of hidden paths are known by their official first choice alone, and what is left of that may be below 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hubbub.kinds.ballots import giveaways
from hubbub.kinds.ballots.noisy_prefixes import STOP
from hubbub.kinds.ballots.round_bounds import RoundTotal, round_totals
from hubbub.kinds.ballots.tally_paths import Path, is_finished
from hubbub.numeric.exact import to_text
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array, texts
from hubbub.voting.count.official import ARROW, BLANK

if TYPE_CHECKING:
    from hubbub.kinds.ballots.spec import PublishedBallots

COLUMNS = ("path", "ends", "count", "low", "high")
FINALIST, EXHAUSTED, STOPS, OPEN = "finalist", "exhausted", "stops", "not told"
MAIN = pa.schema([("path", pa.string()), ("ends", pa.string()), *((name, pa.int64()) for name in COLUMNS[2:])])
_TOTALS = pa.schema(
    [
        ("round", pa.int64()),
        ("candidate", pa.string()),
        *((name, pa.int64()) for name in ("official", "shown", "rest", "low", "high")),
    ]
)


@dataclass(frozen=True, slots=True)
class Row:
    """A path that is shown: its count, and the interval for how many ballots went that way (high None: no end)."""

    path: Path
    count: int
    low: int
    high: int | None


@dataclass(frozen=True, slots=True, eq=False)
class PathTable(Result):
    """The rows of the table, in the order of the official first round."""

    spec: PublishedBallots
    rows: tuple[Row, ...]

    @property
    def visible(self) -> dict[Path, int]:
        return {row.path: row.count for row in self.rows}

    def totals(self) -> tuple[RoundTotal, ...]:
        """The official totals beside what the table comes to; for prefixes the first choices alone."""
        spec = self.spec
        if spec.method == "paths":
            return round_totals(self.visible, spec.official, sample=spec.sample, coverage=spec.coverage)
        rate = 1 if spec.sample is None else spec.sample
        lead = [row for row in self.rows if row.path and (spec.method == "prefix" or len(row.path) == 2)]
        return tuple(
            RoundTotal(
                round=1,
                candidate=name,
                official=total,
                published=round(sum(row.count for row in lead if row.path[0] == name) / rate),
                low=total,
                high=total,
            )
            for name, total in spec.official.rounds[0].totals
        )

    def winner(self) -> str | None:
        """Who has most in the last round, as far as the table says; None if nobody or several have."""
        if self.spec.method != "paths" or not self.rows:
            return None
        first, rate = self.spec.official.first_choices, self.spec.sample or Fraction(1)
        came = {name: Fraction(first[name]) for name in self.spec.official.finalists}
        for row in self.rows:
            if is_finished(row.path, self.spec.official) and row.path[0] != row.path[-1]:
                came[row.path[-1]] += row.count / rate
        best = [name for name, ballots in came.items() if ballots == max(came.values())]
        return best[0] if len(best) == 1 else None

    def sheets(self) -> tuple[Sheet, ...]:
        totals = self.totals()
        return (
            Sheet("release", MAIN, self._batches, len(self.rows)),
            Sheet("round-totals", _TOTALS, lambda: _batch_of(totals), len(totals)),
        )

    def _batches(self) -> Iterator[pa.RecordBatch]:
        numbers: list[list[Any]] = [[getattr(row, name) for row in self.rows] for name in COLUMNS[2:]]
        paths = texts([path_text(row.path) for row in self.rows])
        ways = texts([ends(row.path, self.spec) for row in self.rows])
        yield pa.record_batch([paths, ways, *map(_numbers, numbers)], schema=MAIN)

    def facts(self) -> Mapping[str, Any]:
        spec = self.spec
        noisy = spec.method == "noisy"
        return {
            "paths_shown": len(self.rows),
            "method": spec.method,
            "k": spec.k,
            "sample": None if spec.sample is None else to_text(spec.sample),
            "epsilon": to_text(spec.epsilon) if noisy else None,
            "winner": spec.official.winner,
            "winner_from_table": self.winner(),
            "official_gives_away": giveaways.official_moves(spec.official).as_json(),
            "hidden_moves": giveaways.hidden_moves(self.visible, spec.official).as_json() if self._exact else None,
            "rounds": [
                {name: getattr(each, name) for name in ("round", "candidate", "official", "low", "high")}
                for each in (self.totals() if spec.method == "paths" else ())
            ],
        }

    @property
    def _exact(self) -> bool:
        return self.spec.method == "paths" and self.spec.sample is None

    def sentences(self) -> tuple[str, ...]:
        sentences = [
            f"{len(self.rows):,} {'way is' if len(self.rows) == 1 else 'ways are'} shown. One that had to be hidden is absent, just like one nobody went, "
            "and how many are absent is not told; of ballots on hidden ways the official first choice is all that is "
            "known.",
        ]
        if not self.rows:
            sentences = [
                f"No way is shown, because none has what k = {self.spec.k} asks for. This table is out, and is not drawn "
                "again; at another election a smaller k, as far as the promise allows it, shows more."
            ]
        if self.spec.method == "paths" and self.rows:
            sentences.append(
                f"The official winner is {self.spec.official.winner}. By the table alone "
                + ("nobody is ahead of all others." if self.winner() is None else f"{self.winner()} would be ahead.")
            )
        sentences.append(f"{giveaways.sentence(giveaways.official_moves(self.spec.official))}.")
        if self._exact:
            left = giveaways.hidden_moves(self.visible, self.spec.official)
            sentences.append(
                f"Subtracting these exact counts from the official totals leaves {left.all:,} moves of hidden ballots, "
                f"{left.few:,} of them of fewer than {giveaways.FEW} ballots and {left.single:,} of a single one: "
                "hidden voters are promised that this table adds nothing to what the totals tell who knows all other "
                "ballots, and not that both together hide them."
            )
        return tuple(sentences)

    def display(self, first: int) -> DisplayTable:
        exact = self._exact or (self.spec.method == "prefix" and self.spec.sample is None)
        rows = tuple(
            (
                (path_text(row.path), ends(row.path, self.spec)),
                (f"{row.count:,}", *(() if exact else (_span(row),))),
                False,
            )
            for row in self.rows[:first]
        )
        counted = "with noise" if self.spec.method == "noisy" else "ballots" if exact else "in the sample"
        return DisplayTable(("path", "ends"), (counted, *(() if exact else ("ballots",))), rows, self._notes())

    def _notes(self) -> tuple[str, ...]:
        percent = to_text(100 * self.spec.coverage)
        sentences = []
        if not self._exact:
            sentences.append(f"Each interval holds the number of ballots with a chance of at least {percent} %.")
        if self.spec.method == "paths":
            sentences.append(
                "The file round-totals has every official total with the bounds that this table puts on it"
                + ("." if self._exact else f"; all of them hold together with a chance of at least {percent} %.")
            )
        return tuple(sentences)

    def drawing(self) -> Drawing | None:
        from hubbub.kinds.ballots.giveaways import flow_picture

        return flow_picture(self) if self.spec.method == "paths" else None


def path_text(path: Path) -> str:
    """How a path is written."""
    return ARROW.join(name for name in path if name != STOP) or BLANK


def ends(path: Path, spec: PublishedBallots) -> str:
    """How a path ends: with a finalist, exhausted, where the ballot stops, or it is not told."""
    if spec.method == "paths":
        return FINALIST if is_finished(path, spec.official) else EXHAUSTED
    return STOPS if path and path[-1] == STOP else OPEN


def _span(row: Row) -> str:
    return f"{row.low:,} or more" if row.high is None else f"{row.low:,} to {row.high:,}"


def _numbers(values: list[Any]) -> pa.Array:
    known = np.array([value is not None for value in values], dtype=bool)
    return integer_array(np.array([0 if value is None else value for value in values], dtype=np.int64), known)


def _batch_of(totals: tuple[RoundTotal, ...]) -> Iterator[pa.RecordBatch]:
    rest = [None if each.official is None else each.official - each.published for each in totals]
    numbers = [[getattr(each, name) for each in totals] for name in ("official", "published")]
    ends = [[getattr(each, name) for each in totals] for name in ("low", "high")]
    rounds = _numbers([each.round for each in totals])
    names = texts([each.candidate for each in totals])
    yield pa.record_batch([rounds, names, *map(_numbers, [*numbers, rest, *ends])], schema=_TOTALS)
