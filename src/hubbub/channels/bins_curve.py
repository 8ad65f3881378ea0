"""What a sample buys a table of counts, as sharply as it is proved: the exact curve of its channel, or of all like it.

People of one bin blend exactly, so the worst table of counts whose counts below k lose at most epsilon is marked noise,
and where exact counts are not marked the channel's own curve is lower still (:mod:`hubbub.channels.custom_curve`).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from hubbub.channels import custom_curve
from hubbub.channels.protocol import LARGEST_RATE, SMALLEST_RATE
from hubbub.guarantees.derivation import Assumption
from hubbub.numeric.exact import Exact
from hubbub.sampling.amplification import Amplified, Setting, epsilon_at
from hubbub.sampling.sampled_crowd import Case

EXACT_BINS: Final = "Theorem A (the exact curve of bins that blend exactly, and a secret sample)"
UNMARKED_NOISE: Final = "The exact curve of unmarked noise below k (Theorem A for its laws, and a secret sample)"

UNMARKED: Final = Assumption(
    "unmarked-noise",
    "counts of at least k are published as they are, smaller ones with two-sided geometric noise of the rate of "
    "removal, and nothing else says which of the two it was",
)
"""What the curve of unmarked noise uses, beyond the loss below k."""


def sharpest(setting: Setting, delta: Exact, *, unmarked: bool = False) -> Amplified:
    """The smallest epsilon that is proved at `delta` for a table of counts in every case of `setting`.

    Guarantee: as :func:`~hubbub.sampling.amplification.epsilon_at`, for a mechanism that publishes each bin of a public
    partition by itself and loses at most the `removal` of a case below its crowd; with `unmarked`, for noise below k
    that is not marked. `theorem` names what was used: the curve of all such tables of counts, that of unmarked noise,
    or that of the setting where these are not worked out.
    """
    found = [_one(setting, case, delta, unmarked) for case in setting.cases]
    return max(found, key=lambda each: each.epsilon)


def _one(setting: Setting, case: Case, delta: Exact, unmarked: bool) -> Amplified:
    single = Setting(theorem=setting.theorem, cases=(case,))
    if case.blending or case.crowd < 2 or not SMALLEST_RATE <= case.removal <= LARGEST_RATE or not _drawn(case):
        return epsilon_at(single, delta)
    found = custom_curve.own_epsilon_at(
        case.crowd, case.removal, case.rate, delta, tagged=not unmarked, own=None if case.own == case.rate else case.own
    )
    if found.theorem != custom_curve.THEOREM:
        return replace(found, theorem=setting.theorem)
    return replace(found, theorem=UNMARKED_NOISE if unmarked else EXACT_BINS)


def _drawn(case: Case) -> bool:
    return Fraction(0) < case.rate < 1 and case.own > 0
