"""How far a total will be off: against errors that were measured with the mechanism itself."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub import plan
from hubbub.cli.main import commands
from hubbub.errors import WrongUse

HEAVY: dict[str, Any] = {"of": "x:0..100000:1", "epsilon": 1, "typical": "20.0855", "spread": "1.2"}


def error_of(name: str, **words: Any) -> float:
    given = {**HEAVY, "typical": "20.0855", **words}
    found = plan.sums(**given)
    (way,) = [each for each in found.ways if each.option.startswith(f"--{name}")]
    return way.error / found.total


@pytest.mark.parametrize(
    ("name", "people", "measured"),
    [
        ("cap layers", 2000, 0.093),
        ("cap layers", 10_000, 0.0346),
        ("cap layers", 100_000, 0.0066),
        ("cap auto", 2000, 0.029),
        ("tailored", 2000, 0.0596),
    ],
)
def test_an_error_is_foretold_within_a_fifth(name: str, people: int, measured: float) -> None:
    """Root mean squared errors of 200 to 1,200 releases of log-normal amounts."""
    assert error_of(name, people=people) == pytest.approx(measured, rel=0.2)


def test_a_cap_is_what_it_loses_and_its_noise() -> None:
    found = plan.sums("x:0..100:1", 1000, 1, 10, spread="0.01", caps=("100", "5"))
    ways = {way.option: way for way in found.ways}
    assert ways["--cap 100"].lost == 0
    assert ways["--cap 100"].error == pytest.approx(100 * math.sqrt(2), rel=0.001)
    assert ways["--cap 5"].lost == pytest.approx(5000, rel=0.01)
    assert found.total == pytest.approx(10_000, rel=0.01)
    assert found.best.error == min(way.error for way in found.ways)


def test_bins_and_rows_cost_as_the_release_says() -> None:
    """By eight bins with five rows of a person, a cap on all bins is paid once and layers in every bin."""
    found = plan.sums("x:0..50000:1", 40_000, 1, 900, bins=8, rows_per_person=5, caps=("20000",))
    error = {way.option: way.error for way in found.ways}
    assert error["--cap 20000"] < error["--cap auto"] < error["--cap layers"]
    assert next(way.noise for way in found.ways if way.option == "--cap 20000") == pytest.approx(
        20_000 * math.sqrt(2), rel=0.01
    )


def test_the_command_prints_every_way_and_json() -> None:
    words = ["plan", "sum", "--of", "cost:0..50000:1", "--people", "10000", "--epsilon", "1", "--typical", "400"]
    shown = CliRunner().invoke(commands, words)
    assert shown.exit_code == 0
    assert "in layers" in shown.stdout
    told = json.loads(CliRunner().invoke(commands, [*words, "--json"]).stdout)
    assert told["best"] == told["ways"][0]["option"]
    assert {"way", "option", "noise", "lost", "error"} == set(told["ways"][0])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"typical": 200_000}, "lies in the range"),
        ({"typical": 0}, "above 0"),
        ({"of": "x:-5..5:1", "typical": 1}, "begins at 0"),
        ({"spread": 0}, "above 0"),
        ({"people": 0}, "people"),
    ],
)
def test_numbers_that_say_nothing_are_refused(words: dict[str, Any], says: str) -> None:
    with pytest.raises(WrongUse, match=says):
        plan.sums(**{**HEAVY, "typical": 20, "people": 100, **words})
