"""What a secret survey buys: the theorem on its law, the note's numbers, and one sample for all releases of a survey."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import hubbub
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours
from hubbub.guarantees.derivation import Theorem, state_promise
from hubbub.guarantees.people import People
from hubbub.guarantees.survey import PoissonSurvey, promise_to_population
from hubbub.ledger.ledger import Ledger

FINE = Fraction(1, 10**9)


def lost(rate: float, counted: int, chance: float) -> float:
    """The largest loss of somebody of the population, by the law of what comes out: noise of so much for each step on
    a count that they move by `counted` steps with this chance, and not else."""
    reach = 40 + counted
    worst = 0.0
    for outcome in range(-reach, reach + 1):
        without = math.exp(-rate * abs(outcome))
        taken = math.exp(-rate * abs(outcome - counted))
        worst = max(worst, abs(math.log(((1 - chance) * without + chance * taken) / without)))
    return worst


@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1, 2), Fraction(2), Fraction(6)])
@pytest.mark.parametrize(("largest", "step"), [(20, 1), (20, 5), (3, 1), (8, Fraction(1, 2)), (50, 2)])
def test_nobody_of_the_population_loses_more_than_the_theorem_says(epsilon: Fraction, largest: int, step: Any) -> None:
    """Every weight from 1 on, in twentieths: taken with a chance of 1 over it, counted with the nearest step."""
    survey = PoissonSurvey(weight="w", largest=Fraction(largest), step=Fraction(step))
    bound = survey.population_loss(epsilon)
    assert isinstance(bound, Fraction)
    rate = float(epsilon / largest * step)  # of the noise, for each step
    worst = 0.0
    for weight in sorted({Fraction(tenths, 20) for tenths in range(20, 20 * largest + 60)}):
        counted = math.floor(min(weight, Fraction(largest)) / step + Fraction(1, 2))
        counted = min(counted, int(Fraction(largest) / step))
        worst = max(worst, lost(rate, counted, float(1 / weight)))
    assert worst <= float(bound) * (1 + 1e-9)
    assert worst == pytest.approx(float(bound), rel=1e-9)  # halves of steps are among them


@pytest.mark.parametrize(
    ("rate", "weight", "ratio"),
    [
        (".01", 5, 1.02), (".01", 10, 1.05), (".01", 50, 1.29), (".01", 100, 1.70),
        (".1", 5, 1.22), (".1", 10, 1.59), (".1", 50, 13.7), (".1", 100, 54),
    ],
)  # fmt: skip
def test_the_numbers_of_the_theorem(rate: str, weight: int, ratio: float) -> None:
    survey = PoissonSurvey(weight="w", largest=Fraction(weight), step=FINE)
    loss = survey.population_loss(Fraction(rate) * weight)
    assert float(loss / Fraction(rate)) == pytest.approx(ratio, rel=0.01)  # type: ignore[operator]


def test_two_releases_of_one_survey_add_inside() -> None:
    survey = PoissonSurvey(weight="w", largest=Fraction(10), step=FINE)
    assert float(survey.population_loss(Fraction(2))) == pytest.approx(0.494, abs=0.001)  # type: ignore[arg-type]
    assert float(survey.population_loss(Fraction(1))) == pytest.approx(0.159, abs=0.001)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words", [{"largest": 1}, {"largest": 0}, {"largest": 2, "step": 2}, {"step": 0}, {"step": -1}, {"weight": ""}]
)
def test_a_survey_that_is_none_is_one_sentence(words: dict[str, Any]) -> None:
    given = {"weight": "w", "largest": 10, "step": 1, **words}
    with pytest.raises(WrongUse, match="more than one person"):
        PoissonSurvey(weight=given["weight"], largest=Fraction(given["largest"]), step=Fraction(given["step"]))


@pytest.mark.parametrize(
    "claim",
    [
        DifferentialPrivacy(epsilon=Fraction(1), delta=Fraction(1, 100)),
        DifferentialPrivacy(epsilon=Fraction(1), neighbours=Neighbours.REPLACE),
        DifferentialPrivacy(epsilon=Fraction(1), group=2),
    ],
)
def test_it_starts_from_one_person_without_a_delta(claim: DifferentialPrivacy) -> None:
    premise = state_promise(claim, theorem=Theorem("x", "a premise", "here"), people=People(person="id"))
    with pytest.raises(Refused, match="one person added or removed, without a delta"):
        promise_to_population(premise, PoissonSurvey(weight="w", largest=Fraction(10), step=Fraction(1)))


# --- in the ledger --------------------------------------------------------------------------------------------------


def test_the_ledger_adds_the_losses_of_a_survey_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("survey.csv").write_text("id,age,w\n" + "".join(f"{i},{i % 90},{1 + i % 20}\n" for i in range(400)))
    people = hubbub.open("survey.csv", person="id")
    weights: dict[str, Any] = {"weight": "w:0..20:0.5", "poisson_survey": True}
    survey = PoissonSurvey(weight="w", largest=Fraction(20), step=Fraction(1, 2))
    first = people.count(where="age >= 65", epsilon="2", **weights)
    alone = [step for step in first.promises if "population" in str(step.people)]
    assert [step.conclusion.epsilon for step in alone] == [survey.population_loss(Fraction(2))]  # type: ignore[union-attr]
    people.mean("age:0..90:1", epsilon="1", **weights)
    people.fraction(where="age >= 65", epsilon="1", **weights)
    totals = Ledger().account("survey").totals
    assert totals is not None
    loss = totals.population.guarantee.epsilon  # type: ignore[union-attr]
    assert loss == survey.population_loss(Fraction(4))
    assert loss > survey.population_loss(Fraction(2)) + 2 * survey.population_loss(Fraction(1))  # type: ignore[operator]
    first.save("out")
    assert hubbub.verify("out/certificate.json").passed
    assert "secret survey" in str(hubbub.explain("out/certificate.json"))
    with pytest.raises(Refused, match="collected in one way"):
        people.count(where="age >= 65", epsilon="1", weight="w:0..40:0.5", poisson_survey=True)
    people.count(where="age >= 65", epsilon="1")  # which is not weighted
    totals = Ledger().account("survey").totals
    assert totals is not None
    assert totals.population.derivation is None
    assert "not weighted" in totals.population.why
    assert Ledger().check()
