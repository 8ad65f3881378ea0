"""What the cells of a file say: a candidate, several, nobody, an overvote, a write-in. Labels are not people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.formats.reading import WRITE_INS, Rank, Reading

WRITE_IN: Final = "Write-in"
"""What the one candidate is called who stands for all write-ins."""

NOBODY: Final[frozenset[str]] = frozenset()

_WRITTEN: Final = re.compile(r"(?<![a-z])write[\s_-]*ins?(?![a-z])", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"[\s_.\-\u2010-\u2015]+")
_SEVERAL: Final = re.compile(r"\s*[|;,=\n]\s*")
_ABSTAINING: Final = {"abstain", "abstained", "abstention", "idontknow", "nopreference", "enthaltung", "skip"}
_MOST_LISTED: Final = 6  # labels in a remark


@dataclass(frozen=True, slots=True)
class Meanings:
    """What each cell means, who was met, and which cells were taken for no candidates."""

    ranks: Mapping[str, Rank]
    met: frozenset[str]
    empty: tuple[str, ...]
    overvotes: tuple[str, ...]
    written: tuple[str, ...]
    several: tuple[str, ...]

    @property
    def marks(self) -> bool:
        """Whether labels show that the file holds what voters marked, and no rankings made from it."""
        return bool(self.empty or self.overvotes)

    def remarks(self, reading: Reading) -> Iterator[str]:
        for cells, meaning in (
            (self.empty, "nobody"),
            (self.overvotes, "overvotes"),
            (self.written, {"together": "one write-in candidate", "apart": "write-ins, each", "drop": "nobody"}),
            (self.several, "candidates at one rank"),
        ):
            if cells:
                means = meaning[reading.write_ins] if isinstance(meaning, dict) else meaning
                yield f"read as {means}: {_list_cells(cells)}"


class NotListed(WrongUse):
    """A cell names somebody who is not on the list of candidates."""

    def __init__(self, cell: str) -> None:
        super().__init__("a candidate who is not on the list of candidates; add them, or name the label")
        self.cell = cell


def meanings(cells: Iterable[str], reading: Reading, candidates: Sequence[str] | None = None) -> Meanings:
    """What each of these cells means. With a list of candidates, who is on it is no label, whatever the name."""
    listed = None if candidates is None else frozenset(candidates)
    labels = _Labels(reading)
    ranks: dict[str, Rank] = {}
    seen: dict[str, list[str]] = {"empty": [], "overvote": [], "write-in": []}
    names: dict[str, str] = {}  # cell -> candidate
    unused = dict(reading.aliases)
    for cell in cells:
        name = cell.strip()
        if name in labels.aliases:
            unused.pop(name, None)
            name = labels.aliases[name].strip()
        if listed is not None and name in listed:
            names[cell] = name
            continue
        kind = labels.kind(name)
        if kind is None:
            names[cell] = name
            continue
        if name:
            seen[kind].append(cell.strip())
        if kind == "write-in" and reading.write_ins != "drop":
            names[cell] = WRITE_IN if reading.write_ins == "together" else name
        else:
            ranks[cell] = None if kind == "overvote" else NOBODY
    if unused:
        raise WrongUse(f"no cell of the file says {next(iter(unused))!r}, which an alias is for; check its spelling")
    several = _several(names, labels.aliases, listed)
    for cell, name in names.items():
        if cell in several:
            ranks[cell] = several[cell]
        elif listed is not None and name not in listed:
            raise NotListed(cell)
        else:
            ranks[cell] = frozenset((name,))
    met = frozenset(name for rank in ranks.values() for name in rank or ())
    return Meanings(
        ranks,
        met,
        empty=tuple(dict.fromkeys(seen["empty"])),
        overvotes=tuple(dict.fromkeys(seen["overvote"])),
        written=tuple(dict.fromkeys(seen["write-in"])),
        several=tuple(dict.fromkeys(cell.strip() for cell in several)),
    )


class _Labels:
    def __init__(self, reading: Reading) -> None:
        self.aliases = dict(reading.aliases)
        self._empty = {"", *map(_plain, (*reading.undervote_labels, *reading.skip_labels))}
        self._over = set(map(_plain, reading.overvote_labels))
        self._written = set(map(_plain, reading.write_in_labels))
        self._usual = reading.write_in_labels == WRITE_INS

    def kind(self, name: str) -> str | None:
        """Which label this is, None for a candidate."""
        plain = _plain(name)
        if plain in self._empty:
            return "empty"
        if plain in self._over:
            return "overvote"
        if plain in self._written or (self._usual and _WRITTEN.search(name)):
            return "write-in"
        return None


def _several(
    names: Mapping[str, str], aliases: Mapping[str, str], listed: frozenset[str] | None
) -> dict[str, frozenset[str]]:
    """Cells that hold several candidates, each of whom is named alone too: "Ann, Bob" or "Ann|Bob"."""
    parts = {cell: [aliases.get(part, part) for part in _SEVERAL.split(name) if part] for cell, name in names.items()}
    separate = {name for cell, name in names.items() if len(parts[cell]) == 1} if listed is None else listed
    return {
        cell: frozenset(found)
        for cell, found in parts.items()
        if len(found) > 1 and (listed is None or names[cell] not in listed) and separate.issuperset(found)
    }


def _plain(label: str) -> str:
    return _BETWEEN.sub("", label.casefold())


_IN_BRACKETS: Final = re.compile(r"(?<=\S)\s*(?:\([^()]*\)|\[[^\[\]]*\])\s*$")


def near_equal(names: Sequence[str]) -> Iterator[str]:
    """Remarks about names that differ in capitals, spaces, signs, accents or what stands in brackets behind them alone,
    with the option that joins them."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_letters(_IN_BRACKETS.sub("", name)), []).append(name)
    for group in alike.values():
        if len(group) > 1:
            kept = min(group, key=_untidy)
            options = " ".join(f'--alias "{name}={kept}"' for name in group if name != kept)
            yield f"{_list_cells(group)} are counted as different candidates; if they are one: {options}"


def abstaining(names: Sequence[str]) -> Iterator[str]:
    """Remarks about candidates of a form who are called like a vote for nobody, with the option that says so."""
    for name in names:
        if _letters(name) in _ABSTAINING:
            yield f'"{name}" is counted as a candidate; if it is a vote for nobody: --alias "{name}=blank"'


def label_names(names: Sequence[str]) -> Iterator[str]:
    """A remark about candidates of a file with its own list who are called like a label."""
    labels = _Labels(Reading())
    called = [name for name in names if labels.kind(name) in ("empty", "overvote")]
    if called:
        yield f"{_list_cells(called)} stands for election in this file, and the name is usually a label"


def _letters(name: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).casefold()
    return "".join(c for c in bare if c.isalnum()) or name


def _untidy(name: str) -> tuple[bool, bool, bool, str]:
    return "  " in name, name == name.casefold(), name == name.upper(), name


def _list_cells(cells: Sequence[str]) -> str:
    listed_cells = ", ".join(f'"{cell}"' for cell in cells[:_MOST_LISTED])
    return listed_cells if len(cells) <= _MOST_LISTED else f"{listed_cells} and {len(cells) - _MOST_LISTED} more"
