"""The same people under another name: noticed by their ids, and refused before anything is drawn.

The table is read after a place was reserved, like always; if its people are known under another name, the place is
given up undrawn and costs nothing. So the rule stays that a reservation is durable before a table is read, and two
processes that bring the same people under two new names at once cannot miss each other: whoever comes second to the
lock sees the first.

One table, one name: the same people under a second name would be promised everything twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from hubbub.errors import Refused
from hubbub.ledger.records import PEOPLE, SECRET
from hubbub.ledger.running_total import Running
from hubbub.ledger.sketch import MOST, Overlap, Sketch, can_compare, overlap, read
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import plain, restored
from hubbub.tables.identity import Identity

if TYPE_CHECKING:
    from hubbub.ledger.log import Entry, Page

_NOT_DISJOINT: Final = (
    "people of this table may be in another period of the dataset, and `disjoint` declares that they are in none; leave it out, "
    "and use another name with `dataset`: what they are promised then adds up"
)
"""Reads the same for every such table. For the steward alone: it tells something about the data."""
COMPARED: Final = (
    f"of two periods the ids of about {MOST:,} people are compared, chosen by a secret hash: all of them if the larger period "
    f"has no more, about {MOST / 200:.0f} % if it has 20,000, {MOST / 10_000:.1f} % if it has a million. Whoever is in both and was "
    "not compared stays unseen: that nobody is in two is the publisher's declaration"
)
"""What a comparison by sketches is, in words that depend on no data: how many people there are stays in the ledger."""
MARK: Final = "people"  # of every entry that says who is in a dataset


def secret(page: Page) -> bytes:
    """The key of the ledger's words, drawn when it is needed first."""
    entry = page.latest("", SECRET) or page.add(SECRET, "", {"secret": SystemSource().words(4).tobytes().hex()})
    return bytes.fromhex(entry.body["secret"])


@dataclass(frozen=True, slots=True)
class _Known:
    """Who is in a dataset, as its last entry says, and who was declared to be other people."""

    people: Sketch
    apart: Mapping[str, Any]


def _read_known(entry: Entry | None) -> _Known | None:
    return None if entry is None else _Known(read(entry.body["people"]), entry.body["apart"])


def check_overlap(
    page: Page,
    dataset: str,
    nonce: str,
    new: Sketch,
    *,
    share: Fraction,
    other_people: bool,
    disjoint_from: frozenset[str] = frozenset(),
) -> None:
    """Note who is in a dataset, or refuse because they are in another one too.

    Guarantee: returns only if under no other name with a release that counts more than `share` of the people compared
    are the same (:class:`hubbub.ledger.sketch.Overlap` has the error, :mod:`hubbub.ledger.sketch` says which ids are
    compared), or somebody declared for the pair of names that these are other people, which is then entered. A register
    that was once said stays said of its dataset. With those of `disjoint_from` nobody who was compared is in common, whatever
    the ids look like and whatever was declared; of two tables, the larger of n people, somebody in both was compared with
    probability about min(1, 4096/n).
    """
    _check_disjoint(page, new, disjoint_from)
    own = _read_known(page.latest(dataset, PEOPLE))
    if own is not None and not new.registers:
        new = replace(new, registers=own.people.registers)
    apart = dict(own.apart) if own else {}
    met = _find_overlaps(page, dataset, new, share)
    found = {name: how for name, how in met.items() if name not in apart and name not in disjoint_from}
    if found and not other_people:
        raise Refused(_sentence(sorted(found, key=lambda name: (found[name] is None, name)), found, share))
    apart |= {name: _overlap_json(how) for name, how in found.items()}
    people = new if own is None else own.people | new
    if own is None or not people.same(own.people) or apart.keys() != own.apart.keys():
        page.add(PEOPLE, dataset, {"nonce": nonce, "people": people.to_json(), "apart": apart})


def _check_disjoint(page: Page, new: Sketch, others: frozenset[str]) -> None:
    for other in others:
        known = _read_known(page.latest(other, PEOPLE))
        both = None if known is None else overlap(known.people, new)
        if (both is None or both.common) and Running(page, other).total.spent:
            raise Refused(_NOT_DISJOINT)


def _find_overlaps(page: Page, dataset: str, new: Sketch, share: Fraction) -> dict[str, Overlap | None]:
    """The other names under which there are too many of these people, or of which that cannot be told."""
    found: dict[str, Overlap | None] = {}
    for other in {name for name, _ in page.datasets_with_mark(MARK) if name != dataset}:
        known = _read_known(page.latest(other, PEOPLE))
        assert known is not None
        if dataset in known.apart or not can_compare(known.people, new):
            continue
        both = overlap(known.people, new)
        if (both is None or both.above(share)) and Running(page, other).total.spent:
            found[other] = both
    return found


def _overlap_json(how: Overlap | None) -> Any:
    return None if how is None else {"common": how.common, "compared": how.compared}


def _sentence(names: list[str], found: Mapping[str, Overlap | None], share: Fraction) -> str:
    """To merge strangers cannot be undone, so it is never the first advice."""
    first, listed = names[0], " and ".join(map(repr, names))
    if found[first] is None:
        return (
            f"whether the people of this table are in {listed} too cannot be told, because they were noted by another "
            "version of the engine; find out, and add `other_people` if they are not, which is entered in the ledger, "
            f"or `dataset={first}` if they are the same people"
        )
    return (
        f"more than {to_text(100 * share)} % of the ids that were compared, of this table or of {listed}, are in both, and the same "
        "people under a second name would be promised everything twice; find out whether they are the same "
        "people, and add `other_people` if these are others whose ids happen to be the same, which is entered in "
        f"the ledger (or say with `ids_of` whose ids they are, in both), or `dataset={first}` if they are the same, which "
        "cannot be undone"
    )


NONE = Identity()
"""Of what is known by nothing but the name that somebody gave it."""


def source_json(source: Identity) -> Any:
    """The identity of a table as JSON, for an entry of the ledger."""
    return plain(source) if source.parts else ""


def marks(source: Any) -> Iterator[tuple[str, str]]:
    """The marks of the tables in an entry, each with its path; none for a table that has no identity but its name."""
    for part in restored(Identity, source).parts if source else ():
        for mark in Identity(parts=(part,)).marks():
            yield mark, part.path


def content(source: Any) -> tuple[str, ...]:
    """A fingerprint of the files in an entry: equal for two entries only if no file changed in between."""
    return tuple(restored(Identity, source).content())


def one_name(
    name: str,
    source: Identity,
    known: Callable[[str], Iterable[tuple[str, str]]],
    counts: Callable[[str], bool] = lambda dataset: True,
) -> None:
    """Refuse a table that shares something with one of another name.

    Guarantee: returns only if no file of the table (by its place, by itself under another place, or by its bytes) was
    part of a table released under another name. `known` gives, for a mark, each dataset that has it and the path;
    `counts` says whether anything was promised under a name: of one that was given up undrawn, nothing was.
    """
    others = {
        dataset
        for mark in source.overlap_marks()
        for dataset, path in known(mark)
        if dataset != name and (not mark.startswith("file:") or _still_exists(mark, path))
    }
    others = {dataset for dataset in others if counts(dataset)}
    if not others:
        return
    listed = " and ".join(map(repr, sorted(others)))
    what = "the same table, or a part of it," if len(source.parts) > 1 else "the same table"
    use = f"use `dataset={min(others)}`" if len(others) == 1 else "release the tables one by one, each under its name"
    raise Refused(
        f"{what} was released before as {listed}, and under a second name its people would be promised twice; {use}, "
        "or leave out the files they share"
    )


def _still_exists(mark: str, path: str) -> bool:
    """Whether the file is known to be the one it was: numbers of files that are gone are given to others."""
    try:
        now = os.stat(path)
    except OSError:
        return False
    return mark.partition("#")[0] == f"file:{now.st_dev}:{now.st_ino}"
