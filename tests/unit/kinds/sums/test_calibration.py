"""Published means and shares, put together by public totals: what is worked out, how often it is right, wrong uses."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hubbub
from hubbub import registry
from hubbub.engines.opening import open_source
from hubbub.errors import WrongUse
from hubbub.kinds.sums.result import Answers
from hubbub.kinds.sums.spec import Statistic
from hubbub.noise.source import ScriptedSource
from tests.fresh import played

CELLS = ["cell=a,b,c"]
TOTALS = {"a": 1000, "b": 3000, "c": 0}


def table(sizes: tuple[int, int, int] = (300, 40, 10)) -> pa.Table:
    cells = [cell for cell, size in zip("abc", sizes, strict=True) for _ in range(size)]
    values = [i * 7 % 6 + (4 if cell == "b" else 0) for i, cell in enumerate(cells)]
    return pa.table({"id": list(range(len(cells))), "cell": cells, "x": values})


def asked(name: str = "mean", **words: Any) -> Statistic:
    of = {"of": "x:0..10:1"} if name == "mean" else {"where": "x >= 5"}
    spec = registry.kind(name).from_options(
        person="id", **{"by": CELLS, "epsilon": "1", "calibrate": TOTALS, **of, **words}
    )
    assert isinstance(spec, Statistic)
    return spec


def published(spec: Statistic, label: str, data: pa.Table) -> Answers:
    engine = open_source(data)
    result = played(spec.with_schema(engine.columns()), engine, ScriptedSource.from_label(label)).result
    assert isinstance(result, Answers)
    return result


def test_cells_count_by_their_public_totals_and_not_by_how_many_answered() -> None:
    """Three hundred answered in a and forty in b, and of everybody three in four are in b."""
    data = table()
    means = {
        cell: Fraction(sum(x for c, x in zip(*data.select(["cell", "x"]).to_pydict().values(), strict=True) if c == cell),
                       data.column("cell").to_pylist().count(cell))
        for cell in "ab"
    }  # fmt: skip
    right = (means["a"] + 3 * means["b"]) / 4
    found = published(asked(epsilon="40"), "exact", data).calibrated
    assert found is not None
    assert found.estimate is not None
    assert abs(found.estimate - right) < Fraction(1, 50)
    naive = Fraction(sum(data.column("x").to_pylist()), data.num_rows)
    assert abs(naive - right) > Fraction(1, 50)


RELEASES, COVERAGE, LEAST = 150, "0.8", 102
"""Of so many releases at this coverage at least so many intervals are right: 102 is 3.7 standard deviations below 120,
so that a right one fails once in 10,000 times (size)."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mean", "fraction"])
def test_the_interval_of_all_cells_is_right_as_often_as_it_says(name: str) -> None:
    """They are cautious, since both noises of every cell may be at their worst; a tenth as wide would be noticed (power)."""
    data = table((60, 30, 10))
    cells, values = data.column("cell").to_pylist(), data.column("x").to_pylist()
    shares = []
    for cell in "ab":
        own = [x for c, x in zip(cells, values, strict=True) if c == cell]
        shares.append(Fraction(sum(x >= 5 if name == "fraction" else x for x in own), len(own)))
    right = (shares[0] + 3 * shares[1]) / 4
    spec, hits, narrow = asked(name, coverage=COVERAGE), 0, 0
    for i in range(RELEASES):
        found = published(spec, f"coverage {i}", data).calibrated
        assert found is not None
        assert found.high is not None
        assert found.estimate is not None
        hits += found.low <= right <= found.high
        narrow += abs(right - found.estimate) <= (found.high - found.low) / 20
    assert hits >= LEAST, f"{hits} of {RELEASES}, at least {LEAST}"
    assert narrow < LEAST, f"{narrow} of {RELEASES}: an interval a tenth as wide goes unnoticed"


def test_a_cell_of_which_nothing_is_told_leaves_an_interval_and_no_number() -> None:
    found = published(asked(epsilon="0.01"), "little", table((3, 0, 0))).calibrated
    assert found is not None
    assert found.high is not None
    assert 0 <= found.low <= found.high <= 10


def test_a_release_says_what_it_was_calibrated_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("totals.csv").write_text("total,cell\n3000,b\n1000,a\n0,c\n")
    people = hubbub.open(table(), person="id", dataset="survey")
    done = people.mean("x:0..10:1", CELLS, epsilon="1", calibrate="totals.csv")
    done.save("out")
    assert hubbub.verify("out/certificate.json").passed
    assert "calibrated to are public" in str(hubbub.explain("out/certificate.json"))
    (row,) = Path("out/calibrated.csv").read_text().splitlines()[1:]
    assert row.startswith("4000,")
    assert "By the public totals of 4,000 people" in " ".join(done.result.sentences())
    assert done.result.facts()["calibrated"]["people"] == 4000
    assert done.spec.calibrate == (1000, 3000, 0)  # type: ignore[attr-defined]
    assert [str(step.conclusion) for step in done.promises] == ["1-DP [add/remove]"]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"calibrate": {"a": 1, "b": 2}}, "has none for 'c'"),
    ({"calibrate": {"a": 1, "b": 2, "c": 3, "d": 4}}, "names 'd', which is no bin"),
    ({"calibrate": {"a": -1, "b": 2, "c": 3}}, "not below 0"),
    ({"calibrate": {"a": 0, "b": 0, "c": 0}}, "not all are 0"),
    ({"calibrate": {"a": "many", "b": 2, "c": 3}}, "total"),
    ({"calibrate": {("a", "F"): 1, ("b", "F"): 2, ("c", "F"): 3}}, "by all labels of a bin"),
    ({"calibrate": 7}, "give one"),
    ({"calibrate": [1, 2, 3]}, "give one"),
    ({"calibrate": "nowhere.csv"}, "cannot be read"),
    ({"calibrate": "other.csv"}, "has the columns cell, total"),
    ({"calibrate": "twice.csv"}, "stands twice"),
    ({"calibrate": "short.csv"}, "has the columns cell, total"),
    ({"by": [], "calibrate": TOTALS}, "by bins that are declared"),
    ({"by": ["cell"], "calibrate": TOTALS, "crowd": "5"}, "by bins that are declared"),
]


@pytest.mark.parametrize(("words", "sentence"), WRONG)
def test_a_wrong_list_is_one_sentence(
    words: dict[str, Any], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.csv").write_text("town,total\na,1\n")
    Path("twice.csv").write_text("cell,total\na,1\na,1\nb,1\nc,1\n")
    Path("short.csv").write_text("cell,total\na\n")
    with pytest.raises(WrongUse, match=sentence) as found:
        asked(**words)
    assert "\n" not in str(found.value)
