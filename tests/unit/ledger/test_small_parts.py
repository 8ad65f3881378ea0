"""Small parts of the ledger, each by an exact case: windows, stand-ins, who counted, one name, names on the disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from hubbub.errors import CheckFailed, Refused
from hubbub.guarantees.definitions import BernoulliSample, ConcentratedPrivacy, OutlierPrivacy, ZeroKnowledge
from hubbub.ledger import durable
from hubbub.ledger.admission import Entered, admit, totals
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.overlap import check_overlap
from hubbub.ledger.policy import Policy, _short, remaining_budget
from hubbub.ledger.running_total import running_total_of
from hubbub.ledger.series_state import SeriesState
from hubbub.ledger.sketch import Sketch, sketch
from hubbub.tables.identity import Chosen, Identity, Part
from tests.unit.ledger.charges import charge, releases, together

DAYS = [f"2030-{month:02}-15" for month in range(1, 13)]
TABLE = Identity(parts=(Part(path="/data/town.csv", device=1, inode=2, digest="d", changed=0),))


@pytest.mark.parametrize(("per", "months"), [("month", 1), ("quarter", 3), ("year", 12)])
def test_a_window_of_the_calendar_has_as_many_months_as_its_name_says(per: str, months: int) -> None:
    policy = Policy(differential_epsilon=Fraction(1), per=per)
    for i, day in enumerate(DAYS):
        same = [policy.counts_at(other, day, day) for other in DAYS]
        assert same == [j // months == i // months for j in range(12)]
        assert not policy.counts_at(day.replace("2030", "2031"), day, day)


def test_a_loss_of_twenty_four_signs_is_told_in_full_and_a_longer_one_is_not() -> None:
    longest = f"0.{'1' * 22}"
    assert _short(Fraction(longest)) == longest
    assert _short(Fraction(f"{longest}1")).startswith("about ")


# --- stand-ins ------------------------------------------------------------------------------------------------------


def _one_stand_in(*names: str) -> Entered:
    (one,) = running_total_of(releases(*names), reserved=len(names)).stand_ins
    return one


def test_a_stand_in_carries_the_sums_of_the_growths() -> None:
    alone = releases("plain")[0].growths()
    assert any(alone)
    for many in (2, 3):
        assert _one_stand_in(*["plain"] * many).growths() == tuple(many * each for each in alone)


def test_curves_on_one_partition_stay_curves_in_a_stand_in_and_on_two_only_their_ends_do() -> None:
    first, second = (charge(name).curve for name in ("curve", "curve by b"))
    assert isinstance(first, OutlierPrivacy)
    assert isinstance(second, OutlierPrivacy)
    one, two = _one_stand_in("curve", "curve").charge, _one_stand_in("curve", "curve by b").charge
    assert one.curve == OutlierPrivacy(curve=first.curve + first.curve)
    assert one.partition is not None
    assert isinstance(two.curve, OutlierPrivacy)
    assert two.curve.curve.is_flat
    assert two.curve.curve.limit == first.curve.limit + second.curve.limit
    assert two.partition is None


def test_one_release_with_gaussian_noise_has_its_own_rho_and_two_have_the_sum() -> None:
    one, two = together("gaussian").concentrated.guarantee, together("gaussian", "gaussian").concentrated.guarantee
    assert isinstance(one, ConcentratedPrivacy)
    assert isinstance(two, ConcentratedPrivacy)
    assert one == charge("gaussian").zcdp
    assert two.rho == 2 * one.rho


def test_beside_kept_rows_noise_is_no_way_out_and_three_others_are() -> None:
    first, second = releases("one row", "one row")
    with pytest.raises(Refused) as refused:
        admit([first], second, "town")
    assert "Three ways out" in str(refused.value)
    assert "publish a function of release 1" in str(refused.value)
    assert "make this release differentially private" not in str(refused.value)


def test_where_everybody_may_be_known_the_cap_of_a_rate_is_left_as_it_is() -> None:
    everybody = ZeroKnowledge(epsilon=Fraction(1), aggregate=BernoulliSample(p=Fraction(1)))
    spent = totals([Entered(number=1, charge=replace(charge("sampled plain"), promises=(everybody,)))])
    assert remaining_budget(Policy(zero_knowledge_rate=Fraction(1)), spent) == {"zero_knowledge_rate": "1"}


# --- who counted in a series ----------------------------------------------------------------------------------------


def _counted(*periods: Sequence[str], most: int) -> tuple[frozenset[str], ...]:
    state = SeriesState(nonce="n", secret="00")
    for people in periods:
        words = [person for person, may in zip(people, state.may_count(list(people), most), strict=True) if may]
        state = replace(state, used=state.used_after(frozenset(words), most))
    return state.used


def test_whoever_counted_in_as_many_periods_as_are_promised_counts_in_no_other() -> None:
    assert _counted("ab", most=1) == ({"a", "b"},)
    assert _counted("ab", "bc", most=2) == ({"a", "c"}, {"b"})
    assert _counted("ab", "bc", "bcd", most=2) == ({"a", "d"}, {"b", "c"})
    spent = SeriesState(nonce="n", secret="00", used=_counted("ab", "bc", most=2))
    assert spent.may_count(["a", "b", "c", "d"], 2) == [True, False, True, True]


# --- one table, one name --------------------------------------------------------------------------------------------


def test_a_table_that_was_given_up_undrawn_is_free_for_another_name_and_one_that_counts_is_not() -> None:
    ledger = Ledger()
    ledger.abandon(ledger.reserve("wrong", charge("plain"), source=TABLE), drawn=False)
    ledger.reserve("town", charge("plain"), source=TABLE)
    with pytest.raises(Refused, match="released before as 'town'"):
        ledger.reserve("city", charge("plain"), source=TABLE)


def test_a_period_of_a_series_may_be_of_a_table_that_was_given_up_undrawn_and_of_none_that_counts() -> None:
    ledger = Ledger()
    series = ledger.reserve("monthly", charge("plain"), series={"name": "monthly"})
    other = ledger.reserve("town", charge("plain"), source=TABLE)
    with pytest.raises(Refused, match="released before as 'town'"):
        ledger.draw_period(series, 0, before="", keep=lambda: "state", source=TABLE)
    ledger.abandon(other, drawn=False)
    ledger.draw_period(series, 0, before="", keep=lambda: "state", source=TABLE)
    assert [each.body["state"] for each in ledger.series("monthly")[1].periods] == ["state"]


def test_a_period_may_be_released_again_and_not_under_its_own_name() -> None:
    ledger = Ledger()
    ledger.reserve("arrivals", charge("plain"), disjoint="2030-01")
    ledger.reserve("arrivals", charge("plain"), disjoint="2030-01")
    with pytest.raises(Refused, match="is a period of arrivals"):
        ledger.reserve("arrivals.2030-01", charge("plain"))


def test_the_same_people_under_another_name_are_refused_and_others_are_not() -> None:
    ledger = Ledger()
    ledger.reserve("town", charge("plain"))
    town, others = (_people(first) for first in (0, 1000))
    with ledger._store.adding(ledger._founding) as page:
        check_overlap(page, "town", "0", town, share=Fraction(1, 20), other_people=False)
        check_overlap(page, "village", "1", others, share=Fraction(1, 20), other_people=False)
        with pytest.raises(Refused, match="'town'"):
            check_overlap(page, "city", "2", town, share=Fraction(1, 20), other_people=False)


def _people(first: int) -> Sketch:
    names = tuple(f"P{i}" for i in range(first, first + 10))
    return sketch(Chosen("w", names, tuple(i << 40 for i in range(first, first + 10))), b"key")


@pytest.mark.parametrize("only_founded", [True, False])
def test_a_ledger_that_was_here_and_is_gone_is_no_fresh_budget(tmp_path: Path, only_founded: bool) -> None:
    path = tmp_path / "ledger.db"
    ledger = Ledger(path)
    if only_founded:
        ledger.public_key()
    else:
        ledger.reserve("town", charge("plain"))
    path.unlink()
    with pytest.raises(CheckFailed, match="is gone"):
        Ledger(path).reserve("town", charge("plain"))


def test_ids_are_running_numbers_or_not_and_nobody_has_none() -> None:
    def running(*ids: str) -> bool:
        return sketch(Chosen("w", ids, tuple(range(len(ids)))), b"key").running

    assert running("1", "2", "3")
    assert not running("1000", "2000", "3000")
    assert not running("Ann", "Bob")
    assert not running()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such call")
def test_the_names_in_a_folder_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    durable.settle_folder(tmp_path)
    assert synced == [tmp_path.stat().st_ino]
