"""Releases in a row that ask for the same are added up by a shorter way, which gives the same bytes or none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    Guarantee,
    Neighbours,
    ZeroKnowledge,
)
from hubbub.ledger import repetition as module
from hubbub.ledger.admission import Entered
from hubbub.ledger.charge import Charge
from hubbub.ledger.repetition import repetition
from hubbub.ledger.running_total import LONGEST, RunningTotal, recalled, total_bytes
from hubbub.numeric.exact import INFINITY
from tests.unit.ledger.charges import KINDS, charge

LOSSES = st.fractions(0, 5, max_denominator=10**12) | st.just(Fraction(1, 3**1300)) | st.just(INFINITY)
CHANCES = st.just(Fraction(0)) | st.fractions(0, 1, max_denominator=10**9) | st.just(Fraction(1, 3))
GROUPS = st.integers(1, 3)
PROMISES = st.one_of(
    st.builds(DifferentialPrivacy, epsilon=LOSSES, delta=CHANCES, neighbours=st.sampled_from(Neighbours), group=GROUPS),
    st.builds(CrowdBlending, k=st.integers(1, 30), epsilon=LOSSES, delta=CHANCES),
    st.builds(ZeroKnowledge, epsilon=LOSSES, delta=CHANCES, aggregate=st.builds(BernoulliSample, p=CHANCES)),
)
CHARGES = st.sampled_from(sorted(KINDS)).map(charge) | st.builds(
    lambda promises, partition, exact: replace(
        charge("plain"), promises=tuple(promises), partition=partition, exact_crowds=exact
    ),
    st.lists(PROMISES, min_size=1, max_size=4),
    st.sampled_from([None, "a"]),
    st.booleans(),
)


def followed(before: list[Charge], again: Charge, times: int) -> list[RunningTotal]:
    found = [RunningTotal()]
    for i, each in enumerate([*before, *[again] * times], 1):
        found.append(found[-1].followed_by(Entered(number=i, charge=each)))
    return found


@settings(max_examples=150)
@given(st.lists(CHARGES, max_size=3), CHARGES, st.booleans())
@example([], charge("plain"), True)
@example([charge("plain by b"), charge("sampled plain")], charge("sampled crowd"), False)
def test_what_goes_on_is_what_would_be_added_up(before: list[Charge], again: Charge, read_back: bool) -> None:
    every = followed(before, again, 9)
    at = len(before) + 3
    earlier, last = every[at - 1 : at + 1]
    if read_back:  # as a ledger has it
        earlier, last = recalled(total_bytes(earlier)), recalled(total_bytes(last))
    going_on = repetition(earlier, last, again)
    for i in range(at + 1, len(every)):
        data = None if going_on is None else going_on.more(Entered(number=i, charge=again))
        if data is None:
            return
        assert data == total_bytes(every[i])
        assert recalled(data) == every[i]


@pytest.mark.parametrize("name", ["plain", "sampled crowd", "sampled plain", "crowd", "noisy crowd"])
def test_the_usual_charges_go_on(name: str) -> None:
    every = followed([], charge(name), 40)
    going_on = repetition(every[2], every[3], charge(name))
    assert going_on is not None
    for i in range(4, 41):
        assert going_on.more(Entered(number=i, charge=charge(name))) == total_bytes(every[i])


def test_rounding_and_a_delta_of_1_end_it() -> None:
    def of(*promises: Guarantee) -> Charge:
        return replace(charge("plain"), promises=promises)

    long = of(DifferentialPrivacy(epsilon=Fraction(1, 3 << LONGEST)))
    every = followed([], long, 4)
    assert repetition(every[3], every[4], long) is None
    third = of(DifferentialPrivacy(epsilon=Fraction(1), delta=Fraction(1, 5)))
    every = followed([], third, 9)
    going_on = repetition(every[2], every[3], third)
    assert going_on is not None
    assert going_on.more(Entered(number=4, charge=third)) == total_bytes(every[4])
    assert going_on.more(Entered(number=5, charge=third)) is None  # the delta is 1
    assert repetition(every[4], every[5], third) is None
    assert repetition(every[6], every[7], third) is None


def test_another_charge_another_number_or_another_past_ends_it() -> None:
    plain, other = charge("plain"), replace(charge("plain"))
    every = followed([charge("curve")], plain, 6)
    assert repetition(every[4], every[5], plain) is None  # a curve is left to be added up
    every = followed([], plain, 6)
    assert repetition(every[3], every[5], plain) is None
    assert repetition(every[4], every[5], charge("plain by b")) is None
    for release in (Entered(number=6, charge=other), Entered(number=7, charge=plain)):
        going_on = repetition(every[4], every[5], plain)
        assert going_on is not None
        assert going_on.more(release) is None


def test_words_that_look_like_a_mark_are_no_mark() -> None:
    odd = replace(charge("plain"), what=module._MARK.format(1))
    every = followed([], odd, 5)
    assert repetition(every[3], every[4], odd) is None
    quoted = replace(charge("plain"), what=f'"{module._MARK.format(1)}" 100%s')
    every = followed([], quoted, 5)
    going_on = repetition(every[3], every[4], quoted)
    assert going_on is not None
    assert going_on.more(Entered(number=5, charge=quoted)) == total_bytes(every[5])
