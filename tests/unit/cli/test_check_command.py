"""``hubbub check``: a private look for the steward, which enters and writes nothing."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.check import PRIVATE
from hubbub.cli.main import commands
from hubbub.ledger.ledger import Ledger
from hubbub.tables.bins import parse

TOWNS = ("Bath",) * 40 + ("York",) * 30 + ("Orléans",) * 8 + ("Ely",) * 2


def table(pay: str = "${i},314.00", hired: str = "03/{day:02d}/2013", rows: int = 2) -> str:
    lines = ["id,town,pay,hired"]
    for i, town in enumerate(TOWNS):
        cells = (pay.format(i=i + 10), hired.format(day=i % 28 + 1))
        lines += [f'{i},{town},"{cells[0]}",{cells[1]}'] * rows
    return "\n".join(lines) + "\n"


def look(file: Path, *words: str) -> Result:
    return CliRunner().invoke(commands, ["check", str(file), *words])


def written(folder: Path, text: str | bytes, name: str = "people.csv") -> Path:
    place = folder / name
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def test_a_range_is_read_like_bins_and_a_mean_is_proposed(tmp_path: Path) -> None:
    """Cells that no range can read were not told, and a histogram was proposed."""
    done = look(
        written(tmp_path, table(rows=1)),
        "--person",
        "id",
        "--by",
        "town=Bath,York,null,other",
        "--of",
        "pay:0..99000:1000",
    )
    assert "pay:0..99000:1000: 80 cannot be read as declared (100 %)." in done.stdout
    assert "can be read with money after the range" in done.stdout
    assert " mean " in done.stdout
    (proposed,) = (line for line in done.stdout.splitlines() if line.startswith("You could run: "))
    words = shlex.split(proposed.removeprefix("You could run: "))
    assert words[:3] == ["hubbub", "release", "mean"]
    assert words[words.index("--of") + 1] == "pay:0..99000:1000,money"
    released = CliRunner().invoke(commands, [*words[1:-1], str(tmp_path / "out")])
    assert released.exit_code == 0, released.output


def test_it_says_first_that_it_is_private_and_leaves_nothing(tmp_path: Path, own_ledger: Path) -> None:
    file = written(tmp_path, table())
    for words in ((), ("--person", "id", "--by", "town"), ("--by", "nothing"), ("--by", "pay:0..9:1", "--json")):
        done = look(file, *words)
        if "--json" in words:
            assert json.loads(done.stdout)["private"] is True
        else:
            assert done.stdout.splitlines()[0] == PRIVATE
    assert list(tmp_path.iterdir()) == [file]
    assert list(own_ledger.rglob("*")) == []
    assert not Ledger().entries()


def test_the_steward_sees_what_bounds_on_rows_and_bins_would_keep(tmp_path: Path) -> None:
    """One person of each of 1 to 25 rows, the i-th of them in bin i: exact shares of rows, bins and people."""
    lines = [f"{person},{i}" for person in range(1, 26) for i in range(person)]
    file = written(tmp_path, "\n".join(["id,place", *lines]) + "\n")
    told = json.loads(look(file, "--person", "id", "--by", "place:0..30:1", "--json").stdout)["people"]
    for name, bound, kept in (("rows_kept", "rows_per_person", "rows"), ("bins_kept", "distinct", "bins")):
        assert [each[bound] for each in told[name]] == [1, 2, 3, 5, 10, 20, None]
        for each in told[name]:
            most = each[bound] or 25
            assert each["of"] == 325
            assert each[kept] == sum(min(person, most) for person in range(1, 26))
            assert each["people"] == most
    screen = look(file, "--person", "id", "--by", "place:0..30:1").stdout
    assert "a bound that is chosen by this leaks it" in " ".join(screen.split())
    assert "63.1 %" in next(line for line in screen.splitlines() if line.split()[:1] == ["10"] and "of people" in line)


def test_unreadable_cells_are_counted_masked_and_the_remedy_works(tmp_path: Path) -> None:
    file = written(tmp_path, table())
    asked = ("--person", "id", "--by", "pay:0..100000:10000,null", "--by", "hired:month:2013-01..2013-12", "--json")
    told = json.loads(look(file, *asked).stdout)
    pay, hired = told["columns"]
    assert (told["rows"], pay["unreadable"], pay["missing"], pay["outside"]) == (160, 160, 0, 0)
    assert pay["shapes"] == [["$99,999.99", 160]]
    assert (pay["reads"], hired["reads"]) == ("money", "date=%m/%d/%Y")
    people = {name: told["people"][name] for name in ("column", "people", "rows_without", "people_by_rows")}
    assert people == {"column": "id", "people": 80, "rows_without": 0, "people_by_rows": {"2": 80}}
    assert "--by pay:0..100000:10000,money,null --by hired:month:2013-01..2013-12,date=%m/%d/%Y" in told["command"]
    assert "--person id --distinct 3 " in told["command"]
    assert not any(cell in look(file, *asked[:-1]).stdout for cell in ("$10,314", "03/01/2013", "03/14"))


def test_the_shares_shown_are_those_of_the_counts(tmp_path: Path) -> None:
    told = json.loads(look(written(tmp_path, table(rows=1)), "--person", "id", "--by", "town", "--json").stdout)
    everybody = {each["crowd"]: (each["bins"], each["people"]) for each in told["shown"] if each["sample"] == "1"}
    assert everybody == {5: (0.75, 78 / 80), 10: (0.5, 70 / 80), 20: (0.5, 70 / 80), 50: (0, 0)}
    half = {each["crowd"]: each["people"] for each in told["shown"] if each["sample"] == "1/2"}
    # Bin(40, 1/2) >= 20 with chance 0.5627 and Bin(30, 1/2) >= 20 with chance 0.04937
    assert half[20] == pytest.approx((40 * 0.562685 + 30 * 0.0493686) / 80, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        (table().encode("latin-1"), ("--by", "town"), "16 records are left out: a cell that is not in the file's"),
        (table() + "99,Bath\n" * 3, ("--by", "town"), "3 records are left out: too few cells."),
        (table() + ",Bath,5,6\n" * 3, ("--person", "id", "--by", "town"), "3 rows have no id"),
        (table(), ("--by", "town=Bath,York"), "town=Bath,York: 20 in no listed bin (12.5 %)."),
        (table(), (), "date=%m/%d/%Y"),
        (table(pay="55.3{i},5"), ("--by", "pay:0..100000:10000"), "can be read with decimal=, after the bins"),
        (table(pay="Ann Smith"), ("--by", "pay:0..100000:10000"), "look like Xxx Xxxxx (160)"),
        (table(rows=1), ("--person", "id", "--by", "town"), "80 people by id, each with one row."),
        ("id,town,Town\n1,a,b\n", (), "town#1  0        about 1"),
        ("id;town\n1;a\n", (), "Cells are separated by a semicolon"),
    ],
)  # fmt: skip
def test_what_is_left_out_is_told_by_rule(tmp_path: Path, text: str | bytes, words: tuple[str, ...], says: str) -> None:
    done = look(written(tmp_path, text), *words)
    assert says in done.stdout
    assert done.stdout.startswith(PRIVATE)


def test_a_proposed_command_can_be_parsed_and_names_no_value_of_the_data(tmp_path: Path) -> None:
    told = json.loads(look(written(tmp_path, table()), "--json").stdout)
    spec = told["command"].split("--by ")[1].split(" --")[0]
    assert parse(spec).column == "town"
    assert not any(town in told["command"] for town in TOWNS)


def test_parquet_and_several_files_are_looked_at_where_they_are(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"age": [1, 2, None, 400], "town": ["a", "b", "b", None]}), tmp_path / "p.parquet")
    told = json.loads(look(tmp_path / "p.parquet", "--by", "age:0..100:10", "--by", "town", "--json").stdout)
    assert [each.get("missing") for each in told["columns"]] == [1, 1]
    assert told["columns"][0]["outside"] == 1


def test_61_the_steward_is_told_the_line_of_an_open_quotation_mark(tmp_path: Path) -> None:
    """The refusal reads the same for every file; the look says where."""
    rows = [f"{i},Bath" for i in range(600)]
    rows[500] = '500,"Bath'
    (tmp_path / "people.csv").write_text("id,town\n" + "\n".join(rows) + "\n")
    told = look(tmp_path / "people.csv")
    assert told.exit_code == 3
    assert "on line 502 of" in told.output
    words = ["release", "histogram", str(tmp_path / "people.csv"), "--person", "id", "--by", "town=Bath"]
    made = CliRunner().invoke(commands, [*words, "--epsilon", "1", "--out", str(tmp_path / "o")])
    assert made.exit_code == 3
    assert "502" not in made.output
    assert not Ledger().entries()


SPELT = "id,town,pay,born\n" + "".join(
    f"{i},{town},{i},{1950 + i % 50}-05-01\n"
    for i, town in enumerate(["bath"] * 5 + ["Bath "] * 3 + ["BA TH"] * 2 + ["York"] * 30 + ["Oslo"])
)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--by", "town=Bath,York"), "10 cells differ from Bath in capitals or blanks alone"),
        (("--by", "town=Bath,York,other"), "10 cells differ from Bath in capitals or blanks alone"),
        (("--by", "town=York,Ely,Wells"), "town=York,Ely,Wells: no cell is Ely, Wells."),
        (("--by", "town=Ely"), "town=Ely: no cell lies in any of these bins."),
        (("--by", "pay:1000..2000:100"), "pay:1000..2000:100: no cell lies in any of these bins."),
        (("--by", "born:year:2024..2025"), "born:year:2024..2025: no cell lies in any of these bins."),
        (("--of", "pay:1000..2000:1"), "every value lies outside of this range"),
        (("--of", "pay:0..20:1"), "20 of 41 values lie outside of this range."),
        (("--where", "town = bATH"), "Nobody meets the condition"),
        (("--where", "town = York", "--person", "id"), "30 people meet the condition."),
        (("--where", "pay >= 11", "--by", "town=York", "--rows-are-people"), "30 rows meet the condition."),
    ],
)  # fmt: skip
def test_where_what_is_declared_and_the_data_do_not_meet_the_steward_is_told(
    tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    done = look(written(tmp_path, SPELT), *words)
    assert done.exit_code == 0, done.output
    assert says in " ".join(done.stdout.split())
    assert "Oslo" not in done.stdout, "a value that nobody declared"
    told = json.loads(look(written(tmp_path, SPELT), *words, "--json").stdout)
    assert told["private"] is True


def test_where_all_meets_nothing_is_said(tmp_path: Path) -> None:
    words = ("--by", "town=York,Oslo", "--of", "pay:0..100:1", "--where", "town = York", "--json")
    assert json.loads(look(written(tmp_path, SPELT), *words).stdout)["misses"] == []


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("by", ["town", "town=Bath,York,other"])
def test_what_is_proposed_can_be_followed_by_other_releases(tmp_path: Path, rows: int, by: str) -> None:
    """And is promised to people, not to the rows that were kept of them; crowds are named as the choice they are."""
    file = written(tmp_path, table(rows=rows))
    told = json.loads(look(file, "--person", "id", "--by", by, "--json").stdout)
    assert "--crowd" not in told["command"]
    assert "--crowd K" in look(file, "--person", "id", "--by", by).stdout
    for out in ("one", "two"):
        words = [*shlex.split(told["command"])[1:-1], str(tmp_path / out)]
        made = CliRunner().invoke(commands, [*words, "--json"])
        assert made.exit_code == 0, made.output
        promised = json.loads(made.stdout)["guarantees"]
        assert any("differential" in str(each) and "kept rows" not in str(each) for each in promised)
    assert len(Ledger().account("people").spent_releases) == 2


def test_61_the_steward_is_told_of_rows_that_two_stray_marks_made_one_cell(tmp_path: Path) -> None:
    lines = [f"p{i},Bath,2024-01-{1 + i % 28:02d}" for i in range(60)]
    lines[10], lines[40] = lines[10].replace(",2024", ',"2024'), f'{lines[40]}"'
    file = written(tmp_path, "id,town,day\n" + "\n".join(lines) + "\n")
    told = " ".join(look(file).stdout.split())
    assert "30 rows are read." in told
    assert "1 cell runs over several lines" in told
    assert "the longest over 31 from line 12 on" in told
    lines[10], lines[40] = lines[10].replace('"', ""), lines[40].replace('"', "")
    whole = look(written(tmp_path, "id,town,day\n" + "\n".join(lines) + "\n", "whole.csv")).stdout
    assert "several lines" not in whole


def test_no_release_is_proposed_of_bins_with_nobody_in_them(tmp_path: Path) -> None:
    file = written(tmp_path, "id,town\n" + "".join(f"p{i},Bath\n" for i in range(60)))
    told = json.loads(look(file, "--by", "town=bath,york", "--json").stdout)
    assert told["command"] is None
    assert "You could run" not in look(file, "--by", "town=bath,york").stdout
    assert json.loads(look(file, "--by", "town=Bath,York", "--json").stdout)["command"] is not None


def test_where_rows_are_taken_for_people_the_steward_is_told_of_the_other_way(tmp_path: Path) -> None:
    file = written(tmp_path, "who,town\n" + "".join(f"p{i % 20},{'Bath' if i % 3 else 'York'}\n" for i in range(60)))
    assert "--person COLUMN" in look(file).stdout
    assert "--person COLUMN" not in look(file, "--person", "who").stdout


def test_check_in_the_place_of_release_histogram_takes_the_same_words(tmp_path: Path) -> None:
    """Whoever has a release at hand checks it by changing two words; what a look has no use for is told."""
    file = written(tmp_path, table(rows=1))
    done = look(
        file,
        *("--rows-are-people", "--by", "town=Bath,York", "--epsilon", "1", "--delta", "1e-6"),
        *("--out", "o", "--explain", "--dry-run", "--yes", "--dataset", "d"),
    )
    assert done.exit_code == 0, done.output
    assert "town=Bath,York" in done.stdout
    assert "Each row is taken for another person here" not in done.stdout
    assert done.stderr == ("Note: a look has no use for --dataset, --dry-run, --explain, --yes; the release will.\n")
    wrong = look(file, "--rows-are-people", "--epsilom", "1")
    assert (wrong.exit_code, wrong.stderr.startswith("hubbub: no such option '--epsilom'. ")) == (2, True)
    both = look(file, "--rows-are-people", "--person", "id")
    assert both.stderr == "hubbub: --person and --rows-are-people exclude each other; keep the one that applies\n"


def test_check_takes_every_option_that_a_release_of_a_table_has(tmp_path: Path) -> None:
    from hubbub import registry
    from hubbub.cli.check import check
    from hubbub.cli.release import command

    file = written(tmp_path, table(rows=1))
    for kind in (registry.kind(name) for name in registry.names()):
        for param in command(kind).params if kind.data == "table" else ():
            if param.param_type_name == "option":
                values = ["1"] * (0 if getattr(param, "is_flag", False) else param.nargs)
                context = check.make_context("check", [str(file), param.opts[0], *values])
                assert param.name in context.params, param.opts


def test_a_column_that_says_by_its_name_who_a_row_is_about_is_taken_so(tmp_path: Path) -> None:
    """Visits taken for people would be published, and paid for, as people."""
    file = tmp_path / "visits.csv"
    rows = "".join(f"P{n % 60},{'North' if n % 3 else 'South'}\n" for n in range(120))
    file.write_text(f"Patient_ID,ward\n{rows}")
    for more in ((), ("--by", "ward=North,South")):
        told = look(file, *more).stdout
        assert "the column Patient_ID says who a row is about" in told.replace("\n", " ")
        assert "60 people by Patient_ID: 60 have several rows" in told
        command = json.loads(look(file, *more, "--json").stdout)["command"]
        assert command == json.loads(look(file, *more, "--person", "Patient_ID", "--json").stdout)["command"]
        assert f"--person Patient_ID --distinct {2 if more else 3} " in command
        assert "--one-row-per-person" not in command, "one random ward of each is not who was ever there"
        assert f"put --rows-per-person 3 in place of --distinct {2 if more else 3}" in told.replace("\n", " ")
    command = json.loads(look(file, "--rows-are-people", "--json").stdout)["command"]
    assert "--rows-are-people" in command
    assert "--yes" in command, "or the release would be refused"


def test_a_misspelt_bin_is_pointed_out_without_a_cell(tmp_path: Path) -> None:
    file = tmp_path / "staff.csv"
    file.write_text("dept,pay,office no\n" + "Finance,$1000,7\n" * 40 + "Sales,$900,8\n" * 30)
    told = look(file, "--rows-are-people", "--by", "dept=Finanse,Sales,Garden").stdout.replace("\n", " ")
    assert "no cell is Finanse, but 40 read much like it; is it misspelt?" in told
    assert "no cell is Garden." in told
    assert "Finance" not in told


def test_the_command_that_is_proposed_keeps_the_promise_and_says_how_numbers_are_read(tmp_path: Path) -> None:
    file = tmp_path / "staff.csv"
    file.write_text("office no,full name,dept,pay\n" + "".join(f"{n},A{n % 9},B{n % 3},${n}.00\n" for n in range(90)))
    told = look(file, "--rows-are-people", "--epsilon", "0.5", "--out", "here").stdout.replace("\n", " ")
    assert "--by dept --epsilon 0.5 --delta 1e-9 --out here" in told
    mean = (
        f"hubbub release mean {file} --rows-are-people --of pay:LOW..HIGH:STEP,money --epsilon 0.5 --out here (or sum"
    )
    assert mean in told
    assert "--by COLUMN=a,b,c. No mean is told of groups that were found" in told
    assert "without --delta no bin is hidden" in told


def test_a_look_finds_the_separator_that_a_release_is_told(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text("VisitID;ward;minutes\n" + "".join(f"{n};{'AB'[n % 2]};{n % 77}\n" for n in range(90)))
    told = look(file, "--rows-are-people").stdout.replace("\n", " ")
    assert "Cells are separated by a semicolon" in told
    assert f"hubbub describe {file} --delimiter semicolon" in told
    assert f"hubbub release histogram {file} --rows-are-people --by ward" in told
    assert "--rows-are-people --of minutes:LOW..HIGH:STEP --epsilon 1 --out mean/" in told, "and not of ids"


@pytest.mark.parametrize("name", ["patient_nbr", "nhs_number", "bioguide_id", "kartei_nr"])
def test_who_has_several_rows_by_an_id_is_no_row(tmp_path: Path, name: str) -> None:
    rows = "".join(f"{i},{1000 + i % 140},{'Bath' if i % 3 else 'York'},{i % 7},{i % 40}\n" for i in range(200))
    file = written(tmp_path, f"encounter_id,{name},town,admission_type_id,stay\n{rows}")
    told = look(file).stdout
    assert f"--person {name} --distinct 3 --by town" in told
    assert f"mean {file} --person {name} --rows-per-person 3 --of stay:LOW..HIGH:STEP" in told, "and no id is averaged"
    rows_told = look(file, "--rows-are-people").stdout
    assert "--rows-are-people --by" in rows_told
    asked = name in ("patient_nbr", "nhs_number")  # by their names alone, as a release does
    assert ("--yes" in rows_told, f"{name} may say who" in rows_told) == (asked, asked)
    assert f"{name} --distinct" in look(file, "--by", "town=Bath,York").stdout


def test_a_number_of_something_else_is_nobody(tmp_path: Path) -> None:
    rows = "".join(f"{i % 90},{i % 60},{'Bath' if i % 3 else 'York'}\n" for i in range(200))
    told = look(written(tmp_path, f"house_number,number_of_rooms,town\n{rows}")).stdout
    assert "--rows-are-people --by town" in told
