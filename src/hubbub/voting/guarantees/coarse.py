"""What a coarse belief is, in one sentence, with the poll that a voter must have seen to believe finer."""

from __future__ import annotations

from fractions import Fraction

from hubbub.voting.figures import approximately


def coarse_sentence(alpha: Fraction) -> str:
    """For a coarseness above 0 and at most 1.

    >>> print(coarse_sentence(Fraction(156, 1000))[:99])
    A belief is 0.156-coarse when its probabilities are whole multiples of one number of at least 0.156
    """
    alpha_text, most = approximately(alpha, digits=3), alpha.denominator // alpha.numerator
    ballots = "one ballot" if most == 1 else f"{most:,} ballots"
    return (
        f"A belief is {alpha_text}-coarse when its probabilities are whole multiples of one number of at least {alpha_text}, as "
        f"the shares of {ballots} are; a voter who goes by the shares of a poll of {most + 1:,} ballots or more may "
        "believe finer, and nothing is promised to her."
    )


def covers(alpha: Fraction) -> str:
    """Whom a promise for alpha-coarse beliefs is for, in words."""
    if alpha <= 0:
        return "it covers every belief"
    most = alpha.denominator // alpha.numerator
    alpha_text = approximately(alpha, digits=3)
    return f"it covers every belief that is at least {alpha_text}-coarse, like the shares of a poll of {most:,} ballots"
