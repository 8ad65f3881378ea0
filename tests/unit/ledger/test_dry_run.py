"""What a release would cost: the same answer as the ledger's own, and nothing entered."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from hubbub.engines.identity import of_files
from hubbub.errors import Refused
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.charge import charge
from hubbub.ledger.dry_run import dry_run
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.policy import Policy
from hubbub.protocol.bound import Bound
from tests.unit.shared.histogram_requests import WORDS


@pytest.mark.parametrize("second", ["crowd", "plain", "outlier", "sample"])
@pytest.mark.parametrize("first", ["crowd", "plain", "outlier", "sample"])
def test_a_trial_says_what_reserving_says(first: str, second: str, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("a\n1\n")
    source = of_files([str(file)])
    ledger = Ledger(tmp_path / "books" / "ledger.db")
    one, two = (charge(Bound(histogram(["town=Bath,York"], **WORDS[name]))) for name in (first, second))
    ledger.reserve("people", one, source=source)
    before = len(ledger.entries())
    tried = dry_run(ledger, "people", two, source=source)
    assert len(ledger.entries()) == before
    refused = None
    try:
        ledger.reserve("people", two, source=source)
    except Refused as refusal:
        refused = str(refusal)
    assert (None if tried.refusal is None else str(tried.refusal)) == refused
    assert tried.after == (ledger.account("people").totals if refused is None else None)


def test_caps_count_too(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_policy("people", Policy(differential_epsilon=Fraction(1, 2)))
    asked = charge(Bound(histogram(["town=Bath,York"], epsilon="1/3")))
    tried = dry_run(ledger, "people", asked)
    assert tried.refusal is None
    assert tried.releases == 0
    assert tried.left_before == {"differential_epsilon": "0.5"}
    assert tried.left_after == {"differential_epsilon": "1/6"}
    ledger.reserve("people", asked)
    assert dry_run(ledger, "people", asked).refusal is not None
