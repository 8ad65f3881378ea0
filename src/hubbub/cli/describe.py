"""``hubbub describe``: the data dictionary of a table: a first one from its names and types alone, and what is said of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from hubbub.cli import display, echo, examples, json_option, options, print_json, print_text
from hubbub.cli.release import READING, TABLE
from hubbub.errors import WrongUse
from hubbub.runtime.interruption import interruptible
from hubbub.runtime.progress import working

_SAID: Final = (*(option for option in TABLE if option.name != "dictionary"), *READING)
_FORM: Final = ("table", "delimiter", "encoding", "no_header", "missing")  # without which a file is not read


@click.command(
    "describe",
    epilog=examples(
        "hubbub describe hubbub-demo/millbrook.parquet --out millbrook.json",
        "hubbub describe hubbub-demo/millbrook.parquet --public department --out departments.json",
        "hubbub describe hubbub-demo/millbrook.parquet --person resident --unlisted 0.05 --out people.json",
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
@partial(options, declared=_SAID)
@json_option
def describe(file: str, out: str | None, public: tuple[str, ...], as_json: bool, **flags: Any) -> None:
    """Write down once what is public about a table, for all that is published of it.

    Who a person is, how the file is read, what it is joined with, whose ids it has: every command finds that in the data
    dictionary, datapackage.json beside the file. Where there is one already, what you say here is written into it and the
    rest stays as it is. A first one has the names and types of the columns too, and questions where only you can answer:
    between which numbers a column can lie, which values are public. Nothing in it comes from the rows, unless you declare
    with --public that the values of a column are public. Take the questions out when they are answered: --by salary then
    means the declared bins.
    """
    from hubbub.dictionary.datapackage import FILE, declare, extend, read
    from hubbub.engines.files.csv_file import form
    from hubbub.engines.opening import is_address
    from hubbub.opening import named_after

    path = None if is_address(file) else Path(file)
    if out is None and path is None:
        raise WrongUse("a table of a database lies beside no file; say where the dictionary goes, with `out=FILE`")
    target = Path(out) if out is not None else (path or Path()).with_name(FILE)
    if target.with_name("certificate.json").exists():
        raise WrongUse(f"{target.parent} holds a release, whose files stay as they are; name another file with `out`")
    words = {name: value for name, value in flags.items() if value and name != "table"}
    _check(words)
    csv = form(**{name: words.get(name) for name in ("delimiter", "encoding", "no_header")})
    words |= {name: getattr(csv, name) for name in ("delimiter", "encoding") if name in words}
    package, resource = extend(target, path, flags["table"])
    first = resource is None
    if resource is None:
        resource = _draft(file, flags, public)
        beside = path is not None and target.resolve().parent == path.resolve().parent
        resource |= {"name": named_after(file, flags["table"])}
        resource |= {} if path is None else {"path": path.name if beside else str(path.resolve())}
        package.setdefault("name", resource["name"])
        package["resources"].append(resource)
    elif not words or public:
        raise WrongUse(
            f"{target} describes this table already; say what to write into it, like `missing=NA`, or name another file "
            "with `out`"
        )
    declare(resource, words)
    for each in package["resources"]:
        read(each, target)
    _write(package, target, file, flags["table"])
    columns = len(resource["schema"]["fields"])
    if as_json:
        print_json({"written": str(target), "columns": columns})
        return
    echo(f"Written: {display(str(target))}, with {columns:,} columns.")
    if first:
        print_text(f"Note: {resource['hubbub']['questions'][0]}")
        print_text("Note: answer its questions by what is public about the columns, and not by looking at the rows.")


def _check(words: dict[str, Any]) -> None:
    """Refuse what contradicts itself, or lacks its other half."""
    for one, other in (("person", "rows_are_people"), ("other_people", "ids_of"), ("collected", "collected_between")):
        if one in words and other in words:
            raise WrongUse(f"`{one}` and `{other}` exclude each other; keep the one that applies")
    if ("join" in words) is not ("on" in words):
        raise WrongUse("`join` and `on` belong together: the second table, and the column that both have; say both")


def _draft(file: str, flags: dict[str, Any], public: tuple[str, ...]) -> dict[str, Any]:
    """The description that the names and types of the columns give."""
    from hubbub.dictionary.dictionary import describe as describe_columns
    from hubbub.engines.opening import found_values, open_source

    with working("Reading the table"), interruptible():
        engine = open_source(file, **{name: flags[name] for name in _FORM})
        values = {column: found_values(engine, column) for column in public}
    return describe_columns(engine.columns(), public=values, words=flags)


def _write(package: dict[str, Any], target: Path, file: str, table: str | None) -> None:
    """Write it where it can be read back with its table, so that nothing is declared which no release could be made by."""
    from hubbub.dictionary.datapackage import find
    from hubbub.dictionary.dictionary import package_text
    from hubbub.opening import open as open_table

    target.parent.mkdir(parents=True, exist_ok=True)
    written = target.with_name(f"{target.name}.new")
    try:
        written.write_text(package_text(package), encoding="utf-8")
        declared = find(file, table, written)
        unsaid = declared.person is None and declared.say("on") is None
        open_table(file, table=table, dictionary=written, rows_are_people=unsaid and not declared.rows_are_people)
        written.replace(target)
    finally:
        written.unlink(missing_ok=True)
