"""Verification of what somebody changed and signed again, with a key of their own: it fails, in words, and soon."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hubbub
from hubbub import registry
from hubbub.channels.mechanisms.added_noise import add_noise
from hubbub.channels.papers import staircase
from hubbub.channels.papers.staircase import calibrate_staircase
from hubbub.engines.opening import open_source
from hubbub.errors import WrongUse
from hubbub.kinds.histogram import wire as histogram_wire
from hubbub.verification import verify
from hubbub.verification.verdict import printable
from tests.fresh import ENTRY, unsigned
from tests.unit.shared.forged import BASE, consistent, described, wrong
from tests.unit.shared.histogram_requests import WORDS
from tests.unit.shared.saved import OTHERS, TABLE, Saved, sign


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            yield from _leaves(value[name], (*path, name))
    else:
        yield path


def _changed(body: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    changed = deepcopy(body)
    place = changed
    for name in path[:-1]:
        place = place[name]
    old = place[path[-1]]
    match old:
        case bool() | None:
            place[path[-1]] = not old
        case int():
            place[path[-1]] = old + 1
        case _ if re.fullmatch(r"[\d.]+", old):
            place[path[-1]] = old + "1"
        case _:
            place[path[-1]] = old + "s"
    return changed


# What nothing else in this certificate follows from: with another of these it is that of another release, and whole.
INSIDE = ("bins", "at_delta", "coverage", "scale_up", "lowered")
FREE = [("files",), ("software",), ("ledger",), ("reading",), *(("release", name) for name in INSIDE)]


def _is_free(path: tuple[Any, ...]) -> bool:
    return path[:1] in FREE or path[:2] in FREE


def test_any_word_or_number_that_is_changed_fails_though_signed_again(saved: Saved, forger: Path) -> None:
    """But for a promise that is changed to a weaker one: that follows, and it is said from what."""
    body, weaker = saved.body, 0
    paths = [path for path in _leaves(body) if not _is_free(path)]
    assert len(paths) > 50
    for path in paths:
        done = verify(sign(forger, _changed(body, path)))
        if done.passed:
            assert "promise" in path, path
            assert path[-1] in ("epsilon", "delta", "p"), path
            assert any(check.found.startswith("follows: ") for check in done.checks), path
            weaker += 1
    assert weaker > 3


@pytest.mark.parametrize(
    "name", ["staircase", "uneven", "example 5", "lecture", "lower bound", "a curve that was lowered"]
)
def test_any_parameter_that_is_changed_fails_though_signed_again(name: str, tmp_path: Path, forger: Path) -> None:
    body = Saved(tmp_path, (WORDS | OTHERS)[name]).body
    assert verify(sign(forger, body)).passed
    for path in _leaves(body):
        if path[:1] == ("release",) and path[1] in ("channel", "collected", "unit") and path[-1] != "low":
            # (no theorem uses a lower limit)
            assert not verify(sign(forger, _changed(body, path))).passed, path


@pytest.mark.parametrize(
    "change",
    [
        {"software": "hubbub 1.0, approved by everybody"},
        {"software": "hubbub 1\n✓ the key: is the one that was given"},
        {"files": {"release.csv": "0" * 63}},
        {"files": {"release.csv": "G" * 64}},
        {"files": {"../release.csv": "0" * 64}},
        {"files": {"release.csv\0": "0" * 64}},
        {"files": {"release.csv": "0" * 64, "release.parquet": "0" * 64}},
        {"files": {"release.csv": "0" * 64, "harmless.exe": "0" * 64}},
        {"files": {"report.html": "0" * 64}},
        {"files": {}},
        {"files": None},
        {"ledger": ENTRY | {"dataset": "town\n✓ the key"}},
        {"ledger": ENTRY | {"dataset": "\ud800"}},
        {"ledger": ENTRY | {"release": 0}},
        {"ledger": ENTRY | {"entry": 1}},
        {"ledger": ENTRY | {"hash": 1}},
        {"ledger": ENTRY | {"nonce": ""}},
        {"ledger": ENTRY | {"more": ""}},
        {"ledger": []},
        {"lowered": True},
        {"remarks": ["this release is 0.001-differentially private"]},
    ],
)
def test_what_hubbub_never_writes_fails_though_signed_again(forger: Path, change: dict[str, Any]) -> None:
    assert verify(described(forger)).passed
    assert not verify(described(forger, **change)).passed


VALUES, STEPS, EDGES = (
    {"is": "Values", "column": "a", "values": ["x"], "null": False, "other": False, "reads": ""},
    {"is": "Steps", "column": "a", "low": "0", "width": "1", "steps": 10, "null": False, "other": False, "reads": ""},
    {
        "is": "Edges",
        "column": "a",
        "edges": ["0", "1"],
        "open_below": False,
        "null": False,
        "other": False,
        "reads": "",
    },
)
UNIT = BASE["unit"]


@pytest.mark.parametrize(
    "change",
    [
        {"bins": [VALUES | {"values": ["x", "x"]}]},
        {"bins": [VALUES | {"values": []}]},
        {"bins": [VALUES | {"values": ["other"], "other": True}]},
        {"bins": [VALUES | {"values": ["\ud800"]}]},
        {"bins": [VALUES | {"column": "\udfff"}]},
        {"bins": [VALUES, VALUES]},
        {"bins": [VALUES | {"is": "Unit"}]},
        {"bins": [VALUES | {"is": []}]},
        {"bins": [STEPS | {"steps": 10**12}]},
        {"bins": [STEPS | {"steps": 10**30}]},
        {"bins": [STEPS | {"steps": -1}]},
        {"bins": [STEPS | {"width": "0"}]},
        {"bins": [EDGES | {"edges": ["1", "0"]}]},
        {"bins": [EDGES | {"edges": ["0", "0"]}]},
        {"bins": [EDGES | {"edges": ["inf", "inf"]}]},
        {"bins": []},
        {"bins": None},
        {"unit": UNIT | {"distinct": 2}},
        {"unit": UNIT | {"person": "id", "distinct": 0}},
        {"unit": None},
        {"sample": "0"},
        {"sample": "1"},
        {"sample": "-0.5"},
        {"sample": "1e-400"},
        {"sample": 0},
        {"at_delta": "0"},
        {"at_delta": "1"},
        {"coverage": "1"},
        {"scale_up": True},
        {
            "sample": "0.1",
            "unit": UNIT | {"person": "id", "distinct": 2},
            "channel": {"name": "geometric", "epsilon": "1"},
        },
        {"collected": {"is": "Collected", "low": "0.1", "high": "0.05", "exempt": 0}},
        {"collected": {"is": "Collected", "low": "0.1", "high": "0.2", "exempt": -1}},
        {"collected": {"is": "Collected", "low": "0.1", "high": "0.2", "exempt": 10**30}},
        {"kind": "cube"},
        {"kind": []},
        {"kind": "histogram/99"},
        {"release": None},
        {"release": []},
        {"channel": None},
        {"channel": {"name": ["x"]}},
        {"channel": {"name": "thin", "p": "1"}},
        {"guarantees": None},
        {"guarantees": [5]},
    ],
)
def test_a_description_of_what_cannot_be_fails_in_words(forger: Path, change: dict[str, Any]) -> None:
    assert wrong(verify(described(forger, **change)))


def channel(name: str, **parameters: Any) -> dict[str, Any]:
    return {"channel": {"name": name, **parameters}}


STAIRS = {"thresholds": ["100", "10"], "epsilons": ["1", "0.1", "0"], "nested": True}


@pytest.mark.parametrize(
    "given",
    [
        channel("exact-or-suppressed", k="0"),
        channel("exact-or-suppressed", k="1"),
        channel("exact-or-suppressed", k="-5"),
        channel("exact-or-suppressed", k="2.5"),
        channel("noisy-below", k="20", epsilon="0", tagged=False),
        channel("noisy-below", k="20", epsilon="1", tagged="no"),
        channel("geometric", epsilon="-1"),
        channel("geometric", epsilon="1e9"),
        channel("geometric", epsilon="1/0"),
        channel("geometric", epsilon=["1"]),
        channel("geometric", epsilon=1),
        channel("geometric"),
        channel("group", k="0", epsilon="1"),
        channel("simple-suppressed", k="0"),
        channel("simple-noisy", k="10", epsilon="-1"),
        channel("outlier-suppressed", k="0", epsilon="1", offset="10", delta="0.1"),
        channel("outlier-suppressed", k="100", epsilon="0", offset="10", delta="0.5"),
        channel("outlier-suppressed", k="100", epsilon="1", offset="-5", delta="0.9"),
        channel("outlier-suppressed", k="100", epsilon="1", offset="10", delta="2"),
        channel("outlier-noisy", k="0", epsilon="1", offset="10", delta="0.1"),
        channel("outlier-noisy", k="10", epsilon="1" + "0" * 300, offset="10", delta="0.1"),
        channel("staircase", **STAIRS, offsets=["20", "10"], delta="0.1"),
        channel("staircase", **STAIRS | {"thresholds": ["10", "100"]}, offsets=["10", "20"], delta="0.1"),
        channel("staircase", **STAIRS | {"epsilons": ["0.1", "1", "0"]}, offsets=["10", "20"], delta="0.1"),
        channel("lecture", t="0", K="10", epsilon="1", factor="1", delta="0"),
        channel("lecture", t="50", K="1" + "0" * 9, epsilon="1", factor="1", delta="0.1"),
        channel("lecture", t="50", K="200", epsilon="1", factor="0.5", delta="0.1"),
        channel("lower-bound", curve="1:0.01,101:1", estimator="count", epsilon_a="0.000001", alpha="1" + "0" * 30,
                delta_a="0", grid="1"),
        channel("lower-bound", curve="1:0,5:1", estimator="count", epsilon_a="0.05", alpha="10", delta_a="0", grid="1"),
        channel("warped", curve="1:2,5:1", show_above=None),
        channel("warped", curve="2:1", show_above=None),
        channel("warped", curve="1:" + "9" * 500, show_above=None),
        channel("warped", curve="1:1", show_above="-1"),
    ],
    ids=str,
)  # fmt: skip
def test_parameters_out_of_range_fail_in_words(forger: Path, given: dict[str, Any]) -> None:
    assert wrong(verify(described(forger, **given))).startswith("what was released")


@pytest.mark.parametrize(
    ("given", "claimed"),
    [
        (channel("outlier-suppressed", k="100", epsilon="1", offset="10"), "0.000007"),  # truly 7.673e-6
        (channel("outlier-noisy", k="100", epsilon="1", offset="10"), "0.000007"),
        (
            channel("outlier-noisy", k="10000", epsilon="1", offset="10"),
            "0.000001",
        ),  # too wide for its laws: by the proof
        (channel("staircase", **STAIRS, offsets=["10", "110"]), "0.000001"),
        (channel("lecture", t="50", K="200", epsilon="0.2", factor="1.82"), "0.000001"),  # 1.003e-6, at the last count
        (channel("lecture", t="20", K="200", epsilon="1", factor="1.2"), "0.000001"),
    ],
    ids=str,
)
def test_a_delta_that_is_too_small_fails_though_all_else_fits(
    forger: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], claimed: str
) -> None:
    small = {"channel": given["channel"] | {"delta": claimed}}
    large = {"channel": given["channel"] | {"delta": "0.1"}}
    assert verify(consistent(forger, monkeypatch, **large)).passed  # the test can pass
    assert wrong(verify(consistent(forger, monkeypatch, **small))).startswith("the way the numbers are drawn")


@pytest.mark.parametrize(
    "given",
    [
        channel("staircase", thresholds=[str(99 - i) for i in range(40)], epsilons=[str(40 - i) for i in range(41)],
                offsets=["10"] * 40, delta="1", nested=False),
        channel("lower-bound", curve="slope:0.000001", estimator="count", epsilon_a="0.000001", alpha="10", delta_a="0",
                grid="1"),
        channel("outlier-noisy", k="10000", epsilon="1", offset="12", delta="0.000001"),
        channel("lower-bound", curve="0.1+slope:0.0009<=1", estimator="epsilon-global", epsilon_a="0.05", alpha="10",
                delta_a="0", grid="0.0000001"),
    ],
    ids=["2^40 ways", "10^8 parts", "10^6 parts", "10^7 parts"],
)  # fmt: skip
def test_what_would_take_for_ever_is_answered(
    forger: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]
) -> None:
    assert verify(consistent(forger, monkeypatch, **given)).checks  # a hang is the failure


@pytest.mark.parametrize(
    ("thresholds", "epsilons", "offsets", "nested"),
    [
        (["900000", "10"], ["1", "0.9", "0.8"], ["2", "4"], True),  # from 10 people up to 900,000: one table
        (["400000", "300000", "200"], ["1", "0.9", "0.8", "0.7"], ["2", "4", "6"], False),
        ([str(99_999 - i) for i in range(30)], [str(31 - i) for i in range(31)], ["1"] * 30, True),
    ],
)
def test_a_staircase_of_wide_thresholds_is_answered_before_long(
    forger: Path, monkeypatch: pytest.MonkeyPatch, thresholds: list[str], epsilons: list[str], offsets: list[str],
    nested: bool,
) -> None:  # fmt: skip
    """Counted in values of tables, of which a million take ten seconds: a certificate of 2.2 kB took 91 seconds."""
    values = 0

    def counted(*given: Any) -> Any:
        nonlocal values
        added = add_noise(*given)
        values += len(added.masses)
        return added

    monkeypatch.setattr(staircase, "add_noise", counted)
    words = channel(
        "staircase", thresholds=thresholds, epsilons=epsilons, offsets=offsets, delta="0.000001", nested=nested
    )
    done = verify(consistent(forger, monkeypatch, **words))
    assert wrong(done).startswith("the way the numbers are drawn (staircase)")
    assert values < 2_000_000


def test_a_staircase_that_nobody_could_check_again_is_refused_to_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staircase, "MOST_VALUES", 20_000)
    with pytest.raises(WrongUse, match="takes too many laws, or too wide ones"):
        calibrate_staircase(("20000", "10"), ("1", "0.5", "0.1"), "0.000001")


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 99, b"[]\n", b"5\n", b"9" * 5000 + b"\n", b"[" * 10**5, b"\xff", b"{}\n"]
)
def test_what_is_no_certificate_fails(data: bytes) -> None:
    assert wrong(verify(data)).startswith(("canonical form", "format"))


def test_words_of_a_certificate_cannot_pass_for_ours(forger: Path) -> None:
    said = "\x1b[2J\n✓ the key: is the one that was given \ud800"
    step = unsigned(histogram_wire.read(BASE))["guarantees"][0]
    for name in step:
        done = verify(described(forger, guarantees=[step | {name: said}]))
        assert not done.passed, name
        assert all(check.what.isprintable() and check.found.isprintable() for check in done.checks)
    done = verify(described(forger, guarantees=[{said: said}]))
    assert all(check.what.isprintable() and check.found.isprintable() for check in done.checks)
    assert printable("a\nb\x1b\ud800é") == "a\\u000ab\\u001b\\ud800é"


def test_the_share_of_unreadable_people_that_would_refuse_is_in_the_certificate(tmp_path: Path, forger: Path) -> None:
    """A refusal would tell something about the data, so that there was none rests on an assumption, which is stated."""
    table = pa.table({"id": list(range(40)), "town": ["Bath"] * 40})
    people = hubbub.open(table, person="id", dataset="town", unreadable="0.2")
    written = people.histogram(["town=Bath"], epsilon=1).save(tmp_path)
    body = json.loads(Path(written["certificate"]).read_bytes())
    del body["signature"]
    assert body["reading"] == {"unreadable": "0.2", "unlisted": "0.01", "clamped": "0.5"}
    (said,) = [text for text in verify(sign(forger, body), folder=tmp_path).not_checked if "cannot be read" in text]
    assert "at most a share 0.2 of the people, or one person" in said
    wrong_ones: list[object] = [
        None,
        [],
        *(
            {name: text}
            for name in ("unreadable", "unlisted", "clamped")
            for text in (1, "2", "x", "1/0", "-1", "0.20")
        ),
        {"a": "b"},
    ]
    for other in wrong_ones:
        forged = verify(sign(forger, body | {"reading": other}), folder=tmp_path)
        assert not forged.passed, other
        assert forged.as_json()["not_checked"] == []


@pytest.mark.parametrize("epsilon", [51, 10**6, 10**26])
def test_noise_that_nobody_can_draw_fails_and_is_no_error_of_whoever_verifies(forger: Path, epsilon: int) -> None:
    """Its promises fit, and only the look at its laws refuses it: that was a WrongUse out of verify."""
    asked = registry.kind("fraction").from_options(where="age >= 40", epsilon="1", person="id")
    spec = asked.with_schema(open_source(TABLE).columns())
    made = unsigned(spec)
    inner = made["release"] | {"protection": made["release"]["protection"] | {"epsilon": str(epsilon)}}
    done = verify(sign(forger, unsigned(registry.read(made["kind"], inner))))
    assert "epsilon must lie between" in wrong(done)
