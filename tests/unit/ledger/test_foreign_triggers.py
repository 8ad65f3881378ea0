"""What somebody planted in the file of a ledger does not run."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from hubbub.errors import CheckFailed
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.charge import charge
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.bound import Bound

_ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT hex(n), 'a', 'b' FROM c"


@pytest.mark.parametrize(
    "planted",
    [
        "CREATE TRIGGER x BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TRIGGER x AFTER INSERT ON entries BEGIN SELECT RAISE(ROLLBACK, 'x'); END",
        "CREATE TRIGGER x AFTER INSERT ON entries BEGIN SELECT no_such_function(); END",
        f"CREATE TRIGGER x AFTER INSERT ON entries BEGIN INSERT INTO marks SELECT * FROM ({_ENDLESS}); END",
        "DROP TRIGGER never_delete; CREATE TRIGGER never_delete BEFORE DELETE ON marks BEGIN SELECT RAISE(IGNORE); END",
        f"DROP TABLE marks; CREATE VIEW marks AS {_ENDLESS}",
    ],
)
def test_25_a_trigger_or_view_that_is_not_ours_is_refused_before_it_runs(tmp_path: Path, planted: str) -> None:
    book, asked = Ledger(tmp_path / "ledger.db"), charge(Bound(histogram(["a=x,y"], epsilon="0.5")))
    book.reserve("town", asked)
    base = sqlite3.connect(book.path)
    base.executescript(planted)
    base.close()
    for use in (lambda: book.reserve("town", asked), book.accounts, lambda: Ledger.entries_of(book.path)):
        with pytest.raises(CheckFailed, match=r"the ledger has a (trigger|view) .* that Hubbub did not make"):
            use()
