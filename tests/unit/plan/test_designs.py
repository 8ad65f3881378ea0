"""Designs: each reaches what was asked for, by the promises of the release it stands for; the best comes first."""

from __future__ import annotations

import shlex
from fractions import Fraction
from typing import Any

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import (
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    OutlierPrivacy,
    ZeroKnowledge,
)
from hubbub.plan.designs import Plan, plan, read_rates, request
from hubbub.plan.planned import release
from hubbub.plan.shape import even, zipf
from hubbub.plan.targets import Want

SHAPE = zipf(5000, 60)
BY = ("bin:0..60:1",)


def planned(want: Want, **words: Any) -> Plan:
    return plan(request(want, words.pop("shape", SHAPE), BY, **{"epsilon": None, **words}))


def names(found: Plan) -> list[str]:
    return [design.spec.channel.name for design in found.designs]


def test_zero_knowledge_designs_reach_the_target() -> None:
    found = planned(Want.ZERO_KNOWLEDGE, epsilon="0.5", delta="1e-9", rates=read_rates("0.05..0.2"))
    assert {"noisy-below", "exact-or-suppressed", "geometric", "warped"} == set(names(found))
    errors = [design.expected.error for design in found.designs]
    assert errors == sorted(errors)
    for design in found.designs:
        promised = design.promise.conclusion
        assert isinstance(promised, ZeroKnowledge)
        assert promised.epsilon <= Fraction(1, 2)
        assert promised.delta <= Fraction(1, 10**9)
        assert design.promise in design.spec.promises()  # what the certificate will say
        assert design.rate in read_rates("0.05..0.2")
    best = found.designs[0]
    assert best.rate == Fraction(1, 5)  # more people, less error
    command = best.command("people.csv", BY, "out/")
    assert command.startswith("hubbub release histogram people.csv --rows-are-people --by bin:0..60:1 ")
    assert "--sample 0.2 --scale-up" in command


def test_noise_on_small_counts_needs_no_larger_crowd() -> None:
    found = planned(Want.ZERO_KNOWLEDGE, epsilon="0.5", delta="1e-9", rates=read_rates("0.1"))
    crowds = {d.options["crowd"] for d in found.designs if "crowd" in d.options}
    assert crowds == {17}
    # Below ln 1/(1 - p) it does, and less noise is tried.
    found = planned(Want.ZERO_KNOWLEDGE, epsilon="0.05", delta="1e-6", rates=read_rates("0.1"))
    assert len([d for d in found.designs if d.spec.channel.name == "noisy-below"]) > 1


def test_differential_privacy_needs_no_sample() -> None:
    found = planned(Want.DIFFERENTIAL, epsilon="0.5")
    assert sorted(names(found)) == ["geometric", "warped"]
    assert all(isinstance(design.promise.conclusion, DifferentialPrivacy) for design in found.designs)
    both = planned(Want.DIFFERENTIAL, epsilon="0.5", delta="1e-9", rates=read_rates("0.5"))
    assert both.designs[0].rate is None  # noise alone is more exact than a half of the people
    assert len(both.designs) > 4


def test_crowd_blending_designs() -> None:
    found = planned(Want.CROWD_BLENDING, epsilon="0.5", k=20)
    for design in found.designs:
        promised = design.promise.conclusion
        assert isinstance(promised, CrowdBlending)
        assert promised.k >= 20
        assert promised.epsilon <= Fraction(1, 2)
    # Theorem W2: the warped channel is at least as good as noise on small counts, for every count.
    assert names(found)[:2] == ["warped", "noisy-below"]
    hidden = planned(Want.CROWD_BLENDING, k=20)
    assert names(hidden) == ["exact-or-suppressed"]
    assert hidden.designs[0].expected.hidden_people > 0


def test_outlier_designs() -> None:
    found = planned(Want.OUTLIER, curve="1:0.01,101:1", delta="1e-6")
    assert names(found)[0] == "warped"
    assert {"outlier-suppressed", "outlier-noisy", "geometric"} <= set(names(found))
    assert all(isinstance(design.promise.conclusion, OutlierPrivacy) for design in found.designs)
    pure = planned(Want.OUTLIER, curve="1:0.01,101:1")
    assert "outlier-suppressed" not in names(pure)
    hidden = planned(Want.OUTLIER, curve="1:0,21:inf")
    assert {"warped", "simple-suppressed"} == set(names(hidden))


def test_distributional_designs() -> None:
    found = planned(Want.DISTRIBUTIONAL, epsilon="0.5", delta="1e-9", rates=read_rates("0.1"), shape=even(5000, 5))
    assert all(isinstance(design.promise.conclusion, DistributionalPrivacy) for design in found.designs)
    crowds = [design for design in found.designs if "crowd" in design.options]
    assert crowds
    for design in crowds:
        assert design.options["collected"] == "0.1"
        assert design.promise in design.spec.promises()


def test_what_cannot_be_reached_is_refused_with_the_reason() -> None:
    with pytest.raises(Refused, match=r"at least 0.03\S* at every epsilon"):
        planned(Want.ZERO_KNOWLEDGE, epsilon="1e-7", delta="1e-9", k=5, rates=read_rates("0.5"))
    few = planned(Want.ZERO_KNOWLEDGE, epsilon="0.01", delta="1e-9", rates=read_rates("0.2"), shape=even(100, 5))
    assert any("more than there are people" in reason for reason in few.left_out)


def test_rates_are_read() -> None:
    assert read_rates("0.05..0.2") == tuple(Fraction(n, 80) for n in (4, 7, 10, 13, 16))
    assert read_rates("0.2,0.1") == (Fraction(1, 10), Fraction(1, 5))
    assert read_rates("0.1..0.1") == (Fraction(1, 10),)
    assert read_rates(None) == ()
    for text in ("0.2..0.1", "0..0.5", "1", "0.5,2"):
        with pytest.raises(WrongUse, match="rate takes"):
            read_rates(text)


@pytest.mark.parametrize(
    ("want", "words", "says"),
    [
        (Want.OUTLIER, {}, "add curve"),
        (Want.DIFFERENTIAL, {"epsilon": 1, "curve": "1"}, "leave it out"),
        (Want.CROWD_BLENDING, {"epsilon": 1}, "add k"),
        (Want.CROWD_BLENDING, {"epsilon": 1, "k": 20, "delta": "1e-9"}, "no delta"),
        (Want.CROWD_BLENDING, {"k": 20, "rates": (Fraction(1, 2),)}, "leave out rate"),
        (Want.DIFFERENTIAL, {}, "add epsilon"),
        (Want.ZERO_KNOWLEDGE, {"epsilon": 1}, "add rate"),
        (Want.DISTRIBUTIONAL, {"epsilon": 1, "rates": (Fraction(1, 2), Fraction(1, 3))}, "a fact about the table"),
        (Want.DIFFERENTIAL, {"epsilon": -1}, "at least 0"),
    ],
)
def test_a_request_that_cannot_be_right(want: Want, words: dict[str, Any], says: str) -> None:
    with pytest.raises(WrongUse, match=says):
        planned(want, **words)


def test_a_command_takes_names_that_look_like_options() -> None:
    best = planned(Want.DIFFERENTIAL, epsilon="1").designs[0]
    typed = shlex.split(best.command("-x.csv", ("-a:0..60:1",), "-out", person="--out"))
    done = CliRunner().invoke(commands, typed[1:])
    assert typed[3] == "./-x.csv"
    assert done.exit_code == 2
    assert "-x.csv" in done.stderr  # read as it is meant: there is no such file


def test_values_found_in_the_data_ask_for_a_delta() -> None:
    with pytest.raises(Refused, match="cost a delta; add delta"):
        plan(request(Want.DIFFERENTIAL, SHAPE, ("town",), epsilon="1"))


def test_bins_that_contradict_what_is_declared_are_refused() -> None:
    with pytest.raises(WrongUse, match="declares 10 bins, and bins says 7"):
        release("differential", people=5000, bins=7, by=["age:0..100:10"], epsilon="1")
    assert release("differential", people=5000, bins=10, by=["age:0..100:10"], epsilon="1").request.shape.bins == 10
    assert release("crowd-blending", people=5000, bins=7, by=["town"], k=20).request.shape.bins == 7
