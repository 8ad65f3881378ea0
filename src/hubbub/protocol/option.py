"""What somebody can be asked for, as values: the command line, the page and Python spell them each in their own way."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Final, TypeVar

from hubbub.errors import WrongUse, in_python
from hubbub.runtime.frozen import dataclass

Method = TypeVar("Method", bound=Callable[..., Any])


WHAT, WHOSE, HOW, WHERE = "What is published", "Whose data it is", "How people are protected", "Where it goes"


DECLARED: Final = (
    "delimiter", "encoding", "no_header", "missing", "unreadable", "unlisted", "clamped", "other_people", "ids_of",
    "disjoint", "join", "on", "collected", "collected_between", "exempt",
)  # fmt: skip
"""What is said of a table once, and not of each release of it."""


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that can be said: its name, what it takes (None: nothing, it is said or not), and what it means."""

    name: str
    metavar: str | None
    help: str
    default: str | None = None
    many: bool = False  # it can be said several times
    parts: int = 1  # how many values follow it
    for_cluster: bool = False  # a table on this machine has no use for it
    takes: str = ""  # its type in Python, where it is no number
    missing: str = ""  # one sentence for whoever leaves it out, if it must be said
    required: bool = False  # it must be said, and whoever asks says so by themselves
    choices: tuple[str, ...] = ()  # all that it may be, if they are few
    first: bool = False  # on the command line it stands by itself, without its name
    group: str = WHAT  # under which heading help shows it
    advanced: bool = False  # few need it: --help-all shows it
    expand: Callable[[Any], Mapping[str, Any]] | None = None  # the words of a request that its value stands for
    other_names: tuple[tuple[str, str], ...] = ()  # what others call a choice, and the choice

    @property
    def annotation(self) -> str:
        """Its type in Python."""
        numbers = "Exact" if self.parts == 1 else f"tuple[{', '.join(['Exact'] * self.parts)}]"
        kind = self.takes or ("bool" if self.metavar is None else "Sequence[str]" if self.many else numbers)
        return kind if self.metavar is None or self.many or self.default or self.missing else f"{kind} | None"


COLLECTED: Final = (
    Option("collected", "P", "Declare that people came into the table with probability P.", group=WHOSE, advanced=True),
    Option(
        "collected_between",
        "LOW HIGH",
        "The same with rates between LOW and HIGH.",
        parts=2,
        group=WHOSE,
        advanced=True,
    ),
    Option(
        "exempt",
        "N",
        "How many people may have been collected in any other way.",
        default="0",
        group=WHOSE,
        advanced=True,
    ),
)
"""How people came into a table, as it is declared of the table."""


def option_help(metavar: str | None, help: str, **more: Any) -> Option:
    """What a parameter means, beside its type: ``k: Annotated[Exact, option_help("K", "The size of a crowd.")]``."""
    return Option("", metavar, help, **more)


def options_of(function: Callable[..., Any]) -> tuple[Option, ...]:
    """The parameters of a function that say what they mean, as options: names and defaults are the function's own."""
    found = []
    for each in inspect.signature(function, eval_str=True).parameters.values():
        option = next((mark for mark in getattr(each.annotation, "__metadata__", ()) if isinstance(mark, Option)), None)
        if option is None:
            continue
        many = each.default == () or each.kind is each.VAR_POSITIONAL
        unsaid = each.default is each.empty and not many
        default = None if unsaid or many or each.default is None or each.default is False else str(each.default)
        found.append(replace(option, name=each.name, default=default, many=many, required=unsaid or option.required))
    return tuple(found)


def check_options(what: str, options: Sequence[Option], given: Mapping[str, Any]) -> None:
    """One sentence for a name that is no option, or for an option that must be said and is not."""
    names = [option.name for option in options]
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1)
            instead = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names)}"
            raise WrongUse(f"{what} has no option {name[:40]!r}; {instead}")
    for option in options:
        if option.missing and given.get(option.name) in (None, ()):
            raise WrongUse(option.missing)


def spell_out(options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a request, with those that a value stands for in its place."""
    found = dict(given)
    for option in options:
        value = found.pop(option.name, None) if option.expand is not None else None
        for name, meant in (option.expand(value) if option.expand is not None and value is not None else {}).items():
            if found.get(name) is not None:
                raise WrongUse(f"`{name}` is said twice, once in `{option.name}`; say it once")
            found[name] = meant
    return found


def documented(help: str, options: Sequence[Option]) -> Callable[[Method], Method]:
    """Put what a kind says of itself and of each of its options into the docstring and the signature of a method."""

    def document(method: Method) -> Method:
        signature = inspect.signature(method)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        rest = [option for option in options if option.name not in signature.parameters]
        first, _, guarantee = inspect.cleandoc(method.__doc__ or "").partition("\n\n")
        about = in_python(help).partition("\n\n")[2]
        listed = "\n".join(f"- {option.name}: {in_python(option.help)}" for option in rest)
        method.__doc__ = "\n\n".join(filter(None, (first, about, f"Options:\n\n{listed}", guarantee)))
        keywords = [_keyword(option) for option in rest]
        weak = inspect.Parameter("accept_weak", inspect.Parameter.KEYWORD_ONLY, default=False, annotation="bool")
        made = signature.replace(parameters=[*own, *keywords, weak])
        method.__signature__ = made  # type: ignore[attr-defined]  # what help and notebooks read
        return method

    return document


class _Documented:
    """A method that is given its docstring and signature when it is first looked up, to be called or read about."""

    def __init__(self, method: Callable[..., Any], help_of: Callable[[], tuple[str, Sequence[Option]]]) -> None:
        self.method, self.help_of, self.done = method, help_of, False

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if not self.done:
            documented(*self.help_of())(self.method)
            self.done = True
        return self.method if instance is None else self.method.__get__(instance, owner)


def documented_later(help_of: Callable[[], tuple[str, Sequence[Option]]]) -> Callable[[Method], Method]:
    """The same, of what takes long to load: `help_of` is called when the method is first looked up."""

    def document(method: Method) -> Method:
        return _Documented(method, help_of)  # type: ignore[return-value]  # looked up on a class or an object, it is one

    return document


def _keyword(option: Option) -> inspect.Parameter:
    default = False if option.metavar is None else () if option.many else option.default
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if option.missing else default,
        annotation=option.annotation,
    )
