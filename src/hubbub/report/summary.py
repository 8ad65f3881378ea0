"""The three lines on top of a report: what it shows, how exact it is, what it means for somebody who is in it."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Final

from hubbub.certificate.explanation import meaning
from hubbub.certificate.plain_meaning import OTHERS, guess
from hubbub.charts.language import current_language, kept_english, localized, translate
from hubbub.guarantees.promise_order import requested_first
from hubbub.protocol.capabilities import is_deferred
from hubbub.protocol.drawing import Bars
from hubbub.report.numbers import padded
from hubbub.report.text import escaped, sentence

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Derivation
    from hubbub.protocol.release import Release

_MOST: Final = 100_000  # rows that are looked at
OWN_STARTS: Final = {
    "de": (
        "Die Hälfte",
        "Kein Intervall",
        "Wer allein aus",
        "Andere Veröffentlichungen",
        "Sie gehen in einer Menge",
        "Was sich hieraus",
    )
}  # of sentences that are translated here
_NAME: Final = "{dataset}"  # as it is in every language
_COMMAND: Final = "hubbub ledger show"
_LONGEST: Final = 2000
_ALIKE: Final = 1.1  # widths that are said in one number
_VALUES: Final = ("estimate", "count", "value")


def summary(release: Release, dataset: str | None) -> str:
    """As HTML: three terms and their sentences. The dataset is where the ledger has it."""
    words = release.bound.description
    lines = {
        translate("What this shows"): kept_english(sentence(words.headline or words.published)),
        translate("How exact it is"): " ".join(map(_sentence, exactness(release))),
        translate("What it means for you, if you are in it"): " ".join(
            (_sentence(for_a_person(requested_first(release.promises)[0])), *_others(dataset))
        ),
    }
    rows = "".join(f"<div><dt>{term}</dt><dd>{text}</dd></div>" for term, text in lines.items() if text)
    return f'<dl class="top">{rows}</dl>'


def _others(dataset: str | None) -> tuple[str, ...]:
    """That this is about one release only, and where the others are."""
    if dataset is None:
        return ()
    told = _sentence(translate(OTHERS, dataset=_NAME).replace(_NAME, dataset))
    command = escaped(f"{_COMMAND} {dataset}", _LONGEST)
    return (told.replace(command, f"<code>{command}</code>"),)


def _sentence(text: str) -> str:
    """A sentence of ours as it is; one of a kind or a promise is English, and says so."""
    return sentence(text) if text.startswith(OWN_STARTS.get(current_language(), ())) else kept_english(sentence(text))


def exactness(release: Release) -> tuple[str, ...]:
    """How wide half of the intervals are at most, and what they hold; or that what is shown is exact."""
    words = release.bound.description
    if own := release.result.exactness():
        return own
    widths = [] if is_deferred(release.result) else _widths(release)
    meant = (words.interval_headline or words.intervals,) if words.intervals else ()
    if not widths:
        return meant
    if all(width == 0 for width in widths):
        exact = f"is exact: {words.each}" if words.each else f"counts {words.counts} exactly"
        return (f"Every number that is shown {exact}",)
    if len(widths) == 1 and len(release) == 1:
        grid = release.result.display(1)
        _, (value, interval, *_), _ = grid.rows[0]
        value, interval = padded([value, interval])
        return f"The {grid.numbers[0]} is {value}, and its interval goes from {interval}", *meant
    known = sorted(width for width in widths if width is not None)
    if release.result.unlike_rows() or 2 * len(known) <= len(widths):
        return meant
    middle = known[(len(widths) - 1) // 2]  # those without an end are wider than all others
    alike, every = len(known) == len(widths) and known[-1] <= _ALIKE * middle, len(widths) == len(release)
    match alike, every:
        case True, True:
            told = translate("No interval is wider than {width}", width="\0")
        case True, False:
            told = translate("No interval of a shown number is wider than {width}", width="\0")
        case False, True:
            told = translate("Half of the intervals are at most {width} wide", width="\0")
        case _:
            told = translate("Half of the intervals of shown numbers are at most {width} wide", width="\0")
    return _filled(told, known[-1] if alike else middle, release), *meant


def _filled(sentence: str, width: float, release: Release) -> str:
    """With a width that is in the language of the page already."""
    return sentence.replace("\0", _phrase(width, release))


def _phrase(width: float, release: Release) -> str:
    """A width in few digits, rounded up: it says "at most"."""
    drawing = release.result.drawing()
    if isinstance(drawing, Bars) and drawing.percent:
        return translate("{width} percentage points", width=f"{ceil(1000 * width) / 10:.1f}")
    return localized(in_digits(width))


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
    """What the promise that was asked for means, to somebody who never heard of epsilon."""
    return guess(step, translate) or meaning(step.conclusion, step.people).promised
