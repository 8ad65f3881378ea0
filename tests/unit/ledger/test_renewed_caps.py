"""Caps that count afresh in every month, quarter or year: each by itself, whatever the clock does."""

from __future__ import annotations

import calendar
import json
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub import series
from hubbub.cli.main import commands
from hubbub.errors import Refused, WrongUse
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.charge import charge
from hubbub.ledger.dry_run import dry_run
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.policy import Policy
from hubbub.protocol.bound import Bound
from hubbub.protocol.release import Reservation

HALF = charge(Bound(histogram(["a=x,y"], epsilon="0.5")))
MORE = charge(Bound(histogram(["a=x,y"], epsilon="0.6")))


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the clock to a day, which somebody says is right."""

    def turn(day: str) -> None:
        set_clock(monkeypatch, day)
        Ledger().confirm_clock()

    return turn


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the clock to a day, and say nothing."""
    return lambda day: set_clock(monkeypatch, day)


def set_clock(monkeypatch: pytest.MonkeyPatch, day: str, real: Any = time.gmtime) -> None:
    seconds = calendar.timegm(time.strptime(day, "%Y-%m-%d"))
    monkeypatch.setattr(time, "gmtime", lambda *given: real(given[0] if given else seconds))


def reserve(what: object = HALF) -> Reservation:
    return Ledger().reserve("town", what)


@pytest.mark.parametrize(
    ("per", "within", "next_one"),
    [
        ("year", "2030-12-31", "2031-01-01"),
        ("quarter", "2030-06-30", "2030-07-01"),
        ("month", "2030-05-31", "2030-06-01"),
    ],
)
def test_a_cap_counts_afresh_in_the_next_window_and_not_before(
    at: Callable[[str], None], per: str, within: str, next_one: str
) -> None:
    at("2030-05-02")
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(1), per=per))
    reserve()
    reserve()
    at(within)
    with pytest.raises(Refused, match="above the cap"):
        reserve()
    assert dry_run(Ledger(), "town", HALF).refusal is not None
    at(next_one)
    assert dry_run(Ledger(), "town", MORE).left_after == {"differential_epsilon": "0.4"}
    reserve(MORE)
    with pytest.raises(Refused, match="above the cap"):
        reserve()


def test_a_dry_run_asks_about_the_clock_too(at: Callable[[str], None], wrong: Callable[[str], None]) -> None:
    at("2030-05-02")
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(1), per="year"))
    reserve(HALF)
    for day in ("2031-01-01", "2030-04-01"):
        wrong(day)
        assert "this computer's clock, which may be wrong" in str(dry_run(Ledger(), "town", HALF).refusal)
    wrong("2030-05-01")  # a day behind may be the difference of two clocks
    assert dry_run(Ledger(), "town", HALF).left_after == {"differential_epsilon": "0"}


def test_a_clock_that_goes_back_does_not_open_a_window_again(
    at: Callable[[str], None], wrong: Callable[[str], None]
) -> None:
    at("2030-05-02")
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(1), per="year"))
    reserve(MORE)
    at("2031-01-01")
    reserve(MORE)
    wrong("2029-01-01")
    with pytest.raises(Refused, match="from 2031-01-01 to 2029-01-01"):
        reserve(MORE)
    at("2029-01-01")  # and whoever says that it is right frees nothing
    with pytest.raises(Refused, match="above the cap of 1 for each year by this computer's clock"):
        reserve(MORE)


@pytest.mark.parametrize(
    ("per", "far"),
    [("month", "2030-06-07"), ("quarter", "2030-07-01"), ("year", "2031-01-01"), ("month", "8000-05-02")],
)
def test_25_a_clock_that_jumps_ahead_renews_nothing_until_somebody_says_that_it_is_right(
    at: Callable[[str], None], wrong: Callable[[str], None], per: str, far: str
) -> None:
    at("2030-05-02")
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(1), per=per))
    reserve(MORE)
    wrong(far)
    number = len(Ledger().entries())
    for other in (False, True):  # a release of a dataset without such caps, under the same clock, does not help
        if other:
            Ledger().reserve("other", HALF)
        with pytest.raises(Refused, match=f"from 2030-05-02 to {far}; set it right, or, if it is right"):
            reserve(MORE)
    assert len(Ledger().entries()) == number + 1
    told = CliRunner().invoke(commands, ["ledger", "clock", "--json"])
    assert json.loads(told.output) == {"time": f"{far}T00:00:00Z"}
    reserve(MORE)


def test_25_whoever_publishes_every_five_weeks_is_not_asked_and_what_came_too_early_is_missing_later(
    at: Callable[[str], None], wrong: Callable[[str], None]
) -> None:
    at("2030-05-02")
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(1), per="month"))
    reserve(MORE)
    wrong("2030-06-06")  # 35 days later: a month that went by, or a clock that is wrong
    reserve(MORE)
    wrong("2030-05-03")
    with pytest.raises(Refused, match="from 2030-06-06 to 2030-05-03"):
        reserve(MORE)
    wrong("2030-06-06")
    with pytest.raises(Refused, match="above the cap of 1 for each month"):
        reserve(MORE)


def test_25_a_clock_that_was_ahead_locks_nothing_for_ever_and_frees_nothing(
    at: Callable[[str], None], wrong: Callable[[str], None]
) -> None:
    at("8000-01-01")
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(1), per="month"))
    reserve(MORE)
    wrong("2030-05-02")
    with pytest.raises(Refused, match="from 8000-01-01 to 2030-05-02"):
        reserve(HALF)
    at("2030-05-02")
    assert [each.time for each in Ledger().account("town").records] == ["2030-05-02T00:00:00Z"]
    with pytest.raises(Refused, match="above the cap"):
        reserve(HALF)
    wrong("2030-06-02")
    reserve(HALF)
    assert Ledger().check() == len(Ledger().entries())


def test_25_a_wrong_clock_that_is_said_to_be_right_frees_nothing(
    at: Callable[[str], None], wrong: Callable[[str], None]
) -> None:
    """It stood a month behind, and was set right again: what was published before counts in its own month too."""
    at("2030-11-05")
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(1), per="month"))
    reserve(MORE)
    at("2030-10-05")
    wrong("2030-11-05")
    with pytest.raises(Refused, match="above the cap"):
        reserve(HALF)


def test_25_a_clock_beyond_all_dates_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "gmtime", lambda *_: (30828, 1, 1, 0, 0, 0, 0, 1, 0))
    with pytest.raises(Refused, match="this computer's clock says that it is the year 30828"):
        reserve()


def test_a_series_counts_in_every_window_until_its_last_period_is_over(at: Callable[[str], None]) -> None:
    """Else one that is started on the last day of a year would be published in the next beside another one."""
    words: dict[str, Any] = {"kind": "count", "dataset": "town", "every": "month", "epsilon": "0.6"}
    at("2030-12-31")
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(1), per="year"))
    series.start("first", periods=12, first="2031-01", **words)
    at("2031-12-31")
    with pytest.raises(Refused, match="above the cap"):
        series.start("second", periods=12, first="2031-01", **words)
    assert dry_run(Ledger(), "town", HALF).refusal is not None
    at("2032-01-01")
    series.start(
        "second", periods=12, first="2031-01", **words
    )  # of an earlier year: it counts in the year of its start
    with pytest.raises(Refused, match="above the cap"):
        series.start("third", periods=12, first="2032-01", **words)
    at("2033-01-01")
    series.start("third", periods=12, first="2033-01", **words)


def test_the_ledger_still_knows_what_all_years_lose_together(at: Callable[[str], None]) -> None:
    at("2030-05-02")
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(1), per="year"))
    reserve(MORE)
    at("2031-05-02")
    reserve(MORE)
    found = Ledger().account("town").totals
    assert found is not None
    assert float(found.smallest_loss) == pytest.approx(1.2)  # type: ignore[arg-type]


def test_the_command_says_what_a_renewed_cap_does_not_promise() -> None:
    words = ["ledger", "policy", "town", "--differential-epsilon", "1", "--per", "year"]
    told = CliRunner().invoke(commands, words)
    assert told.exit_code == 0, told.output
    assert "for each year by itself, by this computer's clock (UTC)" in " ".join(told.output.split())
    assert "over a lifetime the years add up, and nothing caps that" in " ".join(told.output.split())
    assert Ledger().account("town").policy == Policy(differential_epsilon=Fraction(1), per="year")
    assert CliRunner().invoke(commands, ["ledger", "policy", "town", "--per", "year"]).exit_code == 2
    with pytest.raises(WrongUse, match="month, quarter, year"):
        Policy(differential_epsilon=Fraction(1), per="day")
