"""What a release of a class of queries promises, derived from its public description before any data is opened.

::

    epsilon                  differential privacy, one person more or less
    epsilon, N people        the same for one person replaced: a table of another number of people is refused, so that
                             nobody can come or go without being noticed
    K of N people in secret  zero-knowledge privacy with respect to RS(K), and differential privacy for one replaced

**What one person replaced costs.** A query counts the people in some set of cells, so that replacing one person moves
each exact answer by -1, 0 or 1, and at most `depth` of them up and as many down.

- mwem, small-database, boosting look at each answer by itself: a score, an error or a measured answer moves by at most
  1 however one person changes, and what :meth:`spends` says covers it. The loss is E.
- histogram, per-query and tree put noise on numbers of which a person moves some by 1, at a cost of E for one who comes
  or goes. The numbers that the one leaves and those that the other enters need not be the same: the loss is 2 E, and
  with two people in different cells of a histogram it is no less.
- residual plans its noise for one person replaced: the loss is E, with its delta.

**Several rows of a person** (no number of people is enforced then). A row is in one cell, and is to a method what a person
is elsewhere. Geometric noise is for a loss of E/L of one row, L the most rows that the bounds leave of a person; who has L
rows in one cell loses L times that exactly. Gaussian noise is planned for all rows of a person at once, by the squared
lengths that they move (:mod:`hubbub.query_classes.marginals.tables`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from hubbub.errors import Refused
from hubbub.guarantees.accountant.concentrated import of_noise
from hubbub.guarantees.accountant.gaussian import GaussianNoise
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours, RandomSample, ZeroKnowledge
from hubbub.guarantees.derivation import BBG, DMNS, GLP, HERE, Assumption, Derivation, Theorem, state_promise, texts
from hubbub.guarantees.implications import BLANK, PUBLIC_SIZES, SECRET, SYMMETRIC
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.kinds.histogram.promises import PARTITION, several_rows
from hubbub.numeric.exact import rounded, to_text
from hubbub.protocol.check import Check
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.choice import parameters
from hubbub.query_classes.classes import cells_of
from hubbub.query_classes.flat import Flat, PerQuery
from hubbub.query_classes.marginals.plan import SLACK
from hubbub.query_classes.residual import Residual
from hubbub.query_classes.split_tables import JointTables
from hubbub.query_classes.square_root import SquareRoot
from hubbub.query_classes.tree import Tree
from hubbub.query_classes.weights import Weights
from hubbub.sampling.sanitize import Blank, outside
from hubbub.tables.bins import rule

if TYPE_CHECKING:
    from hubbub.kinds.queries.spec import Queries

HLM: Final = "Hardt, Ligett, McSherry, A simple and practical algorithm for differentially private data release, 2012"
BLR: Final = "Blum, Ligett, Roth, A learning theory approach to non-interactive database privacy, STOC 2008"
DRV: Final = "Dwork, Rothblum, Vadhan, Boosting and differential privacy, FOCS 2010"
FACTOR: Final = (
    "Henzinger, Upadhyay, Upadhyay, Almost tight error bounds on differentially private continual counting, SODA 2023"
)
PLANNER: Final = "Xiao, He, Zhang, Kifer, An optimal and scalable matrix mechanism for noisy marginals, NeurIPS 2023"
THEOREMS: Final = {
    "per-query": Theorem("queries.per-query", "noise on each answer, over the most a person is in", DMNS),
    "split-tables": Theorem("queries.split-tables", "noise on every table for its share, and least squares", DMNS),
    "joint-tables": Theorem("queries.joint-tables", "noise on some tables for their shares, and least squares", DMNS),
    "histogram": Theorem("queries.histogram", "noise on every cell", DMNS),
    "tree": Theorem("queries.tree", "noise on every run of a tree, over its levels", DMNS),
    "mwem": Theorem("queries.mwem", "rounds of an exponential mechanism and a noisy answer", f"{HLM}; {HERE}"),
    "small-database": Theorem("queries.small-database", "the exponential mechanism over small databases", BLR),
    "residual": Theorem("queries.residual", "Gaussian noise on the residual of every table", f"{PLANNER}; {HERE}"),
    "square-root": Theorem(
        "queries.square-root", "Gaussian noise on a factor of the running sums", f"{FACTOR}; {HERE}"
    ),
    "boosting": Theorem("queries.boosting", "draws by weights, and noise on what is drawn", f"{DRV}; {HERE}"),
}
HALF_WAY: Final = Theorem(
    "implied.sanitize-half-way", "Theorem A1' (sample and sanitize, nobody half way)", f"{GLP}; {BBG}; {HERE}"
)
ANY_ROW: Final = Theorem("implied.sanitize-sample", "Theorem A1 (sample and sanitize)", f"{BBG}; {HERE}")
REPLACED: Final = Theorem("sampled.replaced", "amplification by sampling without replacement", BBG)
ONE_CELL: Final = Assumption("queries.one-cell", "each person is in one cell of the declared domain, or in none")
ROW_IN_CELL: Final = Assumption("queries.row-in-cell", "each row is in one cell of the declared domain, or in none")
NOBODY: Final = Assumption("queries.nobody", "a blank row is in no cell, and so half way between any two people")


def noise_rates(spec: Queries) -> tuple[Fraction, ...]:
    """Of the noise on the published numbers; none where the numbers are drawn in another way."""
    method, setting = spec.method, spec.setting
    if isinstance(method, Tree):
        return tuple(dict.fromkeys(method.rates(setting)))
    if isinstance(method, JointTables):
        return tuple(dict.fromkeys(method.noise(setting).rates))
    return (method.rate(setting),) if isinstance(method, Flat | PerQuery | Weights | Boosting) else ()


def gaussian_noises(spec: Queries) -> tuple[GaussianNoise, ...]:
    """The Gaussian noise that all answers are computed from, for one person more or less; nothing where it is of another
    kind, or where a number of people is enforced."""
    if isinstance(spec.method, Residual) and spec.enforced_number is None:
        return spec.method.noise(spec.setting).noises
    if isinstance(spec.method, SquareRoot):
        return (spec.method.noise(spec.setting),)
    return ()


def promises(spec: Queries) -> tuple[Derivation, ...]:
    """Every promise of the release, the mechanism's own first.

    Guarantee: each is a theorem applied to the one before; nothing here depends on the data. A description whose
    method loses more than its epsilon allows is refused.
    """
    why = spec.method.why_not(spec.setting)
    if why:
        raise Refused(f"the method {spec.method.name} cannot answer {spec.request.of}: {why}; get the original")
    if spec.method.spends(spec.setting) > spec.loss:
        raise Refused("the method loses more than the description says; get the original")
    if not spec.zero_knowledge:
        if spec.loss * spec.request.sensitivity.l1 > spec.request.epsilon:
            raise Refused("the method may lose more than epsilon; get the original")
        if spec.enforced_number is None:
            own = _promise_to_rows(spec) if spec.unit.counts_rows else _own(spec, _claim(spec))
            noises = gaussian_noises(spec)
            beside = of_noise(*noises, people=spec.people, assumptions=own.assumptions) if noises else None
            return (own,) if beside is None else (own, beside)
    claim = DifferentialPrivacy(epsilon=spec.replaced_loss, delta=_checked_delta(spec), neighbours=Neighbours.REPLACE)
    own = _own(spec, claim)
    return _promises_of_sample(spec, own, spec.replaced_loss) if spec.zero_knowledge else (own,)


def _claim(spec: Queries) -> DifferentialPrivacy:
    return DifferentialPrivacy(epsilon=spec.request.epsilon, delta=_checked_delta(spec))


def _promise_to_rows(spec: Queries) -> Derivation:
    """What is promised to people of whom several rows count.

    Guarantee: with Gaussian noise, epsilon with the delta of Lemma C for the squared lengths by which all kept rows of a
    person move what is drawn. Else the method's loss for one row, as many times as the bounds leave rows of a person
    (:func:`hubbub.kinds.histogram.promises.several_rows`).
    """
    if gaussian_noises(spec):
        return _own(spec, _claim(spec))
    of_one_row = _own(spec, DifferentialPrivacy(epsilon=spec.loss))
    return several_rows(of_one_row, spec.unit, cells_of(spec.queries.shape))


def _checked_delta(spec: Queries) -> Fraction:
    """Guarantee: the delta of Lemma C where the noise is Gaussian, and 0 elsewhere; refused if it is too large."""
    delta = Fraction(0)
    if isinstance(spec.method, Residual | SquareRoot):
        delta = spec.method.spent_delta(spec.setting)
    if delta > spec.request.delta:
        raise Refused("the noise of the tables has a larger delta than the description says; get the original")
    return delta


def _own(spec: Queries, claim: DifferentialPrivacy) -> Derivation:
    given = {
        name: value
        for name, value in parameters(spec.method).items()
        if name not in ("name", "delta", "variances", "weights", "shares", "measured", "parts")
    }
    if isinstance(spec.method, Residual):
        plan = spec.method.noise(spec.setting)
        rho = rounded(plan.rho, up=True, digits=9)
        given |= {"tables": len(plan.s2), "rho": rho, "delta_out": claim.delta}
        if spec.unit.counts_rows:
            given |= {"moved": spec.request.sensitivity.l1, "squares": spec.request.sensitivity.l2_squared}
    if isinstance(spec.method, SquareRoot):
        given |= {"rho": rounded(spec.method.noise(spec.setting).rho, up=True, digits=9), "delta_out": claim.delta}
    declared: tuple[Assumption, ...] = ()
    if spec.request.people is not None:
        sentence = "it is public and true that there are {people} people in the table"
        declared = (Assumption("queries.people", sentence, texts(people=spec.request.people)),)
    return state_promise(
        claim,
        theorem=THEOREMS[spec.method.name],
        numbers=(("of", spec.request.of), *texts(**given, loss=spec.loss)),
        assumptions=(
            PARTITION,
            ROW_IN_CELL if spec.unit.counts_rows else ONE_CELL,
            *map(rule, spec.request.axes),
            spec.unit.assumption,
            *declared,
        ),
        people=spec.people,
    )


def residual_checks(spec: Queries, method: Residual) -> Iterator[Check]:
    """The delta of all tables from their variances, and the plan against the least error there is for its rho.

    Guarantee: the delta is that of Lemma C; the dual value, worked out again, bounds the variance of every plan from
    below.
    """
    delta = method.spent_delta(spec.setting)
    found = f"{to_text(delta)} of {to_text(spec.request.delta)}"
    yield Check("the delta of all tables together", delta <= spec.request.delta, found)
    above = method.above_least(spec.setting)
    yield Check(
        "the plan of the noise", above <= SLACK, f"{float(above):.4f} times the least {method.objective} variance"
    )


def _promises_of_sample(spec: Queries, own: Derivation, loss: Fraction) -> tuple[Derivation, ...]:
    """Guarantee: Theorem A1, or A1' where nobody is half way between any two people, with the sample that the release
    names; and under replacement what sampling without replacement makes of the same loss."""
    k, n, blank = spec.request.rows, spec.request.people, spec.method.blank
    assert k is not None and n is not None
    reached = outside(k, n, loss, blank=blank).epsilon_zk
    if reached > spec.request.epsilon:
        raise Refused("on that sample the method loses more than epsilon; get the original")
    known = (SYMMETRIC, SECRET, PUBLIC_SIZES)
    knowledge = own.then(
        HALF_WAY if blank is Blank.HALF_WAY else ANY_ROW,
        ZeroKnowledge(epsilon=spec.request.epsilon, aggregate=RandomSample(k=k, n=n)),
        numbers=texts(k=k, n=n, epsilon=loss, epsilon_out=spec.request.epsilon),
        assumptions=(*known, NOBODY if blank is Blank.HALF_WAY else BLANK),
    )
    smaller = subsampled_loss(loss, Fraction(k, n))
    replaced = own.then(
        REPLACED,
        DifferentialPrivacy(epsilon=smaller, neighbours=Neighbours.REPLACE),
        numbers=texts(k=k, n=n, epsilon=loss, epsilon_out=smaller),
        assumptions=known,
    )
    return knowledge, replaced
