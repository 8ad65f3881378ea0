"""The site as readers meet it, opened from files in a real Chromium: no warning, no barrier, a search that finds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest

from tests.browser import axe
from tests.browser.chromium import browsing, needed

ROOT = Path(__file__).parents[2]
WORDS = ("average", "GDPR", "anonymise", "k-anonymity", "budget")
pytestmark = [
    needed,
    pytest.mark.skipif(
        find_spec("mkdocs") is None and "HUBBUB_SITE" not in os.environ,
        reason="the site is built where the extra docs is installed",
    ),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built anew, or the one that HUBBUB_SITE names."""
    if given := os.environ.get("HUBBUB_SITE"):
        return Path(given)
    folder = tmp_path_factory.mktemp("site")
    homes = {f"XDG_{part}_HOME": str(folder / "home") for part in ("DATA", "STATE")}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder / "site")],
        cwd=ROOT,
        env={**os.environ, **homes, "NO_MKDOCS_2_WARNING": "1"},  # docs/decisions/site.md
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder / "site"


def pages(site: Path) -> list[Path]:
    """All but the one for a wrong address: its links begin at the root of a server, so it has a test of its own."""
    return sorted(path for path in site.rglob("*.html") if "assets" not in path.parts and path.name != "404.html")


def test_every_page_leads_on(site: Path) -> None:
    every = pages(site)
    assert len(every) > 50
    for page in every:
        text = page.read_text(encoding="utf-8")
        links = ("md-footer__link--prev" in text) + ("md-footer__link--next" in text)
        assert links >= (1 if page.name in ("index.html", "versions.html") else 2), page.relative_to(site)


def test_no_page_has_a_barrier(site: Path) -> None:
    """What is around an article is the same on all pages, and looked at on some; the dark has one set of colours."""
    text, found = axe.source(), {}
    with browsing() as browser:
        for dark in (False, True):
            browser.dark(dark)
            for i, page in enumerate(pages(site)[:: 5 if dark else 1]):
                browser.open(page.as_uri())
                within, only = "article" if i % 8 else ":root", axe.COLOURS if dark else ()
                if wrong := axe.barriers(browser, text, ("serious", "critical"), within=within, only=only):
                    found[f"{page.relative_to(site)}{' (dark)' if dark else ''}"] = wrong
    assert not found, "\n".join(f"{page}: {'; '.join(wrong)}" for page, wrong in found.items())


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of the site on a server of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_wrong_address_leads_on_and_has_no_barrier(site: Path) -> None:
    text = axe.source()
    with served(site) as address, browsing() as browser:
        browser.open(f"{address}/404.html")
        assert axe.barriers(browser, text, ("serious", "critical")) == []
        assert "This page does not exist" in browser.words()
        leads = {link.get_attribute("href") for link in browser.all("a.md-nav__link, article a, link[rel=stylesheet]")}
        browser.one("article a").click()
        browser.wait(lambda: browser.driver.current_url == f"{address}/index.html")
    own = {lead.split("#")[0].removeprefix(address).lstrip("/") for lead in leads if lead and lead.startswith(address)}
    assert len(own) > 40
    assert [lead for lead in own if lead and not (site / lead).is_file()] == []


def test_search_finds_what_people_look_for(site: Path) -> None:
    with browsing() as browser:
        for word in WORDS:
            browser.open((site / "index.html").as_uri())
            browser.driver.execute_script("document.querySelector('[data-md-toggle=search]').click()")
            browser.one("[data-md-component=search-query]").send_keys(word)
            browser.wait(lambda: browser.all(".md-search-result__item a"), word)
