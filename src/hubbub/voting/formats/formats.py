"""Files of ballots, read and written by the format that their ending names, or that somebody names.

===============================  ==============================================================
format                           endings
===============================  ==============================================================
``soc`` ``soi`` ``toc`` ``toi``  PrefLib files with these endings; ``cat`` for categories
``blt``                          .blt
``abif``                         .abif
``csv``                          .csv .tsv: cast-vote records, form exports, rankings with counts, or BLT with commas
``xlsx``                         .xlsx: the first sheet, as a CSV file
``dominion`` ``hart`` ``cdf``    a vendor's records: a folder, or .json .xml .zip
===============================  ==============================================================

Any of them may be packed (.gz) and in UTF-8, UTF-16 or Windows-1252. A .txt file is what its first line looks like.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from hubbub.errors import WrongUse, writing
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats import abif, blt, cast_votes, preflib
from hubbub.voting.formats.ballot_file import RANKS, RULES_FOR, BallotFile, check_units
from hubbub.voting.formats.ballot_text import BallotText, Pieces, TextInHand, open_text
from hubbub.voting.formats.labels import abstaining, label_names, near_equal
from hubbub.voting.formats.reading import Reading, count_overvoted, settle_ties
from hubbub.voting.formats.vendors import contest as vendors_contest
from hubbub.voting.formats.vendors.sheet_rows import other_sheets, sheet_text
from hubbub.voting.recognition import check_rankings, check_voted

FORMATS: Final = (*preflib.ENDINGS, preflib.CATEGORIES, "blt", "abif", "csv", "xlsx", *vendors_contest.KINDS)
_TABLES: Final = ("csv", "xlsx", *vendors_contest.KINDS)  # which may hold several contests

_MANY: Final = 20  # ballots, from which on a name on one of them is told
_MOST_NAMED: Final = 6
_CELL_ERROR: Final = re.compile(r"#(?:REF!|NAME\?|VALUE!|DIV/0!|NUM!|NULL!|SPILL!|CALC!)|Err:\d{3}", re.ASCII)
_TWO_NUMBERS = re.compile(r"\s*\d+\s*,\s*\d+\s*,?\s*")
_DATA_TYPE = re.compile(r"^#\s*DATA TYPE:\s*(\w+)\s*$", re.MULTILINE)
_ELSEWHERE: Final = {
    "xls": "a workbook; save the sheet with the ballots as CSV",
    "ods": "a workbook; save the sheet with the ballots as CSV",
    "parquet": "a table of another kind; save it as CSV",
}


def read(
    path: str | Path,
    reading: Reading | None = None,
    *,
    format: str | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    candidates: Sequence[str] | None = None,
    contest: str | None = None,
    encoding: str | None = None,
    precinct: str | None = None,
    numbers: Collection[int] = (),
) -> BallotFile:
    """The ballots of a file, tied ones as they stand. `columns` and `contest` are for CSV files. `precinct` is the column
    that says where each ballot was cast, or "precinct" or "batch" for the records of a vendor. With `numbers` the
    ballots with these numbers, counted from 1 in the order of the records, are the units.

    Guarantee: the ballots of all precincts together are those of the file.
    """
    rules = reading or Reading()
    kind = _kind(path, format)
    if (columns and kind not in ("csv", "xlsx")) or (contest and kind not in _TABLES):
        raise WrongUse(f"columns and contests are named for CSV files alone; a .{kind} file says them itself")
    if kind == "blt" and candidates:
        raise WrongUse(f"candidates are named for CSV files alone; a .{kind} file says them itself")
    if kind not in (*_TABLES, "abif") and rules.aliases:
        raise WrongUse(f"aliases are for CSV files; a .{kind} file has a list of its candidates, to be corrected there")
    if precinct is not None and kind not in _TABLES:
        raise WrongUse(f"a .{kind} file does not say where ballots were cast; leave out `precinct`")
    seen: tuple[str, ...] = ()

    def read_table(text: Pieces) -> BallotFile:
        return cast_votes.read(
            text, rules, named=columns, candidates=candidates, contest=contest, precinct=precinct, numbers=numbers
        )

    if kind in vendors_contest.KINDS:
        file = vendors_contest.read_vendor(
            Path(path), kind, rules, contest=contest, candidates=candidates, unit=precinct, numbers=numbers
        )
    elif kind == "xlsx":
        sheet, seen = TextInHand(sheet_text(Path(path))), other_sheets(Path(path))
        file = read_table(sheet)
    else:
        text = open_text(path, encoding)
        seen = text.remarks
        kind = _likely_format(text) if kind == "txt" else kind
        file = _read(text, kind, rules, candidates, read_table)
    if len(file.units) != len(set(numbers)) and numbers:
        raise WrongUse(
            "an audit finds records by their number, which this kind of file does not have; give them as CSV"
        )
    if precinct is not None:
        check_units(file)
    names = file.ballots.candidates
    own = abstaining(names) if kind in (*_TABLES, "abif") else label_names(names)
    if wrong := next((name for name in names if _CELL_ERROR.fullmatch(name)), None):
        raise WrongUse(f'a vote says "{wrong}", which is the error of a spreadsheet; mend the cell, then save again')
    once = _marked_once(file.ballots) if kind in ("csv", "xlsx") and not candidates else []
    remarks = (*seen, *file.remarks, *own, *near_equal(names), *once)
    named = {what: [names] if isinstance(names, str) else list(names) for what, names in (columns or {}).items()}
    options = {
        "format": kind,
        "columns": named or None,
        "candidates": list(candidates) if candidates else None,
        "contest": contest,
        "encoding": encoding,
    }
    return replace(file, remarks=remarks, options=options)


def _read(
    text: BallotText,
    kind: str,
    rules: Reading,
    candidates: Sequence[str] | None,
    table: Callable[[Pieces], BallotFile],
) -> BallotFile:
    if kind in preflib.ENDINGS or kind == preflib.CATEGORIES:
        return preflib.read(text.text(), kind, rules, listed=candidates)
    if kind == "blt":
        return blt.read(text.text(), rules)
    if kind == "abif":
        return abif.read(text.text(), rules, candidates=candidates)
    return blt.read_commas(text.text(), rules) if _TWO_NUMBERS.fullmatch(_first_line(text)) else table(text)


def _marked_once(ballots: Ballots) -> list[str]:
    """A remark about those whom one ballot of many marks: it may be a slip of the pen, or several names in a cell."""
    if ballots.voters < _MANY:
        return []
    ranked = ballots.rankings >= 0
    weights = np.repeat(ballots.weights, ranked.sum(axis=1))
    marks = np.bincount(ballots.rankings[ranked], weights=weights, minlength=len(ballots.candidates))
    marks = marks + ballots.tied_weights @ (ballots.levels >= 0)
    once = [f'"{name}"' for name, many in zip(ballots.candidates, marks.tolist(), strict=True) if many == 1]
    more = f" and {len(once) - _MOST_NAMED} more" if len(once) > _MOST_NAMED else ""
    return [f"marked on one ballot alone: {', '.join(once[:_MOST_NAMED])}{more}"] if once else []


def _kind(path: str | Path, format: str | None) -> str:
    """The format by name, or by the ending, a .gz taken off."""
    plain = Path(path).with_suffix("") if Path(path).suffix.lower() == ".gz" else Path(path)
    kind = (format or plain.suffix.removeprefix(".")).lower()
    if format is None and (vendor := vendors_contest.vendor_of(Path(path))) is not None:
        return vendor
    if kind in _ELSEWHERE:
        raise WrongUse(f"a .{kind} file is {_ELSEWHERE[kind]}")
    if kind == "tsv":
        return "csv"
    if kind not in FORMATS and not (kind == "txt" and format is None):
        raise WrongUse(
            f"a ballot file is one of {', '.join(FORMATS)}, by its ending or by name (`format`); this is none of them"
        )
    return kind


def _likely_format(text: BallotText) -> str:
    """The format of a .txt file."""
    start = next(text.pieces()).decode()[:10_000]
    if start.lstrip().startswith("#") and (found := _DATA_TYPE.search(start)) and found[1] in FORMATS:
        return found[1]
    if re.fullmatch(r"\d+\s+\d+", _first_line(text).strip()):
        return "blt"
    return "abif" if re.match(r"\d+\s*[:*]\s*[^\d{]", _first_line(text)) else "csv"


def _first_line(text: BallotText) -> str:
    return next((line for piece in text.pieces() for line in piece.decode().split("\n") if line.strip()), "")


def for_rule(file: BallotFile, rule: str) -> BallotFile:
    """The file as the rule of that name counts it, which must be a rule for what its ballots hold.

    Guarantee: what comes back holds a ballot that marks somebody.
    """
    wants = next((marks for marks, names in RULES_FOR.items() if rule in names), "rankings")
    if file.marks == RANKS and wants == "rankings":
        return strict(file)
    if file.marks != wants:
        holds, counts = "rankings", "choose another rule, or say which columns hold them with `columns`"
        if file.marks != RANKS:
            holds, counts = f"ballots of {file.marks}", f"`rule={RULES_FOR[file.marks][0]}` counts them"
        raise WrongUse(f"the file holds {holds}, and {rule} needs {wants}; {counts}")
    check_voted(file.ballots)
    return file


def strict(file: BallotFile) -> BallotFile:
    """The file with every ballot strict, by its rules for overvotes and short ballots. (With overvotes=several the
    count itself settles them.)

    Guarantee: what comes back holds a ballot that ranks somebody; approvals and scores are refused.
    """
    if file.marks != RANKS:
        return for_rule(file, "a rule for rankings")
    ballots = settle_ties(file.ballots, file.reading.overvotes)
    check_rankings(file.ballots, ballots)
    changed = dict(file.changed)
    if shared := count_overvoted(file.ballots):
        changed["overvotes"] = changed.get("overvotes", 0) + shared
    if file.reading.truncation == "refuse" and ballots.truncated_voters:
        raise WrongUse(
            f"{ballots.truncated_voters} ballots do not rank all {len(ballots.candidates)} candidates, which the rule "
            "truncation=refuse forbids; choose keep"
        )
    units = {name: settle_ties(part, file.reading.overvotes) for name, part in file.units.items()}
    return replace(file, ballots=check_voted(ballots), changed=changed, units=units)


def write(ballots: Ballots, path: str | Path, *, title: str = "") -> None:
    """Write a PrefLib or CSV file, as the ending says. A PrefLib ending must be wide enough for the ballots."""
    kind = Path(path).suffix.removeprefix(".").lower()
    if kind == "csv":
        text = cast_votes.write(ballots)
    elif kind in preflib.ENDINGS:
        text = preflib.write(ballots, kind, title=title, name=Path(path).name)
    else:
        raise WrongUse(f"ballots are written to {', '.join((*preflib.ENDINGS, 'csv'))} files, by their ending")
    with writing("the ballots"):
        Path(path).write_text(text, encoding="utf-8")
