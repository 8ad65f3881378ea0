"""The language of a page: its own sentences, by their English text, in one catalogue for each language.

A template has named values in braces, and each translation has the same ones. What a kind, a promise or a publisher
says is not translated: it stands as it is, marked as English where it is. The certificate is English, whatever the
report's language; the page that is signed says which one it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from hubbub.charts.german import GERMAN
from hubbub.errors import WrongUse

ENGLISH: Final = "en"
CATALOGUES: Final[Mapping[str, Mapping[str, str]]] = {"de": GERMAN}
LANGUAGES: Final = (ENGLISH, *CATALOGUES)
_DECIMAL_COMMA: Final = frozenset({"de"})
_SWAP: Final = str.maketrans(",.", ".,")
_NUMBER: Final = re.compile(r"(?<![\w.#])\d(?:[\d,]*\d)?(?:\.\d+)?(?![\w.]*\w)", re.ASCII)
_LANGUAGE: ContextVar[str] = ContextVar("language", default=ENGLISH)


def check_language(code: str) -> str:
    """The code of a language that reports can have; WrongUse for others."""
    if code not in LANGUAGES:
        raise WrongUse(f"a report can be in {' or '.join(LANGUAGES)}, not {code[:20]!r}")
    return code


@contextmanager
def in_language(code: str) -> Iterator[None]:
    """Inside, :func:`translate` answers in this language, and numbers are written as it writes them."""
    token = _LANGUAGE.set(code)
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


def current_language() -> str:
    """The language that is spoken now."""
    return _LANGUAGE.get()


def translate(english: str, **values: object) -> str:
    """A sentence of the report's own, in its language; numbers in it are given as they are read in English."""
    code = _LANGUAGE.get()
    template = english if code == ENGLISH else CATALOGUES[code][english]
    return template.format(**{name: localized(str(value)) for name, value in values.items()})


def word(english: str) -> str:
    """A heading or a word of a table, where the catalogue has it; else as it is."""
    return CATALOGUES.get(_LANGUAGE.get(), {}).get(english, english)


def kept_english(text: str) -> str:
    """HTML of English words, which says so on a page in another language. Its numbers are written as all others of the
    page, or 1.649 would be read as one and a half thousand."""
    return text if _LANGUAGE.get() == ENGLISH or not text else f'<span lang="en">{localized(text)}</span>'


def localized(text: str) -> str:
    """The numbers of a text of ours as the language writes them; labels of people's tables are never rewritten.

    >>> with in_language("de"):
    ...     localized("1,234.5 to 2,000")
    '1.234,5 to 2.000'
    """
    return _NUMBER.sub(lambda found: found[0].translate(_SWAP), text) if _LANGUAGE.get() in _DECIMAL_COMMA else text
