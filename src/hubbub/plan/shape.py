"""The stated shape of the data: how many people each bin holds. Invented, or published before; never the data.

What everybody may know of a table, from a file: how large it is, who a person is, which bins it has.

A file of facts is TOML, like ::

    people = 20000
    by = ["diagnosis=@codes.txt", "age:0..100:10"]
    person = "patient"

and stands beside the table for whoever plans a release of it. Nothing in it may be counted in the table itself: what a
plan is made from is as public as the plan.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, integer, positive, rational
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.toml import read_toml
from hubbub.tables.privacy_unit import check_one_unit

MOST_BINS: Final = 10_000_000
_STEEPEST: Final = 20
_NUMBER: Final = re.compile(r"\s*\d{1,18}\s*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`groups` are (people in the bin, number of such bins), the largest bins first."""

    name: str
    groups: tuple[tuple[int, int], ...]

    @property
    def bins(self) -> int:
        return sum(many for _, many in self.groups)

    @property
    def people(self) -> int:
        return sum(count * many for count, many in self.groups)

    def counts(self) -> list[int]:
        """One count for each bin, the largest first."""
        return [count for count, many in self.groups for _ in range(many)]


def read(text: str, people: Exact | None, bins: Exact | None) -> Shape:
    """``even``, ``zipf`` (shares 1, 1/2, 1/3, ...), ``zipf:1.5`` (shares to that power), or the path of a CSV file.

    A file has a column `count` (or one column only) with the public count of each bin; an empty cell is a bin that was
    hidden, and counts as empty. With `people`, its counts are scaled to that many.
    """
    if is_name(text):
        if people is None or bins is None:
            raise WrongUse(f"the shape {text} needs `people` and `bins`, the numbers of people and of bins")
        many = integer(bins, "`bins`", least=1)
        total = integer(people, "`people`", least=1)
        if many > MOST_BINS:
            raise WrongUse(f"`bins` must be at most {MOST_BINS:,}, not {many:,}; plan for a part of them")
        if text == "even":
            return even(total, many)
        return zipf(total, many, text.partition(":")[2] or 1)
    found = _counts(Path(text))
    if bins is not None and integer(bins, "`bins`", least=1) != len(found):
        raise WrongUse(f"{text} has {len(found):,} bins, and `bins` says otherwise; leave `bins` out")
    if people is not None:
        found = divide_in_proportion(found, integer(people, "`people`", least=1))
    return _shape(f"the counts in {Path(text).name}", found)


def is_name(text: str) -> bool:
    """Whether a shape is named, and not a file."""
    return text == "even" or re.fullmatch(r"zipf(:.*)?", text) is not None


def even(people: int, bins: int) -> Shape:
    """The same number of people in each bin, as nearly as that can be."""
    each, more = divmod(people, bins)
    groups = [(each + 1, more), (each, bins - more)]
    return Shape(name="even", groups=tuple((count, many) for count, many in groups if many))


def zipf(people: int, bins: int, power: Exact = 1) -> Shape:
    """The i-th largest bin has a share proportional to 1/i^power."""
    exponent = positive(power, "the power of zipf")
    if exponent > _STEEPEST:
        raise WrongUse(f"the power of zipf must be at most {_STEEPEST}, where nearly all are in one bin; lower it")
    if exponent.denominator == 1 and exponent <= 3:
        weights: Sequence[float] = [1 / i ** int(exponent) for i in range(1, bins + 1)]
    else:
        weights = [float(i) ** -float(exponent) for i in range(1, bins + 1)]
    return _shape("zipf" if exponent == 1 else f"zipf:{power}", divide_in_proportion(weights, people))


def divide_in_proportion(weights: Sequence[float | int], people: int) -> list[int]:
    """`people` in proportion to the weights: rounded down, and the rest to the largest remainders."""
    total = sum(Fraction(weight) for weight in weights) if len(weights) < 10_000 else Fraction(sum(weights))
    if total <= 0:
        raise WrongUse("a shape needs at least one bin with people in it; give counts that are not all 0")
    exact = [Fraction(weight) * people / total for weight in weights]
    found = [int(share) for share in exact]
    order = sorted(range(len(found)), key=lambda i: (found[i] - exact[i], i))
    for i in order[: max(people - sum(found), 0)]:
        found[i] += 1
    return found


def _shape(name: str, counts: Sequence[int]) -> Shape:
    groups = sorted(Counter(counts).items(), reverse=True)
    return Shape(name=name, groups=tuple(groups))


def _counts(path: Path) -> list[int]:
    try:
        with open(path, newline="", encoding="utf-8") as opened:
            rows = list(csv.reader(opened))
    except (OSError, UnicodeDecodeError):
        raise WrongUse(
            f"the shape must be zipf, even or a CSV file that can be read, not {str(path)[:60]!r}; name one"
        ) from None
    rows = [row for row in rows if row]
    if len(rows) < 2 or len(rows) - 1 > MOST_BINS:
        raise WrongUse("public counts are a CSV file with a header and one line for each bin; check the file")
    header = [name.strip().lower() for name in rows[0]]
    if "count" in header:
        at = header.index("count")
    elif len(header) == 1:
        at = 0
    else:
        raise WrongUse("public counts need a column named count, or one column only; name the column count")
    found = []
    for number, row in enumerate(rows[1:], 2):
        cell = row[at] if at < len(row) else ""
        if cell.strip() and not _NUMBER.fullmatch(cell):
            raise WrongUse(f"line {number} of the public counts has a count that is no whole number; correct it")
        found.append(int(rational(cell, "a count")) if cell.strip() else 0)
    if not any(found):
        raise WrongUse("the public counts have nobody in them; give some with people")
    return found


_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "people": (int, "a whole number"),
    "bins": (int, "a whole number"),
    "shape": (str, "a text"),
    "by": (list, "a list of texts"),
    "person": (str, "a text"),
    "rows_are_people": (bool, "true or false"),
    "file": (str, "a text"),
}


def facts(path: str | Path) -> dict[str, Any]:
    """The facts of a file, under the names that :func:`hubbub.plan.release` and the command know them by.

    A CSV file that it names for the shape, and the table, lie where the file of facts does.
    """
    file = Path(path)
    try:
        found = read_toml(file, float)  # a number is no text
    except (OSError, ValueError):
        raise WrongUse(
            f"the facts must be a TOML file that can be read, not {str(file)[:60]!r}; check the file"
        ) from None
    for name, value in found.items():
        if name not in _TYPES:
            raise WrongUse(f"a file of facts knows {', '.join(_TYPES)}, and not {name[:40]!r}; leave it out")
        kind, description = _TYPES[name]
        if type(value) is not kind or (isinstance(value, list) and not all(isinstance(each, str) for each in value)):
            raise WrongUse(f"the fact {name} must be {description}; correct the file")
    check_one_unit(found.get("person"), bool(found.get("rows_are_people")))
    for name in ("shape", "file"):
        if name in found and not (name == "shape" and is_name(found[name])):
            found[name] = str(file.parent / found[name])
    return found
