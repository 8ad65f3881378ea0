"""Records beside what else is called k-anonymity, for the same (epsilon, delta): from public numbers alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hubbub.errors import Refused
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.records.spec import Records
from hubbub.numeric.exact import rational, to_text
from hubbub.numeric.format import short
from hubbub.protocol.result import Comparison, DisplayTable
from hubbub.sampling.safepub import needed


def compare(spec: Records) -> Comparison:
    """This release, k-anonymity alone, and the crowd that SafePub needs for what is promised here."""
    rate = spec.cells.sample
    promised = next(
        (each.conclusion for each in spec.promises() if isinstance(each.conclusion, DifferentialPrivacy)), None
    )
    rows: list[Mapping[str, Any]] = [
        {"way": "this release", "crowd": spec.k, "rate": None if rate is None else to_text(rate)},
        {"way": "k-anonymity by a function tuned on the data", "crowd": spec.k, "rate": None},
    ]
    notes = ["k-anonymity is a property of the rows and promises nothing about whoever made them coarser."]
    if promised is None:
        notes.append("Without a secret sample there is no epsilon to compare at; add `sample=0.1`.")
    else:
        own = {"epsilon": to_text(promised.epsilon), "delta": to_text(promised.delta)}
        rows[0] = {**rows[0], **own}
        try:
            found = needed(to_text(promised.epsilon), promised.delta)
        except Refused as why:
            notes.append(f"{why}.")
        else:
            rate_text = to_text(found.rate)
            rows += [
                {"way": "SafePub (ARX)", "crowd": found.safepub, "rate": rate_text, **own},
                {"way": "this release, at the rate of SafePub", "crowd": found.exact, "rate": rate_text, **own},
            ]
            notes.append("SafePub's own formula, as ARX works it out; it takes the largest rate that it can.")
    lines = tuple(((row["way"],), tuple(_cell_text(row.get(name)) for name in _NUMBERS), False) for row in rows)
    return Comparison(DisplayTable(("to the same end",), _NUMBERS, lines, tuple(notes)), tuple(rows))


_NUMBERS = ("crowd", "rate", "epsilon", "delta")


def _cell_text(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else short(rational(str(value)))
