"""A disk that forgets what was not synced: records what a process does to its files, and shows what a power cut leaves.

Bytes are on this disk as they were at the last fsync of their file, so at first there are none. A name (a new file, a
rename, a removal) is on it at once, or only after an fsync of its folder: real file systems do either, so both are
tried. SQLite's files are as they were at its last COMMIT: its own tests show that.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass(eq=False)
class File:
    """A file by itself, whatever it is called."""

    durable: bytes = b""


Names = dict[str, File | None]  # None: a folder
Frozen = dict[str, bytes | None]


@dataclass
class Disk:
    """What is there after each step, if the power goes out then: with names at once, and with names when synced."""

    root: Path
    cuts: list[tuple[str, Frozen]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    now: Names = field(default_factory=dict)
    settled: Names = field(default_factory=dict)
    handles: dict[int, File] = field(default_factory=dict)

    def step(self, what: str, path: object = "") -> None:
        told = f"{what} {os.path.relpath(str(path), self.root)}"
        self.steps.append(told)
        for how, names in (("at once", self.now), ("when synced", self.settled)):
            known = {name: None if file is None else file.durable for name, file in names.items()}
            whole = {name: data for name, data in known.items() if all(str(up) in known for up in self.above(name))}
            self.cuts.append((f"after step {len(self.steps)}, {told}, names {how}", whole))

    def above(self, name: str) -> list[Path]:
        return [up for up in Path(name).parents if self.root in up.parents]

    def inside(self, path: object) -> bool:
        return isinstance(path, str | os.PathLike) and self.root in Path(path).parents

    def settle(self, folder: str) -> None:
        for names in (self.settled, self.now):
            for name in [name for name in names if os.path.dirname(name) == folder]:
                if name in self.now:
                    self.settled[name] = self.now[name]
                else:
                    del self.settled[name]

    def committed(self, base: Path) -> None:
        for path in (base, Path(f"{base}-wal")):
            if path.exists():
                file = self.now.get(str(path)) or File()
                file.durable = path.read_bytes()
                self.now[str(path)] = file
                if str(path).endswith("-wal"):
                    self.settled[str(path)] = file
            else:
                self.now.pop(str(path), None)
                self.settled.pop(str(path), None)
        self.step("commit", base)

    def put_back(self, files: Frozen) -> None:
        """Make the real folder what the cut left."""
        shutil.rmtree(self.root)
        self.root.mkdir()
        for name, data in sorted(files.items()):
            if data is None:
                os.mkdir(name, 0o700)
            else:
                Path(name).write_bytes(data)
                os.chmod(name, 0o600)

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Record from now on."""
        patch.setattr(os, "open", self._opening(os.open))
        patch.setattr(os, "fsync", self._syncing(os.fsync))
        patch.setattr(os, "replace", self._renaming(os.replace))
        patch.setattr(os, "unlink", self._removing(os.unlink))
        patch.setattr(os, "mkdir", self._making(os.mkdir))
        patch.setattr(shutil, "rmtree", self._clearing(shutil.rmtree))
        patch.setattr(sqlite3, "connect", self._connecting(sqlite3.connect))

    def _opening(self, whole: Callable[..., int]) -> Callable[..., int]:
        def opening(path: Any, flags: int, *more: Any, **named: Any) -> int:
            handle = whole(path, flags, *more, **named)
            if self.inside(path) and not stat.S_ISDIR(os.fstat(handle).st_mode):
                file = self.now.get(str(path)) or File()
                self.handles[handle] = file
                if str(path) not in self.now:
                    self.now[str(path)] = file
                    self.step("create", path)
            return handle

        return opening

    def _syncing(self, whole: Callable[[int], None]) -> Callable[[int], None]:
        def syncing(handle: int) -> None:
            whole(handle)
            path = os.readlink(f"/proc/self/fd/{handle}")
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                self.settle(path)
            elif self.inside(path):
                self.handles[handle].durable = Path(path).read_bytes()
            self.step("sync", path)

        return syncing

    def _renaming(self, whole: Callable[..., None]) -> Callable[..., None]:
        def renaming(old: Any, new: Any) -> None:
            whole(old, new)
            self.now[str(new)] = self.now.pop(str(old))
            self.step("rename", new)

        return renaming

    def _removing(self, whole: Callable[..., None]) -> Callable[..., None]:
        def removing(path: Any, **named: Any) -> None:
            whole(path, **named)
            self.now.pop(str(path), None)
            self.step("remove", path)

        return removing

    def _making(self, whole: Callable[..., None]) -> Callable[..., None]:
        def making(path: Any, *more: Any, **named: Any) -> None:
            whole(path, *more, **named)
            if self.inside(path):
                self.now[str(path)] = None
                self.step("make", path)

        return making

    def _clearing(self, whole: Callable[..., None]) -> Callable[..., None]:
        def clearing(path: Any, **named: Any) -> None:
            whole(path, **named)
            for name in [name for name in self.now if name == str(path) or Path(path) in Path(name).parents]:
                del self.now[name]
            self.step("clear", path)

        return clearing

    def _connecting(self, whole: Callable[..., Any]) -> Callable[..., Any]:
        disk = self

        class Watched(sqlite3.Connection):
            def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
                done = super().execute(sql, *more)
                if sql == "COMMIT":
                    disk.committed(self.place)  # type: ignore[attr-defined]
                return done

            def executescript(self, sql: str) -> sqlite3.Cursor:
                done = super().executescript(sql)
                disk.committed(self.place)  # type: ignore[attr-defined]
                return done

            def close(self) -> None:
                super().close()
                disk.committed(self.place)  # type: ignore[attr-defined]

        def connecting(path: Any, **named: Any) -> Any:
            base = whole(path, factory=Watched, **named)
            base.place = Path(path)
            return base

        return connecting
