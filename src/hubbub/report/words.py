"""What is promised about a release, under which assumptions, what is not, and how to check it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hubbub.certificate import about
from hubbub.channels.catalogue import CATALOGUE, parameters
from hubbub.exact import to_text
from hubbub.explain import explain, explain_guarantee, formula
from hubbub.guarantees.definitions import BernoulliSample, CrowdBlending, RobustSample, SimpleOutlier, ZeroKnowledge
from hubbub.guarantees.derivation import Derivation
from hubbub.release import Release
from hubbub.report.numbers import by_columns
from hubbub.report.text import escaped, items, lines, listed, name, sentence
from hubbub.tables.bins import rule

_TITLES: Final = {
    "crowd-blending": "Lost in the crowd",
    "outlier": "The rarer you are, the less you show",
    "differential": "With you or without you",
    "zero-knowledge": "No more than a sample would tell",
    "distributional": "Hidden by who was picked",
}
_NOT_PROMISED: Final = "Not promised: "
_HOW: Final = {"warped": "noise that is the larger the fewer people a bin has"}


def summary(release: Release) -> str:
    """The release in one sentence."""
    channel = release.spec.channel
    given = parameters(channel)
    how = _HOW.get(channel.name) or re.sub(r" \([^)]*\)$", "", CATALOGUE[channel.name].summary)
    if "k" in given:
        how = re.sub(r"\bk\b", str(given["k"]), how)
    if given.get("show_above") is not None:
        how += f", and values up to {given['show_above']} hidden"
    who = "people in the table" if release.spec.sample is None else "people in a secret sample of the table"
    scaled = "; the intervals are for everybody in the table" if release.spec.scale_up else ""
    return f"Counts of {who}, by {by_columns(release)}: {escaped(how)}{scaled}."


def promise(step: Derivation) -> str:
    """One promise: what it means, its k, the claim itself, and how it follows."""
    claim = step.conclusion
    notion = str(about(claim)["notion"])
    told = [line for line in explain_guarantee(claim).splitlines() if not line.startswith(_NOT_PROMISED)]
    told.append(crowd(step))
    return (
        f"<article>\n<h3>{_TITLES.get(notion, 'A promise')} <small>{escaped(notion)} privacy</small></h3>\n"
        f"{''.join(f'<p>{sentence(line)}</p>' for line in told if line)}\n"
        f'<p class="claim">In short: <code>{escaped(str(claim), 2000)}</code></p>\n'
        f"<details><summary>How this follows</summary>\n<pre>{lines(_steps(step))}</pre>\n"
        "<p>The same with exact numbers, each conclusion above what it rests on:</p>\n"
        f"<pre>{lines(formula(step))}</pre>\n</details>\n</article>\n"
    )


def _steps(step: Derivation) -> str:
    """The middle of the explanation: its beginning and its end have places of their own on the page."""
    return explain(step).partition("How it follows\n")[2].partition("\n\nTaken for granted\n")[0]


def crowd(step: Derivation) -> str:
    """The k behind a zero-knowledge promise about people who were picked one by one; nothing for other promises."""
    if not isinstance(step.conclusion, ZeroKnowledge):
        return ""
    crowds = {part.conclusion.k for part in step.steps() if isinstance(part.conclusion, CrowdBlending | SimpleOutlier)}
    if crowds:
        return f"k = {listed([str(k) for k in sorted(crowds)])} is the crowd in the sample that this rests on."
    if isinstance(step.conclusion.aggregate, BernoulliSample | RobustSample):
        return "k, the number of people whose data it is fair to know, is the size of such a sample, and is not told."
    return ""


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
        "Who sampled whom": sentence(_sampled(release)),
        "What is public": f"The bins are a public partition, made by these rules:{public}",
        "What a neighbouring table is": "The same table with one person more or less.",
        "Also taken for granted": items(map(sentence, [*rest, *spec.remarks])) if rest or spec.remarks else "Nothing.",
    }
    return f"<dl>{''.join(f'<dt>{term}</dt><dd>{text}</dd>' for term, text in parts.items())}</dl>"


def _sampled(release: Release) -> str:
    spec = release.spec
    if spec.sample is not None:
        return (
            f"a fresh secret sample was drawn for this release: each person in the table with probability "
            f"{to_text(spec.sample)}, independently, and who was drawn is not kept"
        )
    if spec.collected is None:
        return "nobody: everybody in the table is counted"
    low, high = to_text(spec.collected.low), to_text(spec.collected.high)
    rate = low if low == high else f"between {low} and {high}"
    spared = f", but for at most {spec.collected.exempt} of them" if spec.collected.exempt else ""
    return (
        f"those who collected the table declare that each person came into it with probability {rate}, "
        f"independently{spared}, and that who did is secret"
    )


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
    steps.append(
        f"Every number of a promise can be worked out again from {paper}: it names each theorem, with the exact "
        "numbers that went in and came out. No data is needed."
    )
    steps.append(f"This page was made from the release alone; {values} says the same.")
    return items(steps)
