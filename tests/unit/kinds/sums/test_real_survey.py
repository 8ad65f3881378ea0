"""A real survey with weights, as somebody would publish it who read the page about weights (FiveThirtyEight, 2018)."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands

SURVEY = Path(__file__).resolve().parents[5] / "shared" / "data" / "tables" / "masculinity_survey.parquet"
pytestmark = pytest.mark.skipif(not SURVEY.exists(), reason="the survey is not there")

ANSWERS = ("Very masculine", "Somewhat masculine", "Not very masculine", "Not at all masculine", "No answer")
WEIGHT = "weight:0..9:0.01"


def exactly() -> dict[str, float]:
    """The sum of weights by answer, rounded to the step as a release does."""
    table = parquet.read_table(SURVEY, columns=["q0001", "weight"])
    found = dict.fromkeys(ANSWERS, 0.0)
    for answer, weight in zip(table["q0001"].to_pylist(), table["weight"].to_pylist(), strict=True):
        found[answer] += round(100 * min(float(weight), 9)) / 100
    return found


def run(*words: str, tmp_path: Path) -> str:
    return CliRunner(env={"HUBBUB_HOME": str(tmp_path), "COLUMNS": "100"}).invoke(commands, words).output


def test_weights_that_are_text_are_added_up_by_answer_with_noise_for_the_largest(tmp_path: Path) -> None:
    words = [
        "--person",
        "Unnamed: 0",
        "--by",
        f"q0001={','.join(ANSWERS)}",
        "--weight",
        WEIGHT,
        "--epsilon",
        "100",
        "--yes",
    ]
    told = run("release", "count", str(SURVEY), *words, "--out", str(tmp_path / "out"), tmp_path=tmp_path)
    with (tmp_path / "out" / "release.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    right = exactly()
    assert sum(right.values()) == pytest.approx(1615, abs=1)  # scaled to the number of respondents
    assert len(rows) == len(ANSWERS)
    for row in rows:
        assert float(row["estimate"]) == pytest.approx(right[row["q0001"]], abs=5)
    assert "raked" in " ".join(told.split())
    assert "Weights above 9 count as that" in " ".join(told.split())


def test_weights_that_were_raked_are_refused_with_what_to_do_instead(tmp_path: Path) -> None:
    words = ["--person", "Unnamed: 0", "--where", "kids = 'Has children'", "--weight", WEIGHT, "--epsilon", "1"]
    told = run(
        "release", "fraction", str(SURVEY), *words, "--calibrated", "--out", str(tmp_path / "no"), tmp_path=tmp_path
    )
    assert "--calibrate FILE" in " ".join(told.split())
    assert not (tmp_path / "no").exists()


def test_a_look_at_the_survey_proposes_no_average_of_the_weight(tmp_path: Path) -> None:
    told = " ".join(run("check", str(SURVEY), "--person", "Unnamed: 0", tmp_path=tmp_path).split())
    assert "weight may be a survey weight: with --weight weight:0..HIGH:STEP" in told
    assert "--of weight" not in told
