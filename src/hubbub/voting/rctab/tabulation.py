"""Counts by an office's rules from ballots of any file: what RCTab's configuration says, said by options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.labels import WRITE_IN
from hubbub.voting.formats.vendors.office_records import OfficeBallots, Ranks, ReportingUnit
from hubbub.voting.formats.vendors.rctab_config import (
    BOTTOMS_UP,
    ONE_A_ROUND,
    PASSES,
    PERCENTAGE,
    SEVERAL,
    SINGLE,
    UNDECLARED,
    Candidate,
    Configuration,
    TabulationRules,
)
from hubbub.voting.rctab.count import count_configured
from hubbub.voting.rctab.record import OfficeFile
from hubbub.voting.rctab.result import ConfiguredCount
from hubbub.voting.rctab.tie_breaks import TieBreaks

MOST_DECIMALS: Final = 20
ELECT: Final = {
    "majority": SINGLE,
    "seats": SEVERAL,
    "one-a-round": ONE_A_ROUND,
    "bottoms-up": BOTTOMS_UP,
    "percentage": PERCENTAGE,
    "passes": PASSES,
}
"""Who is elected, by the words of options."""


def tabulation_rules(
    elect: str,
    *,
    seats: int = 1,
    percent: int | None = None,
    decimals: int = 4,
    least_votes: int = 0,
    most_ranks: int | None = None,
    stop_after: int | None = None,
    hare: bool = False,
    fractional: bool = False,
    static: bool = False,
    batch: bool = False,
    until_two: bool = False,
) -> TabulationRules:
    """The rules of a count, as RCTab has them; what does not go together is refused."""
    if elect not in ELECT:
        raise WrongUse(f"`elect` takes {', '.join(ELECT)}, not {elect[:40]!r}")
    if decimals > MOST_DECIMALS:
        raise WrongUse(f"votes keep at most {MOST_DECIMALS} `decimals`, not {decimals}")
    if (percent is not None) != (elect == "percentage"):
        raise WrongUse("`percent` goes with `elect=percentage`, which needs it")
    if percent is not None and not 0 < percent < 100:
        raise WrongUse(f"`percent` is above 0 and below 100, not {percent}")
    if elect in ("majority", "percentage") and seats != 1:
        raise WrongUse(
            f"`elect={elect}` takes no `seats`; several are elected by seats, one-a-round, bottoms-up, passes"
        )
    if (batch or until_two) and elect not in ("majority", "passes"):
        raise WrongUse(f"`batch` and `until_two` are for majority and passes, not for {elect}; leave them out")
    if (hare or fractional or static) and elect in ("bottoms-up", "percentage"):
        raise WrongUse(f"`elect={elect}` has no quota; leave out `quota`, `fractional` and `threshold`")
    return TabulationRules(
        mode=ELECT[elect],
        winners=seats,
        ties="random",
        overvotes="exhaustImmediately",
        percentage=percent,
        decimals=decimals,
        least_votes=least_votes,
        most_ranks=most_ranks,
        stop_after=stop_after,
        fractional=fractional,
        hare=hare,
        batch=batch,
        until_two=until_two,
        first_threshold=static,
    )


def office_file(
    rules: TabulationRules,
    ballots: Ballots,
    *,
    exclude: Sequence[str] = (),
    title: str = "",
    units: Mapping[str, Ballots] | None = None,
) -> OfficeFile:
    """Strict ballots as an office has them, which those of all `units` (precincts) are together. Write-ins that are one
    candidate are undeclared."""
    unknown = [name for name in exclude if name not in ballots.candidates]
    if unknown:
        raise WrongUse(f"`exclude` names {unknown[0][:40]!r}, who is no candidate of these ballots; check the spelling")
    names = tuple(UNDECLARED if name == WRITE_IN else name for name in ballots.strictly("a tabulation").candidates)
    if len(names) - len(set(exclude)) < 1:
        raise WrongUse("`exclude` leaves nobody to elect; name fewer")
    by_unit = [
        (ReportingUnit(unit, ""), ranks, weight)
        for unit, part in (units or {"": ballots}).items()
        for ranks, weight in _ranks(part, names, rules.most_ranks).items()
    ]
    candidates = tuple(Candidate(name=name, excluded=name in exclude) for name in names)
    configuration = Configuration(
        title=title, date="", jurisdiction="", office="", sources=(), candidates=candidates, rules=rules
    )
    return OfficeFile(configuration, OfficeBallots(names, tuple(by_unit)))


def tabulate(
    rules: TabulationRules,
    ballots: Ballots,
    ties: TieBreaks,
    *,
    exclude: Sequence[str] = (),
    title: str = "",
    units: Mapping[str, Ballots] | None = None,
) -> tuple[OfficeFile, ConfiguredCount]:
    """Count strict ballots by such rules; undeclared write-ins go first.

    Guarantee: that of :func:`hubbub.voting.rctab.count.count_configured`; ties are broken by `ties`.
    """
    file = office_file(rules, ballots, exclude=exclude, title=title, units=units)
    return file, count_configured(file.configuration, file.ballots, ties)


def _ranks(ballots: Ballots, names: Sequence[str], most: int | None) -> dict[Ranks, int]:
    counts: dict[Ranks, int] = {}
    for row, weight in zip(ballots.rankings.tolist(), ballots.weights.tolist(), strict=True):
        ranked = [names[i] for i in row if i >= 0][:most]
        ranks = tuple((rank, frozenset((name,))) for rank, name in enumerate(ranked, 1))
        counts[ranks] = counts.get(ranks, 0) + weight
    return counts
