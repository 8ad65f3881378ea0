"""The report of a release: one page for people, which opens without a network and runs no code.

It is made from the release alone, so it tells nothing that the release does not tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import Final

import hubbub
from hubbub.charts.skeleton import standalone_page
from hubbub.guarantees.promise_order import requested_first
from hubbub.protocol.release import Release
from hubbub.report import content
from hubbub.report.heading import NO_HEADING, Heading
from hubbub.report.numbers import table
from hubbub.report.picture import NOT_DRAWN, picture
from hubbub.report.style import STYLE
from hubbub.report.summary import summary
from hubbub.report.text import escaped, isolated, sentence, visible

_TITLE = 400  # signs


def report(
    release: Release,
    *,
    files: Mapping[str, str] | None = None,
    digest: str | None = None,
    heading: Heading = NO_HEADING,
) -> str:
    """The page as text. It depends on nothing but the release, the names and digest of its files, and its heading."""
    title = heading.title or release.spec.describe().title
    software = f"hubbub {hubbub.__version__}"
    first, *others = requested_first(release.promises)
    body = BODY.substitute(
        software=software,
        title=isolated(visible(title, _TITLE)),
        subtitle=f'<p class="lead">{isolated(visible(heading.subtitle, _TITLE))}</p>\n' if heading.subtitle else "",
        facts=content.facts(release, files, heading),
        summary=summary(release),
        picture=_picture(release, heading),
        hidden=" ".join(map(sentence, release.result.sentences())) or "Nothing is hidden.",
        table=table(release, dict(heading.labels)),
        notes=content.notes(heading),
        promise=content.promise(first),
        others=content.others(others),
        assumptions=content.assumptions(release),
        not_promised=content.not_promised(release),
        check=content.check(files, digest),
    )
    return standalone_page(title=escaped(title, _TITLE), body=body, style=STYLE, generator=software)


def _picture(release: Release, heading: Heading) -> str:
    """The picture, or that there is none: numbers without a picture are better than none."""
    try:
        return picture(release.result.drawing(), dict(heading.labels))
    except Exception:
        return NOT_DRAWN


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
<h2>The numbers</h2>
<p>$hidden</p>
$table
</section>
$notes<section id="promises">
<h2>What is promised</h2>
$promise
$others</section>
<section id="more">
<h2>For whoever wants to know more</h2>
<details id="not-promised"><summary>What is not promised</summary>
$not_promised
</details>
<details id="assumptions"><summary>What is taken for granted</summary>
$assumptions
</details>
<details id="check"><summary>How to check it</summary>
$check
</details>
</section>
</main>
<footer>Made by $software.</footer>"""
)
