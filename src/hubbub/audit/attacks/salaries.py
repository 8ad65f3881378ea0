"""The managers of the outlier paper's introduction: a group that differential privacy lets stand out."""

from __future__ import annotations

from typing import Final

from hubbub.audit.attacks.managers import CANDIDATES, MANAGERS, attack
from hubbub.audit.attacks.story import Story, percent
from hubbub.channels.catalogue import channel

_MECHANISMS: Final = (
    ("plain noise, epsilon 1", "geometric", {"epsilon": "1"}),
    ("warped: 0.01 up to a crowd of 100, 1 above", "warped", {"curve": "1:0.01,101:1"}),
    ("exact from 101 on, else hidden", "exact-or-suppressed", {"k": "101"}),
)


def managers() -> Story:
    """How often the best attack names the managers' bin, for three mechanisms."""
    found = [(title, attack(channel(name, **options))) for title, name, options in _MECHANISMS]
    blind = 1 / CANDIDATES
    bars = tuple((title, 100 * share, percent(share)) for title, share in (("blind guess", blind), *found))
    return Story(
        name="managers",
        title="Plain noise gives the managers' salary away",
        sentences=(
            f"{MANAGERS} managers are all in one of {CANDIDATES} salary bins, and somebody who knows everything else "
            f"asks which. Differential privacy hides one person: with epsilon 1 the bin is found "
            f"{percent(found[0][1])} of the time, where a blind guess finds it {percent(blind)} of the time.",
        ),
        numbers={"blind": blind, "plain": found[0][1], "warped": found[1][1], "suppressed": found[2][1]},
        bars=bars,
        axis="the bin is found, in percent",
        protects="Outlier privacy protects: the smaller the crowd, the less may be told, and large crowds stay exact.",
    )
