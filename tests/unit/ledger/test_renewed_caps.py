"""Caps that count afresh in every month, quarter or year: each by itself, whatever the clock does."""

from __future__ import annotations

import calendar
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
from hubbub.protocol.release import Reservation

HALF = charge(histogram(["a=x,y"], epsilon="0.5"))
MORE = charge(histogram(["a=x,y"], epsilon="0.6"))


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the clock to a day."""
    real = time.gmtime

    def turn(day: str) -> None:
        seconds = calendar.timegm(time.strptime(day, "%Y-%m-%d"))
        monkeypatch.setattr(time, "gmtime", lambda *given: real(given[0] if given else seconds))

    return turn


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


def test_a_dry_run_counts_in_the_latest_window_too_when_the_clock_goes_back(at: Callable[[str], None]) -> None:
    at("2030-05-02")
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(1), per="year"))
    reserve(HALF)
    at("2031-01-01")
    reserve(MORE)
    at("2030-06-01")
    with pytest.raises(Refused, match="above the cap"):
        reserve(HALF)
    assert dry_run(Ledger(), "town", HALF).refusal is not None


def test_a_clock_that_goes_back_does_not_open_a_window_again(at: Callable[[str], None]) -> None:
    at("2030-05-02")
    Ledger().set_policy("town", Policy(differential_epsilon=Fraction(1), per="year"))
    reserve(MORE)
    at("2031-01-01")
    reserve(MORE)
    at("2029-01-01")
    with pytest.raises(Refused, match="above the cap"):
        reserve(MORE)


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
    assert "over a lifetime the years add up, and nothing caps that" in " ".join(told.output.split())
    assert Ledger().account("town").policy == Policy(differential_epsilon=Fraction(1), per="year")
    assert CliRunner().invoke(commands, ["ledger", "policy", "town", "--per", "year"]).exit_code == 2
    with pytest.raises(WrongUse, match="month, quarter, year"):
        Policy(differential_epsilon=Fraction(1), per="day")
