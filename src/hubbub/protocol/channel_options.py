"""Every option of every channel; which of them a channel needs, the catalogue says."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hubbub.protocol.option import HOW, Option

CHANNEL: Final = Option(
    "channel", "NAME", "Which channel; hubbub channel list names them all.", takes="str", group=HOW, advanced=True
)

_LIST: Final = "str | Sequence[Exact]"
OPTIONS: Final = tuple(
    replace(option, group=HOW, advanced=True)
    for option in (
        Option("k", "N", "The size of a crowd."),
        Option("epsilon", "EPS", "The privacy loss; with k, often that of k people together."),
        Option("tagged", None, "Say of each value whether it is exact or noisy (noisy-below)."),
        Option("alpha", "A", "Offsets alpha/epsilon, rounded up, with the paper's claim."),
        Option("offset", "S", "The threshold stands at k + S."),
        Option("delta", "D", "Thresholds, offsets or factors that are the smallest with a delta of at most D."),
        Option("variance", "V", "The parameter of Gaussian noise, instead of a delta (gaussian)."),
        Option("thresholds", "K1,K2,..", "The crowd sizes of a staircase, falling.", takes=_LIST),
        Option("epsilons", "E0,E1,..", "The losses of a staircase, falling, one more than thresholds.", takes=_LIST),
        Option("offsets", "S1,S2,..", "One offset per threshold of a staircase.", takes=_LIST),
        Option("as_printed", None, "The staircase as the paper prints it, not nested."),
        Option(
            "curve",
            "CURVE",
            "A loss for each crowd size: 1:0.01,101:1 or slope:0.01<=1; 0 and inf are allowed.",
            takes="str",
        ),
        Option(
            "estimator",
            "NAME",
            "count, epsilon-global, epsilon-smooth, scale-global or scale-smooth (lower-bound).",
            takes="str",
        ),
        Option("epsilon_a", "EPS", "What the estimate of the curve may cost (lower-bound)."),
        Option("delta_a", "D", "The same for delta, with the smooth estimators."),
        Option("grid", "U", "The step on which the estimate is rounded."),
        Option("t", "T", "How far below K the noise starts to shrink (lecture)."),
        Option("K", "N", "The crowd size from which nobody is rare (lecture)."),
        Option("factor", "C", "Claim C times the curve of the lecture notes."),
        Option("show_above", "T", "Hide values up to T (warped); this costs no privacy."),
    )
)
