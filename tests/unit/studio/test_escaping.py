"""Names of files and columns come from strangers: none of them acts on a page (threat 34)."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tests.unit.studio.opened import Opened

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
COLUMN = "<b onclick=alert(1)>x</b>"
TURNED = "a\u202eb"


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def check(text: str) -> None:
    found = Tags(text)
    assert found.tags.count("script") <= 1  # the studio's own, by address
    assert "img" not in found.tags
    assert not [name for name in found.attributes if name.startswith("on") or name == "style"]
    assert not re.search(r"<script(?! type=\"module\" src=\"/static/studio.js\")", text)


@pytest.fixture
def evil(opened: Opened) -> Opened:
    name = EVIL.replace("/", "") + ".csv"
    quoted = COLUMN.replace('"', '""')
    (opened.folder / name).write_text(f'id,"{quoted}","{TURNED}"\n1,{EVIL!r},x\n', encoding="utf-8")
    (opened.folder / "evil.csv").write_text(f'id,"{quoted}","{TURNED}"\n1,y,x\n', encoding="utf-8")
    return opened


def test_names_of_files_and_columns_are_words(evil: Opened) -> None:
    text = evil.get("/publish")[1]
    check(text)
    assert "&lt;script&gt;" in text
    text = evil.get("/publish/table", params={"file": "evil.csv", "named": "1", "question": "how-many"})[1]
    check(text)
    assert "&lt;b onclick" in text
    assert "[U+202E]" in text
    assert TURNED not in re.sub(r'value="[^"]*"', "", text)


@pytest.mark.parametrize("path", ["/publish/table", "/publish/answer", "/plan", "/plan/answer", "/vote/map", "/ledger"])
def test_whatever_is_sent_comes_back_as_words(evil: Opened, path: str) -> None:
    names = (
        "file",
        "who",
        "people",
        "epsilon",
        "crowd",
        "dataset",
        "out",
        "want",
        "shape",
        "voters",
        "by1-values",
        "of-low",
        "where",
        "where-value",
        "rows_called",
        "key",
    )
    form = dict.fromkeys(names, EVIL) | {"question": "how-many", "by1-use": "on"}
    check(evil.get(path, params=form)[1])
    check(evil.get(path, params=form | {"file": "evil.csv", "who": "rows"})[1])
    for question in ("average", "share", "records", "map", EVIL):
        check(evil.get(path, params=form | {"file": "evil.csv", "who": "rows", "question": question, "named": "1"})[1])


def test_so_do_the_answers_to_forms(evil: Opened) -> None:
    for path in (
        "/publish/release",
        "/publish/look",
        "/ledger/policy",
        "/ledger/trust",
        "/vote/count",
        "/vote/release",
    ):
        status, text = evil.send(path, {"file": EVIL, "dataset": EVIL, "name": EVIL, "key": EVIL, "rule": EVIL})
        assert status in (400, 409)
        check(text)


def test_no_cell_is_on_a_page(opened: Opened) -> None:
    (opened.folder / "cells.csv").write_text("id,town\n1,Xanadu4711\n2,Xanadu4712\n", encoding="utf-8")
    for path in ("/publish/table", "/publish/kind/histogram", "/publish/answer"):
        text = opened.get(
            path,
            params={"file": "cells.csv", "question": "how-many", "who": "rows", "by1-use": "on", "named": "1"},
        )[1]
        assert "Xanadu" not in text
    (opened.folder / "bare.csv").write_text("Xanadu4711,12\nXanadu4712,13\n", encoding="utf-8")
    assert "Xanadu" not in opened.get("/publish/table", params={"file": "bare.csv"})[1]
