"""Every option of every channel; which of them a channel needs, the catalogue says."""

from __future__ import annotations

from typing import Final

from hubbub.protocol.option import Option

CHANNEL: Final = Option(name="channel", metavar="NAME", help="Which channel; hubbub channel list names them all.")

OPTIONS: Final[tuple[Option, ...]] = (
    Option(name="k", metavar="N", help="The size of a crowd."),
    Option(name="epsilon", metavar="EPS", help="The privacy loss; with k, often that of k people together."),
    Option(name="tagged", metavar=None, help="Say of each value whether it is exact or noisy (noisy-below)."),
    Option(name="alpha", metavar="A", help="Offsets alpha/epsilon, rounded up, with the paper's claim."),
    Option(name="offset", metavar="S", help="The threshold stands at k + S."),
    Option(
        name="delta",
        metavar="D",
        help="Thresholds, offsets or factors that are the smallest with a delta of at most D.",
    ),
    Option(name="variance", metavar="V", help="The parameter of Gaussian noise, instead of a delta (gaussian)."),
    Option(name="thresholds", metavar="K1,K2,..", help="The crowd sizes of a staircase, falling."),
    Option(name="epsilons", metavar="E0,E1,..", help="The losses of a staircase, falling, one more than thresholds."),
    Option(name="offsets", metavar="S1,S2,..", help="One offset per threshold of a staircase."),
    Option(name="as_printed", metavar=None, help="The staircase as the paper prints it, not nested."),
    Option(
        name="curve",
        metavar="CURVE",
        help="A loss for each crowd size: 1:0.01,101:1 or slope:0.01<=1; 0 and inf are allowed.",
    ),
    Option(
        name="estimator",
        metavar="NAME",
        help="count, epsilon-global, epsilon-smooth, scale-global or scale-smooth (lower-bound).",
    ),
    Option(name="epsilon_a", metavar="EPS", help="What the estimate of the curve may cost (lower-bound)."),
    Option(name="delta_a", metavar="D", help="The same for delta, with the smooth estimators."),
    Option(name="grid", metavar="U", help="The step on which the estimate is rounded."),
    Option(name="t", metavar="T", help="How far below K the noise starts to shrink (lecture)."),
    Option(name="K", metavar="N", help="The crowd size from which nobody is rare (lecture)."),
    Option(name="factor", metavar="C", help="Claim C times the curve of the lecture notes."),
    Option(name="show_above", metavar="T", help="Hide values up to T (warped); this costs no privacy."),
)
