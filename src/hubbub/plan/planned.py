"""The plan of a release as an answer: the designs that reach a promise, with their numbers and in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, Final

from hubbub.certificate.certificate import about
from hubbub.channels.catalogue import parameters
from hubbub.channels.profile import checkable, loss_curve
from hubbub.errors import Spelling, WrongUse, in_python
from hubbub.numeric.exact import Exact, Infinite, rational, to_float, to_text
from hubbub.numeric.format import numbers, short
from hubbub.numeric.limits import a_crowd, a_delta, a_loss, a_size
from hubbub.plan.designs import Design, Request, plan, read_rates, request
from hubbub.plan.shape import is_name, read
from hubbub.plan.targets import Want, parse_want
from hubbub.protocol.bound import Bound
from hubbub.protocol.option import option_help
from hubbub.protocol.weakness import sentence as weak_sentence
from hubbub.protocol.weakness import weaknesses
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import declared_size, parse

CONVENTION: Final = (
    "the mean absolute error of a published number, divided by the sampling rate where there is a sample; a hidden bin "
    "is read as 0; in floating-point numbers, from the exact laws"
)
FILE: Final = "people.parquet"
OUT: Final = "out/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What was asked, every design that reaches it, the smallest error first, and why others were left out."""

    request: Request
    designs: tuple[Design, ...]
    left_out: tuple[str, ...]  # with marks
    invented: bool  # whether nobody said what the bins are

    @property
    def best(self) -> Design:
        return self.designs[0]

    @property
    def title(self) -> str:
        shape = self.request.shape
        return f"{self.request.want.value} privacy for {shape.people:,} people in {shape.bins:,} bins, {shape.name}"

    @property
    def meaning(self) -> str:
        """The promise in the words of somebody who wants it."""
        return self.request.want.plainly

    def command(self, design: Design, *, file: str = FILE, out: str = OUT, person: str | None = None) -> str:
        """The release of a design, as it is typed; without a person column, each row is a person."""
        return design.command(file, self.request.by, out, person=person)

    def as_json(
        self, spell: Spelling = in_python, *, file: str = FILE, out: str = OUT, person: str | None = None
    ) -> dict[str, Any]:
        shape = self.request.shape
        typed = [self.command(design, file=file, out=out, person=person) for design in self.designs]
        entries = [self._entry(design, spell, line) for design, line in zip(self.designs, typed, strict=True)]
        return {
            "want": self._request_json(),
            "shape": {"name": shape.name, "people": shape.people, "bins": shape.bins},
            "error_is": CONVENTION,
            "best": entries[0] | {"words": self.summary},
            "designs": entries,
            "left_out": [spell(reason) for reason in self.left_out],
        }

    def _request_json(self) -> dict[str, Any]:
        request = self.request
        notion = {"notion": request.want.value, "plainly": self.meaning}
        if request.curve is not None:
            return {**notion, "curve": str(request.curve), **numbers(delta=request.delta)}
        size = {} if request.k is None else {"k": request.k}
        return {**notion, **numbers(epsilon=request.epsilon, delta=request.delta), **size}

    def _entry(self, design: Design, spell: Spelling, command: str) -> dict[str, Any]:
        made, rate, hoped = parameters(design.spec.channel), design.rate, design.expected
        warning = design_warning(design)
        size = made.get("k")
        return {
            "channel": design.spec.channel.name,
            "k": None if size is None else int(f"{size}"),
            "rate": None if rate is None else to_float(rate, round_up=True),
            "rate_exact": None if rate is None else to_text(rate),
            "noise": made.get("epsilon"),
            "curve": made.get("curve"),
            "guarantee": about(design.promise.conclusion, design.promise.people)
            | {"theorem": design.promise.theorem.name},
            "certificate": str(design.stated.conclusion),
            "error": hoped.error,
            "suppressed_people": hoped.hidden_people,
            "suppressed_bins": hoped.hidden_bins,
            "warning": None if warning is None else spell(warning),
            "command": command,
        }

    @property
    def summary(self) -> str:
        """The best design in sentences: what is done, what is promised, what to expect."""
        design, shape = self.best, self.request.shape
        doing, hoped = _doing(design), design.expected
        who = "" if design.rate is None else f"Draw a secret sample of {percent(design.rate)} of the people, count it, "
        sentence = f"{who}and {doing}." if who else f"{doing[0].upper()}{doing[1:]}."
        rescaled = "" if design.rate is None else f", divided by {to_text(design.rate)},"
        hidden = (
            f" About {hoped.hidden_bins:.0f} of {shape.bins:,} bins are hidden, with "
            f"{100 * hoped.hidden_people:.1f} % of the people."
            if hoped.hidden_bins >= 0.5
            else " Nothing, or next to nothing, is hidden."
        )
        stated = design.stated.conclusion
        same = stated == design.promise.conclusion
        follows = "" if same else f", which follows from what the certificate says: {stated}"
        return (
            f"{sentence} The promise: {design.promise.conclusion}{follows}. For data of the shape {shape.name} a "
            f"published number{rescaled} is {hoped.error:.3g} people off on average (a hidden bin read as 0).{hidden}"
        )

    def rows(self) -> tuple[tuple[str, str, str, str, str], ...]:
        """(design, who is sampled, error per bin, shares of people and of bins hidden), for a table."""
        return tuple(
            (
                design_label(design),
                "everybody" if design.rate is None else percent(design.rate),
                f"{design.expected.error:.4g}",
                f"{100 * design.expected.hidden_people:.1f} %",
                f"{100 * design.expected.hidden_bins / self.request.shape.bins:.1f} %",
            )
            for design in self.designs
        )

    def sentences(self, spell: Spelling = in_python) -> tuple[str, ...]:
        """The best design, what to mind about it, and why some were left out."""
        warning = design_warning(self.best)
        minded = () if warning is None else (spell(f"{warning[0].upper()}{warning[1:]}."),)
        return (self.summary, *minded, *(f"Left out: {spell(reason)}." for reason in self.left_out[:3]))


def release(
    want: Annotated[
        str, option_help("KIND", f"The promise: {', '.join(each.value for each in Want)}; or in words (below).")
    ],
    *,
    people: Annotated[Exact | None, option_help("N", "How many people the table has, about.")] = None,
    bins: Annotated[Exact | None, option_help("M", "How many bins are published, unless `by` says it.")] = None,
    shape: Annotated[str, option_help("SHAPE", "zipf, zipf:1.5, even, or a CSV file with public counts.")] = "zipf",
    epsilon: Annotated[Exact | None, option_help("EPS", "The loss that is allowed.")] = None,
    delta: Annotated[Exact | None, option_help("D", "The delta that is allowed.")] = None,
    rate: Annotated[Exact | None, option_help("P", "Sampling rates: 0.1, or 0.05,0.1, or 0.05..0.2.")] = None,
    k: Annotated[Exact | None, option_help("K", "The size of a crowd, where it is wanted or given.")] = None,
    curve: Annotated[str | None, option_help("CURVE", "A loss for each crowd size, for `want=outlier`.")] = None,
    by: Annotated[Sequence[str], option_help("SPEC", "The bins, for the command; else bin:0..M:1.")] = (),
) -> Planned:
    """Which crowd, sampling rate and noise reach a promise, and how exact each is for data of a stated shape.

    Zero-knowledge privacy is with respect to iRS(rate), the knowledge of a sample of that rate: a smaller rate promises
    more. For distributional privacy the rate is a fact: at most that share of people came into the table. The error is
    the mean absolute error per bin of the published number, scaled up where there is a sample; a hidden bin is read as
    0.

    What is wanted can be said plainly: "no more than a sample would tell" (zero-knowledge), "nobody can tell whether I
    took part" (differential), "nobody stands alone" (crowd-blending), "the fewer are like me, the less is told"
    (outlier), "nobody can tell who of the population came into the table" (distributional).

    Guarantee: each design's promise was derived from the words of its release, and is at least what was asked for. Its
    error is an expectation for the stated shape, not a promise.
    """
    notion = parse_want(want)
    many = None if people is None else a_size(people, "`people`", least=1)
    size = None if bins is None else a_size(bins, "`bins`", least=1)
    declared = declared_size([parse(spec) for spec in by]) if by else None
    if declared is not None and size not in (None, declared):
        raise WrongUse(f"`by` declares {declared:,} bins, and `bins` says {size:,}; leave `bins` out")
    expected = read(shape, many, declared if size is None and is_name(shape) else size)
    columns = tuple(by) or (f"bin:0..{expected.bins}:1",)
    rates = read_rates(rate if rate is None or isinstance(rate, str) else to_text(rational(rate, "`rate`")))
    asked_for = request(
        notion,
        expected,
        columns,
        rates=rates,
        curve=curve,
        epsilon=None if epsilon is None else a_loss(epsilon, "`epsilon`"),
        delta=None if delta is None else a_delta(delta, "`delta`"),
        k=None if k is None else a_crowd(k, "`k`"),
    )
    found = plan(asked_for)
    return Planned(request=asked_for, designs=found.designs, left_out=found.left_out, invented=not by)


def design_label(design: Design) -> str:
    """The design in a few words."""
    made = parameters(design.spec.channel)
    parts = [design.spec.channel.name]
    for name, template in (("k", "k = {}"), ("epsilon", "noise {}"), ("curve", "{}"), ("show_above", "shown above {}")):
        if made.get(name) is not None:
            parts.append(template.format(made[name]))
    return ", ".join(parts)


def design_warning(design: Design) -> str | None:
    """What has to be confirmed because it promises little; and what does not add up with it: exact crowds of everybody,
    or of a sample that is there once and for all."""
    weak = weaknesses(Bound(design.spec))
    warnings = [f"{weak_sentence(weak)}; the release asks you to confirm it"] if weak else []
    if design.rate is None and isinstance(loss_curve(checkable(design.spec.channel.claim)).limit, Infinite):
        warnings.append(_ONCE)
    return "; ".join(warnings) or None


_ONCE: Final = (
    "this is for one release: a second one of this kind, about the same people in other bins, may show who stands "
    "between the two; only noise on every count may follow it; if more is to come, let every release draw a fresh "
    "secret sample (`want=zero-knowledge`)"
)


def _doing(design: Design) -> str:
    """What is done to the counts, as an order."""
    made = parameters(design.spec.channel)
    k, curve = made.get("k"), made.get("curve")
    noise = short(rational(f"{made['epsilon']}")) if "epsilon" in made else ""
    return {
        "exact-or-suppressed": f"publish counts of at least {k} as they are and hide the others",
        "noisy-below": f"publish counts from {k} on as they are and smaller ones with noise of rate {noise}",
        "geometric": f"add noise of rate {noise} to every count",
        "warped": f"publish every count through the warped channel with the curve {curve}"
        + (f" and hide values up to {made['show_above']}" if made.get("show_above") is not None else ""),
        "simple-suppressed": f"publish counts above {k} as they are and hide the others",
        "outlier-suppressed": f"add noise of rate {noise} to every count and hide those that come out small",
        "outlier-noisy": f"add noise of rate {noise}, and more to counts that come out small",
    }.get(design.spec.channel.name, f"publish every count through the channel {design.spec.channel.name}")


def percent(rate: Fraction) -> str:
    return f"{float(100 * rate):.4g} %"
