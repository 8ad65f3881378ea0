"""``hubbub account group``, ``compose`` and ``convert``: from promises to promises."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from hubbub.cli import examples, json_option, page, print_json
from hubbub.cli.account_answer import numbers
from hubbub.cli.account_numbers import a_delta, a_loss, a_rate, a_size
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.guarantees.definitions import Guarantee
    from hubbub.guarantees.derivation import Derivation

PROMISES = """

    \b
    PROMISE is a kind and its numbers:
      differential:epsilon=1,delta=1e-9             add or remove one person
      differential:epsilon=1,neighbours=replace     replace one person
      zero-knowledge:epsilon=0.1,k=100,n=10000      whoever knows 100 of 10000 rows
      zero-knowledge:epsilon=0.1,rate=0.1           whoever knows a sample of rate 0.1
      crowd-blending:k=20,epsilon=0.5
      simple-outlier:k=100,epsilon=1
      outlier:curve=1:0.01,101:1,delta=1e-6
"""


def _with_promises(function: Callable[..., Any]) -> Callable[..., Any]:
    function.__doc__ = f"{(function.__doc__ or '').rstrip()}{PROMISES}"
    return function


def read_promise(text: str) -> Guarantee:
    """The guarantee that ``kind:name=value,name=value`` says."""
    from hubbub.guarantees import definitions as d

    kind, _, rest = text.partition(":")
    pairs = [part.partition("=") for part in re.split(r",(?=\s*[a-z_]+=)", rest)] if rest.strip() else []
    given = {name.strip(): value.strip() for name, _, value in pairs}
    if len(given) < len(pairs):
        raise WrongUse(f"{kind} has a number that is given twice; give each once")
    readers: Mapping[str, tuple[set[str], Callable[[_Values], d.Guarantee]]] = {
        "differential": ({"epsilon", "delta", "neighbours", "group"}, _differential),
        "zero-knowledge": ({"epsilon", "delta", "k", "n", "rate", "group"}, _zero_knowledge),
        "crowd-blending": ({"k", "epsilon"}, lambda v: d.CrowdBlending(k=v.whole("k"), epsilon=v.loss("epsilon"))),
        "simple-outlier": ({"k", "epsilon", "delta"}, _simple),
        "outlier": ({"curve", "delta"}, _outlier),
    }
    if kind.strip() not in readers:
        raise WrongUse(f"a promise begins with one of {', '.join(readers)} and a colon, not {kind.strip()[:40]!r}")
    names, reader = readers[kind.strip()]
    for name in given:
        if name not in names:
            raise WrongUse(f"{kind} has no number {name[:40]!r}; it has {', '.join(sorted(names))}")
    return reader(_Values(kind, given))


class _Values:
    """The numbers of a promise by name, read when they are asked for."""

    def __init__(self, kind: str, given: Mapping[str, str]) -> None:
        self.kind, self.given = kind, given

    def text(self, name: str) -> str:
        if name not in self.given:
            raise WrongUse(f"{self.kind} needs {name}, like {self.kind}:{name}=...; see hubbub account convert --help")
        return self.given[name]

    def loss(self, name: str) -> Any:
        from hubbub.exact import INFINITY

        given = self.text(name)
        return INFINITY if given.lower() in ("inf", "infinity") else a_loss(given, name)

    def rational(self, name: str, default: str) -> Any:
        return (a_rate if name == "rate" else a_delta)(self.given.get(name, default), name)

    def whole(self, name: str, default: str | None = None) -> int:
        return a_size(self.given[name] if name in self.given else default or self.text(name), name)


def _differential(v: _Values) -> Guarantee:
    from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours

    words = {"add/remove": Neighbours.ADD_REMOVE, "replace": Neighbours.REPLACE}
    which = v.given.get("neighbours", "add/remove")
    if which not in words:
        raise WrongUse(f"neighbours are add/remove or replace, not {which[:20]!r}")
    group = v.whole("group", "1")
    return DifferentialPrivacy(
        epsilon=v.loss("epsilon"), delta=v.rational("delta", "0"), neighbours=words[which], group=group
    )


def _zero_knowledge(v: _Values) -> Guarantee:
    from hubbub.guarantees.definitions import Aggregate, BernoulliSample, RandomSample, ZeroKnowledge

    aggregate: Aggregate
    if "rate" in v.given:
        aggregate = BernoulliSample(p=v.rational("rate", "0"))
    else:
        aggregate = RandomSample(k=v.whole("k"), n=v.whole("n") if "n" in v.given else None)
    return ZeroKnowledge(
        epsilon=v.loss("epsilon"), delta=v.rational("delta", "0"), aggregate=aggregate, group=v.whole("group", "1")
    )


def _simple(v: _Values) -> Guarantee:
    from hubbub.guarantees.definitions import SimpleOutlier

    return SimpleOutlier(k=v.whole("k"), epsilon=v.loss("epsilon"), delta=v.rational("delta", "0"))


def _outlier(v: _Values) -> Guarantee:
    from hubbub.guarantees.curve import read
    from hubbub.guarantees.definitions import OutlierPrivacy

    return OutlierPrivacy(curve=read(v.text("curve")).curve, delta=v.rational("delta", "0"))


def _stated(text: str) -> Derivation:
    from hubbub.guarantees.derivation import stated

    return stated(read_promise(text))


def _as_json(step: Derivation) -> dict[str, Any]:
    from hubbub.certificate import about

    return {
        **about(step.conclusion),
        "theorem": step.theorem.name,
        "source": step.theorem.source,
        "assumptions": list(step.all_assumptions()),
        "numbers": dict(step.numbers),
    }


def _tell(step: Derivation) -> None:
    console = page()
    console.print(str(step.conclusion), style="bold")
    console.print(f"by {step.theorem} ({step.theorem.source}).")
    for text in step.all_assumptions():
        console.print(f"  if {text}")


@click.command(
    "compose",
    epilog=examples(
        "hubbub account compose differential:epsilon=1 differential:epsilon=0.5,delta=1e-9",
        "hubbub account compose zero-knowledge:epsilon=0.1,rate=0.1 zero-knowledge:epsilon=0.2,rate=0.05 --json",
        "hubbub account compose differential:epsilon=0.1 --times 50 --delta 1e-9",
    ),
)
@click.argument("promises", nargs=-1, metavar="PROMISE PROMISE...")
@click.option("--same-partition", is_flag=True, help="All publish each bin of one public partition by itself.")
@click.option("--same-sample", metavar="K N", nargs=2, help="All run on one secret sample of K of N rows.")
@click.option("--times", metavar="N", default="1", show_default=True, help="All of them N times.")
@click.option("--delta", metavar="D", help="Differential privacy at this delta: less than the sum of the epsilons.")
@json_option
@_with_promises
def compose(
    promises: tuple[str, ...],
    same_partition: bool,
    same_sample: tuple[str, str] | None,
    times: str,
    delta: str | None,
    as_json: bool,
) -> None:
    """Several releases about the same people, taken as one. What does not compose is refused, with the way out.

    With --delta, differentially private releases are composed at that delta: by the exact law of their losses, if every
    epsilon was fixed beforehand, and beside it what holds if each was chosen after seeing earlier results.
    """
    from functools import partial, reduce

    from hubbub.guarantees import composition as c

    steps = [_stated(text) for text in promises] * a_size(times, "--times", least=1)
    if len(steps) < 2:
        raise WrongUse("compose takes at least two promises, like differential:epsilon=1 differential:epsilon=0.5")
    if delta is not None:
        if same_partition or same_sample:
            raise WrongUse("--delta is for plain differential privacy; leave out --same-partition and --same-sample")
        _at_delta(steps, a_delta(delta, "--delta"), as_json)
        return
    if same_sample:
        k, n = a_size(same_sample[0], "K", least=1), a_size(same_sample[1], "N", least=1)
        found = c.zero_knowledge_same_sample(*steps, k=k, n=n)
    else:
        found = reduce(partial(c.compose, same_partition=same_partition), steps)
    if as_json:
        print_json(_as_json(found))
    else:
        _tell(found)


def _at_delta(steps: list[Derivation], delta: Any, as_json: bool) -> None:
    """Both theorems, the sharper one first; the other pays for its own delta beside those of the releases."""
    from hubbub.errors import Refused
    from hubbub.guarantees.many_releases import differential_beforehand, differential_so_far

    beforehand = differential_beforehand(*steps, at_delta=delta)
    own = sum(getattr(step.conclusion, "delta", 0) for step in steps)
    chosen = None
    with suppress(Refused):
        chosen = differential_so_far(*steps, at_delta=delta - own) if own < delta else None
    if as_json:
        print_json({**_as_json(beforehand), "adaptive": None if chosen is None else _as_json(chosen)})
        return
    _tell(beforehand)
    if chosen is not None:
        page().print()
        _tell(chosen)


@click.command(
    "group",
    short_help="What is promised to several people together.",
    epilog=examples(
        "hubbub account group zero-knowledge:epsilon=0.1,k=100,n=10000 --people 3",
        "hubbub account group outlier:curve=1:0.01,101:1 --people 10 --k 100 --json",
    ),
)
@click.argument("promise")
@click.option("--people", metavar="C", required=True, help="How many people stand or fall together.")
@click.option("--k", metavar="K", help="For outlier privacy: each of them is a K-outlier.")
@json_option
@_with_promises
def group(promise: str, people: str, k: str | None, as_json: bool) -> None:
    """What a promise to one person says about several who stand or fall together, in every way that is known."""
    from hubbub.errors import Refused
    from hubbub.guarantees import implications as i
    from hubbub.guarantees.definitions import DifferentialPrivacy, OutlierKind, ZeroKnowledge

    step, size = _stated(promise), a_size(people, "--people", least=1)
    given = step.conclusion
    found: list[tuple[Derivation, dict[str, Any] | None]] = []
    if isinstance(given, DifferentialPrivacy):
        found.append((i.differential_group(step, group=size), None))
    elif isinstance(given, ZeroKnowledge):
        found.append((i.zero_knowledge_group(step, group=size), _paper_3(given, size)))
        found.append((i.zero_knowledge_group_total_variation(step, group=size), _paper_4(given, size)))
        with suppress(Refused):  # it is for k of n rows
            found.append((i.zero_knowledge_group_by_sampling(step, group=size), None))
    elif isinstance(given, OutlierKind):
        if k is None:
            raise WrongUse(
                "a group of outliers needs to know whose: add --k, each of them being in a crowd of at most k"
            )
        found.append((i.outlier_group(i.to_outlier(step), k=a_size(k, "--k", least=1), size=size), None))
    else:
        raise WrongUse(f"no theorem is about groups under {given}; convert it first")
    if as_json:
        ways = [_as_json(each) | {"paper": paper} for each, paper in found]
        print_json({**ways[0], "ways": ways})
        return
    for each, _ in found:
        page().print(f"{each.conclusion}, by {each.theorem}")
    if len(found) > 1:
        page().print("\nAll of these hold; use the one that suits.")


def _paper_3(given: Any, people: int) -> dict[str, Any] | None:
    """Proposition 3 is for delta = 0."""
    from hubbub.guarantees.closeness import times

    return None if given.delta else numbers(epsilon=times(given.epsilon, 2 * people - 1), delta=0)


def _paper_4(given: Any, people: int) -> dict[str, Any]:
    """Proposition 4 as printed: (2c - 1)(e^epsilon - 1 + delta)."""
    from hubbub.exact import Infinite, ball, precision
    from hubbub.guarantees.closeness import capped

    if isinstance(given.epsilon, Infinite):
        return numbers(epsilon=0, delta=1)
    with precision():
        delta = capped((2 * people - 1) * (ball(given.epsilon).expm1() + ball(given.delta)))
    return numbers(epsilon=0, delta=delta)


TARGETS = ("differential", "replace", "zero-knowledge", "crowd-blending", "simple-outlier", "outlier", "distributional")


@click.command(
    "convert",
    epilog=examples(
        "hubbub account convert zero-knowledge:epsilon=0.1,delta=1e-9,rate=0.1 --to differential",
        "hubbub account convert differential:epsilon=0.5 --to crowd-blending --k 20 --json",
    ),
)
@click.argument("promise")
@click.option("--to", "target", metavar="KIND", required=True, help=f"One of {', '.join(TARGETS)}.")
@click.option("--k", metavar="K", help="The crowd size, where the target has one.")
@click.option("--n", metavar="N", help="The number of rows, for differential to zero-knowledge.")
@click.option("--rate", metavar="P", help="The rate at which people came into the data, for distributional.")
@json_option
@_with_promises
def convert(promise: str, target: str, k: str | None, n: str | None, rate: str | None, as_json: bool) -> None:
    """From one notion of privacy to another. What does not follow is refused, with the reason.

    Differential privacy gives crowd-blending only where adding or removing a person is meant: publishing the number of
    people is 0-differentially private under replacement and hides nobody in a small table.
    """
    from hubbub.guarantees import implications as i
    from hubbub.guarantees.definitions import BernoulliSample, DifferentialPrivacy, OutlierKind, SimpleOutlier

    if target not in TARGETS:
        raise WrongUse(f"--to must be one of {', '.join(TARGETS)}, not {target[:40]!r}")
    step = _stated(promise)
    given = step.conclusion
    if target == "zero-knowledge":
        found = i.differential_to_zero_knowledge(step, n=_number(n, "--n"))
    elif target == "replace":
        found = i.add_remove_to_replace(step)
    elif target == "differential":
        outlier = isinstance(given, OutlierKind)
        found = i.outlier_to_differential(i.to_outlier(step)) if outlier else i.zero_knowledge_to_differential(step)
    elif target == "crowd-blending":
        if isinstance(given, SimpleOutlier):
            found = i.simple_outlier_to_crowd_blending(step)
        elif isinstance(given, OutlierKind):
            found = i.outlier_to_crowd_blending(i.to_outlier(step), k=_number(k, "--k"))
        else:
            found = i.differential_to_crowd_blending(step, k=_number(k, "--k"))
    elif target == "simple-outlier":
        found = i.differential_to_simple_outlier(step, k=_number(k, "--k"))
    elif target == "distributional":
        if rate is None:
            raise WrongUse("distributional privacy is about how people came into the data; add --rate")
        found = i.differential_to_distributional(step, sample=BernoulliSample(p=a_rate(rate, "--rate")))
    else:
        found = i.differential_to_outlier(step) if isinstance(given, DifferentialPrivacy) else i.to_outlier(step)
    if as_json:
        print_json(_as_json(found) | {"from": promise, "paper": _paper_7(given) if target == "differential" else None})
    else:
        _tell(found)


def _paper_7(given: Any) -> dict[str, Any] | None:
    """Proposition 7 is for delta = 0, and there as sharp as ours."""
    from hubbub.guarantees.closeness import times
    from hubbub.guarantees.definitions import ZeroKnowledge

    if not isinstance(given, ZeroKnowledge) or given.delta:
        return None
    return numbers(epsilon=times(given.epsilon, 2), delta=0)


def _number(text: str | None, flag: str) -> int:
    if text is None:
        raise WrongUse(f"this conversion needs {flag}; add it")
    return a_size(text, flag, least=1)
