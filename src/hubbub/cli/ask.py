"""``hubbub ask``: an answer from a published synopsis, without the data."""

from __future__ import annotations

import click

from hubbub.cli import display, examples, json_option, page, print_json


@click.command(
    "ask",
    epilog=examples(
        "hubbub release queries hubbub-demo/millbrook.parquet --person resident --columns age:0..90:5 "
        "--class intervals --epsilon 1 --out q",
        "hubbub ask q/certificate.json 'age=[20,25)..[60,65)'",
    ),
)
@click.argument("certificate")
@click.argument("words", nargs=-1, required=True)
@click.option("--release", metavar="FILE", help="The published file; if not given, the one beside the certificate.")
@json_option
def ask(certificate: str, words: tuple[str, ...], release: str | None, as_json: bool) -> None:
    """How many people are like this, from a published synopsis (hubbub release queries) and its certificate.

    WORDS are column=bin, one for each column of the query, with bins named as in the release; column=first..last is a
    run of bins. The query must be one of the class that the synopsis answers, or a sum of them: of tables by two columns
    (marginals:2), one column is answered too, within the sum of the bounds.
    """
    from hubbub.verification.synopsis import reopen

    found = reopen(certificate, release=release)
    answer = found.answer(found.words(words))
    if as_json:
        print_json(answer.as_json())
        return
    page().print(display(answer.sentence()))
