"""Plan: what can be promised with so many people and bins, at which error. No data is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from hubbub.channels.catalogue import parameters
from hubbub.numeric.exact import to_text
from hubbub.plan.designs import Design
from hubbub.plan.planned import Planned, design_label
from hubbub.plan.targets import Want
from hubbub.runtime.frozen import dataclass
from hubbub.studio.answers import soon
from hubbub.studio.app_state import AppState, app_state_of
from hubbub.studio.forms.guided import Slider
from hubbub.studio.forms.shape import SHAPES
from hubbub.studio.frontier import picture
from hubbub.studio.pages.publish import form_of
from hubbub.studio.rendering import drawing, fragment, in_page, page, sentence_of

SECTION = "plan"
WANTS: Final = {
    Want.ZERO_KNOWLEDGE.value: "No more than a sample would tell (zero-knowledge)",
    Want.DIFFERENTIAL.value: "Nobody can tell whether I took part (differential)",
    Want.CROWD_BLENDING.value: "Nobody stands alone (crowd-blending)",
    Want.OUTLIER.value: "The rarer, the less is shown (outlier)",
    Want.DISTRIBUTIONAL.value: "Hidden by who was picked (distributional)",
}
SLIDERS: Final = (
    Slider(
        "people", "People", "100 200 500 1000 2000 5000 10000 20000 50000 100000 200000 500000 1000000", "50000", ""
    ),
    Slider("bins", "Bins", "2 5 10 20 50 100 200 400 700 1000 2000 5000", "400", ""),
    Slider("epsilon", "Loss that is allowed, epsilon", "0.05 0.1 0.2 0.3 0.5 0.7 1 1.5 2 3 5", "0.5", ""),
    Slider("delta", "Delta that is allowed", "1e-12 1e-11 1e-10 1e-9 1e-8 1e-7 1e-6 1e-5", "1e-9", ""),
    Slider("k", "Crowd, k", "2 5 10 15 20 30 50 100 200", "20", ""),
)
_USES: Final = {  # which numbers each promise is about
    "zero-knowledge": ("epsilon", "delta", "rate"),
    "differential": ("epsilon",),
    "crowd-blending": ("k", "epsilon"),
    "outlier": ("curve",),
    "distributional": ("epsilon", "delta", "rate"),
}
_TEXTS: Final = {"rate": "0.05..0.25", "curve": "1:0.05,101:1"}
_ROWS_LISTED: Final = 12
_TWO_LEVELS: Final = re.compile(r"1:([\d.]+),(\d+):([\d.]+)", re.ASCII)  # a curve with one step


async def plan(request: Request) -> Response:
    """The form, with its answer so far."""
    app_state, form = app_state_of(request), await form_of(request)
    answer = await run_in_threadpool(_answer, app_state, form)
    return page(
        "plan.html",
        "Plan",
        section=SECTION,
        form=form,
        wants=WANTS,
        chosen=form.get("want", Want.ZERO_KNOWLEDGE.value),
        sliders=SLIDERS,
        texts=_TEXTS,
        shapes=SHAPES,
        uses=_USES,
        answer=answer,
    )


async def answer(request: Request) -> Response:
    """The part that follows the sliders."""
    answer = await run_in_threadpool(_answer, app_state_of(request), await form_of(request))
    return HTMLResponse(fragment("planned.html", answer=answer))


def _answer(app_state: AppState, form: Mapping[str, str]) -> dict[str, Any]:
    want = form.get("want", Want.ZERO_KNOWLEDGE.value)
    shape = form.get("shape", "zipf")
    if want not in _USES or shape not in dict(SHAPES):
        return {"planned": None, "words": "Choose a promise and a shape of those listed.", "waiting": False}
    first = {slider.name: slider.value for slider in SLIDERS} | _TEXTS
    numbers = {name: form.get(name, "").strip() or first[name] for name in ("people", "bins", *_USES[want])}
    if want == "distributional":
        numbers["rate"] = numbers["rate"].partition("..")[0].partition(",")[0]
    key = ("planned", want, shape, *sorted(numbers.items()))
    found = app_state.answers.answer(key, partial(_planned, want, shape, numbers), soon(), slow=True)
    if found.error is not None:
        return {"planned": None, "words": sentence_of(found.error), "waiting": False}
    if found.value is None:
        return {"planned": None, "words": "", "waiting": True}
    planned = found.value
    return {
        "planned": planned,
        "words": "",
        "waiting": False,
        "rows": planned.rows()[:_ROWS_LISTED],
        "more": max(len(planned.designs) - _ROWS_LISTED, 0),
        "sentences": planned.sentences(in_page),
        "command": planned.command(planned.best),
        "chart": drawing(picture(planned)),
        "onward": onward(planned),
    }


@dataclass(frozen=True, slots=True)
class Onward:
    """The first design that the form to publish can be filled with: its address, its name, and its expected error."""

    query: str
    name: str
    error: str
    best: bool


def onward(planned: Planned) -> Onward | None:
    """None where the form has no promise for any of the designs."""
    for design in planned.designs:
        filled = _filled(design)
        if filled is not None:
            stated = {"size": str(planned.request.shape.people), "shape": planned.request.shape.name}
            known = stated if stated["shape"] in dict(SHAPES) else {"size": stated["size"]}
            error = f"{design.expected.error:.3g}"
            return Onward(urlencode({**filled, **known}), design_label(design), error, design is planned.best)
    return None


def _filled(design: Design) -> dict[str, str] | None:
    """The fields of the form for a design; None where it has none for it."""
    made = {name: str(value) for name, value in parameters(design.spec.channel).items()}
    rate = {} if design.rate is None else {"sample": to_text(design.rate)}
    match design.spec.channel.name:
        case "geometric" if not rate:
            return {"promise": "noise", "epsilon": made["epsilon"]}
        case "exact-or-suppressed":
            return {"promise": "sample" if rate else "crowd", "crowd": made["k"], **rate}
        case "warped" if not rate and (found := _TWO_LEVELS.fullmatch(made["curve"])):
            return {"promise": "rare", "rare": found[1], "crowd": found[2], "epsilon": found[3]}
        case _:
            return None


def _planned(want: str, shape: str, numbers: Mapping[str, str]) -> Any:
    from hubbub import plan

    return plan.release(want, shape=shape, **numbers)
