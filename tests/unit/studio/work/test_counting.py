"""Counts that are started at once, from the page, into one folder."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hubbub.errors import WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.studio.folder import RECORD, RESULTS
from hubbub.studio.work import counting
from hubbub.voting.count.counted import count

BLANK = dict.fromkeys(("as", "dice", "contest", "columns", "transfers", "seats", "points"), "")
REQUEST = {**BLANK, "file": "ballots.csv", "rule": "random-dictator", "eta": "1e-12"}
AT_ONCE = 6


def test_of_counts_into_one_folder_at_once_one_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drawn ballot decides here: a second draw into the same folder would replace the winner that somebody saw."""
    ballots, folder, ledger = tmp_path / "ballots.csv", tmp_path / "count", Ledger(tmp_path / "ledger" / "ledger.db")
    ballots.write_text("rank1,rank2\n" + "a,b\nb,a\nc,a\n" * 20)
    ledger.public_key()
    draws, said, together = list[str](), list[str](), threading.Barrier(AT_ONCE)

    def counted(*words: object, **more: object) -> object:
        draws.append("drawn")
        threading.Event().wait(0.3)  # whoever comes meanwhile finds no record yet
        return count(*words, **more)  # type: ignore[arg-type]

    def run() -> None:
        together.wait()
        try:
            counting.write(REQUEST, str(ballots), folder, ledger)
        except WrongUse as error:
            said.append(str(error))

    monkeypatch.setattr(counting, "count", counted)
    threads = [threading.Thread(target=run) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(draws) == 1
    assert {*said} == {f"another release is being written to {str(folder)!r}; wait for it, or choose another folder"}
    assert len(said) == AT_ONCE - 1
    assert {each.name for each in folder.iterdir()} == {RECORD, RESULTS}
    with pytest.raises(WrongUse, match="there is a count in this folder already"):
        counting.write(REQUEST, str(ballots), folder, ledger)


def test_a_count_that_is_refused_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "ballots.csv").write_text("rank1,rank2\na,b\n")
    with pytest.raises(WrongUse):
        counting.write(
            {**REQUEST, "rule": "none"}, str(tmp_path / "ballots.csv"), tmp_path / "new", Ledger(tmp_path / "l.db")
        )
    assert not (tmp_path / "new").exists()
