"""``hubbub plan``: a promise in, the parameters of a release out. No data is read."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import examples, json_option, page, print_json, waiting
from hubbub.cli.account_answer import numbers, short, table, why_impossible
from hubbub.cli.account_numbers import a_crowd, a_delta, a_loss, a_rate, a_size
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.plan.designs import Design, Plan, Request
    from hubbub.plan.shape import Shape
    from hubbub.plan.targets import Want

WANTS: Final = ("zero-knowledge", "differential", "crowd-blending", "outlier", "distributional")
ASKS: Final = ("designs", "k", "rate", "epsilon")
CONVENTION: Final = (
    "the mean absolute error of a published number, divided by the sampling rate where there is a sample; a hidden bin "
    "is read as 0; in floating-point numbers, from the exact laws"
)
_SHOWN: Final = 12  # designs in the table
_FILE: Final = "people.parquet"


@click.command(
    "plan",
    epilog=examples(
        "hubbub plan --people 50000 --bins 400 --want zero-knowledge --epsilon 0.5 --delta 1e-9 --rate 0.05..0.2",
        "hubbub plan --people 50000 --bins 400 --want crowd-blending --k 20 --epsilon 0.5 --shape even --json",
        "hubbub plan --ask k --want zero-knowledge --epsilon 0.5 --delta 1e-9 --rate 0.1",
        "hubbub plan --ask rate --want zero-knowledge --epsilon 0.5 --delta 1e-9 --k 20",
    ),
)
@click.option("--want", metavar="KIND", required=True, help=f"The promise: {', '.join(WANTS)}.")
@click.option("--people", metavar="N", help="How many people the table has, about.")
@click.option("--bins", metavar="M", help="How many bins are published.")
@click.option(
    "--shape", metavar="SHAPE", default="zipf", show_default=True, help="zipf, zipf:1.5, even, or a CSV file."
)
@click.option("--epsilon", metavar="EPS", help="The loss that is allowed.")
@click.option("--delta", metavar="D", help="The delta that is allowed.")
@click.option("--rate", metavar="P", help="Sampling rates: 0.1, or 0.05,0.1, or 0.05..0.2.")
@click.option("--k", metavar="K", help="The size of a crowd, where it is wanted or given.")
@click.option("--curve", metavar="CURVE", help="A loss for each crowd size, for --want outlier.")
@click.option("--ask", metavar="WHAT", default="designs", show_default=True, help=f"One of {', '.join(ASKS)}.")
@click.option("--noise-below", metavar="EPS", default="0", help="With --ask: counts below k get noise; 0 hides them.")
@click.option("--file", metavar="FILE", default=_FILE, show_default=True, help="The table, for the command.")
@click.option("--person", metavar="COLUMN", help="The column that says who a row is about, for the command.")
@click.option("--rows-are-people", is_flag=True, help="Each row is another person (if no --person is given).")
@click.option("--by", metavar="SPEC", multiple=True, help="The bins, for the command; else bin:0..M:1.")
@click.option("--out", metavar="DIR", default="out/", show_default=True, help="The folder, for the command.")
@click.option("--chart", metavar="FILE", help="Draw error against rate: .png, .svg or .html.")
@json_option
def plan(want: str, ask: str, as_json: bool, **given: Any) -> None:
    """Which crowd, sampling rate and noise reach a promise, and how exact each is for data of a stated shape.

    Zero-knowledge privacy is with respect to iRS(rate), the knowledge of a sample of that rate: a smaller rate promises
    more. For distributional privacy the rate is a fact: at most that share of people came into the table. The error is
    the mean absolute error per bin of the published number, scaled up where there is a sample; a hidden bin is read as
    0. The best design is printed as the command to run.

    With --ask k, rate or epsilon only that number is worked out: the smallest k for a rate, the largest rate for a k,
    the epsilon at a delta.
    """
    from hubbub.plan.targets import Want

    if want not in WANTS:
        raise WrongUse(f"--want must be one of {', '.join(WANTS)}, not {want[:40]!r}")
    if ask not in ASKS:
        raise WrongUse(f"--ask must be one of {', '.join(ASKS)}, not {ask[:40]!r}")
    if ask != "designs":
        _answer(Want(want), ask, given, as_json=as_json)
        return
    _designs(Want(want), given, as_json=as_json)


# --- one number -------------------------------------------------------------------------------------------------


def _answer(want: Want, ask: str, given: dict[str, Any], *, as_json: bool) -> None:
    from hubbub.exact import Infinite, to_float, to_text
    from hubbub.plan import targets as t
    from hubbub.sampling.amplification import floor

    needs = {"k": ("epsilon", "delta", "rate"), "rate": ("epsilon", "delta", "k"), "epsilon": ("delta", "k", "rate")}
    for name in needs[ask]:
        if given[name] is None:
            raise WrongUse(f"--ask {ask} needs --{name}; add it")
    epsilon = a_loss(given["epsilon"], "--epsilon") if ask != "epsilon" else 0
    delta, below = a_delta(given["delta"], "--delta"), a_loss(given["noise_below"], "--noise-below")
    goal = t.Target.of(want, epsilon, delta, below)
    result: dict[str, Any] = {"want": want.value, "ask": ask, **numbers(delta=goal.delta)}
    if ask == "k":
        rate = a_rate(given["rate"], "--rate")
        k = t.smallest_crowd(goal, rate)
        result |= {"k": k, **numbers(rate=rate, epsilon=goal.epsilon)}
        words = f"The smallest crowd is k = {k:,} at a rate of {to_text(rate)}."
        less = t.why_not(goal, k - 1, rate) if k > 2 else None
        words += f" A smaller one fails: {less}." if less else ""
    elif ask == "rate":
        k = a_crowd(given["k"], "--k", least=2)
        rate = t.largest_rate(goal, k)
        result |= {"k": k, **numbers(epsilon=goal.epsilon)}
        result |= {"rate": to_float(rate, round_up=False), "rate_exact": to_text(rate)}
        words = f"The largest rate, to six digits, is {to_text(rate)} with k = {k:,}."
    else:
        k, rate = a_crowd(given["k"], "--k", least=2), a_rate(given["rate"], "--rate")
        found = t.epsilon_of(goal, k, rate)
        result |= {"k": k, **numbers(rate=rate, epsilon=found.epsilon), "worst_class_size": found.worst_class_size}
        words = f"The smallest epsilon at delta {short(goal.delta)} is {short(found.epsilon, 6)}."
        if isinstance(found.epsilon, Infinite):
            result["why"] = why_impossible(floor(goal.setting(k, rate)))
            words = f"Impossible: {result['why']}."
    if as_json:
        print_json({**result, "words": words})
    else:
        page().print(words)


# --- designs ----------------------------------------------------------------------------------------------------


def _designs(want: Want, given: dict[str, Any], *, as_json: bool) -> None:
    from hubbub.plan import designs as d
    from hubbub.plan.shape import read

    if given["person"] is not None and given["rows_are_people"]:
        raise WrongUse("--person and --rows-are-people exclude each other; keep the one that is so")
    if given["chart"] is not None:
        from hubbub import charts

        charts.ready(given["chart"])
    sizes = [None if given[name] is None else a_size(given[name], f"--{name}", least=1) for name in ("people", "bins")]
    shape = read(given["shape"], *sizes)
    by = tuple(given["by"]) or (f"bin:0..{shape.bins}:1",)
    rates = d.read_rates(given["rate"])
    readers: dict[str, Any] = {"epsilon": a_loss, "delta": a_delta, "k": a_crowd}
    named = {name: None if given[name] is None else read(given[name], f"--{name}") for name, read in readers.items()}
    request = d.request(want, shape, by, rates=rates, curve=given["curve"], **named)
    with waiting("Planning"):
        found = d.plan(request)
    entries = [_entry(design, request, given) for design in found.designs]
    best = entries[0] | {"words": explained(found.designs[0], shape)}
    if given["chart"] is not None:
        _draw(found, request, given["chart"])
    if as_json:
        print_json(
            {
                "want": _wanted(request),
                "shape": {"name": shape.name, "people": shape.people, "bins": shape.bins},
                "error_is": CONVENTION,
                "best": best,
                "designs": entries,
                "left_out": list(found.left_out),
                **({} if given["chart"] is None else {"chart": given["chart"]}),
            }
        )
        return
    invented = [] if given["by"] else [f"--by {by[0]}"]
    if given["person"] is None and not given["rows_are_people"]:
        invented.insert(0, "--rows-are-people (or --person COLUMN)")
    if given["file"] == _FILE:
        invented.insert(0, _FILE)
    _tell(found, request, best, given["chart"], invented)


def _wanted(request: Request) -> dict[str, Any]:
    wanted: dict[str, Any] = {"notion": request.want.value, **numbers(epsilon=request.epsilon, delta=request.delta)}
    if request.k is not None:
        wanted["k"] = request.k
    if request.curve is not None:
        wanted = {"notion": request.want.value, "curve": str(request.curve), **numbers(delta=request.delta)}
    return wanted


def _entry(design: Design, request: Request, given: dict[str, Any]) -> dict[str, Any]:
    from hubbub.certificate import about
    from hubbub.channels.catalogue import parameters
    from hubbub.exact import to_float, to_text

    made = parameters(design.spec.channel)
    rate = design.rate
    return {
        "channel": design.spec.channel.name,
        "k": getattr(design.spec.channel, "k", None),
        "rate": None if rate is None else to_float(rate, round_up=True),
        "rate_exact": None if rate is None else to_text(rate),
        "noise": made.get("epsilon"),
        "curve": made.get("curve"),
        "guarantee": about(design.promise.conclusion, design.promise.people) | {"theorem": design.promise.theorem.name},
        "certificate": str(design.stated.conclusion),
        "error": design.expected.error,
        "suppressed_people": design.expected.hidden_people,
        "suppressed_bins": design.expected.hidden_bins,
        "warning": warned(design),
        "command": design.command(given["file"], request.by, given["out"], person=given["person"]),
    }


def named(design: Design) -> str:
    """The design in a few words."""
    from hubbub.exact import to_text

    channel = design.spec.channel
    noise, curve = getattr(channel, "epsilon", None), getattr(channel, "curve", None)
    words = channel.name
    if getattr(channel, "k", None) is not None:
        words += f", k = {channel.k}"  # type: ignore[attr-defined]
    if noise is not None:
        words += f", noise {to_text(noise)}"
    if curve is not None:
        words += f", {curve}"
    if getattr(channel, "show_above", None) is not None:
        words += f", shown above {channel.show_above}"  # type: ignore[attr-defined]
    return words


def warned(design: Design) -> str | None:
    """What does not add up with it: exact crowds of everybody, or of a sample that is there once and for all."""
    from hubbub.channels.profile import checkable, loss_curve
    from hubbub.exact import Infinite

    if design.rate is not None or not isinstance(loss_curve(checkable(design.spec.channel.claim)).limit, Infinite):
        return None
    return (
        "this is for one release: a second one of this kind, about the same people in other bins, may show who stands "
        "between the two; only noise on every count may follow it; if more is to come, let every release draw a fresh "
        "secret sample (--want zero-knowledge)"
    )


def explained(design: Design, shape: Shape) -> str:
    """The design in sentences: what is done, what is promised, what to expect."""
    from hubbub.exact import to_text

    channel, expected = design.spec.channel, design.expected
    k, noise = getattr(channel, "k", None), getattr(channel, "epsilon", None)
    doing = {
        "exact-or-suppressed": f"publish counts of at least {k} as they are and hide the others",
        "noisy-below": f"publish counts from {k} on as they are and smaller ones with noise of rate {_brief(noise)}",
        "geometric": f"add noise of rate {_brief(noise)} to every count",
        "warped": _through_warped(channel),
        "simple-suppressed": f"publish counts above {k} as they are and hide the others",
        "outlier-suppressed": f"add noise of rate {_brief(noise)} to every count and hide those that come out small",
        "outlier-noisy": f"add noise of rate {_brief(noise)}, and more to counts that come out small",
    }[channel.name]
    who = (
        "" if design.rate is None else f"Draw a secret sample of {_percent(design.rate)} of the people, count it, and "
    )
    sentence = f"{who}{doing}." if who else f"{doing[0].upper()}{doing[1:]}."
    rescaled = "" if design.rate is None else f", divided by {to_text(design.rate)},"
    hidden = (
        f" About {expected.hidden_bins:.0f} of {shape.bins:,} bins are hidden, with "
        f"{100 * expected.hidden_people:.1f} % of the people."
        if expected.hidden_bins >= 0.5
        else " Nothing, or next to nothing, is hidden."
    )
    stated = design.stated.conclusion
    follows = "" if stated == design.promise.conclusion else f", which follows from what the certificate says: {stated}"
    return (
        f"{sentence} The promise: {design.promise.conclusion}{follows}. For data of the shape {shape.name} a published "
        f"number{rescaled} is {expected.error:.3g} people off on average (a hidden bin read as 0).{hidden}"
    )


def _through_warped(channel: Any) -> str:
    if getattr(channel, "show_above", None) is None:
        return f"publish every count through the warped channel with the curve {getattr(channel, 'curve', '')}"
    flat = len(channel.curve.pieces) == 1
    noise = f"noise of rate {channel.curve}" if flat else f"warped noise with the curve {channel.curve}"
    return f"add {noise}, cut off at 0, to every count and hide values up to {channel.show_above}"


def _brief(value: Fraction | None) -> str:
    from hubbub.exact import rounded, to_float

    return "" if value is None else f"{to_float(rounded(value, up=True, digits=4), round_up=True):.4g}"


def _percent(rate: Fraction) -> str:
    return f"{float(100 * rate):.4g} %"


def _tell(found: Plan, request: Request, best: dict[str, Any], chart: str | None, invented: list[str]) -> None:
    console = page()
    shape = request.shape
    console.print(
        f"{request.want.value} privacy for {shape.people:,} people in {shape.bins:,} bins, {shape.name}", style="bold"
    )
    lines = [
        [
            named(design),
            "everybody" if design.rate is None else _percent(design.rate),
            f"{design.expected.error:.4g}",
            f"{100 * design.expected.hidden_people:.1f} %",
        ]
        for design in found.designs[:_SHOWN]
    ]
    table(lines, ["design", "sampled", "error per bin", "people hidden"])
    if len(found.designs) > _SHOWN:
        console.print(f"and {len(found.designs) - _SHOWN} more with larger errors (--json lists them).")
    console.print(f"\n{best['words']}\n")
    console.print(best["command"], soft_wrap=True)
    if best["warning"]:
        console.print(f"\n{best['warning'][0].upper()}{best['warning'][1:]}.")
    if invented:
        console.print(f"\nPut your own in the place of {' and '.join(invented)}.")
    for reason in found.left_out[:3]:
        console.print(f"\nLeft out: {reason}.")
    if chart is not None:
        console.print(f"\nThe chart is in {chart}.")


def _draw(found: Plan, request: Request, path: str) -> None:
    from hubbub import charts
    from hubbub.charts.designs import designs_chart

    rows = [
        {
            "channel": _kind(design),
            "rate": None if design.rate is None else float(design.rate),
            "error": design.expected.error,
            "label": named(design) + ("" if design.rate is None else f", sampled {_percent(design.rate)}"),
        }
        for design in found.designs
    ]
    best = found.designs[0]
    title = f"The best design is {best.expected.error:.3g} people off per bin: {_kind(best)}"
    shape, allowed = request.shape, f", delta {short(request.delta)}" if request.delta else ""
    wanted = request.curve or f"epsilon {_brief(request.epsilon)}{allowed}"
    about = f"{request.want.value} privacy, {wanted}; {shape.people:,} people in {shape.bins:,} bins, {shape.name}"
    charts.save(designs_chart(rows, title=title, subtitle=[about, "a hidden bin is read as 0"]), path)


def _kind(design: Design) -> str:
    return {
        "exact-or-suppressed": "small counts hidden",
        "noisy-below": "noise on small counts",
        "geometric": "noise on every count",
        "warped": _warped_kind(design),
    }.get(design.spec.channel.name, design.spec.channel.name)


def _warped_kind(design: Design) -> str:
    curve = getattr(design.spec.channel, "curve", None)
    hides = getattr(design.spec.channel, "show_above", None) is not None
    if curve is not None and len(curve.pieces) == 1:
        return "noise, small values hidden" if hides else "noise cut off at 0"
    return "warped noise, small values hidden" if hides else "warped noise"
