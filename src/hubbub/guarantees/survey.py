"""Privacy amplification by a secret survey, which took each person independently with probability 1/weight.

Somebody who is taken with a chance of 1/w and then counts like w people gives most of the loss of the weight back, if
nobody knows who was taken. All releases of one survey see the one sample, so what they lose adds up inside.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Final

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours
from hubbub.guarantees.derivation import HERE, Assumption, Derivation, Theorem, texts
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.guarantees.people import Whose
from hubbub.numeric.exact import Infinite, Loss, to_text
from hubbub.runtime.frozen import dataclass

SURVEYED: Final = Theorem(
    "survey.poisson", "a secret survey that takes people with a chance of 1 over their weight", HERE
)
SECRET_SURVEY: Final = Assumption(
    "survey.secret",
    "the table is a secret survey: each person of the population was taken independently of the others, with a chance "
    "of at most 1 over {weight}, their weight, and nobody knows who was taken; no clusters, no quotas, no calibration",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonSurvey:
    """A survey by Poisson sampling: whoever has the weight w in the column `weight` was taken with a chance of at most
    1/w. Weights count in steps of `step`, the nearest one, up to the `largest`."""

    weight: str
    largest: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        if not self.weight or self.step <= 0 or self.largest - self.step / 2 <= 1:
            raise WrongUse(
                f"in a survey somebody stands for more than one person; declare a largest weight above 1, and not "
                f"{to_text(self.largest)} in steps of {to_text(self.step)}"
            )

    def population_loss(self, epsilon: Loss) -> Loss:
        """What a person of the population loses, if somebody in the table with a weight of w steps loses at most their
        part w/`largest` of `epsilon`.

        Guarantee: whoever counts with w, a multiple of the step, was taken with a chance p of at most 1 and 1/(w -
        step/2), since weights are rounded by half a step at most, and larger ones are cut. They lose ln(1 + p (e^(l w)
        - 1)) with l = epsilon/largest: upwards, and downwards less. While w - step/2 is at most 1 that is l w at most,
        which rises; beyond, (e^(l w) - 1)/(w - step/2) falls and then rises, so that it is largest at the first or the
        last such w. Rounded up.
        """
        if isinstance(epsilon, Infinite):
            return epsilon
        rate, certain = epsilon / self.largest, floor(1 / self.step + Fraction(1, 2)) * self.step
        beyond = [weight for weight in (certain + self.step, self.largest) if weight <= self.largest]
        return max(rate * certain, *(subsampled_loss(rate * weight, 1 / (weight - self.step / 2)) for weight in beyond))


def promise_to_population(premise: Derivation, survey: PoissonSurvey) -> Derivation:
    """From the people of a table, who lose by their weight, to the population of which it is a secret survey.

    Guarantee: :meth:`PoissonSurvey.population_loss`, if everything that the premise covers is weighted by the survey's
    weights, as whoever calls this sees to. Several releases on one survey are one premise, whose epsilons add inside.
    """
    claim = premise.concluding(DifferentialPrivacy, SURVEYED)
    if claim.neighbours is not Neighbours.ADD_REMOVE or claim.group != 1 or claim.delta:
        raise Refused(
            f"{SURVEYED} starts from differential privacy for one person added or removed, without a delta, not from "
            f"{claim}"
        )
    loss = survey.population_loss(claim.epsilon)
    people = premise.people
    return premise.then(
        SURVEYED,
        DifferentialPrivacy(epsilon=loss),
        numbers=texts(largest=survey.largest, step=survey.step, epsilon=claim.epsilon, epsilon_out=loss),
        assumptions=(Assumption(SECRET_SURVEY.id, SECRET_SURVEY.sentence, (("weight", survey.weight),)),),
        people=None if people is None else replace(people, whose=Whose.POPULATION),
    )
