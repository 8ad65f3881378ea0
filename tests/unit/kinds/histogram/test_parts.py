"""Parts of a release: each bin once, the law of publishing all of them in one process, and the same rows each time."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub.errors import CheckFailed
from hubbub.kinds.histogram import parts as cuts
from hubbub.kinds.histogram.parts import cut_bins, publish_part
from hubbub.kinds.histogram.result import Counts
from hubbub.kinds.histogram.spec import Histogram
from hubbub.noise.source import BlockKeys, ScriptedSource
from hubbub.tables import bins
from hubbub.tables.engine import ExactCounts
from hubbub.tables.parts import Cut, Found, Listed, Sparse
from tests.fresh import spec_of
from tests.spreading import in_parts, some

TWO = ["a:0..60:1", "b=x,y,other,null"]  # 240 bins
CHANNELS: dict[str, dict[str, Any]] = {
    "noise": {"epsilon": 1},
    "crowd": {"crowd": 5},
    "noisy below": {"crowd": 5, "epsilon": "0.5"},
    "warped": {"outlier": "1:0.2,5:1"},
    "hidden below": {"outlier": "1:0.5", "show_above": 3},
    "levels": {"channel": "staircase", "options": {"thresholds": "8,2", "epsilons": "1,0.5,0", "offsets": "2,7"}},
    "a sample": {"epsilon": 1, "sample": "0.3"},
    "a sample of crowds": {"crowd": 5, "sample": "0.7", "scale_up": True},
}
HIDING = ("crowd", "hidden below", "levels", "a sample of crowds")


def keys(label: str = "a cut") -> BlockKeys:
    return BlockKeys(ScriptedSource.from_label(label))


def declared() -> ExactCounts:
    """Some of 240 bins have people, in no order."""
    codes = np.random.default_rng(3).permutation(240)[:90]
    return ExactCounts(codes, codes % 17 + 1)


def found() -> ExactCounts:
    labels = [("Bath", "York", None, "\u00e9", "")[i % 5] for i in range(60)]
    return ExactCounts(np.arange(60) // 5, np.arange(60) % 23 + 1, (labels,))


class Given:
    """An engine that has counted."""

    def __init__(self, counted: ExactCounts) -> None:
        self.counted = counted

    def count(self, question: object, source: object) -> ExactCounts:
        return self.counted


def rows(published: list[Counts]) -> list[dict[str, Any]]:
    return [row for each in published for batch in each.batches() for row in batch.to_pylist()]


def spread(spec: Histogram, counted: ExactCounts, secret: BlockKeys, how: Cut | None = None) -> list[dict[str, Any]]:
    """The rows of all parts."""
    how = how or cut_bins(spec)
    return [
        row for part, here in in_parts(how, counted) for row in rows(list(publish_part(spec, how, secret, part, here)))
    ]


def alone(spec: Histogram, counted: ExactCounts, source: Any) -> list[dict[str, Any]]:
    """The rows of one process."""
    return rows([spec.present(spec.measure(Given(counted), source))])


@pytest.mark.parametrize("name", CHANNELS)
def test_theorem_one_block_is_the_release_of_one_process_with_the_same_words(name: str) -> None:
    """Law for law: both are the same function of uniform words."""
    spec = spec_of(TWO, {**CHANNELS[name], "parts": 1})
    assert spread(spec, declared(), keys()) == alone(spec, declared(), keys().stream(0, 0))


@pytest.mark.parametrize("name", CHANNELS)
def test_theorem_each_block_is_the_release_of_its_bins(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several blocks each is what one process would publish of these bins alone, with words of its own."""
    monkeypatch.setattr(cuts, "BLOCK", 20)
    spec = spec_of(TWO, {**CHANNELS[name], "parts": 5})
    assert cut_bins(spec) == Listed(240, 48)
    wanted = []
    for part in range(5):
        for block, start in enumerate(range(48 * part, 48 * part + 48, 20)):
            here = spec_of([f"a:0..{min(20, 48 * part + 48 - start)}:1"], CHANNELS[name])
            inside = np.flatnonzero((declared().codes >= start) & (declared().codes < 48 * part + 48))
            inside = inside[declared().codes[inside] < start + 20]
            counted = some(declared(), inside.tolist())
            moved = ExactCounts(counted.codes - start, counted.counts)
            wanted += alone(here, moved, keys().stream(part, block))
    told = spread(spec, declared(), keys())
    numbers = [{name: value for name, value in row.items() if name not in ("a", "b")} for row in told]
    assert numbers == [{name: value for name, value in row.items() if name != "a"} for row in wanted]


@pytest.mark.parametrize("name", CHANNELS)
def test_the_rows_are_those_of_all_bins_in_order_each_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "BLOCK", 7)
    spec = spec_of(TWO, {**CHANNELS[name], "parts": 11})
    bins_of = [(row["a"], row["b"]) for row in spread(spec, declared(), keys())]
    assert bins_of == [(row["a"], row["b"]) for row in alone(spec, declared(), keys().stream(0))]
    assert len(set(bins_of)) == 240


@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("listed", name) for name in CHANNELS), *((kind, name) for kind in ("sparse", "found") for name in HIDING)],
)
def test_the_order_of_counts_the_machine_and_the_attempt_change_nothing(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "sparse":
        monkeypatch.setattr(bins, "MOST_BINS", 100)
    by, counted = (["a:0..12:1", "t"], found()) if kind == "found" else (TWO, declared())
    spec = spec_of(by, {**CHANNELS[name], "parts": 3})
    assert type(cut_bins(spec)) is {"listed": Listed, "sparse": Sparse, "found": Found}[kind]
    once = spread(spec, counted, keys())
    backwards = some(counted, list(range(counted.codes.size))[::-1])
    assert spread(spec, backwards, pickle.loads(pickle.dumps(keys()))) == once
    assert not once or kind == "listed" or name == "crowd" or spread(spec, counted, keys("another")) != once


@pytest.mark.parametrize("name", HIDING)
def test_bins_that_are_not_listed_are_each_in_one_part(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bins, "MOST_BINS", 100)
    spec = spec_of(TWO, {**CHANNELS[name], "parts": 7})
    labels = {(row["a"], row["b"]): code for code, row in enumerate(_all_bins())}
    for part, here in in_parts(cut_bins(spec), declared()):
        shown = rows(list(publish_part(spec, cut_bins(spec), keys(), part, here)))
        codes = [labels[row["a"], row["b"]] for row in shown]
        assert codes == sorted(set(codes))
        assert all(code % 7 == part for code in codes)
    if name == "crowd":
        wanted = {(code, n) for code, n in zip(declared().codes.tolist(), declared().counts, strict=True) if n >= 5}
        told = {(labels[row["a"], row["b"]], row["count"]) for row in spread(spec, declared(), keys())}
        assert told == wanted


def _all_bins() -> list[dict[str, Any]]:
    return alone(spec_of(TWO, {"epsilon": 1}), declared(), ScriptedSource.from_label("bins"))


def test_found_bins_are_published_once_each() -> None:
    spec = spec_of(["a:0..12:1", "t"], {"crowd": 5, "parts": 4})
    told = spread(spec, found(), keys())
    wanted = alone(spec, found(), ScriptedSource.from_label("found"))

    def sort(row: dict[str, Any]) -> str:
        return repr((row["t"], row["a"]))

    assert sorted(told, key=sort) == sorted(wanted, key=sort)
    assert len(told) == int((found().counts >= 5).sum())


@pytest.mark.parametrize("parts", [1, 2, 239, 240, 241, 100_000])
def test_there_are_no_more_parts_than_bins(parts: int) -> None:
    how = cut_bins(spec_of(TWO, {"epsilon": 1, "parts": parts}))
    assert isinstance(how, Listed)
    assert how.parts <= min(parts, 240)
    assert how.width * (how.parts - 1) < 240 <= how.width * how.parts


def test_a_bin_that_was_counted_twice_is_no_count() -> None:
    spec = spec_of(TWO, {"epsilon": 1, "parts": 1})
    with pytest.raises(CheckFailed, match="twice"):
        list(publish_part(spec, cut_bins(spec), keys(), 0, ExactCounts(np.array([3, 3]), np.array([1, 2]))))


def test_columns_are_those_of_one_process() -> None:
    spec = spec_of(TWO, {"epsilon": 1, "parts": 1})
    (part,) = publish_part(spec, cut_bins(spec), keys(), 0, declared())
    assert [batch.schema for batch in part.batches()] == [
        batch.schema
        for batch in spec.present(spec.measure(Given(declared()), ScriptedSource.from_label("x"))).sheets()[0].batches()
    ]
    assert isinstance(next(part.batches()), pa.RecordBatch)
