"""What a kind of release can be asked, as the fields of a form; and what was filled in, as the words that it takes.

A kind lists its options (:mod:`hubbub.protocol.option`); nothing here knows a kind by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hubbub import opening
from hubbub.errors import WrongUse
from hubbub.protocol.option import Option
from hubbub.protocol.option import options_of as parameters_of
from hubbub.protocol.spec import BALLOTS, GRAPH, TABLE
from hubbub.runtime.frozen import dataclass
from hubbub.studio.folder import Folder
from hubbub.studio.rendering import in_page

FILE: Final = "FILE"  # what an option takes that names one
_LONGEST: Final = 10_000  # signs in a field
_FROM_FILE: Final = re.compile(r'^\s*(?:"(?:[^"]|"")*"|[^=:]+)=\s*@')

_TABLE: Final = tuple(option for option in parameters_of(opening.open) if option.name != "dictionary")
WHO: Final = tuple(option for option in _TABLE if option.name in ("person", "rows_are_people"))
TABLE_MORE: Final = tuple(
    option
    for option in _TABLE
    if option.name not in ("person", "rows_are_people", "table", "delimiter", "encoding", "no_header", "join", "on")
)
"""What else can be said about a table; the form asks for a second one in words of its own."""

READING: Final = tuple(option for option in _TABLE if option.name in ("table", "delimiter", "encoding", "no_header"))
OPENING: Final[Mapping[str, tuple[Option, ...]]] = {TABLE: _TABLE, GRAPH: opening.LINKS, BALLOTS: ()}
"""What is said about opening, by what a release is of."""

NAMED: Final = (opening.NAMED,)


_LABELS: Final = {
    "alpha": "Alpha",
    "at_delta": "Delta of what sampling buys",
    "average_at_most": "A public bound on the average number of friends",
    "calibrated": "The weights were raked or post-stratified",
    "cap": "The most that a person counts with",
    "class": "Which questions",
    "clamped": "Refuse if more of the people are outside of the range",
    "collected": "The table is itself a random sample, at rate",
    "collected_between": "The table is itself a random sample, at a rate between",
    "centred": "As little noise as zero-knowledge needs",
    "columns": "The two columns with the ends of a link",
    "coverage": "How often an interval is right",
    "date": "The column that dates a row",
    "dataset": "The people's name in the ledger",
    "delta": "Delta",
    "depth": "How many ranks, with noise",
    "disjoint": "The period of these people, who are in no other",
    "encoding": "Encoding",
    "every": "How often",
    "exempt": "People collected in any other way",
    "expected_rows": "Intervals for what is kept on average",
    "explore": "People that a walk may see",
    "first": "The first period",
    "full_count": "Count all ballots, and not a secret sample",
    "ids_of": "Whose ids these are",
    "k": "Fewest ballots that are shown together, k",
    "kept_rows": "Intervals for the rows that were kept now",
    "leave_outside": "Leave points outside of the box",
    "margins": "Which margins",
    "max_degree": "The most friends that anybody has",
    "method": "Method",
    "missing": "Cells that mean a missing value",
    "name": "Its name",
    "no_header": "The first line is data; the columns are called",
    "noisy": "Publish first choices with noise",
    "official": "The official record of the count",
    "other_people": "These are not the people of a dataset with the same ids",
    "people": "The number of people, if it is public and exact",
    "periods": "How many periods",
    "per_edge": "Protect single links only",
    "prefix": "Publish first choices, by a tree",
    "q": "Which quantile (0.5 is the median)",
    "recur": "In how many of them one person may count",
    "regions": "Polygons in place of a grid",
    "rows": "Random people who may be known, K",
    "samples": "Random people who may be known, K",
    "scale_up": "Scale a sample up to everybody",
    "spec": "The file of questions",
    "table": "The table or sheet",
    "unlisted": "Refuse if more of the people are in no bin",
    "unreadable": "Refuse if more of the people cannot be read",
    "vertex_file": "A list of all people, with links or without",
    "vertices": "The number of people",
    "weight": "Design weights",
}
"""What an option is called in a form; others by their name."""

_WORDED: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "CLASS": (
        ("marginals:2", "Every table by two columns"),
        ("marginals:3", "Every table by three columns"),
        ("conjunctions:2", "Every condition on up to two columns, and the grand total"),
        ("conjunctions:3", "Every condition on up to three columns, and the grand total"),
        ("intervals", "Every range of one column"),
        ("boxes", "Every range of each column at once"),
    ),
    "A,B,..": (
        ("connectivity,average-degree", "Links until all are connected, and friends on average"),
        ("average-degree", "Friends on average"),
        ("edges", "How many links there are"),
        ("connectivity", "Links until all are connected"),
        ("eulerian", "Links until one walk uses each of them"),
        ("cycle-freeness", "Links to take away until there is no circle"),
    ),
}
"""What an option may be, in words, by what it takes."""

_LIKE: Final = {
    "C": "like 0.95",
    "D": "like 1e-9",
    "E": "like 1",
    "EPS": "like 1",
    "FILE": "",
    "K": "like 20",
    "N": "like 1000",
    "NAME": "",
    "NAMES": "like id,town,age",
    "P": "like 0.5",
    "PERIOD": "like 2026-01",
    "SIGN": "like ;",
}
"""What stands in an empty field, by what its option takes."""

_ENDINGS: Final = {
    "spec": (".toml",),
    "regions": (".geojson", ".json"),
    "vertex_file": (".csv", ".tsv", ".txt", ".parquet"),
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field: `form` is text, tick, lines (several values), choice or file."""

    name: str
    label: str
    form: str
    takes: str
    help: str
    value: str | bool
    choices: tuple[tuple[str, str], ...] = ()
    required: bool = False
    group: str = ""

    @property
    def endings(self) -> tuple[str, ...]:
        """How a file ends that it may name."""
        return _ENDINGS.get(self.name, (".csv", ".txt", ".json"))


def label_of(name: str) -> str:
    """What an option is called in a form."""
    plain = name.replace("_", " ")
    return _LABELS.get(name, plain[:1].upper() + plain[1:])


def fields(options: Sequence[Option], given: Mapping[str, Any]) -> tuple[Field, ...]:
    """The fields of these options, with what was filled in or the default. The files of a folder are on no cluster."""
    return tuple(_field(option, given) for option in options if not option.for_cluster)


def _field(option: Option, given: Mapping[str, Any]) -> Field:
    label = label_of(option.name)
    help_text = in_page(option.help)
    if option.metavar is None:
        return Field(option.name, label, "tick", "", help_text, bool(given.get(option.name)), group=option.group)
    choices = _WORDED.get(option.metavar) or tuple((each, each) for each in option.choices)
    form = "lines" if option.many else "file" if option.metavar == FILE else "choice" if choices else "text"
    value = given.get(option.name)
    if value is None:
        value = option.default or ""
    joined = "\n".join(value) if option.many and not isinstance(value, str) else value
    text = " ".join(joined) if isinstance(joined, list | tuple) else str(joined)
    needed = bool(option.missing) or option.required
    if choices and not needed and not option.default:
        choices = (("", "not said"), *choices)
    like = _LIKE.get(option.metavar, option.metavar)
    return Field(option.name, label, form, like, help_text, text, choices, needed, option.group)


def options_of(options: Sequence[Option], form: Mapping[str, str], folder: Folder) -> dict[str, Any]:
    """What was filled in, as a command would hand it on: None where nothing was said."""
    return {option.name: _word(option, form.get(option.name, ""), folder) for option in options}


def _word(option: Option, text: str, folder: Folder) -> Any:
    if len(text) > _LONGEST:
        raise WrongUse(f"`{option.name}` takes at most {_LONGEST:,} signs; shorten it")
    if option.metavar is None:
        return text not in ("", "off")
    if option.many:
        lines = tuple(line.strip() for line in text.splitlines() if line.strip())
        for each in lines:
            no_file(each)
        return lines
    stripped = text.strip()
    if option.metavar == FILE:
        return str(folder.file(stripped)) if stripped else None
    if option.parts > 1:
        parts = tuple(stripped.split())
        if parts and len(parts) != option.parts:
            raise WrongUse(
                f"`{option.name}` takes {option.parts} values with a space between them; write {option.metavar}"
            )
        return parts or None
    if not stripped and (worded := _WORDED.get(option.metavar or "")) and option.missing:
        return worded[0][0]
    return stripped or option.default


def no_file(spec: str) -> None:
    """A SPEC that lists its values: files of values are read from any place, and so are for the command line."""
    if _FROM_FILE.match(spec):
        raise WrongUse("values from a file (=@FILE) are for the command line; list the values here")
