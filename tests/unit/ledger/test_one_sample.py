"""Counts of one network, released one after the other: the ledger's total against the exact law of one simulator.

The simulator does what the ledger wrote down before each release was drawn: it takes the sample of the release that is
named there. Its law on every graph with four vertices is worked out exactly, transcript by transcript.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import Refused, WrongUse
from hubbub.graphs.distances import edges_away
from hubbub.graphs.graph import neighbours
from hubbub.graphs.statistics import Sampling, Statistic, bounds
from hubbub.guarantees.accountant.sampled_counts import SampledCount, SampledCounts, joint_loss, one_after_another
from hubbub.guarantees.definitions import DifferentialPrivacy, ExplorationSample, NeighbourhoodSample, ZeroKnowledge
from hubbub.guarantees.derivation import state_promise
from hubbub.kinds.graph.request import statistics
from hubbub.kinds.graph.spec import GraphSpec
from hubbub.ledger.admission import Entered, enter_charge, totals
from hubbub.ledger.charge import Charge
from hubbub.ledger.charge import charge as charge_of
from hubbub.ledger.dry_run import dry_run
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.policy import Policy
from hubbub.ledger.running_total import running_total_of, total_bytes
from hubbub.numeric.exact import ball, exp, precision
from hubbub.protocol.bound import Bound
from hubbub.serialization.exact_json import plain, restored
from hubbub.tables.identity import Identity, Part
from tests.unit.graphs.simulator import rounded_law
from tests.unit.graphs.small_graphs import all_facts, graph_of, pairs

N = 4
ONE_VERTEX = 2 ** (N - 1) - 1  # the bits of the edges of vertex 0
WITHOUT = [mask for mask in range(2 ** len(pairs(N))) if not mask & ONE_VERTEX]
COUNTS = ["connectivity", "eulerian", "cycle-freeness", "edges"]
FILE = Identity(parts=(Part(path="/data/friends.csv", device=1, inode=2, digest="d", changed=0),))
OTHER = Identity(parts=(Part(path="/data/friends.csv", device=1, inode=2, digest="e", changed=1),))
LARGE: dict[str, Any] = {"vertices": 6000, "max_degree": 40, "samples": 500}


@cache
def asked(of: str, epsilon: str = "0.3", **words: Any) -> GraphSpec:
    return statistics(of.split(","), **({**LARGE, "epsilon": epsilon} | words))


def in_turn(*specs: GraphSpec, source: Identity = FILE) -> list[Entered]:
    """What a ledger enters for these, one after the other."""
    found: list[Entered] = []
    for number, spec in enumerate(specs, 1):
        charge = charge_of(Bound(spec)).of_content(source.content() if source.is_known else None, f"nonce {number}")
        found.append(enter_charge(found, number, charge))
    return found


def knowledge(*specs: GraphSpec, source: Identity = FILE) -> ZeroKnowledge:
    found = totals(in_turn(*specs, source=source)).zero_knowledge.guarantee
    assert isinstance(found, ZeroKnowledge)
    return found


def samples(releases: Sequence[Entered]) -> list[int]:
    return [0 if each.charge.sampled is None else each.charge.sampled.sample for each in releases]


# --- the theorem, on every graph with four vertices -------------------------------------------------------------------


def graphs(d: int) -> Iterator[tuple[int, int]]:
    """Every graph of degree at most d, without the edges of vertex 0 and with them."""
    small = (all_facts(N).largest_degree <= d).tolist()  # type: ignore[attr-defined]
    for mask, edges in product(WITHOUT, range(ONE_VERTEX + 1)):
        if small[mask | edges]:
            yield mask, mask | edges


@cache
def truth(of: Statistic) -> tuple[int, ...]:
    return tuple(edges_away(of, all_facts(N)).tolist())  # type: ignore[attr-defined]


@cache
def law(mask: int, batch: tuple[GraphSpec, ...]) -> dict[tuple[int, ...], Fraction]:
    """The law of the rounded estimates of releases that one sample serves."""
    counts = [(spec, of) for spec in batch for of in spec.counts]
    centres = [bounds(of, spec.size, spec.sampling).centre if spec.centred else Fraction(0) for spec, of in counts]
    walks = [spec.sampling.s for spec, _ in counts]
    how = Sampling(k=batch[0].sampling.k, s=2)
    return rounded_law([of for _, of in counts], neighbours(graph_of(mask, N)), how, centres, walks)


def log_ratio(mask: int, whole: int, batch: tuple[GraphSpec, ...], outputs: Sequence[int]) -> arb:
    """The logarithm of simulator over mechanism at these outputs of a batch."""
    counts = [(truth(of)[whole], spec.scale(of)) for spec in batch for of in spec.counts]
    with precision():
        ratio = arb(0)
        for z, chance in law(mask, batch).items():
            nearer = [
                Fraction(abs(x - g) - abs(x - at)) / scale for x, (g, scale), at in zip(outputs, counts, z, strict=True)
            ]
            ratio += ball(chance) * exp(sum(nearer, Fraction(0)))
        return ratio.log()


def outcomes(mask: int, whole: int, spec: GraphSpec) -> Iterator[tuple[int, ...]]:
    """Beyond all centres both laws fall alike: only what is between them is compared."""
    points = [*law(mask, (spec,)), tuple(truth(of)[whole] for of in spec.counts)]
    yield from product(*(range(min(at), max(at) + 1) for at in zip(*points, strict=True)))


def worst_share(first: GraphSpec, then: Callable[[tuple[int, ...]], GraphSpec], d: int) -> tuple[float, float]:
    """Over all graphs, people and transcripts, the exact loss as a share of the ledger's total for that transcript; and
    the largest exact loss."""
    worst, highest = 0.0, 0.0
    met = set()
    for mask, whole in graphs(d):
        for x in outcomes(mask, whole, first):
            second = then(x)
            promise, batches = settled(first, second)
            name = (x, second, *(frozenset(law(mask, each).items()) for each in batches), values(whole, first, second))
            if name in met:  # another graph of the same laws
                continue
            met.add(name)
            for y in outcomes(mask, whole, second):
                parts = [(*x, *y)] if len(batches) == 1 else [x, y]
                found = [log_ratio(mask, whole, each, at) for each, at in zip(batches, parts, strict=True)]
                loss = float(abs(sum(found, arb(0))).upper())
                worst, highest = max(worst, loss / promise), max(highest, loss)
    return worst, highest


@cache
def settled(first: GraphSpec, second: GraphSpec) -> tuple[float, tuple[tuple[GraphSpec, ...], ...]]:
    """The total of both, and which of them share a sample."""
    releases = in_turn(first, second)
    promise = totals(releases).zero_knowledge.guarantee
    assert isinstance(promise, ZeroKnowledge)
    one = samples(releases) == [1, 1]
    return float(promise.epsilon), ((first, second),) if one else ((first,), (second,))  # type: ignore[arg-type]


def values(whole: int, *specs: GraphSpec) -> tuple[int, ...]:
    return tuple(truth(of)[whole] for spec in specs for of in spec.counts)


def small(of: str, epsilon: str, d: int, k: int, s: int = 3, *, centred: bool = False) -> GraphSpec:
    walk = {} if of == "edges" else {"explore": s}
    return statistics([of], vertices=N, max_degree=d, samples=k, epsilon=epsilon, centred=centred, **walk)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize(("k", "epsilon"), [(1, "0.4"), (2, "0.3"), (4, "0.5")])
def test_mgf_theorem_counts_released_one_after_the_other_lose_no_more_than_the_ledger_says(
    k: int, epsilon: str, centred: bool
) -> None:
    """All pairs of statistics, the same one twice among them; unlike bounds on the degree and unlike walks."""
    highest = 0.0
    for first, second in product(COUNTS, repeat=2):
        one = small(first, epsilon, 3, k, 2, centred=centred)
        two = small(second, "0.2", 2, k, 4, centred=centred)
        assert samples(in_turn(one, two)) == [1, 1], "the case is not the one that is meant"
        worst, _ = worst_share(one, lambda _, two=two: two, 2)  # type: ignore[misc]
        assert worst <= 1, f"{first} then {second}, k = {k}: {worst} of what the ledger says"
        highest = max(highest, worst)
    assert highest > 0.5, "the claim is so loose that the check says nothing"


@pytest.mark.parametrize("k", [1, 3])
def test_what_is_released_next_may_be_chosen_after_the_first_output_is_seen(k: int) -> None:
    """Statistic, noise and even whether the sample is shared follow from the output: the total of each transcript holds."""
    first = small("connectivity", "0.5", 3, k, 2)
    choices = [small("edges", "0.3", 3, k), small("eulerian", "2", 3, k), small("connectivity", "0.1", 3, k, 4)]
    assert {tuple(samples(in_turn(first, each))) for each in choices} == {(1, 1), (1, 2)}
    worst, highest = worst_share(first, lambda x: choices[x[0] % 3], 3)
    assert worst <= 1
    assert highest > 0.5, "the transcripts lose so little that the check says nothing"


def test_one_sample_with_too_little_noise_is_noticed() -> None:
    """The same enumeration, with less noise than the ledger was told of, finds a transcript above the total."""
    one, two = small("edges", "0.5", 3, 2), small("connectivity", "0.4", 3, 2, 4)
    less = replace(one, epsilon=Fraction(5), scales=(one.scales[0] / 3,))
    claimed = knowledge(one, two).epsilon
    found = [
        float(abs(log_ratio(mask, whole, (less, two), (*x, *y))).upper())
        for mask, whole in graphs(3)
        for x in outcomes(mask, whole, less)
        for y in outcomes(mask, whole, two)
    ]
    assert max(found) > float(claimed)  # type: ignore[arg-type]


# --- what the ledger says ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("epsilon", ["0.05", "0.3", "0.333333", "1/3", "0.5"])
@pytest.mark.parametrize("counts", ["connectivity,edges", "edges,eulerian", "connectivity,cycle-freeness,edges"])
def test_the_total_is_what_one_joint_release_promises(counts: str, epsilon: str, centred: bool) -> None:
    at_once = charge_of(Bound(asked(counts, epsilon, centred=centred))).zero_knowledge
    assert at_once is not None
    added = len(counts.split(",")) * Fraction(epsilon)
    found = knowledge(*(asked(of, epsilon, centred=centred) for of in counts.split(",")))
    assert found.aggregate == at_once.aggregate
    assert found.epsilon == min(at_once.epsilon, added)


def test_where_one_sample_would_lose_more_than_the_sum_the_sum_it_is() -> None:
    first, second = asked("connectivity", "2"), asked("edges", "2")
    assert samples(in_turn(first, second)) == [1, 2]
    found = knowledge(first, second)
    assert found == charge_of(Bound(asked("connectivity,edges", "2"))).zero_knowledge
    assert found == ZeroKnowledge(epsilon=Fraction(4), aggregate=ExplorationSample(k=1000, s=45))


def test_many_releases_take_a_new_sample_when_the_last_is_used_up() -> None:
    releases = in_turn(*[asked("edges", "0.3"), asked("connectivity", "0.3")] * 4)
    found = totals(releases).zero_knowledge.guarantee
    assert isinstance(found, ZeroKnowledge)
    assert 1 < len(set(samples(releases))) < len(releases)
    assert samples(releases) == sorted(samples(releases))
    assert found.aggregate == ExplorationSample(k=500 * len(set(samples(releases))), s=45)
    assert found.epsilon <= Fraction(24, 10)


@pytest.mark.parametrize(
    ("second", "k"),
    [
        (asked("edges", samples=400), 900),
        (asked("edges", vertices=6001), 1000),
        (asked("edges", centred=True), 1000),
        (asked("edges", "2"), 1000),
    ],
)
def test_unlike_samples_add_up(second: GraphSpec, k: int) -> None:
    first = asked("connectivity")
    assert samples(in_turn(first, second)) == [1, 2]
    assert knowledge(first, second) == ZeroKnowledge(
        epsilon=first.epsilon + second.epsilon, aggregate=ExplorationSample(k=k, s=45)
    )


def test_other_networks_add_up_and_so_do_those_that_nobody_can_compare() -> None:
    first, second = asked("connectivity"), asked("edges")
    one = in_turn(first)
    changed = charge_of(Bound(second)).of_content(OTHER.content(), "nonce")
    for other in (
        enter_charge(one, 2, changed),
        enter_charge(one, 2, charge_of(Bound(second)).of_content(None, "nonce")),
        enter_charge(
            one, 2, charge_of(Bound(second)).of_content(replace(FILE, links=("column other",)).content(), "nonce")
        ),
        Entered(number=2, charge=replace(changed, sampled=None)),  # as earlier versions wrote it
    ):
        found = totals([*one, other]).zero_knowledge.guarantee
        assert found == ZeroKnowledge(epsilon=Fraction(6, 10), aggregate=ExplorationSample(k=1000, s=45))
    assert knowledge(first, second, source=Identity()).aggregate == ExplorationSample(k=1000, s=45)


def test_a_release_with_a_sample_for_each_count_shares_none() -> None:
    both = asked("connectivity,edges", "2")
    assert charge_of(Bound(both)).sampled is None
    assert samples(in_turn(both, asked("edges", "0.01"))) == [0, 2]


def test_unlike_bounds_on_the_degree_and_unlike_walks_share_a_sample() -> None:
    found = knowledge(asked("connectivity", explore=30), asked("eulerian", max_degree=50, explore=60))
    assert found.aggregate == ExplorationSample(k=500, s=60)
    assert found.epsilon <= Fraction(6, 10)


def test_differential_totals_stay_sums() -> None:
    releases = in_turn(asked("connectivity"), asked("edges"))
    found = totals(releases).differential.guarantee
    each = [charge_of(Bound(asked(of))).differential for of in ("connectivity", "edges")]
    assert isinstance(found, DifferentialPrivacy)
    assert found.epsilon == sum(private.epsilon for private in each if private is not None)  # type: ignore[misc]


def test_what_the_bound_needs_is_in_the_entry_and_comes_back() -> None:
    (release,) = in_turn(asked("connectivity"))
    charge = release.charge
    assert restored(Charge, json.loads(json.dumps(plain(charge)))) == charge
    assert charge.sampled is not None
    assert (charge.sampled.k, charge.sampled.n, charge.sampled.explores, charge.sampled.centred) == (
        500,
        6000,
        45,
        False,
    )
    spread, spec = asked("connectivity").spread(Statistic.CONNECTIVITY), asked("connectivity")
    assert charge.sampled.counts == (SampledCount(shift=spread.shift, variance=spread.variance, scale=spec.scales[0]),)
    before = plain(replace(charge, sampled=None))
    assert "sampled" not in before  # type: ignore[operator]


def test_an_edge_count_alone_is_told_by_those_who_were_drawn() -> None:
    spec = asked("edges")
    assert spec.promises()[0].conclusion.aggregate == NeighbourhoodSample(k=500, radius=1)  # type: ignore[union-attr]
    known = charge_of(Bound(spec)).zero_knowledge
    assert known is not None
    assert known.aggregate == ExplorationSample(k=500, s=1)
    earlier = Entered(
        number=1, charge=replace(charge_of(Bound(spec)), sampled=None, promises=(spec.promises()[0].conclusion,))
    )
    found = totals([earlier, Entered(number=2, charge=charge_of(Bound(spec)))]).zero_knowledge.guarantee
    assert found == ZeroKnowledge(epsilon=Fraction(6, 10), aggregate=NeighbourhoodSample(k=1000, radius=1))


@pytest.mark.parametrize("numbers", [(-1, 1, 1), (1, -1, 1), (1, 1, 0)])
def test_a_count_with_impossible_noise_is_refused(numbers: tuple[int, int, int]) -> None:
    shift, variance, scale = map(Fraction, numbers)
    with pytest.raises(WrongUse):
        SampledCount(shift=shift, variance=variance, scale=scale)


@pytest.mark.parametrize("numbers", [(0, 4, 1, 0), (5, 4, 1, 0), (1, 4, 0, 0), (1, 4, 5, 0), (1, 4, 1, -1)])
def test_an_impossible_sample_is_refused(numbers: tuple[int, int, int, int]) -> None:
    k, n, explores, sample = numbers
    with pytest.raises(WrongUse):
        SampledCounts(k=k, n=n, explores=explores, centred=False, counts=(), sample=sample)


def test_a_delta_has_no_place_on_one_sample() -> None:
    count = SampledCount(shift=Fraction(1), variance=Fraction(1), scale=Fraction(4))
    leaf = state_promise(
        ZeroKnowledge(epsilon=Fraction(1), delta=Fraction(1, 10), aggregate=ExplorationSample(k=1, s=1))
    )
    with pytest.raises(WrongUse, match="no delta"):
        one_after_another(leaf, leaf, k=1, explores=1, loss=joint_loss([count, count]))


# --- the running total and the file -----------------------------------------------------------------------------------

MIXTURE = [
    (of, epsilon, k, source)
    for of, epsilon in (("connectivity", "0.3"), ("edges", "0.2"), ("connectivity,edges", "0.25"), ("edges", "2"))
    for k, source in ((500, FILE), (400, FILE), (500, OTHER), (500, Identity()))
]


def mixed(chosen: Sequence[int]) -> list[Entered]:
    """What a ledger would enter, each by the running total of those before."""
    total, found = running_total_of((), 0), list[Entered]()
    for number, i in enumerate(chosen, 1):
        of, epsilon, k, source = MIXTURE[i]
        content = source.content() if source.is_known else None
        charge = charge_of(Bound(asked(of, epsilon, samples=k))).of_content(content, f"nonce {number}")
        found.append(enter_charge(total.stand_ins, number, charge))
        total = total.followed_by(found[-1])
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(MIXTURE) - 1), min_size=2, max_size=9))
def test_stand_ins_say_what_all_releases_say(chosen: list[int]) -> None:
    releases = mixed(chosen)
    *before, last = releases
    short = running_total_of(before, reserved=len(before))
    whole = totals(releases)
    by_stand_ins = totals([*short.stand_ins, last])
    assert by_stand_ins.zero_knowledge.guarantee == whole.zero_knowledge.guarantee
    assert by_stand_ins.differential.guarantee == whole.differential.guarantee
    knowledge = whole.zero_knowledge.guarantee
    assert isinstance(knowledge, ZeroKnowledge)
    every = [each.charge.zero_knowledge for each in releases]
    assert knowledge.epsilon <= sum(each.epsilon for each in every if each is not None)  # type: ignore[misc]


def test_the_running_total_of_many_networks_stays_short() -> None:
    found = running_total_of((), 0)
    for number in range(1, 60):
        changed = replace(FILE.parts[0], changed=number // 3)
        content = Identity(parts=(changed,)).content()
        found = found.followed_by(
            enter_charge(found.stand_ins, number, charge_of(Bound(asked("edges", "0.01"))).of_content(content, ""))
        )
    assert len(found.stand_ins) <= 5
    assert len(total_bytes(found)) < 20_000


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.db")


def of_book(book: Ledger) -> str:
    found = book.account("friends").totals
    assert found is not None
    return str(found.zero_knowledge.guarantee)


def test_the_ledger_writes_it_down_and_works_it_out_again(book: Ledger) -> None:
    first = book.reserve("friends", charge_of(Bound(asked("connectivity"))), source=FILE)
    assert of_book(book) == "0.3-ZK w.r.t. RSE(500, 45)"
    ahead = dry_run(book, "friends", charge_of(Bound(asked("edges"))), source=FILE)
    assert ahead.after is not None
    assert str(ahead.after.zero_knowledge.guarantee) == "0.6-ZK w.r.t. RSE(500, 45)"
    book.reserve("friends", charge_of(Bound(asked("edges"))), source=FILE)
    assert of_book(book) == "0.6-ZK w.r.t. RSE(500, 45)"
    book.reserve("friends", charge_of(Bound(asked("edges"))), source=OTHER)
    assert of_book(book) == "0.9-ZK w.r.t. RSE(1000, 45)"
    assert book.check() == 4
    book.abandon(first, drawn=False)  # the others keep the sample that was settled for them
    assert of_book(book) == "0.6-ZK w.r.t. RSE(1000, 1)"
    assert book.check() == 5


def test_a_cap_counts_what_one_sample_loses(book: Ledger) -> None:
    book.set_policy("friends", Policy(zero_knowledge_epsilon=Fraction(6, 10)))
    for of in ("connectivity", "edges"):
        book.reserve("friends", charge_of(Bound(asked(of))), source=FILE)
    with pytest.raises(Refused, match="above the cap"):
        book.reserve("friends", charge_of(Bound(asked("edges", "0.01"))), source=FILE)
