"""One row of several, chosen secretly, is no crowd-blending for people: the witness, and what is said instead.

People t with a row in A and a row in B, and u with a row in A; k = 2. Bin A is shown exactly if both kept rows are in
it: half of the time with t, never without. Nobody else is like t, so t neither blends nor can be left out.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.channels.law import SUPPRESSED
from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed
from hubbub.errors import Refused
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, ZeroKnowledge
from hubbub.kinds.histogram.promises import KEPT_ROWS
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.admission import Entered, totals
from hubbub.ledger.charge import charge
from hubbub.protocol.bound import Bound
from hubbub.tables.privacy_unit import Unit
from tests.fresh import opened as open_table
from tests.unit.shared.statistics import statistic

T, U = ("A", "B"), ("A",)
K = 2


def chance_that_a_is_shown(people: list[tuple[str, ...]]) -> Fraction:
    """Over the choices of one row for each."""
    choices = list(product(*people))
    shown = [rows for rows in choices if ExactOrSuppressed(K).law(rows.count("A")).blocks[0].tag != SUPPRESSED]
    return Fraction(len(shown), len(choices))


def test_the_witness_shows_a_person_whom_nobody_is_like() -> None:
    assert chance_that_a_is_shown([T, U]) == Fraction(1, 2)
    assert chance_that_a_is_shown([U]) == 0
    assert chance_that_a_is_shown([U, U]) == 1  # so t does not blend with u either


@pytest.mark.parametrize("words", [{"crowd": 5}, {"crowd": 5, "epsilon": 1}, {"outlier": "1:0.1,11:1"}], ids=str)
def test_promises_to_crowds_are_for_the_kept_rows(words: dict[str, object]) -> None:
    unit = Unit(person="id", one_row_per_person=True)
    spec = histogram(["a=x,y"], unit=unit, **words)  # type: ignore[arg-type]
    assert KEPT_ROWS in spec.promises()[0].assumptions
    plain = histogram(["a=x,y"], unit=Unit(person="id"), **words)  # type: ignore[arg-type]
    assert KEPT_ROWS not in plain.promises()[0].assumptions
    noise = histogram(["a=x,y"], unit=unit, epsilon=1)
    assert KEPT_ROWS not in noise.promises()[0].assumptions  # every choice of rows has that promise


@pytest.mark.parametrize(
    ("kind", "words"),
    [("mean", {"of": "x:0..9:1"}), ("fraction", {"where": "x > 5"}), ("quantile", {"of": "x:0..9:1"}), ("count", {})],
    ids=str,
)
def test_so_are_those_of_means_shares_quantiles_and_counts(kind: str, words: dict[str, object]) -> None:
    """The witness is theirs as well: whether the mean of bin A is shown tells that t is there."""
    unit = Unit(person="id", one_row_per_person=True)
    asked = {"by": ["a=A,B"], "epsilon": 1, "unit": unit, **words}
    (crowds,) = statistic(kind, crowd=K, **asked).promises()  # type: ignore[arg-type]
    assert KEPT_ROWS in crowds.assumptions
    assert crowds.people == unit.crowds != unit.people
    (noise,) = statistic(kind, **asked).promises()  # type: ignore[arg-type]
    assert KEPT_ROWS not in noise.assumptions
    assert noise.people == unit.people


def test_they_do_not_add_up_with_others_but_what_a_sample_buys_does(tmp_path: Path) -> None:
    people = pa.table({"town": ["Bath", "York"] * 20, "id": [i // 2 for i in range(40)]})
    table = open_table(people, person="id", dataset="town", ledger=tmp_path / "ledger.db")
    table.histogram(["town=Bath,York"], crowd=5, one_row_per_person=True)
    with pytest.raises(Refused, match=r"no theorem covers .*; nothing new about the same people can follow release 1"):
        table.histogram(["town=Bath,York"], epsilon=1, one_row_per_person=True)
    with pytest.raises(Refused, match="Three ways out") as refused:
        table.histogram(["town=Bath,York"], crowd=5, one_row_per_person=True)
    assert "differentially private" not in str(refused.value)  # that is no way out here
    unit = Unit(person="id", one_row_per_person=True)
    sampled = histogram(["town=Bath,York"], crowd=20, sample="0.1", unit=unit)
    noisy = histogram(["town=Bath,York"], epsilon=1, sample="0.1", unit=unit)
    both = [Entered(number=i, charge=charge(Bound(spec))) for i, spec in enumerate((sampled, noisy), start=1)]
    together = totals(both)
    assert isinstance(together.zero_knowledge.guarantee, ZeroKnowledge)
    assert isinstance(together.differential.guarantee, DifferentialPrivacy)
    assert together.crowd_blending.derivation is None
    alone = totals(both[:1])
    assert alone.crowd_blending.guarantee == CrowdBlending(k=20, epsilon=Fraction(0))
