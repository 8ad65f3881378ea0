"""What whole commands cost, from the start of the interpreter to its end, in CPU time, beside what they may."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import pyarrow.parquet as parquet

from hubbub.certificate.certificate import FORMAT, SIGNATURE, derivation_json, signed_bytes
from hubbub.demo import millbrook
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger import key
from hubbub.serialization.canonical import canonical

REPEATS: Final = 3
_ENTRY: Final = {"id": "1" * 32, "dataset": "town", "hash": "2" * 64, "nonce": "3" * 32}


def cpu(words: list[str], home: Path, turn: int) -> float:
    """Seconds of CPU of one command, with a ledger of its own for each turn."""
    places = {"XDG_DATA_HOME": str(home / f"data-{turn}"), "XDG_STATE_HOME": str(home / f"state-{turn}")}
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    places["PYTHONPYCACHEPREFIX"] = str(home / "compiled")  # as after an installation, whatever the shell says
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    script = [sys.executable, "-c", "from hubbub.start import main; main()", *words]
    subprocess.run(script, env={**kept, **places}, stdout=subprocess.DEVNULL, check=True, cwd=home)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lecture_certificate(place: Path) -> None:
    """A certificate of the lecture notes' noise with K = 20,000, signed."""
    spec = histogram(
        ["salary:0..300000:10000"],
        channel="lecture",
        options={"t": 1000, "K": 20_000, "epsilon": "0.02", "factor": "1.8"},
    )
    body = {
        "format": FORMAT,
        "software": "hubbub 0",
        "kind": spec.kind.wire,
        "release": spec.to_json(),
        "reading": {},
        "files": {"release.csv": "0" * 64},
        "ledger": _ENTRY,
        "guarantees": [derivation_json(step) for step in spec.promises()],
    }
    owner = place.with_suffix(".db")
    key.make(owner)
    value = key.sign(owner, signed_bytes(body))
    mark = {"algorithm": key.ALGORITHM, "public_key": key.public(owner), "value": value}
    place.write_bytes(canonical(body | {SIGNATURE: mark}))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        parquet.write_table(millbrook.people(), home / "millbrook.parquet")
        lecture_certificate(home / "lecture.json")
        (home / "tied.csv").write_text("\n".join(["rank1", *(f"c{i % 100}" for i in range(200))]) + "\n")
        gentle = ["channel", "profile", "--channel", "warped", "--counts", "1..130", "--curve"]
        release = [
            "release",
            "histogram",
            "millbrook.parquet",
            "--person",
            "resident",
            "--by",
            "department",
            "--crowd",
            "20",
            "--sample",
            "0.2",
            "--out",
            "out-{}",
        ]
        tasks = (
            ("help", 0.1, ["--help"]),
            ("a small release", 0.8, release),
            ("verify, the small release", 0.4, ["verify", "out-{}/certificate.json"]),
            ("a profile of slope:0.0001<=1", 1.0, [*gentle, "slope:0.0001<=1"]),
            ("a profile of slope:0.000001<=1", 1.0, [*gentle, "slope:0.000001<=1"]),
            ("verify, lecture notes, K = 20,000", 1.0, ["verify", "lecture.json", "--certificate-only"]),
            ("instant-runoff, 100 tied", 1.0, ["vote", "tally", "tied.csv", "--rule", "instant-runoff"]),
        )
        for task, limit, words in tasks:
            times = [cpu([word.format(i) for word in words], home, i) for i in range(REPEATS)]
            verdict = "met" if min(times) <= limit else "MISSED"
            print(f"{task:40s} {min(times):6.2f} s of CPU   (at most {limit}) {verdict}", file=sys.stderr)
            print(json.dumps({"benchmark": "commands", "task": task, "cpu": min(times), "limit": limit}), flush=True)


if __name__ == "__main__":
    main()
