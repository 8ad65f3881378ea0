"""A ledger that a benchmark fills in bulk is the one that reservations one by one would make."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ledger import fill
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.admission import Entered, admit
from hubbub.ledger.charge import Charge, charge
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.records import RESERVED
from hubbub.ledger.running_total import Running
from hubbub.protocol.bound import Bound
from hubbub.serialization.exact_json import plain


def one_by_one(book: Ledger, asked: Charge, many: int, one: bool) -> None:
    for i in range(many):
        with book._store.adding(book._founding) as page:
            name = "town" if one else f"town-{i}"
            running = Running(page, name)
            new = Entered(number=running.total.reserved + 1, charge=asked)
            admit(running.total.stand_ins, new, name, count=running.total.spent)
            body = {"nonce": f"{i:032x}", "charge": plain(asked), "source": "", "secret": f"{i:032x}"}
            running.add(RESERVED, body, running.total.followed_by(new))


def content(book: Ledger) -> list[list[Any]]:
    base = sqlite3.connect(book.path)
    questions = (
        "SELECT number, kind, dataset, body FROM entries WHERE number > 1 ORDER BY number",
        "SELECT * FROM totals ORDER BY dataset, number",
        "SELECT * FROM marks ORDER BY mark, dataset, detail",
    )
    found = [base.execute(question).fetchall() for question in questions]
    base.close()
    return found


@pytest.mark.parametrize("one", [True, False])
@pytest.mark.parametrize("words", [{"epsilon": "0.001"}, {"crowd": 20, "sample": "0.1"}])
def test_what_is_filled_in_bulk_is_what_is_entered_one_by_one(tmp_path: Path, words: dict[str, Any], one: bool) -> None:
    asked = charge(Bound(histogram(["a=x,y"], **words)))
    books = []
    for way in (one_by_one, fill):
        book = Ledger(tmp_path / f"{way.__name__}.db")
        one_by_one(book, asked, 2, True)
        way(book, asked, 20, one)
        assert book.check() == 23
        books.append(content(book))
    assert books[0] == books[1]
