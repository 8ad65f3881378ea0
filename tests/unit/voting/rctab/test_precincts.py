"""Counts by precinct from any table of ballots, and the files of a count by any rule."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.formats.formats import for_rule
from hubbub.voting.formats.several import read_all
from hubbub.voting.rctab.answer_rounds import answer_by_precinct, answer_rounds, vote_variation
from hubbub.voting.rules.rules import make
from hubbub.voting.rules.stv import TransferableVote
from tests.fuzz.ballot_readers import dominion
from tests.fuzz.ballot_tables import SHAPES, Table, counted, election, written
from tests.unit.cli.answers import one_object, one_sentence

WARDS = ("North", "South", "")


def with_wards(table: Table, shape: str, random: Random) -> tuple[Table, list[str]]:
    """The table with a column of wards, and the ward of each row of ballots; a ballot in several rows is in one ward."""
    below = 4 if shape == "dominion" else 1
    by_ballot = {row[0]: random.choice(WARDS) for row in table[below:]}
    wards = [by_ballot[row[0]] if shape == "long" else random.choice(WARDS) for row in table[below:]]
    heads = [["Ward" if i == below - 1 else ""] for i in range(below)]
    return [[*row, *more] for row, more in zip(table, [*heads, *([ward] for ward in wards)], strict=True)], wards


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_every_table_is_counted_by_precinct(shape: str, tmp_path: Path) -> None:
    """The parts are the ballots of each ward, read from its own rows, and together those of the file."""
    random = Random(7)
    ballots = election(random)
    table, wards = with_wards(SHAPES[shape](ballots, random), shape, random)
    path = tmp_path / "ballots.csv"
    path.write_text(written(table), encoding="utf-8")
    file = for_rule(read_all(path, precinct="Ward"), "instant-runoff")
    assert file.ballots.counts() == counted(ballots)
    assert list(file.units) == sorted(set(wards))
    answer = make("instant-runoff").run(file.ballots, ScriptedSource.from_label("wards"))
    (units,) = answer_by_precinct(answer, file)
    whole = answer_rounds(answer, file.ballots)
    for at, counted_round in enumerate(whole.passes[0]):
        sums: dict[str, Fraction] = {}
        for part in units.units.values():
            for name, votes in part.passes[0][at].tally:
                sums[name] = sums.get(name, Fraction(0)) + votes
        assert sums == dict(counted_round.tally)
    if shape == "ranks":
        for ward in set(wards):
            mine = [ballot for ballot, here in zip(ballots, wards, strict=True) if here == ward]
            assert file.units[ward].counts() == counted(mine)


def test_records_of_a_vendor_and_several_files_by_precinct(tmp_path: Path) -> None:
    random = Random(8)
    ballots = election(random)
    folder = tmp_path / "cvr"
    folder.mkdir()
    for name, data in dominion(ballots).items():
        (folder / name).write_bytes(data)
    file = read_all(folder, precinct="precinct")
    assert sum(part.voters for part in file.units.values()) == file.ballots.voters == len(ballots)
    with pytest.raises(WrongUse, match="by precinct or by batch"):
        read_all(folder, precinct="Ward")
    head = "Ward,rank1,rank2\n"
    for name, rows in (("a.csv", "N,Ann,Bob\nS,Bob,\n"), ("b.csv", "S,Bob,Ann\nN,Ann,\nN,Cid,Ann\n")):
        (tmp_path / name).write_text(head + rows, encoding="utf-8")
    both = for_rule(read_all([tmp_path / "a.csv", tmp_path / "b.csv"], precinct="Ward"), "plurality")
    assert {ward: part.voters for ward, part in both.units.items()} == {"N": 3, "S": 2}


def test_scores_of_precincts_stand_on_one_scale(tmp_path: Path) -> None:
    """North gives at most 2 points and south 5: a part of its own scale would count north's 2 as 5."""
    (tmp_path / "s.csv").write_text("Ward,Ann,Bob\nN,2,1\nN,2,0\nS,0,5\nS,,4\n", encoding="utf-8")
    file = for_rule(read_all(tmp_path / "s.csv", columns={"scores": "Ann/Bob"}, precinct="Ward"), "score")
    answer = make("score", top=file.top).run(file.ballots, ScriptedSource.from_label("s"))
    (units,) = answer_by_precinct(answer, file)
    assert {ward: dict(part.passes[0][0].tally) for ward, part in units.units.items()} == {
        "N": {"Ann": 4, "Bob": 1},
        "S": {"Ann": 0, "Bob": 9},
    }


def test_a_ballot_in_two_precincts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(
        "ballot,rank,candidate,Ward\n1,1,Ann,N\n1,2,Bob,S\n2,1,Bob,N\n2,2,Ann,N\n", encoding="utf-8"
    )
    with pytest.raises(WrongUse, match="is a ballot in two of them"):
        read_all(tmp_path / "l.csv", precinct="Ward")
    (tmp_path / "x.blt").write_text('2 1\n1 1 0\n0\n"A"\n"B"\n"T"\n', encoding="utf-8")
    with pytest.raises(WrongUse, match="does not say where ballots were cast"):
        read_all(tmp_path / "x.blt", precinct="Ward")


def ward_file(folder: Path) -> Path:
    random = Random(9)
    path = folder / "wards.csv"
    table, _ = with_wards(SHAPES["ranks"](election(random), random), "ranks", random)
    path.write_text(written(table), encoding="utf-8")
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_options_for_an_office_and_instant_runoff_write_the_same_precincts(tmp_path: Path) -> None:
    path, run = ward_file(tmp_path), CliRunner()
    for folder, words in (("one", ["--rule", "instant-runoff"]), ("two", ["--elect", "majority", "--until", "two"])):
        done = run.invoke(
            commands,
            [
                "vote",
                "tally",
                str(path),
                *words,
                "--dice",
                "x",
                "--precinct",
                "Ward",
                "--reports",
                str(tmp_path / folder),
            ],
        )
        assert done.exit_code == 0, done.output
        assert "These add up to the whole, and so does every round." in done.stdout
    one, two = (
        {
            (row["precinct"], row["round"], row["candidate"]): row["votes"]
            for row in rows_of(tmp_path / name / "by-precinct.csv")
        }
        for name in ("one", "two")
    )
    assert {key: one[key] for key in two if key in one} == {key: two[key] for key in two if key in one}
    assert len(one) > 10


@pytest.mark.parametrize(
    ("words", "variation"),
    [
        (["--rule", "plurality"], "plurality"),
        (["--rule", "instant-runoff"], "rcv"),
        (["--rule", "borda"], "borda"),
        (["--rule", "schulze"], "other"),
        (["--rule", "stv", "--seats", "2", "--transfers", "ers97"], "rcv"),
    ],
)
def test_every_rule_writes_the_files_of_an_office(words: list[str], variation: str, tmp_path: Path) -> None:
    path = ward_file(tmp_path)
    folder = tmp_path / "reports"
    told = ["vote", "tally", str(path), *words, "--dice", "x", "--reports", str(folder), "--json"]
    answer = one_object(CliRunner().invoke(commands, told))
    report = json.loads((folder / "results-cdf.json").read_text(encoding="utf-8"))
    (contest,) = report["Election"][0]["Contest"]
    assert contest["VoteVariation"] == variation
    rounds = json.loads((folder / "rounds.json").read_text(encoding="utf-8"))
    elected = [each["elected"] for one in rounds["results"] for each in one["tallyResults"] if "elected" in each]
    assert sorted(elected) == sorted(answer["winners"] if "winners" in answer else [answer["winner"]])
    assert rows_of(folder / "rounds.csv")


def test_votes_of_seats_add_up_in_every_round_that_is_written(tmp_path: Path) -> None:
    """Votes, inactive ones and those lost to rounding are the valid ballots, as in the stages themselves."""
    file = for_rule(read_all(ward_file(tmp_path), precinct="Ward"), "stv")
    seats = TransferableVote(seats=2).run(file.ballots, ScriptedSource.from_label("wards"))
    counted_rounds = answer_rounds(seats, file.ballots).passes[0]
    lost = Fraction(0)
    for each in counted_rounds:
        assert sum(votes for _, votes in each.tally) + each.exhausted_votes + lost == seats.valid
        lost += sum(move.votes for move in each.moves if move.target == "(lost to rounding)")
    (units,) = answer_by_precinct(seats, file)
    assert {len(part.passes[0]) for part in units.units.values()} == {1}, "of seats the first preferences alone"
    assert vote_variation(seats) == "rcv"


def test_what_does_not_add_up_is_refused(tmp_path: Path) -> None:
    path = str(ward_file(tmp_path))
    run = CliRunner()
    schulze = run.invoke(commands, ["vote", "tally", path, "--rule", "schulze", "--precinct", "Ward"])
    one_sentence(schulze, 2, "has no counts that add up over precincts")
    one_sentence(run.invoke(commands, ["vote", "tally", path, "--precinct", "#3"]), 2, "no precinct; name another")
    one_sentence(run.invoke(commands, ["vote", "tally", "millbrook", "--precinct", "Ward"]), 2, "has no precincts")
