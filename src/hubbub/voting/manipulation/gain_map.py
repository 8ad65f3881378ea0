"""How honest a rule is, over a triangle of beliefs: what the best lie gains in each cell, and what the rule elects.

The corners of the triangle are three beliefs about three candidates, and a cell mixes them in whole parts of `steps`.
Unless told otherwise the corners go in a circle: all others rank abc, all bca, or all cab, so that a cell is how many
are expected to have each candidate first. (With even second choices, :func:`first_choices`, lies in a runoff hardly
pay, and a map would hide them.) Each cell has the largest gain
over all six true rankings, as `gain` gives it. A poll is a point on the triangle: each corner has one vote of a uniform
prior and those of the poll (Dirichlet).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any, Final, TypeAlias

from hubbub.errors import WrongUse
from hubbub.numeric.exact import to_float, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.voting.figures import approximately, float_up
from hubbub.voting.manipulation import condorcet
from hubbub.voting.manipulation.beliefs import Belief, Ranking, mixture, ranking_text
from hubbub.voting.manipulation.condorcet import Efficiency, efficiencies
from hubbub.voting.manipulation.gain import BOUND, SAMPLE, Gain, Question, gains_of_truths, method_for
from hubbub.voting.manipulation.gain_winners import MINIMAX, Contest
from hubbub.voting.manipulation.question import belief_in_ballots, honest_ballot

STEPS: Final = 12
MOST_STEPS: Final = 60
NAMES: Final = ("a", "b", "c")
TRUTHS: Final = tuple(permutations(range(3)))

NAMES_STAY: Final[Ranking] = (0, 1, 2)

Weights: TypeAlias = tuple[int, int, int]
Task: TypeAlias = tuple[Weights, Contest]


def circle() -> tuple[Belief, Belief, Belief]:
    """The corners unless told otherwise: all rank abc, all bca, all cab."""
    found = [Belief(candidates=NAMES, shares=((r, Fraction(1)),)) for r in ((0, 1, 2), (1, 2, 0), (2, 0, 1))]
    return found[0], found[1], found[2]


def first_choices() -> tuple[Belief, Belief, Belief]:
    """Corners with one first choice for all, the second even."""
    half = Fraction(1, 2)
    found = [Belief(candidates=NAMES, shares=tuple((r, half) for r in TRUTHS if r[0] == first)) for first in range(3)]
    return found[0], found[1], found[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A belief of the triangle, the voter who can gain most by a lie, and what it gains: between low and high."""

    weights: Weights
    gain: Gain
    efficiency: Efficiency | None

    def as_json(self) -> dict[str, Any]:
        found, belief = self.gain, self.gain.question.belief
        parts = sum(self.weights)
        share = None if self.efficiency is None else self.efficiency.share
        return {
            "weights": [to_text(Fraction(part, parts)) for part in self.weights],
            "belief": belief.text(),
            "coarseness": to_text(belief.coarseness),
            "gain": float_up(found.high),
            "gain_low": to_float(found.low, round_up=False),
            "gain_high": float_up(found.high),
            "gain_high_text": approximately(found.high),
            "method": found.method,
            "truth": ranking_text(found.question.truth, belief.candidates),
            "lie": None if found.lie is None else ranking_text(found.lie, belief.candidates),
            "condorcet_efficiency": share,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleMap:
    """One rule over the triangle."""

    contest: Contest
    cells: tuple[Cell, ...]
    polls: tuple[Cell, ...]
    centre: Efficiency | None  # where all six orders are equally likely

    @property
    def worst(self) -> Cell:
        """Where the best lie gains most."""
        return max(self.cells, key=lambda cell: cell.gain.high)

    @property
    def mean(self) -> Fraction:
        """The gain over all cells, each counted once, rounded as its upper ends are."""
        return sum((cell.gain.high for cell in self.cells), Fraction(0)) / len(self.cells)

    def elects(self) -> float | None:
        """Condorcet efficiency over all cells, each counted once."""
        known = [cell.efficiency for cell in self.cells if cell.efficiency is not None]
        exists = sum(each.exists for each in known)
        return sum(each.elected for each in known) / exists if exists else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GainMap:
    """Several rules over one triangle of beliefs, for `voters` voters."""

    voters: int
    steps: int
    corners: tuple[Belief, Belief, Belief]
    labels: tuple[str, str, str]
    truth: Ranking | None
    rules: tuple[RuleMap, ...]
    polls: tuple[Weights, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "voters": self.voters,
            "steps": self.steps,
            "corners": [
                {"label": label, "belief": corner.text()}
                for label, corner in zip(self.labels, self.corners, strict=True)
            ],
            "truth": None if self.truth is None else ranking_text(self.truth, NAMES),
            "rules": [
                {
                    "rule": each.contest.kind,
                    "margin": each.contest.margin,
                    "largest_gain": each.worst.as_json(),
                    "mean_gain": float_up(each.mean),
                    "condorcet_efficiency": None if each.centre is None else each.centre.share,
                    "condorcet_efficiency_over_cells": each.elects(),
                    "cells": [cell.as_json() for cell in each.cells],
                    "polls": [cell.as_json() for cell in each.polls],
                }
                for each in self.rules
            ],
            "efficiency_error": condorcet.ERROR,
            "words": self.sentences(),
        }

    def rows(self) -> list[tuple[str, str, str, str, str, str]]:
        """Rule, margin, largest gain and where, mean gain, Condorcet efficiency where all orders are alike."""
        found = []
        for each in self.rules:
            worst, elects = each.worst, None if each.centre is None else each.centre.share
            where = " ".join(
                f"{label} {to_text(Fraction(part, self.steps))}"
                for label, part in zip(self.labels, worst.weights, strict=True)
                if part
            )
            gained = approximately(worst.gain.high)
            margin = "" if each.contest.margin is None else f"{each.contest.margin:,}"
            chance = "" if elects is None else f"{100 * elects:.1f} %"
            found.append((each.contest.kind, margin, gained, where, approximately(each.mean), chance))
        return found

    def sentences(self) -> list[str]:
        who = (
            "the voter who can gain most"
            if self.truth is None
            else f"a voter who ranks {ranking_text(self.truth, NAMES)}"
        )
        sentences = [
            f"Each cell is what the best lie gains {who}, if the {self.voters - 1:,} others vote as the cell says; "
            "utilities from 0 to 1, the worst that fit.",
        ]
        if self.rules[0].centre is not None:
            sentences.append(
                "Condorcet efficiency is how often the rule elects whoever beats everybody else one to one, where "
                "somebody does, with all votes drawn as the cell says; for a rule, where all six orders are equally "
                "likely."
            )
        elif self.voters > condorcet.MOST_VOTERS:
            sentences.append(f"Condorcet efficiency is computed up to {condorcet.MOST_VOTERS:,} voters.")
        if self.corners == first_choices():
            sentences.append(
                "Second choices are even here, which hides what a lie gains in a runoff; corners like abc, bca and cab "
                "show it."
            )
        if self.corners == circle():
            sentences.append(
                "The corners are abc, bca and cab: preferences in a circle, for which lies in a runoff pay most. Few "
                "electorates are like that."
            )
        for weights in self.polls:
            votes = ", ".join(f"{label} {part - 1:,}" for label, part in zip(self.labels, weights, strict=True))
            gains = ", ".join(
                f"{each.contest.kind} {approximately(cell.gain.high)}"
                for each in self.rules
                for cell in each.polls
                if cell.weights == weights
            )
            sentences.append(f"Who has seen a poll of {votes} gains at most: {gains}.")
        return sentences


def gain_map(
    contests: Sequence[Contest],
    voters: int,
    *,
    steps: int = STEPS,
    corners: tuple[Belief, Belief, Belief] | None = None,
    labels: tuple[str, str, str] = NAMES,
    polls: Sequence[Weights] = (),
    truth: Ranking | None = None,
    elects: bool = True,
    watch: Callable[[Sequence[Task]], Iterable[Task]] = iter,
) -> GainMap:
    """The map of several rules; `polls` are numbers of votes for each corner; `watch` may show how far it is.

    Guarantee: the gain of each cell and poll is what `gain` gives for its belief and truth, for certain or as its
    method says; of cells that differ only in what candidates are called one is computed, and the others are the same
    with the names changed (rules treat all alike where ties are drawn).
    """
    if not 2 <= steps <= MOST_STEPS:
        raise WrongUse(f"a triangle has at least 2 and at most {MOST_STEPS} steps, not {steps}")
    if not contests:
        raise WrongUse("a map needs at least one rule")
    ends = circle() if corners is None else corners
    if any(end.candidates != NAMES or end.truncated for end in ends):
        raise WrongUse("the corners of a map are beliefs in complete rankings of the candidates a, b and c")
    for contest in contests:
        inside = belief_in_ballots(belief_at(ends, (1, 1, 1)), contest)
        middle = Question(belief=inside, truth=honest_ballot(TRUTHS[0], contest, 3), voters=voters, contest=contest)
        if method_for(middle) in (BOUND, SAMPLE):
            raise WrongUse(
                f"a map goes through every state, and {contest.kind} has too many with {voters:,} voters; ask for "
                f"{_most_voters(contest)} or fewer"
            )
    elects = elects and voters <= condorcet.MOST_VOTERS
    turns = _symmetries(ends) if truth is None else {NAMES_STAY: NAMES_STAY}
    triangle = [(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]
    seen = [(poll[0] + 1, poll[1] + 1, poll[2] + 1) for poll in polls]
    tasks: list[Task] = [(at, contest) for contest in contests for at in (*triangle, *seen)]
    known: dict[tuple[Contest, Weights], Cell] = {}
    truths = TRUTHS if truth is None else (truth,)
    for at, contest in watch(tasks):
        if (contest, at) not in known:
            cell = _cell(ends, at, contest, voters, truths, elects=elects)
            same = contest.order is None and contest.top is None
            for moved, renamed in turns.items() if same else ((NAMES_STAY, NAMES_STAY),):
                target = (at[moved[0]], at[moved[1]], at[moved[2]])
                known.setdefault((contest, target), _rename_cell(cell, ends, target, renamed))
    alike = belief_at(first_choices(), (1, 1, 1))
    centres = [efficiencies(alike, voters, (each,))[0] if elects and each.top is None else None for each in contests]
    maps = [
        RuleMap(
            contest=contest,
            centre=centre,
            cells=tuple(known[contest, at] for at in triangle),
            polls=tuple(known[contest, at] for at in seen),
        )
        for contest, centre in zip(contests, centres, strict=True)
    ]
    return GainMap(
        voters=voters, steps=steps, corners=ends, labels=labels, truth=truth, rules=tuple(maps), polls=tuple(seen)
    )


def _most_voters(contest: Contest) -> str:
    if contest.top is not None:
        return "some sixty, or for a lower `top`,"
    return "251, with three rankings at the corners," if contest.kind == MINIMAX else "2,001"


def belief_at(corners: Sequence[Belief], weights: Weights) -> Belief:
    """The belief of a cell."""
    parts = [(Fraction(part, sum(weights)), corner) for part, corner in zip(weights, corners, strict=True) if part]
    mixed = mixture(parts)
    return replace(mixed, shares=tuple(sorted(mixed.shares)))


def _cell(
    corners: Sequence[Belief], at: Weights, contest: Contest, voters: int, truths: Sequence[Ranking], *, elects: bool
) -> Cell:
    belief = belief_at(corners, at)
    reports = dict.fromkeys(honest_ballot(truth, contest, 3) for truth in truths)
    found = gains_of_truths(belief_in_ballots(belief, contest), voters, contest, list(reports))
    best = max(found.values(), key=lambda gain: (gain.high, gain.low))
    elected = efficiencies(belief, voters, (contest,))[0] if elects and contest.top is None else None
    return Cell(weights=at, gain=best, efficiency=elected)


def _rename_cell(cell: Cell, corners: Sequence[Belief], target: Weights, names: Ranking) -> Cell:
    """The same cell with candidate c called names[c]."""
    if names == NAMES_STAY:
        return cell
    gain, question = cell.gain, cell.gain.question
    worth = gain.worth
    if worth is not None:
        values = tuple(worth.values[names.index(c)] for c in range(3))
        worth = replace(worth, values=values)
    moved = replace(question, belief=belief_at(corners, target), truth=tuple(names[c] for c in question.truth))
    lie = None if gain.lie is None else tuple(names[c] for c in gain.lie)
    return replace(cell, weights=target, gain=replace(gain, question=moved, lie=lie, worth=worth))


def _symmetries(corners: Sequence[Belief]) -> dict[Ranking, Ranking]:
    """Which corner comes from which, for all ways to rename the candidates under which the triangle is the same."""
    plain = [frozenset(corner.shares) for corner in corners]
    found: dict[Ranking, Ranking] = {}
    for names in TRUTHS:
        renamed = [frozenset((tuple(names[c] for c in r), share) for r, share in corner.shares) for corner in corners]
        if len(set(plain)) == 3 and all(one in plain for one in renamed):
            found[tuple(renamed.index(one) for one in plain)] = names
    return found or {NAMES_STAY: NAMES_STAY}
