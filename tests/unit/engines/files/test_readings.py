"""Cells as they are really written, and files as they really come: each read when told, and never guessed."""

from __future__ import annotations

import gzip
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hubbub.engines.files.frames import open_frame
from hubbub.engines.opening import open_source
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.tables.bins import all_labels, parse
from hubbub.tables.condition import parse as condition
from hubbub.tables.contribution import ContributionBounds
from hubbub.tables.engine import CountQuery, MultiRowPolicy
from hubbub.tables.identity import Chosen, IdObserver
from hubbub.tables.schema import bind_axes
from hubbub.tables.unlisted import TooManyUnreadable
from tests.unit.shared.workbooks import workbook


def counted(
    source: object,
    by: str,
    *,
    person: str | None = None,
    repeats: MultiRowPolicy = MultiRowPolicy.REFUSE,
    tell: Callable[[Chosen], None] | None = None,
    **how: Any,
) -> Any:
    table = open_source(source, **how)
    if tell is not None:
        table = table.observing_ids(IdObserver(turn=1, most=1000, on_chosen=tell))
    (axis,) = bind_axes((parse(by),), table.columns())
    bounds = ContributionBounds(rows_per_person=2) if repeats is MultiRowPolicy.BOUNDED else None
    found = table.count(CountQuery(axes=(axis,), person=person, repeats=repeats, bounds=bounds), SystemSource())
    labels = found.found[0] if found.found else [all_labels(axis)[code] for code in found.codes.tolist()]  # type: ignore[arg-type]
    return dict(zip(labels, found.counts.tolist(), strict=True))


def column(*cells: str | None) -> pa.Table:
    return pa.table({"x": pa.array(cells, pa.string())})


BINS = "x:[-1000000,0,1,1000,2000,55000,56000,1000000)"


@pytest.mark.parametrize(
    ("reads", "cell", "bin_"),
    [
        ("", "1e3", "[1000,2000)"),
        ("", "55314.00", "[55000,56000)"),
        ("", "$55,314.00", "other"),
        (",money", "$55,314.00", "[55000,56000)"),
        (",money", "55,314", "[55000,56000)"),
        (",money", "55314.00", "[55000,56000)"),
        (",money", " € 55,314.00 ", "[55000,56000)"),
        (",money", "55,314.00 €", "[55000,56000)"),
        (",money", "55,314.00 EUR", "[55000,56000)"),
        (",money", "55,314EUR", "[55000,56000)"),
        (",money", "USD 55,314.00", "[55000,56000)"),
        (",money", "55,314 kr", "[55000,56000)"),
        (",money", "(5.00 EUR)", "[-1000000,0)"),
        (",money", "55,314 euros", "other"),
        (",money", "EUR", "other"),
        (",money", "-$5.00", "[-1000000,0)"),
        (",money", "$-5.00", "[-1000000,0)"),
        (",money", "($5.00)", "[-1000000,0)"),
        (",money", "$.50", "[0,1)"),
        (",money", "5,5", "other"),
        (",money", "55.314,00", "other"),
        (",money", "$5 or $6", "other"),
        (",money", "--5", "other"),
        (",money", "$", "other"),
        (",decimal=,", "55.314,00", "[55000,56000)"),
        (",decimal=,", "55314,00", "[55000,56000)"),
        (",decimal=,", "0,5", "[0,1)"),
        (",decimal=,", "-0,5", "[-1000000,0)"),
        (",decimal=,", "1e3", "[1000,2000)"),
        (",decimal=,", "55,314.00", "other"),
        (",decimal=comma", "0,5", "[0,1)"),
        (",money,decimal=,", "€ 55.314,00", "[55000,56000)"),
        (",decimal=,,money", "€ 55.314,00", "[55000,56000)"),
    ],
)
def test_numbers_are_read_as_told(reads: str, cell: str, bin_: str) -> None:
    assert counted(column(cell, None), f"{BINS}{reads},null,other") == {bin_: 1, None: 1}


@pytest.mark.parametrize(
    ("pattern", "cell", "month"),
    [
        ("%m/%d/%Y", "03/14/2013", "2013-03"),
        ("%m/%d/%Y", "3/4/2013", "2013-03"),
        ("%d/%m/%Y", "04/03/2013", "2013-03"),
        ("%d.%m.%Y", "04.03.2013", "2013-03"),
        ("%B %d, %Y", "March 4, 2013", "2013-03"),
        ("%m/%d/%Y %H:%M", "03/14/2013 09:30", "2013-03"),
        ("%m/%d/%Y", "14/03/2013", "other"),
        ("%m/%d/%Y", "2013-03-14", "other"),
        ("%m/%d/%Y", "03/14/2013 09:30", "other"),
    ],
)
def test_dates_are_read_by_their_pattern(pattern: str, cell: str, month: str) -> None:
    assert counted(column(cell, None), f"x:month:2013-01..2013-12,date={pattern},null,other") == {month: 1, None: 1}
    found = counted(column(cell), f"x:month,date={pattern}")
    assert found == {month if month != "other" else None: 1}


def test_booleans_are_read_in_every_usual_way() -> None:
    cells = ("TRUE", "True", "t", "1", " yes", "Y", "FALSE", "f", "0", "no", None, "maybe")
    assert counted(column(*cells), "x:boolean,null,other") == {"true": 6, "false": 4, None: 1, "other": 1}
    assert counted(pa.table({"x": [0, 1, 1, None]}), "x:boolean,null") == {"false": 1, "true": 2, None: 1}
    assert counted(pa.table({"x": [True, False]}), "x:boolean") == {"false": 1, "true": 1}


@pytest.mark.parametrize(
    ("by", "says"),
    [
        ("x:0..10:1,money", "holds whole numbers, which are read as they are; drop money"),
        ("x:month,date=%m/%d/%Y", "holds whole numbers, which are read as they are; drop date=%m/%d/%Y"),
        ("x:0..10:1,date=%m/%d/%Y", "cut at numbers, and date= is about dates"),
        ("x:month,money", "the dates of x are no money"),
        ("x:month,date=%m/%d", "must say the year and the month, each once"),
        ("x:month,date=%m/%m/%Y", "must say the year and the month, each once"),
        ("x:month,date=%Q/%Y", "may have %d"),
        ("x:month,date=%Y-%m-%", "may have %d"),
        ("x:month,date=", "must say the year"),
        ("x:0..10:1,decimal=x", "with decimal=, and not as 'decimal=x'"),
        ("x:boolean,money", "booleans are read in every way"),
        ("x=@nowhere.txt", "cannot be read from 'nowhere.txt'"),
    ],
)
def test_what_cannot_be_meant_gets_one_sentence(by: str, says: str) -> None:
    with pytest.raises(WrongUse) as wrong:
        counted(pa.table({"x": [1, 2]}), by)
    assert says in str(wrong.value)


def test_a_list_of_values_comes_from_a_file(tmp_path: Path) -> None:
    codes = tmp_path / "codes, all.txt"
    codes.write_bytes(b"\xef\xbb\xbf250.01\r\nV58, old\r\n\r\nnull\r\n")
    found = counted(column("250.01", "V58, old", "null", None, "x"), f"x=@{codes},null,other")
    assert found == {"250.01": 1, "V58, old": 1, "null": 1, None: 1, "other": 1}
    assert counted(column("@a", "b"), 'x="@a",b') == {"@a": 1, "b": 1}
    for content in (b"", b"a\nb\na\n", b"\xff\xfe"):
        codes.write_bytes(content)
        with pytest.raises(WrongUse):
            parse(f"x=@{codes}")


TEXT = "id;town\n1;Caf\u00e9\n2;Bath\n3;Bath\n"


def file(folder: Path, kind: str) -> tuple[Path, dict[str, Any]]:
    place = folder / {"gz": "p.csv.gz", "zst": "p.csv.zst", "tab": "p.tsv"}.get(kind, "p.csv")
    how: dict[str, Any] = {"delimiter": ";"}
    raw = TEXT.encode()
    if kind == "gz":
        raw = gzip.compress(raw[:9]) + gzip.compress(raw[9:])  # of two members
    elif kind == "zst":
        raw = pa.compress(raw, "zstd", asbytes=True)
    elif kind == "tab":
        raw, how = raw.replace(b";", b"\t"), {}
    elif kind == "headless":
        raw, how = raw.partition(b"\n")[2], how | {"no_header": "id,town"}
    elif kind != "plain":
        raw, how = TEXT.encode(kind), how | {"encoding": kind}
    place.write_bytes(raw)
    return place, how


@pytest.mark.parametrize("kind", ["plain", "gz", "zst", "tab", "latin-1", "cp1252", "utf-16", "utf-16-be", "headless"])
def test_one_table_in_every_form(tmp_path: Path, kind: str) -> None:
    place, how = file(tmp_path, kind)
    assert counted(place, "town", **how) == {"Bath": 2, "Caf\u00e9": 1}


def test_copies_are_private_and_gone_with_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    place, how = file(tmp_path, "gz")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    table = open_source(place, **how)
    (folder,) = temporary.iterdir()
    assert all(not stat.S_IMODE(each.stat().st_mode) & 0o077 for each in (folder, *folder.rglob("*")))
    assert (list(folder.rglob("*.csv")) == []) == os.path.isdir("/proc/self/fd")  # there it has no name at all
    del table
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("end", [b"\x81", b"\x81\x8d", b'"\x81"', b"\xe9\x81"])
def test_a_sign_that_cannot_be_decoded_costs_its_own_record_alone(tmp_path: Path, end: bytes) -> None:
    place = tmp_path / "p.csv"
    place.write_bytes(b"id,town\n1,Bath\n2," + end + b"\n3,Bath\n4,Caf\xe9\n")
    assert counted(place, "town", encoding="cp1252") == {"Bath": 2, "Caf\u00e9": 1}


@pytest.mark.parametrize("order", ["le", "be"])
def test_utf_16_is_known_by_its_mark(tmp_path: Path, order: str) -> None:
    """What Excel calls Unicode text: nobody knows that it has to be declared, and the mark says it."""
    raw = f"\ufeff{TEXT.replace(';', ',')}".encode(f"utf-16-{order}")
    (tmp_path / "p.csv").write_bytes(raw)
    (tmp_path / "p.csv.gz").write_bytes(gzip.compress(raw))
    for name in ("p.csv", "p.csv.gz"):
        assert counted(tmp_path / name, "town") == {"Bath": 2, "Caf\u00e9": 1}
    (tmp_path / "p.csv").write_bytes(raw.partition("\n".encode(f"utf-16-{order}"))[2])
    assert counted(tmp_path / "p.csv", "town", encoding=f"utf-16-{order}", no_header="id,town") == {
        "Bath": 2,
        "Caf\u00e9": 1,
    }


def test_half_a_sign_of_utf_16_costs_its_own_record_alone(tmp_path: Path) -> None:
    place = tmp_path / "p.csv"
    raw = "id,town\n1,Bath\n2,?\n3,Bath\n".encode("utf-16-le")
    place.write_bytes(b"\xff\xfe" + raw.replace(b"?\0", b"\x00\xd8") + b"\0")
    assert counted(place, "town", encoding="utf-16") == {"Bath": 2}


@pytest.mark.parametrize(
    ("name", "raw", "how", "says"),
    [
        ("p.csv", b"id;town\n1;a\n", {}, "no comma in it but a semicolon"),
        ("p.csv", b"id\ttown\n1\ta\n", {}, "no comma in it but a tab"),
        ("p.csv", b"id|town\n1|a\n", {}, "no comma in it but a pipe"),
        ("p.csv.gz", b"id,town\n1,a\n", {}, "cannot be read"),
        ("p.csv.gz", gzip.compress(b"id,town\n" + os.urandom(1 << 21))[:-9], {}, "unpacked"),
        ("p.csv.zst", b"id,town\n1,a\n", {}, "cannot be read"),
        ("p.csv", b"id,town\n", {"delimiter": "#"}, "separated by one of"),
        ("p.csv", b"id,town\n", {"encoding": "latin-77"}, "encoding must be"),
        ("p.csv", b"id,town\n", {"encoding": "shift_jis"}, "encoding must be"),
        ("p.csv", b"id,town\n", {"encoding": "utf-7"}, "encoding must be"),
        ("p.csv", b"id,town\n", {"encoding": "rot13"}, "encoding must be"),
        ("p.csv", b"id,town\n", {"no_header": "id,,town"}, "a name for every column"),
        ("p.csv", b"id,town\n", {"no_header": "id,ID"}, "a name for every column"),
        ("p.csv", b"id,town\n", {"table": "people"}, "holds one table"),
        ("p.parquet", b"PAR1", {"encoding": "latin-1"}, "says itself how it is read"),
        ("p.xls", b"", {}, "a table is read from .csv"),
        ("p.xlsx", b"no", {}, "could not be read"),
    ],
)
def test_a_wrong_form_gets_one_sentence(tmp_path: Path, name: str, raw: bytes, how: dict[str, Any], says: str) -> None:
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(HubbubError) as wrong:
        counted(tmp_path / name, "town", **how)
    assert says in str(wrong.value)


CELL = '<c t="inlineStr"><is><t>{}</t></is></c>'
SHEET = (
    "".join(CELL.format(name) for name in ("town", "pay", "hired", "ok")),
    CELL.format("Bath") + '<c><v>55314</v></c><c s="1"><v>41347</v></c><c t="b"><v>1</v></c>',
    CELL.format("York") + '<c><v>0.5</v></c><c/><c t="b"><v>0</v></c>',
)


def test_an_excel_sheet_is_a_table_of_text(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    place = workbook(tmp_path / "people.xlsx", "".join(f"<row>{row}</row>" for row in SHEET))
    assert counted(place, "town") == {"Bath": 1, "York": 1}
    assert counted(place, "pay:[0,1,100000)") == {"[0,1)": 1, "[1,100000)": 1}
    assert counted(place, "hired:month:2013-03..2013-03,null") == {"2013-03": 1, None: 1}
    assert counted(place, "ok:boolean") == {"true": 1, "false": 1}
    assert counted(place, "town", table="People") == {"Bath": 1, "York": 1}
    with pytest.raises(WrongUse, match="has no sheet 'Peple'"):
        counted(place, "town", table="Peple")


# --- how much may be unreadable ----------------------------------------------------------------------------------


def refused(source: object, by: str, **words: Any) -> bool:
    try:
        counted(source, by, **words)
    except Refused as no:
        return isinstance(no, TooManyUnreadable)
    return False


def test_more_unreadable_cells_than_declared_are_refused() -> None:
    for bad, share, no in ((0, "0", False), (1, "0", False), (2, "0", True), (2, "0.02", False), (3, "0.02", True)):
        cells = column(*["5"] * (100 - bad), *["x"] * bad)
        assert refused(cells, "x:0..10:1", unreadable=share) is no
        assert refused(cells, "x:0..10:1,other,null", unreadable=share) is no
    text = column(*["Ann"] * 100)
    assert refused(text, "x:0..10:1", unreadable="0.01")
    assert not refused(text, "x:0..10:1", unreadable="1")
    assert not refused(text, "x", unreadable="0")


@pytest.mark.parametrize("repeats", [MultiRowPolicy.REFUSE, MultiRowPolicy.ONE_ROW, MultiRowPolicy.DISTINCT])
def test_every_way_of_counting_looks(repeats: MultiRowPolicy, tmp_path: Path) -> None:
    rows = "".join(f"{i},{'x' if i < 5 else 7}\n" for i in range(100))
    (tmp_path / "p.csv").write_text(f"id,x\n{rows}")
    how: dict[str, Any] = {"person": "id", "repeats": repeats}
    assert refused(tmp_path / "p.csv", "x:0..10:1", unreadable="0.04", **how)
    assert not refused(tmp_path / "p.csv", "x:0..10:1", unreadable="0.05", **how)
    assert counted(tmp_path / "p.csv", "x:0..10:1", unreadable="0.05", **how) == {"[7,8)": 95}


@pytest.mark.parametrize("repeats", [MultiRowPolicy.ONE_ROW, MultiRowPolicy.DISTINCT])
def test_the_look_at_who_is_there_looks_at_the_cells_too(repeats: MultiRowPolicy, tmp_path: Path) -> None:
    """Who is there is told only if the table can be read: three of fifty people have a row that cannot."""
    rows = "".join(f"{i // 2},{'x' if i < 5 else 7}\n" for i in range(100))
    (tmp_path / "p.csv").write_text(f"id,x\n{rows}")
    told: list[Chosen] = []
    how: dict[str, Any] = {"person": "id", "repeats": repeats, "tell": told.append}
    assert refused(tmp_path / "p.csv", "x:0..10:1", unreadable="0.05", **how)
    assert told == []
    assert not refused(tmp_path / "p.csv", "x:0..10:1", unreadable="0.06", **how)
    (chosen,) = told
    assert set(chosen.ids) == {str(i) for i in range(50)}


@pytest.mark.parametrize("repeats", [MultiRowPolicy.ONE_ROW, MultiRowPolicy.ANY_ROW])
def test_a_condition_on_people_with_several_rows_looks_at_all_of_these(repeats: MultiRowPolicy, tmp_path: Path) -> None:
    """Before a row is chosen, and of three people in fifty; what then cannot be read is not counted twice."""
    rows = [(i // 2, "x" if i < 5 else "7") for i in range(100)]
    (tmp_path / "p.csv").write_text("id,x\n" + "".join(f"{who},{x}\n" for who, x in rows))
    with closing(sqlite3.connect(tmp_path / "p.sqlite")) as base, base:
        base.execute("CREATE TABLE p (id INTEGER, x TEXT)")
        base.executemany("INSERT INTO p VALUES (?, ?)", rows)
    question = CountQuery(axes=(), where=condition("x >= 7"), person="id", repeats=repeats, everybody=True)
    for source, table in ((tmp_path / "p.csv", None), (f"sqlite:///{tmp_path}/p.sqlite", "p")):
        with pytest.raises(Refused) as no:
            open_source(source, table=table, unreadable="0.05").count(question, SystemSource())
        assert isinstance(no.value, TooManyUnreadable)
        found = open_source(source, table=table, unreadable="0.06").count(question, SystemSource())
        assert int(found.counts.sum()) == 50
        met = int(found.counts[found.codes == 0].sum())
        assert met == 48 if repeats is MultiRowPolicy.ANY_ROW else 47 <= met <= 48


def test_records_that_are_left_out_count_as_unreadable(tmp_path: Path) -> None:
    for line in (b"5\n", b"5,Y\xffrk\n", b"5," + b"y" * (1 << 21) + b"\n"):
        (tmp_path / "p.csv").write_bytes(b"id,town\n" + b"1,Bath\n" * 95 + line * 5)
        assert refused(tmp_path / "p.csv", "town", unreadable="0.04")
        assert counted(tmp_path / "p.csv", "town", unreadable="0.05") == {"Bath": 95}


LEFT_OUT = {
    "too few cells": b"7,York\n",
    "not UTF-8": b"7,Y\xffrk,1\n",
    "not UTF-8 before the person": b"7,Y\xff,1\n",
    "quoted": b'"7","York"\n',
    "too long": b"7," + b"y" * (1 << 21) + b",1\n",
}
WAYS = [(name, MultiRowPolicy.ONE_ROW) for name in LEFT_OUT] + [
    ("too few cells", MultiRowPolicy.REFUSE),
    ("too few cells", MultiRowPolicy.DISTINCT),
]


@pytest.mark.parametrize(("why", "repeats"), WAYS)
def test_59_records_of_one_person_that_are_left_out_are_one_person(
    why: str, repeats: MultiRowPolicy, tmp_path: Path
) -> None:
    """Sixty of one person stop nothing; one each of six more, beside 100, are more than five in a hundred."""
    line = LEFT_OUT[why]
    rows = b"".join(b"%d,Bath,1\n" % i for i in range(100, 200))
    how: dict[str, Any] = {"person": "id", "repeats": repeats, "unreadable": "0.05"}
    (tmp_path / "p.csv").write_bytes(b"id,town,n\n" + rows + line * (3 if len(line) > 1000 else 60))
    assert counted(tmp_path / "p.csv", "town", **how) == {"Bath": 100}
    several = [line.replace(b"7", b"%d" % i, 1) for i in range(6)]
    for lost, no in ((several, True), (several[1:], False)):
        (tmp_path / "p.csv").write_bytes(b"id,town,n\n" + rows + b"".join(lost))
        assert refused(tmp_path / "p.csv", "town", **how) is no


def test_59_the_person_is_found_wherever_the_column_is(tmp_path: Path) -> None:
    """In a file with a byte order mark and line ends of two signs, behind a cell that is not UTF-8."""
    rows = b"".join(b"Bath,%d\r\n" % i for i in range(100, 200))
    how: dict[str, Any] = {"person": "id", "repeats": MultiRowPolicy.ONE_ROW, "unreadable": "0.05"}
    for ids, no in (([7] * 60, False), (range(6), True)):
        lost = b"".join(b"B\xe9,%d\r\n" % i for i in ids)
        (tmp_path / "p.csv").write_bytes(b"\xef\xbb\xbftown,id\r\n" + lost + rows)
        assert refused(tmp_path / "p.csv", "town", **how) is no


def test_59_records_that_name_nobody_are_people_only_where_each_has_one_row(tmp_path: Path) -> None:
    rows = b"".join(b"Bath,%d\n" % i for i in range(100))
    (tmp_path / "p.csv").write_bytes(b"town,id\n" + rows + b"York\n" * 60)
    how: dict[str, Any] = {"person": "id", "unreadable": "0.05"}
    assert refused(tmp_path / "p.csv", "town", repeats=MultiRowPolicy.REFUSE, **how)
    assert not refused(
        tmp_path / "p.csv", "town", repeats=MultiRowPolicy.ONE_ROW, **how
    )  # rows of nobody are left out too


@pytest.mark.parametrize("person", [None, "id"])
def test_59_carriage_returns_in_a_cell_are_blanks_and_make_no_records(person: str | None, tmp_path: Path) -> None:
    """Neither records that are too short nor such as would be people of their own."""
    for ends in (b"\n", b"\r\n", b"\r\r\n"):
        for cell in (b"Yo" + b"\r" * 60 + b"rk", b"Y" + b"\r999,Bath,1" * 60, b'"Y\rz"', b"Y\r", b'"Y"\r', b'"Y\r\nz"'):
            rows = [b"id,town,n", *(b"%d,Bath,1" % i for i in range(100)), b"777," + cell + b",1", b"778,Bath,1"]
            (tmp_path / "p.csv").write_bytes(ends.join(rows) + ends)
            found = counted(tmp_path / "p.csv", "town=Bath,other", unreadable="0", person=person)
            assert found == {"Bath": 101, "other": 1}, (ends, cell)
    (tmp_path / "p.csv").write_bytes(b"\r".join([b"id,town", b"1,Bath", b"2,York"]) + b"\r")
    assert counted(tmp_path / "p.csv", "town", person=person) == {"Bath": 1, "York": 1}  # here they end lines


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    "first", [b"1\r,York,1", b"1,Yo\rrk,1", b"1,York,1\r", b"1,Y\r9,Bath,1\r8,Bath,1", b'1,"Y\rz",1']
)
def test_59_without_a_header_the_first_record_decides_nothing_about_the_others(
    first: bytes, ends: bytes, tmp_path: Path
) -> None:
    """Wherever a carriage return stands in it: theirs are read as before, also those with one of their own."""
    others = [*(b"%d,Bath,1" % i for i in range(10, 110)), b"777,Lee\rds,1", b'778,"Lee\rds",1', b"779,Leeds\r,1"]
    for rows in ([first, *others], [b"1,York,1", *others], [*others, first]):
        (tmp_path / "p.csv").write_bytes(ends.join(rows) + ends)
        found = counted(tmp_path / "p.csv", "town=Bath,other", unreadable="0", no_header="id,town,n")
        assert found == {"Bath": 100, "other": 4}, rows[0]


def test_the_counts_are_the_same_whether_it_looks_or_not(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 13},{'ab'[i % 2]}\n" for i in range(300))
    (tmp_path / "p.csv").write_text(f"id,x,y\n{rows},,\n")
    by = tuple(map(parse, ("x:0..10:2", "y", "id:[0,50,500),null")))
    found = [
        open_source(tmp_path / "p.csv", unreadable=share).count(CountQuery(axes=by), ScriptedSource())
        for share in (1, "0.5")
    ]
    assert found[0].codes.tolist() == found[1].codes.tolist()
    assert found[0].counts.tolist() == found[1].counts.tolist()
    assert found[0].found == found[1].found


def test_a_record_with_a_cell_that_is_no_number_is_still_a_record(tmp_path: Path) -> None:
    """DuckDB has the reader of a CSV cast a column that is only cast, and drops what cannot be."""
    (tmp_path / "p.csv").write_text("id,x\n" + "".join(f"{i},{'Ann' if i % 2 else 3}\n" for i in range(100)))
    for by in ("x:0..10:10,other", "x:[0,10),other", "x:[-inf,inf),other"):
        assert sorted(counted(tmp_path / "p.csv", by).values()) == [50, 50]
    day = CountQuery(axes=(parse("x:day:2024-01-01..2024-01-02,other"),), everybody=True)
    assert open_source(tmp_path / "p.csv").count(day, ScriptedSource()).counts.tolist() == [100]


def test_a_frame_is_held_to_it_too() -> None:
    with pytest.raises(Refused):
        open_frame(column("a", "b"), unreadable=Fraction(1, 100)).count(
            CountQuery(axes=(parse("x:0..10:1"),)), ScriptedSource()
        )
