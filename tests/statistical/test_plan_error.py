"""The error that a plan promises against the error of real releases, with a size and a checked power.

The best design of each plan is drawn many times on data of the planned shape. The mean absolute error per bin must
agree with the promised one, and must not agree with one that is 3 % larger or smaller. Then the printed command runs
once, as it stands, on a file of that shape.
"""

from __future__ import annotations

import csv
import json
import math
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from scipy import stats

from hubbub.channels.law import SUPPRESSED
from hubbub.cli.main import commands
from hubbub.noise.source import ScriptedSource
from hubbub.plan.designs import Design, plan, read_rates, request
from hubbub.plan.shape import Shape, even, zipf
from hubbub.plan.targets import Want

SIZE = 1e-6  # of each test: the probability that a right promise is rejected
POWER = 0.999  # at least this probability that a promise OFF away is rejected
OFF = 0.03
RUNS = 3000  # releases drawn for each design
Z = float(stats.norm.isf(SIZE / 2))
FRESH = 10.0  # standard deviations for a release whose noise is new in every run: a false alarm in 1e20 runs

PLANS = {
    "zero-knowledge zipf": (
        zipf(20_000, 100),
        {"want": Want.ZERO_KNOWLEDGE, "epsilon": "0.5", "delta": "1e-9", "rates": "0.2"},
    ),
    "zero-knowledge even": (
        even(20_000, 50),
        {"want": Want.ZERO_KNOWLEDGE, "epsilon": "0.2", "delta": "1e-6", "rates": "0.1"},
    ),
    "crowd-blending": (zipf(3_000, 200), {"want": Want.CROWD_BLENDING, "epsilon": "0.5", "k": 20}),
    "outlier": (zipf(20_000, 60), {"want": Want.OUTLIER, "curve": "1:0.01,101:1"}),
}


def designs(name: str) -> tuple[Shape, tuple[Design, ...]]:
    shape, words = PLANS[name]
    given = {key: value for key, value in words.items() if key not in ("want", "rates")}
    rates = read_rates(str(words["rates"])) if "rates" in words else ()
    asked = request(words["want"], shape, [f"bin:0..{shape.bins}:1"], **{"epsilon": None, **given}, rates=rates)  # type: ignore[arg-type]
    return shape, plan(asked).designs


def errors(design: Design, shape: Shape, label: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The mean absolute error per bin of each of RUNS releases."""
    counts = np.tile(np.array(shape.counts(), dtype=np.int64), RUNS)
    rate = 1.0 if design.rate is None else float(design.rate)
    out = design.spec.sampled_channel.release(counts, ScriptedSource.from_label(label))
    hidden = np.array([name.startswith(SUPPRESSED) for name in out.names])[out.tags]
    told = np.where(hidden, 0.0, out.values / rate)
    found: np.ndarray[tuple[int], np.dtype[np.float64]] = np.abs(told - counts).reshape(RUNS, shape.bins).mean(axis=1)
    return found


@pytest.mark.parametrize("name", PLANS)
def test_the_promised_error_is_met(name: str) -> None:
    shape, found = designs(name)
    for design in (found[0], found[-1]):  # the best, and the one that hides or blurs most
        promised = design.expected.error
        seen = errors(design, shape, f"plan {name} {design.spec.channel.name}")
        mean, spread = float(seen.mean()), float(seen.std(ddof=1)) / math.sqrt(RUNS)
        if spread < 1e-9 * promised:  # nothing is drawn at random
            assert math.isclose(mean, promised, rel_tol=1e-9)
            continue
        z = (mean - promised) / spread
        told = f"{name}: n = {RUNS}, seen {mean:.5g}, promised {promised:.5g}, z = {z:.2f}, threshold {Z:.2f}"
        assert abs(z) <= Z, told
        # Power: a promise OFF away lies so many standard errors off that it is rejected with probability POWER.
        away = OFF * promised / spread - Z
        assert stats.norm.cdf(away) >= POWER, f"{told}; a promise {OFF:.0%} off would pass too often"
        for wrong in (promised * (1 + OFF), promised * (1 - OFF)):
            assert abs(mean - wrong) / spread > Z, told


def test_the_printed_command_shows_the_error_it_promised(tmp_path: Path) -> None:
    shape, _ = PLANS["zero-knowledge zipf"]
    counts = shape.counts()
    people = pa.table({"bin": np.repeat(np.arange(shape.bins), counts)})
    pq.write_table(people, tmp_path / "people.parquet")
    line = (
        f"plan --people {shape.people} --bins {shape.bins} --want zero-knowledge --epsilon 0.5 --delta 1e-9 --rate 0.2"
    )
    words = [*line.split(), "--file", str(tmp_path / "people.parquet"), "--out", str(tmp_path / "out"), "--json"]
    best = json.loads(CliRunner().invoke(commands, words, catch_exceptions=False).stdout)["best"]
    done = CliRunner().invoke(commands, [*shlex.split(best["command"])[1:], "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    with open(told["release"], newline="") as opened:
        rows = list(csv.DictReader(opened))
    published = [0.0 if row["count"] == "" else float(row["count"]) / 0.2 for row in rows]
    seen = float(np.abs(np.array(published) - counts).mean())
    _, found = designs("zero-knowledge zipf")
    spread = float(errors(found[0], shape, "plan spread").std(ddof=1))
    promised = best["error"]
    assert abs(seen - promised) <= FRESH * spread, f"seen {seen:.4g}, promised {promised:.4g}, sd {spread:.3g}"
    # One release can tell: hiding everything, or noise for everybody without a sample, lie outside.
    everything_hidden = float(np.mean(counts))
    assert abs(everything_hidden - promised) > FRESH * spread
    assert [g["notion"] for g in told["guarantees"]][:2] == ["zero-knowledge", "crowd-blending"]
