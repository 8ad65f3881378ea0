"""The work under way: at most one release, in a process of its own, with its stages for whoever watches."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, Final

from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.runtime import child_process
from hubbub.runtime.frozen import dataclass
from hubbub.studio.work.worker import STAGES, STOPPED

_COUNTS: Final = ("counting", "writing")  # stages at which something may be spent
_PATIENCE: Final = 20.0  # seconds between signs of life for whoever watches


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One release: what was asked, how far it is, and how it ended."""

    request: Mapping[str, Any]
    stage: str = "opening"
    stopping: bool = False
    ended: str = ""  # done, failed or stopped
    error: HubbubError | None = None
    remarks: tuple[str, ...] = ()
    spent: bool = False  # whether something was spent though it was stopped

    @property
    def running(self) -> bool:
        return not self.ended

    @property
    def sentence(self) -> str:
        """How far it is."""
        if self.ended == "done":
            return "Published"
        if self.ended == STOPPED:
            if self.spent:
                return "Stopped; noise had been drawn, so the ledger counts it as spent"
            return "Stopped; nothing was drawn, and nothing was spent"
        if self.ended:
            return "Nothing was published"
        return "Stopping" if self.stopping else STAGES[self.stage]

    @property
    def part(self) -> int:
        """How many of the stages are behind it."""
        return len(STAGES) if self.ended else list(STAGES).index(self.stage)


class Work:
    """The one release at a time."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._changed = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    async def begin(self, request: Mapping[str, Any]) -> None:
        """Start a release, unless one is under way."""
        if self.job is not None and self.job.running:
            raise Refused("a release is under way, and one is made at a time; wait for it, or stop it")
        if self._task is not None:
            await self._task  # it has said how it ended, and its process is about to
        self.job = Job(request=request)
        self._process = await asyncio.create_subprocess_exec(
            *child_process.command("hubbub.studio.work.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,  # what a library says may be about the data
            cwd=child_process.NEUTRAL,
        )
        self._task = asyncio.create_task(self._follow(self._process))

    async def _follow(self, process: asyncio.subprocess.Process) -> None:
        assert self.job is not None and process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(self.job.request).encode())
        process.stdin.close()
        async for line in process.stdout:
            self._receive(json.loads(line))
            await self._announce()
        await process.wait()
        if self.job.running and self.job.stopping and self.job.stage not in _COUNTS:
            self.job = replace(self.job, ended=STOPPED)  # stopped before it could say so: nothing was reserved yet
            await self._announce()
        elif self.job.running:  # it died without a word
            lost = Refused(
                "the release was cut short; look at the ledger: what is reserved there counts as spent, and a folder "
                "with a release that was ready is finished with hubbub ledger finish"
            )
            self.job = replace(self.job, ended="failed", error=lost)
            await self._announce()

    def _receive(self, message: Mapping[str, Any]) -> None:
        assert self.job is not None
        if "stage" in message:
            self.job = replace(self.job, stage=message["stage"])
        elif "done" in message:
            self.job = replace(self.job, ended="done", remarks=tuple(message["remarks"]))
        elif STOPPED in message:
            self.job = replace(self.job, ended=STOPPED, spent=message["spent"])
        else:
            kind = Refused if message["code"] == Refused.exit_code else WrongUse
            self.job = replace(self.job, ended="failed", error=kind(message["error"]))

    async def _announce(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def stop(self) -> None:
        """Ask the release to stop. Once noise was drawn it is finished instead, since it is paid for."""
        if self.job is not None and self.job.running and self._process is not None:
            self.job = replace(self.job, stopping=True)
            if self._process.returncode is None:
                self._process.send_signal(signal.SIGINT)
            await self._announce()

    async def seen(self) -> AsyncIterator[Job | None]:
        """The job now, and again whenever it changed; now and then as a sign of life."""
        while True:
            yield self.job
            if self.job is None or not self.job.running:
                return
            async with self._changed:
                try:
                    await asyncio.wait_for(self._changed.wait(), _PATIENCE)
                except TimeoutError:
                    continue

    async def close(self) -> None:
        """Stop what is under way, and wait for it."""
        await self.stop()
        if self._task is not None:
            await self._task
