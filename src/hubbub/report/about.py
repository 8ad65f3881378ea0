"""What stands beside the numbers of a release where there is no page: in the second sheet of a workbook."""

from __future__ import annotations

from collections.abc import Mapping

from hubbub.certificate.explanation import in_numbers, meaning
from hubbub.guarantees.promise_order import requested_first
from hubbub.protocol.release import Release
from hubbub.report.heading import NO_HEADING, Heading
from hubbub.report.summary import exactness, for_a_person
from hubbub.report.text import visible

_LONGEST = 2000  # signs


def about(release: Release, files: Mapping[str, str], heading: Heading = NO_HEADING) -> list[tuple[str, str]]:
    """Terms and paragraphs: what it is, how exact it is, what is promised, what is not, and how to check it."""
    description = release.bound.description
    first, *others = requested_first(release.promises)
    rows = [
        ("Title", heading.title or description.title),
        ("", heading.subtitle),
        ("Published by", heading.publisher),
        ("Date", f"{heading.date}, as declared" if heading.date else ""),
        ("More", heading.link),
        ("What this shows", _sentence(description.published)),
        ("How exact it is", " ".join(map(_sentence, exactness(release)))),
        ("", " ".join(map(_sentence, release.result.sentences()))),
        ("If you are in it", _sentence(for_a_person(first))),
        ("The promise", _sentence(meaning(first.conclusion, first.people).promised)),
        ("In short", in_numbers(first)),
        *(("Also holds", in_numbers(step)) for step in others),
        ("Not promised", _sentence(meaning(first.conclusion, first.people).not_promised)),
        ("Who is a person", _sentence(description.person)),
        *(("Note", note) for note in heading.notes),
        (
            "How to check it",
            f"hubbub verify {files['certificate']} works every promise out again, and compares each sheet of this "
            f"workbook with {files['release']}, which is the file of record. No data is needed.",
        ),
    ]
    return [(term, visible(text, _LONGEST)) for term, text in rows if text]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
