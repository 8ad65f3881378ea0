"""A spec whose kind is a folder: `promises` derives its promises, `text` describes it, `mechanism` measures
and presents it, `load` reads it back.

These modules are called the same in every kind. They are imported when they are used: a release is described, charged
and refused without arrays.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

from hubbub.guarantees.derivation import Derivation
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement
from hubbub.protocol.result import Result
from hubbub.protocol.spec import Description, Spec
from hubbub.serialization.published_files import Files


class FolderSpec(Spec):
    """Delegates to the modules of `folder`, the package in which the kind is."""

    folder: ClassVar[str]

    def module(self, name: str) -> Any:
        """The module of that name in the folder."""
        return import_module(f"{self.folder}.{name}")

    def promises(self) -> tuple[Derivation, ...]:
        """Guarantee: each is a theorem applied to the one before, or the call is refused."""
        found: tuple[Derivation, ...] = self.module("promises").promises(self)
        return found

    def describe(self) -> Description:
        found: Description = self.module("text").describe(self)
        return found

    def measure(self, data: Any, source: Source) -> Measurement:
        found: Measurement = self.module("mechanism").measure(self, data, source)
        return found

    def present(self, measurement: Measurement) -> Result:
        found: Result = self.module("mechanism").present(self, measurement)
        return found

    def load(self, files: Files) -> Measurement:
        found: Measurement = self.module("load").load(self, files)
        return found
