"""Verification: what Hubbub saved passes, and whatever else somebody makes of it fails, also if it is signed again."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hubbub.certificate import SIGNATURE, certificate, release_of, signed_bytes
from hubbub.files import save
from hubbub.guarantees.canonical import canonical
from hubbub.ledger import key
from hubbub.tables import description
from hubbub.tables.promises import promises
from hubbub.verify import Checked, load, printable, verify
from tests.fresh import ENTRY, enter
from tests.unit.test_certificate import TOWNS, WORDS

SEED = 4  # of the edits; any will do
DAYS = [date(9999, 12, 31), date(2024, 2, 29), None]
TABLE = pa.table(
    {
        "town": pa.array(TOWNS, pa.string()),
        "id": list(range(len(TOWNS))),
        "age": [float(i - 10) for i in range(len(TOWNS))],
        "day": pa.array([DAYS[i % 3] for i in range(len(TOWNS))], pa.date32()),
    }
)
OTHERS: dict[str, dict[str, Any]] = {
    "printed": {
        "channel": "staircase",
        "options": {"thresholds": "30,10", "epsilons": "1,0.5,0", "delta": "1e-3", "as_printed": True},
    },
    "calibrated": {
        "channel": "staircase",
        "options": {"thresholds": "30,10", "epsilons": "1,0.5,0", "delta": "1e-4"},
    },
    "group": {"channel": "group", "options": {"k": 10, "epsilon": 1}},
    "simple hidden": {"channel": "simple-suppressed", "options": {"k": 10}},
    "simple noisy": {"channel": "simple-noisy", "options": {"k": 10, "epsilon": 2}, "sample": "0.05"},
    "example 4": {"channel": "outlier-suppressed", "options": {"k": 10, "epsilon": 1, "delta": "1e-6"}},
    "example 5": {"channel": "outlier-noisy", "options": {"k": 10, "epsilon": 1, "alpha": 10}},
    "lecture": {"channel": "lecture", "options": {"t": 5, "K": 20, "epsilon": 1}},
    "lower bound": {
        "channel": "lower-bound",
        "options": {"curve": "1:0.5,20:1", "estimator": "count", "epsilon_a": "0.1", "alpha": 5},
    },
    "a curve that was lowered": {"outlier": "1:1,5:0.5"},
}


class Saved:
    """A release on the disk, with its certificate."""

    def __init__(self, folder: Path, words: dict[str, Any], by: str = "town=Bath,York,other") -> None:
        written = save(enter(TABLE, person="id").histogram([by], **words), folder)
        self.release, self.certificate = Path(written["release"]), Path(written["certificate"])
        self.data = load(self.certificate)

    @property
    def body(self) -> dict[str, Any]:
        """Without its signature."""
        read: dict[str, Any] = json.loads(self.data)
        del read[SIGNATURE]
        return read


def _saved_once(home: Path, words: dict[str, Any]) -> Saved:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home / "data"))
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        return Saved(home / "out", words)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """A release with several promises, made once."""
    return _saved_once(tmp_path_factory.mktemp("saved"), {"epsilon": 1, "sample": "0.05"})


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """One with a short certificate."""
    return _saved_once(tmp_path_factory.mktemp("small"), {"epsilon": 1})


@pytest.fixture(scope="module")
def forger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody else's key."""
    place = tmp_path_factory.mktemp("forger") / "ledger.db"
    key.make(place)
    return place


def sign(forger: Path, body: dict[str, Any]) -> bytes:
    """A certificate that says this, signed by somebody else."""
    value = key.sign(forger, signed_bytes(body))
    return canonical(body | {SIGNATURE: {"algorithm": key.ALGORITHM, "public_key": key.public(forger), "value": value}})


BASE: dict[str, Any] = {
    "kind": "histogram",
    "bins": [{"is": "Values", "column": "town", "values": ["Bath"], "null": False, "other": True}],
    "channel": {"name": "exact-or-suppressed", "k": "20"},
    "unit": {"is": "Unit", "person": None, "one_row_per_person": False, "distinct": None},
    "sample": None,
    "collected": None,
    "at_delta": "0.000000001",
    "coverage": "0.95",
    "scale_up": False,
    "remarks": [],
}


def described(forger: Path, **changes: Any) -> bytes:
    """A certificate for this description in which nothing else is changed: whoever reads it must not stumble."""
    spec = description.described(BASE)
    made = certificate(spec, spec.axes, promises(spec, spec.axes), release_of("release.csv", "0" * 64), ENTRY)
    return sign(forger, made | changes)


def consistent(forger: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> bytes:
    """A certificate that a forger makes with this very program, after taking out its checks of the description."""
    with monkeypatch.context() as patch:
        patch.setattr("hubbub.channels.catalogue._check_made", lambda kind, given: None)
        spec = description._read(BASE | changes)
        made = certificate(spec, spec.axes, promises(spec, spec.axes), release_of("release.csv", "0" * 64), ENTRY)
    return sign(forger, made)


def wrong(done: Checked) -> str:
    assert not done.passed
    assert [check.passed for check in done.checks] == [True] * (len(done.checks) - 1) + [False]
    return f"{done.checks[-1].what}: {done.checks[-1].found}"


# --- what passes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*WORDS, *OTHERS])
def test_what_was_saved_passes(name: str, tmp_path: Path) -> None:
    one = Saved(tmp_path, (WORDS | OTHERS)[name])
    done = verify(one.data, release=one.release, dataset=one.body["ledger"]["dataset"])
    assert done.passed, wrong(done)
    told = [check.what for check in done.checks]
    assert told[:6] == ["canonical form", "format", "signed", "the signature", "place in the ledger", "the dataset"]
    assert done.assumptions == tuple(one.body["assumptions"])


@pytest.mark.parametrize(
    "by", ["town", "town=null", "age:[-10,0,10)", "age:[-inf,0.5,inf)", "age:-10..10:5,null", "day:year:2000..9999"]
)
def test_whatever_bins_can_be_asked_for_pass(by: str, tmp_path: Path) -> None:
    done = verify(Saved(tmp_path, {"crowd": 20}, by).data)
    assert done.passed, wrong(done)


def test_a_hundred_thousand_bins_pass(forger: Path) -> None:
    bins = [{"is": "Values", "column": "town", "values": [f"town {i}" for i in range(10**5)], "null": True}]
    bins[0]["other"] = False
    spec = description.described(BASE | {"bins": bins, "sample": "0.05"})
    made = certificate(spec, spec.axes, promises(spec, spec.axes), release_of("release.csv", "0" * 64), ENTRY)
    done = verify(sign(forger, made))
    assert done.passed, wrong(done)


def test_the_right_key_passes_and_another_fails(saved: Saved, forger: Path) -> None:
    right = json.loads(saved.data)[SIGNATURE]["public_key"]
    assert verify(saved.data, key=right).passed
    assert wrong(verify(saved.data, key=key.public(forger))).startswith("the key")


# --- what was changed -----------------------------------------------------------------------------------------------


def test_every_flipped_byte_fails(small: Saved) -> None:
    draw = random.Random(SEED)
    data = bytearray(small.data)
    for i, right in enumerate(data):
        for changed in (right ^ (1 << draw.randrange(8)), draw.choice([byte for byte in range(256) if byte != right])):
            data[i] = changed
            assert not verify(bytes(data)).passed, i
        data[i] = right
    assert verify(bytes(data)).passed


def _edited(data: bytes, draw: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
    at, length = draw.randrange(len(data)), draw.randrange(1, 9)
    match draw.randrange(6):
        case 0:
            return data[:at] + bytes(draw.randrange(32, 127) for _ in range(length)) + data[at + length :]
        case 1:
            return data[:at] + bytes(draw.randrange(32, 127) for _ in range(length)) + data[at:]
        case 2:
            return data[:at] + data[at + length :]
        case 3:
            lines.insert(i, lines[j])
        case 4:
            lines[i], lines[j] = lines[j], lines[i]
        case _:
            found = list(re.finditer(rb"\d", data))[draw.randrange(20)]
            return data[: found.start()] + str(draw.randrange(10)).encode() + data[found.end() :]
    return b"".join(lines)


def test_a_thousand_random_edits_fail(small: Saved) -> None:
    draw, tried = random.Random(SEED), 0
    while tried < 1000:
        edited = _edited(small.data, draw)
        if edited != small.data:
            tried += 1
            assert not verify(edited).passed, edited


def test_fields_that_are_moved_doubled_missing_or_added_fail(saved: Saved) -> None:
    whole = json.loads(saved.data)
    moved = dict(reversed(whole.items()))
    assert "canonical" in wrong(verify((json.dumps(moved, indent=1) + "\n").encode()))
    assert "canonical" in wrong(verify(json.dumps(whole).encode()))
    twice = saved.data.replace(b'{\n "assumptions"', b'{\n "at_delta": "0.5",\n "assumptions"')
    assert "twice" in wrong(verify(twice))
    for name in whole:
        assert not verify(canonical({field: value for field, value in whole.items() if field != name})).passed
    assert not verify(canonical(whole | {"more": "words"})).passed


def test_fields_that_are_missing_or_added_fail_though_signed_again(saved: Saved, forger: Path) -> None:
    assert verify(sign(forger, saved.body)).passed  # it says the same; who signed it is told, and asked with key
    for name in saved.body:
        assert not verify(sign(forger, {f: value for f, value in saved.body.items() if f != name})).passed, name
    assert "more" in wrong(verify(sign(forger, saved.body | {"more": "words"})))


@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": "none"},
        {"algorithm": "none", "value": ""},
        {"algorithm": "ed25519"},
        {"value": ""},
        {"value": "0" * 128},
        {"public_key": ""},
        {"public_key": "0" * 64},
        {"extra": ""},
    ],
)
def test_a_signature_of_another_kind_fails(saved: Saved, change: dict[str, str]) -> None:
    whole = json.loads(saved.data)
    whole[SIGNATURE] |= change
    assert wrong(verify(canonical(whole))).startswith(("signed", "the signature"))


def test_a_signature_in_capitals_by_another_or_none_fails(saved: Saved, forger: Path) -> None:
    whole = json.loads(saved.data)
    for name in ("value", "public_key"):
        changed = deepcopy(whole)
        changed[SIGNATURE][name] = changed[SIGNATURE][name].upper()
        assert wrong(verify(canonical(changed))).startswith("the signature")
    changed = deepcopy(whole)
    changed[SIGNATURE]["public_key"] = key.public(forger)
    assert wrong(verify(canonical(changed))).startswith("the signature")
    assert wrong(verify(canonical(saved.body))).startswith("signed")
    assert wrong(verify(canonical(whole | {SIGNATURE: None}))).startswith("signed")


def test_another_datasets_certificate_and_a_swapped_file_fail(saved: Saved, tmp_path: Path) -> None:
    other = Saved(tmp_path / "other", {"epsilon": 1, "sample": "0.05"})
    assert verify(other.data, release=other.release).passed
    assert wrong(verify(other.data, dataset=saved.body["ledger"]["dataset"])).startswith("the dataset")
    assert wrong(verify(other.data, release=saved.release)).startswith("the release file")
    assert wrong(verify(saved.data, release=other.release)).startswith("the release file")
    assert wrong(verify(saved.data, release=tmp_path / "none.csv")).startswith("the release file")
    assert wrong(verify(saved.data, release=tmp_path)).startswith("the release file")


# --- what was signed again ------------------------------------------------------------------------------------------


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
FREE = ("release_file", "release_sha256", "software", "ledger", "bins", "at_delta", "coverage")


def test_any_word_or_number_that_is_changed_fails_though_signed_again(saved: Saved, forger: Path) -> None:
    body = saved.body
    paths = [path for path in _leaves(body) if path[0] not in FREE]
    assert len(paths) > 50
    for path in paths:
        assert not verify(sign(forger, _changed(body, path))).passed, path


@pytest.mark.parametrize(
    "name", ["staircase", "uneven", "example 5", "lecture", "lower bound", "a curve that was lowered"]
)
def test_any_parameter_that_is_changed_fails_though_signed_again(name: str, tmp_path: Path, forger: Path) -> None:
    body = Saved(tmp_path, (WORDS | OTHERS)[name]).body
    assert verify(sign(forger, body)).passed
    for path in _leaves(body):
        if (
            path[0] in ("channel", "collected", "remarks", "unit") and path[-1] != "low"
        ):  # no theorem uses a lower limit
            assert not verify(sign(forger, _changed(body, path))).passed, path


@pytest.mark.parametrize(
    "change",
    [
        {"software": "hubbub 1.0, approved by everybody"},
        {"software": "hubbub 1\n✓ the key: is the one that was given"},
        {"release_sha256": "0" * 63},
        {"release_sha256": "G" * 64},
        {"release_file": "../release.csv"},
        {"release_file": "release.csv\0"},
        {"ledger": ENTRY | {"dataset": "town\n✓ the key"}},
        {"ledger": ENTRY | {"dataset": "\ud800"}},
        {"ledger": ENTRY | {"release": 0}},
        {"ledger": ENTRY | {"entry": 1}},
        {"ledger": ENTRY | {"hash": 1}},
        {"ledger": ENTRY | {"nonce": ""}},
        {"ledger": ENTRY | {"more": ""}},
        {"ledger": []},
        {"remarks": ["this release is 0.001-differentially private"]},
    ],
)
def test_what_hubbub_never_writes_fails_though_signed_again(forger: Path, change: dict[str, Any]) -> None:
    assert verify(described(forger)).passed
    assert not verify(described(forger, **change)).passed


VALUES, STEPS, EDGES = (
    {"is": "Values", "column": "a", "values": ["x"], "null": False, "other": False},
    {"is": "Steps", "column": "a", "low": "0", "width": "1", "steps": 10, "null": False, "other": False},
    {"is": "Edges", "column": "a", "edges": ["0", "1"], "open_below": False, "null": False, "other": False},
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
    assert wrong(verify(consistent(forger, monkeypatch, **small))).startswith("the channel")


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
    "data", [b"", b"\0" * 99, b"[]\n", b"5\n", b"9" * 5000 + b"\n", b"[" * 10**5, b"\xff", b"{}\n"]
)
def test_what_is_no_certificate_fails(data: bytes) -> None:
    assert wrong(verify(data)).startswith(("canonical form", "format"))


def test_words_of_a_certificate_cannot_pass_for_ours(forger: Path) -> None:
    promise = {"notion": "x", "says": "\x1b[2J\n✓ the key: is the one that was given \ud800"}
    done = verify(described(forger, guarantees=[promise]))
    assert all(check.what.isprintable() and check.found.isprintable() for check in done.checks)
    assert printable("a\nb\x1b\ud800é") == "a\\u000ab\\u001b\\ud800é"
