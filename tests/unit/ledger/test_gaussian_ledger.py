"""Releases with Gaussian noise in the ledger: beside geometric ones, beside crowds, under a policy, in a running total."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.accountant.accountant import Accountant
from hubbub.guarantees.accountant.gaussian import by_ones, delta_of, gaussian_total
from hubbub.guarantees.definitions import ConcentratedPrivacy, CrowdBlending, DifferentialPrivacy
from hubbub.guarantees.neighbours import Neighbours
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.admission import Entered, totals
from hubbub.ledger.charge import Charge
from hubbub.ledger.charge import charge as charge_of
from hubbub.ledger.dry_run import dry_run
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.policy import Policy, remaining_budget
from hubbub.ledger.running_total import running_total_of
from hubbub.protocol.bound import Bound
from hubbub.serialization.exact_json import plain, restored
from tests.unit.ledger.charges import releases, together

MILLIONTH = Fraction(1, 10**6)


def gaussian(epsilon: str = "0.5", variance: str = "100") -> Charge:
    """rho = 0.005 at a variance of 100."""
    return charge_of(
        Bound(histogram(["a=x,y"], channel="gaussian", options={"epsilon": epsilon, "variance": variance}))
    )


def plain_noise(epsilon: str = "0.1") -> Charge:
    return charge_of(Bound(histogram(["a=x,y"], epsilon=epsilon)))


def entered(*charges: Charge) -> list[Entered]:
    return [Entered(number=i, charge=each) for i, each in enumerate(charges, 1)]


def test_a_charge_names_its_noise_and_its_rho_and_survives_json() -> None:
    found = gaussian()
    assert found.noises == (by_ones(Fraction(100), 1),)
    assert found.zcdp == ConcentratedPrivacy(rho=Fraction(1, 200))
    assert restored(Charge, plain(found)) == found
    assert "noises" not in plain(plain_noise()), "what has none is written as ever"  # type: ignore[operator]


@pytest.mark.slow
def test_the_running_total_of_twenty_and_twenty_costs_2_87() -> None:
    listed = entered(*[plain_noise()] * 20, *[gaussian()] * 20)
    short = running_total_of(listed, reserved=40).stand_ins
    assert len(short) == 2
    promise = totals(short).planned.at(MILLIONTH).guarantee
    assert isinstance(promise, DifferentialPrivacy)
    assert isinstance(promise.epsilon, Fraction)
    assert 2.855 < float(promise.epsilon) <= 2.875
    assert totals(listed).planned.at(MILLIONTH).guarantee == promise
    basic = totals(short).differential.guarantee
    assert isinstance(basic, DifferentialPrivacy)
    assert basic.epsilon == 12, "20 times 0.1 and 20 times 0.5"


def test_rho_adds_up_in_the_ledger_and_pure_releases_come_in_as_half_their_square() -> None:
    total = totals(entered(gaussian(), plain_noise("0.2"), plain_noise("0.1"))).concentrated.guarantee
    assert total == ConcentratedPrivacy(rho=Fraction(1, 200) + Fraction(4, 200) + Fraction(1, 200))
    listed = entered(plain_noise("0.2"), plain_noise("0.1"), gaussian(), gaussian())
    short = running_total_of(listed, reserved=4).stand_ins
    assert totals(short).concentrated.guarantee == ConcentratedPrivacy(rho=Fraction(7, 200))
    found = totals(releases("gaussian", "sampled gaussian"))
    assert found.concentrated.guarantee is None
    assert "no rho" in found.concentrated.why


def test_however_each_was_chosen_gaussian_releases_pay_no_delta_of_their_own() -> None:
    found = totals(entered(*[gaussian("0.5")] * 6)).adaptive.guarantee
    assert isinstance(found, DifferentialPrivacy)
    assert found.delta == Fraction(1, 10**9)
    assert found.epsilon < 3, "the sum"


def test_one_person_replaced_is_root_two_and_not_two() -> None:
    one = gaussian("1", "30.25")
    swapped = one.replacement_loss
    assert swapped is not None
    assert isinstance(swapped.epsilon, Fraction)
    assert swapped.neighbours is Neighbours.REPLACE
    assert 1.3 < float(swapped.epsilon) < 1.75, "two steps would be 2, with a larger delta"
    assert swapped.delta == one.differential.delta  # type: ignore[union-attr]
    true = delta_of(by_ones(Fraction("30.25"), 1).under_replacement(), swapped.epsilon)
    assert true <= swapped.delta
    pair = one.replaced_accountant
    assert pair is not None
    assert pair.neighbours is Neighbours.REPLACE
    assert pair.gaussian == gaussian_total([by_ones(Fraction("30.25"), 1).under_replacement()])


# --- beside crowds (Proposition 8 with a Gaussian second release) ----------------------------------------------------


def test_proposition_8_with_gaussian_noise_says_its_delta() -> None:
    found = totals(
        entered(charge_of(Bound(histogram(["a=x,y"], crowd=20))), gaussian("1", "30.25"))
    ).crowd_blending.guarantee
    assert isinstance(found, CrowdBlending)
    second = gaussian("1", "30.25")
    assert second.replacement_loss is not None
    assert (found.k, found.epsilon, found.delta) == (20, second.replacement_loss.epsilon, second.replacement_loss.delta)
    assert f", {found}"[2:].count(",") == 2, "(k, epsilon) without its delta is never printed"
    assert found.delta >= delta_of(by_ones(Fraction("30.25"), 1).under_replacement(), found.epsilon) > 0


def test_two_tables_of_crowds_are_still_refused_and_so_is_found_noise_beside_crowds() -> None:
    assert together("crowd", "gaussian").crowd_blending.guarantee is not None
    assert together("crowd", "gaussian", "crowd by b").crowd_blending.guarantee is None
    assert together("crowd", "sampled gaussian").crowd_blending.guarantee is None


def test_stand_ins_of_crowds_and_gaussian_noise_promise_what_all_do_or_less() -> None:
    listed = releases("crowd", "gaussian", "gaussian", "plain")
    whole, short = totals(listed), totals(running_total_of(listed, reserved=4).stand_ins)
    said, true = short.crowd_blending.guarantee, whole.crowd_blending.guarantee
    assert said == true
    assert short.planned.why == whole.planned.why != ""


# --- policies ----------------------------------------------------------------------------------------------------


def test_a_plan_is_added_up_exactly_and_only_if_somebody_says_so() -> None:
    found = totals(entered(*[gaussian("0.5")] * 4))
    exact = found.planned.at(MILLIONTH).guarantee
    assert isinstance(exact, DifferentialPrivacy)
    caps = {"differential_epsilon": exact.epsilon, "delta": MILLIONTH}
    planned, careful = Policy(**caps, planned=True), Policy(**caps)  # type: ignore[arg-type]
    planned.check(found, "town")
    with pytest.raises(Refused, match="above the cap"):
        careful.check(found, "town")
    promise = planned.differential(found)
    assert promise is not None
    assert promise.delta == MILLIONTH
    assert remaining_budget(planned, found)["differential_epsilon"] == "0"
    with pytest.raises(WrongUse, match="at a delta"):
        Policy(differential_epsilon=Fraction(1), planned=True)
    assert "planned" not in plain(careful)  # type: ignore[operator]


def test_a_dry_run_and_a_reservation_follow_the_plan(tmp_path: Path) -> None:
    book = Ledger(str(tmp_path / "ledger.db"))
    book.set_policy("town", Policy(differential_epsilon=Fraction(1, 2), delta=MILLIONTH, planned=True))
    one = replace(gaussian("0.5"), partition=None)
    found = dry_run(book, "town", one)
    assert found.refusal is None
    assert Fraction(found.left_after["differential_epsilon"]) > 0
    strict = dry_run(book, "town", replace(gaussian("1", "2"), partition=None))
    assert strict.refusal is not None
    assert book.check() >= 0


def test_a_group_is_promised_through_the_pair() -> None:
    noise = gaussian("1", "30.25").accountant
    assert noise is not None
    three = noise.group(3)
    assert isinstance(three, Accountant)
    assert three.gaussian is not None
    assert three.gaussian.rho == 9 * Fraction(2, 121)
