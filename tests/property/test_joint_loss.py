"""Whatever the ledger admits, no pair of neighbouring tables shows more than its totals say: exact laws, no theorem.

For every sequence: small tables, every neighbour in the unit and for the people that a total names, every notion. The
four ways in which totals were once false are planted back, one by one, and found.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.guarantees.people import People, Whose
from hubbub.ledger import admission
from hubbub.ledger.charge import Charge, charge
from hubbub.protocol.bound import Bound
from hubbub.tables.identity import Identity
from tests.joint import Asked, Release
from tests.joint_search import UNITS, WORDS, asked, found, others
from tests.unit.shared.statistics import statistic

sequences = st.sampled_from(["patient", "patient", "kept", "bins", "row", "doctor"]).flatmap(
    lambda unit: st.lists(
        st.builds(
            asked,
            st.sampled_from(sorted(WORDS)),
            st.sampled_from([unit, unit, unit, unit, *UNITS]),
            st.sampled_from("ab"),
            st.booleans(),
        ).filter(lambda each: each is not None),
        min_size=1,
        max_size=4,
    )
)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)
@given(sequences)
def test_no_sequence_that_the_ledger_admits_gives_away_more_than_it_says(releases: list[Asked]) -> None:
    assert found(releases) == []


mixed = st.lists(
    st.one_of(
        st.sampled_from(sorted(others())).map(others().__getitem__),
        st.builds(
            asked,
            st.sampled_from(sorted(name for name in WORDS if not name.startswith(("collected", "uneven")))),
            st.just("patient"),
            st.sampled_from("ab"),
            st.just(False),
        ).filter(lambda each: each is not None),
    ),
    min_size=2,
    max_size=4,
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)
@given(mixed)
def test_no_sequence_of_several_kinds_gives_away_more_than_it_says(releases: list[Release]) -> None:
    assert found(releases) == []


@pytest.mark.parametrize("name", others())
def test_no_release_of_another_kind_gives_away_more_than_the_ledger_says(name: str) -> None:
    assert found([others()[name]]) == []


@pytest.mark.parametrize("name", ["queries", "each query", "queries of three", "count", "mean", "cube"])
def test_noise_that_is_a_tenth_too_little_is_found(name: str) -> None:
    right = others()[name]
    wrong = replace(right, channels=tuple(Geometric(each.epsilon * Fraction(11, 10)) for each in right.channels))  # type: ignore[attr-defined]
    told = found([wrong])
    assert any(sentence.startswith("replaced: ") for sentence in told)
    assert any(sentence.startswith("differential: ") for sentence in told) == ("three" not in name)


def test_crowds_of_two_that_are_said_to_be_of_three_are_found() -> None:
    right = others()["count of crowds"]
    wrong = replace(right, spec=statistic("count", by=["a=x,y"], crowd=3, unit=UNITS["patient"]))
    assert any(sentence.startswith("crowd_blending: ") for sentence in found([wrong]))


@pytest.mark.parametrize("name", WORDS)
def test_no_release_alone_gives_away_more_than_the_ledger_says(name: str) -> None:
    for unit in ("patient", "kept"):
        one = asked(name, unit, "a", False)
        if one is not None:
            assert found([one]) == []


# --- what was false once, planted back ------------------------------------------------------------------------------


def sequence(*names: str) -> list[Asked]:
    """Each as "what, unit, column", with "later" at its end if the file was overwritten before."""
    made = []
    for text in names:
        what, unit, column, *later = text.split(", ")
        one = asked(what, unit, column, bool(later))
        assert one is not None
        made.append(one)
    return made


def _always(people: People) -> Any:
    return lambda self, promise: people


PLANTED: dict[str, Any] = {
    "what holds for the population is told of the table": (
        [("collected plain, patient, a",), ("collected crowd, patient, a",)],
        [(admission, "_population", lambda people: people)],
        "population: ",
    ),
    "promises about patients and doctors are added up": (
        [("plain, bins, a", "plain, doctor, a"), ("plain, bins, a", "plain, row, a")],
        [
            (admission, "_one_unit", lambda earlier, new, dataset: None),
            (Charge, "about", _always(People(person="patient"))),
        ],
        "differential: ",
    ),
    "a partition is known by its names alone": (
        [("simple-suppressed, patient, a", "simple-suppressed, patient, a, later")],
        [(Identity, "content", lambda self: [])],
        "outlier: ",
    ),
    "what is promised to kept rows is told of people": (
        [("crowd, kept, a",), ("noisy crowd, kept, b",)],
        [(Charge, "about", lambda self, promise: self.people)],
        "crowd_blending: ",
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    witnesses, patches, told = PLANTED[fault]
    for names in witnesses:
        assert found(sequence(*names)) == []
        with monkeypatch.context() as patch:
            for where, name, wrong in patches:
                patch.setattr(where, name, wrong)
            assert any(sentence.startswith(told) for sentence in found(sequence(*names))), names


def test_kept_rows_are_people_of_their_own() -> None:
    one = asked("crowd", "kept", "a", False)
    assert one is not None
    assert charge(Bound(one.spec)).about(charge(Bound(one.spec)).promises[0]) == People(
        whose=Whose.KEPT_ROWS, person="patient"
    )
