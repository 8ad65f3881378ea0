"""The studio as a person uses it, in a real Chromium: one story, so that one browser and one studio serve all of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.browser import axe
from tests.browser.chromium import WIDTHS, Browser, Running, browsing, needed, running

pytestmark = needed

PICTURES = os.environ.get("HUBBUB_PICTURES")  # a folder: then the pictures of the tutorial are taken
TABLE = "/publish/table?file=millbrook.parquet&question=how-many&who=column:resident&by1-use=on&by2-use=on"


def taken(browser: Browser, name: str, part: str = "h1") -> None:
    """A picture for the tutorial, from a part of the page on."""
    if PICTURES:
        browser.width(1060, 720)
        browser.driver.execute_script(f"document.querySelector('{part}').scrollIntoView()")
        if part == "h1":
            browser.driver.execute_script("scrollTo(0, 0)")
        browser.picture(Path(PICTURES) / f"{name}.webp")
        browser.width(1280)


@dataclass(frozen=True)
class Story:
    """A steward's studio and browser, what was published, and a folder for whatever comes up."""

    browser: Browser
    steward: Running
    published: Path
    folder: Path


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """Millbrook, published from an empty folder by two clicks."""
    with running(tmp_path / "steward") as steward, browsing() as browser:
        browser.width(1280)
        browser.dark(False)
        browser.open(steward.link)
        browser.until("The folder is empty")
        browser.click("#example")
        browser.until("What this would give")
        told = browser.settled()
        assert "No more than a sample would tell" in told
        assert "Release 1" in told
        taken(browser, "publish")
        browser.click("#release")
        browser.until("Published: millbrook-histogram")
        yield Story(browser, steward, steward.folder / "millbrook-histogram", tmp_path)


def millbrook_is_published_from_an_empty_folder(story: Story) -> None:
    browser, steward = story.browser, story.steward
    assert sorted(path.name for path in story.published.iterdir()) == [
        "certificate.json",
        "datapackage.json",
        "release.csv",
        "report.html",
    ]
    browser.open(f"{steward.address}/release?folder=millbrook-histogram")
    browser.until("People by department and salary")
    assert browser.all(".excerpt svg")
    assert browser.all(".excerpt table")
    assert not browser.all("iframe")
    assert "hubbub release histogram millbrook.parquet --person resident" in browser.words()
    taken(browser, "report")
    browser.click("#check-it")
    browser.until("The certificate holds, signed by you")
    taken(browser, "check", ".tree")


def somebody_else_verifies_it_and_sees_what_was_changed(story: Story) -> None:
    """Another person: another home, another folder, another profile, and the key by another way."""
    steward = story.steward
    changed = story.folder / "changed" / "release.csv"
    changed.parent.mkdir()
    text = (story.published / "release.csv").read_text(encoding="utf-8")
    changed.write_text(text.replace("Schools", "School", 1), encoding="utf-8")
    papers = [str(story.published / name) for name in ("certificate.json", "release.csv", "report.html")]
    with running(story.folder / "reader") as reader, browsing() as other:
        other.open(f"{steward.address}/ledger")  # of somebody else, without the link
        other.until("This studio belongs to whoever started it")
        other.open(steward.link)  # which was used
        other.until("This link does not open the studio")
        other.open(reader.link)
        other.until("The folder is empty")
        other.open(f"{reader.address}/check")
        other.one("#drop").send_keys("\n".join(papers))
        other.click("#check-files")
        other.until("The certificate holds, signed with an unknown key")
        other.open(f"{reader.address}/check")
        other.one("#drop").send_keys("\n".join([papers[0], str(changed)]))
        other.click("#check-files")
        other.until("The certificate does not hold")
        assert other.one(".checks .bad").text.startswith("✗")
        assert other.complaints() == []


def numbers(browser: Browser) -> str:
    """The promise and the expected numbers, as soon as both are there."""
    script = """const part = document.getElementById('answer'), figures = part.querySelector('.figures');
    const claims = [...part.querySelectorAll('article .claim')];
    return figures && claims.length ? [figures, ...claims].map(each => each.textContent).join(' ') : ''"""
    return str(browser.wait(lambda: browser.driver.execute_script(script), "numbers"))


TO_THE_RIGHT = {"f-show_above": Keys.ARROW_RIGHT, "f-crowd": Keys.ARROW_RIGHT}  # the others to the left


def every_slider_moves_its_numbers(story: Story) -> None:
    browser, steward = story.browser, story.steward
    browser.open(f"{steward.address}/publish")
    browser.click("a[href*='file=millbrook.parquet']")
    moved = set()
    for promise in ("noise", "sample", "crowd", "rare"):
        browser.click(f"#p-{promise}")
        browser.wait(lambda: browser.all(".slider .range"))
        for slider in browser.all(".slider .range"):
            name = str(slider.get_attribute("data-for"))
            if name == "f-delta":
                continue  # for bins that are found in the data, which these are not
            before = numbers(browser)
            for _ in range(3):
                slider.send_keys(TO_THE_RIGHT.get(name, Keys.ARROW_LEFT))
            browser.wait(lambda before=before: numbers(browser) != before, f"{promise} {name}, after {before}")
            assert slider.get_attribute("aria-valuetext") == browser.one(f"#{name}").get_attribute("value")
            moved.add(name)
    assert moved == {"f-epsilon", "f-crowd", "f-sample", "f-rare", "f-show_above"}


def a_plan_follows_its_sliders(story: Story) -> None:
    browser, steward = story.browser, story.steward
    browser.open(f"{steward.address}/plan?people=2000&bins=20&rate=0.2")
    browser.settled()
    taken(browser, "plan")
    for name in ("people", "bins", "epsilon", "delta"):
        before = browser.settled()
        browser.one(f"[data-for=f-{name}]").send_keys(Keys.ARROW_RIGHT)
        browser.wait(lambda before=before: browser.settled() != before, name)


def an_election_is_counted(story: Story) -> None:
    browser, steward = story.browser, story.steward
    browser.open(f"{steward.address}/vote")
    assert "instant runoff" in browser.settled("#honesty")
    Select(browser.one("#rule")).select_by_value("instant-runoff")
    browser.click("#read")
    browser.until("Nothing is counted yet")
    browser.click("#count")
    browser.until("wins")
    browser.until("The last round")
    taken(browser, "vote")
    browser.click("#again")
    browser.until("counted again from the ballots")


def the_cap_of_a_policy_is_hit(story: Story) -> None:
    browser, steward = story.browser, story.steward
    browser.open(f"{steward.address}/ledger?dataset=millbrook")
    browser.one("[name=zero_knowledge_epsilon]").send_keys("1")
    browser.click(".account button")
    browser.until("zero knowledge epsilon: ")
    assert "left of 1" in browser.words()
    taken(browser, "ledger")
    browser.open(f"{steward.address}/publish")
    browser.click("a[href*='file=millbrook.parquet']")
    assert "The ledger would refuse it" in browser.settled()
    assert browser.one("#release").get_attribute("disabled")


def the_private_check_leaves_no_trace(story: Story) -> None:
    browser, steward = story.browser, story.steward
    browser.open(f"{steward.address}/publish")
    browser.click("a[href*='file=millbrook.parquet']")
    browser.settled()
    before = browser.driver.current_url
    browser.click("[formaction='/publish/look']")
    browser.until("40,000 rows are read")
    assert browser.one("#look").is_displayed()  # beside the form
    assert browser.driver.current_url == before  # what was asked is in no address, and so in no history
    browser.open(f"{steward.address}/plan")
    assert "40,000 rows" not in str(browser.driver.execute_script("return document.referrer + document.cookie"))
    browser.driver.back()
    assert "40,000 rows are read" not in browser.words()  # it was kept nowhere


def pages_are_read_without_scripts(story: Story) -> None:
    browser, steward = story.browser, story.steward
    browser.without_scripts(True)
    try:
        browser.open(f"{steward.address}/publish")
        browser.driver.find_element(By.CSS_SELECTOR, "a[href*='file=millbrook.parquet']").click()
        answer = browser.driver.find_element(By.ID, "answer").text
        assert "What this would give" in answer
        assert browser.all(".range") == []
        browser.open(f"{steward.address}/check/folder?folder=millbrook-histogram")
        assert browser.driver.find_element(By.ID, "verdict").text.startswith("The certificate holds")
    finally:
        browser.without_scripts(False)


PAGES = ("/publish", TABLE, "/release?folder=millbrook-histogram", "/check", "/plan", "/vote", "/ledger")
MORE = (
    "/check/folder?folder=millbrook-histogram",
    "/publish/table?file=millbrook.parquet",
    f"{TABLE}&step=3",
    "/nowhere",
)


DARK = ("/plan", "/vote", "/ledger", TABLE, MORE[0])  # all that has colours of its own


def pages_fit_telephones_and_desks(story: Story) -> None:
    browser, steward = story.browser, story.steward
    try:
        for path in (*PAGES, *MORE):
            browser.open(f"{steward.address}{path}")
            for width in WIDTHS:
                browser.width(width)
                over = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
                assert browser.driver.execute_script(over) <= 0, (path, width)
    finally:
        browser.width(1280)


def no_page_has_a_serious_barrier(story: Story) -> None:
    browser, steward = story.browser, story.steward
    text = axe.source()
    found = {}
    try:
        for path in (*PAGES, *MORE):
            browser.open(f"{steward.address}{path}")
            for dark in (False, True) if path in DARK else (False,):
                browser.dark(dark)
                if wrong := axe.barriers(browser, text):
                    found[path, "dark" if dark else "light"] = wrong
    finally:
        browser.dark(False)
    assert found == {}


def a_tab_from_before_a_restart_says_so(story: Story) -> None:
    browser = story.browser
    with running(story.folder / "first") as first:
        port = first.address.rpartition(":")[2]
        browser.open(first.link)
        browser.until("The folder is empty")
    with running(story.folder / "second", "--port", port) as second:
        browser.open(f"{second.address}/ledger")
        browser.until("This tab is from an earlier start of the studio")


STEPS = (
    millbrook_is_published_from_an_empty_folder,
    somebody_else_verifies_it_and_sees_what_was_changed,
    every_slider_moves_its_numbers,
    a_plan_follows_its_sliders,
    an_election_is_counted,
    the_cap_of_a_policy_is_hit,
    the_private_check_leaves_no_trace,
    pages_are_read_without_scripts,
    pages_fit_telephones_and_desks,
    no_page_has_a_serious_barrier,
    a_tab_from_before_a_restart_says_so,
)


def test_the_studio_as_a_person_uses_it(story: Story, subtests: pytest.Subtests) -> None:
    """Also: no page breaks its own rules, with code or style from anywhere but the studio, or with an error."""
    for step in STEPS:
        with subtests.test(step.__name__):
            step(story)
            assert story.browser.complaints() == []
