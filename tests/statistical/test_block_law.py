"""What two blocks of a release publish, against the law of two independent bins, with a size and a power.

Bins of one count go through a channel in two blocks of a part; pairs (first block, second block) are compared with the
product of their laws by chi-square. Blocks that share their words must be rejected, and so must blocks of which one bin
in fifty has the noise of the other: the power of that is computed. The secret is fixed by a label, so a test that
passes passes always.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.channels.catalogue import make
from hubbub.kinds.histogram import parts as cuts
from hubbub.kinds.histogram.parts import cut_bins, publish_part
from hubbub.noise.source import BlockKeys, BlockSource, ScriptedSource
from hubbub.tables.engine import ExactCounts
from tests.fresh import spec_of

SIZE = 1e-6  # of each test: the probability that the true law is rejected
POWER = 0.999  # at least this probability that copies in one bin of fifty are rejected
BINS, COUNT, COPIED = 200_000, 4, 50
VALUES = np.arange(COUNT - 3, COUNT + 4)  # beyond them a bin counts as the last one


class _OneStream(BlockKeys):
    """Wrong on purpose: every block has the same words."""

    def stream(self, *block: int) -> BlockSource:
        return super().stream(0)


def pairs(keys: BlockKeys, monkeypatch: pytest.MonkeyPatch) -> NDArray[np.int64]:
    """(first, second) of each bin."""
    monkeypatch.setattr(cuts, "BLOCK", BINS)
    spec = spec_of([f"a:0..{2 * BINS}:1"], {"epsilon": 1, "parts": 1})
    counted = ExactCounts(np.arange(2 * BINS), np.full(2 * BINS, COUNT))
    first, second = (each.published.values for each in publish_part(spec, cut_bins(spec), keys, 0, counted))
    return np.stack([first, second])


def expected() -> NDArray[np.float64]:
    law = make("geometric", epsilon=1).channel.law(COUNT)
    inside = np.array([float(law.mass(int(value), law.tags[0]).mid()) for value in VALUES])
    tail = (1 - inside.sum()) / 2  # both sides are alike
    inside[0] += tail
    inside[-1] += tail
    return np.outer(inside, inside) * BINS


def statistic(drawn: NDArray[np.int64]) -> tuple[float, float, str]:
    cells = np.clip(drawn, VALUES[0], VALUES[-1]) - VALUES[0]
    seen = np.bincount(cells[0] * VALUES.size + cells[1], minlength=VALUES.size**2)
    wanted = expected().ravel()
    assert wanted.min() > 50
    found, threshold = float(((seen - wanted) ** 2 / wanted).sum()), float(stats.chi2.isf(SIZE, wanted.size - 1))
    return found, threshold, f"n = {BINS} pairs, chi-square = {found:.1f}, threshold = {threshold:.1f}"


def test_bins_of_two_blocks_are_independent_and_each_has_its_law(monkeypatch: pytest.MonkeyPatch) -> None:
    found, threshold, told = statistic(pairs(BlockKeys(ScriptedSource.from_label("blocks")), monkeypatch))
    assert found < threshold, told


def test_blocks_that_share_their_words_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = pairs(_OneStream(ScriptedSource.from_label("blocks")), monkeypatch)
    assert np.array_equal(drawn[0], drawn[1])
    found, threshold, told = statistic(drawn)
    assert found > threshold, told


def test_copies_in_one_bin_of_fifty_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = pairs(BlockKeys(ScriptedSource.from_label("blocks")), monkeypatch)
    drawn[1, ::COPIED] = drawn[0, ::COPIED]
    found, threshold, told = statistic(drawn)
    wanted, share = expected(), 1 / COPIED
    wrong = (1 - share) * wanted + share * np.diag(wanted.sum(axis=1))
    distance = float(((wrong - wanted) ** 2 / wanted).sum())
    power = float(stats.ncx2.sf(threshold, wanted.size - 1, distance))
    assert power > POWER, f"power {power}, wanted {POWER}"
    assert found > threshold, told
