"""Octave sums: Theorem O by exact laws, what the drawn numbers say, and what is refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from hubbub.channels.mechanisms.warped import Warped
from hubbub.cli.main import commands
from hubbub.engines.opening import open_source
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.guarantees.curve import Curve
from hubbub.guarantees.definitions import DifferentialPrivacy, TailoredPrivacy
from hubbub.guarantees.derivation import state_promise
from hubbub.guarantees.implications import outlier_to_differential
from hubbub.kinds.sum.estimates import estimated_total
from hubbub.kinds.sum.mechanism import OctaveSums, present, rows_of
from hubbub.kinds.sum.octaves import Octaves, Tailored, bands_up_to, octaves_of, tau
from hubbub.kinds.sum.request import from_options, total
from hubbub.kinds.sum.spec import Sum
from hubbub.noise.source import ScriptedSource
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.exact_json import plain
from hubbub.tables.privacy_unit import Unit

CURVES = ["1", "1:0.4,6:1,16:2", "0.3+slope:0.1<=2"]
Floats = NDArray[np.float64]


def spec_of(curve: str = "1:0.4,6:1", delta: str = "0.01", of: str = "x:0..7:1", **words: Any) -> Sum:
    return total(of=of, tailored=curve, delta=delta, **words)


def number_law(channel: Warped, people: int, most: int) -> Floats:
    """P(J = j), j = 0..most; what lies beyond is left out."""
    here = float(channel.total_loss(people))
    return np.array(
        [
            float(channel.weight(j).value.mid()) * np.exp(-abs(here - float(channel.total_loss(j))))
            for j in range(most + 1)
        ]
    )


def sum_law(rate: float, at: int, reach: int) -> Floats:
    """P(S = o), o = -reach..reach, of a sum `at` with noise."""
    q = np.exp(-rate)
    law: Floats = (1 - q) / (1 + q) * np.exp(-rate * np.abs(np.arange(-reach, reach + 1) - at))
    return law


# --- Theorem O ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("curve", CURVES)
def test_theorem_o_nobody_loses_more_than_the_curve_beside_the_exact_tail(curve: str) -> None:
    """A band of width 3, 1 to 25 people of whom one leaves who has the most above its low end: the exact delta at the
    curve is at most the tail that is claimed, in both directions, and outside of it the whole curve is lost."""
    octaves = octaves_of(Tailored(Curve.from_text(curve), Fraction(1, 100)), 7, 1)
    channel, s, width = octaves.channel, octaves.threshold, 3
    assert octaves.bands[2] == (4, 7)
    for people in range(1, 26):
        most, reach = people + s + 60, 80
        epsilon = float(Curve.from_text(curve).at(people))  # type: ignore[arg-type]
        laws = [number_law(channel, each, most) for each in (people, people - 1)]
        worst, deltas = 0.0, [0.0, 0.0]
        for j in range(most + 1):
            one, other = (np.array([law[j]]) for law in laws)
            if octaves.has_sum(2, j):
                rate = float(octaves.rate(2, j))
                one, other = one * sum_law(rate, width, reach), other * sum_law(rate, 0, reach)
            for way, (p, q) in enumerate(((one, other), (other, one))):
                deltas[way] += float(np.maximum(p - np.exp(epsilon) * (1 + 1e-12) * q, 0).sum())
            if j <= people + s:
                worst = max(worst, float(np.abs(np.log(one / other)).max()))
        claimed = float(tau(octaves.half, s, people))
        assert max(deltas) <= claimed <= float(octaves.delta) <= 0.01
        assert 0.99 * epsilon <= worst <= epsilon + 1e-9


@pytest.mark.parametrize("curve", [*CURVES, "1:0.01,101:1", "1:0.2,3:5", "0.001+slope:0.5<=3"])
def test_theorem_o_the_tail_is_largest_for_somebody_alone(curve: str) -> None:
    half = Curve.from_text(curve).times(Fraction(1, 2))
    for s in (0, 1, 5, 30):
        tails = [tau(half, s, people) for people in range(1, 130)]
        assert tails == sorted(tails, reverse=True)


def test_theorem_o_the_threshold_is_the_least_that_keeps_the_delta() -> None:
    for cells, curve in itertools.product((1, 3), CURVES):
        asked = Tailored(Curve.from_text(curve), Fraction(1, 10**6))
        found = octaves_of(asked, 100, cells)
        assert found.delta <= asked.delta < cells * tau(found.half, found.threshold - 1)
        assert found.half == asked.curve.times(Fraction(1, 2 * cells))


@pytest.mark.parametrize("rows_per_person", [1, 3])
def test_theorem_o_over_all_tables_of_three_people_with_three_rows(rows_per_person: int) -> None:
    """Values of 1, 2 and 3 in one bin: one of the rows at random, or all of them and their sum, cut to 3. A person's
    bands are those that some of their rows may lead to, and count who may be in them."""
    curve, delta = Curve.from_text("1:1,2:1.5,3:2"), Fraction(1, 5)
    octaves = octaves_of(Tailored(curve, delta), 3, 1)
    persons = {
        tuple(sorted(rows)) if rows_per_person == 1 else (min(sum(rows), 3),)
        for n in range(1, 4)
        for rows in itertools.combinations_with_replacement((1, 2, 3), n)
    }
    channel, last, reach = octaves.channel, 30, 20

    def density(ones: int, more: int, above: int) -> Floats:
        """Of J of the band 1, and of J with S of the band 2..3: where no sum is told it is 0."""
        first, second = number_law(channel, ones, last), number_law(channel, more, last)
        table = np.zeros((last + 1, 2 * reach + 1))
        for j in range(last + 1):
            if octaves.has_sum(1, j):
                table[j] = sum_law(float(octaves.rate(1, j)), above, reach)
            else:
                table[j, reach] = 1
        return np.multiply.outer(first, second[:, None] * table).ravel()

    known: dict[tuple[int, int, int], Floats] = {}

    def law(people: Sequence[tuple[int, ...]]) -> Floats:
        """Over every choice of one value of each."""
        found = np.zeros((last + 1) ** 2 * (2 * reach + 1))
        for kept in itertools.product(*people):
            state = sum(x == 1 for x in kept), sum(x > 1 for x in kept), sum(x - 2 for x in kept if x > 1)
            if state not in known:
                known[state] = density(*state)
            found += known[state]
        return found / np.prod([len(each) for each in people])

    kinds, worst = sorted({tuple(sorted(set(each))) if len(set(each)) == 1 else each for each in persons}), 0.0
    for n in range(3):
        for others in itertools.combinations_with_replacement(kinds, n):
            without = law(others)
            for person in kinds:
                bands = {x > 1 for x in person}
                crowd = max(1 + sum(any((x > 1) == band for x in each) for each in others) for band in bands)
                epsilon = float(curve.at(crowd))  # type: ignore[arg-type]
                within = law((*others, person))
                for p, q in ((within, without), (without, within)):
                    assert float(np.maximum(p - np.exp(epsilon) * (1 + 1e-12) * q, 0).sum()) <= float(octaves.delta)
                if len(person) == 1 and not others:
                    told = within > 0
                    worst = max(worst, float(np.log(within[told] / without[told]).max()))
    assert worst >= 0.99


# --- what is promised ---------------------------------------------------------------------------------------------


def test_the_promise_is_tailored_and_its_top_differential() -> None:
    spec = spec_of("1:0.2,101:1", "1e-9")
    own, top = spec.promises()
    assert own.conclusion == TailoredPrivacy(curve=Curve.from_text("1:0.2,101:1"), delta=spec.octaves.delta)
    assert top.conclusion == DifferentialPrivacy(epsilon=Fraction(1), delta=spec.octaves.delta)
    assert own.theorem.name.startswith("Theorem O")
    assert "outlier" not in str(own.conclusion) + spec.describe().published
    assert all(check.passed for check in spec.checks())
    assert Sum.kind.from_json(spec.to_json()) == spec
    assert "tailored" not in plain(total(of="x:0..7:1", epsilon="1"))  # type: ignore[operator]


def test_a_wider_delta_or_a_smaller_threshold_is_found_out() -> None:
    spec = spec_of("1:0.2,101:1", "1e-9")
    wrong = Octaves(spec.octaves.bands, spec.octaves.half, spec.octaves.threshold - 5, 1)
    assert tau(wrong.half, wrong.threshold) > spec.tailored.delta  # type: ignore[union-attr]


# --- what the numbers say -----------------------------------------------------------------------------------------


def test_bands_are_octaves() -> None:
    assert bands_up_to(1) == ((1, 1),)
    assert bands_up_to(8) == ((1, 1), (2, 3), (4, 7), (8, 8))
    for most in range(1, 70):
        assert [x for low, high in bands_up_to(most) for x in range(low, high + 1)] == list(range(1, most + 1))


def people_table(values: Sequence[int]) -> pa.Table:
    columns = {"id": range(len(values)), "town": ["a" if i % 3 else "b" for i in range(len(values))], "x": values}
    return pa.table({name: pa.array(list(each)) for name, each in columns.items()})


@pytest.mark.slow
def test_intervals_hold_the_total_as_often_as_they_say() -> None:
    """Sixty releases by a script, each interval at 80 %."""
    values = [int(x) for x in np.random.default_rng(7).lognormal(3, 1.2, 3000)]
    engine = open_source(people_table(values))
    spec = from_options(
        person="id",
        of="x:0..1000:1",
        by=["town=a,b"],
        tailored="1:0.5,101:2",
        delta="1e-6",
        coverage="0.8",
        totals=True,
    ).with_schema(engine.columns())
    truth = [sum(min(x, 1000) for i, x in enumerate(values) if bool(i % 3) == (town == "a")) for town in "ab"]
    hits, near = [0, 0, 0], []
    for i in range(60):
        found = present(spec, spec.measure(engine, ScriptedSource.from_label(f"octaves {i}")))
        answers = [*found.answers, estimated_total(spec, [each.row for each in found.answers])]
        for which, (answer, exact) in enumerate(zip(answers, (*truth, sum(truth)), strict=True)):
            hits[which] += answer.low <= exact <= (answer.high or 0)
        near.append(abs(float(answers[-1].estimate or 0) - sum(truth)) / sum(truth))
    assert min(hits) >= 48
    assert np.median(near) < 0.1


def test_several_rows_count_together_and_whoever_has_nothing_is_in_no_band() -> None:
    rows = {"id": [1, 1, 2, 2, 3], "x": [1, 2, 0, 0, 9]}
    engine = open_source(pa.table(rows))
    spec = from_options(person="id", of="x:0..9:1", rows_per_person=5, tailored="40", delta="1e-9").with_schema(
        engine.columns()
    )
    drawn = spec.measure(engine, ScriptedSource.from_label("all"))["answers"]
    (row,) = rows_of(spec, drawn)
    assert row.sums is not None
    assert row.sums[: len(spec.octaves.bands)] == (0, 1, 0, 1, 0, 0)


def test_drawn_numbers_that_cannot_be_are_refused() -> None:
    spec = spec_of()
    n = len(spec.octaves.bands)
    for sums in ([-1] + [0] * (2 * n - 1), [0] * n + [1] + [0] * (n - 1), [0] * n + [0] * (n - 1) + [5]):
        batch = pa.record_batch([pa.array([each], pa.int64()) for each in sums], schema=OctaveSums(spec).schema)
        with pytest.raises(CheckFailed):
            present(spec, Measurement(answers=loaded(OctaveSums(spec).schema, batch)))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"tailored": "1:1,5:0.5"}, "never fall"),
        ({"tailored": "0"}, "begins above 0"),
        ({"tailored": "1:1,10:inf"}, "begins above 0 and ends"),
        ({"tailored": "slope:0.1"}, "begins above 0 and ends"),
        ({"tailored": "1", "delta": "1"}, "between 0 and 1"),
        ({"tailored": "1", "epsilon": "1"}, "says everything"),
        ({"tailored": "1", "crowd": "5"}, "says everything"),
        ({"tailored": "1", "noise": "gaussian"}, "says everything"),
        ({"tailored": "1", "cap": "5"}, "needs no cap"),
        ({"tailored": "1", "cap": "auto"}, "needs no cap"),
        ({"tailored": "1", "lost": "0.1", "cap": "5"}, "needs no cap"),
        ({"tailored": "1", "weight": "w:0..3:1"}, "without weights"),
        ({"tailored": "1", "by": ["town"]}, "must be declared"),
        ({"tailored": "1", "of": "x:-5..5:1"}, "below 0"),
    ],
)
def test_what_is_not_known_of_it_is_refused_in_one_sentence(words: dict[str, Any], says: str) -> None:
    with pytest.raises(WrongUse, match=says) as refused:
        total(**{"of": "x:0..7:1", "unit": Unit(person="id"), **words})
    assert "; " in str(refused.value)


def test_tailored_privacy_is_differential_privacy_at_the_top_of_its_curve() -> None:
    found = outlier_to_differential(
        state_promise(TailoredPrivacy(curve=Curve.from_text("1:0.2,9:1"), delta=Fraction(1, 8)))
    )
    assert found.conclusion == DifferentialPrivacy(epsilon=Fraction(1), delta=Fraction(1, 8))
    with pytest.raises(Refused, match="unbounded"):
        outlier_to_differential(state_promise(TailoredPrivacy(curve=Curve.from_text("slope:1"))))


def test_a_release_enters_the_ledger_by_its_differential_promise(tmp_path: Path) -> None:
    """Two of them, and one with plain noise: losses and deltas add up."""
    engine = people_table([1, 2, 3] * 5)
    pq.write_table(engine, tmp_path / "people.parquet")
    ledger = ["--ledger", str(tmp_path / "ledger")]
    words = ["release", "sum", str(tmp_path / "people.parquet"), "--person", "id", "--of", "x:0..7:1", *ledger]
    for i, promise in enumerate((["--tailored", "1:0.5,11:1"], ["--tailored", "1:0.5,11:1"], ["--epsilon", "1"])):
        done = CliRunner().invoke(commands, [*words, *promise, "--out", str(tmp_path / f"out{i}")])
        assert done.exit_code == 0, done.output
    shown = json.loads(CliRunner().invoke(commands, ["ledger", "show", "people", "--json", *ledger]).stdout)
    assert "(3, 0.00000000" in json.dumps(shown)
