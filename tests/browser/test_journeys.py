"""The journeys of a steward in a real Chromium: from a table of their own to a release, in at most eight actions.

Each is made by keyboard alone, on a wide screen and on a narrow one, and the first by pointer too. On every page on the
way, light and dark, nothing is wider than the screen, and axe finds nothing that is more than minor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from tests.browser import axe
from tests.browser.chromium import Browser, Running, browsing, needed, running
from tests.browser.person import MOST, WIDTHS, Person

pytestmark = needed

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


def members() -> str:
    return "\n".join(["member_id,age", *(f"m{i},{18 + i * 7 % 70}" for i in range(300))]) + "\n"


def begin(steward: Person, studio: Running, file: str, question: str = "how-many") -> None:
    """From the list of tables to the columns of one."""
    steward.browser.open(f"{studio.address}/publish")
    steward.seen("Tables in the folder")
    steward.press(f"a.card[href*='file={file}']")
    steward.seen("What do you want to publish")
    steward.press("#named")
    steward.press(f"#q-{question}")
    steward.seen("Who is a person?")


def end(steward: Person) -> None:
    """The promise, and the button."""
    steward.press("#next")
    steward.seen("What is promised to each person?")
    steward.browser.settled()
    steward.press("#release")
    steward.seen("Published:")
    assert len(steward.done) <= MOST, steward.done


def a_survey_of_119_columns(steward: Person, studio: Running) -> None:
    begin(steward, studio, "survey.csv")
    steward.choose("#who", "respondent_id")
    steward.find("q1")
    assert "q100" in steward.browser.one("#chosen").text
    end(steward)


def visits_of_patients_with_several_rows(steward: Person, studio: Running) -> None:
    begin(steward, studio, "visits.csv")
    steward.choose("#who", "patient_id")
    steward.prefer("input[name=several][value=rows]", 1)
    steward.press("[data-column='2']")  # the date, by year
    end(steward)


def a_file_with_duplicate_headers(steward: Person, studio: Running) -> None:
    begin(steward, studio, "compas.csv")
    steward.choose("#who", "id")
    names = [each.text for each in steward.browser.driver.find_elements(By.CSS_SELECTOR, "#every-column .cname")]
    assert names == ["id", "town", "town#2", "age"]
    steward.press("[data-column='2']")
    end(steward)


def the_same_every_month(steward: Person, studio: Running) -> None:
    begin(steward, studio, "members.csv", "every-month")
    steward.choose("#who", "member_id")
    steward.press("[data-column='1']")  # the age, in steps of ten
    steward.press("#next")
    steward.seen("What is promised to each person?")
    steward.browser.settled()
    steward.press("#release")
    steward.seen("It costs nothing more.")
    steward.press("#publish-period")
    steward.seen("Published:")
    assert len(steward.done) <= MOST, steward.done
    steward.browser.click("#series")
    steward.seen("1 of 12 periods")


JOURNEYS = {
    "survey.csv": (survey, a_survey_of_119_columns),
    "visits.csv": (visits, visits_of_patients_with_several_rows),
    "compas.csv": (duplicates, a_file_with_duplicate_headers),
    "members.csv": (members, the_same_every_month),
}


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[tuple[Browser, Running]]:
    """A studio with the tables, and a browser that has it open."""
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
    for width, keyboard in ((1440, False), *((each, True) for each in WIDTHS)):
        browser.width(width)
        for _, journey in [*JOURNEYS.values()] if keyboard else [*JOURNEYS.values()][:1]:
            with subtests.test(f"{journey.__name__} at {width}, {'keyboard' if keyboard else 'pointer'}"):
                journey(Person(browser, keyboard, text), started)
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
