"""Ledger: what was spent on whom, by which release, what is left; caps; and whose keys are known."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hubbub.charts.lines import Axes, Series, responsive_lines
from hubbub.errors import HubbubError, WrongUse
from hubbub.guarantees.promise_order import in_brief
from hubbub.ledger import trust
from hubbub.ledger.admission import Total, totals
from hubbub.ledger.overlap import COMPARED
from hubbub.ledger.policy import Policy, remaining_budget
from hubbub.ledger.records import COMMITTED, Account, Record
from hubbub.ledger.running_total import RunningTotal
from hubbub.numeric.exact import integer, rational, to_float, to_text
from hubbub.numeric.format import short
from hubbub.studio.app_state import AppState, app_state_of, hexadecimal
from hubbub.studio.pages.publish import form_of
from hubbub.studio.rendering import drawing, page, trouble

SECTION = "ledger"
NOTIONS: Final = {
    "differential": "differential privacy",
    "adaptive": "differential privacy at a delta, however each was chosen",
    "zero_knowledge": "zero-knowledge privacy",
    "crowd_blending": "crowd-blending privacy",
    "outlier": "outlier privacy",
    "population": "differential privacy for the population",
}
CAPS: Final = (
    ("differential_epsilon", "epsilon of differential privacy, at most", "2"),
    ("zero_knowledge_epsilon", "epsilon of zero-knowledge privacy, at most", "2"),
    ("zero_knowledge_rate", "rate of all secret samples together, at most", "0.5"),
    ("delta", "delta of each notion, at most", "1e-6"),
    ("crowd", "crowds of at least", "20"),
    ("overlap", "share of people who may be under another name too, at most", "0.05"),
)


async def ledger(request: Request) -> Response:
    """Every dataset, or one of them."""
    app_state = app_state_of(request)
    try:
        known = await run_in_threadpool(lambda: app_state.open_ledger.accounts())
        wanted = request.query_params.get("dataset")
        if wanted is not None and wanted not in known:
            raise WrongUse("the ledger has no dataset of that name; choose one of those listed")
        keys = await run_in_threadpool(trust.names)
        mine = await run_in_threadpool(lambda: app_state.open_ledger.public_key())
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/ledger" if "dataset" in request.query_params else "/")
    accounts = [_account_facts(account) for name, account in known.items() if wanted in (None, name)]
    return page(
        "ledger.html",
        "Ledger" if wanted is None else f"Ledger of {wanted}",
        section=SECTION,
        ledger=str(app_state.open_ledger.path),
        one=wanted,
        accounts=accounts,
        caps=CAPS,
        keys=sorted(keys.items()),
        mine=mine,
    )


def _account_facts(account: Account) -> dict[str, Any]:
    account_totals = account.totals
    totals = [] if account_totals is None else [(NOTIONS[name], getattr(account_totals, name)) for name in NOTIONS]
    caps = {name: value for name, _, _ in CAPS if (value := getattr(account.policy, name)) is not None}
    remains = remaining_budget(account.policy, account.capped_totals)
    return {
        "dataset": account.dataset,
        "spent": len(account.spent_releases),
        "series": [record.series for record in account.records if record.series is not None and record.is_spent],
        "records": [(record, _state(record)) for record in account.records],
        "holding": [
            (name, in_brief(total.guarantee), str(total.guarantee), total.why)
            for name, total in totals
            if total.guarantee is not None
        ],
        "lost": [(name, total.why) for name, total in totals if total.guarantee is None and total.why],
        "caps": {name: str(value) if isinstance(value, int) else to_text(value) for name, value in caps.items()},
        "left": remains,
        "charts": [drawing(each) for each in _charts(account)],
        "bars": [_bar(name, caps[name], remains[name]) for name in remains if name in caps],
        "apart": account.apart,
        "part_of": account.part_of,
        "compared": COMPARED,
    }


def _bar(name: str, cap: Any, remains: str) -> tuple[str, str, str, int]:
    """A cap, what is left of it, and the share that is spent in hundredths."""
    share = 1 if remains == "nothing" or not cap else 1 - rational(remains, "left") / cap
    return name.replace("_", " "), to_text(cap), remains, min(max(round(100 * float(share)), 0), 100)


_DRAWN: Final = (("differential", "differential_epsilon"), ("zero_knowledge", "zero_knowledge_epsilon"))
_MOST_DRAWN: Final = 40  # of the latest releases


def _charts(account: Account) -> list[str]:
    """What all releases up to each one promise together, a picture for each notion that holds, with its cap."""
    spent = account.spent_releases
    first = max(len(spent) - _MOST_DRAWN, 0)
    running, through = RunningTotal(), []
    for i, each in enumerate(spent):
        running = running.followed_by(each)
        if i >= first:
            through.append(totals(list(running.stand_ins)))
    found = []
    for notion, cap in _DRAWN:
        steps = [
            (each.number, _epsilon(getattr(total, notion))) for each, total in zip(spent[first:], through, strict=True)
        ]
        known = [(float(number), epsilon) for number, epsilon in steps if epsilon is not None]
        if not known or len(known) < len(steps):  # a notion that no longer holds has no sum
            continue
        known = [(0.0, 0.0), *known] if not first else known
        limit = getattr(account.policy, cap)
        name, last = NOTIONS[notion], known[-1][1]
        label = f"the cap, {to_text(limit)}" if limit is not None else ""
        series = Series(
            name="",
            points=tuple(known),
            labels=tuple(
                f"after release {number:.0f}: epsilon {short(epsilon)}"
                if number
                else "before the first release: nothing"
                for number, epsilon in known
            ),
        )
        axes = Axes(
            title=f"Epsilon of {name}, release by release",
            description=f"After {len(spent)} releases of {account.dataset} it is {short(last)}."
            + (f" The cap is {to_text(limit)}." if limit is not None else " There is no cap."),
            x="release",
            y=f"epsilon of {name}, so far",
            rules=() if limit is None else ((to_float(limit, round_up=False), label),),
            across=(known[0][0], known[-1][0]),
            log=False,
            whole=True,
            high=150,
        )
        found.append(responsive_lines([series], axes))
    return found


def _epsilon(total: Total) -> float | None:
    """Rounded up; None where nothing is promised, or no number bounds it."""
    epsilon = getattr(total.guarantee, "epsilon", None)
    return to_float(epsilon, round_up=True) if isinstance(epsilon, Fraction) else None


def _state(record: Record) -> str:
    if record.state == COMMITTED:
        return "published"
    return (
        f"{record.state}; counts as spent" if record.is_spent else "given up before anything was drawn; costs nothing"
    )


async def policy(request: Request) -> Response:
    """Cap what may be spent from now on."""
    app_state, form = app_state_of(request), await form_of(request)
    try:
        dataset = form.get("dataset", "").strip()
        await run_in_threadpool(_cap, app_state, dataset, form)
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/ledger")
    return RedirectResponse(f"/ledger?{urlencode({'dataset': dataset})}", 303)


def _cap(app_state: AppState, dataset: str, form: Mapping[str, str]) -> None:
    given: dict[str, Any] = {}
    for name, label, _ in CAPS:
        if text := form.get(name, "").strip():
            given[name] = integer(text, label, least=2) if name == "crowd" else rational(text, label)
    app_state.open_ledger.set_policy(dataset, Policy(**given))


async def trusted(request: Request) -> Response:
    """Remember or forget whose a key is."""
    form = await form_of(request)
    try:
        name, key = form.get("name", "").strip(), form.get("key", "").strip()
        if form.get("forget"):
            await run_in_threadpool(trust.remove, name)
        else:
            await run_in_threadpool(trust.add, name, hexadecimal(key))
    except HubbubError as error:
        return trouble(error, section=SECTION, back="/ledger")
    return RedirectResponse("/ledger#keys", 303)
