"""Files of a table that comes every period, in the order in which they were published: does a hidden number come back?

The rule that holds is one public partition, bins by periods: a number of a period is shown if it is of at least k people, and
hidden for good if not; totals add up what is shown. Whatever departs from it and leaves a trace in the files is found here:
a total that has hidden people in it (totals shown from k on), a number that was hidden and is shown later (held back until k
have gathered), and a number below k.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from hubbub.audit.finding import Depth, Determined, Finding, Game
from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Refuted, Undecided, Verdict
from hubbub.runtime.frozen import dataclass

Key = tuple[str, ...]
NUMBERS: Final = ("increment", "total")
_ENDS: Final = ("_low", "_high")
_MOST_ROWS: Final = 2_000_000
_UNSEEN: Final = (
    "no hidden number comes back in these files; whether people of several periods were counted as one cannot be seen from "
    "numbers alone"
)


@dataclass(frozen=True, slots=True)
class _File:
    """One file: for each bin and period the number of the period and the total, None where hidden."""

    name: str
    keys: tuple[str, ...]
    numbers: Mapping[tuple[str, Key], tuple[int | None, int | None]]


def of_periods(paths: Sequence[str | Path], k: int, *, period: str = "period", count: str = NUMBERS[0]) -> Finding:
    """What the files of all periods give away about numbers that some of them hide.

    Guarantee: each thing that is listed is a number of the files that no rule with one public partition of bins by periods
    publishes. Nothing is proved: a rule may pool people of several periods and leave no trace.
    """
    files = [_read(Path(path), period, count) for path in paths]
    found = [
        each
        for i, file in enumerate(files)
        for each in (
            *_find_small_numbers(file, k),
            *_find_pooled_totals(file),
            *_find_returning_numbers(file, files[:i]),
        )
    ]
    verdict: Verdict = Undecided(_UNSEEN)
    if found:
        first = found[0]
        key = ", ".join(f"{name}={value}" for name, value in first.key)
        verdict = Refuted(
            f"{len(found):,} numbers are told that the rule hides for good",
            (("table", first.table), ("key", key), ("number", f"{first.low}"), ("because", first.because)),
        )
    return Finding(
        game=Game.CROWD_BLENDING,
        depth=Depth.PUBLISHED,
        verdict=verdict,
        claimed=f"numbers of a period below {k} are hidden for good",
        subject=", ".join(file.name for file in files),
        lower_bound=f"{len(found)} numbers" if found else None,
        determined=tuple(found),
        numbers={"files": len(files)},
    )


def _read(path: Path, period: str, count: str) -> _File:
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file)
            names = list(rows.fieldnames or ())
            if period not in names or count not in names:
                raise WrongUse(f"{path.name[:100]!r} has no columns {period} and {count}; say how they are called")
            beside = {f"{name}{end}" for name in (count, NUMBERS[1]) for end in _ENDS}
            keys = tuple(name for name in names if name not in {period, count, NUMBERS[1], *beside})
            found: dict[tuple[str, Key], tuple[int | None, int | None]] = {}
            for row in rows:
                if len(found) >= _MOST_ROWS:
                    raise WrongUse(f"{path.name[:100]!r} has more than {_MOST_ROWS:,} rows; audit fewer bins")
                at = (str(row[period]), tuple(str(row[name]) for name in keys))
                found[at] = _number(row.get(count)), _number(row.get(NUMBERS[1]))
    except (OSError, UnicodeDecodeError, csv.Error):
        raise WrongUse(f"{str(path)[:200]!r} is no CSV file that can be read; check it") from None
    return _File(f"{path.parent.name}/{path.name}", (period, *keys), found)


def _number(text: str | None) -> int | None:
    """A whole number; None for a blank or a mark."""
    try:
        number = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return int(number) if number == int(number) else None


def _describe_number(file: _File, period: str, key: Key, number: int, because: str) -> Determined:
    labels = tuple(zip(file.keys, (period, *key), strict=True))
    return Determined(table=file.name, key=labels, low=number, high=number, because=because)


def _find_small_numbers(file: _File, k: int) -> list[Determined]:
    """Numbers of a period that are shown and too small."""
    return [
        _describe_number(file, period, key, number, f"it is shown, and below {k}")
        for (period, key), (number, _) in file.numbers.items()
        if number is not None and 0 < number < k
    ]


def _find_pooled_totals(file: _File) -> list[Determined]:
    """Totals that are not what the shown numbers add up to: people of hidden periods are in them."""
    found, sums, hidden = [], dict[Key, int](), set[Key]()
    for (period, key), (number, total) in file.numbers.items():
        sums[key] = sums.get(key, 0) + (number or 0)
        if number is None:
            hidden.add(key)
        rest = 0 if total is None else total - sums[key]
        if rest > 0 and key in hidden:
            because = f"the total of {total} has {rest} people of hidden periods in it"
            found.append(_describe_number(file, period, key, rest, because))
    return found


def _find_returning_numbers(file: _File, earlier: Sequence[_File]) -> list[Determined]:
    """Numbers that an earlier file hid."""
    found = []
    for at, (number, _) in file.numbers.items():
        before = next((each for each in earlier if at in each.numbers and each.numbers[at][0] is None), None)
        if number is not None and before is not None:
            found.append(_describe_number(file, *at, number, f"{before.name} hid it, and it is shown now"))
    return found
