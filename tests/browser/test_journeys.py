"""The journeys of a steward in a real Chromium: from a table of their own to a release, in at most eight actions.

Each is made twice: by pointer on a wide light screen, and by keyboard alone on a narrow dark one. On every page on the
way nothing is wider than the screen, and axe finds nothing that is more than minor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.browser import axe
from tests.browser.chromium import Browser, Running, browsing, needed, running

pytestmark = needed

MOST = 8  # actions
TABS = 160  # presses of the tabulator until something is out of reach
QUESTIONS = [f"q{i:03d}" for i in range(114)]


def survey() -> str:
    """119 columns, of which a steward knows a few by name; people by arithmetic."""
    names = ["respondent_id", "age", "gender", "region", "weight", *QUESTIONS]
    lines = [",".join(names)]
    for i in range(400):
        cells = [str(i), str(18 + i * 7 % 70), "FM"[i % 2], ("North", "South")[i % 3 == 0], "1"]
        lines.append(",".join([*cells, *(("yes", "no", "")[(i * (j + 3)) % 3] for j in range(len(QUESTIONS)))]))
    return "\n".join(lines) + "\n"


def visits() -> str:
    rows = [f"{i % 150},{'ABC'[i * i % 3]},2025-{i % 12 + 1:02d}-10,{10 + i * 37 % 900}" for i in range(900)]
    return "\n".join(["patient_id,ward,date,cost", *rows]) + "\n"


def duplicates() -> str:
    rows = [f"{i},{('Bath', 'York')[i % 2]},{('Bath', 'York')[i % 3 == 0]},{i % 90}" for i in range(300)]
    return "\n".join(["id,town,town,age", *rows]) + "\n"


@dataclass
class Steward:
    """Somebody at the studio, whose actions are counted; `keyboard` says whether they have nothing else."""

    browser: Browser
    keyboard: bool
    axe: str
    done: list[str] = field(default_factory=list)

    def press(self, css: str) -> None:
        """Press a button, follow a link, tick a box."""
        self._reach(css)
        if self.keyboard:
            box = self.browser.driver.execute_script("return document.activeElement.matches('input')")
            self._keys(Keys.SPACE if box else Keys.ENTER)
        else:
            self.browser.one(css).click()
        self.done.append(css)

    def choose(self, css: str, words: str) -> None:
        """Choose from a list by its words."""
        self._reach(css)
        if self.keyboard:
            self._keys(words)
        else:
            Select(self.browser.one(css)).select_by_visible_text(words)
        chosen = "return document.querySelector(arguments[0]).selectedOptions[0].textContent"
        assert self.browser.driver.execute_script(chosen, css) == words
        self.done.append(css)

    def prefer(self, css: str, downwards: int) -> None:
        """Choose one of several, so many below the first."""
        if self.keyboard:
            self._reach(f"input[name={css.partition('name=')[2].partition(']')[0]}]:checked")
            for _ in range(downwards):
                self._keys(Keys.ARROW_DOWN)
        else:
            self._reach(css)
            self.browser.one(css).click()
        assert self.browser.one(css).is_selected()
        self.done.append(css)

    def find(self, words: str) -> None:
        """Type a part of a column's name, and take the first that has it."""
        self._reach("#find")
        self.browser.one("#find").send_keys(words, Keys.ENTER)
        self.done.append("find")

    def _keys(self, *keys: str) -> None:
        ActionChains(self.browser.driver).send_keys(*keys).perform()

    def _reach(self, css: str) -> None:
        """Come to an element as this steward comes to things."""
        element = self.browser.one(css)
        if not self.keyboard:
            self.browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
            return
        here = "return document.activeElement.matches(arguments[0])"
        for _ in range(TABS):
            if self.browser.driver.execute_script(here, css):
                return
            self._keys(Keys.TAB)
        raise AssertionError(f"{css} is not reached by the keyboard at {self.browser.driver.current_url}")

    def seen(self, words: str) -> None:
        """A page with these words, which everybody can use."""
        self.browser.until(words)
        over = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert self.browser.driver.execute_script(over) <= 0, self.browser.driver.current_url
        assert axe.barriers(self.browser, self.axe) == [], self.browser.driver.current_url
        primary = [each for each in self.browser.all("main button.go") if each.is_enabled()]
        assert len(primary) <= 1, "one primary action to a page"


def begin(steward: Steward, studio: Running, file: str) -> None:
    """From the list of tables to the columns of one."""
    steward.browser.open(f"{studio.address}/publish")
    steward.seen("Tables in the folder")
    steward.press(f"a.card[href*='file={file}']")
    steward.seen("What do you want to publish")
    steward.press("#named")
    steward.press("#q-how-many")
    steward.seen("Who is a person?")


def end(steward: Steward) -> None:
    """The promise, and the button."""
    steward.press("#next")
    steward.seen("What is promised to each person?")
    steward.browser.settled()
    steward.press("#release")
    steward.seen("Published:")
    assert len(steward.done) <= MOST, steward.done


def a_survey_of_119_columns(steward: Steward, studio: Running) -> None:
    begin(steward, studio, "survey.csv")
    steward.choose("#who", "Each row is another person")
    steward.find("q1")
    assert "q100" in steward.browser.one("#chosen").text
    end(steward)


def visits_of_patients_with_several_rows(steward: Steward, studio: Running) -> None:
    begin(steward, studio, "visits.csv")
    steward.choose("#who", "patient_id")
    steward.prefer("input[name=several][value=rows]", 1)
    steward.press("[data-column='2']")  # the date, by year
    end(steward)


def a_file_with_duplicate_headers(steward: Steward, studio: Running) -> None:
    begin(steward, studio, "compas.csv")
    steward.choose("#who", "id")
    names = [each.text for each in steward.browser.driver.find_elements(By.CSS_SELECTOR, "#every-column .cname")]
    assert names == ["id", "town", "town#2", "age"]
    steward.press("[data-column='2']")
    end(steward)


JOURNEYS = {
    "survey.csv": (survey, a_survey_of_119_columns),
    "visits.csv": (visits, visits_of_patients_with_several_rows),
    "compas.csv": (duplicates, a_file_with_duplicate_headers),
}


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[tuple[Browser, Running]]:
    """A studio with the three tables, and a browser that has it open."""
    with running(tmp_path / "steward") as started, browsing() as browser:
        for name, (table, _) in JOURNEYS.items():
            (started.folder / name).write_text(table(), encoding="utf-8")
        browser.open(started.link)
        browser.until("Tables in the folder")
        yield browser, started


def test_stewards_publish_their_own_tables_in_eight_actions(
    studio: tuple[Browser, Running], subtests: pytest.Subtests
) -> None:
    browser, started = studio
    text = axe.source()
    for width, dark, keyboard in ((1440, False, False), (390, True, True)):
        browser.width(width)
        browser.dark(dark)
        for _, journey in JOURNEYS.values():
            with subtests.test(f"{journey.__name__} at {width}, {'keyboard' if keyboard else 'pointer'}"):
                journey(Steward(browser, keyboard, text), started)
                assert browser.complaints() == []


FILLED = "/publish/table?file=visits.csv&named=1&question=average&who=column:patient_id&by1-use=on"


def value(browser: Browser, css: str) -> str:
    return str(browser.one(css).get_attribute("value"))


def kept_by(browser: Browser, what: Callable[[], object]) -> None:
    """What was typed is there afterwards."""
    what()
    browser.wait(lambda: value(browser, "#of-high") == "950", "what was typed")
    assert value(browser, "[name='by1-values']") == "A,B"
    assert value(browser, "#of-column") == "cost"


def test_nothing_that_is_typed_is_lost(studio: tuple[Browser, Running]) -> None:
    """Reload, the way back, a second tab, a form that was left, and a refusal."""
    browser, started = studio
    browser.width(1280)
    browser.open(f"{started.address}{FILLED}")
    Select(browser.one("#of-column")).select_by_visible_text("cost")
    high = browser.one("#of-high")
    assert value(browser, "#of-high") == "1000", "suggested by the name of the column"
    high.clear()
    high.send_keys("950")
    browser.one("[name='by1-values']").send_keys("A,B")
    browser.settled()
    kept_by(browser, browser.driver.refresh)
    browser.open(f"{started.address}/plan")
    kept_by(browser, browser.driver.back)
    address = browser.driver.current_url
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    kept_by(browser, lambda: browser.open(address))
    browser.one("#of-low").send_keys("5")
    browser.driver.close()
    browser.driver.switch_to.window(first)
    assert value(browser, "#of-low") == "0", "a tab is its own"
    browser.open(f"{started.address}/publish")
    kept_by(browser, lambda: browser.click("section[aria-labelledby=begun] a"))
    browser.click("#next")
    browser.settled()
    browser.click("#release")  # nobody said that patients have several rows
    browser.until("Nothing was published.")
    kept_by(browser, lambda: None)
    browser.click("#refused a")
    browser.wait(lambda: browser.one("#several").is_displayed())
    assert browser.all("#several [aria-invalid=true]")
    assert not list(started.folder.glob("*mean*")), "and no empty folder is left"
    assert browser.complaints() == []
