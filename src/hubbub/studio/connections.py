"""Connections that never finish a request: they are let go after a while, and at once where others need the room.

Whoever is on this machine can open connections, and a process has only so many. So a request has to be there in time,
and of too many connections the one that has waited longest without a whole request goes. A browser's requests are whole
at once, so they are answered however many others wait.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST: Final = 100  # connections at once
HEAD = 10.0  # seconds for what is asked
BODY: Final = 120.0  # seconds for what is sent with it


class Patient(H11Protocol):
    """HTTP as uvicorn speaks it, with an end to patience."""

    since: float = 0.0
    _deadline: asyncio.TimerHandle | None = None
    _state: Any = None

    @property
    def half_open(self) -> bool:
        """Whether a request is not whole, or has not begun."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        if len(self.connections) > MOST:
            waiting = [each for each in self.connections if isinstance(each, Patient) and each.half_open]
            min(waiting, key=lambda each: each.since).transport.abort()
        self._expect()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _expect(self) -> None:
        """The clock runs from when the state changed, not from the last byte: who sends one at a time gains nothing."""
        state = self.conn.their_state
        if state is self._state:
            return
        self._forget()
        self._state = state
        if self.half_open:
            self.since = self.loop.time()
            self._deadline = self.loop.call_later(HEAD if state is h11.IDLE else BODY, self.transport.abort)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
