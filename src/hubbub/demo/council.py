"""The council of Millbrook elects a chair: an invented election in which the common rules disagree."""

from __future__ import annotations

from typing import Final

from hubbub.voting.ballots import Ballots

NAME: Final = "millbrook"
"""What `hubbub vote tally` takes for this election in place of a file."""

TITLE: Final = "Millbrook elects a chair"

CANDIDATES: Final = ("Ada Bell", "Ben Cole", "Cai Dunn", "Dee Eads", "Eli Ford")

_COUNTS: Final = {
    "BA": 1210, "BD": 640, "BDA": 980, "BED": 310, "B": 600,
    "AD": 480, "ADC": 1150, "ACD": 890, "AE": 120, "A": 330,
    "DA": 520, "DAC": 610, "DBA": 470, "DC": 380, "D": 190,
    "CD": 260, "CDA": 420, "CAD": 390, "CE": 70, "C": 140,
    "ED": 90, "EBD": 60, "EA": 50, "E": 40, "": 16,
}  # fmt: skip


def ballots() -> Ballots:
    """The ballots: truncated ones, as voters cast them, and some blank."""
    name = {candidate[0]: candidate for candidate in CANDIDATES}
    return Ballots.from_counts(CANDIDATES, {tuple(name[letter] for letter in short): n for short, n in _COUNTS.items()})
