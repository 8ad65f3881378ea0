"""Both noises side by side: the crossover is that of the theory, and the better one is what a release takes."""

from __future__ import annotations

import pytest

from hubbub import plan
from hubbub.errors import WrongUse
from hubbub.kinds.histogram.request import histogram
from hubbub.tables.privacy_unit import Unit

ROWS = [
    ("0.1", "1e-6", 7), ("0.1", "1e-9", 13), ("0.5", "1e-6", 9), ("0.5", "1e-9", 15),
    ("1", "1e-6", 9), ("1", "1e-9", 16), ("2", "1e-6", 10), ("2", "1e-9", 17),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "delta", "bins"), ROWS)
def test_the_plan_has_the_crossover_of_the_table_and_a_release_follows_it(epsilon: str, delta: str, bins: int) -> None:
    below, above = (plan.noises(epsilon, delta, bins=b) for b in (bins - 1, bins))
    assert (below.better, above.better, above.crossover) == ("geometric", "gaussian", bins)
    for found, many in ((below, bins - 1), (above, bins)):
        unit = Unit(person="id", distinct=many)
        spec = histogram([f"place:0..{bins}:1"], epsilon=epsilon, delta=delta, unit=unit)
        assert spec.channel.name == found.better


def test_both_are_shown_with_their_promise() -> None:
    found = plan.noises(1, "1e-6")
    assert found.better == "geometric"
    assert [row[1] for row in found.table()] == ["1.357", "4.231"]
    assert found.as_json()["gaussian_from"] == 9
    assert "from 9 numbers" in found.sentences()[1]
    with pytest.raises(WrongUse, match="above 0"):
        plan.noises(1, 0)
