"""Files of ballots, read and written by the format that their ending names, or that somebody names.

=============================  ==============================================================
format                         endings
=============================  ==============================================================
``soc`` ``soi`` ``toc`` ``toi``  PrefLib files with these endings
``blt``                        .blt
``csv``                        .csv: cast-vote records or rankings with counts, or BLT with commas
=============================  ==============================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from hubbub.errors import WrongUse
from hubbub.voting import blt, cast_votes, preflib
from hubbub.voting.ballot_file import BallotFile, text_of
from hubbub.voting.ballots import Ballots
from hubbub.voting.reading import Reading, overvoted, settled

FORMATS: Final = (*preflib.KINDS, "blt", "csv")

_TWO_NUMBERS = re.compile(r"\s*\d+\s*,\s*\d+\s*,?\s*")


def read(
    path: str | Path,
    reading: Reading | None = None,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    candidates: Sequence[str] | None = None,
) -> BallotFile:
    """The ballots of a file, tied ones as they stand. `columns` and `candidates` are for CSV files."""
    rules = reading or Reading()
    kind = (format or Path(path).suffix.removeprefix(".")).lower()
    if kind not in FORMATS:
        raise WrongUse(f"a ballot file is one of {', '.join(FORMATS)}, by its ending or by name; this is none of them")
    if kind != "csv" and (columns or candidates):
        raise WrongUse(f"columns and candidates are named for CSV files alone; a .{kind} file says them itself")
    text = text_of(path)
    if kind in preflib.KINDS:
        return preflib.read(text, kind, rules)
    if kind == "blt":
        return blt.read(text, rules)
    if _TWO_NUMBERS.fullmatch(text.lstrip().splitlines()[0]):
        return blt.read_commas(text, rules)
    return cast_votes.read(text, rules, named=columns, candidates=candidates)


def strict(file: BallotFile) -> BallotFile:
    """The file with every ballot strict, by its rules for overvotes and short ballots."""
    ballots = settled(file.ballots, file.reading.overvotes)
    changed = dict(file.changed)
    if shared := overvoted(file.ballots):
        changed["overvotes"] = changed.get("overvotes", 0) + shared
    if file.reading.truncation == "refuse" and ballots.truncated:
        raise WrongUse(
            f"{ballots.truncated} ballots do not rank all {len(ballots.candidates)} candidates, which the rule "
            "truncation=refuse forbids; choose keep"
        )
    return replace(file, ballots=ballots, changed=changed)


def write(ballots: Ballots, path: str | Path, *, title: str = "") -> None:
    """Write a PrefLib or CSV file, as the ending says. A PrefLib ending must be wide enough for the ballots."""
    kind = Path(path).suffix.removeprefix(".").lower()
    if kind == "csv":
        text = cast_votes.write(ballots)
    elif kind in preflib.KINDS:
        text = preflib.write(ballots, kind, title=title, name=Path(path).name)
    else:
        raise WrongUse(f"ballots are written to {', '.join((*preflib.KINDS, 'csv'))} files, by their ending")
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise WrongUse(f"the ballots cannot be written: {error.strerror or error}; choose another file") from error
