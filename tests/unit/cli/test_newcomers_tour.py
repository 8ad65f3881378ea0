"""A newcomer's tour of wrong and odd uses: each gets one clear sentence, sees no cell of the data, and spends nothing.

In each line stand the words (RH is ``release histogram``, +K is ``--crowd 5 --out o``), the exit code, and how the
sentence begins.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.ledger.ledger import Ledger

TOUR = """\
release histogram => 2 missing argument 'FILE'; see hubbub release
RH people.csv => 2 missing option '--out'; see hubbub release
RH people.csv --by town => 2 missing option '--out'; see hubbub release
RH people.csv --by town --crowd 5 => 2 missing option '--out'; see hubbub release
RH nowhere.csv --by town +K => 2 there is no file 'nowhere.csv': it does not
RH . --by town +K => 2 there is no file '.': it is a folder; check the
RH people.txt.zip --by town +K => 2 a table is read from .csv, .tsv, .txt (also
RH people.doc --by town +K => 2 a table is read from .csv, .tsv, .txt (also
RH empty.csv --by town +K => 2 the first line of a CSV names its columns, in
RH blank.csv --by town +K => 2 the first line of a CSV names its columns, in
RH headless.csv --by town +K => 2 there is no column 'town'; the first line of
describe headless.csv --no-header id,,town --out o.json => 2 a file whose first line is data needs a name
describe headless.csv --no-header => 2 option '--no-header' requires an argument; see
RH semicolon.csv --by town +K => 2 the first line has no comma in it but a
RH tabs.csv --by town +K => 2 the first line has no comma in it but a tab,
RH pipes.csv --by town +K => 2 the first line has no comma in it but a pipe,
describe people.csv --delimiter :: --out o.json => 2 cells are separated by one of , ; | or tab and
RH latin.csv --by town +K => 3 too many people have a value
describe latin.csv --encoding klingon --out o.json => 2 encoding must be utf-8, utf-16 or one of single
describe latin.csv --encoding utf-32 --out o.json => 2 encoding must be utf-8, utf-16 or one of single
RH utf32.csv --by town +K => 2 the first line of a CSV names its columns, in
RH short.csv --by town +K => 3 too many people have a value
RH twice.csv --by town +K => 2 2 columns are called 'town'; say which: 'town#1' or 'Town#2'
RH fake.csv.gz --by town +K => 2 the file 'fake.csv.gz' cannot be read as what
RH fake.csv.zst --by town +K => 2 the file 'fake.csv.zst' cannot be read as what
RH fake.parquet --by town +K => 2 the table could not be read; check that the
RH fake.xlsx --by town +K => 2 the Excel file could not be read; check that it
RH fake.duckdb --by town +K => 2 a DuckDB database needs the name of a table;
RH fake.duckdb --table people --by town +K => 2 the database could not be opened; check that it
RH people.csv --table people --by town +K => 2 a .csv file holds one table; drop --table
describe people.parquet --delimiter ; --out o.json => 2 a .parquet file says itself how it is read;
describe people.parquet --encoding latin-1 --out o.json => 2 a .parquet file says itself how it is read;
RH people.csv --by city +K => 2 there is no column 'city'; the first line of
RH people.parquet --by city +K => 2 there is no column 'city'; there are 'line',
RH people.csv --by Town +K => 2 there is no column 'Town'; did you mean 'town'? The first line of
RH people.csv --by  +K => 2 a bin specification names a column, like
RH people.csv --by = +K => 2 a bin specification names a column, like
RH people.csv --by town= +K => 2 a value of town is empty; write town=a,b, and
RH people.csv --by town=Bath,Bath +K => 2 the values of town are listed twice somewhere;
RH people.csv --by town=Bath,,York +K => 2 a value of town is empty; write town=a,b, and
RH people.csv --by town=@nowhere.txt +K => 2 the values of town cannot be read from
RH people.csv --by town=@empty.csv +K => 2 a file with the values of town has one on each
RH people.csv --by town=other,"other +K => 2 a value of town with a " in it is written
RH people.csv --by age:0-100:10 +K => 2 the bins of age are written age:0..100:10,
RH people.csv --by age:0..100 +K => 2 the bins of age are written age:0..100:10,
RH people.csv --by age:0..100:0 +K => 2 the width of age must be above 0, not 0
RH people.csv --by age:0..100:7 +K => 2 the range of age from 0 to 100 is no whole
RH people.csv --by age:100..0:10 +K => 2 the range of age ends at 0, not above its
RH people.csv --by age:0..100:-10 +K => 2 the width of age must be above 0, not -10
RH people.csv --by age:a..b:c +K => 2 a bound of age must be a number like 0.1, 1/3
RH people.csv --by age:[0,50,20) +K => 2 the edges of age must grow, like
RH people.csv --by age:[0,50] +K => 2 edges of age are written
RH people.csv --by age:(0,50) +K => 2 the bins of age are written age:0..100:10,
RH people.csv --by age:[) +K => 2 an edge of age must be a number like 0.1, 1/3
RH people.csv --by age:0..1000000000:1 +K => 2 the range of age has more than 10,000,000
RH people.csv --by age:decade +K => 2 the bins of age are written age:0..100:10,
RH people.csv --by hired:week +K => 2 the bins of hired are written hired:0..100:10,
RH people.csv --by hired:month:2013..2012 +K => 2 the span of hired must not end before it
RH people.csv --by hired:month:2013-13..2014-01 +K => 2 a date of hired is written 2024, 2024-01 or
RH people.csv --by hired:month:March +K => 2 a span of dates is written
RH people.csv --by hired:month,null +K => 2 hired:month without a span finds its bins in
RH people.csv --by hired:month:2013..2014 +K => 3 too many people have a value
RH people.csv --by hired:month:2013..2014,date=%d.%m.%Y +K => 3 too many people have a value
RH people.csv --by hired:month:2013..2014,date=MM/DD/YYYY +K => 2 the pattern for dates of hired must say the
RH people.csv --by hired:month:2013..2014,date=%X +K => 2 the pattern for dates of hired may have %d %m
RH people.csv --by hired:month:2013..2014,money +K => 2 the dates of hired are no money; say how they
RH people.csv --by pay:0..250000:10000 +K => 3 too many people have a value
RH people.csv --by pay:0..250000:10000,decimal=, +K => 3 too many people have a value
RH people.csv --by pay:0..250000:10000,decimal=; +K => 2 numbers of pay are read as money or with
RH people.csv --by pay:0..250000:10000,euro +K => 2 numbers of pay are read as money or with
RH people.csv --by town:0..100:10 +K => 3 too many people have a value
RH people.csv --by town:month +K => 3 too many people have a value
RH people.csv --by town:boolean +K => 3 too many people have a value
RH people.csv --by smoker:boolean,money +K => 2 booleans are read in every way that is usual;
RH people.parquet --by age:0..100:10,money +K => 2 the column age holds whole numbers, which are
RH people.parquet --by age:month +K => 2 the column age holds whole numbers and not
RH people.parquet --by smoker=yes,no +K => 2 the column smoker holds booleans, whose values
RH people.parquet --by smoker:0..1:1 +K => 2 the column smoker holds booleans and cannot be
RH people.csv --by town --by town +K => 2 each column can be used once; combine its bins
describe people.csv --unreadable 2 --out o.json => 2 unreadable must lie between 0 and 1, not 2;
describe people.csv --unreadable many --out o.json => 2 unreadable must be a number like 0.1, 1/3 or
describe people.csv --unreadable -1 --out o.json => 2 unreadable must lie between 0 and 1, not -1;
RH people.csv --by town --crowd 1 --out o => 2 --crowd must be a whole number of at least 2, not 1
RH people.csv --by town --crowd five --out o => 2 --crowd must be a number like 0.1, 1/3 or 1e-6, not
RH people.csv --by town --crowd 5.5 --out o => 2 --crowd must be a whole number of at least 2, not 11/2
RH people.csv --by town --epsilon 1 --out o => 3 bins may be found in the data only where an
RH people.csv --by town=Bath,York --epsilon -1 --out o => 2 epsilon must lie between 0.000001 and 50 for
RH people.csv --by town=Bath,York --epsilon 0 --out o => 2 epsilon must lie between 0.000001 and 50 for
RH people.csv --by town=Bath,York --epsilon one --out o => 2 --epsilon must be a number like 0.1, 1/3 or 1e-6,
RH people.csv --by town --crowd 5 --sample 2 --out o => 2 sample must lie between 0 and 1, not 2; leave
RH people.csv --by town --crowd 5 --sample 20% --out o => 2 sample must be a number like 0.1, 1/3 or 1e-6,
RH people.csv --by town --crowd 5 --scale-up --out o => 2 --scale-up needs the rate at which people are
RH people.csv --by town --crowd 5 --collected 0.5 --sample 0.5 --out o => 2 no such option '--collected' here: hubbub describe takes --collected
RH people.csv --by town --crowd 5 --coverage 95 --out o => 2 coverage must lie between 0 and 1, not 95;
RH people.csv --by town --crowd 5 --at-delta 0 --out o => 2 at-delta must be above 0, not 0
RH people.csv --by town --crowd 5 --mechanism k=5 --out o => 2 --mechanism says how all counts are drawn; drop --crowd
RH people.csv --by town --mechanism magic --out o => 2 there is no channel 'magic'; choose one of
RH people.csv --by town --outlier 1:2:3 --out o => 2 the step at 1 must be a number like 0.1, 1/3 or
RH people.csv --by town --crowd 5 --person who --out o => 2 there is no column 'who'; the first line of the
RH people.csv --by town --crowd 5 --person town --out o => 3 the table does not have exactly one row for
RH people.csv --by town --crowd 5 --one-row-per-person --out o => 2 choosing among a person's rows needs the person
RH people.csv --by town --crowd 5 --person line --distinct 0 --out o => 2 distinct must be a whole number of at least 1,
RH people.csv --by town --crowd 5 --person line --distinct 2 --one-row-per-person --out o => 2 --one-row-per-person and --distinct
RH people.csv --by town --crowd 5 --out people.csv => 2 a folder for releases can be written to, not so
RH people.csv --by town --crowd 5 --out published => 2 there is a release in 'published' already, and
RH people.csv --by town --crowd 5 --out published --format parquet => 2 there is a release in 'published' already, and
RH people.csv --by town --crowd 5 --out o --format xls => 2 format must be csv, parquet or xlsx, not 'xls'
RH people.csv --by town --crowd 5 --out o --seed 1 => 2 no such option '--seed'
RH people.csv people.parquet --by town +K => 2 got unexpected extra argument (people.parquet);
release histogramm people.csv --by town +K => 2 no such command 'histogramm'. Did you mean 'histogram'? see hubbub
relase histogram people.csv --by town +K => 2 no such command 'relase'. Did you mean
check => 2 missing argument 'FILE'; see hubbub check --help
check nowhere.csv => 2 there is no file 'nowhere.csv': it does not
check people.csv --by city => 2 there is no column 'city'; the first line of
check people.csv --person who => 2 there is no column 'who'; the first line of the
check people.csv --by age:0-100 => 2 the bins of age are written age:0..100:10,
check semicolon.csv --delimiter comma --by town => 2 there is no column 'town'; the first line
check twice.csv --by town => 2 2 columns are called 'town'; say which: 'town#1'
check fake.parquet => 2 the table could not be read; check that the
check people.csv --encoding klingon => 2 encoding must be utf-8, utf-16 or one of single
verify people.csv => 4 the certificate does not hold: canonical form
verify nowhere.json => 2 there is no certificate 'nowhere.json' that can
verify empty.csv => 4 the certificate does not hold: canonical form
explain people.csv => 4 the certificate does not hold, so it is not
ledger show nobody => 2 the ledger has no dataset 'nobody'; it is empty
ledger finish nowhere => 2 nothing in 'nowhere' was cut short; there is
ledger policy people --epsilon => 2 no such option '--epsilon'. Did you mean
ledger policy people --epsilon 1 => 2 no such option '--epsilon'. Did you mean
ledger check people.csv => 4 the certificate 'people.csv' is not JSON as
plan --want everything => 2 --want must be one of zero-knowledge (
plan --epsilon => 2 option '--epsilon' requires an argument; see
channel law --channel magic --counts 3 => 2 no such option '--counts'. Did you mean
channel profile --channel geometric => 2 missing option '--counts'; see hubbub channel
account nothing => 2 no such command 'nothing'; see hubbub account
trust add => 2 missing argument 'NAME'; see hubbub trust add
vote tally people.csv => 2 line 1: a CSV file of ballots needs columns
vote tally nowhere.blt => 2 the ballot file cannot be read: No such file or
graph plan nothing => 2 missing option '--vertices'; see hubbub graph
demo extra words => 2 got unexpected extra arguments (extra words);
"""
LINES = TOUR.splitlines()

NAMES = ("Zaphira", "Quillon", "Ottoline", "Bartleby")
TOWNS = ("Wexcombe", "Yarnfold", "Tuxwick")
HEAD = ("line", "name", "town", "age", "pay", "hired", "smoker")
ROWS = [
    (i, NAMES[i % 4], TOWNS[i % 3], 20 + i, f"${48_000 + i:,}.17", f"03/{i % 28 + 1:02d}/2013", ("TRUE", "f")[i % 2])
    for i in range(40)
]
CELLS = {*NAMES, *TOWNS, "W\u00e9xcombe", *(str(row[4]) for row in ROWS), *(str(row[5]) for row in ROWS)}
"""What must not be shown, but by hubbub check of the first line of a file."""


def text(mark: str = ",", *, header: bool = True) -> str:
    rows = [HEAD, *ROWS] if header else ROWS
    quoted = ([f'"{cell}"' if mark in str(cell) else str(cell) for cell in row] for row in rows)
    return "".join(mark.join(row) + "\n" for row in quoted)


def make_files(folder: Path) -> None:
    contents = {
        "empty.csv": b"",
        "blank.csv": b"\n\n",
        "french.toml": b'language = "fr"\n',
        "headless.csv": text(header=False).encode(),
        "semicolon.csv": text(";").encode(),
        "tabs.csv": text("\t").encode(),
        "pipes.csv": text("|").encode(),
        "latin.csv": text().replace("Wexcombe", "W\u00e9xcombe").encode("latin-1"),
        "utf32.csv": text().encode("utf-32"),
        "short.csv": (text() + "99,Zaphira\n" * 5).encode(),
        "twice.csv": b"id,town,Town\n1,Wexcombe,Yarnfold\n",
    }
    same = ("people.csv", "people.doc", "people.txt.zip", "fake.csv.gz", "fake.csv.zst", "fake.parquet", "fake.xlsx")
    for name, content in (contents | dict.fromkeys((*same, "fake.duckdb"), text().encode())).items():
        (folder / name).write_bytes(content)
    columns = {"line": 0, "town": 2, "age": 3}
    table = {name: [row[i] for row in ROWS] for name, i in columns.items()}
    pq.write_table(pa.table(table | {"smoker": [i % 2 == 0 for i in range(len(ROWS))]}), folder / "people.parquet")
    (folder / "published").mkdir()
    (folder / "published" / "release.csv").write_bytes(b"town,count\n")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tour")
    make_files(folder)
    return folder


@pytest.fixture
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    return place


def spoken(line: str) -> list[str]:
    """The words of a line; a release is told that each row is a person, unless somebody is named."""
    words = line.replace("RH ", "release histogram ", 1) if line.startswith("RH ") else line
    told = words.replace(" +K", " --crowd 5 --out o").split(" ")
    return (
        [*told, "--rows-are-people"]
        if told[0] in ("release", "relase") and "--out" in told and "--person" not in told
        else told
    )


def test_it_is_long_enough() -> None:
    assert len({line.split(" => ")[0] for line in LINES}) >= 120


@pytest.mark.parametrize("line", LINES)
def test_one_sentence_no_cell_nothing_spent(line: str, here: Path) -> None:
    check_line(line, here)


def check_line(line: str, here: Path) -> None:
    said, _, answer = line.partition(" => ")
    code, _, begins = answer.partition(" ")
    done = CliRunner().invoke(commands, spoken(said))
    assert isinstance(done.exception, SystemExit), done.exception  # and not a traceback
    assert done.exit_code == int(code), done.output
    (sentence,) = done.stderr.strip().splitlines()
    assert sentence.startswith(f"hubbub: {begins}")
    shown = done.stderr if said.startswith("check") else done.output
    assert not [cell for cell in CELLS if cell in shown]
    records = [record for account in Ledger().accounts().values() for record in account.records]
    assert not any(record.is_spent for record in records)
    assert not (here / "o").exists()
    assert [file.name for file in (here / "published").iterdir()] == ["release.csv"]
