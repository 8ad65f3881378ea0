"""What several questions on one secret sample promise, derived from their public description alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from hubbub.errors import Refused
from hubbub.guarantees import composition
from hubbub.guarantees.accountant.concentrated import CKS
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours, RandomSample, ZeroKnowledge
from hubbub.guarantees.derivation import BBG, HERE, Assumption, Derivation, Theorem, state_promise, texts
from hubbub.guarantees.implications import SECRET, SYMMETRIC
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.kinds.sums.promises import REPLACED, declared, granted, of_one_replaced
from hubbub.numeric.exact import Infinite, rounded, to_text
from hubbub.numeric.format import short
from hubbub.protocol.check import Check
from hubbub.sampling.sanitize import Blank
from hubbub.tables.protection import Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.questions.spec import Questions

ONE_SAMPLE: Final = Theorem(
    "questions.one-sample", "Theorem A1' (several questions on one sample of K people)", f"{BBG}; {HERE}"
)
ONE_SAMPLE_WITH_DELTA: Final = Theorem(
    "questions.one-sample-gaussian", "Theorem A1 with a delta (several questions on one sample)", f"{BBG}; {HERE}"
)
GAUSSIAN: Final = Theorem(
    "questions.gaussian", "discrete Gaussian noise on several questions, one row replaced", f"{CKS}; {HERE}"
)
SAME: Final = Assumption("questions.same-people", "all questions are told of the same {rows} people, drawn once")


@lru_cache(maxsize=64)
def promises(spec: Questions) -> tuple[Derivation, ...]:
    """Every promise of the release.

    Guarantee: inside the sample the j-th question loses `loss_j` when one row is replaced, and all of them, with noise
    of their own, the sum (basic composition). On one sample of K of N people drawn in secret that is zero-knowledge
    private with respect to RS(K) by :func:`hubbub.sampling.sanitize.joint_epsilon` (Theorem A1', a blank for each
    question), and ln(1 + (K/N)(e^sum - 1))-differentially private when one person is replaced. Questions with Gaussian
    noise lose their part of the sum together, with the delta of Lemma C, and K/N times that is the delta of both promises
    (:mod:`hubbub.kinds.questions.gaussian`). Refused if either number is more than what is claimed.
    """
    k, n, inside = spec.rows, spec.of_people, spec.inside
    swapped = subsampled_loss(inside, spec.share)
    delta = spec.reached_delta
    if spec.reached > spec.epsilon or delta > spec.delta or isinstance(swapped, Infinite):
        raise Refused("the noise is too little for the epsilon that is claimed; raise one of them")
    each = [
        of_one_replaced(statistic, question.loss)
        for statistic, question in zip(spec.statistics, spec.asked, strict=True)
        if question.variance is None
    ]
    if spec.gaussian:
        each.append(_of_gaussian(spec))
    inner = composition.differential(*each) if len(each) > 1 else each[0]
    knowledge = spec.statistics[0].protection
    assert isinstance(knowledge, Knowledge)
    names, failing = texts(k=k, n=n, epsilon=inside), texts(delta_out=delta) if spec.gaussian else ()
    used = (SYMMETRIC, SECRET, declared(knowledge), Assumption(SAME.id, SAME.sentence, texts(rows=k)))
    knows = inner.then(
        ONE_SAMPLE_WITH_DELTA if spec.gaussian else ONE_SAMPLE,
        ZeroKnowledge(epsilon=spec.epsilon, delta=delta, aggregate=RandomSample(k=k, n=n)),
        numbers=(*names, *(() if spec.gaussian else _blanks(spec)), *texts(epsilon_out=spec.epsilon), *failing),
        assumptions=used,
    )
    private = inner.then(
        REPLACED,
        DifferentialPrivacy(epsilon=swapped, delta=delta, neighbours=Neighbours.REPLACE),
        numbers=(*names, *texts(epsilon_out=swapped), *failing),
        assumptions=used,
    )
    return knows, private


def _of_gaussian(spec: Questions) -> Derivation:
    """All questions with Gaussian noise, one row of the sample replaced.

    Guarantee: (epsilon, delta)-close with the delta of Lemma C, where one person moves the numbers of each question as
    `Statistic.sensitivity` says and one replaced by another by at most the root of 2 times that length.
    """
    asked = [each for each in spec.statistics if each.gaussian is not None]
    return state_promise(
        DifferentialPrivacy(epsilon=spec.inside_gaussian, delta=spec.inside_delta, neighbours=Neighbours.REPLACE),
        theorem=GAUSSIAN,
        numbers=texts(
            questions=len(asked),
            rho=rounded(sum((each.rho for each in spec.noises), Fraction(0)), up=True, digits=9),
            epsilon=spec.inside_gaussian,
            moved=sum(each.moved for each in spec.noises),
        ),
        assumptions=tuple(dict.fromkeys(step for each in asked for step in granted(each))),
        people=spec.people,
    )


def _blanks(spec: Questions) -> tuple[tuple[str, str], ...]:
    """How much is lost by questions to which the blank is in no bin, and by each to which it is a coin."""
    half = sum((each.loss for each in spec.asked if each.blank(spec.unit) is Blank.HALF_WAY), Fraction(0))
    coin_losses = sorted(each.loss for each in spec.asked if each.blank(spec.unit) is Blank.COIN)
    return (*texts(in_no_bin=half), ("coins", ", ".join(map(to_text, coin_losses)) or "none"))


def checks(spec: Questions) -> Iterator[Check]:
    """Every mechanism, then their sum through the sample.

    Guarantee: a check that passed means that the claim holds: of each question's noise by how far one person moves what
    it is added to, or by exact laws on small tables; of all of them by Theorem A1'.
    """
    for question, statistic in zip(spec.asked, spec.statistics, strict=True):
        for check in statistic.mechanism_checks() if question.variance is None else ():
            yield Check(f"{question.name}: {check.what}", check.passed, check.found)
    found = (
        f"losing {to_text(spec.inside)} inside, tell no more than {spec.rows:,} of {spec.of_people:,} people, up to "
        f"epsilon = {short(spec.epsilon, 9)} (Theorem A1{' with a delta' if spec.gaussian else chr(39)})"
    )
    if spec.gaussian:
        delta = spec.reached_delta
        says = f"{short(delta, 9)} of {short(spec.delta, 9)}, by Lemma C for all of them and the share that is drawn"
        yield Check("the delta of all questions together", delta <= spec.delta, says)
    yield Check("all questions on one sample", spec.reached <= spec.epsilon, found)
