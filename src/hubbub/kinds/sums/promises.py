"""What any statistic by bins promises, derived from its public description before any data is opened.

::

    epsilon           losses of one person more or less, in the one bin that the person is in
    crowd, epsilon    people of one bin blend; whoever is in a small one is not seen at all
    crowd and sample  Theorem A on top
    zero-knowledge    Theorem A1' on a secret sample of K people; or Theorem A3, noise on the exact count

Of people with several rows one is chosen, and the choice is a part of the mechanism: whatever rows are kept, the tables
of kept rows with and without a person differ in one row, so that differential privacy and zero-knowledge are promised
to people (closeness survives averaging over the choice; the simulator chooses rows of the people whom it is given).
Crowds are of kept rows, and before the choice nobody need be like a person with several.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from flint import arb

from hubbub.channels.catalogue import parameters
from hubbub.channels.divergence import largest_ratio
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.sampled import sampled_crowd_blending
from hubbub.errors import Refused
from hubbub.guarantees.accountant.concentrated import CKS, of_noise
from hubbub.guarantees.accountant.gaussian import GaussianNoise, delta_of
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Neighbours, RandomSample, ZeroKnowledge
from hubbub.guarantees.derivation import BBG, DMNS, GLP, HERE, Assumption, Derivation, Theorem, state_promise, texts
from hubbub.guarantees.implications import PUBLIC_SIZES, SAMPLED_AFRESH, SECRET, SYMMETRIC, on_a_sample
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.guarantees.people import People, Whose
from hubbub.guarantees.survey import promise_to_population
from hubbub.kinds.histogram.discovery import discovery_cost
from hubbub.kinds.histogram.promises import (
    EVERY_BIN,
    FOUND_PARTITION,
    KEPT_ROWS,
    PARTITION,
    of_people,
    person_holds,
    several_rows,
    with_found_bins,
)
from hubbub.kinds.sums.calibration import PUBLIC_TOTALS
from hubbub.kinds.sums.spec import check_found
from hubbub.kinds.sums.sums import SHIFT, Sums, every_step
from hubbub.kinds.sums.weights import weight_rule
from hubbub.numeric.exact import Infinite, rounded, to_text
from hubbub.numeric.format import short
from hubbub.protocol.channel_checks import laws
from hubbub.protocol.check import Check
from hubbub.sampling import exact_count
from hubbub.sampling.sampled_share import LARGEST, worst_loss
from hubbub.sampling.sanitize import Blank, outside
from hubbub.tables.bins import rule
from hubbub.tables.protection import Crowd, Knowledge, Noise, Route

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Declared, Statistic

WEIGHTS: Final = Theorem("statistic.weights", "a person who counts like as many people as the weight has steps", DMNS)
CROWDS: Final = Theorem("sums.crowds", "sums and ranks of crowds, small ones hidden", HERE)
PROFILES: Final = Theorem("statistic.profile-crowds", "crowds of people with equally many rows in each bin", HERE)
SAMPLED_CROWDS: Final = Theorem("sums.crowds-sampled", "sums and ranks of crowds of a secret sample", HERE)
HALF_WAY: Final = Theorem("statistic.blank-in-no-bin", "Theorem A1' (K people in secret; a blank is in no bin)", HERE)
BLANK_IS_A_COIN: Final = Theorem(
    "statistic.blank-a-coin", "Theorem A1' (K people in secret; a blank is a fair coin)", HERE
)
EXACT: Final = Theorem("statistic.exact-count", exact_count.THEOREM, f"{GLP}, Proposition 12; {HERE}")
REPLACED: Final = Theorem("statistic.sample-replaced", "amplification by sampling without replacement", BBG)
GAUSSIAN: Final = Theorem(
    "statistic.gaussian", "discrete Gaussian noise on whole numbers that one person moves", f"{CKS}; {HERE}"
)

_SMALL: Final = 10**6  # rates below this are compared by their quotient: such laws are scaled copies
_LEAST_DELTA: Final = Fraction(1, 10**30)

HIDDEN: Final = Assumption("statistic.small-hidden", "a bin of fewer than {k} people is hidden, with all about it")
ANY_ROW: Final = Assumption(
    "person.any-row",
    "each value of {person} counts once, and meets the condition if any of its rows does; rows with no {person} are left out",
)

ANY_ROW_IN_BINS: Final = Assumption(
    "person.any-row-in-bins",
    "each value of {person} counts once in each of at most {distinct} bins, chosen secretly, and meets the condition "
    "there if any of its rows there does; rows with no {person} are left out",
)


@lru_cache(maxsize=64)
def promises(spec: Statistic) -> tuple[Derivation, ...]:
    """Every promise of the release, the mechanism's own first.

    Guarantee: each is a theorem applied to the public description, or the call is refused; nothing depends on the data.
    """
    check_found(spec)
    match spec.protection:
        case Noise(epsilon=epsilon) if spec.gaussian is not None:
            return of_gaussian(spec, spec.gaussian, epsilon)
        case Noise(epsilon=epsilon):
            own = _of_noise(spec, epsilon)
            return (own,) if spec.survey is None else (own, promise_to_population(own, spec.survey))
        case Crowd():
            return _crowds(spec, spec.protection)
        case Knowledge(route=Route.EXACT):
            return _of_exact(spec, spec.protection)
        case Knowledge(variance=Fraction()):
            raise Refused("Gaussian noise on a sample is for several questions together; ask them so")
        case Knowledge():
            return of_sample(spec, spec.protection, of_one_replaced(spec, spec.protection.rate))


def _of_noise(spec: Statistic, epsilon: Fraction) -> Derivation:
    """Differential privacy by noise on every number.

    Guarantee: of one row of each person, as :func:`differential`; of several, or of several bins of a person, each of
    which loses `epsilon` over as many as one person has at most, as
    :func:`hubbub.kinds.histogram.promises.several_rows`. Whoever has a weight of w steps counts like w people, who
    come or go one after the other: the largest weight times what one step loses.
    """
    if not spec.unit.counts_rows and spec.moved == 1:
        return differential(spec, epsilon, Neighbours.ADD_REMOVE)
    own = differential(spec, epsilon / spec.moved, Neighbours.ADD_REMOVE)
    if spec.weighted_by is not None:
        return own.then(
            WEIGHTS,
            DifferentialPrivacy(epsilon=epsilon, neighbours=Neighbours.ADD_REMOVE),
            numbers=texts(most=spec.moved, epsilon=epsilon / spec.moved),
        )
    return several_rows(own, spec.unit, spec.bins)


def of_gaussian(
    spec: Statistic, noise: GaussianNoise, epsilon: Fraction, more: tuple[Assumption, ...] = ()
) -> tuple[Derivation, ...]:
    """Gaussian noise on everything: what it loses at this epsilon, and zCDP beside it.

    Guarantee: (epsilon, delta)-differential privacy for one person more or less with the delta of
    :func:`hubbub.guarantees.accountant.gaussian.delta_of`, rounded up, where one person moves the numbers as
    `Statistic.sensitivity` says: by the exact profile where no number moves by more than 1, else by Lemma C. Rows are kept
    by a map of the person's own, so that closeness survives averaging over it.
    """
    used = (*granted(spec), *more)
    own = state_promise(
        DifferentialPrivacy(epsilon=epsilon, delta=gaussian_delta(noise, epsilon), neighbours=Neighbours.ADD_REMOVE),
        theorem=GAUSSIAN,
        numbers=texts(epsilon=epsilon, variance=noise.s2, squared=noise.squared, moved=noise.moved),
        assumptions=used,
        people=spec.people,
    )
    return own, of_noise(noise, people=spec.people, assumptions=used)


def gaussian_delta(noise: GaussianNoise, epsilon: Fraction) -> Fraction:
    """The delta that is promised: no smaller than the one of the noise, nor than 1e-30."""
    return max(rounded(delta_of(noise, epsilon), up=True, digits=9), _LEAST_DELTA)


def granted(spec: Statistic) -> tuple[Assumption, ...]:
    """What is taken for granted about bins, values, conditions and people."""
    assumptions = [*((FOUND_PARTITION,) if spec.discovered else (PARTITION, EVERY_BIN))] if spec.axes else []
    assumptions += [rule(axis) for axis in spec.axes]
    assumptions += [measure.rule for measure in spec.measures]
    if spec.weighted_by is not None:
        assumptions.append(weight_rule(spec.weighted_by))
    if spec.where is not None:
        sentence = "who counts is decided by a public rule that looks at one person alone: {condition}"
        assumptions.append(Assumption("condition", sentence, (("condition", str(spec.where)),)))
    if spec.totals is not None:
        assumptions.append(PUBLIC_TOTALS)
    crowds = isinstance(spec.protection, Crowd) and spec.unit.one_row_per_person
    return (*assumptions, who(spec), *((KEPT_ROWS,) if crowds else ()))


def who(spec: Statistic) -> Assumption:
    """Who counts as a person, and how somebody with several rows does."""
    if spec.profiled:
        return _profiles(spec)
    if not spec.any_row:
        return spec.unit.assumption
    if spec.axes:
        return _any_row_in_bins(spec)
    return Assumption(ANY_ROW.id, ANY_ROW.sentence, (("person", str(spec.unit.person)),))


def _profiles(spec: Statistic) -> Assumption:
    assert isinstance(spec.protection, Crowd)
    assert spec.unit.bounds is not None
    most = [(name, str(value)) for name, value in spec.unit.bounds.to_json().items() if value is not None]
    says = {
        "rows_per_person": "more than {rows_per_person} rows",
        "distinct": "rows in more than {distinct} bins",
        "rows_per_bin": "more than {rows_per_bin} in one bin",
    }
    beyond = " or ".join(says[name] for name, _ in most)
    sentence = (
        "each value of {person} counts by all of its rows, of which nothing is chosen; whoever has " + beyond + ", or "
        "has as many in each bin as fewer than {k} people have, is left out with all of them"
    )
    return Assumption(
        "person.profiles", sentence, (("person", str(spec.unit.person)), ("k", str(spec.protection.k)), *most)
    )


def _any_row_in_bins(spec: Statistic) -> Assumption:
    given = (("person", str(spec.unit.person)), ("distinct", str(spec.unit.distinct)))
    return Assumption(ANY_ROW_IN_BINS.id, ANY_ROW_IN_BINS.sentence, given)


def differential(spec: Statistic, epsilon: Fraction, neighbours: Neighbours) -> Derivation:
    """Differential privacy of the mechanism, for one person added or removed, or replaced.

    Guarantee: a person is in one bin at most, whichever of their rows is kept, and moves its columns by v(x): noise of the
    declared rates costs :meth:`hubbub.kinds.sums.sums.Sums.loss`. A count moves by 1, and its channel says what that
    costs. Ranks move by s at most, the chance of each point by a factor e^epsilon, and the epsilons of the value and its
    interval add up. Replacing one is removing and adding, which at most doubles it; where everybody has it or not and
    nothing else is told, replacing moves the count by 1.
    """
    return state_promise(
        DifferentialPrivacy(epsilon=epsilon, neighbours=neighbours),
        theorem=spec.theorem,
        numbers=(*texts(epsilon=epsilon), *spec.stated),
        assumptions=granted(spec),
        people=spec.people,
    )


# --- crowds -------------------------------------------------------------------------------------------------------


def _crowds(spec: Statistic, crowd: Crowd) -> tuple[Derivation, ...]:
    """Crowd-blending privacy of the people of one bin.

    Guarantee: for two people of one bin every count is the same whoever of them is there, and their columns differ by
    v(x) - v(y), which costs :meth:`hubbub.kinds.sums.sums.Sums.loss_of_replacing`; ranks differ by 1 at most. Whoever is
    in a bin of fewer than k people is hidden with it, and changes nothing by leaving. On a secret sample the same k and
    epsilon hold: of a bin of fewer than k fewer than k are drawn, and two people of a bin are drawn with the same
    probability. Bins that are found in the data may be: one that is absent looks like a hidden one, and one person alone
    shows none. Of people with several rows all this is about the kept rows; what a sample buys is for the people.
    """
    if spec.profiled:
        rows = People(whose=Whose.KEPT_ROWS, person=spec.unit.person)
        return (profile_crowds(spec, crowd, replace(_crowds_of_bins(spec, crowd, ()), people=rows)),)
    channel = spec.channel
    hidden = () if channel is not None else (Assumption(HIDDEN.id, HIDDEN.sentence, texts(k=crowd.k)),)
    own = _crowds_of_bins(spec, crowd, hidden)
    if spec.discovered:  # k is at least 2: one person shows no bin
        own = with_found_bins(own, arb(0) if channel is None else discovery_cost(channel))
    if channel is None or crowd.sample is None:
        return sampled_crowds(own, crowd, SAMPLED_CROWDS)
    both = sampled_crowd_blending(own, crowd.sample, at_delta=crowd.at_delta, bins=True, unmarked=channel.is_unmarked)
    return (on_a_sample(own, crowd.sample), *map(of_people, both))


def _crowds_of_bins(spec: Statistic, crowd: Crowd, more: tuple[Assumption, ...]) -> Derivation:
    """The promise to people of one bin, or, of people with several, to rows of one bin as if each were a person."""
    if spec.channel is not None:
        claim, theorem = spec.channel.claim, spec.channel.card.statement
        numbers = tuple((name, str(value)) for name, value in parameters(spec.channel).items() if value is not None)
    else:
        claim, theorem = CrowdBlending(k=crowd.k, epsilon=spec.noise_loss), CROWDS
        numbers = (*texts(k=crowd.k, epsilon=spec.noise_loss), *spec.stated)
    return state_promise(
        claim, theorem=theorem, numbers=numbers, assumptions=(*granted(spec), *more), people=spec.unit.crowds
    )


def sampled_crowds(own: Derivation, crowd: Crowd, theorem: Theorem) -> tuple[Derivation, ...]:
    """The promise to crowds of everybody; on a secret sample the same to those who are drawn, by a theorem of the kind's
    own, and what the sample buys for everybody."""
    if crowd.sample is None:
        return (own,)
    kept = own.then(theorem, own.conclusion, numbers=texts(p=crowd.sample), assumptions=(SAMPLED_AFRESH,))
    return (kept, *map(of_people, sampled_crowd_blending(own, crowd.sample, at_delta=crowd.at_delta)))


def of_one_replaced(spec: Statistic, rate: Fraction) -> Derivation:
    """The mechanism on people who were drawn, one of them replaced by another.

    Guarantee: of one row of each person, as :func:`differential`; of several, as
    :func:`hubbub.kinds.histogram.promises.several_rows`: with rows that are in no bin both people have equally many,
    and one after the other is replaced.
    """
    if not spec.unit.counts_rows:
        return differential(spec, rate, Neighbours.REPLACE)
    own = differential(spec, rate / spec.moved, Neighbours.REPLACE)
    return several_rows(own, spec.unit, spec.bins)


# --- as well as K random people -----------------------------------------------------------------------------------


def profile_crowds(spec: Statistic, crowd: Crowd, own: Derivation) -> Derivation:
    """Crowd-blending privacy of people with equally many rows in each bin.

    Guarantee: if rows of one bin blend up to e, then leaving out all rows of people whose profile fewer than k share,
    and of those who have more than the bounds, blends people: two of one profile have their rows in the same bins, so
    that one is made the other by replacing at most L rows inside of their bins, L e in all; no row of anybody else
    starts or stops to count. Whoever is left out changes nothing by leaving. Nothing is chosen at random: with a random
    choice this would be false.
    """
    claim = own.conclusion
    assert isinstance(claim, CrowdBlending)
    assert not isinstance(claim.epsilon, Infinite)
    return own.then(
        PROFILES,
        CrowdBlending(k=crowd.k, epsilon=spec.moved * claim.epsilon),
        numbers=texts(most=spec.moved, epsilon=claim.epsilon),
        assumptions=(who(spec),),
        people=People(person=spec.unit.person),
    )


def of_sample(spec: Statistic, knowledge: Knowledge, inner: Derivation) -> tuple[Derivation, ...]:
    """A differentially private mechanism, `inner` for one row replaced, on K people drawn in secret without replacement.

    Guarantee: inside the sample one row replaced costs `rate`, and half of it if it is replaced by a blank that is in
    no bin (or, where rows have two values, the blank is a fair coin): Theorem A1' makes that epsilon-zero-knowledge
    private with respect to RS(K), and amplification by sampling ln(1 + (K/N)(e^rate - 1))-differentially private when
    one person is replaced. Refused if the rate is too high for the epsilon.
    """
    k, n, rate = knowledge.rows, knowledge.people, knowledge.rate
    if not sample_holds(spec, knowledge).passed:
        raise Refused("the noise is too little for the epsilon that is claimed; raise one of them")
    names = texts(k=k, n=n, rate=rate)
    used = (SYMMETRIC, SECRET, declared(knowledge))
    knows = inner.then(
        BLANK_IS_A_COIN if spec.blank is Blank.COIN else HALF_WAY,
        ZeroKnowledge(epsilon=knowledge.epsilon, aggregate=RandomSample(k=k, n=n)),
        numbers=(*names, *texts(epsilon_out=knowledge.epsilon)),
        assumptions=used,
    )
    swapped = subsampled_loss(rate, knowledge.share)
    private = inner.then(
        REPLACED,
        DifferentialPrivacy(epsilon=swapped, neighbours=Neighbours.REPLACE),
        numbers=(*names, *texts(epsilon_out=swapped)),
        assumptions=used,
    )
    return knows, private


def _of_exact(spec: Statistic, knowledge: Knowledge) -> tuple[Derivation, ...]:
    """Zero-knowledge privacy by noise on the exact count.

    Guarantee: Theorem A3 in whole numbers, or its stepped simulator, refused if the scale is too small for the epsilon;
    and, one person replaced moving the count by 1, a loss of one over the scale.
    """
    k, n, rate = knowledge.rows, knowledge.people, knowledge.rate
    if not exact_count.enough(k, n, 1 / rate, knowledge.epsilon):
        raise Refused("the noise is too little for the epsilon that is claimed; raise one of them")
    used = (*granted(spec), declared(knowledge))
    knows = state_promise(
        ZeroKnowledge(epsilon=knowledge.epsilon, aggregate=RandomSample(k=k, n=n)),
        theorem=EXACT,
        numbers=texts(k=k, n=n, rate=rate, epsilon=knowledge.epsilon),
        assumptions=used,
        people=spec.people,
    )
    private = state_promise(
        DifferentialPrivacy(epsilon=rate, neighbours=Neighbours.REPLACE),
        theorem=SHIFT,
        numbers=texts(rate=rate),
        assumptions=used,
        people=spec.people,
    )
    return knows, private


def declared(knowledge: Knowledge) -> Assumption:
    """How many people there are, and how many of them may be known."""
    sentence = "it is public and true that the table is of {people} people, and that {rows} of them may be known"
    return Assumption(f"{PUBLIC_SIZES.id}.declared", sentence, texts(people=knowledge.people, rows=knowledge.rows))


# --- worked out again ---------------------------------------------------------------------------------------------


def checks(spec: Statistic) -> Iterator[Check]:
    """The mechanism's exact laws against what is claimed of them.

    Guarantee: a check that passed means that the claim holds: of a channel by its laws; of sums by how far one person
    moves them; of ranks by the laws on every table of at most three people over three points; of a sample by Theorem
    A1', and for few people by the law over all databases, in floating point to nine digits.
    """
    if spec.channel is not None:
        yield from laws(spec.channel)
    if spec.unit.counts_rows and isinstance(spec.protection, Noise) and not spec.ranked and spec.unit_loss is not None:
        yield person_holds(
            spec.unit, spec.bins or None, spec.unit_loss, spec.protection.epsilon
        )  # of a row: all its columns
    if spec.gaussian is not None:
        yield gaussian_holds(spec, spec.gaussian)
    if spec.channel is not None or spec.gaussian is not None:
        return
    yield from spec.mechanism_checks()
    if isinstance(spec.protection, Knowledge):
        yield from _knowledge_holds(spec, spec.protection)


def gaussian_holds(spec: Statistic, noise: GaussianNoise) -> Check:
    """The delta of the noise at the epsilon that is promised, and how far one person moves all numbers, from the rule."""
    assert isinstance(spec.protection, Noise)
    claim, sensitivity = spec.promises()[0].conclusion, spec.sensitivity
    assert isinstance(claim, DifferentialPrivacy)
    assert sensitivity is not None
    found = delta_of(noise, spec.protection.epsilon)
    right = found <= claim.delta and noise.squared == sensitivity.l2_squared and noise.moved == sensitivity.moved
    says = (
        f"one person moves at most {noise.moved:,} of the numbers, by a length whose square is {short(noise.squared, 9)}; "
        f"the delta is {short(found, 9)}"
    )
    return Check("the Gaussian noise", right, says)


def sums_hold(spec: Declared) -> Iterator[Check]:
    """What one person moves against the rates of the noise, at the peaks and at steps beside them, by the laws of it."""
    sums = spec.sums
    worst = sums.loss_of_replacing(every_step(sums)) if spec.counts_crowds else sums.loss(every_step(sums))
    found = f"loses {short(worst, 9)} at most, whatever the value"
    yield Check("the noise of the sums", laws_hold(sums) and worst <= spec.noise_loss, found)


def laws_hold(sums: Sums) -> bool:
    """Whether noise that is moved by as much as somebody may add is apart from itself by the rate for each step."""
    columns = zip(*(sums.contribution(1, *x) for x in sums.peaks), strict=True)
    return all(
        largest_ratio(Geometric(rate).law(int(abs(by))), Geometric(rate).law(0)) == rate * abs(by)
        for rate, moved in zip(sums.rates, columns, strict=True)
        for by in moved
        if rate * _SMALL >= 1
    )


def _knowledge_holds(spec: Statistic, knowledge: Knowledge) -> Iterator[Check]:
    k, n, rate = knowledge.rows, knowledge.people, knowledge.rate
    if knowledge.route is Route.EXACT:
        fits = exact_count.enough(k, n, 1 / rate, knowledge.epsilon)
        yield Check(
            _sample_question(knowledge),
            fits,
            f"hides in noise of rate {to_text(rate)}, by Theorem A3 or a stepped simulator, for every table",
        )
        return
    yield sample_holds(spec, knowledge)
    if spec.blank is Blank.COIN and n <= LARGEST:
        found = worst_loss(n, k, float(rate), coin=True)
        right = found <= float(knowledge.epsilon) * (1 + 1e-9)
        yield Check("the law over all databases", right, f"loses {short(found, 9)} at most, in floating point")


def sample_holds(spec: Statistic, knowledge: Knowledge) -> Check:
    """What a mechanism on the secret sample tells beyond the sample, against the epsilon that is claimed."""
    reached = outside(knowledge.rows, knowledge.people, knowledge.rate, blank=spec.blank).epsilon_zk
    fits = not isinstance(reached, Infinite) and reached <= knowledge.epsilon
    return Check(
        _sample_question(knowledge), fits, f"is all that is told, up to epsilon = {short(reached, 9)} (Theorem A1')"
    )


def _sample_question(knowledge: Knowledge) -> str:
    return f"what {knowledge.rows:,} of {knowledge.people:,} random people could tell"
