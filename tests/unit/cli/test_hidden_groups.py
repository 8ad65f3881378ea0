"""What is not shown of bins that are found in the data: said beforehand by public numbers, and to the steward how many."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.visibility import chance_visible, largest_usually_hidden
from hubbub.cli.main import commands
from hubbub.guarantees.curve import flat

SIZES = [1] * 300 + [5] * 40 + [14] * 3 + [15] * 2 + [400]
SENTENCE = "Groups of about 14 people or fewer are not shown, and nobody is told how many such groups there are."


def codes(folder: Path, sizes: list[int]) -> str:
    rows = (f"{i}-{j},c{i}" for i, size in enumerate(sizes) for j in range(size))
    (folder / "codes.csv").write_text("person,code\n" + "\n".join(rows) + "\n")
    return str(folder / "codes.csv")


def run(*words: str) -> Result:
    done = CliRunner().invoke(commands, [*words])
    assert done.exit_code == 0, done.output
    return done


def asked(folder: Path, sizes: list[int], *more: str) -> list[str]:
    words = [codes(folder, sizes), "--person", "person", "--by", "code", "--epsilon", "1", "--delta", "1e-6"]
    return [*words, "--ledger", str(folder / "ledger" / "ledger.db"), "--out", str(folder / "out"), *more]


def test_the_limit_is_where_a_group_is_shown_as_often_as_not() -> None:
    for threshold in (1, 3, 14, 40):
        channel = Warped(flat("1"), threshold)
        most = largest_usually_hidden(channel)
        assert chance_visible(channel, most) < 0.5 <= chance_visible(channel, most + 1)
    assert largest_usually_hidden(Warped(flat("1"), None)) == 0


@pytest.mark.parametrize("kind", [["histogram"], ["summary", "--number", "people"]], ids=" ".join)
def test_a_rehearsal_and_a_release_say_beforehand_what_will_not_be_shown(tmp_path: Path, kind: list[str]) -> None:
    words = ["release", *kind, *asked(tmp_path, SIZES)]
    planned = " ".join(run(*words, "--dry-run").output.split())
    assert SENTENCE in planned
    assert json.loads(run(*words, "--dry-run", "--json").stdout)["hidden"] == SENTENCE
    published = run(*words).output
    assert published.index("Groups of about 14 people or fewer") < published.index("Published")
    assert SENTENCE in (tmp_path / "out" / "report.html").read_text()


def test_the_review_of_a_publication_says_it_too(tmp_path: Path) -> None:
    codes(tmp_path, SIZES)
    (tmp_path / "hubbub.toml").write_text(
        'ledger = "ledger.db"\n[datasets.codes]\nfile = "codes.csv"\nperson = "person"\n[[release]]\nname = "codes"\n'
        'dataset = "codes"\nkind = "histogram"\nby = ["code"]\nepsilon = "1"\ndelta = "1e-6"\n'
    )
    plan = str(tmp_path / "hubbub.toml")
    assert f"**Not shown**: {SENTENCE}" in run("run", plan, "--dry-run").output
    (planned,) = json.loads(run("run", plan, "--dry-run", "--json").stdout)["releases"]
    assert planned["hidden"] == SENTENCE


def test_it_is_the_same_sentence_whoever_is_in_the_table(tmp_path: Path) -> None:
    """Codes of which none is shown, and one code of everybody."""
    said = set()
    for n, sizes in enumerate(([1] * 500, [500])):
        folder = tmp_path / str(n)
        folder.mkdir()
        said.add(run("release", "histogram", *asked(folder, sizes)).output.split("✓")[0])
    assert len(said) == 1


def test_check_says_how_many_groups_and_people_the_proposed_command_hides(tmp_path: Path) -> None:
    words = asked(tmp_path, SIZES)[:-4]
    said = " ".join(run("check", *words).output.split())
    few = Counter({size: many for size, many in Counter(SIZES).items() if size <= 14})
    share = 100 * sum(size * many for size, many in few.items()) / sum(SIZES)
    assert f"now {few.total():,} of {len(SIZES):,} groups, with {share:.1f} % of the people." in said
    told = json.loads(run("check", *words, "--json").stdout)["hidden"]
    assert (told["groups_up_to"], told["groups"], told["of_groups"]) == (14, few.total(), len(SIZES))
    listed = [codes(tmp_path, SIZES), "--person", "person", "--by", "code=c1,c2,other"]
    assert json.loads(run("check", *listed, "--json").stdout)["hidden"] is None
