"""Where Millbrook's people live: invented places, the same every time.

Metres to the east and north of the market square. Most live in the town along the river, many in two villages, and some
on farms where nobody else is near.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

NAME: Final = "places.csv"
HALF: Final = 4_000  # metres: nobody lives further away from the square, to any side

_SEED: Final = 1852
_TOWN: Final = 9_000
_VILLAGES: Final = ((2_400, -1_900, 1_600), (-2_700, 2_300, 900))  # east, north, people
_FARMS: Final = 150


def homes() -> pa.Table:
    """Everybody with a number and a place, in no order."""
    rng = np.random.default_rng(_SEED)
    along = rng.normal(0, 900, _TOWN)
    parts = [np.column_stack([along, 350 * np.sin(along / 700) + rng.normal(0, 280, _TOWN)])]
    parts += [rng.normal((east, north), 220, (people, 2)) for east, north, people in _VILLAGES]
    parts.append(rng.uniform(-HALF, HALF, (_FARMS, 2)))
    points = np.concatenate(parts)
    points = rng.permutation(points[np.all(np.abs(points) < HALF, axis=1)]).round(1)
    return pa.table({"resident": 1 + np.arange(len(points)), "east": points[:, 0], "north": points[:, 1]})


def write(folder: Path) -> Path:
    """The same as a CSV in a folder."""
    rows = homes().to_pylist()
    lines = [",".join(("resident", "east", "north")), *(f"{r['resident']},{r['east']},{r['north']}" for r in rows)]
    file = folder / NAME
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
