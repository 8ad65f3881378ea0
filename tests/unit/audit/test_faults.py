"""THREATS 36: every planted fault is caught, in the game that its promise names, and no right mechanism is accused.

Size: the two black-box twins are run at confidence 0.99 each. That is a union bound over four looks, four events and
both ends of a ratio, which must all err together: at the boundary a twin is accused about once in a million runs. Exact
and replayed audits never fail by chance. Power: 20,000 runs refute epsilon 1.11 nine times in ten, so 1.25 nearly
always, and float noise shows in a quarter of the outcomes against none.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.yardstick import YARDSTICK
from hubbub.audit.faults import FAULTS, Fault, suite
from hubbub.audit.finding import Depth, Game

LISTED = {
    "threshold off by one",
    "rows counted instead of people",
    "null bin ignored",
    "empty bins skipped",
    "noise scale 20 % small",
    "the printed sign error",
    "a second margin",
    "sample reused",
    "policy read after the data",
    "float noise",
    "simulator given too many rows",
    "a unit mixed up",
    "a collected table's promise told about the table",
}
GAMES = {
    "threshold off by one": Game.CROWD_BLENDING,
    "the printed sign error": Game.OUTLIER,
    "simulator given too many rows": Game.ZERO_KNOWLEDGE,
    "a second margin": Game.CROWD_BLENDING,
    "a unit mixed up": Game.DIFFERENTIAL,
}


def test_the_list_is_whole() -> None:
    assert {fault.name for fault in FAULTS} == LISTED
    assert {fault.depth for fault in FAULTS} == set(Depth)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_caught(fault: Fault) -> None:
    found = fault.wrong()
    assert found.is_refuted, found.sentence()
    assert found.depth is fault.depth
    assert found.witness, "a refutation ships its witness"
    assert found.game is GAMES.get(fault.name, found.game)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_its_twin_is_not_accused(fault: Fault) -> None:
    found = fault.right()
    assert not found.is_refuted, found.sentence()
    assert found.word == ("proved" if fault.depth in (Depth.EXACT, Depth.PUBLISHED) else "undecided")


def test_every_channel_that_can_be_named_is_in_the_suite_and_proved() -> None:
    channels = [each() for each in suite()[2 * len(FAULTS) :]]
    assert len(channels) >= 12
    for row in channels:
        assert row.as_it_should
        assert row.verdict_word == "proved", row.name


def test_the_page_has_a_row_for_each_fault_and_each_published_violation() -> None:
    """docs/audit.md is written by make audit; a fault that was added later has to be in it."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "audit.md").read_text(encoding="utf-8")
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in page.splitlines() if line.startswith("| ")}
    for fault in FAULTS:
        assert " | refuted | " in rows[fault.name]
        assert " | refuted | " not in rows[fault.name].partition(" | refuted | ")[2]
    for each in YARDSTICK:
        assert f"| {each.whose} | {each.what} |" in page
    assert page.count("<!-- end of ") == 6
    assert "-->\n<!-- end of " not in page, "a table is empty"
