"""The brute-force checker: exact, with the smallest witness, and refusing what is no table of laws."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from hubbub.audit.blending import ANY, Data, Law, data_sets, is_distinguishable, lone, of_table, read, table_of_laws
from hubbub.errors import WrongUse


def hidden_below(k: int) -> dict[Data, Law]:
    return table_of_laws(lambda data: {tuple(c if c >= k else None for c in data): Fraction(1)}, 2, 5)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_suppression_blends_with_its_own_crowd_and_with_no_larger_one(k: int) -> None:
    assert lone(hidden_below(k), k, Fraction(0)) is None
    found = lone(hidden_below(k), k + 1, ANY)
    assert found is not None
    assert sum(found.data) == k, "the smallest witness has k people"
    assert found.crowd == k


def halves(data: Data) -> Law:
    """Twice as likely as not to say which is larger: a ratio of 2."""
    p = Fraction(2, 3) if data[0] > data[1] else Fraction(1, 3)
    return {"first": p, "second": 1 - p}


def test_epsilon_is_compared_exactly() -> None:
    laws = table_of_laws(halves, 2, 3)
    assert lone(laws, 10, Fraction(69314718056, 10**11)) is None  # above ln 2 in the tenth digit
    assert lone(laws, 10, Fraction(69314718055, 10**11)) is not None  # below it
    assert is_distinguishable({"x": Fraction(1, 2)}, {"x": Fraction(1, 2)}, Fraction(0)) == (False, None)


def test_the_witness_says_why_nobody_is_like_the_person() -> None:
    found = of_table(table_of_laws(lambda data: {data: Fraction(1)}, 2, 3), 2, Fraction(1), ("cats", "dogs"))
    assert found.is_refuted
    assert found.witness is not None
    assert (found.witness["people"], found.witness["person"]) == ("1 of dogs", "dogs")
    assert list(data_sets(2, 1)) == [(0, 0), (0, 1), (1, 0)]


def test_a_table_is_read_from_json(tmp_path: Path) -> None:
    rows = [{"people": [n], "outcomes": {"hidden": "1/2", "seen": "1/2"}} for n in range(3)]
    (tmp_path / "laws.json").write_text(json.dumps({"kinds": ["x"], "laws": rows}))
    laws, names = read(tmp_path / "laws.json")
    assert of_table(laws, 3, Fraction(0), names).word == "proved"
    twice = {"kinds": ["x"], "laws": [*rows, rows[0]]}
    for text in (json.dumps(twice), "[]", '{"kinds": ["x"], "laws": [{"people": [0], "outcomes": {"a": "x"}}]}', "no"):
        (tmp_path / "laws.json").write_text(text)
        with pytest.raises(WrongUse):
            read(tmp_path / "laws.json")


SURE: Law = {"a": Fraction(1)}


@pytest.mark.parametrize(
    "laws",
    [
        {},
        {(0,): SURE},
        {(0,): SURE, (1,): {"a": Fraction(1, 2)}},
        {(1,): SURE},
        {(0,): SURE, (1,): {"a": Fraction(2), "b": Fraction(-1)}},
    ],
    ids=["none", "nobody", "not all there", "nobody is missing", "below 0"],
)
def test_what_is_no_table_of_laws_is_refused(laws: dict[Data, Law]) -> None:
    with pytest.raises(WrongUse):
        of_table(laws, 2, Fraction(0))
