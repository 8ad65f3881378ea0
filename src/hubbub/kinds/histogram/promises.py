"""What a histogram release promises, derived from its public description before any data is opened.

The first promise is the channel's own; the others follow from it: differential privacy where losses are bounded, and,
where people were sampled secretly, zero-knowledge and distributional privacy.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from flint import arb

from hubbub.channels.catalogue import parameters
from hubbub.errors import Refused
from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    Guarantee,
    OutlierPrivacy,
    SimpleOutlier,
    StaircaseOutlier,
)
from hubbub.guarantees.derivation import DMNS, HERE, Assumption, Derivation, Theorem, state_promise, texts
from hubbub.guarantees.implications import (
    outlier_to_differential,
    simple_outlier_to_crowd_blending,
    to_outlier,
)
from hubbub.guarantees.people import People, Whose
from hubbub.kinds.histogram import sparse
from hubbub.numeric.exact import Infinite, Loss, rounded
from hubbub.numeric.format import short
from hubbub.protocol.check import Check
from hubbub.tables.bins import declared_size, rule

if TYPE_CHECKING:
    from hubbub.channels.protocol import Channel
    from hubbub.kinds.histogram.spec import Histogram
    from hubbub.tables.privacy_unit import Collected, Unit

PARTITION: Final = Assumption("public-partition", "the bins are a public partition")
FOUND_PARTITION: Final = Assumption("public-partition", "the rule that makes the bins is public")
EVERY_BIN: Final = Assumption("every-bin", "every declared bin is published, empty ones too")
ABSENT: Final = Assumption("absent-is-hidden", "a bin that is absent looks like one that is hidden")
CHOSEN: Final = Assumption("chosen-afresh", "which row of a person is kept is chosen afresh, secretly, in this release")
KEPT_ROWS: Final = Assumption(
    "kept-rows",
    "what is promised to crowds is promised for the kept rows: a person stands in the crowd of the row that was kept, "
    "whichever that was; somebody with several rows may be the only one who has just these, and then has no crowd as a "
    "person",
)
"""One row of several is no crowd-blending for people: who has a row in A and one in B has no equal."""


ROWS_OF_A_PERSON: Final = Theorem(
    "rows.several", "a person with several rows, bounded by a map of that person's rows alone", f"{DMNS}; {HERE}"
)
BINS_OF_A_PERSON: Final = Theorem("bins.several", "a person in several bins", f"{DMNS}, composition over bins")


@lru_cache(maxsize=64)
def promises(spec: Histogram) -> tuple[Derivation, ...]:
    """Every promise of the release, the channel's own first.

    Guarantee: each is a theorem applied to the one before, or the call is refused; nothing here depends on the data.
    """
    sparse.check(spec.axes, spec.channel, spread=True)  # what one machine can list is looked at where it is asked for
    own = _own(spec)
    if spec.unit.counts_rows:
        return (_several_rows(of_one_row(spec), spec),)
    if spec.unit.distinct is not None:
        return (_several_bins(_differential(own, spec) or own, spec, spec.unit.distinct), *_zcdp_of_noise(own, spec))
    return (*following(own, _crowds(own), _differential(own, spec), spec), *_zcdp_of_noise(own, spec))


def _zcdp_of_noise(own: Derivation, spec: Histogram) -> tuple[Derivation, ...]:
    """zCDP beside it, where the noise is Gaussian and everybody is counted."""
    noise = spec.channel.gaussian_noise(spec.unit.distinct or 1)
    if noise is None or spec.sample is not None:
        return ()
    from hubbub.guarantees.accountant.concentrated import of_noise

    return (of_noise(noise, people=spec.unit.people, assumptions=own.assumptions),)


def of_one_row(spec: Histogram) -> Derivation:
    """What one row more or less costs, where several rows of a person count.

    Guarantee: the channel's own promise, as differential privacy where its losses are bounded.
    """
    own = _own(spec)
    return _differential(own, spec) or own


def following(
    own: Derivation, crowds: Derivation | None, bounded: Derivation | None, spec: Histogram
) -> tuple[Derivation, ...]:
    """A promise, and what follows from it for a secret sample, or for people whom somebody collected.

    Guarantee: each is a theorem applied to `own`, to the crowd-blending or to the differential privacy that follow from
    it, or the call is refused.
    """
    unmarked, found = spec.channel.is_unmarked, [own]
    if spec.sample is not None:
        if not isinstance(own.conclusion, DifferentialPrivacy):  # that is amplified below
            from hubbub.channels.sampled_outlier import sampled_delta
            from hubbub.channels.sampled_warped import sampled_warped_curve
            from hubbub.guarantees.implications import on_a_sample

            whole = own.conclusion == spec.channel.claim
            of_laws = sampled_delta(spec.channel, spec.sample) if whole else None
            of_warped = sampled_warped_curve(spec.channel, spec.sample) if whole else None
            found = [on_a_sample(own, spec.sample, of_laws=of_laws, of_warped=of_warped)]
        found += map(of_people, _promises_of_sample(crowds, bounded or own, spec.sample, spec.at_delta, unmarked))
    elif bounded is not None:
        found.append(of_people(bounded))
    if spec.collected is not None:
        population = People(whose=Whose.POPULATION, person=spec.unit.person)
        derivations = _promises_if_collected(own, crowds, bounded or own, spec.collected, spec.at_delta, unmarked)
        found += [replace(of_people(step), people=population) for step in derivations]
    return tuple(found)


def of_people(step: Derivation) -> Derivation:
    """What is promised about the rows that were kept, for the people they were kept of.

    Guarantee: if a mechanism on the table of kept rows is (epsilon, delta)-differentially private, zero-knowledge or
    distributionally private for one row more or less, then choosing a row of each person secretly and running it is so
    for one person more or less: whatever rows are chosen of the others and of the person, the two tables of kept rows
    differ in one row, and closeness survives averaging over the choice. Crowds do not carry over.
    """
    if step.people is None or step.people.whose is not Whose.KEPT_ROWS:
        return step
    return step.then(
        Theorem("people.kept-rows", "the choice of a row is part of the mechanism", HERE),
        step.conclusion,
        assumptions=(CHOSEN,),
        people=People(person=step.people.person),
    )


def _own(spec: Histogram) -> Derivation:
    crowds = not isinstance(spec.channel.claim, DifferentialPrivacy)
    assumptions = (
        FOUND_PARTITION if spec.has_found_bins else PARTITION,
        *(rule(axis) for axis in spec.axes),
        spec.unit.assumption,
        *((KEPT_ROWS,) if spec.unit.one_row_per_person and crowds else ()),
        *(() if spec.has_found_bins else (sparse.NOT_LISTED if sparse.is_sparse(spec) else EVERY_BIN,)),
    )
    own = state_promise(
        spec.channel.claim,
        theorem=spec.channel.card.statement,
        numbers=tuple((name, _text(value)) for name, value in parameters(spec.channel).items() if value is not None),
        assumptions=assumptions,
        people=spec.unit.crowds if crowds else spec.unit.people,
    )
    return _with_found_bins(own, spec) if spec.has_found_bins else own


def _text(value: object) -> str:
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)


def _with_found_bins(own: Derivation, spec: Histogram) -> Derivation:
    from hubbub.kinds.histogram.discovery import discovery_cost

    return with_found_bins(own, discovery_cost(spec.channel))


def with_found_bins(own: Derivation, cost: arb) -> Derivation:
    """Only bins that occur are published: the price is the chance that one person alone makes a bin appear.

    Guarantee: if an absent bin looks like a hidden one and a bin of one person is seen with a chance of at most `cost`,
    what `own` promises of bins that are all published holds of those that occur, with that as its delta at least.
    """
    price, claim = rounded(cost, up=True), own.conclusion
    conclusion: Guarantee
    if isinstance(claim, CrowdBlending):
        if price:
            raise Refused(
                "crowd-blending has no delta to pay for bins found in the data; declare the values of the columns"
            )
        conclusion = claim
    else:
        assert isinstance(claim, DifferentialPrivacy | OutlierPrivacy | SimpleOutlier | StaircaseOutlier)
        conclusion = replace(claim, delta=max(claim.delta, price))
    return own.then(
        Theorem("bins.found", "bins found in the data", HERE),
        conclusion,
        numbers=texts(price_out=price),
        assumptions=(ABSENT,),
    )


def _several_bins(own: Derivation, spec: Histogram, most: int) -> Derivation:
    """A person in at most B bins loses at most B times as much, where every count loses the same."""
    joint = spec.channel.several_bins(most)
    if joint is not None:
        return own.then(
            Theorem("bins.several-exact", "a person in several bins, by the exact profile of all of them", HERE),
            joint,
            numbers=texts(bins=most, epsilon_out=joint.epsilon, delta_out=joint.delta),
            assumptions=(spec.unit.assumption,),
        )
    one = spec.channel.claim
    if not _is_flat(spec.channel) and (not isinstance(one, DifferentialPrivacy) or one.delta):
        raise Refused(
            "a person in several bins is covered by plain noise only (`epsilon`, or `mechanism=group`); "
            "for the others keep one row of each person (`one_row_per_person=True`)"
        )
    claim = own.conclusion
    assert isinstance(claim, DifferentialPrivacy) and not isinstance(claim.epsilon, Infinite)
    return own.then(
        BINS_OF_A_PERSON,
        replace(claim, epsilon=most * claim.epsilon, delta=min(most * claim.delta, Fraction(1))),
        numbers=texts(bins=most, epsilon=claim.epsilon) + (texts(delta=claim.delta) if claim.delta else ()),
        assumptions=(spec.unit.assumption,),
    )


def _several_rows(own: Derivation, spec: Histogram) -> Derivation:
    """Rows of a person in declared bins, where every count loses the same and there is no delta.

    Guarantee: as :func:`several_rows`, or it is refused.
    """
    if spec.sample is not None or spec.collected is not None or spec.has_found_bins or spec.scale_up:
        raise Refused("several rows of a person go with declared bins and everybody in them; leave out the rest")
    claim = own.conclusion
    flat = _is_flat(spec.channel) or isinstance(spec.channel.claim, DifferentialPrivacy)
    if not flat or not isinstance(claim, DifferentialPrivacy) or claim.delta:
        raise Refused(
            "several rows of a person are covered by plain noise only (`epsilon`); for the others keep one row of each "
            "person (`one_row_per_person=True`)"
        )
    return several_rows(own, spec.unit, declared_size(spec.axes))


def several_rows(own: Derivation, unit: Unit, bins: int | None) -> Derivation:
    """Who has L kept rows loses at most L times what one row more or less costs.

    Guarantee: if a mechanism on a table of rows is epsilon-differentially private for one row more or less, then
    bounding what each person contributes and running it is L epsilon-differentially private for one person more or
    less, where L is the largest number of rows that the bounds leave of anybody. The map looks at one person's rows and
    at randomness of its own, so that the tables of kept rows can be coupled to differ in the kept rows of that person
    alone; these come or go one after the other, and closeness survives averaging over the map.
    """
    claim = own.conclusion
    assert isinstance(claim, DifferentialPrivacy)
    assert not isinstance(claim.epsilon, Infinite)
    assert not claim.delta
    most = unit.moved(bins)
    return own.then(
        ROWS_OF_A_PERSON if unit.counts_rows else BINS_OF_A_PERSON,
        replace(claim, epsilon=most * claim.epsilon),
        numbers=texts(most=most, epsilon=claim.epsilon),
        assumptions=(unit.assumption,),
    )


def person_holds(unit: Unit, bins: int | None, of_one_row: Fraction, promised: Loss) -> Check:
    """What people with all rows that count lose, person by person, against what is promised to them.

    Guarantee: passes only if nobody whom the bounds leave loses more. Geometric noise of a rate r, moved by n rows, has
    laws that are e^(r n) apart at every number beyond both, and nowhere more; noises are independent, so that rows in
    several bins, or tables, add up.
    """
    assert unit.bounds is not None
    worst = max(unit.bounds.people_by_rows(bins), key=sum)
    lost = sum(worst) * of_one_row
    rows = ", ".join(map(str, worst[:5])) + (", ..." if len(worst) > 5 else "")
    found = f"whoever has {rows} {unit.rows} in {'a bin each' if len(worst) > 1 else 'one bin'} loses {short(lost, 9)}"
    return Check("a person with all rows that count", lost <= promised, f"{found}, and nobody more")


def _is_flat(channel: Channel) -> bool:
    """Whether it promises every crowd the same finite loss, without a delta: noise cut off at 0."""
    claim = channel.claim
    if not isinstance(claim, OutlierPrivacy) or claim.delta:
        return False
    return claim.curve.is_flat and not isinstance(claim.curve.limit, Infinite)


def _differential(own: Derivation, spec: Histogram) -> Derivation | None:
    """Differential privacy, where the losses of all crowds are bounded.

    A claim with a delta pays it for small losses of small crowds. Where the channel loses no more than the top of its
    curve without any, as when all of it is computed from a first noise, everybody is promised that.

    Guarantee: as :func:`outlier_to_differential`, with no delta where the channel has a proof without one, or with that of
    :func:`hubbub.channels.sampled_outlier.top_delta`.
    """
    claim = own.conclusion
    if isinstance(claim, SimpleOutlier | StaircaseOutlier):
        own, claim = to_outlier(own), to_outlier(own).conclusion
    if not isinstance(claim, OutlierPrivacy) or isinstance(claim.curve.limit, Infinite):
        return None
    from hubbub.channels.sampled_outlier import top_delta

    top = claim.curve.limit
    proof = next((each for each in spec.channel.proofs if not each.delta and each.curve.limit <= top), None)
    if claim.delta and proof is None and not spec.has_found_bins and (delta := top_delta(spec.channel)) is not None:
        return own.then(
            Theorem("channel.top", "the loss of the whole channel, at the delta of its laws", HERE),
            DifferentialPrivacy(epsilon=top, delta=delta),
            numbers=texts(epsilon_out=top, delta_out=delta),
        )
    if not claim.delta or proof is None:
        return outlier_to_differential(own)
    pure = own.then(
        Theorem("channel.pure", "the loss of the whole channel, without a delta", HERE),
        DifferentialPrivacy(epsilon=proof.curve.limit),
        numbers=(("because_out", proof.reason), *texts(epsilon_out=proof.curve.limit)),
    )
    return _with_found_bins(pure, spec) if spec.has_found_bins else pure


def _crowds(own: Derivation) -> Derivation | None:
    """Crowd-blending, where it is the claim or follows from it without a delta."""
    claim = own.conclusion
    if isinstance(claim, CrowdBlending):
        return own
    if isinstance(claim, SimpleOutlier) and claim.delta == 0:
        return simple_outlier_to_crowd_blending(own)
    return None


def _promises_of_sample(
    crowds: Derivation | None, bounded: Derivation, p: Fraction, at_delta: Fraction, unmarked: bool
) -> list[Derivation]:
    from hubbub.channels.sampled import distributional, sampled_crowd_blending, sampled_differential

    if crowds is not None:
        both = list(sampled_crowd_blending(crowds, p, at_delta=at_delta, bins=True, unmarked=unmarked))
        sample = BernoulliSample(p=p)
        try:
            return [*both, distributional(crowds, sample, at_delta=at_delta, bins=True, unmarked=unmarked)]
        except Refused:  # somebody known to be in the sample may be beyond this delta where others are not
            return both
    if not isinstance(bounded.conclusion, DifferentialPrivacy):
        raise Refused(
            "no theorem turns this channel's promise and a secret sample into a promise to everybody; "
            "use `crowd`, `epsilon` or an outlier curve that ends, or leave out `sample`"
        )
    return list(sampled_differential(bounded, p))


def _promises_if_collected(
    own: Derivation, crowds: Derivation | None, bounded: Derivation, how: Collected, at_delta: Fraction, unmarked: bool
) -> list[Derivation]:
    from hubbub.channels.sampled import collected_crowd_blending, distributional, sampled_differential

    sample = how.sample
    if crowds is not None:
        outliers = own if isinstance(own.conclusion, SimpleOutlier) else crowds
        both = collected_crowd_blending(crowds, sample, at_delta=at_delta, bins=True, unmarked=unmarked)
        return [*both, distributional(outliers, sample, at_delta=at_delta, bins=True, unmarked=unmarked)]
    if isinstance(sample, BernoulliSample) and isinstance(bounded.conclusion, DifferentialPrivacy):
        return list(sampled_differential(bounded, sample.p))
    raise Refused(
        "what such a sample drawn by somebody else buys is known for crowds, and at one rate for plain noise; use "
        "`crowd`, or `epsilon` with `collected=RATE`, or leave out `collected`"
    )
