"""The three lines on top of a report: what it shows, how exact it is, what it means for somebody who is in it."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log10
from typing import Final

from hubbub.certificate.explanation import meaning
from hubbub.charts.language import kept_english, say, spoken
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.indistinguishability import capped
from hubbub.guarantees.people import Whose
from hubbub.guarantees.promise_order import requested_first
from hubbub.numeric.exact import Infinite, Loss, ball, precision
from hubbub.protocol.capabilities import is_deferred
from hubbub.protocol.drawing import Bars
from hubbub.protocol.release import Release
from hubbub.report.text import sentence

_MOST: Final = 100_000  # rows that are looked at
_WIDEST: Final = 99  # times in 100 that a guess may be right, for it to say something
_GUESS: Final = "and knows everything about everybody else, is right at most {times} times in 100"
_TOSS: Final = "where the toss of a coin is right 50 times"
_REPLACED: Final = f"Whoever guesses from all of this which of two things your data says, {_GUESS}, {_TOSS}"
_PRESENT: Final = f"Whoever guesses from all of this whether you are in the table, {_GUESS}, {_TOSS}"
_ROW: Final = f"Whoever guesses from all of this whether your row is in the table, {_GUESS}, {_TOSS}"
OWN_STARTS: Final = {"de": ("Die Hälfte", "Wer aus alledem")}  # of sentences that are translated here
_VALUES: Final = ("estimate", "count", "value")


def summary(release: Release) -> str:
    """As HTML: three terms and their sentences."""
    lines = {
        say("What this shows"): kept_english(sentence(release.spec.describe().published)),
        say("How exact it is"): " ".join(map(_sentence, exactness(release))),
        say("What it means for you, if you are in it"): _sentence(for_a_person(requested_first(release.promises)[0])),
    }
    rows = "".join(f"<div><dt>{term}</dt><dd>{text}</dd></div>" for term, text in lines.items() if text)
    return f'<dl class="top">{rows}</dl>'


def _sentence(text: str) -> str:
    """A sentence of ours as it is; one of a kind or a promise is English, and says so."""
    return sentence(text) if text.startswith(OWN_STARTS.get(spoken(), ())) else kept_english(sentence(text))


def exactness(release: Release) -> tuple[str, ...]:
    """How wide half of the intervals are at most, and what they hold; or that what is shown is exact."""
    words = release.spec.describe()
    if own := release.result.exactness():
        return own
    widths = [] if is_deferred(release.result) else _widths(release)
    meant = (words.intervals,) if words.intervals else ()
    if not widths:
        return meant
    if all(width == 0 for width in widths):
        return (f"Every number that is shown counts {words.counts} exactly",)
    if len(widths) == 1 and len(release) == 1:
        _, (value, interval, *_), _ = release.result.display(1).rows[0]
        return f"The number is {value}, and its interval goes from {interval}", *meant
    known = sorted(width for width in widths if width is not None)
    if release.result.unlike_rows() or 2 * len(known) <= len(widths):
        return meant
    middle = known[(len(widths) - 1) // 2]  # those without an end are wider than all others
    return say("Half of the intervals are at most {width} wide", width=_phrase(middle, release)), *meant


def _phrase(width: float, release: Release) -> str:
    """A width in few digits, rounded up: it says "at most"."""
    drawing = release.result.drawing()
    if isinstance(drawing, Bars) and drawing.percent:
        return say("{width} percentage points", width=f"{ceil(1000 * width) / 10:.1f}")
    return in_digits(width)


def in_digits(width: float) -> str:
    """A number of three digits or all of its whole ones, rounded up."""
    if width >= 100 or width == int(width):
        return f"{ceil(width):,}"
    scale = 10.0 ** (2 - floor(log10(width)))
    return f"{ceil(width * scale) / scale:g}"


def _widths(release: Release) -> list[float | None]:
    """How wide the interval of each number that is shown is; None where it has no end."""
    sheet = release.sheet
    names = sheet.schema.names
    value = next((name for name in _VALUES if name in names), None)
    if value is None or "low" not in names or "high" not in names or sheet.rows > _MOST:
        return []
    found: list[float | None] = []
    for batch in sheet.batches():
        columns = (batch.column(name).to_pylist() for name in (value, "low", "high"))
        for shown, low, high in zip(*columns, strict=True):
            if shown is not None:
                found.append(None if high is None or low is None else float(high - low))
    return found


def for_a_person(step: Derivation) -> str:
    """What the promise that was asked for means, to somebody who never heard of epsilon.

    Guarantee: of an (epsilon, delta)-differentially private release, whoever had even odds before and sees it is right
    with a chance of at most (e^epsilon + delta)/(1 + e^epsilon), which is rounded up.
    """
    promise, people = step.conclusion, step.people
    if isinstance(promise, DifferentialPrivacy) and promise.group == 1 and people is not None:
        times = right_at_most(promise.epsilon, promise.delta)
        if times <= _WIDEST and people.whose is Whose.TABLE:
            if promise.neighbours is Neighbours.REPLACE:
                return say(_REPLACED, times=times)
            return say(_PRESENT if people.person is not None else _ROW, times=times)
    return meaning(promise, people).promised


def right_at_most(epsilon: Loss, delta: Fraction) -> int:
    """How often in 100 times a guess between two equally likely tables is right, at most.

    >>> right_at_most(Fraction(0), Fraction(0)), right_at_most(Fraction(1), Fraction(0))
    (50, 74)
    """
    if isinstance(epsilon, Infinite):
        return 100
    with precision():
        odds = ball(epsilon).exp()
        return ceil(100 * capped((odds + ball(delta)) / (1 + odds)))
