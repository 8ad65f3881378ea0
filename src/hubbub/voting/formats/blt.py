"""BLT files, as Scottish councils publish them, and the same thing with commas.

::

    3 2                 candidates and seats
    -2                  withdrawn candidates, if any; also [withdrawn 2]
    [tie 2 1 3]         options in brackets: told, and not followed
    36 1 0              weight, ranking, 0; 1=2 for equal candidates, - for a skipped rank
    (id7) 1 2 0         a ballot with a name of its own, which counts once
    ...
    0                   the end of the ballots
    "Ann (Independent)" a name for each candidate, then a title; all of them may be on one line
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace

from hubbub.errors import WrongUse
from hubbub.voting.ballots import checked_candidates
from hubbub.voting.formats.ballot_file import BallotFile, Levels, gather, weight_of
from hubbub.voting.formats.reading import Changes, Rank, Reading, ranking_of

_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_NUMBERED = re.compile(r"candidate\s+(\d{1,9})", re.IGNORECASE | re.ASCII)


_OPTION = re.compile(r"\[\s*(\w+)([^\]]*)\]")
_WITH_PARTY = re.compile(r'"([^"]*)"\s*[\s,;]\s*"([^"]*)"')
_COMMENTED = re.compile(r'("[^"]*")\s*#.*')
_ONE_NAME = re.compile(r'"(?:[^"]|"")*"|[^\s"]+')


def read(text: str, reading: Reading) -> BallotFile:
    """The ballots of a BLT file, and how many seats it says there are."""
    lines = [(i, line.strip()) for i, line in enumerate(text.split("\n"), 1)]
    lines = [(i, line) for i, line in lines if line and not line.startswith("#")]
    if not lines:
        raise WrongUse("the ballot file holds comments alone; it must hold candidates and ballots")
    total, seats = _head(lines[0][1].split(), lines[0][0])
    ballots, end, withdrawn = list[tuple[int, list[str]]](), None, set[int]()
    remarks, own = list[str](), set[str]()
    for position, (number, line) in enumerate(lines[1:], 2):
        words = line.partition("#")[0].split() or ["#"]
        if words == ["0"]:
            end = position
            break
        if len(words[0]) > 1 and words[0].startswith("-") and not ballots:
            withdrawn |= {_candidate(word.removeprefix("-"), total, f"line {number}") for word in words}
            continue
        if (option := _OPTION.fullmatch(line)) and not ballots:
            if option[1].casefold() == "withdrawn":
                withdrawn |= {_candidate(word, total, f"line {number}") for word in option[2].split()}
            else:
                remarks.append(f"line {number}: the option [{option[1]}] of the file is not followed")
            continue
        if words[0].startswith("(") and (closed := line.find(")")) > 0:
            if line[: closed + 1] in own:
                raise WrongUse(f"line {number}: a ballot has the name of an earlier one; take out what is there twice")
            own.add(line[: closed + 1])
            words = ["1", *line[closed + 1 :].split()]
        if words[-1] != "0" or len(words) < 2:
            raise WrongUse(f"line {number}: a ballot is a weight, candidates and a 0; is this another format?")
        ballots.append((number, words[:-1]))
    if end is None:
        raise WrongUse(
            f"line {lines[-1][0]}: the last one, and a BLT file ends its ballots with a line that holds a 0 alone"
        )
    after = [part for number, line in lines[end:] for part in _on_one_line(number, line, len(lines) - end, total)]
    names = [_without_quotes(_COMMENTED.sub(r"\1", name)) for _, name in after]
    taken = set[str]()
    for (number, _), name in zip(after[:total], names, strict=False):
        if name in taken:
            raise WrongUse(f"line {number}: a name is there twice; every candidate needs a name of their own")
        taken.add(name)
    if total <= len(names) != total + 1:
        raise WrongUse(
            f"line 1: {total} candidates, so {total} names and a title follow the ballots, {total + 1} texts, and here "
            f'are {len(names)}; add the name that is missing, or the title (it may be "")'
        )
    made = _make_file("blt", total, ballots, names, withdrawn, reading)
    return replace(made, seats=seats, remarks=tuple(remarks))


def _on_one_line(number: int, line: str, lines: int, total: int) -> list[tuple[int, str]]:
    """The names of a line, which is all of them where there are fewer lines than candidates."""
    return [(number, name) for name in (_ONE_NAME.findall(line) if lines < total else [line])]


def read_commas(text: str, reading: Reading) -> BallotFile:
    """The same with commas, without the zeros, and with names in lines like ``"Candidate 1","Ann","Independent"``."""
    reader = csv.reader(text.split("\n"))
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise WrongUse(f"line {reader.line_num}: not a line of a CSV file; is this another format?") from error
    rows = [(i, row[:-1] if row and not row[-1] else row) for i, row in rows if any(row)]
    total, seats = _head(rows[0][1], rows[0][0])
    ballots, names, title = list[tuple[int, list[str]]](), dict[int, str](), ""
    for number, row in rows[1:]:
        numbered = _NUMBERED.fullmatch(row[0])
        if numbered:
            if int(numbered[1]) in names:
                raise WrongUse(f"line {number}: a candidate is there twice; each has one number and one name")
            names[int(numbered[1])] = row[1] if len(row) > 1 else ""
        elif names:
            title = row[0]
        else:
            ballots.append((number, row))
    if sorted(names) != list(range(1, total + 1)):
        raise WrongUse(f"line 1: {total} candidates, so the file must name 1 to {total}, and it names {len(names)}")
    if not title:
        raise WrongUse("the file ends before its title, which follows the names; is it whole?")
    made = _make_file("blt-csv", total, ballots, [*(names[i] for i in sorted(names)), title], set(), reading)
    return replace(made, seats=seats)


def _make_file(
    kind: str,
    total: int,
    ballots: list[tuple[int, list[str]]],
    names: list[str],
    withdrawn: set[int],
    reading: Reading,
) -> BallotFile:
    if len(names) < total:
        raise WrongUse(f"line 1: {total} candidates, and {len(names)} names follow the ballots; they must agree")
    everyone = checked_candidates(names[:total])
    candidates = tuple(name for i, name in enumerate(everyone, 1) if i not in withdrawn)
    counts: dict[Levels, int] = {}
    changes = Changes()
    for number, words in ballots:
        where = f"line {number}"
        weight = weight_of(words[0], where)
        ranks = list(_ranks(words[1:], everyone, withdrawn, where))
        levels = ranking_of(ranks, reading, changes, weight, where)
        counts[levels] = counts.get(levels, 0) + weight
    made = gather(checked_candidates(candidates), counts)
    title = names[total] if len(names) > total else ""
    return BallotFile(
        ballots=made,
        format=kind,
        title=title,
        reading=reading,
        changed=dict(changes.ballots),
        withdrawn=tuple(everyone[i - 1] for i in sorted(withdrawn)),
    )


def _ranks(words: list[str], everyone: tuple[str, ...], withdrawn: set[int], where: str) -> Iterator[Rank]:
    seen: set[int] = set()
    for word in words:
        numbers = [] if word == "-" else [_candidate(part, len(everyone), where) for part in word.split("=")]
        for number in numbers:
            if number in seen:
                raise WrongUse(f"{where}: a candidate is there twice; a ballot ranks each at most once")
            seen.add(number)
        left = frozenset(everyone[i - 1] for i in numbers if i not in withdrawn)
        if left or not numbers:  # a rank that held withdrawn candidates alone is no skipped one
            yield left


def _head(words: list[str], number: int) -> tuple[int, int]:
    if len(words) != 2 or not all(_NUMBER.fullmatch(word) for word in words):
        raise WrongUse(f"line {number}: numbers of candidates and seats come first, like 6 1; is this another format?")
    total = int(words[0])
    if total < 2:
        raise WrongUse(f"line {number}: an election needs at least 2 candidates, not {total}")
    return total, max(1, int(words[1]))


def _candidate(word: str, total: int, where: str) -> int:
    if not (_NUMBER.fullmatch(word) and 1 <= int(word) <= total):
        raise WrongUse(f"{where}: a candidate who is not one of 1 to {total}")
    return int(word)


def _without_quotes(line: str) -> str:
    """A name without its quotes, doubled ones inside made single; a second text in quotes is the party."""
    if found := _WITH_PARTY.fullmatch(line):
        name, party = (part.replace('""', '"').strip() for part in found.groups())
        return f"{name} ({party})" if party else name
    if len(line) >= 2 and line[0] == line[-1] == '"':
        return line[1:-1].replace('""', '"')
    return line
