"""The walk, exactly: each jump against a reference that compares U with balls, and all the branches summed up."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from hubbub.channels.mechanisms import warped_walk
from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.mechanisms.warped_walk import _exp, _settle, jump_from
from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.curve import Piece, read
from hubbub.noise.source import ScriptedSource, Source
from hubbub.noise.table import CertifiedTable
from hubbub.numeric.exact import ball, exp, lower, precision, upper

END = 2**64
FAR = 2**62


def tails(slope: Piece, first: int, step: int, passed: Fraction | None, longest: int) -> list[arb]:
    """T(1)..T(longest), from the losses one by one."""
    beta = arb(1) / 2 if passed is None else 1 / (1 + exp(-passed))
    found, total = [], Fraction(0)
    for n in range(longest):
        loss = slope.at(first + step * n)
        assert isinstance(loss, Fraction)
        total += loss
        found.append(exp(-total) / (1 + exp(-loss)) / beta)
    return found


def digits(number: arb, words: int) -> list[int]:
    """The first digits of a number in [0, 1) in base 2**64, proved."""
    found = math.floor(lower(number) * END**words)
    assert found == math.floor(upper(number) * END**words)
    return [found >> 64 * i & END - 1 for i in reversed(range(words))]


def drawn(words: list[int], slope: Piece, first: int, room: int, step: int, passed: Fraction | None) -> tuple[int, int]:
    """The jump of the U that begins with `words`, and how many of them it took."""
    source = ScriptedSource(words[1:])
    one = np.array(words[:1], dtype=np.uint64)
    n = jump_from(one, slope, np.array([first]), np.array([room]), step, passed, source)
    return int(n[0]), len(words) - source.words_left


JUMPS = {
    "gentle, up": (Piece(1, Fraction(1, 10**4), Fraction(1, 10**4)), 1, 2000, 1, None),
    "gentle, down": (Piece(1, Fraction(1, 10**4), Fraction(1, 10**4)), 300, 300, -1, None),
    "middle, up": (Piece(1, Fraction(1, 100), Fraction(1, 100)), 40, 61, 1, None),
    "middle, down to 0": (Piece(1, Fraction(1, 100), Fraction(1, 100)), 40, 40, -1, None),
    "middle, down to a border": (Piece(11, Fraction(1, 3), Fraction(1, 7)), 17, 7, -1, None),
    "arriving from below": (Piece(31, Fraction(1, 10), Fraction(1, 50)), 31, 30, 1, Fraction(1, 20)),
    "arriving from above": (Piece(31, Fraction(1, 10), Fraction(1, 50)), 60, 30, -1, Fraction(2)),
    "steep, up": (Piece(1, Fraction(3), Fraction(5, 2)), 1, 9, 1, None),
    "steep, down": (Piece(1, Fraction(3), Fraction(5, 2)), 4, 4, -1, None),
    "the first loss is 0": (Piece(1, Fraction(0), Fraction(1, 10)), 1, 40, 1, None),
    "the last loss is 0": (Piece(1, Fraction(0), Fraction(1, 10)), 12, 12, -1, None),
    "far out": (Piece(FAR - 100, Fraction(1, 5), Fraction(1, 1000)), FAR - 20, 2**61, 1, None),
    "one value": (Piece(1, Fraction(1), Fraction(1)), 1, 1, 1, None),
}


@pytest.mark.parametrize("name", JUMPS)
def test_words_around_every_threshold(name: str) -> None:
    # U < T(n) iff its digits come before those of T(n). The word that T(n) begins with proves nothing alone; all
    # the others do, however near they are.
    slope, first, room, step, passed = JUMPS[name]
    with precision(512):
        thresholds = tails(slope, first, step, passed, min(room, 600))
    assert all(later < earlier for earlier, later in pairwise(thresholds))
    likely = [n for n, t in enumerate(thresholds, 1) if ball(Fraction(1, 2**20)) < t < 1]
    for n in likely[:: max(len(likely) // 40, 1)]:
        head, middle, last = digits(thresholds[n - 1], 3)
        for words, expected in (
            ([head - 1], n),
            ([head + 1], n - 1),
            ([head, middle - 1], n),
            ([head, middle + 1], n - 1),
            ([head, middle, last - 1], n),
            ([head, middle, last + 1], n - 1),
        ):
            assert drawn(words, slope, first, room, step, passed) == (expected, len(words)), (n, words)
        for word in (head - 2**30, head + 2**30):  # outside the doubt about T(n)
            above = sum(1 for t in thresholds if t * END > word)
            assert drawn([word], slope, first, room, step, passed) == (above, 1), (n, word)


@pytest.mark.parametrize("name", JUMPS)
def test_guess_and_proof_say_what_the_balls_say(name: str) -> None:
    slope, first, room, step, passed = JUMPS[name]
    words = ScriptedSource.from_label(f"words {name}").words(400)
    words[:45] >>= np.arange(45, dtype=np.uint64)  # some near 0, where jumps are long
    fast = jump_from(words, slope, np.full(400, first), np.full(400, room), step, passed, ScriptedSource())
    slow = [_settle(int(word), slope, first, room, step, passed, ScriptedSource()) for word in words]
    assert fast.tolist() == slow
    assert name == "one value" or len(set(slow)) > 2


def test_the_smallest_word_is_never_decided_alone() -> None:
    # A loss of 10^6 is not passed, but with w = 0 the doubles do not prove it: 64 more bits do.
    slope = Piece(1, Fraction(10**6), Fraction(1))
    assert drawn([1], slope, 5, 100, 1, None) == (0, 1)
    assert drawn([0, 1], slope, 5, 100, 1, None) == (0, 2)
    assert drawn([0, 0, 0, 7], slope, 5, 100, 1, None) == (0, 4)


def test_words_that_never_decide_are_refused() -> None:
    with pytest.raises(CheckFailed, match="undecided after 256 random words"):
        drawn([0] * 300, Piece(1, Fraction(10**6), Fraction(1)), 5, 100, 1, None)


def test_exponentials_in_doubles_are_as_good_as_said() -> None:
    points = [
        Fraction(i, 64) + Fraction(j, 7 * 2**20) for i in range(0, 3200, 37) for j in (0, 1, 3 * 2**14, 7 * 2**14 - 1)
    ]
    x = np.array([float(point) for point in points])
    for value, computed in zip(x, _exp(x), strict=True):
        ratio = ball(Fraction(float(computed))) / exp(-Fraction(float(value)))
        assert abs(ratio - 1) < ball(Fraction(1, 2**44)), value
    assert _exp(np.array([-1.0, 0.0, 60.0])).tolist() == [1.0, 1.0, _exp(np.array([50.0]))[0]]


def test_a_wrong_proof_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    # The control of the tests above: exponentials off by one in a million, and no doubt about them.
    exact = warped_walk._exp
    monkeypatch.setattr(warped_walk, "_exp", lambda x: exact(x) * (1 + 1e-6))
    slope, first, room, step, passed = JUMPS["middle, up"]
    with precision(512):
        head = digits(tails(slope, first, step, passed, 3)[-1], 1)[0]
    assert drawn([head + 1], slope, first, room, step, passed)[0] != 2


# --- all the branches -------------------------------------------------------------------------------------------


class Branches:
    """Stands in for every draw of the walk: takes one branch after another and multiplies their probabilities."""

    def __init__(self, taken: list[int], cap: int) -> None:
        self.long = cap + 1  # longer than any piece
        self.taken, self.options, self.probability = taken, list[int](), arb(1)

    def choose(self, probabilities: list[arb]) -> int:
        i = len(self.options)
        if i == len(self.taken):
            self.taken.append(0)
        self.options.append(len(probabilities))
        self.probability *= probabilities[self.taken[i]]
        return self.taken[i]

    def from_tails(self, tails: list[arb]) -> NDArray[np.int64]:
        """n with P(n >= i) = tails[i]; the last means "or more"."""
        return np.array([self.choose([a - b for a, b in zip(tails, [*tails[1:], arb(0)], strict=True)])])

    def two_sided(self, epsilon: Fraction, size: int, source: Source) -> NDArray[np.int64]:
        q = exp(-epsilon)
        return -self.from_tails(
            [arb(1), *(2 * q**n / (1 + q) for n in range(1, self.long))]
        )  # the sign does not matter

    def geometric(self, epsilon: Fraction, size: int, source: Source) -> NDArray[np.int64]:
        assert size in (0, 1)
        return self.from_tails([exp(-epsilon * n) for n in range(self.long)])[:size] if size else np.empty(0, np.int64)

    def jump(
        self,
        slope: Piece,
        first: NDArray[np.int64],
        room: NDArray[np.int64],
        step: int,
        passed: Fraction | None,
        source: Source,
    ) -> NDArray[np.int64]:
        longest = int(room[0])
        return self.from_tails([arb(1), *tails(slope, int(first[0]), step, passed, longest)])


@pytest.mark.parametrize(
    "text",
    [
        "1:0.2,7:inf",
        "1:0.2,3:0.5,6:inf",
        "1:0,4:0.7,6:inf",
        "1:0.1,2:0.3,3:0.4,4:2,5:inf",
        "1:0.1+slope:0.1,7:inf",
        "1:0+slope:0.1,6:inf",
        "1:0.1+slope:0.1,4:1,7:inf",
        "1:0.05,3:0.1+slope:0.2,7:inf",
        "1:0,3:0.1+slope:0.2,5:2,6:2+slope:1,8:inf",
    ],
)
def test_the_branches_add_up_to_the_law(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Warped(read(text).curve)
    assert channel.cap is not None
    for count in range(channel.cap + 1):
        found: dict[int, arb] = defaultdict(lambda: arb(0))
        for coin in (0, END - 1):
            taken: list[int] = []
            while True:
                branches = Branches(taken, channel.cap)
                monkeypatch.setattr(warped_walk, "two_sided_geometric", branches.two_sided)
                monkeypatch.setattr(warped_walk, "geometric", branches.geometric)
                monkeypatch.setattr(warped_walk, "jump", branches.jump)
                monkeypatch.setattr(CertifiedTable, "sample", _entry_of(branches))
                value = int(channel.release(np.array([count]), ScriptedSource([coin])).values[0])
                found[value] += branches.probability / 2
                while taken and taken[-1] == branches.options[len(taken) - 1] - 1:  # the next branch, like an odometer
                    taken.pop()
                if not taken:
                    break
                taken[-1] += 1
        law = channel.law(count)
        for value in range(channel.cap + 1):
            difference = abs(found[value] - law.mass(value))
            assert difference < ball(Fraction(1, 10**60)), (count, value)
        assert set(found) <= set(range(channel.cap + 1))


def _entry_of(branches: Branches) -> object:
    def sample(table: CertifiedTable, size: int, source: Source) -> NDArray[np.int32]:
        (entering,) = table._boundaries()
        return np.array([branches.choose([entering, 1 - entering])], dtype=np.int32)

    return sample


def test_a_step_beyond_every_count_is_refused() -> None:
    for text in ("1:0.1,99999999999999999999:1", "1:0,99999999999999999999:inf"):
        with pytest.raises(WrongUse, match="beyond 2\\^62"):
            Warped(read(text).curve).release(np.array([3]), ScriptedSource.from_label("beyond"))
