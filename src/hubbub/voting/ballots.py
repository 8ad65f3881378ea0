"""Ballots as weighted unique rankings in arrays.

Three kinds, told apart by where they are kept:

::

    complete    a row of `rankings` without -1: every candidate, best first
    truncated   a row of `rankings` that ends in -1: who is missing is ranked below, and among themselves not at all
    tied        a row of `levels`: the level of each candidate, 0 the best, -1 unranked, some level held by several

Voting rules count strict ballots (complete or truncated). A tied ballot is settled first, by a rule with a name
(:mod:`hubbub.voting.formats.reading`). A blank ballot is a truncated one that ranks nobody: it counts as a voter.

A weight is a number of identical ballots, one voter each. Voters who count for more than one are another thing, for
which no promise of this library holds: nothing here reads a weight that way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.row_keys import equal_rows

Ranking: TypeAlias = tuple[str, ...]
Ranks: TypeAlias = NDArray[np.integer]
Weights: TypeAlias = NDArray[np.int64]

Number = TypeVar("Number", bound=np.integer)

UNRANKED: Final = -1
MOST_CANDIDATES: Final = 32_000
MOST_VOTERS: Final = 1 << 53  # sums of weights stay exact in every array they pass through
MOST_RANKS: Final = 1 << 28  # in the table of rankings: different ballots times candidates, half a gigabyte


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ballots:
    """`weights[i]` voters ranked `rankings[i]`, best first, -1 after the last; `tied_weights[i]` gave `levels[i]`.

    All arrays are read-only. Make one with :meth:`from_counts` or :meth:`from_rows`, which check what they are given.
    """

    candidates: tuple[str, ...]
    rankings: Ranks  # unique, candidates
    weights: Weights  # unique
    levels: Ranks  # tied, candidates
    tied_weights: Weights  # tied

    @classmethod
    def from_counts(
        cls,
        candidates: Sequence[str],
        counts: Mapping[Ranking, int],
        *,
        tied: Mapping[tuple[frozenset[str], ...], int] | None = None,
    ) -> Ballots:
        """From names: ``Ballots.from_counts("abc", {("a", "b", "c"): 3, ("b",): 2})``.

        >>> Ballots.from_counts("abc", {("a", "b", "c"): 3, ("b",): 2}).rankings.tolist()
        [[0, 1, 2], [1, -1, -1]]
        """
        names = checked_candidates(candidates)
        index = {name: i for i, name in enumerate(names)}
        check_table_size(len(counts) + len(tied or {}), len(names))
        rankings = np.full((len(counts), len(names)), UNRANKED, dtype=_small(len(names)))
        for row, ranking in zip(rankings, counts, strict=True):
            row[: len(ranking)] = _indices(ranking, index)
        levels = np.full((len(tied or {}), len(names)), UNRANKED, dtype=rankings.dtype)
        for row, groups in zip(levels, tied or {}, strict=True):
            everyone = [name for group in groups for name in group]
            row[_indices(everyone, index)] = [i for i, group in enumerate(groups) for _ in group]
        weights = _integers(list(counts.values()))
        return cls._assemble(names, rankings, weights, levels, _integers(list((tied or {}).values())))

    @classmethod
    def from_rows(
        cls, candidates: Sequence[str], rows: ArrayLike, weights: ArrayLike | None = None, *, trusted: bool = False
    ) -> Ballots:
        """From an array of candidate numbers, a row for each ballot (or each `weights` ballots), -1 for no one.

        The rows are kept as they are: nothing is sorted and equal rows are not merged (:meth:`merge_equal` does that).
        With `trusted` they are not looked at, which saves a pass over them; a row with a candidate twice, or with a
        number that is none, then gives wrong counts.
        """
        names = checked_candidates(candidates)
        rankings = np.asarray(rows)
        if rankings.ndim != 2 or rankings.dtype.kind not in "iu":
            raise WrongUse("rows of ballots must be a table of whole numbers, a row for each ballot")
        if rankings.shape[1] < len(names):
            short = rankings
            rankings = np.full((len(short), len(names)), UNRANKED, dtype=_small(len(names)))
            if not trusted:
                _check_numbers(short, len(names))
            rankings[:, : short.shape[1]] = short
        if not trusted:
            _check_rows(rankings, len(names))
        if weights is None:
            counts = np.broadcast_to(np.int64(1), len(rankings))
        else:
            counts = _integers(weights)
            if len(counts) != len(rankings):
                raise WrongUse(f"every row of ballots needs one weight: {len(rankings)} rows, {len(counts)} weights")
        return cls._assemble(names, rankings, counts)

    @classmethod
    def from_levels(cls, candidates: Sequence[str], levels: ArrayLike, weights: ArrayLike) -> Ballots:
        """From an array of levels, a row for each `weights` ballots: approvals or scores, of which some levels may be
        empty."""
        names, rows = checked_candidates(candidates), np.asarray(levels)
        if rows.ndim != 2 or rows.shape[1] != len(names) or rows.dtype.kind != "i" or rows.min(initial=0) < UNRANKED:
            raise WrongUse("levels must be a table of whole numbers from -1 on, a column for each candidate")
        none = np.empty((0, len(names)), dtype=_small(len(names)))
        return cls._assemble(names, none, np.empty(0, dtype=np.int64), rows, _integers(weights))

    @classmethod
    def _assemble(
        cls,
        names: tuple[str, ...],
        rankings: Ranks,
        weights: Weights,
        levels: Ranks | None = None,
        tied_weights: Weights | None = None,
    ) -> Ballots:
        if levels is None:
            levels = np.empty((0, len(names)), dtype=np.int8)
        if tied_weights is None:
            tied_weights = np.empty(0, dtype=np.int64)
        made = cls(
            candidates=names,
            rankings=_frozen(rankings),
            weights=_frozen(weights),
            levels=_frozen(levels),
            tied_weights=_frozen(tied_weights),
        )
        # A thousand weights of 2^53 would wrap around, so a sum in floats comes first.
        if _roughly(weights) + _roughly(tied_weights) > 2 * MOST_VOTERS or made.voters > MOST_VOTERS:
            raise WrongUse("an election can have at most 2^53 ballots, and these are more")
        return made

    @property
    def voters(self) -> int:
        """How many ballots there are, of every kind, blank ones included."""
        each_one = not self.weights.strides[0]  # rows as they came: one weight for all
        strict = len(self.weights) * int(self.weights[0]) if each_one and len(self.weights) else int(self.weights.sum())
        return strict + int(self.tied_weights.sum())

    @property
    def single(self) -> bool:
        """Whether every row is one ballot, so that a count need not look at weights."""
        return not self.weights.strides[0]

    @property
    def complete(self) -> int:
        """Voters who ranked every candidate, strictly."""
        return int(self.weights[self.rankings[:, -1] >= 0].sum())

    @property
    def tied_voters(self) -> int:
        """Voters who ranked some candidates equal."""
        return int(self.tied_weights.sum())

    @property
    def truncated_voters(self) -> int:
        """Voters who left candidates out, strictly ranked otherwise; a blank ballot leaves out all."""
        return self.voters - self.complete - self.tied_voters

    @property
    def blank(self) -> int:
        """Voters who marked nobody."""
        strict = int(self.weights[self.rankings[:, 0] < 0].sum())
        return strict + int(self.tied_weights[(self.levels < 0).all(axis=1)].sum())

    def counts(self) -> dict[Ranking, int]:
        """The strict ballots by name, equal ones together."""
        out: dict[Ranking, int] = {}
        for row, weight in zip(self.rankings.tolist(), self.weights.tolist(), strict=True):
            ranking = tuple(self.candidates[i] for i in row if i >= 0)
            out[ranking] = out.get(ranking, 0) + weight
        return out

    def tied_counts(self) -> dict[tuple[frozenset[str], ...], int]:
        """The tied ballots by name: groups of equals, the best first."""
        out: dict[tuple[frozenset[str], ...], int] = {}
        for row, weight in zip(self.levels.tolist(), self.tied_weights.tolist(), strict=True):
            groups = tuple(
                frozenset(self.candidates[i] for i, level in enumerate(row) if level == k) for k in range(max(row) + 1)
            )
            out[groups] = out.get(groups, 0) + weight
        return out

    def merge_equal(self) -> Ballots:
        """The same ballots with equal rows together."""
        rankings, weights = merged_rows(self.rankings, self.weights)
        levels, tied_weights = merged_rows(self.levels, self.tied_weights)
        return self._assemble(self.candidates, rankings, weights, levels, tied_weights)

    def with_candidates(self, candidates: Sequence[str]) -> Ballots:
        """The same ballots in an election with these candidates, all of its own among them."""
        names = checked_candidates(candidates)
        if names == self.candidates:
            return self
        new = np.full(len(self.candidates) + 1, UNRANKED, dtype=_small(len(names)))  # the last stands for -1
        new[:-1] = [names.index(name) for name in self.candidates]
        rankings = np.full((len(self.rankings), len(names)), UNRANKED, dtype=_small(len(names)))
        rankings[:, : self.rankings.shape[1]] = new[self.rankings]
        levels = np.full((len(self.levels), len(names)), UNRANKED, dtype=self.levels.dtype)
        levels[:, new[:-1]] = self.levels
        return self._assemble(names, rankings, self.weights, levels, self.tied_weights)

    def join(self, other: Ballots) -> Ballots:
        """These ballots and `other` ones of the same candidates, equal rows together."""
        if self.candidates != other.candidates:
            raise WrongUse("ballots of different candidates cannot be counted together")
        small = _small(len(self.candidates))
        rankings = np.concatenate([self.rankings.astype(small), other.rankings.astype(small)])
        weights = np.concatenate([self.weights, other.weights])
        levels = np.concatenate([self.levels, other.levels])  # of scores, which may be more than candidates
        tied = np.concatenate([self.tied_weights, other.tied_weights])
        return self._assemble(self.candidates, *merged_rows(rankings, weights), *merged_rows(levels, tied))

    def lower_levels(self, by: int) -> Ballots:
        """The same ballots with so many empty levels above, as where scores come to stand on a higher scale."""
        levels = np.where(self.levels < 0, UNRANKED, self.levels.astype(np.int16) + by).astype(np.int16)
        return self._assemble(self.candidates, self.rankings, self.weights, levels, self.tied_weights)

    def with_blank(self, number: int, *, levels: bool = False) -> Ballots:
        """The same ballots with so many blank ones, which are kept as levels where scores are."""
        ranked, tied = self.rankings[:, 0] >= 0, (self.levels >= 0).any(axis=1)
        parts = [(self.rankings[ranked], self.weights[ranked]), (self.levels[tied], self.tied_weights[tied])]
        rows, weights = parts[levels]
        blank = np.full((1, len(self.candidates)), UNRANKED, dtype=rows.dtype)
        parts[levels] = np.concatenate([rows, blank]), np.append(weights, np.int64(number))
        return self._assemble(self.candidates, *parts[0], *parts[1])

    def restrict_to(self, kept: Sequence[int]) -> Ballots:
        """The strict ballots with all but the `kept` candidates struck out, these numbered as they come in `kept`."""
        self.strictly("a restriction to some candidates")
        new = np.full(len(self.candidates) + 1, UNRANKED, dtype=_small(len(kept)))  # the last stands for -1
        new[list(kept)] = np.arange(len(kept))
        moved = new[self.rankings]
        order = np.argsort(moved < 0, axis=1, kind="stable")[:, : len(kept)]  # whom it keeps come first, in their order
        names = tuple(self.candidates[i] for i in kept)
        rows, weights = merged_rows(np.take_along_axis(moved, order, axis=1), self.weights)
        return self._assemble(names, rows, weights)

    def strictly(self, what: str) -> Ballots:
        """These ballots, if none of them is tied."""
        if len(self.levels):
            raise WrongUse(
                f"{what} needs strict ballots, and {self.tied_voters} of these rank candidates equal; settle them first, "
                'like settle_ties(ballots, "stop")'
            )
        return self


@dataclass(frozen=True, slots=True)
class BallotBox:
    """Ballots that were read, and by what the ledger knows their file."""

    ballots: Ballots
    source: Any = None

    def columns(self) -> tuple[str, ...]:
        return ()

    def identity(self) -> Any:
        return self.source


def merged_rows(rows: Ranks, weights: Weights) -> tuple[Ranks, Weights]:
    """Equal rows once, with the sum of their weights, in the order of their first appearance."""
    if not len(rows):
        return rows, weights
    first, sums = equal_rows(rows, weights)
    order = np.argsort(first)
    return rows[first[order]], sums[order]


def check_table_size(different: int, candidates: int) -> None:
    """Whether so many different ballots fit into a table."""
    if different * candidates > MOST_RANKS:
        raise WrongUse(
            f"{different:,} different ballots of {candidates:,} candidates are too many for a table; check that "
            "each candidate has one spelling, or strike out those whom hardly anybody ranks"
        )


def checked_candidates(names: Sequence[str]) -> tuple[str, ...]:
    """At least two names, no name twice."""
    listed = tuple(names)
    if len(listed) < 2:
        raise WrongUse(f"an election needs at least 2 candidates, not {len(listed)}")
    if len(listed) > MOST_CANDIDATES:
        raise WrongUse(f"an election can have at most {MOST_CANDIDATES} candidates, not {len(listed)}")
    if not all(name.strip() for name in listed):
        raise WrongUse("every candidate needs a name, and one of them is empty")
    if len(set(listed)) != len(listed):
        seen: set[str] = set()
        twice = next(name for name in listed if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise WrongUse(f"every candidate needs a name of their own, and {twice!r} is there twice")
    return listed


def _frozen(array: NDArray[Number]) -> NDArray[Number]:
    view = array.view()
    view.flags.writeable = False
    return view


def _small(candidates: int) -> type[np.int8] | type[np.int16]:
    return np.int8 if candidates < 128 else np.int16


def _indices(ranking: Sequence[str], index: Mapping[str, int]) -> list[int]:
    unknown = [name for name in ranking if name not in index]
    if unknown:
        raise WrongUse(f"a ballot ranks {unknown[0]!r}, who is not a candidate; list every candidate")
    if len(set(ranking)) != len(ranking):
        raise WrongUse("a ballot ranks a candidate twice; each can be ranked once")
    return [index[name] for name in ranking]


def _integers(weights: ArrayLike) -> Weights:
    """Weights as int64: whole numbers of at least 0."""
    given = np.asarray(weights)
    if given.size == 0:
        return np.empty(0, dtype=np.int64)
    if given.dtype.kind not in "iu" or given.ndim != 1:
        raise WrongUse("a weight is a number of identical ballots: a whole number of at least 0")
    if given.min() < 0 or int(given.max()) > MOST_VOTERS:
        raise WrongUse("a weight is a number of identical ballots: a whole number from 0 to 2^53")
    return given.astype(np.int64)


def _roughly(weights: Weights) -> float:
    """The sum of weights, to a part in a million."""
    return float(len(weights)) if not weights.strides[0] else float(weights.sum(dtype=np.float64))


def _check_numbers(rows: Ranks, candidates: int) -> None:
    if rows.size and (int(rows.min()) < UNRANKED or int(rows.max()) >= candidates):
        raise WrongUse(f"a row of ballots holds numbers of candidates, 0 to {candidates - 1}, or -1 for nobody")


def _check_rows(rows: Ranks, candidates: int) -> None:
    """Numbers of candidates, none twice in a row, nobody after the first -1."""
    if rows.shape[1] > candidates:
        raise WrongUse(f"a ballot can rank {candidates} candidates, and a row has {rows.shape[1]} places")
    _check_numbers(rows, candidates)
    step = max(1, (1 << 18) // rows.shape[1])  # rows that stay in the cache
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        if _repeats(part, candidates):
            raise WrongUse("a row of ballots has a candidate twice; each can be ranked once")
        if part.dtype.kind == "i" and np.any((part[:, :-1] < 0) & (part[:, 1:] >= 0)):
            raise WrongUse("a row of ballots ranks somebody after a -1, which ends a ballot; close the gap first")


def _repeats(part: Ranks, candidates: int) -> bool:
    """Whether a row has a candidate twice."""
    if candidates > 64:
        ordered = np.sort(part, axis=1)
        return bool(np.any((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)))
    # A bit for each candidate: a row with as many bits as ranks has nobody twice.
    word = np.dtype("u2" if candidates <= 16 else "u4" if candidates <= 32 else "u8")
    seen = np.zeros(len(part), dtype=word)
    for column in np.ascontiguousarray(part.T):
        bit = word.type(1) << (column & 63).astype(word)
        seen |= bit if column.dtype.kind == "u" else np.where(column >= 0, bit, word.type(0))
    ranks = part.shape[1] if part.dtype.kind == "u" else np.count_nonzero(part >= 0, axis=1)
    return bool(np.any(np.bitwise_count(seen) != ranks))
