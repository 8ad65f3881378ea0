"""Several files, folders and archives in one count, and what was understood of them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.voting.formats.formats import strict
from hubbub.voting.formats.several import read_all
from hubbub.voting.formats.understanding import understanding_of
from tests.unit.cli.answers import one_object, one_sentence

ONE = "id,rank1,rank2\n" + "".join(f"{i},Ann,Bob\n" for i in range(3)) + "3,Bob,undervote\n"
OTHER = "id,rank1,rank2\n" + "".join(f"{i},Cid,Ann\n" for i in range(10, 12)) + "12,Bob,Ann\n"
BLT = '2 1\n3 1 2 0\n2 2 0\n0\n"Ann"\n"Bob"\n"A ward"\n'


def written(folder: Path, files: dict[str, str]) -> list[Path]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def packed(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_files_folders_and_archives_give_the_same_ballots(tmp_path: Path) -> None:
    files = {"a/one.csv": ONE, "a/b/other.csv": OTHER}
    paths = written(tmp_path, files)
    archive = packed(tmp_path / "all.zip", files)
    wanted = {("Ann", "Bob"): 3, ("Bob",): 1, ("Cid", "Ann"): 2, ("Bob", "Ann"): 1}
    for given in (paths, paths[::-1], tmp_path / "a", [archive]):
        read = strict(read_all(given))
        assert read.ballots.candidates == ("Ann", "Bob", "Cid")
        assert read.ballots.counts() == wanted


def test_what_is_no_ballot_is_left_out_and_told(tmp_path: Path) -> None:
    written(tmp_path, {"a/one.csv": ONE, "a/notes.pdf": "x", "a/.hidden.csv": "x"})
    read = strict(read_all(tmp_path / "a"))
    assert "left out, being no ballots: notes.pdf" in read.remarks
    assert "Odd: left out, being no ballots: notes.pdf." in understanding_of(read).sentences()


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"a.csv": ONE, "b.csv": ONE}, "b.csv holds the same as a.csv"),
        ({"a.csv": ONE, "b.csv": "id,rank1,rank2\n1,Dee,Eve\n2,Eve,\n"}, "other candidates than the other files"),
        ({"a.blt": BLT, "b.blt": BLT.replace("A ward", "B ward")}, "contest 'A ward' and b.blt 'B ward'"),
        ({"a.blt": BLT, "b.blt": BLT.replace("2 1\n", "2 2\n", 1)}, "number of seats '1' and b.blt '2'"),
        ({"a.blt": BLT, "b.blt": BLT.replace("Bob", "Dee")}, "other candidates than the other files"),
        ({"a.txt": "x\n"}, "."),
    ],
)
def test_files_of_different_contests_are_not_counted_together(
    tmp_path: Path, files: dict[str, str], sentence: str
) -> None:
    with pytest.raises(WrongUse, match=sentence):
        strict(read_all(written(tmp_path, files)))


def test_an_archive_that_is_cut_short_or_climbs_out_is_refused_or_kept_inside(tmp_path: Path) -> None:
    archive = packed(tmp_path / "all.zip", {"../../one.csv": ONE})
    assert strict(read_all(archive)).ballots.voters == 4
    assert not (tmp_path.parent / "one.csv").exists()
    whole = archive.read_bytes()
    for share in (0.1, 0.5, 0.9):
        archive.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(WrongUse, match="whole"):
            read_all(archive)
    with pytest.raises(WrongUse, match="no file of ballots"):
        read_all(packed(tmp_path / "none.zip", {"readme.pdf": "x"}))


def test_dominions_archive_is_read_as_its_folder(tmp_path: Path) -> None:
    marks = [{"CandidateId": code, "Rank": rank, "IsAmbiguous": False} for rank, code in enumerate(("1", "2"), 1)]
    session = {
        "TabulatorId": 1,
        "BatchId": 1,
        "RecordId": 1,
        "Original": {"PrecinctPortionId": 1, "Cards": [{"Contests": [{"Id": "7", "Marks": marks}]}]},
    }
    people = [{"Id": str(i), "Description": name, "ContestId": "7"} for i, name in enumerate(("Ann", "Bob"), 1)]
    files = {
        "x/CvrExport_1.json": json.dumps({"Sessions": [session]}),
        "x/CvrExport_2.json": json.dumps({"Sessions": [session | {"RecordId": 2}]}),
        "x/ContestManifest.json": json.dumps({"List": [{"Id": "7", "Description": "Mayor", "VoteFor": 1}]}),
        "x/CandidateManifest.json": json.dumps({"List": people}),
    }
    read = strict(read_all(packed(tmp_path / "cvr.zip", files)))
    assert (read.title, read.ballots.counts()) == ("Mayor", {("Ann", "Bob"): 2})


def test_the_command_says_what_was_understood_counts_and_counts_again(tmp_path: Path) -> None:
    one, other = map(str, written(tmp_path, {"one.csv": ONE, "other.csv": OTHER}))
    run = CliRunner()
    dry = one_object(run.invoke(commands, ["vote", "tally", one, other, "--dry-run", "--json"]))
    assert (dry["understood"]["ballots"], dry["understood"]["candidates"]) == (7, ["Ann", "Bob", "Cid"])
    assert "winner" not in json.dumps(dry)
    told = run.invoke(commands, ["vote", "tally", one, other, "--dry-run"]).stdout
    assert "7 ballots with ranks" in told
    assert "Nothing was counted" in told
    counted = run.invoke(commands, ["vote", "tally", one, other, "--rule", "plurality", "--ties", "listed"])
    assert counted.stderr.startswith("Understood: 7 ballots with ranks, read as csv-columns, for Ann, Bob, Cid.")
    record, ledger = str(tmp_path / "count.json"), str(tmp_path / "ledger.db")
    arguments = ["--rule", "instant-runoff", "--dice", "swans", "--record", record, "--ledger", ledger, "--json"]
    answer = one_object(run.invoke(commands, ["vote", "tally", one, other, *arguments]))
    assert answer["understood"] == dry["understood"]
    check = ["verify", record, "--key", answer["public_key"], "--json"]
    assert one_object(run.invoke(commands, [*check, "--ballots", other, "--ballots", one]))["whole"]
    failed = run.invoke(commands, [*check, "--ballots", one])
    assert (failed.exit_code, "digests differ" in failed.stdout) == (4, True)
    one_sentence(run.invoke(commands, ["vote", "tally", one, one]), 2, "holds the same as")


def test_scores_of_several_files_stand_on_one_scale(tmp_path: Path) -> None:
    """North scores up to 300 and south up to 3: each on its own scale would give south's 3 for 300, and levels beyond 127
    would not fit into a byte."""
    files = {"north.csv": "Ann,Bob,Cid\n300,0,9\n", "south.csv": "Ann,Bob,Cid\n,3,1\n0,2,\n"}
    together = ["Ann,Bob,Cid", *(line for text in files.values() for line in text.splitlines()[1:])]
    paths = written(tmp_path, files | {"both.txt": "\n".join(together) + "\n"})
    words = ["vote", "tally", "--columns", "scores=Ann/Bob/Cid", "--rule", "score", "--json"]
    answers = [
        one_object(CliRunner().invoke(commands, [*words, *given]))
        for given in ([str(path) for path in paths[:2]], [str(paths[2]), "--format", "csv"])
    ]
    assert [answer["rounds"][0]["counts"] for answer in answers] == [{"Ann": 300, "Bob": 5, "Cid": 10}] * 2
    assert [remark for remark in answers[0]["remarks"] if "scores are" in remark] == [
        "scores are from 0 to 300, and the more the better"
    ]
