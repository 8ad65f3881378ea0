"""Design weights: how many people somebody stands for, as declared beforehand; a column with a range and a step.

Whoever has the weight w counts like w people, in steps of the declared range, so that one person moves what is counted
by at most the largest weight. That is private only if a weight is a function of the person's own record and of public
numbers. Weights that were calibrated (raked, post-stratified) depend on everybody: without the only respondent of a
stratum of 1,000 the total moves by 1,000, and no noise hides that.
"""

from __future__ import annotations

from typing import Final

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Assumption
from hubbub.numeric.exact import to_text
from hubbub.protocol.option import WHOSE, Option
from hubbub.tables.bounded_column import Measure, measured

CALIBRATED: Final = (
    "calibrated weights depend on everybody, so that one person who leaves moves the number by any amount; publish "
    "unweighted or design-weighted numbers by calibration cells, and calibrate the published table to the public totals "
    "(a mean or a fraction `by` these cells, with `calibrate=FILE`)"
)
WEIGHT: Final = Option(
    "weight",
    "RANGE",
    "Design weights, column:0..W:STEP; weight w counts as w people.",
    takes="str",
)
SURVEY: Final = Option(
    "poisson_survey",
    None,
    "With `weight`: declare that the table is a secret survey, each person taken alone with chance 1/weight.",
    group=WHOSE,
    advanced=True,
)
CALIBRATED_OPTION: Final = Option(
    "calibrated",
    None,
    "The weights were raked or post-stratified: such a release is refused, and says what to do.",
    advanced=True,
)


def declared_weight(spec: str | None, calibrated: bool = False) -> Measure | None:
    """The range of the weights, or one sentence."""
    if calibrated:
        raise WrongUse(CALIBRATED)
    if spec is None:
        return None
    weight = measured(spec)
    check_weight(weight)
    return weight


def check_weight(weight: Measure) -> None:
    """Refuse a range that does not begin at 0."""
    if weight.low != 0:
        raise WrongUse(
            f"weights lie between 0 and a declared largest one, not from {to_text(weight.low)}; write "
            f"{weight.column}:0..W:STEP"
        )


def weight_sentence(weight: Measure) -> str:
    """What is done to weights and what they must be, in everyday words."""
    return (
        f"Weights above {to_text(weight.high)} count as that. They must be fixed beforehand, from a person's own record and "
        "public numbers: the promise does not hold for weights that were raked, post-stratified or scaled to a total, "
        "because those depend on everybody"
    )


def weight_rule(weight: Measure) -> Assumption:
    """What is taken for granted about them."""
    says = (
        "{column}: the weight of a person, in steps of {step} from 0 to {high}, the nearest one; what lies outside counts "
        "as the nearer end; people without one are left out; it was fixed beforehand from the person's own record and "
        "public numbers, and not calibrated"
    )
    given = (("column", weight.column), ("step", to_text(weight.step)), ("high", to_text(weight.high)))
    return Assumption("weights.design", says, given)
