"""What ``hubbub vote tally`` says: one JSON object, or tables for people, from the same result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from hubbub.cli import echo, page, shown
from hubbub.errors import Refused
from hubbub.exact import rational, to_float, to_text
from hubbub.guarantees.verdict import Proved, Refuted, Verdict
from hubbub.voting.efficiency import close_to_optimal, pareto
from hubbub.voting.flow import Column, flow
from hubbub.voting.gain import approximately
from hubbub.voting.honesty import Honesty, Promised, honesty
from hubbub.voting.punishing import Mix
from hubbub.voting.record import draw_as_json

if TYPE_CHECKING:
    from hubbub.noise.source import PublicDice, Source
    from hubbub.voting.ballot_file import BallotFile
    from hubbub.voting.ballots import Ballots
    from hubbub.voting.protocol import Rule
    from hubbub.voting.result import Draw, Result, Round

_MOST: Final = 30  # rounds, draws, and candidates of one of them, that are shown
_FIRST: Final = 5


def as_json(result: Result, read: BallotFile, eta: Fraction, *, dice: PublicDice | None = None) -> dict[str, Any]:
    """The whole answer."""
    names, ballots = result.candidates, read.ballots
    return {
        "winner": result.winner_name,
        "rule": result.rule.name,
        "rounds": [_round(counted, names) for counted in result.rounds],
        "ties": (drawn := draws_json(result.draws, result.secure, dice)),
        "draws": drawn,
        "dice": None if dice is None else dice.sentence,
        "lottery": _lottery(result.rule, ballots),
        **_claims(result, ballots, eta, dice),
        "punishing_probability": _q(result.rule),
        "ballots": ballots_json(read),
        "reading": {**read.reading.rules(), "changed": dict(read.changed)},
    }


def draws_json(draws: Sequence[Draw], secure: bool, dice: PublicDice | None) -> list[dict[str, Any]]:
    """Every draw, and where it came from."""
    source = "the operating system" if secure else "a script"
    if dice is not None:
        source = "the public words of --dice"
    return [{**draw_as_json(draw), "source": source} for draw in draws]


def ballots_json(read: BallotFile) -> dict[str, Any]:
    """What was counted."""
    ballots = read.ballots
    return {
        "format": read.format,
        "title": read.title,
        "candidates": list(ballots.candidates),
        "voters": ballots.voters,
        "complete": ballots.complete,
        "truncated": ballots.truncated,
        "blank": ballots.blank,
        "different": len(ballots.rankings),
        "weights": "numbers of identical ballots, one voter each",
    }


def compared(
    rule: Rule, ballots: Ballots, eta: Fraction, source: Source, *, dice: PublicDice | None = None
) -> dict[str, Any]:
    """One rule of a comparison."""
    result = rule.run(ballots, source)
    return {
        "rule": rule.name,
        "winner": result.winner_name,
        "lottery": _lottery(rule, ballots),
        "rounds": len(result.rounds),
        **_claims(result, ballots, eta, dice),
    }


_UNFORETOLD = "nobody could foretell the words of --dice while votes were cast"
_EQUAL = {"answer": "undecided", "reason": "some ballots rank candidates equal, and the count settled them"}


def _claims(result: Result, ballots: Ballots, eta: Fraction, dice: PublicDice | None) -> dict[str, Any]:
    promised = honesty(
        result.rule,
        voters=ballots.voters,
        candidates=len(ballots.candidates),
        truncated=ballots.truncated > 0,
        eta=eta,
        secure=result.secure or dice is not None,
    )
    if dice is not None and isinstance(promised, Promised):
        promised = replace(promised, assumptions=(*promised.assumptions, _UNFORETOLD))
    if len(ballots.levels):
        return {"guarantee": _guarantee(promised), "pareto": _EQUAL, "close_to_optimal": _EQUAL}
    return {
        "guarantee": _guarantee(promised),
        "pareto": _verdict(pareto(ballots, result.winner)),
        "close_to_optimal": _verdict(close_to_optimal(result, ballots)),
    }


def _round(counted: Round, names: tuple[str, ...]) -> dict[str, Any]:
    by_count = sorted(counted.counts, key=lambda pair: (-pair[1], pair[0]))
    return {
        "counts": {names[i]: count for i, count in by_count},
        "eliminated": [names[i] for i in counted.eliminated],
        "margin": counted.margin,
        "exhausted": counted.exhausted,
        "counted": counted.what,
        "transfers": [
            {
                "from": names[moved.origin],
                "to": None if moved.target is None else names[moved.target],
                "ballots": moved.ballots,
            }
            for moved in counted.transfers
        ],
    }


def _lottery(rule: Rule, ballots: Ballots) -> dict[str, str] | None:
    """The chance of everybody who has one; None where ties branch too much for an exact law."""
    try:
        law = rule.lottery(ballots)
    except Refused:
        return None
    return {name: to_text(chance) for name, chance in zip(ballots.candidates, law, strict=True) if chance}


def _texts(chances: tuple[Fraction, ...]) -> list[str]:
    """The chances of a draw; of thousands alike, one is written and repeated."""
    if all(chance is chances[0] for chance in chances):
        return [to_text(chances[0])] * len(chances)
    return [to_text(chance) for chance in chances]


def _q(rule: Rule) -> float | None:
    return _up(rule.probability if isinstance(rule, Mix) else None)


def _up(x: Fraction | None) -> float | None:
    return None if x is None else to_float(x, round_up=True)


def _asked(eta: Fraction) -> float:
    """As it was asked for, 1e-12 and not the float above it; the text is exact. What is above 0 never becomes 0."""
    return float(eta) or to_float(eta, round_up=True)


def _guarantee(promised: Honesty) -> dict[str, Any]:
    if isinstance(promised, Promised):
        return {
            "holds": True,
            "eta": _asked(promised.eta),
            "eta_text": to_text(promised.eta),
            "alpha_min": to_float(promised.alpha_min, round_up=True),
            "utility_apart": _up(promised.utility_apart),
            "utility_apart_text": None if promised.utility_apart is None else to_text(promised.utility_apart),
            "margin": promised.margin,
            "theorem": promised.theorem,
            "assumptions": list(promised.assumptions),
            "remarks": list(promised.remarks),
        }
    return {
        "holds": False,
        "eta": _asked(promised.eta),
        "eta_text": to_text(promised.eta),
        "alpha_min": None,
        "margin": promised.margin,
        "reason": promised.reason,
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    if isinstance(verdict, Proved):
        return {"answer": "proved", "reason": verdict.reason}
    if isinstance(verdict, Refuted):
        return {"answer": "refuted", "reason": verdict.reason, "witness": dict(verdict.witness)}
    return {"answer": "undecided", "reason": verdict.why}


# --- for people -------------------------------------------------------------------------------------------------


def tell(answer: Mapping[str, Any], read: BallotFile) -> None:
    """Tables, one for each round, and what is promised."""
    size = answer["ballots"]
    title = f"{shown(size['title'])}: " if size["title"] else ""
    echo(f"{title}{size['voters']:,} ballots, {len(size['candidates'])} candidates, {answer['rule']}")
    changed = {rule: count for rule, count in read.changed.items() if count}
    if changed:
        rules = read.reading.rules()
        parts = [f"{what}={rules[what]} changed {count:,}" for what, count in sorted(changed.items())]
        echo(f"Of these ballots {'; '.join(parts)}.")
    rounds, draws = answer["rounds"], answer["ties"]
    for i in _some(len(rounds), "rounds"):
        _draw_round(i + 1, len(rounds), rounds[i], answer["winner"])
    for i in _some(len(draws), "draws"):
        _tell_draw(draws[i])
    echo(f"\n{shown(answer['winner'])} wins.")
    _tell_promise(answer)
    if "compare" in answer:
        _draw_comparison(answer["compare"])


def _some(number: int, what: str) -> Iterator[int]:
    """All of them, or the first and the last, with a line for what is left out."""
    if number <= _MOST:
        yield from range(number)
        return
    yield from range(_FIRST)
    echo(f"\n({number - _MOST:,} {what} are left out here; --json has them all)")
    yield from range(number - _MOST + _FIRST, number)


def _tell_draw(draw: Mapping[str, Any]) -> None:
    pairs = list(zip(draw["among"], draw["chances"], strict=True))
    among = ", ".join(f"{shown(name)} {chance}" for name, chance in pairs[:_MOST])
    more = f" and {len(pairs) - _MOST:,} others" if len(pairs) > _MOST else ""
    echo(f"Drawn from {draw['source']}, {draw['why']}: {shown(draw['chosen'])} (of {among}{more}).")


def _draw_round(number: int, rounds: int, counted: Mapping[str, Any], winner: str) -> None:
    from rich.table import Table

    margin = "" if counted["margin"] is None else f", margin {counted['margin']:,}"
    table = Table(title=f"Round {number} of {rounds}: {counted['counted']}{margin}", title_justify="left", box=None)
    table.add_column("", min_width=24)
    table.add_column(counted["counted"], justify="right")
    table.add_column("behind", justify="right")
    table.add_column("")
    most = max(counted["counts"].values())
    last = number == rounds
    out, counts = set(counted["eliminated"]), counted["counts"]
    for name, count in islice(counts.items(), _MOST):
        fate = "out" if name in out else ("wins" if last and name == winner else "")
        table.add_row(shown(name), f"{count:,}", f"{most - count:,}" if most != count else "", fate)
    if len(counts) > _MOST:
        rest = list(counts.items())[_MOST:]
        gone = sum(name in out for name, _ in rest)
        table.add_row(
            f"({len(rest):,} others)", f"{sum(count for _, count in rest):,}", "", f"{gone:,} out" if gone else ""
        )
    if counted["exhausted"]:
        table.add_row("(exhausted)", f"{counted['exhausted']:,}", "", "")
    echo()
    page().print(table)


def _tell_promise(answer: Mapping[str, Any]) -> None:
    promise = answer["guarantee"]
    if promise["holds"]:
        eta = rational(promise["eta_text"])
        gain = f"more than {approximately(eta)} in expected utility" if eta else "anything"
        who = "whatever a voter believes"
        if promise["alpha_min"]:
            who = f"if a voter's belief is at least {_told_up(promise['alpha_min'])}-coarse"
        if promise["utility_apart_text"]:
            apart = approximately(rational(promise["utility_apart_text"]), digits=3)
            who += f" and her utilities are equal or at least {apart} apart"
        echo(f"No lie gains {gain}, {who} ({promise['theorem']}).")
        for remark in promise["remarks"]:
            echo(f"Note: {remark}.")
    else:
        echo(f"Nothing is promised about lies: {promise['reason']}.")
    if promise["margin"] is not None and (not promise["holds"] or promise["remarks"]):
        echo("How many voters a promise takes: hubbub vote guarantee --help.")
    if answer["punishing_probability"] is not None:
        often = " A smaller --eta makes it rarer." if answer["punishing_probability"] > 0.01 else ""
        echo(f"The punishing rule had a chance of {_told_up(answer['punishing_probability'])}.{often}")
    for what, key in (("Pareto efficient", "pareto"), ("Close to optimal", "close_to_optimal")):
        echo(shown(f"{what}: {answer[key]['answer']}, {answer[key]['reason']}."))


def _told_up(x: float) -> str:
    return approximately(Fraction(x), digits=3)


def _draw_comparison(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(title="All rules", title_justify="left", box=None)
    for heading in ("rule", "winner", "chance", "a lie gains", "if beliefs are", "Pareto"):
        table.add_column(
            heading,
            justify="left" if heading in ("rule", "winner", "Pareto") else "right",
            no_wrap=heading != "winner",
            overflow="fold",
        )
    for row in rows:
        promise = row["guarantee"]
        chance = Fraction((row["lottery"] or {}).get(row["winner"], 0))
        told = "certain" if chance == 1 else (f"{float(chance):.3f}" if chance else "")
        eta = rational(promise["eta_text"])
        gain = (f"<= {approximately(eta)}" if eta else "nothing") if promise["holds"] else "no promise"
        coarse = ""
        if promise["holds"]:
            coarse = f"{_told_up(promise['alpha_min'])}-coarse" if promise["alpha_min"] else "any"
        table.add_row(row["rule"], shown(row["winner"]), told, gain, coarse, row["pareto"]["answer"])
    echo()
    page().print(table)


def draw_flow(result: Result, read: BallotFile, path: str) -> None:
    """The picture of a count."""
    from hubbub import charts

    drawn = flow(result)
    last = sorted(result.rounds[-1].counts, key=lambda pair: -pair[1])
    leads = len(last) > 1 and last[0][0] == result.winner
    ended = f"{last[0][1]:,} to {last[1][1]:,}" if leads else ""
    drawn_too = result.rounds[-1].what == drawn.what  # else the last two are counted in another unit than the bars
    score = f", {ended}" if ended and drawn_too else ""
    columns = [
        {"heading": f"round {column.round}", "note": _gone(column), "piles": column.piles} for column in drawn.columns
    ]
    margin = next((counted.margin for counted in result.rounds if counted.margin is not None), None)
    chart = charts.transfers_chart(
        columns,
        [
            {"column": link.column, "origin": link.origin, "target": link.target, "ballots": link.ballots}
            for link in drawn.links
        ],
        order=drawn.order,
        winner=drawn.winner,
        plain=[name for name in drawn.order if name not in result.candidates],
        title=f"{result.winner_name} wins{score}",
        subtitle=[
            " · ".join(
                part
                for part in (
                    read.title,
                    result.rule.name,
                    f"{result.voters:,} ballots",
                    "" if margin is None else f"margin {margin:,}",
                    "" if drawn.what == "top choices" else drawn.what,
                )
                if part
            ),
            *([f"then {ended} in top choices between the last two"] if ended and not drawn_too else []),
        ],
    )
    charts.save(chart, path)


def _gone(column: Column) -> str:
    if not column.out:
        return ""
    return f"out: {column.out[0]}" if len(column.out) == 1 else f"out: {column.gone} candidates"
