"""Caps: a release goes through up to the cap and not beyond, and what is left is told exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.admission import ADAPTIVE_DELTA, Entered, Totals, totals
from hubbub.ledger.charge import Charge
from hubbub.ledger.charge import charge as charge_of
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.policy import Policy, _short, remaining_budget, share
from hubbub.numeric.exact import rational, to_text
from hubbub.protocol.bound import Bound

EPSILON = st.fractions(Fraction(1, 1000), 10)


def charge(**words: Any) -> Charge:
    return charge_of(Bound(histogram(["a=x,y"], **words)))


def together(*charges: Charge) -> Totals:
    return totals([Entered(number=i, charge=each) for i, each in enumerate(charges, 1)])


PLAIN, CROWD, SAMPLED = charge(epsilon=1), charge(crowd=20), charge(crowd=20, sample="0.1")
EXAMPLE_4 = charge(channel="outlier-suppressed", options={"k": 20, "epsilon": 1, "delta": "1e-6"})


def exceeds(policy: Policy, spent: Totals) -> str:
    with pytest.raises(Refused) as error:
        policy.check(spent, "town")
    return str(error.value)


@given(EPSILON, EPSILON, EPSILON)
def test_the_cap_itself_may_be_spent_and_not_a_hair_more(one: Fraction, two: Fraction, hair: Fraction) -> None:
    spent = together(charge(epsilon=one), charge(epsilon=two))
    Policy(differential_epsilon=one + two).check(spent, "town")
    exceeds(Policy(differential_epsilon=one + two - hair / 10**20 if hair < one else one), spent)


@given(st.lists(EPSILON, max_size=3), EPSILON)
def test_what_is_left_and_what_is_spent_make_the_cap(spent: list[Fraction], rest: Fraction) -> None:
    policy = Policy(differential_epsilon=sum(spent, rest))
    told = remaining_budget(policy, together(*(charge(epsilon=each) for each in spent)) if spent else None)
    assert told == {"differential_epsilon": to_text(rest)}


def test_a_capped_notion_must_hold() -> None:
    for policy, notion in (
        (Policy(differential_epsilon=Fraction(9)), "differential privacy"),
        (Policy(zero_knowledge_epsilon=Fraction(9)), "zero-knowledge privacy"),
        (Policy(zero_knowledge_rate=Fraction(1)), "zero-knowledge privacy"),
    ):
        assert f"caps {notion}" in exceeds(policy, together(CROWD))
        assert remaining_budget(policy, together(CROWD)).get("differential_epsilon", "nothing") == "nothing"
    assert "caps crowd-blending" in exceeds(Policy(crowd=5), together(PLAIN))


def test_zero_knowledge_is_capped_by_loss_and_by_what_may_be_known() -> None:
    once, twice = together(SAMPLED), together(SAMPLED, SAMPLED)
    promise = SAMPLED.zero_knowledge
    assert promise is not None
    assert share(promise) == Fraction(1, 10)
    epsilon = promise.epsilon
    assert isinstance(epsilon, Fraction)
    Policy(zero_knowledge_epsilon=epsilon, zero_knowledge_rate=Fraction(1, 10)).check(once, "town")
    assert "epsilon" in exceeds(Policy(zero_knowledge_epsilon=epsilon), twice)
    assert "the rate of all samples" in exceeds(Policy(zero_knowledge_rate=Fraction("0.18")), twice)
    Policy(zero_knowledge_epsilon=2 * epsilon, zero_knowledge_rate=Fraction("0.19")).check(twice, "town")


def test_delta_is_capped_under_each_notion_that_has_one() -> None:
    assert EXAMPLE_4.curve is not None
    tight = Policy(delta=EXAMPLE_4.curve.delta)
    tight.check(together(EXAMPLE_4), "town")
    tight.check(together(PLAIN, CROWD), "town")
    assert "delta of outlier privacy" in exceeds(tight, together(EXAMPLE_4, EXAMPLE_4))
    endless = charge(outlier="1:0,21:inf")
    assert "delta of outlier privacy" in exceeds(tight, together(EXAMPLE_4, EXAMPLE_4, endless))
    fresh = charge(crowd=20, sample="0.1", at_delta="1e-9")
    assert "delta of" in exceeds(Policy(delta=Fraction(1, 10**10)), together(fresh))
    assert remaining_budget(tight, together(EXAMPLE_4)) == {"delta": "0"}
    assert remaining_budget(tight, together(CROWD)) == {"delta": to_text(EXAMPLE_4.curve.delta)}


def test_what_is_left_of_delta_counts_outlier_privacy_too() -> None:
    endless = charge(outlier="1:0,21:inf")  # no differential privacy beside it
    spent = together(EXAMPLE_4, endless)
    assert spent.differential.guarantee is None
    lost = getattr(spent.outlier.guarantee, "delta")  # noqa: B009
    assert 0 < lost <= Fraction(1, 10**6)
    cap = Fraction(3, 10**6)
    assert rational(remaining_budget(Policy(delta=cap), spent)["delta"]) == cap - lost


def test_what_is_left_of_a_rate_is_what_a_further_sample_may_have() -> None:
    cap = Policy(zero_knowledge_rate=Fraction("0.19"))
    assert remaining_budget(cap, None) == {"zero_knowledge_rate": "0.19"}
    rest = rational(remaining_budget(cap, together(SAMPLED))["zero_knowledge_rate"])
    assert rest == Fraction(1, 10)
    cap.check(together(SAMPLED, charge(crowd=20, sample=rest)), "town")
    exceeds(cap, together(SAMPLED, charge(crowd=20, sample=rest + Fraction(1, 1000))))
    assert remaining_budget(cap, together(CROWD)) == {"zero_knowledge_rate": "nothing"}
    assert remaining_budget(cap, together(SAMPLED, SAMPLED, SAMPLED)) == {"zero_knowledge_rate": "nothing"}


def test_crowds_have_a_least_size() -> None:
    Policy(crowd=20).check(together(CROWD), "town")
    assert "crowd=21" in exceeds(Policy(crowd=21), together(CROWD))


@pytest.mark.parametrize(
    "caps",
    [{"differential_epsilon": "-1"}, {"delta": "2"}, {"delta": "-0.1"}, {"zero_knowledge_rate": "1.5"}],
)
def test_a_cap_that_cannot_be_is_refused(caps: dict[str, str]) -> None:
    with pytest.raises(WrongUse):
        Policy(**{name: rational(text) for name, text in caps.items()})  # type: ignore[arg-type]


def test_a_policy_with_caps_is_true_and_one_without_is_not() -> None:
    assert not Policy()
    assert Policy(delta=Fraction(0))
    assert Policy(crowd=2)


def test_the_newest_policy_is_the_one_that_counts() -> None:
    ledger = Ledger()
    ledger.set_policy("town", Policy(differential_epsilon=Fraction(1)))
    ledger.reserve("town", PLAIN)
    with pytest.raises(Refused, match="above the cap of 1"):
        ledger.reserve("town", PLAIN)
    assert len(ledger.account("town").records) == 1  # what was refused left nothing
    ledger.set_policy("town", Policy(differential_epsilon=Fraction(2)))
    ledger.reserve("town", PLAIN)
    ledger.set_policy("town", Policy())
    ledger.reserve("town", PLAIN)
    assert len(ledger.account("town").spent_releases) == 3


@pytest.mark.parametrize("other", ["Town", "TOWN", "ｔｏｗｎ", "tOwn"])  # noqa: RUF001
def test_a_name_that_reads_the_same_is_no_second_budget(other: str) -> None:
    ledger = Ledger()
    ledger.reserve("town", CROWD)
    with pytest.raises(Refused, match="differs from"):
        ledger.reserve(other, CROWD)
    with pytest.raises(Refused, match="differs from"):
        ledger.set_policy(other, Policy(crowd=5))
    ledger.reserve("town-2", CROWD)
    assert set(ledger.accounts()) == {"town", "town-2"}


@pytest.mark.parametrize(
    "name", ["", "-town", ".town", "_town", "a b", "a/b", "a\nb", "town\n", "e\u0301", "x" * 101, "\0"]
)
def test_a_name_that_does_not_read_the_same_everywhere_is_refused(name: str) -> None:
    with pytest.raises(HubbubError):
        Ledger().reserve(name, CROWD)


def test_what_would_be_spent_is_told_rounded_up() -> None:
    for spent in (Fraction(1, 3), Fraction(2, 3), Fraction(10**30 + 1, 7 * 10**29)):
        spent += Fraction(1, 3 * 10**25)  # too long to be told in full
        told = _short(spent)
        assert told.startswith("about ")
        assert spent <= Fraction(told.removeprefix("about ")) <= spent * (1 + Fraction(1, 10**5))


def test_many_releases_keep_to_a_cap_at_the_delta_that_the_policy_allows() -> None:
    spent = together(*[charge(epsilon="0.1")] * 100)  # 10 in sum, about 6.5 at a delta of 1e-9
    exceeds(Policy(differential_epsilon=Fraction(7)), spent)
    exceeds(Policy(differential_epsilon=Fraction(7), delta=Fraction(1, 10**10)), spent)
    allowed = Policy(differential_epsilon=Fraction(7), delta=Fraction(1, 10**9))
    allowed.check(spent, "town")
    assert 0 < rational(remaining_budget(allowed, spent)["differential_epsilon"]) < Fraction(3, 5)
    exceeds(Policy(differential_epsilon=Fraction(6), delta=Fraction(1, 10**9)), spent)


SMALL, MILLIONTH = charge(epsilon="0.1"), Fraction(1, 10**6)
CAPS = Policy(differential_epsilon=Fraction(3), delta=MILLIONTH)


def test_a_policy_before_the_first_release_is_a_privacy_filter() -> None:
    """A cap that nobody moved needs no union over exponents; one that came later does, and says so by refusing earlier."""
    spent = together(*[SMALL] * 50)
    first = replace(CAPS, before_all=True)
    late, early = CAPS.differential(spent), first.differential(spent)
    assert late is not None
    assert early is not None
    assert early.epsilon < late.epsilon
    assert early.delta <= MILLIONTH
    for policy, most in ((first, 39), (CAPS, 30)):
        policy.check(together(*[SMALL] * most), "town")
        exceeds(policy, together(*[SMALL] * (most + 1)))
    assert replace(first, delta=Fraction(1, 10**9)).filter_room is None, "no room for two deltas"
    assert "fixed-cap" in {each.id for each in spent.under_cap.at(Fraction(3), MILLIONTH).derivation.assumptions}  # type: ignore[union-attr]


def _reserved(ledger: Ledger) -> bool:
    try:
        ledger.reserve("town", SMALL)
    except Refused as refused:
        return "above the cap" not in str(refused)
    return True


@pytest.mark.parametrize("before", [True, False])
def test_the_ledger_knows_whether_a_policy_came_first(before: bool) -> None:
    ledger = Ledger()
    if not before:
        ledger.reserve("town", SMALL)
    caps = replace(CAPS, before_all=not before)  # nobody can say that but the ledger
    ledger.set_policy("town", caps)
    made = sum(_reserved(ledger) for _ in range(41)) + (not before)
    assert made == (39 if before else 30)
    assert ledger.account("town").policy.before_all == before
    assert ledger.check() > 0


def test_a_policy_that_is_changed_on_the_way_is_none_that_came_first() -> None:
    ledger = Ledger()
    ledger.set_policy("town", CAPS)
    ledger.reserve("town", SMALL)
    assert ledger.account("town").policy.before_all
    ledger.set_policy("town", replace(CAPS, differential_epsilon=Fraction(4)))
    assert not ledger.account("town").policy.before_all
    ledger.set_policy("town", CAPS)
    assert not ledger.account("town").policy.before_all


def _with_delta(delta: str) -> Charge:
    return replace(SMALL, promises=(DifferentialPrivacy(epsilon=Fraction(1, 10), delta=rational(delta)),))


def test_whoever_may_use_a_filter_may_not_spend_its_delta_elsewhere() -> None:
    """Else one strategy could use the filter where it gains most, the deltas where it does not, and have both."""
    first = replace(CAPS, before_all=True)
    assert first.filter_room == MILLIONTH / 2 - ADAPTIVE_DELTA
    for delta, allowed in (("4e-7", True), ("4.9e-7", True), ("5e-7", False), ("9e-7", False)):
        spent = together(SMALL, _with_delta(delta))
        CAPS.check(spent, "town")
        if allowed:
            first.check(spent, "town")
        else:
            with pytest.raises(Refused, match="keeps half of its delta"):
                first.check(spent, "town")
    for many in (1, 20, 39):  # what is admitted is within the caps, by whatever way it was added up
        promise = first.differential(together(*[SMALL] * many, _with_delta("4e-7")))
        assert promise is not None
        assert promise.delta <= MILLIONTH


@pytest.mark.parametrize(("delta", "filters"), [("1e-9", True), ("4e-7", True), ("6e-7", False), ("1e-6", False)])
def test_a_first_release_that_needs_the_delta_has_it_and_ends_the_filter(delta: str, filters: bool) -> None:
    ledger = Ledger()
    ledger.set_policy("town", CAPS)
    ledger.reserve("town", _with_delta(delta))
    assert ledger.account("town").policy.before_all == filters
    ledger.reserve("town", SMALL)
    assert ledger.account("town").policy.before_all == filters
    if filters:
        with pytest.raises(Refused, match="keeps half of its delta"):
            ledger.reserve("town", _with_delta("5e-7"))
