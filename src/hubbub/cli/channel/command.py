"""``hubbub channel``: the exact law of a count channel, and its exact privacy held against its claim."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import Command, Commands, echo, examples, json_option, options, print_json, print_text
from hubbub.errors import CheckFailed, WrongUse, in_shell
from hubbub.protocol.channel_options import CHANNEL, OPTIONS

if TYPE_CHECKING:
    from flint import arb

    from hubbub.channels.catalogue import Made
    from hubbub.channels.profile import Row
    from hubbub.channels.protocol import Channel
    from hubbub.guarantees.verdict import Verdict
    from hubbub.numeric.exact import Loss

TAIL: Final = Fraction(1, 10**12)  # what a listed law may leave out
MOST_COUNTS: Final = 100_000


def channel_options(command: Command) -> Command:
    """``--channel`` and all of its options."""
    named = click.option("--channel", "channel_name", metavar=CHANNEL.metavar, required=True, help=CHANNEL.help)
    return named(options(command, OPTIONS))


@click.group("channel", cls=Commands, epilog=examples("hubbub channel list"))
def channel() -> None:
    """Count channels: their laws, and what they give away."""


@channel.command("list", epilog=examples("hubbub channel list"))
@json_option
def list_channels(as_json: bool) -> None:
    """Name every channel, with an example of its options."""
    from hubbub.channels.catalogue import cards

    if as_json:
        entries = [
            {
                "channel": name,
                "summary": entry.summary,
                "example": in_shell(f"`channel={name}` {entry.example}"),
                "needs": [in_shell(f"`{option}`") for option in entry.needs],
                "one_of": [in_shell(f"`{option}`") for option in entry.one_of],
                "may": [in_shell(f"`{option}`") for option in entry.may],
            }
            for name, entry in cards().items()
        ]
        print_json({"channels": entries})
        return
    for name, entry in cards().items():
        echo(in_shell(f"{name}: {entry.summary}\n    `channel={name}` {entry.example}"))


# --- law --------------------------------------------------------------------------------------------------------


@channel.command(
    "law",
    epilog=examples(
        "hubbub channel law --channel warped --curve 1:0.01,101:1 --count 100",
        "hubbub channel law --channel noisy-below --k 20 --epsilon 0.5 --tagged --count 19 --json",
    ),
)
@channel_options
@click.option("--count", metavar="C", required=True, help="How many people the bin holds.")
@json_option
def law(channel_name: str, count: str, as_json: bool, **options: Any) -> None:
    """The exact law of what is published for one count.

    Outcomes are listed until less than 1e-12 is left out. Each probability is rounded down to a float, so that they
    never add up to more than 1; left_out is rounded up, so that it is at least what is not listed. The value of a
    suppressed outcome is null. A tag is shown where the channel publishes one beside the value.
    """
    from flint import arb

    from hubbub.channels.catalogue import make, parameters
    from hubbub.numeric.exact import integer, to_float

    made = make(channel_name, **options)
    people = integer(count, "--count")
    exact = made.channel.law(people)
    atoms = exact.atoms(TAIL)
    rest = 1 - sum((mass for _, _, mass in atoms), arb(0))
    left_out = to_float(rest.nonnegative_part(), round_up=True)
    tagged = exact.tags != ("",)
    entries = [_outcome(tag, value, mass, tagged=tagged) for tag, value, mass in atoms]
    if as_json:
        print_json(
            {
                "channel": channel_name,
                "parameters": parameters(made.channel),
                "count": people,
                "law": entries,
                "left_out": left_out,
                "remarks": list(made.remarks),
            }
        )
        return
    from hubbub.cli.channel.text import draw_law

    _print_remarks(made)
    draw_law(f"{_typed(channel_name, options)}, count {people}", entries, left_out, tagged=tagged)


def _outcome(tag: str, value: int, mass: arb, *, tagged: bool) -> dict[str, object]:
    from hubbub.channels.law import SUPPRESSED
    from hubbub.numeric.exact import to_float

    entry: dict[str, object] = {"value": None if tag.startswith(SUPPRESSED) else value}
    if tagged:
        entry["tag"] = tag
    return {**entry, "probability": to_float(mass, round_up=False)}


# --- profile ----------------------------------------------------------------------------------------------------


@channel.command(
    "profile",
    short_help="What a channel gives away, held against its claim.",
    epilog=examples(
        "hubbub channel profile --channel outlier-suppressed --k 100 --epsilon 1 --alpha 10 --counts 90..110",
        "hubbub channel profile --channel warped --curve 1:0.01,101:1 --counts 1,50,95..105 --json",
    ),
)
@channel_options
@click.option("--counts", metavar="COUNTS", required=True, help="Crowd sizes to check, like 5, 1..130 or 1,5,10..20.")
@click.option("--chart", metavar="FILE", help="Also draw it: a file that ends in .svg, .html or .png.")
@json_option
def profile(channel_name: str, counts: str, chart: str | None, as_json: bool, **options: Any) -> None:
    """What a channel gives away about one person, held against its claim.

    For a bin of each of the counts, one of its people leaves: exact_delta is the exact delta at the claimed epsilon,
    the larger of both directions, and exact_epsilon the smallest epsilon with delta 0 (null where the law is a table).
    Floats are rounded up, a 0 is exactly 0, and inf means that nothing is promised. Exit code 4 if the claim fails.
    """
    from hubbub.channels.catalogue import make, parameters
    from hubbub.channels.profile import checkable, judge, worst
    from hubbub.channels.profile import profile as checked
    from hubbub.cli.terminal.progress import watched

    if chart is not None:
        from hubbub import charts

        charts.ready(chart)
    crowds = read_counts(counts)
    made = make(channel_name, **options)
    claim = checkable(made.channel.claim)
    rows, losses = [], []
    for count in watched(crowds, "checking counts"):
        rows += checked(made.channel, [count], claim)
        losses.append(_pure_loss(made.channel, count))
    verdict = judge(made.channel, rows, claim)
    entries = [_entry(row, loss) for row, loss in zip(rows, losses, strict=True)]
    worst_row = worst(rows)
    if chart is not None:
        charts.profile_chart(entries, _typed(channel_name, options)).save(chart)
    if as_json:
        answer: dict[str, object] = {
            "channel": channel_name,
            "parameters": parameters(made.channel),
            "claim": str(claim),
            "rows": entries,
            "worst": entries[crowds.index(worst_row.count)],
            "verdict": _verdict(verdict),
            "remarks": list(made.remarks),
        }
        answer |= {} if made.calibration is None else {"calibration": dict(made.calibration)}
        answer |= {} if chart is None else {"chart": chart}
        print_json(answer)
    else:
        from hubbub.cli.channel.text import draw_profile, print_verdict

        _print_remarks(made)
        draw_profile(_typed(channel_name, options), str(claim), rows, losses, worst_row)
        print_verdict(made, verdict, chart)
    _fail_if_refuted(channel_name, verdict)


def read_counts(text: str) -> list[int]:
    """The counts that ``5``, ``1..130`` or ``1,5,10..20`` say, each once, from the smallest."""
    from hubbub.channels.protocol import LARGEST_COUNT

    found: set[int] = set()
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d{1,19})(?:\.\.(\d{1,19}))?\s*", part, re.ASCII)
        if ends is None:
            raise WrongUse(f"--counts takes crowd sizes like 5, 1..130 or 1,5,10..20, not {part.strip()[:40]!r}")
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if not 1 <= first <= last <= LARGEST_COUNT:
            raise WrongUse(
                f"--counts takes ranges that rise, from 1 to 2^62, not {part.strip()!r}; somebody must stand in the bin"
            )
        if len(found) + last - first >= MOST_COUNTS:
            raise WrongUse(f"--counts takes at most {MOST_COUNTS:,} crowd sizes at once; ask for fewer")
        found.update(range(first, last + 1))
    return sorted(found)


def _pure_loss(made: Channel, count: int) -> Loss | arb | None:
    from hubbub.channels.profile import exact_loss

    try:
        return exact_loss(made, count)
    except ValueError:  # the law is a table, and the ratio in its tails is not known
        return None


def _entry(row: Row, loss: Loss | arb | None) -> dict[str, object]:
    from hubbub.numeric.exact import to_text

    entry: dict[str, object] = {
        "count": row.count,
        "epsilon": _number(row.epsilon),
        "claimed_delta": _number(row.claimed_delta),
        "exact_delta": _number(row.exact_delta),
        "exact_epsilon": None if loss is None else _number(loss),
    }
    if isinstance(loss, Fraction):
        entry["exact_epsilon_text"] = to_text(loss)
    return entry


def _number(x: Loss | arb) -> float | str:
    """A float that is not below x; 0 is exactly 0, and infinity is text."""
    from hubbub.numeric.exact import INFINITY, to_float

    if x is INFINITY:
        return "inf"
    return to_float(x, round_up=True) or 0


def _verdict(verdict: Verdict) -> dict[str, object]:
    from hubbub.guarantees.verdict import Proved, Refuted

    if isinstance(verdict, Proved):
        return {"answer": "proved", "reason": verdict.reason}
    if isinstance(verdict, Refuted):
        return {"answer": "refuted", "reason": verdict.reason, "witness": dict(verdict.witness)}
    return {"answer": "undecided", "reason": verdict.why}


def _fail_if_refuted(name: str, verdict: Verdict) -> None:
    from hubbub.guarantees.verdict import Refuted

    if isinstance(verdict, Refuted):
        raise CheckFailed(f"the claim of {name} does not hold, because {verdict.reason}; do not release with it")


def _print_remarks(made: Made) -> None:
    for remark in made.remarks:
        print_text(f"Note: {remark}.")


def _typed(name: str, options: dict[str, Any]) -> str:
    """The channel and its options as they were typed."""
    given = [(f"--{key.replace('_', '-')}", value) for key, value in options.items() if value]
    return " ".join([name, *(flag if value is True else f"{flag} {value}" for flag, value in given)])
