"""The report of a release: one page for people, which opens without a network and runs no code.

It is made from the release alone, so it tells nothing that the release does not tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import TYPE_CHECKING, Final

import hubbub
from hubbub.charts.language import current_language, in_language, kept_english, translate
from hubbub.charts.skeleton import standalone_page
from hubbub.guarantees.promise_order import requested_first
from hubbub.report import content
from hubbub.report.heading import NO_HEADING, Heading
from hubbub.report.numbers import table
from hubbub.report.picture import NOT_DRAWN, picture
from hubbub.report.style import STYLE
from hubbub.report.summary import summary
from hubbub.report.text import escaped, in_signs, isolated, sentence, visible
from hubbub.tables.unlisted import HOW_TO_COUNT

if TYPE_CHECKING:
    from hubbub.protocol.release import Release

_TITLE = 400  # signs


def report(
    release: Release,
    *,
    files: Mapping[str, str] | None = None,
    digest: str | None = None,
    heading: Heading = NO_HEADING,
) -> str:
    """The page as text, in the language of its heading. It depends on nothing but the release, the names and digest of
    its files, and its heading."""
    with in_language(heading.language):
        return _report(release, files, digest, heading)


def excerpt(release: Release, dataset: str) -> str:
    """What a reader looks for, to stand in another page: the three lines on top, the picture, the numbers."""
    hidden = _hidden(release)
    numbers = f"{f'<p>{hidden}</p>' if hidden else ''}\n{table(release)}"
    return f'{summary(release, dataset)}\n{_picture(release, NO_HEADING)}\n<div id="numbers">{numbers}</div>'


def _report(release: Release, files: Mapping[str, str] | None, digest: str | None, heading: Heading) -> str:
    title = heading.title or in_signs(release.bound.description.title)
    software = f"hubbub {hubbub.__version__}"
    first, *others = requested_first(release.promises)
    body = BODY.substitute(
        made_by=translate("Made by {software}.", software="\0").replace("\0", software),
        numbers_title=translate("The numbers"),
        promised_title=translate("What is promised"),
        more_title=translate("For whoever wants to know more"),
        not_promised_title=translate("What is not promised"),
        assumptions_title=translate("What is taken for granted"),
        check_title=translate("How to check it"),
        title=isolated(visible(title, _TITLE)),
        subtitle=f'<p class="lead">{isolated(visible(heading.subtitle, _TITLE))}</p>\n' if heading.subtitle else "",
        facts=content.facts(release, files, heading),
        summary=summary(release, None if release.reservation is None else release.reservation.dataset),
        picture=_picture(release, heading),
        hidden=kept_english(_hidden(release)) or translate("Nothing is hidden."),
        table=table(release, dict(heading.labels)),
        notes=content.notes(heading),
        promise=content.promise(first),
        others=content.others(others),
        assumptions=content.assumptions(release),
        not_promised=content.not_promised(release),
        check=content.check(files, digest),
    )
    return standalone_page(
        title=escaped(title, _TITLE), body=body, style=STYLE, generator=software, language=current_language()
    )


def _hidden(release: Release) -> str:
    """What is hidden and what is not counted, for readers."""
    return " ".join(sentence(each) for each in release.result.sentences() if each != HOW_TO_COUNT)


def _picture(release: Release, heading: Heading) -> str:
    """The picture, or that there is none: numbers without a picture are better than none."""
    try:
        return picture(release.result.drawing(), dict(heading.labels))
    except Exception:
        return f"<p>{translate(NOT_DRAWN)}</p>"


# The page of a release: its parts, in order.


BODY: Final = Template(
    """<main>
<header>
<h1>$title</h1>
$subtitle$facts
$summary
</header>
$picture
<section id="numbers">
<h2>$numbers_title</h2>
<p>$hidden</p>
$table
</section>
$notes<section id="promises">
<h2>$promised_title</h2>
$promise
$others</section>
<section id="more">
<h2>$more_title</h2>
<details id="not-promised"><summary>$not_promised_title</summary>
$not_promised
</details>
<details id="assumptions"><summary>$assumptions_title</summary>
$assumptions
</details>
<details id="check"><summary>$check_title</summary>
$check
</details>
</section>
</main>
<footer>$made_by</footer>"""
)
