"""Empty bins are bins: what it costs to leave them out, as a domain discovered from the data does.

Without its empty bins a release tells apart a bin of one person and a bin of none by whether it is there. "Absent" may
mean "hidden" where hiding is possible; elsewhere a bin of one is given away with certainty.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from hubbub.channels.catalogue import channel
from hubbub.channels.divergence import hockey_stick
from hubbub.channels.law import SUPPRESSED, Law, point
from hubbub.channels.papers.outliers import suppressed_delta
from hubbub.channels.profile import decide, exact_delta, judge, profile
from hubbub.channels.protocol import Channel
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.verdict import Refuted
from hubbub.numeric.exact import exp, upper
from tests.witnesses.family import Family, rounds_to


def discovered(made: Channel, absent: str = SUPPRESSED) -> Family:
    """The channel on a domain discovered from the data: an empty bin is not there at all."""

    def law(count: int) -> Law:
        return point(0, absent, (absent, *made.law(1).tags)) if count == 0 else made.law(count)

    return Family(law, made.claim)


EPSILONS = [Fraction(0), Fraction(1, 100), Fraction(1), Fraction(5)]


@pytest.mark.parametrize(
    ("k", "epsilon", "offset", "printed"), [(10, "0.05", 200, "1.41e-5"), (100, "1", 10, "1.2e-48")]
)
def test_example_4_without_its_empty_bins_costs_the_tail_of_one_person(
    k: int, epsilon: str, offset: int, printed: str
) -> None:
    """(0, q^(k+s)/(1+q)), the same delta at every epsilon: nothing shown at 1 can be shown at 0."""
    made = channel("outlier-suppressed", k=k, epsilon=epsilon, offset=offset)
    q = exp(-Fraction(epsilon))
    formula = exp(-Fraction(epsilon) * (k + offset)) / (1 + q)
    assert rounds_to(formula, printed)
    for loss in EPSILONS:
        found = exact_delta(discovered(made), 1, loss)
        assert found.overlaps(formula)
        assert found.rad() < found.mid() * 1e-20


def test_example_4_without_its_empty_bins_can_exceed_its_own_delta() -> None:
    """epsilon = 0.05, k = 10, s = 200: the larger of the two must be taken."""
    made = channel("outlier-suppressed", k=10, epsilon="0.05", offset=200)
    own = suppressed_delta(10, Fraction(1, 20), 200)
    assert rounds_to(own, "9.7e-7")
    family = discovered(made)
    found = judge(family, profile(family, [1]))
    assert isinstance(found, Refuted)
    assert dict(found.witness)["count"] == "1"
    every_bin = profile(made, range(1, 15))
    assert all(upper(row.exact_delta) <= row.claimed_delta for row in every_bin)


@pytest.mark.parametrize(
    ("curve", "show_above", "printed"), [("1:0.01,101:1", 110, "4.5e-6"), ("1:0.1,21:0.5", 25, None), ("0.5", 3, None)]
)
def test_warped_with_show_above_loses_its_pure_promise(curve: str, show_above: int, printed: str | None) -> None:
    """(0, b_(T+1) e^-(E(T+1) - E(1))) at every epsilon: delta = 0 is lost."""
    made = channel("warped", curve=curve, show_above=show_above)
    told = made.curve  # type: ignore[attr-defined]
    exponent = sum((told.at(m) for m in range(2, show_above + 2)), Fraction(0))
    formula = exp(-exponent) / (1 + exp(-told.at(show_above + 1)))
    if printed is not None:
        assert rounds_to(formula, printed)
    for loss in EPSILONS:
        assert exact_delta(discovered(made), 1, loss).overlaps(formula)
    assert exact_delta(made, 1, told.at(1)).is_zero(), "with its empty bins nothing is lost"
    assert isinstance(judge(discovered(made), profile(discovered(made), [1])), Refuted)


def test_exact_or_suppressed_loses_nothing() -> None:
    for name in ("exact-or-suppressed", "simple-suppressed"):
        family = discovered(channel(name, k=5))
        assert exact_delta(family, 1, Fraction(0)).is_zero()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("geometric", {"epsilon": 1}),
        ("group", {"k": 100, "epsilon": 1}),
        ("simple-noisy", {"k": 100, "epsilon": 1}),
        ("outlier-noisy", {"k": 100, "epsilon": 1, "alpha": 10}),
        ("staircase", {"thresholds": "100,10", "epsilons": "1,0.1,0.01", "alpha": 10}),
        ("lower-bound", {"curve": "1:0.5,101:1", "estimator": "count", "epsilon_a": "0.1", "alpha": 10}),
        ("warped", {"curve": "1:0.01,101:1"}),
    ],
)
def test_where_nothing_is_hidden_a_bin_of_one_is_given_away(name: str, options: dict[str, object]) -> None:
    family = discovered(channel(name, **options), absent="absent")
    for loss in (Fraction(1), Fraction(50)):
        found = hockey_stick(family.law(1), family.law(0), loss)
        assert found.overlaps(arb(1))
        assert found > 0.9999999
    refuted = decide(family, DifferentialPrivacy(epsilon=Fraction(50), delta=Fraction(1, 2)), limit=1)
    assert isinstance(refuted, Refuted)
