"""Every option of every channel; which of them a channel needs, the catalogue says."""

from __future__ import annotations

from typing import Final

from hubbub.protocol.option import Option

CHANNEL: Final = Option(name="channel", takes="NAME", help="Which channel; hubbub channel list names them all.")

OPTIONS: Final[tuple[Option, ...]] = (
    Option(name="k", takes="N", help="The size of a crowd."),
    Option(name="epsilon", takes="EPS", help="The privacy loss; with k, often that of k people together."),
    Option(name="tagged", takes=None, help="Say of each value whether it is exact or noisy (noisy-below)."),
    Option(name="alpha", takes="A", help="Offsets alpha/epsilon, rounded up, with the paper's claim."),
    Option(name="offset", takes="S", help="The threshold stands at k + S."),
    Option(
        name="delta", takes="D", help="Thresholds, offsets or factors that are the smallest with a delta of at most D."
    ),
    Option(name="thresholds", takes="K1,K2,..", help="The crowd sizes of a staircase, falling."),
    Option(name="epsilons", takes="E0,E1,..", help="The losses of a staircase, falling, one more than thresholds."),
    Option(name="offsets", takes="S1,S2,..", help="One offset per threshold of a staircase."),
    Option(name="as_printed", takes=None, help="The staircase as the paper prints it, not nested."),
    Option(
        name="curve",
        takes="CURVE",
        help="A loss for each crowd size: 1:0.01,101:1 or slope:0.01<=1; 0 and inf are allowed.",
    ),
    Option(
        name="estimator",
        takes="NAME",
        help="count, epsilon-global, epsilon-smooth, scale-global or scale-smooth (lower-bound).",
    ),
    Option(name="epsilon_a", takes="EPS", help="What the estimate of the curve may cost (lower-bound)."),
    Option(name="delta_a", takes="D", help="The same for delta, with the smooth estimators."),
    Option(name="grid", takes="U", help="The step on which the estimate is rounded."),
    Option(name="t", takes="T", help="How far below K the noise starts to shrink (lecture)."),
    Option(name="K", takes="N", help="The crowd size from which nobody is rare (lecture)."),
    Option(name="factor", takes="C", help="Claim C times the curve of the lecture notes."),
    Option(name="show_above", takes="T", help="Hide values up to T (warped); this costs no privacy."),
)
