"""Rounds as an office counts them, said by options: each option changes what it says, by small elections by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from tests.unit.cli.answers import one_sentence

# First choices Ann 40, Bob 30, Cid 18, Dee 8, Eve 4: 100 ballots.
BALLOTS = {
    "Ann>Bob": 40,
    "Bob>Cid>Ann": 30,
    "Cid>Bob>Ann": 18,
    "Dee>Cid>Bob": 8,
    "Eve>Dee>Ann": 4,
}


def file_of(tmp_path: Path, votes: dict[str, int]) -> str:
    path = tmp_path / "ballots.csv"
    path.write_text("count,ranking\n" + "".join(f"{w},{r}\n" for r, w in votes.items()), encoding="utf-8")
    return str(path)


def tally(path: str, *words: str, **more: Any) -> dict[str, Any]:
    done = CliRunner().invoke(commands, ["vote", "tally", path, *words, "--json"], **more)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rounds(answer: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer["passes"][0]
    return found


def gone(answer: dict[str, Any]) -> list[list[str]]:
    return [each["eliminated"] for each in rounds(answer)]


def test_majority_stops_or_goes_on_until_two(tmp_path: Path) -> None:
    path = file_of(tmp_path, BALLOTS)
    stops = tally(path, "--elect", "majority")
    assert (stops["winners"], gone(stops)) == (["Bob"], [["Eve"], ["Dee"], ["Cid"], []])
    votes = {"Ann>Bob": 60, "Bob": 20, "Cid>Bob": 15, "Dee": 5}
    early = tally(file_of(tmp_path, votes), "--elect", "majority")
    assert (early["winners"], len(rounds(early))) == (["Ann"], 1)
    late = tally(file_of(tmp_path, votes), "--elect", "majority", "--until", "two")
    assert (late["winners"], rounds(late)[-1]["tally"]) == (["Ann"], {"Ann": "60", "Bob": "35"})


def test_excluded_candidates_get_no_vote(tmp_path: Path) -> None:
    answer = tally(file_of(tmp_path, BALLOTS), "--elect", "majority", "--exclude", "Ann", "--exclude", "Dee")
    assert answer["winners"] == ["Bob"]
    assert rounds(answer)[0]["tally"] == {"Bob": "70", "Cid": "26", "Eve": "4"}


def test_a_batch_goes_together(tmp_path: Path) -> None:
    answer = tally(file_of(tmp_path, BALLOTS), "--elect", "majority", "--batch")
    assert gone(answer)[0] == ["Dee", "Eve"], "8 and 4 are fewer than Cid's 18"


def test_who_has_few_votes_goes_at_once_and_a_count_can_end_early(tmp_path: Path) -> None:
    path = file_of(tmp_path, BALLOTS)
    assert gone(tally(path, "--elect", "majority", "--least-votes", "20"))[0] == ["Cid", "Dee", "Eve"]
    ended = tally(path, "--elect", "majority", "--stop-after", "2")
    assert (len(rounds(ended)), ended["winners"]) == (2, [])


def test_thresholds(tmp_path: Path) -> None:
    path = file_of(tmp_path, {**BALLOTS, "Dee": 1})
    anew = [each["threshold"] for each in rounds(tally(path, "--elect", "majority"))]
    fixed = [each["threshold"] for each in rounds(tally(path, "--elect", "majority", "--threshold", "static"))]
    assert (anew, fixed) == (["51", "51", "51", "51"][: len(anew)], ["51"] * len(fixed))
    for words, expected in (
        (["--seats", "2"], "34"),
        (["--seats", "2", "--quota", "hare"], "51"),
        (["--seats", "2", "--fractional"], "33.6667"),
        (["--seats", "2", "--fractional", "--decimals", "1"], "33.7"),
    ):
        assert rounds(tally(path, "--elect", "seats", *words))[0]["threshold"] == expected, words


def test_seats_one_a_round_or_all_at_once(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"Ann": 45, "Bob": 40, "Cid": 10, "Dee": 5})
    assert rounds(tally(path, "--elect", "seats", "--seats", "2"))[0]["elected"] == ["Ann", "Bob"]
    single = tally(path, "--elect", "one-a-round", "--seats", "2")
    assert [each["elected"] for each in rounds(single)[:2]] == [["Ann"], ["Bob"]]
    assert single["winners"] == ["Ann", "Bob"]


def test_decimals_of_a_surplus(tmp_path: Path) -> None:
    """Quota 34 of 100: Ann's 60 leave 26, each ballot worth 26/60 = 0.4333, or 0.4 with one place."""
    path = file_of(tmp_path, {"Ann>Bob": 60, "Bob": 10, "Cid": 20, "Dee": 10})
    second = [rounds(tally(path, "--elect", "seats", "--seats", "2"))[1]["tally"]["Bob"]]
    second += [rounds(tally(path, "--elect", "seats", "--seats", "2", "--decimals", "1"))[1]["tally"]["Bob"]]
    assert second == ["35.998", "34"]


def test_from_the_bottom_up(tmp_path: Path) -> None:
    path = file_of(tmp_path, BALLOTS)
    assert sorted(tally(path, "--elect", "bottoms-up", "--seats", "3")["winners"]) == ["Ann", "Bob", "Cid"]
    assert sorted(tally(path, "--elect", "percentage", "--percent", "35")["winners"]) == ["Ann", "Bob"]


def test_one_pass_after_the_other(tmp_path: Path) -> None:
    answer = tally(file_of(tmp_path, BALLOTS), "--elect", "passes", "--seats", "2")
    assert (answer["winners"], len(answer["passes"])) == (["Bob", "Cid"], 2)
    assert "Bob" not in answer["passes"][1][0]["tally"]


def test_later_ranks_do_not_count(tmp_path: Path) -> None:
    answer = tally(file_of(tmp_path, BALLOTS), "--elect", "majority", "--most-ranks", "1")
    assert rounds(answer)[-1]["exhausted"] == "30", "Cid's, Dee's and Eve's ballots name nobody else"
    assert answer["winners"] == ["Ann"]


def test_more_seats_than_candidates_elect_all(tmp_path: Path) -> None:
    answer = tally(file_of(tmp_path, BALLOTS), "--elect", "seats", "--seats", "7")
    assert sorted(answer["winners"]) == ["Ann", "Bob", "Cid", "Dee", "Eve"]


TIED = {"Ann": 5, "Bob": 3, "Cid": 3, "Dee>Bob": 1, "Eve>Cid": 1}


def test_ties_by_order_earlier_rounds_dice_and_hand(tmp_path: Path) -> None:
    path = file_of(tmp_path, TIED)
    order = ["--break-ties", "order", "--order", "Eve,Dee,Cid,Bob,Ann"]
    assert gone(tally(path, "--elect", "majority", *order))[:3] == [["Dee"], ["Eve"], ["Bob"]]
    asked = tally(path, "--elect", "majority", "--break-ties", "ask", "--tie", "Eve", "--tie", "Cid")
    assert gone(asked)[:3] == [["Eve"], ["Dee"], ["Cid"]]
    assert all("by hand" in remark for remark in asked["ties"])
    earlier = tally(
        file_of(tmp_path, {"Ann": 7, "Bob": 4, "Cid": 3, "Dee>Cid": 1}),
        "--elect",
        "majority",
        "--until",
        "two",
        "--break-ties",
        "earlier",
    )
    assert gone(earlier) == [["Dee"], ["Cid"], []]
    assert "by an earlier round" in earlier["ties"][0]
    path = file_of(tmp_path, TIED)
    drawn = [tally(path, "--elect", "majority", "--dice", words)["ties"] for words in ("a fine day", "a fine  day")]
    assert drawn[0] == drawn[1]
    assert "drawn number" in drawn[0][0]


def test_undeclared_write_ins_go_first_and_are_never_elected(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"Ann": 3, "Bob": 2, "Write-in>Bob": 5})
    answer = tally(path, "--elect", "majority")
    assert gone(answer)[0] == ["Undeclared Write-ins"]
    assert answer["winners"] == ["Bob"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--batch"], "goes with --elect"),
        (["--elect", "majority", "--rule", "borda"], "is about others"),
        (["--elect", "majority", "--seats", "2"], "takes no --seats"),
        (["--elect", "percentage"], "which needs it"),
        (["--elect", "percentage", "--percent", "120"], "below 100"),
        (["--elect", "seats", "--seats", "2", "--batch"], "for majority and passes"),
        (["--elect", "bottoms-up", "--seats", "2", "--quota", "hare"], "has no quota"),
        (["--elect", "majority", "--exclude", "Zed"], "no candidate of these ballots"),
        (["--elect", "majority", "--break-ties", "order"], "goes with --break-ties order"),
        (["--elect", "majority", "--break-ties", "order", "--order", "Ann,Bob"], "once"),
        (["--elect", "seats", "--decimals", "30"], "at most 20"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, words: list[str], sentence: str) -> None:
    done = CliRunner().invoke(commands, ["vote", "tally", file_of(tmp_path, BALLOTS), *words])
    one_sentence(done, 2, sentence)


def test_help_stands_under_headings() -> None:
    told = CliRunner().invoke(commands, ["vote", "tally", "--help-all"]).output
    headings = ["Which rule:", "Several seats:", "Rounds as an office counts them:", "How the file is read:"]
    assert [told.index(heading) for heading in headings] == sorted(told.index(heading) for heading in headings)
    assert told.index("--elect") < told.index("--break-ties") < told.index("How the file is read:")


def test_rounds_are_printed(tmp_path: Path) -> None:
    done = CliRunner().invoke(commands, ["vote", "tally", file_of(tmp_path, BALLOTS), "--elect", "majority"])
    assert done.exit_code == 0
    assert "Elected: Bob." in done.output
