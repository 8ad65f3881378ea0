"""What the commands of ``hubbub account`` share: a point or a curve, as JSON, as a table, as a file."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hubbub.cli import Command, page, print_json
from hubbub.cli.account_numbers import a_delta, a_loss
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from flint import arb

    from hubbub.exact import Loss
    from hubbub.sampling.amplification import Amplified

TINIEST: Final = Fraction(1, 10**999)
POINTS: Final = 61  # of a curve
LONGEST: Final = 4000  # bits of a number that is written out in full
DEEPEST: Final = Fraction(1, 10**12)  # the delta at which a curve may end

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A setting to be asked both ways, with the paper's answers where the paper has any (else `no_paper` says why)."""

    title: str
    delta_at: Callable[[Fraction], Amplified]
    epsilon_at: Callable[[Fraction], Amplified]
    floor: Fraction  # the delta that no epsilon goes below; 0 if none is known
    promise: Callable[[str, str], str]  # (epsilon, delta) as text -> a sentence
    paper_delta: Callable[[Fraction], Loss] | None = None
    paper_epsilon: Callable[[Fraction], Loss] | None = None
    no_paper: str = ""
    printed: Mapping[str, Loss] = field(default_factory=dict)  # the paper's own closed form, at its own epsilon
    constant: Fraction | None = None  # what epsilon is a multiple of
    sharp_from: Loss | None = None  # from this epsilon on some mechanism reaches the numbers
    remarks: tuple[str, ...] = ()


def point_options(command: Command) -> Command:
    """``--delta``, ``--at-epsilon`` and ``--curve``."""
    for name, takes, text in (
        ("--curve", "FILE", "Write delta against epsilon, ours and the paper's: .csv, .png, .svg or .html."),
        ("--at-epsilon", "EPS", "Ask for the delta at this epsilon."),
        ("--delta", "D", "Ask for the epsilon at this delta."),
    ):
        command = click.option(name, metavar=takes, help=text)(command)
    return command


def numbers(**values: Loss | arb | int) -> Row:
    """Each as a float rounded up and, beside it, as exact text (what is searched or enclosed: of the rounded value)."""
    from hubbub.exact import Infinite, rounded, to_float, upper

    found: Row = {}
    for name, value in values.items():
        exact = Fraction(value) if isinstance(value, int) else value
        bound = exact if isinstance(exact, Fraction | Infinite) else upper(exact)
        if isinstance(bound, Fraction) and 0 < bound < TINIEST:
            bound = TINIEST  # rounded up: its exact text would fill the screen
        if isinstance(bound, Fraction) and bound.denominator.bit_length() > LONGEST:
            bound = rounded(bound, up=True)  # a rate to the power of k, written out
        found[name] = "inf" if isinstance(bound, Infinite) else to_float(bound, round_up=True) or 0
        found[f"{name}_exact"] = written(bound)
    return found


def written(value: Loss) -> str:
    """Exact text, read back by whatever takes numbers: 1.5e-30 where a decimal would be all zeros."""
    from hubbub.exact import Infinite, to_text

    text = to_text(value)
    if isinstance(value, Infinite) or "/" not in text:
        return text
    places = value.denominator.bit_length()  # at least as many as a decimal has, if one ends
    scaled = value * 10**places
    if scaled.denominator != 1:
        return text
    digits = str(scaled.numerator).rstrip("0")
    power = len(str(scaled.numerator)) - 1 - places
    return f"{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{power}" if power > -1000 else text


def short(value: Loss | int | float | None, digits: int = 4) -> str:
    """A number for a table, rounded up to a few digits."""
    from hubbub.exact import Infinite, rounded, to_float

    if value is None:
        return "-"
    if isinstance(value, Infinite):
        return "infinite"
    exact = Fraction(value)
    return f"{to_float(rounded(exact, up=True, digits=digits), round_up=True):.{digits}g}" if exact else "0"


def answer(question: Question, *, delta: str | None, at_epsilon: str | None, curve: str | None, as_json: bool) -> None:
    """Ask the question one way, or for its curve, or both, and print what came out."""
    if delta is not None and at_epsilon is not None:
        raise WrongUse("--delta and --at-epsilon are asked one at a time; drop one of them")
    if delta is None and at_epsilon is None and curve is None:
        raise WrongUse("say what is known: --delta 1e-9 asks for epsilon, --at-epsilon 0.5 for delta, --curve for both")
    if curve is not None:
        _ready(curve)
    result: Row = {}
    if delta is not None or at_epsilon is not None:
        result = _point(question, delta, at_epsilon)
    rows = [] if curve is None else curve_rows(question)
    if curve is not None:
        _write(rows, curve, question)
        result |= {"curve": curve, "points": len(rows)}
    if as_json:
        print_json(result)
        return
    _tell(question, result)


def _point(question: Question, delta: str | None, at_epsilon: str | None) -> Row:
    from hubbub.exact import rounded

    if delta is not None:
        target = a_delta(delta, "--delta")
        found = question.epsilon_at(target)
    else:
        assert at_epsilon is not None
        at = a_loss(at_epsilon, "--at-epsilon")
        found = question.delta_at(at)
    theirs: Row = {"epsilon": None, "delta": None, "why": question.no_paper}
    if question.paper_delta is not None and question.paper_epsilon is not None:
        asked = question.paper_epsilon(target) if delta is not None else at
        value = target if delta is not None else question.paper_delta(at)
        theirs = numbers(epsilon=asked, delta=value)
    if question.printed:
        theirs["printed"] = numbers(**question.printed)
    result: Row = {
        **numbers(epsilon=found.epsilon, delta=found.delta),
        "worst_class_size": found.worst_class_size,
        "direction": found.direction,
        "paper": theirs,
        "theorem": found.theorem,
        **(numbers(floor=rounded(question.floor, up=True)) if question.floor else {}),
        "remarks": list(question.remarks),
    }
    if question.sharp_from is not None:
        result["sharp"] = bool(found.epsilon >= question.sharp_from)
    if question.constant is not None and isinstance(found.epsilon, Fraction):
        result |= numbers(constant=rounded(found.epsilon / question.constant, up=True))
    if result["epsilon"] == "inf":
        result["why"] = why_impossible(question.floor)
    return result


def why_impossible(floor: Fraction) -> str:
    """Why no epsilon will do."""
    if not floor:
        return "no epsilon up to 50 has so small a delta; lower the rate, or raise k or delta"
    return (
        "a whole crowd may be sampled at once, and then the person is seen: at every epsilon the delta is at least "
        f"{short(floor, 3)} (with one rate for all, the rate to the power of k); lower the rate, or raise k or delta"
    )


# --- curves -----------------------------------------------------------------------------------------------------


def curve_rows(question: Question) -> list[Row]:
    """delta against epsilon on an even grid, up to where delta is tiny or as low as it gets."""
    from hubbub.exact import Infinite, rounded

    end = question.epsilon_at(min(max(question.floor * Fraction(3, 2), DEEPEST), Fraction(9, 10))).epsilon
    top = Fraction(1) if isinstance(end, Infinite) or end == 0 else rounded(end * Fraction(6, 5), up=True, digits=2)
    rows = []
    for i in range(POINTS):
        at = top * Fraction(i, POINTS - 1)
        found = question.delta_at(at)
        theirs = None if question.paper_delta is None else question.paper_delta(at)
        rows.append(
            {
                "epsilon": numbers(at=at)["at"],
                "delta": numbers(delta=found.delta)["delta"],
                "paper_delta": None if theirs is None or theirs >= 1 else numbers(delta=theirs)["delta"],
                "worst_class_size": found.worst_class_size,
                "direction": found.direction,
            }
        )
    return rows


def _ready(path: str) -> None:
    if Path(path).suffix.lower() != ".csv":
        from hubbub import charts

        charts.ready(path)


def _write(rows: Sequence[Row], path: str, question: Question) -> None:
    if Path(path).suffix.lower() != ".csv":
        from hubbub import charts
        from hubbub.charts.amplification import amplification_chart

        charts.save(amplification_chart(rows, question.title, floor=float(question.floor)), path)
        return
    try:
        with open(path, "w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise WrongUse(f"the curve cannot be written to {path}: {error.strerror}; choose another file") from error


# --- for people -------------------------------------------------------------------------------------------------


def table(rows: Sequence[Sequence[str]], headings: Sequence[str]) -> None:
    """A small table: the first column is words, the others numbers."""
    from rich.table import Table

    drawn = Table(box=None, pad_edge=False)
    for i, heading in enumerate(headings):
        drawn.add_column(heading, justify="left" if i == 0 else "right")
    for row in rows:
        drawn.add_row(*row)
    page().print(drawn)


def _tell(question: Question, result: Row) -> None:
    console = page()
    console.print(question.title, style="bold")
    if "epsilon" in result:
        epsilon, delta = result["epsilon_exact"], result["delta_exact"]
        lines = [["ours", _shown(epsilon), _shown(delta)]]
        theirs = result["paper"]
        if theirs["epsilon"] is not None:
            lines.append(
                ["the paper's, with exact tails", _shown(theirs["epsilon_exact"]), _shown(theirs["delta_exact"])]
            )
        if "printed" in theirs:
            printed = theirs["printed"]
            lines.append(["the paper's, as printed", _shown(printed["epsilon_exact"]), _shown(printed["delta_exact"])])
        table(lines, ["", "epsilon", "delta"])
        console.print()
        if "why" in result:
            console.print(f"Impossible: {result['why']}.")
        else:
            console.print(question.promise(_shown(epsilon), _shown(delta)))
            console.print(
                f"Worst for somebody with {result['worst_class_size']:,} others in their class, "
                f"by {result['direction']}; {result['theorem']}."
            )
        if result.get("sharp") is False:
            console.print("At so small an epsilon this is an upper bound; no mechanism is known to reach it.")
        if theirs["epsilon"] is None and theirs["why"]:
            console.print(f"The paper has no number here: {theirs['why']}.")
        for remark in question.remarks:
            console.print(f"{remark[0].upper()}{remark[1:]}.")
    if "curve" in result:
        console.print(f"The curve is in {result['curve']}.")


def _shown(exact: str) -> str:
    from hubbub.exact import loss

    return short(loss(exact), 6)
