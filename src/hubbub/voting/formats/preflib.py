"""PrefLib files: .soc and .soi (strict, complete and incomplete), .toc and .toi (with ties), .cat (categories).

::

    # NUMBER ALTERNATIVES: 3
    # NUMBER VOTERS: 5
    # ALTERNATIVE NAME 1: Ann
    ...
    3: 1,2,3
    2: 2,{1,3}

Files from before 2022 say the same without signs: the number of candidates, a line ``1,Ann`` for each, one with voters,
the sum of weights and the number of different orders, then ``3,1,2,3``.

In a .cat file each group is a category, which is no rank: two categories are read as approvals, the first being
approval, and more are refused. Without a header, the candidates 1, 2, 3, ... can be named by a list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots, checked_candidates
from hubbub.voting.formats.ballot_file import BallotFile, Levels, check_any, gather, weight_of
from hubbub.voting.formats.reading import Reading

ENDINGS: Final = ("soc", "soi", "toc", "toi")
CATEGORIES: Final = "cat"
_CATEGORY_NAME: Final = "CATEGORY NAME 1"
_AGAINST: Final = re.compile(r"(?:no|not|dis|re?ject|against|bad|un)(?:\b|[a-z]*appro)", re.IGNORECASE)

_NUMBERED = re.compile(r"ALTERNATIVE NAME\s+(\d{1,9})", re.ASCII)
_PART = re.compile(r"\s*(?:(\d{1,9})|\{\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)?\s*\})\s*(?:,|$)", re.ASCII)
_INTEGER = re.compile(r"\d{1,17}", re.ASCII)


def read(text: str, kind: str, reading: Reading, *, listed: Sequence[str] | None = None) -> BallotFile:
    """The ballots of a PrefLib file of that kind; `listed` names the candidates of one without a header."""
    if (start := text.lstrip().partition("\n")[0].strip()) and _INTEGER.fullmatch(start):
        text = _with_signs(text)
    fields: dict[str, str] = {}
    stated_at: dict[str, int] = {}  # the line of each field
    names: dict[int, str] = {}
    taken: set[str] = set()
    counts: dict[Levels, int] = {}
    candidates: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"line {number}"
        if line.startswith("#"):
            if counts:
                raise WrongUse(f"{where}: a header line after the first ballot, which a PrefLib file does not have")
            field, _, value = line.removeprefix("#").partition(":")
            if found := _NUMBERED.fullmatch(field.strip()):
                alternative, name = int(found[1]), value.strip()
                if alternative in names or name in taken:
                    raise WrongUse(f"{where}: an alternative is there twice; each has one number and one name")
                names[alternative] = name
                taken.add(name)
            else:
                fields[field.strip()] = value.strip()
                stated_at[field.strip()] = number
            continue
        if not candidates:
            candidates = _candidate_names(fields, stated_at, names, kind, listed)
        weight, separator, order = line.partition(":")
        if not separator:
            raise WrongUse(f"{where}: a ballot is a weight and a ranking, like 3: 1,2; is this another format?")
        levels = _levels(order, candidates, kind, where, first=0 if 0 in names else 1)
        counts[levels] = counts.get(levels, 0) + weight_of(weight, where)
    everyone = candidates or _candidate_names(fields, stated_at, names, kind, listed)
    ballots = _approvals(everyone, counts, fields, stated_at) if kind == CATEGORIES else gather(everyone, counts)
    stated = fields.get("NUMBER VOTERS", "")
    if _INTEGER.fullmatch(stated) and int(stated) != ballots.voters:
        raise WrongUse(
            f"line {stated_at['NUMBER VOTERS']}: the header says {stated} voters and the weights add up to "
            f"{ballots.voters}; they must agree"
        )
    file = BallotFile(ballots=ballots, format=kind, title=fields.get("TITLE", ""), reading=reading)
    if kind != CATEGORIES:
        return file
    called = f' ("{fields[_CATEGORY_NAME]}")' if fields.get(_CATEGORY_NAME) else ""
    remark = f"the first category of the file{called} was read as approval"
    return replace(file, marks="approvals", remarks=(remark,))


def _with_signs(text: str) -> str:
    """An older file as a newer one, line for line; its three totals must agree with what follows."""
    rows = [(at, line.strip()) for at, line in enumerate(text.split("\n")) if line.strip()]
    many = int(rows[0][1])
    names, totals, orders = rows[1 : many + 1], rows[many + 1 : many + 2], rows[many + 2 :]
    found = re.fullmatch(r"(\d{1,17})\s*,\s*(\d{1,17})\s*,\s*(\d{1,17})", totals[0][1], re.ASCII) if totals else None
    if found is None or not all(re.match(r"\d{1,9}\s*,\s*\S", line, re.ASCII) for _, line in names):
        raise WrongUse(
            f"line 1: the file says {rows[0][1]} candidates, so as many lines like 1,Ann must follow, then one like 5,5,2 "
            "with the voters, their sum and how many orders differ; is this another format?"
        )
    if found[1] != found[2] or int(found[3]) != len(orders):
        raise WrongUse(
            f"line {totals[0][0] + 1}: the header says {found[1]} voters, a sum of {found[2]} and {found[3]} different "
            f"orders, and {len(orders)} orders follow; they must agree"
        )
    lines = [""] * (rows[-1][0] + 1)
    lines[rows[0][0]] = f"# NUMBER ALTERNATIVES: {many}"
    for at, line in names:
        number, _, name = line.partition(",")
        lines[at] = f"# ALTERNATIVE NAME {number.strip()}: {name.strip().strip(chr(34))}"
    lines[totals[0][0]] = f"# NUMBER VOTERS: {found[1]}"
    for at, line in orders:
        lines[at] = line.replace(",", ":", 1)
    return "\n".join(lines)


def _approvals(
    candidates: tuple[str, ...], counts: dict[Levels, int], fields: dict[str, str], stated_at: dict[str, int]
) -> Ballots:
    """The ballots of a file with two categories: whom each voter approves of."""
    stated = fields.get("NUMBER CATEGORIES", "")
    categories = max([int(stated) if _INTEGER.fullmatch(stated) else 0, *map(len, counts)])
    if categories > 2:
        raise WrongUse(
            f"the file sorts candidates into {categories} categories, and categories are no ranks: two of them, "
            "approved and not, can be counted; write a CSV file with a score for each candidate, and count it by "
            "`columns=scores=A/B/C` with `rule=score`"
        )
    name = fields.get(_CATEGORY_NAME, "")
    if _AGAINST.match(name):
        raise WrongUse(
            f'line {stated_at[_CATEGORY_NAME]}: the first category is called "{name}", and the first is counted as '
            "approval; write the category of those who are approved of first"
        )
    check_any(sum(counts.values()))
    approved: dict[Levels, int] = {}
    for groups, weight in counts.items():
        if weight:
            first = groups[:1] if groups and groups[0] else ()
            approved[first] = approved.get(first, 0) + weight
    return Ballots.from_counts(candidates, {}, tied=approved)


def _candidate_names(
    fields: dict[str, str],
    stated_at: dict[str, int],
    names: dict[int, str],
    kind: str,
    listed: Sequence[str] | None,
) -> tuple[str, ...]:
    """The candidates, by the header or by a list."""
    if listed is None:
        return _candidates(fields, stated_at, names, kind)
    if fields or names:
        raise WrongUse("the file has a header that names its candidates; leave `candidates` out")
    return checked_candidates(listed)


def _candidates(fields: dict[str, str], stated_at: dict[str, int], names: dict[int, str], kind: str) -> tuple[str, ...]:
    stated = fields.get("NUMBER ALTERNATIVES", "")
    if not _INTEGER.fullmatch(stated):
        raise WrongUse(
            "line 1: a PrefLib file starts with lines like # NUMBER ALTERNATIVES: 3; if this one has none, name the "
            "candidates 1, 2, ... on the lines of a text file, `candidates=FILE`, or is this another format?"
        )
    declared = fields.get("DATA TYPE", kind)
    if declared != kind:
        raise WrongUse(
            f"line {stated_at['DATA TYPE']}: the header says that the data type is not {kind}; name the format that "
            "the file has"
        )
    first = 0 if 0 in names else 1  # older files count from 0
    if len(names) != int(stated) or sorted(names) != list(range(first, len(names) + first)):
        raise WrongUse(
            f"line {stated_at['NUMBER ALTERNATIVES']}: the header must name alternatives 1 to {stated}, each once, "
            f"and names {len(names)}"
        )
    if int(stated) < 2:
        raise WrongUse(
            f"line {stated_at['NUMBER ALTERNATIVES']}: an election needs at least 2 candidates, not {stated}"
        )
    return checked_candidates([names[i] for i in sorted(names)])


def _levels(order: str, candidates: tuple[str, ...], kind: str, where: str, *, first: int = 1) -> Levels:
    groups: list[list[int]] = []
    at, order = 0, order.strip()
    while at < len(order):
        part = _PART.match(order, at)
        if part is None or (part.end() == len(order) and order.endswith(",")):
            raise WrongUse(f"{where}: a ranking is numbers of candidates, equal ones in braces, like 2,{{1,3}}")
        found = part[1] or part[2]
        if found is None and kind != CATEGORIES:
            raise WrongUse(f"{where}: an empty group, which only .cat files have; is it one?")
        groups.append([int(text) for text in found.split(",")] if found else [])
        at = part.end()
        if sum(map(bool, groups)) > len(candidates):  # a line of megabytes is not read to its end
            raise WrongUse(f"{where}: a candidate is there twice; a ballot ranks each at most once")
    ranked = [i for group in groups for i in group]
    if any(not first <= i < len(candidates) + first for i in ranked):
        raise WrongUse(f"{where}: a candidate who is not one of the {len(candidates)} that the header names")
    if len(set(ranked)) != len(ranked):
        raise WrongUse(f"{where}: a candidate is there twice; a ballot ranks each at most once")
    if kind in ("soc", "soi") and len(groups) != len(ranked):
        raise WrongUse(f"{where}: candidates in braces, and a .{kind} file holds strict rankings only; is it .toi?")
    if kind in ("soc", "toc") and len(ranked) != len(candidates):
        raise WrongUse(f"{where}: some candidates are missing, and a .{kind} file holds complete rankings only")
    return tuple(frozenset(candidates[i - first] for i in group) for group in groups)


def kind_of(ballots: Ballots) -> str:
    """The narrowest PrefLib kind that holds these ballots."""
    incomplete = ballots.truncated_voters > 0 or bool((ballots.levels < 0).any())
    return ("t" if ballots.tied_voters else "s") + "o" + ("i" if incomplete else "c")


def write(ballots: Ballots, kind: str, *, title: str = "", name: str = "") -> str:
    """The text of a PrefLib file of that kind, if it is wide enough for the ballots."""
    narrowest = kind_of(ballots)
    if (narrowest[0] == "t" and kind[0] == "s") or (narrowest[2] == "i" and kind[2] == "c"):
        raise WrongUse(f"a .{kind} file cannot hold these ballots; .{narrowest} is the narrowest that can")
    number = {candidate: i for i, candidate in enumerate(ballots.candidates, 1)}
    rows: dict[Levels, int] = {tuple(frozenset((c,)) for c in ranking): w for ranking, w in ballots.counts().items()}
    rows.update(ballots.tied_counts())
    for candidate in (*ballots.candidates, title, name):
        if "\n" in candidate or "\r" in candidate:
            raise WrongUse("a name in a PrefLib file must fit on one line; take the line break out")
    lines = [
        f"# FILE NAME: {name}",
        f"# TITLE: {title}",
        f"# DATA TYPE: {kind}",
        f"# NUMBER ALTERNATIVES: {len(number)}",
        f"# NUMBER VOTERS: {ballots.voters}",
        f"# NUMBER UNIQUE ORDERS: {len(rows)}",
        *(f"# ALTERNATIVE NAME {i}: {candidate}" for candidate, i in number.items()),
        *(f"{w}: {_order(levels, number)}" for levels, w in sorted(rows.items(), key=lambda row: -row[1])),
    ]
    return "\n".join(lines) + "\n"


def _order(levels: Sequence[frozenset[str]], number: dict[str, int]) -> str:
    groups = [sorted(number[name] for name in level) for level in levels]
    return ",".join(str(g[0]) if len(g) == 1 else "{" + ",".join(map(str, g)) + "}" for g in groups)
