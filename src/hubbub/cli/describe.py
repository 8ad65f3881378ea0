"""``hubbub describe``: a first data dictionary of a table, from its names and types alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from hubbub.cli import display, echo, examples, json_option, options, print_json, print_text
from hubbub.cli.release import FORM
from hubbub.errors import WrongUse
from hubbub.runtime.interruption import interruptible
from hubbub.runtime.progress import working


@click.command(
    "describe",
    epilog=examples(
        "hubbub describe hubbub-demo/millbrook.parquet --out millbrook.json",
        "hubbub describe hubbub-demo/millbrook.parquet --public department --out departments.json",
    ),
)
@click.argument("file")
@click.option("--out", metavar="FILE", help="Where to write it; else datapackage.json beside the file.")
@click.option(
    "--public",
    metavar="COLUMN",
    multiple=True,
    help="Declare that which values occur in this column is public; they are listed. Repeat it.",
)
@partial(options, declared=FORM)
@json_option
def describe(file: str, out: str | None, public: tuple[str, ...], as_json: bool, **how: Any) -> None:
    """Write a first data dictionary of a table, for you to complete.

    It has the names and types of the columns, and questions where only you can answer: who a person is, between which
    numbers a column can lie, which values are public. Nothing in it comes from the rows, unless you declare with
    --public that the values of a column are public. Once it stands beside the file as datapackage.json, every command
    reads it: --by salary then means the declared bins. Take the questions out when they are answered.
    """
    from hubbub.dictionary.datapackage import FILE
    from hubbub.dictionary.dictionary import describe as described
    from hubbub.dictionary.dictionary import package_text
    from hubbub.engines.opening import found_values, is_address, open_source
    from hubbub.opening import named_after

    path = None if is_address(file) else Path(file)
    if out is None and path is None:
        raise WrongUse("a table of a database lies beside no file; say where the dictionary goes, with `out=FILE`")
    place = Path(out) if out is not None else (path or Path()).with_name(FILE)
    if place.exists():
        raise WrongUse(f"{place} is there already and stays as it is; name another file with `out`")
    with working("Reading the table"), interruptible():
        engine = open_source(file, **how)
        values = {column: found_values(engine, column) for column in public}
    beside = path is not None and place.resolve().parent == path.resolve().parent
    made = described(
        engine.columns(),
        name=named_after(file, how["table"]),
        path=None if path is None else path.name if beside else str(path.resolve()),
        public=values,
    )
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("x", encoding="utf-8") as file_made:
        file_made.write(package_text(made))
    if as_json:
        print_json({"written": str(place), "columns": len(engine.columns())})
        return
    echo(f"Written: {display(str(place))}, with {len(engine.columns()):,} columns.")
    print_text(f"Note: {made['resources'][0]['hubbub']['questions'][0]}")
    print_text("Note: answer its questions by what is public about the columns, and not by looking at the rows.")
