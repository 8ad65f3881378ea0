"""Threat 53: a person in at most B bins, B no larger than there are bins; what B leaves out is said."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.count_tables import ask_counts
from hubbub.kinds.histogram.estimands import Estimand, of_interval, of_number
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.histogram.text import bin_rate, notes
from hubbub.tables.privacy_unit import Unit
from tests.fresh import counts, open

BY = ["town=a,b,c"]
ROWS = [(person, town) for person in range(500) for town in "abc"[: 1 + person % 3]]
VISITS = pa.table({"id": [person for person, _ in ROWS], "town": [town for _, town in ROWS]})
EVER = {town: sum(here == town for _, here in ROWS) for town in "abc"}
NOT_TOLD = "no number here estimates it"


def unit(distinct: int) -> Unit:
    return Unit(person="id", distinct=distinct)


@pytest.mark.parametrize("asked", [3, 4, 1_000_000])
def test_more_bins_than_there_are_is_cut_and_the_noise_follows(asked: int) -> None:
    spec = histogram(BY, epsilon=1, unit=unit(asked))
    assert spec == histogram(BY, epsilon=1, unit=unit(3))
    assert bin_rate(spec) == Fraction(1, 3)
    (promise,) = spec.promises()
    assert promise.conclusion == DifferentialPrivacy(epsilon=Fraction(1))
    assert dict(promise.numbers)["bins"] == "3"
    assert ask_counts(spec.axes, spec.unit).most_bins == 3


def test_500_people_in_three_bins_are_told_within_some_dozens_whatever_the_bound() -> None:
    """Noise of rate 1/3 is beyond 100 with a chance below 10^-14; with a million bins it was a million wide."""
    found = counts(open(VISITS, person="id").histogram(BY, epsilon=1, distinct=1_000_000))
    for value, true in zip(found.published.values.tolist(), EVER.values(), strict=True):
        assert abs(value - true) < 100


def test_with_as_many_as_there_are_bins_it_is_told_how_many_were_ever_there() -> None:
    spec = histogram(BY, epsilon=1, unit=unit(3))
    assert spec.every_bin_kept
    assert of_number(spec) is of_interval(spec) is Estimand.TABLE
    told = " ".join(notes(spec, exact=False))
    assert "each in every bin in which they have a row" in told
    assert NOT_TOLD not in told
    found = counts(open(VISITS, person="id").histogram(BY, epsilon=150, distinct=3))  # noise that is nearly always 0
    assert found.published.values.tolist() == list(EVER.values())


def test_with_fewer_it_is_said_who_is_missing_and_nothing_of_how_many() -> None:
    spec = histogram(BY, epsilon=1, unit=unit(2))
    assert of_number(spec) is Estimand.KEPT_ROWS
    told = " ".join(notes(spec, exact=False))
    assert "Whoever has rows in more than 2 bins is counted in 2 of them and missing in the others" in told
    assert "With a bound of 3, as many as there are bins, nobody would be missing" in told
    assert NOT_TOLD in told
    found = histogram(["town"], epsilon=1, delta="1e-6", unit=unit(2))
    assert not found.every_bin_kept
    assert "counts may be too low" in " ".join(notes(found, exact=False))


def test_bins_that_a_column_declares_itself_bound_it_too() -> None:
    spec = histogram(["member"], epsilon=1, unit=unit(9))
    with pytest.raises(WrongUse, match="nobody is in more of them; lower"):
        spec.with_schema(open(pa.table({"id": [1], "member": [True]})).engine.columns())


def test_file_and_screen_call_the_number_the_same(tmp_path: Path) -> None:
    pq.write_table(VISITS, tmp_path / "visits.parquet")
    words = [
        "release",
        "histogram",
        str(tmp_path / "visits.parquet"),
        "--person",
        "id",
        "--by",
        BY[0],
        "--epsilon",
        "1",
    ]
    for distinct, head, number in (("9", "count of people", "table"), ("2", "count in kept bins", "kept-rows")):
        out = ["--distinct", distinct, "--out", str(tmp_path / distinct)]
        screen = CliRunner().invoke(commands, [*words, *out], catch_exceptions=False).stdout
        assert head in screen
        assert "kept rows" not in screen
        assert '"town","count"' in (tmp_path / distinct / "release.csv").read_text()
        again = CliRunner().invoke(commands, [*words, *out, "--replace", "--json"], catch_exceptions=False)
        assert json.loads(again.stdout)["counts"]["number"] == number
        check = CliRunner().invoke(commands, ["verify", str(tmp_path / distinct / "certificate.json")])
        assert check.exit_code == 0, check.output
