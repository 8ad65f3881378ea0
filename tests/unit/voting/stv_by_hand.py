"""The single transferable vote counted another way: ballot by ballot, in decimals, from the text of a BLT file.

It shares nothing with the library: its own reader, one object for each ballot paper, and Python's decimal module.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal


@dataclass
class Paper:
    preferences: list[int]
    value: Decimal = Decimal(1)
    holder: int | None = None


@dataclass
class Tally:
    quota: int
    elected: list[int]
    stages: list[dict[int, Decimal]]  # votes of each candidate at the end of each stage
    lots: int = 0
    log: list[str] = field(default_factory=list)


def papers_of(text: str) -> tuple[int, int, list[Paper]]:
    """Candidates, seats and one paper for each ballot."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    candidates, seats = (int(word) for word in lines[0])
    papers = []
    for words in lines[1:]:
        if words == ["0"]:
            break
        preferences = [int(word) for word in words[1:-1]]
        papers += [Paper(preferences) for _ in range(int(words[0]))]
    return candidates, seats, papers


def count(candidates: int, seats: int, papers: list[Paper], *, scottish: bool) -> Tally:
    """Rules 45 to 52 of the Scottish Order, or fractions cut after four places with surpluses moved together."""
    step = Decimal("0.00001") if scottish else Decimal("0.0001")
    running, elected, excluded = set(range(1, candidates + 1)), list[int](), list[int]()
    papers = [paper for paper in papers if paper.preferences]
    for paper in papers:
        paper.holder = paper.preferences[0]
    quota = len(papers) // (seats + 1) + 1
    kept: dict[int, Decimal] = {}  # votes that an elected candidate keeps after the surplus has moved
    tally = Tally(quota, elected, [])

    def votes(candidate: int) -> Decimal:
        if candidate in kept:
            return kept[candidate]
        return sum((paper.value for paper in papers if paper.holder == candidate), Decimal(0))

    def hand_on(candidate: int, worth: dict[int, Decimal] | None = None) -> None:
        for number, paper in enumerate(papers):
            if paper.holder == candidate:
                later = paper.preferences[paper.preferences.index(candidate) + 1 :]
                paper.holder = next((other for other in later if other in running), None)
                if worth is not None:
                    paper.value = worth[number]

    def pick(tied: list[int], high: bool) -> int:
        for stage in reversed(tally.stages[:-1]):
            if not scottish or len(tied) == 1:
                break
            edge = (max if high else min)(stage[c] for c in tied)
            tied = [c for c in tied if stage[c] == edge]
        tally.lots += len(tied) > 1
        return tied[0]

    def end_stage() -> None:
        now = {c: votes(c) for c in range(1, candidates + 1)}
        tally.stages.append(now)
        for c in sorted(running, key=lambda c: (-now[c], c)):
            if now[c] >= quota:
                elected.append(c)
                running.discard(c)
        if len(running) <= seats - len(elected):
            elected.extend(sorted(running, key=lambda c: (-now[c], c)))
            running.clear()

    end_stage()
    while len(elected) < seats:
        now = tally.stages[-1]
        over = [c for c in elected if c not in kept and now[c] > quota]
        if over:
            most = max(now[c] for c in over)
            moving = [pick([c for c in over if now[c] == most], True)] if scottish else over
            for c in moving:
                surplus, total = now[c] - quota, now[c]
                fraction = (surplus / total).quantize(step, ROUND_DOWN)
                worth = {}
                for number, paper in enumerate(papers):
                    if paper.holder == c:
                        exact = paper.value * surplus / total if scottish else paper.value * fraction
                        worth[number] = exact.quantize(step, ROUND_DOWN)
                hand_on(c, worth)
                kept[c] = Decimal(quota)
        else:
            fewest = min(now[c] for c in running)
            out = pick(sorted(c for c in running if now[c] == fewest), False)
            running.discard(out)
            excluded.append(out)
            hand_on(out)
        end_stage()
    return tally
