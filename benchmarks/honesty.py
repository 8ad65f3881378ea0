"""What honesty costs, rule by rule: ``python -m benchmarks.honesty [FOLDER] > docs/price-of-honesty.md``.

For three candidates all of it is exact: how often a rule elects the Condorcet winner when all orders are equally
likely, and the most that a lie gains over two triangles of beliefs. With a folder of ballot files, also whom the rules
elect there. Seconds are processor time of one run on the machine at hand.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Final, TypeVar

from hubbub.errors import HubbubError
from hubbub.voting.figures import approximately
from hubbub.voting.formats import formats
from hubbub.voting.manipulation.beliefs import Belief, dirichlet
from hubbub.voting.manipulation.condorcet import efficiencies
from hubbub.voting.manipulation.gain import Question, gain
from hubbub.voting.manipulation.gain_map import NAMES, gain_map
from hubbub.voting.manipulation.gain_winners import Contest
from hubbub.voting.rules.pairwise import pairwise
from hubbub.voting.rules.rules import ForGain, make
from hubbub.voting.rules.threshold import threshold

VOTERS: Final = (101, 1001)
STEPS: Final = 12
EXACT: Final = {"plurality": (800, 10_000), "instant-runoff": (51, 101), "borda": (1001,)}  # voters
ETAS: Final = ("1e-12", "1e-3")
PLAIN: Final = ("instant-runoff", "borda", "plurality")
MARGINED: Final = ("repeated-plurality", "approximate-runoff")
REAL: Final = (*PLAIN, *MARGINED)

Found = TypeVar("Found")


def timed(task: Callable[[], Found]) -> tuple[Found, float]:
    start = time.process_time()
    found = task()
    return found, time.process_time() - start


def contests(voters: int) -> dict[str, Contest]:
    """The rules with what they are called in the table."""
    found = {kind: Contest(kind=kind) for kind in PLAIN}
    for kind in MARGINED:
        for eta in ETAS:
            within = threshold(ForGain(Fraction(eta)), kind, voters, 3)
            found[f"{kind}, eta {eta} (margin {within})"] = Contest(kind=kind, margin=within)
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def three(voters: int) -> str:
    """Condorcet efficiency at the centre, and the largest gains over two triangles."""
    rules = contests(voters)
    known = efficiencies(dirichlet({}, NAMES), voters, list(rules.values()))
    ends = [Belief(candidates=NAMES, shares=((r, Fraction(1)),)) for r in ((0, 1, 2), (1, 2, 0), (2, 0, 1))]
    first = gain_map(list(rules.values()), voters, steps=STEPS, elects=False)
    cycle = gain_map(list(rules.values()), voters, steps=STEPS, corners=(ends[0], ends[1], ends[2]), elects=False)
    rows = []
    for name, each, one, two in zip(rules, known, first.rules, cycle.rules, strict=True):
        gains = [approximately(found.worst.gain.high, digits=2) for found in (one, two)]
        rows.append([name, f"{100 * (each.share or 0):.1f} %", *gains])
    head = ["rule", "elects the Condorcet winner", "largest gain, first choices", "largest gain, cycle"]
    return table(head, rows)


def real(folder: Path) -> str:
    """Of the elections in a folder with a Condorcet winner, how many each rule elects, on average over its draws."""
    elected, elections = dict.fromkeys(REAL, Fraction(0)), 0
    seen = set()  # the same election in two formats is one
    for path in sorted(folder.glob("*.*")):
        try:
            ballots = formats.strict(formats.read(str(path))).ballots
        except HubbubError:
            continue
        pairs = pairwise(ballots)
        if pairs is None or pairs.winner is None or len(ballots.candidates) < 3:
            continue
        votes = (ballots.voters, *sorted(count for row in pairs.table for count in row))
        if votes in seen:
            continue
        seen.add(votes)
        elections += 1
        for name in REAL:
            elected[name] += make(name).lottery(ballots)[pairs.winner]
    shares = [[name, f"{float(found):.4g} of {elections}"] for name, found in elected.items()]
    return table(["rule", "elects the Condorcet winner"], shares)


def exact() -> str:
    """How long exact gains take."""
    rows = []
    near = tuple(Fraction(tops, 100) for tops in (12, 19, 22, 23, 24))
    five = Belief(
        candidates=tuple("abcde"),
        shares=tuple(((i, *(j for j in range(5) if j != i)), share) for i, share in enumerate(near)),
    )
    for voters in EXACT["plurality"]:
        asked = Question(belief=five, truth=(0, 3, 4, 2, 1), voters=voters, contest=Contest(kind="plurality"))
        rows.append(_timed_row("plurality, 5 candidates", asked))
    uniform = dirichlet({(0, 1, 2, 3): 3, (1, 0, 3, 2): 2}, "abcd")
    for voters in EXACT["instant-runoff"]:
        asked = Question(belief=uniform, truth=(3, 0, 1, 2), voters=voters, contest=Contest(kind="instant-runoff"))
        rows.append(_timed_row("instant-runoff, 4 candidates", asked))
    level = dirichlet({(1, 0, 2): 4, (2, 0, 1): 4}, NAMES)
    for voters in EXACT["borda"]:
        asked = Question(belief=level, truth=(1, 0, 2), voters=voters, contest=Contest(kind="borda"))
        rows.append(_timed_row("borda, 3 candidates", asked))
    return table(["", "voters", "gain of the best lie", "known to", "seconds"], rows)


def _timed_row(name: str, asked: Question) -> list[str]:
    found, seconds = timed(lambda: gain(asked))
    wide = approximately(found.high - found.low, digits=1)
    return [name, f"{asked.voters:,}", approximately(found.high), wide, f"{seconds:.1f}"]


def main() -> None:
    print("# The price of honesty\n")
    print("Written by `python -m benchmarks.honesty`. Nobody should have to trust these figures: run it.\n")
    print(
        "A rule with a margin strikes out only who is far behind, so that one ballot hardly ever changes who is left. "
        "In a small or close election it strikes out nobody, and then it is plurality: it elects the Condorcet winner, "
        "who beats everybody else one to one, no more often than plurality does, and a lie gains as much. Where a "
        "belief puts somebody near the edge of the margin, a lie can even gain more than under plurality: promises are "
        "to coarse beliefs in electorates that are large enough, and to nobody else.\n"
    )
    for voters in VOTERS:
        print(f"## Three candidates, {voters:,} voters\n")
        print(
            "All orders equally likely: how often the Condorcet winner is elected, if there is one (exact to 1e-6). "
            f"Then the most that any voter gains by a lie, over beliefs in parts of 1/{STEPS}: about first choices, "
            "with seconds even; and in the rankings abc, bca and cab, which show what a lie gains in a runoff.\n"
        )
        print(f"{three(voters)}\n")
    if len(sys.argv) > 1:
        print("## Real elections\n")
        print(
            "The ballot files of one folder that have three candidates or more and a Condorcet winner, eta 1e-12. They "
            "are of all kinds, few, and no sample of anything.\n"
        )
        print(f"{real(Path(sys.argv[1]))}\n")
    print("## Exact gains\n")
    print(exact())


if __name__ == "__main__":
    main()
