"""The form of a CSV file, as declared: what separates its cells, how it is encoded, whether it names its columns.

Nothing of it is found out from the rows. By default the ending of the file's name says it all.
"""

from __future__ import annotations

import codecs
from typing import Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

MARKS: Final = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
_TAB: Final = ("\\t", "\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """As told; None is what is usual for such a file. `names` are the columns of a file whose first line is data."""

    delimiter: str | None = None
    encoding: str | None = None
    names: tuple[str, ...] | None = None

    @property
    def is_declared(self) -> bool:
        """Whether anything was told."""
        return self != Form()


def form(*, delimiter: str | None = None, encoding: str | None = None, no_header: str | None = None) -> Form:
    """The form that words say, checked."""
    return Form(
        delimiter=None if delimiter is None else _mark(delimiter),
        encoding=None if encoding is None else _codec(encoding),
        names=None if no_header is None else _names(no_header),
    )


def _mark(text: str) -> str:
    known = MARKS.get(text.lower(), "\t" if text in _TAB else text)
    if known not in MARKS.values():
        raise WrongUse(f"cells are separated by one of , ; | or tab and not by {text[:10]!r}; write `delimiter=';'`")
    return known


def _codec(text: str) -> str:
    """The encoding's usual name. Only such as cannot lose their place: a record has to be decoded by itself."""
    try:
        name = codecs.lookup(text).name
        if name in ("utf-8", "utf-8-sig"):
            return "utf-8"
        if name in ("utf-16", "utf-16-le", "utf-16-be") or _is_one_byte(name):
            return name
    except (LookupError, ValueError, TypeError):
        pass
    raise WrongUse(f"encoding must be utf-8, utf-16 or one of single bytes, like latin-1 or cp1252, not {text[:20]!r}")


def _is_one_byte(name: str) -> bool:
    """Whether each byte is a sign by itself, and the first half is ASCII."""
    pairs = (bytes(each for j in range(256) for each in (i, j)) for i in range(256))
    usual = bytes(range(128))
    same = usual.decode(name, "replace") == usual.decode()
    return same and all(len(pair.decode(name, "replace")) == 512 for pair in pairs)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(","))
    if not all(names) or not "".join(names).isprintable() or len({name.lower() for name in names}) < len(names):
        raise WrongUse(
            "a file whose first line is data needs a name for every column, each another; write `no_header=id,town,age`"
        )
    return names
