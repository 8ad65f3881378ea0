"""Somebody at the studio, by pointer or by keyboard alone, whose actions are counted; and what every page must be."""

from __future__ import annotations

from dataclasses import dataclass, field

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.browser import axe
from tests.browser.chromium import Browser

MOST = 8  # actions of a journey
TABS = 160  # presses of the tabulator until something is out of reach
WIDTHS = (1440, 390)
SHOWN = "return [...document.querySelectorAll(arguments[0])].filter(each => each.offsetParent).length"
OVER = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"


@dataclass
class Person:
    """`keyboard` says whether they have nothing else."""

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

    def type(self, css: str, text: str) -> None:
        """Type into a field, or give files to one."""
        self._reach(css)
        self.browser.one(css).send_keys(text)
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
        """Come to an element as this person comes to things."""
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
        """A page with these words, which everybody can use, light and dark, and which leads somewhere."""
        self.browser.until(words)
        at = self.browser.driver.current_url
        assert self.browser.driver.execute_script(OVER) <= 0, f"{at} is wider than the screen"
        assert axe.barriers(self.browser, self.axe) == [], at
        for dark in (True, False):
            self.browser.dark(dark)
            assert axe.barriers(self.browser, self.axe, only=axe.COLOURS) == [], f"{at}, {'dark' if dark else 'light'}"
        assert self.browser.driver.execute_script(SHOWN, "main button.go:enabled") <= 1, "one primary action to a page"
        assert self.browser.driver.execute_script(SHOWN, "main a[href], main button"), f"{at} leads nowhere"
