"""Releases that are right one by one and wrong together: two margins of one table, two tables of one sample."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from typing import Final

from flint import arb

from hubbub.audit.finding import Depth, Finding, Game
from hubbub.audit.published.file import Cell, Key, Published
from hubbub.audit.published.inference import of_tables
from hubbub.channels.mechanisms.exact_or_suppressed import ExactOrSuppressed
from hubbub.channels.profile import exact_delta
from hubbub.channels.subsample import Subsampled
from hubbub.guarantees.verdict import Proved, Refuted, Verdict
from hubbub.numeric.exact import ball, exp, lower, rounded, to_text, upper

K: Final = 5
PEOPLE: Final = {("Bath", "F"): 30, ("Bath", "M"): 3, ("York", "F"): 12, ("York", "M"): 9}
"""Invented: three men of Bath are hidden at k = 5."""


def _cell(count: int) -> Cell:
    return Cell(count, count, False) if count >= K else Cell(0, K - 1, True)


def margins(*, jointly: bool) -> Finding:
    """A table by town and sex, and with it one by town: each hides counts below 5."""
    fine = Published("by-town-and-sex.csv", ("town", "sex"), {key: _cell(count) for key, count in PEOPLE.items()})
    towns = sorted({town for town, _ in PEOPLE})
    coarse: dict[Key, Cell] = {(town,): _cell(sum(n for (at, _), n in PEOPLE.items() if at == town)) for town in towns}
    tables = [fine, Published("by-town.csv", ("town",), coarse)] if jointly else [fine]
    return of_tables(tables, K)


# --- one sample, twice --------------------------------------------------------------------------------------------

RATE: Final = Fraction(1, 4)
OTHERS: Final = 12
EPSILON: Final = Fraction(1)


def samples(*, reused: bool) -> Finding:
    """A table by street and one of the whole town, both hiding counts below 5, of a secret sample or of two.

    Twelve people live in one street and the person alone in another. Promised is what two samples buy: the losses of
    both releases add up. Of one sample, the town minus the street is the person.
    """
    claimed = 2 * max(_chance_single(people) for people in range(1, OTHERS + 2))
    with_person, gone = (_law(present=present, reused=reused) for present in (True, False))
    delta = _hockey_stick(with_person, gone).max(_hockey_stick(gone, with_person))
    verdict: Verdict = Proved("the joint laws are as close as promised")
    if lower(delta) > claimed:
        witness = (
            ("people", f"{OTHERS} in one street, one in another"),
            ("epsilon", to_text(EPSILON)),
            ("claimed_delta", to_text(rounded(claimed, up=True, digits=6))),
            ("exact_delta_at_least", to_text(rounded(delta, up=False, digits=6))),
        )
        verdict = Refuted("two tables of one sample tell who is in it", witness)
    return Finding(
        game=Game.DIFFERENTIAL,
        depth=Depth.EXACT,
        verdict=verdict,
        claimed=f"epsilon {to_text(EPSILON)}, delta {to_text(rounded(claimed, up=True, digits=6))}",
        subject="two tables of one sample" if reused else "two tables of two samples",
        lower_bound=f"delta {to_text(rounded(delta, up=False, digits=6))}",
    )


def _chance_single(people: int) -> Fraction:
    """The exact delta of one table on its own sample at half the epsilon."""
    return upper(exact_delta(Subsampled(RATE, ExactOrSuppressed(K)), people, EPSILON / 2))


def _law(*, present: bool, reused: bool) -> dict[object, Fraction]:
    """Outcomes (street, the other street, town) with their exact probabilities."""
    found: dict[object, Fraction] = {}
    for (a, t, p), (b, u, q) in product(_sample(present), _sample(present)):
        if reused and (a, t) != (b, u):
            continue
        published = (_suppressed(a), _suppressed(t), _suppressed(b + u))
        found[published] = found.get(published, Fraction(0)) + (p if reused else p * q)
    return found


def _sample(present: bool) -> list[tuple[int, int, Fraction]]:
    """How many of the street are sampled, whether the person is, and how likely that is."""
    street = [(m, comb(OTHERS, m) * RATE**m * (1 - RATE) ** (OTHERS - m)) for m in range(OTHERS + 1)]
    person = [(0, 1 - RATE), (1, RATE)] if present else [(0, Fraction(1))]
    return [(m, t, p * q) for m, p in street for t, q in person]


def _suppressed(count: int) -> int | None:
    return count if count >= K else None


def _hockey_stick(one: dict[object, Fraction], two: dict[object, Fraction]) -> arb:
    total = arb(0)
    for outcome, p in one.items():
        gain = ball(p) - exp(EPSILON) * ball(two.get(outcome, Fraction(0)))
        total += gain.nonnegative_part()
    return total
