"""Who may speak to the studio, and what its pages may do.

A page of the studio can spend a budget, so it answers one browser of one person on this machine:

- the Host must be this machine's loopback address with the studio's port: a stranger's name that leads here (DNS
  rebinding) is refused;
- whatever changes something must come from a page of the studio itself, and nothing is answered that another page asked
  for: ports do not make a site, so SameSite alone would let a page of another program on this machine in;
- the browser must show the cookie that a link handed out, which opens once. Both are fresh with every start, never in a
  page, and compared in constant time.

Answers are kept nowhere, framed nowhere, and run no code but the studio's own files.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from hubbub.noise.source import SystemSource
from hubbub.studio.rendering import opening, refusal

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LARGEST: Final = 64 << 20  # bytes of an upload
OPEN: Final = "/open/"
_SAFE: Final = ("GET", "HEAD")
_SHARED: Final = "/static/studio.css"  # the one thing that a page of refusal needs

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
DOCUMENT: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
"""For a report: a file on the disk, so it gets no origin, no script and no way out."""

_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


def secret() -> str:
    """A word that nobody can guess."""
    return SystemSource().words(4).tobytes().hex()


class Guard:
    """In front of every page. `token` is the cookie's, `key` that of the link, None once it was used."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]], port: int) -> None:
        self._app, self._port = app, port
        self._token, self._key = secret(), secret()
        self._used = False

    @property
    def cookie(self) -> str:
        """The cookie's name: two studios on one machine share a host, and so their cookies."""
        return f"hubbub-studio-{self._port}"

    def link(self) -> str:
        """The address that opens the studio, once."""
        return f"http://127.0.0.1:{self._port}{OPEN}{self._key}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        request = Request(scope)
        answer = self._answer(request)
        speaking = _speaking(send)
        if answer is not None:
            await answer(scope, receive, speaking)
        else:
            await self._app(scope, _bounded(receive), speaking)

    def _answer(self, request: Request) -> Response | None:
        """What is said instead of a page; None if the page may be shown."""
        hosts = (f"127.0.0.1:{self._port}", f"localhost:{self._port}")
        host = request.headers.getlist("host")
        if len(host) != 1 or host[0] not in hosts:
            return refusal(400, "This is not the studio's address", f"The studio is at {hosts[0]} and nowhere else.")
        if request.method not in (*_SAFE, "POST"):
            return refusal(405, "That cannot be asked", "Pages are read, and forms are sent; nothing else is answered.")
        if request.url.path == _SHARED and request.method in _SAFE:
            return None
        if request.url.path.startswith(OPEN):
            return self._opened(request)
        if (foreign := self._foreign(request, host[0])) is not None:
            return foreign
        if request.headers.get("content-length", "0").isdecimal() is False:
            return refusal(400, "That cannot be read", "The length of what was sent is no number.")
        if int(request.headers.get("content-length", "0")) > LARGEST:
            return refusal(413, "That is too large", f"At most {LARGEST >> 20} MB can be sent to a page.")
        return self._known(request)

    def _foreign(self, request: Request, host: str) -> Response | None:
        """What another page asked for is not done."""
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        elsewhere = site not in (None, "same-origin", "none")
        if request.method not in _SAFE:
            elsewhere = elsewhere or (origin != f"http://{host}" if origin is not None else site != "same-origin")
        if not elsewhere:
            return None
        return refusal(
            403,
            "This was asked by another page",
            "The studio answers its own pages only. If you followed a link, type the address into a new tab.",
        )

    def _opened(self, request: Request) -> Response:
        given = request.url.path.removeprefix(OPEN)
        if request.method != "GET" or self._used or not compare_digest(given.encode(), self._key.encode()):
            return refusal(
                403,
                "This link does not open the studio",
                "A link opens the studio once. If this browser has it open already, use that tab; else stop the studio "
                "in its terminal and start it again: it prints a fresh link.",
            )
        self._used = True
        answer = opening("/publish")  # a page and no redirect: whoever led here, the next step is the studio's own
        answer.headers["referrer-policy"] = "no-referrer"
        answer.set_cookie(self.cookie, self._token, httponly=True, samesite="strict", path="/")
        return answer

    def _known(self, request: Request) -> Response | None:
        given = _cookies(request).get(self.cookie)
        if given is not None and compare_digest(given.encode(), self._token.encode()):
            return None
        if given is not None:
            return refusal(
                403,
                "This tab is from an earlier start of the studio",
                "The studio was started anew since this tab was opened. Use the link that its terminal shows now. "
                "Nothing is lost: what was published is in the folder, and what was spent is in the ledger.",
            )
        return refusal(
            403,
            "This studio belongs to whoever started it",
            "It opens by the link that its terminal shows, in the browser where that link was followed. If somebody "
            "else on this machine started it, start your own: hubbub studio.",
        )


def _cookies(request: Request) -> dict[str, str]:
    found: SimpleCookie = SimpleCookie()
    for line in request.headers.getlist("cookie"):
        try:
            found.load(line)
        except CookieError:
            continue
    return {name: each.value for name, each in found.items()}


def _bounded(receive: Receive) -> Receive:
    """What comes in, cut off where it says less than it brings."""
    seen = 0

    async def next_part() -> MutableMapping[str, Any]:
        nonlocal seen
        part = await receive()
        seen += len(part.get("body", b""))
        if seen > LARGEST:
            return {"type": "http.disconnect"}
        return part

    return next_part


def _speaking(send: Send) -> Send:
    """What goes out, with the rules of the house; a page may be stricter, never weaker."""

    async def send_checked(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            header_names = {name.lower() for name, _ in message["headers"]}
            more = [(n.encode(), v.encode()) for n, v in _HEADERS.items() if n.encode() not in header_names]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return send_checked
