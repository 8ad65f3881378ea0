"""Several questions, carried out: count everybody once, draw one secret sample, answer all of them from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import Refused
from hubbub.noise.source import Source
from hubbub.sampling.ranks import choose
from hubbub.tables.engine import OTHER_NUMBER, Counted, Engine
from hubbub.tables.questions_result import Replies
from hubbub.tables.statistic_run import published, question

if TYPE_CHECKING:
    from hubbub.tables.questions import Questions


def run(spec: Questions, engine: Engine, source: Source) -> Replies:
    """Count, sample once, publish.

    Guarantee: the promises of :func:`hubbub.tables.questions_promises.promises`, if the words of the source are uniform
    and independent: the cells are fine enough for every question, so that what each is told is of the same K people;
    noise is drawn for each of its own. A table of another number of people than was declared is refused before a word
    is drawn.
    """
    asked = tuple(question(each, by_value=each.measured is not None) for each in spec.statistics)
    joint = engine.together(asked, source)
    if int(joint.counts.sum()) != spec.of_people:
        raise Refused(OTHER_NUMBER)
    drawn = choose(spec.rows, spec.of_people, source).among(joint.counts)
    answers = [
        published(each, _added(codes, drawn), source, by_value=each.measured is not None)
        for each, codes in zip(spec.statistics, joint.codes, strict=True)
    ]
    return Replies(spec, tuple(answers))


def _added(codes: NDArray[np.int64], counts: NDArray[np.int64]) -> Counted:
    """Cells that one question does not tell apart, as one."""
    different, place = np.unique(codes, return_inverse=True)
    sums = np.zeros(different.size, dtype=np.int64)
    np.add.at(sums, place, counts)
    return Counted(different, sums)
