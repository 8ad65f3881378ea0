"""Laws in closed form against the same laws written out value by value.

Everything is compared as balls: a closed form must overlap the sum it stands for, and must be sharp, because a ball of
the whole line overlaps everything. Where the code says that something is exactly zero or a rational, it must be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hubbub.channels.divergence import hockey_stick, largest_ratio
from hubbub.channels.law import SUPPRESSED, Block, Dense, Law, Weight, atom, two_sided
from hubbub.channels.mechanisms.added_noise import Partial, add_noise
from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.papers.staircase import Staircase
from hubbub.channels.profile import exact_delta, exact_loss
from hubbub.guarantees.curve import Curve, Piece
from hubbub.numeric.exact import INFINITY, Infinite, Loss, ball, exp, lower, upper

REACH = 180
"""Written-out laws go this far from 0. With rates of at least 1/4 and centres within 8 of it, e^-40 is beyond."""

BEYOND = exp(-40)
RATES = [Fraction(text) for text in ("1/4", "1/3", "1/2", "3/4", "1", "3/2", "2", "3")]
LOSSES: list[Loss] = [Fraction(text) for text in ("0", "1/100", "1/4", "1/3", "1/2", "1", "3/2", "2", "5")]

values = st.integers(-8, 8)
rates = st.sampled_from(RATES)
losses = st.sampled_from(LOSSES)
shares = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 7)])


def scaled(block: Block, share: Fraction) -> Block:
    """The block with its weight times `share`; the same real number keeps the same name."""
    if share == 1:
        return block
    return replace(block, weight=Weight(("share", share, *block.weight.key), block.weight.value * ball(share)))


@st.composite
def noises(draw: st.DrawFn, tag: str) -> tuple[Block, ...]:
    """Some mass with one tag: noise around a centre, cut or not, or a single value."""
    if draw(st.integers(0, 5)) == 0:
        return (scaled(atom(draw(values), tag), draw(shares)),)
    lo = draw(st.none() | values)
    hi = draw(st.none() | values.map(lambda v: v if lo is None else max(v, lo)))
    return tuple(
        scaled(block, share)
        for share in [draw(shares)]
        for block in two_sided(draw(values), draw(rates), tag, lo=lo, hi=hi)
    )


@st.composite
def laws(draw: st.DrawFn) -> Law:
    """One to three tags; what is cut away is simply not there (hockey_stick asks for no total)."""
    tags = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3, unique=True))
    blocks = tuple(block for tag in sorted(tags) for block in draw(noises(tag)))
    return Law(blocks, tags=("a", "b", "c"))


def written_out(law: Law) -> dict[tuple[str, int], arb]:
    """Every outcome with values within REACH."""
    found: dict[tuple[str, int], arb] = {}
    for block in law.blocks:
        cut = block.restrict(-REACH, REACH)
        if cut is not None and cut.lo is not None and cut.hi is not None:
            mass, step = cut.mass(cut.lo), exp(cut.slope)
            for value in range(cut.lo, cut.hi + 1):
                found[block.tag, value] = found.get((block.tag, value), arb(0)) + mass
                mass *= step
    return found


def as_table(law: Law, reach: int) -> Law:
    """The same law with its middle as a table and its ends in closed form."""
    blocks, dense = [], []
    for block in law.blocks:
        blocks += [
            cut for cut in (block.restrict(None, -reach - 1), block.restrict(reach + 1, None)) if cut is not None
        ]
        cut = block.restrict(-reach, reach)
        if cut is not None and cut.lo is not None and cut.hi is not None:
            dense.append(Dense(cut.lo, tuple(block.mass(v) for v in range(cut.lo, cut.hi + 1)), block.tag))
    return Law(tuple(blocks), tuple(dense), law.tags)


def sharp(x: arb) -> bool:
    return upper(x) - lower(x) < Fraction(1, 10**30)


# --- blocks and laws --------------------------------------------------------------------------------------------


@given(lo=values, length=st.integers(0, 40), slope=rates, sign=st.sampled_from([-1, 0, 1]), intercept=losses)
def test_the_total_of_a_finite_block_is_the_sum_of_its_masses(
    lo: int, length: int, slope: Fraction, sign: int, intercept: Fraction
) -> None:
    block = Block(lo, lo + length, Weight(("pi",), arb.pi()), intercept, sign * slope)
    explicit = sum((block.mass(value) for value in range(lo, lo + length + 1)), arb(0))
    assert block.total().overlaps(explicit)
    assert abs(block.total() - explicit) < abs(explicit) * ball("1e-60")


@given(edge=values, slope=rates, up=st.booleans())
def test_the_total_of_an_endless_block_is_its_limit(edge: int, slope: Fraction, up: bool) -> None:
    block = Block(edge, None, Weight(("pi",), arb.pi()), Fraction(0), -slope)
    if not up:
        block = Block(None, edge, block.weight, Fraction(0), slope)
    listed = range(edge, edge + 400) if up else range(edge - 399, edge + 1)
    explicit = sum((block.mass(value) for value in listed), arb(0))
    whole = block.total()
    assert abs(whole - explicit) < whole * (exp(-slope * 398) + ball("1e-60"))


@given(law=laws(), value=values, tag=st.sampled_from(["a", "b", "c"]))
def test_at_least_and_at_most_meet_at_the_outcome(law: Law, value: int, tag: str) -> None:
    above, below, mass = law.at_least(value, tag), law.at_most(value, tag), law.mass(value, tag)
    assert (above + below - mass).overlaps(law.total())
    listed = written_out(law)
    ranked = sum((m for (t, v), m in listed.items() if (t, v) >= (tag, value)), arb(0))
    assert abs(above - ranked) < BEYOND
    assert mass.overlaps(listed.get((tag, value), arb(0)))
    table = as_table(law, 5)
    assert table.at_least(value, tag).overlaps(above)
    assert table.at_most(value, tag).overlaps(below)
    assert table.mass(value, tag).overlaps(mass)


@given(law=laws(), digits=st.integers(1, 12))
def test_atoms_leave_out_less_than_the_tail(law: Law, digits: int) -> None:
    tail = Fraction(1, 10**digits)
    for same in (law, as_table(law, 5)):
        listed = same.atoms(tail)
        assert law.total() - sum((mass for _, _, mass in listed), arb(0)) < ball(tail)
        order = [(tag, value) for tag, value, _ in listed]
        assert order == sorted(order)
        masses = written_out(law)
        for outcome in set(order):
            told = sum((mass for tag, value, mass in listed if (tag, value) == outcome), arb(0))
            assert told.overlaps(masses[outcome])


# --- how far apart two laws are ---------------------------------------------------------------------------------


def brute_hockey_stick(first: Law, second: Law, epsilon: Loss) -> arb:
    """Summed value by value; what lies beyond REACH is at most BEYOND."""
    ours, theirs = written_out(first), written_out(second)
    total = arb(0)
    for outcome, mass in ours.items():
        other = theirs.get(outcome, arb(0))
        if isinstance(epsilon, Infinite):
            total += mass if other.is_zero() else 0
        else:
            total += (mass - exp(epsilon) * other).nonnegative_part()
    return total.union(total + BEYOND)


@settings(max_examples=150)
@given(first=laws(), second=laws(), epsilon=losses | st.just(INFINITY))
def test_the_hockey_stick_is_the_sum_of_the_positive_parts(first: Law, second: Law, epsilon: Loss) -> None:
    closed = hockey_stick(first, second, epsilon)
    explicit = brute_hockey_stick(first, second, epsilon)
    assert closed.overlaps(explicit)
    assert sharp(closed)
    if closed.is_zero():
        assert lower(explicit) <= 0


@given(first=laws(), second=laws(), epsilon=losses | st.just(INFINITY), reach=st.integers(0, 12))
def test_tables_and_closed_forms_say_the_same(first: Law, second: Law, epsilon: Loss, reach: int) -> None:
    closed = hockey_stick(first, second, epsilon)
    for one, other in ((as_table(first, reach), second), (first, as_table(second, reach))):
        assert hockey_stick(one, other, epsilon).overlaps(closed)
    assert hockey_stick(as_table(first, reach), as_table(second, reach + 3), epsilon).overlaps(closed)


@given(first=laws(), second=laws(), epsilon=losses, ours=st.integers(1, 9), theirs=st.integers(1, 9))
def test_missing_mass_may_be_anywhere(first: Law, second: Law, epsilon: Fraction, ours: int, theirs: int) -> None:
    """Hide some outcomes of each law and say how much: the ball must hold the value of the whole laws."""
    whole = hockey_stick(first, second, epsilon)
    cut = [Law(law.blocks[n % len(law.blocks) :], tags=law.tags) for law, n in ((first, ours), (second, theirs))]
    gone = [
        upper((law.total() - part.total()).nonnegative_part()) for law, part in zip((first, second), cut, strict=True)
    ]
    parts = [replace(part, missing=missing) for part, missing in zip(cut, gone, strict=True)]
    found = hockey_stick(parts[0], parts[1], epsilon)
    assert lower(found) <= upper(whole)
    assert upper(found) >= lower(whole)


@given(first=laws(), second=laws(), epsilons=st.tuples(losses, losses))
def test_delta_does_not_grow_with_epsilon(first: Law, second: Law, epsilons: tuple[Fraction, Fraction]) -> None:
    small, large = sorted(epsilons)
    assert lower(hockey_stick(first, second, large)) <= upper(hockey_stick(first, second, small))
    assert lower(hockey_stick(first, second, INFINITY)) <= upper(hockey_stick(first, second, large))


@given(law=laws(), epsilon=losses)
def test_a_law_is_exactly_at_no_distance_from_itself(law: Law, epsilon: Fraction) -> None:
    assert hockey_stick(law, law, epsilon).is_zero()
    assert hockey_stick(law, law, INFINITY).is_zero()
    assert largest_ratio(law, law) == 0


@given(first=laws(), second=laws(), epsilon=losses, value=values, tag=st.sampled_from(["a", "b", "c"]))
def test_no_event_shows_more_than_the_hockey_stick(
    first: Law, second: Law, epsilon: Fraction, value: int, tag: str
) -> None:
    """Data processing: whether the outcome is at least so large, whatever stands below or above."""
    delta = hockey_stick(first, second, epsilon)
    for one, other in ((first.at_least, second.at_least), (first.at_most, second.at_most)):
        assert lower(one(value, tag) - exp(epsilon) * other(value, tag)) <= upper(delta)


@given(first=laws(), second=laws(), epsilon=losses, width=st.integers(2, 7), tagged=st.booleans())
def test_coarser_outcomes_show_no_more(first: Law, second: Law, epsilon: Fraction, width: int, tagged: bool) -> None:
    """Data processing: values rounded down to multiples of `width`, with the tag or without."""
    coarse = []
    for law in (first, second):
        sums: dict[Any, arb] = {}
        for (tag, value), mass in written_out(law).items():
            key = (tag if tagged else "", value // width)
            sums[key] = sums.get(key, arb(0)) + mass
        coarse.append(sums)
    seen = sum(
        ((mass - exp(epsilon) * coarse[1].get(key, arb(0))).nonnegative_part() for key, mass in coarse[0].items()),
        arb(0),
    )
    assert lower(seen) <= upper(hockey_stick(first, second, epsilon) + exp(epsilon) * BEYOND)


@settings(max_examples=150)
@given(first=laws(), second=laws())
def test_the_largest_ratio_is_the_largest_of_all_ratios(first: Law, second: Law) -> None:
    found = largest_ratio(first, second)
    ours, theirs = written_out(first), written_out(second)
    if found is INFINITY:
        alone = any(key not in theirs for key in ours)
        assert alone or falls_slower(first, second)
        return
    assert set(ours) <= set(theirs)
    assert not falls_slower(first, second)
    ratios = [(mass / theirs[key]).log() for key, mass in ours.items()]
    largest = ratios[0]
    for ratio in ratios[1:]:
        largest = largest.max(ratio)
    assert largest.overlaps(ball(found) if isinstance(found, Fraction) else found)


def falls_slower(first: Law, second: Law) -> bool:
    """Whether the ratio grows without end at one of the infinite ends."""
    for ours in first.blocks:
        for theirs in second.blocks:
            both_up = ours.hi is None and theirs.hi is None
            both_down = ours.lo is None and theirs.lo is None
            if ours.tag == theirs.tag and (both_up or both_down) and abs(ours.slope) < abs(theirs.slope):
                return True
    return False


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Law, Law]:
    """Two laws with the same tags, the same rate for each tag and nothing cut: their ratios are bounded."""
    tags = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3, unique=True))
    blocks: tuple[list[Block], list[Block]] = ([], [])
    for tag in tags:
        rate = draw(rates)
        for side in blocks:
            share = draw(shares)
            side += [scaled(block, share) for block in two_sided(draw(values), rate, tag)]
    return Law(tuple(blocks[0]), tags=("a", "b", "c")), Law(tuple(blocks[1]), tags=("a", "b", "c"))


@given(laws=pairs())
def test_the_largest_ratio_is_where_delta_becomes_zero(laws: tuple[Law, Law]) -> None:
    first, second = laws
    found = largest_ratio(first, second)
    assert found is not INFINITY
    at = found if isinstance(found, Fraction) else upper(found)  # type: ignore[arg-type]
    if at >= 0:
        delta = hockey_stick(first, second, at)
        assert delta.is_zero() if isinstance(found, Fraction) else lower(delta) <= 0
    if at > Fraction(1, 10):
        assert hockey_stick(first, second, at - Fraction(1, 20)) > 0, "and no smaller epsilon does"


@given(centre=values, shift=st.integers(1, 3), rate=rates)
def test_two_shifted_noises_differ_by_exactly_the_shift(centre: int, shift: int, rate: Fraction) -> None:
    one, other = Law(two_sided(centre, rate)), Law(two_sided(centre + shift, rate))
    assert largest_ratio(one, other) == largest_ratio(other, one) == shift * rate
    assert hockey_stick(one, other, shift * rate).is_zero()
    assert hockey_stick(one, other, shift * rate - Fraction(1, 100)) > 0


# --- noise on noise ---------------------------------------------------------------------------------------------

STEEP = [Fraction(3, 2), Fraction(2), Fraction(3)]
WINDOW = 60
NEARLY = ball("1e-30")

Masses = dict[int, arb]


def convolved(masses: Masses, rate: Loss) -> Masses:
    """By definition: every value with every noise within WINDOW."""
    if isinstance(rate, Infinite):
        return dict(masses)
    q = exp(-rate)
    top = (1 - q) / (1 + q)
    noise = [top * exp(-rate * x) for x in range(WINDOW + 1)]
    found: Masses = {}
    for value, mass in masses.items():
        for x in range(-WINDOW, WINDOW + 1):
            found[value + x] = found.get(value + x, arb(0)) + mass * noise[abs(x)]
    return found


@settings(max_examples=40)
@given(
    lo=values,
    weights=st.lists(st.integers(0, 9), min_size=1, max_size=8),
    centre=values,
    first=st.sampled_from(STEEP),
    second=st.sampled_from(STEEP),
)
def test_adding_noise_is_convolution(
    lo: int, weights: list[int], centre: int, first: Fraction, second: Fraction
) -> None:
    """To a table and the lower half of a noise together, as the staircase does it."""
    table = tuple(ball(Fraction(weight, 10)) for weight in weights)
    lower_half = two_sided(centre, first, hi=centre + 2)
    part = add_noise(Partial(lower_half, lo, table), second)
    incoming: Masses = {lo + i: mass for i, mass in enumerate(table)}
    for block in lower_half:
        for value in range(centre - WINDOW, centre + 3):
            if block.restrict(value, value) is not None:
                incoming[value] = incoming.get(value, arb(0)) + block.mass(value)
    expected = convolved(incoming, second)
    blocks, dense = part.with_tag("")
    law = Law(blocks, dense)
    for value in range(-30, 40):
        assert abs(law.mass(value) - expected.get(value, arb(0))) < NEARLY
    assert abs(part.total() - sum(incoming.values(), arb(0))) < NEARLY
    assert part.missing < Fraction(1, 10**30)


@st.composite
def staircases(draw: st.DrawFn) -> Staircase:
    levels = draw(st.integers(1, 3))
    thresholds = sorted(draw(st.lists(st.integers(1, 12), min_size=levels, max_size=levels, unique=True)), reverse=True)
    offsets = sorted(draw(st.lists(st.integers(0, 6), min_size=levels, max_size=levels)))
    ladder: list[Loss] = [Fraction(4), Fraction(7, 2), Fraction(3), Fraction(5, 2), Fraction(2), Fraction(3, 2)]
    kept = sorted(draw(st.sets(st.sampled_from(range(len(ladder))), min_size=levels + 1, max_size=levels + 1)))
    epsilons = [ladder[i] for i in kept]
    if draw(st.booleans()):
        epsilons[0] = INFINITY
    if draw(st.booleans()):
        epsilons[-1] = Fraction(0)
    return Staircase(tuple(thresholds), tuple(epsilons), tuple(offsets), Fraction(1), draw(st.booleans()))


def enumerated(stairs: Staircase, count: int) -> dict[tuple[str, int], arb]:
    """The algorithm, run on every value of every noise: (bits, value) -> probability; a hidden value is 0."""
    paths: dict[str, Masses] = {"": convolved({count: arb(1)}, stairs.epsilons[0])}
    for rate, k, offset in zip(stairs.epsilons[1:], stairs.thresholds, stairs.offsets, strict=True):
        following: dict[str, Masses] = {}
        for bits, masses in paths.items():
            stopped = stairs.nested and bits.endswith("0")
            low = {v: m for v, m in masses.items() if v <= k + offset and not stopped}
            following[bits + "0"] = {v: m for v, m in masses.items() if v not in low}
            noisy = {0: sum(low.values(), arb(0))} if rate == 0 else convolved(low, rate)
            following[bits + "1"] = noisy
        paths = following
    return {(bits, value): mass for bits, masses in paths.items() for value, mass in masses.items()}


@settings(max_examples=30)
@given(stairs=staircases(), count=st.integers(0, 20))
def test_the_law_of_a_staircase_is_its_algorithm(stairs: Staircase, count: int) -> None:
    law = stairs.law(count)
    for (bits, value), mass in enumerated(stairs, count).items():
        tag = bits
        if bits.endswith("1") and stairs.epsilons[-1] == 0:
            tag = SUPPRESSED if stairs.nested else f"{SUPPRESSED} {bits}"
        if stairs.nested and "01" in bits:
            assert mass.is_zero(), "a bin that stopped does not go on"
        elif abs(value - count) <= 25 or tag.startswith(SUPPRESSED):
            assert abs(law.mass(value, tag) - mass) < NEARLY, f"{tag} {value}"
    assert abs(law.total() - 1) < NEARLY


# --- the warped law ---------------------------------------------------------------------------------------------

levels = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2)])
slopes = st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 20), Fraction(1, 4)])


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    """Up to four pieces, never falling, with 0, slopes, and an infinite end one time in three."""
    starts = [1, *sorted(draw(st.sets(st.integers(2, 9), max_size=3)))]
    pieces: list[Piece] = []
    floor: Loss = Fraction(0)
    for i, start in enumerate(starts):
        if i == len(starts) - 1 and draw(st.integers(0, 2)) == 0:
            pieces.append(Piece(start, INFINITY))
            break
        if pieces:
            floor = pieces[-1].at(start - 1)
        assert isinstance(floor, Fraction)
        pieces.append(Piece(start, floor + draw(levels), draw(slopes)))
    return Curve(tuple(pieces))


def defined(curve: Curve, count: int, most: int) -> list[arb]:
    """f_count(0), ..., f_count(most), word for word: w_j exp(-|E(count) - E(j)|), w_j = b_j + b_(j+1) - 1.

    Beyond an infinite step the count itself is told; below it the values end there, with b = 1 behind the last one. If
    nothing is ever told, E stays 0 and all the mass is on 0.
    """
    finite = [m for m in range(1, most + 2) if curve.at(m) is not INFINITY]
    last = len(finite)  # the counts up to here are told with finite loss
    if count > last:
        return [arb(int(j == count)) for j in range(most + 1)]
    if curve.limit == 0:
        return [arb(int(j == 0)) for j in range(most + 1)]
    total = [Fraction(0)]
    b = [arb(1)]
    for m in finite:
        epsilon: Any = curve.at(m)
        total.append(total[-1] + epsilon)
        b.append(1 / (1 + exp(-epsilon)))
    b.append(arb(1))
    capped = last < most + 1
    return [
        (b[j] + b[j + 1] - 1) * exp(-abs(total[count] - total[j])) if j <= last else arb(0)
        for j in range(most + 1)
        if capped or j <= last
    ]


MOST = 40


def listed(warped: Warped, count: int) -> Iterable[tuple[int, arb, arb]]:
    expected = defined(warped.curve, count, MOST)
    law = warped.law(count)
    return [(j, law.mass(j), expected[j]) for j in range(MOST)]


@settings(max_examples=80)
@given(curve=curves(), count=st.integers(0, 12))
def test_w1_the_warped_law_is_its_definition(curve: Curve, count: int) -> None:
    warped = Warped(curve)
    total = warped.law(count).total()
    assert total.overlaps(arb(1))
    assert sharp(total)
    for j, mass, expected in listed(warped, count):
        assert abs(mass - expected) < NEARLY, f"value {j}: {mass} for {expected}"


@settings(max_examples=80)
@given(curve=curves(), count=st.integers(1, 12) | st.sampled_from([1000, 2**62]))
def test_w1_the_loss_is_exactly_the_curve_and_delta_exactly_zero(curve: Curve, count: int) -> None:
    warped, epsilon = Warped(curve), curve.at(count)
    assert exact_loss(warped, count) == epsilon
    assert exact_delta(warped, count, epsilon).is_zero()
    if isinstance(epsilon, Fraction) and epsilon:
        assert exact_delta(warped, count, epsilon * Fraction(99, 100)) > 0


@settings(max_examples=60)
@given(curve=curves(), count=st.integers(1, 12))
def test_w1_every_ratio_is_one_of_two(curve: Curve, count: int) -> None:
    """f_c(j) / f_(c-1)(j) = e^epsilon(c) from c on, e^-epsilon(c) below, in the law as it is stored."""
    epsilon = curve.at(count)
    assume(isinstance(epsilon, Fraction))
    assert isinstance(epsilon, Fraction)
    warped = Warped(curve)
    for (j, more, _), (_, fewer, _) in zip(listed(warped, count), listed(warped, count - 1), strict=True):
        if more > ball("1e-50"):  # further out, all values are one lump
            ratio = exp(epsilon if j >= count else -epsilon)
            assert (more / fewer).overlaps(ratio), f"value {j}"


def value_by_value(warped: Warped, count: int) -> tuple[Law, Law]:
    """The two laws that `neighbours` gives, with every value of a slope on its own."""
    (lo, _), (_, hi) = warped._window(count - 1), warped._window(count)
    return warped._law(count, lo, hi), warped._law(count - 1, lo, hi)


@settings(max_examples=80)
@given(
    curve=curves(),
    threshold=st.none() | st.integers(0, 14),
    count=st.integers(1, 12) | st.sampled_from([40, 200]),
    epsilon=losses,
)
def test_w1_the_lumps_of_a_slope_weigh_and_lose_what_their_values_do(
    curve: Curve, threshold: int | None, count: int, epsilon: Loss
) -> None:
    warped = Warped(curve, threshold)
    lumped, slow = warped.neighbours(count), value_by_value(warped, count)
    for law, all_values in zip(lumped, slow, strict=True):
        for block in law.blocks:
            inside = all_values._side(block.lo or 0, block.tag, up=True)
            if block.hi is not None:
                inside -= all_values._side(block.hi + 1, block.tag, up=True)
            assert block.total().overlaps(inside), (block.lo, block.hi)
            assert sharp(block.total())
    for i in (0, 1):
        one, other, slow_one, slow_other = lumped[i], lumped[1 - i], slow[i], slow[1 - i]
        for at in (epsilon, curve.at(count)):
            quick, long = hockey_stick(one, other, at), hockey_stick(slow_one, slow_other, at)
            assert quick.overlaps(long)
            assert quick.is_zero() == long.is_zero()
        ratio, slow_ratio = largest_ratio(one, other), largest_ratio(slow_one, slow_other)
        assert ratio.overlaps(slow_ratio) if isinstance(ratio, arb) else ratio == slow_ratio


@settings(max_examples=60)
@given(curve=curves(), count=st.integers(1, 12) | st.sampled_from([1000, 10**6, 2**62]))
def test_neighbouring_laws_have_no_more_parts_than_the_curve_has_pieces(curve: Curve, count: int) -> None:
    for law in Warped(curve).neighbours(count):  # a piece: its last value apart, and both parted at the count
        assert len(law.blocks) <= 4 * len(curve.pieces) + 4


@settings(max_examples=60)
@given(curve=curves(), threshold=st.integers(0, 14), count=st.integers(1, 12))
def test_hiding_small_values_is_post_processing(curve: Curve, threshold: int, count: int) -> None:
    plain, hiding = Warped(curve), Warped(curve, threshold)
    shown = {j: mass for j, mass, _ in listed(plain, count)}
    law = hiding.law(count)
    hidden = sum((mass for j, mass in shown.items() if j <= threshold), arb(0))
    assert abs(law.mass(0, SUPPRESSED) - hidden) < NEARLY
    for j in range(threshold + 1, MOST):
        assert abs(law.mass(j) - shown[j]) < NEARLY
    epsilon = curve.at(count)
    assert exact_delta(hiding, count, epsilon).is_zero()
    found = exact_loss(hiding, count)
    assert lower(found) <= epsilon if isinstance(found, arb) else found <= epsilon
