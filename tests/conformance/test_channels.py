"""One suite for every channel: whatever is published by name passes all of this, or is not a channel.

A case is a channel of the catalogue with small parameters, so that sums over all outcomes are sums and not estimates.
Only the sections "draws" and "the door" draw anything, from scripts fixed by a label.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray
from scipy import stats

from hubbub.channels.catalogue import CHANNELS, cards, channel, make, parameters
from hubbub.channels.estimate import interval, intervals, most_likely, unbiased_estimate
from hubbub.channels.law import SUPPRESSED, Law
from hubbub.channels.papers.outliers import OutlierSuppressed
from hubbub.channels.profile import decide, exact_delta, exact_loss, judge, profile
from hubbub.channels.protocol import LARGEST_COUNT, Channel, Published
from hubbub.errors import FloatRefused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.verdict import Proved, Refuted, Undecided
from hubbub.noise.source import RecordingSource, ScriptedSource
from hubbub.numeric.exact import ball, lower, upper
from tests.slow import first_is_fast


@dataclass(frozen=True)
class Case:
    """A channel, and how to be nearly right about it.

    `edge` is a count at which its law changes, `last` the last count of the profile, and `range` where the most likely
    count of a published value is searched for. `wrong` are options that change the law of the count `at` by 5 % in each
    direction; without them the laws of `at` and of the count below are told apart instead.
    """

    name: str
    options: Mapping[str, Any]
    edge: int = 5
    last: int = 130
    wrong: tuple[Mapping[str, Any], ...] = ()
    range: int = 60
    at: int | None = None

    @property
    def channel(self) -> Channel:
        return _made(self.name, tuple(self.options.items()))

    def but(self, **options: object) -> Channel:
        return _made(self.name, tuple({**self.options, **options}.items()))

    def __str__(self) -> str:
        return " ".join((self.name, *(f"{key}={value}" for key, value in self.options.items())))


@cache
def _made(name: str, options: tuple[tuple[str, Any], ...]) -> Channel:
    return channel(name, **dict(options))


def off(option: str, value: str) -> tuple[dict[str, Fraction], ...]:
    """The option 5 % smaller and 5 % larger."""
    return tuple({option: factor * Fraction(value)} for factor in (Fraction(19, 20), Fraction(21, 20)))


def curves(*texts: str) -> tuple[dict[str, str], ...]:
    return tuple({"curve": text} for text in texts)


def rates(*texts: str) -> tuple[dict[str, str], ...]:
    return tuple({"epsilons": text} for text in texts)


RAMP = "0.3+slope:0.1<=1"
CASES = [
    Case("exact-or-suppressed", {"k": 5}),
    Case("exact-or-suppressed", {"k": 20}, edge=20),
    Case("noisy-below", {"k": 5, "epsilon": "0.5"}, wrong=off("epsilon", "0.5"), at=4),
    Case("noisy-below", {"k": 10, "epsilon": 1, "tagged": True}, edge=10, wrong=off("epsilon", "1"), at=9),
    Case("geometric", {"epsilon": 1}, wrong=off("epsilon", "1")),
    Case("geometric", {"epsilon": "1/10"}, wrong=off("epsilon", "1/10"), range=400),
    Case("gaussian", {"epsilon": 1, "variance": 4}, wrong=off("variance", "4")),
    Case("gaussian", {"epsilon": "1/2", "delta": "1e-3"}, range=120),
    Case("group", {"k": 4, "epsilon": 2}, wrong=off("epsilon", "2")),
    Case("group", {"k": 1, "epsilon": "0.7"}, wrong=off("epsilon", "0.7")),
    Case("simple-suppressed", {"k": 5}, edge=6),
    Case("simple-suppressed", {"k": 1}, edge=2),
    Case("simple-noisy", {"k": 4, "epsilon": 2}, wrong=off("epsilon", "2"), at=4),
    Case("simple-noisy", {"k": 10, "epsilon": 3}, edge=11, wrong=off("epsilon", "3"), at=10),
    Case("outlier-suppressed", {"k": 5, "epsilon": 1, "alpha": 3}, wrong=off("epsilon", "1"), at=10),
    Case("outlier-suppressed", {"k": 10, "epsilon": "0.5", "offset": 4}, edge=10, wrong=off("epsilon", "0.5")),
    Case("outlier-suppressed", {"k": 100, "epsilon": 1, "delta": "1e-6"}, edge=100, range=180, at=115),
    Case("outlier-noisy", {"k": 4, "epsilon": 2, "alpha": 3}, wrong=off("epsilon", "2")),
    Case("outlier-noisy", {"k": 10, "epsilon": 2, "offset": 1}, edge=10, wrong=off("epsilon", "2"), range=180),
    Case("outlier-noisy", {"k": 5, "epsilon": 1, "delta": "0.001"}, last=40, range=180),
    Case(
        "staircase",
        {"thresholds": "20,5", "epsilons": "1,0.5,0", "alpha": 2},
        edge=20,
        wrong=rates("0.95,0.475,0", "1.05,0.525,0"),
    ),
    Case(
        "staircase",
        {"thresholds": "12,4", "epsilons": "2,1,0.5", "offsets": "1,3"},
        edge=12,
        wrong=rates("1.9,0.95,0.475", "2.1,1.05,0.525"),
        range=100,
    ),
    Case(
        "staircase",
        {"thresholds": "12,4", "epsilons": "2,1,0.5", "offsets": "2,14", "as_printed": True},
        edge=12,
        wrong=rates("1.9,0.95,0.475", "2.1,1.05,0.525"),
        range=100,
    ),
    Case("staircase", {"thresholds": "12,4", "epsilons": "2,1,0", "alpha": 12, "as_printed": True}, edge=19),
    Case("staircase", {"thresholds": "20,5", "epsilons": "inf,0.5,0", "delta": "0.001"}, edge=20, wrong=()),
    Case(
        "lower-bound",
        {"curve": "1:0.5,6:1", "estimator": "count", "epsilon_a": "0.25", "alpha": 2},
        wrong=off("epsilon_a", "0.25"),
    ),
    Case(
        "lower-bound",
        {"curve": "slope:0.5", "estimator": "count", "epsilon_a": "0.5", "alpha": 2},
        edge=12,
        last=15,
        range=30,
        wrong=off("epsilon_a", "0.5")[:1],
    ),
    Case(
        "lower-bound",
        {"curve": "1:1,6:inf", "estimator": "count", "epsilon_a": "0.5", "alpha": 2},
        edge=10,
        wrong=off("epsilon_a", "0.5"),
    ),
    *(
        Case(
            "lower-bound",
            {"curve": RAMP, "estimator": estimator, "epsilon_a": "0.2", "alpha": 2},
            edge=7,
            last=last,
            wrong=off("epsilon_a", "0.2"),
        )
        for estimator, last in (
            ("epsilon-global", 40),
            ("epsilon-smooth", 25),
            ("scale-global", 40),
            ("scale-smooth", 25),
        )
    ),
    Case(
        "lower-bound",
        {"curve": "1:0.5,6:2", "estimator": "epsilon-smooth", "epsilon_a": "0.2", "alpha": 2, "grid": "0.1"},
        edge=6,
        wrong=off("epsilon_a", "0.2"),
    ),
    Case("lecture", {"t": 5, "K": 15, "epsilon": "0.6", "delta": "0.01"}, edge=10, wrong=off("epsilon", "0.6")),
    Case("lecture", {"t": 2, "K": 8, "epsilon": 1, "factor": 2}, edge=6, wrong=off("epsilon", "1")),
    Case("warped", {"curve": "1:0.2,6:1"}, edge=6, wrong=curves("1:0.19,6:0.95", "1:0.21,6:1.05")),
    Case("warped", {"curve": "0.5"}, wrong=curves("0.475", "0.525")),
    Case("warped", {"curve": "slope:0.1"}, last=40, wrong=curves("slope:0.095", "slope:0.105")),
    Case("warped", {"curve": "slope:0.1<=1"}, edge=10, wrong=curves("slope:0.095<=0.95", "slope:0.105<=1.05")),
    Case("warped", {"curve": "0.2+slope:0.05<=0.6"}, edge=8, wrong=curves("0.19+slope:0.0475<=0.57")),
    Case("warped", {"curve": "1:0,4:0.5,9:inf"}, wrong=curves("1:0,4:0.475,9:inf", "1:0,4:0.525,9:inf")),
    Case("warped", {"curve": "1:0.2,4:0.5+slope:0.1,9:2"}, wrong=curves("1:0.19,4:0.475+slope:0.095,9:1.9")),
    Case("warped", {"curve": "0"}, wrong=curves("0.05")),
    Case("warped", {"curve": "inf"}),
    Case("warped", {"curve": "1:0.2,6:1", "show_above": 8}, edge=8, wrong=curves("1:0.19,6:0.95", "1:0.21,6:1.05")),
    Case("warped", {"curve": "1:0,5:1", "show_above": 4}, wrong=curves("1:0,5:0.95", "1:0,5:1.05")),
    Case("warped", {"curve": "1:0.5,9:inf", "show_above": 5}, wrong=curves("1:0.475,9:inf", "1:0.525,9:inf")),
    Case("warped", {"curve": "slope:0.1<=1", "show_above": 0}, wrong=curves("slope:0.095<=0.95", "slope:0.105<=1.05")),
    Case("warped", {"curve": "1:0.5,9:inf", "show_above": 20}, edge=21),
]

every_case = pytest.mark.parametrize("case", first_is_fast(CASES, lambda case: case.name), ids=str)


def test_every_channel_of_the_catalogue_has_at_least_two_cases() -> None:
    found = Counter(case.name for case in CASES)
    assert set(found) == set(CHANNELS)
    assert [name for name, cases in found.items() if cases < 2] == []
    estimators = {case.options["estimator"] for case in CASES if case.name == "lower-bound"}
    assert estimators == {"count", "epsilon-global", "epsilon-smooth", "scale-global", "scale-smooth"}


@every_case
def test_it_is_a_channel(case: Case) -> None:
    assert isinstance(case.channel, Channel)
    assert case.channel.name == case.name
    assert case.channel.proofs, "counts beyond every limit need a short proof"
    assert all(proof.reason for proof in case.channel.proofs)


@every_case
def test_it_is_made_again_from_its_parameters(case: Case) -> None:
    """Not always the same claim (an offset that came from a delta keeps its offset), but always the same laws."""
    told = parameters(case.channel)
    assert json.loads(json.dumps(told)) == told, "parameters are plain text"
    known = {*cards()[case.name].needs, *cards()[case.name].may, *cards()[case.name].one_of}
    options = {key: value for key, value in told.items() if key in known and key != "delta"}
    if told.get("nested") is False:
        options["as_printed"] = True
    again = make(case.name, **options).channel
    assert {**parameters(again), "delta": told.get("delta")} == {**told, "delta": told.get("delta")}
    for count in (0, case.edge - 1, case.edge, 3 * case.edge):
        assert same(again.law(count), case.channel.law(count))
    if "delta" not in told:
        assert again.claim == case.channel.claim


def same(one: Law, other: Law) -> bool:
    """Whether no probability of one law certainly differs from the other's."""
    atoms = [law.atoms(Fraction(1, 10**6)) for law in (one, other)]
    outcomes = [[(tag, value) for tag, value, _ in listed] for listed in atoms]
    return outcomes[0] == outcomes[1] and all(f[2].overlaps(g[2]) for f, g in zip(*atoms, strict=True))


# --- the law ----------------------------------------------------------------------------------------------------

BLUR = Fraction(1, 10**25)  # how far a ball around a total may reach: a ball of the whole line encloses 1 as well


@every_case
def test_the_law_sums_to_one(case: Case) -> None:
    for count in {0, 1, case.edge - 1, case.edge, case.edge + 1, 100, 10**6, LARGEST_COUNT}:
        law = case.channel.law(count)
        total = law.total()
        assert lower(total) <= 1 <= upper(total) + law.missing, f"count {count}: {total}, missing {law.missing}"
        assert upper(total) - lower(total) < BLUR, f"count {count}: {total}"
        assert law.missing < BLUR, f"count {count}: missing {float(law.missing)}"


@every_case
def test_no_outcome_has_a_negative_probability_and_tags_are_known(case: Case) -> None:
    for count in (0, case.edge, 3 * case.edge):
        law = case.channel.law(count)
        for tag, _, mass in law.atoms(Fraction(1, 10**6)):
            assert mass > 0
            assert tag in law.tags


# --- draws ------------------------------------------------------------------------------------------------------

SIZE = 1e-6  # of each comparison: the probability that the true law is rejected
POWER = 0.999  # at least this probability that a law 5 % off is rejected
N = 120_000
CELLS = 24  # at most, of about equal probability
FEWEST = 200  # expected draws in a cell, so that the chi-square approximation holds
TAIL = Fraction(1, 10**12)  # of a law left out of the cells: that any draw falls there has probability N * TAIL

Outcome = tuple[str, int]


class Cells:
    """The outcomes of a law pooled into cells: first by tag, then by value, neighbours together."""

    def __init__(self, law: Law) -> None:
        tags: dict[str, float] = {}
        masses: dict[Outcome, float] = {}
        for tag, value, mass in law.atoms(TAIL):
            tags[tag] = tags.get(tag, 0.0) + float(mass)
            masses[tag, value] = masses.get((tag, value), 0.0) + float(mass)
        self.group = _pooled(tags, 4)
        merged: dict[tuple[int, int], float] = {}  # (group of tags, value) -> probability
        for (tag, value), p in masses.items():
            key = self.group[tag], value
            merged[key] = merged.get(key, 0.0) + p
        self.cell: dict[tuple[int, int], int] = {}
        for group in sorted(set(self.group.values())):
            share = {key: p for key, p in sorted(merged.items()) if key[0] == group}
            start = len(set(self.cell.values()))
            pooled = _pooled(share, max(round(CELLS * sum(share.values())), 1))
            self.cell |= {key: start + cell for key, cell in pooled.items()}
        self.expected = self.of(masses)

    def of(self, weights: Mapping[Outcome, float]) -> NDArray[np.float64]:
        """Weights of outcomes summed by cell; the last entry is for what the law says cannot happen."""
        sums = np.zeros(len(set(self.cell.values())) + 1)
        for (tag, value), weight in weights.items():
            sums[self.cell.get((self.group.get(tag, -1), value), -1)] += weight
        return sums


def _pooled(shares: Mapping[Any, float], most: int) -> dict[Any, int]:
    """Neighbours in order, put together until each cell has its share and draws enough."""
    goal = max(sum(shares.values()) / most, FEWEST / N)
    cell, held, found = 0, 0.0, {}
    left = sum(shares.values())
    for key, p in shares.items():
        if held >= goal and left >= FEWEST / N:
            cell, held = cell + 1, 0.0
        found[key] = cell
        held, left = held + p, left - p
    return found


def rejection(drawn: Counter[Outcome], law: Law) -> tuple[bool, str]:
    """Whether the draws are rejected as coming from the law, with the numbers."""
    cells, n = Cells(law), drawn.total()
    observed, expected = cells.of(drawn), n * cells.expected
    if observed[-1]:
        return True, f"n = {n}, {observed[-1]:.0f} draws that the law does not have"
    statistic = float(((observed - expected)[:-1] ** 2 / expected[:-1]).sum())
    freedom = len(expected) - 2
    threshold = float(stats.chi2.isf(SIZE, freedom)) if freedom else SIZE
    return (
        statistic > threshold,
        f"n = {n}, cells = {freedom + 1}, chi-square = {statistic:.2f}, threshold = {threshold:.2f}",
    )


def power(claimed: Law, true: Law, n: int) -> float:
    """The probability that n draws from `true` are rejected as draws from `claimed`."""
    cells = Cells(claimed)
    p, p_true = cells.expected, cells.of({(tag, value): float(mass) for tag, value, mass in true.atoms(TAIL)})
    impossible = 1 - (1 - min(p_true[-1], 1)) ** n
    freedom = len(p) - 2
    if not freedom:
        return float(impossible)
    distance = n * float(((p_true - p)[:-1] ** 2 / p[:-1]).sum())
    return max(float(stats.ncx2.sf(stats.chi2.isf(SIZE, freedom), freedom, distance)), float(impossible))


def drawn(channel: Channel, counts: tuple[int, ...], label: str) -> list[Counter[Outcome]]:
    """N outcomes for each count, from one release in which the counts alternate."""
    table = np.resize(np.array(counts), (N, len(counts)))
    out = channel.release(table, ScriptedSource.from_label(label))
    found = []
    for column in range(len(counts)):
        codes = out.values[:, column] * len(out.names) + out.tags[:, column]
        outcomes, times = np.unique(codes, return_counts=True)
        pairs = [divmod(code, len(out.names)) for code in outcomes.tolist()]
        found.append(
            Counter({(out.names[tag], value): n for (value, tag), n in zip(pairs, times.tolist(), strict=True)})
        )
    return found


@every_case
def test_samples_follow_the_law(case: Case) -> None:
    counts = (0, case.edge - 1, case.edge, 3 * case.edge)
    for count, sample in zip(counts, drawn(case.channel, counts, f"true {case}"), strict=True):
        rejected, numbers = rejection(sample, case.channel.law(count))
        assert not rejected, f"count {count}: {numbers}"


@every_case
def test_a_law_five_per_cent_off_is_rejected(case: Case) -> None:
    count = case.edge if case.at is None else case.at
    (sample,) = drawn(case.channel, (count,), f"off {case}")
    true = case.channel.law(count)
    wrong = [case.but(**options).law(count) for options in case.wrong] or [case.channel.law(count - 1)]
    for law in wrong:
        chance = power(law, true, N)
        assert chance > POWER, f"n = {N}: power {chance}, wanted {POWER}"
        rejected, numbers = rejection(sample, law)
        assert rejected, numbers


# --- the claim --------------------------------------------------------------------------------------------------


@every_case
def test_the_claim_is_at_least_the_exact_loss(case: Case) -> None:
    rows = profile(case.channel, range(1, case.last + 1))
    assert not isinstance(judge(case.channel, rows), Refuted)
    for row in rows:
        assert upper(row.exact_delta) <= row.claimed_delta, f"count {row.count}: {row.exact_delta}"


@every_case
def test_every_proof_holds_at_the_counts_it_speaks_about(case: Case) -> None:
    unproved = Unproved(case.channel)
    for proof in case.channel.proofs:
        for count in {1, 2, case.edge - 1, case.edge, case.edge + 1, min(case.last, 60)} - {0}:
            found = exact_delta(unproved, count, proof.curve.at(count))
            assert lower(found) <= proof.delta, f"count {count}, {proof.reason}: {found}"
            assert upper(found) <= proof.delta + BLUR, f"count {count}, {proof.reason}: {found}"


@dataclass(frozen=True)
class Unproved:
    """A channel without its proofs, so that nothing but its laws answers."""

    inner: Channel
    name = "unproved"
    proofs = ()
    unbiased_estimate = False

    @property
    def claim(self) -> Any:
        return self.inner.claim

    def law(self, count: int) -> Law:
        return self.inner.law(count)

    def neighbours(self, count: int) -> tuple[Law, Law]:
        return self.inner.neighbours(count)

    def release(self, counts: Any, source: Any) -> Published:
        return self.inner.release(counts, source)


@pytest.mark.parametrize("case", [c for c in CASES if c.name == "warped"], ids=str)
def test_w1_the_warped_channel_has_delta_exactly_zero(case: Case) -> None:
    warped: Any = case.channel
    for row in profile(warped, (*range(1, 30), 10**6, LARGEST_COUNT)):
        assert row.exact_delta.is_zero(), f"count {row.count}"
    if warped.show_above is None:
        for count in (*range(1, 30), 10**6, LARGEST_COUNT):
            assert exact_loss(warped, count) == warped.curve.at(count), f"count {count}"


@pytest.mark.parametrize("name", ["outlier-suppressed", "outlier-noisy"])
def test_a_pure_promise_is_proved_although_balls_show_no_zero(name: str) -> None:
    """Far above the threshold a hidden bin has the ratio e^-epsilon exactly, and its probability is a ball."""
    made = channel(name, k=5, epsilon=1, offset=3)
    assert isinstance(decide(made, DifferentialPrivacy(epsilon=Fraction(1)), limit=30), Proved)
    assert isinstance(decide(made, DifferentialPrivacy(epsilon=Fraction(99, 100)), limit=30), Refuted)


def test_the_loss_behind_a_threshold_is_exact_too() -> None:
    for curve, threshold in (("0.5", 3), ("1:0,5:1", 4), ("1:0.25,4:1", 4)):
        made: Any = channel("warped", curve=curve, show_above=threshold)
        assert [exact_loss(made, count) for count in range(1, 9)] == [made.curve.at(count) for count in range(1, 9)]


def test_a_claim_is_a_probability_however_small_the_offsets() -> None:
    stairs = {"thresholds": "30,20,10", "epsilons": "0.1,0.05,0.02,0"}
    assert channel("staircase", **stairs, alpha="0.1").claim.loss_at(5) == (0, 1)  # type: ignore[union-attr]
    _, delta = channel("staircase", **stairs, offsets="0,0,0").claim.loss_at(5)  # type: ignore[union-attr]
    assert 0 < delta < 1


# --- the door ---------------------------------------------------------------------------------------------------


@every_case
def test_the_shape_is_kept(case: Case) -> None:
    for shape in ((), (1,), (6,), (2, 3), (2, 1, 3), (0,), (0, 3)):
        counts = np.zeros(shape, dtype=np.int64)
        counts[...] = np.resize(np.array([0, 1, case.edge, 7]), shape) if counts.size else 0
        out = case.channel.release(counts, ScriptedSource.from_label("shape"))
        assert out.values.shape == out.tags.shape == shape
        assert out.values.dtype == np.int64


@every_case
def test_lists_and_narrow_integers_are_counts_too(case: Case) -> None:
    for counts in ([], [3, 0], np.array([3, 200], dtype=np.uint8), np.array([3], dtype=np.uint64)):
        out = case.channel.release(counts, ScriptedSource.from_label("list"))
        assert out.values.shape == np.shape(counts)


@every_case
def test_zero_and_huge_counts_are_released_within_their_law(case: Case) -> None:
    counts = np.array([0, LARGEST_COUNT, LARGEST_COUNT - 1, 1] * 25)
    out = case.channel.release(counts, ScriptedSource.from_label(f"ends {case}"))
    for i, count in enumerate(counts.tolist()):
        value, tag = out.outcome(i)
        assert (value is None) == tag.startswith(SUPPRESSED)
        assert case.channel.law(count).mass(value or 0, tag) > 0, f"count {count} gave {value} {tag}"


BAD_COUNTS = [
    np.array([3, -987]),
    np.array([98.7]),
    [3, 98.7],
    np.array([float("nan")]),
    np.array([True, False]),
    True,
    [2**80 + 987],
    np.array(["987"]),
    [None, 987],
    np.array([987 + 0j]),
]


@every_case
def test_what_is_no_count_is_refused_in_one_sentence_without_the_count(case: Case) -> None:
    for counts in BAD_COUNTS:
        with pytest.raises(WrongUse) as refused:
            case.channel.release(counts, ScriptedSource([]))
        assert_one_sentence(str(refused.value))
        assert "987" not in str(refused.value)
        assert "98.7" not in str(refused.value)
    for count in (-987, 98.7, True, LARGEST_COUNT + 987, "987", None, Fraction(987)):
        with pytest.raises(WrongUse) as refused:
            case.channel.law(count)  # type: ignore[arg-type]
        assert_one_sentence(str(refused.value))
        assert "987" not in str(refused.value)


@every_case
def test_66_a_count_beyond_all_tables_is_published_as_the_largest_there_is(case: Case) -> None:
    largest = case.channel.release(np.array([LARGEST_COUNT]), ScriptedSource.from_label("large"))
    for count in (LARGEST_COUNT + 987, 2**63 + 987):
        counts = np.array([count], dtype=np.uint64)
        published = case.channel.release(counts, ScriptedSource.from_label("large"))
        assert published.outcome(0) == largest.outcome(0)


def assert_one_sentence(text: str) -> None:
    assert text.strip() == text
    assert text
    assert "\n" not in text
    assert not text.endswith(".")
    assert ". " not in text, f"two sentences: {text}"
    assert len(text) < 400


SAME_WORDS = (
    "exact-or-suppressed",
    "noisy-below",
    "geometric",
    "group",
    "simple-suppressed",
    "simple-noisy",
    "outlier-suppressed",
    "outlier-noisy",
    "staircase",
)


@pytest.mark.parametrize("case", [c for c in CASES if c.name in SAME_WORDS], ids=str)
def test_how_much_is_drawn_does_not_depend_on_the_count(case: Case) -> None:
    """Noise is drawn for every bin, needed or not; the restarts of a table depend on its words alone."""

    def sizes(count: int) -> tuple[int, ...]:
        source = RecordingSource(ScriptedSource.from_label("words"))
        case.channel.release(np.full(3000, count), source)
        return source.record.sizes

    expected = sizes(case.edge)
    for count in (0, 1, case.edge - 1, case.edge + 1, 3 * case.edge, LARGEST_COUNT):
        assert sizes(count) == expected, f"count {count}"


# --- estimates --------------------------------------------------------------------------------------------------

LISTED = Fraction(1, 10**5)  # what the sums over outcomes may leave out


@every_case
def test_the_interval_has_its_coverage_given_that_a_number_is_shown(case: Case) -> None:
    """Summed exactly: of the outcomes that show a number, those whose interval contains the true count."""
    near = {
        *range(max(case.edge - 3, 0), case.edge + 4),
        0,
        1,
        2 * case.edge,
        getattr(case.channel, "last_change", None) or 0,
    }
    for count, coverage in (*((count, "0.95") for count in sorted(near)), (case.edge, "0.5")):
        covered, shown = arb(0), arb(0)
        for tag, value, mass in case.channel.law(count).atoms(LISTED):
            if tag.startswith(SUPPRESSED):
                continue
            found = interval(case.channel, value, tag, coverage)
            assert 0 <= found.low <= max(value, 0)
            assert found.high is None or found.high >= max(value, 0)
            shown += mass
            if found.low <= count and (found.high is None or count <= found.high):
                covered += mass
        if upper(shown) > 100 * LISTED:  # else the sums leave out as much as they have
            assert lower(covered) >= Fraction(coverage) * lower(shown) - LISTED, f"count {count}: {covered} of {shown}"


@every_case
def test_a_count_outside_the_interval_of_a_hidden_bin_is_seldom_hidden(case: Case) -> None:
    for tag in (tag for tag in case.channel.law(case.edge).tags if tag.startswith(SUPPRESSED)):
        found = interval(case.channel, None, tag)
        if found.high is None:
            continue
        for count in (found.high + 1, found.high + 2, 2 * found.high + 5):
            assert upper(case.channel.law(count).mass(0, tag)) <= Fraction(1, 20), f"{tag}, count {count}"
        assert found.high == 0 or upper(case.channel.law(found.high).at_most(0, tag)) > Fraction(1, 20)


@every_case
def test_the_intervals_of_a_release_are_those_of_its_values(case: Case) -> None:
    counts = np.array([*range(3 * case.edge), 1000, 1001, 10**6, 2**61])
    out = case.channel.release(counts, ScriptedSource.from_label(f"intervals {case}"))
    low, high = intervals(case.channel, out)
    for i in range(counts.size):
        found = interval(case.channel, *out.outcome(i))
        assert (low[i], high[i]) == (found.low, -1 if found.high is None else found.high), f"count {counts[i]}"


@every_case
def test_the_most_likely_count_is_most_likely(case: Case) -> None:
    outcomes: set[tuple[int, str]] = set()
    for count in (0, case.edge, 2 * case.edge):
        listed = case.channel.law(count).atoms(Fraction(1, 100))
        outcomes |= {(value, tag) for tag, value, _ in listed[:: max(len(listed) // 12, 1)]}
    laws = [case.channel.law(count) for count in range(case.range)]
    for value, tag in outcomes:
        best = most_likely(case.channel, None if tag.startswith(SUPPRESSED) else value, tag)
        mass = case.channel.law(best).mass(value, tag)
        better = [count for count, law in enumerate(laws) if law.mass(value, tag) > mass]
        assert not better, f"{value} {tag}: {best} was said, {better[:3]} are more likely"


@every_case
def test_the_unbiased_estimate_has_the_count_as_its_mean(case: Case) -> None:
    promised = case.channel.is_unbiased or exists_for_warped(case)
    tail = Fraction(1, 10**15 if promised else 10**3)  # the mean of what is left out is some hundred times that
    for count in {0, 1, case.edge - 1, case.edge, case.edge + 1, 2 * case.edge}:
        mean, some = arb(0), False
        for tag, value, mass in case.channel.law(count).atoms(tail):
            estimate = unbiased_estimate(case.channel, None if tag.startswith(SUPPRESSED) else value, tag)
            assert (estimate is not None) == promised
            if estimate is not None:
                some = True
                mean += mass * (ball(estimate) if isinstance(estimate, Fraction) else estimate)
        assert some == promised
        assert not promised or abs(mean - count) < 1e-9, f"count {count}: mean {mean}"


def exists_for_warped(case: Case) -> bool:
    """It does unless something is hidden or a step tells nothing."""
    made: Any = case.channel
    return case.name == "warped" and made.show_above is None and made.curve.at(1) > 0


# --- wrong parameters -------------------------------------------------------------------------------------------

OUTLIER = [
    {"k": 1, "epsilon": 1, "alpha": 10},
    {"k": "3/2", "epsilon": 1, "alpha": 10},
    {"k": 100, "epsilon": 0, "alpha": 10},
    {"k": 100, "epsilon": "-1", "alpha": 10},
    {"k": 100, "epsilon": 51, "alpha": 10},
    {"k": 100, "epsilon": 0.3, "alpha": 10},
    {"k": 100, "epsilon": 1},
    {"k": 100, "epsilon": 1, "alpha": 0},
    {"k": 100, "epsilon": 1, "alpha": 10, "offset": 3},
    {"k": 100, "epsilon": 1, "offset": -1},
    {"k": 100, "epsilon": 1, "offset": "1.5"},
    {"k": 100, "epsilon": 1, "delta": 0},
    {"k": 100, "epsilon": 1, "delta": 1},
    {"k": 100, "epsilon": 1, "delta": 1e-6},
]
STAIRS = {"thresholds": "100,10", "epsilons": "1,0.1,0"}
EXAMPLE_8 = {"curve": "1:0.5,6:1", "estimator": "count", "epsilon_a": "0.1", "alpha": 2}
LECTURE = {"t": 5, "K": 15, "epsilon": 1}
BAD_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "exact-or-suppressed": [
        {},
        {"k": 1},
        {"k": 0},
        {"k": -3},
        {"k": "2.5"},
        {"k": "many"},
        {"k": 5.1},
        {"k": True},
        {"k": 5, "epsilon": 1},
    ],
    "noisy-below": [
        {"k": 5},
        {"epsilon": 1},
        {"k": 1, "epsilon": 1},
        {"k": 5, "epsilon": 0},
        {"k": 5, "epsilon": "1e-7"},
        {"k": 5, "epsilon": "inf"},
        {"k": 5, "epsilon": 0.3},
        {"k": 5, "epsilon": "0.5", "tagged": "perhaps"},
    ],
    "gaussian": [
        {},
        {"epsilon": 1},
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "variance": 0},
        {"epsilon": 1, "variance": "1e-9"},
        {"epsilon": 1, "variance": "1e30"},
        {"epsilon": 0, "delta": "1e-9"},
        {"epsilon": 1, "delta": "1e-9", "variance": 4},
    ],
    "geometric": [
        {},
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": 51},
        {"epsilon": "1e-7"},
        {"epsilon": 0.1},
        {"epsilon": "1/0"},
        {"epsilon": float("nan")},
    ],
    "group": [
        {"k": 0, "epsilon": 1},
        {"k": 10**7, "epsilon": 1},
        {"k": 3, "epsilon": 0},
        {"k": 3, "epsilon": 200},
        {"k": 3, "epsilon": 0.3},
    ],
    "simple-suppressed": [{}, {"k": 0}, {"k": "x"}, {"k": 2.1}],
    "simple-noisy": [
        {"k": 0, "epsilon": 1},
        {"k": 5},
        {"k": 5, "epsilon": 0},
        {"k": 10**7, "epsilon": 1},
        {"k": 5, "epsilon": 0.1},
    ],
    "outlier-suppressed": OUTLIER,
    "outlier-noisy": [*OUTLIER, {"k": 10**6, "epsilon": "0.5", "alpha": 10}],
    "staircase": [
        STAIRS,
        {"thresholds": "10,100", "epsilons": "1,0.1,0", "alpha": 2},
        {"thresholds": "10,10", "epsilons": "1,0.1,0", "alpha": 2},
        {"thresholds": "10,0", "epsilons": "1,0.1,0", "alpha": 2},
        {"thresholds": "100,10", "epsilons": "0.1,1,0", "alpha": 2},
        {"thresholds": "100,10", "epsilons": "1,0.1", "alpha": 2},
        {"thresholds": "", "epsilons": "1", "alpha": 2},
        {"thresholds": "100,ten", "epsilons": "1,0.1,0", "alpha": 2},
        {"thresholds": 100, "epsilons": "1,0.1", "alpha": 2},
        {"thresholds": "100,10", "epsilons": "1,1e-7,0", "alpha": 2},
        {"thresholds": (100, 10), "epsilons": (1, 0.1, 0), "alpha": 2},
        {**STAIRS, "alpha": 0},
        {**STAIRS, "alpha": 2.1},
        {**STAIRS, "delta": 0},
        {**STAIRS, "delta": 1},
        {**STAIRS, "delta": 2},
        {**STAIRS, "offsets": "5"},
        {**STAIRS, "offsets": "5,4"},
        {**STAIRS, "offsets": "5,-4"},
        {**STAIRS, "offsets": "5,6", "alpha": 2},
    ],
    "lower-bound": [
        {**EXAMPLE_8, "estimator": "median"},
        {**EXAMPLE_8, "estimator": 3},
        {**EXAMPLE_8, "epsilon_a": 0},
        {**EXAMPLE_8, "epsilon_a": "0.6"},
        {**EXAMPLE_8, "epsilon_a": 0.1},
        {**EXAMPLE_8, "alpha": 0},
        {**EXAMPLE_8, "alpha": -1},
        {**EXAMPLE_8, "curve": "0"},
        {**EXAMPLE_8, "curve": "2:1"},
        {**EXAMPLE_8, "curve": "slope:0.5", "estimator": "epsilon-global"},
        {**EXAMPLE_8, "curve": "slope:0.5", "estimator": "scale-smooth"},
        {**EXAMPLE_8, "curve": "1:0.5,6:inf", "estimator": "epsilon-smooth"},
        {**EXAMPLE_8, "estimator": "epsilon-smooth", "delta_a": 0},
        {**EXAMPLE_8, "estimator": "epsilon-smooth", "delta_a": "0.3"},
        {**EXAMPLE_8, "estimator": "scale-global", "grid": 0},
        {**EXAMPLE_8, "estimator": "epsilon-global", "grid": -1},
        {**EXAMPLE_8, "curve": "1:3,6:4", "epsilon_a": 3, "estimator": "epsilon-smooth"},
    ],
    "lecture": [
        {**LECTURE, "t": 0},
        {**LECTURE, "t": 15},
        {**LECTURE, "t": 20},
        {**LECTURE, "K": "15.5"},
        {**LECTURE, "K": 10**6},
        {**LECTURE, "epsilon": 0},
        {**LECTURE, "epsilon": 0.2},
        {**LECTURE, "factor": "0.5"},
        {**LECTURE, "delta": 0},
        {**LECTURE, "delta": 1},
        {**LECTURE, "delta": 1e-6},
        {"t": 5, "epsilon": 1},
    ],
    "warped": [
        {},
        {"curve": ""},
        {"curve": "high"},
        {"curve": "-1"},
        {"curve": "51"},
        {"curve": "1e-7"},
        {"curve": "2:1"},
        {"curve": "1:1,1:2"},
        {"curve": "5:1,1:2"},
        {"curve": "1:1,x"},
        {"curve": "1:1,5"},
        {"curve": "slope:"},
        {"curve": "slope:0"},
        {"curve": "slope:-1"},
        {"curve": "slope:1e-7"},
        {"curve": "slope:1<=-2"},
        {"curve": 0.3},
        {"curve": None},
        {"curve": ("1:1",)},
        {"curve": "1", "show_above": -1},
        {"curve": "1", "show_above": "1.5"},
        {"curve": "1", "show_above": 1.1},
        {"curve": "1", "threshold": 1},
    ],
}


def test_every_channel_has_wrong_parameters() -> None:
    assert set(BAD_OPTIONS) == set(CHANNELS)


@pytest.mark.parametrize(
    ("name", "options"), [(name, options) for name, table in BAD_OPTIONS.items() for options in table], ids=str
)
def test_wrong_parameters_get_one_sentence(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(WrongUse) as refused:
        make(name, **options)
    assert_one_sentence(str(refused.value))
    given = [part for value in options.values() for part in (value if isinstance(value, tuple) else (value,))]
    if any(isinstance(part, float) for part in given):
        assert isinstance(refused.value, FloatRefused)


def test_a_name_that_is_not_in_the_catalogue_gets_the_list() -> None:
    with pytest.raises(WrongUse, match="geometric") as refused:
        make("laplace", epsilon=1)
    assert_one_sentence(str(refused.value))


def test_a_curve_that_decreases_is_lowered_and_that_is_said() -> None:
    made = make("warped", curve="1:0.5,50:1,100:0.2")
    assert parameters(made.channel)["curve"] == "0.2"
    assert len(made.remarks) == 1
    assert make("warped", curve="1:0.2,50:1").remarks == ()


# --- the tests above can fail -----------------------------------------------------------------------------------


def test_a_planted_fault_is_noticed() -> None:
    case = next(c for c in CASES if c.name == "geometric")
    honest = case.channel.law(5)
    half = replace(honest, blocks=honest.blocks[:1])
    total = half.total()
    assert not lower(total) <= 1 <= upper(total) + half.missing
    (sample,) = drawn(case.channel, (5,), "planted")
    shifted = Counter({(tag, value + 1): n for (tag, value), n in sample.items()})
    assert rejection(shifted, honest)[0]
    with pytest.raises(AssertionError):
        assert_one_sentence("This is wrong. Try again")


def test_what_is_undecided_says_how_far_to_look() -> None:
    too_good = OutlierSuppressed(20, Fraction(1), 5, Fraction(1, 10**9))
    verdict = judge(too_good, profile(too_good, (1, 2, 3)))
    assert isinstance(verdict, Undecided)
    assert verdict.why == "no proof covers the counts from 4 on; look at more of them, up to 21"
