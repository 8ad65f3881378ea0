"""Gains, worst gains, maps and guarantees against brute force that shares no code with them.

Everything here is written from the definitions: a profile is a tuple of ballots, all of them are gone through in exact
rationals, and the best of all lies is the largest gain over the corners of the consistent utilities. What Theorem B1
bounds is computed again in decimals, its constants by going through all ways that a rule may take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations, product
from math import factorial

import pytest

from hubbub import vote
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import Infinite
from hubbub.voting.manipulation.beliefs import Belief, Scores
from hubbub.voting.manipulation.gain import Contest, Question, gain, gains_of_truths

Ballot = tuple[int, ...]
Law = tuple[Fraction, ...]
CASES = 30
CLOSE = Fraction(1, 10**9)
MARGINED = ("repeated-plurality", "approximate-runoff")
ORDERS = tuple(permutations(range(3)))


# --- the rules, by their definitions ------------------------------------------------------------------------------


def draw_among(tied: Sequence[int], m: int) -> Law:
    return tuple(Fraction(int(c in tied), len(tied)) for c in range(m))


def most_of(scores: Sequence[int], among: Sequence[int]) -> list[int]:
    return [c for c in among if scores[c] == max(scores[d] for d in among)]


def tops(profile: Sequence[Ballot], among: Sequence[int], m: int) -> list[int]:
    counts = [0] * m
    for ballot in profile:
        for c in ballot:
            if c in among:
                counts[c] += 1
                break
    return counts


def law_of_runoff(profile: Sequence[Ballot], left: tuple[int, ...], m: int) -> Law:
    """One of those with the fewest tops leaves, drawn at random, until one is left."""
    if len(left) == 1:
        return draw_among(left, m)
    counts = tops(profile, left, m)
    last = [c for c in left if counts[c] == min(counts[d] for d in left)]
    laws = [law_of_runoff(profile, tuple(c for c in left if c != out), m) for out in last]
    return tuple(sum((law[c] for law in laws), Fraction(0)) / len(last) for c in range(m))


def law_of_margin(kind: str, profile: Sequence[Ballot], margin: int, m: int) -> Law:
    """The thesis's own rules: strike out by the margin until nobody more is, then plurality with ties drawn."""
    left = list(range(m))
    while True:
        counts = tops(profile, left, m)
        if kind == "repeated-plurality":
            kept = [c for c in left if max(counts[d] for d in left) - counts[c] <= margin]
        else:
            kept = [c for c in left if counts[c] - min(counts[d] for d in left) > margin]
        if kept == left or not kept:
            return draw_among(most_of(counts, left), m)
        left = kept


@lru_cache(maxsize=200_000)
def law(kind: str, profile: tuple[Ballot, ...], m: int, margin: int = 0) -> Law:
    """How likely each candidate wins."""
    everyone = tuple(range(m))
    if kind == "plurality":
        return draw_among(most_of(tops(profile, everyone, m), everyone), m)
    if kind == "instant-runoff":
        return law_of_runoff(profile, everyone, m)
    if kind in MARGINED:
        return law_of_margin(kind, profile, margin, m)
    if kind == "minimax":
        worst = []
        for c in everyone:
            leads = []
            for d in everyone:
                if d != c:
                    leads.append(sum(1 if b.index(c) < b.index(d) else -1 for b in profile))
            worst.append(min(leads))
        return draw_among(most_of(worst, everyone), m)
    scores = [0] * m
    for ballot in profile:
        for place, c in enumerate(ballot):
            if kind == "borda":
                scores[c] += m - 1 - place
            elif kind == "approval":
                scores[c] += 1
            else:  # a score ballot says what each candidate gets, in their order
                scores[place] += c
    return draw_among(most_of(scores, everyone), m)


def chances(
    kind: str, shares: Sequence[tuple[Ballot, Fraction]], report: Ballot, others: int, m: int, margin: int
) -> Law:
    """The law of the winner over all ballots of the others, one by one, and the draws of the rule."""
    total = [Fraction(0)] * m
    for drawn in product(shares, repeat=others):
        likely = Fraction(1)
        for _, share in drawn:
            likely *= share
        profile = tuple(sorted([ballot for ballot, _ in drawn] + [report]))
        for c, chance in enumerate(law(kind, profile, m, margin)):
            total[c] += likely * chance
    return tuple(total)


def largest_gain(laws: dict[Ballot, Law], truth: Ballot, better: Sequence[Sequence[int]]) -> Fraction:
    """Over all reports, and over who is worth 1 while the others are worth 0; a voter may always tell the truth."""
    return max(sum((found[c] - laws[truth][c] for c in who), Fraction(0)) for found in laws.values() for who in better)


def brute_gain(
    kind: str,
    shares: Sequence[tuple[Ballot, Fraction]],
    truth: Ballot,
    reports: Sequence[Ballot],
    voters: int,
    m: int,
    margin: int = 0,
) -> Fraction:
    laws = {report: chances(kind, shares, report, voters - 1, m, margin) for report in (truth, *reports)}
    if kind == "score":
        better = [[c for c in range(m) if truth[c] >= least] for least in sorted(set(truth))[1:]]
    else:
        better = [truth[:j] for j in range(1, min(len(truth), m - 1) + 1)]
    return largest_gain(laws, truth, better)


# --- cases --------------------------------------------------------------------------------------------------------


def words(label: str) -> list[int]:
    return [int(word) for word in ScriptedSource.from_label(label).words(24)]


def drawn_shares(w: Sequence[int], ballots: Sequence[Ballot], most: int) -> tuple[tuple[Ballot, Fraction], ...]:
    support = sorted({ballots[x % len(ballots)] for x in w[: 1 + w[8] % most]})
    weights = [1 + x % 4 for x in w[9 : 9 + len(support)]]
    return tuple((ballot, Fraction(k, sum(weights))) for ballot, k in zip(support, weights, strict=True))


@pytest.mark.parametrize("kind", MARGINED)
@pytest.mark.parametrize("i", range(CASES))
def test_gains_under_the_margin_rules(kind: str, i: int) -> None:
    """Every true ranking; the union over pairs is above, and the states of three candidates agree."""
    w = words(f"margin {kind} {i}")
    m, voters, margin = 3 + i % 2, 3 + w[20] % 4, w[21] % 4
    ballots = list(permutations(range(m)))
    shares = drawn_shares(w, ballots, 3)
    laws = {report: chances(kind, shares, report, voters - 1, m, margin) for report in ballots}
    belief, contest = Belief(candidates=tuple("abcd"[:m]), shares=shares), Contest(kind=kind, margin=margin)
    for truth, found in gains_of_truths(belief, voters, contest, ballots).items():
        exact = largest_gain(laws, truth, [truth[:j] for j in range(1, m)])
        assert found.method == "enumerate"
        assert found.low == found.high == exact
        assert exact <= gain(found.question, "bound").high
        if m == 3:
            close = gain(found.question, "three")
            assert close.low <= exact <= close.high
            assert close.high - close.low < CLOSE


@pytest.mark.parametrize("i", range(CASES))
def test_gains_by_approval(i: int) -> None:
    """Every set of candidates is a ballot, nobody and everybody included; the voter ranks whom she approves of."""
    w = words(f"approval {i}")
    m, voters = 3 + i % 2, 2 + w[20] % 4
    ballots = [chosen for size in range(m + 1) for chosen in combinations(range(m), size)]
    shares = drawn_shares(w, ballots, 3)
    order = list(permutations(range(m)))[w[22] % factorial(m)]
    truth = order[: 1 + w[23] % (m - 1)]
    exact = brute_gain("approval", shares, truth, ballots, voters, m)
    belief = Belief(candidates=tuple("abcd"[:m]), shares=shares, truncated=True)
    found = gain(Question(belief=belief, truth=truth, voters=voters, contest=Contest(kind="approval")), "enumerate")
    assert found.low == found.high == exact


@pytest.mark.parametrize("i", range(CASES))
def test_gains_by_score(i: int) -> None:
    """Every score ballot is a lie, those that give everybody a point more included."""
    w = words(f"score {i}")
    top, voters = 1 + i % 3, 2 + w[20] % 4
    ballots = list(product(range(top + 1), repeat=3))
    shares = drawn_shares(w, ballots, 3)
    truth = next(b for b in ballots[w[22] % len(ballots) :] + ballots if len(set(b)) > 1)
    exact = brute_gain("score", shares, truth, ballots, voters, 3)
    belief = Belief(candidates=tuple("abc"), shares=tuple((Scores(ballot), share) for ballot, share in shares))
    asked = Question(belief=belief, truth=Scores(truth), voters=voters, contest=Contest(kind="score", top=top))
    found = gain(asked, "enumerate")
    assert found.low == found.high == exact


def coarse(parts: int) -> Iterator[tuple[tuple[Ballot, Fraction], ...]]:
    """Every belief whose probabilities are multiples of one over a whole number of at most `parts`, names and all."""
    for k in range(1, parts + 1):
        for counts in product(range(k + 1), repeat=6):
            if sum(counts) == k:
                yield tuple((r, Fraction(n, k)) for r, n in zip(ORDERS, counts, strict=True) if n)


@pytest.mark.parametrize("i", range(CASES))
def test_worst_gains_over_every_belief_of_a_coarseness(i: int) -> None:
    """All beliefs, and no shortcut by names: of truths one will do, since all beliefs are gone through."""
    kind = vote.WORST[i % 6]
    voters, parts, margin = 2 + i % 3, 1 + (i // 6) % 3, (i // 2) % 4
    exact = max(brute_gain(kind, shares, ORDERS[0], ORDERS, voters, 3, margin) for shares in coarse(parts))
    given = {"margin": margin} if kind in MARGINED else {}
    found = vote.worst_gain(kind, voters=voters, coarseness=Fraction(1, parts), **given)
    assert found.most.low <= exact <= found.most.high
    assert found.most.high - found.most.low < CLOSE
    assert found.bound is None or exact <= found.bound


@pytest.mark.parametrize("i", range(CASES))
def test_every_cell_of_a_map(i: int) -> None:
    """A cell mixes abc, bca and cab; its gain is the largest over all six true rankings."""
    kind = vote.MAPPED[i % 7]
    voters, steps, margin, top = 2 + i % 3, 2 + (i // 7) % 3, (i // 3) % 4, 2 + i % 2
    corners = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    given = {"margin": margin} if kind in MARGINED else {"top": top} if kind == "score" else {}
    found = vote.gain_map(rules=kind, voters=voters, steps=steps, no_efficiency=True, **given)
    cells = found.rules[0].cells
    assert len({cell.weights for cell in cells}) == len(cells) == (steps + 1) * (steps + 2) // 2

    def cast(ranking: Ballot) -> Ballot:
        """What is reported: by score, even steps from the top to 0, rounded down."""
        return ranking if kind != "score" else tuple(top * (2 - ranking.index(c)) // 2 for c in range(3))

    reports = ORDERS if kind != "score" else tuple(product(range(top + 1), repeat=3))
    for cell in cells:
        shares = [(cast(r), Fraction(n, steps)) for r, n in zip(corners, cell.weights, strict=True) if n]
        laws = {report: chances(kind, shares, report, voters - 1, 3, margin) for report in reports}
        exact = max(largest_gain(laws, cast(truth), (truth[:1], truth[:2])) for truth in ORDERS)
        assert cell.gain.low <= exact <= cell.gain.high
        assert cell.gain.high - cell.gain.low < CLOSE


# --- what Theorem B1 says -----------------------------------------------------------------------------------------


def pairs_kept(size: int) -> int:
    """The most ordered pairs that must stay level, over all ways that repeated plurality may go from `size` on."""
    if size == 1:
        return 0
    return max([size * (size - 1), *(kept * (kept - 1) + pairs_kept(kept) for kept in range(1, size))])


def constants(kind: str, m: int) -> tuple[int, int]:
    if kind == "repeated-plurality":
        return pairs_kept(m), m - 1
    return m * (m - 1), m * (m - 1) // 2


def divergence(p: Decimal, q: Decimal) -> Decimal:
    return sum((a * (a / b).ln() for a, b in ((p, q), (1 - p, 1 - q)) if a > 0), Decimal(0))


def bound_by_formula(kind: str, voters: int, m: int, margin: int, alpha: Fraction) -> Decimal:
    keep, drop = constants(kind, m)
    n, a = Decimal(voters - 1), Decimal(alpha.numerator) / alpha.denominator
    half = Decimal(1) / 2
    kept = dropped = Decimal(0)
    if margin <= n:
        kept = keep * (-n * divergence(half + margin / (2 * n), half)).exp() if margin else Decimal(keep)
    if margin + 1 >= n * a:
        dropped = Decimal(drop)
    elif a < 1:
        dropped = drop * (-n * divergence(half + (margin + 1) / (2 * n), (1 + a) / 2)).exp()
    return min(2 * (kept + dropped), Decimal(1))


@pytest.mark.parametrize("kind", MARGINED)
@pytest.mark.parametrize("i", range(CASES))
def test_what_a_guarantee_promises(kind: str, i: int) -> None:
    """B* and alpha_min by the squares, the bound by relative entropies, the punishing rule by corrected Lemma 81."""
    w = words(f"guarantee {kind} {i}")
    m, voters = 3 + w[0] % 4, (60, 401, 2500, 30_000, 1_000_000)[i % 5] + w[1] % 50
    eta, alpha = Fraction(1, 10 ** (1 + w[2] % 12)), Fraction(1, 2 + w[3] % 12)
    found = vote.guarantee(kind, candidates=m, voters=voters, eta=eta, coarseness=alpha)
    with localcontext() as context:
        context.prec = 60
        keep, drop = constants(kind, m)
        n, spent = Decimal(voters - 1), Decimal(eta.numerator) / eta.denominator / 4
        reach = [(2 * n * (pairs / spent).ln()).sqrt() for pairs in (Decimal(keep), Decimal(drop))]
        margin = int(reach[0].to_integral_value(rounding=ROUND_CEILING))
        assert found.margin == margin
        least = found.least
        assert not isinstance(least, Infinite)
        by_formula = (margin + 1 + reach[1]) / n
        kept = keep * (-(Decimal(margin) ** 2) / (2 * n)).exp() if margin <= n else Decimal(0)
        assert kept <= spent
        said = Decimal(least.numerator) / least.denominator
        assert by_formula <= said <= by_formula * (1 + Decimal("1e-12"))
        bound = bound_by_formula(kind, voters, m, margin, alpha)
        said = Decimal(found.bound.numerator) / found.bound.denominator
        assert bound * (1 - Decimal("1e-40")) <= said <= bound * (1 + Decimal("1e-12"))
        r = said * voters * m * (m - 1) * alpha.denominator / (2 * alpha.numerator)
        chance = Decimal(found.chance.numerator) / found.chance.denominator
        assert r / (1 + r) * (1 - Decimal("1e-40")) <= chance <= r / (1 + r) * (1 + Decimal("1e-12"))


@pytest.mark.parametrize("kind", MARGINED)
@pytest.mark.parametrize(("voters", "margin"), [(3, 1), (4, 1), (4, 2), (5, 1), (5, 2), (5, 3), (6, 2), (6, 4)])
def test_no_lie_gains_more_than_a_guarantee_says(kind: str, voters: int, margin: int) -> None:
    """Beliefs in one ranking, and in halves of two: every truth is one of these beliefs with other names."""
    for parts in (1, 2):
        most = vote.guarantee(kind, candidates=3, voters=voters, margin=margin, coarseness=Fraction(1, parts)).bound
        every = [brute_gain(kind, shares, ORDERS[0], ORDERS, voters, 3, margin) for shares in coarse(parts)]
        assert max(every) <= most
        assert parts == 1 or max(every) > 0  # it can fail: some lie does gain


def test_brute_force_sees_a_wrong_margin() -> None:
    """Power: a margin off by one changes some gain."""
    shares = (((0, 1, 2), Fraction(1, 2)), ((1, 0, 2), Fraction(1, 2)))
    gains = {brute_gain("repeated-plurality", shares, (2, 0, 1), ORDERS, 6, 3, margin) for margin in range(5)}
    assert len(gains) > 1
