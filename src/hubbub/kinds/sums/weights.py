"""Design weights: how many people somebody stands for, as declared beforehand; a column with a range and a step.

Whoever has the weight w counts like w people, in steps of the declared range, so that one person moves what is counted
by at most the largest weight. That is private only if a weight is a function of the person's own record and of public
numbers. Weights that were calibrated (raked, post-stratified) depend on everybody: without the only respondent of a
stratum of 1,000 the total moves by 1,000, and no noise hides that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Assumption
from hubbub.noise.source import Source
from hubbub.numeric.exact import to_text
from hubbub.protocol.option import WHOSE, Option
from hubbub.tables.bounded_column import Measure, measured
from hubbub.tables.engine import CountQuery, ExactCounts

if TYPE_CHECKING:
    from hubbub.tables.engine import Engine

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


# --- counted by value and weight together -----------------------------------------------------------------------


def weighted_counts(query: CountQuery, steps: int, weight: Measure, engine: Engine, source: Source) -> ExactCounts:
    """The sum of the weights of the people of every bin, in steps, and, where something is measured, that of their
    weights times their steps x: whole numbers of any size.

    Whoever has no weight, or is in no bin, is left out.
    """
    by_bin: dict[int, tuple[int, int]] = {}
    width = 1 if query.measure is None else steps + 1
    for code, each, count in weight_cells(query, weight, engine, source):
        place, x = divmod(code, width)
        total, part = by_bin.get(place, (0, 0))
        by_bin[place] = total + count * each, part + count * each * x
    numbers = list(by_bin.values())
    return ExactCounts(
        np.array(list(by_bin), dtype=np.int64),
        np.array([total for total, _ in numbers], dtype=object),
        (),
        None if query.measure is None else tuple(part for _, part in numbers),
    )


def weight_cells(
    query: CountQuery, weight: Measure, engine: Engine, source: Source
) -> Iterator[tuple[int, int, int]]:  # fmt: skip
    """(the code of bin and value, the weight in steps, how many people): whoever has no weight, no value or no bin is
    left out."""
    weights = replace(query, axes=(), where=None, measure=weight, by_value=True)
    joint = engine.joint_count((query, weights), source)
    cells = zip(*(codes.tolist() for codes in joint.codes), joint.counts.tolist(), strict=True)
    yield from ((code, each, count) for code, each, count in cells if code >= 0 and each >= 0)
