"""What everybody may know of a table, from a file: how large it is, who a person is, which bins it has.

A file of facts is TOML, like ::

    people = 20000
    by = ["diagnosis=@codes.txt", "age:0..100:10"]
    person = "patient"

and stands beside the table for whoever plans a release of it. Nothing in it may be counted in the table itself: what a
plan is made from is as public as the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.plan.shape import is_name
from hubbub.serialization.toml import read_toml

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
    if "person" in found and found.get("rows_are_people"):
        raise WrongUse("`person` and `rows_are_people` exclude each other; keep the one that is so in the file")
    for name in ("shape", "file"):
        if name in found and not (name == "shape" and is_name(found[name])):
            found[name] = str(file.parent / found[name])
    return found
