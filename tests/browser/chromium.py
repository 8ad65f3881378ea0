"""A real browser with an empty profile, and a studio in a process of its own, for somebody with a home of their own."""

from __future__ import annotations

import base64
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.servers import ABSENT

T = TypeVar("T")

PATIENCE = 60.0  # seconds until something has failed
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--lang=en",
)
WIDTHS = (390, 1280, 1920)


def found() -> tuple[str, str] | None:
    """Chromium and its driver, if both are here."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next((path for name in names if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    return None if browser is None or driver is None else (browser, driver)


needed = pytest.mark.skipif(
    found() is None, reason=f"{ABSENT}the studio in a browser (install chromium and chromium-driver)"
)


@dataclass(frozen=True)
class Browser:
    """One person's browser."""

    driver: webdriver.Chrome

    def open(self, address: str) -> None:
        self.driver.get(address)

    def wait(self, what: Callable[[], T], told: str = "") -> T:
        """What `what` returns as soon as it is something; stale and missing elements are not yet there."""
        waiting = WebDriverWait(
            self.driver, PATIENCE, 0.05, ignored_exceptions=(NoSuchElementException, StaleElementReferenceException)
        )
        return waiting.until(
            lambda _: what(), f"{told or 'nothing'} at {self.driver.current_url}\n{self.words()[:2000]}"
        )

    def one(self, css: str) -> WebElement:
        return self.wait(lambda: self.driver.find_element(By.CSS_SELECTOR, css), css)

    def all(self, css: str) -> list[WebElement]:
        return [each for each in self.driver.find_elements(By.CSS_SELECTOR, css) if each.is_displayed()]

    def click(self, css: str) -> None:
        self.one(css)
        ask = "const found = document.querySelector(arguments[0]); if (found) found.click(); return Boolean(found)"
        self.wait(lambda: self.driver.execute_script(ask, css), css)  # in one step: an answer may be shown anew

    def until(self, words: str) -> None:
        """Wait for words on the page."""
        self.wait(lambda: words in self.words(), words)

    def words(self) -> str:
        return str(self.driver.execute_script("return document.body ? document.body.innerText : ''"))

    def settled(self, css: str = "#answer") -> str:
        """The words of an answer once nothing in it is still being worked out."""

        def told() -> str:
            part = self.driver.find_element(By.CSS_SELECTOR, css)
            return "" if part.find_elements(By.CSS_SELECTOR, "[data-again]") else part.text

        return self.wait(told, f"{css} to settle")

    def width(self, pixels: int, high: int = 900) -> None:
        size = {"width": pixels, "height": high, "deviceScaleFactor": 1, "mobile": pixels < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def dark(self, on: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def without_scripts(self, on: bool) -> None:
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": on})

    def picture(self, path: Path) -> None:
        """What is in the window, as a small file."""
        self.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 82})
        path.write_bytes(base64.b64decode(taken["data"]))

    def complaints(self) -> list[str]:
        """What the browser complained about, such as a page that breaks its own rules."""
        severe = [each for each in _log(self.driver) if each["level"] == "SEVERE"]
        return [str(each["message"]) for each in severe if "status of 4" not in each["message"]]


def _log(driver: Any) -> list[dict[str, Any]]:
    return list(driver.get_log("browser"))


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser with a new and empty profile."""
    here = found()
    assert here is not None
    profile = tempfile.mkdtemp(prefix="hubbub-profile-")
    options = Options()
    options.binary_location = here[0]
    for flag in (*FLAGS, f"--user-data-dir={profile}", "--window-size=1280,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = Service(here[1], log_output=subprocess.DEVNULL)
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_page_load_timeout(PATIENCE)
    driver.set_script_timeout(PATIENCE)
    try:
        yield Browser(driver)
    finally:
        driver.quit()
        shutil.rmtree(profile, ignore_errors=True)


@dataclass(frozen=True)
class Running:
    """A studio: its link, its address, its folder, and the home of whoever started it."""

    link: str
    folder: Path
    home: Path

    @property
    def address(self) -> str:
        return self.link.partition("/open/")[0]


@contextmanager
def running(at: Path, *more: str) -> Iterator[Running]:
    """A studio on an empty folder, started as anybody starts it."""
    folder, home = at / "folder", at / "home"
    folder.mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if name != "HUBBUB_LEDGER"}
    places = {f"XDG_{part}_HOME": str(home / part.lower()) for part in ("DATA", "STATE", "CONFIG")}
    start = [sys.executable, "-c", "from hubbub.cli.main import main; main()", "studio", str(folder), "--no-browser"]
    process = subprocess.Popen(
        [*start, *more],
        env=kept | places | {"HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Running(_line(process), folder, home)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _line(process: subprocess.Popen[Any]) -> str:
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)  # type: ignore[arg-type]
        assert waiting.select(PATIENCE), "the studio did not start"
    assert process.stdout is not None
    return str(process.stdout.readline()).strip()
