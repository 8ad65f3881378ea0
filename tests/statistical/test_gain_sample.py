"""The interval of a sample covers the exact gain, and is not so wide that it would cover anything.

Size: 200 intervals at confidence 0.9, all with a fixed script, so that the test repeats itself. Each misses with
probability at most 0.1 (the bound is conservative: hardly any should). More than `MISSES` = 35 misses of 200 have
probability below 1e-3 if 0.1 is true. Power: an interval around a mean that is off by `SHIFT` = 0.02, a quarter of the
gain, must miss in more than `NOTICED` of 200 runs.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from hubbub.noise.source import ScriptedSource
from hubbub.voting.manipulation.beliefs import belief
from hubbub.voting.manipulation.gain import Contest, Question, gain
from hubbub.voting.manipulation.gain_profiles import draw_others, sample_gains

RUNS, DRAWS, MISSES, NOTICED = 200, 4000, 35, 190
SHIFT = Fraction(2, 100)


def test_intervals_cover_the_exact_gain_and_notice_a_wrong_one() -> None:
    question = Question(
        belief=belief("abc:1/2,bac:1/2", ("a", "b", "c")), truth=(2, 0, 1), voters=21, contest=Contest(kind="plurality")
    )
    exact = gain(question, "enumerate")
    assert exact.lie is not None
    assert exact.worth is not None
    source = ScriptedSource.from_label("two hundred samples")
    asked = replace(question, lies=(exact.lie,))
    missed = noticed = 0
    for _ in range(RUNS):
        sampled = sample_gains(asked, [question.truth], draws=DRAWS, confidence=Fraction(9, 10), source=source)
        found = sampled[question.truth][exact.lie, exact.worth]
        missed += not found.low <= exact.high <= found.high
        noticed += not found.low <= exact.high + SHIFT <= found.high
    assert missed <= MISSES, f"{missed} of {RUNS} intervals missed the exact gain; at most {MISSES} may"
    assert noticed > NOTICED, f"{noticed} of {RUNS} intervals excluded a gain off by {SHIFT}; {NOTICED} must"


def test_the_others_are_drawn_from_the_belief() -> None:
    """Means and covariances of 40,000 draws, each within five standard errors; a share off by 0.02 is seen."""
    others, draws = 30, 40_000
    shares = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    table = draw_others(belief("abc:1/2,bac:1/3,cab:1/6"), others, draws, ScriptedSource.from_label("the others"))
    assert (table.sum(axis=1) == others).all()
    for i, p in enumerate(shares):
        for q, sees in ((p, False), (p + Fraction(1, 50), True)):
            error = 5 * float(others * p * (1 - p) / draws) ** 0.5
            assert (abs(float(table[:, i].mean()) - float(others * q)) > error) is sees
    expected = np.array([[others * (p * (i == j) - p * q) for j, q in enumerate(shares)] for i, p in enumerate(shares)])
    assert np.abs(np.cov(table.T) - expected.astype(float)).max() < 0.25
