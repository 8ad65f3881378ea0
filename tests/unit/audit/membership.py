"""Membership in synthetic points: are people of the table nearer to what was published than people who are not in it?

Two groups of the same size are drawn from the same people: those who were in the table, and a holdout who were not. For
each person the distance to the nearest published point is taken. If the points are made from the crowd and not from
persons, neither group is nearer. The attack names the nearer half, and its success is bounded from below with
confidence, on people by whom no threshold was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.audit.blackbox import at_least, at_most
from hubbub.audit.finding import Depth, Finding, Game
from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Refuted, Undecided, Verdict
from hubbub.numeric.exact import Exact, ball, exp, lower, rational, rounded, to_text

Floats: TypeAlias = NDArray[np.float64]

CONFIDENCE: Final = Fraction(99, 100)
_BLOCK: Final = 512


def nearest(people: Floats, points: Floats) -> Floats:
    """The distance of each person to the nearest point (the sum of absolute differences)."""
    found = np.empty(len(people))
    for start in range(0, len(people), _BLOCK):
        part = people[start : start + _BLOCK]
        found[start : start + _BLOCK] = np.abs(part[:, None, :] - points[None, :, :]).sum(axis=2).min(axis=1)
    return found


def of_points(
    inside: Sequence[Sequence[float]],
    outside: Sequence[Sequence[float]],
    points: Sequence[Sequence[float]],
    *,
    epsilon: Exact,
    confidence: Exact = CONFIDENCE,
    subject: str = "synthetic points",
) -> Finding:
    """People of the table and as many who are not in it, against published points, for a claimed epsilon.

    Guarantee: of one release, if being in the table changes nothing by more than e^epsilon, the share of members below
    a distance is at most e^epsilon times that of others; a threshold chosen on half of the people that shows more on
    the other half refutes it, wrongly with probability at most 1 - confidence if people are independent.
    """
    ins, outs, given = (np.asarray(each, dtype=np.float64) for each in (inside, outside, points))
    claim, sure = rational(epsilon, "`epsilon`"), rational(confidence, "`confidence`")
    if ins.ndim != 2 or ins.shape != outs.shape or given.ndim != 2 or given.shape[1] != ins.shape[1] or len(ins) < 20:
        raise WrongUse("give two groups of the same size, at least 20 people each, and points with as many coordinates")
    mine, theirs = nearest(ins, given), nearest(outs, given)
    half = len(mine) // 2
    threshold = _distinguishing_threshold(mine[:half], theirs[:half])
    often, seldom = (int((each[half:] <= threshold).sum()) for each in (mine, theirs))
    left, alpha = len(mine) - half, (1 - sure) / 2
    p, q = at_least(often, left, alpha), at_most(seldom, left, alpha)
    loss = max(lower((ball(p) / ball(q)).log()), Fraction(0)) if p else Fraction(0)
    shares = f"{often} of {left} members and {seldom} of {left} others"
    verdict: Verdict = Undecided(f"{shares} are within {threshold:.4g} of a point; that refutes nothing")
    if ball(p) > exp(claim) * ball(q):
        witness = (("within", f"{threshold:.6g}"), ("members", f"{often} of {left}"), ("others", f"{seldom} of {left}"))
        verdict = Refuted("people of the table are nearer to the points than others are", witness)
    return Finding(
        game=Game.DIFFERENTIAL,
        depth=Depth.BLACK_BOX,
        verdict=verdict,
        claimed=f"epsilon {to_text(claim)}",
        subject=subject,
        lower_bound=to_text(rounded(loss, up=False, digits=6)),
        confidence=to_text(sure),
        notes=("One release was looked at; what many of them tell, hubbub audit function asks.",),
    )


def _distinguishing_threshold(mine: Floats, theirs: Floats) -> float:
    """The distance below which members are most in excess, for their spread."""
    best, at = -np.inf, 0.0
    for threshold in np.unique(np.concatenate([mine, theirs])):
        a, b = float((mine <= threshold).mean()), float((theirs <= threshold).mean())
        score = (a - b) / np.sqrt((a + b) / 2 + 1 / len(mine))
        if score > best:
            best, at = score, float(threshold)
    return at
