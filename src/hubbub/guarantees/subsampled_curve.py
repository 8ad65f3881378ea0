"""A promise of a curve, on a secret sample that keeps each person with probability p."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from hubbub.errors import Refused
from hubbub.guarantees.curve import Curve, Piece
from hubbub.guarantees.definitions import CrowdBlending, Guarantee, OutlierPrivacy, SimpleOutlier, StaircaseOutlier
from hubbub.guarantees.derivation import BBG, HERE, Assumption, Derivation, Theorem, texts
from hubbub.guarantees.indistinguishability import mixed
from hubbub.numeric.exact import Infinite

THEOREM: Final = Theorem("sampled.curve", "Amplification by sampling, crowd by crowd", f"{BBG}; {HERE}")
LAWS: Final = Theorem(
    "sampled.curve-laws",
    "Amplification by sampling, crowd by crowd, at the delta of the sample's laws",
    f"{BBG}; {HERE}",
)
WARPED: Final = Theorem("sampled.curve-warped", "Warped noise on a sample, crowd by crowd", HERE)
SAMPLED: Final = Assumption(
    "sampled-afresh",
    "each person is kept with the probability p, independently and in secret, and then the release is made",
)


def subsampled_curve(curve: Curve, p: Fraction) -> Curve:
    """The amplified curve: an upper bound on ln(1 + p (e^epsilon(c) - 1)) at every crowd c.

    On a step that is the number itself. Along a slope it is a convex function of c that grows no faster than the slope:
    below its chord where the slope ends, and below a line of the same slope where it never does.
    """
    pieces = []
    for piece, end in curve.ends():
        value = mixed(piece.value, p)
        rate = piece.rate
        if rate and end is not None and not isinstance(value, Infinite):
            top = mixed(piece.at(end), p)
            assert not isinstance(top, Infinite)
            rate = (top - value) / (end - piece.start) if end > piece.start else Fraction(0)
        pieces.append(Piece(piece.start, value, rate))
    return Curve(tuple(pieces))


def on_a_sample(
    premise: Derivation, p: Fraction, *, of_laws: Fraction | None = None, of_warped: Curve | None = None
) -> Derivation:
    """A release of a secret sample, as a promise to the people it was drawn from.

    Guarantee: if M is (epsilon(.), delta)-outlier private and epsilon(.) never falls, then M on a sample that keeps
    each person with probability p is outlier private with the curve ln(1 + p (e^epsilon(.) - 1)) and the delta p delta:
    with m of the c - 1 others kept, the laws with and without the person are (epsilon(m + 1), delta)-close and
    epsilon(m + 1) <= epsilon(c), and only a share p of the law depends on the person. If M is (k,
    epsilon)-crowd-blending by bins, published each by itself, it is (k, ln(1 + p (e^epsilon - 1)))-crowd-blending on
    the sample: whoever has fewer than k in the bin has fewer than k kept, and whoever shares a bin is kept with the
    same probability. A smaller delta of a curve, `of_laws`, or a lower curve without a delta, `of_warped`, is the
    caller's to prove, from the laws of M.
    """
    given = premise.conclusion
    conclusion: Guarantee
    numbers, theorem = texts(p=p), THEOREM
    if isinstance(given, CrowdBlending):
        epsilon, delta = mixed(given.epsilon, p), p * given.delta
        conclusion = CrowdBlending(k=given.k, epsilon=epsilon, delta=delta)
        numbers = (*numbers, *texts(epsilon_out=epsilon), *(texts(delta_out=delta) if delta else ()))
    elif isinstance(given, OutlierPrivacy | SimpleOutlier | StaircaseOutlier):
        outlier = given if isinstance(given, OutlierPrivacy) else given.as_outlier()
        if not outlier.curve.is_monotone:
            raise Refused(f"{THEOREM} needs a curve that never falls, and {outlier.curve} does; use its envelope")
        curve, delta = subsampled_curve(outlier.curve, p), p * outlier.delta
        if of_laws is not None and of_laws < delta:
            theorem, delta = LAWS, of_laws
        if of_warped is not None and not delta:
            theorem, curve = WARPED, of_warped
        conclusion = OutlierPrivacy(curve=curve, delta=delta)
        numbers = (*numbers, ("curve_out", str(curve)), *texts(delta_out=delta))
    else:
        raise Refused(f"{THEOREM} starts from crowd-blending or a curve, and the premise is {given}")
    return premise.then(theorem, conclusion, numbers=numbers, assumptions=(SAMPLED,))
