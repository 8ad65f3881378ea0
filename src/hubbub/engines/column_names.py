"""The names of columns of which several have one name: ``town#1``, ``town#2``, in files and in frames.

Capitals and small letters are alike, as in SQL. The bare name is then nobody's, and whoever uses it is told which there
are (:func:`hubbub.tables.schema.column`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, each once: those that are there several times are numbered from 1.

    >>> distinct(["id", "town", "Town"]), distinct(["a", "a", "A#2"])
    (('id', 'town#1', 'Town#2'), ('a#1', 'a#3', 'A#2'))
    """
    often = Counter(name.lower() for name in names)
    taken = {name for name, many in often.items() if many == 1}
    numbers = {name: count(1) for name, many in often.items() if many > 1}
    found = []
    for name in names:
        if (free := numbers.get(name.lower())) is not None:
            name = next(new for i in free if (new := f"{name}#{i}").lower() not in taken)
            taken.add(name.lower())
        found.append(name)
    return tuple(found)


def column_letters(number: int) -> str:
    """What a spreadsheet calls a column: A is 1."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
