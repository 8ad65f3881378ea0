"""With a declared number of people a synopsis is promised for one person replaced, and stands beside no crowds."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import Refused
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.neighbours import Neighbours
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.queries.request import queries
from hubbub.ledger.charge import charge
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.bound import Bound
from hubbub.tables.privacy_unit import Unit

TOWN = "town=Bath,York,Hull,Ely"
ROWS = Unit()
TIMES = {"mwem": 1, "small-database": 1, "boosting": 1, "histogram": 2, "tree": 2, "per-query": 2}


@pytest.mark.parametrize("method", TIMES)
def test_with_people_the_promise_is_for_one_replaced(method: str) -> None:
    """Scores move by one however one person changes; noise is paid for the one who leaves and the one who enters."""
    kind = "intervals" if method == "tree" else "marginals:1"
    spec = queries(["age:0..4:1"] if method == "tree" else [TOWN], kind, epsilon="0.5", people=10**6, method=method)
    (own,) = spec.promises()
    expected = DifferentialPrivacy(epsilon=TIMES[method] * spec.loss, neighbours=Neighbours.REPLACE)
    assert own.conclusion == expected
    assert spec.loss <= Fraction(1, 2)
    assert all(check.passed for check in spec.checks())


@pytest.mark.parametrize("method", ["mwem", "histogram"])
def test_it_never_stands_beside_crowds_as_pure(method: str) -> None:
    """Proposition 8 is false beside privacy under replacement, in either order."""
    crowd = charge(Bound(histogram([TOWN], crowd=20)))
    spent = charge(Bound(queries([TOWN], "marginals:1", epsilon="0.5", people=100, method=method)))
    for town, first, second in (("Bath", crowd, spent), ("York", spent, crowd)):
        book = Ledger()
        book.reserve(town, first)
        with pytest.raises(Refused, match=r"number of people.* is enforced"):
            book.reserve(town, second)


def test_without_people_it_does() -> None:
    book = Ledger()
    book.reserve("town", charge(Bound(histogram([TOWN], crowd=20))))
    book.reserve("town", charge(Bound(queries([TOWN], "marginals:1", epsilon="0.5", method="histogram"))))
