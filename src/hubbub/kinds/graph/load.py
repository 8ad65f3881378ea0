"""The file of a graph release, read back: from the counts in it all its other numbers follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.errors import CheckFailed
from hubbub.graphs.statistics import Statistic
from hubbub.kinds.graph.mechanism import COUNT, NoisyCounts, in_columns
from hubbub.kinds.graph.result import Answers, answers_of
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.graph.spec import GraphSpec


def load(spec: GraphSpec, files: Files) -> Measurement:
    """The counts that were drawn; every whole number can be. Two rows about one count must agree."""
    rows = {of: spec.size.max_degree if of is Statistic.DEGREE_COUNTS else 1 for of in spec.of}
    blank = Answers(spec, answers_of(spec, {of.count: [0] * many for of, many in rows.items()}))
    rest = files.table("release", blank.batch().schema, [COUNT]).column(COUNT).to_pylist()
    if len(rest) != sum(rows.values()) or None in rest:
        raise CheckFailed("it has other rows than are described")
    drawn: dict[Statistic, list[int]] = {}
    for of, many in rows.items():
        some, rest = rest[:many], rest[many:]
        if drawn.setdefault(of.count, some) != some:
            raise CheckFailed("two of its rows tell different counts of the same edges")
    mechanism = NoisyCounts(spec)
    return Measurement(counts=loaded(mechanism.schema, in_columns(mechanism, drawn)))
