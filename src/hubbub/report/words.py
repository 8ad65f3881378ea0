"""What is promised about a release, under which assumptions, what is not, and how to check it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hubbub.certificate import about
from hubbub.explain import (
    crowd_words,
    explain,
    explain_guarantee,
    formula,
    method_words,
    sampling_words,
    title,
    who_words,
)
from hubbub.guarantees.derivation import Derivation
from hubbub.release import Release
from hubbub.report.numbers import by_columns
from hubbub.report.text import escaped, items, lines, name, sentence
from hubbub.tables.bins import rule

_NOT_PROMISED: Final = "Not promised: "


def summary(release: Release) -> str:
    """The release in one sentence."""
    how, scaled = method_words(release.spec), "; the intervals are for everybody in the table"
    end = scaled if release.spec.scale_up else ""
    return f"Counts of {who_words(release.spec)}, by {by_columns(release)}: {escaped(how)}{end}."


def promise(step: Derivation) -> str:
    """One promise: what it means, its k, the claim itself, and how it follows."""
    claim = step.conclusion
    notion = str(about(claim)["notion"])
    told = [line for line in explain_guarantee(claim).splitlines() if not line.startswith(_NOT_PROMISED)]
    told.append(crowd_words(step))
    return (
        f"<article>\n<h3>{title(claim)} <small>{escaped(notion)} privacy</small></h3>\n"
        f"{''.join(f'<p>{sentence(line)}</p>' for line in told if line)}\n"
        f'<p class="claim">In short: <code>{escaped(str(claim), 2000)}</code></p>\n'
        f"<details><summary>How this follows</summary>\n<pre>{lines(_steps(step))}</pre>\n"
        "<p>The same with exact numbers, each conclusion above what it rests on:</p>\n"
        f"<pre>{lines(formula(step))}</pre>\n</details>\n</article>\n"
    )


def _steps(step: Derivation) -> str:
    """The middle of the explanation: its beginning and its end have places of their own on the page."""
    return explain(step).partition("How it follows\n")[2].partition("\n\nTaken for granted\n")[0]


def assumptions(release: Release) -> str:
    """Who counts as a person, who sampled whom, what is public."""
    spec = release.spec
    rules = [(axis.column, rule(axis)) for axis in release.axes]
    known = {spec.unit.words, "the bins are a public partition", *(f"{column}: {text}" for column, text in rules)}
    rest = dict.fromkeys(text for step in release.promises for text in step.all_assumptions() if text not in known)
    public = items(f"{name(column)}: {escaped(text, 400)}" for column, text in rules)
    parts = {
        "Who counts as a person": sentence(
            spec.unit.words, begins_with_a_name=spec.unit.words.startswith(f"{spec.unit.person} ")
        ),
        "Who sampled whom": sentence(sampling_words(spec)),
        "What is public": f"The bins are a public partition, made by these rules:{public}",
        "What a neighbouring table is": "The same table with one person more or less.",
        "Also taken for granted": items(map(sentence, [*rest, *spec.remarks])) if rest or spec.remarks else "Nothing.",
    }
    return f"<dl>{''.join(f'<dt>{term}</dt><dd>{text}</dd>' for term, text in parts.items())}</dl>"


def not_promised(release: Release) -> str:
    """What nobody should read into the promises."""
    told = dict.fromkeys(
        line.removeprefix(_NOT_PROMISED)
        for step in release.promises
        for line in explain_guarantee(step.conclusion).splitlines()
        if line.startswith(_NOT_PROMISED)
    )
    return items([*map(sentence, told), "Anything at all, if something that is taken for granted above is not so."])


def check(files: Mapping[str, str] | None, digest: str | None) -> str:
    """How somebody without the data can check the release."""
    values, paper, steps = "the file of the release", "the certificate", []
    if files is not None and digest is not None:
        file = escaped(Path(files["release"]).name)
        values, paper = f"<code>{file}</code>", f"<code>{escaped(Path(files['certificate']).name)}</code>"
        steps.append(
            f"The promises are about the numbers in {values} if <code>sha256sum {file}</code> prints "
            f"<code>{escaped(digest)}</code>, which is also what {paper} calls <code>release_sha256</code>."
        )
    command = "hubbub verify" if files is None else f"hubbub verify {escaped(Path(files['certificate']).name)}"
    steps.append(
        f"<code>{command}</code> works out every number of the promises again from {paper}, which names each theorem "
        "with the exact numbers that went in and came out, and checks the signature. No data is needed."
    )
    steps.append(f"This page was made from the release alone; {values} says the same.")
    return items(steps)
