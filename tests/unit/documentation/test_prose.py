"""The check of prose finds what is hard to read, and only that."""

from __future__ import annotations

import pytest

from website.prose import ROOT, complaints, reading, sentences

EASY = "# Title\n\nAdd one person. No number moves by more than one. That is the whole rule.\n"


def test_plain_sentences_pass() -> None:
    assert list(complaints(EASY)) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (" ".join(["word"] * 36) + ".", "a sentence of 36 words"),
        (" ".join(["We say it in one go and do not stop for breath until all of what we have to say is said in full."] * 3), "on average"),
        ("Organisational confidentiality necessitates institutional accountability.", "reading ease"),
        (EASY + "\nA key is told as such.\n", "says 'is told as such'"),
    ],
)  # fmt: skip
def test_what_is_hard_to_read_is_found(text: str, found: str) -> None:
    assert any(found in complaint for complaint in complaints(text))


def test_code_tables_headings_and_names_are_left_out() -> None:
    page = "# A heading\n\n```\nhubbub release and so on\n```\n\n| a | b |\n|---|---|\n\nSee [the page](there.md) for `name_of_it`.\n"
    assert list(sentences(page)) == ["See the page for X."]
    assert reading(page).words == 5


def test_the_readme_is_short_and_in_the_order_of_a_first_visit() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert reading(text).words <= 600
    order = [
        "# Hubbub",
        "<img",
        "pip install",
        "import hubbub",
        "**Publish.**",
        "**Verify.**",
        "**Vote.**",
        "## Why trust it",
    ]
    order += [
        "| OpenDP | Tumult Analytics | DP Wizard | ARX | RCTab |",
        "## Which promise?",
        "## Where it runs",
        "## Read on",
    ]
    places = [text.index(each) for each in order]
    assert places == sorted(places)
