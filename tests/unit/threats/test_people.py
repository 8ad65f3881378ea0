"""Threats 6, 7, 16 and 20: who is counted, how often, from which number on, and bins with nobody in them."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from hubbub.errors import Refused, WrongUse, in_python, in_shell
from hubbub.kinds.histogram.request import histogram
from hubbub.noise.source import ScriptedSource
from hubbub.serialization.exact_json import plain
from hubbub.tables.engine import NO_ID, SEVERAL_ROWS
from hubbub.tables.privacy_unit import Unit
from tests.fresh import certificate_of, enter, open, played
from tests.fresh import counts as result
from tests.fresh import save_over as save
from tests.unit.threats.tables import Rows, counts, rows, sources, written

# --- 6: people ----------------------------------------------------------------------------------------------------


def test_6_twenty_rows_of_one_person_are_one_person(tmp_path: Path) -> None:
    table = pa.table({"id": [7] * 20, "town": ["Bath"] * 20})
    for name, source in sources(table, tmp_path).items():
        table_ = open(source, person="id")
        assert rows(table_.histogram(["town=Bath"], crowd=2, one_row_per_person=True)) == [("Bath", None)], name
        assert rows(table_.histogram(["town"], crowd=2, one_row_per_person=True)) == [], name
        # 50 for the one bin there is: noise is 0 but with probability 4e-22.
        noisy = table_.histogram(["town=Bath"], epsilon=50, distinct=3)
        assert rows(noisy) == [("Bath", 1)], name


@pytest.mark.parametrize(
    "ids",
    [[1, 1], [1, 1, 2, 3], [None, 1], [None, None], [*list(range(1000)), 999], ["a", "a"], ["secret", "secret"]],
    ids=lambda ids: f"{len(ids)} rows",
)
def test_6_several_rows_are_refused_with_the_same_sentence_for_every_table(ids: list[object]) -> None:
    table = pa.table({"id": ids, "town": ["Bath"] * len(ids)})
    for words in ({"crowd": 5}, {"epsilon": 1}):
        with pytest.raises(Refused) as refusal:
            open(table, person="id").histogram(["town=Bath"], **words)  # type: ignore[arg-type]
        assert str(refusal.value) == in_python(NO_ID if None in ids else SEVERAL_ROWS)
        assert refusal.value.exit_code == 3
        assert None in ids or "(one_row_per_person=True)" in str(refusal.value)
        assert (
            "(--one-row-per-person), where the release can; a histogram can also count each person once in at most B bins (--distinct B)"
            in in_shell(SEVERAL_ROWS)
        )


# --- 7: empty tables ----------------------------------------------------------------------------------------------


def test_7_empty_and_tiny_tables_look_like_any_other(tmp_path: Path) -> None:
    schema = pa.schema([("town", pa.string()), ("age", pa.int64())])
    by = ["town=Bath,null,other", "age:0..100:50,other"]
    digests = set()
    crowds: list[Rows] = [[], [("Bath", 41)], [(None, None)], [("Ely", 7), ("Bath", 1)]]
    for i, people in enumerate(crowds):
        table = pa.Table.from_pylist([dict(zip(schema.names, person, strict=True)) for person in people], schema)
        (tmp_path / str(i)).mkdir()
        for source in sources(table, tmp_path / str(i)).values():
            release = enter(source).histogram(by, crowd=3)
            digests.add(hashlib.sha256(Path(save(release, tmp_path / "out")["release"]).read_bytes()).hexdigest())
            found = enter(source).histogram(["town"], crowd=3)
            digests.add(hashlib.sha256(Path(save(found, tmp_path / "out")["release"]).read_bytes()).hexdigest())
    assert len(digests) == 2, "one for the declared bins, one for the bins found"


def test_7_a_csv_with_a_header_alone(tmp_path: Path) -> None:
    for content in ("town,age\n", "town,age", "town,age\n\n\n"):
        path = written(tmp_path, "people.csv", content)
        assert counts(path, "town=Bath,null") == {"Bath": None, None: None}


def test_7_a_table_without_columns_gets_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="; "):
        open(pa.table({}))
    with pytest.raises(WrongUse, match="the first line of a CSV names its columns"):
        open(written(tmp_path, "people.csv", ""))


# --- 16: thresholds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 10, 37])
def test_16_a_threshold_is_met_from_k_on(k: int) -> None:
    table = pa.table({"town": ["a"] * (k - 1) + ["b"] * k + ["c"] * (k + 1)})
    assert counts(table, "town=a,b,c", crowd=k) == {"a": None, "b": k, "c": k + 1}
    assert counts(table, "town", crowd=k) == {"b": k, "c": k + 1}


def test_16_a_threshold_that_is_no_whole_number_is_refused() -> None:
    table = open(pa.table({"town": ["a"]}))
    for k in ("37.3", Fraction(75, 2), "1", 0, -5, True, "many"):
        with pytest.raises(WrongUse):
            table.histogram(["town=a"], crowd=k)
    assert table.histogram(["town=a"], crowd="37.0").spec.channel.k == 37  # type: ignore[attr-defined]


# --- 20: empty bins -----------------------------------------------------------------------------------------------

SIZE = 1e-6  # the probability that a true law is rejected
N = 20_000  # bins of each kind


@pytest.mark.parametrize("words", [{"epsilon": 1}, {"crowd": 5, "epsilon": 1}], ids=str)
def test_20_empty_bins_get_the_noise_that_others_get(words: dict[str, Any]) -> None:
    """Half of the bins are empty, half hold one person: value minus count has one law, chi-square with its size."""
    table = pa.table({"age": list(range(0, 2 * N, 2))})
    spec = histogram([f"age:0..{2 * N}:1"], **words)
    drawn = result(played(spec, open(table).engine, ScriptedSource.from_label(f"empty bins {words}"))).published.values
    ones, empty = drawn[0::2] - 1, drawn[1::2]
    q = math.exp(-1)
    law = np.array([(1 - q) / (1 + q) * q ** abs(x) for x in range(-4, 5)])
    law = np.append(law, 1 - law.sum())
    for noise in (ones, empty):
        observed = np.array([np.count_nonzero(noise == x) for x in range(-4, 5)])
        observed = np.append(observed, N - observed.sum())
        statistic = float(((observed - N * law) ** 2 / (N * law)).sum())
        threshold = float(stats.chi2.isf(SIZE, len(law) - 1))
        assert statistic < threshold, f"n = {N}, chi-square = {statistic:.1f}, threshold = {threshold:.1f}"


def test_20_bins_left_without_noise_would_be_noticed() -> None:
    """Power: if 7 in 100 empty bins stayed 0 for certain, the test above would reject with probability 0.999."""
    q = math.exp(-1)
    law = np.array([(1 - q) / (1 + q) * q ** abs(x) for x in range(-4, 5)])
    law = np.append(law, 1 - law.sum())
    wrong = 0.93 * law
    wrong[4] += 0.07
    power = float(stats.ncx2.sf(stats.chi2.isf(SIZE, 9), 9, N * ((wrong - law) ** 2 / law).sum()))
    assert power > 0.999, f"n = {N}: power {power}"


def test_the_unit_of_a_release_is_said() -> None:
    """What a person is, and what happened to the others, stands in the certificate of every release."""
    table = open(pa.table({"town": ["Bath"], "id": [1]}), person="id")
    for words, unit in (
        ({}, Unit(person="id")),
        ({"one_row_per_person": True}, Unit(person="id", one_row_per_person=True, expected_rows=True)),
        ({"one_row_per_person": True, "kept_rows": True}, Unit(person="id", one_row_per_person=True)),
    ):
        assert certificate_of(table.histogram(["town=Bath"], crowd=2, **words))["release"]["unit"] == plain(unit)
