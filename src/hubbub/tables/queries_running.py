"""A class of queries, carried out: count the cells exactly, draw the secret sample, run the method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from hubbub.errors import Refused
from hubbub.noise.source import Source
from hubbub.sampling.ranks import sample_counts
from hubbub.synopses.setting import Cells
from hubbub.tables.engine import Engine, Question
from hubbub.tables.synopsis import Synopsis

if TYPE_CHECKING:
    from hubbub.tables.queries import Queries

OTHER_NUMBER: Final = (
    "the table does not have the declared number of people; nothing was published and nothing is spent. That it was "
    "refused is for you alone: correct `people`"
)


def run(spec: Queries, engine: Engine, source: Source) -> Synopsis:
    """Count, sample, answer.

    Guarantee: the promises of :func:`hubbub.tables.queries_promises.promises`, if the words of the source are uniform
    and independent: what is published depends on the table through the method on exact counts of everybody, or of K
    people drawn without replacement. A table of another number of people is refused before a word is drawn.
    """
    people = spec.asked.people
    question = Question(axes=spec.asked.axes, person=spec.unit.person, everybody=people is not None)
    counted = engine.count(question, source)
    if people is not None and int(counted.counts.sum()) != people:
        raise Refused(OTHER_NUMBER)
    inside = counted.codes >= 0
    codes, counts, outside = counted.codes[inside], counted.counts[inside], int(counted.counts[~inside].sum())
    if spec.asked.rows is not None:
        drawn = sample_counts(np.append(counts, np.int64(outside)), spec.asked.rows, source)
        counts, outside = drawn[:-1], int(drawn[-1])
    cells = Cells(spec.queries.shape, codes, counts, outside)
    return Synopsis(spec, spec.method.draw(spec.setting, cells, source))
