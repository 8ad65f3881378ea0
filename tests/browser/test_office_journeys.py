"""Check, plan to publish, vote and ledger in a real Chromium: at most eight actions each, and no dead end.

Each journey is made by keyboard alone, on a wide screen and on a narrow one. On every page on the way, light and dark,
nothing is wider than the screen, and axe finds nothing serious or moderate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser import axe
from tests.browser.chromium import Browser, Running, browsing, needed, running
from tests.browser.person import MOST, WIDTHS, Person

pytestmark = needed

NAMES = [f"Candidate {i:02d} of the United Neighbourhood List" for i in range(1, 37)]


def ballots() -> str:
    """36 candidates with long names, each ballot with three of them, by arithmetic."""
    rows = [",".join(NAMES[(i // 4 + 5 * j) % (6 if i % 4 else 36)] for j in range(3)) for i in range(500)]
    return "\n".join(["rank1,rank2,rank3", *rows]) + "\n"


def check(visitor: Person, studio: Running) -> None:
    """A release that is in the folder, then a changed file of it: a verdict at once, and why."""
    browser = visitor.browser
    browser.open(f"{studio.address}/check")
    visitor.seen("A certificate says what is promised")
    visitor.press("a[href*='/check/folder?folder=millbrook-histogram']")
    visitor.seen("The certificate holds, signed by you")
    verdict = browser.one("#verdict")
    assert verdict.rect["y"] < browser.driver.execute_script("return innerHeight"), "in sight without scrolling"
    browser.open(f"{studio.address}/check")
    changed = studio.home / "release.csv"
    text = (studio.folder / "millbrook-histogram" / "release.csv").read_text(encoding="utf-8")
    changed.write_text(text.replace("Schools", "School", 1), encoding="utf-8")
    paths = [studio.folder / "millbrook-histogram" / "certificate.json", changed]
    visitor.type("#drop", "\n".join(map(str, paths)))
    visitor.press("#check-files")
    visitor.seen("The certificate does not hold")
    assert "This file is not the one that was signed" in browser.words()
    assert "What to do:" in browser.words()


def plan_to_publish(visitor: Person, studio: Running) -> None:
    """From a promise to a form that is filled in with it."""
    browser = visitor.browser
    browser.open(f"{studio.address}/plan?want=crowd-blending&people=2000&bins=20&k=15&epsilon=0.5")
    browser.settled()
    visitor.seen("The best design")
    visitor.press("#onward")
    visitor.seen("millbrook.parquet")
    visitor.press("[aria-labelledby=files] a[href*='file=millbrook.parquet'][href*='promise=crowd']")
    visitor.seen("How many?")
    visitor.press("[name=ask][value=how-many]")
    visitor.seen("Count them by")
    filled = "return [...document.querySelectorAll('[name=promise]:checked, [name=crowd]')].map(each => each.value)"
    assert browser.wait(lambda: browser.driver.execute_script(filled)) == ["crowd", "15"]


def vote(visitor: Person, studio: Running) -> None:
    """36 candidates, and who they are, before anything is counted; then who won, in full."""
    browser = visitor.browser
    browser.open(f"{studio.address}/vote")
    visitor.seen("Count ballots")
    visitor.type("#upload", str(studio.home / "council.csv"))
    visitor.press("#read")
    visitor.seen("Nothing is counted yet")
    assert "36 candidates" in browser.words()
    assert "500, with ranks" in browser.words()
    visitor.press("#count")
    visitor.seen("wins")
    assert "of the United Neighbourhood List wins" in browser.one("h1").text
    assert browser.all("iframe") == []
    assert browser.all(".round"), "the count stands on the page"
    visitor.press("main a[href^='/document']")
    browser.until("of the United Neighbourhood List")


def ledger(visitor: Person, studio: Running) -> None:
    """What is spent, drawn; a cap that shows in it."""
    browser = visitor.browser
    browser.open(f"{studio.address}/ledger")
    visitor.seen("What was spent on whom")
    visitor.press("a[href*='dataset=millbrook']")
    visitor.seen("differential privacy")
    assert browser.all(".spent svg"), "a picture of what is spent"
    visitor.type("[name=differential_epsilon]", "4")
    visitor.press(".account form button")
    visitor.seen("left of 4")
    assert "the cap, 4" in browser.one(".spent").text


JOURNEYS: tuple[Callable[[Person, Running], None], ...] = (check, plan_to_publish, vote, ledger)


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[tuple[Browser, Running]]:
    """Millbrook, published, and ballots outside the folder."""
    with running(tmp_path / "steward") as found, browsing() as browser:
        browser.width(1440)
        browser.open(found.link)
        browser.until("The folder is empty")
        browser.click("#example")
        browser.until("What this would give")
        browser.settled()
        browser.click("#release")
        browser.until("Published: millbrook-histogram")
        found.home.mkdir(exist_ok=True)
        (found.home / "council.csv").write_text(ballots(), encoding="utf-8")
        yield browser, found


def test_the_office_is_at_ease(studio: tuple[Browser, Running], subtests: pytest.Subtests) -> None:
    browser, found = studio
    text = axe.source()
    for width in WIDTHS:
        browser.width(width)
        for journey in JOURNEYS:
            with subtests.test(f"{journey.__name__} at {width}"):
                visitor = Person(browser, True, text)
                journey(visitor, found)
                assert len(visitor.done) <= MOST, visitor.done
                assert browser.complaints() == []
