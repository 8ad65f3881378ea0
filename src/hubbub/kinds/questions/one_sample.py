"""A secret sample that is asked several questions, from Python.

::

    with table.sample(rows=1000, people=40_000, zero_knowledge="0.5") as people:
        people.count("old", where="age >= 65")
        people.mean("salaries", "salary:0..300000:1000", by=["department=Police,Fire,other"])
    people.release

Nothing is read inside the block: the questions are collected, and released together, as one, at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from hubbub.errors import WrongUse
from hubbub.kinds.questions.request import on_one_sample
from hubbub.numeric.exact import Exact
from hubbub.protocol.release import Release
from hubbub.protocol.spec import Spec
from hubbub.tables.privacy_unit import Unit


class SampledPeople:
    """K of N people who are drawn once, at the end of the block, and answer all questions of it.

    The questions share `zero_knowledge` (by `share`, equally if not said); without it each says its `epsilon` inside.

    Guarantee: with E the sum of what the questions lose inside, one row replaced, the release is zero-knowledge private
    with respect to RS(K), by at most ln(1 + (K/N)(e^E - 1)); it is entered in the ledger, once, durably, before any
    noise is drawn. If the block fails nothing is released.
    """

    def __init__(self, publish: Callable[[Spec], Release], unit: Unit, **options: Any) -> None:
        self._publish, self._unit, self._options = publish, unit, options
        self._questions: list[dict[str, Any]] = []
        self._open = False
        self._release: Release | None = None

    def __enter__(self) -> Self:
        if self._open or self._release is not None:
            raise WrongUse("a sample answers the questions of one block; ask the table for another sample")
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        if kind is None:
            spec = on_one_sample(self._questions, self._unit, **self._options)
            self._release = self._publish(spec)

    @property
    def release(self) -> Release:
        """All answers, after the block."""
        if self._release is None:
            raise WrongUse("the questions are answered together, at the end of the block; look at the release after it")
        return self._release

    def count(
        self,
        name: str,
        by: Sequence[str] = (),
        *,
        where: str | None = None,
        share: Exact | None = None,
        epsilon: Exact | None = None,
    ) -> None:
        """How many people meet a condition, in all or by bins."""
        self._add(name, "count", by=by, where=where, share=share, epsilon=epsilon)

    def fraction(
        self,
        name: str,
        by: Sequence[str] = (),
        *,
        where: str,
        share: Exact | None = None,
        epsilon: Exact | None = None,
    ) -> None:
        """Which share of people, of all or of each bin, meets a condition."""
        self._add(name, "fraction", by=by, where=where, share=share, epsilon=epsilon)

    def mean(
        self,
        name: str,
        of: str,
        by: Sequence[str] = (),
        *,
        where: str | None = None,
        share: Exact | None = None,
        epsilon: Exact | None = None,
    ) -> None:
        """The mean of a column, of all or by bins; `of` is its range and step, like ``salary:0..300000:100``."""
        self._add(name, "mean", of=of, by=by, where=where, share=share, epsilon=epsilon)

    def quantile(
        self,
        name: str,
        of: str,
        by: Sequence[str] = (),
        *,
        q: Exact = "0.5",
        where: str | None = None,
        share: Exact | None = None,
        epsilon: Exact | None = None,
    ) -> None:
        """A quantile of a column, of all or by bins; 0.5 is the median."""
        self._add(name, "quantile", of=of, by=by, q=q, where=where, share=share, epsilon=epsilon)

    def _add(self, name: str, kind: str, **options: Any) -> None:
        if not self._open:
            raise WrongUse("questions are asked inside the block: with table.sample(...) as people: people.count(...)")
        self._questions.append(
            {"name": name, "kind": kind} | {key: given for key, given in options.items() if given is not None}
        )
