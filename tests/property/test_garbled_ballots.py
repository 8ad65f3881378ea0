"""THREATS 60, for all files: what is garbled is refused, or is read as the very ballots that were in it.

Elections are made, written in the shapes that offices use, and damaged. Damage that destroys what the file means must
be refused: identifiers, ratings, marks or another vendor's cells where ranks were. Damage that only moves or adds
columns must be refused or change nothing.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import WrongUse
from hubbub.voting.formats.formats import read, strict
from tests.fuzz.ballot_readers import run
from tests.fuzz.ballot_tables import (
    DESTROYS,
    SHAPES,
    Counts,
    counted,
    doubled,
    election,
    ranks,
    turned,
    widened,
    written,
)


def outcome(text: str) -> Counts | str:
    """The ballots of a file, or the sentence that refuses it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ballots.csv"
        path.write_text(text, encoding="utf-8", newline="")
        try:
            return strict(read(path)).ballots.counts()
        except WrongUse as error:
            return str(error)


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_60_no_result_comes_out_of_a_file_that_was_garbled(shape: str, seed: int) -> None:
    random = Random(seed)
    ballots = election(random)
    table = SHAPES[shape](ballots, random)
    assert outcome(written(table)) == counted(ballots), "the file as it was is read"
    damage = random.choice(DESTROYS[shape])
    answer = outcome(written(damage(table, shape, random)))
    assert isinstance(answer, str), (damage.__name__, answer)
    assert "\n" not in answer


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_60_columns_that_move_or_are_added_change_no_ballot(shape: str, seed: int) -> None:
    random = Random(seed)
    ballots = election(random)
    table = SHAPES[shape](ballots, random)
    damaged = random.choice([turned, widened])(table, random)
    answer = outcome(written(damaged))
    assert isinstance(answer, str) or answer == counted(ballots), answer


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), shape=st.sampled_from(["ranks", "long", "dominion", "clear ballot"]))
def test_60_a_row_that_is_there_twice_is_never_two_ballots(seed: int, shape: str) -> None:
    random = Random(seed)
    table = SHAPES[shape](election(random), random)
    if shape == "clear ballot":
        table[0][0] = "BallotID"
    assert isinstance(outcome(written(doubled(table, shape, random))), str)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), cut=st.floats(0.01, 0.99))
def test_60_a_packed_file_that_was_cut_short_is_refused(seed: int, cut: float) -> None:
    import gzip

    random = Random(seed)
    raw = gzip.compress(written(ranks(election(random), random)).encode())
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ballots.csv.gz"
        path.write_bytes(raw[: max(1, int(len(raw) * cut))])
        with pytest.raises(WrongUse):
            strict(read(path))


def test_60_nobody_wins_by_a_file_that_was_not_understood_in_500_cases() -> None:
    assert sum(run(40, 500).values()) == 500
