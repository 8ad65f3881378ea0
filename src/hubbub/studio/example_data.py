"""Millbrook, put into a folder for whoever has no table at hand: invented people and their invented friends."""

from __future__ import annotations

from pathlib import Path
from typing import Final

TABLE: Final = "millbrook.parquet"
LINKS: Final = "friends.csv"

FILLED: Final = {
    "file": TABLE,
    "question": "how-many",
    "who": "column:resident",
    "by1-use": "on",
    "by1-values": "Schools,Hospital,Mill,Town Hall,Police,Roads,Library,Ferry",
    "by1-null": "on",
    "by2-use": "on",
    "by2-low": "0",
    "by2-high": "300000",
    "by2-step": "10000",
    "by2-null": "on",
    "promise": "sample",
    "crowd": "20",
    "sample": "0.2",
    "size": "40000",
    "step": "3",
}
"""The form filled in for it, so that a newcomer starts from something that works."""


def put(folder: Path) -> None:
    """Write the town's table and its network of friends, unless they are there."""
    import pyarrow.parquet as parquet

    from hubbub.demo import friend_attack, millbrook

    if not (folder / TABLE).exists():
        parquet.write_table(millbrook.people(), folder / TABLE)
    if not (folder / LINKS).exists():
        friend_attack.write(folder)
