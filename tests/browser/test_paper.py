"""A report on paper: at most three pages, no table in pieces, and its legend beside its picture."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.browser.chromium import browsing, needed
from tests.browser.sheets import pages_of, reports

pytestmark = [needed, pytest.mark.slow]

PAGES = {"histogram-ages": 1, "histogram-months": 2, "histogram-two": 2, "records": 2, "cube": 2, "series-first": 1}
_HEADS = "return [...document.querySelectorAll('#numbers thead')].filter(each => each.getClientRects().length).length"
_LEGEND = "return getComputedStyle(document.querySelector('figcaption')).display"


def test_ordinary_tables_are_few_pages_and_one_table(tmp_path: Path) -> None:
    with browsing() as browser:
        for name, page in reports(tmp_path, list(PAGES)).items():
            browser.open(f"file://{page}")
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
            assert browser.driver.execute_script(_HEADS) == 1, name
            assert browser.driver.execute_script(_LEGEND) == "block", name
            paper = {"paperWidth": 8.27, "paperHeight": 11.69}
            printed = browser.driver.execute_cdp_cmd("Page.printToPDF", paper)
            assert 1 <= pages_of(base64.b64decode(printed["data"])) <= PAGES[name], name
