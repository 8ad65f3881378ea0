"""Pages as text: templates in which every value is made visible and escaped, around the skeleton that reports have."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from hubbub.charts.skeleton import skeleton
from hubbub.errors import HubbubError
from hubbub.report.text import escaped, lines, name, visible

SECTIONS: Final = (
    ("publish", "Publish"),
    ("check", "Check"),
    ("plan", "Plan"),
    ("vote", "Vote"),
    ("ledger", "Ledger"),
)
_HERE: Final = Path(__file__).parent
_LONGEST: Final = 4000  # signs of a value
_MARK: Final = re.compile(r"`([A-Za-z]\w*)(?:=([^`]*))?`")
_HEAD: Final = """<link rel="stylesheet" href="/static/studio.css">
<link rel="icon" href="data:,">"""
_SCRIPT: Final = '<script type="module" src="/static/studio.js"></script>\n'


def in_page(text: str) -> str:
    """The parameters of a message as the words of a form.

    >>> in_page("`at_delta` goes with `crowd=20` or `scale_up=True`")
    '“at delta” goes with “crowd 20” or “scale up”'
    """

    def field(mark: re.Match[str]) -> str:
        label = mark[1].replace("_", " ")
        return f"“{label}”" if mark[2] in (None, "True") else f"“{label} {mark[2]}”"

    return _MARK.sub(field, text)


def sentence_of(error: HubbubError) -> str:
    """An expected error as it stands on a page."""
    sentence = in_page(error.marked)
    return f"{sentence[:1].upper()}{sentence[1:]}{'' if sentence.endswith(('.', '?')) else '.'}"


def _finalized(value: Any) -> Any:
    """Words of strangers cannot act, and none hides: signs that do not show are spelt out."""
    return visible(value, _LONGEST) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _templates() -> Environment:
    env = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    env.globals["infinity"] = float("inf")
    env.filters |= {
        "bdi": lambda text: Markup(name(str(text))),
        "lines": lambda text: Markup(lines(str(text))),
        "sentence": lambda text: in_page(str(text))[:1].upper() + in_page(str(text))[1:],
    }
    return env


def fragment(template: str, **values: Any) -> str:
    """A part of a page."""
    return _templates().get_template(template).render(**values)


def drawing(svg: str) -> Markup:
    """A chart of ours, which has escaped its words."""
    return Markup(svg)


def page(template: str, title: str, *, section: str = "", status: int = 200, head: str = "", **values: Any) -> Response:
    """A page of a place."""
    inner = Markup(fragment(template, title=title, **values))
    body = fragment("frame.html", places=SECTIONS, place=section, inner=inner)
    title_text = f"{escaped(title)} · Hubbub studio"
    return HTMLResponse(skeleton(title=title_text, body=body, head=_HEAD, last=_SCRIPT + head), status)


def refusal(status: int, title: str, sentence: str) -> Response:
    """A page that says why there is none, for somebody who may not be known here."""
    body = fragment("refusal.html", title=title, words=sentence)
    return HTMLResponse(skeleton(title=f"{escaped(title)} · Hubbub studio", body=body, head=_HEAD), status)


def opening(where: str) -> Response:
    """A page that leads on to the studio."""
    body = fragment("opening.html", where=where)
    again = f'<meta http-equiv="refresh" content="0;url={where}">'
    return HTMLResponse(skeleton(title="Hubbub studio", body=body, head=_HEAD, last=f"{again}\n"))


def trouble(error: HubbubError, *, section: str = "", back: str = "/") -> Response:
    """An expected error on a page of its own."""
    status = {2: 400, 3: 409, 4: 422}.get(error.exit_code, 400)
    title = {3: "Refused", 4: "A check failed"}.get(error.exit_code, "That does not work")
    return page("trouble.html", title, section=section, status=status, words=sentence_of(error), back=back)
