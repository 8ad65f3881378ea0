"""Releases that take the number of people for public, added up with others: one person replaced, and what K becomes."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from hubbub.certificate.explanation import meaning
from hubbub.guarantees.definitions import (
    BernoulliSample,
    DifferentialPrivacy,
    Neighbours,
    RandomSample,
    TwoSamples,
    ZeroKnowledge,
)
from hubbub.kinds.table import Table
from hubbub.ledger.admission import Totals
from hubbub.ledger.ledger import Ledger
from tests.fresh import opened

PEOPLE = pa.table({"id": list(range(50)), "age": list(range(50))})
KNOWN = {"where": "age >= 20", "zero_knowledge": "0.25", "rows": 10, "people": 50}


@pytest.fixture
def town() -> Table:
    return opened(PEOPLE, person="id", dataset="town")


def together() -> Totals:
    found = Ledger().account("town").totals
    assert found is not None
    return found


def test_samples_of_k_people_add_up_and_so_does_k(town: Table) -> None:
    for _ in range(3):
        town.fraction(**KNOWN)
    knowledge = together().zero_knowledge.guarantee
    assert knowledge == ZeroKnowledge(epsilon=Fraction(3, 4), aggregate=RandomSample(k=30, n=50))


def test_beside_differential_privacy_they_add_up_for_one_person_replaced(town: Table) -> None:
    first = town.fraction(**KNOWN)
    swapped = first.promises[1].conclusion
    assert isinstance(swapped, DifferentialPrivacy)
    assert isinstance(swapped.epsilon, Fraction)
    town.histogram(["age:0..50:10"], epsilon="0.5")
    town.mean("age:0..50:1", epsilon="0.25")
    total = together()
    assert total.differential.guarantee is None  # a release that takes N for public hides nobody who comes or goes
    assert total.zero_knowledge.guarantee is None
    assert total.replaced.guarantee == DifferentialPrivacy(
        epsilon=min(swapped.epsilon, Fraction(1, 2)) + 2 * Fraction(3, 4), neighbours=Neighbours.REPLACE
    )


def test_where_nobody_takes_the_number_for_public_add_remove_is_all(town: Table) -> None:
    town.mean("age:0..50:1", epsilon="0.25")
    town.quantile("age:0..50:1", epsilon="0.25")
    total = together()
    assert total.differential.guarantee == DifferentialPrivacy(epsilon=Fraction(1, 2))
    assert total.replaced.guarantee == DifferentialPrivacy(epsilon=Fraction(1), neighbours=Neighbours.REPLACE)


def test_people_chosen_one_by_one_and_k_rows_add_up_to_a_class_of_both(town: Table) -> None:
    """statistics.md 5: what is known is both samples, and the losses add."""
    town.fraction(**KNOWN)
    chosen = town.histogram(["age:0..50:10"], epsilon="0.5", sample="0.25").promises
    town.fraction(**KNOWN)
    own = next(step.conclusion for step in chosen if isinstance(step.conclusion, ZeroKnowledge))
    total = together()
    assert total.zero_knowledge.guarantee == ZeroKnowledge(
        epsilon=Fraction(1, 2) + own.epsilon,
        aggregate=TwoSamples(each=BernoulliSample(p=Fraction(1, 4)), some=RandomSample(k=20, n=50)),
    )
    assert str(total.zero_knowledge.guarantee).endswith("w.r.t. iRS(0.25) and RS(20 of 50)")
    assert total.differential.guarantee is None
    assert isinstance(total.replaced.guarantee, DifferentialPrivacy)
    assert total.replaced.guarantee.neighbours is Neighbours.REPLACE
    assert "20 people picked at random out of 50" in meaning(total.zero_knowledge.guarantee).promised
