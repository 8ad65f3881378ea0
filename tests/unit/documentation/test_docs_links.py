"""Every link of the documentation leads somewhere, every page can be reached, and every figure is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hubbub

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "tests").glob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
)
LINK = re.compile(r"(?<!`)!?\[[^\]]*\]\(([^)\s]+)\)")
GENERATED = {DOCS / "reference" / "commands.md"}  # the site makes it from --help
NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]


def text(page: Path) -> str:
    """The page without its fenced blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What a link may name after the #, as the site makes it of headings."""
    heads = re.findall(r"^#+ (.*)$", text(page), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", head).strip().lower()) for head in heads}


def broken(page: Path) -> list[str]:
    """Links of the page that lead nowhere, by what they say."""
    found = []
    for link in LINK.findall(text(page)):
        address, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", address):
            found.append(f"{link} (leads outside)")
            continue
        there = (page.parent / address).resolve() if address else page
        if there in GENERATED:
            continue
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in anchors(there)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    assert not broken(page)


def test_a_broken_link_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n\n[a](#one) [b](#two) [c](page.md) [d](other.md) [e](https://example.org)\n")
    assert broken(page) == ["#two", "other.md", "https://example.org (leads outside)"]


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.relative_to(DOCS).as_posix())
def test_every_page_stands_in_the_contents(page: Path) -> None:
    assert re.search(rf"[ :]{re.escape(page.relative_to(DOCS).as_posix())}\n", NAV)


def test_pages_of_the_site_link_only_within_it() -> None:
    outside = {
        f"{page.name}: {link}"
        for page in DOCS.rglob("*.md")
        for link in LINK.findall(text(page))
        if not link.startswith("#") and not (page.parent / link.partition("#")[0]).resolve().is_relative_to(DOCS)
    }
    assert not outside


def test_the_pictures_are_of_this_version() -> None:
    """``make pictures`` takes them and writes down of which version."""
    folder = ROOT / "docs" / "tutorials" / "studio"
    assert (folder / "version.txt").read_text(encoding="utf-8").split()[-1] == hubbub.__version__
    assert {path.stem for path in folder.glob("*.webp")} >= {"publish", "report", "check", "plan", "ledger"}
