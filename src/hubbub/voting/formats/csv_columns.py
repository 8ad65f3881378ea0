"""Which column of a CSV file holds what: found by the names that offices and form tools give them, or named.

::

    rank1, Choice 2, Ranking 3, 1st Choice, Your second choice      a rank each
    Mayor 1st Choice District 2, DEM Mayor Choice 2 of 5 (226916)   a rank of one contest of several
    1, 2, 3                                                         a rank each, if the cells are no numbers
    Rank the candidates [Ann], Rank the candidates [Bob]            a grid: a candidate each, ranks in the cells
    ballot, rank, candidate                                         one row per ballot and rank
    count, ranking                                                  one row per ranking

What cannot be told is refused with the header that was seen and the option that settles it. Scores and approvals, a
column for each candidate too, are never guessed: `scores=` and `approvals=` name their columns.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "ballot": ("ballot", "ballot_id", "ballotid", "ballot id", "cvr", "record", "voter", "voter_id"),
    "rank": ("rank", "rank_id", "position"),
    "candidate": ("candidate", "choice", "vote", "name"),
    "count": ("count", "counts", "weight", "weights"),
    "ranking": ("ranking",),
}
PER_CANDIDATE: Final = ("grid", "scores", "approvals")
ASSIGNABLE: Final = (*KNOWN, "ranks", *PER_CANDIDATE)
"""What ``--columns`` can name."""

_VOTES: Final = ("candidate", "ranking", "ranks", *PER_CANDIDATE)
_STAMP: Final = re.compile(r"time ?stamp|date ?submitted|submi(?:tted|ssion)(?: (?:at|on|date|time))?", re.IGNORECASE)
_IDS: Final = (*KNOWN["ballot"], "id", "ballot number", "cast vote record", "cvrnumber", "response id")
_RATING: Final = re.compile(r"\b(?:rat(?:e|es|ed|ing|ings)|scores?|stars?|grades?|points?)\b", re.IGNORECASE)

_ORDINALS: Final = (
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
_PLACE: Final = r"(?:rank(?:ing)?|choice|preference|pref|place|vote)"
_ORDINAL: Final = rf"(\d{{1,3}})(?:st|nd|rd|th)|({'|'.join(_ORDINALS)})"
_RANKS: Final = (
    re.compile(rf"(?<![a-z])(?:{_ORDINAL})[ _-]*{_PLACE}(?![a-z])", re.IGNORECASE),
    re.compile(
        r"(?<![a-z])(?:rank(?:ing)?|choice|preference|pref)[ _#-]*(\d{1,3})(?:[ _-]+of[ _-]+\d{1,3})?(?![0-9a-z])()",
        re.IGNORECASE,
    ),
)
_ORDINAL_ONLY: Final = re.compile(rf"(?:{_ORDINAL})", re.IGNORECASE)
_WORST: Final = re.compile(r"\b(?:least|worst|last|lowest|bottom)\b", re.IGNORECASE)
_BEST: Final = re.compile(r"\b(?:most|best|favou?rite|highest|top)\b", re.IGNORECASE)
_MIDDLE: Final = re.compile(r"\bmiddle\b", re.IGNORECASE)
_NUMBER_OF_CONTEST: Final = re.compile(r"\s*\(\d+\)\s*$")
_BRACKET: Final = re.compile(r"(.*?)\s*\[(.+)\]\s*")
_BESIDE: Final = re.compile(
    r"timestamp|time|date|precinct|ward|ballot ?style|cast vote record|id|e-?mail.*|.*\bid|submitted.*|session|batch.*",
    re.IGNORECASE,
)
_MANY: Final = re.compile(
    r"(?:n(?:o\.?|umber|r\.?|um)? of |how many |total )?(?:votes|ballots|voters|papers)(?: cast)?|how many|freq(?:uency)?"
    r"|multiplicity|times|qty|quantity|tally",
    re.IGNORECASE,
)
_MAYBE_MANY: Final = re.compile(
    r"n|no\.?|nr\.?|nums?|numbers?|#|cnt|amount|copies|size|total|sum|people|persons|voter|papers?|x", re.IGNORECASE
)
_VOTER: Final = re.compile(
    r"(?:(?:your|full|first|last|voter'?s?) )?name|surname|comments?|notes?|remarks?", re.IGNORECASE
)
_APPROVED: Final = ("approve", "approved", "x", "yes", "y", "\u2713", "\u2714")
_PART: Final = re.compile(r'\s*("(?:[^"]|"")*"|[^,/"]*)\s*([,/]|$)')
_MOST_LISTED: Final = 12
_MOST_PROPOSED: Final = 6  # columns of ranks, where no name says which they are


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Where a CSV file has what, as indices; `ranks` in the order of the ranks, `grid` with a name for each column.

    `marks` are columns that hold a 1 where a candidate was given a rank: index, candidate, rank. `cells` says what a
    grid holds: ranks ("grid"), "scores" or "approvals". `ids` is a column that names each ballot.
    """

    ranks: tuple[int, ...] = ()
    ballot: int | None = None
    rank: int | None = None
    candidate: int | None = None
    count: int | None = None
    ranking: int | None = None
    grid: tuple[tuple[int, str], ...] = ()
    marks: tuple[tuple[int, str, int], ...] = ()
    cells: str = "grid"
    ids: int | None = None

    @property
    def ranking_columns(self) -> tuple[int, ...]:
        """Every column that says who is ranked where."""
        singles = (self.ballot, self.rank, self.candidate, self.ranking)
        return (
            *self.ranks,
            *(i for i, _ in self.grid),
            *(i for i, _, _ in self.marks),
            *(i for i in singles if i is not None),
        )


def parse_columns(text: str) -> dict[str, tuple[str, ...]]:
    """The option ``--columns``: ``ballot=ID,count=N`` or ``ranks="1st, choice"/"a/b"/c`` or ``ranks=#2/#3``.

    >>> parse_columns('ranks="1st, choice"/"a/b"/c,count=#4')
    {'ranks': ('1st, choice', 'a/b', 'c'), 'count': ('#4',)}
    """
    out: dict[str, tuple[str, ...]] = {}
    at = 0
    while at < len(text):
        equals = text.find("=", at)
        what = text[at:equals].strip() if equals >= 0 else ""
        if what not in ASSIGNABLE:
            raise WrongUse(
                "`columns` says which column is which, like ballot=ID,rank=Rank,candidate=Name,count=N or ranks=a/b/c; "
                'a name with a comma or a slash goes in quotes, ranks="a, b"/"c/d", and #3 is the third column'
            )
        names: list[str] = []
        at, end = equals + 1, "/"
        while end == "/":
            part = _PART.match(text, at)
            if part is None:
                raise WrongUse("`columns` has a quotation mark that is not closed, or something after one that is")
            names.append(part[1][1:-1].replace('""', '"') if part[1].startswith('"') else part[1].strip())
            at, end = part.end(), part[2]
        out[what] = tuple(names)
    return out


def listed_header(header: Sequence[str]) -> str:
    """A header as a sentence can hold it."""
    names = [f'"{name}"' if not name or re.search(r'[,;/"]|\s$|^\s', name) else name for name in header[:_MOST_LISTED]]
    more = f" and {len(header) - _MOST_LISTED} more" if len(header) > _MOST_LISTED else ""
    return ", ".join(names) + more


def option_text(header: Sequence[str], columns: Sequence[int]) -> str:
    """Columns as they are typed, with slashes between them."""
    lowered = [name.casefold() for name in header]
    names = []
    for i in columns:
        plain = header[i] and lowered.count(lowered[i]) == 1 and not header[i].startswith("#")
        name = header[i] if plain else f"#{i + 1}"
        names.append('"' + name.replace('"', '""') + '"' if re.search(r'[,/"]', name) else name)
    return "/".join(names)


def _option(header: Sequence[str], what: str, columns: Sequence[int]) -> str:
    """The option to type, quoted for a shell."""
    return f"`columns={shlex.quote(what + '=' + option_text(header, columns[:_MOST_LISTED]))}`"


def find_columns(
    header: Sequence[str],
    named: Mapping[str, str | Sequence[str]],
    *,
    contest: str | None = None,
    first: Sequence[Sequence[str]] = (),
) -> Columns:
    """The columns of a CSV file of ballots, by their names, or as `named` says; `first` are rows of it."""
    head = _Header([" ".join(name.split()) for name in header], first)
    found = head.single_columns(named)
    head.check_votes(named, found)
    if "count" not in found:
        head.check_no_count(ranking="ranking" in found)
    count = found.get("count")
    ids = None if count is not None else id_column(head.names)
    if "ranks" in named:
        ranks = head.indices("ranks", named["ranks"])
        head.check_order(ranks)
        return Columns(ranks=ranks, count=count, ids=ids)
    for what in PER_CANDIDATE:
        if what in named:
            grid = tuple((i, _in_brackets(head.names[i])) for i in head.indices(what, named[what]))
            return Columns(grid=grid, count=count, cells=what, ids=ids)
    if "ranking" in found:
        return Columns(ranking=found["ranking"], count=count, ids=ids)
    if by_name := head.ranks(contest):
        return replace(by_name, count=count, ids=ids)
    if {"ballot", "rank", "candidate"} <= found.keys():
        return Columns(ballot=found["ballot"], rank=found["rank"], candidate=found["candidate"], count=count)
    free = [i for i, name in enumerate(head.names) if i != count and name and not head.is_about_ballot(i)]
    free = [i for i in free if not _VOTER.fullmatch(head.names[i])] or free
    what = "grid" if free and head.holds_ranks(free) else "approvals" if head.holds_approvals(free) else "ranks"
    raise WrongUse(
        "line 1: a CSV file of ballots needs columns rank1, rank2, ..., or ballot, rank and candidate, or count and "
        f"ranking, and this one has {listed_header(head.names)}; say which is which, the best rank first, like "
        f"{_option(head.names, what, head.best_first(free or range(len(head.names)))[:_MOST_PROPOSED])}, or is this another format?"
    )


def precinct_column(header: Sequence[str], name: str, columns: Columns) -> int:
    """The column that says where a ballot was cast; one that holds votes is refused."""
    at = _Header([" ".join(each.split()) for each in header], ()).indices("the precinct", [name])[0]
    if at in (*columns.ranking_columns, columns.count, columns.ids):
        raise WrongUse(f"{name[:40]!r} holds votes, counts or ids, and no precinct; name another column for `precinct`")
    return at


class _Header:
    def __init__(self, names: list[str], first: Sequence[Sequence[str]]) -> None:
        self.names = names
        self.lowered = [name.casefold() for name in names]
        self.first = first

    def is_about_ballot(self, i: int) -> bool:
        """Whether a column is about the ballot and not about whom it ranks."""
        known = any(self.lowered[i] in names for what, names in KNOWN.items() if what in ("ballot", "count"))
        return known or bool(_BESIDE.fullmatch(self.lowered[i]))

    def best_first(self, columns: Sequence[int]) -> list[int]:
        """The columns in the order of what their names say about ranks, if all of them do; else as they are."""
        places = [_rank_position(self.names[i]) for i in columns]
        if None in places:
            return list(columns)
        return [i for _, i in sorted(zip(places, columns, strict=True))]

    def check_order(self, columns: Sequence[int]) -> None:
        """Refuse ranks in another order than the names of their columns say."""
        ranked = [(place, i) for i in columns if (place := _rank_position(self.names[i])) is not None]
        if ranked != sorted(ranked, key=lambda each: each[0]):
            raise WrongUse(
                f"`columns` takes {self.names[columns[0]]!r} for the first rank, and the names of the columns say another "
                "order; name them with the best rank first, or call them otherwise in the file"
            )

    def holds_ranks(self, columns: Sequence[int]) -> bool:
        """Whether these columns of the first row hold ranks, and so are candidates."""
        cells = self._cells(columns, self.first[:1])
        return any(cells) and all(rank_in_cell(cell) is not None for cell in cells if cell)

    def holds_approvals(self, columns: Sequence[int]) -> bool:
        """Whether these columns of the first rows hold approvals."""
        cells = [cell.casefold() for cell in self._cells(columns, self.first)]
        return any(cells) and all(cell in _APPROVED for cell in cells if cell)

    def _cells(self, columns: Sequence[int], rows: Sequence[Sequence[str]]) -> list[str]:
        return [row[i].strip() for row in rows for i in columns if i < len(row)]

    def check_no_count(self, *, ranking: bool) -> None:
        """Refuse a file whose rows may stand for several ballots each, by the name of a column with whole numbers, unless it
        may as well count the rows and does; beside rankings by any such column that does not count the rows."""
        for i, name in enumerate(self.names):
            cells = self._cells([i], self.first)
            numbers = [int(cell) for cell in cells if cell.isascii() and cell.isdigit() and len(cell) < 10]
            if not cells or len(numbers) < len(cells) or self.is_about_ballot(i) or self.lowered[i] in _IDS:
                continue
            counts_rows = all(b == a + 1 for a, b in pairwise(numbers)) and len(numbers) > 1
            if _MANY.fullmatch(name) or ((ranking or _MAYBE_MANY.fullmatch(name)) and not counts_rows):
                raise WrongUse(
                    f'line 1: the column "{name}" holds whole numbers, which may say how many ballots a row stands for; if so '
                    f"say {_option(self.names, 'count', [i])}, and if not, take it out or call it otherwise"
                )

    def check_votes(self, named: Mapping[str, str | Sequence[str]], found: Mapping[str, int]) -> None:
        """Refuse a hint that takes a column about the ballot for a vote."""
        for what in _VOTES:
            if what not in named:
                continue
            chosen = (found[what],) if what in found else self.indices(what, named[what])
            for i in chosen:
                if self.is_about_ballot(i):
                    raise WrongUse(
                        f"`columns` takes {self.names[i]!r} for a vote, and that is about the ballot: who is counted "
                        f"would be what it holds; name for {what} the columns of votes alone"
                    )

    def single_columns(self, named: Mapping[str, str | Sequence[str]]) -> dict[str, int]:
        """The columns that are one each."""
        out: dict[str, int] = {}
        for what, names in KNOWN.items():
            if what in named:
                wanted = named[what]
                (out[what],) = self.indices(what, [wanted] if isinstance(wanted, str) else wanted[:1])
                continue
            here = [self.lowered.index(name) for name in names if name in self.lowered]
            if here:
                out[what] = here[0]
                if self.lowered.count(self.lowered[here[0]]) > 1:
                    raise WrongUse(
                        f"line 1: two columns have the name that says {what}; give each a name of its own, or say "
                        f"which is meant: {_option(self.names, what, here[:1])}"
                    )
        return out

    def indices(self, what: str, wanted: str | Sequence[str]) -> tuple[int, ...]:
        if isinstance(wanted, str):
            wanted = [wanted] if wanted.casefold() in self.lowered else wanted.split("/")
        found = tuple(self._index(what, " ".join(name.split())) for name in wanted)
        if len(set(found)) != len(found):
            raise WrongUse(f"a column is named twice for {what}; each holds one rank, or one candidate")
        return found

    def _index(self, what: str, name: str) -> int:
        if self.lowered.count(name.casefold()) == 1:
            return self.lowered.index(name.casefold())
        if re.fullmatch(r"#\d{1,5}", name) and 1 <= int(name[1:]) <= len(self.names):
            return int(name[1:]) - 1
        wrong = "two columns are called" if name.casefold() in self.lowered else "there is no column"
        raise WrongUse(
            f"{wrong} {name!r} for {what}; the columns are {listed_header(self.names)}, and #2 would be the second of them"
        )

    def ranks(self, contest: str | None) -> Columns | None:
        """Columns for ranks, or a grid, by their names."""
        contests: dict[str, list[tuple[int, int]]] = {}  # contest -> rank and column
        for i, name in enumerate(self.names):
            for rank, about in _rank_of(name):
                contests.setdefault(about, []).append((rank, i))
        if not contests:
            grid = self._grid()
            return Columns(grid=grid) if grid else self._numbered_columns()
        chosen = self._choose_contest(contests, contest)
        if len({rank for rank, _ in chosen}) != len(chosen):
            once = list(dict(sorted(chosen, reverse=True)).values())[::-1]
            raise WrongUse(
                f"line 1: two columns hold the same rank ({listed_header(self.names)}); say which are meant, in their order, "
                f"like {_option(self.names, 'ranks', once)}"
            )
        return Columns(ranks=tuple(i for _, i in sorted(chosen)))

    def _choose_contest(
        self, contests: Mapping[str, list[tuple[int, int]]], contest: str | None
    ) -> list[tuple[int, int]]:
        pairs_of_all = [pair for pairs in contests.values() for pair in pairs]
        apart = len(contests) < len(pairs_of_all) or len({rank for rank, _ in pairs_of_all}) < len(pairs_of_all)
        if contest is None and (
            len(contests) == 1 or not apart
        ):  # "First choice (required)", "Second choice (optional)"
            return pairs_of_all
        picked = chosen_contest(list(contests), contest, self.names)
        return contests[picked]

    def _grid(self) -> tuple[tuple[int, str], ...]:
        """Columns like "question [candidate]", several of one question."""
        questions: dict[str, list[tuple[int, str]]] = {}
        for i, name in enumerate(self.names):
            if found := _BRACKET.fullmatch(name):
                questions.setdefault(found[1], []).append((i, found[2].strip()))
        grids = [grid for grid in questions.values() if len(grid) > 1]
        for question, grid in questions.items():
            if len(grid) > 1 and len(grids) == 1 and _RATING.search(question):
                columns = [i for i, _ in grid]
                raise WrongUse(
                    f'line 1: "{question}" asks for ratings, which are no ranks; count them by '
                    f"{_option(self.names, 'scores', columns)} with `rule=score`, or, if they are ranks, say "
                    f"{_option(self.names, 'grid', columns)}"
                )
        if len(grids) > 1:
            options = _option(self.names, "grid", [i for i, _ in grids[0]])
            raise WrongUse(f"line 1: several questions have a column for each candidate; say which, like {options}")
        return tuple(grids[0]) if grids else ()

    def _numbered_columns(self) -> Columns | None:
        """Columns called 1, 2, 3, ...: ranks, if the cells hold names."""
        found = [i for i, name in enumerate(self.names) if name.isascii() and name.isdigit() and len(name) < 4]
        if [int(self.names[i]) for i in found] != list(range(1, len(found) + 1)) or len(found) < 2:
            return None
        cells = self._cells(found, self.first[:1])
        if all(cell.isdigit() for cell in cells if cell):
            raise WrongUse(
                f"line 1: the columns are {listed_header(self.names)} and hold numbers, so they may be ranks or candidates; "
                f"say which: {_option(self.names, 'ranks', found)} or {_option(self.names, 'grid', found)}"
            )
        return Columns(ranks=tuple(found))


def id_column(header: Sequence[str]) -> int | None:
    """The column that names each ballot, if there is one."""
    return next((i for i, name in enumerate(header) if " ".join(name.split()).casefold() in _IDS), None)


def stamp_column(header: Sequence[str]) -> int | None:
    """The column that says when each ballot came, if there is one: two of them are hardly ever the same."""
    return next((i for i, name in enumerate(header) if _STAMP.fullmatch(" ".join(name.split()))), None)


class SeveralContests(WrongUse):
    """The file holds several contests, `names`, and which of them is meant was not said."""

    def __init__(self, sentence: str, names: Sequence[str]) -> None:
        super().__init__(sentence)
        self.names = tuple(names)


def chosen_contest(contests: Sequence[str], wanted: str | None, header: Sequence[str]) -> str:
    """The contest that was asked for, by its name or a part that no other has."""
    named = [name for name in contests if wanted is not None and wanted.casefold() in name.casefold()]
    exact = [name for name in named if wanted is not None and name.casefold() == wanted.casefold()]
    if len(exact) == 1 or len(named) == 1:
        return (exact or named)[0]
    if len(contests) == 1 and wanted is None:
        return contests[0]
    which = ", ".join(f'"{name}"' for name in contests[:_MOST_LISTED])
    example = next((name for name in contests if name), contests[0])
    raise SeveralContests(
        f"line 1: the file holds the contests {which}; say which, like `contest={shlex.quote(example)}`", contests
    )


def _rank_of(name: str) -> Iterator[tuple[int, str]]:
    """The rank that a column's name says, and of which contest."""
    bracket = _BRACKET.fullmatch(name)
    inner = bracket[2].strip() if bracket else name
    for pattern in _RANKS:
        if found := pattern.search(inner):
            rest = f"{inner[: found.start()]} {inner[found.end() :]}" if bracket is None else bracket[1]
            yield _rank_number(found), " ".join(_NUMBER_OF_CONTEST.sub("", rest).split())
            return
    if bracket and (found := _ORDINAL_ONLY.fullmatch(inner)):
        yield _rank_number(found), bracket[1].strip()


def _rank_position(name: str) -> int | None:
    """Where among ranks a column stands by its name, the best first: its number, or the first or last of all."""
    for rank, _ in _rank_of(name):
        return rank
    if found := _ORDINAL_ONLY.fullmatch(name):
        return _rank_number(found)
    if _WORST.search(name):
        return 1001
    if _BEST.search(name):
        return 0
    return 1000 if _MIDDLE.search(name) else None


def _rank_number(found: re.Match[str]) -> int:
    return int(found[1]) if found[1] else _ORDINALS.index(found[2].casefold()) + 1


def _in_brackets(name: str) -> str:
    found = _BRACKET.fullmatch(name)
    return found[2].strip() if found else name


_CELL: Final = re.compile(rf"(?:{_PLACE}\s*)?(\d{{1,5}})(?:\.0+|st|nd|rd|th)?(?:\s*{_PLACE})?", re.IGNORECASE)
_WORD_CELL: Final = re.compile(rf"({'|'.join(_ORDINALS)})(?:\s*{_PLACE})?", re.IGNORECASE)


def rank_in_cell(cell: str) -> int | None:
    """The rank that a cell of a grid holds: 1, 1.0, 1st, First choice, Rank 1; None if it holds no rank."""
    if found := _CELL.fullmatch(cell):
        return int(found[1]) or None
    found = _WORD_CELL.fullmatch(cell)
    return _ORDINALS.index(found[1].casefold()) + 1 if found else None
