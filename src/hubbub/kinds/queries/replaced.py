"""One person replaced by another among a declared number of people: what each method loses then, worked out.

The number of people is enforced, so that two tables that must look alike have as many. They differ in one person, who
is in one cell (or in none) in the first and in another in the second; everybody else is the same and cancels, because
every exact answer is a sum over people. So the game is played by every two tables of one person.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.numeric.exact import to_text
from hubbub.protocol.check import Check
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.classes import Halfspaces
from hubbub.query_classes.flat import Flat, PerQuery
from hubbub.query_classes.residual import Residual
from hubbub.query_classes.setting import Cells, Setting
from hubbub.query_classes.tree import Tree

if TYPE_CHECKING:
    from hubbub.kinds.queries.spec import Queries

MOST_WORK: Final = 2 * 10**7
"""Numbers that are compared: pairs of people times what is told of each."""


def replaced_holds(spec: Queries) -> Check:
    """What one person replaced costs, against what is claimed.

    Guarantee: passes only if the loss is at most the claimed one: for every two people, each in any cell or in none, by
    the exact numbers that they move; where these are too many to list, by the most that the method's proof allows.
    """
    lost, how = _loss_if_replaced(spec)
    found = f"costs {to_text(lost)} of {to_text(spec.replaced_loss)}: {how}"
    what = f"one person replaced by another, of {spec.enforced_number:,} people that there must be"
    return Check(what, lost <= spec.replaced_loss, found)


def _loss_if_replaced(spec: Queries) -> tuple[Fraction, str]:
    """Guarantee: at least what replacing one person costs.

    Noise of rate r on numbers that move by m in all costs r m (Dwork, McSherry, Nissim, Smith 2006). Where an answer
    moves by one at most, an exponential mechanism loses twice its rate and the other methods what they spend; boosting
    also measures answers, of which no more than it pays for may move.
    """
    method, setting = spec.method, spec.setting
    if isinstance(method, Residual):
        lost = method.spends(setting)
        return lost, "Lemma C for two people who differ in the one column where a table moves most"
    noisy = isinstance(method, Flat | PerQuery | Tree)
    if not _can_compare(setting):
        lost = method.spends(setting) * (2 if noisy else 1)
        return lost, "too many cells to compare two by two, so by the proof of the method"
    if isinstance(method, Tree):
        moved = _farthest([method.in_parts(setting, cells) for cells in _everybody(setting)])[0]
        return moved * method.rate(setting), f"the runs that get noise move by {moved} parts of it in all at most"
    if isinstance(method, Flat | PerQuery):
        moved = _farthest([method.exact(setting, cells) for cells in _everybody(setting)])[0]
        return moved * method.rate(setting), f"the numbers that get noise move by {moved} in all at most"
    answers = [cells.answers(setting.queries) for cells in _everybody(setting)]
    moved, most = _farthest(answers)
    allowed = method.sensitivity(setting) if isinstance(method, Boosting) else moved
    times = Fraction(max(most, 1)) * max(Fraction(moved, allowed) if allowed else Fraction(1), Fraction(1))
    return method.spends(setting) * times, f"an exact answer moves by {most} at most"


def _can_compare(setting: Setting) -> bool:
    """Whether any two people can be compared."""
    if isinstance(setting.queries, Halfspaces):
        return setting.cells**3 <= MOST_WORK
    return setting.cells**2 * max(setting.queries.number, 2 * setting.cells) <= MOST_WORK


def _everybody(setting: Setting) -> Iterator[Cells]:
    """A table of one person, for every cell that the person may be in, and for none where that may be."""
    one = np.ones(1, dtype=np.int64)
    for code in range(setting.cells - setting.outside):
        yield Cells(setting.shape, np.array([code], dtype=np.int64), one)
    if setting.outside:
        yield Cells(setting.shape, one[:0], one[:0], outside=1)


def _farthest(answers: list[NDArray[np.int64]]) -> tuple[int, int]:
    """By how much two of these differ at most, all numbers together and in one of them."""
    every, moved, most = np.stack(answers), 0, 0
    for one in every:
        apart = np.abs(every - one)
        moved, most = max(moved, int(apart.sum(axis=1).max())), max(most, int(apart.max()))
    return moved, most
