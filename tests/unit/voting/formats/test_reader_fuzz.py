"""THREATS 60, some cases of the fuzzer over readers; 500 run in `property`, and as many as wanted with `make fuzz`."""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub.errors import WrongUse
from hubbub.voting.formats.formats import read
from tests.fuzz.ballot_readers import REFUSED, SAME, run
from tests.fuzz.garbled_files import TOLD
from tests.fuzz.garbled_files import run as garbled


def test_60_nobody_wins_by_a_file_that_was_not_understood() -> None:
    found = run(0, 40)
    assert found[REFUSED] + found[SAME] == 40
    assert min(found[REFUSED], found[SAME]) >= 8, "both damaged and harmless cases are met"


@pytest.mark.parametrize("cases", [40, pytest.param(300, marks=pytest.mark.slow)])
def test_74_no_garbled_file_is_counted_wrongly_without_a_word(cases: int) -> None:
    found = garbled(cases, cases)
    assert sum(found.values()) == cases
    assert min(found[kind] for kind in (REFUSED, SAME, TOLD)) >= 2, "all kinds are met"


def test_74_the_error_of_a_spreadsheet_is_no_candidate(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("Choice 1,Choice 2\n" + "Ann,Bob\n" * 20 + "Bob,Ann\n" * 9 + "Bob,Ann.5\n", encoding="utf-8")
    assert read(path).remarks == ('marked on one ballot alone: "Ann.5"',)
    path.write_text("Choice 1,Choice 2\n" + "Ann,Bob\n" * 20 + "Bob,#REF!\n", encoding="utf-8")
    with pytest.raises(WrongUse, match="the error of a spreadsheet"):
        read(path)
