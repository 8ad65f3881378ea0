"""What is promised about a release, under which assumptions, what is not, and how to check it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from hubbub.certificate.explanation import crowd_sentence, formula, in_numbers, meaning, reading_rules, steps, title
from hubbub.charts.language import ENGLISH, current_language, kept_english, translate, word
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours, RandomSample, ZeroKnowledge
from hubbub.guarantees.people import People, Whose
from hubbub.guarantees.promise_order import requested_first
from hubbub.report.text import escaped, isolated, items, lines, name, sentence, visible

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Derivation
    from hubbub.protocol.release import Release
    from hubbub.report.heading import Heading

_FOUND: Final = "the rule that makes the bins is public"
_NOTES: Final = 2000  # signs


def notes(heading: Heading) -> str:
    """What the publisher adds, in their own words."""
    if not heading.notes:
        return ""
    paragraphs = "".join(f"<p>{isolated(visible(line, _NOTES))}</p>" for line in heading.notes)
    return f'<section id="notes">\n<h2>{translate("Notes of the publisher")}</h2>\n{paragraphs}\n</section>\n'


def others(promises: Sequence[Derivation]) -> str:
    """Promises that hold as well, folded."""
    if not promises:
        return ""
    return f"<details><summary>{translate('Also holds')}</summary>\n{''.join(map(promise, promises))}</details>\n"


def facts(release: Release, files: Mapping[str, str] | None, heading: Heading) -> str:
    """Whose numbers these are, of when, and where their files are."""
    reservation = release.reservation
    entries = {
        translate("Published by"): isolated(visible(heading.publisher, 200)) if heading.publisher else "",
        translate("Dataset"): name(reservation.dataset) if reservation is not None else "",
        translate("Date"): translate("{date}, as declared", date="\0").replace(
            "\0", isolated(visible(heading.date, 200))
        )
        if heading.date
        else "",
        translate("More"): _address(heading.link),
        translate("Files"): ", ".join(_link(Path(file).name) for file in (files or {}).values()),
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
        f"<article>\n<h3>{word(title(step.conclusion))} <small lang='en'>{escaped(step.conclusion.notion)} privacy</small></h3>\n"
        f"{kept_english(''.join(f'<p>{sentence(line)}</p>' for line in sentences))}\n"
        f'<p class="claim">{translate("As experts write it:")} <code>{escaped(in_numbers(step), 2000)}</code></p>\n'
        f"<details><summary>{translate('How this follows')}</summary>\n<pre lang='en'>{lines(chr(10).join(steps(step)))}</pre>\n"
        f"<p>{translate('The same with exact numbers, each conclusion above what it rests on:')}</p>\n"
        f"<pre>{lines(formula(step))}</pre>\n</details>\n</article>\n"
    )


def assumptions(release: Release) -> str:
    """Who counts as a person, who sampled whom, what is public, which data sets must look alike."""
    description = release.bound.description
    known = {
        description.person,
        "the bins are a public partition",
        _FOUND,
        *(f"{column}: {text}" for column, text in description.public),
    }
    texts = dict.fromkeys(text for step in release.promises for text in step.all_assumptions())
    rest = [text for text in texts if text not in known]
    made = (
        translate("The bins were found in the data by these rules, which are public:")
        if _FOUND in texts
        else translate("The bins are a public partition, made by these rules:")
    )
    public = items(f"{name(column)}: {escaped(text, 400)}" for column, text in description.public)
    granted = [*rest, *reading_rules(release.reading), *description.remarks, *filter(None, (description.hidden,))]
    neighbours = dict.fromkeys(_difference(step, step.people) for step in release.promises if step.people is not None)
    person = release.spec.people.person
    parts = {
        translate("Who counts as a person"): sentence(
            description.person, begins_with_a_name=description.person.startswith(f"{person} ")
        ),
        translate("Who sampled whom"): sentence(description.sampling),
        translate("What is public"): f"{made}{public}" if description.public else "",
        translate("What must look alike"): items(map(sentence, neighbours)),
        translate("Also taken for granted"): items(map(sentence, granted)) if granted else translate("Nothing."),
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
        [
            *map(sentence, sentences),
            translate("Anything at all, if something that is taken for granted above is not so."),
        ]
    )


def check(files: Mapping[str, str] | None, digest: str | None) -> str:
    """How somebody without the data can check the release."""
    values, paper, steps = translate("the file of the release"), translate("the certificate"), []
    if files is not None and digest is not None:
        file = escaped(Path(files["release"]).name)
        values, paper = f"<code>{file}</code>", f"<code>{escaped(Path(files['certificate']).name)}</code>"
        steps.append(
            _filled(
                "The promises are about the numbers in {file} if {command} prints {digest}, which {certificate} names too.",
                file=values,
                command=f"<code>sha256sum {file}</code>",
                digest=f"<code>{escaped(digest)}</code>",
                certificate=paper,
            )
        )
    command = "hubbub verify" if files is None else f"hubbub verify {escaped(Path(files['certificate']).name)}"
    steps.append(
        _filled(
            "{command} works out every number of the promises again from {certificate}, which names each theorem with "
            "the exact numbers that went in and came out, and checks the signature. No data is needed.",
            command=f"<code>{command}</code>",
            certificate=paper,
        )
    )
    steps.append(_filled("This page was made from the release alone; {file} says the same.", file=values))
    if current_language() != ENGLISH:
        steps.append(translate("The certificate is in English, and it is what counts."))
    return items(steps)


def _filled(sentence: str, **values: str) -> str:
    """A sentence of ours with HTML in its places, in which no number is rewritten."""
    marks = {place: f"\0{chr(97 + i)}\0" for i, place in enumerate(values)}
    text = translate(sentence, **marks)
    for place, mark in marks.items():
        text = text.replace(mark, values[place])
    return text
