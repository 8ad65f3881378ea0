"""``hubbub verify`` and ``hubbub explain``: check a certificate, and read it, without the data."""

from __future__ import annotations

import shutil
import textwrap
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from hubbub.cli import display, echo, examples, json_option, page, print_json, print_text
from hubbub.errors import CheckFailed, WrongUse
from hubbub.runtime.progress import working

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hubbub.verification import Checked
    from hubbub.verification.counts import CountChecked
    from hubbub.verification.series import SeriesChecked
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.rctab.record import OfficeFile


@click.command(
    "verify",
    epilog=examples(
        "hubbub verify hubbub-demo/certificate.json --key hubbub-demo/publisher.key",
        "hubbub verify hubbub-demo/certificate.json --certificate-only",
    ),
)
@click.argument("certificate")
@click.option(
    "--ballots",
    metavar="FILE",
    multiple=True,
    help="For the result of a count: the ballots, or the configuration, to count them again; may be repeated.",
)
@click.option("--official", metavar="FILE", help="For published ballots: the official record they must stand beside.")
@click.option("--release", metavar="FILE", help="The published file; if not given, the one beside the certificate.")
@click.option("--key", metavar="WHOSE", help="Who must have signed: a name (hubbub trust), a key, or a file with it.")
@click.option("--dataset", metavar="NAME", help="Which dataset it must be about.")
@click.option("--explain", "explained", is_flag=True, help="List every check, and what cannot be checked.")
@click.option("--certificate-only", is_flag=True, help="Be content without a known signer and without the files.")
@json_option
def verify(
    certificate: str,
    ballots: tuple[str, ...],
    official: str | None,
    release: str | None,
    key: str | None,
    dataset: str | None,
    explained: bool,
    certificate_only: bool,
    as_json: bool,
) -> None:
    """Check a certificate without the data: its signature, its files, and every number in it, worked out again.

    CERTIFICATE may also be the signed result of a count (hubbub vote tally --record), which is counted again from
    --ballots, bit for bit.

    It may also be a folder with the folders of all periods of a series, which are then checked together.

    Each step is derived anew and compared with what the certificate says. Exit code 4 if anything is wrong, and, unless
    --certificate-only is given, if nobody known signed it or a file that it names is not there.
    """
    from hubbub.ledger import trust
    from hubbub.verification import load
    from hubbub.verification.api import verify as check
    from hubbub.verification.counts import is_count, verify_count
    from hubbub.verification.series import is_series, verify_series

    if is_series(certificate):
        if any((ballots, official, release, dataset)):
            raise WrongUse("a folder of periods is checked as it is; leave out the other options, but for `key`")
        series = verify_series(certificate, key=None if key is None else trust.key_of(key), known=trust.signer)
        _print_series(series, as_json=as_json, enough=series.complete or certificate_only, explained=explained)
        return
    done: Checked | CountChecked
    if ballots or is_count(load(certificate)):
        for given, flag in ((release, "--release"), (dataset, "--dataset"), (official, "--official")):
            if given is not None:
                raise WrongUse(f"{flag} is about certificates, and this is the result of a count; leave it out")
        reader = partial(_ballots, ballots) if ballots else None
        whose = None if key is None else trust.key_of(key)
        with working("Counting again"):
            done = verify_count(load(certificate), ballots=reader, key=whose, known=trust.signer)
    else:
        done = check(certificate, release=release, official=official, key=key, dataset=dataset)
    if as_json:
        print_json(done.as_json())
    else:
        _print_verdict(done, enough=done.passed and (done.complete or certificate_only), explained=explained)
    if not done.passed:
        raise CheckFailed(f"{done.verdict[:1].lower()}{done.verdict[1:]}")
    if not done.complete and not certificate_only:
        raise CheckFailed(
            "the checks above passed, and something is still missing: "
            + "; ".join(done.lacking)
            + "; or check the certificate alone with `certificate_only=True`"
        )


def _print_series(done: SeriesChecked, *, as_json: bool, enough: bool, explained: bool) -> None:
    """The periods of a series together."""
    if as_json:
        print_json(done.as_json())
    else:
        page().verdict(
            done.verdict, passed=(done.passed and enough) or (None if done.passed else False), soft_wrap=True
        )
        for each in done.checks if explained else ():
            echo(f"{'✓' if each.passed else '✗'} {each.what}: {display(each.found)}")
    if not done.passed:
        raise CheckFailed(f"{done.verdict[:1].lower()}{done.verdict[1:].rstrip('.')}; get the originals")
    if not enough:
        raise CheckFailed(
            "the numbers follow, but nobody known signed them, or files are missing; name the signer with `key`, or check "
            "the certificates alone with `certificate_only=True`"
        )


def _ballots(paths: tuple[str, ...], record: Mapping[str, Any]) -> BallotFile | OfficeFile:
    """The ballots of files, or those of the invented election, read as the record says."""
    from hubbub.demo import council
    from hubbub.voting.formats.ballot_file import BallotFile
    from hubbub.voting.formats.reading import Reading
    from hubbub.voting.rctab.record import ballots_again

    if paths != (council.NAME,):
        return ballots_again(record, paths)
    reading = Reading.from_json(record.get("reading") or {})
    return BallotFile(ballots=council.ballots(), format="invented", title=council.TITLE, reading=reading)


def _print_verdict(done: Checked | CountChecked, *, enough: bool, explained: bool) -> None:
    """The answer first: what holds and who signed it; with --explain every check, and what nobody can check."""
    from hubbub.verification import Checked

    page().verdict(done.verdict, passed=enough or (None if done.passed else False), soft_wrap=True)
    if explained:
        echo()
        for each in done.checks:
            found = f": {each.found}" if each.found else ""
            echo(f"{'✓' if each.passed else '✗'} {each.what}{found}")
    if not done.passed:
        return
    if not explained:
        first, *others = done.not_checked or ("",)
        unseen = f" No certificate can show {display(first)}." if first else ""
        several = "statement is" if len(others) == 1 else "statements are"
        word = f" As always, {len(others)} more {several} the publisher's word." if others else ""
        lines = [f"{len(done.checks)} checks passed.{unseen}{word} --explain lists all of it."]
        lines += [f"Note: {display(text)}." for text in (done.declared if isinstance(done, Checked) else ())]
        for text in lines:
            echo(textwrap.fill(text, shutil.get_terminal_size().columns))
        return
    for title, texts in (
        ("The publisher's word, which nobody can check from here:", done.not_checked),
        ("Free text, which whoever signed it chose:", done.free),
    ):
        echo(f"\n{title}")
        for text in texts:
            echo(f"- {display(text)}")


@click.command("explain", epilog=examples("hubbub explain hubbub-demo/certificate.json"))
@click.argument("certificate")
@json_option
def explain(certificate: str, as_json: bool) -> None:
    """Say in plain words what a certificate promises, to whom, and what it does not promise.

    The certificate is checked first, as by hubbub verify --certificate-only.
    """
    from hubbub.verification.api import explain as told

    found = told(certificate)
    if as_json:
        print_json(found.as_json())
        return
    echo(f"This certificate is about {found.about}, made by {found.software}.\n")
    width = min(shutil.get_terminal_size().columns, 100)
    for line in found.text.splitlines():
        indent = " " * (len(line) - len(line.lstrip(" -")))
        echo(textwrap.fill(display(line), width, subsequent_indent=indent))
    print_text("\nChecked: every number follows. Who signed it, and that the file is the one meant: hubbub verify.")
