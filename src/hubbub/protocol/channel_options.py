"""Every option of every channel; which of them a channel needs, the catalogue says."""

from __future__ import annotations

from typing import Final

from hubbub.protocol.option import HOW, Option

CHANNEL: Final = Option(
    "channel", "NAME", "Which channel; hubbub channel list names them all.", takes="str", group=HOW, advanced=True
)

_LIST: Final = "str | Sequence[Exact]"
OPTIONS: Final[tuple[Option, ...]] = (
    Option("k", "N", "The size of a crowd.", group=HOW, advanced=True),
    Option("epsilon", "EPS", "The privacy loss; with k, often that of k people together.", group=HOW, advanced=True),
    Option("tagged", None, "Say of each value whether it is exact or noisy (noisy-below).", group=HOW, advanced=True),
    Option("alpha", "A", "Offsets alpha/epsilon, rounded up, with the paper's claim.", group=HOW, advanced=True),
    Option("offset", "S", "The threshold stands at k + S.", group=HOW, advanced=True),
    Option(
        "delta",
        "D",
        "Thresholds, offsets or factors that are the smallest with a delta of at most D.",
        group=HOW,
        advanced=True,
    ),
    Option("thresholds", "K1,K2,..", "The crowd sizes of a staircase, falling.", takes=_LIST, group=HOW, advanced=True),
    Option(
        "epsilons",
        "E0,E1,..",
        "The losses of a staircase, falling, one more than thresholds.",
        takes=_LIST,
        group=HOW,
        advanced=True,
    ),
    Option("offsets", "S1,S2,..", "One offset per threshold of a staircase.", takes=_LIST, group=HOW, advanced=True),
    Option("as_printed", None, "The staircase as the paper prints it, not nested.", group=HOW, advanced=True),
    Option(
        "curve",
        "CURVE",
        "A loss for each crowd size: 1:0.01,101:1 or slope:0.01<=1; 0 and inf are allowed.",
        takes="str",
        group=HOW,
        advanced=True,
    ),
    Option(
        "estimator",
        "NAME",
        "count, epsilon-global, epsilon-smooth, scale-global or scale-smooth (lower-bound).",
        takes="str",
        group=HOW,
        advanced=True,
    ),
    Option("epsilon_a", "EPS", "What the estimate of the curve may cost (lower-bound).", group=HOW, advanced=True),
    Option("delta_a", "D", "The same for delta, with the smooth estimators.", group=HOW, advanced=True),
    Option("grid", "U", "The step on which the estimate is rounded.", group=HOW, advanced=True),
    Option("t", "T", "How far below K the noise starts to shrink (lecture).", group=HOW, advanced=True),
    Option("K", "N", "The crowd size from which nobody is rare (lecture).", group=HOW, advanced=True),
    Option("factor", "C", "Claim C times the curve of the lecture notes.", group=HOW, advanced=True),
    Option("show_above", "T", "Hide values up to T (warped); this costs no privacy.", group=HOW, advanced=True),
)
