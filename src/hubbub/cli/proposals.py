"""What ``hubbub check`` proposes to type next: how the table is declared, and a release of it.

The commands are made of names of columns and of how cells are read. No bin, range or bound in them comes from the data.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hubbub.tables.cell_format import COMMA, MONEY
from hubbub.tables.schema import is_numbering, names_a_thing

if TYPE_CHECKING:
    from hubbub.tables.inspection import Cells, Inspection

_DICTIONARY: Final = "dictionary.json"  # of a table that lies beside no file
PROMISE: Final = ("epsilon", "delta", "out")  # of a release, kept in the command that is proposed
_WEIGHTS: Final = {"weight", "weights", "wt", "wgt", "pweight"}
_NUMBERED: Final = {
    "code",
    "zip",
    "postcode",
    "year",
    "index",
    "unnamed",
    "lat",
    "latitude",
    "lon",
    "lng",
    "longitude",
}  # numbers that nobody adds up
_NOT_ADDED: Final = _NUMBERED | _WEIGHTS
BOUND: Final = 3  # bins or rows of a person in a proposed command, whatever the table
_FEW: Final = 50  # values of a column that is proposed


def percent_of(share: float) -> str:
    return "100 %" if share == 1 else "below 0.1 %" if 0 < share < 0.001 else f"{100 * share:.1f} %"


def examined(found: Inspection) -> tuple[Cells, ...]:
    return found.columns if found.measured is None else (*found.columns, found.measured)


def reading_suffix(cells: Cells) -> str:
    return f",{cells.reads}" if cells.reads not in (None, "numbers", "dates", "boolean") else ""


def propose_command(
    found: Inspection,
    file: str,
    person: str | None,
    by: tuple[str, ...],
    how: dict[str, Any],
    promise_words: dict[str, str],
    declare: str | None,
    *,
    unique: bool,
) -> str | None:
    """A release of these columns; without any, of one with few values. Its bins are never taken from the data."""
    from hubbub.tables.bins import Discovered, declared_size, parse

    specs = [_with_reading(spec, cells) for spec, cells in zip(by, found.columns, strict=False)]
    found_bins = any(isinstance(parse(spec), Discovered) for spec in specs)
    measured = found.measured if not found_bins else None  # of found bins no mean is told without more
    if not by and measured is None:
        ids = {person, *found.possible_ids}
        few = (cells for cells in found.columns if cells.column not in ids and _could_be_bins(cells))
        specs = [f'"{column}"' if set(column) & set('=:,"') else column for column in (c.column for c in few)][:1]
    if (not specs and measured is None) or (
        by and not found.fares
    ):  # of bins with nobody in them zeros would be published, and paid for
        return None
    from hubbub.engines.opening import is_address, without_secrets

    kind = "histogram" if measured is None else "mean"
    parts = ["hubbub", "release", kind, without_secrets(file) if is_address(file) else file]
    parts += [part for name in ("table", "dictionary") if how[name] for part in (f"--{name}", how[name])]
    if declare is not None and is_address(file) and not how["dictionary"]:
        parts += ["--dictionary", _DICTIONARY]
    if is_address(file) and " " in (how["table"] or ""):
        parts += ["--dataset", "people"]  # a query has no name of its own
    parts += [] if how["on"] else ["--person", person] if person else ["--rows-are-people"]
    if found.persons is not None and not found.persons.once:
        bins = declared_size([parse(spec) for spec in specs]) or BOUND
        parts += ["--distinct", str(min(bins, BOUND))] if measured is None else ["--rows-per-person", str(BOUND)]
    elif unique:
        parts.append("--unique-person")
    parts += [] if measured is None else ["--of", _with_reading(measured.spec or "", measured)]
    for spec in specs:
        parts += ["--by", spec]
    # What can be added to later: a table of crowds would close the dataset to every other one.
    found_bins = any(isinstance(parse(spec), Discovered) for spec in specs)  # those that are proposed, too
    promise = {"epsilon": "1", "delta": "1e-9", "out": "out/"} | promise_words
    confirmed = ["--yes"] if found.unnamed_person is not None else []
    typed = [part for name in PROMISE if name != "delta" or found_bins for part in (f"--{name}", promise[name])]
    return " ".join(map(shlex.quote, [*parts, *confirmed, *typed]))


def propose_declaration(found: Inspection, file: str, how: dict[str, Any], typed: dict[str, Any]) -> str | None:
    """The command that writes down how the table is read; None where nothing is to be said."""
    from hubbub.engines.opening import is_address, without_secrets

    words = [
        (f"--{name.replace('_', '-')}", each)
        for name, value in typed.items()
        for each in (value if isinstance(value, tuple) else (value,))
    ]
    words += [("--missing", cells.missing_option()) for cells in examined(found) if cells.unreadable and cells.spelled]
    if any("encoding" in rule for rule, _ in found.left_out) and how["encoding"] is None:
        words.append(("--encoding", "cp1252"))
    if not words:
        return None
    where = [("--table", how["table"])] if how["table"] else []
    where += [("--out", _DICTIONARY)] if is_address(file) else []
    named = without_secrets(file) if is_address(file) else file
    return shlex.join(["hubbub", "describe", named, *(part for pair in (*where, *words) for part in pair)])


class Hidden(NamedTuple):
    """What a proposed release of found bins would not show: about how many people a group has there at most, which is
    public; and of this table, privately, how many groups and people these are. Without bins, nothing was counted."""

    most: int
    counted: bool
    groups: int
    of_groups: int
    people: int
    of_people: int

    def sentence(self) -> str:
        public = f"That command does not show groups of about {self.most:,} people or fewer, nor how many there are"
        if not self.counted:
            return f"{public}; look again with its --by to see how many that would be."
        share = percent_of(self.people / max(self.of_people, 1))
        return f"{public}: now {self.groups:,} of {self.of_groups:,} groups, with {share} of the people."

    def as_json(self) -> dict[str, Any]:
        counted = {
            "groups": self.groups,
            "of_groups": self.of_groups,
            "people": self.people,
            "of_people": self.of_people,
        }
        return {"groups_up_to": self.most, **(counted if self.counted else {})}


def groups_hidden(found: Inspection, command: str) -> Hidden | None:
    """What the proposed command would hide, if it finds its bins in the data."""
    from hubbub import registry
    from hubbub.channels.visibility import largest_usually_hidden
    from hubbub.kinds.histogram.spec import Histogram

    words = shlex.split(command)
    if "--delta" not in words or "histogram" not in words:
        return None
    given = {
        name: words[words.index(f"--{name}") + 1] for name in ("epsilon", "delta", "distinct") if f"--{name}" in words
    }
    by = [words[i + 1] for i, word in enumerate(words) if word == "--by"]
    who = {"person": "id"} if "--rows-are-people" not in words else {}
    spec = registry.kind("histogram").ask(by=by, **who, **given)
    assert isinstance(spec, Histogram)
    most = largest_usually_hidden(spec.channel)
    every = found.up_to(max((people for people, _ in found.sizes), default=0))
    return Hidden(
        most, bool(found.sizes), *(each for pair in zip(found.up_to(most), every, strict=True) for each in pair)
    )


def _could_be_bins(cells: Cells) -> bool:
    """Whether it has few values, and none of them is a name."""
    return 2 <= (cells.values or 0) <= _FEW and "name" not in cells.column.lower()


def weight_column(found: Inspection, person: str | None) -> str | None:
    """The first column of numbers that is a weight by its name."""
    numbers = [each for each in found.columns if (each.reads or "").startswith((COMMA, "numbers"))]
    return next((each.column for each in numbers if _words(each) & _WEIGHTS and each.column != person), None)


def _words(cells: Cells) -> set[str]:
    """The words of the name of a column."""
    return set(re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cells.column).lower()))


def propose_range(found: Inspection, person: str | None) -> str | None:
    """How the first column of money, or else of numbers, is measured; its range is never taken from the data. Numbers
    that may number somebody, by their name or their values, are not proposed."""
    for ways in ((MONEY,), (COMMA, "numbers")):
        for cells in found.columns:
            like_ids = cells.column in found.possible_ids or 10 * (cells.values or 0) >= 9 * found.rows
            if (
                (cells.reads or "").startswith(ways)
                and cells.column != person
                and not is_numbering(cells.column)
                and not _words(cells) & _NOT_ADDED
                and (not like_ids or names_a_thing(cells.column))
            ):
                name = f'"{cells.column}"' if set(cells.column) & set('=:,"') else cells.column
                return f"{name}:LOW..HIGH:STEP{reading_suffix(cells)}"
    return None


def mean_command(command: str, measured: str) -> str:
    """The command that is proposed for counts, for a mean of everybody; of several rows of a person some count."""
    words = shlex.split(command)
    words[words.index("histogram")] = "mean"
    if "--distinct" in words:
        at = words.index("--distinct")
        words[at : at + 2] = ["--rows-per-person", str(BOUND)]
    for option in ("--by", "--delta"):
        while option in words:
            at = words.index(option)
            del words[at : at + 2]
    if words[-1] == "out/":  # beside the counts
        words[-1] = "mean/"
    at = words.index("--epsilon")
    return " ".join(map(shlex.quote, [*words[:at], "--of", measured, *words[at:]]))


def _with_reading(spec: str, cells: Cells) -> str:
    """The bins that were asked for, with the way in which their cells can be read; null and other stay last."""
    from hubbub.tables.bins import with_reading

    return (
        with_reading(spec, reading_suffix(cells).removeprefix(","))
        if reading_suffix(cells) and cells.unreadable
        else spec
    )
