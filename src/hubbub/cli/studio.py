"""``hubbub studio``: the local page."""

from __future__ import annotations

from importlib.util import find_spec

import click

from hubbub.cli import examples, print_text
from hubbub.errors import WrongUse, install

_NEEDED = ("jinja2", "multipart", "starlette", "uvicorn")


@click.command("studio", epilog=examples("hubbub studio hubbub-demo --example"))
@click.argument("folder", default=".")
@click.option(
    "--example", is_flag=True, help="Put the made-up town of Millbrook into FOLDER, with a ledger of its own."
)
@click.option("--ledger", metavar="FILE", help="Another ledger than your own.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="The port; without it, a free one.")
@click.option("--no-browser", is_flag=True, help="Print the link and open no browser.")
def studio(folder: str, example: bool, ledger: str | None, port: int, no_browser: bool) -> None:
    """Open a page on your own machine that publishes, checks, plans, counts votes and shows the ledger.

    It sees FOLDER and nothing outside it, answers this machine alone, and opens by a link that works once. Nothing is
    fetched from outside. Stop it with Ctrl-C.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise WrongUse(f"the studio needs {', '.join(missing)}, not installed here; {install('studio')}")
    from hubbub.studio.server import serve

    def print_link(link: str) -> None:
        print_text("The studio is open on this machine alone. This link works once, in one browser:")
        click.echo(link)
        print_text("Stop it with Ctrl-C.")

    serve(folder, ledger=ledger, example=example, port=port, browser=not no_browser, announce=print_link)
