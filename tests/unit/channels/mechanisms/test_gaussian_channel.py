"""The Gaussian channel: law, claim, intervals, and the choice between it and geometric noise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.channels.catalogue import channel, parameters, restore
from hubbub.channels.estimate import interval, most_likely, unbiased_estimate
from hubbub.channels.mechanisms.gaussian import Gaussian
from hubbub.channels.noise_choice import choose_channel, compare, crossover
from hubbub.channels.profile import decide, exact_delta
from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import in_bins
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.verdict import Proved, Refuted
from hubbub.kinds.histogram.request import histogram
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import ball
from hubbub.protocol.channel_checks import laws
from hubbub.verification import verify
from tests.fresh import enter, save_over

BILLIONTH = Fraction(1, 10**9)
MADE = Gaussian.with_delta(1, "1e-9")


def test_the_law_is_whole_and_its_delta_is_the_claim() -> None:
    law = MADE.law(7)
    assert law.total() + ball(law.missing) >= 1 - ball(Fraction(1, 10**30))
    assert law.mass(7) > law.mass(8) > law.mass(9)
    assert not exact_delta(MADE, 3, Fraction(1)) > ball(MADE.claim.delta)
    assert MADE.claim.delta <= BILLIONTH
    assert all(check.passed for check in laws(MADE))


def test_a_claim_that_is_a_little_too_good_is_refuted() -> None:
    less = replace(MADE, variance=MADE.variance * Fraction(99, 100))
    assert isinstance(decide(MADE, MADE.claim, 2), Proved)
    assert isinstance(decide(less, MADE.claim, 2), Refuted)
    assert isinstance(decide(MADE, DifferentialPrivacy(epsilon=Fraction(1)), 2), Refuted)


def test_it_is_made_read_back_and_asked_for_by_name() -> None:
    assert channel("gaussian", epsilon=1, delta="1e-9") == MADE
    assert restore("gaussian", parameters(MADE)) == MADE
    assert channel("gaussian", epsilon=1, variance=MADE.variance) == MADE
    assert float(MADE.variance) == pytest.approx(30.249, abs=0.005)
    with pytest.raises(WrongUse, match="exactly one of delta, variance"):
        channel("gaussian", epsilon=1)


def test_estimates_and_intervals_are_those_of_the_law() -> None:
    assert (most_likely(MADE, 40), most_likely(MADE, -3), unbiased_estimate(MADE, 40)) == (40, 0, 40)
    found = interval(MADE, 40)
    law, tail = MADE.law(40), ball(Fraction(1, 40))
    assert found.high is not None
    reach = found.high - 40
    assert found.low == 40 - reach
    assert law.at_least(40 + reach + 1) + ball(law.missing) <= tail
    assert not law.at_least(40 + reach) <= tail
    wide = interval(Gaussian(Fraction(1), Fraction(10**8)), 10**6)
    assert wide.high is not None
    assert 19_590 < wide.high - 10**6 <= 19_610  # by the normal law, where no table is made


def test_wide_noise_stands_on_its_theorem() -> None:
    wide = Gaussian(Fraction(1, 100), Fraction(10**7))
    assert all(check.passed for check in laws(wide))
    with pytest.raises(WrongUse, match="not tabulated"):
        wide.law(1)


def test_the_noise_with_less_error_is_chosen_from_public_numbers() -> None:
    few, many = (compare(Fraction(1), BILLIONTH, in_bins(d)) for d in (2, 45))
    assert (few.better, many.better) == ("geometric", "gaussian")
    assert choose_channel("auto", Fraction(1), BILLIONTH, 45) == Gaussian.with_delta(1, BILLIONTH, 45)
    assert choose_channel("auto", Fraction(1), BILLIONTH, 2) == channel("geometric", epsilon="1/2")
    assert choose_channel("auto", Fraction(1), None, 2) == channel("geometric", epsilon="1/2")
    with pytest.raises(WrongUse, match="needs a delta"):
        choose_channel("gaussian", Fraction(1), None, 2)
    with pytest.raises(WrongUse, match="noise is one of"):
        choose_channel("normal", Fraction(1), None, 2)


ROWS = [
    ("0.1", "1e-6", 7), ("0.1", "1e-9", 13), ("0.5", "1e-6", 9), ("0.5", "1e-9", 15),
    ("1", "1e-6", 9), ("1", "1e-9", 16), ("2", "1e-6", 10), ("2", "1e-9", 17),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "delta", "bins"), ROWS)
def test_gaussian_noise_is_better_from_where_the_table_says(epsilon: str, delta: str, bins: int) -> None:
    assert crossover(Fraction(epsilon), Fraction(delta)) == bins


BINS = 20
VISITS = pa.table({"who": [i // 3 for i in range(300)], "place": [(7 * i) % BINS for i in range(300)]})


@pytest.mark.parametrize(
    ("noise", "name"), [("auto", "gaussian"), ("gaussian", "gaussian"), ("geometric", "geometric")]
)
def test_a_histogram_of_people_in_many_bins_takes_the_noise_and_is_verified(
    noise: str, name: str, tmp_path: Path
) -> None:
    made = enter(VISITS, person="who").histogram(
        [f"place:0..{BINS}:1"], epsilon=1, delta="1e-9", mechanism=noise, distinct=BINS
    )
    promise = made.promises[0].conclusion
    assert made.spec.channel.name == name  # type: ignore[attr-defined]
    assert isinstance(promise, DifferentialPrivacy)
    assert (promise.epsilon, promise.delta <= BILLIONTH) == (1, True)
    written = save_over(made, tmp_path, report=False)
    done = verify(Path(written["certificate"]).read_bytes(), folder=tmp_path)
    assert done.passed, done.failure
    said = " ".join(made.spec.describe().remarks)
    assert ("the noise is Gaussian because a person is in up to 20 bins" in said) == (name == "gaussian")


def test_delta_with_declared_bins_of_one_person_each_takes_geometric_noise_and_spends_no_delta() -> None:
    spec = histogram([f"place:0..{BINS}:1"], epsilon=1, delta="1e-9")
    assert spec.channel == channel("geometric", epsilon=1)
    assert spec.promises()[0].conclusion == DifferentialPrivacy(epsilon=Fraction(1))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"noise": "gaussian", "epsilon": 1}, "needs a delta"),
        ({"noise": "auto", "crowd": 20}, "go with epsilon alone"),
    ],
)
def test_a_noise_beside_something_else_is_refused(words: dict[str, object], said: str) -> None:
    with pytest.raises(WrongUse, match=said):
        histogram(["place:0..20:1"], **words)  # type: ignore[arg-type]


def test_found_bins_stay_geometric() -> None:
    with pytest.raises(WrongUse, match="mechanism is for declared bins"):
        histogram(["place"], epsilon=1, delta="1e-6", noise="gaussian")
    assert histogram(["place"], epsilon=1, delta="1e-6").channel.name == "warped"


def test_it_draws_from_its_sampler() -> None:
    drawn = MADE.release([100] * 1000, ScriptedSource.from_label("gaussian channel"))
    assert abs(drawn.values.mean() - 100) < 6 * 5.5 / 1000**0.5
