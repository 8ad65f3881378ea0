"""Whether a file of ballots was understood: what looks like something else than ballots is refused, never counted.

Each check knows one mistake: numbers or identifiers taken for people, ratings or approvals taken for ranks, a ballot
that is there twice, a contest in which nobody voted. A refusal says what was seen and what to type.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots

_MOST_LISTED: Final = 4  # names in a sentence
_FEW: Final = 10  # rows, below which chance may make a column look like another thing
_SOME: Final = 5  # ballots, from which on a majority of them says something
_BLOCK_ROWS: Final = 1 << 16  # rows that are looked at together
_TOTAL: Final = re.compile(r"\W*(?:grand |sub-?)?totals?\b(?: (?:votes|ballots|papers))?\W*[\d,. ]*", re.IGNORECASE)
_JOINED: Final = re.compile(r"\s*[/&+\n]\s*|\s+(?:and|or)\s+", re.IGNORECASE)
_VARIED: Final = 2  # different names in a column that shares none with the others


def check_names(met: Collection[str], declared: Collection[str]) -> None:
    """Refuse candidates who are called by numbers, dates and the like, unless somebody declared them.

    Guarantee: every candidate of the file is declared, or has a letter in the name, or has no digit in it, and none is
    called like a line of totals, or by several names of which one is another candidate's.
    """
    unknown = sorted(name for name in met if name not in declared)
    if total := next((name for name in unknown if _TOTAL.fullmatch(name)), None):
        raise WrongUse(
            f'"{total[:60]}" would be a candidate, and looks like a line of totals; take that line out of the file, or list '
            "who stands with `candidates=FILE`"
        )
    alone = {_fold_name(name) for name in (*met, *declared)}
    if joined := next((name for name in unknown if alone & _joined_names(name)), None):
        raise WrongUse(
            f'"{joined[:60]}" would be a candidate, and holds the name of another, so it may be several in one cell; write one '
            f"in each, or list who stands with `candidates=FILE`, or say whom it means with "
            f"`alias={shlex.quote(joined[:60] + '=NAME')}`"
        )
    numbers = [name for name in unknown if _is_number(name)]
    if numbers:
        seen = ", ".join(f'"{name}"' for name in numbers[:_MOST_LISTED])
        more = f" and {len(numbers) - _MOST_LISTED} more" if len(numbers) > _MOST_LISTED else ""
        raise WrongUse(
            f"the candidates would be {seen}{more}, which name nobody; if they stand for people, list them with "
            f"`candidates=FILE` or say whom each means with `alias={shlex.quote(numbers[0] + '=NAME')}`; if each "
            "column is a candidate, name them with `columns=grid=A/B/C`; or is this another format?"
        )


def _joined_names(name: str) -> set[str]:
    """The names in one that looks like several, as "Ann / Bob" and "Ann & Bob" do."""
    parts = _JOINED.split(name)
    return set(map(_fold_name, parts)) if len(parts) > 1 else set()


def _is_number(name: str) -> bool:
    return any(c.isdigit() for c in name) and not any(c.isalpha() for c in name)


def check_rank_columns(
    rows: NDArray[np.integer],
    ranks: Sequence[frozenset[str] | None],
    header: Sequence[str],
    ballots: NDArray[np.int64] | None = None,
    *,
    counted: bool,
) -> None:
    """Refuse columns that hold something about a ballot and not its ranks. `ranks[code]` says whom a cell names;
    `ballots` how many rows of the file each row stands for; `counted` whether the file says so itself.

    Guarantee: no column is called as somebody whom the ballots rank, but by a number. Of at least ten rows, no column that is kept names
    somebody else in each, and none with two names or more shares no name with the others, if these have two as well.
    """
    filled: list[int] = []
    people: list[frozenset[str]] = []
    for column in rows.T:
        met = np.bincount(column, ballots, minlength=len(ranks))
        named = [(int(met[code]), rank) for code, rank in enumerate(ranks) if rank and met[code]]
        filled.append(sum(many for many, _ in named))
        people.append(frozenset[str]().union(*(rank for _, rank in named)))
    everybody = {_fold_name(name) for each in people for name in each}
    if ballot := next((name for name in header if _fold_name(name) in everybody and not _is_number(name)), None):
        raise WrongUse(
            f'line 1: the first line holds "{ballot}", whom ballots rank, so it is a ballot and no header; put a line '
            "like rank1,rank2,rank3 before it"
        )
    for j, (many, here) in enumerate(zip(filled, people, strict=True)):
        if many < _FEW:
            continue
        if len(here) >= many and not counted:
            raise WrongUse(
                f'column "{header[j]}" has a different entry in each of {many:,} rows, so it is no rank but tells '
                "ballots apart; name the columns of the ranks alone with `columns=ranks=A/B/C`"
            )
        others = frozenset[str]().union(*people[:j], *people[j + 1 :])
        if min(len(here), len(others)) >= _VARIED and not here & others:
            raise WrongUse(
                f'column "{header[j]}" names nobody whom another rank names, so it is no rank of the same contest; '
                "name the columns of the ranks alone with `columns=ranks=A/B/C`, or list who stands with "
                "`candidates=FILE`"
            )


def _fold_name(name: str) -> str:
    return " ".join(name.split()).casefold()


def check_repeats(
    rows: NDArray[np.integer],
    ranks: Sequence[frozenset[str] | None],
    columns: Sequence[str],
    ballots: NDArray[np.int64] | None = None,
) -> None:
    """Refuse ranks that say the same again and again, as marks, grades or answers in a column for each candidate do.

    Guarantee: of at least five ballots with two ranks or more that are kept, half at least name nobody twice.
    """
    person = {who: i for i, who in enumerate({rank for rank in ranks if rank})}
    codes = np.array([person[rank] if rank else -1 for rank in ranks], dtype=np.int32)
    several = twice = 0
    for start in range(0, len(rows), _BLOCK_ROWS):
        table = np.sort(codes[rows[start : start + _BLOCK_ROWS]], axis=1)
        many = 1 if ballots is None else ballots[start : start + _BLOCK_ROWS]
        several += int(((table[:, -2] >= 0) * many).sum())
        twice += int((((table[:, 1:] == table[:, :-1]) & (table[:, 1:] >= 0)).any(axis=1) * many).sum())
    if several >= _SOME and 2 * twice > several:
        listed_columns = ", ".join(f'"{name}"' for name in columns[:_MOST_LISTED])
        raise WrongUse(
            f"{twice:,} of {several:,} ballots name somebody twice in the columns {listed_columns}, so these are no "
            "ranks; if each column is a candidate, name them with `columns=grid=A/B/C`, `columns=scores=A/B/C` or "
            "`columns=approvals=A/B/C`"
        )


def check_rankings(file: Ballots, settled: Ballots) -> None:
    """Refuse ballots of which most rank several candidates first, so that nothing is left of them once they are strict.

    Guarantee: of ballots that are kept, half at least of those that mark anybody still do.
    """
    before, after = file.voters - file.blank, settled.voters - settled.blank
    if 2 * after < before and before >= _SOME:
        raise WrongUse(
            f"{before - after:,} of {before:,} ballots rank several candidates first, so they are approvals or ratings "
            "and no rankings; count approvals from a .cat file, or a CSV file with a column for each candidate, with "
            "`rule=approval`"
        )


def check_grid(
    ballots: Iterable[tuple[Mapping[int, Sequence[str]], int, int]], columns: Sequence[str], *, offered: str
) -> None:
    """Refuse a grid whose numbers are ratings or approvals: ranks of each ballot, weight, line. `offered` is how its
    columns are typed.

    Guarantee: in a grid that is kept no rank is beyond the number of candidates, somebody has a second rank, and at
    least half of the ballots that mark anybody give the ranks 1, 2, ... to one candidate each.
    """
    rankings = marked = deepest = 0
    most = len(columns)
    scores = f"`columns={shlex.quote('scores=' + offered)}` with `rule=score`"
    for ranks, weight, line in ballots:
        if not ranks or not weight:
            continue
        last = max(ranks)
        if last > most:
            raise WrongUse(
                f"line {line}: rank {last} of {most} candidates cannot be; if these are ratings, the more the better, "
                f"count them by {scores}"
            )
        deepest = max(deepest, last)
        marked += weight
        rankings += weight if sorted(ranks) == list(range(1, len(ranks) + 1)) and _single(ranks) else 0
    if marked and deepest == 1 and most > 1:
        raise WrongUse(
            "the grid holds no number but 1, so it has marks and no ranks; count them by "
            f"`columns={shlex.quote('approvals=' + offered)}` with `rule=approval`"
        )
    if 2 * rankings < marked:
        raise WrongUse(
            f"only {rankings:,} of {marked:,} ballots of the grid rank one candidate first, one second and so on, so "
            f"these are no ranks; if they are ratings, the more the better, count them by {scores}"
        )


def _single(ranks: Mapping[int, Sequence[str]]) -> bool:
    return all(len(who) == 1 for who in ranks.values())


def check_ranks(ballots: Iterable[tuple[Sequence[int], int]]) -> None:
    """Refuse rows of ballot, rank and candidate whose ranks are ratings: the ranks of each ballot, and its weight.

    Guarantee: of at least five ballots that are kept, half at least leave out no rank before their last.
    """
    marked = rankings = 0
    for ranks, weight in ballots:
        marked += weight
        rankings += weight if max(ranks) == len(set(ranks)) else 0
    if marked >= _SOME and 2 * rankings < marked:
        raise WrongUse(
            f"only {rankings:,} of {marked:,} ballots rank somebody first, second and so on to their last rank, so "
            "these are no ranks; if they are ratings, write a column for each candidate and count them by "
            "`columns=scores=A/B/C` with `rule=score`"
        )


def check_voted(ballots: Ballots) -> Ballots:
    """These ballots, if any of them marks anybody: else a winner would be a lot among people whom nobody chose."""
    strict = bool(((ballots.rankings[:, 0] >= 0) & (ballots.weights > 0)).any())
    if not strict and not ((ballots.levels >= 0).any(axis=1) & (ballots.tied_weights > 0)).any():
        raise nobody_voted(ballots.voters)
    return ballots


def nobody_voted(voters: int) -> WrongUse:
    """What is wrong where no ballot marks anybody."""
    return WrongUse(
        f"nobody voted: none of the {voters:,} ballots marks a candidate that counts, so there is nothing to count; is "
        "this the right contest, and are its labels and overvotes read as they should be?"
    )
