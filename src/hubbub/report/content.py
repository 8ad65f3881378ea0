"""What is promised about a release, under which assumptions, what is not, and how to check it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from hubbub.certificate.explanation import crowd_sentence, formula, in_numbers, meaning, reading_rules, steps, title
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours, RandomSample, ZeroKnowledge
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import People, Whose
from hubbub.guarantees.promise_order import requested_first
from hubbub.protocol.release import Release
from hubbub.report.heading import Heading
from hubbub.report.text import escaped, isolated, items, lines, name, sentence, visible

_NOTES: Final = 2000  # signs


def notes(heading: Heading) -> str:
    """What the publisher adds, in their own words."""
    if not heading.notes:
        return ""
    paragraphs = "".join(f"<p>{isolated(visible(line, _NOTES))}</p>" for line in heading.notes)
    return f'<section id="notes">\n<h2>Notes of the publisher</h2>\n{paragraphs}\n</section>\n'


def others(promises: Sequence[Derivation]) -> str:
    """Promises that hold as well, folded."""
    if not promises:
        return ""
    return f"<details><summary>Also holds</summary>\n{''.join(map(promise, promises))}</details>\n"


def facts(release: Release, files: Mapping[str, str] | None, heading: Heading) -> str:
    """Whose numbers these are, of when, and where their files are."""
    reservation = release.reservation
    entries = {
        "Published by": isolated(visible(heading.publisher, 200)) if heading.publisher else "",
        "Dataset": name(reservation.dataset) if reservation is not None else "",
        "Date": f"{isolated(visible(heading.date, 200))}, as declared" if heading.date else "",
        "More": _address(heading.link),
        "Files": ", ".join(_link(Path(file).name) for file in (files or {}).values()),
    }
    rows = "".join(f"<div><dt>{term}</dt><dd>{text}</dd></div>" for term, text in entries.items() if text)
    return f'<dl class="facts">{rows}</dl>' if rows else ""


def _address(link: str) -> str:
    return f'<a href="{escaped(link, 1000)}" rel="noreferrer">{escaped(link)}</a>' if link else ""


def _link(file: str) -> str:
    return f'<a href="{escaped(quote(file), 1000)}">{escaped(file)}</a>'


def promise(step: Derivation) -> str:
    """One promise: what it means, its k, the claim itself, and how it follows."""
    explanation = meaning(step.conclusion, step.people)
    sentences = [line for line in (explanation.promised, explanation.crowd, crowd_sentence(step)) if line]
    return (
        f"<article>\n<h3>{title(step.conclusion)} <small>{escaped(step.conclusion.notion)} privacy</small></h3>\n"
        f"{''.join(f'<p>{sentence(line)}</p>' for line in sentences)}\n"
        f'<p class="claim">In short: <code>{escaped(in_numbers(step), 2000)}</code></p>\n'
        f"<details><summary>How this follows</summary>\n<pre>{lines(chr(10).join(steps(step)))}</pre>\n"
        "<p>The same with exact numbers, each conclusion above what it rests on:</p>\n"
        f"<pre>{lines(formula(step))}</pre>\n</details>\n</article>\n"
    )


def assumptions(release: Release) -> str:
    """Who counts as a person, who sampled whom, what is public, which data sets must look alike."""
    description = release.spec.describe()
    known = {
        description.person,
        "the bins are a public partition",
        *(f"{column}: {text}" for column, text in description.public),
    }
    rest = dict.fromkeys(text for step in release.promises for text in step.all_assumptions() if text not in known)
    public = items(f"{name(column)}: {escaped(text, 400)}" for column, text in description.public)
    granted = [*rest, *reading_rules(release.reading), *description.remarks]
    neighbours = dict.fromkeys(_difference(step, step.people) for step in release.promises if step.people is not None)
    person = release.spec.people.person
    parts = {
        "Who counts as a person": sentence(
            description.person, begins_with_a_name=description.person.startswith(f"{person} ")
        ),
        "Who sampled whom": sentence(description.sampling),
        "What is public": f"The bins are a public partition, made by these rules:{public}"
        if description.public
        else "",
        "What must look alike": items(map(sentence, neighbours)),
        "Also taken for granted": items(map(sentence, granted)) if granted else "Nothing.",
    }
    return f"<dl>{''.join(f'<dt>{term}</dt><dd>{text}</dd>' for term, text in parts.items() if text)}</dl>"


def _difference(step: Derivation, people: People) -> str:
    """Which two data sets must look alike; where the number of people is public, both have it."""
    match step.conclusion:
        case DifferentialPrivacy(neighbours=Neighbours.REPLACE) if people.whose is Whose.TABLE:
            return "two tables of as many people, which differ in nothing but what they say about one person"
        case ZeroKnowledge(aggregate=RandomSample()):
            return (
                "the release, and what somebody makes of so many random people of the same table, in which one person "
                "is blank"
            )
        case _:
            return people.difference


def not_promised(release: Release) -> str:
    """What nobody should read into the promises."""
    sentences = dict.fromkeys(
        meaning(step.conclusion, step.people).not_promised for step in requested_first(release.promises)
    )
    return items(
        [*map(sentence, sentences), "Anything at all, if something that is taken for granted above is not so."]
    )


def check(files: Mapping[str, str] | None, digest: str | None) -> str:
    """How somebody without the data can check the release."""
    values, paper, steps = "the file of the release", "the certificate", []
    if files is not None and digest is not None:
        file = escaped(Path(files["release"]).name)
        values, paper = f"<code>{file}</code>", f"<code>{escaped(Path(files['certificate']).name)}</code>"
        steps.append(
            f"The promises are about the numbers in {values} if <code>sha256sum {file}</code> prints "
            f"<code>{escaped(digest)}</code>, which {paper} names too."
        )
    command = "hubbub verify" if files is None else f"hubbub verify {escaped(Path(files['certificate']).name)}"
    steps.append(
        f"<code>{command}</code> works out every number of the promises again from {paper}, which names each theorem "
        "with the exact numbers that went in and came out, and checks the signature. No data is needed."
    )
    steps.append(f"This page was made from the release alone; {values} says the same.")
    return items(steps)
