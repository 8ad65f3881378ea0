"""Faults are planted where they are said to be, and a test that can see one notices it."""

from __future__ import annotations

from typing import Any

from tests.mutation.faults import faults

SOURCE = '''
"""Words, with 1 number."""
LIMIT: int = 5

def inside(x: int, low: int = 0) -> bool:
    """At least 0."""
    if not isinstance(x, int) or x < low:
        raise ValueError(f"at least {low + 1}")
    return x <= LIMIT and rounded(max(x - 1, 0), up=True) >= 0

def words(x: int) -> str:
    return "a" if x == 1 else "b"
'''


def test_each_fault_is_one_change_in_one_place() -> None:
    found = [(fault.line, fault.what) for fault in faults(SOURCE)]
    assert sorted(found) == sorted(
        [
            (3, "5 becomes 6"),
            (5, "0 becomes 1"),
            (7, "or becomes and"),
            (7, "not is left out"),
            (7, "< becomes <="),
            (9, "and becomes or"),
            (9, "<= becomes <"),
            (9, ">= becomes >"),
            (9, "max becomes min"),
            (9, "- becomes +"),
            (9, "1 becomes 2"),
            (9, "0 becomes 1"),
            (9, "0 becomes 1"),
            (9, "up=True becomes False"),
        ]
    )
    assert len({fault.source for fault in faults(SOURCE)}) == len(found)


def test_a_planted_fault_changes_what_the_code_does() -> None:
    def answers(source: str) -> list[Any]:
        names: dict[str, Any] = {"rounded": lambda x, up: x if up else x - 1}
        exec(source, names)
        told: list[Any] = []
        for x in (-1, 0, 1, 4, 5, 6, "x"):
            try:
                told.append(names["inside"](x))
            except (TypeError, ValueError) as error:
                told.append(type(error))
        return told

    right = answers(SOURCE)
    same = [fault.what for fault in faults(SOURCE) if answers(fault.source) == right]
    assert same == ["- becomes +", "1 becomes 2", "0 becomes 1"]  # above 0 either way: nobody can see these
