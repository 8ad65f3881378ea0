"""What a graph release promises, derived from its public description before any graph is opened.

The unit is a vertex with all its edges: "without the person" means without these edges, and two graphs are neighbours
when they differ in the edges of one vertex. (With `per_edge` the unit is one edge, and the derivation says so.)
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from hubbub.errors import Refused
from hubbub.graphs.graph import RULE
from hubbub.graphs.noise_scale import CENTRED, JOINT, THEOREM, joint_epsilon
from hubbub.graphs.statistics import Statistic, bounds
from hubbub.guarantees.accountant.sampled_counts import SampledCounts
from hubbub.guarantees.aggregates import Aggregate, ExplorationSample, NeighbourhoodSample
from hubbub.guarantees.composition import differential, zero_knowledge
from hubbub.guarantees.definitions import DifferentialPrivacy, ZeroKnowledge
from hubbub.guarantees.derivation import DMNS, GLP, HERE, Assumption, Derivation, Theorem, state_promise, texts
from hubbub.numeric.exact import rounded

if TYPE_CHECKING:
    from hubbub.kinds.graph.spec import GraphSpec

_DIGITS: Final = 6  # of a loss that follows from the noise
_ABOUT: Final = Fraction(101, 100)

VERTEX: Final = Assumption(
    "graph.vertex", "a person is a vertex with all its edges; without the person means without these edges"
)
EDGE: Final = Assumption("graph.edge", "what is protected is one edge, and not the person with all their edges")
FRIENDS: Final = Assumption(
    "graph.friends", "who visits a vertex reads the list of its friends, and so knows its degree"
)
LIMITLESS: Final = Assumption(
    "graph.limitless", "a distance is to the nearest graph with the property, whatever degrees that graph has"
)
SIMPLE: Final = Assumption("graph.simple", RULE)
NOISES: Final = Assumption("graph.noises", "the noises of the counts are drawn independently of each other")
MGF: Final = Theorem("graph.mgf", THEOREM, f"{GLP}, section 5 (Theorem 26); {HERE}")
MGF_CENTRED: Final = Theorem("graph.mgf-centred", CENTRED, f"{GLP}, section 5 (Theorem 26); {HERE}")
MGF_JOINT: Final = Theorem("graph.mgf-together", JOINT, f"{GLP}, section 5; {HERE}")
DRAWN_ALONE: Final = Theorem("graph.drawn-alone", "the number of edges is told by those who were drawn", HERE)
GEOMETRIC: Final = Theorem("graph.geometric", "two-sided geometric noise", DMNS)


def promises(spec: GraphSpec) -> tuple[Derivation, ...]:
    """Every promise of the release, the one for all that is published first.

    Guarantee: each is a theorem applied to the public description; nothing here depends on the graph. A description
    whose noise is too little for its epsilon is refused.
    """
    for of in spec.counts:
        if not spec.suffices(of):
            raise Refused(
                f"the noise of {of.value} is too little for the epsilon it is said to have; raise one of them"
            )
    if spec.zero_knowledge:
        return (*_zero_knowledge(spec), _differential(spec))
    return (_differential(spec),)


def aggregate(spec: GraphSpec) -> Aggregate:
    """What the simulator may know: k people and what a walk of s vertices sees, or only their friends.

    Guarantee: the class holds the samplers of all counts together (:mod:`hubbub.graphs.samplers`): a walk reads the
    degrees of those it visits, and the degree of somebody is the number of their friends.
    """
    how = spec.sampling
    if any(of.explores for of in spec.counts):
        return ExplorationSample(k=how.k, s=how.s)
    return NeighbourhoodSample(k=how.k, radius=1)


def ledger_promises(spec: GraphSpec) -> tuple[Derivation, ...]:
    """The same promises, as ledgers add them up: what nobody walks for, those who were drawn tell by themselves.

    Guarantee: the sampler of the number of edges reads the degrees of the k people and nothing around them, so that it is
    of the class RSE(k, 1), which goes with those that walk.
    """
    return tuple(
        step.then(
            DRAWN_ALONE, replace(step.conclusion, aggregate=ExplorationSample(k=step.conclusion.aggregate.k, s=1))
        )
        if isinstance(step.conclusion, ZeroKnowledge) and isinstance(step.conclusion.aggregate, NeighbourhoodSample)
        else step
        for step in promises(spec)
    )


def sampled_counts(spec: GraphSpec) -> SampledCounts | None:
    """The counts that one sample tells, which may serve other releases of the network too; None where there is no such
    sample, or the promise is with a sample for each count.

    Guarantee: A, sigma^2 and scale of each count are those of its promise, which the MGF theorem takes.
    """
    if not spec.zero_knowledge or (len(spec.counts) > 1 and promises(spec)[0].theorem != MGF_JOINT):
        return None
    return SampledCounts(
        k=spec.sampling.k,
        n=spec.size.vertices,
        explores=max(spec.sampling.s if of.explores else 1 for of in spec.counts),
        centred=spec.centred,
        counts=tuple(spec.spread(of).with_noise(spec.scale(of)) for of in spec.counts),
    )


def _declared_facts(spec: GraphSpec) -> tuple[Assumption, ...]:
    sentence = "it is public and true that there are {vertices} vertices and that none has a degree above {max_degree}"
    given = texts(vertices=spec.size.vertices, max_degree=spec.size.max_degree)
    known = Assumption("graph.size", sentence, given)
    if spec.average_at_most is not None:
        sentence = f"{sentence}, the average being at most {{average_at_most}}"
        known = Assumption("graph.size-average", sentence, (*given, *texts(average_at_most=spec.average_at_most)))
    return known, SIMPLE, EDGE if spec.per_edge else VERTEX


def _zero_knowledge(spec: GraphSpec) -> tuple[Derivation, ...]:
    """One sample for all counts, whose losses together grow faster than they add up once they are above 1, and a sample
    for each; first the one that ledgers should count."""
    known = aggregate(spec)
    each = tuple(_one(spec, of, known) for of in spec.counts)
    if len(each) == 1:
        return each
    joint = joint_epsilon([(spec.spread(of), spec.scale(of)) for of in spec.counts])
    joint_epsilon_rounded = rounded(joint, up=True, digits=_DIGITS)
    one_sample = Derivation(
        conclusion=ZeroKnowledge(epsilon=joint_epsilon_rounded, aggregate=known),
        theorem=MGF_JOINT,
        premises=each,
        numbers=texts(counts=len(each), epsilon_out=joint_epsilon_rounded),
        assumptions=(NOISES,),
    )
    fresh = zero_knowledge(*each)
    return (one_sample, fresh) if joint_epsilon_rounded <= _ABOUT * len(each) * spec.epsilon else (fresh, one_sample)


def _one(spec: GraphSpec, of: Statistic, known: Aggregate) -> Derivation:
    limits, how = bounds(of, spec.size, spec.sampling), spec.sampling
    return state_promise(
        ZeroKnowledge(epsilon=spec.epsilon, aggregate=known),
        theorem=MGF_CENTRED if spec.centred else MGF,
        numbers=(
            ("of", of.value),
            *texts(
                vertices=spec.size.vertices,
                max_degree=spec.size.max_degree,
                samples=how.k,
                **({"explores": how.s} if of.explores else {}),
                sensitivity=limits.sensitivity,
                **({"centre": limits.centre} if spec.centred else {}),
                bias=limits.bias,
                reach=limits.reach,
                scale=spec.scale(of),
                epsilon=spec.epsilon,
            ),
        ),
        assumptions=(*_declared_facts(spec), FRIENDS, *((LIMITLESS,) if of.explores else ())),
        people=spec.people,
    )


def _differential(spec: GraphSpec) -> Derivation:
    """Noise of that scale is differentially private too, whatever it was chosen for: the loss is what one vertex (or
    edge) moves, divided by the scale, and at most epsilon where it was chosen for that."""
    people = spec.people
    each = []
    for of in spec.counts:
        moved, scale = spec.sensitivity(of), spec.scale(of)
        loss = rounded(Fraction(moved) / scale, up=True, digits=_DIGITS) if spec.zero_knowledge else spec.epsilon
        each.append(
            state_promise(
                DifferentialPrivacy(epsilon=loss, neighbours=people.neighbours),
                theorem=GEOMETRIC,
                numbers=(("of", of.value), *texts(sensitivity=moved, scale=scale, epsilon_out=loss)),
                assumptions=_declared_facts(spec),
                people=people,
            )
        )
    return each[0] if len(each) == 1 else differential(*each)
