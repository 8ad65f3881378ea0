"""Promises that an adversarial reading found false, each with the smallest table or number that showed it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from flint import arb

from hubbub.channels.catalogue import channel
from hubbub.channels.estimate import interval
from hubbub.channels.papers.lower_bound import lower_bound
from hubbub.channels.profile import decide, exact_delta, judge, profile
from hubbub.channels.protocol import Published
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import DifferentialPrivacy, OutlierPrivacy
from hubbub.numeric.binomial import at_least, mass
from hubbub.numeric.exact import ball
from hubbub.tables.estimation import largest_population, population_intervals
from tests.fresh import counts
from tests.fresh import open as open_table


def test_bins_found_in_the_data_are_those_of_the_sample() -> None:
    """Two thousand people, each alone in a bin, sampled at 1/100: nobody who is not sampled may make a bin appear.

    The channel shows an empty bin with probability 0.143; before, 14 bins in 100 appeared, sampled or not.
    """
    people = pa.table({"label": [f"p{i}" for i in range(2000)]})
    release = open_table(people).histogram(
        ["label"], mechanism="outlier-suppressed:k=2,epsilon=0.1,offset=10", sample="0.01"
    )
    promised = release.promises[-1].conclusion
    assert isinstance(promised, DifferentialPrivacy)
    expected = 2000 * float(promised.delta)  # a bin appears with probability at most delta
    assert len(release) <= expected + 10 * np.sqrt(expected), (len(release), expected)


def test_the_person_that_is_checked_is_the_person_that_is_counted(tmp_path: Path) -> None:
    """Fifty lines whose id cannot be read were left out of the check and counted as fifty people."""
    lines = [b"id,dept", *(b"%d,A" % i for i in range(30)), *[b"\xff\xfe,B"] * 50]
    place = tmp_path / "people.csv"
    place.write_bytes(b"\n".join(lines) + b"\n")
    release = open_table(place, person="id").histogram(["dept=A,B"], crowd=20)
    assert [counts(release).published.outcome(i) for i in range(2)] == [(30, ""), (None, "suppressed")]


def test_a_group_guarantee_is_not_judged_by_one_person() -> None:
    with pytest.raises(WrongUse, match="one person"):
        decide(channel("geometric", epsilon=1), DifferentialPrivacy(epsilon=Fraction(1), group=5))


def test_rows_of_a_weaker_claim_prove_nothing() -> None:
    plain = channel("geometric", epsilon=1)
    with pytest.raises(WrongUse, match="weaker guarantee"):
        judge(plain, profile(plain, range(1, 20)), OutlierPrivacy(curve=read("1:0.01,101:1").curve))


def test_a_bound_is_never_subtracted_from_one() -> None:
    """P(Bin(10011, .999) <= 10000) is .418; one minus a bound of its complement gave 6e-6, and too low an end."""
    ends = [largest_population(m, Fraction(999, 1000), Fraction(1, 80)) for m in (9_999, 10_000, 10_001)]
    assert ends == sorted(ends)
    assert ends[1] >= 10_016  # beyond the 10,010 of before


def test_a_channel_that_says_nothing_leaves_every_count_open() -> None:
    silent = channel("warped", curve="0", show_above=2)
    assert interval(silent, None, "suppressed").high is None


def test_no_refusal_depends_on_a_count() -> None:
    """The rate of the noise differed from count to count, and one below the smallest was refused at release."""
    with pytest.raises(WrongUse, match="rate of the estimate's noise"):
        lower_bound(read("1:0.01,50:1").curve, "epsilon-smooth", "0.005", "1", grid="0.000001")


def test_cells_that_are_not_told_apart_are_missing() -> None:
    """One event of probability 6.1e-39 told the counts 50 and 49 apart, and delta was called exactly 0."""
    made = lower_bound(read("slope:0.01").curve, "count", "0.01", 80)
    law = made.law(50)
    assert law.missing > 0
    assert exact_delta(made, 50, made.curve.at(50)).upper() >= ball(Fraction(6, 10**39))


def test_a_number_that_is_listed_by_luck_has_an_interval_that_knows_it() -> None:
    """3,000 bins of 110 people, sampled at a tenth, listed from 20 on: the 19 listed all had intervals above 110.

    Given that such a bin is listed, the interval held the truth with probability 0 at 110 people, 0.5 at 120 and 0.82
    at 140; by the exact law it does now at every count.
    """
    tenth, level = Fraction(1, 10), Fraction(19, 20)
    listed = np.arange(20, 90)
    published = Published(listed, np.zeros(listed.size, dtype=np.intp), ("",))
    low, high = population_intervals(channel("exact-or-suppressed", k=20), published, tenth, level, found=True)
    for people in (*range(20, 260), 300, 400):
        masses = [mass(people, tenth, int(m)) for m in listed]
        inside = sum((w for w, a, z in zip(masses, low, high, strict=True) if a <= people <= z), start=arb(0))
        shown = at_least(people, tenth, 20) - at_least(people, tenth, 90)
        assert inside >= shown * ball(level) or people < 20, people
    table = pa.table({"label": [f"bin {i:04}" for i in range(300) for _ in range(110)]})
    done = open_table(table).histogram(["label"], crowd=20, sample="0.1", scale_up=True)
    assert all(row["low"] <= 110 <= row["high"] for row in done if row["count"] <= 24)
