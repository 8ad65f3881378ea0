"""A check of a ledger finds whatever was changed: any sign of any entry, their order, their number, any total."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hubbub.errors import CheckFailed
from hubbub.ledger import records, running_total
from hubbub.ledger.admission import Entered
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.log import Entry, seal
from hubbub.ledger.running_total import check_totals, running_total_of, total_bytes
from hubbub.serialization.canonical import canonical
from hubbub.serialization.exact_json import plain
from tests.unit.ledger.charges import charge

COLUMNS = ("number", "kind", "dataset", "time", "body", "previous", "hash")
CHANGED = r"entry \d+ of the ledger has been changed; restore it from a backup"


@pytest.fixture
def pristine(tmp_path: Path) -> Ledger:
    """Some releases, one published, one given up, and many that ask for the same."""
    book = Ledger(tmp_path / "ledger.db")
    places = [book.reserve("town", charge(name)) for name in ("plain", "plain by b", "sampled crowd")]
    book.commit(places[0], "0" * 64, "1" * 64)
    book.abandon(places[1], drawn=False)
    for _ in range(3):
        book.reserve("village", charge("plain"))
    assert book.check() == 9
    return book


Rows = list[list[Any]]


def rows_of(book: Ledger) -> Rows:
    base = sqlite3.connect(book.path)
    rows = [list(row) for row in base.execute("SELECT * FROM entries ORDER BY number")]
    base.close()
    return rows


def put(book: Ledger, rows: Rows) -> None:
    """In the place of all entries these, in a table that takes anything."""
    base = sqlite3.connect(book.path)
    base.executescript(f"DROP TABLE entries; CREATE TABLE entries ({', '.join(COLUMNS)})")
    base.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    base.commit()
    base.close()


def refused(book: Ledger, rows: Rows, sentence: str = CHANGED) -> None:
    kept = rows_of(book)
    put(book, rows)
    try:
        with pytest.raises(CheckFailed, match=sentence):
            book.check()
    finally:
        put(book, kept)


def other(value: Any, at: int, by: int) -> Any:
    """A value with one sign changed."""
    if isinstance(value, int):
        return value + by
    if not value:
        return "x"
    at %= len(value)
    if isinstance(value, str):
        return f"{value[:at]}{chr(33 + (ord(value[at]) - 33 + by) % 94)}{value[at + 1 :]}"
    return value[:at] + bytes([(value[at] + by) % 256]) + value[at + 1 :]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 8), st.sampled_from(COLUMNS), st.integers(0, 3000), st.integers(1, 93))
@example(1, "body", 0, 1)
@example(8, "hash", 63, 1)
@example(0, "previous", 0, 1)
def test_one_sign_of_one_entry_is_noticed(pristine: Ledger, entry: int, column: str, at: int, by: int) -> None:
    rows = rows_of(pristine)
    rows[entry][COLUMNS.index(column)] = other(rows[entry][COLUMNS.index(column)], at, by)
    refused(pristine, rows)


@pytest.mark.parametrize("value", [None, 3, 3.5, "3", b"3"])
def test_a_value_of_another_type_is_noticed(pristine: Ledger, value: object) -> None:
    for column in range(len(COLUMNS)):
        rows = rows_of(pristine)
        rows[4][column] = value
        refused(pristine, rows)


def test_a_missing_a_repeated_and_a_moved_entry_are_noticed(pristine: Ledger) -> None:
    rows = rows_of(pristine)
    for at in range(len(rows)):
        refused(pristine, [*rows[:at], *rows[at + 1 :]], "is older than it was" if at == 8 else CHANGED)
        refused(pristine, [*rows[: at + 1], rows[at], *rows[at + 1 :]])
        refused(pristine, rows[:at], "is older than it was" if at else "is empty and should not be")
        moved = [[*row] for row in rows]
        moved[at][0], moved[at - 1][0] = moved[at - 1][0], moved[at][0]
        refused(pristine, moved)


def test_an_entry_that_was_sealed_anew_is_noticed(pristine: Ledger) -> None:
    """Whoever reckons all seals again after it still has another last one than the one that is remembered."""
    rows = rows_of(pristine)
    rows[1][4] = rows[1][4].replace(b'"epsilon": "1"', b'"epsilon": "0"')
    last = rows[0][6]
    for row in rows[1:]:
        row[5] = last
        last = row[6] = seal(*row[:6])
    refused(pristine, rows, "is older than it was: entry 9 is missing or another")


# --- running totals -------------------------------------------------------------------------------------------------


def entries_of(steps: list[tuple[str, int]]) -> list[Entry]:
    """Entries as a ledger has them, each total worked out from the first release on: (charge, -1) or ("", which one is
    given up)."""
    found: list[Entry] = []
    spent: dict[str, Entered] = {}
    reserved = 0
    for number, (name, which) in enumerate(steps, 1):
        if name:
            reserved += 1
            nonce = f"{number:032x}"
            spent[nonce] = Entered(number=reserved, charge=charge(name))
            body: dict[str, Any] = {"nonce": nonce, "charge": plain(charge(name)), "secret": "", "source": ""}
        elif spent:
            nonce = list(spent)[which % len(spent)]
            del spent[nonce]
            body = {"nonce": nonce, "drawn": False}
        else:
            continue
        total = running_total._seal(total_bytes(running_total_of(spent.values(), reserved)))
        kind = records.RESERVED if name else records.ABANDONED
        found.append(Entry(number, kind, "town", "", canonical({**body, "total": total}), "", ""))
    return found


STEPS = st.lists(
    st.tuples(st.sampled_from(["plain", "plain", "plain", "sampled crowd", "noisy crowd"]), st.just(-1))
    | st.tuples(st.just(""), st.integers(0, 50)),
    min_size=1,
    max_size=30,
)


@settings(max_examples=40, deadline=None)
@given(STEPS, st.integers(2, 64), st.data())
@example([("plain", -1)] * 12 + [("", 11), ("", 3)] + [("plain", -1)] * 6, 64, None)
@example([("plain", -1)] * 12 + [("", 1), ("plain", -1), ("", 0)], 3, None)
def test_every_total_is_worked_out_again(steps: list[tuple[str, int]], recent: int, data: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running_total, "_RECENT", recent)
        entries = entries_of(steps)
        check_totals(entries)
        at = len(entries) - 1 if data is None or not entries else data.draw(st.integers(0, len(entries) - 1))
        if not entries:
            return
        body = json.loads(entries[at].raw_body)
        body["total"] = other(body["total"], -1, 1)
        wrong = replace(entries[at], raw_body=canonical(body))
        with pytest.raises(CheckFailed, match="the running total of town is not what its releases add up to"):
            check_totals([*entries[:at], wrong, *entries[at + 1 :]])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_reservation_is_read_in_parts_as_it_is_read_whole(data: Any) -> None:
    """Whatever bytes a body has: what is read by the shorter way is what JSON says."""
    raw = canonical({"charge": plain(charge("sampled crowd")), "nonce": "1", "total": "2", "series": {"name": "}"}})
    pieces = [b'\n },\n "', b'"charge": 1, ', b'{\n "charge": ', b"}", b",", b'"nonce": "7", ', b"\n", b'"', b"\\"]
    for _ in range(data.draw(st.integers(0, 3))):
        at, piece = data.draw(st.integers(0, len(raw))), data.draw(st.sampled_from(pieces))
        raw = raw[:at] + piece + raw[at + data.draw(st.integers(0, 2)) :]
    entry = Entry(1, records.RESERVED, "town", "", raw, "", "")
    try:
        body = json.loads(raw)
        wanted = (records._charge(json.dumps(body["charge"])), {k: v for k, v in body.items() if k != "charge"})
    except (ValueError, KeyError, TypeError, CheckFailed):
        with pytest.raises((ValueError, KeyError, TypeError, CheckFailed)):
            records.reservation(entry)
        return
    found, rest = records.reservation(entry)
    assert (found, {k: v for k, v in rest.items() if k != "charge"}) == wanted
