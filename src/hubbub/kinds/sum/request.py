"""From options to the spec of a sum; and its kind."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final, Unpack

from hubbub.errors import WrongUse
from hubbub.guarantees.curve import read as curve_of
from hubbub.kinds.histogram.request import ROWS, UNIQUE
from hubbub.kinds.sum.octaves import Tailored
from hubbub.kinds.sum.spec import Sum
from hubbub.kinds.sums.request import (
    BY,
    DISTINCT,
    OF,
    ONE_ROW,
    PROTECTED,
    TOTALS,
    WHERE,
    Protecting,
    common_fields,
    protected,
    with_noise,
)
from hubbub.kinds.sums.spec import read
from hubbub.kinds.sums.weights import CALIBRATED_OPTION, WEIGHT, declared_weight
from hubbub.numeric.exact import Exact, positive, rational
from hubbub.protocol.option import Option
from hubbub.protocol.spec import Kind
from hubbub.tables.bins import declared_size
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import Condition
from hubbub.tables.privacy_unit import Unit, of_options

AUTO: Final = "auto"
IN_LAYERS: Final = "layers"


def cap_share_for(bins: int) -> Fraction:
    """The part of epsilon that the choice of a cap gets where none is said.

    With many bins a cap that is somewhat off costs each of them little, so that less is spent on it; benchmarks/defaults.py
    compares the parts. It is a public decision: any part keeps the promise.
    """
    return Fraction(1, 5) if bins < 10 else Fraction(1, 10) if bins < 40 else Fraction(1, 20)


def total(
    *,
    of: str | None = None,
    by: Sequence[str] = (),
    where: str | Condition | None = None,
    cap: Exact | None = None,
    cap_per_bin: Exact | None = None,
    cap_share: Exact | None = None,
    lost: Exact | None = None,
    cap_max: Exact | None = None,
    weight: str | None = None,
    calibrated: bool = False,
    tailored: str | None = None,
    delta: Exact | None = None,
    noise: str | None = None,
    coverage: Exact = "0.95",
    totals: bool = False,
    unit: Unit | None = None,
    **protecting: Unpack[Protecting],
) -> Sum:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if of is None:
        raise WrongUse("say what is added up, with its range and step: `of=cost:0..50000:1`")
    common = common_fields(by, where, coverage, unit)
    in_crowds = any(protecting.get(name) is not None for name in ("crowd", "zero_knowledge"))
    word = cap.strip().lower() if isinstance(cap, str) else None
    if word is not None and word.isalpha() and word not in (AUTO, IN_LAYERS):
        raise WrongUse(f"a cap is a number, auto or layers, not {word[:40]!r}; choose one of these")
    several = unit is not None and unit.counts_rows
    # Layers tell least where noise drowns large values: a chosen cap errs less wherever one can be chosen.
    can_choose = measured(of).low >= 0 and not (several and in_crowds) and noise != "gaussian"
    can_choose &= cap_per_bin is None and lost is None and weight is None
    auto = word == AUTO or (cap is None and can_choose)
    share = None if cap_share is None else rational(cap_share, "cap-share")
    if share is not None and not auto:
        raise WrongUse("`cap_share` is for a cap that is drawn; say `cap='auto'`, or leave it out")
    if auto and share is None and tailored is None:
        share = cap_share_for(declared_size(common["axes"]) or 1)
    loss = None
    if tailored is not None:
        if noise is not None or protecting.get("epsilon") is not None or in_crowds:
            raise WrongUse(
                "a tailored loss says everything; leave out `epsilon`, `crowd`, `zero_knowledge` and `mechanism`"
            )
        if cap is not None or cap_share is not None:
            raise WrongUse("a tailored sum is in bands up to the declared maximum and needs no cap; leave the cap out")
        curve = curve_of(tailored)
        if curve.lowered:
            raise WrongUse("the curve of a tailored loss must never fall, as in 1:0.2,101:1; let it rise")
        loss = Tailored(curve.curve, positive(delta or "1e-9", "delta"))
        protecting["epsilon"], delta = loss.limit, None
    found = Sum(
        **common,
        protection=protected(False, 1 - common["coverage"], **protecting),
        subtotals=totals,
        of=measured(of),
        cap=None if cap is None or auto or word == IN_LAYERS else positive(cap, "cap"),
        cap_per_bin=None if cap_per_bin is None else positive(cap_per_bin, "cap-per-bin"),
        cap_share=share,
        lost=None if lost is None else rational(lost, "lost"),
        cap_max=None if cap_max is None else positive(cap_max, "cap-max"),
        weight=declared_weight(weight, calibrated),
        tailored=loss,
    )
    return with_noise(found, noise, delta)


def from_options(**options: Any) -> Sum:
    """Build the spec from the options of a command."""
    unit, rest = of_options(options)
    return total(unit=unit, **rest)


_TOWN: Final = "hubbub-demo/millbrook.parquet --person resident"

KIND = Sum.kind = Kind(
    name="sum",
    wire="sum/1",
    help="""Publish the total of a column, over all people or over those of each bin.

RANGE is declared: column:LOW..HIGH. Values below LOW count as LOW, those above HIGH as HIGH, all to the nearest STEP
(column:LOW..HIGH:STEP says which; else it is fine enough not to be seen); people without a value add nothing. Nothing about it may be found in the data.

Nobody counts with more than a cap, and the noise is as wide as the cap. If you know a good one from elsewhere, say it:
`cap=A`. Otherwise a part of epsilon (`cap_share`: a fifth, with many bins less) is spent on choosing one in private, such
that few people lie above it. `lost=0.1`, with a cap that you say, spends a tenth of epsilon on how many people are above
it and on between what bounds the lost total lies, up to `cap_max` (what a person could have at most). Values below 0
need a cap that you say.

`cap='layers'` has no cap: totals are cut into octaves (1, 2, 4 ... steps, up to HIGH), each with noise as wide as it is.
The sum is told up to the first octave that the noise drowns, with an interval up to HIGH. It errs several times as much,
and whoever has little loses much less than epsilon: the certificate says how much by value. Weighted sums, Gaussian noise
and crowds of people with several rows use it if you say no cap.

Say how people are protected, in one way: `epsilon=E` (differential privacy for one person more or less; with `delta=D`
the noise of a cap that is said, or of layers, is geometric or Gaussian, whichever has less error), `crowd=K`
`epsilon=E` (people of a bin could stand in each other's place, up to E; smaller bins are hidden),
`tailored=CURVE` (the fewer people have about as much, the less each loses: 1:0.2,101:1 is 0.2 among up to 100; values
from 0, no cap), or `zero_knowledge=EPS` `rows=K` `people=N` (whatever is learnt about you, K random people out of N would have told as
well, up to EPS). SPEC declares bins, as for a histogram.

A person with several rows counts by at most M of them (`rows_per_person=M`, perhaps with `distinct=B` bins and
`rows_per_bin=C` rows in each), with `epsilon=E`: layers and caps are then of what a person has together, in a bin
(`cap_per_bin=A`) or in all (`cap=A`, or the chosen one). With M = 1000000 all rows count; a cap alone is then what
bounds a person. Or by one of them (`one_row_per_person=True`). Without such a word a table where somebody has several rows is refused, for you
alone.""",
    examples=(
        f"hubbub release sum {_TOWN} --of salary:0..300000:1000 --epsilon 1 --out total/",
        f"hubbub release sum {_TOWN} --of salary:0..300000:1000 --cap 150000 --lost 0.1 --epsilon 1 --out capped/",
    ),
    options=(
        OF,
        BY,
        TOTALS,
        WHERE,
        Option("cap", "A", "The most that a person counts with; auto (chosen in private) or layers."),
        Option("cap_per_bin", "A", "Several rows: the most that a person counts with in one bin.", advanced=True),
        Option("cap_share", "S", "The part of epsilon for choosing a cap (0.2; with many bins less).", advanced=True),
        Option("lost", "S", "With a cap: a part of epsilon for what it cut off, like 0.1.", advanced=True),
        Option("cap_max", "A", "With `lost`: up to where that is told (HIGH times M).", advanced=True),
        WEIGHT,
        CALIBRATED_OPTION,
        ONE_ROW,
        UNIQUE,
        DISTINCT,
        *ROWS,
        Option("tailored", "CURVE", "A loss by how many have about as much: 1:0.2,101:1.", takes="str"),
        *(each for each in PROTECTED if each.name not in ("sample", "at_delta")),
    ),
    from_options=from_options,
    from_json=partial(read, Sum),
)
