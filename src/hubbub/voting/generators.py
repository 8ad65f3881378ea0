"""Invented ballots, for study: four models from the literature, drawn exactly from a seed.

::

    impartial-culture   every order of the m candidates has probability 1/m!
    mallows             an order at Kendall distance d from 1, 2, ..., m (so many pairs of candidates swapped) has
                        probability proportional to phi^d, 0 <= phi <= 1
    plackett-luce       places are filled from the best on, each by one of the candidates who are left, candidate i with
                        probability w_i / (sum of the weights of those who are left)
    spatial             candidates and voters are independent uniform points of the grid {0, ..., 1023}^D; a voter ranks
                        by the square of the distance, equally near candidates in the order of their numbers

Voters are independent; in the spatial model they are so once the candidates have their points. Mallows orders are made by
repeated insertion: candidate i goes j places before the end of the order of candidates 1 to i - 1 with probability
proportional to phi^j, which makes j pairs swapped. Impartial culture is Mallows with phi = 1.

All draws are of whole numbers below a bound, from public dice (:class:`hubbub.noise.source.PublicDice`) thrown with the
sentence ``hubbub invented ballots MODEL SEED``: probabilities are exact rationals, and a seed gives the same ballots on
every machine. Nobody cast them: they say nothing about an election that was held.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Annotated, Final

from hubbub.errors import WrongUse
from hubbub.noise.source import PublicDice, Source
from hubbub.numeric.exact import Exact, integer, rational
from hubbub.protocol.option import option_help
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import below
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.reading import Reading

Orders = list[list[int]]

MODELS: Final = ("impartial-culture", "mallows", "plackett-luce", "spatial")
GRID: Final = 1024
"""Points on each side of the grid of the spatial model."""
MOST_RANKS: Final = 10_000_000  # voters times candidates

_MODEL_OF: Final = {"phi": "mallows", "weights": "plackett-luce", "dimensions": "spatial"}


def generate(
    *,
    model: Annotated[str, option_help("MODEL", "How voters rank.", choices=MODELS)],
    voters: Annotated[Exact, option_help("N", "How many vote.")],
    candidates: Annotated[Exact, option_help("M", "How many stand: 2 to 100.")],
    seed: Annotated[Exact, option_help("S", "A whole number: the same one gives the same ballots.")],
    phi: Annotated[
        Exact | None,
        option_help("P", "For mallows: from 0, where all rank alike, to 1, where all orders are as likely."),
    ] = None,
    weights: Annotated[
        str | Sequence[Exact] | None, option_help("A,B,..", "For plackett-luce: a positive number for each candidate.")
    ] = None,
    dimensions: Annotated[Exact | None, option_help("D", "For spatial: 1 to 10. Left out: 2.")] = None,
) -> BallotFile:
    """Invent ballots, for study only: complete rankings by a model from the literature, drawn from a seed.

    Nobody cast these ballots, and whatever is counted from them says nothing about an election that was held; the title
    of the file says so. In impartial-culture all orders are as likely. In mallows an order is phi^d as likely as
    1, 2, .., M if d pairs of candidates are swapped. In plackett-luce each next candidate is drawn by weight from those
    who are left. In spatial, candidates and voters are points of a grid of 1024 to a side, drawn alike, and a voter
    ranks whoever is nearer first, the lower number among equally near ones.

    Guarantee: exactly these laws, if the words of the dice are uniform and independent; a function of the arguments.
    """
    if model not in MODELS:
        raise WrongUse(f"`model` takes {', '.join(MODELS)}, not {str(model)[:40]!r}")
    for name, value in (("phi", phi), ("weights", weights), ("dimensions", dimensions)):
        if value is not None and model != _MODEL_OF[name]:
            raise WrongUse(f"`{name}` belongs to {_MODEL_OF[name]}, not to {model}; leave it out")
    n, m = integer(voters, "`voters`", least=1), integer(candidates, "`candidates`", least=2)
    if m > 100 or n * m > MOST_RANKS:
        raise WrongUse(f"at most 100 candidates and {MOST_RANKS:,} ranks are invented at once, not {n:,} times {m:,}")
    number = integer(seed, "`seed`")
    dice = PublicDice(f"hubbub invented ballots {model} {number}")
    if model == "plackett-luce":
        shares = _shares(weights, m)
        about, orders = f", weights {', '.join(map(str, shares))}", _plackett_luce(n, shares, dice)
    elif model == "spatial":
        axes = integer(2 if dimensions is None else dimensions, "`dimensions`", least=1)
        if axes > 10:
            raise WrongUse(f"`dimensions` is at most 10, not {axes:,}")
        about, orders = f", dimensions {axes}", _spatial(n, m, axes, dice)
    elif model == "mallows":
        spread = _spread(phi)
        about, orders = f", phi {spread}", _mallows(n, m, spread, dice)
    else:
        about, orders = "", _mallows(n, m, Fraction(1), dice)
    ballots = Ballots.from_rows([f"Candidate {i + 1}" for i in range(m)], orders).merge_equal()
    title = f"Invented ballots for study, nobody cast them: {model}{about}, seed {number}"
    return BallotFile(ballots=ballots, format="soc", title=title, reading=Reading())


def _spread(phi: Exact | None) -> Fraction:
    if phi is None:
        raise WrongUse("mallows needs `phi`, from 0, where all rank alike, to 1, where all orders are as likely")
    spread = rational(phi, "`phi`")
    if not 0 <= spread <= 1:
        raise WrongUse(f"`phi` is from 0 to 1, not {spread}")
    return spread


def _shares(weights: str | Sequence[Exact] | None, m: int) -> list[Fraction]:
    parts: Sequence[Exact] = weights.split(",") if isinstance(weights, str) else list(weights or ())
    shares = [rational(part, "each of `weights`") for part in parts]
    if len(shares) != m or min(shares) <= 0:
        raise WrongUse(f"plackett-luce needs `weights`, {m} positive numbers like 3,2,1, one for each candidate")
    return shares


def _mallows(voters: int, m: int, phi: Fraction, source: Source) -> Orders:
    p, q = phi.numerator, phi.denominator
    sums = [list(accumulate(p**j * q ** (i - j) for j in range(i + 1))) for i in range(m)]
    orders: Orders = [[] for _ in range(voters)]
    for order in orders:
        for i, ends in enumerate(sums):
            order.insert(i - _pick(ends, source), i)
    return orders


def _plackett_luce(voters: int, shares: Sequence[Fraction], source: Source) -> Orders:
    unit = lcm(*(share.denominator for share in shares))
    whole_weights = [int(share * unit) for share in shares]
    orders: Orders = [[] for _ in range(voters)]
    for order in orders:
        remaining = list(range(len(shares)))
        while remaining:
            ends = list(accumulate(whole_weights[c] for c in remaining))
            order.append(remaining.pop(_pick(ends, source)))
    return orders


def _spatial(voters: int, m: int, axes: int, source: Source, grid: int = GRID) -> Orders:
    points = [[below(grid, source) for _ in range(axes)] for _ in range(m)]
    orders = []
    for _ in range(voters):
        voter = [below(grid, source) for _ in range(axes)]
        far = [sum((a - b) ** 2 for a, b in zip(voter, point, strict=True)) for point in points]
        orders.append(sorted(range(m), key=far.__getitem__))  # a stable sort: the lower number first among equals
    return orders


def _pick(ends: Sequence[int], source: Source) -> int:
    """Which of some shares a uniform number below their total falls into, given where each ends. What is certain is not
    drawn."""
    return bisect_right(ends, below(ends[-1], source)) if len(ends) > 1 else 0
