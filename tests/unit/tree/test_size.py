"""The tree does not grow where one idea could be shared: every figure of size.py stays at or below its ceiling."""

from __future__ import annotations

import json

import pytest

from tests.unit.tree.size import CEILINGS, above, figures, is_nameless

pytestmark = pytest.mark.slow


def test_no_figure_is_above_its_ceiling(capsys: pytest.CaptureFixture[str]) -> None:
    now, ceilings = figures(), json.loads(CEILINGS.read_text(encoding="utf-8"))
    with capsys.disabled():
        print("", *(f"{name}: {figure:,} of {ceilings[name]:,}" for name, figure in now.items()), sep="\n  ")
    assert now.keys() == ceilings.keys()
    assert above(now, ceilings) == {}


def test_a_figure_above_its_ceiling_is_noticed() -> None:
    assert above({"files": 11, "verify: functions visited": 103}, {"files": 10, "verify: functions visited": 100}) == {
        "files": 11
    }
    assert above({"verify: functions visited": 104}, {"verify: functions visited": 100}) != {}


@pytest.mark.parametrize(
    ("name", "nameless"),
    [("drawn", True), ("_counted", True), ("of", True), ("beside", True), ("draw_noise", False), ("speed", False)],
)
def test_a_participle_or_preposition_alone_is_no_name(name: str, nameless: bool) -> None:
    assert is_nameless(name) is nameless
