"""``hubbub verify`` and ``hubbub explain``: check a certificate, and read it, without the data."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hubbub.cli import examples, json_option, page, print_json, say, shown
from hubbub.errors import CheckFailed

if TYPE_CHECKING:
    from hubbub.verify import Checked


@click.command("verify", epilog=examples("hubbub verify hubbub-demo/certificate.json"))
@click.argument("certificate")
@click.option("--release", metavar="FILE", help="The published file; if not given, the one beside the certificate.")
@click.option("--key", metavar="PUBLIC", help="Whose signature it must be: the key in hexadecimal, or a file with it.")
@click.option("--dataset", metavar="NAME", help="Which dataset it must be about.")
@json_option
def verify(certificate: str, release: str | None, key: str | None, dataset: str | None, as_json: bool) -> None:
    """Check a certificate without the data: its signature, its file, and every number in it, worked out again.

    Each step is derived anew from its premises and compared with what the certificate says. Exit code 4 if anything is
    wrong. Without --key it is not known whose key signed it.
    """
    from hubbub.ledger.key import given
    from hubbub.verify import free, load
    from hubbub.verify import verify as check

    data = load(certificate)
    file = release if release is not None else _beside(certificate, data)
    done = check(data, release=file, key=None if key is None else given(key), dataset=dataset)
    unknown = _unknown(done, key is None, file is None)
    said = list(free(done, with_file=file is not None)) if done.passed else []
    if as_json:
        print_json(
            {
                "passed": done.passed,
                "checks": [{"what": each.what, "passed": each.passed, "found": each.found} for each in done.checks],
                "not_checked": unknown if done.passed else [],
                "free_text": said,
                "signed_by": done.signer,
                "vouched_for": key is not None and done.passed,
            }
        )
    else:
        _tell(done, unknown, said, vouched=key is not None)
    if not done.passed:
        wrong = done.checks[-1]
        raise CheckFailed(f"the certificate does not hold: {wrong.what}: {wrong.found}")


def _beside(certificate: str, data: bytes) -> str | None:
    """The release that lies beside the certificate under the name the certificate gives."""
    try:
        name = json.loads(data)["release_file"]
        place = Path(certificate).parent / Path(name).name
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return str(place) if place.is_file() else None


def _unknown(done: Checked, any_key: bool, no_file: bool) -> list[str]:
    """What was not, and what cannot be, checked."""
    from hubbub.verify import CANNOT_KNOW

    told = list(CANNOT_KNOW)
    if any_key:
        told.append("whose key signed it: get the publisher's by another way, and give it with --key")
    if no_file:
        told.append("which file it is about: give it with --release")
    return [*told, *(f"whether this is so: {text}" for text in done.assumptions)]


def _tell(done: Checked, unknown: list[str], said: list[str], *, vouched: bool) -> None:
    console = page()
    for each in done.checks:
        found = f": {each.found}" if each.found else ""
        console.print(f"{'✓' if each.passed else '✗'} {each.what}{found}", soft_wrap=True)
    if not done.passed:
        return
    for title, texts in (
        ("Not checked, because nobody can from here:", unknown),
        ("Free text, which whoever signed it chose:", said),
    ):
        console.print(f"\n{title}")
        for text in texts:
            console.print(f"- {shown(text)}", soft_wrap=True)
    whose = "the key that you gave" if vouched else "a key that nobody vouched for: anybody can make one"
    console.print(f"\nThe certificate holds. It is signed by {done.signer}, {whose}.", soft_wrap=True)


@click.command("explain", epilog=examples("hubbub explain hubbub-demo/certificate.json"))
@click.argument("certificate")
@json_option
def explain(certificate: str, as_json: bool) -> None:
    """Say in plain words what a certificate promises, to whom, and what it does not promise.

    The certificate is checked first, as by hubbub verify.
    """
    from hubbub.explain import explain_release
    from hubbub.verify import load
    from hubbub.verify import verify as check

    done = check(load(certificate))
    if not done.passed or done.spec is None or done.certificate is None:
        wrong = done.checks[-1]
        raise CheckFailed(f"the certificate does not hold, so it is not explained: {wrong.what}: {wrong.found}")
    entry = done.certificate["ledger"]
    text = explain_release(done.spec, done.promises)
    where = f"a release of {entry['dataset']}"
    if as_json:
        print_json({"about": where, "text": text, "promises": [str(step.conclusion) for step in done.promises]})
        return
    console = page()
    console.print(f"This certificate is about {where}, made by {done.certificate['software']}.\n", soft_wrap=True)
    width = min(console.width, 100)
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip(" -")))
        console.print(textwrap.fill(shown(line), width, subsequent_indent=indent), soft_wrap=True)
    say("\nChecked: every number follows. Who signed it, and that the file is the one meant: hubbub verify.")
