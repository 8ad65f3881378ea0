"""The command line: one file per verb, and here what the verbs share.

Exit codes: 0 done, 2 wrong use, 3 refused, 4 a check failed, 130 stopped by Ctrl-C or SIGTERM. With ``--json`` one object goes to stdout and nothing
else does; words and progress go to stderr. Nothing heavy is imported before a command runs, so help comes at once.
"""

from __future__ import annotations

import codecs
import errno
import inspect
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

import click

from hubbub.errors import HubbubError, in_shell
from hubbub.protocol.option import DECLARED, HOW, WHAT, WHERE, WHOSE
from hubbub.runtime.progress import working

if TYPE_CHECKING:
    from hubbub.cli.terminal.page import Page
    from hubbub.protocol.option import Option

ELSE: Final = "More"  # options that every command has
STOPPED: Final = 130  # the exit code of whoever was interrupted, as shells have it

Command = TypeVar("Command", bound=Callable[..., Any])


class Sentence(click.ClickException):
    """An expected error, as the one sentence that goes to stderr."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it for the class and reads it here

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(by_lines(f"hubbub: {self.message}"), err=file is None, file=file)


@contextmanager
def _in_one_sentence(known: Callable[[], set[str]] = set) -> Iterator[None]:
    """Errors as one sentence each; `known` tells which options the command has."""
    try:
        yield
    except HubbubError as error:
        elsewhere = [name for name in DECLARED if re.search(rf"`{name}\b", error.marked) and name not in known()]
        more = f"; {_DESCRIBED.format(elsewhere[0].replace('_', '-'))}" if elsewhere else ""
        raise Sentence(in_shell(error.marked) + more, error.exit_code) from error
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise Sentence("the name of a file or folder is longer than the disk takes; choose a shorter one", 2) from None
    except KeyboardInterrupt as error:
        raise Sentence(", ".join(("stopped", *map(str, error.args))), STOPPED) from None
    except click.UsageError as error:
        wrong = (_meant(error) or error.format_message()).rstrip(".")
        where = "hubbub" if error.ctx is None else error.ctx.command_path
        mark = "" if wrong.endswith("?") else ";"
        raise Sentence(f"{wrong[:1].lower()}{wrong[1:]}{mark} see {where} --help", error.exit_code) from error


_DESCRIBED: Final = "hubbub describe takes --{}, once for all"
_NEAR: Final = 0.7  # so alike are an option and the one that was meant
_OTHER_NAMES: Final = {
    "eps": ("epsilon",), "budget": ("epsilon",), "k": ("crowd",), "min-count": ("crowd",), "threshold": ("crowd",),
    "id": ("person",), "user": ("person",), "unit": ("person",), "group": ("by",), "group-by": ("by",), "groupby": ("by",),
    "column": ("by", "of"), "col": ("by", "of"), "value": ("of",), "values": ("of",), "filter": ("where",), "at": ("q",),
    "quantile": ("q",), "percentile": ("q",), "output": ("out",), "o": ("out",), "sheet": ("table",), "sep": ("delimiter",),
    "na": ("missing",), "weights": ("weight",), "lang": ("words",), "title": ("words",), "subtitle": ("words",), "date": ("words",), "link": ("words",),
    "note": ("words",), "label": ("words",), "language": ("words",), "public-key": ("key",), "winners": ("seats",),
}  # fmt: skip
"""What others call an option, and its names here."""


_ELSEWHERE: Final = {
    **{name.replace("_", "-"): _DESCRIBED.format(name.replace("_", "-")) for name in DECLARED},
    "series": "hubbub series publish publishes a period of a series",
    "period": "hubbub series publish publishes a period of a series",
    "where": "hubbub release count and hubbub release summary count those who meet a condition; in a histogram, name its "
    "column with --by, or take a table of these rows alone",
}
"""Where an option is that somebody looks for at a command which has none like it."""


def _meant(error: click.UsageError) -> str | None:
    """Of an option that is not there, what was meant, most likely: what it is called here, or what has its name in it."""
    from difflib import get_close_matches

    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return None
    option = error.option_name.lstrip("-")
    if option.replace("-", "_") in DECLARED:
        return f"no such option '{error.option_name}' here: {_ELSEWHERE[option]}"
    every = [name for param in error.ctx.command.params for name in param.opts if name.startswith("--")]
    named = [f"'{name}'" for name in every if name.lstrip("-") in _OTHER_NAMES.get(option, ())]
    near = named or [f"'{name}'" for name in every if option in name.lstrip("-").split("-")]
    words = {word for word in option.split("-") if len(word) > len("rows")}
    near = near or [f"'{name}'" for name in every if words.intersection(name.lstrip("-").split("-"))]
    near = near or [f"'--{name}'" for name in get_close_matches(option, [name.lstrip("-") for name in every], 2, _NEAR)]
    if option in _ELSEWHERE and not near:
        return f"no such option '{error.option_name}' here: {_ELSEWHERE[option]}"
    return f"no such option '{error.option_name}'" + (f". Did you mean {' or '.join(near[:2])}?" if near else "")


class Commands(click.Group):
    """A group whose expected errors are one sentence each, and which shows its help when it is given nothing."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with _in_one_sentence():
            return super().make_context(info_name, args or ["--help"], parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _in_one_sentence(lambda: self._options_of(ctx)):
            return super().invoke(ctx)

    def _options_of(self, ctx: click.Context) -> set[str]:
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        return set() if command is None else {param.name or "" for param in command.params}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Where there is no such command, those with nearly that name are told."""
        from difflib import get_close_matches

        near = [] if self.get_command(ctx, args[0]) else get_close_matches(args[0], self.list_commands(ctx))
        if near:
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean {' or '.join(map(repr, near))}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _in_short(each.short_help or each.help or "")) for name, each in found if each])


def _in_short(text: str) -> str:
    """The beginning of a help text, up to where its first thought ends.

    >>> _in_short("Count people, and publish: each stays lost. More.")
    'Count people, and publish.'
    """
    return f"{re.split('[:.] ', ' '.join(text.split()), maxsplit=1)[0].rstrip('.')}."


def examples(*lines: str) -> str:
    """The end of a help text: commands that run as they stand."""
    return "\n".join(("\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)))


def json_option(command: Command) -> Command:
    """``--json``, the same everywhere."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else, on stdout.")(
        command
    )


def yes_option(command: Command) -> Command:
    """``--yes``, wherever a promise may be so weak that somebody has to confirm it."""
    return click.option("--yes", is_flag=True, help="Confirm a weak promise, like a large epsilon, or rows as people.")(
        command
    )


def confirm_weak(found: tuple[str, ...], yes: bool) -> None:
    """Say what is weak about a promise, and go on only if somebody confirms it: by ``--yes``, or on a terminal."""
    from hubbub.errors import WrongUse
    from hubbub.protocol.weakness import check_confirmed, remedy
    from hubbub.protocol.weakness import sentence as weak_sentence

    if not found:
        return
    sentence = weak_sentence(found)
    if yes:
        print_text(f"Note: {sentence}.")
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        check_confirmed(found, "`yes=True`")
    print_text(f"{sentence[:1].upper()}{sentence[1:]}.")
    if not click.confirm("Publish it all the same?", err=True):
        raise WrongUse(f"nothing was published, and nothing is spent; {remedy(found)}")


class GroupedOption(click.Option):
    """An option that says under which heading it stands, and whether few need it."""

    def __init__(self, *args: Any, group: str = "", advanced: bool = False, **more: Any) -> None:
        super().__init__(*args, **more)
        self.group, self.advanced = group, advanced


if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice


class OneOf(_Choice):
    """A choice that says what was meant, where a word is nearly one or the name that others have for one."""

    def __init__(self, choices: Sequence[str], other_names: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(choices)
        self.other_names = other_names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from difflib import get_close_matches

        if isinstance(value, str) and value not in self.choices:
            near = [name for other, name in self.other_names if other == value.lower() and name in self.choices]
            near = near or get_close_matches(value.lower().replace("_", "-"), self.choices, 2)
            if near:
                self.fail(f"{value!r} is not its name here. Did you mean {' or '.join(near)}?", param, ctx)
        return super().convert(value, param, ctx)


EVERYTHING: Final = f"{__name__}.everything"
"""Set in a context whose help shows every option."""


class InGroups(click.Command):
    """A command whose help shows what most people need, by headings; ``--help-all`` shows everything."""

    headings: tuple[str, ...] = (WHAT, WHOSE, HOW, WHERE, ELSE)

    def heading(self, param: click.Parameter) -> str:
        return param.group if isinstance(param, GroupedOption) else ELSE

    def advanced(self, param: click.Parameter) -> bool:
        return isinstance(param, GroupedOption) and param.advanced

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), self._everything()]

    def _everything(self) -> click.Option:
        def show(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
            if wanted and not ctx.resilient_parsing:
                ctx.meta[EVERYTHING] = True
                click.echo(ctx.get_help())
                ctx.exit()

        return click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=show,
            help="Show more: every option, and what each means.",
        )

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        help_text = inspect.cleandoc(self.help or "")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(help_text if EVERYTHING in ctx.meta else help_text.partition("\n\n")[0])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None and (EVERYTHING in ctx.meta or not self.advanced(param)):
                found.setdefault(self.heading(param), []).append(record)
        for heading in self.headings:
            if heading in found:
                with formatter.section(heading):
                    formatter.write_dl(found[heading])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        lines = [line.strip() for line in (self.epilog or "").splitlines()[2:]]
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(examples(*(lines if EVERYTHING in ctx.meta else lines[:1])))


def options(command: Command, declared: Sequence[Option]) -> Command:
    """The options that somebody can be asked for, as flags; what comes first has none."""
    for option in reversed(declared):
        if option.first:
            command = click.argument(option.name, metavar=option.metavar, nargs=-1 if option.many else 1)(command)
            continue
        options: dict[str, Any] = {"help": in_shell(option.help), "metavar": option.metavar}
        if option.default is not None:  # to click, None is a default like others: what is required would not be
            options["default"] = option.default
        options |= {
            "required": option.required,
            "cls": GroupedOption,
            "group": option.group,
            "advanced": option.advanced,
        }
        if option.choices:
            options |= {"type": OneOf(option.choices, option.other_names), "metavar": None}
        elif option.metavar is None:
            options |= {"is_flag": True, "default": False}
        elif option.many:
            options |= {"multiple": True, "default": ()}
        elif option.parts > 1:
            options |= {"nargs": option.parts}
        has_default = option.default is not None
        command = click.option(f"--{option.name.replace('_', '-')}", option.name, show_default=has_default, **options)(
            command
        )
    return command


def question(
    function: Callable[..., Any],
    answer: Callable[..., None],
    *lines: str,
    name: str | None = None,
    also: Sequence[Option] = (),
    text: str = "",
    prepare: Callable[[dict[str, Any]], None] = lambda words: None,
) -> click.Command:
    """The command that calls a function of ours: its options are the parameters, its help is the docstring, and
    `answer` shows what came back. What is said in `also` goes to `answer`; `prepare` may change the words before."""
    from hubbub.protocol.option import options_of

    own = options_of(function)
    every = next((option.name for option in own if option.first and option.many), None)

    def run(as_json: bool, **words: Any) -> None:
        prepare(words)
        rest = {option.name: words.pop(option.name) for option in also}
        several = words.pop(every) if every is not None else ()
        with nullcontext() if "watch" in words else working("Working"):  # who watches shows it by themselves
            found = function(*several, **words)
        answer(found, as_json=as_json, **rest)

    help_text = inspect.cleandoc(function.__doc__ or "").partition("\n\nGuarantee:")[0]
    made = click.command(
        name or function.__name__,
        help=in_shell(help_text) + text,
        epilog=examples(*(f"hubbub {line}" for line in lines)),
    )
    return made(options(json_option(run), (*own, *also)))


def print_json(value: Mapping[str, object]) -> None:
    """One object on stdout. Infinity has no number in JSON and must come as text."""
    speaks_all = (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    text = json.dumps(value, allow_nan=False, ensure_ascii=not speaks_all)
    if not text.isprintable():  # what acts on a terminal stands within quotes, and JSON has a spelling for it
        text = "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)
    click.echo(text)


def print_answer(facts: Mapping[str, object], *sentences: str, as_json: bool) -> None:
    """What a command found: as JSON, or in sentences."""
    if as_json:
        print_json(facts)
        return
    for each in sentences:
        echo(each)


def display(text: str) -> str:
    """A stranger's word on one line, with every sign spelt out that does not show: none can act on a terminal.

    >>> print(display("a" + chr(27) + "[2Jb" + chr(10) + "c"))
    a\\u001b[2Jb\\u000ac
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)


def by_lines(text: str) -> str:
    """Words of ours, with whatever stands in them, on the lines that we made."""
    return "\n".join(map(display, text.split("\n")))


def echo(text: str = "") -> None:
    """A line for people on stdout."""
    click.echo(by_lines(text), file=sys.stdout)  # by itself click writes UTF-8 where the terminal has ASCII


def print_text(text: str) -> None:
    """Words beside the result."""
    click.echo(by_lines(text), err=True)


def page() -> Page:
    """Where paragraphs and tables are written. What stands in [brackets] is text, and nothing acts on the terminal."""
    from hubbub.cli.terminal.page import Page

    return Page()


def table(rows: Iterable[Sequence[str]], headings: Sequence[str], *, texts: int = 1) -> None:
    """A small table: the first columns are texts, the others numbers."""
    from hubbub.cli.terminal.table import Column, Table

    drawn = Table(*(Column(heading, right=i >= texts) for i, heading in enumerate(headings)))
    for row in rows:
        drawn.add(*row)
    page().print(drawn)


_PLAIN: Final = {
    "✓": "ok", "✗": "NOT", "…": "...", "·": "-", "–": "-", "−": "-", "━": "-",
    **dict.fromkeys("█▉▊▋▌", "#"), **dict.fromkeys("▍▎▏", " "),
}  # fmt: skip


def spell_unprintable_signs() -> None:
    """Let every text reach a terminal that cannot show it: our own signs in letters, any other spelt out."""

    def spelt(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        signs = error.object[error.start : error.end]
        return "".join(_PLAIN.get(s) or s.encode("ascii", "backslashreplace").decode() for s in signs), error.end

    codecs.register_error("hubbub", spelt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="hubbub")
