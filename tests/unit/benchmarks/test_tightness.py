"""docs/tightness.md: no row is above 1.01 without saying why, every kind is there, and the page is what the code says."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchmarks.kind_tightness import OF_THEIR_OWN, SMALL, reached
from benchmarks.tightness import CHANNELS, ENOUGH, HEADING, KINDS, WHY, explained, own_rows, ratio, short
from hubbub.channels.subsample import Subsampled
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.histogram.request import histogram
from hubbub.numeric.exact import exp
from hubbub.registry import names as kinds

PAGE = Path(__file__).parents[3] / "docs" / "tightness.md"
REASONS = {why for _, why in WHY}


def rows(text: str) -> list[list[str]]:
    """The rows of all tables with the heading of the page."""
    found, inside = [], False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells == list(HEADING):
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("|---"):
            found.append(cells)
    return found


def faults(text: str) -> list[str]:
    """What is wrong with the rows: above 1.01 and not bold, bold and unexplained, explained for nothing."""
    found = []
    for name, _, _, over, _, why in rows(text):
        plain = over.strip("*")
        if over.startswith("**") != (Fraction(plain) > ENOUGH):
            found.append(f"{name}: {over} is bold where it should not be, or is not where it should")
        if over.startswith("**") != (why in REASONS):
            found.append(f"{name}: {over} has no reason, or needs none")
    return found


def test_no_row_is_looser_than_one_percent_without_a_reason() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(rows(text)) > 60
    assert faults(text) == []


@pytest.mark.parametrize("over", ["**1.0300**", "1.0300", "**1.0000**"])
def test_the_gate_notices(over: str) -> None:
    line = f"| a row | 1 | 1 | {over} | count 1 |  |"
    head = f"| {' | '.join(HEADING)} |\n|{'---|' * len(HEADING)}\n"
    assert faults(head + line)
    assert not faults(head + line.replace(over, "1.0000"))


def test_every_channel_and_every_kind_is_on_the_page() -> None:
    names = {row[0] for row in rows(PAGE.read_text(encoding="utf-8"))}
    for channel in CHANNELS:
        assert channel in names
        assert any(name.startswith(f"{channel}, ") for name in names), "and on a sample"
    assert set(KINDS) == {*kinds(), "series"}
    assert {*SMALL, *OF_THEIR_OWN} <= names, "kinds that are enumerated"
    assert all(f"| {kind} |" in PAGE.read_text(encoding="utf-8") for kind in KINDS)


@pytest.mark.parametrize("name", ["geometric, epsilon = 1", "outlier suppressed, k = 5, offset 3"])
def test_the_page_is_what_is_claimed_today(name: str) -> None:
    lines = {tuple(row) for row in rows(PAGE.read_text(encoding="utf-8"))}
    channel = histogram(["a=x,y"], **CHANNELS[name]).channel
    assert {explained(row) for row in own_rows(name, channel, channel.claim)} <= lines
    drawn = histogram(["a=x,y"], **CHANNELS[name], sample="0.1")
    own = drawn.promises()[0]
    if name.startswith("outlier"):
        sampled = own_rows(f"{name}, its own", Subsampled(Fraction(1, 10), channel), own.conclusion)
        assert {explained(row) for row in sampled} <= lines


def test_a_ratio_is_bold_above_one_percent() -> None:
    assert ratio(Fraction(101), Fraction(100)) == "1.0100"
    assert ratio(Fraction(102), Fraction(100)) == "**1.0200**"


def test_the_loss_that_laws_reach_is_that_of_the_noise_and_counts_what_is_left_out_against_it() -> None:
    case, _, _ = SMALL["count"]
    q = exp(Fraction(-1))
    law = {here: {x: (1 - q) / (1 + q) * q ** abs(x - here) for x in range(-9, 10)} for here in (0, 1)}
    laws = {(): law[0], case.people[-1:]: law[1]}
    promise = DifferentialPrivacy(epsilon=Fraction(1))
    pairs = [((), case.people[-1:]), (case.people[-1:], ())]
    assert reached(laws, pairs, promise, of_one_run=True) == pytest.approx(1)
    assert 0.9 < reached(laws, pairs, promise, of_one_run=False) < 1
    shown = reached(laws, pairs, DifferentialPrivacy(epsilon=Fraction(1, 2), delta=Fraction(1, 10)), of_one_run=False)
    assert 0 < shown < Fraction(1, 2)


@pytest.mark.parametrize(
    "name",
    ["points", "records", "series, two periods", "ballots, a fifth of them in secret, after the recount"],
)
def test_a_kind_of_its_own_way_is_enumerated_as_the_page_says_and_keeps_its_promise(name: str) -> None:
    game = OF_THEIR_OWN[name]()
    pairs = list(game.pairs)
    found = reached(game.laws, pairs, game.promise, of_one_run=game.of_one_run)
    claimed = game.promise.delta or game.promise.epsilon
    assert isinstance(claimed, Fraction)
    assert len(pairs) > 5
    assert claimed * Fraction(99, 100) <= found <= claimed
    (row,) = [row for row in rows(PAGE.read_text(encoding="utf-8")) if row[0] == name]
    assert row[2] == short(found)
    assert row[4] == game.under


def test_nobody_of_a_crowd_is_exchanged_with_somebody_outside_of_it() -> None:
    """Of points: two of one cell of two people, and nobody of a cell of one but by leaving it."""
    for one, two in OF_THEIR_OWN["points"]().pairs:
        tables: list[Any] = [one, two]
        cells = [sorted(age // 2 for _, age in people) for people in tables]
        assert cells[0] == cells[1] or len(one) != len(two)
        if len(one) != len(two):
            alone = set(cells[0]) ^ set(cells[1])
            assert alone, "somebody of a crowd was left out"
