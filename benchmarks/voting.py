"""Counting a million ballots of ten candidates, beside the peers in the same run: ``python -m benchmarks.voting``.

From raw rows (an array with a row for each ballot, all orders equally likely) beside elsim, whose loops numba compiles;
on weighted unique rankings (a spread of favourites) beside pref_voting and VoteKit's FastSTV, which are handed their
own profiles, made beforehand. Peers stop at a majority; ours goes on until two are left and records every round and
transfer. Where numba is loaded, ours moves ballots with a compiled loop too; "arrays only" is without. Rows are taken
on trust, as elsim takes them, except where they are "checked". Milliseconds of processor time, the best of repeats
taken in turn. At the end a file of ballots is read (`benchmarks.ballot_files`). One JSON line per row goes to stdout,
the table to stderr. Peers that are not installed are left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.ballot_files import RANKS, ROWS, from_files
from benchmarks.noise import Task, seconds
from hubbub.noise.source import SystemSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules import piles
from hubbub.voting.rules.rules import ApproximateRunoff, Borda, InstantRunoff, Plurality, RepeatedPlurality, Rule

REPEATS: Final = 7
BALLOTS: Final = 1_000_000
CANDIDATES: Final = 10
NAMES: Final = tuple("abcdefghij")
SPREAD: Final = 2.5  # of the favourites' strengths, so that rankings repeat themselves


OURS: Final = "our instant-runoff"
MARGINED: Final[dict[str, Rule]] = {
    "repeated plurality": RepeatedPlurality(),
    "repeated plurality, margin 0": RepeatedPlurality(margin=0),
    "approximate runoff": ApproximateRunoff(),
    "approximate runoff, margin 0": ApproximateRunoff(margin=0),
}


@dataclass(frozen=True, slots=True)
class Row:
    """Milliseconds; `ratio` is ours over the peer's, and at most `limit`, where anything was asked for."""

    task: str
    hubbub: float
    peer: str | None
    theirs: float | None
    ratio: float | None
    limit: float | None


def measure(task: str, ours: Task, peer: str | None, theirs: Task | None, limit: float | None) -> Row:
    best, best_peer = float("inf"), float("inf")
    ours()  # compiles, where there is anything to compile
    if theirs is not None:
        theirs()
    for _ in range(REPEATS):
        best = min(best, 1000 * seconds(ours))
        if theirs is not None:
            best_peer = min(best_peer, 1000 * seconds(theirs))
    if theirs is None:
        return Row(task, best, None, None, None, limit)
    return Row(task, best, peer, best_peer, best / best_peer, limit)


def found(module: str) -> Any:
    """A peer's module, or None."""
    try:
        return import_module(module)
    except ImportError:
        return None


def arrays_only(task: Task) -> Task:
    def without_compiled_loops() -> object:
        before, piles._COMPILED_FROM = piles._COMPILED_FROM, BALLOTS + 1  # type: ignore[misc]
        try:
            return task()
        finally:
            piles._COMPILED_FROM = before  # type: ignore[misc]

    return without_compiled_loops


def words() -> NDArray[np.uint64]:
    """A random number for each candidate on each ballot."""
    return SystemSource().words(BALLOTS * CANDIDATES).reshape(BALLOTS, CANDIDATES)


def from_rows() -> list[Row]:
    rows = np.argsort(words(), axis=1).astype(np.uint8)
    source, elsim = SystemSource(), found("elsim.methods")

    def count(rule: Rule, *, trusted: bool = True) -> Task:
        return lambda: rule.run(Ballots.from_rows(NAMES, rows, trusted=trusted), source)

    def beside(name: str) -> Task | None:
        return None if elsim is None else lambda: getattr(elsim, name)(rows)

    runoff = count(InstantRunoff())
    out = [
        measure("rows: plurality", count(Plurality()), "elsim", beside("fptp"), 1.0),
        measure("rows: Borda", count(Borda()), "elsim", beside("borda"), 1.0),
        measure("rows: instant-runoff", runoff, "elsim", beside("irv"), 1.0),
        measure("rows: instant-runoff, arrays only", arrays_only(runoff), "elsim", beside("irv"), 1.5),
        measure("rows, checked: instant-runoff", count(InstantRunoff(), trusted=False), "elsim", beside("irv"), None),
    ]
    return out + [measure(f"rows: {text}", count(rule), OURS, runoff, 2.0) for text, rule in MARGINED.items()]


def from_unique() -> list[Row]:
    strength = np.linspace(0, SPREAD, CANDIDATES)
    noise = -np.log(-np.log((words() + 0.5) / 2.0**64))  # Gumbel: stronger candidates come first more often
    rankings, weights = np.unique(np.argsort(strength - noise, axis=1).astype(np.int8), axis=0, return_counts=True)
    ballots, source = Ballots.from_rows(NAMES, rankings, weights), SystemSource()

    def count(rule: Rule) -> Task:
        return lambda: rule.run(ballots, source)

    runoff = count(InstantRunoff())
    out: list[Row] = []
    for rule, name in ((Plurality(), "plurality"), (Borda(), "borda"), (InstantRunoff(), "instant_runoff")):
        theirs = pref_voting(rankings, weights, name)
        out.append(measure(f"unique: {rule.name}", count(rule), "pref_voting", theirs, 1.0))
    out.append(measure("unique: instant-runoff", runoff, "VoteKit FastSTV", votekit(rankings, weights), 1.0))
    return out + [measure(f"unique: {text}", count(rule), OURS, runoff, 2.0) for text, rule in MARGINED.items()]


_PROFILES: Final[dict[str, Any]] = {}  # making one takes the peers seconds


def pref_voting(rankings: NDArray[np.int8], weights: NDArray[np.int64], name: str) -> Task | None:
    profiles, iterative, scoring = (
        found(f"pref_voting.{part}") for part in ("profiles", "iterative_methods", "scoring_methods")
    )
    if profiles is None or iterative is None or scoring is None:
        return None
    if "pref_voting" not in _PROFILES:
        _PROFILES["pref_voting"] = profiles.Profile(rankings.tolist(), rcounts=weights.tolist())
    rule: Callable[[Any], object] = getattr(iterative if name == "instant_runoff" else scoring, name)
    return lambda: rule(_PROFILES["pref_voting"])


def votekit(rankings: NDArray[np.int8], weights: NDArray[np.int64]) -> Task | None:
    elections, profiles, pandas = found("votekit.elections"), found("votekit.pref_profile"), found("pandas")
    if elections is None or profiles is None or pandas is None or not hasattr(elections, "FastSTV"):
        return None
    sets = np.empty(CANDIDATES, dtype=object)
    sets[:] = [frozenset((name,)) for name in NAMES]
    table = pandas.DataFrame({f"Ranking_{j + 1}": sets[rankings[:, j]] for j in range(CANDIDATES)})
    table["Voter Set"] = [set() for _ in range(len(rankings))]
    table["Weight"] = weights.astype(float)
    table.index.name = "Ballot Index"
    profile = profiles.RankProfile(df=table, candidates=list(NAMES), max_ranking_length=CANDIDATES)
    return lambda: elections.FastSTV(profile, n_seats=1)


def main() -> None:
    head = f"{'task':<38}{'hubbub':>9}{'peer':>9}{'ratio':>8}{'at most':>9}  peer"
    print(f"{head}   (ms of CPU, {BALLOTS:,} ballots, {CANDIDATES} candidates)", file=sys.stderr)
    for part in (from_rows, from_unique):
        for row in part():
            theirs = f"{'':>9}{'':>8}" if row.theirs is None else f"{row.theirs:>9.1f}{row.ratio:>8.2f}"
            most = "" if row.limit is None else f"{row.limit:.1f}"
            print(f"{row.task:<38}{row.hubbub:>9.1f}{theirs}{most:>9}  {row.peer or ''}", file=sys.stderr)
            print(json.dumps({"benchmark": "voting", **asdict(row)}), flush=True)
    print(f"\n{'reading a CSV file':<38}{'seconds':>9}{'MB':>9}   ({ROWS:,} rows, {RANKS} ranks)", file=sys.stderr)
    for read in from_files():
        most = "" if read.limit is None else f"  at most {read.limit:g} s, {read.most_megabytes:g} MB"
        of = "" if read.of == ROWS else f", {read.of:,} rows"
        told = {name: value for name, value in asdict(read).items() if name != "reader"}
        print(f"{read.reader + of:<38}{read.seconds:>9.2f}{read.megabytes:>9.0f}{most}", file=sys.stderr)
        print(json.dumps({"benchmark": "voting", "task": f"read a CSV file: {read.reader}", **told}), flush=True)


if __name__ == "__main__":
    main()
