"""A channel that nothing but the catalogue knows works wherever channels do: released, verified, explained, planned."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest
from numpy.typing import ArrayLike

from hubbub.certificate.explanation import explain
from hubbub.channels import catalogue
from hubbub.channels.estimate import interval
from hubbub.channels.law import Law, two_sided
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.protocol import Card, Channel, Proof, Published, exact_counts
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.derivation import Theorem
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.plan.error import one_bin
from hubbub.verification import verify
from tests.unit.shared.saved import Saved


@dataclass(frozen=True, slots=True)
class Cautious(Channel):
    """Geometric noise of half the rate that is asked for; it says no more than a channel must.

    Guarantee: epsilon/2-differential privacy when one person is added or removed.
    """

    name: ClassVar[str] = "cautious"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.cautious", "noise of half the rate", "this test"),
        summary="plain noise of half the rate",
        example="`epsilon=1`",
        needs=("epsilon",),
    )
    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", Fraction(self.epsilon))

    @property
    def claim(self) -> DifferentialPrivacy:
        return DifferentialPrivacy(epsilon=self.epsilon / 2)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        return (Proof(flat(self.epsilon / 2), "both counts get the same noise, one step apart"),)

    @property
    def is_unbiased(self) -> bool:
        return True

    def law(self, count: int) -> Law:
        return Law(two_sided(count, self.epsilon / 2))

    def release(self, counts: ArrayLike, source: Source) -> Published:
        truth = exact_counts(counts)
        values = truth + two_sided_geometric(self.epsilon / 2, truth.size, source).reshape(truth.shape)
        return Published(values, (values * 0).astype("intp"), ("",))


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue.CHANNELS, Cautious.name, lambda: (Cautious,))  # type: ignore[arg-type]


@pytest.mark.usefixtures("known")
def test_an_added_channel_is_released_verified_and_explained(tmp_path: Path) -> None:
    saved = Saved(tmp_path, {"channel": "cautious", "options": {"epsilon": "2"}})
    told = explain(saved.made.promises[-1])
    verdict = verify(saved.data, folder=tmp_path)
    assert verdict.passed
    assert "2.72 times" in told, told
    assert "noise of half the rate" in told


def test_an_added_channel_has_the_error_and_the_interval_of_its_law() -> None:
    known, added = Geometric(Fraction(1, 2)), Cautious(Fraction(1))
    assert one_bin(added, None, 40)[0] == pytest.approx(one_bin(known, None, 40)[0], rel=1e-9)
    assert interval(added, 40) == interval(known, 40)
