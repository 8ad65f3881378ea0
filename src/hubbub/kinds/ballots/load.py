"""A published table of ballots, read back, and whether it can be one: from the official record and the table alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hubbub.errors import CheckFailed
from hubbub.kinds.ballots.mechanism import Ways, in_columns
from hubbub.kinds.ballots.noisy_prefixes import STOP
from hubbub.kinds.ballots.result import MAIN, STOPS
from hubbub.kinds.ballots.round_bounds import round_totals
from hubbub.kinds.ballots.tally_paths import Path, is_path, public_tree
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files
from hubbub.voting.count.official import ARROW, BLANK

if TYPE_CHECKING:
    from hubbub.kinds.ballots.spec import PublishedBallots

_OTHER_WAYS = "its ways are not those of the official record"


def load(spec: PublishedBallots, files: Files) -> Measurement:
    """The ways that are shown, each once, and the number of each."""
    columns = ("path", "ends", "count")
    table = files.table("release", MAIN, columns)
    visible: dict[Path, int] = {}
    for text, end, count in zip(*(table.column(name).to_pylist() for name in columns), strict=True):
        path = _path(spec, text or "", end)
        if path is None or path in visible or count is None:
            raise CheckFailed(_OTHER_WAYS)
        visible[path] = count
    mechanism = Ways(spec)
    return Measurement(ways=loaded(mechanism.schema, in_columns(mechanism, visible)))


def check_possible(spec: PublishedBallots, visible: Mapping[Path, int]) -> None:
    """Refuse what such a release cannot draw.

    Guarantee: returns only if every row is a way that some ballot can go under the official record, with a number that
    is shown; and, for exact counts, if no official total is below what the table shows.
    """
    if not all(_can_be(path, spec) for path in visible):
        raise CheckFailed(_OTHER_WAYS)
    if any(count <= spec.least_visible for count in visible.values()):
        raise CheckFailed("a way has fewer ballots than are shown")
    if spec.method == "paths" and spec.sample is None and not _fits(visible, spec):
        raise CheckFailed("it shows more ballots than the official totals have")


def _path(spec: PublishedBallots, text: str, end: str | None) -> Path | None:
    if text == BLANK:
        return ()
    path = tuple(text.split(ARROW))
    if not all(name in spec.official.candidates for name in path):
        return None
    return (*path, STOP) if end == STOPS else path


def _can_be(path: Path, spec: PublishedBallots) -> bool:
    if spec.method == "paths":
        return is_path(path, spec.official)
    if spec.method == "prefix":
        return path in public_tree(spec.official, spec.k)
    return 2 <= len(path) <= spec.depth and len(set(path)) == len(path)


def _fits(visible: Mapping[Path, int], spec: PublishedBallots) -> bool:
    totals = round_totals(dict(visible), spec.official, sample=None, coverage=spec.coverage)
    return all(each.official is None or each.published <= each.official for each in totals) and all(
        each.official is None or each.low <= each.official <= each.high for each in totals
    )
