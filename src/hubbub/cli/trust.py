"""``hubbub trust``: whose keys are known."""

from __future__ import annotations

from pathlib import Path

import click

from hubbub.cli import Commands, examples, json_option, page, print_json


@click.group("trust", cls=Commands, epilog=examples("hubbub trust list"))
def trust() -> None:
    """Whose keys are known: names for the keys of those whose certificates you check.

    Get a publisher's key by another way than the certificate: from their web page, by telephone, on paper.
    """


@trust.command("add", epilog=examples("hubbub trust add millbrook hubbub-demo/publisher.key"))
@click.argument("name")
@click.argument("key")
@json_option
def add(name: str, key: str, as_json: bool) -> None:
    """Remember that KEY (in hexadecimal, or a file that holds it) is that of NAME.

    A name keeps its key: another one under a known name is refused.
    """
    from hubbub.ledger import trust

    new = trust.add(name, key)
    public = trust.key_of(name)
    if as_json:
        print_json({"name": name, "public_key": public, "new": new})
    elif new:
        page().print(f"The key {public} is that of {name} from now on. This is its first use here.", soft_wrap=True)
    else:
        page().print(f"{name} was known with this very key.", soft_wrap=True)


@trust.command("list", epilog=examples("hubbub trust list"))
@json_option
def list_keys(as_json: bool) -> None:
    """Every name with its key."""
    from hubbub.ledger import trust

    known = trust.names()
    if as_json:
        print_json({"keys": known})
        return
    for name, key in sorted(known.items()):
        page().print(f"{name}: {key}", soft_wrap=True)
    if not known:
        page().print("Nobody's key is known yet; hubbub trust add NAME KEY remembers one.")


@trust.command(
    "remove", epilog=examples("hubbub trust add millbrook hubbub-demo/publisher.key", "hubbub trust remove millbrook")
)
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> None:
    """Forget a name and its key."""
    from hubbub.ledger import trust

    trust.remove(name)
    if as_json:
        print_json({"removed": name})
    else:
        page().print(f"{name} is forgotten.", soft_wrap=True)


@trust.command(
    "approve",
    epilog=examples(
        "hubbub run hubbub-demo/hubbub.toml --dry-run --sheet review/",
        "hubbub trust approve review/review.md --ledger hubbub-demo/ledger/ledger.db",
    ),
)
@click.argument("sheet")
@click.option("--out", metavar="FILE", default="approval.json", show_default=True, help="Where the approval goes.")
@click.option("--ledger", metavar="FILE", help="Sign with the key of another ledger than your own.")
@json_option
def approve(sheet: str, out: str, ledger: str | None, as_json: bool) -> None:
    """Sign the review sheet of a publication (review.md of hubbub run --dry-run --sheet), if you approve of it.

    The publisher, who knows your key, puts the file beside hubbub.toml. It holds for this very sheet and for no other.
    """
    from hubbub.errors import WrongUse
    from hubbub.ledger.ledger import Ledger
    from hubbub.project.review import approve as sign_sheet
    from hubbub.runtime.regular_file import open_regular

    try:
        with open_regular(sheet) as file:
            text = file.read().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise WrongUse(f"the sheet cannot be read from {sheet[:200]!r}; give review.md as it was sent") from None
    if Path(out).exists():
        raise WrongUse(f"{out} is there already and stays as it is; name another file with `out`")
    book = Ledger(ledger)
    Path(out).write_bytes(sign_sheet(text, book))
    if as_json:
        print_json({"approval": out, "public_key": book.public_key()})
    else:
        page().print(f"Signed: {out}, with the key {book.public_key()}.", soft_wrap=True)
