"""Verification: what Hubbub saved passes, and whatever else somebody makes of it fails, also if it is signed again."""

from __future__ import annotations

import json
import random
import re
from copy import deepcopy
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.certificate.certificate import SIGNATURE
from hubbub.kinds.histogram import wire as histogram_wire
from hubbub.ledger import key
from hubbub.protocol.result import Sheet
from hubbub.serialization.canonical import canonical
from hubbub.verification import verify
from hubbub.verification.comparison import difference
from tests.fresh import unsigned
from tests.unit.shared.forged import BASE, wrong
from tests.unit.shared.histogram_requests import WORDS
from tests.unit.shared.saved import OTHERS, Saved, sign

SEED = 4  # of the edits; any will do


# --- what passes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*WORDS, *OTHERS])
def test_what_was_saved_passes(name: str, tmp_path: Path) -> None:
    one = Saved(tmp_path, (WORDS | OTHERS)[name])
    done = verify(one.data, folder=tmp_path, dataset=one.body["ledger"]["dataset"])
    assert done.passed, wrong(done)
    assert (done.files, done.missing) == (("datapackage.json", "release.csv"), ())
    told = [check.what for check in done.checks]
    assert told[:6] == ["canonical form", "format", "signed", "the signature", "place in the ledger", "the dataset"]
    assert done.promises == one.made.promises
    granted = (text for step in one.made.promises for text in step.all_assumptions())
    assert done.assumptions == tuple(dict.fromkeys(granted))


@pytest.mark.parametrize(
    "by", ["town", "town=null", "age:[-10,0,10)", "age:[-inf,0.5,inf)", "age:-10..10:5,null", "day:year:2000..9999"]
)
def test_whatever_bins_can_be_asked_for_pass(by: str, tmp_path: Path) -> None:
    done = verify(Saved(tmp_path, {"crowd": 20}, by).data)
    assert done.passed, wrong(done)


def test_a_table_in_which_nothing_is_shown_passes_and_a_row_more_fails(tmp_path: Path) -> None:
    one = Saved(tmp_path, {"crowd": 100_000})
    assert verify(one.data, folder=tmp_path).passed
    batch = pa.record_batch({"town": pa.array([], pa.string())})
    sheet = Sheet("release", batch.schema, lambda: iter([batch]), 0)
    (tmp_path / "none.csv").write_text('"town"\n')
    (tmp_path / "one.csv").write_text('"town"\n"Bath"\n')
    assert difference(sheet, tmp_path / "none.csv", "csv") is None
    assert difference(sheet, tmp_path / "one.csv", "csv") == "it has more rows than follow from its numbers"


def test_a_hundred_thousand_bins_pass(forger: Path) -> None:
    bins = [
        {
            "is": "Values",
            "column": "town",
            "values": [f"town {i}" for i in range(10**5)],
            "null": True,
            "other": False,
            "reads": "",
        }
    ]
    bins[0]["other"] = False
    done = verify(sign(forger, unsigned(histogram_wire.read(BASE | {"bins": bins, "sample": "0.05"}))))
    assert done.passed, wrong(done)


def test_the_right_key_passes_and_another_fails(saved: Saved, forger: Path) -> None:
    right = json.loads(saved.data)[SIGNATURE]["public_key"]
    assert verify(saved.data, key=right).passed
    assert wrong(verify(saved.data, key=key.public(forger))).startswith("the key")


def test_who_signed_and_which_files_were_there_is_told(saved: Saved, forger: Path, tmp_path: Path) -> None:
    public = json.loads(saved.data)[SIGNATURE]["public_key"]
    folder = saved.release.parent
    alone = verify(saved.data)
    assert (alone.signer, alone.public_key, alone.files, alone.missing) == (
        None,
        public,
        (),
        ("release.csv",),
    )
    assert (alone.passed, alone.complete) == (True, False)
    assert "unknown key" in alone.verdict
    assert "not checked, because not there: release.csv" in alone.verdict
    whole = verify(saved.data, folder=folder, known={public: "the town"}.get)
    assert (whole.signer, whole.files, whole.missing, whole.complete) == (
        "the town",
        ("datapackage.json", "release.csv"),
        (),
        True,
    )
    assert whole.verdict == "The certificate holds, signed by the town."
    assert verify(saved.data, folder=folder, key=public).complete
    assert not verify(saved.data, folder=folder, known={key.public(forger): "the town"}.get).complete
    elsewhere = tmp_path / "elsewhere.csv"
    elsewhere.write_bytes(saved.release.read_bytes())
    assert verify(saved.data, release=elsewhere, key=public).complete


def test_a_name_for_the_signer_cannot_pass_for_more(saved: Saved) -> None:
    told = verify(saved.data, known=lambda public: "x\n✓ everything\x1b[2J").verdict
    assert told.isprintable()


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
    twice = saved.data.replace(b'{\n "files"', b'{\n "format": "hubbub certificate 1",\n "files"')
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
    other = Saved(tmp_path / "other", {"epsilon": 1, "sample": "0.05"}, "town=York,Bath,other")
    assert verify(other.data, release=other.release).passed
    assert wrong(verify(other.data, dataset=saved.body["ledger"]["dataset"])).startswith("the dataset")
    assert wrong(verify(other.data, release=saved.release)).startswith("the file release.csv")
    assert wrong(verify(saved.data, release=other.release)).startswith("the file release.csv")
    assert wrong(verify(saved.data, release=tmp_path / "none.csv")).startswith("the file release.csv")
    assert wrong(verify(saved.data, release=tmp_path)).startswith("the file release.csv")
