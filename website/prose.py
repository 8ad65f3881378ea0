"""Prose that a busy person reads: sentence lengths, Flesch reading ease, and words that nobody outside says.

``make check`` runs it over the README, the start page, the questions, the tutorials and the how-to pages. Theory pages may
be harder and are not looked at. Code, tables, headings and names in backticks are left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import pyphen

ROOT: Final = Path(__file__).resolve().parents[1]
LONGEST: Final = 35  # words of a sentence
AVERAGE: Final = 20
EASE: Final = 55  # Flesch
PRIVATE: Final = (
    "is told as such",
    "save for an extra chance",
    "nothing that can come out",
    "vouched for",
    "told apart by",
)

_FENCE: Final = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_LEFT_OUT: Final = re.compile(r"^(\||#|!\[|<|:::|---).*$", re.MULTILINE)
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NAME: Final = re.compile(r"`[^`]*`")
_ENDS: Final = re.compile(r"(?<=[.!?:;])[*_)\"]*\s+(?=[\"(*_A-Z0-9`])")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'-]*|[0-9][0-9.,/]*")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page is like to read."""

    sentences: tuple[str, ...]
    words: int
    syllables: int

    @property
    def average(self) -> float:
        return self.words / max(1, len(self.sentences))

    @property
    def ease(self) -> float:
        """Flesch reading ease: 100 is very easy, 60 plain English, 30 academic."""
        return 206.835 - 1.015 * self.average - 84.6 * self.syllables / max(1, self.words)


@lru_cache
def _hyphens() -> pyphen.Pyphen:
    return pyphen.Pyphen(lang="en_GB")


def syllables(word: str) -> int:
    """How many syllables a word has, about.

    >>> syllables("crowd"), syllables("privacy"), syllables("1,000")
    (1, 3, 1)
    """
    if not word[0].isalpha():
        return 1
    vowels = len(re.findall(r"[aeiouy]+", word.lower().removesuffix("e")))
    return max(1, vowels, len(_hyphens().positions(word.lower())) + 1)


def sentences(markdown: str) -> Iterator[str]:
    """The sentences of a page, without code, tables, headings and link targets."""
    text = _LEFT_OUT.sub("", _FENCE.sub("", markdown))
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", text):
        flat = " ".join(_NAME.sub("X", _LINK.sub(r"\1", paragraph)).split())
        flat = re.sub(r"^(?:[-*]|\d+\.)\s+", "", flat)
        yield from (part for part in _ENDS.split(flat) if len(_WORD.findall(part)) > 1)


def reading(markdown: str) -> Reading:
    """Sentences, words and syllables of a page."""
    found = tuple(sentences(markdown))
    words = [word for sentence in found for word in _WORD.findall(sentence)]
    return Reading(found, len(words), sum(map(syllables, words)))


def complaints(markdown: str) -> Iterator[str]:
    """What makes a page hard to read."""
    found = reading(markdown)
    for sentence in found.sentences:
        if (length := len(_WORD.findall(sentence))) > LONGEST:
            yield f"a sentence of {length} words, more than {LONGEST}: {sentence[:90]}"
    if found.average > AVERAGE:
        yield f"{found.average:.1f} words a sentence on average, more than {AVERAGE}"
    if found.ease < EASE:
        yield f"a reading ease of {found.ease:.0f}, less than {EASE}"
    for phrase in PRIVATE:
        if phrase in markdown:
            yield f"says {phrase!r}"


def pages() -> list[Path]:
    """What newcomers read."""
    docs = ROOT / "docs"
    return [
        ROOT / "README.md",
        docs / "index.md",
        docs / "faq.md",
        docs / "how-it-works.md",
        *sorted(docs.glob("tutorials/*.md")),
        *sorted(docs.glob("how-to/*.md")),
    ]


def main() -> None:
    """Print what is hard to read; exit code 1 if anything is."""
    found = [
        f"{page.relative_to(ROOT)}: {text}" for page in pages() for text in complaints(page.read_text(encoding="utf-8"))
    ]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
