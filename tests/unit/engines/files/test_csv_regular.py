"""What is proved regular, against a machine that reads one sign after the other."""

from __future__ import annotations

import io
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.engines.files.csv_records import BOTH, FEEDS, Survey, is_regular, regular_end, survey
from tests.unit.engines.files.records import machine

FAR = 1 << 40
SIGNS = (b"a", b",", b'"', b"\n", b"\r", b"\r\n", b'""', b'"x"', b'"\n"', b'","', b" ", b"\0", b"b" * 70, b"\xff")
CELLS = (b"a", b'"x"', b'"x,\ny"', b'""', b'"a ""b"""', b"", b"c" * 61, b'"' + b"d\r\n" * 21 + b'"')

wild = st.lists(st.sampled_from(SIGNS), max_size=40).map(b"".join)
tame = st.lists(st.lists(st.sampled_from(CELLS), min_size=2, max_size=3).map(b",".join), max_size=12).map(
    lambda rows: b"".join(row + b"\n" for row in rows)
)
texts = st.one_of(wild, tame, st.tuples(tame, wild).map(b"".join), st.tuples(tame, wild, tame).map(b"".join))


def proved(text: bytes, *, block: int = 1 << 12, lines: int = FAR, returns: bool = True) -> int:
    return regular_end(io.BytesIO(text), 0, ",", block=block, lines=lines, returns=returns)


@given(text=texts, block=st.sampled_from((64, 100, 128, 1 << 12)), returns=st.booleans())
def test_for_all_bytes_what_is_proved_ends_where_a_record_does(text: bytes, block: int, returns: bool) -> None:
    end = proved(text, block=block, returns=returns)
    ends = [stop for stop, _ in machine(text, BOTH if returns else FEEDS)]
    assert end in (0, *ends, len(text))
    bounds = [0, *(stop for stop in ends if stop < end), end]
    assert max(stop - start for start, stop in pairwise(bounds)) <= block


@given(text=texts, block=st.sampled_from((64, 1 << 12)))
def test_for_all_bytes_marks_in_what_is_proved_are_around_whole_cells(text: bytes, block: int) -> None:
    """Whoever reads by the marks alone, without knowing what a cell is, finds the same records."""
    end = proved(text, block=block)
    quoted, ends, blank = False, [], True
    for i, sign in enumerate(text[:end], start=1):
        quoted ^= sign == ord('"')
        if sign in b"\r\n" and not quoted:
            ends += [] if blank else [i]
            blank = True
        else:
            blank = False
    assert not quoted
    assert ends == [stop for stop, _ in machine(text[:end])]


@given(text=texts)
def test_for_all_bytes_what_is_proved_has_no_return_within_a_line(text: bytes) -> None:
    assert not re.search(rb"\r(?![\r\n]|\Z)", text[: proved(text, returns=False)])


@pytest.mark.parametrize("last", [b"", b"\n"])
@given(text=tame)
def test_for_all_tame_texts_everything_is_proved(text: bytes, last: bytes) -> None:
    text = text.rstrip(b"\n") + last if text else text
    assert proved(text) == len(text)


@pytest.mark.parametrize(
    "odd", [b'a "x",b\n', b' "x",b\n', b'"x" ,b\n', b'"x"y"z",b\n', b'5" pipe,6" pipe\n', b'"a,b\n', b'a"\n']
)
def test_a_mark_out_of_place_is_not_proved_and_the_records_before_it_are(odd: bytes) -> None:
    for before in range(60, 70):
        good = b"e" * before + b',"x\ny"\n'
        assert proved(good + odd + b"c,d\n") == len(good)


def test_a_cell_of_many_lines_is_not_proved() -> None:
    for before in range(60):
        good = b"e" * before + b",f\n"
        for length in (1, 5, 60):
            cell = b'"' + (b"g" * length + b"\n") * 99 + b'h"'
            assert proved(good + cell + b"\n", lines=99) in (0, len(good))
    assert proved(b'a,"' + b"gg, gg\n" * 98 + b'"\n', lines=200) == 3 + 7 * 98 + 2


def test_a_survey_is_the_same_with_the_proof_and_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "people.csv"
    texts_ = []
    for i in range(0, 40, 2):
        rows = [b'%d,"two\nlines ""%d""",x\n' % (j, i) for j in range(i * 3)]
        rows.insert(len(rows) // 2, (b'7, "a"\n', b'8,"b" c\n', b'9,"d\n', b'"' + b"e\n" * 120 + b'"\n', b"")[i % 5])
        rows.insert(i, b'1,"' + b"z\n" * (400 * i) + b'"\n' if i % 3 == 0 else b"")
        texts_.append(b"".join(rows)[: -1 if i % 2 else None])
    found = []
    for text in texts_:
        place.write_bytes(text)
        found.append(survey(str(place), ",", 64))
    monkeypatch.setattr("hubbub.engines.files.csv_records.regular_end", lambda file, start, *_, **__: start)
    for text, before in zip(texts_, found, strict=True):
        place.write_bytes(text)
        again = survey(str(place), ",", 64)
        assert again.open_mark == before.open_mark
        long = {span for span in again.giants if span[1] - span[0] > 64 * 16}
        assert long <= set(before.giants)
        assert all(stop - start >= 64 for start, stop in before.giants)


def test_records_between_regular_ones_are_never_taken_for_a_giant(tmp_path: Path) -> None:
    """What was read sign by sign last need not be the end of the file."""
    place = tmp_path / "people.csv"
    regular, odd = b'1,"two\nlines"\n' * 200, b'2, "x"\n' * 60
    for text in (regular + odd + regular, odd + regular, regular + odd, regular + odd + regular[:-1]):
        place.write_bytes(text)
        assert survey(str(place), ",", 64) == Survey([], None)


def test_a_regular_file_is_seen_to_be_one(tmp_path: Path) -> None:
    place = tmp_path / "people.csv"
    for text, right in (
        (b"", True),
        (b"\xef\xbb\xbfid,town\n1,Bath\n", True),
        (b'id,town\r\n1,"Ba\nth"\r\n', True),
        (b"id,town\n1,Ba\rth\n", False),
        (b"id,town\r1,Bath\r", False),
        (b'id,town\n1,"Bath\n', False),
        (b'id,town\n1,6" pipe\n', False),
    ):
        place.write_bytes(text)
        assert is_regular(str(place), ",", 1 << 21) == right, text
        assert os.path.getsize(place) == len(text)
